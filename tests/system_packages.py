"""Programs of the system that some tests drive: found if they are there, installed by Debian's apt-get as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable


def ensure(find: Callable[[], str | None], packages: tuple[str, ...], variable: str, hint: str) -> int:
    """Make sure that there is a program, and return what a script that is to do only this exits with.

    Parameters
    ----------
    find : callable
        Returns the path of the program, or None.
    packages : tuple of str
        Debian's packages that have it.
    variable : str
        The environment variable that names another one; if it is set, nothing is installed.
    hint : str
        What to tell who has to install it.
    """
    apt = shutil.which("apt-get")
    may_install = apt and hasattr(os, "geteuid") and os.geteuid() == 0 and variable not in os.environ
    if find() is None and may_install:
        print(f"Installing Debian's {packages[0]} for the tests ...", flush=True)
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = [str(apt), "install", "--yes", "--no-install-recommends", *packages]
        for command in ([str(apt), "update"], install):
            subprocess.run(command, env=environ, check=False, stdout=subprocess.DEVNULL)
    if find() is None:
        print(hint, file=sys.stderr)
        return 1
    return 0
