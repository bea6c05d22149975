"""Layouts: NC1HWC0 and the three fractal layouts, there and back, element by element."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from load3d_cases import TYPES, numbers, same
from load3d_oracle import elements_in_32_bytes, l1_image, up

import ascendlab as al
from ascendlab import layouts

EVERY_TYPE = st.sampled_from(list(TYPES.values()))
CONVERSIONS = {
    "ZZ": (al.nd_to_zz, al.zz_to_nd),
    "NZ": (al.nd_to_nz, al.nz_to_nd),
    "ZN": (al.nd_to_zn, al.zn_to_nd),
}


def address(layout: str, row: int, column: int, rows: int, columns: int, c0: int) -> int:
    """Return an element's place in memory, from the description of the layout."""
    if layout == "ZN":
        fractal = row // c0 * up(columns, 16) + column // 16
        return fractal * 16 * c0 + column % 16 * c0 + row % c0
    down, across = row // 16, column // c0
    fractal = down * up(columns, c0) + across if layout == "ZZ" else across * up(rows, 16) + down
    return fractal * 16 * c0 + row % 16 * c0 + column % c0


@pytest.mark.parametrize("layout", CONVERSIONS)
@given(dtype=EVERY_TYPE, rows=st.integers(0, 70), columns=st.integers(0, 70), seed=st.integers(0, 99))
def test_fractals_are_where_the_layout_says(layout, dtype, rows, columns, seed) -> None:
    """Each element has the address that the layout's description gives; padding is zero; the way back is exact."""
    there, back = CONVERSIONS[layout]
    c0 = elements_in_32_bytes(dtype)
    nd = numbers(dtype, (rows, columns), seed)
    fractals = there(nd)
    expected = np.zeros(fractals.size, dtype)
    for i in range(rows):
        for j in range(columns):
            expected[address(layout, i, j, rows, columns, c0)] = nd[i, j]
    assert fractals.shape[2:] == (16, c0)
    same(fractals.reshape(-1), expected)
    same(back(fractals, rows, columns), nd)


@pytest.mark.parametrize("layout", CONVERSIONS)
@pytest.mark.parametrize("c0", [8, 16, 32, 64])
def test_places_are_those_of_the_arrays(layout: str, c0: int) -> None:
    """The functions fractal_index and matrix_index agree with the arrays, for numbers and for arrays of numbers."""
    rows, columns = 2 * max(c0, 16), 3 * max(c0, 16)
    dtype = {8: TYPES["float"], 16: TYPES["half"], 32: TYPES["int8"], 64: TYPES["int4"]}[c0]
    nd = numbers(dtype, (rows, columns), 1)
    fractals = CONVERSIONS[layout][0](nd)
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    index = layouts.fractal_index(layout, i, j, c0)
    same(fractals[index], nd)
    back = layouts.matrix_index(layout, index, c0)
    assert (back[0] == i).all()
    assert (back[1] == j).all()
    one = layouts.fractal_index(layout, 17, 5, c0)
    assert all(type(value) is int for value in one)
    assert layouts.matrix_index(layout, one, c0) == (17, 5)


