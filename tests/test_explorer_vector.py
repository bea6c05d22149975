"""The explorers of the vector instructions: every control does what the call with that argument does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from explorer_page import page, random_step, run_python, shown_alt, shown_png, start_again, text

from ascendlab import (
    MASK_PLACEHOLDER,
    AscendlabError,
    AscendlabWarning,
    Call,
    KernelLimitWarning,
    ParameterError,
    Product,
    UnaryRepeatParams,
    bilinear_interpolation,
    explorers,
    trace,
    vector_padding,
)
from ascendlab.cpp import to_cpp
from ascendlab.explorers._bilinear_interpolation import BilinearInterpolationExplorer
from ascendlab.explorers._vector_padding import VectorPaddingExplorer
from ascendlab.plots import bilinear_interpolation as bilinear_plot
from ascendlab.plots import vector_padding as padding_plot
from ascendlab.summary import summarise
from ascendlab.vector import (
    BILINEAR_INTERPOLATION_ARGUMENTS,
    VECTOR_PADDING_ARGUMENTS,
    bilinear_interpolation_plan,
    mask_lanes,
    vector_padding_plan,
)

STRIDES = ("dst_blk_stride", "src_blk_stride", "dst_rep_stride", "src_rep_stride")
NUMPY = {"half": np.float16, "float": np.float32, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
         "uint32": np.uint32}  # fmt: skip


@pytest.fixture(scope="module")
def one_padding() -> VectorPaddingExplorer:
    """Make one explorer: most tests only move its controls."""
    return explorers.vector_padding()


@pytest.fixture
def padding(one_padding: VectorPaddingExplorer) -> VectorPaddingExplorer:
    """Return the explorer of VectorPadding with its first values."""
    one_padding.reset()
    return one_padding


@pytest.fixture(scope="module")
def one_bilinear() -> BilinearInterpolationExplorer:
    """Make one explorer: most tests only move its controls."""
    return explorers.bilinear_interpolation()


@pytest.fixture
def bilinear(one_bilinear: BilinearInterpolationExplorer) -> BilinearInterpolationExplorer:
    """Return the explorer of BilinearInterpolation with its first values."""
    one_bilinear.reset()
    return one_bilinear


def words_of(state: dict[str, Any]) -> tuple[int, ...]:
    """Read the bitwise mask that is typed."""
    return tuple(int(word, 0) for word in state["mask_words"].replace(",", " ").split())


def padding_call(state: dict[str, Any]) -> Call:
    """Make the call that a state of VectorPadding stands for, without the explorer's help."""
    dtype = np.dtype(NUMPY[state["dtype"]])
    c0 = 32 // dtype.itemsize
    arguments: dict[str, Any] = {"pad_mode": state["pad_mode"], "pad_side": state["pad_side"]}
    if state["form"] == "count":
        blocks = (state["count"] + c0 - 1) // c0
        arguments["count"] = state["count"]
    else:
        repeats = state["repeat_time"]
        blocks = (repeats - 1) * state["src_rep_stride"] + 7 * state["src_blk_stride"] + 1 if repeats else 0
        arguments["repeat_time"] = repeats
        arguments["repeat_params"] = UnaryRepeatParams(**{name: state[name] for name in STRIDES})
        arguments["mask"] = state["mask"] if state["form"] == "continuous" else words_of(state)
        if state["form"] == "placeholder":
            arguments |= {"mask": MASK_PLACEHOLDER, "vector_mask": words_of(state)}
    src = (np.arange(blocks * c0) % 2048 + 1).astype(dtype)
    return Call(vector_padding, {"src": src, **arguments, "product": state["product"]})


