"""Which lanes of a repeat a vector instruction writes: the documents' two forms of a mask.

A *lane* is one element of a repeat: 128 lanes of 16 bits, 64 of 32 bits.  The *continuous* form is a number, the
first n lanes; the *bitwise* form is one or two 64-bit words, lane i being bit ``i % 64`` of word ``i // 64``.
Only writing is gated: sources are read as if all lanes were on.

>>> mask_to_bitwise(68, "half")
(18446744073709551615, 15)
>>> mask_lanes([8, 0], "half").nonzero()
(array([0]), array([3]))
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import BLOCKS_PER_REPEAT, TYPES, DataType, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int

__all__ = [
    "MASK_PLACEHOLDER",
    "LaneMask",
    "Placeholder",
    "check_mask",
    "mask_from_lanes",
    "mask_lanes",
    "mask_to_bitwise",
    "mask_to_continuous",
    "mask_to_text",
    "mask_type",
    "mask_with_lane",
    "mask_within",
]

WORD = 64
_MASKED_TYPES = tuple(t.name for t in TYPES.values() if t.bits in (16, 32))
NO_64_BITS = (
    "The documents' masks of 64-bit operands ([1, 32], or one word below 2**32) are not emulated: "
    "neither instruction has a 64-bit type"
)


class Placeholder(Enum):
    """The type of `MASK_PLACEHOLDER`."""

    MASK_PLACEHOLDER = "MASK_PLACEHOLDER"

    def __repr__(self) -> str:
        return self.name


MASK_PLACEHOLDER: Final = Placeholder.MASK_PLACEHOLDER
"""Stands for the mask in a call with ``isSetMask = false``: the mask is the one that SetVectorMask set before."""

LaneMask: TypeAlias = "int | Sequence[int] | NDArray[np.integer[Any]]"


def mask_type(dtype: object) -> DataType:
    """Return the element type that a mask is for, refusing those that no mask here is for.

    >>> mask_type("uint64")
    Traceback (most recent call last):
        ...
    ascendlab.errors.ParameterError: dtype = 'uint64' is not allowed; allowed: a 16-bit or 32-bit type. The documents' \
masks of 64-bit operands ([1, 32], or one word below 2**32) are not emulated: neither instruction has a 64-bit type
    """
    try:
        return as_dtype(dtype, _MASKED_TYPES)
    except ParameterError:
        if _is_64_bit(dtype):
            raise ParameterError("dtype", dtype, "a 16-bit or 32-bit type", hint=NO_64_BITS) from None
        raise


def _is_64_bit(dtype: object) -> bool:
    if isinstance(dtype, DataType):
        return dtype.bits == 64
    try:
        return bool(np.dtype(dtype).itemsize == 8)  # type: ignore[call-overload]
    except Exception:  # no type at all
        return False


def check_mask(mask: object, kind: DataType, *, parameter: str = "mask") -> tuple[int, ...]:
    """Return a mask of either form as 64-bit words, lowest lanes first.

    Parameters
    ----------
    mask : int, or sequence of int
        Continuous or bitwise form.
    kind : DataType
        The operands' type; it says how many lanes there are.
    parameter : str
        The argument's name in errors.
    """
    lanes, words = kind.lanes, kind.lanes // WORD
    if isinstance(mask, (list, tuple, np.ndarray)):
        table = f"{parameter}[] in bitwise form"
        if getattr(mask, "ndim", 1) != 1 or len(mask) != words:
            plural = "two 64-bit words" if words == 2 else "one 64-bit word"
            raise ParameterError(parameter, mask, f"{plural}, since a repeat has {lanes} lanes of {kind}", table=table)
        checked = tuple(
            check_int(f"{parameter}[{i}]", word, 0, 2**WORD - 1, table=table) for i, word in enumerate(mask)
        )
        if not any(checked):
            raise ParameterError(parameter, mask, "words of which at least one bit is set", table=table)
        return checked
    hint = "Only a call with isSetMask takes it" if mask is MASK_PLACEHOLDER else ""
    count = check_int(parameter, mask, 1, lanes, table=f"{parameter} in continuous form, {kind}", hint=hint)
    every = (1 << count) - 1
    return tuple(every >> WORD * i & (1 << WORD) - 1 for i in range(words))


def words_to_lanes(words: Sequence[int]) -> NDArray[np.bool_]:
    """Return the lanes that are on, shape (8, lanes / 8): a row for each DataBlock of the repeat."""
    packed = np.array(words, "<u8").view(np.uint8)
    return np.unpackbits(packed, bitorder="little").astype(bool).reshape(BLOCKS_PER_REPEAT, -1)


def mask_lanes(mask: LaneMask, dtype: object) -> NDArray[np.bool_]:
    """Say for every lane of a repeat whether a mask lets it be written.

    Parameters
    ----------
    mask : int, or sequence of int
        Continuous form: [1, 128] for 16-bit types, [1, 64] for 32-bit types.  Bitwise form: two words for 16-bit
        types, one for 32-bit types, not all 0.
    dtype : str, numpy dtype, or DataType
        Type of the operands, 16 or 32 bits wide.

    Returns
    -------
    ndarray of bool, shape (8, 16) or (8, 8)
        A row for each of the repeat's DataBlocks.

    Raises
    ------
    ParameterError
        A number outside the range, a wrong count of words, no lane at all, a 64-bit type.

    Examples
    --------
    >>> mask_lanes(5, "float").sum(axis=1)
    array([5, 0, 0, 0, 0, 0, 0, 0])
    """
    return words_to_lanes(check_mask(mask, mask_type(dtype)))


def mask_from_lanes(lanes: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the bitwise form of a set of lanes; the inverse of `mask_lanes`.

    Parameters
    ----------
    lanes : ndarray of bool, 64 or 128 elements of any shape
        At least one of them True.

    Examples
    --------
    >>> checkers = np.arange(64) % 2 == 0
    >>> [hex(word) for word in mask_from_lanes(checkers)]
    ['0x5555555555555555']
    """
    if not isinstance(lanes, np.ndarray) or lanes.dtype != bool or lanes.size not in (64, 128) or not lanes.any():
        raise ParameterError("lanes", lanes, "64 or 128 elements of bool, at least one of them True")
    return tuple(int(word) for word in np.packbits(lanes.ravel(), bitorder="little").view("<u8"))


