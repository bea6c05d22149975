"""The stored notebooks: their structure, their normal form, and that nbval turns red when a rule breaks."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SANITIZE = ROOT / "tests" / "nbval_sanitize.cfg"

_spec = importlib.util.spec_from_file_location("regenerate_notebooks", ROOT / "scripts" / "regenerate_notebooks.py")
assert _spec is not None
assert _spec.loader is not None
regenerate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(regenerate)

notebooks = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


class Break(NamedTuple):
    """A piece of a line that the library has once, and what it becomes when the rule that a notebook shows breaks."""

    line: str
    broken: str


BREAKS = {
    "00_start_here": Break("source = np.clip(position, 0, size - 1)", "source = position % size"),
    "01_set_aipp_functions": Break(
        "np.where(position < 0, position + before,", "np.where(position < 0, position % size,"
    ),
    "02_load3d": Break("(across * geometry.stride_w - left)", "(across * geometry.stride_w)"),
    "03_conv2d_c_api": Break("{4: 0x1111, 8: 0x101}", "{4: 0x1111, 8: 0x1}"),
    "04_vector_padding": Break("made = slice(None), source[..., ::-1]", "made = slice(None), source"),
    "05_bilinear_interpolation": Break(
        "samples = wide.take(numbers, axis=0)", "samples = wide.take(numbers[..., ::-1], axis=0)"
    ),
    "06_golden_data": Break("max_abs = max(max_abs, farthest)", "max_abs = max(max_abs, float(far.min()))"),
}
"""For each notebook the change that nbval must see there.  A new notebook adds its own."""


def read(path: Path) -> NotebookNode:
    """Read a notebook as it is stored."""
    return nbformat.read(path, as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the cells that have outputs."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return list(cell.metadata.get("tags", []))


def headings(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Return (level, text) of every heading, lines inside code fences left out."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"^```.*?^```", "", cell.source, flags=re.M | re.S)
            found += [(len(marks), title) for marks, title in re.findall(r"^(#+) +(.+?)\s*$", text, re.M)]
    return found


class Images(HTMLParser):
    """Collect the attributes of every <img> in a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep images only."""
        if tag == "img":
            self.found.append(dict(attrs))


def images(cell: NotebookNode) -> list[dict[str, str | None]]:
    """Return the attributes of the pictures in a code cell's outputs."""
    html = [output.data.get("text/html", "") for output in cell.outputs if "data" in output]
    return [image for piece in html for image in Images(piece).found]


def shows_explorer(cell: NotebookNode) -> bool:
    """Return whether a code cell's output is an explorer, of which only the words are stored."""
    return any(output.get("data", {}).get("text/plain", "").startswith("<explorer") for output in cell.outputs)


def test_there_are_notebooks() -> None:
    """The series is where the tests look for it."""
    assert PATHS


@notebooks
def test_structure(path: Path) -> None:
    """A reader finds one title, a summary and the contents first, and headings that never skip a level."""
    notebook = read(path)
    first = notebook.cells[0]
    found = headings(notebook)
    levels = [level for level, _ in found]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    assert len(first.source.split("**Contents**")[0]) > 200, "no summary before the contents"
    linked = re.findall(r"\[([^]]+)\]\(#([^)\s]+)\)", first.source.split("**Contents**")[1])
    assert [title for title, _ in linked] == [title for level, title in found if level == 2]
    assert [anchor for _, anchor in linked] == [title.replace(" ", "-") for title, _ in linked]


# The last sections of every notebook, in this order; what stands in brackets is for those that emulate something.
ENDINGS = ["Quirks", "(Error messages)", "Exercises", "(The ledger)", "(Where next)"]


