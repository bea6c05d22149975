"""Ascend C code for what a core's log holds: each step as the call that made it.

>>> from ascendlab.capi.conv2d_example import run
>>> core = run()[0].cores[1]
>>> print(step_code(core.steps[2]))
asc_copy_gm2l1_nd2nz(fmap_l1, fmap + 2592, 64, 0, 81, 32, 0, false);
>>> print(step_code(core.steps[9]))
asc_load3d_v2_config repeat_config;
repeat_config.config = 0x0000000200010000ULL;
asc_set_l13d_rpt(repeat_config);
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch
from ascendlab.capi.memory import Pointer
from ascendlab.capi.registers import (
    Gm2l1NzPara,
    L0cCopyNzPara,
    L13dFmatrixConfig,
    Load3dV2Config,
    PaddingRegister,
    Register,
)
from ascendlab.capi.steps import Step
from ascendlab.capi.sync import Pipe
from ascendlab.cpp_literals import hexadecimal, literal
from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int

__all__ = [
    "SETTERS",
    "UNIONS",
    "core_lines",
    "declarations",
    "kernel_code",
    "launch_lines",
    "register_lines",
    "step_code",
]

UNIONS: Mapping[type[Register], str] = {L13dFmatrixConfig: "fmatrix_config", Load3dV2Config: "repeat_config"}
"""The registers that the C API has unions for, and what the document's example calls variables of them."""

SETTERS: Mapping[str, type[Register]] = {
    "asc_set_gm2l1_nz_para": Gm2l1NzPara,
    "asc_set_l0c_copy_nz_para": L0cCopyNzPara,
    "asc_set_l12l0a_3d_padding": PaddingRegister,
    "asc_set_gm2l1_padding": PaddingRegister,
}
"""The calls that set the other registers from plain numbers."""

_CORES = {"AIC": "__cube__", "AIV": "__vector__"}
_QUALIFIERS = {"L1": "__cbuf__", "L0A": "__ca__", "L0B": "__cb__", "L0C": "__cc__"}


def _pointer(pointer: Pointer) -> str:
    bits = (pointer.offset - pointer.home.start) * 8
    count = bits // pointer.dtype.bits
    return f"{pointer.name} + {count}" if count else pointer.name


def _value(name: str, value: Any) -> str:
    """Write an argument."""
    if isinstance(value, Pointer):
        return _pointer(value)
    if isinstance(value, Pipe):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"EVENT_ID{value}" if name == "id" else str(value)


def _arguments(step: Step) -> list[str]:
    values = ", ".join(_value(name, value) for name, value in step.arguments.items())
    return [f"{step.call}({values});"]


def _padding(step: Step) -> list[str]:
    value = step.arguments["padding_value"]
    if value is None or not math.isfinite(value):  # C++ has no literal for an infinity
        return [f"{step.call}({hexadecimal(step.arguments['config'])});"]
    kind = as_dtype(np.asarray(value).dtype)
    number = literal(value.item(), kind.cpp)
    return [f"{step.call}({number if kind.name == 'half' else f'static_cast<{kind.cpp}>({number})'});"]


def _fmatrix(step: Step) -> list[str]:
    # All of them: the variable may hold what an earlier call has put there.
    members = {bits.name: str(step.arguments[bits.name]) for bits in L13dFmatrixConfig.layout()}
    return [*_union(L13dFmatrixConfig, members), f"{step.call}({UNIONS[L13dFmatrixConfig]});"]


def _repeats(step: Step) -> list[str]:
    # As in the document's example: the union has no name for the destination's stride.
    members = {"config": hexadecimal(step.registers["L3D_RPT"], 16)}
    return [*_union(Load3dV2Config, members), f"{step.call}({UNIONS[Load3dV2Config]});"]


def _union(kind: type[Register], members: Mapping[str, str]) -> list[str]:
    """Declare a variable of a union and assign to its members."""
    variable = UNIONS[kind]
    return [f"{kind.document_name} {variable};", *(f"{variable}.{name} = {value};" for name, value in members.items())]


