"""`ascendlab.lab`: which notebooks are opened, how JupyterLab is started, and that a reader's own files stay."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ascendlab import lab

NAMES = ["00_start_here.ipynb", "01_more.ipynb"]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package as a wheel installs it, with two notebooks; start in an empty folder; return the notebooks."""
    notebooks = tmp_path / "site-packages" / "ascendlab" / "notebooks"
    notebooks.mkdir(parents=True)
    for name in NAMES:
        (notebooks / name).write_text(f"packaged {name}", encoding="utf-8")
    monkeypatch.setattr(lab, "find_notebooks", lambda: (notebooks, False))
    (tmp_path / "reader").mkdir()
    monkeypatch.chdir(tmp_path / "reader")
    return notebooks


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the list to which the commands go that would have replaced this process."""
    commands: list[list[str]] = []
    monkeypatch.setattr(lab, "_become", lambda command, environ: commands.append(command) or 0)
    return commands


MACHINES = pytest.mark.parametrize(
    ("environ", "platform", "is_root", "expected"),
    [
        ({}, "linux", False, {"--no-browser"}),
        ({"DISPLAY": ":0"}, "linux", False, set()),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True, {"--allow-root"}),
        ({}, "darwin", False, set()),
    ],
)


@MACHINES
def test_lab_fits_the_machine(environ: dict[str, str], platform: str, is_root: bool, expected: set[str]) -> None:
    """`make lab` opens a browser only where there can be one, and starts for root as well."""
    arguments = set(lab.lab_arguments(environ, platform, is_root))
    assert arguments & {"--no-browser", "--allow-root"} == expected


@pytest.mark.parametrize("can_encrypt", [True, False])
def test_lab_encrypts_where_it_can(can_encrypt: bool) -> None:
    """`make lab` prints no kernel's warning of plain text, and starts where ZeroMQ cannot encrypt."""
    arguments = lab.lab_arguments({}, "linux", is_root=False, can_encrypt=can_encrypt)
    assert ("--KernelManager.transport_encryption=auto" in arguments) == can_encrypt


def test_lab_keeps_the_readers_settings_and_asks_nothing() -> None:
    """The server has a config folder more, which has JupyterLab's page settings; the reader's own come after it."""
    paths = lab.lab_environment({"JUPYTER_CONFIG_PATH": "mine", "OTHER": "1"})["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert (Path(paths[0]) / "labconfig" / "page_config.json").exists()
    assert paths[1:] == ["mine"]


def test_a_checkout_s_own_notebooks_are_opened(
    root: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a checkout the server starts beside its notebooks, from whatever folder, and copies nothing."""
    monkeypatch.chdir(root / "tests")
    before = sorted(path.name for path in (root / "tests").iterdir())
    lab.main(["--port", "9999", "--ServerApp.token="])
    assert Path.cwd() == root
    assert started[0][:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in started[0]
    assert started[0][-3:] == ["--port", "9999", "--ServerApp.token="]
    assert sorted(path.name for path in (root / "tests").iterdir()) == before


def test_an_installed_package_brings_copies(installed: Path, started: list[list[str]]) -> None:
    """Without a checkout the notebooks are copied below the working folder, where the server starts."""
    folder = Path.cwd()
    lab.main([])
    assert sorted(path.name for path in (folder / "ascendlab-notebooks").iterdir()) == NAMES
    assert Path.cwd() == folder
    assert "--LabApp.default_url=/lab/tree/ascendlab-notebooks/00_start_here.ipynb" in started[0]


def test_a_folder_without_pyproject_is_no_checkout(tmp_path: Path) -> None:
    """A folder "notebooks" that happens to lie beside the installed package is not taken for the project's."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / lab.FIRST_NOTEBOOK).touch()
    assert lab.find_notebooks(tmp_path / "ascendlab") == (tmp_path / "ascendlab" / "notebooks", False)
    (tmp_path / "pyproject.toml").touch()
    assert lab.find_notebooks(tmp_path / "ascendlab") == (tmp_path / "notebooks", True)


def test_a_readers_notebook_is_kept_and_named(
    installed: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A second start writes over nothing: an edited notebook is kept and named, a deleted one comes back."""
    assert lab.main(["--copy"]) == 0
    assert "Kept" not in capsys.readouterr().out
    edited, deleted = (Path("ascendlab-notebooks", name) for name in NAMES)
    edited.write_text("mine", encoding="utf-8")
    deleted.unlink()
    assert lab.main(["--copy"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if "Kept" in line] == [
        f"Kept your {NAMES[0]}, which differs from the one in this version of ascendlab."
    ]
    assert edited.read_text(encoding="utf-8") == "mine"
    assert deleted.read_text(encoding="utf-8") == f"packaged {NAMES[1]}"
    assert started == []


def test_a_folder_that_cannot_be_made_is_said_in_one_line(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file where the folder should be, or a folder that may not be written, ends in a sentence and status 1."""
    Path("ascendlab-notebooks").write_text("a file of the reader's", encoding="utf-8")
    assert lab.main(["--copy"]) == 1
    assert capsys.readouterr().err == "The notebooks cannot be copied into ./ascendlab-notebooks: File exists.\n"
    assert Path("ascendlab-notebooks").read_text(encoding="utf-8") == "a file of the reader's"


@pytest.mark.parametrize("missing", lab.NEEDED)
def test_what_is_not_installed_is_said_in_one_line(
    missing: str,
    installed: Path,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where a package of the notebooks is missing, the command that installs it is printed, and nothing is started."""
    found = lab._is_installed
    monkeypatch.setattr(lab, "_is_installed", lambda module: module != missing and found(module))
    assert lab.main([]) == 1
    assert 'pip install "ascendlab[notebooks]"' in capsys.readouterr().err
    assert started == []
    assert list(Path.cwd().iterdir()) == []


def test_packages_are_looked_for_without_importing() -> None:
    """A package that is not there, alone or inside another one, is no error."""
    assert lab._is_installed("numpy")
    assert not lab._is_installed("no_such_package")
    assert not lab._is_installed("no_such_package.inner")


def test_copies_are_not_written_through_links_and_pipes(tmp_path: Path) -> None:
    """A link that leads nowhere, a pipe and a folder by a notebook's name are kept and reported, and nothing waits."""
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (source, target):
        folder.mkdir()
    for name in ("a", "b", "c", "d"):
        (source / f"{name}.ipynb").write_text(name)
    (target / "a.ipynb").symlink_to(tmp_path / "elsewhere.ipynb")
    os.mkfifo(target / "b.ipynb")
    (target / "c.ipynb").mkdir()
    assert lab.copy_notebooks(source, target) == ["a.ipynb", "b.ipynb", "c.ipynb"]
    assert (target / "d.ipynb").read_text() == "d"
    assert not (tmp_path / "elsewhere.ipynb").exists()
