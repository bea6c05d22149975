"""Checks of array arguments that every emulated call makes before it writes anything."""

from __future__ import annotations

import sys
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ascendlab.errors import BufferOverflowError, ParameterError

__all__ = ["LARGEST_RESULT", "check_array", "check_out", "check_size", "is_plain"]

LARGEST_RESULT = 4 * 1024**3


def is_plain(value: object) -> TypeGuard[NDArray[Any]]:
    """Whether `value` is an array whose elements all count: NumPy's masked arrays hide some, which no call heeds."""
    masked = sys.modules.get("numpy.ma")  # importing it takes long, and where nobody has, there are no such arrays
    return isinstance(value, np.ndarray) and not (masked and isinstance(value, masked.MaskedArray))


def check_array(
    name: str, value: object, dtype: np.dtype[Any], shape: tuple[int | None, ...], words: str
) -> NDArray[Any]:
    """Return `value` if it is an array of exactly this dtype and shape.

    Parameters
    ----------
    name : str
        The argument's name.
    value : object
        What the caller gave.
    dtype : numpy.dtype
        The type it must have.
    shape : tuple
        The shape it must have; None stands for any length.
    words : str
        The shape in the caller's words, for instance ``"(H, W, 3)"``.
    """
    if (
        not is_plain(value)
        or value.dtype != dtype
        or value.ndim != len(shape)
        or any(want is not None and want != have for want, have in zip(shape, value.shape, strict=True))
    ):
        raise ParameterError(name, value, f"a NumPy array of {dtype.name} with shape {words}")
    return value


def check_size(what: str, size: int, *, allow_large: bool = False) -> None:
    """Refuse a result of more than 4 GiB unless the caller asked for it."""
    if size > LARGEST_RESULT and not allow_large:
        raise BufferOverflowError(what, size, LARGEST_RESULT, hint="results over 4 GiB are refused")


def check_out(out: object, dtype: np.dtype[Any], shape: tuple[int, ...], *sources: NDArray[Any]) -> NDArray[Any]:
    """Return `out` if a call may write its result there: exact dtype and shape, contiguous, apart from the sources.

    Apart means that the bytes from a source's first to its last do not overlap with those of `out`: a source that
    is a view with gaps claims the gaps, too.
    """
    if is_plain(out) and out.shape == shape and out.dtype == dtype:
        checked: NDArray[Any] = out
    else:
        checked = check_array("out", out, dtype, shape, str(shape))
    if not checked.flags.c_contiguous or not checked.flags.writeable:
        raise ParameterError("out", out, "a writeable, C-contiguous array")
    for source in sources:
        if np.may_share_memory(checked, source):
            raise ParameterError("out", out, "an array that shares no memory with a source")
    return checked
