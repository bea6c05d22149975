"""AIPP: picture to L1 layout.

The peer is OpenCV doing the same job: clear the buffer, convert the colours, look up a table per channel, add the
border, write the first three channels.  Its colours may differ by rounding, since its coefficients are its own; the
plain NumPy version must agree bit for bit.  The other formats and settings are held against NV12 of the same size.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ascendlab.aipp import (
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSwapParams,
    LoadImageToLocalParams,
    csc_preset,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.errors import KernelLimitWarning
from ascendlab.products import Product
from benchmarks.measure import Case, assert_same_bytes, copy_of

try:
    import cv2
except ImportError:
    cv2 = None
else:
    cv2.setNumThreads(1)

PAD = 32
MEANS = np.array([100, 110, 120])
SAME, NO_FILL = "OpenCV", "OpenCV, channel padding not written"


def _window(height: int, width: int, pad: int = PAD) -> LoadImageToLocalParams:
    return LoadImageToLocalParams(
        horiz_size=width, vert_size=height, src_horiz_size=width,
        top_pad_size=pad, bot_pad_size=pad, left_pad_size=pad, right_pad_size=pad,
    )  # fmt: skip


def _config(preset: str | None = None, profile: str = "documented", **swap: bool) -> AippParams:
    more: dict[str, Any] = {"csc_params": csc_preset(preset, profile)} if preset else {}
    return AippParams(
        padding_params=AippPaddingParams(padding_mode=1),
        swap_params=AippSwapParams(**swap),
        dtc_params=AippDataTypeConvParams(**{f"dtc_mean_ch{i}": int(m) for i, m in enumerate(MEANS)}),
        **more,
    )


def _finish(channels: np.ndarray, dtype: np.dtype[Any], pad: int = PAD) -> np.ndarray:
    """Convert the type, add the border and the channel padding, the plain way."""
    centred = channels.astype(np.int32) - MEANS[: channels.shape[2]]
    if dtype == np.int8:
        centred = np.clip(centred, -128, 127)
    border = np.pad(centred.astype(dtype), ((pad, pad), (pad, pad), (0, 0)), mode="edge")
    result = np.zeros((*border.shape[:2], 32 // dtype.itemsize), dtype)
    result[:, :, : border.shape[2]] = border
    return result


def _plain_nv12(nv12: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """NV12 to RGB and so on in vectorised NumPy, as one writes it first."""
    height = nv12.shape[0] * 2 // 3
    matrix = np.array([[298, 0, 409], [298, -100, -208], [298, 516, 0]], np.int32)
    chroma = nv12[height:].reshape(height // 2, -1, 2).repeat(2, axis=0).repeat(2, axis=1)
    yuv = np.dstack([nv12[:height], chroma]).astype(np.int32) - np.array([16, 128, 128], np.int32)
    return _finish(np.clip(np.einsum("hwk,ck->hwc", yuv, matrix) >> 8, 0, 255), dtype)


def _opencv_nv12(nv12: np.ndarray, out: np.ndarray, *, fill: bool) -> Callable[[], None]:
    """OpenCV's way into a preallocated buffer, with or without writing the channels that only pad."""
    values = np.arange(256)[:, None] - MEANS
    values = np.clip(values, -128, 127).astype(np.int8) if out.dtype == np.int8 else values.astype(np.float16)
    # OpenCV's table look-up knows no half; 16-bit integers carry the bits.
    word = np.dtype(f"i{out.itemsize}")
    table, target, all_bytes = np.ascontiguousarray(values.view(word)[None]), out.view(word), out.view(np.uint8)
    # Its intermediate pictures are allocated beforehand too, which is OpenCV at its fastest.
    height, width = nv12.shape[0] * 2 // 3, nv12.shape[1]
    rgb, converted = np.empty((height, width, 3), np.uint8), np.empty((height, width, 3), word)
    border = np.empty((*out.shape[:2], 3), word)

    def run() -> None:
        if fill:
            all_bytes.fill(0)
        cv2.cvtColor(nv12, cv2.COLOR_YUV2RGB_NV12, dst=rgb)
        cv2.LUT(rgb, table, dst=converted)
        cv2.copyMakeBorder(converted, PAD, PAD, PAD, PAD, cv2.BORDER_REPLICATE, dst=border)
        cv2.mixChannels([border], [target], [0, 0, 1, 1, 2, 2])

    return run


