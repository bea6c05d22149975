"""The explorer of the conv2d kernel: step through it, change its convolution, let it forget a call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.conv2d_example import CONV2D_CONSTANTS, Conv2dShape, compare, conv2d_forward_capi, run
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch
from ascendlab.capi.left_out import without
from ascendlab.cpp_capi import kernel_code
from ascendlab.errors import AscendlabError, ParameterError
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import Slider, choice, control_of, number
from ascendlab.plots.capi import VIEWS, CapiPicture, Convolution, Scene, describe, say_origin, say_step
from ascendlab.provenance import Origin
from ascendlab.summary import Occupancy, summarise

__all__ = ["LEFT_OUT", "Conv2dExplorer", "conv2d"]

NOTHING = "nothing"

LEFT_OUT: Mapping[str, tuple[str, int | None]] = {
    "asc_init": ("asc_init", None),
    "asc_set_gm2l1_nz_para, the first": ("asc_set_gm2l1_nz_para", 0),
    "asc_copy_gm2l1_nd2nz of fmap": ("asc_copy_gm2l1_nd2nz", 0),
    "asc_copy_gm2l1_nd2nz of weight": ("asc_copy_gm2l1_nd2nz", 1),
    "asc_sync_notify of MTE2": ("asc_sync_notify", 0),
    "asc_sync_wait for MTE2": ("asc_sync_wait", 0),
    "asc_set_l13d_fmatrix": ("asc_set_l13d_fmatrix", None),
    "asc_set_l12l0a_3d_padding": ("asc_set_l12l0a_3d_padding", None),
    "asc_set_l13d_rpt": ("asc_set_l13d_rpt", None),
    "asc_copy_l12l0a": ("asc_copy_l12l0a", None),
    "asc_copy_l12l0b_transpose, the third": ("asc_copy_l12l0b_transpose", 2),
    "asc_sync_wait for MTE1": ("asc_sync_wait", 1),
    "asc_mmad": ("asc_mmad", None),
    "asc_sync_wait for M": ("asc_sync_wait", 2),
    "asc_set_l0c_copy_nz_para": ("asc_set_l0c_copy_nz_para", None),
}
"""What the kernel can be made to forget: words, and which call that is."""

_MAP = ("H", "W", "C1", "KH", "KW", "PAD_VALUE", "BATCH")
_MOST_BLOCKS = 8
_SLIDERS: Mapping[str, Slider] = {
    "BATCH": (1, _MOST_BLOCKS), "C1": (1, 4), "H": (1, 16), "W": (1, 16), "KH": (1, 5), "KW": (1, 5),
    "STRIDE_H": (1, 4), "STRIDE_W": (1, 4), "DILATION_H": (1, 4), "DILATION_W": (1, 4),
    "PAD_LEFT": (0, 6), "PAD_RIGHT": (0, 6), "PAD_TOP": (0, 6), "PAD_BOTTOM": (0, 6), "PAD_VALUE": (-4, 4),
}  # fmt: skip
_KEPT = 4


@dataclass(frozen=True, eq=False)
class _Run:
    """A launch, its result, and the origins that have been asked for."""

    launched: Launch
    output: NDArray[np.float16]
    mismatches: int
    origins: dict[tuple[int, ...], Origin] = field(default_factory=dict)


class Conv2dExplorer(Explorer):
    """The document's conv2d kernel on its own data: every constant, every step, and what happens without a call.

    Made by `ascendlab.explorers.conv2d`, where the presets are described.
    """

    size = (760, 470)
    title = "The conv2d kernel of asc_set_l12l0a_3d_padding"

    def __init__(self, **preset: Any) -> None:
        self._picture = CapiPicture(*self.size)
        self._runs: OrderedDict[tuple[Conv2dShape, str], _Run] = OrderedDict()
        self._ends: dict[str, Slider] = {}
        super().__init__(**preset)

    def groups(self) -> list[Group]:
        """Return the convolution's constants, what the kernel forgets, and what to look at."""
        controls = {
            name: control_of(name, spec, slider=_SLIDERS[name], step=0.25 if name == "PAD_VALUE" else None)
            for name, spec in CONV2D_CONSTANTS.items()
        }
        # One feature map, not the original's four, and never thousands: blocks all do the same, and take their time.
        batch = CONV2D_CONSTANTS["BATCH"]
        controls["BATCH"] = number("BATCH", 1, _MOST_BLOCKS, 1, batch.meaning, slider=(1, _MOST_BLOCKS))
        return [
            Group("Convolution", [controls[name] for name in _MAP],
                  "The constants of the document's example, under its names. C1 counts groups of 16 channels."),
            Group("Window", [control for name, control in controls.items() if name not in _MAP],
                  "How the filter moves, how far its points are apart, and how much border there is."),
            Group("Kernel", [
                choice("left_out", {NOTHING: NOTHING, **{words: words for words in LEFT_OUT}}, NOTHING,
                       "A call that the kernel forgets."),
            ], "Let the kernel forget a call: the machine says who would have needed it, and shows how far it came."),
            Group("Look at", [
                choice("view", VIEWS, "memory", "What the picture shows."),
                number("step", 0, 2**20, 11, "The last call that has been made; 0: none.", slider=(0, 1)),
                number("block", 0, _MOST_BLOCKS - 1, 0, "Which block's core, and which feature map.", slider=(0, 1)),
                number("row", 0, 33277, 0, "Row of the output element to trace.", slider=(0, 1)),
                number("column", 0, 33277, 0, "Its column.", slider=(0, 1)),
                number("filter", 0, 15, 0, "Its filter.", slider=(0, 15)),
                number("channel", 0, 65519, 0, "Channel of the feature map that is shown.", slider=(0, 1)),
            ], pinned=True),
        ]  # fmt: skip

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, Slider]:
        """End the sliders at what there is to look at."""
        return self._ends

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Name what there is only one of."""
        return {"block": "There is only one block: BATCH = 1."} if state["BATCH"] == 1 else {}

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Run the kernel that the state describes, and show its core after the step."""
        shape = _shape(state)
        ran = self._run(shape, state["left_out"])
        self._ends = {
            "row": (0, max(1, shape.HOUT - 1)), "column": (0, max(1, shape.WOUT - 1)),
            "channel": (0, shape.CIN - 1), "block": (0, max(1, shape.BATCH - 1)),
        }  # fmt: skip
        if state["block"] >= shape.BATCH:
            raise ParameterError(
                "block", state["block"], f"an integer in [0, {shape.BATCH - 1}]: BATCH = {shape.BATCH}"
            )
        core = ran.launched.cores[state["block"]]
        self._ends["step"] = (0, len(core.steps))
        step = min(state["step"], len(core.steps))
        pick = {name: state[name] for name in ("block", "row", "column", "filter")}
        place = tuple(pick.values())
        scene: Scene
        try:
            scene = Convolution(ran.launched, shape, **pick, channel=state["channel"], step=step,
                                origin=ran.origins.get(place))  # fmt: skip
            ran.origins[place] = scene.origin
            origin = say_origin(scene)
        except ParameterError as error:
            # Memories and registers can be shown without an element; its own views cannot.
            scene, origin = Scene(core, step), str(error)
            if state["view"] in ("origin", "output"):
                raise
        words = f"{ran.mismatches} of {ran.output.size} elements differ from the golden data"
        return Shown(
            png=self._picture.draw(state["view"], scene),
            alt=describe(state["view"], scene),
            summary=f"{summarise(ran.output)}; {words}. Now: {say_step(scene)}",
            origin=origin,
            cpp=kernel_code(core, step),
            python=_python(state, step),
            occupancy=_occupancy(core),
        )

    def show_refused(self, state: Mapping[str, Any], error: AscendlabError) -> Shown | None:
        """Show how far the kernel came, if it began."""
        core = getattr(error, "core", None)
        if not isinstance(core, AICore):
            return None
        self._ends = {"step": (0, max(1, len(core.steps)))}
        scene = Scene(core, min(state["step"], len(core.steps)))
        view = "memory" if state["view"] in ("origin", "output") else state["view"]
        return Shown(
            png=self._picture.draw(view, scene),
            alt=f"The kernel stopped behind step {len(core.steps)}. {describe(view, scene)}",
            summary=f"no result: the kernel stopped behind step {len(core.steps)}. Now: {say_step(scene)}",
            origin="there is no output: the kernel stopped",
            cpp=kernel_code(core, scene.step),
            python=_python(state, scene.step),
            occupancy=_occupancy(core),
        )

    def _run(self, shape: Conv2dShape, left_out: str) -> _Run:
        """Run the kernel, or take the launch from before: steps and views of one launch follow each other."""
        key = (shape, left_out)
        ran = self._runs.get(key)
        if ran is None:
            launched, output = run(shape, kernel=_kernel(left_out))
            fmap, weight = (launched.gm[name].array for name in ("fmap", "weight"))
            assert fmap is not None
            assert weight is not None
            ran = self._runs[key] = _Run(launched, output, compare(output, shape.golden(fmap, weight))[1])
            if len(self._runs) > _KEPT:
                self._runs.popitem(last=False)
        self._runs.move_to_end(key)
        return ran


