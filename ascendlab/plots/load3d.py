"""Pictures of Load3D: the window on the feature map, its row in the matrix, its place in a fractal.

The same element, row m and column k of the im2col matrix, is outlined in all of them.

>>> from ascendlab.load3d import LoadData3DParamsV2, load_data_3d_v2, plan_load_data_3d_v2
>>> from ascendlab.plots import frames
>>> from ascendlab.samples import numbered_feature_map
>>> src = numbered_feature_map("half", 3, 4, 16)
>>> params = LoadData3DParamsV2(l1_h=3, l1_w=4, channel_size=16, filter_h=2, filter_w=2, m_extension=6, k_extension=64)
>>> load = plan_load_data_3d_v2(src, params)
>>> figure, (left, right) = frames([feature_map_shape(load), fractal_shape(load)], roles=[INPUT, WINDOW, PICKED])
>>> feature_map(src, load, m=1, k=17, ax=left).get_title()
'feature map, c1 0, c0 1'
>>> fractal(load_data_3d_v2(src, params), load, m=1, k=17, ax=right).get_title()
'fractal 1 of L0A'
>>> overview(src, load, m=1, k=17).width
760
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from ascendlab.errors import ParameterError
from ascendlab.load3d import Load
from ascendlab.plots._base import PictureHTML
from ascendlab.plots._frames import frames
from ascendlab.plots._grid import Grid
from ascendlab.plots._load3d_contents import (
    AGAIN,
    MATRIX_PAGE,
    NUMBERS_PAGE,
    POINT,
    TAKEN,
    k_pages,
    matrix_pages,
    order_pages,
    panel_of_feature_map,
    panel_of_fractal,
    panel_of_k,
    panel_of_matrix,
    panel_of_order,
    pixels,
    show_columns,
    show_feature_map,
    show_fractal,
    show_k_index,
    show_matrix,
    show_order,
)
from ascendlab.plots._load3d_scene import (
    VIEWS,
    Page,
    Scene,
    describe,
    order_of,
    require_fractals,
    say_k,
    say_origin,
    scene_at,
    scene_of,
)
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import INPUT, MASKED, ORIGIN, PADDING, PICKED, WINDOW

__all__ = [
    "AGAIN",
    "INPUT",
    "MASKED",
    "ORIGIN",
    "PADDING",
    "PICKED",
    "POINT",
    "TAKEN",
    "VIEWS",
    "WINDOW",
    "Load3DPicture",
    "Scene",
    "describe",
    "feature_map",
    "feature_map_shape",
    "fractal",
    "fractal_shape",
    "fractals",
    "fractals_shape",
    "k_index",
    "k_index_shape",
    "matrix",
    "matrix_shape",
    "overview",
    "say_k",
    "say_origin",
    "scene_at",
    "scene_of",
    "tile",
    "tile_shape",
]

_ROLES = [INPUT, PADDING, MASKED, TAKEN, POINT, WINDOW, ORIGIN, PICKED]
_MATRIX_ROLES = [INPUT, PADDING, TAKEN, (WINDOW, "row of the window"), PICKED]
# The largest frame in a picture of four, in pixels: 16 columns as wide as three digits and the air around them.
_ACROSS, _DOWN = 416, 188
_FOR_NUMBERS = 23  # the width of a cell in which three digits fit
_LEAST_WHOLE = 6  # pixels below which cells have no lines between them, so that nobody sees that they differ by one
_MOST_POINTS, _MOST_CHANNELS = 12, 16  # in the picture of K


def _look(load: Load, m: int, k: int, src: NDArray[Any] | None = None, out: NDArray[Any] | None = None) -> Scene:
    """Look at an element without making a result that is not shown."""
    empty = np.zeros(0, load.dtype.numpy)
    return scene_of(empty if src is None else src, load, m=m, k=k, out=empty if out is None else out)


def _grid(ax: Axes | None, panel: Panel) -> tuple[Axes, Grid]:
    """Make a grid for a panel on an Axes (a new one by default), with its title and numbers."""
    ax = ax or frames([(panel.rows, panel.columns)])[1][0]
    ax.set_title(panel.title)
    ax.set_xlabel(panel.xlabel)
    ax.set_ylabel(panel.ylabel)
    ax.xaxis.set_major_formatter(_counting_from(panel.first_column))
    ax.yaxis.set_major_formatter(_counting_from(panel.first_row))
    return ax, Grid(ax, rows=panel.rows, columns=panel.columns)


def _counting_from(first: int) -> FuncFormatter:
    """Name cells by their numbers in what the page is a part of."""
    return FuncFormatter(lambda place, _: f"{round(place) + first}")


def feature_map_shape(load: Load) -> tuple[int, int]:
    """Return the rows and columns of `feature_map`, for `ascendlab.plots.frames`; so do its sisters."""
    rows, columns = pixels(_look(load, 0, 0))
    return rows.size, columns.size


def matrix_shape(load: Load) -> tuple[int, int]:
    """Return the rows and columns of `matrix`."""
    rows, columns = matrix_pages(_look(load, 0, 0), MATRIX_PAGE)
    return rows.size, columns.size


tile_shape = matrix_shape


def fractal_shape(load: Load) -> tuple[int, int]:
    """Return the rows and columns of `fractal`."""
    require_fractals(load)
    return load.shape[-2], load.shape[-1]


def fractals_shape(load: Load) -> tuple[int, int]:
    """Return the rows and columns of `fractals`."""
    down, across = order_of(_look(load, 0, 0)).shape
    return down, across


def k_index_shape(load: Load) -> tuple[int, int]:
    """Return the rows and columns of `k_index`."""
    geometry = load.geometry
    return -(-geometry.channels // geometry.c0), geometry.window_h * geometry.window_w


def feature_map(src: NDArray[Any], load: Load, *, m: int = 0, k: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the padded feature map with a window, its filter points, and the sample behind an element.

    Parameters
    ----------
    src : ndarray
        The feature map as L1 holds it.
    load : Load
        What a call amounts to: from `ascendlab.load3d.plan_load_data_3d_v2`, `plan_load_data_3d_v1` or `plan_im2col`.
    m, k : int
        Row and column of the matrix: which window, and which filter point and channel.
    ax : Axes, optional
        Where to draw, from `ascendlab.plots.frames`.
    """
    scene = _look(load, m, k, src)
    ax, grid = _grid(ax, panel_of_feature_map(scene))
    show_feature_map(grid, scene)
    return ax


