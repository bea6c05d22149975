"""A picture through the whole machine: AIPP brings it in, Load3D spreads it out, the matrix unit filters it.

LoadImageToLocal leaves pixels of 32 bytes in L1: a feature map of sixteen channels, three of them in use.  The 3D form
of asc_copy_l12l0a makes its im2col matrix, asc_mmad multiplies that by the filter's points, asc_copy_l0c2gm writes
rows of three numbers: a picture again.

>>> from ascendlab.pictures import number_picture
>>> import numpy as np
>>> rgb = number_picture()[:, :, None].repeat(3, axis=2)
>>> filtered = filter_picture(rgb, FILTERS["edges"])
>>> filtered.values[:2, :, 0]
array([[-18., -21., -18., -15., -12.,  -9.,  -6.,  21.],
       [ 21.,   0.,   0.,   0.,   0.,   0.,   0.,  48.]], dtype=float16)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp import AippSetup, set_aipp_functions
from ascendlab.aipp_params import AippInputFormat, AippParams, LoadImageToLocalParams
from ascendlab.arrays import is_plain
from ascendlab.capi.arguments import QuantMode_t
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch, launch
from ascendlab.capi.memory import Pointer, sizeof
from ascendlab.capi.registers import asc_l13d_fmatrix_config, asc_load3d_v2_config
from ascendlab.capi.sync import EVENT_ID0, PIPE_ALL, PIPE_FIX, PIPE_M, PIPE_MTE1, PIPE_MTE2
from ascendlab.errors import BufferOverflowError, ParameterError
from ascendlab.fields import HALF_MAX, check_bool, check_real
from ascendlab.products import Product

__all__ = ["FILTERS", "Filtered", "PictureStrip", "filter_kernel", "filter_picture", "filter_weights", "strips_of"]

half = np.float16

FILTERS: Mapping[str, NDArray[np.float16]] = {
    name: np.array(taps, half)
    for name, taps in {
        "blur": [[1 / 16, 1 / 8, 1 / 16], [1 / 8, 1 / 4, 1 / 8], [1 / 16, 1 / 8, 1 / 16]],
        "sharpen": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
        "edges": [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]],
        "emboss": [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
    }.items()
}
"""Filters of 3 x 3 points; all of them are exact in half."""

COLOURS = 3
_C0 = 16
_PRODUCT = Product.ATLAS_350
_LARGEST_FILTER = 7
# More rows in a strip would make fewer blocks, and leave most cores of a device without work.
_MOST_ROWS = 32


@dataclass(frozen=True)
class PictureStrip:
    """The rows that one block filters.

    Parameters
    ----------
    first, rows : int
        In the result.
    window : LoadImageToLocalParams
        What it loads for that: its rows and, inside the picture, their neighbours.
    pad_top, pad_bottom : int
        Rows of the border that the picture does not have.
    """

    first: int
    rows: int
    window: LoadImageToLocalParams
    pad_top: int
    pad_bottom: int


def strips_of(height: int, width: int, taps: tuple[int, int]) -> tuple[PictureStrip, ...]:
    """Cut a picture into strips of rows that fit into L1 together with the weights.

    Parameters
    ----------
    height, width : int
        Of the picture.
    taps : (int, int)
        Height and width of the filter, odd.

    Examples
    --------
    >>> [(s.first, s.rows, s.window.vert_size, s.pad_top, s.pad_bottom) for s in strips_of(50, 40, (3, 3))]
    [(0, 25, 26, 1, 0), (25, 25, 26, 0, 1)]
    """
    beside = taps[0] // 2
    pixel, room = _C0 * sizeof(half), _PRODUCT.buffers["L1"] - _depth(taps) * _C0 * sizeof(half)
    most = min(_MOST_ROWS, room // (pixel * width) - 2 * beside)
    if most < 1:
        raise BufferOverflowError("L1", pixel * width * (1 + 2 * beside), room, hint="Cut the picture into columns")
    count = -(-height // most)
    edges = [height * i // count for i in range(count + 1)]
    strips = []
    for first, stop in pairwise(edges):
        top, bottom = max(0, first - beside), min(height, stop + beside)
        window = LoadImageToLocalParams(
            horiz_size=width, vert_size=bottom - top, src_horiz_size=width, vert_start_pos=top
        )
        strips.append(PictureStrip(first, stop - first, window, beside - (first - top), beside - (bottom - stop)))
    return tuple(strips)


def _depth(taps: tuple[int, int]) -> int:
    """Return the columns of the im2col matrix."""
    return _C0 * taps[0] * taps[1]


def filter_weights(taps: NDArray[Any]) -> NDArray[np.float16]:
    """Return the matrix that filters each of three colours on its own.

    Parameters
    ----------
    taps : ndarray, shape (KH, KW)
        The filter.

    Returns
    -------
    ndarray of float16, shape (KH * KW * 16, 3)
        Rows run over the filter's points and the channels of a pixel; column c has the taps in the rows of channel c.
    """
    weights = np.zeros((taps.size, _C0, COLOURS), half)
    weights[:, np.arange(COLOURS), np.arange(COLOURS)] = taps.reshape(-1, 1)
    return weights.reshape(-1, COLOURS)


# fmt: off
def filter_kernel(
    core: AICore, weight: Pointer, output: Pointer, setup: AippSetup, strips: tuple[PictureStrip, ...],
    taps: tuple[int, int], pad_value: float,
) -> None:
    """Filter one strip of a picture per block.

    Parameters
    ----------
    core : AICore
        The core it runs on.
    weight, output : Pointer
        GM: (KH * KW * 16, 3) and (H, W, 3) of half.
    setup : AippSetup
        The picture, and its conversion to half.
    strips : tuple of PictureStrip
        One for each block.
    taps : (int, int)
        Height and width of the filter.
    pad_value : float
        What lies around the picture.
    """
    core.asc_init()
    strip = strips[core.asc_get_block_idx()]
    kernel_h, kernel_w = taps
    height, width, k = strip.window.vert_size, strip.window.horiz_size, _depth(taps)
    m_total = strip.rows * width
    # As many rows of the im2col matrix at a time as L0A holds.
    m_most = core.product.buffers["L0A"] // (k * sizeof(half)) // 16 * 16

    image_l1 = core.cbuf(half, height * width * _C0, name="image_l1")
    weight_l1 = core.cbuf(half, k * _C0, name="weight_l1")
    image_l0 = core.ca(half, m_most * k, name="image_l0")
    weight_l0 = core.cb(half, k * _C0, name="weight_l0")
    output_l0 = core.cc("float", m_most * _C0, name="output_l0")

    core.load_image_to_local(image_l1, setup, strip.window)
    core.asc_set_gm2l1_nz_para(1, 1, k, 0)
    core.asc_copy_gm2l1_nd2nz(weight_l1, weight, COLOURS * sizeof(half), 0, k, COLOURS, 0, False)
    core.asc_sync_notify(PIPE_MTE2, PIPE_MTE1, EVENT_ID0)
    core.asc_sync_wait(PIPE_MTE2, PIPE_MTE1, EVENT_ID0)
    core.asc_copy_l12l0b_transpose(weight_l0, weight_l1, 0, 0, 1, k // 16, 1, 1)

    core.asc_set_l13d_fmatrix(asc_l13d_fmatrix_config(
        l1_height=height, l1_width=width, padding_left_size=kernel_w // 2, padding_right_size=kernel_w // 2,
        padding_top_size=strip.pad_top, padding_bottom_size=strip.pad_bottom))
    core.asc_set_l12l0a_3d_padding(half(pad_value))
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    for m_start in range(0, m_total, m_most):
        m = min(m_most, m_total - m_start)
        m_fractals = -(-m // 16)
        core.asc_set_l13d_rpt(asc_load3d_v2_config(rpt_time=1, dst_stride=m_fractals))
        core.asc_copy_l12l0a(
            image_l0, image_l1, k, m, 0, m_start, 1, 1, kernel_w, kernel_h, 1, 1, False, False, False, False, _C0)
        core.asc_sync_notify(PIPE_MTE1, PIPE_M, EVENT_ID0)
        core.asc_sync_wait(PIPE_MTE1, PIPE_M, EVENT_ID0)
        # One row of A would be read as a plain row, not as fractals, unless that is switched off.
        core.asc_mmad(output_l0, image_l0, weight_l0, m, k, COLOURS, 0, True, False, True)
        core.asc_sync_notify(PIPE_M, PIPE_FIX, EVENT_ID0)
        core.asc_sync_wait(PIPE_M, PIPE_FIX, EVENT_ID0)
        core.asc_copy_l0c2gm(
            output + (strip.first * width + m_start) * COLOURS, output_l0, COLOURS, m, COLOURS, m_fractals * 16,
            0, 0, 0, int(QuantMode_t.F322F16), 0, False, True)
        # The next part goes where this one lies: it has to wait for everybody.
        core.asc_sync_pipe(PIPE_ALL)
# fmt: on


@dataclass(frozen=True, eq=False)
class Filtered:
    """A filtered picture, and the launch that made it.

    Parameters
    ----------
    values : ndarray of float16, shape (H, W, 3)
        What the matrix unit computed.
    launched : Launch
        The cores, strip by strip.
    strips : tuple of PictureStrip
        What each core did.
    """

    values: NDArray[np.float16]
    launched: Launch
    strips: tuple[PictureStrip, ...]

    @property
    def picture(self) -> NDArray[np.uint8]:
        """The values rounded and cut to [0, 255], shape (H, W, 3)."""
        with np.errstate(invalid="ignore"):
            return np.clip(np.rint(np.nan_to_num(self.values)), 0, 255).astype(np.uint8)


def filter_picture(
    picture: NDArray[np.uint8], taps: NDArray[Any], *, pad_value: float = 0.0, record: bool = True
) -> Filtered:
    """Filter a picture on an emulated Atlas 350: LoadImageToLocal, Load3D, matrix unit.

    Parameters
    ----------
    picture : ndarray of uint8, shape (H, W, 3)
        RGB; H at least 2, W in [2, 4095].
    taps : ndarray of numbers, shape (KH, KW)
        The filter, rounded to half: odd sizes up to 7, for instance one of `FILTERS`.
    pad_value : float
        What lies around the picture, a half.
    record : bool
        Keep what steps overwrite, so that earlier states of the cores can be shown.

    Returns
    -------
    Filtered

    Raises
    ------
    ParameterError
        For something that is no such picture or filter.
    BufferOverflowError
        For a picture so wide that not even a row of it, with its neighbours, fits into L1.

    Examples
    --------
    >>> from ascendlab.pictures import photograph
    >>> from ascendlab.provenance import trace
    >>> rgb = photograph(20, 16)
    >>> filtered = filter_picture(rgb, FILTERS["sharpen"])
    >>> filtered.picture.shape, len(filtered.strips)
    ((20, 16, 3), 1)
    >>> print(trace(filtered.launched).origin(0, 5, 1).terms[1])
    src0[0, 4, 1] * weight[49, 1]
    """
    if not is_plain(picture) or picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != COLOURS:
        raise ParameterError("picture", picture, "an array of uint8 of shape (H, W, 3)")
    if len(picture) < 2:
        raise ParameterError("picture", picture, "at least 2 rows: a window has no fewer")
    values = _checked_taps(taps)
    border = check_real("pad_value", pad_value, -HALF_MAX, HALF_MAX)
    check_bool("record", record)
    size = (int(values.shape[0]), int(values.shape[1]))
    # Without means and factors of its own, AIPP makes halves of the same values.
    setup = set_aipp_functions(
        picture, input_format=AippInputFormat.RGB888_U8, config=AippParams(), dtype="half", product=_PRODUCT
    )
    strips = strips_of(picture.shape[0], picture.shape[1], size)
    output = np.zeros(picture.shape, half)
    launched = launch(filter_kernel, len(strips), filter_weights(values), output, setup, strips, size, border,
                      product=_PRODUCT, record=record)  # fmt: skip
    return Filtered(output, launched, strips)


def _checked_taps(taps: object) -> NDArray[np.float16]:
    allowed = f"an array of finite halves with odd sizes up to {_LARGEST_FILTER} x {_LARGEST_FILTER}"
    if not is_plain(taps) or taps.dtype.kind not in "iuf" or taps.ndim != 2:
        raise ParameterError("taps", taps, allowed)
    with np.errstate(over="ignore"):
        values = taps.astype(half)
    fits = all(size % 2 and size <= _LARGEST_FILTER for size in values.shape)
    if not fits or not np.isfinite(values).all():
        raise ParameterError("taps", taps, allowed)
    return values
