"""Resize a picture with BilinearInterpolation: the offsets and weights that make the instruction do it.

The instruction multiplies whole DataBlocks, 16 neighbours in memory, by one weight.  In a picture that lies row by
row these are 16 columns of one row, so interpolating *between rows* fits: output row y is a weighted sum of two input
rows, the same two weights for every column.  The other axis is the same job on the transposed picture (16 x 16
transposes are an instruction of their own).  So a resize is two passes, rows first, and in each pass

- ``hRepeat`` is 2, the two lines that are mixed, and ``repeatMode`` is False, since a line has one weight;
- the eight DataBlocks of an iteration are 128 columns of one line;
- ``vRepeat`` goes through output lines, ``vROffset`` is 128.

A call works on what fits into the Unified Buffer: 128 columns of some output lines, and the input lines they mix.

Output pixel x lies at ``(x + 0.5) * scale - 0.5`` of the input, clamped to the picture (half-pixel centres, corners not
aligned).  Weights are multiples of 2**-11, so that both are exact in half and add up to one.

>>> picture = np.float16([[0, 10, 20], [100, 110, 120]])
>>> bilinear_resize(picture, (4, 3))
array([[  0.,  10.,  20.],
       [ 25.,  35.,  45.],
       [ 75.,  85.,  95.],
       [100., 110., 120.]], dtype=float16)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_array, check_out, check_size
from ascendlab.bilinear import bilinear_interpolation, kernel_tmp_buffer_bytes, shared_tmp_buffer_bytes
from ascendlab.bilinear_plan import API, BILINEAR_INTERPOLATION_PRODUCTS
from ascendlab.dtypes import BLOCKS_PER_REPEAT, DATA_BLOCK_BYTES, TYPES
from ascendlab.errors import BufferOverflowError, ParameterError
from ascendlab.fields import check_int
from ascendlab.half import accumulate_products, narrow, widen, widen_and_measure
from ascendlab.products import Product, require_product
from ascendlab.vector_blocks import ub_bytes

__all__ = ["ResizeCall", "ResizePass", "ResizePlan", "bilinear_resize", "bilinear_resize_plan", "linear_taps"]

TAPS = 2
_HALF = TYPES["half"].numpy
_C0 = TYPES["half"].c0
_COLUMNS = TYPES["half"].lanes
_WEIGHT_STEPS = 2**11
# hRepeat * vRepeat lives in uint8 in the public implementation for A2 and A3: stay below for every product.
_MOST_LINES = 255 // TAPS
_LARGEST_SIDE = 2**24
# Samples handled at once: with their scratch memory they fit into a core's second-level cache.
_TILE = 32 * 1024


def linear_taps(size: int, out_size: int) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
    """Return which two input lines each output line mixes, and how.

    Parameters
    ----------
    size, out_size : int
        Lines of the input and of the output.

    Returns
    -------
    lines : ndarray of int64, shape (2, out_size)
    weights : ndarray of float16, shape (2, out_size)
        Multiples of 2**-11 that add up to one.

    Examples
    --------
    >>> lines, weights = linear_taps(2, 3)
    >>> lines, weights.tolist()
    (array([[0, 0, 1],
           [1, 1, 1]]), [[1.0, 0.5, 1.0], [0.0, 0.5, 0.0]])
    """
    for name, value in (("size", size), ("out_size", out_size)):
        check_int(name, value, 1, _LARGEST_SIDE)
    position = np.clip((np.arange(out_size) + 0.5) * (size / out_size) - 0.5, 0, size - 1)
    first = position.astype(np.int64)
    second = np.rint((position - first) * _WEIGHT_STEPS) / _WEIGHT_STEPS
    return np.stack([first, np.minimum(first + 1, size - 1)]), np.stack([1 - second, second]).astype(np.float16)


@dataclass(frozen=True, eq=False)
class ResizeCall:
    """One call of the instruction: a part of one pass.

    Parameters
    ----------
    lines : ndarray of int64, shape (n,)
        The input lines that are brought to the Unified Buffer.
    columns : slice
        The columns of them, at most 128.
    out_lines : slice
        The output lines that the call makes.
    arguments : dict
        What `bilinear_interpolation` is called with, but for ``src0``.
    """

    lines: NDArray[np.int64]
    columns: slice
    out_lines: slice
    arguments: dict[str, Any]

    def load(self, picture: NDArray[np.float16]) -> NDArray[np.float16]:
        """Return ``src0``: the lines' columns one after another, each filled up with 0 to whole DataBlocks."""
        part = picture[self.lines, self.columns]
        width = -(-part.shape[1] // _C0) * _C0
        return np.pad(part, ((0, 0), (0, width - part.shape[1]))).ravel()

    def run(self, picture: NDArray[np.float16], out: NDArray[np.float16]) -> None:
        """Make the call and put its result where it belongs."""
        made = bilinear_interpolation(self.load(picture), **self.arguments)
        out[self.out_lines, self.columns] = made.reshape(-1, _COLUMNS)[:, : self.columns.stop - self.columns.start]


@dataclass(frozen=True, eq=False)
class ResizePass:
    """Interpolation between lines: the whole of it, and the calls that make it up.

    Parameters
    ----------
    lines : ndarray of int64, shape (2, n)
        The input lines that each output line mixes.
    weights : ndarray of float16, shape (2, n)
        Their weights.
    width : int
        Columns of the lines.
    lines_per_call : int
        Output lines of a call.
    product : Product
        Where the calls would run.
    """

    lines: NDArray[np.int64]
    weights: NDArray[np.float16]
    width: int
    lines_per_call: int
    product: Product

    def calls(self) -> Iterator[ResizeCall]:
        """Yield the calls, group of lines by group of lines and in each from left to right."""
        count = self.lines.shape[1]
        for start in range(0, count, self.lines_per_call):
            stop = min(start + self.lines_per_call, count)
            used, place = np.unique(self.lines[:, start:stop], return_inverse=True)
            place = place.reshape(TAPS, -1).T
            # The implementation for A2 and A3 reads weights in eights.
            weights = np.zeros(-(-place.size // 8) * 8, np.float16)
            weights[: place.size] = self.weights[:, start:stop].T.ravel()
            for left in range(0, self.width, _COLUMNS):
                columns = slice(left, min(left + _COLUMNS, self.width))
                width = columns.stop - columns.start
                yield ResizeCall(used, columns, slice(start, stop), self._arguments(len(used), place, weights, width))

    def _arguments(
        self, used: int, place: NDArray[np.int64], weights: NDArray[np.float16], width: int
    ) -> dict[str, Any]:
        blocks = -(-width // _C0)
        # Where a line has fewer than eight DataBlocks, its last one is read again and the mask drops it.
        block = np.minimum(np.arange(BLOCKS_PER_REPEAT), blocks - 1)
        offsets = ((place[:, :, None] * blocks + block) * DATA_BLOCK_BYTES).astype(np.uint32).ravel()
        return {
            "src0_offset": offsets,
            "src1": weights,
            "mask": width,
            "h_repeat": TAPS,
            "repeat_mode": False,
            "dst_blk_stride": 1,
            "v_roffset": _COLUMNS,
            "v_repeat": len(place),
            "shared_tmp_buffer_size": _tmp_bytes(self.product, used * blocks * _C0, len(place)),
            "product": self.product,
        }

    def run(self, picture: NDArray[np.float16], out: NDArray[np.float16]) -> None:
        """Do all the calls' arithmetic at once, on lines instead of DataBlocks: the same numbers, much faster."""
        columns = min(self.width, _TILE // TAPS)
        count = max(1, _TILE // TAPS // columns)
        for start in range(0, self.lines.shape[1], count):
            here = slice(start, start + count)
            lines, weights = self.lines[:, here], widen(self.weights[:, here])[..., None]
            first, last = int(lines.min()), int(lines.max())
            for left in range(0, self.width, columns):
                across = slice(left, left + columns)
                if last - first < lines.size:
                    source, index = picture[first : last + 1, across], lines - first
                else:
                    source, index = picture[lines.ravel(), across], np.arange(lines.size).reshape(lines.shape)
                wide, largest = widen_and_measure(source)  # and no weight is larger than 1
                total = accumulate_products(wide.take(index, axis=0), weights, largest)
                narrow(total, out[here, across])


def _tmp_bytes(product: Product, src0_size: int, lines: int) -> int:
    """Return the temporary buffer that a call of so many output lines is given: what document and kernel ask for."""
    iterations = TAPS * lines
    src1_size = -(-iterations // 8) * 8
    documented = shared_tmp_buffer_bytes(product, src0_size, src1_size, BLOCKS_PER_REPEAT * iterations)
    if product in (Product.ATLAS_A2, Product.ATLAS_A3):
        return max(documented, kernel_tmp_buffer_bytes(TAPS, lines, src1_size))
    return documented


def _call_bytes(product: Product, size: int, out_size: int, lines: int) -> int:
    """Return at most how much of the Unified Buffer a call with so many output lines takes."""
    used = min(size, TAPS * lines, int((lines - 1) * size / out_size) + 2 + TAPS)
    iterations = TAPS * lines
    return ub_bytes(
        {
            "src0": used * _COLUMNS * _HALF.itemsize,
            "src0Offset": BLOCKS_PER_REPEAT * iterations * 4,
            "src1": -(-iterations // 8) * 8 * _HALF.itemsize,
            "dst": lines * _COLUMNS * _HALF.itemsize,
            "sharedTmpBuffer": _tmp_bytes(product, used * _COLUMNS, lines),
        }
    )


def _most_lines(product: Product, size: int, out_size: int) -> int:
    """Return the largest number of output lines of one call that fits into the Unified Buffer."""
    fitting = [n for n in range(1, _MOST_LINES + 1) if _call_bytes(product, size, out_size, n) <= product.buffers["UB"]]
    return max(fitting)


@dataclass(frozen=True, eq=False)
class ResizePlan:
    """A resize as two passes over lines, with a transpose before and after the second.

    Parameters
    ----------
    shape, out_shape : (int, int)
        Height and width of the picture, before and after.
    rows, columns : ResizePass
        The first pass, between rows, and the second, between columns of its result.
    """

    shape: tuple[int, int]
    out_shape: tuple[int, int]
    rows: ResizePass
    columns: ResizePass

    def run(self, picture: NDArray[np.float16], *, by_calls: bool = False) -> NDArray[np.float16]:
        """Resize a picture.

        Parameters
        ----------
        picture : ndarray of float16, of this plan's shape
            The picture.
        by_calls : bool
            Make every call of the instruction, as a kernel would, instead of the arithmetic at once.

        Returns
        -------
        ndarray of float16, of this plan's out_shape
            The same bits either way.
        """
        check_array("picture", picture, _HALF, self.shape, str(self.shape))
        for step in (self.rows, self.columns):
            made = np.empty((step.lines.shape[1], step.width), np.float16)
            if by_calls:
                for call in step.calls():
                    call.run(picture, made)
            else:
                step.run(picture, made)
            picture = np.ascontiguousarray(made.T)
        return picture


def bilinear_resize_plan(
    shape: tuple[int, int],
    out_shape: tuple[int, int],
    *,
    product: Product = Product.ATLAS_350,
    lines_per_call: int | None = None,
) -> ResizePlan:
    """Lay out the calls of BilinearInterpolation that resize a picture.

    Parameters
    ----------
    shape, out_shape : (int, int)
        Height and width, before and after; any sizes.
    product : Product
        Where the calls would run: it decides how much fits into the Unified Buffer.
    lines_per_call : int, optional
        Output lines of one call, [1, 127]; as many as fit if not given.

    Returns
    -------
    ResizePlan

    Raises
    ------
    ParameterError
        Shapes that are no two positive integers; `lines_per_call` out of range.
    UnsupportedProductError
        On products without the instruction.
    BufferOverflowError
        If `lines_per_call` lines do not fit; for results over 4 GiB.

    Examples
    --------
    >>> plan = bilinear_resize_plan((512, 512), (768, 768))
    >>> plan.rows.lines_per_call, len(list(plan.rows.calls())), len(list(plan.columns.calls()))
    (127, 28, 42)
    >>> next(plan.columns.calls()).arguments["v_repeat"]
    127
    """
    require_product(API, product, BILINEAR_INTERPOLATION_PRODUCTS)
    (height, width), (out_height, out_width) = _check_shape("shape", shape), _check_shape("out_shape", out_shape)
    check_size("the result", max(height, out_height) * max(width, out_width) * _HALF.itemsize)
    passes = []
    for size, out_size, across in ((height, out_height, width), (width, out_width, out_height)):
        most = _most_lines(product, size, out_size)
        count = most
        if lines_per_call is not None:
            count = check_int("lines_per_call", lines_per_call, 1, _MOST_LINES)
            if count > most:
                needed = _call_bytes(product, size, out_size, count)
                raise BufferOverflowError("UB", needed, product.buffers["UB"], hint=f"{most} lines fit")
        passes.append(ResizePass(*linear_taps(size, out_size), across, count, product))
    return ResizePlan((height, width), (out_height, out_width), *passes)


def _check_shape(name: str, shape: object) -> tuple[int, int]:
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ParameterError(name, shape, "height and width")
    height, width = (check_int(f"{name}[{i}]", side, 1, _LARGEST_SIDE) for i, side in enumerate(shape))
    return height, width


def bilinear_resize(
    picture: NDArray[np.float16], out_shape: tuple[int, int], *, out: NDArray[np.float16] | None = None
) -> NDArray[np.float16]:
    """Resize a picture bilinearly, with the numbers that calls of BilinearInterpolation give.

    Half-pixel centres, corners not aligned, edges clamped; no low-pass filter, so shrinking by more than two skips
    lines.  Rows first, then columns; every product and every sum rounds to half.

    Parameters
    ----------
    picture : ndarray of float16, shape (H, W)
        The picture.
    out_shape : (int, int)
        Height and width of the result.
    out : ndarray of float16, optional
        Where the result goes.

    Returns
    -------
    ndarray of float16, shape `out_shape`

    Raises
    ------
    ParameterError
        A wrong picture, shape or `out`.

    Examples
    --------
    >>> bilinear_resize(np.float16([[0, 16]]), (1, 4))
    array([[ 0.,  4., 12., 16.]], dtype=float16)
    """
    check_array("picture", picture, _HALF, (None, None), "(H, W)")
    plan = bilinear_resize_plan(picture.shape, out_shape)
    if out is None:
        return plan.run(picture)
    checked = check_out(out, _HALF, plan.out_shape, picture)
    checked[...] = plan.run(picture)
    return checked
