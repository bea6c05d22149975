"""Reading golden data that somebody else may have written: everything is checked, nothing is executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ascendlab.arrays import check_size
from ascendlab.dtypes import as_dtype
from ascendlab.errors import AscendlabError, FileProblemError, ParameterError
from ascendlab.fields import check_bool, check_int
from ascendlab.files import as_path, below, open_regular
from ascendlab.golden_bin import bin_bytes, check_shape
from ascendlab.golden_calls import nearest, rebuild_call, result_type, settings
from ascendlab.golden_case import KERNEL_NAME, LONGEST_WORD, SCHEMA, GoldenCase, GoldenFile, check_layout, read_file
from ascendlab.golden_draw import LARGEST_SEED
from ascendlab.golden_json import read_object
from ascendlab.products import Product
from ascendlab.provenance import Call, trace

__all__ = ["read_golden"]

_TOP = (
    "schema", "ascendlab", "name", "seed", "function", "product", "profile", "arguments", "inputs", "outputs",
)  # fmt: skip
_FILE = ("file", "dtype", "shape", "layout", "bytes", "sha256", "drawn")
_HELP = "Give a file that write_golden has written, or write it anew"


def read_golden(path: Any) -> GoldenCase:
    """Read a case that `write_golden` has written, whoever has had its files since.

    Parameters
    ----------
    path : path
        The description (``case.json``), or the folder of a case with this name.

    Returns
    -------
    GoldenCase
        With the same call: running it gives the golden result, unless the emulation has changed.

    Raises
    ------
    FileProblemError
        For everything that is not as `write_golden` writes it: another form, a name that is not known, a value that
        the call refuses, a file outside of the folder, of another size or with other contents.

    Examples
    --------
    >>> read_golden("no/such/case.json")
    Traceback (most recent call last):
        ...
    ascendlab.errors.FileProblemError: no/such/case.json cannot be read: No such file or directory. \
Give a file that can be read
    """
    sidecar = as_path(path)
    with suppress(OSError, ValueError):  # reading it says what is wrong
        sidecar = sidecar / "case.json" if sidecar.is_dir() else sidecar
    content = read_object(sidecar)
    try:
        return _case(sidecar, content)
    except FileProblemError:
        raise
    except AscendlabError as error:
        raise FileProblemError(sidecar, f"cannot be used: {error}", _HELP) from None


def _case(sidecar: Path, content: dict[str, Any]) -> GoldenCase:
    schema = content.get("schema")
    if schema != SCHEMA:
        raise ParameterError("schema", schema, f"{SCHEMA}, the one that this version of ascendlab reads")
    _check_names(content, _TOP, "the description")
    folder, name = sidecar.parent, content["name"]
    if not isinstance(name, str) or f"{name}.json" != sidecar.name:
        raise ParameterError("name", name, f"the file's own name, {sidecar.stem}")
    seed = content["seed"]
    if seed is not None:
        seed = check_int("seed", seed, 0, LARGEST_SEED)
    files = {kind: _files(folder, kind, content[kind]) for kind in ("inputs", "outputs")}
    check_size("the case", sum(file.bytes for table in files.values() for file in table.values()))
    function, call = content["function"], None
    product: Product | None
    if isinstance(function, str) and KERNEL_NAME.fullmatch(function):
        product, profile = _stated_product(content["product"]), None
    else:
        arrays = {key: read_file(folder, file) for key, file in files["inputs"].items()}
        call = rebuild_call(function, content["arguments"], arrays)
        product, profile = settings(call)
        # Said a second time for human readers, who must not be told something else than what the call does.
        _check_stated("product", content["product"], None if product is None else product.name)
        _check_stated("profile", content["profile"], profile)
        _check_result(call, files["outputs"])
    version = content["ascendlab"]
    if not isinstance(version, str) or len(version) > LONGEST_WORD:
        raise ParameterError("ascendlab", version, "a version such as 0.1.0")
    if not files["outputs"]:
        raise ParameterError("outputs", {}, "one file at least")
    return GoldenCase(
        folder, name, function, call, product, profile, seed, version,
        MappingProxyType(files["inputs"]), MappingProxyType(files["outputs"]),
    )  # fmt: skip


def _check_names(found: object, known: Iterable[str], what: str) -> None:
    """Refuse an object that lacks a name, or has one that is not known."""
    names = list(known)
    if not isinstance(found, dict):
        raise ParameterError(what, found, "an object with " + ", ".join(names))
    for name in found:
        if name not in names:
            raise ParameterError(what, name, nearest(name, names))
    missing = [name for name in names if name not in found]
    if missing:
        raise ParameterError(what, list(found), f"all of its names; missing: {', '.join(missing)}")


def _check_stated(name: str, stated: object, made: str | None) -> None:
    """Refuse a product or profile that is not the one in the call's arguments."""
    if not (stated is None if made is None else isinstance(stated, str) and stated == made):
        raise ParameterError(name, stated, f"{'null' if made is None else made}, as the arguments say")


def _stated_product(value: object) -> Product:
    if isinstance(value, str) and value in Product.__members__:
        return Product[value]
    raise ParameterError("product", value, nearest(value, Product.__members__))


def _files(folder: Path, kind: str, content: object) -> dict[str, GoldenFile]:
    if not isinstance(content, dict):
        raise ParameterError(kind, content, "an object with the files by name")
    return {name: _file(folder, f"{kind}.{name[:80]}", entry) for name, entry in content.items()}


def _file(folder: Path, what: str, entry: Any) -> GoldenFile:
    _check_names(entry, _FILE, what)
    if not isinstance(entry["shape"], list):
        raise ParameterError(f"{what}.shape", entry["shape"], "a list of integers")
    kind, shape = as_dtype(entry["dtype"], parameter=f"{what}.dtype"), check_shape(entry["shape"])
    size = check_int(f"{what}.bytes", entry["bytes"], 0, 2**63 - 1)
    if bin_bytes(kind, shape) != size:
        raise ParameterError(f"{what}.bytes", size, f"{bin_bytes(kind, shape):,}, which {kind} of {shape} takes")
    digest = entry["sha256"]
    if not isinstance(digest, str) or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise ParameterError(f"{what}.sha256", digest, "64 hexadecimal digits")
    layout, drawn = check_layout(entry["layout"]), check_bool(f"{what}.drawn", entry["drawn"])
    path = below(folder, entry["file"])
    with open_regular(path) as (_, real):
        if real != size:
            problem = f"has {real:,} bytes, but the description says {size:,} ({kind} of shape {shape})"
            raise FileProblemError(path, problem, "Write the case anew")
    return GoldenFile(entry["file"], kind, shape, layout, size, digest, drawn)


def _check_result(call: Call, outputs: Mapping[str, GoldenFile]) -> None:
    """Refuse a call that its function refuses, and outputs that it does not have; without making the call."""
    shape, kind = trace(call).shape, result_type(call)
    if set(outputs) != {"golden"}:
        raise ParameterError("outputs", list(outputs), "golden, and nothing else")
    golden = outputs["golden"]
    if (golden.dtype, golden.shape) != (kind, shape):
        raise ParameterError("outputs.golden", str(golden), f"{kind} {shape}, the call's result")
