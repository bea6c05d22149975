"""Pictures of the C API's core: its memories, registers, pipes and bytes after any step, and what an output is made of.

>>> from ascendlab.capi.conv2d_example import run
>>> launched, output = run()
>>> memory_map(launched.cores[0], "L0A", step=11).get_title()
'L0A after step 11: fmap_l0 14,400 of 18,432 bytes by step 11'
>>> show("memory", Scene(launched.cores[0], 11))  # doctest: +ELLIPSIS
<picture: Memories after step 11 of 37, PIPE_MTE1: asc_copy_l12l0a(fmap_l0, fmap_l1, ...) reads 1,600 bytes ...>
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from ascendlab.capi.core import AICore
from ascendlab.errors import ParameterError
from ascendlab.plots._base import TEXT_POINTS, LiveFigure, PictureHTML, Stamps, axes_at, legend, new_figure
from ascendlab.plots._capi_machine import (
    ACROSS,
    LANES,
    MEMORY_ROLES,
    MOVED_ROLES,
    SLOTS,
    TIMELINE_ROLES,
    Bars,
    MemoryStrip,
    WaitLines,
    memory_strip,
    pipe_slots,
    show_memory,
    show_pipes,
    strip_rows,
)
from ascendlab.plots._capi_registers import RegisterFile, register_rows
from ascendlab.plots._capi_scene import BUFFERS, VIEWS, Convolution, Scene, say_arrays, say_origin, say_step
from ascendlab.plots._frames import frames
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._panels import Panel, Panels
from ascendlab.plots._roles import INPUT, ORIGIN, OUTPUT, PADDING, PICKED, WINDOW, Role

__all__ = [
    "VIEWS",
    "CapiPicture",
    "Convolution",
    "Scene",
    "bytes_moved",
    "describe",
    "memory_map",
    "say_origin",
    "say_step",
    "show",
    "timeline",
]

_DIFFERENT = Role("different", "#D55E00", hatch="x")
_ORIGIN_ROLES = (INPUT, PADDING, WINDOW, ORIGIN, OUTPUT, PICKED)


def _memory_title(scene: Scene, buffer: str, unit: int) -> str:
    # The same for all steps, so that stepping through a kernel redraws cells and nothing else.
    memory = scene.core.buffer(buffer)
    arrays = ", ".join(f"{a.name} {a.size:,}" for a in memory.allocations) or "nothing declared"
    share = f"{100 * memory.used / memory.size:.1f} % of {memory.size:,} bytes"
    return f"{buffer}: {arrays}; {share}; a cell is {unit}"


def memory_map(core: AICore, buffer: str, *, step: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw what lies where in a memory after a step: who wrote it last, what was never written, what is poisoned.

    Parameters
    ----------
    core : AICore
        With its log.
    buffer : {"L1", "L0A", "L0B", "L0C"}
        Which memory.
    step : int, optional
        The last step that counts; all by default.
    ax : Axes, optional
        Where to draw, from `ascendlab.plots.frames`.
    """
    scene = Scene(core, step)
    strip = memory_strip(scene, buffer)
    ax = ax or frames([(strip_rows(strip), ACROSS)], roles=MEMORY_ROLES)[1][0]
    ax.set_title(f"{buffer} after step {scene.step}: {say_arrays(scene, buffer)}", fontsize=TEXT_POINTS + 1)
    ax.set_xlabel(f"cell of {strip.unit} bytes; in it the step that wrote it last")
    ax.set_ylabel(f"{ACROSS} cells")
    show_memory(Grid(ax, rows=strip_rows(strip), columns=ACROSS), strip)
    return ax


