"""Comparing arrays and files: counts, criteria, places, errors."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascendlab.capi.conv2d_example import EXAMPLE, run
from ascendlab.compare import compare
from ascendlab.compare_criteria import PIECE, Criteria, distance, scan
from ascendlab.compare_places import RESULT_LAYOUTS, cells_of, place_words
from ascendlab.dtypes import TYPES
from ascendlab.errors import AscendlabError, FileProblemError, ParameterError
from ascendlab.golden_bin import write_bin
from ascendlab.layouts import nd_to_nz, nd_to_zn, nd_to_zz
from ascendlab.load3d import LoadData3DParamsV2, load_data_3d_v2
from ascendlab.provenance import Call, trace
from ascendlab.vector import vector_padding

RNG = np.random.default_rng(20)


def bits_of(value: Any) -> bytes:
    """Return an element's bytes."""
    return np.asarray(value).tobytes()


def naive(actual: np.ndarray, golden: np.ndarray, rtol: float, atol: float) -> tuple[list[int], float, float]:
    """Compare element by element in Python: bad places, largest error, largest relative error."""
    bad, largest, relative = [], 0.0, 0.0
    for i, (a, g) in enumerate(zip(actual.reshape(-1), golden.reshape(-1), strict=True)):
        if bits_of(a) == bits_of(g):
            continue
        one, two = (int(x) if golden.dtype.kind in "iu" else float(x) for x in (a, g))
        nan = [math.isnan(x) for x in (one, two)]
        error = 0.0 if all(nan) else math.inf if any(nan) else float(abs(one - two)) if one != two else 0.0
        largest = max(largest, error)
        if two and not nan[1] and not math.isinf(two):
            relative = max(relative, error / abs(two))
        tolerant = rtol or atol
        near = tolerant and not any(nan) and not math.isinf(two) and error <= atol + rtol * abs(two)
        if not near:
            bad.append(i)
    return bad, largest, relative


def drawn(name: str, size: int) -> np.ndarray:
    """Draw all kinds of elements of a type, odd ones included."""
    kind = TYPES[name].numpy
    if name.startswith(("int", "uint")):
        info = ml_dtypes.iinfo(kind)
        values = RNG.integers(
            int(info.min), int(info.max), size, endpoint=True, dtype=np.int64 if int(info.min) else np.uint64
        )
        return values.astype(kind)
    with np.errstate(all="ignore"):
        values = (RNG.normal(size=size) * 10.0 ** RNG.integers(-9, 9, size)).astype(kind)
    values[RNG.integers(0, size, 6)] = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0]).astype(kind)
    return values


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(("rtol", "atol"), [(0.0, 0.0), (1e-3, 0.0), (0.0, 0.5), (0.25, 3.0)])
def test_counts_and_errors_are_a_plain_loop_s(name: str, rtol: float, atol: float) -> None:
    """Number of bad elements, first one, and largest errors are those of a loop over the elements, for every type."""
    golden = drawn(name, 150)
    actual = golden.copy()
    places = RNG.choice(150, 60, replace=False)
    actual[places] = drawn(name, 150)[places]
    near = RNG.choice(150, 30, replace=False)
    actual[near] = (golden[near].astype(np.float64) * 1.001).astype(golden.dtype) if "int" not in name else actual[near]
    bad, largest, relative = naive(actual, golden, rtol, atol)
    found = scan(actual, golden, Criteria(rtol=rtol, atol=atol))
    assert found.mismatches == len(bad)
    assert found.first == (bad[0] if bad else -1)
    assert found.max_abs_error == largest
    assert found.max_rel_error == pytest.approx(relative, rel=1e-12)
    assert Criteria(rtol=rtol, atol=atol).bad(actual, golden).nonzero()[0].tolist() == bad


def test_worst_elements_come_first_and_earliest_of_equals() -> None:
    """The worst list is the bad elements by distance, equal distances in memory order, over all pieces."""
    size = 2 * PIECE + 77
    golden = np.zeros(size, np.int16)
    actual = golden.copy()
    places = np.sort(RNG.choice(size, 400, replace=False))
    actual[places] = RNG.integers(-9, 10, 400)
    order = sorted((-abs(int(actual[i])), int(i)) for i in places if actual[i])
    assert scan(actual, golden, Criteria(), worst=40).worst == tuple(i for _, i in order[:40])
    assert scan(actual, golden, Criteria(), worst=0).worst == ()


