"""Guesses at wrong values in the right places: bytes, types, ends of ranges, and what was never written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.launch import Launch
from ascendlab.compare_cases import Case, Flat, Guess, Made
from ascendlab.compare_criteria import PIECE, pieces
from ascendlab.dtypes import DATA_BLOCK_BYTES, TYPES, DataType

__all__ = ["byte_guesses", "range_guesses", "tail_guesses", "type_guesses"]

_TAIL_EVIDENCE = 4
_LONGEST_RUN = 1 << 22


def _changed(case: Case, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Flat], Made]:
    """Make elements by changing the golden ones."""
    golden = case.flat[1]

    def make(flat: Flat) -> Made:
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(change(golden[flat])), None

    return make


def byte_guesses(case: Case) -> Iterator[Guess]:
    """Bytes, or halves of words, in the other order."""
    width = case.kind.numpy.itemsize
    if width == 1:
        return
    plain = np.dtype(f"u{width}")
    words = f"the {width} bytes of every element are reversed (big-endian)"
    yield Guess("byte order", words, _changed(case, lambda x: x.view(plain).byteswap().view(x.dtype)))
    if width > 2:
        half = np.dtype(f"u{width // 2}")
        words = f"the two {8 * half.itemsize}-bit halves of every element have changed places"

        def swapped(x: NDArray[Any]) -> NDArray[Any]:
            return np.ascontiguousarray(x.view(half).reshape(-1, 2)[:, ::-1]).reshape(-1).view(x.dtype)

        yield Guess("word order", words, _changed(case, swapped))


def type_guesses(case: Case) -> Iterator[Guess]:
    """Results of another type of the same size, and the sign taken for something else."""
    kind = case.kind
    whole = _is_whole(kind)
    for other in TYPES.values():
        if other.bits != kind.bits or other == kind:
            continue
        if whole and _is_whole(other):
            words = f"the results were saturated to {other} and are read as {kind}"
        else:
            words = f"the device wrote {other}, read as {kind}"
        yield Guess("wrong type", words, _changed(case, partial(_reread, kind=other)))
    if whole and kind.bits >= 8:
        plain = np.dtype(f"u{kind.numpy.itemsize}")
        top = plain.type(1 << (kind.bits - 1))
        signed = f"int{kind.bits}", f"uint{kind.bits}"
        words = f"the highest bit is turned round: {signed[0]} and {signed[1]} with a zero point of {int(top)}"
        yield Guess("wrong type", words, _changed(case, lambda x: (x.view(plain) ^ top).view(x.dtype)))


def _is_whole(kind: DataType) -> bool:
    return kind.name.startswith(("int", "uint"))


def _saturated(values: NDArray[Any], kind: DataType) -> NDArray[Any]:
    """Convert to another type: whole numbers saturate, floats are rounded."""
    wide: NDArray[Any] = values.astype(np.float64)
    if _is_whole(kind):
        info: Any = ml_dtypes.iinfo(kind.numpy)  # type: ignore[no-untyped-call]
        # The largest float64 below 2**64 is far below it.
        top = float(info.max) if info.bits < 64 else np.nextafter(2.0**64, 0)
        wide = np.rint(np.nan_to_num(wide, nan=0.0, posinf=top, neginf=float(info.min))).clip(float(info.min), top)
    return wide.astype(kind.numpy)


def range_guesses(case: Case) -> Iterator[Guess]:
    """Floats at the ends of their range: infinities, NaNs, negative zeros, subnormals; and signs."""

    def zeroed(test: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Flat], Made]:
        return _changed(case, lambda x: np.where(test(x), x.dtype.type(0), x))

    if case.kind.name == "uint8":
        return
    yield Guess("sign", "every sign is turned round", _changed(case, lambda x: _negated(x)))
    yield Guess("sign", "signs are lost: magnitudes", _changed(case, lambda x: np.where(x < 0, _negated(x), x)))
    yield Guess("sign", "negative results are 0, as after ReLU", zeroed(lambda x: x < 0))
    if _is_whole(case.kind):
        return
    info: Any = ml_dtypes.finfo(case.kind.numpy)  # type: ignore[no-untyped-call]
    top, small = float(info.max), float(info.smallest_normal)

    def limited(x: NDArray[Any]) -> NDArray[Any]:
        return np.where(np.isinf(x), np.copysign(top, x.astype(np.float64)), x.astype(np.float64)).astype(x.dtype)

    def unlimited(x: NDArray[Any]) -> NDArray[Any]:
        wide = x.astype(np.float64)
        return np.where(np.abs(wide) == top, np.copysign(np.inf, wide), wide).astype(x.dtype)

    yield Guess("saturate instead of infinity", f"infinities are {top:g}", _changed(case, limited))
    yield Guess(
        "saturate instead of infinity", f"infinities are {top:g}, and NaNs 0",
        _changed(case, lambda x: np.where(np.isnan(x), x.dtype.type(0), limited(x))),
    )  # fmt: skip
    yield Guess("infinity instead of saturate", f"results of {top:g} are infinite", _changed(case, unlimited))
    yield Guess("zeros without sign", "-0 has become 0", zeroed(lambda x: x == 0))
    yield Guess("subnormals flushed", "numbers too small for an exponent of their own are 0",
                zeroed(lambda x: np.abs(x.astype(np.float64)) < small))  # fmt: skip


def _reread(values: NDArray[Any], kind: DataType) -> NDArray[Any]:
    """Convert to another type of the same size, and read the bits as the first one."""
    return _saturated(values, kind).view(values.dtype)


def _negated(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind in "iu":
        return (0 - values).astype(values.dtype)
    if values.dtype == ml_dtypes.int4:
        return ((8 - values.astype(np.int8)) % 16 - 8).astype(values.dtype)
    return -values


def tail_guesses(case: Case) -> Iterator[Guess]:
    """Guess that the end of the result, or of every row, or all of it, was never written."""
    actual, golden = case.flat
    before = _before(case)
    lengths = [golden.size]
    for length in reversed(case.shape[1:]):
        lengths.append(length if len(lengths) == 1 else length * lengths[-1])
    c0 = case.kind.c0
    if golden.size > c0 and golden.size % c0 == 0:
        lengths.append(c0)
    for length in dict.fromkeys(lengths):
        if 1 < length <= _LONGEST_RUN or length == golden.size:
            yield from _row_tails(case, actual, golden, length, before)
    yield from _part_guess(case, before)


def _before(case: Case) -> NDArray[Any] | None:
    """Return what the result held before the call, if the call says it."""
    call = case.call
    if call is None or isinstance(call, Launch):
        return None
    out = call.arguments.get("out")
    if isinstance(out, np.ndarray) and out.shape == case.shape and out.dtype == case.golden.dtype:
        return np.ascontiguousarray(out).reshape(-1)
    return None


def _part_guess(case: Case, before: NDArray[Any] | None) -> Iterator[Guess]:
    """Guess that one stretch in the middle was never written."""
    actual, golden = case.flat
    places = np.flatnonzero(case.found.counts)
    here = slice(int(places[-1]) * PIECE, (int(places[-1]) + 1) * PIECE)
    start, last = case.first, here.start + int(np.flatnonzero(case.criteria.bad(actual[here], golden[here]))[-1])
    if last == golden.size - 1:
        return  # a tail
    words = f"elements {start:,} to {last:,} are"
    for name, values in _fills(actual[last : last + 1], before):

        def make(flat: Flat, values: Callable[[Flat], NDArray[Any]] = values) -> Made:
            return np.where((flat >= start) & (flat <= last), values(flat), golden[flat]), None

        yield Guess("part unwritten", f"{words} {name}", make, evidence=_TAIL_EVIDENCE, vague=True)


def _fills(fill: NDArray[Any], before: NDArray[Any] | None) -> Iterator[tuple[str, Callable[[Flat], NDArray[Any]]]]:
    """Yield what may stand where nothing was written: what was there before, 0, or one number everywhere."""
    if before is not None:
        yield "what out held before", lambda flat: before[flat]
    zero = np.zeros(1, fill.dtype)
    yield "0", lambda flat: zero.repeat(flat.size)
    if fill.tobytes() != zero.tobytes():
        yield str(fill[0]), lambda flat: fill.repeat(flat.size)


def _is_all(case: Case, values: NDArray[Any], fill: NDArray[Any]) -> bool:
    return not any(
        case.criteria.bad(values[here], fill.repeat(values[here].size)).any() for here in pieces(values.size)
    )


def _row_tails(
    case: Case, actual: NDArray[Any], golden: NDArray[Any], length: int, before: NDArray[Any] | None
) -> Iterator[Guess]:
    """Guess that rows of this length were written up to where the first mismatch stands in any of them."""
    rows = golden.size // length
    if rows == 1:
        start = case.first
    else:
        start = length
        step = max(1, (1 << 16) // length)
        for row in range(0, rows, step):
            here = slice(row * length, min(rows, row + step) * length)
            bad = case.criteria.bad(actual[here], golden[here]).reshape(-1, length).any(axis=0)
            start = min(start, int(bad.argmax()) if bad.any() else length)
            if start == 0:
                return
    fill = actual[(rows - 1) * length + start : rows * length][-1:]
    if not fill.size:
        return
    if rows == 1 and start and _is_all(case, actual[:start], fill):
        start = 0  # golden elements that happen to be the same were not written either
    every = "" if rows == 1 else f" of every {length} elements"
    tail = length - start
    if rows == 1:
        words = "nothing is written" if start == 0 else f"from element {start:,} on everything"
        size = case.kind.nbytes(tail)
        where = "" if start == 0 else f" ({size:,} bytes, DataBlocks of 32: {size / DATA_BLOCK_BYTES:g})"
    else:
        words, where = f"the last {tail}{every}", ""
    for name, values in _fills(fill, before):
        text = f"{words}: everything is {name}" if start == 0 and rows == 1 else f"{words} is {name}"
        if name == "0" and rows == 1 and start:
            text = f"{words} is 0"

        def make(flat: Flat, values: Callable[[Flat], NDArray[Any]] = values) -> Made:
            return np.where(flat % length >= start, values(flat), golden[flat]), None

        yield Guess("tail unwritten", text + where, make, evidence=_TAIL_EVIDENCE, vague=rows > 1)
