"""The pictures of AIPP, looked at pixel by pixel."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from ascendlab import (
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSwapParams,
    Call,
    LoadImageToLocalParams,
    Product,
    csc_preset,
    load_image_to_local,
    plots,
    set_aipp_functions,
    trace,
)
from ascendlab.aipp import aipp_plan
from ascendlab.pictures import number_picture, photograph, to_format
from ascendlab.plots import aipp as plot
from ascendlab.plots._aipp_picture import VIEWS, AippPicture, Scene, describe, say_origin
from ascendlab.plots._base import LiveFigure, axes_at, encode_png, legend, new_figure, to_png
from ascendlab.plots._grid import Grid, Mark, outline
from ascendlab.plots._paint import atlas, format_numbers, paint_texts, text_widths
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import (
    CHANNEL_PADDING,
    INPUT,
    MASKED,
    ORIGIN,
    OUTPUT,
    PADDING,
    PICKED,
    WINDOW,
    Role,
)

F = AippInputFormat
ROLES = (INPUT, WINDOW, PADDING, CHANNEL_PADDING, OUTPUT, PICKED, ORIGIN, MASKED)
OKABE_ITO = {"#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#000000", "#999999"}


def decode(png: bytes) -> NDArray[np.uint8]:
    """Read a PNG with another library."""
    return np.asarray(Image.open(io.BytesIO(png)))


def pixels(figure: Figure) -> NDArray[np.uint8]:
    """Draw a figure."""
    return decode(to_png(figure))


def has(image: NDArray[np.uint8], role: Role) -> bool:
    """Whether a role's full colour appears."""
    return bool((image == role.rgb).all(axis=2).any())


def make_scene(
    picture: NDArray[np.uint8] | None = None,
    input_format: AippInputFormat = F.YUV400_U8,
    *,
    mode: int = 2,
    pads: tuple[int, int, int, int] = (2, 1, 4, 0),
    pick: tuple[int, int, int] = (0, 1, 0),
    dtype: str = "uint8",
    **config: Any,
) -> Scene:
    """Return a call on a picture with borders at the top, bottom, left and right."""
    picture = number_picture() if picture is None else picture
    src0, src1 = to_format(picture, input_format)
    height, width = picture.shape[:2]
    params = LoadImageToLocalParams(
        horiz_size=width - 2, vert_size=height - 2, src_horiz_size=width, horiz_start_pos=2, vert_start_pos=2,
        top_pad_size=pads[0], bot_pad_size=pads[1], left_pad_size=pads[2], right_pad_size=pads[3],
    )  # fmt: skip
    setup = set_aipp_functions(
        src0, src1, input_format=input_format, dtype=dtype, product=Product.ATLAS_350,
        config=AippParams(padding_params=AippPaddingParams(padding_mode=mode), **config),
    )  # fmt: skip
    origin = trace(Call(load_image_to_local, {"setup": setup, "params": params})).origin(*pick)
    array = load_image_to_local(setup, params)
    return Scene(
        setup=setup, params=params, plan=aipp_plan(setup, params), array=array, rgb=picture, channel=pick[2],
        picked=pick[:2], origin=origin, other=array,
    )  # fmt: skip


# The base -----------------------------------------------------------------------------------------------------------


def test_png_is_lossless_and_says_nothing_of_its_maker() -> None:
    """Another decoder reads the same pixels, and there is nothing in the file but the picture."""
    image = np.random.default_rng(3).integers(0, 256, (37, 53, 3), dtype=np.uint8)
    png = encode_png(image)
    np.testing.assert_array_equal(decode(png), image)
    kinds, place = [], 8
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        kinds.append(png[place + 4 : place + 8])
        body = png[place + 4 : place + 8 + length]
        assert zlib.crc32(body) == int.from_bytes(png[place + 8 + length : place + 12 + length], "big")
        place += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]
    assert encode_png(image) == png


def test_one_pixel_pictures_are_pictures() -> None:
    """The smallest picture survives the row filter."""
    np.testing.assert_array_equal(decode(encode_png(np.array([[[1, 2, 3]]], np.uint8))), [[[1, 2, 3]]])


