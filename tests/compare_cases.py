"""Calls and simulated devices with one mistake each, for the tests of `compare`.

Devices are simulated in plain loops or by NumPy, never by the guesses that they are to be found by.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ascendlab.aipp import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippParams,
    AippSwapParams,
    LoadImageToLocalParams,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.aipp_params import CSC_PRESETS
from ascendlab.conv import conv2d
from ascendlab.load3d import (
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    im2col,
    load_data_3d_v1,
    load_data_3d_v2,
)
from ascendlab.products import Product
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


Fault = Callable[[int], Device]
"""Makes a device for a seed."""


def channel(order: tuple[int, ...], **given: Any) -> Fault:
    """Return a fault that exchanges channels of a picture."""

    def fault(seed: int) -> Device:
        call = picture(seed, **given)
        actual = call.run()
        actual[..., : len(order)] = actual[..., list(order)]
        return Device(actual, call)

    return fault


def changed(make: Callable[..., Call], part: str = "", **new: Any) -> Fault:
    """Return a fault that gives one parameter another value."""

    def fault(seed: int) -> Device:
        call = make(seed)
        values = {name: value(call) if callable(value) else value for name, value in new.items()}
        return Device(cut(again(call, part, **values), call.run()), call)

    return fault


def edited(make: Callable[[int], Any], edit: Callable[[np.ndarray], np.ndarray], **options: Any) -> Fault:
    """Return a fault that changes a result as a whole."""

    def fault(seed: int) -> Device:
        golden = make(seed)
        right = golden.run() if isinstance(golden, Call) else golden
        return Device(np.ascontiguousarray(edit(right.copy())).reshape(right.shape), golden, options)

    return fault


def drawn(shapes: tuple[tuple[int, ...], ...], dtype: Any) -> Callable[[int], np.ndarray]:
    """Return a maker of arrays."""
    return lambda seed: numbers(np.random.default_rng(seed), shapes[seed - 1], dtype)


def pitched(axis: int, step: int, *, read: bool = False) -> Callable[[np.ndarray], np.ndarray]:
    """Return an edit that puts rows (of `axis`) so many elements too far apart, or reads them so; 7 is garbage."""

    def edit(golden: np.ndarray) -> np.ndarray:
        rows = golden.reshape(math.prod(golden.shape[:axis]), -1)
        pitch = rows.shape[1] + step
        room = len(rows) * max(pitch, rows.shape[1])
        there, memory = np.full((2, room), 7, golden.dtype)
        memory[: golden.size] = golden.reshape(-1)
        for number, row in enumerate(rows):
            place = slice(number * pitch, number * pitch + len(row))
            there[place] = row
            row[:] = memory[place]
        return rows if read else there[: golden.size]

    return edit


def misread(own: str, written: str, taken: str, dtype: Any = np.int8) -> Fault:
    """Return a fault of two layouts taken for each other."""
    c0 = 32 // np.dtype(dtype).itemsize

    def fault(seed: int) -> Device:
        nd = numbers(np.random.default_rng(seed), ((64, 96), (128, 32 + 64 * (c0 == 32)))[seed - 1], dtype)
        wrong = read_matrix(taken, fill_matrix(written, nd, c0), nd.shape, c0)
        return Device(in_layout(own, wrong, c0), in_layout(own, nd, c0), {"layout": own})

    return fault


def tail(start: Callable[[int], int], fill: Any, make: Callable[[int], Any]) -> Fault:
    """Return a fault that leaves the end as it was."""

    def edit(right: np.ndarray) -> np.ndarray:
        right.reshape(-1)[start(right.size) :] = fill
        return right

    return edited(make, edit)


def out_kept(seed: int) -> Device:
    """Return a device that wrote its first half over what out held."""
    out = numbers(np.random.default_rng(seed + 50), (256,), np.int16)
    call = padding(
        seed, mask=128, repeat_time=2, repeat_params=UnaryRepeatParams(), src=padding(seed).arguments["src"], out=out
    )
    actual = out.copy()
    right = call.function(**{**call.arguments, "out": out.copy()})
    actual[:144] = right[:144]
    return Device(actual, call)


def middle(seed: int) -> Device:
    """Return a device one of whose blocks stopped too early."""
    call = convolution(seed)
    actual = call.run()
    actual[0, 2:] = (0, np.nan)[seed - 1]
    return Device(actual, call)


def halves(rounding: str, *, yuv: bool = False) -> Fault:
    """Return a fault of AIPP's conversion to half: ``(v - mean - min) * var`` rounded once, in another way."""

    def fault(seed: int) -> Device:
        dtc = {f"dtc_min_ch{i}": 0.0 for i in range(3)} | {
            f"dtc_var_ch{i}": v for i, v in enumerate((0.01, 0.03, 1 / 3))
        }
        call = picture(seed, yuv=yuv, dtc=dtc)
        plain = picture(seed, yuv=yuv, dtype="uint8").run()
        actual = call.run()
        params = call.arguments["setup"].config.dtc_params
        inside = slice(2, 2 + call.arguments["params"].horiz_size)
        for c in range(3):
            mean, var = getattr(params, f"dtc_mean_ch{c}"), getattr(params, f"dtc_var_ch{c}")
            table = [to_half((v - mean) * float(np.float16(var)), rounding) for v in range(256)]
            actual[:, inside, c] = np.array(table)[plain[:, inside, c]]
        return Device(actual, call)

    return fault


