"""The pictures of Load3D: window, matrix and fractals show the call, and one element is outlined in all of them."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from ascendlab import (
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    ParameterError,
    Product,
    load_data_3d_v2,
)
from ascendlab.load3d import Load, plan_im2col, plan_load_data_3d_v1, plan_load_data_3d_v2
from ascendlab.plots import frames
from ascendlab.plots import load3d as plot
from ascendlab.plots._base import DPI, TEXT_POINTS, to_png
from ascendlab.plots._load3d_scene import order_of
from ascendlab.plots._paint import text_widths
from ascendlab.plots._roles import ORIGIN, PADDING, PICKED, WINDOW, Role
from ascendlab.samples import numbered_feature_map

H, W = 5, 7
PADS = (2, 1, 1, 0)  # left, right, top, bottom


def v2(dtype: str = "half", channels: int = 32, *, dst: str = "A2", product: Product = Product.ATLAS_A2,
       repeat: LoadDataRepeatParam | None = None, **more: Any) -> tuple[NDArray[Any], Load]:  # fmt: skip
    """Plan a load from a 5 x 7 feature map: 2 x 3 filter, stride (1, 2), dilation (2, 1); M = 4 * 4, K = 6 * C."""
    src = numbered_feature_map(dtype, H, W, channels, product)
    arguments = {
        "filter_h": 2, "filter_w": 3, "stride_w": 2, "dilation_filter_h": 2, "pad_list": PADS, "pad_value": 9,
        "m_extension": 16, "k_extension": 6 * channels, **more,
    }  # fmt: skip
    params = LoadData3DParamsV2(l1_h=H, l1_w=W, channel_size=channels, **arguments)
    return src, plan_load_data_3d_v2(src, params, dst=dst, product=product, repeat=repeat or LoadDataRepeatParam())


def v1(**more: Any) -> tuple[NDArray[Any], Load]:
    """Plan fractals one by one from the same feature map."""
    src = numbered_feature_map("half", H, W, 32)
    params = LoadData3DParamsV1(
        l1_h=H, l1_w=W, filter_h=2, filter_w=3, stride_w=2, dilation_filter_h=2, pad_list=PADS, pad_value=9,
        left_top_w=-2, left_top_h=-1, **more,
    )  # fmt: skip
    return src, plan_load_data_3d_v1(src, params)


def sample(m: int, k: int) -> tuple[int, int, int]:
    """Find pixel and channel behind a matrix element of the feature map above, counting one step after the other."""
    windows = [(y, x) for y in range(4) for x in range(4)]
    columns = [(c1 * 16 + c0, y, x) for c1 in range(2) for y in range(2) for x in range(3) for c0 in range(16)]
    channel, kh, kw = columns[k]
    return windows[m][0] - 1 + 2 * kh, windows[m][1] * 2 - 2 + kw, channel


def number(m: int, k: int) -> int:
    """Return the number of the matrix element, from the numbering of the samples."""
    y, x, channel = sample(m, k)
    if not (0 <= y < H and 0 <= x < W):
        return 9
    return (channel * H * W + y * W + x) % 999 + 1


def decode(png: bytes) -> NDArray[np.uint8]:
    """Read a PNG with another library."""
    return np.asarray(Image.open(io.BytesIO(png)))


def ink(png: bytes, role: Role, below: int = 510) -> int:
    """Count a role's pixels above the legend."""
    return int((decode(png)[:below, :, :3] == role.rgb).all(axis=2).sum())


def numbers(picture: plot.Load3DPicture, panel: int) -> NDArray[Any]:
    """Return the numbers that a panel shows."""
    return np.asarray(picture.panels.grids[panel]._cells.numbers)


def area(picture: plot.Load3DPicture, panel: int, role: Role) -> NDArray[np.bool_]:
    """Return the cells of a panel that have a role."""
    return dict(picture.panels.grids[panel]._cells.areas)[role]


