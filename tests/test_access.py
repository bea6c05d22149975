"""Pictures for everybody: words that change with them, colours that are never alone, and text that can be read.

What a browser is needed for, names, focus and contrast on the page, is in ``test_browser.py``.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import matplotlib.colors
import matplotlib.text
import numpy as np
import pytest
from explorer_page import shown_alt, shown_png

from ascendlab import explorers, plots
from ascendlab.explorers._style import STYLE
from ascendlab.plots import _paint
from ascendlab.plots._base import TEXT_POINTS
from ascendlab.plots._roles import Role

FILES = sorted(Path(plots.__file__).parent.glob("*.py"))
ROLES = {
    (path.stem, role.name): role
    for path in FILES
    for role in vars(importlib.import_module(f"ascendlab.plots.{path.stem}")).values()
    if isinstance(role, Role)
}
# One change of a control each, none of which moves the picked element to another place or is seen in a title.
CHANGES: dict[str, list[dict[str, Any]]] = {
    "aipp": [{"pick_row": 1}, {"left_pad_size": 3}, {"csc_preset": "yuv_to_gray"}, {"view": "channels"}],
    "aipp_config": [{"pick_row": 101}, {"standard": "bt709_wide"}, {"view": "standards"}],
    "bilinear_interpolation": [{"iteration_shown": 1}, {"h_repeat": 1}, {"view": "blocks"}],
    "conv2d": [{"step": 9}, {"view": "registers"}, {"view": "timeline"}],
    "load3d": [{"pad_value": 1}, {"pick_m": 1}, {"stride_w": 2}],
    "vector_padding": [{"mask": 127}, {"pad_side": True}, {"pick": 3}],
}


def luminance(colour: np.ndarray) -> float:
    """Return the relative luminance (WCAG 2) of three uint8."""
    part = colour / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", explorers._EXPLORERS)
def test_alt_text_and_texts_follow_the_picture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever a picture changes, so do the words for who does not see it; its text is black, 9 points or more."""
    drawn: list[tuple[str, Any, float]] = []
    draw = matplotlib.text.Text.draw

    def noting(self: matplotlib.text.Text, *arguments: Any, **more: Any) -> None:
        if self.get_visible() and self.get_text():
            drawn.append((self.get_text(), self.get_color(), float(self.get_fontsize())))
        draw(self, *arguments, **more)

    monkeypatch.setattr(matplotlib.text.Text, "draw", noting)
    _paint.text_image.cache_clear()
    explorer = getattr(explorers, name)()
    first = shown_png(explorer), shown_alt(explorer)
    for change in CHANGES[name]:
        explorer.reset()
        explorer.set(**change)
        assert shown_png(explorer) != first[0], change
        assert shown_alt(explorer) != first[1], change
    assert len(drawn) > 5
    assert {text for text in drawn if matplotlib.colors.to_rgb(text[1]) != (0, 0, 0) or text[2] < 9} == set()


@pytest.mark.parametrize("role", ROLES.values(), ids=[f"{module}-{name}" for module, name in ROLES])
def test_black_text_is_readable_on_every_role(role: Role) -> None:
    """The contrast of black on any area is at least 7 to 1 (WCAG AAA), not only on those that all pictures share."""
    assert (luminance(role.tint) + 0.05) / 0.05 >= 7


def test_numbers_in_cells_are_no_smaller_than_other_text() -> None:
    """No picture writes in a size of its own below that of `TEXT_POINTS`, which is 9."""
    assert TEXT_POINTS >= 9
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("points", "fontsize", "labelsize"):
                assert not isinstance(node.value, ast.Constant), f"{path.name}:{node.value.lineno}"
                assert not re.search(r"[-*/]", ast.unparse(node.value)), f"{path.name}:{node.value.lineno}"


def test_text_on_the_page_is_no_smaller_than_in_pictures() -> None:
    """The explorers' style sheet sets no size below 12 pixels, which are 9 points."""
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", STYLE)]
    assert len(sizes) == STYLE.count("font-size:") > 2
    assert min(sizes) >= 12
