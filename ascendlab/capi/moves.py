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

__all__ = [
    "FRACTAL_BYTES",
    "Cover",
    "Move",
    "cached",
    "fractals",
    "fractals_transposed",
    "is_cached",
    "nd2nz",
    "nz_matrix",
]

FRACTAL_BYTES = 512
_ROWS = 16
# A plan of one movement between the buffers of one core; more units than this do not fit into any of them.
_MOST_UNITS = 1 << 22

Index = NDArray[np.intp]


class Cover:
    """A set of units, each once: what a movement reads, or writes.

    Parameters
    ----------
    unit : int
        Bytes of a unit.
    low, high : int
        First unit, and the one behind the last, counted from a pointer.
    units : ndarray of intp, optional
        The units in order, if they are not just ``low .. high - 1``.

    Attributes
    ----------
    count, nbytes : int
        Number of units and of bytes.
    first, extent : int
        First byte, counted from the pointer, and bytes from there to the end of the last unit.
    """

    __slots__ = ("count", "extent", "first", "high", "local", "low", "nbytes", "unit", "units")

    def __init__(self, unit: int, low: int, high: int, units: Index | None = None) -> None:
        self.unit, self.low, self.high, self.units = unit, low, high, units
        self.local = None if units is None else units - low
        self.count = high - low if units is None else len(units)
        self.nbytes = self.count * unit
        self.first, self.extent = low * unit, (high - low) * unit

    @classmethod
    def of(cls, units: Index, unit: int) -> Cover:
        """Return the set of `units`."""
        if not units.size:
            return cls(unit, 0, 0)
        low, high = int(units.min()), int(units.max()) + 1
        if units.size >= high - low:
            seen = np.zeros(high - low, bool)
            seen[units - low] = True
            return cls(unit, low, high, None if seen.all() else np.flatnonzero(seen) + low)
        return cls(unit, low, high, np.unique(units))

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

    @classmethod
    def ordered(cls, src: Index, dst: Index, fill: Index, unit: int) -> Move:
        """Return the movement with its destination in order, so that most of it is written in one go."""
        order = np.argsort(dst, kind="stable")
        return cls(src[order], dst[order], fill, unit)

    @cached_property
    def reads(self) -> Cover:
        """What is read."""
        return Cover.of(self.src, self.src_unit)

    @cached_property
    def writes(self) -> Cover:
        """What is written, the filled part included."""
        return Cover.of(np.concatenate([self.dst, self.fill]) if self.fill.size else self.dst, self.unit)

    @property
    def read(self) -> int:
        """Bytes read, each use counted."""
        return self.src.size * self.src_unit

    @property
    def written(self) -> int:
        """Bytes written."""
        return (self.dst.size + self.fill.size) * self.unit

    @cached_property
    def overlaps(self) -> bool:
        """Whether a unit of the destination is written twice."""
        return self.writes.count < self.dst.size + self.fill.size

    @cached_property
    def _take(self) -> Index:
        """The source of each moved unit, counted from the first unit that is read."""
        return self.src - self.reads.low

    @cached_property
    def _put(self) -> slice | Index:
        """Where each moved unit goes, counted from the first unit that is written; a slice if in one go."""
        place = self.dst - self.writes.low
        in_order = place.size and bool((np.diff(place) == 1).all())
        return slice(int(place[0]), int(place[-1]) + 1) if in_order else place

    @cached_property
    def _straight(self) -> bool:
        """Whether the moved units are all that is written, in order."""
        return isinstance(self._put, slice) and self.writes.extent == self.dst.size * self.unit

    @cached_property
    def _order(self) -> tuple[Index, Index]:
        order = np.argsort(self.dst, kind="stable")
        return self.dst[order], self.src[order]

    def gather(self, part: NDArray[Any]) -> NDArray[Any]:
        """Return the moved units as rows, from the part of a per-byte array from the first to the last one read."""
        return part.reshape(-1, self.src_unit).take(self._take, 0, None, "wrap")

    def scatter(self, part: NDArray[Any], units: NDArray[Any]) -> None:
        """Write the moved units into the part of a per-byte array from the first to the last one written."""
        part.reshape(-1, self.unit)[self._put] = units

    def run(
        self,
        source: NDArray[np.uint8],
        target: NDArray[np.uint8],
        fill: Any,
        convert: Callable[[NDArray[Any]], NDArray[Any]] | None,
    ) -> None:
        """Move data.

        Parameters
        ----------
        source, target : ndarray of uint8
            The memories from the first to the last unit that is read and written.
        fill : numpy scalar or None
            The constant.
        convert : callable or None
            Maps the moved units, as rows of bytes, to the destination's.
        """
        if self._straight and convert is None:
            # The plan has been checked, so the mode decides nothing but speed.
            source.reshape(-1, self.src_unit).take(self._take, 0, target.reshape(-1, self.unit), "wrap")
            return
        if self.dst.size:
            units = self.gather(source)
            self.scatter(target, units if convert is None else convert(units))
        if self.fill.size:
            constant = np.frombuffer(np.asarray(fill).tobytes() * (self.unit // np.asarray(fill).nbytes), np.uint8)
            target.reshape(-1, self.unit)[self.fill - self.writes.low] = constant

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


def is_cached(build: Callable[..., Move], *values: Any) -> Move | None:
    """Return the movement that `cached` has kept for these values, in the order of the parameters, or None."""
    return _moves.get((build, *values))


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
    return Move.ordered(np.concatenate(src), np.concatenate(dst), fill, unit)


def fractals(
    *,
    itemsize: int,
    m_start_position: int,
    k_start_position: int,
    m_step: int,
    k_step: int,
    src_stride: int,
    dst_stride: int,
) -> Move:
    """Plan a 2D load: whole fractals, in DataBlocks.

    Parameters
    ----------
    itemsize : int
        Bytes of an element; makes no difference here.
    m_start_position, k_start_position, m_step, k_step : int
        First fractal and number of fractals, along rows and columns of the source.
    src_stride, dst_stride : int
        Fractals from one column of fractals to the next.
    """
    first = k_start_position * abs(src_stride) + m_start_position
    per = FRACTAL_BYTES // DATA_BLOCK_BYTES
    src = _grid((k_step, src_stride * per), (m_step * per, 1)) + first * per
    dst = _grid((k_step, dst_stride * per), (m_step * per, 1))
    return Move(src, dst, np.zeros(0, np.intp), DATA_BLOCK_BYTES)


def fractals_transposed(
    *,
    itemsize: int,
    m_start_position: int,
    k_start_position: int,
    m_step: int,
    k_step: int,
    src_stride: int,
    dst_stride: int,
) -> Move:
    """Plan a 2D load that transposes: the result holds the transposed matrix in the same NZ form.

    Squares of ``max(16, C0)`` elements are transposed: one 16 x 16 fractal of 16-bit data, two 16 x 32 fractals of
    8-bit data below each other, two 16 x 8 fractals of 32-bit data beside each other.  Parameters as for `fractals`.
    """
    c0 = DATA_BLOCK_BYTES // itemsize
    per = _ROWS * c0
    rows, columns = m_step * _ROWS, k_step * c0
    first = (k_start_position * abs(src_stride) + m_start_position) * per
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
    return Move.ordered(src.reshape(-1), dst.reshape(-1), np.zeros(0, np.intp), itemsize)


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
