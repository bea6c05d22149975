"""What a call reads and writes, counted from its provenance."""

from __future__ import annotations

import math
from collections import Counter

import ml_dtypes
import numpy as np
import pytest

import ascendlab as al
from ascendlab.capi.conv2d_example import run
from ascendlab.pictures import to_format
from ascendlab.provenance import Sources, Trace


def picture_call(input_format, dtype, seed, preset=""):
    """Return a call on a small picture with a border of constants on one side."""
    rng = np.random.default_rng(seed)
    src0, src1 = to_format(rng.integers(0, 256, (6, 8, 3), np.uint8), input_format)
    config = al.AippParams(csc_params=al.csc_preset(preset)) if preset else al.AippParams()
    setup = al.set_aipp_functions(src0, src1, input_format=input_format, dtype=dtype, config=config)
    window = al.LoadImageToLocalParams(
        horiz_size=4, vert_size=2, src_horiz_size=8, horiz_start_pos=2, vert_start_pos=2, left_pad_size=3
    )
    return al.Call(al.load_image_to_local, {"setup": setup, "params": window})


def load_call(function, dtype, **more):
    """Return a Load3D call whose last rows are never written."""
    src = np.arange(1, 5 * 7 * 32 + 1).astype(dtype).reshape(-1, 5, 7, 32 // np.dtype(dtype).itemsize)
    params = al.LoadData3DParamsV2(
        l1_h=5, l1_w=7, channel_size=32, filter_h=3, filter_w=2, pad_list=(1, 0, 2, 1), pad_value=3,
        m_extension=16, k_extension=64, m_start_pt=32,
    )  # fmt: skip
    return al.Call(function, {"src": src, "params": params, **more})


HALVES = np.arange(1, 257, dtype=np.float16)
CALLS = {
    "YUV400": (picture_call(al.AippInputFormat.YUV400_U8, "int8", 1), "GM", "L1", 8, 8),
    "NV12 to RGB": (picture_call(al.AippInputFormat.YUV420SP_U8, "half", 2, "yuv_to_rgb_jpeg"), "GM", "L1", 8, 16),
    "Load3D to L0A": (load_call(al.load_data_3d_v2, np.float16), "L1", "L0A", 16, 16),
    "Load3D to L0B": (load_call(al.load_data_3d_v2, np.int32, dst="B2"), "L1", "L0B", 32, 32),
    "im2col": (load_call(al.im2col, np.float32), "L1", "matrix", 32, 32),
    "VectorPadding": (
        al.Call(al.vector_padding, {"src": HALVES, "pad_mode": 2, "pad_side": True, "mask": 100}), "UB", "UB", 16, 16
    ),
    "BilinearInterpolation": (
        al.Call(al.bilinear_interpolation, {
            "src0": HALVES, "src0_offset": np.arange(0, 512, 32, dtype=np.uint32)[::-1].copy(),
            "src1": np.arange(2, 4, dtype=np.float16), "mask": 77, "h_repeat": 2, "repeat_mode": False,
            "dst_blk_stride": 1, "v_roffset": 128, "v_repeat": 1, "shared_tmp_buffer_size": 16896,
        }), "UB", "UB", 16, 16,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_counts_are_those_of_asking_every_element(name: str) -> None:
    """Bytes per memory, reads per element, constants and what is never written: as counted one by one."""
    call, source, target, source_bits, bits = CALLS[name]
    traced = al.trace(call)
    reads: Counter[tuple[str, tuple[int, ...]]] = Counter()
    constants = untouched = 0
    for index in np.ndindex(*traced.shape):
        origin = traced.origin(*index)
        for term in origin.terms:
            reads[term.operand, term.index] += 1
        constants += not origin.terms and origin.constant is not None
        untouched += not origin.terms and origin.constant is None
    found = traced.traffic()
    assert (found.constants, found.untouched) == (constants, untouched)
    assert found.read == {source: sum(reads.values()) * source_bits // 8}
    assert found.different == {source: len(reads) * source_bits // 8}
    assert found.written == {target: (math.prod(traced.shape) - untouched) * bits // 8}
    for operand, counts in found.reads.items():
        for index in np.ndindex(*counts.shape):
            assert counts[index] == reads[operand, index]
    assert traced.reads().keys() == found.reads.keys()
    text = str(found)
    assert f"{source} {found.read[source]:,} bytes" in text
    assert f"{target} {found.written[target]:,} bytes" in text
    assert ("never written" in text) == bool(untouched)
    assert ("constants" in text) == bool(constants)


def test_the_cases_have_everything_to_count() -> None:
    """Among the calls above are some with constants and some with elements that are never written."""
    counts = [al.trace(call).traffic() for call, *_ in CALLS.values()]
    assert sum(count.constants > 0 for count in counts) >= 3
    assert sum(count.untouched > 0 for count in counts) >= 3


def test_int4_counts_half_bytes() -> None:
    """Two int4 elements share a byte."""
    src = np.zeros((1, 3, 3, 64), ml_dtypes.int4)
    params = al.LoadData3DParamsV2(l1_h=3, l1_w=3, channel_size=64, filter_h=1, filter_w=1, m_extension=16,
                                   k_extension=64)  # fmt: skip
    found = al.trace(al.Call(al.load_data_3d_v2, {"src": src, "params": params, "product": al.Product.ATLAS_A2}))
    assert found.traffic().read == {"L1": 9 * 64 // 2}


def test_a_kernels_bytes_are_those_of_its_log() -> None:
    """A launch counts every step of every block, memory by memory, as its log says them."""
    launched = run()[0]
    found = al.trace(launched).traffic()
    steps = [step for core in launched.cores for step in core.steps]
    assert sum(found.read.values()) == sum(step.bytes_read for step in steps)
    assert sum(found.written.values()) == sum(step.bytes_written for step in steps)
    assert found.written["GM"] == launched.gm["output"].array.nbytes
    # Every block loads 25 windows of 288 elements, as 32 rows of fractals hold them, and multiplies the 25.
    assert found.read["L0A"] == 4 * 25 * 288 * 2
    assert "different" not in str(found)


def test_a_trace_without_memories_counts_elements_only() -> None:
    """Reads per element need no memory to be named; bytes do."""
    found = Trace((4,), {"src": (2,)}, lambda flat: Sources.copies(flat // 2)).traffic()
    assert found.reads["src"].tolist() == [2, 2]
    assert str(found) == "read:    nothing\nwritten: nothing"
