"""asc_mmad: the order of its sums to the last bit, its types, and what it asks of its operands."""

from __future__ import annotations

import capi_cases
import capi_oracle
import ml_dtypes
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi
from ascendlab.capi import cube

OPERANDS = {
    "half": (np.float16, "float"),
    "bfloat16": (ml_dtypes.bfloat16, "float"),
    "float": (np.float32, "float"),
    "int8": (np.int8, "int32"),
    "fp8_e4m3fn": (ml_dtypes.float8_e4m3fn, "float"),
    "fp8_e5m2": (ml_dtypes.float8_e5m2, "float"),
}


def place(core, a, b):
    """Put operands into L0A and L0B as the unit wants them; return the three pointers."""
    left, right = capi_oracle.to_operand(a), capi_oracle.to_operand(np.ascontiguousarray(b.T))
    a_l0, b_l0 = core.ca(a.dtype, left.size, name="a_l0"), core.cb(b.dtype, right.size, name="b_l0")
    core.poke(a_l0, left)
    core.poke(b_l0, right)
    high, wide = -(-len(a) // 16) * 16, -(-b.shape[1] // 16)
    return core.cc("int32" if a.dtype == np.int8 else "float", high * wide * 16, name="c_l0"), a_l0, b_l0


def multiply(a, b, *, disable_gemv=True):
    """Multiply on a core; return the result as a matrix, and the core."""
    core = capi_cases.new_core()
    c, a_l0, b_l0 = place(core, a, b)
    core.asc_mmad(c, a_l0, b_l0, len(a), a.shape[1], b.shape[1], 0, disable_gemv, False, True)
    return capi_oracle.from_l0c(c.array, len(a), b.shape[1]), core


@pytest.mark.rule("capi-mmad-order")
@pytest.mark.rule("capi-mmad-types")
@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (1, 40, 1), (3, 17, 2), (17, 65, 5), (5, 33, 33)])
def test_sums_agree_bit_by_bit(name, m, k, n):
    """Every type, and shapes down to a single sum, give what adding one rounded product after the other gives."""
    dtype, result = OPERANDS[name]
    rng = np.random.default_rng(m * 1000 + k)
    a, b = capi_cases.numbers(rng, (m, k), dtype), capi_cases.numbers(rng, (k, n), dtype)
    got, core = multiply(a, b)
    expected = capi_oracle.mmad(a, b)
    assert got.dtype == expected.dtype == (np.int32 if result == "int32" else np.float32)
    assert got.tobytes() == expected.tobytes()
    assert core.steps[-1].pipe is capi.PIPE_M


@pytest.mark.rule("capi-mmad-order")
def test_the_order_of_the_sum_is_visible():
    """On general data another order, and sums in float64, differ in some result: this test would notice them."""
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((40, 288)).astype(np.float16), rng.standard_normal((288, 16)).astype(np.float16)
    exact = cube.multiply(a.T, b, None)
    assert exact.tobytes() == capi_oracle.mmad(a, b).tobytes()
    for other in ((a.astype(float) @ b.astype(float)).astype(np.float32), cube.multiply(a.T[::-1], b[::-1], None)):
        assert (other != exact).any()
    a = rng.standard_normal((500, 288)).astype(np.float16)
    halves = cube.multiply(a.T, b, None).astype(np.float16) != (a.astype(float) @ b.astype(float)).astype(np.float16)
    assert 0 < halves.sum() < halves.size // 200


@pytest.mark.rule("capi-mmad-order")
@pytest.mark.parametrize("slice_bytes", [1, 64, 1000, 1 << 20])
def test_slices_do_not_change_sums(slice_bytes, monkeypatch):
    """However the products are cut into slices, the order of the sum stays."""
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((7, 50)).astype(np.float32), rng.standard_normal((50, 3)).astype(np.float32)
    start = rng.standard_normal((7, 3)).astype(np.float32)
    monkeypatch.setattr(cube, "_SLICE_BYTES", slice_bytes)
    assert cube.multiply(a.T, b, start).tobytes() == capi_oracle.mmad(a, b, start).tobytes()


