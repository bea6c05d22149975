"""Where in a layout an element lies: in words, and as cells of a map.

>>> place_words("NZ", (2, 3, 16, 16), (1, 2, 5, 7), 16)
'fractal (1, 2), row 5, element 7: matrix row 37, column 23'
>>> place_words("HWC", (4, 6, 3), (1, 5, 2), 32)
'row 1, column 5, channel 2'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab import load3d, vector
from ascendlab.capi.launch import Launch
from ascendlab.conv import conv2d
from ascendlab.dtypes import BLOCKS_PER_REPEAT, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.golden_calls import FUNCTIONS, layouts
from ascendlab.layouts import FRACTAL_ROWS, LAYOUTS, matrix_index
from ascendlab.provenance import Call

__all__ = [
    "RESULT_LAYOUTS",
    "Cells",
    "Part",
    "call_layout",
    "cells_of",
    "check_result_layout",
    "part_around",
    "place_words",
    "shape_layout",
]

RESULT_LAYOUTS = ("ND", "HW", "HWC", "NHWC", "NC1HWC0", *LAYOUTS, "fractals", "blocks")
"""Layouts of results: besides the documents' ones "fractals", one after the other, and "blocks", DataBlocks."""

_DIMENSIONS = {"HW": 2, "HWC": 3, "NHWC": 4}


def _fits(layout: str, shape: tuple[int, ...], c0: int) -> bool:
    """Whether an array of this shape can be in this layout."""
    if layout in _DIMENSIONS:
        return len(shape) == _DIMENSIONS[layout]
    if layout == "NC1HWC0":
        return len(shape) in (4, 5) and shape[-1] == c0
    if layout in (*LAYOUTS, "fractals"):
        return len(shape) >= 3 and shape[-2:] == (FRACTAL_ROWS, c0)
    return layout == "ND" or len(shape) == 1


def check_result_layout(layout: object, shape: tuple[int, ...], c0: int) -> str:
    """Return a layout that a caller names, if the result's shape can be in it."""
    fitting = [name for name in RESULT_LAYOUTS if _fits(name, shape, c0)]
    if isinstance(layout, str) and layout in fitting:
        return layout
    raise ParameterError("layout", layout, f"for a result of shape {shape} one of {', '.join(fitting)}")


def shape_layout(shape: tuple[int, ...], c0: int) -> str:
    """Return the layout that a shape suggests where nobody says.

    >>> shape_layout((3, 2, 16, 16), 16), shape_layout((40, 60, 3), 32), shape_layout((40, 60), 32)
    ('fractals', 'HWC', 'ND')
    """
    if _fits("fractals", shape, c0):
        return "fractals"
    return "HWC" if len(shape) == 3 else "ND"


def call_layout(call: Call | Launch, shape: tuple[int, ...], c0: int) -> str:
    """Return the layout of a call's result."""
    function = call.function if isinstance(call, Call) else None
    layout = ""
    if function in (vector.vector_padding, vector.bilinear_interpolation):
        layout = "blocks"
    elif function is load3d.load_data_3d_v1:
        layout = "fractals"
    elif function is conv2d or (function is None and len(shape) == 4):
        layout = "NHWC"
    elif isinstance(call, Call) and function in FUNCTIONS.values():
        layout = layouts(call)["golden"]
    return layout if layout and _fits(layout, shape, c0) else shape_layout(shape, c0)


def _one(values: tuple[int, ...]) -> str:
    return str(values[0]) if len(values) == 1 else str(tuple(values))


def place_words(layout: str, shape: tuple[int, ...], index: tuple[int, ...], c0: int) -> str:
    """Say where an element lies.

    Parameters
    ----------
    layout : str
        One of `RESULT_LAYOUTS`.
    shape, index : tuple of int
        Of the result, and of the element.
    c0 : int
        Elements in a DataBlock.
    """
    if layout in ("HW", "HWC", "NHWC"):
        named = dict(zip(("picture", "row", "column", "channel")[1 if layout != "NHWC" else 0 :], index, strict=False))
        return ", ".join(f"{name} {value}" for name, value in named.items())
    if layout == "NC1HWC0":
        *batch, group, row, column, lane = index
        lead = f"picture {batch[0]}, " if batch else ""
        return f"{lead}row {row}, column {column}, channel {group * c0 + lane} (c1 {group}, c0 {lane})"
    if layout in (*LAYOUTS, "fractals"):
        words = f"fractal {_one(index[:-2])}, row {index[-2]}, element {index[-1]}"
        if layout in LAYOUTS and len(shape) == 4:
            row, column = matrix_index(layout, (index[0], index[1], index[2], index[3]), c0)
            words += f": matrix row {row}, column {column}"
        return words
    if layout == "blocks":
        return f"DataBlock {index[0] // c0}, element {index[0] % c0}"
    return f"row {index[0]}, column {index[1]}" if len(index) == 2 else f"element {_one(index)}" if index else "element"


