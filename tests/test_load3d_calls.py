"""Load3D's checks: what is refused, why, by which words, and that nothing is written then."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest
from load3d_cases import A2, A3, A200I, A350, AI_CORE, TAILS, TRANSPOSED, TYPES, V2_TYPES, same
from load3d_oracle import elements_in_32_bytes

import ascendlab as al
from ascendlab import LoadData3DParamsV1, LoadData3DParamsV2, LoadDataRepeatParam, Product, load3d

PRODUCTS = (AI_CORE, A2, A3, A200I, A350)
TRAINING, VECTOR = Product.ATLAS_TRAINING, Product.ATLAS_INFERENCE_VECTOR_CORE


def src_of(name: str = "half", c1: int = 2, h: int = 5, w: int = 7) -> np.ndarray:
    """Return a feature map of zeros."""
    return np.zeros((c1, h, w, elements_in_32_bytes(TYPES[name])), TYPES[name])


def params_of(**more) -> LoadData3DParamsV2:
    """Return parameters that fit `src_of()`: 35 windows, 32 columns."""
    return LoadData3DParamsV2(
        **{"l1_h": 5, "l1_w": 7, "channel_size": 32, "m_extension": 35, "k_extension": 32, **more}
    )


def refused(match: str, call=al.load_data_3d_v2, src=None, params=None, kind=al.ParameterError, **more) -> None:
    """Assert that a call is refused with these words, and that `out` keeps its bytes."""
    out = np.full((3, 2, 16, 16), 7, np.float16)
    with pytest.raises(kind, match=match):
        call(src_of() if src is None else src, params_of() if params is None else params, out=out, **more)
    assert (out == 7).all()


def test_the_call_that_is_varied_works() -> None:
    """The starting point of the tests below is legal."""
    out = np.full((3, 2, 16, 16), 7, np.float16)
    al.load_data_3d_v2(src_of(), params_of(), out=out)
    assert (out[:2] == 0).all()


@pytest.mark.rule("load3d-products")
@pytest.mark.parametrize("product", Product)
def test_products(product: Product) -> None:
    """V2 runs on five products, V1 on two; elsewhere the error names those that have it."""
    if product in PRODUCTS:
        al.load_data_3d_v2(src_of(c1=1), params_of(channel_size=16, k_extension=16), product=product)
    else:
        refused("LoadData3DParamsV2 is not supported on", kind=al.UnsupportedProductError, product=product)
    v1 = LoadData3DParamsV1(l1_h=5, l1_w=7)
    if product in (AI_CORE, TRAINING):
        al.load_data_3d_v1(src_of(), v1, product=product)
    else:
        with pytest.raises(al.UnsupportedProductError, match="LoadData3DParamsV1 is not supported on"):
            al.load_data_3d_v1(src_of(), v1, product=product)


@pytest.mark.rule("load3d-types")
@pytest.mark.parametrize("dst", ["A2", "B2"])
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda p: p.name)
def test_types(product: Product, dst: str) -> None:
    """Each product moves exactly its own types to each destination."""
    for name, dtype in TYPES.items():
        c0 = elements_in_32_bytes(dtype)
        params = params_of(channel_size=c0, k_extension=c0)
        if name in V2_TYPES[product, dst]:
            al.load_data_3d_v2(src_of(name, 1), params, dst=dst, product=product)
        else:
            with pytest.raises(al.ParameterError, match=rf"^src = an \w+ array .* \(to {dst} on {product}\)|^src = a "):
                al.load_data_3d_v2(src_of(name, 1), params, dst=dst, product=product)


@pytest.mark.rule("load3d-types")
def test_types_that_nothing_moves() -> None:
    """Types without a column in the tables, and arrays of foreign byte order, are refused by V1, V2 and im2col."""
    for dtype in (np.float64, np.int64, np.int16, np.uint16, np.bool_, np.complex64, ">f2", "S4", object):
        src = np.zeros((2, 5, 7, 16), dtype)
        refused(r"^src = ", src=src)
        for call, params in ((al.im2col, params_of()), (al.load_data_3d_v1, LoadData3DParamsV1(l1_h=5, l1_w=7))):
            with pytest.raises(al.ParameterError, match=r"^src = "):
                call(src, params)
    for name in ("int4", "bfloat16", "float"):
        with pytest.raises(al.ParameterError, match="allowed: a NumPy array of int8, uint8, half "):
            al.load_data_3d_v1(src_of(name), LoadData3DParamsV1(l1_h=5, l1_w=7))


@pytest.mark.rule("load3d-transpose-types")
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda p: p.name)
def test_transposed_types(product: Product) -> None:
    """Types that the product cannot transpose are refused with enTranspose, and ignore it on the way to B2."""
    for name in V2_TYPES[product, "A2"]:
        c0 = elements_in_32_bytes(TYPES[name])
        params = params_of(channel_size=c0, k_extension=c0, en_transpose=True)
        if name in TRANSPOSED[product]:
            al.load_data_3d_v2(src_of(name, 1), params, product=product)
        else:
            with pytest.raises(al.ParameterError, match=f"^enTranspose = True .* False for {name} on {product}"):
                al.load_data_3d_v2(src_of(name, 1), params, product=product)
        if name in V2_TYPES[product, "B2"]:
            al.load_data_3d_v2(src_of(name, 1), params, product=product, dst="B2")


def legal_channels(name: str, product: Product | None, channels: int) -> bool:
    """Say what table 4 says, written out."""
    c0 = elements_in_32_bytes(TYPES[name])
    if product is AI_CORE:
        first = {"half": (4, 8, 16), "int8": (4, 8, 16, 32), "uint8": (4, 8, 16, 32), "int4": (8, 16, 32)}[name]
        more = any(channels > c0 and channels % c0 == tail for tail in TAILS[c0])
        return channels in first or more or (name == "int4" and channels % 64 == 0)
    return channels % c0 in (0, *TAILS[c0])


@pytest.mark.rule("load3d-channel-sizes")
@pytest.mark.parametrize("product", [*PRODUCTS, None], ids=lambda p: getattr(p, "name", "im2col"))
def test_channel_sizes(product: Product | None) -> None:
    """All channel sizes up to 140: those of the document's list for product and type, and no other."""
    for name in V2_TYPES[product, "A2"] if product else TYPES:
        for channels in range(1, 141):
            src = np.zeros(channels, TYPES[name])
            params = LoadData3DParamsV2(l1_h=1, l1_w=1, channel_size=channels, m_extension=1, k_extension=channels)
            complaint = ""
            try:
                if product:
                    al.load_data_3d_v2(src, params, product=product)
                else:
                    al.im2col(src, params)
            except al.ParameterError as error:
                complaint = str(error)
            if legal_channels(name, product, channels):
                assert complaint == ""
            else:
                assert complaint.startswith(f"channelSize = {channels} is not allowed; allowed: "), name


