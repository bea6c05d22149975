"""The AIPP explorer: every control does what the call with that parameter does."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from explorer_page import page, run_python, shown_alt, shown_png, start_again, text
from numpy.typing import NDArray

from ascendlab import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSingleLineParams,
    AippSwapParams,
    AscendlabError,
    AscendlabWarning,
    Call,
    LoadImageToLocalParams,
    ParameterError,
    Product,
    csc_preset,
    explorers,
    load_image_to_local,
    set_aipp_functions,
    trace,
)
from ascendlab.aipp import aipp_plan
from ascendlab.aipp_params import CSC_PRESETS
from ascendlab.cpp import to_cpp
from ascendlab.explorers._aipp import AippExplorer
from ascendlab.fields import fields_of
from ascendlab.pictures import number_picture, photograph, to_format
from ascendlab.plots._aipp_picture import VIEWS, AippPicture, Scene, describe, say_origin
from ascendlab.summary import summarise

F = AippInputFormat
PARTS = {
    "padding_params": AippPaddingParams,
    "swap_params": AippSwapParams,
    "single_line_params": AippSingleLineParams,
    "dtc_params": AippDataTypeConvParams,
    "c_padding_params": AippChannelPaddingParams,
    "csc_params": AippColorSpaceConvParams,
}
DOCUMENTED = [name for part in PARTS.values() for name in fields_of(part)] + list(fields_of(LoadImageToLocalParams))


PICTURE = AippPicture()


@pytest.fixture(scope="module")
def shared() -> AippExplorer:
    """Make one explorer: most tests only move its controls."""
    return explorers.aipp(picture="numbers")


@pytest.fixture
def numbers(shared: AippExplorer) -> AippExplorer:
    """Return the explorer on the picture of numbers, with its first values."""
    shared.reset()
    return shared


def expected_call(state: dict[str, Any]) -> Call:
    """Make the call that a state stands for, without the explorer's help."""
    picture = photograph() if state["picture"] == "photograph" else number_picture()
    src0, src1 = to_format(picture, state["input_format"], x_first=state["x_first"])
    parts = {key: part(**{n: state[n] for n in fields_of(part)}) for key, part in PARTS.items()}
    setup = set_aipp_functions(
        src0, src1, input_format=state["input_format"], config=AippParams(**parts), dtype=state["dtype"],
        product=state["product"], profile=state["profile"],
    )  # fmt: skip
    window = LoadImageToLocalParams(**{n: state[n] for n in fields_of(LoadImageToLocalParams)})
    return Call(load_image_to_local, {"setup": setup, "params": window})