def register_lines(register: Register) -> list[str]:
    """Write a register: as its union with the members that are not at their default, or as the call that sets it."""
    kind, values = type(register), register.values()
    if kind in UNIONS:
        named = kind()  # with the members that the union has names for
        members = {}
        for bits in kind.layout():
            if bits.in_union:
                setattr(named, bits.name, values[bits.name])
                if values[bits.name] != kind().values()[bits.name] or values[bits.name] < bits.minimum:
                    members[bits.name] = str(values[bits.name])
        return _union(kind, members if named == register else {"config": hexadecimal(register.config, 16)})
    call = next((call for call, known in SETTERS.items() if known is kind), None)
    if call is None:
        raise ParameterError("what", register, "a register that the C API has a union or a call for")
    arguments = [hexadecimal(register.config)] if kind is PaddingRegister else [str(v) for v in values.values()]
    return [f"{call}({', '.join(arguments)});"]


def _outside(step: Step) -> list[str]:
    return [f"// {step.call}: no call of the C API"]


_WRITERS: dict[str, Callable[[Step], list[str]]] = {
    "asc_set_l12l0a_3d_padding": _padding,
    "asc_set_gm2l1_padding": _padding,
    "asc_set_l13d_fmatrix": _fmatrix,
    "asc_set_l13d_rpt": _repeats,
}


def step_code(step: Step) -> str:
    """Write the call of a step, with what has to be declared for it.

    Parameters
    ----------
    step : Step
        From a core's log.

    Returns
    -------
    str
        Lines of C++ without a final newline; a comment for what is no call of the C API.
    """
    if not isinstance(step, Step):
        raise ParameterError("step", step, "a step of a core's log")
    plain = _arguments if step.call.startswith("asc_") else _outside
    return "\n".join(_WRITERS.get(step.call, plain)(step))


def declarations(core: AICore) -> str:
    """Write the arrays that a kernel has declared.

    >>> from ascendlab.capi.conv2d_example import run
    >>> print(declarations(run()[0].cores[0]).splitlines()[-1])
    __cc__ float output_l0[512];
    """
    return "\n".join(
        f"{_QUALIFIERS[name]} {a.dtype.cpp} {a.name}[{a.size * 8 // a.dtype.bits}];"
        for name, buffer in core.buffers.items()
        for a in buffer.allocations
    )


def _calls(steps: Iterable[Step]) -> list[str]:
    """Write the calls of many steps, declaring each variable once."""
    lines: list[str] = []
    declared = dict.fromkeys((f"{kind.document_name} {variable};" for kind, variable in UNIONS.items()), False)
    for step in steps:
        for line in step_code(step).splitlines():
            if not declared.get(line):
                lines.append(line)
            if line in declared:
                declared[line] = True
    return lines


def kernel_code(core: AICore, step: int) -> str:
    """Write the call of a step, and below it the kernel from its beginning up to there.

    Parameters
    ----------
    core : AICore
        With its log.
    step : int
        0 for the declarations alone.
    """
    last = check_int("step", step, 0, len(core.steps))
    so_far = [declarations(core), *_calls(core.steps[:last])]
    heading = f"// the kernel up to here, block {core.block}, its constants as numbers"
    if not last:
        return "\n".join([heading, *so_far])
    current = core.steps[last - 1]
    return "\n".join([f"// step {last} of {len(core.steps)}, {current.pipe}", step_code(current), "", heading, *so_far])


def core_lines(core: AICore) -> list[str]:
    """Write all that a core has declared and called: the body of its kernel."""
    return [*declarations(core).splitlines(), *_calls(core.steps)]


def launch_lines(launched: Launch, block: int) -> list[str]:
    """Write the kernel that a block of a launch has run, as a function of its global memories.

    >>> from ascendlab.capi.conv2d_example import run
    >>> for line in launch_lines(run()[0], 1)[:4]:
    ...     print(line)
    // block 1 of 4: loops unrolled, constants as numbers
    __global__ __cube__ void conv2d_forward_capi(__gm__ half* fmap, __gm__ half* weight, __gm__ half* output)
    {
        __cbuf__ half fmap_l1[2592];
    """
    core = launched.cores[block]
    name = getattr(launched.kernel, "__name__", "")
    memories = [f"__gm__ {buffer.allocations[0].dtype.cpp}* {name}" for name, buffer in launched.gm.items()]
    return [
        f"// block {block} of {len(launched.cores)}: loops unrolled, constants as numbers",
        f"__global__ {_CORES[core.core_type]} void {name if name.isidentifier() else 'Kernel'}({', '.join(memories)})",
        "{",
        *(f"    {line}" for line in core_lines(core)),
        "}",
    ]