@pytest.mark.rule("load3d-channel-sizes")
def test_many_channels() -> None:
    """The range [1, 63] of table 4 is not enforced: its own N * 16 goes beyond."""
    params = LoadData3DParamsV2(l1_h=1, l1_w=1, channel_size=65528, m_extension=1, k_extension=65528)
    assert al.load_data_3d_v2(np.ones(65528, np.float16), params).shape == (1, 4096, 16, 16)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        (
            {"filter_h": 6},
            r"^filterH = 6 .* l1H \+ top \+ bottom = 5 \+ 0 \+ 0 = 5\. Ho = .* = \(5 - 6\) // 1 \+ 1 must",
        ),
        ({"filter_w": 3, "dilation_filter_w": 4}, r"^filterW = 3 .* it covers 9 pixels, .* = 7 .*\. Wo = "),
        ({"pad_list": (0, 0, 1, 0), "filter_h": 4, "dilation_filter_h": 2}, r"^filterH = 4 .*5 \+ 1 \+ 0 = 6"),
        ({"filter_size_h": True}, r"^filterH = 257 "),
    ],
)
def test_windows_that_do_not_fit(fields: dict, match: str) -> None:
    """A window larger than the padded picture is explained with the formula and its numbers."""
    refused(match, params=params_of(**fields))
    with pytest.raises(al.ParameterError, match=match):
        al.im2col(src_of(), params_of(**fields))


