"""The fixed meaning of each colour, hatch and outline, in every picture of this library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

__all__ = [
    "ALL_DIFFERENT",
    "CHANNEL_PADDING",
    "DIFFERENT",
    "INPUT",
    "MASKED",
    "ORIGIN",
    "OUTPUT",
    "PADDING",
    "PICKED",
    "WINDOW",
    "Role",
]


@dataclass(frozen=True)
class Role:
    r"""What a colour means, wherever it appears.

    Parameters
    ----------
    name : str
        For legends.
    color : str
        One of Okabe and Ito's eight colours, which people with colour-vision deficiencies can tell apart.
    hatch : str
        Second sign beside the colour, for areas: ``"/"``, ``"\\"``, ``"x"``, ``"."``, ``"-"`` or none.
    line : str
        Second sign for outlines: ``"-"`` solid, ``"--"`` dashed, ``":"`` dotted.
    width : float
        Outline width in points.
    """

    name: str
    color: str
    hatch: str = ""
    line: str = "-"
    width: float = 1.5

    @property
    def rgb(self) -> NDArray[np.uint8]:
        """The colour as three uint8."""
        return np.array([round(part * 255) for part in to_rgb(self.color)], np.uint8)

    @property
    def tint(self) -> NDArray[np.uint8]:
        """A light tint of the colour, on which black text is readable."""
        return np.array([round(255 - (1 - part) * 255 * 0.3) for part in to_rgb(self.color)], np.uint8)


INPUT = Role("input", "#0072B2")
WINDOW = Role("window", "#E69F00", line="--", width=2.5)
PADDING = Role("padding", "#CC79A7", hatch="/")
CHANNEL_PADDING = Role("channel padding", "#F0E442", hatch=".")
OUTPUT = Role("output", "#009E73")
PICKED = Role("picked element", "#D55E00", width=3.0)
ORIGIN = Role("where it came from", "#D55E00", line=":", width=3.0)
MASKED = Role("not written", "#999999", hatch="x")
DIFFERENT = Role("some elements differ", "#56B4E9")
ALL_DIFFERENT = Role("all elements differ", "#56B4E9", hatch="x")