def colours(rule: Callable[[list[int], list[list[int]], tuple[int, ...]], list[int]], *, dtype: str = "uint8") -> Fault:
    """Return a fault of the colour conversion, which is done pixel by pixel by `rule`."""

    def fault(seed: int) -> Device:
        call = picture(
            seed, yuv=True, dtype=dtype, csc="yuv_to_rgb_bt601_narrow", dtc={f"dtc_mean_ch{i}": 0 for i in range(3)}
        )
        raw = picture(seed, yuv=True, dtype="uint8").run()
        actual = call.run()
        csc = call.arguments["setup"].config.csc_params
        for y in range(actual.shape[0]):
            for x in range(2, 2 + call.arguments["params"].horiz_size):
                pixel = [int(v) for v in raw[y, x, :3]]
                actual[y, x, :3] = rule(pixel, csc.csc_matrix.tolist(), csc.bias_out)
        return Device(actual, call)

    return fault


def other_direction(seed: int) -> Device:
    """Return a device that takes cscBiasIn off YUV, where the manual has cscBiasOut."""
    call = picture(seed, yuv=True, dtype="uint8", csc="yuv_to_rgb_bt601_narrow")
    setup = call.arguments["setup"]
    csc = [
        AippColorSpaceConvParams.from_matrix(setup.config.csc_params.csc_matrix.tolist(), bias_in=one, bias_out=two)
        for one, two in (((3, 70, 90), (16, 128, 128)), ((16, 128, 128), (3, 70, 90)))
    ]
    both = [
        set_aipp_functions(
            setup.src0,
            setup.src1,
            input_format=setup.input_format,
            config=AippParams(csc_params=params),
            dtype="uint8",
        )
        for params in csc
    ]
    right, wrong = (Call(load_image_to_local, {**call.arguments, "setup": one}) for one in both)
    return Device(wrong.run(), right)


def sums(pixel: list[int], matrix: list[list[int]], bias: tuple[int, ...]) -> list[int]:
    """Return the three sums of a colour conversion, in 1/256."""
    return [sum(m * (v - b) for m, v, b in zip(row, pixel, bias, strict=True)) for row in matrix]


def limit(value: int) -> int:
    """Saturate to uint8."""
    return min(255, max(0, value))


def quotient_cut(seed: int) -> Device:
    """Return a device that divides towards zero on the way to YUV, where sums are negative."""
    call = picture(seed, dtype="uint8", csc="rgb_to_yuv_bt601_narrow")
    raw, actual = picture(seed, dtype="uint8").run(), call.run()
    csc = call.arguments["setup"].config.csc_params
    for y in range(actual.shape[0]):
        for x in range(2, 2 + call.arguments["params"].horiz_size):
            totals = sums([int(v) for v in raw[y, x, :3]], csc.csc_matrix.tolist(), (0, 0, 0))
            actual[y, x, :3] = [limit(int(total / 256) + b) for total, b in zip(totals, csc.bias_in, strict=True)]
    return Device(actual, call)