def run(state: dict[str, Any]) -> NDArray[Any]:
    """Make the call, with its warnings left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AscendlabWarning)
        return np.asarray(expected_call(state).run())


def check(explorer: AippExplorer, *, drawn: bool = True) -> NDArray[Any]:
    """Compare everything that is shown, the picture only if `drawn`, with direct calls; return the result."""
    state = dict(explorer.state)
    call = expected_call(state)
    setup, params = call.arguments["setup"], call.arguments["params"]
    array = call.run()
    pick = (state["pick_row"], state["pick_column"], state["pick_channel"])
    there = all(i < n for i, n in zip(pick, array.shape, strict=True))
    scene = Scene(
        setup=setup, params=params, plan=aipp_plan(setup, params), array=array,
        rgb=photograph() if state["picture"] == "photograph" else number_picture(),
        channel=pick[2] if there else 0, picked=pick[:2] if there else None,
        origin=trace(call).origin(*pick) if there else None,
    )  # fmt: skip
    assert not drawn or shown_png(explorer) == PICTURE.draw(state["view"], scene), "the picture of another figure"
    assert shown_alt(explorer) == describe(state["view"], scene)
    assert summarise(array) in text(explorer.summary)
    assert (say_origin(scene) if there else f"inside the result's shape {array.shape}") in text(explorer.origin)
    assert to_cpp(call) in text(explorer.cpp)
    names = run_python(explorer)
    np.testing.assert_array_equal(names["result"], array)
    assert names["params"] == params
    assert names["setup"].config == setup.config
    return np.asarray(array)


def test_every_documented_parameter_has_a_control(numbers: AippExplorer) -> None:
    """All members of the five-part structure and of the window are reachable, with the documented range."""
    for structure in (*PARTS.values(), LoadImageToLocalParams):
        for name, spec in fields_of(structure).items():
            box = numbers.controls[name].box
            assert box.description == name
            if spec.choices:
                assert [value for _, value in box.options] == list(spec.choices)
            elif spec.low is not None:
                assert (box.min, box.max) == (spec.low, spec.high)
    assert len(set(DOCUMENTED)) == len(DOCUMENTED), "one name, one control"


CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    # what is set, and what must be set before so that it shows
    "padding_mode": (3, {"left_pad_size": 3, "top_pad_size": 0}),
    **{f"padding_value_ch{c}": (11 + c, {"left_pad_size": 2, "pick_channel": c}) for c in range(4)},
    "is_swap_rb": (True, {}),
    "is_swap_uv": (True, {"input_format": F.YUV420SP_U8, "pick_channel": 1, "picture": "photograph"}),
    "is_swap_ax": (True, {"input_format": F.XRGB8888_U8}),
    "is_single_line_copy": (True, {"vert_start_pos": 2, "vert_size": 4}),
    **{f"dtc_mean_ch{c}": (9 + c, {"dtype": "int8", "pick_channel": c}) for c in range(3)},
    **{f"dtc_min_ch{c}": (2.5 + c, {"dtype": "half", "pick_channel": c}) for c in range(3)},
    **{f"dtc_var_ch{c}": (0.25 + c, {"dtype": "half", "pick_channel": c}) for c in range(3)},
    # 3 * (2049 / 2048) lies between two halves: the rounding mode decides.
    "dtc_round_mode": (1, {"dtype": "half", "product": Product.ATLAS_200I_500_A2, "dtc_var_ch0": 1.0009765625}),
    "c_padding_mode": (1, {}),
    "c_padding_value": (77, {"pick_channel": 5}),
    "is_enable_csc": (True, {"input_format": F.YUV420SP_U8, "csc_matrix_r0c0": 128}),
    **{f"csc_matrix_r{r}c{c}": (40 + 7 * r + c, {"is_enable_csc": True, "pick_channel": r})
       for r in range(3) for c in range(3)},
    **{f"csc_bias_in{c}": (30 + c, {"is_enable_csc": True, "pick_channel": c, "csc_matrix_r0c0": 9}) for c in range(3)},
    **{f"csc_bias_out{c}": (
        30 + c,
        {"is_enable_csc": True, "input_format": F.YUV400_U8, "pick_channel": 0, "csc_bias_out0": 1,
         "csc_matrix_r0c0": 256, "csc_matrix_r0c1": -256, "csc_matrix_r0c2": -256})
       for c in range(3)},
    "horiz_size": (6, {}),
    "vert_size": (5, {}),
    "horiz_start_pos": (2, {"horiz_size": 4}),
    "vert_start_pos": (3, {"vert_size": 4}),
    **{f"{side}_pad_size": (2, {"padding_mode": 1}) for side in ("top", "bot", "left", "right")},
    "input_format": (F.YUV400_U8, {}),
    "x_first": (False, {"input_format": F.XRGB8888_U8}),
    "dtype": ("half", {}),
    "view": ("channels", {}),
    "pick_row": (5, {}),
    "pick_column": (6, {}),
    "pick_channel": (2, {}),
    "picture": ("photograph", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_control_does_what_its_parameter_does(shared: AippExplorer, name: str) -> None:
    """Setting a control in the page changes picture, numbers and code to those of the direct call."""
    value, before = CHANGES[name]
    numbers = shared
    start_again(numbers, {"picture": "numbers", **before}, drawn=name not in DOCUMENTED)
    old = page(numbers)
    numbers.controls[name].box.value = value
    assert numbers.state[name] == value
    assert "Not possible" not in numbers.message.value
    check(numbers)
    if name in DOCUMENTED:
        assert page(numbers)[3:] != old[3:], "both codes say it"
    else:
        assert page(numbers)[0] != old[0]


def test_all_parameters_are_among_those_tested() -> None:
    """No documented parameter is left out above, except the ones that can only be refused."""
    refused = {"src_horiz_size", "sid"}
    assert set(DOCUMENTED) - set(CHANGES) == refused


@pytest.mark.parametrize("name", ["left_pad_size", "dtc_mean_ch0", "dtc_var_ch0", "c_padding_value", "pick_row"])
def test_sliders_and_boxes_move_together(numbers: AippExplorer, name: str) -> None:
    """A slider does what its box does."""
    numbers.set(dtype="half")
    control = numbers.controls[name]
    assert control.slider is not None
    target = control.slider.min + 3 * control.slider.step
    control.slider.value = target
    # half fields are stored rounded to half
    assert numbers.state[name] == pytest.approx(target, rel=1e-3)
    assert control.box.value == numbers.state[name]
    check(numbers)


@pytest.mark.parametrize("picture", ["photograph", "numbers"])
@pytest.mark.parametrize("input_format", F)
def test_every_format_of_every_picture(numbers: AippExplorer, picture: str, input_format: AippInputFormat) -> None:
    """The pictures come in all four formats."""
    numbers.set(picture=picture)
    numbers.controls["input_format"].box.value = input_format
    check(numbers)


@pytest.mark.parametrize("name", CSC_PRESETS)
def test_preset_matrices_in_one_click(shared: AippExplorer, name: str) -> None:
    """A preset sets the switch, nine coefficients and six biases at once, and the boxes show them."""
    to_rgb, numbers = name.startswith("yuv"), shared
    start_again(
        numbers,
        {"picture": "numbers", "input_format": F.YUV420SP_U8 if to_rgb else F.RGB888_U8},
        drawn=False,
    )
    numbers.controls["csc_preset"].box.value = name
    preset = csc_preset(name)
    for field in fields_of(AippColorSpaceConvParams):
        assert numbers.controls[field].box.value == getattr(preset, field)
    check(numbers, drawn=False)


def test_another_coefficient_is_nobodys_preset(numbers: AippExplorer) -> None:
    """The list of presets names what the numbers are, in both directions."""
    numbers.set(input_format=F.YUV420SP_U8, csc_preset="yuv_to_rgb_jpeg")
    numbers.controls["csc_matrix_r1c1"].box.value = -87
    assert numbers.controls["csc_preset"].box.value == "own"
    numbers.controls["csc_matrix_r1c1"].box.value = -88
    assert numbers.controls["csc_preset"].box.value == "yuv_to_rgb_jpeg"


def test_presets_follow_the_profile() -> None:
    """A preset that is chosen under dav_3510 fills the bias which that profile reads."""
    explorer = explorers.aipp(
        picture="numbers", input_format=F.YUV420SP_U8, product=Product.ATLAS_350, profile="dav_3510",
        csc_preset="yuv_to_rgb_bt601_narrow",
    )  # fmt: skip
    assert explorer.state["csc_bias_in0"] == 16
    assert explorer.state["csc_bias_out0"] == 0
    check(explorer)


def test_a_new_picture_brings_its_whole_window(numbers: AippExplorer) -> None:
    """Changing the picture resets the window and the slider ends to what makes sense there."""
    numbers.set(horiz_size=4, horiz_start_pos=2)
    assert numbers.controls["horiz_size"].slider.max == 8
    numbers.controls["picture"].box.value = "photograph"
    assert (numbers.state["horiz_size"], numbers.state["vert_size"], numbers.state["horiz_start_pos"]) == (206, 240, 0)
    assert numbers.controls["horiz_size"].slider.max == 206
    assert numbers.controls["left_pad_size"].slider.max == 32
    check(numbers)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"top_pad_size": 1}, "topPadSize = 1 is not allowed"),
        ({"horiz_start_pos": 3}, "horizStartPos = 3 is not allowed; allowed: an even integer"),
        ({"horiz_size": 4095}, "horizSize = 4095 is not allowed; allowed: at most 8"),
        ({"src_horiz_size": 6}, "srcHorizSize = 6 is not allowed; allowed: 8"),
        ({"vert_size": 1}, "vertSize = 1 is not allowed"),
        ({"is_swap_uv": True}, "isSwapUV"),
        ({"padding_value_ch0": 0.5}, "paddingValueCh0 = 0.5"),
        ({"c_padding_value": -1}, "cPaddingValue = -1"),
        ({"product": Product.ATLAS_TRAINING}, "not supported on Atlas training"),
        ({"product": Product.ATLAS_A2}, "dtype = 'uint8'"),
        ({"view": "difference"}, "profile = 'dav_3510'"),
        ({"padding_mode": 2, "left_pad_size": 9}, "leftPadSize = 9 is not allowed; allowed: at most 8"),
    ],
)
def test_the_impossible_is_said_in_the_librarys_words(
    numbers: AippExplorer, change: dict[str, Any], message: str
) -> None:
    """An impossible setting never raises: the message says why, the picture is marked, and the way back is open."""
    before = page(numbers)
    *first, last = change
    numbers.set(**{name: change[name] for name in first})
    numbers.controls[last].box.value = change[last]
    assert message in text(numbers.message)
    assert "last possible setting" in numbers.picture.value
    assert page(numbers) != before
    assert not numbers.controls[last].box.disabled
    numbers.reset()
    assert page(numbers) == before


@pytest.mark.parametrize(
    ("setting", "disabled", "enabled"),
    [
        ({}, ["profile", "dtc_round_mode", "x_first", "dtc_mean_ch0", "top_pad_size", "bot_pad_size"],
         ["padding_value_ch0", "vert_size", "left_pad_size", "right_pad_size"]),
        # The open kernel takes such a border, ignores it, and a note says so.
        ({"product": Product.ATLAS_350, "profile": "dav_3510"}, [], ["top_pad_size", "bot_pad_size"]),
        ({"product": Product.ATLAS_350}, ["dtc_round_mode"], ["profile"]),
        ({"product": Product.ATLAS_200I_500_A2, "dtype": "half"}, ["dtc_min_ch0", "profile"],
         ["dtc_round_mode", "dtc_var_ch1"]),
        ({"dtype": "int8"}, ["dtc_min_ch1", "dtc_var_ch2"], ["dtc_mean_ch2"]),
        ({"input_format": F.XRGB8888_U8}, [], ["x_first"]),
        ({"padding_mode": 1}, ["padding_value_ch3"], ["top_pad_size", "bot_pad_size"]),
        ({"is_single_line_copy": True}, [], []),
    ],
)  # fmt: skip
def test_what_a_product_lacks_is_disabled(
    numbers: AippExplorer, setting: dict[str, Any], disabled: list[str], enabled: list[str]
) -> None:
    """Controls without effect are greyed out, with the reason as tooltip."""
    numbers.set(**setting)
    assert [name for name in disabled if not numbers.controls[name].box.disabled] == []
    assert [name for name in enabled if numbers.controls[name].box.disabled] == []
    assert all(numbers.controls[name].box.tooltip != numbers.controls[name].control.help for name in disabled)


@pytest.mark.parametrize("input_format", F)
def test_swaps_that_a_format_lacks_are_disabled(numbers: AippExplorer, input_format: AippInputFormat) -> None:
    """A swap can be switched on where the library takes it, and nowhere else; the tooltip names the formats."""
    numbers.set(input_format=input_format)
    for name in fields_of(AippSwapParams):
        try:
            run({**numbers.state, name: True})
            refused = ""
        except ParameterError as error:
            refused = error.allowed
        box = numbers.controls[name].box
        assert box.disabled == bool(refused)
        if refused:
            assert refused.endswith(box.tooltip.removesuffix(".").replace("Only", "only"))


def test_a_lost_setting_can_be_undone(numbers: AippExplorer) -> None:
    """A rounding mode that the next product lacks is refused, and stays reachable until it is set back."""
    numbers.set(product=Product.ATLAS_200I_500_A2, dtype="half", dtc_round_mode=1)
    numbers.controls["product"].box.value = Product.ATLAS_A2
    assert "dtcRoundMode = 1 is not allowed" in text(numbers.message)
    assert not numbers.controls["dtc_round_mode"].box.disabled
    numbers.controls["dtc_round_mode"].box.value = 0
    assert numbers.controls["dtc_round_mode"].box.disabled
    check(numbers)


def test_warnings_of_the_library_are_notes_in_the_panel(numbers: AippExplorer) -> None:
    """A config that depends on which source is right says so where the reader looks."""
    numbers.set(input_format=F.YUV420SP_U8, csc_preset="yuv_to_rgb_jpeg", product=Product.ATLAS_350)
    assert "Note" not in text(numbers.message)
    numbers.controls["profile"].box.value = "dav_3510"
    assert "ignores cscBiasOut" in text(numbers.message)
    numbers.set(profile="documented", picture="photograph")
    numbers.controls["profile"].box.value = "dav_3510"
    assert "scratch memory" in text(numbers.message)


def test_the_difference_view_compares_the_profiles(numbers: AippExplorer) -> None:
    """The difference is the one between two direct calls, and each note appears once."""
    numbers.set(input_format=F.YUV420SP_U8, csc_preset="yuv_to_rgb_jpeg", product=Product.ATLAS_350, view="difference")
    notes = re.findall(r"<b>Note:</b> ([^<]*)", numbers.message.value)
    assert len(notes) == len(set(notes)) == 1
    state = dict(numbers.state)
    first, second = (run({**state, "profile": profile}) for profile in ("documented", "dav_3510"))
    largest = np.abs(second[:, :, :3].astype(int) - first[:, :, :3].astype(int)).max()
    assert f"difference, {largest} at most" in shown_alt(numbers)
    assert largest > 0


HALVES = {"product": Product.ATLAS_350, "dtype": "half", "view": "difference"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"is_swap_rb": True, "dtc_var_ch2": 0.0, "dtc_min_ch2": -65504.0}, "infinitely far apart or a number in one"),
        ({"is_swap_rb": True, "dtc_var_ch0": 1.0, "dtc_var_ch2": 65504.0}, "infinitely far apart or a number in one"),
        ({"dtc_var_ch0": 65504.0, "dtc_min_ch0": -65504.0}, "difference, 0 at most."),
    ],
    ids=["not a number", "infinite", "equal"],
)
def test_the_difference_view_knows_infinity(numbers: AippExplorer, settings: dict[str, Any], words: str) -> None:
    """A number against none, or against infinity, is no difference of 0 and no huge number; NumPy has no say."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        numbers.set(**HALVES, **settings)
    assert words in shown_alt(numbers)
    assert "e+38" not in shown_alt(numbers)
    assert "invalid value" not in text(numbers.message)


