"""Painting on pixel arrays: hatches, digits, legend swatches.

Matplotlib's text and hatches cost a millisecond a piece, which is too much for a grid of numbers that follows a
slider.  Here a digit is rendered once (by Matplotlib, with its own font) and then copied wherever it is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from numpy.typing import NDArray

from ascendlab.plots._roles import Role

__all__ = [
    "GLYPHS",
    "Atlas",
    "atlas",
    "format_numbers",
    "hatch_mask",
    "paint_texts",
    "swatch",
    "text_image",
    "text_widths",
]

GLYPHS = "0123456789-.+eainf?ABCDEFx%"
_PERIOD = 8


@lru_cache(maxsize=16)
def _hatch_tile(hatch: str) -> NDArray[np.bool_]:
    """One period of a hatch, as a mask."""
    y, x = np.mgrid[:_PERIOD, :_PERIOD]
    down, up = (x - y) % _PERIOD == 0, (x + y) % _PERIOD == _PERIOD - 1
    tiles: dict[str, NDArray[np.bool_]] = {
        "/": up,
        "\\": down,
        "x": up | down,
        "-": y == _PERIOD // 2,
        "|": x == _PERIOD // 2,
        ".": ((x % 4) // 2 == 0) & ((y % 4) // 2 == 0) & ((x // 4 + y // 4) % 2 == 0),
    }
    return tiles[hatch]


def hatch_mask(hatch: str, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Where a hatch has ink, at these screen rows and columns.

    >>> hatch_mask("|", np.arange(2), np.arange(8)).astype(int)
    array([[0, 0, 0, 0, 1, 0, 0, 0],
           [0, 0, 0, 0, 1, 0, 0, 0]])
    """
    return _hatch_tile(hatch)[np.ix_(rows % _PERIOD, columns % _PERIOD)]


def swatch(role: Role, width: int = 26, height: int = 16) -> NDArray[np.uint8]:
    """Paint a role's legend entry: its tint and hatch for areas, its outline for marks."""
    image = np.full((height, width, 3), 255, np.uint8)
    outline = role.width > 1.5
    if not outline:
        image[:] = role.tint
        if role.hatch:
            image[hatch_mask(role.hatch, np.arange(height), np.arange(width))] = role.rgb
    edge = np.zeros((height, width), bool)
    thick = max(1, round(role.width))
    edge[:thick] = edge[-thick:] = True
    edge[:, :thick] = edge[:, -thick:] = True
    if role.line != "-":
        period = 8 if role.line == "--" else 4
        y, x = np.mgrid[:height, :width]
        along = np.where((y < thick) | (y >= height - thick), x, y)
        edge &= along % period < period * 5 // 8
    image[edge] = role.rgb
    return image


@lru_cache(maxsize=1024)
def text_image(text: str, points: float, dpi: float) -> NDArray[np.uint8]:
    """Render one line of black text once, as an RGBA image that fits its width; all texts of a size are equally high.

    >>> text_image("row", 9, 96).shape[0] == text_image("column", 9, 96).shape[0]
    True
    """
    height = round(points * dpi / 72 * 1.5)
    width = round(len(text) * points * dpi / 72 * 1.2) + 8
    figure = Figure(figsize=(width / dpi, height / dpi), dpi=dpi, facecolor="white")
    canvas: Any = FigureCanvasAgg(figure)
    figure.text(4 / width, 0.3, text, fontsize=points, parse_math=False)
    canvas.draw()
    ink = 255 - np.asarray(canvas.buffer_rgba())[:, :, 0]
    used = ink.any(axis=0).nonzero()[0]
    ink = ink[:, used[0] : used[-1] + 1] if len(used) else ink[:, :1]
    image = np.zeros((*ink.shape, 4), np.uint8)
    image[:, :, 3] = ink
    image.setflags(write=False)
    return image


