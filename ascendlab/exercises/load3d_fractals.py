"""The matrix in fractals: where an element lies, how blocks make the matrix again, how to cut it into blocks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import as_dtype
from ascendlab.exercises._base import Case, Exercise, Misconception, require_answer
from ascendlab.layouts import FRACTAL_ROWS, fractal_index, nd_to_nz, nd_to_zn, nd_to_zz, zz_to_nd
from ascendlab.load3d import LoadData3DParamsV2, im2col, load_data_3d_v2, plan_load_data_3d_v2
from ascendlab.products import Product

__all__ = ["address", "put_together", "tiles"]

Array = NDArray[Any]

# --- addresses ---

_MATRICES = (("NZ", 35, 40, "half"), ("ZN", 20, 37, "float"), ("ZZ", 23, 50, "int8"), ("ZN", 45, 70, "int8"))
_LAYING = {"ZZ": nd_to_zz, "NZ": nd_to_nz, "ZN": nd_to_zn}


def _address_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for layout, rows, columns, name in _MATRICES:
        kind = as_dtype(name)
        # The lower right fractal tells most: everything before it must have been counted.
        m = np.append(rng.integers(0, rows, 5), rows - 1)
        k = np.append(rng.integers(0, columns, 5), columns - 2)

        def where(i: int, layout: str = layout, m: Array = m, k: Array = k, c0: int = kind.c0) -> str:
            index = tuple(int(n) for n in fractal_index(layout, m[i], k[i], c0))
            return f"element {index[2:]} of fractal {index[:2]}"

        cases.append(
            Case(
                {"layout": layout, "m": m, "k": k, "rows": rows, "columns": columns, "c0": kind.c0},
                words=f"6 elements of a {rows} x {columns} matrix in {layout}, C0 {kind.c0}",
                where=where,
            )
        )
    return cases


def _library_address(layout: str, m: Array, k: Array, rows: int, columns: int, c0: int) -> Array:
    names = {as_dtype(name).c0: as_dtype(name).numpy for name in ("half", "float", "int8")}
    shape = _LAYING[layout](np.zeros((rows, columns), names[c0])).shape
    return np.asarray(np.ravel_multi_index(fractal_index(layout, m, k, c0), shape))


def _place(
    m: Array, k: Array, rows: int, columns: int, size: tuple[int, int], *, downwards: bool, turned: bool,
    floor: bool = False,
) -> Array:  # fmt: skip
    """Address by formula: fractals of `size`, following each other downwards or not, turned inside or not."""
    (high, wide), count = size, (int.__floordiv__ if floor else lambda n, d: -(-n // d))
    (down, m0), (across, k0) = np.divmod(m, high), np.divmod(k, wide)
    fractal = across * count(rows, high) + down if downwards else down * count(columns, wide) + across
    return np.asarray(fractal * high * wide + (k0 * high + m0 if turned else m0 * wide + k0))


def _as(layout: str, m: Array, k: Array, rows: int, columns: int, c0: int, **more: bool) -> Array:
    turned = layout == "ZN"
    size = (c0, FRACTAL_ROWS) if turned else (FRACTAL_ROWS, c0)
    return _place(m, k, rows, columns, size, downwards=layout == "NZ", turned=turned, **more)


def _letters_exchanged(layout: str, m: Array, k: Array, rows: int, columns: int, c0: int) -> Array:
    turned = layout == "NZ"
    size = (c0, FRACTAL_ROWS) if turned else (FRACTAL_ROWS, c0)
    return _place(m, k, rows, columns, size, downwards=layout == "ZN", turned=turned)


address = Exercise(
    name="address",
    parameters="layout, m, k, rows, columns, c0",
    task="Say where elements (m, k) of a `rows` x `columns` matrix lie in L0A or L0B, counted in elements from the "
    "buffer's start. `layout` is `ZZ`, `NZ` or `ZN`; m and k are arrays of the same length.",
    spec="fractals.reshape(-1)[out] == matrix[m, k]   # fractals = nd_to_zz(matrix), nd_to_nz(matrix) or nd_to_zn(...)",
    cases=_address_cases,
    library=_library_address,
    misconceptions=[
        Misconception(
            "That is the row-major matrix. In all three layouts a fractal of 512 bytes lies together.",
            lambda layout, m, k, rows, columns, c0: m * columns + k,
        ),
        Misconception(
            "Every matrix is taken for ZZ. In NZ the next fractal lies below, in ZN the fractal stands on its side.",
            lambda layout, *more: _as("ZZ", *more),
        ),
        Misconception(
            "Every matrix is taken for NZ. In ZZ and ZN the next fractal lies to the right.",
            lambda layout, *more: _as("NZ", *more),
        ),
        Misconception(
            "The two letters are exchanged: the first is about the fractals, the second about the elements in them.",
            _letters_exchanged,
        ),
        Misconception(
            "The number of fractals is rounded down: one that the matrix fills only in part takes 512 bytes, too.",
            lambda *arguments: _as(*arguments, floor=True),
        ),
        Misconception(
            "In ZN the fractal is turned: its 16 memory rows are 16 columns of the matrix, so it covers c0 rows and "
            "16 columns.",
            lambda layout, m, k, rows, columns, c0: (
                _place(m, k, rows, columns, (FRACTAL_ROWS, c0), downwards=False, turned=True)
                if layout == "ZN"
                else _as(layout, m, k, rows, columns, c0)
            ),
        ),
        Misconception(
            "In ZN the elements of a fractal lie column by column.",
            lambda layout, m, k, rows, columns, c0: (
                _place(m, k, rows, columns, (c0, FRACTAL_ROWS), downwards=False, turned=False)
                if layout == "ZN"
                else _as(layout, m, k, rows, columns, c0)
            ),
        ),
        Misconception(
            "Those are bytes. The answer counts elements, of which a DataBlock has c0.",
            lambda layout, m, k, rows, columns, c0: _as(layout, m, k, rows, columns, c0) * (32 // c0),
        ),
    ],
)

# --- blocks become the matrix again ---

# Feature map, filter, type, and where M and K are cut.
_LOADS = (
    ((5, 9, 8), (1, 3), "float", 16, 8),
    ((7, 6, 16), (2, 3), "half", 16, 48),
    ((6, 11, 20), (3, 2), "half", 32, 64),
    ((9, 5, 36), (2, 2), "int8", 16, 96),
)


def _block_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for (height, width, channels), (high, wide), name, m_cut, k_cut in _LOADS:
        numpy_type = as_dtype(name).numpy
        feature_map = rng.integers(-120, 121, height * width * channels).astype(numpy_type)
        params = LoadData3DParamsV2(l1_h=height, l1_w=width, channel_size=channels, filter_h=high, filter_w=wide)
        rows, columns = im2col(feature_map, params).shape
        blocks = []
        # Column by column, so that who lays them out row by row is seen to.
        for k_start, k_end in ((0, k_cut), (k_cut, columns)):
            for m_start, m_end in ((0, m_cut), (m_cut, rows)):
                block = replace(params, m_start_pt=m_start, m_extension=m_end - m_start, k_start_pt=k_start,
                                k_extension=k_end - k_start)  # fmt: skip
                blocks.append((m_start, k_start, load_data_3d_v2(feature_map, block)))
        cases.append(
            Case(
                {"blocks": blocks, "rows": rows, "columns": columns},
                words=f"a {rows} x {columns} matrix of {name} in 4 blocks",
            )
        )
    return cases


def _matrix(blocks: list[tuple[int, int, Array]], rows: int, columns: int, unfold: Any) -> Array:
    """Put blocks where they begin; `unfold` makes a matrix of a block's fractals."""
    end = [max(start[axis] + math.prod(start[2].shape[axis::2]) for start in blocks) for axis in (0, 1)]
    whole = np.zeros(end, blocks[0][2].dtype)
    for m_start, k_start, fractals in blocks:
        m1, k1, high, wide = fractals.shape
        whole[m_start : m_start + m1 * high, k_start : k_start + k1 * wide] = unfold(fractals, m1 * high, k1 * wide)
    return whole[:rows, :columns]


