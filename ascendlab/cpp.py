"""Ascend C code for parameter objects and calls, in the style of the documents' examples.

Everything follows from the field tables (`ascendlab.fields`): a structure that is declared there needs no code here.
Only members that differ from the C++ structure's defaults are written, and those that C++ leaves uninitialised.

>>> from ascendlab import AippPaddingParams, AippParams
>>> print(to_cpp(AippParams(padding_params=AippPaddingParams(padding_mode=2)), dtype="int8"))
AscendC::AippParams<int8_t> aippConfig;
aippConfig.paddingParams.paddingMode = 2;
aippConfig.cPaddingParams.cPaddingMode = 0;
aippConfig.cPaddingParams.cPaddingValue = 0;
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ascendlab.aipp import load_image_to_local
from ascendlab.cpp_vector import bilinear_interpolation_lines, vector_padding_lines
from ascendlab.dtypes import DataType, as_dtype, check_constant
from ascendlab.errors import ParameterError
from ascendlab.fields import Field, Parameters, fields_of, is_default, same_value
from ascendlab.load3d import LoadDataRepeatParam, load_data_3d_v1, load_data_3d_v2
from ascendlab.provenance import Call, registered, trace
from ascendlab.vector import bilinear_interpolation, vector_padding

__all__ = ["literal", "shortest_half", "to_cpp", "variable_name"]

_LINE = 76
_SMALL_FLOATS = ("bfloat16_t", "fp8_e4m3fn_t", "fp8_e5m2_t")
# Names that the documents' examples give to variables of these structures; others start with a small letter.
_VARIABLES = {"AippParams": "aippConfig"}


def to_cpp(what: Parameters | Call, *, dtype: Any = None) -> str:
    """Write Ascend C code.

    Parameters
    ----------
    what : parameter object or Call
        A structure becomes a declaration and assignments; a call of an emulated function becomes all the lines that
        make it, with the documents' names for tensors.
    dtype : dtype, optional
        The template argument ``T`` of a structure that has one; the letter T stands there without it.  A call
        knows its own.

    Returns
    -------
    str
        Lines of C++ without a final newline.

    Raises
    ------
    ParameterError
        For something that is neither, for a function that no Ascend C call corresponds to, for a constant that
        `dtype` does not hold, and for what the called function itself refuses.

    Examples
    --------
    >>> from ascendlab import LoadImageToLocalParams
    >>> print(to_cpp(LoadImageToLocalParams(horiz_size=8, vert_size=4, src_horiz_size=16, left_pad_size=2)))
    AscendC::LoadImageToLocalParams loadImageToLocalParams;
    loadImageToLocalParams.horizSize = 8;
    loadImageToLocalParams.vertSize = 4;
    loadImageToLocalParams.srcHorizSize = 16;
    loadImageToLocalParams.leftPadSize = 2;
    """
    if isinstance(what, Parameters):
        return "\n".join(_declaration(what, None if dtype is None else as_dtype(dtype)))
    if not isinstance(what, Call):
        raise ParameterError("what", what, "a parameter object or a Call")
    writer = registered(_CALLS, what.function)
    # Whoever can trace a call has checked all of it, and has moved no data.
    trace(what)
    return "\n".join(writer(what.bound()))


def literal(value: Any, cpp_type: str) -> str:
    """Write a value as a C++ literal of a type.

    Examples
    --------
    >>> literal(0.01712, "half"), literal(True, "bool"), literal(-3, "int8_t"), literal(2**40, "uint64_t")
    ('static_cast<half>(0.01712)', 'true', '-3', '1099511627776ULL')
    """
    if cpp_type == "bool":
        return "true" if value else "false"
    if cpp_type == "half":
        return f"static_cast<half>({shortest_half(value)})"
    if cpp_type == "float":
        return f"{np.float32(value)}f"
    if cpp_type in _SMALL_FLOATS:
        return f"static_cast<{cpp_type}>({float(value)}f)"
    if cpp_type == "uint64_t":
        return f"{value}ULL"
    if "int" in cpp_type:
        return str(int(value))  # integers have no negative zero
    return str(value)


def shortest_half(value: float) -> float:
    """Return the number with the fewest digits that rounds to the same half, for code that people read.

    >>> shortest_half(0.0171203613), shortest_half(65504.0)
    (0.01712, 65504.0)
    """
    return float(value) if float(value).is_integer() else float(str(np.float16(value)))


def variable_name(structure: type[Parameters]) -> str:
    """Return the name that declarations give to a variable of a structure."""
    name = structure.cpp_name
    return _VARIABLES.get(name, name[0].lower() + name[1:])


def _declaration(params: Parameters, template: DataType | None) -> list[str]:
    structure = type(params)
    name = variable_name(structure)
    argument = template.cpp if template else "T"
    kind = f"{structure.cpp_name}<{argument}>" if structure.template else structure.cpp_name
    return [f"AscendC::{kind} {name};", *_assignments(params, name, template)]


def _assignments(params: Parameters, prefix: str, template: DataType | None) -> list[str]:
    lines = []
    for name, spec in fields_of(type(params)).items():
        value, place = getattr(params, name), f"{prefix}.{spec.document_name}"
        if spec.structure is not None:
            lines += _assignments(value, place, template)
        elif spec.length:
            # C++ assigns an array's elements one by one.
            changed = [i for i in range(spec.length) if spec.required or not same_value(value[i], spec.default[i])]
            lines += [f"{place}[{i}] = {_literal_of(value[i], spec, template)};" for i in changed]
        elif spec.always_emit or not is_default(spec, value):
            lines.append(f"{place} = {_literal_of(value, spec, template)};")
    return lines


def _literal_of(value: Any, spec: Field, template: DataType | None) -> str:
    """Write a member's value in its type, which for ``T`` is the template argument."""
    if spec.cpp_type != "T" or template is None:
        return literal(value, spec.cpp_type)
    check_constant(spec.document_name, value, template, spec.table)
    return literal(value, template.cpp)


