"""The AIPP explorer's picture: five views of one call, in one figure that is made once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp import AippPlan, AippSetup, LoadImageToLocalParams
from ascendlab.fields import fields_of
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import CHANNEL_PADDING, INPUT, ORIGIN, PADDING, PICKED, WINDOW, Role
from ascendlab.plots.aipp import (
    NUMBERS_UP_TO,
    differences,
    largest_difference,
    show_difference,
    show_result,
    show_source,
    shown_range,
)
from ascendlab.provenance import Origin

__all__ = ["VIEWS", "AippPicture", "Scene", "describe", "say_origin"]

VIEWS = {
    "source and result": "both",
    "result": "result",
    "source with window": "source",
    "single channels": "channels",
    "profile difference": "difference",
}
"""What the picture can show: words and key."""

# Frames grow in steps, not with every change: those of numbers to so many rows, those of photographs by so many.
_ROOMS = (12, 16, 24, 40, 72)
_BORDERS = (0, 16, 2 * int(fields_of(LoadImageToLocalParams)["top_pad_size"].high or 0))


@dataclass(frozen=True, eq=False)
class Scene:
    """One call and its result, with the element that the reader looks at.

    Parameters
    ----------
    setup, params, plan : AippSetup, LoadImageToLocalParams, AippPlan
        The call.
    array : ndarray, shape (H, W, C)
        Its result.
    rgb : ndarray of uint8
        How the source picture looks.
    channel : int
        The channel of the picked element.
    picked : (int, int) or None
        Its row and column, if it lies inside the result.
    origin : Origin or None
        Where it came from.
    other : ndarray or None
        For the difference: the result by the rules of profile ``dav_3510``.
    """

    setup: AippSetup
    params: LoadImageToLocalParams
    plan: AippPlan
    array: NDArray[Any]
    rgb: NDArray[np.uint8]
    channel: int = 0
    picked: tuple[int, int] | None = None
    origin: Origin | None = None
    other: NDArray[Any] | None = None

    @property
    def numbers(self) -> bool:
        """Whether the source is small enough for numbers in cells."""
        return bool(max(self.setup.src0.shape[:2]) <= NUMBERS_UP_TO)

    @property
    def real(self) -> NDArray[Any]:
        """The channels that hold samples."""
        return self.array[:, :, : self.plan.channels]


class AippPicture:
    """Draws a `Scene` in one of the `VIEWS`.

    Parameters
    ----------
    width, height : int
        In CSS pixels.
    """

    def __init__(self, width: int = 700, height: int = 460) -> None:
        self.panels = Panels(width, height, count=4)

    def draw(self, view: str, scene: Scene) -> bytes:
        """Return the view as PNG.

        Parameters
        ----------
        view : {"both", "result", "source", "channels", "difference"}
            Which view.
        scene : Scene
            What to draw.
        """
        getattr(self, f"_draw_{view}")(scene)
        return self.panels.png()

    def _draw_both(self, scene: Scene) -> None:
        self.panels.arrange([_source_panel(scene), _result_panel(scene)], _roles(scene, WINDOW, ORIGIN))
        _show_source(self.panels, 0, scene)
        _show_result(self.panels, 1, scene)

    def _draw_source(self, scene: Scene) -> None:
        roles = [INPUT, WINDOW, ORIGIN] if scene.numbers else [WINDOW, ORIGIN]
        self.panels.arrange([_source_panel(scene)], roles)
        _show_source(self.panels, 0, scene)

    def _draw_result(self, scene: Scene) -> None:
        self.panels.arrange([_result_panel(scene)], _roles(scene))
        _show_result(self.panels, 0, scene)

    def _draw_channels(self, scene: Scene) -> None:
        rows, columns = _room(scene)
        names = [f"channel {c}" + ("" if c < scene.plan.channels else ", channel padding") for c in range(4)]
        self.panels.arrange([Panel(name, rows, columns) for name in names],
                            [*_roles(scene), CHANNEL_PADDING], across=2, square=not scene.numbers)  # fmt: skip
        limits = shown_range(scene.real)
        for channel in range(4):
            picked = scene.picked if channel == scene.channel else None
            show_result(
                self.panels.grids[channel], scene.array, scene.plan, channel=channel, picked=picked, limits=limits
            )

    def _draw_difference(self, scene: Scene) -> None:
        assert scene.other is not None
        rows, columns = _room(scene)
        channel = scene.channel if scene.numbers else None
        what = f"channel {channel}" if scene.numbers else "colour"
        titles = [f"documented, {what}", f"dav_3510, {what}", "dav_3510 - documented"]
        self.panels.arrange([Panel(title, rows, columns) for title in titles], _roles(scene),
                            across=2 if scene.numbers else 3, square=not scene.numbers)  # fmt: skip
        for grid, array in zip(self.panels.grids, (scene.array, scene.other), strict=False):
            show_result(grid, array, scene.plan, channel=channel, picked=scene.picked)
        depth = scene.array.shape[2] if scene.numbers else scene.plan.channels
        show_difference(self.panels.grids[2], scene.array[:, :, :depth], scene.other[:, :, :depth], channel=channel)


def _roles(scene: Scene, *more: Role) -> list[Role]:
    """Legend entries for a view of the result."""
    area = CHANNEL_PADDING if scene.numbers and scene.channel >= scene.plan.channels else INPUT
    return [*([area] if scene.numbers else []), PADDING, *more, PICKED]


def _room(scene: Scene) -> tuple[int, int]:
    """Rows and columns that the result's frame has room for: at least the result, in coarse steps."""
    height, width = scene.plan.shape[:2]
    if scene.numbers:
        side = next(room for room in _ROOMS if max(height, width) <= room)
        return side, side
    rows, columns = scene.setup.src0.shape[:2]
    more = next(border for border in _BORDERS if max(height - rows, width - columns) <= border)
    return rows + more, columns + more


