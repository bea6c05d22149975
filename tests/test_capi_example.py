"""The document's conv2d kernel, the same kernel with other sizes, and the neighbouring examples."""

from __future__ import annotations

import capi_cases
import capi_oracle
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi
from ascendlab.capi import conv2d_example as example
from ascendlab.capi.conv2d_example import EXAMPLE, Conv2dShape, conv2d_forward_capi
from ascendlab.load3d import IsResetLoad3dConfig, LoadData3DParamsV2

SHAPES = {
    "not square": Conv2dShape(H=7, W=12, BATCH=2),
    "one window": Conv2dShape(H=5, W=5, PAD_LEFT=0, PAD_RIGHT=0, PAD_TOP=0, PAD_BOTTOM=0, BATCH=1),
    "stride 1, one group": Conv2dShape(H=5, W=9, C1=1, STRIDE_H=1, STRIDE_W=1, DILATION_H=1, DILATION_W=1, BATCH=1),
    "asymmetric": Conv2dShape(H=11, W=6, C1=1, KH=2, KW=4, STRIDE_H=3, STRIDE_W=1, DILATION_H=3, DILATION_W=1,
                              PAD_LEFT=3, PAD_RIGHT=0, PAD_TOP=1, PAD_BOTTOM=2, PAD_VALUE=-1.5, BATCH=2),
    "1 x 1 filter": Conv2dShape(H=4, W=3, C1=3, KH=1, KW=1, STRIDE_H=1, STRIDE_W=1, PAD_VALUE=7, BATCH=3),
    "pad value that half rounds": Conv2dShape(PAD_VALUE=0.1, BATCH=1),
}  # fmt: skip


def random_data(s, seed=0):
    """Draw feature maps and weights on which a wrong order, place or rounding shows."""
    rng = np.random.default_rng(seed)
    fmap = rng.standard_normal((s.BATCH, s.H, s.W, s.CIN)).astype(np.float16)
    weight = rng.standard_normal((s.K, s.COUT)).astype(np.float16)
    return fmap, weight, np.full((s.BATCH, s.HOUT, s.WOUT, s.COUT), np.nan, np.float16)


def test_the_example_prints_its_two_lines():
    """The document's kernel on the document's data: 0 mismatches of 1600, and the success line."""
    assert example.main() == (
        "Example 1: max diff=0, mismatches=0/1600",
        "[Success] conv2d_forward C API passed.",
    )


def test_the_example_agrees_with_its_own_golden_loops():
    """The loops of the document, and not only the library's fast convolution, give the kernel's output."""
    document = {
        "BATCH": 4, "C1": 2, "H": 9, "W": 9, "KH": 3, "KW": 3, "STRIDE_H": 2, "STRIDE_W": 2, "DILATION_H": 2,
        "DILATION_W": 2, "PAD_LEFT": 2, "PAD_RIGHT": 2, "PAD_TOP": 2, "PAD_BOTTOM": 2, "PAD_VALUE": 0,
    }  # fmt: skip
    assert {name: getattr(EXAMPLE, name) for name in example.CONV2D_CONSTANTS} == document
    assert {name: constant.default for name, constant in example.CONV2D_CONSTANTS.items()} == document
    fmap, weight, output = example.make_inputs()
    assert (fmap.shape, weight.shape) == ((4, 9, 9, 32), (288, 16))
    assert [int(x) for x in fmap.reshape(-1)[:7]] == [-2, -1, 0, 1, 2, -2, -1]
    assert int(weight[((1 * 3 + 2) * 3 + 1) * 16 + 3, 4]) == (1 + 2 + 2 + 3 + 4) % 3 - 1
    capi.launch(conv2d_forward_capi, 4, fmap, weight, output)
    assert np.array_equal(output, capi_oracle.make_golden(fmap, weight, EXAMPLE))


