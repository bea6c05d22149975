"""The pictures of the C API's core: what they mark, write and say is what the core's log says."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from ascendlab import AICore, ParameterError, Product, launch
from ascendlab.capi.conv2d_example import Conv2dShape, conv2d_forward_capi, make_inputs, run
from ascendlab.plots import capi as capi_plot
from ascendlab.plots._capi_machine import (
    LANES,
    NEVER,
    NOW,
    POISON,
    READ,
    SLOTS,
    WAIT,
    WRITTEN,
    memory_strip,
    pipe_slots,
)
from ascendlab.plots._capi_registers import register_rows
from ascendlab.plots._capi_scene import BUFFERS
from ascendlab.plots._roles import MASKED, ORIGIN, PADDING, PICKED, WINDOW, Role

SHAPE = Conv2dShape(BATCH=2, C1=1, H=7, W=10, KH=2, KW=3, STRIDE_H=1, STRIDE_W=3, DILATION_H=3, DILATION_W=1,
                    PAD_LEFT=1, PAD_RIGHT=3, PAD_TOP=2, PAD_BOTTOM=0, PAD_VALUE=3)  # fmt: skip


@pytest.fixture(scope="module")
def launched():
    """Run the kernel on a map that is no square, with random weights."""
    rng = np.random.default_rng(7)
    fmap, weight, output = make_inputs(SHAPE)
    fmap[...] = rng.integers(-9, 10, fmap.shape)
    weight[...] = rng.integers(-5, 6, weight.shape)
    return launch(conv2d_forward_capi, SHAPE.BATCH, fmap, weight, output, SHAPE, product=Product.ATLAS_350)


@pytest.fixture(scope="module")
def picture() -> capi_plot.CapiPicture:
    """Make one picture, as an explorer does."""
    return capi_plot.CapiPicture()


def decode(png: bytes) -> NDArray[np.uint8]:
    """Read a PNG with another library."""
    return np.asarray(Image.open(io.BytesIO(png)))


def ink(png: bytes, role: Role, below: int = 440) -> int:
    """Count a role's pixels above the legend."""
    return int((decode(png)[:below, :, :3] == role.rgb).all(axis=2).sum())


def number_of(core: AICore, call: str) -> int:
    """Return the first step of a call."""
    return next(step.number for step in core.steps if step.call == call)


@pytest.mark.parametrize("buffer", BUFFERS)
def test_each_cell_says_what_its_bytes_are(launched, buffer):
    """After every step a cell's number and areas are those of its bytes, looked at one by one."""
    core = launched.cores[1]
    for step in range(len(core.steps) + 1):
        scene = capi_plot.Scene(core, step)
        strip = memory_strip(scene, buffer)
        memory, marks = core.buffer(buffer), core.at(step).writer(core.buffer(buffer))
        read = set()
        if step:
            for access in core.steps[step - 1].reads:
                if access.buffer == buffer:
                    read |= {b for start, stop in access.ranges().tolist() for b in range(start, stop)}
        for cell in range(strip.step.size):
            own = range(cell * strip.unit, min((cell + 1) * strip.unit, marks.size))
            there = [int(marks[b]) for b in own]
            declared = [any(a.start <= b < a.stop for a in memory.allocations) for b in own]
            assert strip.step[cell] == max((abs(m) for m in there), default=0)
            assert strip.areas[WRITTEN][cell] == any(m > 0 for m in there)
            assert strip.areas[POISON][cell] == any(m < 0 for m in there)
            assert strip.areas[NEVER][cell] == any(d and m == 0 for d, m in zip(declared, there, strict=True))
            assert strip.areas[NOW][cell] == (step > 0 and any(abs(m) == step for m in there))
            assert strip.areas[READ][cell] == bool(read.intersection(own))
        assert strip.step.size * strip.unit >= memory.used
        assert strip.step.size <= 128