def test_colours_are_okabe_and_itos_and_never_alone() -> None:
    """Every role has one of the palette's colours and a second sign: hatch, line style or width."""
    assert {role.color for role in ROLES} <= OKABE_ITO
    signs = {(role.color, role.hatch, role.line, role.width) for role in ROLES}
    assert len(signs) == len(ROLES)
    areas = [role for role in ROLES if role.width <= 1.5]
    assert len({role.hatch for role in areas if role is not OUTPUT}) == len(areas) - 1
    marks = [role for role in ROLES if role.width > 1.5]
    assert len({(role.line, role.color) for role in marks}) == len(marks)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_black_text_is_readable_on_every_tint(role: Role) -> None:
    """The contrast of black on a tint is at least 7 to 1 (WCAG AAA)."""
    linear = np.where(role.tint / 255 <= 0.04045, role.tint / 255 / 12.92, ((role.tint / 255 + 0.055) / 1.055) ** 2.4)
    assert (linear @ [0.2126, 0.7152, 0.0722] + 0.05) / 0.05 >= 7


def test_figures_count_in_css_pixels() -> None:
    """A figure of 210 x 130 gives a picture of that size, and an Axes covers the pixels that it is told to."""
    figure = new_figure(210, 130)
    ax = axes_at(figure, left=50, top=20, width=100, height=60)
    grid = Grid(ax, rows=3, columns=5)
    ax.set_axis_off()
    grid.show(rgb=np.full((3, 5), 10, np.uint8))
    image = pixels(figure)
    assert image.shape == (130, 210, 3)
    dark = (image < 128).all(axis=2)
    rows, columns = dark.any(axis=1).nonzero()[0], dark.any(axis=0).nonzero()[0]
    assert (rows[0], rows[-1] + 1, columns[0], columns[-1] + 1) == pytest.approx((20, 80, 50, 150), abs=1)


def test_a_live_figure_draws_what_a_fresh_one_draws() -> None:
    """Updating artists and keeping the background gives the pixels of a figure that is drawn from nothing."""
    picture = AippPicture()
    first, second = make_scene(pads=(0, 0, 2, 1)), make_scene(mode=3, pads=(4, 0, 4, 0))
    picture.draw("both", first)
    picture.draw("channels", first)
    again = picture.draw("both", second)
    assert again == AippPicture().draw("both", second)
    assert picture.draw("both", first) == AippPicture().draw("both", first)


def test_a_live_figure_forgets_old_layouts_but_not_their_looks() -> None:
    """However many layouts were drawn in between, a layout looks as before."""
    panels = Panels(300, 200, count=1)
    values = np.arange(6).reshape(2, 3)

    def draw(columns: int) -> bytes:
        panels.arrange([Panel(f"{columns} columns", 2, columns)])
        panels.grids[0].show(values)
        return panels.png()

    before = draw(3)
    for columns in range(4, 4 + 2 * LiveFigure._KEPT):
        assert draw(columns) != before
    assert draw(3) == before


def test_pictures_carry_their_alt_text_and_size() -> None:
    """The last line of a notebook cell becomes an img with alt text and fixed size; quotes are escaped."""
    html = plots.figure_html(new_figure(64, 32), 'A "quoted" <text>.')._repr_html_()
    assert html.startswith('<img alt="A &quot;quoted&quot; &lt;text&gt;." width="64" height="32"')
    assert 'src="data:image/png;base64,' in html


def test_the_legend_shows_colour_and_hatch_and_wraps() -> None:
    """Each entry shows its role's colour, and what does not fit goes to the next row."""
    wide, narrow = new_figure(900, 60), new_figure(300, 120)
    for figure in (wide, narrow):
        legend(figure, ROLES, left=5, top=5)
    assert all(has(pixels(figure), role) for figure in (wide, narrow) for role in ROLES)
    assert (pixels(wide)[30:] == 255).all()
    assert (pixels(narrow)[30:] < 255).any()


