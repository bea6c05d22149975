"""What a reader meets: JupyterLab as `make lab` starts it, in a real browser, sliders moved with the keyboard."""

from __future__ import annotations

import datetime
import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browser_lab import ROOT, ExplorerView, Notebook, chromium, copy_notebooks, jupyterlab, with_explorer
from playwright.sync_api import Browser, BrowserContext, Page

from ascendlab import explorers
from ascendlab.summary import summarise
from benchmarks.report import machine
from benchmarks.report import page as page_of_results

NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
PRESET: dict[str, Any] = {
    "picture": "numbers", "padding_mode": 2, "left_pad_size": 3, "right_pad_size": 1, "top_pad_size": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests here."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start one server for all tests here, on a copy of the notebooks and one more with a single explorer."""
    folder = copy_notebooks(tmp_path_factory.mktemp("lab"))
    call = "explorers.aipp(" + ", ".join(f"{name}={value!r}" for name, value in PRESET.items()) + ")"
    nbformat.write(with_explorer(call), folder / "notebooks" / "explorer.ipynb")
    with jupyterlab(folder, folder / "server.log") as started:
        yield started


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Make windows of the size of a laptop's, which share what they have loaded."""
    with browser.new_context(viewport={"width": 1400, "height": 1000}) as made:
        yield made


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Open an empty page."""
    made = context.new_page()
    yield made
    made.close()


@pytest.fixture(scope="module")
def running(context: BrowserContext, url: str) -> Iterator[Notebook]:
    """Open the notebook with a single explorer, and run it."""
    notebook = Notebook(context.new_page(), url, "explorer.ipynb")
    notebook.run_all()
    yield notebook
    notebook.close()


@pytest.fixture
def explorer(running: Notebook) -> ExplorerView:
    """Return that explorer with its first values."""
    view = running.explorer()
    view.root.locator("button.al-reset").click()
    view.await_state(start_values()["left_pad_size"], "left_pad_size")
    return view


def start_values() -> dict[str, Any]:
    """Return the explorer's first values, from the same explorer in this process."""
    return dict(explorers.aipp(**PRESET).state)


def same_explorer(**changes: Any) -> Any:
    """Return the explorer as it must look after these changes, made in this process."""
    twin = explorers.aipp(**PRESET)
    twin.set(**changes)
    return twin


def run_shown_code(code: str) -> Any:
    """Run the Python code that stands under the picture, as a reader who copies it would; return its `result`."""
    names: dict[str, Any] = {}
    exec(compile(code, "shown", "exec"), names)
    return names["result"]


def test_lab_opens_on_the_first_notebook_and_asks_nothing(page: Page, url: str) -> None:
    """`make lab` shows the first notebook at once; JupyterLab's question about news never comes."""
    notebook = Notebook(page, url)
    assert page.url.endswith("/lab/tree/notebooks/00_start_here.ipynb")
    notebook.await_idle()
    assert page.get_by_text("Jupyter news").count() == 0
    config = json.loads(page.locator("#jupyter-config-data").text_content() or "{}")
    assert "@jupyterlab/apputils-extension:announcements" in config["disabledExtensions"]
    assert notebook.troubles == []
    notebook.close()


# Kinds of explorers that the Tab key has been through: once each is enough.
WALKED: set[tuple[str, ...]] = set()


@pytest.mark.parametrize("name", NAMES)
def test_notebook_reads_and_runs(page: Page, url: str, name: str) -> None:
    """A notebook shows its stored pictures before anything runs, runs without an error, and its explorers live.

    The keyboard reaches everything in them, with a visible focus, and axe-core finds no barrier in any output.
    """
    stored = nbformat.read(ROOT / "notebooks" / name, as_version=4)
    data = [output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", [])]
    pictures = sum(bundle.get("text/html", "").count("<img ") for bundle in data)
    living = sum(bundle.get("text/plain", "").startswith("<explorer") for bundle in data)
    notebook = Notebook(page, url, name)
    notebook.read_through()
    shown = notebook.still_pictures()
    assert len(shown) == pictures
    assert all(picture["width"] > 0 and picture["alt"] for picture in shown)
    assert notebook.broken_widgets() == 0
    notebook.run_all()
    for number in range(living):
        view = notebook.explorer(number)
        if view.titles() not in WALKED:
            WALKED.add(view.titles())
            assert [stop for stop in view.tab_through() if stop["outline"] < 2] == []
        if view.is_refused():
            assert view.text("message").startswith("Not possible:")
            assert view.root.locator(".al-python code").count() == 0
        else:
            assert view.alt()
            assert summarise(run_shown_code(view.code("python"))) in view.text("summary")
    assert notebook.broken_widgets() == 0
    assert notebook.barriers() == []
    assert notebook.troubles == []
    notebook.close()


@pytest.mark.parametrize(
    ("name", "key", "step"), [("left_pad_size", "ArrowRight", 1), ("top_pad_size", "ArrowLeft", -1)]
)
def test_slider_moves_picture_and_code(explorer: ExplorerView, name: str, key: str, step: int) -> None:
    """An arrow key on a slider changes its spoken value, picture, alt text, code and numbers to the library's."""
    old, new = PRESET[name], PRESET[name] + step
    assert explorer.value_text(name) == str(old)
    before = {part: explorer.code(part) for part in ("cpp", "python")}
    explorer.open_group("Window", name)
    src = explorer.press(name, key)
    expected = same_explorer(**{name: new})
    assert explorer.value_text(name) == str(new)
    assert explorer.box(name).input_value() == str(new)
    assert f'src="{src}"' in expected.picture.value
    assert explorer.alt() == expected.shown.alt
    assert explorer.code("cpp") == expected.shown.cpp != before["cpp"]
    assert explorer.code("python") == expected.shown.python != before["python"]
    assert expected.shown.summary in explorer.text("summary")
    assert summarise(run_shown_code(explorer.code("python"))) in explorer.text("summary")


def test_picture_neither_flickers_nor_jumps(explorer: ExplorerView, running: Notebook) -> None:
    """While a slider moves, every frame has a picture, at the same place and size, and the page keeps its height."""
    explorer.open_group("Window", "left_pad_size")
    explorer.handle("left_pad_size").focus()
    with explorer.watched() as seen:
        for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 6:
            explorer.press("left_pad_size", key)
    assert len(seen.frames) > 10
    assert len(seen.values("picture")) > 5
    assert seen.values("shown") == {True}
    for measure in ("top", "height", "explorer", "page"):
        assert len(seen.values(measure)) == 1, f"{measure}: {seen.values(measure)}"
    assert running.troubles == []


def test_quick_keys_end_at_the_last_value(explorer: ExplorerView) -> None:
    """Keys pressed faster than pictures can be drawn end at the right value, and its picture."""
    explorer.open_group("Window", "left_pad_size")
    explorer.handle("left_pad_size").focus()
    for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 5:
        explorer.page.keyboard.press(key)
    value = PRESET["left_pad_size"] - 1
    explorer.await_state(value, "left_pad_size")
    assert f'src="{explorer.src()}"' in same_explorer(left_pad_size=value).picture.value


def test_impossible_setting_is_explained(explorer: ExplorerView, running: Notebook) -> None:
    """A value that the call refuses is answered in the panel by the library's message; the old picture says so."""
    explorer.open_group("Window", "left_pad_size")
    field = explorer.box("left_pad_size")
    field.fill("30")
    field.press("Enter")
    expected = same_explorer(left_pad_size=30)
    explorer.root.locator(".al-message .al-error").wait_for()
    assert "leftPadSize = 30 is not allowed" in explorer.text("message")
    assert expected.message.value.count("leftPadSize = 30 is not allowed") == 1
    assert explorer.alt().startswith("Out of date")
    field.fill("2")
    field.press("Enter")
    explorer.await_state(2, "left_pad_size")
    assert explorer.text("message") == ""
    assert not explorer.alt().startswith("Out of date")
    assert running.panel.get_by_text("Traceback").count() == 0
    assert running.troubles == []


def test_every_group_opens_and_is_walked_through_by_keyboard(explorer: ExplorerView) -> None:
    """Enter and the space bar open a group of controls; then the Tab key reaches each usable control, once."""
    twin = same_explorer()
    groups = [part for part in twin._group_list if not part.pinned]
    pinned = [part for part in twin._group_list if part.pinned]
    assert explorer.titles() == tuple(part.title for part in groups)
    for number, part in enumerate(groups):
        explorer.root.locator(".al-groups button").nth(number).focus()
        explorer.page.keyboard.press(("Space", "Enter")[number % 2])
        explorer.root.locator(f".al-param-{part.controls[0].name}").wait_for(state="visible")
        explorer.await_calm()
        bound = [twin.controls[control.name] for shown in (part, *pinned) for control in shown.controls]
        usable = [1 + (one.slider is not None) for one in bound if not one.box.disabled]
        code = 2
        assert len(explorer.tab_through()) == len(groups) + sum(usable) + len(["reset"]) + code


def test_no_barrier_in_the_dark_theme(explorer: ExplorerView, running: Notebook) -> None:
    """Texts keep their contrast in JupyterLab's dark theme, an error and all groups of controls included."""
    explorer.open_group("Window", "left_pad_size")
    field = explorer.box("left_pad_size")
    field.fill("30")
    field.press("Enter")
    explorer.root.locator(".al-message .al-error").wait_for()
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            running.change_theme(theme)
            assert running.barriers() == []
    finally:
        running.change_theme("JupyterLab Light")


def test_measure_slider_to_picture(explorer: ExplorerView, browser: Browser, tmp_path: Path) -> None:
    """Measure how long a reader waits from key to picture; how long is judged in the benchmarks, not here."""
    explorer.open_group("Window", "left_pad_size")
    with explorer.watched() as seen:
        for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 4 + ["ArrowRight"] * 3 + ["ArrowLeft"] * 3:
            explorer.press("left_pad_size", key)
    delays = seen.delays()
    assert len(delays) == len(seen.presses) == 14
    assert min(delays) > 0
    frames = seen.frames
    case = {
        "name": f"AIPP explorer, numbers, median of {len(delays)} presses, {browser.version}",
        "milliseconds": {"ascendlab": [round(statistics.median(delays), 1)]},
        "all_presses_ms": [round(delay, 1) for delay in delays],
        "frames_per_second": round(1000 * (len(frames) - 1) / (frames[-1]["time"] - frames[0]["time"])),
        "ratio": {},
        "limits": {},
        "limit_ms": None,
        "limit_mib": None,
        "mib": None,
    }
    result = {
        "benchmark": "browser",
        "title": "From a key press on a slider to the first frame with the new picture, in the browser",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "cases": [case],
    }
    # Part of `make bench`, which says where; a test run leaves the checkout as it is.
    path = Path(os.environ.get("ASCENDLAB_BROWSER_RESULTS", tmp_path / "browser.json"))
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    assert "From a key press" in page_of_results([result])
