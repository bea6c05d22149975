"""What a call reads and writes, counted.

>>> print(Traffic(read={"GM": 9216}, different={"GM": 3072}, written={"L1": 2048}, reads={}, constants=64, untouched=0))
read:    GM 9,216 bytes, each use counted; 3,072 different ones
written: L1 2,048 bytes; 64 elements are constants
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Traffic"]


@dataclass(frozen=True, eq=False)
class Traffic:
    """The counts of `ascendlab.provenance.Trace.traffic`.

    Parameters
    ----------
    read : mapping of str to int
        Bytes read from each memory: every use of an element for an element of the result counts, whatever a device
        may keep in between.  What only says where, how much or which (offsets, weights, masks) does not count.
    different : mapping of str to int
        Bytes that are read at least once.
    written : mapping of str to int
        Bytes written to each memory.
    reads : mapping of str to ndarray of int64
        For each operand how often each of its elements is read.
    constants : int
        Elements of the result that no source element is part of.
    untouched : int
        Elements of the result that are never written.
    """

    read: Mapping[str, int]
    different: Mapping[str, int]
    written: Mapping[str, int]
    reads: Mapping[str, NDArray[np.int64]]
    constants: int
    untouched: int

    def __str__(self) -> str:
        read = [
            f"{memory} {count:,} bytes, each use counted; {self.different[memory]:,} different ones"
            if memory in self.different
            else f"{memory} {count:,} bytes"
            for memory, count in self.read.items()
        ]
        written = [f"{memory} {count:,} bytes" for memory, count in self.written.items()]
        parts = (
            (self.constants, "elements are constants"),
            (self.untouched, "elements are never written"),
        )
        more = "".join(f"; {count:,} {words}" for count, words in parts if count)
        return f"read:    {', '.join(read) or 'nothing'}\nwritten: {', '.join(written) or 'nothing'}{more}"
