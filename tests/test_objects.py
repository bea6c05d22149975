"""The objects of the library: what is handed out cannot be changed, and arrays are not compared by accident."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import ascendlab
import ascendlab as al
from ascendlab.aipp import aipp_plan
from ascendlab.capi.operations import Operation
from ascendlab.capi.steps import Step, Undo
from ascendlab.load3d_calls import plan_load_data_3d_v2
from ascendlab.vector import vector_padding_plan

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


def test_what_steps_did_is_compared_by_identity() -> None:
    """Two steps that did the same are two steps all the same, and have no attributes but their own."""
    operations = Operation.__subclasses__()
    assert len(operations) > 3
    for cls in [*operations, Step, Undo]:
        assert cls.__eq__ is object.__eq__
    assert not {"__dict__"} & {*vars(Step), *vars(Undo)}


def plans() -> dict[str, Any]:
    """Make one plan of each kind that is remembered."""
    picture, half = np.zeros((4, 6, 3), np.uint8), np.zeros((1, 3, 4, 16), np.float16)
    rgb = al.AippInputFormat.RGB888_U8
    setup = al.set_aipp_functions(picture, input_format=rgb, dtype="uint8", config=al.AippParams())
    window = al.LoadImageToLocalParams(horiz_size=6, vert_size=4, src_horiz_size=6, left_pad_size=1)
    params = al.LoadData3DParamsV2(l1_h=3, l1_w=4, channel_size=16, m_extension=12, k_extension=16)
    return {
        "aipp": aipp_plan(setup, window),
        "load3d": plan_load_data_3d_v2(half, params).plan,
        "vector_padding": vector_padding_plan(half.reshape(-1), 1, False, count=100),
    }


@pytest.mark.parametrize("name", ["aipp", "load3d", "vector_padding"])
def test_the_arrays_of_a_plan_cannot_be_written(name: str) -> None:
    """Plans are remembered and shared by calls: nobody who looks at one can spoil the next result."""
    plan = plans()[name]
    shown = {key: getattr(plan, key) for key in dir(plan) if not key.startswith("_")}
    arrays = {key: value for key, value in shown.items() if isinstance(value, np.ndarray)}
    assert arrays
    assert [key for key, array in arrays.items() if array.flags.writeable] == []
