"""Buffers that remember who wrote each byte, and typed pointers into them.

Every byte carries the number of the step that wrote it: 0 for nobody, and ``-n`` if step n moved bytes there that
nobody had written.  One array so answers what is initialised, who wrote what, and (with the step's pipe) whether it
is safe to read.
"""

from __future__ import annotations

import math
import mmap
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import is_plain
from ascendlab.capi.sync import Pipe
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import BufferOverflowError, ParameterError, SynchronizationError
from ascendlab.fields import check_int

if TYPE_CHECKING:
    from ascendlab.capi.steps import Access

__all__ = ["GM_LIMIT", "Allocation", "Buffer", "Pointer", "Sharing", "gm_buffer", "sizeof"]

GM_LIMIT = 1 << 30
"""Largest GM array of a kernel in bytes: the machine keeps eight bytes of history for each."""

# Pointers beyond this are no addresses of any memory.
_FARTHEST = 1 << 48
_LONGEST_NAME = 80
_SEVERAL = 0xFFFF
# Buffer name -> who writes it, who reads it, alignment of declared arrays in bytes.
_ON_CHIP = {
    "L1": (Pipe.MTE2, Pipe.MTE1, 32),
    "L0A": (Pipe.MTE1, Pipe.M, 512),
    "L0B": (Pipe.MTE1, Pipe.M, 512),
    "L0C": (Pipe.M, Pipe.FIX, 1024),
}


def sizeof(dtype: object) -> int:
    """Return the bytes of an element, as C++'s ``sizeof`` does.

    >>> sizeof("half"), sizeof(np.int8)
    (2, 1)
    """
    return as_dtype(dtype).nbytes(1)


@dataclass(frozen=True)
class Allocation:
    """An array declared in a buffer.

    Parameters
    ----------
    name : str
        The variable's name.
    start, size : int
        Bytes.
    dtype : DataType
        Element type.

    Attributes
    ----------
    stop : int
        First byte behind the array.
    """

    name: str
    start: int
    size: int
    dtype: DataType
    stop: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", self.start + self.size)


def _pages(size: int) -> NDArray[np.uint8]:
    """Return zeros on pages that the system provides when they are touched: a buffer is mostly empty."""
    return np.frombuffer(mmap.mmap(-1, size), np.uint8)


class Sharing:
    """Which block of a launch touched each byte of a global memory: blocks run at the same time, in no order.

    Parameters
    ----------
    size : int
        Bytes of the memory.
    """

    def __init__(self, size: int) -> None:
        # Block number + 1; SEVERAL for bytes that several blocks have read.
        self._wrote = np.zeros(size, np.uint16)
        self._read = np.zeros(size, np.uint16)

    def check(self, call: str, access: Access, block: int, *, writing: bool) -> None:
        """Raise `SynchronizationError` if another block touches these bytes in a way that depends on who is first."""
        for marks, verb in ((self._wrote, "writes"), (self._read, "reads")):
            if verb == "reads" and not writing:
                continue
            mine = access.of(marks)
            if not (mine.max() > 0 and ((mine != 0) & (mine != block + 1)).any()):
                continue
            foreign = mine[(mine != 0) & (mine != block + 1)]
            if foreign.size:
                other = "more than one other block" if foreign[0] == _SEVERAL else f"block {int(foreign[0]) - 1}"
                raise SynchronizationError(
                    call,
                    f"block {block} {'writes' if writing else 'reads'} {foreign.size:,} bytes of {access.name} that "
                    f"{other} {verb} too; blocks run at the same time, so the result depends on which is first",
                    "Give every block its own part of the array",
                )

    def mark(self, access: Access, block: int, *, writing: bool) -> None:
        """Note that a block has touched these bytes."""
        if writing:
            access.put(self._wrote, block + 1)
            return
        before = access.of(self._read)
        if before.min() == before.max():
            # The usual case: a part of one block, or what all of them read.
            if before.flat[0] in (0, block + 1):
                access.put(self._read, block + 1)
            else:
                access.put(self._read, _SEVERAL)
            return
        shared = (before != 0) & (before != block + 1)
        access.put(self._read, np.where(shared, np.uint16(_SEVERAL), np.uint16(block + 1)))


