"""SetAippFunctions and LoadImageToLocal: picture preprocessing on the way from global memory to L1.

`set_aipp_functions` only configures, as on the device; `load_image_to_local` moves the picture.  Between them
stands the *plan* (`AippPlan`): a row map, a column map and a channel map say for every output element where it
comes from.  Running the plan gives the picture, asking it gives the provenance, adding it up gives the bytes.

>>> import numpy as np
>>> picture = np.arange(64, dtype=np.uint8).reshape(8, 8)
>>> setup = set_aipp_functions(picture, input_format=AippInputFormat.YUV400_U8, dtype="uint8",
...                            config=AippParams(padding_params=AippPaddingParams(padding_mode=2)))
>>> window = LoadImageToLocalParams(horiz_size=8, vert_size=8, src_horiz_size=8, left_pad_size=4, top_pad_size=4)
>>> load_image_to_local(setup, window)[:4, :8, 0]
array([[ 0,  1,  2,  3,  0,  1,  2,  3],
       [ 8,  9, 10, 11,  8,  9, 10, 11],
       [16, 17, 18, 19, 16, 17, 18, 19],
       [24, 25, 26, 27, 24, 25, 26, 27]], dtype=uint8)
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_params import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSingleLineParams,
    AippSwapParams,
    LoadImageToLocalParams,
    csc_preset,
)
from ascendlab.aipp_plan import AippPlan, aipp_plan, aipp_sources
from ascendlab.aipp_setup import AippSetup, output_types, set_aipp_functions
from ascendlab.aipp_tiles import run_plan
from ascendlab.arrays import check_out, check_size
from ascendlab.dtypes import DATA_BLOCK_BYTES
from ascendlab.errors import BufferOverflowError, KernelLimitWarning
from ascendlab.fields import check_bool

__all__ = [
    "AippChannelPaddingParams",
    "AippColorSpaceConvParams",
    "AippDataTypeConvParams",
    "AippInputFormat",
    "AippPaddingParams",
    "AippParams",
    "AippPlan",
    "AippSetup",
    "AippSingleLineParams",
    "AippSwapParams",
    "LoadImageToLocalParams",
    "aipp_plan",
    "aipp_sources",
    "csc_preset",
    "load_image_to_local",
    "output_types",
    "set_aipp_functions",
]

# The open kernel collects its result in this much scratch memory before it copies whole DataBlocks to L1.
_KERNEL_SCRATCH = 256 * 1024


def load_image_to_local(
    setup: AippSetup, params: LoadImageToLocalParams, *, out: NDArray[Any] | None = None, check_capacity: bool = False
) -> NDArray[Any]:
    """Read a window of the picture, preprocess it, add the border (LoadImageToLocal).

    Order: crop, channel swap, colour conversion, type conversion, border, channel padding.

    Parameters
    ----------
    setup : AippSetup
        From `set_aipp_functions`.
    params : LoadImageToLocalParams
        The window and its border.
    out : ndarray, optional
        Where the result goes: exact dtype and shape, C-contiguous, apart from the sources.
    check_capacity : bool
        Refuse a result that does not fit into the product's L1.

    Returns
    -------
    ndarray of the setup's dtype, shape (top + vert + bot, left + horiz + right, C)
        C is 4 with ``c_padding_mode=1``, else 32 (8-bit) or 16 (half).

    Raises
    ------
    ParameterError
        A window outside the picture, an odd start, a border larger than the block it is copied from, a wrong `out`.
    BufferOverflowError
        With `check_capacity`, if L1 is too small.

    Warns
    -----
    KernelLimitWarning
        In profile ``dav_3510``, where the open kernel drops a tail or overruns its scratch memory.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.arange(8, dtype=np.uint8).reshape(1, 8).repeat(2, axis=0)
    >>> setup = set_aipp_functions(row, input_format=AippInputFormat.YUV400_U8, dtype="int8", config=AippParams(
    ...     padding_params=AippPaddingParams(padding_mode=3), dtc_params=AippDataTypeConvParams(dtc_mean_ch0=4)))
    >>> view = LoadImageToLocalParams(horiz_size=4, vert_size=2, src_horiz_size=8, horiz_start_pos=2, right_pad_size=3)
    >>> load_image_to_local(setup, view)[0, :, 0]
    array([-2, -1,  0,  1,  1,  0, -1], dtype=int8)
    """
    plan = aipp_plan(setup, params)
    check_bool("check_capacity", check_capacity)
    size = math.prod(plan.shape) * setup.dtype.numpy.itemsize
    if check_capacity and size > setup.product.buffers["L1"]:
        tiles = -(-size // setup.product.buffers["L1"])
        raise BufferOverflowError(
            "L1", size, setup.product.buffers["L1"], hint=f"Cut the window into {tiles} tiles or more"
        )
    check_size("the result", size)
    sources = [setup.src0] if setup.src1 is None else [setup.src0, setup.src1]
    if out is None:
        result: NDArray[Any] = np.empty(plan.shape, setup.dtype.numpy)
    else:
        result = check_out(out, setup.dtype.numpy, plan.shape, *sources)
    if setup.profile == "dav_3510":
        _warn_of_kernel_limits(setup, params, size)
    run_plan(plan, setup, result)
    return result


def _warn_of_kernel_limits(setup: AippSetup, params: LoadImageToLocalParams, size: int) -> None:
    limits = []
    if setup.config.padding_params.padding_mode == 0 and (params.top_pad_size or params.bot_pad_size):
        limits.append("takes topPadSize and botPadSize as 0 with paddingMode 0")
    if size % DATA_BLOCK_BYTES:
        limits.append(f"copies whole 32-byte blocks to L1, so the last {size % DATA_BLOCK_BYTES} bytes never arrive")
    if size > _KERNEL_SCRATCH:
        limits.append(f"has {_KERNEL_SCRATCH:,} bytes of scratch memory per core, which {size:,} bytes overrun")
    for limit in limits:
        warnings.warn(f"the open kernel for Atlas 350 {limit}", KernelLimitWarning, stacklevel=3)
