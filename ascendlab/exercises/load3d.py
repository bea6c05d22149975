"""Exercises on Load3D: from the size of the result to the place of an element in L0A.

>>> import numpy as np
>>> address.check(lambda layout, m, k, rows, columns, c0: m * columns + k)
Wrong: That is the row-major matrix. In all three layouts a fractal of 512 bytes lies together.
  Seen on 6 elements of a 35 x 40 matrix in NZ, C0 16.
"""

from __future__ import annotations

from ascendlab.exercises.load3d_fractals import address, put_together, tiles
from ascendlab.exercises.load3d_matrix import column_table, im2col_row, output_size

__all__ = ["address", "column_table", "im2col_row", "output_size", "put_together", "tiles"]
