"""The element types of the documents: the one source of sizes, C0 and lanes.

A *DataBlock* is 32 bytes.  *C0* is the number of elements in one DataBlock, the innermost axis of NC1HWC0;
a vector instruction's repeat works on eight DataBlocks, so on ``8 * c0`` *lanes*.

>>> as_dtype("half").c0, as_dtype(np.int8).c0, as_dtype("int4").c0
(16, 32, 64)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from ascendlab.errors import ParameterError
from ascendlab.fields import check_int, check_real

__all__ = ["BLOCKS_PER_REPEAT", "DATA_BLOCK_BYTES", "DataType", "as_dtype", "check_constant"]

DATA_BLOCK_BYTES = 32
BLOCKS_PER_REPEAT = 8


@dataclass(frozen=True)
class DataType:
    """An element type.

    Parameters
    ----------
    name : str
        The documents' name (``half``, not ``float16``).
    cpp : str
        The C++ type in Ascend C code.
    numpy : numpy.dtype
        The type of NumPy arrays that hold it.
    bits : int
        Bits an element takes on the device (4 for int4, which takes a whole byte in a NumPy array).
    """

    name: str
    cpp: str
    numpy: np.dtype[np.generic]
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def c0(self) -> int:
        """Elements in one 32-byte DataBlock."""
        return DATA_BLOCK_BYTES * 8 // self.bits

    def nbytes(self, elements: int) -> int:
        """Return the bytes that so many elements take on the device, where elements of less than a byte share one.

        >>> as_dtype("half").nbytes(3), as_dtype("int4").nbytes(3)
        (6, 2)
        """
        return -(-elements * self.bits // 8)

    @property
    def last_counted(self) -> int:
        """The largest number up to which the type holds all whole numbers.

        >>> [as_dtype(name).last_counted for name in ("int4", "uint8", "half", "bfloat16")]
        [7, 255, 2048, 256]
        """
        if self.name.startswith(("int", "uint")):
            return int(ml_dtypes.iinfo(self.numpy).max)  # type: ignore[no-untyped-call]
        return int(2 ** (ml_dtypes.finfo(self.numpy).nmant + 1))  # type: ignore[no-untyped-call]

    @property
    def lanes(self) -> int:
        """Elements in one repeat of a vector instruction: eight DataBlocks."""
        return BLOCKS_PER_REPEAT * self.c0


def _known() -> dict[str, DataType]:
    rows: list[tuple[str, str, DTypeLike, int]] = [
        ("int4", "int4b_t", ml_dtypes.int4, 4),
        ("int8", "int8_t", np.int8, 8),
        ("uint8", "uint8_t", np.uint8, 8),
        ("fp8_e4m3fn", "fp8_e4m3fn_t", ml_dtypes.float8_e4m3fn, 8),
        ("fp8_e5m2", "fp8_e5m2_t", ml_dtypes.float8_e5m2, 8),
        ("int16", "int16_t", np.int16, 16),
        ("uint16", "uint16_t", np.uint16, 16),
        ("half", "half", np.float16, 16),
        ("bfloat16", "bfloat16_t", ml_dtypes.bfloat16, 16),
        ("int32", "int32_t", np.int32, 32),
        ("uint32", "uint32_t", np.uint32, 32),
        ("float", "float", np.float32, 32),
        ("uint64", "uint64_t", np.uint64, 64),
    ]
    return {name: DataType(name, cpp, np.dtype(dtype), bits) for name, cpp, dtype, bits in rows}


TYPES = _known()
_BY_NUMPY = {t.numpy: t for t in TYPES.values()}


def check_constant(name: str, value: float, kind: DataType, table: str = "", *, hint: str = "") -> None:
    """Refuse a constant that an element type does not hold: a fraction for integers, anything beyond its range.

    >>> check_constant("paddingValueCh0", 255, TYPES["uint8"])
    >>> check_constant("paddingValueCh0", 1.5, TYPES["int8"])
    Traceback (most recent call last):
        ...
    ascendlab.errors.ParameterError: paddingValueCh0 = 1.5 is not allowed; allowed: an integer in [-128, 127]. \
The type is int8
    """
    if kind.name.startswith(("int", "uint")):
        info: Any = ml_dtypes.iinfo(kind.numpy)  # type: ignore[no-untyped-call]
        # A negative zero is no integer, and no integer type knows it.
        check_int(name, value or 0, int(info.min), int(info.max), table=table, hint=hint or f"The type is {kind}")
    else:
        largest = float(ml_dtypes.finfo(kind.numpy).max)  # type: ignore[no-untyped-call]
        check_real(name, value, -largest, largest, table=table, hint=hint or f"The type is {kind}")


def as_dtype(value: object, allowed: Sequence[str] = tuple(TYPES), *, parameter: str = "dtype") -> DataType:
    """Return the `DataType` that `value` means.

    Parameters
    ----------
    value : str, numpy dtype, or DataType
        ``"half"``, ``np.float16``, ``"float16"``, ``np.dtype("<f2")`` all mean half; ``"float"`` is float32.
    allowed : sequence of str, optional
        The document's names that the caller accepts.
    parameter : str, optional
        Name used in the error.

    Raises
    ------
    ParameterError
        If `value` names no type, or one that is not allowed here.

    Examples
    --------
    >>> as_dtype("float").numpy
    dtype('float32')
    >>> as_dtype("float64")
    Traceback (most recent call last):
        ...
    ascendlab.errors.ParameterError: dtype = 'float64' is not allowed; allowed: one of int4, int8, uint8, \
fp8_e4m3fn, fp8_e5m2, int16, uint16, half, bfloat16, int32, uint32, float, uint64
    """
    found: DataType | None = None
    if isinstance(value, DataType):
        found = value
    elif isinstance(value, str) and value in TYPES:
        found = TYPES[value]
    elif isinstance(value, (str, type, np.dtype)) and value is not float:
        # Python's float means float64 to NumPy and float32 to the documents: accept neither reading.
        try:
            found = _BY_NUMPY.get(np.dtype(value))
        except Exception:  # NumPy raises many kinds here; all mean "not a type"
            found = None
    if found is None or found.name not in allowed:
        raise ParameterError(parameter, value, "one of " + ", ".join(allowed))
    return found