def test_the_description_names_the_border_that_is_there(numbers: AippExplorer) -> None:
    """The open kernel makes no border above with mode 0, whatever was asked for."""
    numbers.set(product=Product.ATLAS_350, profile="dav_3510", top_pad_size=4, left_pad_size=2)
    assert ": 2 at the left." in shown_alt(numbers)
    assert "at the top" not in shown_alt(numbers)


def test_a_preset_does_not_outlive_its_numbers(numbers: AippExplorer) -> None:
    """Numbers that are set together with a preset take its name away, so that it can be picked again."""
    more = {"csc_bias_out1": 0, "input_format": F.YUV420SP_U8}
    assert explorers.aipp(picture="numbers", csc_preset="yuv_to_rgb_jpeg", **more).state["csc_preset"] == "own"
    numbers.set(csc_preset="yuv_to_rgb_jpeg", **more)
    assert numbers.controls["csc_preset"].box.value == "own"
    numbers.controls["csc_preset"].box.value = "yuv_to_rgb_jpeg"
    assert numbers.state["csc_preset"] == "yuv_to_rgb_jpeg"
    assert numbers.state["csc_bias_out1"] == 128


@pytest.mark.parametrize("view", VIEWS.values())
@pytest.mark.parametrize("picture", ["photograph", "numbers"])
def test_every_view_of_every_picture(numbers: AippExplorer, view: str, picture: str) -> None:
    """Each view is a picture of its own, with a text of its own."""
    numbers.set(picture=picture, product=Product.ATLAS_350, padding_mode=1, left_pad_size=4)
    plain = shown_png(numbers), shown_alt(numbers)
    numbers.controls["view"].box.value = view
    assert "Not possible" not in numbers.message.value
    if view != "both":
        assert (shown_png(numbers), shown_alt(numbers)) != plain
    if view != "difference":
        check(numbers)


