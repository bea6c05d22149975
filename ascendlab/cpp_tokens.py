"""C++ text as tokens, each of which knows where it stands.

>>> [token.text for token in Text("p.l1H = 0x1F; // rows").tokens[:-1]]
['p', '.', 'l1H', '=', '0x1F', ';']
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import NamedTuple

from ascendlab.errors import CppProblem, ParameterError

__all__ = ["MOST_CHARACTERS", "Refusal", "Silence", "Text", "Token", "nearest"]

MOST_CHARACTERS = 1 << 18
_SHOWN = 80  # characters of a line in a message
_LONGEST_NAME = 60  # longer ones nobody has mistyped
_MOST_NAMES = 200

# A backslash at a line's end joins two lines, in comments too.  What never ends (a comment, a text) takes all that is
# left of the text or of the line, so that no part is looked at twice.
_TOKEN = re.compile(
    r"""
      (?P<space> (?:[ \t\r\n\f\v] | \\\r?\n)+ | //(?:\\\r?\n | [^\n])* | /\*.*?\*/ )
    | (?P<open> /\*.* )
    | (?P<directive> \#(?:\\\r?\n | [^\n])* )
    | (?P<number> \.?[0-9](?: [eEpP][+-] | '(?=[0-9A-Za-z]) | [0-9A-Za-z_.] )* )
    | (?P<name> [A-Za-z_][A-Za-z_0-9]* )
    | (?P<string> "(?:\\. | [^"\\\n])*"? | '(?:\\. | [^'\\\n])*'? )
    | (?P<sign> :: | -> | \+\+ | -- | << | >> | && | \|\| | [-+*/%&|^<>=!]= | [-+*/%&|^<>=!~(){}\[\];:,.?] )
    | (?P<junk> . )
    """,
    re.VERBOSE | re.DOTALL,
)


class Refusal(Exception):  # noqa: N818 (never leaves the reader)
    """Something that is not understood: what is wrong, what would be right, and at which character."""

    def __init__(self, start: int, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.start, self.problem, self.fix = start, problem, fix


class Silence(Exception):  # noqa: N818 (never leaves the reader)
    """A statement that uses what was refused before: nothing more to say."""


class Token(NamedTuple):
    """A piece of the text.

    Parameters
    ----------
    kind : str
        ``"name"``, ``"number"``, ``"sign"``, ``"directive"``, ``"string"``, ``"open"`` (a comment without an end),
        ``"junk"`` (a character that C++ does not know), or ``"end"``.
    text : str
        As it stands there.
    start : int
        Number of the first character.
    """

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        return {
            "end": "the end of the text",
            "open": "a comment that never ends",
            "string": "a text in quotes",
            "directive": "a line for the preprocessor",
        }.get(self.kind, repr(self.text if len(self.text) <= _LONGEST_NAME else f"{self.text[:_LONGEST_NAME]}..."))


class Text:
    """C++ text, cut into tokens.

    Parameters
    ----------
    text : str
        At most `MOST_CHARACTERS` characters.

    Attributes
    ----------
    tokens : list of Token
        Without spaces and comments; the last one is the end.
    """

    def __init__(self, text: object) -> None:
        if not isinstance(text, str):
            raise ParameterError("text", text, "a string of C++ code")
        if len(text) > MOST_CHARACTERS:
            raise ParameterError("text", f"{len(text):,} characters", f"at most {MOST_CHARACTERS:,} characters")
        self.text = text
        self.tokens = [
            Token(str(found.lastgroup), found[0], found.start())
            for found in _TOKEN.finditer(text)
            if found.lastgroup != "space"
        ]
        self.tokens.append(Token("end", "", len(text.rstrip())))

    def line(self, start: int) -> int:
        """Return the number of the line that a character stands in, from 1."""
        return self.text.count("\n", 0, start) + 1

    def problem(self, refusal: Refusal) -> CppProblem:
        """Say where in the text something was refused."""
        start = refusal.start
        begin = self.text.rfind("\n", 0, start) + 1
        line, column = self.text[begin : begin + (1 << 16)].partition("\n")[0], start - begin
        # Of a long line the part around the place.
        first = max(0, min(column - _SHOWN // 2, len(line) - _SHOWN))
        shown = line[first : first + _SHOWN].strip()
        return CppProblem(self.line(start), column + 1, shown, refusal.problem, refusal.fix)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what to write instead of an unknown name: the most similar one, or all if there are few.

    >>> nearest("paddingmode", ["paddingMode", "paddingValueCh0"])
    'Did you mean paddingMode?'
    >>> nearest("x", ["l1H", "l1W"])
    'Known are: l1H, l1W.'
    """
    names = [each for _, each in zip(range(_MOST_NAMES), known, strict=False)]
    if len(name) <= _LONGEST_NAME:
        lower = {each.lower(): each for each in names if len(each) <= _LONGEST_NAME}
        found = difflib.get_close_matches(name.lower().replace("_", ""), lower, 1)
        if found:
            return f"Did you mean {lower[found[0]]}?"
    return f"Known are: {', '.join(names)}." if names and len(names) <= 40 else ""
