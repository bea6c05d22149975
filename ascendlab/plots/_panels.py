r"""Several grids side by side in one figure of fixed size, with titles, ticks and a legend.

>>> from ascendlab.plots._roles import INPUT, PICKED
>>> panels = Panels(420, 240)
>>> panels.arrange([Panel("source", 4, 4), Panel("result", 4, 6)], [INPUT, PICKED])
>>> panels.grids[0].show(np.arange(16).reshape(4, 4))
>>> panels.grids[1].show(np.arange(24).reshape(4, 6))
>>> panels.png()[:4]
b'\x89PNG'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ascendlab.plots._base import TEXT_POINTS, LiveFigure, Stamps, axes_at, legend, move_axes, new_figure
from ascendlab.plots._grid import Grid
from ascendlab.plots._roles import Role

__all__ = ["Panel", "Panels"]

# Room around a frame for its title, its labels and its row and column numbers.
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 24, 36
_LEGEND_ROW = 22
_TITLE_POINTS = TEXT_POINTS + 1
_INK = np.array([[[0, 0, 0, 255]]], np.uint8)


class Panel(NamedTuple):
    """One grid's frame.

    Parameters
    ----------
    title : str
        Above it.
    rows, columns : int
        Cells that it has room for.
    ylabel, xlabel : str, optional
        What rows and columns are.
    first_row, first_column : int, optional
        The number that the first of them gets.
    """

    title: str
    rows: int
    columns: int
    ylabel: str = "row"
    xlabel: str = "column"
    first_row: int = 0
    first_column: int = 0


class Panels:
    """A figure of grids that is rearranged seldom and redrawn often.

    Parameters
    ----------
    width, height : int
        Size in CSS pixels.
    count : int, optional
        Most panels at a time.

    Attributes
    ----------
    grids : list of Grid
        Fill them with `Grid.show`, in the order of the panels.
    figure : matplotlib.figure.Figure
        The figure.
    """

    def __init__(self, width: int, height: int, count: int = 4) -> None:
        self.width, self.height = width, height
        self.figure = new_figure(width, height)
        self.grids = [
            Grid(axes_at(self.figure, left=0, top=0, width=10, height=10), rows=1, columns=1) for _ in range(count)
        ]
        for grid in self.grids:
            grid.ax.set_axis_off()  # its texts would cost more than everything else; stamps write them
        self._words = Stamps()
        self.figure.add_artist(self._words)
        self._live = LiveFigure(self.figure, [artist for grid in self.grids for artist in grid.artists])
        self._layout: tuple[object, ...] = ()

    def arrange(
        self,
        panels: Sequence[Panel],
        roles: Sequence[Role | tuple[Role, str]] = (),
        *,
        across: int | None = None,
        square: bool = True,
        legend_rows: int = 1,
    ) -> None:
        """Place the panels; nothing happens if they already stand so.

        Parameters
        ----------
        panels : sequence of Panel
            From left to right, then down.
        roles : sequence of Role or (Role, str)
            For the legend.
        across : int, optional
            Panels in one row; all of them by default.
        square : bool, optional
            Whether cells are as high as they are wide; otherwise they may be lower.
        legend_rows : int, optional
            Rows that the legend takes.
        """
        across = across or len(panels)
        boxes = self._boxes(panels, across, square, self.height - legend_rows * _LEGEND_ROW)
        named = [(number % across == 0, number + across >= len(panels)) for number in range(len(panels))]
        self._place(panels, boxes, named, roles, legend_rows)

    def place(
        self,
        panels: Sequence[Panel],
        boxes: Sequence[tuple[int, int, int, int]],
        roles: Sequence[Role | tuple[Role, str]] = (),
        *,
        legend_rows: int = 1,
    ) -> None:
        """Place the panels at will; nothing happens if they already stand so.

        Parameters
        ----------
        panels, roles, legend_rows
            As for `arrange`.
        boxes : sequence of (int, int, int, int)
            Left, top, width and height of each panel's frame, in pixels.
        """
        self._place(panels, boxes, [(True, True)] * len(panels), roles, legend_rows)

    def _place(
        self,
        panels: Sequence[Panel],
        boxes: Sequence[tuple[int, int, int, int]],
        named: Sequence[tuple[bool, bool]],
        roles: Sequence[Role | tuple[Role, str]],
        legend_rows: int,
    ) -> None:
        layout = (tuple(panels), tuple(boxes), tuple(named), tuple(roles), legend_rows)
        if layout == self._layout:
            return
        self._layout = layout
        self._words.images.clear()
        legend(self.figure, roles, left=12, top=self.height - legend_rows * _LEGEND_ROW, gap=12, stamps=self._words)
        for number, grid in enumerate(self.grids):
            for artist in grid.artists:
                artist.set_visible(number < len(panels))
        for grid, panel, box, (names_rows, names_columns) in zip(self.grids, panels, boxes, named, strict=False):
            left, top, width, height = box
            move_axes(grid.ax, left=left, top=top, width=width, height=height)
            grid.set_room(panel.rows, panel.columns)
            self._label(panel, box, names_rows=names_rows, names_columns=names_columns)

    def png(self) -> bytes:
        """Return the picture."""
        return self._live.png(self._layout)

    def _label(self, panel: Panel, box: tuple[int, int, int, int], *, names_rows: bool, names_columns: bool) -> None:
        """Write a frame's title, its labels where they are not the neighbour's, and its numbers with their ticks."""
        left, top, width, height = box
        words = self._words
        words.write(panel.title, left, top - 12, points=_TITLE_POINTS)
        if names_rows:
            words.write(panel.ylabel, left - 36, top + height // 2, upright=True)
        if names_columns:
            words.write(panel.xlabel, left + width // 2, top + height + 28, anchor="middle")
        for column in _ticks(panel.columns, width // 36):
            x = left + int((column + 0.5) * width / panel.columns)
            words.images.append((_INK.repeat(3, axis=0), x, top + height))
            words.write(str(panel.first_column + column), x, top + height + 12, anchor="middle")
        for row in _ticks(panel.rows, height // 26):
            y = top + int((row + 0.5) * height / panel.rows)
            words.images.append((_INK.repeat(3, axis=1), left - 3, y))
            words.write(str(panel.first_row + row), left - 6, y, anchor="right")

    def _boxes(
        self, panels: Sequence[Panel], across: int, square: bool, height: int
    ) -> list[tuple[int, int, int, int]]:
        """Left, top, width and height of each frame; all cells have one size, whole pixels where they are that big."""
        lines = [panels[start : start + across] for start in range(0, len(panels), across)]
        least = _LEFT - 14 + _RIGHT  # between neighbours, who share the name of their rows
        room_x = min((self.width - 14 - len(line) * least) / sum(p.columns for p in line) for line in lines)
        heights = [max(p.rows for p in line) for line in lines]
        room_y = (height - len(lines) * (_TOP + _BOTTOM - 14) - 14) / sum(heights)
        cell_x = _whole(min(room_x, room_y) if square else room_x)
        cell_y = _whole(min(cell_x, room_y))
        boxes, top = [], _TOP
        for line, rows in zip(lines, heights, strict=True):
            left = _LEFT
            for panel in line:
                boxes.append((left, top, round(panel.columns * cell_x), round(panel.rows * cell_y)))
                left += round(panel.columns * cell_x) + least
            top += round(rows * cell_y) + _BOTTOM - 14 + _TOP
        return boxes


def _whole(size: float) -> float:
    """Round a cell size down to whole pixels, unless it is smaller than one; cap it where numbers look lost."""
    return float(min(int(size), 40)) if size >= 1 else size


def _ticks(count: int, most: int) -> list[int]:
    """Where at most `most` numbers go along `count` cells."""
    steps = (step * power for power in (1, 10, 100, 1000) for step in (1, 2, 5))
    return list(range(0, count, next(step for step in steps if count <= max(most, 1) * step)))