def test_a_pick_outside_the_result_is_explained(numbers: AippExplorer) -> None:
    """The picture stays true, without a mark, and the line says what can be picked."""
    numbers.controls["pick_row"].box.value = 4000
    assert "(8, 8, 32)" in text(numbers.origin)
    assert "Not possible" not in numbers.picture.value
    assert "Outlined" not in shown_alt(numbers)
    numbers.controls["pick_row"].box.value = 7
    check(numbers)


def test_the_meter_shows_how_many_tiles_a_kernel_needs(numbers: AippExplorer) -> None:
    """The L1 meter compares with the chosen product's buffer."""
    assert "of 1,048,576 bytes" in text(numbers.summary)
    assert "tiles" not in text(numbers.summary)
    numbers.set(picture="photograph", product=Product.ATLAS_350)
    assert "of 524,288 bytes" in text(numbers.summary)
    assert "so at least 4 tiles" in text(numbers.summary)


def test_the_documents_figure_can_be_opened_in_one_line() -> None:
    """The presets of the keyword arguments give the worked figure of padding mode 2."""
    explorer = explorers.aipp(picture="numbers", padding_mode=2, left_pad_size=4, top_pad_size=4, group="Padding")
    array = check(explorer)
    assert array[:4, :4, 0].tolist() == [[0, 1, 2, 3], [8, 9, 10, 11], [16, 17, 18, 19], [24, 25, 26, 27]]
    assert explorer.groups_bar.value == "Padding"


