"""What the machine shows: the step log, memory maps, earlier states, the timeline, and where results came from."""

from __future__ import annotations

import capi_cases
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi
from ascendlab.capi import conv2d_example as example
from ascendlab.capi import machine
from ascendlab.capi.conv2d_example import Conv2dShape, conv2d_forward_capi
from ascendlab.capi.steps import timeline
from ascendlab.capi.tracing import LaunchTracer

SMALL = Conv2dShape(H=5, W=7, C1=1, BATCH=2, PAD_VALUE=3)


@pytest.fixture(scope="module")
def launched():
    """Launch a small case of the document's kernel on general data."""
    rng = np.random.default_rng(0)
    fmap = rng.standard_normal((2, 5, 7, 16)).astype(np.float16)
    weight = rng.standard_normal((SMALL.K, 16)).astype(np.float16)
    output = np.zeros((2, SMALL.HOUT, SMALL.WOUT, 16), np.float16)
    return capi.launch(conv2d_forward_capi, 2, fmap, weight, output, SMALL)


def test_the_log_has_every_call_in_order(launched):
    """One step for each call, with its pipe, its arguments by name, its bytes, and the step that a wait waited for."""
    steps = launched.cores[1].steps
    assert [s.number for s in steps] == list(range(1, len(steps) + 1))
    moves = [(s.call, str(s.pipe), s.bytes_read, s.bytes_written) for s in steps if s.writes]
    k = SMALL.K
    assert moves == [
        ("asc_copy_gm2l1_nd2nz", "PIPE_MTE2", 1120, 1120),
        ("asc_copy_gm2l1_nd2nz", "PIPE_MTE2", k * 32, k * 32),
        ("asc_copy_l12l0a", "PIPE_MTE1", 3 * 4 * 32, 12 * k * 2),
        *[("asc_copy_l12l0b_transpose", "PIPE_MTE1", 512, 512)] * 9,
        ("asc_mmad", "PIPE_M", 12 * k * 2 + 16 * k * 2, 1024),
        ("asc_copy_l0c2gm", "PIPE_FIX", 12 * 64, 12 * 32),
    ]
    mmad = next(s for s in steps if s.call == "asc_mmad")
    assert mmad.arguments["m"] == 12
    assert mmad.arguments["a_matrix"].name == "fmap_l0"
    assert [(a.buffer, a.name) for a in mmad.reads] == [("L0A", "fmap_l0"), ("L0B", "weight_l0")]
    waits = [(s.number, s.waited_for) for s in steps if s.waited_for]
    assert all(after == before + 1 for after, before in waits)
    assert len(waits) == 3
    assert str(mmad) == f" {mmad.number} PIPE_M    asc_mmad, 8,064 bytes read, 1,024 written"
    registers = {s.number: s.registers for s in steps}
    assert registers[1] == {"PADDING": 0}
    assert registers[len(steps)].keys() == {"PADDING", "MTE2_NZ_PARA", "FMATRIX", "L3D_RPT", "LOOP3_PARA"}
    assert launched.writes("output")
    assert not launched.writes("fmap")
    assert not launched.writes("nothing")


def test_the_memory_map_says_who_wrote_what(launched):
    """Ranges, steps, fill and poison of each buffer, now and after any earlier step."""
    core = launched.cores[0]
    by_call = {s.call: s.number for s in core.steps}
    l1 = core.memory_map("L1")
    assert [(a.name, a.start, a.size) for a in l1.allocations] == [
        ("fmap_l1", 0, 1120),
        ("weight_l1", 1120, SMALL.K * 32),
    ]
    assert l1.start.tolist() == [0, 1120]
    assert l1.stop.tolist() == [1120, 1120 + SMALL.K * 32]
    assert [core.steps[n - 1].call for n in l1.step] == ["asc_copy_gm2l1_nd2nz"] * 2
    assert (l1.written, l1.declared, l1.unwritten, l1.size) == (1120 + SMALL.K * 32,) * 2 + (0, 512 * 1024)
    l0a = core.memory_map("L0A")
    assert set(l0a.step) == {by_call["asc_copy_l12l0a"]}
    assert l0a.unwritten == 4 * SMALL.K * 2  # four rows of each fractal that no window fills
    before = core.at(by_call["asc_copy_l12l0a"] - 1)
    assert before.memory_map("L0A").written == 0
    assert before.memory_map("L1").written == l1.written
    assert core.at(0).memory_map("L1").written == 0
    output = core.memory_map("L0C")
    assert set(output.step) == {by_call["asc_mmad"]}
    assert output.written == 12 * 16 * 4
    for wrong in ("UB", None, 3):
        with pytest.raises(al.ParameterError, match=r"^buffer"):
            core.memory_map(wrong)


