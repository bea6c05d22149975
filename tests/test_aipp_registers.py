"""The special registers, packed by the library and unpacked here by masks written down on their own."""

from __future__ import annotations

import struct

import aipp_cases
import numpy as np
import pytest

import ascendlab as al
from ascendlab.aipp_registers import aipp_registers

# spr, lowest bit, bits, for every parameter; 8-bit padding values use the low byte of their place.
PLACES = {
    "src0": (0, 0, 48), "src1": (1, 0, 48), "isEnableCsc": (1, 63, 1),
    "cscMatrixR0C0": (2, 0, 16), "cscMatrixR0C1": (2, 16, 16), "cscMatrixR0C2": (2, 32, 16),
    "cscMatrixR1C0": (2, 48, 16), "cscMatrixR1C1": (3, 0, 16), "cscMatrixR1C2": (3, 16, 16),
    "cscMatrixR2C0": (3, 32, 16), "cscMatrixR2C1": (3, 48, 16), "cscMatrixR2C2": (4, 0, 16),
    "cscBiasOut0": (4, 16, 8), "cscBiasOut1": (4, 24, 8), "cscBiasOut2": (4, 32, 8),
    "cscBiasIn0": (4, 40, 8), "cscBiasIn1": (4, 48, 8), "cscBiasIn2": (4, 56, 8),
    "dtcMeanCh0": (5, 0, 16), "dtcMeanCh1": (5, 16, 16), "dtcMeanCh2": (5, 32, 16),
    "dtcMinCh0": (6, 0, 16), "dtcMinCh1": (6, 16, 16), "dtcMinCh2": (6, 32, 16),
    "dtcVarCh0": (7, 0, 16), "dtcVarCh1": (7, 16, 16), "dtcVarCh2": (7, 32, 16),
    "paddingValueCh0": (8, 0, 16), "paddingValueCh1": (8, 16, 16), "paddingValueCh2": (8, 32, 16),
    "paddingValueCh3": (8, 48, 16), "cPaddingValue": (9, 0, 16),
    "isSwapRB": (9, 16, 1), "isSwapUV": (9, 17, 1), "isSwapAX": (9, 18, 1), "format": (9, 19, 5),
    "isSingleLineCopy": (9, 24, 1), "paddingMode": (9, 27, 2), "cPaddingMode": (9, 40, 1),
}  # fmt: skip
PLACES_200I = {name: place for name, place in PLACES.items() if place[0] not in (5, 6, 7)} | {
    "dtcRoundMode": (9, 34, 1), "dtcVarCh0": (18, 0, 32), "dtcVarCh1": (18, 32, 32), "dtcVarCh2": (19, 0, 32),
    "dtcMeanCh0": (20, 0, 32), "dtcMeanCh1": (20, 32, 32), "dtcMeanCh2": (21, 0, 32),
}  # fmt: skip
ADDRESSES = {"src0_address": 0xABC0_1234_5678, "src1_address": 0x1122_3344_5566}


def as_bits(name, value, dtype, on_200i):
    """Encode a parameter by hand."""
    if name.startswith(("paddingValue", "cPaddingValue")):
        code = {"half": "e", "int8": "b", "uint8": "B"}[dtype]
        return int.from_bytes(struct.pack(f"<{code}", value if dtype == "half" else int(value)), "little")
    if name.startswith(("dtcMin", "dtcVar")) or (on_200i and name.startswith("dtcMean")):
        return int.from_bytes(struct.pack("<f" if on_200i else "<e", value), "little")
    return int(value) & 0xFFFF if name.startswith("cscMatrix") else int(value)


def parameters_of(case):
    """Collect a configuration's parameters under their names in the document."""
    values = {"format": int(case.input_format), "src0": ADDRESSES["src0_address"], "src1": 0}
    if case.input_format is al.AippInputFormat.YUV420SP_U8:
        values["src1"] = ADDRESSES["src1_address"]
    for part in aipp_cases.STRUCTURES:
        for name, value in vars(getattr(case.config, part)).items():
            head, *tail = name.split("_")
            document_name = head + "".join(word.capitalize() for word in tail)
            for old, new in (("R0c", "R0C"), ("R1c", "R1C"), ("R2c", "R2C"), ("Rb", "RB"), ("Uv", "UV"), ("Ax", "AX")):
                document_name = document_name.replace(old, new)
            values[document_name] = value
    return values


