"""See and compute what five Ascend C APIs do, without hardware and without CANN.

Everything is imported when it is first used, so that `import ascendlab` costs next to nothing: not even NumPy is loaded
then, and what needs matplotlib, ipywidgets or protobuf (`plots`, `explorers`, `aipp_config`) only by who uses it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names as in _HOMES, for type checkers and editors
    from ascendlab.aipp import (
        AippChannelPaddingParams as AippChannelPaddingParams,
        AippColorSpaceConvParams as AippColorSpaceConvParams,
        AippDataTypeConvParams as AippDataTypeConvParams,
        AippInputFormat as AippInputFormat,
        AippPaddingParams as AippPaddingParams,
        AippParams as AippParams,
        AippSetup as AippSetup,
        AippSingleLineParams as AippSingleLineParams,
        AippSwapParams as AippSwapParams,
        LoadImageToLocalParams as LoadImageToLocalParams,
        csc_preset as csc_preset,
        load_image_to_local as load_image_to_local,
        set_aipp_functions as set_aipp_functions,
    )
    from ascendlab.aipp_config import (
        AippConfig as AippConfig,
        read_aipp_config as read_aipp_config,
    )
    from ascendlab.capi import (
        AICore as AICore,
    )
    from ascendlab.capi.launch import (
        launch as launch,
    )
    from ascendlab.cpp import (
        from_cpp as from_cpp,
        read_cpp as read_cpp,
        to_cpp as to_cpp,
    )
    from ascendlab.errors import (
        AippConfigError as AippConfigError,
        AscendlabError as AscendlabError,
        AscendlabWarning as AscendlabWarning,
        BufferOverflowError as BufferOverflowError,
        CppTextError as CppTextError,
        DocumentationConflictWarning as DocumentationConflictWarning,
        FileProblemError as FileProblemError,
        KernelError as KernelError,
        KernelLimitWarning as KernelLimitWarning,
        MisalignedAddressError as MisalignedAddressError,
        NoEquivalentWarning as NoEquivalentWarning,
        ParameterError as ParameterError,
        SynchronizationError as SynchronizationError,
        UninitialisedReadError as UninitialisedReadError,
        UnsupportedProductError as UnsupportedProductError,
    )
    from ascendlab.layouts import (
        from_nc1hwc0 as from_nc1hwc0,
        nd_to_nz as nd_to_nz,
        nd_to_zn as nd_to_zn,
        nd_to_zz as nd_to_zz,
        nz_to_nd as nz_to_nd,
        pack_int4 as pack_int4,
        to_nc1hwc0 as to_nc1hwc0,
        unpack_int4 as unpack_int4,
        zn_to_nd as zn_to_nd,
        zz_to_nd as zz_to_nd,
    )
    from ascendlab.load3d import (
        IsResetLoad3dConfig as IsResetLoad3dConfig,
        LoadData3DParamsV1 as LoadData3DParamsV1,
        LoadData3DParamsV2 as LoadData3DParamsV2,
        LoadDataRepeatParam as LoadDataRepeatParam,
        im2col as im2col,
        load_data_3d_v1 as load_data_3d_v1,
        load_data_3d_v2 as load_data_3d_v2,
    )
    from ascendlab.products import (
        Product as Product,
    )
    from ascendlab.provenance import (
        Call as Call,
        trace as trace,
    )
    from ascendlab.resize import (
        bilinear_resize as bilinear_resize,
        bilinear_resize_plan as bilinear_resize_plan,
    )
    from ascendlab.vector import (
        MASK_PLACEHOLDER as MASK_PLACEHOLDER,
        UnaryRepeatParams as UnaryRepeatParams,
        bilinear_interpolation as bilinear_interpolation,
        mask_from_lanes as mask_from_lanes,
        mask_lanes as mask_lanes,
        mask_to_bitwise as mask_to_bitwise,
        mask_to_continuous as mask_to_continuous,
        vector_padding as vector_padding,
    )

__version__ = "0.1.0"

# The names at the package's top, by the module that has them.
_HOMES = {
    "aipp": (
        "AippChannelPaddingParams",
        "AippColorSpaceConvParams",
        "AippDataTypeConvParams",
        "AippInputFormat",
        "AippPaddingParams",
        "AippParams",
        "AippSetup",
        "AippSingleLineParams",
        "AippSwapParams",
        "LoadImageToLocalParams",
        "csc_preset",
        "load_image_to_local",
        "set_aipp_functions",
    ),
    "aipp_config": (
        "AippConfig",
        "read_aipp_config",
    ),
    "capi": ("AICore",),
    "capi.launch": ("launch",),
    "cpp": (
        "from_cpp",
        "read_cpp",
        "to_cpp",
    ),
    "errors": (
        "AippConfigError",
        "AscendlabError",
        "AscendlabWarning",
        "BufferOverflowError",
        "CppTextError",
        "DocumentationConflictWarning",
        "FileProblemError",
        "KernelError",
        "KernelLimitWarning",
        "MisalignedAddressError",
        "NoEquivalentWarning",
        "ParameterError",
        "SynchronizationError",
        "UninitialisedReadError",
        "UnsupportedProductError",
    ),
    "layouts": (
        "from_nc1hwc0",
        "nd_to_nz",
        "nd_to_zn",
        "nd_to_zz",
        "nz_to_nd",
        "pack_int4",
        "to_nc1hwc0",
        "unpack_int4",
        "zn_to_nd",
        "zz_to_nd",
    ),
    "load3d": (
        "IsResetLoad3dConfig",
        "LoadData3DParamsV1",
        "LoadData3DParamsV2",
        "LoadDataRepeatParam",
        "im2col",
        "load_data_3d_v1",
        "load_data_3d_v2",
    ),
    "products": ("Product",),
    "provenance": (
        "Call",
        "trace",
    ),
    "resize": (
        "bilinear_resize",
        "bilinear_resize_plan",
    ),
    "vector": (
        "MASK_PLACEHOLDER",
        "UnaryRepeatParams",
        "bilinear_interpolation",
        "mask_from_lanes",
        "mask_lanes",
        "mask_to_bitwise",
        "mask_to_continuous",
        "vector_padding",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


class _Package(types.ModuleType):
    """A package in which a public name stays what it is, though a module is called the same.

    An import sets a module as an attribute of its package, and `vector_padding` is the name of a function and of the
    module that has it.  The function wins, in whatever order things are imported.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME_OF and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(f"ascendlab.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and importlib.util.find_spec(f"ascendlab.{name}"):
        return importlib.import_module(f"ascendlab.{name}")
    raise AttributeError(f"module 'ascendlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "exercises", "explorers", "fidelity", "golden", "plots"})