def timeline(core: AICore, *, step: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw which pipe works on which step when, as early as order and flags allow, and who waits for whom.

    Parameters
    ----------
    core, step
        As for `memory_map`.
    ax : Axes, optional
        Where to draw, with room for 5 x 40 cells.
    """
    scene = Scene(core, step)
    slots = pipe_slots(scene)
    ax = ax or frames([(len(LANES), SLOTS)], roles=TIMELINE_ROLES, cell=19)[1][0]
    ax.set_title(f"Pipes up to step {scene.step}, from slot {slots.first} on")
    ax.set_xlabel("slot: one for each call that moves, computes or sets a register; no measurement of time")
    ax.set_ylabel("pipe")
    show_pipes(Grid(ax, rows=len(LANES), columns=SLOTS), slots, scene.step)
    WaitLines(ax).show(slots, scene.step)
    ax.set_yticks(range(len(LANES)), [lane.name for lane in LANES])
    return ax


def bytes_moved(core: AICore, *, step: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how many bytes each step read and wrote, each byte counted once, on a logarithmic scale.

    Parameters
    ----------
    core, step, ax
        As for `memory_map`; `ax` may be any Axes.
    """
    scene = Scene(core, step)
    if ax is None:
        figure = new_figure(760, 320)
        ax = axes_at(figure, left=64, top=30, width=680, height=210)
        legend(figure, MOVED_ROLES, left=12, top=294)
    ax.set_title(f"Bytes moved up to step {scene.step}")
    bars = Bars(ax)
    bars.set_room(scene)
    bars.show(scene)
    return ax


class CapiPicture:
    """Draws a `Scene` in one of the `VIEWS`, again and again.

    Parameters
    ----------
    width, height : int
        In CSS pixels; less than 760 x 470 is too little for the registers.
    """

    def __init__(self, width: int = 760, height: int = 470) -> None:
        self.width, self.height = width, height
        self._panels: Panels | None = None
        # The strips that the panels' grids show; other views clear it.
        self._shown: dict[int, MemoryStrip] = {}
        self._registers: tuple[RegisterFile, LiveFigure] | None = None
        self._pipes: tuple[Grid, WaitLines, Stamps, LiveFigure] | None = None
        self._bars: tuple[Bars, LiveFigure] | None = None

    def draw(self, view: str, scene: Scene) -> bytes:
        """Return a view as PNG.

        Raises
        ------
        ParameterError
            For a view that there is not, and for a `Scene` where a `Convolution` is needed.
        """
        _check_view(view, scene)
        drawing: dict[str, Callable[[Scene], bytes]] = {
            "memory": self._draw_memory, "registers": self._draw_registers, "timeline": self._draw_timeline,
            "bytes": self._draw_bytes,
        }  # fmt: skip
        if view in drawing:
            return drawing[view](scene)
        assert isinstance(scene, Convolution)
        self._shown.clear()
        return self._draw_origin(scene) if view == "origin" else self._draw_output(scene)

    @property
    def panels(self) -> Panels:
        """The grids of the views that are made of grids alone."""
        if self._panels is None:
            self._panels = Panels(self.width, self.height, count=len(BUFFERS))
        return self._panels

    def _draw_memory(self, scene: Scene) -> bytes:
        strips = {buffer: memory_strip(scene, buffer) for buffer in BUFFERS}
        self.panels.arrange(
            [
                Panel(_memory_title(scene, name, strip.unit), strip_rows(strip), ACROSS, "row", "cell")
                for name, strip in strips.items()
            ],
            MEMORY_ROLES, across=1, square=False,
        )  # fmt: skip
        for number, (grid, strip) in enumerate(zip(self.panels.grids, strips.values(), strict=True)):
            if not strip.same(self._shown.get(number)):
                show_memory(grid, strip)
                self._shown[number] = strip
        return self.panels.png()

    def _draw_registers(self, scene: Scene) -> bytes:
        if self._registers is None:
            figure = new_figure(self.width, self.height)
            made = RegisterFile(figure, len(scene.core.register_types))
            self._registers = made, LiveFigure(figure, made.artists)
        registers, live = self._registers
        registers.show(register_rows(scene))
        return live.png()

    def _draw_timeline(self, scene: Scene) -> bytes:
        if self._pipes is None:
            self._pipes = self._new_timeline()
        grid, waits, words, live = self._pipes
        slots = pipe_slots(scene)
        show_pipes(grid, slots, scene.step)
        waits.show(slots, scene.step)
        words.images.clear()
        top = _PIPES_TOP + len(LANES) * _PIPES_CELL
        for slot in range(0, SLOTS, 5):
            x = _PIPES_LEFT + int((slot + 0.5) * (self.width - _PIPES_LEFT - 14) / SLOTS)
            words.write(str(slots.first + slot), x, top + 12, anchor="middle")
        for number, line in enumerate(_log_lines(scene)):
            words.write(line, 26, top + 62 + number * 17)
            if line.startswith(f"{scene.step} "):
                words.write(">", 12, top + 62 + number * 17)
        return live.png()

    def _new_timeline(self) -> tuple[Grid, WaitLines, Stamps, LiveFigure]:
        figure = new_figure(self.width, self.height)
        ax = axes_at(
            figure, left=_PIPES_LEFT, top=_PIPES_TOP, width=self.width - _PIPES_LEFT - 14,
            height=len(LANES) * _PIPES_CELL,
        )  # fmt: skip
        ax.set_axis_off()
        grid = Grid(ax, rows=len(LANES), columns=SLOTS)
        waits = WaitLines(ax)
        still, words = Stamps(), Stamps()
        figure.add_artist(still)
        figure.add_artist(words)
        still.write("Pipes: in each slot the step that runs there", _PIPES_LEFT, 12, points=TEXT_POINTS + 1)
        for number, lane in enumerate(LANES):
            y = _PIPES_TOP + number * _PIPES_CELL + _PIPES_CELL // 2
            still.write(lane.name, _PIPES_LEFT - 6, y, anchor="right")
        bottom = _PIPES_TOP + len(LANES) * _PIPES_CELL
        still.write("slot: one for each call that moves, computes or sets a register; no measurement of time",
                    self.width // 2, bottom + 28, anchor="middle")  # fmt: skip
        legend(figure, TIMELINE_ROLES, left=12, top=self.height - 22, stamps=still)
        return grid, waits, words, LiveFigure(figure, [*grid.artists, *waits.artists, words])

    def _draw_bytes(self, scene: Scene) -> bytes:
        if self._bars is None:
            figure = new_figure(self.width, self.height)
            ax = axes_at(figure, left=64, top=30, width=self.width - 80, height=self.height - 110)
            ax.set_title("Bytes moved by each step, each byte counted once", fontsize=TEXT_POINTS + 1)
            legend(figure, MOVED_ROLES, left=12, top=self.height - 24)
            bars = Bars(ax)
            self._bars = bars, LiveFigure(figure, bars.artists)
        bars, live = self._bars
        bars.set_room(scene)
        bars.show(scene)
        return live.png((*bars.ax.get_xlim(), *bars.ax.get_ylim()))

    def _draw_origin(self, scene: Convolution) -> bytes:
        padded, taps, output = scene.padded, scene.taps, scene.output[:, :, scene.pick.filter]
        panels = [
            Panel(f"fmap[{scene.block}], channel {scene.channel}", *padded.shape),
            # The channel stands over the map; a filter is too narrow for more than its name.
            Panel("weight", *taps.shape),
            Panel(f"output, filter {scene.pick.filter}", *output.shape),
        ]
        self.panels.arrange(panels, _ORIGIN_ROLES)
        s, (rows, columns) = scene.shape, scene.window
        window = [Mark(WINDOW, int(y), int(x)) for y in rows for x in columns]
        own = [product for product in scene.products if product.tap[2] == scene.channel]
        samples = [Mark(ORIGIN, p.sample[0] + s.PAD_TOP, p.sample[1] + s.PAD_LEFT) for p in own if p.sample]
        real = ~scene.border
        source, filter_, result = self.panels.grids[:3]
        source.show(padded, areas={INPUT: real, PADDING: scene.border}, marks=[*window, *samples])
        filter_.show(taps, areas={INPUT: np.ones(taps.shape, bool)}, marks=[Mark(ORIGIN, *p.tap[:2]) for p in own])
        picked = [Mark(PICKED, scene.pick.row, scene.pick.column)]
        result.show(output, areas={OUTPUT: np.ones(output.shape, bool)}, marks=picked)
        return self.panels.png()

    def _draw_output(self, scene: Convolution) -> bytes:
        number = scene.pick.filter
        output, golden = scene.output[:, :, number], scene.golden[:, :, number]
        panels = [Panel(f"{name}, filter {number}", *output.shape) for name in ("output", "golden", "output - golden")]
        self.panels.arrange(panels, (OUTPUT, _DIFFERENT, PICKED))
        difference = output.astype(np.float32) - golden.astype(np.float32)
        whole, wrong = np.ones(output.shape, bool), np.abs(difference) > 1e-3
        marks = [Mark(PICKED, scene.pick.row, scene.pick.column)]
        for grid, values in zip(self.panels.grids, (output, golden, difference), strict=False):
            areas = {OUTPUT: whole} if values is golden or not wrong.any() else {OUTPUT: ~wrong, _DIFFERENT: wrong}
            grid.show(values, areas=areas, marks=marks)
        return self.panels.png()


_PIPES_LEFT, _PIPES_TOP, _PIPES_CELL = 52, 26, 26
_LOG_LINES = 11


def _log_lines(scene: Scene) -> list[str]:
    """Return the lines of the log around the scene's step."""
    steps = scene.core.steps
    first = max(0, min(scene.step - _LOG_LINES // 2 - 1, len(steps) - _LOG_LINES))
    return [str(s).strip() for s in steps[first : first + _LOG_LINES]]


def _check_view(view: str, scene: Scene) -> None:
    if view not in VIEWS.values():
        raise ParameterError("view", view, "one of " + ", ".join(VIEWS.values()))
    if not isinstance(scene, Scene):
        raise ParameterError("scene", scene, "a Scene or a Convolution")
    if view in ("origin", "output") and not isinstance(scene, Convolution):
        raise ParameterError("scene", scene, f"a Convolution: the view {view} shows its arrays")


def show(view: str, scene: Scene, *, width: int = 760, height: int = 470) -> PictureHTML:
    """Return a view for the last line of a notebook cell, with its description as alt text.

    Parameters
    ----------
    view : str
        One of the values of `VIEWS`.
    scene : Scene or Convolution
        What to show.
    width, height : int, optional
        In CSS pixels.
    """
    return PictureHTML(CapiPicture(width, height).draw(view, scene), describe(view, scene), width, height)


def describe(view: str, scene: Scene) -> str:
    """Say in words what a view shows, with the numbers that matter.

    Parameters
    ----------
    view : str
        One of the values of `VIEWS`.
    scene : Scene or Convolution
        What is drawn.
    """
    _check_view(view, scene)
    after = f"after {say_step(scene)}."
    if view == "memory":
        return " ".join([f"Memories {after}", *(f"{name}: {say_arrays(scene, name)}." for name in BUFFERS)])
    if view == "registers":
        words = "; ".join(
            row.title if row.word is None
            else row.title + ": " + ", ".join(f"{f.name}={f.value}" for f in row.fields)
            for row in register_rows(scene)
        )  # fmt: skip
        return f"Registers {after} {words}."
    if view == "timeline":
        slots = pipe_slots(scene)
        waits = "; ".join(f"step {b} waits for step {a}" for a, b in slots.wait_steps)
        lanes = ", ".join(f"{lane.name} {int((row > 0).sum())}" for lane, row in zip(LANES, slots.steps, strict=True))
        return f"Pipes {after} Slots in use from slot {slots.first} on: {lanes}. {waits or 'Nobody waits'}."
    if view == "bytes":
        done = scene.core.steps[: scene.step]
        read, written = sum(s.bytes_read for s in done), sum(s.bytes_written for s in done)
        return f"Bytes moved {after} In all {read:,} read and {written:,} written by {scene.step} steps."
    assert isinstance(scene, Convolution)
    if view == "origin":
        rows, columns = scene.window
        inside = sum(p.sample is not None for p in scene.products if p.tap[2] == scene.channel)
        return (
            f"Where an output element came from {after} {say_origin(scene)}. Outlined: rows {_listed(rows)} and "
            f"columns {_listed(columns)} of the padded map, {inside} of their points inside the map."
        )
    return (
        f"Output and golden {after} {scene.mismatches} of {scene.output.size} elements differ by more than 0.001; "
        f"filter {scene.pick.filter} is shown, element ({scene.pick.row}, {scene.pick.column}) is outlined."
    )


def _listed(numbers: np.ndarray) -> str:
    return ", ".join(str(int(number)) for number in numbers)
