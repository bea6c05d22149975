"""AIPP config files as text: what is read, what is refused, where and with which advice."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

import ascendlab as al
from ascendlab import aipp_config
from ascendlab.aipp_config_fields import CONFIG_FIELDS
from ascendlab.aipp_config_text import LARGEST_TEXT

CONFIGS = Path(__file__).parent / "data" / "aipp_configs"
GOOD = sorted(path.stem for path in CONFIGS.glob("good_*.cfg"))

REFUSED = {
    # file: (line, column, words of the problem, words of the advice) of every place
    "full_width_colon": [(4, 9, "full-width '：'", "Write ':'")],
    "float_mean": [(4 + i, 18, f"mean_chn_{i} is an integer, not {v}", f"Write min_chn_{i}: {v}")
                   for i, v in enumerate(("123.675", "116.28", "103.53"))],
    "float_mean_min_taken": [(4 + i, 18, f"mean_chn_{i} is an integer", f"belongs to var_reci_chn_{i}")
                             for i in range(3)],
    "unknown_key": [(4, 5, "csc_swich is no field", "Write csc_switch")],
    "unknown_format": [(3, 20, "input_format has no value RGB88_U8", "Write input_format: RGB888_U8")],
    "shouted_bool": [(4, 12, "not TRUE", "Write crop: true"), (5, 18, "not yes", "Write csc_switch: true")],
    "byte_order_mark": [(1, 1, "byte-order mark", "UTF-8 without")],
    "quoted_enum": [(3, 20, "no quotation marks", "Write input_format: RGB888_U8")],
    "given_twice": [(5, 5, "crop is given twice, first in line 4", "Keep one")],
    "hisilicon": [(4, 5, "HiSilicon", "input_format is YUV420SP_U8")],
    "kirin": [(3, 5, "Kirin", "directly into aipp_op")],
}  # fmt: skip


def refusal(source: object) -> al.AippConfigError:
    """Return the error of a text that cannot be read."""
    with pytest.raises(al.AippConfigError) as caught:
        al.read_aipp_config(source)
    error = caught.value
    assert error.problems
    assert (error.line, error.column) == error.problems[0][:2]
    for problem in error.problems:
        assert str(problem) in str(error)
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.fix
    return error


@pytest.mark.parametrize("name", REFUSED)
def test_refused_files_say_where_and_what_to_write(name: str) -> None:
    """Each misspelling that real files have: its line, its column, and the advice that mends it."""
    error = refusal(CONFIGS / f"{name}.cfg")
    assert len(error.problems) == len(REFUSED[name])
    for (line, column, problem, fix), (at, where, words, advice) in zip(error.problems, REFUSED[name], strict=True):
        assert (line, column) == (at, where)
        assert words in problem
        assert advice in fix


@pytest.mark.rule("config-grammar")
@pytest.mark.parametrize("name", GOOD)
def test_good_files_mean_what_protobuf_says(name: str) -> None:
    """Every style is read, from file, bytes and text alike, with protobuf's values and with the right lines."""
    data = (CONFIGS / f"{name}.cfg").read_bytes()
    config = al.read_aipp_config(CONFIGS / f"{name}.cfg")
    text = data.decode("utf-8", "replace")
    assert config == al.read_aipp_config(data) == al.read_aipp_config(text) == al.read_aipp_config(bytearray(data))
    new_message, _ = aipp_config._protobuf()
    message = text_format.Parse(text, new_message())
    assert len(config.aipp_op) == len(message.aipp_op)
    rows = text.split("\n")
    for op, theirs in zip(config.aipp_op, message.aipp_op, strict=True):
        assert set(op.values) == {field.name for field, _ in theirs.ListFields()} == set(op.lines)
        for field in CONFIG_FIELDS:
            value = getattr(theirs, field)
            if field in op.values and not isinstance(op.values[field], str):
                assert op.values[field] == value
        for field, line in op.lines.items():
            assert field in rows[line - 1]
        assert "aipp_op" in rows[op.line - 1]
        assert "}" in rows[op.last_line - 1]


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ("010", "src_image_size_w", 8), ("0x10", "src_image_size_w", 16), ("0", "src_image_size_w", 0),
        ("-88", "matrix_r1c1", -88), ("1e2", "min_chn_0", 100.0), (".5f", "min_chn_0", 0.5), ("5.", "min_chn_0", 5.0),
        ("-3f", "min_chn_0", -3.0), ("inf", "min_chn_0", float("inf")), ("t", "crop", True), ("0", "crop", False),
        ("True", "crop", True), ("2", "aipp_mode", "dynamic"), ("'a' \"b\"", "related_input_name", "ab"),
        ('"\\344\\270\\255"', "related_input_name", "中"), ('"# no comment }"', "related_input_name", "# no comment }"),
    ],
)  # fmt: skip
def test_values_are_read_as_protobuf_reads_them(written: str, field: str, value: object) -> None:
    """Octal, hexadecimal, exponents, suffixes, letters for booleans, numbers for enums, joined and escaped strings."""
    for text in (f"aipp_op{{{field}:{written}}}", f"aipp_op: <\r\n\t{field}  :  {written} ;\r\n>",
                 f"aipp_op: [{{ {field}: {written}, crop_size_h: 3 }}]"):  # fmt: skip
        config = al.read_aipp_config(text)
        assert config.aipp_op[0].values[field] == value
        assert type(config.aipp_op[0].values[field]) is type(value)