# Numbers and areas --------------------------------------------------------------------------------------------------


def test_digits_are_matplotlibs_own() -> None:
    """Of the ten digits as Matplotlib draws them, each copied digit resembles itself most, shifted or not."""
    drawn = []
    for digit in "0123456789":
        figure = new_figure(20, 20)
        figure.text(0.5, 0.5, digit, fontsize=9, ha="center", va="center")
        drawn.append(pixels(figure)[:, :, 0].astype(int))
    for digit in range(10):
        image = np.full((20, 20, 3), 255, np.uint8)
        black, middle = np.zeros((1, 3), np.uint8), np.array([10])
        paint_texts(image, np.array([str(digit)]), middle, middle, black, points=9, dpi=96)
        shifts = [(dy, dx) for dy in (-2, -1, 0, 1, 2) for dx in (-1, 0, 1)]
        errors = [min(np.abs(np.roll(image[:, :, 0].astype(int), s, (0, 1)) - d).sum() for s in shifts) for d in drawn]
        assert np.argmin(errors) == digit


def test_different_numbers_look_different() -> None:
    """All numbers of three characters have pictures of their own."""
    texts = np.array([str(n) for n in range(-99, 1000)])
    image = np.full((16 * len(texts), 32, 3), 255, np.uint8)
    rows = np.arange(len(texts)) * 16 + 8
    paint_texts(image, texts, rows, np.full(len(texts), 16), np.zeros((len(texts), 3), np.uint8), points=9, dpi=96)
    cells = image.reshape(len(texts), -1)
    assert len(np.unique(cells, axis=0)) == len(texts)


def test_texts_are_centred_and_cut_at_the_edge() -> None:
    """A text lies in the middle of its cell; one that reaches over the edge raises nothing."""
    image = np.full((21, 61, 3), 255, np.uint8)
    paint_texts(image, np.array(["88"]), np.array([10]), np.array([30]), np.zeros((1, 3), np.uint8), points=9, dpi=96)
    ink = (image[:, :, 0] < 200).nonzero()
    assert abs(ink[0].min() + ink[0].max() - 20) <= 2
    assert abs(ink[1].min() + ink[1].max() - 60) <= 2
    paint_texts(image, np.array(["88"]), np.array([0]), np.array([60]), np.zeros((1, 3), np.uint8), points=9, dpi=96)


@pytest.mark.parametrize("width", [10, 16, 20, 24, 28, 34, 44])
def test_numbers_are_never_wider_than_their_cell(width: int) -> None:
    """Formatting keeps to the width, and what it writes is the number, rounded."""
    values = np.array([0.0171, -0.0349, 2.64, -1.5, 191.0])
    formatted = format_numbers(values, width, points=9, dpi=96)
    if formatted is None:
        assert width < 24
        return
    texts, tracking = formatted
    assert text_widths(texts, 9, 96, tracking).max() <= width
    np.testing.assert_allclose(texts.astype(float), values, atol=0.51)
    assert width < 28 or np.abs(texts.astype(float) - values).max() < 0.051


def test_whole_numbers_are_never_shortened() -> None:
    """An integer is written in full or not at all."""
    for value in (7, -128, 65504):
        formatted = format_numbers(np.array([value]), 40, points=9, dpi=96)
        assert formatted is not None
        assert formatted[0][0] == str(value)
    assert format_numbers(np.array([65504]), 20, points=9, dpi=96) is None


def test_text_is_at_least_nine_points() -> None:
    """Digits are as high as 9 point digits are: not scaled down to fit."""
    digit = atlas(9.0, 96.0).ink[0].any(axis=1).nonzero()[0]
    assert digit[-1] - digit[0] + 1 >= 9


def test_outlines_follow_any_area() -> None:
    """The border of an area is exactly the sides where inside meets outside."""
    mask = np.random.default_rng(5).random((7, 11)) < 0.5
    padded = np.pad(mask, 1).astype(int)
    length = np.abs(np.diff(padded, axis=0)).sum() + np.abs(np.diff(padded, axis=1)).sum()
    segments = outline(mask)
    assert np.abs(segments[:, 1] - segments[:, 0]).sum() == length
    assert len(outline(np.zeros((3, 3), bool))) == 0
    assert len(outline(np.ones((5, 9), bool))) == 4


