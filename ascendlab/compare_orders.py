"""Guesses at a wrong order: the right elements in the wrong places.

Each is a map from the place where an element was written to the place where it belongs, worked out for the places
that are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from ascendlab.compare_cases import Case, Flat, Guess, looked_up
from ascendlab.dtypes import DATA_BLOCK_BYTES
from ascendlab.layouts import FRACTAL_ROWS, LAYOUTS, fractal_index, matrix_index

__all__ = [
    "channel_guesses",
    "fractal_guesses",
    "layout_guesses",
    "pair_guesses",
    "pitch_guesses",
    "shift_guesses",
]

Source = Callable[[Flat], Flat]
# Two rows that are one element too far apart are one row that is shifted.
_FEWEST_ROWS = 3
# Pixels that the rows of a picture are often rounded up to.
_ALIGNMENT = 16
_CHANNELS = {
    (2, 1, 0): ("RGB/BGR", "channels 0 and 2 have changed places"),
    (0, 2, 1): ("U/V swapped", "channels 1 and 2 have changed places"),
    (1, 0, 2): ("channel order", "channels 0 and 1 have changed places"),
    (1, 2, 0): ("channel order", "channels 1, 2, 0 stand where 0, 1, 2 belong"),
    (2, 0, 1): ("channel order", "channels 2, 0, 1 stand where 0, 1, 2 belong"),
    (1, 2, 3, 0): ("channel order", "channel 0 has come last (RGBX for XRGB)"),
    (3, 0, 1, 2): ("channel order", "channel 3 has come first (XRGB for RGBX)"),
    (3, 2, 1, 0): ("channel order", "channels 0 to 3 stand in reverse"),
}


def permuted(shape: tuple[int, ...], axes: tuple[int, ...], *, back: bool = False) -> Source:
    """Return where the elements come from when an array of this shape is written with its axes in another order.

    With `back` the array was read as if its axes had been written in that order.

    >>> permuted((2, 3), (1, 0))(np.arange(6))
    array([0, 3, 1, 4, 2, 5])
    """
    other = tuple(shape[axis] for axis in axes)
    size = math.prod(shape)

    def source(flat: Flat) -> Flat:
        batch, inner = np.divmod(flat, size)
        if not back:
            index = np.unravel_index(inner, other)
            own = [index[axes.index(axis)] for axis in range(len(shape))]
            found = np.ravel_multi_index(own, shape)
        else:
            index = np.unravel_index(inner, shape)
            found = np.ravel_multi_index([index[axis] for axis in axes], other)
        return np.asarray(batch * size + found, np.intp)

    return source


def _guess(case: Case, cause: str, words: str, source: Source) -> Guess:
    return Guess(cause, words, looked_up(case.flat[1], source))


def fractal_guesses(case: Case) -> Iterator[Guess]:
    """Fractals that are right as a whole, and transposed inside."""
    c0 = case.kind.c0
    if case.shape[-2:] != (FRACTAL_ROWS, c0) or len(case.shape) < 3:
        return
    cause = "transposed fractal"
    words = f"each fractal of {FRACTAL_ROWS} x {c0} is written column by column"
    yield _guess(case, cause, words, permuted((FRACTAL_ROWS, c0), (1, 0)))
    if c0 != FRACTAL_ROWS:
        yield _guess(
            case, cause, f"each fractal of {FRACTAL_ROWS} x {c0} is read column by column",
            permuted((FRACTAL_ROWS, c0), (1, 0), back=True),
        )  # fmt: skip
    if c0 > FRACTAL_ROWS:
        words = f"in each fractal every square of {FRACTAL_ROWS} x {FRACTAL_ROWS} is transposed"
        yield _guess(case, cause, words, permuted((FRACTAL_ROWS, c0 // FRACTAL_ROWS, FRACTAL_ROWS), (2, 1, 0)))


def layout_guesses(case: Case) -> Iterator[Guess]:
    """Matrices and pictures in one layout that were taken for another."""
    shape, c0 = case.shape, case.kind.c0
    if len(shape) >= 4 and shape[-2:] == (FRACTAL_ROWS, c0) and case.layout in (*LAYOUTS, "fractals"):
        # Where nobody says the layout, the same exchange of axes is a mistake in either direction: both are told.
        for own in (case.layout,) if case.layout in LAYOUTS else ("ZZ", "NZ"):
            yield from _matrix_guesses(case, own, _matrix_shape(own, shape[-4:], c0))
    elif case.layout == "ND" and len(shape) == 2:
        yield from _matrix_guesses(case, "ND", (shape[0], shape[1]))
    elif case.layout in ("HW", "HWC", "NHWC"):
        yield from _picture_guesses(case, shape[1:] if case.layout == "NHWC" else shape)
    elif case.layout == "NC1HWC0":
        c1, h, w, _ = shape[-4:]
        words = "HWC order where NC1HWC0 belongs"
        yield _guess(case, "layout HWC/NC1HWC0", words, permuted((c1, h, w, c0), (1, 2, 0, 3)))
        words = "NC1HWC0 read as HWC"
        yield _guess(case, "layout HWC/NC1HWC0", words, permuted((c1, h, w, c0), (1, 2, 0, 3), back=True))


def _matrix_shape(layout: str, counts: tuple[int, ...], c0: int) -> tuple[int, int]:
    first, second = counts[0], counts[1]
    if layout == "NZ":
        first, second = second, first
    high, wide = (c0, FRACTAL_ROWS) if layout == "ZN" else (FRACTAL_ROWS, c0)
    return first * high, second * wide


class _Order:
    """One way to lay out a matrix: places to matrix elements and back."""

    def __init__(self, layout: str, rows: int, columns: int, c0: int) -> None:
        self.layout, self.c0 = layout, c0
        high, wide = (1, 1) if layout in ("ND", "DN") else (c0, FRACTAL_ROWS) if layout == "ZN" else (FRACTAL_ROWS, c0)
        self.rows, self.columns = -(-rows // high) * high, -(-columns // wide) * wide
        down, across = self.rows // high, self.columns // wide
        self.fractals = (across, down) if layout == "NZ" else (down, across)
        self.size = self.rows * self.columns

    def element(self, flat: Flat) -> tuple[Any, Any]:
        """Return row and column of what stands at these places."""
        if self.layout == "ND":
            return np.divmod(flat, self.columns)
        if self.layout == "DN":
            return np.divmod(flat, self.rows)[::-1]
        first, second, third, fourth = np.unravel_index(flat, (*self.fractals, FRACTAL_ROWS, self.c0))
        return matrix_index(self.layout, (first, second, third, fourth), self.c0)

    def place(self, row: Any, column: Any) -> Flat:
        """Return where these elements stand."""
        if self.layout == "ND":
            return np.asarray(row * self.columns + column, np.intp)
        if self.layout == "DN":
            return np.asarray(column * self.rows + row, np.intp)
        index = fractal_index(self.layout, row, column, self.c0)
        return np.asarray(np.ravel_multi_index(index, (*self.fractals, FRACTAL_ROWS, self.c0)), np.intp)


def _matrix_guesses(case: Case, own: str, matrix: tuple[int, int]) -> Iterator[Guess]:
    """Every pair of layouts: the matrix was written in the one and taken for the other."""
    c0 = case.kind.c0
    orders = {name: _Order(name, *matrix, c0) for name in ("ND", "DN", *LAYOUTS)}
    for written, taken in permutations(orders, 2):
        one, other = orders[written], orders[taken]
        if (one.rows, one.columns) != (other.rows, other.columns):
            continue
        if own not in (written, taken) and "DN" in (written, taken):
            continue
        if c0 == FRACTAL_ROWS and own != "ND" and {written, taken} == {"ZZ", "ZN"}:
            continue  # the same as transposed fractals
        if own == taken:
            words = f"the matrix is in {written} where {own} belongs"
        elif own == written:
            words = f"the matrix, which is in {own}, was read as {taken}"
        else:
            words = f"the matrix was read as {taken} where it was in {written}"
        words = words.replace("DN", "DN (column by column)")
        name = f"{written} read as {taken}"
        make = looked_up(case.flat[1], _misread(orders[own], one, other, matrix))
        yield Guess(name, words, make, vague=own not in (written, taken))


def _misread(own: _Order, written: _Order, taken: _Order, matrix: tuple[int, int]) -> Source:
    def source(flat: Flat) -> Flat:
        batch, inner = np.divmod(flat, own.size)
        row, column = written.element(taken.place(*own.element(inner)))
        found = own.place(np.minimum(row, own.rows - 1), np.minimum(column, own.columns - 1)) + batch * own.size
        outside = (row >= matrix[0]) | (column >= matrix[1])
        return np.where(outside, -2, found)

    return source


def _picture_guesses(case: Case, shape: tuple[int, ...]) -> Iterator[Guess]:
    """Axes of a picture in another order."""
    words = "rows and columns of the picture have changed places"
    axes = (1, 0, 2)[: len(shape)]
    yield _guess(case, "picture transposed", words, permuted(shape, axes))
    yield _guess(case, "picture transposed", words, permuted(shape, axes, back=True))
    if len(shape) < 3:
        return
    h, w, c = shape
    yield _guess(case, "layout CHW/HWC", "CHW order where HWC belongs", permuted(shape, (2, 0, 1)))
    yield _guess(case, "layout CHW/HWC", "HWC read as CHW", permuted(shape, (2, 0, 1), back=True))
    c0 = case.kind.c0
    if c % c0 == 0 and c > c0:
        split, axes4 = (h, w, c // c0, c0), (2, 0, 1, 3)
        yield _guess(case, "layout HWC/NC1HWC0", "NC1HWC0 where HWC belongs", permuted(split, axes4))
        yield _guess(case, "layout HWC/NC1HWC0", "HWC read as NC1HWC0", permuted(split, axes4, back=True))


def channel_guesses(case: Case) -> Iterator[Guess]:
    """Channels that have changed places."""
    if case.layout not in ("HWC", "NHWC", "NC1HWC0") or not case.shape[-1]:
        return
    depth = case.shape[-1]
    size = math.prod(case.shape[-4:]) if case.layout == "NC1HWC0" else case.golden.size
    group = math.prod(case.shape[-3:]) if case.layout == "NC1HWC0" else size

    def swapped(order: tuple[int, ...]) -> Source:
        step = np.arange(depth)
        step[: len(order)] = order
        step -= np.arange(depth)

        def source(flat: Flat) -> Flat:
            moved = flat + step[flat % depth]
            return np.where(flat % size < group, moved, flat) if group != size else moved

        return source

    for order, (cause, words) in _CHANNELS.items():
        if len(order) <= depth:
            yield _guess(case, cause, words, swapped(order))


def shift_guesses(case: Case) -> Iterator[Guess]:
    """Everything moved by an element, a DataBlock, a row, a fractal, or along an axis."""
    shape, c0 = case.shape, case.kind.c0
    size = case.golden.size
    steps: dict[int, str] = {1: "element", c0: "DataBlock"}
    row = 1
    for number, length in enumerate(reversed(shape[1:])):
        row *= length
        steps.setdefault(row, "row" if number == 0 else "fractal" if row == FRACTAL_ROWS * c0 else
                         f"block of {' x '.join(map(str, shape[len(shape) - 1 - number :]))}")  # fmt: skip
    for step, unit in steps.items():
        for sign, where in ((1, "late"), (-1, "early")):
            if 2 * step <= size:
                words = f"everything stands one {unit} ({step} elements) too {where}"
                words = words.replace(" (1 elements)", "")
                yield _guess(case, "shifted", words, _shifted((size,), 0, sign * step))
    for axis in range(1, len(shape)):
        for sign, where in ((1, "late"), (-1, "early")):
            if shape[axis] > 1:
                words = f"along axis {axis} everything stands one place too {where}"
                yield _guess(case, "shifted", words, _shifted(shape, axis, sign))


def _shifted(shape: tuple[int, ...], axis: int, step: int) -> Source:
    inner = math.prod(shape[axis + 1 :])

    def source(flat: Flat) -> Flat:
        place = flat // inner % shape[axis] - step
        return np.where((place >= 0) & (place < shape[axis]), flat - step * inner, -1)

    return source


def pitch_guesses(case: Case) -> Iterator[Guess]:
    """Rows that lie farther apart, or closer together, than they should: pictures shear."""
    shape, c0, size = case.shape, case.kind.c0, case.golden.size
    for axis in range(1, len(shape)):
        row, unit = math.prod(shape[axis:]), math.prod(shape[axis + 1 :])
        if not row or size // row < _FEWEST_ROWS:
            continue
        near = (row - unit, row + unit, row - 1, row + 1, row - c0, row + c0)
        aligned = (-(-row // c0) * c0, -(-row // (_ALIGNMENT * unit)) * _ALIGNMENT * unit)
        for pitch in dict.fromkeys((*near, *aligned)):
            if 1 < pitch < 2 * row and pitch != row:
                words = f"{pitch} elements apart instead of {row}" + (
                    f" (a multiple of {DATA_BLOCK_BYTES} bytes)" if pitch == aligned[0] else ""
                )
                yield _guess(case, "one stride off", f"rows of axis {axis} are written {words}",
                             partial(_written, rows=size // row, row=row, pitch=pitch))  # fmt: skip
                yield _guess(case, "one stride off", f"rows of axis {axis} are read {words}",
                             partial(_read, size=size, row=row, pitch=pitch))  # fmt: skip


def _written(flat: Flat, rows: int, row: int, pitch: int) -> Flat:
    number = np.minimum(flat // pitch, rows - 1)  # of the row that was written last, where rows overlap
    place = flat - number * pitch
    return np.where(place < row, number * row + place, -1)


def _read(flat: Flat, size: int, row: int, pitch: int) -> Flat:
    found = flat // row * pitch + flat % row
    return np.where(found < size, found, -1)


def pair_guesses(case: Case) -> Iterator[Guess]:
    """Neighbours that have changed places: the order of bytes, or of smaller elements, in a word."""
    size = case.golden.size
    for width in (2, 4):
        if size % width == 0:
            yield _guess(
                case, "word order", f"in every {width} elements the order is reversed", partial(_reversed, width=width)
            )  # fmt: skip


def _reversed(flat: Flat, width: int) -> Flat:
    return flat // width * width + (width - 1 - flat % width)
