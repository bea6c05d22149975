"""Exercises on where things lie: elements of L0A, fractals under a wrong stride, rows of the feature map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi import AICore, asc_l13d_fmatrix_config, asc_load3d_v2_config
from ascendlab.capi.cube import c_shape, operand_places
from ascendlab.exercises._base import Case, Exercise, Misconception
from ascendlab.load3d import LoadData3DParamsV2, im2col
from ascendlab.products import Product

__all__ = ["dst_strides", "l0a_address", "map_rows"]

Array = NDArray[Any]
_ROWS = 16

# --- addresses in L0A ---


def _address_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for name, itemsize, m, k in (("half", 2, 25, 288), ("int8", 1, 40, 96), ("float", 4, 7, 56), ("half", 2, 100, 48)):
        row = np.concatenate([rng.integers(m // 2, m, 3), rng.integers(0, m, 2)])
        # The last three columns are odd and in the last third, where every wrong layout has gone astray.
        column = np.concatenate([rng.integers(0, k, 2), rng.integers(k // 3, k // 2, 3) * 2 + 1])
        cases.append(
            Case(
                {"row": row, "column": column, "m_extension": m, "k_extension": k, "itemsize": itemsize},
                words=f"elements of a {m} x {k} matrix of {name}",
                where=lambda i, row=row, column=column: f"A[{row[i]}, {column[i]}]",
            )
        )
    return cases


def _library_address(row: Array, column: Array, m_extension: int, k_extension: int, itemsize: int) -> Array:
    return operand_places(m_extension, k_extension, itemsize, False)[row, column]


def _nz(row: Array, column: Array, rows: int, c0: int, itemsize: int) -> Array:
    return np.asarray(((column // c0 * rows + row) * c0 + column % c0) * itemsize)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _zz(row: Array, column: Array, m: int, k: int, itemsize: int) -> Array:
    c0 = 32 // itemsize
    fractal = row // _ROWS * (_up(k, c0) // c0) + column // c0
    return np.asarray(fractal * 512 + (row % _ROWS * c0 + column % c0) * itemsize)


def _zn_inside(row: Array, column: Array, m: int, k: int, itemsize: int) -> Array:
    c0 = 32 // itemsize
    fractal = column // c0 * (_up(m, _ROWS) // _ROWS) + row // _ROWS
    return np.asarray(fractal * 512 + (column % c0 * _ROWS + row % _ROWS) * itemsize)


l0a_address = Exercise(
    name="l0a_address",
    parameters="row, column, m_extension, k_extension, itemsize",
    task="Say at which byte of L0A, counted from the destination's start, element `A[row, column]` of an "
    "`m_extension` x `k_extension` im2col matrix lies (`row` and `column` are arrays of the same length; `dst_stride` "
    "is the usual one, the height of a column of fractals).",
    spec="out[(row == 0) & (column == 0)] == 0\n"
    "out // 512 == column // c0 * dst_stride + row // 16  # the fractal, with c0 = 32 // itemsize",
    cases=_address_cases,
    library=_library_address,
    misconceptions=[
        Misconception(
            "Those are elements. An address counts bytes.",
            lambda row, column, m, k, size: _nz(row, column, _up(m, _ROWS), 32 // size, 1),
        ),
        Misconception(
            "The fractals follow each other row by row, as in L0A of Atlas A2 (ZZ). On Atlas 350 L0A is NZ: one column "
            "of fractals after the other.",
            _zz,
        ),
        Misconception(
            "That is the matrix row by row, as it would lie in GM. L0A holds it in fractals of 512 bytes.",
            lambda row, column, m, k, size: (row * k + column) * size,
        ),
        Misconception(
            "A column of fractals has whole fractals: its height is m_extension rounded up to 16.",
            lambda row, column, m, k, size: _nz(row, column, m, 32 // size, size),
        ),
        Misconception(
            "Inside of a fractal the rows lie one after the other (the z in NZ is small: row by row), not the columns.",
            _zn_inside,
        ),
        Misconception(
            "A fractal is 16 rows of 32 bytes. That is 16 elements for 2-byte types only.",
            lambda row, column, m, k, size: _nz(row, column, _up(m, _ROWS), 16, size),
        ),
    ],
)

# --- the destination's stride ---


def _picture(m_extension: int, columns: int, stride: int) -> Array:
    """Load a matrix whose columns of fractals hold their own number; return one number per fractal of L0A."""
    core = AICore(Product.ATLAS_350, record=False)
    core.asc_init()
    height = _up(m_extension, _ROWS)
    fmap = core.cbuf("half", columns * height * _ROWS, name="fmap_l1")
    fmap_l0 = core.ca("half", columns * stride * 256, name="fmap_l0")
    core.poke(fmap, np.repeat(np.arange(columns) + 1, height * _ROWS))
    core.asc_set_l13d_fmatrix(asc_l13d_fmatrix_config(l1_height=height, l1_width=1))
    core.asc_set_l13d_rpt(asc_load3d_v2_config(dst_stride=stride))
    core.asc_copy_l12l0a(
        fmap_l0, fmap, columns * 16, m_extension, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, columns * 16
    )
    numbers: Array = fmap_l0.array.reshape(-1, 256)[:, 0].astype(np.int64) - 1
    return numbers


def _stride_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for m, columns, gap in ((17, 3, 1), (70, 3, 2), (16, 4, 1), (35, 2, 3)):
        m += int(rng.integers(0, 10)) if m % _ROWS else 0
        stride = _up(m, _ROWS) // _ROWS + gap
        cases.append(
            Case(
                {"picture": _picture(m, columns, stride), "m_extension": m},
                words=f"{columns} columns of fractals, m_extension {m}",
            )
        )
    return cases


def _library_strides(picture: Array, m_extension: int) -> Array:
    """Find the stride with which the library's load makes this picture."""
    columns = int(picture.max()) + 1
    needed = c_shape(m_extension, 1)[1] // _ROWS
    made = (s for s in range(needed, len(picture) + 1) if np.array_equal(_picture(m_extension, columns, s), picture))
    return np.array([next(made), needed])


