"""One table of fields per structure of the documents.

A parameter object is a frozen, keyword-only dataclass whose fields are made by `field`.  What stands there
(name in the document, C++ type, range, default, meaning) is written once and serves four readers: the
constructor's checks, the docstring, the Ascend C code and the explorers' controls.

>>> from ascendlab import AippPaddingParams
>>> spec = fields_of(AippPaddingParams)["padding_mode"]
>>> spec.document_name, spec.cpp_type, spec.low, spec.high, spec.default
('paddingMode', 'uint32_t', 0, 3, 0)
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from ascendlab.errors import ParameterError

__all__ = [
    "HALF_MAX",
    "REQUIRED",
    "UNINITIALISED",
    "Field",
    "Parameters",
    "argument",
    "check_bool",
    "check_int",
    "check_real",
    "cpp_fields",
    "field",
    "fields_of",
    "is_default",
    "same_value",
    "structure",
]

HALF_MAX = 65504.0
_NO_REAL_NUMBERS = (bool, np.bool_, np.flexible, np.complexfloating, np.datetime64, np.timedelta64)
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()
UNINITIALISED: Any = type("Uninitialised", (), {"__repr__": lambda self: "UNINITIALISED"})()


def check_int(name: str, value: object, low: int, high: int, *, table: str = "", hint: str = "") -> int:
    """Return `value` as a Python int in ``[low, high]``; a bool is not an int."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64)) and low <= value <= high:
        return int(value)
    raise ParameterError(name, value, f"an integer in [{low}, {high}]", table=table, hint=hint)


def check_bool(name: str, value: object, *, table: str = "") -> bool:
    """Return `value` as a Python bool; 0 and 1 are not bools."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ParameterError(name, value, "True or False", table=table)


def check_real(name: str, value: object, low: float, high: float, *, table: str = "", hint: str = "") -> float:
    """Return `value` as a Python float in ``[low, high]``; NaN and infinities are refused."""
    # ml_dtypes' scalars are generic and nothing else; so are NumPy's texts, times and complex numbers, to be kept out.
    if isinstance(value, (numbers.Real, np.generic)) and not isinstance(value, _NO_REAL_NUMBERS):
        try:
            number = float(value)
        except Exception:  # overflow, mostly; any failure means that this is no usable number
            number = math.nan
        if low <= number <= high:
            return number
    raise ParameterError(name, value, f"a finite number in [{low:g}, {high:g}]", table=table, hint=hint)


@dataclass(frozen=True)
class Field:
    """What the document says about one member of a structure.

    Parameters
    ----------
    document_name : str
        The member's name in C++.
    cpp_type : str
        Its C++ type; ``"T"`` stands for the structure's template type, which the call knows.
    meaning : str
        One sentence.
    low, high : number, optional
        Documented range, ends included.
    default : object
        Python default; `REQUIRED` where the caller must say.
    table : str
        Where the document describes it.
    unit : str, optional
        For instance ``"pixels"``.
    choices : mapping, optional
        Meaning of each value, for modes.
    cpp_default : object, optional
        What the C++ structure starts this member with, where that is not `default` (zero, for a required one);
        `UNINITIALISED` where it leaves whatever the memory held.
    always_emit : bool, optional
        Code sets this member even to its default, since C++ starts it with something else, or with a value that the
        document does not allow.
    structure : type, optional
        The class of a member that is a structure itself.
    length : int, optional
        Elements of a member that is an array, each of `cpp_type`; kept as a tuple.
    """

    document_name: str
    cpp_type: str
    meaning: str
    low: float | None = None
    high: float | None = None
    default: Any = REQUIRED
    table: str = ""
    unit: str = ""
    choices: Mapping[int, str] | None = None
    cpp_default: Any = None
    always_emit: bool = False
    structure: type[Any] | None = None
    length: int = 0

    @property
    def required(self) -> bool:
        """Whether the caller must give a value."""
        return self.default is REQUIRED and self.structure is None

    @property
    def cpp_start(self) -> Any:
        """What this member holds in a C++ variable that nobody has assigned to; see `cpp_default`.

        >>> argument("repeatTime", "uint8_t", "Repeats.", default=1, cpp_default=0).cpp_start
        0
        """
        if self.cpp_default is not None:
            return self.cpp_default
        return 0 if self.required else self.default

    @property
    def range_text(self) -> str:
        """The documented range in words, for docstrings and controls."""
        if self.choices:
            return "; ".join(f"{value}: {text}" for value, text in self.choices.items())
        if self.cpp_type == "T":
            return "in the output type's range"
        if self.low is None or self.high is None:
            return ""
        return f"[{self.low:g}, {self.high:g}]" if self.cpp_type == "half" else f"[{self.low}, {self.high}]"

    def check(self, value: object) -> Any:
        """Return `value` in its stored form, or raise `ParameterError`."""
        name, table = self.document_name, self.table
        if self.structure is not None:
            if isinstance(value, self.structure):
                return value
            raise ParameterError(name, value, f"an instance of {self.structure.__name__}", table=table)
        if self.length:
            return self._check_array(value)
        if self.cpp_type == "bool":
            return check_bool(name, value, table=table)
        if self.cpp_type == "half":
            return float(np.float16(check_real(name, value, -HALF_MAX, HALF_MAX, table=table)))
        if self.cpp_type == "T":
            # The range belongs to the data's type, which only the call knows; here: any number that some type holds.
            low = -HALF_MAX if self.low is None else self.low
            high = HALF_MAX if self.high is None else self.high
            number = check_real(name, value, low, high, table=table)
            if number == 0 and math.copysign(1, number) < 0:
                return number  # half has a negative zero
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        assert self.low is not None
        assert self.high is not None
        return check_int(name, value, int(self.low), int(self.high), table=table)

    def _check_array(self, value: object) -> tuple[Any, ...]:
        """Return an array member as a tuple of checked elements."""
        if (
            isinstance(value, (list, tuple, np.ndarray))
            and getattr(value, "ndim", 1) == 1
            and len(value) == self.length
        ):
            elements = (
                dataclasses.replace(self, document_name=f"{self.document_name}[{i}]", length=0)
                for i in range(self.length)
            )
            return tuple(element.check(item) for element, item in zip(elements, value, strict=True))
        allowed = f"{self.length} values, each {self.range_text}"
        raise ParameterError(self.document_name, value, allowed, table=self.table)


_INTEGER_RANGES = {
    "uint8_t": (0, 2**8 - 1),
    "int8_t": (-(2**7), 2**7 - 1),
    "uint16_t": (0, 2**16 - 1),
    "int16_t": (-(2**15), 2**15 - 1),
    "uint32_t": (0, 2**32 - 1),
    "uint64_t": (0, 2**64 - 1),
}


def same_value(value: Any, default: Any) -> bool:
    """Whether two members are equal to the last bit: a negative zero is not zero.

    >>> same_value(0, 0.0), same_value(-0.0, 0), same_value((1, 2), (1, 2))
    (True, False, True)
    """
    if value == default == 0:
        return math.copysign(1, value) == math.copysign(1, default)
    return bool(value == default)


def is_default(spec: Field, value: Any) -> bool:
    """Whether a member has its default value, so that code need not write it."""
    if spec.structure is None:
        return not spec.required and same_value(value, spec.default)
    return all(is_default(part, getattr(value, name)) for name, part in fields_of(spec.structure).items())


def argument(document_name: str, cpp_type: str, meaning: str, *, default: Any = REQUIRED, **more: Any) -> Field:
    """Describe one plain argument of a call (see `Field` for the arguments).

    Integers without a narrower documented range get their C++ type's range.

    Examples
    --------
    >>> argument("repeatTime", "uint8_t", "Number of repeats.").range_text
    '[0, 255]'
    """
    if cpp_type in _INTEGER_RANGES:
        low, high = _INTEGER_RANGES[cpp_type]
        more = {"low": low, "high": high, **more}
    if cpp_type == "half":
        more = {"low": -HALF_MAX, "high": HALF_MAX, **more}
    return Field(document_name, cpp_type, meaning, default=default, **more)


def field(document_name: str, cpp_type: str, meaning: str, *, default: Any = REQUIRED, **more: Any) -> Any:
    """Declare one member of a parameter structure, described as `argument` does."""
    spec = argument(document_name, cpp_type, meaning, default=default, **more)
    if spec.structure is not None:
        return dataclasses.field(default_factory=spec.structure, metadata={"spec": spec})
    if spec.required:
        return dataclasses.field(metadata={"spec": spec})
    return dataclasses.field(default=default, metadata={"spec": spec})


class Parameters:
    """Base of the parameter objects: checks every field against its `Field` when the object is made."""

    cpp_name: ClassVar[str] = ""
    template: ClassVar[bool] = False
    # Python names in the order of C++'s declaration, where the table below has another.
    cpp_order: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, spec in fields_of(type(self)).items():
            object.__setattr__(self, name, spec.check(getattr(self, name)))


P = TypeVar("P", bound=type[Parameters])


def fields_of(cls: type[Parameters]) -> Mapping[str, Field]:
    """Map each field's Python name to its `Field`, in the document's order."""
    # mypy takes classes that lack __hash__ on their instances for unhashable themselves.
    return _table(cast(Hashable, cls))


def cpp_fields(cls: type[Parameters]) -> Mapping[str, Field]:
    """Map each field's Python name to its `Field`, in the order in which braces initialise the C++ structure."""
    table = fields_of(cls)
    return {name: table[name] for name in cls.cpp_order} if cls.cpp_order else table


