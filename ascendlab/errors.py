"""The one error family, and the warnings, of the library.

Everything a caller can do wrong ends in an `AscendlabError`, which is a `ValueError`.  A message always
says *which* parameter (as the document spells it), *what* was given and *what* would have been allowed.

>>> from ascendlab import AippPaddingParams
>>> AippPaddingParams(padding_mode=7)
Traceback (most recent call last):
    ...
ascendlab.errors.ParameterError: paddingMode = 7 is not allowed; allowed: an integer in [0, 3]
(SetAippFunctions, table 3)
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "AippConfigError",
    "AscendlabError",
    "AscendlabWarning",
    "BufferOverflowError",
    "ConfigProblem",
    "CppProblem",
    "CppTextError",
    "DocumentationConflictWarning",
    "FileProblemError",
    "KernelError",
    "KernelLimitWarning",
    "MisalignedAddressError",
    "NoEquivalentWarning",
    "ParameterError",
    "SynchronizationError",
    "UninitialisedReadError",
    "UnsupportedProductError",
    "describe_value",
]

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def describe_value(value: object) -> str:
    """Describe a value in one short line, whatever it is.

    Arrays are named by dtype and shape; the digits of huge integers, which Python refuses to print, are counted.

    >>> describe_value(np.zeros((2, 3), np.int8))
    'an int8 array of shape (2, 3)'
    >>> describe_value(10**5000)
    'an integer of 16610 bits'
    >>> describe_value(float("nan"))
    'nan'
    """
    if isinstance(value, np.ndarray):
        if isinstance(value, np.ma.MaskedArray):
            return f"a masked {value.dtype.name} array of shape {value.shape}"
        article = "an" if value.dtype.name[0] in "aeio" else "a"  # a uint8, as one says it
        return f"{article} {value.dtype.name} array of shape {value.shape}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    try:
        return " ".join(_short.repr(value).split())
    except Exception:  # a broken __repr__ must not hide the real message
        return f"an object of type {type(value).__name__}"


class AscendlabError(ValueError):
    """Root of the family: any misuse that the library detects.

    Attributes
    ----------
    core : AICore or None
        Set by `ascendlab.capi.launch`: the machine as the refused call found it.
    """

    core: Any = None


class ParameterError(AscendlabError):
    """A parameter has a value that the documents, or an earlier choice, do not allow.

    Parameters
    ----------
    parameter : str
        Name as the document spells it (``paddingMode``) or the argument's name (``src0``).
    value : object
        What was given.
    allowed : str
        What would have been accepted, in words.
    table : str, optional
        Where the document says so.
    hint : str, optional
        A sentence that helps: the reason, or the usual fix.
    """

    def __init__(self, parameter: str, value: object, allowed: str, *, table: str = "", hint: str = "") -> None:
        self.parameter, self.value, self.allowed, self.table, self.hint = parameter, value, allowed, table, hint
        where = f" ({table})" if table else ""
        more = f". {hint}" if hint else ""
        super().__init__(f"{parameter} = {describe_value(value)} is not allowed; allowed: {allowed}{where}{more}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_parameter_error, (self.parameter, self.value, self.allowed, self.table, self.hint)


def _rebuild_parameter_error(parameter: str, value: object, allowed: str, table: str, hint: str) -> ParameterError:
    return ParameterError(parameter, value, allowed, table=table, hint=hint)


class UnsupportedProductError(AscendlabError):
    """The API does not exist on the chosen product.

    Parameters
    ----------
    api : str
        The API, as the document spells it.
    product : object
        The product that was asked for.
    supported : iterable
        The products that have the API.
    """

    def __init__(self, api: str, product: object, supported: Iterable[object]) -> None:
        self.api, self.product, self.supported = api, product, tuple(supported)
        names = ", ".join(str(p) for p in self.supported)
        super().__init__(f"{api} is not supported on {product}; supported on: {names}")

    def __reduce__(self) -> tuple[Any, ...]:
        return UnsupportedProductError, (self.api, self.product, self.supported)


class BufferOverflowError(AscendlabError):
    """A result, or an operand, does not fit into the buffer that would hold it.

    Parameters
    ----------
    buffer : str
        The buffer, for instance ``"L1"``.
    needed, available : int
        Bytes.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, buffer: str, needed: int, available: int, *, hint: str = "") -> None:
        self.buffer, self.needed, self.available, self.hint = buffer, needed, available, hint
        more = f". {hint}" if hint else ""
        super().__init__(f"{buffer}: {needed:,} bytes needed, {available:,} bytes there{more}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_overflow, (self.buffer, self.needed, self.available, self.hint)


def _rebuild_overflow(buffer: str, needed: int, available: int, hint: str) -> BufferOverflowError:
    return BufferOverflowError(buffer, needed, available, hint=hint)


class ConfigProblem(NamedTuple):
    """One place in a config file that cannot be read.

    Parameters
    ----------
    line, column : int
        Where, counted from 1.
    problem : str
        What is wrong there.
    fix : str
        What to write instead.
    """

    line: int
    column: int
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.problem}. {self.fix}"


