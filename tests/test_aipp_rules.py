"""Formats, swaps, windows, limits and products, on pictures small enough to check by eye."""

from __future__ import annotations

import warnings

import aipp_cases
import numpy as np
import pytest
from aipp_cases import grey, load, make_config, random_picture, window_of

import ascendlab as al
from ascendlab.aipp import aipp_plan

F = al.AippInputFormat
ATLAS_350 = al.Product.ATLAS_350
COUNTING = np.arange(64, dtype=np.uint8).reshape(8, 8)


# ---- formats, channels, swaps


@pytest.mark.rule("aipp-formats")
def test_the_documents_call_example():
    """The document's own example, 32x32 YUV420SP to int8 with defaults, gives 32 channels of Y, U, V and zeros."""
    y, uv = random_picture(32, 32), random_picture(16, 32, seed=1)
    setup = al.set_aipp_functions(y, uv, input_format=F.YUV420SP_U8, config=al.AippParams(), dtype="int8")
    result = al.load_image_to_local(
        setup,
        al.LoadImageToLocalParams(
            horiz_size=32, vert_size=32, horiz_start_pos=0, vert_start_pos=0, src_horiz_size=32,
            top_pad_size=0, bot_pad_size=0, left_pad_size=0, right_pad_size=0,
        ),
    )  # fmt: skip
    assert (result.dtype, result.shape) == (np.int8, (32, 32, 32))
    # Without a mean, samples over 127 saturate.
    assert np.array_equal(result[:, :, 0], np.minimum(y, 127))
    assert np.array_equal(result[:, :, 1], np.minimum(uv[:, 0::2], 127).repeat(2, 0).repeat(2, 1))
    assert np.array_equal(result[:, :, 2], np.minimum(uv[:, 1::2], 127).repeat(2, 0).repeat(2, 1))
    assert not result[:, :, 3:].any()


@pytest.mark.rule("aipp-formats")
def test_the_formats_are_the_documents_four():
    """Names and values are the document's; nothing else is a format."""
    assert {f.name: f.value for f in F} == {"YUV420SP_U8": 0, "XRGB8888_U8": 1, "RGB888_U8": 4, "YUV400_U8": 9}


@pytest.mark.rule("aipp-formats")
@pytest.mark.parametrize(
    ("input_format", "depth", "channels"),
    [(F.XRGB8888_U8, (4,), 3), (F.RGB888_U8, (3,), 3), (F.YUV400_U8, (), 1)],
)
def test_real_channels_of_each_format(input_format, depth, channels):
    """XRGB8888 gives three channels, the fourth is dropped; RGB888 three; YUV400 one."""
    picture = random_picture(4, 6, *depth)
    result = load(picture, input_format=input_format, c_padding_value=77)
    assert np.array_equal(result[:, :, :channels], picture.reshape(4, 6, -1)[:, :, :channels])
    assert (result[:, :, channels:] == 77).all()


