"""The mutation run: what it changes, and that a change is really what the tests see."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "mutate.py"
spec = importlib.util.spec_from_file_location("mutate", SCRIPT)
mutate = importlib.util.module_from_spec(spec)
sys.modules["mutate"] = mutate  # dataclasses look their module up
spec.loader.exec_module(mutate)


def source(module: str) -> ast.Module:
    """Return the syntax tree of a module as it is."""
    return ast.parse(mutate.path_of(module).read_text(encoding="utf-8"))


def test_every_module_of_the_emulation_has_mutants_and_judges() -> None:
    """No module is left out, and each has tests beside its own examples."""
    assert {"aipp_tiles", "load3d_build", "capi.compute", "bilinear_plan", "layouts", "half"} <= set(mutate.modules())
    for module in mutate.modules():
        assert len(mutate.judges(module)) > 2, module
        if any(isinstance(node, ast.FunctionDef) for node in ast.walk(source(module))):
            assert mutate.mutants_of(module), module


@pytest.mark.parametrize("module", ["load3d_geometry", "aipp_params"])
def test_each_mutant_is_one_change(module: str) -> None:
    """A mutant differs from the module, compiles, and no two mutants are the same."""
    plain = ast.dump(source(module))
    dumps = []
    for mutant in mutate.mutants_of(module):
        tree = mutate.mutated(mutant)
        compile(tree, "mutant", "exec")
        dumps.append(ast.dump(tree))
    assert plain not in dumps
    assert len(set(dumps)) == len(dumps)


def test_decorated_functions_are_changed_too() -> None:
    """Properties and the like are no blind spot."""
    functions = [
        node
        for node in ast.walk(source("load3d_geometry"))
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    ]
    lines = {mutant.line for mutant in mutate.mutants_of("load3d_geometry")}
    assert functions
    for function in functions:
        assert lines & set(range(function.lineno, function.end_lineno + 1)), function.name


@pytest.mark.parametrize(
    ("words", "outcome"), [("", "passed"), ("nbytes > self.limit  ->  nbytes <= self.limit", "failed")]
)
def test_a_mutant_is_what_the_tests_import(monkeypatch: pytest.MonkeyPatch, words: str, outcome: str) -> None:
    """A module's own examples pass as it is, and fail with one condition turned round."""
    monkeypatch.setattr(mutate, "judges", lambda module: [str(mutate.path_of(module))])
    mutant = next(mutant for mutant in mutate.mutants_of("caches") if mutant.words == words) if words else None
    assert mutate.run_apart("caches", mutant, 60)[0] == outcome


def test_survivors_are_found_again() -> None:
    """What survived an earlier run is run once more; what was killed, or is no longer there, is not."""
    first, second, third = mutate.mutants_of("load3d_geometry")[4:7]
    row = {"module": "load3d_geometry", "outcome": "passed"}
    rows = [
        {**row, "number": first.number, "line": first.line, "change": first.words},
        {**row, "number": second.number, "line": second.line, "change": second.words, "outcome": "failed"},
        {**row, "number": third.number, "line": third.line, "change": "of code that is gone"},
    ]
    assert mutate.survivors(rows) == {"load3d_geometry": [first]}