class Atlas(NamedTuple):
    """Rendered characters.

    Parameters
    ----------
    ink : ndarray of uint8, shape (characters + 1, height, width)
        255 where a character covers the pixel; the last one is empty.
    advance : ndarray of float, shape (characters + 1,)
        Pixels from one character's origin to the next.
    lookup : ndarray of intp, shape (256 or so,)
        From code point to character; unknown code points give the empty one.
    margin : int
        Pixels of `ink` left of a character's origin.
    """

    ink: NDArray[np.uint8]
    advance: NDArray[np.float64]
    lookup: NDArray[np.intp]
    margin: int


@lru_cache(maxsize=8)
def atlas(points: float, dpi: float) -> Atlas:
    """Render the characters that numbers are made of, once per size."""
    margin = 2
    width, height = (round(points * dpi / 72 * factor) + 2 * margin for factor in (1.0, 1.3))
    figure = Figure(figsize=(width * len(GLYPHS) / dpi, height / dpi), dpi=dpi, facecolor="white")
    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    font = FontProperties(size=points)
    advance = np.zeros(len(GLYPHS) + 1)
    for i, glyph in enumerate(GLYPHS):
        figure.text((i * width + margin) / (width * len(GLYPHS)), 0.3, glyph, fontproperties=font, parse_math=False)
        # Ink is narrower than the way to the next character; doubling shows that way.
        single, double = (renderer.get_text_width_height_descent(s, font, ismath=False)[0] for s in (glyph, glyph * 2))
        advance[i] = double - single
    canvas.draw()
    gray = 255 - np.asarray(canvas.buffer_rgba())[:, :, 0]
    ink = np.zeros((len(GLYPHS) + 1, height, width), np.uint8)
    ink[:-1] = gray[:height, : width * len(GLYPHS)].reshape(height, len(GLYPHS), width).transpose(1, 0, 2)
    lookup = np.full(512, len(GLYPHS), np.intp)
    lookup[[ord(glyph) for glyph in GLYPHS]] = np.arange(len(GLYPHS))
    return Atlas(ink, advance, lookup, margin)


def _characters(texts: NDArray[np.str_], letters: Atlas) -> NDArray[np.intp]:
    """Split n texts into an (n, longest) array of atlas numbers."""
    longest = max(1, texts.dtype.itemsize // 4)
    codes = np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), longest)
    return letters.lookup[np.minimum(codes, len(letters.lookup) - 1)]


def text_widths(texts: NDArray[np.str_], points: float, dpi: float, tracking: float = 0.0) -> NDArray[np.float64]:
    """Return the pixels that each of n texts takes, with `tracking` pixels more after each character.

    >>> one, three = text_widths(np.array(["8", "888"]), 9, 96)
    >>> bool(2.9 < three / one < 3.1)
    True
    """
    letters = atlas(points, dpi)
    widths: NDArray[np.float64] = _advances(_characters(texts, letters), letters, tracking).sum(axis=1)
    return widths


def _advances(glyphs: NDArray[np.intp], letters: Atlas, tracking: float) -> NDArray[np.float64]:
    return letters.advance[glyphs] + tracking * (glyphs < len(GLYPHS))


