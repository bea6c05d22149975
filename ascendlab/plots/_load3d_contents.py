"""What the pictures of Load3D are made of: grids filled from a scene, and the frames around them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._load3d_scene import (
    Page,
    Scene,
    covered,
    is_turned,
    matrix_rows,
    order_of,
    say_layout,
    taken_columns,
    times_taken,
)
from ascendlab.plots._panels import Panel
from ascendlab.plots._roles import INPUT, MASKED, ORIGIN, OUTPUT, PADDING, PICKED, WINDOW, Role

__all__ = [
    "AGAIN",
    "MATRIX_PAGE",
    "NUMBERS_PAGE",
    "POINT",
    "TAKEN",
    "k_pages",
    "matrix_pages",
    "order_pages",
    "panel_of_feature_map",
    "panel_of_fractal",
    "panel_of_k",
    "panel_of_matrix",
    "panel_of_order",
    "pixels",
    "show_columns",
    "show_feature_map",
    "show_fractal",
    "show_k_index",
    "show_matrix",
    "show_order",
]

TAKEN = replace(OUTPUT, name="loaded")
AGAIN = replace(OUTPUT, name="loaded again", hatch="\\")
POINT = Role("filter point", WINDOW.color, width=1.0)

_MOST_PIXELS = 512  # along one side of a feature map
_MOST_NUMBERS = 32  # beyond, a feature map is coloured by its values
_MOST_COLUMNS = 40  # of a matrix, beyond which no number fits
_MOST_OUTLINED = 400  # filter points
MATRIX_PAGE = (400, 640)  # rows and columns, where a matrix is shown by colours
NUMBERS_PAGE = (20, 16)
_ORDER_PAGE = (8, 9)
_K_PAGE = (6, 12)


def pixels(scene: Scene) -> tuple[Page, Page]:
    """Rows and columns of the feature map that are shown, padding included (so they may begin below zero)."""
    geometry = scene.geometry
    left, right, top, bottom = geometry.pads
    row, column = geometry.corner(scene.m or 0)
    # Load3Dv1 also takes windows below the last one.
    height = max(top + geometry.height + bottom, top + row + covered(geometry)[0])
    pages = (
        (Page.around(row + top, height, _MOST_PIXELS), top),
        (Page.around(column + left, left + geometry.width + right, _MOST_PIXELS), left),
    )
    y, x = (Page(page.start - before, page.stop - before) for page, before in pages)
    return y, x


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as integers, which are written faster than others, and without a point."""
    if values.dtype.kind != "f":
        return values
    wide = values.astype(np.float64)
    whole = bool((np.abs(wide) < 2**53).all()) and bool((wide % 1 == 0).all())
    return wide.astype(np.int64) if whole else values


def _shade(values: NDArray[Any], rgb: NDArray[np.uint8]) -> None:
    """Darken cells by their values, where there is no room for numbers."""
    low, high = float(values.min()), float(values.max())
    share = (values.astype(np.float64) - low) / (high - low or 1.0)
    rgb[...] = rgb * (1 - 0.6 * share[:, :, None])


def _marked(
    role: Role, rows: Page, columns: Page, row: int, column: int, height: int = 1, width: int = 1
) -> list[Mark]:
    """Outline what of a block of positions is shown on a page."""
    top, bottom = max(row, rows.start), min(row + height, rows.stop)
    left, right = max(column, columns.start), min(column + width, columns.stop)
    if top >= bottom or left >= right:
        return []
    return [Mark(role, top - rows.start, left - columns.start, bottom - top, right - left)]


