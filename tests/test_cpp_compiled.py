"""What `to_cpp` writes is C++: a compiler takes it, and the program holds the values of the Python objects."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cpp_compiler import run
from cpp_objects import ELEMENTS, REGISTERS, STRUCTURES, leaves, objects, registers
from cpp_stubs import program
from hypothesis import Phase, given, seed, settings

import ascendlab as al
from ascendlab import to_cpp
from ascendlab.capi.conv2d_example import run as run_conv2d
from ascendlab.capi.registers import L13dFmatrixConfig, Load3dV2Config, PaddingRegister
from ascendlab.cpp_capi import UNIONS
from ascendlab.cpp_literals import shortest_half
from ascendlab.dtypes import DataType
from ascendlab.fields import Parameters
from ascendlab.pictures import number_picture, to_format

HALVES = np.arange(512, dtype=np.float16)


def some(strategy: Any, count: int) -> list[Any]:
    """Draw a few objects, always the same ones."""
    drawn: list[Any] = []

    @seed(7)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(value: Any) -> None:
        drawn.append(value)

    collect()
    return drawn


def make_structures() -> list[tuple[Parameters, DataType | None]]:
    """Make objects of every structure, those with constants in every type that the stubs have."""
    types = [kind for kind in ELEMENTS if kind.name in ("int8", "uint8", "half", "bfloat16", "uint32", "float")]
    made: list[tuple[Parameters, DataType | None]] = []
    for structure in STRUCTURES:
        if structure.template:
            made += [(params, kind) for kind in types for params in some(objects(structure, kind), 2)]
        else:
            made += [(params, None) for params in some(objects(structure), 6)]
    return made


def aipp_call(input_format: al.AippInputFormat, sid: int = 0) -> al.Call:
    """Load a piece of the picture of numbers."""
    src0, src1 = to_format(number_picture(), input_format)
    config = al.AippParams(
        padding_params=al.AippPaddingParams(padding_mode=0, padding_value_ch1=-7),
        c_padding_params=al.AippChannelPaddingParams(c_padding_value=3),
    )
    setup = al.set_aipp_functions(src0, src1, input_format=input_format, config=config, dtype="int8")
    window = al.LoadImageToLocalParams(
        horiz_size=6, vert_size=4, src_horiz_size=8, horiz_start_pos=2, right_pad_size=3, sid=sid
    )
    return al.Call(al.load_image_to_local, {"setup": setup, "params": window})


def load_call(function: Any, params: Parameters, **more: Any) -> al.Call:
    """Load blocks of a feature map."""
    return al.Call(function, {"src": np.zeros((1, 5, 6, 16), np.float16), "params": params, **more})


def padding_call(**more: Any) -> al.Call:
    """Pad halves."""
    return al.Call(al.vector_padding, {"src": HALVES, "pad_mode": 1, "pad_side": True, **more})


def bilinear_call(mask: Any) -> al.Call:
    """Make the document's example."""
    sources = {
        "src0": HALVES,
        "src0_offset": np.arange(0, 1024, 32, dtype=np.uint32),
        "src1": np.arange(2, 18, dtype=np.float16),
    }
    more = {"h_repeat": 2, "repeat_mode": False, "dst_blk_stride": 1, "v_roffset": 128, "v_repeat": 2}
    return al.Call(al.bilinear_interpolation, {**sources, "mask": mask, **more})


