"""The explorer of AIPP config files: what it shows is what the library says of the text in its field."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_page import run_python, shown_alt, shown_png, text
from PIL import Image
from test_aipp_config_check import FOUND
from test_aipp_config_read import REFUSED

import ascendlab as al
from ascendlab import explorers, pictures
from ascendlab.aipp_config_samples import CONFIG_SAMPLES
from ascendlab.aipp_config_standards import compare_standards
from ascendlab.explorers._aipp_config import AippConfigExplorer
from ascendlab.plots.aipp_config import AippConfigPicture, Scene, describe, say_pixel, say_ranges
from ascendlab.summary import summarise

CONFIGS = Path(__file__).parent / "data" / "aipp_configs"
PICTURE = AippConfigPicture(*AippConfigExplorer.size)


@pytest.fixture(scope="module")
def shared() -> AippConfigExplorer:
    """Make one explorer for all tests."""
    return explorers.aipp_config()


@pytest.fixture
def explorer(shared: AippConfigExplorer) -> AippConfigExplorer:
    """Return the explorer with its first values."""
    shared.reset()
    return shared


def check(explorer: AippConfigExplorer) -> None:
    """Compare all that is shown with direct calls."""
    state: dict[str, Any] = dict(explorer.state)
    config = al.read_aipp_config(state["config"])
    op = config.aipp_op[state["block"]]
    rgb = pictures.photograph() if state["picture"] == "photograph" else pictures.colour_patches(24)
    rgb = pictures.sized(rgb, op.src_image_size_h, op.src_image_size_w)
    sources = pictures.to_format(rgb, op.format, x_first=state["x_first"], standard=state["standard"])
    stages = config.stages(*sources, profile=state["profile"], block=state["block"])
    pick = state["pick_row"], state["pick_column"]
    scene = Scene(stages, compare_standards(state["standard"], pictures.photograph()), state["standard"], pick)
    assert shown_png(explorer) == PICTURE.draw(state["view"], scene)
    assert shown_alt(explorer) == describe(state["view"], scene)
    assert summarise(stages[-1].pixels) in text(explorer.summary)
    assert say_ranges(stages) in text(explorer.summary)
    assert say_pixel(stages, pick) in text(explorer.origin)
    for finding in config.check():
        assert str(finding) in text(explorer.file)
    assert ("Nothing looks wrong" in text(explorer.file)) == (not config.check())
    names = run_python(explorer)
    np.testing.assert_array_equal(names["result"], stages[-1].pixels)
    assert names["config"] == config


@pytest.mark.parametrize("sample", [n for n in CONFIG_SAMPLES if n != "mistake: float mean"])
def test_samples_are_shown_as_the_library_computes_them(explorer: AippConfigExplorer, sample: str) -> None:
    """Picture, ranges, pixel, findings and code of every sample."""
    explorer.controls["sample"].box.value = sample
    assert explorer.state["config"] == CONFIG_SAMPLES[sample]
    check(explorer)


@pytest.mark.parametrize(
    "changes",
    [
        {"view": "standards", "standard": "bt709_wide"},
        {"picture": "patches", "standard": "bt601_narrow", "pick_row": 30, "pick_column": 40},
        {"profile": "dav_3510", "pick_row": 0},
        {
            "config": 'aipp_op { aipp_mode: static input_format: XRGB8888_U8 related_input_name: "a\\n" }',
            "x_first": False,
        },
        {"config": "aipp_op {}\naipp_op { aipp_mode: static input_format: YUV400_U8 mean_chn_0: 3 }", "block": 1},
    ],
)
def test_settings_do_what_they_say(explorer: AippConfigExplorer, changes: dict[str, Any]) -> None:
    """View, standard, picture, profile, place of X and block."""
    for name, value in changes.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            explorer.controls[name].box.value = value
    assert {name: explorer.state[name] for name in changes} == changes
    check(explorer)


@pytest.mark.parametrize("name", REFUSED)
def test_unreadable_files_are_explained_line_by_line(explorer: AippConfigExplorer, name: str) -> None:
    """The last picture is marked as old; every problem stands beside its line."""
    data = (CONFIGS / f"{name}.cfg").read_text(encoding="utf-8")
    explorer.controls["config"].box.value = data
    with pytest.raises(al.AippConfigError) as caught:
        al.read_aipp_config(data)
    assert "What cannot be read" in text(explorer.file)
    for problem in caught.value.problems:
        assert str(problem) in text(explorer.file)
    assert "Not possible" in text(explorer.message)
    assert "last possible setting" in explorer.picture.value
    known = next((sample for sample, written in CONFIG_SAMPLES.items() if written == data), "own text")
    assert explorer.state["sample"] == known


@pytest.mark.parametrize("name", FOUND)
def test_findings_stand_beside_their_lines(explorer: AippConfigExplorer, name: str) -> None:
    """The lines that a finding is about are marked, and no others."""
    data = (CONFIGS / f"{name}.cfg").read_text()
    explorer.controls["config"].box.value = data
    lines = {int(part.split()[0]) for part in explorer.file.value.split("<mark>")[1:]}
    assert lines == set(FOUND[name][1])
    assert f"[{FOUND[name][0]}]" in text(explorer.file)


def test_names_of_samples_belong_to_their_texts(explorer: AippConfigExplorer) -> None:
    """An edited sample is one's own text; a sample's text typed in is that sample."""
    explorer.controls["config"].box.value = explorer.state["config"] + "# mine\n"
    assert explorer.state["sample"] == "own text"
    explorer.controls["config"].box.value = CONFIG_SAMPLES["classifier, RGB"]
    assert explorer.state["sample"] == "classifier, RGB"


def test_texts_cannot_break_out_of_the_page(explorer: AippConfigExplorer) -> None:
    """Markup in a file is shown as text."""
    explorer.controls["config"].box.value = "aipp_op { } # <script>alert(1)</script><img src=x>"
    for part in (explorer.file, explorer.python, explorer.message, explorer.picture):
        assert "<script" not in part.value
        assert "<img src=x" not in part.value
    assert "<script>alert(1)</script>" in text(explorer.file)


def test_files_and_pictures_of_ones_own(tmp_path: Path) -> None:
    """A path is read, a picture is used; what is neither is refused."""
    path = tmp_path / "mine.cfg"
    path.write_bytes("aipp_op { aipp_mode: static input_format: RGB888_U8 } # 中".encode("gbk"))
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    explorer = explorers.aipp_config(config=path, image=image, pick_row=3, pick_column=4)
    assert explorer.shown is not None
    red, green, blue = image[3, 4]
    assert explorer.shown.origin == f"pixel (3, 4): source R {red}, G {green}, B {blue}"
    assert "(20, 30, 3) half" in explorer.shown.summary
    for preset in (
        {"config": 3},
        {"image": image[0]},
        {"image": "x"},
        {"picture": 3},
    ):
        with pytest.raises(al.ParameterError):
            explorers.aipp_config(**preset)
    with pytest.raises(al.FileProblemError, match="none cannot be read"):
        explorers.aipp_config(config=tmp_path / "none")
    assert "# image: your picture" in text(explorer.python)


def test_files_and_pictures_can_be_opened(explorer: AippConfigExplorer) -> None:
    """A file from the reader's disk goes into the field, a picture through the config; what is neither is refused."""
    explorer.controls["picture"].box.value = "own"
    assert "a picture that was opened" in text(explorer.message)
    explorer.controls["picture"].box.value = "photograph"
    data = b"aipp_op { aipp_mode: static input_format: RGB888_U8 mean_chn_0: 7 }"
    explorer._opened([{"content": memoryview(data)}], explorer._take_config)
    assert explorer.state["config"] == data.decode()
    check(explorer)
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    for turned in (image, image[::-1]):
        stored = io.BytesIO()
        Image.fromarray(turned).save(stored, "PNG")
        explorer._opened([{"content": memoryview(stored.getvalue())}], explorer._take_picture)
        explorer.set(pick_row=3, pick_column=4)
        red, green, blue = map(int, turned[3, 4])
        assert f"source R {red}, G {green}, B {blue}; dtc R {red - 7}" in text(explorer.origin)
    before = dict(explorer.state)
    for junk in (b"", b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(50)):
        explorer._opened([{"content": memoryview(junk)}], explorer._take_picture)
        assert "an image file" in text(explorer.message)
    wide = io.BytesIO()
    Image.new("1", (5000, 3)).save(wide, "PNG")
    explorer._opened([{"content": memoryview(wide.getvalue())}], explorer._take_picture)
    assert "5000 x 3 pixels" in text(explorer.message)
    explorer._opened([{"content": memoryview(b"#" * 100_000)}], explorer._take_config)
    assert "no AIPP config file" in text(explorer.message)
    assert dict(explorer.state) == before
