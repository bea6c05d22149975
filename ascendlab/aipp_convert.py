"""AIPP's arithmetic: from source samples to converted pixels, as integer sums and small tables.

Colour conversion ends in ``sum >> 8``, which takes few distinct values; clipping and type conversion depend on
that value alone.  So each output channel has one exact *table*, and a pixel is three look-ups.  The entries are
*lane-packed*: they already hold the value at its channel's place among the first four channels, so that a pixel's
channels are joined by OR and stored at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_params import AippDataTypeConvParams, AippInputFormat, AippParams, AippSwapParams
from ascendlab.dtypes import DataType
from ascendlab.products import Product

if TYPE_CHECKING:
    from ascendlab.aipp_setup import AippSetup

__all__ = ["Conversion", "Sample", "conversion_tables", "convert_values"]


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


@cache
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
    dtc: AippDataTypeConvParams,
    parameters: Sequence[int],
    kind: DataType,
    *,
    half_away: bool | None = None,
    wraps: bool = False,
) -> NDArray[Any]:
    """Convert all uint8 values to the output type with each channel's mean, min and var.

    Parameters
    ----------
    dtc : AippDataTypeConvParams
        The parameters.
    parameters : sequence of int
        For each channel, whose mean, min and var apply.
    kind : DataType
        uint8 (nothing happens), int8 or half.
    half_away : bool, optional
        None: every half operation rounds to nearest even, as the hardware does.  Otherwise the product is rounded
        once from float32, ties away from zero (True) or to even (False): Atlas 200I/500 A2.
    wraps : bool
        int8 overflow wraps instead of saturating.

    Returns
    -------
    ndarray of the output type, shape (channels, 256)

    Examples
    --------
    >>> from ascendlab.dtypes import as_dtype
    >>> dtc = AippDataTypeConvParams(dtc_mean_ch0=200, dtc_mean_ch1=50)
    >>> convert_values(dtc, [0, 1], as_dtype("int8"))[:, [0, 100, 255]]
    array([[-128, -100,   55],
           [ -50,   50,  127]], dtype=int8)
    """
    values = np.arange(256)
    if kind.name == "uint8":
        return np.tile(values.astype(np.uint8), (len(parameters), 1))
    mean, minimum, factor = (
        np.array([[getattr(dtc, f"dtc_{name}_ch{i}")] for i in parameters]) for name in ("mean", "min", "var")
    )
    centred: NDArray[Any] = values - mean
    if kind.name == "int8":
        return (centred if wraps else centred.clip(-128, 127)).astype(np.int8)
    with np.errstate(over="ignore", invalid="ignore"):
        if half_away is None:
            centred, minimum, factor = (x.astype(np.float16) for x in (centred, minimum, factor))
            return (centred - minimum) * factor
        exact = centred.astype(np.float32) * factor.astype(np.float32)
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
    """How samples become a pixel's channels; made once by SetAippFunctions, carried out by `ascendlab.aipp_tiles`.

    Arrays with one entry per channel end in four axes of length 1, to go with tiles of samples.

    Parameters
    ----------
    samples : tuple of Sample
        Source samples after the swaps.
    matrix : ndarray of int32, shape (3, n), or None
        Weights of the samples in units of 1/256; None without colour conversion, and then what follows is empty.
    weights : tuple of ndarray of int32
        For each sample its column of the matrix: one entry per channel, or a single one if all are equal (luma, in
        every standard matrix).
    offsets : ndarray of int32
        Added to each channel's sum before the division by 256.
    lowest : int
        Subtracted after it; what index 0 of the tables stands for, if the offsets do not see to that.
    toward_zero : bool
        Whether that division truncates (C) instead of flooring (shift).
    tables : ndarray of unsigned integers, shape (channels, n)
        Each channel's values by index, lane-packed.
    """

    samples: tuple[Sample, ...]
    matrix: NDArray[np.int32] | None
    weights: tuple[NDArray[np.int32], ...]
    offsets: NDArray[np.int32]
    lowest: int
    toward_zero: bool
    tables: NDArray[Any]

    @property
    def channels(self) -> int:
        """Real channels of an output pixel: 1 or 3."""
        return len(self.tables)


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
    csc, dtc = config.csc_params, config.dtc_params
    channels = 3 if csc.is_enable_csc else len(samples)
    by_source = not documented and not csc.is_enable_csc
    # Only uint8, which ignores it, gets here with 3.
    parameters = [min(samples[i].parameter, 2) if by_source else i for i in range(channels)]
    half_away = dtc.dtc_round_mode == 0 if product is Product.ATLAS_200I_500_A2 else None
    values = convert_values(dtc, parameters, kind, half_away=half_away, wraps=not documented)
    tables = _pack(values, config.c_padding_params.c_padding_value, kind)
    if not csc.is_enable_csc:
        return Conversion(samples, None, (), np.zeros(0, np.int32), 0, False, tables)

    to_rgb = input_format in (AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8)
    bias = np.array(csc.bias_out if documented == to_rgb else csc.bias_in)
    whole = csc.csc_matrix.astype(np.int32)
    matrix = whole[:, : len(samples)]  # YUV400 has no U and V samples: they are 0
    offsets = np.full(3, 0 if documented else 128)
    if to_rgb:
        offsets -= whole @ bias
    lowest, highest = _range_of_quotient(matrix, offsets, documented)
    pixels = np.arange(lowest, highest + 1) + (0 if to_rgb else bias[:, None])
    pixels = pixels.clip(0, 255) if documented else pixels & 255
    if documented:
        # Flooring lets the tables' start be folded into the sum; truncation towards zero does not.
        offsets, lowest = offsets - 256 * lowest, 0
    return Conversion(
        samples=samples,
        matrix=matrix,
        weights=tuple(_beside_tiles(w[:1] if len(set(w.tolist())) == 1 else w) for w in matrix.T),
        offsets=_beside_tiles(offsets),
        lowest=lowest,
        toward_zero=not documented,
        tables=tables[np.arange(3)[:, None], pixels],
    )


def _range_of_quotient(weights: NDArray[np.int32], offsets: NDArray[np.int64], floored: bool) -> tuple[int, int]:
    """Lowest and highest ``(offset + weights @ samples) / 256`` of any channel, over all samples in [0, 255]."""
    rows = list(zip(offsets.tolist(), weights.tolist(), strict=True))
    low = min(offset + 255 * sum(w for w in row if w < 0) for offset, row in rows)
    high = max(offset + 255 * sum(w for w in row if w > 0) for offset, row in rows)
    return (low >> 8, high >> 8) if floored else (int(low / 256), int(high / 256))


def _beside_tiles(per_channel: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Add the axes of a tile, each of length 1."""
    return per_channel.astype(np.int32).reshape(-1, 1, 1, 1, 1)


def _pack(values: NDArray[Any], blank: float, kind: DataType) -> NDArray[Any]:
    """Shift each channel's values to its lane; the first table also carries the lanes that no channel fills."""
    bits = kind.bits
    lane = np.dtype(f"u{bits // 2}")  # four channels: 4 bytes of 8-bit types, 8 bytes of half
    word = np.dtype(f"u{bits // 8}")
    shifts = np.arange(0, 4 * bits, bits).astype(lane)
    packed: NDArray[Any] = values.view(word).astype(lane) << shifts[: len(values), None]
    filler = np.array(blank, kind.numpy).view(word).astype(lane)
    packed[0] |= np.bitwise_or.reduce(filler << shifts[len(values) :])
    return packed