def bilinear_call(state: dict[str, Any]) -> Call:
    """Make the call that a state of BilinearInterpolation stands for, without the explorer's help."""
    iterations = state["h_repeat"] * state["v_repeat"]
    used = iterations * (8 if state["repeat_mode"] else 1)
    offsets = {
        "one after the other": [32 * i for i in range(8 * iterations)],
        "every block twice": [32 * (i // 2) for i in range(8 * iterations)],
        "typed": [int(word, 0) for word in state["src0_offset"].replace(",", " ").split()],
    }[state["offsets"]]
    whole = (used + 15) // 16 * 16
    weights = {
        "2, 3, 4 ...": [2 + i % 2047 for i in range(whole)],
        "halves": [0.5] * whole,
        "typed": [float(word) for word in state["src1"].replace(",", " ").split()],
    }[state["weights"]]
    size = 16 * (max(offsets) // 32 + 1)
    arguments = {name: state[name] for name in BILINEAR_INTERPOLATION_ARGUMENTS if name != "mask"}
    if state["give_tmp_buffer"]:
        arguments["shared_tmp_buffer_size"] = state["shared_tmp_buffer_size"]
    return Call(bilinear_interpolation, {
        "src0": (np.arange(size) % 2048 + 1).astype(np.float16), "src0_offset": np.array(offsets, np.uint32),
        "src1": np.array(weights, np.float16),
        "mask": state["mask"] if state["form"] == "continuous" else words_of(state),
        **arguments, "product": state["product"],
    })  # fmt: skip


PADDING_PICTURE = padding_plot.VectorPaddingPicture()
BILINEAR_PICTURE = bilinear_plot.BilinearInterpolationPicture()


def check_padding(explorer: VectorPaddingExplorer, *, drawn: bool = True) -> np.ndarray:
    """Compare everything that is shown, the picture only if `drawn`, with direct calls; return the result."""
    state = dict(explorer.state)
    call = padding_call(state)
    out, plan = np.asarray(call.run()), vector_padding_plan(**call.arguments)
    last = max(0, padding_plot.repeats(plan) - 1)
    there = state["pick"] < out.size
    scene = padding_plot.Scene(
        plan, call.arguments["src"], out, min(state["repeat_shown"], last), state["pick"] if there else None,
        trace(call).origin(state["pick"]) if there else None,
    )  # fmt: skip
    assert not drawn or shown_png(explorer) == PADDING_PICTURE.draw(state["view"], scene)
    assert shown_alt(explorer) == padding_plot.describe(state["view"], scene)
    assert summarise(out) in text(explorer.summary)
    if there:
        assert padding_plot.say_origin(scene) in text(explorer.origin)
    assert f"UB: {32 * -(-call.arguments['src'].nbytes // 32) + 32 * -(-out.nbytes // 32):,}" in text(explorer.summary)
    assert to_cpp(call) in text(explorer.cpp)
    np.testing.assert_array_equal(run_python(explorer)["result"], out)
    return out


def check_bilinear(explorer: BilinearInterpolationExplorer, *, drawn: bool = True) -> np.ndarray:
    """Compare everything that is shown, the picture only if `drawn`, with direct calls; return the result."""
    state = dict(explorer.state)
    call = bilinear_call(state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelLimitWarning)
        out = np.asarray(call.run())
        names = run_python(explorer)
    own = {name: value for name, value in call.arguments.items() if name != "shared_tmp_buffer_size"}
    there = state["pick"] < out.size
    scene = bilinear_plot.Scene(
        bilinear_interpolation_plan(**own), own["src0"], own["src1"], out,
        state["repeat_shown"], state["block_shown"], state["iteration_shown"],
        state["pick"] if there else None, trace(call).origin(state["pick"]) if there else None,
    )  # fmt: skip
    assert not drawn or shown_png(explorer) == BILINEAR_PICTURE.draw(state["view"], scene)
    assert shown_alt(explorer) == bilinear_plot.describe(state["view"], scene)
    assert summarise(out) in text(explorer.summary)
    if there:
        assert bilinear_plot.say_origin(scene) in text(explorer.origin)
    assert to_cpp(call) in text(explorer.cpp)
    for name in ("src0", "src0_offset", "src1"):
        np.testing.assert_array_equal(names[name], call.arguments[name])
        assert names[name].dtype == call.arguments[name].dtype
    np.testing.assert_array_equal(names["result"], out)
    return out


PADDING_CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    # what is set, and what must be set before so that it shows
    "dtype": ("float", {"mask": 40}),
    "pad_mode": (2, {}),
    "pad_side": (True, {}),
    "form": ("placeholder", {"mask": 33}),
    "count": (77, {"form": "count"}),
    "mask": (19, {}),
    "mask_words": ("0xff00ff, 0x8", {"form": "bitwise"}),
    "lane": (77, {"mask": 40}),
    "lane_written": (False, {"form": "bitwise", "lane": 5}),
    "repeat_time": (3, {}),
    "dst_blk_stride": (2, {}),
    "src_blk_stride": (0, {}),
    "dst_rep_stride": (11, {"repeat_time": 2}),
    "src_rep_stride": (1, {"repeat_time": 2}),
    "view": ("strips", {}),
    "repeat_shown": (1, {"repeat_time": 2}),
    "pick": (100, {}),
}
BILINEAR_CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "h_repeat": (3, {}),
    "v_repeat": (1, {}),
    "repeat_mode": (True, {}),
    "dst_blk_stride": (2, {"v_roffset": 256}),
    "v_roffset": (144, {}),
    "product": (Product.ATLAS_A3, {}),
    "give_tmp_buffer": (True, {}),
    "shared_tmp_buffer_size": (20000, {"give_tmp_buffer": True}),
    "offsets": ("every block twice", {}),
    "src0_offset": (", ".join(str(32 * (i * 7 % 40)) for i in range(32)), {"offsets": "typed"}),
    "weights": ("halves", {}),
    "src1": ("0.1 0.2 -3 1e-3", {"weights": "typed"}),
    "form": ("bitwise", {"mask": 33}),
    "mask": (19, {}),
    "mask_words": ("0xff00ff, 0x8", {"form": "bitwise"}),
    "lane": (77, {"mask": 40}),
    "lane_written": (False, {"form": "bitwise", "lane": 5}),
    "view": ("blocks", {}),
    "repeat_shown": (1, {}),
    "block_shown": (3, {}),
    "iteration_shown": (1, {}),
    "pick": (200, {}),
}
# What is only looked at stands in no code; the lane's number and a spelling only in their own box.
LOOKED_AT = {"view", "repeat_shown", "block_shown", "iteration_shown", "pick"}
OWN_BOX_ONLY = {"lane"}


@pytest.mark.parametrize("name", PADDING_CHANGES)
def test_each_control_of_padding(one_padding: VectorPaddingExplorer, name: str) -> None:
    """Setting a control of VectorPadding changes picture, texts and code to those of the direct call."""
    value, before = PADDING_CHANGES[name]
    padding = one_padding
    start_again(padding, before, drawn=name in LOOKED_AT)
    old = page(padding)
    padding.controls[name].box.value = value
    assert padding.state[name] == value
    assert "Not possible" not in padding.message.value
    check_padding(padding)
    if name in LOOKED_AT:
        assert page(padding)[0] != old[0]
    elif name not in OWN_BOX_ONLY:
        assert page(padding)[3:] != old[3:]


@pytest.mark.parametrize("name", BILINEAR_CHANGES)
def test_each_control_of_bilinear(one_bilinear: BilinearInterpolationExplorer, name: str) -> None:
    """Setting a control of BilinearInterpolation changes picture, texts and code to those of the direct call."""
    value, before = BILINEAR_CHANGES[name]
    bilinear = one_bilinear
    start_again(bilinear, before, drawn=name in LOOKED_AT)
    old = page(bilinear)
    bilinear.controls[name].box.value = value
    assert bilinear.state[name] == value
    assert "Not possible" not in bilinear.message.value
    check_bilinear(bilinear)
    if name in LOOKED_AT:
        assert page(bilinear)[0] != old[0]
    elif name not in OWN_BOX_ONLY:
        assert page(bilinear)[3:] != old[3:]


def test_every_argument_has_a_control(padding: VectorPaddingExplorer, bilinear: BilinearInterpolationExplorer) -> None:
    """All arguments of both calls are reachable, with the documented range, and tested above."""
    for explorer, specs, changes in (
        (padding, VECTOR_PADDING_ARGUMENTS, PADDING_CHANGES),
        (bilinear, BILINEAR_INTERPOLATION_ARGUMENTS, BILINEAR_CHANGES),
    ):
        for name, spec in specs.items():
            if name == "repeat_params":  # its four strides have controls of their own
                continue
            box = explorer.controls[name].box
            assert box.description == name
            if hasattr(box, "min") and name != "mask":
                assert (box.min, box.max) == (spec.low, spec.high)
        assert set(explorer.controls) - set(changes) <= {"product"}


def test_the_documents_examples_come_first(
    padding: VectorPaddingExplorer, bilinear: BilinearInterpolationExplorer
) -> None:
    """Without a preset the bilinear explorer shows the document's example, to its first and its last number."""
    out = check_bilinear(bilinear)
    assert out[:4].tolist() == [389, 394, 399, 404]
    assert out[-1] == 4096
    assert "src0[0] * src1[0] = 1 * 2 = 2, sum 2; src0[128] * src1[1] = 129 * 3 = 387, sum 389" in text(bilinear.origin)
    assert check_padding(padding).tolist() == [16 * (i // 16) + 1 for i in range(128)]


@pytest.mark.parametrize("name", ["mask", "pick", "repeat_time", "dst_blk_stride"])
def test_padding_sliders(padding: VectorPaddingExplorer, name: str) -> None:
    """A slider of VectorPadding does what its box does."""
    control = padding.controls[name]
    control.slider.value = control.slider.min + 3 * control.slider.step
    assert padding.state[name] == control.box.value == control.slider.value
    check_padding(padding, drawn=name == "pick")


def test_bilinear_sliders(bilinear: BilinearInterpolationExplorer) -> None:
    """A slider of BilinearInterpolation does what its box does; that of vROffset steps in whole DataBlocks."""
    for name in ("v_roffset", "h_repeat", "mask", "pick"):
        control = bilinear.controls[name]
        control.slider.value = control.slider.min + 3 * control.slider.step
        assert bilinear.state[name] == control.box.value == control.slider.value
        check_bilinear(bilinear, drawn=name == "pick")
    assert bilinear.state["v_roffset"] == 176


@pytest.mark.parametrize("which", ["padding", "bilinear"])
def test_both_forms_of_the_mask_stay_in_step(which: str, request: pytest.FixtureRequest) -> None:
    """Whichever form is changed, the other says the same, and the lane's switch too."""
    explorer = request.getfixturevalue(which)
    controls = explorer.controls
    controls["mask"].box.value = 70
    assert words_of(explorer.state) == (2**64 - 1, 0x3F)
    controls["lane"].box.value = 70
    assert not controls["lane_written"].box.value
    controls["lane_written"].box.value = True
    assert explorer.state["mask"] == 71
    assert words_of(explorer.state) == (2**64 - 1, 0x7F)
    controls["mask_words"].box.value = "7 0"
    assert explorer.state["mask"] == 3
    assert not controls["lane_written"].box.value
    controls["mask_words"].box.value = "0x5, 0"  # no continuous mask says this: the box keeps what it said
    assert explorer.state["mask"] == 3
    controls["form"].box.value = "bitwise"
    lanes = mask_lanes(words_of(explorer.state), "half")
    assert lanes.sum() == 2
    (check_padding if which == "padding" else check_bilinear)(explorer)


def test_another_type_keeps_the_mask_within_its_lanes(padding: VectorPaddingExplorer) -> None:
    """A b32 type has half the lanes: the mask and the slider follow."""
    padding.controls["dtype"].box.value = "int32"
    assert (padding.state["mask"], words_of(padding.state)) == (64, (2**64 - 1,))
    assert padding.controls["mask"].slider.max == 64
    check_padding(padding)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"product": Product.ATLAS_A2}, "not supported on Atlas A2"),
        ({"form": "bitwise", "mask_words": "0, 0"}, "mask"),
        ({"form": "bitwise", "mask_words": "1"}, "mask"),
        ({"dst_blk_stride": 0}, "dstBlkStride = 0"),
        ({"repeat_time": 2, "dst_rep_stride": 7}, "dstRepStride = 7"),
        ({"repeat_time": 255, "src_rep_stride": 255}, "UB"),
        ({"repeat_time": 255, "dst_rep_stride": 255}, "UB"),
        ({"dtype": "float", "mask": 65}, "mask = 65"),
    ],
)
def test_padding_refuses_in_the_librarys_words(
    padding: VectorPaddingExplorer, change: dict[str, Any], message: str
) -> None:
    """An impossible setting of VectorPadding never raises; its message is shown and the picture is marked as old."""
    refuses(padding, change, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"product": Product.ATLAS_TRAINING}, "not supported on Atlas training"),
        ({"v_roffset": 130}, "vROffset = 130 is not allowed; allowed: a multiple of 16"),
        ({"dst_blk_stride": 2}, "vROffset = 128"),
        ({"offsets": "typed", "src0_offset": "33"}, "src0Offset"),
        ({"offsets": "typed", "src0_offset": "0 32"}, "at least 32 elements, 8 * hRepeat * vRepeat"),
        ({"offsets": "typed", "src0_offset": "-32"}, "src0Offset[0] = -32"),
        ({"offsets": "typed", "src0_offset": "4294967264"}, "UB"),
        ({"weights": "typed", "src1": "1 2 3"}, "src1"),
        ({"weights": "typed", "src1": "1 2 nan 4"}, "src1[2]"),
        ({"product": Product.ATLAS_A2, "give_tmp_buffer": True, "shared_tmp_buffer_size": 16895}, "16,896"),
        ({"v_repeat": 255, "h_repeat": 255}, "UB"),
        ({"form": "bitwise", "mask_words": "0 0"}, "mask"),
    ],
)
def test_bilinear_refuses_in_the_librarys_words(
    bilinear: BilinearInterpolationExplorer, change: dict[str, Any], message: str
) -> None:
    """An impossible setting of BilinearInterpolation never raises; it is said and the picture is marked as old."""
    refuses(bilinear, change, message)


