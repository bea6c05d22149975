"""A naive, one-element-at-a-time account of VectorPadding and BilinearInterpolation.

It is written from the rules alone and shares no code with the library: loops and Python integers.
Elements are moved as the integers that their bits spell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from aipp_oracle import in_units, nearest_half

BLOCK_BYTES = 32


def lane_is_on(mask: Any, lane: int) -> bool:
    """Look up one lane of a mask of either form."""
    if isinstance(mask, int):
        return lane < mask
    return bool(int(mask[lane // 64]) >> (lane % 64) & 1)


def padding_block(block: list[int], mode: int, right: bool) -> list[int]:
    """Make the block that stands beside this one, by walking away from its edge."""
    count = len(block)
    outwards = []
    for distance in range(count):  # how far from the edge the padding element is
        if mode == 0:
            outwards.append(block[-1] if right else block[0])
        elif mode == 1:
            outwards.append(block[count - 1 - distance] if right else block[distance])
        else:
            inner = count - 2 - distance if right else distance + 1
            outwards.append(block[inner] if 0 <= inner < count else 0)
    return outwards if right else outwards[::-1]


def bits_of(array: np.ndarray) -> list[int]:
    """Return an array's elements as unsigned integers."""
    return [int(v) for v in array.view(f"u{array.itemsize}")]


def from_bits(values: list[int], dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array whose elements have these bits."""
    return np.array(values, f"u{dtype.itemsize}").view(dtype)


def padding_by_count(src: np.ndarray, mode: int, right: bool, count: int) -> np.ndarray:
    """VectorPadding on the first `count` elements."""
    source, per_block = bits_of(src), BLOCK_BYTES // src.itemsize
    result = []
    for i in range(count):
        start = i // per_block * per_block
        result.append(padding_block(source[start : start + per_block], mode, right)[i % per_block])
    return from_bits(result, src.dtype)


def padding_by_mask(
    src: np.ndarray, mode: int, right: bool, mask: Any, repeats: int, strides: Sequence[int], before: np.ndarray | None
) -> np.ndarray:
    """VectorPadding with a mask; `strides` are dstBlk, srcBlk, dstRep, srcRep; `before` is what dst held."""
    dst_blk, src_blk, dst_rep, src_rep = strides
    source, per_block = bits_of(src), BLOCK_BYTES // src.itemsize
    last = max((r * dst_rep + b * dst_blk for r in range(repeats) for b in range(8)), default=-1)
    result = [0] * ((last + 1) * per_block) if before is None else bits_of(before)
    for repeat in range(repeats):
        for block in range(8):
            start = (repeat * src_rep + block * src_blk) * per_block
            made = padding_block(source[start : start + per_block], mode, right)
            for lane in range(per_block):
                if lane_is_on(mask, block * per_block + lane):
                    result[(repeat * dst_rep + block * dst_blk) * per_block + lane] = made[lane]
    return from_bits(result, src.dtype)


def half_times(a: float, b: float) -> float:
    """Multiply two halves."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isinf(a) or math.isinf(b):
        return math.nan if 0 in (a, b) else sign * math.inf
    return math.copysign(nearest_half(in_units(abs(a)) * in_units(abs(b)), 48), sign)


def half_plus(a: float, b: float) -> float:
    """Add two halves."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    units = in_units(a) + in_units(b)
    return nearest_half(units, 24) if units else a + b


def bilinear(
    src0: np.ndarray,
    src0_offset: np.ndarray,
    src1: np.ndarray,
    mask: Any,
    h_repeat: int,
    repeat_mode: bool,
    dst_blk_stride: int,
    v_roffset: int,
    v_repeat: int,
    before: np.ndarray | None = None,
) -> np.ndarray:
    """BilinearInterpolation."""
    last = max((v * v_roffset + 16 * b * dst_blk_stride) // 16 for v in range(v_repeat) for b in range(8))
    result = np.zeros((last + 1) * 16, np.float16) if before is None else before.copy()
    for vertical in range(v_repeat):
        for block in range(8):
            for lane in range(16):
                if not lane_is_on(mask, 16 * block + lane):
                    continue
                total = 0.0
                for horizontal in range(h_repeat):
                    iteration = vertical * h_repeat + horizontal
                    start = int(src0_offset[8 * iteration + block]) // 2
                    weight = float(src1[8 * iteration + block if repeat_mode else iteration])
                    total = half_plus(total, half_times(float(src0[start + lane]), weight))
                result[vertical * v_roffset + 16 * dst_blk_stride * block + lane] = total
    return result


def same_numbers(got: np.ndarray, expected: np.ndarray) -> bool:
    """Compare halves bit by bit, any NaN being as good as any other."""
    both_nan = np.isnan(got) & np.isnan(expected)
    return got.shape == expected.shape and bool(((got.view(np.uint16) == expected.view(np.uint16)) | both_nan).all())


def resized(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Resize bilinearly in Python floats: half-pixel centres, edges clamped, weights as they are."""
    rows, columns = picture.shape
    result = np.zeros((height, width))
    for y in range(height):
        for x in range(width):
            v = min(max((y + 0.5) * rows / height - 0.5, 0), rows - 1)
            u = min(max((x + 0.5) * columns / width - 0.5, 0), columns - 1)
            top, left = int(v), int(u)
            down, right = min(top + 1, rows - 1), min(left + 1, columns - 1)
            above = float(picture[top, left]) * (1 - (u - left)) + float(picture[top, right]) * (u - left)
            below = float(picture[down, left]) * (1 - (u - left)) + float(picture[down, right]) * (u - left)
            result[y, x] = above * (1 - (v - top)) + below * (v - top)
    return result
