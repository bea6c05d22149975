"""The special registers: fields, raw words, and the one that two setters share."""

from __future__ import annotations

import struct

import ml_dtypes
import numpy as np
import pytest

import ascendlab as al
from ascendlab import capi
from ascendlab.capi import registers
from ascendlab.dtypes import as_dtype

SETTERS = ("asc_set_l12l0a_3d_padding", "asc_set_gm2l1_padding")


def core(core_type="AIC"):
    """Make a core of Atlas 350."""
    return capi.AICore(al.Product.ATLAS_350, core_type)


@pytest.mark.rule("capi-padding-bits")
@pytest.mark.parametrize(
    ("value", "word"),
    [
        (np.int8(-3), 0xFDFD),
        (np.uint8(0xA5), 0xA5A5),
        (np.int16(-2), 0xFFFE),
        (np.uint16(0xBEEF), 0xBEEF),
        (np.float16(1.5), 0x3E00),
        (ml_dtypes.bfloat16(-2), 0xC000),
        (np.int32(-1), 0xFFFFFFFF),
        (np.uint32(0x12345678), 0x12345678),
        (np.float32(1), 0x3F800000),
    ],
    ids=lambda v: str(getattr(v, "dtype", "")),
)
@pytest.mark.parametrize("setter", SETTERS)
def test_each_type_sets_its_bits(setter, value, word):
    """A typed value leaves exactly its own bits in the register, 8-bit ones twice, and comes back unchanged."""
    machine = core()
    getattr(machine, setter)(value)
    assert machine.padding.config == word
    back = machine.padding.value(as_dtype(value.dtype))
    assert (back.dtype, back.tobytes()) == (value.dtype, value.tobytes())


@pytest.mark.rule("capi-padding-bits")
def test_all_8_and_16_bit_words_mean_what_struct_says():
    """All values of the small types, NaNs included, go through the register bit by bit."""
    for word in range(1 << 16):
        register = registers.PaddingRegister(word)
        assert register.value(as_dtype("uint16")) == word
        assert register.value(as_dtype("half")).tobytes() == struct.pack("<H", word)
        assert register.value(as_dtype("bfloat16")).tobytes() == struct.pack("<H", word)
    for byte in range(256):
        register = registers.PaddingRegister.of(np.uint8(byte))
        assert register.config == byte * 0x101
        assert register.value(as_dtype("int8")) == struct.unpack("b", bytes([byte]))[0]


@pytest.mark.rule("capi-padding-late")
def test_a_raw_word_is_checked_by_its_user():
    """Any word without the upper half is accepted; 8-bit and 4-bit data then demand equal copies, others do not."""
    machine = core()
    machine.asc_set_l12l0a_3d_padding(config=0x1234)
    assert machine.padding.value(as_dtype("uint16")) == 0x1234
    with pytest.raises(al.ParameterError, match=r"_1234, low bits 0001_0010_0011_0100.*\[15:8\] = 0x12"):
        machine.padding.value(as_dtype("int8"))
    for nibble in range(16):
        machine.asc_set_l12l0a_3d_padding(config=nibble * 0x1111)
        assert int(machine.padding.value(as_dtype("int4"))) == (nibble - 16 if nibble > 7 else nibble)
    for wrong in (0x1112, 0x1121, 0x1211, 0x2111):
        machine.asc_set_l12l0a_3d_padding(config=wrong)
        with pytest.raises(al.ParameterError, match=r"\[15:12\], \[11:8\] and \[7:4\] equal to \[3:0\]"):
            machine.padding.value(as_dtype("int4"))
    for wrong in (1 << 32, 1 << 63, -1, 1 << 64, 1.0, True):
        with pytest.raises(al.ParameterError, match=r"^config"):
            machine.asc_set_l12l0a_3d_padding(config=wrong)
    with pytest.raises(al.ParameterError, match="nothing beside config"):
        machine.asc_set_l12l0a_3d_padding(np.float16(1), config=3)


@pytest.mark.rule("capi-padding-types")
@pytest.mark.parametrize("value", [0, 1.0, True, None, "0", np.float64(0), np.int64(1), np.uint64(0), np.True_, [0]])
def test_a_padding_without_a_documented_type_is_refused(value):
    """A bare Python number has no bits; neither have the types that the document does not name."""
    machine = core()
    before = len(machine.steps)
    with pytest.raises(al.ParameterError, match="padding_value"):
        machine.asc_set_l12l0a_3d_padding(value)
    assert len(machine.steps) == before
    assert machine.registers == {}


