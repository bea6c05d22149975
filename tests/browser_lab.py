"""A real JupyterLab in a real browser, driven as a reader would: open, run, move a slider with the keyboard, look."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from browser_chromium import HINT, find_chromium
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# A kernel that starts on a busy machine takes its time; nothing here waits longer than it has to.
PATIENCE = 120_000


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium without a window."""
    path = find_chromium()
    if path is None:
        raise RuntimeError(HINT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/status", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


@contextlib.contextmanager
def jupyterlab(folder: Path, log: Path) -> Iterator[str]:
    """Start what ``make lab`` starts, on `folder` and a free port of this machine, and yield its address.

    Parameters
    ----------
    folder : Path
        Holds ``notebooks/``; the reader's own files are not touched.
    log : Path
        Where the server's messages go.
    """
    url = f"http://127.0.0.1:{(port := _free_port())}"
    command = [sys.executable, "-m", "ascendlab.lab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}", "--IdentityProvider.token="]
    command += ["--LabApp.expose_app_in_browser=True"]
    # A home of its own: no settings, workspaces or history of the reader, none left behind.
    home = folder / "home"
    own = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {f"JUPYTERLAB_{name}_DIR": str(home / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
    with log.open("w", encoding="utf-8") as stream:
        environ = {**os.environ, **own, "IPYTHONDIR": str(home / "ipython")}
        server = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=stream, stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + PATIENCE / 1000
            while not _answers(url):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")
                time.sleep(0.1)
            yield url
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def copy_notebooks(folder: Path, *more: Path) -> Path:
    """Copy the notebooks, and perhaps some more, into ``folder/notebooks``; return `folder`."""
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for path in more:
        shutil.copy(path, folder / "notebooks")
    return folder


def with_explorer(call: str) -> NotebookNode:
    """Make a notebook of one explorer with some text above and below."""
    cells = [
        new_markdown_cell("# A page above\n\n" + "Some text.\n\n" * 5),
        new_code_cell(f"from ascendlab import AippInputFormat, explorers\n{call}"),
        new_markdown_cell("A page below.\n\n" * 40),
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


# Runs in the page: numbers what the Tab key should reach in an explorer, and keeps how each looks without the focus.
_TAB_STOPS = """
root => {
  const usable = e => !e.disabled && e.checkVisibility({ visibilityProperty: true });
  const all = 'button, input, select, textarea, a[href], [tabindex="0"]';
  const stops = [...root.querySelectorAll(all)].filter(usable);
  stops.forEach((stop, number) => { stop.alStop = number; });
  return stops.length;
}
"""
_FOCUS = """
root => {
  const stop = document.activeElement, style = getComputedStyle(stop);
  const inside = root.contains(stop);
  return {
    number: inside ? stop.alStop : -1,
    what: stop.outerHTML.slice(0, 120),
    outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
  };
}
"""
# All groups of controls one below the other: what is hidden has no colours and no names that could be checked.
_ALL_GROUPS = ".al-stack { display: block !important } .al-stack > * { visibility: visible !important }"
# What axe-core may find: rule, part of the element, reason.  Everything else is a failure.
ACCEPTED = [
    (
        "aria-input-field-name",
        'class="noUi-handle',
        "ipywidgets gives a slider's handle no name; the box beside it has it",
    ),
]

# Runs in the page: notes in each animation frame what the reader sees of an explorer, and when the keys were pressed.
_WATCH = """
([explorer, notebook]) => {
  const watch = { frames: [], presses: [], running: true };
  const press = () => watch.presses.push(performance.now());
  document.addEventListener('keydown', press, true);
  const look = () => {
    const frame = explorer.querySelector('.al-picture .al-frame');
    const image = explorer.querySelector('.al-picture img');
    watch.frames.push({
      time: performance.now(),
      shown: Boolean(image && image.complete && image.naturalWidth > 0 && image.getBoundingClientRect().width > 0),
      src: image ? image.src : '',
      top: frame ? Math.round(frame.getBoundingClientRect().top) : -1,
      height: frame ? Math.round(frame.getBoundingClientRect().height) : -1,
      explorer: Math.round(explorer.getBoundingClientRect().height),
      page: notebook.scrollHeight,
    });
    if (watch.running) requestAnimationFrame(look);
    else document.removeEventListener('keydown', press, true);
  };
  requestAnimationFrame(look);
  explorer.alWatch = watch;
}
"""
_UNWATCH = """
explorer => new Promise(resolve => {
  explorer.alWatch.running = false;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const { frames, presses } = explorer.alWatch;
    // Pictures as numbers: equal data, equal number.
    const known = new Map();
    for (const frame of frames) {
      if (!known.has(frame.src)) known.set(frame.src, known.size);
      frame.picture = known.get(frame.src);
      delete frame.src;
    }
    resolve({ frames, presses });
  }));
})
"""

# Runs in the page: the kernel has nothing to do, and nothing has changed in the explorer for some frames.
_SETTLED = """
explorer => new Promise(resolve => {
  let calm = 0, last = '', frames = 0;
  const look = () => {
    const busy = jupyterapp.shell.currentWidget.sessionContext.kernelDisplayStatus !== 'idle';
    const image = explorer.querySelector('.al-picture img');
    const now = explorer.innerHTML;
    calm = !busy && now === last && image && image.complete ? calm + 1 : 0;
    last = now;
    if (calm > 12) resolve(true);
    else if (frames++ > 300) resolve(false);
    else requestAnimationFrame(look);
  };
  look();
})
"""


@dataclass
class ExplorerView:
    """One explorer on the page, seen through its CSS classes.

    Parameters
    ----------
    root : Locator
        The element of class ``al-explorer``.
    page : Page
        Where it is.
    """

    root: Locator
    page: Page

    def text(self, part: str) -> str:
        """Return the text of a part: ``summary``, ``origin``, ``message``."""
        return self.root.locator(f".al-{part}").inner_text().strip()

    def code(self, language: str) -> str:
        """Return the code shown in ``cpp`` or ``python``."""
        return self.root.locator(f".al-{language} code").text_content() or ""

    def picture(self) -> Locator:
        """Return the picture."""
        return self.root.locator(".al-picture img")

    def is_refused(self) -> bool:
        """Return whether the explorer opened with settings that cannot be, so that there is no picture yet."""
        return self.root.locator(".al-picture").get_by_text("No picture yet.").count() > 0

    def src(self) -> str:
        """Return the picture's data address."""
        return self.picture().get_attribute("src") or ""

    def alt(self) -> str:
        """Return the picture's alt text."""
        return self.picture().get_attribute("alt") or ""

    def box(self, name: str) -> Locator:
        """Return the typeable field of a parameter."""
        return self.root.locator(f".al-param-{name} input")

    def handle(self, name: str) -> Locator:
        """Return the slider handle of a parameter: what has the focus when arrow keys move it."""
        return self.root.locator(f".al-slider-{name} [role=slider]")

    def value_text(self, name: str) -> str:
        """Return what a screen reader says of the slider's value."""
        return self.handle(name).get_attribute("aria-valuetext") or ""

    def open_group(self, title: str, name: str) -> None:
        """Open a group of controls and wait until a parameter's slider in it can be used."""
        self.root.locator(".al-groups").get_by_role("button", name=title, exact=True).click()
        expect(self.handle(name)).to_be_visible(timeout=PATIENCE)

    def press(self, name: str, key: str) -> str:
        """Focus a slider, press a key, wait until the picture has followed; return the new picture's address."""
        before = self.src()
        self.handle(name).focus()
        self.page.keyboard.press(key)
        return self.await_picture(unlike=before)

    def await_picture(self, *, unlike: str) -> str:
        """Wait for a picture other than `unlike`, and for it to be drawn; return its address."""
        self._await(
            "(root, old) => { const i = root.querySelector('.al-picture img');"
            " return Boolean(i && i.src !== old && i.complete && i.naturalWidth > 0); }",
            unlike,
        )
        return self.src()

    def _await(self, condition: str, argument: object = None) -> None:
        """Ask the page again and again, of the element that is there now: JupyterLab may have drawn the cell anew."""
        deadline = time.monotonic() + PATIENCE / 1000
        while not self.root.evaluate(condition, argument):
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {PATIENCE} ms not yet: {condition}")
            self.page.wait_for_timeout(20)

    def await_state(self, value: float, name: str) -> None:
        """Wait until a parameter has this value and everything that is shown belongs to it."""
        expect(self.box(name)).to_have_value(str(value), timeout=PATIENCE)
        self.await_calm()

    def await_calm(self) -> None:
        """Wait until nothing changes any more."""
        self._await(_SETTLED)

    def titles(self) -> tuple[str, ...]:
        """Return what stands on the buttons that open groups of controls."""
        return tuple(self.root.locator(".al-groups button").all_inner_texts())

    def tab_through(self) -> list[dict[str, Any]]:
        """Walk with the Tab key from the first control to behind the last; return what had the focus, in order.

        Of each: ``number`` in the order of the page, ``what`` it is, and how many pixels of ``outline`` show the focus.
        """
        count = self.root.evaluate(_TAB_STOPS)
        self.root.locator("button").first.focus()
        found = []
        for _ in range(count + 1):
            stop = self.root.evaluate(_FOCUS)
            if stop["number"] < 0:
                break
            found.append(stop)
            self.page.keyboard.press("Tab")
        assert [stop["number"] for stop in found] == list(range(count)), found
        return found

    @contextlib.contextmanager
    def watched(self) -> Iterator[Recording]:
        """Record every animation frame of the block."""
        recording = Recording()
        handle = self.root.element_handle()
        notebook = self.page.locator(".jp-NotebookPanel:visible .jp-WindowedPanel-outer").element_handle()
        self.page.evaluate(_WATCH, [handle, notebook])
        yield recording
        seen = self.page.evaluate(_UNWATCH, handle)
        recording.frames, recording.presses = seen["frames"], seen["presses"]


@dataclass
class Recording:
    """What was seen in each animation frame, and when keys were pressed (milliseconds of one clock)."""

    frames: list[dict[str, Any]] = field(default_factory=list)
    presses: list[float] = field(default_factory=list)

    def values(self, name: str) -> set[Any]:
        """Return the different values that a property had."""
        return {frame[name] for frame in self.frames}

    def delays(self) -> list[float]:
        """Return for each key press the milliseconds until the first frame with a new picture.

        One press must have had its picture before the next: the recording is of single steps.
        """
        found = []
        for number, press in enumerate(self.presses):
            end = self.presses[number + 1] if number + 1 < len(self.presses) else float("inf")
            before = [frame for frame in self.frames if frame["time"] <= press]
            old = before[-1]["picture"] if before else self.frames[0]["picture"]
            new = [f["time"] for f in self.frames if press < f["time"] < end and f["shown"] and f["picture"] != old]
            if new:
                found.append(new[0] - press)
        return found


class Notebook:
    """A notebook that is open in JupyterLab.

    Parameters
    ----------
    page : Page
        A fresh page.
    url : str
        The server.
    name : str
        File name in ``notebooks/``; empty to open what the server opens by itself.

    Attributes
    ----------
    troubles : list of str
        Errors that the browser reported: console, uncaught exceptions, failed requests.
    """

    def __init__(self, page: Page, url: str, name: str = "") -> None:
        self.page = page
        self.troubles: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.troubles.append(f"uncaught: {error}"))
        page.on("response", lambda r: r.status >= 400 and self.troubles.append(f"{r.status}: {r.url}"))
        page.set_default_timeout(PATIENCE)
        page.goto(f"{url}/lab/tree/notebooks/{name}?reset" if name else f"{url}/")
        self.panel = page.locator(".jp-NotebookPanel:visible")
        self.panel.locator(".jp-Cell").first.wait_for()
        self.await_idle()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.troubles.append(f"console: {message.text}")

    def await_idle(self) -> None:
        """Wait until there is a kernel and it has nothing to do."""
        self.page.wait_for_function(
            "() => { const s = jupyterapp.shell.currentWidget?.sessionContext;"
            " return s && s.isReady && s.kernelDisplayStatus === 'idle'; }",
            timeout=PATIENCE,
        )

    def run_all(self) -> None:
        """Give the command of the menu item Run All Cells, and wait until the last cell has run."""
        # The command answers when all is done; stored numbers beside the cells would look the same before and after.
        self.page.evaluate(
            "() => { jupyterapp.alDone = false; jupyterapp.commands.execute('notebook:run-all-cells')"
            ".then(() => { jupyterapp.alDone = true; }); }"
        )
        self.page.wait_for_function("() => jupyterapp.alDone", timeout=PATIENCE)
        self.await_idle()

    def read_through(self) -> None:
        """Scroll from top to bottom, cell by cell, until JupyterLab has drawn every one."""
        self.page.evaluate(
            """async () => {
              const notebook = jupyterapp.shell.currentWidget.content;
              for (let number = 0; number < notebook.widgets.length; number++) {
                const cell = notebook.widgets[number];
                cell.node.scrollIntoView();
                for (let frame = 0; frame < 600 && (frame < 1 || cell.isPlaceholder()); frame++)
                  await new Promise(requestAnimationFrame);
              }
            }"""
        )

    def explorer(self, number: int = 0) -> ExplorerView:
        """Return the explorer with this number, scrolled into view, its picture drawn or its settings refused."""
        view = ExplorerView(self.panel.locator(".al-explorer").nth(number), self.page)
        # Only what is in sight is laid out: cells above get their real heights late, and push the explorer away.
        view.root.evaluate(
            """async explorer => {
              for (let frame = 0, still = 0; frame < 600 && still < 10; frame++) {
                const top = explorer.getBoundingClientRect().top;
                still = top > -innerHeight / 2 && top < innerHeight / 2 ? still + 1 : 0;
                if (!still) explorer.scrollIntoView();
                await new Promise(requestAnimationFrame);
              }
            }"""
        )
        if not view.is_refused():
            view.await_picture(unlike="")
        return view

    def change_theme(self, name: str) -> None:
        """Let JupyterLab have another theme."""
        self.page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', { theme: name })", name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)

    def barriers(self) -> list[str]:
        """Return what axe-core finds wrong in the outputs, all groups of controls opened; accepted things left out."""
        opened = self.page.add_style_tag(content=_ALL_GROUPS)
        options = {"resultTypes": ["violations"], "preload": False}
        context = {"include": [".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output"]}
        results = Axe().run(self.page, context, options).response
        opened.evaluate("style => style.remove()")
        assert any(rule["id"] == "image-alt" for rule in results["passes"]), "axe-core has looked at no picture"
        return [
            f"{rule['id']}: {rule['help']}: {node['html'][:200]}"
            for rule in results["violations"]
            for node in rule["nodes"]
            if not any(rule["id"] == known and part in node["html"] for known, part, _ in ACCEPTED)
        ]

    def broken_widgets(self) -> int:
        """Count the places where JupyterLab gave up on a widget."""
        return self.panel.get_by_text("Error displaying widget").count()

    def still_pictures(self) -> list[dict[str, Any]]:
        """Return alt text and drawn width of the pictures in stored HTML outputs."""
        pictures = self.panel.locator(".jp-RenderedHTMLCommon img")
        found: list[dict[str, Any]] = pictures.evaluate_all(
            "all => all.map(i => ({ alt: i.alt, width: i.complete ? i.naturalWidth : 0 }))"
        )
        return found

    def close(self) -> None:
        """Shut the kernel down and close the page."""
        with contextlib.suppress(Error):
            self.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        self.page.close()