def test_any_earlier_state_can_be_shown(launched):
    """Stepping back gives what buffers, GM and registers held then: the kernel, run again so far, has the same."""

    class Stop(Exception):  # noqa: N818
        pass

    class Until(capi.AICore):
        last = 0

        def log(self, *args, **more):
            step = super().log(*args, **more)
            if len(self.steps) == self.last:
                raise Stop
            return step

    core = launched.cores[0]
    arrays = {name: buffer.array for name, buffer in launched.gm.items()}
    for last in (1, 3, 5, 8, 11, 12, 20, len(core.steps) - 3, len(core.steps)):
        again = Until(al.Product.ATLAS_350)
        again.last = last
        copies = {name: np.array(a) if name != "output" else np.zeros_like(a) for name, a in arrays.items()}
        with pytest.raises(Stop):
            conv2d_forward_capi(again, *(again.gm(a, n) for n, a in copies.items()), SMALL)
        snapshot = core.at(last)
        for name, buffer in core.buffers.items():
            assert np.array_equal(snapshot.data(buffer), again.buffers[name].data), (last, name)
            marks = again.buffers[name].writer  # as long as what was declared by then
            assert np.array_equal(snapshot.writer(buffer)[: marks.size], marks)
            assert not snapshot.writer(buffer)[marks.size :].any()
        half = launched.gm["output"].data.size // 2  # the other half is the other block's
        assert np.array_equal(
            snapshot.data(launched.gm["output"])[:half], copies["output"].reshape(-1).view(np.uint8)[:half]
        )
        assert {k: r.config for k, r in snapshot.registers.items()} == {k: r.config for k, r in again.registers.items()}
    pointer = next(s for s in core.steps if s.call == "asc_mmad").arguments["c_matrix"]
    assert not core.at(5).array(pointer).any()
    assert np.array_equal(core.at(len(core.steps)).array(pointer), pointer.array)
    for wrong in (-1, len(core.steps) + 1, 1.0, None, True):
        with pytest.raises(al.ParameterError, match=r"^step"):
            core.at(wrong)


def test_the_past_is_bounded(monkeypatch):
    """Beyond its limit the log forgets its oldest states, says so, and shows the younger ones as before."""
    monkeypatch.setattr(machine, "HISTORY_BYTES", 5000)
    core = capi_cases.new_core()
    pointer = core.cbuf("uint8", 400, name="data")
    for value in range(10):
        core.poke(pointer, np.full(400, value))
    with pytest.raises(al.ParameterError, match=r"^step = 0 .*have been forgotten"):
        core.at(0)
    for number in range(len(core.steps) - 1, len(core.steps) + 1):
        assert (core.at(number).array(pointer) == number - 2).all()
    silent = capi.AICore(al.Product.ATLAS_350, record=False)
    silent.poke(silent.cbuf("uint8", 4, name="x"), [1, 2, 3, 4])
    with pytest.raises(al.ParameterError, match="record=False"):
        silent.at(0)
    silent.at(1)


