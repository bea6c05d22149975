"""DataBlocks as pictures: the strip of memory that an operand is, and who touches which block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._roles import INPUT, MASKED, OUTPUT, PADDING, WINDOW, Role

__all__ = ["ACROSS", "CURRENT", "NOT_ADDRESSED", "READ", "WRITTEN", "ZERO", "show_strip", "strip_rows"]

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