@pytest.mark.rule("load3d-alignment")
@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"k_start_pt": 8, "k_extension": 16}, r"^kStartPt = 8 .* a multiple of C0 = 16"),
        ({"k_start_pt": 16, "k_extension": 8}, None),
        ({"k_extension": 8}, r"^kExtension = 8 .* a multiple of 16: .* \(from column 16 on\).*K = Hk \* Wk \* chan"),
        (
            {"m_extension": 20},
            r"^mExtension = 20 .* a multiple of 16: .* \(from row 32 on\).*M = Ho \* Wo = 5 \* 7 = 35",
        ),
        ({"m_extension": 16, "m_start_pt": 7}, r"^mStartPt = 7 .* a multiple of 16"),
        ({"m_extension": 40, "m_start_pt": 7}, None),
        ({"m_extension": 33}, None),
        ({"m_extension": 3, "m_start_pt": 32}, None),
    ],
)
def test_alignment(fields: dict, match: str | None) -> None:
    """Starts and extensions are multiples of 16 and C0 unless the block reaches the last fractal."""
    if match is None:
        al.load_data_3d_v2(src_of(), params_of(**fields))
    else:
        refused(match, params=params_of(**fields))


@pytest.mark.rule("load3d-alignment")
def test_rows_of_32_bit_types_are_free() -> None:
    """With float any rows may be loaded; with half only from a multiple of 16 on."""
    fields = {"channel_size": 16, "m_start_pt": 3, "m_extension": 5, "k_extension": 16}
    src = np.arange(2 * 35 * 8, dtype=np.float32).reshape(2, 5, 7, 8)
    result = al.load_data_3d_v2(src, params_of(**fields))
    same(result[0, 0, :5], src[0].reshape(35, 8)[3:8])
    refused("^mStartPt = 3 ", src=src_of(c1=1), params=params_of(**fields))


@pytest.mark.rule("load3d-last-fractal")
@pytest.mark.parametrize(
    ("fields", "repeat", "match"),
    [
        ({"m_extension": 48}, {}, None),
        ({"m_extension": 49}, {}, r"^mExtension = 49 .* at most 48: the last fractal ends at row 48"),
        ({"k_extension": 33}, {}, r"^kExtension = 33 .* at most 32: the last fractal ends at column 32"),
        ({"m_start_pt": 35, "m_extension": 1}, {}, r"^mStartPt = 35 .* less than 35, so that the block is not empty"),
        ({"k_start_pt": 32, "k_extension": 16}, {}, r"^kStartPt = 32 .* less than 32"),
        ({"m_extension": 16}, {"repeat_time": 3, "repeat_stride": 1}, None),
        ({"m_extension": 32}, {"repeat_time": 3, "repeat_stride": 1},
         r"^mExtension = 32 .* at most 16: .* \(the last repeat starts at row 32\)"),
        ({"m_extension": 16}, {"repeat_time": 4, "repeat_stride": 1},
         r"^mStartPt = 0 .*\(the last repeat starts at row 48\)"),
        ({"k_extension": 16}, {"repeat_time": 3, "repeat_stride": 1, "repeat_mode": 1},
         r"^kStartPt = 0 .*\(the last repeat starts at column 32\)"),
    ],
)  # fmt: skip
def test_last_fractal(fields: dict, repeat: dict, match: str | None) -> None:
    """A block, and each of its repeats, starts inside the matrix and ends at the latest with the last fractal."""
    if match is None:
        al.load_data_3d_v2(src_of(), params_of(**fields), repeat=LoadDataRepeatParam(**repeat))
    else:
        refused(match, params=params_of(**fields), repeat=LoadDataRepeatParam(**repeat))


