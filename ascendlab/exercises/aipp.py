"""Exercises on SetAippFunctions and LoadImageToLocal.

>>> import numpy as np
>>> block_padding.check(lambda row, left, right: np.pad(row, (left, right), mode="wrap"))
Wrong: That is wrap-around (np.pad's "wrap"): each border shows the far side of the row. Mode 2 copies the block \
that lies next to the border.
  Seen on a row of 7 pixels, left 2, right 3.
"""

from __future__ import annotations

from ascendlab.exercises.aipp_moves import block_padding, swap_and_pad, xrgb_pixels
from ascendlab.exercises.aipp_values import bias_field, normalisation, to_half

__all__ = ["bias_field", "block_padding", "normalisation", "swap_and_pad", "to_half", "xrgb_pixels"]
