"""Explorers: widgets that show what a call does while its parameters are changed.

>>> from ascendlab import explorers
>>> explorer = explorers.aipp(picture="numbers", padding_mode=2, left_pad_size=4, top_pad_size=4)
>>> explorer.state["left_pad_size"]
4
"""

from __future__ import annotations

import importlib
from typing import Any

# `aipp` stands for the function of this name in the module `_aipp`.  The underscore matters: importing a module
# called `aipp` would put the module in the function's place.
_EXPLORERS = ("aipp", "aipp_config", "bilinear_interpolation", "conv2d", "load3d", "vector_padding")

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name in _EXPLORERS:
        maker = getattr(importlib.import_module(f"ascendlab.explorers._{name}"), name)
        globals()[name] = maker
        return maker
    raise AttributeError(f"module 'ascendlab.explorers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPLORERS})
