"""Resizing with BilinearInterpolation: calls that fit, the same bits at once, and how far from exact arithmetic."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import vector_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendlab as al
from ascendlab.resize import bilinear_resize, bilinear_resize_plan, linear_taps

P = al.Product
HAVE_IT = (P.ATLAS_350, P.ATLAS_A3, P.ATLAS_A2, P.ATLAS_INFERENCE_AI_CORE)


def photograph(height, width, seed=0):
    """Make a picture with shapes, slopes and noise, in [0, 255]."""
    y, x = np.mgrid[:height, :width]
    noise = np.random.default_rng(seed).normal(size=(height, width))
    return np.clip(127 + 90 * np.sin(x / 5) * np.cos(y / 7) + (x > y) * 40 + 10 * noise, 0, 255).astype(np.float16)


def same_bits(got, expected):
    """Compare type, shape and every bit."""
    return got.dtype == expected.dtype and got.shape == expected.shape and got.tobytes() == expected.tobytes()


@given(st.integers(1, 300), st.integers(1, 300))
def test_weights_are_exact_and_add_up_to_one(size, out_size):
    """Weights are halves in steps of 2**-11, never negative, and lie within half a step of the exact ones."""
    lines, weights = linear_taps(size, out_size)
    assert (weights.astype(np.float64).sum(axis=0) == 1).all()
    assert (weights * np.float16(2048) % 1 == 0).all()
    assert weights.min() >= 0
    assert lines.min() >= 0
    assert lines.max() < size
    position = np.clip((np.arange(out_size) + 0.5) * size / out_size - 0.5, 0, size - 1)
    mixed = (lines * weights.astype(np.float64)).sum(axis=0)
    assert np.abs(mixed - position).max() <= 2.0**-12 + 1e-9


SHAPES = [
    ((7, 5), (9, 13)),
    ((1, 1), (3, 20)),
    ((2, 300), (5, 130)),
    ((150, 33), (40, 17)),
    ((40, 130), (410, 129)),
    ((17, 16), (17, 16)),
    ((3, 4000), (2, 11)),
]


@pytest.mark.parametrize(("shape", "out_shape"), SHAPES)
@pytest.mark.parametrize("product", HAVE_IT)
def test_all_at_once_is_call_by_call(shape, out_shape, product):
    """The quick way gives the bits of the calls one by one, whatever the product's tiles are."""
    picture = photograph(*shape)
    plan = bilinear_resize_plan(shape, out_shape, product=product)
    at_once = plan.run(picture)
    assert same_bits(plan.run(picture, by_calls=True), at_once)
    assert same_bits(bilinear_resize(picture, out_shape), at_once)
    few = bilinear_resize_plan(shape, out_shape, product=product, lines_per_call=3)
    assert same_bits(few.run(picture, by_calls=True), at_once)


@settings(max_examples=25)
@given(*[st.integers(1, 60)] * 4, st.integers(0, 99))
def test_any_sizes_at_once_and_call_by_call(height, width, out_height, out_width, seed):
    """The same for any sizes, with infinities and NaNs in the picture."""
    picture = photograph(height, width, seed)
    picture[seed % height, seed % width] = (np.inf, np.nan, -65504)[seed % 3]
    plan = bilinear_resize_plan((height, width), (out_height, out_width))
    assert vector_oracle.same_numbers(plan.run(picture), plan.run(picture, by_calls=True))


def test_a_large_picture_in_several_pieces():
    """Pictures that do not fit into one piece, wide ones included, give the bits of the calls."""
    for shape, out_shape in (((70, 20000), (75, 20001)), ((300, 400), (450, 600))):
        picture = photograph(*shape)
        plan = bilinear_resize_plan(shape, out_shape)
        assert same_bits(plan.run(picture), plan.run(picture, by_calls=True))


