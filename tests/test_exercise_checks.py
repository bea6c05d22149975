"""How a check behaves, whatever the exercise; shown on the exercises on AIPP."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from test_exercises_aipp import _block_by_loop as block_by_loop
from test_exercises_aipp import _block_by_slices as block_by_slices
from test_exercises_aipp import _xrgb_by_roll as xrgb_by_roll

from ascendlab import ParameterError, exercises
from ascendlab.exercises import Case, Exercise, Misconception
from ascendlab.exercises._base import odd_shapes

AIPP = exercises.aipp
ALL = {name: getattr(AIPP, name) for name in AIPP.__all__}


@pytest.mark.parametrize("name", ALL)
def test_an_answer_cannot_end_the_session(name):
    """sys.exit() in an answer, or any exception outside Exception, is told like every other."""

    class Unusual(BaseException):
        pass

    def leave(*_):
        sys.exit("bye")

    def unusual(*_):
        raise Unusual

    for answer, words in ((leave, 'SystemExit in the line `sys.exit("bye")`: bye'), (unusual, "Unusual in the line")):
        result = ALL[name].check(answer)
        assert result.status == "stopped"
        assert words in str(result)
        assert words in str(ALL[name].show(answer))


def test_an_endless_loop_can_be_interrupted():
    """Ctrl+C, the notebook's stop button, is not taken for a mistake of the answer."""

    def answer(*_):
        raise KeyboardInterrupt

    for run in (AIPP.to_half.check, AIPP.to_half.show):
        with pytest.raises(KeyboardInterrupt):
            run(answer)


@pytest.mark.parametrize("seed", [-1, 2**64, 10**5000, 1.0, True, None, "1", float("nan"), np.timedelta64(1), [1]],
                         ids=lambda seed: type(seed).__name__)  # fmt: skip
def test_a_seed_is_an_integer(seed):
    """A seed that draws nothing is refused in the library's words, whether there is an answer or not."""
    for answer in (block_by_loop, None):
        for run in (AIPP.block_padding.check, AIPP.block_padding.show):
            with pytest.raises(ParameterError, match=r"^seed = .*an integer in \[0, 18446744073709551615\]"):
                run(answer, seed=seed)
    assert AIPP.block_padding.check(block_by_loop, seed=np.uint64(2**64 - 1))


def test_wrong_number_of_parameters_is_explained():
    """A function with other parameters than the stub's stops with Python's own sentence."""
    result = AIPP.block_padding.check(lambda row: row)
    assert result.status == "stopped"
    assert "3 were given" in str(result)


def test_a_function_that_spoils_its_arguments_passes():
    """The learner may write into the arguments: each call gets its own copy."""

    def answer(row, left, right):
        out = block_by_slices(row, left, right)
        row[:] = 0
        return out

    assert AIPP.block_padding.check(answer)


def test_a_forgotten_branch_is_named():
    """Returning nothing for some inputs only is wrong, not unfinished."""
    result = AIPP.xrgb_pixels.check(lambda p, ax, rb: xrgb_by_roll(p, ax, rb) if ax else None)
    assert result.status == "wrong"
    assert "returns nothing here" in str(result)


def test_an_unknown_mistake_gets_its_first_element_and_origin():
    """A mistake that nobody foresaw is shown at its first wrong element, with the place the right value is from."""

    def answer(row, left, right):
        out = block_by_slices(row, left, right)
        out[left + 1] ^= 1
        return out

    text = str(AIPP.block_padding.check(answer))
    row = next(iter(AIPP.block_padding.cases(np.random.default_rng(2024)))).arguments["row"]
    assert f"element [3] is {row[1] ^ 1}; it must be {row[1]}, which comes from row[1]. 1 of 12" in text


@pytest.mark.parametrize("name", ALL)
def test_nothing_leaks_before_an_answer(name):
    """Task, spec, stub, example and the message for a stub hold neither the right result nor the library's call."""
    exercise = ALL[name]
    shown = repr(exercise.show(None))
    text = repr(exercise) + exercise._repr_markdown_() + shown + repr(exercise.check(None))
    assert "load_image_to_local(" not in text
    first = exercise.cases(np.random.default_rng(2024))[0]
    right = np.asarray(first.run(exercise.library))
    if right.dtype.kind not in "US":
        assert str(right.tolist()) not in text
        assert np.array2string(right, separator=", ") not in text


def test_show_prints_what_the_answer_made():
    """The example shows the input and the learner's own result, right or wrong."""
    text = repr(AIPP.block_padding.show(lambda row, left, right: np.arange(4)))
    assert text.endswith("block_padding returns: [0, 1, 2, 3]  (shape (4,), int64)")
    assert "left = 2" in text


def test_odd_shapes_alternate():
    """Shapes are odd, flat and upright in turn, never square."""
    shapes = odd_shapes(np.random.default_rng(5), 6)
    assert [height < width for height, width in shapes] == [True, False] * 3
    assert all(height % 2 and width % 2 for height, width in shapes)


def test_a_new_exercise_needs_only_its_table():
    """Another API's exercise is made from cases, the library's function and misconceptions alone."""
    calls = []

    def cases(rng):
        return [Case({"n": int(n)}, words=f"n = {n}") for n in rng.integers(2, 9, 3)]

    def library(n):
        calls.append(n)
        return n * n

    square = Exercise(
        name="square",
        parameters="n",
        task="Square it.",
        spec="out == n * n",
        cases=cases,
        library=library,
        misconceptions=[Misconception("That is the double.", lambda n: n + n)],
    )
    assert square.check(lambda n: n**2)
    assert len(calls) == 3
    assert "That is the double" in str(square.check(lambda n: 2 * n, seed=5))
    assert "the result is -1" in str(square.check(lambda n: -1))
