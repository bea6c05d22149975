"""Pictures of AIPP config files: a picture stage by stage, and one picture read by every standard's matrix.

>>> from ascendlab import read_aipp_config
>>> from ascendlab.pictures import photograph
>>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: RGB888_U8 rbuv_swap_switch: true }")
>>> ax = stage(config.stages(photograph(48, 40))[1])
>>> ax.get_title()
'swap: BGR, 11 to 255'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ascendlab.aipp_config import AippConfig
from ascendlab.aipp_config_stages import Stage
from ascendlab.aipp_config_standards import Reading, compare_standards
from ascendlab.pictures import PATCHES, sized, to_format
from ascendlab.plots._base import axes_at, new_figure
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import INPUT, OUTPUT, PADDING, PICKED, WINDOW, Role
from ascendlab.plots.aipp import to_rgb

__all__ = [
    "VIEWS",
    "AippConfigPicture",
    "Scene",
    "describe",
    "errors",
    "say_pixel",
    "say_ranges",
    "scene_of",
    "stage",
    "stage_colours",
    "stage_title",
]

VIEWS = {"stage by stage": "stages", "which standard?": "standards"}
"""What the picture can show: words and key."""

_STANDARD_NAMES = {
    "jpeg": "JPEG (601 wide)",
    "bt601_narrow": "BT.601 narrow",
    "bt709_narrow": "BT.709 narrow",
    "bt709_wide": "BT.709 wide",
}

_PIECE = 1 << 20  # samples


@dataclass(frozen=True, eq=False)
class Scene:
    """One picture and a config, with the pixel that the reader looks at.

    Parameters
    ----------
    stages : tuple of Stage
        From `AippConfig.stages`.
    readings : tuple of Reading
        From `ascendlab.aipp_config_standards.compare_standards`.
    truth : str
        The standard that the picture was stored by.
    pick : (int, int) or None
        Row and column of the source.
    """

    stages: tuple[Stage, ...]
    readings: tuple[Reading, ...]
    truth: str
    pick: tuple[int, int] | None


def scene_of(
    config: AippConfig, picture: NDArray[np.uint8], view: str = "stages", *, block: int = 0,
    profile: str = "documented", standard: str = "jpeg",
) -> Scene:  # fmt: skip
    """Compute what a config does to a picture.

    Parameters
    ----------
    config : AippConfig
        The file.
    picture : ndarray of uint8, shape (H, W, 3)
        RGB; it gets the size and the format that the file says.
    view : str
        One of `VIEWS`: without "standards" there are no readings.
    block, profile
        As for `AippConfig.stages`.
    standard
        As for `ascendlab.pictures.to_format`.

    Returns
    -------
    Scene
        Without a pixel to look at.

    Examples
    --------
    >>> from ascendlab import read_aipp_config
    >>> config = read_aipp_config("aipp_op { aipp_mode: static input_format: YUV420SP_U8 csc_switch: true }")
    >>> scene_of(config, np.zeros((48, 40, 3), np.uint8)).stages[3].channels
    ('B', 'G', 'R')
    """
    op = config.block(block)
    op.require_static()
    assert op.format is not None
    rgb = sized(picture, op.src_image_size_h, op.src_image_size_w)
    src0, src1 = to_format(rgb, op.format, standard=standard)
    stages = config.stages(src0, src1, block=block, profile=profile)
    readings = compare_standards(standard, sized(picture, 0, 0)) if view == "standards" else ()
    return Scene(stages, readings, standard, None)


def _finite(pixels: NDArray[Any]) -> NDArray[np.float32]:
    """Return the numbers with infinities as the largest ones, and NaN as 0."""
    return np.nan_to_num(pixels.astype(np.float32), posinf=65504, neginf=-65504)


def stage_colours(shown: Stage) -> NDArray[np.uint8]:
    """Return a stage as it is drawn: the first channel as red, the second as green, the third as blue.

    That is how a model that wants RGB takes it, so that B, G, R looks wrong, and YUV looks strange.  Half is
    stretched from its lowest to its highest value.

    Parameters
    ----------
    shown : Stage
        From `AippConfig.stages`.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3) or (H, W)
    """
    pixels = shown.pixels if shown.channels[0] != "X" else shown.pixels[:, :, 1:]
    pixels = pixels[:, :, :3]
    if pixels.dtype != np.uint8:
        # In pieces: on the way a number takes several times the bytes that it has as half.
        rows = max(1, _PIECE // max(1, pixels[0].size))
        pieces = [slice(top, top + rows) for top in range(0, len(pixels), rows)]
        limits = [(float(part.min()), float(part.max())) for part in map(_finite, map(pixels.__getitem__, pieces))]
        low, high = min(low for low, _ in limits), max(high for _, high in limits)
        stretched = np.empty(pixels.shape, np.uint8)
        for piece in pieces:
            stretched[piece] = to_rgb(_finite(pixels[piece]), (low, high if low < high else low + 1))
        pixels = stretched
    return pixels[:, :, 0] if pixels.shape[2] == 1 else pixels


def stage_title(shown: Stage) -> str:
    """Return a stage's name, its channels and its range, in a line."""
    low, high = shown.limits
    off = "" if shown.active else " (off)"
    separator = "" if all(len(name) == 1 for name in shown.channels) else " "
    return f"{shown.name}{off}: {separator.join(shown.channels)}, {low:.3g} to {high:.3g}"