@pytest.mark.rule("load3d-no-operation")
@pytest.mark.parametrize(
    ("fields", "repeat", "name"),
    [
        ({"l1_h": 0}, {}, "l1H"),
        ({"l1_w": 0}, {}, "l1W"),
        ({"channel_size": 0}, {}, "channelSize"),
        ({"k_extension": 0}, {}, "kExtension"),
        ({"m_extension": 0}, {}, "mExtension"),
        ({"filter_w": 0}, {}, "filterW"),
        ({"filter_h": 0}, {}, "filterH"),
        ({}, {"repeat_time": 0}, "repeatTime"),
    ],
)
def test_zeros_that_do_nothing(fields: dict, repeat: dict, name: str) -> None:
    """A zero that makes the instruction do nothing is an error, and with strict=False does nothing."""
    params, times = params_of(**fields), LoadDataRepeatParam(**repeat)
    refused(rf"^{name} = 0 .* strict=False", params=params, repeat=times)
    out = np.full((3, 2, 16, 16), 7, np.float16)
    assert al.load_data_3d_v2(src_of(), params, repeat=times, strict=False, out=out) is out
    assert (out == 7).all()
    nothing = al.load_data_3d_v2(src_of(), params, repeat=times, strict=False)
    assert nothing.dtype == np.float16
    assert nothing.size == 0
    traced = al.trace(al.Call(al.load_data_3d_v2, {
        "src": src_of(), "params": params, "repeat": times, "strict": False, "out": out}))  # fmt: skip
    assert traced.shape == out.shape
    assert str(traced.origin(0, 0, 0, 0)) == "never written"
    wrong = np.zeros((3, 2, 16, 16), np.float32)
    with pytest.raises(al.ParameterError, match=r"^out = "):
        al.load_data_3d_v2(src_of(), params, repeat=times, strict=False, out=wrong)


@pytest.mark.rule("load3d-small-k")
@pytest.mark.rule("load3d-f-matrix-ctrl")
def test_what_is_no_longer_supported() -> None:
    """The parameters enSmallK and fMatrixCtrl can only be false."""
    with pytest.raises(al.ParameterError, match=r"^enSmallK = True .* allowed: False .*no longer supported"):
        params_of(en_small_k=True)
    with pytest.raises(al.ParameterError, match=r"^fMatrixCtrl = True .* allowed: False .*only false"):
        params_of(f_matrix_ctrl=True)


@pytest.mark.rule("load3d-filter-size")
@pytest.mark.parametrize("axis", ["w", "h"])
def test_inference_ai_core_has_no_filter_size(axis: str) -> None:
    """On inference AI Core the 256 more points never reach the instruction, so they are refused."""
    params = params_of(channel_size=16, k_extension=16, **{f"filter_size_{axis}": True})
    refused(f"^filterSize{axis.upper()} = True .* False on {AI_CORE}", src=src_of(c1=1), params=params, product=AI_CORE)


@pytest.mark.rule("load3d-repeat")
def test_inference_ai_core_has_no_repeat() -> None:
    """There is no SetLoadDataRepeat on inference AI Core."""
    refused(
        f"^repeat = .* the default on {AI_CORE}", src=src_of(c1=1), params=params_of(channel_size=16, k_extension=16),
        product=AI_CORE, repeat=LoadDataRepeatParam(repeat_time=2),
    )  # fmt: skip


@pytest.mark.rule("load3d-dst-stride")
def test_dst_stride_is_checked() -> None:
    """Only Atlas 350 has dstStride, and it may not be so small that fractals overwrite each other."""
    refused(f"^dstStride = 3 .* 0 on {A2}; only {A350}", repeat=LoadDataRepeatParam(dst_stride=3))
    refused("^dstStride = 2 .* 0, or at least 3", repeat=LoadDataRepeatParam(dst_stride=2), product=A350)


