"""Golden data on disk: raw files, descriptions, scripts, and cases that come back as they went."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from golden_cases import SEED, bits, examples, launched, quietly, random_calls
from hypothesis import given, settings
from junk import MAKERS

import ascendlab as al
from ascendlab.dtypes import TYPES
from ascendlab.golden import (
    random_array,
    read_array,
    read_bin,
    read_golden,
    write_bin,
    write_golden,
)


def plain(value: Any) -> Any:
    """Return an argument in a form that can be compared."""
    if isinstance(value, al.AippSetup):
        return {name: plain(part) for name, part in vars(value).items() if name != "conversion"}
    return bits(value) if isinstance(value, np.ndarray) else value


def arguments_of(call: al.Call) -> dict[str, Any]:
    """Return all arguments of a call in a form that can be compared; masks are equal if their words are."""
    bound = call.bound()
    for name in ("mask", "vector_mask"):
        if isinstance(bound.get(name), (list, tuple, np.ndarray)):
            bound[name] = [int(word) for word in bound[name]]
    return {name: plain(value) for name, value in bound.items()}


def some_call() -> al.Call:
    """Make a small call."""
    return examples()["v2"]


# ---- raw files


@pytest.mark.parametrize("name", TYPES)
def test_every_type_comes_back(name: str, tmp_path: Path) -> None:
    """Any bits of any type are in the file as the device has them, and come back."""
    kind = TYPES[name]
    raw = np.random.default_rng(1).integers(0, 256, 3 * 5 * kind.numpy.itemsize, np.uint8)
    array = raw.view(kind.numpy) if kind.bits > 4 else (raw.view(np.int8) >> 4).astype(ml_dtypes.int4)
    array = array.reshape(3, 5)
    path = write_bin(tmp_path, "a/b.bin", array)
    assert bits(read_bin(path, name, (3, 5))) == bits(array)
    if kind.bits > 4:
        assert path.read_bytes() == raw.tobytes()
        assert bits(read_bin(path, kind.numpy)) == bits(array.reshape(-1))
    else:
        low = [int(v) & 15 for v in array.reshape(-1)] + [0]
        assert list(path.read_bytes()) == [low[i] | low[i + 1] << 4 for i in range(0, 15, 2)]


def test_what_lies_strangely_in_memory_is_written_in_order(tmp_path: Path) -> None:
    """Views, columns first and the other byte order: the file has little-endian elements in C order."""
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    expected = np.ascontiguousarray(array[::-2, 1::2].T).tobytes()
    for i, strange in enumerate((array[::-2, 1::2].T, np.asfortranarray(array[::-2, 1::2].T).astype(">i4"))):
        assert write_bin(tmp_path, f"{i}.bin", strange).read_bytes() == expected


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1, 1)])
def test_shapes_at_the_edge(shape: tuple[int, ...], tmp_path: Path) -> None:
    """No axis, no elements, one element."""
    path = write_bin(tmp_path, "x.bin", np.ones(shape, np.float16))
    assert read_bin(path, "half", shape).shape == shape


def test_a_size_that_does_not_fit_is_said_before_reading(tmp_path: Path) -> None:
    """The message has both sizes."""
    path = write_bin(tmp_path, "x.bin", np.zeros(7, np.uint8))
    with pytest.raises(al.FileProblemError, match=r"x.bin has 7 bytes, but half of shape \(2, 2\) takes 8"):
        read_bin(path, "half", (2, 2))
    with pytest.raises(al.FileProblemError, match="has 7 bytes, no multiple of the 2 of a half"):
        read_bin(path, "half")


def test_files_of_numpy(tmp_path: Path) -> None:
    """A .npy file says its type and shape itself; what contradicts it is refused, and objects are never unpacked."""
    array = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
    np.save(tmp_path / "x.npy", array)
    assert bits(read_array(tmp_path / "x.npy")) == bits(np.ascontiguousarray(array))
    np.save(tmp_path / "big.npy", array.astype(">i2"))
    assert bits(read_array(tmp_path / "big.npy", "int16", (2, 3))) == bits(np.ascontiguousarray(array))
    np.save(tmp_path / "brain.npy", array.astype(ml_dtypes.bfloat16))
    assert read_array(tmp_path / "brain.npy", "bfloat16")[1].tolist() == [3, 4, 5]
    for wrong in ({"dtype": "int8"}, {"dtype": "uint16"}, {"shape": (3, 2)}, {"shape": 6}):
        with pytest.raises(al.FileProblemError):
            read_array(tmp_path / "x.npy", **wrong)
    for name, other in (("object", np.array([None])), ("wide", np.zeros(2)), ("brain", None)):
        if other is not None:
            np.save(tmp_path / f"{name}.npy", other)
        with pytest.raises(al.FileProblemError, match="no type of the documents"):
            read_array(tmp_path / f"{name}.npy")
    with pytest.raises(al.ParameterError, match="dtype"):
        read_array(tmp_path / "x.bin")


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    """A file that is there stays as it is without overwrite=True, and no half file is ever left."""
    write_bin(tmp_path, "x.bin", np.zeros(3, np.uint8))
    with pytest.raises(al.FileProblemError, match="exists already"):
        write_bin(tmp_path, "x.bin", np.ones(3, np.uint8))
    assert (tmp_path / "x.bin").read_bytes() == bytes(3)
    write_bin(tmp_path, "x.bin", np.ones(3, np.uint8), overwrite=True)
    assert (tmp_path / "x.bin").read_bytes() == bytes([1, 1, 1])
    assert [path.name for path in tmp_path.iterdir()] == ["x.bin"]


# ---- random operands


def test_random_operands_stay_the_same() -> None:
    """A seed gives these bytes today, tomorrow and elsewhere."""
    found = {name: hashlib.sha256(random_array(name, (3, 5), seed=7).tobytes()).hexdigest()[:8] for name in TYPES}
    assert found == {
        "int4": "975cbdb4",
        "int8": "d335d15c",
        "uint8": "d335d15c",
        "fp8_e4m3fn": "f9fa4c84",
        "fp8_e5m2": "edb42e4b",
        "int16": "d88f7345",
        "uint16": "d88f7345",
        "half": "8c0f9f49",
        "bfloat16": "b5c5514a",
        "int32": "54dc8e70",
        "uint32": "54dc8e70",
        "float": "d7a850f7",
        "uint64": "c2524412",
    }


def test_random_operands_cover_their_type() -> None:
    """Integers take their whole range, floating-point numbers both signs, and every operand and seed has its own."""
    assert set(random_array("int4", 500, seed=1).astype(int)) == set(range(-8, 8))
    assert np.unique(random_array("int8", 9000, seed=1)).size == 256
    half = random_array("half", 9000, seed=1).astype(float)
    assert -8 <= half.min() < -7.9 < 7.9 < half.max() <= 8
    kinds = [random_array("int32", 4, seed=s, name=n).tolist() for s in (1, 2) for n in ("src", "src0")]
    assert all(kinds.count(kind) == 1 for kind in kinds)


# ---- cases


@settings(max_examples=60, deadline=None)
@given(random_calls)
def test_any_call_comes_back(call: al.Call) -> None:
    """A case that is read again is the same call, to the last bit, and its golden file is what the call gives."""
    with tempfile.TemporaryDirectory() as folder:
        before = arguments_of(call)
        written = quietly(write_golden, folder, call, name="any")
        assert arguments_of(call) == before
        case = quietly(read_golden, written.sidecar)
        assert arguments_of(case.call) == before
        assert bits(case.golden) == bits(quietly(case.call.run))
        assert str(case) == str(written)
        text = json.loads(written.sidecar.read_text())
        assert text["ascendlab"] == al.__version__
        assert text["outputs"]["golden"]["shape"] == list(case.golden.shape)


def test_the_description_speaks_the_document_s_language(tmp_path: Path) -> None:
    """Every member of a structure stands there by its name in the document, and every file with what is in it."""
    write_golden(tmp_path, some_call(), seed=SEED)
    text = json.loads((tmp_path / "case.json").read_text())
    params = text["arguments"]["params"]
    assert (params["structure"], params["l1H"], params["padList"], params["padValue"]) == (
        "LoadData3DParamsV2", 5, [1, 0, 2, 0], -1.5,
    )  # fmt: skip
    assert len(params) == 1 + len(al.LoadData3DParamsV2.__dataclass_fields__)
    assert (text["function"], text["product"], text["seed"]) == ("load_data_3d_v2", "ATLAS_A2", SEED)
    digest = hashlib.sha256((tmp_path / "input/src.bin").read_bytes()).hexdigest()
    assert text["inputs"]["src"] == {
        "file": "input/src.bin", "dtype": "half", "shape": [1, 5, 6, 16], "layout": "NC1HWC0", "bytes": 960,
        "sha256": digest, "drawn": True,
    }  # fmt: skip
    assert text["outputs"]["golden"]["layout"] == "ZZ"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aipp", {"src0": "HW", "src1": "HW", "golden": "HWC"}),
        ("v2", {"src": "NC1HWC0", "out": "ZZ", "golden": "ZZ"}),
        ("v2 bfloat16", {"src": "NC1HWC0", "golden": "ZN"}),
        ("v2 Atlas 350", {"src": "NC1HWC0", "golden": "NZ"}),
        ("im2col", {"src": "NC1HWC0", "golden": "ND"}),
        ("bilinear", dict.fromkeys(("src0", "src0_offset", "src1", "golden"), "ND")),
    ],
)
def test_layouts(name: str, expected: dict[str, str], tmp_path: Path) -> None:
    """The description says in which order the elements of each file lie."""
    case = write_golden(tmp_path, examples()[name])
    assert {key: file.layout for key, file in {**case.inputs, **case.outputs}.items()} == expected


def test_layouts_of_the_caller(tmp_path: Path) -> None:
    """The caller may say another order, of the result or of any array."""
    case = write_golden(tmp_path / "a", examples()["padding"], layout="NZ")
    assert (case.inputs["src"].layout, case.outputs["golden"].layout) == ("ND", "NZ")
    case = write_golden(tmp_path / "b", examples()["padding"], layout={"src": "NHWC"})
    assert (case.inputs["src"].layout, case.outputs["golden"].layout) == ("NHWC", "ND")
    for wrong in ("", "N Z", "x" * 33, {"scr": "ND"}, {"src": 3}, 3, "\n"):
        with pytest.raises(al.ParameterError, match="layout"):
            write_golden(tmp_path / "c", examples()["padding"], layout=wrong)
    assert not (tmp_path / "c").exists()


def test_a_call_that_is_refused_writes_nothing(tmp_path: Path) -> None:
    """Neither a wrong call, nor a function that is not emulated, nor a kernel's file leaves anything behind."""
    wrong = al.Call(al.im2col, {"src": np.zeros(3, np.float16), "params": al.LoadData3DParamsV2(
        l1_h=5, l1_w=6, channel_size=16)})  # fmt: skip
    for call in (wrong, al.Call(min, {}), al.Call(al.im2col, {}), None, al.im2col):
        with pytest.raises(al.AscendlabError):
            write_golden(tmp_path / "x", call)
    for name in ("", "a/b", "..", ".hidden", "a b", "con", "x" * 99, None, 3, "a\0"):
        with pytest.raises(al.FileProblemError):
            write_golden(tmp_path / "x", some_call(), name=name)
    for seed in (-1, 2**63, 1.5, True, "7"):
        with pytest.raises(al.ParameterError, match="seed"):
            write_golden(tmp_path / "x", some_call(), seed=seed)
    assert not (tmp_path / "x").exists()


