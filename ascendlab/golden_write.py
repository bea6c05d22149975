"""Writing golden data: a call is made, and all that belongs to it goes into one folder."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from ascendlab.capi.launch import Launch
from ascendlab.dtypes import as_dtype
from ascendlab.errors import FileProblemError, ParameterError
from ascendlab.fields import check_bool, check_int
from ascendlab.files import as_path, below, check_free, write_below
from ascendlab.golden_bin import stored_bytes
from ascendlab.golden_calls import describe_call, function_name, layouts, nearest, operands, settings
from ascendlab.golden_case import KERNEL, KERNEL_NAME, SCHEMA, GoldenCase, GoldenFile, check_layout
from ascendlab.golden_draw import LARGEST_SEED, random_array
from ascendlab.golden_scripts import script_texts
from ascendlab.products import Product
from ascendlab.provenance import Call

__all__ = ["write_golden"]

_NUMBERS = re.compile(r"\[[-\d.,\s]*\]")  # lists that are easier to read in a line


def write_golden(
    folder: Any,
    call: Call | Launch,
    *,
    name: str = "case",
    seed: int | None = None,
    layout: str | Mapping[str, str] | None = None,
    scripts: bool = False,
    overwrite: bool = False,
) -> GoldenCase:
    """Make a call, and write its operands, its result and what they are.

    Parameters
    ----------
    folder : path
        Where the case goes; made if need be.  Nothing outside of it is written.
    call : Call or Launch
        A call of an emulated function, whose `out` stays as it is; or what `ascendlab.capi.launch` returned, whose
        arrays are written as they were before it, and those that the kernel wrote as they are now.
    name : str
        The case's name: letters, digits and ``_ . + -``.
    seed : int, optional
        The seed that the operands were drawn with.  Those that `ascendlab.golden.random_array` gives for it and their
        names are drawn again by the script, the others are read from their files.
    layout : str, or mapping of str to str, optional
        The order of the result's elements, or of several arrays' by their names, if it is not what the call says.
    scripts : bool
        Write ``scripts/gen_data.py`` and ``scripts/verify_result.py``, too.
    overwrite : bool
        Replace files that are there already.

    Returns
    -------
    GoldenCase
        What is in the folder.

    Raises
    ------
    ParameterError
        For something else than such a call, and whatever the call refuses; before anything is written.
    FileProblemError
        For a file that is there already, a name or a link that leads out of the folder, and what the system refuses.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from ascendlab.vector import vector_padding
    >>> call = Call(vector_padding, {"src": np.arange(16, dtype=np.float16), "pad_mode": 1, "pad_side": False,
    ...                              "count": 16})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     case = write_golden(folder, call, scripts=True)
    ...     for path in sorted(Path(folder).rglob("*.*")):
    ...         print(path.relative_to(folder).as_posix())
    case.json
    input/src.bin
    output/golden.bin
    scripts/gen_data.py
    scripts/verify_result.py
    """
    if seed is not None:
        seed = check_int("seed", seed, 0, LARGEST_SEED)
    check_bool("scripts", scripts)
    check_bool("overwrite", overwrite)
    if not isinstance(name, str) or "/" in name:
        raise FileProblemError(name, "is no name of a case", "Give letters, digits and _ . + -")
    sidecar = f"{name}.json"
    check_free(below(folder, sidecar), overwrite=overwrite)
    made = _of_launch(call) if isinstance(call, Launch) else _of_call(call)
    order = _orders(made, layout)
    inputs = {key: _described(f"input/{key}.bin", key, array, order[key], seed) for key, array in made.inputs.items()}
    outputs = {
        key: _described(f"output/{key}.bin", key, array, order[key], None) for key, array in made.outputs.items()
    }
    kept = call if isinstance(call, Call) else None
    case = GoldenCase(
        as_path(folder), name, made.function, kept, made.product, made.profile, seed, _version(),
        MappingProxyType(inputs), MappingProxyType(outputs),
    )  # fmt: skip
    texts = script_texts(case, call) if scripts else {}
    arrays = {**made.inputs, **made.outputs}
    files = {**inputs, **outputs}
    for path in [file.file for file in files.values()] + list(texts):
        check_free(below(folder, path), overwrite=overwrite)
    for key, file in files.items():
        write_below(folder, file.file, stored_bytes(arrays[key]), overwrite=overwrite)
    for path, text in texts.items():
        write_below(folder, path, text.encode(), overwrite=overwrite)
    # The description comes last: where it stands, everything stands.
    write_below(folder, sidecar, _sidecar_text(case, made.arguments).encode(), overwrite=overwrite)
    return case


@dataclass(frozen=True, eq=False)
class _Made:
    """What a case consists of before it is written."""

    function: str
    product: Product | None
    profile: str | None
    arguments: dict[str, Any] | None
    layouts: Mapping[str, str]
    inputs: Mapping[str, NDArray[Any]]
    outputs: Mapping[str, NDArray[Any]]


def _of_call(call: object) -> _Made:
    function = function_name(call)
    assert isinstance(call, Call)
    given = operands(call)
    arguments = dict(call.arguments)
    if "out" in given:
        arguments["out"] = given["out"].copy()  # the call would write into it
    result = Call(call.function, arguments).run()
    return _Made(function, *settings(call), describe_call(call), layouts(call), given, {"golden": result})


def _of_launch(launched: Launch) -> _Made:
    kernel = launched.kernel
    function = f"{KERNEL} {getattr(kernel, '__module__', '')}.{getattr(kernel, '__qualname__', '')}"
    inputs: dict[str, NDArray[Any]] = {}
    outputs: dict[str, NDArray[Any]] = {}
    for name, buffer in launched.gm.items():
        written = launched.writes(name)
        if written:
            assert buffer.array is not None
            outputs[f"golden_{name}"] = buffer.array
        # What the kernel overwrites entirely, and never reads, is none of its inputs.
        if not written or launched.reads(name) or not buffer.writer.all():
            before = launched.before(name)
            if before is None:
                allowed = "a launch with record=True: the kernel has overwritten what it was given there"
                raise ParameterError(name, buffer.array, allowed)
            inputs[name] = before
    if not outputs:
        raise ParameterError("call", launched, "a launch whose kernel has written a global memory")
    if len(outputs) == 1:
        outputs = {"golden": next(iter(outputs.values()))}
    if outputs.keys() & inputs.keys():
        raise ParameterError("kernel", kernel, "one whose parameters are not called golden")
    function = function if KERNEL_NAME.fullmatch(function) else KERNEL
    return _Made(function, launched.cores[0].product, None, None, {}, inputs, outputs)


def _orders(made: _Made, layout: object) -> dict[str, str]:
    """Return the layout of each array: the call's own, or what the caller says."""
    names = [*made.inputs, *made.outputs]
    found = {name: made.layouts.get(name, "ND") for name in names}
    if "out" in found and "golden" in made.layouts:
        found["out"] = made.layouts["golden"]
    if layout is None:
        return found
    given = dict(layout) if isinstance(layout, Mapping) else dict.fromkeys(made.outputs, layout)
    for name, order in given.items():
        if name not in found:
            raise ParameterError("layout", name, nearest(name, found))
        found[name] = check_layout(order)
    return found


