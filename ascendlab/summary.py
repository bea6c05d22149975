"""One line about a result: shape, type, bytes, how full a buffer gets, a checksum.

Notebooks print it under every picture, because text can be compared and pictures cannot.

>>> import numpy as np
>>> from ascendlab import Product
>>> print(summarise(np.arange(64, dtype=np.int8).reshape(8, 8)))
(8, 8) int8, 64 bytes, checksum 100ece8c
>>> print(Occupancy("L1", 600_000, Product.ATLAS_A2.buffers["L1"]))
L1: 600,000 of 524,288 bytes (114 %), so at least 2 tiles
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import as_dtype

__all__ = ["Occupancy", "checksum", "summarise"]


def checksum(array: NDArray[Any]) -> str:
    """Return eight hexadecimal digits that change with any bit of the array (CRC-32 of its bytes in C order).

    >>> checksum(np.zeros(4, np.uint8)), checksum(np.zeros(5, np.uint8))
    ('2144df1c', 'c622f71d')
    """
    return f"{zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data):08x}"


def summarise(array: NDArray[Any]) -> str:
    """Return shape, type by the documents' name, bytes and checksum in one line."""
    return f"{array.shape} {as_dtype(array.dtype)}, {array.nbytes:,} bytes, checksum {checksum(array)}"


@dataclass(frozen=True)
class Occupancy:
    """How full a buffer would be.

    Parameters
    ----------
    buffer : str
        For instance ``"L1"``.
    used, available : int
        Bytes.
    """

    buffer: str
    used: int
    available: int

    @property
    def tiles(self) -> int:
        """Into how many parts at least the data must be cut to fit."""
        return -(-self.used // self.available)

    def __str__(self) -> str:
        percent = 100 * self.used / self.available
        part = f"{percent:.0f}" if percent >= 10 else f"{percent:.1f}"
        more = f", so at least {self.tiles} tiles" if self.tiles > 1 else ""
        return f"{self.buffer}: {self.used:,} of {self.available:,} bytes ({part} %){more}"