def test_the_timeline_keeps_order_and_waits(launched):
    """Steps of one pipe follow each other, a wait comes after its notify, and nothing starts before it is issued."""
    core = launched.cores[0]
    for duration in (None, lambda s: 1 + s.bytes_written / 512):
        line = core.timeline(duration)
        assert (line.stop >= line.start).all()
        end = {}
        place = {int(n): i for i, n in enumerate(line.step)}
        for i, step in enumerate(core.steps):
            if step.writes:
                assert line.start[i] >= end.get(step.pipe, 0.0)
                end[step.pipe] = line.stop[i]
        for notify, wait in line.edges:
            assert line.start[place[int(wait)]] >= line.stop[place[int(notify)]]
        first = {p: min(line.start[i] for i, s in enumerate(core.steps) if s.writes and s.pipe is p) for p in end}
        last = {p: end[p] for p in end}
        assert last[capi.PIPE_MTE2] <= first[capi.PIPE_MTE1]
        assert last[capi.PIPE_MTE1] <= first[capi.PIPE_M] < first[capi.PIPE_FIX]
    assert len(line.edges) == 3


def test_pipes_without_waits_overlap():
    """Two copies on different pipes run side by side unless a flag or a barrier puts them in order."""
    core = capi_cases.new_core()
    l1 = [core.cbuf("half", 256, name=f"l1_{i}") for i in range(2)]
    src, dst = core.gm(np.ones(512, np.float16), "src"), core.ca("half", 256, name="dst")
    core.poke(l1[0], np.ones(256))
    core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
    start = len(core.steps)
    core.asc_copy_gm2l1_nd2nz(l1[1], src, 32, 0, 16, 16, 0, False)
    core.asc_copy_l12l0a(dst, l1[0], 0, 0, 1, 1, 1, 1)
    assert timeline(core.steps[start:]).start.tolist() == [0, 0]
    core.asc_sync_pipe(capi.PIPE_ALL)
    core.asc_copy_l12l0a(dst, l1[1], 0, 0, 1, 1, 1, 1)
    assert timeline(core.steps[start:]).start.tolist() == [0, 0, 1, 1]


def test_every_result_is_the_sum_of_its_terms(launched):
    """The traced products of feature-map and weight elements, and padding times weights, add up to every output."""
    traced = al.trace(launched)
    assert traced.shape == (2, SMALL.HOUT, SMALL.WOUT, 16)
    fmap, weight = launched.gm["fmap"].array, launched.gm["weight"].array
    output = launched.gm["output"].array
    found = traced.sources()
    arrays = [a.reshape(-1).astype(float) for a in (fmap, weight, output)]

    def values(operand, index):
        result = np.ones(operand.shape)
        for number, array in enumerate(arrays):
            here = operand == number
            result[here] = array[index[here]]
        return np.where(operand < 0, np.nan, result)

    left = values(found.operand, found.index)
    right = values(found.factor_operand, found.factor_index)
    products = found.weight * left * np.where(found.factor_operand < 0, 1, right)
    totals = np.nansum(np.where(found.operand < 0, 0, products), axis=1)
    assert np.allclose(totals, output.reshape(-1).astype(float), rtol=2e-3, atol=2e-3)
    assert not found.untouched.any()


def test_the_terms_of_one_element_are_the_loops(launched):
    """One output's terms are exactly the window's pixels and the filter's column, in the order of K."""
    traced = al.trace(launched)
    n, ho, wo, co = 1, 1, 2, 5
    expected = []
    for kh in range(3):
        for kw in range(3):
            hi, wi = ho * 2 + kh * 2 - 2, wo * 2 + kw * 2 - 2
            for c0 in range(16):
                k = (kh * 3 + kw) * 16 + c0
                if 0 <= hi < 5 and 0 <= wi < 7:
                    expected.append(("fmap", (n, hi, wi, c0), 1.0, "weight", (k, co)))
                else:
                    expected.append(("weight", (k, co), 3.0, "", ()))
    origin = traced.origin(n, ho, wo, co)
    got = [(t.operand, t.index, t.weight, t.factor, t.factor_index) for t in origin.terms]
    assert sorted(got) == sorted(expected)
    inside = [t for t in got if t[0] == "fmap"]
    assert inside == [t for t in expected if t[0] == "fmap"]
    assert str(origin).startswith("fmap[1, 0, 2, 0] * weight[0, 5] + fmap[1, 0, 2, 1] * weight[1, 5]")
    reads = traced.reads()
    assert reads["weight"].min() == reads["weight"].max() == 2 * SMALL.M
    assert reads["output"].sum() == 0


