"""Half-precision arithmetic at the speed of float32, exact to the bit.

NumPy converts to float32 and back around every single half operation, in software.  Here operands are widened
once, each operation is done in float32 and rounded to the nearest half *within* float32, and results are narrowed
once.  That is exact: float32 has more than twice half's significant bits plus two, so rounding a sum or a product
first to float32 and then to half gives what rounding once would have given.

>>> a, b = np.float16([0.1, 2048, -6e-8]), np.float16([3, 32, 0.5])
>>> narrow(round_to_half(widen(a) * widen(b)))
array([ 0.2998,     inf, -0.    ], dtype=float16)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["accumulate_products", "narrow", "round_to_half", "widen", "widen_and_measure"]

# Zero-dimensional arrays, because NumPy converts Python numbers anew at every call.
_EXPONENT = np.array(0x7F800000, np.uint32)
_SIGN = np.array(0x80000000, np.uint32)
_THREE = np.array(3, np.uint32)
_SIXTEEN = np.array(16, np.uint32)
_THIRTEEN = np.array(13, np.int32)
_WIDENED_BITS = np.array(0x8FFFE000, np.uint32).view(np.int32)
_SMALLEST = np.array(2.0**-24, np.float32)
_SMALLEST_NORMAL = np.array(2.0**-14, np.float32)
_OVER_THE_TOP = np.array(2.0**16, np.float32)
_MAGIC = np.array(1.5 * 2.0**13, np.float32)
_UP = np.array(2.0**112, np.float32)
_DOWN = np.array(2.0**-112, np.float32)

# Below this size NumPy's own conversion takes less time than the calls that replace it.
_FEW = 4096
# 255 additions that each round up enlarge a sum by less than this factor: (1 + 2**-11)**256 = 1.133.
_ROUNDING_GROWTH = 1.15
_LARGEST = 65504.0


def widen(values: NDArray[np.float16]) -> NDArray[np.float32]:
    """Convert half to float32, exactly.

    Parameters
    ----------
    values : ndarray of float16
        Any shape.

    Returns
    -------
    ndarray of float32, same shape

    Examples
    --------
    >>> widen(np.float16([1.5, -0.0, 65504]))
    array([ 1.5000e+00, -0.0000e+00,  6.5504e+04], dtype=float32)
    """
    return widen_and_measure(values)[0]


def widen_and_measure(values: NDArray[np.float16]) -> tuple[NDArray[np.float32], float]:
    """Convert half to float32, exactly, and find the largest magnitude.

    Parameters
    ----------
    values : ndarray of float16
        Any shape.

    Returns
    -------
    (ndarray of float32, float)
        The largest magnitude is infinity or NaN if there is such an element.

    Examples
    --------
    >>> widen_and_measure(np.float16([2, -3]))
    (array([ 2., -3.], dtype=float32), 3.0)
    """
    if values.size < _FEW or _subnormals_are_lost():
        wide = values.astype(np.float32)
        return wide, _largest_magnitude(wide)
    # The bits, moved to their places in a float32, mean the value times 2**-112: subnormals too, but not infinities.
    bits = values.view(np.int16).astype(np.int32)
    np.left_shift(bits, _THIRTEEN, out=bits)
    np.bitwise_and(bits, _WIDENED_BITS, out=bits)
    wide = bits.view(np.float32)
    np.multiply(wide, _UP, out=wide)
    largest = _largest_magnitude(wide)
    if largest >= _OVER_THE_TOP:
        odd = ~np.isfinite(values)
        wide[odd] = values[odd]
        largest = np.nan if np.isnan(wide[odd]).any() else np.inf
    return wide, largest


def _largest_magnitude(values: NDArray[np.float32]) -> float:
    flat = values.ravel()
    return max(abs(float(np.maximum.reduce(flat, initial=0))), abs(float(np.minimum.reduce(flat, initial=0))))


def _subnormals_are_lost() -> bool:
    """Say whether some other library has made the processor take subnormal float32 numbers as 0."""
    return bool(_SMALLEST * _DOWN == 0)


def narrow(values: NDArray[np.float32], out: NDArray[np.float16] | None = None) -> NDArray[np.float16]:
    """Convert float32 numbers that *are* halves back to half (round others with `round_to_half` first).

    Parameters
    ----------
    values : ndarray of float32, C-contiguous
        Values of half, infinities and NaNs included.
    out : ndarray of float16, optional
        Where the result goes, of the same shape.

    Returns
    -------
    ndarray of float16, same shape

    Examples
    --------
    >>> narrow(np.float32([0.333251953125, -2]))
    array([ 0.3333, -2.    ], dtype=float16)
    """
    if out is None:
        out = np.empty(values.shape, np.float16)
    if values.size < _FEW or _subnormals_are_lost():
        out[...] = values
        return out
    # The value times 2**-112 has half's bits, three places and the sign apart; see `widen`.
    with np.errstate(invalid="ignore"):
        bits = (values * _DOWN).view(np.uint32)
    sign = bits & _SIGN
    np.left_shift(bits, _THREE, out=bits)
    np.bitwise_or(bits, sign, out=bits)
    np.right_shift(bits, _SIXTEEN, out=bits)
    out.view(np.uint16)[...] = bits
    if not -_OVER_THE_TOP < values.min() <= values.max() < _OVER_THE_TOP:
        odd = ~np.isfinite(values)
        out[odd] = values[odd]
    return out


def round_to_half(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round float32 numbers to the nearest half, ties to even, overflow to infinity.

    Parameters
    ----------
    values : ndarray of float32
        Any shape.

    Returns
    -------
    ndarray of float32, same shape
        New; each element a value of half, an infinity or a NaN, with the sign it had.

    Examples
    --------
    >>> round_to_half(np.float32([2049, 2051, 65520, -1e-9]))
    array([2048., 2052.,   inf,   -0.], dtype=float32)
    """
    rounded = np.array(values, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        _Rounding(rounded, np.empty_like(rounded)).apply(tiny=True, huge=True)
    np.copysign(rounded, values, out=rounded)
    return rounded


class _Rounding:
    """Rounds a float32 array in place, any number of times."""

    def __init__(self, x: NDArray[np.float32], scratch: NDArray[np.float32]) -> None:
        self.x, self.scratch = x, scratch
        self.bits, self.scratch_bits = x.view(np.uint32), scratch.view(np.uint32)

    def apply(self, *, tiny: bool, huge: bool) -> None:
        """Round to the nearest half; zeros lose their sign.

        `tiny`: some values may lie between multiples of 2**-24, half's last place.  `huge`: some may overflow, or
        are infinities or NaNs.  Without a flag the caller knows that there are none, which saves passes.
        """
        x, scratch = self.x, self.scratch
        # Adding and taking off 1.5 * 2**(e + 13), where e is the exponent, makes float32's own rounding to even
        # happen 10 binary places after the first: its spacing is 2**(e - 10) there.
        np.bitwise_and(self.bits, _EXPONENT, self.scratch_bits)
        if tiny or huge:
            # Two bounds at once take NumPy less time than one.
            scratch.clip(_SMALLEST_NORMAL, _OVER_THE_TOP, out=scratch)
        np.multiply(scratch, _MAGIC, scratch)
        np.add(x, scratch, x)
        np.subtract(x, scratch, x)
        if huge:
            # Between these two, half's range ends where float32's does.
            np.multiply(x, _UP, x)
            np.multiply(x, _DOWN, x)


def accumulate_products(
    samples: NDArray[np.float32], weights: NDArray[np.float32], largest: float
) -> NDArray[np.float32]:
    """Multiply and add up along the first axis as half hardware does, rounding after each operation.

    ``total = half(total + half(samples[k] * weights[k]))`` for k = 0, 1, ..., starting from zero.

    Parameters
    ----------
    samples : ndarray of float32, shape (terms, ...)
        Values of half; at most 255 terms.  Overwritten.
    weights : ndarray of float32, broadcastable to the shape of `samples`
        Values of half.
    largest : float
        At least the largest ``abs(sample * weight)``; infinity or NaN if unknown.

    Returns
    -------
    ndarray of float32, shape of ``samples[0]``
        Values of half; a view of `samples`.

    Examples
    --------
    >>> accumulate_products(np.float32([[2048, 3], [1, 4]]), np.float32([[1], [1]]), 2048)
    array([2048.,    7.], dtype=float32)
    """
    huge = not largest * len(samples) * _ROUNDING_GROWTH <= _LARGEST
    scratch = np.empty_like(samples)
    with np.errstate(over="ignore", invalid="ignore"):
        np.multiply(samples, weights, out=samples)
        _Rounding(samples, scratch).apply(tiny=True, huge=huge)
        total: NDArray[np.float32] = samples[0]
        rounding = _Rounding(total, scratch[0])
        for product in samples[1:]:
            np.add(total, product, total)
            # Sums of halves are multiples of half's last place, so none is tiny.
            rounding.apply(tiny=False, huge=huge)
    return total
