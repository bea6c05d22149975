"""Exercises on golden data.

>>> file_bytes.check(lambda shape, dtype: int(np.prod(shape)))
Wrong: Those are elements. A file's size counts bytes.
  Seen on half of shape (9, 13, 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.compare_criteria import Criteria
from ascendlab.dtypes import as_dtype
from ascendlab.exercises._base import Case, Exercise, Misconception
from ascendlab.golden_bin import bin_bytes
from ascendlab.layouts import FRACTAL_ROWS, nd_to_nz, nz_to_nd

__all__ = ["bad_count", "file_bytes", "from_nz"]

Array = NDArray[Any]

# --- sizes of files ---


def _size_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for dtype in ("half", "int4", "float", "int8", "int4"):
        shape = tuple(int(n) for n in rng.choice([3, 5, 7, 9, 11, 13], 3, replace=False))
        cases.append(Case({"shape": shape, "dtype": dtype}, words=f"{dtype} of shape {shape}"))
    return cases


def _bits(dtype: str) -> int:
    return as_dtype(dtype).bits


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


file_bytes = Exercise(
    name="file_bytes",
    parameters="shape, dtype",
    task="How many bytes has the `.bin` file of an array of this `shape` and `dtype` (`'half'`, `'float'`, `'int8'` or "
    "`'int4'`)?",
    spec="file_bytes((2, 3), 'half') == 12\nfile_bytes((2, 3), 'int4') == 3",
    cases=_size_cases,
    library=lambda shape, dtype: bin_bytes(as_dtype(dtype), shape),
    misconceptions=[
        Misconception(
            "int4 takes half a byte: two elements share one.",
            lambda shape, dtype: _size(shape) * max(1, _bits(dtype) // 8),
        ),
        Misconception(
            "An odd number of int4 elements still needs the byte that its last one is in: round up.",
            lambda shape, dtype: _size(shape) * _bits(dtype) // 8,
        ),
        Misconception("Those are elements. A file's size counts bytes.", lambda shape, dtype: _size(shape)),
        Misconception("Those are bits. A byte has eight.", lambda shape, dtype: _size(shape) * _bits(dtype)),
        Misconception(
            "A .bin file is the elements and nothing else: it is not filled up to whole DataBlocks.",
            lambda shape, dtype: -(-_size(shape) * _bits(dtype) // 256) * 32,
        ),
        Misconception(
            "A .bin file has no header: nothing in it tells its type and shape.",
            lambda shape, dtype: -(-_size(shape) * _bits(dtype) // 8) + 128,
        ),
    ],
)

# --- tolerance ---

_TOLERANCES = ((0.0, 0.5), (1e-3, 1e-3), (0.25, 0.0), (0.125, 2.0))


def _count_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for number, (rtol, atol) in enumerate(_TOLERANCES):
        size = (7, 41, 63, 55)[number]
        golden = (rng.normal(size=size) * 20).astype(np.float32)
        # Some at the very bound, which is allowed; exact in float64, because they are small halves.
        golden[:4] = [8, -8, 16, -16]
        bound = atol + rtol * np.abs(golden.astype(np.float64))
        actual = golden.astype(np.float64) + bound * rng.choice([-1, 0, 0.5, 1.5], size)
        if number != 1:
            actual[:4] = golden[:4] + bound[:4] * np.array([1, -1, 1, -1])
        actual = actual.astype(np.float32)
        if number:
            actual[5], actual[6], golden[6] = np.nan, np.inf, np.inf
            golden[7], actual[8] = np.inf, -np.inf
        cases.append(
            Case(
                {"actual": actual, "golden": golden, "rtol": rtol, "atol": atol},
                words=f"{size} floats with rtol {rtol:g} and atol {atol:g}",
            )
        )
    return cases


def _library_count(actual: Array, golden: Array, rtol: float, atol: float) -> int:
    return int(Criteria(rtol=rtol, atol=atol).bad(actual, golden).sum())


def _wide(actual: Array, golden: Array) -> tuple[Array, Array, Array]:
    with np.errstate(all="ignore"):
        one, two = actual.astype(np.float64), golden.astype(np.float64)
        return one, two, np.abs(one - two)


def _counted(bad: Array) -> int:
    return int(np.count_nonzero(bad))


def _not_close(actual: Array, golden: Array, rtol: float, atol: float, *, size: Array | None = None) -> Array:
    one, two, far = _wide(actual, golden)
    with np.errstate(all="ignore"):
        limit = atol + rtol * np.abs(two if size is None else size)
        near = (far <= limit) & np.isfinite(two)
    bad: Array = ~(near | (one == two))
    return bad


def _careless(actual: Array, golden: Array, rtol: float, atol: float) -> int:
    _, two, far = _wide(actual, golden)
    with np.errstate(all="ignore"):
        return _counted(far > atol + rtol * np.abs(two))


def _strict(actual: Array, golden: Array, rtol: float, atol: float) -> int:
    one, two, far = _wide(actual, golden)
    with np.errstate(all="ignore"):
        near = (far < atol + rtol * np.abs(two)) & np.isfinite(two)
    return _counted(~(near | (one == two)))


def _either(actual: Array, golden: Array, rtol: float, atol: float) -> int:
    one, two, far = _wide(actual, golden)
    with np.errstate(all="ignore"):
        near = ((far <= atol) | (far <= rtol * np.abs(two))) & np.isfinite(two)
    return _counted(~(near | (one == two)))


bad_count = Exercise(
    name="bad_count",
    parameters="actual, golden, rtol, atol",
    task="Count the bad elements: those for which `|actual - golden| <= atol + rtol * |golden|` does not hold, in "
    "float64. A NaN of the device is bad where the golden element is a number; an infinity is good only where the "
    "golden element is the same infinity.",
    spec="bad_count(x, x, 0, 0) == 0  # for x without NaN\nbad_count(x + 1, x, 0, 0.5) == x.size",
    cases=_count_cases,
    library=_library_count,
    misconceptions=[
        Misconception(
            "A NaN is not counted: every comparison with it is False, `>` too. Count what is *not* within the bound.",
            _careless,
        ),
        Misconception(
            "The bound itself is allowed: <=, not <.",
            _strict,
        ),
        Misconception(
            "rtol goes with the golden element, not with what the device has: a wrong output must not widen its own "
            "bound.",
            lambda actual, golden, rtol, atol: _counted(
                _not_close(actual, golden, rtol, atol, size=actual.astype(np.float64))
            ),
        ),
        Misconception("The two parts of the bound are added up; it is not enough to look at each by itself.", _either),
        Misconception(
            "That is how many are good.",
            lambda actual, golden, rtol, atol: actual.size - _library_count(actual, golden, rtol, atol),
        ),
        Misconception(
            "That counts every element that is not equal; some are near enough.",
            lambda actual, golden, rtol, atol: _counted(actual != golden),
        ),
    ],
)

# --- layouts ---


def _nz_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for rows, columns, dtype in ((32, 48, np.float16), (64, 96, np.int8), (48, 32, np.float32), (112, 64, np.float16)):
        matrix = rng.permutation(rows * columns).reshape(rows, columns) % 127
        flat = nd_to_nz(matrix.astype(dtype)).reshape(-1)
        kind = as_dtype(dtype)

        def where(row: int, column: int, kind: Any = kind, rows: int = rows) -> str:
            fractal = (column // kind.c0) * (rows // FRACTAL_ROWS) + row // FRACTAL_ROWS
            return f"fractal {fractal} of the file, row {row % FRACTAL_ROWS}, element {column % kind.c0}"

        words = f"a file of {rows} x {columns} {kind}, so C0 = {kind.c0}"
        cases.append(Case({"flat": flat, "rows": rows, "columns": columns}, words=words, where=where))
    return cases


def _from_nz(flat: Array, rows: int, columns: int) -> Array:
    c0 = 32 // flat.itemsize
    return nz_to_nd(flat.reshape(columns // c0, rows // FRACTAL_ROWS, FRACTAL_ROWS, c0), rows, columns)


def _as(order: tuple[int, int, int, int], *, swapped: bool = False, square: bool = False) -> Any:
    """Return an answer that takes the file for another layout."""

    def answer(flat: Array, rows: int, columns: int) -> Array:
        c0 = FRACTAL_ROWS if square else 32 // flat.itemsize
        counts = (columns // c0, rows // FRACTAL_ROWS) if not swapped else (rows // FRACTAL_ROWS, columns // c0)
        inner = (FRACTAL_ROWS, c0)
        matrix: Array = flat.reshape(*counts, *inner).transpose(order).reshape(rows, columns)
        return matrix

    return answer


def _fractals_transposed(flat: Array, rows: int, columns: int) -> Array:
    c0 = 32 // flat.itemsize
    fractals = flat.reshape(columns // c0, rows // FRACTAL_ROWS, c0, FRACTAL_ROWS).swapaxes(2, 3)
    matrix: Array = fractals.transpose(1, 2, 0, 3).reshape(rows, columns)
    return matrix


from_nz = Exercise(
    name="from_nz",
    parameters="flat, rows, columns",
    task="A device wrote a matrix in NZ; `flat` is its file, as `np.fromfile` reads it. Put the matrix together "
    "(both sizes are whole fractals: 16 rows, and 32 bytes in a row).",
    spec="out.shape == (rows, columns)\nout[0, :c0] is flat[:c0]; out[16, :c0] is flat[16 * c0 : 17 * c0]",
    cases=_nz_cases,
    library=_from_nz,
    misconceptions=[
        Misconception(
            "That takes the file for row after row of the matrix. It is cut into fractals.",
            lambda flat, rows, columns: flat.reshape(rows, columns),
        ),
        Misconception(
            "That reads ZZ: fractals row by row. In NZ the next fractal stands below, not to the right.",
            _as((0, 2, 1, 3), swapped=True),
        ),
        Misconception(
            "The fractals are in their places, and transposed inside: NZ has rows of 32 bytes inside a fractal.",
            _fractals_transposed,
        ),
        Misconception(
            "The fractals' order is right, but two axes are left side by side that do not belong together: before the "
            "last reshape the order is (fractal row, row, fractal column, element).",
            _as((1, 0, 2, 3)),
        ),
        Misconception(
            "A fractal is 16 rows of 32 *bytes*: of int8 32 elements, of float 8.",
            _as((1, 2, 0, 3), square=True),
        ),
        Misconception(
            "That is the matrix's transpose in the matrix's shape.",
            lambda flat, rows, columns: np.ascontiguousarray(_from_nz(flat, rows, columns).T).reshape(rows, columns),
        ),
    ],
)
