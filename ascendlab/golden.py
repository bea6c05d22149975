"""Golden data: the raw ``.bin`` files that operator samples use, written, read back and compared.

>>> import tempfile
>>> from ascendlab.load3d import LoadData3DParamsV2, im2col
>>> from ascendlab.provenance import Call
>>> params = LoadData3DParamsV2(l1_h=4, l1_w=5, channel_size=16, filter_h=3, filter_w=3)
>>> call = Call(im2col, {"src": random_array("half", (1, 4, 5, 16), seed=7), "params": params})
>>> with tempfile.TemporaryDirectory() as folder:
...     written = write_golden(folder, call, seed=7)
...     case = read_golden(written.sidecar)
...     print(case)
...     print(compare(case.call.run(), case))
case: im2col, seed 7, src half (1, 4, 5, 16) -> golden half (6, 144)
actual and golden are equal (all bits)
864 elements of half; 0 bad (0 %), 0 differ in a bit
"""

from __future__ import annotations

from ascendlab.compare import Comparison, compare
from ascendlab.golden_bin import read_array, read_bin, write_bin
from ascendlab.golden_case import GoldenCase, GoldenFile
from ascendlab.golden_draw import random_array
from ascendlab.golden_read import read_golden
from ascendlab.golden_write import write_golden

__all__ = [
    "Comparison",
    "GoldenCase",
    "GoldenFile",
    "compare",
    "random_array",
    "read_array",
    "read_bin",
    "read_golden",
    "write_bin",
    "write_golden",
]
