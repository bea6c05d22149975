"""Parameter objects read back from Ascend C code.

>>> print(from_cpp('''
... uint8_t left = 2;                            // columns
... AscendC::LoadData3DParamsV2<half> params;
... params.padList[0] = left;
... params.l1W = 4 * 16; params.l1H = 0x20;
... params.channelSize = 16;
... params.padValue = static_cast<half>(-1.5);
... '''))
LoadData3DParamsV2(pad_list=(2, 0, 0, 0), l1_h=32, l1_w=64, channel_size=16, k_extension=0, m_extension=0,
k_start_pt=0, m_start_pt=0, stride_w=1, stride_h=1, filter_w=1, filter_h=1, dilation_filter_w=1, dilation_filter_h=1,
en_transpose=False, en_small_k=False, pad_value=-1.5, filter_size_w=False, filter_size_h=False, f_matrix_ctrl=False)
"""

from __future__ import annotations

from ascendlab.capi.registers import Register
from ascendlab.cpp_records import STRUCTURES
from ascendlab.cpp_statements import Statements
from ascendlab.cpp_tokens import Text
from ascendlab.errors import ParameterError
from ascendlab.fields import Parameters

__all__ = ["from_cpp", "read_cpp"]


def from_cpp(text: str, *, name: str | None = None) -> Parameters | Register:
    """Read a parameter object from Ascend C code, for instance from what `to_cpp` has written.

    Parameters
    ----------
    text : str
        Declarations of the documents' structures and of constants, assignments, and the documents' calls, in any
        order that C++ allows, with comments and in any layout: names with ``AscendC::`` or without, ``const``,
        ``constexpr``, ``static`` and ``auto``, braces with or without members' names, casts, number literals in
        every form, arithmetic with constants.  At most 262,144 characters.
    name : str, optional
        Which variable, if there are several.  What a call takes in braces is called as `to_cpp` calls variables of
        that structure: ``loadImageToLocalParams``.

    Returns
    -------
    parameter object or Register
        Members that the text does not set have the value that C++ starts them with.

    Raises
    ------
    CppTextError
        For everything else (loops, calls of functions, macros, pointers), for unknown members, for values that a
        type or the document does not allow, and for members that C++ leaves without a value that is allowed: with
        line, column and what would be understood.
    ParameterError
        For a text without such an object, with several of them and no `name`, and for a name that it does not have.

    Examples
    --------
    >>> from ascendlab import AippSwapParams
    >>> from_cpp("AippSwapParams swap = { .isSwapUV = true };") == AippSwapParams(is_swap_uv=True)
    True
    >>> from_cpp("AippSwapParams swap; swap.isSwapVU = true;")
    Traceback (most recent call last):
        ...
    ascendlab.errors.CppTextError: line 1, column 27, 'AippSwapParams swap; swap.isSwapVU = true;': AippSwapParams has
    no member isSwapVU. Did you mean isSwapUV?
    """
    reader = _read(text)
    found = reader.objects()
    if not found:
        structures = ", ".join(STRUCTURES)
        raise ParameterError("text", text, f"code that declares one of the structures {structures}")
    if name is None and len(found) == 1:
        name = next(iter(found))
    if not isinstance(name, str) or name not in found:
        places = [f"{key} (line {reader.text.line(value.start)})" for key, value in found.items()]
        raise ParameterError("name", name, f"one of the {len(found)} objects in the text: {', '.join(places)}")
    return reader.build([name])[name]


def read_cpp(text: str) -> dict[str, Parameters | Register]:
    """Read all parameter objects from Ascend C code, as `from_cpp` reads one.

    Parameters
    ----------
    text : str
        See `from_cpp`.

    Returns
    -------
    dict
        By the names of the variables, in the order of their declarations; empty if there are none.

    Raises
    ------
    CppTextError
        As `from_cpp` does.

    Examples
    --------
    >>> list(read_cpp("UnaryRepeatParams a(1, 1, 8, 8), b; AippSwapParams c;"))
    ['a', 'b', 'c']
    """
    reader = _read(text)
    return reader.build(list(reader.objects()))


def _read(text: object) -> Statements:
    reader = Statements(Text(text))
    reader.run()
    return reader
