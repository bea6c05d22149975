"""Build plans: which windows, which filter points, and where the result's fractals lie.

The functions here are pure, undecorated and slow only compared with running a plan; the calls keep plans in a
bounded cache.

>>> geometry = Geometry(height=3, width=3, channels=16, c0=16, window_h=2, window_w=2)
>>> block = Block(rows=4, columns=64)
>>> shape_of_block(16, block, "ZZ"), shape_of_block(16, block, "NZ"), shape_of_block(16, block, "ZZ", transposed=True)
((1, 4, 16, 16), (4, 1, 16, 16), (4, 1, 16, 16))
>>> block_plan(geometry, block, "NZ").index[0, 0, :, 0, :4, 0]
array([[0, 1, 3, 4],
       [1, 2, 4, 5],
       [3, 4, 6, 7],
       [4, 5, 7, 8]])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.layouts import FRACTAL_ROWS
from ascendlab.load3d_geometry import Geometry
from ascendlab.load3d_plan import Axis, Load3dPlan

__all__ = ["Block", "block_plan", "fractal_plan", "matrix_plan", "shape_of_block", "shape_of_fractals"]

_ONCE = {"repeat_m": 1, "repeat_k": 1}
# Plans are numbered in pieces of at most about this many units.
_PIECE_NUMBERS = 1 << 18


@dataclass(frozen=True, kw_only=True)
class Block:
    """The part of the matrix that a call loads, and its repeats.

    Parameters
    ----------
    rows, columns : int
        Size of one repeat's block.
    row_starts, column_starts : sequence of int
        Where each repeat starts; at most one of the two has more than one element.
    joined : bool
        The repeats make one matrix instead of a leading axis.
    """

    rows: int
    columns: int
    row_starts: Sequence[int] = (0,)
    column_starts: Sequence[int] = (0,)
    joined: bool = False

    @property
    def repeats(self) -> int:
        """How many repeats there are."""
        return len(self.row_starts) * len(self.column_starts)


def _ceil(value: int, step: int) -> int:
    return -(-value // step)


def _fractals(c0: int, block: Block, transposed: bool) -> tuple[int, int]:
    """Count the fractals of one result along M and along K, which a transposed one cuts the other way round.

    A transposing load works on squares of fractals, so both axes are filled up to a multiple of 16 and of C0.
    """
    m1, k1 = _ceil(block.rows, FRACTAL_ROWS), _ceil(block.columns, c0)
    if not transposed:
        return m1, k1
    if block.joined:
        m1, k1 = m1 * len(block.row_starts), k1 * len(block.column_starts)
    square = max(FRACTAL_ROWS, c0)
    return (
        _ceil(m1 * FRACTAL_ROWS, square) * square // c0,
        _ceil(k1 * c0, square) * square // FRACTAL_ROWS,
    )


def shape_of_block(
    c0: int, block: Block, layout: str, *, transposed: bool = False, dst_stride: int = 0
) -> tuple[int, ...]:
    """Return the shape of a block's result.

    Parameters
    ----------
    c0 : int
        Elements in 32 bytes.
    block : Block
        What is loaded.
    layout : {"ZZ", "NZ"}
        How the fractals of the matrix, or of the transposed matrix, follow each other.
    transposed : bool
        Whether the matrix is transposed.
    dst_stride : int
        NZ: fractals from one column of fractals to the next; 0 means no gap.

    Returns
    -------
    tuple of int
        (fractals, fractals, 16, C0), or (fractals, 16, C0) if `dst_stride` leaves gaps; repeats that are not joined
        lead.
    """
    along_m, along_k = _fractals(c0, block, transposed)
    down, across = (along_k, along_m) if transposed else (along_m, along_k)
    inner = (FRACTAL_ROWS, c0)
    if layout == "ZZ":
        shape: tuple[int, ...] = (down, across, *inner)
    elif dst_stride in (0, down):
        shape = (across, down, *inner)
    else:
        shape = ((across - 1) * dst_stride + down, *inner)
    return shape if block.repeats == 1 or block.joined else (block.repeats, *shape)


def block_plan(
    geometry: Geometry, block: Block, layout: str, *, transposed: bool = False, dst_stride: int = 0
) -> Load3dPlan:
    """Plan the load of a block (Load3Dv2).

    Parameters
    ----------
    geometry : Geometry
        The feature map and the windows.
    block, layout, transposed, dst_stride
        As for `shape_of_block`.
    """
    c0 = geometry.c0
    shape = shape_of_block(c0, block, layout, transposed=transposed, dst_stride=dst_stride)
    along_m, along_k = _fractals(c0, block, transposed)
    # The largest run that stays together: a whole DataBlock, unless a tail or an odd end cuts it.
    unit = math.gcd(geometry.tail or c0, block.columns, FRACTAL_ROWS if transposed else c0)
    fractal = FRACTAL_ROWS * c0
    if transposed:
        m0, k0 = c0, FRACTAL_ROWS // unit
        within = {"m0": 1, "element": c0, "k0": unit * c0}
        down, across, downward, rightward = along_k, along_m, "k1", "m1"
    else:
        m0, k0 = FRACTAL_ROWS, c0 // unit
        within = {"element": 1, "k0": unit, "m0": c0}
        down, across, downward, rightward = along_m, along_k, "m1", "k1"
    stride = dst_stride or down
    outer = {downward: across * fractal, rightward: fractal} if layout == "ZZ" else {
        downward: fractal, rightward: stride * fractal}  # fmt: skip
    sizes = {"m0": m0, "k0": k0, "m1": along_m, "k1": along_k, "element": unit}
    fractals = (downward, rightward) if layout == "ZZ" else (rightward, downward)
    order = (*fractals, *(("k0", "m0") if transposed else ("m0", "k0")), "element")
    one = math.prod(shape[1:] if block.repeats > 1 and not block.joined else shape)
    rows = _positions(block.row_starts, block.rows, 1, along_m * m0, _ceil(block.rows, FRACTAL_ROWS) * FRACTAL_ROWS,
                      geometry.m, block.joined)  # fmt: skip
    columns = _positions(block.column_starts, block.columns, unit, along_k * k0, _ceil(block.columns, c0) * c0 // unit,
                         geometry.k, block.joined)  # fmt: skip
    lines = (1, 1) if block.joined else (len(block.row_starts), len(block.column_starts))
    sizes |= dict(zip(("repeat_m", "repeat_k"), lines, strict=True))
    return _plan(geometry, shape, rows, columns, order, sizes, {**within, **outer, "repeat_m": one, "repeat_k": one})


@dataclass(frozen=True, eq=False)
class _Positions:
    """Where along one axis of the matrix the entries of a result stand.

    Parameters
    ----------
    every : ndarray of int64
        The position of each entry, -1 where the result has no element.
    runs : list of (int, int, int)
        Stretches without gaps: first entry, its position, number of entries.
    """

    every: NDArray[np.int64]
    runs: list[tuple[int, int, int]]

    @property
    def gaps(self) -> bool:
        """Whether there are entries that are not in the result."""
        return sum(count for _, _, count in self.runs) < len(self.every)


def _positions(
    starts: Sequence[int], length: int, unit: int, room: int, repeat_room: int, end: int, joined: bool
) -> _Positions:
    """Lay out the matrix positions along one axis.

    Parameters
    ----------
    starts : sequence of int
        Each repeat's first position.
    length : int
        Positions in a repeat's block.
    unit : int
        Positions from one entry to the next.
    room : int
        Entries of the result along this axis, for one repeat or for all joined ones.
    repeat_room : int
        Entries that a repeat takes when joined.
    end : int
        Where the matrix ends.
    joined : bool
        Whether the repeats follow each other along the axis.
    """
    step = repeat_room if joined else room
    every = np.full(room if joined else room * len(starts), -1, np.int64)
    runs = []
    for repeat, start in enumerate(starts):
        count = max(0, min(length, end - start)) // unit
        runs.append((repeat * step, start, count))
        every[repeat * step : repeat * step + count] = np.arange(start, start + count * unit, unit)
    return _Positions(every, runs)


def shape_of_fractals(c0: int, repeats: int, jump: int, *, transposed: bool = False) -> tuple[int, int, int]:
    """Return the shape of Load3Dv1's result: all fractals up to the last one written."""
    return ((repeats - 1) * jump + 1, *((c0, FRACTAL_ROWS) if transposed else (FRACTAL_ROWS, c0)))


