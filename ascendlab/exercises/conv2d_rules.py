"""Exercises on the padding register and on flags between pipes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi import AICore, Pipe, QuantMode_t
from ascendlab.capi.registers import PaddingRegister
from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError, SynchronizationError
from ascendlab.exercises._base import Case, Exercise, Misconception, require_answer
from ascendlab.fields import check_int
from ascendlab.products import Product

__all__ = ["flags", "pad_after", "pad_config"]

Array = NDArray[Any]
Flags = list[tuple[int, str, str]]

# --- the raw word ---

_BITS = {"int4": 4, "int8": 8, "int16": 16, "int32": 32}


def _config_cases(rng: np.random.Generator) -> list[Case]:
    values = [
        (-5, "int8"), (int(rng.integers(-8, -1)), "int4"), (int(rng.integers(-30000, -300)), "int16"),
        (int(rng.integers(-(10**9), -(10**6))), "int32"), (int(rng.integers(20, 100)), "int8"),
    ]  # fmt: skip
    return [Case({"value": v, "dtype": name}, words=f"the pad value {v} for {name}") for v, name in values]


def _library_config(value: int, dtype: str) -> int:
    kind = as_dtype(dtype)
    return PaddingRegister.of_bits(np.array(value).astype(kind.numpy), kind).config


def _word(answer: Any, value: int, dtype: str) -> Any:
    """Take a word without the bits that a load of this type does not look at."""
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        unused = 0xFFFF0000 if _BITS[dtype] < 32 else 0
        return np.uint64(int(answer) & ~unused & (1 << 64) - 1)
    return answer


def _low(value: int, bits: int) -> int:
    return value & (1 << bits) - 1


def _repeated(value: int, dtype: str) -> int:
    bits = min(_BITS[dtype], 16)
    return _low(value, _BITS[dtype]) if bits == 16 else _low(value, bits) * (0xFFFF // _low(-1, bits))


def _sign_and_size(value: int, dtype: str) -> int:
    bits = _BITS[dtype]
    word = abs(value) | (1 << bits - 1 if value < 0 else 0)
    return _repeated(word, dtype)


pad_config = Exercise(
    name="pad_config",
    parameters="value, dtype",
    task='Write the raw word `config` with which `asc_set_l12l0a_3d_padding` makes data of `dtype` ("int4", "int8", '
    '"int16" or "int32") be padded with the integer `value`, which may be negative.',
    spec="config >> 32 == 0\nint(config).to_bytes(8, 'little')[:2] == np.int8(value).tobytes() * 2  # for int8",
    cases=_config_cases,
    library=_library_config,
    observe=_word,
    misconceptions=[
        Misconception(
            "The value stands there once. The bits above it must repeat it: four times in [15:0] for 4-bit data, twice "
            "for 8-bit data; 16-bit and 32-bit data take all of theirs.",
            lambda value, dtype: _low(value, _BITS[dtype]),
        ),
        Misconception(
            "The sign is carried on into the bits above the value. For 4-bit and 8-bit data those must repeat it.",
            lambda value, dtype: _low(value, 32),
        ),
        Misconception(
            "The sign is carried on up to bit 63. Bits [63:32] must be 0, and small values are repeated, not extended.",
            lambda value, dtype: _low(value, 64),
        ),
        Misconception(
            "That is a sign bit and a size. Integers are stored in two's complement, as NumPy does.",
            _sign_and_size,
        ),
        Misconception(
            "The sign is lost.",
            lambda value, dtype: _repeated(abs(value), dtype),
        ),
        Misconception(
            "Those are bytes that repeat. A 4-bit value must be repeated four times in [15:0], not twice.",
            lambda value, dtype: _low(value, 4) * 0x101 if dtype == "int4" else _repeated(value, dtype),
        ),
        Misconception(
            "That is the value as a half. An integer type is padded with the integer's own bits.",
            lambda value, dtype: int(np.array(max(value, -60000), np.float16).view(np.uint16)),
        ),
    ],
)

# --- one register, several setters ---

_LOAD, _COPY, _INIT = "asc_set_l12l0a_3d_padding", "asc_set_gm2l1_padding", "asc_init"
_TYPES = {"half": np.float16, "int8": np.int8, "uint8": np.uint8, "int16": np.int16}
Calls = Sequence[tuple[str, Any]]


def _register_cases(rng: np.random.Generator) -> list[Case]:
    first, second, third = (np.float16(n) for n in rng.choice(np.arange(1, 60), 3, replace=False) / 4)
    number = int(rng.integers(0x3C01, 0x4800))
    # A float whose low 16 bits are a plain half.
    float_ = np.array(0x40000000 | int(rng.integers(0x3C01, 0x4400)), np.uint32).view(np.float32)[()]
    byte = int(rng.integers(0x3C, 0x48))
    cases: list[tuple[Calls, str]] = [
        ([(_LOAD, first), (_COPY, second)], "half"),
        ([(_COPY, third), (_LOAD, np.int16(number))], "half"),
        ([(_LOAD, second), (_INIT, None)], "half"),
        ([(_INIT, None), (_LOAD, first), (_COPY, float_)], "half"),
        ([(_COPY, np.uint8(byte)), (_INIT, None), (_LOAD, np.uint8(byte + 1))], "half"),
        ([(_LOAD, np.int8(7)), (_COPY, np.int8(rng.integers(-100, -1)))], "int8"),
    ]
    return [
        Case({"calls": calls, "dtype": dtype}, words=f"{', '.join(c for c, _ in calls)}, then {dtype} data")
        for calls, dtype in cases
    ]


def _library_pad(calls: Calls, dtype: str) -> float:
    core = AICore(Product.ATLAS_350, record=False)
    for call, value in calls:
        getattr(core, call)(*(() if value is None else (value,)))
    return float(core.padding.value(as_dtype(dtype)))


def _reinterpreted(value: Any, dtype: str, *, once: bool = False, shift: int = 0) -> float:
    raw = int.from_bytes(value.tobytes(), "little")
    if value.nbytes == 1 and not once:
        raw *= 0x101
    kind = np.dtype(_TYPES[dtype])
    return float(np.frombuffer((raw >> shift).to_bytes(8, "little")[: kind.itemsize], kind)[0])


def _last(
    calls: Calls, dtype: str, *, kept: tuple[str, ...] = (_LOAD, _COPY, _INIT), read: Callable[..., float]
) -> float:
    """Return what the last of the `kept` calls leaves behind, as `read` sees it."""
    values = [value for call, value in calls if call in kept]
    return 0.0 if not values or values[-1] is None else read(values[-1], dtype)


def _cast(value: Any, dtype: str) -> float:
    return float(value.astype(_TYPES[dtype]))


pad_after = Exercise(
    name="pad_after",
    parameters="calls, dtype",
    task="`calls` lists what a kernel calls one after the other, as pairs (name, value): "
    "`asc_set_l12l0a_3d_padding` and `asc_set_gm2l1_padding` with a typed value, and `asc_init` with None. Return the "
    'number with which the next `asc_copy_l12l0a` pads data of type `dtype` ("half" or "int8").',
    spec="register = 0 if value is None else the bits of the last call's value, small ones repeated up to 16\n"
    "out == the lowest bits of register, taken as a number of dtype",
    cases=_register_cases,
    library=_library_pad,
    misconceptions=[
        Misconception(
            "Only asc_set_l12l0a_3d_padding is looked at. asc_set_gm2l1_padding writes the very same register.",
            lambda calls, dtype: _last(calls, dtype, kept=(_LOAD, _INIT), read=_reinterpreted),
        ),
        Misconception(
            "The first call does not last: whoever writes the register last is right.",
            lambda calls, dtype: _last(calls[:1], dtype, read=_reinterpreted),
        ),
        Misconception(
            "asc_init is passed over. It sets the register to 0.",
            lambda calls, dtype: _last(calls, dtype, kept=(_LOAD, _COPY), read=_reinterpreted),
        ),
        Misconception(
            "The value is converted to the data's type. The register holds bits: a load takes them as they are, of "
            "whatever type they were.",
            lambda calls, dtype: _last(calls, dtype, read=_cast),
        ),
        Misconception(
            "That is the number that was set, as it was. The register holds its bits only: read them again as a number "
            "of the data's type.",
            lambda calls, dtype: _last(calls, dtype, read=lambda v, d: float(v)),
        ),
        Misconception(
            "The high half of a 32-bit value is taken. 16-bit data take bits [15:0].",
            lambda calls, dtype: _last(
                calls, dtype, read=lambda v, d: _reinterpreted(v, d, shift=8 * max(v.nbytes - 2, 0))
            ),
        ),
        Misconception(
            "An 8-bit value stands there once. The typed setter repeats it: [15:8] and [7:0] are equal.",
            lambda calls, dtype: _last(calls, dtype, read=lambda v, d: _reinterpreted(v, d, once=True)),
        ),
    ],
)

# --- flags ---

_ND2NZ, _L0A, _L0B = "asc_copy_gm2l1_nd2nz", "asc_copy_l12l0a", "asc_copy_l12l0b_transpose"
_MMAD, _OUT = "asc_mmad", "asc_copy_l0c2gm"
# Call -> its pipe, and the arguments behind the pointers for one fractal.
_CALLS: dict[str, tuple[str, tuple[Any, ...]]] = {
    _ND2NZ: ("PIPE_MTE2", (32, 0, 16, 16, 0, False)),
    _L0A: ("PIPE_MTE1", (0, 0, 1, 1, 1, 1)),
    _L0B: ("PIPE_MTE1", (0, 0, 1, 1, 1, 1)),
    _MMAD: ("PIPE_M", (16, 16, 16, 0, False, False, True)),
    _OUT: ("PIPE_FIX", (16, 16, 16, 16, 0, 0, 0, int(QuantMode_t.F322F16), 0, False, True, 0, 0, False, 0,
                        False, False, False, False)),
}  # fmt: skip
_PIPES = {str(pipe): pipe for pipe in Pipe}
_MOVING = ("PIPE_MTE2", "PIPE_MTE1", "PIPE_M", "PIPE_FIX")


def _kernels(rng: np.random.Generator) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield kernels as (call, reads, writes); calls of which the order does not matter are drawn."""
    loads = [(_ND2NZ, "fmap", "fmap_l1"), (_ND2NZ, "weight", "weight_l1")]
    tiles = [(_L0A, "fmap_l1", "fmap_l0"), (_L0B, "weight_l1", "weight_l0")]
    swapped = [bool(n) for n in rng.integers(0, 2, 2)]
    loads, tiles = loads[:: -1 if swapped[0] else 1], tiles[:: -1 if swapped[1] else 1]
    product = (_MMAD, "fmap_l0 weight_l0", "out_l0")
    yield "the document's kernel", [*loads, *tiles, product, (_OUT, "out_l0", "output")]
    yield "a kernel that loads its second operand late", [
        loads[0], next(t for t in tiles if t[1] == loads[0][2]),
        loads[1], next(t for t in tiles if t[1] == loads[1][2]), product, (_OUT, "out_l0", "output"),
    ]  # fmt: skip
    yield "two maps that share the buffers", [
        *loads, *tiles, product, (_ND2NZ, "fmap_2", "fmap_l1"), tiles[0 if tiles[0][0] == _L0A else 1],
        (_OUT, "out_l0", "output"), product, (_OUT, "out_l0", "output_2"),
    ]  # fmt: skip
    yield "two maps with buffers of their own", [
        *loads, (_ND2NZ, "fmap_2", "fmap_2_l1"), *tiles, product, (_L0A, "fmap_2_l1", "fmap_2_l0"),
        (_MMAD, "fmap_2_l0 weight_l0", "out_2_l0"), (_OUT, "out_l0", "output"), (_OUT, "out_2_l0", "output_2"),
    ]  # fmt: skip