def test_a_capital_suffix_is_read_where_the_installed_protobuf_reads_it() -> None:
    """C++ takes 3F as 3.0, Python's protobuf since its release 6: what it refuses is refused with line and column."""
    text = "aipp_op{\n min_chn_0: 3F }"
    try:
        value = text_format.ParseFloat("3F")
    except ValueError:
        with pytest.raises(al.AippConfigError) as caught:
            al.read_aipp_config(text)
        assert caught.value.problems[0].line == 2
    else:
        assert al.read_aipp_config(text).aipp_op[0].values["min_chn_0"] == value == 3


@pytest.mark.parametrize(
    ("text", "line", "column", "problem", "fix"),
    [
        ("", 1, 1, "no aipp_op", "Write aipp_op {"),
        ("# all comment\n", 1, 1, "no aipp_op", "Write aipp_op {"),
        ("model/aipp.cfg", 1, 1, "'model/aipp.cfg' is no AIPP config", "pathlib.Path"),
        ("C:\\aipp.config\n", 1, 1, "is no AIPP config", "pathlib.Path"),
        ("aipp_mode: static", 1, 1, "outside aipp_op", "between  aipp_op {"),
        ("aipp_op {\n crop: true", 1, 1, "closed nowhere", "closing brace"),
        ("aipp_op {\n crop: true #}", 1, 1, "the brace in line 2 is in a comment", "closing brace"),
        ("aipp_op { crop: true }\n}", 2, 1, "closes nothing", "Take it out"),
        ("aipp_op {\n aipp_op { crop: true } }", 2, 2, "inside aipp_op", "Close the block of line 1"),
        ("aipp_op { crop true }", 1, 15, "no colon after crop", "Write crop: true"),
        ("aipp_op { crop:\n aipp_mode: static }", 2, 2, "crop has no value", "after crop:"),
        ("aipp_op { crop: }", 1, 17, "crop has no value", "after crop:"),
        ("aipp_op { crop = true }", 1, 16, "'=' where ':'", "Write ':'"),
        ("aipp_op { // no\n }", 1, 11, "'/' begins nothing", "with #"),
        ("aipp_op { crop:\u3000true }", 1, 16, "where a plain blank", "blank"),
        ("aipp_op { related_input_name: “a” }", 1, 31, "typographic", "straight"),
        ("aipp_op { related_input_name: \"a }\n", 1, 31, "does not close", "same line"),
        ("aipp_op { related_input_name: a }", 1, 31, "is a text", 'Write related_input_name: "a"'),
        ("aipp_op { src_image_size_w: -1 }", 1, 29, "in [0, 4294967295]", "in that range"),
        ("aipp_op { src_image_size_w: 224.0 }", 1, 29, "not 224.0", "Write src_image_size_w: 224"),
        ("aipp_op { mean_chn_0: 104.0 }", 1, 23, "not 104.0", "Write mean_chn_0: 104"),
        ("aipp_op { matrix_r0c0: 1_000 }", 1, 24, "not 1_000", "Write matrix_r0c0: 1000"),
        ("aipp_op { min_chn_0: +1 }", 1, 22, "not +1", "0.5"),
        ("aipp_op { min_chn_0: [1] }", 1, 22, "list", "one value"),
        ("aipp_op { std_chn_0: 58.4 }", 1, 11, "no field", "var_reci_chn_0, the reciprocal"),
        ("aipp_op { bias_1: 128 }", 1, 11, "no field", "input_bias_1 (YUV -> RGB)"),
        ("aipp_op { input_format: nv12 }", 1, 25, "no value nv12", "YUV420SP_U8 or XRGB8888_U8"),
        ("aipp_op { aipp_mode: Static }", 1, 22, "no value Static", "Write aipp_mode: static"),
        ("aipp_op { input_format: 9 }", 1, 25, "no value 9", "YUV400_U8"),
        ("aipp_op { crop: true } \ufeffaipp_op {}", 1, 24, "byte-order mark amid", "joined"),
        ("aipp_op { model_format: BGR }", 1, 11, "HiSilicon", "no model_format"),
        ("aipp_op { crop_para { switch: true } }", 1, 11, "Kirin", "directly"),
        ("aipp_op { csc_switch: true,, }", 1, 28, "", "protobuf's own message"),
        ("aipp_op { related_input_name: '\\q' }", 1, 31, "begins no escape", "a backslash"),
        ("aipp_op { related_input_name: '\\377' }", 1, 38, "", "protobuf's own message"),
    ],
)  # fmt: skip
def test_every_misspelling_is_explained(text: str, line: int, column: int, problem: str, fix: str) -> None:
    """One text, one place, one piece of advice."""
    error = refusal(text)
    assert (error.line, error.column) == (line, column)
    assert problem in error.problems[0].problem
    assert any(fix in p.fix for p in error.problems)


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    """Who has five mistakes need not run five times; of hundreds, the first twenty are told."""
    five = "aipp_op {\n crop: yes\n mean_chn_0: 1.5\n foo: 3\n input_format: X\n crop: no\n}"
    assert [p.line for p in refusal(five).problems] == [2, 3, 4, 5, 6]
    many = "aipp_op {" + "\n foo: 3" * 5000 + "}"
    assert len(refusal(many).problems) == 20


