"""Why a device's output differs from the golden data: known mistakes, each tried out.

A mistake is named only if it has been applied to the golden data, or to the call that made them, and the mismatches
are gone afterwards.

>>> from ascendlab.compare_criteria import Criteria, scan
>>> from ascendlab.layouts import nd_to_nz
>>> import numpy as np
>>> golden = nd_to_nz(np.arange(48 * 32, dtype=np.float16).reshape(48, 32))
>>> actual = np.ascontiguousarray(golden.swapaxes(0, 1)).reshape(golden.shape)
>>> for explanation in diagnose_case(Case(actual, golden, "NZ", None, Criteria(), scan(actual, golden, Criteria()))):
...     print(explanation)
ZZ read as NZ: the matrix is in ZZ where NZ belongs; applied to the golden data, no mismatch remains
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ascendlab.compare_arithmetic import arithmetic_guesses
from ascendlab.compare_calls import call_guesses
from ascendlab.compare_cases import Case, Explanation, Guess, explain
from ascendlab.compare_orders import (
    channel_guesses,
    fractal_guesses,
    layout_guesses,
    pair_guesses,
    pitch_guesses,
    shift_guesses,
)
from ascendlab.compare_values import byte_guesses, range_guesses, tail_guesses, type_guesses

__all__ = ["CAUSES", "Case", "Explanation", "Family", "Guess", "diagnose_case"]

_MOST = 4
# What making calls anew may cost, in bytes of results; what only looks things up is sampled first and costs nothing.
_BUDGET = 1 << 31


class Family(NamedTuple):
    """Guesses of one kind.

    Parameters
    ----------
    name : str
        What goes wrong.
    guesses : callable
        Yields the guesses for a case.
    anew : bool
        Whether they compute a whole result each.
    """

    name: str
    guesses: Callable[[Case], Iterator[Guess]]
    anew: bool = False


CAUSES: tuple[Family, ...] = (
    Family("fractals transposed inside", fractal_guesses),
    Family("layouts taken for each other", layout_guesses),
    Family("channels in another order", channel_guesses),
    Family("ends or rows that were never written", tail_guesses),
    Family("bytes in another order", byte_guesses),
    Family("arithmetic: rounding, overflow, bias", arithmetic_guesses, anew=True),
    Family("parameters of the call", call_guesses, anew=True),
    Family("results of another type", type_guesses),
    Family("ends of the number range, signs", range_guesses),
    Family("neighbours exchanged", pair_guesses),
    Family("everything moved", shift_guesses),
    Family("rows too far apart or too close together", pitch_guesses),
)
"""The known mistakes; of those that explain equally much the first is named first."""


def diagnose_case(case: Case) -> tuple[Explanation, ...]:
    """Try every known mistake on a case.

    Parameters
    ----------
    case : Case
        Two arrays that differ.

    Returns
    -------
    tuple of Explanation
        The mistakes that leave the fewest mismatches and elements unknown, at most four; none if none explains them.
    """
    found: list[tuple[tuple[int, int, bool, int], Explanation]] = []
    spent = 0
    for number, family in enumerate(CAUSES):
        for guess in family.guesses(case):
            if family.anew:
                spent += case.golden.nbytes
                if spent > _BUDGET:
                    break
            explanation = explain(case, guess)
            if explanation is not None:
                found.append(((explanation.remaining, explanation.unknown, guess.vague, number), explanation))
    found.sort(key=lambda row: row[0])
    best = [explanation for _, explanation in found if explanation.remaining == found[0][1].remaining]
    # The same words twice help nobody.
    return tuple({(e.cause, e.words): e for e in best}.values())[:_MOST]
