"""The matrix unit: operands in fractals, products in float32, added one after the other in the order of K.

>>> left, right = np.full((3, 2), 0.1, np.float16), np.full((3, 4), 10, np.float16)
>>> one = np.float32(left[0, 0]) * np.float32(10)
>>> bool(multiply(left, right, None)[0, 0] == one + one + one)
True
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.moves import Cover
from ascendlab.dtypes import DATA_BLOCK_BYTES as BLOCK

__all__ = [
    "MMAD_TYPES",
    "blocks",
    "c_shape",
    "multiply",
    "operand",
    "operand_bytes",
    "operand_cover",
    "operand_places",
]

MMAD_TYPES = {
    ("int8", "int8"): "int32",
    ("fp8_e5m2", "fp8_e5m2"): "float",
    ("fp8_e5m2", "fp8_e4m3fn"): "float",
    ("fp8_e4m3fn", "fp8_e5m2"): "float",
    ("fp8_e4m3fn", "fp8_e4m3fn"): "float",
    ("half", "half"): "float",
    ("bfloat16", "bfloat16"): "float",
    ("float", "float"): "float",
}
"""Types of A and B -> type of C."""

_ROWS = 16
# Products are made in slices of about this many bytes, which stay in the cache.
_SLICE_BYTES = 1 << 17


def multiply(left: NDArray[Any], right: NDArray[Any], start: NDArray[Any] | None) -> NDArray[Any]:
    """Return ``start + left.T @ right`` as the matrix unit adds it up.

    Parameters
    ----------
    left : ndarray, shape (k, m)
        Left matrix, K first.
    right : ndarray, shape (k, n)
        Right matrix.
    start : ndarray of float32 or int32, shape (m, n), or None
        What C holds before; None for zeros.

    Returns
    -------
    ndarray, shape (m, n)
        int32 for int8 operands, saturated once at the end; else float32: every product is rounded to float32 and
        added to the sum so far, k = 0 first.
    """
    m, n = left.shape[1], right.shape[1]
    with np.errstate(invalid="ignore"):
        # Signalling NaNs become quiet ones, which NumPy would report.
        one, two = left.astype(np.float64), right.astype(np.float64)
    if left.dtype == np.int8:
        # Products of bytes and their sums are exact in float64: |sum| < 2**53.
        exact = one.T @ two
        if start is not None:
            exact += start
        return np.asarray(np.clip(exact, -(2.0**31), 2.0**31 - 1), np.int32)
    if start is None and _adds_exactly(one, two):
        # In any order, then; sums that start at 0 are never -0.
        return np.asarray(one.T @ two + 0.0, np.float32)
    with np.errstate(invalid="ignore"):
        narrow, wide = one.astype(np.float32), two.astype(np.float32)
    if m > n:
        # NumPy is faster along the longer side.
        return np.transpose(_in_order(wide, narrow, None if start is None else start.T))
    return _in_order(narrow, wide, start)


def _in_order(
    narrow: NDArray[np.float32], wide: NDArray[np.float32], start: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Return ``start + narrow.T @ wide``, every sum in the order of K."""
    (k, m), n = narrow.shape, wide.shape[1]
    if n == 1:
        # For a single sum NumPy would add pairwise instead of one after the other: make it two.
        wide = np.concatenate([wide, wide], axis=1)
    total = np.zeros((m, wide.shape[1]), np.float32)
    if start is not None:
        total[:] = start
    step = min(k, max(1, _SLICE_BYTES // (4 * total.size)))
    room = np.empty((step + 1, *total.shape), np.float32)
    with np.errstate(all="ignore"):
        for first in range(0, k, step):
            last = min(k, first + step)
            products = room[: last - first + 1]
            products[0] = total
            if start is None:
                # Twice as fast; that it turns -0 into 0 makes no difference to sums that start at 0.
                np.einsum("km,kn->kmn", narrow[first:last], wide[first:last], out=products[1:])
            else:
                np.multiply(narrow[first:last, :, None], wide[first:last, None, :], out=products[1:])
            np.add.reduce(products, axis=0, out=total)
    return total[:, :n]


def _adds_exactly(left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
    """Whether all values are whole, and so small that no sum of their products is rounded in float32."""
    largest = [float(max(values.max(), -values.min())) for values in (left, right)]
    if not largest[0] * largest[1] * len(left) <= 2.0**24:
        return False
    return all(bool((np.rint(values) == values).all()) for values in (left, right))


# Operands fill at most one L0 buffer, so an entry of these caches has at most 64 Ki places: 512 KiB.
@lru_cache(maxsize=32)
def operand_places(rows: int, k: int, itemsize: int, plain: bool) -> NDArray[np.intp]:
    """Return the byte place of element (row, k) of an operand, k rounded up to whole blocks.

    A lies in L0A as NZ, and B in L0B as ZN, which is B's transpose as NZ: rows of A and columns of B are alike.

    Parameters
    ----------
    rows, k : int
        Rows of A or columns of B, and the length of the sums.
    itemsize : int
        Bytes of an element.
    plain : bool
        A single row as it lies (GEMV).
    """
    c0 = BLOCK // itemsize
    row, column = np.arange(rows, dtype=np.intp)[:, None], np.arange(blocks(k, itemsize) * c0, dtype=np.intp)
    if plain:
        return _frozen((row * 0 + column) * itemsize)
    return _frozen((column // c0 * _aligned(rows) + row) * BLOCK + column % c0 * itemsize)


@lru_cache(maxsize=32)
def operand_cover(rows: int, k: int, itemsize: int, plain: bool) -> Cover:
    """Return the bytes of an operand that a multiplication consumes: real rows, whole blocks of K."""
    count = blocks(k, itemsize)
    if plain:
        return Cover(BLOCK, 0, count, None)
    units = np.arange(count, dtype=np.intp)[:, None] * _aligned(rows) + np.arange(rows, dtype=np.intp)
    return Cover.of(units.reshape(-1), BLOCK)


def operand_bytes(rows: int, k: int, itemsize: int, plain: bool) -> int:
    """Return how many bytes from an operand's pointer on belong to it."""
    return blocks(k, itemsize) * (1 if plain else _aligned(rows)) * BLOCK


def operand(data: NDArray[np.uint8], kind: np.dtype[Any], rows: int, k: int, plain: bool) -> NDArray[Any]:
    """Return an operand, of which `data` holds all bytes, as a matrix of shape (k, rows)."""
    if plain:
        return data.view(kind)[:k].reshape(k, 1)
    c0 = BLOCK // kind.itemsize
    fractals = data.view(kind).reshape(blocks(k, kind.itemsize), _aligned(rows), c0)
    matrix: NDArray[Any] = fractals[:, :rows].transpose(0, 2, 1).reshape(-1, rows)
    return matrix[:k]


def blocks(k: int, itemsize: int) -> int:
    """Return how many blocks of 32 bytes k elements take."""
    return -(-k * itemsize // BLOCK)


def c_shape(m: int, n: int) -> tuple[int, int, int]:
    """Return the shape of C in L0C: columns of 16, rows rounded up, 16."""
    return -(-n // _ROWS), _aligned(m), _ROWS


def _aligned(rows: int) -> int:
    return -(-rows // _ROWS) * _ROWS


def _frozen(array: NDArray[np.intp]) -> NDArray[np.intp]:
    array.flags.writeable = False
    return array
