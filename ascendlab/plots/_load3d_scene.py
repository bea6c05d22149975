"""A call of Load3D, what of it is looked at, and both in words.

>>> from ascendlab.load3d import LoadData3DParamsV2, plan_load_data_3d_v2
>>> from ascendlab.samples import numbered_feature_map
>>> params = LoadData3DParamsV2(l1_h=3, l1_w=4, channel_size=16, filter_h=2, filter_w=2, m_extension=6, k_extension=64)
>>> src = numbered_feature_map("half", 3, 4, 16)
>>> print(say_origin(scene_of(src, plan_load_data_3d_v2(src, params), m=1, k=17)))  # doctest: +NORMALIZE_WHITESPACE
matrix[1, 17] = 15. Row 1 is window (0, 1), its corner at row 0 * 1 - 0 = 0, column 1 * 1 - 0 = 1. k = 17 is c1 0, kh 0,
kw 1, c0 1, so the sample is at row 0 + 0 * 1 = 0, column 1 + 1 * 1 = 2: src[0, 0, 2, 1], which is 15. It lies at
dst[0, 1, 1, 1], fractal 1 of L0A (ZZ)
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab.errors import ParameterError
from ascendlab.fields import check_int
from ascendlab.layouts import FRACTAL_ROWS, from_nc1hwc0
from ascendlab.load3d import Geometry, Load, Load3dPlan
from ascendlab.products import Product

__all__ = [
    "VIEWS",
    "Block",
    "Fractal",
    "Page",
    "Scene",
    "covered",
    "describe",
    "is_turned",
    "matrix_rows",
    "order_of",
    "plain",
    "plan_of",
    "require_fractals",
    "say_k",
    "say_layout",
    "say_origin",
    "scene_at",
    "scene_of",
    "taken_columns",
    "times_taken",
]

_REPEATS = ("repeat_m", "repeat_k")

VIEWS = {
    "feature map, matrix, fractals": "overview",
    "the matrix and its numbers": "matrix",
    "one fractal and its numbers": "fractal",
    "the part that is loaded": "tile",
    "K as (c1, kh, kw, c0)": "k_index",
}
"""What the explorer can show, by its words."""


class Page(NamedTuple):
    """The part of a long axis that is shown.

    Parameters
    ----------
    start, stop : int
        First position, and the one behind the last.
    """

    start: int
    stop: int

    @classmethod
    def around(cls, position: int | None, count: int, most: int) -> Page:
        """Return the page of at most `most` of `count` positions that holds one; the first without one.

        The last page is as full as the others.

        >>> Page.around(37, 100, 16), Page.around(98, 100, 16), Page.around(37, 40, 50)
        (Page(start=32, stop=48), Page(start=84, stop=100), Page(start=0, stop=40))
        """
        start = max(0, min((position or 0) // most * most, count - most))
        return cls(start, max(start + 1, min(start + most, count)))

    @property
    def size(self) -> int:
        """How many positions there are."""
        return self.stop - self.start

    def inside(self, position: int | None) -> bool:
        """Whether a position is shown."""
        return position is not None and self.start <= position < self.stop

    def words(self, count: int, what: str) -> str:
        """Say which positions these are, if they are not all."""
        return "" if self == (0, count) else f", {what} {self.start} to {self.stop - 1}"


class Block(NamedTuple):
    """What one repeat takes of the matrix.

    Parameters
    ----------
    row, column : int
        Where it starts.
    height, width : int
        Rows and columns.
    """

    row: int
    column: int
    height: int
    width: int


class Fractal(NamedTuple):
    """One fractal of a result.

    Parameters
    ----------
    values : ndarray
        Its 512 bytes as they lie in the buffer.
    source, rows, columns : ndarray of int64
        Flat index into L1 (-1 padding, -2 not written), row and column of the matrix (-1 for none) of each element.
    """

    values: NDArray[Any]
    source: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Scene:
    """One call of Load3D, and what of it is looked at.

    Parameters
    ----------
    load : Load
        The checked call.
    src, out : ndarray
        The feature map, and the result.
    m, k : int or None
        Row and column of the picked element in the matrix; None for an element of the result that has none.
    place : tuple of int or None
        Index of the picked element in the result; None if the call does not load it.
    """

    load: Load
    src: NDArray[Any]
    out: NDArray[Any]
    m: int | None
    k: int | None
    place: tuple[int, ...] | None

    @property
    def geometry(self) -> Geometry:
        """The feature map and the windows."""
        return self.load.geometry

    @cached_property
    def plane(self) -> NDArray[Any]:
        """The channel of the feature map that the picked column belongs to, shape (H, W)."""
        geometry, (group, _, _, channel) = self.geometry, self.geometry.column(self.k or 0)
        whole = from_nc1hwc0(self.src.reshape(-1), geometry.height, geometry.width, geometry.channels)
        return plain(whole[:, :, group * geometry.c0 + channel])

    @property
    def pad(self) -> Any:
        """The pad value, in the data's type."""
        return plain(np.asarray(self.load.pad_value).astype(self.load.dtype.numpy))[()]

    def index(self, rows: Page, columns: Page) -> NDArray[np.int64]:
        """Return a part of the matrix as flat indices into L1; -1 for padding."""
        found: NDArray[np.int64] = self.geometry.source_index(np.arange(*rows)[:, None], np.arange(*columns))
        return found

    def elements(self, rows: Page, columns: Page) -> NDArray[Any]:
        """Return the numbers of a part of the matrix."""
        index = self.index(rows, columns)
        return np.where(index >= 0, plain(self.src.reshape(-1)[index]), self.pad)

    def value(self, m: int, k: int) -> Any:
        """Return one number of the matrix."""
        return self.elements(Page(m, m + 1), Page(k, k + 1))[0, 0]

    @property
    def number(self) -> int:
        """The place in the buffer of the fractal that the picked element lies in; 0 if the call does not load it."""
        require_fractals(self.load)
        flat = int(np.ravel_multi_index(self.place, self.load.shape)) if self.place else 0
        return flat // (FRACTAL_ROWS * self.geometry.c0)

    @cached_property
    def fractal(self) -> Fractal:
        """The fractal that the picked element lies in; the first one if the call does not load it."""
        size, inner = FRACTAL_ROWS * self.geometry.c0, self.load.shape[-2:]
        flat = np.arange(self.number * size, (self.number + 1) * size)
        found = (plain(self.out.reshape(-1)[flat]), *plan_of(self.load).locate(flat))
        return Fractal(*(array.reshape(inner) for array in found))

    @cached_property
    def blocks(self) -> list[Block]:
        """What each repeat takes of the matrix."""
        return _blocks(plan_of(self.load))

    @cached_property
    def overlapping(self) -> bool:
        """Whether repeats take some elements more than once."""
        first = sorted((block.row, block.column) for block in self.blocks)
        height, width = max((block[2:] for block in self.blocks), default=(0, 0))
        return any(y - row < height and x - column < width for (row, column), (y, x) in itertools.pairwise(first))

    @property
    def repeat(self) -> int:
        """The number of the block that the picked element was loaded with; the first one without it."""
        if self.place is None or len(self.blocks) == 1:
            return 0
        flat = int(np.ravel_multi_index(self.place, self.load.shape))
        axis = max((a for a in plan_of(self.load).axes if a.name in _REPEATS), key=lambda a: a.size)
        if axis.size > 1:
            return flat // axis.stride
        # Joined repeats are one matrix, in which every block has its own stretch.
        holds = (
            number
            for number, (row, column, height, width) in enumerate(self.blocks)
            if self.m is not None and self.k is not None
            and row <= self.m < row + height and column <= self.k < column + width
        )  # fmt: skip
        return next(holds, 0)


