"""Calls of emulated functions as plain data, and back: what a case's description says of them.

Structures are written member by member under the document's names, from the field tables; arrays stand in files of
their own and are only named.

>>> import numpy as np
>>> from ascendlab.load3d import LoadData3DParamsV2, im2col
>>> params = LoadData3DParamsV2(l1_h=2, l1_w=2, channel_size=16)
>>> call = Call(im2col, {"src": np.ones((1, 2, 2, 16), np.float16), "params": params})
>>> described = describe_call(call)
>>> described["src"], described["params"]["l1H"]
({'file': 'src'}, 2)
>>> rebuild_call("im2col", described, operands(call)).arguments["params"] == params
True
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab import aipp, load3d, vector
from ascendlab.arrays import is_plain
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import Parameters, fields_of
from ascendlab.products import Product
from ascendlab.provenance import Call
from ascendlab.vector import MASK_PLACEHOLDER, UnaryRepeatParams

__all__ = [
    "FUNCTIONS",
    "describe_call",
    "function_name",
    "layouts",
    "nearest",
    "operands",
    "rebuild_call",
    "result_type",
    "settings",
]

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        aipp.load_image_to_local,
        load3d.im2col,
        load3d.load_data_3d_v1,
        load3d.load_data_3d_v2,
        vector.vector_padding,
        vector.bilinear_interpolation,
    )
}
"""What golden data can be made of, by name."""

_STRUCTURES = {
    cls.__name__: cls
    for cls in (
        aipp.AippParams,
        aipp.AippPaddingParams,
        aipp.AippSwapParams,
        aipp.AippSingleLineParams,
        aipp.AippDataTypeConvParams,
        aipp.AippChannelPaddingParams,
        aipp.AippColorSpaceConvParams,
        aipp.LoadImageToLocalParams,
        load3d.LoadData3DParamsV1,
        load3d.LoadData3DParamsV2,
        load3d.LoadDataRepeatParam,
        UnaryRepeatParams,
    )
}
_ENUMS: dict[str, type[enum.Enum]] = {"product": Product, "input_format": aipp.AippInputFormat}
_MASKS = ("mask", "vector_mask")
_SETUP = "set_aipp_functions"
_WORD = re.compile(r"0x[0-9a-f]{1,16}")


def nearest(name: object, known: Iterable[str]) -> str:
    """Return, for a message, the known name that is nearest to one that is not, or all of them."""
    names = list(known)
    near = get_close_matches(name, names, 1, 0.6) if isinstance(name, str) and len(name) < 80 else []
    return near[0] if near else "one of " + ", ".join(names)


def function_name(call: object) -> str:
    """Return the name of a call's function, or say which functions golden data can be made of."""
    if not isinstance(call, Call):
        raise ParameterError("call", call, "an instance of Call, or what launch returned")
    for name, function in FUNCTIONS.items():
        if call.function is function:
            return name
    raise ParameterError("function", call.function, "one of " + ", ".join(FUNCTIONS))


def _setup_arguments(setup: Any) -> dict[str, Any]:
    if not isinstance(setup, aipp.AippSetup):
        raise ParameterError("setup", setup, "what set_aipp_functions returned")
    return {name: getattr(setup, name) for name in inspect.signature(aipp.set_aipp_functions).parameters}


def _flat(call: Call) -> dict[str, Any]:
    """Return a call's arguments, those of its setup among them."""
    bound = call.bound()
    setup = bound.pop("setup", None)
    return bound if function_name(call) != "load_image_to_local" else {**_setup_arguments(setup), **bound}


def operands(call: Call) -> dict[str, NDArray[Any]]:
    """Return the arrays that a call reads, by the names of the arguments."""
    function_name(call)
    return {name: value for name, value in _flat(call).items() if isinstance(value, np.ndarray) and name not in _MASKS}


def settings(call: Call) -> tuple[Product | None, str | None]:
    """Return the product and the profile that a call is for, where it has them."""
    flat = _flat(call)
    return flat.get("product"), flat.get("profile")


def layouts(call: Call) -> dict[str, str]:
    """Say in which order the elements of each operand lie, and those of the result (``"golden"``)."""
    name, flat = function_name(call), _flat(call)
    if name in ("vector_padding", "bilinear_interpolation"):
        return dict.fromkeys([*operands(call), "golden"], "ND")
    if name == "load_image_to_local":
        found = {key: "HWC" if flat[key].ndim == 3 else "HW" for key in ("src0", "src1") if flat[key] is not None}
        return {**found, "golden": "HWC"}
    source = "HWC" if flat["src"].ndim == 3 else "NC1HWC0"
    if name == "im2col":
        result = "ND"
    elif flat["dst"] == "B2":
        result = "ZN"
    else:
        result = "NZ" if flat["product"] is Product.ATLAS_350 else "ZZ"
    return {"src": source, "golden": result}


def result_type(call: Call) -> DataType:
    """Return the element type of a call's result."""
    function_name(call)
    flat = _flat(call)
    return as_dtype(flat["dtype"] if "dtype" in flat else flat["src" if "src" in flat else "src0"].dtype)