@pytest.mark.rule("aipp-chroma")
def test_chroma_is_repeated_not_interpolated():
    """Two by two pixels share one U and one V, also where the window starts inside the picture."""
    y, uv = random_picture(8, 12), random_picture(4, 12, seed=1)
    window = window_of(y, horiz_size=7, vert_size=5, horiz_start_pos=4, vert_start_pos=2)
    result = load(y, uv, input_format=F.YUV420SP_U8, window=window)
    for r in range(5):
        for c in range(7):
            pair = ((c + 4) // 2) * 2
            assert result[r, c, :3].tolist() == [y[r + 2, c + 4], uv[(r + 2) // 2, pair], uv[(r + 2) // 2, pair + 1]]


@pytest.mark.rule("aipp-yuv400-csc")
def test_yuv400_is_one_channel_until_colours_are_converted():
    """A grey picture has one real channel, and three with a colour conversion (U = V = 0)."""
    picture = random_picture(4, 4)
    csc = al.csc_preset("yuv_to_rgb_jpeg")
    for enabled in (False, True):
        config = al.AippParams(
            csc_params=csc if enabled else al.AippColorSpaceConvParams(),
            c_padding_params=al.AippChannelPaddingParams(c_padding_value=9),
        )
        setup = al.set_aipp_functions(picture, input_format=F.YUV400_U8, config=config, dtype="uint8")
        result = al.load_image_to_local(setup, window_of(picture))
        assert aipp_plan(setup, window_of(picture)).channels == (3 if enabled else 1)
        if enabled:
            # R = Y + 359/256 * (0 - 128): the document's formula with U and V of 0.
            v = picture.astype(int)
            assert np.array_equal(result[:, :, 0], np.clip((256 * v - 359 * 128) >> 8, 0, 255))
            assert np.array_equal(result[:, :, 1], np.clip((256 * v + (88 + 183) * 128) >> 8, 0, 255))
        else:
            assert (result[:, :, 1:] == 9).all()


SWAPS = ("is_swap_rb", "is_swap_uv", "is_swap_ax")
ALLOWED_SWAPS = {
    F.YUV420SP_U8: {"is_swap_uv"},
    F.XRGB8888_U8: {"is_swap_rb", "is_swap_ax"},
    F.RGB888_U8: {"is_swap_rb"},
    F.YUV400_U8: set(),
}


@pytest.mark.rule("aipp-swap-formats")
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("input_format", F, ids=lambda f: f.name)
def test_a_swap_that_the_format_lacks_is_an_error(input_format, swap):
    """Each format accepts the swaps that the document gives it and names the switch it does not have."""
    src0, src1 = aipp_cases.make_sources(np.random.default_rng(0), input_format, 4, 4)
    config = make_config(**{swap: True})
    if swap in ALLOWED_SWAPS[input_format]:
        al.set_aipp_functions(src0, src1, input_format=input_format, config=config, dtype="uint8")
    else:
        document_name = {"is_swap_rb": "isSwapRB", "is_swap_uv": "isSwapUV", "is_swap_ax": "isSwapAX"}[swap]
        with pytest.raises(al.ParameterError, match=f"^{document_name} = True .*{input_format.name}.*table 4"):
            al.set_aipp_functions(src0, src1, input_format=input_format, config=config, dtype="uint8")


@pytest.mark.rule("aipp-swap-formats")
def test_what_the_swaps_exchange():
    """RB exchanges channels 0 and 2, UV exchanges 1 and 2."""
    rgb = random_picture(2, 4, 3)
    assert np.array_equal(load(rgb, input_format=F.RGB888_U8, is_swap_rb=True)[:, :, :3], rgb[:, :, ::-1])
    y, uv = random_picture(2, 4), random_picture(1, 4, seed=1)
    straight = load(y, uv, input_format=F.YUV420SP_U8)
    swapped = load(y, uv, input_format=F.YUV420SP_U8, is_swap_uv=True)
    assert np.array_equal(swapped[:, :, :3], straight[:, :, [0, 2, 1]])


@pytest.mark.rule("aipp-xrgb-trap")
def test_xrgb_with_x_in_front_needs_the_ax_swap():
    """X first and AX off: the output is X, R, G and blue is lost; with AX on it is R, G, B."""
    xrgb = np.full((2, 2, 4), (200, 10, 20, 30), np.uint8)
    assert load(xrgb, input_format=F.XRGB8888_U8)[0, 0, :4].tolist() == [200, 10, 20, 0]
    assert load(xrgb, input_format=F.XRGB8888_U8, is_swap_ax=True)[0, 0, :4].tolist() == [10, 20, 30, 0]
    rgbx = np.full((2, 2, 4), (10, 20, 30, 200), np.uint8)
    assert load(rgbx, input_format=F.XRGB8888_U8)[0, 0, :4].tolist() == [10, 20, 30, 0]


@pytest.mark.rule("aipp-swap-order")
def test_ax_comes_before_rb():
    """Both swaps together turn X, R, G, B into B, G, R: the other order would give G, R, X."""
    xrgb = np.full((2, 2, 4), (200, 10, 20, 30), np.uint8)
    both = load(xrgb, input_format=F.XRGB8888_U8, is_swap_ax=True, is_swap_rb=True)
    assert both[0, 0, :3].tolist() == [30, 20, 10]


@pytest.mark.rule("aipp-order")
def test_the_order_of_the_steps():
    """Swap, then colours, then type: numbers that any other order would change."""
    rgb = np.full((2, 2, 3), (10, 20, 250), np.uint8)
    pick_red = {"is_enable_csc": True, "csc_matrix_r0c0": 256, "csc_matrix_r1c0": 128}
    result = load(
        rgb, input_format=F.RGB888_U8, dtype="int8", is_swap_rb=True, dtc_mean_ch0=200, dtc_mean_ch1=100,
        dtc_mean_ch2=3, c_padding_mode=1, **pick_red,
    )  # fmt: skip
    # After the swap red is 250: 250 - 200, 125 - 100, 0 - 3.
    assert result[0, 0].tolist() == [50, 25, -3, 0]


# ---- window


@pytest.mark.rule("aipp-single-line")
@pytest.mark.parametrize("vert_size", [0, 1, 2, 4096, 65535])
def test_a_single_line_does_not_look_at_vert_size(vert_size):
    """With single line one row comes out, whatever vertSize says."""
    window = window_of(COUNTING, vert_size=vert_size, vert_start_pos=7, horiz_start_pos=2, horiz_size=5)
    assert grey(COUNTING, window, is_single_line_copy=True).tolist() == [[58, 59, 60, 61, 62]]
    with pytest.raises(al.ParameterError, match=r"^vertS"):
        grey(COUNTING, window)


@pytest.mark.rule("aipp-window")
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("horiz_size", 2, 4095), ("src_horiz_size", 2, 4095), ("horiz_start_pos", 0, 4094),
        ("vert_start_pos", 0, 4095), ("top_pad_size", 0, 32), ("bot_pad_size", 0, 32),
        ("left_pad_size", 0, 32), ("right_pad_size", 0, 32), ("sid", 0, 255),
    ],
)  # fmt: skip
def test_documented_ranges_of_the_window(name, low, high):
    """Both ends of each documented range are legal, their neighbours are not, and the message says the range."""
    good = {"horiz_size": 2, "vert_size": 2, "src_horiz_size": 2}
    for value in (low, high):
        assert getattr(al.LoadImageToLocalParams(**{**good, name: value}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(al.ParameterError, match=rf"= {value} is not allowed; allowed: .*LoadImageToLocal"):
            al.LoadImageToLocalParams(**{**good, name: value})


@pytest.mark.rule("aipp-window")
def test_vert_size_is_two_rows_at_least():
    """Without single line a window has 2 to 4095 rows."""
    picture = np.zeros((4096, 2), np.uint8)
    for rows in (2, 4095):
        assert grey(picture, window_of(picture, vert_size=rows)).shape == (rows, 2)
    for rows in (0, 1, 4096, 65535):
        with pytest.raises(al.ParameterError, match=rf"^vertSize = {rows} .*\[2, 4095\]"):
            grey(picture, window_of(picture, vert_size=rows))


@pytest.mark.rule("aipp-window")
@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"src_horiz_size": 6}, r"srcHorizSize = 6 .*8, the width of src0"),
        ({"horiz_start_pos": 2}, r"horizSize = 8 .*at most 6: the window starts at column 2 of 8"),
        ({"horiz_size": 9}, r"horizSize = 9 .*at most 8: the window starts at column 0 of 8"),
        ({"horiz_start_pos": 4, "horiz_size": 5}, r"horizSize = 5 .*at most 4"),
        ({"horiz_start_pos": 8, "horiz_size": 2}, r"horizSize = 2 .*at most 0"),
        ({"vert_start_pos": 1}, r"vertSize = 8 .*at most 7: the window starts at row 1 of 8"),
        ({"vert_start_pos": 8, "vert_size": 2}, r"vertStartPos = 8 .*at most 6: src0 has 8 rows"),
    ],
)
def test_a_window_outside_the_picture_is_an_error(window, message):
    """The message names the parameter and how far the window could reach."""
    with pytest.raises(al.ParameterError, match=message):
        grey(COUNTING, window_of(COUNTING, **window))


