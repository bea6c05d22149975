"""The pictures of the vector instructions: what they mark, write and say follows from the call."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from ascendlab import Call, UnaryRepeatParams, bilinear_interpolation, trace, vector_padding
from ascendlab.plots import bilinear_interpolation as bilinear_plot
from ascendlab.plots import frames
from ascendlab.plots import vector_padding as padding_plot
from ascendlab.plots._base import to_png
from ascendlab.plots._roles import MASKED, ORIGIN, PADDING, PICKED, Role
from ascendlab.vector import bilinear_interpolation_plan, vector_padding_plan

SRC0 = np.arange(1, 513, dtype=np.float16)
SRC1 = np.arange(2, 18, dtype=np.float16)


def decode(png: bytes) -> NDArray[np.uint8]:
    """Read a PNG with another library."""
    return np.asarray(Image.open(io.BytesIO(png)))


def ink(png: bytes, role: Role, below: int = 470) -> int:
    """Count a role's pixels above the legend."""
    return int((decode(png)[:below, :, :3] == role.rgb).all(axis=2).sum())


def padding_scene(picked: int | None = 18, **more: Any) -> padding_plot.Scene:
    """Return a call of VectorPadding with a picked element."""
    arguments = {"src": SRC0[:256], "pad_mode": 1, "pad_side": False, "mask": 100, **more}
    out, plan = vector_padding(**arguments), vector_padding_plan(**arguments)
    origin = None if picked is None else trace(Call(vector_padding, arguments)).origin(picked)
    return padding_plot.Scene(plan, arguments["src"], out, 0, picked, origin)


def bilinear_scene(picked: int | None = 18, *, repeat: int = 0, block: int = 0, iteration: int = 0, **more: Any) -> Any:
    """Return a call of BilinearInterpolation with a picked element."""
    arguments = {
        "src0": SRC0, "src0_offset": np.arange(0, 1024, 32, dtype=np.uint32), "src1": SRC1, "mask": 100, "h_repeat": 2,
        "repeat_mode": False, "dst_blk_stride": 1, "v_roffset": 144, "v_repeat": 2, **more,
    }  # fmt: skip
    out, plan = bilinear_interpolation(**arguments), bilinear_interpolation_plan(**arguments)
    origin = None if picked is None else trace(Call(bilinear_interpolation, arguments)).origin(picked)
    return bilinear_plot.Scene(plan, SRC0, SRC1, out, repeat, block, iteration, picked, origin)


@pytest.mark.parametrize("view", padding_plot.VIEWS.values())
def test_padding_marks_what_is_picked(view: str) -> None:
    """A pick adds outlines to both pictures of VectorPadding."""
    picture = padding_plot.VectorPaddingPicture()
    with_pick, without = (picture.draw(view, padding_scene(pick)) for pick in (18, None))
    assert ink(with_pick, PICKED) > 100
    assert ink(without, PICKED) == 0


@pytest.mark.parametrize("view", bilinear_plot.VIEWS.values())
def test_bilinear_marks_what_is_picked(view: str) -> None:
    """A pick adds outlines to all pictures of BilinearInterpolation, if its block is shown."""
    picture = bilinear_plot.BilinearInterpolationPicture()
    with_pick, without = (picture.draw(view, bilinear_scene(pick, block=1)) for pick in (18, None))
    assert ink(with_pick, PICKED) > 100
    assert ink(without, PICKED) == 0
    if view != "strips":
        elsewhere = picture.draw(view, bilinear_scene(18, repeat=1, block=1))
        assert ink(elsewhere, ORIGIN) == 0


def test_masked_lanes_are_hatched() -> None:
    """Both instructions hatch the lanes that the mask leaves out, and only those."""
    padding, bilinear = padding_plot.VectorPaddingPicture(), bilinear_plot.BilinearInterpolationPicture()
    for mask, hatched in ((100, True), (128, False)):
        assert (ink(padding.draw("blocks", padding_scene(None, mask=mask)), MASKED) > 100) == hatched
        assert (ink(bilinear.draw("blocks", bilinear_scene(None, mask=mask)), MASKED) > 100) == hatched