def _by_axes(*axes: int) -> Any:
    return lambda blocks, rows, columns: _matrix(
        blocks, rows, columns, lambda fractals, high, wide: fractals.transpose(axes).reshape(high, wide)
    )


def _read_as_nz(fractals: Array, high: int, wide: int) -> Array:
    m1, k1, rows, c0 = fractals.shape
    matrix: Array = fractals.reshape(k1, m1, rows, c0).transpose(1, 2, 0, 3).reshape(high, wide)
    return matrix


put_together = Exercise(
    name="put_together",
    parameters="blocks, rows, columns",
    task="Four calls loaded the four parts of a `rows` x `columns` matrix in ZZ. `blocks` is a list of (m_start_pt, "
    "k_start_pt, fractals); `fractals` has shape (m1, k1, 16, C0). Return the matrix.",
    spec="out.shape == (rows, columns)\nout[m_start:m_start + 16, k_start:k_start + C0] == fractals[0, 0]",
    cases=_block_cases,
    library=lambda blocks, rows, columns: _matrix(blocks, rows, columns, zz_to_nd),
    misconceptions=[
        Misconception(
            "The fractals are taken for rows of the matrix: reshape alone does not bring the 16 rows of neighbouring "
            "fractals beside each other; the axes must change places first.",
            _by_axes(0, 1, 2, 3),
        ),
        Misconception(
            "The fractals are read in the order of NZ, the next one below. In ZZ it lies to the right.",
            lambda blocks, rows, columns: _matrix(blocks, rows, columns, _read_as_nz),
        ),
        Misconception(
            "The rows of the fractals are interleaved: row 0 of all fractals, then row 1. A fractal's 16 rows follow "
            "each other.",
            _by_axes(2, 0, 1, 3),
        ),
        Misconception(
            "The columns of the fractals are interleaved: the C0 numbers of a fractal's row stay together.",
            _by_axes(0, 2, 3, 1),
        ),
        Misconception(
            "The fractals of a block follow each other along K only from its second row of fractals on: the first two "
            "axes are exchanged.",
            _by_axes(1, 2, 0, 3),
        ),
    ],
)

