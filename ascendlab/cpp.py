"""Ascend C code for parameter objects and calls, in the style of the documents' examples, and back.

Everything follows from the field tables (`ascendlab.fields`): a structure that is declared there needs no code here.
Only members that differ from the C++ structure's defaults are written, and those that C++ leaves uninitialised or at
a value that the documents do not allow.

>>> from ascendlab import AippPaddingParams, AippParams
>>> print(to_cpp(AippParams(padding_params=AippPaddingParams(padding_mode=2)), dtype="int8"))
AscendC::AippParams<int8_t> aippConfig;
aippConfig.paddingParams.paddingMode = 2;
aippConfig.cPaddingParams.cPaddingMode = 0;
aippConfig.cPaddingParams.cPaddingValue = 0;
>>> from_cpp("AscendC::AippSwapParams swap{ .isSwapRB = true };  // B, G, R")
AippSwapParams(is_swap_rb=True, is_swap_uv=False, is_swap_ax=False)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ascendlab.aipp import AippParams, AippSetup, LoadImageToLocalParams, load_image_to_local, set_aipp_functions
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch
from ascendlab.capi.registers import Register
from ascendlab.cpp_capi import core_lines, launch_lines, register_lines
from ascendlab.cpp_literals import literal, variable_name
from ascendlab.cpp_read import from_cpp, read_cpp
from ascendlab.cpp_vector import bilinear_interpolation_lines, vector_padding_lines
from ascendlab.dtypes import DataType, as_dtype, check_constant
from ascendlab.errors import ParameterError
from ascendlab.fields import Field, Parameters, check_int, cpp_fields, fields_of, is_default, same_value
from ascendlab.load3d import LoadDataRepeatParam, im2col, load_data_3d_v1, load_data_3d_v2
from ascendlab.provenance import Call, registered, trace
from ascendlab.vector import bilinear_interpolation, vector_padding

__all__ = ["from_cpp", "read_cpp", "to_cpp"]

_LINE = 76


def to_cpp(
    what: Parameters | Register | Call | AippSetup | Launch | AICore, *, dtype: Any = None, block: int = 0
) -> str:
    """Write Ascend C code.

    Parameters
    ----------
    what : parameter object, Register, Call, AippSetup, Launch or AICore
        A structure becomes a declaration and assignments, so does a union of the C API; a register that has none
        becomes the call that sets it.  A call of an emulated function becomes all the lines that make it, with the
        documents' names for tensors; what `ascendlab.launch` returned becomes the kernel, its loops unrolled and its
        constants put in, and a core by itself the body of one.
    dtype : dtype, optional
        The template argument ``T`` of a structure that has one; the letter T stands there without it.  Everything
        else knows its own.
    block : int, optional
        Which block of a launch.

    Returns
    -------
    str
        Lines of C++ without a final newline.  `ascendlab.from_cpp` reads parameter objects back.

    Raises
    ------
    ParameterError
        For something that is none of these, for a function that no Ascend C call corresponds to, for a constant that
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

    >>> from ascendlab.capi import asc_load3d_v2_config
    >>> print(to_cpp(asc_load3d_v2_config(rpt_time=3, rpt_mode=1)))
    asc_load3d_v2_config repeat_config;
    repeat_config.rpt_time = 3;
    repeat_config.rpt_mode = 1;
    """
    kind = None if dtype is None else as_dtype(dtype)
    return "\n".join(_lines(what, kind, block))


def _lines(what: Any, template: DataType | None, block: int) -> list[str]:
    if isinstance(what, Parameters):
        return _declaration(what, template)
    if isinstance(what, Register):
        return register_lines(what)
    if isinstance(what, AippSetup):
        return _set_aipp_functions(what)
    if isinstance(what, Launch):
        return launch_lines(what, check_int("block", block, 0, len(what.cores) - 1))
    if isinstance(what, AICore):
        return core_lines(what)
    if not isinstance(what, Call):
        allowed = "a parameter object or a Call; or a register of the C API, an AippSetup, a Launch, an AICore"
        raise ParameterError("what", what, allowed)
    if what.function is im2col:
        hint = "No instruction makes the whole matrix; LoadData (load_data_3d_v1, load_data_3d_v2) loads blocks of it"
        raise ParameterError("function", im2col, "a function that an Ascend C call corresponds to", hint=hint)
    if what.function is set_aipp_functions:
        return _set_aipp_functions(what.run())  # it configures and moves no data
    writer = registered(_CALLS, what.function)
    # Whoever can trace a call has checked all of it, and has moved no data.
    trace(what)
    return writer(what.bound())


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


def _variables(params: Parameters, names: list[str]) -> list[str]:
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


# LoadImageToLocalParams has a constructor for these members, which the document's example calls with braces.
_IN_BRACES = [spec.document_name for name, spec in cpp_fields(LoadImageToLocalParams).items() if name != "sid"]


def _set_aipp_functions(setup: AippSetup) -> list[str]:
    # src1 starts where the Y plane ends: both planes lie in one piece of global memory, as in the document's example.
    second = "" if setup.src1 is None else "fmGlobal[gmSrc0Size], "
    size = [] if setup.src1 is None else [f"uint32_t gmSrc0Size = {setup.src0.size};"]
    return [
        f"// fmGlobal: GlobalTensor<{as_dtype(setup.src0.dtype).cpp}>, the picture in global memory",
        *size,
        f"AscendC::AippInputFormat inputFormat = AscendC::AippInputFormat::{setup.input_format.name};",
        *_declaration(setup.config, setup.dtype),
        f"AscendC::SetAippFunctions(fmGlobal, {second}inputFormat, {variable_name(AippParams)});",
    ]


def _load_image_to_local(arguments: Mapping[str, Any]) -> list[str]:
    setup, params = arguments["setup"], arguments["params"]
    picture, *configured = _set_aipp_functions(setup)
    lines = [picture, f"// featureMapA1: LocalTensor<{setup.dtype.cpp}>, the result in L1", *configured]
    if params.sid:
        name = variable_name(LoadImageToLocalParams)
        return [*lines, *_declaration(params, None), f"AscendC::LoadImageToLocal(featureMapA1, {name});"]
    *first, last = _wrapped(_IN_BRACES)
    return [
        *lines,
        *_variables(params, _IN_BRACES),
        "AscendC::LoadImageToLocal(featureMapA1, {",
        *(f"    {line}" for line in first),
        f"    {last.rstrip(',')} }});",
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
