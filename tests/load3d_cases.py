"""Random Load3D calls that are legal, for the tests, in every type and on every product that has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from load3d_oracle import elements_in_32_bytes, filter_size, windows

from ascendlab import LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam, Product

TYPES: dict[str, np.dtype] = {
    name: np.dtype(kind)
    for name, kind in {
        "int4": ml_dtypes.int4, "int8": np.int8, "uint8": np.uint8, "fp8_e4m3fn": ml_dtypes.float8_e4m3fn,
        "fp8_e5m2": ml_dtypes.float8_e5m2, "half": np.float16, "bfloat16": ml_dtypes.bfloat16,
        "int32": np.int32, "uint32": np.uint32, "float": np.float32,
    }.items()
}  # fmt: skip
TAILS = {64: (8, 16, 32), 32: (4, 8, 16), 16: (4, 8), 8: (4,)}

AI_CORE, A2, A3, A200I, A350 = (
    Product.ATLAS_INFERENCE_AI_CORE, Product.ATLAS_A2, Product.ATLAS_A3, Product.ATLAS_200I_500_A2, Product.ATLAS_350,
)  # fmt: skip
_B8, _FP8, _B16, _B32 = (
    ("int8", "uint8"),
    ("fp8_e4m3fn", "fp8_e5m2"),
    ("half", "bfloat16"),
    ("int32", "uint32", "float"),
)
# Written down from the rules, not read from the library.
V2_TYPES = {
    (AI_CORE, "A2"): ("int4", *_B8, "half"),
    (AI_CORE, "B2"): (*_B8, "half"),
    (A350, "A2"): (*_B8, *_FP8, *_B16, *_B32),
    (A350, "B2"): (*_B8, *_FP8, *_B16, *_B32),
    **{(product, "A2"): ("int4", *_B8, *_B16, *_B32) for product in (A2, A3, A200I)},
    **{(product, "B2"): (*_B16, *_B32) for product in (A2, A3, A200I)},
}
TRANSPOSED = {
    AI_CORE: ("half",), A200I: _B16, A2: (*_B16, *_B32), A3: (*_B16, *_B32), A350: (*_B8, *_FP8, *_B16, *_B32),
}  # fmt: skip


class V2Call(NamedTuple):
    """A legal Load3Dv2 call, its feature map channels last."""

    hwc: np.ndarray
    params: LoadData3DParamsV2
    repeat: LoadDataRepeatParam
    dst: str
    product: Product


class V1Call(NamedTuple):
    """A legal Load3Dv1 call, its feature map channels last."""

    hwc: np.ndarray
    params: LoadData3DParamsV1
    dst: str


def numbers(dtype: np.dtype, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Return random values that every type holds exactly, with signs where it has signs."""
    low = 0 if dtype.kind == "u" else -8
    return np.random.default_rng(seed).integers(low, 8, shape).astype(dtype)


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Look at an array's bits, so that types without comparisons can be compared."""
    return np.ascontiguousarray(array).view(np.uint8)


def same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Assert that two arrays agree in type, shape and every bit."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(as_bytes(actual), as_bytes(expected))


@st.composite
def slides(draw: Any, *, largest: int = 6, sizes_to: int = 3) -> dict[str, Any]:
    """Draw a feature map's size and a window that fits, never square on purpose."""
    fields: dict[str, Any] = {"pad_list": draw(st.tuples(*[st.integers(0, 3)] * 4))}
    left, right, top, bottom = fields["pad_list"]
    for axis, before, after in (("h", top, bottom), ("w", left, right)):
        size = draw(st.integers(1, largest))
        fields[f"l1_{axis}"] = size
        dilation = draw(st.integers(1, 3))
        room = (size + before + after - 1) // dilation + 1
        fields[f"dilation_filter_{axis}"] = dilation
        fields[f"filter_{axis}"] = draw(st.integers(1, min(sizes_to, room)))
        fields[f"stride_{axis}"] = draw(st.integers(1, 3))
    return fields