@pytest.mark.rule("capi-mmad-order")
@pytest.mark.rule("capi-l0c2gm")
@pytest.mark.rule("capi-3d")
@pytest.mark.parametrize("name", SHAPES)
def test_other_sizes_agree_bit_by_bit(name):
    """Other sizes, strides, dilations, borders and pad values, on general data, to the last bit."""
    s = SHAPES[name]
    fmap, weight, output = random_data(s)
    if s.M == 1:
        # One row only: the unit would read it plainly, see capi-gemv.
        with pytest.raises(al.UninitialisedReadError, match="disable_gemv"):
            capi.launch(conv2d_forward_capi, s.BATCH, fmap, weight, output, s)
        return
    capi.launch(conv2d_forward_capi, s.BATCH, fmap, weight, output, s)
    assert output.tobytes() == capi_oracle.make_golden(fmap, weight, s).tobytes()


@pytest.mark.rule("capi-golden")
def test_the_fast_golden_differs_in_last_bits_only():
    """The fast golden is right on the example's integers, and within one unit in the last place on general data."""
    fmap, weight, _ = example.make_inputs()
    assert np.array_equal(EXAMPLE.golden(fmap, weight), capi_oracle.make_golden(fmap, weight, EXAMPLE))
    s = SHAPES["asymmetric"]
    fmap, weight, _ = random_data(s, 3)
    exact, fast = capi_oracle.make_golden(fmap, weight, s), s.golden(fmap, weight)
    assert np.abs(exact.view(np.int16).astype(int) - fast.view(np.int16).astype(int)).max() <= 1


@pytest.mark.rule("capi-padding-shared")
def test_the_shared_register_trap():
    """A gm2l1 padding set between the kernel's setter and its load changes the result, as the document warns."""

    class Trap(capi.AICore):
        def asc_set_l13d_rpt(self, config):
            self.asc_set_gm2l1_padding(np.float16(3))
            super().asc_set_l13d_rpt(config)

    s = Conv2dShape(BATCH=1)
    fmap, weight, output = random_data(s)
    trapped = output.copy()
    capi.launch(conv2d_forward_capi, 1, fmap, weight, output, s)
    core = Trap(al.Product.ATLAS_350)
    conv2d_forward_capi(core, core.gm(fmap, "fmap"), core.gm(weight, "weight"), core.gm(trapped, "output"), s)
    assert (trapped != output).any()
    as_if = Conv2dShape(BATCH=1, PAD_VALUE=3)
    assert trapped.tobytes() == capi_oracle.make_golden(fmap, weight, as_if).tobytes()
    # Windows that touch no border do not change.
    assert np.array_equal(trapped[:, 1:-1, 1:-1], output[:, 1:-1, 1:-1])


@pytest.mark.rule("capi-padding-late")
def test_a_padding_of_another_type_is_seen_by_the_load():
    """half(1) in the register is no 8-bit padding: the load that needs it says so, and shows the bits."""
    core = capi_cases.new_core()
    src, dst = core.cbuf("int8", 4 * 32, name="src"), core.ca("int8", 16 * 32, name="dst")
    core.poke(src, np.arange(128))
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=2, padding_top_size=1))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    core.asc_set_l12l0a_3d_padding(np.float16(1))
    args = (32, 6, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 32)
    before = capi_cases.everything(core)
    with pytest.raises(al.ParameterError, match=r"3C00, low bits 0011_1100_0000_0000.*for int8 data"):
        core.asc_copy_l12l0a(dst, src, *args)
    assert capi_cases.everything(core) == before
    core.asc_set_l12l0a_3d_padding(config=0x3C3C)
    core.asc_copy_l12l0a(dst, src, *args)
    assert (dst.array.reshape(16, 32)[:2] == 0x3C).all()
    assert np.array_equal(dst.array.reshape(16, 32)[2:6], np.arange(128).reshape(4, 32))


