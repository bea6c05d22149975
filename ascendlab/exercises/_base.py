"""Exercises in five beats: task, spec, stub, show, check.

An `Exercise` runs the learner's function on several inputs, compares with what the library makes of them, and
says *why* an answer is wrong.  To know why, it carries *misconceptions*: plausible wrong functions.  If the
learner's answers are those of one of them, the message names it; otherwise it shows the first wrong
element and where the right one comes from.

>>> def cases(rng):
...     return [Case({"values": rng.integers(1, 9, (h, w))}, words=f"{h} x {w} values") for h, w in odd_shapes(rng)]
>>> double = Exercise(
...     name="double", parameters="values", task="Double every value.", spec="out == values + values",
...     cases=cases, library=lambda values: values + values,
...     misconceptions=[Misconception("That is the square, not the double.", lambda values: values**2)])
>>> double.check(lambda values: None)
Not done yet: write double, then check again.
>>> double.check(lambda values: values * values)
Wrong: That is the square, not the double.
  Seen on 3 x 9 values.
>>> bool(double.check(lambda values: values << 1))
True
"""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.errors import AscendlabError, ParameterError, describe_value
from ascendlab.fields import check_int

__all__ = ["Case", "Exercise", "Misconception", "Result", "Shown", "odd_shapes"]

NOT_DONE, RIGHT, WRONG, STOPPED = "not done", "right", "wrong", "stopped"
_NOTHING = (None, Ellipsis, NotImplemented)
_SEED = 2024
# Long values would bury the sentence that explains them.
_LONGEST_VALUE = 400
_LONGEST_SHOWN = 1500


def odd_shapes(rng: np.random.Generator, count: int = 3, low: int = 3, high: int = 11) -> list[tuple[int, int]]:
    """Draw (height, width) pairs of different odd numbers, flat and upright ones in turn.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where they are drawn from.
    count : int, optional
        How many.
    low, high : int, optional
        Bounds of both numbers, ends included.

    Examples
    --------
    >>> shapes = odd_shapes(np.random.default_rng(1))
    >>> [h % 2 and w % 2 and h < w for h, w in shapes[::2]], shapes[1][0] > shapes[1][1]
    ([True, True], True)
    """
    odd = np.arange(low | 1, high + 1, 2)
    pairs = [sorted(int(n) for n in rng.choice(odd, 2, replace=False)) for _ in range(count)]
    return [(a, b) if i % 2 == 0 else (b, a) for i, (a, b) in enumerate(pairs)]


@dataclass(frozen=True, eq=False)
class Case:
    """One input that an answer is run on.

    Parameters
    ----------
    arguments : mapping of str to object
        By name, in the order in which the learner's function takes them.
    words : str
        The input in a few words, for messages.
    where : callable, optional
        ``where(*index)`` says in words where the right element at `index` comes from, as `Trace.origin` does.
    """

    arguments: Mapping[str, Any]
    words: str
    where: Callable[..., object] | None = None

    def run(self, function: Callable[..., Any]) -> Any:
        """Call `function` on a copy of the arguments, so that it cannot spoil them for the next one."""
        return function(*copy.deepcopy(list(self.arguments.values())))


@dataclass(frozen=True)
class Misconception:
    """A plausible wrong answer.

    Parameters
    ----------
    says : str
        What is wrong with it, in a sentence or two, without giving the solution.
    answer : callable
        The wrong function: takes the exercise's arguments.
    """

    says: str
    answer: Callable[..., Any]


@dataclass(frozen=True)
class Result:
    """What a check found; its text is its repr, its truth is whether the answer is right.

    Parameters
    ----------
    status : {"not done", "right", "wrong", "stopped"}
        "stopped": the learner's function raised an exception.
    message : str
        The finding, and why.
    misconception : str
        What the recognised `Misconception` says, if one was recognised.
    """

    status: str
    message: str
    misconception: str = ""

    def __bool__(self) -> bool:
        return self.status == RIGHT

    def __repr__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Shown:
    """An example input and what the learner's function makes of it, as text."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What came out of one case: a value, or the reason why there is none."""

    case: Case
    value: Any = None
    trouble: str = ""
    unwritten: bool = False

    @property
    def nothing(self) -> bool:
        return not self.trouble and any(self.value is n for n in _NOTHING)


def _as_it_is(answer: Any, **_: Any) -> Any:
    return answer


