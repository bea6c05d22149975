"""The table of mistakes for the tests of `compare`: which cause each simulated device must be given."""

from __future__ import annotations

import numpy as np
from compare_cases import Device, bilinear, convolution, load, load_v1, matrix, padding, picture
from compare_faults import (
    Fault,
    as_bfloat16,
    bilinear_rounded,
    changed,
    channel,
    colours,
    column_shift,
    conv_in_float,
    drawn,
    edited,
    fewer_repeats,
    halves,
    int8_saturated,
    int8_wrap,
    limit,
    middle,
    misread,
    narrower,
    odd_floats,
    other_direction,
    out_kept,
    pitched,
    quotient_cut,
    sheared,
    shift,
    square_transposed,
    sums,
    tail,
)

from ascendlab.aipp import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippSwapParams,
)
from ascendlab.aipp_params import CSC_PRESETS
from ascendlab.products import Product
from ascendlab.vector import UnaryRepeatParams

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
    "infinities saturated": (
        "saturate instead of infinity",
        edited(odd_floats, lambda g: np.clip(g, -65504, 65504).astype(np.float16)),
    ),
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
