"""Measure one job and its peers side by side."""

from __future__ import annotations

import gc
import resource
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["INSTALL", "OURS", "Case", "assert_same_bytes", "copy_of", "measure"]

OURS = "ascendlab"
INSTALL = "pip install 'ascendlab[bench]'"
# A call shorter than this is repeated within a round, because the clock and the loop would be measured too.
_SHORTEST_NS = 2_000_000


def _clock() -> int:
    """Return the processor time of this process and of the children that have ended, in nanoseconds.

    Not the wall's time: what else runs on the machine then counts less.  Everyone works on one thread.
    """
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + round((children.ru_utime + children.ru_stime) * 1e9)


@dataclass(frozen=True)
class Case:
    """One job: done by this library, done by others, checked.

    Parameters
    ----------
    name : str
        What is done to what, in the table's words.
    ours : callable
        This library's way, without arguments.
    check : callable
        Raises AssertionError unless `ours` computes what it should; runs before anything is timed.
    peers : mapping of str to callable
        Other ways to do the same job, by name.  The name "copy" is for `copy_of` the result.
    limits : mapping of str to float
        Peer's name to the largest accepted ratio ``ours / peer``.
    limit_ms : float, optional
        Largest accepted processor time, for what has no peer.
    limit_mib : float, optional
        Largest accepted peak of memory that `ours` allocates; measured only if given.
    """

    name: str
    ours: Callable[[], Any]
    check: Callable[[], None]
    peers: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    limit_ms: float | None = None
    limit_mib: float | None = None


def assert_same_bytes(actual: np.ndarray, expected: np.ndarray) -> None:
    """Raise AssertionError unless two arrays agree in type, shape and every bit."""
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        raise AssertionError(f"{actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}")
    one, two = (np.ascontiguousarray(a).reshape(-1).view(np.uint8) for a in (actual, expected))
    wrong = np.flatnonzero(one != two)
    if wrong.size:
        raise AssertionError(f"{wrong.size} of {one.size} bytes differ, the first at {wrong[0]}")


def copy_of(result: np.ndarray) -> Callable[[], None]:
    """Return the limit of all data movement: one plain copy of as many bytes as `result` has."""
    source, target = np.ones_like(result), np.ones_like(result)
    return lambda: np.copyto(target, source)


def _repeats(job: Callable[[], Any]) -> int:
    """Call `job` until it is warm; return how many calls make one measurement."""
    job()
    start = _clock()
    job()
    took = _clock() - start
    return max(1, -(-_SHORTEST_NS // max(took, 1)))


def measure(case: Case, rounds: int) -> dict[str, Any]:
    """Check a case, then time it.

    Parameters
    ----------
    case : Case
        The job.
    rounds : int
        In each round everyone does the job once (short jobs: several times), in an order that rotates.

    Returns
    -------
    dict
        ``milliseconds``: name to median processor time of one call; ``ratio``: peer's name to the median of the rounds'
        ratios ``ours / peer`` (a ratio within one round cancels what slows both down); ``mib``: peak memory.

    Raises
    ------
    AssertionError
        If the check fails: what computes the wrong thing has no speed.
    """
    case.check()
    jobs = {OURS: case.ours, **case.peers}
    repeats = {name: _repeats(job) for name, job in jobs.items()}
    times: dict[str, list[float]] = {name: [] for name in jobs}
    names = list(jobs)
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                job, count = jobs[name], repeats[name]
                start = _clock()
                for _ in range(count):
                    job()
                times[name].append((_clock() - start) / count / 1e6)
    finally:
        gc.enable()
    ratio = {
        name: statistics.median(mine / theirs for mine, theirs in zip(times[OURS], times[name], strict=True))
        for name in case.peers
    }
    return {
        "name": case.name,
        "milliseconds": {name: statistics.median(values) for name, values in times.items()},
        "ratio": ratio,
        "mib": _peak_mib(case.ours) if case.limit_mib is not None else None,
        "limits": dict(case.limits),
        "limit_ms": case.limit_ms,
        "limit_mib": case.limit_mib,
    }


def _peak_mib(job: Callable[[], Any]) -> float:
    """Return the peak of memory that one call allocates, in MiB."""
    tracemalloc.start()
    try:
        job()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        job()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (peak - before) / 2**20