def test_pieces_do_not_matter() -> None:
    """A mismatch in the first or last element, or at the seam of two pieces, is found where it is."""
    for place in (0, PIECE - 1, PIECE, 2 * PIECE, 2 * PIECE + 2):
        golden = RNG.integers(0, 100, 2 * PIECE + 3).astype(np.int8)
        actual = golden.copy()
        actual[place] += 1
        found = scan(actual, golden, Criteria())
        assert (found.mismatches, found.first, found.worst, found.max_abs_error) == (1, place, (place,), 1.0)


def test_distances_of_integers_do_not_wrap() -> None:
    """The ends of every integer type are as far apart as they are."""
    for dtype in (np.int8, np.int16, np.int32, np.uint8, np.uint64):
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.max], dtype)
        assert [int(x) for x in distance(ends, ends[::-1])] == [int(info.max) - int(info.min)] * 2


def test_nan_and_zero_options() -> None:
    """Without options only equal bits are equal; equal_nan and signed_zeros say otherwise, tolerance sees no signs."""
    other_nan = np.array([0x7E01], np.uint16).view(np.float16)[0]
    golden = np.array([np.nan, np.nan, 0.0, 1.0, np.nan], np.float16)
    actual = np.array([np.nan, other_nan, -0.0, np.nan, 2.0], np.float16)
    for options, bad in (
        ({}, [1, 2, 3, 4]),
        ({"equal_nan": True}, [2, 3, 4]),
        ({"signed_zeros": False}, [1, 3, 4]),
        ({"equal_nan": True, "signed_zeros": False}, [3, 4]),
        ({"atol": 1e-3}, [1, 3, 4]),
        ({"rtol": 1e-3, "equal_nan": True}, [3, 4]),
    ):
        found = compare(actual, golden, **options)
        assert np.flatnonzero(found.bad()).tolist() == bad
        assert found.mismatches == len(bad)


def test_infinities_are_near_to_nothing() -> None:
    """No tolerance makes an infinity equal to a number, or to the other infinity."""
    golden = np.array([np.inf, -np.inf, np.inf, 5.0], np.float32)
    actual = np.array([np.inf, np.inf, 1.0, np.inf], np.float32)
    assert np.flatnonzero(compare(actual, golden, rtol=0.5, atol=100, diagnose=False).bad()).tolist() == [1, 2, 3]


def test_tolerance_includes_its_bound() -> None:
    """A difference of exactly atol + rtol * |golden| is allowed, one more is not."""
    golden = np.array([100, -100, 100, -100], np.int32)
    actual = golden + np.array([7, -7, 8, -8], np.int32)
    assert compare(actual, golden, atol=2, rtol=0.05).bad().tolist() == [False, False, True, True]


def test_share_of_bad_elements() -> None:
    """Up to max_bad, the end included, the arrays count as equal, and the report still counts the bad ones."""
    golden = np.arange(1000, dtype=np.int32)
    actual = golden.copy()
    actual[[3, 500]] += 9
    for allowed, equal in ((0.002, True), (0.0019, False), (0.0, False), (1.0, True)):
        found = compare(actual, golden, max_bad=allowed)
        assert found.equal is bool(found) is equal
        assert found.share == 0.002
    assert "2 bad (0.2 %)" in str(found)


def test_equal_arrays_have_nothing_to_report() -> None:
    """Equal arrays of any type and shape, empty ones too: equal, no mismatch, no cause."""
    for array in (drawn("half", 33), np.zeros((0, 4), np.int8), np.array(5, np.int32), drawn("int4", 9)):
        found = compare(array.copy(), array)
        assert (found.equal, found.mismatches, found.first, found.worst, found.causes, found.pattern) == (
            True, 0, None, (), (), "",
        )  # fmt: skip
        assert found.mismatch_map().sum() == 0


def test_views_and_flat_arrays() -> None:
    """Strided arrays are compared as they read; a flat array of golden's size is taken in golden's shape."""
    golden = RNG.integers(-9, 9, (6, 10)).astype(np.int16)
    assert compare(golden[::-1, ::2][::-1], golden[:, ::2]).equal
    found = compare(golden.reshape(-1), golden)
    assert found.equal
    assert found.actual.shape == (6, 10)


def test_first_and_worst_have_values_places_and_origins() -> None:
    """A mismatch says its index, its fractal and matrix place, both values, and where the golden one came from."""
    src = np.arange(1, 1 + 5 * 7 * 16, dtype=np.float32).reshape(1, 5, 7, 16).astype(np.float16)
    params = LoadData3DParamsV2(l1_h=5, l1_w=7, channel_size=16, filter_h=2, filter_w=3, m_extension=20, k_extension=96)
    call = Call(load_data_3d_v2, {"src": src, "params": params})
    actual = call.run()
    index = (1, 4, 1, 9)
    actual[index] += 64
    found = compare(actual, call)
    assert found.first is not None
    assert found.first.index == index
    assert found.layout == "ZZ"
    assert "fractal (1, 4), row 1, element 9: matrix row 17, column 73" in str(found)
    assert found.first.golden == float(call.run()[index])
    assert found.first.actual == found.first.golden + 64
    assert found.first.origin == str(trace(call).origin(*index))
    assert found.first.origin in str(found)


