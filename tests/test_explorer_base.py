"""The explorers' machinery, on an explorer of two controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import Mock

import ipywidgets as widgets
import junk
import numpy as np
import pytest

from ascendlab import AippInputFormat, AippPaddingParams, AippParams, LoadImageToLocalParams, ParameterError
from ascendlab.errors import KernelLimitWarning
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import (
    BoundControl,
    Control,
    Shapes,
    choice,
    controls_of,
    number,
    parameters_from,
)
from ascendlab.explorers._state import State
from ascendlab.plots._base import encode_png
from ascendlab.summary import Occupancy


class Small(Explorer):
    """A number, a choice that sets it, and a threshold above which it is refused."""

    size = (40, 20)

    def groups(self) -> list[Group]:
        """Two groups."""
        return [
            Group("Numbers", [number("level", 0, 300, 7, "how high", slider=(0, 100)), number("limit", 0, 300, 200)]),
            Group("Presets", [choice("preset", {"own": None, "deep": 150, "high": 90}, None)], note="<pick> one"),
        ]

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Set the level by a preset; another level is nobody's preset."""
        if changes.get("preset") is not None:
            return {"level": changes["preset"], "limit": 200}
        return {"preset": None} if "level" in changes else {}

    def sliders(self, state: Mapping[str, Any]) -> Mapping[str, tuple[float, float]]:
        """End the slider at half the limit."""
        return {"level": (0, state["limit"] // 2)}

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """No limit in the depths."""
        return {"limit": "there is none below 10"} if state["level"] < 10 else {}

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Show a grey rectangle of that level."""
        if state["level"] > state["limit"]:
            raise ParameterError("level", state["level"], f"at most {state['limit']}", hint="<b>")
        if state["level"] == 13:
            raise RuntimeError("unlucky")
        if state["level"] == 66:
            import warnings

            warnings.warn("the <kernel> stops here", KernelLimitWarning, stacklevel=1)
        image = np.full((20, 40, 3), state["level"] % 256, np.uint8)
        return Shown(
            encode_png(image), f"Level {state['level']}.", f"level {state['level']}", "a<b", "int x;", "x = 1",
            Occupancy("L1", state["level"], 300),
        )  # fmt: skip


def test_one_state_feeds_box_slider_picture_and_texts() -> None:
    """Moving the slider moves the box, and typing in the box moves the slider; picture and texts follow both."""
    small = Small()
    level = small.controls["level"]
    level.slider.value = 42
    assert level.box.value == 42
    assert small.state["level"] == 42
    assert "level 42" in small.summary.value
    assert 'alt="Level 42."' in small.picture.value
    first = small.picture.value
    level.box.value = 43
    assert level.slider.value == 43
    assert small.picture.value != first
    assert 'width="40" height="20"' in small.picture.value


def test_a_box_reaches_beyond_its_slider() -> None:
    """The box takes the documented range; a value that the slider cannot show leaves it at its end."""
    small = Small()
    small.controls["level"].box.value = 190
    assert small.state["level"] == 190
    assert small.controls["level"].slider.value == 100
    assert small.controls["level"].box.value == 190


def test_slider_ends_follow_the_state_in_both_directions() -> None:
    """When the range that makes sense changes, so does the slider, and the value itself stays."""
    small = Small(level=50)
    slider = small.controls["level"].slider
    small.set(limit=300)
    assert (slider.min, slider.max, slider.value) == (0, 150, 50)
    small.set(limit=60)
    assert (slider.max, slider.value, small.state["level"]) == (30, 30, 50)


def test_several_changes_draw_once() -> None:
    """A preset that sets several fields is one redraw."""
    small = Small()
    small.show = Mock(side_effect=small.show)  # type: ignore[method-assign]
    small.controls["preset"].box.value = 150
    assert small.show.call_count == 1
    assert small.state["level"] == 150
    small.set(level=90, limit=100)
    assert small.show.call_count == 2
    small.set(level=90)
    assert small.show.call_count == 2, "nothing changed"


def test_presets_and_numbers_stay_in_step() -> None:
    """Editing what a preset has set makes the preset list say so."""
    small = Small(preset=90)
    assert small.controls["level"].box.value == 90
    small.controls["level"].box.value = 91
    assert small.controls["preset"].box.value is None


def test_a_refusal_is_said_and_the_picture_marked_as_old() -> None:
    """What the library refuses is said in its own words, and the old picture is visibly no longer true."""
    small = Small(level=100)
    before = small.picture.value
    small.set(limit=90)
    assert "level = 100 is not allowed; allowed: at most 90" in small.message.value
    assert "&lt;b&gt;" in small.message.value, "messages are text, not HTML"
    assert "Not possible" in small.picture.value
    assert "grayscale" in small.picture.value
    assert 'alt="Out of date' in small.picture.value
    assert "last possible setting" in small.summary.value
    assert "last possible setting" in small.cpp.value
    small.set(limit=100)
    assert small.picture.value == before
    assert "Not possible" not in small.message.value
    assert "last possible setting" not in small.cpp.value


def test_an_impossible_preset_shows_no_picture() -> None:
    """An explorer that starts with an impossible setting says so instead of showing an empty picture."""
    small = Small(level=100, limit=90)
    assert "at most 90" in small.message.value
    assert "<img" not in small.picture.value
    assert "height:20px" in small.picture.value, "the page must not jump when the picture comes"


def test_a_mistake_of_the_library_is_not_passed_off_as_a_picture() -> None:
    """An unexpected exception surfaces, and the picture is marked as old."""
    small = Small()
    with pytest.raises(RuntimeError, match="unlucky"):
        small.set(level=13)
    assert "grayscale" in small.picture.value
    assert "unlucky" in small.message.value


def test_warnings_are_shown_and_go_away() -> None:
    """The library's warnings appear in the panel, not on stderr."""
    small = Small()
    small.set(level=66)
    assert "the &lt;kernel&gt; stops here" in small.message.value
    small.set(level=67)
    assert "kernel" not in small.message.value


def test_what_is_lacking_is_disabled_unless_it_must_be_undone() -> None:
    """A control without effect is disabled with its reason; one that still holds a value can be set back."""
    small = Small()
    limit = small.controls["limit"]
    assert limit.box.disabled
    assert limit.box.tooltip == "there is none below 10"
    small.set(level=20)
    assert not limit.box.disabled
    small.set(limit=150)
    small.set(level=5)
    assert not limit.box.disabled, "it is not at its default: the reader must be able to undo it"
    limit.box.value = 200
    assert limit.box.disabled


def test_every_control_is_named_after_its_parameter() -> None:
    """Each control can be found by class, and its label is the parameter's name."""
    small = Small()
    for name, control in small.controls.items():
        assert control.box.description == name
        assert f"al-param-{name}" in control.box._dom_classes
    for name in ("picture", "message", "summary", "origin", "cpp", "python"):
        assert f"al-{name}" in getattr(small, name)._dom_classes
    assert "al-explorer" in small._dom_classes


def test_one_group_is_open_at_a_time() -> None:
    """The buttons above the controls open one group and close the others."""
    small = Small(group="Presets")
    shown = {title: box.layout.visibility != "hidden" for title, box in small._boxes.items()}
    assert shown == {"Numbers": False, "Presets": True}
    small.groups_bar.value = "Numbers"
    shown = {title: box.layout.visibility != "hidden" for title, box in small._boxes.items()}
    assert shown == {"Numbers": True, "Presets": False}


def test_reset_brings_the_first_values_back() -> None:
    """Reset returns to the presets that the explorer was opened with."""
    small = Small(level=77)
    before = small.picture.value
    small.set(level=3, limit=33)
    small.reset_button.click()
    assert (small.state["level"], small.state["limit"]) == (77, 200)
    assert small.picture.value == before


def test_wrong_presets_are_refused_by_name() -> None:
    """A misspelt preset names the control that was probably meant; a wrong value says what is allowed."""
    with pytest.raises(ParameterError, match="Did you mean level"):
        Small(levle=3)
    with pytest.raises(ParameterError, match=r"level = 301 .* \[0, 300\]"):
        Small(level=301)
    with pytest.raises(ParameterError, match="preset = 'x'"):
        Small(preset="x")
    with pytest.raises(ParameterError, match="group"):
        Small(group="Nothing")


@pytest.mark.parametrize("label", junk.MAKERS)
def test_any_value_for_a_choice_or_a_group(label: str) -> None:
    """Arrays, objects that cannot be compared and the like are refused by name, as presets, later, and as a group."""
    value = junk.MAKERS[label]()
    if value is None:  # one of the choices, and no group in particular
        return
    with pytest.raises(ParameterError, match=r"^preset = "):
        Small(preset=value)
    with pytest.raises(ParameterError, match=r"^group = .*one of Numbers, Presets"):
        Small(group=value)


def test_a_choice_is_told_from_its_likes() -> None:
    """What Python calls equal, though it is of another type, is not the choice: 0 is not False, 9 is no format."""
    switch = choice("x_first", {"X first": True, "X last": False}, True)
    format_ = choice("input_format", {f.name: f for f in AippInputFormat}, AippInputFormat.RGB888_U8)
    word = choice("view", {"both": "both", "one": "one"}, "both")
    for control, wrong in (
        *((switch, value) for value in (0, 1, 0.0, 1.0, np.True_, "True", np.array([True]), np.array([1, 2]))),
        *((format_, value) for value in (9, 2, 9.0, "RGB888_U8", np.int64(9), np.array([9]), np.array([1, 2]))),
        *((word, value) for value in ("Both", b"both", np.str_("both"), ["both"], np.array(["both", "one"]))),
    ):
        with pytest.raises(ParameterError, match=f"^{control.name} = .*one of"):
            control.check(wrong)
    assert switch.check(False) is False
    assert format_.check(AippInputFormat.YUV400_U8) is AippInputFormat.YUV400_U8
    assert word.check("".join(["bo", "th"])) == "both"


def test_a_still_is_the_picture_on_its_own() -> None:
    """The picture for a static page is the same picture, as an img with the same alt text."""
    small = Small(level=55)
    page = small.still()._repr_html_()
    assert page.startswith('<img alt="Level 55."')
    assert page.split("base64,")[1].split('"')[0] in small.picture.value


def test_controls_come_from_the_field_table() -> None:
    """Kinds, ranges and choices are the documented ones."""
    padding = {c.name: c for c in controls_of(AippPaddingParams)}
    assert [value for _, value in padding["padding_mode"].options] == [0, 1, 2, 3]
    assert padding["padding_value_ch0"].kind == "real"
    window = {c.name: c for c in controls_of(LoadImageToLocalParams, defaults={"horiz_size": 8, "vert_size": 8,
              "src_horiz_size": 8}, sliders={"horiz_size": (2, 8)}, leave_out=("sid",))}  # fmt: skip
    assert (window["horiz_size"].low, window["horiz_size"].high, window["horiz_size"].slider) == (2, 4095, (2, 8))
    assert "horizSize" in window["horiz_size"].help
    assert "sid" not in window


def test_parameter_objects_come_from_the_state() -> None:
    """Nested structures are filled from one flat state; absent names keep their defaults; renamed ones are found."""
    config = parameters_from(AippParams, {"padding_mode": 2, "red_blue": True}, {"is_swap_rb": "red_blue"})
    assert config.padding_params.padding_mode == 2
    assert config.swap_params.is_swap_rb is True
    assert config.dtc_params.dtc_var_ch0 == 1.0


def test_the_state_refuses_unknown_names() -> None:
    """A typo in a change cannot create a value that nothing reads."""
    with pytest.raises(KeyError, match="y"):
        State({"x": 1}).update({"y": 2})


def test_an_explorer_is_one_widget() -> None:
    """An explorer can be displayed, nested and tested like any widget."""
    assert isinstance(Small(), widgets.VBox)


def test_a_snapping_slider_changes_nothing() -> None:
    """A browser's slider reports its nearest step back; a value between two steps must survive that."""
    control = Control("factor", "real", 0.0171, low=-10, high=10, slider=(-1.0, 1.0))
    told: list[tuple[str, Any]] = []
    bound = BoundControl(control, Shapes(), lambda name, value: told.append((name, value)))
    assert bound.slider.step == 0.01
    assert bound.slider.value == 0.02
    assert bound.box.value == 0.0171
    bound.slider.value = 0.020000000000000018
    assert told == []
    bound.slider.value = 0.030000000000000027
    assert told == [("factor", 0.03)]
