"""Values that no caller should pass, and every one that somebody will."""

from __future__ import annotations

import decimal
import enum
import fractions
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np


class BrokenRepr:
    """An object that cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


class Hostile:
    """An object on which every operation fails, each with another error than TypeError or ValueError."""

    def _fail(self, *args: Any, **more: Any) -> Any:
        raise RuntimeError("hostile")

    __repr__ = __str__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _fail
    __hash__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _fail
    __index__ = __int__ = __float__ = __array__ = __call__ = __add__ = __radd__ = __sub__ = __neg__ = _fail


class BrokenInt(int):
    """An int that cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


class BrokenFloat(float):
    """A float that cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


class Index:
    """Something with an index that is no int."""

    def __index__(self) -> int:
        return 1


class BrokenIndex:
    """Something whose index fails."""

    def __index__(self) -> int:
        raise OverflowError("no index")

    def __float__(self) -> float:
        raise OverflowError("no float")


class BrokenArray:
    """Something that says it can be an array, and cannot."""

    shape = (2, 2)
    dtype = np.dtype(np.uint8)

    def __array__(self, *args: Any, **more: Any) -> Any:
        raise RuntimeError("no array")


class Three(enum.IntEnum):
    """An int by another name."""

    THREE = 3


class ListOfItself(list):  # type: ignore[type-arg]
    """A list that contains itself."""

    def __init__(self) -> None:
        super().__init__([self])


def _masked() -> Any:
    return np.ma.masked_array(np.zeros((4, 4), np.uint8), mask=np.eye(4, dtype=bool))


def _object_array() -> Any:
    array = np.empty((4, 4), object)
    array[:] = None
    return array


MAKERS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "np.True_": lambda: np.True_,
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "3": lambda: 3,
    "-129": lambda: -129,
    "256": lambda: 256,
    "4096": lambda: 4096,
    "65536": lambda: 65536,
    "2**31": lambda: 2**31,
    "2**32": lambda: 2**32,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "10**5000": lambda: 10**5000,
    "-10**5000": lambda: -(10**5000),
    "1.0": lambda: 1.0,
    "1.5": lambda: 1.5,
    "-0.0": lambda: -0.0,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "65519.9": lambda: 65519.9,
    "1j": lambda: 1j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "huge Fraction": lambda: fractions.Fraction(10**5000, 3),
    "Decimal": lambda: decimal.Decimal(3),
    "Decimal sNaN": lambda: decimal.Decimal("sNaN"),
    "empty str": lambda: "",
    "str 3": lambda: "3",
    "str nan": lambda: "nan",
    "str half": lambda: "half",
    "str f": lambda: "float",
    "long str": lambda: "x" * 100_000,
    "long np.str_": lambda: np.str_("x" * 100_000),
    "long bytes": lambda: b"x" * 100_000,
    "nul str": lambda: "\x00\ud800",
    "bytes": lambda: b"3",
    "bytearray": lambda: bytearray(16),
    "np.str_": lambda: np.str_("3"),
    "np.bytes_": lambda: np.bytes_(b"3"),
    "np.int8": lambda: np.int8(-1),
    "np.uint64": lambda: np.uint64(2**64 - 1),
    "np.float16 nan": lambda: np.float16("nan"),
    "np.longdouble": lambda: np.longdouble("inf"),
    "np.complex64": lambda: np.complex64(1),
    "np.timedelta64": lambda: np.timedelta64(3, "s"),
    "np.datetime64": lambda: np.datetime64("NaT"),
    "np.void": lambda: np.void(b"abc"),
    "bfloat16 nan": lambda: ml_dtypes.bfloat16("nan"),
    "int4": lambda: ml_dtypes.int4(-3),
    "empty tuple": lambda: (),
    "empty list": list,
    "list": lambda: [1, 2, 3],
    "list of None": lambda: [None, None, None],
    "huge list": lambda: [10**5000, 1, 2],
    "ragged list": lambda: [[1], [1, 2], 3],
    "list of itself": ListOfItself,
    "3x3 list": lambda: [[1, 2, 3]] * 3,
    "3x3 list of str": lambda: [["1", "2", "3"]] * 3,
    "dict": lambda: {1: 2},
    "str dict": lambda: {"setup": None},
    "set": lambda: {1},
    "range": lambda: range(3),
    "generator": lambda: (i for i in range(3)),
    "Ellipsis": lambda: ...,
    "slice": lambda: slice(1),
    "type": lambda: int,
    "dtype": lambda: np.dtype("O"),
    "structured dtype": lambda: np.dtype([("a", "u1")]),
    "function": lambda: len,
    "object": object,
    "IntEnum": lambda: Three.THREE,
    "BrokenRepr": BrokenRepr,
    "Hostile": Hostile,
    "BrokenInt": lambda: BrokenInt(3),
    "huge BrokenInt": lambda: BrokenInt(10**30),
    "BrokenFloat": lambda: BrokenFloat("nan"),
    "list of BrokenRepr": lambda: [BrokenRepr()] * 3,
    "Index": Index,
    "BrokenIndex": BrokenIndex,
    "BrokenArray": BrokenArray,
    "memoryview": lambda: memoryview(b"abcd"),
    "0-d array": lambda: np.array(3, np.uint8),
    "0-d object array": lambda: np.array(None),
    "empty array": lambda: np.zeros((0,), np.uint8),
    "array with a zero": lambda: np.zeros((0, 3), np.uint8),
    "1-d array": lambda: np.arange(16, dtype=np.float16),
    "nan array": lambda: np.full((3, 3), np.nan),
    "float array": lambda: np.zeros((4, 4)),
    "int array": lambda: np.arange(9).reshape(3, 3),
    "huge int array": lambda: np.array([10**5000, 1, 2], object),
    "object array": _object_array,
    "bool array": lambda: np.ones((4, 4), bool),
    "str array": lambda: np.full((4, 4), "x"),
    "datetime array": lambda: np.zeros((3, 3), "M8[s]"),
    "structured array": lambda: np.zeros((4, 4), [("a", "u1")]),
    "picture": lambda: np.zeros((4, 4), np.uint8),
    "odd picture": lambda: np.zeros((3, 5), np.uint8),
    "strided picture": lambda: np.zeros((8, 8), np.uint8)[::2, ::-2],
    "colour picture": lambda: np.zeros((4, 4, 3), np.uint8),
    "other byte order": lambda: np.zeros((4, 4), ">u2"),
    "boundless picture": lambda: np.broadcast_to(np.uint8(1), (10**6, 10**6)),
    "masked array": _masked,
    "matrix": lambda: np.zeros((4, 4), np.uint8).view(np.matrix),
    "32 axes": lambda: np.zeros((1,) * 32, np.uint8),
}
"""Each value's maker by a short name, so that every use gets a fresh one."""
