"""The vector instructions: VectorPadding and BilinearInterpolation.

Both work on DataBlocks of 32 bytes, eight of them in a repeat, with a mask that says which lanes are written; masks
(`ascendlab.vector_mask`) and strides (`ascendlab.vector_blocks`) are modelled once for both.

>>> import numpy as np
>>> mask_lanes(17, "half").sum(axis=1)
array([16,  1,  0,  0,  0,  0,  0,  0])
>>> vector_padding(np.arange(8, dtype=np.float32), 0, True, count=8)
array([7., 7., 7., 7., 7., 7., 7., 7.], dtype=float32)
"""

from __future__ import annotations

from ascendlab.bilinear import bilinear_interpolation, shared_tmp_buffer_bytes
from ascendlab.bilinear_plan import (
    BILINEAR_INTERPOLATION_ARGUMENTS,
    BILINEAR_INTERPOLATION_PRODUCTS,
    BilinearInterpolationPlan,
    bilinear_interpolation_plan,
    bilinear_interpolation_sources,
)
from ascendlab.vector_blocks import BlockMoves, BlockWalk, UnaryRepeatParams
from ascendlab.vector_mask import (
    MASK_PLACEHOLDER,
    mask_from_lanes,
    mask_lanes,
    mask_to_bitwise,
    mask_to_continuous,
)
from ascendlab.vector_padding import (
    VECTOR_PADDING_ARGUMENTS,
    VECTOR_PADDING_PRODUCTS,
    VECTOR_PADDING_TYPES,
    VectorPaddingPlan,
    vector_padding,
    vector_padding_plan,
    vector_padding_sources,
)

__all__ = [
    "BILINEAR_INTERPOLATION_ARGUMENTS",
    "BILINEAR_INTERPOLATION_PRODUCTS",
    "MASK_PLACEHOLDER",
    "VECTOR_PADDING_ARGUMENTS",
    "VECTOR_PADDING_PRODUCTS",
    "VECTOR_PADDING_TYPES",
    "BilinearInterpolationPlan",
    "BlockMoves",
    "BlockWalk",
    "UnaryRepeatParams",
    "VectorPaddingPlan",
    "bilinear_interpolation",
    "bilinear_interpolation_plan",
    "bilinear_interpolation_sources",
    "mask_from_lanes",
    "mask_lanes",
    "mask_to_bitwise",
    "mask_to_continuous",
    "shared_tmp_buffer_bytes",
    "vector_padding",
    "vector_padding_plan",
    "vector_padding_sources",
]
