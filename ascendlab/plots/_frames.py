"""Pictures side by side: frames whose cells all have the same size, and a plain array in one of them.

>>> figure, (left, right) = frames([(2, 3), (2, 5)], roles=[INPUT])
>>> picture(np.arange(6).reshape(2, 3), title="before", ax=left).get_title()
'before'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ascendlab.errors import ParameterError
from ascendlab.plots._base import axes_at, legend, legend_height, new_figure
from ascendlab.plots._grid import Grid
from ascendlab.plots._roles import INPUT, Role

__all__ = ["frames", "picture"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 30, 46
_LEGEND_LEFT, _BELOW_LEGEND = 12, 6
_WIDEST = 860  # what JupyterLab shows without scrolling on a small screen
_LARGEST_CELL = 32
_TITLE = 220  # room for a title over a narrow frame
_NUMBERS_UP_TO = 32


def frames(
    sizes: Sequence[Sequence[int]],
    *,
    across: int | None = None,
    cell: int | None = None,
    roles: Sequence[Role | tuple[Role, str]] = (),
) -> tuple[Figure, list[Axes]]:
    """Make a figure with one frame per array, all cells equally large.

    Parameters
    ----------
    sizes : sequence of (rows, columns, ...)
        The arrays' shapes, in reading order; what follows the first two numbers is not looked at.
    across : int, optional
        Frames in one row; all of them by default.
    cell : int, optional
        Pixels along a cell's side; by default as many as fit.
    roles : sequence of Role or (Role, str), optional
        For a legend below, in as many rows as it takes.

    Returns
    -------
    figure : matplotlib.figure.Figure
        To be given to `figure_html`.
    axes : list of Axes
        To be given to the functions that draw.
    """
    across = across or len(sizes)
    lines = [sizes[start : start + across] for start in range(0, len(sizes), across)]
    widest = max(sum(size[1] for size in line) for line in lines)
    if cell is None:
        cell = max(1, min(_LARGEST_CELL, (_WIDEST - across * (_LEFT + _RIGHT)) // widest))
    heights = [max(size[0] for size in line) * cell for line in lines]
    body = sum(heights) + len(lines) * (_TOP + _BOTTOM)
    width = max(sum(sum(_slot(size[1] * cell)) for size in line) for line in lines)
    below = legend_height(roles, width=width, left=_LEGEND_LEFT) + _BELOW_LEGEND if roles else 0
    figure = new_figure(width, body + below)
    axes, top = [], _TOP
    for line, height in zip(lines, heights, strict=True):
        left = 0
        for size in line:
            before, across_frame, after = _slot(size[1] * cell)
            ax = axes_at(figure, left=left + before, top=top, width=across_frame, height=size[0] * cell)
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
            axes.append(ax)
            left += before + across_frame + after
        top += height + _BOTTOM + _TOP
    if roles:
        legend(figure, roles, left=_LEGEND_LEFT, top=body)
    return figure, axes


def _slot(width: int) -> tuple[int, int, int]:
    """Pixels before a frame, its width, pixels after it: room for ticks, labels and the title."""
    beside = (_TITLE - width) // 2
    return max(_LEFT, beside), width, max(_RIGHT, beside)


def picture(
    array: NDArray[Any],
    *,
    title: str,
    xlabel: str = "column",
    ylabel: str = "row",
    areas: Mapping[Role, NDArray[np.bool_]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw an array as it is: numbers in cells if it is small, otherwise grey or in colour.

    Parameters
    ----------
    array : ndarray, shape (H, W), or ndarray of uint8, shape (H, W, 3)
        What to draw; up to 32 x 32 any numbers, uint8 beyond.
    title, xlabel, ylabel : str
        Above it and beside it.
    areas : mapping of Role to ndarray of bool, shape (H, W), optional
        For numbers: what the cells are; all of them input by default.
    ax : Axes, optional
        Where to draw, from `frames`.

    Returns
    -------
    Axes

    Raises
    ------
    ParameterError
        For a large array of another type.
    """
    small = array.ndim == 2 and max(array.shape) <= _NUMBERS_UP_TO
    if not small and (array.dtype != np.uint8 or array.shape[2:] not in ((), (3,))):
        raise ParameterError("array", array, "a small table of numbers, or uint8 of shape (H, W) or (H, W, 3)")
    if ax is None:
        ax = frames([array.shape])[1][0]
    ax.set_title(title)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    grid = Grid(ax, rows=array.shape[0], columns=array.shape[1])
    if small:
        grid.show(array, areas=areas or {INPUT: np.ones(array.shape, bool)})
    else:
        grid.show(rgb=array)
    return ax
