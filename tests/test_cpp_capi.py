"""Ascend C for a core's log: each step is the document's own line, with its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from ascendlab import AICore, ParameterError, Product
from ascendlab.capi import half, int8_t, uint16_t
from ascendlab.capi.conv2d_example import Conv2dShape, run
from ascendlab.cpp_capi import declarations, kernel_code, step_code

# The document's kernel with its constants put in, for block 2.
EXPECTED = """\
asc_init();
asc_set_gm2l1_nz_para(1, 1, 81, 0);
asc_copy_gm2l1_nd2nz(fmap_l1, fmap + 5184, 64, 0, 81, 32, 0, false);
asc_set_gm2l1_nz_para(1, 1, 288, 0);
asc_copy_gm2l1_nd2nz(weight_l1, weight, 32, 0, 288, 16, 0, false);
asc_sync_notify(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
asc_sync_wait(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
asc_l13d_fmatrix_config fmatrix_config;
fmatrix_config.l1_height = 9;
fmatrix_config.l1_width = 9;
fmatrix_config.padding_left_size = 2;
fmatrix_config.padding_right_size = 2;
fmatrix_config.padding_top_size = 2;
fmatrix_config.padding_bottom_size = 2;
asc_set_l13d_fmatrix(fmatrix_config);
asc_set_l12l0a_3d_padding(static_cast<half>(0.5));
asc_load3d_v2_config repeat_config;
repeat_config.config = 0x0000000200010000ULL;
asc_set_l13d_rpt(repeat_config);
asc_copy_l12l0a(fmap_l0, fmap_l1, 288, 25, 0, 0, 2, 2, 3, 3, 2, 2, false, false, false, false, 32);
asc_copy_l12l0b_transpose(weight_l0, weight_l1, 0, 0, 1, 1, 1, 1);
asc_copy_l12l0b_transpose(weight_l0 + 256, weight_l1, 0, 1, 1, 1, 1, 1);"""
LAST = """\
asc_mmad(output_l0, fmap_l0, weight_l0, 25, 288, 16, 0, false, false, true);
asc_sync_notify(PIPE_M, PIPE_FIX, EVENT_ID0);
asc_sync_wait(PIPE_M, PIPE_FIX, EVENT_ID0);
asc_set_l0c_copy_nz_para(1, 0, 0);
asc_copy_l0c2gm(output + 800, output_l0, 16, 25, 16, 32, 0, 0, 0, 1, 0, false, true, 0, 0, false, 0, false, false, \
false, false);
asc_sync_pipe(PIPE_ALL);"""


@pytest.fixture(scope="module")
def core() -> AICore:
    """Return the third core of the document's example, with another padding value."""
    return run(Conv2dShape(PAD_VALUE=0.5))[0].cores[2]


def test_the_log_reads_like_the_document(core: AICore) -> None:
    """The steps of the emulated kernel are the calls of the C++ original, argument by argument."""
    lines = [step_code(step) for step in core.steps]
    assert "\n".join(lines[:13]) == EXPECTED
    assert "\n".join(lines[31:]) == LAST


def test_declarations_are_the_documents(core: AICore) -> None:
    """The kernel's arrays are declared with their memories, types and sizes."""
    assert declarations(core).splitlines() == [
        "__cbuf__ half fmap_l1[2592];", "__cbuf__ half weight_l1[4608];", "__ca__ half fmap_l0[9216];",
        "__cb__ half weight_l0[4608];", "__cc__ float output_l0[512];",
    ]  # fmt: skip


def test_the_current_call_stands_first(core: AICore) -> None:
    """Code for a step names it, its pipe and its call, and then all calls up to it."""
    code = kernel_code(core, 3)
    assert code.startswith(
        f"// step 3 of 37, PIPE_MTE2\n{step_code(core.steps[2])}\n\n// the kernel up to here, block 2"
    )
    assert code.endswith("\n".join(EXPECTED.splitlines()[:3]))
    assert kernel_code(core, 0).endswith(declarations(core))


def test_padding_values_keep_their_types() -> None:
    """A padding value is written with its type, a raw word as a word; what is no call of the C API is a comment."""
    core = AICore(Product.ATLAS_350)
    core.asc_set_l12l0a_3d_padding(half(0.1))
    core.asc_set_l12l0a_3d_padding(int8_t(-3))
    core.asc_set_gm2l1_padding(uint16_t(7))
    core.asc_set_l12l0a_3d_padding(np.float32(0.5))
    core.asc_set_l12l0a_3d_padding(config=0x1F1F)
    core.poke(core.cbuf("half", 16, name="here"), np.ones(16))
    assert [step_code(step) for step in core.steps] == [
        "asc_set_l12l0a_3d_padding(static_cast<half>(0.1));", "asc_set_l12l0a_3d_padding(static_cast<int8_t>(-3));",
        "asc_set_gm2l1_padding(static_cast<uint16_t>(7));", "asc_set_l12l0a_3d_padding(static_cast<float>(0.5f));",
        "asc_set_l12l0a_3d_padding(0x1f1fULL);", "// poke: no call of the C API",
    ]  # fmt: skip


def test_what_is_no_step(core: AICore) -> None:
    """Anything but a step, and a step that there is not, is refused by name."""
    with pytest.raises(ParameterError, match="step"):
        step_code(3)
    with pytest.raises(ParameterError, match="step = 38"):
        kernel_code(core, 38)
