"""The explorer of the conv2d kernel: every control does what the kernel with that constant does."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from explorer_page import random_step, run_python, shown_alt, shown_png, text

from ascendlab import AscendlabError, ParameterError, explorers, launch
from ascendlab.capi.conv2d_example import CONV2D_CONSTANTS, Conv2dShape, conv2d_forward_capi, make_inputs
from ascendlab.capi.left_out import without
from ascendlab.cpp_capi import kernel_code
from ascendlab.explorers._conv2d import LEFT_OUT, Conv2dExplorer
from ascendlab.plots import capi as capi_plot
from ascendlab.summary import summarise

PICTURE = capi_plot.CapiPicture()


@pytest.fixture(scope="module")
def one() -> Conv2dExplorer:
    """Make one explorer: most tests only move its controls."""
    return explorers.conv2d()


@pytest.fixture
def explorer(one: Conv2dExplorer) -> Conv2dExplorer:
    """Return the explorer with its first values."""
    one.reset()
    return one


def launched_by(state: dict[str, Any]) -> Any:
    """Launch the kernel that a state stands for, without the explorer's help; return launch, shape and output."""
    return launched_with(Conv2dShape(**{name: state[name] for name in CONV2D_CONSTANTS}), state["left_out"])


@lru_cache(maxsize=8)
def launched_with(s: Conv2dShape, left_out: str) -> Any:
    """Launch the kernel, once for all steps and views of it."""
    s.check_buffers()
    kernel = conv2d_forward_capi
    if left_out != "nothing":
        call, number = LEFT_OUT[left_out]
        kernel = without(kernel, call, number=number)
    fmap, weight, output = make_inputs(s)
    return launch(kernel, s.BATCH, fmap, weight, output, s), s, output


def check(explorer: Conv2dExplorer, *, python: bool = True) -> np.ndarray:
    """Compare everything that is shown with a direct launch; return the output."""
    state = dict(explorer.state)
    launched, s, output = launched_by(state)
    core = launched.cores[state["block"]]
    step = min(state["step"], len(core.steps))
    there = state["row"] < s.HOUT and state["column"] < s.WOUT and state["channel"] < s.CIN
    if there:
        pick = {name: state[name] for name in ("block", "row", "column", "filter", "channel")}
        scene = capi_plot.Convolution(launched, s, **pick, step=step)
        assert capi_plot.say_origin(scene) in text(explorer.origin)
    else:
        scene = capi_plot.Scene(core, step)
        assert "is not allowed" in text(explorer.origin)
    assert shown_png(explorer) == PICTURE.draw(state["view"], scene)
    assert shown_alt(explorer) == capi_plot.describe(state["view"], scene)
    assert capi_plot.say_step(scene) in text(explorer.summary)
    assert summarise(output) in text(explorer.summary)
    fmap, weight = (launched.gm[name].array for name in ("fmap", "weight"))
    wrong = int((np.abs(output.astype(np.float64) - s.golden(fmap, weight)) > 1e-3).sum())
    assert f"{wrong} of {output.size} elements differ" in text(explorer.summary)
    assert kernel_code(core, step) in text(explorer.cpp)
    if python:
        names = run_python(explorer)
        np.testing.assert_array_equal(names["result"], output)
        assert names["state"].step == step
    return output


def refusal(state: dict[str, Any]) -> Any:
    """Return the error that a direct launch, or the choice of an element of its output, raises; None for none."""
    try:
        launched, s, _ = launched_by(state)
        pick = {name: state[name] for name in ("block", "row", "column", "filter", "channel")}
        capi_plot.Convolution(launched, s, **pick)
    except AscendlabError as error:
        return error
    return None


def page(explorer: Conv2dExplorer) -> list[str]:
    """Return all that a reader sees but the picture."""
    return [text(w) for w in (explorer.summary, explorer.origin, explorer.cpp, explorer.python)]


