"""The doctor for AIPP config files: every known mistake is found where it stands, and good files are left in peace."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import ascendlab as al
from ascendlab.aipp_config_op import presets_of
from ascendlab.aipp_params import CSC_PRESETS

CONFIGS = Path(__file__).parent / "data" / "aipp_configs"
GOOD = sorted(path.stem for path in CONFIGS.glob("good_*.cfg"))

FOUND = {
    # file: (code, lines, a part of the reason, a part of the fix)
    "std_for_reciprocal": ("var-looks-like-std", (4, 5, 6, 7, 8, 9), "from -0.1111 to 58.28",
                           "min_chn: 123.675 116.28 103.53 and var_reci_chn: 0.0171248 0.017507 0.0174292"),
    "unit_scale": ("unit-scale", (4, 5, 6, 7, 8, 9), "from -1 to 509",
                   "min_chn: 127.5 127.5 127.5 and var_reci_chn: 0.00784314 0.00784314 0.00784314"),
    "min_against_var": ("channel-order", (4, 5, 6, 7, 8, 9), "in the order B, G, R, but var_reci", "Turn one"),
    "mean_against_matrix": ("channel-order", (17, 18, 19), "matrix puts out R, G, B", "Turn the three values around"),
    "no_matrix": ("csc-default-matrix", (4,), "YUV -> BGR BT.601 narrow is in force, output in the order B, G, R", ""),
    "forgotten_zero": ("csc-partial-matrix", tuple(range(4, 13)), "lacks 1 of 9 elements", "all nine, zeros too"),
    "digit_off": ("matrix-one-element-off", (7,), "but for matrix_r0c2, which is 395", "Write matrix_r0c2: 359"),
    "narrow_with_wide_bias": ("bias-of-another-standard", (14, 15, 16), "in force is 0 128 128", "16 128 128"),
    "wide_with_default_bias": ("bias-of-another-standard", tuple(range(5, 14)), "so the default", "0 128 128"),
    "grey_with_colours": ("yuv400-csc", (3, 4), "no colours", "csc_switch: false"),
    "crop_off": ("crop-switched-off", (6, 7, 8, 9, 10), "crop is false", "crop: true"),
    "padding_off": ("padding-switched-off", (4, 5), "padding is false", "padding: true"),
    "window_outside": ("window-outside", (4, 7, 9), "from 32 to 256", "crop_size_w: 208"),
    "odd_start": ("odd-for-yuv420sp", (7,), "load_start_pos_w = 7 is odd", "even"),
    "grey_border": ("padding-not-normalised", (12,), "from -2.118 to 2.64", "-0.165684 -0.0399159 0.182482"),
    "border_rows": ("no-ascend-c-equivalent", (6, 7), "2 at the top, 3 at the bottom", "kernel"),
    "crop_without_size": ("crop-without-size", (6,), "size of the model's input", "crop_size_w and crop_size_h"),
}  # fmt: skip


def findings(body: str) -> list[al.aipp_config.Finding]:
    """Check one static block."""
    return al.read_aipp_config("aipp_op {\naipp_mode: static\n" + body + "\n}").check()


def codes(body: str) -> list[str]:
    """Return only the codes."""
    return [finding.code for finding in findings(body)]


def triple(name: str, values: object, form: str = "{}") -> str:
    """Write three fields, one a line."""
    return "".join(f"{name}_{i}: {form.format(v)}\n" for i, v in enumerate(values))


def matrix(values: object) -> str:
    """Write nine fields."""
    return "".join(f"matrix_r{i // 3}c{i % 3}: {v}\n" for i, v in enumerate(np.ravel(values)))


def test_every_file_of_the_collection_is_tested() -> None:
    """No file lies there untested."""
    from test_aipp_config_read import REFUSED

    assert {path.stem for path in CONFIGS.glob("*.cfg")} == {*GOOD, *FOUND, *REFUSED}


@pytest.mark.parametrize("name", GOOD)
def test_good_files_get_an_empty_list(name: str) -> None:
    """A clean file is not worried about."""
    assert al.read_aipp_config(CONFIGS / f"{name}.cfg").check() == []


@pytest.mark.parametrize("name", FOUND)
def test_each_mistake_is_found_once_where_it_stands(name: str) -> None:
    """One finding per mistake: code, lines, the reason in numbers, and the fix."""
    (finding,) = al.read_aipp_config(CONFIGS / f"{name}.cfg").check()
    code, lines, why, fix = FOUND[name]
    assert (finding.code, finding.lines) == (code, lines)
    assert why in finding.why
    assert fix in finding.fix
    assert finding.code in str(finding)
    assert str(lines[0]) in str(finding)


@pytest.mark.parametrize("name", [n for n in FOUND if re.search(r"Write \w+: -?\d|Write \w+_\w+: true", FOUND[n][3])])
def test_following_the_advice_ends_the_complaint(name: str) -> None:
    """The fix, written into the file, leaves nothing to find."""
    text = (CONFIGS / f"{name}.cfg").read_text()
    for field, value in re.findall(r"(\w+): (\S+)", FOUND[name][3]):
        text = re.sub(rf"\b{field}( *: *)\S+", rf"\g<1>{value}".replace(r"\g<1>", f"{field} : "), text)
    assert al.read_aipp_config(text).check() == []


RGB, YUV = "input_format: RGB888_U8\n", "input_format: YUV420SP_U8\ncsc_switch: true\n"
IMAGENET, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize(
    ("mean", "factor", "code"),
    [
        (IMAGENET * 255, 1 / (STD * 255), None),
        (IMAGENET * 255, np.ones(3), None),
        (IMAGENET, STD, "var-looks-like-std"),
        (np.zeros(3), STD, "var-looks-like-std"),
        (IMAGENET * 255, STD, "var-looks-like-std"),
        (IMAGENET * 255, STD * 255, "var-looks-like-std"),
        (IMAGENET, 1 / STD, "unit-scale"),
        (IMAGENET, 1 / (STD * 255), "unit-scale"),
        (IMAGENET * 255, 1 / STD, "unit-scale"),
        (np.full(3, 0.5), np.full(3, 0.5), "var-looks-like-std"),
        (np.full(3, 127.5), np.full(3, 1 / 127.5), None),
        (np.zeros(3), np.full(3, 1 / 255), None),
        (np.zeros(3), np.full(3, 0.5), None),
        (np.full(3, 127.5), np.full(3, 0.0078125), None),
        (np.zeros(3), np.zeros(3), None),
    ],
)
def test_scales_are_told_apart(order: slice, mean: np.ndarray, factor: np.ndarray, code: str | None) -> None:
    """Both triples right, or on the wrong scale, or not inverted, in either order; the fix gives the right pair."""
    mean, factor = mean[order], factor[order]
    body = RGB + triple("min_chn", mean, "{:.6f}") + triple("var_reci_chn", factor, "{:.7f}")
    found = findings(body)
    assert [f.code for f in found] == ([code] if code else [])
    if code and mean.any():
        numbers = [float(v) for v in re.findall(r"[\d.]+(?= |$)", found[0].fix)]
        std = STD[order] if mean[0] != 0.5 else np.full(3, 0.5)
        np.testing.assert_allclose(numbers[:3], mean * (255 if mean.max() < 1 else 1), rtol=1e-4)
        np.testing.assert_allclose(numbers[3:], 1 / (255 * std), rtol=1e-3)


def test_one_channel_has_scales_too() -> None:
    """A grey picture is checked by its one channel."""
    grey = "input_format: YUV400_U8\n"
    assert codes(grey + "min_chn_0: 0.5\nvar_reci_chn_0: 0.5") == ["var-looks-like-std"]
    assert codes(grey + "mean_chn_0: 128\nvar_reci_chn_0: 0.00390625") == []
    assert codes(grey + "mean_chn_0: 128\nmin_chn_1: 0.5") == []


@pytest.mark.parametrize("preset", [name for name in CSC_PRESETS if not name.endswith("gray")])
def test_every_standard_is_known_and_every_slip_of_one_element_seen(preset: str) -> None:
    """A standard with its bias is fine; with another bias, or one element off, it is named with what would be right."""
    elements, bias = CSC_PRESETS[preset]
    yuv = preset.startswith("yuv")
    head, side = (YUV, "input_bias") if yuv else (RGB + "csc_switch: true\n", "output_bias")
    right = triple(side, bias)
    assert codes(head + matrix(elements) + right) == []
    other = triple(side, (16 - bias[0], 128, 128))
    assert codes(head + matrix(elements) + other) == ["bias-of-another-standard"]
    neighbours = {tuple(v) for v in presets_of(yuv).values()}
    for i in range(9):
        wrong = elements.flatten().tolist()
        wrong[i] += 7
        assert tuple(wrong) not in neighbours
        (finding,) = findings(head + matrix(wrong) + right)
        assert finding.code == "matrix-one-element-off"
        assert f"Write matrix_r{i // 3}c{i % 3}: {elements.flat[i]}" in finding.fix
        wrong[(i + 4) % 9] -= 9
        assert codes(head + matrix(wrong) + right) == []  # two elements off: somebody's own matrix


def test_grey_and_backward_matrices() -> None:
    """The conversions to grey need no bias; a matrix of the other direction is named."""
    assert codes(YUV + matrix(CSC_PRESETS["yuv_to_gray"][0]) + triple("input_bias", (0, 0, 0))) == []
    assert (
        codes(RGB + "csc_switch: true\n" + matrix(CSC_PRESETS["rgb_to_gray"][0]) + triple("output_bias", "000")) == []
    )
    backward = YUV + matrix(CSC_PRESETS["rgb_to_yuv_jpeg"][0]) + triple("input_bias", (0, 128, 128))
    assert codes(backward) == ["matrix-of-other-direction"]


@pytest.mark.parametrize("mean_order", ["RGB", "BGR"])
@pytest.mark.parametrize("var_order", ["RGB", "BGR", None])
@pytest.mark.parametrize("matrix_order", ["rgb", "bgr", None])
@pytest.mark.parametrize("carrier", ["mean_chn", "min_chn"])
def test_orders_are_compared(mean_order: str, var_order: str | None, matrix_order: str | None, carrier: str) -> None:
    """Mean or min, var and matrix have to agree in their order, where each of them is known."""
    mean = (IMAGENET * 255)[:: -1 if mean_order == "BGR" else 1]
    body = triple(carrier, mean.round().astype(int) if carrier == "mean_chn" else mean.round(3))
    if var_order:
        body += triple("var_reci_chn", 1 / (255 * STD[:: -1 if var_order == "BGR" else 1]), "{:.6f}")
    if matrix_order:
        body = YUV + matrix(CSC_PRESETS[f"yuv_to_{matrix_order}_jpeg"][0]) + triple("input_bias", (0, 128, 128)) + body
    else:
        body = RGB + "csc_switch: false\n" + body
    orders = {mean_order, *([var_order] if var_order else []), *([matrix_order.upper()] if matrix_order else [])}
    assert codes(body) == (["channel-order"] if len(orders) > 1 else [])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (RGB + "crop: false load_start_pos_w: 0 crop_size_w: 64 src_image_size_w: 64", []),
        (RGB + "crop_size_w: 64", ["crop-switched-off"]),
        (RGB + "left_padding_size: 0", []),
        (RGB + "crop: true load_start_pos_w: 8 crop_size_w: 56 crop_size_h: 4 src_image_size_w: 64", []),
        (RGB + "crop: true load_start_pos_h: 8 crop_size_w: 56 crop_size_h: 4 src_image_size_h: 8", ["window-outside"]),
        (RGB + "crop: true load_start_pos_w: 7 crop_size_w: 6 crop_size_h: 4", []),
        (RGB + "crop: true padding: true", ["crop-without-size"]),
        (YUV.replace("true", "false") + "src_image_size_w: 63", ["odd-for-yuv420sp"]),
        (RGB + "padding: true left_padding_size: 2 padding_value: 255", []),
        (RGB + "padding: true left_padding_size: 2 padding_value: 256", ["padding-not-normalised"]),
        (RGB + "padding: true padding_value: 999", []),
        (RGB + "padding: true left_padding_size: 33", ["out-of-range"]),
        (RGB + "src_image_size_w: 1", ["out-of-range"]),
        (RGB + "src_image_size_h: 1", []),
        (RGB + "src_image_size_w: 4097", ["out-of-range"]),
        (RGB + "src_image_size_w: 0 src_image_size_h: 0", []),
        (RGB + "mean_chn_0: 256", ["out-of-range"]),
        (RGB + "mean_chn_1: -1", ["out-of-range"]),
        (RGB + "var_reci_chn_0: nan min_chn_1: inf", ["out-of-range"] * 2),
        (RGB + "ax_swap_switch: true", ["swap-without-channels"]),
        ("input_format: YUV400_U8 rbuv_swap_switch: true", ["swap-without-channels"]),
        (RGB + "resize: true resize_output_w: 8", ["no-ascend-c-equivalent"]),
        ("csc_switch: false", ["format-missing"]),
    ],
)  # fmt: skip
def test_borders_of_the_rules(body: str, expected: list[str]) -> None:
    """What is just allowed is not reported, what is just not allowed is."""
    assert sorted(codes(body)) == expected


def test_modes_and_ranks() -> None:
    """A block needs its mode, a dynamic one its largest size, and each input has one block; lines tell them apart."""
    assert [f.code for f in al.read_aipp_config("aipp_op { input_format: RGB888_U8 }").check()] == ["mode-missing"]
    assert [f.code for f in al.read_aipp_config("aipp_op { aipp_mode: dynamic }").check()] == ["max-size-missing"]
    twice = (
        "aipp_op { aipp_mode: dynamic\nmax_src_image_size: 9 }\naipp_op {\n aipp_mode: dynamic max_src_image_size: 9 }"
    )
    (finding,) = al.read_aipp_config(twice).check()
    assert (finding.code, finding.lines) == ("same-input-twice", (1, 3))
    grey = "aipp_mode: static related_input_rank: 1\n input_format: YUV400_U8 csc_switch: true"
    two = f"aipp_op {{ aipp_mode: static }}\naipp_op {{\n {grey} }}"
    assert [(f.code, f.lines) for f in al.read_aipp_config(two).check()] == [
        ("format-missing", (1,)),
        ("yuv400-csc", (4,)),
    ]