def _described(file: str, name: str, array: NDArray[Any], layout: str, seed: int | None) -> GoldenFile:
    kind, data = as_dtype(array.dtype), stored_bytes(array)
    drawn = seed is not None and data == stored_bytes(random_array(kind, array.shape, seed=seed, name=name))
    return GoldenFile(file, kind, array.shape, layout, len(data), hashlib.sha256(data).hexdigest(), drawn)


def _version() -> str:
    # Not imported: the package imports everything, this module too.
    return str(getattr(sys.modules[__package__ or "ascendlab"], "__version__", ""))


def _sidecar_text(case: GoldenCase, arguments: dict[str, Any] | None) -> str:
    def described(file: GoldenFile) -> dict[str, Any]:
        return {**vars(file), "dtype": file.dtype.name, "shape": list(file.shape)}

    content = {
        "schema": SCHEMA,
        "ascendlab": case.version,
        "name": case.name,
        "seed": case.seed,
        "function": case.function,
        "product": None if case.product is None else case.product.name,
        "profile": case.profile,
        "arguments": arguments,
        "inputs": {name: described(file) for name, file in case.inputs.items()},
        "outputs": {name: described(file) for name, file in case.outputs.items()},
    }
    text = json.dumps(content, indent=2, allow_nan=False)
    return (
        _NUMBERS.sub(lambda found: " ".join(found.group().split()).replace("[ ", "[").replace(" ]", "]"), text) + "\n"
    )
