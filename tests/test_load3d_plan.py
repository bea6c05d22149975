"""Load3D's plans: provenance, places and byte counts, which the pictures are drawn from."""

from __future__ import annotations

import inspect
import tracemalloc

import load3d_oracle as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from load3d_cases import A2, A200I, A350, TYPES, as_bytes, numbers, same, v1_calls, v2_calls

import ascendlab as al
from ascendlab import LoadData3DParamsV1, LoadData3DParamsV2, load3d, load3d_calls
from ascendlab.caches import BoundedCache
from ascendlab.load3d import Geometry, plan_im2col, plan_load_data_3d_v1, plan_load_data_3d_v2


def rebuilt(sources: al.provenance.Sources, src: np.ndarray, shape: tuple[int, ...], before: np.ndarray) -> np.ndarray:
    """Make a result from nothing but its sources."""
    flat, result = src.reshape(-1), before.reshape(-1).copy()
    moved = sources.operand[:, 0] == 0
    result[moved] = flat[sources.index[moved, 0]]
    padded = ~moved & ~sources.untouched
    result[padded] = sources.constant[padded].astype(src.dtype)
    assert (sources.weight[moved] == 1).all()
    assert np.isnan(sources.constant[moved | sources.untouched]).all()
    return result.reshape(shape)


@given(v2_calls())
@settings(max_examples=50)
def test_v2_s_sources_rebuild_its_result(call) -> None:
    """What `trace` says about each element of a V2 call is enough to make the result, `out`'s old content included."""
    src = al.to_nc1hwc0(call.hwc)
    arguments = {"src": src, "params": call.params, "dst": call.dst, "product": call.product, "repeat": call.repeat}
    fresh = al.load_data_3d_v2(**arguments)
    out = numbers(src.dtype, fresh.shape, 3)
    before = out.copy()
    traced = al.trace(al.Call(al.load_data_3d_v2, {**arguments, "out": out}))
    assert (traced.shape, dict(traced.operands)) == (fresh.shape, {"src": src.shape})
    same(out, before)
    al.load_data_3d_v2(**arguments, out=out)
    same(rebuilt(traced.sources(), src, fresh.shape, before), out)
    same(rebuilt(traced.sources(), src, fresh.shape, np.zeros_like(fresh)), fresh)


@given(v1_calls())
@settings(max_examples=30)
def test_v1_s_sources_rebuild_its_result(call) -> None:
    """The same for V1."""
    src = call.hwc if call.params.c_size else al.to_nc1hwc0(call.hwc)
    arguments = {"src": src, "params": call.params, "dst": call.dst}
    result = al.load_data_3d_v1(**arguments)
    traced = al.trace(al.Call(al.load_data_3d_v1, arguments))
    same(rebuilt(traced.sources(), src, result.shape, np.zeros_like(result)), result)


@given(v2_calls())
@settings(max_examples=20)
def test_im2col_s_sources_rebuild_the_matrix(call) -> None:
    """The same for im2col, whose every element is a sample or padding."""
    src = al.to_nc1hwc0(call.hwc)
    traced = al.trace(al.Call(al.im2col, {"src": src, "params": call.params}))
    expected = oracle.matrix(call.hwc, call.params)
    sources = traced.sources()
    same(rebuilt(sources, src, expected.shape, np.zeros_like(expected)), expected)
    assert not sources.untouched.any()
    assert {str(traced.origin(m, 0))[:4] for m in range(expected.shape[0])} <= {"src[", "cons"}


@given(v2_calls(), st.data())
@settings(max_examples=50)
def test_places_in_the_matrix_and_in_the_result(call, data) -> None:
    """From an element of the result to the matrix and back, and from the matrix to the feature map."""
    src = al.to_nc1hwc0(call.hwc)
    options = {"dst": call.dst, "product": call.product, "repeat": call.repeat}
    load = plan_load_data_3d_v2(src, call.params, **options)
    plan, geometry = load.plan, load.geometry
    shape, written = oracle.load_v2(
        call.hwc, call.params, call.repeat, dst=call.dst, atlas_350=call.product is A350, doubled=call.product is A200I
    )
    assert shape == plan.shape
    source, m, k = plan.locate(np.arange(plan.size))
    inside = source != -2
    assert set(map(int, np.flatnonzero(inside))) == {int(np.ravel_multi_index(i, shape)) for i in written}
    assert (m[~inside] == -1).all()
    assert (k[~inside] == -1).all()
    assert (geometry.source_index(m[inside], k[inside]) == source[inside]).all()
    index = data.draw(st.sampled_from(sorted(written)))
    flat = int(np.ravel_multi_index(index, shape))
    places = plan.places(int(m[flat]), int(k[flat]))
    assert index in places
    assert len(set(places)) == len(places)
    assert {(int(m[np.ravel_multi_index(p, shape)]), int(k[np.ravel_multi_index(p, shape)])) for p in places} == {
        (int(m[flat]), int(k[flat]))
    }
    assert plan.places(geometry.m, 0) == []
    assert plan.places(0, geometry.k) == []