def test_zeros_of_mode_2_are_marked() -> None:
    """Only the mode that lets a 0 in shows it as such."""
    picture = padding_plot.VectorPaddingPicture()
    zeros = [ink(picture.draw("blocks", padding_scene(None, pad_mode=mode)), PADDING) for mode in range(3)]
    assert zeros[:2] == [0, 0]
    assert zeros[2] > 100


def test_a_picture_redrawn_is_the_picture_drawn_afresh() -> None:
    """Going through other views and sizes leaves nothing behind."""
    picture = bilinear_plot.BilinearInterpolationPicture()
    for view in ("stages", "blocks", "strips", "stages"):
        for scene in (bilinear_scene(18), bilinear_scene(150, repeat=1, h_repeat=1)):
            assert picture.draw(view, scene) == bilinear_plot.BilinearInterpolationPicture().draw(view, scene)


def test_static_pictures_have_titles_and_numbers() -> None:
    """The functions for notebooks draw on frames that are given to them and on frames of their own."""
    scene = bilinear_scene(150)
    plan, out = scene.plan, scene.out
    figure, axes = frames([(2, 16)] * 3, across=1)
    bilinear_plot.gathered(SRC0, plan, block=2, ax=axes[0])
    bilinear_plot.multiplied(SRC0, SRC1, plan, block=2, ax=axes[1])
    bilinear_plot.accumulated(SRC0, SRC1, plan, block=2, ax=axes[2])
    assert [ax.get_title() for ax in axes] == [
        "1. gather: DataBlocks 2, 10 of src0", "2. multiply: by 2, 3", "3. accumulate: running sum in half",
    ]  # fmt: skip
    assert decode(to_png(figure)).std() > 0
    own = [
        bilinear_plot.source_blocks(SRC0, plan, repeat=1, iteration=1),
        bilinear_plot.destination_blocks(out, plan, repeat=1, picked=150),
        bilinear_plot.source_strip(SRC0, plan),
        bilinear_plot.destination_strip(out, plan),
    ]
    assert own[0].get_title() == "src0, repeat 1, iteration 1: DataBlocks 24, 25, 26, 27, 28, 29, 30, 31"
    assert all(ax.get_title() and ax.get_xlabel() and ax.get_ylabel() for ax in own)


def test_many_iterations_are_shown_a_few_at_a_time() -> None:
    """The stages show the iterations around the chosen one, the last ones too."""
    offsets = np.resize(np.arange(0, 1024, 32, dtype=np.uint32), 8 * 10)
    scene = bilinear_scene(3, iteration=99, src0_offset=offsets, h_repeat=10, v_repeat=1)
    assert (scene.iteration, scene.rows) == (9, slice(6, 10))
    assert "iterations 6 to 9, of which 9 is marked: DataBlocks 16, 24, 0, 8 of src0" in bilinear_plot.describe(
        "stages", scene
    )
    assert "... 2 more ..." in bilinear_plot.say_origin(scene)


def test_words_of_bilinear() -> None:
    """The texts name blocks, weights and sums; the origin spells the sum out as it is rounded."""
    scene = bilinear_scene(144 + 18, repeat=1, block=1)
    assert bilinear_plot.say_origin(scene) == (
        "dst[162] = 3116: DataBlock 10, lane 2. Vertical repeat 1, block 1: 1 * 9 + 1 * 1 = 10. In this order: "
        "src0[274] * src1[2] = 275 * 4 = 1100, sum 1100; src0[402] * src1[3] = 403 * 5 = 2015, sum 3116"
    )
    assert "mask leaves out" in bilinear_plot.say_origin(bilinear_scene(110))
    assert "no repeat addresses" in bilinear_plot.say_origin(bilinear_scene(130))
    assert "100 of 128 lanes" in bilinear_plot.describe("blocks", scene)
    assert "Strips of DataBlocks: 32 of src0" in bilinear_plot.describe("strips", scene)


def test_words_of_padding() -> None:
    """The texts name the DataBlocks that are moved and the source element's value."""
    scene = padding_scene(18, repeat_params=UnaryRepeatParams(1, 2, 8, 8))
    assert "moves DataBlocks 0 to 0, 2 to 1, 4 to 2" in padding_plot.describe("blocks", scene)
    assert "src[45], which is 46" in padding_plot.say_origin(scene)
    assert "leaves out" in padding_plot.say_origin(padding_scene(110))
