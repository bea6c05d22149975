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
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_convert import Conversion, conversion_tables
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
    check_profile,
    csc_preset,
)
from ascendlab.aipp_tiles import constant_pixels, run_plan
from ascendlab.arrays import check_array, check_out, check_size
from ascendlab.dtypes import DATA_BLOCK_BYTES, DataType, as_dtype
from ascendlab.errors import (
    BufferOverflowError,
    DocumentationConflictWarning,
    KernelLimitWarning,
    ParameterError,
)
from ascendlab.fields import check_bool, check_int
from ascendlab.products import Product, require_product
from ascendlab.sources import Sources

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

SUPPORTED = (
    Product.ATLAS_350,
    Product.ATLAS_A3,
    Product.ATLAS_A2,
    Product.ATLAS_200I_500_A2,
    Product.ATLAS_INFERENCE_AI_CORE,
)
_SWAP_FORMATS = {
    "is_swap_rb": ("isSwapRB", (AippInputFormat.RGB888_U8, AippInputFormat.XRGB8888_U8)),
    "is_swap_uv": ("isSwapUV", (AippInputFormat.YUV420SP_U8,)),
    "is_swap_ax": ("isSwapAX", (AippInputFormat.XRGB8888_U8,)),
}
_T3, _T6, _T7 = (f"SetAippFunctions, table {n}" for n in (3, 6, 7))
# The open kernel collects its result in this much scratch memory before it copies whole DataBlocks to L1.
_KERNEL_SCRATCH = 256 * 1024


def output_types(product: Product) -> tuple[str, ...]:
    """Return the output types that `product` converts to.

    >>> output_types(Product.ATLAS_A2)
    ('int8', 'half')
    """
    require_product("SetAippFunctions", product, SUPPORTED)
    return ("int8", "half") if product in (Product.ATLAS_A2, Product.ATLAS_A3) else ("uint8", "int8", "half")


@dataclass(frozen=True, eq=False)
class AippSetup:
    """What SetAippFunctions leaves behind: the sources (referenced, not copied) and the checked configuration.

    Made by `set_aipp_functions`; `load_image_to_local` reads it, any number of times.
    """

    src0: NDArray[np.uint8]
    src1: NDArray[np.uint8] | None
    input_format: AippInputFormat
    config: AippParams
    dtype: DataType
    product: Product
    profile: str
    conversion: Conversion

    @property
    def channels(self) -> int:
        """Channels of an output pixel: 4, or as many as fill 32 bytes."""
        return 4 if self.config.c_padding_params.c_padding_mode else self.dtype.c0

    @property
    def csc_bias(self) -> tuple[int, int, int]:
        """The bias triple that this profile uses for this direction."""
        csc = self.config.csc_params
        to_rgb = self.input_format in (AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8)
        return csc.bias_out if (self.profile == "documented") == to_rgb else csc.bias_in


