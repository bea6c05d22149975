"""The explorer of Load3D: every control does what the call with that parameter does."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from explorer_page import random_step, run_python, shown_alt, shown_png, text

from ascendlab import (
    AscendlabError,
    Call,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    ParameterError,
    Product,
    explorers,
    load_data_3d_v1,
    load_data_3d_v2,
    to_nc1hwc0,
    trace,
)
from ascendlab.cpp import to_cpp
from ascendlab.explorers._load3d import Load3DExplorer
from ascendlab.fields import fields_of
from ascendlab.load3d import plan_load_data_3d_v1, plan_load_data_3d_v2
from ascendlab.plots import load3d as plot
from ascendlab.summary import summarise

NUMPY = {
    "int4": ml_dtypes.int4, "int8": np.int8, "uint8": np.uint8, "fp8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "fp8_e5m2": ml_dtypes.float8_e5m2, "half": np.float16, "bfloat16": ml_dtypes.bfloat16, "int32": np.int32,
    "uint32": np.uint32, "float": np.float32,
}  # fmt: skip
LAST = {"int4": 7, "int8": 127, "uint8": 255, "fp8_e4m3fn": 16, "fp8_e5m2": 8, "bfloat16": 256}
SIDES = ("padding_left", "padding_right", "padding_top", "padding_bottom")
PICTURE = plot.Load3DPicture()


@pytest.fixture(scope="module")
def one_explorer() -> Load3DExplorer:
    """Make one explorer: most tests only move its controls."""
    return explorers.load3d()


@pytest.fixture
def explorer(one_explorer: Load3DExplorer) -> Load3DExplorer:
    """Return the explorer with its first values."""
    one_explorer.reset()
    return one_explorer


def make_call(state: dict[str, Any]) -> Call:
    """Make the call that a state stands for, without the explorer's help."""
    height, width, channels = state["l1_h"], state["l1_w"], state["channel_size"]
    if height * width * channels > 2**21:
        raise OverflowError("no array is made for what no L1 holds")
    number = np.arange(channels)[None, None] * height * width + np.arange(height * width).reshape(height, width, 1)
    src = to_nc1hwc0((number % LAST.get(state["dtype"], 999) + 1).astype(NUMPY[state["dtype"]]))
    pads = [state[side] for side in SIDES]

    def params(structure: Any) -> Any:
        names = [name for name in fields_of(structure) if name != "pad_list"]
        more = {"pad_list": pads} if "pad_list" in fields_of(structure) else {}
        return structure(**{name: state[name] for name in names}, **more)

    where = {"dst": state["dst"], "product": state["product"]}
    if state["form"] == "V1":
        return Call(load_data_3d_v1, {"src": src, "params": params(LoadData3DParamsV1), **where})
    repeat = params(LoadDataRepeatParam)
    return Call(load_data_3d_v2, {"src": src, "params": params(LoadData3DParamsV2), **where, "repeat": repeat})


def plan_of(call: Call) -> Any:
    """Plan a call."""
    return (plan_load_data_3d_v1 if call.function is load_data_3d_v1 else plan_load_data_3d_v2)(**call.arguments)


def check(explorer: Load3DExplorer) -> np.ndarray:
    """Compare everything that is shown with direct calls; return the result."""
    state = dict(explorer.state)
    call = make_call(state)
    out, load = np.asarray(call.run()), plan_of(call)
    src, index = call.arguments["src"], state["pick"]
    if index >= 0:
        scene = plot.scene_at(src, load, index) if index < out.size else None
    else:
        there = state["pick_m"] < load.geometry.m and state["pick_k"] < load.geometry.k
        scene = plot.scene_of(src, load, m=state["pick_m"], k=state["pick_k"]) if there else None
    if scene is not None:
        assert shown_png(explorer) == PICTURE.draw(state["view"], scene)
        assert shown_alt(explorer) == plot.describe(state["view"], scene)
        assert plot.say_origin(scene) in text(explorer.origin)
    if scene is not None and scene.place is not None:
        origin = trace(call).origin(*scene.place)
        words = str(origin) if origin.terms else "pad value" if origin.constant is not None else "never written"
        assert words in text(explorer.origin)
    assert summarise(out) in text(explorer.summary)
    bits = 4 if state["dtype"] == "int4" else 8 * out.itemsize
    assert f"L0{state['dst'][0]}: {out.size * bits // 8:,} of 65,536 bytes" in text(explorer.summary)
    assert to_cpp(call) in text(explorer.cpp)
    result = run_python(explorer)["result"]
    assert result.dtype == out.dtype
    np.testing.assert_array_equal(result.view(f"u{out.itemsize}"), out.view(f"u{out.itemsize}"))
    return out


