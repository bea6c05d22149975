"""Half arithmetic in float32 steps: all halves, all ties, and sums of products against NumPy's own half loops."""

from __future__ import annotations

import numpy as np
import pytest
import vector_oracle
from aipp_oracle import nearest_half
from hypothesis import given
from hypothesis import strategies as st

from ascendlab import half
from ascendlab.half import accumulate_products, narrow, round_to_half, widen, widen_and_measure

ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
NORMAL = ALL[((np.abs(ALL) >= 2.0**-14) & np.isfinite(ALL)) | (ALL == 0)]


def same_bits(got: np.ndarray, expected: np.ndarray) -> bool:
    """Compare bit by bit, NaN payloads and signs of zero included."""
    return got.dtype == expected.dtype and got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("halves", [ALL, NORMAL], ids=["all", "normal numbers and zeros"])
def test_widening_and_narrowing_keep_every_half(halves):
    """Each of the 65536 halves becomes its float32 and comes back, on the quick path and on the careful one."""
    wide = widen(halves)
    with np.errstate(invalid="ignore"):
        assert same_bits(wide, halves.astype(np.float32))
        back = halves.astype(np.float32).astype(np.float16)
    assert same_bits(narrow(wide), back)
    assert same_bits(narrow(wide[:60000].reshape(2, -1)), back[:60000].reshape(2, -1))
    for few in range(0, len(halves), 1000):
        assert same_bits(narrow(widen(halves[few : few + 1000])), back[few : few + 1000])
    out = np.zeros_like(halves)
    assert narrow(wide, out) is out
    assert same_bits(out, back)


def test_widening_looks_at_strided_arrays_too():
    """A view with steps widens like its copy."""
    view = NORMAL[: NORMAL.size // 2 * 2].reshape(2, -1).T
    assert same_bits(widen(view), view.astype(np.float32))


def test_rounding_at_every_boundary():
    """Around every midpoint between neighbouring halves float32 numbers go to the nearest one, ties to even."""
    finite = np.sort(ALL[np.isfinite(ALL)].astype(np.float64))
    finite = np.concatenate([finite, [65536.0]])
    middle = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)  # exact: 12 significant bits
    near = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    near = np.concatenate([near, -near, np.float32([np.inf, 0.0, -0.0, 1e38, 1e-45, -1e-45, 65520, 65519.996])])
    with np.errstate(over="ignore"):
        expected = near.astype(np.float16).astype(np.float32)
    assert same_bits(round_to_half(near), expected)
    assert same_bits(round_to_half(-near), -expected)


def test_rounding_agrees_with_exact_arithmetic():
    """Random float32 numbers of every size round as exact arithmetic says, not only as NumPy does."""
    rng = np.random.default_rng(3)
    numbers = (rng.normal(size=400) * 2.0 ** rng.integers(-30, 17, 400)).astype(np.float32)
    exact = [nearest_half(int(float(x) * 2.0**120), 120) for x in numbers]
    assert round_to_half(numbers).tolist() == exact


def test_rounding_keeps_nans_and_arguments():
    """A NaN stays one, and the argument keeps its values."""
    numbers = np.float32([np.nan, 1 / 3])
    rounded = round_to_half(numbers)
    assert np.isnan(rounded[0])
    assert numbers[1] == np.float32(1 / 3)
    assert rounded[1] == np.float32(np.float16(1 / 3))


@pytest.mark.parametrize("more", [0, 10000], ids=["few", "many"])
def test_the_largest_magnitude_is_found(more):
    """It does not look at signs, and says when there is an infinity or a NaN, which bounds nothing."""
    rest = np.zeros(more, np.float16)

    def largest(*values):
        return widen_and_measure(np.concatenate([np.float16(values), rest]))[1]

    assert largest(1, -7, 3) == 7
    assert largest(8, -7) == 8
    assert largest(65504, 1) == 65504
    assert largest(-np.inf, 2) == np.inf
    assert np.isnan(largest(np.nan, 2))
    assert np.isnan(largest(np.nan, np.inf))
    assert np.isnan(largest(-1, np.nan))
    assert widen_and_measure(rest)[1] == 0


