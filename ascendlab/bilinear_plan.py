"""The plan of a BilinearInterpolation: which DataBlock, with which weight, goes into which sum."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab.caches import remembered
from ascendlab.dtypes import BLOCKS_PER_REPEAT, DATA_BLOCK_BYTES, TYPES
from ascendlab.errors import ParameterError
from ascendlab.fields import argument, check_int
from ascendlab.half import accumulate_products, narrow, widen_and_measure
from ascendlab.products import Product, require_product
from ascendlab.sources import Sources
from ascendlab.vector_blocks import BlockMoves, BlockWalk, check_apart, check_destinations, check_operand
from ascendlab.vector_mask import LaneMask, check_mask, words_to_lanes

__all__ = [
    "BILINEAR_INTERPOLATION_ARGUMENTS",
    "BILINEAR_INTERPOLATION_PRODUCTS",
    "BilinearInterpolationPlan",
    "bilinear_interpolation_plan",
    "bilinear_interpolation_sources",
]

BILINEAR_INTERPOLATION_PRODUCTS = (
    Product.ATLAS_350,
    Product.ATLAS_A3,
    Product.ATLAS_A2,
    Product.ATLAS_INFERENCE_AI_CORE,
)
API = "BilinearInterpolation"
TABLE = "BilinearInterpolation, table 2"
HALF = TYPES["half"]
_C0 = HALF.c0
# Samples handled at once: with their scratch memory they fit into a core's second-level cache.
_TILE = 32 * 1024
_LOG2_BLOCK, _IN_BLOCK = np.uint32(5), np.uint32(DATA_BLOCK_BYTES - 1)

BILINEAR_INTERPOLATION_ARGUMENTS = MappingProxyType(
    {
        "mask": argument(
            "mask",
            "uint64_t",
            "Lanes of a vertical repeat that are written: the first n, or a bit each.",
            low=1,
            high=HALF.lanes,
            table=TABLE,
            unit="lanes",
        ),
        "h_repeat": argument(
            "hRepeat", "uint8_t", "Iterations that are added up in one vertical repeat.", low=1, table=TABLE
        ),
        "repeat_mode": argument(
            "repeatMode",
            "bool",
            "False: one weight for the eight DataBlocks of an iteration; True: one for each.",
            table=TABLE,
        ),
        "dst_blk_stride": argument(
            "dstBlkStride", "uint16_t", "From block to block in dst.", default=1, table=TABLE, unit="blocks"
        ),
        "v_roffset": argument(
            "vROffset",
            "uint16_t",
            "From vertical repeat to vertical repeat in dst, a multiple of 16.",
            low=128,
            high=65534,
            default=128,
            table=TABLE,
            unit="elements",
        ),
        "v_repeat": argument("vRepeat", "uint8_t", "Vertical repeats.", low=1, table=TABLE),
    }
)
"""The plain arguments of `bilinear_interpolation` by their Python names, as parameter structures describe members."""


@dataclass(frozen=True, eq=False)
class BilinearInterpolationPlan:
    """Where every element of a call's result comes from.

    Parameters
    ----------
    source_blocks : ndarray of int64, shape (v, h, 8)
        The DataBlock of src0 that each block of each iteration reads.
    repeat_mode : bool
        Whether each block has a weight of its own.
    dst : BlockWalk
        The DataBlocks written, a repeat of the walk for each vertical repeat.
    lanes : ndarray of bool, shape (8, 16)
        Which lanes are written.
    """

    source_blocks: NDArray[np.int64]
    repeat_mode: bool
    dst: BlockWalk
    lanes: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """Elements of the result: as far as the addressed DataBlocks reach."""
        return self.dst.end * _C0

    @property
    def weight_index(self) -> NDArray[np.int64]:
        """The element of src1 that multiplies all eight blocks of an iteration, (v, h, 1), or each, (v, h, 8)."""
        return np.arange(self.weights).reshape(*self.source_blocks.shape[:2], -1)

    @property
    def weights(self) -> int:
        """Elements of src1 that are read."""
        return self.source_blocks.size // (1 if self.repeat_mode else BLOCKS_PER_REPEAT)

    def moves(self, iteration: int) -> BlockMoves:
        """Return which DataBlock of src0 is multiplied into which DataBlock of dst in this iteration of every repeat.

        Parameters
        ----------
        iteration : int
            In [0, hRepeat - 1].
        """
        check_int("iteration", iteration, 0, self.source_blocks.shape[1] - 1)
        step = np.arange(self.dst.repeats * BLOCKS_PER_REPEAT)
        repeat, block = np.divmod(step, BLOCKS_PER_REPEAT)
        return BlockMoves(repeat, block, self.source_blocks[:, iteration].ravel(), self.dst.number(step))

    def operand_bytes(
        self,
        src0: NDArray[np.float16],
        src0_offset: NDArray[np.uint32],
        src1: NDArray[np.float16],
        shared_tmp_buffer_size: int,
    ) -> dict[str, int]:
        """Return how many bytes each operand takes; `ascendlab.vector_blocks.ub_bytes` adds them up."""
        return {
            "src0": src0.nbytes,
            "src0Offset": src0_offset.nbytes,
            "src1": src1.nbytes,
            "dst": self.size * HALF.numpy.itemsize,
            "sharedTmpBuffer": shared_tmp_buffer_size,
        }

    def run(self, src0: NDArray[np.float16], src1: NDArray[np.float16], out: NDArray[np.float16]) -> None:
        """Do the arithmetic, a few vertical repeats at a time."""
        v_repeat, h_repeat, _ = self.source_blocks.shape
        src0, src1 = np.asarray(src0), np.asarray(src1)
        blocks = src0[: src0.size // _C0 * _C0].reshape(-1, _C0)
        weights, heaviest = widen_and_measure(src1[: self.weights])
        weights = weights.reshape(v_repeat, h_repeat, -1, 1)
        # Most sources are read more than once: widen them before they are picked.  Large ones are picked first.
        wide, largest = None, 0.0
        if len(blocks) <= self.source_blocks.size:
            wide, largest = widen_and_measure(blocks)
        target, everything = self.dst.view(out), bool(self.lanes.all())
        count = max(1, _TILE // (h_repeat * HALF.lanes))
        for start in range(0, v_repeat, count):
            here = slice(start, start + count)
            # Iterations come first, so that each addition runs over contiguous memory.
            numbers, weight = self.source_blocks[here].swapaxes(0, 1), weights[here].swapaxes(0, 1)
            if wide is None:
                samples, largest = widen_and_measure(blocks.take(numbers, axis=0))
            else:
                samples = wide.take(numbers, axis=0)
            samples = samples.reshape(*weight.shape[:3], -1)
            made = narrow(accumulate_products(samples, weight, largest * heaviest))
            made = made.reshape(-1, BLOCKS_PER_REPEAT, _C0)
            if everything:
                target[here] = made
            else:
                np.copyto(target[here], made, where=self.lanes)


def bilinear_interpolation_plan(
    src0: NDArray[np.float16],
    src0_offset: NDArray[np.uint32],
    src1: NDArray[np.float16],
    mask: LaneMask,
    h_repeat: int,
    repeat_mode: bool,
    dst_blk_stride: int,
    v_roffset: int,
    v_repeat: int,
    *,
    product: Product = Product.ATLAS_350,
) -> BilinearInterpolationPlan:
    """Check a call of BilinearInterpolation and lay out its result, without computing anything.

    Parameters
    ----------
    src0, src0_offset, src1, mask, h_repeat, repeat_mode, dst_blk_stride, v_roffset, v_repeat, product
        As for `bilinear_interpolation`.

    Returns
    -------
    BilinearInterpolationPlan

    Examples
    --------
    >>> src0, src1 = np.zeros(256, np.float16), np.ones(3, np.float16)
    >>> offsets = np.array([0, 32, 64, 96, 128, 160, 192, 224] * 2, np.uint32)
    >>> plan = bilinear_interpolation_plan(src0, offsets, src1, 128, 1, False, 2, 256, 2)
    >>> plan.size, plan.moves(0).destination
    (496, array([ 0,  2,  4,  6,  8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]))
    """
    require_product(API, product, BILINEAR_INTERPOLATION_PRODUCTS)
    operands: dict[str, NDArray[np.generic]] = {}
    for name, value, type_name in (
        ("src0", src0, "half"),
        ("src0Offset", src0_offset, "uint32"),
        ("src1", src1, "half"),
    ):
        operands[name] = check_operand(name, value, (TYPES[type_name].numpy,), type_name)
    check_apart(operands)
    words = check_mask(mask, HALF)
    h_repeat, repeat_mode, v_repeat, dst, lanes = _remembered_layout(
        words, h_repeat, repeat_mode, dst_blk_stride, v_roffset, v_repeat
    )
    iterations = v_repeat * h_repeat
    for name, needed, formula in (
        ("src0Offset", 8 * iterations, "8 * hRepeat * vRepeat"),
        ("src1", 8 * iterations if repeat_mode else iterations, f"{'8 * ' * repeat_mode}hRepeat * vRepeat"),
    ):
        if operands[name].size < needed:
            raise ParameterError(name, operands[name], f"at least {needed} elements, {formula}", table=TABLE)
    blocks = _source_blocks(src0, src0_offset[: 8 * iterations]).reshape(v_repeat, h_repeat, BLOCKS_PER_REPEAT)
    return BilinearInterpolationPlan(blocks, repeat_mode, dst, lanes)


def _source_blocks(src0: NDArray[np.float16], offsets: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the DataBlocks of src0 that byte offsets name, refusing those that are no whole block inside it."""
    blocks = src0.size // _C0
    numbers: NDArray[np.int64] = (offsets >> _LOG2_BLOCK).astype(np.int64)
    wrong = (offsets & _IN_BLOCK) | (numbers >= blocks)
    if wrong.any():
        first = int((wrong != 0).argmax())
        allowed = f"a multiple of 32 in [0, {DATA_BLOCK_BYTES * (blocks - 1)}]" if blocks else "no offset"
        hint = f"src0 has {src0.size} elements, so {blocks} whole DataBlocks"
        raise ParameterError(f"src0Offset[{first}]", offsets[first], allowed, table=TABLE, hint=hint)
    return numbers


