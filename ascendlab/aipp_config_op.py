"""One ``aipp_op`` of a config file, and what its fields mean in Ascend C's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_config_fields import CONFIG_FIELDS
from ascendlab.aipp_params import (
    CSC_PRESETS,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSingleLineParams,
    AippSwapParams,
)
from ascendlab.errors import ParameterError
from ascendlab.fields import HALF_MAX, check_real

__all__ = ["DEFAULT_MATRICES", "MATRIX_FIELDS", "AippOp", "Window", "presets_of"]

MATRIX_FIELDS = tuple(f"matrix_r{r}c{c}" for r in range(3) for c in range(3))
DEFAULT_MATRICES = {True: "yuv_to_bgr_bt601_narrow", False: "rgb_to_yuv_bt601_narrow"}
"""The preset that the converter completes a matrix from, by whether it leads from YUV."""


@cache
def presets_of(from_yuv: bool) -> Mapping[str, tuple[int, ...]]:
    """Return the presets that lead from YUV, or to it, each with its nine elements."""
    flat = {name: tuple(matrix.flatten().tolist()) for name, (matrix, _) in CSC_PRESETS.items()}
    return {name: elements for name, elements in flat.items() if name.startswith("yuv") == from_yuv}


_DEFAULTS = {name: field.default for name, field in CONFIG_FIELDS.items()}


class Window(NamedTuple):
    """The part of the source that is read."""

    left: int
    top: int
    width: int
    height: int
    src_width: int
    src_height: int


@dataclass(frozen=True)
class AippOp:
    """One block: its fields are attributes, with the default where the file says nothing.

    Parameters
    ----------
    values : mapping of str to object
        The fields that the file gives; enums by name.
    lines : mapping of str to int
        In which line each of them stands.
    line, last_line : int
        Where the block begins and ends.
    """

    values: Mapping[str, Any]
    lines: Mapping[str, int]
    line: int
    last_line: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __post_init__(self) -> None:
        vars(self).update(_DEFAULTS)
        vars(self).update(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (dict(self.values), dict(self.lines), self.line, self.last_line)

    @property
    def format(self) -> AippInputFormat | None:
        """Ascend C's name of the input format, or None where the file has none."""
        return AippInputFormat.__members__.get(self.input_format)

    @property
    def from_yuv(self) -> bool:
        """Whether the source is YUV, or its Y alone."""
        return self.input_format in ("YUV420SP_U8", "YUV400_U8")

    @property
    def bias_name(self) -> str:
        """Which bias a conversion uses in this direction."""
        return "input_bias" if self.from_yuv else "output_bias"

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """The colour matrix in force, shape (3, 3): elements that the file lacks are the default's, one by one."""
        default, _ = CSC_PRESETS[DEFAULT_MATRICES[self.from_yuv]]
        flat = [self.values.get(name, int(own)) for name, own in zip(MATRIX_FIELDS, default.flat, strict=True)]
        return np.array(flat, np.int64).reshape(3, 3)

    @cached_property
    def standard(self) -> str:
        """Name of the preset that the matrix in force equals (see `csc_preset`), or an empty text."""
        flat = tuple(self.matrix.flat)
        return next((name for name, elements in presets_of(self.from_yuv).items() if elements == flat), "")

    @property
    def bias(self) -> tuple[int, int, int]:
        """The bias in force, completed like the matrix."""
        _, default = CSC_PRESETS[DEFAULT_MATRICES[self.from_yuv]]
        a, b, c = (self.values.get(f"{self.bias_name}_{i}", own) for i, own in enumerate(default))
        return a, b, c

    @cached_property
    def real_channels(self) -> int:
        """Channels that mean, min and var apply to."""
        return 1 if self.input_format == "YUV400_U8" and not self.csc_switch else 3

    @cached_property
    def subtracted(self) -> tuple[float, ...]:
        """What each channel loses: mean and min together."""
        return tuple(map(sum, zip(self.triple("mean_chn"), self.triple("min_chn"), strict=True)))

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """What each channel is multiplied by."""
        return self.triple("var_reci_chn")

    def triple(self, prefix: str) -> tuple[Any, ...]:
        """Return the fields ``prefix_0``, ... of the real channels."""
        return tuple(getattr(self, f"{prefix}_{i}") for i in range(self.real_channels))

    @property
    def output_range(self) -> tuple[float, float]:
        """Lowest and highest output that samples of 0 to 255 give, over all channels."""
        ends = [(x - less) * by for less, by in zip(self.subtracted, self.factors, strict=True) for x in (0, 255)]
        return min(ends), max(ends)

    @property
    def padding_sizes(self) -> tuple[int, int, int, int]:
        """Left, right, top and bottom border; all 0 without ``padding: true``."""
        if not self.padding:
            return 0, 0, 0, 0
        return self.left_padding_size, self.right_padding_size, self.top_padding_size, self.bottom_padding_size

    @property
    def _padding_half(self) -> float:
        """The constant in the output type."""
        return float(np.float16(check_real("padding_value", self.padding_value, -HALF_MAX, HALF_MAX)))

    def require_static(self) -> None:
        """Refuse a block that does not say itself what happens."""
        if self.aipp_mode != "static":
            hint = "A dynamic block gets its parameters when the model runs" if self.aipp_mode == "dynamic" else ""
            raise ParameterError("aipp_mode", self.aipp_mode, "static", hint=hint)
        if self.format is None:
            known = ", ".join(AippInputFormat.__members__)
            raise ParameterError("input_format", self.input_format, f"one of {known}")

    def window(self, source: tuple[int, int], crop: tuple[int, int], *, rest: bool = False) -> Window:
        """Return the window for a source of (width, height).

        Parameters
        ----------
        source : (int, int)
            Width and height of the source; 0 where nobody knows.
        crop : (int, int)
            Width and height of the crop, 0 likewise; not looked at without ``crop: true``.
        rest : bool
            Let a crop without size reach to the source's end.
        """
        hint = "Neither the file nor the caller says: it comes from the model's input"
        src_width, src_height = source
        for axis, whole in zip("wh", source, strict=True):
            if not whole:
                raise ParameterError(f"src_image_size_{axis}", whole, "a size in [1, 4096]", hint=hint)
        if not self.crop:
            return Window(0, 0, src_width, src_height, src_width, src_height)
        size: list[int] = []
        start = self.load_start_pos_w, self.load_start_pos_h
        for axis, begin, length, whole in zip("wh", start, crop, source, strict=True):
            if not length and not rest:
                raise ParameterError(f"crop_size_{axis}", length, "a size in [1, 4096]", hint=hint)
            size.append(length or whole - begin)
            if begin + size[-1] > whole or size[-1] < 1:
                allowed = f"at most {max(whole - begin, 0)}: the window starts at {begin} of {whole}"
                raise ParameterError(f"crop_size_{axis}", size[-1], allowed)
        return Window(*start, size[0], size[1], src_width, src_height)

    def params(self, profile: str, *, swap: bool = True, csc: bool = True, dtc: bool = True) -> AippParams:
        """Return the block's parameters for Ascend C; stages can be left out.

        Parameters
        ----------
        profile : {"documented", "dav_3510"}
            Decides which of the two bias fields gets the bias: the one that this profile reads.
        swap, csc, dtc : bool
            Whether these stages, and the border with the last one, take part.
        """
        parts: dict[str, Any] = {"single_line_params": AippSingleLineParams(is_single_line_copy=self.single_line_mode)}
        if swap:
            yuv = self.input_format == "YUV420SP_U8"
            parts["swap_params"] = AippSwapParams(
                is_swap_rb=self.rbuv_swap_switch and not yuv,
                is_swap_uv=self.rbuv_swap_switch and yuv,
                is_swap_ax=self.ax_swap_switch,
            )
        if csc and self.csc_switch:
            side = "bias_out" if (profile == "documented") == self.from_yuv else "bias_in"
            bias: dict[str, Any] = {side: self.bias}
            parts["csc_params"] = AippColorSpaceConvParams.from_matrix(self.matrix.tolist(), **bias)
        if dtc:
            channels = range(self.real_channels)
            parts["dtc_params"] = AippDataTypeConvParams(
                **{f"dtc_mean_ch{i}": getattr(self, f"mean_chn_{i}") for i in channels},
                **{f"dtc_min_ch{i}": getattr(self, f"min_chn_{i}") for i in channels},
                **{f"dtc_var_ch{i}": getattr(self, f"var_reci_chn_{i}") for i in channels},
            )
            if self.padding:
                filled: dict[str, Any] = {f"padding_value_ch{i}": self._padding_half for i in range(4)}
                parts["padding_params"] = AippPaddingParams(**filled)
        return AippParams(**parts)


def _rebuild(values: dict[str, Any], lines: dict[str, int], line: int, last_line: int) -> AippOp:
    """Make a block again from what pickle can store."""
    return AippOp(MappingProxyType(values), MappingProxyType(lines), line, last_line)
