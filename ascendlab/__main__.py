"""``python -m ascendlab``: see `ascendlab.cli`."""

from __future__ import annotations

import sys

from ascendlab.cli import main

if __name__ == "__main__":
    sys.exit(main())