def _flag_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for words, kernel in _kernels(rng):
        steps = np.array([(call, _CALLS[call][0], reads, writes) for call, reads, writes in kernel])

        def where(i: int, steps: Array = steps) -> str:
            if i == len(steps):
                return "counting the flags that are needed"
            return f"call {i} ({steps[i, 0]} on {steps[i, 1]}) being accepted by the core"

        cases.append(Case({"steps": steps}, words=words, where=where))
    return cases


def _declared(core: AICore, name: str) -> Any:
    """Return an array of one fractal in the memory that its name says, or in GM."""
    if name.endswith("_l1"):
        return core.cbuf("half", 256, name=name)
    if name.startswith("out_"):
        return core.cc("float", 256, name=name)
    if name.endswith("_l0"):
        return (core.cb if name.startswith("weight") else core.ca)("half", 256, name=name)
    return core.gm(np.ones((16, 16), np.float16), name)


def _accepted(steps: Array, wanted: Flags) -> list[bool]:
    """Run a kernel with these flags on the library's core; say of each call whether it accepts it."""
    core = AICore(Product.ATLAS_350, record=False)
    core.asc_init()
    core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    arrays = {str(name): _declared(core, str(name)) for step in steps for name in f"{step[2]} {step[3]}".split()}
    accepted = []
    for number, (call, _, reads, writes) in enumerate(steps):
        for position, pipe, tpipe in wanted:
            if position == number:
                core.asc_sync_notify(_PIPES[pipe], _PIPES[tpipe], 0)
                core.asc_sync_wait(_PIPES[pipe], _PIPES[tpipe], 0)
        run = functools.partial(getattr(core, call), arrays[writes], *(arrays[name] for name in reads.split()))
        try:
            run(*_CALLS[call][1])
        except SynchronizationError:
            # Everybody waits for everybody, so that the calls behind are judged for themselves.
            core.asc_sync_pipe(Pipe.ALL)
            run(*_CALLS[call][1])
            accepted.append(False)
        else:
            accepted.append(True)
    return accepted


