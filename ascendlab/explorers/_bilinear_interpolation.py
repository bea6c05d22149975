"""The explorer of BilinearInterpolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascendlab.bilinear import bilinear_interpolation as interpolate
from ascendlab.bilinear import shared_tmp_buffer_bytes
from ascendlab.bilinear_stages import element_at, place_of
from ascendlab.cpp import to_cpp
from ascendlab.errors import AscendlabError, ParameterError
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import Control, Slider, choice, control_of, number
from ascendlab.explorers._masks import follow_mask, mask_controls, mask_words
from ascendlab.fields import check_bool
from ascendlab.plots.bilinear_interpolation import (
    VIEWS,
    BilinearInterpolationPicture,
    Scene,
    describe,
    say_origin,
    say_tmp_buffer,
)
from ascendlab.products import Product
from ascendlab.provenance import Call, trace
from ascendlab.pycode import to_python
from ascendlab.samples import (
    OFFSETS,
    WEIGHTS,
    bilinear_iterations,
    bilinear_offsets,
    bilinear_samples,
    bilinear_weights,
    numbers_from,
)
from ascendlab.summary import Occupancy, summarise
from ascendlab.vector import BILINEAR_INTERPOLATION_ARGUMENTS, bilinear_interpolation_plan
from ascendlab.vector_blocks import ub_bytes

__all__ = ["BilinearInterpolationExplorer", "bilinear_interpolation"]

FORMS = {"mask: the first n lanes": "continuous", "mask[]: a bit a lane": "bitwise"}
_ARGUMENTS = ("h_repeat", "repeat_mode", "dst_blk_stride", "v_roffset", "v_repeat")
_PLACE = ("repeat_shown", "block_shown", "pick")


def _numbers(name: str, default: str, words: str) -> Control:
    """Make the field of a list of numbers."""

    def check(value: Any) -> str:
        numbers_from(value, name)
        return str(value)

    return Control(name, "text", default, words, check=check)


class BilinearInterpolationExplorer(Explorer):
    """Every argument of BilinearInterpolation, from the document's example on.

    Made by `ascendlab.explorers.bilinear_interpolation`, where the presets are described.
    """

    size = (700, 520)
    title = "BilinearInterpolation"

    def __init__(self, **preset: Any) -> None:
        self._picture = BilinearInterpolationPicture(*self.size)
        self._ends: dict[str, Slider] = {}
        super().__init__(**preset)

    def groups(self) -> list[Group]:
        """Return the call, its sources, the mask, and what to look at."""
        specs = BILINEAR_INTERPOLATION_ARGUMENTS
        return [
            Group("Repeats", [
                control_of("h_repeat", specs["h_repeat"], default=2, slider=(1, 8)),
                control_of("v_repeat", specs["v_repeat"], default=2, slider=(1, 8)),
                control_of("repeat_mode", specs["repeat_mode"], default=False),
                control_of("dst_blk_stride", specs["dst_blk_stride"], slider=(1, 8)),
                control_of("v_roffset", specs["v_roffset"], slider=(128, 1024), step=16),
                choice("product", {str(p): p for p in Product}, Product.ATLAS_350, "The product."),
                Control("give_tmp_buffer", "flag", False, "Whether to say how large sharedTmpBuffer is.",
                        check=lambda value: check_bool("give_tmp_buffer", value)),
                number("shared_tmp_buffer_size", 0, 2**32 - 1, 16896, "Bytes of sharedTmpBuffer."),
            ], "Table 2. hRepeat iterations are added up; that is done vRepeat times."),
            Group("Sources", [
                choice("offsets", {o: o for o in OFFSETS}, OFFSETS[0], "Which DataBlocks src0Offset names."),
                _numbers("src0_offset", ", ".join(str(32 * i) for i in range(32)),
                         "Byte offsets, multiples of 32, eight for each iteration (offsets: typed)."),
                choice("weights", {w: w for w in WEIGHTS}, WEIGHTS[0], "What src1 holds."),
                _numbers("src1", "0.25, 0.75, 0.5, 0.5",
                         "Weights, one for each iteration, or eight with repeat_mode (weights: typed)."),
            ], "src0[i] is i + 1, so a number tells where it came from; it reaches to the last DataBlock named."),
            Group("Mask", [
                choice("form", FORMS, "continuous", "Which form of the mask the call gets."), *mask_controls(),
            ], "Two forms of one mask: the first n lanes, or 64-bit words (lane i is bit i % 64 of word i // 64)."),
            Group("Look at", [
                choice("view", VIEWS, "stages", "What the picture shows."),
                number("repeat_shown", 0, 254, 0, "Vertical repeat to look at.", slider=(0, 1)),
                number("block_shown", 0, 7, 0, "DataBlock of it.", slider=(0, 7)),
                number("iteration_shown", 0, 254, 0, "Iteration of it.", slider=(0, 1)),
                number("pick", 0, 2**32 - 1, 0, "Element of dst to trace.", slider=(0, 1)),
            ], pinned=True),
        ]  # fmt: skip

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep the forms of the mask in step, and what is picked with what is shown."""
        more: dict[str, Any] = {}
        if changes.keys() & {"mask", "mask_words", "lane", "lane_written"}:
            more |= follow_mask(changes, state, "half")
        if changes.keys() & set(_PLACE):
            more |= self._follow_place(changes, state)
        return more

    def _follow_place(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
        try:
            plan = bilinear_interpolation_plan(**self._call(state)[0])
            if "pick" in changes:
                place = place_of(plan, state["pick"])
                return {"repeat_shown": place.repeat, "block_shown": place.block} if place else {}
            return {"pick": element_at(plan, state["repeat_shown"], state["block_shown"], near=state["pick"])}
        except AscendlabError:  # a place that the call does not have: what is shown will say so
            return {}

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, Slider]:
        """End the sliders at what there is to look at."""
        return self._ends

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Name the fields that nothing reads."""
        reasons = {}
        if not state["give_tmp_buffer"]:
            reasons["shared_tmp_buffer_size"] = "give_tmp_buffer is off: the size is not checked."
        if state["offsets"] != "typed":
            reasons["src0_offset"] = "Only if offsets is: typed."
        if state["weights"] != "typed":
            reasons["src1"] = "Only if weights is: typed."
        return reasons

    def _call(self, state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the call's arguments by name, and the code that makes its arrays."""
        product, plain = state["product"], {name: state[name] for name in _ARGUMENTS}
        iterations, used = bilinear_iterations(plain["h_repeat"], plain["v_repeat"], plain["repeat_mode"])
        made = {"src0_offset": bilinear_offsets(state["offsets"], iterations, state["src0_offset"], product=product)}
        made["src0"] = bilinear_samples(made["src0_offset"].array, product=product)
        made["src1"] = bilinear_weights(state["weights"], used, state["src1"])
        mask = state["mask"] if state["form"] == "continuous" else mask_words(state)
        arrays = {name: sample.array for name, sample in made.items()}
        return {**arrays, "mask": mask, **plain, "product": product}, {n: s.code for n, s in made.items()}

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Make the call that the state describes, and its picture."""
        arguments, code = self._call(state)
        size = state["shared_tmp_buffer_size"] if state["give_tmp_buffer"] else None
        out = interpolate(**arguments, shared_tmp_buffer_size=size, check_capacity=True)
        plan = bilinear_interpolation_plan(**arguments)
        src0, src1, offsets = (arguments[name] for name in ("src0", "src1", "src0_offset"))
        call = Call(interpolate, arguments if size is None else {**arguments, "shared_tmp_buffer_size": size})
        self._ends = {
            "pick": (0, out.size - 1),
            "repeat_shown": (0, max(1, state["v_repeat"] - 1)),
            "iteration_shown": (0, max(1, state["h_repeat"] - 1)),
        }
        try:
            origin, words = trace(call).origin(state["pick"]), ""
        except ParameterError as error:
            origin, words = None, str(error)
        shown = (state["repeat_shown"], state["block_shown"], state["iteration_shown"])
        scene = Scene(plan, src0, src1, out, *shown, state["pick"] if origin else None, origin)
        tmp = size or shared_tmp_buffer_bytes(state["product"], src0.size, src1.size, offsets.size)
        parts = {"src0": src0.nbytes, "src0Offset": offsets.nbytes, "src1": src1.nbytes, "dst": out.nbytes}
        sources = tuple(f"{name} = {code[name]}" for name in ("src0", "src0_offset", "src1"))
        python = to_python(call, sources=sources, names={"counting": "ascendlab.samples"})
        return Shown(
            png=self._picture.draw(state["view"], scene),
            alt=describe(state["view"], scene),
            summary=f"{summarise(out)}; {say_tmp_buffer(scene, offsets.size)}",
            origin=words or say_origin(scene),
            cpp=to_cpp(call),
            python=f"import numpy as np\n\n{python}",
            occupancy=Occupancy("UB", ub_bytes({**parts, "sharedTmpBuffer": tmp}), state["product"].buffers["UB"]),
        )


def bilinear_interpolation(*, group: str | None = None, **preset: Any) -> BilinearInterpolationExplorer:
    """Explore BilinearInterpolation.

    Parameters
    ----------
    group : str, optional
        Which controls are open at first: "Repeats", "Sources", "Mask".
    **preset
        First values: ``h_repeat``, ``v_repeat``, ``repeat_mode``, ``dst_blk_stride``, ``v_roffset``, ``product``,
        ``give_tmp_buffer``, ``shared_tmp_buffer_size``, ``offsets`` (one of `ascendlab.samples.OFFSETS`),
        ``src0_offset`` (text), ``weights`` (one of `ascendlab.samples.WEIGHTS`), ``src1`` (text), ``form``
        ("continuous" or "bitwise"), ``mask``, ``mask_words`` (text), ``view`` ("stages", "blocks" or "strips"),
        ``repeat_shown``, ``block_shown``, ``iteration_shown``, ``pick``.

    Returns
    -------
    BilinearInterpolationExplorer

    Raises
    ------
    ParameterError
        For a preset that does not exist, and for a value that its control does not take.

    Examples
    --------
    >>> explorer = bilinear_interpolation(pick=130)
    >>> explorer.state["repeat_shown"], explorer.state["block_shown"]
    (1, 0)
    >>> print(explorer.shown.origin)  # doctest: +NORMALIZE_WHITESPACE
    dst[130] = 2972: DataBlock 8, lane 2. Vertical repeat 1, block 0: 1 * 8 + 0 * 1 = 8. In this order:
    src0[258] * src1[2] = 259 * 4 = 1036, sum 1036; src0[386] * src1[3] = 387 * 5 = 1935, sum 2972
    """
    return BilinearInterpolationExplorer(group=group, **preset)
