"""What one ``aipp_op`` does to a picture, stage by stage, each computed by the emulation of AIPP."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp import load_image_to_local
from ascendlab.aipp_config_op import AippOp, Window
from ascendlab.aipp_convert import source_samples
from ascendlab.aipp_params import (
    AippChannelPaddingParams,
    AippInputFormat,
    AippParams,
    AippSwapParams,
    LoadImageToLocalParams,
)
from ascendlab.aipp_setup import set_aipp_functions
from ascendlab.arrays import is_plain
from ascendlab.errors import KernelLimitWarning, ParameterError
from ascendlab.fields import check_int
from ascendlab.products import Product

__all__ = ["Stage", "run_stages"]


@dataclass(frozen=True, eq=False)
class Stage:
    """The picture after one stage.

    Parameters
    ----------
    name : str
        source, swap, crop, csc, dtc or padding.
    pixels : ndarray, shape (H, W, C)
        uint8, and half from dtc on.
    channels : tuple of str
        What each channel is.
    active : bool
        Whether the file asks for this stage; if not, the picture is that of the stage before.
    top, left : int
        Row and column of the source at the stage's first pixel; negative with a border.
    """

    name: str
    pixels: NDArray[Any]
    channels: tuple[str, ...]
    active: bool
    top: int = 0
    left: int = 0

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return float(self.pixels.min()), float(self.pixels.max())

    def at(self, row: int, column: int) -> tuple[float, ...] | None:
        """Return the samples of the pixel that lies at this row and column of the source; None if it is cut off."""
        y, x = row - self.top, column - self.left
        if 0 <= y < self.pixels.shape[0] and 0 <= x < self.pixels.shape[1]:
            return tuple(map(float, self.pixels[y, x]))
        return None


# Files may say anything up to 2**32 - 1; a picture's side is the most that could be meant.
_WIDEST_BORDER = 4096


def run_stages(op: AippOp, src0: NDArray[np.uint8], src1: NDArray[np.uint8] | None, profile: str) -> tuple[Stage, ...]:
    """Compute all stages of a static block (see `AippConfig.stages`)."""
    source_format = op.format
    assert source_format is not None
    # The whole source and the switches are checked as every call checks them, before a window is cut out.
    whole = _Runner(op, source_format, profile)
    if not is_plain(src0) or src0.ndim < 2:
        raise ParameterError("src0", src0, "a picture as set_aipp_functions takes it")
    whole.setup(src0, src1, op.params(profile), "half")
    height, width = src0.shape[:2]
    for name, size in (("src_image_size_w", width), ("src_image_size_h", height)):
        if getattr(op, name) not in (0, size):
            raise ParameterError("src0", src0, f"a picture of {name} = {getattr(op, name)}, as the file says")
    window = op.window((width, height), (op.crop_size_w, op.crop_size_h), rest=True)
    for side, size in zip(("left", "right", "top", "bottom"), op.padding_sizes, strict=True):
        check_int(f"{side}_padding_size", size, 0, _WIDEST_BORDER)
    everything = Window(0, 0, width, height, width, height)
    swap = op.params(profile).swap_params
    names = tuple(sample.name for sample in source_samples(source_format, AippSwapParams()))
    if source_format is AippInputFormat.XRGB8888_U8:
        names = tuple("XRGB" if swap.is_swap_ax else "RGBX")
    swapped = tuple(sample.name for sample in source_samples(source_format, swap))

    def run(part: Window, kind: str, **parts: bool) -> NDArray[Any]:
        return whole.run(src0, src1, part, op.params(profile, **parts), kind)

    source = src0 if src0.ndim == 3 else run(everything, "uint8", swap=False, csc=False, dtc=False)
    plain = run(everything, "uint8", csc=False, dtc=False)
    cropped = run(window, "uint8", csc=False, dtc=False)
    coloured = run(window, "uint8", dtc=False)
    converted = run(window, "half")
    left, right, top, bottom = op.padding_sizes
    # Ascend C's constant mode has no rows of border, the config file has: NumPy adds what the file's formula says.
    constant = np.float16(op.padding_value)
    padded = np.pad(converted, ((top, bottom), (left, right), (0, 0)), constant_values=constant)
    ends = _converted_names(op) if op.csc_switch else swapped
    normalised = any(op.subtracted) or any(factor != 1 for factor in op.factors)
    return (
        Stage("source", source, names, True),
        Stage("swap", plain, swapped, op.rbuv_swap_switch or op.ax_swap_switch),
        Stage("crop", cropped, swapped, op.crop, window.top, window.left),
        Stage("csc", coloured, ends, op.csc_switch, window.top, window.left),
        Stage("dtc", converted, ends, normalised, window.top, window.left),
        Stage("padding", padded, ends, any(op.padding_sizes), window.top - top, window.left - left),
    )


def _converted_names(op: AippOp) -> tuple[str, ...]:
    """Name the channels after a conversion, by the matrix."""
    standard = op.standard
    if standard.endswith("gray"):
        return "grey", "0", "0"
    if standard:
        return tuple(standard.split("_")[2].upper())
    return "c0", "c1", "c2"


class _Runner(NamedTuple):
    """The emulation with one block's format and profile."""

    op: AippOp
    source_format: AippInputFormat
    profile: str

    def setup(self, src0: Any, src1: Any, params: AippParams, kind: str) -> Any:
        product = Product.ATLAS_350 if self.profile == "dav_3510" else Product.ATLAS_INFERENCE_AI_CORE
        return set_aipp_functions(
            src0, src1, input_format=self.source_format, config=params, dtype=kind, product=product,
            profile=self.profile,
        )  # fmt: skip

    def run(self, src0: Any, src1: Any, window: Window, params: AippParams, kind: str) -> NDArray[Any]:
        """Run one window; return the real channels."""
        check_int("crop_size_w", window.width, 2, 4095)
        if window.height == 1 and not params.single_line_params.is_single_line_copy:
            raise ParameterError("crop_size_h", 1, "at least 2 rows, or single_line_mode")
        if self.source_format is AippInputFormat.YUV420SP_U8:
            for name, value in (("load_start_pos_w", window.left), ("load_start_pos_h", window.top)):
                if value % 2:
                    raise ParameterError(name, value, "an even integer for YUV420SP_U8")
        # The file allows an odd start, LoadImageToLocal does not: the source then begins one column later.
        odd = window.left % 2
        # Four channels instead of a whole DataBlock of them: nobody looks at the others, and they take memory.
        narrow = replace(params, c_padding_params=AippChannelPaddingParams(c_padding_mode=1))
        setup = self.setup(src0[:, odd:], src1, narrow, kind)
        place = LoadImageToLocalParams(
            horiz_size=window.width,
            vert_size=window.height,
            src_horiz_size=window.src_width - odd,
            horiz_start_pos=window.left - odd,
            vert_start_pos=window.top,
        )
        with warnings.catch_warnings():
            # The open kernel's limits concern its memory, not the values.
            warnings.simplefilter("ignore", KernelLimitWarning)
            return load_image_to_local(setup, place)[:, :, : setup.conversion.channels]
