"""Load3D's parameter structures: the tables of the document."""

from __future__ import annotations

import pytest

import ascendlab as al
from ascendlab import LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam
from ascendlab.cpp import to_cpp
from ascendlab.fields import fields_of

# Name, C++ type, default and range, copied from tables 3 and 4 by hand; zeros that do nothing are legal.
V2_TABLE = [
    ("padList", "uint8_t", (0, 0, 0, 0), 0, 255),
    ("l1H", "uint16_t", ..., 0, 32767),
    ("l1W", "uint16_t", ..., 0, 32767),
    ("channelSize", "uint16_t", ..., 0, 65535),
    ("kExtension", "uint16_t", 0, 0, 65535),
    ("mExtension", "uint16_t", 0, 0, 65535),
    ("kStartPt", "uint16_t", 0, 0, 65535),
    ("mStartPt", "uint16_t", 0, 0, 65535),
    ("strideW", "uint8_t", 1, 1, 63),
    ("strideH", "uint8_t", 1, 1, 63),
    ("filterW", "uint8_t", 1, 0, 255),
    ("filterH", "uint8_t", 1, 0, 255),
    ("dilationFilterW", "uint8_t", 1, 1, 255),
    ("dilationFilterH", "uint8_t", 1, 1, 255),
    ("enTranspose", "bool", False, None, None),
    ("enSmallK", "bool", False, None, None),
    ("padValue", "T", 0, None, None),
    ("filterSizeW", "bool", False, None, None),
    ("filterSizeH", "bool", False, None, None),
    ("fMatrixCtrl", "bool", False, None, None),
]
V1_TABLE = [
    ("padList", "uint8_t", (0, 0, 0, 0), 0, 255),
    ("l1H", "uint16_t", ..., 1, 32767),
    ("l1W", "uint16_t", ..., 1, 32767),
    ("c1Index", "uint16_t", 0, 0, 4095),
    ("fetchFilterW", "uint8_t", 0, 0, 254),
    ("fetchFilterH", "uint8_t", 0, 0, 254),
    ("leftTopW", "int16_t", 0, -255, 32767),
    ("leftTopH", "int16_t", 0, -255, 32767),
    ("strideW", "uint8_t", 1, 1, 63),
    ("strideH", "uint8_t", 1, 1, 63),
    ("filterW", "uint8_t", 1, 1, 255),
    ("filterH", "uint8_t", 1, 1, 255),
    ("dilationFilterW", "uint8_t", 1, 1, 255),
    ("dilationFilterH", "uint8_t", 1, 1, 255),
    ("jumpStride", "uint8_t", 1, 1, 127),
    ("repeatMode", "uint8_t", 0, 0, 1),
    ("repeatTime", "uint8_t", 1, 1, 255),
    ("cSize", "uint8_t", 0, 0, 1),
    ("padValue", "T", 0, None, None),
]
REPEAT_TABLE = [
    ("repeatStride", "uint16_t", 0, 0, 65535), ("repeatTime", "uint8_t", 1, 0, 255), ("repeatMode", "uint8_t", 0, 0, 1),
    ("dstStride", "uint16_t", 0, 0, 65535),
]  # fmt: skip
TABLES = [(LoadData3DParamsV2, V2_TABLE), (LoadData3DParamsV1, V1_TABLE), (LoadDataRepeatParam, REPEAT_TABLE)]


@pytest.mark.parametrize(("cls", "table"), TABLES, ids=lambda value: getattr(value, "__name__", ""))
def test_structures_are_the_documents(cls, table) -> None:
    """Order, names, C++ types, ranges and defaults are the document's, and the range's ends are its ends."""
    required = {name: 8 for name, spec in fields_of(cls).items() if spec.required}
    for (name, spec), (document_name, cpp_type, default, low, high) in zip(fields_of(cls).items(), table, strict=True):
        assert (spec.document_name, spec.cpp_type) == (document_name, cpp_type)
        assert spec.required if default is ... else spec.default == default
        if low is None:
            continue
        wrap = (lambda value: (value,) * 4) if spec.length else (lambda value: value)
        for value in (low, high):
            assert getattr(cls(**{**required, name: wrap(value)}), name) == wrap(value)
        for value in (low - 1, high + 1):
            with pytest.raises(al.ParameterError, match=rf"^{document_name}(\[0\])? = {value} "):
                cls(**{**required, name: wrap(value)})


def test_v1_s_uninitialised_members_are_always_written() -> None:
    """C++ leaves these members of LoadData3DParamsV1 at an illegal zero, so code must set them."""
    always = {spec.document_name for spec in fields_of(LoadData3DParamsV1).values() if spec.always_emit}
    assert always == {"strideW", "strideH", "filterW", "filterH", "dilationFilterW", "dilationFilterH", "jumpStride",
                      "repeatTime"}  # fmt: skip


def test_parameter_objects_are_values() -> None:
    """Equal parameters are equal objects with equal hashes, whatever kind of list the padding was."""
    fields = {"l1_h": 3, "l1_w": 4, "channel_size": 16}
    one = LoadData3DParamsV2(**fields, pad_list=[1, 2, 3, 4], pad_value=1.0)
    two = LoadData3DParamsV2(**fields, pad_list=(1, 2, 3, 4), pad_value=1)
    assert one == two
    assert hash(one) == hash(two)
    assert one != LoadData3DParamsV2(**fields, pad_list=(1, 2, 3, 5), pad_value=1)


def test_code_sets_array_members_element_by_element() -> None:
    """C++ cannot assign an array: padList's elements are set one by one, and V1's uninitialised members always."""
    v1 = LoadData3DParamsV1(l1_h=3, l1_w=4, pad_list=(1, 0, 2, 0), left_top_w=-1, left_top_h=-2, pad_value=0.5)
    assert to_cpp(v1, dtype="half").splitlines() == [
        "AscendC::LoadData3DParamsV1<half> loadData3DParamsV1;",
        "loadData3DParamsV1.padList[0] = 1;",
        "loadData3DParamsV1.padList[2] = 2;",
        "loadData3DParamsV1.l1H = 3;",
        "loadData3DParamsV1.l1W = 4;",
        "loadData3DParamsV1.leftTopW = -1;",
        "loadData3DParamsV1.leftTopH = -2;",
        "loadData3DParamsV1.strideW = 1;",
        "loadData3DParamsV1.strideH = 1;",
        "loadData3DParamsV1.filterW = 1;",
        "loadData3DParamsV1.filterH = 1;",
        "loadData3DParamsV1.dilationFilterW = 1;",
        "loadData3DParamsV1.dilationFilterH = 1;",
        "loadData3DParamsV1.jumpStride = 1;",
        "loadData3DParamsV1.repeatTime = 1;",
        "loadData3DParamsV1.padValue = static_cast<half>(0.5);",
    ]