def _library_flags(steps: Array) -> Flags:
    """Add before each call the fewest flags with which the core accepts it."""
    return list(_fewest(tuple(tuple(str(word) for word in step) for step in steps)))


# Every wrong answer is compared with the right one, which takes some dozens of kernels to find.
@lru_cache(maxsize=64)
def _fewest(kernel: tuple[tuple[str, ...], ...]) -> tuple[tuple[int, str, str], ...]:
    steps = np.array(kernel)
    found: Flags = []
    for number, (_, tpipe, _, _) in enumerate(kernel):
        others = [(number, pipe, tpipe) for pipe in _MOVING if _share_a_memory(pipe, tpipe)]
        for more in itertools.chain.from_iterable(itertools.combinations(others, n) for n in range(len(others) + 1)):
            if _accepted(steps[: number + 1], [*found, *more])[number]:
                found += more
                break
    return tuple(found)


def _share_a_memory(pipe: str, tpipe: str) -> bool:
    return abs(_MOVING.index(pipe) - _MOVING.index(tpipe)) == 1


def _checked(answer: Any, count: int) -> Flags:
    wanted = "a list of triples (number of a call, pipe, tpipe)"
    if not isinstance(answer, (list, tuple, np.ndarray)):
        raise ParameterError("the answer", answer, wanted)
    found = []
    for flag in answer:
        position, pipe, tpipe = require_answer(flag, 3, wanted)
        number = check_int("number of a call", position, 0, count - 1)
        for name in (pipe, tpipe):
            if str(name) not in _MOVING:
                raise ParameterError("pipe", name, "one of " + ", ".join(_MOVING))
        if not _share_a_memory(str(pipe), str(tpipe)):
            raise ParameterError(
                "the pipes", f"{pipe}, {tpipe}", "two that share a memory, neighbours in the data's way"
            )
        found.append((number, str(pipe), str(tpipe)))
    return found


