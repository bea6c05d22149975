"""The parameter structures of SetAippFunctions and LoadImageToLocal, and the colour matrices.

Field names are the document's in snake_case: ``paddingValueCh0`` is ``padding_value_ch0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.errors import ParameterError
from ascendlab.fields import UNINITIALISED, Parameters, check_bool, check_int, field, structure

__all__ = [
    "CSC_PRESETS",
    "AippChannelPaddingParams",
    "AippColorSpaceConvParams",
    "AippDataTypeConvParams",
    "AippInputFormat",
    "AippPaddingParams",
    "AippParams",
    "AippSingleLineParams",
    "AippSwapParams",
    "LoadImageToLocalParams",
    "check_profile",
    "csc_preset",
]

_DOC = "SetAippFunctions, table {}"
_T3, _T4, _T5, _T6, _T7, _T8 = (_DOC.format(n) for n in range(3, 9))
_LOAD = "LoadImageToLocal"

PROFILES = ("documented", "dav_3510")


def check_profile(profile: object) -> str:
    """Return `profile` if it names one of the two rule sets."""
    if isinstance(profile, str) and profile in PROFILES:
        return profile
    raise ParameterError("profile", profile, " or ".join(map(repr, PROFILES)))


class AippInputFormat(IntEnum):
    """Layout of the source picture (SetAippFunctions, table 2; all samples are uint8).

    ============== ===== ============== ================== ==========
    member         value src0           src1               alignment
    ============== ===== ============== ================== ==========
    YUV420SP_U8    0     Y (H, W)       UV (H/2, W)        2 bytes
    XRGB8888_U8    1     (H, W, 4)      --                 4 bytes
    RGB888_U8      4     (H, W, 3)      --                 none
    YUV400_U8      9     (H, W)         --                 none
    ============== ===== ============== ================== ==========
    """

    YUV420SP_U8 = 0
    XRGB8888_U8 = 1
    RGB888_U8 = 4
    YUV400_U8 = 9


@structure
@dataclass(frozen=True, kw_only=True)
class AippPaddingParams(Parameters):
    """How the border around the window is filled (SetAippFunctions, table 3).

    Mode 0 pads left and right only.  The constants belong to the output type and are checked by the call.
    """

    template = True

    padding_mode: int = field(
        "paddingMode",
        "uint32_t",
        "How pad positions are filled.",
        default=0,
        high=3,
        table=_T3,
        choices={0: "constant", 1: "row/column copy", 2: "block copy", 3: "mirrored block copy"},
    )
    padding_value_ch0: float = field(
        "paddingValueCh0", "T", "Constant for channel 0, mode 0 only.", default=0, table=_T3
    )
    padding_value_ch1: float = field(
        "paddingValueCh1", "T", "Constant for channel 1, mode 0 only.", default=0, table=_T3
    )
    padding_value_ch2: float = field(
        "paddingValueCh2", "T", "Constant for channel 2, mode 0 only.", default=0, table=_T3
    )
    padding_value_ch3: float = field(
        "paddingValueCh3", "T", "Constant for channel 3, mode 0 only.", default=0, table=_T3
    )


@structure
@dataclass(frozen=True, kw_only=True)
class AippSwapParams(Parameters):
    """Which source channels change places (SetAippFunctions, table 4)."""

    is_swap_rb: bool = field("isSwapRB", "bool", "Swap R and B (RGB888, XRGB8888).", default=False, table=_T4)
    is_swap_uv: bool = field("isSwapUV", "bool", "Swap U and V (YUV420SP).", default=False, table=_T4)
    is_swap_ax: bool = field(
        "isSwapAX", "bool", "Move X to the back, XRGB -> RGBX (XRGB8888).", default=False, table=_T4
    )


@structure
@dataclass(frozen=True, kw_only=True)
class AippSingleLineParams(Parameters):
    """Whether only one row is read (SetAippFunctions, table 5)."""

    is_single_line_copy: bool = field(
        "isSingleLineCopy", "bool", "Read one row; vertSize is then ignored.", default=False, table=_T5
    )


@structure
@dataclass(frozen=True, kw_only=True)
class AippDataTypeConvParams(Parameters):
    """Mean, min and reciprocal range of each channel (SetAippFunctions, table 6).

    To int8: ``v - mean``; to half: ``(v - mean - min) * var``; to uint8: nothing.
    """

    dtc_mean_ch0: int = field("dtcMeanCh0", "uint8_t", "Mean of channel 0.", default=0, table=_T6)
    dtc_mean_ch1: int = field("dtcMeanCh1", "uint8_t", "Mean of channel 1.", default=0, table=_T6)
    dtc_mean_ch2: int = field("dtcMeanCh2", "uint8_t", "Mean of channel 2.", default=0, table=_T6)
    dtc_min_ch0: float = field(
        "dtcMinCh0", "half", "Minimum of channel 0 after the mean is taken off.", default=0.0, table=_T6
    )
    dtc_min_ch1: float = field(
        "dtcMinCh1", "half", "Minimum of channel 1 after the mean is taken off.", default=0.0, table=_T6
    )
    dtc_min_ch2: float = field(
        "dtcMinCh2", "half", "Minimum of channel 2 after the mean is taken off.", default=0.0, table=_T6
    )
    dtc_var_ch0: float = field("dtcVarCh0", "half", "Factor of channel 0, 1 / (max - min).", default=1.0, table=_T6)
    dtc_var_ch1: float = field("dtcVarCh1", "half", "Factor of channel 1, 1 / (max - min).", default=1.0, table=_T6)
    dtc_var_ch2: float = field("dtcVarCh2", "half", "Factor of channel 2, 1 / (max - min).", default=1.0, table=_T6)
    dtc_round_mode: int = field(
        "dtcRoundMode",
        "uint32_t",
        "Rounding; only Atlas 200I/500 A2 can change it.",
        default=0,
        high=1,
        table=_T6,
        choices={0: "to nearest, halves away from zero (C round)", 1: "to nearest, halves to even (C rint)"},
    )


@structure
@dataclass(frozen=True, kw_only=True)
class AippChannelPaddingParams(Parameters):
    """How many channels a pixel gets in L1, and what the added ones hold (SetAippFunctions, table 7)."""

    template = True

    c_padding_mode: int = field(
        "cPaddingMode",
        "uint32_t",
        "Channels of an output pixel.",
        default=0,
        high=1,
        table=_T7,
        cpp_default=UNINITIALISED,
        always_emit=True,
        choices={0: "to 32 bytes (32 channels of 8 bits, 16 of half)", 1: "to 4 channels"},
    )
    c_padding_value: float = field(
        "cPaddingValue",
        "T",
        "What the added channels hold.",
        default=0,
        table=_T7,
        cpp_default=UNINITIALISED,
        always_emit=True,
    )


def _coefficient(row: int, column: int) -> Any:
    return field(
        f"cscMatrixR{row}C{column}", "int16_t", f"Matrix element [{row}][{column}], in 1/256.", default=0, table=_T8
    )


def _bias(side: str, index: int, direction: str) -> Any:
    return field(
        f"cscBias{side}{index}", "uint8_t", f"{direction} bias {index}, as table 8 has it.", default=0, table=_T8
    )


@structure
@dataclass(frozen=True, kw_only=True)
class AippColorSpaceConvParams(Parameters):
    """The colour conversion: a 3x3 matrix in units of 1/256 and two biases (SetAippFunctions, table 8).

    Which bias a direction uses is where the public sources disagree; see `csc_preset` and the notebook.

    Examples
    --------
    >>> matrix = [[256, 0, 359], [256, -88, -183], [256, 454, 0]]
    >>> csc = AippColorSpaceConvParams.from_matrix(matrix, bias_out=(0, 128, 128))
    >>> csc.is_enable_csc, csc.csc_matrix_r1c2, csc.csc_bias_out2
    (True, -183, 128)
    >>> csc.csc_matrix
    array([[ 256,    0,  359],
           [ 256,  -88, -183],
           [ 256,  454,    0]], dtype=int16)
    """

    is_enable_csc: bool = field("isEnableCsc", "bool", "Whether colours are converted.", default=False, table=_T8)
    csc_matrix_r0c0: int = _coefficient(0, 0)
    csc_matrix_r0c1: int = _coefficient(0, 1)
    csc_matrix_r0c2: int = _coefficient(0, 2)
    csc_matrix_r1c0: int = _coefficient(1, 0)
    csc_matrix_r1c1: int = _coefficient(1, 1)
    csc_matrix_r1c2: int = _coefficient(1, 2)
    csc_matrix_r2c0: int = _coefficient(2, 0)
    csc_matrix_r2c1: int = _coefficient(2, 1)
    csc_matrix_r2c2: int = _coefficient(2, 2)
    csc_bias_in0: int = _bias("In", 0, "RGB -> YUV")
    csc_bias_in1: int = _bias("In", 1, "RGB -> YUV")
    csc_bias_in2: int = _bias("In", 2, "RGB -> YUV")
    csc_bias_out0: int = _bias("Out", 0, "YUV -> RGB")
    csc_bias_out1: int = _bias("Out", 1, "YUV -> RGB")
    csc_bias_out2: int = _bias("Out", 2, "YUV -> RGB")

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        bias_in: Sequence[int] = (0, 0, 0),
        bias_out: Sequence[int] = (0, 0, 0),
        enable: bool = True,
    ) -> AippColorSpaceConvParams:
        """Make the structure from a 3x3 matrix of integers and two triples.

        Parameters
        ----------
        matrix : array_like of int, shape (3, 3)
            Rows are output channels; each element in [-32768, 32767], in units of 1/256.
        bias_in, bias_out : sequence of 3 int
            ``cscBiasIn`` and ``cscBiasOut``, each element in [0, 255].
        enable : bool
            ``isEnableCsc``.
        """
        values: dict[str, Any] = {"is_enable_csc": check_bool("isEnableCsc", enable, table=_T8)}
        rows = _triple("csc_matrix", matrix, "3 rows of 3 integers")
        for r, row in enumerate(rows):
            for c, value in enumerate(_triple(f"csc_matrix row {r}", row, "3 integers")):
                values[f"csc_matrix_r{r}c{c}"] = value
        for side, bias in (("in", bias_in), ("out", bias_out)):
            for i, value in enumerate(_triple(f"bias_{side}", bias, "3 integers")):
                values[f"csc_bias_{side}{i}"] = value
        return cls(**values)

    @property
    def csc_matrix(self) -> NDArray[np.int16]:
        """The matrix as a new read-only int16 array, rows = output channels."""
        flat = [getattr(self, f"csc_matrix_r{r}c{c}") for r in range(3) for c in range(3)]
        matrix = np.array(flat, np.int16).reshape(3, 3)
        matrix.setflags(write=False)
        return matrix

    @property
    def bias_in(self) -> tuple[int, int, int]:
        """``cscBiasIn`` as a triple."""
        return self.csc_bias_in0, self.csc_bias_in1, self.csc_bias_in2

    @property
    def bias_out(self) -> tuple[int, int, int]:
        """``cscBiasOut`` as a triple."""
        return self.csc_bias_out0, self.csc_bias_out1, self.csc_bias_out2


def _triple(name: str, value: Any, allowed: str) -> list[Any]:
    """Return three elements of a sequence or array; anything else is the caller's mistake."""
    if (isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim)) and len(value) == 3:
        return list(value)
    raise ParameterError(name, value, allowed, table=_T8)


