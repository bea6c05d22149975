"""What is no parameters in Ascend C is refused by line, whatever it is, and soon."""

from __future__ import annotations

import contextlib
import pickle
import re

import pytest
from cpp_objects import STRUCTURES
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendlab as al
from ascendlab import CppTextError, ParameterError, from_cpp, read_cpp, to_cpp
from ascendlab.capi.conv2d_example import run as run_conv2d
from ascendlab.cpp_tokens import MOST_CHARACTERS, Text
from ascendlab.fields import fields_of

REFUSALS: list[tuple[str, int, str]] = [
    ("for (int i = 0; i < 4; ++i) { s.isSwapRB = true; }", 2, "'for': loops and branches are not followed"),
    ("if (x) s.isSwapRB = true;", 2, "'if': loops and branches"),
    ("#define X 1", 2, "a line for the preprocessor begins nothing"),
    ("s.isSwapRB = f(3);", 2, "'f' is a call of a function"),
    ("DoSomething(s);", 2, r"'DoSomething'\(...\) is not understood here"),
    ("s.isSwapRB++;", 2, r"'=' is missing before '\+\+'"),
    ("s.isSwapRB += 1;", 2, r"'=' is missing before '\+='"),
    ("++s.isSwapRB;", 2, r"'\+\+' begins nothing"),
    ("AippSwapParams* t = &s;", 2, r"a variable's name is missing before '\*'"),
    ("AippSwapParams t[2];", 2, "an array, pointer or reference of AippSwapParams"),
    ("t->isSwapRB = true;", 2, "'t' begins nothing"),
    ("t.isSwapRB = true;", 2, "'t' is not declared in this text"),
    ("s.isSwapRb2 = true;", 2, "AippSwapParams has no member isSwapRb2. Did you mean isSwapRB?"),
    ("s.swap.x = true;", 2, "AippSwapParams has no member swap"),
    ("s.isSwapRB.x = true;", 2, "isSwapRB has no members"),
    ("s = true;", 2, "this is no AippSwapParams"),
    ("s.isSwapRB = 2;", 2, "isSwapRB: 2 does not fit into bool"),
    ("s.isSwapRB = AippInputFormat::RGB888_U8;", 2, "a value of type AippInputFormat is no bool by itself"),
    ("s.isSwapRB = AippInputFormat::RGB;", 2, "has no value RGB"),
    ('s.isSwapRB = "true";', 2, "a value is missing before a text in quotes"),
    ("s.isSwapRB = yes;", 2, "'yes' is not declared"),
    ("s.isSwapRB = s;", 2, "this is no constant of type bool"),
    ("s.isSwapRB = !true;", 2, "a value is missing before '!'"),
    ("s.isSwapRB = 1 < 2;", 2, "';' is missing before '<'"),
    ("s.isSwapRB = true\ns.isSwapUV = true;", 3, "';' is missing before 's'"),
    ("s.isSwapRB = (true;", 2, r"'\)' is missing before ';'"),
    ("AippSwapParams s;", 2, "'s' is declared twice"),
    ("AippSwapParam t;", 2, "is no type that is known here. Did you mean AippSwapParams"),
    ("AippSwapParams<half> t;", 2, "AippSwapParams is no template"),
    ("AippSwapParams t();", 2, r"\(\) here declares a function"),
    ("AippPaddingParams<double> t;", 2, "'double' is no element type"),
    ("AippPaddingParams<int8_t> t; t.paddingValueCh0 = 1.5;", 2, "paddingValueCh0: 1.5 is a fraction"),
    ("AippPaddingParams<int8_t> t; t.paddingValueCh0 = 128;", 2,
     r"128 does not fit into int8_t. Write a number in \[-128, 127\]"),
    ("AippPaddingParams<half> t; t.paddingValueCh0 = 65520.0;", 2, "65520.0 is too large for half"),
    ("AippPaddingParams<half> t; t.paddingMode = 4;", 2,
     r"paddingMode = 4 is not allowed. Allowed: an integer in \[0, 3\] \(SetAippFunctions, table 3\)"),
    ("AippPaddingParams<half> t = {1, 2, 3, 4, 5, 6};", 2, "6 values are too many. It has 5 members"),
    ("AippPaddingParams<half> t = {.paddingMode = 1, 2};", 2, "values with and without a name"),
    ("AippPaddingParams<half> t = {{1, 2}};", 2, "braces with 2 values"),
    ("AippPaddingParams<half> t = {.mode = 1};", 2, "there is no member mode"),
    ("LoadData3DParamsV2<half> t; t.padList = {1, 2, 3, 4};", 2, "padList is an array, which C\\+\\+ cannot assign"),
    ("LoadData3DParamsV2<half> t; t.padList[4] = 1;", 2, r"\[4\] is outside: padList has elements \[0\] to \[3\]"),
    ("LoadData3DParamsV2<half> t; t.l1H[0] = 1;", 2, "l1H has no elements"),
    ("LoadData3DParamsV2<half> t = {{1, 2, 3, 4, 5}};", 2, "5 values for padList"),
    ("LoadData3DParamsV2<half> t = {1, 2};", 2, "padList is an array"),
    ("LoadData3DParamsV2<half> t;\nt.enSmallK = true;", 3, "enSmallK = True is not allowed. Allowed: False"),
    ("LoadImageToLocalParams w = {8, 8,\n 3, 0, 16};", 3, "horizStartPos = 3 is not allowed. Allowed: an even integer"),
    ("uint8_t x = 256;", 2, "256 does not fit into uint8_t"),
    ("uint8_t x = -1;", 2, "-1 does not fit into uint8_t"),
    ("uint8_t x; s.isSwapRB = x;", 2, "'x' has no value yet"),
    ("const uint8_t x;", 2, "'x' is constant and has no value"),
    ("const uint8_t x = 1; x = 0;", 2, "'x' is constant"),
    ("uint8_t x[2] = {1, 2, 3};", 2, "the number of elements does not fit"),
    ("uint8_t x[2]; x[2] = 1;", 2, r"'x'\[2\] is outside the array"),
    ("auto x;", 2, "'=' is missing before ';'"),
    ("auto x = {1};", 2, "auto needs one value"),
    ("using namespace foo;", 2, "'AscendC' or 'std' is missing before 'foo'"),
    ("LoadData(dst, src, {1});", 2, "LoadData with braces"),
    ("LoadImageToLocal(dst, f(x = 3));", 2, "'=' is no argument of LoadImageToLocal"),
    ("asc_set_gm2l1_nz_para(1, 2);", 2, "with 2 arguments. It takes matrix_num"),
    ("asc_set_gm2l1_nz_para(1, 2, 3, 65536);", 2, "dst_nz_matrix_stride = 65536 is not allowed. It has 16 bits"),
    ("asc_set_gm2l1_padding(1.0);", 2, "has no form for double"),
    ("asc_load3d_v2_config c; c.dst_stride = 1;", 2, "has no member dst_stride. The C API has no name for these bits"),
    ("asc_load3d_v2_config c; c.rpt_mode = 2;", 2, r"rpt_mode = 2 is not allowed. rpt_mode has 1 bits: \[0, 1\]"),
    ("asc_load3d_v2_config c = {1, 2};", 2, "a union takes one value"),
    ("uint64_t x = 1 << 31;", 2, "does not fit into int32_t, in which C\\+\\+ computes here"),
    ("uint64_t x = 1 << 64;", 2, "1 << 64 is undefined for int32_t"),
    ("uint64_t x = 65536 * 65536;", 2, "does not fit into int32_t"),
    ("uint64_t x = 3 - 4U;", 2, "-1 does not fit into uint32_t"),
    ("uint64_t x = -1 / 2U;", 2, "-1 does not fit into uint32_t"),
    ("uint64_t x = 1 / (2 - 2);", 2, "/ by zero"),
    ("uint64_t x = 1.0 % 2;", 2, "% for double and int32_t is not computed here"),
    ("uint64_t x = half(1) + 1;", 2, r"\+ for half and int32_t is not computed here"),
    ("uint64_t x = 18446744073709551616ULL;", 2, "does not fit into 64 bits"),
    ("uint64_t x = 18446744073709551615;", 2, "does not fit into 64 bits"),
    ("uint64_t x = 08;", 2, "08 begins with 0 and is no octal number"),
    ("uint64_t x = 0x;", 2, "0x is no number"),
    ("uint64_t x = 1e;", 2, "1e is no number"),
    ("float x = 1e999;", 2, "larger than any number of type double"),
    ("float x = 1e300 * 1e300;", 2, "the result is larger than any number"),
    ("float x = 1e39;", 2, "too large for float"),
    ("s.isSwapRB /* never ends = true;", 2, "'=' is missing before a comment that never ends"),
    ("s.isSwapRB = true", 2, "';' is missing before the end of the text"),
    ("s.isSwapRB = \u7ea2;", 2, "a value is missing before '\u7ea2'"),
    ("s.isSwapRB\0= true;", 2, r"'=' is missing before '\\x00'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), REFUSALS, ids=[text for text, _, _ in REFUSALS])
def test_what_is_not_understood_is_refused(text: str, line: int, message: str) -> None:
    """The message says where, shows the line, and says what is wrong and what would be right; the rest is read."""
    with pytest.raises(CppTextError, match=message) as caught:
        read_cpp(f"AippSwapParams s;\n{text}\n")
    error = caught.value
    assert error.line == line
    assert error.problems[0].source == f"AippSwapParams s;\n{text}".splitlines()[line - 1].strip()[:80]
    assert len(error.problems) <= 2
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_columns_point_at_the_place() -> None:
    """Line and column count from 1, also behind comments and joined lines."""
    text = "AippSwapParams s; /* a\nb */ \\\n  s.isSwapRB = 1 +\n     7;\n\n  s.isSwapXY = true;"
    with pytest.raises(CppTextError) as caught:
        read_cpp(text)
    assert [(p.line, p.column) for p in caught.value.problems] == [(3, 16), (6, 5)]
    assert caught.value.problems[1].source == "s.isSwapXY = true;"


def test_all_problems_are_told_and_none_twice() -> None:
    """Every refused statement is one line of the message; what follows from it alone is none; ten are enough."""
    code = "Foo f;\nAippSwapParams s = { nope };\ns.isSwapRB = true;\ns.isSwapUV = s2;\nAippSwapParams t; t.x = 1;"
    with pytest.raises(CppTextError) as caught:
        read_cpp(code)
    assert [problem.line for problem in caught.value.problems] == [1, 2, 5]
    assert str(caught.value).count("\n") == 2
    with pytest.raises(CppTextError) as caught:
        read_cpp("x = 1;\n" * 50)
    assert len(caught.value.problems) == 10


@pytest.mark.rule("cpp-defaults")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nAippParams<half> p;",
         "p.cPaddingParams leaves members without a value: cPaddingMode (C++ does not initialise it); "
         "cPaddingValue (C++ does not initialise it)"),
        ("\nAippChannelPaddingParams<half> p; p.cPaddingMode = 1;",
         "p leaves members without a value: cPaddingValue (C++ does not initialise it)"),
        ("\nLoadData3DParamsV1<half> p = {.l1H = 3, .l1W = 3, .strideW = 1, .strideH = 1, .filterW = 1, .filterH = 1, "
         ".dilationFilterW = 1, .dilationFilterH = 1, .repeatTime = 1};",
         "p leaves members without a value: jumpStride (C++ starts it at 0; allowed: an integer in [1, 127])"),
        ("\nLoadImageToLocalParams p; p.horizSize = 8;",
         "srcHorizSize (C++ starts it at 0; allowed: an integer in [2, 4095])"),
    ],
)  # fmt: skip
def test_members_that_nobody_sets(text: str, message: str) -> None:
    """What C++ leaves uninitialised, or at a value that is not allowed, is no default: the declaration is refused."""
    with pytest.raises(CppTextError, match=re.escape(message)) as caught:
        from_cpp(text)
    assert caught.value.line == 2