def _tried(answer: Any, steps: Array) -> Array:
    """Return for each call whether the core accepts it under the answer's flags, and the number of flags."""
    wanted = _checked(answer, len(steps))
    return np.array([*_accepted(steps, wanted), len(wanted)], np.int64)


def _names(text: str) -> set[str]:
    return set(str(text).split())


def _by_conflict(steps: Array, *, reuse: bool = True, known: bool = True) -> Flags:
    """Look back for conflicts: with `reuse` overwriting what is still read counts, with `known` earlier flags do."""
    found: Flags = []
    covered: dict[tuple[str, str], int] = {}
    for number, (_, tpipe, reads, writes) in enumerate(steps):
        for pipe in _MOVING:
            if not _share_a_memory(pipe, str(tpipe)):
                continue
            last = max(
                (
                    i
                    for i, (_, other, its_reads, its_writes) in enumerate(steps[:number])
                    if other == pipe
                    and (_names(its_writes) & _names(reads) or (reuse and _names(its_reads) & _names(writes)))
                ),
                default=-1,
            )
            if last > (covered.get((pipe, str(tpipe)), -1) if known else -1):
                found.append((number, pipe, str(tpipe)))
                covered[pipe, str(tpipe)] = number - 1
    return found


def _by_change(steps: Array) -> Flags:
    pipes = [str(pipe) for pipe in steps[:, 1]]
    pairs = [(i, pipes[i - 1], pipes[i]) for i in range(1, len(pipes))]
    return [flag for flag in pairs if _share_a_memory(*flag[1:])]


