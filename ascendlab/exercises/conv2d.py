"""Exercises on the C API's convolution: registers, addresses, flags.

>>> pad_config.check(lambda value, dtype: value & 2 ** int(dtype[3:]) - 1)
Wrong: The value stands there once. The bits above it must repeat it: four times in [15:0] for 4-bit data, twice for \
8-bit data; 16-bit and 32-bit data take all of theirs.
  Seen on the pad value -5 for int8.
"""

from __future__ import annotations

from ascendlab.exercises.conv2d_places import dst_strides, l0a_address, map_rows
from ascendlab.exercises.conv2d_rules import flags, pad_after, pad_config

__all__ = ["dst_strides", "flags", "l0a_address", "map_rows", "pad_after", "pad_config"]