def _marks(shown: Stage, pick: tuple[int, int] | None) -> list[Mark]:
    if pick is None or shown.at(*pick) is None:
        return []
    return [Mark(PICKED, pick[0] - shown.top, pick[1] - shown.left)]


def _border(shown: Stage, inside: Stage) -> dict[Role, NDArray[np.bool_]]:
    """Return where the last stage has its border, around the stage before."""
    border = np.ones(shown.pixels.shape[:2], bool)
    top, left = inside.top - shown.top, inside.left - shown.left
    border[top : top + inside.pixels.shape[0], left : left + inside.pixels.shape[1]] = False
    return {PADDING: border} if border.any() else {}


def stage(
    shown: Stage, *, window: Stage | None = None, pick: tuple[int, int] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the picture after one stage.

    Parameters
    ----------
    shown : Stage
        From `AippConfig.stages`; colours as in `stage_colours`.
    window : Stage, optional
        The stage whose part of this one is outlined: "crop" on the source.
    pick : (int, int), optional
        Row and column of the source to outline.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    rows, columns = shown.pixels.shape[:2]
    if ax is None:
        scale = max(1, 320 // max(rows, columns))
        figure = new_figure(columns * scale + 70, rows * scale + 74)
        ax = axes_at(figure, left=50, top=28, width=columns * scale, height=rows * scale)
    ax.set_title(stage_title(shown))
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    grid = Grid(ax, rows=rows, columns=columns)
    marks = _marks(shown, pick)
    if window is not None:
        marks.append(Mark(WINDOW, window.top - shown.top, window.left - shown.left, *window.pixels.shape[:2]))
    grid.show(rgb=stage_colours(shown), marks=marks)
    return ax


def errors(readings: Sequence[Reading], *, ax: Axes | None = None) -> Axes:
    """Draw the table of errors: a row for each standard's matrix, a column for each colour patch.

    Parameters
    ----------
    readings : sequence of Reading
        From `ascendlab.aipp_config_standards.compare_standards`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
    """
    if ax is None:
        figure = new_figure(8 * 46 + 160, 4 * 40 + 80)
        ax = axes_at(figure, left=140, top=28, width=8 * 46, height=4 * 40)
    ax.set_title("error of each colour patch")
    ax.set_xlabel("patch")
    ax.set_ylabel("matrix")
    _show_errors(Grid(ax, rows=len(readings), columns=len(PATCHES)), readings)
    ax.set_xticks(range(len(PATCHES)), list(PATCHES))
    ax.set_yticks(range(len(readings)), [_STANDARD_NAMES[reading.standard] for reading in readings])
    return ax


def _show_errors(grid: Grid, readings: Sequence[Reading]) -> None:
    table = np.array([reading.errors for reading in readings])
    best = np.zeros(table.shape, bool)
    best[table.sum(axis=1).argmin()] = True
    grid.show(table, areas={INPUT: ~best, OUTPUT: best})


class AippConfigPicture:
    """Draws a `Scene` in one of the `VIEWS`.

    Parameters
    ----------
    width, height : int
        In CSS pixels.
    """

    def __init__(self, width: int = 700, height: int = 520) -> None:
        self.panels = Panels(width, height, count=6)

    def draw(self, view: str, scene: Scene) -> bytes:
        """Return the view as PNG."""
        getattr(self, f"_draw_{view}")(scene)
        return self.panels.png()

    def _draw_stages(self, scene: Scene) -> None:
        last, before = scene.stages[-1], scene.stages[-2]
        border = _border(last, before)
        roles: list[Any] = [WINDOW, *([PICKED] if scene.pick else []), *border]
        layout = [Panel(stage_title(s), *s.pixels.shape[:2]) for s in scene.stages]
        self.panels.arrange(layout, roles, across=3)
        window = scene.stages[2]
        for grid, shown in zip(self.panels.grids, scene.stages, strict=True):
            marks = _marks(shown, scene.pick)
            if shown.name == "source":
                marks.append(Mark(WINDOW, window.top, window.left, *window.pixels.shape[:2]))
            grid.show(rgb=stage_colours(shown), marks=marks, areas=border if shown is last else {})

    def _draw_standards(self, scene: Scene) -> None:
        pictures = [Panel(_STANDARD_NAMES[r.standard], *r.pixels.shape[:2]) for r in scene.readings]
        title = "largest error of red, green, blue; rows: the matrices above, from left to right"
        table = Panel(title, len(scene.readings), len(PATCHES), "matrix", ", ".join(PATCHES))
        width = (self.panels.width - 46) // 4 - 32
        rows, columns = scene.readings[0].pixels.shape[:2]
        high = min(round(width * rows / columns), 230)
        wide = round(high * columns / rows)
        boxes = [(46 + i * (width + 32), 24, wide, high) for i in range(len(pictures))]
        boxes.append((46, 24 + high + 70, 8 * 44, min(4 * 30, self.panels.height - high - 94 - 70)))
        self.panels.place([*pictures, table], boxes, [(OUTPUT, "smallest error"), (INPUT, "other matrices")])
        for grid, reading in zip(self.panels.grids, scene.readings, strict=False):
            grid.show(rgb=reading.pixels)
        _show_errors(self.panels.grids[len(pictures)], scene.readings)


def describe(view: str, scene: Scene) -> str:
    """Say what a view shows, for those who do not see it."""
    if view == "stages":
        stages = "; ".join(stage_title(shown) for shown in scene.stages)
        return f"Six pictures, the first channel drawn as red, the second as green, the third as blue. {stages}." + (
            f" Outlined: {say_pixel(scene.stages, scene.pick)}." if scene.pick is not None else ""
        )
    rows = "; ".join(
        f"{_STANDARD_NAMES[r.standard]} {', '.join(f'{n} {e}' for n, e in zip(PATCHES, r.errors, strict=True))}"
        for r in scene.readings
    )
    return (
        f"A picture that was stored as {_STANDARD_NAMES[scene.truth]}, read by four matrices. Largest error of red, "
        f"green or blue for each colour patch: {rows}."
    )


def say_ranges(stages: Sequence[Stage]) -> str:
    """Say channels and range of every stage that does something, in a line."""
    return "; ".join(stage_title(shown) for shown in stages if shown.active)


def say_pixel(stages: Sequence[Stage], pick: tuple[int, int]) -> str:
    """Follow one pixel of the source through the stages.

    Examples
    --------
    >>> from ascendlab import read_aipp_config
    >>> text = "aipp_op { aipp_mode: static input_format: RGB888_U8 rbuv_swap_switch: true mean_chn_0: 5 }"
    >>> say_pixel(read_aipp_config(text).stages(np.full((2, 2, 3), (10, 20, 30), np.uint8)), (1, 0))
    'pixel (1, 0): source R 10, G 20, B 30; swap B 30, G 20, R 10; dtc B 25, G 20, R 10'
    """
    words: list[str] = []
    for shown in stages:
        samples = shown.at(*pick)
        if samples is None:
            words.append(f"{shown.name}: not in the picture any more" if words else "not in the picture")
            break
        if shown.active:
            pairs = zip(shown.channels, samples, strict=True)
            words.append(f"{shown.name} " + ", ".join(f"{name} {value:.5g}" for name, value in pairs))
    return f"pixel {pick}: " + "; ".join(words)