flags = Exercise(
    name="flags",
    parameters="steps",
    task="`steps` is a kernel without synchronisation: for each call a row (call, pipe, arrays that it reads, array "
    "that it writes). Return the fewest flags with which it is safe, as a list of triples `(i, pipe, tpipe)`: before "
    "call `i`, `asc_sync_notify(pipe, tpipe, 0)` and `asc_sync_wait(pipe, tpipe, 0)`. The two pipes must share a "
    "memory: MTE2 and MTE1, MTE1 and M, M and FIX.",
    spec="for i, pipe, tpipe in out: steps[i][1] == tpipe  # the pipe of call i waits\n"
    "# ... for every pipe that may still write what call i reads, or still read what it overwrites",
    cases=_flag_cases,
    library=_library_flags,
    observe=_tried,
    misconceptions=[
        Misconception(
            "Only reading is thought of. A call must also not overwrite what another pipe may still be reading.",
            lambda steps: _by_conflict(steps, reuse=False),
        ),
        Misconception(
            "Those are more than needed: a flag covers all that its pipe has been given before, so that later calls "
            "need no second one.",
            lambda steps: _by_conflict(steps, known=False),
        ),
        Misconception(
            "That is a flag wherever the pipe changes. What counts is the arrays: who writes what the call reads, who "
            "reads what it overwrites.",
            _by_change,
        ),
        Misconception(
            "The pipes are exchanged: first the one that has to finish, then the one that waits for it.",
            lambda steps: [(i, tpipe, pipe) for i, pipe, tpipe in _by_conflict(steps)],
        ),
        Misconception(
            "The flags come one call too late: a wait stands before the call that needs it.",
            lambda steps: [(min(i + 1, len(steps) - 1), pipe, tpipe) for i, pipe, tpipe in _by_conflict(steps)],
        ),
        Misconception(
            "There is no flag at all: pipes do not wait for each other by themselves.",
            lambda steps: [],
        ),
    ],
)
