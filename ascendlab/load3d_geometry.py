"""Where windows stand and what a matrix column means: the geometry of im2col.

Nothing here depends on the data, on a layout or on a product.  A *row* m of the matrix is a window position, a
*column* k a channel at a filter point:

>>> geometry = Geometry(height=4, width=5, channels=32, c0=16, window_h=3, window_w=2, stride_h=2, pads=(1, 0, 1, 1))
>>> geometry.ho, geometry.wo, geometry.m, geometry.k
(2, 5, 10, 192)
>>> geometry.corner(5)
(1, -1)
>>> geometry.column(100)
(1, 0, 0, 4)
>>> geometry.sample(5, 100)
(1, 1, -1, 4)
>>> geometry.inside(1, -1), geometry.source_index(5, 100), geometry.source_index(6, 100)
(False, -1, 404)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ascendlab.errors import ParameterError

__all__ = ["Geometry"]


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """A feature map in L1 and a filter that slides over it.

    Parameters
    ----------
    height, width, channels : int
        The feature map.
    c0 : int
        Channels in one 32-byte block.
    window_h, window_w : int
        Filter points along each axis.
    stride_h, stride_w : int
        Step of the window, in pixels.
    dilation_h, dilation_w : int
        Distance of two filter points, in pixels.
    pads : (int, int, int, int)
        Left, right, top, bottom.

    Raises
    ------
    ParameterError
        If the window is larger than the padded feature map, so that there is no window position.
    """

    height: int
    width: int
    channels: int
    c0: int
    window_h: int = 1
    window_w: int = 1
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)

    def __post_init__(self) -> None:
        left, right, top, bottom = self.pads
        axes = (
            ("H", "top + bottom", self.height, top, bottom, self.window_h, self.dilation_h, self.stride_h),
            ("W", "left + right", self.width, left, right, self.window_w, self.dilation_w, self.stride_w),
        )
        for axis, sides, size, before, after, window, dilation, stride in axes:
            covered, there = (window - 1) * dilation + 1, size + before + after
            if covered > there:
                raise ParameterError(
                    f"filter{axis}",
                    window,
                    f"a window that fits: with dilationFilter{axis} = {dilation} it covers {covered} pixels, "
                    f"l1{axis} + {sides} = {size} + {before} + {after} = {there}",
                    hint=f"{axis}o = (l1{axis} + {sides} - ((filter{axis} - 1) * dilationFilter{axis} + 1)) // "
                    f"stride{axis} + 1 = ({there} - {covered}) // {stride} + 1 must be at least 1",
                )

    @cached_property
    def ho(self) -> int:
        """How many window positions there are down the feature map."""
        covered = (self.window_h - 1) * self.dilation_h + 1
        return (self.height + sum(self.pads[2:]) - covered) // self.stride_h + 1

    @cached_property
    def wo(self) -> int:
        """How many window positions there are across the feature map."""
        covered = (self.window_w - 1) * self.dilation_w + 1
        return (self.width + sum(self.pads[:2]) - covered) // self.stride_w + 1

    @cached_property
    def m(self) -> int:
        """Rows of the matrix: Ho * Wo."""
        return self.ho * self.wo

    @cached_property
    def k(self) -> int:
        """Columns of the matrix: filter points times channels."""
        return self.window_h * self.window_w * self.channels

    @cached_property
    def tail(self) -> int:
        """Channels in the last, packed group; 0 if all groups are full."""
        return self.channels % self.c0

    @cached_property
    def source_size(self) -> int:
        """Elements of the feature map in L1."""
        return self.height * self.width * self.channels

    def corner(self, m: Any) -> tuple[Any, Any]:
        """Return the row and column of a window's first pixel in the feature map; negative in the padding."""
        left, _, top, _ = self.pads
        down, across = m // self.wo, m % self.wo
        return down * self.stride_h - top, across * self.stride_w - left

    def column(self, k: Any) -> tuple[Any, Any, Any, Any]:
        """Return what a matrix column holds: channel group c1, filter point kh and kw, channel c0 in the group."""
        points = self.window_h * self.window_w
        if self.tail == 0:
            group, rest = divmod(k, points * self.c0)
            point, channel = divmod(rest, self.c0)
            return group, *divmod(point, self.window_w), channel
        # The groups before the tail are full; the tail holds only its real channels at every filter point.
        full = self.channels // self.c0
        whole = full * points * self.c0
        in_tail = k >= whole
        depth = np.where(in_tail, self.tail, self.c0)
        group = np.where(in_tail, full, k // (points * self.c0))
        point, channel = divmod(k - np.where(in_tail, whole, group * (points * self.c0)), depth)
        if np.ndim(k) == 0:
            return int(group), *divmod(int(point), self.window_w), int(channel)
        return group, *divmod(point, self.window_w), channel

    def first_column(self, group: Any, point: Any) -> Any:
        """Return the matrix column of a filter point's first channel in a channel group.

        >>> Geometry(height=3, width=3, channels=20, c0=16, window_h=2, window_w=2).first_column(1, 3)
        76
        """
        depth = np.where(group < self.channels // self.c0, self.c0, self.tail)
        first = group * (self.window_h * self.window_w * self.c0) + point * depth
        return int(first) if np.ndim(first) == 0 else first

    def sample(self, m: Any, k: Any) -> tuple[Any, Any, Any, Any]:
        """Return the feature-map coordinates (c1, row, column, c0) behind an element; outside means padding."""
        row, column = self.corner(m)
        group, down, across, channel = self.column(k)
        return group, row + down * self.dilation_h, column + across * self.dilation_w, channel

    def inside(self, row: Any, column: Any) -> Any:
        """Whether a pixel lies in the feature map, not in the padding."""
        return (row >= 0) & (row < self.height) & (column >= 0) & (column < self.width)

    def source_index(self, m: Any, k: Any) -> Any:
        """Return the flat index into L1 of the element behind (m, k); -1 for padding."""
        group, row, column, channel = self.sample(m, k)
        full = self.channels // self.c0
        depth = np.where(group < full, self.c0, self.tail)
        index = group * (self.height * self.width * self.c0) + (row * self.width + column) * depth + channel
        found = np.where(self.inside(row, column), index, -1)
        return int(found) if found.ndim == 0 else found
