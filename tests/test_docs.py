"""The pages of docs/: what they print is what the library computes, and their links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def test_layouts_page_prints_what_the_library_computes() -> None:
    """Every example on the page about layouts runs as it stands there and gives the numbers that stand below it."""
    failed, attempted = doctest.testfile(str(DOCS / "layouts.md"), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert attempted >= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_the_pages_lead_somewhere(page: Path) -> None:
    """Every relative link of a page is a file of the project."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (DOCS / target).exists(), target
