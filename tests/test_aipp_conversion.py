"""Colour and type conversion, on numbers small enough to check by hand."""

from __future__ import annotations

import warnings

import aipp_cases
import numpy as np
import pytest
from aipp_cases import grey, load, random_picture, window_of

import ascendlab as al

F = al.AippInputFormat
ATLAS_350 = al.Product.ATLAS_350
JPEG_TO_RGB = [[256, 0, 359], [256, -88, -183], [256, 454, 0]]


@pytest.mark.rule("aipp-csc-documented")
def test_documented_rgb_to_yuv():
    """RGB to YUV by the document: shift, then add cscBiasIn, then saturate."""
    rgb = np.full((2, 2, 3), (255, 3, 100), np.uint8)
    csc = al.AippColorSpaceConvParams.from_matrix(
        [[77, 150, 29], [-43, -85, 128], [256, 0, 0]], bias_in=(1, 2, 3), bias_out=(90, 91, 92)
    )
    setup = al.set_aipp_functions(
        rgb, input_format=F.RGB888_U8, config=al.AippParams(csc_params=csc), dtype="uint8", product=ATLAS_350
    )
    # 22985 >> 8 = 89; 1580 >> 8 = 6; 255 + 3 saturates.
    assert al.load_image_to_local(setup, window_of(rgb))[0, 0, :3].tolist() == [90, 8, 255]


@pytest.mark.rule("aipp-csc-documented")
def test_documented_yuv_to_rgb():
    """YUV to RGB by the document: take off cscBiasOut, multiply, shift (rounding down), saturate."""
    y, uv = np.full((2, 2), 200, np.uint8), np.array([[100, 255]], np.uint8)
    csc = al.AippColorSpaceConvParams.from_matrix(JPEG_TO_RGB, bias_out=(0, 128, 128))
    setup = al.set_aipp_functions(
        y, uv, input_format=F.YUV420SP_U8, config=al.AippParams(csc_params=csc), dtype="uint8"
    )
    # R: 200 + 178.09 saturates; G: (51200 + 2464 - 23241) >> 8 = 30423 >> 8 = 118; B: (51200 - 12712) >> 8 = 150.
    assert al.load_image_to_local(setup, window_of(y))[0, 0, :3].tolist() == [255, 118, 150]
    dark = al.AippColorSpaceConvParams.from_matrix([[1, 0, 0], [-1, 0, 0], [0, 0, 0]], bias_out=(201, 0, 0))
    setup = al.set_aipp_functions(
        y, uv, input_format=F.YUV420SP_U8, config=al.AippParams(csc_params=dark), dtype="uint8"
    )
    # -1 >> 8 is -1, saturated to 0; 1 >> 8 is 0.
    assert al.load_image_to_local(setup, window_of(y))[0, 0, :3].tolist() == [0, 0, 0]


@pytest.mark.rule("aipp-csc-dav-3510")
def test_the_open_kernels_colours():
    """Profile dav_3510 adds 128 before dividing, divides towards zero, uses the other bias, and wraps."""
    rgb = np.full((2, 2, 3), (255, 3, 100), np.uint8)
    csc = al.AippColorSpaceConvParams.from_matrix(
        [[77, 150, 29], [-43, -85, 128], [256, 0, 0]], bias_in=(90, 91, 92), bias_out=(1, 2, 3)
    )
    call = {"dtype": "uint8", "product": ATLAS_350, "profile": "dav_3510", "config": al.AippParams(csc_params=csc)}
    setup = al.set_aipp_functions(rgb, input_format=F.RGB888_U8, **call)
    # 22985 + 128 -> 90; 1580 + 128 -> 6; 255 + 3 wraps to 2.
    assert al.load_image_to_local(setup, window_of(rgb))[0, 0, :3].tolist() == [91, 8, 2]
    y, uv = np.full((2, 2), 200, np.uint8), np.array([[100, 255]], np.uint8)
    csc = al.AippColorSpaceConvParams.from_matrix([[-3, 0, 0], [256, 0, 359], [-256, 0, 0]], bias_in=(0, 0, 128))
    call["config"] = al.AippParams(csc_params=csc)
    setup = al.set_aipp_functions(y, uv, input_format=F.YUV420SP_U8, **call)
    # (-600 + 128) / 256 = -1.84 -> -1, not -2; 378 wraps; -199.5 -> -199.
    assert al.load_image_to_local(setup, window_of(y))[0, 0, :3].tolist() == [255, 378 - 256, 256 - 199]


