"""Pipes that run on their own, and the flags that put them in order.

Each pipe works off its instructions one after the other, and knows nothing of the others until it waits for a flag.
What a pipe may rely on is kept as a vector clock: for every other pipe the last step that is known to be finished.

>>> order = Ordering()
>>> order.notify(3, Pipe.MTE2, Pipe.MTE1, 0)
>>> order.finished(Pipe.MTE1, Pipe.MTE2)
0
>>> order.wait(4, Pipe.MTE2, Pipe.MTE1, 0)
3
>>> order.finished(Pipe.MTE1, Pipe.MTE2)
3
"""

from __future__ import annotations

from enum import Enum, IntEnum

from ascendlab.errors import ParameterError, SynchronizationError
from ascendlab.fields import check_int

__all__ = [
    "EVENT_ID0",
    "EVENT_ID1",
    "EVENT_ID2",
    "EVENT_ID3",
    "EVENT_ID4",
    "EVENT_ID5",
    "EVENT_ID6",
    "EVENT_ID7",
    "PIPE_ALL",
    "PIPE_FIX",
    "PIPE_M",
    "PIPE_MTE1",
    "PIPE_MTE2",
    "PIPE_MTE3",
    "PIPE_S",
    "PIPE_V",
    "EventId",
    "Ordering",
    "Pipe",
]


class Pipe(Enum):
    """An instruction pipe of the AI Core."""

    S = "scalar unit: registers, flags"
    V = "vector unit"
    M = "matrix unit: L0A, L0B -> L0C"
    MTE1 = "L1 -> L0A, L0B"
    MTE2 = "GM -> L1"
    MTE3 = "UB -> GM"
    FIX = "L0C -> GM"
    ALL = "all pipes"

    def __init__(self, meaning: str) -> None:
        # Position in lists: looking members up in dictionaries takes longer.
        self.number = len(type(self).__members__)

    def __str__(self) -> str:
        return f"PIPE_{self.name}"


PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL = Pipe


class EventId(IntEnum):
    """The eight flags between each two pipes (``event_t``)."""

    EVENT_ID0 = 0
    EVENT_ID1 = 1
    EVENT_ID2 = 2
    EVENT_ID3 = 3
    EVENT_ID4 = 4
    EVENT_ID5 = 5
    EVENT_ID6 = 6
    EVENT_ID7 = 7


EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 = EventId

_REAL = tuple(p for p in Pipe if p is not Pipe.ALL)


class Ordering:
    """What every pipe knows of the others' progress, and the flags that are set."""

    def __init__(self) -> None:
        self._known = [[0] * len(_REAL) for _ in _REAL]
        self._flags: dict[tuple[Pipe, Pipe, int], tuple[int, list[int]]] = {}

    def finished(self, observer: Pipe, pipe: Pipe) -> int:
        """Return the last step of `pipe` that `observer` can rely on being finished."""
        return self._known[observer.number][pipe.number]

    @property
    def flags(self) -> dict[tuple[Pipe, Pipe, int], int]:
        """The flags that are set: (source, target, event) -> step of the notify."""
        return {key: step for key, (step, _) in self._flags.items()}

    def notify(self, step: int, pipe: Pipe, tpipe: Pipe, event: int) -> None:
        """Set a flag once all earlier steps of `pipe` are finished."""
        key = (pipe, tpipe, event)
        if key in self._flags:
            raise SynchronizationError(
                "asc_sync_notify",
                f"the flag ({pipe}, {tpipe}, EVENT_ID{event}) is already set, by step {self._flags[key][0]}; "
                "setting it twice is undefined",
                "Wait for the first one before, or use another event id",
            )
        knows = list(self._known[pipe.number])
        knows[pipe.number] = step
        self._flags[key] = (step, knows)

    def wait(self, step: int, pipe: Pipe, tpipe: Pipe, event: int) -> int:
        """Let `tpipe` wait for a flag; return the step of its notify."""
        if (pipe, tpipe, event) not in self._flags:
            set_now = ", ".join(f"({p}, {t}, EVENT_ID{e})" for p, t, e in self._flags) or "none"
            raise SynchronizationError(
                "asc_sync_wait",
                f"step {step} waits for the flag ({pipe}, {tpipe}, EVENT_ID{event}), which no notify has set: "
                f"{tpipe} would hang for ever; flags that are set: {set_now}",
                f"Call asc_sync_notify({pipe}, {tpipe}, EVENT_ID{event}) after the instructions to be waited for",
            )
        origin, knows = self._flags.pop((pipe, tpipe, event))
        mine = self._known[tpipe.number]
        mine[:] = map(max, mine, knows)
        return origin

    def barrier(self, step: int, pipe: Pipe) -> None:
        """Let `pipe` finish all its earlier steps; `Pipe.ALL`: everybody waits for everybody."""
        if pipe is Pipe.ALL:
            for known in self._known:
                known[:] = [step] * len(known)
        else:
            self._known[pipe.number][pipe.number] = step


def check_pipe(name: str, value: object, *, allow_all: bool) -> Pipe:
    """Return `value` if it is a pipe that a sync call accepts."""
    if isinstance(value, Pipe) and (allow_all or value is not Pipe.ALL):
        return value
    allowed = ", ".join(str(p) for p in Pipe if allow_all or p is not Pipe.ALL)
    raise ParameterError(name, value, f"one of {allowed}")


def check_event(value: object) -> int:
    """Return `value` if it is one of the eight event ids."""
    return check_int("id", value, 0, 7, table="event_t")
