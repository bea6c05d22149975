"""Pictures of BilinearInterpolation: gather, multiply, accumulate; the blocks of a vertical repeat; strips of memory.

>>> from ascendlab.plots import frames
>>> from ascendlab.vector import bilinear_interpolation, bilinear_interpolation_plan
>>> src0, src1 = np.arange(1, 513, dtype=np.float16), np.arange(2, 18, dtype=np.float16)
>>> arguments = (np.arange(0, 1024, 32, dtype=np.uint32), src1, 128, 2, False, 1, 128, 2)
>>> plan = bilinear_interpolation_plan(src0, *arguments)
>>> figure, axes = frames([(2, 16), (2, 16), (2, 16)], across=1, roles=[READ, SUM])
>>> gathered(src0, plan, ax=axes[0]).get_title()
'1. gather: DataBlocks 0, 8 of src0'
>>> multiplied(src0, src1, plan, ax=axes[1]).get_title()
'2. multiply: by 2, 3'
>>> accumulated(src0, src1, plan, ax=axes[2]).get_title()
'3. accumulate: running sum in half'
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ascendlab.bilinear_stages import place_of
from ascendlab.dtypes import BLOCKS_PER_REPEAT, TYPES
from ascendlab.plots._bilinear_scene import ROWS, VIEWS, Scene, describe, listed, say_origin, say_tmp_buffer, steps_of
from ascendlab.plots._blocks import (
    ACROSS,
    CURRENT,
    NOT_ADDRESSED,
    READ,
    WRITTEN,
    blocks_in,
    marks_at,
    show_strip,
    strip_rows,
    titled_grid,
    titled_strip,
    whole_blocks,
)
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import CHANNEL_PADDING, MASKED, ORIGIN, PICKED, WINDOW, Role
from ascendlab.vector import BilinearInterpolationPlan

__all__ = [
    "CURRENT",
    "MASKED",
    "NOT_ADDRESSED",
    "PRODUCT",
    "READ",
    "ROWS",
    "SUM",
    "VIEWS",
    "WRITTEN",
    "BilinearInterpolationPicture",
    "Scene",
    "accumulated",
    "describe",
    "destination_blocks",
    "destination_strip",
    "gathered",
    "multiplied",
    "say_origin",
    "say_tmp_buffer",
    "source_blocks",
    "source_strip",
]

PRODUCT = replace(CHANNEL_PADDING, name="product")
SUM = replace(WRITTEN, name="running sum")
_SHOWN_ITERATION = replace(WINDOW, name="the iteration shown")

_C0 = TYPES["half"].c0
_STRIPS = ("src0: iteration (v * hRepeat + h) that reads the block", "dst: vertical repeat that writes the block")


def _stage_titles(scene: Scene) -> tuple[str, str, str]:
    rows, block = scene.rows, scene.block
    return (
        f"1. gather: DataBlocks {listed(scene.plan.source_blocks[scene.repeat, rows, block])} of src0",
        f"2. multiply: by {listed(scene.stages.weights[rows, block])}",
        "3. accumulate: running sum in half",
    )


def _stage_label(scene: Scene) -> str:
    """Name the rows; they are counted from 0, whatever the first iteration is."""
    return f"iteration - {scene.first}" if scene.first else "iteration"


def _show_stage(grid: Grid, scene: Scene, values: NDArray[np.float16], role: Role, mark: Role, last: bool) -> None:
    shown = values[scene.rows, scene.block]
    marks = [Mark(_SHOWN_ITERATION, scene.iteration - scene.first, 0, 1, _C0)]
    if scene.lane is not None:
        # Only the last of all sums is the element that was picked.
        at = range(len(shown)) if not last else range(scene.h_repeat - 1 - scene.first, len(shown))
        marks += [Mark(mark, row, scene.lane) for row in at]
    grid.show(shown, areas={role: np.ones(shown.shape, bool)}, marks=marks)


def show_gathered(grid: Grid, scene: Scene) -> None:
    """Draw the samples of one destination block, a row for each iteration."""
    _show_stage(grid, scene, scene.stages.samples, READ, ORIGIN, last=False)


def show_multiplied(grid: Grid, scene: Scene) -> None:
    """Draw the products."""
    _show_stage(grid, scene, scene.stages.products, PRODUCT, ORIGIN, last=False)


def show_accumulated(grid: Grid, scene: Scene) -> None:
    """Draw the running sums."""
    _show_stage(grid, scene, scene.stages.sums, SUM, PICKED, last=True)


def show_source(grid: Grid, scene: Scene) -> None:
    """Draw the DataBlocks that the shown iteration reads."""
    values = scene.stages.samples[scene.iteration]
    place = None if scene.picked is None else place_of(scene.plan, scene.picked)
    marks = []
    if place is not None and place.written and place.repeat == scene.repeat:
        marks = [Mark(ORIGIN, place.block, place.lane)]
    grid.show(values, areas={READ: np.ones(values.shape, bool)}, marks=marks)


def show_destination(grid: Grid, scene: Scene) -> None:
    """Draw the destination blocks of the shown vertical repeat, and which of their lanes are written."""
    plan, steps = scene.plan, steps_of(scene.repeat)
    values = whole_blocks(scene.out, _C0, plan.dst.number(steps))
    marks = [Mark(CURRENT, scene.block, 0, 1, _C0), *marks_at(plan.dst, steps, _C0, scene.picked, PICKED)]
    grid.show(values, areas={WRITTEN: plan.lanes, MASKED: ~plan.lanes}, marks=marks)


def show_source_strip(grid: Grid, scene: Scene) -> None:
    """Draw src0 as a strip; each cell says which iteration reads the block, the last one if there are several."""
    numbers = scene.plan.source_blocks.ravel()
    marks = [Mark(ORIGIN, *divmod(index // _C0, ACROSS)) for index in scene.origins]
    current = scene.plan.source_blocks[scene.repeat, scene.iteration]
    show_strip(grid, numbers, np.arange(numbers.size) // BLOCKS_PER_REPEAT, blocks_in(scene.src0, _C0),
               role=READ, current=current, marks=marks)  # fmt: skip


def show_destination_strip(grid: Grid, scene: Scene) -> None:
    """Draw dst as a strip; each cell says which vertical repeat writes the block."""
    numbers = scene.plan.dst.numbers()
    labels = np.arange(len(numbers)).repeat(BLOCKS_PER_REPEAT)
    marks = [] if scene.picked is None else [Mark(PICKED, *divmod(scene.picked // _C0, ACROSS))]
    show_strip(grid, numbers.ravel(), labels, blocks_in(scene.out, _C0),
               role=WRITTEN, current=numbers[scene.repeat], marks=marks)  # fmt: skip


def _stage(scene: Scene, number: int, ax: Axes | None) -> tuple[Axes, Grid]:
    shape = scene.rows.stop - scene.rows.start, _C0
    return titled_grid(ax, _stage_titles(scene)[number], shape, "lane of the block", _stage_label(scene))


def gathered(
    src0: NDArray[np.float16],
    plan: BilinearInterpolationPlan,
    *,
    repeat: int = 0,
    block: int = 0,
    iteration: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the first stage: the DataBlocks of `src0` that go into one DataBlock of dst, a row for each iteration.

    Parameters
    ----------
    src0 : ndarray of float16, shape (n,)
        The samples.
    plan : BilinearInterpolationPlan
        From `ascendlab.vector.bilinear_interpolation_plan`.
    repeat, block : int
        Which DataBlock of dst: vertical repeat, block of it.
    iteration : int
        One to outline; of many iterations those around it are drawn, `ROWS` at most.
    ax : Axes, optional
        Where to draw, from `ascendlab.plots.frames`.
    """
    weights = np.zeros(plan.weights, np.float16)
    scene = Scene(plan, src0, weights, src0, repeat, block, iteration)
    ax, grid = _stage(scene, 0, ax)
    show_gathered(grid, scene)
    return ax


