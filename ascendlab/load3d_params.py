"""The parameter structures of Load3D: LoadData with LoadData3DParamsV1 and LoadData3DParamsV2.

Field names are the document's in snake_case: ``padList`` is ``pad_list``, ``l1H`` is ``l1_h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendlab.errors import ParameterError
from ascendlab.fields import Parameters, field, structure

__all__ = [
    "IsResetLoad3dConfig",
    "LoadData3DParamsV1",
    "LoadData3DParamsV2",
    "LoadDataRepeatParam",
]

_T1, _T3, _T4 = (f"Load3D, table {n}" for n in (1, 3, 4))
_REPEAT = "SetLoadDataRepeat, table 2"
_LARGEST_PAD = float(np.finfo(np.float32).max)


def _pad_list(table: str) -> Any:
    return field(
        "padList",
        "uint8_t",
        "Positions added around the picture: left, right, top, bottom.",
        default=(0, 0, 0, 0),
        length=4,
        table=table,
        unit="pixels",
    )


def _pad_value(table: str) -> Any:
    return field(
        "padValue",
        "T",
        "What the added positions hold.",
        default=0,
        low=-_LARGEST_PAD,
        high=_LARGEST_PAD,
        table=table,
    )


def _size(axis: str, name: str, low: int, table: str) -> Any:
    note = " 0: no operation." if low == 0 else ""
    return field(f"l1{axis}", "uint16_t", f"{name} of the feature map.{note}", low=low, high=32767, table=table)


def _stride(axis: str, table: str, **more: Any) -> Any:
    return field(
        f"stride{axis}",
        "uint8_t",
        f"Step of the window along {axis}.",
        default=1,
        low=1,
        high=63,
        table=table,
        unit="pixels",
        **more,
    )


def _filter(axis: str, name: str, low: int, table: str, **more: Any) -> Any:
    note = f" 0 without filterSize{axis}: no operation." if low == 0 else ""
    meaning = f"{name} of the filter.{note}"
    return field(f"filter{axis}", "uint8_t", meaning, default=1, low=low, high=255, table=table, **more)


def _dilation(axis: str, table: str, **more: Any) -> Any:
    return field(
        f"dilationFilter{axis}",
        "uint8_t",
        f"Distance of two filter points along {axis}.",
        default=1,
        low=1,
        high=255,
        table=table,
        unit="pixels",
        **more,
    )


@structure
@dataclass(frozen=True, kw_only=True)
class LoadData3DParamsV2(Parameters):
    """A block of the im2col matrix, as LoadData (Load3Dv2) loads it (table 4).

    The matrix has a row for every window position (M) and a column for every (c1, kh, kw, c0) (K); the block is
    ``m_extension`` rows from ``m_start_pt`` on, ``k_extension`` columns from ``k_start_pt`` on.  The ranges of the
    channel size, the starts and the extensions depend on the data's type; `load_data_3d_v2` checks them.

    Examples
    --------
    >>> params = LoadData3DParamsV2(l1_h=9, l1_w=9, channel_size=32, filter_h=3, filter_w=3, pad_list=[1, 1, 1, 1])
    >>> params.pad_list, params.stride_w
    ((1, 1, 1, 1), 1)
    """

    template = True

    pad_list: tuple[int, int, int, int] = _pad_list(_T4)
    l1_h: int = _size("H", "Height", 0, _T4)
    l1_w: int = _size("W", "Width", 0, _T4)
    channel_size: int = field(
        "channelSize",
        "uint16_t",
        "Channels of the feature map; which sizes there are depends on product and type. 0: no operation.",
        table=_T4,
    )
    k_extension: int = field(
        "kExtension",
        "uint16_t",
        "Columns of the block; a multiple of C0 unless it reaches the last fractal. 0: no operation.",
        default=0,
        table=_T4,
        unit="elements",
        always_emit=True,
    )
    m_extension: int = field(
        "mExtension",
        "uint16_t",
        "Rows of the block; a multiple of 16 unless it reaches the last fractal or the type has 32 bits. "
        "0: no operation.",
        default=0,
        table=_T4,
        unit="elements",
        always_emit=True,
    )
    k_start_pt: int = field(
        "kStartPt", "uint16_t", "First column, a multiple of C0.", default=0, table=_T4, unit="elements"
    )
    m_start_pt: int = field(
        "mStartPt",
        "uint16_t",
        "First row; a multiple of 16 unless the block reaches the last fractal or the type has 32 bits.",
        default=0,
        table=_T4,
        unit="elements",
    )
    stride_w: int = _stride("W", _T4)
    stride_h: int = _stride("H", _T4)
    filter_w: int = _filter("W", "Width", 0, _T4)
    filter_h: int = _filter("H", "Height", 0, _T4)
    dilation_filter_w: int = _dilation("W", _T4)
    dilation_filter_h: int = _dilation("H", _T4)
    en_transpose: bool = field(
        "enTranspose", "bool", "Transpose the block on its way to A2; B2 ignores it.", default=False, table=_T4
    )
    en_small_k: bool = field("enSmallK", "bool", "No longer supported: only False.", default=False, table=_T4)
    pad_value: float = _pad_value(_T4)
    filter_size_w: bool = field("filterSizeW", "bool", "Add 256 to the filter's width.", default=False, table=_T4)
    filter_size_h: bool = field("filterSizeH", "bool", "Add 256 to the filter's height.", default=False, table=_T4)
    f_matrix_ctrl: bool = field(
        "fMatrixCtrl",
        "bool",
        "Take the feature map's description from the right matrix's register: only False.",
        default=False,
        table=_T4,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        reasons = {
            "en_small_k": ("enSmallK", "The document: no longer supported in the current products"),
            "f_matrix_ctrl": ("fMatrixCtrl", "The document: only false can be set at present"),
        }
        for name, (document_name, reason) in reasons.items():
            if getattr(self, name):
                raise ParameterError(document_name, True, "False", table=_T4, hint=reason)

    @property
    def window_h(self) -> int:
        """Filter points in a column of the window, ``filter_size_h`` included."""
        return self.filter_h + 256 * self.filter_size_h

    @property
    def window_w(self) -> int:
        """Filter points in a row of the window, ``filter_size_w`` included."""
        return self.filter_w + 256 * self.filter_size_w


@structure
@dataclass(frozen=True, kw_only=True)
class LoadData3DParamsV1(Parameters):
    """Fractals of the im2col matrix, as LoadData (Load3Dv1) loads them one by one (table 3).

    Each repeat loads 16 consecutive windows at one filter point of one channel group.

    Examples
    --------
    >>> LoadData3DParamsV1(l1_h=9, l1_w=9, pad_list=(1, 1, 1, 1), left_top_w=-1, left_top_h=-1).repeat_time
    1
    """

    template = True

    pad_list: tuple[int, int, int, int] = _pad_list(_T3)
    l1_h: int = _size("H", "Height", 1, _T3)
    l1_w: int = _size("W", "Width", 1, _T3)
    c1_index: int = field("c1Index", "uint16_t", "Channel group of the first repeat.", default=0, high=4095, table=_T3)
    fetch_filter_w: int = field(
        "fetchFilterW", "uint8_t", "Filter point of the first repeat, along W.", default=0, high=254, table=_T3
    )
    fetch_filter_h: int = field(
        "fetchFilterH", "uint8_t", "Filter point of the first repeat, along H.", default=0, high=254, table=_T3
    )
    left_top_w: int = field(
        "leftTopW",
        "int16_t",
        "Column of the first window's corner; -left for the first window of a row.",
        default=0,
        low=-255,
        high=32767,
        table=_T3,
        unit="pixels",
    )
    left_top_h: int = field(
        "leftTopH",
        "int16_t",
        "Row of the first window's corner; -top for the first row of windows.",
        default=0,
        low=-255,
        high=32767,
        table=_T3,
        unit="pixels",
    )
    stride_w: int = _stride("W", _T3, cpp_default=0, always_emit=True)
    stride_h: int = _stride("H", _T3, cpp_default=0, always_emit=True)
    filter_w: int = _filter("W", "Width", 1, _T3, cpp_default=0, always_emit=True)
    filter_h: int = _filter("H", "Height", 1, _T3, cpp_default=0, always_emit=True)
    dilation_filter_w: int = _dilation("W", _T3, cpp_default=0, always_emit=True)
    dilation_filter_h: int = _dilation("H", _T3, cpp_default=0, always_emit=True)
    jump_stride: int = field(
        "jumpStride",
        "uint8_t",
        "From one repeat's fractal to the next.",
        default=1,
        low=1,
        high=127,
        table=_T3,
        unit="fractals",
        cpp_default=0,
        always_emit=True,
    )
    repeat_mode: int = field(
        "repeatMode",
        "uint8_t",
        "What a repeat moves on.",
        default=0,
        high=1,
        table=_T3,
        choices={0: "the filter point (w, then h, then c1)", 1: "the windows, by 16"},
    )
    repeat_time: int = field(
        "repeatTime",
        "uint8_t",
        "How many fractals.",
        default=1,
        low=1,
        high=255,
        table=_T3,
        cpp_default=0,
        always_emit=True,
    )
    c_size: int = field(
        "cSize",
        "uint8_t",
        "Whether a pixel has few channels only.",
        default=0,
        high=1,
        table=_T3,
        choices={0: "C0 channels in a pixel's block", 1: "4 channels (16-bit types) or 8 (8-bit types)"},
    )
    pad_value: float = _pad_value(_T3)

    @property
    def window_h(self) -> int:
        """Filter points in a column of the window."""
        return self.filter_h

    @property
    def window_w(self) -> int:
        """Filter points in a row of the window."""
        return self.filter_w


@structure
@dataclass(frozen=True, kw_only=True)
class LoadDataRepeatParam(Parameters):
    """How often LoadData3DParamsV2 is repeated, and where each repeat starts (SetLoadDataRepeat).

    Examples
    --------
    >>> LoadDataRepeatParam(repeat_time=3, repeat_mode=1, repeat_stride=2).repeat_time
    3
    """

    repeat_stride: int = field(
        "repeatStride",
        "uint16_t",
        "From one repeat's start to the next: 16 rows each in mode 0, C0 columns each in mode 1 "
        "(2 * C0 on Atlas 200I/500 A2).",
        default=0,
        table=_REPEAT,
    )
    repeat_time: int = field("repeatTime", "uint8_t", "How many repeats. 0: no operation.", default=1, table=_REPEAT)
    repeat_mode: int = field(
        "repeatMode",
        "uint8_t",
        "Along which axis the start moves.",
        default=0,
        high=1,
        table=_REPEAT,
        choices={0: "M, down the matrix", 1: "K, across the matrix"},
    )
    dst_stride: int = field(
        "dstStride",
        "uint16_t",
        "Atlas 350: from one column of fractals to the next in the destination. 0: no gap.",
        default=0,
        table=_REPEAT,
        unit="fractals",
    )


@structure
@dataclass(frozen=True, kw_only=True)
class IsResetLoad3dConfig(Parameters):
    """Whether LoadData sets the feature map's and the padding's registers itself (table 1).

    Examples
    --------
    >>> IsResetLoad3dConfig(is_set_padding=False).is_set_f_matrix
    True
    """

    is_set_f_matrix: bool = field(
        "isSetFMatrix", "bool", "Take l1H, l1W and padList from the call.", default=True, table=_T1
    )
    is_set_padding: bool = field("isSetPadding", "bool", "Take padValue from the call.", default=True, table=_T1)
