"""What real hardware would punish: unwritten, outside, misaligned.  Reported, explained, and harmless."""

from __future__ import annotations

import re

import capi_cases
import numpy as np
import pytest
from capi_cases import pointers, refused

import ascendlab as al
from ascendlab import capi
from ascendlab.capi.conv2d_example import conv2d_forward_capi, make_inputs


@pytest.fixture
def core():
    """Return a core with one array in each buffer."""
    return capi_cases.core_with_arrays()


# What nobody has written


@pytest.mark.rule("capi-unwritten")
def test_a_3d_load_of_an_unwritten_map_is_refused(core):
    """The pixel that nobody wrote is named, with its address and what would fill it."""
    l1, l0a, _, _ = pointers(core)
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=4))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    core.poke(l1, np.ones(5 * 16 + 3))
    args = (16, 8, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 16)
    error = refused(core, al.UninitialisedReadError, "asc_copy_l12l0a", core.asc_copy_l12l0a, l0a, l1, *args)
    assert error.call == "asc_copy_l12l0a"
    assert "90 of the 256 bytes that it reads from l1 (L1) have never been written" in error.problem
    assert "the first is byte 166 of l1, L1 0x000a6" in error.problem
    assert "asc_copy_gm2l1_nd2nz" in error.fix
    core.asc_copy_l12l0a(l0a, l1, *(16, 5, *args[2:]))  # m_extension 5 reaches the last fractal, and 5 pixels are there


@pytest.mark.rule("capi-unwritten")
def test_whole_fractals_carry_what_is_missing(core):
    """A 2D load copies unwritten bytes along; the multiplication that consumes them says who brought them."""
    l1, l0a, l0b, l0c = pointers(core)
    data = np.ones((16, 16))
    core.poke(l1, data[:10])
    core.asc_copy_l12l0b_transpose(l0b, l1, 0, 0, 1, 1, 1, 1)
    step = len(core.steps)
    written = l0b.written[:256].reshape(16, 16)
    assert written[:, :10].all()
    assert not written[:, 10:].any()
    core.poke(l0a, np.ones(256))
    error = refused(
        core, al.UninitialisedReadError, "asc_mmad", core.asc_mmad, l0c, l0a, l0b, 16, 16, 16, 0, True, False, True
    )
    assert f"B[k=10, n=0] (byte 20 of l0b, L0B 0x00014) has never been written, where step {step} " in str(error)
    assert "(asc_copy_l12l0b_transpose) moved unwritten bytes; it reaches every row of column 0" in str(error)
    assert "96 such elements" in str(error)
    assert core.memory_map("L0B").poisoned.sum() == 16
    assert core.memory_map("L0B").unwritten == 2048 - 16 * 10 * 2


@pytest.mark.rule("capi-unwritten")
def test_copying_out_what_was_not_computed_is_refused(core):
    """The first element of C that no multiplication has written is named by row and column."""
    _, l0a, l0b, l0c = pointers(core)
    out = np.full((16, 16), 5, np.float32)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    args = {"n_size": 16, "m_size": 16, "dst_stride": 16, "src_stride": 16, "enable_nz2nd": True}
    to = core.gm(out, "out")
    refused(core, al.UninitialisedReadError, r"C\[0, 0\] .*256 such elements", core.asc_copy_l0c2gm, to, l0c, **args)
    core.poke(l0a, np.ones(256))
    core.poke(l0b, np.ones(256))
    core.asc_mmad(l0c, l0a, l0b, 12, 16, 16, 0, True, False, True)
    core.asc_sync_pipe(capi.PIPE_ALL)
    refused(
        core, al.UninitialisedReadError, r"C\[12, 0\] .*beyond m and n of step", core.asc_copy_l0c2gm, to, l0c, **args
    )
    assert (out == 5).all()