def page(explorer: Load3DExplorer) -> tuple[str, ...]:
    """Return all that a page shows."""
    parts = (explorer.picture, explorer.summary, explorer.origin, explorer.cpp, explorer.python)
    return tuple(part.value for part in parts)


V1 = {"form": "V1"}
CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    # what is set, and what must be set before so that it shows
    "form": ("V1", {}),
    "product": (Product.ATLAS_350, {}),
    "dst": ("B2", {}),
    "dtype": ("float", {}),
    "en_transpose": (True, {}),
    "l1_h": (7, {}),
    "l1_w": (4, {}),
    "channel_size": (20, {}),
    "padding_left": (3, {}),
    "padding_right": (0, {}),
    "padding_top": (2, {}),
    "padding_bottom": (4, {}),
    "pad_value": (-2.5, {}),
    "filter_w": (2, {}),
    "filter_h": (4, {}),
    "stride_w": (2, {}),
    "stride_h": (3, {}),
    "dilation_filter_w": (2, {}),
    "dilation_filter_h": (2, {}),
    "filter_size_w": (True, {"padding_left": 255, "filter_h": 1, "filter_w": 0, "l1_h": 2, "channel_size": 4}),
    "filter_size_h": (True, {"padding_top": 255, "filter_w": 1, "filter_h": 0, "l1_w": 2, "channel_size": 4}),
    "whole_matrix": (True, {"m_extension": 16}),
    "m_start_pt": (16, {}),
    "m_extension": (16, {}),
    "k_start_pt": (32, {}),
    "k_extension": (64, {}),
    "repeat_time": (2, {"k_extension": 32}),
    "repeat_mode": (1, {"k_extension": 32, "m_extension": 16, "repeat_time": 2, "repeat_stride": 1}),
    "repeat_stride": (1, {"m_extension": 16, "repeat_time": 2}),
    "dst_stride": (3, {"product": Product.ATLAS_350}),
    "left_top_w": (0, V1),
    "left_top_h": (2, V1),
    "fetch_filter_w": (2, V1),
    "fetch_filter_h": (1, V1),
    "c1_index": (1, {**V1, "channel_size": 32}),
    "jump_stride": (2, {**V1, "repeat_time": 3}),
    "c_size": (1, V1),
    "view": ("tile", {}),
    "pick_m": (12, {}),
    "pick_k": (100, {}),
    "pick": (300, {}),
}
LOOKED_AT = {"view", "pick_m", "pick_k", "pick"}
NEVER_TRUE = {"en_small_k", "f_matrix_ctrl"}


@pytest.mark.parametrize("name", CHANGES)
def test_each_control(explorer: Load3DExplorer, name: str) -> None:
    """Setting a control changes picture, texts and code to those of the direct call."""
    value, before = CHANGES[name]
    explorer.set(**before)
    old = page(explorer)
    explorer.controls[name].box.value = value
    assert explorer.state[name] == value
    assert "Not possible" not in explorer.message.value
    check(explorer)
    assert page(explorer) != old
    if name not in LOOKED_AT:
        assert page(explorer)[3:] != old[3:]


def test_every_parameter_has_a_control(explorer: Load3DExplorer) -> None:
    """All fields of the three structures are reachable, with the documented range, and tested above."""
    for structure in (LoadData3DParamsV2, LoadDataRepeatParam, LoadData3DParamsV1):
        for name, spec in fields_of(structure).items():
            for control in SIDES if name == "pad_list" else [name]:
                box = explorer.controls[control].box
                assert box.description == control
                if hasattr(box, "min") and spec.low is not None:
                    assert box.min <= spec.low
                    assert box.max >= spec.high
    assert set(explorer.controls) == set(CHANGES) | NEVER_TRUE


def test_what_is_no_longer_supported_is_refused_by_name(explorer: Load3DExplorer) -> None:
    """Both switches that the document no longer has say so, and go back."""
    for name, word in (("en_small_k", "enSmallK"), ("f_matrix_ctrl", "fMatrixCtrl")):
        explorer.controls[name].box.value = True
        assert f"{word} = True is not allowed" in text(explorer.message)
        assert "last possible setting" in explorer.picture.value or not explorer.state[name]
        explorer.reset()


@pytest.mark.parametrize(
    "name", ["l1_h", "filter_w", "padding_left", "stride_h", "dilation_filter_w", "pick_m", "pick"]
)
def test_sliders(explorer: Load3DExplorer, name: str) -> None:
    """A slider does what its box does."""
    control = explorer.controls[name]
    control.slider.value = control.slider.min + 2 * control.slider.step
    assert explorer.state[name] == control.box.value == control.slider.value
    check(explorer)


