"""Calls and data for the tests of `compare`, and matrices in all layouts, filled in plain loops."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ascendlab.aipp import (
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippParams,
    LoadImageToLocalParams,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.aipp_params import CSC_PRESETS
from ascendlab.conv import conv2d
from ascendlab.load3d import (
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    im2col,
    load_data_3d_v1,
    load_data_3d_v2,
)
from ascendlab.provenance import Call
from ascendlab.vector import UnaryRepeatParams, bilinear_interpolation, vector_padding

SEEDS = (1, 2)
"""Each seed stands for other sizes, too."""


class Device(NamedTuple):
    """What a device with a mistake wrote, and what it should have written."""

    actual: np.ndarray
    golden: Any
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Draw numbers without any order in them."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max, shape, endpoint=True).astype(kind)
    return (rng.normal(size=shape) * 8).astype(kind)


def picture(
    seed: int, *, yuv: bool = False, dtype: str = "half", csc: str = "", out: bool = False, **given: Any
) -> Call:
    """Return a call of LoadImageToLocal on a picture of noise."""
    rng = np.random.default_rng(seed)
    height, width = ((18, 22), (14, 30))[seed - 1]
    src0 = rng.integers(0, 256, (height, width) if yuv else (height, width, 3), np.uint8, endpoint=False)
    src1 = rng.integers(0, 256, (height // 2, width)).astype(np.uint8) if yuv else None
    groups: dict[str, Any] = {}
    if csc:
        matrix, bias = CSC_PRESETS[csc]
        sides = given.pop("bias_sides", ("bias_out",) if yuv else ("bias_in",))
        groups["csc_params"] = AippColorSpaceConvParams.from_matrix(matrix.tolist(), **dict.fromkeys(sides, bias))
    dtc = given.pop("dtc", {})
    if dtype != "uint8":
        groups["dtc_params"] = AippDataTypeConvParams(**{
            **{f"dtc_mean_ch{i}": mean for i, mean in enumerate((104, 117, 123))},
            **({f"dtc_min_ch{i}": low for i, low in enumerate((1.5, -3.25, 7.0))} if dtype == "half" else {}),
            **({f"dtc_var_ch{i}": var for i, var in enumerate((0.0171, 0.0175, 0.0174))} if dtype == "half" else {}),
            **dtc,
        })  # fmt: skip
    config = AippParams(**groups, **given.pop("config", {}))
    setup = set_aipp_functions(
        src0, src1, input_format=AippInputFormat.YUV420SP_U8 if yuv else AippInputFormat.RGB888_U8, config=config,
        dtype=dtype, **given,
    )  # fmt: skip
    params = LoadImageToLocalParams(
        horiz_size=(14, 18)[seed - 1], vert_size=10, src_horiz_size=width, horiz_start_pos=4, vert_start_pos=2,
        left_pad_size=2, right_pad_size=3,
    )  # fmt: skip
    return Call(load_image_to_local, {"setup": setup, "params": params})


def load(seed: int, dtype: Any = np.float16, **given: Any) -> Call:
    """Return a call of Load3Dv2."""
    c0 = 32 // np.dtype(dtype).itemsize
    height, width = ((9, 12), (11, 8))[seed - 1]
    params = LoadData3DParamsV2(
        **{
            "l1_h": height,
            "l1_w": width,
            "channel_size": 2 * c0,
            "filter_h": 3,
            "filter_w": 2,
            "stride_w": 2,
            "stride_h": 1,
            "dilation_filter_w": 2,
            "pad_list": (1, 2, 0, 1),
            "m_extension": 32,
            "k_extension": (3, 5)[seed - 1] * c0,
            **given,
        }
    )
    src = numbers(np.random.default_rng(seed), (2, height, width, c0), dtype)
    return Call(load_data_3d_v2, {"src": src, "params": params})


def load_v1(seed: int) -> Call:
    """Return a call of Load3Dv1."""
    params = LoadData3DParamsV1(l1_h=7, l1_w=9 + seed, filter_h=3, filter_w=3, pad_list=(1, 1, 1, 1), left_top_w=-1,
                                left_top_h=-1, repeat_time=5 + seed, jump_stride=1, stride_w=2)  # fmt: skip
    return Call(load_data_3d_v1, {"src": numbers(np.random.default_rng(seed), (7, 9 + seed, 16), np.float16),
                                  "params": params})  # fmt: skip


def matrix(seed: int) -> Call:
    """Return a call of im2col."""
    params = LoadData3DParamsV2(
        l1_h=5 + seed, l1_w=8, channel_size=16, filter_h=2, filter_w=3, stride_h=2, pad_list=(1, 0, 2, 0)
    )
    return Call(
        im2col, {"src": numbers(np.random.default_rng(seed), (1, 5 + seed, 8, 16), np.float16), "params": params}
    )


def padding(seed: int, **given: Any) -> Call:
    """Return a call of VectorPadding with two mask words."""
    src = numbers(np.random.default_rng(seed), (1024,), np.int16)
    arguments = {
        "src": src, "pad_mode": 1, "pad_side": bool(seed % 2), "mask": [0xF0F1_00FF_7FFF_0003, 0x1234_FFFF_0FF0_8001],
        "repeat_time": 1 + seed, "repeat_params": UnaryRepeatParams(2, 1, 16, 8), **given,
    }  # fmt: skip
    return Call(vector_padding, arguments)


def bilinear(seed: int, **given: Any) -> Call:
    """Return a call of BilinearInterpolation."""
    rng = np.random.default_rng(seed)
    h_repeat, v_repeat = (3, 5)[seed - 1], 2
    arguments = {
        "src0": (rng.normal(size=40 * 16)).astype(np.float16),
        "src0_offset": (rng.integers(0, 20, 8 * h_repeat * v_repeat) * 32).astype(np.uint32),
        "src1": rng.normal(size=8 * h_repeat * v_repeat).astype(np.float16),
        "mask": [0xF0F1_00FF_7FFF_0003, 0x1234_FFFF_0FF0_8001], "h_repeat": h_repeat, "repeat_mode": bool(seed % 2),
        "dst_blk_stride": 1, "v_roffset": 160, "v_repeat": v_repeat, **given,
    }  # fmt: skip
    return Call(bilinear_interpolation, arguments)


def convolution(seed: int, dtype: Any = np.float16) -> Call:
    """Return a call of conv2d on data whose sums are rounded."""
    rng = np.random.default_rng(seed)
    fmap = rng.normal(size=(2, 6, 6 + seed, 16)).astype(dtype)
    weight = rng.normal(size=(16 * 9, 60 + seed)).astype(dtype)
    return Call(conv2d, {"fmap": fmap, "weight": weight, "kernel": (3, 3), "strides": (2, 1), "dilations": (1, 1),
                         "pads": (1, 0, 2, 1)})  # fmt: skip


def again(call: Call, part: str = "", **new: Any) -> np.ndarray:
    """Make a call with other arguments, or with other members of one structure."""
    if part == "config":
        setup = call.arguments["setup"]
        setup = set_aipp_functions(
            setup.src0, setup.src1, input_format=setup.input_format, config=dataclasses.replace(setup.config, **new),
            dtype=setup.dtype, product=setup.product, profile=setup.profile,
        )  # fmt: skip
        new = {"setup": setup}
    elif part:
        new = {part: dataclasses.replace(call.arguments[part], **new)}
    return call.function(**{**call.arguments, **new})


def cut(result: np.ndarray, golden: np.ndarray) -> np.ndarray:
    """Return what a memory of golden's size holds after a result of another size was written over zeros."""
    flat = np.zeros(golden.size, golden.dtype)
    flat[: min(result.size, flat.size)] = result.reshape(-1)[: flat.size]
    return flat.reshape(golden.shape)


