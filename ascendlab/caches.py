"""A cache with a bound in bytes, for plans.

>>> cache = BoundedCache(100)
>>> cache.put("a", "plan a", 60), cache.put("b", "plan b", 60)
(None, None)
>>> cache.get("a"), cache.get("b"), cache.nbytes
(None, 'plan b', 60)
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["BoundedCache"]

V = TypeVar("V")


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
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> V | None:
        """Return what is kept under `key`, or None; raises TypeError if `key` is not hashable."""
        found = self._kept.get(key)
        if found is None:
            return None
        with contextlib.suppress(KeyError):  # another thread may have just dropped it
            self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: V, nbytes: int) -> None:
        """Keep `value`, and drop what was not used for longest until everything fits."""
        if nbytes > self.limit:
            return
        with self._lock:
            old = self._kept.pop(key, None)
            self.nbytes += nbytes - (old[1] if old else 0)
            self._kept[key] = (value, nbytes)
            while self.nbytes > self.limit:
                _, (_, dropped) = self._kept.popitem(last=False)
                self.nbytes -= dropped

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self.nbytes = 0
