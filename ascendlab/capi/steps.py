"""The step log of a core, and what can be read from it: memory maps, register files, timelines, earlier states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.memory import Allocation, Buffer, Pointer
from ascendlab.capi.moves import Cover
from ascendlab.capi.operations import Operation
from ascendlab.capi.sync import Pipe
from ascendlab.errors import ParameterError

__all__ = ["Access", "MemoryMap", "Step", "Timeline", "memory_map", "timeline"]


class Access:
    """Bytes that a step reads or writes: units of a cover, counted from a pointer.

    Parameters
    ----------
    pointer : Pointer
        Where the units are counted from.
    cover : Cover
        The units.

    Attributes
    ----------
    start, stop : int
        First byte in the buffer, and the one behind the last.
    """

    __slots__ = ("cover", "pointer", "start", "stop")

    def __init__(self, pointer: Pointer, cover: Cover) -> None:
        self.pointer, self.cover = pointer, cover
        self.start = pointer.offset + cover.first
        self.stop = self.start + cover.extent

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return this part of a per-byte array: a view, or a copy of shape (units, bytes) if there are gaps."""
        part, local = array[self.start : self.stop], self.cover.local
        return part if local is None else part.reshape(-1, self.cover.unit)[local]

    def put(self, array: NDArray[Any], value: Any) -> None:
        """Set this part of a per-byte array."""
        local = self.cover.local
        if local is None:
            array[self.start : self.stop] = value
        else:
            array[self.start : self.stop].reshape(-1, self.cover.unit)[local] = value

    def sign(self, number: int, *, complete: bool = True) -> None:
        """Mark these bytes as written by a step; not complete if it takes some of the marks back."""
        buffer, start, stop = self.pointer.buffer, self.start, self.stop
        self.put(buffer.writer, number)
        buffer.blank = max(buffer.blank, stop)
        first, last = buffer.whole
        if not complete:
            buffer.whole = (0, 0)
        elif self.cover.local is None:
            if start <= last and stop >= first:
                buffer.whole = (min(start, first), max(stop, last))
            elif stop - start > last - first:
                buffer.whole = (start, stop)

    @property
    def is_whole(self) -> bool:
        """Whether all these bytes are known to be written; if not, their marks must be looked at."""
        first, last = self.pointer.buffer.whole
        return first <= self.start and self.stop <= last

    def meets(self, other: Access) -> bool:
        """Whether two accesses of one buffer share a byte."""
        start, stop = max(self.start, other.start), min(self.stop, other.stop)
        if start >= stop:
            return False
        if self.cover.local is None and other.cover.local is None:
            return True
        seen = np.zeros(max(self.stop, other.stop) - min(self.start, other.start), bool)
        base = min(self.start, other.start)
        for low, high in self.ranges() - base:
            seen[low:high] = True
        return any(bool(seen[low:high].any()) for low, high in other.ranges() - base)

    @property
    def buffer(self) -> str:
        """Name of the buffer."""
        return self.pointer.buffer.name

    @property
    def name(self) -> str:
        """Name of the array."""
        return self.pointer.name

    @property
    def nbytes(self) -> int:
        """Number of bytes, each counted once."""
        return self.cover.nbytes

    def ranges(self) -> NDArray[np.int64]:
        """Return the byte addresses in the buffer as rows (start, stop)."""
        return self.cover.ranges(self.pointer.offset)

    def contains(self, addresses: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Say of each byte address of the buffer whether it belongs to this."""
        return self.cover.contains((addresses - self.pointer.offset) // self.cover.unit)


@dataclass(eq=False, slots=True)
class Undo:
    """What a step overwrote, from the first to the last byte that it wrote; None stands for zeros.

    Bytes that nobody had written, most of them, need no memory.
    """

    buffer: Buffer
    start: int
    stop: int
    data: NDArray[np.uint8] | None
    writer: NDArray[np.int32] | None

    @classmethod
    def of(cls, access: Access) -> Undo:
        """Keep what is there now."""
        buffer, start, stop = access.pointer.buffer, access.start, access.stop
        if start >= buffer.blank and not buffer.is_gm:
            return cls(buffer, start, stop, None, None)
        writer = buffer.writer[start:stop]
        written = bool(writer.any())
        data = buffer.data[start:stop].copy() if written or buffer.is_gm else None
        return cls(buffer, start, stop, data, writer.copy() if written else None)

    @property
    def nbytes(self) -> int:
        """Bytes that this record takes."""
        return sum(part.nbytes for part in (self.data, self.writer) if part is not None)

    def take_back(self, data: NDArray[np.uint8], writer: NDArray[np.int32]) -> None:
        """Put what was there into copies of the buffer's data and writers."""
        # The gaps between what the step wrote are as they were, too: later steps are taken back already.
        data[self.start : self.stop] = 0 if self.data is None else self.data
        writer[self.start : self.stop] = 0 if self.writer is None else self.writer


@dataclass(eq=False, slots=True)
class Step:
    """One call of a kernel.

    Parameters
    ----------
    number : int
        1 for the first call of the core.
    pipe : Pipe
        Where it ran.
    call : str
        The document's name.
    arguments : mapping
        By name; pointers as `Pointer`.
    reads, writes : tuple of Access
        The bytes.
    registers : mapping of str to int
        The raw words of the register file after the call.
    outcome : str
        ``"done"``, ``"no operation"`` (a count of zero), or ``"returned at once"`` (on a vector core).
    waited_for : int
        For a wait, the step of its notify; else 0.
    note : str
        What else there is to say.
    """

    number: int
    pipe: Pipe
    call: str
    arguments: Mapping[str, Any]
    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    registers: Mapping[str, int] = field(default_factory=dict)
    outcome: str = "done"
    waited_for: int = 0
    note: str = ""
    operation: Operation | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes read, each counted once."""
        return sum(a.nbytes for a in self.reads)

    @property
    def bytes_written(self) -> int:
        """Bytes written."""
        return sum(a.nbytes for a in self.writes)

    def __str__(self) -> str:
        moved = f", {self.bytes_read:,} bytes read, {self.bytes_written:,} written" if self.writes else ""
        after = f", after step {self.waited_for}" if self.waited_for else ""
        outcome = "" if self.outcome == "done" else f", {self.outcome}"
        return f"{self.number:3} {self.pipe!s:9} {self.call}{moved}{after}{outcome}"


@dataclass(frozen=True, eq=False)
class MemoryMap:
    """What lies where in a buffer after some step.

    Parameters
    ----------
    buffer : str
        Its name.
    size : int
        Its capacity in bytes.
    allocations : tuple of Allocation
        Declared arrays.
    start, stop : ndarray of int64
        Byte ranges that one step wrote, in order of addresses; ranges that nobody wrote are left out.
    step : ndarray of int32
        The step that wrote each range.
    poisoned : ndarray of bool
        Whether that step moved bytes there that nobody had written.
    """

    buffer: str
    size: int
    allocations: tuple[Allocation, ...]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    step: NDArray[np.int32]
    poisoned: NDArray[np.bool_]

    @property
    def written(self) -> int:
        """Bytes that hold something that was really written."""
        return int((self.stop - self.start)[~self.poisoned].sum())

    @property
    def declared(self) -> int:
        """Bytes that declared arrays take."""
        return sum(a.size for a in self.allocations)

    @property
    def unwritten(self) -> int:
        """Bytes of declared arrays that nobody has written."""
        inside = sum(
            int(np.clip(np.minimum(self.stop, a.stop) - np.maximum(self.start, a.start), 0, None)[~self.poisoned].sum())
            for a in self.allocations
        )
        return self.declared - inside


def memory_map(buffer: Buffer, writer: NDArray[np.int32] | None = None) -> MemoryMap:
    """Summarise a buffer, now or with the writers of an earlier step."""
    marks = buffer.writer if writer is None else writer
    edges = np.flatnonzero(np.diff(marks)) + 1
    start = np.concatenate(([0], edges)).astype(np.int64)
    stop = np.concatenate((edges, [marks.size])).astype(np.int64)
    step = marks[start]
    kept = step != 0
    return MemoryMap(
        buffer=buffer.name,
        size=buffer.size,
        allocations=tuple(buffer.allocations),
        start=start[kept],
        stop=stop[kept],
        step=np.abs(step[kept]),
        poisoned=step[kept] < 0,
    )


@dataclass(frozen=True, eq=False)
class Timeline:
    """When each step runs, given how long each takes: an order, not a measurement.

    Parameters
    ----------
    step : ndarray of int64
        Step numbers.
    pipe : tuple of Pipe
        Each step's pipe.
    lane : tuple of Pipe
        The pipe that each step occupies: a flag is set by one pipe and waited for by another, although the scalar unit
        issues both calls.
    start, stop : ndarray of float64
        From when to when.
    edges : ndarray of int64, shape (n, 2)
        Pairs (notify, wait) of step numbers.
    """

    step: NDArray[np.int64]
    pipe: tuple[Pipe, ...]
    lane: tuple[Pipe, ...]
    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    edges: NDArray[np.int64]


def timeline(steps: Sequence[Step], duration: Callable[[Step], float] | None = None) -> Timeline:
    """Place steps on their pipes as early as order and flags allow.

    Parameters
    ----------
    steps : sequence of Step
        A core's log.
    duration : callable, optional
        How long a step takes; by default 1 for a call that moves or computes something, 0 for the others.
        The document has no cycle counts: whatever is given here is the caller's model.

    Returns
    -------
    Timeline
        A call starts when its pipe is free, when the scalar unit has issued it, and after the flags that its pipe
        has waited for.

    Raises
    ------
    ParameterError
        For a duration that cannot be called.
    """
    if duration is not None and not callable(duration):
        raise ParameterError("duration", duration, "a function of a step, or None")
    length = duration or (lambda step: 1.0 if step.writes else 0.0)
    free: dict[Pipe, float] = {}
    done: dict[int, float] = {}
    start, stop, lanes = [], [], []
    for step in steps:
        issued = free.get(Pipe.S, 0.0)
        lane = step.arguments.get("tpipe" if step.call == "asc_sync_wait" else "pipe", step.pipe)
        if lane is Pipe.ALL:
            begin = max(free.values(), default=0.0)
            free = dict.fromkeys(free, begin)
        elif step.call == "asc_sync_wait":
            begin = max(free.get(lane, 0.0), issued, done.get(step.waited_for, 0.0))
        else:
            begin = max(free.get(lane, 0.0), issued)
        end = begin + length(step)
        # The scalar unit issues the next call at once; only its own work and a wait for everybody hold it up.
        free[Pipe.S if lane is Pipe.ALL else lane] = end
        done[step.number] = end
        start.append(begin)
        stop.append(end)
        lanes.append(lane)
    edges = [(s.waited_for, s.number) for s in steps if s.waited_for]
    return Timeline(
        step=np.array([s.number for s in steps], np.int64),
        pipe=tuple(s.pipe for s in steps),
        lane=tuple(lanes),
        start=np.array(start),
        stop=np.array(stop),
        edges=np.array(edges, np.int64).reshape(-1, 2),
    )