def test_the_window_slider_walks_over_all_windows(explorer: Load3DExplorer) -> None:
    """The slider of the window ends at the last one, and the picked element stays the same column everywhere."""
    slider = explorer.controls["pick_m"].slider
    assert (slider.min, slider.max) == (0, 29)
    slider.value = 29
    assert "matrix[29, 37]" in text(explorer.origin)
    assert explorer.state["pick"] == np.ravel_multi_index((1, 2, 13, 5), (2, 9, 16, 16))
    explorer.controls["stride_w"].box.value = 3
    assert slider.max == 9
    assert explorer.state["pick_m"] == 9  # the last window that there is now
    check(explorer)


def test_the_whole_matrix_is_followed_until_the_tile_is_changed(explorer: Load3DExplorer) -> None:
    """Extensions follow M and K; whoever sets one of them has a tile, whose extension ends with the matrix."""
    explorer.controls["filter_h"].box.value = 2
    assert (explorer.state["m_extension"], explorer.state["k_extension"]) == (36, 96)
    explorer.controls["m_start_pt"].box.value = 16
    assert not explorer.state["whole_matrix"]
    assert (explorer.state["m_start_pt"], explorer.state["m_extension"]) == (16, 20)
    check(explorer)
    explorer.controls["filter_h"].box.value = 3
    assert "mExtension = 20" in text(explorer.message)
    explorer.controls["whole_matrix"].box.value = True
    assert (explorer.state["m_start_pt"], explorer.state["m_extension"]) == (0, 30)
    check(explorer)


def test_both_ways_of_picking_stay_in_step(explorer: Load3DExplorer) -> None:
    """Picking a place of the result names its matrix element, and the other way round, in every layout."""
    for settings in ({}, {"product": Product.ATLAS_350}, {"dst": "B2"}, {"en_transpose": True}):
        explorer.set(**settings)
        explorer.controls["pick"].box.value = 700
        element = (explorer.state["pick_m"], explorer.state["pick_k"])
        explorer.controls["pick_m"].box.value = 3
        explorer.controls["pick_m"].box.value = element[0]
        assert explorer.state["pick"] == 700
        check(explorer)
        explorer.reset()
    explorer.controls["m_extension"].box.value = 16
    explorer.controls["pick_m"].box.value = 20
    assert explorer.state["pick"] == -1
    assert "This call does not load it" in text(explorer.origin)
    check(explorer)


@pytest.mark.parametrize("change", [{"pick": 10**6}, {"pick_m": 99}, {"pick_k": 500}])
def test_a_pick_that_there_is_not_is_explained(explorer: Load3DExplorer, change: dict[str, int]) -> None:
    """The picture stays true, without a mark, and the line says what can be picked."""
    (name,) = change
    explorer.controls[name].box.value = change[name]
    assert f"= {change[name]} is not allowed" in text(explorer.origin)
    assert "Outlined" not in shown_alt(explorer)
    assert shown_alt(explorer).startswith("Load3D of half to L0A (ZZ)")
    check(explorer)


def test_places_that_are_never_written(explorer: Load3DExplorer) -> None:
    """Rows behind the last window, and gaps between fractals, can be picked and are called what they are."""
    explorer.controls["pick"].box.value = 4607  # row 31 of the last fractal, there are 30
    assert "never written" in text(explorer.origin)
    check(explorer)
    explorer.set(form="V1", repeat_time=2, jump_stride=2, pick=300)
    assert "never written" in text(explorer.origin)
    check(explorer)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filter_h": 8}, "(7 - 8) // 1 + 1 must be at least 1"),
        ({"dilation_filter_w": 4}, "Wo = (l1W + left + right - ((filterW - 1) * dilationFilterW + 1)) // strideW + 1"),
        ({"l1_h": 0}, "l1H = 0 is not allowed"),
        ({"k_start_pt": 10}, "kStartPt = 10 is not allowed; allowed: a multiple of C0 = 16"),
        ({"m_extension": 33}, "mExtension = 33 is not allowed; allowed: at most 32"),
        ({"channel_size": 17}, "channelSize = 17"),
        ({"product": Product.ATLAS_TRAINING}, "not supported on Atlas training"),
        ({"product": Product.ATLAS_INFERENCE_VECTOR_CORE}, "not supported on Atlas inference Vector Core"),
        ({"dst": "B2", "dtype": "int8"}, "to B2 on Atlas A2"),
        ({"l1_w": 32767}, "L1: 5,242,720 bytes needed, 524,288 bytes there"),
        ({"l1_h": 64, "l1_w": 64, "filter_w": 30, "filter_h": 30}, "L0A: 39"),
        ({"dtype": "int8", "pad_value": 0.5}, "padValue = 0.5"),
        ({"product": Product.ATLAS_INFERENCE_AI_CORE, "repeat_time": 2}, "which has no SetLoadDataRepeat"),
        ({"form": "V1", "repeat_time": 10}, "C1 * Hk * Wk = 1 * 3 * 3 = 9 filter points"),
        ({"form": "V1", "left_top_w": 6}, "leftTopW = 6 is not allowed"),
        ({"form": "V1", "channel_size": 20}, "src"),
    ],
)
def test_refusals_in_the_librarys_words(explorer: Load3DExplorer, change: dict[str, Any], message: str) -> None:
    """An impossible setting never raises; its message is shown and the picture is marked as old."""
    before = explorer.picture.value
    *first, last = change
    explorer.set(**{name: change[name] for name in first})
    explorer.controls[last].box.value = change[last]
    assert message in text(explorer.message)
    assert "last possible setting" in explorer.picture.value
    explorer.reset()
    assert explorer.picture.value == before


