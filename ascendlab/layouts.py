"""How tensors lie in L1 and matrices in L0A, L0B: NC1HWC0, and the fractal layouts ZZ, NZ and ZN.

A *fractal* is a small matrix of 512 bytes, 16 rows of one 32-byte DataBlock, so 16 x C0 elements
(C0 = 16 for half, 32 for int8, 8 for float, 64 for int4).  A layout's name has two letters: the **first** says in
which order the fractals follow each other, the **second** how the elements lie inside a fractal.  **Z** is row by
row, **N** is column by column; the letters draw the path.

====== ==================================== =========================== ==================================
layout fractals, then elements              array                       where
====== ==================================== =========================== ==================================
ZZ     rows of fractals, rows of elements   (R/16, C/C0, 16, C0)        L0A on most products
NZ     columns of fractals, rows inside     (C/C0, R/16, 16, C0)        L1; L0A on Atlas 350
ZN     rows of fractals, columns inside     (R/C0, C/16, 16, C0)        L0B
====== ==================================== =========================== ==================================

So the last two axes of each array are one fractal as its 512 bytes lie in memory, and the first two find it.  In
ZN the fractal stands on its side: its 16 memory rows are 16 *columns* of the matrix.

The example below writes each element's row as tens and its column as ones.  In NZ the second fractal (index
``[0, 1]``) continues *below* the first one, in ZZ it continues to the *right*:

>>> import numpy as np
>>> matrix = np.add.outer(np.arange(32) * 100, np.arange(32)).astype(np.float16)
>>> nz, zz, zn = nd_to_nz(matrix), nd_to_zz(matrix), nd_to_zn(matrix)
>>> nz.shape == zz.shape == zn.shape == (2, 2, 16, 16)
True
>>> int(nz[0, 1, 0, 0]), int(zz[0, 1, 0, 0])
(1600, 16)
>>> [int(x) for x in zz[0, 0, 0, :3]], [int(x) for x in zn[0, 0, 0, :3]]
([0, 1, 2], [0, 100, 200])

int4 elements take one byte each in these arrays; `pack_int4` makes the two-in-a-byte form of the device's memory
and of ``.bin`` files.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_size, is_plain
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int

__all__ = [
    "FRACTAL_BYTES",
    "FRACTAL_ROWS",
    "LAYOUTS",
    "fractal_index",
    "from_nc1hwc0",
    "matrix_index",
    "nd_to_nz",
    "nd_to_zn",
    "nd_to_zz",
    "nz_to_nd",
    "pack_int4",
    "to_nc1hwc0",
    "unpack_int4",
    "zn_to_nd",
    "zz_to_nd",
]

FRACTAL_BYTES = 512
FRACTAL_ROWS = 16
LAYOUTS = ("ZZ", "NZ", "ZN")

# The axes (row fractal, row inside, column fractal, column inside) in each layout's order.
_AXES = {"ZZ": (0, 2, 1, 3), "NZ": (2, 0, 1, 3), "ZN": (0, 2, 3, 1)}
_LARGEST = 2**31 - 1


def _array(name: str, value: object, dimensions: int, words: str) -> tuple[NDArray[Any], DataType]:
    """Return an array with its documented type, or say what it should have been."""
    if not is_plain(value) or value.ndim != dimensions:
        raise ParameterError(name, value, f"a NumPy array of shape {words}")
    kind = as_dtype(value.dtype, parameter=f"the type of {name}")
    check_size(f"a copy of {name}", value.size * kind.numpy.itemsize)
    return value, kind


def to_nc1hwc0(hwc: NDArray[Any]) -> NDArray[Any]:
    """Bring a feature map into the order in which L1 holds it.

    C0 channels of a pixel lie together (one DataBlock), then come the pixels row by row, then the next C0 channels.

    Parameters
    ----------
    hwc : ndarray, shape (H, W, C)
        The feature map, channels last.

    Returns
    -------
    ndarray
        (C/C0, H, W, C0) if C is a multiple of C0.  Otherwise the flat L1 image, shape (H * W * C,): the full groups
        one after the other, then the last group packed, (H, W, C % C0).

    Raises
    ------
    ParameterError
        For anything but a three-dimensional array of a documented type.

    Examples
    --------
    >>> import numpy as np
    >>> to_nc1hwc0(np.zeros((5, 6, 32), np.float16)).shape
    (2, 5, 6, 16)
    >>> image = to_nc1hwc0(np.arange(20, dtype=np.float16).reshape(1, 1, 20))
    >>> image.shape, int(image[16])
    ((20,), 16)
    """
    checked, kind = _array("hwc", hwc, 3, "(H, W, C)")
    height, width, channels = checked.shape
    full = channels // kind.c0
    split = full * kind.c0
    groups = checked[:, :, :split].reshape(height, width, full, kind.c0).transpose(2, 0, 1, 3)
    if split == channels:
        return np.array(groups, order="C")
    image = np.empty(checked.size, kind.numpy)
    whole = height * width * split
    image[:whole].reshape(groups.shape)[...] = groups
    image[whole:].reshape(height, width, channels - split)[...] = checked[:, :, split:]
    return image


def from_nc1hwc0(x: NDArray[Any], h: int, w: int, c: int) -> NDArray[Any]:
    """Bring a feature map from L1's order back to channels last.

    Parameters
    ----------
    x : ndarray
        What `to_nc1hwc0` returns, in either of its shapes; the flat image works for every C.
    h, w, c : int
        Height, width and channels of the feature map.

    Returns
    -------
    ndarray, shape (h, w, c)
        A new array.

    Raises
    ------
    ParameterError
        If `x` does not have ``h * w * c`` elements, or is neither flat nor (C1, H, W, C0).

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.arange(2 * 3 * 20, dtype=np.float16).reshape(2, 3, 20)
    >>> np.array_equal(from_nc1hwc0(to_nc1hwc0(picture), 2, 3, 20), picture)
    True
    """
    sizes = [check_int(name, value, 0, _LARGEST) for name, value in (("h", h), ("w", w), ("c", c))]
    height, width, channels = sizes
    if not is_plain(x):
        raise ParameterError("x", x, "a NumPy array in NC1HWC0 order")
    kind = as_dtype(x.dtype, parameter="the type of x")
    check_size("a copy of x", x.size * kind.numpy.itemsize)
    full = channels // kind.c0
    split = full * kind.c0
    shapes = [(height * width * channels,)] + [(full, height, width, kind.c0)] * (split == channels)
    if x.shape not in shapes:
        raise ParameterError("x", x, "an array of shape " + " or ".join(map(str, shapes)))
    flat = x.reshape(-1)
    result = np.empty((height, width, channels), kind.numpy)
    whole = height * width * split
    groups = flat[:whole].reshape(full, height, width, kind.c0).transpose(1, 2, 0, 3)
    result[:, :, :split] = groups.reshape(height, width, split)
    result[:, :, split:] = flat[whole:].reshape(height, width, channels - split)
    return result


def _fractal_shape(layout: str, kind: DataType) -> tuple[int, int]:
    """Rows and columns of the matrix that one fractal covers."""
    return (kind.c0, FRACTAL_ROWS) if layout == "ZN" else (FRACTAL_ROWS, kind.c0)


def _to_fractals(nd: NDArray[Any], layout: str) -> NDArray[Any]:
    checked, kind = _array("nd", nd, 2, "(rows, columns)")
    (rows, columns), (high, wide) = checked.shape, _fractal_shape(layout, kind)
    down, across = -(-rows // high), -(-columns // wide)
    check_size("the result", down * high * across * wide * kind.numpy.itemsize)
    if (rows, columns) != (down * high, across * wide):
        padded = np.zeros((down * high, across * wide), kind.numpy)
        padded[:rows, :columns] = checked
        checked = padded
    return np.array(checked.reshape(down, high, across, wide).transpose(_AXES[layout]), order="C")


def _to_matrix(x: NDArray[Any], layout: str, rows: int, columns: int) -> NDArray[Any]:
    checked, kind = _array("x", x, 4, "(fractals, fractals, 16, C0)")
    rows, columns = check_int("rows", rows, 0, _LARGEST), check_int("columns", columns, 0, _LARGEST)
    high, wide = _fractal_shape(layout, kind)
    counts = (-(-rows // high), high, -(-columns // wide), wide)
    expected = tuple(counts[axis] for axis in _AXES[layout])
    if checked.shape != expected:
        raise ParameterError("x", checked, f"shape {expected}, which is {layout} for {rows} x {columns} of {kind}")
    order = tuple(int(axis) for axis in np.argsort(_AXES[layout]))
    return np.array(checked.transpose(order).reshape(counts[0] * high, counts[2] * wide)[:rows, :columns], order="C")


def nd_to_nz(nd: NDArray[Any]) -> NDArray[Any]:
    """Cut a matrix into fractals, column of fractals after column (NZ).

    Parameters
    ----------
    nd : ndarray, shape (rows, columns)
        Row-major matrix of a documented type.

    Returns
    -------
    ndarray, shape (ceil(columns/C0), ceil(rows/16), 16, C0)
        A new array; what lies past the matrix is zero.

    Examples
    --------
    >>> import numpy as np
    >>> nd_to_nz(np.ones((17, 33), np.int8)).shape
    (2, 2, 16, 32)
    """
    return _to_fractals(nd, "NZ")


def nz_to_nd(x: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Put NZ fractals together again and cut the padding off (see `nd_to_nz`)."""
    return _to_matrix(x, "NZ", rows, columns)


