"""What must happen in order: pipes that wait for each other, blocks that share memory, launches and their errors."""

from __future__ import annotations

import pickle
import re

import capi_cases
import numpy as np
import pytest
from capi_cases import pointers, refused

import ascendlab as al
from ascendlab import capi
from ascendlab.capi.conv2d_example import EXAMPLE, Conv2dShape, conv2d_forward_capi, make_inputs


@pytest.fixture
def core():
    """Return a core with one array in each buffer."""
    return capi_cases.core_with_arrays()


@pytest.mark.rule("capi-order")
def test_every_missing_wait_of_the_example_is_reported():
    """Leaving out one pair of notify and wait is reported by the call that would read too early, with the remedy."""

    class Careless(capi.AICore):
        skipped = None

        def asc_sync_notify(self, pipe, tpipe, id):  # noqa: A002
            if (pipe, tpipe) != self.skipped:
                super().asc_sync_notify(pipe, tpipe, id)

        def asc_sync_wait(self, pipe, tpipe, id):  # noqa: A002
            if (pipe, tpipe) != self.skipped:
                super().asc_sync_wait(pipe, tpipe, id)

    reporters = ("asc_copy_l12l0a", "asc_mmad", "asc_copy_l0c2gm")
    for (pipe, tpipe), reporter in zip(capi_cases.NOTIFY_WAIT, reporters, strict=True):
        core = Careless(al.Product.ATLAS_350)
        core.skipped = (pipe, tpipe)
        arrays = make_inputs()
        with pytest.raises(al.SynchronizationError, match=f"^{reporter}: ") as caught:
            conv2d_forward_capi(
                core, *(core.gm(a, n) for a, n in zip(arrays, ("fmap", "weight", "output"), strict=True))
            )
        text = str(caught.value)
        assert f"asc_sync_notify({pipe}, {tpipe}, EVENT_ID0)" in text
        assert f"asc_sync_wait({pipe}, {tpipe}, EVENT_ID0)" in text
        assert re.search(r"is being written by step \d+ \(asc_", text)
        assert not arrays[2].any()


@pytest.mark.rule("capi-flags")
def test_flags_must_pair(core):
    """A wait without notify hangs, a second notify is undefined, a flag left over confuses the next kernel."""
    error = refused(
        core, al.SynchronizationError, "would hang for ever", core.asc_sync_wait, capi.PIPE_MTE2, capi.PIPE_MTE1, 0
    )
    assert "(PIPE_MTE2, PIPE_MTE1, EVENT_ID0)" in error.problem
    core.asc_sync_notify(capi.PIPE_MTE2, capi.PIPE_MTE1, 0)
    refused(
        core,
        al.SynchronizationError,
        "flags that are set: .*EVENT_ID0",
        core.asc_sync_wait,
        capi.PIPE_MTE2,
        capi.PIPE_MTE1,
        1,
    )
    refused(core, al.SynchronizationError, "would hang", core.asc_sync_wait, capi.PIPE_MTE2, capi.PIPE_M, 0)
    refused(
        core, al.SynchronizationError, "already set, by step 2", core.asc_sync_notify, capi.PIPE_MTE2, capi.PIPE_MTE1, 0
    )
    core.asc_sync_notify(capi.PIPE_MTE2, capi.PIPE_MTE1, capi.EVENT_ID7)
    core.asc_sync_wait(capi.PIPE_MTE2, capi.PIPE_MTE1, 0)
    assert core.steps[-1].waited_for == 2
    with pytest.raises(al.SynchronizationError, match=r"the kernel's end: .*EVENT_ID7.*step 3"):
        core.finish()
    with pytest.raises(al.SynchronizationError, match="the kernel's end"):
        capi.launch(lambda core: core.asc_sync_notify(capi.PIPE_M, capi.PIPE_FIX, 0), 1)


@pytest.mark.rule("capi-flags")
def test_sync_arguments(core):
    """Pipes and events are the documents' enumerations; a pipe does not wait for itself, PIPE_S needs no barrier."""
    for pipe, tpipe, event, name in (
        (capi.PIPE_ALL, capi.PIPE_M, 0, "pipe"), (capi.PIPE_M, capi.PIPE_ALL, 0, "tpipe"),
        ("PIPE_M", capi.PIPE_FIX, 0, "pipe"),
        (capi.PIPE_M, 3, 0, "tpipe"), (capi.PIPE_M, capi.PIPE_M, 0, "tpipe"), (capi.PIPE_M, capi.PIPE_FIX, 8, "id"),
        (capi.PIPE_M, capi.PIPE_FIX, True, "id"), (capi.PIPE_M, capi.PIPE_FIX, None, "id"),
    ):  # fmt: skip
        for call in (core.asc_sync_notify, core.asc_sync_wait):
            refused(core, al.ParameterError, f"^{name} = ", call, pipe, tpipe, event)
    for wrong in (capi.PIPE_S, None, "PIPE_ALL"):
        refused(core, al.ParameterError, "^pipe = ", core.asc_sync_pipe, wrong)
    pipes = "PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX"
    refused(core, al.ParameterError, f"one of {pipes}, PIPE_ALL$", core.asc_sync_pipe, None)
    refused(core, al.ParameterError, f"one of {pipes}$", core.asc_sync_wait, None, capi.PIPE_M, 0)


