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
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    """

    cores: tuple[AICore, ...]
    gm: Mapping[str, Buffer]
    returned: tuple[Any, ...]

    def writes(self, name: str) -> bool:
        """Whether the kernel wrote the global memory behind this parameter."""
        buffer = self.gm.get(name)
        return any(a.pointer.buffer is buffer for core in self.cores for step in core.steps for a in step.writes)


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
    return Launch(tuple(cores), named, tuple(returned))


def _names(kernel: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the kernel's parameters behind the core, as far as it tells them."""
    try:
        parameters = list(inspect.signature(kernel).parameters.values())[1:]
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in kinds]
    return [names[i] if i < len(names) else f"argument_{i}" for i in range(count)]