def multiplied(
    src0: NDArray[np.float16],
    src1: NDArray[np.float16],
    plan: BilinearInterpolationPlan,
    *,
    repeat: int = 0,
    block: int = 0,
    iteration: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the second stage: each DataBlock times its weight.

    Parameters
    ----------
    src0, plan, repeat, block, iteration, ax
        As for `gathered`.
    src1 : ndarray of float16, shape (w,)
        The weights.
    """
    scene = Scene(plan, src0, src1, src0, repeat, block, iteration)
    ax, grid = _stage(scene, 1, ax)
    show_multiplied(grid, scene)
    return ax


def accumulated(
    src0: NDArray[np.float16],
    src1: NDArray[np.float16],
    plan: BilinearInterpolationPlan,
    *,
    repeat: int = 0,
    block: int = 0,
    iteration: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the third stage: the running sum after each iteration.

    Parameters
    ----------
    src0, src1, plan, repeat, block, iteration, ax
        As for `multiplied`.
    """
    scene = Scene(plan, src0, src1, src0, repeat, block, iteration)
    ax, grid = _stage(scene, 2, ax)
    show_accumulated(grid, scene)
    return ax


def source_blocks(
    src0: NDArray[np.float16],
    plan: BilinearInterpolationPlan,
    *,
    repeat: int = 0,
    iteration: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the eight DataBlocks that one iteration reads, a row each.

    Parameters
    ----------
    src0, plan, repeat, iteration, ax
        As for `gathered`.
    """
    scene = Scene(plan, src0, np.zeros(plan.weights, np.float16), src0, repeat, 0, iteration)
    ax, grid = titled_grid(ax, _block_titles(scene)[0], (BLOCKS_PER_REPEAT, _C0), "lane of the block", "block")
    show_source(grid, scene)
    return ax


def destination_blocks(
    out: NDArray[np.float16],
    plan: BilinearInterpolationPlan,
    *,
    repeat: int = 0,
    block: int = 0,
    picked: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the eight DataBlocks of dst of one vertical repeat; lanes that are not written are hatched.

    Parameters
    ----------
    out : ndarray of float16, shape (m,)
        The result.
    plan, repeat, ax
        As for `gathered`.
    block : int
        One to outline.
    picked : int, optional
        Index of an element of the result to outline.
    """
    scene = Scene(plan, out, out, out, repeat, block, 0, picked)
    ax, grid = titled_grid(ax, _block_titles(scene)[1], (BLOCKS_PER_REPEAT, _C0), "lane of the block", "block")
    show_destination(grid, scene)
    return ax


def source_strip(
    src0: NDArray[np.float16],
    plan: BilinearInterpolationPlan,
    *,
    repeat: int = 0,
    iteration: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw `src0` as a strip of DataBlocks; each cell says which iteration reads the block.

    Parameters
    ----------
    src0, plan, repeat, iteration, ax
        As for `gathered`; the blocks of the iteration are outlined.
    """
    ax, grid = titled_strip(ax, _STRIPS[0], blocks_in(src0, _C0))
    show_source_strip(grid, Scene(plan, src0, src0, src0, repeat, 0, iteration))
    return ax


def destination_strip(
    out: NDArray[np.float16], plan: BilinearInterpolationPlan, *, repeat: int = 0, ax: Axes | None = None
) -> Axes:
    """Draw the result as a strip of DataBlocks; each cell says which vertical repeat writes the block.

    Parameters
    ----------
    out, plan, repeat, ax
        As for `destination_blocks`.
    """
    ax, grid = titled_strip(ax, _STRIPS[1], blocks_in(out, _C0))
    show_destination_strip(grid, Scene(plan, out, out, out, repeat))
    return ax


def _block_titles(scene: Scene) -> tuple[str, str]:
    numbers = listed(scene.plan.source_blocks[scene.repeat, scene.iteration])
    return (
        f"src0, repeat {scene.repeat}, iteration {scene.iteration}: DataBlocks {numbers}",
        f"dst, repeat {scene.repeat}",
    )


class BilinearInterpolationPicture:
    """Draws a `Scene` in one of the `VIEWS`, again and again.

    Parameters
    ----------
    width, height : int
        In CSS pixels.
    """

    def __init__(self, width: int = 700, height: int = 520) -> None:
        self.panels = Panels(width, height, count=3)

    def draw(self, view: str, scene: Scene) -> bytes:
        """Return the view ("stages", "blocks" or "strips") as PNG."""
        {"blocks": self._draw_blocks, "strips": self._draw_strips}.get(view, self._draw_stages)(scene)
        return self.panels.png()

    def _draw_stages(self, scene: Scene) -> None:
        rows, label = scene.rows.stop - scene.rows.start, _stage_label(scene)
        panels = [Panel(title, rows, _C0, label, "lane of the block") for title in _stage_titles(scene)]
        roles = [READ, PRODUCT, SUM, _SHOWN_ITERATION, ORIGIN, PICKED]
        self.panels.arrange(panels, roles, across=1, square=False, legend_rows=2)
        for grid, show in zip(self.panels.grids, (show_gathered, show_multiplied, show_accumulated), strict=True):
            show(grid, scene)

    def _draw_blocks(self, scene: Scene) -> None:
        panels = [Panel(title, BLOCKS_PER_REPEAT, _C0, "block", "lane of the block") for title in _block_titles(scene)]
        roles = [READ, WRITTEN, MASKED, replace(CURRENT, name="the block shown"), ORIGIN, PICKED]
        self.panels.arrange(panels, roles, across=1, square=False, legend_rows=2)
        show_source(self.panels.grids[0], scene)
        show_destination(self.panels.grids[1], scene)

    def _draw_strips(self, scene: Scene) -> None:
        totals = [blocks_in(array, _C0) for array in (scene.src0, scene.out)]
        panels = [
            Panel(title, strip_rows(total), ACROSS, "16 blocks", "DataBlock")
            for title, total in zip(_STRIPS, totals, strict=True)
        ]
        roles = [READ, WRITTEN, NOT_ADDRESSED, replace(CURRENT, name="iteration, repeat shown"), ORIGIN, PICKED]
        self.panels.arrange(panels, roles, across=1, square=False, legend_rows=2)
        show_source_strip(self.panels.grids[0], scene)
        show_destination_strip(self.panels.grids[1], scene)