class CppProblem(NamedTuple):
    """One place in C++ text that says nothing which can be read as parameters.

    Parameters
    ----------
    line, column : int
        Where, counted from 1.
    source : str
        The line as it stands there, or the part of a long one.
    problem : str
        What is wrong there.
    fix : str
        What would be understood instead.
    """

    line: int
    column: int
    source: str
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}, {describe_value(self.source)}: {self.problem}. {self.fix}"


class _Places(Exception):  # noqa: N818 (a part of errors, none by itself)
    """What the errors about a text share: all the places where it cannot be read."""

    def __init__(self, problems: Iterable[ConfigProblem | CppProblem]) -> None:
        self.problems: tuple[Any, ...] = tuple(problems)
        self.line, self.column = self.problems[0].line, self.problems[0].column
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


class AippConfigError(_Places, AscendlabError):
    """The text is no AIPP config file.

    Parameters
    ----------
    problems : iterable of ConfigProblem
        At least one; the first ones where there are many.

    Attributes
    ----------
    problems : tuple of ConfigProblem
        All of them.
    line, column : int
        Of the first.
    """


class CppTextError(_Places, AscendlabError):
    """The text is not the C++ that `ascendlab.from_cpp` reads.

    Parameters
    ----------
    problems : iterable of CppProblem
        At least one; the first ones where there are many.

    Attributes
    ----------
    problems : tuple of CppProblem
        All of them.
    line, column : int
        Of the first.
    """


class FileProblemError(AscendlabError):
    """A file, or what stands in it, cannot be used.

    Parameters
    ----------
    path : path or object
        The file, or what was given for it.
    problem : str
        What is wrong with it, as the rest of a sentence.
    fix : str
        What to do about it, in a sentence.
    """

    def __init__(self, path: object, problem: str, fix: str) -> None:
        self.path, self.problem, self.fix = path, problem, fix
        super().__init__(f"{_describe_path(path)} {problem}. {fix}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FileProblemError, (self.path, self.problem, self.fix)


def _describe_path(path: object) -> str:
    """Return a path as a person would write it, in one line whatever it is."""
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except Exception:  # no path, or one that cannot say where it leads
        return describe_value(path)
    if not isinstance(text, str) or not text.isprintable() or not text:
        return describe_value(text)
    return text if len(text) <= 240 else f"{text[:100]} ... {text[-100:]}"


class KernelError(AscendlabError):
    """A kernel does what would hang the hardware, or give a result that nobody can predict.

    Parameters
    ----------
    call : str
        The call that was refused; nothing of it has been carried out.
    problem : str
        What is wrong, with the addresses.
    fix : str
        The usual remedy, in a sentence.
    """

    def __init__(self, call: str, problem: str, fix: str) -> None:
        self.call, self.problem, self.fix = call, problem, fix
        super().__init__(f"{call}: {problem}. {fix}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.call, self.problem, self.fix)


class UninitialisedReadError(KernelError):
    """A call consumes bytes that nobody has written."""


class MisalignedAddressError(KernelError):
    """An address is not a multiple of what the buffer needs."""


class SynchronizationError(KernelError):
    """Two pipes touch the same bytes without an order between them, or a flag is never set."""


class AscendlabWarning(UserWarning):
    """Root of the warnings: the call is legal, and probably not what was meant."""


class DocumentationConflictWarning(AscendlabWarning):
    """The public sources contradict each other, and this call depends on which one is right."""


class KernelLimitWarning(AscendlabWarning):
    """A real implementation would silently do something else with these values."""


class NoEquivalentWarning(AscendlabWarning):
    """A config file asks for something that Ascend C's parameters cannot say."""
