"""The register file: every register's word in bits, with its fields' names and values.

>>> from ascendlab.capi.conv2d_example import run
>>> register_rows(Scene(run()[0].cores[0], 10))[2].title
'L3D_RPT 0x0000_0002_0001_0000, set by step 10 (asc_set_l13d_rpt)'
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ascendlab.capi.registers import FieldValue, format_word
from ascendlab.plots._base import DPI, TEXT_POINTS, Stamps, axes_at, legend, move_axes
from ascendlab.plots._capi_scene import Scene
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._paint import text_image
from ascendlab.plots._roles import INPUT, WINDOW, Role

__all__ = ["REGISTER_ROLES", "RegisterFile", "RegisterRow", "register_rows"]

_BITS = 64
_CELL, _HEIGHT, _LINE, _TITLE = 11, 15, 15, 17
_LEFT, _TOP = 26, 6
_FIELD = replace(INPUT, name="bit field")
_NEXT = Role("next bit field", "#56B4E9")
_SET = replace(WINDOW, name="set by this step")
REGISTER_ROLES = (_FIELD, _NEXT, _SET)


@dataclass(frozen=True)
class RegisterRow:
    """A register after a step.

    Parameters
    ----------
    title : str
        Name, word, and who set it.
    word : int or None
        None if nobody has set it.
    fields : tuple of FieldValue
        Its bit fields.
    set_now : bool
        Whether the step itself has set it.
    """

    title: str
    word: int | None
    fields: tuple[FieldValue, ...]
    set_now: bool


def register_rows(scene: Scene) -> list[RegisterRow]:
    """Return all registers of the core, those that nobody has set included."""
    steps = scene.core.steps[: scene.step]
    words = steps[-1].registers if steps else {}
    rows = []
    for name, kind in scene.core.register_types.items():
        word = words.get(name)
        if word is None:
            title = f"{name}: not set, holds what an earlier kernel has left"
            rows.append(RegisterRow(title, None, kind(0).fields(), False))
            continue
        # A call that sets the word that was there already leaves no trace in the words, but in the log.
        setter = next(s for s in reversed(steps) if _sets(s.call, name, s.number, scene))
        title = f"{name} {format_word(word)}, set by step {setter.number} ({setter.call})"
        rows.append(RegisterRow(title, word, kind(word).fields(), setter.number == scene.step))
    return rows


# Calls that set a register; `load_data` may, and then the word changes.
_SETTERS = {
    "PADDING": ("asc_init", "asc_set_l12l0a_3d_padding", "asc_set_gm2l1_padding", "set_load_data_padding_value"),
    "FMATRIX": ("asc_set_l13d_fmatrix", "set_fmatrix"),
    "L3D_RPT": ("asc_set_l13d_rpt",),
    "MTE2_NZ_PARA": ("asc_set_gm2l1_nz_para",),
    "LOOP3_PARA": ("asc_set_l0c_copy_nz_para",),
}


def _sets(call: str, name: str, number: int, scene: Scene) -> bool:
    before = scene.core.steps[number - 2].registers if number > 1 else {}
    changed = before.get(name) != scene.core.steps[number - 1].registers.get(name)
    return changed or call in _SETTERS[name]


class RegisterFile:
    """Draws the registers of a scene on a figure, again and again.

    Parameters
    ----------
    figure : Figure
        Where to draw.
    count : int
        How many registers there are.
    """

    def __init__(self, figure: Figure, count: int) -> None:
        self._words = Stamps()
        figure.add_artist(self._words)
        self._figure = figure
        self.grids = []
        for _ in range(count):
            ax = axes_at(figure, left=_LEFT, top=0, width=_BITS * _CELL, height=_HEIGHT)
            ax.set_axis_off()
            self.grids.append(Grid(ax, rows=1, columns=_BITS))
        self.artists: list[Artist] = [self._words, *(artist for grid in self.grids for artist in grid.artists)]

    def show(self, rows: list[RegisterRow]) -> None:
        """Draw the rows."""
        self._words.images.clear()
        top = _TOP
        for row, grid in zip(rows, self.grids, strict=True):
            self._words.write(row.title, _LEFT, top + _TITLE // 2)
            top += _TITLE
            move_axes(grid.ax, left=_LEFT, top=top, width=_BITS * _CELL, height=_HEIGHT)
            self._show_bits(grid, row)
            for bit, anchor in ((63, "right"), (0, "left")):
                x = _LEFT - 4 if bit else _LEFT + _BITS * _CELL + 4
                self._words.write(str(bit), x, top + _HEIGHT // 2, anchor=anchor)
            top = self._label(row, top + _HEIGHT)
        height = round(self._figure.bbox.height)
        legend(self._figure, REGISTER_ROLES, left=12, top=height - 22, stamps=self._words)

    @staticmethod
    def _show_bits(grid: Grid, row: RegisterRow) -> None:
        word = 0 if row.word is None else row.word
        bits = np.array([[word >> bit & 1 for bit in range(_BITS - 1, -1, -1)]])
        areas: dict[Role, NDArray[np.bool_]] = {role: np.zeros(bits.shape, bool) for role in (_FIELD, _NEXT)}
        # Fields that lie in others come later, and win.
        fields = sorted(row.fields, key=lambda f: (f.low - f.high, f.low))
        for number, f in enumerate(sorted(fields, key=lambda f: f.low) if _disjoint(fields) else fields):
            own, other = (_FIELD, _NEXT) if number % 2 == 0 else (_NEXT, _FIELD)
            part = slice(_BITS - 1 - f.high, _BITS - f.low)
            areas[own][0, part], areas[other][0, part] = True, False
        marks = [Mark(_SET, 0, 0, 1, _BITS)] if row.set_now else []
        shown = np.ma.array(bits, mask=row.word is None)
        grid.show(shown, areas=areas, marks=marks)

    def _label(self, row: RegisterRow, top: int) -> int:
        """Write each field's name, bits and value below them, in as many lines as that takes; return their end."""
        ends: list[int] = []
        for f in sorted(row.fields, key=lambda f: (f.low - f.high, -f.low)):
            value = "" if row.word is None else f" = {f.value:#x}" if f.value > 0xFFFF else f" = {f.value}"
            text = f"{f.name} [{f.high}:{f.low}]{value}" if f.high > f.low else f"{f.name} [{f.low}]{value}"
            width = int(text_image(text, TEXT_POINTS, DPI).shape[1])
            middle = _LEFT + round((_BITS - (f.high + f.low + 1) / 2) * _CELL)
            left = min(max(_LEFT, middle - width // 2), _LEFT + _BITS * _CELL - width)
            line = next((i for i, end in enumerate(ends) if left > end + 8), len(ends))
            if line == len(ends):
                ends.append(0)
            ends[line] = left + width
            self._words.write(text, left, top + line * _LINE + _LINE // 2 + 1)
        return top + len(ends) * _LINE + 5


def _disjoint(fields: list[FieldValue]) -> bool:
    """Say whether no field lies in another."""
    edges = sorted((f.low, f.high) for f in fields)
    return all(high < low for (_, high), (low, _) in pairwise(edges))
