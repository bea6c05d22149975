r"""What all plots share: colours in fixed roles, figures laid out in pixels, PNG bytes, legends.

Figures are made with `matplotlib.figure.Figure`, never with pyplot, so that nothing is kept alive and nothing is
shown twice.  A CSS pixel is a figure pixel (96 dots per inch), so 9 points are 12 pixels, in print and on screen.

>>> figure = new_figure(200, 120)
>>> ax = axes_at(figure, left=40, top=20, width=150, height=80)
>>> to_png(figure)[:4]
b'\x89PNG'
"""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ascendlab.plots._paint import swatch, text_image
from ascendlab.plots._roles import (
    CHANNEL_PADDING,
    INPUT,
    MASKED,
    ORIGIN,
    OUTPUT,
    PADDING,
    PICKED,
    WINDOW,
    Role,
)

__all__ = [
    "CHANNEL_PADDING",
    "DPI",
    "INPUT",
    "MASKED",
    "ORIGIN",
    "OUTPUT",
    "PADDING",
    "PICKED",
    "TEXT_POINTS",
    "WINDOW",
    "LiveFigure",
    "PictureHTML",
    "Role",
    "Stamps",
    "axes_at",
    "figure_html",
    "image_html",
    "legend",
    "legend_height",
    "move_axes",
    "new_figure",
    "to_png",
]

DPI = 96
TEXT_POINTS = 9.0
_LEGEND_ROW = 20


def new_figure(width: int, height: int) -> Figure:
    """Make an empty white figure of `width` x `height` CSS pixels with an Agg canvas."""
    figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def axes_at(figure: Figure, *, left: int, top: int, width: int, height: int) -> Axes:
    """Add an Axes whose frame covers the given pixels, counted from the figure's top left corner.

    Whole pixels keep cells equally large and pictures sharp.
    """
    ax = figure.add_axes(_box(figure, left, top, width, height))
    ax.tick_params(labelsize=TEXT_POINTS)
    return ax


def move_axes(ax: Axes, *, left: int, top: int, width: int, height: int) -> None:
    """Let an Axes' frame cover other pixels (see `axes_at`)."""
    assert isinstance(ax.figure, Figure)
    ax.set_position(_box(ax.figure, left, top, width, height))


def _box(figure: Figure, left: int, top: int, width: int, height: int) -> tuple[float, float, float, float]:
    full_width, full_height = figure.bbox.size
    return (left / full_width, 1 - (top + height) / full_height, width / full_width, height / full_height)


def _agg(figure: Figure) -> Any:
    """Return the figure's Agg canvas (untyped in Matplotlib); make one if it has another."""
    return figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)


def to_png(figure: Figure) -> bytes:
    """Draw a figure and return it as PNG.

    The bytes depend on the pixels alone: no time, no software name, compression level 1.
    """
    canvas = _agg(figure)
    canvas.draw()
    return encode_png(np.asarray(canvas.buffer_rgba())[:, :, :3])


def encode_png(rgb: NDArray[np.uint8]) -> bytes:
    """Encode an (H, W, 3) uint8 array as PNG, fast rather than small.

    Every row is stored as its difference to the row above (PNG filter 2), which suits drawings and photographs
    alike and is one NumPy operation; encoders that try all five filters per row take several times as long.
    """
    height, width, _ = rgb.shape
    rows = np.empty((height, width * 3 + 1), np.uint8)
    rows[:, 0] = 2
    for channel in range(3):  # NumPy is slow with an inner axis of three
        values = rgb[:, :, channel]
        rows[0, 1 + channel :: 3] = values[0]
        np.subtract(values[1:], values[:-1], out=rows[1:, 1 + channel :: 3])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.data, 1)), (b"IEND", b""))
    body = (
        struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data)) for tag, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


class LiveFigure:
    """A figure that is drawn again and again although most of it stays as it is.

    Frames, ticks, titles and legends are drawn once for each layout and kept as pixels; an update draws only the
    moving artists on top.  Text costs about a millisecond a piece, so this is what makes an explorer follow a slider.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        From `new_figure`.
    moving : sequence of Artist
        The artists that change between updates, in drawing order.

    Examples
    --------
    >>> figure = new_figure(120, 90)
    >>> ax = axes_at(figure, left=30, top=10, width=80, height=50)
    >>> (line,) = ax.plot([0, 1], [0, 1])
    >>> live = LiveFigure(figure, [line])
    >>> before = live.png()
    >>> line.set_ydata([1, 0])
    >>> live.png() != before
    True
    """

    _KEPT = 12

    def __init__(self, figure: Figure, moving: Sequence[Artist]) -> None:
        self.figure = figure
        self.moving = list(moving)
        self.canvas = _agg(figure)
        self._backgrounds: dict[Hashable, Any] = {}
        for artist in self.moving:
            artist.set_animated(True)

    def knows(self, layout: Hashable) -> bool:
        """Whether this layout has been drawn before, so that its frames, ticks and texts need not be set again."""
        return layout in self._backgrounds

    def png(self, layout: Hashable = None) -> bytes:
        """Return the figure's PNG bytes.

        Parameters
        ----------
        layout : hashable
            Names the state of everything that does not move (limits, ticks, titles): two calls with the same
            layout share one background.
        """
        background = self._backgrounds.get(layout)
        if background is None:
            self.canvas.draw()  # leaves out animated artists
            background = self.canvas.copy_from_bbox(self.figure.bbox)
            if len(self._backgrounds) >= self._KEPT:
                self._backgrounds.pop(next(iter(self._backgrounds)))
            self._backgrounds[layout] = background
        else:
            self.canvas.restore_region(background)
        renderer = self.canvas.get_renderer()
        for artist in self.moving:
            if artist.get_visible():
                artist.draw(renderer)
        return encode_png(np.asarray(self.canvas.buffer_rgba())[:, :, :3])