def scene_of(src: NDArray[Any], load: Load, *, m: int = 0, k: int = 0, out: NDArray[Any] | None = None) -> Scene:
    """Look at an element of the matrix.

    Parameters
    ----------
    src : ndarray
        The feature map.
    load : Load
        From `ascendlab.load3d.plan_load_data_3d_v2` or its sisters.
    m, k : int
        Row and column of the matrix.
    out : ndarray, optional
        The call's result; made here without it.

    Raises
    ------
    ParameterError
        For a row or column that the matrix does not have, and for a call that does nothing.
    """
    check_int("m", m, 0, matrix_rows(load) - 1)
    check_int("k", k, 0, load.geometry.k - 1)
    places = plan_of(load).places(m, k)
    return Scene(load, src, load.run(src, None) if out is None else out, m, k, places[0] if places else None)


def scene_at(src: NDArray[Any], load: Load, index: int, *, out: NDArray[Any] | None = None) -> Scene:
    """Look at an element of the result, by its flat index (see `scene_of`)."""
    check_int("index", index, 0, math.prod(load.shape) - 1)
    _, row, column = (int(found[0]) for found in plan_of(load).locate(np.array([index])))
    place = tuple(int(i) for i in np.unravel_index(index, load.shape))
    m, k = (row, column) if row >= 0 else (None, None)
    return Scene(load, src, load.run(src, None) if out is None else out, m, k, place)


