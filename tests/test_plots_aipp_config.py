"""Pictures of AIPP config files: stages, errors of the standards, and the words beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ascendlab as al
from ascendlab import pictures
from ascendlab.aipp_config import Finding, annotate
from ascendlab.aipp_config_samples import CONFIG_SAMPLES
from ascendlab.aipp_config_standards import compare_standards
from ascendlab.aipp_params import CSC_PRESETS
from ascendlab.plots import aipp_config as plots
from ascendlab.plots._base import to_png

CONFIGS = Path(__file__).parent / "data" / "aipp_configs"
PICTURE = plots.AippConfigPicture(700, 480)


def scene(text: str, pick: tuple[int, int] = (20, 30), truth: str = "jpeg") -> plots.Scene:
    """Run a config on the photograph."""
    config = al.read_aipp_config(text)
    op = config.aipp_op[0]
    rgb = pictures.sized(pictures.photograph(), op.src_image_size_h or 60, op.src_image_size_w or 52)
    stages = config.stages(*pictures.to_format(rgb, op.format, standard=truth))
    return plots.Scene(stages, compare_standards(truth, pictures.photograph(60, 52)), truth, pick)


@pytest.mark.parametrize("name", [n for n in CONFIG_SAMPLES if n != "mistake: float mean"])
@pytest.mark.parametrize("view", plots.VIEWS.values())
def test_every_sample_can_be_drawn(name: str, view: str) -> None:
    """Each view of each sample is a picture of the full size, and a text that names what is in it."""
    shown = scene(CONFIG_SAMPLES[name])
    png = PICTURE.draw(view, shown)
    assert png == PICTURE.draw(view, shown)
    assert int.from_bytes(png[16:20], "big") == 700
    assert int.from_bytes(png[20:24], "big") == 480
    words = plots.describe(view, shown)
    for part in [plots.stage_title(s) for s in shown.stages] if view == "stages" else pictures.PATCHES:
        assert part in words


def test_pictures_follow_their_contents() -> None:
    """Another config, pixel or standard gives another picture."""
    text = CONFIG_SAMPLES["classifier, YUV"]
    seen = {
        PICTURE.draw("stages", scene(text)),
        PICTURE.draw("stages", scene(text, (40, 60))),
        PICTURE.draw("stages", scene(text.replace("123.675", "23.675"))),
        PICTURE.draw("stages", scene(text.replace("start_pos_w : 16", "start_pos_w : 0"))),
        PICTURE.draw("standards", scene(text)),
        PICTURE.draw("standards", scene(text, truth="bt709_narrow")),
    }
    assert len(seen) == 6


def test_a_stage_is_drawn_as_a_model_takes_it() -> None:
    """First channel red, second green, third blue; half from its lowest to its highest; X is left out; grey is grey."""
    rgb = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)
    text = "aipp_op {{ aipp_mode: static input_format: {} rbuv_swap_switch: {} mean_chn_0: 9 var_reci_chn_1: .5 }}"
    stages = al.read_aipp_config(text.format("RGB888_U8", "true")).stages(rgb)
    np.testing.assert_array_equal(plots.stage_colours(stages[0]), rgb)
    np.testing.assert_array_equal(plots.stage_colours(stages[1]), rgb[:, :, ::-1])
    drawn = plots.stage_colours(stages[4])
    assert (drawn.min(), drawn.max(), drawn.dtype) == (0, 255, np.uint8)
    grey = al.read_aipp_config(text.format("YUV400_U8", "false")).stages(rgb[:, :, 0])
    assert plots.stage_colours(grey[0]).shape == (6, 8)
    with_x, _ = pictures.to_format(rgb, al.AippInputFormat.XRGB8888_U8)
    swapped = text.format("XRGB8888_U8", "false ax_swap_switch: true")
    np.testing.assert_array_equal(plots.stage_colours(al.read_aipp_config(swapped).stages(with_x)[0]), rgb)


def test_single_functions_draw_on_an_axes() -> None:
    """`stage` and `errors` return the Axes that they drew on, with title and labels."""
    shown = scene(CONFIG_SAMPLES["classifier, RGB"])
    ax = plots.stage(shown.stages[0], window=shown.stages[2], pick=(20, 30))
    assert ax.get_title().startswith("source: RGB, ")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column", "row")
    with_marks = to_png(ax.figure)
    assert with_marks != to_png(plots.stage(shown.stages[0]).figure)
    assert plots.stage(shown.stages[1], ax=ax) is ax
    table = plots.errors(shown.readings)
    assert table.get_title() == "error of each colour patch"
    assert to_png(table.figure)[:4] == b"\x89PNG"


def test_a_pixel_is_followed_through_crop_and_border() -> None:
    """The same pixel has another place in every stage; what is cropped away is said to be."""
    text = (CONFIGS / "border_rows.cfg").read_text()
    src = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    stages = al.read_aipp_config(text).stages(src)
    for stage in stages:
        assert stage.at(4, 5) == tuple(map(float, src[4, 5]))
        assert stage.at(-3, 0) is None
    assert stages[-1].at(-1, -1) == (7.0, 7.0, 7.0)
    assert plots.say_pixel(stages, (4, 5)) == "pixel (4, 5): source R 111, G 112, B 113; padding R 111, G 112, B 113"
    assert plots.say_pixel(stages, (99, 0)) == "pixel (99, 0): not in the picture"
    cropped = scene(CONFIG_SAMPLES["classifier, YUV"], (3, 3))
    assert plots.say_pixel(cropped.stages, (3, 3)).endswith("crop: not in the picture any more")


@pytest.mark.parametrize("truth", pictures.STANDARDS)
def test_the_right_standard_has_the_smallest_error(truth: str) -> None:
    """The matrix of the picture's own standard gets every patch right within 3; every other one is off by 8 or more."""
    readings = compare_standards(truth)
    patches = pictures.colour_patches(8)
    for reading in readings:
        assert reading.pixels.shape == patches.shape
        own = max(reading.errors)
        assert own <= 3 if reading.standard == truth else own >= 8, reading
        matrix, bias = CSC_PRESETS[f"yuv_to_rgb_{reading.standard}"]
        store, offset = CSC_PRESETS[f"rgb_to_yuv_{truth}"]
        for i, (rgb, error) in enumerate(zip(pictures.PATCHES.values(), reading.errors, strict=True)):
            yuv = [(sum(int(store[r, c]) * rgb[c] for c in range(3)) + 128 >> 8) + offset[r] for r in range(3)]
            read = [sum(int(matrix[r, c]) * (yuv[c] - bias[c]) for c in range(3)) >> 8 for r in range(3)]
            read = [min(255, max(0, value)) for value in read]
            assert reading.pixels[0, 8 * i].tolist() == read
            assert error == max(abs(a - b) for a, b in zip(read, rgb, strict=True))