@functools.cache
def _table(cls: Any) -> Mapping[str, Field]:
    return MappingProxyType({f.name: f.metadata["spec"] for f in dataclasses.fields(cls)})


def structure(cls: P) -> P:
    """Complete a parameter class: append the table of its fields to the docstring, in numpydoc form."""
    lines = [(cls.__doc__ or "").rstrip(), "", "    Parameters", "    ----------"]
    for name, spec in fields_of(cls).items():
        kind = spec.cpp_type if spec.structure is None else spec.structure.__name__
        kind += f"[{spec.length}]" if spec.length else ""
        optional = "" if spec.required else ", optional"
        lines.append(f"    {name} : {kind}{optional}")
        details = [spec.meaning]
        if spec.range_text:
            details.append(f"{spec.range_text}{' ' + spec.unit if spec.unit else ''}.")
        if not spec.required and spec.structure is None:
            details.append(f"Default {spec.default}.")
        details.append(f"Document: ``{spec.document_name}``{', ' + spec.table if spec.table else ''}.")
        lines.append("        " + " ".join(details))
    head, marker, tail = "\n".join(lines).partition("    Examples\n")
    if marker:
        # numpydoc wants Parameters before Examples; the class body can only write Examples.
        examples, _, table = tail.partition("\n    Parameters\n")
        head = f"{head.rstrip()}\n\n    Parameters\n{table.rstrip()}\n\n    Examples\n{examples.rstrip()}"
    cls.__doc__ = head.rstrip() + "\n    "
    if not cls.cpp_name:
        cls.cpp_name = cls.__name__
    return cls
