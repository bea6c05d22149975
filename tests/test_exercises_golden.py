"""Exercises of notebook 06: right answers pass, plausible wrong ones are named."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascendlab import exercises
from ascendlab.exercises import Misconception

GOLDEN = exercises.golden_data
ALL = {name: getattr(GOLDEN, name) for name in GOLDEN.__all__}
SEEDS = (0, 7, 2024)
NAMED = [(name, m) for name, exercise in ALL.items() for m in exercise.misconceptions]
NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "06_golden_data.ipynb"


# --- two right answers for each exercise, written without the library ---


def _bytes_by_bits(shape: tuple[int, ...], dtype: str) -> int:
    bits = {"half": 16, "float": 32, "int8": 8, "int4": 4}[dtype]
    return -(-math.prod(shape) * bits // 8)


def _bytes_by_cases(shape: tuple[int, ...], dtype: str) -> int:
    count = math.prod(shape)
    if dtype == "int4":
        return count // 2 + count % 2
    return count * np.dtype({"half": "f2", "float": "f4", "int8": "i1"}[dtype]).itemsize


def _count_by_loop(actual: Any, golden: Any, rtol: float, atol: float) -> int:
    bad = 0
    for a, g in zip(map(float, actual), map(float, golden), strict=True):
        odd = math.isinf(a) or math.isinf(g)
        bad += not (a == g if odd else abs(a - g) <= atol + rtol * abs(g))
    return bad


def _count_by_isclose(actual: Any, golden: Any, rtol: float, atol: float) -> int:
    return int((~np.isclose(actual.astype(float), golden.astype(float), rtol=rtol, atol=atol)).sum())


def _nz_by_loop(flat: Any, rows: int, columns: int) -> Any:
    c0 = 32 // flat.itemsize
    out = np.zeros((rows, columns), flat.dtype)
    for r in range(rows):
        for c in range(columns):
            out[r, c] = flat[((c // c0) * (rows // 16) + r // 16) * 16 * c0 + r % 16 * c0 + c % c0]
    return out


def _nz_by_columns(flat: Any, rows: int, columns: int) -> Any:
    # A column of fractals is `rows` DataBlocks, one below the other.
    return np.hstack(np.split(flat.reshape(-1, 32 // flat.itemsize), len(flat) * flat.itemsize // 32 // rows))


RIGHT = {
    "file_bytes": (_bytes_by_bits, _bytes_by_cases),
    "bad_count": (_count_by_loop, _count_by_isclose),
    "from_nz": (_nz_by_loop, _nz_by_columns),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ALL)
def test_right_answers_pass(name: str, seed: int) -> None:
    """Two right answers that share nothing with the library pass, on any data."""
    for answer in RIGHT[name]:
        result = ALL[name].check(answer, seed=seed)
        assert result, str(result)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "misconception"), NAMED, ids=lambda v: v if isinstance(v, str) else "")
def test_wrong_answers_are_named(name: str, misconception: Misconception, seed: int) -> None:
    """Each plausible wrong answer is refused with the sentence about it, and no other."""
    result = ALL[name].check(misconception.answer, seed=seed)
    assert not result
    assert result.misconception == misconception.says, str(result)


@pytest.mark.parametrize("name", ALL)
def test_other_wrong_answers_are_refused(name: str) -> None:
    """An answer that is wrong in a way nobody thought of is refused with the place or the reason."""
    for wrong in (
        lambda *a: 0,
        lambda *a: "x",
        lambda *a: [1, 2],
        lambda *a: np.zeros(3),
        lambda *a: RIGHT[name][0](*a) + 1,
        lambda *a: 1 / 0,
        lambda: 1,
    ):
        result = ALL[name].check(wrong)
        assert not result
        assert result.status in ("wrong", "stopped")
        assert result.misconception == ""
    assert ALL[name].check(lambda *a: None).status == "not done"
    assert "nothing yet" in str(ALL[name].show(None))


@pytest.mark.parametrize("name", ALL)
def test_misconceptions_differ(name: str) -> None:
    """No two of an exercise's wrong answers give the same on all its inputs."""
    cases = ALL[name].cases(np.random.default_rng(2024))
    answers = [[np.asarray(case.run(m.answer)).tolist() for case in cases] for m in ALL[name].misconceptions]
    assert all(str(one) != str(two) for one, two in itertools.combinations(answers, 2))


def test_an_element_in_the_wrong_place_says_where_it_lies_in_the_file() -> None:
    """A wrong matrix is told the fractal, row and element of the file that the right number stands in."""

    def wrong(flat: Any, rows: int, columns: int) -> Any:
        out = _nz_by_loop(flat, rows, columns)
        out[17, 33 % columns] += 1
        return out

    assert "fractal 5 of the file, row 1, element 1" in str(GOLDEN.from_nz.check(wrong))


def test_the_notebook_asks_each_exercise_in_five_beats_and_its_solution_passes() -> None:
    """Task and spec, stub, show, check, hint and solution stand in the notebook; the solution passes the check."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    for name, exercise in ALL.items():
        at = sources.index(f"exercises.golden_data.{name}")
        assert sources[at + 1].startswith(exercise.stub)
        assert sources[at + 1].endswith(f"exercises.golden_data.{name}.show({name})")
        assert sources[at + 2] == f"exercises.golden_data.{name}.check({name})"
        details = sources[at + 3]
        assert details.count("<details>") == 2
        found = re.search(r"```python\n(.*?)```", details, flags=re.S)
        assert found is not None
        scope: dict[str, Any] = {"np": np}
        exec(found.group(1), scope)
        assert exercise.check(scope[name])
