"""A naive, one-pixel-at-a-time account of SetAippFunctions + LoadImageToLocal.

It is written from the rules alone and shares no code with the library: Python integers and loops.
Every function takes the library's parameter objects only to read the documents' fields from them.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

YUV420SP, XRGB8888, RGB888, YUV400 = 0, 1, 4, 9
NUMPY_TYPES = {"uint8": np.uint8, "int8": np.int8, "half": np.float16}


def clamp(value: int, low: int, high: int) -> int:
    """Saturate."""
    return low if value < low else high if value > high else value


def c_divide(value: int, by: int) -> int:
    """Divide as C does: towards zero."""
    return -(-value // by) if value < 0 else value // by


def nearest_half(units: int, scale: int, *, ties_away: bool = False) -> float:
    """Round ``units / 2**scale``, an exact number, to half: ties to even or away from zero, overflow to infinity."""
    size = abs(units)
    if size == 0:
        return 0.0
    # Halves are multiples of 2**-24, and have 11 significant bits above 2**-14.
    step = max(size.bit_length() - 1 - scale - 10, -24)
    whole = 1 << (step + scale)
    quotient, rest = divmod(size, whole)
    if 2 * rest > whole or (2 * rest == whole and (ties_away or quotient % 2 == 1)):
        quotient += 1
    rounded = math.ldexp(quotient, step)
    result = math.inf if rounded > 65504 else rounded
    return -result if units < 0 else result


def in_units(value: float) -> int:
    """Return a half, or a small integer, as a whole number of 2**-24."""
    units = value * 2.0**24
    assert units.is_integer()
    return int(units)


def half_subtract(a: float, b: float) -> float:
    """One half subtraction (both arguments are finite halves)."""
    units = in_units(a) - in_units(b)
    if units == 0:
        # IEEE 754: a - b is -0 only for -0 - +0.
        return -0.0 if a == 0 and math.copysign(1, a) < 0 < math.copysign(1, b) else 0.0
    return nearest_half(units, 24)


def half_multiply(a: float, b: float, *, ties_away: bool = False) -> float:
    """One half multiplication, with IEEE 754's signs, infinities and inf * 0."""
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isinf(a):
        return math.nan if b == 0 else sign * math.inf
    return math.copysign(nearest_half(abs(in_units(a) * in_units(b)), 48, ties_away=ties_away), sign)


