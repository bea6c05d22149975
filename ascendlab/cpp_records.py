"""Variables of the documents' structures while C++ text is read: what was assigned, and what C++ starts with.

A `Record` knows what a declaration without assignments means in C++: each member's own default, or whatever the memory
held, which is no value at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ascendlab.aipp import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippPaddingParams,
    AippParams,
    AippSingleLineParams,
    AippSwapParams,
    LoadImageToLocalParams,
)
from ascendlab.capi.registers import Bits, Register
from ascendlab.cpp_capi import UNIONS
from ascendlab.cpp_constants import Constant, Unusable, convert
from ascendlab.cpp_tokens import Refusal, nearest
from ascendlab.dtypes import DataType
from ascendlab.errors import ParameterError, describe_value
from ascendlab.fields import UNINITIALISED, Field, Parameters, cpp_fields, fields_of
from ascendlab.load3d import IsResetLoad3dConfig, LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam
from ascendlab.vector import UnaryRepeatParams

__all__ = ["STRUCTURES", "Array", "Braces", "Item", "Record", "Union", "constant_of"]

_PARAMETERS: tuple[type[Parameters], ...] = (
    AippParams,
    AippPaddingParams,
    AippSwapParams,
    AippSingleLineParams,
    AippDataTypeConvParams,
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    LoadImageToLocalParams,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    IsResetLoad3dConfig,
    UnaryRepeatParams,
)
STRUCTURES: Mapping[str, type[Parameters] | type[Register]] = {
    **{structure.cpp_name: structure for structure in _PARAMETERS},
    **{register.document_name: register for register in UNIONS},
}
"""The structures and unions by their names in C++."""


@dataclass
class Array:
    """An array of constants of one type."""

    type: str
    values: list[Constant | None]


class Item(NamedTuple):
    """One initialiser: an expression's value or braces, the member that it names, and where it stands."""

    value: Any
    start: int
    member: str = ""


@dataclass
class Braces:
    """Initialisers in braces, or the arguments of a constructor."""

    items: list[Item]
    start: int


def constant_of(value: Any, kind: str, start: int) -> Constant:
    """Return an initialiser as a constant of a type; braces may stand around one."""
    if isinstance(value, Braces):
        if len(value.items) > 1 or any(item.member for item in value.items):
            raise Refusal(value.start, f"braces with {len(value.items)} values for one {kind}", "Write one value.")
        value = value.items[0].value if value.items else Constant(0, "int32_t")
    if isinstance(value, Constant):
        try:
            return convert(value, kind)
        except Unusable as error:
            raise Refusal(start, error.problem, error.fix) from None
    raise Refusal(start, f"this is no constant of type {kind}", "Write a number, or a constant declared before.")


def _expand(braces: Braces, members: Mapping[str, str]) -> list[tuple[str, Item]]:
    """Say which member each initialiser is for; `members` maps the names in C++ to those in Python, in order."""
    if any(item.member for item in braces.items):
        for item in braces.items:
            if not item.member:
                raise Refusal(item.start, "values with and without a name", "Name all members, or none.")
            if item.member not in members:
                raise Refusal(item.start, f"there is no member {item.member[:60]}", nearest(item.member, members))
        return [(members[item.member], item) for item in braces.items]
    if len(braces.items) > len(members):
        most = f"It has {len(members)} members: {', '.join(members)}."
        raise Refusal(braces.items[len(members)].start, f"{len(braces.items)} values are too many", most)
    return list(zip(members.values(), braces.items, strict=False))


