"""Load3D: feature map to im2col fractals.

The limit is one plain copy of the result's bytes.  Peers do the same job from the same NC1HWC0 feature map into the
same layout: NumPy's sliding windows, padded and copied, and torch's unfold where torch is installed.  "Plan new"
means that the parameters were never seen before, so that the plan is built as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ascendlab.layouts import nd_to_nz, nd_to_zn, nd_to_zz
from ascendlab.load3d import LoadData3DParamsV2, im2col, load_data_3d_v2
from ascendlab.load3d_calls import forget_plans
from ascendlab.products import Product
from benchmarks.measure import Case, assert_same_bytes, copy_of

try:
    import torch
except ImportError:
    torch = None
else:
    torch.set_num_threads(1)

WINDOWS, TORCH = "NumPy sliding windows", "torch unfold"


def _params(channels: int, size: int, window: int, stride: int, dilation: int, pad: int, c0: int) -> LoadData3DParamsV2:
    count = (size + 2 * pad - (window - 1) * dilation - 1) // stride + 1
    return LoadData3DParamsV2(
        l1_h=size, l1_w=size, channel_size=channels, filter_h=window, filter_w=window, stride_h=stride,
        stride_w=stride, dilation_filter_h=dilation, dilation_filter_w=dilation, pad_list=(pad,) * 4,
        m_extension=count * count, k_extension=channels * window * window,
    )  # fmt: skip


def _windows(src: np.ndarray, params: LoadData3DParamsV2) -> np.ndarray:
    """Make the matrix as one writes it first: pad, slide, copy."""
    pad, stride, dilation = params.pad_list[0], params.stride_h, params.dilation_filter_h
    padded = np.pad(src, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    covered = (params.filter_h - 1) * dilation + 1
    view = np.lib.stride_tricks.sliding_window_view(padded, (covered, covered), (1, 2))
    view = view[:, ::stride, ::stride, :, ::dilation, ::dilation]
    return view.transpose(1, 2, 0, 4, 5, 3).reshape(view.shape[1] * view.shape[2], -1)


def _unfold(src: np.ndarray, params: LoadData3DParamsV2, c0: int) -> Callable[[], np.ndarray]:
    """Make the matrix with torch: unfold, then bring K into the order (c1, kh, kw, c0)."""
    nchw = torch.from_numpy(src).permute(0, 3, 1, 2).reshape(1, -1, params.l1_h, params.l1_w).contiguous()
    points = params.filter_h * params.filter_w

    def run() -> np.ndarray:
        columns = torch.nn.functional.unfold(
            nchw.to(torch.float32), (params.filter_h, params.filter_w), dilation=params.dilation_filter_h,
            padding=params.pad_list[0], stride=params.stride_h,
        )  # fmt: skip
        matrix = columns.reshape(-1, c0, points, columns.shape[-1]).permute(3, 0, 2, 1)
        return matrix.reshape(columns.shape[-1], -1).to(nchw.dtype).contiguous().numpy()

    return run


def _case(
    name: str, src: np.ndarray, params: LoadData3DParamsV2, layout: str, limit: float, *, new: bool = False
) -> Case:
    lay: Callable[[np.ndarray], np.ndarray] = {
        "MK": np.asarray, "ZZ": nd_to_zz, "NZ": nd_to_nz, "ZN": nd_to_zn}[layout]  # fmt: skip
    expected = lay(_windows(src, params))
    out = np.ones_like(expected)
    product = Product.ATLAS_350 if layout == "NZ" else Product.ATLAS_A2

    def load() -> np.ndarray:
        if layout == "MK":
            return im2col(src, params, out=out)
        return load_data_3d_v2(src, params, product=product, out=out, dst="B2" if layout == "ZN" else "A2")

    def load_new() -> np.ndarray:
        forget_plans()
        return load()

    run = load_new if new else load
    peers: dict[str, Callable[[], Any]] = {"copy": copy_of(out)}
    if not new:
        peers[WINDOWS] = lambda: lay(_windows(src, params))
        if torch is not None:
            unfold = _unfold(src, params, src.shape[3])
            peers[TORCH] = lambda: lay(unfold())

    def check() -> None:
        # Rows past the last window keep what was there.
        out.fill(0)
        assert_same_bytes(run(), expected)
        if TORCH in peers:
            assert_same_bytes(peers[TORCH](), expected)

    # Beyond the result: one copy of the feature map; the plan, 8 bytes for each 32 of the result, where it is new;
    # pieces of fixed size.
    memory = src.nbytes * 1.05 + (out.nbytes / 4 * 1.05 if new else 0) + (2**20 if new or layout == "ZN" else 2**15)
    title = f"{name}, {layout}{', plan new' if new else ''}"
    return Case(title, run, check, peers, limits={"copy": limit} if limit else {}, limit_mib=memory / 2**20)


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases, one after another so that only one is in memory."""
    rng = np.random.default_rng(7)
    half, int8 = np.dtype(np.float16), np.dtype(np.int8)
    # name, channels, size, window, stride, dilation, pad, type, limits of MK, ZZ, NZ
    jobs: list[tuple[str, int, int, int, int, int, int, np.dtype[Any], tuple[float, float, float]]] = [
        ("32 x 9 x 9, 3x3 dilated, stride 2, half", 32, 9, 3, 2, 2, 2, half, (16, 16, 16)),
        ("64 x 56 x 56, 3x3, half", 64, 56, 3, 1, 1, 1, half, (1.35, 1.35, 1.5)),
        ("32 x 112 x 112, 7x7, stride 2, int8", 32, 112, 7, 2, 1, 3, int8, (1.35, 1.35, 2.0)),
        ("256 x 28 x 28, 3x3, half", 256, 28, 3, 1, 1, 1, half, (1.35, 1.35, 1.35)),
    ]
    for number, (name, channels, size, window, stride, dilation, pad, dtype, limits) in enumerate(jobs):
        side = min(size, 9) if small else size
        c0 = 32 // dtype.itemsize
        src = rng.integers(0, 100, (channels // c0, side, side, c0)).astype(dtype)
        params = _params(channels, side, window, stride, dilation, pad, c0)
        for layout, limit in zip(("MK", "ZZ", "NZ"), limits, strict=True):
            yield _case(name, src, params, layout, limit)
            if number:
                yield _case(name, src, params, layout, 3.2, new=True)
        if dtype == half:
            # Transposing every fractal is NumPy's limit; no promise.
            yield _case(name, src, params, "ZN", 0)
