"""The two forms of a mask, and the walk over DataBlocks that both vector instructions share."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import vector_oracle
from hypothesis import given
from hypothesis import strategies as st

import ascendlab as al
from ascendlab.vector_blocks import BlockWalk, check_ub, ub_bytes

words = st.integers(0, 2**64 - 1)
masks_16 = st.integers(1, 128) | st.tuples(words, words).filter(any)
masks_32 = st.integers(1, 64) | st.tuples(st.integers(1, 2**64 - 1))


@pytest.mark.rule("vector-mask-continuous")
@pytest.mark.parametrize(("dtype", "lanes", "blocks"), [("half", 128, 16), ("uint16", 128, 16), ("float", 64, 8)])
def test_a_number_is_the_first_lanes(dtype, lanes, blocks):
    """Each allowed number turns on that many lanes from the start, and its bitwise form says the same."""
    for count in range(1, lanes + 1):
        on = al.mask_lanes(count, dtype)
        assert on.shape == (8, blocks)
        assert on.ravel().tolist() == [lane < count for lane in range(lanes)]
        assert al.mask_to_continuous(al.mask_to_bitwise(count, dtype), dtype) == count


@pytest.mark.rule("vector-mask-bitwise")
@given(masks_16)
def test_bits_are_lanes_of_16_bits(mask):
    """Lane i of a 16-bit type is bit i % 64 of word i // 64, in both directions."""
    on = al.mask_lanes(mask, "int16")
    assert on.ravel().tolist() == [vector_oracle.lane_is_on(mask, lane) for lane in range(128)]
    assert al.mask_from_lanes(on) == al.mask_to_bitwise(mask, "int16")


@pytest.mark.rule("vector-mask-bitwise")
@given(masks_32)
def test_bits_are_lanes_of_32_bits(mask):
    """Lane i of a 32-bit type is bit i of the one word."""
    on = al.mask_lanes(mask, "uint32")
    assert on.ravel().tolist() == [vector_oracle.lane_is_on(mask, lane) for lane in range(64)]
    assert al.mask_from_lanes(on) == al.mask_to_bitwise(mask, "uint32")


@pytest.mark.rule("vector-mask-bitwise")
def test_the_document_s_mask():
    """[8, 0] is the fourth element only."""
    assert np.flatnonzero(al.mask_lanes([8, 0], "half")).tolist() == [3]
    assert np.flatnonzero(al.mask_lanes([0, 8], "half")).tolist() == [67]


def test_words_may_be_any_integers_in_a_sequence():
    """Lists, tuples and arrays of words mean the same."""
    highest = 2**64 - 1
    for mask in ([highest, 1], (highest, 1), np.array([highest, 1], np.uint64)):
        assert al.mask_to_bitwise(mask, "half") == (highest, 1)
        assert al.mask_to_continuous(mask, "half") == 65


WRONG_MASKS = {
    "no lane": 0,
    "too many lanes": 129,
    "negative": -1,
    "bool": True,
    "float": 3.0,
    "text": "128",
    "None": None,
    "placeholder": al.MASK_PLACEHOLDER,
    "one word": [1],
    "three words": [1, 1, 1],
    "no word": [],
    "no bit": [0, 0],
    "word too large": [2**64, 0],
    "negative word": [-1, 0],
    "word of float": [1.0, 0],
    "nested": [[1, 2], [3, 4]],
    "2-D": np.ones((1, 2), np.uint64),
}


@pytest.mark.parametrize("wrong", WRONG_MASKS)
def test_a_wrong_mask_is_refused(wrong):
    """A mask outside the document's ranges is refused in every conversion, by its name."""
    for convert in (al.mask_lanes, al.mask_to_bitwise, al.mask_to_continuous):
        with pytest.raises(al.ParameterError, match=r"^mask"):
            convert(WRONG_MASKS[wrong], "half")


@pytest.mark.parametrize(("mask", "dtype"), [(65, "float"), ([1, 1], "int32"), ([0], "float"), ([], "float")])
def test_a_mask_of_16_bits_does_not_fit_32(mask, dtype):
    """32-bit types have half as many lanes, and one word."""
    with pytest.raises(al.ParameterError, match=r"^mask = "):
        al.mask_lanes(mask, dtype)


@pytest.mark.parametrize("mask", [[5, 0], [0, 1], [2, 0], [2**64 - 1, 2]])
def test_bits_with_a_gap_have_no_continuous_form(mask):
    """Only the first n lanes without a gap are a number."""
    with pytest.raises(al.ParameterError, match="without a gap"):
        al.mask_to_continuous(mask, "half")


@pytest.mark.rule("vector-mask-64-bit")
@pytest.mark.parametrize("dtype", [np.int64, "uint64", np.dtype("f8"), float, "float64"])
def test_masks_of_64_bit_operands_are_refused_by_name(dtype):
    """64-bit masks stand in the document, and are refused with the reason."""
    with pytest.raises(al.ParameterError, match=r"masks of 64-bit operands .* are not emulated"):
        al.mask_lanes(16, dtype)