def _shape(state: Mapping[str, Any]) -> Conv2dShape:
    return Conv2dShape(**{name: state[name] for name in CONV2D_CONSTANTS})


def _kernel(left_out: str) -> Callable[..., Any]:
    if left_out == NOTHING:
        return conv2d_forward_capi
    call, which = LEFT_OUT[left_out]
    return without(conv2d_forward_capi, call, number=which)


def _occupancy(core: AICore) -> Occupancy:
    """Tell how full the buffer is that limits this kernel first."""
    buffer = core.buffers["L0A"]
    return Occupancy("L0A", buffer.used, buffer.size)


def _python(state: Mapping[str, Any], step: int) -> str:
    """Write a script that runs the same kernel and stops at the same step."""
    changed = ", ".join(
        f"{name}={state[name]!r}" for name, spec in CONV2D_CONSTANTS.items() if state[name] != spec.default
    )
    lines = [
        "from ascendlab.capi import launch",
        "from ascendlab.capi.conv2d_example import (",
        "    Conv2dShape, conv2d_forward_capi, make_inputs,",
        ")",
    ]
    kernel = "conv2d_forward_capi"
    made = []
    if state["left_out"] != NOTHING:
        call, which = LEFT_OUT[state["left_out"]]
        lines.append("from ascendlab.capi.left_out import without")
        kernel = "kernel"
        more = "" if which is None else f", number={which}"
        made = [f'kernel = without(conv2d_forward_capi, "{call}"{more})']
    return "\n".join(
        [
            *lines,
            "",
            f"s = Conv2dShape({changed})",
            "fmap, weight, output = make_inputs(s)",
            *made,
            f"launched = launch({kernel}, s.BATCH, fmap, weight, output, s)",
            f"state = launched.cores[{state['block']}].at({step})",
            "result = output",
        ]
    )


