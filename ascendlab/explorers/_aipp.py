"""The explorer of SetAippFunctions and LoadImageToLocal."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab import pictures
from ascendlab.aipp import aipp_plan, load_image_to_local, set_aipp_functions
from ascendlab.aipp_params import (
    CSC_PRESETS,
    PROFILES,
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSingleLineParams,
    AippSwapParams,
    LoadImageToLocalParams,
    csc_preset,
)
from ascendlab.aipp_setup import SWAP_FORMATS
from ascendlab.cpp import to_cpp
from ascendlab.errors import ParameterError
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import Slider, choice, controls_of, number, parameters_from
from ascendlab.fields import fields_of
from ascendlab.plots._aipp_picture import VIEWS, AippPicture, Scene, describe, say_origin
from ascendlab.products import Product
from ascendlab.provenance import Call, trace
from ascendlab.pycode import to_python
from ascendlab.summary import Occupancy, summarise

__all__ = ["AippExplorer", "aipp"]

_PICTURES = {"photograph": "photograph", "8 x 8 numbers": "numbers"}
_OWN = "own"
_T2 = "SetAippFunctions, table 2"
_WINDOW_FIELDS = ("horiz_size", "vert_size", "src_horiz_size", "horiz_start_pos", "vert_start_pos")
_PADS = ("top_pad_size", "bot_pad_size", "left_pad_size", "right_pad_size")
_CONSTANTS = ("padding_value_ch0", "padding_value_ch1", "padding_value_ch2", "padding_value_ch3", "c_padding_value")
_CSC = tuple(fields_of(AippColorSpaceConvParams))
_FIRST_PICK = {
    "photograph": {"pick_row": 100, "pick_column": 90, "pick_channel": 0},
    "numbers": {"pick_row": 0, "pick_column": 0, "pick_channel": 0},
}
_SLIDER_OF_MIN, _SLIDER_OF_VAR = (-128.0, 128.0), (0.0, 2.0)


@lru_cache(maxsize=16)
def _sources(picture: str, input_format: AippInputFormat, x_first: bool) -> tuple[Any, ...]:
    """Return a built-in picture, and the same as src0 and src1."""
    image = _image(picture)
    return (image, *pictures.to_format(image, input_format, x_first=x_first))


def _image(picture: str) -> NDArray[np.uint8]:
    return pictures.photograph() if picture == "photograph" else pictures.number_picture()


class AippExplorer(Explorer):
    """Every parameter of AippParams and LoadImageToLocalParams, on a photograph or on a table of numbers.

    Made by `aipp`, where the presets are described.
    """

    size = (700, 460)
    title = "SetAippFunctions and LoadImageToLocal"

    def __init__(self, **preset: Any) -> None:
        self._picture = AippPicture(*self.size)
        self._shape: tuple[int, ...] = (1, 1, 1)
        super().__init__(**preset)

    def groups(self) -> list[Group]:
        """Return the document's tables, the window, and what to look at."""
        height, width = _image("photograph").shape[:2]
        whole = {"horiz_size": width, "vert_size": height, "src_horiz_size": width}
        window_sliders = dict.fromkeys((*_WINDOW_FIELDS, *_PADS), (0, 1))
        means = {f"dtc_mean_ch{c}": (0, 255) for c in range(3)}
        minima = {f"dtc_min_ch{c}": _SLIDER_OF_MIN for c in range(3)}
        factors = {f"dtc_var_ch{c}": _SLIDER_OF_VAR for c in range(3)}
        constants = dict.fromkeys(_CONSTANTS, (0, 255))
        presets = {_OWN: _OWN, **{name: name for name in CSC_PRESETS}}
        formats = {member.name: member for member in AippInputFormat}
        return [
            Group("Picture", [
                choice("picture", _PICTURES, "photograph", "Which built-in picture lies in global memory."),
                choice("input_format", formats, AippInputFormat.RGB888_U8, f"How it lies there · {_T2}"),
                choice("x_first", {"X, R, G, B": True, "R, G, B, X": False}, True, "XRGB8888: where X lies."),
                choice("product", {str(p): p for p in Product}, Product.ATLAS_INFERENCE_AI_CORE, "The product."),
                choice("profile", {p: p for p in PROFILES}, "documented",
                       "The manual's rules, or those of the open kernel for Atlas 350."),
                choice("dtype", {t: t for t in ("uint8", "int8", "half")}, "uint8", "Output type, template U."),
            ], "What lies in global memory, where the call runs, which type comes out."),
            Group("Window", controls_of(LoadImageToLocalParams, defaults=whole, sliders=window_sliders,
                                        steps={"horiz_start_pos": 2}),
                  "LoadImageToLocalParams: what is read, and the border around it."),
            Group("Padding", controls_of(AippPaddingParams, sliders=constants),
                  "Table 3: how the border is filled. Its size is set under Window."),
            Group("Swap, line", [*controls_of(AippSwapParams), *controls_of(AippSingleLineParams)],
                  "Tables 4 and 5: channels that change places; a single row instead of the window."),
            Group("Type", controls_of(AippDataTypeConvParams, sliders={**means, **minima, **factors}),
                  "Table 6: to int8 v - mean, to half (v - mean - min) * var, to uint8 nothing."),
            Group("Channels", controls_of(AippChannelPaddingParams, sliders=constants),
                  "Table 7: how many channels a pixel gets, and what the added ones hold."),
            Group("Colour", [
                *controls_of(AippColorSpaceConvParams, stacked=True),
                choice("csc_preset", presets, _OWN, "A standard conversion: sets the matrix and the biases."),
            ], "Table 8: matrix in 1/256. documented: cscBiasIn for RGB to YUV, cscBiasOut for YUV to RGB."),
            Group("Look at", [
                choice("view", VIEWS, "both", "What the picture shows."),
                number("pick_row", 0, 4159, 100, "Row of the element to trace.", slider=(0, 1)),
                number("pick_column", 0, 4159, 90, "Column of the element to trace.", slider=(0, 1)),
                number("pick_channel", 0, 31, 0, "Its channel.", slider=(0, 1)),
            ], pinned=True),
        ]  # fmt: skip

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Open the whole window of a new picture; set a preset's numbers, and call other numbers nobody's preset."""
        more: dict[str, Any] = {}
        if "picture" in changes:
            height, width = _image(state["picture"]).shape[:2]
            more.update(horiz_size=width, vert_size=height, src_horiz_size=width, horiz_start_pos=0, vert_start_pos=0)
            more.update(_FIRST_PICK[state["picture"]])
        if changes.get("csc_preset", _OWN) != _OWN:
            preset = csc_preset(state["csc_preset"], state["profile"])
            more.update({name: getattr(preset, name) for name in _CSC})
        elif changes.keys() & {*_CSC, "profile"}:
            more["csc_preset"] = _preset_of(parameters_from(AippColorSpaceConvParams, state), state["profile"])
        return more

    def settle(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take a preset's name from numbers that were set to others in the same step."""
        name, numbers = state["csc_preset"], parameters_from(AippColorSpaceConvParams, state)
        if name == _OWN or csc_preset(name, state["profile"]) == numbers:
            return {}
        return {"csc_preset": _preset_of(numbers, state["profile"])}

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, Slider]:
        """Window sliders end at the picture, border sliders at what its blocks allow, picks at the result."""
        height, width = _image(state["picture"]).shape[:2]
        ends: dict[str, Slider] = {
            "horiz_size": (2, width),
            "vert_size": (2, height),
            "src_horiz_size": (2, width),
            "horiz_start_pos": (0, width - 2),
            "vert_start_pos": (0, height - 2),
            **dict.fromkeys(_PADS, (0, min(32, height))),
            **dict.fromkeys(_CONSTANTS, (0, 255) if state["dtype"] == "uint8" else (-128, 127)),
        }
        ends.update(
            (name, (0, max(1, length - 1)))
            for name, length in zip(("pick_row", "pick_column", "pick_channel"), self._shape, strict=True)
        )
        return ends

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Name what this product, format or output type does not have, or does not look at."""
        reasons = {}
        if state["product"] is not Product.ATLAS_350:
            reasons["profile"] = f"The open kernel is for {Product.ATLAS_350} only."
        if state["input_format"] is not AippInputFormat.XRGB8888_U8:
            reasons["x_first"] = "Only XRGB8888 has an X."
        if state["product"] is Product.ATLAS_200I_500_A2:
            reasons |= {f"dtc_min_ch{c}": f"{state['product']} has no min." for c in range(3)}
        else:
            reasons["dtc_round_mode"] = f"Only {Product.ATLAS_200I_500_A2} can change the rounding."
        if state["dtype"] != "half":
            reasons |= {f"dtc_{n}_ch{c}": "Only half uses min and var." for n in ("min", "var") for c in range(3)}
        if state["dtype"] == "uint8":
            reasons |= {f"dtc_mean_ch{c}": "uint8 is not converted." for c in range(3)}
        for name, (_, formats) in SWAP_FORMATS.items():
            if state["input_format"] not in formats:
                reasons[name] = f"Only {' and '.join(f.name for f in formats)} can swap this way."
        if not state["padding_mode"] and state["profile"] == "documented":
            reasons |= dict.fromkeys(("top_pad_size", "bot_pad_size"), "Mode 0 pads left and right only.")
        if state["padding_mode"]:
            reasons |= {f"padding_value_ch{c}": "Only mode 0 pads with constants." for c in range(4)}
        if state["is_single_line_copy"]:
            reasons["vert_size"] = "A single line is one row high."
        return reasons

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Make the call that the state describes, and its picture."""
        setup, params = self._call(state, state["profile"])
        array = load_image_to_local(setup, params)
        other = None
        if state["view"] == "difference":
            setup, params = self._call(state, "documented")
            array = load_image_to_local(setup, params)
            other = load_image_to_local(*self._call(state, "dav_3510"))
        plan = aipp_plan(setup, params)
        call = Call(load_image_to_local, {"setup": setup, "params": params})
        self._shape = plan.shape
        pick = (state["pick_row"], state["pick_column"], state["pick_channel"])
        try:
            origin, words = trace(call).origin(*pick), ""
        except ParameterError as error:
            origin, words = None, str(error)
        scene = Scene(
            setup=setup, params=params, plan=plan, array=array, rgb=_sources(*self._source_key(state))[0],
            channel=pick[2] if origin else 0, picked=pick[:2] if origin else None, origin=origin, other=other,
        )  # fmt: skip
        room = setup.product.buffers["L1"]
        return Shown(
            png=self._picture.draw(state["view"], scene),
            alt=describe(state["view"], scene),
            summary=summarise(array),
            origin=words or say_origin(scene),
            cpp=to_cpp(call),
            python=_python(state, call),
            occupancy=Occupancy("L1", array.nbytes, room),
        )

    def _source_key(self, state: Mapping[str, Any]) -> tuple[str, AippInputFormat, bool]:
        return state["picture"], state["input_format"], state["x_first"]

    def _call(self, state: Mapping[str, Any], profile: str) -> tuple[Any, LoadImageToLocalParams]:
        _, src0, src1 = _sources(*self._source_key(state))
        setup = set_aipp_functions(
            src0, src1, input_format=state["input_format"], config=parameters_from(AippParams, state),
            dtype=state["dtype"], product=state["product"], profile=profile,
        )  # fmt: skip
        return setup, parameters_from(LoadImageToLocalParams, state)


