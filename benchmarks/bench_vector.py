"""Vector instructions: padding blocks, weighted sums of blocks, a resized photograph.

The peers are NumPy itself: its own half arithmetic, its reversed copy, and for the photograph the same calls of
BilinearInterpolation one by one.  All agree bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ascendlab.resize import bilinear_resize_plan
from ascendlab.vector import UnaryRepeatParams, bilinear_interpolation, vector_padding
from benchmarks.measure import Case, assert_same_bytes, copy_of

HALF_ARITHMETIC = "NumPy half arithmetic"
REVERSED = "NumPy reversed copy"
ONE_BY_ONE = "one call for each 128 columns of a line"


def _bilinear_case(h_repeat: int, v_repeat: int, *, repeat_mode: bool, read_again: int, limit: float = 1 / 1.6) -> Case:
    """Weighted sums; every block of the source is read `read_again` times on average."""
    rng = np.random.default_rng(h_repeat)
    count = 8 * h_repeat * v_repeat
    blocks = max(1, count // read_again)
    src0 = rng.normal(size=16 * blocks).astype(np.float16)
    src0_offset = (32 * rng.integers(0, blocks, count)).astype(np.uint32)
    src1 = (rng.random(count if repeat_mode else count // 8) / h_repeat).astype(np.float16)
    out = np.zeros(128 * v_repeat, np.float16)

    def ours() -> np.ndarray:
        return bilinear_interpolation(src0, src0_offset, src1, 128, h_repeat, repeat_mode, 1, 128, v_repeat, out=out)

    def plain() -> np.ndarray:
        gathered = src0.reshape(-1, 16)[src0_offset.reshape(v_repeat, h_repeat, 8) // 32]
        products = gathered * src1.reshape(v_repeat, h_repeat, -1, 1)
        total = products[:, 0]
        for k in range(1, h_repeat):
            total = total + products[:, k]
        return total.ravel()

    weights = "eight weights" if repeat_mode else "one weight"
    return Case(
        f"BilinearInterpolation {h_repeat}x{v_repeat}, {weights}, blocks read {read_again}x",
        ours,
        lambda: assert_same_bytes(ours(), plain()),
        {HALF_ARITHMETIC: plain},
        limits={HALF_ARITHMETIC: limit},
        limit_mib=4,
    )


def _padding_case(kib: float, pad_mode: int) -> Case:
    """As many halves as the count form takes."""
    src = np.random.default_rng(0).normal(size=int(kib * 512) // 16 * 16).astype(np.float16)
    out, theirs = np.zeros_like(src), np.zeros_like(src)
    mirrored = pad_mode == 1

    def plain() -> np.ndarray:
        np.copyto(theirs.reshape(-1, 16), src.reshape(-1, 16)[:, ::-1] if mirrored else src.reshape(-1, 16)[:, :1])
        return theirs

    def ours() -> np.ndarray:
        return vector_padding(src, pad_mode, False, count=src.size, out=out)

    peer = REVERSED if mirrored else "NumPy broadcast copy"
    return Case(
        f"VectorPadding mode {pad_mode}, {kib:g} KiB of half",
        ours,
        lambda: assert_same_bytes(ours(), plain()),
        {"copy": copy_of(src), peer: plain},
        # The call's checks weigh more beside the shorter copy.
        limits={peer: 1.5 if mirrored else 2.0},
        limit_mib=1,
    )


def _masked_case(repeats: int) -> Case:
    """Use a mask with gaps, and a stride between the destination blocks."""
    src = np.random.default_rng(1).integers(0, 2**16, 128 * repeats, dtype=np.uint16)
    mask = [0x5555_5555_5555_5555, 0x0F0F_0F0F_0F0F_0F0F]
    lanes = np.unpackbits(np.array(mask, "<u8").view(np.uint8), bitorder="little").astype(bool).reshape(8, 16)
    strides = UnaryRepeatParams(dst_blk_stride=2, dst_rep_stride=16)
    out = np.zeros(256 * repeats - 16, np.uint16)
    room = np.zeros((repeats, 8, 2, 16), np.uint16)

    def plain() -> np.ndarray:
        np.copyto(room[:, :, 0], src.reshape(-1, 8, 16)[:, :, ::-1], where=lanes)
        return room.ravel()[:-16]

    def ours() -> np.ndarray:
        return vector_padding(src, 1, True, mask=mask, repeat_time=repeats, repeat_params=strides, out=out)

    return Case(
        f"VectorPadding mode 1, {repeats} repeats, mask with gaps",
        ours,
        lambda: assert_same_bytes(ours(), plain()),
        {"NumPy masked copy": plain},
        limits={"NumPy masked copy": 2.0},
        limit_mib=1,
    )


def _resize_case(shape: tuple[int, int], out_shape: tuple[int, int]) -> Case:
    """Resize a photograph by calls of the instruction, and by the same arithmetic at once."""
    height, width = shape
    y, x = np.mgrid[:height, :width]
    noise = np.random.default_rng(2).normal(size=shape)
    picture = (127 + 60 * np.sin(x / 31) * np.cos(y / 17) + 9 * noise).astype(np.float16)
    large, small = bilinear_resize_plan(shape, out_shape), bilinear_resize_plan(shape, out_shape, lines_per_call=1)
    peers: dict[str, Callable[[], Any]] = {
        ONE_BY_ONE: lambda: small.run(picture, by_calls=True),
        "calls as large as the Unified Buffer allows": lambda: large.run(picture, by_calls=True),
    }

    def check() -> None:
        for peer in peers.values():
            assert_same_bytes(large.run(picture), peer())

    return Case(
        f"resize {width}x{height} to {out_shape[1]}x{out_shape[0]}, half",
        lambda: large.run(picture),
        check,
        peers,
        limits={ONE_BY_ONE: 0.1, "calls as large as the Unified Buffer allows": 0.8},
        limit_mib=8,
    )


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases, one after another so that only one is in memory."""
    size = 3 if small else 15
    yield _bilinear_case(size, size, repeat_mode=False, read_again=1)
    yield _bilinear_case(size, size, repeat_mode=False, read_again=8)
    yield _bilinear_case(size, size, repeat_mode=True, read_again=1)
    yield _bilinear_case(2, 5 if small else 127, repeat_mode=False, read_again=3, limit=0.8)
    yield _padding_case(1 if small else 248, 1)
    yield _padding_case(1 if small else 248, 0)
    yield _masked_case(3 if small else 255)
    yield _resize_case(*(((9, 140), (20, 30)) if small else ((512, 512), (768, 768))))
