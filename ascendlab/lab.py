"""Open JupyterLab on the first notebook, from a checkout or from an installed package, with or without a display.

In a checkout the checkout's notebooks are opened.  An installed package brings copies, which are put into the folder
``ascendlab-notebooks`` below the working folder: there a reader can change them.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["copy_notebooks", "find_notebooks", "lab_arguments", "lab_environment", "main"]

PACKAGE = Path(__file__).resolve().parent
CONFIG_DIR = PACKAGE / "_jupyter"
FIRST_NOTEBOOK = "00_start_here.ipynb"
FOLDER = "ascendlab-notebooks"
# What the notebooks import beyond the library's own needs: the extra `notebooks`.
NEEDED = ("jupyterlab", "ipywidgets", "matplotlib", "PIL", "google.protobuf")


def find_notebooks(package: Path = PACKAGE) -> tuple[Path, bool]:
    """Return the folder with the notebooks, and whether it is a checkout's, where they may be changed.

    Parameters
    ----------
    package : Path
        The folder of the package `ascendlab`.
    """
    checkout = package.parent / "notebooks"
    if (checkout / FIRST_NOTEBOOK).exists() and (package.parent / "pyproject.toml").exists():
        return checkout, True
    return package / "notebooks", False


def copy_notebooks(source: Path, target: Path) -> list[str]:
    """Copy the notebooks that `target` does not have yet, and nothing over a file that is there.

    Parameters
    ----------
    source : Path
        Where they are.
    target : Path
        Where they shall be; made if it does not exist.

    Returns
    -------
    list of str
        Names of the files that were there already with another content, and were kept.

    Raises
    ------
    OSError
        If `target` cannot be written.
    """
    target.mkdir(parents=True, exist_ok=True)
    kept = []
    for path in sorted(source.glob("*.ipynb")):
        own = target / path.name
        if not os.path.lexists(own):
            shutil.copyfile(path, own)
        # A link that leads nowhere would be written through, and a pipe never answers: neither is a notebook.
        elif not own.is_file() or own.read_bytes() != path.read_bytes():
            kept.append(path.name)
    return kept


def lab_arguments(
    environ: Mapping[str, str], platform: str, is_root: bool, *, can_encrypt: bool = False, folder: str = "notebooks"
) -> list[str]:
    """Return the arguments of ``jupyter lab`` for this machine.

    Parameters
    ----------
    environ : mapping
        The environment, which says whether there is a display.
    platform : str
        As in `sys.platform`.
    is_root : bool
        Whether the user is root, for whom the server has to be told that this is meant.
    can_encrypt : bool
        Whether ZeroMQ can encrypt.
    folder : str
        Where the notebooks are, below the server's folder.

    Examples
    --------
    >>> lab_arguments({"DISPLAY": ":0"}, "linux", is_root=False)[2:]
    []
    >>> lab_arguments({}, "linux", is_root=True)[2:]
    ['--no-browser', '--allow-root']
    """
    # At this level the server prints its address and real trouble, nothing else.
    arguments = [f"--LabApp.default_url=/lab/tree/{folder}/{FIRST_NOTEBOOK}", "--log-level=ERROR"]
    if platform.startswith("linux") and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        arguments.append("--no-browser")
    if is_root:
        arguments.append("--allow-root")
    if can_encrypt:
        # Between server and kernel; otherwise newer kernels warn, where the reader sees it, that it is plain text.
        arguments.append("--KernelManager.transport_encryption=auto")
    return arguments


def lab_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the server: the caller's, and a config folder that turns the news question off.

    A config folder, since nothing of the reader's own JupyterLab settings should change.
    """
    paths = [str(CONFIG_DIR), environ.get("JUPYTER_CONFIG_PATH", "")]
    return {**environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}


def main(arguments: list[str]) -> int:
    """Open JupyterLab on the first notebook; the process becomes the server, so that Control-C and signals reach it.

    Parameters
    ----------
    arguments : list of str
        ``--copy`` to copy the notebooks and start nothing; everything else is handed on to ``jupyter lab`` and wins
        over what is chosen here.

    Returns
    -------
    int
        0, or 1 if something is missing; what, stands on the standard error.
    """
    parser = argparse.ArgumentParser(
        prog="python -m ascendlab lab",
        description="Open JupyterLab on the first notebook.",
        epilog="Every other argument is handed on to jupyter lab, whose own help is: jupyter lab --help",
        allow_abbrev=False,
    )
    parser.add_argument("--copy", action="store_true", help=f"only copy the notebooks, into ./{FOLDER}")
    options, others = parser.parse_known_args(arguments)
    source, is_checkout = find_notebooks()
    if not options.copy and not all(map(_is_installed, NEEDED)):
        print('The notebooks need JupyterLab and more: pip install "ascendlab[notebooks]"', file=sys.stderr)
        return 1
    folder = source
    if options.copy or not is_checkout:
        folder = Path.cwd() / FOLDER
        try:
            kept = copy_notebooks(source, folder)
        except OSError as error:
            print(f"The notebooks cannot be copied into ./{FOLDER}: {error.strerror}.", file=sys.stderr)
            return 1
        print(f"The notebooks are in ./{FOLDER}.", flush=True)
        for name in kept:
            print(f"Kept your {name}, which differs from the one in this version of ascendlab.", flush=True)
    if options.copy:
        return 0
    os.chdir(folder.parent)
    return _start(folder.name, others)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is not there
        return False


def _start(folder: str, others: list[str]) -> int:
    """Start JupyterLab as it suits this machine."""
    import zmq

    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    chosen = lab_arguments(os.environ, sys.platform, is_root, can_encrypt=zmq.has("curve"), folder=folder)
    if "--no-browser" in chosen:
        print("No display here: open the address below in a browser. Control-C stops the server.", flush=True)
    return _become([sys.executable, "-m", "jupyterlab", *chosen, *others], lab_environment(os.environ))


def _become(command: list[str], environ: dict[str, str]) -> int:
    if os.name != "nt":
        os.execve(command[0], command, environ)
    # Windows cannot replace a process: the shell would go on beside the new one.
    try:
        return subprocess.run(command, env=environ, check=False).returncode
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
