"""Simulated devices with one mistake each, for the tests of `compare`.

They are simulated in plain loops or by NumPy, never by the guesses that they are to be found by.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from compare_cases import (
    Device,
    again,
    bilinear,
    convolution,
    cut,
    fill_matrix,
    in_layout,
    load,
    numbers,
    padding,
    picture,
    read_matrix,
    to_half,
)

from ascendlab.aipp import (
    AippColorSpaceConvParams,
    AippParams,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.load3d import (
    LoadDataRepeatParam,
    load_data_3d_v2,
)
from ascendlab.products import Product
from ascendlab.provenance import Call
from ascendlab.vector import UnaryRepeatParams, vector_padding

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