def test_remarks_stand_beside_their_lines() -> None:
    """Every line that is meant is marked; the words stand at the first of them; problems of unreadable files, too."""
    remarks = [Finding("one", (2, 4), "w", "f"), Finding("two", (2,), "w", "f")]
    lines = annotate("a\r\nb\r\nc\r\nd", remarks)
    assert [line.text for line in lines] == list("abcd")
    assert [line.number for line in lines if line.marked] == [2, 4]
    assert [len(line.notes) for line in lines] == [0, 2, 0, 0]
    with pytest.raises(al.AippConfigError) as caught:
        al.read_aipp_config("aipp_op {\ncrop: yes\n}")
    assert [line.marked for line in annotate("aipp_op {\ncrop: yes\n}", caught.value.problems)] == [False, True, False]


def test_pictures_are_sized_and_checked() -> None:
    """The nearest pixels, in any size; a side of 0 stays, and becomes even; anything that is no picture is refused."""
    rgb = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)
    np.testing.assert_array_equal(pictures.sized(rgb, 5, 7), rgb)
    np.testing.assert_array_equal(pictures.sized(rgb, 0, 0), rgb[:4, :6])
    np.testing.assert_array_equal(pictures.sized(rgb, 10, 7), rgb.repeat(2, axis=0))
    assert pictures.sized(rgb, 3, 100).shape == (3, 100, 3)
    for wrong in (None, rgb[:, :, 0], rgb.astype(float), rgb[:1], "x"):
        with pytest.raises(al.ParameterError):
            pictures.sized(wrong, 4, 4)
    for wrong in (-1, 4097, True, 2.0, None):
        with pytest.raises(al.ParameterError):
            pictures.sized(rgb, wrong, 4)
    for wrong in (0, 3, 514, None):
        with pytest.raises(al.ParameterError):
            pictures.colour_patches(wrong)
    with pytest.raises(al.ParameterError):
        pictures.to_format(rgb, al.AippInputFormat.YUV400_U8, standard="bt2020")