@structure
@dataclass(frozen=True, kw_only=True)
class AippParams(Parameters):
    """All that SetAippFunctions configures (SetAippFunctions, table 2)."""

    template = True

    padding_params: AippPaddingParams = field(
        "paddingParams", "AippPaddingParams", "Border.", structure=AippPaddingParams
    )
    swap_params: AippSwapParams = field("swapParams", "AippSwapParams", "Channel swaps.", structure=AippSwapParams)
    single_line_params: AippSingleLineParams = field(
        "singleLineParams", "AippSingleLineParams", "Single row.", structure=AippSingleLineParams
    )
    dtc_params: AippDataTypeConvParams = field(
        "dtcParams", "AippDataTypeConvParams", "Type conversion.", structure=AippDataTypeConvParams
    )
    c_padding_params: AippChannelPaddingParams = field(
        "cPaddingParams", "AippChannelPaddingParams", "Channel padding.", structure=AippChannelPaddingParams
    )
    csc_params: AippColorSpaceConvParams = field(
        "cscParams", "AippColorSpaceConvParams", "Colour conversion.", structure=AippColorSpaceConvParams
    )


def _pad(side: str, cpp_side: str, cpp_type: str) -> Any:
    return field(
        f"{cpp_side}PadSize", cpp_type, f"Pad pixels at the {side}.", default=0, high=32, table=_LOAD, unit="pixels"
    )


