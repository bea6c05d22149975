"""Break the emulation in small ways, one at a time, and see whether a test notices.

    python scripts/mutate.py                            # 12 mutants of each module, chosen at random
    python scripts/mutate.py --sample 0 load3d_plan     # all mutants of one module
    python scripts/mutate.py --list aipp_tiles          # show what would be changed
    python scripts/mutate.py --json it.json             # write down what was run, with its outcome
    python scripts/mutate.py --again it.json            # run what survived once more, after the tests were mended

A mutant is one change of one module's syntax tree: another comparison, another operator, a number off by one, a
condition turned round, a check left out.  Each runs in a process of its own that imports the changed module, without a
file being touched, and runs the tests that belong to the module; the first failure kills it.  Decorated functions are
changed like all others.  Text in messages is left alone, and so are annotations.

The exit code is 1 if fewer than 90 % of the mutants are killed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ascendlab"
GOAL = 0.9

# Which tests judge a module: the first prefix that fits.  Its own examples come first, they are quick.
JUDGES: list[tuple[str, str]] = [
    ("aipp", "test_aipp_[!c]*.py test_ranges.py test_provenance.py test_bad_input.py"),
    ("load3d", "test_load3d*.py test_ranges.py test_bad_input.py"),
    ("layouts", "test_layouts.py"),
    ("capi.launch", "test_capi*.py test_ranges.py test_golden_kernels.py"),
    ("capi", "test_capi*.py test_ranges.py"),
    ("conv", "test_conv.py test_capi_example.py test_capi_mmad.py"),
    ("bilinear", "test_vector_bilinear.py test_bilinear_stages.py test_vector_resize.py test_bad_input.py"),
    ("resize", "test_vector_resize.py"),
    ("vector", "test_vector*.py test_bad_input.py"),
    ("half", "test_half.py test_vector_bilinear.py"),
]
LEFT_OUT = "aipp_config"  # reads files; no emulation

COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn], ast.NotIn: [ast.In],
}  # fmt: skip
OPERATORS: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Add], ast.FloorDiv: [ast.Mult], ast.Mod: [ast.FloorDiv],
    ast.Div: [ast.Mult], ast.LShift: [ast.RShift], ast.RShift: [ast.LShift], ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd], ast.BitXor: [ast.BitOr], ast.Pow: [ast.Mult],
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: the module, the place, and the words for it."""

    module: str
    number: int
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}  {self.words}"


