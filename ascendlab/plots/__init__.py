"""Pictures: functions that take arrays and an optional Axes and return the Axes.

One module per API; colours, hatches and outlines mean the same in all of them (`ascendlab.plots._roles`).
"""

from __future__ import annotations

import importlib
from typing import Any

from ascendlab.plots._base import PictureHTML, figure_html, new_figure, to_png
from ascendlab.plots._frames import frames, picture
from ascendlab.plots._roles import (
    CHANNEL_PADDING,
    INPUT,
    MASKED,
    ORIGIN,
    OUTPUT,
    PADDING,
    PICKED,
    WINDOW,
    Role,
)

_MODULES = ("aipp", "aipp_config", "load3d", "vector_padding", "bilinear_interpolation", "capi", "golden")

__all__ = [
    "CHANNEL_PADDING",
    "INPUT",
    "MASKED",
    "ORIGIN",
    "OUTPUT",
    "PADDING",
    "PICKED",
    "WINDOW",
    "PictureHTML",
    "Role",
    "figure_html",
    "frames",
    "new_figure",
    "picture",
    "to_png",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ascendlab.plots.{name}")
    raise AttributeError(f"module 'ascendlab.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