def _variables(params: Parameters, names: tuple[str, ...]) -> list[str]:
    """Declare members as variables of their own, as the documents' examples do, one line per type."""
    by_type: dict[str, list[str]] = {}
    specs = {spec.document_name: (name, spec) for name, spec in fields_of(type(params)).items()}
    for document_name in names:
        name, spec = specs[document_name]
        by_type.setdefault(spec.cpp_type, []).append(
            f"{document_name} = {literal(getattr(params, name), spec.cpp_type)}"
        )
    return [f"{cpp_type} {line.rstrip(',')};" for cpp_type, members in by_type.items() for line in _wrapped(members)]


def _wrapped(items: list[str]) -> list[str]:
    """Join items by commas into lines that are not too long to be read beside a picture."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > _LINE:
            lines.append("")
        lines[-1] += f" {item}," if lines[-1] else f"{item},"
    return lines


# The order in which C++ declares the structure that LoadImageToLocal takes in braces.
_WINDOW = (
    "horizSize", "vertSize", "horizStartPos", "vertStartPos", "srcHorizSize",
    "topPadSize", "botPadSize", "leftPadSize", "rightPadSize",
)  # fmt: skip


def _load_image_to_local(arguments: Mapping[str, Any]) -> list[str]:
    setup, params = arguments["setup"], arguments["params"]
    # src1 starts where the Y plane ends: both planes lie in one piece of global memory, as in the document's example.
    second = "" if setup.src1 is None else "fmGlobal[gmSrc0Size], "
    size = [] if setup.src1 is None else [f"uint32_t gmSrc0Size = {setup.src0.size};"]
    source = as_dtype(setup.src0.dtype).cpp
    members = (*_WINDOW, "sid") if params.sid else _WINDOW
    return [
        f"// fmGlobal: GlobalTensor<{source}>, the picture in global memory",
        f"// featureMapA1: LocalTensor<{setup.dtype.cpp}>, the result in L1",
        *size,
        f"AscendC::AippInputFormat inputFormat = AscendC::AippInputFormat::{setup.input_format.name};",
        *_declaration(setup.config, setup.dtype),
        f"AscendC::SetAippFunctions(fmGlobal, {second}inputFormat, aippConfig);",
        *_variables(params, members),
        "AscendC::LoadImageToLocal(featureMapA1, {",
        *(f"    {line}" for line in _wrapped(list(members))[:-1]),
        f"    {_wrapped(list(members))[-1].rstrip(',')} }});",
    ]


def _load_data(arguments: Mapping[str, Any]) -> list[str]:
    kind, params, side = as_dtype(arguments["src"].dtype), arguments["params"], arguments["dst"][0]
    repeat = arguments.get("repeat", LoadDataRepeatParam())
    repeats = []
    if repeat != LoadDataRepeatParam():
        repeats = [*_declaration(repeat, None), f"AscendC::SetLoadDataRepeat({variable_name(LoadDataRepeatParam)});"]
    return [
        f"// featureMap{side}1: LocalTensor<{kind.cpp}>, the feature map in L1",
        f"// fractals{side}2: LocalTensor<{kind.cpp}>, the result in L0{side}",
        *repeats,
        *_declaration(params, kind),
        f"AscendC::LoadData(fractals{side}2, featureMap{side}1, {variable_name(type(params))});",
    ]


_CALLS: dict[Any, Callable[[Mapping[str, Any]], list[str]]] = {
    load_image_to_local: _load_image_to_local,
    vector_padding: vector_padding_lines,
    bilinear_interpolation: bilinear_interpolation_lines,
    load_data_3d_v1: _load_data,
    load_data_3d_v2: _load_data,
}
