"""What steps did, as data: enough to say of every written byte where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascendlab.aipp import AippPlan, AippSetup
from ascendlab.capi.memory import Pointer
from ascendlab.capi.moves import Move

__all__ = ["AippOperation", "MmadOperation", "MoveOperation", "Operation", "PokeOperation"]


class Operation:
    """Base of what a step did."""


@dataclass(frozen=True, eq=False)
class PokeOperation(Operation):
    """Bytes from outside: nothing is known about them."""


@dataclass(frozen=True, eq=False)
class MoveOperation(Operation):
    """A planned movement, with or without a conversion.

    Parameters
    ----------
    plan : Move
        What went where.
    dst, src : Pointer
        What the plan's units are counted from.
    fill : numpy scalar or None
        The constant.
    """

    plan: Move
    dst: Pointer
    src: Pointer
    fill: Any


@dataclass(frozen=True, eq=False)
class AippOperation(Operation):
    """A picture that LoadImageToLocal brought in.

    Parameters
    ----------
    dst : Pointer
        Where it begins.
    setup : AippSetup
        Pictures and configuration.
    plan : AippPlan
        The window.
    """

    dst: Pointer
    setup: AippSetup
    plan: AippPlan


@dataclass(frozen=True, eq=False)
class MmadOperation(Operation):
    """A matrix multiplication.

    Parameters
    ----------
    c, a, b : Pointer
        Result and operands.
    m, k, n : int
        Sizes.
    plain : bool
        Whether A was read as one plain row.
    accumulates : bool
        Whether C went on from what L0C held.
    """

    c: Pointer
    a: Pointer
    b: Pointer
    m: int
    k: int
    n: int
    plain: bool
    accumulates: bool