@structure
@dataclass(frozen=True, kw_only=True)
class LoadImageToLocalParams(Parameters):
    """The window that LoadImageToLocal reads, and the border around it.

    Starts are even for YUV420SP (both) and for every format (horizontal); ``vert_size`` is not looked at when
    a single line is read, so its range is the call's to check.

    Examples
    --------
    >>> LoadImageToLocalParams(horiz_size=8, vert_size=4, src_horiz_size=16, left_pad_size=2).left_pad_size
    2
    """

    cpp_order = (
        "horiz_size", "vert_size", "horiz_start_pos", "vert_start_pos", "src_horiz_size",
        "top_pad_size", "bot_pad_size", "left_pad_size", "right_pad_size", "sid",
    )  # fmt: skip

    horiz_size: int = field(
        "horizSize", "uint16_t", "Width of the window.", low=2, high=4095, table=_LOAD, unit="pixels"
    )
    vert_size: int = field(
        "vertSize",
        "uint16_t",
        "Height of the window; [2, 4095] unless a single line is read.",
        table=_LOAD,
        unit="pixels",
    )
    src_horiz_size: int = field(
        "srcHorizSize", "uint16_t", "Width of the source picture.", low=2, high=4095, table=_LOAD, unit="pixels"
    )
    horiz_start_pos: int = field(
        "horizStartPos",
        "uint16_t",
        "Column where the window starts, even.",
        default=0,
        high=4095,
        table=_LOAD,
        unit="pixels",
    )
    vert_start_pos: int = field(
        "vertStartPos", "uint16_t", "Row where the window starts.", default=0, high=4095, table=_LOAD, unit="pixels"
    )
    top_pad_size: int = _pad("top", "top", "uint8_t")
    bot_pad_size: int = _pad("bottom", "bot", "uint8_t")
    left_pad_size: int = _pad("left", "left", "uint16_t")
    right_pad_size: int = _pad("right", "right", "uint16_t")
    sid: int = field("sid", "uint8_t", "Reserved.", default=0, table=_LOAD)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("horizStartPos", self.horiz_start_pos, 0, 4095, table=_LOAD)
        if self.horiz_start_pos % 2:
            raise ParameterError("horizStartPos", self.horiz_start_pos, "an even integer in [0, 4094]", table=_LOAD)