def int8_wrap(seed: int) -> Device:
    """Return a device whose int8 results wrap."""
    dtc = {f"dtc_mean_ch{i}": mean for i, mean in enumerate((150, 60, 200))}
    call = picture(seed, dtype="int8", dtc=dtc)
    raw = picture(seed, dtype="uint8").run().astype(int)
    actual = call.run()
    inside = slice(2, 2 + call.arguments["params"].horiz_size)
    for c, mean in enumerate((150, 60, 200)):
        actual[:, inside, c] = ((raw[:, inside, c] - mean + 128) % 256 - 128).astype(np.int8)
    return Device(actual, call)


def int8_saturated(seed: int) -> Device:
    """Return a device that saturates where the open kernel's rules wrap."""
    dtc = {f"dtc_mean_ch{i}": mean for i, mean in enumerate((150, 60, 200))}
    call = picture(seed, dtype="int8", dtc=dtc, product=Product.ATLAS_350, profile="dav_3510")
    return Device(picture(seed, dtype="int8", dtc=dtc).run(), call)


def bilinear_rounded(rounding: str, *, once: bool) -> Fault:
    """Return a fault of BilinearInterpolation's rounding, element by element."""

    def fault(seed: int) -> Device:
        call = bilinear(seed)
        a = call.arguments
        actual = call.run()
        lanes = [bool(a["mask"][i // 64] >> (i % 64) & 1) for i in range(128)]
        for v in range(a["v_repeat"]):
            for lane in range(128):
                if not lanes[lane]:
                    continue
                block, inner = divmod(lane, 16)
                total = 0.0
                for h in range(a["h_repeat"]):
                    i = v * a["h_repeat"] + h
                    sample = float(a["src0"][int(a["src0_offset"][8 * i + block]) // 2 + inner])
                    product = sample * float(a["src1"][8 * i + block if a["repeat_mode"] else i])
                    product = product if once else float(to_half(product, rounding))
                    total = total + product if once else float(to_half(total + product, rounding))
                actual[v * a["v_roffset"] + block * 16 * a["dst_blk_stride"] + inner] = to_half(total, rounding)
        return Device(actual, call)

    return fault


def conv_in_float(seed: int, dtype: Any = np.float16) -> Device:
    """Return a device that adds up in float32, one product after the other in the order of K."""
    call = convolution(seed, dtype)
    a = call.arguments
    golden = call.run()
    actual = np.zeros_like(golden)
    left, _, top, _ = a["pads"]
    for index in np.ndindex(*golden.shape[:3]):
        n, oy, ox = index
        total = np.zeros(golden.shape[3], np.float32)
        k = 0
        c0 = 32 // np.dtype(dtype).itemsize
        for c1, kh, kw in np.ndindex(16 // c0, 3, 3):
            y, x = oy * 2 + kh - top, ox + kw - left
            inside = 0 <= y < a["fmap"].shape[1] and 0 <= x < a["fmap"].shape[2]
            for c in range(c1 * c0, c1 * c0 + c0):
                value = np.float32(a["fmap"][n, y, x, c]) if inside else np.float32(0)
                total = total + value * a["weight"][k].astype(np.float32)
                k += 1
        actual[index] = total.astype(dtype)
    return Device(actual, call)


def shift(step: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return an edit that moves everything on, 77 coming in."""

    def edit(right: np.ndarray) -> np.ndarray:
        flat = np.full_like(right.reshape(-1), 77)
        if step > 0:
            flat[step:] = right.reshape(-1)[:-step]
        else:
            flat[:step] = right.reshape(-1)[-step:]
        return flat

    return edit


def column_shift(right: np.ndarray) -> np.ndarray:
    """Move every row of a picture by a pixel."""
    moved = right.copy()
    moved[:, 1:] = right[:, :-1]
    return moved


def square_transposed(right: np.ndarray) -> np.ndarray:
    """Transpose every 16 x 16 square of 16 x 32 fractals."""
    wrong = right.copy()
    for f in np.ndindex(*right.shape[:2]):
        for square in (0, 16):
            wrong[f][:, square : square + 16] = right[f][:, square : square + 16].T
    return wrong


def odd_floats(seed: int) -> np.ndarray:
    """Return halves with infinities, NaNs, negative zeros and subnormals."""
    rng = np.random.default_rng(seed)
    values = numbers(rng, ((12, 20), (7, 33))[seed - 1], np.float16)
    for odd in (np.inf, -np.inf, -0.0, 3e-6, -5e-7, 65504, -65504):
        values.reshape(-1)[rng.choice(values.size, 5, replace=False)] = odd
    return values


MASK = [0xF0F1_00FF_7FFF_0003, 0x1234_FFFF_0FF0_8001]
FLOATS = drawn(((6, 40), (11, 24)), np.float32)
HALVES = drawn(((6, 40), (11, 24)), np.float16)
BYTES = drawn(((6, 40), (11, 24)), np.int8)
HWC = drawn(((6, 10, 3), (5, 9, 4)), np.uint8)
HWC32 = drawn(((6, 10, 32), (5, 7, 48)), np.float16)

FAULTS: dict[str, tuple[str, Fault]] = {
    "fractals transposed, half": ("transposed fractal", edited(load, lambda g: g.swapaxes(2, 3))),
    "fractals written by columns, int8": (
        "transposed fractal",
        edited(lambda s: load(s, np.int8), lambda g: g.swapaxes(2, 3)),
    ),
    "fractals read by columns, int8": (
        "transposed fractal",
        edited(lambda s: load(s, np.int8), lambda g: g.reshape(-1, 32, 16).swapaxes(1, 2)),
    ),
    "squares transposed, int8": ("transposed fractal", edited(lambda s: load(s, np.int8), square_transposed)),
    "fractals transposed, v1": ("transposed fractal", edited(load_v1, lambda g: g.swapaxes(1, 2))),
    **{
        f"{written} taken for {taken} in {own}": (f"{written} read as {taken}", misread(own, written, taken))
        for own, written, taken in (
            ("ZZ", "NZ", "ZZ"),
            ("ZZ", "ZZ", "NZ"),
            ("NZ", "ZZ", "NZ"),
            ("NZ", "NZ", "ZZ"),
            ("ZN", "NZ", "ZN"),
            ("NZ", "ZN", "NZ"),
            ("ZZ", "ZN", "ZZ"),
            ("ZN", "ZZ", "ZN"),
            ("ND", "NZ", "ND"),
            ("ND", "ZZ", "ND"),
            ("ND", "ZN", "ND"),
            ("NZ", "ND", "NZ"),
            ("ZZ", "ND", "ZZ"),
            ("ZN", "ND", "ZN"),
            ("ND", "NZ", "ZZ"),
            ("ND", "ZZ", "NZ"),
            ("ND", "ZN", "NZ"),
        )
    },
    "im2col transposed": ("DN read as ND", edited(matrix, lambda g: g.T)),
    "picture transposed": ("picture transposed", edited(HWC, lambda g: g.swapaxes(0, 1))),
    "CHW": ("layout CHW/HWC", edited(HWC, lambda g: g.transpose(2, 0, 1))),
    "NC1HWC0 instead of HWC": (
        "layout HWC/NC1HWC0",
        edited(HWC32, lambda g: g.reshape(*g.shape[:2], -1, 16).transpose(2, 0, 1, 3)),
    ),
    "HWC instead of NC1HWC0": (
        "layout HWC/NC1HWC0",
        edited(drawn(((2, 5, 7, 16), (3, 4, 6, 16)), np.float16), lambda g: g.transpose(1, 2, 0, 3), layout="NC1HWC0"),
    ),
    "BGR": ("RGB/BGR", channel((2, 1, 0), csc="rgb_to_yuv_jpeg")),
    "BGR before the matrix": (
        "RGB/BGR",
        changed(lambda s: picture(s, csc="rgb_to_yuv_jpeg"), "config", swap_params=AippSwapParams(is_swap_rb=True)),
    ),
    "UV exchanged": ("U/V swapped", channel((0, 2, 1), yuv=True, dtype="uint8")),
    "UV exchanged before the matrix": (
        "U/V swapped",
        changed(
            lambda s: picture(s, yuv=True, csc="yuv_to_rgb_jpeg"), "config", swap_params=AippSwapParams(is_swap_uv=True)
        ),
    ),
    "channels rotated": ("channel order", channel((1, 2, 0), dtype="uint8")),
    "channel 0 last": ("channel order", edited(HWC, lambda g: np.roll(g, -1, axis=2))),
    "tail of zeros": ("tail unwritten", tail(lambda n: n - 37, 0, matrix)),
    "tail of poison": ("tail unwritten", tail(lambda n: n - 37, -99, load)),
    "tail of NaN": ("tail unwritten", tail(lambda n: n // 2, np.nan, HALVES)),
    "nothing written": ("tail unwritten", tail(lambda n: 0, 0, bilinear)),
    "tail as before": ("tail unwritten", out_kept),
    "filter": ("size off", changed(load, "params", filter_w=1)),
    "the width of the map": ("size off", lambda s: narrower(s)),
    "one repeat less": ("repeats off", lambda s: fewer_repeats(s)),
    "a lane more": ("mask one off", changed(lambda s: padding(s, mask=77, pad_mode=0), mask=78)),
    "offsets in elements": (
        "one stride off",
        changed(bilinear, src0_offset=lambda c: c.arguments["src0_offset"] * 2),
    ),
    "bias of the other direction": (
        "bias convention",
        other_direction,
    ),
    "a block in the middle": ("part unwritten", middle),
    "tails of all rows": (
        "tail unwritten",
        edited(HALVES, lambda g: np.where(np.arange(g.shape[1]) < 19, g, 0).astype(g.dtype)),
    ),
    "last fractal column": (
        "tail unwritten",
        edited(load, lambda g: np.where(np.arange(16) < 9, g, 0).astype(g.dtype)),
    ),
    "big-endian": ("byte order", edited(HALVES, lambda g: g.byteswap())),
    "big-endian float": ("byte order", edited(FLOATS, lambda g: g.byteswap())),
    "halves of words": (
        "word order",
        edited(
            FLOATS,
            lambda g: np.ascontiguousarray(g.reshape(-1).view(np.uint16).reshape(-1, 2)[:, ::-1]).view(np.float32),
        ),
    ),
    "pairs of bytes": ("word order", edited(BYTES, lambda g: g.reshape(-1, 2)[:, ::-1])),
    "fours of bytes": ("word order", edited(BYTES, lambda g: g.reshape(-1, 4)[:, ::-1])),
    "bfloat16 instead of half": ("wrong type", edited(HALVES, lambda g: as_bfloat16(g))),
    "uint8 instead of int8": ("wrong type", edited(BYTES, lambda g: np.maximum(g, 0))),
    "zero point 128": ("wrong type", edited(BYTES, lambda g: (g.astype(int) + 128).astype(np.uint8).view(np.int8))),
    "int32 instead of float": ("wrong type", edited(FLOATS, lambda g: np.rint(g).astype(np.int32).view(np.float32))),
    "wrap instead of saturate, int8": ("wrap instead of saturate", int8_wrap),
    "saturate instead of wrap, int8": ("saturate instead of wrap", int8_saturated),
    "wrap instead of saturate, colours": (
        "wrap instead of saturate",
        colours(lambda p, m, b: [(s >> 8) % 256 for s in sums(p, m, b)]),
    ),
    "no bias": ("bias convention", colours(lambda p, m, b: [limit(s >> 8) for s in sums(p, m, (0, 0, 0))])),
    "bias added": (
        "bias convention",
        colours(lambda p, m, b: [limit(s >> 8) for s in sums(p, m, tuple(-x for x in b))]),
    ),
    "quotient rounded": (
        "wrong rounding",
        colours(lambda p, m, b: [limit((s + 128) >> 8) for s in sums(p, m, b)]),
    ),
    "quotient cut": ("wrong rounding", quotient_cut),
    "matrix transposed": (
        "colour matrix",
        colours(lambda p, m, b: [limit(s >> 8) for s in sums(p, np.transpose(m).tolist(), b)]),
    ),
    "matrix rows": (
        "colour matrix",
        changed(
            lambda s: picture(s, yuv=True, csc="yuv_to_rgb_jpeg"),
            "config",
            csc_params=AippColorSpaceConvParams.from_matrix(
                CSC_PRESETS["yuv_to_bgr_jpeg"][0].tolist(), bias_out=CSC_PRESETS["yuv_to_bgr_jpeg"][1]
            ),
        ),
    ),
    "half cut": ("wrong rounding", halves("cut")),
    "half away": ("wrong rounding", halves("away", yuv=True)),
    "half down": ("wrong rounding", halves("down")),
    "the kernel's profile": (
        "other profile",
        lambda s: Device(
            picture(
                s,
                yuv=True,
                csc="yuv_to_rgb_bt601_narrow",
                bias_sides=("bias_in", "bias_out"),
                product=Product.ATLAS_350,
                profile="dav_3510",
            ).run(),
            picture(
                s,
                yuv=True,
                csc="yuv_to_rgb_bt601_narrow",
                bias_sides=("bias_in", "bias_out"),
                product=Product.ATLAS_350,
            ),
        ),
    ),
    "sums rounded once": ("wrong rounding", bilinear_rounded("even", once=True)),
    "products and sums cut": ("wrong rounding", bilinear_rounded("cut", once=False)),
    "float sums": ("order of the sums", conv_in_float),
    "float sums, float results": ("order of the sums", lambda s: conv_in_float(s, np.float32)),
    "stride": ("one stride off", changed(load, "params", stride_w=1)),
    "stride h": ("one stride off", changed(load, "params", stride_h=2)),
    "dilation": ("one stride off", changed(load, "params", dilation_filter_w=1)),
    "stride, im2col": ("one stride off", changed(matrix, "params", stride_h=1)),
    "strides, conv2d": ("one stride off", changed(convolution, strides=(1, 1))),
    "block stride": ("one stride off", changed(padding, repeat_params=UnaryRepeatParams(1, 1, 16, 8))),
    "repeat stride": ("one stride off", changed(padding, repeat_params=UnaryRepeatParams(2, 1, 16, 9))),
    "v offset": ("one stride off", changed(bilinear, v_roffset=144)),
    "jump": ("one stride off", changed(load_v1, "params", jump_stride=2)),
    "pitch": ("one stride off", lambda s: sheared(s)),
    "rows one too far apart": ("one stride off", edited(HALVES, pitched(1, 1))),
    "rows one too close": ("one stride off", edited(BYTES, pitched(1, -1))),
    "rows padded to DataBlocks": ("one stride off", edited(HALVES, pitched(1, 8))),
    "pixel rows of another pitch": ("one stride off", edited(HWC, lambda g: pitched(1, g.shape[2], read=True)(g))),
    "fractal columns a DataBlock too far apart": (
        "one stride off",
        edited(drawn(((3, 2, 16, 16), (4, 3, 16, 16)), np.float16), pitched(1, 16)),
    ),
    "padding": ("one padding off", changed(load, "params", pad_list=(0, 2, 0, 1))),
    "padding, im2col": ("one padding off", changed(matrix, "params", pad_list=(1, 0, 1, 0))),
    "padding of a picture": (
        "one padding off",
        changed(lambda s: picture(s, dtype="uint8"), "params", left_pad_size=3),
    ),
    "paddings exchanged": ("parameters exchanged", changed(load, "params", pad_list=(2, 1, 1, 0))),
    "strides exchanged": (
        "parameters exchanged",
        changed(lambda s: load(s, stride_h=3, m_extension=16), "params", stride_h=2, stride_w=3),
    ),
    "start": ("start off", changed(load, "params", k_start_pt=16)),
    "window": ("start off", changed(lambda s: picture(s), "params", vert_start_pos=3)),
    "transposed on the way": ("flag turned round", changed(load, "params", en_transpose=True)),
    "other side": (
        "flag turned round",
        changed(lambda s: padding(s, pad_mode=0), pad_side=lambda c: not c.arguments["pad_side"]),
    ),
    "one weight for all": (
        "flag turned round",
        changed(bilinear, repeat_mode=lambda c: not c.arguments["repeat_mode"]),
    ),
    "other mode": ("mode mistaken", changed(padding, pad_mode=2)),
    "mask words": ("mask words in the wrong order", changed(padding, mask=MASK[::-1])),
    "mask words, bilinear": ("mask words in the wrong order", changed(bilinear, mask=MASK[::-1])),
    "mask ignored": ("mask ignored", changed(padding, mask=[2**64 - 1, 2**64 - 1])),
    "mask turned round": ("mask turned round", changed(padding, mask=[~word & (2**64 - 1) for word in MASK])),
    "number for bits": ("mask taken for bits", changed(lambda s: padding(s, mask=77), mask=[77, 0])),
    "mean forgotten": (
        "parameter ignored",
        changed(
            lambda s: picture(s),
            "config",
            dtc_params=AippDataTypeConvParams(
                dtc_mean_ch0=104,
                dtc_mean_ch1=117,
                dtc_min_ch0=1.5,
                dtc_min_ch1=-3.25,
                dtc_min_ch2=7.0,
                dtc_var_ch0=0.0171,
                dtc_var_ch1=0.0175,
                dtc_var_ch2=0.0174,
            ),
        ),
    ),
    "channel padding forgotten": (
        "parameter ignored",
        lambda s: Device(
            picture(s, dtype="uint8").run(),
            picture(s, dtype="uint8", config={"c_padding_params": AippChannelPaddingParams(c_padding_value=9)}),
        ),
    ),
    "an element late": ("shifted", edited(HALVES, shift(1))),
    "a DataBlock early": ("shifted", edited(HALVES, shift(-16))),
    "a row late": ("shifted", edited(HWC, lambda g: shift(g.shape[1] * g.shape[2])(g))),
    "a pixel late in each row": ("shifted", edited(HWC, column_shift)),
    "signs": ("sign", edited(HALVES, lambda g: -g)),
    "magnitudes": ("sign", edited(BYTES, lambda g: np.abs(g))),
    "ReLU": ("sign", edited(HALVES, lambda g: np.maximum(g, np.float16(0)))),
    "infinities saturated": ("saturate instead of infinity", edited(odd_floats, lambda g: np.clip(g, -65504, 65504))),
    "largest become infinite": (
        "infinity instead of saturate",
        edited(odd_floats, lambda g: np.where(np.abs(g) == 65504, np.copysign(np.inf, g), g).astype(np.float16)),
    ),
    "subnormals": (
        "subnormals flushed",
        edited(odd_floats, lambda g: np.where(np.abs(g) < 6.1e-5, 0, g).astype(np.float16)),
    ),
    "negative zeros": ("zeros without sign", edited(odd_floats, lambda g: g + np.float16(0))),
}
"""Name -> (the cause that must be named first, the simulated device)."""


def as_bfloat16(halves_: np.ndarray) -> np.ndarray:
    """Return the upper halves of the float32 numbers, rounded to even, read as half."""
    bits = halves_.astype(np.float32).view(np.uint32).astype(np.uint64)
    upper = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return upper.astype(np.uint16).view(np.float16)


def sheared(seed: int) -> Device:
    """Return a device that takes the picture's rows for two pixels longer."""
    call = picture(seed, dtype="uint8")
    src = call.arguments["setup"].src0
    height, width, _ = src.shape
    actual = call.run()
    params = call.arguments["params"]
    flat = np.append(src.reshape(-1), np.zeros(1000, np.uint8))
    for y in range(params.vert_size):
        for x in range(params.horiz_size):
            start = ((y + params.vert_start_pos) * (width + 2) + x + params.horiz_start_pos) * 3
            actual[y, x + params.left_pad_size, :3] = flat[start : start + 3]
    assert height > params.vert_size + params.vert_start_pos
    return Device(actual, call)


def repeated(seed: int) -> Call:
    """Return a call of Load3Dv2 with repeats."""
    call = load(seed)
    params = dataclasses.replace(call.arguments["params"], m_extension=16)
    return Call(load_data_3d_v2, {**call.arguments, "params": params,
                                  "repeat": LoadDataRepeatParam(repeat_time=2, repeat_stride=1)})  # fmt: skip


def narrower(seed: int) -> Device:
    """Return a device that takes the rows of the feature map for a pixel shorter than they are."""
    call = load(seed, channel_size=16)
    params, src = call.arguments["params"], call.arguments["src"][:1]
    right = Call(load_data_3d_v2, {"src": src, "params": params})
    width = params.l1_w - 1
    short = np.ascontiguousarray(src.reshape(-1)[: params.l1_h * width * 16]).reshape(1, params.l1_h, width, 16)
    wrong = load_data_3d_v2(short, dataclasses.replace(params, l1_w=width))
    return Device(cut(wrong, right.run()), right)


def fewer_repeats(seed: int) -> Device:
    """Return a device that stops a repeat early where the results lie apart, so that no tail is missing."""
    out = numbers(np.random.default_rng(seed + 70), (2048,), np.int16)
    call = padding(seed, mask=128, repeat_time=3, repeat_params=UnaryRepeatParams(3, 1, 1, 8))
    size = call.run().size
    call = Call(vector_padding, {**call.arguments, "out": out[:size].copy()})
    wrong = vector_padding(**{**call.arguments, "repeat_time": 2, "out": None})
    kept = out[:size].copy()
    lanes = np.zeros(size, bool)
    for repeat in range(2):
        for block in range(8):
            start = (repeat + 3 * block) * 16
            lanes[start : start + 16] = True
    kept[: wrong.size][lanes[: wrong.size]] = wrong[lanes[: wrong.size]]
    return Device(kept, call)