def fetch(src0: Any, src1: Any, input_format: int, config: Any, row: int, column: int) -> list[tuple[int, int]]:
    """Read one source pixel and swap its channels: (sample, source channel) pairs."""
    swap = config.swap_params
    if input_format == YUV400:
        return [(int(src0[row, column]), 0)]
    if input_format == YUV420SP:
        left = column // 2 * 2
        samples = [
            (int(src0[row, column]), 0),
            (int(src1[row // 2, left]), 1),
            (int(src1[row // 2, left + 1]), 2),
        ]
        if swap.is_swap_uv:
            samples[1], samples[2] = samples[2], samples[1]
        return samples
    samples = [(int(value), channel) for channel, value in enumerate(src0[row, column])]
    if input_format == XRGB8888:
        if swap.is_swap_ax:
            samples = samples[1:] + samples[:1]
        samples = samples[:3]
    if swap.is_swap_rb:
        samples[0], samples[2] = samples[2], samples[0]
    return samples


@functools.lru_cache
def coefficients(csc: Any) -> tuple[list[list[int]], list[int], list[int]]:
    """Read matrix, input bias and output bias from the structure, once."""
    matrix = [[getattr(csc, f"csc_matrix_r{r}c{c}") for c in range(3)] for r in range(3)]
    return (
        matrix,
        [getattr(csc, f"csc_bias_in{i}") for i in range(3)],
        [getattr(csc, f"csc_bias_out{i}") for i in range(3)],
    )


def convert_colour(values: list[int], input_format: int, config: Any, profile: str) -> list[int]:
    """Apply the colour conversion to one pixel."""
    matrix, bias_in, bias_out = coefficients(config.csc_params)
    to_rgb = input_format in (YUV420SP, YUV400)
    used = bias_out if (profile == "documented") == to_rgb else bias_in
    if to_rgb:
        values = [values[0] - used[0], values[1] - used[1], values[2] - used[2]]
    result = []
    for r in range(3):
        row = matrix[r]
        total = row[0] * values[0] + row[1] * values[1] + row[2] * values[2]
        if profile == "documented":
            total >>= 8
            result.append(clamp(total if to_rgb else total + used[r], 0, 255))
        else:
            total = c_divide(total + 128, 256)
            result.append((total if to_rgb else total + used[r]) % 256)
    return result


def convert_type(value: int, channel: int, dtype: str, config: Any, product: str, profile: str) -> float:
    """Convert one sample with the mean, min and var of `channel`."""
    dtc = config.dtc_params
    if dtype == "uint8":
        return value
    centred = value - getattr(dtc, f"dtc_mean_ch{channel}")
    if dtype == "int8":
        return clamp(centred, -128, 127) if profile == "documented" else (centred + 128) % 256 - 128
    factor = getattr(dtc, f"dtc_var_ch{channel}")
    if product == "ATLAS_200I_500_A2":
        return half_multiply(float(centred), factor, ties_away=dtc.dtc_round_mode == 0)
    return half_multiply(half_subtract(float(centred), getattr(dtc, f"dtc_min_ch{channel}")), factor)


def convert_samples(
    samples: list[tuple[int, int]], input_format: int, config: Any, dtype: str, product: str, profile: str
) -> list[float]:
    """Convert the swapped samples of one pixel: colours, then type."""
    values, channels = [value for value, _ in samples], [channel for _, channel in samples]
    enabled = config.csc_params.is_enable_csc
    if enabled:
        values = convert_colour([*values, 0, 0] if len(values) == 1 else values, input_format, config, profile)
    if enabled or profile == "documented":
        channels = list(range(len(values)))
    return [
        convert_type(value, channel, dtype, config, product, profile)
        for value, channel in zip(values, channels, strict=True)
    ]


def window_position(mode: int, index: int, size: int, before: int, after: int) -> int:
    """Which position of the window stands at `index` of the padded axis (modes 1, 2 and 3)."""
    inside = index - before
    if 0 <= inside < size:
        return inside
    if mode == 1:
        return 0 if inside < 0 else size - 1
    if mode == 2:
        return index if inside < 0 else size - after + (inside - size)
    return -1 - inside if inside < 0 else 2 * size - 1 - inside


def load_image(
    src0: Any, src1: Any, input_format: int, config: Any, dtype: str, product: str, profile: str, params: Any
) -> np.ndarray:
    """Compute what LoadImageToLocal leaves in L1, pixel by pixel."""
    padding, c_padding = config.padding_params, config.c_padding_params
    mode = padding.padding_mode
    width = params.horiz_size
    height = 1 if config.single_line_params.is_single_line_copy else params.vert_size
    top, bottom, left, right = (getattr(params, f"{side}_pad_size") for side in ("top", "bot", "left", "right"))
    if mode == 0:
        top = bottom = 0
    channels = 4 if c_padding.c_padding_mode == 1 else (16 if dtype == "half" else 32)
    constants = [getattr(padding, f"padding_value_ch{channel}") for channel in range(4)]
    result = np.zeros((top + height + bottom, left + width + right, channels), NUMPY_TYPES[dtype])
    for y in range(result.shape[0]):
        for x in range(result.shape[1]):
            pixel = [c_padding.c_padding_value] * channels
            if mode == 0 and not left <= x < left + width:
                pixel[:4] = constants
            else:
                row = y if mode == 0 else window_position(mode, y, height, top, bottom)
                column = x - left if mode == 0 else window_position(mode, x, width, left, right)
                samples = fetch(
                    src0, src1, input_format, config, params.vert_start_pos + row, params.horiz_start_pos + column
                )
                values = convert_samples(samples, input_format, config, dtype, product, profile)
                pixel[: len(values)] = values
            for channel in range(channels):
                result[y, x, channel] = pixel[channel]
    return result


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays agree bit for bit; any NaN equals any NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype != np.float16:
        return bool((a == b).all())
    return bool(((a.view(np.uint16) == b.view(np.uint16)) | (np.isnan(a) & np.isnan(b))).all())