def test_a_case_is_not_replaced_unasked(tmp_path: Path) -> None:
    """A second case in the same folder changes no file, unless overwrite=True says so."""
    write_golden(tmp_path, examples()["v2"], scripts=True)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    for name in ("case", "other"):
        with pytest.raises(al.FileProblemError, match="exists already"):
            write_golden(tmp_path, examples()["padding"], name=name)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    write_golden(tmp_path, examples()["padding"], overwrite=True)
    assert read_golden(tmp_path).function == "vector_padding"


# ---- scripts

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(al.__file__).parent.parent)}
RUN = """
import json, runpy, sys
codes = []
for command in json.loads(sys.argv[1]):
    sys.argv = command
    try:
        runpy.run_path(command[0], run_name="__main__")
        codes.append(0)
    except SystemExit as end:
        codes.append(end.code)
print(json.dumps(codes))
"""


KERNEL = """
import numpy as np

def halve(core, low, high):
    core.asc_init()
    core.poke(low, np.array([1, 2], np.float16))
    core.poke(high, np.array([3, 4], np.float16))
"""


def run_scripts(commands: list[list[str]], cwd: Path) -> tuple[list[Any], str]:
    """Run scripts in a process of their own; return their exit codes and what they printed."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, json.dumps(commands)]
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    *printed, last = done.stdout.splitlines()
    return json.loads(last), "\n".join(printed)


def test_gen_data_makes_the_same_bytes(tmp_path: Path) -> None:
    """For every kind of call, the script writes again what is missing: what was drawn, and the result."""
    cases = {f"{i}": quietly(write_golden, tmp_path / f"{i}", call, scripts=True, seed=SEED)
             for i, call in enumerate([*examples().values(), launched()])}  # fmt: skip
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.bin")}
    drawn = 0
    for case in cases.values():
        for file in [*case.outputs.values(), *(f for f in case.inputs.values() if f.drawn)]:
            (case.folder / file.file).unlink()
            drawn += file.drawn
    assert drawn == 10
    codes, _ = run_scripts([[str(tmp_path / name / "scripts/gen_data.py")] for name in cases], tmp_path)
    assert codes == [0] * len(cases)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.bin")} == before


def test_verify_result_judges(tmp_path: Path) -> None:
    """For every kind of call: equal files pass, one flipped bit fails, and what is no result is neither."""
    commands, expected = [], []
    cases = [*examples().values(), launched()]
    for i, call in enumerate(cases):
        folder = tmp_path / f"{i}"
        quietly(write_golden, folder, call, scripts=True, seed=SEED)
        right = (folder / "output/golden.bin").read_bytes()
        wrong = right[:-1] + bytes([right[-1] ^ 1])
        for name, data in (("output", right), ("wrong", wrong), ("short", right[:-1])):
            (folder / f"output/{name}.bin").write_bytes(data)
        uses = {"": 0, "wrong": 1}
        if i == 0:
            uses |= {"output": 0, "wrong wrong": 0, "output wrong": 1, "short": 2, "missing": 2, "output short": 2}
        for names, code in uses.items():
            paths = [str(folder / f"output/{name}.bin") for name in names.split()]
            commands.append([str(folder / "scripts/verify_result.py"), *paths])
            expected.append(code)
    codes, printed = run_scripts(commands, tmp_path)
    assert codes == expected
    assert printed.count("test pass") == expected.count(0)
    assert printed.count("test failed") == expected.count(1)


def test_verify_result_judges_all_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a kernel with several results all must be right, each in a file of its own name."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_kernels.py").write_text(KERNEL)
    kernel = importlib.import_module("my_kernels").halve
    run = al.launch(kernel, 1, np.zeros(2, np.float16), np.zeros(2, np.float16))
    write_golden(tmp_path, run, scripts=True)
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", f"{tmp_path}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}")
    scripts = [[str(tmp_path / f"scripts/{name}.py")] for name in ("gen_data", "verify_result")]
    codes = []
    for low, high in (([1, 2], [3, 4]), ([1, 2], [3, 5])):
        write_bin(tmp_path, "output/output_low.bin", np.array(low, np.float16), overwrite=True)
        write_bin(tmp_path, "output/output_high.bin", np.array(high, np.float16), overwrite=True)
        codes += run_scripts(scripts, tmp_path)[0]
    assert codes == [0, 0, 0, 1]


def test_scripts_say_what_is_missing(tmp_path: Path) -> None:
    """Without the library a script says in one line what it needs."""
    write_golden(tmp_path, some_call(), scripts=True)
    for name in ("gen_data", "verify_result"):
        code = f"import sys; sys.modules['ascendlab'] = None; exec(open('scripts/{name}.py').read())"
        done = subprocess.run(
            [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (1, f"{name}.py needs ascendlab: pip install ascendlab\n")


# ---- odd arguments

USES = {
    "read_bin": lambda value: read_bin(value, "int8"),
    "read_bin, type": lambda value: read_bin("x.bin", value),
    "read_bin, shape": lambda value: read_bin("x.bin", "int8", value),
    "read_array": read_array,
    "read_array, type": lambda value: read_array("x.bin", value),
    "read_golden": read_golden,
    "write_golden": lambda value: write_golden("d", value),
    "write_golden, folder": lambda value: write_golden(value, some_call(), name="../x"),
    "write_golden, scripts": lambda value: write_golden("d", some_call(), name="../x", scripts=value),
    "random_array": lambda value: random_array(value, 3, seed=1),
    "random_array, shape": lambda value: random_array("uint64", value, seed=1),
    "random_array, seed": lambda value: random_array("half", 3, seed=value),
    "random_array, name": lambda value: random_array("half", 3, seed=1, name=value),
    "write_bin": lambda value: write_bin("d", "x.bin", value, overwrite=True),
    "write_bin, folder": lambda value: write_bin(value, "../x", np.zeros(3, np.int8)),
    "write_bin, name": lambda value: write_bin("d", value, np.zeros(3, np.int8), overwrite=True),
}


@pytest.mark.parametrize("use", USES)
def test_odd_arguments(use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands for a path, a type, a shape or a case: a result or an error of the family."""
    monkeypatch.chdir(tmp_path)
    write_bin(tmp_path, "x.bin", np.zeros(4, np.int8))
    for make in MAKERS.values():
        with contextlib.suppress(al.AscendlabError):
            USES[use](make())
    assert {path.name for path in tmp_path.iterdir()} <= {"x.bin", "d"}


@pytest.mark.parametrize(
    ("example", "name", "wrong"),
    [
        ("v2", "product", "ATLAS_350"),
        ("v2", "product", None),
        ("v2", "profile", "documented"),
        ("im2col", "product", "ATLAS_A2"),
        ("im2col", "product", {}),
        ("aipp", "profile", "dav_3510"),
        ("aipp", "profile", ["documented"]),
    ],
)
def test_the_product_said_above_is_the_call_s(example: str, name: str, wrong: Any, tmp_path: Path) -> None:
    """A description whose heading names another product or profile than its call is refused."""
    sidecar = write_golden(tmp_path, examples()[example]).sidecar
    text = json.loads(sidecar.read_text())
    assert text[name] != wrong
    read_golden(sidecar)
    sidecar.write_text(json.dumps({**text, name: wrong}))
    with pytest.raises(al.FileProblemError, match=f"cannot be used: {name} = "):
        read_golden(sidecar)


# ---- the front page


def test_the_readme_s_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's example of golden data runs as it stands there, behind the example before it."""
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(code, names)
    assert np.array_equal(names["case"].golden, names["call"].run())
    assert (tmp_path / "my_case/scripts/verify_result.py").exists()