def plan_of(load: Load) -> Load3dPlan:
    """Return a call's plan; refuse a call that does nothing."""
    plan = load.plan
    if plan is None:
        raise ParameterError("load", "a call that does nothing", "one that moves something")
    return plan


def matrix_rows(load: Load) -> int:
    """Return the matrix's rows, with those behind the last window that Load3Dv1 takes all the same."""
    return max(load.geometry.m, int(plan_of(load).rows.max(initial=-1)) + 1)


def require_fractals(load: Load) -> None:
    """Refuse the matrix itself, which is not cut into fractals."""
    if not load.buffer:
        raise ParameterError("load", "the plan of im2col", "that of a load into L0A or L0B, which has fractals")


def order_of(scene: Scene) -> NDArray[np.int64]:
    """Return where each fractal of the picked repeat lies in the buffer, (down M, across K) as in the matrix."""
    require_fractals(scene.load)
    plan = plan_of(scene.load)
    axes = {axis.name: axis for axis in plan.axes}
    size = FRACTAL_ROWS * scene.geometry.c0
    down, across = (np.arange(axes[name].size) * axes[name].stride for name in ("m1", "k1"))
    flat = int(np.ravel_multi_index(scene.place, scene.load.shape)) if scene.place else 0
    first = sum(flat // axes[name].stride * axes[name].stride for name in _REPEATS if axes[name].size > 1)
    order: NDArray[np.int64] = (first + down[:, None] + across) // size
    return order


def is_turned(load: Load) -> bool:
    """Whether the windows run along the rows of a fractal instead of down."""
    return next(axis.stride for axis in plan_of(load).axes if axis.name == "m0") == 1


def taken_columns(load: Load) -> NDArray[np.bool_]:
    """Return which columns of the matrix a call takes."""
    plan = plan_of(load)
    starts = plan.columns[plan.columns >= 0]
    taken = np.zeros(load.geometry.k, bool)
    taken[starts[:, None] + np.arange(plan.unit)] = True
    return taken


def times_taken(load: Load, rows: Page, columns: Page) -> NDArray[np.int64]:
    """Return how often a call takes each element of a part of the matrix: more than once where repeats overlap."""
    plan = plan_of(load)
    down = np.bincount(plan.rows[plan.rows >= 0], minlength=rows.stop)[slice(*rows)]
    starts = plan.columns[plan.columns >= 0]
    across = np.bincount((starts[:, None] + np.arange(plan.unit)).reshape(-1), minlength=columns.stop)
    times: NDArray[np.int64] = down[:, None] * across[slice(*columns)]
    return times


def _blocks(plan: Load3dPlan) -> list[Block]:
    axes = {axis.name: axis.size for axis in plan.axes}
    spans = []
    for positions, name, unit in ((plan.rows, "repeat_m", 1), (plan.columns, "repeat_k", plan.unit)):
        parts = positions.reshape(axes[name], -1)
        spans.append([(start, size * unit) for part in parts for start, size in _stretches(part, unit)])
    return [Block(row, column, height, width) for row, height in spans[0] for column, width in spans[1]]


def _stretches(positions: NDArray[np.int64], step: int) -> list[tuple[int, int]]:
    """Cut positions into stretches that go on by `step`: first position and length; what is below zero is left out."""
    there = positions[positions >= 0]
    ends = np.flatnonzero(np.diff(there) != step) + 1
    return [(int(part[0]), len(part)) for part in np.split(there, ends) if len(part)]


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in a type that NumPy itself knows."""
    return array if array.dtype.kind in "iuf" else array.astype(np.float64)


# Words ------------------------------------------------------------------------------------------------------------


def say_layout(load: Load) -> str:
    """Name the layout in which a call writes its fractals."""
    require_fractals(load)
    if len(load.shape) == 3 and load.product is not Product.ATLAS_350:
        return f"a fractal a repeat{', transposed' * is_turned(load)}"
    if load.buffer == "L0B":
        return "ZN"
    layout = "NZ" if load.product is Product.ATLAS_350 else "ZZ"
    return f"{layout}, transposed" if is_turned(load) else layout


def say_k(load: Load, k: int) -> str:
    """Spell out what a column of the matrix is.

    >>> from ascendlab.load3d import LoadData3DParamsV2, plan_im2col
    >>> params = LoadData3DParamsV2(l1_h=4, l1_w=4, channel_size=32, filter_h=3, filter_w=3)
    >>> say_k(plan_im2col(np.zeros((2, 4, 4, 16), np.float16), params), 167)
    'k = 167 = ((1 * 3 + 0) * 3 + 1) * 16 + 7: c1 1, kh 0, kw 1, c0 7'
    """
    geometry = load.geometry
    group, down, across, channel = geometry.column(check_int("k", k, 0, geometry.k - 1))
    h, w, full = geometry.window_h, geometry.window_w, geometry.channels // geometry.c0
    if group < full:
        sum_of = f"(({group} * {h} + {down}) * {w} + {across}) * {geometry.c0} + {channel}"
    else:  # the packed tail: behind the full groups, with fewer channels at a filter point
        sum_of = f"{geometry.first_column(full, 0)} + ({down} * {w} + {across}) * {geometry.tail} + {channel}"
    return f"k = {k} = {sum_of}: c1 {group}, kh {down}, kw {across}, c0 {channel}"


def _call(scene: Scene) -> str:
    load, geometry = scene.load, scene.geometry
    where = f" to {load.buffer} ({say_layout(load)})" if load.buffer else ""
    left, right, top, bottom = geometry.pads
    return (
        f"Load3D of {load.dtype}{where}: feature map {geometry.height} x {geometry.width} with {geometry.channels} "
        f"channels, padding left {left}, right {right}, top {top}, bottom {bottom}; filter {geometry.window_h} x "
        f"{geometry.window_w}, stride {geometry.stride_h} x {geometry.stride_w}, dilation {geometry.dilation_h} x "
        f"{geometry.dilation_w}; M = Ho * Wo = {geometry.ho} * {geometry.wo} = {geometry.m}, K = {geometry.k}."
    )


def _taken(scene: Scene) -> str:
    blocks = scene.blocks
    if not blocks:
        return "Nothing is loaded."
    first = blocks[0]
    rows, columns = _span(first.row, first.height), _span(first.column, first.width)
    overlapping = " overlapping" if scene.overlapping else ""
    repeats = f" in the first of {len(blocks)}{overlapping} blocks" if len(blocks) > 1 else ""
    return f"Loaded: rows {rows}, columns {columns}{repeats}."


def _span(start: int, size: int) -> str:
    return f"{start} to {start + size - 1}"


def describe(view: str, scene: Scene) -> str:
    """Say in words what a view shows, with the numbers that matter.

    Parameters
    ----------
    view : {"overview", "matrix", "fractal", "tile", "k_index"}
        Which view.
    scene : Scene
        What is drawn.
    """
    geometry, parts = scene.geometry, [_call(scene)]
    if view != "k_index":
        parts.append(_taken(scene))
        if any(geometry.pads) and scene.load.pad_value:
            parts.append(f"The padding is {scene.load.pad_value:g}.")
    if scene.m is None or scene.k is None:
        parts += ["Outlined: a place of the result that is not written."] if scene.place else []
        return " ".join(parts)
    if view == "overview":
        row, column = geometry.corner(scene.m)
        height, width = covered(geometry)
        group, _, _, channel = geometry.column(scene.k)
        parts.append(
            f"Window {scene.m} covers rows {_span(row, height)} and columns {_span(column, width)} of channel "
            f"c1 {group}, c0 {channel}."
        )
    if view == "k_index":
        parts.append(say_k(scene.load, scene.k) + ".")
    value = scene.value(scene.m, scene.k)
    parts.append(f"Outlined: row {scene.m}, column {scene.k} of the matrix, {value:g}{_where(scene)}.")
    return " ".join(parts)


def covered(geometry: Geometry) -> tuple[int, int]:
    """Return how many rows and columns of pixels a window covers."""
    return (geometry.window_h - 1) * geometry.dilation_h + 1, (geometry.window_w - 1) * geometry.dilation_w + 1


def _where(scene: Scene) -> str:
    if not scene.load.buffer:
        return ""
    if scene.place is None:
        return ", which this call does not load"
    return f", in fractal {scene.number} of {scene.load.buffer}"


def say_origin(scene: Scene) -> str:
    """Spell out how the picked element's place in the feature map follows from its row and column."""
    geometry, m, k = scene.geometry, scene.m, scene.k
    if scene.place is None and m is None:
        return "no element picked"
    if m is None or k is None:
        place, number = ", ".join(map(str, scene.place or ())), scene.number
        return f"dst[{place}], fractal {number} of {scene.load.buffer}: no element of the matrix, never written"
    value = scene.value(m, k)
    left, _, top, _ = geometry.pads
    group, down, across, channel = geometry.column(k)
    window_row, window_column = divmod(m, geometry.wo)
    row, column = geometry.corner(m)
    _, y, x, _ = geometry.sample(m, k)
    parts = [
        f"matrix[{m}, {k}] = {value:g}",
        f"Row {m} is window ({window_row}, {window_column}), its corner at row {window_row} * {geometry.stride_h} - "
        f"{top} = {row}, column {window_column} * {geometry.stride_w} - {left} = {column}",
    ]
    index = geometry.source_index(m, k)
    sample = (
        f"row {row} + {down} * {geometry.dilation_h} = {y}, column {column} + {across} * {geometry.dilation_w} = {x}"
    )
    if index < 0:
        found = f"outside the feature map: the pad value {value:g}"
    else:
        place = ", ".join(str(int(i)) for i in np.unravel_index(index, scene.src.shape))
        found = f"src[{place}], which is {value:g}"
    parts.append(f"k = {k} is c1 {group}, kh {down}, kw {across}, c0 {channel}, so the sample is at {sample}: {found}")
    if scene.load.buffer and scene.place is None:
        parts.append("This call does not load it")
    elif scene.load.buffer:
        place = ", ".join(map(str, scene.place or ()))
        layout = say_layout(scene.load)
        parts.append(f"It lies at dst[{place}], fractal {scene.number} of {scene.load.buffer} ({layout})")
    return ". ".join(parts)
