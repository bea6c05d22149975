"""Element types: names, sizes, C0 and lanes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ascendlab as al
from ascendlab.dtypes import BLOCKS_PER_REPEAT, DATA_BLOCK_BYTES, TYPES, DataType, as_dtype

BITS = {
    "int4": 4, "int8": 8, "uint8": 8, "fp8_e4m3fn": 8, "fp8_e5m2": 8, "int16": 16, "uint16": 16, "half": 16,
    "bfloat16": 16, "int32": 32, "uint32": 32, "float": 32, "uint64": 64,
}  # fmt: skip


@pytest.mark.parametrize("name", BITS)
def test_sizes(name):
    """C0 elements fill one DataBlock of 32 bytes, lanes fill the eight blocks of a repeat."""
    kind = TYPES[name]
    assert kind.bits == BITS[name]
    assert kind.c0 * kind.bits == DATA_BLOCK_BYTES * 8 == 256
    assert kind.lanes == BLOCKS_PER_REPEAT * kind.c0
    assert str(kind) == kind.name == name
    if name != "int4":  # a whole byte in a NumPy array, half of one on the device
        assert kind.numpy.itemsize * 8 == kind.bits


def test_all_types_are_listed():
    """The table has these types and no other."""
    assert set(TYPES) == set(BITS)
    assert (TYPES["half"].c0, TYPES["int8"].c0, TYPES["int4"].c0, TYPES["float"].lanes) == (16, 32, 64, 64)
    assert (TYPES["half"].cpp, TYPES["int4"].cpp, TYPES["bfloat16"].cpp) == ("half", "int4b_t", "bfloat16_t")


@pytest.mark.parametrize("kind", TYPES.values(), ids=str)
def test_spellings(kind):
    """The document's name, NumPy's type and name, and the type itself are the same."""
    spellings = [kind, kind.name, kind.numpy, kind.numpy.type]
    if kind.name != "float":
        spellings.append(kind.numpy.name)
    for spelling in spellings:
        assert as_dtype(spelling) is kind


def test_float_means_float32():
    """In the documents float is 32 bits wide; Python's float, which NumPy takes for float64, is refused."""
    assert as_dtype("float") is as_dtype("float32") is as_dtype(np.float32) is TYPES["float"]
    for wrong in (float, "float64", np.float64, "double"):
        with pytest.raises(al.ParameterError, match=r"^dtype = .*one of int4, int8"):
            as_dtype(wrong)


@pytest.mark.parametrize(
    "wrong", [None, 3, "nope", "", int, bool, object, "O", "S3", "M8[s]", ">f2", np.dtype(">i4"), [("a", "u1")],
              b"half", np.float16(1), ml_dtypes.float8_e4m3, [], {}],
)  # fmt: skip
def test_what_is_no_type(wrong):
    """Other types, foreign byte orders, values and nonsense are refused with the list of types."""
    with pytest.raises(al.ParameterError, match=r"^dtype = .*one of int4, int8"):
        as_dtype(wrong)


def test_a_call_can_narrow_the_types():
    """What a call does not take is refused with what it takes, under the argument's own name."""
    assert as_dtype("half", ("half", "int8")).name == "half"
    with pytest.raises(al.ParameterError, match=r"^kind = 'float' .*one of half, int8$"):
        as_dtype("float", ("half", "int8"), parameter="kind")


def test_types_are_values():
    """Types compare by value and cannot be changed."""
    twin = DataType("half", "half", np.dtype(np.float16), 16)
    assert twin == TYPES["half"]
    assert hash(twin) == hash(TYPES["half"])
    with pytest.raises(AttributeError):
        TYPES["half"].bits = 8