def test_the_meter_goes_beyond_the_buffer(explorer: Load3DExplorer) -> None:
    """What does not fit into L0A is shown all the same, and the meter says into how many parts it must be cut."""
    explorer.set(l1_h=24, l1_w=24)
    assert "L0A: 165,888 of 65,536 bytes (253 %), so at least 3 tiles" in text(explorer.summary)
    assert "M = 24 * 24 = 576, K = 3 * 3 * 16 = 144" in text(explorer.summary)
    check(explorer)


def test_the_other_structure_goes_to_a_product_that_has_it(explorer: Load3DExplorer) -> None:
    """V1 starts at the first window on inference AI Core; a feature map that it cannot have is made one that it can."""
    explorer.set(padding_left=2, dtype="int8")
    explorer.controls["form"].box.value = "V1"
    state = explorer.state
    assert (state["product"], state["left_top_w"], state["left_top_h"]) == (Product.ATLAS_INFERENCE_AI_CORE, -2, -1)
    assert state["channel_size"] == 32
    check(explorer)
    explorer.controls["c_size"].box.value = 1
    assert explorer.state["channel_size"] == 8
    explorer.controls["padding_left"].box.value = 0
    assert explorer.state["left_top_w"] == 0
    check(explorer)
    explorer.set(product=Product.ATLAS_TRAINING)
    explorer.controls["form"].box.value = "V2"
    assert explorer.state["product"] is Product.ATLAS_INFERENCE_AI_CORE
    check(explorer)


def test_fields_without_effect_are_grey(explorer: Load3DExplorer) -> None:
    """What the structure, the product or the destination does not have cannot be changed, and says why."""
    controls = explorer.controls
    assert controls["left_top_w"].box.disabled
    assert controls["dst_stride"].box.tooltip == "Only Atlas 350 has it."
    explorer.set(product=Product.ATLAS_350)
    assert not controls["dst_stride"].box.disabled
    explorer.set(dst="B2")
    assert controls["en_transpose"].box.disabled
    explorer.set(dst="A2", product=Product.ATLAS_INFERENCE_AI_CORE)
    assert controls["repeat_time"].box.disabled
    assert not controls["en_transpose"].box.disabled
    explorer.set(form="V1")
    assert controls["en_transpose"].box.disabled
    assert not controls["repeat_time"].box.disabled


def test_presets() -> None:
    """Presets are what the first picture shows; a wrong one is an error where it is written."""
    explorer = explorers.load3d(group="Tile", m_start_pt=16, view="tile", pick_m=20)
    assert (explorer.state["m_extension"], explorer.groups_bar.value) == (14, "Tile")
    check(explorer)
    with pytest.raises(ParameterError, match="Did you mean pick_m"):
        explorers.load3d(pick_n=3)
    with pytest.raises(ParameterError, match="strideW = 0"):
        explorers.load3d(stride_w=0)


def test_random_walks_never_raise(explorer: Load3DExplorer) -> None:
    """Whatever is changed in whatever order, each state is either shown truly or refused in words."""
    rng = np.random.default_rng(11)
    shown = refused = 0
    for _ in range(30):
        random_step(explorer, rng, {})
        state = dict(explorer.state)
        if "last possible setting" in explorer.picture.value:
            refused += 1
            assert "Not possible" in explorer.message.value
            if "bytes needed" not in text(explorer.message):
                with pytest.raises((AscendlabError, OverflowError)):
                    plan_of(make_call(state))
            explorer.reset()
        else:
            shown += 1
            check(explorer)
    assert shown > 8
    assert refused >= 3
