"""Pictures of a comparison: where a device's output differs from the golden data, and how.

>>> from ascendlab.compare import compare
>>> golden = np.arange(40 * 33, dtype=np.float16).reshape(40, 33)
>>> actual = golden.copy()
>>> actual[20, 5] = 7
>>> found = compare(actual, golden)
>>> mismatch_map(found).get_title(loc="left")
'mismatches: 1 of 1,320 elements'
>>> part(found).get_title(loc="left")
'actual, rows 16 on, columns 0 on'
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ascendlab.compare import Comparison, Mismatch
from ascendlab.compare_places import Part, part_around
from ascendlab.plots._base import TEXT_POINTS, PictureHTML, axes_at, legend, legend_height, new_figure
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import ALL_DIFFERENT, DIFFERENT, OUTPUT, PICKED, WINDOW, Role

__all__ = ["GoldenPicture", "describe", "differences", "mismatch_map", "part", "picture_of"]

_FIRST = (WINDOW, "first mismatch")
_WORST = (PICKED, "farthest off")
_EQUAL = (OUTPUT, "all equal")
_MOST_CELLS = 180  # of a map, in each direction; beyond, several cells are drawn as one
_ACROSS = 32  # a single row of cells is broken into rows of so many
_BINS = 41
_LEAST_ROW = 16  # pixels that a row of numbers needs
_LOW = 8  # rows of a part up to which the two stand one above the other


class _Map:
    """A comparison's map, made small enough to be drawn."""

    def __init__(self, comparison: Comparison) -> None:
        cells = comparison.cells
        counts, sizes = comparison.mismatch_map(), cells.sizes()
        self.vertical, self.horizontal, self.unit = cells.vertical, cells.horizontal, cells.unit
        self.broken = counts.shape[0] == 1 and counts.shape[1] > _ACROSS
        columns = _ACROSS if self.broken else counts.shape[1]
        if self.broken:
            pad = -counts.size % _ACROSS
            counts, sizes = (np.pad(a.reshape(-1), (0, pad)).reshape(-1, _ACROSS) for a in (counts, sizes))
            self.vertical = f"row of {_ACROSS}"
        self.step = max(1, -(-max(counts.shape) // _MOST_CELLS))
        self.counts, self.sizes = _summed(counts, self.step), _summed(sizes, self.step)
        self._cells, self._columns, self._comparison = cells, columns, comparison

    @property
    def words(self) -> str:
        """What a cell of the drawing is."""
        return self.unit if self.step == 1 else f"{self.step} x {self.step} {self.unit}s"

    def place(self, mismatch: Mismatch) -> tuple[int, int]:
        """Return the row and column of the cell that an element lies in."""
        flat = np.ravel_multi_index(mismatch.index, self._comparison.golden.shape) if mismatch.index else 0
        number = int(self._cells.numbers(np.array([flat]))[0])
        row, column = divmod(number, self._columns)
        return row // self.step, column // self.step

    def marks(self) -> list[Mark]:
        """Outline the cells of the first mismatch and of the worst one."""
        found = self._comparison
        marks = []
        if found.first is not None:
            marks.append(Mark(WINDOW, *self.place(found.first)))
        if found.worst:
            marks.append(Mark(PICKED, *self.place(found.worst[0])))
        return marks

    def show(self, grid: Grid) -> None:
        """Draw the cells: the more elements differ, the darker."""
        share = self.counts / np.maximum(self.sizes, 1)
        white = np.full(3, 255.0)
        rgb = np.empty((*share.shape, 3))
        rgb[:] = white
        some = share > 0
        # Even one of very many elements must be seen, and in small cells hatches cannot be.
        strength = np.full((*share.shape, 1), 1.0) if self.step > 1 else (0.15 + 0.4 * share)[..., None]
        rgb[some] = (white + (DIFFERENT.rgb - white) * strength)[some]
        rgb[~some & (self.sizes > 0)] = OUTPUT.tint
        whole = some & (self.counts == self.sizes)
        numbers = np.ma.masked_where(self.counts == 0, self.counts)
        grid.show(
            numbers, rgb=rgb.round().astype(np.uint8), areas={ALL_DIFFERENT: whole}, marks=self.marks(), outlined=False
        )


def _summed(array: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Add up blocks of step x step."""
    if step == 1:
        return array
    rows = np.add.reduceat(array, np.arange(0, array.shape[0], step), axis=0)
    return np.asarray(np.add.reduceat(rows, np.arange(0, array.shape[1], step), axis=1))


def _map_title(comparison: Comparison) -> str:
    return f"mismatches: {comparison.mismatches:,} of {comparison.golden.size:,} elements"


def _roles(*, marked: bool) -> list[tuple[Role, str]]:
    roles = [_EQUAL, (DIFFERENT, DIFFERENT.name), (ALL_DIFFERENT, ALL_DIFFERENT.name)]
    return [*roles, _FIRST, _WORST] if marked else roles


def mismatch_map(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw where the mismatches lie: a cell for each fractal, pixel or DataBlock.

    Cells without a mismatch are green, others the darker the more of their elements differ, and hatched if all do;
    numbers count the mismatches, where they fit.

    Parameters
    ----------
    comparison : Comparison
        From `ascendlab.compare.compare`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    shown = _Map(comparison)
    rows, columns = shown.counts.shape
    if ax is None:
        cell = max(2, min(40, 480 // max(rows, columns, 1)))
        wide, high = columns * cell, max(rows * cell, 80)
        full, roles = max(wide + 80, 480), _roles(marked=bool(comparison.mismatches))
        figure = new_figure(full, high + 84 + legend_height(roles, width=full, left=10))
        ax = axes_at(figure, left=60, top=30, width=wide, height=high)
        legend(figure, roles, left=10, top=high + 80)
    _label(ax, _map_title(comparison), shown.horizontal, shown.vertical)
    shown.show(Grid(ax, rows=max(1, rows), columns=max(1, columns)))
    _set_ticks(ax, (rows, columns), (0, 0))
    return ax


def _chosen(comparison: Comparison, index: Sequence[int] | None) -> tuple[int, ...]:
    """Return the element to look at: the one given, the one that is farthest off, or the first of all."""
    if index is not None:
        return tuple(index)
    best = comparison.worst[0] if comparison.worst else comparison.first
    return best.index if best is not None else (0,) * comparison.golden.ndim


def _part(comparison: Comparison, index: Sequence[int] | None) -> Part:
    golden = comparison.golden
    return part_around(comparison.layout, golden.shape, _chosen(comparison, index), golden.dtype)


def _show_part(grid: Grid, comparison: Comparison, part: Part, *, actual: bool) -> None:
    """Draw a part's numbers, with the bad ones coloured."""
    both = [np.ascontiguousarray(a).reshape(-1)[part.flat] for a in (comparison.actual, comparison.golden)]
    shape = part.flat.shape
    one, two = (np.ascontiguousarray(a.reshape(-1)) for a in both)
    bad = comparison.criteria.bad(one, two).reshape(shape)
    values = both[0] if actual else both[1]
    whole = values.dtype.kind in "iu"
    numbers = values if whole else values.astype(np.float64)
    areas = {OUTPUT: ~bad, DIFFERENT: bad}
    marks = []
    if comparison.worst:
        flat = np.ravel_multi_index(comparison.worst[0].index, comparison.golden.shape)
        marks = [Mark(PICKED, int(y), int(x)) for y, x in np.argwhere(part.flat == flat)]
    grid.show(numbers, areas=areas, marks=marks, outlined=False)


def part(
    comparison: Comparison, index: Sequence[int] | None = None, *, which: str = "actual", ax: Axes | None = None
) -> Axes:
    """Draw the surroundings of an element, number by number: its fractal, the pixels near it, its DataBlocks.

    Parameters
    ----------
    comparison : Comparison
        From `ascendlab.compare.compare`.
    index : sequence of int, optional
        The element; by default the one that is farthest off.
    which : {"actual", "golden"}
        Whose numbers.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    shown = _part(comparison, index)
    rows, columns = shown.flat.shape
    if ax is None:
        cell = 40 if columns <= 16 else 26
        figure = new_figure(columns * cell + 80, rows * 24 + 80)
        ax = axes_at(figure, left=56, top=28, width=columns * cell, height=rows * 24)
    name = comparison.names[0 if which == "actual" else 1]
    _label(ax, f"{name}, {shown.words}", shown.horizontal, shown.vertical)
    grid = Grid(ax, rows=max(1, rows), columns=max(1, columns))
    _show_part(grid, comparison, shown, actual=which == "actual")
    _set_ticks(ax, shown.flat.shape, shown.first)
    return ax


def _label(ax: Axes, title: str, horizontal: str, vertical: str) -> None:
    """Write title and axes in one size, whatever the axes' own style is."""
    ax.set_title(title, fontsize=TEXT_POINTS + 1, loc="left")
    ax.set_xlabel(horizontal, fontsize=TEXT_POINTS)
    ax.set_ylabel(vertical, fontsize=TEXT_POINTS)


def _set_ticks(ax: Axes, shape: tuple[int, ...], first: tuple[int, int]) -> None:
    """Write numbers beside rows and columns, at most nine of each."""
    for count, start, axis in ((shape[1], first[1], ax.xaxis), (shape[0], first[0], ax.yaxis)):
        places = list(range(0, count, max(1, -(-count // 8))))
        axis.set_ticks(places, [str(start + place) for place in places])


def differences(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw how far the bad elements are off: a histogram of actual minus golden.

    Parameters
    ----------
    comparison : Comparison
        From `ascendlab.compare.compare`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Its title counts the elements without a finite difference, which have no place in it.
    """
    if ax is None:
        figure = new_figure(420, 240)
        ax = axes_at(figure, left=70, top=30, width=330, height=150)
    _, actual, golden = comparison.bad_elements()
    with np.errstate(all="ignore"):
        far = actual.astype(np.float64) - golden.astype(np.float64)
    finite = far[np.isfinite(far)]
    odd = far.size - finite.size
    more = f", and {odd:,} without a difference" if odd else ""
    _label(ax, f"how far off: {finite.size:,} elements{more}", "actual - golden", "elements")
    if finite.size:
        # An odd number of bins around 0, so that one of them is where nothing is off.
        reach = max(float(np.abs(finite).max()), 1e-300)
        counts, edges = np.histogram(finite / reach, bins=_BINS, range=(-1.0, 1.0))
        ax.bar((edges[:-1] + edges[1:]) / 2 * reach, counts, width=2 * reach / _BINS, color=DIFFERENT.color,
               edgecolor="black", linewidth=0.5)  # fmt: skip
        ax.set_yscale("symlog" if counts.max() > 50 * max(1, counts[counts > 0].min()) else "linear")
    return ax


class GoldenPicture:
    """Draws a comparison: the map, and golden and actual numbers around one element.

    Parameters
    ----------
    width, height : int
        In CSS pixels.
    """

    def __init__(self, width: int = 860, height: int = 620) -> None:
        self.panels = Panels(width, height, count=3)

    def draw(self, comparison: Comparison, index: Sequence[int] | None = None) -> bytes:
        """Return the picture as PNG."""
        shown, part = _Map(comparison), _part(comparison, index)
        rows, columns = (max(1, size) for size in shown.counts.shape)
        high, wide = (max(1, size) for size in part.flat.shape)
        layout = [
            Panel(f"{_map_title(comparison)}; a cell: {shown.words}", rows, columns, shown.vertical, shown.horizontal),
            *(
                Panel(f"{name}, {part.words}", high, wide, part.vertical, part.horizontal, *part.first)
                for name in reversed(comparison.names)
            ),
        ]
        boxes = self._boxes((rows, columns), (high, wide))
        self.panels.place(layout, boxes, _roles(marked=bool(comparison.mismatches)))
        shown.show(self.panels.grids[0])
        for grid, actual in zip(self.panels.grids[1:], (False, True), strict=True):
            _show_part(grid, comparison, part, actual=actual)
        return self.panels.png()

    def _boxes(self, cells: tuple[int, int], part: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
        """Place the map above the two parts: those side by side, or one above the other if they are low."""
        width, height = self.panels.width, self.panels.height - 26
        high, wide = part
        stacked = high <= _LOW
        lines = 2 if stacked else 1
        across = (width - 66) if stacked else (width - 124) // 2
        free = height - 66 * (1 + lines)
        cell = min(40.0, (width - 66) / cells[1], (free - _LEAST_ROW * high * lines) / cells[0])
        map_height = max(1, round(cell * cells[0]))
        cell_x, cell_y = min(44.0, across / wide), min(22.0, (free - map_height) / (high * lines))
        below = 24 + map_height + 66
        boxes = [(46, 24, max(1, round(cell * cells[1])), map_height)]
        for i in (0, 1):
            left, top = (46, below + i * (66 + round(cell_y * high))) if stacked else (46 + i * (width // 2), below)
            boxes.append((left, top, round(cell_x * wide), round(cell_y * high)))
        return boxes


def describe(comparison: Comparison, index: Sequence[int] | None = None) -> str:
    """Say what the picture of a comparison shows, for those who do not see it."""
    shown = _Map(comparison)
    rows, columns = shown.counts.shape
    bad, whole = int((shown.counts > 0).sum()), int(((shown.counts == shown.sizes) & (shown.counts > 0)).sum())
    words = (
        f"A map of {rows} x {columns} cells, each {shown.words}: {comparison.mismatches:,} of "
        f"{comparison.golden.size:,} elements differ, in {bad:,} cells; in {whole:,} of them all do."
    )
    for name, mismatch in (("First", comparison.first), ("Farthest off", (*comparison.worst, None)[0])):
        if mismatch is not None:
            words += f" {name}: {mismatch.place}, {mismatch.actual:g} instead of {mismatch.golden:g}."
    part = _part(comparison, index)
    return f"{words} Below, the numbers of {' and '.join(reversed(comparison.names))}, {part.words}."


def picture_of(comparison: Comparison, index: Sequence[int] | None = None, **size: int) -> PictureHTML:
    """Return a comparison's picture for the last line of a notebook cell."""
    drawer = GoldenPicture(**size)
    return PictureHTML(drawer.draw(comparison, index), describe(comparison, index), drawer.panels.width,
                       drawer.panels.height)  # fmt: skip