def test_a_config_and_its_errors_are_values() -> None:
    """Errors survive pickling; a bad byte in a comment is harmless, elsewhere it is named."""
    error = refusal("aipp_op { crop: yes }")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(twin), twin.problems, twin.line) == (str(error), error.problems, 1)
    config = al.read_aipp_config(CONFIGS / "good_plain.cfg")
    for twin in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config)):
        assert twin == config
        assert twin.aipp_op[0].crop_size_w == 224
    assert al.read_aipp_config(b"aipp_op { # \xd6\xd0\xff\n crop: true }").aipp_op[0].crop
    assert "no UTF-8" in str(refusal(b"aipp_op { crop: \xff }"))
    assert "no UTF-8" in str(refusal(b'aipp_op { related_input_name: "\xd6\xd0" }'))
    assert "UTF-16" in str(refusal("aipp_op {}".encode("utf-16")))
    assert "NUL" in str(refusal("aipp_op {}".encode("utf-16-le")))


@given(st.text(alphabet="aipo_{}<>:;,[]#\"'\\ \n\t019.-+xXeE\u00a0\u3000：", max_size=60))
def test_what_is_read_is_what_protobuf_reads(text: str) -> None:
    """Any text: read as protobuf reads it, or refused with a place; nothing else ever escapes."""
    new_message, _ = aipp_config._protobuf()
    for candidate in (text, f"aipp_op {{ {text} }}", f"aipp_op {{ crop: {text} }}", f"aipp_op {{ min_chn_0: {text}\n}}",
                      f"aipp_op {{ matrix_r0c0: {text}\n}}"):  # fmt: skip
        try:
            config = al.read_aipp_config(candidate)
        except al.AippConfigError:
            refusal(candidate)
        else:
            message = text_format.Parse(candidate, new_message())
            assert [len(op.values) for op in config.aipp_op] == [len(op.ListFields()) for op in message.aipp_op]
            assert [set(op.values) == set(op.lines) for op in config.aipp_op] == [True] * len(message.aipp_op)
            config.check()


