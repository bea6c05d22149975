"""VectorPadding: the document's examples, the element-by-element oracle, bad calls, provenance."""

from __future__ import annotations

import numpy as np
import pytest
import vector_oracle
from hypothesis import given
from hypothesis import strategies as st

import ascendlab as al
from ascendlab.fields import Field
from ascendlab.vector import (
    VECTOR_PADDING_ARGUMENTS,
    VECTOR_PADDING_TYPES,
    vector_padding_plan,
)

TYPES = {
    "int16": np.int16,
    "uint16": np.uint16,
    "half": np.float16,
    "int32": np.int32,
    "uint32": np.uint32,
    "float": np.float32,
}
FULL = 2**64 - 1


def random_bits(dtype, size, seed=0):
    """Make an array of any bits: NaNs with payloads, infinities, subnormals, both zeros."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, size * dtype.itemsize, dtype=np.uint8).view(dtype)


def same_bits(got, expected):
    """Compare type, shape and every bit."""
    return got.dtype == expected.dtype and got.shape == expected.shape and got.tobytes() == expected.tobytes()


# ---- the document

LETTERS = np.frombuffer(b"abcdefghijklmnop", np.uint8).astype(np.int16)


def word(array):
    """Return an array of letters as text, 0 as x."""
    return "".join(chr(v) if v else "x" for v in array)


@pytest.mark.parametrize(
    ("mode", "right", "expected"),
    [
        pytest.param(0, False, "aaaaaaaaaaaaaaaa", marks=pytest.mark.rule("vector-padding-nearest")),
        pytest.param(0, True, "pppppppppppppppp", marks=pytest.mark.rule("vector-padding-nearest")),
        pytest.param(1, False, "ponmlkjihgfedcba", marks=pytest.mark.rule("vector-padding-mirror")),
        pytest.param(1, True, "ponmlkjihgfedcba", marks=pytest.mark.rule("vector-padding-mirror")),
        pytest.param(2, False, "xponmlkjihgfedcb", marks=pytest.mark.rule("vector-padding-shifted")),
        pytest.param(2, True, "onmlkjihgfedcbax", marks=pytest.mark.rule("vector-padding-shifted")),
    ],
)
def test_modes_and_sides(mode, right, expected):
    """The document's a to p: its three elements beside the edge, and what follows from them for the whole block."""
    assert word(al.vector_padding(LETTERS, mode, right, count=16)) == expected


