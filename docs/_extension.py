"""What the site needs beyond Sphinx: the fidelity ledger as tables, and JupyterLab's anchors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ascendlab import fidelity


def _texts(*words: str) -> list[nodes.Node]:
    return [nodes.Text(word) for word in words if word]


def _table(head: Sequence[str], rows: Iterable[Sequence[list[nodes.Node]]], widths: Sequence[int]) -> nodes.table:
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in widths]

    def line(cells: Iterable[list[nodes.Node]]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", *(nodes.paragraph("", "", text) for text in cell)) for cell in cells))

    group += nodes.thead("", line(_texts(word) for word in head))
    group += nodes.tbody("", *map(line, rows))
    return nodes.table("", group, classes=["ledger"])


def _counts() -> nodes.table:
    apis = list(dict.fromkeys(rule.id.partition("-")[0] for rule in fidelity.RULES))

    def row(name: str, rules: Sequence[fidelity.Rule]) -> list[list[nodes.Node]]:
        numbers = [sum(rule.source == source for rule in rules) for source in fidelity.SOURCES]
        return [_texts(name), *(_texts(str(number)) for number in [*numbers, len(rules)])]

    rows = [row(api, fidelity.rules(api)) for api in apis] + [row("all", fidelity.RULES)]
    return _table(["rules of", *fidelity.SOURCES, "all"], rows, [1] * (len(fidelity.SOURCES) + 2))


class Ledger(SphinxDirective):
    """The directive ``ledger``, made from `ascendlab.fidelity` while the site is built.

    Without an argument it counts the rules by API and source; with one it shows that API's rules.
    """

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        if not self.arguments:
            return [_counts()]
        rules = fidelity.rules(self.arguments[0])
        if not rules:
            raise self.error(f"the ledger has no rules of {self.arguments[0]!r}")
        rows = [
            [[nodes.literal("", rule.id)], _texts(rule.rule), _texts(f"{rule.source}:", rule.where, rule.alternatives)]
            for rule in rules
        ]
        return [_table(["id", "rule", "source; alternatives"], rows, [20, 45, 35])]


def anchor(title: str) -> str:
    """Return the anchor of a heading as JupyterLab makes it, so that a notebook's contents lead to the same places."""
    return title.replace(" ", "-")


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("ledger", Ledger)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
