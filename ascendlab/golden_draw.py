"""Random operands that anybody can draw again: the same bytes on every machine, with every version of NumPy.

>>> random_array("int8", 4, seed=7).tolist() == random_array("int8", (2, 2), seed=7).reshape(-1).tolist()
True
>>> random_array("half", 4, seed=7, name="weights").tolist() == random_array("half", 4, seed=7).tolist()
False
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_size
from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int
from ascendlab.golden_bin import check_shape

__all__ = ["LARGEST_SEED", "random_array"]

LARGEST_SEED = 2**63 - 1


def random_array(dtype: Any, shape: tuple[int, ...] | int, *, seed: int, name: str = "src") -> NDArray[Any]:
    """Draw an operand.

    Parameters
    ----------
    dtype : str, NumPy dtype or DataType
        Element type.
    shape : tuple of int, or int
        Its shape.
    seed : int
        Which draw, [0, 2**63 - 1].
    name : str
        The operand's name, so that operands of one seed differ.

    Returns
    -------
    ndarray of the dtype
        Integers over their whole range; floating-point numbers in [-8, 8), multiples of 1/4096 rounded to the type.

    Raises
    ------
    ParameterError
        For another type, shape, seed or name.
    BufferOverflowError
        For more than 4 GiB.

    Notes
    -----
    The bits come from PCG64, whose stream NumPy keeps, and not from a generator's distributions, which may change.

    Examples
    --------
    >>> random_array("half", 3, seed=1)
    array([-1.657, -2.72 , -7.82 ], dtype=float16)
    """
    kind, axes = as_dtype(dtype), check_shape(shape)
    number = check_int("seed", seed, 0, LARGEST_SEED)
    if not isinstance(name, str) or len(name) > 1000:
        raise ParameterError("name", name, "the name of an operand")
    integers = kind.name.startswith(("int", "uint"))
    count, width = math.prod(axes), kind.numpy.itemsize if integers else 2
    check_size("the operand", count * max(width, kind.numpy.itemsize))
    entropy = np.random.SeedSequence([number, zlib.crc32(name.encode("utf-8", "replace"))])
    words = np.random.PCG64(entropy).random_raw(-(-count * width // 8))
    raw = np.atleast_1d(words).astype("<u8", copy=False).view(np.uint8)[: count * width]
    if kind.bits == 4:
        values: NDArray[Any] = ((raw & 15 ^ 8).view(np.int8) - np.int8(8)).astype(ml_dtypes.int4)
    elif integers:
        values = raw.view(kind.numpy.newbyteorder("<")).astype(kind.numpy)
    else:
        values = (raw.view("<i2") / np.float32(4096)).astype(kind.numpy)
    return values.reshape(axes)
