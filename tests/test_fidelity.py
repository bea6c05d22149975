"""The ledger itself: ids, sources, sentences, and its table."""

from __future__ import annotations

import re

import pytest

import ascendlab as al
from ascendlab import fidelity

APIS = ("aipp", "config", "load3d", "capi", "vector", "bilinear", "cpp")


@pytest.mark.parametrize("rule", fidelity.RULES, ids=lambda r: r.id)
def test_a_rule_is_complete(rule):
    """Every rule has an id of its API, one of the known sources, a place and a sentence in English."""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.id)
    assert rule.id.startswith(tuple(f"{api}-" for api in APIS))
    assert rule.source in fidelity.SOURCES
    assert rule.where
    assert rule.rule.endswith(".")
    assert not rule.alternatives or rule.alternatives.endswith(".")
    for text in (rule.rule, rule.where, rule.alternatives):
        assert "|" not in text, "it would break the Markdown table"
        assert "\n" not in text
        assert text.isascii() or not re.search("[\u4e00-\u9fff]", text)


DOCUMENTS = {
    "aipp": ("SetAippFunctions", "LoadImageToLocal"),
    "config": (),
    "load3d": ("Load3D", "SetAippFunctions", "asc_set_l12l0a_3d_padding"),
    "capi": ("asc_set_l12l0a_3d_padding", "Load", "SetAippFunctions"),
    "vector": ("VectorPadding", "BilinearInterpolation"),
    "bilinear": ("BilinearInterpolation",),
    "cpp": (),
}


@pytest.mark.parametrize("api", APIS)
def test_documents_are_those_of_the_api(api):
    """A rule from a document names one that is about its API, so that a reader finds it there."""
    for rule in fidelity.rules(api):
        if rule.source == "document":
            assert rule.where.startswith(DOCUMENTS[api]), rule


def test_ids_are_unique():
    """An id names one rule."""
    ids = [rule.id for rule in fidelity.RULES]
    assert len(ids) == len(set(ids))


def test_rules_are_found():
    """By id, by API, or all."""
    assert fidelity.rule("aipp-order").id == "aipp-order"
    assert fidelity.rules() == fidelity.RULES
    aipp = fidelity.rules("aipp")
    assert len(aipp) > 30
    assert all(rule.id.startswith("aipp-") for rule in aipp)
    for wrong in ("nope", "", None, 3, ["aipp-order"]):
        with pytest.raises(al.ParameterError, match=r"^rule_id = "):
            fidelity.rule(wrong)
    with pytest.raises(al.ParameterError, match=r"^api = "):
        fidelity.rules(3)


def test_the_markdown_table_has_every_rule():
    """One row for each rule, five columns in each row."""
    lines = fidelity.as_markdown().splitlines()
    assert lines[0] == "| id | rule | source | where | alternatives |"
    assert len(lines) == 2 + len(fidelity.RULES)
    assert all(line.count("|") == 6 for line in lines)
    assert len(fidelity.as_markdown("aipp").splitlines()) == 2 + len(fidelity.rules("aipp"))
