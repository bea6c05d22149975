"""Guesses at the cause: each known mistake is found on a simulated device, and noise is no mistake."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from compare_cases import SEEDS, bilinear, convolution, in_layout, load, load_v1, matrix, numbers, padding, picture
from compare_devices import FAULTS, HALVES, HWC
from compare_faults import drawn, edited, repeated

from ascendlab.capi.conv2d_example import Conv2dShape, conv2d_forward_capi
from ascendlab.capi.launch import launch
from ascendlab.compare import Comparison, compare
from ascendlab.compare_arithmetic import picture_arithmetic
from ascendlab.compare_calls import changes
from ascendlab.compare_cases import Explanation
from ascendlab.products import Product
from ascendlab.provenance import Call


def each_cause_twice() -> Iterator[tuple[str, int]]:
    """Yield every device, and every cause with data of two sizes: those of a single device twice."""
    turns = dict.fromkeys((cause for cause, _ in FAULTS.values()), 0)
    for name, (cause, _) in FAULTS.items():
        alone = sum(other == cause for other, _ in FAULTS.values()) == 1
        for seed in SEEDS if alone else SEEDS[turns[cause] % 2 :][:1]:
            yield name, seed
        turns[cause] += 1


@pytest.mark.parametrize(("name", "seed"), list(each_cause_twice()))
def test_the_cause_is_named_first(name: str, seed: int) -> None:
    """What a device with one known mistake wrote is explained by that mistake, to the last element."""
    cause, fault = FAULTS[name]
    device = fault(seed)
    found = compare(device.actual, device.golden, **device.options)
    assert found.mismatches
    assert found.causes, str(found)
    assert found.causes[0].cause == cause, str(found)
    assert found.causes[0].remaining == 0
    assert found.pattern == ""
    assert f"cause: {cause}: " in str(found)
    # The better explanation comes first, and all that are told are equally good.
    assert {explanation.remaining for explanation in found.causes} == {0}


CALLS = {
    "picture": picture,
    "picture to uint8": lambda seed: picture(seed, yuv=True, dtype="uint8", csc="yuv_to_rgb_jpeg"),
    "load": load,
    "load int8": lambda seed: load(seed, np.int8),
    "v1": load_v1,
    "repeats": repeated,
    "im2col": matrix,
    "padding": padding,
    "bilinear": bilinear,
    "conv2d": convolution,
    "halves": HALVES,
    "HWC": HWC,
}


@pytest.mark.parametrize(("count", "seed"), [(1, 1), (7, 2), (60, 1)])
@pytest.mark.parametrize("name", CALLS)
def test_noise_has_no_cause(name: str, count: int, seed: int) -> None:
    """Random elements at random places are explained by nothing."""
    golden = CALLS[name](seed)
    right = golden.run() if isinstance(golden, Call) else golden
    rng = np.random.default_rng(seed + 100)
    actual = right.copy()
    places = rng.choice(right.size, count, replace=False)
    actual.reshape(-1)[places] = numbers(rng, (count,), right.dtype)
    found = compare(actual, golden)
    assert found.mismatches
    assert found.causes == (), str(found)
    assert found.pattern


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_the_pattern_sees_results_that_wrap_around(dtype: Any) -> None:
    """Without a call, too, the report says what is typical of a wrong bias, and of overflow that wraps around."""
    info = np.iinfo(dtype)
    golden = numbers(np.random.default_rng(5), (12, 20), dtype)
    golden[0, :2] = info.max, info.min
    pattern = compare((golden.astype(np.int64) + 3).astype(dtype), golden).pattern
    assert f"the difference is 3 modulo {info.max - info.min + 1}" in pattern
    wide = np.random.default_rng(6).integers(2 * info.min - 9, 2 * info.max, (12, 20))
    words = "the golden element is the largest or smallest of"
    assert words in compare(wide.astype(dtype), wide.clip(info.min, info.max).astype(dtype)).pattern
    wrong = golden.copy()
    wrong[3:5] ^= 5
    assert words not in compare(wrong, golden).pattern
    zeros = np.zeros((12, 20), dtype)
    wrong = zeros.copy()
    wrong[3, 4:7] = 1, 2, 5
    assert words not in compare(wrong, zeros).pattern


def test_a_result_that_begins_with_zeros_and_was_never_written() -> None:
    """Where nothing was written the report says so, though the first golden elements are 0 as well."""
    golden = numbers(np.random.default_rng(5), (12, 20), np.float16)
    golden[0, :7] = 0
    words = compare(np.zeros_like(golden), golden).causes[0].words
    assert words == "nothing is written: everything is 0"
    actual = np.zeros_like(golden)
    golden[0, 0] = actual[0, 0] = 3
    assert compare(actual, golden).causes[0].words.startswith("from element 7 on everything is 0")


def test_all_noise_has_no_cause() -> None:
    """A result that has nothing to do with the golden data is explained by nothing."""
    for dtype in (np.int8, np.float16, np.uint8, np.int32):
        golden = drawn(((40, 64), (3, 3)), dtype)(1)
        found = compare(drawn(((40, 64), (3, 3)), dtype)(1)[::-1, ::-1], golden)
        assert (found.causes, found.pattern) == ((), "the mismatches have no pattern"), str(found)


def test_a_nearly_complete_explanation_says_what_remains() -> None:
    """A second, small mistake leaves the first one to be named, with the mismatches that remain."""
    golden = in_layout("ZZ", numbers(np.random.default_rng(3), (64, 96), np.float16), 16)
    actual = np.ascontiguousarray(golden.swapaxes(2, 3))
    actual[1, 2, 3, 4:9] += 1
    found = compare(actual, golden, layout="ZZ")
    assert (found.causes[0].cause, found.causes[0].remaining) == ("transposed fractal", 5)
    assert "5 mismatches remain" in str(found)


def test_too_much_remains() -> None:
    """An explanation of nine tenths of the mismatches is none."""
    golden = in_layout("ZZ", numbers(np.random.default_rng(3), (64, 96), np.float16), 16)
    actual = np.ascontiguousarray(golden.swapaxes(2, 3))
    actual[:, :, :, :2] = 99
    assert compare(actual, golden, layout="ZZ").causes == ()


def test_equally_good_explanations_are_all_told() -> None:
    """In a 16 x 16 matrix of half NZ, ZZ and the transposed matrix are transposed fractals: all are told."""
    golden = numbers(np.random.default_rng(3), (16, 16), np.float16)
    found = compare(np.ascontiguousarray(golden.T), golden)
    assert len(found.causes) > 1
    assert "just as well: " in str(found)


def test_both_directions_are_told_where_nobody_says_the_layout() -> None:
    """Fractals whose axes are exchanged are NZ for ZZ or ZZ for NZ: without a layout neither is claimed alone."""
    golden = in_layout("NZ", numbers(np.random.default_rng(3), (48, 80), np.float16), 16)
    actual = np.ascontiguousarray(golden.swapaxes(0, 1)).reshape(golden.shape)
    assert [cause.cause for cause in compare(actual, golden).causes][:2] == ["NZ read as ZZ", "ZZ read as NZ"]
    assert [cause.cause for cause in compare(actual, golden, layout="NZ").causes] == ["ZZ read as NZ"]


@pytest.mark.parametrize("seed", SEEDS)
def test_large_results_are_sampled_first(seed: int) -> None:
    """A mistake is found in a result of many pieces, too, and noise in a corner of it is not taken for one."""
    golden = numbers(np.random.default_rng(seed), (5 + seed, 64, 16, 16), np.float16)
    found = compare(golden.swapaxes(2, 3), golden, layout="NZ")
    assert found.causes[0].cause == "transposed fractal"
    found = compare(golden.swapaxes(0, 1).reshape(golden.shape), golden, layout="NZ")
    assert found.causes[0].cause == "ZZ read as NZ"
    wrong = golden.copy()
    wrong[3] = numbers(np.random.default_rng(seed + 9), golden[3].shape, np.float16)
    assert compare(wrong, golden, layout="NZ").causes == ()


def test_tolerance_counts_for_causes_too() -> None:
    """With a tolerance a device that is off by its rounding as well is still explained."""
    call = load(1)
    actual = call.run().swapaxes(2, 3)
    actual = (actual.astype(np.float32) * np.float32(1.0004)).astype(np.float16)
    found = compare(actual, call, rtol=2e-3)
    assert found.causes[0].cause == "transposed fractal"
    assert compare(actual, call).causes == ()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "half"])
@pytest.mark.parametrize("csc", ["", "yuv_to_rgb_bt601_narrow", "rgb_to_yuv_bt601_narrow"])
@pytest.mark.parametrize(
    ("product", "profile"),
    [
        (Product.ATLAS_INFERENCE_AI_CORE, "documented"),
        (Product.ATLAS_200I_500_A2, "documented"),
        (Product.ATLAS_350, "dav_3510"),
    ],
)
def test_the_arithmetic_of_pictures_is_the_golden_one(dtype: str, csc: str, product: Product, profile: str) -> None:
    """Unchanged, the rules that guesses start from give the golden data, for every product, profile and type."""
    dtc = {f"dtc_min_ch{i}": 0.0 for i in range(3)} if product is Product.ATLAS_200I_500_A2 and dtype == "half" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = picture(1, yuv=csc[:3] == "yuv", dtype=dtype, csc=csc, dtc=dtc, product=product, profile=profile)
        assert picture_arithmetic(call).tobytes() == call.run().tobytes()


def test_launches_have_causes() -> None:
    """The document's convolution on data that need rounding: float64 sums, a cut result, a tail."""
    shape = Conv2dShape(H=5, W=7, BATCH=2)
    rng = np.random.default_rng(4)
    fmap = rng.normal(size=(2, 5, 7, 32)).astype(np.float16)
    weight = rng.normal(size=(shape.K, 16)).astype(np.float16)
    output = np.zeros((2, shape.HOUT, shape.WOUT, 16), np.float16)
    launched = launch(conv2d_forward_capi, 2, fmap, weight, output, shape)
    wrong = output.copy()
    wrong[1, 1:] = 0
    assert compare(wrong, launched).causes[0].cause == "tail unwritten"
    if hasattr(launched, "kernel"):
        precise = shape.golden(fmap, weight)
        if precise.tobytes() != output.tobytes():
            assert compare(precise, launched).causes[0].cause == "order of the sums"


