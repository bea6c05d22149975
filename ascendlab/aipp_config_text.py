r"""The text of an AIPP config file: where its fields stand, and what is wrong where it cannot be read.

protobuf decides what a text means; this module finds the lines, and says in a user's words what protobuf would refuse.

>>> scan("aipp_op {\n  crop : false  # off\n}").blocks[0].entries["crop"].line
2
>>> scan("aipp_op { csc_switch: TRUE }")
Traceback (most recent call last):
    ...
ascendlab.errors.AippConfigError: line 1, column 23: csc_switch is true or false, not TRUE. Write csc_switch: true
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

from ascendlab.aipp_config_fields import CONFIG_FIELDS, ENUMS
from ascendlab.errors import AippConfigError, ConfigProblem

__all__ = ["LARGEST_TEXT", "Block", "Entry", "Scan", "decode", "refuse", "scan"]

LARGEST_TEXT = 64 * 1024
"""Bytes, or characters, of the largest text that is read; real files have less than 2 KiB."""

_LONGEST_VALUE = 400
_MOST_PROBLEMS = 20

_TOKEN = re.compile(
    r"""(?P<skip>[ \t\r\n\v\f]+|\#[^\n]*)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[+-]?\.?[0-9][A-Za-z0-9_.+-]*|-[A-Za-z]+)
    |(?P<string>"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*')
    |(?P<sign>[{}<>:,;\[\]])""",
    re.VERBOSE,
)
# What an input method or a word processor writes, and what stands for it here.
_LOOKALIKES = {":": "：﹕︰=", ",": "，、", ";": "；", "{": "｛", "}": "｝", " ": "\u3000\u00a0\u2003\u2002\u200b"}
_MEANT = {wrong: right for right, all_wrong in _LOOKALIKES.items() for wrong in all_wrong}
_INTEGER = re.compile(r"-?(0[xX][0-9A-Fa-f]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[fF]?|-?(inf|infinity|nan)f?", re.I)
_FILE_NAME = re.compile(r"[^\n{}<>#\0]{1,300}\.[A-Za-z0-9_]{2,9}")
_ESCAPES = re.compile(r"""(?:[^\\]|\\(?:[abfnrtv\\?'"]|[0-7]{1,3}|[xX][0-9A-Fa-f]{1,2}))*""")
_RANGES = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}
# Names that other tools, or hope, have for a field.
_ALIASES = {
    **{f"bias_{i}": f"input_bias_{i} (YUV -> RGB) or output_bias_{i} (RGB -> YUV)" for i in range(3)},
    **{f"var_chn_{i}": f"var_reci_chn_{i}, the reciprocal 1 / std" for i in range(4)},
    **{f"std_chn_{i}": f"var_reci_chn_{i}, the reciprocal 1 / std" for i in range(4)},
    **{f"target_image_size_{a}": f"crop_size_{a}: AIPP crops, it does not resize" for a in "wh"},
}
_KIRIN = re.compile(r"\w+_(para|func)")
_HISILICON = re.compile(r"[A-Z]+_(PLANAR|PACKAGE)|RAW_[RGB]{4}")


class Entry(NamedTuple):
    """One ``name: value`` of a block: its value as written, its kind of token, and where both stand."""

    name: str
    value: str
    kind: str
    at: int
    value_at: int
    line: int


@dataclass
class Block:
    """One ``aipp_op { ... }``: its first and last line, and its fields by name."""

    line: int
    last_line: int = 0
    entries: dict[str, Entry] = field(default_factory=dict)


class Scan(NamedTuple):
    """A text that holds to the format, and its blocks."""

    text: str
    blocks: list[Block]


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def decode(source: str | bytes) -> str:
    """Return the text; bytes that are no UTF-8 become U+FFFD, which only a comment may hold.

    >>> decode("crop: true # 裁剪".encode("gbk"))[:13]
    'crop: true # '
    """
    if len(source) > LARGEST_TEXT:
        refuse(1, 1, f"the text has {len(source):,} bytes, no AIPP config file", f"At most {LARGEST_TEXT:,} are read")
    if isinstance(source, bytes):
        if source.startswith((b"\xff\xfe", b"\xfe\xff")):
            refuse(1, 1, "the file begins with a byte-order mark of UTF-16", "Save it as UTF-8 without byte-order mark")
        source = source.decode("utf-8", "replace")
    if source.startswith("\ufeff"):
        refuse(1, 1, "the file begins with a byte-order mark", "Save it as UTF-8 without byte-order mark (BOM)")
    return source


def refuse(line: int, column: int, problem: str, fix: str) -> NoReturn:
    """Raise `AippConfigError` for one place."""
    raise AippConfigError([ConfigProblem(line, column, problem, fix)])


def scan(text: str) -> Scan:
    """Find the blocks of a text and their fields.

    Parameters
    ----------
    text : str
        What `decode` returned.

    Raises
    ------
    AippConfigError
        With everything that is wrong (up to twenty places), each with line, column and what to write.
    """
    scanner = _Scanner(text)
    scanner.run()
    if scanner.problems:
        raise AippConfigError(scanner.dialect() or scanner.problems[:_MOST_PROBLEMS])
    return Scan(text, scanner.blocks)


class _Full(Exception):  # noqa: N818 - no error, the end of looking for errors
    """Enough problems have been found, or what follows would be noise."""


class _Scanner:
    """One pass over a text, token by token, without recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.problems: list[ConfigProblem] = []
        self.blocks: list[Block] = []
        self.foreign: list[tuple[str, int, str]] = []

    def line_of(self, at: int) -> int:
        return bisect_right(self.starts, at)

    def report(self, at: int, problem: str, fix: str, *, stop: bool = False) -> None:
        line = self.line_of(at)
        self.problems.append(ConfigProblem(line, at - self.starts[line - 1] + 1, problem, fix))
        if stop or len(self.problems) >= _MOST_PROBLEMS:
            raise _Full

    def run(self) -> None:
        try:
            if _FILE_NAME.fullmatch(self.text.strip()):
                fix = "A str is the text itself; for a file give a pathlib.Path"
                self.report(0, f"{self.text.strip()!r} is no AIPP config", fix, stop=True)
            self.parse(list(self.tokens()))
            self.check_values()
        except _Full:
            pass
        else:
            if not self.blocks and not self.problems:
                fix = "Write aipp_op { aipp_mode: static input_format: ... }"
                self.problems.append(ConfigProblem(1, 1, "the text has no aipp_op", fix))
        self.problems.sort(key=lambda p: (p.line, p.column))

    def tokens(self) -> Iterator[_Token]:
        """Cut the text into names, numbers, strings and signs; take a look-alike sign for the one that it is not."""
        at, text = 0, self.text
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                right = _MEANT.get(text[at])
                if right is None:
                    self.report_character(at)
                name = "full-width " if text[at] in "：，；｛｝" else ""
                shown = repr(right) if right != " " else "a plain blank"
                self.report(at, f"{name}{text[at]!r} where {shown} belongs", f"Write {shown}")
                if right != " ":
                    yield _Token("sign", right, at)  # type: ignore[arg-type]
                at += 1
                continue
            if match.lastgroup != "skip":
                if match.end() - at > _LONGEST_VALUE:
                    what = f"a {match.lastgroup} of {match.end() - at:,} characters"
                    self.report(at, what, f"No value needs more than {_LONGEST_VALUE}", stop=True)
                yield _Token(match.lastgroup, match.group(), at)  # type: ignore[arg-type]
            at = match.end()

    def report_character(self, at: int) -> None:
        """Say what a character is doing there that the format has no use for; nothing after it is looked at."""
        char = self.text[at]
        if char == "\0":
            problem, fix = "a NUL byte", "Give the text file, not a binary one; save it as UTF-8"
        elif char == "\ufffd":
            problem, fix = "a byte that is no UTF-8, outside a comment", "Only comments may hold other encodings"
        elif char in "\"'":
            problem, fix = "a quotation that its line does not close", f"Close it with {char}, on the same line"
        elif char in "/*":
            problem, fix = f"{char!r} begins nothing here", "Begin a comment with #"
        elif char in "“”‘’「」":
            problem, fix = f"the typographic quotation mark {char!r}", 'Write straight quotation marks: "'
        elif char == "\ufeff":
            problem, fix = "a byte-order mark amid the text", "Take it out: files were probably joined"
        elif char < " " or char == "\x7f":
            problem, fix = f"the control character {char!r}", "Give the text file, not a binary one"
        else:
            problem, fix = f"{char!r} outside a comment", "Write ASCII: fields look like  name: value"
        self.report(at, problem, fix, stop=True)

    def parse(self, tokens: list[_Token]) -> None:
        """Follow the braces, collect the fields."""
        end = _Token("end", "", len(self.text))
        tokens += [end, end, end]
        i, opened, listed = 0, -1, False
        while tokens[i].kind != "end":
            kind, text, at = tokens[i]
            if kind == "name":
                colon = tokens[i + 1].text == ":" and tokens[i + 1].kind == "sign"
                value = tokens[i + 1 + colon]
                if value.kind == "sign" and value.text in "{<":
                    if opened >= 0:
                        self.report_nested(text, at, opened)
                    if text != "aipp_op":
                        self.foreign.append((text, at, ""))
                        self.report(at, f"{text} is no block of this format", "Write aipp_op { ... }", stop=True)
                    self.blocks.append(Block(self.line_of(at)))
                    opened = at
                    i += 2 + colon
                elif opened < 0 and text == "aipp_op" and value.text == "[" and value.kind == "sign":
                    listed = True
                    i += 2 + colon
                else:
                    i += self.take_field(tokens, i, colon=colon, inside=opened >= 0)
                continue
            if text in "}>" and kind == "sign" and opened >= 0:
                self.blocks[-1].last_line = self.line_of(at)
                opened = -1
            elif text in "{<" and kind == "sign" and opened < 0 and listed:
                self.blocks.append(Block(self.line_of(at)))
                opened = at
            elif text in "{}<>" and kind == "sign":
                action = "closes" if text in "}>" else "opens"
                self.report(at, f"{text!r} {action} nothing", "Take it out, or add its counterpart", stop=True)
            elif not (kind == "sign" and (text in ",;" or (listed and text == "]"))):
                self.report(at, f"{text} without a field name before it", "Write  name: value")
            i += 1
        if opened >= 0:
            fix = "Add a closing brace at the end"
            self.report(opened, f"aipp_op is opened here and closed nowhere{self.lost_in_comment()}", fix)

    def lost_in_comment(self) -> str:
        """Whether the last brace stands in a comment."""
        last = self.text.rfind("}")
        in_comment = last >= 0 and "#" in self.text[self.text.rfind("\n", 0, last) + 1 : last]
        return f" (the brace in line {self.line_of(last)} is in a comment)" if in_comment else ""

    def report_nested(self, name: str, at: int, opened: int) -> None:
        self.foreign.append((name, at, ""))
        if name == "aipp_op":
            fix = f"Close the block of line {self.line_of(opened)} with a brace first"
            self.report(at, "aipp_op inside aipp_op", fix, stop=True)
        self.report(at, f"{name} {{ ... }} inside aipp_op", "All fields stand directly in aipp_op", stop=True)

    def take_field(self, tokens: list[_Token], i: int, *, colon: bool, inside: bool) -> int:
        """Take one field; return how many tokens it has."""
        name, value = tokens[i], tokens[i + 1 + colon]
        after = tokens[i + 2 + colon]
        missing = value.kind in ("sign", "end") or (
            value.kind == "name" and after.text == ":" and value.at > name.at and colon
        )
        if not colon:
            wrong = name.at + len(name.text)
            if missing or self.line_of(value.at) != self.line_of(name.at):
                self.report(name.at, f"{name.text} has no value", f"Write {name.text}: and the value")
                return 1
            self.report(wrong, f"no colon after {name.text}", f"Write {name.text}: {value.text}")
        elif missing and value.text == "[":
            self.report(value.at, f"{name.text} has a list", "Write one value without brackets", stop=True)
        elif missing:
            self.report(value.at, f"{name.text} has no value", f"Write a value after {name.text}:")
            return 2
        entry = Entry(name.text, value.text, value.kind, name.at, value.at, self.line_of(name.at))
        if not inside:
            known = name.text in CONFIG_FIELDS
            fix = "Put the fields between  aipp_op {  and  }" if known else "The file consists of aipp_op { ... }"
            self.report(name.at, f"{name.text} outside aipp_op", fix, stop=True)
        self.add(entry)
        used = 2 + colon
        while value.kind == "string" and tokens[i + used].kind == "string":
            used += 1  # neighbouring strings are one
        return used

    def add(self, entry: Entry) -> None:
        """Check one field and keep it."""
        self.foreign.append((entry.name, entry.at, entry.value))
        entries = self.blocks[-1].entries
        if entry.name in entries:
            first = entries[entry.name].line
            self.report(entry.at, f"{entry.name} is given twice, first in line {first}", "Keep one of them")
            return
        if entry.name not in CONFIG_FIELDS:
            self.report(entry.at, f"{entry.name} is no field of aipp_op", _nearest_field(entry.name))
            return
        entries[entry.name] = entry

    def check_values(self) -> None:
        """Check the values, once all fields of a block are known."""
        for block in self.blocks:
            for entry in block.entries.values():
                wrong = _check_value(entry, block.entries)
                if wrong:
                    self.report(entry.value_at, *wrong)

    def dialect(self) -> list[ConfigProblem]:
        """Return one problem that names the dialect, if the text is in another one."""
        for name, at, value in self.foreign:
            if name not in CONFIG_FIELDS and _KIRIN.fullmatch(name):
                what = f"{name} belongs to the nested dialect of Kirin phone chips (HiAI, HarmonyOS CANN Kit)"
                fix = "Write its fields directly into aipp_op: crop_func { switch: true } is crop: true here"
            elif name == "model_format" or (name == "input_format" and _HISILICON.fullmatch(value)):
                what = f"{value or name} belongs to the dialect of HiSilicon camera chips (SVP, Hi35xx)"
                fix = "Here input_format is " + ", ".join(list(ENUMS["InputFormat"])[1:]) + "; there is no model_format"
            else:
                continue
            line = self.line_of(at)
            return [ConfigProblem(line, at - self.starts[line - 1] + 1, what, fix)]
        return []


def _nearest_field(name: str) -> str:
    if name in _ALIASES:
        return f"Write {_ALIASES[name]}"
    near = get_close_matches(name.lower(), CONFIG_FIELDS, 1, 0.75) if len(name) < 60 else []
    return f"Write {near[0]}" if near else "Take it out: protobuf refuses what it does not know"


def _check_value(entry: Entry, entries: Mapping[str, Entry]) -> tuple[str, str] | None:
    """Return what is wrong with a value, and what to write; None if nothing is."""
    name, value = entry.name, entry.value
    kind = CONFIG_FIELDS[name].kind
    if kind == "string":
        if entry.kind != "string":
            return f"{name} is a text", f'Write {name}: "{value}"'
        if not value.isascii() and any(c == "\ufffd" or "\ud800" <= c <= "\udfff" for c in value):
            return f"{name} holds bytes that are no UTF-8", "Save the file as UTF-8"
        if not _ESCAPES.fullmatch(value):
            return f"{name} has a backslash that begins no escape sequence", "Write \\\\ for a backslash"
        return None
    if entry.kind == "string":
        return f"{name} has no quotation marks", f"Write {name}: {value[1:-1]}"
    if kind in ENUMS:
        return _check_enum(entry, ENUMS[kind])
    if kind == "bool":
        if value in ("true", "false", "t", "f", "True", "False", "1", "0"):
            return None
        meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(value.lower(), value.lower())
        meant = meant if meant in ("true", "false") else "true or false"
        return f"{name} is true or false, not {value}", f"Write {name}: {meant}"
    if kind == "float":
        if _FLOAT.fullmatch(value):
            return None
        return f"{name} is a number, not {value}", f"Write {name}: 0.5 or the like: digits, one point, an exponent"
    return _check_integer(entry, entries)


def _check_enum(entry: Entry, members: Mapping[str, int]) -> tuple[str, str] | None:
    name, value = entry.name, entry.value
    if value in members or (_INTEGER.fullmatch(value) and _as_int(value) in members.values()):
        return None
    known = [member for member in members if member.lower() != "undefined"]
    upper = {member.upper(): member for member in members}
    near = get_close_matches(value.upper(), upper, 1, 0.6) if len(value) < 60 else []
    meant = upper[near[0]] if near else " or ".join(known)
    return f"{name} has no value {value}; known: {', '.join(known)}", f"Write {name}: {meant}"


def _as_int(digits: str) -> int:
    """Read what `_INTEGER` accepts: decimal, 0x... hexadecimal, 0... octal."""
    plain = digits.lstrip("-")
    base = 16 if plain[:2].lower() == "0x" else 8 if plain.startswith("0") else 10
    return int(digits, base)


def _check_integer(entry: Entry, entries: Mapping[str, Entry]) -> tuple[str, str] | None:
    name, value = entry.name, entry.value
    if _INTEGER.fullmatch(value):
        low, high = _RANGES[CONFIG_FIELDS[name].kind]
        if low <= _as_int(value) <= high:
            return None
        return f"{name} is an integer in [{low}, {high}], not {value}", f"Write {name}: and a value in that range"
    problem = f"{name} is an integer, not {value}"
    try:
        number = float(value[:-1] if value[-1] in "fF" else value)
    except ValueError:
        return problem, f"Write {name}: and decimal digits"
    if number.is_integer() and abs(number) < 2**31:
        return problem, f"Write {name}: {int(number)}"
    if not name.startswith("mean_chn_"):
        return problem, f"Write {name}: and a whole number"
    target = name.replace("mean", "min")
    fix = f"Write {target}: {value} instead, which subtracts just the same"
    if target in entries:
        there = entries[target].value
        fix += f"; {target} has {there} already"
        if there.startswith(("0.", ".")):
            fix += f", a factor by its size, which belongs to {target.replace('min', 'var_reci')}"
    return problem, fix
