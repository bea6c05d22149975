"""What the C API's calls do, written as plain loops from the documents, apart from the library's code."""

from __future__ import annotations

from typing import Any

import numpy as np


def make_golden(fmap: np.ndarray, weight: np.ndarray, s: Any) -> np.ndarray:
    """Run the example's golden loops: one product after the other, in float32, rounded to half at the end.

    `fmap` is (BATCH, H, W, CIN), `weight` (K, COUT), `s` has the example's constants.
    """
    golden = np.zeros((s.BATCH, s.HOUT, s.WOUT, s.COUT), np.float16)
    pad = np.float32(np.float16(s.PAD_VALUE))
    with np.errstate(all="ignore"):
        for n in range(s.BATCH):
            for ho in range(s.HOUT):
                for wo in range(s.WOUT):
                    acc = np.zeros(s.COUT, np.float32)
                    for c1 in range(s.C1):
                        for kh in range(s.KH):
                            for kw in range(s.KW):
                                hi = ho * s.STRIDE_H + kh * s.DILATION_H - s.PAD_TOP
                                wi = wo * s.STRIDE_W + kw * s.DILATION_W - s.PAD_LEFT
                                for c0 in range(16):
                                    inside = 0 <= hi < s.H and 0 <= wi < s.W
                                    x = np.float32(fmap[n, hi, wi, c1 * 16 + c0]) if inside else pad
                                    k = ((c1 * s.KH + kh) * s.KW + kw) * 16 + c0
                                    # All filters at once: their sums do not touch each other.
                                    acc = acc + x * weight[k].astype(np.float32)
                    golden[n, ho, wo] = acc.astype(np.float16)
    return golden


def nd2nz(source: bytes, args: dict[str, int], size: int) -> dict[int, int]:
    """Do ND2NZ, byte by byte: destination address -> value."""
    c0 = 32 // size
    written: dict[int, int] = {}
    for matrix in range(args["matrix_num"]):
        for n in range(args["rows"]):
            for d in range(-(-args["columns"] // c0) * c0):
                to = 32 * (matrix * args["matrix_stride"] + d // c0 * args["c0_stride"] + n * args["n_stride"])
                to += d % c0 * size
                start = matrix * args["matrix_bytes"] + n * args["row_bytes"] + d * size
                for byte in range(size):
                    assert to + byte not in written
                    written[to + byte] = source[start + byte] if d < args["columns"] else 0
    return written


def fractals(source: np.ndarray, args: dict[str, int], transpose: bool) -> dict[int, Any]:
    """Load fractals, element by element: destination element -> value, from a flat L1 array."""
    c0 = 32 // source.dtype.itemsize
    per = 16 * c0
    written: dict[int, Any] = {}
    first = args["k_start"] * abs(args["src_stride"]) + args["m_start"]
    for row in range(args["m_step"] * 16):
        for column in range(args["k_step"] * c0):
            fractal = first + column // c0 * args["src_stride"] + row // 16
            value = source[fractal * per + row % 16 * c0 + column % c0]
            r, c = (column, row) if transpose else (row, column)
            to = (c // c0 * args["dst_stride"] + r // 16) * per + r % 16 * c0 + c % c0
            assert to not in written
            written[to] = value
    return written


def to_operand(matrix: np.ndarray) -> np.ndarray:
    """Lay a matrix (rows, K) out as A lies in L0A and B's transpose in L0B, zeros where nothing is."""
    rows, k = matrix.shape
    c0 = 32 // matrix.dtype.itemsize
    out = np.zeros(-(-k // c0) * -(-rows // 16) * 16 * c0, matrix.dtype)
    for row in range(rows):
        for column in range(k):
            out[(column // c0 * -(-rows // 16) + row // 16) * 16 * c0 + row % 16 * c0 + column % c0] = matrix[
                row, column
            ]
    return out


def from_l0c(data: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Read a matrix from L0C: fractals of 16 x 16, columns of fractals one after the other."""
    high = -(-rows // 16) * 16
    return np.array([[data[c // 16 * high * 16 + r * 16 + c % 16] for c in range(columns)] for r in range(rows)])


def mmad(a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """Multiply (m, k) by (k, n) in float32, one product after the other; int8 in exact integers, saturated."""
    (m, k), n = a.shape, b.shape[1]
    if a.dtype == np.int8:
        out = np.zeros((m, n), np.int64) if start is None else start.astype(np.int64)
        for row in range(m):
            for column in range(n):
                out[row, column] += sum(int(a[row, i]) * int(b[i, column]) for i in range(k))
        return np.clip(out, -(2**31), 2**31 - 1).astype(np.int32)
    total = np.zeros((m, n), np.float32) if start is None else start.astype(np.float32)
    with np.errstate(all="ignore"):
        for row in range(m):
            for column in range(n):
                value = total[row, column]
                for i in range(k):
                    value = np.float32(value + np.float32(np.float32(a[row, i]) * np.float32(b[i, column])))
                total[row, column] = value
    return total


def im2col(fmap: np.ndarray, kernel, stride, dilation, pads, pad_value) -> np.ndarray:
    """Make the im2col matrix of a map (H, W, C) with C a multiple of C0: columns run over (c1, kh, kw, c0)."""
    height, width, channels = fmap.shape
    c0 = 32 // fmap.dtype.itemsize
    left, right, top, bottom = pads
    ho = (height + top + bottom - (kernel[0] - 1) * dilation[0] - 1) // stride[0] + 1
    wo = (width + left + right - (kernel[1] - 1) * dilation[1] - 1) // stride[1] + 1
    out = np.full((ho * wo, channels * kernel[0] * kernel[1]), pad_value, fmap.dtype)
    for m in range(ho * wo):
        k = 0
        for c1 in range(channels // c0):
            for kh in range(kernel[0]):
                for kw in range(kernel[1]):
                    row = m // wo * stride[0] + kh * dilation[0] - top
                    column = m % wo * stride[1] + kw * dilation[1] - left
                    if 0 <= row < height and 0 <= column < width:
                        out[m, k : k + c0] = fmap[row, column, c1 * c0 : (c1 + 1) * c0]
                    k += c0
    return out
