"""What the tests of the C API share: cores with something in their buffers, and random numbers of every type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi

TYPES = {
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "half": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int32": np.int32,
    "uint32": np.uint32,
    "float": np.float32,
}
NOTIFY_WAIT = ((capi.PIPE_MTE2, capi.PIPE_MTE1), (capi.PIPE_MTE1, capi.PIPE_M), (capi.PIPE_M, capi.PIPE_FIX))


def new_core(**more: Any) -> capi.AICore:
    """Make a matrix core of Atlas 350 whose padding is set."""
    core = capi.AICore(al.Product.ATLAS_350, **more)
    core.asc_init()
    return core


def numbers(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Draw numbers that use all bits of their type, without NaNs and infinities."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max, shape, kind, endpoint=True)
    return (rng.standard_normal(shape) * 8).astype(kind)


def order(core: capi.AICore, pipe: Any, tpipe: Any, event: int = 0) -> None:
    """Let one pipe wait for another."""
    core.asc_sync_notify(pipe, tpipe, event)
    core.asc_sync_wait(pipe, tpipe, event)


def everything(core: capi.AICore) -> tuple[Any, ...]:
    """Return all of a core's state that a refused call must leave alone."""
    parts: list[Any] = [len(core.steps), {name: r.config for name, r in core.registers.items()}, core.ordering.flags]
    for buffer in core.buffers.values():
        used = buffer.used + 2048
        finished = core.ordering.finished(buffer.written_by, buffer.read_by)
        reading = [n for n, _ in core.reading.get(buffer, ()) if n > finished]
        parts += [buffer.data[:used].tobytes(), buffer.writer[:used].tobytes(), reading]
        assert not buffer.writer[used:].any()
    return tuple(parts)


def core_with_arrays() -> capi.AICore:
    """Return a core with one array in each buffer."""
    core = new_core()
    core.cbuf("half", 2048, name="l1")
    core.ca("half", 1024, name="l0a")
    core.cb("half", 1024, name="l0b")
    core.cc("float", 1024, name="l0c")
    return core


def pointers(core: capi.AICore) -> list[Any]:
    """Return pointers to those arrays."""
    kinds = {"L1": "half", "L0A": "half", "L0B": "half", "L0C": "float"}
    found = []
    for name, kind in kinds.items():
        (allocation,) = core.buffers[name].allocations
        found.append(capi.memory.Pointer(core.buffers[name], al.dtypes.as_dtype(kind), allocation.start, allocation))
    return found


def refused(core: capi.AICore, error: Any, match: str, call: Any, *args: Any, **more: Any) -> Any:
    """Make a call that must fail, leave the machine alone, and say something useful; return the error."""
    before = everything(core)
    with pytest.raises(error, match=match) as caught:
        call(*args, **more)
    assert everything(core) == before
    return caught.value
