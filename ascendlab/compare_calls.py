"""Guesses at a wrong parameter: the golden call made again with one of its parameters changed.

>>> from ascendlab.vector import vector_padding
>>> call = Call(vector_padding, {"src": np.zeros(16, np.int16), "pad_mode": 1, "pad_side": False, "count": 16})
>>> for change in list(changes(call))[:3]:
...     print(change.cause, "|", change.words)
mode mistaken | padMode = 0 instead of 1 (the nearest element)
mode mistaken | padMode = 2 instead of 1 (the source block, mirrored and moved by one; 0 comes in)
flag turned round | padSide = True instead of False
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab import aipp, load3d, vector
from ascendlab.arrays import is_plain
from ascendlab.compare_cases import Case, Guess, made_of
from ascendlab.errors import AscendlabError, ParameterError
from ascendlab.fields import Field, Parameters, argument, fields_of
from ascendlab.products import Product
from ascendlab.provenance import Call
from ascendlab.vector_mask import Placeholder

__all__ = ["Change", "call_guesses", "changes", "run_apart", "run_quietly"]

# Not what a device computes with, or nothing that it can get wrong by itself.
_LEFT_OUT = (
    "out", "check_capacity", "allow_large", "strict", "shared_tmp_buffer_size", "sid", "en_small_k", "f_matrix_ctrl",
    "is_set_f_matrix", "is_set_padding", "src_horiz_size", "l1_h", "l1_w", "count",
)  # fmt: skip
_MASKS = ("mask", "vector_mask")
_PAIRS = (
    ("_h", "_w"),
    ("left_", "right_"),
    ("top_", "bot_"),
    ("left_", "top_"),
    ("right_", "bot_"),
    ("horiz_", "vert_"),
)
_FLAGS = {"isSwapRB": "RGB/BGR", "isSwapUV": "U/V swapped", "isSwapAX": "channel order"}
_ORDERS = {
    (1, 0, 3, 2): "the two of each axis exchanged",
    (2, 3, 0, 1): "top and bottom first",
    (0, 2, 1, 3): "left, top, right, bottom",
    (2, 0, 3, 1): "top, left, bottom, right",
}


def run_apart(call: Call) -> NDArray[Any]:
    """Make a call without changing its `out`."""
    arguments = dict(call.arguments)
    if isinstance(arguments.get("out"), np.ndarray):
        arguments["out"] = arguments["out"].copy()
    result = call.function(**arguments)
    if not is_plain(result):
        raise ParameterError("golden", result, "a call whose result is an array")
    return result


def run_quietly(call: Call) -> NDArray[Any] | None:
    """Make a call; None if it is refused.  What it would warn of is no concern of a guess."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run_apart(call)
        except Exception:  # a function of the caller's may refuse in its own words
            pass
    out = call.arguments.get("out")
    if not isinstance(out, np.ndarray):
        return None
    # With another parameter the result may have another shape: then it goes over `out` as far as the two reach.
    made = run_quietly(Call(call.function, {**call.arguments, "out": None}))
    if made is None or made.dtype != out.dtype or made.shape == out.shape:
        return made
    return run_quietly(Call(call.function, {**call.arguments, "out": _refilled(out, made.shape)}))


@dataclass(frozen=True, eq=False)
class Change:
    """A call with one parameter changed.

    Parameters
    ----------
    cause : str
        What kind of mistake that is.
    words : str
        The parameter, its wrong value and its right one.
    make : callable
        Makes the changed call; raises an `AscendlabError` if there is none.
    """

    cause: str
    words: str
    make: Callable[[], Call]


def call_guesses(case: Case) -> Iterator[Guess]:
    """Make the call of a case again, with one parameter changed at a time."""
    call = case.call
    if not isinstance(call, Call):
        return
    for change in changes(call):
        yield Guess(change.cause, change.words, made_of(_runner(change, case.golden)))


