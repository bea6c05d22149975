"""BilinearInterpolation: the document's examples, the element-by-element oracle, limits, bad calls, provenance."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import vector_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendlab as al
from ascendlab.vector import (
    BILINEAR_INTERPOLATION_ARGUMENTS,
    bilinear_interpolation_plan,
    shared_tmp_buffer_bytes,
)

P = al.Product
FULL = 2**64 - 1
HAVE_IT = (P.ATLAS_350, P.ATLAS_A3, P.ATLAS_A2, P.ATLAS_INFERENCE_AI_CORE)


def document_call(**more):
    """Return the arguments of the document's example."""
    return {
        "src0": np.arange(1, 513, dtype=np.float16),
        "src0_offset": np.arange(0, 1024, 32, dtype=np.uint32),
        "src1": np.arange(2, 18, dtype=np.float16),
        "mask": 128,
        "h_repeat": 2,
        "repeat_mode": False,
        "dst_blk_stride": 1,
        "v_roffset": 128,
        "v_repeat": 2,
        **more,
    }


def halves(rng, size):
    """Make halves of usual sizes, with a few of every other kind between them."""
    values = (rng.normal(size=size) * 2.0 ** rng.integers(-4, 5, size)).astype(np.float16)
    odd = rng.random(size) < 0.05
    values[odd] = rng.integers(0, 65536, int(odd.sum()), dtype=np.uint16).view(np.float16)
    return values


# ---- the document


@pytest.mark.rule("bilinear-sum")
@pytest.mark.parametrize("mask", [128, [FULL, FULL], (FULL, FULL)])
@pytest.mark.parametrize("product", HAVE_IT)
def test_examples_of_the_document(mask, product):
    """The document's input gives its numbers, in both forms of the mask, on all products that have the instruction."""
    result = al.bilinear_interpolation(**document_call(mask=mask), product=product)
    assert result.shape == (256,)
    assert result[:4].tolist() == [389, 394, 399, 404]
    assert result[-1] == 4096
    assert vector_oracle.same_numbers(result, vector_oracle.bilinear(**document_call(mask=mask)))


@pytest.mark.rule("bilinear-repeat-mode")
def test_one_weight_for_each_block():
    """With repeatMode the eight blocks of an iteration have weights of their own."""
    src0 = np.ones(128, np.float16)
    arguments = document_call(src0=src0, src0_offset=np.arange(0, 256, 32, dtype=np.uint32), h_repeat=1, v_repeat=1)
    assert al.bilinear_interpolation(**arguments)[::16].tolist() == [2] * 8
    assert al.bilinear_interpolation(**{**arguments, "repeat_mode": True})[::16].tolist() == [*range(2, 10)]


# ---- the oracle


@st.composite
def calls(draw):
    """Draw a legal call: any mask, gaps and interleaving in dst, blocks read again, weights and samples of any kind."""
    h_repeat, v_repeat = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    repeat_mode = draw(st.booleans())
    shape = draw(st.sampled_from(["apart", "interleaved"]))
    if shape == "apart":
        dst_blk_stride = draw(st.integers(1, 3))
        v_roffset = 16 * draw(st.integers(max(8, 7 * dst_blk_stride + 1), 30))
    else:
        v_roffset = 16 * draw(st.integers(8, 9))
        dst_blk_stride = v_roffset // 16 * v_repeat + draw(st.integers(0, 3))
    word = st.integers(0, FULL)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    blocks = draw(st.integers(1, 40))
    iterations = h_repeat * v_repeat
    return {
        "src0": halves(rng, 16 * blocks + draw(st.integers(0, 15))),
        "src0_offset": (32 * rng.integers(0, blocks, 8 * iterations + draw(st.integers(0, 9)))).astype(np.uint32),
        "src1": halves(rng, iterations * (8 if repeat_mode else 1) + draw(st.integers(0, 9))),
        "mask": draw(st.integers(1, 128) | st.tuples(word, word).filter(any)),
        "h_repeat": h_repeat,
        "repeat_mode": repeat_mode,
        "dst_blk_stride": dst_blk_stride,
        "v_roffset": v_roffset,
        "v_repeat": v_repeat,
    }