def refuses(explorer: Any, change: dict[str, Any], message: str) -> None:
    """Make an impossible change in the page, and go back."""
    before = page(explorer)
    *first, last = change
    explorer.set(**{name: change[name] for name in first})
    explorer.controls[last].box.value = change[last]
    assert message in text(explorer.message)
    assert "last possible setting" in explorer.picture.value
    explorer.reset()
    assert page(explorer) == before


def test_text_that_is_no_number_is_refused_at_once(
    padding: VectorPaddingExplorer, bilinear: BilinearInterpolationExplorer
) -> None:
    """The field goes back to what it said, and the message names it."""
    for explorer, name in ((padding, "mask_words"), (bilinear, "src0_offset"), (bilinear, "src1")):
        bilinear.set(offsets="typed", weights="typed")
        before = explorer.state[name]
        explorer.controls[name].box.value = "1, two"
        assert "numbers separated by commas" in text(explorer.message)
        assert explorer.controls[name].box.value == before


def test_limits_of_the_public_implementation_are_notes(bilinear: BilinearInterpolationExplorer) -> None:
    """What A2 and A3 silently get wrong stands as a note; the bytes that each product needs stand in the summary."""
    assert "Atlas A2 16,896" in text(bilinear.summary)
    assert "Atlas inference AI Core 128" in text(bilinear.summary)
    bilinear.set(product=Product.ATLAS_A2)
    assert "Note" not in text(bilinear.message)
    bilinear.set(v_roffset=4096)
    assert "vROffset is at most 4080" in text(bilinear.message)
    bilinear.set(product=Product.ATLAS_350)
    assert "Note" not in text(bilinear.message)


