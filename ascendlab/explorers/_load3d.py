"""The explorer of Load3D: LoadData with LoadData3DParamsV1 and LoadData3DParamsV2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ascendlab.cpp import to_cpp
from ascendlab.dtypes import as_dtype
from ascendlab.errors import AscendlabError, ParameterError
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import Control, Slider, choice, control_of, controls_of, number, parameters_from
from ascendlab.fields import Parameters, check_bool, fields_of
from ascendlab.load3d import (
    Load,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    load_data_3d_v1,
    load_data_3d_v2,
    plan_load_data_3d_v1,
    plan_load_data_3d_v2,
)
from ascendlab.load3d_calls import geometry_of
from ascendlab.load3d_rules import IM2COL_TYPES, TRANSPOSED_TYPES, V1_PRODUCTS, V2_PRODUCTS
from ascendlab.plots._load3d_look import (
    NOWHERE,
    element_at,
    ends_of,
    index_of,
    nearest_element,
    require_small,
    say_size,
    scene_of_pick,
    scene_without_pick,
    v1_channels,
    what_is_left,
)
from ascendlab.plots.load3d import VIEWS, Load3DPicture, describe, say_origin
from ascendlab.products import Product
from ascendlab.provenance import Call
from ascendlab.pycode import to_python
from ascendlab.samples import numbered_feature_map
from ascendlab.summary import Occupancy, summarise

__all__ = ["Load3DExplorer", "load3d"]

FORMS = {"LoadData3DParamsV2": "V2", "LoadData3DParamsV1": "V1"}
_PADS = ("padding_left", "padding_right", "padding_top", "padding_bottom")
_MAP = ("l1_h", "l1_w", "channel_size")
_FILTER = ("filter_w", "filter_h", "stride_w", "stride_h", "dilation_filter_w", "dilation_filter_h")
_TILE = ("m_start_pt", "m_extension", "k_start_pt", "k_extension")
_V2_ONLY = ("en_transpose", "en_small_k", "f_matrix_ctrl", "filter_size_w", "filter_size_h")
_REPEAT_ONLY = ("repeat_stride", "dst_stride")
_V1_ONLY = (
    "left_top_w", "left_top_h", "fetch_filter_w", "fetch_filter_h", "c1_index", "jump_stride", "c_size",
)  # fmt: skip
_PICK = ("pick_m", "pick_k")
_REPEAT_MODES = {"0: M; V1: filter points": 0, "1: K; V1: windows": 1}
_FIRST = {
    "l1_h": 5, "l1_w": 6, "channel_size": 16, "filter_w": 3, "filter_h": 3, "m_extension": 30, "k_extension": 144,
}  # fmt: skip


def _some(structure: type[Parameters], names: tuple[str, ...], **more: Any) -> list[Control]:
    """Make the controls of these fields alone."""
    return controls_of(structure, leave_out=fields_of(structure).keys() - set(names), **more)


class Load3DExplorer(Explorer):
    """Every parameter of Load3D, on a feature map whose samples are numbered.

    Made by `ascendlab.explorers.load3d`, where the presets are described.
    """

    size = (760, 560)
    title = "Load3D"

    def __init__(self, **preset: Any) -> None:
        self._picture = Load3DPicture(*self.size)
        self._ends: dict[str, tuple[int, int]] = {}
        super().__init__(**preset)

    def groups(self) -> list[Group]:
        """Return the call, the feature map, the filter, the tile, the repeats, and what to look at."""
        v2 = fields_of(LoadData3DParamsV2)
        pads = v2["pad_list"]
        low, high = int(pads.low or 0), int(pads.high or 0)
        unit = {"m_start_pt": 16, "m_extension": 16, "k_start_pt": 16, "k_extension": 16}
        return [
            Group("Call", [
                choice("form", FORMS, "V2", "Which structure of parameters the call gets."),
                choice("product", {str(p): p for p in Product}, Product.ATLAS_A2, "The product."),
                choice("dst", {"A2: L0A": "A2", "B2: L0B": "B2"}, "A2", "Where the fractals go."),
                choice("dtype", {t: t for t in IM2COL_TYPES}, "half", "Type of src and dst, template T."),
                *_some(LoadData3DParamsV2, ("en_transpose", "en_small_k", "f_matrix_ctrl")),
            ], "Product, destination and en_transpose decide the layout of the fractals."),
            Group("Feature map", [
                *_some(LoadData3DParamsV2, _MAP, defaults=_FIRST,
                       sliders={"l1_h": (1, 16), "l1_w": (1, 16), "channel_size": (4, 64)}, steps={"channel_size": 4}),
                *(number(name, low, high, 1, f"{pads.document_name}[{i}]: {pads.meaning} · {pads.table}",
                         slider=(0, 4)) for i, name in enumerate(_PADS)),
                control_of("pad_value", v2["pad_value"], slider=(-8, 8), step=1),
            ], "Table 4. Sample (row, column, c) is number c * H * W + row * W + column + 1."),
            Group("Filter", [
                *_some(LoadData3DParamsV2, _FILTER, defaults=_FIRST, sliders=dict.fromkeys(_FILTER, (1, 5))),
                *_some(LoadData3DParamsV2, ("filter_size_w", "filter_size_h")),
            ], "Table 4. A window covers (filter - 1) * dilation + 1 pixels along each axis."),
            Group("Tile", [
                Control("whole_matrix", "flag", True, "Whether starts and extensions follow the matrix: all of it.",
                        check=lambda value: check_bool("whole_matrix", value)),
                *(control_of(name, v2[name], default=_FIRST.get(name), slider=(0, 1), step=unit[name])
                  for name in _TILE),
            ], "V2: which rows (M, windows) and columns (K) are loaded. C0 = 32 bytes / size of the type."),
            Group("Repeat", [
                control_of("repeat_time", fields_of(LoadDataRepeatParam)["repeat_time"], slider=(1, 8)),
                choice("repeat_mode", _REPEAT_MODES, 0, fields_of(LoadDataRepeatParam)["repeat_mode"].meaning),
                *_some(LoadDataRepeatParam, _REPEAT_ONLY, sliders=dict.fromkeys(_REPEAT_ONLY, (0, 8))),
            ], "V2: SetLoadDataRepeat. V1: each repeat loads one fractal."),
            Group("V1", _some(LoadData3DParamsV1, _V1_ONLY, sliders={
                "left_top_w": (-4, 8), "left_top_h": (-4, 8), "fetch_filter_w": (0, 4), "fetch_filter_h": (0, 4),
                "c1_index": (0, 3), "jump_stride": (1, 4),
            }), "Table 3: the first window's corner, the first filter point, the way to the next fractal."),
            Group("Look at", [
                choice("view", VIEWS, "overview", "What the picture shows."),
                number("pick_m", 0, 2**31 - 1, 7, "Row of the matrix: the window.", slider=(0, 1)),
                number("pick_k", 0, 2**31 - 1, 37, "Column of the matrix: filter point and channel.", slider=(0, 1)),
                number("pick", NOWHERE, 2**31 - 1, 629, "Element of dst, -1: one that is not loaded.", slider=(-1, 0)),
            ], pinned=True),
        ]  # fmt: skip

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep the product, the whole matrix and the picked element in step with what was changed."""
        more = self._follow_form(changes, state)
        if changes.keys() & set(_TILE):
            more["whole_matrix"] = False
        more |= self._follow_matrix(changes, {**state, **more, **changes})
        more |= self._follow_pick(changes, {**state, **more, **changes})
        return more

    def _follow_form(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
        """Go to a product that has the structure, and to a feature map that V1 can have."""
        more: dict[str, Any] = {}
        products = V1_PRODUCTS if state["form"] == "V1" else V2_PRODUCTS[::-1]
        if "form" in changes and state["product"] not in products:
            more["product"] = products[0]
        if state["form"] == "V1":
            if changes.keys() & {"form", "padding_left", "padding_top"}:
                more |= {"left_top_w": -state["padding_left"], "left_top_h": -state["padding_top"]}
            if changes.keys() & {"form", "dtype", "c_size"}:
                few = bool(state["c_size"])
                more["channel_size"] = v1_channels(as_dtype(state["dtype"]), state["channel_size"], few=few)
        return more

    def _follow_matrix(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
        """Take the whole matrix, if that is wanted; else what is left of it behind a start that was moved."""
        if state["form"] == "V1":
            return {}
        try:
            geometry = geometry_of(_params(LoadData3DParamsV2, state), state["channel_size"], 1)
            if state["whole_matrix"]:
                tile = dict(zip(_TILE, (0, geometry.m, 0, geometry.k), strict=True))
            else:
                tile = {
                    f"{axis}_extension": what_is_left(size, state[f"{axis}_start_pt"], state[f"{axis}_extension"])
                    for axis, size in (("m", geometry.m), ("k", geometry.k))
                    if f"{axis}_start_pt" in changes
                }
            return {name: fields_of(LoadData3DParamsV2)[name].check(value) for name, value in tile.items()}
        except AscendlabError:  # no window fits, or too many do: the call will say so
            return {}

    def _follow_pick(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
        """Find the picked element's other names."""
        try:
            load = _plan(_source(state), state)
            if "pick" in changes and not changes.keys() & set(_PICK):
                found = element_at(load, state["pick"])
                return dict(zip(_PICK, found, strict=True)) if found else {}
            there = dict(zip(_PICK, nearest_element(load, state["pick_m"], state["pick_k"]), strict=True))
            asked = {name: value for name, value in changes.items() if name in _PICK}
            return {**there, "pick": index_of(load, **_without_prefix({**there, **asked}))}
        except AscendlabError:  # an impossible call, or an element that it does not have: what is shown will say so
            return {}

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, Slider]:
        """End the sliders at what there is to look at and to load."""
        return self._ends

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Name what the other structure has, and what the product or the destination lacks."""
        product, reasons = state["product"], {}
        if state["form"] == "V1":
            names = (*_V2_ONLY, *_REPEAT_ONLY, *_TILE, "whole_matrix")
            return dict.fromkeys(names, "LoadData3DParamsV1 does not have it.")
        reasons = dict.fromkeys(_V1_ONLY, "LoadData3DParamsV2 does not have it.")
        if product is Product.ATLAS_INFERENCE_AI_CORE:
            reasons |= dict.fromkeys(("repeat_time", "repeat_mode", "repeat_stride"), f"{product} has no repeat.")
            reasons |= dict.fromkeys(("filter_size_w", "filter_size_h"), f"{product} has no larger filters.")
        if product is not Product.ATLAS_350:
            reasons["dst_stride"] = f"Only {Product.ATLAS_350} has it."
        if state["dst"] == "B2":
            reasons["en_transpose"] = "L0B gets every fractal transposed anyway."
        elif state["dtype"] not in TRANSPOSED_TYPES.get(product, ()):
            reasons["en_transpose"] = f"{product} does not transpose {state['dtype']}."
        return reasons

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Make the call that the state describes, and its picture."""
        src = _source(state)
        load = _plan(src, state)
        call = Call(load_data_3d_v1 if state["form"] == "V1" else load_data_3d_v2, {"src": src, **_arguments(state)})
        out = call.run()
        self._ends = ends_of(load)
        try:
            scene, words = scene_of_pick(src, load, state["pick_m"], state["pick_k"], state["pick"], out), ""
        except ParameterError as error:
            scene, words = scene_without_pick(src, load, out), str(error)
        return Shown(
            png=self._picture.draw(state["view"], scene),
            alt=describe(state["view"], scene),
            summary=f"{summarise(out)}; {say_size(scene)}",
            origin=words or say_origin(scene),
            cpp=to_cpp(call),
            python=_python(state, call),
            occupancy=Occupancy(load.buffer, load.nbytes, load.capacity or 0),
        )


def _params(structure: Any, state: Mapping[str, Any]) -> Any:
    """Make a structure's parameters, padList from its four controls."""
    return parameters_from(structure, {**state, "pad_list": tuple(state[name] for name in _PADS)})


def _arguments(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call's arguments apart from the feature map."""
    where = {"dst": state["dst"], "product": state["product"]}
    if state["form"] == "V1":
        return {"params": _params(LoadData3DParamsV1, state), **where}
    return {"params": _params(LoadData3DParamsV2, state), **where, "repeat": _params(LoadDataRepeatParam, state)}


def _source(state: Mapping[str, Any]) -> NDArray[Any]:
    height, width, channels = (state[name] for name in _MAP)
    return numbered_feature_map(state["dtype"], height, width, channels, state["product"])


def _plan(src: NDArray[Any], state: Mapping[str, Any]) -> Load:
    """Plan the call; refuse what could be loaded, but not be looked at."""
    load = (plan_load_data_3d_v1 if state["form"] == "V1" else plan_load_data_3d_v2)(src, **_arguments(state))
    require_small(load)
    return load


def _without_prefix(picks: Mapping[str, int]) -> dict[str, int]:
    return {name.removeprefix("pick_"): value for name, value in picks.items()}


def _python(state: Mapping[str, Any], call: Call) -> str:
    """Write the call, and before it how src is made, so that it runs as it stands there."""
    numbers = ", ".join(str(state[name]) for name in _MAP)
    line = f'src = numbered_feature_map("{state["dtype"]}", {numbers}, Product.{state["product"].name})'
    return to_python(call, sources=(line,), names={"numbered_feature_map": "ascendlab.samples", "Product": "ascendlab"})


def load3d(*, group: str | None = None, **preset: Any) -> Load3DExplorer:
    """Explore Load3D.

    Parameters
    ----------
    group : str, optional
        Which controls are open at first: "Call", "Feature map", "Filter", "Tile", "Repeat", "V1".
    **preset
        First values: any field of `LoadData3DParamsV2`, `LoadData3DParamsV1` and `LoadDataRepeatParam` by its name
        (for ``pad_list``: ``padding_left``, ``padding_right``, ``padding_top``, ``padding_bottom``), and ``form``
        ("V2" or "V1"), ``product``, ``dst``, ``dtype``, ``whole_matrix``, ``view`` ("overview", "matrix", "fractal",
        "tile", "k_index"), ``pick_m``, ``pick_k``, ``pick``.

    Returns
    -------
    Load3DExplorer

    Raises
    ------
    ParameterError
        For a preset that does not exist, and for a value that its control does not take.

    Examples
    --------
    >>> explorer = load3d(stride_w=2, pick_m=4)
    >>> explorer.state["m_extension"], explorer.state["pick"]
    (15, 581)
    >>> explorer.shown.summary  # doctest: +NORMALIZE_WHITESPACE
    '(1, 9, 16, 16) half, 4,608 bytes, checksum 93a67f4b; Ho = (5 + 1 + 1 - 3) // 1 + 1 = 5,
    Wo = (6 + 1 + 1 - 3) // 2 + 1 = 3, M = 5 * 3 = 15, K = 3 * 3 * 16 = 144'
    """
    return Load3DExplorer(group=group, **preset)
