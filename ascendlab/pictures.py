"""Pictures to try things on: a photograph and a table of numbers, in every input format of AIPP.

Nothing is downloaded: the photograph is the portrait of Grace Hopper (public domain) that Matplotlib installs with
its sample data.

>>> number_picture()[:2]
array([[ 0,  1,  2,  3,  4,  5,  6,  7],
       [ 8,  9, 10, 11, 12, 13, 14, 15]], dtype=uint8)
>>> y, uv = to_format(number_picture(), AippInputFormat.YUV420SP_U8)
>>> y.shape, uv.shape
((8, 8), (4, 8))
"""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp_params import CSC_PRESETS, AippInputFormat
from ascendlab.arrays import is_plain
from ascendlab.errors import ParameterError
from ascendlab.fields import check_bool, check_int

__all__ = [
    "PATCHES",
    "STANDARDS",
    "check_picture",
    "colour_patches",
    "number_picture",
    "photograph",
    "read_picture",
    "sized",
    "to_format",
]

Bytes = NDArray[np.uint8]

_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM")


STANDARDS = ("jpeg", "bt601_narrow", "bt709_narrow", "bt709_wide")
"""How RGB can become YUV; "jpeg" is BT.601 over the whole range."""

PATCHES = {
    "white": (235, 235, 235),
    "grey": (120, 120, 120),
    "red": (200, 40, 40),
    "green": (40, 170, 60),
    "blue": (40, 70, 200),
    "yellow": (230, 210, 50),
    "cyan": (40, 190, 200),
    "skin": (224, 172, 140),
}
"""Colours of `colour_patches`, as RGB; none of them touches the ends of the range, where errors are clipped."""


def photograph(height: int = 240, width: int = 206) -> Bytes:
    """Return the built-in photograph as RGB.

    Parameters
    ----------
    height, width : int
        Its size, even numbers in [2, 4094]; the default keeps the proportions.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        Read-only; made once per size.

    Examples
    --------
    >>> photograph().shape
    (240, 206, 3)
    """
    for name, size in (("height", height), ("width", width)):
        if check_int(name, size, 2, 4094) % 2:
            raise ParameterError(name, size, "an even integer in [2, 4094]")
    return _photograph(int(height), int(width))


@lru_cache(maxsize=4)
def _photograph(height: int, width: int) -> Bytes:
    from matplotlib import cbook
    from PIL import Image

    with Image.open(str(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))) as image:
        picture = np.asarray(image.convert("RGB").resize((width, height), Image.Resampling.BOX))
    picture.setflags(write=False)
    return picture


def number_picture() -> Bytes:
    """Return the 8 x 8 picture 0, 1, ..., 63, in which every pixel says where it came from."""
    return np.arange(64, dtype=np.uint8).reshape(8, 8)


def colour_patches(size: int = 8) -> Bytes:
    """Return the `PATCHES` side by side, each `size` x `size` pixels.

    Parameters
    ----------
    size : int
        An even number in [2, 512].

    Returns
    -------
    ndarray of uint8, shape (size, 8 * size, 3)

    Examples
    --------
    >>> colour_patches(2)[0, ::2].tolist()[:2]
    [[235, 235, 235], [120, 120, 120]]
    """
    if check_int("size", size, 2, 512) % 2:
        raise ParameterError("size", size, "an even integer in [2, 512]")
    row = np.array(list(PATCHES.values()), np.uint8).repeat(size, axis=0)
    return np.tile(row, (size, 1, 1))


def check_picture(picture: object) -> Bytes:
    """Return `picture` if it is RGB, (H, W, 3) of uint8, with sides in [2, 4095]."""
    plain = is_plain(picture) and picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    if is_plain(picture) and plain and all(2 <= side <= 4095 for side in picture.shape[:2]):
        return picture
    raise ParameterError("image", picture, "a NumPy array of uint8 with shape (H, W, 3), H and W in [2, 4095]")


def read_picture(data: bytes) -> Bytes:
    """Read the bytes of an image file as RGB: PNG, JPEG, WebP, BMP, GIF, TIFF or PPM.

    Nothing else is tried: for some formats Pillow starts other programs.

    Raises
    ------
    ParameterError
        For what is no image, and for one with sides outside [2, 4095], before it is unpacked.
    """
    from PIL import Image

    problem = ""
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            if all(2 <= side <= 4095 for side in image.size):
                return check_picture(np.asarray(image.convert("RGB")))
            problem = f"it has {image.width} x {image.height} pixels"
    except ParameterError:
        raise
    except Exception as error:  # Pillow's plug-ins raise whatever comes to their mind
        problem = f"{type(error).__name__}: {error}"
    raise ParameterError("image", data, "an image file, both sides in [2, 4095]", hint=problem)


