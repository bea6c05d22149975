"""The two scripts that an operator sample has beside its data: one makes the files, one judges a device's result.

Both need ascendlab, and say so where it is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ascendlab.capi.launch import Launch
from ascendlab.errors import ParameterError
from ascendlab.provenance import Call
from ascendlab.pycode import to_python

if TYPE_CHECKING:
    from ascendlab.golden_case import GoldenCase, GoldenFile

__all__ = ["gen_data_text", "script_texts", "verify_result_text"]

_NEEDS = """\
try:
    import ascendlab  # noqa: F401
except ImportError:
    raise SystemExit("{script} needs ascendlab: pip install ascendlab") from None
"""

_FOLDER = "FOLDER = Path(__file__).resolve().parent.parent"

_VERIFY = '''\
"""Compare a device's result with the golden one.

    python scripts/verify_result.py{usage}

Prints the report and "test pass" or "test failed"; the exit code is 0 if they agree, 1 if not, 2 if a file cannot be
used.
"""

import sys
from pathlib import Path

{needs}
from ascendlab import AscendlabError
from ascendlab.golden import compare, read_golden

{folder}
# What the device writes, for each golden array.
WRITTEN = {{
{files}
}}


def main(paths):
    """Compare every array with what the device wrote."""
    case = read_golden(FOLDER / "{sidecar}")
    equal = True
    for name, written in WRITTEN.items():
        actual = paths[0] if paths else FOLDER / written
        if len(paths) > 1:
            file = case.outputs[name]
            comparison = compare(actual, paths[1], dtype=file.dtype, shape=file.shape, call=case.call)
        else:
            comparison = compare(actual, case, output=name)
        print(comparison)
        equal = equal and comparison.equal
    print("test pass" if equal else "test failed")
    return 0 if equal else 1


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) > (2 if len(WRITTEN) == 1 else 0) or any(a.startswith("-") for a in arguments):
        print(__doc__)
        sys.exit(0 if arguments in (["-h"], ["--help"]) else 2)
    try:
        sys.exit(main(arguments))
    except AscendlabError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
'''


def script_texts(case: GoldenCase, call: Call | Launch) -> dict[str, str]:
    """Return the texts of a case's scripts by their names below its folder.

    Raises
    ------
    ParameterError
        For a kernel, or an argument of one, that no script can import.
    """
    return {
        "scripts/gen_data.py": gen_data_text(case, call),
        "scripts/verify_result.py": verify_result_text(case),
    }


def verify_result_text(case: GoldenCase) -> str:
    """Return a script that compares what a device wrote with the golden files."""
    files = [f'    "{name}": "output/{name.replace("golden", "output", 1)}.bin",' for name in case.outputs]
    return _VERIFY.format(
        usage=" [output/output.bin [output/golden.bin]]" if len(files) == 1 else "",
        needs=_NEEDS.format(script="verify_result.py"), folder=_FOLDER, files="\n".join(files),
        sidecar=case.sidecar.name,
    )  # fmt: skip


def gen_data_text(case: GoldenCase, call: Call | Launch) -> str:
    """Return a script that makes the files of a case anew, byte by byte."""
    names = {"Path": "pathlib", "write_bin": "ascendlab.golden"}
    sources = [_FOLDER, ""]
    for name, file in case.inputs.items():
        maker = "random_array" if file.drawn else "read_bin"
        names[maker] = "ascendlab.golden"
        sources += _source(name, file, case.seed)
    if isinstance(call, Launch):
        sources += _memories(case, call, names)
        variables = {name: name.removeprefix("golden_") for name in case.outputs}
        if "golden" in case.outputs:
            variables["golden"] = next(name for name in call.gm if call.writes(name))
        code = to_python(call, sources=(*sources, ""), names=names)
    else:
        variables = {"golden": "result"}
        code = to_python(_without_mask_arrays(call), sources=(*sources, ""), names=names)
    lines = [
        f'write_bin(FOLDER, "{file.file}", {variables[name]}, overwrite=True)' for name, file in case.outputs.items()
    ]
    made = ", ".join(f.file for f in [*case.inputs.values(), *case.outputs.values()])
    head = [
        f'"""Make the data of {case.sidecar.name}: {case.function}.',
        "",
        "Operands drawn at random are drawn again, others are read from their files; ascendlab computes the result.",
        '"""',
        "",
        _NEEDS.format(script="gen_data.py"),
    ]
    return "\n".join([*head, code, *lines, f'print("{case.name}: {made}")', ""])


def _source(name: str, file: GoldenFile, seed: int | None) -> list[str]:
    """Return the lines that make one operand, and write it if it was not there before."""
    if not file.drawn:
        return [f'{name} = read_bin(FOLDER / "{file.file}", "{file.dtype}", {file.shape})']
    return [
        f'{name} = random_array("{file.dtype}", {file.shape}, seed={seed}, name="{name}")',
        f'write_bin(FOLDER, "{file.file}", {name}, overwrite=True)',
    ]


def _memories(case: GoldenCase, launched: Launch, names: dict[str, str]) -> list[str]:
    """Return the lines that make the global memories that are no inputs: those to be filled, second names."""
    lines: list[str] = []
    seen: dict[int, str] = {}
    if launched.kernel is None or getattr(launched.kernel, "__module__", "") == "__main__":
        hint = "Put the kernel into a module, or write the case without scripts"
        raise ParameterError("kernel", launched.kernel, "one that a script can import", hint=hint)
    for name, buffer in launched.gm.items():
        if id(buffer) in seen:
            lines.append(f"{name} = {seen[id(buffer)]}")
        elif name not in case.inputs:
            assert buffer.array is not None
            names |= {"zeros": "numpy", "as_dtype": "ascendlab.dtypes"}
            kind = buffer.allocations[0].dtype
            lines.append(f'{name} = zeros({buffer.array.shape}, as_dtype("{kind}").numpy)')
        seen.setdefault(id(buffer), name)
    return lines


def _without_mask_arrays(call: Call) -> Call:
    """Return the same call with its masks as lists: scripts have no arrays but the operands."""
    masks = {
        name: [int(word) for word in value]
        for name, value in call.arguments.items()
        if name in ("mask", "vector_mask") and isinstance(value, np.ndarray)
    }
    return Call(call.function, {**call.arguments, **masks})
