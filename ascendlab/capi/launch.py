"""Run a kernel on as many blocks as wanted, one emulated core each.

>>> import numpy as np
>>> from ascendlab.products import Product
>>> def kernel(core, data):
...     core.asc_init()
...     return core.asc_get_block_idx()
>>> launched = launch(kernel, 2, np.zeros(4, np.float16), product=Product.ATLAS_350)
>>> launched.returned, [len(core.steps) for core in launched.cores]
((0, 1), [1, 1])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.core import AICore
from ascendlab.capi.memory import Buffer, Sharing, gm_buffer
from ascendlab.errors import AscendlabError, ParameterError
from ascendlab.fields import check_int
from ascendlab.products import Product

__all__ = ["MOST_BLOCKS", "Launch", "launch"]

MOST_BLOCKS = 65534


@dataclass(frozen=True, eq=False)
class Launch:
    """What a launch leaves behind.

    Parameters
    ----------
    cores : tuple of AICore
        One per block, with buffers, registers and log.
    gm : mapping of str to Buffer
        The global memories by the names of the kernel's parameters.
    returned : tuple
        What the kernel returned, block by block.
    kernel : callable, optional
        The kernel.
    arguments : mapping of str to object
        What the kernel was given behind the core, by the names of its parameters, in order.
    """

    cores: tuple[AICore, ...]
    gm: Mapping[str, Buffer]
    returned: tuple[Any, ...]
    kernel: Callable[..., Any] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def writes(self, name: str) -> bool:
        """Whether the kernel wrote the global memory behind this parameter."""
        buffer = self.gm.get(name)
        return any(a.pointer.buffer is buffer for core in self.cores for step in core.steps for a in step.writes)

    def reads(self, name: str) -> bool:
        """Whether the kernel read the global memory behind this parameter."""
        buffer = self.gm.get(name)
        return any(a.pointer.buffer is buffer for core in self.cores for step in core.steps for a in step.reads)

    def before(self, name: str) -> NDArray[Any] | None:
        """Return what a global memory held before the launch.

        Parameters
        ----------
        name : str
            The kernel's parameter, one of `gm`.

        Returns
        -------
        ndarray or None
            A copy of the array; None if the kernel has overwritten it and nobody kept what (``record=False``).
        """
        if name not in self.gm:
            raise ParameterError("name", name, "one of " + ", ".join(self.gm))
        buffer = self.gm[name]
        assert buffer.array is not None
        data, writer = buffer.data.copy(), buffer.writer.copy()
        for core in reversed(self.cores):  # the last block ran last
            for step, undo in zip(reversed(core.steps), reversed(core.undone), strict=False):
                if undo is not None and undo.buffer is buffer:
                    undo.take_back(data, writer)
                elif undo is None and any(a.pointer.buffer is buffer for a in step.writes):
                    return None
        array: NDArray[Any] = data.view(buffer.array.dtype).reshape(buffer.array.shape)
        return array


def launch(
    kernel: Callable[..., Any],
    blocks: int,
    *args: Any,
    product: Product = Product.ATLAS_350,
    core_type: str = "AIC",
    record: bool = True,
) -> Launch:
    """Run ``kernel(core, *args)`` once per block (``kernel<<<blocks, 0>>>(args...)``).

    Parameters
    ----------
    kernel : callable
        Its first parameter is the core.
    blocks : int
        How many blocks; each sees its number as ``core.asc_get_block_idx()``.
    *args
        NumPy arrays become pointers to global memory, everything else is handed on.
    product : Product
        What to emulate.
    core_type : {"AIC", "AIV"}
        Matrix cores or vector cores.
    record : bool
        Keep what steps overwrite, so that earlier states can be shown.

    Returns
    -------
    Launch
        The cores and the global memories; arrays that the kernel wrote have changed.

    Raises
    ------
    AscendlabError
        From the kernel's calls, with the core as its attribute ``core``; and `SynchronizationError` if a kernel ends
        with a flag that nobody has waited for, or two blocks touch the same bytes in no order.
    """
    if not callable(kernel):
        raise ParameterError("kernel", kernel, "a function whose first parameter is the core")
    count = check_int("blocks", blocks, 1, MOST_BLOCKS)
    memories: dict[int, Buffer] = {}
    names = _names(kernel, len(args))
    named: dict[str, Buffer] = {}
    for name, value in zip(names, args, strict=True):
        if isinstance(value, np.ndarray):
            if id(value) not in memories:
                buffer = gm_buffer(value, name)
                for other in memories.values():
                    if np.may_share_memory(other.data, buffer.data):
                        raise ParameterError(name, value, f"memory of its own: it overlaps {other.allocations[0].name}")
                buffer.sharing = Sharing(buffer.size) if count > 1 else None
                memories[id(value)] = buffer
            named[name] = memories[id(value)]
    cores, returned = [], []
    for block in range(count):
        core = AICore(product, core_type, block=block, record=record)
        core.share(memories)
        try:
            given = [core.gm(value) if isinstance(value, np.ndarray) else value for value in args]
            returned.append(kernel(core, *given))
            core.finish()
        except AscendlabError as error:
            error.core = core
            raise
        cores.append(core)
    return Launch(tuple(cores), named, tuple(returned), kernel, dict(zip(names, args, strict=True)))


def _names(kernel: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the kernel's parameters behind the core, as far as it tells them."""
    try:
        parameters = list(inspect.signature(kernel).parameters.values())[1:]
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in kinds]
    return [names[i] if i < len(names) else f"argument_{i}" for i in range(count)]
