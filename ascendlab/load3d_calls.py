"""Load3D's calls, checked and planned: everything but the movement itself.

A `Load` is what a call amounts to once all its arguments are checked.  It holds the plan, so the same object moves
the data, answers where an element came from and says how many bytes go where.

>>> import numpy as np
>>> src = np.zeros((1, 5, 6, 16), np.float16)
>>> params = LoadData3DParamsV2(l1_h=5, l1_w=6, channel_size=16, filter_h=3, filter_w=3, pad_list=[1, 1, 1, 1],
...                             m_extension=30, k_extension=144)
>>> load = plan_load_data_3d_v2(src, params)
>>> load.shape, load.nbytes, load.buffer, load.capacity
((2, 9, 16, 16), 9216, 'L0A', 65536)
>>> load.plan.traffic
{'loaded': 3328, 'padded': 992, 'untouched': 288, 'used': 480}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_out, check_size
from ascendlab.caches import BoundedCache
from ascendlab.dtypes import DataType
from ascendlab.errors import BufferOverflowError, ParameterError
from ascendlab.fields import check_bool
from ascendlab.layouts import FRACTAL_ROWS
from ascendlab.load3d_build import Block, block_plan, fractal_plan, matrix_plan, shape_of_block, shape_of_fractals
from ascendlab.load3d_geometry import Geometry
from ascendlab.load3d_params import LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam
from ascendlab.load3d_plan import Load3dPlan
from ascendlab.load3d_rules import (
    BUFFERS,
    IM2COL_TYPES,
    V1_PRODUCTS,
    V1_TYPES,
    V2_PRODUCTS,
    check_channel_size,
    check_columns,
    check_destination,
    check_features,
    check_pad_value,
    check_rows,
    check_source,
    check_type,
    check_v1_start,
    few_channels,
    idle_parameters,
    pad_element,
    v2_types,
)
from ascendlab.products import Product, require_product
from ascendlab.sources import Sources

__all__ = [
    "ONCE",
    "PLAN_CACHE_BYTES",
    "Load",
    "forget_plans",
    "geometry_of",
    "plan_im2col",
    "plan_load_data_3d_v1",
    "plan_load_data_3d_v2",
]

PLAN_CACHE_BYTES = 64 * 1024**2
_T3, _T4 = "Load3D, table 3", "Load3D, table 4"
ONCE = LoadDataRepeatParam()
"""A single repeat, the default."""
_V1_API, _V2_API = "LoadData with LoadData3DParamsV1", "LoadData with LoadData3DParamsV2"


@dataclass(frozen=True, eq=False)
class Load:
    """A checked call: what will move where, before anything has moved.

    Parameters
    ----------
    shape : tuple of int
        Shape of the result.
    dtype : DataType
        The data's type.
    pad_value : float
        The pad value.
    buffer : str
        ``"L0A"``, ``"L0B"``, or ``""`` for the matrix itself.
    product : Product or None
        Where the call would run.
    build : callable or None
        Makes the plan; None for a call that does nothing.
    key : hashable
        Under which the plan is kept once it is made; None for not at all.
    """

    shape: tuple[int, ...]
    dtype: DataType
    pad_value: float
    buffer: str
    product: Product | None
    build: Callable[[], Load3dPlan] | None
    key: Hashable = None

    @cached_property
    def plan(self) -> Load3dPlan | None:
        """The movement, made when first asked for; None for a call that does nothing."""
        if self.build is None:
            return None
        plan = self.build()
        if self.key is not None:
            _loads.put(self.key, self, plan.nbytes)
        return plan

    @cached_property
    def _fill(self) -> NDArray[Any]:
        """What follows L1's units: zeros, and the pad value."""
        fill = np.zeros((2, self.plan.unit if self.plan is not None else 1), self.dtype.numpy)
        fill[1] = pad_element(self.pad_value, self.dtype)
        return fill

    @property
    def geometry(self) -> Geometry:
        """The feature map and the windows."""
        if self.plan is None:
            raise ParameterError("load", "a call that does nothing", "one that moves something")
        return self.plan.geometry

    @property
    def nbytes(self) -> int:
        """Bytes that the result takes on the device, two int4 elements in one."""
        return self.dtype.nbytes(math.prod(self.shape))

    @property
    def capacity(self) -> int | None:
        """Bytes of the buffer that the result goes to."""
        return self.product.buffers[self.buffer] if self.product is not None else None

    def require_capacity(self, *, times: int = 1) -> None:
        """Refuse a result that does not fit into its buffer (of `times` its size, for those who only want to look)."""
        if self.capacity is not None and self.nbytes > times * self.capacity:
            blocks = -(-self.nbytes // self.capacity)
            raise BufferOverflowError(
                self.buffer, self.nbytes, self.capacity, hint=f"Load it in {blocks} blocks or more"
            )

    def sources(self, flat: NDArray[np.intp]) -> Sources:
        """Answer where elements of the result come from (see `ascendlab.provenance`)."""
        if self.plan is not None:
            return self.plan.sources(flat, self.pad_value)
        return Sources.copies(np.full(len(flat), -1), untouched=np.ones(len(flat), bool))

    def run(self, src: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
        """Move the data."""
        if out is not None:
            # A call that does nothing does not care about the shape.
            idle = self.build is None and isinstance(out, np.ndarray)
            check_out(out, self.dtype.numpy, out.shape if idle else self.shape, src)
        plan = self.plan
        if plan is None:
            return np.zeros(self.shape, self.dtype.numpy) if out is None else out
        return plan.run(np.concatenate((np.asarray(src).reshape(-1, plan.unit), self._fill)), out)


_loads: BoundedCache[Load] = BoundedCache(PLAN_CACHE_BYTES)


def _cached(name: str, src: Any, *arguments: object) -> tuple[Hashable, Load | None]:
    """Return the key of a call, and what is kept under it; None if the arguments make no key."""
    try:
        key = (name, type(src), src.dtype, src.shape, *arguments)
        return key, _loads.get(key)
    except Exception:  # no array, unhashable, or stranger: the checks will say what is wrong
        return None, None


def forget_plans() -> None:
    """Drop all cached plans, for measurements."""
    _loads.clear()


def _check_flags(**flags: object) -> None:
    for name, value in flags.items():
        check_bool(name, value)


def geometry_of(params: LoadData3DParamsV1 | LoadData3DParamsV2, channels: int, c0: int) -> Geometry:
    """Return the feature map and the windows that parameters describe."""
    return Geometry(
        height=params.l1_h,
        width=params.l1_w,
        channels=channels,
        c0=c0,
        window_h=params.window_h,
        window_w=params.window_w,
        stride_h=params.stride_h,
        stride_w=params.stride_w,
        dilation_h=params.dilation_filter_h,
        dilation_w=params.dilation_filter_w,
        pads=params.pad_list,
    )


def _check_feature_map(src: NDArray[Any], params: LoadData3DParamsV2, kind: DataType) -> Geometry:
    """Check the feature map against the parameters, whose numbers decide."""
    h, w, channels = params.l1_h, params.l1_w, params.channel_size
    shapes: tuple[tuple[int, ...], ...] = ((h * w * channels,),)
    words = f"the flat L1 image of {h} * {w} * {channels} = {h * w * channels} elements"
    if channels % kind.c0 == 0:
        shapes += ((channels // kind.c0, h, w, kind.c0),)
        words = f"shape (C1, H, W, C0) = {shapes[1]}, or {words}"
    if channels <= kind.c0:
        # One group of channels lies in L1 as the picture itself does: what LoadImageToLocal leaves there fits.
        shapes += ((h, w, channels),)
        words = f"shape (H, W, C) = {shapes[-1]}, or {words}"
    check_source(src, shapes, words)
    return geometry_of(params, channels, kind.c0)


def plan_im2col(
    src: NDArray[Any], params: LoadData3DParamsV2, *, allow_large: bool = False, out: NDArray[Any] | None = None
) -> Load:
    """Check a call of `im2col` and plan it, without moving anything (same arguments)."""
    if allow_large is not False:
        _check_flags(allow_large=allow_large)
    key, found = _cached("im2col", src, params, allow_large)
    if found is not None:
        return found
    if not isinstance(params, LoadData3DParamsV2):
        raise ParameterError("params", params, "an instance of LoadData3DParamsV2")
    checked, kind = check_type(src, IM2COL_TYPES, "")
    ignored = ("kExtension", "mExtension")
    _check_idle(tuple(name for name in idle_parameters(params, ONCE) if name not in ignored))
    check_channel_size(params.channel_size, kind, None)
    geometry = _check_feature_map(checked, params, kind)
    check_pad_value(params.pad_value, kind, _T4)
    shape = (geometry.m, geometry.k)
    check_size("a copy of src", checked.size * kind.numpy.itemsize, allow_large=allow_large)
    check_size("the matrix", math.prod(shape) * kind.numpy.itemsize, allow_large=allow_large)
    return Load(shape, kind, params.pad_value, "", None, partial(matrix_plan, geometry), key)


def _check_idle(idle: tuple[str, ...]) -> None:
    if idle:
        raise ParameterError(
            idle[0], 0, "at least 1", table=_T4,
            hint="The instruction does nothing then; strict=False makes the call do nothing, too",
        )  # fmt: skip


def plan_load_data_3d_v2(
    src: NDArray[Any],
    params: LoadData3DParamsV2,
    *,
    dst: str = "A2",
    repeat: LoadDataRepeatParam = ONCE,
    product: Product = Product.ATLAS_A2,
    out: NDArray[Any] | None = None,
    strict: bool = True,
    check_capacity: bool = False,
    allow_large: bool = False,
) -> Load:
    """Check a call of `load_data_3d_v2` and plan it, without moving anything (same arguments)."""
    if strict is not True or check_capacity is not False or allow_large is not False:
        _check_flags(strict=strict, check_capacity=check_capacity, allow_large=allow_large)
    key, load = _cached("v2", src, params, dst, repeat, product, allow_large)
    if load is None:
        load = _checked_v2(key, src, params, dst, repeat, product, strict, allow_large)
    if check_capacity:
        load.require_capacity()
    return load


def _checked_v2(
    key: Hashable, src: object, params: object, dst: object, repeat: object, product: object, strict: bool,
    allow_large: bool,
) -> Load:  # fmt: skip
    where = require_product(_V2_API, product, V2_PRODUCTS)
    target = check_destination(dst)
    if not isinstance(params, LoadData3DParamsV2):
        raise ParameterError("params", params, "an instance of LoadData3DParamsV2")
    if not isinstance(repeat, LoadDataRepeatParam):
        raise ParameterError("repeat", repeat, "an instance of LoadDataRepeatParam")
    checked, kind = check_type(src, v2_types(where, target), f" (to {target} on {where})")
    check_features(params, repeat, target, kind, where)
    idle = idle_parameters(params, repeat)
    if idle:
        if strict:
            _check_idle(idle)
        empty = (0, FRACTAL_ROWS, kind.c0)
        return Load(empty, kind, params.pad_value, BUFFERS[target], where, None)
    check_channel_size(params.channel_size, kind, where)
    geometry = _check_feature_map(checked, params, kind)
    check_pad_value(params.pad_value, kind, _T4)
    block = _block(params, repeat, target, kind, where)
    check_rows(params, geometry, block.row_starts[-1], kind)
    check_columns(params, geometry, block.column_starts[-1])
    # What L0B gets is the matrix transposed, in NZ: seen from the untransposed matrix that is ZN.
    transposed = target == "B2" or params.en_transpose
    layout = "NZ" if target == "B2" or where is Product.ATLAS_350 else "ZZ"
    stride = repeat.dst_stride
    dense = shape_of_block(kind.c0, block, layout, transposed=transposed)
    if stride and stride < dense[-3]:
        allowed = f"0, or at least {dense[-3]}, the fractals in a column, so that no fractal is written twice"
        raise ParameterError("dstStride", stride, allowed, table="SetLoadDataRepeat, table 2")
    shape = shape_of_block(kind.c0, block, layout, transposed=transposed, dst_stride=stride)
    check_size("a copy of src", checked.size * kind.numpy.itemsize, allow_large=allow_large)
    check_size("the result", math.prod(shape) * kind.numpy.itemsize, allow_large=allow_large)
    build = partial(block_plan, geometry, block, layout, transposed=transposed, dst_stride=stride)
    return Load(shape, kind, params.pad_value, BUFFERS[target], where, build, key)


def _block(
    params: LoadData3DParamsV2, repeat: LoadDataRepeatParam, target: str, kind: DataType, product: Product
) -> Block:
    """Work out where each repeat starts."""
    along_m = repeat.repeat_mode == 0
    step = FRACTAL_ROWS if along_m else kind.c0 * (2 if product is Product.ATLAS_200I_500_A2 else 1)
    moving = [repeat_number * repeat.repeat_stride * step for repeat_number in range(repeat.repeat_time)]
    return Block(
        rows=params.m_extension,
        columns=params.k_extension,
        row_starts=[params.m_start_pt + step for step in (moving if along_m else [0])],
        column_starts=[params.k_start_pt + step for step in ([0] if along_m else moving)],
        joined=target == "A2" and params.en_transpose,
    )


def plan_load_data_3d_v1(
    src: NDArray[Any],
    params: LoadData3DParamsV1,
    *,
    dst: str = "A2",
    product: Product = Product.ATLAS_INFERENCE_AI_CORE,
    out: NDArray[Any] | None = None,
    strict: bool = True,
    check_capacity: bool = False,
    allow_large: bool = False,
) -> Load:
    """Check a call of `load_data_3d_v1` and plan it, without moving anything (same arguments)."""
    if strict is not True or check_capacity is not False or allow_large is not False:
        _check_flags(strict=strict, check_capacity=check_capacity, allow_large=allow_large)
    key, load = _cached("v1", src, params, dst, product, allow_large)
    if load is None:
        load = _checked_v1(key, src, params, dst, product, allow_large)
    if check_capacity:
        load.require_capacity()
    return load


def _checked_v1(key: Hashable, src: object, params: object, dst: object, product: object, allow_large: bool) -> Load:
    where = require_product(_V1_API, product, V1_PRODUCTS)
    target = check_destination(dst)
    if not isinstance(params, LoadData3DParamsV1):
        raise ParameterError("params", params, "an instance of LoadData3DParamsV1")
    checked, kind = check_type(src, V1_TYPES, f" (on {where})")
    check_pad_value(params.pad_value, kind, _T3)
    channels = _check_v1_source(checked, params, kind)
    geometry = geometry_of(params, channels, kind.c0)
    check_size("a copy of src", checked.size * kind.numpy.itemsize, allow_large=allow_large)
    window = check_v1_start(params, geometry)
    columns, unit = _v1_columns(params, geometry)
    shape = shape_of_fractals(kind.c0, params.repeat_time, params.jump_stride, transposed=target == "B2")
    build = partial(
        fractal_plan,
        geometry,
        window,
        columns,
        unit=unit,
        repeats=params.repeat_time,
        over_windows=params.repeat_mode == 1,
        jump=params.jump_stride,
        transposed=target == "B2",
    )
    return Load(shape, kind, params.pad_value, BUFFERS[target], where, build, key)


def _check_v1_source(src: NDArray[Any], params: LoadData3DParamsV1, kind: DataType) -> int:
    """Return the channels of Load3Dv1's feature map, which its parameters do not tell."""
    h, w = params.l1_h, params.l1_w
    few = few_channels(kind)
    if params.c_size:
        if params.c1_index:
            raise ParameterError("c1Index", params.c1_index, "0 with cSize = 1, which has one channel group", table=_T3)
        words = f"shape (H, W, C) = {(h, w, few)}, or flat, with cSize = 1 and {kind}"
        check_source(src, ((h, w, few), (h * w * few,)), words)
        return few
    group = h * w * kind.c0
    words = f"shape (C1, H, W, C0) = (C1, {h}, {w}, {kind.c0}), (H, W, C0), or flat with C1 * {group} elements, C1 > 0"
    check_source(src, ((None, h, w, kind.c0), (h, w, kind.c0), (None,)), words)
    if src.size == 0 or src.size % group:
        raise ParameterError("src", src, words)
    return src.size // group * kind.c0


def _v1_columns(params: LoadData3DParamsV1, geometry: Geometry) -> tuple[range, int]:
    """Return the first matrix column of each unit of Load3Dv1's fractals, and a unit's size."""
    for axis, fetch, size in (
        ("W", params.fetch_filter_w, params.filter_w),
        ("H", params.fetch_filter_h, params.filter_h),
    ):
        if fetch >= size:
            raise ParameterError(f"fetchFilter{axis}", fetch, f"less than filter{axis} = {size}", table=_T3)
    groups = -(-geometry.channels // geometry.c0)
    if params.c1_index >= groups:
        raise ParameterError("c1Index", params.c1_index, f"less than C1 = {groups} of src", table=_T3)
    unit = geometry.tail or geometry.c0
    points = geometry.window_h * geometry.window_w
    first = (params.c1_index * params.filter_h + params.fetch_filter_h) * params.filter_w + params.fetch_filter_w
    in_row = geometry.c0 // unit
    repeats = params.repeat_time if params.repeat_mode == 0 else 1
    there = groups * points
    last = first + (repeats - 1) * in_row
    if last >= there:
        raise ParameterError(
            "repeatTime", params.repeat_time,
            f"at most {(there - first - 1) // in_row + 1}: src has C1 * Hk * Wk = {groups} * {params.filter_h} * "
            f"{params.filter_w} = {there} filter points, the first repeat is at number {first}",
            table=_T3,
        )  # fmt: skip
    # A row that holds several filter points may end behind the last one.
    return range(first * unit, min(first + repeats * in_row, there) * unit, unit), unit