@pytest.mark.parametrize("role", [PADDING, CHANNEL_PADDING, MASKED], ids=lambda role: role.name)
@pytest.mark.parametrize("colours", [True, False], ids=["photograph", "numbers"])
def test_areas_are_hatched_and_stay_readable(role: Role, colours: bool) -> None:
    """An area shows its hatch away from its outline, and most of what lies under it; no hatch lies elsewhere."""
    figure = new_figure(300, 300)
    grid = Grid(axes_at(figure, left=30, top=30, width=240, height=240), rows=8, columns=8)
    grid.ax.set_axis_off()
    mask = np.zeros((8, 8), bool)
    mask[:, 4:] = True
    values = None if colours else np.zeros((8, 8), int)
    grid.show(values, rgb=np.full((8, 8), 20, np.uint8) if colours else None, areas={role: mask})
    inked = (pixels(figure) == role.rgb).all(axis=2)
    inside, outside = inked[36:264, 156:264], inked[36:264, 36:144]
    assert 0.02 < inside.mean() < 0.4
    assert not outside.any()


def test_marks_of_one_pixel_can_be_seen() -> None:
    """In a photograph a mark is drawn larger than the pixel that it marks, in the right place."""
    figure = new_figure(300, 300)
    grid = Grid(axes_at(figure, left=20, top=20, width=250, height=250), rows=250, columns=250)
    grid.ax.set_axis_off()
    grid.show(rgb=np.full((250, 250), 255, np.uint8), marks=[Mark(PICKED, 100, 60)])
    y, x = (pixels(figure) == PICKED.rgb).all(axis=2).nonzero()
    assert y.max() - y.min() >= 12
    assert (y.min() + y.max()) / 2 == pytest.approx(120, abs=1.5)
    assert (x.min() + x.max()) / 2 == pytest.approx(80, abs=1.5)


# AIPP ---------------------------------------------------------------------------------------------------------------


def test_functions_draw_on_a_given_axes_or_their_own() -> None:
    """Each function returns the Axes that it drew on, titled and labelled."""
    scene = make_scene()
    for draw in (
        lambda ax: plot.source(scene.setup, scene.params, ax=ax),
        lambda ax: plot.result(scene.array, scene.plan, channel=0, ax=ax),
        lambda ax: plot.difference(scene.array, scene.array, ax=ax),
    ):
        own = draw(None)
        given = axes_at(new_figure(400, 400), left=50, top=50, width=300, height=300)
        assert draw(given) is given
        for ax in (own, given):
            assert ax.get_title()
            assert ax.get_xlabel() == "column"
            assert ax.get_ylabel() == "row"
        assert len(np.unique(pixels(own.figure).reshape(-1, 3), axis=0)) > 1  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_border_areas_are_where_the_border_is(mode: int) -> None:
    """Border and input together are the whole result, and the border is as wide as it was asked for."""
    pads = (0, 0, 3, 1) if mode == 0 else (2, 1, 3, 0)
    scene = make_scene(mode=mode, pads=pads)
    for channel in (None, 0):
        areas = plot.border_areas(scene.plan, channel)
        assert (areas[INPUT] ^ areas[PADDING]).all()
        top, bottom, left, right = pads
        height, width = scene.plan.shape[:2]
        inside = areas[INPUT].nonzero()
        assert (inside[0].min(), height - 1 - inside[0].max()) == (top, bottom)
        assert (inside[1].min(), width - 1 - inside[1].max()) == (left, right)


def test_channel_padding_is_marked_as_such() -> None:
    """Channels without samples are channel padding; constant padding reaches the first four channels only."""
    scene = make_scene(mode=0, pads=(0, 0, 3, 1))
    third, fourth = plot.border_areas(scene.plan, 3), plot.border_areas(scene.plan, 4)
    assert third[PADDING][:, :3].all()
    assert third[CHANNEL_PADDING][:, 3:-1].all()
    assert fourth[CHANNEL_PADDING].all()
    copied = make_scene(mode=2)
    assert plot.border_areas(copied.plan, 3)[CHANNEL_PADDING].all()


