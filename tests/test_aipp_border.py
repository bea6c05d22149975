"""Borders and added channels, on pictures small enough to check by eye."""

from __future__ import annotations

import aipp_cases
import numpy as np
import pytest
from aipp_cases import grey, load, make_config, random_picture, window_of

import ascendlab as al

F = al.AippInputFormat
COUNTING = np.arange(64, dtype=np.uint8).reshape(8, 8)


@pytest.mark.rule("aipp-block-padding")
def test_worked_figure_of_block_padding():
    """8x8 numbers with 4 pad rows and columns: the block beside the border is repeated as it lies."""
    result = grey(COUNTING, window_of(COUNTING, left_pad_size=4, top_pad_size=4), padding_mode=2)
    assert result[:4, :4].tolist() == [[0, 1, 2, 3], [8, 9, 10, 11], [16, 17, 18, 19], [24, 25, 26, 27]]
    assert np.array_equal(result[4:, 4:], COUNTING)
    assert np.array_equal(result[4:, :4], COUNTING[:, :4])
    assert np.array_equal(result[:4, 4:], COUNTING[:4])
    right = grey(COUNTING, window_of(COUNTING, right_pad_size=3, bot_pad_size=2), padding_mode=2)
    assert np.array_equal(right[:8, 8:], COUNTING[:, 5:])
    assert np.array_equal(right[8:, :8], COUNTING[6:])
    assert np.array_equal(right[8:, 8:], COUNTING[6:, 5:])


@pytest.mark.rule("aipp-mirror-padding")
def test_worked_figure_of_mirror_padding():
    """8x8 numbers with 4 pad rows and columns: the block beside the border is mirrored, its edge included."""
    result = grey(COUNTING, window_of(COUNTING, left_pad_size=4, top_pad_size=4), padding_mode=3)
    assert result[:4, :4].tolist() == [[27, 26, 25, 24], [19, 18, 17, 16], [11, 10, 9, 8], [3, 2, 1, 0]]
    assert np.array_equal(result[4:, 4:], COUNTING)


@pytest.mark.rule("aipp-edge-padding")
def test_worked_figure_of_edge_padding():
    """8x8 numbers with 4 pad columns: row r shows 8r four times."""
    result = grey(COUNTING, window_of(COUNTING, left_pad_size=4, top_pad_size=4), padding_mode=1)
    for r in range(8):
        assert result[4 + r, :4].tolist() == [8 * r] * 4
    assert np.array_equal(result[:4], np.stack([result[4]] * 4))


@pytest.mark.parametrize(
    ("mode", "numpy_mode"),
    [
        pytest.param(1, "edge", marks=pytest.mark.rule("aipp-edge-padding")),
        pytest.param(3, "symmetric", marks=pytest.mark.rule("aipp-mirror-padding")),
    ],
)
@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (5, 0, 0, 0), (0, 5, 0, 0), (0, 0, 7, 0), (0, 0, 0, 7), (5, 1, 2, 7)])
def test_modes_1_and_3_are_numpys_edge_and_symmetric(mode, numpy_mode, pads):
    """Padding modes 1 and 3 are np.pad's "edge" and "symmetric", applied to the window and not to the picture."""
    picture = random_picture(9, 12, 3)
    top, bottom, left, right = pads
    window = window_of(
        picture, horiz_size=7, vert_size=5, horiz_start_pos=4, vert_start_pos=3,
        top_pad_size=top, bot_pad_size=bottom, left_pad_size=left, right_pad_size=right,
    )  # fmt: skip
    result = load(picture, input_format=F.RGB888_U8, window=window, padding_mode=mode)
    expected = np.pad(picture[3:8, 4:11], ((top, bottom), (left, right), (0, 0)), mode=numpy_mode)
    assert np.array_equal(result[:, :, :3], expected)


@pytest.mark.rule("aipp-block-padding")
def test_block_padding_is_neither_wrap_nor_mirror():
    """Mode 2 is not np.pad's "wrap" (the opposite side), "symmetric" or "reflect"."""
    picture = random_picture(6, 8)
    window = window_of(picture, left_pad_size=3, right_pad_size=2, top_pad_size=2, bot_pad_size=3)
    result = grey(picture, window, padding_mode=2)
    for other in ("wrap", "symmetric", "reflect", "edge"):
        assert not np.array_equal(result, np.pad(picture, ((2, 3), (3, 2)), mode=other))


@pytest.mark.rule("aipp-edge-padding")
def test_edge_padding_may_be_larger_than_the_window():
    """Mode 1 has no limit but 32, as it copies single rows and columns."""
    picture = random_picture(2, 2)
    window = window_of(picture, left_pad_size=32, right_pad_size=32, top_pad_size=32, bot_pad_size=32)
    assert np.array_equal(grey(picture, window, padding_mode=1), np.pad(picture, 32, mode="edge"))


@pytest.mark.rule("aipp-block-limit")
@pytest.mark.parametrize("mode", [2, 3])
@pytest.mark.parametrize(
    ("side", "limit", "single"),
    [
        ("left", 5, False), ("right", 5, False), ("top", 4, False), ("bot", 4, False),
        ("top", 1, True), ("bot", 1, True),
    ],
)  # fmt: skip
def test_a_copied_block_is_no_larger_than_the_window(mode, side, limit, single):
    """In modes 2 and 3 a border may be as large as the window that is read, not larger; with single line one row."""
    size = {"horiz_size": 5, "vert_size": 4}
    fits = window_of(COUNTING, **size, **{f"{side}_pad_size": limit})
    assert grey(COUNTING, fits, padding_mode=mode, is_single_line_copy=single).size
    too_large = window_of(COUNTING, **size, **{f"{side}_pad_size": limit + 1})
    with pytest.raises(
        al.ParameterError, match=rf"^{side}PadSize = {limit + 1} .*at most {limit} with paddingMode {mode}"
    ):
        grey(COUNTING, too_large, padding_mode=mode, is_single_line_copy=single)


