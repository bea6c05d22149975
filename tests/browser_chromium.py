"""Find the Chromium that the browser tests drive; as a script, install Debian's where that is possible.

The test suite uses the system's browser, since playwright's own download needs a site that is often out of reach.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from system_packages import ensure

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


if __name__ == "__main__":
    sys.exit(ensure(find_chromium, ("chromium", "fonts-dejavu-core"), "ASCENDLAB_CHROMIUM", HINT))