# Rows are output channels in R, G, B (or Y, U, V) order; the bias is subtracted from YUV or added to it.
_TO_RGB = {
    "jpeg": ((256, 0, 359, 256, -88, -183, 256, 454, 0), (0, 128, 128)),
    "bt601_narrow": ((298, 0, 409, 298, -100, -208, 298, 516, 0), (16, 128, 128)),
    "bt709_narrow": ((298, 0, 459, 298, -55, -136, 298, 541, 0), (16, 128, 128)),
    "bt709_wide": ((256, 0, 403, 256, -48, -120, 256, 475, 0), (0, 128, 128)),
}
_TO_YUV = {
    "jpeg": ((77, 150, 29, -43, -85, 128, 128, -107, -21), (0, 128, 128)),
    "bt601_narrow": ((66, 129, 25, -38, -74, 112, 112, -94, -18), (16, 128, 128)),
    "bt709_narrow": ((47, 157, 16, -26, -87, 112, 112, -102, -10), (16, 128, 128)),
    "bt709_wide": ((55, 183, 19, -29, -99, 128, 128, -116, -12), (0, 128, 128)),
}
# One channel of brightness; the other two become 0.
_TO_GRAY = {"yuv_to_gray": (256, 0, 0), "rgb_to_gray": (76, 150, 30)}


