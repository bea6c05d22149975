"""The built-in pictures, and the formats they are stored in."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ascendlab import (
    AippInputFormat,
    AippParams,
    LoadImageToLocalParams,
    ParameterError,
    csc_preset,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.pictures import number_picture, photograph, to_format

F = AippInputFormat


def random_rgb(height: int = 6, width: int = 10) -> NDArray[np.uint8]:
    """Return asymmetric random colours."""
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_photograph_is_there_without_network() -> None:
    """The photograph comes with Matplotlib, in the size that is asked for, and cannot be spoilt by its users."""
    picture = photograph()
    assert picture.shape == (240, 206, 3)
    assert picture.dtype == np.uint8
    assert picture is photograph(), "made once"
    assert not picture.flags.writeable
    assert photograph(20, 34).shape == (20, 34, 3)
    blue_sky, dark_coat = picture[10, 195], picture[230, 60]
    assert blue_sky[2] > blue_sky[0] + 50
    assert dark_coat.max() < 60


@pytest.mark.parametrize("size", [3, 0, -2, 4096, True, 2.0, None, "8"])
def test_sizes_that_no_format_could_hold_are_refused(size: object) -> None:
    """Odd and impossible sizes are errors by name."""
    with pytest.raises(ParameterError, match="height"):
        photograph(size)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="width"):
        photograph(8, size)  # type: ignore[arg-type]


def test_number_picture_counts() -> None:
    """Every pixel of the number picture is its own place."""
    assert number_picture().ravel().tolist() == list(range(64))


def test_rgb_formats_keep_the_samples() -> None:
    """RGB888 is the picture; XRGB8888 has 255 before or after it."""
    rgb = random_rgb()
    src0, src1 = to_format(rgb, F.RGB888_U8)
    assert src1 is None
    np.testing.assert_array_equal(src0, rgb)
    first, _ = to_format(rgb, F.XRGB8888_U8)
    last, _ = to_format(rgb, F.XRGB8888_U8, x_first=False)
    np.testing.assert_array_equal(first[:, :, 1:], rgb)
    np.testing.assert_array_equal(last[:, :, :3], rgb)
    assert (first[:, :, 0] == 255).all()
    assert (last[:, :, 3] == 255).all()


def test_yuv_formats_follow_the_jpeg_matrix() -> None:
    """Luma per pixel, chroma averaged over 2 x 2, in NV12 order, as a loop over the pixels computes them."""
    rgb = random_rgb()
    height, width = rgb.shape[:2]
    y_plane, uv = to_format(rgb, F.YUV420SP_U8)
    grey, none = to_format(rgb, F.YUV400_U8)
    assert none is None
    np.testing.assert_array_equal(grey, y_plane)
    weights = [(77, 150, 29), (-43, -85, 128), (128, -107, -21)]
    for y in range(height):
        for x in range(width):
            r, g, b = (int(v) for v in rgb[y, x])
            assert y_plane[y, x] == min(255, (77 * r + 150 * g + 29 * b + 128) // 256)
    assert uv is not None
    for y in range(height // 2):
        for x in range(width // 2):
            block = rgb[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].reshape(4, 3).astype(int)
            for k in (1, 2):
                total = sum(int(row @ np.array(weights[k])) for row in block)
                assert uv[y, 2 * x + k - 1] == max(0, min(255, (total + 512) // 1024 + 128))


def test_the_photograph_survives_the_way_through_yuv() -> None:
    """Stored as YUV420SP and converted back by AIPP with the same standard, the photograph looks the same."""
    picture = photograph()
    src0, src1 = to_format(picture, F.YUV420SP_U8)
    setup = set_aipp_functions(
        src0,
        src1,
        input_format=F.YUV420SP_U8,
        dtype="uint8",
        config=AippParams(csc_params=csc_preset("yuv_to_rgb_jpeg")),
    )
    height, width = src0.shape
    window = LoadImageToLocalParams(horiz_size=width, vert_size=height, src_horiz_size=width)
    back = load_image_to_local(setup, window)[:, :, :3]
    error = np.abs(back.astype(int) - picture)
    assert error.mean() < 4, "chroma of half resolution; a swap of channels costs 30 and more"


def test_every_sample_of_the_numbers_is_different() -> None:
    """In the RGB formats a number tells its pixel and its channel, so that no mix-up stays invisible."""
    src0, _ = to_format(number_picture(), F.XRGB8888_U8)
    assert len(np.unique(src0)) == 256
    np.testing.assert_array_equal(src0[:, :, 1], number_picture())
    rgb, _ = to_format(number_picture(), F.RGB888_U8)
    np.testing.assert_array_equal(rgb[:, :, 2], number_picture() + 128)
    y, uv = to_format(number_picture(), F.YUV420SP_U8)
    np.testing.assert_array_equal(y, number_picture())
    assert uv is not None
    assert (uv == 128).all()
    assert to_format(number_picture(), F.YUV400_U8)[1] is None


@pytest.mark.parametrize(
    "picture", [np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4)), np.zeros(4, np.uint8), [[1]], None]
)
def test_what_is_no_picture_is_refused(picture: object) -> None:
    """Other arrays and other things are errors by name."""
    with pytest.raises(ParameterError, match="picture"):
        to_format(picture, F.RGB888_U8)  # type: ignore[arg-type]


def test_odd_sizes_have_no_yuv420sp() -> None:
    """A 2 x 2 block needs even sizes, the other formats do not."""
    odd = random_rgb(5, 8)
    with pytest.raises(ParameterError, match="even"):
        to_format(odd, F.YUV420SP_U8)
    assert to_format(odd, F.YUV400_U8)[0].shape == (5, 8)
    with pytest.raises(ParameterError, match="input_format"):
        to_format(odd, 4)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="x_first"):
        to_format(odd, F.XRGB8888_U8, x_first=1)  # type: ignore[arg-type]
