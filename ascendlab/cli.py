"""The command line: ``python -m ascendlab``, or ``ascendlab``.

Each command prints results to the standard output and trouble to the standard error, and ends with 0 (fine), 1 (looked,
and found something wrong) or 2 (could not look).

>>> main(["check-config", "no/such/file.cfg"])
2
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ascendlab.errors import AippConfigError, AscendlabError, FileProblemError, ParameterError

__all__ = ["main"]

FINE, FOUND, FAILED = 0, 1, 2
_INTERRUPTED, _PIPE_CLOSED = 130, 141  # what shells expect of Control-C and of a closed pipe
_LARGEST_IMAGE = 256 * 1024 * 1024

_EPILOG = """\
examples:
  ascendlab lab                                        open the notebooks
  ascendlab check-config aipp.cfg                      what looks wrong in an AIPP config file
  ascendlab render aipp.cfg --image cat.jpg            what it does to a picture, as aipp.png
  ascendlab compare output.bin --case case.json        where a device's result is wrong, and why

exit codes: 0 fine, 1 something is wrong or different, 2 a file cannot be used
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands behind the program's name; the process's own arguments by default.

    Returns
    -------
    int
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode is no reason to fail
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["lab"]:  # its arguments are JupyterLab's
            from ascendlab import lab

            return lab.main(given[1:])
        options = _parser().parse_args(given)
        run: Callable[[argparse.Namespace], int] = options.run
        code = run(options)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse, after --help or a wrong option
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more; Python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _PIPE_CLOSED
    except (AscendlabError, ImportError) as error:
        _complain(f"ascendlab: {error}")
        return FAILED
    except MemoryError:
        _complain("ascendlab: not enough memory for that")
        return FAILED


