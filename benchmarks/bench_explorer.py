"""Explorers: from a changed parameter to the bytes of the new picture.

The change goes the reader's way, through the explorer's state: controls, emulation, provenance, code, picture, texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from ascendlab import explorers
from ascendlab.products import Product
from benchmarks.measure import Case

# The goal is for the views that a notebook opens with.
_DEFAULT_MS = 50


def _case(picture: str, view: str, limit_ms: float | None) -> Case:
    """Return a case that makes the window narrower and wider in turn."""
    # Atlas 350 has both profiles, whose difference is one of the views.
    explorer = explorers.aipp(
        picture=picture, view=view, product=Product.ATLAS_350, padding_mode=1, left_pad_size=6, right_pad_size=4
    )
    width = explorer.state["horiz_size"]
    turns = cycle((width - 2, width))

    def change() -> bytes:
        explorer.set(horiz_size=next(turns))
        png: bytes = explorer.shown.png
        return png

    def check() -> None:
        first, second, third, fourth = change(), change(), change(), change()
        assert first != second, "the picture did not change"
        assert (first, second) == (third, fourth), "the same state gave another picture"
        assert first.startswith(b"\x89PNG"), "the picture is no PNG"

    return Case(f"aipp, {picture}, view {view}", change, check, limit_ms=limit_ms)


def cases(small: bool = False) -> Iterator[Case]:
    """Yield the cases; the built-in pictures have one size, so `small` changes nothing."""
    for view in ("both", "result", "source", "channels", "difference"):
        for picture in ("photograph", "numbers"):
            yield _case(picture, view, _DEFAULT_MS if view == "both" else None)