@pytest.mark.rule("capi-init")
def test_a_kernel_without_init_or_setter_pads_with_what_was_there():
    """Without asc_init and without a setter the padding is another kernel's, and refused; without padding it is not."""
    core = capi.AICore(al.Product.ATLAS_350)
    src, dst = core.cbuf("half", 64, name="src"), core.ca("half", 256, name="dst")
    core.poke(src, np.ones(64))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    args = (16, 4, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 16)
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=2, padding_top_size=1))
    with pytest.raises(al.UninitialisedReadError, match=r"PADDING.*earlier kernel"):
        core.asc_copy_l12l0a(dst, src, *(16, 6, *args[2:]))
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=2))
    core.asc_copy_l12l0a(dst, src, *args)
    assert dst.written.sum() == 64


@pytest.mark.rule("capi-fmatrix")
def test_what_the_other_packing_would_do_to_a_map_that_is_not_square():
    """Read with height and width exchanged, the same word loads another matrix: visible on any map but a square."""
    s = Conv2dShape(H=4, W=6, C1=1, KH=1, KW=1, STRIDE_H=1, STRIDE_W=1, PAD_LEFT=0, PAD_RIGHT=0, PAD_TOP=1,
                    PAD_BOTTOM=0, BATCH=1)  # fmt: skip
    fmap = np.arange(s.FMAP_BATCH_SIZE).reshape(1, 4, 6, 16).astype(np.float16)
    rows = {}
    for name, config in (("union", lambda c: c), ("other", lambda c: c.exchanged())):
        core = capi_cases.new_core()
        src, dst = core.cbuf("half", fmap.size, name="src"), core.ca("half", 32 * 16, name="dst")
        core.poke(src, fmap)
        word = capi.asc_l13d_fmatrix_config(l1_height=4, l1_width=6, padding_top_size=1)
        core.asc_set_l13d_fmatrix(config(word))
        core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=2))
        core.asc_copy_l12l0a(dst, src, 16, 28, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 16)
        rows[name] = dst.array.reshape(32, 16)[:28, 0].astype(int)
    assert list(rows["union"]) == [0] * 6 + [16 * i for i in range(22)]
    assert list(rows["other"]) == [0] * 4 + [16 * i for i in range(24)]


@pytest.mark.rule("capi-dst-stride")
@pytest.mark.rule("capi-rpt")
@pytest.mark.rule("capi-rpt-start")
def test_the_destination_stride_must_be_set():
    """Without a stride the load is refused with the value it needs; larger strides leave gaps, a start moves it all."""
    core = capi_cases.new_core()
    src, dst = core.cbuf("half", 4 * 8 * 32, name="src"), core.ca("half", 12 * 256, name="dst")
    data = np.arange(src.size).astype(np.float16)
    core.poke(src, data)
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=4, l1_width=8))
    args = (32, 32, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 32)
    for config in (None, capi.asc_load3d_v2_config()):
        if config is not None:
            core.asc_set_l13d_rpt(config)
        with pytest.raises(
            al.KernelError, match=r"\[47:32\] of the repeat register 0x0000_0000_0001_0000, is 0.*2 fractals"
        ):
            core.asc_copy_l12l0a(dst, src, *args)
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    with pytest.raises(al.ParameterError, match=r"^dst_stride = 1"):
        core.asc_copy_l12l0a(dst, src, *args)
    matrix = capi_oracle.im2col(data.reshape(2, 4, 8, 16).transpose(1, 2, 0, 3).reshape(4, 8, 32), (1, 1), (1, 1),
                                (1, 1), (0, 0, 0, 0), 0)  # fmt: skip
    for stride, start in ((2, 0), (5, 1)):
        dst = core.ca("half", 12 * 256, name=f"dst{stride}")
        core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=stride, dst_start_pos_m=start))
        core.asc_copy_l12l0a(dst, src, *args)
        fractals = dst.array.reshape(12, 16, 16)
        for k1 in range(2):
            for m1 in range(2):
                block = fractals[start + k1 * stride + m1]
                assert np.array_equal(block, matrix[m1 * 16 : m1 * 16 + 16, k1 * 16 : k1 * 16 + 16])
        assert dst.written.sum() == matrix.size