def _steps(picture: Array) -> int:
    return int(np.argmax(picture == 1))


def _by_gap(use: Callable[[int, int, int], tuple[int, int]]) -> Callable[[Array, int], tuple[int, int]]:
    """Make a wrong answer from the stride that was set, the one that is needed, and the number of columns."""
    return lambda picture, m: use(_steps(picture), _up(m, _ROWS) // _ROWS, int(picture.max()) + 1)


dst_strides = Exercise(
    name="dst_strides",
    parameters="picture, m_extension",
    task="A kernel's `asc_mmad` complains of bytes that nobody has written. `picture` has one number for each fractal "
    "of its L0A: the column of fractals (16 values of k) that lies there, or -1 for nothing. Return two numbers: the "
    "`dst_stride` that the kernel has set, and the one that it should have set.",
    spec="picture[dst_stride_set] == 1  # the second column starts there\ndst_stride_needed * 16 >= m_extension",
    cases=_stride_cases,
    library=_library_strides,
    misconceptions=[
        Misconception(
            "The two are exchanged: first the stride that was set, then the one that is needed.",
            _by_gap(lambda was, needed, columns: (needed, was)),
        ),
        Misconception(
            "The first is the gap between two columns. A stride goes from the start of a column to the next start.",
            _by_gap(lambda was, needed, columns: (was - needed, needed)),
        ),
        Misconception(
            "The first is the height of a column: what was written, not where the next column starts.",
            _by_gap(lambda was, needed, columns: (needed, needed)),
        ),
        Misconception(
            "The needed stride is rounded down: rows that fill a fractal only in part need a whole one.",
            lambda picture, m: (_steps(picture), m // _ROWS),
        ),
        Misconception(
            "Those are rows. dst_stride counts fractals of 16 rows.",
            _by_gap(lambda was, needed, columns: (was * 16, needed * 16)),
        ),
        Misconception(
            "Those are bytes. dst_stride counts fractals of 512 bytes.",
            _by_gap(lambda was, needed, columns: (was * 512, needed * 512)),
        ),
        Misconception(
            "The needed stride is the number of columns. Fractals lie column by column: it is the height of a column.",
            _by_gap(lambda was, needed, columns: (was, columns)),
        ),
    ],
)

# --- rows of the feature map ---


def _row_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for block, h, kh, stride, dilation, top in (
        (1, 9, 3, 2, 2, 2), (3, 7, 3, 1, 2, 1), (2, 11, 4, 2, 3, 3), (1, 13, 2, 3, 4, 0),
    ):  # fmt: skip
        last = (h + 2 * top - (kh - 1) * dilation - 1) // stride
        # At the top, at the bottom, at the top again; without padding anywhere.
        drawn = {2: int(rng.integers(0, 2)), 1: last, 3: 0, 0: int(rng.integers(1, last))}
        ho = drawn[top]
        names = ("block", "ho", "h", "kh", "stride_h", "dilation_h", "pad_top")
        cases.append(
            Case(
                dict(zip(names, (block, ho, h, kh, stride, dilation, top), strict=True)),
                words=f"output row {ho} of block {block}, h {h}, kh {kh}, stride {stride}, dilation {dilation}, "
                f"pad_top {top}",
            )
        )
    return cases


def _library_rows(block: int, ho: int, h: int, kh: int, stride_h: int, dilation_h: int, pad_top: int) -> Array:
    numbers = np.repeat(np.arange(h, dtype=np.float16), 16)
    params = LoadData3DParamsV2(
        l1_h=h, l1_w=1, channel_size=16, k_extension=16 * kh, m_extension=1, filter_h=kh, filter_w=1,
        stride_h=stride_h, stride_w=1, dilation_filter_h=dilation_h, pad_list=(0, 0, pad_top, pad_top), pad_value=-1,
    )  # fmt: skip
    rows = im2col(numbers, params)[ho, ::16].astype(np.int64)
    return rows[rows >= 0] + block * h


def _rows(
    block: int,
    ho: int,
    h: int,
    kh: int,
    stride: int,
    dilation: int,
    top: int,
    *,
    above: bool = True,
    below: bool = True,
) -> Array:
    """Return the rows, those above and below the map left out."""
    rows = ho * stride + np.arange(kh) * dilation - top
    kept = np.ones(kh, bool)
    if above:
        kept &= rows >= 0
    if below:
        kept &= rows < h
    return rows[kept] + block * h


def _all_between(*arguments: int) -> Array:
    rows = _rows(*arguments)
    return np.arange(rows[0], rows[-1] + 1)


map_rows = Exercise(
    name="map_rows",
    parameters="block, ho, h, kh, stride_h, dilation_h, pad_top",
    task="Each block convolves the feature map of its own number. The maps lie in GM one behind the other, `h` rows "
    "each, so that row 0 of block 1 is row `h` of GM. Return the numbers of the rows of GM that output row `ho` of "
    "block `block` is made of, in order. (Padding is not in GM.)",
    spec="all(out // h == block)\nall(np.diff(out) == dilation_h)",
    cases=_row_cases,
    library=_library_rows,
    misconceptions=[
        Misconception(
            "The block is forgotten: block b starts at row b * h of GM.",
            lambda block, *more: _rows(0, *more),
        ),
        Misconception(
            "The dilation is forgotten: the filter's points are dilation_h rows apart.",
            lambda block, ho, h, kh, stride, dilation, top: _rows(block, ho, h, kh, stride, 1, top),
        ),
        Misconception(
            "The stride is forgotten: from one output row to the next the filter moves by stride_h rows.",
            lambda block, ho, h, kh, stride, dilation, top: _rows(block, ho, h, kh, 1, dilation, top),
        ),
        Misconception(
            "The padding is forgotten: output row 0 starts pad_top rows above the map.",
            lambda block, ho, h, kh, stride, dilation, top: _rows(block, ho, h, kh, stride, dilation, 0),
        ),
        Misconception(
            "Some of those rows are padding, or rows of another block's map: they lie outside of 0 to h - 1.",
            lambda *arguments: _rows(*arguments, above=False, below=False),
        ),
        Misconception(
            "The border below the map is forgotten: rows from h on are padding, or rows of the next block's map.",
            lambda *arguments: _rows(*arguments, below=False),
        ),
        Misconception(
            "The border above the map is forgotten: negative rows are padding, or rows of another block's map.",
            lambda *arguments: _rows(*arguments, above=False),
        ),
        Misconception(
            "Those are all rows under the filter. With a dilation it skips the rows between its points.",
            _all_between,
        ),
    ],
)
