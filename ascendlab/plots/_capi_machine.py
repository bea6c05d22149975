"""What a core looks like after a step: its memories, its registers, its pipes, its bytes, drawn on grids and Axes.

>>> from ascendlab.capi.conv2d_example import run
>>> core = run()[0].cores[0]
>>> strip = memory_strip(Scene(core, 11), "L0A")
>>> strip.unit, strip.step[:2].tolist()
(256, [11, 11])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from numpy.typing import NDArray

from ascendlab.capi.steps import Step, timeline
from ascendlab.capi.sync import Pipe
from ascendlab.dtypes import DATA_BLOCK_BYTES
from ascendlab.plots._capi_scene import Scene, ranges_of
from ascendlab.plots._grid import Grid, Mark
from ascendlab.plots._roles import INPUT, MASKED, OUTPUT, WINDOW, Role

__all__ = [
    "ACROSS",
    "DONE",
    "LANES",
    "LATER",
    "MEMORY_ROLES",
    "MOVED_ROLES",
    "NEVER",
    "NOW",
    "POISON",
    "READ",
    "SLOTS",
    "TIMELINE_ROLES",
    "WAIT",
    "WRITTEN",
    "Bars",
    "MemoryStrip",
    "PipeSlots",
    "WaitLines",
    "memory_strip",
    "pipe_slots",
    "show_memory",
    "show_pipes",
    "strip_rows",
]

ACROSS = 32
"""Cells in one row of a memory's strip."""

_MOST_ROWS = 4
SLOTS = 40
"""Slots that a timeline shows at a time."""

LANES = (Pipe.S, Pipe.MTE2, Pipe.MTE1, Pipe.M, Pipe.FIX)
"""The pipes of a matrix core, from top to bottom."""

# The same roles as everywhere, under the names that fit here.
WRITTEN = replace(OUTPUT, name="written")
READ = replace(INPUT, name="read by this step")
NOW = replace(WINDOW, name="written by this step")
NEVER = replace(MASKED, name="never written")
POISON = Role("poisoned", "#000000", hatch="\\")
DONE = replace(OUTPUT, name="done")
LATER = replace(MASKED, name="later", hatch="")
THIS = replace(WINDOW, name="this step")
WAIT = Role("notify to wait", "#D55E00", width=2.0)
MEMORY_ROLES = (WRITTEN, READ, NOW, NEVER, POISON)
TIMELINE_ROLES = (DONE, THIS, LATER, WAIT)
MOVED_ROLES = (replace(INPUT, name="bytes read"), replace(OUTPUT, name="bytes written"), THIS)


# Memory


@dataclass(frozen=True, eq=False)
class MemoryStrip:
    """A memory in cells of equal size, as far as something is declared or written there.

    Parameters
    ----------
    unit : int
        Bytes of a cell.
    step : ndarray of int32
        The last step that wrote into each cell; 0 for none.
    areas : mapping of Role to ndarray of bool
        What each cell is; the last one that holds counts.
    """

    unit: int
    step: NDArray[np.int32]
    areas: Mapping[Role, NDArray[np.bool_]]

    def same(self, other: MemoryStrip | None) -> bool:
        """Whether a picture of the other one is a picture of this one."""
        return (
            other is not None
            and np.array_equal(self.step, other.step)
            and all(np.array_equal(mask, other.areas[role]) for role, mask in self.areas.items())
        )


