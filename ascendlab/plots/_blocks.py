"""DataBlocks as pictures: the strip of memory that an operand is, and who touches which block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ascendlab.plots._frames import frames
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._roles import INPUT, MASKED, OUTPUT, PADDING, WINDOW, Role
from ascendlab.vector import BlockWalk

__all__ = [
    "ACROSS",
    "CURRENT",
    "NOT_ADDRESSED",
    "READ",
    "WRITTEN",
    "ZERO",
    "blocks_in",
    "marks_at",
    "show_strip",
    "strip_rows",
    "titled_grid",
    "titled_strip",
    "whole_blocks",
]

ACROSS = 16
"""DataBlocks in one row of a strip."""

# The same roles as everywhere, under the names that fit here.
READ = replace(INPUT, name="read")
WRITTEN = replace(OUTPUT, name="written")
ZERO = replace(PADDING, name="0 comes in")
NOT_ADDRESSED = replace(MASKED, name="not addressed")
CURRENT = replace(WINDOW, name="the repeat shown")


def strip_rows(blocks: int) -> int:
    """Return the rows of a strip of this many DataBlocks.

    >>> strip_rows(17)
    2
    """
    return max(1, -(-blocks // ACROSS))


def blocks_in(array: NDArray[Any], c0: int) -> int:
    """Return how many DataBlocks of `c0` elements an operand begins, at least one.

    >>> blocks_in(np.zeros(17), 16)
    2
    """
    return max(1, -(-array.size // c0))


def whole_blocks(array: NDArray[Any], c0: int, blocks: NDArray[np.int64]) -> NDArray[Any]:
    """Return DataBlocks of an operand, shape (n, c0); what lies behind its end is masked.

    >>> whole_blocks(np.arange(6), 4, np.array([1, 0])).tolist()
    [[4, 5, None, None], [0, 1, 2, 3]]
    """
    index = blocks[:, None] * c0 + np.arange(c0)
    values = np.ma.array(np.zeros(index.shape, array.dtype), mask=True)
    inside = index < array.size
    values[inside] = array[index[inside]]
    return values


def marks_at(walk: BlockWalk, steps: NDArray[np.int64], c0: int, index: int | None, role: Role) -> list[Mark]:
    """Outline an element, where it lies in the DataBlocks that a walk comes to at these steps."""
    if index is None:
        return []
    block, lane = divmod(index, c0)
    return [Mark(role, int(row), lane) for row in np.flatnonzero(walk.number(steps) == block)]


def titled_grid(ax: Axes | None, title: str, shape: tuple[int, int], xlabel: str, ylabel: str) -> tuple[Axes, Grid]:
    """Return a grid on an Axes (a new one by default) with title and labels."""
    ax = ax or frames([shape])[1][0]
    ax.set_title(title)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax, Grid(ax, rows=shape[0], columns=shape[1])


def titled_strip(ax: Axes | None, title: str, total: int) -> tuple[Axes, Grid]:
    """Return a grid for the strip of an operand of `total` DataBlocks, with title and labels."""
    return titled_grid(ax, title, (strip_rows(total), ACROSS), "DataBlock", "16 blocks")


def show_strip(
    grid: Grid,
    numbers: NDArray[np.integer[Any]],
    labels: NDArray[np.integer[Any]],
    total: int,
    *,
    role: Role,
    current: Iterable[int] = (),
    marks: Iterable[Mark] = (),
) -> None:
    """Draw an operand's DataBlocks in rows of `ACROSS`; what touches a block is written into it.

    Parameters
    ----------
    grid : Grid
        With room for ``strip_rows(total)`` rows of `ACROSS` cells.
    numbers : ndarray of int, shape (n,)
        DataBlocks that are touched, in the order in which they are; of several touches the last is written.
    labels : ndarray of int, shape (n,)
        What to write into each.
    total : int
        DataBlocks of the operand.
    role : Role
        `READ` or `WRITTEN`.
    current : iterable of int
        DataBlocks to outline.
    marks : iterable of Mark
        More outlines, in cells of the strip.
    """
    rows = strip_rows(total)
    text = np.ma.array(np.zeros(rows * ACROSS, np.int64), mask=True)
    text[numbers] = labels
    touched = ~np.ma.getmaskarray(text).reshape(rows, ACROSS)
    inside = (np.arange(rows * ACROSS) < total).reshape(rows, ACROSS)
    outlined = [Mark(CURRENT, *divmod(int(block), ACROSS)) for block in current]
    grid.show(
        text.reshape(rows, ACROSS),
        areas={role: touched, NOT_ADDRESSED: inside & ~touched},
        marks=[*outlined, *marks],
    )
