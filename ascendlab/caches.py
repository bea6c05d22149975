"""Caches for plans: one with a bound in bytes, one for what is small.

>>> cache = BoundedCache(100)
>>> cache.put("a", "plan a", 60), cache.put("b", "plan b", 60)
(None, None)
>>> cache.get("a"), cache.get("b"), cache.nbytes
(None, 'plan b', 60)
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = ["BoundedCache", "remembered"]

V = TypeVar("V")


@dataclass
class _Entry(Generic[V]):
    value: V
    nbytes: int
    used: int


class BoundedCache(Generic[V]):
    """Keep what was used last, as long as all of it together takes no more than `limit` bytes.

    Parameters
    ----------
    limit : int
        Bytes.  What is larger on its own is not kept at all.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.nbytes = 0
        self._entries: dict[Hashable, _Entry[V]] = {}
        self._clock = itertools.count()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> V | None:
        """Return what is kept under `key`, or None; raises TypeError if `key` is not hashable."""
        # Long keys take long to hash: one look-up, and a time stamp instead of a move to the end.
        entry = self._entries.get(key)
        if entry is None:
            return None
        entry.used = next(self._clock)
        return entry.value

    def put(self, key: Hashable, value: V, nbytes: int) -> None:
        """Keep `value`, and drop what was not used for longest until everything fits."""
        if nbytes > self.limit:
            return
        with self._lock:
            self._drop(key)
            while self._entries and self.nbytes + nbytes > self.limit:
                self._drop(min(self._entries, key=lambda k: self._entries[k].used))
            self._entries[key] = _Entry(value, nbytes, next(self._clock))
            self.nbytes += nbytes

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.nbytes -= entry.nbytes

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self.nbytes = 0


def remembered(function: Callable[..., V], entries: int = 256) -> Callable[..., V]:
    """Return `function` with the results of its last calls kept, for values of the same types only.

    Parameters
    ----------
    function : callable
        Pure, with positional arguments that are checked in it; its result must not be changed.
    entries : int
        How many results are kept: for results of up to a few kilobytes each.

    Examples
    --------
    >>> double = remembered(lambda value: [value] * 2)
    >>> double(1) is double(1), double(1) is double(True), double([])
    (True, False, [[], []])
    """
    # Typed, because True equals 1 and is no count.
    cached = functools.lru_cache(entries, typed=True)(function)

    @functools.wraps(function)
    def call(*arguments: Any) -> V:
        try:
            hash(arguments)
        except Exception:  # a list, or worse: `function` will say what is wrong with it
            return function(*arguments)
        return cached(*arguments)

    return call