def describe_call(call: Call) -> dict[str, Any]:
    """Return a call's arguments as objects, lists and plain values that JSON knows; arrays become their names.

    Arguments that are left out are written with their defaults, and so are members of structures.
    """
    function_name(call)
    return {name: _describe(name, value) for name, value in call.bound().items()}


def _describe(name: str, value: Any) -> Any:
    if isinstance(value, aipp.AippSetup):
        given = {key: _describe(key, part) for key, part in _setup_arguments(value).items()}
        return {"function": _SETUP, **given}
    if isinstance(value, Parameters):
        members = {
            spec.document_name: _describe(key, getattr(value, key)) for key, spec in fields_of(type(value)).items()
        }
        return {"structure": type(value).__name__, **members}
    if name in _MASKS and isinstance(value, (list, tuple, np.ndarray)) and getattr(value, "ndim", 1) == 1:
        return [hex(word) for word in value]
    if isinstance(value, np.ndarray):
        if not is_plain(value):
            raise ParameterError(name, value, "a plain NumPy array")
        return {"file": name}
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, DataType):
        return value.name
    if isinstance(value, tuple):
        return [_describe(name, part) for part in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or type(plain) in (bool, int, float, str):
        return plain
    raise ParameterError(name, value, "a value that a file can hold")


def rebuild_call(function: object, described: object, arrays: Mapping[str, NDArray[Any]]) -> Call:
    """Return the call that `describe_call` described.

    Parameters
    ----------
    function : str
        One of `FUNCTIONS`.
    described : dict
        What `describe_call` returned, or a stranger's claim of that.
    arrays : mapping of str to ndarray
        The operands by name.

    Raises
    ------
    AscendlabError
        For names that are not known (with the nearest one that is), and for values that the call refuses.
    """
    if not isinstance(function, str) or function not in FUNCTIONS:
        raise ParameterError("function", function, nearest(function, FUNCTIONS))
    arguments = _rebuild_arguments(function, FUNCTIONS[function], described, arrays)
    setup = arguments.get("setup")
    if function == "load_image_to_local" and not isinstance(setup, aipp.AippSetup):
        raise ParameterError("setup", setup, f"an object with function {_SETUP}")
    return Call(FUNCTIONS[function], arguments)


def _rebuild_arguments(
    name: str, function: Callable[..., Any], described: object, arrays: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    if not isinstance(described, dict):
        raise ParameterError("arguments", described, "an object with the arguments by name")
    known = inspect.signature(function).parameters
    for key in described:
        if key not in known:
            raise ParameterError("arguments", key, f"{nearest(key, known)}: {name} has no argument of that name")
    missing = [key for key, p in known.items() if p.default is p.empty and key not in described]
    if missing:
        raise ParameterError("arguments", list(described), f"all of {name}: {', '.join(missing)} is missing")
    return {key: _rebuild(key, value, arrays) for key, value in described.items()}


def _rebuild(name: str, value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        if set(value) == {"file"}:
            return _operand(name, value["file"], arrays)
        if value.get("function") == _SETUP and name == "setup":
            given = {key: part for key, part in value.items() if key != "function"}
            arguments = _rebuild_arguments(_SETUP, aipp.set_aipp_functions, given, arrays)
            return aipp.set_aipp_functions(**arguments)
        return _structure(name, value, arrays)
    if name in _ENUMS:
        members = _ENUMS[name].__members__
        if not isinstance(value, str) or value not in members:
            raise ParameterError(name, value, nearest(value, members))
        return members[value]
    if name in _MASKS:
        return _mask(name, value)
    return value


def _operand(name: str, file: Any, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if not isinstance(file, str) or file not in arrays:
        raise ParameterError(name, file, f"the name of an input: {nearest(file, arrays)}")
    return arrays[file]


def _mask(name: str, value: Any) -> Any:
    if value == MASK_PLACEHOLDER.name:
        return MASK_PLACEHOLDER
    if not isinstance(value, list):
        return value
    if not all(isinstance(word, str) and _WORD.fullmatch(word) for word in value):
        raise ParameterError(name, value, 'words such as "0xff"')
    return [int(word, 16) for word in value]


def _structure(name: str, described: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Parameters:
    kind = described.get("structure")
    if not isinstance(kind, str) or kind not in _STRUCTURES:
        raise ParameterError(f"{name}.structure", kind, nearest(kind, _STRUCTURES))
    fields = {spec.document_name: (key, spec) for key, spec in fields_of(_STRUCTURES[kind]).items()}
    given = {}
    for member, value in described.items():
        if member == "structure":
            continue
        if member not in fields:
            raise ParameterError(name, member, f"{nearest(member, fields)}: {kind} has no member of that name")
        key, spec = fields[member]
        if spec.structure is not None and not isinstance(value, dict):
            raise ParameterError(member, value, f"an object with structure {spec.structure.__name__}")
        given[key] = _rebuild(key, value, arrays) if spec.structure is not None else value
    missing = [spec.document_name for key, spec in fields.values() if spec.required and key not in given]
    if missing:
        raise ParameterError(name, kind, f"all its members: {', '.join(missing)} is missing")
    made: Parameters = _STRUCTURES[kind](**given)
    return made
