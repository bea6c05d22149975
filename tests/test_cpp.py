"""Ascend C and Python code made from parameter objects and calls."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy as np
import pytest
from cpp_objects import STRUCTURES, leaves, objects
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendlab
from ascendlab import (
    MASK_PLACEHOLDER,
    AippChannelPaddingParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSwapParams,
    Call,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
    LoadImageToLocalParams,
    ParameterError,
    Product,
    UnaryRepeatParams,
    bilinear_interpolation,
    csc_preset,
    im2col,
    load_data_3d_v1,
    load_data_3d_v2,
    load_image_to_local,
    set_aipp_functions,
    vector_padding,
)
from ascendlab.cpp import to_cpp
from ascendlab.fields import Parameters
from ascendlab.pictures import number_picture, to_format
from ascendlab.pycode import to_python

WINDOW = LoadImageToLocalParams(horiz_size=6, vert_size=4, src_horiz_size=8, horiz_start_pos=2, right_pad_size=3)
PUBLIC = {name: getattr(ascendlab, name) for name in ascendlab.__all__}


def make_call(input_format: AippInputFormat = AippInputFormat.YUV420SP_U8, **more: Any) -> Call:
    """Return a call on the picture of numbers."""
    src0, src1 = to_format(number_picture(), input_format)
    arguments = {"input_format": input_format, "config": AippParams(), "dtype": "int8", **more}
    setup = set_aipp_functions(src0, src1, **arguments)
    return Call(load_image_to_local, {"setup": setup, "params": WINDOW})


def assignments(code: str) -> dict[str, str]:
    """Read the assignments to members back."""
    return dict(re.findall(r"^(\S+\.\S+) = (.*);$", code, re.MULTILINE))


def test_only_what_differs_from_cpp_defaults_is_written() -> None:
    """A default structure needs nothing but the members that C++ leaves uninitialised."""
    assert assignments(to_cpp(AippParams(), dtype="half")) == {
        "aippConfig.cPaddingParams.cPaddingMode": "0",
        "aippConfig.cPaddingParams.cPaddingValue": "static_cast<half>(0.0)",
    }
    assert to_cpp(AippSwapParams()) == "AscendC::AippSwapParams aippSwapParams;"


def test_values_are_written_in_their_type() -> None:
    """Constants take the output type, half members are half, switches are true and false."""
    config = AippParams(
        padding_params=AippPaddingParams(padding_mode=0, padding_value_ch1=-3),
        swap_params=AippSwapParams(is_swap_uv=True),
        dtc_params=AippDataTypeConvParams(dtc_var_ch2=1 / 255, dtc_mean_ch0=104),
        c_padding_params=AippChannelPaddingParams(c_padding_mode=1, c_padding_value=7),
    )
    assert assignments(to_cpp(config, dtype="int8")) == {
        "aippConfig.paddingParams.paddingValueCh1": "-3",
        "aippConfig.swapParams.isSwapUV": "true",
        "aippConfig.dtcParams.dtcMeanCh0": "104",
        "aippConfig.dtcParams.dtcVarCh2": "static_cast<half>(0.00392)",
        "aippConfig.cPaddingParams.cPaddingMode": "1",
        "aippConfig.cPaddingParams.cPaddingValue": "7",
    }
    half = to_cpp(config, dtype=np.float16)
    assert half.startswith("AscendC::AippParams<half> aippConfig;")
    assert assignments(half)["aippConfig.paddingParams.paddingValueCh1"] == "static_cast<half>(-3.0)"
    assert to_cpp(config).startswith("AscendC::AippParams<T> aippConfig;")


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: s.__name__)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_structure_is_written_completely(structure: type[Parameters], data: st.DataObject) -> None:
    """Whatever the values, C++ names every member that is not at its default, and Python reads back equal."""
    params = data.draw(objects(structure))
    code = to_cpp(params)
    expected = set()
    for path, value, spec in leaves(params):
        default = spec.default[0] if spec.length else spec.default
        if spec.always_emit or spec.required or value != default or str(value) == "-0.0":
            expected.add(path)
    assert {f".{name.partition('.')[2]}" for name in assignments(code)} == expected
    back = eval(to_python(params), dict(PUBLIC))
    assert back == params
    assert repr(back) == repr(params), "a negative zero got lost"


def test_a_call_is_written_as_the_documents_example_is() -> None:
    """The lines of a YUV420SP call: both planes, the format, the configuration, the window in braces."""
    code = to_cpp(make_call(config=AippParams(padding_params=AippPaddingParams(padding_mode=2))))
    lines = [line for line in code.splitlines() if not line.startswith("//")]
    assert lines == [
        "uint32_t gmSrc0Size = 64;",
        "AscendC::AippInputFormat inputFormat = AscendC::AippInputFormat::YUV420SP_U8;",
        "AscendC::AippParams<int8_t> aippConfig;",
        "aippConfig.paddingParams.paddingMode = 2;",
        "aippConfig.cPaddingParams.cPaddingMode = 0;",
        "aippConfig.cPaddingParams.cPaddingValue = 0;",
        "AscendC::SetAippFunctions(fmGlobal, fmGlobal[gmSrc0Size], inputFormat, aippConfig);",
        "uint16_t horizSize = 6, vertSize = 4, horizStartPos = 2, vertStartPos = 0;",
        "uint16_t srcHorizSize = 8, leftPadSize = 0, rightPadSize = 3;",
        "uint8_t topPadSize = 0, botPadSize = 0;",
        "AscendC::LoadImageToLocal(featureMapA1, {",
        "    horizSize, vertSize, horizStartPos, vertStartPos, srcHorizSize, topPadSize,",
        "    botPadSize, leftPadSize, rightPadSize });",
    ]


def test_formats_of_one_plane_have_one_source() -> None:
    """RGB888 takes the overload with a single tensor."""
    code = to_cpp(make_call(AippInputFormat.RGB888_U8))
    assert "AscendC::SetAippFunctions(fmGlobal, inputFormat, aippConfig);" in code
    assert "gmSrc0Size" not in code


@pytest.mark.parametrize(
    "call",
    [
        make_call(),
        make_call(AippInputFormat.XRGB8888_U8, dtype="half", product=Product.ATLAS_200I_500_A2,
                  config=AippParams(swap_params=AippSwapParams(is_swap_ax=True),
                                    dtc_params=AippDataTypeConvParams(dtc_var_ch0=0.0171, dtc_round_mode=1))),
        make_call(config=AippParams(csc_params=csc_preset("yuv_to_rgb_bt709_narrow", profile="dav_3510")),
                  product=Product.ATLAS_350, profile="dav_3510", dtype="uint8"),
    ],
    ids=["defaults", "half", "dav_3510"],
)  # fmt: skip
def test_python_code_makes_an_equal_call(call: Call) -> None:
    """The text, run as it stands where the sources are known, makes the same objects and the same array."""
    setup, params = call.arguments["setup"], call.arguments["params"]
    names: dict[str, Any] = {"src0": setup.src0, "src1": setup.src1}
    exec(to_python(call), names)
    assert names["params"] == params
    made = names["setup"]
    for name in ("config", "input_format", "dtype", "product", "profile"):
        assert getattr(made, name) == getattr(setup, name), name
    assert made.src0 is setup.src0
    assert made.src1 is setup.src1
    np.testing.assert_array_equal(names["result"], call.run())


def test_python_code_leaves_defaults_out() -> None:
    """Nothing is written that would be so anyway."""
    text = to_python(make_call())
    assert "profile" not in text
    assert "product" not in text
    assert "padding_params" not in text
    assert max(map(len, text.splitlines())) <= 84


def test_what_has_no_code_is_refused() -> None:
    """Anything but a parameter object or a call of an emulated function is an error by name."""
    with pytest.raises(ParameterError, match="a parameter object or a Call"):
        to_cpp(3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="load_image_to_local"):
        to_cpp(Call(len, {}))
    with pytest.raises(ParameterError, match="params"):
        to_cpp(Call(load_image_to_local, {"setup": make_call().arguments["setup"], "params": None}))


HALVES = np.arange(512, dtype=np.float16)


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"src": HALVES, "pad_mode": 1, "pad_side": True, "count": 77},
         ["uint8_t padMode = 1;", "bool padSide = true;",
          "AscendC::VectorPadding(dstLocal, srcLocal, padMode, padSide, 77);"]),
        ({"src": HALVES, "pad_mode": 0, "pad_side": False, "mask": 100, "repeat_time": 2,
          "repeat_params": UnaryRepeatParams(2, 1, 16, 8)},
         ["uint8_t padMode = 0;", "bool padSide = false;", "uint64_t mask = 100;",
          "AscendC::VectorPadding(dstLocal, srcLocal, padMode, padSide, mask,", "    2, { 2, 1, 16, 8 });"]),
        ({"src": HALVES, "pad_mode": 0, "pad_side": False, "mask": (8, 2**63)},
         ["uint8_t padMode = 0;", "bool padSide = false;", "uint64_t mask[2] = { 0x8ULL, 0x8000000000000000ULL };",
          "AscendC::VectorPadding(dstLocal, srcLocal, padMode, padSide, mask,", "    1, { 1, 1, 8, 8 });"]),
        ({"src": HALVES, "pad_mode": 0, "pad_side": False, "mask": MASK_PLACEHOLDER, "vector_mask": 65},
         ["uint8_t padMode = 0;", "bool padSide = false;",
          "AscendC::SetVectorMask<half>(0x1ULL, 0xffffffffffffffffULL);",
          "AscendC::VectorPadding<half, false>(dstLocal, srcLocal, padMode, padSide, AscendC::MASK_PLACEHOLDER,",
          "    1, { 1, 1, 8, 8 });"]),
        ({"src": HALVES.astype(np.int32), "pad_mode": 2, "pad_side": False, "mask": MASK_PLACEHOLDER, "vector_mask": 3},
         ["uint8_t padMode = 2;", "bool padSide = false;", "AscendC::SetVectorMask<int32_t>(0x0ULL, 0x7ULL);",
          "AscendC::VectorPadding<int32_t, false>(dstLocal, srcLocal, padMode, padSide, AscendC::MASK_PLACEHOLDER,",
          "    1, { 1, 1, 8, 8 });"]),
    ],
    ids=["count", "continuous", "bitwise", "placeholder", "placeholder of b32"],
)  # fmt: skip
def test_each_form_of_vector_padding(arguments: dict[str, Any], lines: list[str]) -> None:
    """Each overload is written with its own mask, count or template argument."""
    call = Call(vector_padding, arguments)
    assert [line for line in to_cpp(call).splitlines() if not line.startswith("//")] == lines
    names: dict[str, Any] = {"src": arguments["src"]}
    exec(to_python(call), names)
    np.testing.assert_array_equal(names["result"], call.run())


@pytest.mark.parametrize(("mask", "declared"), [(128, "mask = 128;"), ([8, 0], "mask[2] = { 0x8ULL, 0x0ULL };")])
def test_both_forms_of_bilinear_interpolation(mask: Any, declared: str) -> None:
    """The document's example, with either mask; the arguments stand in the document's order."""
    arguments = {
        "src0": HALVES, "src0_offset": np.arange(0, 1024, 32, dtype=np.uint32),
        "src1": np.arange(2, 18, dtype=np.float16), "mask": mask, "h_repeat": 2, "repeat_mode": False,
        "dst_blk_stride": 1, "v_roffset": 128, "v_repeat": 2, "shared_tmp_buffer_size": 16896,
    }  # fmt: skip
    call = Call(bilinear_interpolation, arguments)
    assert [line for line in to_cpp(call).splitlines() if not line.startswith("//")] == [
        f"uint64_t {declared}",
        "uint8_t hRepeat = 2;",
        "bool repeatMode = false;",
        "uint16_t dstBlkStride = 1;",
        "uint16_t vROffset = 128;",
        "uint8_t vRepeat = 2;",
        "AscendC::BilinearInterpolation(dstLocal, src0Local, src0OffsetLocal, src1Local, mask,",
        "    hRepeat, repeatMode, dstBlkStride, vROffset, vRepeat, tmpLocal);",
    ]
    names = {name: arguments[name] for name in ("src0", "src0_offset", "src1")}
    text = to_python(call)
    assert "shared_tmp_buffer_size=16896" in text
    exec(text, names)
    np.testing.assert_array_equal(names["result"], call.run())


@pytest.mark.parametrize("part", [AippPaddingParams(padding_value_ch0=-0.0), AippDataTypeConvParams(dtc_min_ch0=-0.0)])
def test_a_negative_zero_is_not_the_default(part: Parameters) -> None:
    """Half knows a negative zero, and so does the code; integer types do not."""
    assert "=-0.0)" in to_python(part)
    assert "static_cast<half>(-0.0);" in to_cpp(part, dtype="half")
    config = AippParams(padding_params=AippPaddingParams(padding_value_ch2=-0.0))
    assert to_python(config) == "AippParams(padding_params=AippPaddingParams(padding_value_ch2=-0.0))"
    assert assignments(to_cpp(config, dtype="int8"))["aippConfig.paddingParams.paddingValueCh2"] == "0"


@pytest.mark.parametrize(("value", "dtype"), [(300, "uint8"), (1.5, "int8"), (-1, "uint8"), (128, "int8")])
def test_constants_that_the_type_does_not_hold_are_refused(value: float, dtype: str) -> None:
    """C++ would cut such a constant down to something else."""
    with pytest.raises(ParameterError, match=r"^paddingValueCh0 = .*table 3.*The type is"):
        to_cpp(AippPaddingParams(padding_value_ch0=value), dtype=dtype)
    assert "paddingValueCh0" in to_cpp(AippPaddingParams(padding_value_ch0=value), dtype="half")


def test_load3d_of_both_versions() -> None:
    """Repeats are set beforehand, members in the document's order; destination B2 is loaded from B1."""
    src = np.zeros((1, 5, 6, 16), np.float16)
    params = LoadData3DParamsV2(l1_h=5, l1_w=6, channel_size=16, filter_w=3, pad_list=(0, 0, 0, 2), pad_value=-1,
                                m_extension=16, k_extension=16)  # fmt: skip
    repeat = LoadDataRepeatParam(repeat_time=2, repeat_mode=1, repeat_stride=1)
    call = Call(load_data_3d_v2, {"src": src, "params": params, "dst": "B2", "repeat": repeat})
    assert to_cpp(call).splitlines() == [
        "// featureMapB1: LocalTensor<half>, the feature map in L1",
        "// fractalsB2: LocalTensor<half>, the result in L0B",
        "AscendC::LoadDataRepeatParam loadDataRepeatParam;",
        "loadDataRepeatParam.repeatStride = 1;",
        "loadDataRepeatParam.repeatTime = 2;",
        "loadDataRepeatParam.repeatMode = 1;",
        "AscendC::SetLoadDataRepeat(loadDataRepeatParam);",
        "AscendC::LoadData3DParamsV2<half> loadData3DParamsV2;",
        "loadData3DParamsV2.padList[3] = 2;",
        "loadData3DParamsV2.l1H = 5;",
        "loadData3DParamsV2.l1W = 6;",
        "loadData3DParamsV2.channelSize = 16;",
        "loadData3DParamsV2.kExtension = 16;",
        "loadData3DParamsV2.mExtension = 16;",
        "loadData3DParamsV2.filterW = 3;",
        "loadData3DParamsV2.padValue = static_cast<half>(-1.0);",
        "AscendC::LoadData(fractalsB2, featureMapB1, loadData3DParamsV2);",
    ]
    first = LoadData3DParamsV1(l1_h=5, l1_w=6, filter_w=3, repeat_time=3)
    code = to_cpp(Call(load_data_3d_v1, {"src": src, "params": first}))
    assert "SetLoadDataRepeat" not in code
    assert code.splitlines()[-1] == "AscendC::LoadData(fractalsA2, featureMapA1, loadData3DParamsV1);"
    assert assignments(code)["loadData3DParamsV1.repeatTime"] == "3"
    small = to_cpp(LoadData3DParamsV2(l1_h=5, l1_w=6, channel_size=16, pad_value=0.5), dtype="bfloat16")
    assert "padValue = static_cast<bfloat16_t>(0.5f);" in small
    with pytest.raises(ParameterError, match="function"):
        to_cpp(Call(im2col, {"src": src, "params": params}))
    with pytest.raises(ParameterError, match="kExtension = 99"):
        to_cpp(Call(load_data_3d_v2, {"src": src, "params": dataclasses.replace(params, k_extension=99)}))