def _equal(found: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = np.asarray(found == right)
    if found.dtype.kind == right.dtype.kind == "f":
        same = same | (np.isnan(found) & np.isnan(right))
    return same


@dataclass(frozen=True, kw_only=True, eq=False)
class Exercise:
    """A task, and the check that says why an answer is wrong.

    Parameters
    ----------
    name : str
        Name of the function that the learner writes.
    parameters : str
        Its parameters, as they stand between the parentheses.
    task : str
        What to write, in Markdown.
    spec : str
        What must hold, in one or two lines of NumPy.
    cases : callable
        ``cases(rng)`` makes the inputs; the first is small enough to be shown.
    library : callable
        Takes the same arguments and returns the right answer, computed by the library.
    misconceptions : sequence of Misconception
        Wrong answers to recognise, the most particular first.
    dtype : numpy dtype, optional
        The type the result must have; None accepts any type that holds the right values.
    observe : callable, optional
        ``observe(answer, **arguments)``: what the library makes of an answer that is itself a parameter choice.
        The results are compared then, not the answers.
    agrees : callable, optional
        ``agrees(found, right)`` says for each element of two arrays of one shape whether it is right; exact
        equality if not given.
    """

    name: str
    parameters: str
    task: str
    spec: str
    cases: Callable[[np.random.Generator], Sequence[Case]]
    library: Callable[..., Any]
    misconceptions: Sequence[Misconception]
    dtype: Any = None
    observe: Callable[..., Any] = _as_it_is
    agrees: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]] = field(default=_equal)

    @property
    def stub(self) -> str:
        """The function to fill in."""
        return f"def {self.name}({self.parameters}):\n    return None  # your code"

    def __repr__(self) -> str:
        return f"Task: {self.task}\nSpec:\n{_indent(self.spec)}\nStub:\n{_indent(self.stub)}"

    def _repr_markdown_(self) -> str:
        # The stub follows as a cell of its own, to be filled in.
        return f"**Task.** {self.task}\n\n**Spec.** What must hold:\n\n```python\n{self.spec}\n```\n"

    def show(self, answer: object, *, seed: int = _SEED) -> Shown:
        """Show a small input and what `answer` makes of it, without judging.

        Parameters
        ----------
        answer : callable
            The learner's function; None, or one that returns nothing, is fine.
        seed : int, optional
            Draws another input.

        Raises
        ------
        ParameterError
            For a `seed` that is no integer in [0, 2**64 - 1].
        """
        case = self._make_cases(seed)[0]
        lines = [f"{name} = {_shorten(value, _LONGEST_SHOWN)}" for name, value in case.arguments.items()]
        result = "nothing yet"
        if callable(answer):
            outcome = _run(answer, case)
            if not (outcome.nothing or outcome.unwritten):
                result = outcome.trouble or _shorten(outcome.value, _LONGEST_SHOWN) + _describe(outcome.value)
        return Shown("\n".join([*lines, f"{self.name} returns: {result}"]).replace(" \n", "\n"))

    def check(self, answer: object, *, seed: int = _SEED) -> Result:
        """Compare `answer` with the library and say why it is wrong.

        Parameters
        ----------
        answer : callable
            The learner's function.  One that returns nothing, or raises NotImplementedError, is not done yet.
        seed : int, optional
            Draws other inputs.

        Returns
        -------
        Result
            Never an exception of the learner's function: what it raises, `SystemExit` included, is part of the
            message.  Only a `KeyboardInterrupt` comes through.

        Raises
        ------
        ParameterError
            For a `seed` that is no integer in [0, 2**64 - 1].
        """
        cases = self._make_cases(seed)
        if any(answer is n for n in _NOTHING):
            return self._not_done()
        if not callable(answer):
            given = describe_value(answer)
            return Result(
                WRONG, f"Wrong: check wants the function itself, {self.name}, without calling it; it got {given}."
            )
        outcomes = [_run(answer, case) for case in cases]
        if all(o.nothing or o.unwritten for o in outcomes):
            return self._not_done()
        for outcome in outcomes:
            if outcome.trouble:
                return Result(STOPPED, f"Stopped: {outcome.trouble}\n  Seen on {outcome.case.words}.")
        rights = [np.asarray(self.observe(o.case.run(self.library), **o.case.arguments)) for o in outcomes]
        findings = [(o, right, self._finding(o, right)) for o, right in zip(outcomes, rights, strict=True)]
        failures = [finding for finding in findings if finding[2]]
        if not failures:
            words = "; ".join(o.case.words for o in outcomes)
            return Result(RIGHT, f"Right: {self.name} agrees with the library on {len(outcomes)} inputs ({words}).")
        first, _, reason = failures[0]
        for misconception in self.misconceptions:
            if all(self._made_like(misconception, o) for o in outcomes):
                says = misconception.says
                return Result(WRONG, f"Wrong: {says}\n  Seen on {first.case.words}.", says)
        return Result(WRONG, f"Wrong: {reason}\n  Seen on {first.case.words}.")

    def _not_done(self) -> Result:
        return Result(NOT_DONE, f"Not done yet: write {self.name}, then check again.")

    def _make_cases(self, seed: int) -> Sequence[Case]:
        return self.cases(np.random.default_rng(check_int("seed", seed, 0, 2**64 - 1)))

    def _made_like(self, misconception: Misconception, outcome: _Outcome) -> bool:
        """Whether the misconception makes the same of this case as the learner's function did."""
        theirs = _run(misconception.answer, outcome.case)
        if theirs.trouble or theirs.nothing or outcome.nothing:
            return False
        try:
            ours, wrong = (np.asarray(self.observe(o.value, **o.case.arguments)) for o in (outcome, theirs))
        except Exception:  # an answer that cannot even be used has its own message
            return False
        comparable = ours.shape == wrong.shape and ours.dtype.kind in "biufUS"
        return comparable and bool(self.agrees(ours, wrong).all())

    def _finding(self, outcome: _Outcome, right: NDArray[Any]) -> str:
        """Return what is wrong with one outcome, in a sentence; nothing if it is right."""
        if outcome.nothing:
            return f"{self.name} returns nothing here, though it returns something for other inputs."
        try:
            found = np.asarray(self.observe(outcome.value, **outcome.case.arguments))
        except AscendlabError as error:
            return f"the library refuses this: {error}"
        except Exception:
            found = np.asarray(None)
        if found.dtype.kind not in ("US" if right.dtype.kind in "US" else "biuf"):
            return f"{self.name} returns {describe_value(outcome.value)}; wanted: {_wanted(right)}."
        if found.shape != right.shape:
            return f"the result has shape {found.shape}; it must be {right.shape}."
        same = self.agrees(found, right)
        if not same.all():
            return self._first_wrong(outcome.case, found, right, np.argwhere(~same))
        if self.dtype is not None and found.dtype != np.dtype(self.dtype):
            return f"the values are right, but their type is {found.dtype}; it must be {np.dtype(self.dtype)}."
        return ""

    @staticmethod
    def _first_wrong(case: Case, found: NDArray[Any], right: NDArray[Any], wrong: NDArray[np.intp]) -> str:
        """Name the first element that differs and where the right one comes from."""
        if right.shape == ():
            return f"the result is {_plain(found)}; that is not what the library makes of this input."
        index = tuple(int(i) for i in wrong[0])
        place = f"[{', '.join(map(str, index))}]"
        origin = f", which comes from {case.where(*index)}" if case.where else ""
        return (
            f"element {place} is {_plain(found[index])}; it must be {_plain(right[index])}{origin}. "
            f"{len(wrong)} of {right.size} elements are wrong."
        )


