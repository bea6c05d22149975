"""Pictures of VectorPadding: the eight DataBlocks of a repeat, and the strips of memory that strides walk along.

A block's cells stand in one row, source on the left and destination on the right at the same height, so that a move
never leaves its row.

>>> from ascendlab.plots import frames, figure_html
>>> from ascendlab.vector import vector_padding, vector_padding_plan
>>> src = np.arange(64, dtype=np.int32)
>>> plan = vector_padding_plan(src, 1, False, mask=40)
>>> figure, (left, right) = frames([(8, 8), (8, 8)], roles=[READ, WRITTEN, MASKED])
>>> source_blocks(src, plan, ax=left).get_title(), destination_blocks(vector_padding(src, 1, False, mask=40), plan,
...                                                                   ax=right).get_title()
('src, repeat 0', 'dst, repeat 0')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ascendlab.dtypes import BLOCKS_PER_REPEAT
from ascendlab.plots._blocks import (
    ACROSS,
    CURRENT,
    NOT_ADDRESSED,
    READ,
    WRITTEN,
    ZERO,
    blocks_in,
    marks_at,
    show_strip,
    strip_rows,
    titled_grid,
    whole_blocks,
)
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import MASKED, ORIGIN, PICKED, Role
from ascendlab.provenance import Origin
from ascendlab.vector import BlockWalk, VectorPaddingPlan

__all__ = [
    "CURRENT",
    "MASKED",
    "NOT_ADDRESSED",
    "READ",
    "VIEWS",
    "WRITTEN",
    "ZERO",
    "Scene",
    "VectorPaddingPicture",
    "describe",
    "destination_blocks",
    "destination_strip",
    "repeats",
    "say_origin",
    "source_blocks",
    "source_strip",
]

VIEWS = {"blocks of a repeat": "blocks", "strips of memory": "strips"}
"""What the explorer can show, by its words."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One call of VectorPadding, and what of it is looked at.

    Parameters
    ----------
    plan : VectorPaddingPlan
        The call's plan.
    src, out : ndarray, shapes (n,) and (m,)
        Operand and result.
    repeat : int
        The repeat that is shown (with `count`: which eight DataBlocks).
    picked : int or None
        Index of the picked element of the result.
    origin : Origin or None
        Where it came from.
    """

    plan: VectorPaddingPlan
    src: NDArray[Any]
    out: NDArray[Any]
    repeat: int = 0
    picked: int | None = None
    origin: Origin | None = None

    @property
    def origin_index(self) -> int | None:
        """Index of the source element that the picked one came from."""
        return self.origin.terms[0].index[0] if self.origin and self.origin.terms else None


def repeats(plan: VectorPaddingPlan) -> int:
    """Return how many repeats there are to look at; with `count`, groups of eight DataBlocks."""
    return -(-plan.dst.repeats * plan.dst.blocks // BLOCKS_PER_REPEAT)


def _steps(plan: VectorPaddingPlan, repeat: int) -> NDArray[np.int64]:
    """Return the steps (a step moves one DataBlock) of one repeat."""
    return np.arange(
        repeat * BLOCKS_PER_REPEAT, min((repeat + 1) * BLOCKS_PER_REPEAT, plan.dst.repeats * plan.dst.blocks)
    )


def show_source(grid: Grid, scene: Scene) -> None:
    """Draw the source blocks of the repeat that is looked at."""
    plan, steps = scene.plan, _steps(scene.plan, scene.repeat)
    c0 = plan.kind.c0
    values = whole_blocks(scene.src, c0, plan.src.number(steps))
    marks = marks_at(plan.src, steps, c0, scene.origin_index, ORIGIN)
    if scene.picked is not None:
        # Overlapping source blocks hold the element more than once: mark the row that was read.
        rows = {mark.y for mark in marks_at(plan.dst, steps, c0, scene.picked, PICKED)}
        marks = [mark for mark in marks if mark.y in rows]
    grid.show(values, areas={READ: ~np.ma.getmaskarray(values)}, marks=marks)


def show_destination(grid: Grid, scene: Scene) -> None:
    """Draw the destination blocks of the repeat that is looked at, and which of their lanes are written."""
    plan, steps = scene.plan, _steps(scene.plan, scene.repeat)
    c0 = plan.kind.c0
    values = whole_blocks(scene.out, c0, plan.dst.number(steps))
    inside = ~np.ma.getmaskarray(values)
    written = inside & plan.lanes[steps % BLOCKS_PER_REPEAT]
    from_source = np.broadcast_to(plan.lane_source >= 0, written.shape)
    areas = {WRITTEN: written & from_source, ZERO: written & ~from_source, MASKED: inside & ~written}
    grid.show(values, areas=areas, marks=marks_at(plan.dst, steps, c0, scene.picked, PICKED))


def _show_strip(
    grid: Grid, scene: Scene, walk: BlockWalk, total: int, role: Role, index: int | None, mark: Role
) -> None:
    steps = np.arange(walk.repeats * walk.blocks)
    marks = [] if index is None else [Mark(mark, *divmod(index // scene.plan.kind.c0, ACROSS))]
    show_strip(grid, walk.number(steps), steps // BLOCKS_PER_REPEAT, total, role=role,
               current=walk.number(_steps(scene.plan, scene.repeat)), marks=marks)  # fmt: skip


def source_blocks(
    src: NDArray[Any], plan: VectorPaddingPlan, *, repeat: int = 0, origin: Origin | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the source DataBlocks of one repeat, a row each.

    Parameters
    ----------
    src : ndarray, shape (n,)
        The source operand.
    plan : VectorPaddingPlan
        From `ascendlab.vector.vector_padding_plan`.
    repeat : int
        Which repeat.
    origin : Origin, optional
        Where a picked element came from; its source is outlined.
    ax : Axes, optional
        Where to draw, from `ascendlab.plots.frames`.
    """
    ax, grid = titled_grid(ax, f"src, repeat {repeat}", (BLOCKS_PER_REPEAT, plan.kind.c0), "lane of the block", "block")
    show_source(grid, Scene(plan, src, src, repeat, None, origin))
    return ax


