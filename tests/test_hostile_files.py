"""Files that nobody should open: refused in the library's words, with little memory, and nothing written or run."""

from __future__ import annotations

import copy
import io
import json
import os
import shutil
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_cases import SEED, examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import EpsImagePlugin, Image

import ascendlab as al
from ascendlab import cli, golden_json
from ascendlab.golden import read_array, read_bin, read_golden, write_bin, write_golden

MIB = 1024 * 1024


def sparse(path: Path, size: int) -> Path:
    """Make a file that is large, and takes no space."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def text(content: str | bytes) -> Callable[[Path], None]:
    """Return what writes a file with this content."""
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content) and None


def loop(path: Path) -> None:
    """Make a link that leads to itself, over another one."""
    path.with_name("other").symlink_to(path)
    path.symlink_to(path.with_name("other"))


BAD_FILES: dict[str, Callable[[Path], Any]] = {
    "missing": lambda path: None,
    "empty": text(""),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a loop of links": loop,
    "a broken link": lambda path: path.symlink_to("nowhere"),
    "100 MiB of zeros": lambda path: sparse(path, 100 * MIB),
    "1 TiB of zeros": lambda path: sparse(path, 1024 * 1024 * MIB),
    "20 MiB of digits": lambda path: path.write_bytes(b"1" * (20 * MIB)),
    "binary junk": text(np.random.default_rng(5).bytes(5000)),
    "an executable": text(b"\x7fELF\x02\x01\x01" + bytes(200)),
    "nul": text('{"schema": "\0"}'),
    "utf-16": text('{"schema": 1}'.encode("utf-16")),
    "utf-8 with bom": text(b"\xef\xbb\xbf{}"),
    "latin-1": text('{"schema": "\xe4"}'.encode("latin-1")),
    "deep lists": text("[" * 500_000),
    "deep lists, closed": text("[" * 100_000 + "]" * 100_000),
    "deep objects": text('{"a":' * 100_000),
    "a number of a million digits": text('{"schema": ' + "9" * (MIB - 20) + "}"),
    "a float of many digits": text('{"schema": 0.' + "3" * 5000 + "}"),
    "1e999": text('{"schema": 1e999}'),
    "NaN": text('{"schema": NaN}'),
    "Infinity": text('{"schema": [-Infinity]}'),
    "a name twice": text('{"a": 1, "a": 1}'),
    "no object": text("[1, 2]"),
    "half a file": text('{"schema": "ascendlab-golden-1", "name"'),
    "two objects": text("{}{}"),
    "an open string": text('{"' + "\\" * 3001),
    "a lone surrogate": text('{"schema": "\\ud800"}'),
    "a pickle": text(b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."),
}


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Hold that a test needs no more than 8 MiB, whatever the file says."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MIB


REASONS = {
    b"": "is no JSON: line 1, column 1",
    b"[1]": "no JSON object",
    b'{"a": 1, "a": 1}': "gives a twice",
    b'{"b": {"\\u0061": 1, "a": 1}}': "gives a twice",
    b'{"a": NaN}': "has NaN, which is no JSON",
    b'{"a": -Infinity}': "has -Infinity, which is no JSON",
    b'{"a": 1e999}': "has the number 1e999, which is too large",
    b'{"a": ' + b"9" * 5000 + b"}": "has a number of 5,000 characters",
    b'{"a": 0.' + b"9" * 5000 + b"}": "has a number of 5,002 characters",
    b'{"a": ' * 40: "is nested more than 32 levels deep",
    b'{"a": "\0"}': "has a NUL byte",
    b"\xff\xfe{": "begins with a byte-order mark",
    b"\xef\xbb\xbf{}": "begins with a byte-order mark",
    b'{"\xe4": 1}': "is no UTF-8: byte 2 is 0xe4",
    b" " * (MIB + 1): "has more than 1,048,576 bytes",
}


@pytest.mark.parametrize("data", REASONS, ids=REASONS.values())
def test_what_is_wrong_with_json(data: bytes) -> None:
    """The message says what is wrong, and with which file."""
    with pytest.raises(al.FileProblemError) as caught:
        golden_json.parse(data, "x.json")
    assert str(caught.value).startswith("x.json ")
    assert REASONS[data] in str(caught.value)


def make(kind: str, path: Path) -> Path:
    """Make one of the bad files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    BAD_FILES[kind](path)
    return path


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_descriptions(kind: str, tmp_path: Path, little_memory: None) -> None:
    """A description of golden data that is none is refused, whatever it is."""
    path = make(kind, tmp_path / "case.json")
    tracemalloc.reset_peak()
    with pytest.raises(al.FileProblemError) as caught:
        read_golden(path)
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_data_files(kind: str, tmp_path: Path, little_memory: None) -> None:
    """A data file that is not there, is no file, or has another size is refused before it is read."""
    path = make(kind, tmp_path / "x.bin")
    tracemalloc.reset_peak()
    with pytest.raises(al.FileProblemError):
        read_bin(path, "half", (3, 3, 3))


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files_of_numpy(kind: str, tmp_path: Path, little_memory: None) -> None:
    """The same for files that NumPy should have written."""
    path = make(kind, tmp_path / "x.npy")
    tracemalloc.reset_peak()
    with pytest.raises(al.FileProblemError):
        read_array(path)


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_config_files(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], little_memory: None) -> None:
    """The command line says in a few lines what such a file is, for configs and for pictures."""
    path, good = make(kind, tmp_path / "x.cfg"), tmp_path / "good.cfg"
    good.write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    import google.protobuf.text_format  # noqa: F401 - its own memory does not count

    tracemalloc.reset_peak()
    assert cli.main(["check-config", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert 0 < len(printed.err) < 4000
    assert "Traceback" not in printed.err


@pytest.mark.parametrize("kind", [kind for kind in BAD_FILES if not kind.startswith("100 MiB")])
def test_bad_pictures(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no picture is drawn by nobody."""
    (tmp_path / "good.cfg").write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    picture, out = make(kind, tmp_path / "x.png"), tmp_path / "out.png"
    assert cli.main(["render", str(tmp_path / "good.cfg"), "--image", str(picture), "--out", str(out)]) == 2
    assert not out.exists()
    assert capsys.readouterr().err.startswith("ascendlab: ")


def png(width: int, height: int, data: bytes = b"") -> bytes:
    """Make a PNG file by hand."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(60000, 60000), (2**31 - 1, 2**31 - 1), (4096, 2), (1, 9), (0, 0), (300, 300)])
def test_pictures_that_unpack_to_more(size: tuple[int, int], tmp_path: Path, little_memory: None) -> None:
    """A picture's size is looked at before it is unpacked; one with less data than it says is none."""
    from ascendlab.pictures import read_picture

    tracemalloc.reset_peak()
    with pytest.raises(al.ParameterError, match="image"):
        read_picture(png(*size, zlib.compress(bytes(1000))))


def test_no_picture_starts_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostScript, which Pillow has another program draw, is no picture here."""
    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *args, **more: started.append(args))
    from ascendlab.pictures import read_picture

    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "EPS")
    with pytest.raises(al.ParameterError, match="image"):
        read_picture(file.getvalue())
    assert started == []


def test_a_border_that_would_fill_the_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A config file cannot ask for more border than a picture has."""
    side = "aipp_op {{ aipp_mode: static input_format: RGB888_U8 padding: true {}_padding_size: 4294967295 }}"
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    for name in ("left", "right", "top", "bottom"):
        (tmp_path / "x.cfg").write_text(side.format(name))
        assert cli.main(["render", str(tmp_path / "x.cfg"), "--image", str(tmp_path / "x.png"),
                         "--out", str(tmp_path / "out.png")]) == 2  # fmt: skip
        assert f"{name}_padding_size = 4294967295 is not allowed" in capsys.readouterr().err


# ---- descriptions that nearly are right


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a case of a function with structures, a mask, several operands and a setup."""
    folder = tmp_path_factory.mktemp("good")
    for name in ("aipp", "v2", "bilinear"):
        write_golden(folder / name, examples()[name], seed=SEED)
    return folder


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value in a description."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from nodes(part, (*path, key))


def changed(description: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """Return a copy of a description with one change at a place."""
    result = copy.deepcopy(description)
    here = result
    for key in path[:-1]:
        here = here[key]
    change(here, path[-1])
    return result


ODD = (None, True, -1, 0, 2**70, 1.5, -0.0, 1e308, "", "x", "../x", "/etc/passwd", "\x00", "\U0001f600" * 50, [], [[]],
       {}, {"file": "src"}, {"file": "../case"}, {"structure": "int"}, {"function": "set_aipp_functions"},
       "os.system('false')", "__import__", [1, 2, 3], "kernel os.system", ["0xff"], "0x" + "f" * 99)  # fmt: skip


@pytest.mark.parametrize("name", ["aipp", "v2", "bilinear"])
def test_every_value_replaced(name: str, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any value replaced by any other: the same call, another that is legal too, or an error of the family."""
    shutil.copytree(good / name, tmp_path / name)
    sidecar = tmp_path / name / "case.json"
    description = json.loads(sidecar.read_text())
    read, lengths = 0, []
    # What is read from the file system is not the question here, and takes most of the time.
    current: dict[str, Any] = {}
    monkeypatch.setattr("ascendlab.golden_read.read_object", lambda path: current["value"])
    for i, path in enumerate(nodes(description)):
        for odd in ODD[i % 7 :: 7]:

            def put(here: Any, key: Any, odd: Any = odd) -> None:
                here[key] = odd

            current["value"] = changed(description, path, put)
            try:
                read_golden(sidecar)
            except al.FileProblemError as error:
                lengths.append(len(str(error)))
            else:
                read += 1
    assert 0 < read < len(lengths) / 3
    assert max(lengths) < 3000


@pytest.mark.parametrize("name", ["aipp", "v2", "bilinear"])
def test_every_name_misspelled(name: str, good: Path, tmp_path: Path) -> None:
    """A name that is not known is refused with the one that is meant."""
    description = json.loads((good / name / "case.json").read_text())
    shutil.copytree(good / name, tmp_path / name)
    sidecar = tmp_path / name / "case.json"
    names = [path for path in nodes(description) if isinstance(path[-1], str)]
    for path in names:

        def misspell(here: Any, key: Any) -> None:
            here[f"{key}X"] = here.pop(key)

        sidecar.write_text(json.dumps(changed(description, path, misspell)))
        if path == ("schema",) or (path[0] == "arguments" and path[-1] in ("structure", "function", "file")):
            expected = "schema" if path == ("schema",) else ".structure = None is not allowed"
        elif path[0] == "inputs" and len(path) == 2:  # a name of the case's own, which the arguments know
            expected = f"the name of an input: {path[-1]}X"
        else:
            expected = f"allowed: {path[-1]}"
        with pytest.raises(al.FileProblemError, match=r"case\.json") as caught:
            read_golden(sidecar)
        assert expected in str(caught.value), path


@pytest.mark.parametrize(
    "file",
    ["../secret.bin", "/etc/passwd", "input/../../secret.bin", "C:\\x.bin", "input\\src.bin", "input//src.bin", "./x",
     "input/src.bin/", "~/x", "file:///etc/passwd", "", "input", "nul", "input/\0", "outside/secret.bin", "link.bin",
     "loop.bin", "x" * 500],
)  # fmt: skip
def test_files_outside_the_folder(file: str, good: Path, tmp_path: Path) -> None:
    """No name and no link in a description leads to a file outside of its folder."""
    shutil.copytree(good / "v2", tmp_path / "v2")
    secret = tmp_path / "secret.bin"
    shutil.copy(tmp_path / "v2/input/src.bin", secret)
    (tmp_path / "v2/outside").symlink_to("..")
    (tmp_path / "v2/link.bin").symlink_to(secret)
    (tmp_path / "v2/loop.bin").symlink_to("loop.bin")
    description = json.loads((tmp_path / "v2/case.json").read_text())
    description["inputs"]["src"]["file"] = file
    (tmp_path / "v2/case.json").write_text(json.dumps(description))
    with pytest.raises(al.FileProblemError):
        read_golden(tmp_path / "v2")


def test_links_inside_the_folder_are_fine(good: Path, tmp_path: Path) -> None:
    """A link to a file of the same folder, and a folder that is reached by a link, are as good as the file."""
    shutil.copytree(good / "v2", tmp_path / "v2")
    (tmp_path / "v2/input/src.bin").rename(tmp_path / "v2/real.bin")
    (tmp_path / "v2/input/src.bin").symlink_to("../real.bin")
    (tmp_path / "by_link").symlink_to("v2")
    assert read_golden(tmp_path / "by_link").name == "case"


def test_a_changed_file_is_seen(good: Path, tmp_path: Path) -> None:
    """One flipped bit in any file of a case, or a byte too many, is seen when the file is used."""
    for file in ("input/src.bin", "input/out.bin", "output/golden.bin"):
        shutil.copytree(good / "v2", tmp_path / file)
        target = tmp_path / file / file
        data = bytearray(target.read_bytes())
        data[len(data) // 2] ^= 4
        target.write_bytes(data)
        with pytest.raises(al.FileProblemError, match="checksum"):
            _ = read_golden(tmp_path / file).golden
        target.write_bytes(data + b"\0")
        with pytest.raises(al.FileProblemError, match=r"has \S+ bytes, but the description says"):
            read_golden(tmp_path / file)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
                    max_leaves=12))  # fmt: skip
def test_any_json(value: Any) -> None:
    """What Python's own parser takes for an object is read alike, unless a number is none; all else is refused."""
    data = json.dumps(value).encode()
    try:
        assert golden_json.parse(data, "x.json") == value
    except al.FileProblemError:
        assert not isinstance(value, dict) or b"NaN" in data or b"Infinity" in data or len(data) > 60


# ---- writing


def everything(folder: Path) -> dict[str, Any]:
    """Return all that is in a folder."""
    return {str(path.relative_to(folder)): path.is_dir() or path.is_symlink() or path.read_bytes()
            for path in folder.rglob("*")}  # fmt: skip


@pytest.mark.parametrize("place", ["input", "output", "scripts", "input/src.bin", "case.json", "output/golden.bin"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_no_link_leads_writing_outside(place: str, overwrite: bool, tmp_path: Path) -> None:
    """A link in the folder, to a folder or a file, gets nothing written through it."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    (outside / "file").write_bytes(b"mine")
    (folder / place).parent.mkdir(parents=True)
    (folder / place).symlink_to(outside / "file" if "." in place else outside)
    with pytest.raises(al.FileProblemError):
        write_golden(folder, examples()["v2"], scripts=True, overwrite=overwrite)
    assert everything(outside) == {"file": b"mine"}


@pytest.mark.parametrize(
    "name", ["../x.bin", "/x.bin", "a/../../x.bin", "..", ".", "a\\x.bin", "a/./x", "c:x", "a\nb", "aux"]
)
def test_no_name_leads_writing_outside(name: str, tmp_path: Path) -> None:
    """Names that leave the folder, or that some system takes for something else, are refused."""
    with pytest.raises(al.FileProblemError):
        write_bin(tmp_path / "folder", name, np.zeros(3, np.int8))
    assert everything(tmp_path) == {}


def test_what_is_in_the_way_stays(tmp_path: Path) -> None:
    """A folder, a pipe or a file where a folder should be: refused, even with overwrite=True, and still there."""
    (tmp_path / "x.bin").mkdir()
    os.mkfifo(tmp_path / "y.bin")
    (tmp_path / "z").write_bytes(b"mine")
    before = sorted(tmp_path.iterdir())
    for name in ("x.bin", "y.bin", "z/a.bin"):
        with pytest.raises(al.FileProblemError):
            write_bin(tmp_path, name, np.zeros(3, np.int8), overwrite=True)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "z").read_bytes() == b"mine"


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system refuses in the middle, the old file is still whole and no scratch file is left."""
    write_bin(tmp_path, "x.bin", np.zeros(3, np.int8))

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(al.FileProblemError, match="No space left on device"):
        write_bin(tmp_path, "x.bin", np.ones(3, np.int8), overwrite=True)
    assert everything(tmp_path) == {"x.bin": bytes(3)}
