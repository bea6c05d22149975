"""Provenance: what `trace` says about a result is enough to compute it again."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import aipp_cases
import aipp_oracle
import junk
import numpy as np
import pytest
from aipp_cases import make_config, random_picture, window_of

import ascendlab as al
from ascendlab.provenance import Origin, Sources, Term, Trace

F = al.AippInputFormat


def trace_of(case):
    """Trace the call of a case."""
    return al.trace(al.Call(al.load_image_to_local, {"setup": case.setup(), "params": case.params}))


def finish_colour(total, channel, case):
    """Turn a weighted sum of samples (in 1/256) into the channel's colour: bias, division, overflow."""
    csc = case.config.csc_params
    to_rgb = case.input_format in (F.YUV420SP_U8, F.YUV400_U8)
    row = [int(c) for c in csc.csc_matrix[channel]]
    if case.profile == "documented":
        if to_rgb:
            return aipp_oracle.clamp((total - sum(map(int.__mul__, row, csc.bias_out))) >> 8, 0, 255)
        return aipp_oracle.clamp((total >> 8) + csc.bias_in[channel], 0, 255)
    if to_rgb:
        return aipp_oracle.c_divide(total - sum(map(int.__mul__, row, csc.bias_in)) + 128, 256) % 256
    return (aipp_oracle.c_divide(total + 128, 256) + csc.bias_out[channel]) % 256


def source_channel(case, operand, place):
    """Return the number of a sample within its pixel, from where it lies."""
    if case.input_format is F.YUV420SP_U8:
        return 1 + place % 2 if operand else 0
    return place % (case.src0.shape[2] if case.src0.ndim == 3 else 1)


def rebuild(case, sources, shape):
    """Compute a result from nothing but its sources and the configuration."""
    operands = [case.src0.reshape(-1), None if case.src1 is None else case.src1.reshape(-1)]
    dtype = aipp_oracle.NUMPY_TYPES[case.dtype]
    moved = (sources.operand >= 0).any(axis=1)
    result = np.zeros(moved.size, dtype)
    result[~moved] = sources.constant[~moved].astype(dtype)
    csc = case.config.csc_params.is_enable_csc
    for element in np.flatnonzero(moved):
        terms = [
            (float(w), int(o), int(i), int(operands[o][i]))
            for o, i, w in zip(sources.operand[element], sources.index[element], sources.weight[element], strict=True)
            if o >= 0
        ]
        channel = int(element % shape[2])
        if csc:
            total = sum(w * 256 * sample for w, _, _, sample in terms)
            assert total.is_integer()
            value, parameters = finish_colour(int(total), channel, case), channel
        else:
            [(weight, operand, place, value)] = terms
            assert weight == 1
            parameters = channel if case.profile == "documented" else source_channel(case, operand, place)
        result[element] = aipp_oracle.convert_type(
            value, parameters, case.dtype, case.config, case.product.name, case.profile
        )
    return result.reshape(shape)


@pytest.mark.parametrize("dtype", aipp_cases.TYPES)
@pytest.mark.parametrize("input_format", F, ids=lambda f: f.name)
@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
def test_a_result_can_be_rebuilt_from_its_sources(profile, input_format, dtype):
    """Terms times weights, or the constant, give every element of the result, whatever the parameters."""
    for case in aipp_cases.random_cases(profile, 11, input_format, dtype):
        traced = trace_of(case)
        assert isinstance(traced, Trace)
        sources = traced.sources()
        result = case.run()
        assert traced.shape == result.shape
        assert aipp_oracle.same_bits(rebuild(case, sources, result.shape), result), case


def random_call(input_format=F.YUV420SP_U8, *, csc=False, mode=3, dtype="half"):
    """Make one small call."""
    rng = np.random.default_rng(4)
    return aipp_cases.random_case(
        rng,
        input_format=input_format,
        dtype=dtype,
        padding_mode=mode,
        csc=csc,
        c_padding_mode=1,
        single_line=False,
        profile="documented",
        product=al.Product.ATLAS_INFERENCE_AI_CORE,
    )