@pytest.mark.parametrize("product", HAVE_IT)
@pytest.mark.parametrize(
    ("shape", "out_shape"), [((512, 512), (768, 768)), ((900, 140), (50, 16)), ((20, 20), (400, 7))]
)
def test_every_call_fits_the_device(shape, out_shape, product):
    """Each call passes with its capacity checked, and no limit of the A2/A3 implementation is touched."""
    plan = bilinear_resize_plan(shape, out_shape, product=product)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for lines, step in zip(shape, (plan.rows, plan.columns), strict=True):
            picture = np.ones((lines, step.width), np.float16)
            calls = list(step.calls())
            for call in calls[:: 1 + len(calls) // 8]:
                result = al.bilinear_interpolation(call.load(picture), **call.arguments, check_capacity=True)
                assert result.size == 128 * (call.out_lines.stop - call.out_lines.start)


@pytest.mark.parametrize("product", HAVE_IT)
def test_calls_are_as_large_as_fits(product):
    """One line more per call would not fit, or would pass the 255 iterations that A2 and A3 can count."""
    most = bilinear_resize_plan((512, 512), (768, 768), product=product).rows.lines_per_call
    assert 30 < most <= 127
    if most < 127:
        with pytest.raises(al.BufferOverflowError, match=f"UB: .*{most} lines fit"):
            bilinear_resize_plan((512, 512), (768, 768), product=product, lines_per_call=most + 4)


ERRORS = {
    "up": ((37, 29), (53, 64), 0.25, 0.05),
    "down": ((64, 50), (21, 23), 0.25, 0.05),
    "mixed": ((20, 60), (61, 31), 0.25, 0.05),
}


@pytest.mark.parametrize("case", ERRORS)
def test_distance_from_exact_arithmetic(case):
    """On pictures in [0, 255] the result is within 0.25 of the exact one, and within 0.05 on average."""
    shape, out_shape, largest, average = ERRORS[case]
    picture = photograph(*shape)
    error = np.abs(bilinear_resize(picture, out_shape).astype(np.float64) - vector_oracle.resized(picture, *out_shape))
    assert error.max() < largest
    assert 0 < error.mean() < average


def test_what_is_exact():
    """The same size is a copy, doubling small integers is exact, and a mirrored picture gives a mirrored result."""
    picture = photograph(23, 40)
    assert same_bits(bilinear_resize(picture, picture.shape), picture)
    small = np.float16(np.random.default_rng(0).integers(0, 64, (9, 12)))
    doubled = bilinear_resize(small, (18, 24))
    assert np.array_equal(doubled.astype(np.float64), vector_oracle.resized(small, 18, 24))
    wider = bilinear_resize(picture, (23, 50))
    assert same_bits(bilinear_resize(np.ascontiguousarray(picture[:, ::-1]), (23, 50))[:, ::-1].copy(), wider)


def test_out_and_views():
    """`out` is filled and returned; a picture may be a view with any steps."""
    picture = photograph(30, 44)
    view = picture[::2, ::-1]
    expected = bilinear_resize(view.copy(), (20, 21))
    out = np.empty((20, 21), np.float16)
    assert bilinear_resize(view, (20, 21), out=out) is out
    assert same_bits(out, expected)
    assert same_bits(bilinear_resize_plan(view.shape, (20, 21)).run(view, by_calls=True), expected)


@pytest.mark.parametrize(
    ("picture", "out_shape", "message"),
    [
        (np.zeros((4, 4), np.float32), (2, 2), "picture = a float32 array"),
        (np.zeros(16, np.float16), (2, 2), "picture = "),
        (None, (2, 2), "picture = None"),
        (np.zeros((0, 4), np.float16), (2, 2), r"shape\[0\] = 0"),
        (np.zeros((4, 4), np.float16), (0, 2), r"out_shape\[0\] = 0"),
        (np.zeros((4, 4), np.float16), (2, True), r"out_shape\[1\] = True"),
        (np.zeros((4, 4), np.float16), (2, 2, 2), "out_shape = "),
        (np.zeros((4, 4), np.float16), 8, "out_shape = 8"),
        (np.zeros((4, 4), np.float16), (2.0, 2), r"out_shape\[0\] = 2.0"),
        (np.zeros((4, 4), np.float16), (10**5000, 2), r"out_shape\[0\] = an integer of"),
    ],
)
def test_wrong_pictures_and_shapes(picture, out_shape, message):
    """A picture that is no 2-D half array, or a shape of no pixels, is refused by name."""
    with pytest.raises(al.ParameterError, match=f"^{message}"):
        bilinear_resize(picture, out_shape)


def test_wrong_plans():
    """Products without the instruction, impossible tiles and enormous results are refused."""
    with pytest.raises(al.UnsupportedProductError):
        bilinear_resize_plan((4, 4), (2, 2), product=P.ATLAS_TRAINING)
    for lines in (0, 128, True, "3"):
        with pytest.raises(al.ParameterError, match=r"^lines_per_call = "):
            bilinear_resize_plan((4, 4), (2, 2), lines_per_call=lines)
    with pytest.raises(al.BufferOverflowError, match="over 4 GiB"):
        bilinear_resize(np.zeros((2, 2), np.float16), (2**20, 2**20))
    with pytest.raises(al.ParameterError, match=r"^picture = .*\(4, 4\)"):
        bilinear_resize_plan((4, 4), (2, 2)).run(np.zeros((4, 5), np.float16))


def test_memory_stays_near_the_result():
    """A photograph needs little more memory than its two passes' results."""
    picture = photograph(512, 512)
    bilinear_resize(picture, (768, 768))
    tracemalloc.start()
    bilinear_resize(picture, (768, 768))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4.5 * 2**20


def test_one_call_can_be_traced():
    """Every call of a plan is an ordinary call: its provenance names the two lines that an element mixes."""
    picture = np.arange(60, dtype=np.float16).reshape(6, 10)
    call = next(bilinear_resize_plan((6, 10), (9, 10), lines_per_call=4).rows.calls())
    assert call.lines.tolist() == [0, 1, 2]
    src0 = call.load(picture)
    assert src0.shape == (3 * 16,)
    traced = al.trace(al.Call(al.bilinear_interpolation, {"src0": src0, **call.arguments}))
    assert str(traced.origin(128 + 3)) == "0.5 * src0[3] + 0.5 * src0[19]"
    assert str(traced.origin(10)) == "never written"
