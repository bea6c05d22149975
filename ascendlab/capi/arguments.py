"""The arguments of the C API's calls behind dst and src: one table of fields per call.

>>> CopyL12L02dParams.bind("asc_copy_l12l0b_transpose", (0, 3, 1, 1, 1, 1), {}).k_start_position
3
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar, cast

from ascendlab.errors import AscendlabError, ParameterError
from ascendlab.fields import Parameters, field, fields_of, structure

__all__ = [
    "CallArguments",
    "CopyGm2l1Nd2nzParams",
    "CopyL0c2gmParams",
    "CopyL12L02dParams",
    "CopyL12L03dParams",
    "MmadParams",
    "QuantMode_t",
    "known_cache_policy",
]

A = TypeVar("A", bound="CallArguments")
_CACHE = {0: "normal", 1: "last", 2: "persistent", 4: "no L2 cache"}


def known_cache_policy(name: str, value: int) -> None:
    """Raise `ParameterError` for the one number up to 4 that names no L2 cache policy."""
    if value not in _CACHE:
        raise ParameterError(name, value, "0, 1, 2 or 4", hint="Other values raise an exception on the device")


class QuantMode_t(IntEnum):  # noqa: N801 (the document's name)
    """Conversions on the way out of L0C that the machine carries out."""

    NoQuant = 0
    F322F16 = 1
    F322BF16 = 16


class CallArguments(Parameters):
    """Base of the argument tables: made from the positional and named arguments of a call."""

    @classmethod
    def bind(cls: type[A], call: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> A:
        """Return the checked arguments.

        Raises
        ------
        ParameterError
            For too many, too few or unknown arguments, and for a value outside its field's range.
        """
        if not named:
            try:
                return cast(A, _bound(cast(Hashable, cls), call, *arguments))
            except AscendlabError:
                raise
            except Exception:  # an argument that cannot be hashed, which the checks will name
                pass
        return cls._bind(call, arguments, named)

    @classmethod
    def _bind(cls: type[A], call: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> A:
        names = list(fields_of(cls))
        values = dict(zip(names, arguments, strict=False))
        required = [name for name, spec in fields_of(cls).items() if spec.required]
        unknown = [name for name in named if name not in names or name in values]
        values.update(named)
        missing = [name for name in required if name not in values]
        if len(arguments) > len(names) or unknown or missing:
            given = ", ".join(map(repr, unknown)) or len(arguments) + len(named)
            raise ParameterError(f"arguments of {call}", given, "behind dst and src: " + ", ".join(names))
        return cls(**values)


@functools.lru_cache(maxsize=1024, typed=True)
def _bound(cls: Any, call: str, *arguments: Any) -> Any:
    """Check arguments once: kernels make the same calls again and again, and checking takes longer than moving."""
    return cls._bind(call, arguments, {})


@structure
@dataclass(frozen=True, kw_only=True)
class CopyGm2l1Nd2nzParams(CallArguments):
    """What ``asc_copy_gm2l1_nd2nz`` copies."""

    loop1_src_stride: int = field("loop1_src_stride", "uint64_t", "From row to row.", high=2**40 - 1, unit="bytes")
    l2_cache_ctl: int = field("l2_cache_ctl", "uint8_t", "L2 cache policy; no effect here.", high=4, choices=_CACHE)
    n_value: int = field("n_value", "uint16_t", "Rows of a matrix.", low=1)
    d_value: int = field("d_value", "uint32_t", "Columns of a matrix.", low=1, high=2**21 - 1)
    loop4_src_stride: int = field(
        "loop4_src_stride", "uint64_t", "From matrix to matrix.", high=2**40 - 1, unit="bytes"
    )
    smallc0_en: bool = field("smallc0_en", "bool", "Blocks of 4 elements instead of 32 bytes: not emulated.")


@structure
@dataclass(frozen=True, kw_only=True)
class CopyL12L02dParams(CallArguments):
    """Which fractals the 2D forms of ``asc_copy_l12l0a`` and ``asc_copy_l12l0b`` copy."""

    m_start_position: int = field("m_start_position", "uint16_t", "First fractal along rows.", unit="fractals")
    k_start_position: int = field("k_start_position", "uint16_t", "First fractal along columns.", unit="fractals")
    m_step: int = field("m_step", "uint8_t", "Fractals along rows; 0: no operation.", unit="fractals")
    k_step: int = field("k_step", "uint8_t", "Fractals along columns; 0: no operation.", unit="fractals")
    src_stride: int = field("src_stride", "int16_t", "From one column of fractals to the next in L1.", unit="fractals")
    dst_stride: int = field(
        "dst_stride", "uint16_t", "From one column of fractals to the next in L0.", low=1, unit="fractals"
    )


@structure
@dataclass(frozen=True, kw_only=True)
class CopyL12L03dParams(CallArguments):
    """Which part of the im2col matrix the 3D forms of ``asc_copy_l12l0a`` and ``asc_copy_l12l0b`` copy."""

    k_extension: int = field("k_extension", "uint16_t", "Columns; 0: no operation.")
    m_extension: int = field("m_extension", "uint16_t", "Rows; 0: no operation.")
    k_start_pt: int = field("k_start_pt", "uint16_t", "First column.")
    m_start_pt: int = field("m_start_pt", "uint16_t", "First row.", high=32767)
    stride_w: int = field("stride_w", "uint8_t", "Stride of the filter along the width.", low=1, high=63)
    stride_h: int = field("stride_h", "uint8_t", "Stride of the filter along the height.", low=1, high=63)
    filter_w: int = field("filter_w", "uint8_t", "Width of the filter.")
    filter_h: int = field("filter_h", "uint8_t", "Height of the filter.")
    dilation_filter_w: int = field("dilation_filter_w", "uint8_t", "Dilation along the width.", low=1)
    dilation_filter_h: int = field("dilation_filter_h", "uint8_t", "Dilation along the height.", low=1)
    filter_size_w: bool = field("filter_size_w", "bool", "Add 256 to the filter's width.")
    filter_size_h: bool = field("filter_size_h", "bool", "Add 256 to the filter's height.")
    transpose: bool = field("transpose", "bool", "Transpose the matrix (L0A; L0B always does).")
    f_matrix_ctrl: bool = field("f_matrix_ctrl", "bool", "Use the registers of the B side: not emulated.")
    channel_size: int = field("channel_size", "uint16_t", "Channels of the feature map; 0: no operation.")


@structure
@dataclass(frozen=True, kw_only=True)
class MmadParams(CallArguments):
    """What ``asc_mmad`` multiplies."""

    m: int = field("m", "uint16_t", "Rows of A and C; 0: no operation.", high=4095)
    k: int = field("k", "uint16_t", "Columns of A, rows of B; 0: no operation.", high=4095)
    n: int = field("n", "uint16_t", "Columns of B and C; 0: no operation.", high=4095)
    unit_flag: int = field("unit_flag", "uint8_t", "Overlap with the copy out of L0C: only 0 is emulated.", high=3)
    disable_gemv: bool = field("disable_gemv", "bool", "With m = 1: False reads A as one plain row.")
    c_matrix_source: bool = field("c_matrix_source", "bool", "Start from the bias table: not emulated.")
    c_matrix_init_val: bool = field("c_matrix_init_val", "bool", "True: C starts at 0; False: C goes on from L0C.")


@structure
@dataclass(frozen=True, kw_only=True)
class CopyL0c2gmParams(CallArguments):
    """What ``asc_copy_l0c2gm`` copies, and how it converts."""

    n_size: int = field("n_size", "uint16_t", "Columns.", low=1, high=4095)
    m_size: int = field("m_size", "uint16_t", "Rows.", low=1)
    dst_stride: int = field("dst_stride", "uint32_t", "From row to row (ND) or from 16 columns to the next (NZ).",
                            low=1, unit="elements")  # fmt: skip
    src_stride: int = field("src_stride", "uint16_t", "From 16 columns to the next 16 in L0C.", unit="rows of 16")
    l2_cache_mode: int = field("l2_cache_mode", "uint8_t", "No effect here.", default=0, high=4, choices=_CACHE)
    enable_clip_relu_pre: int = field("enable_clip_relu_pre", "uint8_t", "Only 0 is emulated.", default=0, high=1)
    unit_flag_mode: int = field("unit_flag_mode", "uint8_t", "Only 0 is emulated.", default=0, high=3)
    quant_pre_mode: int = field("quant_pre_mode", "uint64_t", "Conversion, see QuantMode_t.", default=0)
    relu_pre_mode: int = field("relu_pre_mode", "uint8_t", "0: none; 1: negative values become 0; 2, 3 not emulated.",
                               default=0, high=3)  # fmt: skip
    enable_channel_split: bool = field("enable_channel_split", "bool", "Not emulated.", default=False)
    enable_nz2nd: bool = field("enable_nz2nd", "bool", "Row-major result instead of fractals.", default=False)
    quant_post: int = field("quant_post", "uint64_t", "Reserved.", default=0, high=0)
    relu_post: int = field("relu_post", "uint8_t", "Reserved.", default=0, high=0)
    clip_relu_post: bool = field("clip_relu_post", "bool", "Reserved.", default=False)
    eltwise_op: int = field("eltwise_op", "uint8_t", "Reserved.", default=0, high=0)
    eltwise_antq_en: bool = field("eltwise_antq_en", "bool", "Reserved.", default=False)
    c0_pad_en: bool = field("c0_pad_en", "bool", "Reserved.", default=False)
    broadcast_en: bool = field("broadcast_en", "bool", "Reserved.", default=False)
    enable_nz2dn: bool = field("enable_nz2dn", "bool", "Column-major result: not emulated.", default=False)
