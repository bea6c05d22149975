"""Run every notebook in a fresh kernel and store its outputs in one normal form.

    python scripts/regenerate_notebooks.py                    # all of notebooks/
    python scripts/regenerate_notebooks.py --check            # fail if a stored notebook is not what a run gives
    python scripts/regenerate_notebooks.py notebooks/00_start_here.ipynb

The normal form holds nothing of the machine or the moment: no widget state, no paths, process ids or addresses,
no timestamps, counts from 1, the same metadata everywhere.  So a second run changes nothing, and a diff of a
notebook shows what really changed.
"""

from __future__ import annotations

import argparse
import base64
import copy
import difflib
import re
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
SANITIZE = ROOT / "tests" / "nbval_sanitize.cfg"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Chunks that a PNG needs to look as it does; the others name the program, its version and the time.
PNG_CHUNKS = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"gAMA", b"sRGB", b"pHYs")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_IN_HTML = re.compile(r"(data:image/png;base64,)([A-Za-z0-9+/=]+)")
VALID_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")

Rules = list[tuple[str, str]]


def read_rules(path: Path = SANITIZE, *, stored: bool = False) -> Rules:
    """Return nbval's (regex, replacement) pairs; with `stored` only those that clean what is stored."""
    rules: Rules = []
    section, regex = "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("regex: "):
            regex = line.removeprefix("regex: ")
        elif line.startswith("replace: ") and (section.startswith("stored") or not stored):
            rules.append((regex, line.removeprefix("replace: ")))
    return rules


def apply_rules(text: str, rules: Rules) -> str:
    """Apply the pairs as nbval does."""
    for regex, replacement in rules:
        text = re.sub(regex, replacement, text)
    return text


def strip_png(data: bytes) -> bytes:
    """Return a PNG without the chunks that say who made it and when."""
    if not data.startswith(PNG_SIGNATURE):
        return data
    kept, position = [PNG_SIGNATURE], len(PNG_SIGNATURE)
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        end = position + 12 + length
        if data[position + 4 : position + 8] in PNG_CHUNKS:
            kept.append(data[position:end])
        position = end
    return b"".join(kept)


def _strip_base64_png(text: str) -> str:
    return base64.b64encode(strip_png(base64.b64decode(text))).decode("ascii")


def _normal_data(data: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """Normalise a bundle: without the widget's id, which means nothing in another kernel, the fallback is shown."""
    normal = {}
    for mime, value in data.items():
        if mime == WIDGET_VIEW:
            continue
        if mime == "image/png":
            normal[mime] = _strip_base64_png(value) + "\n"
        elif isinstance(value, str):
            cleaned = apply_rules(value, rules)
            normal[mime] = PNG_IN_HTML.sub(lambda m: m[1] + _strip_base64_png(m[2]), cleaned)
        else:
            normal[mime] = value
    return normal


def _normal_outputs(outputs: Iterable[NotebookNode], count: int | None, rules: Rules) -> list[NotebookNode]:
    normal: list[NotebookNode] = []
    streams: dict[str, NotebookNode] = {}
    for output in outputs:
        kind = output.output_type
        if kind == "stream":
            # How a kernel cuts its output into pieces is chance; nbval joins them too.
            if output.name in streams:
                streams[output.name].text += output.text
                continue
            streams[output.name] = output
        elif kind == "error":
            output.evalue = apply_rules(output.evalue, rules)
            output.traceback = [f"{output.ename}: {output.evalue}"]
        else:
            output.data = _normal_data(output.data, rules)
            output.metadata = {}
            if kind == "execute_result":
                output.execution_count = count
        normal.append(output)
    for stream in streams.values():
        stream.text = apply_rules(stream.text, rules)
    return normal


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of the notebook in normal form."""
    normal = copy.deepcopy(notebook)
    normal.metadata = nbformat.from_dict(METADATA)
    normal.nbformat, normal.nbformat_minor = 4, 5
    rules = read_rules(stored=True)
    count, ids = 0, set()
    for number, cell in enumerate(normal.cells):
        if not VALID_ID.match(cell.get("id", "")) or cell.id in ids:
            cell["id"] = f"cell-{number}"
        ids.add(cell.id)
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        cell.source = cell.source.rstrip()
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            cell.outputs = _normal_outputs(cell.outputs, count, rules)
    return normal


def run(path: Path) -> NotebookNode:
    """Execute the notebook in a fresh kernel, in its own folder, and return it in normal form."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    client.execute()
    return normalise(notebook)


def _text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, version=4) + "\n"


def _difference(stored: str, fresh: str, name: str) -> list[str]:
    """Return a diff of two notebooks' texts after the rules of nbval, so that it shows what nbval would see."""
    rules = read_rules()
    before, after = (apply_rules(text, rules).splitlines() for text in (stored, fresh))
    return list(difflib.unified_diff(before, after, f"{name} (stored)", f"{name} (fresh)", lineterm="", n=2))


def main(arguments: list[str] | None = None) -> int:
    """Regenerate or check; return the number of notebooks that a check found stale."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of notebooks/")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a stored notebook is stale")
    options = parser.parse_args(arguments)
    stale = 0
    for path in options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        stored = path.read_text(encoding="utf-8")
        fresh = _text(run(path.resolve()))
        difference = _difference(stored, fresh, path.name)
        if options.check:
            stale += bool(difference)
            print(f"{path.name}: {'stale' if difference else 'as stored'}")
            print("\n".join(difference), end="\n" if difference else "")
        elif fresh != stored:
            path.write_text(fresh, encoding="utf-8")
            print(f"{path.name}: written")
        else:
            print(f"{path.name}: unchanged")
    return stale


if __name__ == "__main__":
    sys.exit(main())
