"""The benchmarks: their arithmetic of ratios, their table, and that every one of them checks what it times."""

from __future__ import annotations

import importlib
import json
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

import benchmarks.__main__ as command
from benchmarks.measure import Case, assert_same_bytes, copy_of, measure
from benchmarks.report import combine, machine, table, write


def _work(milliseconds: float) -> None:
    """Keep the processor busy for so long."""
    end = time.process_time() + milliseconds / 1e3
    while time.process_time() < end:
        pass


def _run(ratio: float, milliseconds: float = 2.0, mib: float | None = None) -> dict:
    return {
        "name": "job", "milliseconds": {"ascendlab": milliseconds, "peer": milliseconds / ratio},
        "ratio": {"peer": ratio}, "mib": mib, "limits": {"peer": 1.5, "absent": 3.0},
        "limit_ms": None, "limit_mib": None if mib is None else 8,
    }  # fmt: skip


def test_the_ratio_is_ours_over_the_peer() -> None:
    """A job that takes four times as long as its peer has a ratio near four, not a quarter."""
    result = measure(Case("x", lambda: _work(8), lambda: None, {"peer": lambda: _work(2)}), rounds=3)
    assert 2 < result["ratio"]["peer"] < 6
    assert result["milliseconds"]["ascendlab"] > result["milliseconds"]["peer"] >= 2


def test_a_failing_check_is_not_timed() -> None:
    """What computes the wrong thing gets no time, but an error."""
    calls = []

    def check() -> None:
        raise AssertionError("wrong")

    with pytest.raises(AssertionError, match="wrong"):
        measure(Case("x", lambda: calls.append(1), check), rounds=1)
    assert calls == []


@pytest.mark.parametrize("mib", [1, 5])
def test_peak_memory_counts_what_the_job_allocates(mib: int) -> None:
    """The peak is that of arrays made and dropped inside the job."""
    result = measure(Case("x", lambda: np.ones(mib << 20, np.uint8).sum(), lambda: None, limit_mib=8), rounds=1)
    assert mib <= result["mib"] < mib + 0.5


def test_same_bytes_sees_every_difference() -> None:
    """Signed zeros, types and shapes count; equal arrays pass whatever their memory layout."""
    a = np.arange(6, dtype=np.float16).reshape(2, 3)
    assert_same_bytes(a, np.asfortranarray(a))
    for other in (a.astype(np.float32), a.reshape(3, 2), a + np.float16(1), np.where(a == 0, np.float16(-0.0), a)):
        with pytest.raises(AssertionError):
            assert_same_bytes(a, other)


def test_copy_of_moves_as_many_bytes_as_the_result_has() -> None:
    """The yardstick "copy" is as large as the result."""
    source, target = (c.cell_contents for c in copy_of(np.zeros((3, 5), np.float16)).__closure__ or ())
    assert {source.nbytes, target.nbytes} == {30}


def test_the_table_says_median_extremes_and_whether_the_limit_holds() -> None:
    """Three runs become one line; a limit missed by the median is marked, a peer that is not there is named."""
    good = table(combine("job", "Jobs", [[_run(1.2)], [_run(1.4)], [_run(9.0)]]))
    assert "| job | peer | 2.00 ms | 1.43 ms | 1.40 (1.20 to 9.00) | 1.5 | yes |" in good
    assert "| absent | 2.00 ms | not installed |  | 3 | not measured |" in good
    bad = table(
        combine("job", "Jobs", [[_run(1.6, 0.25, mib=7.5)], [_run(1.7, 0.25, mib=8.5)], [_run(1.8, 0.25, mib=9)]])
    )
    assert "| 250 µs |" in bad
    assert "| 1.70 (1.60 to 1.80) | 1.5 | **no** |" in bad
    assert "| peak extra memory | 9.0 MiB |  |  | 8 MiB | **no** |" in bad


def test_limits_in_milliseconds_have_a_line_of_their_own() -> None:
    """A job without peers is held against the clock."""
    run = {**_run(1.0, 40.0), "ratio": {}, "limits": {}, "limit_ms": 50}
    assert "| job | the clock | 40 ms |  |  | 50 ms | yes |" in table(combine("job", "Jobs", [[run]]))


def test_written_results_make_one_page(tmp_path) -> None:
    """The page shows every benchmark that has results, in order, with the machine but not its name."""
    for name in ("b", "a"):
        write(combine(name, f"Title {name}", [[_run(1.0)]]), tmp_path / "results", tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert text.index("## Title a") < text.index("## Title b")
    assert f"NumPy {np.__version__}" in text
    assert set(machine()) == {"processor", "cores", "system", "python", "numpy"}
    assert json.loads((tmp_path / "results" / "a.json").read_text())["cases"][0]["ratio"] == {"peer": [1.0]}


def test_a_new_module_is_all_that_a_new_benchmark_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module with cases runs by its name; its numbers end up in the JSON file, the page and the terminal."""
    fake = types.ModuleType("benchmarks.bench_fake", "Fakes: busy loops.\n\nMore words.")
    fake.cases = lambda: iter([  # type: ignore[attr-defined]
        Case("slow", lambda: _work(3), lambda: None, {"fast": lambda: _work(1)}, {"fast": 2.0}, limit_ms=1000)
    ])  # fmt: skip
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    monkeypatch.setattr(command, "names", lambda: ["fake"])
    monkeypatch.setattr(command, "HERE", tmp_path / "benchmarks")
    command.main(["--here", "--rounds", "1", "fake"])
    assert json.loads(capsys.readouterr().out)[0]["name"] == "slow"
    monkeypatch.setattr(command, "_run_apart", command.run_here)
    command.main(["--runs", "2", "--rounds", "3"])
    printed = capsys.readouterr().out
    assert "Fakes: busy loops\n" in printed
    written = json.loads((tmp_path / "benchmarks" / "results" / "fake.json").read_text())
    assert len(written["cases"][0]["ratio"]["fast"]) == 2
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "| slow | fast |" in page
    assert "| 2 | **no** |" in page
    assert "1000 ms | yes |" in page


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt name stops the run before anything is measured, and says which name."""
    with pytest.raises(SystemExit):
        command.main(["no_such_thing"])
    assert "no_such_thing" in capsys.readouterr().err


@pytest.mark.parametrize("name", command.names())
def test_every_benchmark_checks_its_cases_in_tiny_sizes(name: str) -> None:
    """Each module has a title and cases with distinct names, all of which compute what they should."""
    module = importlib.import_module(f"benchmarks.bench_{name}")
    assert module.__doc__.strip()
    seen = set()
    for case in module.cases(small=True):
        case.check()
        case.ours()
        for peer in case.peers.values():
            peer()
        assert case.name not in seen
        seen.add(case.name)
    assert seen