@pytest.mark.rule("aipp-window")
def test_starts_and_widths_that_must_be_even():
    """The horizontal start is even for every format, the vertical one and the picture itself for YUV420SP."""
    with pytest.raises(al.ParameterError, match=r"^horizStartPos = 3 .*even"):
        window_of(COUNTING, horiz_start_pos=3)
    y, uv = random_picture(8, 8), random_picture(4, 8)
    window = window_of(y, vert_start_pos=3, vert_size=2)
    assert load(COUNTING, input_format=F.YUV400_U8, window=window)[0, 0, 0] == 24
    for single in (False, True):
        with pytest.raises(al.ParameterError, match=r"^vertStartPos = 3 .*even"):
            load(y, uv, input_format=F.YUV420SP_U8, window=window, is_single_line_copy=single)
    with pytest.raises(al.ParameterError, match=r"^srcHorizSize = 7 .*even"):
        load(y, uv, input_format=F.YUV420SP_U8, window=window_of(y, src_horiz_size=7))
    for shape in ((7, 8), (8, 7)):
        with pytest.raises(al.ParameterError, match=r"^src0 .*even height and width"):
            load(random_picture(*shape), uv, input_format=F.YUV420SP_U8)


# ---- limits


@pytest.mark.rule("aipp-kernel-limits")
def test_the_open_kernels_limits_are_warnings():
    """dav_3510 warns of a tail under 32 bytes and of results over 256 KiB, at the caller's line, and computes them."""
    more = {"input_format": F.YUV400_U8, "product": ATLAS_350, "profile": "dav_3510"}
    tail = random_picture(2, 5)
    with pytest.warns(al.KernelLimitWarning, match="the last 8 bytes never arrive") as caught:
        result = load(tail, c_padding_mode=1, **more)
    assert np.array_equal(result[:, :, 0], tail)
    assert len(caught) == 1
    large = random_picture(128, 66)
    with pytest.warns(al.KernelLimitWarning, match=r"262,144 bytes of scratch .* 270,336 bytes overrun"):
        load(large, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(random_picture(128, 64), **more)  # exactly 256 KiB
        load(random_picture(2, 4), c_padding_mode=1, **more)
        load(tail, c_padding_mode=1, input_format=F.YUV400_U8, product=ATLAS_350)  # "documented" has no such limits
    setup = al.set_aipp_functions(
        tail,
        input_format=F.YUV400_U8,
        config=make_config(c_padding_mode=1),
        dtype="uint8",
        product=ATLAS_350,
        profile="dav_3510",
    )
    with pytest.warns(al.KernelLimitWarning) as caught:
        al.load_image_to_local(setup, window_of(tail))
    assert [w.filename for w in caught] == [__file__]


@pytest.mark.rule("aipp-capacity")
@pytest.mark.parametrize("product", [*aipp_cases.WITH_UINT8, *aipp_cases.WITHOUT_UINT8], ids=lambda p: p.name)
def test_l1_is_only_a_limit_when_asked(product):
    """check_capacity refuses a result of more than the product's L1 and says how many tiles it takes."""
    rows = product.buffers["L1"] // (32 * 64)
    for extra in (0, 2):
        picture = np.zeros((rows + extra, 64), np.uint8)
        setup = al.set_aipp_functions(
            picture, input_format=F.YUV400_U8, config=al.AippParams(), dtype="int8", product=product
        )
        assert al.load_image_to_local(setup, window_of(picture)).nbytes == 32 * 64 * (rows + extra)
        if extra:
            with pytest.raises(al.BufferOverflowError, match=r"^L1: .*Cut the window into 2 tiles"):
                al.load_image_to_local(setup, window_of(picture), check_capacity=True)
        else:
            al.load_image_to_local(setup, window_of(picture), check_capacity=True)


# ---- products


@pytest.mark.rule("aipp-products")
@pytest.mark.parametrize("product", [al.Product.ATLAS_INFERENCE_VECTOR_CORE, al.Product.ATLAS_TRAINING])
def test_products_without_aipp(product):
    """Vector Core and Atlas training are refused with the list of products that have the API."""
    with pytest.raises(
        al.UnsupportedProductError, match=r"^SetAippFunctions is not supported on .*Atlas 350, Atlas A3"
    ):
        grey(random_picture(2, 2), product=product)


@pytest.mark.rule("aipp-output-types")
@pytest.mark.parametrize("product", [*aipp_cases.WITH_UINT8, *aipp_cases.WITHOUT_UINT8], ids=lambda p: p.name)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "half", "int16", "float", "bfloat16"])
def test_output_types_of_each_product(product, dtype):
    """A2 and A3 convert to int8 and half, the others to uint8 as well; other types are named as errors."""
    allowed = {"int8", "half"} | ({"uint8"} if product in aipp_cases.WITH_UINT8 else set())
    if dtype in allowed:
        assert grey(random_picture(2, 2), product=product, dtype=dtype).shape == (2, 2)
    else:
        with pytest.raises(al.ParameterError, match=rf"^dtype = '{dtype}'"):
            grey(random_picture(2, 2), product=product, dtype=dtype)


@pytest.mark.rule("aipp-kernel-limits")
@pytest.mark.parametrize("product", [*aipp_cases.WITH_UINT8, *aipp_cases.WITHOUT_UINT8], ids=lambda p: p.name)
def test_the_open_kernels_profile_belongs_to_atlas_350(product):
    """profile="dav_3510" is an error on any other product."""
    if product is ATLAS_350:
        grey(random_picture(2, 2), product=product, profile="dav_3510")
    else:
        with pytest.raises(al.ParameterError, match=r"^profile = 'dav_3510' .*only with Product.ATLAS_350"):
            grey(random_picture(2, 2), dtype="half", product=product, profile="dav_3510")