def _source_panel(scene: Scene) -> Panel:
    height, width = scene.setup.src0.shape[:2]
    if not scene.numbers:
        return Panel("source", height, width)
    sample = _sample(scene)
    return Panel(f"source, {sample.name} samples (src{sample.operand})", height, width)


def _sample(scene: Scene) -> Any:
    samples = scene.setup.conversion.samples
    return samples[min(scene.channel, len(samples) - 1)]


def _result_panel(scene: Scene) -> Panel:
    return Panel(f"result, channel {scene.channel}" if scene.numbers else "result", *_room(scene))


def _show_source(panels: Panels, place: int, scene: Scene) -> None:
    show_source(
        panels.grids[place], scene.setup, scene.params, rgb=scene.rgb, channel=scene.channel, origin=scene.origin
    )


def _show_result(panels: Panels, place: int, scene: Scene) -> None:
    channel = scene.channel if scene.numbers else None
    show_result(panels.grids[place], scene.array, scene.plan, channel=channel, picked=scene.picked)


def describe(view: str, scene: Scene) -> str:
    """Say in words what a view shows.

    Parameters
    ----------
    view : str
        One of the keys in `VIEWS`.
    scene : Scene
        What is drawn.

    Returns
    -------
    str
        Two or three sentences with the numbers that matter, for those who do not see the picture.
    """
    height, width, depth = scene.plan.shape
    rows, columns = scene.setup.src0.shape[:2]
    window = (
        f"Source picture of {rows} rows and {columns} columns in {scene.setup.input_format.name}, with a window of "
        f"{scene.plan.height} x {scene.plan.width} at row {scene.params.vert_start_pos}, "
        f"column {scene.params.horiz_start_pos}."
    )
    padding = scene.setup.config.padding_params
    choices = fields_of(type(padding))["padding_mode"].choices or {}
    sides = [
        f"{size} at the {name}"
        for name, size in (
            # By the plan: not every border that is asked for is made.
            ("top", scene.plan.top),
            ("bottom", height - scene.plan.top - scene.plan.height),
            ("left", scene.plan.left),
            ("right", width - scene.plan.left - scene.plan.width),
        )
        if size
    ]
    border = f"with a border by {choices[padding.padding_mode]}: {', '.join(sides)}" if sides else "without a border"
    colours = ", colours converted" if scene.setup.config.csc_params.is_enable_csc else ""
    made = f"Result of {height} x {width} pixels and {depth} channels of {scene.setup.dtype}{colours}, {border}."
    parts = {"both": [window, made], "source": [window], "result": [made], "channels": [made]}.get(view, [])
    if view == "channels":
        parts = [*parts, f"Channels 0 to 3 one by one; {scene.plan.channels} of them hold samples."]
    if view == "difference" and scene.other is not None:
        change = differences(scene.real, scene.other[:, :, : scene.plan.channels])
        beyond = int(change.size - np.isfinite(change).sum())
        more = f"; {beyond} of {change.size} values are infinitely far apart or a number in one of them only"
        parts = [
            "The same call by the manual's rules and by the open kernel's, and their difference, "
            f"{largest_difference(change):g} at most{more if beyond else ''}."
        ]
    if scene.picked is not None and view != "source":
        y, x = scene.picked
        parts = [*parts, f"Outlined: element ({y}, {x}, {scene.channel}) = {scene.array[y, x, scene.channel]:g}."]
    return " ".join(parts)


def say_origin(scene: Scene) -> str:
    """Say in words where the picked element came from, with the samples that it was made of."""
    if scene.picked is None or scene.origin is None:
        return "no element picked"
    place = (*scene.picked, scene.channel)
    sources = {"src0": scene.setup.src0, "src1": scene.setup.src1}
    values = [sources[term.operand][term.index] for term in scene.origin.terms]  # type: ignore[index]
    made_of = f", which is {values[0]}" if len(values) == 1 else ""
    if len(values) > 1:
        made_of = f"; these samples are {', '.join(map(str, values))}"
    return f"element {place} = {scene.array[place]:g}: {scene.origin}{made_of}"