def _nv12_case(height: int, width: int, kind: str, limit: float) -> Case:
    # Narrow-range samples: OpenCV takes luma below 16 as 16, which the matrix alone does not.
    nv12 = np.random.default_rng(height).integers(16, 241, (height * 3 // 2, width), dtype=np.uint8)
    setup = set_aipp_functions(
        nv12[:height], nv12[height:],
        input_format=AippInputFormat.YUV420SP_U8, dtype=kind, config=_config("yuv_to_rgb_bt601_narrow"),
    )  # fmt: skip
    params = _window(height, width)
    dtype = setup.dtype.numpy
    out = np.ones((height + 2 * PAD, width + 2 * PAD, setup.dtype.c0), dtype)
    theirs = np.zeros_like(out)
    peers: dict[str, Callable[[], Any]] = {"copy": copy_of(out)}
    if cv2 is not None:
        peers |= {SAME: _opencv_nv12(nv12, theirs, fill=True), NO_FILL: _opencv_nv12(nv12, theirs, fill=False)}
    peers["plain NumPy (einsum)"] = lambda: _plain_nv12(nv12, dtype)

    def check() -> None:
        out.fill(1)
        load_image_to_local(setup, params, out=out)
        assert_same_bytes(out, _plain_nv12(nv12, dtype))
        if cv2 is not None:
            peers[SAME]()
            difference = np.abs(theirs.astype(np.int16) - out.astype(np.int16)).max()
            assert difference <= 3, f"OpenCV's colours are {difference} levels away: not the same job"

    return Case(
        f"NV12 to RGB, {width}x{height}, {kind}",
        lambda: load_image_to_local(setup, params, out=out),
        check,
        peers,
        limits={SAME: limit},
        limit_mib=8,
    )


_PATHS: dict[str, tuple[AippInputFormat, AippParams, str]] = {
    "NV12, dav_3510": (
        AippInputFormat.YUV420SP_U8, _config("yuv_to_rgb_bt601_narrow", "dav_3510"), "dav_3510"),
    "NV12 as it is, UV swapped": (AippInputFormat.YUV420SP_U8, _config(is_swap_uv=True), "documented"),
    "RGB888 to YUV": (AippInputFormat.RGB888_U8, _config("rgb_to_yuv_bt601_narrow"), "documented"),
    "RGB888 as it is": (AippInputFormat.RGB888_U8, _config(), "documented"),
    "XRGB8888, AX and RB swapped": (
        AippInputFormat.XRGB8888_U8, _config(is_swap_ax=True, is_swap_rb=True), "documented"),
    "YUV400 as it is": (AippInputFormat.YUV400_U8, _config(), "documented"),
}  # fmt: skip


def _plain(name: str, src: np.ndarray, chroma: np.ndarray) -> np.ndarray:
    """Return the channels of one of `_PATHS` before type conversion."""
    if name == "NV12, dav_3510":
        matrix = np.array([[298, 0, 409], [298, -100, -208], [298, 516, 0]])
        yuv = np.dstack([src, chroma]).astype(np.int32) - np.array([16, 128, 128])
        return np.trunc((np.einsum("hwk,ck->hwc", yuv, matrix) + 128) / 256).astype(np.int32) & 255
    if name == "NV12 as it is, UV swapped":
        return np.dstack([src, chroma[:, :, ::-1]])
    if name == "RGB888 to YUV":
        matrix = np.array([[66, 129, 25], [-38, -74, 112], [112, -94, -18]])
        return np.clip((np.einsum("hwk,ck->hwc", src.astype(np.int32), matrix) >> 8) + [16, 128, 128], 0, 255)
    if name == "YUV400 as it is":
        return src[:, :, None]
    return src[:, :, :0:-1] if name == "XRGB8888, AX and RB swapped" else src


def _path_case(name: str, height: int, width: int) -> Case:
    """Every other format beside NV12 with colour conversion: no path may fall behind."""
    input_format, config, profile = _PATHS[name]
    rng = np.random.default_rng(len(name))
    depth = {AippInputFormat.RGB888_U8: (3,), AippInputFormat.XRGB8888_U8: (4,)}.get(input_format, ())
    src = rng.integers(0, 256, (height, width, *depth), dtype=np.uint8)
    luma, uv = (rng.integers(0, 256, (h, width), dtype=np.uint8) for h in (height, height // 2))
    nv12 = AippInputFormat.YUV420SP_U8
    product = Product.ATLAS_350
    setup = set_aipp_functions(
        src, uv, input_format=input_format, dtype="half", config=config, product=product, profile=profile
    )
    yardstick = set_aipp_functions(
        luma, uv, input_format=nv12, dtype="half", config=_config("yuv_to_rgb_bt601_narrow"), product=product
    )
    params = _window(height, width)
    out = np.ones((height + 2 * PAD, width + 2 * PAD, 16), np.float16)

    def check() -> None:
        chroma = uv.reshape(height // 2, -1, 2).repeat(2, axis=0).repeat(2, axis=1)
        assert_same_bytes(run(), _finish(_plain(name, src, chroma), np.dtype(np.float16)))

    def run() -> np.ndarray:
        with warnings.catch_warnings():
            # More than the kernel's scratch memory, which is what a picture of this size is for.
            warnings.simplefilter("ignore", KernelLimitWarning)
            return load_image_to_local(setup, params, out=out)

    return Case(
        f"{name}, {width}x{height}, half",
        run,
        check,
        {"NV12 to RGB of the same size": lambda: load_image_to_local(yardstick, params, out=out)},
        limits={"NV12 to RGB of the same size": 2.0},
        limit_mib=8,
    )


def _small_case(height: int, width: int, pad: int) -> Case:
    """Configure and load, result and all: what an explorer does at every change."""
    rng = np.random.default_rng(width)
    luma, uv = (rng.integers(0, 256, (h, width), dtype=np.uint8) for h in (height, height // 2))
    config, params = _config("yuv_to_rgb_bt601_narrow"), _window(height, width, pad)

    def run() -> np.ndarray:
        setup = set_aipp_functions(luma, uv, input_format=AippInputFormat.YUV420SP_U8, dtype="half", config=config)
        return load_image_to_local(setup, params)

    def check() -> None:
        full = _plain_nv12(np.vstack([luma, uv]), np.dtype(np.float16))
        assert_same_bytes(run(), full[PAD - pad : full.shape[0] - PAD + pad, PAD - pad : full.shape[1] - PAD + pad])

    return Case(f"set up and load, {width}x{height}, half", run, check)


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases, one after another so that only one is in memory."""
    full_hd = (18, 34) if small else (1080, 1920)
    square = (6, 10) if small else (224, 224)
    for kind in ("half", "int8"):
        yield _nv12_case(*full_hd, kind, limit=1.3)
    for kind in ("half", "int8"):
        yield _nv12_case(*square, kind, limit=1.6)
    for name in _PATHS:
        yield _path_case(name, *full_hd)
    yield _small_case(8, 8, pad=2)
    yield _small_case(*((12, 10) if small else (256, 256)), pad=4)
