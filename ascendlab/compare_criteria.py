"""When two arrays count as equal, and where and by how much they are not.

>>> criteria = Criteria(rtol=1e-3)
>>> actual, golden = np.float16([1, 2, 1024]), np.float16([1, 2.5, 1025])
>>> criteria.bad(actual, golden).tolist(), criteria
([False, True, False], Criteria(rtol=0.001, atol=0.0, max_bad=0.0, equal_nan=False, signed_zeros=True))
>>> found = scan(actual, golden, criteria)
>>> found.different, found.mismatches, found.max_abs_error, found.first, found.worst
(2, 1, 1.0, 1, (1,))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_size
from ascendlab.fields import check_bool, check_real
from ascendlab.half import widen

__all__ = ["PIECE", "Criteria", "Scan", "bad_places", "distance", "flat_elements", "pieces", "scan"]

PIECE = 1 << 16
"""Elements that are looked at in one go: enough for NumPy, few enough for a core's cache."""

_LARGEST = 3.0e38
_TINY_INTS = (1, 2)
_PIECES_LOOKED_AT = 64


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """What counts as equal.

    Parameters
    ----------
    rtol, atol : float
        An element is good if ``|actual - golden| <= atol + rtol * |golden|``, in float64; both 0: only if all its bits
        agree.
    max_bad : float
        Share of bad elements, in [0, 1], up to which the arrays still count as equal.
    equal_nan : bool
        Any NaN is good where the golden element is one; otherwise only the same bits are.
    signed_zeros : bool
        Without tolerance: -0 is bad where the golden element is 0.

    Examples
    --------
    >>> print(Criteria()), print(Criteria(rtol=1e-3, atol=1e-3, max_bad=1e-4))
    all bits
    |actual - golden| <= 0.001 + 0.001 * |golden|, but for 0.01 % of the elements
    (None, None)
    """

    rtol: float = 0.0
    atol: float = 0.0
    max_bad: float = 0.0
    equal_nan: bool = False
    signed_zeros: bool = True

    def __post_init__(self) -> None:
        for name, high in (("rtol", _LARGEST), ("atol", _LARGEST), ("max_bad", 1.0)):
            object.__setattr__(self, name, check_real(name, getattr(self, name), 0.0, high))
        for name in ("equal_nan", "signed_zeros"):
            object.__setattr__(self, name, check_bool(name, getattr(self, name)))

    @property
    def exact(self) -> bool:
        """Whether there is no tolerance."""
        return self.rtol == self.atol == 0

    def bad(self, actual: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which elements of two arrays of one type and shape are bad."""
        differ: NDArray[np.bool_] = _bits(actual) != _bits(golden)
        if self.exact and _plain(self, golden):
            return differ
        good = np.zeros(differ.shape, bool)
        with np.errstate(all="ignore"):
            if not self.exact:
                size = np.abs(_real(golden))
                # An infinity is near to nothing but itself, whatever the formula says.
                good = (distance(actual, golden) <= self.atol + self.rtol * size) & np.isfinite(size)
            elif not self.signed_zeros:
                good = (actual == 0) & (golden == 0)
            if self.equal_nan and not _whole(golden):
                good |= np.isnan(actual) & np.isnan(golden)
        return differ & ~good

    def __str__(self) -> str:
        parts = [part for part in (f"{self.atol:g}" if self.atol else "",
                                   f"{self.rtol:g} * |golden|" if self.rtol else "") if part]  # fmt: skip
        words = "|actual - golden| <= " + " + ".join(parts) if parts else "all bits"
        if parts == [] and not self.signed_zeros:
            words += ", -0 as 0"
        if self.equal_nan:
            words += ", any NaN as another"
        return words + (f", but for {100 * self.max_bad:g} % of the elements" if self.max_bad else "")


def _plain(criteria: Criteria, golden: NDArray[Any]) -> bool:
    """Whether no option excuses elements of other bits."""
    return _whole(golden) or (criteria.signed_zeros and not criteria.equal_nan)


def _whole(array: NDArray[Any]) -> bool:
    """Whether the elements are integers (those of ml_dtypes are not of NumPy's kinds)."""
    return array.dtype.kind in "iu" or array.dtype == ml_dtypes.int4


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == ml_dtypes.int4:
        return array.astype(np.int8)  # what the byte's upper half holds does not matter
    return array.view(f"u{array.dtype.itemsize}")


def _real(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the elements as float64, all but 64-bit integers exactly."""
    if array.dtype == np.float16:
        array = widen(array)
    return array.astype(np.float64)


def distance(actual: NDArray[Any], golden: NDArray[Any]) -> NDArray[Any]:
    """Return ``|actual - golden|``: unsigned integers for integers, else float64, infinite beside a lone NaN.

    >>> distance(np.int8([-128, 3]), np.int8([127, 3]))
    array([255,   0], dtype=uint8)
    >>> distance(np.float16([np.nan, np.inf]), np.float16([1, np.inf]))
    array([inf,  0.])
    """
    if _whole(golden):
        if golden.dtype == ml_dtypes.int4:
            actual, golden = actual.astype(np.int8), golden.astype(np.int8)
        # The difference may exceed the type; as an unsigned number its bits are right.
        found: NDArray[Any] = np.maximum(actual, golden) - np.minimum(actual, golden)
        return found.view(f"u{golden.dtype.itemsize}")
    with np.errstate(all="ignore"):
        found = np.abs(_real(actual) - _real(golden))
    odd = np.isnan(found)
    if odd.any():
        same = (_bits(actual) == _bits(golden)) | (np.isnan(actual) & np.isnan(golden))
        found[odd] = np.where(same[odd], 0.0, np.inf)
    return found


@dataclass(frozen=True, eq=False)
class Scan:
    """What one pass over two arrays finds.

    Parameters
    ----------
    different : int
        Elements that do not agree in all bits.
    mismatches : int
        Elements that are bad.
    max_abs_error : float
        Largest ``|actual - golden|`` of all elements; infinite if one is a NaN and the other is not.
    max_rel_error : float
        Largest ``|actual - golden| / |golden|`` where the golden element is neither 0 nor infinite.
    first : int
        Flat index of the first bad element; -1 without one.
    worst : tuple of int
        Flat indices of bad elements, those that are farthest off first, of equally far ones the first.
    counts : ndarray of int64
        Bad elements in each piece of `PIECE` elements.
    """

    different: int = 0
    mismatches: int = 0
    max_abs_error: float = 0.0
    max_rel_error: float = 0.0
    first: int = -1
    worst: tuple[int, ...] = ()
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False, compare=False)


def flat_elements(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array's elements in C order, without a copy where they lie like that."""
    if not array.flags.c_contiguous:
        check_size("a copy of an array", array.nbytes)
    return np.ascontiguousarray(array).reshape(-1)


def pieces(size: int) -> Iterator[slice]:
    """Cut so many elements into pieces."""
    for start in range(0, size, PIECE):
        yield slice(start, min(start + PIECE, size))


def scan(actual: NDArray[Any], golden: NDArray[Any], criteria: Criteria, *, worst: int = 5) -> Scan:
    """Compare two arrays of one type and shape, piece by piece.

    Parameters
    ----------
    actual, golden : ndarray
        Of a documented type.
    criteria : Criteria
        What counts as equal.
    worst : int
        How many of the worst elements to find.

    Returns
    -------
    Scan
        Pieces whose bytes agree are passed over; besides the arrays only a few pieces are held in memory.
    """
    one, two = flat_elements(actual), flat_elements(golden)
    different = 0
    counts = np.zeros(-(-two.size // PIECE), np.int64)
    max_abs = max_rel = 0.0
    first, ranking, differs = -1, _Ranking(worst), False
    for here in pieces(two.size):
        a, g = one[here], two[here]
        # Where one piece differs the next one mostly does, and a look at its bytes is in vain.
        if not differs and _same_bytes(a, g):
            continue
        bad = criteria.bad(a, g)
        count = int(np.count_nonzero(bad))
        unlike = count if criteria.exact and _plain(criteria, g) else int(np.count_nonzero(_bits(a) != _bits(g)))
        differs = unlike > 0
        if not differs:
            continue
        different += unlike
        far = distance(a, g)
        farthest = float(far.max())
        max_abs = max(max_abs, farthest)
        max_rel = max(max_rel, _largest_ratio(far, farthest, g, max_rel))
        if count:
            first = first if first >= 0 else here.start + int(bad.argmax())
            ranking.add(here.start, far, farthest, bad)
        counts[here.start // PIECE] = count
    return Scan(different, int(counts.sum()), max_abs, max_rel, first, ranking.places(), counts)


def bad_places(
    actual: NDArray[Any], golden: NDArray[Any], criteria: Criteria, counts: NDArray[np.int64], most: int = 1 << 15
) -> NDArray[np.intp]:
    """Return the flat indices of the bad elements: all, or at most `most` of them from all over the arrays.

    Parameters
    ----------
    actual, golden : ndarray, flat
        The arrays.
    criteria : Criteria
        What counts as equal.
    counts : ndarray of int64
        `Scan.counts` of these arrays: only pieces with bad elements are looked at.
    most : int
        How many elements are enough.

    Examples
    --------
    >>> actual, golden = np.arange(9), np.zeros(9, int)
    >>> bad_places(actual, golden, Criteria(), scan(actual, golden, Criteria()).counts, most=4).tolist()
    [1, 3, 5, 7]
    """
    chosen = np.flatnonzero(counts)
    each = int(counts.max(initial=0))
    if int(counts.sum()) > most:
        chosen = chosen[:: -(-chosen.size // _PIECES_LOOKED_AT)]
        each = max(1, most // chosen.size)
    found = [np.zeros(0, np.intp)]
    for number in chosen:
        here = slice(int(number) * PIECE, (int(number) + 1) * PIECE)
        bad = np.flatnonzero(criteria.bad(actual[here], golden[here])) + here.start
        found.append(bad[:: -(-bad.size // each)])
    return np.concatenate(found)


def _same_bytes(one: NDArray[Any], two: NDArray[Any]) -> bool:
    word = "u8" if one.nbytes % 8 == 0 else "u1"
    return bool((one.view(word) == two.view(word)).all())


def _largest_ratio(far: NDArray[Any], farthest: float, golden: NDArray[Any], known: float) -> float:
    """Return the largest distance by the size of the golden element, or what is known if that is more."""
    whole = _whole(golden)
    if whole and farthest <= known:
        return known  # no golden element but 0 is smaller than 1
    size = golden.astype(np.float32) if whole and golden.dtype.itemsize in _TINY_INTS else _real(golden)
    np.abs(size, out=size)
    with np.errstate(all="ignore"):
        ratio = far / size
    ratio[size == 0 if whole else ~((size > 0) & (size < np.inf))] = 0
    best = int(ratio.argmax())
    if not ratio[best] > 0:
        return known
    return max(known, float(far[best]) / abs(float(golden[best])))


class _Ranking:
    """Keeps the few elements that are farthest off."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.kept: list[tuple[float, int]] = []  # (minus the distance, place), in order

    def add(self, start: int, far: NDArray[Any], farthest: float, bad: NDArray[np.bool_]) -> None:
        """Look through a piece, which starts at this place, and whose largest distance is known."""
        if not self.count or (len(self.kept) == self.count and -farthest >= self.kept[-1][0]):
            return  # none is worse; of equals the first ones count
        left = np.where(bad, far.astype(np.float64), -1.0)
        for _ in range(self.count):
            best = int(left.argmax())
            if left[best] < 0:
                break
            self.kept.append((-float(left[best]), start + best))
            left[best] = -1
        self.kept = sorted(self.kept)[: self.count]

    def places(self) -> tuple[int, ...]:
        """Return the flat indices, the worst first."""
        return tuple(place for _, place in self.kept)