def _runner(change: Change, golden: NDArray[Any]) -> Callable[[], NDArray[Any]]:
    def run() -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = run_quietly(change.make())
            except AscendlabError:
                made = None
        # An empty result explains nothing; nor does one of another type.
        return made if made is not None and made.dtype == golden.dtype else np.empty(0, golden.dtype)

    return run


def changes(call: Call) -> Iterator[Change]:
    """Yield the calls that differ from one in a single parameter, or in two that are easily confused."""
    bound = call.bound()
    tables: Mapping[Any, Mapping[str, Field]] = {
        vector.vector_padding: vector.VECTOR_PADDING_ARGUMENTS,
        vector.bilinear_interpolation: vector.BILINEAR_INTERPOLATION_ARGUMENTS,
    }
    table = tables.get(call.function, {})

    def changed(**new: Any) -> Callable[[], Call]:
        return lambda: Call(call.function, {**call.arguments, **new})

    for name, value in bound.items():
        if name in _LEFT_OUT or value is None or isinstance(value, (np.ndarray, Product, Placeholder)):
            if name in _MASKS and isinstance(value, np.ndarray):
                value = value.tolist()
            else:
                continue
        if name in _MASKS:
            for cause, words, new in _masks(name, value):
                yield Change(cause, words, changed(**{name: new}))
        elif isinstance(value, aipp.AippSetup):
            yield from _setups(value, changed)
        elif isinstance(value, Parameters):
            for cause, words, make in _structures(value):
                yield Change(cause, words, partial(_rebuilt_argument, changed, name, make))
        else:
            spec = table.get(name) or argument(name, "", "")
            for cause, words, new in _values(spec, value):
                yield Change(cause, words, changed(**{name: new}))
    yield from _pitches(call, bound, changed)
    if call.function is vector.bilinear_interpolation:
        offsets = bound["src0_offset"]
        if isinstance(offsets, np.ndarray) and offsets.dtype == np.uint32:
            for words, new in (
                ("elements instead of bytes", offsets * 2),
                ("bytes where elements count", offsets // 64 * 32),
            ):
                yield Change("one stride off", f"src0Offset taken as {words}", changed(src0_offset=new))


def _pitches(call: Call, bound: Mapping[str, Any], changed: Callable[..., Callable[[], Call]]) -> Iterator[Change]:
    """Yield sources whose rows were taken to be longer or shorter than they are, so that pictures shear."""
    setup, params, src = bound.get("setup"), bound.get("params"), bound.get("src")
    if isinstance(setup, aipp.AippSetup) and isinstance(params, aipp.LoadImageToLocalParams):
        for step in (1, -1, 2, -2):
            words = f"srcHorizSize = {params.src_horiz_size + step} instead of {params.src_horiz_size}"
            yield Change("one stride off", words, partial(_with_pitch, changed, setup, params, step))
    elif isinstance(params, (load3d.LoadData3DParamsV1, load3d.LoadData3DParamsV2)) and is_plain(src):
        pixels = params.l1_h * params.l1_w
        if not pixels or src.size % pixels:
            return
        for name in ("l1_w", "l1_h"):
            for step in (1, -1):
                new = getattr(params, name) + step
                spec = fields_of(type(params))[name]
                words = f"{spec.document_name} = {new} instead of {new - step}"
                size = src.size // pixels * (pixels // (new - step)) * new
                yield Change("size off", words, partial(_with_size, changed, src, params, {name: new}, size))


def _with_size(
    changed: Callable[..., Callable[[], Call]], src: NDArray[Any], params: Any, new: dict[str, int], size: int
) -> Call:
    return changed(src=_refilled(src, (size,)), params=dataclasses.replace(params, **new))()


def _with_pitch(
    changed: Callable[..., Callable[[], Call]], setup: aipp.AippSetup, params: aipp.LoadImageToLocalParams, step: int
) -> Call:
    other = dataclasses.replace(params, src_horiz_size=params.src_horiz_size + step)
    return changed(setup=_sheared(setup, step), params=other)()


def _refilled(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return what an array of this shape reads where another one lies; zeros beyond its end."""
    flat = np.zeros(max(0, math.prod(shape)), array.dtype)
    there = array.reshape(-1)[: flat.size]
    flat[: there.size] = there
    return flat.reshape(shape)


def _sheared(setup: aipp.AippSetup, step: int) -> aipp.AippSetup:
    planes = [None if plane is None else _refilled(plane, (plane.shape[0], plane.shape[1] + step, *plane.shape[2:]))
              for plane in (setup.src0, setup.src1)]  # fmt: skip
    assert planes[0] is not None
    return aipp.set_aipp_functions(
        planes[0], planes[1], input_format=setup.input_format, config=setup.config, dtype=setup.dtype,
        product=setup.product, profile=setup.profile,
    )  # fmt: skip


def _masks(name: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield a mask's words in the other order, its bits turned round, and its two forms taken for each other."""
    words = "mask" if name == "mask" else "the vector mask"
    if isinstance(value, (list, tuple)):
        if len(value) == 2:
            yield "mask words in the wrong order", f"{words} has its two 64-bit words exchanged", list(value[::-1])
        flipped = [~int(word) & (2**64 - 1) for word in value if isinstance(word, (int, np.integer))]
        if len(flipped) == len(value):
            yield "mask turned round", f"{words}: the lanes that are off are written", flipped
            low = [int(word) & 0xFFFFFFFF | (int(word) & 0xFFFFFFFF) << 32 for word in value]
            yield "mask turned round", f"{words}: the lower 32 bits of each word count twice", low
        yield "mask ignored", f"{words}: all lanes are written", [2**64 - 1] * len(value)
        return
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        number = int(value)
        yield "mask taken for bits", f"{words} = {number} is taken for bits, not for a number of lanes", [number, 0]
        for off in (1, -1):
            yield "mask one off", f"{words} = {number + off} instead of {number}", number + off
        for lanes in (128, 64):
            if number != lanes:
                yield "mask ignored", f"{words}: all {lanes} lanes are written", lanes


def _setups(setup: aipp.AippSetup, changed: Callable[..., Callable[[], Call]]) -> Iterator[Change]:
    """Yield what SetAippFunctions may have been told instead."""

    def rebuilt(**new: Any) -> aipp.AippSetup:
        given = {"src1": setup.src1, "input_format": setup.input_format, "config": setup.config, "dtype": setup.dtype,
                 "product": setup.product, "profile": setup.profile, **new}  # fmt: skip
        return aipp.set_aipp_functions(setup.src0, **given)

    if setup.profile == "documented":
        words = "the open kernel's arithmetic (profile dav_3510) instead of the manual's"
        new = {"profile": "dav_3510", "product": Product.ATLAS_350}
    else:
        words, new = (
            "the manual's arithmetic instead of the open kernel's (profile dav_3510)",
            {"profile": "documented"},
        )
    yield Change("other profile", words, lambda: changed(setup=rebuilt(**new))())
    for cause, text, make in _structures(setup.config):
        yield Change(cause, text, partial(_rebuilt_argument, changed, "setup", partial(_with_config, rebuilt, make)))


def _rebuilt_argument(changed: Callable[..., Callable[[], Call]], name: str, make: Callable[[], Any]) -> Call:
    """Make a call one of whose arguments is only made now, because that may be refused."""
    return changed(**{name: make()})()


def _with_config(rebuilt: Callable[..., aipp.AippSetup], make: Callable[[], Any]) -> aipp.AippSetup:
    return rebuilt(config=make())


def _replaced(params: Any, name: str, make: Callable[[], Any]) -> Any:
    return dataclasses.replace(params, **{name: make()})


def _structures(params: Parameters) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield a parameter structure with one member changed, or two members of a pair exchanged."""
    specs = fields_of(type(params))
    for name, spec in specs.items():
        value = getattr(params, name)
        if name in _LEFT_OUT:
            continue
        if isinstance(value, Parameters):
            for cause, words, make in _structures(value):
                yield cause, words, partial(_replaced, params, name, make)
            continue
        for cause, words, new in _values(spec, value):
            yield cause, words, partial(_plainly_replaced, params, {name: new})
    for one, other in _exchanges(params, specs):
        words = f"{specs[one].document_name} and {specs[other].document_name} have changed places"
        new = {one: getattr(params, other), other: getattr(params, one)}
        yield "parameters exchanged", words, partial(_plainly_replaced, params, new)


def _plainly_replaced(params: Any, new: dict[str, Any]) -> Any:
    return dataclasses.replace(params, **new)


def _exchanges(params: Parameters, specs: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    for one in specs:
        for left, right in _PAIRS:
            other = one[: -len(left)] + right if left[0] == "_" and one.endswith(left) else one.replace(left, right)
            if other != one and other in specs and getattr(params, one) != getattr(params, other) and (
                one.endswith(left) or one.startswith(left)
            ):  # fmt: skip
                yield one, other


def _cause(name: str) -> str:
    """Return what a mistake in a number of this name is called."""
    lower = name.lower()
    for cause, parts in (
        ("one stride off", ("stride", "dilation", "roffset", "jump")),
        ("one padding off", ("pad",)),
        ("start off", ("start", "lefttop", "index", "fetch")),
        ("size off", ("size", "filter", "extension", "l1", "kernel")),
        ("repeats off", ("repeat",)),
    ):
        if any(part in lower for part in parts):
            return cause
    return "parameter off"


def _values(spec: Field, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield other values of one parameter: a flag turned round, another mode, one more, one less."""
    name = spec.document_name

    def off(new: Any, more: str = "") -> str:
        return f"{name} = {_number(new)} instead of {_number(value)}{more}"

    if isinstance(value, (bool, np.bool_)):
        yield _FLAGS.get(name, "flag turned round"), off(not value), not value
    elif spec.choices:
        for choice, meaning in spec.choices.items():
            if choice != value:
                yield "mode mistaken", off(choice, f" ({meaning})"), choice
    elif isinstance(value, tuple):
        yield from _tuples(name, value)
    elif isinstance(value, (int, np.integer)):
        tuned = name.startswith(("csc", "dtc"))  # weights and biases are forgotten rather than off by one
        if tuned or "Value" in name:
            if value and "Matrix" not in name:
                yield "parameter ignored", off(0), 0
            return
        for step in _steps(name):
            yield _cause(name), off(int(value) + step), int(value) + step
    elif isinstance(value, float):
        for new in dict.fromkeys((0.0, 1.0, -value)):
            if new != value:
                yield "parameter ignored" if new != -value else "sign", off(new), new


def _steps(name: str) -> tuple[int, ...]:
    """Return by how much a number may be off: by one, or by what the document lets it move in."""
    lower = name.lower()
    if "roffset" in lower:
        return 16, -16
    if "start" in lower or "extension" in lower:
        return 1, -1, 2, -2, 8, -8, 16, -16, 32, -32
    return 1, -1


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _tuples(name: str, value: tuple[Any, ...]) -> Iterator[tuple[str, str, Any]]:
    for i, number in enumerate(value):
        for step in (1, -1):
            new = (*value[:i], number + step, *value[i + 1 :])
            yield _cause(name), f"{name}[{i}] = {number + step} instead of {number}", new
    orders = _ORDERS if len(value) == 4 else {(1, 0): "the two exchanged"} if len(value) == 2 else {}
    for order, words in orders.items():
        new = tuple(value[i] for i in order)
        if new != value:
            yield "parameters exchanged", f"{name} = {new} instead of {value}: {words}", new
