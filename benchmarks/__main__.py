"""Run benchmarks: ``python -m benchmarks [names] [--runs 3] [--rounds 15]``."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import measure
from benchmarks.report import combine, table, write

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all benchmarks, from their file names."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def run_here(name: str, rounds: int) -> list[dict[str, Any]]:
    """Measure all cases of one benchmark in this process."""
    module = importlib.import_module(f"benchmarks.bench_{name}")
    measured = []
    for case in module.cases():
        print(f"  {case.name}", file=sys.stderr, flush=True)
        measured.append(measure(case, rounds))
    return measured


def _run_apart(name: str, rounds: int) -> list[dict[str, Any]]:
    """Measure one benchmark in a process of its own, with every library on one thread."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--here", "--rounds", str(rounds), name],
        cwd=HERE.parent,
        env={**os.environ, **dict.fromkeys(threads, "1")},
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{name}: not measured, see above")
    result: list[dict[str, Any]] = json.loads(done.stdout)
    return result


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed as ratios to peers.")
    parser.add_argument("names", nargs="*", help=f"which ones (all: {', '.join(names())})")
    parser.add_argument("--runs", type=int, default=3, help="fresh processes per benchmark (default 3)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds per process (default 15)")
    parser.add_argument("--here", action="store_true", help="measure one benchmark in this process, print JSON")
    options = parser.parse_args(arguments)
    chosen = options.names or names()
    unknown = sorted(set(chosen) - set(names()))
    if unknown or min(options.runs, options.rounds) < 1:
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "runs and rounds are at least 1")
    if options.here:
        print(json.dumps([case for name in chosen for case in run_here(name, options.rounds)]))
        return
    for name in chosen:
        runs = []
        for number in range(1, options.runs + 1):
            print(f"{name}, run {number} of {options.runs}", file=sys.stderr, flush=True)
            runs.append(_run_apart(name, options.rounds))
        doc = importlib.import_module(f"benchmarks.bench_{name}").__doc__ or name
        result = combine(name, doc.partition("\n")[0].rstrip("."), runs)
        write(result, HERE / "results", HERE.parent / "docs" / "benchmarks.md")
        print(f"\n{result['title']}\n\n{table(result)}\n")


if __name__ == "__main__":
    main()