def _build_presets() -> dict[str, tuple[NDArray[np.int16], tuple[int, int, int]]]:
    presets = {}
    for standard in _TO_RGB:
        flat, bias = _TO_RGB[standard]
        to_rgb = np.array(flat, np.int16).reshape(3, 3)
        presets[f"yuv_to_rgb_{standard}"] = to_rgb, bias
        presets[f"yuv_to_bgr_{standard}"] = to_rgb[::-1], bias
        flat, bias = _TO_YUV[standard]
        to_yuv = np.array(flat, np.int16).reshape(3, 3)
        presets[f"rgb_to_yuv_{standard}"] = to_yuv, bias
        presets[f"bgr_to_yuv_{standard}"] = to_yuv[:, ::-1], bias
        presets[f"rgb_to_yvu_{standard}"] = to_yuv[[0, 2, 1]], bias
    for name, luma in _TO_GRAY.items():
        presets[name] = np.array([luma, (0,) * 3, (0,) * 3], np.int16), (0, 0, 0)
    for matrix, _ in presets.values():
        matrix.setflags(write=False)
    return presets


CSC_PRESETS = _build_presets()
"""Each preset's matrix and the bias triple that its standard needs, by name."""


def csc_preset(name: str, profile: str = "documented") -> AippColorSpaceConvParams:
    """Make the structure for a standard colour conversion.

    Parameters
    ----------
    name : str
        ``{yuv_to_rgb, yuv_to_bgr, rgb_to_yuv, bgr_to_yuv, rgb_to_yvu}_{jpeg, bt601_narrow, bt709_narrow,
        bt709_wide}``, ``yuv_to_gray`` or ``rgb_to_gray``.  "jpeg" is full-range ("wide") BT.601.
    profile : {"documented", "dav_3510"}
        Which of the two bias fields gets the standard's bias: the one that this profile reads.

    Returns
    -------
    AippColorSpaceConvParams
        With ``is_enable_csc`` set.

    Raises
    ------
    ParameterError
        If there is no such preset or profile.

    Examples
    --------
    >>> csc_preset("yuv_to_rgb_bt601_narrow").bias_out
    (16, 128, 128)
    >>> csc_preset("yuv_to_rgb_bt601_narrow", profile="dav_3510").bias_in
    (16, 128, 128)
    """
    if not isinstance(name, str) or name not in CSC_PRESETS:
        raise ParameterError("name", name, "one of " + ", ".join(CSC_PRESETS))
    matrix, bias = CSC_PRESETS[name]
    to_rgb = name.startswith("yuv")
    if (check_profile(profile) == "documented") == to_rgb:
        return AippColorSpaceConvParams.from_matrix(matrix, bias_out=bias)
    return AippColorSpaceConvParams.from_matrix(matrix, bias_in=bias)