def test_each_view_shows_its_roles() -> None:
    """Where there is a border, a window, a pick, its colour is in the picture; where not, it is not."""
    scene = make_scene(photograph(60, 52), F.RGB888_U8, pads=(5, 4, 6, 3), pick=(20, 20, 1))
    panels = AippPicture()

    def body(view: str) -> NDArray[np.uint8]:
        return decode(panels.draw(view, scene))[:-24]  # without the legend

    assert has(body("both"), PADDING)
    assert has(body("both"), WINDOW)
    assert has(body("both"), PICKED)
    assert not has(body("source"), PADDING)
    assert not has(body("result"), WINDOW)
    assert has(body("channels"), CHANNEL_PADDING)
    plain = make_scene(photograph(60, 52), F.RGB888_U8, pads=(0, 0, 0, 0), pick=(20, 20, 1))
    assert not has(decode(panels.draw("result", plain))[:-24], PADDING)


@pytest.mark.parametrize(("pads", "more"), [((2, 0, 1, 1), 0), ((2, 1, 0, 0), 16), ((8, 8, 9, 10), 64)])
def test_the_frame_of_a_photograph_fits_its_border(pads: tuple[int, int, int, int], more: int) -> None:
    """A result of the source's size fills its frame; with more border the frame grows in steps, both axes alike."""
    picture = AippPicture()
    picture.draw("result", make_scene(photograph(60, 52), F.RGB888_U8, pads=pads))
    ax = picture.panels.grids[0].ax
    assert (ax.get_ylim(), ax.get_xlim()) == ((60 + more - 0.5, -0.5), (-0.5, 52 + more - 0.5))


def test_a_photograph_is_drawn_pixel_by_pixel() -> None:
    """The source panel holds the picture's own pixels, unscaled, inside the window's outline."""
    rgb = photograph()
    scene = make_scene(rgb, F.RGB888_U8, pads=(0, 0, 0, 0), pick=(5, 5, 0))
    image = decode(AippPicture().draw("source", scene))
    part = rgb[100:140, 50:120]
    windows = np.lib.stride_tricks.sliding_window_view(image, part.shape)[..., 0, :, :, :]
    places = (windows[:, :, 0, 0] == part[0, 0]).all(axis=2).nonzero()
    assert any(np.array_equal(windows[y, x], part) for y, x in zip(*places, strict=True))


def test_pictures_follow_the_data() -> None:
    """One changed element changes the picture: numbers and photographs alike."""
    for scene in (make_scene(), make_scene(photograph(60, 52), F.RGB888_U8, pick=(20, 20, 1))):
        before = AippPicture().draw("result", scene)
        scene.array[6, 6, scene.channel] ^= 77
        assert AippPicture().draw("result", scene) != before


def test_the_difference_shows_where_the_profiles_disagree() -> None:
    """Equal results are white, and a differing pixel is dark, at its place."""
    documented = np.zeros((40, 50, 3), np.uint8)
    other = documented.copy()
    other[10, 30, 1] = 9
    figure = new_figure(300, 300)
    ax = axes_at(figure, left=20, top=20, width=250, height=200)
    plot.difference(documented, other, ax=ax)
    ax.set_axis_off()
    ax.set_title("")
    y, x = (pixels(figure) < 40).all(axis=2).nonzero()
    assert (y.min(), y.max(), x.min(), x.max()) == (70, 74, 170, 174)
    assert not plot.differences(documented, documented).any()
    assert plot.differences(documented, other)[10, 30, 1] == 9
    assert plot.differences(np.array([200], np.uint8), np.array([3], np.uint8))[0] == -197


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([0, 255], np.uint8), [0, 255]),
        (np.array([-128, 0, 127], np.int8), [0, 128, 255]),
        (np.array([0.0, 128.0, 255.0], np.float16), [0, 128, 255]),
        (np.array([-2.0, 0.0, 2.0], np.float16), [0, 128, 255]),
        (np.array([3.0, 3.0], np.float16), [3, 3]),
        (np.array([0.5, 0.5], np.float16), [0, 0]),
        (np.array([-np.inf, np.nan, 1.0, 0.0], np.float16), [0, 0, 255, 0]),
    ],
)
def test_every_type_has_a_range_from_black_to_white(array: NDArray[Any], expected: list[int]) -> None:
    """uint8 as it is, int8 from its lowest to its highest, half over its own values where they are no colours."""
    assert plot.to_rgb(array).tolist() == expected


