"""AIPP's plan: a row map, a column map and a channel map that say where every output element comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_params import AippInputFormat, LoadImageToLocalParams
from ascendlab.aipp_setup import AippSetup
from ascendlab.aipp_tiles import constant_pixels
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int
from ascendlab.sources import Sources

__all__ = ["AippPlan", "aipp_plan", "aipp_sources"]

_T3 = "SetAippFunctions, table 3"


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
