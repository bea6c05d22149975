"""The special registers behind the C API: 64-bit words whose bit fields have names.

The documents' unions are plain objects here: fields and the raw word are two views of one number.

>>> config = asc_load3d_v2_config()
>>> hex(config.config), config.rpt_time
('0x10000', 1)
>>> config.dst_stride = 2
>>> config
asc_load3d_v2_config 0x0000_0002_0001_0000: rpt_stride=0, rpt_time=1, rpt_mode=0, dst_stride=2, dst_start_pos_m=0
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, TypeVar, overload

import numpy as np

from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int

__all__ = [
    "FMATRIX_ORDERS",
    "PADDING_TYPES",
    "Bits",
    "FieldValue",
    "Gm2l1NzPara",
    "L0cCopyNzPara",
    "L13dFmatrixConfig",
    "Load3dV2Config",
    "PaddingRegister",
    "Register",
    "asc_l13d_fmatrix_config",
    "asc_load3d_v2_config",
    "format_word",
]

PADDING_TYPES = ("int8", "uint8", "int16", "uint16", "half", "bfloat16", "int32", "uint32", "float")
"""The types that asc_set_l12l0a_3d_padding accepts."""

FMATRIX_ORDERS = ("height_lowest", "width_lowest")
"""The two public packings of the feature-map register: the C API's union, and what the C++ layer writes."""

_WORD = 64


def format_word(word: int) -> str:
    """Write a 64-bit word in groups of 16 bits.

    >>> format_word(0x3C00)
    '0x0000_0000_0000_3C00'
    """
    digits = f"{word:016X}"
    return "0x" + "_".join(digits[i : i + 4] for i in range(0, 16, 4))


class FieldValue(NamedTuple):
    """One bit field of a register, as a table of the register file shows it."""

    name: str
    high: int
    low: int
    value: int
    meaning: str


R = TypeVar("R", bound="Register")


class Bits:
    """A bit field of a `Register`: reads and writes its part of the word.

    Parameters
    ----------
    low, width : int
        Lowest bit and number of bits.
    meaning : str
        What it says, with the unit.
    minimum, maximum : int, optional
        What the documents allow; the call that consumes the register checks it.
    in_union : bool, optional
        Whether the C API's union, where there is one, has a member of this name; else only its raw word reaches here.
    """

    def __init__(
        self,
        low: int,
        width: int,
        meaning: str,
        *,
        minimum: int = 0,
        maximum: int | None = None,
        in_union: bool = True,
    ) -> None:
        self.low, self.width, self.meaning, self.in_union = low, width, meaning, in_union
        self.minimum = minimum
        self.maximum = (1 << width) - 1 if maximum is None else maximum

    def __set_name__(self, owner: type[Register], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, register: None, owner: type[Register]) -> Bits: ...
    @overload
    def __get__(self, register: Register, owner: type[Register]) -> int: ...
    def __get__(self, register: Register | None, owner: type[Register]) -> Bits | int:
        return self if register is None else (register.config >> self.low) & ((1 << self.width) - 1)

    def __set__(self, register: Register, value: object) -> None:
        mask = (1 << self.width) - 1
        number = check_int(self.name, value, 0, mask, table=f"bits [{self.low + self.width - 1}:{self.low}]")
        register.config = (register.config & ~(mask << self.low)) | (number << self.low)


