"""AIPP's arithmetic: from source samples to converted pixels, as integer sums and small tables.

Colour conversion ends in ``sum >> 8``, which takes few distinct values; clipping and type conversion depend on
that value alone.  So each output channel has one exact *table*, and a pixel is three look-ups.  The entries are
*lane-packed*: they already hold the value at its channel's place among the first four channels, so that a pixel's
channels are joined by OR and stored at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_params import AippDataTypeConvParams, AippInputFormat, AippParams, AippSwapParams
from ascendlab.dtypes import DataType
from ascendlab.products import Product

if TYPE_CHECKING:
    from ascendlab.aipp import AippPlan, AippSetup

__all__ = ["Conversion", "Sample", "conversion_tables", "convert_values"]

# Tiles of this many pixels keep the intermediate sums in a core's L2 cache.
_TILE_PIXELS = 48 * 1024
_TWO_LANES = np.uint64(0x1_0000_0001)


@dataclass(frozen=True)
class Sample:
    """Where one colour sample of a pixel lies.

    Parameters
    ----------
    operand : {0, 1}
        ``src0`` or ``src1``.
    channel : int
        Index of the sample within a pixel (or within a U, V pair) in memory.
    step : {1, 2}
        Pixels that share the sample, along each axis.
    parameter : int
        Its channel number before any swap.
    name : str
        Its colour, for people.
    """

    operand: int
    channel: int
    step: int
    parameter: int
    name: str

    def window(self, setup: AippSetup, column: int, width: int) -> NDArray[np.uint8]:
        """Return this sample's 2-D plane, cut to `width` pixels from `column` on, as a view of its operand."""
        src = setup.src1 if self.operand else setup.src0
        assert src is not None
        plane = src[:, :, self.channel] if src.ndim == 3 else src[:, self.channel :: self.step]
        start = column // self.step
        return plane[:, start : start - (-width // self.step)]


def source_samples(input_format: AippInputFormat, swap: AippSwapParams) -> tuple[Sample, ...]:
    """Return the samples of a pixel in the order that the swaps leave them in, the dropped fourth one left out."""
    if input_format is AippInputFormat.YUV400_U8:
        return (Sample(0, 0, 1, 0, "Y"),)
    if input_format is AippInputFormat.YUV420SP_U8:
        y, u, v = Sample(0, 0, 1, 0, "Y"), Sample(1, 0, 2, 1, "U"), Sample(1, 1, 2, 2, "V")
        return (y, v, u) if swap.is_swap_uv else (y, u, v)
    names = "XRGB" if swap.is_swap_ax else "RGBX" if input_format is AippInputFormat.XRGB8888_U8 else "RGB"
    samples = [Sample(0, i, 1, i, name) for i, name in enumerate(names)]
    if swap.is_swap_ax:
        samples.append(samples.pop(0))
    if swap.is_swap_rb:
        samples[0], samples[2] = samples[2], samples[0]
    return tuple(samples[:3])


def convert_values(
    values: NDArray[np.integer[Any]],
    dtc: AippDataTypeConvParams,
    channel: int,
    kind: DataType,
    *,
    half_away: bool | None = None,
    wraps: bool = False,
) -> NDArray[Any]:
    """Convert uint8 values to the output type with one channel's mean, min and var.

    Parameters
    ----------
    values : ndarray of integers in [0, 255]
        What is to be converted.
    dtc : AippDataTypeConvParams
        The parameters.
    channel : int
        Which channel's mean, min and var apply.
    kind : DataType
        uint8 (nothing happens), int8 or half.
    half_away : bool, optional
        None: every half operation rounds to nearest even, as the hardware does.  Otherwise the product is rounded
        once from float32, ties away from zero (True) or to even (False): Atlas 200I/500 A2.
    wraps : bool
        int8 overflow wraps instead of saturating.

    Returns
    -------
    ndarray of the output type

    Examples
    --------
    >>> from ascendlab.dtypes import as_dtype
    >>> dtc = AippDataTypeConvParams(dtc_mean_ch0=200)
    >>> convert_values(np.array([0, 100, 255]), dtc, 0, as_dtype("int8"))
    array([-128, -100,   55], dtype=int8)
    """
    if kind.name == "uint8":
        return values.astype(np.uint8)
    mean: int = getattr(dtc, f"dtc_mean_ch{channel}")
    centred = values.astype(np.int32) - mean
    if kind.name == "int8":
        return centred.astype(np.int8) if wraps else np.clip(centred, -128, 127).astype(np.int8)
    minimum, factor = (np.float16(getattr(dtc, f"dtc_{name}_ch{channel}")) for name in ("min", "var"))
    with np.errstate(over="ignore", invalid="ignore"):
        if half_away is None:
            in_half: NDArray[Any] = (centred.astype(np.float16) - minimum) * factor
            return in_half
        exact = centred.astype(np.float32) * np.float32(factor)
        return _round_half_away(exact) if half_away else exact.astype(np.float16)


def _round_half_away(exact: NDArray[np.float32]) -> NDArray[np.float16]:
    """Round float32 to half, ties away from zero."""
    _, exponent = np.frexp(exact)
    # Half has 11 significant bits; below 2**-14 the spacing stays 2**-24.
    spacing = np.maximum(exponent - 11, -24)
    steps = np.floor(np.abs(np.ldexp(exact.astype(np.float64), -spacing)) + 0.5)
    rounded: NDArray[np.float16] = np.copysign(np.ldexp(steps, spacing), exact).astype(np.float16)
    return rounded


@dataclass(frozen=True, eq=False)
class Conversion:
    """How samples become a pixel's channels; made once by SetAippFunctions.

    Parameters
    ----------
    samples : tuple of Sample
        Source samples after the swaps.
    matrix : ndarray of int32, shape (3, n), or None
        Weights of the samples in units of 1/256; None without colour conversion.
    offsets : tuple of int
        Added to each channel's sum before the division by 256.
    lowest : tuple of int
        Value that index 0 of each table stands for.
    toward_zero : bool
        Whether that division truncates (C) instead of flooring (shift).
    values : tuple of ndarray
        Each channel's table of converted values.
    packed : tuple of ndarray
        The same tables, each value shifted to its channel's lane.
    """

    samples: tuple[Sample, ...]
    matrix: NDArray[np.int32] | None
    offsets: tuple[int, ...]
    lowest: tuple[int, ...]
    toward_zero: bool
    values: tuple[NDArray[Any], ...]
    packed: tuple[NDArray[Any], ...]

    @property
    def channels(self) -> int:
        """Real channels of an output pixel: 1 or 3."""
        return len(self.values)

    def run(
        self, plan: AippPlan, setup: AippSetup, out: NDArray[Any], blank: NDArray[Any], border: NDArray[Any]
    ) -> None:
        """Make the window's rows, tile by tile, in the middle of `out`.

        `blank` is what a pixel starts from, `border` what stands beside the window where a column has no source.
        """
        lane = self.packed[0].dtype
        pixels = out.view(lane)[:, :, 0]
        left, right = plan.left, plan.left + plan.width
        beside = [part for part in (slice(0, left), slice(right, plan.shape[1])) if part.start < part.stop]
        width = plan.width + plan.width % 2
        tile = max(2, _TILE_PIXELS // width & ~1)
        work = _Workspace(self, min(tile, plan.height + plan.height % 2), width, lane)
        first_row, first_column = int(plan.rows[plan.top]), int(plan.columns[left])
        planes = [sample.window(setup, first_column, plan.width) for sample in self.samples]
        for row in range(0, plan.height, tile):
            count = min(tile, plan.height - row)
            here = slice(plan.top + row, plan.top + row + count)
            _fill(out[here], blank)
            work.load(planes, first_row + row, count)
            made = work.pixels(count)
            pixels[here, left:right] = made[:, : plan.width]
            for part in beside:
                columns = plan.columns[part]
                pixels[here, part] = (
                    border.view(lane)[0] if columns[0] < 0 else made.take(columns - first_column, axis=1)
                )


def _fill(rows: NDArray[Any], blank: NDArray[Any]) -> None:
    """Set whole pixels to `blank`, unless the store of the first four channels will do that anyway."""
    if blank.size == 4:
        return
    if not blank.view(np.uint8).any():
        rows.view(np.uint8).fill(0)
    else:
        unit = np.dtype((np.void, blank.nbytes))
        rows.view(unit)[...] = blank.view(unit)


class _Workspace:
    """The buffers of one tile, allocated once per call and reused from tile to tile."""

    def __init__(self, conversion: Conversion, rows: int, width: int, lane: np.dtype[Any]) -> None:
        self.conversion = conversion
        shapes = [(rows // s.step, width // s.step) for s in conversion.samples]
        self.samples = [np.empty(shape, np.int32) for shape in shapes]
        self.full = [k for k, s in enumerate(conversion.samples) if s.step == 1]
        self.shared = np.empty((rows, width), np.int32)
        self.sum = np.empty((rows, width), np.int32)
        self.term = np.empty((rows, width), np.int32)
        self.coarse = np.empty((rows // 2, width // 2), np.int32)
        self.coarse_term = np.empty_like(self.coarse)
        self.doubled = np.empty((rows // 2, width // 2), np.uint64)
        self.pixel = np.empty((rows, width), lane)
        self.lane = np.empty((rows, width), lane)
        self.common: list[int] = []
        if conversion.matrix is not None:
            # A column of equal coefficients (luma, in every standard matrix) is multiplied once for all channels.
            same = (conversion.matrix == conversion.matrix[0]).all(axis=0)
            self.common = [k for k in self.full if same[k]]

    def load(self, planes: list[NDArray[np.uint8]], row: int, count: int) -> None:
        """Fetch the samples of `count` rows."""
        for sample, plane, buffer in zip(self.conversion.samples, planes, self.samples, strict=True):
            start, rows = row // sample.step, -(-count // sample.step)
            buffer[:rows, : plane.shape[1]] = plane[start : start + rows]
        if self.common and self.conversion.matrix is not None:
            self._add_terms(self.common, self.conversion.matrix[0], self.shared, self.term, fresh=True)

    def pixels(self, count: int) -> NDArray[Any]:
        """Return the tile's pixels, the first four channels of each joined in one lane-packed number."""
        pixel, lane = self.pixel[:count], self.lane[:count]
        for channel, table in enumerate(self.conversion.packed):
            target = lane if channel else pixel
            # The tables cover every index that can occur; "clip" only spares NumPy the check.
            table.take(self._index(channel)[:count], out=target, mode="clip")
            if channel:
                np.bitwise_or(pixel, lane, out=pixel)
        return pixel

    def _index(self, channel: int) -> NDArray[np.int32]:
        """Return each pixel's index into the channel's table."""
        conversion = self.conversion
        if conversion.matrix is None:
            sample = self.samples[channel]
            return sample if conversion.samples[channel].step == 1 else self._spread(sample, self.sum, add=False)
        weights, total = conversion.matrix[channel], self.sum
        own = [k for k in self.full if k not in self.common]
        coarse = [k for k in range(len(weights)) if k not in self.full]
        if self.common:
            np.add(self.shared, 0 if coarse else conversion.offsets[channel], out=total)
            self._add_terms(own, weights, total, self.term, fresh=False)
        else:
            self._add_terms(own, weights, total, self.term, fresh=True)
            if not coarse:
                total += conversion.offsets[channel]
        if coarse:
            self._add_terms(coarse, weights, self.coarse, self.coarse_term, fresh=True)
            self.coarse += conversion.offsets[channel]
            self._spread(self.coarse, total, add=True)
        if conversion.toward_zero:
            np.right_shift(total, 31, out=self.term)
            np.bitwise_and(self.term, 255, out=self.term)
            total += self.term
        total >>= 8
        if conversion.toward_zero:
            total -= conversion.lowest[channel]
        return total

    def _add_terms(
        self,
        which: list[int],
        weights: NDArray[np.int32],
        total: NDArray[np.int32],
        term: NDArray[np.int32],
        *,
        fresh: bool,
    ) -> None:
        """Add weight * sample for each sample in `which`; a fresh sum starts from nothing."""
        for k in which:
            if fresh:
                np.multiply(self.samples[k], weights[k], out=total)
                fresh = False
            elif weights[k]:
                np.multiply(self.samples[k], weights[k], out=term)
                total += term
        if fresh:
            total.fill(0)

    def _spread(self, coarse: NDArray[np.int32], total: NDArray[np.int32], *, add: bool) -> NDArray[np.int32]:
        """Bring half-resolution values to full resolution, each shared by 2 x 2 pixels."""
        # One 64-bit multiplication writes a 32-bit value twice, side by side.
        np.multiply(coarse.view(np.uint32), _TWO_LANES, out=self.doubled)
        wide = self.doubled.view(np.int32)[:, None, :]
        pairs = total.reshape(len(coarse), 2, -1)
        if add:
            np.add(pairs, wide, out=pairs)
        else:
            pairs[...] = wide
        return total


def conversion_tables(
    input_format: AippInputFormat, config: AippParams, kind: DataType, product: Product, profile: str
) -> Conversion:
    """Build the tables for a checked configuration.

    Parameters
    ----------
    input_format, config, kind, product, profile
        As `ascendlab.aipp.set_aipp_functions` has checked them.

    Returns
    -------
    Conversion
    """
    samples = source_samples(input_format, config.swap_params)
    documented = profile == "documented"
    csc = config.csc_params
    matrix: NDArray[np.int32] | None = None
    offsets: tuple[int, ...] = ()
    lowest: tuple[int, ...] = ()
    if csc.is_enable_csc:
        to_rgb = input_format in (AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8)
        bias = csc.bias_out if documented == to_rgb else csc.bias_in
        whole = csc.csc_matrix.astype(np.int32)
        matrix = whole[:, : len(samples)]  # YUV400 has no U and V samples: they are 0
        before = [0 if documented else 128] * 3
        if to_rgb:
            before = [start - int(row @ np.array(bias)) for start, row in zip(before, whole, strict=True)]
        sums = [_range_of_sum(row, start) for row, start in zip(matrix, before, strict=True)]
        divide = (lambda x: x >> 8) if documented else (lambda x: int(x / 256))
        bounds = [(divide(low), divide(high)) for low, high in sums]
        pixels = [np.arange(low, high + 1) + (0 if to_rgb else b) for (low, high), b in zip(bounds, bias, strict=True)]
        pixels = [np.clip(p, 0, 255) if documented else p & 255 for p in pixels]
        lowest = tuple(int(low) for low, _ in bounds)
        # Flooring lets the table's start be folded into the sum; truncation towards zero does not.
        offsets = tuple(b - 256 * low if documented else b for b, low in zip(before, lowest, strict=True))
    else:
        pixels = [np.arange(256)] * len(samples)
    half_away = None
    if product is Product.ATLAS_200I_500_A2:
        half_away = config.dtc_params.dtc_round_mode == 0
    values = []
    for channel, pixel in enumerate(pixels):
        by_source = not documented and not csc.is_enable_csc
        parameter = samples[channel].parameter if by_source else channel
        parameter = min(parameter, 2)  # only uint8, which ignores it, gets here with 3
        values.append(
            convert_values(pixel, config.dtc_params, parameter, kind, half_away=half_away, wraps=not documented)
        )
    return Conversion(
        samples=samples,
        matrix=matrix,
        offsets=offsets,
        lowest=lowest,
        toward_zero=not documented,
        values=tuple(values),
        packed=_pack(values, config.c_padding_params.c_padding_value, kind),
    )


def _range_of_sum(weights: NDArray[np.int32], start: int) -> tuple[int, int]:
    """Lowest and highest value of ``start + weights @ samples`` over all samples in [0, 255]."""
    ends = [255 * int(w) for w in weights]
    return start + sum(min(e, 0) for e in ends), start + sum(max(e, 0) for e in ends)


def _pack(values: list[NDArray[Any]], blank: float, kind: DataType) -> tuple[NDArray[Any], ...]:
    """Shift each channel's values to its lane; the first table also carries the lanes that no channel fills."""
    bits = kind.bits
    lane = np.dtype(f"u{bits // 2}")  # four channels: 4 bytes of 8-bit types, 8 bytes of half
    word = np.dtype(f"u{bits // 8}")
    packed = [table.view(word).astype(lane) << lane.type(bits * channel) for channel, table in enumerate(values)]
    filler = np.array(blank, kind.numpy).view(word).astype(lane)
    for channel in range(len(values), 4):
        packed[0] |= filler << lane.type(bits * channel)
    return tuple(packed)