def fill_matrix(layout: str, nd: np.ndarray, c0: int) -> np.ndarray:
    """Lay a matrix out element by element: the flat memory."""
    rows, columns = nd.shape
    flat = np.zeros(nd.size, nd.dtype)
    for r in range(rows):
        for c in range(columns):
            if layout == "ND":
                place = r * columns + c
            elif layout == "ZZ":
                place = ((r // 16) * (columns // c0) + c // c0) * 16 * c0 + r % 16 * c0 + c % c0
            elif layout == "NZ":
                place = ((c // c0) * (rows // 16) + r // 16) * 16 * c0 + r % 16 * c0 + c % c0
            else:
                place = ((r // c0) * (columns // 16) + c // 16) * 16 * c0 + c % 16 * c0 + r % c0
            flat[place] = nd[r, c]
    return flat


def in_layout(layout: str, nd: np.ndarray, c0: int) -> np.ndarray:
    """Lay a matrix out, in the shape of its layout."""
    rows, columns = nd.shape
    shapes = {"ND": nd.shape, "ZZ": (rows // 16, columns // c0, 16, c0), "NZ": (columns // c0, rows // 16, 16, c0),
              "ZN": (rows // c0, columns // 16, 16, c0)}  # fmt: skip
    return fill_matrix(layout, nd, c0).reshape(shapes[layout])


def read_matrix(layout: str, flat: np.ndarray, shape: tuple[int, int], c0: int) -> np.ndarray:
    """Read a matrix out of a flat memory in this layout."""
    places = fill_matrix(layout, np.arange(flat.size).reshape(shape), c0)
    nd = np.zeros(flat.size, flat.dtype)
    nd[places] = flat
    return nd.reshape(shape)


def to_half(exact: float, rounding: str) -> np.float16:
    """Round one number to half by looking at the halves below and above it."""
    near = np.float16(exact)
    if float(near) == exact:
        return near
    low = near if float(near) < exact else np.nextafter(near, np.float16(-np.inf))
    high = np.nextafter(low, np.float16(np.inf))
    if rounding == "cut":
        return low if exact > 0 else high
    if rounding == "down":
        return low
    middle = (float(low) + float(high)) / 2
    if exact != middle:
        return low if exact < middle else high
    return high if rounding == "up" or exact > 0 else low
