"""Values and names in C++: what all writers of Ascend C share.

>>> literal(0.01712, "half"), literal(True, "bool"), literal(-3, "int8_t"), literal(2**40, "uint64_t")
('static_cast<half>(0.01712)', 'true', '-3', '1099511627776ULL')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendlab.fields import Parameters

__all__ = ["hexadecimal", "literal", "shortest_half", "variable_name"]

# Names that the documents' examples give to variables of these structures; others start with a small letter.
_VARIABLES = {"AippParams": "aippConfig"}
_SMALL_FLOATS = ("bfloat16_t", "fp8_e4m3fn_t", "fp8_e5m2_t")


def literal(value: Any, cpp_type: str) -> str:
    """Write a value as a C++ literal of a type; a type that is not known yet (``T``) takes the number as it is.

    Examples
    --------
    >>> literal(0.5, "float"), literal(0.5, "bfloat16_t"), literal(-0.0, "T")
    ('0.5f', 'static_cast<bfloat16_t>(0.5f)', '-0.0')
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


def hexadecimal(word: int, digits: int = 0) -> str:
    """Write a 64-bit word.

    >>> hexadecimal(8), hexadecimal(0x10000, 16)
    ('0x8ULL', '0x0000000000010000ULL')
    """
    return f"0x{word:0{digits}x}ULL"


def shortest_half(value: float) -> float:
    """Return the number with the fewest digits that rounds to the same half, for code that people read.

    >>> shortest_half(0.0171203613), shortest_half(65504.0)
    (0.01712, 65504.0)
    """
    return float(value) if float(value).is_integer() else float(str(np.float16(value)))


def variable_name(structure: type[Parameters]) -> str:
    """Return the name that declarations give to a variable of a structure.

    >>> from ascendlab import AippParams, LoadDataRepeatParam
    >>> variable_name(AippParams), variable_name(LoadDataRepeatParam)
    ('aippConfig', 'loadDataRepeatParam')
    """
    name = structure.cpp_name
    return _VARIABLES.get(name, name[0].lower() + name[1:])
