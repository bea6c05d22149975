"""AIPP config files by their meaning: the emulation against the file's own formula, pixel by pixel."""

from __future__ import annotations

import contextlib
import itertools
import random
import warnings
from pathlib import Path

import aipp_config_oracle as oracle
import numpy as np
import pytest
from junk import MAKERS

import ascendlab as al

CONFIGS = Path(__file__).parent / "data" / "aipp_configs"
FORMATS = ("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8")


def picture(kind: str, height: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
    """Return random sources for a format."""
    rng = np.random.default_rng([height, width, seed])
    shape = {"XRGB8888_U8": (height, width, 4), "RGB888_U8": (height, width, 3)}.get(kind, (height, width))
    src0 = rng.integers(0, 256, shape, np.uint8)
    return src0, rng.integers(0, 256, (height // 2, width), np.uint8) if kind == "YUV420SP_U8" else None


def random_text(seed: int) -> tuple[str, str, int, int]:
    """Write a random config: its text, format, and the source's height and width."""
    rng = random.Random(seed)
    kind = FORMATS[seed % 4]
    yuv, step = kind == "YUV420SP_U8", 2 if kind == "YUV420SP_U8" else 1
    height, width = rng.randrange(6, 12) // 2 * 2 + step % 2, rng.randrange(8, 16) // 2 * 2 + step % 2
    lines = ["aipp_mode: static", f"input_format: {kind}", f"src_image_size_w: {width}"]
    if kind != "YUV400_U8":
        lines.append(f"rbuv_swap_switch: {rng.choice(['true', 'false'])}")
        if rng.random() < 0.7:
            lines.append("csc_switch: true")
            elements = [f"matrix_r{r}c{c}: {rng.randrange(-300, 500)}" for r in range(3) for c in range(3)]
            lines += [line for line in elements if rng.random() < 0.8]
            lines += [f"{s}put_bias_{i}: {rng.randrange(256)}" for s in ("in", "out") for i in range(3)
                      if rng.random() < 0.8]  # fmt: skip
    if kind == "XRGB8888_U8":
        lines.append(f"ax_swap_switch: {rng.choice(['true', 'false'])}")
    left, top = rng.randrange(0, 4) // step * step, rng.randrange(0, 4) // step * step
    lines += [f"crop: {rng.choice(['true', 'true', 'false'])}",
              f"load_start_pos_w: {left}", f"load_start_pos_h: {top}",
              f"crop_size_w: {rng.randrange(2, width - left + 1)}",
              f"crop_size_h: {rng.randrange(2, height - top + 1)}"]  # fmt: skip
    for i in range(3):
        lines += [line for line in (f"mean_chn_{i}: {rng.randrange(256)}", f"min_chn_{i}: {rng.uniform(-90, 90):.5f}",
                                    f"var_reci_chn_{i}: {rng.uniform(0, 2):.7f}") if rng.random() < 0.8]  # fmt: skip
    lines.append(f"padding: {rng.choice(['true', 'false'])}")
    lines += [f"{s}_padding_size: {rng.randrange(4)}" for s in ("left", "right", "top", "bottom")]
    lines.append(f"padding_value: {rng.uniform(-3, 3):.4f}")
    lines.append(f"single_line_mode: {rng.choice(['true', 'false', 'false'])}")
    rng.shuffle(lines)
    assert yuv == (step == 2)
    return "aipp_op {\n  " + "\n  ".join(lines) + "\n}\n", kind, height, width


@pytest.mark.rule("config-order")
@pytest.mark.rule("config-formula")
@pytest.mark.rule("config-csc-default")
@pytest.mark.rule("config-border")
@pytest.mark.rule("aipp-order")
@pytest.mark.parametrize("seed", range(60))
def test_a_random_config_does_what_its_formula_says(seed: int) -> None:
    """Every field together: swap, crop, completed matrix, half arithmetic, borders on four sides, to the last bit."""
    text, kind, height, width = random_text(seed)
    src0, src1 = picture(kind, height, width, seed)
    actual = al.read_aipp_config(text).apply(src0, src1)
    expected = oracle.run(text, src0, src1)
    assert actual.shape == expected.shape
    assert actual.dtype == np.float16
    assert np.array_equal(actual.view(np.uint16), expected.view(np.uint16)), text


@pytest.mark.parametrize("name", ["good_plain", "good_crlf_tabs", "good_narrow_bgr", "good_rgb_to_yuv", "no_matrix",
                                  "forgotten_zero", "border_rows", "std_for_reciprocal"])  # fmt: skip
def test_a_written_config_does_what_its_formula_says(name: str) -> None:
    """The files of the other tests, too, sizes as they say or as they come."""
    text = (CONFIGS / f"{name}.cfg").read_bytes().decode()
    config = al.read_aipp_config(text)
    op = config.aipp_op[0]
    src0, src1 = picture(op.input_format, op.src_image_size_h or 10, op.src_image_size_w or 14)
    if src0.size > 20_000:
        text = text.replace("224", "22").replace("160", "14")  # a smaller window: the oracle goes pixel by pixel
        config = al.read_aipp_config(text)
    np.testing.assert_array_equal(config.apply(src0, src1), oracle.run(text, src0, src1))


@pytest.mark.rule("config-bias")
@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
@pytest.mark.parametrize("kind", ["YUV420SP_U8", "RGB888_U8"])
def test_the_bias_lands_in_the_field_that_the_profile_reads(kind: str, profile: str) -> None:
    """Both profiles convert with the file's bias, without a warning; the file's other bias is ignored."""
    side, other = ("input", "output") if kind == "YUV420SP_U8" else ("output", "input")
    bias = {side: (0, 128, 127), other: (9, 8, 7)}
    numbers = " ".join(f"{s}_bias_{i}: {v}" for s, triple in bias.items() for i, v in enumerate(triple))
    text = f"aipp_op {{ aipp_mode: static input_format: {kind} csc_switch: true {numbers} }}"
    params, _ = al.read_aipp_config(text).to_aipp(profile=profile, src_image_size_w=8, src_image_size_h=6)
    used = "bias_out" if (profile == "documented") == (kind == "YUV420SP_U8") else "bias_in"
    unused = "bias_in" if used == "bias_out" else "bias_out"
    assert getattr(params.csc_params, used) == (0, 128, 127)
    assert getattr(params.csc_params, unused) == (0, 0, 0)
    src0, src1 = picture(kind, 6, 8)
    product = al.Product.ATLAS_350
    setup = al.set_aipp_functions(src0, src1, input_format=al.AippInputFormat[kind], config=params, dtype="half",
                                  product=product, profile=profile)  # fmt: skip
    assert setup.csc_bias == (0, 128, 127)


@pytest.mark.parametrize(("seed", "profile"), list(itertools.product(range(24), ["documented", "dav_3510"])))
def test_the_parameters_do_in_ascend_c_what_the_config_does(seed: int, profile: str) -> None:
    """`to_aipp` and the two calls give the rows of `apply`; rows above and below are warned of, not lost silently."""
    text, kind, height, width = random_text(seed)
    config = al.read_aipp_config(text)
    op = config.aipp_op[0]
    src0, src1 = picture(kind, height, width, seed)
    undefined = profile == "dav_3510" and op.ax_swap_switch and not op.csc_switch
    if undefined or (op.crop and op.load_start_pos_w % 2):
        call = config.apply if undefined else config.to_aipp
        arguments = (src0, src1) if undefined else ()
        sizes = {} if undefined else {"src_image_size_h": height}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(al.ParameterError):
                call(*arguments, profile=profile, **sizes)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        params, window = config.to_aipp(profile=profile, src_image_size_h=height)
    _, _, top, bottom = op.padding_sizes
    assert [w.category for w in caught] == [al.NoEquivalentWarning] * bool(top or bottom)
    setup = al.set_aipp_functions(src0, src1, input_format=al.AippInputFormat[kind], config=params, dtype="half",
                                  product=al.Product.ATLAS_350, profile=profile)  # fmt: skip
    rows = al.load_image_to_local(setup, window) if profile == "documented" else _quiet(setup, window)
    whole = config.apply(src0, src1, profile=profile)
    np.testing.assert_array_equal(whole[top : len(whole) - bottom], rows[:, :, : whole.shape[2]])
    assert (whole[:top] == np.float16(op.padding_value)).all()


def _quiet(setup, window):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.KernelLimitWarning)
        return al.load_image_to_local(setup, window)


@pytest.mark.rule("config-ax-swap")
def test_ax_swap_takes_x_from_the_front() -> None:
    """XRGB with the switch and RGBX without it come out the same."""
    x_first = np.random.default_rng(0).integers(0, 256, (4, 6, 4), np.uint8)
    text = "aipp_op {{ aipp_mode: static input_format: XRGB8888_U8 ax_swap_switch: {} }}"
    swapped = al.read_aipp_config(text.format("true")).apply(x_first)
    np.testing.assert_array_equal(swapped, x_first[:, :, 1:])
    x_last = np.ascontiguousarray(x_first[:, :, [1, 2, 3, 0]])
    np.testing.assert_array_equal(al.read_aipp_config(text.format("false")).apply(x_last), swapped)


def test_stages_say_what_their_channels_are() -> None:
    """Names, types, sizes and activity of every stage of a picture that goes from NV21 to normalised BGR."""
    text = (CONFIGS / "good_narrow_bgr.cfg").read_bytes()
    config = al.read_aipp_config(text)
    src0, src1 = picture("YUV420SP_U8", 24, 32)
    stages = config.stages(src0, src1)
    assert [stage.name for stage in stages] == ["source", "swap", "crop", "csc", "dtc", "padding"]
    assert ["".join(stage.channels) for stage in stages] == ["YUV", "YVU", "YVU", "BGR", "BGR", "BGR"]
    assert [stage.active for stage in stages] == [True, True, False, True, True, True]
    assert [stage.pixels.dtype.name for stage in stages] == ["uint8"] * 4 + ["float16"] * 2
    assert stages[-1].pixels.shape == (24, 38, 3)
    np.testing.assert_array_equal(stages[0].pixels[:, :, 0], src0)
    np.testing.assert_array_equal(stages[1].pixels[:, :, 1:], stages[0].pixels[:, :, :0:-1])
    np.testing.assert_array_equal(stages[-1].pixels, config.apply(src0, src1))


@pytest.mark.rule("config-crop-size")
def test_sizes_that_the_file_leaves_open_are_asked_for() -> None:
    """Nothing is guessed: a missing size is an error that says so, a size that contradicts the file is one, too."""
    config = al.read_aipp_config("aipp_op { aipp_mode: static input_format: RGB888_U8 crop: true src_image_size_w: 9 }")
    for sizes, name in (
        ({}, "src_image_size_h"),
        ({"src_image_size_h": 8}, "crop_size_w"),
        ({"src_image_size_h": 8, "crop_size_w": 4}, "crop_size_h"),
        ({"src_image_size_w": 8, "src_image_size_h": 8}, "src_image_size_w"),
        ({"src_image_size_h": 8, "crop_size_w": 10, "crop_size_h": 2}, "crop_size_w"),
        ({"src_image_size_h": True}, "src_image_size_h"),
        ({"src_image_size_h": 10**5000}, "src_image_size_h"),
        ({"block": 1}, "block"),
        ({"profile": "no"}, "profile"),
    ):
        with pytest.raises(al.ParameterError) as caught:
            config.to_aipp(**sizes)
        assert caught.value.parameter == name
    _, window = config.to_aipp(src_image_size_h=8, crop_size_w=4, crop_size_h=5)
    assert (window.horiz_size, window.vert_size, window.src_horiz_size) == (4, 5, 9)


def test_what_cannot_run_is_refused() -> None:
    """Dynamic blocks, blocks without format, pictures of another size, values that no field holds: ParameterError."""
    src0, _ = picture("RGB888_U8", 6, 8)
    for text, parameter in (
        ("aipp_mode: dynamic max_src_image_size: 9", "aipp_mode"),
        ("input_format: RGB888_U8", "aipp_mode"),
        ("aipp_mode: static", "input_format"),
        ("aipp_mode: static input_format: RGB888_U8 src_image_size_w: 10", "src0"),
        ("aipp_mode: static input_format: RGB888_U8 mean_chn_0: -1", "dtcMeanCh0"),
        ("aipp_mode: static input_format: RGB888_U8 var_reci_chn_0: nan", "dtcVarCh0"),
        ("aipp_mode: static input_format: RGB888_U8 csc_switch: true matrix_r0c0: 40000", "cscMatrixR0C0"),
        ("aipp_mode: static input_format: RGB888_U8 padding: true padding_value: 1e9", "padding_value"),
        ("aipp_mode: static input_format: RGB888_U8 ax_swap_switch: true", "isSwapAX"),
        ("aipp_mode: static input_format: RGB888_U8 crop: true load_start_pos_w: 9", "crop_size_w"),
        ("aipp_mode: static input_format: RGB888_U8 crop: true crop_size_h: 1", "crop_size_h"),
    ):
        config = al.read_aipp_config(f"aipp_op {{ {text} }}")
        with pytest.raises(al.ParameterError) as caught:
            config.apply(src0)
        assert caught.value.parameter == parameter, text
    config = al.read_aipp_config("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    for wrong in (None, "x", src0.astype(np.float32), src0[0], np.zeros(3, np.uint8)):
        with pytest.raises(al.ParameterError):
            config.apply(wrong)


def test_fields_are_attributes_with_their_defaults() -> None:
    """A block answers for every field of the format, and for no other name."""
    op = al.read_aipp_config("aipp_op { input_format: 3 src_image_size_w: 010 src_image_size_h: 0x10 }").aipp_op[0]
    assert (op.input_format, op.src_image_size_w, op.src_image_size_h) == ("RGB888_U8", 8, 16)
    assert (op.var_reci_chn_2, op.crop, op.related_input_name, op.aipp_mode) == (1.0, False, "", "undefined")
    assert op.lines["src_image_size_w"] == 1
    assert "crop" not in op.values
    assert "mean_chn_3" in dir(op)
    with pytest.raises(AttributeError):
        _ = op.no_such_field


@pytest.mark.parametrize("label", MAKERS)
def test_odd_arguments_are_refused_in_our_words(label: str) -> None:
    """Whatever is given to a config's methods: it works, or one of the library's errors says why not."""
    config = al.read_aipp_config("aipp_op { aipp_mode: static input_format: YUV420SP_U8 crop: true }")
    src0, src1 = picture("YUV420SP_U8", 6, 8)
    sizes = {"src_image_size_w": 8, "src_image_size_h": 6, "crop_size_w": 4, "crop_size_h": 4}
    good = {"profile": "documented", "block": 0, **sizes}
    for name in good:
        with contextlib.suppress(al.AscendlabError):
            config.to_aipp(**{**good, name: MAKERS[label]()})
    sources = {"src0": src0, "src1": src1, "profile": "documented", "block": 0}
    for name in sources:
        with contextlib.suppress(al.AscendlabError):
            config.apply(**{**sources, name: MAKERS[label]()})
    with contextlib.suppress(al.AscendlabError):
        al.read_aipp_config(MAKERS[label]())
