"""Explorers: from a changed parameter to the bytes of the new picture.

The change goes the reader's way, through the explorer's state: controls, emulation, provenance, code, picture, texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from ascendlab import explorers
from ascendlab.explorers._base import Explorer
from ascendlab.plots.capi import VIEWS as CAPI_VIEWS
from ascendlab.plots.load3d import VIEWS
from ascendlab.products import Product
from benchmarks.measure import Case

# The goals are for the views that a notebook opens with: those without numbers in cells, and those with them.
_DEFAULT_MS, _NUMBERS_MS = 50, 100


def _aipp(picture: str, view: str, limit_ms: float | None) -> Case:
    """Return a case that makes the window narrower and wider in turn."""
    # Atlas 350 has both profiles, whose difference is one of the views.
    explorer = explorers.aipp(
        picture=picture, view=view, product=Product.ATLAS_350, padding_mode=1, left_pad_size=6, right_pad_size=4
    )
    width = explorer.state["horiz_size"]
    return _case(f"aipp, {picture}, view {view}", explorer, {"horiz_size": (width - 2, width)}, limit_ms)


def _load3d(view: str, limit_ms: float | None) -> Case:
    """Return a case that picks two elements in turn."""
    return _case(f"load3d, view {view}", explorers.load3d(view=view), {"pick": (629, 900)}, limit_ms)


def _conv2d(view: str, control: str, values: tuple[Any, Any], limit_ms: float | None) -> Case:
    """Return a case that steps through the kernel, or runs it with another constant."""
    return _case(f"conv2d, {control}, view {view}", explorers.conv2d(view=view), {control: values}, limit_ms)


def _case(name: str, explorer: Explorer, change_of: dict[str, tuple[Any, Any]], limit_ms: float | None) -> Case:
    """Return a case that gives a control one of two values in turn."""
    ((control, values),) = change_of.items()
    turns = cycle(values)

    def change() -> bytes:
        explorer.set(**{control: next(turns)})
        assert explorer.shown is not None
        return explorer.shown.png

    def check() -> None:
        first, second, third, fourth = change(), change(), change(), change()
        assert first != second, "the picture did not change"
        assert (first, second) == (third, fourth), "the same state gave another picture"
        assert first.startswith(b"\x89PNG"), "the picture is no PNG"

    return Case(name, change, check, limit_ms=limit_ms)


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases; the built-in pictures have one size, so `small` leaves out all views but the default ones."""
    for view in ("both",) if small else ("both", "result", "source", "channels", "difference"):
        for picture in ("photograph", "numbers"):
            yield _aipp(picture, view, _DEFAULT_MS if view == "both" else None)
    for control, values in (("pick_row", (100, 120)), ("standard", ("jpeg", "bt601_narrow"))):
        yield _case(f"aipp_config, {control}", explorers.aipp_config(), {control: values}, _DEFAULT_MS)
    for view in ("overview",) if small else VIEWS.values():
        yield _load3d(view, _NUMBERS_MS if view == "overview" else None)
    for view in ("memory",) if small else CAPI_VIEWS.values():
        # Its cells hold the numbers of the steps that wrote them.
        limit = _NUMBERS_MS if view == "memory" else None
        yield _conv2d(view, "step", (9, 36), limit)
        yield _conv2d(view, "PAD_LEFT", (0, 2), limit)
