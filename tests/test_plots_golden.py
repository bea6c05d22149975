"""Pictures of comparisons: maps, surroundings of an element, histograms, and the words for them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from compare_cases import load, numbers, padding, picture
from compare_devices import FAULTS

from ascendlab.compare import Comparison, compare
from ascendlab.compare_places import part_around
from ascendlab.plots import golden as plots
from ascendlab.plots import to_png
from ascendlab.plots._roles import ALL_DIFFERENT, DIFFERENT, OUTPUT

PICTURE = plots.GoldenPicture()


def comparison(name: str) -> Comparison:
    """Compare a simulated device's output."""
    device = FAULTS[name][1](1)
    return compare(device.actual, device.golden, diagnose=False, **device.options)


NAMES = (
    "stride", "BGR", "block stride", "tail of zeros", "float sums", "NZ taken for ZZ in ZZ", "fractals transposed, v1",
    "HWC instead of NC1HWC0", "tail of NaN",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_can_be_drawn(name: str) -> None:
    """Each layout gives a picture of the full size, the same one twice, and words that count the mismatches."""
    found = comparison(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        png = PICTURE.draw(found)
        assert png == PICTURE.draw(found)
        assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (860, 620)
        for ax in (
            plots.mismatch_map(found),
            plots.part(found),
            plots.part(found, which="golden"),
            plots.differences(found),
        ):
            assert ax.get_title(loc="left")
            assert ax.get_xlabel()
            assert ax.get_ylabel()
            assert to_png(ax.figure)[:4] == b"\x89PNG"
    words = plots.describe(found)
    assert f"{found.mismatches:,} of {found.golden.size:,} elements differ" in words
    assert found.worst[0].place in words
    assert plots.picture_of(found).png == png


def colours(found: Comparison) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the map's cells hold: colours, numbers, hatched cells."""
    ax = plots.mismatch_map(found)
    cells = next(artist for artist in ax.get_children() if hasattr(artist, "numbers"))
    return cells.rgb, np.ma.filled(cells.numbers, 0), dict(cells.areas)[ALL_DIFFERENT]


def test_a_map_shows_where_and_how_much() -> None:
    """Equal cells are green, others blue and darker with more mismatches, hatched where nothing is equal."""
    golden = numbers(np.random.default_rng(0), (3, 2, 16, 16), np.float16)
    actual = golden.copy()
    actual[2, 0] += 99
    actual[0, 1, :8] += 99
    actual[1, 1, 3, 3] += 99
    rgb, counts, hatched = colours(compare(actual, golden, layout="ZZ", diagnose=False))
    assert counts.tolist() == [[0, 128], [0, 1], [256, 0]]
    assert hatched.tolist() == [[False, False], [False, False], [True, False]]
    assert rgb[0, 0].tolist() == OUTPUT.tint.tolist()
    lightness = [int(rgb[place].sum()) for place in ((1, 1), (0, 1), (2, 0))]
    assert lightness == sorted(lightness, reverse=True)
    assert len({*lightness}) == 3


def test_one_mismatch_in_a_large_result_is_seen() -> None:
    """In a map of so many cells that several are drawn as one, a single mismatch keeps its own colour."""
    golden = np.zeros((600, 900, 3), np.uint8)
    actual = golden.copy()
    actual[599, 3, 1] = 1
    rgb, counts, _ = colours(compare(actual, golden))
    assert max(rgb.shape[:2]) <= 180
    assert counts.sum() == 1
    assert (rgb == DIFFERENT.rgb).all(axis=2).sum() == 1
    assert "5 x 5 pixels" in plots.describe(compare(actual, golden))


def test_pictures_follow_their_contents() -> None:
    """Another mismatch, or another element to look at, gives another picture."""
    golden = numbers(np.random.default_rng(0), (3, 2, 16, 16), np.float16)
    seen = set()
    for index in ((0, 0, 3, 4), (2, 1, 3, 4), (1, 0, 3, 5)):
        actual = golden.copy()
        actual[index] += 50
        found = compare(actual, golden, layout="ZZ", diagnose=False)
        seen |= {PICTURE.draw(found), PICTURE.draw(found, (1, 1, 0, 0))}
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("layout", "shape"),
    [("ZZ", (3, 2, 16, 16)), ("fractals", (5, 16, 16)), ("HWC", (30, 40, 3)), ("HWC", (5, 7, 3)), ("HW", (20, 9)),
     ("NHWC", (2, 20, 9, 5)), ("NC1HWC0", (2, 20, 9, 16)), ("NC1HWC0", (3, 2, 20, 9, 16)), ("blocks", (300,)),
     ("blocks", (7,)), ("ND", (40, 33)), ("ND", (70,)), ("ND", (3, 4, 20))],
)  # fmt: skip
def test_surroundings_hold_their_element_and_stay_inside(layout: str, shape: tuple[int, ...]) -> None:
    """Around any element lies a part of the result that has it in it, every element once, none from outside."""
    rng = np.random.default_rng(1)
    corners: list[tuple[int, ...]] = [tuple(0 for _ in shape), tuple(n - 1 for n in shape)]
    for index in [*corners, *(tuple(int(rng.integers(n)) for n in shape) for _ in range(20))]:
        part = part_around(layout, shape, index, "half")
        assert part.flat.ndim == 2
        assert np.ravel_multi_index(index, shape) in part.flat
        assert 0 <= part.flat.min() <= part.flat.max() < np.prod(shape)
        assert len(np.unique(part.flat)) == part.flat.size <= 512


def test_bad_numbers_are_coloured_in_both_parts() -> None:
    """Beside each other, golden and actual numbers have the bad ones in another colour than the good ones."""
    golden = np.arange(256, dtype=np.int16).reshape(16, 16)
    actual = golden.copy()
    actual[3, 4] = -7
    found = compare(actual, golden, diagnose=False)
    for which, value in (("actual", -7), ("golden", 52)):
        ax = plots.part(found, which=which)
        cells = next(artist for artist in ax.get_children() if hasattr(artist, "numbers"))
        assert cells.numbers[3, 4] == value
        bad = dict(cells.areas)[DIFFERENT]
        assert np.argwhere(bad).tolist() == [[3, 4]]


def test_the_histogram_counts_the_bad_elements() -> None:
    """All finite differences are counted, on their side of 0; the title tells of the others."""
    golden = np.zeros((4, 20), np.float32)
    actual = golden.copy()
    actual[0, :6] = 2
    actual[1, :3] = -1
    actual[2, :2] = np.nan
    ax = plots.differences(compare(actual, golden, diagnose=False))
    bars = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in ax.patches]
    assert sum(height for x, height in bars if x > 0) == 6
    assert sum(height for x, height in bars if x < 0) == 3
    assert ax.get_title(loc="left") == "how far off: 9 elements, and 2 without a difference"


@pytest.mark.parametrize(
    "golden",
    [np.zeros((0, 4), np.int8), np.array(3, np.int32), np.zeros(1, np.float16), load(1), padding(1), picture(1)],
    ids=range(6),
)
def test_equal_and_empty_results_can_be_drawn(golden: Any) -> None:
    """Where nothing differs, or nothing is there, the picture says that 0 elements differ."""
    found = compare(golden.copy() if isinstance(golden, np.ndarray) else golden.run(), golden)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PICTURE.draw(found)[:4] == b"\x89PNG"
        for draw in (plots.mismatch_map, plots.part, plots.differences):
            assert to_png(draw(found).figure)[:4] == b"\x89PNG"
    assert ": 0 of " in plots.describe(found)
