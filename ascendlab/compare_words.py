"""What mismatches have in common, in words, where no known mistake explains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ascendlab.compare_cases import Case
from ascendlab.compare_criteria import bad_places
from ascendlab.compare_places import cells_of

__all__ = ["pattern_words"]

_MOST = 3


def pattern_words(case: Case) -> str:
    """Describe mismatches: how far the values are off, and where they lie.

    Examples
    --------
    >>> from ascendlab.compare_criteria import Criteria, scan
    >>> golden = np.arange(60, dtype=np.float16).reshape(4, 5, 3)
    >>> actual = golden.copy()
    >>> actual[:, :, 1] += 2
    >>> pattern_words(Case(actual, golden, "HWC", None, Criteria(), scan(actual, golden, Criteria())))
    'all mismatches: the difference is 2; axis 2 is 1; one of every 3 elements (the places 1 modulo 3)'
    """
    flat = bad_places(*case.flat, case.criteria, case.found.counts)
    whole = flat.size == case.mismatches
    words = [*_values(case, flat), *_where(case, flat)][:_MOST]
    start = "all mismatches" if whole else f"of the {flat.size:,} mismatches looked at, all"
    return f"{start}: {'; '.join(words)}" if words else "the mismatches have no pattern"


def _values(case: Case, flat: NDArray[Any]) -> Iterator[str]:
    actual, golden = (array[flat].astype(np.float64) for array in case.flat)
    if flat.size < 2:
        return
    with np.errstate(all="ignore"):
        difference, ratio = actual - golden, actual / golden
    if np.isnan(actual).all():
        yield "the device has NaN"
    if _same(actual):
        yield f"the device has {actual[0]:g}"
    elif _same(difference):
        yield f"the difference is {difference[0]:g}"
    elif _same(np.abs(difference)):
        yield f"the difference is {abs(difference[0]):g} or {-abs(difference[0]):g}"
    elif _is_whole(case) and case.kind.bits <= 32 and _same(difference % 2.0**case.kind.bits):
        yield f"the difference is {difference[0] % 2.0**case.kind.bits:g} modulo {1 << case.kind.bits}"
    elif _same(ratio):
        yield f"the device has {ratio[0]:g} times the golden element"
    if _is_whole(case) and _at_the_ends(case, golden):
        yield (
            f"the golden element is the largest or smallest of {case.kind}, as where a device wraps around instead of "
            "saturating"
        )
    if not _is_whole(case) and _neighbours(case, flat):
        yield "the device has the next number of the type: one unit in the last place, as from another rounding"


def _is_whole(case: Case) -> bool:
    return case.kind.name.startswith(("int", "uint"))


def _at_the_ends(case: Case, golden: NDArray[np.float64]) -> bool:
    """Whether these are ends of the type's range: not 0 alone, which unsigned results have for many reasons."""
    info: Any = ml_dtypes.iinfo(case.kind.numpy)  # type: ignore[no-untyped-call]
    low, high = float(info.min), float(info.max)
    return bool(np.isin(golden, (low, high)).all() and golden.any())


def _same(values: NDArray[np.float64]) -> bool:
    return bool(np.isfinite(values[0]) and (values == values[0]).all())


def _neighbours(case: Case, flat: NDArray[Any]) -> bool:
    """Whether the bits, as numbers, are one apart."""
    width = case.kind.numpy.itemsize
    one, two = (array[flat].view(f"u{width}").astype(np.int64) for array in case.flat)
    return bool((np.abs(one - two) == 1).all())


def _where(case: Case, flat: NDArray[Any]) -> Iterator[str]:
    if flat.size < 2:
        return
    shape, size = case.shape, case.golden.size
    for axis, index in enumerate(np.unravel_index(flat, shape) if len(shape) > 1 else ()):
        low, high = int(index.min()), int(index.max())
        if shape[axis] == 1:
            continue
        if low == high:
            yield f"axis {axis} is {low}" + (" (the last)" if low == shape[axis] - 1 else "")
        elif high - low + 1 <= shape[axis] // 2:
            yield f"axis {axis} is {low} to {high} (of {shape[axis]})"
    cells = cells_of(case.layout, shape, case.golden.dtype)
    number = cells.numbers(flat)
    if (number == number[0]).all() and cells.shape != (1, 1):
        yield f"one {cells.unit}, row {number[0] // cells.shape[1]}, column {number[0] % cells.shape[1]} of the map"
    for period in sorted({2, 4, 8, 16, 32, case.kind.c0, *shape[-1:]}):
        place = flat % period
        if 1 < period < size and (place == place[0]).all():
            yield f"one of every {period} elements (the places {place[0]} modulo {period})"
            break
    if len(shape) == 1 and flat[-1] - flat[0] + 1 == flat.size:
        yield f"elements {flat[0]} to {flat[-1]}, without a gap"
