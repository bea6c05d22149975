"""Ascend C read back: exactly what was written, in whatever form."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from cpp_objects import ELEMENTS, REGISTERS, STRUCTURES, objects, registers
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendlab as al
from ascendlab import ParameterError, from_cpp, read_cpp, to_cpp
from ascendlab.capi.registers import Gm2l1NzPara, L13dFmatrixConfig, Load3dV2Config, PaddingRegister
from ascendlab.dtypes import DataType
from ascendlab.fields import UNINITIALISED, Parameters, cpp_fields, fields_of
from ascendlab.pictures import number_picture, to_format

LITERALS = st.sampled_from([*ELEMENTS, None])


def check_read(text: str, params: Any, kind: DataType | None) -> None:
    """Compare what a text means with an object, to the sign of a zero where the type has one."""
    back = from_cpp(text)
    assert back == params, text
    if kind is None or not kind.name.startswith(("int", "uint")):
        assert repr(back) == repr(params), f"a negative zero got lost\n{text}"


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: s.__name__)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read_back(structure: type[Parameters], data: st.DataObject) -> None:
    """Whatever the values and the element type, reading what was written gives the same object."""
    kind = data.draw(LITERALS) if structure.template else None
    params = data.draw(objects(structure, kind))
    check_read(to_cpp(params, dtype=kind), params, kind)


@pytest.mark.parametrize("kind", REGISTERS, ids=lambda k: k.__name__)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_registers_are_read_back(kind: Any, data: st.DataObject) -> None:
    """Every word of a register survives, whether the C API has a union for it or a call."""
    register = data.draw(registers(kind))
    assert from_cpp(to_cpp(register)) == register


# Noise


def tokens(code: str) -> list[str]:
    """Cut code that was written here into pieces that anything may stand between."""
    return re.findall(r"\.?\d(?:[eE][-+]|[\w.])*|[A-Za-z_]\w*|::|\S", re.sub(r"//[^\n]*", "", code))


def spoken(number: str, rng: random.Random) -> str:
    """Write an integer in another form."""
    value = int(number.rstrip("UL"), 0)
    digits = f"{value}"
    separated = "'".join([digits[:1], digits[1:]]) if len(digits) > 1 else digits
    suffix = rng.choice(["U", "u", "ULL", "ul", "LL" if value < 2**63 else "ull"])
    forms = [hex(value), f"0X{value:X}", bin(value), f"0{value:o}", f"{digits}{suffix}", separated + suffix]
    forms += [
        f"({hex(value)})",
        f"static_cast<uint64_t>({hex(value)})",
        f"(uint64_t){digits}ULL",
        f"uint64_t({digits}ULL)",
    ]
    return rng.choice(forms)


def noisy(code: str, rng: random.Random) -> str:
    """Write the same code differently: other layout, comments, numbers, casts, and the assignments in another order."""
    code = code.replace("AscendC::", rng.choice(["AscendC::", "", "AscendC :: "]))
    first, *rest = code.splitlines()
    rng.shuffle(rest)
    # Of two assignments the last one counts.
    again = [re.sub(r"\[\d\]|= .*", lambda found: found[0], line) for line in rest]
    code = "\n".join([first, *rng.sample(again, len(again) // 3), *rest])
    code = re.sub(r"static_cast<(\w+)>\(", lambda f: rng.choice([f[0], f"({f[1]})(", f"{f[1]}("]), code)
    pieces = []
    for piece in tokens(code):
        if re.fullmatch(r"(0x)?[\da-fA-F]+(ULL)?", piece) and piece[0].isdigit() and pieces[-1] == "=":
            piece = spoken(piece, rng)
        pieces += [
            piece,
            rng.choice(["", "", " ", "\n", "\t ", " \\\n ", "/* = 7; */", " // p.x = 1;\n", "/* \\\n * /\n*/"]),
        ]
        # Two names, or two numbers, need something between them.
        pieces.append(" " if piece[-1].isalnum() or piece[-1] == "_" else "")
    return rng.choice(["", "using namespace AscendC;\n"]) + "".join(pieces)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: s.__name__)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_the_layout_does_not_matter(structure: type[Parameters], data: st.DataObject) -> None:
    """Comments, spaces, line ends, the order of assignments, casts and the form of numbers change nothing."""
    kind = data.draw(LITERALS) if structure.template else None
    params = data.draw(objects(structure, kind))
    check_read(noisy(to_cpp(params, dtype=kind), data.draw(st.randoms(use_true_random=False))), params, kind)


def in_braces(params: Parameters, kind: DataType | None, rng: random.Random) -> str:
    """Write a structure in braces: all members in C++'s order, or by name those that are not at their default."""
    named, parts = rng.random() < 0.5, []
    for name, spec in cpp_fields(type(params)).items():
        value = getattr(params, name)
        if named and spec.structure is None and value == spec.default and str(value) != "-0.0" and rng.random() < 0.7:
            continue  # C++ clears what has no default of its own
        if spec.structure is not None:
            text = in_braces(value, kind, rng)
        elif spec.length:
            text = "{ " + ", ".join(map(str, value)) + " }"
        else:
            text = str(value).lower() if spec.cpp_type == "bool" else repr(value)
            if spec.cpp_type in ("half", "T") and rng.random() < 0.5:
                text = f"{{{text}}}"
        parts.append(f".{spec.document_name} = {text}" if named else text)
    return "{" + ", ".join(parts) + rng.choice(["", ","] if parts else [""]) + "}"


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: s.__name__)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_initialisers_are_read(structure: type[Parameters], data: st.DataObject) -> None:
    """Braces mean the members in the order of the document, or those that they name; nested structures too."""
    kind = data.draw(LITERALS) if structure.template else None
    params = data.draw(objects(structure, kind))
    rng = data.draw(st.randoms(use_true_random=False))
    if any(spec.always_emit and spec.cpp_start is not UNINITIALISED for spec in fields_of(structure).values()):
        rng.random = lambda: 0.9  # type: ignore[method-assign]  # version 1 leaves nothing out
    argument = f"<{kind.cpp if kind else 'T'}>" if structure.template else ""
    kind_name = f"{structure.cpp_name}{argument}"
    braces = in_braces(params, kind, rng)
    form = rng.choice(
        [
            "{k} p = {b};",
            "{k} p{b};",
            "auto p = {k}{b};",
            "const {k} p = {k}{b};",
            "static {k} p = {b};",
            "{k} p; p = {b};",
        ]
    )
    check_read(form.replace("{k}", kind_name).replace("{b}", braces), params, kind)