BIAS_CASES = [
    (F.RGB888_U8, "documented", "bias_in", "bias_out"),
    (F.XRGB8888_U8, "documented", "bias_in", "bias_out"),
    (F.YUV420SP_U8, "documented", "bias_out", "bias_in"),
    (F.YUV400_U8, "documented", "bias_out", "bias_in"),
    (F.RGB888_U8, "dav_3510", "bias_out", "bias_in"),
    (F.XRGB8888_U8, "dav_3510", "bias_out", "bias_in"),
    (F.YUV420SP_U8, "dav_3510", "bias_in", "bias_out"),
    (F.YUV400_U8, "dav_3510", "bias_in", "bias_out"),
]


@pytest.mark.rule("aipp-csc-conflict")
@pytest.mark.parametrize(("input_format", "profile", "used", "ignored"), BIAS_CASES)
def test_a_bias_that_is_ignored_gets_a_warning(input_format, profile, used, ignored):
    """Only the ignored bias set: a warning at the caller's line that names both conventions; otherwise silence."""
    src0, src1 = aipp_cases.make_sources(np.random.default_rng(0), input_format, 2, 2)
    matrix = np.eye(3, dtype=int) * 256

    def configure(*, enabled=True, **biases):
        csc = al.AippColorSpaceConvParams.from_matrix(matrix, **biases)
        if not enabled:
            csc = al.AippColorSpaceConvParams(csc_bias_in0=csc.csc_bias_in0, csc_bias_out0=csc.csc_bias_out0)
        return al.set_aipp_functions(
            src0, src1, input_format=input_format, config=al.AippParams(csc_params=csc), dtype="uint8",
            product=ATLAS_350, profile=profile,
        )  # fmt: skip

    with pytest.warns(al.DocumentationConflictWarning) as caught:
        setup = configure(**{ignored: (0, 0, 7)})
    assert setup.csc_bias == (0, 0, 0)
    assert [w.filename for w in caught] == [__file__]
    text = str(caught[0].message)
    names = {"bias_in": "cscBiasIn", "bias_out": "cscBiasOut"}
    assert f"uses {names[used]}, which is zero, and ignores {names[ignored]}" in text
    assert "Table 8" in text
    assert "ACL reference" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert configure(**{used: (0, 0, 7)}).csc_bias == (0, 0, 7)
        configure(**{used: (1, 0, 0), ignored: (0, 0, 7)})
        configure()
        configure(enabled=False, **{ignored: (7, 0, 0)})


@pytest.mark.rule("aipp-dtc-uint8")
def test_uint8_output_ignores_mean_min_and_var():
    """With uint8 output the conversion parameters change nothing."""
    rgb = random_picture(4, 6, 3)
    plain = load(rgb, input_format=F.RGB888_U8)
    with_all = load(rgb, input_format=F.RGB888_U8, dtc_mean_ch0=100, dtc_min_ch1=3.0, dtc_var_ch2=0.1)
    assert np.array_equal(plain, with_all)


@pytest.mark.rule("aipp-dtc-int8")
@pytest.mark.rule("aipp-dtc-int8-dav-3510")
@pytest.mark.parametrize(("profile", "expected"), [("documented", [-128, -128, 0, 55]), ("dav_3510", [56, 126, 0, 55])])
def test_int8_saturates_or_wraps(profile, expected):
    """Subtracting the mean saturates by the document and wraps in the open kernel."""
    picture = np.array([[0, 70, 200, 255]] * 2, np.uint8)
    got = grey(picture, dtype="int8", product=ATLAS_350, profile=profile, dtc_mean_ch0=200)
    assert got[0].tolist() == expected
    high = grey(picture, dtype="int8", product=ATLAS_350, profile=profile)
    assert high[0].tolist() == ([0, 70, 127, 127] if profile == "documented" else [0, 70, -56, -1])


@pytest.mark.rule("aipp-dtc-half")
def test_half_rounds_after_every_operation():
    """(v - mean - min) rounds to half before var multiplies it: one rounding at the end would give another bit."""
    picture = np.full((2, 2), 255, np.uint8)
    minimum, var = 0.3, 1.1
    got = grey(picture, dtype="half", dtc_min_ch0=minimum, dtc_var_ch0=var)[0, 0]
    m, f = np.float16(minimum), np.float16(var)
    assert got == np.float16(np.float16(255) - m) * f
    assert got != np.float16((255 - float(m)) * float(f))


