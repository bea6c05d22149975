"""Constants of C++ and what may be done with them: literals, conversions, a little arithmetic.

A value keeps its type, and whatever C++ would silently cut, wrap around or leave undefined is refused.

>>> binary("*", number("16"), number("2U"))
Constant(value=32, type='uint32_t')
>>> convert(number("0.1"), "half").value
0.0999755859375
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendlab.aipp import AippInputFormat
from ascendlab.dtypes import TYPES
from ascendlab.errors import describe_value

__all__ = ["ENUMS", "NAMED", "SIZES", "Constant", "Unusable", "binary", "convert", "number", "unary"]

_BITS = (8, 16, 32, 64)
_INTEGERS: Mapping[str, tuple[int, int]] = {
    "int4b_t": (-8, 7),
    **{f"int{bits}_t": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in _BITS},
    **{f"uint{bits}_t": (0, 2**bits - 1) for bits in _BITS},
}
_FLOATS: Mapping[str, np.dtype[Any]] = {
    "double": np.dtype(np.float64),
    **{kind.cpp: kind.numpy for kind in TYPES.values() if kind.cpp not in _INTEGERS},
}

ENUMS = {"AippInputFormat": AippInputFormat}
"""The documents' enumerations."""

SIZES: Mapping[str, int] = {
    **{name: int(re.sub(r"\D", "", name)) // 8 for name in _INTEGERS if name != "int4b_t"},
    **{name: dtype.itemsize for name, dtype in _FLOATS.items()},
    "bool": 1,
    "AippInputFormat": 1,
}
"""What sizeof says, in bytes."""

_LONGEST = 1100  # characters of a number: a double that is written out exactly has fewer
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uU]?(?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU])")
_FLOAT = re.compile(r"((?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?)([fFlL]?)")
_HEX_FLOAT = re.compile(r"(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)([fFlL]?)")


class Unusable(Exception):  # noqa: N818 (never leaves the reader)
    """A constant that C++ or this library cannot use there: what is wrong, and what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.fix = problem, fix


@dataclass(frozen=True)
class Constant:
    """A value and its C++ type."""

    value: Any
    type: str


NAMED = {
    "true": Constant(True, "bool"),
    "false": Constant(False, "bool"),
    **{f"{name[:-2].upper()}_MAX": Constant(high, name) for name, (_, high) in _INTEGERS.items() if name != "int4b_t"},
}
"""Constants that have a name."""


def number(text: str) -> Constant:
    """Read a literal: decimal, hexadecimal, octal, binary or with a fraction, with separators and suffixes.

    >>> number("1'000"), number("0x10ULL"), number("1.5f")
    (Constant(value=1000, type='int32_t'), Constant(value=16, type='uint64_t'), Constant(value=1.5, type='float'))
    """
    if len(text) > _LONGEST:
        raise Unusable(f"a number of {len(text):,} characters", "No type here holds so many digits.")
    digits = text.replace("'", "")
    if found := _INTEGER.fullmatch(digits):
        return _integer(text, found[1].lower(), found[2].lower())
    if found := _FLOAT.fullmatch(digits) or _HEX_FLOAT.fullmatch(digits):
        try:
            value = float.fromhex(found[1]) if found[1][:2] in ("0x", "0X") else float(found[1])
        except OverflowError:
            value = math.inf
        constant = Constant(value, "double")
        if not math.isfinite(value):
            raise Unusable(
                f"{_short(text)} is larger than any number of type double", "Write a number that a type holds."
            )
        return convert(constant, "float") if found[2] in ("f", "F") else constant
    raise Unusable(
        f"{_short(text)} is no number of C++", "Write for instance 16, 0x10, 0b101, 1'000, 2ULL, 0.5 or 1e-3f."
    )


def _integer(text: str, digits: str, suffix: str) -> Constant:
    base = {"0x": 16, "0b": 2}.get(digits[:2], 8 if digits[0] == "0" else 10)
    try:
        value = int(digits[2:] if base in (16, 2) else digits, base)
    except ValueError:  # 8 or 9 behind a leading zero
        raise Unusable(f"{text} begins with 0 and is no octal number", "Leave the leading zero out.") from None
    unsigned = "u" in suffix
    for name in ("int32_t", "uint32_t", "int64_t", "uint64_t"):
        signed, wide = name[0] == "i", name[-4:-2] == "64"
        # A decimal number becomes unsigned only by its suffix, the others when they need to.
        possible = not unsigned if signed else unsigned or base != 10
        if possible and value <= _INTEGERS[name][1] and (wide or "l" not in suffix):
            return Constant(value, name)
    raise Unusable(
        f"{_short(text)} does not fit into 64 bits", "Write ULL behind a number from 2^63 on; 2^64 - 1 is the largest."
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}...{text[-10:]}"


def convert(constant: Constant, kind: str, *, explicit: bool = False) -> Constant:
    """Give a constant another type, if that changes nothing but its rounding.

    Parameters
    ----------
    constant : Constant
        Of any type.
    kind : str
        The C++ type.
    explicit : bool, optional
        By a cast, which enumerations need.
    """
    value = constant.value
    if (kind in ENUMS or constant.type in ENUMS) and kind != constant.type:
        if not explicit:
            raise Unusable(f"a value of type {constant.type} is no {kind} by itself", "Write a cast.")
        if kind in ENUMS and value not in {int(member) for member in ENUMS[kind]}:
            raise Unusable(f"{value!r} is no value of {kind}", f"It has {', '.join(m.name for m in ENUMS[kind])}.")
    if kind == constant.type or kind in ENUMS:
        return Constant(value, kind)
    if kind in _FLOATS:
        with np.errstate(over="ignore"):  # an overflow is refused in words
            rounded = float(np.asarray(float(value)).astype(_FLOATS[kind]))
        if not math.isfinite(rounded):
            raise Unusable(f"{value!r} is too large for {kind}", f"Write a number that {kind} holds.")
        return Constant(rounded, kind)
    if value != int(value):
        raise Unusable(f"{value!r} is a fraction, and {kind} would cut it", "Write a whole number.")
    low, high = (0, 1) if kind == "bool" else _INTEGERS[kind]
    if not low <= value <= high:
        raise Unusable(f"{describe_value(value)} does not fit into {kind}", f"Write a number in [{low}, {high}].")
    return Constant(bool(value) if kind == "bool" else int(value), kind)


def unary(sign: str, operand: Constant) -> Constant:
    """Apply ``-``, ``+`` or ``~``.

    >>> unary("-", number("0.0")), unary("~", number("0U"))
    (Constant(value=-0.0, type='double'), Constant(value=4294967295, type='uint32_t'))
    """
    if operand.type in _FLOATS and sign != "~":
        return Constant(-operand.value if sign == "-" else operand.value, operand.type)
    promoted = _promoted(operand, sign)
    low, high = _INTEGERS[promoted.type]
    if sign == "~":
        return Constant(~promoted.value if low else high - promoted.value, promoted.type)
    return _fitting(-promoted.value if sign == "-" else promoted.value, promoted.type)


def _promoted(operand: Constant, sign: str) -> Constant:
    """Make an integer at least as wide as int, as C++ does before it computes."""
    if operand.type in ENUMS or operand.type in _FLOATS:
        raise Unusable(f"{sign} does not apply to {operand.type}", "Write the number itself.")
    wide = operand.type in ("uint32_t", "int64_t", "uint64_t")
    return Constant(int(operand.value), operand.type if wide else "int32_t")


def _fitting(value: int, kind: str) -> Constant:
    low, high = _INTEGERS[kind]
    if not low <= value <= high:
        raise Unusable(
            f"the result {describe_value(value)} does not fit into {kind}, in which C++ computes here",
            "Give an operand a wider type (2ULL, static_cast<uint64_t>(2)), or write the number itself.",
        )
    return Constant(value, kind)


def _divide(a: int, b: int) -> int:
    """Divide towards zero, as C++ does."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "%": lambda a, b: a - b * _divide(a, b),
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip


