"""The movements of the C API as plans: which unit of the source goes where, worked out before anything moves.

A plan is pure integers and depends on parameters only, so it is cached; running it moves the data, looking it up
backwards answers where a byte came from, adding it up gives the traffic.

>>> plan = nd2nz(itemsize=2, matrices=1, n_stride=1, c0_stride=3, matrix_stride=0, row_bytes=40, rows=3, columns=20,
...              matrix_bytes=0, offset=0)
>>> plan.unit, plan.written, plan.read
(8, 192, 120)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.caches import BoundedCache
from ascendlab.dtypes import DATA_BLOCK_BYTES
from ascendlab.errors import BufferOverflowError

__all__ = ["FRACTAL_BYTES", "Cover", "Move", "cached", "fractals", "fractals_transposed", "nd2nz", "nz_matrix"]

FRACTAL_BYTES = 512
_ROWS = 16
# A plan of one movement between the buffers of one core; more units than this do not fit into any of them.
_MOST_UNITS = 1 << 22

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cover:
    """A set of units, each once: what a movement reads, or writes.

    Parameters
    ----------
    unit : int
        Bytes of a unit.
    low, high : int
        First unit, and the one behind the last, counted from a pointer.
    units : ndarray of intp or None
        The units in order, if they are not just ``low .. high - 1``.
    """

    unit: int
    low: int
    high: int
    units: Index | None

    @classmethod
    def of(cls, units: Index, unit: int) -> Cover:
        """Return the set of `units`."""
        if not units.size:
            return cls(unit, 0, 0, None)
        low, high = int(units.min()), int(units.max()) + 1
        if units.size >= high - low:
            seen = np.zeros(high - low, bool)
            seen[units - low] = True
            return cls(unit, low, high, None if seen.all() else np.flatnonzero(seen) + low)
        return cls(unit, low, high, np.unique(units))

    @property
    def count(self) -> int:
        """Number of units."""
        return self.high - self.low if self.units is None else len(self.units)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.count * self.unit

    def of_bytes(self, array: NDArray[Any], offset: int) -> NDArray[Any]:
        """Return the part of a per-byte array that this covers, if the pointer is `offset` bytes into it.

        A view where the units follow each other, else a copy of shape (units, bytes of a unit).
        """
        if self.units is None:
            return array[offset + self.low * self.unit : offset + self.high * self.unit]
        return self.window(array, offset)[self.units - self.low]

    def assign(self, array: NDArray[Any], offset: int, value: Any) -> None:
        """Set the covered part of a per-byte array."""
        if self.units is None:
            array[offset + self.low * self.unit : offset + self.high * self.unit] = value
        else:
            self.window(array, offset)[self.units - self.low] = value

    def window(self, array: NDArray[Any], offset: int) -> NDArray[Any]:
        """Return the units ``low .. high - 1`` of a per-byte array, as rows."""
        return array[offset + self.low * self.unit : offset + self.high * self.unit].reshape(-1, self.unit)

    def contains(self, units: Index) -> NDArray[np.bool_]:
        """Say of each of `units` whether it is covered."""
        inside: NDArray[np.bool_] = (units >= self.low) & (units < self.high)
        if self.units is not None and self.count:
            place = np.minimum(np.searchsorted(self.units, units), self.count - 1)
            inside &= self.units[place] == units
        return inside

    def ranges(self, offset: int = 0) -> NDArray[np.int64]:
        """Return the covered bytes as rows (start, stop), touching ranges joined.

        >>> Cover.of(np.array([0, 1, 5]), 32).ranges()
        array([[  0,  64],
               [160, 192]])
        """
        if not self.count:
            return np.zeros((0, 2), np.int64)
        if self.units is None:
            return np.array([[self.low, self.high]], np.int64) * self.unit + offset
        breaks = np.flatnonzero(np.diff(self.units) > 1) + 1
        start = self.units[np.concatenate(([0], breaks))]
        stop = self.units[np.concatenate((breaks - 1, [self.count - 1]))] + 1
        return np.stack([start, stop], axis=1).astype(np.int64) * self.unit + offset


@dataclass(frozen=True, eq=False)
class Move:
    """A movement: unit ``src[i]`` of the source becomes unit ``dst[i]`` of the destination; ``fill`` gets a constant.

    Parameters
    ----------
    src, dst : ndarray of intp
        Units counted from the two pointers.
    fill : ndarray of intp
        Units of the destination that a constant fills.
    unit : int
        Bytes of a unit of the destination.
    src_unit : int, optional
        Bytes of a unit of the source, where a conversion makes it another size.
    """

    src: Index
    dst: Index
    fill: Index
    unit: int
    src_unit: int = 0

    def __post_init__(self) -> None:
        if not self.src_unit:
            object.__setattr__(self, "src_unit", self.unit)

    @cached_property
    def reads(self) -> Cover:
        """What is read."""
        return Cover.of(self.src, self.src_unit)

    @cached_property
    def writes(self) -> Cover:
        """What is written, the filled part included."""
        return Cover.of(np.concatenate([self.dst, self.fill]) if self.fill.size else self.dst, self.unit)

    @cached_property
    def fills(self) -> Cover:
        """What is filled with the constant."""
        return Cover.of(self.fill, self.unit)

    @property
    def read(self) -> int:
        """Bytes read, each use counted."""
        return self.src.size * self.src_unit

    @property
    def written(self) -> int:
        """Bytes written."""
        return (self.dst.size + self.fill.size) * self.unit

    @property
    def overlaps(self) -> bool:
        """Whether a unit of the destination is written twice."""
        return self.writes.count < self.dst.size + self.fill.size

    @cached_property
    def _dst_run(self) -> slice | None:
        """The destination of the moved units as a slice, where they follow each other in order."""
        dst = self.dst
        return slice(int(dst[0]), int(dst[-1]) + 1) if dst.size and bool((np.diff(dst) == 1).all()) else None

    @cached_property
    def _take(self) -> Index:
        """The source of each moved unit, counted from the first unit that is read."""
        return self.src - self.reads.low

    @cached_property
    def _order(self) -> tuple[Index, Index]:
        order = np.argsort(self.dst, kind="stable")
        return self.dst[order], self.src[order]

    def gather(self, data: NDArray[Any], offset: int) -> NDArray[Any]:
        """Return the moved units of a per-byte array as rows."""
        return self.reads.window(data, offset).take(self._take, axis=0, mode="wrap")

    def scatter(self, data: NDArray[Any], offset: int, units: NDArray[Any]) -> None:
        """Write the moved units into a per-byte array."""
        if not self.dst.size:
            return
        window = self.writes.window(data, offset)
        low = self.writes.low
        run = self._dst_run
        if run is not None:
            window[run.start - low : run.stop - low] = units
        else:
            window[self.dst - low] = units

    def source_of(self, units: Index) -> Index:
        """Return the source unit of each destination unit; a filled one gives the smallest integer."""
        dst, src = self._order
        if not dst.size:
            return np.full(units.shape, np.iinfo(np.intp).min)
        place = np.minimum(np.searchsorted(dst, units), dst.size - 1)
        return np.where(dst[place] == units, src[place], np.iinfo(np.intp).min)


_CACHE_BYTES = 64 * 1024**2
_moves: BoundedCache[Move] = BoundedCache(_CACHE_BYTES)


def cached(build: Callable[..., Move], **parameters: Any) -> Move:
    """Return ``build(**parameters)``, kept for the next time; the parameters are checked and hashable."""
    key = (build, *parameters.values())
    move = _moves.get(key)
    if move is None:
        move = build(**parameters)
        # Taking and looking up backwards keep arrays of the same size again.
        _moves.put(key, move, 3 * (move.src.nbytes + move.dst.nbytes) + 2 * move.fill.nbytes)
    return move


def _grid(*axes: tuple[int, int]) -> Index:
    """Return the sums of one multiple each: ``_grid((n, step), ...)`` walks nested loops, the last one fastest."""
    total = 1
    for count, _ in axes:
        total *= count
    if total > _MOST_UNITS:
        raise BufferOverflowError("the movement", total, _MOST_UNITS, hint="No buffer of the machine is as large")
    places = np.zeros((), np.intp)
    for count, step in axes:
        places = places[..., None] + np.arange(count, dtype=np.intp) * step
    return places.reshape(-1)


def _largest_unit(*numbers: int) -> int:
    """Return the largest power of two, at most a DataBlock, that divides all numbers."""
    unit = DATA_BLOCK_BYTES
    while any(number % unit for number in numbers):
        unit //= 2
    return unit


def nd2nz(
    *,
    itemsize: int,
    matrices: int,
    n_stride: int,
    c0_stride: int,
    matrix_stride: int,
    row_bytes: int,
    rows: int,
    columns: int,
    matrix_bytes: int,
    offset: int,
) -> Move:
    """Plan ND2NZ: row-major matrices become columns of 32-byte blocks, the last one filled up with zeros.

    Parameters
    ----------
    itemsize : int
        Bytes of an element.
    matrices, n_stride, c0_stride, matrix_stride : int
        Fields of `Gm2l1NzPara`; the strides in DataBlocks.
    row_bytes, matrix_bytes : int
        From row to row and matrix to matrix in the source, bytes.
    rows, columns : int
        Size of a matrix.
    offset : int
        Byte address of the source: what it divides by limits the unit.
    """
    width = columns * itemsize
    block = DATA_BLOCK_BYTES
    columns_c0, tail = -(-width // block), width % block
    unit = _largest_unit(tail, offset, row_bytes if rows > 1 else 0, matrix_bytes if matrices > 1 else 0)
    per = block // unit
    whole = width // block
    outer = ((matrices, matrix_stride * per), (rows, n_stride * per))
    src = [_grid((matrices, matrix_bytes // unit), (rows, row_bytes // unit), (whole, per), (per, 1))]
    dst = [_grid(*outer, (whole, c0_stride * per), (per, 1))]
    fill = np.zeros(0, np.intp)
    if tail:
        used = tail // unit
        last = whole * c0_stride * per
        src.append(_grid((matrices, matrix_bytes // unit), (rows, row_bytes // unit), (used, 1)) + whole * per)
        dst.append(_grid(*outer, (used, 1)) + last)
        fill = _grid(*outer, (per - used, 1)) + last + used
    assert columns_c0 == whole + bool(tail)
    return Move(np.concatenate(src), np.concatenate(dst), fill, unit)


def fractals(*, m_start: int, k_start: int, m_step: int, k_step: int, src_stride: int, dst_stride: int) -> Move:
    """Plan a 2D load: whole fractals, in DataBlocks.

    Parameters
    ----------
    m_start, k_start, m_step, k_step : int
        First fractal and number of fractals, along rows and columns of the source.
    src_stride, dst_stride : int
        Fractals from one column of fractals to the next.
    """
    first = k_start * abs(src_stride) + m_start
    per = FRACTAL_BYTES // DATA_BLOCK_BYTES
    src = _grid((k_step, src_stride * per), (m_step * per, 1)) + first * per
    dst = _grid((k_step, dst_stride * per), (m_step * per, 1))
    return Move(src, dst, np.zeros(0, np.intp), DATA_BLOCK_BYTES)


def fractals_transposed(
    *, itemsize: int, m_start: int, k_start: int, m_step: int, k_step: int, src_stride: int, dst_stride: int
) -> Move:
    """Plan a 2D load that transposes: the result holds the transposed matrix in the same NZ form.

    Squares of ``max(16, C0)`` elements are transposed: one 16 x 16 fractal of 16-bit data, two 16 x 32 fractals of
    8-bit data below each other, two 16 x 8 fractals of 32-bit data beside each other.
    """
    c0 = DATA_BLOCK_BYTES // itemsize
    per = _ROWS * c0
    rows, columns = m_step * _ROWS, k_step * c0
    first = (k_start * abs(src_stride) + m_start) * per
    # Element (row, column) of the source; the destination's rows are the source's columns.
    src = (
        _grid((rows, c0)).reshape(rows, 1)
        + _grid((k_step, src_stride * per), (c0, 1)).reshape(1, columns)
        + first
    )  # fmt: skip
    dst = (
        _grid((columns, c0)).reshape(1, columns)
        + _grid((rows // c0, dst_stride * per), (c0, 1)).reshape(rows, 1)
    )  # fmt: skip
    order = np.argsort(dst, axis=None, kind="stable")
    return Move(src.reshape(-1)[order], dst.reshape(-1)[order], np.zeros(0, np.intp), itemsize)


def nz_matrix(
    *,
    matrices: int,
    rows: int,
    columns: int,
    src_stride: int,
    src_matrix: int,
    dst: tuple[int, int, int],
    itemsize: int,
) -> Move:
    """Plan the way out of L0C: 16-column fractals become a row-major matrix, or fractals again.

    Parameters
    ----------
    matrices, rows, columns : int
        What is moved.
    src_stride, src_matrix : int
        From 16 columns to the next 16, and from matrix to matrix, in rows of 16 elements.
    dst : (int, int, int)
        Elements from matrix to matrix, from row to row, and from 16 columns to the next 16.
    itemsize : int
        Bytes of an element of the destination; in L0C it has 4.
    """
    column = np.arange(columns, dtype=np.intp)
    if matrices * rows * columns > _MOST_UNITS:
        raise BufferOverflowError("the movement", matrices * rows * columns, _MOST_UNITS, hint="L0C holds less")
    outer = np.arange(matrices, dtype=np.intp).reshape(-1, 1, 1)
    row = np.arange(rows, dtype=np.intp).reshape(1, -1, 1)
    src = outer * (src_matrix * _ROWS) + row * _ROWS + (column // _ROWS * (src_stride * _ROWS) + column % _ROWS)
    to = outer * dst[0] + row * dst[1] + (column // _ROWS * dst[2] + column % _ROWS)
    return Move(src.reshape(-1), to.reshape(-1), np.zeros(0, np.intp), itemsize, 4)