@pytest.mark.parametrize(
    ("name", "value"),
    [("int8", 128), ("uint8", -1), ("int8", 0.5), ("half", 65505), ("int4", 8), ("bfloat16", 3.4e38), ("uint32", -1),
     ("fp8_e4m3fn", 449), ("int32", 2**31)],
)  # fmt: skip
def test_pad_values_outside_the_type(name: str, value: float) -> None:
    """A pad value that the data's type does not hold is refused by V1, V2 and im2col."""
    c0 = elements_in_32_bytes(TYPES[name])
    params = params_of(channel_size=c0, k_extension=c0, pad_value=value)
    for call in (al.im2col, al.load_data_3d_v2):
        with pytest.raises(al.ParameterError, match=r"^padValue = "):
            call(src_of(name, 1), params, **({} if call is al.im2col else {"product": A350 if name != "int4" else A2}))
    if name in ("int8", "uint8", "half"):
        with pytest.raises(al.ParameterError, match=r"^padValue = "):
            al.load_data_3d_v1(src_of(name), LoadData3DParamsV1(l1_h=5, l1_w=7, pad_value=value))


@pytest.mark.parametrize(
    "shape", [(2, 5, 7, 8), (1, 5, 7, 16), (2, 7, 5, 16), (35, 32), (1121,), (1119,), (0,), (1, 2, 5, 7, 16)]
)
def test_feature_maps_of_another_shape(shape: tuple[int, ...]) -> None:
    """The parameters decide the geometry; an array that does not fit is refused with the shapes that would."""
    refused(r"^src = .* allowed: shape \(C1, H, W, C0\) = \(2, 5, 7, 16\), or the flat L1 image of 5 \* 7 \* 32 = 1120",
            src=np.zeros(shape, np.float16))  # fmt: skip


def test_a_map_with_a_channel_tail_is_flat() -> None:
    """With a packed tail there is no (C1, H, W, C0) form; the error says how many elements the image has."""
    refused(r"^src = .* the flat L1 image of 5 \* 7 \* 20 = 700 elements",
            params=params_of(channel_size=20, k_extension=20))  # fmt: skip


@pytest.mark.parametrize(
    ("argument", "value"),
    [("dst", "A1"), ("dst", None), ("dst", ["A2"]), ("repeat", None), ("repeat", {}), ("product", "Atlas A2"),
     ("strict", 1), ("check_capacity", None), ("allow_large", 0), ("params", LoadData3DParamsV1(l1_h=5, l1_w=7)),
     ("src", None), ("src", [[0]])],
)  # fmt: skip
def test_odd_arguments(argument: str, value: object) -> None:
    """Each argument is named in the error, also when the same call was already planned and kept."""
    al.load_data_3d_v2(src_of(), params_of(), allow_large=False)
    arguments = {"src": src_of(), "params": params_of(), argument: value}
    with pytest.raises(al.ParameterError, match=rf"^{argument} = "):
        al.load_data_3d_v2(**arguments)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((3, 2, 16, 16), np.float32),
        np.zeros((2, 3, 16, 16), np.float16),
        np.zeros((3, 2, 16, 32), np.float16)[..., ::2],
        np.zeros(1536, np.float16),
        [0],
        np.zeros((3, 2, 16, 16), np.float16, order="F"),
    ],
    ids=["type", "shape", "steps", "flat", "list", "order"],
)  # fmt: skip
def test_out_is_checked(out: object) -> None:
    """The argument out has the exact type and shape, in C order."""
    with pytest.raises(al.ParameterError, match=r"^out = "):
        al.load_data_3d_v2(src_of(), params_of(), out=out)


def test_out_may_not_share_memory_with_src() -> None:
    """A result that would overwrite its own source is refused."""
    base = np.zeros(3 * 2 * 16 * 16, np.float16)
    with pytest.raises(al.ParameterError, match=r"^out = .* shares no memory"):
        al.load_data_3d_v2(base[:1120], params_of(), out=base.reshape(3, 2, 16, 16))


