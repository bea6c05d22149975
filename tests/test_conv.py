"""The fast golden convolution: sums in float64, rounded once."""

from __future__ import annotations

import capi_cases
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi
from ascendlab.conv import conv2d


def test_the_fast_convolution_against_loops():
    """conv2d agrees with a direct sum, for all its types and channel tails too."""
    rng = np.random.default_rng(12)
    for dtype, channels in ((np.float16, 20), (np.float32, 9), (np.int8, 40), (capi.bfloat16_t, 16)):
        fmap, c0 = capi_cases.numbers(rng, (2, 5, 7, channels), dtype), 32 // np.dtype(dtype).itemsize
        weight = capi_cases.numbers(rng, (channels * 6, 3), dtype)
        got = conv2d(fmap, weight, kernel=(2, 3), strides=(2, 1), dilations=(1, 2), pads=(1, 2, 0, 1), pad_value=3)
        padded = np.full((2, 6, 10, channels), 3.0)
        padded[:, :5, 1:8] = fmap
        expected = np.zeros((2, 3, 6, 3))
        for n, ho, wo in np.ndindex(2, 3, 6):
            k = 0
            for first in range(0, channels, c0):
                for kh in range(2):
                    for kw in range(3):
                        part = padded[n, ho * 2 + kh, wo + kw * 2, first : first + c0]
                        expected[n, ho, wo] += part @ weight[k : k + len(part)].astype(float)
                        k += len(part)
        if dtype is np.int8:
            assert got.dtype == np.int32
            assert np.array_equal(got, expected)
        else:
            assert got.dtype == dtype
            scale = np.abs(expected).max()
            assert np.abs(got.astype(float) - expected).max() <= scale * float(2.0 ** (-8 if c0 == 16 else -20))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_fast_convolution_rounds_bfloat16_once(sign):
    """A sum just above the middle of two bfloat16 numbers goes up, though float32 would take it for the middle."""
    above, middle, below = ([1, 2.0**-8, 2.0**-30], [1, 2.0**-8, 0], [1, 2.0**-7 + 2.0**-8, -(2.0**-30)])
    fmap = sign * np.array([above, middle, below]).reshape(1, 1, 3, 3).astype(capi.bfloat16_t)
    got = conv2d(fmap, np.ones((3, 1), capi.bfloat16_t), kernel=(1, 1)).astype(float).reshape(-1)
    assert got.tolist() == [sign * (1 + 2.0**-7), sign, sign * (1 + 2.0**-7)]


@pytest.mark.filterwarnings("error")
def test_the_fast_convolution_says_nothing_about_infinities_and_nans():
    """Values beyond the type, infinities and NaNs go their way without a warning."""
    for values, expected in (((60000, 60000), np.inf), ((np.inf, -np.inf), np.nan), ((np.nan, 1), np.nan)):
        got = conv2d(np.array(values, np.float16).reshape(1, 1, 1, 2), np.ones((2, 1), np.float16), kernel=(1, 1))
        np.testing.assert_array_equal(got.reshape(-1), [expected])
    signalling = np.full((1, 1, 1, 1), 0x7C01, np.uint16).view(np.float16)
    assert np.isnan(conv2d(signalling, np.ones((1, 1), np.float16), kernel=(1, 1))).all()
    huge = np.full((1, 1, 1, 2), 3e38, capi.bfloat16_t)
    assert np.isposinf(conv2d(huge, np.ones((2, 1), capi.bfloat16_t), kernel=(1, 1)).astype(float)).all()


@pytest.mark.parametrize(
    ("dtype", "wrong"), [(np.int8, 128), (np.int8, 2.5), (np.float16, 70000), (np.float32, 1e39), (np.float16, np.nan)]
)
def test_the_fast_convolution_refuses_a_border_that_its_type_does_not_hold(dtype, wrong):
    """A border beyond the type's range is no border that a load could make."""
    with pytest.raises(al.ParameterError, match=r"^pad_value = "):
        conv2d(np.ones((1, 1, 1, 1), dtype), np.ones((2, 1), dtype), kernel=(1, 2), pads=(1, 0, 0, 0), pad_value=wrong)


def test_the_fast_convolution_refuses_what_does_not_fit():
    """Wrong arrays, and filters larger than the padded map, are named."""
    fmap, weight = np.zeros((1, 4, 4, 16), np.float16), np.zeros((144, 2), np.float16)
    assert conv2d(fmap, weight, kernel=(3, 3)).shape == (1, 2, 2, 2)
    for name, change in (("fmap", {"fmap": fmap[0]}), ("weight", {"weight": weight[1:]}), ("kernel", {"kernel": (3,)}),
                         ("filterH", {"kernel": (6, 3), "weight": np.zeros((288, 2), np.float16)}),
                         ("pads", {"pads": (1, 1)}), (r"strides\[0\]", {"strides": (0, 1)}),
                         ("pad_value", {"pad_value": None})):  # fmt: skip
        with pytest.raises(al.ParameterError, match=f"^{name}"):
            conv2d(**{"fmap": fmap, "weight": weight, "kernel": (3, 3), **change})
