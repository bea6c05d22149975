"""Golden data: the raw ``.bin`` files that operator samples use, written, read back and compared.

>>> import numpy as np, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = write_bin(folder, "output/golden.bin", np.arange(4, dtype=np.int8))
...     read_bin(path, "int8").tolist()
[0, 1, 2, 3]
"""

from __future__ import annotations

from ascendlab.golden_bin import read_array, read_bin, write_bin

__all__ = ["read_array", "read_bin", "write_bin"]