def boxes(picture: plot.Load3DPicture, panel: int) -> list[tuple[float, ...]]:
    """Return the outlines of a panel as (top, left, bottom, right), in cells."""
    lines = picture.panels.grids[panel]._marks.get_segments()
    return [tuple(float(v) for v in (*line.min(axis=0)[::-1], *line.max(axis=0)[::-1])) for line in lines]


@pytest.mark.parametrize("view", plot.VIEWS.values())
def test_what_is_picked_is_outlined(view: str) -> None:
    """Every view outlines the picked element; nothing is outlined for a place that the call never writes."""
    src, load = v2(m_extension=16, k_start_pt=16, k_extension=32)
    picture = plot.Load3DPicture()
    assert ink(picture.draw(view, plot.scene_of(src, load, m=6, k=37)), PICKED) > 100
    src, load = v1(repeat_time=2, jump_stride=2)
    written, gap = (picture.draw(view, plot.scene_at(src, load, index)) for index in (5, 256))
    assert ink(written, PICKED) > 100
    if view not in ("overview", "fractal"):  # these outline the place itself
        assert ink(gap, PICKED) == 0
    assert ink(gap, WINDOW) == 0


def test_the_feature_map_shows_one_channel_and_its_padding() -> None:
    """All pixels and the padding around them appear with their numbers, for the channel that the column names."""
    src, load = v2()
    picture = plot.Load3DPicture()
    for k in (0, 37, 191):
        picture.draw("overview", plot.scene_of(src, load, m=5, k=k))
        channel = sample(0, k)[2]
        for y, x in itertools.product(range(-1, H), range(-2, W + 1)):
            inside = 0 <= y < H and 0 <= x < W
            expected = (channel * H * W + y * W + x) % 999 + 1 if inside else 9
            assert numbers(picture, 0)[y + 1, x + 2] == expected
            assert area(picture, 0, PADDING)[y + 1, x + 2] == (not inside)


@pytest.mark.parametrize("m", range(16))
def test_window_and_filter_points(m: int) -> None:
    """At every position the outline covers the dilated window and the filter points are the pixels that it reads."""
    src, load = v2()
    picture = plot.Load3DPicture()
    picture.draw("overview", plot.scene_of(src, load, m=m, k=64))
    points = {sample(m, k)[:2] for k in range(96)}
    shown = {(int(y) - 1, int(x) - 2) for y, x in np.argwhere(area(picture, 0, plot.POINT))}
    assert shown == points
    top, left = min(points)[0] + 1, min(x for _, x in points) + 2
    window, origin = boxes(picture, 0)
    assert window == (top - 0.5, left - 0.5, top + 2.5, left + 2.5)
    y, x, _ = sample(m, 64)
    assert origin == (y + 0.5, x + 1.5, y + 1.5, x + 2.5)


def test_the_matrix_view_shows_its_numbers() -> None:
    """Rows and columns around the element, with the padding and the loaded part where they are."""
    src, load = v2(m_start_pt=0, m_extension=16, k_start_pt=32, k_extension=16)
    picture = plot.Load3DPicture()
    for m, k in ((3, 40), (15, 191)):
        picture.draw("matrix", plot.scene_of(src, load, m=m, k=k))
        first = k // 16 * 16
        expected = [[number(row, column) for column in range(first, first + 16)] for row in range(16)]
        np.testing.assert_array_equal(numbers(picture, 0), expected)
        padded = [[not (0 <= y < H and 0 <= x < W) for y, x, _ in
                   (sample(row, column) for column in range(first, first + 16))] for row in range(16)]  # fmt: skip
        np.testing.assert_array_equal(area(picture, 0, PADDING), padded)
        assert area(picture, 0, plot.TAKEN).all() == (first == 32)
        assert area(picture, 0, plot.TAKEN).any() == (first == 32)