def mask_to_bitwise(mask: LaneMask, dtype: object) -> tuple[int, ...]:
    """Convert a mask of either form to the bitwise form.

    Parameters
    ----------
    mask, dtype
        As for `mask_lanes`.

    Examples
    --------
    >>> mask_to_bitwise(3, "half"), mask_to_bitwise(64, "int32")
    ((7, 0), (18446744073709551615,))
    """
    return check_mask(mask, mask_type(dtype))


def mask_to_continuous(mask: LaneMask, dtype: object) -> int:
    """Convert a mask of either form to the continuous form.

    Parameters
    ----------
    mask, dtype
        As for `mask_lanes`.

    Raises
    ------
    ParameterError
        Also if the lanes are not the first n.

    Examples
    --------
    >>> mask_to_continuous([0xFF, 0], "half")
    8
    """
    words = check_mask(mask, mask_type(dtype))
    value = sum(word << WORD * i for i, word in enumerate(words))
    if value & (value + 1):
        raise ParameterError("mask", mask, "bits without a gap from bit 0 of word 0 on, for the continuous form")
    return value.bit_length()


def mask_within(count: int, dtype: object) -> int:
    """Return a continuous mask cut down to the lanes that a type has.

    >>> mask_within(100, "float"), mask_within(100, "half")
    (64, 100)
    """
    return min(count, mask_type(dtype).lanes)


def mask_with_lane(mask: LaneMask, dtype: object, lane: int, *, written: bool) -> tuple[int, ...]:
    """Return the bitwise form of a mask with one lane switched on or off.

    Parameters
    ----------
    mask, dtype
        As for `mask_lanes`.
    lane : int
        Which lane, from 0.
    written : bool
        Whether it is to be written.

    Examples
    --------
    >>> mask_with_lane(3, "half", 1, written=False)
    (5, 0)
    """
    lanes = mask_lanes(mask, dtype).ravel()
    lanes[check_int("lane", lane, 0, lanes.size - 1)] = written
    return mask_from_lanes(lanes)


def mask_to_text(mask: LaneMask, dtype: object) -> str:
    """Write the bitwise form of a mask, lowest word first.

    >>> mask_to_text(70, "half")
    '0xffffffffffffffff, 0x3f'
    """
    return ", ".join(f"0x{word:x}" for word in mask_to_bitwise(mask, dtype))