def conv2d(*, group: str | None = None, **preset: Any) -> Conv2dExplorer:
    """Explore the conv2d kernel of the C API.

    Parameters
    ----------
    group : str, optional
        Which controls are open at first: "Convolution", "Window", "Kernel".
    **preset
        First values: the constants of `ascendlab.capi.conv2d_example.Conv2dShape` by their names (``H``, ``W``,
        ``C1``, ``KH``, ``KW``, ``STRIDE_H`` ... ``PAD_VALUE``, ``BATCH``), ``left_out`` ("nothing", or words of
        `ascendlab.explorers._conv2d.LEFT_OUT`), ``view`` ("memory", "registers", "timeline", "bytes", "origin",
        "output"), ``step``, ``block``, ``row``, ``column``, ``filter``, ``channel``.

    Returns
    -------
    Conv2dExplorer

    Raises
    ------
    ParameterError
        For a preset that does not exist, and for a value that its control does not take.

    Examples
    --------
    >>> explorer = conv2d(PAD_VALUE=1, step=9)
    >>> print(explorer.shown.summary)  # doctest: +ELLIPSIS
    (1, 5, 5, 16) half, 800 bytes, checksum ...; 0 of 400 elements differ from the golden data. Now: step 9 of 37, \
PIPE_S: asc_set_l12l0a_3d_padding: sets PADDING
    >>> explorer.set(left_out="asc_sync_wait for MTE1")
    >>> "nothing makes PIPE_M wait for it" in explorer.message.value
    True
    """
    return Conv2dExplorer(group=group, **preset)
