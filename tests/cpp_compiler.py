"""Find the compiler that emitted C++ is compiled with; as a script, install Debian's where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from system_packages import ensure

NAMES = ("g++", "c++", "clang++")
HINT = (
    "The tests of emitted C++ need a compiler: install one (Debian: apt-get install g++) "
    "or set ASCENDLAB_CXX to the path of a g++ or clang++."
)


def find_compiler() -> str | None:
    """Return the path of the compiler: ``$ASCENDLAB_CXX`` if set, else the first known name on the PATH."""
    chosen = os.environ.get("ASCENDLAB_CXX")
    return next(filter(None, map(shutil.which, (chosen,) if chosen else NAMES)), None)


def run(source: str, folder: Path) -> str:
    """Compile a program without optimisation, run it, and return what it prints."""
    compiler = find_compiler()
    assert compiler is not None, HINT
    (folder / "program.cpp").write_text(source, encoding="utf-8")
    command = [compiler, "-std=c++17", "-O0", "-Werror=overflow", "-o", "program", "program.cpp"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:4000]
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(ensure(find_compiler, ("g++",), "ASCENDLAB_CXX", HINT))
