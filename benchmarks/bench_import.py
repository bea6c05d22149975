"""Imports: how long a fresh interpreter takes to start with the library, the interpreter's own start included."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Case

_ROOT = Path(__file__).resolve().parent.parent
_LIMIT_MS = 150


def _start(statement: str) -> Callable[[], str]:
    """Return a job that runs a statement in a fresh interpreter and returns the loaded modules' names."""
    # Bytecode is kept between starts, as it is for who has installed the library.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"]

    def job() -> str:
        return subprocess.run(command, cwd=_ROOT, env=environ, capture_output=True, text=True, check=True).stdout

    return job


def _case(name: str, statement: str, *, with_numpy: bool, limits: dict[str, float], limit_ms: float | None) -> Case:
    ours = _start(statement)

    def check() -> None:
        loaded = ours().split()
        assert "ascendlab" in loaded
        assert ("numpy" in loaded) == with_numpy
        assert not {"matplotlib", "ipywidgets", "google.protobuf", "PIL"} & set(loaded)

    peers = {"python alone": _start("pass"), "import numpy": _start("import numpy")}
    return Case(name, ours, check, peers, limits, limit_ms)


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases; an import has one size, so `small` changes nothing."""
    yield _case("import ascendlab", "import ascendlab", with_numpy=False, limits={}, limit_ms=_LIMIT_MS)
    everything = "from ascendlab import *"
    yield _case(everything, everything, with_numpy=True, limits={"import numpy": 2.5}, limit_ms=None)