@given(
    dtype=EVERY_TYPE, height=st.integers(0, 5), width=st.integers(0, 5), channels=st.integers(0, 140),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_nc1hwc0_is_l1_s_order(dtype, height, width, channels, seed) -> None:
    """Groups of C0 channels one after the other, a last smaller group packed, and back again."""
    hwc = numbers(dtype, (height, width, channels), seed)
    c0 = elements_in_32_bytes(dtype)
    x = al.to_nc1hwc0(hwc)
    same(x.reshape(-1), l1_image(hwc))
    assert x.shape == ((channels // c0, height, width, c0) if channels % c0 == 0 else (hwc.size,))
    same(al.from_nc1hwc0(x, height, width, channels), hwc)
    same(al.from_nc1hwc0(x.reshape(-1), height, width, channels), hwc)


def test_conversions_copy() -> None:
    """A conversion never returns a view of its argument, not even where the layouts agree."""
    nd = np.ones((16, 16), np.float16)
    hwc = np.ones((4, 4, 16), np.float16)
    for result, source in [(al.nd_to_zz(nd), nd), (al.nd_to_zn(nd), nd), (al.zz_to_nd(al.nd_to_zz(nd), 16, 16), nd),
                           (al.to_nc1hwc0(hwc), hwc), (al.from_nc1hwc0(hwc[None], 4, 4, 16), hwc)]:  # fmt: skip
        assert not np.shares_memory(result, source)
        assert result.flags.c_contiguous


def test_int4_pairs_all_values() -> None:
    """All 256 pairs of int4 values are packed low nibble first, and unpacked to themselves."""
    first, second = np.meshgrid(np.arange(-8, 8), np.arange(-8, 8))
    pairs = np.stack([first, second], axis=-1).astype(ml_dtypes.int4)
    packed = al.pack_int4(pairs)
    assert packed.dtype == np.uint8
    assert packed.tolist() == [(int(a) & 15) | (int(b) & 15) << 4 for a, b in pairs.reshape(-1, 2).astype(int)]
    same(al.unpack_int4(packed, pairs.shape), pairs)


@given(st.lists(st.integers(-8, 7), max_size=9))
def test_int4_of_any_length(values) -> None:
    """An odd last element takes a byte of its own, with a zero in the high nibble."""
    array = np.array(values, np.int8).astype(ml_dtypes.int4)
    packed = al.pack_int4(array)
    assert packed.shape == ((len(values) + 1) // 2,)
    assert len(values) % 2 == 0 or packed[-1] >> 4 == 0
    same(al.unpack_int4(packed, len(values)), array)
    same(al.unpack_int4(packed, (1, len(values))), array[None])


HALF = np.zeros((2, 3), np.float16)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: al.to_nc1hwc0(HALF), r"^hwc = a float16 array of shape \(2, 3\) .* \(H, W, C\)"),
        (lambda: al.to_nc1hwc0(np.zeros((2, 3, 4))), r"^the type of hwc = dtype\('float64'\)"),
        (lambda: al.to_nc1hwc0([[[1]]]), r"^hwc = \[\[\[1\]\]\]"),
        (lambda: al.from_nc1hwc0(HALF, 1, 1, 6), r"^x = .* an array of shape \(6,\)$"),
        (lambda: al.from_nc1hwc0(HALF, 2, 3, 16), r"^x = .* shape \(96,\) or \(1, 2, 3, 16\)"),
        (lambda: al.from_nc1hwc0(HALF, -1, 3, 16), r"^h = -1 "),
        (lambda: al.from_nc1hwc0(HALF, 1, True, 16), r"^w = True "),
        (lambda: al.from_nc1hwc0(HALF, 10**5000, 3, 16), r"^h = an integer of 16610 bits"),
        (lambda: al.from_nc1hwc0("x", 1, 3, 16), r"^x = 'x' "),
        (lambda: al.nd_to_nz(HALF[0]), r"^nd = .* \(rows, columns\)"),
        (lambda: al.nd_to_zz(HALF.astype(complex)), r"^the type of nd = dtype\('complex128'\)"),
        (lambda: al.nz_to_nd(HALF, 2, 3), r"^x = .* \(fractals, fractals, 16, C0\)"),
        (lambda: al.zz_to_nd(np.zeros((2, 1, 16, 16), np.float16), 16, 32),
         r"^x = .* shape \(1, 2, 16, 16\), which is ZZ for 16 x 32 of half"),
        (lambda: al.nz_to_nd(np.zeros((1, 2, 16, 16), np.float16), 16, 32), r"shape \(2, 1, 16, 16\), which is NZ"),
        (lambda: al.zn_to_nd(np.zeros((1, 1, 16, 32), np.int8), 33, 16), r"shape \(2, 1, 16, 32\), which is ZN"),
        (lambda: al.zn_to_nd(np.zeros((1, 1, 16, 32), np.int8), None, 16), r"^rows = None "),
        (lambda: layouts.fractal_index("NN", 1, 1, 16), r"^layout = 'NN' .* one of ZZ, NZ, ZN"),
        (lambda: layouts.fractal_index("NZ", 1.5, 1, 16), r"^row = 1.5 "),
        (lambda: layouts.fractal_index("NZ", 1, 1, 0), r"^c0 = 0 "),
        (lambda: layouts.matrix_index("NZ", (1, 2, 3), 16), r"^index = \(1, 2, 3\) .* four integers"),
        (lambda: layouts.matrix_index("NZ", (1, 2, 3, "x"), 16), r"^index\[3\] = 'x' "),
        (lambda: al.pack_int4(np.zeros(4, np.int8)), r"^values = an int8 array of shape \(4,\) .* int4"),
        (lambda: al.unpack_int4(np.zeros(4, np.int8), 8), r"^packed = an int8 array"),
        (lambda: al.unpack_int4(np.zeros(4, np.uint8), 9), r"^packed = .* 5 bytes for 9 elements"),
        (lambda: al.unpack_int4(np.zeros(4, np.uint8), (2, -4)), r"^shape\[1\] = -4 "),
    ],
)  # fmt: skip
def test_wrong_arguments(call, match: str) -> None:
    """Every error names the argument, what it is, and what would fit."""
    with pytest.raises(al.ParameterError, match=match):
        call()