def test_calls_of_other_functions() -> None:
    """A call of a function of one's own, whatever it raises for other arguments, is golden data like any other."""

    def scaled(data: np.ndarray, factor: int, axis: int = 0) -> np.ndarray:
        if axis:
            raise RuntimeError("only axis 0")
        return data * np.int16(factor)

    call = Call(scaled, {"data": np.arange(-40, 60, dtype=np.int16), "factor": 5})
    found = compare(np.arange(-40, 60, dtype=np.int16) * np.int16(6), call)
    assert (found.causes[0].cause, found.causes[0].words) == ("parameter off", "factor = 6 instead of 5")
    assert found.first is not None
    assert found.first.origin == ""
    assert compare(call.run()[::-1], call).causes == ()


def test_changes_leave_the_call_as_it_is() -> None:
    """Every changed call can be made or is refused in the library's words, and the first call's arrays stay."""
    for make in (picture, load, load_v1, matrix, padding, bilinear, convolution):
        call = make(1)
        before = call.run().tobytes()
        words = [change.words for change in changes(call)]
        assert len(words) == len(set(words)) > 5
        assert call.run().tobytes() == before


def pattern(edit: Any, **options: Any) -> Comparison:
    """Compare a picture with one that was edited."""
    device = edited(drawn(((12, 20, 3), (9, 11, 4)), np.float16), edit)(1)
    return compare(device.actual, device.golden, **options)


