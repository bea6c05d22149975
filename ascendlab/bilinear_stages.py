"""BilinearInterpolation step by step: what one vertical repeat gathers, multiplies and adds up.

>>> from ascendlab.bilinear_plan import bilinear_interpolation_plan
>>> src0, src1 = np.arange(1, 513, dtype=np.float16), np.arange(2, 18, dtype=np.float16)
>>> offsets = np.arange(0, 1024, 32, dtype=np.uint32)
>>> plan = bilinear_interpolation_plan(src0, offsets, src1, 128, 2, False, 1, 128, 2)
>>> stages = bilinear_stages(plan, src0, src1, repeat=0)
>>> stages.samples[:, 0, 0].tolist(), stages.products[:, 0, 0].tolist(), stages.sums[:, 0, 0].tolist()
([1.0, 129.0], [2.0, 387.0], [2.0, 389.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ascendlab.bilinear_plan import BilinearInterpolationPlan
from ascendlab.dtypes import BLOCKS_PER_REPEAT, TYPES
from ascendlab.fields import check_int

__all__ = ["BilinearStages", "Place", "bilinear_stages", "element_at", "place_of"]

_C0 = TYPES["half"].c0


@dataclass(frozen=True, eq=False)
class BilinearStages:
    """What one vertical repeat computes, iteration by iteration.

    Parameters
    ----------
    samples : ndarray of float16, shape (h, 8, 16)
        The DataBlocks that the offsets name.
    weights : ndarray of float16, shape (h, 8)
        What each of them is multiplied by.
    products : ndarray of float16, shape (h, 8, 16)
        Samples times weights, rounded to half.
    sums : ndarray of float16, shape (h, 8, 16)
        The running sum after each iteration, rounded to half each time; ``sums[-1]`` is the result before the mask.
    """

    samples: NDArray[np.float16]
    weights: NDArray[np.float16]
    products: NDArray[np.float16]
    sums: NDArray[np.float16]


@dataclass(frozen=True)
class Place:
    """Where an element of the result lies in the call.

    Parameters
    ----------
    repeat, block, lane : int
        Vertical repeat, DataBlock of it, lane of the block.
    written : bool
        Whether the mask lets it be written.
    """

    repeat: int
    block: int
    lane: int
    written: bool


def bilinear_stages(
    plan: BilinearInterpolationPlan, src0: NDArray[np.float16], src1: NDArray[np.float16], *, repeat: int
) -> BilinearStages:
    """Return all intermediate values of one vertical repeat, rounded as the instruction rounds them.

    Parameters
    ----------
    plan : BilinearInterpolationPlan
        From `bilinear_interpolation_plan`.
    src0, src1 : ndarray of float16
        The operands that the plan was made for.
    repeat : int
        In [0, vRepeat - 1].

    Raises
    ------
    ParameterError
        If there is no such repeat.
    """
    check_int("repeat", repeat, 0, len(plan.source_blocks) - 1)
    numbers = plan.source_blocks[repeat]
    samples = src0[: src0.size // _C0 * _C0].reshape(-1, _C0)[numbers]
    weights = np.broadcast_to(src1[plan.weight_index[repeat]], numbers.shape)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        products = samples * weights[:, :, None]
        # The sum starts from 0, not from the first product: 0 + -0 is 0.
        start = np.zeros((1, *products.shape[1:]), np.float16)
        sums = np.add.accumulate(np.concatenate([start, products]), axis=0)[1:]
    return BilinearStages(samples, weights, products, sums)


def place_of(plan: BilinearInterpolationPlan, element: int) -> Place | None:
    """Return where an element of the result lies, or None if no vertical repeat addresses its DataBlock.

    Parameters
    ----------
    plan : BilinearInterpolationPlan
        From `bilinear_interpolation_plan`.
    element : int
        Index of the element in dst.

    Examples
    --------
    >>> from ascendlab.bilinear_plan import bilinear_interpolation_plan
    >>> offsets = np.zeros(8, np.uint32)
    >>> plan = bilinear_interpolation_plan(
    ...     np.zeros(16, np.float16), offsets, np.ones(1, np.float16), 20, 1, False, 2, 128, 1
    ... )
    >>> place_of(plan, 37), place_of(plan, 16)
    (Place(repeat=0, block=1, lane=5, written=False), None)
    """
    check_int("element", element, 0, plan.size - 1)
    number, lane = divmod(element, _C0)
    step = int(plan.dst.find(np.array([number]))[0])
    if step < 0:
        return None
    repeat, block = divmod(step, BLOCKS_PER_REPEAT)
    return Place(repeat, block, lane, bool(plan.lanes[block, lane]))


def element_at(plan: BilinearInterpolationPlan, repeat: int, block: int, *, near: int) -> int:
    """Return the element of a destination DataBlock that has the lane of another element.

    Parameters
    ----------
    plan : BilinearInterpolationPlan
        From `bilinear_interpolation_plan`.
    repeat, block : int
        Vertical repeat, and DataBlock of it.
    near : int
        Any element of that lane.

    Examples
    --------
    >>> from ascendlab.bilinear_plan import bilinear_interpolation_plan
    >>> offsets = np.zeros(16, np.uint32)
    >>> plan = bilinear_interpolation_plan(
    ...     np.zeros(16, np.float16), offsets, np.ones(2, np.float16), 20, 1, False, 1, 256, 2
    ... )
    >>> element_at(plan, 1, 2, near=19)
    291
    """
    check_int("repeat", repeat, 0, plan.dst.repeats - 1)
    check_int("block", block, 0, BLOCKS_PER_REPEAT - 1)
    return int(plan.dst.number(np.array(repeat * BLOCKS_PER_REPEAT + block))) * _C0 + near % _C0
