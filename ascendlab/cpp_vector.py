"""Ascend C code of the vector instructions, in the style of their documents' examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ascendlab.cpp_literals import hexadecimal
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.vector import MASK_PLACEHOLDER, mask_to_bitwise

__all__ = ["bilinear_interpolation_lines", "vector_padding_lines"]


def _mask_lines(mask: Any) -> list[str]:
    """Declare a mask as the document does: an array of words in the bitwise form, a number in the continuous one.

    The array has two words for 32-bit data too: the C++ layer reads both, the second one past a shorter array.
    """
    if isinstance(mask, (list, tuple, np.ndarray)):
        low, high = (*map(int, mask), 0)[:2]
        return [f"uint64_t mask[2] = {{ {hexadecimal(low)}, {hexadecimal(high)} }};"]
    return [f"uint64_t mask = {int(mask)};"]


def _set_vector_mask(vector_mask: Any, kind: DataType) -> str:
    """Write the call that sets the mask beforehand; its words come highest first."""
    words = mask_to_bitwise(vector_mask, kind)
    high, low = words[1:] or (0,), words[0]
    return f"AscendC::SetVectorMask<{kind.cpp}>({hexadecimal(high[0])}, {hexadecimal(low)});"


def vector_padding_lines(arguments: Mapping[str, Any]) -> list[str]:
    """Write a call of VectorPadding."""
    kind = as_dtype(arguments["src"].dtype)
    lines = [
        f"// srcLocal, dstLocal: LocalTensor<{kind.cpp}> in the Unified Buffer",
        f"uint8_t padMode = {int(arguments['pad_mode'])};",
        f"bool padSide = {'true' if arguments['pad_side'] else 'false'};",
    ]
    count, mask = arguments["count"], arguments["mask"]
    if count is not None:
        return [*lines, f"AscendC::VectorPadding(dstLocal, srcLocal, padMode, padSide, {int(count)});"]
    name, template = "mask", ""
    if mask is MASK_PLACEHOLDER:
        lines.append(_set_vector_mask(arguments["vector_mask"], kind))
        name, template = "AscendC::MASK_PLACEHOLDER", f"<{kind.cpp}, false>"
    else:
        lines += _mask_lines(mask)
    strides, repeat = arguments["repeat_params"], arguments["repeat_time"]
    braces = ", ".join(
        str(getattr(strides, part)) for part in ("dst_blk_stride", "src_blk_stride", "dst_rep_stride", "src_rep_stride")
    )
    return [
        *lines,
        "// { dstBlkStride, srcBlkStride, dstRepStride, srcRepStride } in DataBlocks",
        f"AscendC::VectorPadding{template}(dstLocal, srcLocal, padMode, padSide, {name},",
        f"    {int(repeat)}, {{ {braces} }});",
    ]


def bilinear_interpolation_lines(arguments: Mapping[str, Any]) -> list[str]:
    """Write a call of BilinearInterpolation."""
    return [
        "// dstLocal, src0Local, src1Local: LocalTensor<half>; src0OffsetLocal: LocalTensor<uint32_t>",
        "// tmpLocal: LocalTensor<uint8_t>, the temporary buffer",
        *_mask_lines(arguments["mask"]),
        f"uint8_t hRepeat = {int(arguments['h_repeat'])};",
        f"bool repeatMode = {'true' if arguments['repeat_mode'] else 'false'};",
        f"uint16_t dstBlkStride = {int(arguments['dst_blk_stride'])};",
        f"uint16_t vROffset = {int(arguments['v_roffset'])};",
        f"uint8_t vRepeat = {int(arguments['v_repeat'])};",
        "AscendC::BilinearInterpolation(dstLocal, src0Local, src0OffsetLocal, src1Local, mask,",
        "    hRepeat, repeatMode, dstBlkStride, vROffset, vRepeat, tmpLocal);",
    ]