@dataclass(frozen=True, eq=False)
class Cells:
    """How a result is cut into the cells of a map.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the map.
    unit : str
        What a cell is: a fractal, a pixel, a DataBlock.
    vertical, horizontal : str
        What the axes count.
    """

    shape: tuple[int, int]
    unit: str
    vertical: str
    horizontal: str
    _layout: str
    _result: tuple[int, ...]
    _c0: int

    def numbers(self, flat: NDArray[Any]) -> NDArray[np.intp]:
        """Return the cell (``row * columns + column``) of each element, by flat indices."""
        shape, c0 = self._result, self._c0
        if self._layout == "blocks" or len(shape) < 2:
            return (flat // c0).astype(np.intp)
        index = np.unravel_index(flat, shape)
        if self._layout in (*LAYOUTS, "fractals"):
            whole = np.ravel_multi_index(index[:-2], shape[:-2])
            if self._layout in ("NZ", "ZN", "ZZ") and len(shape) == 4:
                row, column = (index[1], index[0]) if self._layout == "NZ" else (index[0], index[1])
                whole = row * self.shape[1] + column
            return np.asarray(whole, np.intp)
        if self._layout == "ND":
            row = np.ravel_multi_index(index[:-1], shape[:-1]) // FRACTAL_ROWS
            return np.asarray(row * self.shape[1] + index[-1] // c0, np.intp)
        row, column = {"HW": index[:2], "HWC": index[:2], "NHWC": index[1:3], "NC1HWC0": index[-3:-1]}[self._layout]
        if self._layout == "NHWC" or len(shape) == 5:
            row = index[0] * (self.shape[0] // shape[0]) + row
        return np.asarray(row * self.shape[1] + column, np.intp)

    def sizes(self) -> NDArray[np.int64]:
        """Return how many elements lie in each cell: fewer at a ragged end."""
        rows, columns = self.shape
        total, c0 = math.prod(self._result), self._c0
        if self._layout == "blocks" or len(self._result) < 2:
            left: NDArray[np.int64] = (total - c0 * np.arange(rows * columns)).clip(0, c0)
            return left.reshape(self.shape)
        if self._layout == "ND":
            high: NDArray[np.int64] = (math.prod(self._result[:-1]) - FRACTAL_ROWS * np.arange(rows)).clip(
                0, FRACTAL_ROWS
            )
            wide: NDArray[np.int64] = (self._result[-1] - c0 * np.arange(columns)).clip(0, c0)
            return high[:, None] * wide
        return np.full(self.shape, total // max(1, rows * columns), np.int64)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a result that fits into a picture.

    Parameters
    ----------
    flat : ndarray of intp, shape (H, W)
        Flat indices of its elements.
    words : str
        What it is.
    vertical, horizontal : str
        What its axes count.
    first : (int, int)
        The numbers of the first row and column.
    """

    flat: NDArray[np.intp]
    words: str
    vertical: str
    horizontal: str
    first: tuple[int, int] = (0, 0)


_NEAR = 12


def part_around(layout: str, shape: tuple[int, ...], index: tuple[int, ...], dtype: Any) -> Part:
    """Return the surroundings of an element: its fractal, the pixels near it, its row of DataBlocks.

    >>> part = part_around("ZZ", (2, 3, 16, 16), (1, 2, 5, 7), "half")
    >>> part.words, bool(part.flat[5, 7] == np.ravel_multi_index((1, 2, 5, 7), (2, 3, 16, 16)))
    ('fractal (1, 2)', True)
    """
    c0, size = as_dtype(dtype).c0, math.prod(shape)
    if not size:
        return Part(np.zeros((0, 0), np.intp), "no elements", "row", "column")
    if layout in (*LAYOUTS, "fractals"):
        start = int(np.ravel_multi_index(index[:-2], shape[:-2])) * FRACTAL_ROWS * c0
        flat = start + np.arange(FRACTAL_ROWS * c0).reshape(FRACTAL_ROWS, c0)
        return Part(flat, f"fractal {_one(index[:-2])}", "row of 32 bytes", "element")
    if layout == "blocks" or len(shape) < 2:
        place = index[0] if index else 0
        row = place // (c0 * BLOCKS_PER_REPEAT)
        count = max(1, min(BLOCKS_PER_REPEAT, (size - row * c0 * BLOCKS_PER_REPEAT) // c0))
        flat = (row * BLOCKS_PER_REPEAT + np.arange(count))[:, None] * c0 + np.arange(min(c0, size))
        first = row * BLOCKS_PER_REPEAT
        if place >= (first + count) * c0:  # in a last block that is not full
            flat, first = np.arange(place // c0 * c0, size)[None], place // c0
        return Part(flat, f"DataBlocks {first} to {first + len(flat) - 1}", "DataBlock", "element", (first, 0))
    if layout == "ND":
        rows, columns = math.prod(shape[:-1]), shape[-1]
        row, column = divmod(int(np.ravel_multi_index(index, shape)), columns)
        top, left = row // FRACTAL_ROWS * FRACTAL_ROWS, column // c0 * c0
        y, x = np.arange(top, min(rows, top + FRACTAL_ROWS)), np.arange(left, min(columns, left + c0))
        return Part(y[:, None] * columns + x, f"rows {top} on, columns {left} on", "row", "column", (top, left))
    axes = {"HW": (0, 1), "HWC": (0, 1), "NHWC": (1, 2), "NC1HWC0": (len(shape) - 3, len(shape) - 2)}[layout]
    starts = [max(0, min(index[axis] - _NEAR // 2, shape[axis] - _NEAR)) for axis in axes]
    ranges = [np.arange(start, min(shape[axis], start + _NEAR)) for start, axis in zip(starts, axes, strict=True)]
    places: list[Any] = list(index)
    places[axes[0]], places[axes[1]] = ranges[0][:, None], ranges[1]
    flat = np.ravel_multi_index(tuple(np.broadcast_arrays(*places)), shape)
    lead = "" if layout == "HW" else f"channel {index[-1] if layout != 'NC1HWC0' else index[-4] * c0 + index[-1]} "
    return Part(np.asarray(flat, np.intp), f"{lead}near {(index[axes[0]], index[axes[1]])}", "row", "column",
                (starts[0], starts[1]))  # fmt: skip


def cells_of(layout: str, shape: tuple[int, ...], dtype: Any) -> Cells:
    """Cut a result of this layout into cells.

    >>> cells_of("NZ", (2, 3, 16, 16), "half").shape, cells_of("blocks", (300,), "half").shape
    ((3, 2), (3, 8))
    """
    c0 = as_dtype(dtype).c0

    def cells(rows: int, columns: int, unit: str, vertical: str, horizontal: str) -> Cells:
        return Cells((rows, columns), unit, vertical, horizontal, layout, shape, c0)

    if layout == "blocks" or len(shape) < 2:
        rows = -(-math.prod(shape) // (c0 * BLOCKS_PER_REPEAT))
        return cells(rows, BLOCKS_PER_REPEAT, "DataBlock", "eight blocks", "DataBlock of the eight")
    if layout in LAYOUTS and len(shape) == 4:
        rows, columns = (shape[1], shape[0]) if layout == "NZ" else (shape[0], shape[1])
        return cells(rows, columns, "fractal", "fractal row", "fractal column")
    if layout in (*LAYOUTS, "fractals"):
        rows, columns = math.prod(shape[:-3]), shape[-3]
        return cells(rows, columns, "fractal", "first axes", "fractal")
    if layout == "ND":
        rows, columns = -(-math.prod(shape[:-1]) // FRACTAL_ROWS), -(-shape[-1] // c0)
        return cells(rows, columns, f"{FRACTAL_ROWS} x {c0} elements", "16 matrix rows", f"{c0} matrix columns")
    height, width = {"HW": shape[:2], "HWC": shape[:2], "NHWC": shape[1:3], "NC1HWC0": shape[-3:-1]}[layout]
    pictures = shape[0] if layout == "NHWC" or len(shape) == 5 else 1
    vertical = "row" if pictures == 1 else "row, picture below picture"
    return cells(pictures * height, width, "pixel", vertical, "column")