def set_aipp_functions(
    src0: NDArray[np.uint8],
    src1: NDArray[np.uint8] | None = None,
    *,
    input_format: AippInputFormat,
    config: AippParams,
    dtype: Any,
    product: Product = Product.ATLAS_INFERENCE_AI_CORE,
    profile: str = "documented",
) -> AippSetup:
    """Configure the preprocessing (SetAippFunctions).

    Parameters
    ----------
    src0 : ndarray of uint8
        YUV420SP: the Y plane, (H, W) with even H and W; XRGB8888: (H, W, 4); RGB888: (H, W, 3); YUV400: (H, W).
    src1 : ndarray of uint8, shape (H/2, W), optional
        YUV420SP only: U and V interleaved.  Other formats do not look at it.
    input_format : AippInputFormat
        How the picture lies in memory.
    config : AippParams
        What is to be done with it.
    dtype : {"uint8", "int8", "half"} or NumPy dtype
        Output type (template parameter U); Atlas A2 and A3 have no uint8.
    product : Product
        Where the call would run.
    profile : {"documented", "dav_3510"}
        The manual's rules, or those of the open software kernel for Atlas 350 (see the ledger, `ascendlab.fidelity`).

    Returns
    -------
    AippSetup
        To be given to `load_image_to_local`.

    Raises
    ------
    ParameterError
        A wrong array, a swap that the format does not have, a constant outside the output type, a parameter that
        the product lacks (dtcMin on Atlas 200I/500 A2, dtcRoundMode anywhere else).
    UnsupportedProductError
        On Atlas inference Vector Core and Atlas training.

    Warns
    -----
    DocumentationConflictWarning
        If the only non-zero CSC bias is the one that the chosen profile ignores.

    Examples
    --------
    >>> import numpy as np
    >>> rgb = np.full((2, 2, 3), (10, 20, 30), np.uint8)
    >>> setup = set_aipp_functions(rgb, input_format=AippInputFormat.RGB888_U8, dtype="half", config=AippParams(
    ...     swap_params=AippSwapParams(is_swap_rb=True), dtc_params=AippDataTypeConvParams(dtc_mean_ch0=20)))
    >>> load_image_to_local(setup, LoadImageToLocalParams(horiz_size=2, vert_size=2, src_horiz_size=2))[0, 0, :4]
    array([10., 20., 10.,  0.], dtype=float16)
    """
    require_product("SetAippFunctions", product, SUPPORTED)
    check_profile(profile)
    if profile == "dav_3510" and product is not Product.ATLAS_350:
        raise ParameterError(
            "profile", profile, "'documented' on every product, 'dav_3510' only with Product.ATLAS_350"
        )
    if not isinstance(input_format, AippInputFormat):
        raise ParameterError("input_format", input_format, "one of " + ", ".join(f.name for f in AippInputFormat))
    if not isinstance(config, AippParams):
        raise ParameterError("config", config, "an instance of AippParams")
    kind = as_dtype(dtype, output_types(product))
    _check_sources(input_format, src0, src1)
    _check_config(config, input_format, kind, product, profile)
    setup = AippSetup(
        src0=src0,
        src1=src1 if input_format is AippInputFormat.YUV420SP_U8 else None,
        input_format=input_format,
        config=config,
        dtype=kind,
        product=product,
        profile=profile,
        conversion=conversion_tables(input_format, config, kind, product, profile),
    )
    _warn_if_bias_is_ignored(setup)
    return setup