def destination_blocks(
    out: NDArray[Any], plan: VectorPaddingPlan, *, repeat: int = 0, picked: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the destination DataBlocks of one repeat; lanes that are not written are hatched.

    Parameters
    ----------
    out : ndarray, shape (m,)
        The result.
    plan, repeat, ax
        As for `source_blocks`.
    picked : int, optional
        Index of an element of the result to outline.
    """
    ax, grid = titled_grid(ax, f"dst, repeat {repeat}", (BLOCKS_PER_REPEAT, plan.kind.c0), "lane of the block", "block")
    show_destination(grid, Scene(plan, out, out, repeat, picked))
    return ax


def source_strip(src: NDArray[Any], plan: VectorPaddingPlan, *, repeat: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the source as a strip of DataBlocks; each cell says which repeat reads the block.

    Parameters
    ----------
    src, plan, repeat, ax
        As for `source_blocks`.
    """
    total = blocks_in(src, plan.kind.c0)
    ax, grid = titled_grid(
        ax, "src: repeat that reads the block", (strip_rows(total), ACROSS), "DataBlock", "16 blocks"
    )
    _show_strip(grid, Scene(plan, src, src, repeat), plan.src, total, READ, None, ORIGIN)
    return ax


def destination_strip(out: NDArray[Any], plan: VectorPaddingPlan, *, repeat: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the result as a strip of DataBlocks; each cell says which repeat writes the block.

    Parameters
    ----------
    out, plan, repeat, ax
        As for `destination_blocks`.
    """
    total = blocks_in(out, plan.kind.c0)
    ax, grid = titled_grid(
        ax, "dst: repeat that writes the block", (strip_rows(total), ACROSS), "DataBlock", "16 blocks"
    )
    _show_strip(grid, Scene(plan, out, out, repeat), plan.dst, total, WRITTEN, None, PICKED)
    return ax


class VectorPaddingPicture:
    """Draws a `Scene` in one of the `VIEWS`, again and again.

    Parameters
    ----------
    width, height : int
        In CSS pixels.
    """

    def __init__(self, width: int = 700, height: int = 520) -> None:
        self.panels = Panels(width, height, count=2)

    def draw(self, view: str, scene: Scene) -> bytes:
        """Return the view ("blocks" or "strips") as PNG."""
        if view == "strips":
            self._draw_strips(scene)
        else:
            self._draw_blocks(scene)
        return self.panels.png()

    def _draw_blocks(self, scene: Scene) -> None:
        c0 = scene.plan.kind.c0
        names = ("src", "dst")
        panels = [
            Panel(f"{name}, repeat {scene.repeat}", BLOCKS_PER_REPEAT, c0, "block", "lane of the block")
            for name in names
        ]
        self.panels.arrange(panels, [READ, WRITTEN, ZERO, MASKED, ORIGIN, PICKED], across=1, square=False)
        show_source(self.panels.grids[0], scene)
        show_destination(self.panels.grids[1], scene)

    def _draw_strips(self, scene: Scene) -> None:
        plan, c0 = scene.plan, scene.plan.kind.c0
        totals = [blocks_in(array, c0) for array in (scene.src, scene.out)]
        titles = ("src: repeat that reads the block", "dst: repeat that writes the block")
        panels = [
            Panel(title, strip_rows(total), ACROSS, "16 blocks", "DataBlock")
            for title, total in zip(titles, totals, strict=True)
        ]
        self.panels.arrange(panels, [READ, WRITTEN, NOT_ADDRESSED, CURRENT, ORIGIN, PICKED],
                            across=1, square=False, legend_rows=2)  # fmt: skip
        source, target = self.panels.grids[:2]
        _show_strip(source, scene, plan.src, totals[0], READ, scene.origin_index, ORIGIN)
        _show_strip(target, scene, plan.dst, totals[1], WRITTEN, scene.picked, PICKED)


def describe(view: str, scene: Scene) -> str:
    """Say in words what a view shows, with the numbers that matter.

    Parameters
    ----------
    view : {"blocks", "strips"}
        Which view.
    scene : Scene
        What is drawn.
    """
    plan = scene.plan
    side = "right" if plan.pad_side else "left"
    parts = [f"VectorPadding of {plan.kind}, padMode {plan.pad_mode}, padding to the {side}."]
    steps = _steps(plan, scene.repeat)
    if not steps.size:
        return f"{parts[0]} No repeat, nothing is written."
    pairs = ", ".join(f"{a} to {b}" for a, b in zip(plan.src.number(steps), plan.dst.number(steps), strict=True))
    if view == "strips":
        parts.append(
            f"Strips of DataBlocks: {blocks_in(scene.src, plan.kind.c0)} of src, "
            f"{blocks_in(scene.out, plan.kind.c0)} of dst, each with the repeat that touches it."
        )
    parts.append(f"Repeat {scene.repeat} moves DataBlocks {pairs}.")
    if view == "blocks" and not plan.counted:
        parts.append(f"The mask lets {plan.lanes.sum()} of {plan.lanes.size} lanes be written.")
    if scene.picked is not None:
        parts.append(f"Outlined: element {scene.picked} = {scene.out[scene.picked]:g}.")
    return " ".join(parts)


def say_origin(scene: Scene) -> str:
    """Spell out the address of the picked element, and where it came from."""
    if scene.picked is None or scene.origin is None:
        return "no element picked"
    plan, c0 = scene.plan, scene.plan.kind.c0
    block, lane = divmod(scene.picked, c0)
    head = f"dst[{scene.picked}] = {scene.out[scene.picked]:g}: DataBlock {block}, lane {lane}"
    step = int(plan.dst.find(np.array([block]))[0])
    if step < 0:
        return f"{head}, which no repeat addresses: {scene.origin}"
    repeat, number = divmod(step, BLOCKS_PER_REPEAT)
    if plan.counted:
        return f"{head}; block {block} of src lies in the same place: {scene.origin}{_value(scene)}"
    dst = f"{repeat} * {plan.dst.repeat_stride} + {number} * {plan.dst.block_stride} = {block}"
    source = repeat * plan.src.repeat_stride + number * plan.src.block_stride
    src = f"{repeat} * {plan.src.repeat_stride} + {number} * {plan.src.block_stride} = {source}"
    return (
        f"{head}. Repeat {repeat}, block {number}: dst {dst}; src {src}; "
        f"the mask {'writes' if plan.lanes[number, lane] else 'leaves out'} this lane: {scene.origin}{_value(scene)}"
    )


def _value(scene: Scene) -> str:
    index = scene.origin_index
    return "" if index is None else f", which is {scene.src[index]:g}"