def sized(picture: Bytes, height: int, width: int) -> Bytes:
    """Return a picture in another size, each pixel the nearest of the old ones.

    Parameters
    ----------
    picture : ndarray of uint8, shape (H, W, 3)
        RGB.
    height, width : int
        The new size, at most 4096; 0 keeps a side, made even by leaving out the last row or column.

    Examples
    --------
    >>> sized(colour_patches(2), 1, 8)[0, :2].tolist()
    [[235, 235, 235], [120, 120, 120]]
    """
    check_picture(picture)
    places = []
    for name, new, old in (("height", height, picture.shape[0]), ("width", width, picture.shape[1])):
        length = check_int(name, new, 0, 4096) or old // 2 * 2
        places.append(np.arange(length) * old // length if new else np.arange(length))
    return np.ascontiguousarray(picture[np.ix_(places[0], places[1])])


def to_format(
    picture: Bytes, input_format: AippInputFormat, *, x_first: bool = True, standard: str = "jpeg"
) -> tuple[Bytes, Bytes | None]:
    """Store a picture the way an input format lies in memory.

    Parameters
    ----------
    picture : ndarray of uint8, shape (H, W, 3) or (H, W)
        RGB, or a table of numbers.  The numbers become the luma, or red; green is 64 more and blue 128 more
        (modulo 256), so that every sample of a table up to 63 is different.
    input_format : AippInputFormat
        The format.
    x_first : bool
        XRGB8888: whether the unused sample comes first (X, R, G, B) or last (R, G, B, X).
    standard : str
        YUV420SP and YUV400: by which of the `STANDARDS` RGB becomes YUV.

    Returns
    -------
    src0 : ndarray of uint8
        (H, W) luma, (H, W, 4) or (H, W, 3).
    src1 : ndarray of uint8, shape (H/2, W), or None
        YUV420SP: U and V interleaved, each averaged over 2 x 2 pixels; 128 for a table of numbers.

    Raises
    ------
    ParameterError
        For another array, and for odd sizes with YUV420SP.

    Notes
    -----
    RGB becomes YUV by the standard's matrix in 1/256, rounded to nearest.  X is 255, and 192 more than the
    number in a table.

    Examples
    --------
    >>> red = np.full((2, 2, 3), (255, 0, 0), np.uint8)
    >>> y, uv = to_format(red, AippInputFormat.YUV420SP_U8)
    >>> y.tolist(), uv.tolist()
    ([[77, 77], [77, 77]], [[85, 255]])
    """
    if not isinstance(input_format, AippInputFormat):
        raise ParameterError("input_format", input_format, "one of " + ", ".join(f.name for f in AippInputFormat))
    check_bool("x_first", x_first)
    if not isinstance(standard, str) or standard not in STANDARDS:
        raise ParameterError("standard", standard, "one of " + ", ".join(STANDARDS))
    if not is_plain(picture) or picture.dtype != np.uint8 or picture.shape[2:] not in ((), (3,)) or picture.ndim < 2:
        raise ParameterError("picture", picture, "a NumPy array of uint8 with shape (H, W, 3) or (H, W)")
    if input_format in (AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8):
        return _to_yuv(picture, input_format, standard)
    table = picture.ndim == 2
    rgb = np.stack([picture, picture + np.uint8(64), picture + np.uint8(128)], axis=2) if table else picture
    if input_format is AippInputFormat.RGB888_U8:
        return np.ascontiguousarray(rgb), None
    unused = (picture + np.uint8(192) if table else np.full(picture.shape[:2], 255, np.uint8))[:, :, None]
    return np.concatenate([unused, rgb] if x_first else [rgb, unused], axis=2), None


def _to_yuv(picture: Bytes, input_format: AippInputFormat, standard: str) -> tuple[Bytes, Bytes | None]:
    planar = input_format is AippInputFormat.YUV400_U8
    height, width = picture.shape[:2]
    if not planar and (height % 2 or width % 2):
        raise ParameterError("picture", picture, "an even height and width for YUV420SP_U8")
    if picture.ndim == 2:
        return picture, None if planar else np.full((height // 2, width), 128, np.uint8)
    matrix, bias = CSC_PRESETS[f"rgb_to_yuv_{standard}"]
    sums = picture.astype(np.int32) @ matrix.T.astype(np.int32)
    luma = np.clip((sums[:, :, 0] + 128 >> 8) + bias[0], 0, 255).astype(np.uint8)
    if planar:
        return luma, None
    blocks = sums[:, :, 1:].reshape(height // 2, 2, width // 2, 2, 2).sum(axis=(1, 3))
    chroma = np.clip((blocks + 512 >> 10) + np.array(bias[1:]), 0, 255).astype(np.uint8)
    return luma, chroma.reshape(height // 2, width)