@dataclass(eq=False)
class Buffer:
    """A memory of the machine: its bytes, and for each byte who wrote it.

    Parameters
    ----------
    name : str
        ``"L1"``, ``"L0A"``, ``"L0B"``, ``"L0C"``, or ``"GM"``.
    data : ndarray of uint8
        The bytes.
    written_by, read_by : Pipe
        The pipe that writes this memory, and the one that reads it.
    alignment : int
        Where declared arrays start.

    Attributes
    ----------
    writer : ndarray of int32
        Step that wrote each byte; 0 nobody, negative if what that step moved there was never written itself.  Reaches
        as far as any pointer does.
    is_gm : bool
        Whether this is global memory, whose bytes the host has written.
    allocations : list of Allocation
        Declared arrays, in order.
    """

    name: str
    data: NDArray[np.uint8]
    written_by: Pipe
    read_by: Pipe
    alignment: int = 1
    array: NDArray[Any] | None = None
    sharing: Sharing | None = None
    allocations: list[Allocation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.is_gm = self.array is not None
        self.writer = np.zeros(self.data.size if self.is_gm else 0, np.int32)
        # What is known without looking at every mark: nobody has written from here on, and all of this is written.
        self.blank = 0
        self.whole = (0, 0)

    @classmethod
    def on_chip(cls, name: str, size: int) -> Buffer:
        """Return an empty L1, L0A, L0B or L0C of `size` bytes."""
        written_by, read_by, alignment = _ON_CHIP[name]
        return cls(name, _pages(size), written_by, read_by, alignment)

    @property
    def size(self) -> int:
        """Capacity in bytes."""
        return self.data.size

    def _reach(self, stop: int) -> None:
        """Extend the marks up to a byte."""
        if stop > self.writer.size:
            old = self.writer
            self.writer = np.zeros(min(self.size, max(stop, 2 * old.size)), np.int32)
            self.writer[: old.size] = old

    @property
    def used(self) -> int:
        """Bytes from the start to the end of the last declared array."""
        return max((a.stop for a in self.allocations), default=0)

    def declare(self, dtype: object, count: object, name: str) -> Pointer:
        """Reserve an array behind the last one, as ``__cbuf__ half name[count]`` does.

        Raises
        ------
        ParameterError
            For a wrong type or count.
        BufferOverflowError
            If the buffer is full.
        """
        check_name(name)
        kind = as_dtype(dtype)
        elements = check_int("count", count, 1, 1 << 40)
        size = kind.nbytes(elements)
        start = -(-self.used // self.alignment) * self.alignment
        if start + size > self.size:
            taken = ", ".join(f"{a.name} {a.size:,}" for a in self.allocations) or "nothing"
            raise BufferOverflowError(self.name, start + size, self.size, hint=f"Declared so far: {taken}")
        allocation = Allocation(name or f"{self.name.lower()}_{len(self.allocations)}", start, size, kind)
        self.allocations.append(allocation)
        self._reach(allocation.stop)
        return Pointer(self, kind, start, allocation)

    def pointer(self, dtype: object, offset: object = 0) -> Pointer:
        """Return a pointer to a byte address of the whole buffer, past all declarations."""
        kind = as_dtype(dtype)
        self._reach(self.size)
        return Pointer(self, kind, check_int("offset", offset, 0, self.size), Allocation(self.name, 0, self.size, kind))


def check_name(name: object) -> None:
    """Raise `ParameterError` unless `name` can stand for an array in messages and pictures."""
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ParameterError("name", name, f"a printable string of at most {_LONGEST_NAME} characters")


def gm_buffer(array: object, name: str = "") -> Buffer:
    """Return the global memory that is an array of the host.

    Raises
    ------
    ParameterError
        If it is no C-contiguous array of a type that the device knows.
    BufferOverflowError
        If it has more than `GM_LIMIT` bytes.
    """
    check_name(name)
    what = name or "array"
    if not is_plain(array):
        raise ParameterError(what, array, "a NumPy array: it is the global memory")
    kind = as_dtype(array.dtype, parameter=f"{what}.dtype")
    if kind.bits < 8:
        raise ParameterError(what, array, "an array of whole bytes: pack two int4 elements into each uint8")
    if not array.flags.c_contiguous or not array.size:
        raise ParameterError(what, array, "a C-contiguous array with at least one element")
    if array.nbytes > GM_LIMIT:
        raise BufferOverflowError(f"GM array {what}", array.nbytes, GM_LIMIT, hint="Launch the kernel on a part of it")
    buffer = Buffer("GM", array.reshape(-1).view(np.uint8), Pipe.FIX, Pipe.MTE2, kind.bits // 8, array)
    buffer.allocations.append(Allocation(name or "gm", 0, array.nbytes, kind))
    return buffer


@dataclass(frozen=True, eq=False, repr=False)
class Pointer:
    """An address with a type: ``pointer + n`` moves n elements, as in C++.

    Parameters
    ----------
    buffer : Buffer
        The memory.
    dtype : DataType
        Element type.
    offset : int
        Byte address in the memory.
    home : Allocation
        The array it was declared for; nothing outside of it can be reached through this pointer.

    Examples
    --------
    >>> l0b = Buffer.on_chip("L0B", 65536)
    >>> weight_l0 = l0b.declare("half", 512, "weight_l0")
    >>> weight_l0 + 256
    half* weight_l0 + 256 (L0B 0x00200)
    >>> (weight_l0 + 256).array.shape
    (256,)
    """

    buffer: Buffer
    dtype: DataType
    offset: int
    home: Allocation

    def __add__(self, count: object) -> Pointer:
        if isinstance(count, bool):
            return NotImplemented
        try:
            elements = operator.index(count)  # type: ignore[arg-type]
        except TypeError:
            return NotImplemented
        bits = elements * self.dtype.bits
        if bits % 8:
            raise ParameterError("offset", elements, f"an even number of {self.dtype} elements: addresses are bytes")
        offset = self.offset + bits // 8
        if abs(offset) >= _FARTHEST:
            raise ParameterError("offset", elements, "one that gives an address of at most 48 bits")
        return Pointer(self.buffer, self.dtype, offset, self.home)

    __radd__ = __add__

    def __sub__(self, count: object) -> Pointer:
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
            return NotImplemented
        return self + -int(count)

    def cast(self, dtype: object) -> Pointer:
        """Return the same address with another type (``reinterpret_cast``)."""
        return Pointer(self.buffer, as_dtype(dtype), self.offset, self.home)

    @property
    def name(self) -> str:
        """Name of the array that this points into."""
        return self.home.name

    @property
    def size(self) -> int:
        """Elements from here to the end of the array; negative behind it."""
        return math.floor((self.home.stop - self.offset) * 8 / self.dtype.bits)

    @property
    def array(self) -> NDArray[Any]:
        """The elements from here to the end of the array, as a view (int4: packed bytes).

        On-chip memory is read-only here: what is changed behind the machine's back has no place in its history.
        `AICore.poke` writes for experiments.
        """
        data = self.buffer.data[self._span(self.size)]
        view = data if self.dtype.bits < 8 else data.view(self.dtype.numpy)
        if not self.buffer.is_gm:
            view.flags.writeable = False
        return view

    @property
    def written(self) -> NDArray[np.bool_]:
        """For each element from here to the end of the array, whether all its bytes have been written."""
        size = max(1, self.dtype.bits // 8)
        if self.buffer.is_gm:
            return np.ones(max(self.size, 0), bool)
        marks = self.buffer.writer[self._span(self.size)].reshape(-1, size)
        return np.asarray((marks > 0).all(axis=1))

    def _span(self, elements: int) -> slice:
        start, size = self.offset, elements * self.dtype.bits // 8
        if not self.home.start <= start <= self.home.stop:
            raise BufferOverflowError(
                f"{self.name} ({self.buffer.name})",
                start - self.home.start,
                self.home.size,
                hint=f"{self!r} is outside",
            )
        return slice(start, start + size)

    def __repr__(self) -> str:
        bits = (self.offset - self.home.start) * 8
        count = bits // self.dtype.bits if bits % self.dtype.bits == 0 else bits / self.dtype.bits
        sign = "+" if count >= 0 else "-"
        place = (
            f"{'-' if self.offset < 0 else ''}0x{abs(self.offset):05x}" if abs(self.offset) < 1 << 60 else "far away"
        )
        shown = abs(count) if abs(count) < 1 << 60 else "a huge number"
        return f"{self.dtype.cpp}* {self.name}{f' {sign} {shown}' if count else ''} ({self.buffer.name} {place})"