def test_the_meter_counts_every_operand(bilinear: BilinearInterpolationExplorer) -> None:
    """The Unified Buffer holds src0, offsets, weights, result and the temporary buffer."""
    assert f"UB: {1024 + 128 + 32 + 512:,} of" in text(bilinear.summary)
    bilinear.set(product=Product.ATLAS_A2)
    assert f"UB: {1024 + 128 + 32 + 512 + 16896:,} of 196,608" in text(bilinear.summary)
    bilinear.set(give_tmp_buffer=True, shared_tmp_buffer_size=20000)
    assert f"UB: {1024 + 128 + 32 + 512 + 20000:,} of 196,608" in text(bilinear.summary)


def test_what_is_picked_and_what_is_shown_follow_each_other(bilinear: BilinearInterpolationExplorer) -> None:
    """Picking an element shows its block; showing another block picks the same lane there."""
    bilinear.set(v_roffset=160, dst_blk_stride=1)
    bilinear.controls["pick"].box.value = 160 + 3 * 16 + 5
    assert (bilinear.state["repeat_shown"], bilinear.state["block_shown"]) == (1, 3)
    bilinear.controls["block_shown"].box.value = 7
    assert bilinear.state["pick"] == 160 + 7 * 16 + 5
    bilinear.controls["repeat_shown"].box.value = 0
    assert bilinear.state["pick"] == 7 * 16 + 5
    check_bilinear(bilinear)
    bilinear.controls["pick"].box.value = 130  # between the repeats
    assert "never written" in text(bilinear.origin)
    check_bilinear(bilinear)