@pytest.mark.rule("capi-padding-shared")
def test_the_setters_share_one_register():
    """Each setter changes what the others set, in both directions."""
    machine = core()
    for name, value in zip((*SETTERS, *SETTERS, "set_load_data_padding_value"), range(5), strict=True):
        getattr(machine, name)(np.float16(value))
        assert machine.padding.value(as_dtype("half")) == value
        assert list(machine.registers) == ["PADDING"]


@pytest.mark.rule("capi-padding-float")
def test_a_float_padding_keeps_its_upper_bits():
    """A float of 1.0, whose lower 16 bits are zero, stays 1.0."""
    machine = core()
    machine.set_load_data_padding_value(np.float32(1))
    assert machine.padding.value(as_dtype("float")) == 1
    assert machine.padding.b16 == 0


@pytest.mark.rule("capi-init")
def test_asc_init_clears_the_padding():
    """asc_init sets the padding to 0 and leaves the other registers."""
    machine = core()
    machine.asc_set_l12l0a_3d_padding(np.float16(3))
    machine.asc_set_gm2l1_nz_para(1, 2, 3, 4)
    machine.asc_init()
    assert machine.padding.config == 0
    assert machine.registers["MTE2_NZ_PARA"].dst_nz_c0_stride == 3


@pytest.mark.rule("capi-aiv")
def test_a_vector_core_ignores_the_matrix_side():
    """On a vector core the setters and copies return at once, whatever they get, and only the log shows them."""
    machine = core("AIV")
    machine.asc_init()
    for name in (*SETTERS, "asc_set_l13d_fmatrix", "asc_set_l13d_rpt", "asc_set_gm2l1_nz_para", "asc_mmad",
                 "asc_copy_gm2l1_nd2nz", "asc_copy_l12l0a", "asc_copy_l12l0b_transpose", "asc_copy_l0c2gm",
                 "asc_set_l0c_copy_nz_para"):  # fmt: skip
        getattr(machine, name)(
            *([object()] * (3 if name == "asc_mmad" else 2 if "copy_l" in name or "2l1_nd" in name else 1))
        )
        assert machine.steps[-1].outcome == "returned at once"
    assert machine.registers == {}
    assert all(not buffer.writer.any() for buffer in machine.buffers.values())


@pytest.mark.rule("capi-products")
@pytest.mark.parametrize("product", [p for p in al.Product if "L1" in p.buffers and p is not al.Product.ATLAS_350])
def test_other_products_have_no_such_calls(product):
    """The document's call, and its neighbours, name the product that has them."""
    machine = capi.AICore(product)
    for name in SETTERS:
        with pytest.raises(al.UnsupportedProductError, match=f"^{name} is not supported on .*supported on: Atlas 350"):
            getattr(machine, name)(np.float16(0))
    with pytest.raises(al.ParameterError, match="matrix unit"):
        capi.AICore(al.Product.ATLAS_INFERENCE_VECTOR_CORE)


@pytest.mark.rule("capi-fmatrix")
def test_the_feature_map_word_and_its_two_readings():
    """The union has the height lowest; reading it the other way round exchanges height and width, nothing else."""
    config = capi.asc_l13d_fmatrix_config(
        l1_height=0x0123, l1_width=0x4567, padding_left_size=0x89, padding_right_size=0xAB,
        padding_top_size=0xCD, padding_bottom_size=0xEF,
    )  # fmt: skip
    assert config.config == 0xEFCDAB8945670123
    assert capi.asc_l13d_fmatrix_config(config.config) == config
    other = capi.asc_l13d_fmatrix_config.from_word(config.config, order="width_lowest")
    assert (other.l1_height, other.l1_width, other.padding_top_size) == (0x4567, 0x0123, 0xCD)
    assert capi.asc_l13d_fmatrix_config.from_word(config.config, order="height_lowest") == config
    for order in ("", None, "height_first"):
        with pytest.raises(al.ParameterError, match=r"^order"):
            capi.asc_l13d_fmatrix_config.from_word(0, order=order)


@pytest.mark.rule("capi-rpt")
@pytest.mark.rule("capi-rpt-start")
def test_the_repeat_word():
    """The raw word of the document's example and the fields are two views of one number."""
    config = capi.asc_load3d_v2_config()
    assert config.config == 0x10000
    config.config = 5 | (7 << 16) | (1 << 24) | (2 << 32) | (9 << 48)
    values = {f.name: f.value for f in config.fields()}
    assert values == {"rpt_stride": 5, "rpt_time": 7, "rpt_mode": 1, "dst_stride": 2, "dst_start_pos_m": 9}
    config.rpt_mode = 0
    config.rpt_time = 255
    assert config.config == 5 | (255 << 16) | (2 << 32) | (9 << 48)