@pytest.mark.parametrize(
    ("arguments", "at"),
    [
        ({}, lambda m, k: (m, k)),
        ({"product": Product.ATLAS_350}, lambda m, k: (m, k)),
        ({"dst": "B2"}, lambda m, k: (k, m)),
        ({"en_transpose": True}, lambda m, k: (k, m)),
    ],
    ids=["ZZ", "NZ", "ZN", "transposed"],
)
def test_the_fractal_that_holds_the_element(arguments: dict[str, Any], at: Any) -> None:
    """The fractal appears as it lies in the buffer, its rows and columns numbered as the matrix numbers them."""
    src, load = v2(**arguments)
    picture = plot.Load3DPicture()
    for m, k in ((3, 40), (15, 191)):
        scene = plot.scene_of(src, load, m=m, k=k)
        picture.draw("fractal", scene)
        expected = np.zeros((16, 16), int)
        for row, column in itertools.product(range(16), range(16)):
            expected[at(row, column)] = number(row, k // 16 * 16 + column)
        np.testing.assert_array_equal(numbers(picture, 0), expected)
        y, x = at(m, k % 16)
        window, picked = boxes(picture, 0)
        assert picked == (y - 0.5, x - 0.5, y + 0.5, x + 0.5)
        down = at(1, 0) == (1, 0)  # whether the windows run down
        assert window == ((y - 0.5, -0.5, y + 0.5, 15.5) if down else (-0.5, x - 0.5, 15.5, x + 0.5))
        assert scene.out[scene.place] == number(m, k)


def test_the_order_of_fractals() -> None:
    """ZZ counts along the rows of fractals, NZ down the columns, the transposed ZZ as well; ZN along the rows."""
    wide = {"stride_w": 1, "m_extension": 32}  # M = 4 * 8
    cases: list[tuple[dict[str, Any], list[list[int]]]] = [
        ({}, [[0, 1, 2], [3, 4, 5]]),
        ({"product": Product.ATLAS_350}, [[0, 2, 4], [1, 3, 5]]),
        ({"en_transpose": True}, [[0, 2, 4], [1, 3, 5]]),
        ({"product": Product.ATLAS_350, "en_transpose": True}, [[0, 1, 2], [3, 4, 5]]),
        ({"dst": "B2"}, [[0, 1, 2], [3, 4, 5]]),
        ({"product": Product.ATLAS_350, "repeat": LoadDataRepeatParam(dst_stride=5)}, [[0, 5, 10], [1, 6, 11]]),
        ({"dtype": "float", "channels": 8, "k_extension": 48, "dst": "B2"},
         [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]),
    ]  # fmt: skip
    for arguments, expected in cases:
        src, load = v2(**{"k_extension": 48, **wide, **arguments})
        assert order_of(plot.scene_of(src, load)).tolist() == expected, arguments
    src, load = v1(repeat_time=4, jump_stride=3)
    assert order_of(plot.scene_of(src, load)).tolist() == [[0, 3, 6, 9]]
    src, load = v1(repeat_time=3, repeat_mode=1)
    assert order_of(plot.scene_of(src, load)).tolist() == [[0], [1], [2]]


def test_repeats_are_outlined_apart() -> None:
    """Each block of a repeated load is outlined in the matrix, and the fractals are those of the element's repeat."""
    repeat = LoadDataRepeatParam(repeat_time=3, repeat_mode=1, repeat_stride=3)
    src, load = v2(k_extension=32, repeat=repeat)
    picture = plot.Load3DPicture()
    scene = plot.scene_of(src, load, m=2, k=100)
    picture.draw("tile", scene)
    assert boxes(picture, 0)[:3] == [(-0.5, start - 0.5, 15.5, start + 31.5) for start in (0, 48, 96)]
    assert order_of(scene).tolist() == [[4, 5]]
    assert area(picture, 0, plot.TAKEN)[:, [0, 31, 48, 79, 96, 127]].all()
    assert not area(picture, 0, plot.TAKEN)[:, [32, 47, 80, 95, 128]].any()
    assert "Loaded: rows 0 to 15, columns 0 to 31 in the first of 3 blocks." in plot.describe("tile", scene)


def test_overlapping_repeats_do_not_look_like_more_blocks() -> None:
    """Where repeats overlap, only the picked element's block is outlined, and what is loaded again is hatched."""
    repeat = LoadDataRepeatParam(repeat_time=3, repeat_mode=1, repeat_stride=2)
    for more in ({}, {"en_transpose": True}):
        src, load = v2(k_extension=48, repeat=repeat, **more)
        assert plot.tile(load).get_title() == "what is loaded: M = 16, K = 192, block 1 of 3"
        picture = plot.Load3DPicture()
        for k, number_of_block in ((0, 0), (47, 0), (48, 1), (111, 2)):
            scene = plot.scene_of(src, load, m=2, k=k)
            picture.draw("tile", scene)
            start = 32 * number_of_block
            assert boxes(picture, 0)[0] == (-0.5, start - 0.5, 15.5, start + 47.5)
            assert len(boxes(picture, 0)) == 3  # the block, the row of the window, the element
            again = area(picture, 0, plot.AGAIN)
            assert np.flatnonzero(again.all(axis=0)).tolist() == [*range(32, 48), *range(64, 80)]
            assert again.any(axis=0).sum() == 32
        assert "in the first of 3 overlapping blocks." in plot.describe("tile", scene)
    src, load = v2(k_extension=48, repeat=repeat)
    assert plot.scene_at(src, load, 2 * 3 * 256).repeat == 2
    src, load = v2(k_extension=32, repeat=repeat)
    assert not plot.scene_of(src, load).overlapping


def test_pictures_fill_their_frames() -> None:
    """The matrix and its numbering take most of the picture, and three digits in a cell leave air to the next cell."""
    src, load = v2(stride_w=1, m_extension=32)  # M = 32, K = 192
    picture = plot.Load3DPicture()
    scene = plot.scene_of(src, load, m=30, k=190)
    share = {}
    for view in ("tile", "k_index"):
        picture.draw(view, scene)
        frames_of = [grid.ax.bbox for grid in picture.panels.grids[: 1 if view == "tile" else 3]]
        share[view] = max(box.width for box in frames_of) / 760, sum(box.height for box in frames_of) / 560
    assert min(share["tile"]) > 0.7
    assert share["k_index"][0] > 0.7
    assert share["k_index"][1] > 0.3
    picture.draw("overview", scene)
    cell = picture.panels.grids[2].ax.bbox.width / 16
    assert text_widths(np.array(["888"]), TEXT_POINTS, DPI)[0] + 2 <= cell
    assert picture.panels.grids[0].ax.bbox.width > 220
    # 14 x 8 pixels: as squares they would be too small for numbers.
    src = numbered_feature_map("half", 12, 6, 16)
    params = LoadData3DParamsV2(l1_h=12, l1_w=6, channel_size=16, pad_list=(1, 1, 1, 1), m_extension=112,
                                k_extension=16)  # fmt: skip
    picture.draw("overview", plot.scene_of(src, plan_load_data_3d_v2(src, params)))
    box = picture.panels.grids[0].ax.bbox
    assert text_widths(np.array(["888"]), TEXT_POINTS, DPI, -1.0)[0] + 2 <= box.width / 8
    assert box.height / 14 >= 13


def test_k_is_counted_in_the_documents_order() -> None:
    """The picture of K numbers channel groups, filter points and channels as (c1, kh, kw, c0), a packed tail too."""
    picture = plot.Load3DPicture()
    for channels in (32, 20):
        src, load = v2(channels=channels)
        order = [(c // 16, kh, kw, c % 16) for group in (range(16), range(16, channels))
                 for kh in range(2) for kw in range(3) for c in group]  # fmt: skip
        for k in (0, 37, 96, 6 * channels - 1):
            picture.draw("k_index", plot.scene_of(src, load, k=k))
            c1, kh, kw, c0 = order[k]
            for group, point in itertools.product(range(2), range(6)):
                assert numbers(picture, 0)[group, point] == order.index((group, point // 3, point % 3, 0))
            assert numbers(picture, 1).tolist() == [[order.index((c1, y, x, 0)) for x in range(3)] for y in range(2)]
            depth = 16 if c1 == 0 else channels - 16
            assert numbers(picture, 2).tolist() == [[order.index((c1, kh, kw, c)) for c in range(depth)]]
            places = ((c1, kh * 3 + kw), (kh, kw), (0, c0))
            for panel, (y, x) in enumerate(places):
                assert boxes(picture, panel)[0] == (y - 0.5, x - 0.5, y + 0.5, x + 0.5)
            assert plot.say_k(load, k).endswith(f": c1 {c1}, kh {kh}, kw {kw}, c0 {c0}")
            left, right = plot.say_k(load, k).split(":")[0].removeprefix(f"k = {k} = "), k
            assert eval(left) == right


def test_a_picture_redrawn_is_the_picture_drawn_afresh() -> None:
    """Going through other views and calls leaves nothing behind."""
    picture = plot.Load3DPicture()
    first, second = v2(), v2("int8", 64, k_extension=384)
    for view in ("overview", "k_index", "tile", "overview"):
        for (src, load), m in ((first, 9), (second, 3)):
            scene = plot.scene_of(src, load, m=m, k=77)
            assert picture.draw(view, scene) == plot.Load3DPicture().draw(view, scene)


def test_large_calls_are_shown_in_part() -> None:
    """A matrix with more columns than pixels is shown around the element; the frame says which part."""
    src = numbered_feature_map("int8", 40, 56, 64, Product.ATLAS_350)
    params = LoadData3DParamsV2(l1_h=40, l1_w=56, channel_size=64, filter_h=7, filter_w=7, stride_h=2, stride_w=2,
                                pad_list=(3, 3, 3, 3), m_extension=64, k_extension=3136)  # fmt: skip
    load = plan_load_data_3d_v2(src, params, product=Product.ATLAS_350)
    picture = plot.Load3DPicture()
    for view in plot.VIEWS.values():
        assert decode(picture.draw(view, plot.scene_of(src, load, m=559, k=3135))).std() > 0
    title = plot.matrix(src, load, m=559, k=3135).get_title()
    assert title == "matrix: M = 560, K = 3136, rows 160 to 559, columns 2496 to 3135"
    huge = LoadData3DParamsV2(l1_h=2, l1_w=2, channel_size=4, filter_h=255, filter_w=255, filter_size_h=True,
                              pad_list=(255, 255, 255, 255), m_extension=16, k_extension=16)  # fmt: skip
    small = numbered_feature_map("half", 2, 2, 4)
    load = plan_load_data_3d_v2(small, huge)
    for view in plot.VIEWS.values():
        assert decode(picture.draw(view, plot.scene_of(small, load, m=0, k=70000))).std() > 0


def test_windows_behind_the_last_one() -> None:
    """Load3Dv1 takes 16 windows even where there are fewer: the feature map's frame reaches down to them."""
    src, load = v1(repeat_time=2, repeat_mode=1)
    scene = plot.scene_of(src, load, m=31, k=5)
    picture = plot.Load3DPicture()
    picture.draw("overview", scene)
    assert len(numbers(picture, 0)) == 7 + 3  # the corner of row 7 of windows, and the window
    assert area(picture, 0, PADDING)[6:].all()
    assert "matrix[31, 5] = 9" in plot.say_origin(scene)
    assert plot.matrix(src, load).get_title() == "matrix: M = 16, K = 192, rows 0 to 31"


def test_static_pictures_have_titles_and_numbers() -> None:
    """The functions for notebooks draw on frames that are given to them and on frames of their own."""
    src, load = v2()
    out = load.run(src, None)
    shapes = [plot.feature_map_shape(load), plot.matrix_shape(load), plot.tile_shape(load), plot.fractals_shape(load),
              plot.fractal_shape(load), plot.k_index_shape(load)]  # fmt: skip
    assert shapes == [(6, 10), (16, 192), (16, 192), (1, 12), (16, 16), (2, 6)]
    figure, axes = frames(shapes, across=1, roles=[ORIGIN])

    def draw(*ax: Any) -> list[Any]:
        given = [{"ax": one} for one in ax] or [{}] * 6
        return [
            plot.feature_map(src, load, m=6, k=37, **given[0]), plot.matrix(src, load, m=6, k=37, **given[1]),
            plot.tile(load, **given[2]), plot.fractals(load, m=6, k=37, **given[3]),
            plot.fractal(out, load, m=6, k=37, **given[4]), plot.k_index(load, k=37, **given[5]),
        ]  # fmt: skip

    titles = ["feature map, c1 0, c0 5", "matrix: M = 16, K = 192", "what is loaded: M = 16, K = 192",
              "places in L0A: ZZ", "fractal 2 of L0A", "first k of each filter point"]  # fmt: skip
    for drawn in (draw(*axes), draw()):
        assert [ax.get_title() for ax in drawn] == titles
        assert all(ax.get_xlabel() and ax.get_ylabel() for ax in drawn)
    assert decode(to_png(figure)).std() > 0
    assert axes[4].xaxis.get_major_formatter()(0, 0) == "32"
    shown = plot.overview(src, load, m=6, k=37)
    assert shown.alt == plot.describe("overview", plot.scene_of(src, load, m=6, k=37))
    assert ink(shown.png, PICKED) > 100


def test_words() -> None:
    """The texts spell out how window, filter point and sample follow from row and column."""
    src, load = v2()
    assert plot.say_origin(plot.scene_of(src, load, m=6, k=85)) == (
        f"matrix[6, 85] = {number(6, 85)}. Row 6 is window (1, 2), its corner at row 1 * 1 - 1 = 0, column "
        "2 * 2 - 2 = 2. k = 85 is c1 0, kh 1, kw 2, c0 5, so the sample is at row 0 + 1 * 2 = 2, column 2 + 2 * 1 = 4: "
        f"src[0, 2, 4, 5], which is {number(6, 85)}. It lies at dst[0, 5, 6, 5], fractal 5 of L0A (ZZ)"
    )
    assert "outside the feature map: the pad value 9" in plot.say_origin(plot.scene_of(src, load, m=0, k=5))
    assert plot.describe("overview", plot.scene_of(src, load, m=6, k=85)) == (
        "Load3D of half to L0A (ZZ): feature map 5 x 7 with 32 channels, padding left 2, right 1, top 1, bottom 0; "
        "filter 2 x 3, stride 1 x 2, dilation 2 x 1; M = Ho * Wo = 4 * 4 = 16, K = 192. Loaded: rows 0 to 15, columns "
        "0 to 191. The padding is 9. Window 6 covers rows 0 to 2 and columns 2 to 4 of channel c1 0, c0 5. "
        f"Outlined: row 6, column 85 of the matrix, {number(6, 85)}, in fractal 5 of L0A."
    )
    src, load = v2(k_start_pt=32, k_extension=16)
    assert plot.say_origin(plot.scene_of(src, load, m=6, k=85)).endswith(". This call does not load it")
    assert "which this call does not load" in plot.describe("matrix", plot.scene_of(src, load, m=6, k=85))
    src, load = v1(repeat_time=2, jump_stride=2)
    gap = plot.scene_at(src, load, 256)
    assert plot.say_origin(gap) == "dst[1, 0, 0], fractal 1 of L0A: no element of the matrix, never written"
    assert plot.describe("fractal", gap).endswith("Outlined: a place of the result that is not written.")


def test_every_element_of_the_result_leads_back_to_itself() -> None:
    """Looking at a place of the result, and at the matrix element that it says it holds, is the same."""
    repeat = LoadDataRepeatParam(repeat_time=2, repeat_mode=1, repeat_stride=3)
    for src, load in (v2(dst="B2"), v2(k_extension=32, repeat=repeat), v1(repeat_time=2, jump_stride=2)):
        for index in range(0, load.run(src, None).size, 37):
            scene = plot.scene_at(src, load, index)
            if scene.m is None:
                assert "never written" in plot.say_origin(scene)
                continue
            assert plot.scene_of(src, load, m=scene.m, k=scene.k).place == scene.place
            assert scene.out[scene.place] == number(scene.m, scene.k)


def test_wrong_requests_are_refused() -> None:
    """What there is not cannot be looked at, and the message says what there is."""
    src, load = v2()
    for m, k in ((16, 0), (-1, 0), (0, 192), (True, 0), (0, None)):
        with pytest.raises(ParameterError):
            plot.scene_of(src, load, m=m, k=k)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"index = 3072 .* \[0, 3071\]"):
        plot.scene_at(src, load, 3072)
    with pytest.raises(ParameterError, match="view = 'all'"):
        plot.overview(src, load, view="all")
    with pytest.raises(ParameterError, match="the call's result"):
        plot.fractal(src, load)
    params = LoadData3DParamsV2(l1_h=H, l1_w=W, channel_size=32)
    whole = plan_im2col(src, params)
    for draw in (plot.fractals, plot.fractal_shape, plot.fractals_shape):
        with pytest.raises(ParameterError, match="the plan of im2col"):
            draw(whole)
    assert plot.overview(src, whole).alt.startswith("Load3D of half: feature map 5 x 7")
    idle = plan_load_data_3d_v2(src, params, strict=False)
    with pytest.raises(ParameterError, match="does nothing"):
        plot.overview(src, idle)


def test_feature_maps_are_numbered_along_the_rows_of_each_channel() -> None:
    """The sample map counts from 1, begins again where a picture's cells or the type end, and knows L1's size."""
    for dtype, last in (("half", 999), ("int8", 127), ("uint8", 255), ("bfloat16", 256), ("float", 999), ("int4", 7)):
        src = numbered_feature_map(dtype, 3, 5, 68)
        flat = src.reshape(-1).astype(np.float64)
        c0 = {"half": 16, "bfloat16": 16, "float": 8, "int4": 64}.get(dtype, 32)
        for y, x, c in itertools.product(range(3), range(5), range(68)):
            group, channel = divmod(c, c0)
            depth = min(c0, 68 - group * c0)
            place = group * c0 * 15 + (y * 5 + x) * depth + channel
            assert flat[place] == (c * 15 + y * 5 + x) % last + 1
    assert load_data_3d_v2(numbered_feature_map("half", 1, 1, 16), LoadData3DParamsV2(
        l1_h=1, l1_w=1, channel_size=16, m_extension=1, k_extension=16))[0, 0, 0, 15] == 16  # fmt: skip
    with pytest.raises(ValueError, match="L1: 1,048,576 bytes needed, 524,288 bytes there"):
        numbered_feature_map("half", 128, 128, 32)
    with pytest.raises(ParameterError, match="h = True"):
        numbered_feature_map("half", True, 1, 16)


@pytest.mark.parametrize("columns", [2, 5, 40])
def test_a_legend_that_wraps_has_room_for_all_its_rows(columns: int) -> None:
    """Below narrow frames the figure is higher, so that no row of the legend is cut off."""
    roles = [PADDING, WINDOW, ORIGIN, PICKED]
    plain, named = (frames([(3, columns)], cell=20, roles=given)[0] for given in ([], roles))
    pixels = decode(to_png(named))
    below = pixels[round(plain.bbox.height) :, :, :3]
    rows = np.flatnonzero((below == PICKED.rgb).all(axis=2).any(axis=1))
    assert rows.size >= 16  # the last entry's swatch is whole
    assert (below[-3:] == 255).all()
    assert (len(below) > 40) == (columns < 40)