def paint_texts(
    image: NDArray[np.uint8],
    texts: NDArray[np.str_],
    y: NDArray[np.intp],
    x: NDArray[np.intp],
    colors: NDArray[np.uint8],
    *,
    points: float,
    dpi: float,
    tracking: float = 0.0,
) -> None:
    """Write texts into an RGB image, each centred at its pixel (y, x).

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        Changed in place; what would lie outside is left out.
    texts : ndarray of str, shape (n,)
        Made of `GLYPHS`; other characters stay empty.
    y, x : ndarray of intp, shape (n,)
        Centres.
    colors : ndarray of uint8, shape (n, 3)
        Text colours.
    points, dpi : float
        Text size.
    tracking : float, optional
        Pixels added between characters.
    """
    letters = atlas(points, dpi)
    glyphs = _characters(texts, letters)
    widths = _advances(glyphs, letters, tracking)
    ends = widths.cumsum(axis=1)
    starts = np.round(x[:, None] - ends[:, -1:] / 2 + ends - widths).astype(np.intp) - letters.margin
    height, width = letters.ink.shape[1:]
    digit = letters.ink[0].any(axis=1).nonzero()[0]
    top = y - (int(digit[0]) + int(digit[-1]) + 1) // 2
    owner, place = (glyphs < len(GLYPHS)).nonzero()
    rows = top[owner][:, None, None] + np.arange(height)[:, None]
    columns = starts[owner, place][:, None, None] + np.arange(width)
    ink = letters.ink[glyphs[owner, place]]
    which, in_row, in_column = inked = ink.nonzero()
    rows, columns = rows[which, in_row, 0], columns[which, 0, in_column]
    inside = (rows >= 0) & (rows < image.shape[0]) & (columns >= 0) & (columns < image.shape[1])
    which, rows, columns = which[inside], rows[inside], columns[inside]
    cover = ink[inked][inside][:, None] / np.float32(255)
    under = image[rows, columns]
    image[rows, columns] = under + (colors[owner[which]].astype(np.float32) - under) * cover


def format_numbers(
    values: NDArray[np.generic], width: int, *, points: float, dpi: float
) -> tuple[NDArray[np.str_], float] | None:
    """Format numbers so that each fits into `width` pixels.

    Each float gets as many digits as that allows, at most 4; in narrow cells the zero before the point goes.  If
    some number does not fit at all, the characters move closer together, as far as they stay readable.

    Returns
    -------
    (ndarray of str with the shape of `values`, tracking) or None
        None if some number fits in no form.

    Examples
    --------
    >>> format_numbers(np.array([7, 250]), 40, points=9, dpi=96)
    (array(['7', '250'], dtype='<U3'), 0.0)
    >>> format_numbers(np.array([0.257, -1.5, 1234.5]), 40, points=9, dpi=96)[0].tolist()
    ['0.257', '-1.5', '1234']
    >>> format_numbers(np.array([-1.5, 453.0]), 24, points=9, dpi=96)[0].tolist()
    ['-1.5', '453']
    >>> format_numbers(np.array([123456]), 20, points=9, dpi=96) is None
    True
    """
    flat = values.ravel()
    if flat.dtype.kind in "iub":
        candidates = [np.char.mod("%d", flat)]
    else:
        wide = flat.astype(np.float64)
        whole = np.abs(wide) >= 1000
        # An exponent would cost more room than the digits that it saves.
        candidates = [np.where(whole, np.char.mod("%.0f", wide), np.char.mod(f"%.{n}g", wide)) for n in (4, 3, 2)]
        candidates += [_without_zero(wide, decimals) for decimals in (2, 1)]
        candidates.append(np.where(np.abs(wide) >= 1, np.char.mod("%.0f", wide), candidates[-1]))
    # A digit more is worth more than the air between characters: -1.5 must not become -2.
    exact = max(1, len(candidates) - 1)
    for tracking, air, count in ((0.0, 1, exact), (-1.0, 0, exact), (0.0, 1, None), (-1.0, 0, None)):
        fits = np.array([text_widths(texts, points, dpi, tracking) + air <= width for texts in candidates[:count]])
        if fits.any(axis=0).all():
            chosen = np.choose(fits.argmax(axis=0), candidates[:count])
            return chosen.reshape(values.shape), tracking
    return None


def _without_zero(values: NDArray[np.float64], decimals: int) -> NDArray[np.str_]:
    """Format with a fixed number of decimals, without the zero before the point.

    >>> _without_zero(np.array([0.25, -0.049, 3.0]), 1)
    array(['.2', '.0', '3.0'], dtype='<U3')
    """
    texts = np.char.mod(f"%.{decimals}f", np.round(values, decimals) + 0.0)
    short = np.where(np.char.startswith(texts, "0."), np.char.replace(texts, "0.", ".", count=1), texts)
    return np.where(np.char.startswith(short, "-0."), np.char.replace(short, "-0.", "-.", count=1), short)