def test_tracing_sees_the_time_of_each_step():
    """A buffer that is used twice is followed through what it held when it was read, not through what it holds now."""
    core = capi_cases.new_core()
    a, b = np.arange(1, 257).astype(np.float16).reshape(16, 16), np.eye(16, dtype=np.float16)
    second = (a + 300).astype(np.float16)
    out = [np.zeros((16, 16), np.float32) for _ in range(2)]
    pointers = {
        name: core.gm(x, name)
        for name, x in (("a", a), ("b", b), ("second", second), ("out0", out[0]), ("out1", out[1]))
    }
    l1, l1b = core.cbuf("half", 256, name="l1"), core.cbuf("half", 256, name="l1b")
    l0a, l0b, l0c = (
        core.ca("half", 256, name="l0a"),
        core.cb("half", 256, name="l0b"),
        core.cc("float", 256, name="l0c"),
    )
    core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_copy_gm2l1_nd2nz(l1b, pointers["b"], 32, 0, 16, 16, 0, False)
    for number, name in enumerate(("a", "second")):
        core.asc_copy_gm2l1_nd2nz(l1, pointers[name], 32, 0, 16, 16, 0, False)
        core.asc_sync_pipe(capi.PIPE_ALL)
        core.asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1)
        core.asc_copy_l12l0b_transpose(l0b, l1b, 0, 0, 1, 1, 1, 1)
        core.asc_sync_pipe(capi.PIPE_ALL)
        core.asc_mmad(l0c, l0a, l0b, 16, 16, 16, 0, True, False, number == 0)
        core.asc_sync_pipe(capi.PIPE_ALL)
        core.asc_copy_l0c2gm(pointers[f"out{number}"], l0c, 16, 16, 16, 16, enable_nz2nd=True)
        core.asc_sync_pipe(capi.PIPE_ALL)
    assert np.array_equal(out[0], a)
    assert np.array_equal(out[1], a.astype(float) + second)
    gm = {name: pointer.buffer for name, pointer in pointers.items()}
    launched = capi.Launch((core,), gm, (None,))
    first, both = (al.trace(launched, output=name) for name in ("out0", "out1"))
    nonzero = [t for t in first.origin(3, 7).terms if b[t.factor_index] != 0]
    assert [(t.operand, t.index) for t in nonzero] == [("a", (3, 7))]
    nonzero = [t for t in both.origin(3, 7).terms if b[t.factor_index] != 0]
    assert [(t.operand, t.index) for t in nonzero] == [("a", (3, 7)), ("second", (3, 7))]
    with pytest.raises(al.ParameterError, match=r"^output = '' .*out0, out1"):
        al.trace(launched)
    with pytest.raises(al.ParameterError, match=r"^output = 'nope'"):
        al.trace(launched, output="nope")


def test_an_output_that_nobody_wrote_has_no_origin():
    """Elements that the kernel left alone are untouched, not made of themselves."""
    s = Conv2dShape(BATCH=1)
    fmap, weight, _ = example.make_inputs(s)
    output = np.zeros((2, s.HOUT, s.WOUT, s.COUT), np.float16)
    traced = al.trace(capi.launch(conv2d_forward_capi, 1, fmap, weight, output, s))
    assert str(traced.origin(1, 0, 0, 0)) == "never written"
    assert traced.sources(np.array([0, output.size - 1])).untouched.tolist() == [False, True]
    assert len(traced.origin(0, 0, 0, 0).terms) > 0


