"""Every byte through every conversion, and colours on a dense grid."""

from __future__ import annotations

import itertools

import aipp_cases
import aipp_oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendlab as al
from ascendlab.aipp_params import CSC_PRESETS

BYTES = np.arange(256, dtype=np.uint8).reshape(16, 16)
WINDOW = al.LoadImageToLocalParams(horiz_size=16, vert_size=16, src_horiz_size=16)
ON_200I = al.Product.ATLAS_200I_500_A2
CONVERSIONS = [
    pytest.param(dtype, product, profile, mode, id=f"{dtype}-{product.name}-{profile}-{mode}")
    for product, profile, modes in [
        (al.Product.ATLAS_INFERENCE_AI_CORE, "documented", (0,)),
        (al.Product.ATLAS_A2, "documented", (0,)),
        (al.Product.ATLAS_A3, "documented", (0,)),
        (ON_200I, "documented", (0, 1)),
        (al.Product.ATLAS_350, "documented", (0,)),
        (al.Product.ATLAS_350, "dav_3510", (0,)),
    ]
    for mode in modes
    for dtype in ("uint8", "int8", "half")
    if dtype != "uint8" or product not in aipp_cases.WITHOUT_UINT8
]
# mean, min and var that reach infinity, inf * 0, subnormals and both kinds of tie.
EXTREMES = [
    (0, 0.0, 1.0),
    (255, 0.0, 1.0),
    (128, -0.0, -1.0),
    (100, 3.25, 1 / 255),
    (0, -65504.0, 1.0),
    (0, -65504.0, 0.0),
    (7, 65504.0, 65504.0),
    (0, 0.0, 65504.0),
    (3, 0.0, -256.5),
    (200, 0.0, 6e-8),
    (40, 6e-8, 6e-8),
    (13, 0.0, 1.0009765625),
    (77, 0.5, 0.0),
    (9, 2049.0, 0.33325195312),
]


def one_channel(mean, minimum, var, dtype, product, profile, mode):
    """Send all bytes through one channel; return what came out and what the oracle says."""
    config = aipp_cases.make_config(
        dtc_mean_ch0=mean,
        dtc_min_ch0=0.0 if product is ON_200I else minimum,
        dtc_var_ch0=var,
        dtc_round_mode=mode,
        c_padding_mode=1,
    )
    case = aipp_cases.Case(BYTES, None, al.AippInputFormat.YUV400_U8, config, dtype, product, profile, WINDOW)
    expected = [aipp_oracle.convert_type(v, 0, dtype, config, product.name, profile) for v in range(256)]
    got = case.run()[:, :, 0].reshape(-1)
    return got, np.array(expected).astype(got.dtype)


@pytest.mark.parametrize(("dtype", "product", "profile", "mode"), CONVERSIONS)
@pytest.mark.rule("aipp-dtc-int8")
@pytest.mark.rule("aipp-dtc-int8-dav-3510")
@pytest.mark.rule("aipp-dtc-uint8")
def test_every_byte_with_every_mean(dtype, product, profile, mode):
    """All 256 samples with all 256 means: nothing is lost to overflow, saturation or wrapping but what should be."""
    for mean in range(256) if dtype == "int8" else range(0, 256, 51):
        got, expected = one_channel(mean, 0.0, 1.0, dtype, product, profile, mode)
        assert aipp_oracle.same_bits(got, expected)


@pytest.mark.parametrize(("dtype", "product", "profile", "mode"), [c for c in CONVERSIONS if c.values[0] == "half"])
@pytest.mark.rule("aipp-dtc-half")
@pytest.mark.rule("aipp-dtc-200i")
def test_every_byte_with_extreme_parameters(dtype, product, profile, mode):
    """Half overflow, NaN from inf * 0, subnormals, signed zeros and ties come out as IEEE 754 has them."""
    seen = []
    for mean, minimum, var in EXTREMES:
        got, expected = one_channel(mean, minimum, var, dtype, product, profile, mode)
        assert aipp_oracle.same_bits(got, expected), (mean, minimum, var)
        seen.append(got)
    values = np.concatenate(seen)
    assert np.isinf(values).any()
    assert ((values != 0) & (abs(values) < 2.0**-14)).any()
    assert np.isnan(values).any() == (product is not ON_200I)  # without min nothing gets to infinity before var


halves = st.integers(0, 0xFFFF).map(lambda bits: float(np.uint16(bits).view(np.float16))).filter(np.isfinite)


@given(st.integers(0, 255), halves, halves, st.sampled_from(["plain", "away", "even"]))
@settings(max_examples=60, deadline=None)
@pytest.mark.rule("aipp-dtc-half")
@pytest.mark.rule("aipp-dtc-200i")
def test_half_conversion_with_any_parameters(mean, minimum, var, rounding):
    """Whatever the mean, min and var, half output is the one that exact arithmetic and the rule's roundings give."""
    product = al.Product.ATLAS_A2 if rounding == "plain" else ON_200I
    got, expected = one_channel(mean, minimum, var, "half", product, "documented", int(rounding == "even"))
    assert aipp_oracle.same_bits(got, expected)


