"""Every kind of object that can be written as Ascend C, with random values, for the tests that write and read it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import ascendlab as al
from ascendlab.capi.registers import Gm2l1NzPara, L0cCopyNzPara, L13dFmatrixConfig, Load3dV2Config, PaddingRegister
from ascendlab.dtypes import TYPES, DataType
from ascendlab.fields import Parameters, fields_of

STRUCTURES = [
    t for t in (getattr(al, name) for name in al.__all__) if isinstance(t, type) and issubclass(t, Parameters)
]
REGISTERS = [L13dFmatrixConfig, Load3dV2Config, Gm2l1NzPara, L0cCopyNzPara, PaddingRegister]
ELEMENTS = [kind for kind in TYPES.values() if kind.name != "uint64"]


def holds(kind: DataType) -> st.SearchStrategy[float]:
    """Draw numbers that an element type holds, negative zeros included; small enough for every structure."""
    if kind.name.startswith(("int", "uint")):
        info: Any = ml_dtypes.iinfo(kind.numpy)
        return st.integers(max(int(info.min), -65504), min(int(info.max), 65504))
    largest = min(float(ml_dtypes.finfo(kind.numpy).max), 65504.0)
    rounded = st.floats(-largest, largest).map(lambda value: float(np.asarray(value).astype(kind.numpy)))
    return rounded.filter(lambda value: abs(value) <= largest)  # bfloat16 rounds 65504 up


@functools.cache
def objects(structure: type[Parameters], kind: DataType | None = None) -> st.SearchStrategy[Any]:
    """Draw a structure whose members are at their default or anywhere in their range.

    Constants are such that `kind` holds them; without it, any.
    """
    members: dict[str, st.SearchStrategy[Any]] = {}
    for name, spec in fields_of(structure).items():
        if spec.structure is not None:
            members[name] = objects(spec.structure, kind)
            continue
        if spec.document_name in ("enSmallK", "fMatrixCtrl"):
            continue  # False is all that is allowed
        if spec.cpp_type == "bool":
            drawn: st.SearchStrategy[Any] = st.booleans()
        elif spec.cpp_type == "half":
            drawn = holds(TYPES["half"])
        elif spec.cpp_type == "T":
            drawn = holds(kind) if kind else st.floats(-65504, 65504)
        else:
            step = 2 if name == "horiz_start_pos" else 1
            assert spec.low is not None
            assert spec.high is not None
            low, high = int(spec.low), int(spec.high) // step
            drawn = st.sampled_from([low, high]) | st.integers(low, high)
            drawn = drawn.map(lambda value, step=step: value * step)
        if spec.length:
            drawn = st.tuples(*[drawn] * spec.length)
        members[name] = drawn if spec.required else st.just(spec.default) | drawn
    return st.fixed_dictionaries(members).map(lambda values: structure(**values))


def registers(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Draw a register: any word, or a few of its fields."""
    some = st.fixed_dictionaries(
        {}, optional={bits.name: st.integers(0, (1 << bits.width) - 1) for bits in kind.layout()}
    )
    return st.integers(0, 2**64 - 1).map(kind) | some.map(lambda values: kind(**values))


def leaves(params: Parameters, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Walk over all members: the path in C++, the value, and what is known about the member."""
    for name, spec in fields_of(type(params)).items():
        value, path = getattr(params, name), f"{prefix}.{spec.document_name}"
        if spec.structure is not None:
            yield from leaves(value, path)
        elif spec.length:
            yield from ((f"{path}[{i}]", each, spec) for i, each in enumerate(value))
        else:
            yield path, value, spec