@pytest.mark.rule("capi-no-operation")
@pytest.mark.rule("capi-f-matrix-ctrl")
def test_3d_zeros_do_nothing_and_the_b_side_is_refused():
    """Zero extensions, channels, filters or repeats do nothing; f_matrix_ctrl = true is refused by name."""
    core = capi_cases.new_core()
    src, dst = core.cbuf("half", 64, name="src"), core.ca("half", 256, name="dst")
    core.poke(src, np.ones(64))
    core.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=2))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    good = {"k_extension": 16, "m_extension": 4, "k_start_pt": 0, "m_start_pt": 0, "stride_w": 1, "stride_h": 1,
            "filter_w": 1, "filter_h": 1, "dilation_filter_w": 1, "dilation_filter_h": 1, "filter_size_w": False,
            "filter_size_h": False, "transpose": False, "f_matrix_ctrl": False, "channel_size": 16}  # fmt: skip
    for name in ("k_extension", "m_extension", "channel_size", "filter_w", "filter_h"):
        core.asc_copy_l12l0a(dst, src, **{**good, name: 0})
        assert core.steps[-1].outcome == "no operation"
    with pytest.raises(al.ParameterError, match=r"^f_matrix_ctrl = True .*B side"):
        core.asc_copy_l12l0a(dst, src, **{**good, "f_matrix_ctrl": True})
    for name, wrong in (("stride_w", 0), ("stride_h", 64), ("k_start_pt", 8), ("channel_size", 3), ("m_extension", 17)):
        with pytest.raises(al.ParameterError, match=f"^{name} = "):
            core.asc_copy_l12l0a(dst, src, **{**good, name: wrong})
    with pytest.raises(al.ParameterError, match=r"^filter_h = 3 .*a window that fits"):
        core.asc_copy_l12l0a(dst, src, **{**good, "filter_h": 3})
    assert not dst.written.any()
    core.asc_copy_l12l0a(dst, src, **good)
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(rpt_time=0, dst_stride=1))
    core.asc_copy_l12l0a(dst, src, **good)
    assert core.steps[-1].outcome == "no operation"


def padded_map_kernel(core, fmap, weight, output):
    """Run the public example around a 2 x 2 map of zeros with a border of 2, as the matrix B."""
    core.asc_init()
    fmap_l1, weight_l1 = core.cbuf("half", 64, name="fmap_l1"), core.cbuf("half", 256, name="weight_l1")
    weight_l0, fmap_l0 = core.ca("half", 256, name="weight_l0"), core.cb("half", 256, name="fmap_l0")
    output_l0 = core.cc("float", 256, name="output_l0")
    core.asc_set_gm2l1_nz_para(1, 1, 4, 0)
    core.asc_copy_gm2l1_nd2nz(fmap_l1, fmap, 32, 0, 4, 16, 0, False)
    core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
    core.asc_copy_gm2l1_nd2nz(weight_l1, weight, 32, 0, 16, 16, 0, False)
    capi_cases.order(core, capi.PIPE_MTE2, capi.PIPE_MTE1)
    core.asc_copy_l12l0a(weight_l0, weight_l1, 0, 0, 1, 1, 1, 1)
    core.asc_set_l13d_fmatrix(
        capi.asc_l13d_fmatrix_config(l1_height=2, l1_width=2, padding_left_size=1, padding_right_size=1,
                                     padding_top_size=1, padding_bottom_size=1))  # fmt: skip
    core.asc_set_l12l0a_3d_padding(np.float16(2))
    core.asc_set_l13d_rpt(capi.asc_load3d_v2_config(dst_stride=1))
    core.asc_copy_l12l0b(fmap_l0, fmap_l1, 16, 16, 0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 16)
    capi_cases.order(core, capi.PIPE_MTE1, capi.PIPE_M)
    core.asc_mmad(output_l0, weight_l0, fmap_l0, 16, 16, 16, 0, False, False, True)
    capi_cases.order(core, capi.PIPE_M, capi.PIPE_FIX)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_copy_l0c2gm(output, output_l0, 16, 16, 16, 16, quant_pre_mode=1, enable_nz2nd=True)
    core.asc_sync_pipe(capi.PIPE_ALL)


