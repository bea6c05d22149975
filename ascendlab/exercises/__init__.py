"""Exercises of the notebooks: one module per API, each loaded when it is first used.

>>> from ascendlab import exercises
>>> exercises.aipp.block_padding.check(None)
Not done yet: write block_padding, then check again.
"""

from __future__ import annotations

import importlib
from typing import Any

from ascendlab.exercises._base import Case, Exercise, Misconception, Result

__all__ = ["Case", "Exercise", "Misconception", "Result"]

_MODULES = ("aipp", "bilinear_interpolation", "conv2d", "golden_data", "load3d", "start", "vector_padding")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ascendlab.exercises.{name}")
    raise AttributeError(f"module 'ascendlab.exercises' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
