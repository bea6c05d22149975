"""See and compute what five Ascend C APIs do, without hardware and without CANN.

What needs matplotlib, ipywidgets or protobuf (`plots`, `explorers`, `aipp_config`) is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

from ascendlab.aipp import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSetup,
    AippSingleLineParams,
    AippSwapParams,
    LoadImageToLocalParams,
    csc_preset,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.capi import AICore, launch
from ascendlab.errors import (
    AippConfigError,
    AscendlabError,
    AscendlabWarning,
    BufferOverflowError,
    DocumentationConflictWarning,
    FileProblemError,
    KernelError,
    KernelLimitWarning,
    MisalignedAddressError,
    NoEquivalentWarning,
    ParameterError,
    SynchronizationError,
    UninitialisedReadError,
    UnsupportedProductError,
)
from ascendlab.layouts import (
    from_nc1hwc0,
    nd_to_nz,
    nd_to_zn,
    nd_to_zz,
    nz_to_nd,
    pack_int4,
    to_nc1hwc0,
    unpack_int4,
    zn_to_nd,
    zz_to_nd,
)
from ascendlab.load3d import (
    IsResetLoad3dConfig,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    im2col,
    load_data_3d_v1,
    load_data_3d_v2,
)
from ascendlab.products import Product
from ascendlab.provenance import Call, trace
from ascendlab.resize import bilinear_resize, bilinear_resize_plan
from ascendlab.vector import (
    MASK_PLACEHOLDER,
    UnaryRepeatParams,
    bilinear_interpolation,
    mask_from_lanes,
    mask_lanes,
    mask_to_bitwise,
    mask_to_continuous,
    vector_padding,
)

__version__ = "0.1.0"

_LAZY_MODULES = ("aipp_config", "exercises", "explorers", "fidelity", "golden", "plots")
_LAZY_NAMES = dict.fromkeys(("AippConfig", "read_aipp_config"), "ascendlab.aipp_config")

__all__ = [
    "MASK_PLACEHOLDER",
    "AICore",
    "AippChannelPaddingParams",
    "AippColorSpaceConvParams",
    "AippConfig",
    "AippConfigError",
    "AippDataTypeConvParams",
    "AippInputFormat",
    "AippPaddingParams",
    "AippParams",
    "AippSetup",
    "AippSingleLineParams",
    "AippSwapParams",
    "AscendlabError",
    "AscendlabWarning",
    "BufferOverflowError",
    "Call",
    "DocumentationConflictWarning",
    "FileProblemError",
    "IsResetLoad3dConfig",
    "KernelError",
    "KernelLimitWarning",
    "LoadData3DParamsV1",
    "LoadData3DParamsV2",
    "LoadDataRepeatParam",
    "LoadImageToLocalParams",
    "MisalignedAddressError",
    "NoEquivalentWarning",
    "ParameterError",
    "Product",
    "SynchronizationError",
    "UnaryRepeatParams",
    "UninitialisedReadError",
    "UnsupportedProductError",
    "bilinear_interpolation",
    "bilinear_resize",
    "bilinear_resize_plan",
    "csc_preset",
    "from_nc1hwc0",
    "im2col",
    "launch",
    "load_data_3d_v1",
    "load_data_3d_v2",
    "load_image_to_local",
    "mask_from_lanes",
    "mask_lanes",
    "mask_to_bitwise",
    "mask_to_continuous",
    "nd_to_nz",
    "nd_to_zn",
    "nd_to_zz",
    "nz_to_nd",
    "pack_int4",
    "read_aipp_config",
    "set_aipp_functions",
    "to_nc1hwc0",
    "trace",
    "unpack_int4",
    "vector_padding",
    "zn_to_nd",
    "zz_to_nd",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"ascendlab.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module 'ascendlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_NAMES})