@notebooks
def test_every_notebook_has_the_same_shape(path: Path) -> None:
    """Each section says what to look for or what to move, and the last ones are the same everywhere."""
    cells = read(path).cells
    titles = [title for level, title in headings(read(path)) if level == 2]
    endings = [title.strip("()") for title in ENDINGS]
    found = [title for title in titles if title in endings]
    assert found == [title for title in endings if title in found]
    assert set(found) >= {title for title in ENDINGS if not title.startswith("(")}
    sections: dict[str, str] = {}
    for cell in cells:
        for part in re.split(r"(?m)^(?=## )", cell.source if cell.cell_type == "markdown" else ""):
            title = (
                part.partition("\n")[0].removeprefix("## ") if part.startswith("## ") else next(reversed(sections), "")
            )
            sections[title] = sections.get(title, "") + part
    for title in titles:
        if title not in endings and not title.startswith("Which notebook"):
            words = sections[title]
            assert "**Look for**" in words or "**Move**" in words or "Predict" in words, title


@notebooks
def test_stored_state(path: Path) -> None:
    """What is stored is what a run from top to bottom gave, and GitHub can show it."""
    notebook = read(path)
    assert notebook.metadata == regenerate.METADATA
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    identities = [cell.id for cell in notebook.cells]
    assert len(set(identities)) == len(identities)
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}


@notebooks
def test_stored_form_is_normal(path: Path) -> None:
    """The stored notebook went through the regeneration script: cleaning it again changes nothing."""
    assert regenerate._text(regenerate.normalise(read(path))) == path.read_text(encoding="utf-8")


@notebooks
def test_stored_errors_teach(path: Path) -> None:
    """An error is stored only where it is meant, as its message alone; a cell meant to fail does."""
    for cell in code_cells(read(path)):
        errors = [output for output in cell.outputs if output.output_type == "error"]
        assert bool(errors) == ("raises-exception" in tags(cell)), cell.source
        for error in errors:
            assert error.traceback == [f"{error.ename}: {error.evalue}"]


@notebooks
def test_nothing_of_a_machine_is_stored(path: Path) -> None:
    """No path, process id or memory address of the machine that ran the notebook is in it."""
    text = regenerate.apply_rules(path.read_text(encoding="utf-8"), regenerate.read_rules())
    for pattern in (
        r"/(?:home|root|Users|tmp|var/folders|work|opt|usr)/",
        r"site-packages",
        r"ipykernel_\d+",
        r"\bat 0x[0-9a-f]{2,}",
        r"(?i)\bpid[ =:]*\d",
    ):
        assert not re.search(pattern, text), re.search(f".*{pattern}.*", text)


@notebooks
def test_pictures_have_words(path: Path) -> None:
    """Every stored picture is HTML with an alt text that says something and a size; none is a bare PNG."""
    for cell in code_cells(read(path)):
        assert not any("image/png" in output.get("data", {}) for output in cell.outputs), cell.source
        for image in images(cell):
            assert len((image.get("alt") or "").split()) >= 4, f"{image.get('alt')!r} in {cell.source}"
            assert image.get("width")
            assert image.get("height")


@notebooks
def test_a_static_twin_stands_before_each_explorer(path: Path) -> None:
    """Who only reads sees the picture that the explorer starts with: some figure comes between two explorers."""
    seen = 0
    for cell in code_cells(read(path)):
        if shows_explorer(cell):
            assert seen, f"no picture before {cell.source}"
            seen = 0
        else:
            seen += len(images(cell))


@notebooks
def test_no_network(path: Path) -> None:
    """Notebooks work without a network: no code fetches or installs anything."""
    for cell in code_cells(read(path)):
        assert not re.search(r"https?://|urllib|requests|^\s*[%!]\s*pip|^\s*!", cell.source, re.M), cell.source