def show_feature_map(grid: Grid, scene: Scene) -> None:
    """Draw the channel that is looked at, with the window and its filter points."""
    geometry, (rows, columns) = scene.geometry, pixels(scene)
    y, x = np.arange(*rows), np.arange(*columns)
    inside = geometry.inside(y[:, None], x)
    values = np.full(inside.shape, scene.pad)
    there = np.ix_(geometry.inside(y, 0), geometry.inside(0, x))
    values[there] = scene.plane[np.ix_(y[geometry.inside(y, 0)], x[geometry.inside(0, x)])]
    points, marks, outlined = np.zeros(inside.shape, bool), [], True
    if scene.m is not None and scene.k is not None:
        row, column = geometry.corner(scene.m)
        height, width = covered(geometry)
        down = row + np.arange(geometry.window_h) * geometry.dilation_h
        across = column + np.arange(geometry.window_w) * geometry.dilation_w
        points[np.ix_(np.isin(y, down), np.isin(x, across))] = True
        outlined = down.size * across.size <= _MOST_OUTLINED
        _, sample_row, sample_column, _ = geometry.sample(scene.m, scene.k)
        marks = [
            *_marked(WINDOW, rows, columns, row, column, height, width),
            *_marked(ORIGIN, rows, columns, sample_row, sample_column),
        ]
    areas = {INPUT: inside, PADDING: ~inside, POINT: points}
    if max(values.shape) <= _MOST_NUMBERS:
        grid.show(_numbers(values), areas=areas, marks=marks, outlined=outlined)
        return
    rgb = _tinted(areas)
    _shade(values, rgb)
    grid.show(rgb=rgb, areas=areas, marks=marks, outlined=outlined)


def _tinted(areas: dict[Role, NDArray[np.bool_]]) -> NDArray[np.uint8]:
    """Colour cells by what they are; later areas win."""
    rgb = np.full((*next(iter(areas.values())).shape, 3), 255, np.uint8)
    for role, mask in areas.items():
        rgb[mask] = role.tint
    return rgb


def matrix_pages(scene: Scene, most: tuple[int, int]) -> tuple[Page, Page]:
    """Rows and columns of the matrix that are shown, at most so many."""
    return (
        Page.around(scene.m, matrix_rows(scene.load), most[0]),
        Page.around(scene.k, scene.geometry.k, most[1]),
    )


def show_matrix(grid: Grid, scene: Scene, rows: Page, columns: Page, *, numbers: bool = True) -> None:
    """Draw a part of the matrix: what is loaded, what is padding, the row that is looked at."""
    padded = scene.index(rows, columns) < 0
    times = times_taken(scene.load, rows, columns)
    taken = times > 0
    areas = {INPUT: ~padded, TAKEN: taken, PADDING: padded}
    rgb = _tinted({INPUT: ~padded, PADDING: padded, TAKEN: taken})
    blocks = scene.blocks
    if scene.overlapping:
        # All their outlines together would look like more blocks, and smaller ones, than there are.
        areas[AGAIN] = times > 1
        blocks = blocks[scene.repeat : scene.repeat + 1]
    marks = [mark for block in blocks for mark in _marked(TAKEN, rows, columns, *block)]
    if scene.m is not None and scene.k is not None:
        marks += _marked(WINDOW, rows, columns, scene.m, 0, 1, scene.geometry.k)
        marks += _marked(PICKED, rows, columns, scene.m, scene.k)
    values = _numbers(scene.elements(rows, columns)) if numbers and columns.size <= _MOST_COLUMNS else None
    grid.show(values, rgb=rgb, areas=areas, marks=marks, outlined=False)


def show_fractal(grid: Grid, scene: Scene) -> None:
    """Draw the fractal of the picked element as it lies in the buffer."""
    found = scene.fractal
    areas = {INPUT: found.source >= 0, PADDING: found.source == -1, MASKED: found.source == -2}
    marks = []
    if scene.place is not None:
        y, x = scene.place[-2:]
        if scene.m is not None:
            height, width = found.values.shape
            row = Mark(WINDOW, 0, x, height, 1) if is_turned(scene.load) else Mark(WINDOW, y, 0, 1, width)
            marks.append(row)
        marks.append(Mark(PICKED, y, x))
    grid.show(_numbers(found.values), areas=areas, marks=marks)


def order_pages(scene: Scene) -> tuple[Page, Page]:
    """Fractals of the picked repeat that are shown, down M and across K."""
    order = order_of(scene)
    number = scene.number
    y, x = (int(i[0]) if len(i) else 0 for i in np.nonzero(order == number))
    return Page.around(y, order.shape[0], _ORDER_PAGE[0]), Page.around(x, order.shape[1], _ORDER_PAGE[1])