def test_conversions_do_without_subnormals_of_float32(monkeypatch):
    """Where the processor drops subnormal float32 numbers, conversions are the same: NumPy's own are used."""
    monkeypatch.setattr(half, "_subnormals_are_lost", lambda: True)
    wide = widen(ALL)
    with np.errstate(invalid="ignore"):
        assert same_bits(wide, ALL.astype(np.float32))
        assert same_bits(narrow(wide), wide.astype(np.float16))


def numpy_accumulate(samples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Add up products in NumPy's half arithmetic."""
    with np.errstate(all="ignore"):
        total = np.zeros(np.broadcast_shapes(samples.shape, weights.shape)[1:], np.float16)
        for sample, weight in zip(samples, weights, strict=True):
            total = total + sample * weight
    return total


def agree(samples: np.ndarray, weights: np.ndarray) -> bool:
    """Compare `accumulate_products`, with and without a known bound, with NumPy's half arithmetic."""
    expected = numpy_accumulate(samples, weights)
    bounds = [np.inf, widen_and_measure(samples)[1] * widen_and_measure(weights)[1]]
    return all(
        vector_oracle.same_numbers(narrow(accumulate_products(widen(samples), widen(weights), bound)), expected)
        for bound in bounds
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_sums_of_products_of_any_bits(seed, terms):
    """Random bit patterns, so infinities, NaNs and subnormals too, give what NumPy's half arithmetic gives."""
    bits = np.random.default_rng(seed).integers(0, 65536, (2, terms, 97), dtype=np.uint16).view(np.float16)
    assert agree(bits[0], bits[1])


@pytest.mark.parametrize("scale", [2.0**-24, 2.0**-16, 2.0**-12, 1.0, 2.0**7, 2.0**8, 300.0])
def test_sums_of_products_of_every_size(scale):
    """Products around the smallest subnormal, around one and around the largest half round after every step."""
    rng = np.random.default_rng(int(scale))
    samples = (rng.normal(size=(31, 500)) * np.sqrt(scale)).astype(np.float16)
    weights = (rng.normal(size=(31, 1)) * np.sqrt(scale)).astype(np.float16)
    assert agree(samples, weights)


@pytest.mark.parametrize("terms", [2, 255])
def test_sums_around_the_largest_half(terms):
    """Equal terms that just reach infinity, or just do not, do so here as well."""
    sizes = (65504 / terms * np.linspace(0.7, 1.05, 300)).astype(np.float16)
    assert agree(np.tile(sizes, (terms, 1)), np.ones((terms, 1), np.float16))
    assert agree(np.tile(sizes, (terms, 1)), np.full((terms, 1), -1, np.float16))


@pytest.mark.parametrize("count", [65536, 600])
def test_a_strict_floating_point_state_changes_nothing(count):
    """With NumPy told to raise at every exception, overflow and NaNs are still results and no errors."""
    halves, other = ALL[:count], ALL[::-1][:count]
    expected = numpy_accumulate(np.stack([halves, other]), np.stack([other, other]))
    with np.errstate(all="raise"):
        samples, weights = np.stack([widen(halves), widen(other)]), np.stack([widen(other), widen(other)])
        got = narrow(accumulate_products(samples, weights, np.inf))
        round_to_half(np.float32([1e38, 1e-40, np.inf, np.nan]))
    assert vector_oracle.same_numbers(got, expected)


def test_an_overflow_is_not_taken_back():
    """Once a sum is infinite, a finite term does not bring it back."""
    for size in (60000, 40000, 33000):
        samples = np.float16([[size], [size], [-size]])
        for bound in (np.inf, size):
            assert accumulate_products(widen(samples), np.ones((3, 1), np.float32), bound).tolist() == [np.inf]


def test_every_product_of_a_half_with_some_weights():
    """All 65536 halves times weights that make them overflow, underflow or round."""
    for weight in (1 / 3, -(2.0**-11), 2.0**-14 * 1.5, 3.0, np.inf, np.nan, -0.0):
        assert agree(ALL[None], np.full((1, 1), weight, np.float16))
