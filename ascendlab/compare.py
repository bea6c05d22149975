"""Comparing what a device computed with the golden data: equal or not, where, by how much, and why.

>>> from ascendlab.vector import vector_padding
>>> call = Call(vector_padding, {"src": np.arange(64, dtype=np.float16), "pad_mode": 1, "pad_side": False, "count": 40})
>>> wrong = call.run()
>>> wrong[24:] = 0
>>> print(compare(wrong, call))
actual and golden are NOT equal (all bits)
40 elements of half; 16 bad (40 %), 16 differ in a bit
largest difference: 47; by the size of the golden element, where that is not 0: 1
first: [24] (DataBlock 1, element 8): 0.0 instead of 23.0, which is src[23]
farthest off:
  [32] (DataBlock 2, element 0): 0.0 instead of 47.0, which is src[47]
  [33] (DataBlock 2, element 1): 0.0 instead of 46.0, which is src[46]
  [34] (DataBlock 2, element 2): 0.0 instead of 45.0, which is src[45]
  [35] (DataBlock 2, element 3): 0.0 instead of 44.0, which is src[44]
  [36] (DataBlock 2, element 4): 0.0 instead of 43.0, which is src[43]
cause: tail unwritten: from element 24 on everything is 0 (32 bytes, DataBlocks of 32: 1); applied to the golden data, \
no mismatch remains
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import is_plain
from ascendlab.capi.launch import Launch
from ascendlab.compare_calls import run_apart
from ascendlab.compare_causes import Case, Explanation, diagnose_case
from ascendlab.compare_criteria import Criteria, Scan, bad_places, flat_elements, pieces, scan
from ascendlab.compare_places import Cells, call_layout, cells_of, check_result_layout, place_words, shape_layout
from ascendlab.compare_words import pattern_words
from ascendlab.dtypes import TYPES, DataType, as_dtype
from ascendlab.errors import AscendlabError, FileProblemError, ParameterError
from ascendlab.fields import check_bool, check_int
from ascendlab.files import open_regular, read_regular
from ascendlab.golden_bin import bin_bytes, read_array
from ascendlab.layouts import unpack_int4
from ascendlab.provenance import Call, Origin, trace

__all__ = ["Comparison", "Mismatch", "compare"]

_TERMS = 4


@dataclass(frozen=True)
class Mismatch:
    """One bad element.

    Parameters
    ----------
    index : tuple of int
        Where it lies.
    place : str
        The same in the layout's terms.
    actual, golden : int or float
        What is there, and what should be.
    origin : str
        Where the golden element comes from, if the call is known.
    """

    index: tuple[int, ...]
    place: str
    actual: float
    golden: float
    origin: str
    _values: tuple[str, str]

    def __str__(self) -> str:
        source = f", which is {self.origin}" if self.origin else ""
        return f"{list(self.index)} ({self.place}): {self._values[0]} instead of {self._values[1]}{source}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found; printed, it is a report.

    Parameters
    ----------
    actual, golden : ndarray
        The two arrays, in the golden one's shape.
    names : (str, str)
        What they are called.
    layout : str
        How the elements lie (see `ascendlab.compare_places.RESULT_LAYOUTS`).
    criteria : Criteria
        What counts as equal.
    found : Scan
        Counts and largest errors.
    first : Mismatch or None
        The first bad element in memory.
    worst : tuple of Mismatch
        Those that are farthest off.
    causes : tuple of Explanation
        Known mistakes that explain the mismatches, the best first; each has been applied to the golden data.
    pattern : str
        What the mismatches have in common, if no known mistake explains them.
    """

    actual: NDArray[Any]
    golden: NDArray[Any]
    names: tuple[str, str]
    layout: str
    criteria: Criteria
    found: Scan
    first: Mismatch | None
    worst: tuple[Mismatch, ...]
    causes: tuple[Explanation, ...]
    pattern: str

    @property
    def mismatches(self) -> int:
        """How many elements are bad."""
        return self.found.mismatches

    @property
    def share(self) -> float:
        """Their share of all elements."""
        return self.mismatches / self.golden.size if self.golden.size else 0.0

    @property
    def equal(self) -> bool:
        """Whether no more elements are bad than the criteria allow."""
        return self.share <= self.criteria.max_bad

    def __bool__(self) -> bool:
        return self.equal

    def bad(self) -> NDArray[np.bool_]:
        """Return which elements are bad, in the shape of the arrays."""
        mask = np.zeros(self.golden.size, bool)
        actual, golden = flat_elements(self.actual), flat_elements(self.golden)
        for here in pieces(golden.size):
            mask[here] = self.criteria.bad(actual[here], golden[here])
        return mask.reshape(self.golden.shape)

    def bad_elements(self) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[Any]]:
        """Return flat indices, actual and golden values of the bad elements, evenly chosen if there are very many."""
        actual, golden = flat_elements(self.actual), flat_elements(self.golden)
        flat = bad_places(actual, golden, self.criteria, self.found.counts)
        return flat, actual[flat], golden[flat]

    @property
    def cells(self) -> Cells:
        """How the result is cut into the cells of a map: fractals, pixels, DataBlocks."""
        return cells_of(self.layout, self.golden.shape, self.golden.dtype)

    def mismatch_map(self) -> NDArray[np.int64]:
        """Count the bad elements in each cell of the map.

        Returns
        -------
        ndarray of int64, shape of `cells`
        """
        cells = self.cells
        flat = np.flatnonzero(self.bad())
        counts = np.bincount(cells.numbers(flat), minlength=cells.shape[0] * cells.shape[1])
        return counts.astype(np.int64).reshape(cells.shape)

    def report(self) -> str:
        """Return the findings in words, a line each."""
        one, two = self.names
        lines = [f"{one} and {two} are {'' if self.equal else 'NOT '}equal ({self.criteria})"]
        size, kind, found = self.golden.size, as_dtype(self.golden.dtype), self.found
        lines.append(
            f"{size:,} elements of {kind}; {self.mismatches:,} bad ({_percent(self.share)}), "
            f"{found.different:,} differ in a bit"
        )
        if found.different:
            lines.append(
                f"largest difference: {found.max_abs_error:.6g}; by the size of the golden element, where that is not "
                f"0: {found.max_rel_error:.6g}"
            )
        if self.first is not None:
            lines.append(f"first: {self.first}")
            lines += ["farthest off:", *(f"  {mismatch}" for mismatch in self.worst)]
        lines += [f"{'just as well' if i else 'cause'}: {cause}" for i, cause in enumerate(self.causes)]
        if self.pattern:
            lines.append(f"no known cause explains this; {self.pattern}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.report()


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def compare(
    actual: Any,
    golden: Any,
    *,
    call: Call | Launch | None = None,
    output: str = "",
    layout: str | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    max_bad: float = 0.0,
    equal_nan: bool = False,
    signed_zeros: bool = True,
    dtype: Any = None,
    shape: tuple[int, ...] | int | None = None,
    names: tuple[str, str] | None = None,
    diagnose: bool = True,
    worst: int = 5,
) -> Comparison:
    """Compare a device's output with the golden data, and say where and why they differ.

    Parameters
    ----------
    actual : ndarray or path
        What the device wrote: an array of golden's type and shape, or flat; or a ``.bin`` or ``.npy`` file.
    golden : ndarray, path, Call, Launch or GoldenCase
        What it should be.  A call is made (its `out` stays as it is), of a launch the array that the kernel wrote is
        taken, and of a case what its files hold.
    call : Call or Launch, optional
        What made `golden`, where that does not say it itself: tells where elements come from, and lets mistakes in
        the parameters be tried.
    output : str
        Of a launch or case with several results: which one.
    layout : str, optional
        How the result's elements lie, one of `ascendlab.compare_places.RESULT_LAYOUTS`; otherwise the call says, or
        the shape suggests it.
    rtol, atol, max_bad, equal_nan, signed_zeros
        As for `Criteria`: without tolerance all bits must agree.
    dtype, shape : optional
        Of a ``.bin`` file of golden data.
    names : (str, str), optional
        What to call the two in the report.
    diagnose : bool
        Look for the cause of mismatches.
    worst : int
        How many of the worst mismatches to report, [0, 100].

    Returns
    -------
    Comparison
        True if equal; printed, a report.

    Raises
    ------
    ParameterError
        For arrays whose type or shape is not golden's, and other arguments of no use.
    FileProblemError
        For files that are not there, or of another size: with the bytes there and the bytes expected, and what a
        comparison of what is there says.

    Examples
    --------
    >>> golden = np.arange(6, dtype=np.int8).reshape(2, 3)
    >>> found = compare(golden[::-1], golden)
    >>> found.equal, found.mismatches, found.first.index, found.mismatch_map().tolist()
    (False, 6, (0, 0), [[6]])
    """
    criteria = Criteria(rtol=rtol, atol=atol, max_bad=max_bad, equal_nan=equal_nan, signed_zeros=signed_zeros)
    check_bool("diagnose", diagnose)
    check_int("worst", worst, 0, 100)
    if not isinstance(output, str):
        raise ParameterError("output", output, "the name of a result")
    if call is not None and not isinstance(call, (Call, Launch)):
        raise ParameterError("call", call, "an instance of Call, or what launch returned")
    expected, made_by, said = _golden(golden, output, dtype, shape)
    call = call if call is not None else made_by
    kind = as_dtype(expected.dtype, parameter="the type of golden")
    if layout is not None:
        order = check_result_layout(layout, expected.shape, kind.c0)
    elif call is not None:
        order = call_layout(call, expected.shape, kind.c0)
    else:
        order = _said_layout(said, expected.shape, kind.c0)
    found_names = _check_names(names) or (_name(actual, "actual"), _name(golden, "golden"))
    got = _actual(actual, expected, kind)
    found = scan(got, expected, criteria, worst=worst)
    causes: tuple[Explanation, ...] = ()
    pattern = ""
    if found.mismatches and diagnose:
        case = Case(got, expected, order, call, criteria, found)
        causes = diagnose_case(case)
        pattern = "" if causes else pattern_words(case)
    origin = _origins(call, output, expected.shape)
    places = [_mismatch(got, expected, flat, order, kind, origin) for flat in (found.first, *found.worst) if flat >= 0]
    return Comparison(
        got, expected, found_names, order, criteria, found,
        places[0] if places else None, tuple(places[1:]), causes, pattern,
    )  # fmt: skip


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _name(value: object, otherwise: str) -> str:
    return PurePath(os.fspath(value)).name or otherwise if isinstance(value, (str, PurePath)) else otherwise


def _check_names(names: object) -> tuple[str, str] | None:
    if names is None:
        return None
    if isinstance(names, (tuple, list)) and len(names) == 2 and all(isinstance(name, str) for name in names):
        return names[0], names[1]
    raise ParameterError("names", names, "two strings: what to call actual and golden")


def _golden(golden: Any, output: str, dtype: Any, shape: Any) -> tuple[NDArray[Any], Call | Launch | None, str]:
    """Return the golden array, the call that made it, and its layout, as far as known."""
    if not _is_path(golden) and (dtype is not None or shape is not None):
        given, value = ("dtype", dtype) if dtype is not None else ("shape", shape)
        raise ParameterError(given, value, "None: golden knows its type and shape, unless it is a file")
    if _is_path(golden):
        return read_array(golden, dtype, shape), None, ""
    if isinstance(golden, Call):
        golden.bound()  # refuses arguments that the function does not have
        return run_apart(golden), golden, ""
    if isinstance(golden, Launch):
        trace(golden, output=output)  # refuses names of no result
        written = [name for name in golden.gm if golden.writes(name)]
        array = golden.gm[output or written[0]].array
        assert array is not None
        return array, golden, ""
    outputs = getattr(golden, "outputs", None)
    if isinstance(outputs, Mapping) and callable(getattr(golden, "read", None)):
        name = output or golden.only_output()
        return golden.read(name), golden.call, outputs[name].layout
    if is_plain(golden):
        as_dtype(golden.dtype, parameter="the type of golden")
        return golden, None, ""
    raise ParameterError("golden", golden, "an array, a file, a Call, what launch returned, or a GoldenCase")


def _said_layout(said: str, shape: tuple[int, ...], c0: int) -> str:
    try:
        return check_result_layout(said, shape, c0)
    except ParameterError:
        return shape_layout(shape, c0)


def _actual(actual: Any, golden: NDArray[Any], kind: DataType) -> NDArray[Any]:
    """Return what the device wrote, in golden's shape."""
    if _is_path(actual):
        if not str(actual).endswith(".npy"):
            _check_size(actual, golden, kind)
            return read_array(actual, kind, golden.shape)
        actual = read_array(actual, kind)
    if not is_plain(actual) or actual.dtype != golden.dtype:
        raise ParameterError("actual", actual, f"an array of {kind} of shape {golden.shape}, or a file of one")
    if actual.shape == golden.shape:
        return actual
    if actual.shape == (golden.size,):
        return actual.reshape(golden.shape)
    needed = f"shape {golden.shape}, or flat with {golden.size:,} elements ({golden.nbytes:,} bytes)"
    raise ParameterError("actual", actual, needed, hint=f"It has {actual.size:,} elements ({actual.nbytes:,} bytes)")


def _check_size(path: Any, golden: NDArray[Any], kind: DataType) -> None:
    """Refuse a file of another size, and say what the bytes there look like."""
    needed = bin_bytes(kind, golden.shape)
    with open_regular(path) as (_, size):
        pass
    if size == needed:
        return
    flat = flat_elements(golden)
    for other in TYPES.values():
        # Half as long or twice as long: the type may be another one.
        if bin_bytes(other, golden.shape) == size and other.bits != kind.bits:
            stored = read_array(path, other, golden.shape).reshape(-1)
            with np.errstate(all="ignore"):
                converted = stored.astype(np.float64).astype(kind.numpy)
            if _common(converted, flat) == flat.size and flat.size:
                raise _other_size(path, size, needed, kind, golden, f"Read as {other} its elements are golden's")
    raw = np.frombuffer(read_regular(path, min(size, needed)), np.uint8)
    count = min(raw.size * 8 // kind.bits, flat.size)
    whole = raw[: count * kind.bits // 8] if kind.bits >= 8 else raw[: -(-count // 2)]
    start = unpack_int4(whole, count) if kind.bits == 4 else whole.view(kind.numpy)
    same = _common(start, flat[:count])
    if same < count:
        words = f"Element {same:,} is the first to differ from golden's"
    elif size < needed:
        words = f"All {count:,} elements there are equal to golden's first ones: the rest was never written"
    else:
        words = f"Its first {count:,} elements are equal to golden's: more was written than belongs there"
    raise _other_size(path, size, needed, kind, golden, words)


def _other_size(
    path: Any, size: int, needed: int, kind: DataType, golden: NDArray[Any], words: str
) -> FileProblemError:
    problem = f"has {size:,} bytes, but {kind} of shape {golden.shape} takes {needed:,}"
    return FileProblemError(path, problem, words)


def _common(one: NDArray[Any], two: NDArray[Any]) -> int:
    """Return how many elements from the start on are equal in all bits."""
    bad = Criteria().bad(one, two)
    return int(bad.argmax()) if bad.any() else one.size


def _origins(call: Call | Launch | None, output: str, shape: tuple[int, ...]) -> Any:
    """Return a function that says where an element comes from."""
    if call is None:
        return lambda index: ""
    try:
        traced = trace(call, output=output)
    except AscendlabError:  # functions without provenance, such as conv2d
        return lambda index: ""
    if traced.shape != shape:
        return lambda index: ""
    return lambda index: _origin_words(traced.origin(*index))


def _origin_words(origin: Origin) -> str:
    """Write an origin, of a long sum the first terms."""
    if len(origin.terms) <= _TERMS:
        return str(origin)
    first = Origin(origin.terms[: _TERMS - 1], None)
    return f"{first} + ... ({len(origin.terms)} terms)"


def _mismatch(
    actual: NDArray[Any], golden: NDArray[Any], flat: int, layout: str, kind: DataType, origin: Any
) -> Mismatch:
    index = tuple(int(i) for i in np.unravel_index(flat, golden.shape))
    one, two = actual[index], golden[index]
    words = [str(one), str(two)]
    if words[0] == words[1]:  # NaNs, mostly
        width = kind.numpy.itemsize
        words = [f"{text} (0x{int(np.array(value).view(f'u{width}')):0{2 * width}x})"
                 for text, value in zip(words, (one, two), strict=True)]  # fmt: skip
    number = int if kind.name.startswith(("int", "uint")) else float
    place = place_words(layout, golden.shape, index, kind.c0)
    if math.prod(golden.shape) == 1 and not golden.shape:
        place = "the only element"
    return Mismatch(index, place, number(one), number(two), origin(index), (words[0], words[1]))