def image_html(png: bytes, alt: str, width: int, height: int, *, style: str = "") -> str:
    """Return an ``<img>`` element that carries its own data, its size and a text for those who do not see it."""
    data = base64.b64encode(png).decode("ascii")
    css = f' style="{html.escape(style)}"' if style else ""
    return f'<img alt="{html.escape(alt)}" width="{width}" height="{height}"{css} src="data:image/png;base64,{data}">'


class PictureHTML:
    """A finished picture with its alt text; Jupyter shows it as ``<img>``.

    Parameters
    ----------
    png : bytes
        The picture.
    alt : str
        What it shows, in a sentence or two.
    width, height : int
        Its size in CSS pixels.
    """

    def __init__(self, png: bytes, alt: str, width: int, height: int) -> None:
        self.png, self.alt, self.width, self.height = png, alt, width, height

    def __repr__(self) -> str:
        return f"<picture: {self.alt}>"

    def _repr_html_(self) -> str:
        return image_html(self.png, self.alt, self.width, self.height)


def figure_html(figure: Figure, alt: str) -> PictureHTML:
    """Return a figure for the last line of a notebook cell: an ``<img>`` with `alt`, readable without running anything.

    Examples
    --------
    >>> picture = figure_html(new_figure(64, 32), "An empty picture.")
    >>> picture
    <picture: An empty picture.>
    >>> picture._repr_html_()[:51]
    '<img alt="An empty picture." width="64" height="32"'
    """
    width, height = (round(size) for size in figure.bbox.size)
    return PictureHTML(to_png(figure), alt, width, height)


class Stamps(Artist):
    """Small finished images at fixed pixels of a figure: words, swatches, ticks.

    Attributes
    ----------
    images : list of (ndarray of uint8 with shape (H, W, 4), int, int)
        Each with its left and top edge, in pixels from the figure's top left corner.
    """

    def __init__(self) -> None:
        super().__init__()
        self.images: list[tuple[NDArray[np.uint8], int, int]] = []

    def write(
        self, text: str, x: int, y: int, *, anchor: str = "left", points: float = TEXT_POINTS, upright: bool = False
    ) -> int:
        """Add a line of text whose left end, middle or right end is at (x, y), and return its width.

        Parameters
        ----------
        text : str
            What to write.
        x, y : int
            Pixels; y is the middle of the line's height.
        anchor : {"left", "middle", "right"}, optional
            Which part of the text is at (x, y).
        points : float, optional
            Text size.
        upright : bool, optional
            Write from bottom to top; the text's middle is at (x, y).
        """
        image = text_image(text, points, DPI)
        height, width = (int(size) for size in image.shape[:2])
        if upright:
            self.images.append((np.rot90(image), x - height // 2, y - width // 2))
        else:
            shift = {"left": 0, "middle": width // 2, "right": width}[anchor]
            self.images.append((image, x - shift, y - height // 2))
        return width

    def draw(self, renderer: Any) -> None:
        """Copy the images to their places."""
        if not self.get_visible() or self.figure is None:
            return
        total = round(self.figure.bbox.height)
        context = renderer.new_gc()
        for image, left, top in self.images:
            renderer.draw_image(context, left, total - top - image.shape[0], image[::-1])
        context.restore()


def legend(
    figure: Figure,
    roles: Iterable[Role | tuple[Role, str]],
    *,
    left: int,
    top: int,
    gap: int = 14,
    stamps: Stamps | None = None,
) -> None:
    """Write what each colour, hatch and outline means, in as many rows of 20 pixels as it takes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Where to write.
    roles : iterable of Role or (Role, str)
        In reading order; the string replaces the role's name.
    left, top : int
        Pixels from the figure's top left corner.
    gap : int, optional
        Pixels between two entries.
    stamps : Stamps, optional
        Add to these instead of adding an artist to the figure.
    """
    if stamps is None:
        stamps = Stamps()
        figure.add_artist(stamps)
    for image, words, x, y in _legend_places(roles, round(figure.bbox.width), left, gap):
        stamps.images.append((np.dstack([image, np.full(image.shape[:2], 255, np.uint8)]), x, top + y))
        stamps.write(words, x + image.shape[1] + 5, top + y + image.shape[0] // 2)


def legend_height(roles: Iterable[Role | tuple[Role, str]], *, width: int, left: int, gap: int = 14) -> int:
    """Return the pixels that the rows of a legend take in a figure of this width (see `legend`).

    >>> [legend_height([INPUT, PADDING, PICKED], width=width, left=12) for width in (400, 200, 90)]
    [20, 40, 60]
    """
    return max((y for *_, y in _legend_places(roles, width, left, gap)), default=-_LEGEND_ROW) + _LEGEND_ROW


def _legend_places(
    roles: Iterable[Role | tuple[Role, str]], full_width: int, left: int, gap: int
) -> Iterator[tuple[NDArray[np.uint8], str, int, int]]:
    """Yield each entry's swatch, its words, its left edge and its distance from the legend's top."""
    first, top = left, 0
    for entry in roles:
        role, words = entry if isinstance(entry, tuple) else (entry, entry.name)
        image = swatch(role)
        total = image.shape[1] + 5 + text_image(words, TEXT_POINTS, DPI).shape[1]
        if left > first and left + total > full_width:
            left, top = first, top + _LEGEND_ROW
        yield image, words, left, top
        left += total + gap