@dataclass
class Record:
    """A variable of one of the documents' structures.

    Parameters
    ----------
    structure : type
        The parameter class.
    template : DataType or None
        What ``T`` is, if that is known.
    start : int
        Where it is declared.
    zeroed : bool
        Whether braces were there, or ``static``: C++ then clears what has no default of its own.
    """

    structure: type[Parameters]
    template: DataType | None
    start: int
    zeroed: bool = False
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, spec in fields_of(self.structure).items():
            if spec.structure is not None:
                self.values[name] = Record(spec.structure, self.template, self.start, self.zeroed)
            elif spec.length:
                self.values[name] = [None] * spec.length

    def cleared(self) -> Record:
        """Return a new variable of the same type, as braces begin it."""
        return Record(self.structure, self.template, self.start, zeroed=True)

    def copy(self) -> Record:
        """Return a variable with the same members."""
        other = Record(self.structure, self.template, self.start, self.zeroed, places=dict(self.places))
        for name, value in self.values.items():
            other.values[name] = value.copy() if isinstance(value, (Record, list)) else value
        return other

    @property
    def type(self) -> str:
        """Its type in C++."""
        name = self.structure.cpp_name
        return f"{name}<{self.template.cpp if self.template else 'T'}>" if self.structure.template else name

    def fill(self, braces: Braces) -> None:
        """Take the initialisers of a declaration."""
        members = {spec.document_name: name for name, spec in cpp_fields(self.structure).items()}
        for name, item in _expand(braces, members):
            self.set(name, item.value, item.start, initial=True)

    def member(self, name: str, start: int) -> str:
        """Return the Python name of a member."""
        members = {spec.document_name: python for python, spec in fields_of(self.structure).items()}
        if name not in members:
            fix = nearest(name, members)
            raise Refusal(start, f"{self.structure.cpp_name} has no member {name[:60]}", fix)
        return members[name]

    def set(self, name: str, value: Any, start: int, *, initial: bool = False) -> None:
        """Assign to a member."""
        spec = fields_of(self.structure)[name]
        if spec.structure is not None:
            self.values[name] = self._nested(spec, value, start)
        elif spec.length:
            if not initial:
                fix = f"Assign to {spec.document_name}[0] to [{spec.length - 1}], or initialise the variable."
                raise Refusal(start, f"{spec.document_name} is an array, which C++ cannot assign", fix)
            self.values[name] = self._elements(spec, value, start)
        else:
            self.values[name] = self._scalar(spec, value, start)
            self.places[spec.document_name] = start

    def set_element(self, name: str, index: Constant, value: Any, start: int) -> None:
        """Assign to an element of an array member."""
        spec = fields_of(self.structure)[name]
        number = constant_of(index, "int64_t", start).value
        if not 0 <= number < max(spec.length, 1) or not spec.length:
            what = f"elements [0] to [{spec.length - 1}]" if spec.length else "no elements"
            raise Refusal(start, f"[{number}] is outside: {spec.document_name} has {what}", "Write another index.")
        self.values[name][number] = self._scalar(spec, value, start, f"[{number}]")

    def _nested(self, spec: Field, value: Any, start: int) -> Record:
        assert spec.structure is not None
        if isinstance(value, Braces):
            nested = Record(spec.structure, self.template, start, zeroed=True)
            nested.fill(value)
            return nested
        if isinstance(value, Record) and value.structure is spec.structure:
            if value.template is not None and self.template is not None and value.template != self.template:
                raise Refusal(start, f"a value of type {value.type}", f"The types must be equal: {self.template.cpp}.")
            return value.copy()
        raise Refusal(
            start, f"{spec.document_name} is a {spec.structure.cpp_name}", "Assign to its members, or a variable."
        )

    def _elements(self, spec: Field, value: Any, start: int) -> list[Any]:
        if isinstance(value, Array):
            items = [Item(element, start) for element in value.values]
        elif isinstance(value, Braces) and not any(item.member for item in value.items):
            items = value.items
        else:
            raise Refusal(
                start, f"{spec.document_name} is an array", f"Write {spec.length} values in braces of their own."
            )
        if len(items) > spec.length:
            raise Refusal(start, f"{len(items)} values for {spec.document_name}", f"It has {spec.length} elements.")
        # C++ clears the elements that braces leave out.
        items = [*items, *[Item(Constant(0, "int32_t"), start)] * (spec.length - len(items))]
        return [self._scalar(spec, item.value, item.start, f"[{i}]") for i, item in enumerate(items)]

    def _scalar(self, spec: Field, value: Any, start: int, index: str = "") -> Any:
        """Return a value in the member's type, checked against what the document allows."""
        kind = spec.cpp_type
        if kind == "T":
            kind = self.template.cpp if self.template else "double"
        try:
            number = constant_of(value, kind, start).value
        except Refusal as refusal:
            problem = f"{spec.document_name}{index}: {refusal.problem}"
            raise Refusal(refusal.start, problem, refusal.fix) from None
        try:
            return _checked(spec, number)
        except ParameterError as error:
            where = f" ({error.table})" if error.table else ""
            name = f"{spec.document_name}{index}"
            problem = f"{name} = {describe_value(error.value)} is not allowed"
            raise Refusal(start, problem, f"Allowed: {error.allowed}{where}.") from None

    def build(self, path: str) -> Parameters:
        """Return the parameter object, or say which members C++ leaves without a value that is allowed."""
        values: dict[str, Any] = {}
        missing: list[str] = []
        for name, spec in fields_of(self.structure).items():
            value = self.values.get(name)
            if isinstance(value, Record):
                values[name] = value.build(f"{path}.{spec.document_name}")
            elif spec.length:
                values[name] = tuple(spec.cpp_start[i] if each is None else each for i, each in enumerate(value or ()))
            elif value is not None:
                values[name] = value
            else:
                values[name] = start = 0 if self.zeroed and spec.cpp_start is UNINITIALISED else spec.cpp_start
                missing += _missing(spec, start)
        if missing:
            raise Refusal(self.start, f"{path} leaves members without a value: {'; '.join(missing)}", "Assign to them.")
        try:
            return self.structure(**values)
        except ParameterError as error:
            start = self.places.get(error.parameter, self.start)
            problem = f"{error.parameter} = {describe_value(error.value)} is not allowed"
            raise Refusal(start, problem, f"Allowed: {error.allowed}. {error.hint}".rstrip()) from None


