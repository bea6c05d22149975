"""Python code for parameter objects and calls: text that can be run, with nothing in it that is a default anyway.

>>> from ascendlab import AippPaddingParams, AippParams
>>> print(to_python(AippParams(padding_params=AippPaddingParams(padding_mode=2))))
AippParams(padding_params=AippPaddingParams(padding_mode=2))
"""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ascendlab.aipp import AippSetup, set_aipp_functions
from ascendlab.dtypes import DataType
from ascendlab.fields import Parameters, fields_of
from ascendlab.provenance import Call

__all__ = ["to_python"]

_LINE = 100
# Objects that a function returned are written as the call that made them.
_MADE_BY: dict[type[Any], Callable[..., Any]] = {AippSetup: set_aipp_functions}


def to_python(what: Any) -> str:
    """Write Python code.

    Parameters
    ----------
    what : parameter object, Call, enum member or plain value
        A call becomes a script: imports, what its arguments are made by, the call, whose value is called ``result``.
        Arrays appear under the names of the arguments that they are given to (``src0``).

    Returns
    -------
    str
        Without a final newline.

    Examples
    --------
    >>> import numpy as np
    >>> from ascendlab import *
    >>> setup = set_aipp_functions(np.zeros((4, 4), np.uint8), input_format=AippInputFormat.YUV400_U8,
    ...                            config=AippParams(), dtype="int8")
    >>> window = LoadImageToLocalParams(horiz_size=4, vert_size=4, src_horiz_size=4)
    >>> print(to_python(Call(load_image_to_local, {"setup": setup, "params": window})))
    from ascendlab import (
        AippInputFormat, AippParams, LoadImageToLocalParams, load_image_to_local, set_aipp_functions,
    )
    <BLANKLINE>
    setup = set_aipp_functions(src0, input_format=AippInputFormat.YUV400_U8, config=AippParams(), dtype="int8")
    params = LoadImageToLocalParams(horiz_size=4, vert_size=4, src_horiz_size=4)
    result = load_image_to_local(setup, params)
    """
    script = _Script()
    if not isinstance(what, Call):
        return script.expression(what)
    script.assign("result", what.function, dict(what.arguments))
    return "\n".join([*script.imports(), "", *script.lines])


class _Script:
    """The lines of a script, and the names that it uses."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.used: dict[str, str] = {}

    def imports(self) -> list[str]:
        """Import statements for all names that were used, the package's own names first."""
        by_module: dict[str, list[str]] = {}
        for name, module in self.used.items():
            by_module.setdefault(module, []).append(name)
        lines = []
        for module in sorted(by_module):
            names = sorted(by_module[module])
            line = f"from {module} import {', '.join(names)}"
            lines += [line] if len(line) <= _LINE else [f"from {module} import (", *_wrapped(names), ")"]
        return lines

    def assign(self, target: str, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        """Add ``target = function(...)``, after the lines that make those arguments that need lines of their own."""
        given = []
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in arguments or _same(arguments[name], parameter.default):
                continue
            value = arguments[name]
            maker = _MADE_BY.get(type(value))
            if maker is not None:
                attributes = {key: getattr(value, key) for key in inspect.signature(maker).parameters}
                self.assign(name, maker, attributes)
                text = name
            elif isinstance(value, np.ndarray):
                text = name
            elif isinstance(value, Parameters) and target == "result":
                self._add(f"{name} = ", self.name_of(type(value)), self._members(value))
                text = name
            else:
                text = self.expression(value)
            given.append(text if parameter.kind is not parameter.KEYWORD_ONLY else f"{name}={text}")
        self._add(f"{target} = ", self.name_of(function), given)

    def _add(self, start: str, function: str, arguments: list[str]) -> None:
        line = f"{start}{function}({', '.join(arguments)})"
        if len(line) <= _LINE + 10:
            self.lines.append(line)
        else:
            self.lines += [f"{start}{function}(", *(f"    {argument}," for argument in arguments), ")"]

    def expression(self, value: Any) -> str:
        """Write a value so that it reads back equal."""
        if isinstance(value, Parameters):
            return f"{self.name_of(type(value))}({', '.join(self._members(value))})"
        if isinstance(value, enum.Enum):
            return f"{self.name_of(type(value))}.{value.name}"
        if isinstance(value, DataType):
            return f'"{value.name}"'
        if isinstance(value, str):
            return '"' + repr(value)[1:-1].replace('"', '\\"') + '"'
        if isinstance(value, np.generic):
            return repr(value.item())
        return repr(value)

    def _members(self, params: Parameters) -> list[str]:
        members = []
        for name, spec in fields_of(type(params)).items():
            value = getattr(params, name)
            default = spec.structure() if spec.structure is not None else spec.default
            if spec.required or value != default:
                members.append(f"{name}={self.expression(value)}")
        return members

    def name_of(self, thing: Any) -> str:
        """Return a function's or class's name, and remember where it is imported from."""
        name: str = thing.__name__
        package = importlib.import_module("ascendlab")
        public = getattr(package, name, None) is thing
        self.used[name] = "ascendlab" if public else thing.__module__
        return name


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
    return not isinstance(value, np.ndarray) and (
        value is default or (type(value) is type(default) and value == default)
    )
