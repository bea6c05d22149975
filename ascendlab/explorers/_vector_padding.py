"""The explorer of VectorPadding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascendlab.cpp import to_cpp
from ascendlab.dtypes import as_dtype
from ascendlab.errors import ParameterError
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import Slider, choice, control_of, controls_of, number, parameters_from
from ascendlab.explorers._masks import follow_mask, mask_controls, mask_words
from ascendlab.plots.vector_padding import VIEWS, Scene, VectorPaddingPicture, describe, repeats, say_origin
from ascendlab.products import Product
from ascendlab.provenance import Call, trace
from ascendlab.pycode import to_python
from ascendlab.samples import counting
from ascendlab.summary import Occupancy, summarise
from ascendlab.vector import (
    MASK_PLACEHOLDER,
    VECTOR_PADDING_ARGUMENTS,
    VECTOR_PADDING_TYPES,
    UnaryRepeatParams,
    vector_padding_plan,
)
from ascendlab.vector import vector_padding as pad
from ascendlab.vector_blocks import ub_bytes
from ascendlab.vector_padding import source_elements

__all__ = ["VectorPaddingExplorer", "vector_padding"]

FORMS = {
    "count: the first n elements": "count",
    "mask: the first n lanes": "continuous",
    "mask[]: a bit a lane": "bitwise",
    "MASK_PLACEHOLDER: SetVectorMask before": "placeholder",
}
_STRIDES = {
    "dst_blk_stride": (0, 8), "src_blk_stride": (0, 8), "dst_rep_stride": (0, 64), "src_rep_stride": (0, 64),
}  # fmt: skip


class VectorPaddingExplorer(Explorer):
    """Every argument of VectorPadding, on a source whose elements say where they lie.

    Made by `ascendlab.explorers.vector_padding`, where the presets are described.
    """

    size = (700, 520)
    title = "VectorPadding"

    def __init__(self, **preset: Any) -> None:
        self._picture = VectorPaddingPicture(*self.size)
        self._ends = (1, 1)
        super().__init__(**preset)

    def groups(self) -> list[Group]:
        """Return the call, the mask, repeats and strides, and what to look at."""
        specs = VECTOR_PADDING_ARGUMENTS
        return [
            Group("Padding", [
                choice("dtype", {t: t for t in VECTOR_PADDING_TYPES}, "half", "Type of src and dst, template T."),
                control_of("pad_mode", specs["pad_mode"], default=0),
                control_of("pad_side", specs["pad_side"], default=False),
                choice("form", FORMS, "continuous", "Which of the call's forms."),
                control_of("count", specs["count"], default=128, slider=(0, 512)),
                choice("product", {str(p): p for p in Product}, Product.ATLAS_INFERENCE_AI_CORE, "The product."),
            ], "Table 2. src[i] is i + 1, so a number tells where it came from."),
            Group("Mask", mask_controls(),
                  "Two forms of one mask: the first n lanes, or 64-bit words (lane i is bit i % 64 of word i // 64)."),
            Group("Repeats", [
                control_of("repeat_time", specs["repeat_time"], default=1, slider=(0, 8)),
                *controls_of(UnaryRepeatParams, sliders=_STRIDES),
            ], "A repeat is eight DataBlocks. Block b of repeat r is DataBlock r * rep_stride + b * blk_stride."),
            Group("Look at", [
                choice("view", VIEWS, "blocks", "What the picture shows."),
                number("repeat_shown", 0, 2**27, 0, "Repeat to look at (with count: eight DataBlocks).",
                       slider=(0, 1)),
                number("pick", 0, 2**32 - 1, 0, "Element of dst to trace.", slider=(0, 1)),
            ], pinned=True),
        ]  # fmt: skip

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep the forms of the mask in step."""
        if changes.keys() & {"mask", "mask_words", "dtype", "lane", "lane_written"}:
            return follow_mask(changes, state, state["dtype"])
        return {}

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, Slider]:
        """End the sliders at what there is to look at."""
        size, shown = self._ends
        lanes = as_dtype(state["dtype"]).lanes
        return {
            "pick": (0, max(1, size - 1)), "repeat_shown": (0, max(1, shown - 1)),
            "mask": (1, lanes), "lane": (0, lanes - 1),
        }  # fmt: skip

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Name what the chosen form of the call does not have."""
        if state["form"] == "count":
            names = ("repeat_time", *_STRIDES, "mask", "mask_words", "lane", "lane_written")
            return dict.fromkeys(names, "The count form has neither mask nor repeats.")
        return {"count": "Only the count form has a count."}

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Make the call that the state describes, and its picture."""
        arguments: dict[str, Any] = {"pad_mode": state["pad_mode"], "pad_side": state["pad_side"]}
        strides = parameters_from(UnaryRepeatParams, state)
        if state["form"] == "count":
            arguments |= {"count": state["count"]}
        else:
            form = state["form"]
            arguments |= {
                "mask": {"continuous": state["mask"], "placeholder": MASK_PLACEHOLDER}.get(form) or mask_words(state),
                "repeat_time": state["repeat_time"],
                "repeat_params": strides,
            }
            if form == "placeholder":
                arguments["vector_mask"] = mask_words(state)
        arguments["product"] = state["product"]
        size = source_elements(
            state["dtype"], count=arguments.get("count"), repeat_time=state["repeat_time"], repeat_params=strides
        )
        src = counting(state["dtype"], size, state["product"])
        out = pad(src, **arguments, check_capacity=True)
        plan = vector_padding_plan(src, **arguments)
        call = Call(pad, {"src": src, **arguments})
        self._ends = (out.size, repeats(plan))
        try:
            origin, words = trace(call).origin(state["pick"]), ""
        except ParameterError as error:
            origin, words = None, str(error)
        shown = min(state["repeat_shown"], max(0, repeats(plan) - 1))
        scene = Scene(plan, src, out, shown, state["pick"] if origin else None, origin)
        source = f'src = counting("{state["dtype"]}", {src.size})'
        return Shown(
            png=self._picture.draw(state["view"], scene),
            alt=describe(state["view"], scene),
            summary=summarise(out),
            origin=words or say_origin(scene),
            cpp=to_cpp(call),
            python=to_python(call, sources=(source,), names={"counting": "ascendlab.samples"}),
            occupancy=Occupancy("UB", ub_bytes({"src": src.nbytes, "dst": out.nbytes}), state["product"].buffers["UB"]),
        )


def vector_padding(*, group: str | None = None, **preset: Any) -> VectorPaddingExplorer:
    """Explore VectorPadding.

    Parameters
    ----------
    group : str, optional
        Which controls are open at first: "Padding", "Mask", "Repeats".
    **preset
        First values: ``dtype``, ``pad_mode``, ``pad_side``, ``form`` ("count", "continuous", "bitwise",
        "placeholder"), ``count``, ``product``, ``mask``, ``mask_words`` (text), ``repeat_time``, the four strides of
        `UnaryRepeatParams`, ``view`` ("blocks" or "strips"), ``repeat_shown``, ``pick``.

    Returns
    -------
    VectorPaddingExplorer

    Raises
    ------
    ParameterError
        For a preset that does not exist, and for a value that its control does not take.

    Examples
    --------
    >>> explorer = vector_padding(pad_mode=1, pick=18)
    >>> explorer.shown.summary
    '(128,) half, 256 bytes, checksum df7e5f6f'
    >>> explorer.set(mask=3)
    >>> explorer.state["mask_words"]
    '0x7, 0x0'
    """
    return VectorPaddingExplorer(group=group, **preset)