def test_normal_form_forgets_the_machine() -> None:
    """Whatever a kernel leaves behind is cleaned: widget views, paths, ids, addresses, chance in streams and PNGs."""
    warning = "/somewhere/ipykernel_77/12.py:3: KernelLimitWarning: takes it as 0\n  load()\n"
    outputs = [
        new_output("stream", name="stdout", text="one "),
        new_output("stream", name="stderr", text=warning),
        new_output("stream", name="stdout", text="two <x at 0x7f00aa>"),
        new_output("display_data", {regenerate.WIDGET_VIEW: {"model_id": "ab"}, "text/plain": "an explorer"}),
        new_output("error", ename="ParameterError", evalue="no", traceback=["/somewhere/x.py", "no"]),
    ]
    cell = new_code_cell("x  \n", outputs=outputs, execution_count=9, id="a")
    cell.metadata = {"execution": {"iopub.status.busy": "now"}, "tags": ["raises-exception"]}
    twin = new_code_cell("y", execution_count=3)
    twin["id"] = "a"
    raw = NotebookNode(new_notebook(metadata={"widgets": {"application/x": {}}}), cells=[cell, twin])
    normal = regenerate.normalise(raw)
    assert normal.metadata == regenerate.METADATA
    assert [c.execution_count for c in normal.cells] == [1, 2]
    assert [c.id for c in normal.cells] == ["a", "cell-1"]
    assert normal.cells[0].metadata == {"tags": ["raises-exception"]}
    stdout, stderr, view, error = normal.cells[0].outputs
    assert stdout.text == "one two <x at 0x0>"
    assert stderr.text == "KernelLimitWarning: takes it as 0\n"
    assert view.data == {"text/plain": "an explorer"}
    assert error.traceback == ["ParameterError: no"]
    assert regenerate.normalise(normal) == normal
    assert raw.cells[0].outputs[0].text == "one ", "the original must stay as it was"


def test_png_loses_only_its_notes() -> None:
    """A PNG keeps its pixels and loses who made it and when, so that its bytes repeat."""
    from io import BytesIO

    from PIL import Image, PngImagePlugin

    plain, noted = BytesIO(), BytesIO()
    picture = Image.frombytes("RGB", (5, 3), bytes(range(45)))
    picture.save(plain, "PNG")
    info = PngImagePlugin.PngInfo()
    info.add_text("Software", "some version")
    picture.save(noted, "PNG", pnginfo=info)
    assert noted.getvalue() != plain.getvalue()
    assert regenerate.strip_png(noted.getvalue()) == plain.getvalue()


def test_sanitizing_hides_no_number() -> None:
    """The rules replace what they are for, and leave numbers, registers, checksums and alt texts alone."""
    rules = regenerate.read_rules()
    kept = 'checksum 0123abcd, 0x00000000deadbeef, [1 2 3], 0.25\n<img alt="4 at the left" width="8">\nnote.py: 3: 4\n'
    assert regenerate.apply_rules(kept, rules) == kept
    one, other = (f'<img alt="a" src="data:image/png;base64,{data}">' for data in ("iVBORw0KGgo=", "iVBORw0K/+8="))
    assert regenerate.apply_rules(one, rules) == regenerate.apply_rules(other, rules)
    # nbval must read the file as the script does.
    from nbval.plugin import get_sanitize_patterns

    assert [tuple(pair) for pair in get_sanitize_patterns(SANITIZE.read_text(encoding="utf-8"))] == rules