@pytest.mark.parametrize("kind", [registers.L13dFmatrixConfig, registers.Load3dV2Config, registers.Gm2l1NzPara,
                                  registers.L0cCopyNzPara])  # fmt: skip
def test_fields_do_not_disturb_each_other(kind):
    """Setting one field changes its own bits only, and the fields never overlap."""
    layout = kind.layout()
    masks = [((1 << bits.width) - 1) << bits.low for bits in layout]
    assert sum(masks) == sum(set(masks)) <= (1 << 64) - 1
    rng = np.random.default_rng(1)
    for _ in range(50):
        word = int(rng.integers(0, 1 << 63)) | (int(rng.integers(0, 2)) << 63)
        for bits, mask in zip(layout, masks, strict=True):
            register = kind(word)
            value = int(rng.integers(0, 1 << bits.width))
            setattr(register, bits.name, value)
            assert getattr(register, bits.name) == value
            assert register.config & ~mask == word & ~mask


def test_a_field_that_does_not_fit_is_refused():
    """Values wider than the field, of other types, and unknown fields are named."""
    config = capi.asc_l13d_fmatrix_config()
    for wrong in (1 << 16, -1, 1.0, True, None, "3", 10**5000):
        with pytest.raises(al.ParameterError, match=r"^l1_height = .*bits \[15:0\]"):
            config.l1_height = wrong
    assert config.config == 0
    with pytest.raises(al.ParameterError, match="a field: l1_height"):
        capi.asc_l13d_fmatrix_config(height=3)
    machine = core()
    for fields in ({"l1_height": 0, "l1_width": 1}, {"l1_height": 1, "l1_width": 32768}):
        with pytest.raises(al.ParameterError, match=r"^l1_.*\[1, 32767\]"):
            machine.asc_set_l13d_fmatrix(capi.asc_l13d_fmatrix_config(**fields))
    for wrong in (0x10001, None, capi.asc_load3d_v2_config()):
        with pytest.raises(al.ParameterError, match=r"^config"):
            machine.asc_set_l13d_fmatrix(wrong)


def test_registers_are_copies():
    """Looking at a register, or keeping the union that was given, is no way to change the machine."""
    machine = core()
    config = capi.asc_load3d_v2_config(dst_stride=2)
    machine.asc_set_l13d_rpt(config)
    config.dst_stride = 5
    machine.rpt.dst_stride = 6
    machine.registers["L3D_RPT"].dst_stride = 7
    assert machine.rpt.dst_stride == 2
    assert machine.at(1).registers["L3D_RPT"].dst_stride == 2
    assert machine.at(0).registers == {}


def test_nz_para_takes_fields_or_a_word():
    """The four numbers and the raw word say the same; ranges are the documents'."""
    machine = core()
    machine.asc_set_gm2l1_nz_para(1, 2, 3, 4)
    word = machine.registers["MTE2_NZ_PARA"].config
    assert word == 1 | 2 << 16 | 3 << 32 | 4 << 48
    machine.asc_set_gm2l1_nz_para(0, 1, 1, 0)
    machine.asc_set_gm2l1_nz_para(config=word)
    assert machine.registers["MTE2_NZ_PARA"].config == word
    for wrong in ((4096, 1, 1, 0), (1, 0, 1, 0), (1, 1, 16385, 0), (1, 1, 1, 65536), (1, 1, 1)):
        with pytest.raises(al.ParameterError):
            machine.asc_set_gm2l1_nz_para(*wrong)
    assert machine.registers["MTE2_NZ_PARA"].config == word


@pytest.mark.parametrize("cls", registers.Register.__subclasses__(), ids=lambda cls: cls.__name__)
def test_the_names_and_the_bits_are_one(cls):
    """All ways of looking at a register give the same numbers, those that the word's binary digits spell."""
    rng = np.random.default_rng(3)
    highest = 32 if cls is registers.PaddingRegister else 64
    for word in map(int, rng.integers(0, 1 << highest, 20, dtype=np.uint64, endpoint=False)):
        register = cls(word)
        digits = f"{word:064b}"[::-1]
        spelled = {b.name: int(digits[b.low : b.low + b.width][::-1], 2) for b in cls.layout()}
        assert register.values() == spelled
        assert {field.name: field.value for field in register.fields()} == spelled
        assert {name: getattr(register, name) for name in spelled} == spelled


def test_an_int4_pad_value_fills_sixteen_bits():
    """All sixteen nibbles are repeated four times, and come back as the signed number that they are."""
    for value in range(-8, 8):
        register = registers.PaddingRegister.of_bits(ml_dtypes.int4(value), as_dtype("int4"))
        assert register.config == (value % 16) * 0x1111
        assert int(register.value(as_dtype("int4"))) == value
