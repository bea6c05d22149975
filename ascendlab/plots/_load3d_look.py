"""What of a Load3D call can be looked at: elements of the matrix, places of the result, and how far they reach.

>>> from ascendlab.load3d import LoadData3DParamsV2, plan_load_data_3d_v2
>>> src = np.zeros((1, 3, 4, 16), np.float16)
>>> params = LoadData3DParamsV2(l1_h=3, l1_w=4, channel_size=16, filter_h=2, filter_w=2, m_extension=6, k_extension=64)
>>> load = plan_load_data_3d_v2(src, params)
>>> index_of(load, 1, 17), element_at(load, 273), element_at(load, 100)
(273, (1, 17), None)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import DataType
from ascendlab.fields import check_int
from ascendlab.load3d import Load
from ascendlab.load3d_rules import few_channels
from ascendlab.plots._load3d_scene import Scene, covered, matrix_rows, plan_of, scene_at, scene_of

__all__ = [
    "NOWHERE",
    "element_at",
    "ends_of",
    "index_of",
    "nearest_element",
    "require_small",
    "say_size",
    "scene_of_pick",
    "scene_without_pick",
    "v1_channels",
    "what_is_left",
]

NOWHERE = -1
"""Stands for the place of an element that a call does not load."""

_LOOKED_AT = 64  # a result of so many times its buffer's size can still be looked at


def index_of(load: Load, m: int, k: int) -> int:
    """Return the flat index at which a matrix element lies in the result, `NOWHERE` if the call does not load it."""
    places = plan_of(load).places(m, k)
    return int(np.ravel_multi_index(places[0], load.shape)) if places else NOWHERE


def element_at(load: Load, index: int) -> tuple[int, int] | None:
    """Return row and column of the matrix element at a flat index of the result; None where there is none."""
    check_int("index", index, 0, math.prod(load.shape) - 1)
    _, row, column = (int(found[0]) for found in plan_of(load).locate(np.array([index])))
    return (row, column) if row >= 0 else None


def nearest_element(load: Load, m: int, k: int) -> tuple[int, int]:
    """Return the matrix element with these numbers, or with the last ones that there are."""
    return min(m, matrix_rows(load) - 1), min(k, load.geometry.k - 1)


def scene_of_pick(src: NDArray[Any], load: Load, m: int, k: int, index: int, out: NDArray[Any]) -> Scene:
    """Look at a place of the result, or at a matrix element if that lies `NOWHERE`."""
    return scene_of(src, load, m=m, k=k, out=out) if index == NOWHERE else scene_at(src, load, index, out=out)


def scene_without_pick(src: NDArray[Any], load: Load, out: NDArray[Any]) -> Scene:
    """Look at a call without looking at any element."""
    return Scene(load, src, out, None, None, None)


def ends_of(load: Load) -> dict[str, tuple[int, int]]:
    """Return the ends of the sliders that depend on the matrix and the result, by the parameters' names."""
    geometry = load.geometry
    rows, columns = geometry.m, geometry.k
    return {
        "pick_m": (0, max(1, matrix_rows(load) - 1)),
        "pick_k": (0, max(1, columns - 1)),
        "pick": (NOWHERE, math.prod(load.shape) - 1),
        "m_start_pt": (0, max(1, rows - 1)),
        "k_start_pt": (0, max(1, columns - 1)),
        "m_extension": (0, rows),
        "k_extension": (0, columns),
    }


def require_small(load: Load) -> None:
    """Refuse a result that is too large to be drawn again with every change."""
    load.require_capacity(times=_LOOKED_AT)


def say_size(scene: Scene) -> str:
    """Say how the matrix's size follows from the parameters.

    >>> from ascendlab.load3d import LoadData3DParamsV2, plan_im2col
    >>> params = LoadData3DParamsV2(l1_h=4, l1_w=9, channel_size=32, filter_h=3, filter_w=2, stride_w=2)
    >>> src = np.zeros((2, 4, 9, 16), np.float16)
    >>> print(say_size(scene_of(src, plan_im2col(src, params))))
    Ho = (4 + 0 + 0 - 3) // 1 + 1 = 2, Wo = (9 + 0 + 0 - 2) // 2 + 1 = 4, M = 2 * 4 = 8, K = 3 * 2 * 32 = 192
    """
    geometry = scene.geometry
    left, right, top, bottom = geometry.pads
    height, width = covered(geometry)
    down = f"({geometry.height} + {top} + {bottom} - {height}) // {geometry.stride_h} + 1 = {geometry.ho}"
    across = f"({geometry.width} + {left} + {right} - {width}) // {geometry.stride_w} + 1 = {geometry.wo}"
    k = f"{geometry.window_h} * {geometry.window_w} * {geometry.channels} = {geometry.k}"
    return f"Ho = {down}, Wo = {across}, M = {geometry.ho} * {geometry.wo} = {geometry.m}, K = {k}"


def v1_channels(kind: DataType, channels: int, *, few: bool) -> int:
    """Return the channels nearest to those asked for that Load3Dv1's feature map can have.

    >>> from ascendlab.dtypes import as_dtype
    >>> v1_channels(as_dtype("half"), 20, few=False), v1_channels(as_dtype("half"), 20, few=True)
    (16, 4)
    """
    return few_channels(kind) if few else max(1, channels // kind.c0) * kind.c0


def what_is_left(size: int, start: int, extension: int) -> int:
    """Return how much of an extension the matrix still has behind a start.

    >>> what_is_left(30, 16, 30), what_is_left(30, 0, 16), what_is_left(30, 48, 16)
    (14, 16, 16)
    """
    return min(extension, size - start) if start < size else extension
