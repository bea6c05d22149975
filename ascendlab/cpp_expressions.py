"""Types, constant expressions and initialisers of C++: the part of the reader below whole statements.

Plain recursive descent over the tokens.  Nothing is executed: an expression is numbers, constants that were declared
before, casts and arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from ascendlab.cpp_constants import ENUMS, NAMED, SIZES, Constant, Unusable, binary, convert, number, unary
from ascendlab.cpp_records import STRUCTURES, Array, Braces, Item, Record, Union, constant_of
from ascendlab.cpp_tokens import Refusal, Silence, Text, Token, nearest
from ascendlab.dtypes import TYPES, DataType
from ascendlab.fields import Parameters

__all__ = ["Expressions", "Variable"]

_DEEPEST = 32  # brackets, braces, casts and signs inside each other
_NAMESPACES = ("AscendC", "std")
_WORDS = {"unsigned", "signed", "int", "long", "short", "char"}
_ALIASES = {"size_t": "uint64_t"}
_ELEMENTS = {kind.cpp: kind for kind in TYPES.values()}
_PLACEHOLDERS = ("T", "U")  # what the documents call the template's argument
# From the loosest to the tightest.
_OPERATORS = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_TIGHTNESS = {sign: level for level, signs in enumerate(_OPERATORS) for sign in signs}
_UNDERSTOOD = "Understood are numbers, constants declared before, casts and arithmetic with them."


def _size_of(kind: str) -> Constant:
    if kind not in SIZES:
        raise Unusable(f"the size of {kind} is no whole number of bytes", "Write the number itself.")
    return Constant(SIZES[kind], "uint64_t")


@dataclass
class Variable:
    """What a name stands for.

    Parameters
    ----------
    type : str
        Its type in C++.
    value : Constant, Array, Record, Union or None
        None for a constant that has no value yet.
    constant : bool
        Whether it must not be assigned to.
    start : int
        Where it is declared.
    """

    type: str
    value: Constant | Array | Record | Union | None
    constant: bool
    start: int


class Expressions:
    """Reads from a list of tokens; `variables` is what the names in them stand for.

    Parameters
    ----------
    text : Text
        The tokens.

    Attributes
    ----------
    variables : dict of str to Variable or None
        None for a name whose declaration was refused, which says all there is to say about it.
    """

    def __init__(self, text: Text) -> None:
        self.tokens = text.tokens
        self.at = 0
        self.depth = 0
        self.variables: dict[str, Variable | None] = {}

    # tokens

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def ahead(self, count: int) -> Token:
        """Return a later token; behind the end, the end."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and step behind it; the end stays."""
        token = self.token
        self.at += token.kind != "end"
        return token

    def sees(self, *texts: str) -> bool:
        """Whether the next token is one of these signs or names."""
        return self.token.kind in ("sign", "name") and self.token.text in texts

    def accept(self, text: str) -> bool:
        """Step over the next token if it is this one."""
        found = self.sees(text)
        self.at += found
        return found

    def expect(self, *texts: str, fix: str = _UNDERSTOOD) -> Token:
        """Step over the next token, which must be one of these."""
        if not self.sees(*texts):
            wanted = " or ".join(map(repr, texts))
            raise Refusal(self.token.start, f"{wanted} is missing before {self.token}", fix)
        return self.take()

    def name(self, what: str, fix: str = _UNDERSTOOD) -> Token:
        """Step over a name."""
        if self.token.kind != "name":
            raise Refusal(self.token.start, f"{what} is missing before {self.token}", fix)
        return self.take()

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count how deep things stand inside each other."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Refusal(self.token.start, f"more than {_DEEPEST} things inside each other", "Write it flatter.")
        yield
        self.depth -= 1

    # names and types

    def skip_namespace(self) -> None:
        """Step over ``AscendC::`` and ``std::``."""
        while self.token.text in _NAMESPACES and self.ahead(1).text == "::":
            self.at += 2

    def scalar_type(self) -> str:
        """Step over the name of a type that has numbers, and return it; an empty text if there is none."""
        before = self.at
        self.skip_namespace()
        words = []
        while self.token.text in _WORDS:
            words.append(self.take().text)
        if words:
            bits = 8 if "char" in words else 16 if "short" in words else 64 if "long" in words else 32
            return f"{'u' * ('unsigned' in words)}int{bits}_t"
        found = _ALIASES.get(self.token.text, self.token.text)
        scoped = self.ahead(1).text == "::"  # AippInputFormat::YUV400_U8 is a value
        if self.token.kind == "name" and (found in SIZES or found == "int4b_t") and not scoped:
            self.at += 1
            return found
        self.at = before
        return ""

    def structure(self) -> Record | Union | None:
        """Step over the name of a structure, with its template argument, and return an empty variable of it."""
        before, start = self.at, self.token.start
        if self.sees("struct", "union"):
            self.at += 1
        self.skip_namespace()
        kind = STRUCTURES.get(self.token.text) if self.token.kind == "name" else None
        if kind is None:
            self.at = before
            return None
        self.at += 1
        if not issubclass(kind, Parameters):
            return Union(kind(), start)
        template = None
        if self.sees("<"):
            if not kind.template:
                raise Refusal(self.token.start, f"{kind.cpp_name} is no template", "Leave the angle brackets out.")
            self.at += 1
            template = self._element_type()
            self.expect(">", fix="One element type stands there.")
        return Record(kind, template, start)

    def _element_type(self) -> DataType | None:
        token = self.token
        if token.text in _PLACEHOLDERS:
            self.at += 1
            return None
        found = self.scalar_type()
        if found not in _ELEMENTS:
            fix = f"Element types are {', '.join(_ELEMENTS)}; T leaves it open."
            raise Refusal(token.start, f"{token} is no element type", fix)
        return _ELEMENTS[found]

    # initialisers and expressions

    def initialiser(self) -> Item:
        """Read an expression, or braces."""
        start = self.token.start
        return Item(self.braces("}") if self.sees("{") else self.expression(), start)

    def braces(self, end: str) -> Braces:
        """Read initialisers up to the closing brace or, for a constructor, parenthesis."""
        start = self.take().start
        items: list[Item] = []
        with self.deeper():
            while not self.sees(end):
                member = ""
                if end == "}" and self.accept("."):
                    member = self.name("a member's name").text
                    if not self.sees("{"):
                        self.expect("=")
                items.append(self.initialiser()._replace(member=member))
                if not self.accept(","):
                    break
            self.expect(end, fix="Values stand there, with commas between them.")
        return Braces(items, start)

    def constant(self, kind: str = "") -> Constant:
        """Read an expression that is a constant, and give it a type if one is asked for."""
        start = self.token.start
        value = self.expression()
        if not isinstance(value, Constant):
            raise Refusal(start, "this is no constant", _UNDERSTOOD)
        return constant_of(value, kind, start) if kind else value

    def expression(self, loosest: int = 0) -> Any:
        """Read an expression whose operators bind at least as tightly as this level's."""
        left = self._unary()
        while self.token.kind == "sign" and _TIGHTNESS.get(self.token.text, -1) >= loosest:
            sign = self.take()
            right = self.expression(_TIGHTNESS[sign.text] + 1)
            left = self._compute(sign, partial(binary, sign.text), left, right)
        return left

    def _compute(self, at: Token, operation: Callable[..., Constant], *operands: Any) -> Constant:
        if not all(isinstance(operand, Constant) for operand in operands):
            raise Refusal(at.start, f"{at} needs numbers", _UNDERSTOOD)
        try:
            return operation(*operands)
        except Unusable as error:
            raise Refusal(at.start, error.problem, error.fix) from None

    def _unary(self) -> Any:
        with self.deeper():
            token = self.token
            if self.sees("-", "+", "~"):
                self.at += 1
                return self._compute(token, partial(unary, token.text), self._unary())
            if self.accept("("):
                kind = self.scalar_type()
                inner = None if kind else self.expression()
                self.expect(")")
                return self._cast(token, kind, self._unary()) if kind else inner
            return self._primary()

    def _cast(self, at: Token, kind: str, value: Any) -> Constant:
        return self._compute(at, partial(convert, kind=kind, explicit=True), value)

    def _primary(self) -> Any:
        token = self.token
        if token.kind == "number":
            self.at += 1
            return self._compute(token, partial(number, token.text))
        if token.kind != "name":
            raise Refusal(token.start, f"a value is missing before {token}", _UNDERSTOOD)
        if self.accept("static_cast"):
            self.expect("<")
            kind = self._type_in_brackets(">")
            self.expect("(")
            value = self.expression()
            self.expect(")")
            return self._cast(token, kind, value)
        if self.accept("sizeof"):
            self.expect("(")
            inner = self.token
            kind = self._type_in_brackets(")")
            return self._compute(inner, partial(_size_of, kind))
        kind = self.scalar_type()
        if kind:
            closing = {"(": ")", "{": "}"}[self.expect("(", "{").text]
            value = self.expression()
            self.expect(closing)
            return self._cast(token, kind, value)
        made = self.structure()
        if made is not None:
            if not self.sees("{", "("):
                raise Refusal(self.token.start, f"a value of {made.type} is missing before {self.token}", _UNDERSTOOD)
            return self.filled(made)
        self.skip_namespace()
        return self._named()

    def filled(self, made: Record | Union) -> Record | Union:
        """Read the braces or parentheses behind a structure's name, or a variable's."""
        made = made.cleared()
        made.fill(self.braces("}" if self.sees("{") else ")"))
        return made

    def _type_in_brackets(self, closing: str) -> str:
        token = self.token
        kind = self.scalar_type()
        if not kind:
            raise Refusal(token.start, f"{token} is no type of numbers", f"Known are: {', '.join(SIZES)}.")
        self.expect(closing)
        return kind

    def _named(self) -> Any:
        """Read a name that stands for a value."""
        token = self.name("a value")
        if token.text in ENUMS:
            self.expect("::")
            member = self.name("a value's name")
            names = {each.name: int(each) for each in ENUMS[token.text]}
            if member.text not in names:
                fix = nearest(member.text, names)
                raise Refusal(member.start, f"{token.text} has no value {member.text[:60]}", fix)
            return Constant(names[member.text], token.text)
        if token.text in NAMED:
            return NAMED[token.text]
        if self.sees("("):
            raise Refusal(token.start, f"{token} is a call of a function", _UNDERSTOOD)
        value = self.variable(token).value
        if isinstance(value, Array) and self.accept("["):
            place = self.constant("int64_t").value
            self.expect("]")
            if not 0 <= place < len(value.values):
                raise Refusal(token.start, f"{token}[{place}] is outside the array", "Write another index.")
            value = value.values[place]
        if value is None:
            raise Refusal(token.start, f"{token} has no value yet", "Assign to it before.")
        if self.sees(".", "->"):
            raise Refusal(self.token.start, f"members of {token} cannot be read here", "Write the number itself.")
        return value.copy() if isinstance(value, (Record, Union)) else value

    def variable(self, token: Token) -> Variable:
        """Return the variable of this name."""
        if token.text not in self.variables:
            fix = nearest(token.text, self.variables)
            raise Refusal(token.start, f"{token} is not declared in this text", fix or "Declare it before.")
        found = self.variables[token.text]
        if found is None:
            raise Silence
        return found
