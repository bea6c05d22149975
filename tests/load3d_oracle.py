"""A naive, one-element-at-a-time account of Load3D.

Written from the rules alone; it shares no code with the library.  Feature maps come channels last, (H, W, C), so
that nothing here depends on how L1 is laid out; parameter objects are only read for the documents' fields.  Results
are dictionaries: index in the result -> value, for the elements that the instruction writes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def elements_in_32_bytes(dtype: Any) -> int:
    """Return C0."""
    dtype = np.dtype(dtype)
    return 64 if dtype.name == "int4" else 32 // dtype.itemsize


def up(value: int, step: int) -> int:
    """Divide and round up."""
    return (value + step - 1) // step


def l1_image(hwc: np.ndarray) -> np.ndarray:
    """Write a feature map into L1 element by element: groups of C0 channels, the last one packed."""
    height, width, channels = hwc.shape
    c0 = elements_in_32_bytes(hwc.dtype)
    image = np.empty(height * width * channels, hwc.dtype)
    address = 0
    for first in range(0, channels, c0):
        for y in range(height):
            for x in range(width):
                for channel in range(first, min(first + c0, channels)):
                    image[address] = hwc[y, x, channel]
                    address += 1
    return image


@functools.cache
def output_size(size: int, before: int, after: int, window: int, dilation: int, stride: int) -> int:
    """Count window positions along an axis by trying them."""
    count, start = 0, -before
    while start + (window - 1) * dilation < size + after:
        count += 1
        start += stride
    return count


def windows(params: Any) -> tuple[int, int]:
    """Return Ho and Wo."""
    left, right, top, bottom = params.pad_list
    kh, kw = filter_size(params)
    ho = output_size(params.l1_h, top, bottom, kh, params.dilation_filter_h, params.stride_h)
    wo = output_size(params.l1_w, left, right, kw, params.dilation_filter_w, params.stride_w)
    return ho, wo


def filter_size(params: Any) -> tuple[int, int]:
    """Return the filter's height and width, the 256 more included."""
    more_h = 256 if getattr(params, "filter_size_h", False) else 0
    more_w = 256 if getattr(params, "filter_size_w", False) else 0
    return params.filter_h + more_h, params.filter_w + more_w


def columns(params: Any, channels: int, c0: int) -> list[tuple[int, int, int]]:
    """List what each matrix column holds: (filter row, filter column, channel), c1 slowest, then kh, kw, c0."""
    kh, kw = filter_size(params)
    return [
        (y, x, channel)
        for first in range(0, channels, c0)
        for y in range(kh)
        for x in range(kw)
        for channel in range(first, min(first + c0, channels))
    ]


def sample(hwc: np.ndarray, params: Any, window: int, point: tuple[int, int, int]) -> Any:
    """Return one matrix element; windows may lie past the last one."""
    left, right, top, _ = params.pad_list
    wo = output_size(params.l1_w, left, right, filter_size(params)[1], params.dilation_filter_w, params.stride_w)
    y = window // wo * params.stride_h - top + point[0] * params.dilation_filter_h
    x = window % wo * params.stride_w - left + point[1] * params.dilation_filter_w
    if 0 <= y < params.l1_h and 0 <= x < params.l1_w:
        return hwc[y, x, point[2]]
    return params.pad_value


def matrix(hwc: np.ndarray, params: Any) -> np.ndarray:
    """Return the whole im2col matrix."""
    ho, wo = windows(params)
    points = columns(params, hwc.shape[2], elements_in_32_bytes(hwc.dtype))
    result = np.empty((ho * wo, len(points)), hwc.dtype)
    for m in range(ho * wo):
        for k, point in enumerate(points):
            result[m, k] = sample(hwc, params, m, point)
    return result


def starts(params: Any, repeat: Any, c0: int, *, doubled: bool) -> list[tuple[int, int]]:
    """List each repeat's first row and column."""
    step = repeat.repeat_stride * (16 if repeat.repeat_mode == 0 else c0 * (2 if doubled else 1))
    return [
        (params.m_start_pt + r * step, params.k_start_pt)
        if repeat.repeat_mode == 0
        else (params.m_start_pt, params.k_start_pt + r * step)
        for r in range(repeat.repeat_time)
    ]


