"""Exercises of notebooks 00, 04 and 05: right answers pass, plausible wrong ones are named."""

from __future__ import annotations

import numpy as np

from ascendlab import exercises

START, PADDING, BILINEAR = exercises.start, exercises.vector_padding, exercises.bilinear_interpolation
ALL = {name: getattr(module, name) for module in (START, PADDING, BILINEAR) for name in module.__all__}
NOTEBOOKS = {"00_start_here": START, "04_vector_padding": PADDING, "05_bilinear_interpolation": BILINEAR}
ASKED = [(stem, name) for stem, module in NOTEBOOKS.items() for name in module.__all__]
SEEDS = (0, 7, 2024)
NAMED = [(name, m) for name, exercise in ALL.items() for m in exercise.misconceptions]


# --- two right answers for each exercise, written without the library ---


def _fractals_by_steps(m, k, bits):
    return len(range(0, m, 16)) * len(range(0, k, 256 // bits))


def _tiles_by_loop(height, width, buffer):
    rows = 0
    while (rows + 1) * width * 32 <= buffer:
        rows += 1
    return len(range(0, height, rows))


def _mirror_by_slices(block, pad_side):
    out = np.zeros_like(block)
    if pad_side:
        out[:-1] = block[-2::-1]
    else:
        out[1:] = block[:0:-1]
    return out


def _mirror_by_index(block, pad_side):
    last = len(block) - 1
    indices = range(last - 1, -2, -1) if pad_side else range(last + 1, 0, -1)
    return [block[i] if 0 <= i <= last else 0 for i in indices]


def _words_by_bits(lanes, bits):
    words = [0] * {16: 2, 32: 1}[bits]
    for lane in lanes:
        words[lane // 64] |= 1 << lane % 64
    return words


def _words_by_bytes(lanes, bits):
    flags = np.zeros(2048 // bits, bool)
    flags[lanes] = True
    return [int(word) for word in np.packbits(flags, bitorder="little").view("<u8")]


def _blocks_by_loop(repeat_time, dst_blk_stride, dst_rep_stride):
    return [[r * dst_rep_stride + b * dst_blk_stride for b in range(8)] for r in range(repeat_time)]


def _blocks_by_outer(repeat_time, dst_blk_stride, dst_rep_stride):
    return np.add.outer(np.arange(repeat_time) * dst_rep_stride, np.arange(8) * dst_blk_stride)


def _sum_by_scalars(samples, weights):
    out = []
    for lane in range(samples.shape[1]):
        total = np.float16(0)
        for h in range(len(weights)):
            total = np.float16(total + np.float16(samples[h, lane] * weights[h]))
        out.append(total)
    return np.array(out)


def _sum_by_rows(samples, weights):
    total = np.zeros(samples.shape[1], np.float16)
    for row in samples * weights[:, None]:
        total += row
    return total


def _taps_by_formula(size, out_size):
    position = np.clip((np.arange(out_size) + 0.5) * size / out_size - 0.5, 0, size - 1)
    lower = np.minimum(np.floor(position).astype(int), size - 2)
    return np.stack([lower, np.round((position - lower) * 256).astype(int)], axis=1)


def _taps_by_loop(size, out_size):
    pairs = []
    for x in range(out_size):
        # Twice the source position, as an exact fraction with denominator out_size.
        numerator = min(max((2 * x + 1) * size - out_size, 0), 2 * out_size * (size - 1))
        lower = min(numerator // (2 * out_size), size - 2)
        pairs.append((lower, round((numerator / (2 * out_size) - lower) * 256)))
    return pairs


RIGHT = {
    "tensor_bytes": (
        lambda height, width, bits: 32 * height * width,
        lambda height, width, bits: height * width * (256 // bits) * (bits // 8),
    ),
    "fractal_count": (_fractals_by_steps, lambda m, k, bits: -(-m // 16) * -(-k * bits // 256)),
    "fewest_tiles": (_tiles_by_loop, lambda height, width, buffer: -(-height // (buffer // (width * 32)))),
    "mirror": (_mirror_by_slices, _mirror_by_index),
    "mask_bits": (_words_by_bits, _words_by_bytes),
    "written_blocks": (_blocks_by_loop, _blocks_by_outer),
    "offsets_of": (lambda blocks: blocks * 32, lambda blocks: (blocks << 5).astype(np.uint32)),
    "accumulate": (_sum_by_scalars, _sum_by_rows),
    "taps": (_taps_by_formula, _taps_by_loop),
}


def test_an_unknown_mistake_shows_the_element() -> None:
    """A wrong answer that nobody foresaw gets its first wrong element, and where the right value comes from."""

    def nearly(block, pad_side):
        out = _mirror_by_slices(block, pad_side)
        out[3] += 1
        return out

    result = PADDING.mirror.check(nearly)
    assert not result
    assert not result.misconception
    assert "[3]" in str(result)
    assert "block[" in str(result)
