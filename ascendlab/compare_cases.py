"""What the guesses at a cause start from, and the test that each of them has to pass.

A `Guess` says what a device with one certain mistake would have written, element by element.  It is believed only if
that is what the device wrote: `explain` applies it, at first to a sample, then to everything, and counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.launch import Launch
from ascendlab.compare_criteria import Criteria, Scan, bad_places, flat_elements, pieces
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.provenance import Call

__all__ = ["Case", "Explanation", "Guess", "Made", "explain", "looked_up", "made_of"]

Flat = NDArray[np.intp]
Made = tuple[NDArray[Any], NDArray[np.bool_] | None]
"""The elements that a mistake makes, and which of them are known (None: all)."""

_SAMPLE = 256
# A device may have made a second, small mistake: so much of the mismatches may remain.
_REMAIN = 0.02
_MANY = 50


@dataclass(frozen=True, eq=False)
class Case:
    """Two arrays that differ.

    Parameters
    ----------
    actual, golden : ndarray
        Of one type and shape.
    layout : str
        How the elements lie.
    call : Call, Launch or None
        What made `golden`.
    criteria : Criteria
        What counts as equal.
    found : Scan
        What the scan of the two found.
    """

    actual: NDArray[Any]
    golden: NDArray[Any]
    layout: str
    call: Call | Launch | None
    criteria: Criteria
    found: Scan

    @property
    def mismatches(self) -> int:
        """How many elements are bad."""
        return self.found.mismatches

    @property
    def first(self) -> int:
        """Flat index of the first one."""
        return self.found.first

    @cached_property
    def kind(self) -> DataType:
        """The element type."""
        return as_dtype(self.golden.dtype)

    @cached_property
    def flat(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both arrays' elements in C order."""
        return flat_elements(self.actual), flat_elements(self.golden)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays."""
        return self.golden.shape

    @cached_property
    def sample(self) -> Flat:
        """Some elements, good and bad ones, spread over the arrays."""
        size = self.golden.size
        bad = bad_places(*self.flat, self.criteria, self.found.counts, _SAMPLE)
        everywhere = np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.intp)
        return np.unique(np.concatenate([bad, everywhere]))


@dataclass(frozen=True, eq=False)
class Guess:
    """A mistake that a device may have made.

    Parameters
    ----------
    cause : str
        Its name.
    words : str
        What exactly, in half a sentence.
    make : callable
        Maps flat indices to what a device with this mistake writes there.
    evidence : int
        Mismatches that it takes to believe it: more where the guess itself was read off the device's output.
    vague : bool
        Of two guesses that explain equally much the other one is told first: it says more.
    """

    cause: str
    words: str
    make: Callable[[Flat], Made]
    evidence: int = 1
    vague: bool = False


@dataclass(frozen=True)
class Explanation:
    """A mistake that explains mismatches, because they vanish when it is applied to the golden data.

    Parameters
    ----------
    cause : str
        Its name.
    words : str
        What exactly.
    remaining : int
        Mismatches between the device's output and the golden data with this mistake.
    unknown : int
        Elements that the mistake leaves open, such as those that come in at the end of a shifted row.
    """

    cause: str
    words: str
    remaining: int
    unknown: int = 0

    def __str__(self) -> str:
        left = "no mismatch remains" if not self.remaining else f"{self.remaining:,} mismatches remain"
        open_ = f" ({self.unknown:,} elements are left open)" if self.unknown else ""
        return f"{self.cause}: {self.words}; applied to the golden data, {left}{open_}"


def explain(case: Case, guess: Guess) -> Explanation | None:
    """Apply a guess; return what remains, or None if it does not explain the mismatches."""
    if case.mismatches < guess.evidence:
        return None
    allowed = int(_REMAIN * case.mismatches) if case.mismatches >= _MANY else 0
    actual, golden = case.flat

    def apply(flat: Any, got: NDArray[Any]) -> tuple[int, int, NDArray[np.bool_]]:
        made, known = guess.make(flat)
        bad = case.criteria.bad(got, made)
        if known is None:
            return int(np.count_nonzero(bad)), 0, ~bad
        return int(np.count_nonzero(bad & known)), int(np.count_nonzero(~known)), known & ~bad

    # A sample may have more than its share of what remains, but not far more.
    if apply(case.sample, actual[case.sample])[0] > min(allowed, 5 * _REMAIN * case.sample.size):
        return None
    remaining = unknown = vanished = 0
    for here in pieces(golden.size):
        flat = np.arange(here.start, here.stop)
        got = actual[here]
        bad, open_, good = apply(flat, got)
        remaining, unknown = remaining + bad, unknown + open_
        if remaining > allowed:
            return None
        vanished += int(np.count_nonzero(good & case.criteria.bad(got, golden[here])))
    # What is left open explains nothing.
    return Explanation(guess.cause, guess.words, remaining, unknown) if 2 * vanished >= case.mismatches else None


def looked_up(golden: NDArray[Any], source: Callable[[Flat], Flat]) -> Callable[[Flat], Made]:
    """Make elements by looking them up elsewhere in the golden data: -1 for the unknown, -2 for zeros.

    Parameters
    ----------
    golden : ndarray, flat
        The golden data.
    source : callable
        Maps flat indices to the flat indices of what is written there.
    """

    def make(flat: Flat) -> Made:
        index = source(flat)
        made = golden[np.maximum(index, 0)]
        if not index.size or index.min() >= 0:
            return made, None
        made[index == -2] = 0
        return made, index != -1

    return make


def made_of(array: Callable[[], NDArray[Any]]) -> Callable[[Flat], Made]:
    """Make elements of a whole array, which is made when first needed; what lies past its end is unknown."""
    kept: list[NDArray[Any]] = []

    def make(flat: Flat) -> Made:
        if not kept:
            kept.append(flat_elements(array()))
        made = kept[0]
        known = flat < made.size
        if known.all():
            return made[flat], None
        if not made.size:
            return np.zeros(flat.size, made.dtype), known
        return made[np.minimum(flat, made.size - 1)], known

    return make