def _check_sources(input_format: AippInputFormat, src0: object, src1: object) -> None:
    u8 = np.dtype(np.uint8)
    if input_format is AippInputFormat.YUV420SP_U8:
        y = check_array("src0", src0, u8, (None, None), "(H, W), the Y plane")
        height, width = y.shape
        if height % 2 or width % 2:
            raise ParameterError(
                "src0", src0, "a Y plane of even height and width, since one U, V pair covers 2x2 pixels"
            )
        check_array("src1", src1, u8, (height // 2, width), f"({height // 2}, {width}), U and V interleaved")
    elif input_format is AippInputFormat.YUV400_U8:
        check_array("src0", src0, u8, (None, None), "(H, W)")
    else:
        depth = 4 if input_format is AippInputFormat.XRGB8888_U8 else 3
        check_array("src0", src0, u8, (None, None, depth), f"(H, W, {depth})")


def _check_config(
    config: AippParams, input_format: AippInputFormat, kind: DataType, product: Product, profile: str
) -> None:
    for name, (document_name, formats) in _SWAP_FORMATS.items():
        if getattr(config.swap_params, name) and input_format not in formats:
            names = " and ".join(f.name for f in formats)
            allowed = f"False for {input_format.name}; only {names} can swap this way"
            raise ParameterError(document_name, True, allowed, table="SetAippFunctions, table 4")
    padding, channel = config.padding_params, config.c_padding_params
    for i in range(4):
        _check_constant(f"paddingValueCh{i}", getattr(padding, f"padding_value_ch{i}"), kind, _T3)
    _check_constant("cPaddingValue", channel.c_padding_value, kind, _T7)
    dtc = config.dtc_params
    if product is Product.ATLAS_200I_500_A2:
        for i in range(3):
            value = getattr(dtc, f"dtc_min_ch{i}")
            if value != 0:
                raise ParameterError(f"dtcMinCh{i}", value, f"0 on {product}, which has no min", table=_T6)
    elif dtc.dtc_round_mode:
        allowed = f"0 on {product}; only {Product.ATLAS_200I_500_A2} can change the rounding"
        raise ParameterError("dtcRoundMode", dtc.dtc_round_mode, allowed, table=_T6)
    if (
        profile == "dav_3510"
        and config.swap_params.is_swap_ax
        and not config.csc_params.is_enable_csc
        and kind.name != "uint8"
    ):
        raise ParameterError(
            "isSwapAX", True, "False in profile 'dav_3510' for int8 and half output without CSC",
            hint="That kernel takes mean, min and var by source channel, and the last one would be index 3, "
                 "past the end of its array: the result is undefined",
        )  # fmt: skip


def _check_constant(name: str, value: float, kind: DataType, table: str) -> None:
    """Check a constant of the output type T: an integer in range for 8-bit types, any finite half else."""
    if kind.name != "half":
        info = np.iinfo(kind.name)
        check_int(name, value or 0, int(info.min), int(info.max), table=table, hint=f"The output type is {kind}")


def _warn_if_bias_is_ignored(setup: AippSetup) -> None:
    csc = setup.config.csc_params
    if csc.is_enable_csc and any(csc.bias_in + csc.bias_out) and not any(setup.csc_bias):
        to_rgb = setup.input_format in (AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8)
        uses_out = (setup.profile == "documented") == to_rgb
        used, ignored = ("cscBiasOut", "cscBiasIn") if uses_out else ("cscBiasIn", "cscBiasOut")
        warnings.warn(
            f"profile '{setup.profile}' uses {used}, which is zero, and ignores {ignored}, which is not. "
            "Table 8 of the document has cscBiasIn for RGB -> YUV and cscBiasOut for YUV -> RGB; the ACL reference, "
            "the ATC config files and the open kernel (profile 'dav_3510') have it the other way round",
            DocumentationConflictWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, eq=False)
class AippPlan:
    """Where every output element comes from: three maps, one per axis.

    Parameters
    ----------
    shape : (int, int, int)
        Output height, width and channels.
    rows, columns : ndarray of intp
        For each output row and column the row and column *of the source picture*; -1 where the constant stands.
    top, left, height, width : int
        Where the window lies in the output, and its size.
    channels : int
        How many of the output channels are real; the others are channel padding.
    """

    shape: tuple[int, int, int]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    top: int
    left: int
    height: int
    width: int
    channels: int


def aipp_plan(setup: AippSetup, params: LoadImageToLocalParams) -> AippPlan:
    """Check a window against a setup and lay out its result, without moving anything.

    Parameters
    ----------
    setup : AippSetup
        From `set_aipp_functions`.
    params : LoadImageToLocalParams
        The window and its border.

    Returns
    -------
    AippPlan
        The maps; pure integers, independent of the pixels.
    """
    if not isinstance(setup, AippSetup):
        raise ParameterError("setup", setup, "what set_aipp_functions returned")
    if not isinstance(params, LoadImageToLocalParams):
        raise ParameterError("params", params, "an instance of LoadImageToLocalParams")
    height = _check_window(setup, params)
    mode = setup.config.padding_params.padding_mode
    top, bottom = params.top_pad_size, params.bot_pad_size
    if mode == 0 and setup.profile == "dav_3510":
        top = bottom = 0  # the open kernel clears them; load_image_to_local warns
    rows = _kept_axis_map(mode, params.vert_start_pos, height, top, bottom)
    columns = _kept_axis_map(
        mode, params.horiz_start_pos, params.horiz_size, params.left_pad_size, params.right_pad_size
    )
    return AippPlan(
        shape=(len(rows), len(columns), setup.channels),
        rows=rows,
        columns=columns,
        top=top,
        left=params.left_pad_size,
        height=height,
        width=params.horiz_size,
        channels=setup.conversion.channels,
    )


def _check_window(setup: AippSetup, params: LoadImageToLocalParams) -> int:
    """Check the window against the picture and the padding mode; return its height."""
    name = "LoadImageToLocal"
    height, width = setup.src0.shape[:2]
    single = setup.config.single_line_params.is_single_line_copy
    rows = 1 if single else check_int("vertSize", params.vert_size, 2, 4095, table=name)
    if setup.input_format is AippInputFormat.YUV420SP_U8:
        for document_name, value in (("vertStartPos", params.vert_start_pos), ("srcHorizSize", params.src_horiz_size)):
            if value % 2:
                raise ParameterError(document_name, value, "an even integer for YUV420SP_U8", table=name)
    if params.src_horiz_size != width:
        raise ParameterError("srcHorizSize", params.src_horiz_size, f"{width}, the width of src0", table=name)
    if params.horiz_start_pos + params.horiz_size > width:
        allowed = (
            f"at most {width - params.horiz_start_pos}: the window starts at column {params.horiz_start_pos} of {width}"
        )
        raise ParameterError("horizSize", params.horiz_size, allowed, table=name)
    if params.vert_start_pos + rows > height:
        start = params.vert_start_pos
        if single or start >= height:
            raise ParameterError("vertStartPos", start, f"at most {height - rows}: src0 has {height} rows", table=name)
        raise ParameterError(
            "vertSize", rows, f"at most {height - start}: the window starts at row {start} of {height}", table=name
        )
    mode = setup.config.padding_params.padding_mode
    for side, limit in (("left", params.horiz_size), ("right", params.horiz_size), ("top", rows), ("bot", rows)):
        size = getattr(params, f"{side}_pad_size")
        if mode == 0 and side in ("top", "bot") and size and setup.profile == "documented":
            raise ParameterError(
                f"{side}PadSize", size, "0 with paddingMode 0, which pads left and right only", table=_T3
            )
        if mode in (2, 3) and size > limit:
            raise ParameterError(
                f"{side}PadSize",
                size,
                f"at most {limit} with paddingMode {mode}: the block is copied from the window",
                table=name,
            )
    return rows


def _axis_map(mode: int, start: int, size: int, before: int, after: int) -> NDArray[np.intp]:
    """Source positions along one axis, border included; -1 is the constant."""
    position = np.arange(-before, size + after)
    if mode == 0:
        inside = (position >= 0) & (position < size)
        return np.where(inside, start + position, -1)
    if mode == 1:
        source = np.clip(position, 0, size - 1)
    elif mode == 2:
        # The block beside the border is repeated as it lies: neither mirrored nor wrapped.
        source = np.where(position < 0, position + before, np.where(position < size, position, position - after))
    else:
        source = np.where(position < 0, -1 - position, np.where(position < size, position, 2 * size - 1 - position))
    return start + source


@lru_cache(maxsize=64)
def _kept_axis_map(mode: int, start: int, size: int, before: int, after: int) -> NDArray[np.intp]:
    """Return `_axis_map`, read-only; the longest take 32 KiB each."""
    kept = _axis_map(mode, start, size, before, after)
    kept.setflags(write=False)
    return kept


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


def aipp_sources(plan: AippPlan, setup: AippSetup, flat: NDArray[np.intp]) -> Sources:
    """Answer where output elements come from.

    Parameters
    ----------
    plan : AippPlan
        From `aipp_plan`.
    setup : AippSetup
        The setup that the plan was made for.
    flat : ndarray of intp, shape (n,)
        Flat output indices.

    Returns
    -------
    Sources
        One term for a moved sample; with CSC three, weighted by the matrix in units of 1; the constant for
        border and channel padding.  Weights and samples before shift, bias, clipping and type conversion.
    """
    y, x, channel = np.unravel_index(flat, plan.shape)
    row, column = plan.rows[y], plan.columns[x]
    conversion = setup.conversion
    real = (row >= 0) & (column >= 0) & (channel < plan.channels)
    count = len(conversion.samples)
    index = np.empty((len(flat), count), np.int64)
    operand = np.empty((len(flat), count), np.int8)
    for k, sample in enumerate(conversion.samples):
        shape = (setup.src0, setup.src1)[sample.operand].shape  # type: ignore[union-attr]
        depth = shape[2] if len(shape) == 3 else sample.step
        index[:, k] = ((row // sample.step) * (shape[1] if len(shape) == 2 else shape[1] * depth)
                       + (column // sample.step) * depth + sample.channel)  # fmt: skip
        operand[:, k] = sample.operand
    if conversion.matrix is None:
        own = np.minimum(channel, count - 1)[:, None]
        index, operand = np.take_along_axis(index, own, 1), np.take_along_axis(operand, own, 1)
        weight = np.ones(index.shape)
    else:
        weight = conversion.matrix[np.minimum(channel, 2)] / 256
    blank, border = constant_pixels(setup)
    outside = (row < 0) | (column < 0)
    constant = np.where(outside, border[channel], blank[channel]).astype(np.float64)
    return Sources(
        operand=np.where(real[:, None], operand, -1).astype(np.int8),
        index=np.where(real[:, None], index, 0),
        weight=np.where(real[:, None], weight, 0.0),
        constant=np.where(real, np.nan, constant),
        untouched=np.zeros(len(flat), bool),
    )
