"""Operands to play with: numbers that say where they lie.

>>> from ascendlab import Product
>>> counting("half", 5, Product.ATLAS_A2)
array([1., 2., 3., 4., 5.], dtype=float16)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import BLOCKS_PER_REPEAT, DATA_BLOCK_BYTES, TYPES, as_dtype
from ascendlab.errors import BufferOverflowError, ParameterError
from ascendlab.fields import HALF_MAX, check_int, check_real
from ascendlab.layouts import to_nc1hwc0
from ascendlab.products import Product
from ascendlab.vector_blocks import check_ub

__all__ = [
    "OFFSETS",
    "WEIGHTS",
    "Sample",
    "bilinear_iterations",
    "bilinear_offsets",
    "bilinear_samples",
    "bilinear_weights",
    "counting",
    "numbered_feature_map",
    "numbers_from",
]

OFFSETS = ("one after the other", "every block twice", "typed")
"""What `bilinear_offsets` makes."""

WEIGHTS = ("2, 3, 4 ...", "halves", "typed")
"""What `bilinear_weights` makes."""

# Halves are exact up to here; larger operands begin again at 1.
_LAST = 2048
_LAST_IN_CELL = 999  # more digits do not fit into the cells of a picture
_L1_BYTES = max(product.buffers.get("L1", 0) for product in Product)


def counting(dtype: object, size: int, product: Product = Product.ATLAS_INFERENCE_AI_CORE) -> NDArray[Any]:
    """Return 1, 2, 3 ..., so that an element's value is its index plus one.

    Parameters
    ----------
    dtype : str or numpy dtype
        Element type.
    size : int
        Elements; more than the product's Unified Buffer holds are refused before they are made.
    product : Product
        Where they would lie.

    Returns
    -------
    ndarray of the dtype, shape (size,)
        After 2048, up to which halves are exact, it begins again at 1.
    """
    kind = as_dtype(dtype)
    check_ub(product, {"src": check_int("size", size, 0, 2**40) * kind.numpy.itemsize})
    return (np.arange(size) % _LAST + 1).astype(kind.numpy)


def numbered_feature_map(
    dtype: object, h: int, w: int, channels: int, product: Product = Product.ATLAS_A2
) -> NDArray[Any]:
    """Return a feature map as L1 holds it, whose samples are numbered: 1, 2, 3 ... along the rows of channel 0.

    Parameters
    ----------
    dtype : str or numpy dtype
        Element type.
    h, w, channels : int
        Its size; what the product's L1 does not hold is refused before it is made.
    product : Product
        Where it would lie.

    Returns
    -------
    ndarray of the dtype
        What `ascendlab.layouts.to_nc1hwc0` makes of the picture whose sample (y, x, c) is number
        ``c * h * w + y * w + x + 1``.  After 999, or the largest number up to which the type holds all whole numbers,
        they begin again at 1.

    Examples
    --------
    >>> src = numbered_feature_map("half", 2, 3, 16)
    >>> src[0, :, :, 0].astype(int).tolist(), int(src[0, 0, 0, 1])
    ([[1, 2, 3], [4, 5, 6]], 7)
    """
    kind = as_dtype(dtype)
    sizes = [check_int(name, value, 0, 2**16 - 1) for name, value in (("h", h), ("w", w), ("channels", channels))]
    height, width, depth = sizes
    needed, available = height * width * depth * kind.bits // 8, product.buffers.get("L1", _L1_BYTES)
    if needed > available:
        hint = f"The feature map has {height} * {width} * {depth} elements of {kind.bits} bits"
        raise BufferOverflowError("L1", needed, available, hint=hint)
    last = min(kind.last_counted, _LAST_IN_CELL)
    number = np.arange(depth) * (height * width) + np.arange(height * width).reshape(height, width, 1)
    return to_nc1hwc0((number % last + 1).astype(kind.numpy))


def numbers_from(text: str, name: str) -> list[float]:
    """Read numbers from a text: decimal or hexadecimal, separated by commas or blanks.

    Parameters
    ----------
    text : str
        For instance ``"0x7, 0"``.
    name : str
        The parameter's name, for the error.

    Examples
    --------
    >>> numbers_from("0x10 2, 0.5", "mask")
    [16, 2, 0.5]
    """
    if not isinstance(text, str) or len(text) > 4096:
        raise ParameterError(name, text, "numbers separated by commas")
    numbers: list[float] = []
    for word in text.replace(",", " ").split():
        try:
            numbers.append(int(word, 0))
        except ValueError:
            try:
                numbers.append(float(word))
            except ValueError:
                raise ParameterError(name, word, "numbers separated by commas, such as 0xff, 0") from None
    return numbers


class Sample(NamedTuple):
    """An operand, and the Python that makes it.

    Parameters
    ----------
    array : ndarray
        The operand.
    code : str
        An expression; NumPy is called np in it.
    """

    array: NDArray[Any]
    code: str


_HALF = TYPES["half"]


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(name, value, "one of " + ", ".join(choices))


def bilinear_iterations(h_repeat: int, v_repeat: int, repeat_mode: bool) -> tuple[int, int]:
    """Return how many iterations a call of BilinearInterpolation has, and how many weights it reads.

    >>> bilinear_iterations(2, 3, True)
    (6, 48)
    """
    iterations = h_repeat * v_repeat
    return iterations, iterations * (BLOCKS_PER_REPEAT if repeat_mode else 1)


def bilinear_offsets(pattern: str, iterations: int, text: str = "", *, product: Product = Product.ATLAS_350) -> Sample:
    """Return ``src0Offset`` of BilinearInterpolation.

    Parameters
    ----------
    pattern : str
        One of `OFFSETS`.
    iterations : int
        hRepeat * vRepeat: eight offsets are made for each.
    text : str
        The offsets that are typed.
    product : Product
        Where they would lie; what its Unified Buffer does not hold is refused before it is made.

    Returns
    -------
    Sample
        Byte offsets, uint32.

    Examples
    --------
    >>> bilinear_offsets("every block twice", 1).array.tolist()
    [0, 0, 32, 32, 64, 64, 96, 96]
    >>> bilinear_offsets("one after the other", 4).code
    'np.arange(0, 1024, 32, dtype=np.uint32)'
    """
    _check_choice("pattern", pattern, OFFSETS)
    if pattern == "typed":
        typed = [check_int(f"src0Offset[{i}]", number, 0, 2**32 - 1)
                 for i, number in enumerate(numbers_from(text, "src0Offset"))]  # fmt: skip
        return Sample(np.array(typed, dtype=np.uint32), f"np.array({typed}, dtype=np.uint32)")
    count = BLOCKS_PER_REPEAT * check_int("iterations", iterations, 1, 2**16)
    check_ub(product, {"src0Offset": 4 * count})
    if pattern == "one after the other":
        end = DATA_BLOCK_BYTES * count
        return Sample(np.arange(0, end, DATA_BLOCK_BYTES, dtype=np.uint32), f"np.arange(0, {end}, 32, dtype=np.uint32)")
    end = DATA_BLOCK_BYTES * count // 2
    once = np.arange(0, end, DATA_BLOCK_BYTES, dtype=np.uint32)
    return Sample(once.repeat(2), f"np.arange(0, {end}, 32, dtype=np.uint32).repeat(2)")


def bilinear_samples(offsets: NDArray[np.uint32], *, product: Product = Product.ATLAS_350) -> Sample:
    """Return ``src0`` of BilinearInterpolation: 1, 2, 3 ..., as many DataBlocks as the offsets reach to.

    Parameters
    ----------
    offsets : ndarray of uint32
        Byte offsets.
    product : Product
        As for `counting`.

    Examples
    --------
    >>> bilinear_samples(np.array([0, 32], np.uint32))[0].shape
    (32,)
    """
    last = int(offsets.max(initial=0))
    size = (last // DATA_BLOCK_BYTES + 1) * _HALF.c0
    return Sample(counting("half", size, product), f'counting("half", {size})')


def bilinear_weights(pattern: str, count: int, text: str = "") -> Sample:
    """Return ``src1`` of BilinearInterpolation.

    Parameters
    ----------
    pattern : str
        One of `WEIGHTS`.
    count : int
        Weights that the call reads; whole DataBlocks are made.
    text : str
        The weights that are typed.

    Examples
    --------
    >>> bilinear_weights("2, 3, 4 ...", 4).array[:3], bilinear_weights("typed", 2, "0.5 0.25").code
    (array([2., 3., 4.], dtype=float16), 'np.array([0.5, 0.25], dtype=np.float16)')
    """
    _check_choice("pattern", pattern, WEIGHTS)
    if pattern == "typed":
        typed = [check_real(f"src1[{i}]", number, -HALF_MAX, HALF_MAX)
                 for i, number in enumerate(numbers_from(text, "src1"))]  # fmt: skip
        return Sample(np.array(typed, dtype=np.float16), f"np.array({typed}, dtype=np.float16)")
    size = -(-check_int("count", count, 1, 2**20) // _HALF.c0) * _HALF.c0
    if pattern == "halves":
        return Sample(np.full(size, 0.5, np.float16), f"np.full({size}, 0.5, dtype=np.float16)")
    if size < _LAST:
        return Sample(np.arange(2, size + 2, dtype=np.float16), f"np.arange(2, {size + 2}, dtype=np.float16)")
    # Beyond, halves are no longer exact: begin again at 2.
    wrapped = (np.arange(size) % (_LAST - 1) + 2).astype(np.float16)
    return Sample(wrapped, f"(np.arange({size}) % {_LAST - 1} + 2).astype(np.float16)")