@pytest.mark.rule("load3d-capacity")
@pytest.mark.parametrize(("dst", "buffer"), [("A2", "L0A"), ("B2", "L0B")])
def test_capacity(dst: str, buffer: str) -> None:
    """With check_capacity a result of more than 64 KiB is refused for L0A and L0B; without it, it is made."""
    src = np.zeros((1, 32, 64, 16), np.float16)
    fits = LoadData3DParamsV2(l1_h=32, l1_w=64, channel_size=16, m_extension=2048, k_extension=16)
    assert al.load_data_3d_v2(src, fits, dst=dst, check_capacity=True).nbytes == 65536
    more = dataclasses.replace(fits, l1_w=63, filter_w=2, k_extension=32, m_extension=32 * 62)
    wide = np.zeros((1, 32, 63, 16), np.float16)
    assert al.load_data_3d_v2(wide, more, dst=dst).nbytes == 126976
    with pytest.raises(al.BufferOverflowError, match=rf"^{buffer}: 126,976 bytes needed, 65,536 .* 2 blocks"):
        al.load_data_3d_v2(wide, more, dst=dst, check_capacity=True)
    v1 = LoadData3DParamsV1(l1_h=32, l1_w=64, repeat_mode=1, repeat_time=128)
    al.load_data_3d_v1(src, v1, dst=dst, check_capacity=True)
    with pytest.raises(al.BufferOverflowError, match=buffer):
        al.load_data_3d_v1(src, dataclasses.replace(v1, repeat_time=65, jump_stride=2), dst=dst, check_capacity=True)


def test_large_results_are_refused_before_they_are_made() -> None:
    """More than 4 GiB is refused at once, whether as a matrix, as fractals, or as a copy of the feature map."""
    params = LoadData3DParamsV2(
        l1_h=250, l1_w=262, channel_size=16, filter_h=63, filter_w=65, pad_list=(32, 32, 31, 31),
        m_extension=65488, k_extension=63 * 65 * 16 // 16 * 16,
    )  # fmt: skip
    src = np.zeros((1, 250, 262, 16), np.float16)
    for call in (al.im2col, al.load_data_3d_v2):
        with pytest.raises(al.BufferOverflowError, match="results over 4 GiB are refused"):
            call(src, params)
    huge = np.broadcast_to(np.float16(1), (4, 8192, 8192, 16))
    tiny = LoadData3DParamsV2(l1_h=8192, l1_w=8192, channel_size=64, m_extension=16, k_extension=16)
    with pytest.raises(al.BufferOverflowError, match="a copy of src"):
        al.load_data_3d_v2(huge, tiny)


def test_refused_calls_allocate_nothing_large() -> None:
    """A block of gigabytes that is refused, for the capacity or for its `out`, costs no memory first, plan included."""
    params = LoadData3DParamsV2(
        l1_h=128, l1_w=256, channel_size=16, filter_h=32, filter_w=64, pad_list=(31, 32, 15, 16),
        m_extension=32768, k_extension=32768,
    )  # fmt: skip
    src = np.zeros((1, 128, 256, 16), np.float16)
    tracemalloc.start()
    try:
        with pytest.raises(al.BufferOverflowError, match="L0A: 2,147,483,648 bytes needed"):
            al.load_data_3d_v2(src, params, check_capacity=True)
        with pytest.raises(al.ParameterError, match=r"^out = .* shape \(2048, 2048, 16, 16\)"):
            al.load_data_3d_v2(src, params, out=np.zeros(1, np.float16))
        with pytest.raises(al.ParameterError, match=r"^out = "):
            al.im2col(src, params, out=np.zeros(1, np.float16))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.rule("load3d-v1-first-window")