@pytest.mark.parametrize("csc", [False, True])
def test_asking_for_some_elements_is_asking_for_all_and_choosing(csc):
    """Any selection of flat indices, in any order, repeats included, gives those rows of the whole answer."""
    traced = trace_of(random_call(csc=csc))
    whole = traced.sources()
    size = int(np.prod(traced.shape))
    flat = np.random.default_rng(0).integers(0, size, 50)
    for chosen in (flat, flat.tolist(), flat.astype(np.uint16), np.array([], int), [], np.array([size - 1, 0])):
        some = traced.sources(chosen)
        index = np.asarray(chosen, int)
        for name in ("operand", "index", "weight", "constant", "untouched"):
            assert np.array_equal(getattr(some, name), getattr(whole, name)[index], equal_nan=name == "constant")
    assert not whole.untouched.any()


@pytest.mark.parametrize("csc", [False, True])
@pytest.mark.parametrize("input_format", F, ids=lambda f: f.name)
def test_origin_is_one_row_of_sources(input_format, csc):
    """The origin of an element names the operand and the index that `sources` holds for it."""
    case = random_call(input_format, csc=csc)
    traced = trace_of(case)
    whole = traced.sources()
    names = list(traced.operands)
    for flat, index in enumerate(np.ndindex(traced.shape)):
        origin = traced.origin(*index)
        used = whole.operand[flat] >= 0
        expected = [
            (names[o], tuple(int(i) for i in np.unravel_index(place, traced.operands[names[o]])), w)
            for o, place, w in zip(
                whole.operand[flat][used], whole.index[flat][used], whole.weight[flat][used], strict=True
            )
        ]
        assert [(t.operand, t.index, t.weight) for t in origin.terms] == expected
        assert (origin.constant is None) == bool(expected)
        if not expected:
            assert origin.constant == whole.constant[flat]


def test_origins_in_words():
    """An origin prints as what one would write on the blackboard."""
    y, uv = random_picture(4, 6), random_picture(2, 6, seed=1)
    config = replace(
        make_config(padding_mode=0, padding_value_ch1=0.5, c_padding_value=-3),
        csc_params=al.csc_preset("yuv_to_rgb_jpeg"),
    )
    call = {"input_format": F.YUV420SP_U8, "dtype": "half"}
    window = window_of(y, left_pad_size=1, vert_start_pos=2, vert_size=2, horiz_start_pos=2, horiz_size=3)
    setup = al.set_aipp_functions(y, uv, config=config, **call)
    traced = al.trace(al.Call(al.load_image_to_local, {"setup": setup, "params": window}))
    assert str(traced.origin(1, 2, 1)) == "src0[3, 3] + -0.34375 * src1[1, 2] + -0.714844 * src1[1, 3]"
    assert str(traced.origin(0, 0, 1)) == "constant 0.5"
    assert str(traced.origin(0, 0, 9)) == "constant -3"
    assert str(traced.origin(0, 1, 3)) == "constant -3"
    plain = al.set_aipp_functions(y, uv, config=make_config(is_swap_uv=True), **call)
    traced = al.trace(al.Call(al.load_image_to_local, {"setup": plain, "params": window_of(y)}))
    assert str(traced.origin(3, 5, 1)) == "src1[1, 5]"
    assert str(traced.origin(np.int64(3), 5, 2)) == "src1[1, 4]"
    assert str(Origin((), None)) == "never written"
    assert str(Term("src", (3,), 0.25)) == "0.25 * src[3]"


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("input_format", F, ids=lambda f: f.name)
def test_reads_add_up_to_what_was_moved(input_format, mode):
    """Summed over the operands, the reads are the elements that are no constant; each one counts where it lies."""
    case = random_call(input_format, mode=mode)
    traced = trace_of(case)
    reads = traced.reads()
    assert {name: count.shape for name, count in reads.items()} == dict(traced.operands)
    sources = traced.sources()
    moved = sources.operand[:, 0] >= 0
    assert sum(int(count.sum()) for count in reads.values()) == int(moved.sum())
    channels = 1 if input_format is F.YUV400_U8 else 3
    border = 0 if mode == 0 else case.params.left_pad_size + case.params.right_pad_size
    rows = 0 if mode == 0 else case.params.top_pad_size + case.params.bot_pad_size
    pixels = (case.params.horiz_size + border) * (case.params.vert_size + rows)
    assert int(moved.sum()) == pixels * channels
    for number, name in enumerate(traced.operands):
        counted = np.zeros(int(np.prod(traced.operands[name])), int)
        np.add.at(counted, sources.index[sources.operand == number], 1)
        assert np.array_equal(reads[name].ravel(), counted)
    p = case.params
    outside = np.ones(case.src0.shape[:2], bool)
    outside[p.vert_start_pos : p.vert_start_pos + p.vert_size, p.horiz_start_pos : p.horiz_start_pos + p.horiz_size] = 0
    assert not reads["src0"][outside].any()