@pytest.mark.rule("capi-specials")
def test_infinities_and_nans_stay():
    """Overflow gives infinity, infinity minus infinity NaN, and both go through the rounding to half."""
    a = np.array([[65504, 65504], [np.inf, -np.inf], [1, 0]], np.float32)
    b = np.array([[3e38, 1], [3e38, 1]], np.float32)
    core = capi_cases.new_core()
    c, a_l0, b_l0 = place(core, a, b)
    core.asc_mmad(c, a_l0, b_l0, 3, 2, 2, 0, True, False, True)
    out = np.zeros((3, 2), np.float16)
    core.asc_sync_pipe(capi.PIPE_ALL)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_copy_l0c2gm(core.gm(out, "out"), c, 2, 3, 2, 16, quant_pre_mode=1, enable_nz2nd=True)
    assert np.isposinf(out[0]).all()
    assert np.isnan(out[1]).all()
    assert out[2].tolist() == [np.inf, 1]


@pytest.mark.rule("capi-mmad-int8")
def test_int8_sums_are_exact_and_saturate():
    """The largest sums are exact; only what leaves int32 is held at its ends."""
    a, b = np.full((2, 4095), -128, np.int8), np.full((4095, 3), -128, np.int8)
    assert (cube.multiply(a.T, b, None) == 4095 * 16384).all()
    high = np.full((2, 3), 2**31 - 5, np.int32)
    assert (cube.multiply(a.T, b, high) == 2**31 - 1).all()
    assert (cube.multiply(a.T, -(b // 2), -high) == -(2**31)).all()
    rng = np.random.default_rng(6)
    a, b = capi_cases.numbers(rng, (9, 70), np.int8), capi_cases.numbers(rng, (70, 5), np.int8)
    start = capi_cases.numbers(rng, (9, 5), np.int32)
    assert np.array_equal(cube.multiply(a.T, b, start), capi_oracle.mmad(a, b, start))


@pytest.mark.rule("capi-mmad-again")
@pytest.mark.parametrize("name", ["half", "int8"])
def test_adding_to_c(name):
    """A second multiplication goes on from C; small results need a barrier in between, large ones do not."""
    dtype = OPERANDS[name][0]
    rng = np.random.default_rng(8)
    for m, n, fractals in ((20, 20, 4), (48, 48, 9), (80, 32, 10)):
        a, b = capi_cases.numbers(rng, (m, 24), dtype), capi_cases.numbers(rng, (24, n), dtype)
        core = capi_cases.new_core()
        c, a_l0, b_l0 = place(core, a, np.pad(b, ((0, 0), (0, 0))))
        core.poke(a_l0, capi_oracle.to_operand(a))
        args = (m, 24, n, 0, True, False)
        if name == "int8":  # K is filled up with zeros by the oracle's layout
            assert a_l0.written.all()
        core.asc_mmad(c, a_l0, b_l0, *args, True)
        if fractals < 10:
            before = capi_cases.everything(core)
            with pytest.raises(al.SynchronizationError, match=r"may still be writing.*asc_sync_pipe\(PIPE_M\)"):
                core.asc_mmad(c, a_l0, b_l0, *args, False)
            assert capi_cases.everything(core) == before
            core.asc_sync_pipe(capi.PIPE_M)
        core.asc_mmad(c, a_l0, b_l0, *args, False)
        expected = capi_oracle.mmad(a, b, capi_oracle.mmad(a, b))
        assert capi_oracle.from_l0c(c.array, m, n).tobytes() == expected.tobytes()


def test_adding_to_nothing_is_refused():
    """With c_matrix_init_val = False, a C that nobody has computed is named, element by element."""
    core = capi_cases.new_core()
    c, a_l0, b_l0 = place(core, np.ones((4, 16), np.float16), np.ones((16, 20), np.float16))
    with pytest.raises(al.UninitialisedReadError, match=r"C\[0, 0\].*has never been written; 80 such elements"):
        core.asc_mmad(c, a_l0, b_l0, 4, 16, 20, 0, True, False, False)
    core.asc_mmad(c, a_l0, b_l0, 3, 16, 20, 0, True, False, True)
    core.asc_sync_pipe(capi.PIPE_M)
    # Three rows of 16 float32 before it.
    words = r"C\[3, 0\] \(byte 192 of .*L0C 0x000c0\).*lies beyond m and n of step 4.*20 such elements"
    with pytest.raises(al.UninitialisedReadError, match=words):
        core.asc_mmad(c, a_l0, b_l0, 4, 16, 20, 0, True, False, False)


@pytest.mark.rule("capi-mmad-tail")
def test_an_unwritten_k_tail_of_int8_is_reported():
    """Bytes of L0B between k and the next multiple of 32 that nobody wrote are named, with the column they reach."""
    core = capi_cases.new_core()
    a, b = np.ones((3, 20), np.int8), np.ones((20, 18), np.int8)
    c, a_l0, b_l0 = place(core, a, b)
    fresh = core.cb("int8", b_l0.size, name="fresh")
    data = b_l0.array.reshape(-1, 32).copy()
    for column in range(18):
        core.poke(fresh + column * 32, data[column, : 20 if column == 5 else 32])
    before = capi_cases.everything(core)
    with pytest.raises(al.UninitialisedReadError) as caught:
        core.asc_mmad(c, a_l0, fresh, 3, 20, 18, 0, True, False, True)
    assert capi_cases.everything(core) == before
    text = str(caught.value)
    assert "B[k=20, n=5] (byte 180 of fresh, L0B 0x004b4) has never been written" in text
    assert "every row of column 5" in text
    assert "12 such elements" in text
    assert "behind k = 20" in text
    core.poke(fresh + 5 * 32 + 20, np.full(12, 99))  # what is written there does not count
    core.asc_mmad(c, a_l0, fresh, 3, 20, 18, 0, True, False, True)
    assert (capi_oracle.from_l0c(c.array, 3, 18) == 20).all()


@pytest.mark.rule("capi-mmad-rest")
def test_rows_past_m_are_never_asked_for():
    """Operands without their last rows and columns multiply; the result's rest counts as unwritten."""
    core = capi_cases.new_core()
    a_l0, b_l0, c = (
        core.ca("half", 2 * 512, name="a"),
        core.cb("half", 2 * 512, name="b"),
        core.cc("float", 1024, name="c"),
    )
    for block in range(2):
        for row in range(21):
            core.poke(a_l0 + block * 512 + row * 16, np.full(16, row))
        for column in range(19):
            core.poke(b_l0 + block * 512 + column * 16, np.full(16, column))
    core.asc_mmad(c, a_l0, b_l0, 21, 32, 19, 0, True, False, True)
    assert np.array_equal(capi_oracle.from_l0c(c.array, 21, 19), 32.0 * np.outer(np.arange(21), np.arange(19)))
    written = capi_oracle.from_l0c(c.written, 32, 32)
    assert written[:21, :19].all()
    assert written.sum() == 21 * 19
    for m, n in ((22, 19), (21, 20)):
        with pytest.raises(al.UninitialisedReadError, match=r"A\[m=21, k=0\]" if m == 22 else r"B\[k=0, n=19\]"):
            core.asc_mmad(c, a_l0, b_l0, m, 32, n, 0, True, False, True)


@pytest.mark.rule("capi-gemv")
def test_a_single_row_is_read_plainly():
    """With m = 1 and disable_gemv False, A lies in L0A element after element; in fractals it is not all there."""
    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((1, 40)).astype(np.float16), rng.standard_normal((40, 6)).astype(np.float16)
    core = capi_cases.new_core()
    c, _, b_l0 = place(core, a, b)
    row = core.ca("half", 512, name="row")
    core.poke(row, np.pad(a[0], (0, 8)))
    core.asc_mmad(c, row, b_l0, 1, 40, 6, 0, False, False, True)
    assert capi_oracle.from_l0c(c.array, 1, 6).tobytes() == capi_oracle.mmad(a, b).tobytes()
    got, _ = multiply(a, b, disable_gemv=True)
    assert got.tobytes() == capi_oracle.mmad(a, b).tobytes()
    fractals = core.ca("half", 3 * 256, name="fractals")
    for block in range(3):
        core.poke(fractals + block * 256, np.pad(a[0], (0, 8))[block * 16 : block * 16 + 16])
    with pytest.raises(al.UninitialisedReadError, match=r"A\[m=0, k=16\].*set disable_gemv to True"):
        core.asc_mmad(c, fractals, b_l0, 1, 40, 6, 0, False, False, True)
    core.asc_mmad(c, fractals, b_l0, 1, 40, 6, 0, True, False, True)


@pytest.mark.rule("capi-mmad-refused")
@pytest.mark.rule("capi-mmad-types")
def test_what_the_unit_does_not_do_is_named():
    """Unit flag, bias table, sizes out of range and mixed types are refused by name."""
    core = capi_cases.new_core()
    c, a_l0, b_l0 = place(core, np.ones((4, 16), np.float16), np.ones((16, 4), np.float16))
    good = {"m": 4, "k": 16, "n": 4, "unit_flag": 0, "disable_gemv": True, "c_matrix_source": False,
            "c_matrix_init_val": True}  # fmt: skip
    for name, wrong in (("unit_flag", 2), ("unit_flag", 4), ("m", 4096), ("k", -1), ("n", 1.0), ("disable_gemv", 0)):
        with pytest.raises(al.ParameterError, match=f"^{name} = "):
            core.asc_mmad(c, a_l0, b_l0, **{**good, name: wrong})
    with pytest.raises(al.ParameterError, match=r"^c_matrix_source = True .*bias table"):
        core.asc_mmad(c, a_l0, b_l0, **{**good, "c_matrix_source": True, "c_matrix_init_val": False})
    for c_, a_, b_ in (
        (c.cast("int32"), a_l0, b_l0),
        (c, a_l0.cast("int8"), b_l0),
        (c, a_l0.cast("int16"), b_l0.cast("int16")),
    ):
        with pytest.raises(al.ParameterError, match=r"^types of asc_mmad = .*half x half -> float"):
            core.asc_mmad(c_, a_, b_, **good)
    assert not c.written.any()


@pytest.mark.rule("capi-no-operation")
@pytest.mark.parametrize("zero", ["m", "k", "n"])
def test_a_size_of_zero_multiplies_nothing(zero):
    """m, k or n of 0 makes a call that does nothing, whatever its operands hold."""
    core = capi_cases.new_core()
    c, a, b = core.cc("float", 256, name="c"), core.ca("half", 256, name="a"), core.cb("half", 256, name="b")
    core.asc_mmad(c, a, b, **{**dict.fromkeys("mkn", 16), zero: 0}, unit_flag=0, disable_gemv=True,
                  c_matrix_source=False, c_matrix_init_val=True)  # fmt: skip
    assert core.steps[-1].outcome == "no operation"
    assert not c.written.any()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("accumulates", [False, True])
def test_signalling_nans_give_nans_without_a_warning(accumulates):
    """Whatever bits a buffer holds, the multiplication says nothing that its caller could not act on."""
    left = np.array([[0x7C01, 0x3C00]], np.uint16).view(np.float16)
    start = np.ones((2, 3), np.float32) if accumulates else None
    got = cube.multiply(left, np.ones((1, 3), np.float16), start)
    assert np.isnan(got[0]).all()
    assert (got[1] == 1 + accumulates).all()