class Layout(NamedTuple):
    """What does not depend on the sources."""

    h_repeat: int
    repeat_mode: bool
    v_repeat: int
    dst: BlockWalk
    lanes: NDArray[np.bool_]


def layout(
    words: tuple[int, ...],
    h_repeat: object,
    repeat_mode: object,
    dst_blk_stride: object,
    v_roffset: object,
    v_repeat: object,
) -> Layout:
    """Check and lay out what does not depend on the sources: a pure function.

    Parameters
    ----------
    words : tuple of int
        The mask in bitwise form, checked.
    h_repeat, repeat_mode, dst_blk_stride, v_roffset, v_repeat : object
        As the caller gave them.
    """
    given = {
        "h_repeat": h_repeat,
        "repeat_mode": repeat_mode,
        "dst_blk_stride": dst_blk_stride,
        "v_roffset": v_roffset,
        "v_repeat": v_repeat,
    }
    checked = {name: BILINEAR_INTERPOLATION_ARGUMENTS[name].check(value) for name, value in given.items()}
    stride, offset = checked["dst_blk_stride"], checked["v_roffset"]
    if offset % _C0:
        raise ParameterError("vROffset", offset, "a multiple of 16 elements, so of 32 bytes", table=TABLE)
    dst = BlockWalk(checked["v_repeat"], stride, offset // _C0)
    check_destinations(
        dst, ("dstBlkStride", stride), ("vROffset", offset), "BilinearInterpolation, constraints: vertical repeats"
    )
    lanes = words_to_lanes(words)
    lanes.setflags(write=False)
    return Layout(checked["h_repeat"], checked["repeat_mode"], checked["v_repeat"], dst, lanes)


_remembered_layout = remembered(layout)


def bilinear_interpolation_sources(
    plan: BilinearInterpolationPlan, src1: NDArray[np.float16], flat: NDArray[np.intp]
) -> Sources:
    """Answer where output elements come from.

    Parameters
    ----------
    plan : BilinearInterpolationPlan
        From `bilinear_interpolation_plan`.
    src1 : ndarray of float16
        The weights.
    flat : ndarray of intp, shape (n,)
        Indices of output elements.

    Returns
    -------
    Sources
        hRepeat elements of src0 in the order of their addition, each with its weight from src1; untouched outside
        the addressed blocks and in masked lanes.
    """
    number, lane = np.divmod(flat, _C0)
    step = plan.dst.find(number)
    repeat, block = np.divmod(step, BLOCKS_PER_REPEAT)
    written = (step >= 0) & plan.lanes[block, lane]
    index = plan.source_blocks[repeat, :, block] * _C0 + lane[:, None]
    weight = src1[plan.weight_index[repeat, :, block if plan.repeat_mode else 0]].astype(np.float64)
    here = written[:, None]
    return Sources(
        operand=np.where(here, 0, np.full(index.shape, -1)).astype(np.int8),
        index=np.where(here, index, 0),
        weight=np.where(here, weight, 0.0),
        constant=np.full(len(flat), np.nan),
        untouched=~written,
    )