@pytest.mark.parametrize("write", [to_cpp, to_python])
def test_calls_with_wrong_arguments_have_no_code(write: Any) -> None:
    """A missing argument and one that nobody takes are refused, as the call itself refuses them."""
    arguments = dict(make_call().arguments)
    with pytest.raises(ParameterError, match=r"^arguments = .*missing"):
        write(Call(load_image_to_local, {}))
    with pytest.raises(ParameterError, match=r"^arguments = .*unexpected"):
        write(Call(load_image_to_local, {**arguments, "stride": 2}))


def test_impossible_calls_have_no_cpp() -> None:
    """What the call refuses never becomes C++."""
    window = LoadImageToLocalParams(horiz_size=80, vert_size=4, src_horiz_size=8)
    with pytest.raises(ParameterError, match=r"^horizSize = 80"):
        to_cpp(Call(load_image_to_local, {"setup": make_call().arguments["setup"], "params": window}))


class Unhashable:
    """A callable that no table can hold."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    "function",
    [Unhashable(), functools.partial(load_image_to_local), lambda: None],
    ids=["unhashable", "partial", "lambda"],
)
def test_functions_without_a_name_have_no_code(function: Any) -> None:
    """Only what can be imported by its name can stand in a script."""
    arguments = make_call().arguments if isinstance(function, functools.partial) else {}
    for write in (to_cpp, to_python):
        with pytest.raises(ParameterError, match=r"^function = "):
            write(Call(function, arguments))
    with pytest.raises(ParameterError, match="allowed: a"):
        to_python(function)


@pytest.mark.parametrize("value", [10**5000, -(10**100), 7, True, None, "a\"b'", float("inf"), (1,), [1, (2, "x")]],
                         ids=lambda value: type(value).__name__)  # fmt: skip
def test_plain_values_read_back_equal(value: Any) -> None:
    """Numbers of any length, infinities, texts and sequences are written so that Python reads the same."""
    assert eval(to_python(value)) == value


def test_objects_are_no_plain_values() -> None:
    """A text that Python cannot read is not written."""
    with pytest.raises(ParameterError, match=r"^what = .*a plain value"):
        to_python(object())