@pytest.mark.rule("aipp-registers")
@pytest.mark.rule("aipp-registers-200i")
@pytest.mark.parametrize("dtype", aipp_cases.TYPES)
@pytest.mark.parametrize("input_format", aipp_cases.FORMATS, ids=lambda f: f.name)
def test_every_bit_of_every_register(input_format, dtype):
    """Each word holds each parameter in its place, and nothing anywhere else; reading it gives the parameter back."""
    for case in aipp_cases.random_cases("documented", 7, input_format, dtype):
        on_200i = case.product is al.Product.ATLAS_200I_500_A2
        registers = aipp_registers(case.setup(), **ADDRESSES)
        values = parameters_of(case)
        words = {}
        for name, (number, low, _) in (PLACES_200I if on_200i else PLACES).items():
            words[number] = words.get(number, 0) | as_bits(name, values[name], dtype, on_200i) << low
        assert registers.words == words
        assert {field.name for field in registers.fields} == set(PLACES_200I if on_200i else PLACES)
        for field in registers.fields:
            number, low, width = (PLACES_200I if on_200i else PLACES)[field.name]
            assert (field.register, field.low) == (number, low)
            assert field.width <= width
            assert field.value == values[field.name]
            # The type-dependent constants are the only values that reach half on their way into the register.
            constant = dtype == "half" and "addingValue" in field.name
            assert field.read(words[number]) == (np.float16(field.value) if constant else field.value)


@pytest.mark.rule("aipp-registers")
def test_registers_of_the_documents_call_example():
    """The document's example, all defaults but the format, in plain hexadecimal."""
    setup = al.set_aipp_functions(
        np.zeros((32, 32), np.uint8),
        np.zeros((16, 32), np.uint8),
        input_format=al.AippInputFormat.YUV420SP_U8,
        config=al.AippParams(),
        dtype="int8",
    )
    registers = aipp_registers(setup, src0_address=0x1000, src1_address=0x1400)
    one = 0x3C00  # var = 1.0
    assert registers.words == {
        0: 0x1000, 1: 0x1400, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: one | one << 16 | one << 32, 8: 0, 9: 0,
    }  # fmt: skip
    assert not registers.in_software
    assert len(registers) == 10
    assert [register.number for register in registers] == list(range(10))
    assert str(registers).splitlines()[0] == "spr 0 = 0x0000000000001000"
    assert registers[1]["src1"].bits == "47:0"
    assert registers[1]["isEnableCsc"].bits == "63"


@pytest.mark.rule("aipp-registers")
def test_atlas_350_keeps_the_words_in_software():
    """Atlas 350 has no such registers; its kernel keeps the same words."""
    picture = np.zeros((4, 4), np.uint8)
    call = {"input_format": al.AippInputFormat.YUV400_U8, "config": aipp_cases.make_config(padding_mode=2)}
    on_350, elsewhere = (
        aipp_registers(al.set_aipp_functions(picture, dtype="int8", product=product, **call))
        for product in (al.Product.ATLAS_350, al.Product.ATLAS_A2)
    )
    assert on_350.in_software
    assert not elsewhere.in_software
    assert on_350.words == elsewhere.words
    assert on_350.words[9] == 2 << 27 | 9 << 19


@pytest.mark.rule("aipp-registers")
def test_addresses_and_names_are_checked():
    """Addresses have 48 bits and the document's alignment; unknown registers and fields are named."""
    sources = {f: aipp_cases.make_sources(np.random.default_rng(0), f, 4, 4) for f in al.AippInputFormat}
    for input_format, alignment in ((0, 2), (1, 4), (4, 1), (9, 1)):
        src0, src1 = sources[input_format]
        setup = al.set_aipp_functions(
            src0, src1, input_format=al.AippInputFormat(input_format), config=al.AippParams(), dtype="int8"
        )
        for address in range(9):
            if address % alignment:
                with pytest.raises(al.ParameterError, match=rf"^src0_address = {address} .*multiple of {alignment} "):
                    aipp_registers(setup, src0_address=address)
            else:
                assert aipp_registers(setup, src0_address=address).words[0] == address
        for wrong in (-1, 2**48, True, 1.0, None, "4"):
            with pytest.raises(al.ParameterError, match=r"^src0_address = "):
                aipp_registers(setup, src0_address=wrong)
    setup = al.set_aipp_functions(*sources[0], input_format=al.AippInputFormat(0), config=al.AippParams(), dtype="int8")
    with pytest.raises(al.ParameterError, match=r"^src1_address = 3 .*multiple of 2 .*constraints"):
        aipp_registers(setup, src1_address=3)
    registers = aipp_registers(setup)
    for wrong in (10, 18, -1, None, "9", [9]):
        with pytest.raises(al.ParameterError, match=r"^number = "):
            registers[wrong]
    for wrong in ("paddingMode2", "isSwapRB ", None, 3, ["src0"]):
        with pytest.raises(al.ParameterError, match=r"^name = "):
            registers[9][wrong]
    for wrong in (-1, 2**64, None, "0", 1.5):
        with pytest.raises(al.ParameterError, match=r"^word = "):
            registers[9]["format"].read(wrong)
    with pytest.raises(al.ParameterError, match=r"^setup = None "):
        aipp_registers(None)
