"""A fast convolution as golden data for the conv2d kernels.

The sums are made in float64 and rounded once at the end.  The matrix unit adds in float32, one product after the
other, so on general data about one result of 700 differs in its last bit from `ascendlab.capi`'s `asc_mmad`, which
follows that order; on small integers, as in the document's example, there is no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ascendlab.arrays import check_size, is_plain
from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int, check_real

__all__ = ["conv2d"]

_TYPES = ("half", "bfloat16", "float", "int8")


def _four(name: str, value: object, count: int, low: int, high: int) -> tuple[int, ...]:
    if isinstance(value, (list, tuple)) and len(value) == count:
        return tuple(check_int(f"{name}[{i}]", v, low, high) for i, v in enumerate(value))
    raise ParameterError(name, value, f"{count} integers in [{low}, {high}]")


def conv2d(
    fmap: NDArray[Any],
    weight: NDArray[Any],
    *,
    kernel: tuple[int, int],
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    pad_value: float = 0,
) -> NDArray[Any]:
    """Convolve feature maps with filters in the order of the cube unit's operands.

    Parameters
    ----------
    fmap : ndarray, shape (N, H, W, C)
        Feature maps.
    weight : ndarray of the same type, shape (K, COUT)
        Filters as columns; K runs over (c1, kh, kw, c0), a last group of channels holding only its real ones.
    kernel, strides, dilations : (int, int)
        Height and width.
    pads : (int, int, int, int)
        Left, right, top, bottom.
    pad_value : float
        What the border holds, rounded to the type of `fmap`.

    Returns
    -------
    ndarray, shape (N, HOUT, WOUT, COUT)
        Of fmap's type, rounded once from float64; int32 for int8.

    Raises
    ------
    ParameterError
        For arrays of another type or shape, and for a filter that does not fit.

    Examples
    --------
    >>> fmap = np.arange(12, dtype=np.float16).reshape(1, 3, 4, 1)
    >>> conv2d(fmap, np.ones((4, 1), np.float16), kernel=(2, 2), strides=(2, 1), pads=(1, 0, 0, 0))[0, :, :, 0]
    array([[ 4., 10., 14., 18.]], dtype=float16)
    """
    if not is_plain(fmap) or fmap.ndim != 4:
        raise ParameterError("fmap", fmap, "a NumPy array of shape (N, H, W, C)")
    kind = as_dtype(fmap.dtype, _TYPES, parameter="the type of fmap")
    window = _four("kernel", kernel, 2, 1, 511)
    step = _four("strides", strides, 2, 1, 63)
    spread = _four("dilations", dilations, 2, 1, 255)
    left, right, top, bottom = _four("pads", pads, 4, 0, 255)
    batch, height, width, channels = fmap.shape
    depth = channels * window[0] * window[1]
    if not is_plain(weight) or weight.dtype != fmap.dtype or weight.ndim != 2 or len(weight) != depth:
        raise ParameterError("weight", weight, f"an array of {kind} of shape (K, COUT) with K = {depth}")
    full = (height + top + bottom, width + left + right)
    out = tuple((f - (w - 1) * d - 1) // s + 1 for f, w, d, s in zip(full, window, spread, step, strict=True))
    if min(out) < 1 or not fmap.size:
        raise ParameterError(
            "kernel", kernel, f"a filter that fits into the padded feature map of {full[0]} x {full[1]}"
        )
    border = np.array(check_real("pad_value", pad_value, -3.4e38, 3.4e38)).astype(kind.numpy).astype(np.float64)
    check_size("the im2col matrix", batch * out[0] * out[1] * depth * 8)
    padded = np.zeros((batch, *full, channels))
    if border:
        padded.fill(border)
    padded[:, top : top + height, left : left + width] = fmap
    matrix = _windows(padded, out, window, step, spread, kind.c0)
    total = matrix @ weight.astype(np.float64)
    with np.errstate(over="ignore"):
        result = total.astype(np.int32 if kind.name == "int8" else kind.numpy)
    return result.reshape(batch, *out, -1)


def _windows(
    padded: NDArray[np.float64],
    out: tuple[int, ...],
    window: tuple[int, ...],
    step: tuple[int, ...],
    spread: tuple[int, ...],
    c0: int,
) -> NDArray[np.float64]:
    """Return the im2col matrix of padded feature maps: rows are windows, columns run over (c1, kh, kw, c0)."""
    batch, _, _, channels = padded.shape
    along_n, along_h, along_w, along_c = padded.strides
    groups, tail = divmod(channels, c0)
    strides = (along_n, along_h * step[0], along_w * step[1], along_c * c0, along_h * spread[0], along_w * spread[1],
               along_c)  # fmt: skip
    parts = []
    if groups:
        view = as_strided(padded, (batch, *out, groups, *window, c0), strides)
        parts.append(view.reshape(batch * out[0] * out[1], -1))
    if tail:
        view = as_strided(padded[..., groups * c0 :], (batch, *out, 1, *window, tail), strides)
        parts.append(view.reshape(batch * out[0] * out[1], -1))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