def test_check_tells_stale_from_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Regenerating twice changes nothing; --check is silent then, and fails once a stored number is wrong."""
    path = tmp_path / "small.ipynb"
    source = "import sys, warnings\nwarnings.warn('mind this')\nprint(6 * 7, file=sys.stdout)\nobject()"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Small"), new_code_cell(source)]), path)
    assert regenerate.main([str(path)]) == 0
    stored = path.read_text(encoding="utf-8")
    assert "UserWarning: mind this" in stored
    assert str(tmp_path) not in stored
    assert "ipykernel_" not in stored
    assert regenerate.main([str(path)]) == 0
    assert path.read_text(encoding="utf-8") == stored
    assert regenerate.main(["--check", str(path)]) == 0
    path.write_text(stored.replace('"42', '"43'), encoding="utf-8")
    capsys.readouterr()
    assert regenerate.main(["--check", str(path)]) == 1
    assert '+      "42' in capsys.readouterr().out


class Outcome(NamedTuple):
    """What nbval found: for each cell that was run, by number, what was wrong with it (nothing if empty)."""

    cells: dict[int, str]
    probe: str


def nbval(package: Path, notebook: str, cells: Iterable[int] = ()) -> Outcome:
    """Run ``pytest --nbval`` with the copy of the package in `package` first on the path, up to the first failure.

    Parameters
    ----------
    package : Path
        From `copy_of_the_package`.
    notebook : str
        Its stem; the probe runs before it.
    cells : iterable of int
        Which code cells to run; all by default.
    """
    report = package / "report.xml"
    path = package / "notebooks" / f"{notebook}.ipynb"
    command = [sys.executable, "-m", "pytest", "-qx", "--rootdir", str(package), "--assert=plain"]
    command += ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]  # not needed here, and slow to start
    command += ["--nbval", "--nbval-sanitize-with", str(SANITIZE), f"--junitxml={report}"]
    command += [str(package / "notebooks" / "probe.ipynb"), *([f"{path}::Cell {n}" for n in cells] or [str(path)])]
    environ = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(command, cwd=package, env=environ, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found, probe = {}, "was not run"
    for case in ET.parse(report).iter("testcase"):
        trouble = "".join((c.get("message") or "") + (c.text or "") for c in case if c.tag in ("failure", "error"))
        if "probe" in case.get("classname", ""):
            probe = trouble
        else:
            found[int(case.get("name", "").removeprefix("Cell "))] = trouble
    return Outcome(found, probe)


def copy_of_the_package(folder: Path, change: Break | None = None) -> Path:
    """Copy library and notebooks to a folder, one line changed, with a notebook that prints what it imports."""
    shutil.copytree(ROOT / "ascendlab", folder / "ascendlab", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    if change is not None:
        having = [path for path in (folder / "ascendlab").rglob("*.py") if change.line in path.read_text("utf-8")]
        assert len(having) == 1, f"the library has changed: name a line that it has once instead of {change.line!r}"
        text = having[0].read_text("utf-8")
        assert text.count(change.line) == 1
        having[0].write_text(text.replace(change.line, change.broken), encoding="utf-8")
    where = str(folder / "ascendlab" / "__init__.py")
    output = new_output("stream", name="stdout", text=where + "\n")
    probe = new_code_cell("import ascendlab\nprint(ascendlab.__file__)", outputs=[output], execution_count=1)
    nbformat.write(new_notebook(cells=[probe], metadata=regenerate.METADATA), folder / "notebooks" / "probe.ipynb")
    return folder


# That copying alone breaks nothing is shown by one notebook: it takes long, and all of them pass without a copy.
COPIED = "04_vector_padding"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Outcome, Outcome | None]]:
    """Run nbval on each notebook with a broken copy of the library, and one on the same cells with a faithful copy."""

    def both(path: Path) -> tuple[Outcome, Outcome | None]:
        folder = tmp_path_factory.mktemp(path.stem)
        broken = nbval(copy_of_the_package(folder / "broken", BREAKS[path.stem]), path.stem)
        if path.stem != COPIED:
            return broken, None
        return broken, nbval(copy_of_the_package(folder / "faithful"), path.stem, broken.cells)

    paths = [path for path in PATHS if path.stem in BREAKS]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((path.stem for path in paths), pool.map(both, paths), strict=True))


@notebooks
def test_nbval_goes_red_when_a_rule_breaks(path: Path, outcomes: dict[str, tuple[Outcome, Outcome | None]]) -> None:
    """One broken rule of the library makes nbval fail by a stored number; in a faithful copy the same cells pass."""
    assert path.stem in BREAKS, "say in BREAKS which change of the library this notebook must notice"
    broken, faithful = outcomes[path.stem]
    assert "Cell outputs differ" in broken.cells[max(broken.cells)]
    # The probe's stored output is the path of the copy: the kernels imported that, not the installed package.
    assert broken.probe == ""
    assert (faithful is not None) == (path.stem == COPIED)
    if faithful is not None:
        assert faithful.cells == dict.fromkeys(broken.cells, "")
        assert faithful.probe == ""