def test_poisoned_bytes_are_hatched(picture):
    """What a step moved although nobody had written it is hatched, and only that."""
    core = AICore(Product.ATLAS_350)
    source, target = core.cbuf("half", 512, name="source"), core.cb("half", 512, name="target")
    core.poke(source, np.ones(256))
    core.asc_copy_l12l0b(target, source, 0, 0, 2, 1, 1, 1)
    before, after = (picture.draw("memory", capi_plot.Scene(core, step)) for step in (1, 2))
    assert ink(before, POISON) < ink(after, POISON) - 100
    assert ink(before, MASKED) > 100
    assert "target 512 of 1,024 bytes by step 2, 512 poisoned" in capi_plot.describe("memory", capi_plot.Scene(core))
    strip = memory_strip(capi_plot.Scene(core), "L0B")
    assert strip.areas[POISON].tolist() == [i >= 512 // strip.unit for i in range(1024 // strip.unit)]


def test_register_rows_are_the_words_of_the_log(launched):
    """Each register shows its word, its fields and the step that set it; before that, that nobody has."""
    core = launched.cores[0]
    setters = {"FMATRIX": "asc_set_l13d_fmatrix", "L3D_RPT": "asc_set_l13d_rpt",
               "LOOP3_PARA": "asc_set_l0c_copy_nz_para"}  # fmt: skip
    for name, call in setters.items():
        step = number_of(core, call)
        rows = [
            next(r for r in register_rows(capi_plot.Scene(core, s)) if r.title.startswith(name))
            for s in (step - 1, step, len(core.steps))
        ]
        assert rows[0].word is None
        assert "not set" in rows[0].title
        assert [row.word for row in rows[1:]] == [core.registers[name].config] * 2
        assert [row.set_now for row in rows] == [False, True, False]
        assert f"set by step {step} ({call})" in rows[2].title
    padding = register_rows(capi_plot.Scene(core, 1))[0]
    assert (padding.word, padding.set_now) == (0, True)  # asc_init
    last = {row.title.split()[0]: row for row in register_rows(capi_plot.Scene(core))}
    assert last["PADDING"].word == 0x4200  # half 3
    assert {f.name: f.value for f in last["FMATRIX"].fields} == {
        "l1_height": 7, "l1_width": 10, "padding_left_size": 1, "padding_right_size": 3, "padding_top_size": 2,
        "padding_bottom_size": 0,
    }  # fmt: skip
    # Set for the weights again, to another stride: step 4, not step 2.
    assert "step 4" in last["MTE2_NZ_PARA"].title


def test_a_register_that_is_set_is_outlined(launched, picture):
    """Only the step that sets a register outlines it."""
    core = launched.cores[0]
    step = number_of(core, "asc_set_l13d_fmatrix")
    now, later = (picture.draw("registers", capi_plot.Scene(core, s)) for s in (step, number_of(core, "asc_mmad")))
    assert ink(now, WINDOW) > 200
    assert ink(later, WINDOW) == 0


def test_slots_keep_every_step_in_order(launched):
    """Each call but the flags has a slot on its pipe; nothing that waits starts before what it waits for has ended."""
    core = launched.cores[0]
    slots = pipe_slots(capi_plot.Scene(core, 0))
    place = {}
    for lane, row in zip(LANES, slots.steps, strict=True):
        shown = [int(s) for s in row if s]
        assert shown == sorted(shown)
        assert shown == [s.number for s in core.steps if s.pipe is lane and not s.call.startswith("asc_sync")]
        place |= {int(s): int(x) for x, s in enumerate(row) if s}
    loads = [s.number for s in core.steps if s.call == "asc_copy_gm2l1_nd2nz"]
    assert place[number_of(core, "asc_copy_l12l0a")] > max(place[n] for n in loads)
    assert place[number_of(core, "asc_copy_l0c2gm")] > place[number_of(core, "asc_mmad")]
    waits = [s for s in core.steps if s.call == "asc_sync_wait"]
    assert slots.wait_steps.tolist() == [[s.waited_for, s.number] for s in waits]
    for (tail, head), step in zip(slots.waits, waits, strict=True):
        assert LANES[int(tail[1])] is step.arguments["pipe"]
        assert LANES[int(head[1])] is step.arguments["tpipe"]
        assert tail[0] <= head[0]


def test_long_kernels_are_shown_page_by_page():
    """The timeline turns to the page that the step is on."""
    s = Conv2dShape(BATCH=1, C1=5)
    core = run(s)[0].cores[0]
    pages = [pipe_slots(capi_plot.Scene(core, step)).first for step in (1, len(core.steps) - 1)]
    assert pages == [0, SLOTS]
    page = pipe_slots(capi_plot.Scene(core, len(core.steps) - 1))
    assert len(core.steps) - 1 in page.steps


def test_flags_are_drawn(launched, picture):
    """A kernel's waits are arrows; those of the step that is looked at are thicker."""
    core = launched.cores[0]
    thin = picture.draw("timeline", capi_plot.Scene(core, 1))
    thick = picture.draw("timeline", capi_plot.Scene(core, number_of(core, "asc_sync_wait")))
    assert 50 < ink(thin, WAIT) < ink(thick, WAIT)


def test_bars_grow_with_the_log(launched, picture):
    """Every step that moves something adds two bars."""
    core = launched.cores[0]
    counts = []
    for step in (2, 3, number_of(core, "asc_mmad")):
        png = picture.draw("bytes", capi_plot.Scene(core, step))
        counts.append(ink(png, capi_plot.MOVED_ROLES[0]))
    assert counts[0] == 0
    assert counts[0] < counts[1] < counts[2]


@pytest.mark.parametrize("pick", [(0, 0), (0, 3), (5, 2)])
def test_the_window_is_where_the_element_came_from(launched, pick):
    """The outlined points, without padding, are the elements that the log leads back to; together they make the sum."""
    scene = capi_plot.Convolution(launched, SHAPE, block=1, row=pick[0], column=pick[1], filter=9, channel=6)
    rows, columns = scene.window
    real = {
        (int(y) - SHAPE.PAD_TOP, int(x) - SHAPE.PAD_LEFT)
        for y in rows for x in columns if not scene.border[y, x]
    }  # fmt: skip
    own = [p for p in scene.products if p.tap[2] == 6]
    assert {p.sample[:2] for p in own if p.sample} == real
    assert all(p.sample[2] == 6 for p in own if p.sample)
    assert len(own) == 6  # 2 x 3 points: padding of 3 makes products, too
    fmap, weight = (launched.gm[name].array for name in ("fmap", "weight"))
    total = 0.0
    for p in scene.products:
        kh, kw, c = p.tap
        factor = weight[(kh * 3 + kw) * 16 + c, 9]
        total += float(factor) * (3.0 if p.sample is None else float(fmap[1][p.sample]))
    assert total == scene.output[pick[0], pick[1], 9] == scene.golden[pick[0], pick[1], 9]
    assert scene.padded[rows[0], columns[0]] == (3 if scene.border[rows[0], columns[0]] else fmap[
        1, rows[0] - 2, columns[0] - 1, 6])  # fmt: skip


def test_a_pick_is_outlined_with_its_window(launched, picture):
    """The picture of an origin has window, sources and picked element; padding is hatched."""
    scene = capi_plot.Convolution(launched, SHAPE, row=0, column=3, filter=2)
    png = picture.draw("origin", scene)
    for role in (WINDOW, ORIGIN, PICKED, PADDING):
        assert ink(png, role) > 100
    words = capi_plot.describe("origin", scene)
    assert "rows 0, 3 and columns 9, 10, 11 of the padded map" in words


def test_output_before_and_after_the_last_copy(launched):
    """Before asc_copy_l0c2gm the output is what the host left there; after it, it is the golden data."""
    core = launched.cores[1]
    last = number_of(core, "asc_copy_l0c2gm")
    before = capi_plot.Convolution(launched, SHAPE, block=1, step=last - 1)
    after = capi_plot.Convolution(launched, SHAPE, block=1, step=last)
    assert not before.output.any()
    assert before.mismatches > after.mismatches == 0
    np.testing.assert_array_equal(after.output, launched.gm["output"].array[1])
    assert f"0 of {after.output.size} elements differ" in capi_plot.describe("output", after)


@pytest.mark.parametrize("view", capi_plot.VIEWS.values())
def test_a_picture_redrawn_is_the_picture_drawn_afresh(launched, picture, view):
    """Going through other views and steps leaves nothing behind."""
    for step in (4, 11, 4):
        scene = capi_plot.Convolution(launched, SHAPE, row=1, column=1, filter=1, channel=2, step=step)
        picture.draw("output" if view == "origin" else "origin", scene)
        assert picture.draw(view, scene) == capi_plot.CapiPicture().draw(view, scene)
        assert len(capi_plot.describe(view, scene)) > 80


def test_static_pictures(launched):
    """The functions for notebooks draw on Axes of their own, with titles and labels."""
    core = launched.cores[0]
    axes = [
        capi_plot.memory_map(core, "L0A", step=number_of(core, "asc_copy_l12l0a")),
        capi_plot.timeline(core),
        capi_plot.bytes_moved(core, step=9),
    ]
    assert all(ax.get_title() and ax.get_xlabel() and ax.get_ylabel() for ax in axes)
    assert [t.get_text() for t in axes[1].get_yticklabels()] == ["S", "MTE2", "MTE1", "M", "FIX"]
    shown = capi_plot.show("registers", capi_plot.Scene(core, 9))
    assert shown.alt == capi_plot.describe("registers", capi_plot.Scene(core, 9))
    assert decode(shown.png).shape[:2] == (470, 760)


def test_words(launched):
    """Steps and origins are spelled out with their numbers."""
    core = launched.cores[0]
    words = [capi_plot.say_step(capi_plot.Scene(core, s)) for s in range(len(core.steps) + 1)]
    assert "All on-chip memory is poisoned" in words[0]
    assert words[3].endswith("reads 2,240 bytes of fmap (GM), writes 2,240 bytes of fmap_l1 (L1)")
    assert words[number_of(core, "asc_sync_wait")].endswith(
        "PIPE_MTE1 waits until PIPE_MTE2 has finished what came before step 6"
    )
    assert words[8].endswith("asc_set_l13d_fmatrix: sets FMATRIX")
    origin = capi_plot.say_origin(capi_plot.Convolution(launched, SHAPE, row=0, column=0, filter=1))
    assert "the sum of 96 products" in origin
    assert "64 of them have padding (3) as a factor" in origin
    value = f"{launched.gm['output'].array[0, 0, 0, 1]:g}"
    assert f"output[0, 0, 0, 1] = {value}: the sum" in origin
    last = number_of(core, "asc_copy_l0c2gm")
    early = capi_plot.Convolution(launched, SHAPE, row=0, column=0, filter=1, step=last - 1)
    assert f"output[0, 0, 0, 1] = {value} (not written yet): the sum" in capi_plot.say_origin(early)


def test_what_there_is_not_is_refused(launched):
    """Wrong views, steps and elements are errors of the library's family."""
    core = launched.cores[0]
    for wrong in (-1, len(core.steps) + 1, True, "1"):
        with pytest.raises(ParameterError, match="step"):
            capi_plot.Scene(core, wrong)
    with pytest.raises(ParameterError, match="column = 4"):
        capi_plot.Convolution(launched, SHAPE, column=4)
    with pytest.raises(ParameterError, match="block = 2"):
        capi_plot.Convolution(launched, SHAPE, block=2)
    with pytest.raises(ParameterError, match="view"):
        capi_plot.show("memoryy", capi_plot.Scene(core))
    with pytest.raises(ParameterError, match="a Convolution"):
        capi_plot.show("origin", capi_plot.Scene(core))
    with pytest.raises(ParameterError, match="core"):
        capi_plot.Scene(None)


def test_an_origin_that_is_known_is_used(launched):
    """An explorer hands in what it has asked already; the answer is the same, and nothing is asked again."""
    picks = {"row": 2, "column": 1, "filter": 4}
    own = capi_plot.Convolution(launched, SHAPE, **picks)
    given = capi_plot.Convolution(launched, SHAPE, **picks, origin=own.origin)
    assert given.origin is own.origin
    assert given.products == own.products