def nd_to_zz(nd: NDArray[Any]) -> NDArray[Any]:
    """Cut a matrix into fractals, row of fractals after row (ZZ).

    Parameters
    ----------
    nd : ndarray, shape (rows, columns)
        Row-major matrix of a documented type.

    Returns
    -------
    ndarray, shape (ceil(rows/16), ceil(columns/C0), 16, C0)
        A new array; what lies past the matrix is zero.

    Examples
    --------
    >>> import numpy as np
    >>> nd_to_zz(np.ones((17, 33), np.float32)).shape
    (2, 5, 16, 8)
    """
    return _to_fractals(nd, "ZZ")


def zz_to_nd(x: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Put ZZ fractals together again and cut the padding off (see `nd_to_zz`)."""
    return _to_matrix(x, "ZZ", rows, columns)


def nd_to_zn(nd: NDArray[Any]) -> NDArray[Any]:
    """Cut a matrix into fractals that stand on their side, row of fractals after row (ZN).

    Parameters
    ----------
    nd : ndarray, shape (rows, columns)
        Row-major matrix of a documented type; in L0B the rows are the contraction axis.

    Returns
    -------
    ndarray, shape (ceil(rows/C0), ceil(columns/16), 16, C0)
        A new array: the last axis runs down the matrix.  What lies past the matrix is zero.

    Examples
    --------
    >>> import numpy as np
    >>> nd_to_zn(np.ones((17, 33), np.int8)).shape
    (1, 3, 16, 32)
    """
    return _to_fractals(nd, "ZN")


def zn_to_nd(x: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Put ZN fractals together again and cut the padding off (see `nd_to_zn`)."""
    return _to_matrix(x, "ZN", rows, columns)


def fractal_index(layout: str, row: Any, column: Any, c0: int) -> tuple[Any, Any, Any, Any]:
    """Find a matrix element in a fractal array.

    Parameters
    ----------
    layout : {"ZZ", "NZ", "ZN"}
        The layout.
    row, column : int or ndarray of int
        Place in the matrix.
    c0 : int
        Elements in a DataBlock.

    Returns
    -------
    tuple of four int or ndarray
        Index into the array of fractals.

    Examples
    --------
    >>> fractal_index("NZ", 17, 5, 16)
    (0, 1, 1, 5)
    >>> fractal_index("ZN", 17, 5, 16)
    (1, 0, 5, 1)
    """
    high, wide = _check_place(layout, c0, row=row, column=column)
    parts = (row // high, row % high, column // wide, column % wide)
    first, second, third, fourth = (parts[axis] for axis in _AXES[layout])
    return first, second, third, fourth


def matrix_index(layout: str, index: tuple[Any, Any, Any, Any], c0: int) -> tuple[Any, Any]:
    """Say which matrix element stands at an index of a fractal array: the inverse of `fractal_index`.

    Examples
    --------
    >>> matrix_index("ZN", (1, 0, 5, 1), 16)
    (17, 5)
    """
    if not isinstance(index, tuple) or len(index) != 4:
        raise ParameterError("index", index, "four integers, or four arrays of integers")
    high, wide = _check_place(layout, c0, **{f"index[{i}]": value for i, value in enumerate(index)})
    parts = dict(zip(_AXES[layout], index, strict=True))
    return parts[0] * high + parts[1], parts[2] * wide + parts[3]


def _check_place(layout: object, c0: object, **places: object) -> tuple[int, int]:
    """Check layout, C0 and positions; return the rows and columns of the matrix that one fractal covers."""
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise ParameterError("layout", layout, "one of " + ", ".join(LAYOUTS))
    block = check_int("c0", c0, 1, 64)
    for name, value in places.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            check_size(f"the indices for {name}", value.size * 4 * np.dtype(np.int64).itemsize)
        else:
            check_int(name, value, 0, 2**63 - 1)
    return (block, FRACTAL_ROWS) if layout == "ZN" else (FRACTAL_ROWS, block)


def pack_int4(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Pack int4 elements two in a byte, as the device's memory and ``.bin`` files hold them.

    Parameters
    ----------
    values : ndarray of ml_dtypes.int4, any shape
        Elements, taken in row-major order.

    Returns
    -------
    ndarray of uint8, shape (ceil(size/2),)
        The first element of a pair is in the low four bits; an odd last one leaves the high four bits zero.

    Examples
    --------
    >>> import ml_dtypes, numpy as np
    >>> pack_int4(np.array([1, -1, 7], ml_dtypes.int4))
    array([241,   7], dtype=uint8)
    """
    if not is_plain(values) or values.dtype != ml_dtypes.int4:
        raise ParameterError("values", values, "a NumPy array of int4 (ml_dtypes.int4)")
    nibbles = np.zeros(values.size + values.size % 2, np.uint8)
    nibbles[: values.size] = values.reshape(-1).astype(np.int8).view(np.uint8) & 15
    return nibbles[::2] | np.left_shift(nibbles[1::2], 4, dtype=np.uint8)


def unpack_int4(packed: NDArray[np.uint8], shape: tuple[int, ...] | int) -> NDArray[Any]:
    """Unpack what `pack_int4` packed.

    Parameters
    ----------
    packed : ndarray of uint8
        Two elements a byte, the first one in the low four bits.
    shape : tuple of int, or int
        Shape of the result.

    Returns
    -------
    ndarray of ml_dtypes.int4
        One element a byte.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_int4(np.array([241, 7], np.uint8), 3).astype(np.int8)
    array([ 1, -1,  7], dtype=int8)
    """
    if not is_plain(packed) or packed.dtype != np.uint8:
        raise ParameterError("packed", packed, "a NumPy array of uint8")
    axes = shape if isinstance(shape, tuple) else (shape,)
    sizes = tuple(check_int(f"shape[{i}]", axis, 0, _LARGEST) for i, axis in enumerate(axes))
    count = 1
    for size in sizes:
        count *= size
    if packed.size != -(-count // 2):
        raise ParameterError("packed", packed, f"{-(-count // 2)} bytes for {count} elements")
    nibbles = np.stack([packed.reshape(-1) & 15, packed.reshape(-1) >> 4], axis=1).reshape(-1)[:count]
    signed: NDArray[Any] = (nibbles ^ 8).view(np.int8) - np.int8(8)
    return signed.astype(ml_dtypes.int4).reshape(sizes)
