"""The copies into L1 and L0, and out of L0C, against loops written from the documents."""

from __future__ import annotations

import capi_cases
import capi_oracle
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi
from ascendlab.capi.moves import Cover, Move, nd2nz, nz_matrix
from ascendlab.capi.steps import Access


def copy_in(source, para, rest, dtype, *, l1_elements=4096, offset=0):
    """Run one ND2NZ copy; return the core, the pointer, and L1's bytes and marks."""
    core = capi_cases.new_core()
    src = core.gm(source, "src").cast(dtype) if source.dtype != np.dtype(dtype) else core.gm(source, "src")
    dst = core.cbuf(dtype, l1_elements, name="dst")
    core.asc_set_gm2l1_nz_para(*para)
    core.asc_copy_gm2l1_nd2nz(dst, src + offset, *rest)
    return core, dst


@pytest.mark.rule("capi-nd2nz")
@pytest.mark.parametrize("name", capi_cases.TYPES)
def test_nd2nz_agrees_with_the_oracle(name):
    """Any number of rows, columns and matrices, with gaps on both sides, lands where the loops say; gaps stay empty."""
    dtype = np.dtype(capi_cases.TYPES[name])
    size, c0 = dtype.itemsize, 32 // dtype.itemsize
    rng = np.random.default_rng(size)
    for _ in range(40):
        rows, columns, matrices = int(rng.integers(1, 8)), int(rng.integers(1, 3 * c0)), int(rng.integers(1, 4))
        c1 = -(-columns // c0)
        n_stride = int(rng.integers(1, 4))
        c0_stride = n_stride * rows + int(rng.integers(0, 3))
        matrix_stride = c0_stride * c1 + int(rng.integers(0, 3))
        row_bytes = columns * size + int(rng.integers(0, 9))  # not always a whole number of elements
        matrix_bytes = row_bytes * rows + int(rng.integers(0, 5))
        source = capi_cases.numbers(rng, matrices * matrix_bytes // size + 8, dtype)
        core, dst = copy_in(source, (matrices, n_stride, c0_stride, matrix_stride),
                            (row_bytes, 0, rows, columns, matrix_bytes, False), dtype,
                            l1_elements=16384, offset=3)  # fmt: skip
        expected = capi_oracle.nd2nz(
            source.tobytes()[3 * size :],
            {"matrix_num": matrices, "rows": rows, "columns": columns, "n_stride": n_stride, "c0_stride": c0_stride,
             "matrix_stride": matrix_stride, "row_bytes": row_bytes, "matrix_bytes": matrix_bytes}, size)  # fmt: skip
        data, writer = dst.buffer.data, dst.buffer.writer
        step = len(core.steps)
        assert {int(i): int(data[i]) for i in np.flatnonzero(writer)} == expected
        assert set(writer[writer != 0]) == {step}
        assert core.steps[-1].bytes_written == len(expected)


@pytest.mark.rule("capi-no-operation")
def test_no_matrices_means_no_operation():
    """matrix_num 0 moves nothing, and the log says so."""
    core, dst = copy_in(np.zeros(64, np.float16), (0, 1, 1, 0), (32, 0, 2, 16, 0, False), np.float16)
    assert core.steps[-1].outcome == "no operation"
    assert not dst.written.any()


@pytest.mark.rule("capi-nd2nz")
@pytest.mark.rule("capi-small-c0")
def test_nd2nz_refuses_what_it_cannot_do():
    """Small C0, an unset register, a wrong type, and numbers out of range are named."""
    core = capi_cases.new_core()
    src, dst = core.gm(np.zeros(64, np.float16), "src"), core.cbuf("half", 64, name="dst")
    good = (32, 0, 2, 16, 0, False)
    with pytest.raises(al.UninitialisedReadError, match="MTE2_NZ_PARA, which nobody has set"):
        core.asc_copy_gm2l1_nd2nz(dst, src, *good)
    core.asc_set_gm2l1_nz_para(1, 1, 2, 0)
    for position, wrong, name in (
        (0, 2**40, "loop1_src_stride"), (1, 3, "l2_cache_ctl"), (1, 5, "l2_cache_ctl"), (2, 0, "n_value"),
        (2, 65536, "n_value"), (3, 0, "d_value"), (3, 2**21, "d_value"), (5, True, "smallc0_en"), (5, 0, "smallc0_en"),
    ):  # fmt: skip
        args = list(good)
        args[position] = wrong
        with pytest.raises(al.ParameterError, match=f"^{name} = "):
            core.asc_copy_gm2l1_nd2nz(dst, src, *args)
    for args in (good[:-1], (*good, 1), good[:-1]):
        with pytest.raises(al.ParameterError, match=r"^arguments of asc_copy_gm2l1_nd2nz"):
            core.asc_copy_gm2l1_nd2nz(dst, src, *args)
    with pytest.raises(al.ParameterError, match=r"^arguments of"):
        core.asc_copy_gm2l1_nd2nz(dst, src, *good, n_value=3)
    with pytest.raises(al.ParameterError, match="type of dst"):
        core.asc_copy_gm2l1_nd2nz(dst.cast("uint16"), src, *good)
    assert not dst.written.any()
    core.asc_copy_gm2l1_nd2nz(
        dst, src, loop1_src_stride=32, l2_cache_ctl=4, n_value=2, d_value=16, loop4_src_stride=0, smallc0_en=False
    )
    assert dst.written[:32].all()


@pytest.mark.rule("capi-overlap")
def test_overlapping_strides_are_refused():
    """Strides that put two rows, two columns or two matrices into one place are refused before anything moves."""
    core = capi_cases.new_core()
    src, dst = core.gm(np.zeros(4096, np.float16), "src"), core.cbuf("half", 4096, name="dst")
    for para, rows, columns in (
        ((1, 1, 3, 0), 4, 32),
        ((1, 2, 1, 0), 4, 40),
        ((2, 1, 4, 3), 4, 16),
        ((2, 1, 4, 0), 4, 16),
    ):
        core.asc_set_gm2l1_nz_para(*para)
        before = capi_cases.everything(core)
        with pytest.raises(al.ParameterError, match="written twice"):
            core.asc_copy_gm2l1_nd2nz(dst, src, columns * 2, 0, rows, columns, 64, False)
        assert capi_cases.everything(core) == before


@pytest.mark.rule("capi-2d")
@pytest.mark.rule("capi-transpose")
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("name", capi_cases.TYPES)
def test_2d_loads_agree_with_the_oracle(name, side, transpose):
    """Fractals go where the loops say, transposed or not, forwards and backwards; what lies between stays unwritten."""
    dtype = np.dtype(capi_cases.TYPES[name])
    c0 = 32 // dtype.itemsize
    rng = np.random.default_rng(c0)
    call = f"asc_copy_l12l0{side}" + ("_transpose" if transpose else "")
    for _ in range(12):
        m_step, k_step = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        if transpose:
            m_step *= max(1, c0 // 16)
            k_step *= max(1, 16 // c0)
        backwards = bool(rng.integers(0, 2))
        src_stride = m_step + int(rng.integers(0, 3))
        k_start = (k_step - 1 if backwards else 0) + int(rng.integers(0, 3))
        args = {
            "m_start": int(rng.integers(0, 3)), "k_start": k_start, "m_step": m_step, "k_step": k_step,
            "src_stride": -src_stride if backwards else src_stride,
            "dst_stride": (k_step * c0 // 16 if transpose else m_step) + int(rng.integers(0, 3)),
        }  # fmt: skip
        core = capi_cases.new_core()
        source = capi_cases.numbers(rng, 96 * 16 * c0, dtype)
        src = core.cbuf(dtype, source.size, name="src")
        core.poke(src, source)
        dst = (core.ca if side == "a" else core.cb)(dtype, 120 * 16 * c0, name="dst")
        getattr(core, call)(dst, src, *args.values())
        expected = capi_oracle.fractals(source, args, transpose)
        assert set(np.flatnonzero(dst.written)) == set(expected)
        places = np.array(sorted(expected))
        wanted = np.array([expected[i] for i in places], dtype)
        assert dst.array[places].tobytes() == wanted.tobytes()
        assert core.steps[-1].pipe is capi.PIPE_MTE1


@pytest.mark.rule("capi-transpose")
def test_squares_of_8_and_32_bit_data():
    """A transposing load of 8-bit data takes fractals in pairs of rows, of 32-bit data in pairs of columns."""
    core = capi_cases.new_core()
    for kind, wrong, name in (("int8", (0, 0, 1, 2, 1, 4), "m_step"), ("float", (0, 0, 2, 1, 2, 2), "k_step")):
        src, dst = core.cbuf(kind, 4096, name="src"), core.cb(kind, 2048, name="dst")
        core.poke(src, np.zeros(4096))
        with pytest.raises(al.ParameterError, match=f"^{name} = 1 .*multiple of 2"):
            core.asc_copy_l12l0b_transpose(dst, src, *wrong)


@pytest.mark.rule("capi-no-operation")
@pytest.mark.rule("capi-overlap")
def test_2d_steps_of_zero_and_too_small_strides():
    """m_step or k_step 0 does nothing; a dst_stride smaller than a column would write fractals twice."""
    core = capi_cases.new_core()
    src, dst = core.cbuf("half", 4096, name="src"), core.ca("half", 4096, name="dst")
    core.poke(src, np.zeros(4096))
    for steps in ((0, 3), (3, 0), (0, 0)):
        core.asc_copy_l12l0a(dst, src, 0, 0, *steps, 3, 3)
        assert core.steps[-1].outcome == "no operation"
    for transpose, steps in ((False, (3, 2)), (True, (2, 3))):
        call = core.asc_copy_l12l0a_transpose if transpose else core.asc_copy_l12l0a
        with pytest.raises(al.ParameterError, match="written twice"):
            call(dst, src, 0, 0, *steps, 3, 2)
        call(dst, src, 0, 0, *steps, 3, 3)


@pytest.mark.rule("capi-l0c2gm")
@pytest.mark.parametrize(("kind", "out", "mode"), [
    ("float", np.float16, "F322F16"), ("float", capi.bfloat16_t, "F322BF16"), ("float", np.float32, "NoQuant"),
    ("int32", np.int32, "NoQuant"),
])  # fmt: skip
def test_the_way_out_agrees_with_the_oracle(kind, out, mode):
    """Rows and columns of any number, several matrices, gaps in GM: every element lands, rounded to nearest even."""
    rng = np.random.default_rng(7)
    for _ in range(25):
        rows, columns, matrices = int(rng.integers(1, 40)), int(rng.integers(1, 40)), int(rng.integers(1, 3))
        high = -(-rows // 16) * 16 + 16 * int(rng.integers(0, 2))
        wide = -(-columns // 16)
        core = capi_cases.new_core()
        src = core.cc(kind, matrices * wide * high * 16, name="src")
        data = capi_cases.numbers(rng, src.size, capi_cases.TYPES[kind])
        if kind == "float":  # halves of ties, and what is too large for half
            data[::7] = np.float16(1) + np.float32(2.0**-11)
            data[::11] *= np.float32(1e5)
        core.poke(src, data)
        stride = columns + int(rng.integers(0, 4))
        gap = stride * rows + int(rng.integers(0, 9))
        target = np.full(matrices * gap + 8, 77, out)
        before = target.copy()
        core.asc_set_l0c_copy_nz_para(matrices, high * wide, gap)
        core.asc_copy_l0c2gm(
            core.gm(target, "out") + 4, src, columns, rows, stride, high, 0, 0, 0, int(capi.QuantMode_t[mode]), 0,
            False, True, 0, 0, False, 0, False, False, False, False,
        )  # fmt: skip
        for matrix in range(matrices):
            part = data[matrix * high * wide * 16 :]
            with np.errstate(over="ignore"):
                for row in range(rows):
                    for column in range(columns):
                        value = part[column // 16 * high * 16 + row * 16 + column % 16]
                        before[4 + matrix * gap + row * stride + column] = value.astype(out)
        assert target.tobytes() == before.tobytes()


@pytest.mark.rule("capi-l0c2gm")
def test_fractals_out_and_relu():
    """Without NZ2ND the fractals stay as they are, dst_stride apart; ReLU makes negative values 0 before rounding."""
    core = capi_cases.new_core()
    src = core.cc("float", 2 * 32 * 16, name="src")
    data = np.random.default_rng(3).standard_normal(src.size).astype(np.float32)
    core.poke(src, data)
    out = np.full(2 * 400, 9, np.float16)
    core.asc_copy_l0c2gm(core.gm(out, "out"), src, 32, 20, 400, 32, 0, 0, 0, 1, 1, False, False)
    blocks = np.maximum(data, 0).astype(np.float16).reshape(2, 32, 16)
    assert np.array_equal(out.reshape(2, 400)[:, :320], blocks[:, :20].reshape(2, 320))
    assert (out.reshape(2, 400)[:, 320:] == 9).all()
    with pytest.raises(al.ParameterError, match=r"^n_size = 20 .*multiple of 16"):
        core.asc_copy_l0c2gm(core.gm(out, "out"), src, 20, 20, 400, 32, 0, 0, 0, 1)


@pytest.mark.rule("capi-l0c2gm-refused")
@pytest.mark.parametrize(("name", "value"), [
    ("l2_cache_mode", 3), ("enable_clip_relu_pre", 1), ("unit_flag_mode", 2), ("quant_pre_mode", 9),
    ("quant_pre_mode", 0), ("quant_pre_mode", 16), ("relu_pre_mode", 2), ("enable_channel_split", True),
    ("quant_post", 1), ("relu_post", 1), ("clip_relu_post", True), ("eltwise_op", 1), ("eltwise_antq_en", True),
    ("c0_pad_en", True), ("broadcast_en", True), ("enable_nz2dn", True),
])  # fmt: skip
def test_what_the_way_out_does_not_do_is_named(name, value):
    """Every feature that is not emulated is refused by its argument's name."""
    core = capi_cases.new_core()
    src, out = core.cc("float", 256, name="src"), np.zeros(256, np.float16)
    core.poke(src, np.ones(256))
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    args = {"n_size": 16, "m_size": 16, "dst_stride": 16, "src_stride": 16, "quant_pre_mode": 1, "enable_nz2nd": True}
    with pytest.raises(al.ParameterError, match=f"^{name} = "):
        core.asc_copy_l0c2gm(core.gm(out, "out"), src, **{**args, name: value})
    assert not out.any()
    core.asc_copy_l0c2gm(core.gm(out, "out"), src, **args)
    assert (out == 1).all()


@pytest.mark.rule("capi-l0c2gm")
def test_nz2nd_needs_its_register():
    """Without asc_set_l0c_copy_nz_para the walk over matrices is undefined, and refused."""
    core = capi_cases.new_core()
    src = core.cc("float", 256, name="src")
    core.poke(src, np.ones(256))
    with pytest.raises(al.UninitialisedReadError, match="LOOP3_PARA"):
        core.asc_copy_l0c2gm(core.gm(np.zeros(256, np.float32), "o"), src, 16, 16, 16, 16, enable_nz2nd=True)


def test_covers_know_their_bytes():
    """Ranges, counts and membership agree with a plain set of bytes."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        units = rng.integers(-5, 40, int(rng.integers(1, 30)))
        unit = int(rng.choice([1, 4, 32]))
        cover = Cover.of(units, unit)
        expected = {int(u) * unit + b for u in units for b in range(unit)}
        ranges = cover.ranges(7)
        assert {int(i) - 7 for a, b in ranges for i in range(a, b)} == expected
        assert cover.nbytes == len(expected)
        asked = np.arange(-10, 50)
        assert set(asked[cover.contains(asked)]) == set(units.tolist())
    assert Cover.of(np.zeros(0, np.intp), 4).nbytes == 0


def test_plans_look_up_backwards():
    """source_of is the inverse of the movement; filled units have no source."""
    plan = nd2nz(itemsize=2, matrices=1, n_stride=1, c0_stride=5, matrix_stride=0, row_bytes=60, rows=5, columns=30,
                 matrix_bytes=0, offset=0)  # fmt: skip
    assert np.array_equal(plan.source_of(plan.dst), plan.src)
    assert (plan.source_of(plan.fill) == np.iinfo(np.intp).min).all()
    assert not plan.overlaps
    assert Move(plan.src, plan.src * 0, plan.fill[:0], 4).overlaps
    with pytest.raises(al.BufferOverflowError):
        nz_matrix(matrices=65535, rows=65535, columns=4095, src_stride=0, src_matrix=0, dst=(0, 1, 1), itemsize=2)


def test_neighbours_do_not_meet():
    """Bytes that only touch are no conflict, with and without gaps; and nothing covers nothing."""
    core = capi_cases.new_core()
    array = core.cbuf(np.uint8, 256, name="array")
    low, high = Access(array, Cover(32, 0, 2)), Access(array, Cover(32, 2, 4))
    gaps, between = (Access(array, Cover.of(np.array(units), 32)) for units in ([0, 2], [1, 3]))
    assert not low.meets(high)
    assert not gaps.meets(between)
    assert low.meets(gaps)
    assert between.meets(high)
    nothing = Cover.of(np.array([], np.intp), 32)
    assert nothing.ranges().shape == (0, 2)
    assert not Access(array, nothing).meets(low)