def _run(function: Callable[..., Any], case: Case) -> _Outcome:
    try:
        return _Outcome(case, case.run(function))
    except KeyboardInterrupt:  # the learner stops an endless loop
        raise
    except BaseException as error:  # sys.exit() too: what the learner's code does is theirs to read about
        return _Outcome(case, trouble=_explain(error, function), unwritten=isinstance(error, NotImplementedError))


def _explain(error: BaseException, function: Callable[..., Any]) -> str:
    """Say in a line what an exception was and in which line of the learner's function it came up."""
    code = getattr(function, "__code__", None)
    lines = [
        frame.line
        for frame in traceback.extract_tb(error.__traceback__)
        if code is not None and frame.filename == code.co_filename and frame.line
    ]
    place = f" in the line `{lines[-1].strip()}`" if lines else ""
    text = " ".join(str(error).split())[:_LONGEST_VALUE]
    return f"your function raised {type(error).__name__}{place}" + (f": {text}" if text else "")


def _wanted(right: NDArray[Any]) -> str:
    if right.dtype.kind in "US":
        return "text"
    return f"numbers of shape {right.shape}" if right.shape else "a number"


def _plain(value: Any) -> str:
    """Write an element as Python does, without NumPy's type around it."""
    return repr(value.item()) if isinstance(value, (np.generic, np.ndarray)) and value.shape == () else _shorten(value)


def _describe(value: Any) -> str:
    return f"  (shape {value.shape}, {value.dtype})" if isinstance(value, np.ndarray) else ""


def _shorten(value: Any, longest: int = _LONGEST_VALUE) -> str:
    try:
        if isinstance(value, np.ndarray) and value.ndim == 3:
            # A picture: one line for each row of pixels, which NumPy would give a line each.
            digits = max(len(str(number)) for number in value.ravel().tolist())
            text = "\n".join(" | ".join(" ".join(f"{n:>{digits}}" for n in pixel) for pixel in row)
                             for row in value.tolist())  # fmt: skip
        else:
            text = np.array2string(value, separator=", ") if isinstance(value, np.ndarray) else repr(value)
    except Exception:  # a broken __repr__ is no reason to stop
        return describe_value(value)
    if len(text) > longest:
        return describe_value(value)
    lines = [line for line in text.splitlines() if line.strip()]
    return "".join(f"\n    {line}" for line in lines) if len(lines) > 1 else text


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def require_answer(value: object, count: int, words: str) -> tuple[Any, ...]:
    """Return an answer of `count` parts as a tuple; anything else is the learner's mistake.

    >>> require_answer([1, 2], 2, "two numbers")
    (1, 2)
    """
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, (tuple, list)) and len(value) == count:
        return tuple(value)
    raise ParameterError("the answer", value, words)
