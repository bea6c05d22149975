"""What the constructors accept, written down: nobody moves the end of a range unnoticed.

The table is a record of the tables of fields, not a second reading of the documents.  Where a document is narrower than
a constructor (``vert_size`` from 2 on, Load3D's sizes from 1 on), the call refuses, and tests of the calls hold that.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import ascendlab as al
from ascendlab.capi import arguments
from ascendlab.fields import UNINITIALISED, Parameters, fields_of

PUBLIC = [getattr(al, name) for name in al.__all__] + [getattr(arguments, name) for name in arguments.__all__]
CLASSES = [c for c in PUBLIC if isinstance(c, type) and issubclass(c, Parameters) and dataclasses.is_dataclass(c)]

HALF, FLOAT = 65504.0, float(np.finfo(np.float32).max)
TYPES = {
    "bool": (None, None), "half": (-HALF, HALF), "uint8_t": (0, 2**8 - 1), "uint16_t": (0, 2**16 - 1),
    "uint32_t": (0, 2**32 - 1), "uint64_t": (0, 2**64 - 1), "int16_t": (-(2**15), 2**15 - 1),
}  # fmt: skip

# Where a constructor accepts less than the C++ type holds: class, fields, range.
NARROWER = """
AippPaddingParams: padding_mode 0 3
AippPaddingParams: padding_value_ch0 padding_value_ch1 padding_value_ch2 padding_value_ch3 - -
AippDataTypeConvParams: dtc_round_mode 0 1
AippChannelPaddingParams: c_padding_mode 0 1
AippChannelPaddingParams: c_padding_value - -
LoadImageToLocalParams: horiz_size src_horiz_size 2 4095
LoadImageToLocalParams: horiz_start_pos vert_start_pos 0 4095
LoadImageToLocalParams: top_pad_size bot_pad_size left_pad_size right_pad_size 0 32
LoadData3DParamsV1: l1_h l1_w 1 32767
LoadData3DParamsV1: c1_index 0 4095
LoadData3DParamsV1: fetch_filter_w fetch_filter_h 0 254
LoadData3DParamsV1: left_top_w left_top_h -255 32767
LoadData3DParamsV1: stride_w stride_h 1 63
LoadData3DParamsV1: filter_w filter_h dilation_filter_w dilation_filter_h repeat_time 1 255
LoadData3DParamsV1: jump_stride 1 127
LoadData3DParamsV1: repeat_mode c_size 0 1
LoadData3DParamsV2: l1_h l1_w 0 32767
LoadData3DParamsV2: stride_w stride_h 1 63
LoadData3DParamsV2: dilation_filter_w dilation_filter_h 1 255
LoadDataRepeatParam: repeat_mode 0 1
CopyGm2l1Nd2nzParams: loop1_src_stride loop4_src_stride 0 1099511627775
CopyGm2l1Nd2nzParams: l2_cache_ctl 0 4
CopyGm2l1Nd2nzParams: n_value 1 65535
CopyGm2l1Nd2nzParams: d_value 1 2097151
CopyL12L02dParams: src_stride -32768 32767
CopyL12L02dParams: dst_stride 1 65535
CopyL12L03dParams: m_start_pt 0 32767
CopyL12L03dParams: stride_w stride_h 1 63
CopyL12L03dParams: dilation_filter_w dilation_filter_h 1 255
MmadParams: m k n 0 4095
MmadParams: unit_flag 0 3
CopyL0c2gmParams: n_size 1 4095
CopyL0c2gmParams: m_size 1 65535
CopyL0c2gmParams: dst_stride 1 4294967295
CopyL0c2gmParams: l2_cache_mode 0 4
CopyL0c2gmParams: enable_clip_relu_pre 0 1
CopyL0c2gmParams: unit_flag_mode relu_pre_mode 0 3
CopyL0c2gmParams: quant_post relu_post eltwise_op 0 0
"""


def narrower() -> dict[str, tuple[int | None, int | None]]:
    """Return the table above, by ``Class.field``."""
    table = {}
    for line in NARROWER.strip().splitlines():
        owner, _, words = line.partition(": ")
        *names, low, high = words.split()
        ends = tuple(None if end == "-" else int(end) for end in (low, high))
        table |= {f"{owner}.{name}": ends for name in names}
    return table


def test_every_range_is_as_recorded() -> None:
    """Each field has the range that stands above, or all of its C++ type's."""
    table, found = narrower(), {}
    for cls in CLASSES:
        for name, spec in fields_of(cls).items():
            if spec.structure is None:
                whole = (-FLOAT, FLOAT) if name == "pad_value" else TYPES.get(spec.cpp_type)
                place = f"{cls.__name__}.{name}"
                found[place] = (spec.low, spec.high)
                assert found[place] == table.get(place, whole), place
    assert table.keys() <= found.keys()
    assert len(found) > 130


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_both_ends_are_accepted_and_nothing_beyond(cls: type[Parameters]) -> None:
    """The constructor itself holds to the ranges of whole numbers."""
    specs = fields_of(cls)
    lowest = {
        name: False if spec.cpp_type == "bool" else spec.low or 0 for name, spec in specs.items() if spec.required
    }
    lowest = {name: (low,) * specs[name].length if specs[name].length else low for name, low in lowest.items()}
    for name, spec in specs.items():
        if isinstance(spec.low, int) and isinstance(spec.high, int) and not spec.length:
            step = 2 if name == "horiz_start_pos" else 1  # even, the document says
            for end in (spec.low, spec.high // step * step):
                assert getattr(cls(**{**lowest, name: end}), name) == end
            for beyond in (spec.low - 1, spec.high + 1):
                with pytest.raises(al.ParameterError, match=spec.document_name):
                    cls(**{**lowest, name: beyond})


def test_every_choice_is_explained() -> None:
    """Where values have meanings, each value of the range has one; the cache's modes leave out 3."""
    for cls in CLASSES:
        for name, spec in fields_of(cls).items():
            if spec.choices:
                values = {0, 1, 2, 4} if "l2_cache" in name else set(range(int(spec.low or 0), int(spec.high or 0) + 1))
                assert set(spec.choices) == values, f"{cls.__name__}.{name}"


def test_what_cpp_starts_with() -> None:
    """Members that C++ starts with something else than the document's default are these, and code always sets them."""
    found = {
        f"{cls.__name__}.{name}": spec.cpp_default
        for cls in CLASSES
        for name, spec in fields_of(cls).items()
        if spec.cpp_default is not None
    }
    uninitialised = dict.fromkeys(("c_padding_mode", "c_padding_value"), UNINITIALISED)
    zero = dict.fromkeys(
        ("stride_w", "stride_h", "filter_w", "filter_h", "dilation_filter_w", "dilation_filter_h", "jump_stride",
         "repeat_time"), 0,
    )  # fmt: skip
    expected = {f"AippChannelPaddingParams.{name}": start for name, start in uninitialised.items()}
    expected |= {f"LoadData3DParamsV1.{name}": start for name, start in zero.items()}
    assert found == expected
    specs = {f"{cls.__name__}.{name}": spec for cls in CLASSES for name, spec in fields_of(cls).items()}
    assert all(specs[name].always_emit for name in expected)