def test_forgotten_copies_in_the_example():
    """Leaving any one load out of the document's kernel is reported by the first call that misses its data."""
    expected = {
        "asc_copy_gm2l1_nd2nz": "asc_copy_l12l0a",
        "asc_copy_l12l0a": "asc_mmad",
        "asc_copy_l12l0b_transpose": "asc_mmad",
        "asc_mmad": "asc_copy_l0c2gm",
    }
    for left_out, reporter in expected.items():
        core = capi_cases.new_core()
        setattr(core, left_out, lambda *args: None)
        fmap, weight, output = make_inputs()
        with pytest.raises(al.UninitialisedReadError, match=f"^{reporter}: "):
            conv2d_forward_capi(core, core.gm(fmap, "fmap"), core.gm(weight, "w"), core.gm(output, "o"))
        assert not output.any()


# What lies outside


@pytest.mark.rule("capi-overrun")
def test_a_call_that_leaves_its_array_is_refused(core):
    """One row, fractal or column too many is refused, with the bytes, though the buffer itself goes on."""
    l1, l0a, l0b, l0c = pointers(core)
    core.cbuf("half", 256, name="neighbour")
    src = core.gm(np.ones(4096, np.float16), "src")
    core.asc_set_gm2l1_nz_para(1, 1, 128, 0)
    error = refused(core, al.BufferOverflowError, r"asc_copy_gm2l1_nd2nz: dst in l1 \(L1\)", core.asc_copy_gm2l1_nd2nz,
                    l1, src, 32, 0, 129, 16, 0, False)  # fmt: skip
    assert (error.needed, error.available) == (129 * 32, 4096) or error.needed > 4096
    core.asc_copy_gm2l1_nd2nz(l1, src, 32, 0, 128, 16, 0, False)
    refused(
        core,
        al.BufferOverflowError,
        r"src in src \(GM\)",
        core.asc_copy_gm2l1_nd2nz,
        l1,
        src + 2049,
        32,
        0,
        128,
        16,
        0,
        False,
    )
    core.asc_sync_pipe(capi.PIPE_ALL)
    refused(core, al.BufferOverflowError, r"dst in l0a", core.asc_copy_l12l0a, l0a + 256, l1, 0, 0, 4, 1, 4, 4)
    refused(core, al.BufferOverflowError, r"src in l1", core.asc_copy_l12l0a, l0a, l1, 8, 0, 1, 1, 4, 4)
    refused(core, al.BufferOverflowError, r"src in l1", core.asc_copy_l12l0a, l0a, l1, 0, 0, 1, 2, -1, 4)
    core.asc_copy_l12l0a(l0a, l1, 0, 0, 4, 1, 4, 4)
    core.asc_copy_l12l0b(l0b, l1, 0, 0, 4, 1, 4, 4)
    core.asc_sync_pipe(capi.PIPE_ALL)
    refused(
        core,
        al.BufferOverflowError,
        r"asc_mmad: a_matrix in l0a",
        core.asc_mmad,
        l0c,
        l0a,
        l0b,
        65,
        16,
        16,
        0,
        True,
        False,
        True,
    )
    refused(
        core,
        al.BufferOverflowError,
        r"asc_mmad: b_matrix in l0b",
        core.asc_mmad,
        l0c,
        l0a,
        l0b,
        16,
        16,
        65,
        0,
        True,
        False,
        True,
    )
    refused(
        core,
        al.BufferOverflowError,
        r"asc_mmad: c_matrix in l0c",
        core.asc_mmad,
        l0c + 512,
        l0a,
        l0b,
        64,
        16,
        16,
        0,
        True,
        False,
        True,
    )
    core.asc_mmad(l0c, l0a, l0b, 64, 16, 16, 0, True, False, True)
    core.asc_sync_pipe(capi.PIPE_ALL)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    out = np.zeros(1000, np.float32)
    refused(core, al.BufferOverflowError, r"asc_copy_l0c2gm: dst in out \(GM\)", core.asc_copy_l0c2gm,
            core.gm(out, "out"), l0c, 16, 64, 16, 64, enable_nz2nd=True)  # fmt: skip
    assert not out.any()


