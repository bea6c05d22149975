"""What is published: the source archive and the wheel that is made of it, looked into, installed and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import ascendlab

VERSION = ascendlab.__version__


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command apart from this process's paths; return what it prints."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """Build the source archive; return the folder that comes out of it."""
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=root)
    (archive,) = folder.iterdir()
    assert archive.name == f"ascendlab-{VERSION}.tar.gz"
    with tarfile.open(archive) as opened:
        # Pythons before 3.10.12 do not know filters; this archive was made a moment ago.
        opened.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / f"ascendlab-{VERSION}"


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the unpacked source archive, as installers do."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    (built,) = folder.iterdir()
    assert built.name == f"ascendlab-{VERSION}-py3-none-any.whl"
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment, which borrows the other packages; return its Python."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    run(*install, "--no-deps", "--no-index", "--no-compile", wheel, cwd=folder)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # Such a path comes after the environment's own, and .pth files there (an editable ascendlab's) are not read.
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (own / "borrowed.pth").write_text("\n".join(sorted(paths)), encoding="utf-8")
    return python


def names_below(folder: Path) -> set[str]:
    """Return the files of a folder, as paths from there."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_source_archive_is_complete(source: Path, root: Path) -> None:
    """Everything that `make lab`, `make test`, `make docs` and a reader need is in the archive, and no leavings."""
    there = names_below(source)
    for name in (
        "Makefile",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "CITATION.cff",
        "pyproject.toml",
        "PKG-INFO",
    ):
        assert name in there
    for folder, pattern in (("ascendlab", "**/*.py"), ("tests", "**/*"), ("notebooks", "*.ipynb"), ("docs", "*.md")):
        tracked = {p.relative_to(root).as_posix() for p in (root / folder).glob(pattern) if p.is_file()}
        tracked = {name for name in tracked if "__pycache__" not in name and ".ipynb_checkpoints" not in name}
        assert tracked - there == set()
    assert {name for name in there if re.search(r"__pycache__|\.pyc$|(^|/)\.(?!git\w+$)", name)} == set()


def test_the_wheel_has_the_package_the_notebooks_and_nothing_else(wheel: Path, root: Path) -> None:
    """The wheel brings the modules, the marker for type checkers, JupyterLab's settings and all notebooks; no tests."""
    with zipfile.ZipFile(wheel) as opened:
        there = {name for name in opened.namelist() if ".dist-info/" not in name}
        metadata = opened.read(f"ascendlab-{VERSION}.dist-info/METADATA").decode()
    modules = {p.relative_to(root).as_posix() for p in (root / "ascendlab").rglob("*.py")}
    notebooks = {f"ascendlab/notebooks/{p.name}" for p in (root / "notebooks").glob("*.ipynb")}
    data = {"ascendlab/py.typed", "ascendlab/_jupyter/labconfig/page_config.json"}
    assert there == modules | notebooks | data
    assert f"\nVersion: {VERSION}\n" in metadata
    assert {line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line} == {
        "Requires-Dist: ml-dtypes!=0.7.0,>=0.5",
        "Requires-Dist: numpy>=1.26",
    }


def test_the_installed_wheel_computes(python: Path, tmp_path: Path) -> None:
    """What was installed is what is imported, and a docstring's examples run in it."""
    code = """
import ascendlab, doctest, sys
from ascendlab import vector_mask
print(ascendlab.__version__, ascendlab.__file__.startswith(sys.prefix), doctest.testmod(vector_mask))
"""
    printed = run(python, "-c", code, cwd=tmp_path)
    found = re.fullmatch(rf"{re.escape(VERSION)} True TestResults\(failed=0, attempted=(\d+)\)\n", printed)
    assert found, printed
    assert int(found[1]) > 0


def test_the_installed_wheel_brings_its_notebooks(python: Path, tmp_path: Path, root: Path) -> None:
    """`python -m ascendlab lab` finds the notebooks without a checkout, and puts them into the working folder."""
    printed = run(python, "-m", "ascendlab.lab", "--copy", cwd=tmp_path)
    assert printed == "The notebooks are in ./ascendlab-notebooks.\n"
    copied = {path.name: path.read_bytes() for path in (tmp_path / "ascendlab-notebooks").iterdir()}
    assert copied == {path.name: path.read_bytes() for path in (root / "notebooks").glob("*.ipynb")}