@pytest.mark.rule("capi-3d")
def test_the_second_public_example_gives_24s():
    """Sixteen positions as the matrix B: each of the 256 results sums the 12 positions of the border, 12 * 2 = 24."""
    fmap, weight = np.zeros((2, 2, 16), np.float16), np.ones((16, 16), np.float16)
    output = np.zeros((16, 16), np.float16)
    capi.launch(padded_map_kernel, 1, fmap, weight, output)
    assert (output == 24).all()
    # On data that tells positions from channels: K runs over positions, N over channels.
    rng = np.random.default_rng(1)
    fmap = rng.integers(-9, 9, (2, 2, 16)).astype(np.float16)
    weight = rng.integers(-3, 4, (16, 16)).astype(np.float16)
    capi.launch(padded_map_kernel, 1, fmap, weight, output)
    matrix = capi_oracle.im2col(fmap, (1, 1), (1, 1), (1, 1), (1, 1, 1, 1), 2)
    assert np.array_equal(output, weight.astype(int) @ matrix.astype(int))


def picture(product=al.Product.ATLAS_350, **more):
    """Configure a picture with colours, 4 or 16 channels of half."""
    rng = np.random.default_rng(11)
    src = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    config = al.AippParams(
        padding_params=al.AippPaddingParams(padding_mode=1),
        swap_params=al.AippSwapParams(is_swap_rb=True),
        dtc_params=al.AippDataTypeConvParams(dtc_mean_ch0=100, dtc_mean_ch1=110, dtc_mean_ch2=120, dtc_var_ch0=0.5),
        **more,
    )
    setup = al.set_aipp_functions(
        src, input_format=al.AippInputFormat.RGB888_U8, config=config, dtype="half", product=product
    )
    params = al.LoadImageToLocalParams(
        horiz_size=6,
        vert_size=4,
        src_horiz_size=8,
        horiz_start_pos=2,
        vert_start_pos=1,
        top_pad_size=1,
        left_pad_size=1,
    )
    return setup, params


