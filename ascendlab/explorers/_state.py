"""The one object an explorer's pictures, texts and controls follow from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["State"]


class State(Mapping[str, Any]):
    """Named values that can be observed; several changes at once are one event.

    Parameters
    ----------
    values : mapping of str to object
        Names and first values; no name can be added later.

    Examples
    --------
    >>> state = State({"horiz_size": 8, "vert_size": 8})
    >>> state.observe(lambda changed: print(sorted(changed)))
    >>> state.update({"horiz_size": 6, "vert_size": 4})
    ['horiz_size', 'vert_size']
    >>> state.update({"vert_size": 4})
    >>> dict(state)
    {'horiz_size': 6, 'vert_size': 4}
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._observers: list[Callable[[frozenset[str]], None]] = []

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def observe(self, callback: Callable[[frozenset[str]], None]) -> None:
        """Call `callback` with the names that changed, once after each change."""
        self._observers.append(callback)

    def update(self, changes: Mapping[str, Any]) -> None:
        """Set values; tell the observers once, and only if something is different."""
        unknown = changes.keys() - self._values.keys()
        if unknown:
            raise KeyError(", ".join(sorted(unknown)))
        changed = frozenset(name for name, value in changes.items() if self._values[name] != value)
        if changed:
            self._values.update({name: changes[name] for name in changed})
            for callback in self._observers:
                callback(changed)
