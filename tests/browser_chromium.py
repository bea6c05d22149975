"""Find the Chromium that the browser tests drive; as a script, install Debian's where that is possible.

The test suite uses the system's browser, since playwright's own download needs a site that is often out of reach.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
HINT = (
    "The browser tests need Chromium: install it (Debian: apt-get install chromium) "
    "or set ASCENDLAB_CHROMIUM to the path of a Chromium or Chrome."
)


def find_chromium() -> str | None:
    """Return the path of the browser: ``$ASCENDLAB_CHROMIUM`` if set, else the first known name on the PATH."""
    chosen = os.environ.get("ASCENDLAB_CHROMIUM")
    if chosen:
        return shutil.which(chosen)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or (str(MAC) if MAC.exists() else None)


def main() -> int:
    """Make sure that there is a browser; install Debian's as root."""
    apt = shutil.which("apt-get")
    may_install = apt and hasattr(os, "geteuid") and os.geteuid() == 0 and "ASCENDLAB_CHROMIUM" not in os.environ
    if find_chromium() is None and may_install:
        print("Installing Debian's chromium for the browser tests ...", flush=True)
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = [str(apt), "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
        for command in ([str(apt), "update"], install):
            subprocess.run(command, env=environ, check=False, stdout=subprocess.DEVNULL)
    if find_chromium() is None:
        print(HINT, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
