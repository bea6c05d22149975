"""Load3D's results, element by element, beside a naive account of the rules."""

from __future__ import annotations

from dataclasses import replace

import load3d_oracle as oracle
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from load3d_cases import (
    A2,
    A3,
    A200I,
    A350,
    AI_CORE,
    TRANSPOSED,
    TYPES,
    V2_TYPES,
    V2Call,
    as_bytes,
    numbers,
    same,
    v1_calls,
    v2_calls,
)

import ascendlab as al
from ascendlab import LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam
from ascendlab.load3d import plan_load_data_3d_v2

ONCE = LoadDataRepeatParam()


def v2_expected(call: V2Call) -> tuple:
    """Return shape and written elements that the oracle finds for a call."""
    return oracle.load_v2(
        call.hwc, call.params, call.repeat, dst=call.dst, atlas_350=call.product is A350, doubled=call.product is A200I
    )


def check_v2(call: V2Call) -> None:
    """Compare a call with the oracle: fresh, into `out`, from (C1, H, W, C0) and from the flat image."""
    shape, written = v2_expected(call)
    options = {"dst": call.dst, "product": call.product, "repeat": call.repeat}
    image = oracle.l1_image(call.hwc)
    fresh = al.load_data_3d_v2(image, call.params, **options)
    same(fresh, oracle.fill(shape, written, np.zeros(shape, call.hwc.dtype)))
    before = numbers(call.hwc.dtype, shape, 3)
    out = before.copy()
    assert al.load_data_3d_v2(al.to_nc1hwc0(call.hwc), call.params, out=out, **options) is out
    same(out, oracle.fill(shape, written, before))


@pytest.mark.parametrize(
    ("product", "dst", "name"),
    [(product, dst, name) for (product, dst), names in V2_TYPES.items() for name in names],
    ids=lambda value: getattr(value, "name", value),
)
@given(data=st.data())
@settings(max_examples=6)
def test_v2_is_what_the_rules_say(product: al.Product, dst: str, name: str, data: st.DataObject) -> None:
    """Any legal call gives exactly the fractals that loops over windows, filter points and channels give."""
    check_v2(data.draw(v2_calls(product=product, dst=dst, name=name)))


@pytest.mark.rule("load3d-transpose-types")
@pytest.mark.parametrize(
    ("product", "name"), [(product, name) for product, names in TRANSPOSED.items() for name in names],
    ids=lambda value: getattr(value, "name", value),
)  # fmt: skip
@given(data=st.data())
@settings(max_examples=6)
def test_transposed_v2_is_what_the_rules_say(product: al.Product, name: str, data: st.DataObject) -> None:
    """The same with enTranspose, for every type that a product transposes."""
    check_v2(data.draw(v2_calls(product=product, dst="A2", name=name, transposed=True)))


@pytest.mark.rule("load3d-windows")
@pytest.mark.rule("load3d-k-order")
@pytest.mark.rule("load3d-padding")
@pytest.mark.rule("load3d-channel-tail")
@given(v2_calls())
@settings(max_examples=60)
def test_im2col_is_what_the_rules_say(call: V2Call) -> None:
    """The whole matrix has a row for every window and a column for every (c1, kh, kw, c0), tails packed."""
    expected = oracle.matrix(call.hwc, call.params)
    same(al.im2col(al.to_nc1hwc0(call.hwc), call.params), expected)
    out = numbers(call.hwc.dtype, expected.shape, 5)
    assert al.im2col(oracle.l1_image(call.hwc), call.params, out=out) is out
    same(out, expected)


def v2(hwc: np.ndarray, **more) -> np.ndarray:
    """Load from a feature map that is channels last."""
    options = {name: more.pop(name) for name in ("dst", "product", "repeat", "out") if name in more}
    params = LoadData3DParamsV2(l1_h=hwc.shape[0], l1_w=hwc.shape[1], channel_size=hwc.shape[2], **more)
    return al.load_data_3d_v2(al.to_nc1hwc0(hwc), params, **options)


@pytest.mark.rule("load3d-zz")
def test_a2_is_zz() -> None:
    """On A2 the second fractal of L0A holds the next C0 columns of the same 16 rows."""
    hwc = numbers(TYPES["half"], (5, 7, 32), 1)
    result = v2(hwc, m_extension=35, k_extension=32)
    assert result.shape == (3, 2, 16, 16)
    flat = hwc.reshape(35, 32)
    same(result[0, 1], flat[:16, 16:])
    same(result[1, 0], flat[16:32, :16])