def edit_at(index: Any, change: Any) -> Any:
    """Return an edit of some elements."""

    def edit(right: np.ndarray) -> np.ndarray:
        right[index] = change(right[index])
        return right

    return edit


@pytest.mark.parametrize(
    ("index", "change", "words"),
    [
        (np.s_[:, :, 1], lambda x: x * 0 + 7, "axis 2 is 1"),
        (np.s_[3:5, 2:6], lambda x: x + np.float16(512), "axis 0 is 3 to 4 (of 12)"),
        (np.s_[4, 7], lambda x: x * 3, "one pixel, row 4, column 7 of the map"),
        (np.s_[:, 7:9], lambda x: x * np.float16(2), "the device has 2 times the golden element"),
        (np.s_[2:9, 1], lambda x: np.nextafter(x, np.float16(99)), "one unit in the last place"),
        (np.s_[2:4, 1:3], lambda x: x * np.float16(np.nan), "the device has NaN"),
        (np.s_[::2], lambda x: x * 0 + 5, "the device has 5"),
    ],
)
def test_patterns_are_told_without_a_cause(index: Any, change: Any, words: str) -> None:
    """Where no known mistake explains the mismatches, the report says what they have in common."""
    found = pattern(edit_at(index, change))
    assert found.causes == (), str(found)
    assert words in found.pattern
    assert f"no known cause explains this; {found.pattern}" in str(found)


def test_constant_differences_are_told() -> None:
    """An offset is told as one, with its value, and for signs both ways with its size."""
    golden = np.arange(200, dtype=np.int32) * 7
    wrong = golden.copy()
    wrong[10:90] += 3
    assert "all mismatches: the difference is 3; elements 10 to 89, without a gap" in str(compare(wrong, golden))
    wrong[10:50] -= 6
    assert "the difference is 3 or -3" in str(compare(wrong, golden))


def test_explanations_say_what_is_left_open() -> None:
    """Elements that a mistake leaves open are counted in the explanation."""
    text = str(Explanation("shifted", "words", 0, 16))
    assert text == "shifted: words; applied to the golden data, no mismatch remains (16 elements are left open)"


def test_no_diagnosis_on_request() -> None:
    """With diagnose=False nothing is tried and nothing is said."""
    golden = np.arange(64, dtype=np.int16)
    found = compare(golden[::-1], golden, diagnose=False)
    assert (found.causes, found.pattern) == ((), "")
