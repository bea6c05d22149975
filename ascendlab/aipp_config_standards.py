"""Which standard is my video?  One picture, made by one standard and read by all of them, with the errors in numbers.

>>> for reading in compare_standards("bt601_narrow"):
...     print(f"{reading.standard:<13}", reading.errors)
jpeg          (17, 1, 10, 9, 11, 16, 11, 15)
bt601_narrow  (0, 1, 0, 1, 2, 1, 1, 1)
bt709_narrow  (0, 1, 16, 20, 4, 8, 15, 4)
bt709_wide    (17, 1, 23, 24, 9, 20, 23, 11)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ascendlab import pictures
from ascendlab.aipp import load_image_to_local
from ascendlab.aipp_params import AippInputFormat, AippParams, LoadImageToLocalParams, csc_preset
from ascendlab.aipp_setup import set_aipp_functions

__all__ = ["Reading", "compare_standards", "photograph_readings"]

_PATCH = 8


class Reading(NamedTuple):
    """A picture as one standard's matrix reads it.

    Parameters
    ----------
    standard : str
        One of `ascendlab.pictures.STANDARDS`.
    pixels : ndarray of uint8, shape (H, W, 3)
        RGB.
    errors : tuple of int
        For each of `ascendlab.pictures.PATCHES` the largest error of red, green and blue.
    """

    standard: str
    pixels: NDArray[np.uint8]
    errors: tuple[int, ...]


def compare_standards(truth: str, picture: NDArray[np.uint8] | None = None) -> tuple[Reading, ...]:
    """Store a picture as YUV by one standard, and read it by the matrix of every standard.

    Parameters
    ----------
    truth : str
        By which of `ascendlab.pictures.STANDARDS` the picture is stored.
    picture : ndarray of uint8, shape (H, W, 3), optional
        What is shown, RGB of even height and width; the patches, which errors are measured on, by default.

    Returns
    -------
    tuple of Reading
        In the order of the standards.
    """
    patches = pictures.colour_patches(_PATCH)
    readings = []
    for standard in pictures.STANDARDS:
        error = np.abs(_read(patches, truth, standard).astype(int) - patches).max(axis=(0, 2))
        worst = error.reshape(len(pictures.PATCHES), _PATCH).max(axis=1)
        shown = _read(patches if picture is None else picture, truth, standard)
        readings.append(Reading(standard, shown, tuple(worst.tolist())))
    return tuple(readings)


@lru_cache(maxsize=4)
def photograph_readings(truth: str) -> tuple[Reading, ...]:
    """Return what `compare_standards` makes of the built-in photograph, once for each standard."""
    return compare_standards(truth, pictures.photograph())


def _read(picture: NDArray[np.uint8], truth: str, standard: str) -> NDArray[np.uint8]:
    """Store by one standard, read by another."""
    src0, src1 = pictures.to_format(picture, AippInputFormat.YUV420SP_U8, standard=truth)
    config = AippParams(csc_params=csc_preset(f"yuv_to_rgb_{standard}"))
    setup = set_aipp_functions(src0, src1, input_format=AippInputFormat.YUV420SP_U8, config=config, dtype="uint8")
    height, width = src0.shape
    window = LoadImageToLocalParams(horiz_size=width, vert_size=height, src_horiz_size=width)
    result: NDArray[np.uint8] = load_image_to_local(setup, window)[:, :, :3]
    return result
