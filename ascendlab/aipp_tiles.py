"""Running an AIPP plan: the window tile by tile, then the border's columns, then its rows.

A tile is held as blocks of as many pixels as share a sample (2 x 2 with YUV420SP, else 1), sorted by their place in
the block: arrays are (2, 2, down, across), or (1, 1, down, across) for what a block shares.  Sharing chroma is then
a matter of broadcasting, and all formats take the same path.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_convert import Conversion

if TYPE_CHECKING:
    from ascendlab.aipp_plan import AippPlan
    from ascendlab.aipp_setup import AippSetup

__all__ = ["constant_pixels", "run_plan"]

# Larger tiles leave a core's L2 cache, smaller ones spend their time in Python.
_TILE_PIXELS = 64 * 1024
# A stored pixel takes 32 bytes: of them fewer go into the cache.
_STRIP_PIXELS = 16 * 1024
# The places of a block that is so many pixels wide and high.
_PLACES = {1: ((0, 0),), 2: ((0, 0), (0, 1), (1, 0), (1, 1))}
# Buffers that start at the same distance from a page boundary would make loads wait for stores (4K aliasing).
_STAGGER = 320


def constant_pixels(setup: AippSetup) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two constant pixels: what a window pixel starts from, and what mode 0 puts beside the window."""
    blank = np.full(setup.channels, setup.config.c_padding_params.c_padding_value, setup.dtype.numpy)
    border = blank.copy()
    border[:4] = [getattr(setup.config.padding_params, f"padding_value_ch{i}") for i in range(4)]
    return blank, border


