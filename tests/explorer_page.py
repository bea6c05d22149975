"""What a reader of an explorer's page sees."""

from __future__ import annotations

import base64
import contextlib
import html
import re
from typing import Any
from unittest import mock

import numpy as np

from ascendlab.explorers._base import Explorer


def shown_png(explorer: Explorer) -> bytes:
    """Take the picture out of the page."""
    return base64.b64decode(re.findall(r"base64,([^\"]+)\"", explorer.picture.value)[0])


def shown_alt(explorer: Explorer) -> str:
    """Take the alt text out of the page."""
    return html.unescape(re.findall(r'alt="([^"]*)"', explorer.picture.value)[0])


def text(widget: Any) -> str:
    """Return what a reader reads."""
    return html.unescape(re.sub(r"<[^>]+>", "", widget.value))


def page(explorer: Explorer) -> tuple[str, ...]:
    """Return all that a page shows."""
    parts = (explorer.picture, explorer.summary, explorer.origin, explorer.cpp, explorer.python)
    return tuple(part.value for part in parts)


def start_again(explorer: Any, preset: dict[str, Any], *, drawn: bool = True) -> None:
    """Put an explorer where a new one with this preset would start, which is cheaper than to make one.

    What is not `drawn` has no picture: half the time goes to pictures, and those to start from are seldom looked at.
    """
    with contextlib.nullcontext() if drawn else mock.patch.object(explorer._picture, "draw", return_value=b""):
        explorer.state.update(explorer._first_values(preset))


def run_python(explorer: Explorer) -> dict[str, Any]:
    """Run the Python on the page, as a reader who copies it would."""
    names: dict[str, Any] = {}
    exec(text(explorer.python).removeprefix("Python"), names)
    return names


def random_step(explorer: Explorer, rng: np.random.Generator, texts: dict[str, list[str]]) -> None:
    """Change one control that is not greyed out, to anything that its widget takes."""
    names = [name for name, bound in explorer.controls.items() if not bound.box.disabled]
    name = names[rng.integers(len(names))]
    box = explorer.controls[name].box
    if hasattr(box, "options"):
        box.value = box.options[rng.integers(len(box.options))][1]
    elif isinstance(box.value, bool):
        box.value = not box.value
    elif isinstance(box.value, str):
        box.value = texts[name][rng.integers(len(texts[name]))]
    else:
        low, high = max(int(box.min), -(2**62)), min(int(box.max), 2**62)
        near = min(high, low + 40)
        box.value = int(rng.integers(low, (near if rng.random() < 0.5 else high) + 1))