@pytest.mark.rule("capi-order")
@pytest.mark.rule("capi-order-mte2")
def test_overwriting_needs_an_order_too(core):
    """A buffer that is still being read, or that two copies from GM fill at once, is not overwritten unnoticed."""
    l1, l0a, _, _ = pointers(core)
    src = core.gm(np.ones(2048, np.float16), "src")
    core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
    args = (l1, src, 32, 0, 16, 16, 0, False)
    core.asc_copy_gm2l1_nd2nz(*args)
    error = refused(core, al.SynchronizationError, "overwrites l1", core.asc_copy_gm2l1_nd2nz, *args)
    assert error.fix == "Call asc_sync_pipe(PIPE_MTE2) between the two"
    core.asc_copy_gm2l1_nd2nz(l1 + 256, *args[1:])  # another part of the array
    core.asc_sync_pipe(capi.PIPE_MTE2)
    core.asc_copy_gm2l1_nd2nz(*args)
    capi_cases.order(core, capi.PIPE_MTE2, capi.PIPE_MTE1)
    core.asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1)
    reading = len(core.steps)
    core.asc_sync_pipe(capi.PIPE_MTE2)
    error = refused(core, al.SynchronizationError, "is being read by step", core.asc_copy_gm2l1_nd2nz, *args)
    assert f"asc_sync_notify(PIPE_MTE1, PIPE_MTE2, EVENT_ID0) after step {reading}" in error.fix
    capi_cases.order(core, capi.PIPE_MTE1, capi.PIPE_MTE2)
    core.asc_copy_gm2l1_nd2nz(*args)
    # MTE1 writes in order: the same fractal twice needs no barrier.
    capi_cases.order(core, capi.PIPE_MTE2, capi.PIPE_MTE1)
    core.asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1)
    core.asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1)


@pytest.mark.rule("capi-order")
def test_order_is_handed_on(core):
    """Who waits for somebody who has waited knows what that one knew; a flag tells nothing of what came after it."""
    l1, l0a, _, _ = pointers(core)
    src = core.gm(np.ones(2048, np.float16), "src")
    core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
    core.asc_copy_gm2l1_nd2nz(l1, src, 32, 0, 16, 16, 0, False)
    core.asc_sync_notify(capi.PIPE_MTE2, capi.PIPE_M, 0)
    core.asc_copy_gm2l1_nd2nz(l1 + 256, src, 32, 0, 16, 16, 0, False)
    core.asc_sync_wait(capi.PIPE_MTE2, capi.PIPE_M, 0)
    capi_cases.order(core, capi.PIPE_M, capi.PIPE_MTE1)
    core.asc_copy_l12l0a(l0a, l1, 0, 0, 1, 1, 1, 1)  # MTE2 -> M -> MTE1
    refused(core, al.SynchronizationError, "reads l1", core.asc_copy_l12l0a, l0a, l1, 1, 0, 1, 1, 1, 1)
    core.asc_sync_pipe(capi.PIPE_MTE1)
    refused(core, al.SynchronizationError, "reads l1", core.asc_copy_l12l0a, l0a, l1, 1, 0, 1, 1, 1, 1)
    core.asc_sync_pipe(capi.PIPE_ALL)
    core.asc_copy_l12l0a(l0a, l1, 1, 0, 1, 1, 1, 1)


# Blocks


@pytest.mark.rule("capi-blocks")
def test_blocks_that_share_results_are_reported():
    """Two blocks that write the same bytes, or one that reads what another writes, are refused; own parts are not."""
    s = Conv2dShape(BATCH=3)

    def all_the_same(core, fmap, weight, output):
        """Write every block's result to the first place."""
        conv2d_forward_capi(core, fmap, weight, output - core.asc_get_block_idx() * s.OUTPUT_BATCH_SIZE, s)

    arrays = make_inputs(s)
    with pytest.raises(al.SynchronizationError, match=r"block 1 writes .* bytes of output that block 0 writes too"):
        capi.launch(all_the_same, 3, *arrays)

    def exchange(core, data):
        """Read the next block's half, write the own one."""
        core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
        l1, l0a, l0b, l0c = (
            core.cbuf("float", 256),
            core.ca("float", 256),
            core.cb("float", 256),
            core.cc("float", 256),
        )
        own, other = core.asc_get_block_idx(), 1 - core.asc_get_block_idx()
        core.asc_copy_gm2l1_nd2nz(l1, data + other * 256, 64, 0, 16, 16, 0, False)
        core.asc_sync_pipe(capi.PIPE_ALL)
        core.asc_copy_l12l0a(l0a, l1, 0, 0, 1, 2, 1, 1)
        core.asc_copy_l12l0b(l0b, l1, 0, 0, 1, 2, 1, 1)
        core.asc_sync_pipe(capi.PIPE_ALL)
        core.asc_mmad(l0c, l0a, l0b, 16, 16, 16, 0, True, False, True)
        core.asc_sync_pipe(capi.PIPE_ALL)
        core.asc_set_l0c_copy_nz_para(1, 0, 0)
        core.asc_copy_l0c2gm(data + own * 256, l0c, 16, 16, 16, 16, enable_nz2nd=True)

    data = np.ones(512, np.float32)
    with pytest.raises(al.SynchronizationError, match=r"block 1 reads 1,024 bytes of data that block 0 writes too"):
        capi.launch(exchange, 2, data)
    capi.launch(exchange, 1, np.ones(512, np.float32))


