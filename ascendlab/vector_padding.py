"""VectorPadding: for each DataBlock of the source, the DataBlock that would lie beside it as padding.

With a DataBlock of 16 elements a ... p:

======== ======================= =========================
padMode  padSide False (left)    padSide True (right)
======== ======================= =========================
0        ``a a a ... a a``       ``p p p ... p p``
1        ``p o n ... b a``       ``p o n ... b a``
2        ``0 p o ... c b``       ``o n m ... a 0``
======== ======================= =========================

>>> src = np.arange(1, 17, dtype=np.int16)
>>> vector_padding(src, 2, False, count=16)
array([ 0, 16, 15, 14, 13, 12, 11, 10,  9,  8,  7,  6,  5,  4,  3,  2], dtype=int16)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_out, check_size
from ascendlab.caches import remembered
from ascendlab.dtypes import BLOCKS_PER_REPEAT, TYPES, DataType, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import argument, check_bool
from ascendlab.products import Product, require_product
from ascendlab.sources import Sources
from ascendlab.vector_blocks import (
    CONTIGUOUS,
    BlockMoves,
    BlockWalk,
    UnaryRepeatParams,
    check_destinations,
    check_operand,
    check_ub,
)
from ascendlab.vector_mask import MASK_PLACEHOLDER, NO_64_BITS, LaneMask, Placeholder, check_mask, words_to_lanes

__all__ = [
    "VECTOR_PADDING_ARGUMENTS",
    "VECTOR_PADDING_TYPES",
    "VectorPaddingPlan",
    "vector_padding",
    "vector_padding_plan",
    "vector_padding_sources",
]

VECTOR_PADDING_PRODUCTS = (Product.ATLAS_INFERENCE_AI_CORE,)
VECTOR_PADDING_TYPES = ("int16", "uint16", "half", "int32", "uint32", "float")
_KINDS = {TYPES[name].numpy: TYPES[name] for name in VECTOR_PADDING_TYPES}
_DTYPES = tuple(_KINDS)
_TABLE = "VectorPadding, table 2"

VECTOR_PADDING_ARGUMENTS = MappingProxyType(
    {
        "pad_mode": argument(
            "padMode",
            "uint8_t",
            "What a padding block is filled with.",
            high=2,
            table=_TABLE,
            choices={
                0: "the nearest element",
                1: "the source block, mirrored",
                2: "the source block, mirrored and moved by one; 0 comes in",
            },
        ),
        "pad_side": argument("padSide", "bool", "False: padding to the left; True: to the right.", table=_TABLE),
        "count": argument("count", "uint32_t", "Elements of dst to write.", default=None, table=_TABLE),
        "mask": argument(
            "mask",
            "uint64_t",
            "Lanes of a repeat that are written: the first n, or a bit each.",
            low=1,
            high=128,
            default=None,
            table=_TABLE,
            unit="lanes",
        ),
        "repeat_time": argument(
            "repeatTime", "uint8_t", "Repeats of eight DataBlocks; 0 does nothing.", default=1, table=_TABLE
        ),
        "repeat_params": argument(
            "repeatParams", "UnaryRepeatParams", "Strides.", structure=UnaryRepeatParams, table=_TABLE
        ),
    }
)
"""The plain arguments of `vector_padding` by their Python names, as parameter structures describe their members."""


@dataclass(frozen=True, eq=False)
class VectorPaddingPlan:
    """Where every element of a call's result comes from.

    Parameters
    ----------
    kind : DataType
        Type of the operands.
    pad_mode : int
        ``padMode``.
    pad_side : bool
        ``padSide``.
    src, dst : BlockWalk
        The DataBlocks read and written, step by step.
    lane_source : ndarray of int64, shape (c0,)
        For each lane of a destination block the lane of the source block that goes there; -1 for the 0 of mode 2.
    lanes : ndarray of bool, shape (8, c0)
        Which lanes of a repeat are written.
    size : int
        Elements of the result: all that the addressed DataBlocks reach, or `count`.
    counted : bool
        Whether the call gives a count instead of a mask.
    """

    kind: DataType
    pad_mode: int
    pad_side: bool
    src: BlockWalk
    dst: BlockWalk
    lane_source: NDArray[np.int64]
    lanes: NDArray[np.bool_]
    size: int
    counted: bool

    @functools.cached_property
    def whole(self) -> bool:
        """Whether all lanes are written."""
        return bool(self.lanes.all())

    def moves(self) -> BlockMoves:
        """Return which source DataBlock fills which destination DataBlock."""
        step = np.arange(self.dst.repeats * self.dst.blocks)
        repeat, block = np.divmod(step, BLOCKS_PER_REPEAT)
        return BlockMoves(repeat, block, self.src.number(step), self.dst.number(step))

    def operand_bytes(self, src: NDArray[np.generic]) -> dict[str, int]:
        """Return how many bytes each operand takes; `ascendlab.vector_blocks.ub_bytes` adds them up."""
        return {"src": src.nbytes, "dst": self.size * src.itemsize}

    def run(self, src: NDArray[np.generic], out: NDArray[np.generic]) -> None:
        """Move the elements, as bits, since a half or float NaN must arrive as it left."""
        word = np.dtype(f"u{self.kind.numpy.itemsize}")
        blocks, target = self.src.view(np.asarray(src).view(word)), out.view(word)
        if not self.counted:
            self._pad(blocks, self.dst.view(target), self.lanes)
            return
        whole, tail = divmod(self.size, self.kind.c0)
        split = whole * self.kind.c0
        self._pad(blocks[:whole, 0], target[:split].reshape(whole, self.kind.c0), self.lanes[0])
        if tail:
            last = np.empty(self.kind.c0, word)
            self._pad(blocks[whole, 0], last, self.lanes[0])
            target[split:] = last[:tail]

    def _pad(self, source: NDArray[np.generic], target: NDArray[np.generic], lanes: NDArray[np.bool_]) -> None:
        """Fill whole blocks, the last axis of all three, where the lanes are on."""
        moved, made = slice(None), source[..., ::-1]
        if self.pad_mode == 0:
            made = source[..., -1:] if self.pad_side else source[..., :1]
        elif self.pad_mode == 2:
            moved, made = (slice(-1), made[..., 1:]) if self.pad_side else (slice(1, None), made[..., :-1])
            blank = slice(-1, None) if self.pad_side else slice(1)
            np.copyto(target[..., blank], 0, where=lanes[..., blank])
        if self.whole:
            target[..., moved] = made
        else:
            np.copyto(target[..., moved], made, where=lanes[..., moved])


def vector_padding_plan(
    src: NDArray[np.generic],
    pad_mode: int,
    pad_side: bool,
    *,
    count: int | None = None,
    mask: LaneMask | Placeholder | None = None,
    repeat_time: int = 1,
    repeat_params: UnaryRepeatParams = CONTIGUOUS,
    vector_mask: LaneMask | None = None,
    product: Product = Product.ATLAS_INFERENCE_AI_CORE,
) -> VectorPaddingPlan:
    """Check a call of VectorPadding and lay out its result, without moving anything.

    Parameters
    ----------
    src, pad_mode, pad_side, count, mask, repeat_time, repeat_params, vector_mask, product
        As for `vector_padding`.

    Returns
    -------
    VectorPaddingPlan

    Examples
    --------
    >>> plan = vector_padding_plan(np.zeros(512, np.float32), 0, True, mask=64, repeat_time=2,
    ...                            repeat_params=UnaryRepeatParams(dst_rep_stride=16))
    >>> plan.size, plan.moves().destination
    (192, array([ 0,  1,  2,  3,  4,  5,  6,  7, 16, 17, 18, 19, 20, 21, 22, 23]))
    """
    require_product("VectorPadding", product, VECTOR_PADDING_PRODUCTS)
    hint = NO_64_BITS if isinstance(src, np.ndarray) and src.dtype.itemsize == 8 else ""
    kind = _KINDS[check_operand("src", src, _DTYPES, ", ".join(VECTOR_PADDING_TYPES), hint=hint).dtype]
    words = _written_words(mask, vector_mask, kind, counted=count is not None)
    plan = _remembered_layout(kind, words, count, pad_mode, pad_side, repeat_time, repeat_params)
    needed = plan.src.end * kind.c0
    if src.size < needed:
        allowed = f"at least {needed} elements: whole DataBlocks are read, {plan.src.end} of them from the start on"
        raise ParameterError("src", src, allowed, table=_TABLE)
    return plan


def source_elements(
    dtype: object, *, count: int | None = None, repeat_time: int = 1, repeat_params: UnaryRepeatParams = CONTIGUOUS
) -> int:
    """Return how many elements the source of a call needs at least.

    Parameters
    ----------
    dtype, count, repeat_time, repeat_params
        As for `vector_padding`; with `count` the others do not matter.

    Examples
    --------
    >>> source_elements("half", count=17), source_elements("float", repeat_time=2)
    (32, 128)
    """
    c0 = as_dtype(dtype, VECTOR_PADDING_TYPES).c0
    if count is not None:
        elements: int = VECTOR_PADDING_ARGUMENTS["count"].check(count)
        return -(-elements // c0) * c0
    repeat: int = VECTOR_PADDING_ARGUMENTS["repeat_time"].check(repeat_time)
    return BlockWalk(repeat, repeat_params.src_blk_stride, repeat_params.src_rep_stride).end * c0


def _written_words(mask: object, vector_mask: object, kind: DataType, *, counted: bool) -> tuple[int, ...] | None:
    """Return the bitwise form of the mask that is in force; None in the form with a count, which has none."""
    if counted:
        for name, value in (("mask", mask), ("vector_mask", vector_mask)):
            if value is not None:
                allowed = "None, since count is given: a call has one or the other"
                raise ParameterError(name, value, allowed, table=_TABLE)
        return None
    if mask is None:
        raise ParameterError("mask", None, "a mask, or else count", table=_TABLE)
    if mask is not MASK_PLACEHOLDER:
        if vector_mask is not None:
            allowed = "MASK_PLACEHOLDER, since vector_mask is given (isSetMask = false)"
            raise ParameterError("mask", mask, allowed, table="VectorPadding, table 1")
        return check_mask(mask, kind)
    if vector_mask is None:
        allowed = "what SetVectorMask has set before, since mask is MASK_PLACEHOLDER (isSetMask = false)"
        raise ParameterError("vector_mask", None, allowed, table="VectorPadding, table 1")
    return check_mask(vector_mask, kind, parameter="vector_mask")


def _lane_source(kind: DataType, pad_mode: int, pad_side: bool) -> NDArray[np.int64]:
    c0 = kind.c0
    lane = np.arange(c0)
    if pad_mode == 0:
        source = np.full(c0, c0 - 1 if pad_side else 0)
    elif pad_mode == 1:
        source = lane[::-1].copy()
    else:
        source = c0 - 2 - lane if pad_side else c0 - lane
        source[source == c0] = -1
    return source


def layout(
    kind: DataType,
    words: tuple[int, ...] | None,
    count: object,
    pad_mode: object,
    pad_side: object,
    repeat_time: object,
    repeat_params: object,
) -> VectorPaddingPlan:
    """Check what does not depend on the source, and lay out the result: a pure function.

    Parameters
    ----------
    kind : DataType
        Type of the operands.
    words : tuple of int, or None
        The mask in bitwise form, checked; None in the form with `count`.
    count, pad_mode, pad_side, repeat_time, repeat_params : object
        As the caller gave them.
    """
    given = {"pad_mode": pad_mode, "pad_side": pad_side, "repeat_time": repeat_time, "repeat_params": repeat_params}
    checked = {name: VECTOR_PADDING_ARGUMENTS[name].check(value) for name, value in given.items()}
    mode, side, repeats = checked["pad_mode"], checked["pad_side"], checked["repeat_time"]
    strides: UnaryRepeatParams = checked["repeat_params"]
    if words is None:
        size = VECTOR_PADDING_ARGUMENTS["count"].check(count)
        if repeats != 1:
            raise ParameterError("repeatTime", repeats, "1 with count, a form without repeats", table=_TABLE)
        if strides != CONTIGUOUS:
            raise ParameterError(
                "repeatParams", strides, "the default with count, a form without strides", table=_TABLE
            )
        src = dst = BlockWalk(-(-size // kind.c0), repeat_stride=1, blocks=1)
        lanes = np.ones((BLOCKS_PER_REPEAT, kind.c0), bool)
    else:
        src = BlockWalk(repeats, strides.src_blk_stride, strides.src_rep_stride)
        dst = BlockWalk(repeats, strides.dst_blk_stride, strides.dst_rep_stride)
        check_destinations(
            dst, ("dstBlkStride", strides.dst_blk_stride), ("dstRepStride", strides.dst_rep_stride), _TABLE
        )
        size, lanes = dst.end * kind.c0, words_to_lanes(words)
    lane_source = _lane_source(kind, mode, side)
    for array in (lanes, lane_source):
        array.setflags(write=False)
    return VectorPaddingPlan(kind, mode, side, src, dst, lane_source, lanes, size, words is None)


_remembered_layout = remembered(layout)


def vector_padding(
    src: NDArray[np.generic],
    pad_mode: int,
    pad_side: bool,
    *,
    count: int | None = None,
    mask: LaneMask | Placeholder | None = None,
    repeat_time: int = 1,
    repeat_params: UnaryRepeatParams = CONTIGUOUS,
    vector_mask: LaneMask | None = None,
    out: NDArray[np.generic] | None = None,
    product: Product = Product.ATLAS_INFERENCE_AI_CORE,
    check_capacity: bool = False,
    allow_large: bool = False,
) -> NDArray[np.generic]:
    """Make the padding beside each DataBlock of the source (VectorPadding).

    Three forms: with `count`, the first elements of dst, contiguous; with a continuous `mask` or a bitwise one,
    `repeat_time` repeats of eight DataBlocks, `repeat_params` apart.  Lanes that the mask leaves out, and elements
    between the blocks, keep what `out` held.  All of a source block is read, whatever mask and count are.

    Parameters
    ----------
    src : ndarray of int16, uint16, float16, int32, uint32 or float32, shape (n,)
        The source in the Unified Buffer, contiguous; it reaches at least to the last DataBlock read.
    pad_mode : {0, 1, 2}
        ``padMode``: nearest element, mirrored block, or mirrored block moved by one, see the module's table.
    pad_side : bool
        ``padSide``: False for padding to the left of the block, True for padding to the right.
    count : int, optional
        Elements to write, [0, 2**32 - 1].  Exactly one of `count` and `mask` is given.
    mask : int, sequence of int, or `MASK_PLACEHOLDER`, optional
        Lanes to write in each repeat: the first n ([1, 128] for 16-bit types, [1, 64] for 32-bit types), or a bit
        each (two words for 16-bit types, one for 32-bit types, not all 0).
    repeat_time : int
        ``repeatTime``, [0, 255]; 0 does nothing.
    repeat_params : UnaryRepeatParams
        ``repeatParams``: strides in DataBlocks.
    vector_mask : int or sequence of int, optional
        With ``mask=MASK_PLACEHOLDER`` (isSetMask = false): the mask that SetVectorMask set before, in the same forms,
        lowest lanes first.
    out : ndarray, optional
        Where the result goes: dtype of `src`, exactly as long as the result, contiguous, apart from `src`.
    product : Product
        Where the call would run; only Atlas inference AI Core has it.
    check_capacity : bool
        Refuse operands that do not fit into the Unified Buffer together.
    allow_large : bool
        Accept results over 4 GiB.

    Returns
    -------
    ndarray of the dtype of `src`, shape (m,)
        `count` elements, or as many as reach to the end of the last DataBlock addressed; 0 where nothing is written.

    Raises
    ------
    ParameterError
        A value outside the document's range, a source that is too short, two writes to one DataBlock of dst (judged
        on the blocks addressed, whatever the mask is), both or neither of `count` and `mask`, a wrong `out`.
    UnsupportedProductError
        On every product but Atlas inference AI Core.
    BufferOverflowError
        With `check_capacity`, if the Unified Buffer is too small; results over 4 GiB.

    Examples
    --------
    The document's example, and a mask that writes three lanes of the first DataBlock and one of the second:

    >>> src = np.float16([6.938, -8.86, -0.2263, *range(11), 1.971, 1.778] * 8)
    >>> vector_padding(src, 0, False, count=128)[:8]
    array([6.938, 6.938, 6.938, 6.938, 6.938, 6.938, 6.938, 6.938],
          dtype=float16)
    >>> vector_padding(src, 1, True, mask=[0x1_0007, 0])[[0, 1, 2, 3, 16, 17]]
    array([ 1.778,  1.971, 10.   ,  0.   ,  1.778,  0.   ], dtype=float16)
    """
    plan = vector_padding_plan(
        src, pad_mode, pad_side, count=count, mask=mask, repeat_time=repeat_time, repeat_params=repeat_params,
        vector_mask=vector_mask, product=product,
    )  # fmt: skip
    sizes = plan.operand_bytes(src)
    if check_bool("check_capacity", check_capacity):
        check_ub(product, sizes)
    check_size("the result", sizes["dst"], allow_large=check_bool("allow_large", allow_large))
    result = np.zeros(plan.size, src.dtype) if out is None else check_out(out, src.dtype, (plan.size,), src)
    plan.run(src, result)
    return result


def vector_padding_sources(plan: VectorPaddingPlan, flat: NDArray[np.intp]) -> Sources:
    """Answer where output elements come from.

    Parameters
    ----------
    plan : VectorPaddingPlan
        From `vector_padding_plan`.
    flat : ndarray of intp, shape (n,)
        Indices of output elements.

    Returns
    -------
    Sources
        One element of `src`, or the constant 0 of mode 2; untouched outside the addressed blocks and masked lanes.
    """
    c0 = plan.kind.c0
    block, lane = np.divmod(flat, c0)
    step = plan.dst.find(block)
    written = (step >= 0) & plan.lanes[step % BLOCKS_PER_REPEAT, lane]
    source = plan.lane_source[lane]
    index = np.where(written & (source >= 0), plan.src.number(step) * c0 + source, -1)
    return Sources.copies(index, constant=0, untouched=~written)
