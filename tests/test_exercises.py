"""What holds for every exercise of every notebook: right answers pass, plausible wrong ones are named.

The right answers stand in the module of each API, ``test_exercises_<name>.py``, under the name RIGHT; what else is
special to an exercise is tested there, too.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascendlab import exercises
from ascendlab.exercises import Exercise, Misconception

HERE = Path(__file__).parent
ALL: dict[str, Exercise] = {
    f"{module}.{name}": getattr(getattr(exercises, module), name)
    for module in exercises._MODULES
    for name in getattr(exercises, module).__all__
}
RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {}
for path in sorted(HERE.glob("test_exercises_*.py")):
    RIGHT |= importlib.import_module(path.stem).RIGHT
SEEDS = (0, 7, 2024)
EVERY_RIGHT = [(name, answer) for name in ALL for answer in RIGHT.get(name.partition(".")[2], ())]
EVERY_WRONG = [(name, i) for name, exercise in ALL.items() for i in range(len(exercise.misconceptions))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "answer"), EVERY_RIGHT, ids=lambda value: getattr(value, "__name__", value))
def test_right_answers_pass(name: str, answer: Callable[..., Any], seed: int) -> None:
    """A right answer passes, however it is written and whatever the random inputs are."""
    result = ALL[name].check(answer, seed=seed)
    assert result, result
    assert result.status == "right"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "number"), EVERY_WRONG)
def test_wrong_answers_are_named(name: str, number: int, seed: int) -> None:
    """Each plausible wrong answer fails, and the message says what is wrong with it and not with another one."""
    wrong: Misconception = ALL[name].misconceptions[number]
    result = ALL[name].check(wrong.answer, seed=seed)
    assert result.status == "wrong"
    assert result.misconception == wrong.says


@pytest.mark.parametrize("name", ALL)
def test_each_exercise_knows_enough(name: str) -> None:
    """Two right answers apart from the library's, four wrong ones to recognise, three different inputs at least."""
    exercise = ALL[name]
    assert len(RIGHT[exercise.name]) >= 2
    assert len(exercise.misconceptions) >= 4
    assert len({case.words for case in exercise.cases(np.random.default_rng(0))}) >= 3


def test_no_right_answer_is_left_over() -> None:
    """Every right answer belongs to an exercise, and no two exercises share a name."""
    names = [exercise.name for exercise in ALL.values()]
    assert set(RIGHT) == set(names)
    assert len(names) == len(set(names))


def _not_implemented(*_: Any) -> None:
    raise NotImplementedError


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "stub",
    [None, lambda *_: None, lambda *_: ..., _not_implemented, ...],
    ids=["none", "gives none", "gives ellipsis", "not implemented", "ellipsis"],
)
def test_an_unfinished_stub_is_not_an_error(name: str, stub: Any) -> None:
    """A stub that returns nothing, or says that it is not implemented, is answered kindly and shown as empty."""
    result = ALL[name].check(stub)
    assert result.status == "not done"
    assert repr(result) == f"Not done yet: write {ALL[name].name}, then check again."
    assert repr(ALL[name].show(stub)).endswith(f"{ALL[name].name} returns: nothing yet")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "rubbish",
    ["16 elements", [[1], [2, 3]], {"a": 1}, object(), [None], 1j, np.zeros(0), float("nan"), []],
    ids=["text", "ragged", "dict", "object", "none", "complex", "no array", "nan", "no list"],
)
def test_rubbish_is_wrong(name: str, rubbish: Any) -> None:
    """An answer of any other kind is called wrong in a message; nothing is raised."""
    result = ALL[name].check(lambda *_: rubbish)
    assert result.status == "wrong"
    assert str(result)


@pytest.mark.parametrize("name", ALL)
def test_an_exception_is_explained(name: str) -> None:
    """What the learner's function raises becomes a message with its line, not a traceback."""

    def answer(*_: Any) -> Any:
        return {}["missing"]

    result = ALL[name].check(answer)
    assert result.status == "stopped"
    assert "KeyError in the line `return {}[\"missing\"]`: 'missing'" in str(result)
    assert "KeyError" in str(ALL[name].show(answer))


@pytest.mark.parametrize("name", ALL)
def test_a_called_function_is_noticed(name: str) -> None:
    """Giving the result instead of the function gets a sentence about that."""
    assert "without calling it" in str(ALL[name].check(np.zeros(3)))


# --- the notebooks ---


def _cells(kind: str) -> dict[str, list[str]]:
    """Return the cells of one kind of every notebook."""
    found = {}
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.stem] = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]
    return found


CODE, TEXT = _cells("code"), _cells("markdown")


@pytest.mark.parametrize("name", ALL)
def test_a_notebook_asks_every_exercise(name: str) -> None:
    """One notebook holds task, stub, example and check of the exercise, in this order, then hint and solution."""
    exercise = ALL[name]
    [stem] = [stem for stem, cells in CODE.items() if f"exercises.{name}" in cells]
    order = [
        next(i for i, cell in enumerate(CODE[stem]) if words in cell)
        for words in (
            f"exercises.{name}",
            f"def {exercise.name}({exercise.parameters}):",
            f"{name}.show({exercise.name})",
            f"{name}.check({exercise.name})",
        )
    ]
    assert order == sorted(order)
    [solved] = [cell for cell in TEXT[stem] if f"def {exercise.name}(" in cell]
    assert solved.count("<details>") == 2
    assert "Hint</summary>" in solved


@pytest.mark.parametrize("name", ALL)
def test_the_notebooks_solution_passes(name: str) -> None:
    """The solution printed in the notebook is right."""
    every = "\n".join(cell for cells in TEXT.values() for cell in cells)
    [solution] = [
        block for block in re.findall(r"```python\n(.*?)```", every, re.DOTALL) if f"def {ALL[name].name}(" in block
    ]
    space: dict[str, Any] = {"np": np}
    exec(solution, space)
    result = ALL[name].check(space[ALL[name].name])
    assert result, result


@pytest.mark.parametrize("stem", CODE)
def test_every_notebook_has_exercises(stem: str) -> None:
    """At least three of them."""
    asked = {name for name in ALL if f"exercises.{name}" in CODE[stem]}
    assert len(asked) >= 3
