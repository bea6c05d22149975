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

from collections.abc import Callable
from typing import Any

import numpy as np

from ascendlab.capi.core import AICore
from ascendlab.capi.memory import Pointer
from ascendlab.capi.registers import L13dFmatrixConfig
from ascendlab.capi.steps import Step
from ascendlab.capi.sync import Pipe
from ascendlab.cpp import literal
from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int

__all__ = ["declarations", "kernel_code", "step_code"]

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
    if value is None:
        return [f"{step.call}({step.arguments['config']:#x}ULL);"]
    kind = as_dtype(np.asarray(value).dtype)
    number = literal(value.item(), kind.cpp)
    return [f"{step.call}({number if kind.name == 'half' else f'static_cast<{kind.cpp}>({number})'});"]


def _fmatrix(step: Step) -> list[str]:
    names = [bits.name for bits in L13dFmatrixConfig.layout()]
    lines = [f"fmatrix_config.{name} = {step.arguments[name]};" for name in names]
    return ["asc_l13d_fmatrix_config fmatrix_config;", *lines, f"{step.call}(fmatrix_config);"]


def _repeats(step: Step) -> list[str]:
    # As in the document's example: the union has no name for the destination's stride.
    word = step.registers["L3D_RPT"]
    return [
        "asc_load3d_v2_config repeat_config;",
        f"repeat_config.config = {word:#018x}ULL;",
        f"{step.call}(repeat_config);",
    ]


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
    so_far = [declarations(core), *(step_code(s) for s in core.steps[:last])]
    heading = f"// the kernel up to here, block {core.block}, its constants as numbers"
    if not last:
        return "\n".join([heading, *so_far])
    current = core.steps[last - 1]
    return "\n".join([f"// step {last} of {len(core.steps)}, {current.pipe}", step_code(current), "", heading, *so_far])