@pytest.mark.rule("load3d-nz-350")
def test_atlas_350_is_nz() -> None:
    """On Atlas 350 the second fractal of L0A holds the next 16 rows of the same C0 columns."""
    hwc = numbers(TYPES["half"], (5, 7, 32), 1)
    result = v2(hwc, m_extension=35, k_extension=32, product=A350)
    assert result.shape == (2, 3, 16, 16)
    flat = hwc.reshape(35, 32)
    same(result[0, 1], flat[16:32, :16])
    same(result[1, 0], flat[:16, 16:])


@pytest.mark.rule("load3d-zn")
@pytest.mark.parametrize("name", ["half", "int32", "int8"])
@pytest.mark.parametrize("en_transpose", [False, True])
def test_b2_is_zn(name: str, en_transpose: bool) -> None:
    """In L0B a fractal's last axis runs along M, and enTranspose makes no difference."""
    dtype = TYPES[name]
    c0 = oracle.elements_in_32_bytes(dtype)
    hwc = numbers(dtype, (8, 12, 2 * c0), 2)
    result = v2(hwc, m_extension=96, k_extension=2 * c0, dst="B2", product=A350, en_transpose=en_transpose)
    matrix = hwc.reshape(96, 2 * c0)
    assert result.shape == (96 // c0, 2 * c0 // 16, 16, c0)
    same(result, al.nd_to_zn(matrix))
    if name == "half":
        same(result, np.ascontiguousarray(matrix.reshape(6, 16, 2, 16).transpose(0, 2, 3, 1)))


@pytest.mark.rule("load3d-transpose")
@pytest.mark.parametrize("name", ["half", "bfloat16", "float", "int8", "fp8_e5m2"])
def test_en_transpose_is_the_transposed_matrix(name: str) -> None:
    """With enTranspose, L0A holds the transposed matrix in the layout of the product."""
    dtype = TYPES[name]
    c0 = oracle.elements_in_32_bytes(dtype)
    hwc = numbers(dtype, (8, 12, 4 * c0), 3)
    turned = np.ascontiguousarray(hwc.reshape(96, 4 * c0).T)
    for product, lay in ((A350, al.nd_to_nz), (A2, al.nd_to_zz)):
        if product is A350 or dtype.itemsize > 1:
            same(v2(hwc, m_extension=96, k_extension=4 * c0, en_transpose=True, product=product), lay(turned))


@pytest.mark.rule("load3d-transpose-square")
@pytest.mark.rule("load3d-unwritten")
def test_transposed_results_are_filled_up_and_not_written_there() -> None:
    """8 columns of float fill half of a 16-row fractal; 16 windows of int8 half of a 32-column one."""
    before = np.full((1, 2, 16, 8), 99, np.float32)
    hwc = numbers(TYPES["float"], (4, 4, 8), 4)
    result = v2(hwc, m_extension=16, k_extension=8, en_transpose=True, out=before)
    assert (result[0, :, 8:] == 99).all()
    same(result[0, :, :8], al.nd_to_zz(np.ascontiguousarray(hwc.reshape(16, 8).T))[0, :, :8])
    before8 = np.full((1, 2, 16, 32), 99, np.int8)
    hwc8 = numbers(TYPES["int8"], (4, 4, 32), 4)
    result8 = v2(hwc8, m_extension=16, k_extension=32, en_transpose=True, product=A350, out=before8)
    assert (result8[0, :, :, 16:] == 99).all()
    same(np.ascontiguousarray(result8[0, :, :, :16]).reshape(32, 16), np.ascontiguousarray(hwc8.reshape(16, 32).T))


def test_two_joined_fractals_of_int8_become_a_square() -> None:
    """b8 on Atlas 350: two 16 x 32 fractals are joined to 32 x 32, transposed, and split into two again."""
    hwc = numbers(TYPES["int8"], (4, 8, 32), 6)
    plain = v2(hwc, m_extension=32, k_extension=32, product=A350)
    square = plain[0].reshape(32, 32).T
    turned = v2(hwc, m_extension=32, k_extension=32, product=A350, en_transpose=True)
    same(turned[0], np.ascontiguousarray(square).reshape(2, 16, 32))


@pytest.mark.rule("load3d-filter-size")
def test_filter_size_adds_256_points() -> None:
    """A set filterSizeW widens the filter by 256: a 257-wide window over 260 columns has four positions."""
    hwc = numbers(TYPES["half"], (1, 260, 4), 7)
    params = LoadData3DParamsV2(l1_h=1, l1_w=260, channel_size=4, filter_size_w=True)
    matrix = al.im2col(al.to_nc1hwc0(hwc), params)
    assert matrix.shape == (4, 257 * 4)
    same(matrix[3], hwc[0, 3:].reshape(-1))
    tall = LoadData3DParamsV2(l1_h=258, l1_w=2, channel_size=4, filter_h=0, filter_size_h=True)
    assert al.im2col(al.to_nc1hwc0(numbers(TYPES["half"], (258, 2, 4), 8)), tall).shape == (6, 256 * 4)


@pytest.mark.rule("load3d-padding")
@pytest.mark.parametrize(
    ("name", "value"),
    [("int8", -128), ("uint8", 255), ("half", -65504.0), ("half", 0.1), ("bfloat16", 3e38), ("float", -3.4e38),
     ("uint32", 4294967295), ("int32", -2147483648), ("fp8_e4m3fn", 448), ("int4", -8)],
)  # fmt: skip
def test_pad_values_have_the_data_s_type(name: str, value: float) -> None:
    """The pad value may be anything that the type holds, and is rounded to it: a float pad keeps all its bits."""
    dtype = TYPES[name]
    c0 = oracle.elements_in_32_bytes(dtype)
    params = LoadData3DParamsV2(l1_h=1, l1_w=1, channel_size=c0, pad_list=(1, 0, 0, 0), pad_value=value)
    result = al.im2col(np.zeros((1, 1, 1, c0), dtype), params)
    same(result[0], np.full(c0, value).astype(dtype))
    same(result[1], np.zeros(c0, dtype))


def test_a_one_by_one_filter_only_changes_the_layout() -> None:
    """Filter 1x1, stride 1, no padding: im2col is the feature map itself, and Load3D a layout conversion."""
    hwc = numbers(TYPES["half"], (5, 9, 36), 9)
    matrix = hwc.reshape(45, 36)
    params = LoadData3DParamsV2(l1_h=5, l1_w=9, channel_size=36, m_extension=45, k_extension=36)
    same(al.im2col(al.to_nc1hwc0(hwc), params), matrix)
    same(al.load_data_3d_v2(al.to_nc1hwc0(hwc), params), al.nd_to_zz(matrix))
    same(al.load_data_3d_v2(al.to_nc1hwc0(hwc), params, product=A350), al.nd_to_nz(matrix))
    same(al.load_data_3d_v2(al.to_nc1hwc0(hwc), params, dst="B2"), al.nd_to_zn(matrix))


@given(v2_calls(product=A2, dst="A2"))
@settings(max_examples=40)
def test_tiles_make_the_whole(call: V2Call) -> None:
    """One fractal at a time gives the same L0A as the whole matrix at once."""
    matrix = oracle.matrix(call.hwc, call.params)
    c0 = oracle.elements_in_32_bytes(call.hwc.dtype)
    src = al.to_nc1hwc0(call.hwc)
    one = {"en_transpose": False, "m_extension": 16, "k_extension": c0}
    whole = replace(call.params, **{**one, "m_start_pt": 0, "k_start_pt": 0,
                                    "m_extension": matrix.shape[0], "k_extension": matrix.shape[1]})  # fmt: skip
    result = al.load_data_3d_v2(src, whole)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            tile = replace(call.params, **one, m_start_pt=16 * i, k_start_pt=c0 * j)
            same(al.load_data_3d_v2(src, tile)[0, 0], result[i, j])


@pytest.mark.rule("load3d-repeat")
@pytest.mark.parametrize(("product", "step"), [(A2, 16), (A3, 16), (A200I, 32), (A350, 16)])
def test_repeats_step_along_one_axis(product: al.Product, step: int) -> None:
    """A repeat starts 16 rows, or C0 columns (twice that on 200I/500 A2), times the stride further on."""
    hwc = numbers(TYPES["half"], (10, 10, 160), 10)
    down = LoadDataRepeatParam(repeat_time=3, repeat_mode=0, repeat_stride=2)
    across = LoadDataRepeatParam(repeat_time=3, repeat_mode=1, repeat_stride=1)
    size = {"m_extension": 16, "k_extension": 16, "product": product}
    rows = v2(hwc, **size, repeat=down)
    columns = v2(hwc, **size, repeat=across)
    for r in range(3):
        same(rows[r], v2(hwc, **size, m_start_pt=32 * r))
        same(columns[r], v2(hwc, **size, k_start_pt=step * r))


@pytest.mark.rule("load3d-repeat-results")
@pytest.mark.parametrize("mode", [0, 1])
def test_transposed_repeats_are_one_matrix(mode: int) -> None:
    """With enTranspose, repeats that follow each other are the transposed form of the larger block."""
    hwc = numbers(TYPES["float"], (6, 16, 72), 11)
    repeat = LoadDataRepeatParam(repeat_time=3, repeat_mode=mode, repeat_stride=2 if mode == 0 else 3)
    m, k = 32, 24
    block = {"m_extension": m, "k_extension": k, "en_transpose": True}
    larger = {**block, "m_extension": m * 3} if mode == 0 else {**block, "k_extension": k * 3}
    for product in (A2, A350):
        same(v2(hwc, **block, repeat=repeat, product=product), v2(hwc, **larger, product=product))
    lone = v2(hwc, m_extension=m, k_extension=k, dst="B2", repeat=repeat)
    assert lone.shape[0] == 3, "B2's repeats lead the result"


@pytest.mark.rule("load3d-dst-stride")
def test_dst_stride_leaves_gaps() -> None:
    """On Atlas 350 columns of fractals are dstStride apart; 0 and the column's own length mean no gap."""
    hwc = numbers(TYPES["half"], (5, 7, 48), 12)
    size = {"m_extension": 35, "k_extension": 48, "product": A350}
    dense = v2(hwc, **size)
    same(v2(hwc, **size, repeat=LoadDataRepeatParam(dst_stride=3)), dense)
    out = np.full((13, 16, 16), 9, np.float16)
    spread = v2(hwc, **size, repeat=LoadDataRepeatParam(dst_stride=5), out=out)
    for column in range(3):
        same(spread[5 * column : 5 * column + 2], dense[column, :2])
        same(spread[5 * column + 2, :3], dense[column, 2, :3])
        assert (spread[5 * column + 2, 3:] == 9).all(), "rows past the last window"
    assert (spread[[3, 4, 8, 9]] == 9).all()
    fresh = v2(hwc, **size, repeat=LoadDataRepeatParam(dst_stride=5))
    assert fresh.shape == (13, 16, 16)
    assert (fresh[[3, 4, 8, 9]] == 0).all()


def test_dst_stride_of_a_transposed_block_counts_its_own_columns() -> None:
    """With enTranspose dstStride is the distance between the columns of the transposed matrix."""
    hwc = numbers(TYPES["half"], (4, 8, 48), 13)
    size = {"m_extension": 32, "k_extension": 48, "product": A350, "en_transpose": True}
    dense = v2(hwc, **size)
    assert dense.shape == (2, 3, 16, 16)
    spread = v2(hwc, **size, repeat=LoadDataRepeatParam(dst_stride=4))
    assert spread.shape == (7, 16, 16)
    same(spread[:3], dense[0])
    same(spread[4:], dense[1])


def test_as_the_b_matrix_positions_are_contracted() -> None:
    """The public example: a 2x2x16 map of zeros, pad 1 with value 2, as B against ones: 12 border positions x 2."""
    params = LoadData3DParamsV2(
        l1_h=2, l1_w=2, channel_size=16, pad_list=(1, 1, 1, 1), pad_value=2, m_extension=16, k_extension=16
    )
    b = al.load_data_3d_v2(np.zeros((1, 2, 2, 16), np.float16), params, dst="B2", product=A350)
    assert b.shape == (1, 1, 16, 16)
    b_matrix = al.zn_to_nd(b, 16, 16).astype(np.float32)
    product = np.ones((16, 16), np.float32) @ b_matrix
    assert (product == 24).all()


@pytest.mark.rule("load3d-channel-tail")
def test_the_document_s_example_has_rows_of_36() -> None:
    """4 channels and a 3x3 filter: each of the Wo * Ho rows holds 3 * 3 * 4 numbers, 4 at a time."""
    hwc = np.arange(4 * 5 * 4, dtype=np.float16).reshape(4, 5, 4)
    params = LoadData3DParamsV2(l1_h=4, l1_w=5, channel_size=4, filter_h=3, filter_w=3, m_extension=6, k_extension=36)
    matrix = al.im2col(al.to_nc1hwc0(hwc), params)
    assert matrix.shape == (6, 36)
    assert matrix[0].tolist() == [*range(12), *range(20, 32), *range(40, 52)]
    fractals = al.load_data_3d_v2(al.to_nc1hwc0(hwc), params)
    assert fractals.shape == (1, 3, 16, 16)
    same(fractals[0, 1, :6], matrix[:, 16:32])
    assert (fractals[0, 2, :, 4:] == 0).all()


@pytest.mark.rule("load3d-k-order")
def test_the_golden_of_the_conv2d_example() -> None:
    """im2col times the document's weights, in its order (c1, kh, kw, c0), is the convolution of its golden."""
    rng = np.random.default_rng(14)
    fmap = rng.integers(-2, 3, (9, 9, 32)).astype(np.float16)
    weight = rng.integers(-1, 2, (2, 3, 3, 16, 4)).astype(np.float16)
    params = LoadData3DParamsV2(
        l1_h=9, l1_w=9, channel_size=32, filter_h=3, filter_w=3, stride_h=2, stride_w=2, dilation_filter_h=2,
        dilation_filter_w=2, pad_list=(2, 2, 2, 2), m_extension=25, k_extension=288,
    )  # fmt: skip
    matrix = al.im2col(al.to_nc1hwc0(fmap), params)
    result = (matrix.astype(np.float64) @ weight.reshape(288, 4).astype(np.float64)).reshape(5, 5, 4)
    padded = np.pad(fmap.astype(np.float64), ((2, 2), (2, 2), (0, 0)))
    golden = np.zeros((5, 5, 4))
    for ho in range(5):
        for wo in range(5):
            for kh in range(3):
                for kw in range(3):
                    pixel = padded[2 * ho + 2 * kh, 2 * wo + 2 * kw].reshape(2, 16)
                    golden[ho, wo] += np.einsum("ab,abo->o", pixel, weight[:, kh, kw].astype(np.float64))
    np.testing.assert_array_equal(result, golden)


@pytest.mark.rule("load3d-v1-fractal")
@pytest.mark.rule("load3d-v1-repeat")
@pytest.mark.rule("load3d-v1-past-last")
@pytest.mark.rule("load3d-v1-c-size")
@pytest.mark.rule("load3d-v1-b2")
@given(v1_calls())
@settings(max_examples=120)
def test_v1_is_what_the_rules_say(call) -> None:
    """Any legal V1 call gives the fractals that walking from filter point to filter point gives."""
    shape, written = oracle.load_v1(call.hwc, call.params, dst=call.dst)
    src = call.hwc if call.params.c_size else al.to_nc1hwc0(call.hwc)
    same(al.load_data_3d_v1(src, call.params, dst=call.dst), oracle.fill(shape, written, np.zeros(shape, src.dtype)))
    before = numbers(src.dtype, shape, 4)
    out = before.copy()
    assert (
        al.load_data_3d_v1(src.reshape(-1), call.params, dst=call.dst, product=al.Product.ATLAS_TRAINING, out=out)
        is out
    )
    same(out, oracle.fill(shape, written, before))


@pytest.mark.rule("load3d-v1-repeat")
def test_v1_repeats_are_v2_s_fractals() -> None:
    """Stepping through all filter points, then all windows, V1 makes the L0A that V2 makes at once."""
    hwc = numbers(TYPES["half"], (6, 8, 20 + 12), 15)
    src = al.to_nc1hwc0(hwc)
    shared = {
        "l1_h": 6,
        "l1_w": 8,
        "filter_h": 2,
        "filter_w": 3,
        "stride_w": 2,
        "pad_list": (1, 2, 0, 1),
        "pad_value": 3,
    }
    geometry = plan_load_data_3d_v2(
        src, LoadData3DParamsV2(**shared, channel_size=32, m_extension=16, k_extension=16)
    ).geometry
    whole = al.load_data_3d_v2(
        src, LoadData3DParamsV2(**shared, channel_size=32, m_extension=geometry.m // 16 * 16, k_extension=geometry.k)
    )
    for i in range(whole.shape[0]):
        row, column = geometry.corner(16 * i)
        v1 = LoadData3DParamsV1(**shared, left_top_h=row, left_top_w=column, repeat_time=whole.shape[1])
        same(al.load_data_3d_v1(src, v1), whole[i])
    down = LoadData3DParamsV1(**shared, left_top_w=-1, repeat_mode=1, repeat_time=whole.shape[0], fetch_filter_w=1)
    same(al.load_data_3d_v1(src, down), np.ascontiguousarray(whole[:, 1]))


@pytest.mark.rule("load3d-v1-b2")
def test_v1_to_b2_transposes_each_fractal() -> None:
    """B2's fractals are A2's, each transposed."""
    for name in ("half", "int8"):
        src = al.to_nc1hwc0(numbers(TYPES[name], (3, 9, 64), 16))
        params = LoadData3DParamsV1(l1_h=3, l1_w=9, filter_w=2, repeat_time=2, jump_stride=2)
        plain = al.load_data_3d_v1(src, params)
        same(al.load_data_3d_v1(src, params, dst="B2"), np.ascontiguousarray(plain.transpose(0, 2, 1)))


def test_large_transposed_results_are_made_piece_by_piece() -> None:
    """A result larger than one piece of the work is the same as a layout conversion of the matrix."""
    hwc = np.random.default_rng(17).integers(-99, 99, (40, 57, 192)).astype(np.float16)
    m, k = 40 * 57, 192
    turned = np.ascontiguousarray(hwc.reshape(m, k).T)
    result = v2(hwc, m_extension=m, k_extension=k, en_transpose=True)
    assert result.nbytes > 1 << 19
    same(result, al.nd_to_zz(turned))
    same(v2(hwc, m_extension=m, k_extension=k, dst="B2"), al.nd_to_nz(turned))
    repeat = LoadDataRepeatParam(repeat_time=3, repeat_mode=0, repeat_stride=40)
    parts = v2(hwc, m_extension=640, k_extension=k, dst="B2", repeat=repeat)
    for r in range(3):
        same(parts[r], al.nd_to_nz(np.ascontiguousarray(turned[:, 640 * r : 640 * (r + 1)])))


def test_any_view_of_a_feature_map_will_do() -> None:
    """A feature map that is a view with steps, or read-only, gives the same result and is not changed."""
    base = numbers(TYPES["half"], (2, 5, 14, 16), 18)
    view = base[:, :, ::2]
    view.setflags(write=False)
    params = LoadData3DParamsV2(l1_h=5, l1_w=7, channel_size=32, filter_w=2, m_extension=30, k_extension=64)
    before = base.copy()
    same(al.load_data_3d_v2(view, params), al.load_data_3d_v2(view.copy(), params))
    same(base, before)


def test_a_picture_from_aipp_is_a_feature_map() -> None:
    """What LoadImageToLocal leaves in L1 goes into Load3D as it is: a 32-byte pixel, or one of 4 channels."""
    grey = np.random.default_rng(19).integers(0, 255, (6, 8), dtype=np.uint8)
    for few in (0, 1):
        config = al.AippParams(c_padding_params=al.AippChannelPaddingParams(c_padding_mode=few))
        setup = al.set_aipp_functions(grey, input_format=al.AippInputFormat.YUV400_U8, dtype="half", config=config)
        picture = al.load_image_to_local(setup, al.LoadImageToLocalParams(horiz_size=8, vert_size=6, src_horiz_size=8))
        channels = picture.shape[2]
        shared = {"l1_h": 6, "l1_w": 8, "filter_h": 2, "filter_w": 3}
        params = LoadData3DParamsV2(**shared, channel_size=channels, m_extension=30, k_extension=6 * channels)
        same(al.load_data_3d_v2(picture, params), al.load_data_3d_v2(picture.reshape(-1), params))
        same(al.im2col(picture, params), oracle.matrix(picture, params))
        v1 = LoadData3DParamsV1(**shared, c_size=few)
        same(al.load_data_3d_v1(picture, v1), al.load_data_3d_v1(picture.reshape(-1), v1))


@example(call=V2Call(numbers(TYPES["int4"], (2, 3, 72), 1), LoadData3DParamsV2(
    l1_h=2, l1_w=3, channel_size=72, m_extension=6, k_extension=72), ONCE, "A2", AI_CORE))  # fmt: skip
@given(call=v2_calls(product=AI_CORE))
@settings(max_examples=20)
def test_int4_has_one_element_a_byte(call: V2Call) -> None:
    """int4 arrays have one element a byte here; on the device, and so in the meter, two."""
    load = plan_load_data_3d_v2(al.to_nc1hwc0(call.hwc), call.params, dst=call.dst, product=call.product)
    result = al.load_data_3d_v2(al.to_nc1hwc0(call.hwc), call.params, dst=call.dst, product=call.product)
    assert load.nbytes == (as_bytes(result).size // 2 if call.hwc.dtype.name == "int4" else result.nbytes)