@pytest.mark.rule("bilinear-sum")
@pytest.mark.rule("bilinear-non-finite")
@pytest.mark.rule("bilinear-offsets")
@pytest.mark.rule("bilinear-destination")
@settings(max_examples=60)
@given(calls(), st.booleans())
def test_any_call(call, with_out):
    """Whatever the strides, masks, offsets and numbers are, the result is what loops in exact arithmetic give."""
    sources = [call[name].copy() for name in ("src0", "src0_offset", "src1")]
    size = vector_oracle.bilinear(**{**call, "mask": 1}).size
    before = halves(np.random.default_rng(1), size) if with_out else None
    expected = vector_oracle.bilinear(**call, before=before)
    out = None if before is None else before.copy()
    result = al.bilinear_interpolation(**call, out=out)
    assert vector_oracle.same_numbers(result, expected)
    assert out is None or result is out
    assert all(np.array_equal(call[n].view("u1"), s.view("u1")) for n, s in zip(
        ("src0", "src0_offset", "src1"), sources, strict=True))  # fmt: skip


def numpy_half(call):
    """Compute a call with NumPy's half arithmetic, for sizes that exact loops take too long for."""
    h, v = call["h_repeat"], call["v_repeat"]
    blocks = call["src0"].reshape(-1, 16)[call["src0_offset"][: 8 * h * v].reshape(v, h, 8) // 32]
    weights = call["src1"][: h * v * (8 if call["repeat_mode"] else 1)].reshape(v, h, -1, 1)
    total = np.zeros((v, 8, 16), np.float16)
    with np.errstate(all="ignore"):
        for k in range(h):
            total = total + blocks[:, k] * weights[:, k]
    return total.ravel()


@pytest.mark.rule("bilinear-sum")
@pytest.mark.parametrize(("h", "v"), [(15, 15), (255, 3), (2, 255), (1, 255), (255, 60)])
@pytest.mark.parametrize("repeat_mode", [False, True])
def test_large_calls_agree_with_half_arithmetic(h, v, repeat_mode):
    """Calls computed in several pieces, or from a very large source, are the bits of NumPy's half arithmetic."""
    rng = np.random.default_rng(h)
    for blocks in (30, 600000 if h * v < 300 else 3000):
        call = document_call(
            src0=np.tile(halves(rng, 16 * 30), blocks // 30),
            src0_offset=(32 * rng.integers(0, blocks, 8 * h * v)).astype(np.uint32),
            src1=(rng.normal(size=8 * h * v) / h).astype(np.float16),
            h_repeat=h,
            v_repeat=v,
            repeat_mode=repeat_mode,
        )
        assert vector_oracle.same_numbers(al.bilinear_interpolation(**call), numpy_half(call))


@pytest.mark.rule("bilinear-sum")
def test_every_step_rounds_to_half():
    """Products and sums round one by one: one rounding at the end, or another order, would give other numbers."""
    src0 = np.repeat(np.float16([2048, 1, 1, 1 / 3]), 16)
    call = document_call(src0=src0, h_repeat=3, v_repeat=1, src1=np.ones(3, np.float16))
    offsets = np.repeat(np.uint32([0, 32, 64]), 8)
    assert al.bilinear_interpolation(**{**call, "src0_offset": offsets})[0] == 2048  # 2048 + 1 + 1, each rounded
    assert al.bilinear_interpolation(**{**call, "src0_offset": offsets[::-1].copy()})[0] == 2050
    third = np.float16(1 / 3)
    product = al.bilinear_interpolation(
        **{**call, "src0_offset": np.full(8, 96, np.uint32), "src1": np.float16([1 / 3]), "h_repeat": 1}
    )
    assert product[0] == third * third


@pytest.mark.rule("bilinear-non-finite")
def test_overflow_and_signed_zero():
    """Overflow gives infinity and stays, infinity times 0 is NaN, and a sum that starts from 0 is never -0."""
    src0 = np.repeat(np.float16([60000, -0.0, np.inf, -60000, 1e-7]), 16)

    def run(blocks, weights):
        offsets = np.repeat(np.uint32(blocks) * np.uint32(32), 8)
        call = document_call(src0=src0, src0_offset=offsets, src1=np.float16(weights), h_repeat=len(blocks), v_repeat=1)
        return al.bilinear_interpolation(**call)[0]

    assert run([0, 0, 3], [1, 1, 1]) == np.inf
    assert np.isnan(run([2], [0]))
    assert np.isnan(run([2, 2], [1, -1]))
    assert not np.signbit(run([1], [1]))
    assert not np.signbit(run([4], [-1e-7]))
    assert run([0], [1.1]) == np.inf
    assert run([0], [1.0918]) == 65504


# ---- bad calls


def wrong_call(**arguments):
    """Make a call that must fail, with an `out` that must stay as it is."""
    call = document_call(out=np.full(256, 7, np.float16))
    call |= arguments
    before = call["out"].copy() if isinstance(call["out"], np.ndarray) else None
    try:
        al.bilinear_interpolation(**call)
    finally:
        assert before is None or call["out"].tobytes() == before.tobytes()


def offsets_with(index, value, size=32):
    """Return the example's offsets, one of them replaced."""
    offsets = np.arange(0, 32 * size, 32, dtype=np.uint32) % 1024
    offsets[index] = value
    return offsets


BIG = 10**5000
WRONG_CALLS = {
    "src0 float32": ({"src0": np.ones(512, np.float32)}, "src0 = a float32 array"),
    "src0 strided": ({"src0": np.ones(1024, np.float16)[::2]}, "src0 = .*contiguous"),
    "src0 2-D": ({"src0": np.ones((32, 16), np.float16)}, "src0 = "),
    "src0 list": ({"src0": [1.0] * 512}, "src0 = "),
    "src0 bare": ({"src0": np.ones(15, np.float16)}, r"src0Offset\[0\] = 0 .*no offset"),
    "offsets int32": ({"src0_offset": np.arange(0, 1024, 32, dtype=np.int32)}, "src0Offset = an int32 array"),
    "offsets short": ({"src0_offset": offsets_with(0, 0)[:31]}, "src0Offset = .*at least 32 elements"),
    "offset unaligned": ({"src0_offset": offsets_with(5, 48)}, r"src0Offset\[5\] = 48 .*\[0, 992\]"),
    "offset behind src0": ({"src0_offset": offsets_with(31, 1024)}, r"src0Offset\[31\] = 1024 .*\[0, 992\]"),
    "offset huge": ({"src0_offset": offsets_with(7, 2**32 - 32)}, r"src0Offset\[7\] = 4294967264"),
    "src1 int": ({"src1": np.arange(16)}, "src1 = an int64 array"),
    "src1 short": ({"src1": np.ones(3, np.float16)}, "src1 = .*at least 4 elements"),
    "src1 short for blocks": ({"src1": np.ones(31, np.float16), "repeat_mode": True}, "src1 = .*at least 32 elements"),
    "mask 0": ({"mask": 0}, "mask = 0"),
    "mask 129": ({"mask": 129}, "mask = 129"),
    "mask empty": ({"mask": [0, 0]}, "mask = "),
    "mask short": ({"mask": [FULL]}, "mask = "),
    "mask placeholder": ({"mask": al.MASK_PLACEHOLDER}, "mask = MASK_PLACEHOLDER .*isSetMask"),
    "mask None": ({"mask": None}, "mask = None"),
    "repeat_mode 0": ({"repeat_mode": 0}, "repeatMode = 0"),
    "dst_blk_stride huge": ({"dst_blk_stride": 65536}, "dstBlkStride = 65536"),
    "v_roffset unaligned": ({"v_roffset": 136}, "vROffset = 136 .*multiple of 16"),
    "tmp -1": ({"shared_tmp_buffer_size": -1}, "sharedTmpBuffer = -1"),
    "tmp text": ({"shared_tmp_buffer_size": "1"}, "sharedTmpBuffer = "),
    "check_capacity": ({"check_capacity": None}, "check_capacity = None"),
    "product": ({"product": "350"}, "product = '350'"),
    "out short": ({"out": np.ones(255, np.float16)}, "out = "),
    "out long": ({"out": np.ones(257, np.float16)}, "out = "),
    "out float32": ({"out": np.ones(256, np.float32)}, "out = "),
    "out strided": ({"out": np.ones(512, np.float16)[::2]}, "out = "),
}


@pytest.mark.parametrize("wrong", WRONG_CALLS)
def test_a_wrong_call_is_refused_untouched(wrong):
    """What the document does not allow is refused by the parameter's name, before anything is written."""
    arguments, message = WRONG_CALLS[wrong]
    with pytest.raises(al.ParameterError, match=f"^{message}"):
        wrong_call(**arguments)


@pytest.mark.rule("bilinear-ranges")
@pytest.mark.parametrize(
    ("name", "spelled", "values"),
    [
        ("h_repeat", "hRepeat", [0, 256, -1, True, 2.0, "2", None, BIG]),
        ("v_repeat", "vRepeat", [0, 256, -1, False, np.float16(2), [2], BIG]),
        ("v_roffset", "vROffset", [0, 127, 112, 65535, 65536, -128, True, BIG, float("nan")]),
        ("dst_blk_stride", "dstBlkStride", [-1, 65536, True, 1.0, BIG]),
    ],
)
def test_ranges(name, spelled, values):
    """Repeats and distances outside the document's ranges are refused; the ends of the ranges work."""
    for value in values:
        with pytest.raises(al.ParameterError, match=f"^{spelled} = "):
            wrong_call(**{name: value})
    call = document_call(h_repeat=1, v_repeat=1)
    assert al.bilinear_interpolation(**{**call, "v_roffset": 65520}).size == 128
    assert al.bilinear_interpolation(**{**call, "v_repeat": 2, "v_roffset": 65520}).size == 65520 + 128
    assert al.bilinear_interpolation(**{**call, "dst_blk_stride": 65535}).size == (7 * 65535 + 1) * 16


@pytest.mark.rule("bilinear-products")
@pytest.mark.parametrize("product", P)
def test_products(product):
    """Four product families have the instruction, the others are refused by name."""
    if product in HAVE_IT:
        al.bilinear_interpolation(**document_call(), product=product)
    else:
        with pytest.raises(al.UnsupportedProductError, match=str(product)):
            wrong_call(product=product)


@pytest.mark.rule("bilinear-overlap")
@pytest.mark.rule("vector-overlap")
@pytest.mark.parametrize("mask", [128, 16])
def test_overlapping_destinations_are_refused_and_interleaved_ones_are_not(mask):
    """What counts is whether two repeats write one DataBlock, not whether their ranges overlap; nor does the mask."""
    with pytest.raises(al.ParameterError, match=r"^dstBlkStride = 0"):
        wrong_call(dst_blk_stride=0, mask=mask)
    with pytest.raises(al.ParameterError, match=r"^vROffset = 128 .*block 0 of repeat 1"):
        wrong_call(dst_blk_stride=2, mask=mask)
    call = document_call(dst_blk_stride=16, mask=mask)
    assert vector_oracle.same_numbers(al.bilinear_interpolation(**call), vector_oracle.bilinear(**call))
    odd = document_call(dst_blk_stride=2, v_roffset=144, mask=mask)
    assert vector_oracle.same_numbers(al.bilinear_interpolation(**odd), vector_oracle.bilinear(**odd))


@pytest.mark.rule("bilinear-overlap")
def test_sources_that_share_memory_are_refused():
    """src0, src1 and src0Offset lie apart from each other, and `out` apart from all of them."""
    memory = np.arange(1, 2049, dtype=np.float16)
    offsets = np.zeros(64, np.uint32)
    with pytest.raises(al.ParameterError, match=r"^src1 = .*shares no memory with src0"):
        wrong_call(src0=memory[:512], src1=memory[511:600])
    with pytest.raises(al.ParameterError, match=r"^src0Offset = .*shares no memory with src0"):
        wrong_call(src0=offsets.view(np.float16), src0_offset=offsets[:32])
    with pytest.raises(al.ParameterError, match=r"^src1 = .*shares no memory with src0Offset"):
        wrong_call(src1=offsets.view(np.float16)[:16], src0_offset=offsets)
    for name, own in (("src0", memory[:512]), ("src1", memory[:16]), ("src0_offset", memory[:64].view(np.uint32))):
        if name == "src0_offset":
            own[:] = 0
        with pytest.raises(al.ParameterError, match=r"^out = .*shares no memory"):
            wrong_call(**{name: own}, out=memory[:256])


@pytest.mark.rule("bilinear-tmp-buffer")
def test_temporary_buffer():
    """Each product asks for the bytes that the document names; one less is refused, None is not looked at."""
    needed = {P.ATLAS_350: 0, P.ATLAS_A2: 528 * 32, P.ATLAS_A3: 528 * 32, P.ATLAS_INFERENCE_AI_CORE: 32 * 4}
    for product, size in needed.items():
        assert shared_tmp_buffer_bytes(product, 512, 16, 32) == size
        al.bilinear_interpolation(**document_call(), product=product, shared_tmp_buffer_size=size)
        if size:
            with pytest.raises(al.BufferOverflowError, match=f"sharedTmpBuffer: {size:,} bytes needed, {size - 1:,}"):
                wrong_call(product=product, shared_tmp_buffer_size=size - 1)
    most = 2**32 - 1  # what a uint32_t holds
    al.bilinear_interpolation(**document_call(), product=P.ATLAS_A2, shared_tmp_buffer_size=most)
    assert shared_tmp_buffer_bytes(P.ATLAS_350, most, most, most) == 0
    with pytest.raises(al.ParameterError, match="sharedTmpBuffer = 4294967296"):
        wrong_call(product=P.ATLAS_A2, shared_tmp_buffer_size=most + 1)
    for sizes in ((most + 1, 0, 0), (0, most + 1, 0), (0, 0, most + 1)):
        with pytest.raises(al.ParameterError, match="4294967296"):
            shared_tmp_buffer_bytes(P.ATLAS_350, *sizes)


@pytest.mark.rule("vector-capacity")
def test_capacity_counts_all_operands():
    """With check_capacity sources, result and temporary buffer together must fit into the Unified Buffer."""
    call = document_call()
    room = 192 * 1024 - (1024 + 128 + 32 + 512)
    al.bilinear_interpolation(**call, product=P.ATLAS_A2, shared_tmp_buffer_size=room, check_capacity=True)
    with pytest.raises(al.BufferOverflowError, match="UB: 196,640 bytes needed, 196,608 bytes there"):
        wrong_call(product=P.ATLAS_A2, shared_tmp_buffer_size=room + 1, check_capacity=True)
    src0 = np.ones(2000 * 16, np.float16)
    al.bilinear_interpolation(**document_call(src0=src0), check_capacity=True)
    with pytest.raises(al.BufferOverflowError, match=r"UB: .*sharedTmpBuffer 1,024,512"):
        wrong_call(src0=src0, product=P.ATLAS_A3, check_capacity=True)


# ---- what the public implementation for A2 and A3 does not do


def large_call(h=1, v=1, extra=0, **more):
    """Return a legal call of any size."""
    return document_call(
        src0_offset=np.zeros(8 * h * v, np.uint32),
        src1=np.ones(-(-h * v // 8) * 8 + extra, np.float16),
        h_repeat=h,
        v_repeat=v,
        **more,
    )


LIMITS = {
    "hRepeat * 8 = 256": (large_call(32, 2), large_call(31, 2), large_call(32, 1)),
    "vROffset / 16 = 256": (
        large_call(1, 2, v_roffset=4096), large_call(1, 2, v_roffset=4080), large_call(1, 1, v_roffset=4096)),
    "hRepeat * vRepeat = 256": (large_call(16, 16), large_call(17, 15), large_call(1, 255)),
    "src1.GetSize() / 8 = 256": (large_call(extra=2040), large_call(extra=2032), large_call(extra=2039)),
}  # fmt: skip


@pytest.mark.rule("bilinear-a2-uint8")
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("product", [P.ATLAS_A2, P.ATLAS_A3])
def test_what_does_not_fit_into_uint8_is_warned_of(limit, product):
    """A number that wraps in the implementation is named; the result stays the documented one; others are silent."""
    beyond, *within = LIMITS[limit]
    with pytest.warns(al.KernelLimitWarning, match=re.escape(limit)) as caught:
        result = al.bilinear_interpolation(**beyond, product=product)
    assert caught[0].filename == __file__
    assert vector_oracle.same_numbers(result, al.bilinear_interpolation(**beyond, product=P.ATLAS_350))
    al.bilinear_interpolation(**beyond, product=P.ATLAS_INFERENCE_AI_CORE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in within:
            al.bilinear_interpolation(**call, product=product)


@pytest.mark.rule("bilinear-a2-eights")
def test_weights_in_an_incomplete_eight_are_warned_of():
    """A2 and A3 read src1 in eights: weights behind the last full eight are missing, unless nobody needs them."""
    call = large_call(3, 3)
    call["src1"] = np.ones(15, np.float16)
    with pytest.warns(al.KernelLimitWarning, match="of its 15 elements it reads 8, and this call needs 9"):
        al.bilinear_interpolation(**call, product=P.ATLAS_A2)
    al.bilinear_interpolation(**call, product=P.ATLAS_350)
    call["src1"] = np.ones(16, np.float16)
    al.bilinear_interpolation(**call, product=P.ATLAS_A2)
    call = large_call(2, 4)
    call["src1"] = np.ones(15, np.float16)
    al.bilinear_interpolation(**call, product=P.ATLAS_A2)


@pytest.mark.rule("bilinear-a2-tmp-buffer")
def test_a_documented_buffer_that_is_too_small_is_warned_of():
    """Where blocks are read again, A2 and A3 need more temporary bytes than the document says."""
    call = large_call(4, 4)
    call["src0"] = np.ones(16, np.float16)
    documented, real = 32 * (16 + 16), 256 * 16 + 32 * 16
    with pytest.warns(al.KernelLimitWarning, match=f"{real:,} bytes of sharedTmpBuffer, not the {real - 1:,} given"):
        al.bilinear_interpolation(**call, product=P.ATLAS_A3, shared_tmp_buffer_size=real - 1)
    assert documented < real
    for size in (real, None):
        al.bilinear_interpolation(**call, product=P.ATLAS_A3, shared_tmp_buffer_size=size)


# ---- tables and provenance


def test_arguments_are_described_by_fields():
    """Each plain argument of the instruction has a Field: name and range of the document, for code and controls."""
    found = {n: (f.document_name, f.low, f.high) for n, f in BILINEAR_INTERPOLATION_ARGUMENTS.items()}
    assert found == {
        "mask": ("mask", 1, 128),
        "h_repeat": ("hRepeat", 1, 255),
        "repeat_mode": ("repeatMode", None, None),
        "dst_blk_stride": ("dstBlkStride", 0, 65535),
        "v_roffset": ("vROffset", 128, 65534),
        "v_repeat": ("vRepeat", 1, 255),
    }


@settings(max_examples=40)
@given(calls())
def test_a_result_can_be_rebuilt_from_its_trace(call):
    """Adding up the traced samples times weights in half, in their order, gives the result."""
    traced = al.trace(al.Call(al.bilinear_interpolation, call))
    found = traced.sources()
    rebuilt = np.zeros(traced.shape, np.float16)
    with np.errstate(all="ignore"):
        for k in range(call["h_repeat"]):
            here = found.operand[:, k] == 0
            samples = call["src0"][found.index[here, k]]
            rebuilt[here] += samples * found.weight[here, k].astype(np.float16)
    assert (found.untouched == (found.operand[:, 0] < 0)).all()
    assert vector_oracle.same_numbers(al.bilinear_interpolation(**call), rebuilt)


def test_origins_in_words():
    """An element's origin names samples of src0 with their weights from src1, in the order of addition."""
    traced = al.trace(al.Call(al.bilinear_interpolation, document_call(mask=120)))
    assert str(traced.origin(0)) == "2 * src0[0] + 3 * src0[128]"
    assert str(traced.origin(128 + 119)) == "4 * src0[375] + 5 * src0[503]"
    assert str(traced.origin(120)) == "never written"
    by_block = al.trace(al.Call(al.bilinear_interpolation, document_call(repeat_mode=True, src1=np.ones(32, "f2") * 3)))
    assert str(by_block.origin(17)) == "3 * src0[17] + 3 * src0[145]"
    assert by_block.reads()["src0"].sum() == 512


def test_moves_and_weights_between_blocks():
    """The plan says for each iteration which block is read, which weight it meets, and where the sum goes."""
    call = document_call(v_roffset=256, src0_offset=np.arange(992, -1, -32, dtype=np.uint32))
    plan = bilinear_interpolation_plan(**call)
    moves = plan.moves(1)
    assert moves.source.tolist() == [*range(23, 15, -1), *range(7, -1, -1)]
    assert moves.destination.tolist() == [*range(8), *range(16, 24)]
    assert moves.repeat.tolist() == [0] * 8 + [1] * 8
    assert plan.weight_index.tolist() == [[[0], [1]], [[2], [3]]]
    by_block = bilinear_interpolation_plan(**{**call, "repeat_mode": True, "src1": np.ones(32, np.float16)})
    assert by_block.weight_index[1, 0].tolist() == [*range(16, 24)]
    with pytest.raises(al.ParameterError, match=r"^iteration = 2"):
        plan.moves(2)
