"""Raw ``.bin`` files: the elements of an array, one after the other, and nothing else.

Little-endian, in C order, as a device's memory holds them and as ``ndarray.tofile`` writes them; two int4 elements in
a byte, the first one in the low four bits.

>>> import numpy as np, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = write_bin(folder, "x.bin", np.arange(6, dtype=np.float16).reshape(2, 3))
...     path.stat().st_size, read_bin(path, "half", (2, 3))[1]
(12, array([3., 4., 5.], dtype=float16))
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import LARGEST_RESULT, check_size, is_plain
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import FileProblemError, ParameterError
from ascendlab.fields import check_int
from ascendlab.files import as_path, open_regular, write_below
from ascendlab.layouts import pack_int4, unpack_int4

__all__ = ["bin_bytes", "check_shape", "read_array", "read_bin", "stored_bytes", "write_bin"]

_LARGEST_AXIS = 2**40
_MOST_AXES = 32
_NPY_HEADER = 10_000


def check_shape(shape: object) -> tuple[int, ...]:
    """Return a shape as a tuple of Python ints, each in [0, 2**40]; one int stands for one axis."""
    axes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if len(axes) > _MOST_AXES:
        raise ParameterError("shape", shape, f"at most {_MOST_AXES} axes")
    return tuple(check_int(f"shape[{i}]", axis, 0, _LARGEST_AXIS) for i, axis in enumerate(axes))


def bin_bytes(dtype: DataType, shape: tuple[int, ...]) -> int:
    """Return the size of the file that an array of this type and shape becomes.

    >>> bin_bytes(as_dtype("int4"), (3, 3)), bin_bytes(as_dtype("float"), ())
    (5, 4)
    """
    return dtype.nbytes(math.prod(shape))


def stored_bytes(array: NDArray[Any]) -> memoryview:
    """Return what a file of this array holds, without a copy where the array lies in memory like that."""
    if not is_plain(array):
        raise ParameterError("array", array, "a NumPy array")
    kind = as_dtype(array.dtype.newbyteorder("="), parameter="the type of the array")
    check_size("a copy of the array", array.size * kind.numpy.itemsize)
    stored = pack_int4(array) if kind.bits == 4 else np.ascontiguousarray(array, kind.numpy).reshape(-1)
    return np.ascontiguousarray(_swapped(stored)).view(np.uint8).data


def write_bin(folder: Any, name: str, array: NDArray[Any], *, overwrite: bool = False) -> Path:
    """Write an array as a ``.bin`` file: whole, or not at all.

    Parameters
    ----------
    folder : path
        The folder; it is made if need be, and nothing outside of it is written.
    name : str
        The file's name in the folder, such as ``"input/src.bin"``.
    array : ndarray of a documented type, any shape
        What to write.
    overwrite : bool
        Replace a file that is there already.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ParameterError
        For anything but an array of a documented type.
    FileProblemError
        For a name that leads elsewhere, a file that is there already, and what the system refuses.

    Examples
    --------
    >>> import ml_dtypes, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list(write_bin(folder, "x.bin", np.array([1, -1, 7], ml_dtypes.int4)).read_bytes())
    [241, 7]
    """
    return write_below(folder, name, stored_bytes(array), overwrite=overwrite)


def read_bin(path: Any, dtype: Any, shape: tuple[int, ...] | int | None = None) -> NDArray[Any]:
    """Read a ``.bin`` file.

    Parameters
    ----------
    path : path
        A regular file.
    dtype : str, NumPy dtype or DataType
        Element type: ``"half"``, ``np.int8``, ``"bfloat16"`` ...
    shape : tuple of int, or int, optional
        Shape of the result, whose elements the file must hold exactly; left out: one axis, as long as the file.

    Returns
    -------
    ndarray
        A new array; int4 has one element a byte.

    Raises
    ------
    ParameterError
        For a type or shape that is none.
    FileProblemError
        If there is no such file, its size does not fit, or it would be over 4 GiB; before it is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_bin(folder, "x.bin", np.zeros(6, np.int32))
    ...     try:
    ...         read_bin(path, "int32", (2, 4))
    ...     except FileProblemError as error:
    ...         print(error.problem)
    has 24 bytes, but int32 of shape (2, 4) takes 32
    """
    kind = as_dtype(dtype)
    axes = None if shape is None else check_shape(shape)
    with open_regular(path) as (file, size):
        if axes is None:
            axes = (size * 8 // kind.bits,)
        needed = bin_bytes(kind, axes)
        if needed != size:
            wrong = f"has {size:,} bytes, but {kind} of shape {axes} takes {needed:,}"
            if shape is None:
                wrong = f"has {size:,} bytes, no multiple of the {kind.bits // 8} of a {kind}"
            raise FileProblemError(path, wrong, "Give the type and the shape that it was written with")
        stored = _read(file, path, size)
    if kind.bits == 4:
        return unpack_int4(stored, axes)
    return _swapped(stored.view(kind.numpy)).reshape(axes)


def _read(file: BinaryIO, path: Any, size: int) -> NDArray[np.uint8]:
    """Read so many bytes."""
    if size > LARGEST_RESULT:
        raise FileProblemError(path, f"has {size:,} bytes", f"At most {LARGEST_RESULT:,} are read: cut it into parts")
    stored = np.empty(size, np.uint8)
    view, done = stored.data, 0
    while done < size:
        count = file.readinto(view[done:])  # type: ignore[attr-defined]
        if not count:
            raise FileProblemError(
                path, f"ended after {done:,} of {size:,} bytes", "Let it be written to the end first"
            )
        done += count
    return stored


def _swapped(array: NDArray[Any]) -> NDArray[Any]:
    """Return what is little-endian in files in the machine's order, and the other way round."""
    return array if sys.byteorder == "little" else array.byteswap()