CONSTANTS = {f"padding_value_ch{i}": 50 + i for i in range(4)}


@pytest.mark.rule("aipp-constant-padding")
@pytest.mark.parametrize("c_padding_mode", [0, 1])
@pytest.mark.parametrize("input_format", F, ids=lambda f: f.name)
def test_constant_padding_fills_four_channels(input_format, c_padding_mode):
    """Left and right of the window channels 0 to 3 hold the four constants, also of a one-channel picture."""
    src0, src1 = aipp_cases.make_sources(np.random.default_rng(2), input_format, 4, 6)
    result = load(
        src0, src1, input_format=input_format, window=window_of(src0, left_pad_size=3, right_pad_size=1),
        c_padding_mode=c_padding_mode, c_padding_value=7, **CONSTANTS,
    )  # fmt: skip
    for part in (result[:, :3], result[:, -1:]):
        assert (part[:, :, :4] == [50, 51, 52, 53]).all()
        assert (part[:, :, 4:] == 7).all()
    real = 1 if input_format is F.YUV400_U8 else 3
    assert (result[:, 3:-1, real:] == 7).all()


@pytest.mark.rule("aipp-constants")
def test_constants_are_not_converted():
    """Padding values are of the output type: mean, min, var and colours leave them alone."""
    rgb = random_picture(4, 4, 3)
    config = {
        "padding_value_ch0": -1.5, "padding_value_ch1": 0.1, "padding_value_ch2": 65504, "padding_value_ch3": -0.0,
        "c_padding_value": 0.3, "dtc_mean_ch0": 9, "dtc_min_ch1": 3.0, "dtc_var_ch2": 2.0,
    }  # fmt: skip
    setup = al.set_aipp_functions(
        rgb,
        input_format=F.RGB888_U8,
        config=make_config(**config, is_enable_csc=True, csc_matrix_r0c0=256, csc_bias_in0=3),
        dtype="half",
    )
    result = al.load_image_to_local(setup, window_of(rgb, left_pad_size=1))
    expected = np.array([-1.5, 0.1, 65504, -0.0] + [0.3] * 12, np.float16)
    assert (result[:, 0].view(np.uint16) == expected.view(np.uint16)).all()
    assert (result[:, 1:, 3:] == np.float16(0.3)).all()


@pytest.mark.rule("aipp-constants")
@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("uint8", 0, 255), ("int8", -128, 127), ("half", -65504.0, 65504.0)]
)
@pytest.mark.parametrize("name", [*CONSTANTS, "c_padding_value"])
def test_constants_have_the_output_types_range(name, dtype, low, high):
    """A constant that the output type cannot hold is an error that names it and the type."""
    picture = random_picture(2, 2)
    for value in (low, high):
        result = grey(picture, window_of(picture, left_pad_size=1), dtype=dtype, **{name: value})
        assert result.dtype == {"half": np.float16}.get(dtype, dtype)
    document_name = "cPaddingValue" if name.startswith("c_") else name.replace("padding_value_ch", "paddingValueCh")
    for value in (low - 1, high + 1, *((0.5,) if dtype != "half" else ())):
        with pytest.raises(al.ParameterError, match=rf"^{document_name} = .*(The output type is {dtype}|finite)"):
            grey(picture, dtype=dtype, **{name: value})


@pytest.mark.rule("aipp-constant-no-rows")
@pytest.mark.parametrize("side", ["top", "bot"])
def test_constant_padding_has_no_rows(side):
    """Mode 0 with rows above or below is an error; dav_3510 clears them and says so."""
    window = window_of(COUNTING, left_pad_size=1, **{f"{side}_pad_size": 2})
    with pytest.raises(al.ParameterError, match=rf"^{side}PadSize = 2 .*paddingMode 0, which pads left and right only"):
        grey(COUNTING, window)
    with pytest.warns(al.KernelLimitWarning, match="takes topPadSize and botPadSize as 0"):
        result = grey(COUNTING, window, product=al.Product.ATLAS_350, profile="dav_3510")
    assert np.array_equal(result, np.pad(COUNTING, ((0, 0), (1, 0))))


@pytest.mark.rule("aipp-channel-padding")
@pytest.mark.parametrize(
    ("dtype", "mode", "channels"),
    [("uint8", 0, 32), ("int8", 0, 32), ("half", 0, 16), ("uint8", 1, 4), ("int8", 1, 4), ("half", 1, 4)],
)
@pytest.mark.parametrize("padding_mode", [0, 1, 2, 3])
def test_channel_padding(dtype, mode, channels, padding_mode):
    """A pixel has 32 bytes or 4 channels; what is added holds cPaddingValue, in copied borders too."""
    rgb = random_picture(4, 6, 3)
    rows = 0 if padding_mode == 0 else 2
    result = load(
        rgb, input_format=F.RGB888_U8, dtype=dtype, padding_mode=padding_mode, c_padding_mode=mode, c_padding_value=11,
        window=window_of(rgb, left_pad_size=2, right_pad_size=3, top_pad_size=rows, bot_pad_size=rows),
        padding_value_ch3=5,
    )  # fmt: skip
    assert result.shape == (4 + 2 * rows, 11, channels)
    assert (result[:, 2:-3, 3:] == 11).all()
    assert (result[:, :2, 3] == (5 if padding_mode == 0 else 11)).all()
    assert (result[:, -3:, 4:] == 11).all()