def load_v2(hwc: np.ndarray, params: Any, repeat: Any, *, dst: str, atlas_350: bool, doubled: bool = False) -> tuple:
    """Return the shape and the written elements of a Load3Dv2 call."""
    c0 = elements_in_32_bytes(hwc.dtype)
    places = starts(params, repeat, c0, doubled=doubled)
    m1, k1 = up(params.m_extension, 16), up(params.k_extension, c0)
    if dst == "A2" and params.en_transpose:
        # All repeats are one matrix: side by side, each filled up to whole fractals.
        tall, wide = (m1 * 16, 0) if repeat.repeat_mode == 0 else (0, k1 * c0)
        block = {}
        for r, (m_start, k_start) in enumerate(places):
            for (i, j), value in cut(hwc, params, m_start, k_start).items():
                block[i + r * tall, j + r * wide] = value
        rows = m1 * 16 * (repeat.repeat_time if repeat.repeat_mode == 0 else 1)
        cols = k1 * c0 * (repeat.repeat_time if repeat.repeat_mode == 1 else 1)
        return lay(block, rows, cols, c0, "NZ" if atlas_350 else "ZZ", True, repeat.dst_stride)
    layout = "NZ" if atlas_350 or dst == "B2" else "ZZ"
    shape, written = (), {}
    for r, (m_start, k_start) in enumerate(places):
        block = cut(hwc, params, m_start, k_start)
        shape, one = lay(block, m1 * 16, k1 * c0, c0, layout, dst == "B2", repeat.dst_stride)
        if len(places) > 1:
            one = {(r, *index): value for index, value in one.items()}
            shape = (len(places), *shape)
        written.update(one)
    return shape, written


def cut(hwc: np.ndarray, params: Any, m_start: int, k_start: int) -> dict:
    """Take a block out of the matrix; what lies outside the matrix is not in it."""
    ho, wo = windows(params)
    points = columns(params, hwc.shape[2], elements_in_32_bytes(hwc.dtype))
    return {
        (i, j): sample(hwc, params, m_start + i, points[k_start + j])
        for i in range(params.m_extension)
        for j in range(params.k_extension)
        if m_start + i < ho * wo and k_start + j < len(points)
    }


def lay(block: dict, rows: int, cols: int, c0: int, layout: str, transposed: bool, stride: int) -> tuple:
    """Place a block's elements into 16 x C0 fractals, the matrix on its side if transposed."""
    if transposed:
        block = {(j, i): value for (i, j), value in block.items()}
        square = max(16, c0)
        rows, cols = up(cols, square) * square, up(rows, square) * square
    down, across = up(rows, 16), up(cols, c0)
    gaps = layout == "NZ" and stride not in (0, down)
    written = {}
    for (i, j), value in block.items():
        if layout == "ZZ":
            index: tuple[int, ...] = (i // 16, j // c0, i % 16, j % c0)
        elif gaps:
            index = (j // c0 * stride + i // 16, i % 16, j % c0)
        else:
            index = (j // c0, i // 16, i % 16, j % c0)
        written[index] = value
    if layout == "ZZ":
        return (down, across, 16, c0), written
    return (((across - 1) * stride + down, 16, c0) if gaps else (across, down, 16, c0)), written


def load_v1(hwc: np.ndarray, params: Any, *, dst: str) -> tuple:
    """Return the shape and the written elements of a Load3Dv1 call."""
    c0 = elements_in_32_bytes(hwc.dtype)
    left, _, top, _ = params.pad_list
    _, wo = windows(params)
    first = (params.left_top_h + top) // params.stride_h * wo + (params.left_top_w + left) // params.stride_w
    written = {}
    for r in range(params.repeat_time):
        group, y, x = params.c1_index, params.fetch_filter_h, params.fetch_filter_w
        depth = hwc.shape[2] if params.c_size else c0
        # Step from filter point to filter point: w first, then h, then the channel group.
        for _ in range(r * (c0 // depth) if params.repeat_mode == 0 else 0):
            group, y, x = following(params, group, y, x)
        row: list[tuple[int, int, int] | None] = []
        while len(row) < c0:
            past_the_filter = params.c_size and group > 0
            row += [None if past_the_filter else (y, x, group * depth + channel) for channel in range(depth)]
            group, y, x = following(params, group, y, x)
        for i in range(16):
            window = first + i + (16 * r if params.repeat_mode == 1 else 0)
            for j, point in enumerate(row):
                if point is not None:
                    index = (r * params.jump_stride, j, i) if dst == "B2" else (r * params.jump_stride, i, j)
                    written[index] = sample(hwc, params, window, point)
    return ((params.repeat_time - 1) * params.jump_stride + 1, *((c0, 16) if dst == "B2" else (16, c0))), written


def following(params: Any, group: int, y: int, x: int) -> tuple[int, int, int]:
    """Return the next filter point."""
    x += 1
    if x == params.filter_w:
        x, y = 0, y + 1
    if y == params.filter_h:
        y, group = 0, group + 1
    return group, y, x


def fill(shape: tuple[int, ...], written: dict, background: np.ndarray) -> np.ndarray:
    """Put written elements over what was there before."""
    result = background.copy()
    assert result.shape == shape
    for index, value in written.items():
        result[index] = value
    return result
