"""A call of BilinearInterpolation, what of it is looked at, and both in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.bilinear import kernel_tmp_buffer_bytes
from ascendlab.bilinear_stages import BilinearStages, bilinear_stages, place_of
from ascendlab.dtypes import BLOCKS_PER_REPEAT, TYPES
from ascendlab.plots._blocks import blocks_in
from ascendlab.provenance import Origin
from ascendlab.vector import BILINEAR_INTERPOLATION_PRODUCTS, BilinearInterpolationPlan, shared_tmp_buffer_bytes

__all__ = ["ROWS", "VIEWS", "Scene", "describe", "listed", "say_origin", "say_tmp_buffer", "steps_of"]

VIEWS = {
    "gather, multiply, accumulate": "stages",
    "blocks of a vertical repeat": "blocks",
    "strips of memory": "strips",
}
"""What the explorer can show, by its words."""

ROWS = 6
"""Iterations that the stages show at a time."""

_C0 = TYPES["half"].c0
_MOST_TERMS = 8


@dataclass(frozen=True, eq=False)
class Scene:
    """One call of BilinearInterpolation, and what of it is looked at.

    Parameters
    ----------
    plan : BilinearInterpolationPlan
        The call's plan.
    src0, src1, out : ndarray of float16, shapes (n,), (w,) and (m,)
        Samples, weights, result.
    repeat, block, iteration : int
        The vertical repeat, the DataBlock of it, and the iteration in it that are shown; beyond the last is the last.
    picked : int or None
        Index of the picked element of the result.
    origin : Origin or None
        Where it came from.
    """

    plan: BilinearInterpolationPlan
    src0: NDArray[np.float16]
    src1: NDArray[np.float16]
    out: NDArray[np.float16]
    repeat: int = 0
    block: int = 0
    iteration: int = 0
    picked: int | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        v_repeat, h_repeat, blocks = self.plan.source_blocks.shape
        for name, count in (("repeat", v_repeat), ("block", blocks), ("iteration", h_repeat)):
            object.__setattr__(self, name, min(getattr(self, name), count - 1))

    @cached_property
    def stages(self) -> BilinearStages:
        """All intermediate values of the vertical repeat that is shown."""
        return bilinear_stages(self.plan, self.src0, self.src1, repeat=self.repeat)

    @property
    def h_repeat(self) -> int:
        """Iterations in a vertical repeat."""
        return len(self.plan.source_blocks[0])

    @property
    def first(self) -> int:
        """The first iteration that the stages show."""
        return self.iteration // ROWS * ROWS

    @property
    def rows(self) -> slice:
        """The iterations that the stages show."""
        return slice(self.first, min(self.first + ROWS, self.h_repeat))

    @property
    def lane(self) -> int | None:
        """The lane of the picked element, if it lies in the block that is shown and is written."""
        place = None if self.picked is None else place_of(self.plan, self.picked)
        if place is None or not place.written or (place.repeat, place.block) != (self.repeat, self.block):
            return None
        return place.lane

    @property
    def origins(self) -> list[int]:
        """Indices of the elements of src0 that the picked one was made of."""
        return [term.index[0] for term in self.origin.terms] if self.origin else []


def listed(numbers: Iterable[Any]) -> str:
    """Write numbers one after the other."""
    return ", ".join(f"{number:g}" for number in numbers)


def steps_of(repeat: int) -> NDArray[np.int64]:
    """Return the steps (a step writes one DataBlock) of one vertical repeat."""
    return repeat * BLOCKS_PER_REPEAT + np.arange(BLOCKS_PER_REPEAT)


def describe(view: str, scene: Scene) -> str:
    """Say in words what a view shows, with the numbers that matter.

    Parameters
    ----------
    view : {"stages", "blocks", "strips"}
        Which view.
    scene : Scene
        What is drawn.
    """
    plan = scene.plan
    v_repeat, h_repeat, _ = plan.source_blocks.shape
    parts = [f"BilinearInterpolation, {v_repeat} vertical repeats of {h_repeat} iterations."]
    numbers = plan.source_blocks[scene.repeat]
    if view == "strips":
        totals = [blocks_in(array, _C0) for array in (scene.src0, scene.out)]
        parts.append(
            f"Strips of DataBlocks: {totals[0]} of src0, each with the iteration that reads it, {totals[1]} of dst, "
            f"each with the vertical repeat that writes it."
        )
    if view == "stages":
        rows, block, stages = scene.rows, scene.block, scene.stages
        parts.append(
            f"Vertical repeat {scene.repeat}, block {block}, iterations {rows.start} to {rows.stop - 1}, of which "
            f"{scene.iteration} is marked: "
            f"DataBlocks {listed(numbers[rows, block])} of src0, times {listed(stages.weights[rows, block])}; "
            f"the sums of lane 0 are {listed(stages.sums[rows, block, 0])}."
        )
    else:
        written = listed(plan.dst.number(steps_of(scene.repeat)))
        parts.append(
            f"Iteration {scene.iteration} of vertical repeat {scene.repeat} reads DataBlocks "
            f"{listed(numbers[scene.iteration])}; the repeat writes DataBlocks {written}."
        )
    if view == "blocks":
        parts.append(f"The mask lets {plan.lanes.sum()} of {plan.lanes.size} lanes be written.")
    if scene.picked is not None:
        parts.append(f"Outlined: element {scene.picked} = {scene.out[scene.picked]:g}.")
    return " ".join(parts)


def say_origin(scene: Scene) -> str:
    """Spell out the address of the picked element, and the sum that it is, in the order of its additions."""
    if scene.picked is None:
        return "no element picked"
    plan = scene.plan
    number, lane = divmod(scene.picked, _C0)
    head = f"dst[{scene.picked}] = {scene.out[scene.picked]:g}: DataBlock {number}, lane {lane}"
    place = place_of(plan, scene.picked)
    if place is None:
        return f"{head}, which no repeat addresses: never written"
    walk = plan.dst
    head += (
        f". Vertical repeat {place.repeat}, block {place.block}: "
        f"{place.repeat} * {walk.repeat_stride} + {place.block} * {walk.block_stride} = {number}"
    )
    if not place.written:
        return f"{head}; the mask leaves out this lane: never written"
    stages = bilinear_stages(plan, scene.src0, scene.src1, repeat=place.repeat)
    at = (slice(None), place.block, lane)
    indices = plan.source_blocks[place.repeat, :, place.block] * _C0 + lane
    weights = np.broadcast_to(plan.weight_index[place.repeat], plan.source_blocks.shape[1:])[:, place.block]
    rows = zip(indices, weights, stages.samples[at], stages.weights[:, place.block], stages.products[at],
               stages.sums[at], strict=True)  # fmt: skip
    steps = [
        f"src0[{index}] * src1[{weight}] = {sample:g} * {factor:g} = {product:g}, sum {total:g}"
        for index, weight, sample, factor, product, total in rows
    ]
    if len(steps) > _MOST_TERMS:
        left_out = len(steps) - _MOST_TERMS
        steps = [*steps[: _MOST_TERMS - 1], f"... {left_out} more ...", steps[-1]]
    return f"{head}. In this order: {'; '.join(steps)}"


def say_tmp_buffer(scene: Scene, offsets: int) -> str:
    """Say how many bytes of ``sharedTmpBuffer`` the document asks for on each product.

    Parameters
    ----------
    scene : Scene
        The call.
    offsets : int
        Elements of ``src0Offset``.
    """
    needs = ", ".join(
        f"{product} {shared_tmp_buffer_bytes(product, scene.src0.size, scene.src1.size, offsets):,}"
        for product in BILINEAR_INTERPOLATION_PRODUCTS
    )
    kernel = kernel_tmp_buffer_bytes(scene.h_repeat, len(scene.plan.source_blocks), scene.src1.size)
    return f"sharedTmpBuffer, bytes at least: {needs} (the public implementation for A2 and A3 uses {kernel:,})"