@pytest.mark.rule("capi-aipp")
def test_a_chain_is_traced_to_the_picture():
    """Through AIPP's colour conversion, im2col and the product back to the picture's samples, with all weights."""
    from test_capi_example import picture_kernel

    src = np.random.default_rng(1).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    config = al.AippParams(
        padding_params=al.AippPaddingParams(padding_mode=1), csc_params=al.csc_preset("rgb_to_yuv_jpeg")
    )
    setup = al.set_aipp_functions(src, input_format=al.AippInputFormat.RGB888_U8, config=config, dtype="half",
                                  product=al.Product.ATLAS_350)  # fmt: skip
    params = al.LoadImageToLocalParams(horiz_size=6, vert_size=4, src_horiz_size=8, horiz_start_pos=2, vert_start_pos=1,
                                       top_pad_size=1, left_pad_size=1)  # fmt: skip
    weight = np.zeros((144, 16), np.float16)
    weight[4 * 16 + 1, 2] = 0.5  # filter point (1, 1), channel U
    output = np.zeros((5, 7, 16), np.float16)

    def kernel(core, weight, output):
        picture_kernel(core, weight, output, setup, params, channels=16)

    traced = al.trace(capi.launch(kernel, 1, weight, output))
    assert list(traced.operands) == ["weight", "output", "src0"]
    terms = [t for t in traced.origin(2, 3, 2).terms if t.factor == "weight" and t.factor_index == (65, 2)]
    assert [(t.operand, t.index) for t in terms] == [("src0", (2, 4, c)) for c in range(3)]
    matrix = setup.config.csc_params.csc_matrix
    assert [t.weight for t in terms] == [float(x) / 256 for x in matrix[1]]


def test_pokes_are_constants_and_strangers_are_named():
    """What an experiment put there is a constant; an array that the tracer was not told of is an error."""
    core = capi_cases.new_core()
    l0c = core.cc("float", 256, name="c")
    core.poke(l0c, np.arange(256))
    out = np.zeros((16, 16), np.float32)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_copy_l0c2gm(core.gm(out, "out"), l0c, 16, 16, 16, 16, enable_nz2nd=True)
    launched = capi.Launch((core,), {"out": core.gm(out).buffer}, (None,))
    assert str(al.trace(launched).origin(2, 5)) == "constant 37"
    fmap, weight, output = example.make_inputs(Conv2dShape(BATCH=1))
    launched = capi.launch(conv2d_forward_capi, 1, fmap, weight, output, Conv2dShape(BATCH=1))
    tracer = LaunchTracer(capi.Launch(launched.cores, {"output": launched.gm["output"]}, (None,)))
    with pytest.raises(al.ParameterError, match=r"^leaves"):
        tracer.sources("output", np.array([0]))


def test_the_kernel_makes_the_calls_of_the_original():
    """The transcribed kernel makes the document's calls in the document's order, and nothing else."""
    (core,) = example.run(Conv2dShape(BATCH=1))[0].cores
    assert [s.call for s in core.steps] == [
        "asc_init", "asc_set_gm2l1_nz_para", "asc_copy_gm2l1_nd2nz", "asc_set_gm2l1_nz_para", "asc_copy_gm2l1_nd2nz",
        "asc_sync_notify", "asc_sync_wait", "asc_set_l13d_fmatrix", "asc_set_l12l0a_3d_padding", "asc_set_l13d_rpt",
        "asc_copy_l12l0a", *["asc_copy_l12l0b_transpose"] * 18, "asc_sync_notify", "asc_sync_wait", "asc_mmad",
        "asc_sync_notify", "asc_sync_wait", "asc_set_l0c_copy_nz_para", "asc_copy_l0c2gm", "asc_sync_pipe",
    ]  # fmt: skip


def test_a_state_of_another_core_is_refused():
    """A log tells the earlier states of its own core's memories only."""
    core, other = capi_cases.new_core(), capi_cases.new_core()
    mine, foreign = core.cbuf("half", 16, name="mine"), other.cbuf("half", 16, name="foreign")
    assert core.at(0).array(mine).size == 16
    for wrong in (None, np.True_, 3, mine.array):
        with pytest.raises(al.ParameterError, match=r"^pointer = "):
            core.at(0).array(wrong)
        with pytest.raises(al.ParameterError, match=r"^buffer = "):
            core.at(0).data(wrong)
    with pytest.raises(al.ParameterError, match=r"^buffer = 'L1' is not allowed; allowed: a memory of this core"):
        core.at(0).array(foreign)
    with pytest.raises(al.ParameterError, match=r"^buffer = "):
        core.at(1).writer(other.buffers["L1"])


def test_a_duration_must_be_a_function():
    """A timeline with a number for a duration is refused in words."""
    with pytest.raises(al.ParameterError, match=r"^duration = 3"):
        capi_cases.new_core().timeline(3)
