"""Take the README's picture of an explorer anew: ``python tests/browser_screenshot.py``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from browser_lab import ROOT, Notebook, chromium, copy_notebooks, jupyterlab, with_explorer

PICTURE = ROOT / "docs" / "explorer_aipp.png"
CALL = """explorers.aipp(
    picture="numbers", input_format=AippInputFormat.YUV400_U8, dtype="int8", padding_mode=2, group="Window",
    horiz_size=6, vert_size=6, horiz_start_pos=2, vert_start_pos=1,
    left_pad_size=3, right_pad_size=2, top_pad_size=2, bot_pad_size=4, pick_row=4, pick_column=1,
)"""


def main() -> None:
    """Start JupyterLab, run the call above, and store what its explorer looks like."""
    with tempfile.TemporaryDirectory() as name:
        folder = copy_notebooks(Path(name))
        nbformat.write(with_explorer(CALL), folder / "notebooks" / "explorer.ipynb")
        with jupyterlab(folder, folder / "server.log") as url, chromium() as browser:
            # Wide enough for controls and picture side by side, high enough for the whole explorer.
            notebook = Notebook(browser.new_page(viewport={"width": 1640, "height": 1300}), url, "explorer.ipynb")
            notebook.run_all()
            view = notebook.explorer()
            view.await_calm()
            view.root.screenshot(path=PICTURE)
            notebook.close()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