class _Mutator(ast.NodeTransformer):
    """Walk over all possible changes in a fixed order, and make the one with the wanted number."""

    def __init__(self, wanted: int | None) -> None:
        self.wanted = wanted
        self.found: list[tuple[int, str]] = []

    def _offer(self, node: ast.AST, words: str) -> bool:
        """Whether the change that is offered now is the wanted one."""
        self.found.append((getattr(node, "lineno", 0), words))
        return len(self.found) - 1 == self.wanted

    def visit(self, node: ast.AST) -> Any:
        """Leave out what computes nothing."""
        if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)):
            return node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return node
        return super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Look at the value only."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Look at the body and the defaults, not at the annotations."""
        node.args.defaults = [self.visit(value) for value in node.args.defaults]
        node.args.kw_defaults = [value and self.visit(value) for value in node.args.kw_defaults]
        node.body = [self.visit(part) for part in node.body]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Leave out a call that is made for what it does: a check, mostly."""
        if isinstance(node.value, ast.Call) and self._offer(node, f"without: {ast.unparse(node)[:70]}"):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node) if not isinstance(node.value, ast.Constant) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Compare otherwise."""
        old = ast.unparse(node)
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[i] = other()
                if self._offer(node, f"{old}  ->  {ast.unparse(changed)}"):
                    return changed
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Compute otherwise."""
        old = ast.unparse(node)
        texts = isinstance(node.left, (ast.JoinedStr, ast.Constant)) and not isinstance(
            getattr(node.left, "value", 0), (int, float)
        )
        for other in () if texts else OPERATORS.get(type(node.op), ()):
            changed = copy.deepcopy(node)
            changed.op = other()
            if self._offer(node, f"{old}  ->  {ast.unparse(changed)}"):
                return changed
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Exchange and, or."""
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        if self._offer(node, f"{ast.unparse(node)}  ->  {ast.unparse(changed)}"):
            return changed
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Leave a sign, or a not, away."""
        if isinstance(node.op, (ast.Not, ast.USub, ast.Invert)) and self._offer(
            node, f"{ast.unparse(node)}  ->  {ast.unparse(node.operand)}"
        ):
            return node.operand
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Take the other value."""
        if self._offer(node, f"{ast.unparse(node)}  ->  exchanged"):
            node.body, node.orelse = node.orelse, node.body
            return node
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Be off by one; turn a flag round."""
        value = node.value
        if isinstance(value, bool):
            other: Any = not value
        elif isinstance(value, (int, float)):
            other = value + 1
        else:
            return node
        if self._offer(node, f"{value}  ->  {other}"):
            return ast.copy_location(ast.Constant(other), node)
        return node


def modules() -> list[str]:
    """Return the emulation's modules by their names within the package, without the one that only re-exports."""
    names = sorted(str(path.relative_to(PACKAGE).with_suffix("")).replace("/", ".") for path in PACKAGE.rglob("*.py"))
    return [name for name in names if judges(name) and not name.endswith("__init__") and not name.startswith(LEFT_OUT)]


def judges(module: str) -> list[str]:
    """Return the tests that a module's mutants have to pass, its own examples first."""
    for prefix, patterns in JUDGES:
        if module.startswith(prefix):
            tests = [str(path) for pattern in patterns.split() for path in sorted((ROOT / "tests").glob(pattern))]
            return [str(path_of(module)), str(ROOT / "tests" / "test_objects.py"), *tests]
    return []


def path_of(module: str) -> Path:
    """Return a module's file."""
    return PACKAGE.joinpath(*module.split(".")).with_suffix(".py")


def mutants_of(module: str) -> list[Mutant]:
    """Return all changes of a module."""
    mutator = _Mutator(None)
    mutator.visit(ast.parse(path_of(module).read_text(encoding="utf-8")))
    return [Mutant(module, i, *found) for i, found in enumerate(mutator.found)]


def mutated(mutant: Mutant) -> ast.Module:
    """Return the changed syntax tree."""
    tree = ast.parse(path_of(mutant.module).read_text(encoding="utf-8"))
    return ast.fix_missing_locations(_Mutator(mutant.number).visit(tree))


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import the changed module in place of the stored one."""

    def __init__(self, mutant: Mutant) -> None:
        self.name, self.path = f"ascendlab.{mutant.module}", path_of(mutant.module)
        self.code = compile(mutated(mutant), str(self.path), "exec")

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """Say that this module is known here."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def create_module(self, spec: Any) -> None:
        """Leave that to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(self.code, vars(module))


def _test(module: str, mutant: Mutant | None) -> int:
    """Run a module's tests in this process and return pytest's exit code."""
    import pytest
    from hypothesis import Phase, settings

    if mutant is not None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "ascendlab"]:
            del sys.modules[name]  # inherited from a process that had imported them unchanged
        sys.meta_path.insert(0, _Importer(mutant))
        # At once: while tests are collected, pytest's own importer comes first.
        importlib.import_module(f"ascendlab.{module}")
    # No time is spent on making a failing example small.
    settings.register_profile("mutate", phases=(Phase.explicit, Phase.generate), database=None, deadline=None)
    settings.load_profile("mutate")
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:nbval", "-p", "no:xdist"]
    return int(pytest.main([*options, *judges(module)]))


def run_apart(module: str, mutant: Mutant | None, seconds: float) -> tuple[str, float]:
    """Run a module's tests in a process of its own; the outcome is passed, failed or timeout."""
    started = time.monotonic()
    child = os.fork()
    if not child:
        code = 99
        try:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.chdir(ROOT)
            signal.alarm(int(seconds) + 1)
            code = _test(module, mutant)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    elapsed = time.monotonic() - started
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) == signal.SIGALRM else "failed", elapsed
    return ("passed" if os.WEXITSTATUS(status) == 0 else "failed"), elapsed