def _plain(text: str) -> str:
    """Return a text whose control characters, which a terminal would obey, are spelled out."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


def _say(text: str) -> None:
    print(_plain(text))


def _complain(text: str) -> None:
    sys.stdout.flush()
    print(_plain(text), file=sys.stderr)


@contextmanager
def _progress(steps: Sequence[str]) -> Iterator[Callable[[], None]]:
    """Say on a terminal which of several steps is being done; yields what to call at the beginning of each."""
    shown, done = sys.stderr.isatty(), iter(enumerate(steps, 1))

    def step() -> None:
        number, words = next(done)
        if shown:
            print(f"\r\x1b[K[{number}/{len(steps)}] {words} ...", end="", file=sys.stderr, flush=True)

    try:
        yield step
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _version() -> str:
    return str(getattr(sys.modules["ascendlab"], "__version__", ""))


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="ascendlab", formatter_class=form, epilog=_EPILOG, allow_abbrev=False,
        description="See and compute what five Ascend C APIs do, without hardware and without CANN.",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"ascendlab {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str, epilog: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=epilog, formatter_class=form,
            allow_abbrev=False,
        )  # fmt: skip
        command.set_defaults(run=run)
        return command

    commands.add_parser("lab", help="open the notebooks in JupyterLab", add_help=False)
    check = add(
        "check-config", _check_config, "say what looks wrong in AIPP config files",
        "exit codes: 0 nothing looks wrong, 1 something does, 2 a file cannot be read\n\n"
        "example:\n  ascendlab check-config aipp_*.cfg",
    )  # fmt: skip
    check.add_argument("files", nargs="+", metavar="FILE", help="a config file; - for the standard input")
    render = add(
        "render", _render, "draw what an AIPP config file does to a picture",
        "exit codes: 0 drawn, 2 a file cannot be used\n\n"
        "examples:\n  ascendlab render aipp.cfg --image cat.jpg\n"
        "  ascendlab render aipp.cfg --image cat.jpg --view standards --out which_standard.png",
    )  # fmt: skip
    render.add_argument("file", metavar="FILE", help="a config file; - for the standard input")
    render.add_argument("--image", required=True, metavar="IMG",
                        help="a picture: PNG, JPEG, WebP, BMP, GIF, TIFF or PPM")  # fmt: skip
    render.add_argument("--out", metavar="PNG", help="where to draw (default: FILE's name with .png, in this folder)")
    render.add_argument("--view", choices=("stages", "standards"), default="stages",
                        help="stage by stage (default), or the picture read by four standards' matrices")  # fmt: skip
    render.add_argument("--block", type=int, default=0, metavar="N", help="which aipp_op of the file, from 0")
    render.add_argument("--standard", default="jpeg", metavar="NAME",
                        help="by which standard the picture becomes YUV, if the file wants that: jpeg (default), "
                             "bt601_narrow, bt709_narrow, bt709_wide")  # fmt: skip
    render.add_argument("--profile", default="documented", metavar="NAME",
                        help="whose arithmetic: documented (default) or dav_3510")  # fmt: skip
    render.add_argument("--overwrite", action="store_true", help="replace a picture that is there already")
    compare = add(
        "compare", _compare, "say where a device's result differs from the golden one, and why",
        "exit codes: 0 equal, 1 different, 2 a file cannot be used\n\n"
        "examples:\n  ascendlab compare output/output.bin --case case.json\n"
        "  ascendlab compare output.bin golden.bin --dtype half --shape 2,9,16,16 --rtol 1e-3 --atol 1e-3\n"
        "  ascendlab compare output.npy golden.npy --max-bad 0.001 --map mismatches.png",
    )  # fmt: skip
    compare.add_argument("actual", metavar="ACTUAL", help="what the device wrote: a .bin or .npy file")
    compare.add_argument("golden", metavar="GOLDEN", nargs="?", help="what it should be; not needed with --case")
    compare.add_argument("--case", metavar="JSON", help="the description that write_golden wrote: says type, shape and "
                                                        "call, from which causes follow")  # fmt: skip
    compare.add_argument("--output", default="", metavar="NAME", help="which result, of a case with several")
    compare.add_argument("--dtype", metavar="T", help="element type of .bin files: half, int8, bfloat16 ...")
    compare.add_argument("--shape", type=_shape, metavar="N,N,...", help="shape of the golden array")
    compare.add_argument("--layout", metavar="NAME", help="order of its elements: ND, HWC, NC1HWC0, ZZ, NZ, ZN ...")
    compare.add_argument("--rtol", type=float, default=0.0, metavar="X", help="relative tolerance (default: all bits)")
    compare.add_argument("--atol", type=float, default=0.0, metavar="X", help="absolute tolerance")
    compare.add_argument("--max-bad", type=float, default=0.0, metavar="X",
                         help="share of elements that may be off, such as 0.001")  # fmt: skip
    compare.add_argument("--equal-nan", action="store_true", help="take any NaN for any other")
    compare.add_argument("--map", metavar="PNG", help="draw where the mismatches lie, and the numbers around the first")
    compare.add_argument("--overwrite", action="store_true", help="replace a picture that is there already")
    compare.add_argument("--worst", type=int, default=5, metavar="N", help="how many of the worst to list (default 5)")
    return parser


def _shape(text: str) -> tuple[int, ...]:
    """Read a shape such as 2,9,16,16 or 2x9x16x16."""
    axes = text.replace("x", ",").split(",")
    if not all(axis.isascii() and axis.strip().isdecimal() and len(axis) < 16 for axis in axes):
        raise argparse.ArgumentTypeError("give numbers separated by commas, such as 2,9,16,16")
    return tuple(int(axis) for axis in axes)


def _config_source(file: str) -> Path | bytes:
    from ascendlab.aipp_config_text import LARGEST_TEXT

    return sys.stdin.buffer.read(LARGEST_TEXT + 1) if file == "-" else Path(file)


def _check_config(options: argparse.Namespace) -> int:
    from ascendlab.aipp_config import read_aipp_config

    code = FINE
    for file in options.files:
        name = "standard input" if file == "-" else file
        try:
            found = read_aipp_config(_config_source(file)).check()
        except AippConfigError as error:
            for problem in error.problems:
                _complain(f"{name}:{problem.line}:{problem.column}: {problem.problem}. {problem.fix}")
            code = FAILED
            continue
        except AscendlabError as error:
            _complain(f"{name}: {error}")
            code = FAILED
            continue
        for finding in found:
            lines = ", ".join(map(str, finding.lines))
            where = f" (lines {lines})" if len(finding.lines) > 1 else ""
            _say(f"{name}:{finding.lines[0]}: [{finding.code}] {finding.why}. {finding.fix}{where}")
        if not found:
            _say(f"{name}: nothing looks wrong")
        code = max(code, FOUND if found else FINE)
    return code


def _check_target(out: Path, sources: Sequence[str | None], *, overwrite: bool) -> None:
    """Refuse to draw over something: with `overwrite` too, if it is what the command reads."""
    from ascendlab.files import check_free

    check_free(out, overwrite=overwrite)
    for source in filter(None, sources):
        same = False
        with suppress(OSError, ValueError):  # what is not there is not overwritten
            same = out.samefile(source)
        if same:
            raise FileProblemError(out, "is read by this command", "Draw into another file")


def _render(options: argparse.Namespace) -> int:
    from ascendlab.aipp_config import read_aipp_config
    from ascendlab.files import read_whole, write_file

    stem = Path(options.file).stem if options.file != "-" else "standard_input"
    out = Path(options.out) if options.out is not None else Path(f"{stem}.png")
    _check_target(out, [options.file, options.image], overwrite=options.overwrite)
    with _progress(["reading the files", "computing the picture", "drawing", "writing"]) as step:
        step()
        config = read_aipp_config(_config_source(options.file))
        op = config.block(options.block)
        data = read_whole(options.image, _LARGEST_IMAGE)
        from ascendlab.pictures import read_picture
        from ascendlab.plots import aipp_config as plots
        from ascendlab.summary import summarise

        picture = read_picture(data)
        step()
        choice = {name: getattr(options, name) for name in ("view", "block", "standard", "profile")}
        scene = plots.scene_of(config, picture, **choice)
        step()
        drawn = plots.AippConfigPicture().draw(options.view, scene)
        step()
        write_file(out, drawn, overwrite=options.overwrite)
    last = scene.stages[-1]
    _say(f"{out}: {summarise(last.pixels)}; {plots.say_ranges(scene.stages)}")
    found = [finding for finding in config.check() if op.line <= finding.lines[0] <= op.last_line]
    if found:
        many = "1 thing looks" if len(found) == 1 else f"{len(found)} things look"
        _complain(f"{many} wrong in {options.file}: see ascendlab check-config {options.file}")
    return FINE


def _compare(options: argparse.Namespace) -> int:
    from ascendlab.files import write_file
    from ascendlab.golden import compare, read_golden

    if options.map is not None:
        sources = [options.actual, options.golden, options.case]
        _check_target(Path(options.map), sources, overwrite=options.overwrite)
    more = {name: getattr(options, name) for name in ("layout", "rtol", "atol", "max_bad", "equal_nan", "worst")}
    if options.case is None:
        if options.golden is None:
            raise ParameterError("GOLDEN", None, "a file, or --case")
        if options.output:
            raise ParameterError("--output", options.output, "nothing without --case")
        golden, more = options.golden, {**more, "dtype": options.dtype, "shape": options.shape}
    else:
        for name in ("dtype", "shape"):
            if getattr(options, name) is not None:
                raise ParameterError(f"--{name}", getattr(options, name), "nothing with --case, which says it")
        case = read_golden(options.case)
        if options.map is not None:
            files = [str(case.folder / file.file) for file in (*case.inputs.values(), *case.outputs.values())]
            _check_target(Path(options.map), [str(case.sidecar), *files], overwrite=options.overwrite)
        golden, more["output"] = case, options.output
        if options.golden is not None:
            name = options.output or case.only_output()
            file = case.file(name)
            golden, more = options.golden, {**more, "dtype": file.dtype, "shape": file.shape, "call": case.call}
            more["output"] = ""
    with _progress(["comparing", "drawing"]) as step:
        step()
        found = compare(options.actual, golden, **more)
        if options.map is not None:
            from ascendlab.plots.golden import GoldenPicture

            step()
            write_file(options.map, GoldenPicture().draw(found), overwrite=options.overwrite)
    _say(str(found))
    return FINE if found.equal else FOUND
