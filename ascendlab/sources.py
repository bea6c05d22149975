"""The array form of provenance, which every plan can produce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sources"]


@dataclass(frozen=True, eq=False)
class Sources:
    """What n output elements were made of.

    Parameters
    ----------
    operand : ndarray of int8, shape (n, terms)
        Number of the operand, -1 where an element has fewer terms.
    index : ndarray of int64, shape (n, terms)
        Flat index into that operand.
    weight : ndarray of float64, shape (n, terms)
        Factor of that source element.
    constant : ndarray of float64, shape (n,)
        The constant of an element without terms, NaN for the others.
    untouched : ndarray of bool, shape (n,)
        Elements that the instruction does not write at all.
    factor_operand, factor_index : ndarray, shape (n, terms), optional
        For products: the operand and the flat index of a second factor of each term, operand -1 where there is none.
    """

    operand: NDArray[np.int8]
    index: NDArray[np.int64]
    weight: NDArray[np.float64]
    constant: NDArray[np.float64]
    untouched: NDArray[np.bool_]
    factor_operand: NDArray[np.int8] | None = None
    factor_index: NDArray[np.int64] | None = None

    @classmethod
    def copies(
        cls,
        index: NDArray[Any],
        *,
        operand: int = 0,
        constant: Any = np.nan,
        untouched: NDArray[np.bool_] | None = None,
    ) -> Sources:
        """Describe plain copies from one operand; a negative index means the constant, or untouched.

        Examples
        --------
        >>> import numpy as np
        >>> Sources.copies(np.array([4, -1]), constant=7).constant
        array([nan,  7.])
        """
        here = index >= 0
        return cls(
            operand=np.where(here, operand, -1).astype(np.int8)[:, None],
            index=np.where(here, index, 0).astype(np.int64)[:, None],
            weight=np.where(here, 1.0, 0.0)[:, None],
            constant=np.where(here, np.nan, constant),
            untouched=np.zeros(len(index), bool) if untouched is None else untouched,
        )