def binary(sign: str, left: Constant, right: Constant) -> Constant:
    """Compute with two constants as C++ does, in the type in which it does.

    >>> binary("<<", number("1ULL"), number("40")).value, binary("/", unary("-", number("7")), number("2")).value
    (1099511627776, -3)
    """
    if sign in "/%" and right.value == 0:
        raise Unusable(f"{sign} by zero", "Write another divisor.")
    if left.type in _FLOATS or right.type in _FLOATS:
        return _binary_float(sign, left, right)
    a, b = _promoted(left, sign), _promoted(right, sign)
    if sign in ("<<", ">>"):
        bits = SIZES[a.type] * 8
        if not 0 <= b.value < bits or a.value < 0:
            raise Unusable(f"{a.value} {sign} {b.value} is undefined for {a.type}", f"Shift by [0, {bits - 1}].")
        return _fitting(_ARITHMETIC[sign](a.value, b.value), a.type)
    # The wider type, and of two equally wide ones the unsigned.
    kind = max(a.type, b.type, key=lambda name: (SIZES[name], name[0] == "u"))
    for operand in (a, b):
        _fitting(operand.value, kind)
    return _fitting(_ARITHMETIC[sign](a.value, b.value), kind)


def _binary_float(sign: str, left: Constant, right: Constant) -> Constant:
    kinds = {left.type, right.type}
    if (
        not kinds & {"float", "double"}
        or kinds & (set(_FLOATS) - {"float", "double"} | set(ENUMS))
        or sign not in "+-*/"
    ):
        shown = " and ".join(sorted(kinds))
        raise Unusable(
            f"{sign} for {shown} is not computed here", "Compute in float or double, or write the number itself."
        )
    with np.errstate(all="ignore"):
        value = left.value / right.value if sign == "/" else _ARITHMETIC[sign](left.value, right.value)
    if not math.isfinite(value):
        raise Unusable("the result is larger than any number", "Write the number itself.")
    return convert(Constant(float(value), "double"), "double" if "double" in kinds else "float")
