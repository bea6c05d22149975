"""Operands to play with: numbers that say where they lie.

>>> from ascendlab import Product
>>> counting("half", 5, Product.ATLAS_A2)
array([1., 2., 3., 4., 5.], dtype=float16)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int
from ascendlab.products import Product
from ascendlab.vector_blocks import check_ub

__all__ = ["counting", "numbers_from"]

# Halves are exact up to here; larger operands begin again at 1.
_LAST = 2048


def counting(dtype: object, size: int, product: Product = Product.ATLAS_INFERENCE_AI_CORE) -> NDArray[Any]:
    """Return 1, 2, 3 ..., so that an element's value is its index plus one.

    Parameters
    ----------
    dtype : str or numpy dtype
        Element type.
    size : int
        Elements; more than the product's Unified Buffer holds are refused before they are made.
    product : Product
        Where they would lie.

    Returns
    -------
    ndarray of the dtype, shape (size,)
        After 2048, up to which halves are exact, it begins again at 1.
    """
    kind = as_dtype(dtype)
    check_ub(product, {"src": check_int("size", size, 0, 2**40) * kind.numpy.itemsize})
    return (np.arange(size) % _LAST + 1).astype(kind.numpy)


def numbers_from(text: str, name: str) -> list[float]:
    """Read numbers from a text: decimal or hexadecimal, separated by commas or blanks.

    Parameters
    ----------
    text : str
        For instance ``"0x7, 0"``.
    name : str
        The parameter's name, for the error.

    Examples
    --------
    >>> numbers_from("0x10 2, 0.5", "mask")
    [16, 2, 0.5]
    """
    if not isinstance(text, str) or len(text) > 4096:
        raise ParameterError(name, text, "numbers separated by commas")
    numbers: list[float] = []
    for word in text.replace(",", " ").split():
        try:
            numbers.append(int(word, 0))
        except ValueError:
            try:
                numbers.append(float(word))
            except ValueError:
                raise ParameterError(name, word, "numbers separated by commas, such as 0xff, 0") from None
    return numbers