def show_order(grid: Grid, scene: Scene, rows: Page, columns: Page) -> None:
    """Draw the fractals where the matrix has them, each with its place in the buffer."""
    order = order_of(scene)[slice(*rows), slice(*columns)]
    marks = []
    if scene.place is not None:
        marks = [Mark(PICKED, int(y), int(x)) for y, x in np.argwhere(order == scene.number)]
    grid.show(order, areas={TAKEN: np.ones(order.shape, bool)}, marks=marks)


def show_columns(grid: Grid, scene: Scene, first: NDArray[np.int64], at: tuple[int, int] | None) -> None:
    """Draw column numbers of the matrix: which of them are loaded, which one is picked."""
    taken = taken_columns(scene.load)[first]
    grid.show(first, areas={INPUT: ~taken, TAKEN: taken}, marks=[] if at is None else [Mark(PICKED, *at)])


def k_pages(scene: Scene) -> tuple[Page, Page]:
    """Channel groups and filter points that are shown."""
    geometry = scene.geometry
    group, down, across, _ = geometry.column(scene.k or 0)
    groups = -(-geometry.channels // geometry.c0)
    points = geometry.window_h * geometry.window_w
    return Page.around(group, groups, _K_PAGE[0]), Page.around(down * geometry.window_w + across, points, _K_PAGE[1])


def show_k_index(grid: Grid, scene: Scene, groups: Page, points: Page) -> None:
    """Draw the first column of each channel group (down) and filter point (across)."""
    geometry = scene.geometry
    first = geometry.first_column(np.arange(*groups)[:, None], np.arange(*points))
    group, down, across, _ = geometry.column(scene.k or 0)
    place = (group - groups.start, down * geometry.window_w + across - points.start)
    show_columns(grid, scene, first, None if scene.k is None else place)


def panel_of_feature_map(scene: Scene) -> Panel:
    """Frame the channel that is looked at."""
    group, _, _, channel = scene.geometry.column(scene.k or 0)
    rows, columns = pixels(scene)
    return Panel(f"feature map, c1 {group}, c0 {channel}", rows.size, columns.size, "row", "column",
                 rows.start, columns.start)  # fmt: skip


def panel_of_matrix(scene: Scene, rows: Page, columns: Page, title: str = "matrix") -> Panel:
    """Frame a part of the matrix."""
    geometry = scene.geometry
    more = rows.words(geometry.m, "rows") + columns.words(geometry.k, "columns")
    if scene.overlapping:
        more += f", block {scene.repeat + 1} of {len(scene.blocks)}"
    return Panel(f"{title}: M = {geometry.m}, K = {geometry.k}{more}", rows.size, columns.size, "m, window", "k",
                 rows.start, columns.start)  # fmt: skip


def panel_of_fractal(scene: Scene) -> Panel:
    """Frame the fractal of the picked element."""
    found = scene.fractal
    (height, width), title = found.values.shape, f"fractal {scene.number} of {scene.load.buffer}"
    row, column = (max(0, int(axis.flat[0])) for axis in (found.rows, found.columns))
    if is_turned(scene.load):
        return Panel(title, height, width, "k", "m, window", column, row)
    return Panel(title, height, width, "m, window", "k", row, column)


def panel_of_order(scene: Scene, rows: Page, columns: Page) -> Panel:
    """Frame the fractals of the picked repeat."""
    down, across = order_of(scene).shape
    ylabel, xlabel = (
        f"along {axis}" + (f", {count} in all" if page.size < count else "")
        for axis, page, count in (("M", rows, down), ("K", columns, across))
    )
    title = f"places in {scene.load.buffer}: {say_layout(scene.load)}"
    return Panel(title, rows.size, columns.size, ylabel, f"fractals {xlabel}", rows.start, columns.start)


def panel_of_k(groups: Page, points: Page) -> Panel:
    """Frame the columns' numbers."""
    return Panel("first k of each filter point", groups.size, points.size, "c1", "filter point, kh * Wk + kw",
                 groups.start, points.start)  # fmt: skip
