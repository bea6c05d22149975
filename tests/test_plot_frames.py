"""Frames side by side, and plain arrays in them."""

from __future__ import annotations

import numpy as np
import pytest

from ascendlab import AscendlabError, plots
from ascendlab.plots._grid import Grid


def _pixels(figure, ax):
    box = ax.get_window_extent(figure.canvas.get_renderer())
    return box.width, box.height


@pytest.mark.parametrize("across", [None, 1, 2])
@pytest.mark.parametrize("cell", [None, 7])
def test_cells_are_equally_large(across, cell):
    """All cells of all frames are squares of one size, and the frames lie apart inside the figure."""
    sizes = [(3, 5), (9, 2, 32), (4, 11)]
    figure, axes = plots.frames(sizes, across=across, cell=cell, roles=[plots.INPUT])
    sides = {side / n for size, ax in zip(sizes, axes, strict=True)
             for side, n in zip(_pixels(figure, ax), (size[1], size[0]), strict=True)}  # fmt: skip
    assert max(sides) - min(sides) < 1e-6
    assert cell is None or max(sides) == pytest.approx(cell)
    boxes = [ax.get_tightbbox(figure.canvas.get_renderer()) for ax in axes]
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_a_photograph_is_not_wider_than_the_page():
    """Large arrays get one pixel a cell."""
    figure, (ax, _) = plots.frames([(240, 206), (240, 206)])
    assert _pixels(figure, ax) == pytest.approx((206, 240))


def test_picture_shows_the_array(monkeypatch):
    """Small tables show their numbers as input cells, large ones their grey values, colours stay colours."""
    seen = []
    monkeypatch.setattr(Grid, "show", lambda self, values=None, **more: seen.append((values, more)))
    small = np.arange(12).reshape(3, 4)
    large = np.arange(1200).astype(np.uint8).reshape(40, 30)
    colours = np.zeros((2, 3, 3), np.uint8)
    for array in (small, large, colours):
        ax = plots.picture(array, title="it", xlabel="x", ylabel="y")
        assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("it", "x", "y")
    assert seen[0][0] is small
    assert list(seen[0][1]["areas"]) == [plots.INPUT]
    assert seen[1][0] is None
    assert seen[1][1]["rgb"] is large
    assert seen[2][1]["rgb"] is colours


@pytest.mark.parametrize(
    "array", [np.zeros((40, 3), np.int8), np.zeros((3, 40), np.float16), np.zeros((2, 2, 4), np.uint8)]
)
def test_picture_refuses_what_it_cannot_draw(array):
    """A large array of numbers that are not grey values is an error, not a wrong picture."""
    with pytest.raises(AscendlabError, match="array"):
        plots.picture(array, title="no")


def test_titles_of_narrow_frames_stay_inside():
    """A title longer than its frame is wide is not cut off at the figure's edge."""
    figure, axes = plots.frames([(4, 4), (3, 3)], cell=10)
    for ax in axes:
        ax.set_title("int8, c_padding_mode=1")
        box = ax.title.get_window_extent(figure.canvas.get_renderer())
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width


def test_ticks_are_whole_numbers():
    """A frame of a single row is not labelled with half rows."""
    figure, (ax,) = plots.frames([(1, 4)])
    plots.picture(np.zeros((1, 4), int), title="one row", ax=ax)
    figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in ax.get_yticks())
