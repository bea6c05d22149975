"""The command line: what it prints where, its exit codes, and that it ends quietly."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ascendlab as al
from ascendlab import cli
from ascendlab.cli import main
from ascendlab.golden import compare, random_array, read_bin, read_golden, write_bin, write_golden

CLEAN = "aipp_op {\n  aipp_mode: static\n  input_format: RGB888_U8\n}\n"
WRONG = "aipp_op {\n  aipp_mode: static\n  input_format: YUV400_U8\n  csc_switch: true\n}\n"
BROKEN = "aipp_op {\n  aipp_mode: static\n  input_fromat: RGB888_U8\n}\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own, with config files of three kinds and a picture."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("clean.cfg", CLEAN), ("wrong.cfg", WRONG), ("broken.cfg", BROKEN)):
        Path(name).write_text(text)
    rows = np.arange(20 * 30 * 3, dtype=np.uint32).reshape(20, 30, 3)
    Image.fromarray((rows % 251).astype(np.uint8)).save("picture.png")
    return tmp_path


# ---- all commands


@pytest.mark.parametrize("command", ["", "check-config", "render", "compare"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command explains itself, with examples and exit codes."""
    assert main([*command.split(), "--help"]) == 0
    printed = capsys.readouterr()
    assert f"usage: ascendlab {command}".strip() in printed.out
    assert "exit codes: 0 " in printed.out
    assert "example" in printed.out
    assert printed.err == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is that of the package."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ascendlab {al.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["render", "clean.cfg"], ["check-config"], ["--nonsense"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong command line is answered with how to write it, and 2."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("usage: ascendlab")
    assert printed.out == ""