@given(v2_calls())
@settings(max_examples=30)
def test_geometry_says_what_a_column_and_a_window_are(call) -> None:
    """A matrix element's window corner, filter point and sample are the oracle's, as numbers and as arrays."""
    geometry = plan_im2col(al.to_nc1hwc0(call.hwc), call.params).geometry
    c0 = oracle.elements_in_32_bytes(call.hwc.dtype)
    points = oracle.columns(call.params, call.params.channel_size, c0)
    assert (geometry.ho, geometry.wo) == oracle.windows(call.params)
    assert geometry.k == len(points)
    every = geometry.column(np.arange(geometry.k))
    for k, (kh, kw, channel) in enumerate(points):
        expected = (channel // c0, kh, kw, channel % c0)
        assert geometry.column(k) == expected
        assert tuple(int(values[k]) for values in every) == expected
    matrix = oracle.matrix(call.hwc, call.params)
    flat = oracle.l1_image(call.hwc)
    for m, k in ((0, 0), (geometry.m - 1, geometry.k - 1), (geometry.m // 2, geometry.k // 3)):
        c1, row, column, channel = geometry.sample(m, k)
        assert geometry.inside(row, column) == (geometry.source_index(m, k) >= 0)
        if geometry.inside(row, column):
            expected = call.hwc[row, column, c1 * c0 + channel]
            assert as_bytes(np.array([matrix[m, k], flat[geometry.source_index(m, k)]])).tolist() == as_bytes(
                np.array([expected, expected])).tolist()  # fmt: skip


@given(v2_calls())
@settings(max_examples=30)
def test_traffic_adds_up(call) -> None:
    """Loaded, padded and untouched elements are all elements, and those used are different ones of L1."""
    src = al.to_nc1hwc0(call.hwc)
    load = plan_load_data_3d_v2(src, call.params, dst=call.dst, product=call.product, repeat=call.repeat)
    source, _, _ = load.plan.locate(np.arange(load.plan.size))
    assert load.plan.traffic == {
        "loaded": int((source >= 0).sum()),
        "padded": int((source == -1).sum()),
        "untouched": int((source == -2).sum()),
        "used": len(set(source[source >= 0].tolist())),
    }
    assert load.buffer == {"A2": "L0A", "B2": "L0B"}[call.dst]
    assert load.capacity == 65536


def test_reads_count_how_often_a_pixel_is_used() -> None:
    """A 2x2 window over 3x3 pixels uses the middle one four times, an edge twice, a corner once."""
    src = numbers(TYPES["half"], (1, 3, 3, 16), 1)
    params = LoadData3DParamsV2(l1_h=3, l1_w=3, channel_size=16, filter_h=2, filter_w=2)
    reads = al.trace(al.Call(al.im2col, {"src": src, "params": params})).reads()["src"]
    assert reads[0, :, :, 5].tolist() == [[1, 2, 1], [2, 4, 2], [1, 2, 1]]


def test_origins_in_words() -> None:
    """A sample, padding and an unwritten position read as such."""
    src = np.zeros((1, 2, 3, 16), np.float16)
    params = LoadData3DParamsV2(
        l1_h=2, l1_w=3, channel_size=16, pad_list=(1, 0, 0, 0), pad_value=-3, m_extension=8, k_extension=16
    )
    traced = al.trace(al.Call(al.load_data_3d_v2, {"src": src, "params": params, "product": A2}))
    assert str(traced.origin(0, 0, 1, 4)) == "src[0, 0, 0, 4]"
    assert str(traced.origin(0, 0, 4, 4)) == "constant -3"
    assert str(traced.origin(0, 0, 8, 4)) == "never written"


def test_plans_use_small_units_only_where_they_must() -> None:
    """A plan moves whole DataBlocks; only packed tails and odd ends make it finer."""
    src = np.zeros((2, 4, 5, 16), np.float16)
    params = {"l1_h": 4, "l1_w": 5, "filter_w": 2, "m_extension": 16}
    full = plan_load_data_3d_v2(src, LoadData3DParamsV2(**params, channel_size=32, k_extension=64)).plan
    assert (full.unit, full.index.size) == (16, 16 * 4)
    tail = plan_load_data_3d_v2(
        src.reshape(-1)[:400], LoadData3DParamsV2(**params, channel_size=20, k_extension=40)
    ).plan
    assert tail.unit == 4
    odd = plan_load_data_3d_v2(src, LoadData3DParamsV2(**params, channel_size=32, k_start_pt=32, k_extension=17)).plan
    assert odd.unit == 1
    v1 = plan_load_data_3d_v1(src, LoadData3DParamsV1(l1_h=4, l1_w=5, repeat_time=2)).plan
    assert v1.unit == 16
    assert full.nbytes < 8 * full.index.size + 2000


def test_a_plan_does_not_know_the_data() -> None:
    """The same plan object serves every feature map of the same shape and type."""
    one, two = numbers(TYPES["half"], (1, 4, 5, 16), 1), numbers(TYPES["half"], (1, 4, 5, 16), 2)
    params = LoadData3DParamsV2(l1_h=4, l1_w=5, channel_size=16, filter_h=2, m_extension=15, k_extension=32)
    assert plan_load_data_3d_v2(one, params).plan is plan_load_data_3d_v2(two, params).plan
    assert (al.load_data_3d_v2(one, params) != al.load_data_3d_v2(two, params)).any()


def test_geometry_refuses_what_does_not_fit() -> None:
    """A window larger than the padded map has no geometry."""
    with pytest.raises(al.ParameterError, match=r"^filterW = 4 .*l1W \+ left \+ right = 2 \+ 1 \+ 0 = 3"):
        Geometry(height=2, width=2, channels=16, c0=16, window_w=4, pads=(1, 0, 0, 0))


def test_first_columns_are_where_the_columns_say() -> None:
    """The first column of every filter point and channel group comes back as that point's channel 0."""
    geometry = Geometry(height=5, width=7, channels=44, c0=16, window_h=2, window_w=3)
    assert geometry.pads == (0, 0, 0, 0)
    for group in range(3):
        for point in range(6):
            first = geometry.first_column(group, point)
            assert geometry.column(first) == (group, *divmod(point, 3), 0)
    groups, points = np.arange(3)[:, None], np.arange(6)
    assert geometry.first_column(groups, points).reshape(-1).tolist() == [
        geometry.first_column(group, point) for group in range(3) for point in range(6)
    ]


def test_plans_in_the_order_of_the_result_are_gathered_at_once() -> None:
    """The matrix and whole blocks are one gather, straight into the result; what leaves gaps or scatters is not."""
    src = np.zeros((1, 4, 5, 16), np.float16)
    params = LoadData3DParamsV2(l1_h=4, l1_w=5, channel_size=16, filter_h=2, m_extension=15, k_extension=32)
    assert plan_im2col(src, params).plan.straight
    for product in (al.Product.ATLAS_A2, al.Product.ATLAS_350):
        assert plan_load_data_3d_v2(src, params, product=product).plan.straight
    jumping = LoadData3DParamsV1(l1_h=4, l1_w=5, filter_h=2, repeat_time=2, jump_stride=2)
    assert not plan_load_data_3d_v1(src, jumping).plan.straight


@pytest.mark.parametrize("product", [A2, A350])
def test_a_load_copies_the_map_and_not_its_plan(product: al.Product) -> None:
    """With the plan at hand a load takes memory for one feature map with its padding, and no more."""
    src = numbers(TYPES["half"], (4, 56, 56, 16), 3)
    params = LoadData3DParamsV2(l1_h=56, l1_w=56, channel_size=64, filter_h=3, filter_w=3, pad_list=(1, 1, 1, 1),
                                m_extension=56 * 56, k_extension=64 * 9)  # fmt: skip
    out = al.load_data_3d_v2(src, params, product=product)
    plan = plan_load_data_3d_v2(src, params, product=product).plan
    tracemalloc.start()
    try:
        al.load_data_3d_v2(src, params, product=product, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert plan.nbytes > 2 * src.nbytes
    assert peak < 1.1 * src.nbytes


def test_plans_are_kept_and_bounded() -> None:
    """The same parameters are planned once; the cache forgets the oldest plans rather than grow."""
    src = np.zeros((2, 5, 7, 16), np.float16)
    params = {"l1_h": 5, "l1_w": 7, "channel_size": 32, "m_extension": 35, "k_extension": 32}
    first = plan_load_data_3d_v2(src, LoadData3DParamsV2(**params)).plan
    assert plan_load_data_3d_v2(src, LoadData3DParamsV2(**params)).plan is first
    assert plan_load_data_3d_v2(src, LoadData3DParamsV2(**params, pad_value=1)).plan is not first
    cache: BoundedCache[str] = BoundedCache(10)
    for key in "abc":
        cache.put(key, key.upper(), 4)
    assert [cache.get(key) for key in "abc"] == [None, "B", "C"]
    cache.get("b")
    cache.put("d", "D", 4)
    assert [cache.get(key) for key in "bcd"] == ["B", None, "D"]
    cache.put("b", "B2", 8)
    assert (cache.get("b"), cache.nbytes, len(cache)) == ("B2", 8, 1)
    cache.put("huge", "X", 11)
    assert cache.get("huge") is None
    cache.clear()
    assert (cache.nbytes, len(cache)) == (0, 0)


@pytest.mark.parametrize("name", ["im2col", "load_data_3d_v1", "load_data_3d_v2"])
def test_a_call_and_its_plan_have_the_same_parameters(name: str) -> None:
    """What a call does when nothing is said is what its plan says, and it is strict."""
    call, plan = (
        {p.name: p.default for p in inspect.signature(function).parameters.values() if p.name != "out"}
        for function in (getattr(load3d, name), getattr(load3d_calls, f"plan_{name}"))
    )
    assert call == plan
    assert call.get("strict", True) is True
    assert call.get("check_capacity", False) is call["allow_large"] is False