def run_plan(plan: AippPlan, setup: AippSetup, out: NDArray[Any]) -> None:
    """Carry a plan out.

    Parameters
    ----------
    plan : AippPlan
        From `ascendlab.aipp.aipp_plan`.
    setup : AippSetup
        The setup that the plan was made for.
    out : ndarray of the setup's dtype, C-contiguous, of the plan's shape
        Where the result goes; every element is written.
    """
    bottom, right = plan.top + plan.height, plan.left + plan.width
    first_row, first_column = int(plan.rows[plan.top]), int(plan.columns[plan.left])
    planes = [sample.window(setup, first_column, plan.width) for sample in setup.conversion.samples]
    # The first four channels of each pixel as one number.
    pixels = out.view(setup.conversion.tables.dtype)[:, :, 0]
    beside = [part for part in (slice(0, plan.left), slice(right, plan.shape[1])) if part.start < part.stop]
    blank = setup.config.c_padding_params.c_padding_value
    strip = max(2, _STRIP_PIXELS // plan.shape[1] // 2 * 2)

    tile = _Tile(setup.conversion, plan.height, plan.width)
    for row in range(0, plan.height, tile.rows):
        start, stop = plan.top + row, min(plan.top + row + tile.rows, bottom)
        tile.load(planes, first_row + row, stop - start)
        tile.convert()
        for line in range(start, stop, strip):
            here = slice(line, min(line + strip, stop))
            out[here].fill(blank)
            tile.store(pixels[here, plan.left : right], line - start)

    window, lines = out[plan.top : bottom], pixels[plan.top : bottom]
    for part in beside:
        columns = plan.columns[part]
        if columns[0] < 0:
            lines[:, part] = constant_pixels(setup)[1].view(pixels.dtype)[0]
        else:
            lines[:, part] = lines[:, columns - first_column + plan.left]
    for part in (slice(0, plan.top), slice(bottom, plan.shape[0])):
        if part.start < part.stop:
            window.take(plan.rows[part] - first_row, axis=0, out=out[part], mode="clip")


class _Tile:
    """The buffers of a tile, allocated once per call and reused from tile to tile.

    Parameters
    ----------
    conversion : Conversion
        What is to be done.
    height, width : int
        Size of the window.
    """

    def __init__(self, conversion: Conversion, height: int, width: int) -> None:
        self.conversion = conversion
        block = max(sample.step for sample in conversion.samples)
        tiles = -(-height * width // _TILE_PIXELS)
        down, across = -(-height // (tiles * block)), -(-width // block)
        self.rows = block * down
        shapes = {step: (block // step, block // step, down, across) for step in range(block, 0, -1)}
        # Look-ups take addresses: of any other integer NumPy would first make a copy of that type, each time.
        whole, address = np.dtype(np.int32), np.dtype(np.intp)
        looked_up = conversion.matrix is None
        samples = [(shapes[sample.step], address if looked_up else whole) for sample in conversion.samples]
        sums = [((2, 3, *shape) if step > 1 else (2, *shape), whole) for step, shape in shapes.items() if not looked_up]
        pixels = (shapes[1], conversion.tables.dtype)
        self.pixels, self.found, self.index, *others = _allocate(pixels, pixels, (shapes[1], address), *samples, *sums)
        self.samples, self.sums = others[: len(samples)], others[len(samples) :]

    def load(self, planes: list[NDArray[np.uint8]], row: int, count: int) -> None:
        """Fetch the samples of `count` rows of the picture, from `row` on."""
        for sample, plane, buffer in zip(self.conversion.samples, planes, self.samples, strict=True):
            rows = plane[row // sample.step : -(-(row + count) // sample.step)]
            stride = len(buffer)
            for y, x in _PLACES[stride]:
                part = rows[y::stride, x::stride]
                buffer[y, x, : part.shape[0], : part.shape[1]] = part

    def convert(self) -> None:
        """Make pixels of the samples.

        Whole tiles always: what a smaller last tile leaves over is computed too, and never stored.
        """
        indices = self.samples if self.conversion.matrix is None else self._indices()
        for channel, (table, index) in enumerate(zip(self.conversion.tables, indices, strict=True)):
            found = self.found[: len(index), : len(index)] if channel else self.pixels
            # The tables cover every index that can occur; "clip" only spares NumPy the check.
            table.take(index, out=found, mode="clip")
            if channel:
                np.bitwise_or(self.pixels, found, out=self.pixels)

    def store(self, target: NDArray[Any], row: int) -> None:
        """Put the pixels from `row` on into `target`, an array of single numbers."""
        stride = len(self.pixels)
        first = row // stride
        for y, x in _PLACES[stride]:
            part = target[y::stride, x::stride]
            part[...] = self.pixels[y, x, first : first + part.shape[0], : part.shape[1]]

    def _indices(self) -> Iterator[NDArray[np.intp]]:
        """Yield, channel after channel, each pixel's index into the channel's table; always the same buffer."""
        conversion = self.conversion
        start = conversion.offsets
        *shared, (total, term) = self.sums
        pairs = list(zip(self.samples, conversion.weights, strict=True))
        # Shared samples first, all channels at once: their sums are small, and broadcasting brings them to every pixel.
        for sums, terms in shared:
            for sample, weights in pairs:
                if sample.shape == sums.shape[1:]:
                    product = np.multiply(sample, weights, out=terms[: len(weights)])
                    start = np.add(product, start, out=sums)
        own = [(sample, weights) for sample, weights in pairs if sample.shape == total.shape]
        once = len(own) == 1 and len(own[0][1]) == 1 and not conversion.toward_zero
        for channel, before in enumerate(start):
            for sample, weights in own:
                if not (once and channel):
                    np.multiply(sample, weights[channel % len(weights)], out=term)
                before = np.add(term, before, out=total)
            if conversion.toward_zero:
                # 255 more for negative sums makes the shift round them up.
                np.right_shift(total, 31, out=term)
                np.bitwise_and(term, 255, out=term)
                np.add(total, term, out=total)
            np.right_shift(total, 8, out=self.index)
            if conversion.lowest:
                self.index -= conversion.lowest
            yield self.index


def _allocate(*wanted: tuple[tuple[int, ...], np.dtype[Any]]) -> list[NDArray[Any]]:
    """Return uninitialised arrays of these shapes and types, in one block of memory.

    The allocator keeps one block from call to call; several it would give back to the system each time, and get
    them again page by page, which takes as long as converting a small picture.
    """
    sizes = [math.prod(shape) * kind.itemsize for shape, kind in wanted]
    starts = list(accumulate((-(-size // 64) * 64 + _STAGGER for size in sizes), initial=0))
    memory = np.empty(starts[-1], np.uint8)
    return [np.ndarray(shape, kind, memory, start) for start, (shape, kind) in zip(starts, wanted, strict=False)]