def read_array(path: Any, dtype: Any = None, shape: tuple[int, ...] | int | None = None) -> NDArray[Any]:
    """Read a ``.bin`` file, or one that NumPy has written (``.npy``), which knows its type and shape itself.

    Parameters
    ----------
    path : path
        The file; its name's end says which of the two it is.
    dtype : str, NumPy dtype or DataType, optional
        Element type; needed for all but ``.npy``.  There it must be the file's, or of its size where NumPy writes a
        type without a name (bfloat16, fp8).
    shape : tuple of int, or int, optional
        As for `read_bin`; for ``.npy`` it must be the file's.

    Returns
    -------
    ndarray
        A new array, in C order.

    Raises
    ------
    ParameterError
        Without a type where one is needed.
    FileProblemError
        If the file cannot be read as that; objects (pickles) are never unpacked.
    """
    if as_path(path).suffix != ".npy":
        if dtype is None:
            raise ParameterError("dtype", None, "the element type, which a .bin file does not say, such as 'half'")
        return read_bin(path, dtype, shape)
    wanted = None if dtype is None else as_dtype(dtype)
    axes = None if shape is None else check_shape(shape)
    with open_regular(path) as (file, size):
        found, fortran, stored = _npy_header(file, path)
        kind = _npy_type(found, stored, wanted, path)
        rest = size - file.tell()
        needed = math.prod(found) * kind.numpy.itemsize
        if needed != rest:
            wrong = f"says that it holds {found} of {kind}, {needed:,} bytes, but {rest:,} follow"
            raise FileProblemError(path, wrong, "Let NumPy write it anew")
        if axes is not None and axes != found:
            raise FileProblemError(path, f"holds an array of shape {found}, not {axes}", "Give its own shape, or none")
        data = _read(file, path, rest).view(stored if stored.kind != "V" else kind.numpy)
    array = data.astype(kind.numpy, copy=False).reshape(found, order="F" if fortran else "C")
    return np.ascontiguousarray(array)


def _npy_header(file: BinaryIO, path: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read what an ``.npy`` file says of its array."""
    form = np.lib.format
    try:
        version = form.read_magic(file)
        reader = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        found, fortran, stored = reader(file, max_header_size=_NPY_HEADER)
        return check_shape(found), bool(fortran), stored
    except Exception as error:  # NumPy's parser raises many kinds for what is none of its files
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise FileProblemError(path, f"is no .npy file: {reason}", "Name raw files .bin") from None


def _npy_type(shape: tuple[int, ...], stored: np.dtype[Any], wanted: DataType | None, path: Any) -> DataType:
    """Return the element type of an ``.npy`` file."""
    if stored.kind == "V" and stored.names is None and wanted is not None and wanted.numpy.itemsize == stored.itemsize:
        return wanted
    try:
        kind = as_dtype(stored.newbyteorder("="))
    except Exception:  # objects, texts, times, structures, and types that no instruction here has
        hint = "Say its type with dtype" if stored.kind == "V" and stored.names is None else "Convert it before"
        raise FileProblemError(path, f"holds {stored} of shape {shape}, no type of the documents", hint) from None
    if wanted is not None and wanted != kind:
        raise FileProblemError(path, f"holds {kind}, not {wanted}", "Give its own type, or none")
    return kind
