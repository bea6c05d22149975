"""Open JupyterLab on the first notebook, on a desktop as well as on a server without a display.

Run by ``make lab``; arguments are handed on to ``jupyter lab`` and win over the ones chosen here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import zmq

ROOT = Path(__file__).resolve().parent.parent
FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"
CONFIG_DIR = ROOT / "scripts" / "jupyter"


def lab_arguments(environ: Mapping[str, str], platform: str, is_root: bool, *, can_encrypt: bool = False) -> list[str]:
    """Return the arguments of ``jupyter lab`` for this machine.

    >>> lab_arguments({"DISPLAY": ":0"}, "linux", is_root=False)[2:]
    []
    >>> lab_arguments({}, "linux", is_root=True)[2:]
    ['--no-browser', '--allow-root']
    """
    # At this level the server prints its address and real trouble, nothing else.
    arguments = [f"--LabApp.default_url=/lab/tree/{FIRST_NOTEBOOK}", "--log-level=ERROR"]
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


def main() -> None:
    """Replace this process by JupyterLab, so that Control-C and signals reach it."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    chosen = lab_arguments(os.environ, sys.platform, is_root, can_encrypt=zmq.has("curve"))
    if "--no-browser" in chosen:
        print("No display here: open the address below in a browser. Control-C stops the server.", flush=True)
    os.chdir(ROOT)
    command = [sys.executable, "-m", "jupyterlab", *chosen, *sys.argv[1:]]
    os.execve(sys.executable, command, lab_environment(os.environ))


if __name__ == "__main__":
    main()
