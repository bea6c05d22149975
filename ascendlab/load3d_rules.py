"""What Load3D allows on which product: types, channel sizes, starts and extensions.

>>> from ascendlab.dtypes import as_dtype
>>> channel_sizes(as_dtype("half"), Product.ATLAS_A2)
'4, 8, N * 16, N * 16 + 4 or N * 16 + 8'
>>> channel_sizes(as_dtype("half"), Product.ATLAS_INFERENCE_AI_CORE)
'4, 8, 16, N * 16 + 4 or N * 16 + 8'
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import is_plain
from ascendlab.dtypes import DataType, as_dtype, check_constant
from ascendlab.errors import ParameterError
from ascendlab.layouts import FRACTAL_ROWS
from ascendlab.load3d_geometry import Geometry
from ascendlab.load3d_params import LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam
from ascendlab.products import Product

__all__ = [
    "BUFFERS",
    "IM2COL_TYPES",
    "TRANSPOSED_TYPES",
    "V1_PRODUCTS",
    "V1_TYPES",
    "V2_PRODUCTS",
    "channel_sizes",
    "check_channel_size",
    "check_columns",
    "check_destination",
    "check_features",
    "check_pad_value",
    "check_rows",
    "check_source",
    "check_type",
    "check_v1_start",
    "few_channels",
    "idle_parameters",
    "pad_element",
    "v2_types",
]

_T3, _T4 = "Load3D, table 3", "Load3D, table 4"

BUFFERS = {"A2": "L0A", "B2": "L0B"}
"""The buffer behind each destination."""

V1_PRODUCTS = (Product.ATLAS_INFERENCE_AI_CORE, Product.ATLAS_TRAINING)
V1_TYPES = ("int8", "uint8", "half")

_AI_CORE = Product.ATLAS_INFERENCE_AI_CORE
_A_SERIES = (Product.ATLAS_A2, Product.ATLAS_A3, Product.ATLAS_200I_500_A2)
V2_PRODUCTS = (Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2, Product.ATLAS_200I_500_A2, _AI_CORE)

_B8, _B16, _B32 = ("int8", "uint8"), ("half", "bfloat16"), ("int32", "uint32", "float")
_FP8 = ("fp8_e4m3fn", "fp8_e5m2")
IM2COL_TYPES = ("int4", *_B8, *_FP8, *_B16, *_B32)

_V2_TYPES: dict[tuple[Product, str], tuple[str, ...]] = {
    (_AI_CORE, "A2"): ("int4", *_B8, "half"),
    (_AI_CORE, "B2"): (*_B8, "half"),
    (Product.ATLAS_350, "A2"): (*_B8, *_FP8, *_B16, *_B32),
    (Product.ATLAS_350, "B2"): (*_B8, *_FP8, *_B16, *_B32),
    **{(product, "A2"): ("int4", *_B8, *_B16, *_B32) for product in _A_SERIES},
    **{(product, "B2"): (*_B16, *_B32) for product in _A_SERIES},
}

TRANSPOSED_TYPES: dict[Product, tuple[str, ...]] = {
    _AI_CORE: ("half",),
    Product.ATLAS_200I_500_A2: _B16,
    Product.ATLAS_A2: (*_B16, *_B32),
    Product.ATLAS_A3: (*_B16, *_B32),
    Product.ATLAS_350: (*_B8, *_FP8, *_B16, *_B32),
}
"""The types that ``enTranspose`` works on, on the way to A2."""

# Channels of the last group that a type may have, besides a full one.
_TAILS = {4: (8, 16, 32), 8: (4, 8, 16), 16: (4, 8), 32: (4,)}


def check_destination(dst: object) -> str:
    """Return `dst` if it is one of the two places that Load3D writes to."""
    if isinstance(dst, str) and dst in BUFFERS:
        return dst
    raise ParameterError("dst", dst, "'A2' (L0A) or 'B2' (L0B)", table="Load3D, data paths A1->A2 and B1->B2")


def v2_types(product: Product, dst: str) -> tuple[str, ...]:
    """Return the types that Load3Dv2 moves to a destination on a product.

    >>> v2_types(Product.ATLAS_A2, "B2")
    ('half', 'bfloat16', 'int32', 'uint32', 'float')
    """
    return _V2_TYPES[product, dst]


def check_type(src: object, allowed: tuple[str, ...], where: str) -> tuple[NDArray[Any], DataType]:
    """Return the source array and its type, if the call can move that type."""
    if is_plain(src):
        with contextlib.suppress(ParameterError):
            return src, as_dtype(src.dtype, allowed)
    raise ParameterError("src", src, f"a NumPy array of {', '.join(allowed)}{where}")


def channel_sizes(kind: DataType, product: Product | None) -> str:
    """Say in words which channel sizes a type can have on a product (None: on any)."""
    c0, tails = kind.c0, _TAILS[kind.bits]
    first = [str(tail) for tail in tails]
    full = str(c0) if product is _AI_CORE and kind.bits != 4 else f"N * {c0}"
    more = [f"N * {c0} + {tail}" for tail in tails]
    return ", ".join([*first, full, *more[:-1]]) + f" or {more[-1]}"


def check_channel_size(channels: int, kind: DataType, product: Product | None) -> None:
    """Refuse a channel size that the type does not have on this product."""
    rest = channels % kind.c0
    # The document gives inference AI Core only one full group of 8 and 16 bits, and the open kernel checks just that.
    full = rest == 0 and (product is not _AI_CORE or kind.bits == 4 or channels == kind.c0)
    if not full and rest not in _TAILS[kind.bits]:
        where = "" if product is None else f" on {product}"
        allowed = f"{channel_sizes(kind, product)}, for {kind}{where}"
        raise ParameterError("channelSize", channels, allowed, table=_T4)


def check_pad_value(value: float, kind: DataType, table: str) -> None:
    """Refuse a pad value that the data's type does not hold: not an integer, or out of range."""
    check_constant("padValue", value, kind, table, hint=f"src is {kind}")


