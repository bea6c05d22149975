"""A grid: an array drawn as a picture or as cells with numbers, with marked areas and outlines.

One `Grid` serves every picture of this library that shows an array: it is made once on an Axes, then `Grid.show`
gives it new contents, as often as a slider moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from ascendlab.plots._base import DPI, TEXT_POINTS
from ascendlab.plots._paint import format_numbers, hatch_mask, paint_texts
from ascendlab.plots._roles import Role

__all__ = ["Grid", "Mark", "outline"]

_CELL_FOR_NUMBERS = 13  # pixels below which a cell shows no number
_LINE = np.array([150, 150, 150], np.uint8)
_EDGE = Role("edge of the contents", "#555555", width=1.0)


class Mark(NamedTuple):
    """An outlined block of cells.

    Parameters
    ----------
    role : Role
        Whose colour and line style it gets.
    y, x : int
        First row and column.
    height, width : int
        Cells.
    """

    role: Role
    y: int
    x: int
    height: int = 1
    width: int = 1


def outline(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the border of an area as line segments.

    Parameters
    ----------
    mask : ndarray of bool, shape (H, W)
        The area's cells; cell (y, x) is centred at (y, x).

    Returns
    -------
    ndarray of float, shape (n, 2, 2)
        Segments ``((x0, y0), (x1, y1))``; straight stretches are one segment.

    Examples
    --------
    >>> outline(np.array([[True, True]])).tolist()
    [[[-0.5, -0.5], [1.5, -0.5]], [[-0.5, 0.5], [1.5, 0.5]], [[-0.5, -0.5], [-0.5, 0.5]], [[1.5, -0.5], [1.5, 0.5]]]
    """
    padded = np.pad(mask, 1)

    def edges(differs: NDArray[np.bool_]) -> NDArray[np.float64]:
        # A run of edges along a line starts and ends where the flag changes.
        change = np.diff(np.pad(differs, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        line, start = (change == 1).nonzero()
        stop = (change == -1).nonzero()[1]
        return np.stack([line - 0.5, start - 0.5, stop - 0.5], axis=1)

    across = edges(padded[1:, 1:-1] != padded[:-1, 1:-1])
    down = edges((padded[1:-1, 1:] != padded[1:-1, :-1]).T)
    segments = np.empty((len(across) + len(down), 2, 2))
    segments[: len(across), :, 0], segments[: len(across), :, 1] = across[:, 1:], across[:, :1]
    segments[len(across) :, :, 0], segments[len(across) :, :, 1] = down[:, :1], down[:, 1:]
    return segments


class _Cells(Artist):
    """The grid's contents: colours, hatches and numbers, composed as one image per draw."""

    def __init__(self) -> None:
        super().__init__()
        self.rgb: NDArray[np.uint8] = np.full((1, 1, 3), 255, np.uint8)
        self.numbers: NDArray[Any] | None = None
        self.areas: list[tuple[Role, NDArray[np.bool_]]] = []
        # What was composed last, and for which pixels: a grid that keeps its contents is only copied.
        self.composed: tuple[tuple[float, ...], NDArray[np.uint8], int, int] | None = None

    def draw(self, renderer: RendererBase) -> None:
        """Compose the visible part of the grid in screen pixels and hand it over."""
        axes = self.axes
        if axes is None or not self.get_visible():
            return
        height, width = self.rgb.shape[:2]
        corners = axes.transData.transform([(-0.5, -0.5), (width - 0.5, height - 0.5)])
        total = float(axes.figure.bbox.height)
        place = (*corners.ravel(), *axes.bbox.extents, total, float(axes.figure.dpi))
        if self.composed is None or self.composed[0] != place:
            made = self._compose(axes, corners, total)
            if made is None:
                return
            self.composed = (place, *made)
        _, rgba, left, bottom = self.composed
        context = renderer.new_gc()
        renderer.draw_image(context, left, bottom, rgba[::-1])
        context.restore()

    def _compose(
        self, axes: Any, corners: NDArray[np.float64], total: float
    ) -> tuple[NDArray[np.uint8], int, int] | None:
        """Return the image of the visible part, and where its lower left corner lies; None if nothing is visible."""
        height, width = self.rgb.shape[:2]
        x_edges = _edges(corners[0, 0], corners[1, 0], width)
        y_edges = _edges(total - corners[0, 1], total - corners[1, 1], height)
        frame = axes.bbox
        x = np.arange(max(x_edges[0], round(frame.x0)), min(x_edges[-1], round(frame.x1)))
        y = np.arange(max(y_edges[0], round(total - frame.y1)), min(y_edges[-1], round(total - frame.y0)))
        if not len(x) or not len(y):
            return None
        column = np.searchsorted(x_edges, x, side="right") - 1
        row = np.searchsorted(y_edges, y, side="right") - 1
        image = self._paint(row, column, y, x, y_edges, x_edges)
        rgba = np.full((*image.shape[:2], 4), 255, np.uint8)
        for channel in range(3):  # an inner axis of three is slow
            rgba[:, :, channel] = image[:, :, channel]
        return rgba, int(x[0]), round(total) - int(y[-1]) - 1

    def _paint(
        self,
        row: NDArray[np.intp],
        column: NDArray[np.intp],
        y: NDArray[np.intp],
        x: NDArray[np.intp],
        y_edges: NDArray[np.intp],
        x_edges: NDArray[np.intp],
    ) -> NDArray[np.uint8]:
        image = self.rgb[row][:, column]
        big = min(np.diff(x_edges).min(), np.diff(y_edges).min()) >= 6
        for role, mask in self.areas:
            if not role.hatch or not mask.any():
                continue
            ink = hatch_mask(role.hatch, y, x) & mask[row][:, column]
            image[ink] = role.rgb
        if big:
            image[np.isin(y, y_edges[1:-1])] = _LINE
            image[:, np.isin(x, x_edges[1:-1])] = _LINE
        if self.numbers is not None:
            self._write(image, int(y[0]), int(x[0]), y_edges, x_edges)
        return image

    def _write(
        self, image: NDArray[np.uint8], top: int, left: int, y_edges: NDArray[np.intp], x_edges: NDArray[np.intp]
    ) -> None:
        assert self.numbers is not None
        cell_width, cell_height = int(np.diff(x_edges).min()), int(np.diff(y_edges).min())
        dpi = float(self.axes.figure.dpi) if self.axes is not None else DPI
        if cell_height < _CELL_FOR_NUMBERS * dpi / DPI:
            return
        formatted = format_numbers(np.ma.getdata(self.numbers), cell_width - 2, points=TEXT_POINTS, dpi=dpi)
        if formatted is None:
            return
        texts, tracking = formatted
        texts = np.where(np.ma.getmaskarray(self.numbers), "", texts)
        y = (y_edges[:-1] + y_edges[1:]) // 2 - top
        x = (x_edges[:-1] + x_edges[1:]) // 2 - left
        if self.areas:
            self._clear_plates(image, y, x, round(TEXT_POINTS * dpi / 72 * 0.6), cell_width * 4 // 10)
        luminance = self.rgb @ np.array([0.299, 0.587, 0.114])
        colors = np.where(luminance[:, :, None] > 128, 0, 255).astype(np.uint8).repeat(3, axis=2)
        rows, columns = np.meshgrid(y, x, indexing="ij")
        paint_texts(
            image,
            texts.ravel(),
            rows.ravel(),
            columns.ravel(),
            colors.reshape(-1, 3),
            points=TEXT_POINTS,
            dpi=dpi,
            tracking=tracking,
        )

    def _clear_plates(
        self, image: NDArray[np.uint8], y: NDArray[np.intp], x: NDArray[np.intp], half_height: int, half_width: int
    ) -> None:
        """Paint the middle of each cell in the cell's own colour, so that no hatch crosses the digits."""
        rows = np.clip(y[:, None] + np.arange(-half_height, half_height + 1), 0, image.shape[0] - 1)
        columns = np.clip(x[:, None] + np.arange(-half_width, half_width + 1), 0, image.shape[1] - 1)
        image[rows[:, :, None, None], columns] = self.rgb[:, None, :, None]


def _edges(start: float, stop: float, count: int) -> NDArray[np.intp]:
    """Screen pixels at which `count` equal cells begin, and the one after the last."""
    return np.round(np.linspace(start, stop, count + 1)).astype(np.intp)


class Grid:
    """An array on an Axes, updated in place.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; rows run downwards, cell (y, x) is centred at (y, x).
    rows, columns : int
        Cells that the frame has room for.  Contents may be smaller; what is larger is cut off.

    Attributes
    ----------
    artists : list of Artist
        What changes between updates, for `LiveFigure`.

    Examples
    --------
    >>> from ascendlab.plots._base import axes_at, new_figure
    >>> from ascendlab.plots._roles import PADDING
    >>> grid = Grid(axes_at(new_figure(200, 200), left=20, top=20, width=160, height=160), rows=4, columns=4)
    >>> grid.show(np.arange(16).reshape(4, 4), areas={PADDING: np.eye(4, dtype=bool)})
    >>> bool(grid.ax.yaxis_inverted())
    True
    """

    def __init__(self, ax: Axes, *, rows: int, columns: int) -> None:
        self.ax = ax
        self._cells = _Cells()
        self._cells.set_zorder(2)
        # Outlines at the frame would lose half their width to clipping.
        self._lines = LineCollection([], zorder=3, clip_on=False)
        self._marks = LineCollection([], zorder=4, capstyle="projecting", clip_on=False)
        ax.add_artist(self._cells)
        ax.add_collection(self._lines, autolim=False)
        ax.add_collection(self._marks, autolim=False)
        self.artists: list[Artist] = [self._cells, self._lines, self._marks]
        self.set_room(rows, columns)

    def set_room(self, rows: int, columns: int) -> None:
        """Let the frame have room for `rows` x `columns` cells (this changes what a `LiveFigure` calls its layout)."""
        self.ax.set_xlim(-0.5, columns - 0.5)
        self.ax.set_ylim(rows - 0.5, -0.5)

    def show(
        self,
        values: NDArray[Any] | None = None,
        *,
        rgb: NDArray[np.uint8] | None = None,
        areas: Mapping[Role, NDArray[np.bool_]] | None = None,
        marks: Iterable[Mark] = (),
        outlined: bool = True,
    ) -> None:
        """Draw new contents.

        Parameters
        ----------
        values : ndarray, shape (H, W), optional
            Numbers to write into the cells, where they fit; cells that a masked array masks stay empty.
        rgb : ndarray of uint8, shape (H, W), (H, W, 3), optional
            Colours of the cells; without it cells are white, tinted by the areas they belong to.
        areas : mapping of Role to ndarray of bool, shape (H, W), optional
            Cells to be hatched (and tinted, without `rgb`) and outlined; later ones win.
        marks : iterable of Mark
            Outlines on top.
        outlined : bool, optional
            Whether areas get outlines; areas in many small pieces take long, and look busy.
        """
        areas = dict(areas or {})
        if rgb is None:
            assert values is not None
            rgb = np.full((*values.shape, 3), 255, np.uint8)
            for role, mask in areas.items():
                rgb[mask] = role.tint
        elif rgb.ndim == 2:
            rgb = rgb[:, :, None].repeat(3, axis=2)
        self._cells.rgb, self._cells.numbers, self._cells.areas = rgb, values, list(areas.items())
        self._cells.composed = None
        self._cells.stale = True
        height, width = rgb.shape[:2]
        edge = (_EDGE, _box(Mark(_EDGE, 0, 0, height, width), 1, 1))
        lined = areas.items() if outlined else ()
        _set_lines(self._lines, [edge, *((role, outline(mask)) for role, mask in lined)])
        _set_lines(self._marks, [(m.role, _box(m, *self._least_mark())) for m in marks])

    def _least_mark(self) -> tuple[float, float]:
        """How many cells a mark must be high and wide to be seen: one, or as many as make up 15 pixels."""
        (left, right), (bottom, top) = self.ax.get_xlim(), self.ax.get_ylim()
        across = max(1.0, 15 * abs(right - left) / self.ax.bbox.width)
        down = max(1.0, 15 * abs(top - bottom) / self.ax.bbox.height)
        # Low cells are wide enough to be seen.
        return min(across, down), across


def _box(mark: Mark, least_height: float, least_width: float) -> NDArray[np.float64]:
    """Return a mark as one closed line around its middle, no smaller than so many cells."""
    more_y, more_x = max(0, least_height - mark.height) / 2, max(0, least_width - mark.width) / 2
    top, left = mark.y - 0.5 - more_y, mark.x - 0.5 - more_x
    bottom, right = mark.y + mark.height - 0.5 + more_y, mark.x + mark.width - 0.5 + more_x
    return np.array([[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]])


def _set_lines(lines: LineCollection, parts: list[tuple[Role, NDArray[np.float64]]]) -> None:
    """Give a collection the segments of several roles, each in its role's style."""
    lines.set_segments([segment for _, segments in parts for segment in segments])
    counts = [len(segments) for _, segments in parts]
    roles = [role for (role, _), count in zip(parts, counts, strict=True) for _ in range(count)]
    lines.set_color([role.color for role in roles] or "none")
    lines.set_linewidth([role.width for role in roles] or [1.0])
    styles: Any = [role.line for role in roles] or ["-"]
    lines.set_linestyle(styles)
