"""SetAippFunctions: checks a configuration and keeps it for LoadImageToLocal."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_convert import Conversion, conversion_tables
from ascendlab.aipp_params import AippInputFormat, AippParams, LoadImageToLocalParams, check_profile
from ascendlab.arrays import check_array
from ascendlab.dtypes import DataType, as_dtype, check_constant
from ascendlab.errors import DocumentationConflictWarning, ParameterError
from ascendlab.fields import fields_of
from ascendlab.products import Product, require_product

__all__ = ["SWAP_FORMATS", "AippSetup", "output_types", "set_aipp_functions"]

SUPPORTED = (
    Product.ATLAS_350,
    Product.ATLAS_A3,
    Product.ATLAS_A2,
    Product.ATLAS_200I_500_A2,
    Product.ATLAS_INFERENCE_AI_CORE,
)
SWAP_FORMATS = {
    "is_swap_rb": ("isSwapRB", (AippInputFormat.RGB888_U8, AippInputFormat.XRGB8888_U8)),
    "is_swap_uv": ("isSwapUV", (AippInputFormat.YUV420SP_U8,)),
    "is_swap_ax": ("isSwapAX", (AippInputFormat.XRGB8888_U8,)),
}
_T3, _T6, _T7 = (f"SetAippFunctions, table {n}" for n in (3, 6, 7))


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
        W, which is ``srcHorizSize``, lies in [2, 4095].
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
        A wrong array, a picture without rows or with a width that no window can have, a swap that the format does
        not have, a constant outside the output type, a parameter that the product lacks (dtcMin on Atlas 200I/500
        A2, dtcRoundMode anywhere else).
    UnsupportedProductError
        On Atlas inference Vector Core and Atlas training.

    Warns
    -----
    DocumentationConflictWarning
        If the only non-zero CSC bias is the one that the chosen profile ignores.

    Examples
    --------
    >>> from ascendlab import AippDataTypeConvParams, AippSwapParams, LoadImageToLocalParams, load_image_to_local
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
        _check_size(y)
        height, width = y.shape
        if height % 2 or width % 2:
            raise ParameterError(
                "src0", src0, "a Y plane of even height and width, since one U, V pair covers 2x2 pixels"
            )
        check_array("src1", src1, u8, (height // 2, width), f"({height // 2}, {width}), U and V interleaved")
    elif input_format is AippInputFormat.YUV400_U8:
        _check_size(check_array("src0", src0, u8, (None, None), "(H, W)"))
    else:
        depth = 4 if input_format is AippInputFormat.XRGB8888_U8 else 3
        _check_size(check_array("src0", src0, u8, (None, None, depth), f"(H, W, {depth})"))


def _check_size(src0: NDArray[Any]) -> None:
    """Refuse a picture that no window fits: srcHorizSize is its width, and has a range of its own."""
    widths = fields_of(LoadImageToLocalParams)["src_horiz_size"]
    assert widths.low is not None
    assert widths.high is not None
    height, width = src0.shape[:2]
    if not (height and widths.low <= width <= widths.high):
        allowed = f"a picture of at least one row, its width (srcHorizSize) in {widths.range_text}"
        raise ParameterError("src0", src0, allowed, table="LoadImageToLocal")


def _check_config(
    config: AippParams, input_format: AippInputFormat, kind: DataType, product: Product, profile: str
) -> None:
    for name, (document_name, formats) in SWAP_FORMATS.items():
        if getattr(config.swap_params, name) and input_format not in formats:
            names = " and ".join(f.name for f in formats)
            allowed = f"False for {input_format.name}; only {names} can swap this way"
            raise ParameterError(document_name, True, allowed, table="SetAippFunctions, table 4")
    padding, channel, hint = config.padding_params, config.c_padding_params, f"The output type is {kind}"
    for i in range(4):
        check_constant(f"paddingValueCh{i}", getattr(padding, f"padding_value_ch{i}"), kind, _T3, hint=hint)
    check_constant("cPaddingValue", channel.c_padding_value, kind, _T7, hint=hint)
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