def matrix(src: NDArray[Any], load: Load, *, m: int = 0, k: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the im2col matrix: the row of one window, the padding, the part that is loaded.

    Parameters
    ----------
    src, load, m, k, ax
        As for `feature_map`; a large matrix is shown around the element.
    """
    scene = _look(load, m, k, src)
    pages = matrix_pages(scene, MATRIX_PAGE)
    ax, grid = _grid(ax, panel_of_matrix(scene, *pages))
    show_matrix(grid, scene, *pages)
    return ax


def tile(load: Load, *, m: int | None = None, k: int = 0, ax: Axes | None = None) -> Axes:
    """Draw which rows and columns of the matrix a call takes; each block of several repeats is outlined.

    Parameters
    ----------
    load, k, ax
        As for `feature_map`.
    m : int, optional
        A row to outline.
    """
    scene = _look(load, m or 0, k)
    if m is None:
        scene = replace(scene, m=None, k=None)
    pages = matrix_pages(scene, MATRIX_PAGE)
    ax, grid = _grid(ax, panel_of_matrix(scene, *pages, "what is loaded"))
    show_matrix(grid, scene, *pages, numbers=False)
    return ax


def fractals(load: Load, *, m: int = 0, k: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the fractals where the matrix has them; the number in each is its place in L0A or L0B.

    Parameters
    ----------
    load, m, k, ax
        As for `feature_map`; of several repeats the one that has the element is shown.
    """
    scene = _look(load, m, k)
    down, across = order_of(scene).shape
    pages = (Page(0, down), Page(0, across))
    ax, grid = _grid(ax, panel_of_order(scene, *pages))
    show_order(grid, scene, *pages)
    return ax


def fractal(out: NDArray[Any], load: Load, *, m: int = 0, k: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the fractal that an element lies in, as it lies in the buffer.

    Parameters
    ----------
    out : ndarray
        The call's result.
    load, m, k, ax
        As for `feature_map`.
    """
    if getattr(out, "shape", None) != load.shape:
        raise ParameterError("out", out, f"the call's result, of shape {load.shape}")
    scene = _look(load, m, k, out=out)
    ax, grid = _grid(ax, panel_of_fractal(scene))
    show_fractal(grid, scene)
    return ax


def k_index(load: Load, *, k: int = 0, ax: Axes | None = None) -> Axes:
    """Draw how the matrix's columns are numbered: by channel group, filter point (kh, kw), channel in the group.

    Parameters
    ----------
    load, k, ax
        As for `feature_map`.
    """
    scene = _look(load, 0, k)
    pages = tuple(Page(0, size) for size in k_index_shape(load))
    ax, grid = _grid(ax, panel_of_k(*pages))
    show_k_index(grid, scene, *pages)
    return ax


def overview(src: NDArray[Any], load: Load, *, m: int = 0, k: int = 0, view: str = "overview") -> PictureHTML:
    """Return all pictures at once, with the same element outlined in each; for the last line of a notebook cell.

    Parameters
    ----------
    src, load, m, k
        As for `feature_map`.
    view : str
        One of the values of `VIEWS`.
    """
    scene, picture = scene_of(src, load, m=m, k=k), Load3DPicture()
    return PictureHTML(picture.draw(view, scene), describe(view, scene), picture.panels.width, picture.panels.height)


class Load3DPicture:
    """Draws a `Scene` in one of the `VIEWS`, again and again.

    Parameters
    ----------
    width, height : int
        In CSS pixels.
    """

    def __init__(self, width: int = 760, height: int = 560) -> None:
        self.panels = Panels(width, height, count=4)

    def draw(self, view: str, scene: Scene) -> bytes:
        """Return the view ("overview", "matrix", "fractal", "tile" or "k_index") as PNG."""
        draw = {
            "overview": self._draw_overview,
            "matrix": self._draw_matrix,
            "fractal": self._draw_fractal,
            "tile": self._draw_tile,
            "k_index": self._draw_k_index,
        }.get(view)
        if draw is None:
            raise ParameterError("view", view, "one of " + ", ".join(VIEWS.values()))
        draw(scene)
        return self.panels.png()

    def _draw_overview(self, scene: Scene) -> None:
        pages = matrix_pages(scene, (_DOWN, _ACROSS))
        panels = [panel_of_feature_map(scene), panel_of_matrix(scene, *pages)]
        rest = self.panels.width - _ACROSS - 112  # beside the larger frame
        # A high, narrow feature map gets low cells, in which numbers fit, instead of small ones.
        low = rest // panels[0].columns >= _FOR_NUMBERS > 208 // panels[0].rows
        boxes = [_box(panels[0], 46, 24, rest, 208, square=not low, highest=40),
                 _box(panels[1], 46, 292, _ACROSS, _DOWN, square=False)]  # fmt: skip
        if scene.load.buffer:
            places = order_pages(scene)
            panels += [panel_of_fractal(scene), panel_of_order(scene, *places)]
            boxes += [_box(panels[2], self.panels.width - _ACROSS - 10, 24, _ACROSS, 208, square=False),
                      _box(panels[3], _ACROSS + 102, 292, rest, _DOWN, square=False)]  # fmt: skip
        self.panels.place(panels, boxes, _roles(scene, _ROLES), legend_rows=2)
        show_feature_map(self.panels.grids[0], scene)
        show_matrix(self.panels.grids[1], scene, *pages)
        if scene.load.buffer:
            show_fractal(self.panels.grids[2], scene)
            show_order(self.panels.grids[3], scene, *places)

    def _alone(self, panel: Panel, roles: Sequence[Any]) -> Grid:
        """Give the whole picture to one panel."""
        width, height = self.panels.width - 56, self.panels.height - 82
        self.panels.place([panel], [_box(panel, 46, 24, width, height, square=False, widest=60, highest=40)], roles)
        return self.panels.grids[0]

    def _draw_matrix(self, scene: Scene) -> None:
        pages = matrix_pages(scene, NUMBERS_PAGE)
        show_matrix(self._alone(panel_of_matrix(scene, *pages), _roles(scene, _MATRIX_ROLES)), scene, *pages)

    def _draw_tile(self, scene: Scene) -> None:
        pages = matrix_pages(scene, MATRIX_PAGE)
        panel = panel_of_matrix(scene, *pages, "what is loaded")
        show_matrix(self._alone(panel, _roles(scene, _MATRIX_ROLES)), scene, *pages, numbers=False)

    def _draw_fractal(self, scene: Scene) -> None:
        show_fractal(self._alone(panel_of_fractal(scene), [INPUT, PADDING, MASKED, WINDOW, PICKED]), scene)

    def _draw_k_index(self, scene: Scene) -> None:
        geometry, (groups, points) = scene.geometry, k_pages(scene)
        group, down, across, channel = geometry.column(scene.k or 0)
        height, width = (Page.around(at, size, _MOST_POINTS) for at, size in
                         ((down, geometry.window_h), (across, geometry.window_w)))  # fmt: skip
        depth = geometry.c0 if group < geometry.channels // geometry.c0 else geometry.tail
        channels = Page.around(channel, depth, _MOST_CHANNELS)
        panels = [
            panel_of_k(groups, points),
            Panel(f"c1 {group}: first k of each filter point", height.size, width.size, "kh", "kw",
                  height.start, width.start),
            Panel(f"c1 {group}, kh {down}, kw {across}: k of each channel", 1, channels.size, "k", "c0",
                  0, channels.start),
        ]  # fmt: skip
        boxes, top = [], 24
        # What the titles, the labels and the legend leave, shared by all rows of the three.
        down_each = (self.panels.height - 22 - 3 * 72) // sum(panel.rows for panel in panels)
        for panel in panels:
            boxes.append(_box(panel, 46, top, self.panels.width - 56, down_each * panel.rows, square=False,
                              widest=78, highest=40))  # fmt: skip
            top += boxes[-1][3] + 72
        self.panels.place(panels, boxes, [INPUT, TAKEN, PICKED])
        show_k_index(self.panels.grids[0], scene, groups, points)
        point = np.arange(*height)[:, None] * geometry.window_w + np.arange(*width)
        picked = scene.k is not None
        show_columns(self.panels.grids[1], scene, geometry.first_column(group, point),
                     (down - height.start, across - width.start) if picked else None)  # fmt: skip
        first = geometry.first_column(group, down * geometry.window_w + across)
        show_columns(self.panels.grids[2], scene, first + np.arange(*channels)[None],
                     (0, channel - channels.start) if picked else None)  # fmt: skip


def _roles(scene: Scene, roles: Sequence[Any]) -> list[Any]:
    """Add what only repeats that overlap show."""
    place = roles.index(TAKEN) + 1
    return [*roles[:place], *[AGAIN] * scene.overlapping, *roles[place:]]


def _box(
    panel: Panel, left: int, top: int, width: int, height: int, *, square: bool = True, widest: int = 40,
    highest: int = 24,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Fit a panel's cells into a box, in whole pixels where there are lines between them."""
    across, down = min(width / panel.columns, widest), min(height / panel.rows, highest)
    if square:
        across = down = min(across, down)
    across, down = (float(int(size)) if size >= _LEAST_WHOLE else size for size in (across, down))
    return left, top, max(1, round(across * panel.columns)), max(1, round(down * panel.rows))