# --- cutting ---

_ONCE = "every element is loaded once"
_TWICE, _NONE, _SOME = "some elements are loaded twice", "nothing is loaded", "some blocks in the middle are missing"
_BOTTOM, _RIGHT = "the matrix's last rows are missing", "the matrix's last columns are missing"
_CORNER = "the matrix's last rows and last columns are missing"


def _tile_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for rows, columns, name in ((300, 240, "half"), (1225, 144, "half"), (100, 2400, "int8"), (450, 200, "float")):
        kind = as_dtype(name)
        # No power of two divides either: whatever is left over shows.
        m = 16 * int(rng.integers(0, 8)) + rows // 16 * 16 + int(rng.integers(1, 16))
        k = kind.c0 * (columns // kind.c0 + int(rng.integers(0, 8)) | 1)
        cases.append(Case({"rows": m, "columns": k, "c0": kind.c0}, words=f"a {m} x {k} matrix of {name}"))
    return cases


def _verdict(answer: Any, rows: int, columns: int, c0: int) -> str:
    """Plan the learner's blocks; say what they leave out or load twice.  What is not allowed the library says."""
    words = "a list of (m_start_pt, m_extension, k_start_pt, k_extension)"
    name = {as_dtype(name).c0: name for name in ("half", "float", "int8")}[c0]
    # With a filter of one point, M counts pixels and K channels.
    feature_map = np.broadcast_to(np.zeros((), as_dtype(name).numpy), (rows * columns,))
    loaded = np.zeros((rows, columns), np.int64)
    for number in require_answer(answer, len(answer) if isinstance(answer, (list, tuple)) else 0, words):
        m, m_extension, k, k_extension = require_answer(number, 4, words)
        params = LoadData3DParamsV2(
            l1_h=1, l1_w=rows, channel_size=columns, m_start_pt=m, m_extension=m_extension, k_start_pt=k,
            k_extension=k_extension,
        )  # fmt: skip
        plan_load_data_3d_v2(feature_map, params, product=Product.ATLAS_A2, check_capacity=True)
        loaded[m : m + m_extension, k : k + k_extension] += 1
    if not loaded.any():
        return _NONE
    if loaded.max() > 1:
        return _TWICE
    high, wide = np.count_nonzero(loaded.any(axis=1)), np.count_nonzero(loaded.any(axis=0))
    if not loaded[:high, :wide].all():
        return _SOME
    return {(True, True): _ONCE, (False, True): _BOTTOM, (True, False): _RIGHT}.get(
        (high == rows, wide == columns), _CORNER
    )


def _cut(size: int, step: int, *, rest: bool = True, more: int = 0) -> list[tuple[int, int]]:
    """Cut an axis into (start, extension), the rest left out or each block reaching into the next."""
    starts = range(0, size if rest else size // step * step, step)
    return [(start, min(step + more, size - start)) for start in starts]


def _blocks(down: list[tuple[int, int]], across: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    return [(m, m_extension, k, k_extension) for m, m_extension in down for k, k_extension in across]


def _left_out(*, down: bool = True, across: bool = True) -> Any:
    return lambda rows, columns, c0: _blocks(_cut(rows, 64, rest=down), _cut(columns, 8 * c0, rest=across))


tiles = Exercise(
    name="tiles",
    parameters="rows, columns, c0",
    task="A matrix is larger than L0A, which holds 64 KiB. Return a list of blocks (m_start_pt, m_extension, "
    "k_start_pt, k_extension) that together load every element exactly once. There is more than one right choice; the "
    "check plans every call with `check_capacity=True`.",
    spec="loaded[m_start:m_start + m_extension, k_start:k_start + k_extension] += 1   # for each block\n"
    "(loaded == 1).all()",
    cases=_tile_cases,
    library=_left_out(),
    observe=_verdict,
    misconceptions=[
        Misconception(
            "The last rows are never loaded: a last block that is smaller than the others is a block, too.",
            _left_out(down=False),
        ),
        Misconception(
            "The last columns are never loaded: a last block that is narrower than the others is a block, too.",
            _left_out(across=False),
        ),
        Misconception(
            "What is left over at both ends is never loaded: there may be smaller blocks at the end.",
            _left_out(down=False, across=False),
        ),
        Misconception(
            "Some elements are loaded twice: each block begins where the one before it ended.",
            lambda rows, columns, c0: _blocks(_cut(rows, 64, more=16), _cut(columns, 8 * c0)),
        ),
        Misconception(
            "Some blocks are missing: each cut along M goes with every cut along K, not only with the one of its "
            "own number.",
            lambda rows, columns, c0: [
                (*down, *across) for down, across in zip(_cut(rows, 64), _cut(columns, 8 * c0), strict=False)
            ],
        ),
    ],
)