@given(st.binary(max_size=200))
def test_binary_junk_is_refused(data: bytes) -> None:
    """No bytes make anything but a config or a clear refusal."""
    for junk in (data, b"aipp_op { crop: true " + data + b" }"):
        try:
            al.read_aipp_config(junk)
        except al.AippConfigError:
            assert len(refusal(junk).problems) <= 20


HOSTILE = {
    "100 MiB": b"#" * (100 << 20),
    "100 MiB of blocks": b"aipp_op{}" * ((100 << 20) // 9),
    "as many blocks as fit": b"aipp_op{}" * (LARGEST_TEXT // 9),
    "as many unknown names as fit": b"aipp_op{" + b"crop_siz: 1 " * (LARGEST_TEXT // 12 - 1),
    "a name that is close to many": b"aipp_op{" + b"matrix_" * (LARGEST_TEXT // 7 - 2) + b":1}",
    "deep nesting": b"aipp_op{" * (LARGEST_TEXT // 8),
    "deep foreign nesting": b"aipp_op{" + b"a{" * (LARGEST_TEXT // 2 - 8),
    "deep lists": b"aipp_op:" + b"[" * (LARGEST_TEXT - 8),
    "a number of a quarter million digits": b"aipp_op{matrix_r0c0:" + b"9" * (LARGEST_TEXT - 30) + b"}",
    "a float of as many": b"aipp_op{min_chn_0: 0." + b"9" * (LARGEST_TEXT - 30) + b"}",
    "a billion by exponent": b"aipp_op{mean_chn_0: 1e999999999}",
    "quotes": b"aipp_op{" + b'"' * (LARGEST_TEXT - 8),
    "an open quote and backslashes": b'aipp_op{related_input_name:"' + b"\\\\" * (LARGEST_TEXT // 2 - 40),
    "many open quotes": b"aipp_op{" + b"related_input_name:\"\\\n" * (LARGEST_TEXT // 22 - 2),
    "NUL bytes": b"\0" * LARGEST_TEXT,
    "blanks": b" " * LARGEST_TEXT,
    "comments": b"#\n" * (LARGEST_TEXT // 2),
    "carriage returns": b"\r" * LARGEST_TEXT,
    "full-width colons": "：".encode() * (LARGEST_TEXT // 3),
    "colons": b"aipp_op{crop" + b":" * (LARGEST_TEXT - 20),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_cost_little(name: str, tmp_path: Path) -> None:
    """Any text, as bytes or as a file, ends soon, in bounded memory, in a config or in one clear error."""
    data = HOSTILE[name]
    path = tmp_path / "hostile.cfg"
    path.write_bytes(data)
    al.read_aipp_config("aipp_op {}")  # protobuf's import is not the text's doing
    for source in (data, path):
        begin = time.process_time()
        if source is path:
            tracemalloc.start()
        try:
            if name == "as many blocks as fit":
                assert len(al.read_aipp_config(source).aipp_op) == LARGEST_TEXT // 9
            else:
                error = refusal(source)
                assert len(str(error)) < 6000
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 64 << 20
        assert time.process_time() - begin < 20, "a bound, far off: no text takes minutes"


def test_paths_are_files_and_only_files(tmp_path: Path) -> None:
    """No folder, no pipe, no device, no loop of links: an error that says so, at once."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(CONFIGS / "good_plain.cfg")
    assert al.read_aipp_config(link).aipp_op[0].crop
    for path in (tmp_path, loop, pipe, Path("/dev/zero"), tmp_path / "none", Path("a\0b"), Path("x" * 5000)):
        with pytest.raises(al.FileProblemError) as caught:
            al.read_aipp_config(path)
        assert caught.value.path == path
    for wrong in (None, 3, ["aipp_op {}"], object()):
        with pytest.raises(al.ParameterError, match="source = "):
            al.read_aipp_config(wrong)


def test_protobuf_is_missed_only_when_a_config_is_read() -> None:
    """Without protobuf all else works, and reading says what to install."""
    code = (
        "import sys; sys.modules['google.protobuf'] = None\n"
        "import ascendlab as al\n"
        "from ascendlab import aipp_config\n"
        "try: al.read_aipp_config('aipp_op {}')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'ascendlab[notebooks]'" in done.stdout
