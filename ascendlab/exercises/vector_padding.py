"""Exercises on VectorPadding.

>>> import numpy as np
>>> mirror.check(lambda block, pad_side: block[::-1])
Wrong: That is padMode 1. Mode 2 moves the mirrored block by one element and lets a 0 in.
  Seen on a block of 16 half, padSide False.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.exercises._base import Case, Exercise, Misconception
from ascendlab.provenance import Call, trace
from ascendlab.vector import UnaryRepeatParams, mask_to_bitwise, vector_padding, vector_padding_plan

__all__ = ["mask_bits", "mirror", "written_blocks"]

Array = NDArray[Any]

# --- padMode 2 ---

_TYPES = ("half", "int32", "int16", "float")
_NUMPY = {"half": np.float16, "int32": np.int32, "int16": np.int16, "float": np.float32}


def _block_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for number, name in enumerate(_TYPES):
        side = bool(number % 2)
        length = 32 // np.dtype(_NUMPY[name]).itemsize
        block = rng.choice(np.arange(1, 200), length, replace=False).astype(_NUMPY[name])
        traced = trace(Call(vector_padding, {"src": block, "pad_mode": 2, "pad_side": side, "count": length}))
        cases.append(
            Case(
                {"block": block, "pad_side": side},
                words=f"a block of {length} {name}, padSide {side}",
                where=lambda *index, traced=traced: str(traced.origin(*index)).replace("src", "block"),
            )
        )
    return cases


def _one_block(block: Array, pad_side: bool) -> Array:
    return vector_padding(block, 2, pad_side, count=len(block))


def _joined(*parts: Any) -> Array:
    return np.concatenate([np.atleast_1d(part) for part in parts])


mirror = Exercise(
    name="mirror",
    parameters="block, pad_side",
    task="Make the DataBlock that `padMode` 2 puts to the left (`pad_side` False) or to the right (True) of `block`.",
    spec="out.shape == block.shape\nout[-1 if pad_side else 0] == 0",
    cases=_block_cases,
    library=_one_block,
    misconceptions=[
        Misconception(
            "That is padMode 1. Mode 2 moves the mirrored block by one element and lets a 0 in.",
            lambda block, pad_side: block[::-1],
        ),
        Misconception(
            "That is padMode 0, the nearest element. Mode 2 mirrors the block.",
            lambda block, pad_side: np.full_like(block, block[-1 if pad_side else 0]),
        ),
        Misconception(
            "The sides are exchanged: padSide False is the left side, where the 0 comes in at the far end, lane 0.",
            lambda block, pad_side: _joined(0, block[:0:-1]) if pad_side else _joined(block[-2::-1], 0),
        ),
        Misconception(
            "The 0 stands beside the block. It comes in at the far end, where the mirrored block has run out.",
            lambda block, pad_side: _joined(0, block[-2::-1]) if pad_side else _joined(block[:0:-1], 0),
        ),
        Misconception(
            "The wrong element dropped out: mirrored about the edge, the element at the edge itself is left out.",
            lambda block, pad_side: _joined(block[:0:-1], 0) if pad_side else _joined(0, block[-2::-1]),
        ),
        Misconception(
            "The block is moved but not mirrored.",
            lambda block, pad_side: _joined(block[:-1], 0) if pad_side else _joined(0, block[1:]),
        ),
    ],
)

# --- masks ---


def _mask_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for bits, size in ((16, 3), (32, 9), (16, 41), (16, 7), (32, 1)):
        lanes = sorted(int(lane) for lane in rng.choice(2048 // bits, size, replace=False))
        if bits == 16:  # both words must be needed, or exchanging them would not show
            lanes = sorted({*lanes, int(rng.integers(64)), int(rng.integers(64, 128))})
        cases.append(
            Case({"lanes": lanes, "bits": bits}, words=f"{len(lanes)} lanes of a repeat of {bits}-bit elements")
        )
    return cases


def _words(lanes: Sequence[int], bits: int) -> list[int]:
    value = sum(1 << lane for lane in lanes)
    return [value >> 64 * i & (1 << 64) - 1 for i in range(128 // bits // 4)]


def _library_words(lanes: Sequence[int], bits: int) -> Array:
    words = mask_to_bitwise(_words(lanes, bits), "half" if bits == 16 else "float")
    return np.array(words, np.uint64)


def _unsigned(answer: Any, **_: Any) -> Any:
    """Take words as unsigned 64-bit numbers, in whatever form they come."""
    if isinstance(answer, (list, tuple)) and all(isinstance(word, (int, np.integer)) for word in answer):
        return np.array([int(word) & (1 << 64) - 1 for word in answer], np.uint64)
    return answer


mask_bits = Exercise(
    name="mask_bits",
    parameters="lanes, bits",
    task="Write the bitwise mask (a list of 64-bit words: two for 16-bit elements, one for 32-bit ones) that lets "
    "exactly these `lanes` be written.",
    spec="len(words) == {16: 2, 32: 1}[bits]\nall((words[i // 64] >> i % 64) & 1 for i in lanes)",
    cases=_mask_cases,
    library=_library_words,
    observe=_unsigned,
    misconceptions=[
        Misconception(
            "The words are exchanged: lanes 0 to 63 are in word 0, lanes 64 to 127 in word 1.",
            lambda lanes, bits: _words(lanes, bits)[::-1],
        ),
        Misconception(
            "The bits run the wrong way: lane 0 is the lowest bit of its word, not the highest.",
            lambda lanes, bits: _words([lane // 64 * 64 + 63 - lane % 64 for lane in lanes], bits),
        ),
        Misconception(
            "The lanes are complemented: a 1 lets a lane be written, a 0 leaves it out.",
            lambda lanes, bits: [word ^ (1 << 64) - 1 for word in _words(lanes, bits)],
        ),
        Misconception(
            "That is the continuous form turned into bits: the first len(lanes) lanes instead of these lanes.",
            lambda lanes, bits: _words(range(len(lanes)), bits),
        ),
        Misconception(
            "Lanes are counted from 0: lane i is bit i, not bit i - 1.",
            lambda lanes, bits: _words([lane - 1 for lane in lanes if lane], bits),
        ),
        Misconception(
            "Lanes are counted from 0: lane i is bit i, not bit i + 1.",
            lambda lanes, bits: _words([lane + 1 for lane in lanes], bits),
        ),
    ],
)

# --- strides ---


def _stride_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for repeat_time, blk, rep in ((2, 1, 8), (3, 2, 17), (2, 3, 25), (4, 1, 11)):
        offset = int(rng.integers(0, 5))
        cases.append(
            Case(
                {"repeat_time": repeat_time, "dst_blk_stride": blk, "dst_rep_stride": rep + offset},
                words=f"{repeat_time} repeats, dst_blk_stride {blk}, dst_rep_stride {rep + offset}",
            )
        )
    return cases


def _library_blocks(repeat_time: int, dst_blk_stride: int, dst_rep_stride: int) -> Array:
    strides = UnaryRepeatParams(dst_blk_stride=dst_blk_stride, dst_rep_stride=dst_rep_stride)
    src = np.zeros(repeat_time * 128, np.float16)
    plan = vector_padding_plan(src, 0, False, mask=128, repeat_time=repeat_time, repeat_params=strides)
    return plan.moves().destination.reshape(repeat_time, 8)


def _blocks(repeat_time: int, block: int, repeat: int) -> Array:
    return np.arange(repeat_time)[:, None] * repeat + np.arange(8) * block


written_blocks = Exercise(
    name="written_blocks",
    parameters="repeat_time, dst_blk_stride, dst_rep_stride",
    task="Number the DataBlocks of dst that a call writes: row r, column b is the number of block b of repeat r.",
    spec="out.shape == (repeat_time, 8)\nout[0, 0] == 0",
    cases=_stride_cases,
    library=_library_blocks,
    misconceptions=[
        Misconception(
            "The two strides are exchanged: the block stride is inside a repeat, the repeat stride between repeats.",
            lambda repeat_time, dst_blk_stride, dst_rep_stride: _blocks(repeat_time, dst_rep_stride, dst_blk_stride),
        ),
        Misconception(
            "A repeat stride goes from the start of one repeat to the start of the next, not from its end.",
            lambda repeat_time, dst_blk_stride, dst_rep_stride: _blocks(
                repeat_time, dst_blk_stride, 8 * dst_blk_stride + dst_rep_stride
            ),
        ),
        Misconception(
            "Those are gaps: a block stride of 1 means the very next block, not one block left out.",
            lambda repeat_time, dst_blk_stride, dst_rep_stride: _blocks(
                repeat_time, dst_blk_stride + 1, dst_rep_stride
            ),
        ),
        Misconception(
            "Those are bytes. A stride counts DataBlocks of 32 bytes.",
            lambda repeat_time, dst_blk_stride, dst_rep_stride: (
                32 * _blocks(repeat_time, dst_blk_stride, dst_rep_stride)
            ),
        ),
        Misconception(
            "Those are elements. A stride counts DataBlocks of 32 bytes.",
            lambda repeat_time, dst_blk_stride, dst_rep_stride: (
                16 * _blocks(repeat_time, dst_blk_stride, dst_rep_stride)
            ),
        ),
        Misconception(
            "The repeat stride is not looked at: repeats do not simply follow each other.",
            lambda repeat_time, dst_blk_stride, dst_rep_stride: _blocks(
                repeat_time, dst_blk_stride, 8 * dst_blk_stride
            ),
        ),
    ],
)