def test_reads_of_chroma_count_the_pixels_that_share_it():
    """Four pixels share one U and one V; with three colour terms each, every sample is read for three channels."""
    y, uv = random_picture(4, 4), random_picture(2, 4, seed=1)
    for csc, times in ((False, 1), (True, 3)):
        config = al.AippParams(csc_params=al.csc_preset("yuv_to_rgb_jpeg") if csc else al.AippColorSpaceConvParams())
        setup = al.set_aipp_functions(y, uv, input_format=F.YUV420SP_U8, config=config, dtype="int8")
        reads = al.trace(al.Call(al.load_image_to_local, {"setup": setup, "params": window_of(y)})).reads()
        assert (reads["src0"] == times).all()
        assert (reads["src1"] == 4 * times).all()


def test_reads_of_a_large_result_are_counted_in_pieces():
    """A result of many pieces is counted as completely as a small one."""
    picture = random_picture(200, 300, 3)
    setup = al.set_aipp_functions(picture, input_format=F.RGB888_U8, config=make_config(padding_mode=1), dtype="int8")
    window = window_of(picture, left_pad_size=2, top_pad_size=1)
    reads = al.trace(al.Call(al.load_image_to_local, {"setup": setup, "params": window})).reads()["src0"]
    expected = np.ones((200, 300, 3), int)
    expected[:, 0] = 3
    expected[0] *= 2
    assert np.array_equal(reads, expected)


def test_a_call_cannot_be_changed():
    """A call is a record: its fields are frozen, its arguments are a read-only copy."""
    arguments = {"default": 3}
    call = al.Call(min, arguments)
    arguments["default"] = 4
    assert call.arguments["default"] == 3
    with pytest.raises(TypeError):
        call.arguments["default"] = 5
    with pytest.raises(FrozenInstanceError):
        call.function = max
    for frozen, name in ((Term("a", (0,), 1.0), "weight"), (Origin((), 1.0), "constant")):
        with pytest.raises(FrozenInstanceError):
            setattr(frozen, name, 0)


def test_a_call_runs():
    """`run` makes the call; missing and unknown arguments are named before anything happens."""
    case = random_call()
    call = al.Call(al.load_image_to_local, {"setup": case.setup(), "params": case.params})
    assert aipp_oracle.same_bits(call.run(), case.expect())
    assert call.bound()["check_capacity"] is False
    for arguments, word in (({"setup": case.setup()}, "params"), ({**call.arguments, "strict": True}, "strict")):
        for use in (al.Call.run, al.trace):
            with pytest.raises(al.ParameterError, match=rf"^arguments = .*load_image_to_local\(setup.*'{word}'"):
                use(al.Call(al.load_image_to_local, arguments))


@pytest.mark.parametrize("wrong", [None, 3, "load_image_to_local", [], object()])
def test_a_call_needs_a_function(wrong):
    """What cannot be called is no call."""
    with pytest.raises(al.ParameterError, match=r"^function = "):
        al.Call(wrong)


