"""Exercises on Load3D: right answers pass, plausible wrong ones are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ascendlab import exercises

LOAD3D = exercises.load3d
ALL = {name: getattr(LOAD3D, name) for name in LOAD3D.__all__}
SEEDS = (0, 7, 2024)
NAMED = [(name, m) for name, exercise in ALL.items() for m in exercise.misconceptions]
NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "02_load3d.ipynb"


# --- two right answers for each exercise, written without the library ---


def _size_by_counting(size, window, stride, dilation, pad_list):
    left, right, top, bottom = pad_list
    counts = []
    for axis, there in enumerate((size[0] + top + bottom, size[1] + left + right)):
        at = 0
        while at * stride[axis] + (window[axis] - 1) * dilation[axis] < there:
            at += 1
        counts.append(at)
    return counts


def _size_by_formula(size, window, stride, dilation, pad_list):
    ho = (size[0] + pad_list[2] + pad_list[3] - (window[0] - 1) * dilation[0] - 1) // stride[0] + 1
    wo = (size[1] + pad_list[0] + pad_list[1] - (window[1] - 1) * dilation[1] - 1) // stride[1] + 1
    return ho, wo


def _row_by_loops(feature_map, m, window, stride, dilation, pad_list, pad_value):
    height, width, channels = feature_map.shape
    _, wo = _size_by_counting((height, width), window, stride, dilation, pad_list)
    row = []
    for kh in range(window[0]):
        for kw in range(window[1]):
            y = m // wo * stride[0] - pad_list[2] + kh * dilation[0]
            x = m % wo * stride[1] - pad_list[0] + kw * dilation[1]
            inside = 0 <= y < height and 0 <= x < width
            row += list(feature_map[y, x]) if inside else [pad_value] * channels
    return row


def _row_by_slices(feature_map, m, window, stride, dilation, pad_list, pad_value):
    left, right, top, bottom = pad_list
    padded = np.pad(feature_map, ((top, bottom), (left, right), (0, 0)), constant_values=pad_value)
    wo = (padded.shape[1] - (window[1] - 1) * dilation[1] - 1) // stride[1] + 1
    y, x = m // wo * stride[0], m % wo * stride[1]
    return padded[y :: dilation[0], x :: dilation[1]][: window[0], : window[1]].reshape(-1)


def _table_by_counting(channels, window, c0):
    table, k = np.zeros((channels, *window), int), 0
    for first in range(0, channels, c0):
        for kh in range(window[0]):
            for kw in range(window[1]):
                for c in range(first, min(first + c0, channels)):
                    table[c, kh, kw] = k
                    k += 1
    return table


def _table_by_groups(channels, window, c0):
    parts, start = [], 0
    for first in range(0, channels, c0):
        depth = min(c0, channels - first)
        count = depth * window[0] * window[1]
        parts.append(np.arange(start, start + count).reshape(*window, depth).transpose(2, 0, 1))
        start += count
    return np.concatenate(parts)


def _address_by_formula(layout, m, k, rows, columns, c0):
    if layout == "NZ":
        return (k // c0 * -(-rows // 16) + m // 16) * 16 * c0 + m % 16 * c0 + k % c0
    if layout == "ZZ":
        return (m // 16 * -(-columns // c0) + k // c0) * 16 * c0 + m % 16 * c0 + k % c0
    return (m // c0 * -(-columns // 16) + k // 16) * 16 * c0 + k % 16 * c0 + m % c0


def _address_by_counting(layout, m, k, rows, columns, c0):
    high, wide = (c0, 16) if layout == "ZN" else (16, c0)
    fractals = [(r, c) for r in range(0, rows, high) for c in range(0, columns, wide)]
    if layout == "NZ":
        fractals.sort(key=lambda corner: corner[::-1])
    places = {}
    for r, c in fractals:
        inside = [(r + i, c + j) for i in range(high) for j in range(wide)]
        if layout == "ZN":
            inside.sort(key=lambda place: place[::-1])
        for place in inside:
            places[place] = len(places)
    return [places[int(row), int(column)] for row, column in zip(m, k, strict=True)]


def _together_by_transpose(blocks, rows, columns):
    whole = np.zeros((rows + 64, columns + 64), blocks[0][2].dtype)
    for m, k, fractals in blocks:
        m1, k1, high, wide = fractals.shape
        whole[m : m + m1 * high, k : k + k1 * wide] = fractals.transpose(0, 2, 1, 3).reshape(m1 * high, k1 * wide)
    return whole[:rows, :columns]


def _together_by_fractals(blocks, rows, columns):
    whole = np.full((rows, columns), 77, blocks[0][2].dtype)
    for m, k, fractals in blocks:
        for i, j in np.ndindex(fractals.shape[:2]):
            high, wide = fractals.shape[2:]
            target = whole[m + i * high :, k + j * wide :][:high, :wide]
            target[...] = fractals[i, j, : target.shape[0], : target.shape[1]]
    return whole


def _tiles_down(rows, columns, c0):
    m_step = max(1, 65536 // (-(-columns // c0) * 512)) * 16
    if m_step * columns * 32 // c0 > 65536:  # not even one row of fractals fits
        return _tiles_square(rows, columns, c0)
    return [(m, min(m_step, rows - m), 0, columns) for m in range(0, rows, m_step)]


def _tiles_square(rows, columns, c0):
    step = 8 * c0
    return [
        [m, min(128, rows - m), k, min(step, columns - k)] for k in range(0, columns, step) for m in range(0, rows, 128)
    ]


RIGHT = {
    "output_size": (_size_by_counting, _size_by_formula),
    "im2col_row": (_row_by_loops, _row_by_slices),
    "column_table": (_table_by_counting, _table_by_groups),
    "address": (_address_by_formula, _address_by_counting),
    "put_together": (_together_by_transpose, _together_by_fractals),
    "tiles": (_tiles_down, _tiles_square),
}


def test_a_block_larger_than_the_buffer_is_refused_in_the_librarys_words() -> None:
    """Who loads all at once, or cuts between fractals, reads which rule of Load3D forbids it."""
    whole = LOAD3D.tiles.check(lambda rows, columns, c0: [(0, rows, 0, columns)])
    assert "L0A" in str(whole)
    assert "65,536 bytes there" in str(whole)
    uneven = LOAD3D.tiles.check(lambda rows, columns, c0: [(0, 24, 0, c0), (24, rows - 24, 0, c0)])
    assert "mExtension = 24" in str(uneven)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("im2col_row", "feature_map["),
        ("column_table", "of group 1, which has 4 channels"),
        ("address", "of fractal ("),
    ],
)
def test_an_unknown_mistake_shows_the_element(name: str, words: str) -> None:
    """A wrong answer that nobody foresaw gets its first wrong element, and where the right value comes from."""

    def nearly(*arguments):
        out = np.array(RIGHT[name][0](*arguments))
        out.reshape(-1)[-1] += 5
        return out

    result = ALL[name].check(nearly)
    assert not result
    assert not result.misconception
    assert words in str(result)