@pytest.mark.parametrize("which", ["padding", "bilinear"])
def test_a_pick_outside_the_result_is_explained(which: str, request: pytest.FixtureRequest) -> None:
    """The picture stays true, without a mark, and the line says what can be picked."""
    explorer = request.getfixturevalue(which)
    explorer.controls["pick"].box.value = 4000
    assert "4000" in text(explorer.origin)
    assert "Outlined" not in shown_alt(explorer)
    (check_padding if which == "padding" else check_bilinear)(explorer)


def test_fields_without_effect_are_grey(
    padding: VectorPaddingExplorer, bilinear: BilinearInterpolationExplorer
) -> None:
    """The count form has no mask and no repeats; typed lists need their choice."""
    assert padding.controls["count"].box.disabled
    padding.set(form="count")
    assert padding.controls["repeat_time"].box.disabled
    assert not padding.controls["count"].box.disabled
    assert bilinear.controls["src0_offset"].box.disabled
    assert bilinear.controls["shared_tmp_buffer_size"].box.disabled
    bilinear.set(offsets="typed", weights="typed", give_tmp_buffer=True)
    for name in ("src0_offset", "src1", "shared_tmp_buffer_size"):
        assert not bilinear.controls[name].box.disabled


def test_presets() -> None:
    """Presets are what the first picture shows; a wrong one is an error where it is written."""
    explorer = explorers.bilinear_interpolation(weights="halves", view="blocks", pick=130, group="Sources")
    assert (explorer.state["repeat_shown"], explorer.groups_bar.value) == (1, "Sources")
    check_bilinear(explorer)
    check_padding(explorers.vector_padding(dtype="int32", pad_mode=2, pad_side=True, mask=9, pick=3))
    for make in (explorers.bilinear_interpolation, explorers.vector_padding):
        with pytest.raises(ParameterError, match="Did you mean view"):
            make(vieww="blocks")
    with pytest.raises(ParameterError, match="hRepeat = 0"):
        explorers.bilinear_interpolation(h_repeat=0)