@pytest.mark.rule("cpp-defaults")
def test_members_whose_default_differs_in_cpp_are_always_written() -> None:
    """Where Python and C++ start differently, and where C++ starts with what is not allowed, code sets the member."""
    always = {}
    for structure in STRUCTURES:
        for spec in fields_of(structure).values():
            if spec.structure is None and not spec.required and spec.cpp_start != spec.default:
                assert spec.always_emit, spec.document_name
                always.setdefault(structure.__name__, set()).add(spec.document_name)
    assert always == {
        "AippChannelPaddingParams": {"cPaddingMode", "cPaddingValue"},
        "LoadData3DParamsV1": {"strideW", "strideH", "filterW", "filterH", "dilationFilterW", "dilationFilterH",
                               "jumpStride", "repeatTime"},
    }  # fmt: skip
    emitted = {spec.document_name for spec in fields_of(al.LoadData3DParamsV2).values() if spec.always_emit}
    assert emitted == {"kExtension", "mExtension"}, "0 is no operation"


# Hostile texts


@pytest.mark.parametrize(
    "text",
    [
        "uint64_t x = " + "(" * 30_000 + "1" + ")" * 30_000 + ";",
        "uint64_t x = " + "-" * 60_000 + "1;",
        "uint64_t x = " + "(half)" * 10_000 + "1;",
        "AippSwapParams s = " + "{" * 60_000 + "}" * 60_000 + ";",
        "LoadData(" + "(" * 60_000 + ");",
        "uint64_t x = " + "9" * 60_000 + ";",
        "float x = 1e" + "9" * 60_000 + ";",
        "float x = 0x1p" + "9" * 1000 + ";",
        "uint64_t x = 1" + "'0" * 30_000 + ";",
        "uint8_t x[999999999999] = {1};",
        "uint8_t x[4611686018427387904];",
        "/* " * 30_000,
        "//" * 30_000 + "\nx = 3;",
        "'" * 60_000,
        "\\" * 60_000,
        "\\\n" * 30_000 + "x",
        "#" * 60_000 + "\nx = 3;",
        "a" * 60_000,
        "AippSwapParams s; s." + "a" * 60_000 + " = 1;",
        "uint8_t " + ", ".join(f"v{i} = 1" for i in range(5_000)) + "; AippSwapParams s; s.isSwapRB = w4999;",
        "x = 1;" * 10_000,
        "{" * 60_000,
        "\0" * 60_000,
        "".join(map(chr, range(0xD7FF)))[::3],
        "uint8_t x = 1" + " + 0" * 15_000 + " + ;",
        "for" + "(" * 60_000,
    ],
    ids=range(26),
)
def test_hostile_texts_are_refused(text: str) -> None:
    """Deep, long and broken texts end in an error of the family, and soon."""
    with pytest.raises(CppTextError) as caught:
        read_cpp(text)
    assert all(len(str(problem)) < 1500 for problem in caught.value.problems)