@pytest.mark.rule("aipp-dtc-200i")
def test_200i_has_no_min_and_rounds_once():
    """Atlas 200I/500 A2 refuses a min, whatever the output type, and lets dtcRoundMode choose between ties."""
    picture = np.full((2, 2), 33, np.uint8)
    on_200i = {"product": al.Product.ATLAS_200I_500_A2}
    for dtype in ("uint8", "int8", "half"):
        with pytest.raises(al.ParameterError, match=r"^dtcMinCh1 = 1\.0 .*no min.*table 6"):
            grey(picture, dtype=dtype, dtc_min_ch1=1.0, **on_200i)
    tie = {"dtype": "half", "dtc_var_ch0": 1 + 2**-6, **on_200i}
    # Halves from 32 to 64 are 1/32 apart.
    assert 33 * (1 + 2**-6) == 1072.5 / 32
    assert grey(picture, dtc_round_mode=0, **tie)[0, 0] == np.float16(1073 / 32)
    assert grey(picture, dtc_round_mode=1, **tie)[0, 0] == np.float16(1072 / 32)
    assert grey(picture, dtype="int8", dtc_round_mode=1, dtc_mean_ch0=40, **on_200i)[0, 0] == -7


@pytest.mark.rule("aipp-dtc-round-mode")
@pytest.mark.parametrize("product", [*aipp_cases.WITH_UINT8, *aipp_cases.WITHOUT_UINT8], ids=lambda p: p.name)
def test_the_round_mode_belongs_to_one_product(product):
    """A dtcRoundMode of 1 is an error on every product but Atlas 200I/500 A2."""
    picture = random_picture(2, 2)
    if product is al.Product.ATLAS_200I_500_A2:
        grey(picture, dtype="half", product=product, dtc_round_mode=1)
    else:
        with pytest.raises(al.ParameterError, match=r"^dtcRoundMode = 1 .*only Atlas 200I/500 A2.*table 6"):
            grey(picture, dtype="half", product=product, dtc_round_mode=1)


SWAPPED = {F.RGB888_U8: ("is_swap_rb", [2, 1, 0]), F.YUV420SP_U8: ("is_swap_uv", [0, 2, 1])}


@pytest.mark.rule("aipp-dtc-channel")
@pytest.mark.rule("aipp-dtc-channel-dav-3510")
@pytest.mark.parametrize("csc", [False, True])
@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
@pytest.mark.parametrize("input_format", SWAPPED, ids=lambda f: f.name)
def test_which_channels_mean_is_used_after_a_swap(input_format, profile, csc):
    """The output channel's, except in dav_3510 without colour conversion: the source channel's."""
    src0, src1 = aipp_cases.make_sources(np.random.default_rng(0), input_format, 2, 2)
    switch, order = SWAPPED[input_format]
    config = {switch: True, "dtc_mean_ch0": 1, "dtc_mean_ch1": 20, "dtc_mean_ch2": 40}
    if csc:
        config |= {"is_enable_csc": True, "csc_matrix_r0c0": 64, "csc_matrix_r1c1": 64, "csc_matrix_r2c2": 64}
    more = {"input_format": input_format, "product": ATLAS_350, "profile": profile}
    samples = load(src0, src1, **more, **config).astype(int)
    result = load(src0, src1, dtype="half", **more, **config)
    means = np.array([1, 20, 40])
    if profile == "dav_3510" and not csc:
        means = means[order]
    assert np.array_equal(result[:, :, :3], samples[:, :, :3] - means)


@pytest.mark.rule("aipp-dtc-channel-dav-3510")
@pytest.mark.parametrize("rb", [False, True])
def test_ax_without_colours_is_undefined_in_the_open_kernel(rb):
    """dav_3510 refuses AX for int8 and half without colour conversion and says why; with it, or to uint8, AX works."""
    xrgb = random_picture(2, 2, 4)
    more = {"input_format": F.XRGB8888_U8, "product": ATLAS_350, "profile": "dav_3510", "is_swap_rb": rb}
    for dtype in ("int8", "half"):
        with pytest.raises(al.ParameterError, match=r"^isSwapAX .*index 3.*undefined"):
            load(xrgb, dtype=dtype, is_swap_ax=True, **more)
        load(xrgb, dtype=dtype, is_swap_ax=True, is_enable_csc=True, **more)
        load(xrgb, dtype=dtype, **more)
    expected = xrgb[:, :, [3, 2, 1]] if rb else xrgb[:, :, 1:]
    assert np.array_equal(load(xrgb, is_swap_ax=True, **more)[:, :, :3], expected)