def test_sources_are_shown_as_a_person_would_see_them() -> None:
    """Every format of the photograph looks like the photograph."""
    rgb = photograph(60, 52)
    for input_format in F:
        src0, src1 = to_format(rgb, input_format)
        swap = AippSwapParams(is_swap_ax=input_format is F.XRGB8888_U8)
        setup = set_aipp_functions(
            src0, src1, input_format=input_format, dtype="uint8", config=AippParams(swap_params=swap)
        )
        seen = plot.source_rgb(setup).astype(int)
        expected = rgb if input_format is not F.YUV400_U8 else to_format(rgb, F.YUV400_U8)[0]
        assert np.abs(seen - expected).mean() < 5


def test_the_description_says_what_the_picture_shows() -> None:
    """Alt texts name sizes, borders, mode and the picked element with its value."""
    scene = make_scene(pick=(0, 1, 0))
    words = describe("both", scene)
    assert "window of 6 x 6 at row 2, column 2" in words
    assert "block copy: 2 at the top, 1 at the bottom, 4 at the left" in words
    assert f"element (0, 1, 0) = {scene.array[0, 1, 0]}" in words
    assert len({describe(view, scene) for view in VIEWS.values()}) == len(VIEWS)
    other = make_scene(pick=(0, 2, 0))
    assert describe("both", other) != words


def test_the_origin_is_told_with_its_samples() -> None:
    """The line names the source element and its value; with colour conversion all three."""
    scene = make_scene(pick=(0, 1, 0))
    assert say_origin(scene) == "element (0, 1, 0) = 19: src0[2, 3], which is 19"
    mixed = make_scene(input_format=F.YUV420SP_U8, csc_params=csc_preset("yuv_to_rgb_jpeg"), pick=(4, 4, 0))
    assert say_origin(mixed).endswith("these samples are 34, 128, 128")
    constant = make_scene(mode=0, pads=(0, 0, 2, 0), pick=(0, 0, 0))
    assert say_origin(constant) == "element (0, 0, 0) = 0: constant 0"


def test_shared_chroma_is_marked_as_a_block_of_four() -> None:
    """A U or V sample belongs to 2 x 2 pixels, and all four are outlined."""
    scene = make_scene(input_format=F.YUV420SP_U8, pick=(4, 7, 2))
    assert scene.origin is not None
    (term,) = scene.origin.terms
    assert plot._origin_mark(scene.setup, term.operand, term.index) == Mark(ORIGIN, 4, 4, 2, 2)


@pytest.mark.parametrize("view", VIEWS.values())
@pytest.mark.parametrize("dtype", ["uint8", "int8", "half"])
def test_every_view_draws_every_type(view: str, dtype: str) -> None:
    """No combination of view, type and size raises, and all pictures have the size that was asked for."""
    dtc = AippDataTypeConvParams(dtc_mean_ch0=128, dtc_var_ch1=0.0171)
    panels = AippPicture(700, 460)
    for scene in (
        make_scene(dtype=dtype, dtc_params=dtc, input_format=F.RGB888_U8, pick=(1, 1, 7)),
        make_scene(photograph(), F.YUV420SP_U8, dtype=dtype, dtc_params=dtc, pads=(32, 32, 32, 32)),
    ):
        assert decode(panels.draw(view, scene)).shape == (460, 700, 3)
