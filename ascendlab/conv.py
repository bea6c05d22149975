"""A fast convolution as golden data for the conv2d kernels.

The sums are made in float64 and rounded once at the end.  The matrix unit adds in float32, one product after the
other, so on general data about one result of 700 differs in its last bit from `ascendlab.capi`'s `asc_mmad`, which
follows that order; on small integers, as in the document's example, there is no difference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_size, is_plain
from ascendlab.caches import BoundedCache, remembered
from ascendlab.dtypes import DataType, as_dtype, check_constant
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int, check_real
from ascendlab.load3d_geometry import Geometry

__all__ = ["conv2d"]

# Less than what an allocator maps and clears anew for every array.
_PART_BYTES = 100_000
_FLOAT_MAX = float(np.finfo(np.float32).max)
_TYPES = ("half", "bfloat16", "float", "int8")
_plans: BoundedCache[NDArray[np.intp]] = BoundedCache(64 * 1024**2)


@remembered
def _geometry(
    c0: int, height: int, width: int, channels: int,
    kernel_h: object, kernel_w: object, stride_h: object, stride_w: object, dilation_h: object, dilation_w: object,
    left: object, right: object, top: object, bottom: object,
) -> Geometry:  # fmt: skip
    """Check the convolution's numbers."""
    return Geometry(
        height=height,
        width=width,
        channels=channels,
        c0=c0,
        window_h=check_int("kernel[0]", kernel_h, 1, 511),
        window_w=check_int("kernel[1]", kernel_w, 1, 511),
        stride_h=check_int("strides[0]", stride_h, 1, 63),
        stride_w=check_int("strides[1]", stride_w, 1, 63),
        dilation_h=check_int("dilations[0]", dilation_h, 1, 255),
        dilation_w=check_int("dilations[1]", dilation_w, 1, 255),
        pads=(
            check_int("pads[0]", left, 0, 255),
            check_int("pads[1]", right, 0, 255),
            check_int("pads[2]", top, 0, 255),
            check_int("pads[3]", bottom, 0, 255),
        ),
    )


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
        What the border holds, rounded to the type of `fmap`; for int8 a whole number.

    Returns
    -------
    ndarray, shape (N, HOUT, WOUT, COUT)
        Of fmap's type, rounded once from float64; int32 for int8.

    Raises
    ------
    ParameterError
        For arrays of another type or shape, for a border that their type does not hold, and for a filter that does
        not fit.

    Examples
    --------
    >>> fmap = np.arange(12, dtype=np.float16).reshape(1, 3, 4, 1)
    >>> conv2d(fmap, np.ones((4, 1), np.float16), kernel=(2, 2), strides=(2, 1), pads=(1, 0, 0, 0))[0, :, :, 0]
    array([[ 4., 10., 14., 18.]], dtype=float16)
    """
    if not is_plain(fmap) or fmap.ndim != 4:
        raise ParameterError("fmap", fmap, "a NumPy array of shape (N, H, W, C)")
    kind = as_dtype(fmap.dtype, _TYPES, parameter="the type of fmap")
    for name, value, count in (
        ("kernel", kernel, 2), ("strides", strides, 2), ("dilations", dilations, 2), ("pads", pads, 4)
    ):  # fmt: skip
        if not isinstance(value, (list, tuple)) or len(value) != count:
            raise ParameterError(name, value, f"{count} integers")
    if not fmap.size:
        raise ParameterError("fmap", fmap, "an array with at least one element")
    batch = len(fmap)
    geometry = _geometry(kind.c0, *fmap.shape[1:], *kernel, *strides, *dilations, *pads)
    depth = geometry.k
    if not is_plain(weight) or weight.dtype != fmap.dtype or weight.ndim != 2 or len(weight) != depth:
        raise ParameterError("weight", weight, f"an array of {kind} of shape (K, COUT) with K = {depth}")
    border = _border(pad_value, kind)
    # The same unit for all groups of channels, a last one that is not full included.
    unit = math.gcd(kind.c0, geometry.channels)
    check_size("the convolution", 8 * batch * geometry.m * (depth // unit + weight.shape[1]))
    blocks = np.empty(fmap.size + unit)
    blocks[-unit:] = border
    with np.errstate(invalid="ignore"):  # signalling NaNs become quiet ones
        blocks[:-unit] = fmap.reshape(-1)
        columns = weight.astype(np.float64)
    total = np.empty((batch * geometry.m, weight.shape[1]))
    plan = _plan(geometry, batch, unit).reshape(batch * geometry.m, -1)
    rows = blocks.reshape(-1, unit)
    # Part by part, so that memory grows with the feature maps only, and a part stays in the cache.
    count = max(1, _PART_BYTES // (8 * depth))
    for first in range(0, len(plan), count):
        part = slice(first, first + count)
        with np.errstate(invalid="ignore"):  # infinities of both signs, and infinities times 0, make NaNs
            np.matmul(rows.take(plan[part], 0, None, "wrap").reshape(-1, depth), columns, out=total[part])
    with np.errstate(over="ignore", invalid="ignore"):
        result = _rounded(total, kind)
    return result.reshape(batch, geometry.ho, geometry.wo, -1)


def _border(pad_value: object, kind: DataType) -> NDArray[Any]:
    """Return the border's value in the data's type."""
    number = check_real("pad_value", pad_value, -_FLOAT_MAX, _FLOAT_MAX)
    check_constant("pad_value", int(number) if kind.name == "int8" and number.is_integer() else number, kind)
    return np.array(number).astype(kind.numpy)


def _rounded(total: NDArray[np.float64], kind: DataType) -> NDArray[Any]:
    """Return the sums in the type of the result, rounded once."""
    if kind.name != "bfloat16":
        return total.astype(np.int32 if kind.name == "int8" else kind.numpy)
    # The conversion goes by way of float32.  Cut off there, with the last bit set if anything was lost ("round to
    # odd"), a sum lies on the same side of every bfloat16 and of every middle between two as before.
    narrow = total.astype(np.float32)
    back = narrow.astype(np.float64)
    bits = narrow.view(np.uint32)
    bits -= np.abs(back) > np.abs(total)
    bits |= back != total
    return narrow.astype(kind.numpy)


def _plan(geometry: Geometry, batch: int, unit: int) -> NDArray[np.intp]:
    """Return for each unit of the im2col matrices the unit of the feature maps; the one past the end is the border."""
    key = (geometry, batch, unit)
    plan = _plans.get(key)
    if plan is None:
        group, row, column, channel = geometry.sample(
            np.arange(geometry.m)[:, None], np.arange(0, geometry.k, unit)[None]
        )
        pixel = (row * geometry.width + column) * geometry.channels + group * geometry.c0 + channel
        size = geometry.height * geometry.width * geometry.channels
        inside = np.where(geometry.inside(row, column), pixel // unit, -1)
        images = np.arange(batch)[:, None, None] * (size // unit)
        plan = np.where(inside >= 0, inside + images, batch * size // unit).astype(np.intp)
        _plans.put(key, plan, plan.nbytes)
    return plan