@pytest.mark.rule("capi-overrun")
def test_huge_movements_are_refused_at_once(core):
    """The largest numbers that the ranges allow are refused without making a plan of them."""
    l1, l0a, l0b, l0c = pointers(core)
    src = core.gm(np.ones(64, np.float16), "src")
    core.asc_set_gm2l1_nz_para(4095, 16384, 16384, 65535)
    refused(
        core,
        al.BufferOverflowError,
        "dst in l1",
        core.asc_copy_gm2l1_nd2nz,
        l1,
        src,
        2**40 - 1,
        0,
        65535,
        2**21 - 1,
        2**40 - 1,
        False,
    )
    core.asc_set_gm2l1_nz_para(4095, 1, 1, 0)
    refused(
        core,
        al.BufferOverflowError,
        "dst in l1|src in src",
        core.asc_copy_gm2l1_nd2nz,
        l1,
        src,
        0,
        0,
        128,
        2**21 - 1,
        0,
        False,
    )
    core.asc_set_gm2l1_nz_para(4095, 1, 1, 0)
    refused(core, al.ParameterError, "written twice", core.asc_copy_gm2l1_nd2nz, l1, src, 0, 0, 128, 16, 0, False)
    for call, to in ((core.asc_copy_l12l0a, l0a), (core.asc_copy_l12l0b_transpose, l0b)):
        refused(core, al.BufferOverflowError, "in l", call, to, l1, 65535, 65535, 255, 255, -32768, 65535)
    refused(
        core, al.BufferOverflowError, "a_matrix", core.asc_mmad, l0c, l0a, l0b, 4095, 4095, 4095, 0, True, False, True
    )
    core.asc_set_l0c_copy_nz_para(65535, 65535, 2**32 - 1)
    to = core.gm(np.zeros(4, np.float32), "out")
    most = {"n_size": 4095, "m_size": 65535, "dst_stride": 2**32 - 1, "src_stride": 65535, "enable_nz2nd": True}
    refused(core, al.BufferOverflowError, "src in l0c", core.asc_copy_l0c2gm, to, l0c, **most)


@pytest.mark.rule("capi-overrun")
def test_declarations_that_do_not_fit():
    """A buffer that is full says what is in it; sizes are the product's."""
    core = capi_cases.new_core()
    core.ca("half", 30000, name="first")
    with pytest.raises(al.BufferOverflowError, match=r"L0A: .*65,536 bytes there. Declared so far: first 60,000"):
        core.ca("half", 3000, name="second")
    for product in (al.Product.ATLAS_A2, al.Product.ATLAS_350):
        core = capi.AICore(product)
        for declare, name in ((core.cbuf, "L1"), (core.ca, "L0A"), (core.cb, "L0B"), (core.cc, "L0C")):
            size = product.buffers[name]
            with pytest.raises(al.BufferOverflowError):
                declare("int8", size + 1)
            assert declare("int8", size).size == size
    for wrong in (0, -1, 1.5, True, None, 10**5000):
        with pytest.raises(al.ParameterError, match=r"^count"):
            core.ca("half", wrong)


# Addresses