def picks(chosen: Sequence[str], sample: int, seed: int) -> dict[str, list[Mutant]]:
    """Return the mutants to run, by module: a sample of each module's, or all."""
    every = {module: mutants_of(module) for module in chosen}
    return {
        module: found if not sample else random.Random(f"{seed} {module}").sample(found, min(sample, len(found)))
        for module, found in every.items()
    }


def survivors(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mutant]]:
    """Return what survived an earlier run, where it stands now."""
    found: dict[str, list[Mutant]] = {}
    for row in rows:
        if row["outcome"] == "passed":
            same = [mutant for mutant in mutants_of(row["module"]) if mutant.words == row["change"]]
            if same:  # the code may be gone
                near = min(same, key=lambda m: (abs(m.line - row["line"]), abs(m.number - row["number"])))
                found.setdefault(row["module"], []).append(near)
    return found


def run(picked: Mapping[str, Sequence[Mutant]], jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Run mutants, module after module, and yield each with its outcome."""
    with ThreadPoolExecutor(jobs) as pool:
        for module, mutants in picked.items():
            outcome, seconds = run_apart(module, None, 600)
            if outcome != "passed":
                sys.exit(f"{module}: its tests do not pass as it is")
            limit = 10 + 3 * seconds
            outcomes = pool.map(lambda mutant, limit=limit: run_apart(mutant.module, mutant, limit)[0], mutants)
            survived = 0
            for mutant, outcome in zip(mutants, outcomes, strict=True):
                survived += outcome == "passed"
                yield mutant, outcome
            print(f"{module}: {len(mutants) - survived} of {len(mutants)} killed", file=sys.stderr, flush=True)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="names within the package (all of the emulation)")
    parser.add_argument("--sample", type=int, default=12, help="mutants of each module, 0 for all (default 12)")
    parser.add_argument("--seed", type=int, default=1, help="another sample (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    parser.add_argument("--json", type=Path, help="write every mutant and its outcome to this file")
    parser.add_argument("--again", type=Path, help="run what survived in such a file, and write the file anew")
    options = parser.parse_args()
    chosen = options.modules or modules()
    if unknown := set(chosen) - set(modules()):
        parser.error(f"unknown modules: {', '.join(sorted(unknown))}; there are {', '.join(modules())}")
    if options.list:
        for module in chosen:
            print(*mutants_of(module), sep="\n")
        return 0
    for needed in ("hypothesis", "numpy", "pytest", "matplotlib.figure", "ipywidgets", "google.protobuf.text_format"):
        importlib.import_module(needed)  # once, for all children

    rows = [] if options.again is None else json.loads(options.again.read_text(encoding="utf-8"))
    picked = picks(chosen, options.sample, options.seed) if options.again is None else survivors(rows)
    rows = [row for row in rows if row["outcome"] != "passed"]
    for mutant, outcome in run(picked, options.jobs):
        rows.append({"module": mutant.module, "number": mutant.number, "line": mutant.line, "change": mutant.words,
                     "outcome": outcome})  # fmt: skip
        if outcome == "passed":
            print(f"survived  {mutant}", flush=True)
    killed = sum(row["outcome"] != "passed" for row in rows)
    print(f"{killed} of {len(rows)} mutants killed ({killed / max(1, len(rows)):.1%})")
    if target := options.json or options.again:
        target.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(killed < GOAL * len(rows))


if __name__ == "__main__":
    sys.exit(main())