# Another value for each control, and what has to be set before so that it has an effect.
CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "BATCH": (3, {}), "C1": (1, {}), "H": (11, {}), "W": (6, {}), "KH": (2, {}), "KW": (1, {}), "PAD_VALUE": (1.5, {}),
    "STRIDE_H": (1, {}), "STRIDE_W": (3, {}), "DILATION_H": (1, {}), "DILATION_W": (3, {}),
    "PAD_LEFT": (0, {}), "PAD_RIGHT": (4, {}), "PAD_TOP": (3, {}), "PAD_BOTTOM": (1, {}),
    "left_out": ("asc_set_l12l0a_3d_padding", {"PAD_VALUE": 2}), "view": ("registers", {}), "step": (15, {}),
    "block": (1, {"BATCH": 2}), "row": (2, {}), "column": (1, {}), "filter": (3, {}), "channel": (17, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_control(explorer: Conv2dExplorer, name: str) -> None:
    """Setting a control changes picture, texts and code to those of the direct launch."""
    value, before = CHANGES[name]
    explorer.set(**before)
    old = page(explorer), explorer.picture.value
    explorer.controls[name].box.value = value
    assert explorer.state[name] == value
    assert "Not possible" not in explorer.message.value
    check(explorer)
    assert (page(explorer), explorer.picture.value) != old


def test_every_constant_has_a_control(explorer: Conv2dExplorer) -> None:
    """All constants of the document's example are reachable, with their ranges, and tested above."""
    assert set(explorer.controls) == set(CHANGES)
    for name, spec in CONV2D_CONSTANTS.items():
        if name == "BATCH":  # as many as one can wait for
            continue
        box = explorer.controls[name].box
        assert (box.description, box.min, box.max) == (name, spec.low, spec.high)


@pytest.mark.parametrize("view", capi_plot.VIEWS.values())
def test_one_can_step_forward_and_back(explorer: Conv2dExplorer, view: str) -> None:
    """Each step's state is shown in each view, and going back shows what was shown before."""
    explorer.set(view=view, PAD_VALUE=2)
    seen = {}
    for step in (9, 36, 9):
        explorer.controls["step"].slider.value = step
        assert explorer.state["step"] == step
        check(explorer, python=False)
        assert seen.setdefault(step, explorer.picture.value) == explorer.picture.value
    assert len(set(seen.values())) >= 2


def test_the_step_slider_ends_with_the_log(explorer: Conv2dExplorer) -> None:
    """The slider goes to the last step, and sliders of picks go to the last element."""
    assert explorer.controls["step"].slider.max == 37
    explorer.set(C1=1, H=12, PAD_LEFT=0)
    ends = {name: explorer.controls[name].slider.max for name in ("step", "row", "column", "channel")}
    assert ends == {"step": 28, "row": 5, "column": 3, "channel": 15}
    explorer.set(step=400)
    assert "step 28 of 28" in text(explorer.summary)
    check(explorer)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"KH": 8}, "KH = 8 is not allowed"),
        ({"H": 200}, "L0A"),
        ({"W": 32767}, "L1"),
        ({"H": 30, "W": 30}, "L0A"),
        ({"C1": 4095}, "L1"),
        ({"STRIDE_H": 1, "STRIDE_W": 1, "C1": 4}, "L0A"),
        ({"block": 2}, "block = 2"),
        ({"view": "origin", "row": 5}, "row = 5"),
        ({"view": "output", "channel": 32}, "channel = 32"),
    ],
)
def test_what_is_impossible_is_said_in_the_librarys_words(
    explorer: Conv2dExplorer, change: dict[str, Any], message: str
) -> None:
    """An impossible setting never raises; its message is shown and the picture is marked as old."""
    before = explorer.picture.value
    *first, last = change
    explorer.set(**{name: change[name] for name in first})
    explorer.controls[last].box.value = change[last]
    assert message in text(explorer.message)
    assert "last possible setting" in explorer.picture.value
    explorer.reset()
    assert explorer.picture.value == before
    check(explorer)


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_a_forgotten_call_is_explained(explorer: Conv2dExplorer, left_out: str) -> None:
    """If the kernel stops, the message is the library's, and the machine is shown as it was then."""
    explorer.set(PAD_VALUE=1, view="origin", step=37)
    explorer.controls["left_out"].box.value = left_out
    error = refusal(dict(explorer.state))
    if error is None:
        # What the machine cannot know: the result is another one, or asc_init was not needed.
        assert left_out in ("asc_init", "asc_set_l12l0a_3d_padding")
        check(explorer)
        assert ("; 0 of" in text(explorer.summary)) == (left_out == "asc_init")
        return
    assert str(error) in text(explorer.message)
    core = error.core
    scene = capi_plot.Scene(core)
    assert f"stopped behind step {len(core.steps)}" in text(explorer.summary)
    assert shown_png(explorer) == PICTURE.draw("memory", scene)
    assert shown_alt(explorer).endswith(capi_plot.describe("memory", scene))
    assert "last possible setting" not in explorer.picture.value
    assert kernel_code(core, len(core.steps)) in text(explorer.cpp)
    with pytest.raises(type(error)):
        run_python(explorer)
    explorer.controls["step"].box.value = 1
    assert shown_png(explorer) == PICTURE.draw("memory", capi_plot.Scene(core, 1))


def test_a_pick_outside_is_explained(explorer: Conv2dExplorer) -> None:
    """Memories stay true without an element, and the line says what can be picked."""
    explorer.controls["row"].box.value = 4000
    assert "row = 4000" in text(explorer.origin)
    check(explorer)


def test_one_block_has_no_other(explorer: Conv2dExplorer) -> None:
    """With one feature map there is no block to choose."""
    assert explorer.controls["block"].box.disabled
    explorer.set(BATCH=2)
    assert not explorer.controls["block"].box.disabled
    explorer.set(block=1)
    check(explorer)


def test_presets() -> None:
    """Presets are what the first picture shows; a wrong one is an error where it is written."""
    made = explorers.conv2d(view="origin", PAD_VALUE=3, row=2, column=3, channel=4, group="Window")
    assert made.groups_bar.value == "Window"
    check(made)
    assert made.still().alt == shown_alt(made)
    with pytest.raises(ParameterError, match="Did you mean PAD_LEFT"):
        explorers.conv2d(PAD_LEF=1)
    with pytest.raises(ParameterError, match="STRIDE_H = 0"):
        explorers.conv2d(STRIDE_H=0)
    with pytest.raises(ParameterError, match="left_out"):
        explorers.conv2d(left_out="everything")


def test_random_walks_never_raise(explorer: Conv2dExplorer) -> None:
    """Whatever is changed in whatever order, each state is either shown truly or refused in words."""
    rng = np.random.default_rng(8)
    shown = refused = 0
    for _ in range(30):
        random_step(explorer, rng, {})
        if "Not possible" in explorer.message.value:
            refused += 1
            assert refusal(dict(explorer.state)) is not None
            explorer.reset()
        else:
            shown += 1
            check(explorer, python=False)
    assert shown > 5
    assert refused >= 2
