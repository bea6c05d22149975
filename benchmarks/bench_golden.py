"""Comparing a device's output with golden data, against reading both files and comparing them with NumPy.

The peer reads both files with ``np.fromfile`` and compares as the operator samples do: ``np.array_equal`` where all
bits must agree, ``np.isclose`` and a count of what is not close where there is a tolerance.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ascendlab.compare import compare
from benchmarks.measure import Case

NUMPY = "np.fromfile + array_equal / isclose"
_LIMIT = 3.0
_folder = tempfile.TemporaryDirectory(prefix="ascendlab-bench-")


def _case(name: str, golden: np.ndarray, actual: np.ndarray, **tolerance: float) -> Case:
    """Write both arrays, and compare the files."""
    paths = [Path(_folder.name) / f"{name.replace(' ', '_').replace(',', '')}_{part}.bin" for part in ("a", "g")]
    actual.tofile(paths[0])
    golden.tofile(paths[1])
    dtype, expected = golden.dtype, int((actual != golden).sum())

    def ours() -> Any:
        return compare(paths[0], paths[1], dtype=dtype, **tolerance)

    def plain() -> Any:
        one, two = (np.fromfile(path, dtype) for path in paths)
        if not tolerance:
            return np.array_equal(one, two)
        return np.count_nonzero(~np.isclose(one, two, **tolerance, equal_nan=True))

    def check() -> None:
        found = ours()
        assert found.found.different == expected
        if tolerance:
            far = np.abs(actual.astype(np.float64) - golden.astype(np.float64))
            near = far <= tolerance["atol"] + tolerance["rtol"] * np.abs(golden.astype(np.float64))
            assert found.mismatches == int((~near).sum())
        else:
            assert found.mismatches == expected
        assert found.causes == ()

    return Case(name, ours, check, {NUMPY: plain}, limits={NUMPY: _LIMIT})


def cases(small: bool = False) -> Iterator[Case]:
    """Yield equal files, a few mismatches and many, of int8 and half, 64 MiB each (`small`: 256 KiB)."""
    size = 256 * 1024 if small else 64 * 1024**2
    words = "256 KiB" if small else "64 MiB"
    rng = np.random.default_rng(6)
    for name, dtype in (("int8", np.int8), ("half", np.float16)):
        count = size // np.dtype(dtype).itemsize
        golden = rng.integers(-100, 100, count).astype(dtype)
        few, many = golden.copy(), golden.copy()
        few[rng.choice(count, 100, replace=False)] += dtype(9)
        many[rng.random(count, np.float32) < 0.5] += dtype(1)
        yield _case(f"{words} of {name}, equal", golden, golden)
        yield _case(f"{words} of {name}, 100 mismatches", golden, few)
        yield _case(f"{words} of {name}, half of them differ", golden, many)
        tolerance = {"rtol": 1e-3, "atol": 1e-3}
        yield _case(f"{words} of {name}, half of them differ, with tolerance", golden, many, **tolerance)