@pytest.mark.rule("capi-alignment")
def test_misaligned_addresses_are_refused(core):
    """Each address that the hardware would mistake is refused with the nearest ones that it would not."""
    l1, l0a, l0b, l0c = pointers(core)
    for buffer, size in (("L1", 4096), ("L0A", 2048), ("L0B", 2048), ("L0C", 4096)):
        core.poke(core.buffers[buffer].pointer("int8"), np.ones(size))
    src = core.gm(np.ones(4096, np.float16), "src")
    core.asc_set_gm2l1_nz_para(1, 1, 2, 0)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=2))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    out = core.gm(np.zeros(4096, np.float32), "out")
    three = (16, 4, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 16)
    good = {
        32: [(core.asc_copy_gm2l1_nd2nz, [l1, src, 32, 0, 2, 16, 0, False], 0),
             (core.asc_copy_l12l0a, [l0a, l1, 0, 0, 1, 1, 1, 1], 1), (core.asc_copy_l12l0a, [l0a, l1, *three], 1)],
        512: [(core.asc_copy_l12l0a, [l0a, l1, 0, 0, 1, 1, 1, 1], 0), (core.asc_copy_l12l0a, [l0a, l1, *three], 0),
              (core.asc_copy_l12l0b_transpose, [l0b, l1, 0, 0, 1, 1, 1, 1], 0),
              (core.asc_mmad, [l0c, l0a, l0b, 16, 16, 16, 0, True, False, True], 1),
              (core.asc_mmad, [l0c, l0a, l0b, 16, 16, 16, 0, True, False, True], 2)],
        1024: [(core.asc_mmad, [l0c, l0a, l0b, 16, 16, 16, 0, True, False, True], 0)],
        64: [(core.asc_copy_l0c2gm, [out, l0c, 16, 16, 16, 16, 0, 0, 0, 0, 0, False, True], 1)],
    }  # fmt: skip
    for alignment, calls in good.items():
        for call, args, position in calls:
            for off in (1, alignment // args[position].dtype.numpy.itemsize // 2):
                moved = list(args)
                moved[position] = args[position] + off
                error = refused(core, al.MisalignedAddressError, f"multiple of {alignment} bytes", call, *moved)
                low, high = (int(x, 16) for x in re.findall(r"addresses are (\S+) or (\S+)$", error.fix)[0])
                assert low < moved[position].offset < high == low + alignment
            call(*args)
            core.asc_sync_pipe(capi.PIPE_ALL)


def test_pointers_are_checked(core):
    """A pointer into the wrong buffer, of another core, or none at all is named; arithmetic needs integers."""
    l1, l0a, l0b, _ = pointers(core)
    stranger = capi_cases.new_core().cbuf("half", 64, name="stranger")
    for dst, src in ((l0a, l0b), (l1, l1), (None, l1), (np.zeros(4), l1), ("l0a", l1), (l0a, stranger), (l0a, 5)):
        refused(
            core, al.ParameterError, r"^(dst|src) = .*pointer into", core.asc_copy_l12l0a, dst, src, 0, 0, 1, 1, 1, 1
        )
    for wrong in (1.0, None, "1", True, np.zeros(2)):
        with pytest.raises(TypeError):
            l1 + wrong
    assert (2 + l1 - 1).offset == 2
    assert (l1 + np.int64(3)).offset == 6
    for wrong in (10**5000, -(10**5000), 2**48):
        with pytest.raises(al.ParameterError, match=r"^offset = .*48 bits"):
            l1 + wrong
    far = l1 + 16 * 10**12
    refused(core, al.BufferOverflowError, "src in l1", core.asc_copy_l12l0b, l0b, far, 0, 0, 1, 1, 1, 1)
    for pointer in (l1 + 2049, l1 - 1, far):
        with pytest.raises(al.BufferOverflowError, match="is outside"):
            pointer.array  # noqa: B018
    nibbles = core.cbuf("int4", 64, name="nibbles")
    assert (nibbles + 2).offset == nibbles.offset + 1
    with pytest.raises(al.ParameterError, match="even number"):
        nibbles + 1
    with pytest.raises(ValueError, match="read-only"):
        l1.array[0] = 1


def test_what_the_first_step_wrote_is_not_counted_as_missing():
    """Bytes count as unwritten by their own marks, the mark of step 1 beside them included."""
    core = capi.AICore(al.Product.ATLAS_350)
    l1, l0a = core.cbuf(np.float16, 128, name="l1"), core.ca(np.float16, 256, name="l0a")
    core.poke(l1, np.ones(5 * 16 + 3))
    assert core.steps[0].number == 1
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=4))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    with pytest.raises(al.UninitialisedReadError, match=r"90 of the 256 bytes.* byte 166 of l1"):
        core.asc_copy_l12l0a(l0a, l1, 16, 8, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 16)


def test_more_of_gm_than_there_is_room_for_is_refused():
    """An array beyond the emulation's limit is refused with both sizes, before anything of its size is made."""
    huge = np.broadcast_to(np.uint8(0), 2**30 + 1)
    with pytest.raises(al.AscendlabError, match=r"contiguous|1,073,741,82"):
        capi.AICore(al.Product.ATLAS_350).gm(huge, "huge")
    with pytest.raises(al.BufferOverflowError, match="1,073,741,825 bytes needed, 1,073,741,824"):
        capi.AICore(al.Product.ATLAS_350).gm(np.empty(2**30 + 1, np.uint8), "huge")