def picture_kernel(core, weight, output, setup, params, *, channels):
    """Picture -> L1 -> im2col -> matrix unit -> GM, the registers set apart from the load."""
    core.asc_init()
    height, width = 5, 7
    k = 9 * channels
    k_align = -(-k // 16) * 16
    image, weight_l1 = (
        core.cbuf("half", height * width * channels, name="image"),
        core.cbuf("half", k_align * 16, name="weight"),
    )
    core.load_image_to_local(image, setup, params)
    core.poke(weight_l1, np.zeros(weight_l1.size))  # the rows past K, which nobody would write otherwise
    core.asc_set_gm2l1_nz_para(1, 1, k_align, 0)
    core.asc_copy_gm2l1_nd2nz(weight_l1, weight, 32, 0, k, 16, 0, False)
    capi_cases.order(core, capi.PIPE_MTE2, capi.PIPE_MTE1)
    a, b, c = (
        core.ca("half", 48 * k_align, name="a"),
        core.cb("half", k_align * 16, name="b"),
        core.cc("float", 48 * 16, name="c"),
    )
    core.set_fmatrix(height, width, (1, 1, 1, 1))
    core.set_load_data_padding_value(np.float16(-2))
    wrong = {"l1_h": 99, "l1_w": 99, "pad_list": (7, 7, 7, 7), "pad_value": 55}
    core.load_data(
        a, image,
        LoadData3DParamsV2(**wrong, channel_size=channels, filter_w=3, filter_h=3, k_extension=k, m_extension=35),
        config=IsResetLoad3dConfig(is_set_f_matrix=False, is_set_padding=False),
    )  # fmt: skip
    core.asc_copy_l12l0b_transpose(b, weight_l1, 0, 0, k_align // 16, 1, k_align // 16, 1)
    capi_cases.order(core, capi.PIPE_MTE1, capi.PIPE_M)
    core.asc_mmad(c, a, b, 35, k, 16, 0, True, False, True)
    capi_cases.order(core, capi.PIPE_M, capi.PIPE_FIX)
    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_copy_l0c2gm(output, c, 16, 35, 16, 48, quant_pre_mode=1, enable_nz2nd=True)
    core.asc_sync_pipe(capi.PIPE_ALL)


@pytest.mark.rule("capi-aipp")
@pytest.mark.rule("capi-load-data")
def test_picture_to_matrix_product_is_one_chain():
    """A picture of 32-byte pixels goes through AIPP, im2col and the matrix unit, the registers' values used."""
    setup, params = picture()
    rng = np.random.default_rng(2)
    weight, output = rng.standard_normal((144, 16)).astype(np.float16), np.zeros((5, 7, 16), np.float16)

    def kernel(core, weight, output):
        picture_kernel(core, weight, output, setup, params, channels=16)

    launched = capi.launch(kernel, 1, weight, output)
    image = al.load_image_to_local(setup, params)
    assert image.shape == (5, 7, 16)
    matrix = capi_oracle.im2col(image, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), -2)
    expected = capi_oracle.mmad(matrix, weight).astype(np.float16)
    assert output.tobytes() == expected.tobytes()
    (core,) = launched.cores
    assert [s.call for s in core.steps if s.writes and s.call != "poke"] == [
        "load_image_to_local", "asc_copy_gm2l1_nd2nz", "load_data", "asc_copy_l12l0b_transpose", "asc_mmad",
        "asc_copy_l0c2gm",
    ]  # fmt: skip
    assert core.fmatrix.l1_width == 7
    assert core.padding.config == np.float16(-2).view(np.uint16)


@pytest.mark.rule("capi-aipp")
@pytest.mark.rule("capi-mmad-tail")
def test_a_picture_of_four_channels_feeds_a_packed_map():
    """AIPP's 4-channel form is Load3D's channel_size 4; the K tail of A that nobody writes is reported."""
    setup, params = picture(c_padding_params=al.AippChannelPaddingParams(c_padding_mode=1))
    rng = np.random.default_rng(3)
    weight, output = rng.standard_normal((36, 16)).astype(np.float16), np.zeros((5, 7, 16), np.float16)
    with pytest.raises(al.UninitialisedReadError, match=r"A\[m=0, k=36\].*behind k = 36") as caught:
        capi.launch(lambda core, weight, output: picture_kernel(core, weight, output, setup, params, channels=4), 1,
                    weight, output)  # fmt: skip
    core = caught.value.core
    assert core.steps[-1].call == "asc_sync_wait"
    a, b, c = (core.buffers[n].allocations[0] for n in ("L0A", "L0B", "L0C"))
    pointers = [core.buffers[n].pointer(x.dtype, 0) for n, x in (("L0A", a), ("L0B", b), ("L0C", c))]
    tail = pointers[0].array[: 3 * 48 * 16].reshape(3, 48, 16).copy()
    tail[2, :, 4:] = 77  # anything: it does not count
    core.poke(pointers[0], tail)
    core.asc_mmad(pointers[2], pointers[0], pointers[1], 35, 36, 16, 0, True, False, True)
    image = al.load_image_to_local(setup, params)
    rows = []
    padded = np.full((7, 9, 4), -2, np.float16)
    padded[1:-1, 1:-1] = image
    for m in range(35):
        rows.append(padded[m // 7 : m // 7 + 3, m % 7 : m % 7 + 3].reshape(-1))
    got = capi_oracle.from_l0c(pointers[2].array, 35, 16)
    assert got.tobytes() == capi_oracle.mmad(np.array(rows), weight).tobytes()


@pytest.mark.rule("capi-load-data")
@pytest.mark.parametrize("product", [al.Product.ATLAS_A2, al.Product.ATLAS_350, al.Product.ATLAS_INFERENCE_AI_CORE])
def test_load_data_sets_the_registers_itself_unless_told_not_to(product):
    """The four combinations of IsResetLoad3dConfig decide for each register whose values are used, and left there."""
    for set_map in (True, False):
        for set_pad in (True, False):
            core = capi.AICore(product)
            src, dst = core.cbuf("half", 6 * 16, name="src"), core.ca("half", 512, name="dst")
            data = np.arange(96).astype(np.float16)
            core.poke(src, data)
            core.set_fmatrix(2, 3, (0, 0, 1, 0))
            core.set_load_data_padding_value(np.float16(5))
            params = LoadData3DParamsV2(
                l1_h=3, l1_w=2, pad_list=(1, 0, 0, 0), pad_value=6, channel_size=16, k_extension=16, m_extension=9
            )
            core.load_data(
                dst, src, params, config=IsResetLoad3dConfig(is_set_f_matrix=set_map, is_set_padding=set_pad)
            )
            pad = 6 if set_pad else 5
            shape, pads = ((3, 2), (1, 0, 0, 0)) if set_map else ((2, 3), (0, 0, 1, 0))
            expected = capi_oracle.im2col(data.reshape(*shape, 16), (1, 1), (1, 1), (1, 1), pads, pad)
            assert np.array_equal(dst.array.reshape(32, 16)[:9], expected)
            assert (core.fmatrix.l1_height, core.fmatrix.l1_width) == shape
            assert core.padding.config == np.float16(pad).view(np.uint16)
    fresh = capi.AICore(product)
    src, dst = fresh.cbuf("half", 96, name="src"), fresh.ca("half", 512, name="dst")
    fresh.poke(src, np.zeros(96))
    with pytest.raises(al.UninitialisedReadError, match=r"FMATRIX.*set_fmatrix"):
        fresh.load_data(dst, src, params, config=IsResetLoad3dConfig(is_set_f_matrix=False))
    with pytest.raises(al.UninitialisedReadError, match="PADDING"):
        fresh.load_data(dst, src, params, config=IsResetLoad3dConfig(is_set_padding=False))
    assert fresh.registers == {}
    fresh.load_data(dst, src, params)
    assert set(fresh.registers) == {"FMATRIX", "PADDING"}


@pytest.mark.rule("capi-aipp")
def test_pictures_for_another_core_are_refused():
    """A setup for another product, another type, or a window that does not fit is named before anything moves."""
    setup, params = picture(al.Product.ATLAS_A2)
    core = capi_cases.new_core()
    image = core.cbuf("half", 560, name="image")
    with pytest.raises(al.ParameterError, match=r"^setup = .*Atlas A2.*Atlas 350"):
        core.load_image_to_local(image, setup, params)
    setup, params = picture()
    with pytest.raises(al.ParameterError, match=r"^type of dst"):
        core.load_image_to_local(image.cast("int8"), setup, params)
    with pytest.raises(al.BufferOverflowError, match=r"load_image_to_local: dst in image"):
        core.load_image_to_local(image + 16, setup, params)
    with pytest.raises(al.MisalignedAddressError):
        core.load_image_to_local(image + 1, setup, params)
    assert not image.written.any()


@pytest.mark.parametrize("name", ["BATCH", "C1", "H", "KW", "STRIDE_H", "DILATION_W", "PAD_TOP"])
def test_a_shape_out_of_range_is_refused(name):
    """The example's constants are checked when the shape is made."""
    for wrong in (-1, 1.0, True, None, 10**5000):
        with pytest.raises(al.ParameterError, match=f"^{name} = "):
            Conv2dShape(**{name: wrong})
    with pytest.raises(al.ParameterError, match=r"^KH = "):
        Conv2dShape(H=1, PAD_TOP=0, PAD_BOTTOM=0)