def _preset_of(params: AippColorSpaceConvParams, profile: str) -> str:
    """Name the standard conversion that the numbers are, if any."""
    return next((name for name in CSC_PRESETS if csc_preset(name, profile) == params), _OWN)


def _python(state: Mapping[str, Any], call: Call) -> str:
    """Write the call, and before it how src0 and src1 are made, so that it runs as it stands there."""
    maker = "photograph" if state["picture"] == "photograph" else "number_picture"
    last = "" if state["x_first"] or state["input_format"] is not AippInputFormat.XRGB8888_U8 else ", x_first=False"
    line = f"src0, src1 = to_format({maker}(), AippInputFormat.{state['input_format'].name}{last})"
    return to_python(call, sources=(line,), names=dict.fromkeys((maker, "to_format"), "ascendlab.pictures"))


def aipp(*, group: str | None = None, **preset: Any) -> AippExplorer:
    """Explore SetAippFunctions and LoadImageToLocal.

    Parameters
    ----------
    group : str, optional
        Which controls are open at first: "Picture", "Window", "Padding", "Swap, line", "Type", "Channels", "Colour".
    **preset
        First values: any field of `AippParams`' five parts and of `LoadImageToLocalParams` by its name, and
        ``picture`` ("photograph" or "numbers"), ``input_format``, ``x_first``, ``product``, ``profile``, ``dtype``,
        ``csc_preset``, ``view`` ("both", "result", "source", "channels", "difference"), ``pick_row``,
        ``pick_column``, ``pick_channel``.

    Returns
    -------
    AippExplorer
        A widget; `AippExplorer.set` changes it from code, `AippExplorer.still` is its picture alone.

    Raises
    ------
    ParameterError
        For a preset that does not exist, and for a value that its control does not take.

    Examples
    --------
    >>> explorer = aipp(picture="numbers", padding_mode=3, left_pad_size=4, pick_column=3)
    >>> explorer.shown.summary
    '(8, 12, 32) uint8, 3,072 bytes, checksum 68a50584'
    >>> explorer.shown.origin
    'element (0, 3, 0) = 0: src0[0, 0, 0], which is 0'
    """
    return AippExplorer(group=group, **preset)
