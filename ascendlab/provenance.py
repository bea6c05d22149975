"""Where every output number came from.

A `Call` names an emulated function and its arguments; `trace` answers, from the same plan that moves the data,
which operand elements, with which weights, or which constant, made any output element.

>>> import numpy as np
>>> from ascendlab import AippInputFormat, AippParams, LoadImageToLocalParams, load_image_to_local, set_aipp_functions
>>> rgb = np.zeros((4, 6, 3), np.uint8)
>>> setup = set_aipp_functions(rgb, input_format=AippInputFormat.RGB888_U8, dtype="uint8", config=AippParams())
>>> params = LoadImageToLocalParams(horiz_size=4, vert_size=2, src_horiz_size=6, horiz_start_pos=2, vert_start_pos=1)
>>> traced = trace(Call(load_image_to_local, {"setup": setup, "params": params}))
>>> print(traced.origin(1, 0, 2))
src0[2, 2, 2]
>>> print(traced.origin(1, 0, 7))
constant 0
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ascendlab import aipp, load3d, vector
from ascendlab.capi.launch import Launch
from ascendlab.capi.tracing import LaunchTracer
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int
from ascendlab.sources import Sources
from ascendlab.traffic import Traffic

__all__ = ["Call", "Origin", "Sources", "Term", "Trace", "registered", "trace"]

# Whole-result questions are answered in pieces of this many output elements, so that memory stays bounded.
_PIECE = 1 << 18

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A function of this library and the arguments to call it with.

    Parameters
    ----------
    function : callable
        For instance `ascendlab.load_image_to_local`.
    arguments : mapping of str to object
        By name.

    Examples
    --------
    >>> call = Call(min, {"default": 3})
    >>> call.arguments["default"]
    3
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError("function", self.function, "a function of this library")
        if not isinstance(self.arguments, Mapping) or not all(isinstance(k, str) for k in self.arguments):
            raise ParameterError("arguments", self.arguments, "a mapping from argument names to values")
        object.__setattr__(self, "arguments", MappingProxyType(dict(self.arguments)))

    def bound(self) -> dict[str, Any]:
        """Return all arguments by name, those left out with their defaults.

        Raises
        ------
        ParameterError
            If an argument is missing, or one is there that the function does not have.
        """
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # some functions written in C do not tell
            return dict(self.arguments)
        try:
            bound = signature.bind(**self.arguments)
        except TypeError as error:
            name = getattr(self.function, "__name__", "the function")
            raise ParameterError(
                "arguments", list(self.arguments), f"those of {name}{signature}", hint=f"Here: {error}"
            ) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def run(self) -> Any:
        """Make the call."""
        self.bound()
        return self.function(**self.arguments)


@dataclass(frozen=True)
class Term:
    """One source element that an output element was made of: ``weight * operand[index]``.

    In a product of two arrays ``factor[factor_index]`` is the other element.
    """

    operand: str
    index: tuple[int, ...]
    weight: float
    factor: str = ""
    factor_index: tuple[int, ...] = ()

    def __str__(self) -> str:
        place = f"{self.operand}[{', '.join(map(str, self.index))}]"
        if self.factor:
            place += f" * {self.factor}[{', '.join(map(str, self.factor_index))}]"
        return place if self.weight == 1 else f"{self.weight:g} * {place}"


@dataclass(frozen=True)
class Origin:
    """Where one output element came from.

    Parameters
    ----------
    terms : tuple of Term
        Source elements with their weights, in the order in which they are added up; empty for a constant.
    constant : float or None
        The constant that stands there, if no source element does; in a sum of products, what products of constants
        add to it.
    """

    terms: tuple[Term, ...]
    constant: float | None

    def __str__(self) -> str:
        if self.terms:
            added = [] if self.constant is None else [f"constant {self.constant:g}"]
            return " + ".join([*map(str, self.terms), *added])
        return "never written" if self.constant is None else f"constant {self.constant:g}"


@dataclass(frozen=True, eq=False)
class Trace:
    """The provenance of a whole result, computed for the elements that are asked for.

    Parameters
    ----------
    shape : tuple of int
        Shape of the result.
    operands : mapping of str to tuple of int
        Each operand's name and shape.
    lookup : callable
        Maps flat output indices to `Sources`, vectorised.
    terms : int
        About how many terms an element has; whole-result questions are cut into pieces accordingly.
    memories : mapping of str to (str, DataType)
        Where each operand lies, and its element type.
    target : (str, DataType), optional
        The same of the result.
    log : callable, optional
        Counts the bytes read and written by a whole kernel, per memory, where there is more than one step.
    """

    shape: tuple[int, ...]
    operands: Mapping[str, tuple[int, ...]]
    lookup: Callable[[NDArray[np.intp]], Sources]
    terms: int = 1
    memories: Mapping[str, tuple[str, DataType]] = field(default_factory=dict)
    target: tuple[str, DataType] | None = None
    log: Callable[[], tuple[dict[str, int], dict[str, int]]] | None = None

    def sources(self, flat: NDArray[np.intp] | None = None) -> Sources:
        """Return the source arrays of the output elements with these flat indices (all elements if None)."""
        size = int(np.prod(self.shape))
        if flat is None:
            return self.lookup(np.arange(size))
        try:
            asked = np.asarray(flat)
        except Exception:  # ragged sequences and the like: no array at all
            asked = np.array(None)
        if asked.size == 0 and asked.ndim == 1:
            asked = asked.astype(np.intp)
        if (
            asked.ndim != 1
            or asked.dtype.kind not in "iu"
            or (asked.size and not 0 <= asked.min() <= asked.max() < size)
        ):
            raise ParameterError("flat", flat, f"a 1-D array of integers in [0, {size - 1}]")
        return self.lookup(asked.astype(np.intp, copy=False))

    def origin(self, *index: int) -> Origin:
        """Return where the output element at `index` came from."""
        size = tuple(self.shape)
        try:
            inside = tuple(check_int("index", i, 0, n - 1) for i, n in zip(index, size, strict=True))
        except ValueError:  # another number of indices, or one that is no such integer
            allowed = f"{len(size)} integers inside the result's shape {size}"
            raise ParameterError("index", index, allowed) from None
        found = self.sources(np.array([np.ravel_multi_index(inside, size)]))
        names = list(self.operands)

        def place(number: int, flat: int) -> tuple[str, tuple[int, ...]]:
            name = names[number]
            return name, tuple(int(i) for i in np.unravel_index(flat, self.operands[name]))

        terms = []
        for i, number in enumerate(found.operand[0]):
            if number < 0:
                continue
            factor: tuple[str, tuple[int, ...]] = ("", ())
            if found.factor_operand is not None and found.factor_operand[0, i] >= 0:
                assert found.factor_index is not None
                factor = place(found.factor_operand[0, i], found.factor_index[0, i])
            terms.append(Term(*place(number, found.index[0, i]), float(found.weight[0, i]), *factor))
        constant = None if np.isnan(found.constant[0]) or found.untouched[0] else float(found.constant[0])
        return Origin(tuple(terms), constant)

    def reads(self) -> dict[str, NDArray[np.int64]]:
        """Count, for each operand, how often each of its elements is used in the result.

        Examples
        --------
        >>> doubled = Trace((4,), {"src": (2,)}, lambda flat: Sources.copies(flat // 2))
        >>> doubled.reads()["src"]
        array([2, 2])
        """
        return dict(self.traffic().reads)

    def traffic(self) -> Traffic:
        """Count what is read and written: bytes per memory, reads per source element, elements never written.

        Returns
        -------
        Traffic

        Examples
        --------
        >>> half = as_dtype("half")
        >>> traced = Trace((4,), {"src": (2,)}, lambda flat: Sources.copies(flat // 3),
        ...                memories={"src": ("L1", half)}, target=("L0A", half))
        >>> print(traced.traffic())
        read:    L1 8 bytes, each use counted; 4 different ones
        written: L0A 8 bytes
        """
        counts = {name: np.zeros(int(np.prod(shape)), np.int64) for name, shape in self.operands.items()}
        constants = untouched = 0
        total = int(np.prod(self.shape))
        piece = max(1, _PIECE // self.terms)
        for start in range(0, total, piece):
            found = self.sources(np.arange(start, min(start + piece, total)))
            none = (found.operand < 0).all(axis=1)
            untouched += int(np.count_nonzero(found.untouched))
            constants += int(np.count_nonzero(none & ~found.untouched))
            factors = () if found.factor_operand is None else ((found.factor_operand, found.factor_index),)
            for operand, index in ((found.operand, found.index), *factors):
                assert index is not None
                for number, name in enumerate(self.operands):
                    counts[name] += np.bincount(index[operand == number], minlength=counts[name].size)
        read: dict[str, int] = {}
        different: dict[str, int] = {}
        for name, count in counts.items():
            if name in self.memories and count.any():
                memory, kind = self.memories[name]
                read[memory] = read.get(memory, 0) + kind.nbytes(int(count.sum()))
                different[memory] = different.get(memory, 0) + kind.nbytes(int(np.count_nonzero(count)))
        written = {}
        if self.target is not None:
            memory, kind = self.target
            written[memory] = kind.nbytes(total - untouched)
        if self.log is not None:
            (read, written), different = self.log(), {}
        reads = {name: count.reshape(self.operands[name]) for name, count in counts.items()}
        return Traffic(read, different, written, reads, constants, untouched)


def _trace_aipp(arguments: Mapping[str, Any]) -> Trace:
    setup, params = arguments["setup"], arguments["params"]
    plan = aipp.aipp_plan(setup, params)
    operands = {"src0": setup.src0.shape}
    if setup.src1 is not None:
        operands["src1"] = setup.src1.shape
    memories = dict.fromkeys(operands, ("GM", as_dtype("uint8")))
    lookup = partial(aipp.aipp_sources, plan, setup)
    return Trace(plan.shape, operands, lookup, memories=memories, target=("L1", setup.dtype))


def _trace_vector_padding(arguments: Mapping[str, Any]) -> Trace:
    plan = vector.vector_padding_plan(**_without(arguments, "out", "check_capacity", "allow_large"))
    src = arguments["src"]
    unified = "UB", as_dtype(src.dtype)
    lookup = partial(vector.vector_padding_sources, plan)
    return Trace((plan.size,), {"src": src.shape}, lookup, memories={"src": unified}, target=unified)


def _trace_bilinear_interpolation(arguments: Mapping[str, Any]) -> Trace:
    own = _without(arguments, "out", "check_capacity", "shared_tmp_buffer_size")
    plan, src1 = vector.bilinear_interpolation_plan(**own), arguments["src1"]
    # The weights are what src1 holds, so src1 is in the terms already and no operand of its own.
    operands = {"src0": arguments["src0"].shape}
    unified = "UB", as_dtype("half")
    lookup = partial(vector.bilinear_interpolation_sources, plan, src1)
    return Trace((plan.size,), operands, lookup, memories={"src0": unified}, target=unified)


def _without(arguments: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Leave out the arguments that say nothing about where elements come from."""
    return {name: value for name, value in arguments.items() if name not in names}


def _trace_load3d(plan: Callable[..., load3d.Load]) -> Callable[[Mapping[str, Any]], Trace]:
    """Trace a Load3D call by the function that plans it, which takes the same arguments."""

    def tracer(arguments: Mapping[str, Any]) -> Trace:
        load, out = plan(**arguments), arguments.get("out")
        if out is not None and not isinstance(out, np.ndarray):
            raise ParameterError("out", out, "a NumPy array")
        shape = load.shape if out is None else out.shape
        memories, target = {"src": ("L1", load.dtype)}, (load.buffer or "matrix", load.dtype)
        return Trace(shape, {"src": arguments["src"].shape}, load.sources, memories=memories, target=target)

    return tracer


def _trace_launch(launched: Launch, output: str) -> Trace:
    """Trace a global memory of a kernel: by default the only one that was written."""
    written = [name for name, buffer in launched.gm.items() if launched.writes(name)]
    if not output and len(written) == 1:
        output = written[0]
    if output not in launched.gm:
        raise ParameterError("output", output, "one of " + ", ".join(written or launched.gm))
    tracer = LaunchTracer(launched)
    array = launched.gm[output].array
    assert array is not None
    operands = {name: leaf.shape for name, leaf in tracer.leaves.items()}
    lookup = partial(tracer.sources, output)
    return Trace(array.shape, operands, lookup, terms=tracer.terms, log=partial(_logged_bytes, launched))


def _logged_bytes(launched: Launch) -> tuple[dict[str, int], dict[str, int]]:
    """Add up the bytes that all steps of all cores have read and written, by memory."""
    read: dict[str, int] = {}
    written: dict[str, int] = {}
    for core in launched.cores:
        for step in core.steps:
            for accesses, count in ((step.reads, read), (step.writes, written)):
                for access in accesses:
                    count[access.buffer] = count.get(access.buffer, 0) + access.nbytes
    return read, written


_TRACERS: dict[Any, Callable[[Mapping[str, Any]], Trace]] = {
    aipp.load_image_to_local: _trace_aipp,
    vector.vector_padding: _trace_vector_padding,
    vector.bilinear_interpolation: _trace_bilinear_interpolation,
    load3d.im2col: _trace_load3d(load3d.plan_im2col),
    load3d.load_data_3d_v1: _trace_load3d(load3d.plan_load_data_3d_v1),
    load3d.load_data_3d_v2: _trace_load3d(load3d.plan_load_data_3d_v2),
}


def trace(call: Call | Launch, *, output: str = "") -> Trace:
    """Return where every element of a call's result comes from, without moving any data.

    Parameters
    ----------
    call : Call or Launch
        A call of an emulated instruction; or what `ascendlab.capi.launch` returned, whose log is followed back.
    output : str
        For a launch: which of its arrays, by the name of the kernel's parameter; not needed if there is only one.

    Returns
    -------
    Trace
        Array-backed: `Trace.sources` gives (operand, index, weight) arrays for any set of elements,
        `Trace.origin` the same for one element in words.

    Raises
    ------
    ParameterError
        For a function that is no emulated instruction, for missing or unknown arguments, and for those that give
        the call no result.
    """
    if not isinstance(output, str):
        raise ParameterError("output", output, "the name of one of the kernel's parameters")
    if isinstance(call, Launch):
        return _trace_launch(call, output)
    if not isinstance(call, Call):
        raise ParameterError("call", call, "an instance of Call, or what launch returned")
    return registered(_TRACERS, call.function)(call.bound())


def registered(table: Mapping[Any, T], function: Callable[..., Any]) -> T:
    """Return what a table has for a function, or name the functions that it has something for."""
    try:
        found = table.get(function)
    except Exception:  # unhashable callables
        found = None
    if found is None:
        raise ParameterError("function", function, "one of " + ", ".join(f.__name__ for f in table))
    return found
