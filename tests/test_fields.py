"""The tables of fields: what each says, and what the constructors make of it."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import ascendlab as al
from ascendlab.fields import (
    HALF_MAX,
    REQUIRED,
    Parameters,
    check_bool,
    check_int,
    check_real,
    field,
    fields_of,
    structure,
)

CLASSES = [c for c in (getattr(al, name) for name in al.__all__) if inspect.isclass(c) and issubclass(c, Parameters)]
EVERY_FIELD = [
    pytest.param(cls, name, spec, id=f"{cls.__name__}.{name}")
    for cls in CLASSES
    for name, spec in fields_of(cls).items()
]
SCALARS = [p for p in EVERY_FIELD if p.values[2].structure is None and not p.values[2].length]


def lowest(spec):
    """Return the lowest legal value of a field's own range."""
    if spec.length:
        return (int(spec.low or 0),) * spec.length
    return 0 if spec.low is None else int(spec.low)


def make(cls, **values):
    """Make an object with the required fields at their lowest."""
    required = {name: lowest(spec) for name, spec in fields_of(cls).items() if spec.required}
    return cls(**{**required, **values})


# The document's names, types and defaults, copied from the tables 3 to 8 by hand.
DOCUMENT = {
    al.AippPaddingParams: [
        ("paddingMode", "uint32_t", 0), ("paddingValueCh0", "T", 0), ("paddingValueCh1", "T", 0),
        ("paddingValueCh2", "T", 0), ("paddingValueCh3", "T", 0),
    ],
    al.AippSwapParams: [("isSwapRB", "bool", False), ("isSwapUV", "bool", False), ("isSwapAX", "bool", False)],
    al.AippSingleLineParams: [("isSingleLineCopy", "bool", False)],
    al.AippDataTypeConvParams: [
        ("dtcMeanCh0", "uint8_t", 0), ("dtcMeanCh1", "uint8_t", 0), ("dtcMeanCh2", "uint8_t", 0),
        ("dtcMinCh0", "half", 0), ("dtcMinCh1", "half", 0), ("dtcMinCh2", "half", 0),
        ("dtcVarCh0", "half", 1), ("dtcVarCh1", "half", 1), ("dtcVarCh2", "half", 1), ("dtcRoundMode", "uint32_t", 0),
    ],
    al.AippChannelPaddingParams: [("cPaddingMode", "uint32_t", 0), ("cPaddingValue", "T", 0)],
    al.AippColorSpaceConvParams: [
        ("isEnableCsc", "bool", False),
        *[(f"cscMatrixR{r}C{c}", "int16_t", 0) for r in range(3) for c in range(3)],
        *[(f"cscBiasIn{i}", "uint8_t", 0) for i in range(3)],
        *[(f"cscBiasOut{i}", "uint8_t", 0) for i in range(3)],
    ],
    al.AippParams: [
        ("paddingParams", "AippPaddingParams", REQUIRED), ("swapParams", "AippSwapParams", REQUIRED),
        ("singleLineParams", "AippSingleLineParams", REQUIRED), ("dtcParams", "AippDataTypeConvParams", REQUIRED),
        ("cPaddingParams", "AippChannelPaddingParams", REQUIRED), ("cscParams", "AippColorSpaceConvParams", REQUIRED),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cls", DOCUMENT, ids=lambda c: c.__name__)
def test_aipp_structures_are_the_documents(cls):
    """Order, names, C++ types and defaults are the document's, and each default is a legal value."""
    specs = fields_of(cls)
    assert [(s.document_name, s.cpp_type, s.default) for s in specs.values()] == DOCUMENT[cls]
    made = cls()
    for name, spec in specs.items():
        if spec.structure is not None:
            assert getattr(made, name) == spec.structure()
        else:
            assert getattr(made, name) == spec.default


@pytest.mark.parametrize(("cls", "name", "spec"), EVERY_FIELD)
def test_snake_case_names_lead_back_to_the_document(cls, name, spec):
    """A Python name is the document's in snake_case: letters and digits agree, in order."""
    assert name.replace("_", "") == spec.document_name.replace("_", "").lower()
    assert spec.meaning.endswith(".")
    assert spec.document_name in cls.__doc__


@pytest.mark.parametrize(("cls", "name", "spec"), SCALARS)
def test_a_field_keeps_its_range(cls, name, spec):
    """Values beside the documented range are refused under the document's name; bool fields take bools alone."""
    if spec.cpp_type == "bool":
        legal = (False, np.False_) if name in ("en_small_k", "f_matrix_ctrl") else (True, np.False_)
        assert [getattr(make(cls, **{name: value}), name) for value in legal] == list(legal)
        wrong = [0, 1, None, "True"]
    elif spec.cpp_type == "half":
        assert getattr(make(cls, **{name: HALF_MAX}), name) == HALF_MAX
        wrong = [HALF_MAX + 16, -HALF_MAX - 16, float("nan"), float("inf"), True, "1", None]
    elif spec.cpp_type == "T":
        wrong = [float("nan"), float("inf"), True, "1", None, 2**70 if spec.high is None else 2**200]
    else:
        wrong = [spec.low - 1, spec.high + 1, 0.0, 1.0, True, "1", None, float("nan")]
    for value in wrong:
        with pytest.raises(al.ParameterError) as caught:
            make(cls, **{name: value})
        assert caught.value.parameter == spec.document_name
        assert caught.value.value is value
        assert caught.value.table == spec.table


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_parameter_classes_are_frozen_values(cls):
    """Parameter objects are keyword-friendly values: frozen, comparable, hashable, replaceable with checks."""
    made = make(cls)
    assert made == make(cls)
    assert hash(made) == hash(make(cls))
    name = next(iter(fields_of(cls)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, name, None)
    with pytest.raises(al.ParameterError):
        dataclasses.replace(made, **{name: "nonsense"})
    assert cls.cpp_name


def test_structures_take_structures_only():
    """A member that is a structure takes an instance of that structure, no mapping and no other one."""
    for wrong in ({}, None, al.AippSwapParams(), al.AippPaddingParams):
        with pytest.raises(al.ParameterError, match=r"^paddingParams = .*an instance of AippPaddingParams"):
            al.AippParams(padding_params=wrong)


def test_constants_are_any_number_until_the_type_is_known():
    """A field of the template type keeps whole numbers as int, others as float, and a half's negative zero."""
    for given, stored in ((3.0, 3), (np.float16(2.5), 2.5), (np.int8(-7), -7), (ml_dtypes.bfloat16(1.5), 1.5)):
        kept = al.AippPaddingParams(padding_value_ch0=given).padding_value_ch0
        assert kept == stored
        assert type(kept) is type(stored)
    assert str(al.AippPaddingParams(padding_value_ch0=-0.0).padding_value_ch0) == "-0.0"


def test_check_int():
    """Python's and NumPy's integers in the range, ends included, become int; nothing else does."""
    for good in (2, 5, np.uint8(3), np.int64(5)):
        assert check_int("n", good, 2, 5) == good
        assert type(check_int("n", good, 2, 5)) is int
    for wrong in (1, 6, True, np.True_, 3.0, np.float64(3), "3", None, np.timedelta64(3, "s"), np.array(3), 10**5000):
        with pytest.raises(al.ParameterError, match=r"^n = .*an integer in \[2, 5\]"):
            check_int("n", wrong, 2, 5)


def test_check_bool():
    """Python's and NumPy's bools; 0 and 1 are numbers."""
    assert check_bool("b", np.True_) is True
    for wrong in (0, 1, None, "", np.int8(1), np.array(True)):
        with pytest.raises(al.ParameterError, match=r"^b = .*True or False"):
            check_bool("b", wrong)


def test_check_real():
    """Real numbers of any make, finite and in the range, become float; bools, texts, times, complex numbers do not."""
    for good in (2, -2, 0.5, np.float16(0.5), np.int8(1), np.longdouble(1), ml_dtypes.bfloat16(0.5), np.float64(2)):
        assert check_real("x", good, -2, 2) == float(good)
        assert type(check_real("x", good, -2, 2)) is float
    wrong = [
        2.5, float("nan"), float("inf"), True, np.True_, "1", b"1", np.str_("1"), np.bytes_(b"1"), 1j, np.complex64(1),
        np.timedelta64(1, "s"), np.datetime64("2020-01-01"), None, [1.0], np.array(1.0), 10**5000, np.float16("nan"),
        ml_dtypes.bfloat16("inf"),
    ]  # fmt: skip
    for value in wrong:
        with pytest.raises(al.ParameterError, match=r"^x = .*a finite number in \[-2, 2\]"):
            check_real("x", value, -2, 2)


@structure
@dataclass(frozen=True, kw_only=True)
class Sample(Parameters):
    """A structure for these tests.

    Examples
    --------
    >>> Sample(count=1).count
    1
    """

    count: int = field("count", "uint8_t", "How many.", high=9, table="table 1", unit="items")
    sizes: tuple[int, ...] = field("sizes", "uint16_t", "Sizes.", default=(1, 2), length=2, high=7)
    mode: int = field("mode", "uint32_t", "Mode.", default=0, high=1, choices={0: "off", 1: "on"})
    scale: float = field("scale", "half", "Scale.", default=1.0)


def test_a_structures_docstring_is_numpydoc():
    """The table of fields becomes a Parameters section before Examples, with ranges, units, defaults and names."""
    doc = inspect.getdoc(Sample)
    assert doc.index("Parameters\n----------") < doc.index("Examples\n--------")
    assert doc.count("Parameters\n----------") == 1
    assert "count : uint8_t\n    How many. [0, 9] items. Document: ``count``, table 1." in doc
    assert "sizes : uint16_t[2], optional" in doc
    assert "0: off; 1: on." in doc
    assert "scale : half, optional\n    Scale. [-65504, 65504]. Default 1.0." in doc


def test_array_members_are_tuples_checked_one_by_one():
    """An array member takes a list, tuple or 1-D array of the right length and names a bad element by its index."""
    for good in ([3, 7], (3, 7), np.array([3, 7])):
        assert Sample(count=0, sizes=good).sizes == (3, 7)
    with pytest.raises(al.ParameterError, match=r"^sizes\[1\] = 8 .*\[0, 7\]"):
        Sample(count=0, sizes=[1, 8])
    for wrong in (3, [1], [1, 2, 3], "12", None, np.zeros((2, 2), int), np.array(3), {1: 2, 3: 4}):
        with pytest.raises(al.ParameterError, match=r"^sizes = .*2 values, each \[0, 7\]"):
            Sample(count=0, sizes=wrong)


def test_required_fields_have_no_default():
    """A field that the caller must give says so, and the constructor insists."""
    assert fields_of(Sample)["count"].required
    assert not fields_of(Sample)["mode"].required
    assert repr(REQUIRED) == "REQUIRED"
    with pytest.raises(TypeError, match="count"):
        Sample()
    assert [name for name, spec in fields_of(al.LoadImageToLocalParams).items() if spec.required] == [
        "horiz_size",
        "vert_size",
        "src_horiz_size",
    ]
