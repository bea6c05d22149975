"""Python code for parameter objects and calls: text that can be run, with nothing in it that is a default anyway.

>>> from ascendlab import AippPaddingParams, AippParams
>>> print(to_python(AippParams(padding_params=AippPaddingParams(padding_mode=2))))
AippParams(padding_params=AippPaddingParams(padding_mode=2))
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendlab.aipp import AippSetup, set_aipp_functions
from ascendlab.capi.launch import Launch, launch
from ascendlab.cpp_literals import shortest_half
from ascendlab.dtypes import DataType
from ascendlab.errors import ParameterError
from ascendlab.fields import Parameters, fields_of, is_default
from ascendlab.provenance import Call

__all__ = ["to_python"]

_LINE = 84
_LONGEST_DECIMAL = 256  # bits
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
# Objects that a function returned are written as the call that made them.
_MADE_BY: dict[type[Any], Callable[..., Any]] = {AippSetup: set_aipp_functions}


def to_python(what: Any, *, sources: tuple[str, ...] = (), names: Mapping[str, str] | None = None) -> str:
    """Write Python code.

    Parameters
    ----------
    what : parameter object, Call, Launch, enum member or plain value
        A call becomes a script: imports, what its arguments are made by, the call, whose value is called ``result``.
        Arrays appear under the names of the arguments that they are given to (``src0``).  A launch of a kernel becomes
        one, too; its value is called ``launched``.
    sources : tuple of str, optional
        Lines of a call's script that make those arrays; they come after the imports.
    names : mapping of str to str, optional
        What `sources` needs: names and the modules that they are imported from.

    Returns
    -------
    str
        Without a final newline.

    Raises
    ------
    ParameterError
        For a call that lacks an argument or has one too many, and for what no code can be written for: a function
        without a name that it can be imported by, an object that is no plain value.

    Examples
    --------
    >>> import numpy as np
    >>> from ascendlab import *
    >>> setup = set_aipp_functions(np.zeros((4, 4), np.uint8), input_format=AippInputFormat.YUV400_U8,
    ...                            config=AippParams(), dtype="int8")
    >>> window = LoadImageToLocalParams(horiz_size=4, vert_size=4, src_horiz_size=4)
    >>> print(to_python(Call(load_image_to_local, {"setup": setup, "params": window})))
    from ascendlab import (
        AippInputFormat, AippParams, LoadImageToLocalParams, load_image_to_local,
        set_aipp_functions,
    )
    <BLANKLINE>
    setup = set_aipp_functions(
        src0,
        input_format=AippInputFormat.YUV400_U8,
        config=AippParams(),
        dtype="int8",
    )
    params = LoadImageToLocalParams(horiz_size=4, vert_size=4, src_horiz_size=4)
    result = load_image_to_local(setup, params)
    """
    script = _Script(dict(names or {}))
    if isinstance(what, Launch):
        script.launch(what)
    elif isinstance(what, Call):
        what.bound()  # an argument that is missing, or one that nobody takes, makes no script
        script.assign("result", what.function, what.arguments)
    else:
        return script.expression(what).flat()
    return "\n".join([*script.imports(), "", *sources, *script.lines])


@dataclass
class _Node:
    """Text, or a call whose arguments are nodes; `start` is what stands before it (``name=``)."""

    text: str
    start: str = ""
    arguments: list[_Node] | None = None

    def flat(self) -> str:
        """Write it in one line."""
        if self.arguments is None:
            return self.start + self.text
        return f"{self.start}{self.text}({', '.join(argument.flat() for argument in self.arguments)})"

    def lines(self, indent: str = "", end: str = "") -> list[str]:
        """Write it in lines that are not too long, one argument each where it does not fit into one."""
        line = f"{indent}{self.flat()}{end}"
        if len(line) <= _LINE or not self.arguments:
            return [line]
        inner = [line for argument in self.arguments for line in argument.lines(f"{indent}    ", ",")]
        return [f"{indent}{self.start}{self.text}(", *inner, f"{indent}){end}"]


@dataclass
class _Script:
    """The lines of a script, and the names that it uses with their modules."""

    used: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def imports(self) -> list[str]:
        """Write the import statements for all names that were used."""
        by_module: dict[str, list[str]] = {}
        for name, module in self.used.items():
            by_module.setdefault(module, []).append(name)
        lines = []
        for module in sorted(by_module):
            names = sorted(by_module[module])
            line = f"from {module} import {', '.join(names)}"
            lines += [line] if len(line) <= _LINE else [f"from {module} import (", *_wrapped(names), ")"]
        return lines

    def assign(self, target: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        """Add ``target = function(...)``, after the lines that make those arguments that get lines of their own."""
        given = []
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):  # some functions written in C do not tell
            raise ParameterError("function", function, "a function whose parameters have names") from None
        for name, parameter in parameters.items():
            if name not in arguments or _same(arguments[name], parameter.default):
                continue
            node = self._argument(name, arguments[name], own_line=target == "result")
            node.start = f"{name}=" if parameter.kind is parameter.KEYWORD_ONLY else ""
            given.append(node)
        self.lines += _Node(self.name_of(function), f"{target} = ", given).lines()

    def launch(self, launched: Launch) -> None:
        """Add ``launched = launch(kernel, blocks, ...)``."""
        core = launched.cores[0]
        given = [self.expression(launched.kernel), self.expression(len(launched.cores))]
        given += [_Node(name) if isinstance(value, np.ndarray) else self.expression(value)
                  for name, value in launched.arguments.items()]  # fmt: skip
        parameters = inspect.signature(launch).parameters
        for name, value in (("product", core.product), ("core_type", core.core_type)):
            if value != parameters[name].default:
                node = self.expression(value)
                node.start = f"{name}="
                given.append(node)
        self.lines += _Node(self.name_of(launch), "launched = ", given).lines()

    def _argument(self, name: str, value: Any, *, own_line: bool) -> _Node:
        maker = _MADE_BY.get(type(value))
        if maker is not None:
            self.assign(name, maker, {key: getattr(value, key) for key in inspect.signature(maker).parameters})
            return _Node(name)
        if isinstance(value, np.ndarray):
            return _Node(name)
        node = self.expression(value)
        if own_line and isinstance(value, Parameters):
            node.start = f"{name} = "
            self.lines += node.lines()
            return _Node(name)
        return node

    def expression(self, value: Any) -> _Node:
        """Write a value so that it reads back equal, or refuse it."""
        if isinstance(value, Parameters):
            return _Node(self.name_of(type(value)), arguments=self._members(value))
        if isinstance(value, enum.Enum):
            return _Node(f"{self.name_of(type(value))}.{value.name}")
        if isinstance(value, DataType):
            return _Node(f'"{value.name}"')
        if isinstance(value, str):
            return _Node('"' + repr(value)[1:-1].replace('"', '\\"') + '"')
        if isinstance(value, (type, *_FUNCTIONS)):
            return _Node(self.name_of(value))
        if dataclasses.is_dataclass(value):
            return self._dataclass(value)
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, int) and plain.bit_length() > _LONGEST_DECIMAL:
            return _Node(hex(plain))  # Python refuses to write, and to read, very long decimal numbers
        if isinstance(plain, float) and not math.isfinite(plain):
            return _Node(f'float("{plain}")')
        if type(plain) in (list, tuple):
            inner = ", ".join(self.expression(item).flat() for item in plain)
            return _Node(f"[{inner}]" if type(plain) is list else f"({inner}{',' * (len(plain) == 1)})")
        if isinstance(plain, np.dtype):
            return _Node(f'"{plain.name}"')
        if plain is None or plain is Ellipsis or isinstance(plain, (bool, int, float, complex, bytes)):
            return _Node(repr(plain))
        raise ParameterError("what", value, "a parameter object, a Call, an enum member or a plain value")

    def _dataclass(self, value: Any) -> _Node:
        """Write an object by the members that differ from their defaults."""
        members = []
        for part in dataclasses.fields(value):
            member = getattr(value, part.name)
            if part.init and not _same(member, part.default):
                node = self.expression(member)
                node.start = f"{part.name}="
                members.append(node)
        return _Node(self.name_of(type(value)), arguments=members)

    def _members(self, params: Parameters) -> list[_Node]:
        members = []
        for name, spec in fields_of(type(params)).items():
            value = getattr(params, name)
            if not is_default(spec, value):
                node = self.expression(shortest_half(value) if spec.cpp_type == "half" else value)
                node.start = f"{name}="
                members.append(node)
        return members

    def name_of(self, thing: Any) -> str:
        """Return a function's or class's name, and remember where it is imported from."""
        name = getattr(thing, "__name__", "")
        for module in ("ascendlab", getattr(thing, "__module__", None)):
            # A lambda, a method or a partial is not what its module has under its name, if it has a name at all.
            if module and name and getattr(importlib.import_module(module), name, None) is thing:
                self.used[name] = module
                return str(name)
        raise ParameterError("function", thing, "a function or class that can be imported by its name")


def _wrapped(names: list[str]) -> list[str]:
    """Break a list of names into indented lines."""
    lines = ["   "]
    for name in names:
        if len(lines[-1]) + len(name) + 2 > _LINE:
            lines.append("   ")
        lines[-1] += f" {name},"
    return lines


def _same(value: Any, default: Any) -> bool:
    """Whether an argument has its default value; arrays never have."""
    if isinstance(value, np.ndarray):
        return False
    # The texts tell a negative zero from zero.
    return value is default or (type(value) is type(default) and value == default and repr(value) == repr(default))
