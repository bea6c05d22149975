"""Earlier states of a core, made from its present one by taking back what its steps wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.memory import Buffer, Pointer
from ascendlab.capi.registers import Register
from ascendlab.capi.steps import MemoryMap, memory_map
from ascendlab.errors import ParameterError

if TYPE_CHECKING:
    from ascendlab.capi.machine import Machine

__all__ = ["Snapshot"]


class Snapshot:
    """A core's memories and registers as they were after some step.

    Parameters
    ----------
    machine : Machine
        The core.
    step : int
        The last step that counts; 0 for the beginning.
    """

    def __init__(self, machine: Machine, step: int) -> None:
        self.step = step
        self._machine = machine
        self._states: dict[int, tuple[NDArray[np.uint8], NDArray[np.int32]]] = {}

    @property
    def registers(self) -> dict[str, Register]:
        """The registers that were set by then."""
        words = self._machine.steps[self.step - 1].registers if self.step else {}
        return self._machine.decode_registers(words)

    def data(self, buffer: Buffer) -> NDArray[np.uint8]:
        """Return a buffer's bytes at that time."""
        return self._state(buffer)[0]

    def writer(self, buffer: Buffer) -> NDArray[np.int32]:
        """Return who had written each byte by then."""
        return self._state(buffer)[1]

    def memory_map(self, buffer: str) -> MemoryMap:
        """Return what lay where in an on-chip buffer at that time."""
        memory = self._machine.buffer(buffer)
        return memory_map(memory, self.writer(memory))

    def array(self, pointer: Pointer) -> NDArray[Any]:
        """Return what a pointer showed at that time, up to the end of its array."""
        if not isinstance(pointer, Pointer):
            raise ParameterError("pointer", pointer, "a pointer into a memory of this core")
        now = pointer.array
        data = self.data(pointer.buffer)[pointer.offset : pointer.offset + now.nbytes]
        return data.view(now.dtype)

    def _state(self, buffer: Buffer) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        if not isinstance(buffer, Buffer) or not self._machine.owns(buffer):
            given = buffer.name if isinstance(buffer, Buffer) else buffer
            raise ParameterError("buffer", given, "a memory of this core, whose log tells its earlier states")
        state = self._states.get(id(buffer))
        if state is None:
            data, writer = buffer.data.copy(), buffer.writer.copy()
            for undo in reversed(self._machine.undone[self.step :]):
                if undo is not None and undo.buffer is buffer:
                    undo.take_back(data, writer)
            state = self._states[id(buffer)] = (data, writer)
        return state