@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"left_top_w": 0, "stride_w": 2}, r"^leftTopW = 0 .* -1 \+ n \* 2 with n in \[0, 3\]"),
        ({"left_top_w": -2}, r"^leftTopW = -2 "),
        ({"left_top_w": 7}, r"^leftTopW = 7 .* n in \[0, 6\]"),
        ({"left_top_h": 5}, r"^leftTopH = 5 .* 0 \+ n \* 1 with n in \[0, 4\]"),
    ],
)
def test_v1_starts_at_a_window(fields: dict, match: str) -> None:
    """The corner of V1's first window is the corner of one of the windows; the error lists them."""
    with pytest.raises(al.ParameterError, match=match):
        al.load_data_3d_v1(src_of(), LoadData3DParamsV1(**{
            "l1_h": 5, "l1_w": 7, "pad_list": (1, 0, 0, 0), "filter_w": 2, "left_top_w": -1, **fields}))  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"fetch_filter_w": 2}, r"^fetchFilterW = 2 .* less than filterW = 2"),
        ({"fetch_filter_h": 3}, r"^fetchFilterH = 3 .* less than filterH = 3"),
        ({"c1_index": 2}, r"^c1Index = 2 .* less than C1 = 2"),
        ({"repeat_time": 13}, r"^repeatTime = 13 .* at most 12: src has C1 \* Hk \* Wk = 2 \* 3 \* 2 = 12"),
        ({"repeat_time": 9, "c1_index": 1}, r"^repeatTime = 9 .* at most 6: .* is at number 6"),
        ({"repeat_time": 13, "repeat_mode": 1}, None),
        ({"filter_h": 6}, r"^filterH = 6 .* Ho = "),
    ],
)
def test_v1_stays_in_the_filter_and_the_channels(fields: dict, match: str | None) -> None:
    """V1's filter point and channel group exist for every repeat."""
    params = LoadData3DParamsV1(**{"l1_h": 5, "l1_w": 7, "filter_h": 3, "filter_w": 2, **fields})
    if match is None:
        al.load_data_3d_v1(src_of(), params)
    else:
        with pytest.raises(al.ParameterError, match=match):
            al.load_data_3d_v1(src_of(), params)


@pytest.mark.rule("load3d-v1-c-size")
def test_v1_c_size_is_checked() -> None:
    """With cSize = 1 the map has 4 or 8 channels and one group, and repeats end with the filter's last points."""
    params = LoadData3DParamsV1(l1_h=5, l1_w=7, c_size=1, filter_h=3, filter_w=3, repeat_time=3)
    assert al.load_data_3d_v1(np.zeros((5, 7, 4), np.float16), params).shape == (3, 16, 16)
    assert al.load_data_3d_v1(np.zeros((5, 7, 8), np.int8), params).shape == (3, 16, 32)
    with pytest.raises(al.ParameterError, match=r"^src = .* \(5, 7, 4\)"):
        al.load_data_3d_v1(np.zeros((5, 7, 8), np.float16), params)
    with pytest.raises(al.ParameterError, match=r"^c1Index = 1 .* 0 with cSize = 1"):
        al.load_data_3d_v1(np.zeros((5, 7, 4), np.float16), dataclasses.replace(params, c1_index=1))
    with pytest.raises(al.ParameterError, match=r"^repeatTime = 4 .* at most 3"):
        al.load_data_3d_v1(np.zeros((5, 7, 4), np.float16), dataclasses.replace(params, repeat_time=4))


@pytest.mark.parametrize("shape", [(0, 5, 7, 16), (5, 7, 8), (559,), (0,), (2, 5, 7, 32)])
def test_v1_feature_maps_of_another_shape(shape: tuple[int, ...]) -> None:
    """V1 takes (C1, H, W, C0), or flat with whole groups."""
    with pytest.raises(
        al.ParameterError, match=r"^src = .* \(C1, 5, 7, 16\), \(H, W, C0\), or flat with C1 \* 560 elements"
    ):
        al.load_data_3d_v1(np.zeros(shape, np.float16), LoadData3DParamsV1(l1_h=5, l1_w=7))


@pytest.mark.rule("load3d-not-emulated")
@pytest.mark.parametrize("name", ["LoadData3DParamsV2Pro", "SetLoadDataBoundary", "TensorTrait"])
def test_what_is_not_emulated_says_so(name: str) -> None:
    """Names that the documents mention and the library leaves out are refused with the reason."""
    with pytest.raises(AttributeError, match=f"^{name} is not emulated: "):
        getattr(load3d, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        load3d.nonsense  # noqa: B018