def test_a_block_that_overwrites_what_others_have_read():
    """Reading is fine together; writing what another block has read is not, whoever came first."""

    def kernel(core, data):
        core.asc_set_gm2l1_nz_para(1, 1, 4, 0)
        core.asc_copy_gm2l1_nd2nz(core.cbuf("float", 64), data, 64, 0, 4, 16, 0, False)
        if core.asc_get_block_idx() == 2:
            core.poke(core.cc("float", 256), np.ones(256))
            core.asc_set_l0c_copy_nz_para(1, 0, 0)
            core.asc_copy_l0c2gm(data, core.buffers["L0C"].pointer("float"), 16, 4, 16, 16, enable_nz2nd=True)

    capi.launch(kernel, 2, np.zeros((4, 16), np.float32))
    with pytest.raises(
        al.SynchronizationError, match="block 2 writes 256 bytes of data that more than one other block reads"
    ):
        capi.launch(kernel, 3, np.zeros((4, 16), np.float32))


# Launches


def test_launch_arguments():
    """What is no kernel, no number of blocks, or no global memory is named; everything else is handed on."""
    array = np.zeros(8, np.float16)
    for wrong in (None, 3, "kernel"):
        with pytest.raises(al.ParameterError, match=r"^kernel"):
            capi.launch(wrong, 1)
    for wrong in (0, -1, 65535, 1.0, True, None):
        with pytest.raises(al.ParameterError, match=r"^blocks"):
            capi.launch(lambda core: None, wrong)
    for bad in (np.zeros(8), np.zeros((4, 4), np.float16).T[:, :2], np.zeros(0, np.float16), np.zeros(4, ">f2"),
                np.zeros(4, al.dtypes.as_dtype("int4").numpy), np.array(["a"])):  # fmt: skip
        with pytest.raises(al.ParameterError, match=r"^data"):
            capi.launch(lambda core, data: None, 1, bad)
    with pytest.raises(al.ParameterError, match="memory of its own: it overlaps a"):
        capi.launch(lambda core, a, b: None, 1, array, array[2:])
    launched = capi.launch(
        lambda core, a, b, extra: (a.name, b.name, a.buffer is b.buffer, extra), 2, array, array, {"x": 1}
    )
    assert launched.returned == (("a", "a", True, {"x": 1}),) * 2
    with pytest.raises(ZeroDivisionError):
        capi.launch(lambda core: 1 // 0, 1)
    frozen = np.zeros((16, 16), np.float32)
    frozen.flags.writeable = False

    def write(core, out):
        core.poke(core.cc("float", 256), np.ones(256))
        core.asc_set_l0c_copy_nz_para(1, 0, 0)
        core.asc_copy_l0c2gm(out, core.buffers["L0C"].pointer("float"), 16, 16, 16, 16, enable_nz2nd=True)

    with pytest.raises(al.ParameterError, match="a writeable array"):
        capi.launch(write, 1, frozen)


@pytest.mark.rule("capi-aiv")
def test_the_example_on_vector_cores_leaves_the_output_alone():
    """The whole kernel runs through on vector cores and changes nothing."""
    fmap, weight, output = make_inputs()
    output += 7
    launched = capi.launch(conv2d_forward_capi, 4, fmap, weight, output, EXAMPLE, core_type="AIV")
    assert (output == 7).all()
    outcomes = {s.outcome for core in launched.cores for s in core.steps if s.call.startswith(("asc_copy", "asc_set"))}
    assert outcomes == {"returned at once"}
    with pytest.raises(al.ParameterError, match=r"^core_type"):
        capi.launch(conv2d_forward_capi, 1, fmap, weight, output, core_type="cube")


def test_a_refused_launch_shows_its_machine():
    """The error of a launch carries the core, stopped before the refused call."""
    fmap, weight, output = make_inputs()
    with pytest.raises(al.BufferOverflowError) as caught:
        capi.launch(conv2d_forward_capi, 4, fmap[:2].copy(), weight, output)
    core = caught.value.core
    assert core.block == 2
    assert core.steps[-1].call == "asc_set_gm2l1_nz_para"


@pytest.mark.parametrize(
    "kind", [al.KernelError, al.UninitialisedReadError, al.MisalignedAddressError, al.SynchronizationError]
)
def test_kernel_errors_survive_pickling(kind):
    """Errors come back from another process with their parts."""
    error = kind("asc_mmad", "something is wrong", "Do it better")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error) == "asc_mmad: something is wrong. Do it better"
    assert (again.call, again.problem, again.fix) == (error.call, error.problem, error.fix)
    assert isinstance(again, ValueError)