def pad_element(value: float, kind: DataType) -> Any:
    """Return a checked pad value in the data's type."""
    return np.array(value).astype(kind.numpy)[()]


def check_source(src: NDArray[Any], shapes: tuple[tuple[int | None, ...], ...], words: str) -> None:
    """Refuse a feature map that does not have one of these shapes (None: any length)."""
    for shape in shapes:
        if src.ndim == len(shape) and all(
            want is None or want == have for want, have in zip(shape, src.shape, strict=True)
        ):
            return
    raise ParameterError("src", src, words)


def idle_parameters(params: LoadData3DParamsV2, repeat: LoadDataRepeatParam) -> tuple[str, ...]:
    """Name the zeros that make a Load3Dv2 call do nothing."""
    zeros = {
        "l1H": params.l1_h,
        "l1W": params.l1_w,
        "channelSize": params.channel_size,
        "kExtension": params.k_extension,
        "mExtension": params.m_extension,
        "filterW": params.window_w,
        "filterH": params.window_h,
        "repeatTime": repeat.repeat_time,
    }
    return tuple(name for name, value in zeros.items() if value == 0)


def check_features(
    params: LoadData3DParamsV2, repeat: LoadDataRepeatParam, dst: str, kind: DataType, product: Product
) -> None:
    """Refuse what the product does not have, by name."""
    if product is _AI_CORE:
        for axis, asked in (("W", params.filter_size_w), ("H", params.filter_size_h)):
            if asked:
                raise ParameterError(
                    f"filterSize{axis}", True, f"False on {product}", table=_T4,
                    hint="The open C++ layer of this product never passes it on to the instruction",
                )  # fmt: skip
        if repeat != LoadDataRepeatParam():
            raise ParameterError(
                "repeat", repeat, f"the default on {product}, which has no SetLoadDataRepeat", table="SetLoadDataRepeat"
            )
    if repeat.dst_stride and product is not Product.ATLAS_350:
        raise ParameterError(
            "dstStride",
            repeat.dst_stride,
            f"0 on {product}; only {Product.ATLAS_350} has it",
            table="SetLoadDataRepeat",
        )
    if params.en_transpose and dst == "A2" and kind.name not in TRANSPOSED_TYPES[product]:
        types = ", ".join(TRANSPOSED_TYPES[product])
        raise ParameterError("enTranspose", True, f"False for {kind} on {product}, which transposes {types}", table=_T4)