def test_an_explicit_window_wins_over_the_whole_picture() -> None:
    """A preset window is not overwritten by the picture that is preset with it."""
    explorer = explorers.aipp(picture="numbers", horiz_size=4, horiz_start_pos=2, pick_row=1)
    assert (explorer.state["horiz_size"], explorer.state["vert_size"]) == (4, 8)
    check(explorer)


def test_wrong_presets_raise_where_they_are_written(numbers: AippExplorer) -> None:
    """A misspelt or impossible keyword is an error of the call, not of the panel."""
    with pytest.raises(ParameterError, match="Did you mean left_pad_size"):
        explorers.aipp(left_pad_sise=4)
    with pytest.raises(ParameterError, match="leftPadSize = 33"):
        explorers.aipp(left_pad_size=33)
    for wrong in ("RGB888_U8", 9, np.array([1, 2])):
        with pytest.raises(ParameterError, match=r"^input_format = "):
            numbers.set(input_format=wrong)
    with pytest.raises(ParameterError, match=r"^x_first = 0 "):
        numbers.set(x_first=0)


def test_random_walks_never_raise(numbers: AippExplorer) -> None:
    """Whatever is clicked in whatever order, each state is either shown truly or refused in words."""
    rng = np.random.default_rng(20)
    shown = refused = 0
    for _ in range(45):
        enabled = [name for name, bound in numbers.controls.items() if not bound.box.disabled]
        box = numbers.controls[enabled[rng.integers(len(enabled))]].box
        if hasattr(box, "options"):
            value: Any = box.options[rng.integers(len(box.options))][1]
        elif isinstance(box.value, bool):
            value = not box.value
        else:
            value = type(box.value)(rng.integers(max(int(box.min), -40), min(int(box.max), 40) + 1))
        box.value = value
        if "Not possible" in numbers.message.value:
            refused += 1
            assert "last possible setting" in numbers.picture.value
            state = dict(numbers.state)
            if state["view"] == "difference":
                state["profile"] = "dav_3510"
            with pytest.raises(AscendlabError):
                run(state)
            if rng.random() < 0.7:
                numbers.reset()
        else:
            if numbers.state["view"] != "difference":  # that one compares two calls
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", AscendlabWarning)
                    check(numbers, drawn=shown % 5 == 0)  # to draw each picture again is what takes long
            shown += 1
    assert shown > 15
    assert refused > 3
