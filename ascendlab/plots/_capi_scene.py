"""A core after some step, and an element of a convolution that it made: what is looked at, and both in words.

>>> from ascendlab.capi.conv2d_example import run
>>> launched, output = run()
>>> print(say_step(Scene(launched.cores[0], 11)))
step 11 of 37, PIPE_MTE1: asc_copy_l12l0a(fmap_l0, fmap_l1, ...) reads 1,600 bytes of fmap_l1 (L1), writes 14,400 \
bytes of fmap_l0 (L0A)
>>> print(say_origin(Convolution(launched, row=2, column=3, filter=5)))  # doctest: +ELLIPSIS
output[0, 2, 3, 5] = 20: the sum of 288 products, in float32, rounded to half once. In channel 0: fmap[0, 2, 4, 0] * ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.conv2d_example import C0, EXAMPLE, Conv2dShape, compare
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch
from ascendlab.capi.memory import Allocation
from ascendlab.capi.snapshots import Snapshot
from ascendlab.capi.steps import Access, Step
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int
from ascendlab.provenance import Origin, trace

__all__ = [
    "BUFFERS",
    "VIEWS",
    "Convolution",
    "Scene",
    "Tap",
    "ranges_of",
    "say_arrays",
    "say_origin",
    "say_step",
    "writers_of",
]

VIEWS = {
    "memory: who wrote what": "memory",
    "registers and their bits": "registers",
    "pipes and what they wait for": "timeline",
    "bytes moved, step by step": "bytes",
    "an output element's origin": "origin",
    "output and golden": "output",
}
"""What can be shown, by its words; the last two need a `Convolution`."""

BUFFERS = ("L1", "L0A", "L0B", "L0C")

_MOST_TERMS = 4


class Scene:
    """A core as it was after a step.

    Parameters
    ----------
    core : AICore
        With its log.
    step : int, optional
        The last step that counts: 0 is the beginning, None the end.

    Raises
    ------
    ParameterError
        For a step that there is not.
    """

    def __init__(self, core: AICore, step: int | None = None) -> None:
        if not isinstance(core, AICore):
            raise ParameterError("core", core, "an AICore, for instance launched.cores[0]")
        self.core = core
        self.step = check_int("step", len(core.steps) if step is None else step, 0, len(core.steps))

    @cached_property
    def state(self) -> Snapshot:
        """Memories and registers at that time."""
        return self.core.at(self.step)

    @property
    def current(self) -> Step | None:
        """The step itself; None at the beginning."""
        return self.core.steps[self.step - 1] if self.step else None


class Tap(NamedTuple):
    """One product of a convolution's sum.

    Parameters
    ----------
    sample : (int, int, int) or None
        Row, column and channel in the feature map; None for padding.
    tap : (int, int, int)
        Row, column and channel in the filter.
    """

    sample: tuple[int, int, int] | None
    tap: tuple[int, int, int]


@dataclass(frozen=True)
class _Pick:
    """The element of the output that is looked at."""

    block: int
    row: int
    column: int
    filter: int

    @property
    def index(self) -> tuple[int, int, int, int]:
        return self.block, self.row, self.column, self.filter


class Convolution(Scene):
    """A launch of the document's conv2d kernel, one of its cores after a step, and an element of the output.

    Parameters
    ----------
    launched : Launch
        Of `ascendlab.capi.conv2d_example.conv2d_forward_capi`, with recorded cores.
    shape : Conv2dShape
        The constants it ran with.
    block : int
        Which core, and which image.
    row, column, filter : int
        The element of that image's output.
    channel : int
        The channel of the feature map that pictures show.
    step : int, optional
        As for `Scene`.
    origin : Origin, optional
        Where the element came from, if somebody has asked already.

    Raises
    ------
    ParameterError
        For an element, a channel, a block or a step that there is not.
    """

    def __init__(
        self,
        launched: Launch,
        shape: Conv2dShape = EXAMPLE,
        *,
        block: int = 0,
        row: int = 0,
        column: int = 0,
        filter: int = 0,  # noqa: A002 (the word for it)
        channel: int = 0,
        step: int | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.launched, self.shape = launched, shape
        self.block = check_int("block", block, 0, len(launched.cores) - 1)
        super().__init__(launched.cores[self.block], step)
        self.pick = _Pick(
            self.block,
            check_int("row", row, 0, shape.HOUT - 1),
            check_int("column", column, 0, shape.WOUT - 1),
            check_int("filter", filter, 0, shape.COUT - 1),
        )
        self.channel = check_int("channel", channel, 0, shape.CIN - 1)
        self._origin = origin

    def _image(self, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return this block's part of a global memory, as it was after the step."""
        buffer = self.launched.gm[name]
        assert buffer.array is not None
        whole: NDArray[Any] = self.state.data(buffer).view(buffer.array.dtype)
        mine: NDArray[Any] = whole.reshape(-1, *shape)[self.block]
        return mine

    @cached_property
    def fmap(self) -> NDArray[Any]:
        """The feature map, shape (H, W, CIN)."""
        return self._image("fmap", (self.shape.H, self.shape.W, self.shape.CIN))

    @cached_property
    def padded(self) -> NDArray[Any]:
        """The feature map's `channel` with its border, shape (H + top + bottom, W + left + right)."""
        s, pad = self.shape, np.float16(self.shape.PAD_VALUE)
        border = ((s.PAD_TOP, s.PAD_BOTTOM), (s.PAD_LEFT, s.PAD_RIGHT))
        padded: NDArray[Any] = np.pad(self.fmap[:, :, self.channel], border, constant_values=pad)
        return padded

    @cached_property
    def border(self) -> NDArray[np.bool_]:
        """Which elements of `padded` are padding."""
        s = self.shape
        mask = np.ones(self.padded.shape, bool)
        mask[s.PAD_TOP : s.PAD_TOP + s.H, s.PAD_LEFT : s.PAD_LEFT + s.W] = False
        return mask

    @cached_property
    def taps(self) -> NDArray[Any]:
        """The picked filter in the `channel` that is shown, shape (KH, KW)."""
        s = self.shape
        weight = self.launched.gm["weight"].array
        assert weight is not None
        group, channel = divmod(self.channel, C0)
        found: NDArray[Any] = weight.reshape(s.C1, s.KH, s.KW, C0, s.COUT)[group, :, :, channel, self.pick.filter]
        return found

    @cached_property
    def output(self) -> NDArray[Any]:
        """What lies in the output after the step, shape (HOUT, WOUT, COUT)."""
        return self._image("output", (self.shape.HOUT, self.shape.WOUT, self.shape.COUT))

    @cached_property
    def golden(self) -> NDArray[Any]:
        """What should lie there at the end, from the library's fast convolution."""
        arrays = [self.launched.gm[name].array for name in ("fmap", "weight")]
        assert arrays[0] is not None
        assert arrays[1] is not None
        golden: NDArray[Any] = self.shape.golden(arrays[0], arrays[1])[self.block]
        return golden

    @property
    def mismatches(self) -> int:
        """How many elements of the output differ from the golden ones by more than the document's example allows."""
        return compare(self.output, self.golden)[1]

    @cached_property
    def origin(self) -> Origin:
        """Where the picked element came from, in the launch as a whole."""
        if self._origin is not None:
            return self._origin
        traced = trace(self.launched, output="output")
        # The host may have given the output another shape; the elements are in the same order.
        flat = int(np.ravel_multi_index(self.pick.index, self._output_shape))
        index = np.unravel_index(flat, traced.shape)
        return traced.origin(*map(int, index))

    @property
    def _output_shape(self) -> tuple[int, int, int, int]:
        s = self.shape
        return s.BATCH, s.HOUT, s.WOUT, s.COUT

    @cached_property
    def products(self) -> tuple[Tap, ...]:
        """The products of the sum, in all channels, as far as they are not 0 times something."""
        s, terms = self.shape, self.origin.terms
        in_map = [term.operand == "fmap" for term in terms]
        k = self._flat("weight", [t.factor_index if m else t.index for t, m in zip(terms, in_map, strict=True)])
        group, kh, kw, c = np.unravel_index(k // s.COUT, (s.C1, s.KH, s.KW, C0))
        taps = np.stack([kh, kw, group * C0 + c], axis=1).tolist()
        at = self._flat("fmap", [t.index for t, m in zip(terms, in_map, strict=True) if m]) % s.FMAP_BATCH_SIZE
        samples = iter(np.stack(np.unravel_index(at, (s.H, s.W, s.CIN)), axis=1).tolist())
        return tuple(Tap(tuple(next(samples)) if m else None, tuple(tap)) for m, tap in zip(in_map, taps, strict=True))

    def _flat(self, name: str, indices: Sequence[Sequence[int]]) -> NDArray[np.intp]:
        """Return flat indices into a global memory, whatever shape the host has given it."""
        array = self.launched.gm[name].array
        assert array is not None
        places = np.array(indices, np.intp).reshape(len(indices), array.ndim)
        return np.asarray(np.ravel_multi_index(tuple(places.T), array.shape), np.intp)

    @property
    def window(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of `padded` that the filter's points lie on."""
        s = self.shape
        return (
            self.pick.row * s.STRIDE_H + np.arange(s.KH) * s.DILATION_H,
            self.pick.column * s.STRIDE_W + np.arange(s.KW) * s.DILATION_W,
        )


def writers_of(scene: Scene, buffer: str, allocation: Allocation) -> str:
    """Say which steps have written an array's bytes: ``by step 3``, ``by steps 12-29``, or ``by nobody``."""
    marks = np.abs(scene.state.writer(scene.core.buffer(buffer))[allocation.start : allocation.stop])
    steps = np.unique(marks[marks > 0])
    if not steps.size:
        return "by nobody"
    runs = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1)
    texts = [f"{run[0]}-{run[-1]}" if run.size > 1 else f"{run[0]}" for run in runs]
    if len(texts) > 4:
        texts = [texts[0], "...", texts[-1]]
    return f"by step{'s' if steps.size > 1 else ''} {', '.join(texts)}"


def say_arrays(scene: Scene, buffer: str) -> str:
    """Say what is declared in a buffer, how much of it is written and by whom."""
    memory = scene.core.buffer(buffer)
    marks = scene.state.writer(memory)
    parts = []
    for a in memory.allocations:
        mine = marks[a.start : a.stop]
        poisoned = int((mine < 0).sum())
        more = f", {poisoned:,} poisoned" if poisoned else ""
        parts.append(f"{a.name} {int((mine > 0).sum()):,} of {a.size:,} bytes {writers_of(scene, buffer, a)}{more}")
    return "; ".join(parts) or "nothing declared"


def ranges_of(accesses: Sequence[Access], buffer: str) -> NDArray[np.int64]:
    """Return the byte ranges of a buffer that a step touches, as rows (start, stop)."""
    found = [access.ranges() for access in accesses if access.buffer == buffer]
    return np.concatenate(found) if found else np.zeros((0, 2), np.int64)


def _say_accesses(accesses: Sequence[Access]) -> str:
    return " and ".join(f"{a.nbytes:,} bytes of {a.name} ({a.buffer})" for a in accesses)


def say_step(scene: Scene) -> str:
    """Say what the step does: its pipe, what it reads and writes, or which register it sets."""
    step, total = scene.current, len(scene.core.steps)
    if step is None:
        return f"step 0 of {total}: the beginning. All on-chip memory is poisoned, no register is set."
    head = f"step {step.number} of {total}, {step.pipe}: {step.call}"
    if step.waited_for:
        lane, by = step.arguments["tpipe"], step.arguments["pipe"]
        return f"{head}: {lane} waits until {by} has finished what came before step {step.waited_for}"
    if step.call == "asc_sync_notify":
        return f"{head}: {step.arguments['pipe']} sets EVENT_ID{step.arguments['id']} for {step.arguments['tpipe']}"
    if step.writes:
        names = [a.name for a in (*step.writes, *step.reads)]
        source = f" reads {_say_accesses(step.reads)}," if step.reads else ""
        return f"{head}({', '.join(names)}, ...){source} writes {_say_accesses(step.writes)}"
    if step.outcome != "done":
        return f"{head}: {step.outcome}"
    before = scene.core.steps[step.number - 2].registers if step.number > 1 else {}
    changed = [name for name, word in step.registers.items() if before.get(name) != word]
    kept = "" if changed or not step.registers else ", no register changes"
    return f"{head}{': sets ' + ', '.join(changed) if changed else kept}"


def say_origin(scene: Convolution) -> str:
    """Spell out the sum behind the picked element, as far as the channel that is shown goes."""
    s, products = scene.shape, scene.products
    name = f"output[{', '.join(map(str, scene.pick.index))}]"
    array = scene.launched.gm["output"].array
    assert array is not None
    value = f" = {array.reshape(-1, s.HOUT, s.WOUT, s.COUT)[scene.pick.index]:g}"
    if any(a.name == "output" for later in scene.core.steps[scene.step :] for a in later.writes):
        value += " (not written yet)"
    if not scene.origin.terms and scene.origin.constant is None:
        return f"{name}{value}: never written by the kernel"
    rows, columns = scene.window
    padded = int(scene.border[np.ix_(rows, columns)].sum()) * s.CIN
    parts = [f"{name}{value}: the sum of {s.K} products, in float32, rounded to half once"]
    if padded:
        worth = f"{np.float16(s.PAD_VALUE):g}"
        parts.append(f"{padded} of them have padding ({worth}) as a factor")
    own = [p for p in products if p.tap[2] == scene.channel and p.sample is not None]
    shown = [
        f"fmap[{scene.block}, {h}, {w}, {c}] * weight[{_k(s, p.tap)}, {scene.pick.filter}] = "
        f"{scene.fmap[h, w, c]:g} * {scene.taps[p.tap[0], p.tap[1]]:g}"
        for p in own[:_MOST_TERMS]
        if p.sample is not None
        for h, w, c in (p.sample,)
    ]
    more = f"; ... {len(own) - _MOST_TERMS} more" if len(own) > _MOST_TERMS else ""
    parts.append(f"In channel {scene.channel}: {'; '.join(shown) or 'nothing but padding'}{more}")
    return ". ".join(parts)


def _k(s: Conv2dShape, tap: tuple[int, int, int]) -> int:
    """Return the row of the weights that a filter's point and channel stand in."""
    kh, kw, channel = tap
    group, c = divmod(channel, C0)
    return int(np.ravel_multi_index((group, kh, kw, c), (s.C1, s.KH, s.KW, C0)))
