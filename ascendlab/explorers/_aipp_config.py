"""The explorer of AIPP config files."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets
from numpy.typing import NDArray

from ascendlab import pictures
from ascendlab.aipp import load_image_to_local, set_aipp_functions
from ascendlab.aipp_config import AippConfig, annotate, read_aipp_config, read_config_text
from ascendlab.aipp_config_op import AippOp
from ascendlab.aipp_config_samples import CONFIG_SAMPLES
from ascendlab.aipp_config_stages import Stage
from ascendlab.aipp_config_standards import photograph_readings
from ascendlab.aipp_params import PROFILES, AippInputFormat
from ascendlab.cpp import to_cpp
from ascendlab.errors import AippConfigError, AscendlabError, ParameterError
from ascendlab.explorers._base import Explorer, Group, Shown
from ascendlab.explorers._controls import Control, choice, number
from ascendlab.plots.aipp_config import VIEWS, AippConfigPicture, Scene, describe, say_pixel, say_ranges
from ascendlab.products import Product
from ascendlab.provenance import Call
from ascendlab.summary import summarise

__all__ = ["AippConfigExplorer", "aipp_config"]

_OWN = "own text"
_PICTURES = {"photograph": "photograph", "colour patches": "patches", "your own": "own"}


def _text(value: Any) -> str:
    """Take a config's text; what is wrong inside is for the panel to say."""
    if isinstance(value, str):
        return value
    raise ParameterError("config", value, "the text of a config file, or a pathlib.Path")