V2 = al.LoadData3DParamsV2(
    l1_h=5, l1_w=6, channel_size=16, filter_w=3, pad_list=(0, 1, 0, 2), pad_value=-0.0, m_extension=16, k_extension=16
)
V1 = al.LoadData3DParamsV1(
    l1_h=5, l1_w=6, filter_w=3, repeat_time=3, pad_list=(2, 0, 0, 0), left_top_w=-2, pad_value=0.1
)
REPEAT = al.LoadDataRepeatParam(repeat_time=2, repeat_mode=1, repeat_stride=1)
STRIDES = al.UnaryRepeatParams(2, 1, 16, 8)
ALL = 2**64 - 1
# Calls, and what arrives in C++.
CALLS: list[tuple[al.Call, dict[str, Any]]] = [
    (aipp_call(al.AippInputFormat.YUV420SP_U8),
     {".src1": 64, ".format": 0, ".window.horizStartPos": 2, ".window.rightPadSize": 3}),
    (aipp_call(al.AippInputFormat.RGB888_U8, sid=5), {".format": 4, ".window.sid": 5, ".window.srcHorizSize": 8}),
    (al.Call(al.set_aipp_functions, {
        "src0": np.zeros((4, 8, 4), np.uint8), "input_format": al.AippInputFormat.XRGB8888_U8, "dtype": "half",
        "config": al.AippParams(dtc_params=al.AippDataTypeConvParams(dtc_var_ch1=1 / 255)),
    }), {".format": 1, ".config.dtcParams.dtcVarCh1": float(np.float16(1 / 255))}),
    (load_call(al.load_data_3d_v2, V2, repeat=REPEAT),
     {".repeat.repeatTime": 2, ".params.filterW": 3, ".params.padValue": -0.0}),
    (load_call(al.load_data_3d_v1, V1, product=al.Product.ATLAS_TRAINING),
     {".params.repeatTime": 3, ".params.strideW": 1, ".params.padValue": float(np.float16(0.1))}),
    (padding_call(count=77), {".padMode": 1, ".padSide": 1, ".count": 77}),
    (padding_call(mask=100, repeat_time=2, repeat_params=STRIDES),
     {".mask": 100, ".repeat": 2, ".params.dstBlkStride": 2, ".params.srcRepStride": 8}),
    (padding_call(mask=(8, 2**63)), {".mask[0]": 8, ".mask[1]": 2**63}),
    (padding_call(src=HALVES.astype(np.float32), mask=[5]), {".mask[0]": 5, ".mask[1]": 0}),
    (padding_call(mask=al.MASK_PLACEHOLDER, vector_mask=65), {".high": 1, ".low": ALL, ".mask": 0}),
    (bilinear_call(128), {".mask": 128, ".hRepeat": 2, ".vROffset": 128}),
    (bilinear_call([ALL, 7]), {".mask[0]": ALL, ".mask[1]": 7, ".vRepeat": 2}),
]  # fmt: skip


def sets_registers_twice(core: al.AICore) -> None:
    """Set each register twice, the padding to what C++ has no literal for."""
    for height in (3, 4):
        core.asc_set_l13d_fmatrix(L13dFmatrixConfig(l1_height=height, l1_width=2, padding_top_size=4 - height))
        core.asc_set_l13d_rpt(Load3dV2Config(dst_stride=height))
    core.asc_set_l12l0a_3d_padding(np.float16("inf"))


def with_tensors(code: str) -> str:
    """Put declarations of the tensors that the code's comments describe in front of it."""
    found = re.findall(r"(\w+(?:, \w+)*): (Global|Local)Tensor<(\w+)>", code)
    return "\n".join([*(f"AscendC::{where}Tensor<{kind}> {names};" for names, where, kind in found), code])


class Printed:
    """What the program printed, by case and by member."""

    def __init__(self, folder: Path) -> None:
        self.structures = make_structures()
        self.registers = [register for kind in REGISTERS for register in some(registers(kind), 6)]
        self.launched = run_conv2d()[0]
        cases = [f"{(code := to_cpp(params, dtype=kind))}\nshow(\"\", {code.split(';')[0].split()[-1]});"
                 for params, kind in self.structures]  # fmt: skip
        cases += [with_tensors(to_cpp(call)) for call, _ in CALLS]
        cases += [f"{to_cpp(register)}\nshow(\"\", {UNIONS[type(register)]});" if type(register) in UNIONS
                  else to_cpp(register) for register in self.registers]  # fmt: skip
        forgotten = to_cpp(al.AippChannelPaddingParams(), dtype="half").splitlines()[0]
        cases.append(f'{forgotten}\nshow("", aippChannelPaddingParams);')
        cases.append("static half memory[1 << 16];\nconv2d_forward_capi(memory, memory, memory);")
        cases.append("sets_registers_twice();")
        again = al.launch(sets_registers_twice, 1, product=al.Product.ATLAS_350)
        output = run(program(cases, f"{to_cpp(self.launched, block=2)}\n{to_cpp(again)}"), folder)
        self.lines: list[list[str]] = [[] for _ in cases]
        for line in output.splitlines():
            number, _, rest = line.partition(" ")
            self.lines[int(number)].append(rest)

    def members(self, case: int) -> dict[str, Any]:
        """Return the values of a case by their paths."""
        values = (line.rpartition(" ") for line in self.lines[case])
        return {path: float.fromhex(text) if "x" in text else int(text) for path, _, text in values}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """Compile everything at once: a compiler takes longer to start than to work."""
    return Printed(tmp_path_factory.mktemp("cpp"))


