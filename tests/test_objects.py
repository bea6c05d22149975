"""The objects of the library: what is handed out cannot be changed, and arrays are not compared by accident."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

import ascendlab

# Objects at work: a running core's buffers and log, entries of a cache, what a text declares while it is read, a script
# while it is written.
AT_WORK = {
    "ascendlab.aipp_config_text.Block",
    "ascendlab.caches._Entry",
    "ascendlab.capi.memory.Buffer",
    "ascendlab.capi.steps.Step",
    "ascendlab.capi.steps.Undo",
    "ascendlab.cpp_expressions.Variable",
    "ascendlab.cpp_records.Array",
    "ascendlab.cpp_records.Braces",
    "ascendlab.cpp_records.Record",
    "ascendlab.cpp_records.Union",
    "ascendlab.pycode._Node",
    "ascendlab.pycode._Script",
}


def dataclasses_of_the_library() -> dict[str, type]:
    """Return every dataclass by its full name."""
    found = {}
    for module in pkgutil.walk_packages(ascendlab.__path__, "ascendlab."):
        if not module.name.endswith("__main__"):
            for thing in vars(importlib.import_module(module.name)).values():
                if isinstance(thing, type) and dataclasses.is_dataclass(thing) and thing.__module__ == module.name:
                    found[f"{module.name}.{thing.__name__}"] = thing
    return found


ALL = dataclasses_of_the_library()


def test_the_exceptions_exist() -> None:
    """Every object that may change is one that there is."""
    assert set(ALL) >= AT_WORK


@pytest.mark.parametrize("name", sorted(ALL))
def test_objects_are_frozen(name: str) -> None:
    """Whoever holds a parameter object, a plan or an answer can rely on it: it does not change."""
    assert ALL[name].__dataclass_params__.frozen == (name not in AT_WORK)


@pytest.mark.parametrize("name", sorted(ALL))
def test_objects_that_hold_arrays_are_compared_by_identity(name: str) -> None:
    """Comparing arrays has many answers, so objects that hold some are equal to themselves only."""
    arrays = [field.name for field in dataclasses.fields(ALL[name]) if "NDArray" in str(field.type)]
    if arrays:
        assert not ALL[name].__dataclass_params__.eq, f"{arrays} would be compared element by element"