@pytest.mark.parametrize("text", ["/* " * 9_000, "#" * 9_000, "// \\\n" * 9_000])
def test_what_never_ends_is_looked_at_once(text: str) -> None:
    """A comment or a directive without an end is one piece: the time does not grow by its square."""
    assert len(Text(text).tokens) <= 2


def test_texts_have_a_largest_size() -> None:
    """What is too long to be anybody's parameters, and what is no text at all, is refused at once."""
    with pytest.raises(ParameterError, match=r"^text = .*at most 262,144 characters"):
        from_cpp(" " * (MOST_CHARACTERS + 1))
    for wrong in (None, 3, b"AippSwapParams s;", ["AippSwapParams s;"]):
        with pytest.raises(ParameterError, match=r"^text = .*a string of C\+\+ code"):
            read_cpp(wrong)  # type: ignore[arg-type]


SEEDS = [
    *(to_cpp(structure(**required), dtype="half" if structure.template else None) for structure, required in (
        (al.AippParams, {}), (al.UnaryRepeatParams, {}), (al.IsResetLoad3dConfig, {}),
        (al.LoadImageToLocalParams, {"horiz_size": 8, "vert_size": 8, "src_horiz_size": 9}),
        (al.LoadData3DParamsV1, {"l1_h": 3, "l1_w": 4, "pad_value": -0.5, "pad_list": (1, 2, 0, 3)}),
    )),
    "uint16_t w = 6, h = 4; AscendC::LoadImageToLocal(a1, { w, h, 0, 2 * 1, w << 1, 0, 0, 1, 0 });",
    "static_cast<half>(-1.5e-3f); const auto u = UnaryRepeatParams{.dstBlkStride = 0x1, .srcRepStride = 3'0ULL};",
    "asc_l13d_fmatrix_config c{}; c.l1_width = 9; asc_set_gm2l1_nz_para(1, 2, 9 * 9, 0); asc_load3d_v2_config d = {1};",
    *(text for text, _, _ in REFUSALS),
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_code_gives_an_object_or_an_error_of_the_family(data: st.DataObject) -> None:
    """Code with pieces cut out, doubled or exchanged never ends in anything but objects or the library's own errors."""
    code = "\n".join(data.draw(st.lists(st.sampled_from(SEEDS), min_size=1, max_size=3)))
    pieces = re.findall(r"\w+|\S", code)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(pieces) - 1))
        other = data.draw(
            st.sampled_from(pieces) | st.sampled_from(["{", "}", "(", "<", ";", "-", "\0", '"', "/*", "1e9", "\\"])
        )
        pieces[at : at + data.draw(st.integers(0, 2))] = [other]
    with contextlib.suppress(CppTextError, ParameterError):
        read_cpp(" ".join(pieces))


def test_a_kernel_is_read_as_far_as_it_goes() -> None:
    """A whole kernel is more than parameters: its first line that is none is named."""
    with pytest.raises(CppTextError, match="line 2, column 1"):
        read_cpp(to_cpp(run_conv2d()[0]))