def _checked(spec: Field, value: Any) -> Any:
    """Check one value, or one element of an array."""
    if spec.length:
        wrapped: Any = spec.check((value,) * spec.length)
        return wrapped[0]
    return spec.check(value)


def _missing(spec: Field, start: Any) -> list[str]:
    """Say what is wrong with a member that nobody has assigned to."""
    if start is UNINITIALISED:
        return [f"{spec.document_name} (C++ does not initialise it)"]
    try:
        spec.check(start)
    except ParameterError as error:
        return [f"{spec.document_name} (C++ starts it at {start}; allowed: {error.allowed})"]
    return []


@dataclass
class Union:
    """A variable of one of the C API's unions."""

    register: Register
    start: int

    @property
    def type(self) -> str:
        """Its type in C++."""
        return self.register.document_name

    @property
    def members(self) -> dict[str, str]:
        """The names that the union has, the raw word first."""
        layout = type(self.register).layout()
        return {name: name for name in ("config", *(bits.name for bits in layout if bits.in_union))}

    def cleared(self) -> Union:
        """Return a new variable of the same type."""
        return Union(type(self.register)(), self.start)

    def build(self, path: str) -> Register:
        """Return the register."""
        return self.register

    def copy(self) -> Union:
        """Return a variable with the same word."""
        return Union(self.register.copy(), self.start)

    def fill(self, braces: Braces) -> None:
        """Take the initialiser of a declaration: braces without a name initialise a union's first member."""
        if len(braces.items) > 1:
            raise Refusal(braces.start, "a union takes one value", "Assign to its members one by one.")
        for name, item in _expand(braces, self.members):
            self.set(name, item.value, item.start)

    def set(self, name: str, value: Any, start: int) -> None:
        """Assign to a member, which leaves the other bits as they are."""
        if name not in self.members:
            hidden = isinstance(getattr(type(self.register), name, None), Bits)
            fix = "The C API has no name for these bits: assign to config." if hidden else nearest(name, self.members)
            raise Refusal(start, f"{self.type} has no member {name[:60]}", fix)
        number = constant_of(value, "uint64_t", start).value
        bits = getattr(type(self.register), name)
        if isinstance(bits, Bits) and number >= 1 << bits.width:
            allowed = f"{name} has {bits.width} bits: [0, {(1 << bits.width) - 1}]."
            raise Refusal(start, f"{name} = {number} is not allowed", allowed)
        setattr(self.register, name, number)
