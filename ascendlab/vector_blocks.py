"""How a vector instruction walks through memory: DataBlocks, repeats and the strides between them.

A repeat works on eight DataBlocks of 32 bytes.  The *block stride* is the distance between neighbouring blocks of
one repeat, the *repeat stride* that between the same block of two repeats, both counted in DataBlocks.

>>> BlockWalk(repeats=2, block_stride=3, repeat_stride=1).numbers()
array([[ 0,  3,  6,  9, 12, 15, 18, 21],
       [ 1,  4,  7, 10, 13, 16, 19, 22]])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import is_plain
from ascendlab.dtypes import BLOCKS_PER_REPEAT, DATA_BLOCK_BYTES
from ascendlab.errors import BufferOverflowError, ParameterError
from ascendlab.fields import Parameters, check_int, field, structure
from ascendlab.products import Product

__all__ = [
    "CONTIGUOUS",
    "BlockMoves",
    "BlockWalk",
    "UnaryRepeatParams",
    "check_apart",
    "check_destinations",
    "check_operand",
    "check_ub",
    "ub_bytes",
]

_TABLE = "UnaryRepeatParams"


@structure
@dataclass(frozen=True)
class UnaryRepeatParams(Parameters):
    """The strides of a vector instruction with one source, in DataBlocks of 32 bytes.

    The defaults are contiguous: block follows block, repeat follows repeat.

    Examples
    --------
    >>> UnaryRepeatParams(1, 2, 8, 16)
    UnaryRepeatParams(dst_blk_stride=1, src_blk_stride=2, dst_rep_stride=8, src_rep_stride=16)
    """

    dst_blk_stride: int = field(
        "dstBlkStride", "uint16_t", "From block to block of one repeat, in dst.", default=1, table=_TABLE, unit="blocks"
    )
    src_blk_stride: int = field(
        "srcBlkStride", "uint16_t", "From block to block of one repeat, in src.", default=1, table=_TABLE, unit="blocks"
    )
    dst_rep_stride: int = field(
        "dstRepStride", "uint8_t", "From repeat to repeat, in dst.", default=8, table=_TABLE, unit="blocks"
    )
    src_rep_stride: int = field(
        "srcRepStride", "uint8_t", "From repeat to repeat, in src.", default=8, table=_TABLE, unit="blocks"
    )


CONTIGUOUS = UnaryRepeatParams()
"""Block after block, repeat after repeat."""


@dataclass(frozen=True)
class BlockWalk:
    """The DataBlocks of one operand, in the order in which an instruction comes to them.

    Parameters
    ----------
    repeats : int
        Repeats, 0 or more.
    block_stride, repeat_stride : int
        In DataBlocks.
    blocks : int
        DataBlocks in one repeat.
    """

    repeats: int
    block_stride: int = 1
    repeat_stride: int = BLOCKS_PER_REPEAT
    blocks: int = BLOCKS_PER_REPEAT

    @property
    def end(self) -> int:
        """DataBlocks from the operand's start to the last one addressed, that one included."""
        if not self.repeats:
            return 0
        return (self.repeats - 1) * self.repeat_stride + (self.blocks - 1) * self.block_stride + 1

    def numbers(self) -> NDArray[np.int64]:
        """Return the number of each DataBlock from the operand's start, shape (repeats, blocks)."""
        repeat, block = np.arange(self.repeats)[:, None], np.arange(self.blocks)
        return repeat * self.repeat_stride + block * self.block_stride

    def view(self, operand: NDArray[Any]) -> NDArray[Any]:
        """Return the addressed DataBlocks of a contiguous 1-D array as a view (repeats, blocks, elements).

        The operand must reach to `end`; where blocks overlap, so do the elements of the view.
        """
        c0 = DATA_BLOCK_BYTES // operand.itemsize
        strides = self.repeat_stride * DATA_BLOCK_BYTES, self.block_stride * DATA_BLOCK_BYTES, operand.itemsize
        # Unlike as_strided this refuses to reach beyond the operand.
        blocks: NDArray[Any] = np.ndarray((self.repeats, self.blocks, c0), operand.dtype, operand, 0, strides)
        return blocks

    def number(self, step: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of the DataBlocks that come at these steps, a step being ``repeat * blocks + block``."""
        repeat, block = np.divmod(step, self.blocks)
        numbers: NDArray[Any] = repeat * self.repeat_stride + block * self.block_stride
        return numbers

    def arithmetic(self, repeat: int, block: int) -> str:
        """Write out how the number of a DataBlock comes about.

        Examples
        --------
        >>> BlockWalk(repeats=4, block_stride=2, repeat_stride=16).arithmetic(3, 1)
        '3 * 16 + 1 * 2 = 50'
        """
        check_int("repeat", repeat, 0, self.repeats - 1)
        check_int("block", block, 0, self.blocks - 1)
        number = repeat * self.repeat_stride + block * self.block_stride
        return f"{repeat} * {self.repeat_stride} + {block} * {self.block_stride} = {number}"

    def find(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the steps at which these DataBlocks come, or -1 where they do not.

        For walks that come to no DataBlock twice.

        Examples
        --------
        >>> BlockWalk(repeats=2, repeat_stride=10).find(np.array([7, 8, 10]))
        array([ 7, -1,  8])
        """
        total = self.repeats * self.blocks
        if not total or (self.repeat_stride == self.blocks and self.block_stride == 1):
            return np.where(numbers < total, numbers, -1)
        own = self.numbers().ravel()
        order = np.argsort(own)
        place = order[np.minimum(np.searchsorted(own[order], numbers), total - 1)]
        return np.where(own[place] == numbers, place, -1)

    def collision(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return two steps (repeat, block) that come to the same DataBlock, or None if there are none.

        Examples
        --------
        >>> BlockWalk(repeats=2, repeat_stride=7).collision()
        ((0, 7), (1, 0))
        """
        own = self.numbers().ravel()
        order = np.argsort(own, kind="stable")
        again = np.flatnonzero(np.diff(own[order]) == 0)
        if not again.size:
            return None
        first, second = (divmod(int(order[again[0] + i]), self.blocks) for i in (0, 1))
        return first, second


@dataclass(frozen=True, eq=False)
class BlockMoves:
    """Which source DataBlock goes into which destination DataBlock: what an arrow in a picture says.

    Parameters
    ----------
    repeat, block : ndarray of int64, shape (n,)
        The repeat, and the block within it, of each move.
    source, destination : ndarray of int64, shape (n,)
        Numbers of the DataBlocks; times 32 they are byte offsets from the operands' starts.
    """

    repeat: NDArray[np.int64]
    block: NDArray[np.int64]
    source: NDArray[np.int64]
    destination: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.source)


def check_destinations(dst: BlockWalk, block: tuple[str, object], repeat: tuple[str, object], table: str) -> None:
    """Refuse a walk that would write a DataBlock twice; `block` and `repeat` name the two strides and their values."""
    again = dst.collision()
    if again is None:
        return
    (first, there), (second, here) = again
    name, value = block if first == second else repeat
    allowed = (
        f"a distance that writes no DataBlock of dst twice; block {here} of repeat {second} falls on block {there} of "
        f"repeat {first}"
    )
    raise ParameterError(name, value, allowed, table=table)


def check_operand(
    name: str, value: object, dtypes: tuple[np.dtype[Any], ...], names: str, *, hint: str = ""
) -> NDArray[Any]:
    """Return `value` if it can stand for a LocalTensor: a contiguous 1-D array of one of these types."""
    if not is_plain(value) or value.dtype not in dtypes or value.ndim != 1:
        raise ParameterError(name, value, f"a NumPy array of {names} with shape (n,)", hint=hint)
    if not value.flags.c_contiguous:
        raise ParameterError(name, value, "a contiguous array, as a LocalTensor is")
    return value


def check_apart(operands: Mapping[str, NDArray[Any]]) -> None:
    """Refuse operands that share memory."""
    names = list(operands)
    for i, name in enumerate(names):
        for other in names[:i]:
            if np.may_share_memory(operands[name], operands[other]):
                raise ParameterError(name, operands[name], f"an array that shares no memory with {other}")


def ub_bytes(operands: Mapping[str, int]) -> int:
    """Return how much of the Unified Buffer operands of these many bytes take, each in whole DataBlocks.

    >>> ub_bytes({"src": 100, "dst": 64})
    192
    """
    return sum(-(-size // DATA_BLOCK_BYTES) * DATA_BLOCK_BYTES for size in operands.values())


def check_ub(product: Product, operands: Mapping[str, int]) -> None:
    """Refuse operands that do not fit together into the product's Unified Buffer."""
    needed, available = ub_bytes(operands), product.buffers["UB"]
    if needed > available:
        parts = ", ".join(f"{name} {size:,}" for name, size in operands.items())
        raise BufferOverflowError("UB", needed, available, hint=f"In bytes: {parts}")
