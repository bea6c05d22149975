"""Put runs together and write them down: JSON for machines, a Markdown page for people."""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import INSTALL, OURS

__all__ = ["combine", "machine", "page", "table", "write"]


def machine() -> dict[str, Any]:
    """Describe the machine without naming it: processor, cores, versions."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        named = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        if named:
            model = named[0].partition(":")[2].strip()
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def combine(name: str, title: str, runs: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """Put the runs of one benchmark together: for every number the list of what each run measured.

    Parameters
    ----------
    name, title : str
        The benchmark's name, and the heading of its table.
    runs : sequence of sequences of dict
        For each run, what `measure.measure` returned for each case.

    Returns
    -------
    dict
        To be written as JSON; `table` reads it.
    """
    cases = []
    for same in zip(*runs, strict=True):
        first = same[0]
        merged = {key: first[key] for key in ("name", "limits", "limit_ms", "limit_mib")}
        for key in ("milliseconds", "ratio"):
            merged[key] = {who: [round(run[key][who], 4) for run in same] for who in first[key]}
        merged["mib"] = None if first["mib"] is None else [round(run["mib"], 2) for run in same]
        cases.append(merged)
    return {
        "benchmark": name,
        "title": title,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "cases": cases,
    }


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _spread(values: Sequence[float]) -> str:
    """Return the median and, in parentheses, the extremes, unless they look the same."""
    middle, low, high = (_number(v) for v in (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _time(milliseconds: Sequence[float]) -> str:
    middle = statistics.median(milliseconds)
    return f"{middle * 1000:.0f} µs" if middle < 1 else f"{_number(middle)} ms"


def _verdict(values: Sequence[float], limit: float | None) -> tuple[str, str]:
    if limit is None:
        return "", ""
    return f"{limit:g}", "yes" if statistics.median(values) <= limit else "**no**"


def table(result: dict[str, Any]) -> str:
    """Return one benchmark's Markdown table: a line per peer, then per limit in ms or MiB."""
    lines = ["| job | against | ours | peer | ours / peer | limit | holds |", "|---|---|---|---|---|---|---|"]
    for case in result["cases"]:
        rows: list[tuple[str, ...]] = []
        ours = _time(case["milliseconds"][OURS])
        for peer, ratio in case["ratio"].items():
            limit = _verdict(ratio, case["limits"].get(peer))
            rows.append((peer, ours, _time(case["milliseconds"][peer]), _spread(ratio), *limit))
        for peer, limit in case["limits"].items():
            if peer not in case["ratio"]:
                rows.append((peer, ours, "not installed", "", f"{limit:g}", "not measured"))
        if case["limit_ms"] is not None or not rows:
            limit, holds = _verdict(case["milliseconds"][OURS], case["limit_ms"])
            rows.append(("the clock", ours, "", "", limit and f"{limit} ms", holds))
        if case["limit_mib"] is not None:
            limit, holds = _verdict(case["mib"], case["limit_mib"])
            rows.append(("peak extra memory", f"{max(case['mib']):.1f} MiB", "", "", f"{limit} MiB", holds))
        lines += ["| " + " | ".join((case["name"] if i == 0 else "", *row)) + " |" for i, row in enumerate(rows)]
    return "\n".join(lines)


def page(results: Iterable[dict[str, Any]]) -> str:
    """Return the Markdown page of all benchmarks."""
    parts = [
        "# Benchmarks\n",
        "Written by `python -m benchmarks`; the numbers behind it lie in `benchmarks/results/`.",
        f"OpenCV is a peer only: `{INSTALL}`.\n",
        "Every job is first checked bit by bit, then timed beside its peers in one process on one thread: in each of",
        "many rounds everyone does the job once, and the ratio is the median over the rounds. The whole is repeated in",
        "fresh processes; the table gives the median of the runs, in parentheses the extremes. *copy* is a plain",
        "`np.copyto` of as many bytes as the result has. Times are processor time. Ratios travel to other machines",
        "better than times do; that to a copy depends on the processor's caches, too.",
    ]
    for result in results:
        about = result["machine"]
        parts += [
            f"\n## {result['title']}\n",
            table(result),
            f"\n{about['processor']}, {about['cores']} cores, {about['system']}, Python {about['python']}, "
            f"NumPy {about['numpy']}; {result['date']}.",
        ]
    return "\n".join(parts) + "\n"


def write(result: dict[str, Any], folder: Path, markdown: Path) -> None:
    """Write one benchmark's JSON into `folder` and the page of everything that lies there into `markdown`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{result['benchmark']}.json").write_text(json.dumps(result, indent=1) + "\n")
    results = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    markdown.parent.mkdir(parents=True, exist_ok=True)
    markdown.write_text(page(results))