@pytest.mark.rule("aipp-dtc-200i")
def test_the_round_modes_differ_only_in_ties():
    """The round mode decides exact ties and nothing else: 0 away from zero, 1 to even."""
    away, _ = one_channel(0, 0.0, 31 / 16, "half", ON_200I, "documented", 0)
    even, _ = one_channel(0, 0.0, 31 / 16, "half", ON_200I, "documented", 1)
    exact = np.arange(256) * 31 / 16
    assert np.count_nonzero(away != even) == 33
    spacing = np.spacing(np.maximum(exact, 1).astype(np.float16)).astype(float)
    tie = np.abs((exact / spacing) % 1 - 0.5) == 0
    assert not (away != even)[~tie].any()
    assert (away[tie] > exact[tie]).all()
    assert not (even[tie].view(np.uint16) % 2).any()


def test_channels_have_their_own_parameters():
    """Channel 2 is converted with mean, min and var of channel 2."""
    config = aipp_cases.make_config(
        dtc_mean_ch0=1, dtc_mean_ch1=20, dtc_mean_ch2=40,
        dtc_min_ch0=0.5, dtc_min_ch1=-3.0, dtc_min_ch2=9.0,
        dtc_var_ch0=2.0, dtc_var_ch1=0.1, dtc_var_ch2=-1.5,
    )  # fmt: skip
    picture = np.stack([BYTES, BYTES.T, BYTES[::-1]], axis=2)
    case = aipp_cases.Case(
        picture, None, al.AippInputFormat.RGB888_U8, config, "half", al.Product.ATLAS_A2, "documented", WINDOW
    )
    assert aipp_oracle.same_bits(case.run(), case.expect())


STEPS = [*range(0, 255, 16), 255]
GRID = np.array(list(itertools.product(STEPS, STEPS, STEPS)), np.uint8).reshape(17, 289, 3)
EDGES = (0, 1, 127, 128, 254, 255)
CORNERS = np.array(list(itertools.product(EDGES, EDGES, EDGES)), np.uint8).reshape(12, 18, 3)


def convert_colours(colours, input_format, csc, profile):
    """Send an array of colour triples through the conversion to uint8; also ask the oracle."""
    rows, columns, _ = colours.shape
    if input_format is al.AippInputFormat.YUV420SP_U8:
        src0 = colours[:, :, 0].repeat(2, axis=0).repeat(2, axis=1)
        src1 = np.ascontiguousarray(colours[:, :, 1:]).reshape(rows, 2 * columns)
        step = 2
    else:
        src0, src1, step = colours, None, 1
    config = al.AippParams(csc_params=csc, c_padding_params=al.AippChannelPaddingParams(c_padding_mode=1))
    window = al.LoadImageToLocalParams(horiz_size=step * columns, vert_size=step * rows, src_horiz_size=step * columns)
    case = aipp_cases.Case(src0, src1, input_format, config, "uint8", al.Product.ATLAS_350, profile, window)
    got = case.run()[::step, ::step, :3].reshape(-1, 3)
    expected = [
        aipp_oracle.convert_colour([int(v) for v in colour], int(input_format), config, profile)
        for colour in colours.reshape(-1, 3)
    ]
    return got, np.array(expected)


@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
@pytest.mark.parametrize("name", CSC_PRESETS)
@pytest.mark.rule("aipp-csc-documented")
@pytest.mark.rule("aipp-csc-dav-3510")
def test_presets_on_a_dense_grid_of_colours(name, profile):
    """A standard conversion is exact on 17**3 colours, the corners of the cube included, in both profiles."""
    input_format = al.AippInputFormat.YUV420SP_U8 if name.startswith("yuv") else al.AippInputFormat.RGB888_U8
    got, expected = convert_colours(GRID, input_format, al.csc_preset(name, profile), profile)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
@pytest.mark.parametrize("input_format", [al.AippInputFormat.YUV420SP_U8, al.AippInputFormat.RGB888_U8])
def test_any_int16_matrix_on_the_edges_of_the_cube(input_format, profile):
    """No matrix overflows: the largest and the smallest int16 coefficients convert exactly, too."""
    rng = np.random.default_rng(3)
    for low, high in [(-32768, -32767), (32767, 32768), (-32768, 32768), (-1000, 1000), (-3, 4)]:
        csc = al.AippColorSpaceConvParams.from_matrix(
            rng.integers(low, high, (3, 3)),
            bias_in=tuple(rng.integers(0, 256, 3)),
            bias_out=tuple(rng.integers(0, 256, 3)),
        )
        got, expected = convert_colours(CORNERS, input_format, csc, profile)
        assert np.array_equal(got, expected)


@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
@pytest.mark.parametrize("name", [name for name in CSC_PRESETS if name.startswith("yuv")])
@pytest.mark.rule("aipp-yuv400-csc")
def test_yuv400_converts_with_u_and_v_of_zero(name, profile):
    """YUV400 with a colour conversion gives three channels, as if U and V were 0 (not 128)."""
    config = al.AippParams(csc_params=al.csc_preset(name, profile))
    case = aipp_cases.Case(
        BYTES, None, al.AippInputFormat.YUV400_U8, config, "uint8", al.Product.ATLAS_350, profile, WINDOW
    )
    got = case.run()
    assert np.array_equal(got, case.expect())
    colours = np.stack([BYTES, np.zeros_like(BYTES), np.zeros_like(BYTES)], axis=2)
    same, _ = convert_colours(colours, al.AippInputFormat.YUV420SP_U8, config.csc_params, profile)
    assert np.array_equal(got[:, :, :3].reshape(-1, 3), same)