@st.composite
def spans(draw: Any, size: int, fractal: int, *, start_step: int, step: int, room: int) -> tuple[int, int]:
    """Draw a start and an extension along one axis; repeats need `room` positions behind the start."""
    end = -(-size // fractal) * fractal
    last_start = size - 1 - room
    start = draw(st.integers(0, last_start // start_step)) * start_step if last_start > 0 else 0
    longest = end - start - room
    extension = draw(st.one_of(st.just(longest), st.integers(1, longest), st.just(min(size - start, longest))))
    if start + extension <= end - fractal:
        extension = max(step, extension // step * step)
    return start, extension


@st.composite
def v2_calls(
    draw: Any,
    *,
    product: Product | None = None,
    dst: str | None = None,
    name: str | None = None,
    transposed: bool = False,
) -> V2Call:
    """Draw a legal Load3Dv2 call; what is not given is drawn, too."""
    where = product or draw(st.sampled_from([AI_CORE, A2, A3, A200I, A350]))
    target = dst or draw(st.sampled_from(["A2", "B2"]))
    name = name or draw(st.sampled_from(V2_TYPES[where, target]))
    dtype = TYPES[name]
    c0 = elements_in_32_bytes(dtype)
    tail = draw(st.sampled_from((0, *TAILS[c0])))
    full = draw(st.integers(0 if tail else 1, 1 if (where is AI_CORE and not tail) or c0 == 64 else 2))
    fields = {**draw(slides()), "channel_size": full * c0 + tail, "pad_value": draw(st.integers(0, 7))}
    probe = LoadData3DParamsV2(**fields)
    m, k = int(np.prod(windows(probe))), int(np.prod(filter_size(probe))) * probe.channel_size
    bits32 = dtype.itemsize == 4
    repeat = LoadDataRepeatParam()
    if where is not AI_CORE and draw(st.booleans()):
        repeat = LoadDataRepeatParam(
            repeat_time=draw(st.integers(2, 3)), repeat_mode=draw(st.integers(0, 1)),
            repeat_stride=draw(st.integers(0, 2)),
        )  # fmt: skip
    step = repeat.repeat_stride * (16 if repeat.repeat_mode == 0 else c0 * (2 if where is A200I else 1))
    room = (repeat.repeat_time - 1) * step
    rooms = (room, 0) if repeat.repeat_mode == 0 else (0, room)
    if rooms[0] >= m or rooms[1] >= k:
        repeat, rooms = LoadDataRepeatParam(), (0, 0)
    row_step = 1 if bits32 else 16
    m_start, m_extension = draw(spans(m, 16, start_step=row_step, step=row_step, room=rooms[0]))
    k_start, k_extension = draw(spans(k, c0, start_step=c0, step=c0, room=rooms[1]))
    en_transpose = name in TRANSPOSED[where] and (transposed or draw(st.booleans()))
    params = LoadData3DParamsV2(
        **fields, m_start_pt=m_start, m_extension=m_extension, k_start_pt=k_start, k_extension=k_extension,
        en_transpose=en_transpose,
    )  # fmt: skip
    hwc = numbers(dtype, (probe.l1_h, probe.l1_w, probe.channel_size), draw(st.integers(0, 2**32)))
    return V2Call(hwc, params, repeat, target, where)


@st.composite
def v1_calls(draw: Any) -> V1Call:
    """Draw a legal Load3Dv1 call."""
    dtype = TYPES[draw(st.sampled_from(["int8", "uint8", "half"]))]
    c0 = elements_in_32_bytes(dtype)
    c_size = draw(st.integers(0, 1))
    channels = (4 if c0 == 16 else 8) if c_size else c0 * draw(st.integers(1, 3))
    fields = draw(slides())
    probe = LoadData3DParamsV1(**fields)
    ho, wo = windows(probe)
    left, _, top, _ = probe.pad_list
    groups = max(1, channels // c0)
    start = (
        draw(st.integers(0, groups - 1)),
        draw(st.integers(0, probe.filter_h - 1)),
        draw(st.integers(0, probe.filter_w - 1)),
    )
    mode = draw(st.integers(0, 1))
    point = (start[0] * probe.filter_h + start[1]) * probe.filter_w + start[2]
    left_over = groups * probe.filter_h * probe.filter_w - point
    in_row = c0 // channels if c_size else 1
    most = -(-left_over // in_row) if mode == 0 else 4
    params = LoadData3DParamsV1(
        **fields, c1_index=start[0], fetch_filter_h=start[1], fetch_filter_w=start[2],
        left_top_h=draw(st.integers(0, ho - 1)) * probe.stride_h - top,
        left_top_w=draw(st.integers(0, wo - 1)) * probe.stride_w - left,
        jump_stride=draw(st.integers(1, 3)), repeat_mode=mode, repeat_time=draw(st.integers(1, min(most, 6))),
        c_size=c_size, pad_value=draw(st.integers(0, 7)),
    )  # fmt: skip
    hwc = numbers(dtype, (probe.l1_h, probe.l1_w, channels), draw(st.integers(0, 2**32)))
    return V1Call(hwc, params, draw(st.sampled_from(["A2", "B2"])))
