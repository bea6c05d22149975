"""The plan of a Load3D call: for every 32-byte block of the result the block of L1 that it is a copy of.

Data, provenance, byte counts and pictures all read the same `Load3dPlan`.  It knows no pixel values and no pad
value: the number after the last block stands for *not written*, any larger one for *padding*.

>>> from ascendlab.load3d_build import Block, block_plan
>>> geometry = Geometry(height=2, width=2, channels=16, c0=16, pads=(1, 0, 0, 0))
>>> plan = block_plan(geometry, Block(rows=6, columns=16), layout="ZZ")
>>> plan.shape, plan.index.reshape(-1)[:7].clip(max=plan.padding).tolist()
((1, 1, 16, 16), [5, 0, 1, 5, 2, 3, 4])
>>> plan.places(1, 3)
[(0, 0, 1, 3)]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.load3d_geometry import Geometry
from ascendlab.sources import Sources

__all__ = ["COLUMN_AXES", "ROW_AXES", "Axis", "Load3dPlan"]

# Results that are gathered before their axes change places are made in pieces of about this many bytes, which
# stay in the processor's cache between the two steps.
_PIECE_BYTES = 1 << 19

# The axes that together count positions along the matrix's rows and columns, outermost first.
ROW_AXES = ("repeat_m", "m1", "m0")
COLUMN_AXES = ("repeat_k", "k1", "k0")


@dataclass(frozen=True)
class Axis:
    """One axis along which a result is made.

    Parameters
    ----------
    name : str
        One of `ROW_AXES`, `COLUMN_AXES`, or ``"element"``.
    size : int
        Its length.
    stride : int
        Elements from one step to the next in the result.
    """

    name: str
    size: int
    stride: int


@dataclass(frozen=True, eq=False)
class Load3dPlan:
    """Where every element of a result comes from.

    Parameters
    ----------
    geometry : Geometry
        The feature map and the windows.
    shape : tuple of int
        Shape of the result.
    axes : tuple of Axis
        In the order in which `index` has them: two for the repeats, two that find a fractal, two that run in a
        fractal, and the last one runs inside a unit.
    _index : ndarray of intp
        What `index` shows.
    rows, columns : ndarray of int64
        Matrix row of each row position, first matrix column of each unit of columns; -1 where there is none.
    """

    geometry: Geometry
    shape: tuple[int, ...]
    axes: tuple[Axis, ...]
    _index: NDArray[np.intp]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @cached_property
    def index(self) -> NDArray[np.intp]:
        """Number of the L1 unit for each unit of the result; `absent`, and `padding` or more, are not in L1.

        To look at only: plans are remembered and shared.  Gathering itself takes the array behind it, since NumPy
        would first make a copy of an index that it may not write to.
        """
        index: NDArray[np.intp] = self._index.view()
        index.setflags(write=False)
        return index

    @cached_property
    def unit(self) -> int:
        """Elements that always move together: C0, or less for packed tails."""
        return self.axes[-1].size

    @cached_property
    def size(self) -> int:
        """Elements of the result."""
        return math.prod(self.shape)

    @cached_property
    def absent(self) -> int:
        """The unit number that stands for "not written"."""
        return self.geometry.source_size // self.unit

    @cached_property
    def padding(self) -> int:
        """The unit number from which on there is padding."""
        return self.absent + 1

    @property
    def nbytes(self) -> int:
        """Memory that the plan takes."""
        return self.index.nbytes + self.rows.nbytes + self.columns.nbytes

    @cached_property
    def straight(self) -> bool:
        """Whether the units lie in the result in the plan's order, so that one gather makes it."""
        expected = 1
        for axis in reversed(self.axes):
            if axis.size > 1 and axis.stride != expected:
                return False
            expected *= axis.size
        return expected == self.size

    @cached_property
    def complete(self) -> bool:
        """Whether every element of the result is written."""
        return bool((self.rows >= 0).all() and (self.columns >= 0).all()) and self.index.size * self.unit == self.size

    def run(self, units: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Carry the plan out.

        Parameters
        ----------
        units : ndarray, shape (padding + 1, unit)
            L1 as units, then zeros, then the pad value.
        out : ndarray, optional
            Checked target of shape `shape`; keeps what is not written.
        """
        # "clip" makes every number past the end the last one, the padding's.
        if out is None:
            if self.straight:
                return units.take(self._index, 0, None, "clip").reshape(self.shape)
            result: NDArray[Any] = (np.empty if self.complete else np.zeros)(self.shape, units.dtype)
            self._run_in_pieces(units, result)
            return result
        view = self._view(out)
        kept = [(place, view[place].copy()) for place in self._untouched]
        if self.straight:
            units.take(self._index, 0, view, "clip")
        else:
            self._run_in_pieces(units, out)
        for place, values in kept:
            view[place] = values
        return out

    def _view(self, result: NDArray[Any]) -> NDArray[Any]:
        """Look at a contiguous result along the plan's axes."""
        if self.straight:
            return result.reshape(self._shape)
        strides = [axis.stride * result.itemsize for axis in self.axes]
        return np.lib.stride_tricks.as_strided(_as_integers(result.reshape(-1)), self._shape, strides)

    def _run_in_pieces(self, units: NDArray[Any], result: NDArray[Any]) -> None:
        """Gather fractals, turn each if need be, and put them in their places, piece by piece."""
        units, outer, size = _as_integers(units), self.axes[:4], math.prod(axis.size for axis in self.axes[4:])
        fractals = np.lib.stride_tricks.as_strided(
            _as_integers(result.reshape(-1)),
            [*(axis.size for axis in outer), size],
            [*(axis.stride * result.itemsize for axis in outer), result.itemsize],
        )
        # Where the elements of a unit are not neighbours in the result, each fractal is turned on its way.
        unit = self.axes[-1]
        turned = (-1, self.axes[-2].size, unit.size) if unit.size > 1 and unit.stride > 1 else None
        step = max(1, _PIECE_BYTES // max(1, fractals[0, 0, :1].nbytes))
        for repeat in np.ndindex(fractals.shape[:2]):
            for start in range(0, fractals.shape[2], step):
                target = fractals[repeat][start : start + step]
                loaded = units.take(self._index[repeat][start : start + step], 0, None, "clip")
                if turned is not None:
                    loaded = loaded.reshape(turned).swapaxes(1, 2)
                    if target.flags.c_contiguous:
                        target = target.reshape(loaded.shape)
                target[...] = loaded.reshape(target.shape)

    @cached_property
    def _untouched(self) -> list[tuple[Any, ...]]:
        """Index expressions, along the plan's axes, of what is not written."""
        names = [axis.name for axis in self.axes]
        places = []
        for positions, axes in ((self.rows, ROW_AXES), (self.columns, COLUMN_AXES)):
            if (positions >= 0).all():
                continue
            for box in _boxes(positions < 0, [self._sizes[name] for name in axes]):
                parts = dict(zip(axes, box, strict=True))
                places.append(tuple(parts.get(name, slice(None)) for name in names))
        return places

    def locate(self, flat: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Say what stands at elements of the result.

        Parameters
        ----------
        flat : ndarray of intp
            Flat indices into the result.

        Returns
        -------
        source, row, column : ndarray of int64
            Flat index into L1, -1 for padding, -2 for what is not written; row and column of the matrix, -1 for
            what is not written.
        """
        rest = np.asarray(flat, np.int64)
        at = {axis.name: np.zeros_like(rest) for axis in self.axes}
        written = np.ones(rest.shape, bool)
        for axis in sorted((a for a in self.axes if a.size > 1), key=lambda a: -a.stride):
            step, rest = np.divmod(rest, axis.stride)
            # Past the end of an axis lies a gap between fractals.
            written &= step < axis.size
            at[axis.name] = np.minimum(step, axis.size - 1)
        written &= rest == 0
        unit = self.index[tuple(at[axis.name] for axis in self.axes[:-1])]
        written &= unit != self.absent
        element = at["element"]
        row, column = (
            positions[np.ravel_multi_index([at[name] for name in names], [self._sizes[name] for name in names])]
            for positions, names in ((self.rows, ROW_AXES), (self.columns, COLUMN_AXES))
        )
        source = np.where(unit < self.absent, unit * self.unit + element, -1)
        return np.where(written, source, -2), np.where(written, row, -1), np.where(written, column + element, -1)

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {axis.name: axis.size for axis in self.axes}

    def places(self, m: int, k: int) -> list[tuple[int, ...]]:
        """Return the indices at which a matrix element stands in the result: one for each repeat that has it.

        Parameters
        ----------
        m, k : int
            Row and column of the im2col matrix.
        """
        strides = {axis.name: axis.stride for axis in self.axes}
        rows = np.flatnonzero(self.rows == m)
        columns = np.flatnonzero((self.columns >= 0) & (self.columns <= k) & (k < self.columns + self.unit))
        offsets = []
        for positions, names in ((rows, ROW_AXES), (columns, COLUMN_AXES)):
            steps = np.unravel_index(positions, [self._sizes[name] for name in names])
            offsets.append(sum(step * strides[name] for step, name in zip(steps, names, strict=True)))
        offsets[1] += (k - self.columns[columns]) * strides["element"]
        flat = np.add.outer(*offsets).reshape(-1)
        return [tuple(int(i) for i in np.unravel_index(place, self.shape)) for place in flat]

    def sources(self, flat: NDArray[np.intp], pad_value: float) -> Sources:
        """Answer the provenance question for flat indices of the result."""
        source, _, _ = self.locate(flat)
        untouched = source == -2
        constant = np.where(untouched, np.nan, float(pad_value))
        return Sources.copies(source, constant=constant, untouched=untouched)

    @cached_property
    def traffic(self) -> dict[str, int]:
        """Count elements: ``loaded`` from L1 (``used``: different ones), ``padded``, and ``untouched``."""
        loaded = self.index[self.index < self.absent]
        padded = int(np.count_nonzero(self.index > self.absent))
        return {
            "loaded": loaded.size * self.unit,
            "padded": padded * self.unit,
            "untouched": self.size - (loaded.size + padded) * self.unit,
            "used": int(np.count_nonzero(np.bincount(loaded, minlength=1))) * self.unit,
        }


def _as_integers(array: NDArray[Any]) -> NDArray[Any]:
    """Look at elements as integers of their size: NumPy cannot do everything with the types of ml_dtypes."""
    return array.view(f"u{array.itemsize}")


def _boxes(missing: NDArray[np.bool_], sizes: Sequence[int]) -> list[tuple[slice, slice, slice]]:
    """Cover the True positions of a flat mask over a (repeat, outer, inner) grid with boxes."""
    grid = missing.reshape(sizes)
    found: list[tuple[slice, slice, slice]] = []
    for repeat in _numbers(np.any(grid, axis=(1, 2))):
        lines = grid[repeat]
        whole = lines.all(axis=1)
        found += [(slice(repeat, repeat + 1), outer, slice(None)) for outer in _runs(whole)]
        for outer in _numbers(np.any(lines, axis=1) & ~whole):
            found += [(slice(repeat, repeat + 1), slice(outer, outer + 1), inner) for inner in _runs(lines[outer])]
    return found


def _numbers(mask: Any) -> list[int]:
    """Return where a mask is True."""
    return [int(i) for i in np.flatnonzero(mask)]


def _runs(mask: Any) -> list[slice]:
    """Return the stretches of True in a mask."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