TEXTS = {
    "mask_words": ["0x7, 0", "1", "0 0", "0xffffffffffffffff 1", "-1 0", "1.5 2", "", "1 2 3", "a", "9" * 4000],
    "src0_offset": ["", "0", ", ".join(["32"] * 64), "1 2 3", "-5", "1e3", "nan", "9" * 4000, "x"],
    "src1": ["", "0.5", "1 " * 64, "nan", "inf", "1e9", "9" * 4000, "-0.0 " * 40],
}


@pytest.mark.parametrize("which", ["padding", "bilinear"])
def test_random_walks_never_raise(which: str, request: pytest.FixtureRequest) -> None:
    """Whatever is changed in whatever order, each state is either shown truly or refused in words."""
    explorer = request.getfixturevalue(which)
    check, make = (check_padding, padding_call) if which == "padding" else (check_bilinear, bilinear_call)
    rng = np.random.default_rng(4)
    shown = refused = 0
    for _ in range(30):
        random_step(explorer, rng, TEXTS)
        if "last possible setting" in explorer.picture.value:
            refused += 1
            assert "Not possible" in explorer.message.value
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AscendlabWarning)
                # Numbers that no array takes are refused before there is a call.
                with pytest.raises((AscendlabError, OverflowError, ValueError)):
                    Call(make(dict(explorer.state)).function, {**make(dict(explorer.state)).arguments,
                                                             "check_capacity": True}).run()  # fmt: skip
            explorer.reset()
        else:
            check(explorer, drawn=shown % 5 == 0)  # the explorer draws each state; to draw it again is what takes long
            shown += 1
    assert shown > 15
    assert refused >= 3