def check_columns(params: LoadData3DParamsV2, geometry: Geometry, last_start: int) -> None:
    """Check kStartPt and kExtension, the last repeat included."""
    c0, k = geometry.c0, geometry.k
    if params.k_start_pt % c0:
        raise ParameterError("kStartPt", params.k_start_pt, f"a multiple of C0 = {c0}", table=_T4)
    points = f"K = Hk * Wk * channelSize = {geometry.window_h} * {geometry.window_w} * {geometry.channels} = {k}"
    span = _Span("k", "column", params.k_start_pt, params.k_extension, last_start)
    span.check(size=k, fractal=c0, step=c0, words=points)


def check_rows(params: LoadData3DParamsV2, geometry: Geometry, last_start: int, kind: DataType) -> None:
    """Check mStartPt and mExtension, the last repeat included."""
    windows = f"M = Ho * Wo = {geometry.ho} * {geometry.wo} = {geometry.m}"
    span = _Span("m", "row", params.m_start_pt, params.m_extension, last_start)
    span.check(size=geometry.m, fractal=FRACTAL_ROWS, step=1 if kind.bits == 32 else FRACTAL_ROWS, words=windows)


@dataclass(frozen=True)
class _Span:
    """A start and an extension along one axis of the matrix."""

    axis: str
    what: str
    start: int
    extension: int
    last_start: int

    def check(self, *, size: int, fractal: int, step: int, words: str) -> None:
        """Check that the span starts in the matrix, ends in its last fractal, and is aligned unless it reaches that."""
        end = -(-size // fractal) * fractal
        moved = f" (the last repeat starts at {self.what} {self.last_start})" if self.last_start != self.start else ""
        start, extension = f"{self.axis}StartPt", f"{self.axis}Extension"
        if self.last_start >= size:
            allowed = f"less than {size}, so that the block is not empty{moved}"
            raise ParameterError(start, self.start, allowed, table=_T4, hint=words)
        if self.last_start + self.extension > end:
            allowed = f"at most {end - self.last_start}: the last fractal ends at {self.what} {end}{moved}"
            raise ParameterError(extension, self.extension, allowed, table=_T4, hint=words)
        last = end - fractal
        for name, value in ((start, self.start), (extension, self.extension)):
            if value % step and self.start + self.extension <= last:
                allowed = (
                    f"a multiple of {step}: the block does not reach the last fractal (from {self.what} {last} on)"
                )
                raise ParameterError(name, value, allowed, table=_T4, hint=words)


def few_channels(kind: DataType) -> int:
    """Return the channels of Load3Dv1's feature map with ``cSize`` = 1.

    >>> few_channels(as_dtype("half")), few_channels(as_dtype("int8"))
    (4, 8)
    """
    return 4 if kind.bits == 16 else 8


def check_v1_start(params: LoadData3DParamsV1, geometry: Geometry) -> int:
    """Return the matrix row of Load3Dv1's first window, which must be one of the windows."""
    left, _, top, _ = geometry.pads
    steps = []
    for axis, corner, before, stride, count in (
        ("H", params.left_top_h, top, geometry.stride_h, geometry.ho),
        ("W", params.left_top_w, left, geometry.stride_w, geometry.wo),
    ):
        step, rest = divmod(corner + before, stride)
        if rest or not 0 <= step < count:
            raise ParameterError(
                f"leftTop{axis}",
                corner,
                f"the corner of a window: {-before} + n * {stride} with n in [0, {count - 1}]",
                table=_T3,
                hint=f"-{'padding_top' if axis == 'H' else 'padding_left'} = {-before} is the first one",
            )
        steps.append(step)
    return steps[0] * geometry.wo + steps[1]