def test_the_module_and_the_program_are_the_same(tmp_path: Path) -> None:
    """`python -m ascendlab` hands on the exit code; a reader that goes away leaves no complaint behind."""
    environment = {**os.environ, "PYTHONPATH": str(Path(al.__file__).parent.parent)}
    command = [sys.executable, "-m", "ascendlab", "check-config", "wrong.cfg"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_control_c_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Control-C ends a command without a traceback, with the exit code that shells expect."""

    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_config_source", interrupted)
    assert main(["check-config", "clean.cfg"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("error", [MemoryError(), ImportError("protobuf is missing")])
def test_what_the_machine_lacks_is_said(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too little memory, or a package that is not installed: one line, and 2."""

    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_config_source", fail)
    assert main(["check-config", "clean.cfg"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ascendlab: ")
    assert printed.err.count("\n") == 1


def test_lab_gets_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """`lab` hands everything behind it on, options too, and returns what comes back."""
    given = []
    monkeypatch.setattr("ascendlab.lab.main", lambda arguments: given.append(arguments) or 5)
    assert main(["lab", "--port", "9999", "--help"]) == 5
    assert given == [["--port", "9999", "--help"]]


# ---- check-config


def test_a_clean_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to say is said, and gives 0."""
    assert main(["check-config", "clean.cfg"]) == 0
    assert capsys.readouterr() == ("clean.cfg: nothing looks wrong\n", "")


def test_findings_stand_with_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """What looks wrong is printed as editors follow it, file and line first, and gives 1; then come all its lines."""
    assert main(["check-config", "wrong.cfg"]) == 1
    printed = capsys.readouterr()
    finding = al.read_aipp_config(WRONG).check()[0]
    assert printed.out == f"wrong.cfg:3: [yuv400-csc] {finding.why}. {finding.fix} (lines 3, 4)\n"
    assert printed.err == ""


def test_what_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is none gives 2, its line and column, and what to write."""
    assert main(["check-config", "broken.cfg"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "broken.cfg:3:3: input_fromat is no field of aipp_op. Write input_format\n"


def test_several_files(capsys: pytest.CaptureFixture[str]) -> None:
    """All files are looked at, whatever the first ones hold; the exit code is the worst."""
    assert main(["check-config", "missing.cfg", "broken.cfg", "wrong.cfg", "clean.cfg"]) == 2
    printed = capsys.readouterr()
    assert [line.split(":")[0] for line in printed.out.splitlines()] == ["wrong.cfg", "clean.cfg"]
    assert [line.split(":")[0] for line in printed.err.splitlines()] == ["missing.cfg", "broken.cfg"]
    assert main(["check-config", "clean.cfg", "wrong.cfg", "clean.cfg"]) == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A minus stands for the standard input, of which no more is read than a config can have."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert main(["check-config", "-"]) == 1
    assert capsys.readouterr().out.startswith("standard input:3: [yuv400-csc]")
    endless = io.BytesIO(b" " * 10_000_000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(endless))
    assert main(["check-config", "-"]) == 2
    assert endless.tell() < 1_000_000


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """What a file says is printed as text: it cannot move the cursor or change the terminal's title."""
    Path("evil.cfg").write_text('aipp_op { aipp_mode: "\x1b]0;evil\x07\x1b[2J" }')
    assert main(["check-config", "evil.cfg", "\x1b[31m.cfg"]) == 2
    printed = capsys.readouterr()
    assert "evil" in printed.err
    assert "\x1b" not in printed.err + printed.out
    assert "\x07" not in printed.err


# ---- render


@pytest.mark.parametrize("view", ["stages", "standards"])
def test_render(view: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A picture is drawn where it was asked for, and said in a line what is in it."""
    assert main(["render", "clean.cfg", "--image", "picture.png", "--out", "drawn.png", "--view", view]) == 0
    with Image.open("drawn.png") as image:
        assert image.format == "PNG"
        assert image.size == (700, 520)
    printed = capsys.readouterr()
    assert printed.out.startswith("drawn.png: (20, 30, 3) half, 3,600 bytes, checksum ")
    assert printed.out.endswith("; source: RGB, 0 to 250\n")
    assert printed.err == ""


def test_render_shows_the_picture_that_was_given() -> None:
    """Another picture, or another standard, makes another drawing of the standards."""
    rows = np.arange(20 * 30 * 3, dtype=np.uint32).reshape(20, 30, 3)[::-1]
    Image.fromarray((rows % 251).astype(np.uint8)).save("other.png")
    drawn = []
    for i, more in enumerate((["picture.png"], ["other.png"], ["picture.png", "--standard", "bt709_wide"])):
        command = ["render", "clean.cfg", "--view", "standards", "--out", f"{i}.png", "--image", *more]
        assert main(command) == 0
        drawn.append(Path(f"{i}.png").read_bytes())
    assert len(set(drawn)) == 3


def test_render_names_its_picture_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --out the picture gets the config's name; one that is there is replaced only if that is said."""
    command = ["render", "wrong.cfg", "--image", "picture.png"]
    assert main(command) == 0
    assert capsys.readouterr().err == "1 thing looks wrong in wrong.cfg: see ascendlab check-config wrong.cfg\n"
    Path("wrong.png").write_bytes(b"mine")
    assert main(command) == 2
    assert Path("wrong.png").read_bytes() == b"mine"
    assert "--overwrite" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
    assert Path("wrong.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--block", "1"], "block = 1 is not allowed"),
        (["--standard", "secam"], "standard = 'secam' is not allowed"),
        (["--profile", "mine"], "profile = 'mine' is not allowed"),
        (["--image", "clean.cfg"], "image = "),
        (["--image", "missing.png"], "missing.png cannot be read: No such file or directory"),
        (["--out", "missing/x.png"], "missing/x.png cannot be written: No such file or directory"),
        (["--out", "."], "is in the way, and no regular file"),
    ],
)
def test_render_says_what_is_wrong(more: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever cannot be used is named in one line, and nothing is drawn."""
    before = sorted(path.name for path in Path().iterdir())
    assert main(["render", "clean.cfg", "--image", "picture.png", *more]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ascendlab: ")
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == before


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal the steps are said while they last, and taken away at the end."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["render", "clean.cfg", "--image", "picture.png"]) == 0
    shown = capsys.readouterr().err.split("\r\x1b[K")
    assert [step for step in shown if step] == [
        "[1/4] reading the files ...", "[2/4] computing the picture ...", "[3/4] drawing ...", "[4/4] writing ...",
    ]  # fmt: skip
    assert shown[-1] == ""


# ---- compare


@pytest.fixture
def case() -> Path:
    """Write a case; its device has computed the right result, and a wrong one."""
    params = al.LoadData3DParamsV2(
        l1_h=5, l1_w=6, channel_size=16, filter_h=3, filter_w=2, m_extension=15, k_extension=96
    )
    call = al.Call(al.load_data_3d_v2, {"src": random_array("half", (1, 5, 6, 16), seed=3), "params": params})
    golden = write_golden("case", call).golden
    write_bin("case", "output/output.bin", golden)
    wrong = golden.copy()
    wrong[0, 2, 3, 4] += 1
    write_bin("case", "output/wrong.bin", wrong)
    np.save("wrong.npy", wrong)
    np.save("golden.npy", golden)
    return Path("case")


def test_compare_with_a_case(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the description nothing else need be said: equal is 0, different is 1, with the place and its source."""
    assert main(["compare", "case/output/output.bin", "--case", "case/case.json"]) == 0
    assert "output.bin and golden are equal" in capsys.readouterr().out
    assert main(["compare", "case/output/wrong.bin", "--case", "case"]) == 1
    printed = capsys.readouterr()
    found = compare(read_bin("case/output/wrong.bin", "half", (1, 6, 16, 16)), read_golden("case"))
    assert printed.out.replace("wrong.bin", "actual") == f"{found}\n"
    assert "which is src[0, 1, 3, 4]" in printed.out
    assert printed.err == ""
    command = ["compare", "case/output/wrong.bin", "case/output/wrong.bin", "--case", "case"]
    assert main(command) == 0  # the other file instead of the case's own


def test_compare_without_a_case(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Raw files need type and shape, those of NumPy know them."""
    raw = ["compare", "case/output/wrong.bin", "case/output/golden.bin", "--dtype", "half"]
    assert main(raw) == 1
    assert main([*raw, "--shape", "1x6x16,16", "--layout", "ZZ"]) == 1
    assert "matrix row 3, column 36" in capsys.readouterr().out
    assert main(["compare", "wrong.npy", "golden.npy"]) == 1
    assert main(["compare", "golden.npy", "golden.npy"]) == 0
    assert main(["compare", "case/output/output.bin", "golden.npy"]) == 0


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--atol", "1"], 0),
        (["--atol", "0.9"], 1),
        (["--max-bad", "0.001"], 0),
        (["--max-bad", "0.0005"], 1),
        (["--rtol", "1e6"], 0),
    ],
)
def test_compare_with_tolerance(case: Path, more: list[str], code: int) -> None:
    """Tolerances and the share of elements that may be off decide."""
    assert main(["compare", "wrong.npy", "golden.npy", *more]) == code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.bin", "golden.npy"], "missing.bin cannot be read"),
        (["wrong.npy"], "a file, or --case"),
        (["case/output/wrong.bin", "case/output/golden.bin"], "dtype = None"),
        (["wrong.npy", "golden.npy", "--dtype", "int8"], "golden.npy holds half, not int8"),
        (["wrong.npy", "golden.npy", "--rtol", "nan"], "rtol = nan is not allowed"),
        (["wrong.npy", "golden.npy", "--output", "x"], "--output = 'x'"),
        (["wrong.npy", "--case", "case", "--dtype", "half"], "--dtype = 'half'"),
        (["wrong.npy", "--case", "case", "--shape", "3"], "--shape = (3,)"),
        (["wrong.npy", "--case", "case", "--output", "x"], "allowed: "),
        (["wrong.npy", "--case", "wrong.npy"], "wrong.npy "),
        (["case/input/src.bin", "--case", "case"], "has 960 bytes, but half of shape (1, 6, 16, 16) takes 3,072"),
        (["wrong.npy", "golden.npy", "--worst", "-1"], "worst = -1"),
    ],
)
def test_compare_says_what_is_wrong(
    case: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be compared is named in one line, and gives 2."""
    assert main(["compare", *arguments]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.startswith("ascendlab: ")
    assert printed.out == ""


def test_compare_draws_a_map(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The map is drawn where it was asked for, for equal files too, and over nothing that is there."""
    command = ["compare", "wrong.npy", "golden.npy", "--map", "map.png"]
    assert main(command) == 1
    first = Path("map.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert main(["compare", "golden.npy", "golden.npy", "--map", "map.png"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert Path("map.png").read_bytes() == first
    assert main(["compare", "golden.npy", "golden.npy", "--map", "map.png", "--overwrite"]) == 0
    assert Path("map.png").read_bytes() not in (first, b"")


def test_file_names_are_no_formulas(case: Path) -> None:
    """A file's name is drawn as it is, whatever a formula's sign in it would mean."""
    Path("wrong.npy").rename("a$x_{$.npy")
    assert main(["compare", "a$x_{$.npy", "golden.npy", "--map", "map.png"]) == 1


@pytest.mark.parametrize("shape", ["", "a", "1,,2", "-1", "1.5", "9" * 5000, "3,"])
def test_shapes_that_are_none(shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no shape is answered with how to write one."""
    assert main(["compare", "a.bin", "b.bin", "--dtype", "half", f"--shape={shape}"]) == 2
    assert "such as 2,9,16,16" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "render clean.cfg --image picture.png --out picture.png",
        "render picture.cfg --image picture.png",
        "render clean.cfg --image picture.png --out clean.cfg",
        "compare golden.npy actual.npy --map golden.npy",
        "compare golden.npy actual.npy --map ./actual.npy",
        "compare golden.npy actual.npy --map link.npy",
    ],
)
def test_what_a_command_reads_is_never_overwritten(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A picture does not replace the files that it is drawn from, by whatever name, not even with --overwrite."""
    Path("picture.cfg").write_text(CLEAN)
    for name in ("golden.npy", "actual.npy"):
        np.save(name, np.arange(6, dtype=np.int8))
    os.link("golden.npy", "link.npy")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert main([*command.split(), "--overwrite"]) == 2
    assert "is read by this command. Draw into another file" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_case_s_files_are_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does the map replace the golden files of the case that it is drawn from."""
    call = al.Call(
        al.vector_padding, {"src": np.arange(16, dtype=np.int16), "pad_mode": 1, "pad_side": False, "count": 16}
    )
    case = write_golden("case", call)
    before = {path: path.read_bytes() for path in Path("case").rglob("*") if path.is_file()}
    write_bin(".", "device.bin", call.run())
    for place in ("case/output/golden.bin", "case/input/src.bin", str(case.sidecar)):
        assert main(["compare", "device.bin", "--case", "case/case.json", "--map", place, "--overwrite"]) == 2
        assert "is read by this command" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path("case").rglob("*") if path.is_file()} == before
