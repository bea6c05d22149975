"""JSON of strangers: read strictly, with bounded memory, or refused with the place that is wrong.

>>> parse(b'{"schema": 1, "name": "case"}', "case.json")
{'schema': 1, 'name': 'case'}
>>> parse(b'{"schema": 1, "schema": 2}', "case.json")
Traceback (most recent call last):
    ...
ascendlab.errors.FileProblemError: case.json gives schema twice. Keep one of them
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from ascendlab.errors import FileProblemError, describe_value
from ascendlab.files import read_whole

__all__ = ["LARGEST", "parse", "read_object"]

LARGEST = 1024 * 1024
"""Bytes of the largest file that is read; real ones have a few KiB."""

_DEEPEST = 32
_LONGEST_NUMBER = 64
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def read_object(path: Any) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises
    ------
    FileProblemError
        If there is no such file, it has more than 1 MiB, or it holds something else.
    """
    return parse(read_whole(path, LARGEST), path)


def parse(data: bytes, path: Any) -> dict[str, Any]:
    """Return the JSON object that these bytes are; `path` is named in errors.

    Stricter than the standard: no name twice in an object, no NaN or infinity, no number of more than 64 characters,
    no more than 32 levels.
    """

    def refuse(problem: str, fix: str) -> NoReturn:
        raise FileProblemError(path, problem, fix)

    def number(text: str) -> Any:
        if len(text) > _LONGEST_NUMBER:
            refuse(f"has a number of {len(text):,} characters", "No value needs so many")
        value = float(text) if any(sign in text for sign in ".eE") else int(text)
        if isinstance(value, float) and not math.isfinite(value):
            refuse(f"has the number {text}, which is too large", "No value is as large as that")
        return value

    def constant(text: str) -> Any:
        refuse(f"has {text}, which is no JSON", "No value may be that")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                refuse(f"gives {describe_value(name).strip(chr(39))} twice", "Keep one of them")
            found[name] = value
        return found

    text = _decode(data, refuse)
    depth = 0
    for match in _STRUCTURE.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group()[0], 0)
        if depth > _DEEPEST:
            refuse(f"is nested more than {_DEEPEST} levels deep", "Give a file that write_golden has written")
    try:
        value = json.loads(
            text, parse_int=number, parse_float=number, parse_constant=constant, object_pairs_hook=members
        )
    except json.JSONDecodeError as error:
        refuse(f"is no JSON: line {error.lineno}, column {error.colno}: {error.msg}", "Write it anew")
    if not isinstance(value, dict):
        refuse(f"holds {describe_value(value)}, no JSON object", "Give a file that write_golden has written")
    return value


def _decode(data: bytes, refuse: Any) -> str:
    if len(data) > LARGEST:
        refuse(f"has more than {LARGEST:,} bytes, no description of golden data", "Give the .json file of a case")
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        refuse("begins with a byte-order mark", "Save it as UTF-8 without byte-order mark (BOM)")
    if b"\0" in data:
        refuse("has a NUL byte", "Give the .json file, not a binary one; save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse(f"is no UTF-8: byte {error.start:,} is 0x{data[error.start]:02x}", "Save it as UTF-8")
        raise