@pytest.mark.rule("vector-padding-nearest")
def test_examples_of_the_document():
    """The three calls of the document make the same 512 elements, its result among them."""
    first = [6.938, -8.86, -0.2263]
    src = np.concatenate([np.float16(first), random_bits(np.int16, 509).view(np.float16)])
    src[14:16] = 1.971, 1.778
    by_count = al.vector_padding(src, 0, False, count=512)
    assert by_count[:16].tolist() == [np.float16(6.938)] * 16
    strides = al.UnaryRepeatParams(1, 1, 8, 8)
    for mask in (256 // 2, [FULL, FULL]):
        result = al.vector_padding(src, 0, False, mask=mask, repeat_time=4, repeat_params=strides)
        assert same_bits(result, by_count)
    assert same_bits(by_count, np.repeat(src[::16], 16))


# ---- the oracle


def source_blocks(repeats, strides):
    """Return how many DataBlocks of src a call with these strides reads, from the start on."""
    return (repeats - 1) * strides[3] + 7 * strides[1] + 1 if repeats else 0


modes = st.tuples(st.integers(0, 2), st.booleans())
types = st.sampled_from(sorted(TYPES))


@pytest.mark.rule("vector-padding-count")
@given(types, modes, st.integers(0, 300), st.integers(0, 40))
def test_any_count(kind, mode, count, more):
    """The first count elements are written, whatever the count is a multiple of; the result has just these."""
    dtype = np.dtype(TYPES[kind])
    per_block = 32 // dtype.itemsize
    src = random_bits(dtype, -(-count // per_block) * per_block + more, seed=count)
    before = src.copy()
    result = al.vector_padding(src, *mode, count=count)
    assert same_bits(result, vector_oracle.padding_by_count(src, *mode, count))
    assert same_bits(src, before)


@st.composite
def strided_calls(draw):
    """Draw a call with a mask: strides of 0 and overlapping sources included, destinations apart."""
    kind = draw(types)
    words = st.integers(0, FULL)
    mask = draw(
        st.integers(1, 64) | st.tuples(st.integers(1, FULL))
        if np.dtype(TYPES[kind]).itemsize == 4
        else st.integers(1, 128) | st.tuples(words, words).filter(any)
    )
    repeats = draw(st.integers(0, 5))
    src_blk, src_rep = draw(st.integers(0, 9)), draw(st.integers(0, 20))
    shape = draw(st.sampled_from(["apart", "interleaved", "repeats inside"]))
    if shape == "apart":
        dst_blk = draw(st.integers(1, 5))
        dst_rep = draw(st.integers(7 * dst_blk + 1, 7 * dst_blk + 9))
    elif shape == "interleaved":
        dst_rep = draw(st.integers(1, 3))
        dst_blk = dst_rep * max(repeats, 1) + draw(st.integers(0, 2))
    else:
        dst_blk, dst_rep = draw(st.sampled_from([(2, 15), (2, 1), (3, 1)]))
        repeats = min(repeats, 2)
    return kind, mask, repeats, (dst_blk, src_blk, dst_rep, src_rep)


@pytest.mark.rule("vector-datablock")
@pytest.mark.rule("vector-mask-writes")
@given(strided_calls(), modes, st.booleans())
def test_any_mask_and_strides(call, mode, with_out):
    """Masks of both forms, strides and repeats give what loops over blocks and lanes give, on new and used memory."""
    kind, mask, repeats, strides = call
    dtype = np.dtype(TYPES[kind])
    src = random_bits(dtype, source_blocks(repeats, strides) * (32 // dtype.itemsize), seed=repeats)
    expected = vector_oracle.padding_by_mask(src, *mode, mask, repeats, strides, None)
    before = random_bits(dtype, expected.size, seed=9) if with_out else None
    if with_out:
        expected = vector_oracle.padding_by_mask(src, *mode, mask, repeats, strides, before)
    result = al.vector_padding(
        src, *mode, mask=mask, repeat_time=repeats, repeat_params=al.UnaryRepeatParams(*strides), out=before
    )
    assert same_bits(result, expected)
    assert before is None or result is before


@pytest.mark.rule("vector-padding-types")
@pytest.mark.parametrize("kind", TYPES)
def test_every_bit_arrives(kind):
    """All 16-bit patterns, NaN payloads and negative zeros included, come out as they went in."""
    dtype = np.dtype(TYPES[kind])
    patterns = np.arange(65536, dtype=np.uint32)
    src = patterns.astype(np.uint16).view(dtype) if dtype.itemsize == 2 else (patterns * 0x10001).view(dtype)
    mirrored = al.vector_padding(src, 1, False, count=src.size)
    per_block = 32 // dtype.itemsize
    assert mirrored.tobytes() == src.reshape(-1, per_block)[:, ::-1].tobytes()


def test_the_longest_call():
    """255 repeats and a count beyond any repeat count work on the same data alike."""
    src = random_bits(np.float16, 255 * 128)
    by_mask = al.vector_padding(src, 2, True, mask=128, repeat_time=255)
    assert same_bits(by_mask, al.vector_padding(src, 2, True, count=255 * 128))


@pytest.mark.rule("vector-padding-nothing")
def test_nothing_to_do():
    """No repeats or no elements: an empty result, or an empty `out`, from an empty source."""
    empty = np.zeros(0, np.uint16)
    for form in ({"mask": 5, "repeat_time": 0}, {"count": 0}):
        result = al.vector_padding(empty, 1, False, **form)
        assert (result.dtype, result.shape) == (np.uint16, (0,))
        out = np.zeros(0, np.uint16)
        assert al.vector_padding(empty, 1, False, out=out, **form) is out


@pytest.mark.rule("vector-result-size")
def test_result_size():
    """Without `out` the result ends with the last DataBlock addressed, masked lanes included, and is 0 in between."""
    src = np.ones(128, np.int16)
    result = al.vector_padding(src, 0, False, mask=1, repeat_params=al.UnaryRepeatParams(3, 1, 8, 8))
    assert result.size == (7 * 3 + 1) * 16
    assert np.flatnonzero(result).tolist() == [0]
    assert al.vector_padding(src, 0, False, count=77).size == 77


@pytest.mark.rule("vector-mask-placeholder")
def test_a_mask_set_outside():
    """With MASK_PLACEHOLDER the mask is the one that SetVectorMask has set, in either form."""
    src = random_bits(np.int16, 256)
    for mask in (37, [5, FULL]):
        inside = al.vector_padding(src, 1, True, mask=mask, repeat_time=2)
        outside = al.vector_padding(src, 1, True, mask=al.MASK_PLACEHOLDER, vector_mask=mask, repeat_time=2)
        assert same_bits(inside, outside)


# ---- bad calls

SRC = np.arange(256, dtype=np.int16)


def wrong_call(**arguments):
    """Make a call that must fail, with an `out` that must stay as it is."""
    call = {"src": SRC, "pad_mode": 1, "pad_side": False, **arguments}
    call.setdefault("out", np.full(128, 77, np.int16))
    before = call["out"].copy() if isinstance(call["out"], np.ndarray) else None
    try:
        al.vector_padding(**call)
    finally:
        assert before is None or same_bits(call["out"], before)


BIG = 10**5000
WRONG_CALLS = {
    "pad_mode 3": ({"pad_mode": 3, "count": 128}, "padMode = 3"),
    "pad_mode True": ({"pad_mode": True, "count": 128}, "padMode = True"),
    "pad_side 1": ({"pad_side": 1, "count": 128}, "padSide = 1"),
    "count -1": ({"count": -1}, "count = -1"),
    "count huge": ({"count": BIG}, "count = an integer of"),
    "count True": ({"count": True}, "count = True"),
    "count and mask": ({"count": 128, "mask": 128}, "mask = 128 .*since count is given"),
    "count and vector_mask": ({"count": 128, "vector_mask": 128}, "vector_mask = 128 .*since count is given"),
    "count and repeats": ({"count": 128, "repeat_time": 2}, "repeatTime = 2"),
    "count and strides": ({"count": 128, "repeat_params": al.UnaryRepeatParams(2)}, "repeatParams = "),
    "neither": ({}, "mask = None"),
    "placeholder alone": ({"mask": al.MASK_PLACEHOLDER}, "vector_mask = None"),
    "vector_mask alone": ({"vector_mask": 5}, "mask = None"),
    "both masks": ({"mask": 5, "vector_mask": 5}, "mask = 5 .*MASK_PLACEHOLDER"),
    "placeholder twice": ({"mask": al.MASK_PLACEHOLDER, "vector_mask": al.MASK_PLACEHOLDER}, "vector_mask = "),
    "empty vector_mask": ({"mask": al.MASK_PLACEHOLDER, "vector_mask": [0, 0]}, "vector_mask = "),
    "mask 0": ({"mask": 0}, "mask = 0"),
    "mask 129": ({"mask": 129}, "mask = 129"),
    "mask of one word": ({"mask": [1]}, r"mask = \[1\]"),
    "mask without bits": ({"mask": [0, 0]}, r"mask = \[0, 0\]"),
    "word too large": ({"mask": [0, 2**64]}, r"mask\[1\] = "),
    "repeat_time 256": ({"mask": 128, "repeat_time": 256}, "repeatTime = 256"),
    "repeat_params": ({"mask": 128, "repeat_params": (1, 1, 8, 8)}, "repeatParams = "),
    "product": ({"mask": 128, "product": "Atlas A2"}, "product = 'Atlas A2'"),
    "src list": ({"src": [1] * 128, "count": 128}, "src = "),
    "src int8": ({"src": np.zeros(128, np.int8), "count": 128}, "src = an int8 array"),
    "src of other byte order": ({"src": np.zeros(128, ">i2"), "count": 128}, "src = "),
    "src 2-D": ({"src": np.zeros((8, 16), np.int16), "count": 128}, "src = "),
    "src strided": ({"src": np.zeros(256, np.int16)[::2], "count": 128}, "src = .*contiguous"),
    "src too short": ({"src": SRC[:127], "mask": 3}, "src = .*at least 128 elements"),
    "src too short for count": ({"src": SRC[:127], "count": 127}, "src = .*at least 128 elements"),
    "check_capacity": ({"count": 128, "check_capacity": 1}, "check_capacity = 1"),
    "allow_large": ({"count": 128, "allow_large": None}, "allow_large = None"),
    "out of other type": ({"count": 128, "out": np.zeros(128, np.uint16)}, "out = "),
    "out too long": ({"count": 128, "out": np.zeros(129, np.int16)}, "out = "),
    "out too short": ({"mask": 1, "out": np.zeros(16, np.int16)}, "out = "),
    "out strided": ({"count": 128, "out": np.zeros(256, np.int16)[::2]}, "out = "),
    "out list": ({"count": 128, "out": [0] * 128}, "out = "),
}


@pytest.mark.parametrize("wrong", WRONG_CALLS)
def test_a_wrong_call_is_refused_untouched(wrong):
    """What the document does not allow is refused by the parameter's name, before anything is written."""
    arguments, message = WRONG_CALLS[wrong]
    with pytest.raises(al.ParameterError, match=f"^{message}"):
        wrong_call(**arguments)


@pytest.mark.rule("vector-mask-64-bit")
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_64_bit_sources_are_refused_with_the_reason(dtype):
    """A 64-bit source, for which the document describes a mask, is refused with the types there are."""
    with pytest.raises(
        al.ParameterError, match=r"^src = .*uint16, half, .* masks of 64-bit operands .* are not emulated"
    ):
        al.vector_padding(np.zeros(128, dtype), 0, False, mask=16)


@pytest.mark.rule("vector-padding-products")
@pytest.mark.parametrize("product", [p for p in al.Product if p is not al.Product.ATLAS_INFERENCE_AI_CORE])
def test_other_products_have_no_vector_padding(product):
    """Only Atlas inference AI Core has the instruction."""
    with pytest.raises(al.UnsupportedProductError, match="Atlas inference AI Core"):
        wrong_call(count=128, product=product)


@pytest.mark.rule("vector-overlap")
@pytest.mark.parametrize(
    ("strides", "repeats", "name"),
    [
        ((0, 1, 8, 8), 1, "dstBlkStride"),
        ((1, 1, 7, 8), 2, "dstRepStride"),
        ((1, 1, 0, 8), 2, "dstRepStride"),
        ((2, 1, 14, 8), 2, "dstRepStride"),
        ((4, 1, 2, 8), 3, "dstRepStride"),
    ],
)
@pytest.mark.parametrize("mask", [1, 128, [1, 0]])
def test_overlapping_destinations_are_refused(strides, repeats, name, mask):
    """Two writes to one DataBlock are refused, even if the mask would let only one of them through."""
    with pytest.raises(al.ParameterError, match=f"^{name} = "):
        wrong_call(
            src=np.zeros(10000, np.int16),
            mask=mask,
            repeat_time=repeats,
            repeat_params=al.UnaryRepeatParams(*strides),
        )


@pytest.mark.rule("vector-overlap")
def test_shared_memory_is_refused_and_overlapping_sources_are_not():
    """`out` may not lie in the memory of `src`; source blocks may be read as often as one likes."""
    memory = np.arange(300, dtype=np.int16)
    with pytest.raises(al.ParameterError, match="shares no memory"):
        wrong_call(src=memory[:128], count=128, out=memory[100:228])
    again = al.vector_padding(SRC[:16], 0, True, mask=128, repeat_params=al.UnaryRepeatParams(1, 0, 8, 0))
    assert (again == 15).all()


@pytest.mark.rule("vector-capacity")
def test_capacity_is_checked_on_request():
    """Source and result together fit into the Unified Buffer of 256 KiB, or the call is refused if asked for."""
    src = np.zeros(256 * 1024 // 4, np.int16)
    al.vector_padding(src, 1, False, count=src.size, check_capacity=True)
    src = np.zeros(256 * 1024 // 4 + 16, np.int16)
    al.vector_padding(src, 1, False, count=src.size)
    with pytest.raises(al.BufferOverflowError, match="UB: 262,208 bytes needed, 262,144 bytes there"):
        wrong_call(src=src, count=src.size, check_capacity=True, out=None)


def test_arguments_are_described_by_fields():
    """Each plain argument of the instruction has a Field: name and range of the document, for code and controls."""
    assert set(VECTOR_PADDING_TYPES) == set(TYPES)
    assert all(isinstance(spec, Field) for spec in VECTOR_PADDING_ARGUMENTS.values())
    spelled = [spec.document_name for spec in VECTOR_PADDING_ARGUMENTS.values()]
    assert spelled == ["padMode", "padSide", "count", "mask", "repeatTime", "repeatParams"]


# ---- provenance


@given(strided_calls(), modes)
def test_a_result_can_be_rebuilt_from_its_trace(call, mode):
    """Copying what `trace` says, and nothing else, gives the result; what it calls untouched keeps its old value."""
    kind, mask, repeats, strides = call
    dtype = np.dtype(TYPES[kind])
    src = random_bits(dtype, source_blocks(repeats, strides) * (32 // dtype.itemsize), seed=4)
    arguments = {"src": src, "pad_mode": mode[0], "pad_side": mode[1], "mask": mask, "repeat_time": repeats,
                 "repeat_params": al.UnaryRepeatParams(*strides)}  # fmt: skip
    traced = al.trace(al.Call(al.vector_padding, arguments))
    out = random_bits(dtype, traced.shape[0], seed=5)
    rebuilt = out.copy()
    found = traced.sources()
    copied = found.operand[:, 0] == 0
    word = f"u{dtype.itemsize}"
    rebuilt.view(word)[copied] = src.view(word)[found.index[copied, 0]]
    rebuilt.view(word)[~copied & ~found.untouched] = 0
    assert (found.weight[copied] == 1).all()
    assert (found.constant[~copied & ~found.untouched] == 0).all()
    assert same_bits(al.vector_padding(**arguments, out=out), rebuilt)


@pytest.mark.parametrize(("mode", "index", "text"), [(0, 20, "src[16]"), (1, 20, "src[27]"), (2, 16, "constant 0")])
def test_origins_in_words(mode, index, text):
    """One element's origin reads like Python, and the constant of mode 2 is named."""
    traced = al.trace(al.Call(al.vector_padding, {"src": SRC, "pad_mode": mode, "pad_side": False, "count": 37}))
    assert traced.shape == (37,)
    assert str(traced.origin(index)) == text
    assert traced.reads()["src"].sum() == 37 - (3 if mode == 2 else 0)


def test_masked_lanes_are_never_written():
    """A lane that the mask leaves out, and a block between two blocks, have no origin."""
    call = {"src": SRC, "pad_mode": 0, "pad_side": True, "mask": [2, 0], "repeat_params": al.UnaryRepeatParams(2)}
    traced = al.trace(al.Call(al.vector_padding, call))
    assert [str(traced.origin(i)) for i in (0, 1, 2, 16, 32)] == ["never written", "src[15]"] + ["never written"] * 3


def test_moves_between_blocks():
    """The plan says which DataBlock goes where, with the addresses that the strides give."""
    strides = al.UnaryRepeatParams(2, 0, 1, 5)
    moves = vector_padding_plan(SRC, 0, False, mask=128, repeat_time=2, repeat_params=strides).moves()
    assert len(moves) == 16
    assert moves.source.tolist() == [0] * 8 + [5] * 8
    assert moves.destination.tolist() == [*range(0, 16, 2), *range(1, 17, 2)]
    assert (moves.repeat[9], moves.block[9]) == (1, 1)
    counted = vector_padding_plan(SRC, 0, False, count=145).moves()
    assert counted.destination.tolist() == counted.source.tolist() == list(range(10))
    assert (counted.repeat[9], counted.block[9]) == (1, 1)