def memory_strip(scene: Scene, buffer: str) -> MemoryStrip:
    """Cut a memory into at most 128 cells of 32, 64, 128 ... bytes.

    A cell is never written if one of its bytes is, and poisoned if a step moved a byte there that nobody had written.

    Parameters
    ----------
    scene : Scene
        A core after a step.
    buffer : str
        ``"L1"``, ``"L0A"``, ``"L0B"`` or ``"L0C"``.
    """
    memory = scene.core.buffer(buffer)
    marks = scene.state.writer(memory)
    written = np.flatnonzero(marks)
    end = max(memory.used, int(written[-1]) + 1 if written.size else 0, 1)
    unit = DATA_BLOCK_BYTES
    while unit * ACROSS * _MOST_ROWS < end:
        unit *= 2
    cells = -(-end // unit)
    bytes_ = np.zeros((cells, unit), np.int32)
    part = marks[: cells * unit]
    bytes_.reshape(-1)[: part.size] = part
    declared = np.zeros((cells, unit), bool)
    for allocation in memory.allocations:
        declared.reshape(-1)[allocation.start : allocation.stop] = True
    step = scene.current
    read = _touched(ranges_of(step.reads, buffer) if step else np.zeros((0, 2), np.int64), cells, unit)
    return MemoryStrip(
        unit,
        np.abs(bytes_).max(axis=1),
        {
            WRITTEN: _any(bytes_ > 0),
            READ: read,
            NEVER: _any(declared & (bytes_ == 0)),
            POISON: _any(bytes_ < 0),
            NOW: _any((np.abs(bytes_) == scene.step) & bool(scene.step)),
        },
    )


def _any(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say of each cell whether one of its bytes is so."""
    return np.asarray(flags.any(axis=1))


def _touched(ranges: NDArray[np.int64], cells: int, unit: int) -> NDArray[np.bool_]:
    """Say of each cell whether a byte of it lies in one of the ranges."""
    edges = np.zeros(cells + 1, np.int64)
    inside = ranges[ranges[:, 0] < cells * unit]
    np.add.at(edges, inside[:, 0] // unit, 1)
    np.add.at(edges, np.minimum((inside[:, 1] - 1) // unit + 1, cells), -1)
    return np.asarray(edges.cumsum()[:-1] > 0)


def strip_rows(strip: MemoryStrip) -> int:
    """Return how many rows of `ACROSS` cells a strip takes."""
    return -(-strip.step.size // ACROSS)


def show_memory(grid: Grid, strip: MemoryStrip) -> None:
    """Draw a memory's strip; each cell says which step wrote it last."""
    rows = strip_rows(strip)

    def folded(values: NDArray[Any]) -> NDArray[Any]:
        whole = np.zeros(rows * ACROSS, values.dtype)
        whole[: values.size] = values
        return whole.reshape(rows, ACROSS)

    numbers = folded(strip.step)
    areas = {role: folded(mask) for role, mask in strip.areas.items()}
    grid.show(np.ma.masked_equal(numbers, 0), areas={role: mask for role, mask in areas.items() if mask.any()})


# Pipes


@dataclass(frozen=True, eq=False)
class PipeSlots:
    """When each pipe works on what, in slots: a call that moves, computes or sets a register takes one.

    Parameters
    ----------
    first : int
        Number of the first slot that is shown.
    steps : ndarray of int64, shape (lanes, slots)
        The step in each slot; 0 for none.
    waits : ndarray of float64, shape (n, 2, 2)
        For each flag the points (slot, lane) where it is set and waited for, in cells of what is shown.
    wait_steps : ndarray of int64, shape (n, 2)
        The steps that set it and wait for it.
    barriers : ndarray of float64, shape (n,)
        Slots at which everybody waits for everybody.
    barrier_steps : ndarray of int64, shape (n,)
        The steps that make them.
    """

    first: int
    steps: NDArray[np.int64]
    waits: NDArray[np.float64]
    wait_steps: NDArray[np.int64]
    barriers: NDArray[np.float64]
    barrier_steps: NDArray[np.int64]


def _slots_of(step: Step) -> float:
    return 0.0 if step.call.startswith("asc_sync") else 1.0


def pipe_slots(scene: Scene) -> PipeSlots:
    """Place a core's steps on its pipes as early as order and flags allow; the page around the scene's step.

    The documents have no cycle counts: every call that is no synchronisation takes one slot here.
    """
    steps = scene.core.steps
    line = timeline(steps, _slots_of)
    lanes = np.array([LANES.index(lane) if lane in LANES else -1 for lane in line.lane], np.intp)
    start = line.start.astype(np.int64)
    here = int(start[scene.step - 1]) if scene.step else 0
    first = here // SLOTS * SLOTS
    table = np.zeros((len(LANES), SLOTS), np.int64)
    shown = (line.stop > line.start) & (lanes >= 0) & (start >= first) & (start < first + SLOTS)
    table[lanes[shown], start[shown] - first] = line.step[shown]
    notify, wait = line.edges[:, 0] - 1, line.edges[:, 1] - 1
    ends = np.stack([np.stack([line.stop[i] - 0.5 - first, lanes[i]], axis=-1) for i in (notify, wait)], axis=1)
    everybody = np.array([lane is Pipe.ALL for lane in line.lane], bool)
    return PipeSlots(first, table, ends, line.edges, line.start[everybody] - 0.5 - first, line.step[everybody])


def show_pipes(grid: Grid, slots: PipeSlots, step: int) -> None:
    """Draw the pipes' slots; each cell says which step runs there."""
    busy = slots.steps > 0
    now = slots.steps == step
    marks = [Mark(THIS, int(y), int(x)) for y, x in zip(*np.nonzero(busy & now), strict=True)]
    areas = {DONE: busy & (slots.steps <= step), LATER: busy & (slots.steps > step)}
    grid.show(np.ma.masked_equal(slots.steps, 0), areas=areas, marks=marks)


class WaitLines:
    """Arrows from the pipes that set flags to the pipes that wait for them, and lines where everybody waits.

    Parameters
    ----------
    ax : Axes
        Of a grid of `LANES` x `SLOTS` cells.
    """

    def __init__(self, ax: Axes) -> None:
        self._lines = LineCollection([], zorder=5, colors=WAIT.color, linewidths=WAIT.width)
        ax.add_collection(self._lines, autolim=False)
        self.artists: list[Artist] = [self._lines]

    def show(self, slots: PipeSlots, step: int) -> None:
        """Draw the flags; those of the given step thicker."""
        segments: list[NDArray[np.float64]] = []
        widths: list[float] = []
        for (tail, head), numbers in zip(slots.waits, slots.wait_steps, strict=True):
            up = np.sign(head[1] - tail[1])
            a, b = tail, head - [0, 0.1 * up]
            tip = b + np.array([[-0.22, -0.22 * up], [0, 0], [0.22, -0.22 * up]])
            width = WAIT.width * (2.0 if step in numbers else 1.0)
            segments += [np.array([a, b]), tip]
            widths += [width, width]
        for at, number in zip(slots.barriers, slots.barrier_steps, strict=True):
            segments.append(np.array([[at, -0.5], [at, len(LANES) - 0.5]]))
            widths.append(WAIT.width * (2.0 if step == number else 1.0))
        self._lines.set_segments(segments)
        self._lines.set_linewidth(widths or [1.0])


# Bytes


class Bars:
    """Two bars for each step that moves something: bytes read, bytes written, on a scale of powers of ten.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        ax.set_yscale("log")
        ax.set_xlabel("step")
        ax.set_ylabel("bytes")
        ax.grid(axis="y", color="#dddddd")
        ax.set_axisbelow(True)
        read, written, now = MOVED_ROLES
        self._now = PolyCollection(
            [], facecolors="none", edgecolors=now.color, linewidths=now.width, linestyles="--", zorder=4
        )
        self._read = PolyCollection([], facecolors=read.color, zorder=3)
        self._written = PolyCollection([], facecolors=written.color, hatch="//", edgecolors="white", zorder=3)
        for collection in (self._read, self._written, self._now):
            ax.add_collection(collection, autolim=False)
        self.artists: list[Artist] = [self._read, self._written, self._now]

    def set_room(self, scene: Scene) -> None:
        """Fit the Axes to a core's log."""
        steps = scene.core.steps
        most = max((max(s.bytes_read, s.bytes_written) for s in steps), default=1)
        self.ax.set_xlim(0, len(steps) + 1)
        self.ax.set_ylim(10, max(100, 10 ** np.ceil(np.log10(max(most, 1) * 1.2))))

    def show(self, scene: Scene) -> None:
        """Draw the bars; steps after the scene's are left out."""
        low, high = self.ax.get_ylim()
        done = [s for s in scene.core.steps[: scene.step] if s.writes]
        numbers = np.array([s.number for s in done], np.float64)
        for collection, heights, left in (
            (self._read, [s.bytes_read for s in done], -0.4), (self._written, [s.bytes_written for s in done], 0.0),
        ):  # fmt: skip
            collection.set_verts(_boxes(numbers + left, low, 0.4, np.array(heights, np.float64)))
        here = np.array([scene.step], np.float64) if scene.step else np.zeros(0)
        self._now.set_verts(_boxes(here - 0.5, low, 1.0, np.full(here.size, high)))


def _boxes(
    left: NDArray[np.float64], bottom: float, width: float, top: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return rectangles as polygons."""
    x = np.stack([left, left + width, left + width, left], axis=-1)
    y = np.stack([np.full_like(top, bottom), np.full_like(top, bottom), top, top], axis=-1)
    return list(np.stack([x, y], axis=-1))
