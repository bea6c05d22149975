"""Statements of C++: declarations, assignments and the documents' calls, and what is wrong with all others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendlab.capi.registers import PaddingRegister, Register
from ascendlab.cpp_capi import SETTERS
from ascendlab.cpp_constants import NAMED, Constant
from ascendlab.cpp_expressions import Expressions, Variable
from ascendlab.cpp_literals import variable_name
from ascendlab.cpp_records import STRUCTURES, Array, Braces, Record, Union, constant_of
from ascendlab.cpp_tokens import Refusal, Silence, Text, Token, nearest
from ascendlab.dtypes import TYPES
from ascendlab.errors import CppProblem, CppTextError, ParameterError
from ascendlab.fields import Parameters

__all__ = ["Statements"]

_MOST_PROBLEMS = 10
_LARGEST_ARRAY = 4096
_CONTROL = ("for", "while", "if", "switch", "do", "else", "return")
_SPECIFIERS = ("static", "const", "constexpr")
_UNDERSTOOD = (
    "Understood are declarations of the documents' structures and of constants, assignments to them, and the "
    "documents' calls."
)
_SKIPPED = set("()[]<>.,+-*/") | {"::"}
# What the documents' calls take in braces; None where such an argument is a variable.
_CALLS: dict[str, str | None] = {
    "LoadImageToLocal": "LoadImageToLocalParams",
    "VectorPadding": "UnaryRepeatParams",
    "SetLoadDataRepeat": "LoadDataRepeatParam",
    "SetAippFunctions": None,
    "LoadData": None,
    "BilinearInterpolation": None,
    "SetVectorMask": None,
    "asc_set_l13d_fmatrix": None,
    "asc_set_l13d_rpt": None,
}


class Statements(Expressions):
    """Reads whole statements and collects what is wrong with them."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text
        self.problems: list[CppProblem] = []

    def run(self) -> None:
        """Read the whole text; a statement that is refused does not keep the next one from being read."""
        while self.token.kind != "end":
            first = self.at
            self.depth = 0
            try:
                self._statement()
            except Refusal as refusal:
                self._note(refusal)
                self._recover(first)
            except Silence:
                self._recover(first)
        self._stop()

    def _note(self, refusal: Refusal) -> None:
        self.problems.append(self.text.problem(refusal))
        if len(self.problems) == _MOST_PROBLEMS:
            self._stop()

    def _stop(self) -> None:
        if self.problems:
            raise CppTextError(self.problems)

    def _recover(self, first: int) -> None:
        """Go on behind the end of a statement that was refused; the semicolons in the head of a loop are no ends."""
        ends = {";"}
        if self.tokens[first].text in _CONTROL:
            self.at, ends, depth = first + 1, {";", "{"}, 0
            while self.token.kind != "end" and (depth or self.sees("(")):
                sign = self.take().text
                depth += (sign == "(") - (sign == ")")
        while self.token.kind != "end":
            token = self.take()
            if token.text in ends or token.kind == "directive":
                return

    def objects(self) -> dict[str, Record | Union]:
        """Return the values of the variables that are parameter objects."""
        values = {name: variable.value for name, variable in self.variables.items() if variable is not None}
        return {name: value for name, value in values.items() if isinstance(value, (Record, Union))}

    def build(self, names: list[str]) -> dict[str, Parameters | Register]:
        """Make the objects of these variables."""
        made: dict[str, Parameters | Register] = {}
        found = self.objects()
        for name in names:
            try:
                made[name] = found[name].build(name)
            except Refusal as refusal:
                self._note(refusal)
        self._stop()
        return made

    # statements

    def _statement(self) -> None:
        if self.accept(";") or (self.problems and self.accept("}")):  # the end of what was refused at its beginning
            return
        if self.accept("using"):
            self._using()
            return
        token = self.token
        if token.kind != "name" or not self._declaration():
            self.skip_namespace()
            name, after = self.token, self.ahead(1).text
            if name.kind == "name" and after in (".", "[", "="):
                self._assignment()
            elif name.kind == "name" and (name.text in _CALLS or name.text in SETTERS) and after in ("(", "<"):
                self._call()
            else:
                raise Refusal(token.start, self._what(), self._suggestion())
        self.expect(";", fix=_UNDERSTOOD)

    def _what(self) -> str:
        """Describe a statement that is not understood."""
        after = self.ahead(1)
        if self.token.text in _CONTROL:
            return f"{self.token}: loops and branches are not followed"
        if self.token.kind == "name" and (after.kind == "name" or after.text == "<"):
            return f"{self.token} is no type that is known here"
        if self.token.kind == "name" and after.text == "(":
            return f"{self.token}(...) is not understood here"
        return f"{self.token} begins nothing that is understood here"

    def _suggestion(self) -> str:
        known = [*STRUCTURES, *_CALLS, *SETTERS]
        similar = nearest(self.token.text, known) if self.token.kind == "name" else ""
        return similar if similar.startswith("Did") else _UNDERSTOOD

    def _using(self) -> None:
        self.expect("namespace")
        self.expect("AscendC", "std")
        self.expect(";")

    def _declaration(self) -> bool:
        """Read a declaration, if there is one."""
        specifiers = set()
        while self.sees(*_SPECIFIERS):
            specifiers.add(self.take().text)
        fixed = bool(specifiers & {"const", "constexpr"})
        if self.accept("auto"):
            self._declare_auto(fixed)
            return True
        made = self.structure()
        kind = "" if made else self.scalar_type()
        if not made and not kind:
            if specifiers:
                raise Refusal(self.token.start, self._what(), self._suggestion())
            return False
        if isinstance(made, Record) and "static" in specifiers:
            made = made.cleared()
        while self.sees("const", "constexpr"):
            fixed |= bool(self.take())
        while True:
            self._declarator(kind, made, fixed)
            if not self.accept(","):
                return True

    def _declarator(self, kind: str, made: Record | Union | None, fixed: bool) -> None:
        """Read one variable of a declaration."""
        token = self._new_name()
        value: Any = None
        if made is not None:
            value = self._declare_object(made)
        elif self.accept("["):
            value = self._declare_array(kind)
        elif self.sees("("):
            value = constant_of(self.braces(")"), kind, token.start)
        elif self.accept("=") or self.sees("{"):
            item = self.initialiser()
            value = constant_of(item.value, kind, item.start)
        elif fixed:
            raise Refusal(token.start, f"{token} is constant and has no value", "Write one.")
        type_name = value.type if isinstance(value, (Record, Union)) else kind
        self.variables[token.text] = Variable(type_name, value, fixed, token.start)

    def _declare_auto(self, fixed: bool) -> None:
        token = self._new_name()
        self.expect("=", fix="auto takes its type from a value.")
        value, start, _ = self.initialiser()
        if isinstance(value, (Braces, Array)):
            raise Refusal(start, "auto needs one value", "Write the type.")
        self.variables[token.text] = Variable(value.type, value, fixed, token.start)

    def _new_name(self) -> Token:
        """Step over the name of a new variable, which stands for nothing until all of its declaration is understood."""
        token = self.name("a variable's name", _UNDERSTOOD)
        if token.text in self.variables:
            raise Refusal(token.start, f"{token} is declared twice", "Take another name.")
        self.variables[token.text] = None
        return token

    def _declare_object(self, made: Record | Union) -> Record | Union:
        """Read what a new variable of a structure starts with."""
        if self.sees("[", "*", "&"):
            raise Refusal(self.token.start, f"an array, pointer or reference of {made.type}", "Declare one variable.")
        if self.sees("(") and self.ahead(1).text == ")":
            raise Refusal(self.token.start, "() here declares a function", "Write {}, or nothing.")
        if self.sees("{", "("):
            return self.filled(made)
        if not self.accept("="):
            return made.copy()
        start = self.token.start
        if self.sees("{"):
            return self.filled(made)
        value = self.expression()
        if not isinstance(value, (Record, Union)) or value.type.partition("<")[0] != made.type.partition("<")[0]:
            raise Refusal(start, f"this is no {made.type}", "Write braces, or a variable of the same type.")
        return value

    def _declare_array(self, kind: str) -> Array:
        size = None if self.sees("]") else self.constant("int64_t").value
        at = self.expect("]").start
        values: list[Constant | None] = []
        if self.accept("=") or self.sees("{"):
            if not self.sees("{"):
                raise Refusal(self.token.start, "an array takes braces", "Write { and }.")
            values = [constant_of(item.value, kind, item.start) for item in self.braces("}").items]
            size = len(values) if size is None else size
            # C++ clears the elements that braces leave out.
            values += [constant_of(NAMED["false"], kind, at)] * min(size - len(values), _LARGEST_ARRAY)
        elif size is not None:
            values = [None] * max(0, min(size, _LARGEST_ARRAY))
        if not values or len(values) != size:
            fix = f"An array has as many values as it says, and here at most {_LARGEST_ARRAY}."
            raise Refusal(at, "the number of elements does not fit", fix)
        return Array(kind, values)

    def _assignment(self) -> None:
        """Read an assignment to a variable, a member or an element."""
        token = self.take()
        variable = self.variable(token)
        if variable.constant:
            raise Refusal(
                token.start, f"{token} is constant", "Leave const out, or write the value where it is declared."
            )
        target, member, at = variable.value, "", token.start
        while self.accept("."):
            if member:
                target = self._inside(target, member, at)
            part = self.name("a member's name")
            member, at = part.text, part.start
            if not isinstance(target, (Record, Union)):
                raise Refusal(at, f"{token} has no members", "Assign to a variable of a structure.")
        index = None
        if self.accept("["):
            index = self.constant()
            self.expect("]")
        self.expect("=", fix="Understood is name.member = constant;")
        item = self.initialiser()
        if isinstance(target, Record) and member:
            name = target.member(member, at)
            if index is None:
                target.set(name, item.value, item.start)
            else:
                target.set_element(name, index, item.value, item.start)
        elif isinstance(target, Union) and member and index is None:
            target.set(member, item.value, item.start)
        elif isinstance(target, Array) and index is not None:
            place = constant_of(index, "int64_t", at).value
            if not 0 <= place < len(target.values):
                raise Refusal(at, f"{token}[{place}] is outside the array", "Write another index.")
            target.values[place] = constant_of(item.value, target.type, item.start)
        elif not member and index is None and not isinstance(target, Array):
            self._assign_whole(variable, item.value, item.start)
        else:
            raise Refusal(at, f"{token} cannot be assigned to like this", _UNDERSTOOD)

    @staticmethod
    def _inside(target: Any, member: str, at: int) -> Any:
        """Return a member that is a structure itself."""
        inner = target.values.get(target.member(member, at)) if isinstance(target, Record) else None
        if not isinstance(inner, Record):
            raise Refusal(at, f"{member[:60]} has no members", "Assign to it as a whole.")
        return inner

    def _assign_whole(self, variable: Variable, value: Any, start: int) -> None:
        old = variable.value
        if not isinstance(old, (Record, Union)):
            variable.value = constant_of(value, variable.type, start)
            return
        if isinstance(value, Braces):
            new = old.cleared()
            new.fill(value)
            value = new
        if not isinstance(value, (Record, Union)) or value.type != old.type:
            raise Refusal(start, f"this is no {old.type}", "Write braces, or a variable of the same type.")
        variable.value = value

    # calls

    def _call(self) -> None:
        """Read one of the documents' calls, which may hold a structure in braces."""
        token = self.take()
        if self.accept("<"):
            while not self.accept(">"):
                self._skip(token.text)
        self.expect("(")
        if token.text in SETTERS:
            self._set_register(token.text, token.start)
            return
        while not self.accept(")"):
            if self.sees("{"):
                self._argument(token.text, self.braces("}"))
            else:
                self._skip(token.text)

    def _skip(self, call: str) -> None:
        """Step over a part of an argument that says nothing about parameters: a tensor, a place in it, a number."""
        if self.token.kind in ("name", "number") or self.token.text in _SKIPPED:
            if self.accept("("):
                with self.deeper():
                    while not self.accept(")"):
                        self._skip(call)
            else:
                self.at += 1
            return
        raise Refusal(self.token.start, f"{self.token} is no argument of {call} that is understood", _UNDERSTOOD)

    def _argument(self, call: str, braces: Braces) -> None:
        """Keep what stands in braces in a call, under the name that its structure's variables have."""
        name = _CALLS[call]
        if name is None:
            raise Refusal(braces.start, f"{call} with braces", "Declare a variable, and give it to the call.")
        structure = STRUCTURES[name]
        assert issubclass(structure, Parameters)
        record = Record(structure, None, braces.start, zeroed=True)
        record.fill(braces)
        self._keep(variable_name(structure), record, braces.start)

    def _set_register(self, call: str, start: int) -> None:
        """Read a call that sets a register."""
        self.at -= 1
        items = self.braces(")").items
        kind = SETTERS[call]
        if kind is PaddingRegister:
            register = self._padding(call, items[0].value if len(items) == 1 else None, start)
        else:
            layout = kind.layout()
            if len(items) != len(layout):
                names = ", ".join(bits.name for bits in layout)
                raise Refusal(start, f"{call} with {len(items)} arguments", f"It takes {names}.")
            register = kind()
            for bits, item in zip(layout, items, strict=True):
                value = constant_of(item.value, "uint64_t", item.start).value
                if value >= 1 << bits.width:
                    raise Refusal(item.start, f"{bits.name} = {value} is not allowed", f"It has {bits.width} bits.")
                setattr(register, bits.name, value)
        self._keep(call, Union(register, start), start)

    @staticmethod
    def _padding(call: str, value: Any, start: int) -> Register:
        if not isinstance(value, Constant):
            raise Refusal(
                start, f"{call} takes one constant", "Write static_cast<half>(1.0), or a word such as 0x3c00ULL."
            )
        if value.type == "uint64_t":
            return PaddingRegister(value.value)
        kinds = {kind.cpp: kind for kind in TYPES.values()}
        try:
            return PaddingRegister.of(np.asarray(value.value).astype(kinds[value.type].numpy)[()])
        except (KeyError, ParameterError):
            fix = "Write a cast, for instance static_cast<half>(1.0)."
            raise Refusal(start, f"{call} has no form for {value.type}", fix) from None

    def _keep(self, name: str, value: Record | Union, start: int) -> None:
        """Give an object that has no variable a name of its own."""
        count, free = 1, name
        while free in self.variables:
            count += 1
            free = f"{name}_{count}"
        self.variables[free] = Variable(value.type, value, True, start)
