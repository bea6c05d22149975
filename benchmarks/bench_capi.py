"""C API: the conv2d kernel on the emulated core, and its golden data.

The kernel is the document's own, with every check on and its history recorded.  Its peer is the document's golden
code: seven nested loops, in Python on plain numbers.  The golden convolution's peers are the same loops and torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ascendlab.capi import launch
from ascendlab.capi.conv2d_example import EXAMPLE, Conv2dShape, conv2d_forward_capi, make_inputs
from benchmarks.measure import Case, assert_same_bytes

try:
    import torch
except ImportError:
    torch = None
else:
    torch.set_num_threads(1)

LOOPS, TORCH = "the example's loops in Python", "torch conv2d in float32, half to half"


def _loops(fmap: list[float], weight: list[float], s: Conv2dShape) -> list[float]:
    """Run the example's golden loops, line for line, on Python's own numbers; only its index functions are inlined."""
    golden = [0.0] * (s.BATCH * s.OUTPUT_BATCH_SIZE)
    H, W, CIN, COUT, C0, C1, KH, KW = s.H, s.W, s.CIN, s.COUT, 16, s.C1, s.KH, s.KW  # noqa: N806
    for n in range(s.BATCH):
        for ho in range(s.HOUT):
            for wo in range(s.WOUT):
                for co in range(COUT):
                    acc = 0.0
                    for c1 in range(C1):
                        for kh in range(KH):
                            for kw in range(KW):
                                hi = ho * s.STRIDE_H + kh * s.DILATION_H - s.PAD_TOP
                                wi = wo * s.STRIDE_W + kw * s.DILATION_W - s.PAD_LEFT
                                for c0 in range(C0):
                                    ci = c1 * C0 + c0
                                    x = (
                                        s.PAD_VALUE
                                        if hi < 0 or hi >= H or wi < 0 or wi >= W
                                        else fmap[((n * H + hi) * W + wi) * CIN + ci]
                                    )
                                    acc += x * weight[(((c1 * KH + kh) * KW + kw) * C0 + c0) * COUT + co]
                    golden[((n * s.HOUT + ho) * s.WOUT + wo) * COUT + co] = acc
    return golden


def _torch(fmap: np.ndarray, weight: np.ndarray, s: Conv2dShape) -> Callable[[], Any]:
    """Do the same in torch: from the same arrays of half, to an array of half in the same order."""
    maps = torch.from_numpy(fmap.reshape(s.BATCH, s.H, s.W, s.CIN))
    columns = torch.from_numpy(weight.reshape(s.C1, s.KH, s.KW, 16, s.COUT))

    def run() -> np.ndarray:
        filters = columns.permute(4, 0, 3, 1, 2).reshape(s.COUT, s.CIN, s.KH, s.KW).float()
        result = torch.nn.functional.conv2d(
            maps.permute(0, 3, 1, 2).float(), filters, stride=(s.STRIDE_H, s.STRIDE_W),
            padding=(s.PAD_TOP, s.PAD_LEFT), dilation=(s.DILATION_H, s.DILATION_W),
        )  # fmt: skip
        return result.half().permute(0, 2, 3, 1).contiguous().numpy()

    return run


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases."""
    s = Conv2dShape(BATCH=1, C1=1) if small else EXAMPLE
    fmap, weight, output = make_inputs(s)
    plain = fmap.reshape(-1).astype(float).tolist(), weight.reshape(-1).astype(float).tolist()
    expected = np.array(_loops(*plain, s)).reshape(output.shape).astype(np.float16)
    peers: dict[str, Callable[[], Any]] = {LOOPS: lambda: _loops(*plain, s)}

    def run() -> None:
        launch(conv2d_forward_capi, s.BATCH, fmap, weight, output, s)

    def check_kernel() -> None:
        output.fill(np.nan)
        run()
        assert_same_bytes(output, expected)

    yield Case(f"conv2d kernel, {s.BATCH} blocks", run, check_kernel, dict(peers), limits={LOOPS: 0.1})
    launched = launch(conv2d_forward_capi, s.BATCH, fmap, weight, output, s)
    core = launched.cores[0]

    def show() -> None:
        for step in (5, 20, len(core.steps) - 7):
            state = core.at(step)
            for buffer in core.buffers:
                state.memory_map(buffer)

    yield Case("memory maps of four buffers after three earlier steps", show, lambda: None, limit_ms=50)
    if torch is not None:
        peers[TORCH] = _torch(fmap, weight, s)

    def check_golden() -> None:
        assert_same_bytes(s.golden(fmap, weight), expected)
        if torch is not None:
            assert_same_bytes(peers[TORCH](), expected)

    yield Case(
        f"golden convolution, {s.BATCH} x {s.H} x {s.W} x {s.CIN}, half",
        lambda: s.golden(fmap, weight),
        check_golden,
        dict(peers),
        limits={TORCH: 1.0, LOOPS: 0.001},
    )
