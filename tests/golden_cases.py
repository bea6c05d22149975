"""Calls that golden data can be made of, for the tests: at least one of every function, and random ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import aipp_cases
import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from load3d_cases import v1_calls, v2_calls
from test_vector_bilinear import calls as bilinear_calls
from test_vector_padding import TYPES, random_bits, source_blocks, strided_calls

import ascendlab as al
from ascendlab.capi import conv2d_example
from ascendlab.golden import random_array

SEED = 20


def aipp_call(number: int) -> al.Call:
    """Make a random call of LoadImageToLocal; each number is another one."""
    rng = np.random.default_rng(number)
    formats = list(al.AippInputFormat)
    profile = "dav_3510" if rng.integers(3) == 0 else "documented"
    case = aipp_cases.random_case(
        rng,
        input_format=formats[number % 4],
        dtype=("int8", "half")[number // 4 % 2],
        padding_mode=int(rng.integers(4)),
        csc=bool(rng.integers(2)),
        c_padding_mode=int(rng.integers(2)),
        single_line=bool(rng.integers(2)),
        profile=profile,
        product=al.Product.ATLAS_350 if profile == "dav_3510" else al.Product.ATLAS_A2,
    )
    return al.Call(al.load_image_to_local, {"setup": case.setup(), "params": case.params})


def v2_call(call: Any, out: bool = False) -> al.Call:
    """Make a call of LoadData with version 2's parameters."""
    arguments = {
        "src": al.to_nc1hwc0(call.hwc), "params": call.params, "repeat": call.repeat, "dst": call.dst,
        "product": call.product,
    }  # fmt: skip
    if out:
        result = al.load_data_3d_v2(**arguments)
        arguments["out"] = random_array(result.dtype, result.shape, seed=SEED, name="out")
    return al.Call(al.load_data_3d_v2, arguments)


def v1_call(call: Any) -> al.Call:
    """Make a call of LoadData with version 1's parameters."""
    hwc = call.hwc if call.params.c_size else al.to_nc1hwc0(call.hwc)
    return al.Call(al.load_data_3d_v1, {"src": hwc, "params": call.params, "dst": call.dst})


def padding_call(call: Any, mode: tuple[int, bool], form: int) -> al.Call:
    """Make a call of VectorPadding with a mask, in one of the forms in which masks come."""
    kind, mask, repeats, strides = call
    dtype = np.dtype(TYPES[kind])
    arguments: dict[str, Any] = {
        "src": random_bits(dtype, source_blocks(repeats, strides) * (32 // dtype.itemsize), seed=repeats),
        "pad_mode": mode[0], "pad_side": mode[1], "repeat_time": repeats,
        "repeat_params": al.UnaryRepeatParams(*strides),
    }  # fmt: skip
    if form == 1 and not isinstance(mask, int):
        mask = np.array(mask, np.uint64)
    return al.Call(
        al.vector_padding,
        {**arguments, "mask": al.MASK_PLACEHOLDER, "vector_mask": mask} if form == 2 else {**arguments, "mask": mask},
    )


def quietly(action: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """Call something without the library's warnings, which the random calls deserve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.AscendlabWarning)
        return action(*args, **more)


random_calls = st.one_of(
    st.integers(0, 2**32).map(aipp_call),
    st.builds(v2_call, v2_calls(), st.booleans()),
    v2_calls().map(lambda c: al.Call(al.im2col, {"src": al.to_nc1hwc0(c.hwc), "params": c.params})),
    v1_calls().map(v1_call),
    st.builds(padding_call, strided_calls(), st.tuples(st.integers(0, 2), st.booleans()), st.integers(0, 2)),
    bilinear_calls().map(lambda arguments: al.Call(al.bilinear_interpolation, arguments)),
)


def drawn(dtype: Any, shape: Any, name: str = "src") -> np.ndarray:
    """Draw an operand with the seed of these cases."""
    return random_array(dtype, shape, seed=SEED, name=name)


def examples() -> dict[str, al.Call]:
    """Return one call of each kind, its operands partly drawn, partly not."""
    params = al.LoadData3DParamsV2(
        l1_h=5, l1_w=6, channel_size=16, filter_h=3, filter_w=2, pad_list=(1, 0, 2, 0), pad_value=-1.5,
        m_extension=20, k_extension=96,
    )  # fmt: skip
    setup = al.set_aipp_functions(
        drawn("uint8", (6, 8), "src0"), np.arange(24, dtype=np.uint8).reshape(3, 8),
        input_format=al.AippInputFormat.YUV420SP_U8, dtype="half", product=al.Product.ATLAS_A2,
        config=al.AippParams(csc_params=al.csc_preset("yuv_to_rgb_jpeg"),
                             dtc_params=al.AippDataTypeConvParams(dtc_var_ch0=0.0171)),
    )  # fmt: skip
    window = al.LoadImageToLocalParams(horiz_size=4, vert_size=2, src_horiz_size=8, left_pad_size=3)
    v1 = al.LoadData3DParamsV1(l1_h=4, l1_w=5, filter_w=2, repeat_time=2, pad_value=3)
    int4 = al.LoadData3DParamsV2(l1_h=3, l1_w=3, channel_size=8, filter_h=2, m_extension=6, k_extension=64)
    brain = al.LoadData3DParamsV2(l1_h=3, l1_w=5, channel_size=20, filter_h=2, m_extension=10, k_extension=48)
    offsets = np.arange(0, 1024, 32, dtype=np.uint32)
    bilinear = {
        "src0": drawn("half", 512, "src0"), "src0_offset": offsets, "src1": drawn("half", 16, "src1"),
        "mask": [2**64 - 1, 7], "h_repeat": 2, "repeat_mode": False, "dst_blk_stride": 1, "v_roffset": 128,
        "v_repeat": 2, "product": al.Product.ATLAS_INFERENCE_AI_CORE,
    }  # fmt: skip
    source = drawn("half", (1, 5, 6, 16))
    out = drawn("half", (2, 6, 16, 16), "out")
    return {
        "aipp": al.Call(al.load_image_to_local, {"setup": setup, "params": window}),
        "v2": al.Call(al.load_data_3d_v2, {"src": source, "params": params, "out": out}),
        "v2 int4": al.Call(al.load_data_3d_v2, {"src": drawn("int4", 72), "params": int4}),
        "v2 bfloat16": al.Call(
            al.load_data_3d_v2,
            {"src": drawn(ml_dtypes.bfloat16, 300), "params": brain, "dst": "B2", "product": al.Product.ATLAS_350},
        ),
        "v2 Atlas 350": al.Call(
            al.load_data_3d_v2, {"src": drawn("half", 480), "params": params, "product": al.Product.ATLAS_350}
        ),
        "im2col": al.Call(al.im2col, {"src": source, "params": params}),
        "v1": al.Call(al.load_data_3d_v1, {"src": drawn("int8", (1, 4, 5, 32)), "params": v1}),
        "padding": al.Call(
            al.vector_padding,
            {"src": np.arange(128, dtype=np.int32), "pad_mode": 1, "pad_side": True, "mask": np.array([5], np.uint64)},
        ),
        "bilinear": al.Call(al.bilinear_interpolation, bilinear),
    }


def launched(**shape: int) -> al.capi.Launch:
    """Run the document's kernel."""
    return conv2d_example.run(conv2d_example.Conv2dShape(BATCH=2, H=5, W=7, **shape))[0]


def bits(array: np.ndarray) -> tuple[Any, ...]:
    """Return what two arrays must have in common: type, shape and every bit."""
    return array.dtype, array.shape, np.ascontiguousarray(array).tobytes()
