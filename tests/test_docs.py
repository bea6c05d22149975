"""The pages of docs/: what they print is what the library computes, nothing is left out, and links lead somewhere.

That the site can be built, every warning being an error, is what ``make docs`` finds out.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import ascendlab
from ascendlab import explorers, fidelity

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


def documented() -> list[str]:
    """Return what the pages of the API reference document by its own name."""
    pages = "\n".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "api").glob("*.rst")))
    return re.findall(r"^\.\. auto(?:function|class|exception|data):: (\S+)$", pages, re.M)


def test_every_public_name_is_in_the_reference_once() -> None:
    """What `ascendlab` offers at its top, and every explorer, has one place in the API reference."""
    names = documented()
    public = {f"ascendlab.{name}" for name in ascendlab.__all__}
    public |= {f"ascendlab.explorers.{name}" for name in explorers._EXPLORERS}
    assert public - set(names) == set()
    assert sorted(set(names)) == sorted(names)


def test_the_ledger_s_page_shows_every_rule() -> None:
    """The page of the ledger has a table for each API that the ledger has rules of."""
    shown = re.findall(r"^```\{ledger\} (\w+)$", (DOCS / "ledger.md").read_text(encoding="utf-8"), re.M)
    assert sorted(shown) == sorted({rule.id.partition("-")[0] for rule in fidelity.RULES})
