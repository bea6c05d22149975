"""The special registers that SetAippFunctions writes, bit by bit.

On the device SetAippFunctions does nothing but pack its parameters into a dozen 64-bit special registers (*spr*),
which the later LoadImageToLocal reads.  `aipp_registers` shows those words.

====  ==========================================================================================
spr   bits
====  ==========================================================================================
0     47:0 address of src0
1     47:0 address of src1; 63 isEnableCsc
2     15:0 cscMatrixR0C0; 31:16 R0C1; 47:32 R0C2; 63:48 R1C0
3     15:0 cscMatrixR1C1; 31:16 R1C2; 47:32 R2C0; 63:48 R2C1
4     15:0 cscMatrixR2C2; 23:16, 31:24, 39:32 cscBiasOut0 to 2; 47:40, 55:48, 63:56 cscBiasIn0 to 2
5     7:0, 23:16, 39:32 dtcMeanCh0 to 2
6     15:0, 31:16, 47:32 dtcMinCh0 to 2, bits of half
7     15:0, 31:16, 47:32 dtcVarCh0 to 2, bits of half
8     15:0, 31:16, 47:32, 63:48 paddingValueCh0 to 3; 8-bit types use the lower half of each place
9     15:0 cPaddingValue; 16 isSwapRB; 17 isSwapUV; 18 isSwapAX; 23:19 format; 24 isSingleLineCopy;
      28:27 paddingMode; 34 dtcRoundMode; 40 cPaddingMode
18    31:0, 63:32 dtcVarCh0 and 1, bits of float
19    31:0 dtcVarCh2, bits of float
20    31:0, 63:32 dtcMeanCh0 and 1, bits of float
21    31:0 dtcMeanCh2, bits of float
====  ==========================================================================================

Atlas 200I/500 A2 writes 18 to 21 instead of 5 to 7 and is the only product that writes dtcRoundMode.  Atlas 350
writes no register: its software kernel keeps the words 0 to 9 in variables, laid out in the same way.

>>> import numpy as np
>>> from ascendlab.aipp import AippInputFormat, AippParams, AippPaddingParams, AippSwapParams, set_aipp_functions
>>> config = AippParams(
...     padding_params=AippPaddingParams(padding_mode=3), swap_params=AippSwapParams(is_swap_rb=True))
>>> setup = set_aipp_functions(
...     np.zeros((4, 4, 3), np.uint8), input_format=AippInputFormat.RGB888_U8, config=config, dtype="half")
>>> registers = aipp_registers(setup, src0_address=0x1000)
>>> print(registers[9])
spr 9 = 0x0000000018210000
  15:0   cPaddingValue     0
  16     isSwapRB          True
  17     isSwapUV          False
  18     isSwapAX          False
  23:19  format            4
  24     isSingleLineCopy  False
  28:27  paddingMode       3
  40     cPaddingMode      0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendlab.aipp_params import AippInputFormat
from ascendlab.aipp_setup import AippSetup
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int, fields_of
from ascendlab.products import Product

__all__ = ["AippRegister", "AippRegisters", "RegisterField", "aipp_registers"]

_ALIGNMENT = {AippInputFormat.YUV420SP_U8: 2, AippInputFormat.XRGB8888_U8: 4}
_CONSTRAINTS = "SetAippFunctions, constraints"
# How the bits of one place encode a value: NumPy types whose bits are stored, or what stands for itself.
_BITS_OF = {"int16": "i2", "int8": "i1", "half": "f2", "float": "f4"}


@dataclass(frozen=True)
class RegisterField:
    """One parameter's place in a special register.

    Parameters
    ----------
    register : int
        Number of the register.
    name : str
        The parameter as the document spells it.
    low, width : int
        Lowest bit, and number of bits.
    kind : str
        What the bits encode: ``"bool"``, ``"unsigned"``, ``"int8"``, ``"int16"``, ``"half"`` or ``"float"``.
    value : bool, int or float
        The parameter's value.
    """

    register: int
    name: str
    low: int
    width: int
    kind: str
    value: Any

    @property
    def raw(self) -> int:
        """The field's bits, right-aligned."""
        if self.kind in _BITS_OF:
            return int.from_bytes(np.array(self.value, f"<{_BITS_OF[self.kind]}").tobytes(), "little")
        return int(self.value)

    @property
    def bits(self) -> str:
        """The place in words: ``"47:32"``, or ``"16"`` for a single bit."""
        return str(self.low) if self.width == 1 else f"{self.low + self.width - 1}:{self.low}"

    def read(self, word: int) -> Any:
        """Return the value that `word` has in this place.

        Examples
        --------
        >>> RegisterField(2, "cscMatrixR0C1", 16, 16, "int16", 0).read(0xFF38_0000)
        -200
        """
        check_int("word", word, 0, 2**64 - 1)
        raw = (int(word) >> self.low) & ((1 << self.width) - 1)
        if self.kind in _BITS_OF:
            return np.frombuffer(raw.to_bytes(self.width // 8, "little"), f"<{_BITS_OF[self.kind]}")[0].item()
        return bool(raw) if self.kind == "bool" else raw


@dataclass(frozen=True)
class AippRegister:
    """One special register: its number and what stands in it."""

    number: int
    fields: tuple[RegisterField, ...]

    @property
    def word(self) -> int:
        """The 64-bit word that is written."""
        return sum(field.raw << field.low for field in self.fields)

    def __getitem__(self, name: str) -> RegisterField:
        for field in self.fields:
            if isinstance(name, str) and field.name == name:
                return field
        raise ParameterError("name", name, "one of " + ", ".join(field.name for field in self.fields))

    def __str__(self) -> str:
        width = max(len(field.name) for field in self.fields)
        lines = [f"spr {self.number} = 0x{self.word:016x}"]
        for field in self.fields:
            value = hex(field.value) if field.width == 48 else field.value
            lines.append(f"  {field.bits:<5}  {field.name:<{width}}  {value}")
        return "\n".join(lines)


@dataclass(frozen=True)
class AippRegisters:
    """All special registers of one SetAippFunctions call, in the order of their numbers.

    Parameters
    ----------
    registers : tuple of AippRegister
        What is written.
    in_software : bool
        Whether the words only exist as variables of a software kernel (Atlas 350).
    """

    registers: tuple[AippRegister, ...]
    in_software: bool

    @property
    def words(self) -> dict[int, int]:
        """Each register's 64-bit word by its number."""
        return {register.number: register.word for register in self.registers}

    @property
    def fields(self) -> tuple[RegisterField, ...]:
        """Every field of every register."""
        return tuple(field for register in self.registers for field in register.fields)

    def __getitem__(self, number: int) -> AippRegister:
        for register in self.registers:
            if isinstance(number, int) and register.number == number:
                return register
        raise ParameterError("number", number, "one of " + ", ".join(str(r.number) for r in self.registers))

    def __iter__(self) -> Iterator[AippRegister]:
        return iter(self.registers)

    def __len__(self) -> int:
        return len(self.registers)

    def __str__(self) -> str:
        return "\n".join(map(str, self.registers))


def aipp_registers(setup: AippSetup, *, src0_address: int = 0, src1_address: int = 0) -> AippRegisters:
    """Return the special registers that SetAippFunctions would write for this setup.

    Parameters
    ----------
    setup : AippSetup
        From `ascendlab.set_aipp_functions`.
    src0_address, src1_address : int
        Where the pictures lie in global memory, which only a device knows: [0, 2**48), aligned to 2 bytes for
        YUV420SP and src0 to 4 bytes for XRGB8888.  Formats other than YUV420SP write 0 for src1.

    Returns
    -------
    AippRegisters
        To be printed, indexed by number (``registers[9]["paddingMode"]``), or taken as ``registers.words``.

    Raises
    ------
    ParameterError
        For an address outside its range or not aligned.

    Examples
    --------
    >>> from ascendlab.aipp import AippParams, csc_preset, set_aipp_functions
    >>> setup = set_aipp_functions(np.zeros((2, 2, 3), np.uint8), input_format=AippInputFormat.RGB888_U8,
    ...                            dtype="int8", config=AippParams(csc_params=csc_preset("rgb_to_yuv_jpeg")))
    >>> registers = aipp_registers(setup)
    >>> hex(registers.words[2])
    '0xffd5001d0096004d'
    >>> registers[4]["cscBiasIn1"].value
    128
    """
    if not isinstance(setup, AippSetup):
        raise ParameterError("setup", setup, "what set_aipp_functions returned")
    yuv420 = setup.input_format is AippInputFormat.YUV420SP_U8
    values: dict[str, Any] = {
        "src0": _check_address("src0_address", src0_address, setup.input_format),
        "src1": _check_address("src1_address", src1_address, setup.input_format) if yuv420 else 0,
        "format": int(setup.input_format),
    }
    config = setup.config
    for part in ("padding_params", "swap_params", "single_line_params", "dtc_params", "c_padding_params", "csc_params"):
        structure = getattr(config, part)
        values.update(
            {spec.document_name: getattr(structure, name) for name, spec in fields_of(type(structure)).items()}
        )
    layout = _layout(setup.dtype.name, setup.product is Product.ATLAS_200I_500_A2)
    return AippRegisters(
        registers=tuple(
            AippRegister(number, tuple(RegisterField(number, *place, values[place[0]]) for place in places))
            for number, places in layout.items()
        ),
        in_software=setup.product is Product.ATLAS_350,
    )


def _check_address(name: str, value: object, input_format: AippInputFormat) -> int:
    address = check_int(name, value, 0, 2**48 - 1)
    alignment = _ALIGNMENT.get(input_format, 1)
    if address % alignment:
        allowed = f"a multiple of {alignment} bytes for {input_format.name}"
        raise ParameterError(name, address, allowed, table=_CONSTRAINTS)
    return address


_Place = tuple[str, int, int, str]


def _row(width: int, kind: str, *names: str, start: int = 0, step: int = 16) -> tuple[_Place, ...]:
    """Places of equal kind, `step` bits apart."""
    return tuple((name, start + step * i, width, kind) for i, name in enumerate(names))


def _channels(name: str, count: int = 3) -> list[str]:
    return [f"{name}Ch{i}" for i in range(count)]


def _layout(dtype: str, on_200i: bool) -> dict[int, tuple[_Place, ...]]:
    """Return the places of each register: (name in the document, lowest bit, bits, kind)."""
    width, kind = {"uint8": (8, "unsigned"), "int8": (8, "int8"), "half": (16, "half")}[dtype]
    matrix = [f"cscMatrixR{r}C{c}" for r in range(3) for c in range(3)]
    biases = [f"cscBias{side}{i}" for side in ("Out", "In") for i in range(3)]
    layout = {
        0: (("src0", 0, 48, "unsigned"),),
        1: (("src1", 0, 48, "unsigned"), ("isEnableCsc", 63, 1, "bool")),
        2: _row(16, "int16", *matrix[:4]),
        3: _row(16, "int16", *matrix[4:8]),
        4: _row(16, "int16", matrix[8]) + _row(8, "unsigned", *biases, start=16, step=8),
        5: _row(8, "unsigned", *_channels("dtcMean")),
        6: _row(16, "half", *_channels("dtcMin")),
        7: _row(16, "half", *_channels("dtcVar")),
        8: _row(width, kind, *_channels("paddingValue", 4)),
        9: (
            ("cPaddingValue", 0, width, kind),
            *_row(1, "bool", "isSwapRB", "isSwapUV", "isSwapAX", start=16, step=1),
            ("format", 19, 5, "unsigned"),
            ("isSingleLineCopy", 24, 1, "bool"),
            ("paddingMode", 27, 2, "unsigned"),
            *((("dtcRoundMode", 34, 1, "unsigned"),) if on_200i else ()),
            ("cPaddingMode", 40, 1, "unsigned"),
        ),
    }
    if on_200i:
        for number in (5, 6, 7):
            del layout[number]
        variances, means = _channels("dtcVar"), _channels("dtcMean")
        layout[18] = _row(32, "float", *variances[:2], step=32)
        layout[19] = _row(32, "float", variances[2])
        layout[20] = _row(32, "float", *means[:2], step=32)
        layout[21] = _row(32, "float", means[2])
    return layout