@pytest.mark.parametrize("dtype", ["int8", "int4", None, "no type", 7])
def test_other_types_have_no_mask(dtype):
    """Types of other widths are refused as types."""
    with pytest.raises(al.ParameterError, match=r"^dtype = "):
        al.mask_lanes(16, dtype)


@pytest.mark.parametrize(
    "lanes", [np.zeros(128, bool), np.ones(127, bool), np.ones(64, np.uint8), [True] * 64, None, np.ones((3, 64), bool)]
)
def test_lanes_that_are_no_mask(lanes):
    """Lanes are 64 or 128 bools, not all off."""
    with pytest.raises(al.ParameterError, match=r"^lanes = "):
        al.mask_from_lanes(lanes)


def test_the_placeholder_is_one_object():
    """MASK_PLACEHOLDER stays itself through pickle and prints as the name that C++ code has."""
    assert pickle.loads(pickle.dumps(al.MASK_PLACEHOLDER)) is al.MASK_PLACEHOLDER
    assert repr(al.MASK_PLACEHOLDER) == "MASK_PLACEHOLDER"


# ---- the walk over DataBlocks

walks = st.builds(BlockWalk, st.integers(0, 9), st.integers(0, 40), st.integers(0, 40), st.integers(1, 8))


def naive(walk: BlockWalk) -> list[int]:
    """List a walk's DataBlocks in loops."""
    return [r * walk.repeat_stride + b * walk.block_stride for r in range(walk.repeats) for b in range(walk.blocks)]


@pytest.mark.rule("vector-datablock")
@given(walks)
def test_walks_visit_what_the_strides_say(walk):
    """Numbers, end, single steps and the view agree with two nested loops."""
    own = naive(walk)
    assert walk.numbers().ravel().tolist() == own
    assert walk.end == max(own, default=-1) + 1
    assert walk.number(np.arange(len(own))).tolist() == own
    operand = np.arange(walk.end * 8, dtype=np.int32)
    assert (walk.view(operand).reshape(-1, 8)[:, 0] // 8).tolist() == own


@given(walks)
def test_walks_find_blocks_and_collisions(walk):
    """A collision is two steps on one block; without one, each block is found at its step."""
    own, pair = naive(walk), walk.collision()
    if pair is None:
        assert len(set(own)) == len(own)
        asked = np.arange(walk.end + 3)
        assert walk.find(asked).tolist() == [own.index(n) if n in own else -1 for n in asked.tolist()]
    else:
        first, second = ((repeat * walk.blocks + block) for repeat, block in pair)
        assert first != second
        assert own[first] == own[second]


@given(walks)
def test_walks_write_out_their_arithmetic(walk):
    """The sum in words is a true equation, and ends in the block's number; a step outside the walk has none."""
    for step, number in enumerate(naive(walk)):
        left, right = walk.arithmetic(*divmod(step, walk.blocks)).split(" = ")
        assert eval(left) == int(right) == number
    with pytest.raises(al.ParameterError, match=r"^repeat = "):
        walk.arithmetic(walk.repeats, 0)


@pytest.mark.rule("vector-default-strides")
def test_strides_by_position():
    """The four strides stand in the manual's order, and are contiguous by default."""
    params = al.UnaryRepeatParams(1, 2, 3, 4)
    assert (params.dst_blk_stride, params.src_blk_stride, params.dst_rep_stride, params.src_rep_stride) == (1, 2, 3, 4)
    assert al.UnaryRepeatParams() == al.UnaryRepeatParams(1, 1, 8, 8)


@pytest.mark.parametrize(
    ("name", "value"),
    [("dst_blk_stride", 65536), ("src_blk_stride", -1), ("dst_rep_stride", 256), ("src_rep_stride", True)],
)
def test_strides_outside_their_type(name, value):
    """A stride that its C++ type does not hold is refused by the document's name."""
    spelled = {"dst": "dst", "src": "src"}[name[:3]] + "".join(part.title() for part in name.split("_")[1:])
    with pytest.raises(al.ParameterError, match=f"^{spelled} = "):
        al.UnaryRepeatParams(**{name: value})


@pytest.mark.rule("vector-capacity")
def test_operands_fill_the_unified_buffer_in_whole_blocks():
    """Every operand takes whole DataBlocks, and together they may fill the buffer, not more."""
    assert ub_bytes({"src": 1, "dst": 33}) == 96
    for product, kib in ((al.Product.ATLAS_A2, 192), (al.Product.ATLAS_350, 248)):
        check_ub(product, {"src": kib * 1024 - 64, "dst": 33})
        with pytest.raises(al.BufferOverflowError, match="UB"):
            check_ub(product, {"src": kib * 1024 - 64, "dst": 65})