@pytest.mark.rule("cpp-defaults")
def test_cpp_holds_the_values_of_every_structure(printed: Printed) -> None:
    """Whatever is left out in the code is what C++ starts with: all members are those of the Python object."""
    kinds = set()
    for case, (params, kind) in enumerate(printed.structures):
        members = printed.members(case)
        expected = {path: value for path, value, _ in leaves(params)}
        assert members == expected, to_cpp(params, dtype=kind)
        signs = {path: np.signbit(value) for path, value, spec in leaves(params)}
        integers = kind is not None and kind.name.startswith(("int", "uint"))
        for path, value, spec in leaves(params):
            if value == 0 and not (integers and spec.cpp_type == "T"):
                assert np.signbit(members[path]) == signs[path], f"the sign of {path} got lost"
        kinds.add(type(params))
    assert kinds == set(STRUCTURES)


@pytest.mark.rule("cpp-defaults")
def test_a_forgotten_member_would_be_seen(printed: Printed) -> None:
    """The check above is none of the kind that cannot fail: without its two lines the channel padding is rubbish."""
    assert printed.members(-3)[".cPaddingMode"] == 0xA5A5A5A5


@pytest.mark.rule("cpp-mask-words")
def test_cpp_calls_with_the_arguments(printed: Printed) -> None:
    """The document's calls arrive with the numbers that the Python call has, a mask of 32-bit data with two words."""
    for case, (call, expected) in enumerate(CALLS, len(printed.structures)):
        members = printed.members(case)
        assert {path: members.get(path) for path in expected} == expected, to_cpp(call)
        for argument, path in (
            ("setup", ".config"),
            ("params", ".window"),
            ("params", ".params"),
            ("repeat", ".repeat"),
        ):
            value = call.arguments.get(argument)
            value = getattr(value, "config", value)
            if isinstance(value, Parameters) and any(name.startswith(f"{path}.") for name in members):
                for name, each, spec in leaves(value, path):
                    assert members[name] == (float(np.float16(each)) if spec.cpp_type == "T" else each), name


def test_cpp_holds_the_words_of_registers(printed: Printed) -> None:
    """Unions have the register's word, whether their members or the word were set; other registers are one call."""
    for case, register in enumerate(printed.registers, len(printed.structures) + len(CALLS)):
        if type(register) in UNIONS:
            assert printed.members(case) == {".config": register.config}, to_cpp(register)
        elif isinstance(register, PaddingRegister):
            assert printed.lines[case] == [f"asc_set_l12l0a_3d_padding {register.config}"]
        else:
            values = " ".join(map(str, register.values().values()))
            assert printed.lines[case] == [f"{register.document_name} {values}"]


def test_cpp_runs_the_kernel_of_a_launch(printed: Printed) -> None:
    """The kernel compiles as it stands there, and makes the calls of the log, in order, with its registers."""
    lines, steps = printed.lines[-2], printed.launched.cores[2].steps
    assert len(lines) == len(steps)
    for line, step in zip(lines, steps, strict=True):
        name = line.split()[0].partition(".")[0]
        assert name == step.call
        word = {"asc_set_l13d_fmatrix": "FMATRIX", "asc_set_l13d_rpt": "L3D_RPT"}.get(name)
        if word:
            assert int(line.split()[1]) == step.registers[word]
        elif name == "asc_copy_l12l0b_transpose":
            numbers = [int(value) for value in step.arguments.values() if isinstance(value, int)]
            assert line.split()[3:] == list(map(str, numbers))


def test_cpp_may_set_a_register_again(printed: Printed) -> None:
    """A variable that a kernel uses twice is declared once and keeps none of its first value; an infinity is a word."""
    assert printed.lines[-1] == [
        f"asc_set_l13d_fmatrix.config {0x0001_0000_0002_0003}", f"asc_set_l13d_rpt.config {0x3_0001_0000}",
        f"asc_set_l13d_fmatrix.config {0x0002_0004}", f"asc_set_l13d_rpt.config {0x4_0001_0000}",
        f"asc_set_l12l0a_3d_padding {0x7C00}",
    ]  # fmt: skip


def test_the_shortest_digits_of_a_half_mean_it() -> None:
    """Every finite half survives being written in few digits, also where the device first makes a float of them."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    short = np.array([shortest_half(float(value)) for value in halves])
    np.testing.assert_array_equal(short.astype(np.float16).view(np.uint16), halves.view(np.uint16))
    np.testing.assert_array_equal(short.astype(np.float32).astype(np.float16).view(np.uint16), halves.view(np.uint16))
