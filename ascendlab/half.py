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

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["accumulate_products", "magnitudes", "narrow", "round_to_half", "widen"]

# Zero-dimensional arrays, because NumPy converts Python numbers anew at every call.
_EXPONENT = np.array(0x7F800000, np.uint32)
_SIGN = np.array(0x80000000, np.uint32)
_WITHOUT_SIGN = np.array(0x7FFFFFFF, np.uint32)
_ONE = np.array(1, np.uint32)
_THREE = np.array(3, np.uint32)
_SIXTEEN = np.array(16, np.uint32)
_THIRTEEN = np.array(13, np.int32)
_WIDENED_BITS = np.array(0x8FFFE000, np.uint32).view(np.int32)
_SMALLEST_NORMAL = np.array(2.0**-14, np.float32)
_OVER_THE_TOP = np.array(2.0**16, np.float32)
_MAGIC = np.array(1.5 * 2.0**13, np.float32)
_UP = np.array(2.0**112, np.float32)
_DOWN = np.array(2.0**-112, np.float32)
_NORMAL_BITS = int(_SMALLEST_NORMAL.view(np.uint32))

_HALF_INFINITY = 0x7C00
_HALF_NORMAL = 0x0400
# 255 additions that each round up enlarge a sum by less than this factor: (1 + 2**-11)**256 = 1.133.
_ROUNDING_GROWTH = 1.15
_LARGEST = 65504.0


def magnitudes(values: NDArray[np.float16]) -> tuple[float, float]:
    """Return the smallest non-zero and the largest magnitude in an array of half.

    Parameters
    ----------
    values : ndarray of float16
        Any shape.

    Returns
    -------
    (float, float)
        Infinity for the largest if there is an infinity or a NaN; infinity for the smallest if all are zero.

    Examples
    --------
    >>> magnitudes(np.float16([0, -3, 0.5]))
    (0.5, 3.0)
    >>> magnitudes(np.float16([0, np.nan]))
    (inf, inf)
    """
    bits = values.view(np.uint16) & np.uint16(0x7FFF)
    if not bits.size:
        return math.inf, 0.0
    largest = int(bits.max())
    bits -= np.uint16(1)  # zero becomes the largest number
    smallest = (int(bits.min()) + 1) & 0xFFFF
    return _value(smallest) if smallest else math.inf, _value(largest)


def _value(bits: int) -> float:
    return float(np.array(bits, np.uint16).view(np.float16)) if bits < _HALF_INFINITY else math.inf


def widen(values: NDArray[np.float16], extent: tuple[float, float] | None = None) -> NDArray[np.float32]:
    """Convert half to float32, exactly.

    Parameters
    ----------
    values : ndarray of float16
        Any shape.
    extent : (float, float), optional
        What `magnitudes` says of `values`, if that is known already.

    Returns
    -------
    ndarray of float32, same shape

    Examples
    --------
    >>> widen(np.float16([1.5, -0.0, 65504]))
    array([ 1.5000e+00, -0.0000e+00,  6.5504e+04], dtype=float32)
    """
    smallest, largest = extent or magnitudes(values)
    if smallest < _SMALLEST_NORMAL or largest > _LARGEST:
        return values.astype(np.float32)
    # The bits, moved to their places in a float32, mean the value times 2**-112.
    bits = values.view(np.int16).astype(np.int32)
    np.left_shift(bits, _THIRTEEN, out=bits)
    np.bitwise_and(bits, _WIDENED_BITS, out=bits)
    wide = bits.view(np.float32)
    np.multiply(wide, _UP, out=wide)
    return wide


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
    bits = values.view(np.uint32) & _WITHOUT_SIGN
    largest = int(bits.max(initial=0))
    bits -= _ONE  # zero becomes the largest number
    if largest >= int(_EXPONENT) or int(bits.min(initial=0xFFFFFFFF)) + 1 < _NORMAL_BITS:
        out[...] = values
        return out
    # The value times 2**-112 has half's bits, three places and the sign apart; see `widen`.
    np.multiply(values, _DOWN, out=bits.view(np.float32))
    sign = bits & _SIGN
    np.left_shift(bits, _THREE, out=bits)
    np.bitwise_or(bits, sign, out=bits)
    np.right_shift(bits, _SIXTEEN, out=bits)
    out.view(np.uint16)[...] = bits
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
        _round(rounded, np.empty_like(rounded), tiny=True, huge=True)
    np.copysign(rounded, values, out=rounded)
    return rounded


def _round(x: NDArray[np.float32], scratch: NDArray[np.float32], *, tiny: bool, huge: bool) -> None:
    """Round `x` in place; zeros lose their sign.

    `tiny`: some values may lie between multiples of 2**-24, half's last place.  `huge`: some may overflow, or
    are infinities or NaNs.  Without a flag the caller knows that there are none, which saves passes.
    """
    # Adding and taking off 1.5 * 2**(e + 13), where e is the exponent, makes float32's own rounding to even
    # happen 10 binary places after the first: its spacing is 2**(e - 10) there.
    np.bitwise_and(x.view(np.uint32), _EXPONENT, out=scratch.view(np.uint32))
    if tiny:
        np.maximum(scratch, _SMALLEST_NORMAL, out=scratch)
    if huge:
        np.minimum(scratch, _OVER_THE_TOP, out=scratch)
    np.multiply(scratch, _MAGIC, out=scratch)
    np.add(x, scratch, out=x)
    np.subtract(x, scratch, out=x)
    if huge:
        # Between these two, half's range ends where float32's does.
        np.multiply(x, _UP, out=x)
        np.multiply(x, _DOWN, out=x)


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
        At least the largest ``abs(sample * weight)``; infinity if unknown.

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
        _round(samples, scratch, tiny=True, huge=huge)
        total: NDArray[np.float32] = samples[0]
        for product in samples[1:]:
            np.add(total, product, out=total)
            # Sums of halves are multiples of half's last place, so none is tiny.
            _round(total, scratch[0], tiny=False, huge=huge)
    return total