@pytest.mark.parametrize("wrong", [None, 3, "ab", [("setup", 1)], {1: 2}, {None: 3}])
def test_a_call_needs_arguments_by_name(wrong):
    """Arguments are a mapping from names."""
    with pytest.raises(al.ParameterError, match=r"^arguments = "):
        al.Call(al.load_image_to_local, wrong)


class Unhashable:
    """A callable that no table can hold."""

    __hash__ = None

    def __call__(self):
        """Do nothing."""


@pytest.mark.parametrize("function", [min, np.pad, al.set_aipp_functions, Unhashable(), lambda: None])
def test_only_emulated_instructions_have_a_provenance(function):
    """Tracing another function is an error that lists those that can be traced."""
    with pytest.raises(al.ParameterError, match=r"^function = .*load_image_to_local"):
        al.trace(al.Call(function, {}))
    with pytest.raises(al.ParameterError, match=r"^call = "):
        al.trace(function)


def test_trace_refuses_what_the_call_refuses():
    """An illegal window is the same error in the trace as in the call."""
    case = random_call()
    wrong = replace(case.params, src_horiz_size=case.params.src_horiz_size + 2)
    with pytest.raises(al.ParameterError, match=r"^srcHorizSize"):
        al.trace(al.Call(al.load_image_to_local, {"setup": case.setup(), "params": wrong}))


@pytest.mark.parametrize(
    "index",
    [(), (0,), (0, 0), (0, 0, 0, 0), (0, 0, -1), (0, 0, 4), (99, 0, 0), (0, 0, 1.0), (True, 0, 0), (None, 0, 0)],
)
def test_origin_checks_its_index(index):
    """Three integers inside the result; no negative ones, no floats, no bools."""
    with pytest.raises(al.ParameterError, match=r"^index = .*3 integers inside the result's shape"):
        trace_of(random_call()).origin(*index)


@pytest.mark.parametrize("label", junk.MAKERS)
def test_origin_takes_any_value_for_an_index_or_says_no(label):
    """Durations, texts, arrays and what else is no integer get the same sentence; an integer inside is an index."""
    traced, value = trace_of(random_call()), junk.MAKERS[label]()
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64)) and 0 <= value < 4:
        assert traced.origin(0, 0, value) == traced.origin(0, 0, int(value))
    else:
        with pytest.raises(al.ParameterError, match=r"^index = .*3 integers inside the result's shape"):
            traced.origin(0, 0, value)


@pytest.mark.parametrize(
    "flat",
    [3, [-1], [10**9], [0.5], ["a"], [[0]], [[0], [1, 2]], [None], [True], "abc", [10**5000], np.zeros((2, 2), int)],
)
def test_sources_check_their_indices(flat):
    """Flat indices are a 1-D array of integers inside the result."""
    with pytest.raises(al.ParameterError, match=r"^flat = .*1-D array of integers"):
        trace_of(random_call()).sources(flat)


def test_sources_of_plain_copies():
    """Copies have one term of weight 1; a negative index is the constant, or an element that is never written."""
    copies = Sources.copies(np.array([2, -1, 0]), operand=1, constant=np.array([1.0, 7.0, 2.0]))
    assert copies.operand.tolist() == [[1], [-1], [1]]
    assert copies.index.tolist() == [[2], [0], [0]]
    assert copies.weight.tolist() == [[1.0], [0.0], [1.0]]
    assert np.array_equal(copies.constant, [np.nan, 7.0, np.nan], equal_nan=True)
    assert not copies.untouched.any()
    left = Sources.copies(np.array([2, -1]), untouched=np.array([False, True]))
    traced = Trace((2,), {"src": (3,)}, lambda flat: Sources.copies(np.array([2, -1])[flat], untouched=flat == 1))
    assert left.untouched.tolist() == [False, True]
    assert str(traced.origin(0)) == "src[2]"
    assert str(traced.origin(1)) == "never written"
    assert traced.reads()["src"].tolist() == [0, 0, 1]