class Register:
    """A 64-bit register: the raw word ``config``, and named views of its bits.

    Parameters
    ----------
    config : int, optional
        The raw word; the document's default if it is not given.
    **fields : int
        Values of fields, by name.
    """

    document_name: ClassVar[str] = ""
    default: ClassVar[int] = 0
    _layout: ClassVar[tuple[Bits, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._layout = tuple(bits for bits in vars(cls).values() if isinstance(bits, Bits))

    def __init__(self, config: object = None, **fields: object) -> None:
        self._config = 0
        self.config = self.default if config is None else config
        for name, value in fields.items():
            if not isinstance(getattr(type(self), name, None), Bits):
                known = sorted(bits.name for bits in self.layout())
                raise ParameterError(self.document_name, name, "a field: " + ", ".join(known))
            setattr(self, name, value)

    @property
    def config(self) -> int:
        """The raw 64-bit word."""
        return self._config

    @config.setter
    def config(self, word: object) -> None:
        self._config = check_int("config", word, 0, (1 << _WORD) - 1)

    @classmethod
    def layout(cls) -> tuple[Bits, ...]:
        """Return the bit fields, lowest first."""
        return cls._layout

    def fields(self) -> tuple[FieldValue, ...]:
        """Return every field with its bits, its value and its meaning: the rows of a register view."""
        return tuple(
            FieldValue(b.name, b.low + b.width - 1, b.low, getattr(self, b.name), b.meaning) for b in self.layout()
        )

    def values(self) -> dict[str, int]:
        """Return the fields' values by name."""
        word = self._config
        return {b.name: (word >> b.low) & ((1 << b.width) - 1) for b in self._layout}

    def check(self, table: str) -> None:
        """Raise `ParameterError` for a field outside its documented range."""
        for bits in self.layout():
            check_int(bits.name, getattr(self, bits.name), bits.minimum, bits.maximum, table=table)

    def copy(self: R) -> R:
        """Return an independent register with the same word."""
        return type(self)(self.config)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.config == self.config

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{f.name}={f.value}" for f in self.fields())
        return f"{self.document_name} {format_word(self.config)}: {values}"


class L13dFmatrixConfig(Register):
    """The feature map in L1: its size and its border (``asc_l13d_fmatrix_config``).

    Examples
    --------
    >>> config = asc_l13d_fmatrix_config(l1_height=2, l1_width=5, padding_left_size=1)
    >>> hex(config.config)
    '0x100050002'
    >>> asc_l13d_fmatrix_config.from_word(0x100050002, order="width_lowest").l1_height
    5
    """

    document_name = "asc_l13d_fmatrix_config"
    l1_height = Bits(0, 16, "height of the feature map", minimum=1, maximum=32767)
    l1_width = Bits(16, 16, "width of the feature map", minimum=1, maximum=32767)
    padding_left_size = Bits(32, 8, "columns added at the left")
    padding_right_size = Bits(40, 8, "columns added at the right")
    padding_top_size = Bits(48, 8, "rows added at the top")
    padding_bottom_size = Bits(56, 8, "rows added at the bottom")

    @classmethod
    def from_word(cls, word: int, *, order: str) -> L13dFmatrixConfig:
        """Decode a raw word; `order` says which of `FMATRIX_ORDERS` packed it."""
        config = cls(word)
        if order not in FMATRIX_ORDERS:
            raise ParameterError("order", order, "one of " + ", ".join(FMATRIX_ORDERS))
        return config if order == "height_lowest" else config.exchanged()

    def exchanged(self) -> L13dFmatrixConfig:
        """Return what the other packing would read from the same word: height and width change places."""
        other = self.copy()
        other.l1_height, other.l1_width = self.l1_width, self.l1_height
        return other


class Load3dV2Config(Register):
    """Repeats of a 3D load, and the destination's stride (``asc_load3d_v2_config``)."""

    document_name = "asc_load3d_v2_config"
    default = 0x10000
    rpt_stride = Bits(0, 16, "distance of two repeats: 16 rows (mode 0) or one C0 of columns (mode 1)")
    rpt_time = Bits(16, 8, "number of repeats; 0: no operation")
    rpt_mode = Bits(24, 1, "0: repeats along M; 1: repeats along K")
    dst_stride = Bits(32, 16, "fractals from one fractal column of the destination to the next", in_union=False)
    dst_start_pos_m = Bits(48, 16, "first fractal row of the destination", in_union=False)


class Gm2l1NzPara(Register):
    """Where ND2NZ puts things (``MTE2_NZ_PARA``)."""

    document_name = "asc_set_gm2l1_nz_para"
    matrix_num = Bits(0, 16, "matrices; 0: no operation", maximum=4095)
    dst_nz_n_stride = Bits(16, 16, "from row to row, 32 bytes", minimum=1, maximum=16384)
    dst_nz_c0_stride = Bits(32, 16, "from one column of C0 elements to the next, 32 bytes", minimum=1, maximum=16384)
    dst_nz_matrix_stride = Bits(48, 16, "from matrix to matrix, 32 bytes")


class L0cCopyNzPara(Register):
    """How NZ2ND walks over several matrices (``LOOP3_PARA``)."""

    document_name = "asc_set_l0c_copy_nz_para"
    matrix_num = Bits(0, 16, "matrices", minimum=1)
    src_nz_matrix_stride = Bits(16, 16, "from matrix to matrix in L0C, 16 elements")
    dst_matrix_stride = Bits(32, 32, "from matrix to matrix in GM, elements")


class PaddingRegister(Register):
    """The padding value: one register for asc_set_l12l0a_3d_padding and asc_set_gm2l1_padding.

    Examples
    --------
    >>> PaddingRegister.of(np.float16(1))
    PADDING 0x0000_0000_0000_3C00: b32=15360, b16=15360, b8=0, b8_copy=60, b4=0
    >>> int(PaddingRegister.of(np.int8(-1)).value(as_dtype("int8")))
    -1
    """

    document_name = "PADDING"
    b32 = Bits(0, 32, "padding of 32-bit data")
    b16 = Bits(0, 16, "padding of 16-bit data")
    b8 = Bits(0, 8, "padding of 8-bit data")
    b8_copy = Bits(8, 8, "must equal [7:0] for 8-bit data")
    b4 = Bits(0, 4, "padding of 4-bit data; three equal copies above it")

    @classmethod
    def of(cls, value: object) -> PaddingRegister:
        """Return the word that the typed setter writes for `value`."""
        if isinstance(value, np.generic):
            return cls.of_bits(value, as_dtype(value.dtype, PADDING_TYPES, parameter="padding_value"))
        types = ", ".join(PADDING_TYPES)
        raise ParameterError(
            "padding_value", value, f"a typed scalar such as half(1): {types}", table="asc_set_l12l0a_3d_padding",
            hint="A bare Python number has no type, and so no bits; a raw word goes to config=",
        )  # fmt: skip

    @classmethod
    def of_bits(cls, value: Any, kind: DataType) -> PaddingRegister:
        """Return the word for a scalar of any type, small ones repeated up to 16 bits."""
        word = int.from_bytes(np.asarray(value).tobytes(), "little") & ((1 << kind.bits) - 1)
        return cls(word * {4: 0x1111, 8: 0x101}.get(kind.bits, 1))

    def value(self, kind: DataType) -> Any:
        """Return what a copy of `kind` data pads with, as a NumPy scalar.

        Raises
        ------
        ParameterError
            For 8-bit and 4-bit data, if the copies of the value in the word differ: the document demands equal ones.
        """
        low = self.config & 0xFFFF
        if kind.bits == 8 and self.b8 != self.b8_copy:
            raise self._unequal(f"[15:8] = {self.b8_copy:#04x} equal to [7:0] = {self.b8:#04x}", kind)
        if kind.bits == 4 and low != self.b4 * 0x1111:
            raise self._unequal(f"[15:12], [11:8] and [7:4] equal to [3:0] = {self.b4:#x}", kind)
        if kind.bits == 4:
            signed = self.b4 - 16 if self.b4 >= 8 else self.b4
            return np.array(signed).astype(kind.numpy)[()]
        size = kind.bits // 8
        return np.frombuffer((self.config & ((1 << kind.bits) - 1)).to_bytes(size, "little"), kind.numpy)[0]

    def _unequal(self, allowed: str, kind: DataType) -> ParameterError:
        low = f"{self.config & 0xFFFF:016b}"
        bits = "_".join(low[i : i + 4] for i in range(0, 16, 4))
        word = f"{format_word(self.config)}, low bits {bits}"
        return ParameterError(
            "config", word, f"{allowed} for {kind} data", table="asc_set_l12l0a_3d_padding, table 1",
            hint="Set the padding with a value of the data's own type",
        )  # fmt: skip


# The documents' own spelling, so that a kernel reads the same in both languages.
asc_l13d_fmatrix_config = L13dFmatrixConfig
asc_load3d_v2_config = Load3dV2Config