class AippConfigExplorer(Explorer):
    """A config file, what is wrong with it, and what it does to a picture.

    Made by `ascendlab.explorers.aipp_config`, where the presets are described.
    """

    size = (700, 480)
    title = "AIPP config files"

    def __init__(self, *, image: NDArray[Any] | None = None, **preset: Any) -> None:
        self._picture = AippConfigPicture(*self.size)
        self._image = None if image is None else pictures.check_picture(image)
        self._made: tuple[Mapping[str, Any], tuple[Stage, ...], str] | None = None
        self.file = widgets.HTML()
        self.file.add_class("al-file")
        super().__init__(**preset)

    def _build(self, group: str | None) -> list[widgets.Widget]:
        self.open_config = widgets.FileUpload(description="Open a config", multiple=False)
        self.open_picture = widgets.FileUpload(description="Open a picture", accept="image/*", multiple=False)
        self.open_config.observe(lambda change: self._opened(change["new"], self._take_config), "value")
        self.open_picture.observe(lambda change: self._opened(change["new"], self._take_picture), "value")
        return [*super()._build(group), widgets.HBox([self.open_config, self.open_picture]), self.file]

    def _opened(self, files: Any, take: Any) -> None:
        """Take the file that the reader opened, or say why it cannot be taken."""
        for file in files:
            try:
                take(bytes(file["content"]))
            except AscendlabError as error:
                self._say(str(error))

    def _take_config(self, data: bytes) -> None:
        self.set(config=read_config_text(data))

    def _take_picture(self, data: bytes) -> None:
        self._image = pictures.read_picture(data)
        self.set(picture="photograph")  # so that the next step is a change, even from one picture to the next
        self.set(picture="own")

    def groups(self) -> list[Group]:
        """Return the file, the picture, and what to look at."""
        samples = {_OWN: _OWN, **{name: name for name in CONFIG_SAMPLES}}
        first = next(iter(CONFIG_SAMPLES))
        source = "photograph" if self._image is None else "own"
        return [
            Group("File", [
                choice("sample", samples, first, "A file to begin with: right ones, and ones with a mistake."),
                Control("config", "page", CONFIG_SAMPLES[first], "The text of the file: paste yours.", check=_text),
                number("block", 0, 1000, 0, "Which aipp_op of the file, from 0."),
            ], "Paste a config file; what looks wrong in it stands beside its lines, below."),
            Group("Picture", [
                choice("picture", _PICTURES, source, "What is read."),
                choice("standard", {s: s for s in pictures.STANDARDS}, "jpeg",
                       "By which standard RGB became YUV: what the video really is."),
                choice("x_first", {"X, R, G, B": True, "R, G, B, X": False}, True, "XRGB8888: where X lies."),
                choice("profile", {p: p for p in PROFILES}, "documented",
                       "The manual's rules, or those of the open kernel for Atlas 350."),
            ], "It gets the size that the file says; without one, its own."),
            Group("Look at", [
                choice("view", VIEWS, "stages", "What the picture shows."),
                number("pick_row", 0, 4095, 100, "Row of the source pixel to follow."),
                number("pick_column", 0, 4095, 90, "Its column."),
            ], pinned=True),
        ]  # fmt: skip

    def follow(self, changes: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a sample's text into the field."""
        if changes.get("sample", _OWN) != _OWN:
            return {"config": CONFIG_SAMPLES[state["sample"]]}
        return {}

    def settle(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Name the text: it is a sample's, or nobody's."""
        name = next((name for name, text in CONFIG_SAMPLES.items() if text == state["config"]), _OWN)
        return {} if name == state["sample"] else {"sample": name}

    def lacking(self, state: Mapping[str, Any]) -> Mapping[str, str]:
        """Name what only some formats look at."""
        reasons = {}
        if "XRGB8888_U8" not in state["config"]:
            reasons["x_first"] = "Only XRGB8888 has an X."
        if "YUV" not in state["config"] and state["view"] != "standards":
            reasons["standard"] = "Only YUV is made by a standard."
        return reasons

    def _read(self, state: Mapping[str, Any]) -> AippConfig:
        """Read the text, and write what is wrong with it beside its lines."""
        text = state["config"]
        try:
            config = read_aipp_config(text)
        except AippConfigError as error:
            self._say_lines(text, error.problems, "What cannot be read")
            raise
        found = config.check()
        self._say_lines(text, found, "What looks wrong" if found else "Nothing looks wrong")
        return config

    def _say_lines(self, text: str, remarks: Any, heading: str) -> None:
        rows = []
        for line in annotate(text, remarks):
            words = html.escape(f"{line.number:>3}  {line.text}")
            rows.append(f"<mark>{words}</mark>" if line.marked else words)
            rows += [f'<span class="al-error">{html.escape(note)}</span>' for note in line.notes]
        joined = "\n".join(rows).replace("</span>\n", "</span>")
        self.file.value = (
            f'<div class="al-heading">{heading}</div>'
            f'<pre tabindex="0" role="group" aria-label="{heading}"><code>{joined}</code></pre>'
        )

    def show(self, state: Mapping[str, Any]) -> Shown:
        """Read the file, run it, draw it."""
        config = self._read(state)
        op = config.block(state["block"])
        op.require_static()
        assert op.format is not None
        # What is looked at changes nothing of what there is to see.
        made_of = {name: value for name, value in state.items() if name not in ("view", "pick_row", "pick_column")}
        if self._made is None or self._made[0] != made_of or state["picture"] == "own":
            self._made = None
            self._made = (made_of, *self._run(config, op, state))
        _, stages, cpp = self._made
        pick = (state["pick_row"], state["pick_column"])
        scene = Scene(stages, photograph_readings(state["standard"]), state["standard"], pick)
        return Shown(
            png=self._picture.draw(state["view"], scene),
            alt=describe(state["view"], scene),
            summary=f"{summarise(stages[-1].pixels)}; {say_ranges(stages)}",
            origin=say_pixel(stages, pick),
            cpp=cpp,
            python=_python(state, op.format),
        )

    def _run(self, config: AippConfig, op: AippOp, state: Mapping[str, Any]) -> tuple[tuple[Stage, ...], str]:
        """Compute the stages, and write the same in Ascend C."""
        assert op.format is not None
        kind = {"input_format": op.format, "x_first": state["x_first"], "standard": state["standard"]}
        place = {"block": state["block"], "profile": state["profile"]}
        rgb = pictures.sized(self._rgb(state["picture"]), op.src_image_size_h, op.src_image_size_w)
        src0, src1 = pictures.to_format(rgb, **kind)
        stages = config.stages(src0, src1, **place)
        return stages, _cpp(config, src0, src1, stages[2].pixels.shape, op.format, place)

    def _rgb(self, name: str) -> NDArray[Any]:
        if name == "own":
            if self._image is None:
                raise ParameterError("picture", name, "a picture that was opened, or the argument image")
            return self._image
        return pictures.photograph() if name == "photograph" else pictures.colour_patches(24)


def _cpp(
    config: AippConfig, src0: Any, src1: Any, window: tuple[int, ...], input_format: AippInputFormat, place: Any
) -> str:
    """Write the same in Ascend C, or why that is not possible."""
    op = config.block(place["block"])
    height, width = src0.shape[:2]
    size = {"src_image_size_w": width, "src_image_size_h": height}
    if op.crop:
        size |= {"crop_size_w": window[1], "crop_size_h": window[0]}
    try:
        params, load = config.to_aipp(**size, **place)
        product = Product.ATLAS_350 if place["profile"] == "dav_3510" else Product.ATLAS_INFERENCE_AI_CORE
        setup = set_aipp_functions(src0, src1, input_format=input_format, config=params, dtype="half",
                                   product=product, profile=place["profile"])  # fmt: skip
        return to_cpp(Call(load_image_to_local, {"setup": setup, "params": load}))
    except ParameterError as error:
        return f"// Not in Ascend C: {error}"


def _python(state: Mapping[str, Any], input_format: AippInputFormat) -> str:
    """Write the call so that it runs as it stands there."""
    source = {"photograph": "pictures.photograph()", "patches": "pictures.colour_patches(24)", "own": "image"}
    name = source[state["picture"]]
    more = "" if state["standard"] == "jpeg" else f", standard={state['standard']!r}"
    more += "" if state["x_first"] else ", x_first=False"
    text = state["config"].replace("\\", "\\\\").replace('"', '\\"')
    last = "".join(f", {n}={state[n]!r}" for n, usual in (("block", 0), ("profile", "documented")) if state[n] != usual)
    return (
        "import ascendlab as al\nfrom ascendlab import pictures\n\n"
        + ("# image: your picture, RGB, uint8\n" if name == "image" else "")
        + f'config = al.read_aipp_config("""{text}""")\n'
        "for finding in config.check():\n    print(finding)\n"
        f"op = config.block({state['block']})\n"
        f"rgb = pictures.sized({name}, op.src_image_size_h, op.src_image_size_w)\n"
        f"src0, src1 = pictures.to_format(rgb, al.AippInputFormat.{input_format.name}{more})\n"
        f"result = config.apply(src0, src1{last})\n"
    )


def aipp_config(*, group: str | None = None, image: NDArray[Any] | None = None, **preset: Any) -> AippConfigExplorer:
    """Explore AIPP config files.

    Parameters
    ----------
    group : str, optional
        Which controls are open at first: "File" or "Picture".
    image : ndarray of uint8, shape (H, W, 3), optional
        A picture of your own, RGB.
    **preset
        First values: ``config`` (the text, or a `pathlib.Path` of a file), ``sample`` (one of
        `ascendlab.aipp_config_samples.CONFIG_SAMPLES`), ``block``, ``picture`` ("photograph", "patches" or
        "own"), ``standard`` (one of `ascendlab.pictures.STANDARDS`), ``x_first``, ``profile``, ``view``
        ("stages" or "standards"), ``pick_row``, ``pick_column``.

    Returns
    -------
    AippConfigExplorer

    Raises
    ------
    ParameterError
        For a preset that does not exist, and for a value that its control does not take.
    AippConfigError
        For a file that is too large to be shown, or no text at all.
    FileProblemError
        For a file that cannot be read.

    Examples
    --------
    >>> explorer = aipp_config(config="aipp_op { aipp_mode: static input_format: RGB888_U8 rbuv_swap_switch: true }")
    >>> explorer.shown.origin
    'pixel (100, 90): source R 216, G 118, B 90; swap B 90, G 118, R 216'
    """
    if isinstance(preset.get("config"), Path):
        preset["config"] = read_config_text(preset["config"])
    return AippConfigExplorer(group=group, image=image, **preset)