def test_nans_are_told_apart_by_their_bits() -> None:
    """Two NaNs that differ in bits are printed with these bits."""
    golden = np.array([0x7E00], np.uint16).view(np.float16)
    actual = np.array([0xFE11], np.uint16).view(np.float16)
    assert "nan (0xfe11) instead of nan (0x7e00)" in str(compare(actual, golden))


@pytest.mark.parametrize(("layout", "convert"), [("ZZ", nd_to_zz), ("NZ", nd_to_nz), ("ZN", nd_to_zn)])
def test_map_of_fractals_lies_like_the_matrix(layout: str, convert: Any) -> None:
    """A wrong matrix element is counted in the cell of its fractal, rows of fractals downwards, in every layout."""
    golden = convert(np.arange(96 * 64).reshape(96, 64).astype(np.int8))
    high, wide = (32, 16) if layout == "ZN" else (16, 32)
    for row, column in ((0, 0), (95, 63), (40, 33), (17, 1)):
        wrong = np.zeros((96, 64), np.int8)
        wrong[row, column] = 1
        counts = compare(golden + convert(wrong), golden, layout=layout).mismatch_map()
        assert counts.shape == (96 // high, 64 // wide)
        assert counts.nonzero() == (row // high, column // wide)


def test_map_of_other_layouts() -> None:
    """Pictures are counted by pixel, vectors by DataBlock, matrices by 16 x C0."""
    for layout, shape, index, cell, size in (
        ("HWC", (5, 7, 3), (4, 6, 2), (4, 6), (5, 7)),
        ("HW", (5, 7), (4, 2), (4, 2), (5, 7)),
        ("NHWC", (2, 5, 7, 3), (1, 3, 2, 0), (8, 2), (10, 7)),
        ("NC1HWC0", (2, 5, 7, 16), (1, 3, 2, 9), (3, 2), (5, 7)),
        ("NC1HWC0", (3, 2, 5, 7, 16), (2, 1, 3, 2, 9), (13, 2), (15, 7)),
        ("blocks", (200,), (163,), (1, 2), (2, 8)),
        ("ND", (40, 33), (39, 32), (2, 2), (3, 3)),
        ("ND", (200,), (163,), (1, 2), (2, 8)),
        ("fractals", (5, 16, 16), (3, 4, 5), (0, 3), (1, 5)),
        ("fractals", (3, 5, 16, 16), (2, 3, 4, 5), (2, 3), (3, 5)),
    ):
        golden = np.zeros(shape, np.float16)
        actual = golden.copy()
        actual[index] = 1
        counts = compare(actual, golden, layout=layout).mismatch_map()
        assert counts.shape == size
        assert [int(i[0]) for i in counts.nonzero()] == list(cell)
        assert counts.sum() == 1
        assert place_words(layout, shape, index, 16)
        assert cells_of(layout, shape, "half").shape == size


def test_a_layout_that_does_not_fit_is_refused() -> None:
    """A layout that the result's shape cannot be in is refused with those that it can be in."""
    golden = np.zeros((4, 6), np.float16)
    for layout in (*(set(RESULT_LAYOUTS) - {"ND", "HW"}), "XX", 3, None.__class__, ["ND"]):
        with pytest.raises(ParameterError, match="ND, HW"):
            compare(golden, golden, layout=layout)


def test_calls_and_their_out_stay_as_they_are() -> None:
    """Comparing with a call does not write into the call's out, and what out held counts."""
    out = np.full(32, 7, np.int16)
    call = Call(vector_padding, {"src": np.arange(16, dtype=np.int16).repeat(8), "pad_mode": 0, "pad_side": True,
                                 "mask": [0x00FF, 0], "repeat_time": 1, "out": np.full(128, 7, np.int16)})  # fmt: skip
    golden = Call(call.function, {**call.arguments, "out": np.full(128, 7, np.int16)}).run()
    assert (call.arguments["out"] == 7).all()
    assert compare(golden, call).equal
    assert (call.arguments["out"] == 7).all()
    assert (out == 7).all()


def test_launches_are_golden_data(tmp_path: Path) -> None:
    """The document's convolution: a device's file against the launch, with places, origins and a map."""
    launched, output = run(EXAMPLE)
    assert compare(output.copy(), launched).equal
    wrong = output.copy()
    wrong[2, 3, 1, 7] += 1
    path = write_bin(tmp_path, "output.bin", wrong)
    found = compare(path, launched)
    assert found.layout == "NHWC"
    assert found.mismatches == 1
    assert str(found).startswith("output.bin and golden are NOT equal")
    assert "picture 2, row 3, column 1, channel 7" in str(found)
    assert "fmap[2," in found.first.origin
    assert "terms)" in found.first.origin
    with pytest.raises(ParameterError, match="output"):
        compare(output, launched, output="nothing")


def test_files(tmp_path: Path) -> None:
    """.bin files take golden's type and shape, .npy files have their own, int4 is packed; golden may be a file too."""
    for name in ("half", "int8", "int4", "bfloat16", "float"):
        golden = drawn(name, 30).reshape(5, 6)
        path = write_bin(tmp_path, f"{name}.bin", golden)
        assert compare(path, golden).equal
        assert compare(str(path), path, dtype=name, shape=(5, 6)).equal
    golden = drawn("half", 30).reshape(5, 6)
    np.save(tmp_path / "x.npy", golden)
    assert compare(tmp_path / "x.npy", golden).equal
    assert compare(golden, tmp_path / "x.npy").equal
    np.save(tmp_path / "y.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(FileProblemError):
        compare(tmp_path / "y.npy", golden)


def test_files_of_another_size_say_what_is_there(tmp_path: Path) -> None:
    """A file of another size is refused with both sizes, and with what a comparison of its bytes says."""
    golden = np.arange(1, 49, dtype=np.float16).reshape(6, 8)
    for array, words in (
        (golden.reshape(-1)[:40], "has 80 bytes, but half of shape (6, 8) takes 96. All 40 elements there are equal"),
        (np.append(golden, golden[:1]), "has 112 bytes, but half of shape (6, 8) takes 96. Its first 48 elements"),
        (golden[::-1].reshape(-1)[:40], "Element 0 is the first to differ"),
        (golden.astype(np.float32), "has 192 bytes, but half of shape (6, 8) takes 96. Read as float its elements"),
        (golden.astype(np.int8), "Read as int8 its elements"),
        (golden[:0], "has 0 bytes"),
    ):
        path = write_bin(tmp_path, "device.bin", array, overwrite=True)
        with pytest.raises(FileProblemError) as caught:
            compare(path, golden)
        assert words in str(caught.value)
    (tmp_path / "odd.bin").write_bytes(golden.tobytes()[:33])
    with pytest.raises(FileProblemError, match="All 16 elements there are equal"):
        compare(tmp_path / "odd.bin", golden)
    with pytest.raises(FileProblemError, match="cannot be read"):
        compare(tmp_path / "none.bin", golden)
    with pytest.raises(FileProblemError, match="no regular file"):
        compare(tmp_path, golden)


HOSTILE = [None, True, "x", -1, 10**5000, float("nan"), float("inf"), object(), [], {}, np.zeros(3), b"x", 1j]


@pytest.mark.parametrize("name", ["rtol", "atol", "max_bad", "equal_nan", "signed_zeros", "diagnose", "worst", "names",
                                  "call", "output", "layout", "shape", "dtype"])  # fmt: skip
@pytest.mark.parametrize("value", HOSTILE, ids=lambda v: type(v).__name__)
def test_hostile_arguments(name: str, value: object) -> None:
    """Whatever stands for an argument, the answer is a comparison or the error family."""
    golden = np.zeros((2, 3), np.float16)
    with contextlib.suppress(AscendlabError):
        compare(golden, golden, **{name: value})


@pytest.mark.parametrize("value", [*HOSTILE, np.zeros(6, np.int8), np.zeros((3, 2), np.float16), np.float16(0),
                                   np.ma.zeros((2, 3), np.float16), np.zeros((2, 3), np.complex64)],
                         ids=lambda v: type(v).__name__)  # fmt: skip
def test_hostile_arrays(value: Any) -> None:
    """What is no array of golden's type and shape is refused in the library's words, on both sides."""
    golden = np.zeros((2, 3), np.float16)
    with pytest.raises(AscendlabError):
        compare(value, golden)
    with pytest.raises(AscendlabError):
        compare(golden, value)


def test_a_mismatched_array_says_its_bytes() -> None:
    """An array of another size is refused with the elements and bytes there and expected."""
    with pytest.raises(ParameterError, match=r"6 elements \(12 bytes\).*It has 4 elements \(8 bytes\)"):
        compare(np.zeros(4, np.float16), np.zeros((2, 3), np.float16))