def fractal_plan(
    geometry: Geometry,
    window: int,
    columns: range,
    *,
    unit: int,
    repeats: int,
    over_windows: bool,
    jump: int = 1,
    transposed: bool = False,
) -> Load3dPlan:
    """Plan the load of single fractals (Load3Dv1).

    Parameters
    ----------
    geometry : Geometry
        The feature map and the windows.
    window : int
        Matrix row of the first fractal's first row.
    columns : range
        First matrix column of each unit, for all repeats one after the other; units after the last one are not written.
    unit : int
        Channels that lie together.
    repeats : int
        How many fractals.
    over_windows : bool
        A repeat moves on by 16 windows, not by filter points.
    jump : int
        From one fractal to the next, in fractals.
    transposed : bool
        Whether each fractal is transposed.
    """
    c0 = geometry.c0
    shape = shape_of_fractals(c0, repeats, jump, transposed=transposed)
    along_m, along_k = (repeats, 1) if over_windows else (1, repeats)
    rows = _positions(
        [window], along_m * FRACTAL_ROWS, 1, along_m * FRACTAL_ROWS, 0, window + along_m * FRACTAL_ROWS, False
    )
    room = along_k * c0 // unit
    units = _positions([columns.start], room * unit, unit, room, 0, columns.stop, False)
    if transposed:
        within = {"m0": 1, "element": FRACTAL_ROWS, "k0": unit * FRACTAL_ROWS}
    else:
        within = {"element": 1, "k0": unit, "m0": c0}
    step = jump * FRACTAL_ROWS * c0
    strides = {**within, "m1": step, "k1": step, "repeat_m": step, "repeat_k": step}
    sizes = {"m0": FRACTAL_ROWS, "k0": c0 // unit, "m1": along_m, "k1": along_k, "element": unit, **_ONCE}
    order = ("m1", "k1", *(("k0", "m0") if transposed else ("m0", "k0")), "element")
    return _plan(geometry, shape, rows, units, order, sizes, strides)


def matrix_plan(geometry: Geometry) -> Load3dPlan:
    """Plan the whole matrix, row after row (im2col)."""
    unit = geometry.tail or geometry.c0
    count = geometry.k // unit
    rows = _positions([0], geometry.m, 1, geometry.m, 0, geometry.m, False)
    columns = _positions([0], geometry.k, unit, count, 0, geometry.k, False)
    sizes = {"m0": 1, "k0": 1, "m1": geometry.m, "k1": count, "element": unit, **_ONCE}
    strides = {"m0": 0, "k0": 0, "m1": geometry.k, "k1": unit, "element": 1, "repeat_m": 0, "repeat_k": 0}
    order = ("m1", "m0", "k1", "k0", "element")
    return _plan(geometry, (geometry.m, geometry.k), rows, columns, order, sizes, strides)


def _plan(
    geometry: Geometry,
    shape: tuple[int, ...],
    rows: _Positions,
    columns: _Positions,
    order: Sequence[str],
    sizes: dict[str, int],
    strides: dict[str, int],
) -> Load3dPlan:
    """Make a plan whose index is in the order of gathering: the repeats, then `order`."""
    names = ("repeat_k", "repeat_m", *order)
    axes = tuple(Axis(name, sizes[name], strides[name]) for name in names)
    index = np.empty([axis.size for axis in axes[:-1]], np.intp)
    grid = index.transpose([names.index(name) for name in ("repeat_k", "k1", "k0", "repeat_m", "m1", "m0")])
    _number_units(grid, geometry, sizes["element"], rows, columns)
    for array in (rows.every, columns.every):
        array.setflags(write=False)  # plans are remembered and shared
    return Load3dPlan(geometry, shape, axes, index, rows.every, columns.every)


def _number_units(grid: NDArray[np.intp], geometry: Geometry, unit: int, rows: _Positions, columns: _Positions) -> None:
    """Find the L1 unit behind every unit of columns and every row, piece by piece.

    Parameters
    ----------
    grid : ndarray of intp, shape (repeat_k, k1, k0, repeat_m, m1, m0)
        Where the numbers go, as a view of the plan's index.
    geometry, unit
        The feature map and the windows; the elements of a unit.
    rows, columns : _Positions
        The result's positions along the matrix's rows, and those of its units along the columns.
    """
    absent = geometry.source_size // unit
    # No sum exceeds twice the largest number; narrow integers move faster.
    kind = np.int32 if absent < 2**30 - 1 else np.int64
    repeats, k1, k0 = grid.shape[:3]
    period = geometry.window_h * geometry.window_w
    # Neighbours in the plan are rows, except in that of the matrix itself.
    by_rows = grid.shape[-1] > 1
    # From one channel group to the next all that changes is the group's first unit: one group is numbered, not all.
    grouped = (
        by_rows and k1 > period and k0 == 1 and unit == geometry.c0 and not geometry.tail
        and len(columns.runs) == repeats
    )  # fmt: skip
    lines = period if grouped else k1
    step = max(1, _PIECE_NUMBERS // max(1, len(rows.every) * k0))
    for repeat in range(repeats):
        for start in range(0, lines, step):
            target = grid[repeat, start : min(start + step, lines)]
            first = (repeat * k1 + start) * k0
            size = (target.shape[0] * k0, len(rows.every))
            # NumPy is slow with axes of length one.
            target = target.squeeze()
            number = None
            for k_place, k, k_count in columns.runs:
                skipped = max(0, first - k_place)
                k_range = range(k + skipped * unit, k + min(k_count, first + size[0] - k_place) * unit, unit)
                for m_place, m, m_count in rows.runs if k_range else ():
                    part = _numbers(geometry, unit, range(m, m + m_count), k_range, kind, by_rows)
                    if part.shape == size:
                        number = part
                    else:
                        number = np.full(size, absent, kind) if number is None else number
                        place = k_place + skipped - first
                        number[place : place + len(k_range), m_place : m_place + m_count] = part
            target[...] = absent if number is None else number.reshape(target.shape)
        if grouped:
            _number_other_groups(grid[repeat, :, 0], period, geometry.height * geometry.width)
    if grouped and rows.gaps:
        grid[..., (rows.every < 0).reshape(grid.shape[3:])] = absent
    if grouped and columns.gaps:
        grid[(columns.every < 0).reshape(grid.shape[:3])] = absent


def _number_other_groups(grid: NDArray[np.intp], period: int, area: int) -> None:
    """Write the numbers of all channel groups after the first, which stands in the first `period` lines."""
    first = grid[:period].copy("K")  # in the order of memory, as what is written
    groups = grid.shape[0] // period
    others = grid[period : groups * period].reshape(groups - 1, *first.shape)
    np.add(first, np.arange(area, groups * area, area).reshape(-1, *[1] * first.ndim), out=others)
    last = grid[groups * period :]
    np.add(first[: len(last)], groups * area, out=last)


def _numbers(geometry: Geometry, unit: int, rows: range, columns: range, kind: Any, by_rows: bool) -> NDArray[Any]:
    """Find the L1 units behind a block of the matrix, as (columns, rows): the one place where im2col happens.

    What a pixel's row and what its column add to the number are looked up apart.  Outside the picture stands a number
    past the end, which makes the sum one as well, whatever the other part is.

    A block of some size is numbered in whole rows of windows and of filter points, the ends cut off: each look-up then
    runs along its own axes only.  The axes are: lines of filter points, points in a line, lines of windows, windows in
    a line; where the block is smaller than such a line, each point, or window, is a line of its own.
    """
    full, outside = geometry.channels // geometry.c0, geometry.source_size // unit + 1
    wo, window_w, first_row, first_column = geometry.wo, geometry.window_w, 0, 0
    if len(rows) >= wo:
        down, across = np.arange(rows[0] // wo, rows[-1] // wo + 1)[:, None], np.arange(wo)
        first_row = rows[0] % wo
    else:
        down, across = np.divmod(np.arange(rows.start, rows.stop)[:, None], wo)
    # Below: `base` is the number of a channel group's first unit, `depth` the units from one pixel to the next.
    area = geometry.height * geometry.width
    if len(columns) >= window_w and unit == (geometry.c0 if full else geometry.tail):
        lines = np.arange(columns[0] // unit // window_w, columns[-1] // unit // window_w + 1)
        group, point_row = np.divmod(lines[:, None, None, None], geometry.window_h)
        point_column = np.arange(window_w)[None, :, None, None]
        first_column = columns[0] // unit % window_w
        base, depth = group * area, np.ones((), np.int64)
    else:
        every = np.arange(columns.start, columns.stop, columns.step)[:, None, None, None]
        group, point_row, point_column, channel = geometry.column(every)
        base = group * (area * geometry.c0 // unit) + channel // unit
        depth = np.where(group < full, geometry.c0, geometry.tail) // unit
    left, _, top, _ = geometry.pads
    row = point_row * geometry.dilation_h + (down * geometry.stride_h - top)
    column = point_column * geometry.dilation_w + (across * geometry.stride_w - left)
    upper = np.where((row >= 0) & (row < geometry.height), row * (depth * geometry.width) + base, outside)
    lower = np.where((column >= 0) & (column < geometry.width), column * depth, outside)
    upper, lower = upper.astype(kind), lower.astype(kind)
    if by_rows:
        number: NDArray[Any] = upper + lower
        number = number.reshape(-1, math.prod(number.shape[2:]))
    else:
        # Spread out along the matrix's rows first: NumPy adds few long rows faster than many short ones.
        points = np.broadcast_shapes(upper.shape[:2], lower.shape[:2])
        upper, lower = (
            np.broadcast_to(part.transpose(2, 3, 0, 1), part.shape[2:] + points).reshape(*part.shape[2:], -1)
            for part in (upper, lower)
        )
        number = (upper + lower).reshape(-1, math.prod(points)).T
    return number[first_column : first_column + len(columns), first_row : first_row + len(rows)]
