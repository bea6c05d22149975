"""Exercises: every check passes right answers and names what is wrong with plausible wrong ones."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from ascendlab import exercises

AIPP = exercises.aipp
ALL = {name: getattr(AIPP, name) for name in AIPP.__all__}
SEEDS = (0, 7, 2024)
NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "01_set_aipp_functions.ipynb"


# --- two right answers for each exercise, written without the library ---


def _block_by_slices(row, left, right):
    return np.concatenate([row[:left], row, row[len(row) - right :]])


def _block_by_loop(row, left, right):
    width, out = len(row), []
    for x in range(-left, width + right):
        if x < 0:
            out.append(int(row[x + left]))
        elif x < width:
            out.append(int(row[x]))
        else:
            out.append(int(row[x - right]))
    return out


def _xrgb_by_roll(picture, is_swap_ax, is_swap_rb):
    if is_swap_ax:
        picture = np.roll(picture, -1, axis=2)
    if is_swap_rb:
        picture = picture[:, :, [2, 1, 0, 3]]
    return picture[:, :, :3]


def _xrgb_by_loop(picture, is_swap_ax, is_swap_rb):
    rows = []
    for line in picture.tolist():
        rows.append([])
        for pixel in line:
            a, b, c, _ = pixel[1:] + pixel[:1] if is_swap_ax else pixel
            rows[-1].append([c, b, a] if is_swap_rb else [a, b, c])
    return rows


def _pad_by_slices(picture, window, constants, filler):
    y, x, height, width = window.vert_start_pos, window.horiz_start_pos, window.vert_size, window.horiz_size
    out = np.full((height, window.left_pad_size + width + window.right_pad_size, 4), constants, np.uint8)
    inside = out[:, window.left_pad_size : window.left_pad_size + width]
    inside[:, :, :3] = picture[y : y + height, x : x + width, ::-1]
    inside[:, :, 3] = filler
    return out


def _pad_by_loop(picture, window, constants, filler):
    out = []
    for y in range(window.vert_size):
        middle = []
        for x in range(window.horiz_size):
            r, g, b = picture[window.vert_start_pos + y, window.horiz_start_pos + x]
            middle.append((int(b), int(g), int(r), filler))
        out.append([constants] * window.left_pad_size + middle + [constants] * window.right_pad_size)
    return out


def _half_by_float16(values, mean, minimum, var):
    return (values.astype(np.float16) - np.float16(mean) - np.float16(minimum)) * np.float16(var)


def _half_by_rounding_twice(values, mean, minimum, var):
    first = (values.astype(np.float64) - mean - minimum).astype(np.float16)
    return (first.astype(np.float64) * var).astype(np.float16)


def _middle_as_minimum(low, high):
    return 0, (low + high) / 2, 2 / (high - low)


def _middle_split(low, high):
    middle = (low + high) / 2
    return [int(middle), middle - int(middle), 2 / (high - low)]


def _bias_by_table(direction, profile):
    return {
        ("YUV -> RGB", "documented"): "cscBiasOut",
        ("RGB -> YUV", "documented"): "cscBiasIn",
        ("YUV -> RGB", "dav_3510"): "cscBiasIn",
        ("RGB -> YUV", "dav_3510"): "cscBiasOut",
    }[direction, profile]


def _bias_by_parity(direction, profile):
    return "cscBiasOut" if (direction == "YUV -> RGB") == (profile == "documented") else "cscBiasIn"


RIGHT = {
    "block_padding": (_block_by_slices, _block_by_loop),
    "xrgb_pixels": (_xrgb_by_roll, _xrgb_by_loop),
    "swap_and_pad": (_pad_by_slices, _pad_by_loop),
    "to_half": (_half_by_float16, _half_by_rounding_twice),
    "normalisation": (_middle_as_minimum, _middle_split),
    "bias_field": (_bias_by_table, _bias_by_parity),
}


# --- plausible wrong answers, written as a learner would ---


def _wrap_by_modulo(row, left, right):
    return [row[x % len(row)] for x in range(-left, len(row) + right)]


def _mirrored(row, left, right):
    return np.concatenate([row[:left][::-1], row, row[len(row) - right :][::-1]])


def _mirrored_without_edge(row, left, right):
    return np.concatenate([row[1 : left + 1][::-1], row, row[len(row) - right - 1 : -1][::-1]])


def _repeated_edge(row, left, right):
    return [row[min(max(x, 0), len(row) - 1)] for x in range(-left, len(row) + right)]


def _zero_is_not_empty(row, left, right):
    return np.concatenate([row[:left], row, row[-right:]])


def _sides_exchanged(row, left, right):
    return _block_by_slices(row, right, left)


def _only_one_side(row, left, right):
    return np.concatenate([row[:left], row])


def _keeps_x(picture, is_swap_ax, is_swap_rb):
    return picture[:, :, [2, 1, 0]] if is_swap_rb else picture[:, :, :3]


def _drops_x(picture, is_swap_ax, is_swap_rb):
    rgb = picture[:, :, 1:]
    return rgb[:, :, ::-1] if is_swap_rb else rgb


def _four_channels(picture, is_swap_ax, is_swap_rb):
    out = np.roll(picture, -1, axis=2) if is_swap_ax else picture.copy()
    if is_swap_rb:
        out[..., [0, 2]] = out[..., [2, 0]]
    return out


def _rb_first(picture, is_swap_ax, is_swap_rb):
    out = picture[:, :, [2, 1, 0, 3]] if is_swap_rb else picture
    return (np.roll(out, -1, axis=2) if is_swap_ax else out)[:, :, :3]


def _exchanges_ends(picture, is_swap_ax, is_swap_rb):
    out = picture[:, :, [3, 1, 2, 0]] if is_swap_ax else picture
    return (out[:, :, [2, 1, 0]] if is_swap_rb else out)[:, :, :3]


def _rgb_order(picture, window, constants, filler):
    return _pad_by_slices(picture[:, :, ::-1], window, constants, filler)


def _swapped_constants(picture, window, constants, filler):
    c0, c1, c2, c3 = constants
    return _pad_by_slices(picture, window, (c2, c1, c0, c3), filler)


def _filler_in_border(picture, window, constants, filler):
    return _pad_by_slices(picture, window, (*constants[:3], filler), filler)


def _constant_in_window(picture, window, constants, filler):
    return _pad_by_slices(picture, window, constants, constants[3])


def _starts_exchanged(picture, window, constants, filler):
    rolled = picture[window.horiz_start_pos :, window.vert_start_pos :]
    moved = np.zeros((20, 20, 3), np.uint8)
    there = moved[window.vert_start_pos :, window.horiz_start_pos :][: rolled.shape[0], : rolled.shape[1]]
    there[:] = rolled[: there.shape[0], : there.shape[1]]
    return _pad_by_slices(moved, window, constants, filler)


def _rounded_once(values, mean, minimum, var):
    return ((values.astype(np.float32) - mean - minimum) * np.float32(var)).astype(np.float16)


def _wrapped(values, mean, minimum, var):
    return ((values - mean).astype(np.float16) - np.float16(minimum)) * np.float16(var)


def _never_rounded(values, mean, minimum, var):
    return (values.astype(np.float32) - mean - minimum) * np.float32(var)


def _mean_after_scaling(values, mean, minimum, var):
    return values.astype(np.float16) * np.float16(var) - np.float16(mean) - np.float16(minimum)


def _divided(values, mean, minimum, var):
    with np.errstate(over="ignore"):
        return (values.astype(np.float16) - np.float16(mean) - np.float16(minimum)) / np.float16(var)


def _minimum_added(values, mean, minimum, var):
    return (values.astype(np.float16) - np.float16(mean) + np.float16(minimum)) * np.float16(var)


def _sum_first(values, mean, minimum, var):
    return (values.astype(np.float16) - np.float16(mean + minimum)) * np.float16(var)


def _right_but_wide(values, mean, minimum, var):
    return _half_by_float16(values, mean, minimum, var).astype(np.float32)


def _zero_to_one(low, high):
    middle = (low + high) // 2
    return middle, low - middle, 1 / (high - low)


def _half_the_range(low, high):
    middle = (low + high) / 2
    return int(middle), middle - int(middle), 1 / (high - low)


def _range_itself(low, high):
    return 0, (low + high) / 2, (high - low) / 2


def _minus_minus(low, high):
    return 0, -(low + high) / 2, 2 / (high - low)


def _imagenet_habit(low, high):
    return 0, 127.5, 1 / 127.5


def _broken_mean(low, high):
    return (low + high) / 2, 0, 2 / (high - low)


def _two_numbers(low, high):
    return (low + high) / 2, (high - low) / 2


WRONG = [
    ("block_padding", _wrap_by_modulo, "wrap-around"),
    ("block_padding", _mirrored, "that is mode 3"),
    ("block_padding", _mirrored_without_edge, "without the edge pixel"),
    ("block_padding", _repeated_edge, "that is mode 1"),
    ("block_padding", _zero_is_not_empty, "right = 0 is the whole row"),
    ("block_padding", _sides_exchanged, "left and right are exchanged"),
    ("block_padding", _only_one_side, r"shape \(9,\); it must be \(12,\)"),
    ("xrgb_pixels", _keeps_x, "is_swap_ax has no effect"),
    ("xrgb_pixels", _drops_x, "does not know where X is"),
    ("xrgb_pixels", _four_channels, "kept four channels"),
    ("xrgb_pixels", _rb_first, "moves X first"),
    ("xrgb_pixels", _exchanges_ends, "does not exchange the first and the last"),
    ("swap_and_pad", _rgb_order, "in R, G, B order"),
    ("swap_and_pad", _swapped_constants, "swapped the constants"),
    ("swap_and_pad", _filler_in_border, "fourth channel of the border"),
    ("swap_and_pad", _constant_in_window, "paddingValueCh3 is for the border only"),
    ("swap_and_pad", _starts_exchanged, "exchanged the two starts"),
    ("to_half", _rounded_once, "rounded once"),
    ("to_half", _wrapped, "wrapped"),
    ("to_half", _never_rounded, "never rounded"),
    ("to_half", _mean_after_scaling, "scaled before subtracting"),
    ("to_half", _divided, "divided by var"),
    ("to_half", _minimum_added, "added minimum"),
    ("to_half", _sum_first, "added mean and minimum up first"),
    ("to_half", _right_but_wide, "type is float32; it must be float16"),
    ("normalisation", _zero_to_one, "onto 0 to 1"),
    ("normalisation", _half_the_range, "onto -0.5 to 0.5"),
    ("normalisation", _range_itself, "range itself"),
    ("normalisation", _minus_minus, "subtracted, not added"),
    ("normalisation", _imagenet_habit, "whatever low and high are"),
    ("normalisation", _broken_mean, r"dtcMeanCh0 = 127.5 is not allowed.*an integer"),
    ("normalisation", _two_numbers, "three numbers"),
    ("bias_field", lambda direction, profile: "cscBiasIn", "always name cscBiasIn"),
    (
        "bias_field",
        lambda direction, profile: _bias_by_table(direction, "documented"),
        "open kernel has the two biases",
    ),
    ("bias_field", lambda direction, profile: _bias_by_table(direction, "dav_3510"), "table 8 has the two biases"),
    ("bias_field", lambda direction, profile: _bias_by_table("YUV -> RGB", profile), "both directions"),
    ("bias_field", lambda direction, profile: "bias_in", "'cscBiasIn' or 'cscBiasOut'"),
]


@pytest.mark.parametrize(
    ("name", "answer", "reason"), WRONG, ids=[f"{name}-{answer.__name__}" for name, answer, _ in WRONG]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_answers_are_told_why(name, answer, reason, seed):
    """A plausible wrong answer fails, and the message says what is wrong with it."""
    result = ALL[name].check(answer, seed=seed)
    assert result.status == "wrong"
    assert not result
    assert re.search(reason, str(result)), result


@pytest.mark.parametrize("name", sorted(set(ALL) - {"bias_field", "normalisation"}))
def test_inputs_are_asymmetric(name):
    """A check runs on at least three different shapes, odd sizes among them, none of them square."""
    shapes = []
    for case in ALL[name].cases(np.random.default_rng(3)):
        first = next(iter(case.arguments.values()))
        shapes.append(first.shape[:2] if first.ndim > 1 else (1, len(first)))
    assert len(set(shapes)) >= 3
    assert all(height != width for height, width in shapes)
    assert sum(height % 2 and width % 2 for height, width in shapes) >= 2


def test_bias_field_asks_every_combination():
    """The check of bias_field covers both directions in both profiles."""
    asked = [tuple(case.arguments.values()) for case in AIPP.bias_field.cases(np.random.default_rng(0))]
    assert sorted(asked) == sorted(itertools.product(("YUV -> RGB", "RGB -> YUV"), ("documented", "dav_3510")))


@pytest.mark.parametrize("choices", list(itertools.product(("cscBiasIn", "cscBiasOut"), repeat=4)))
def test_bias_field_accepts_one_answer_of_sixteen(choices):
    """Of all sixteen possible answers to bias_field exactly one passes."""
    keys = list(itertools.product(("YUV -> RGB", "RGB -> YUV"), ("documented", "dav_3510")))
    table = dict(zip(keys, choices, strict=True))
    right = all(choice == _bias_by_table(*key) for key, choice in table.items())
    assert bool(AIPP.bias_field.check(lambda direction, profile: table[direction, profile])) == right


# --- what is special to one exercise ---


def _spec_holds(low, high, dtc_mean, dtc_min, dtc_var):
    """Work out the lines that the learner reads."""
    names = {"np": np, "low": low, "high": high, "dtc_mean": dtc_mean, "dtc_min": dtc_min, "dtc_var": dtc_var}
    first, *conditions = AIPP.normalisation.spec.splitlines()
    exec(first, names)
    return all(eval(condition, names) for condition in conditions)


def _on_the_bound(low, high, *, side, dtc_mean, beyond=0):
    """Choose halves that put one end 2**-9 off, to the last bit, and the other as far as the spec lets it."""
    half, middle, exact = np.float16, (low + high) / 2 - dtc_mean, 2 / (high - low)
    found = []
    for dtc_min in np.unique((middle + np.arange(-0.5, 0.51, 2**-5)).astype(half)):
        for dtc_var in np.unique((exact * (1 + np.arange(-8, 9) * 2**-11)).astype(half)):
            ends = [float((half(v - dtc_mean) - dtc_min) * dtc_var) - sign for v, sign in ((low, -1), (high, 1))]
            if ends[side] in (2**-9, -(2**-9)) and abs(ends[1 - side]) <= 2**-9:
                found.append((abs(ends[1 - side]), dtc_mean, float(dtc_min), float(dtc_var)))
    return max(found)[1:]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("side", [0, 1], ids=["low", "high"])
@pytest.mark.parametrize("mean", [lambda low, high: 0, lambda low, high: low], ids=["no mean", "low as mean"])
def test_normalisation_takes_whatever_its_spec_allows(side, mean, seed):
    """An answer that lies on the bound of the spec, which the learner worked out to be right, is right."""
    asked = []

    def answer(low, high):
        choice = _on_the_bound(low, high, side=side, dtc_mean=mean(low, high))
        assert _spec_holds(low, high, *choice)
        asked.append(choice)
        return choice

    result = AIPP.normalisation.check(answer, seed=seed)
    assert result, str(result)
    assert len(asked) >= 4


def test_normalisation_is_no_looser_than_it_says():
    """An end that lies twice as far off as the spec allows is wrong, on either side of either end."""
    for low_end, high_end in ((-1 - 2**-8, 1), (-1 + 2**-8, 1), (-1, 1 + 2**-8), (-1, 1 - 2**-8)):

        def answer(low, high, low_end=low_end, high_end=high_end):
            var = (high_end - low_end) / (high - low)
            choice = 0, low - low_end / var, var
            assert not _spec_holds(low, high, *choice)
            return choice

        assert AIPP.normalisation.check(answer).status == "wrong"


def test_normalisation_says_which_number_is_an_integer():
    """The task says before anybody tries 127.5 that the mean takes no fraction."""
    assert "`dtc_mean` is an integer in [0, 255]" in AIPP.normalisation.task


def test_origins_name_the_learners_arguments():
    """Origins speak of the exercise's own arguments, and of constants."""
    first = AIPP.swap_and_pad.cases(np.random.default_rng(2024))[0]
    constants, filler = first.arguments["constants"], first.arguments["filler"]
    assert str(first.where(0, 0, 1)) == f"constant {constants[1]}"
    assert str(first.where(1, 1, 0)) == "picture[2, 0, 2]"
    assert str(first.where(1, 1, 3)) == f"constant {filler}"


def test_the_text_of_a_check_is_the_same_every_time():
    """Two runs of a check give the same text, so that a stored notebook can be compared."""
    for name, answer, _ in WRONG:
        assert repr(ALL[name].check(answer)) == repr(ALL[name].check(answer))