# What is understood


V2 = {"l1_h": 0, "l1_w": 0, "channel_size": 0}
FORMS: list[tuple[str, Any]] = [
    ("AscendC::AippSwapParams s; s.isSwapRB = true;", al.AippSwapParams(is_swap_rb=True)),
    ("struct UnaryRepeatParams p;", al.UnaryRepeatParams()),
    ("UnaryRepeatParams p(2, 3, 16, 24);", al.UnaryRepeatParams(2, 3, 16, 24)),
    ("UnaryRepeatParams p = UnaryRepeatParams(2, 3);", al.UnaryRepeatParams(2, 3)),
    ("constexpr IsResetLoad3dConfig CONFIG = {true, false};", al.IsResetLoad3dConfig(is_set_padding=False)),
    ("AippSwapParams s; s.isSwapRB = 1; s.isSwapRB = 0;", al.AippSwapParams()),
    ("AippSwapParams s; s.isSwapUV = false; s = {.isSwapRB = true};", al.AippSwapParams(is_swap_rb=True)),
    ("uint8_t n = 3, m{4}, k(5); UnaryRepeatParams p = {n, m, k, 6};", al.UnaryRepeatParams(3, 4, 5, 6)),
    ("UnaryRepeatParams p = {5 + -7 / 2, 6 + -7 % 4, 9 - 4 - 3};", al.UnaryRepeatParams(2, 3, 2)),
    ("const auto n = 3; UnaryRepeatParams p = {n, n};", al.UnaryRepeatParams(3, 3)),
    ("uint8_t n; n = 9; UnaryRepeatParams p{n};", al.UnaryRepeatParams(9)),
    ("uint64_t mask[2] = { UINT64_MAX, 7 }; UnaryRepeatParams p; p.dstBlkStride = mask[1] * 2;",
     al.UnaryRepeatParams(14)),
    ("uint8_t pads[4] = {1, 2}; LoadData3DParamsV2<half> p = {pads};",
     al.LoadData3DParamsV2(**V2, pad_list=(1, 2, 0, 0))),
    ("LoadData3DParamsV2<half> p; p.padList[1 + 1] = 0b11;", al.LoadData3DParamsV2(**V2, pad_list=(0, 0, 3, 0))),
    ("LoadData3DParamsV2<half> p; p.l1W = 16 * 2 - (7 % 4) / 2;", al.LoadData3DParamsV2(**{**V2, "l1_w": 31})),
    ("LoadData3DParamsV2<half> p; p.l1W = 256 / sizeof(half);", al.LoadData3DParamsV2(**{**V2, "l1_w": 128})),
    ("LoadData3DParamsV2<half> p; p.l1W = 1 << 4 | 0xFF & 0x13 ^ 1;",
     al.LoadData3DParamsV2(**{**V2, "l1_w": 16 | (0xFF & 0x13) ^ 1})),
    ("LoadData3DParamsV2<int8_t> p; p.padValue = -128;", al.LoadData3DParamsV2(**V2, pad_value=-128)),
    ("LoadData3DParamsV2<float> p; p.padValue = 0.1f;", al.LoadData3DParamsV2(**V2, pad_value=float(np.float32(0.1)))),
    ("LoadData3DParamsV2<half> p; p.padValue = (half)1.0 ;", al.LoadData3DParamsV2(**V2, pad_value=1)),
    ("LoadData3DParamsV2<half> p; p.padValue = -half(0x1.8p1);", al.LoadData3DParamsV2(**V2, pad_value=-3)),
    ("AippDataTypeConvParams d; d.dtcVarCh0 = static_cast<half>(1.0 / 255);",
     al.AippDataTypeConvParams(dtc_var_ch0=1 / 255)),
    ("AippChannelPaddingParams<half> c{};", al.AippChannelPaddingParams()),
    ("static AippChannelPaddingParams<half> c;", al.AippChannelPaddingParams()),
    ("AippChannelPaddingParams c = {1};", al.AippChannelPaddingParams(c_padding_mode=1)),
    ("AippPaddingParams<U> c; c.paddingMode = static_cast<uint32_t>(AippInputFormat::XRGB8888_U8);",
     al.AippPaddingParams(padding_mode=1)),
    ("asc_load3d_v2_config c; c.rpt_time = 4; c.rpt_mode = 1;", Load3dV2Config(rpt_time=4, rpt_mode=1)),
    ("asc_load3d_v2_config c = {0x20000}; c.rpt_stride = 5;", Load3dV2Config(0x20005)),
    ("asc_l13d_fmatrix_config c; c.l1_width = 9; c.config = 1; c.l1_height = 7;", L13dFmatrixConfig(7)),
    ("asc_set_gm2l1_nz_para(1, 2, 9 * 9, 0);", Gm2l1NzPara(matrix_num=1, dst_nz_n_stride=2, dst_nz_c0_stride=81)),
    ("asc_set_gm2l1_padding(static_cast<int8_t>(-3));", PaddingRegister.of(np.int8(-3))),
    ("asc_set_l12l0a_3d_padding(half(-0.0));", PaddingRegister.of(np.float16(-0.0))),
    ("SetLoadDataRepeat({ 0, 3, 1 });", al.LoadDataRepeatParam(repeat_time=3, repeat_mode=1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FORMS, ids=[text for text, _ in FORMS])
def test_forms_that_are_understood(text: str, expected: Any) -> None:
    """Constants, casts, arithmetic, arrays, constructors, copies: whatever a constant can be written by."""
    back = from_cpp(text)
    assert back == expected
    assert type(back) is type(expected)


DOCUMENT = """
uint16_t horizSize = 32, vertSize = 30, horizStartPos = 0, vertStartPos = 2, srcHorizSize = 36, srcVertSize = 32,
    leftPadSize = 1, rightPadSize = 0;
uint32_t dstHorizSize = 32, dstVertSize = 32, cSize = 32;
uint8_t topPadSize = 0, botPadSize = 3;
uint32_t gmSrc0Size = 0, gmSrc1Size = 0, dstSize = 0;
AscendC::AippInputFormat inputFormat = AscendC::AippInputFormat::YUV420SP_U8;
uint32_t cPadMode = 1;
int8_t cPaddingValue = -5;
// the configuration
AscendC::AippParams<int8_t> aippConfig;
aippConfig.cPaddingParams.cPaddingMode = cPadMode;
aippConfig.cPaddingParams.cPaddingValue = cPaddingValue;
AscendC::SetAippFunctions(fmGlobal, fmGlobal[gmSrc0Size], inputFormat, aippConfig);
AscendC::LoadImageToLocal(featureMapA1, { horizSize, vertSize, horizStartPos, vertStartPos, srcHorizSize, topPadSize,
                                          botPadSize, leftPadSize, rightPadSize });
"""
WINDOW = al.LoadImageToLocalParams(
    horiz_size=32, vert_size=30, vert_start_pos=2, src_horiz_size=36, bot_pad_size=3, left_pad_size=1
)


def test_the_documents_example_is_read() -> None:
    """The lines of the document's call give both of its objects, whose variables have the document's names."""
    channels = al.AippChannelPaddingParams(c_padding_mode=1, c_padding_value=-5)
    config = al.AippParams(c_padding_params=channels)
    assert read_cpp(DOCUMENT) == {"aippConfig": config, "loadImageToLocalParams": WINDOW}
    assert from_cpp(DOCUMENT, name="aippConfig") == config


KERNEL = """
constexpr uint32_t H = 9, W = 11, PAD = 2, M_ALIGN = 32, CUBE_BLOCK = 16;
asc_l13d_fmatrix_config fmatrix_config;
fmatrix_config.l1_width = W;
fmatrix_config.l1_height = H;
fmatrix_config.padding_top_size = PAD;
asc_set_l13d_fmatrix(fmatrix_config);
asc_set_l12l0a_3d_padding(static_cast<half>(PAD));
constexpr uint16_t repeat_stride = 0;
constexpr uint8_t repeat_time = 1;
constexpr uint16_t dst_stride = M_ALIGN / CUBE_BLOCK;
asc_load3d_v2_config repeat_config;
repeat_config.config = static_cast<uint64_t>(repeat_stride) |
    (static_cast<uint64_t>(repeat_time) << 16) | (static_cast<uint64_t>(dst_stride) << 32);
asc_set_l13d_rpt(repeat_config);
"""


def test_the_documents_registers_are_read() -> None:
    """The lines of the C API's example that set registers give their words."""
    assert read_cpp(KERNEL) == {
        "fmatrix_config": L13dFmatrixConfig(l1_height=9, l1_width=11, padding_top_size=2),
        "asc_set_l12l0a_3d_padding": PaddingRegister.of(np.float16(2)),
        "repeat_config": Load3dV2Config(0x2_0001_0000),
    }


def test_calls_are_read_back() -> None:
    """From the code of a whole call come all its parameter objects."""
    src0, src1 = to_format(number_picture(), al.AippInputFormat.YUV420SP_U8)
    config = al.AippParams(padding_params=al.AippPaddingParams(padding_mode=2))
    for sid in (0, 3):
        setup = al.set_aipp_functions(
            src0, src1, input_format=al.AippInputFormat.YUV420SP_U8, config=config, dtype="int8"
        )
        window = al.LoadImageToLocalParams(horiz_size=6, vert_size=4, src_horiz_size=8, left_pad_size=2, sid=sid)
        code = to_cpp(al.Call(al.load_image_to_local, {"setup": setup, "params": window}))
        assert read_cpp(code) == {"aippConfig": config, "loadImageToLocalParams": window}
        assert from_cpp(to_cpp(setup)) == config
    src = np.zeros((1, 5, 6, 16), np.float16)
    params = al.LoadData3DParamsV2(l1_h=5, l1_w=6, channel_size=16, m_extension=16, k_extension=16)
    repeat = al.LoadDataRepeatParam(repeat_time=2)
    code = to_cpp(al.Call(al.load_data_3d_v2, {"src": src, "params": params, "repeat": repeat}))
    assert read_cpp(code) == {"loadDataRepeatParam": repeat, "loadData3DParamsV2": params}
    strides = al.UnaryRepeatParams(2, 1, 16, 8)
    halves = np.zeros(512, np.float16)
    for mask in ({"mask": 7}, {"mask": (1, 2)}, {"mask": al.MASK_PLACEHOLDER, "vector_mask": 3}):
        more = {"pad_mode": 0, "pad_side": True, "repeat_params": strides, **mask}
        assert from_cpp(to_cpp(al.Call(al.vector_padding, {"src": halves, **more}))) == strides
    assert (
        read_cpp(to_cpp(al.Call(al.vector_padding, {"src": halves, "pad_mode": 0, "pad_side": True, "count": 9}))) == {}
    )


def test_two_calls_with_braces_have_two_names() -> None:
    """What has no variable of its own is numbered, so that none gets lost."""
    code = "SetLoadDataRepeat({0, 2}); SetLoadDataRepeat({0, 3});"
    assert {name: p.repeat_time for name, p in read_cpp(code).items()} == {
        "loadDataRepeatParam": 2,
        "loadDataRepeatParam_2": 3,
    }


def test_which_object() -> None:
    """Several objects are named with their lines, and a name picks one."""
    code = "AippSwapParams a;\nAippSwapParams b;\nb.isSwapUV = true;"
    assert from_cpp(code, name="b") == al.AippSwapParams(is_swap_uv=True)
    for name in (None, "c", 3):
        with pytest.raises(ParameterError, match=r"^name = .*a \(line 1\), b \(line 2\)"):
            from_cpp(code, name=name)  # type: ignore[arg-type]
    for nothing in ("", "  // nothing", "uint8_t x = 3;"):
        with pytest.raises(ParameterError, match="code that declares one of the structures AippParams"):
            from_cpp(nothing)
        assert read_cpp(nothing) == {}
    # What is not asked for need not be complete.
    assert from_cpp("AippParams<half> a; AippSwapParams b;", name="b") == al.AippSwapParams()
