"""Pictures of SetAippFunctions and LoadImageToLocal: source and window, result and border, channels, differences.

Each function draws on an Axes and returns it.  A picture of at most 12 x 12 pixels is drawn as cells with numbers.

>>> import numpy as np
>>> from ascendlab import AippInputFormat, AippParams, LoadImageToLocalParams, set_aipp_functions, load_image_to_local
>>> from ascendlab.aipp import aipp_plan
>>> picture = np.arange(64, dtype=np.uint8).reshape(8, 8)
>>> setup = set_aipp_functions(picture, input_format=AippInputFormat.YUV400_U8, dtype="uint8", config=AippParams())
>>> params = LoadImageToLocalParams(horiz_size=4, vert_size=4, src_horiz_size=8, left_pad_size=2)
>>> ax = result(load_image_to_local(setup, params), aipp_plan(setup, params), channel=0)
>>> ax.get_title()
'result, channel 0'
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ascendlab.aipp import (
    AippInputFormat,
    AippParams,
    AippPlan,
    AippSetup,
    AippSwapParams,
    LoadImageToLocalParams,
    aipp_plan,
    csc_preset,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.plots._base import axes_at, new_figure
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._roles import CHANNEL_PADDING, INPUT, ORIGIN, PADDING, PICKED, WINDOW, Role
from ascendlab.provenance import Origin

__all__ = [
    "border_areas",
    "difference",
    "result",
    "show_difference",
    "show_result",
    "show_source",
    "shown_range",
    "source",
    "source_rgb",
    "to_rgb",
]

NUMBERS_UP_TO = 12


def source_rgb(setup: AippSetup) -> NDArray[np.uint8]:
    """Return the source picture as a person would see it.

    Parameters
    ----------
    setup : AippSetup
        From `set_aipp_functions`.  YUV420SP is converted by the JPEG matrix; of XRGB8888 the sample is left out that
        ``is_swap_ax`` says is X.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3) or (H, W)
    """
    if setup.input_format is AippInputFormat.YUV400_U8:
        return setup.src0
    if setup.input_format is AippInputFormat.RGB888_U8:
        return setup.src0
    if setup.input_format is AippInputFormat.XRGB8888_U8:
        first = int(setup.config.swap_params.is_swap_ax)
        return setup.src0[:, :, first : first + 3]
    height, width = setup.src0.shape
    config = AippParams(csc_params=csc_preset("yuv_to_rgb_jpeg"), swap_params=AippSwapParams())
    whole = set_aipp_functions(
        setup.src0, setup.src1, input_format=setup.input_format, config=config, dtype="uint8"
    )  # fmt: skip
    window = LoadImageToLocalParams(horiz_size=width, vert_size=height, src_horiz_size=width)
    return np.ascontiguousarray(load_image_to_local(whole, window)[:, :, :3])


def shown_range(array: NDArray[Any]) -> tuple[float, float]:
    """Return the values that are drawn black and white: the type's range, or the data's for half beyond [0, 255].

    Examples
    --------
    >>> shown_range(np.zeros(3, np.int8)), shown_range(np.array([0.0, 200.0], np.float16))
    ((-128.0, 127.0), (0.0, 255.0))
    >>> shown_range(np.array([-1.5, 2.5], np.float16))
    (-1.5, 2.5)
    """
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        return float(info.min), float(info.max)
    finite = array[np.isfinite(array)].astype(np.float32)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low >= 0 and 1 < high <= 255:
        return 0.0, 255.0
    return (low, high) if low < high else (low, low + 1)


def to_rgb(array: NDArray[Any], limits: tuple[float, float] | None = None) -> NDArray[np.uint8]:
    """Map values to uint8 for drawing, linearly between `limits` (default `shown_range`)."""
    if array.dtype == np.uint8 and limits is None:
        return array
    low, high = limits or shown_range(array)
    inside = np.clip(np.nan_to_num(array.astype(np.float32)), low, high)
    return np.round((inside - low) * (255 / (high - low))).astype(np.uint8)


def border_areas(plan: AippPlan, channel: int | None = None) -> dict[Role, NDArray[np.bool_]]:
    """Return which output pixels are border, input and channel padding, for one channel or the real ones.

    Parameters
    ----------
    plan : AippPlan
        From `ascendlab.aipp.aipp_plan`.
    channel : int, optional
        Output channel.

    Returns
    -------
    dict of Role to ndarray of bool, shape (H, W)
    """
    border = np.ones(plan.shape[:2], bool)
    border[plan.top : plan.top + plan.height, plan.left : plan.left + plan.width] = False
    if channel is None or channel < plan.channels:
        return {INPUT: ~border, PADDING: border}
    # Constant padding reaches the first four channels, whatever the picture has; the other modes copy real ones only.
    constant = (plan.columns < 0)[None, :] & np.full(plan.shape[:2], channel < 4)
    return {CHANNEL_PADDING: ~constant, PADDING: constant}


def show_source(
    grid: Grid,
    setup: AippSetup,
    params: LoadImageToLocalParams | None = None,
    *,
    rgb: NDArray[np.uint8] | None = None,
    channel: int = 0,
    origin: Origin | None = None,
) -> None:
    """Draw the source picture into a grid; see `source`."""
    height, width = setup.src0.shape[:2]
    marks = []
    if params is not None:
        plan = aipp_plan(setup, params)
        marks.append(Mark(WINDOW, params.vert_start_pos, params.horiz_start_pos, plan.height, plan.width))
    marks += [_origin_mark(setup, term.operand, term.index) for term in origin.terms] if origin else []
    if max(height, width) > NUMBERS_UP_TO:
        grid.show(rgb=source_rgb(setup) if rgb is None else rgb, marks=marks)
        return
    sample = setup.conversion.samples[min(channel, len(setup.conversion.samples) - 1)]
    values = sample.window(setup, 0, width).repeat(sample.step, 0).repeat(sample.step, 1)
    grid.show(values, areas={INPUT: np.ones(values.shape, bool)}, marks=marks)


def _origin_mark(setup: AippSetup, operand: str, index: tuple[int, ...]) -> Mark:
    """Mark the pixels that a source sample belongs to: one, or 2 x 2 that share a U, V pair."""
    if operand == "src1":
        return Mark(ORIGIN, index[0] * 2, index[1] // 2 * 2, 2, 2)
    return Mark(ORIGIN, index[0], index[1])


def show_result(
    grid: Grid,
    array: NDArray[Any],
    plan: AippPlan,
    *,
    channel: int | None = None,
    picked: tuple[int, int] | None = None,
    limits: tuple[float, float] | None = None,
) -> None:
    """Draw a result into a grid; see `result`."""
    marks = [Mark(PICKED, *picked)] if picked is not None else []
    areas = border_areas(plan, channel)
    if max(plan.shape[:2]) <= NUMBERS_UP_TO and channel is not None:
        grid.show(array[:, :, channel], areas=areas, marks=marks)
        return
    areas.pop(INPUT, None)  # the picture itself shows it
    if channel is not None:
        grid.show(rgb=to_rgb(array[:, :, channel], limits or shown_range(array[:, :, : plan.channels])),
                  areas=areas, marks=marks)  # fmt: skip
        return
    colours = to_rgb(array[:, :, : plan.channels], limits)
    grid.show(rgb=colours[:, :, 0] if plan.channels == 1 else colours, areas=areas, marks=marks)


def show_difference(grid: Grid, documented: NDArray[Any], other: NDArray[Any], *, channel: int | None = None) -> None:
    """Draw how much two results differ into a grid; see `difference`."""
    change = differences(documented, other)
    small = max(change.shape[:2]) <= NUMBERS_UP_TO
    flat = change[:, :, channel] if channel is not None else np.abs(change).max(axis=2)
    largest = largest_difference(flat) or 1.0
    # What is infinitely far apart, or a number in one result only, is as dark as it gets.
    shade = 255 - to_rgb(np.nan_to_num(np.abs(flat), nan=largest, posinf=largest), (0.0, largest))
    if small:
        # Numbers must stay readable: a light scale.
        shade = 255 - (255 - shade) // 3
    grid.show(flat if small else None, rgb=shade)


def differences(documented: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float32]:
    """Return `other` minus `documented`, value by value.

    Two equal infinities, or two values that are both no numbers, differ by 0; NaN says that only one is a number.

    Examples
    --------
    >>> first, second = np.array([1.0, 1.0, np.inf, np.nan]), np.array([3.0, np.nan, np.inf, np.nan])
    >>> differences(first, second)
    array([ 2., nan,  0.,  0.], dtype=float32)
    """
    left, right = documented.astype(np.float32), other.astype(np.float32)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    return np.subtract(right, left, out=np.zeros_like(left), where=~same)


def largest_difference(change: NDArray[np.float32]) -> float:
    """Return the largest finite size of a difference; 0 if there is none."""
    size = np.abs(change)
    return float(size.max(initial=0, where=np.isfinite(size)))


def source(
    setup: AippSetup,
    params: LoadImageToLocalParams | None = None,
    *,
    rgb: NDArray[np.uint8] | None = None,
    channel: int = 0,
    origin: Origin | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the source picture with the window that is read.

    Parameters
    ----------
    setup : AippSetup
        From `set_aipp_functions`.
    params : LoadImageToLocalParams, optional
        The window; outlined.
    rgb : ndarray of uint8, shape (H, W, 3) or (H, W), optional
        How the picture looks, if that is known better than from `source_rgb`.
    channel : int
        For small pictures: the output channel whose samples are written into the cells.
    origin : Origin, optional
        Where a picked output element came from (`Trace.origin`); outlined.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    height, width = setup.src0.shape[:2]
    grid = _new_grid(ax, height, width, "source")
    show_source(grid, setup, params, rgb=rgb, channel=channel, origin=origin)
    return grid.ax


def result(
    array: NDArray[Any],
    plan: AippPlan,
    *,
    channel: int | None = None,
    picked: tuple[int, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what LoadImageToLocal left in L1, its border hatched.

    Parameters
    ----------
    array : ndarray, shape (H, W, C)
        From `load_image_to_local`.
    plan : AippPlan
        From `ascendlab.aipp.aipp_plan` for the same call: where the border is.
    channel : int, optional
        One channel, in grey or as numbers; without it the real channels as red, green and blue.
    picked : (int, int), optional
        Row and column to outline.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    height, width = plan.shape[:2]
    title = f"result, {'colour' if channel is None else f'channel {channel}'}"
    grid = _new_grid(ax, height, width, title)
    show_result(grid, array, plan, channel=channel, picked=picked)
    return grid.ax


def difference(
    documented: NDArray[Any], other: NDArray[Any], *, channel: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw where two results of the same call differ: white where they agree, darker the more they differ.

    Darkest of all is where one result is infinite, or no number, and the other is not.

    Parameters
    ----------
    documented, other : ndarray, shape (H, W, C)
        The results, for instance of the two profiles.
    channel : int, optional
        One channel; without it the largest difference over the channels.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    rows, columns = documented.shape[:2]
    grid = _new_grid(ax, rows, columns, "difference, other - documented")
    show_difference(grid, documented, other, channel=channel)
    return grid.ax


def _new_grid(ax: Axes | None, rows: int, columns: int, title: str) -> Grid:
    """Prepare an Axes, or a figure of its own, for one grid."""
    if ax is None:
        cell = max(1, 30 if max(rows, columns) <= NUMBERS_UP_TO else 320 // max(rows, columns))
        figure = new_figure(columns * cell + 70, rows * cell + 74)
        ax = axes_at(figure, left=50, top=28, width=columns * cell, height=rows * cell)
    ax.set_title(title)
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    return Grid(ax, rows=rows, columns=columns)
