"""AIPP config files: reading one and looking for mistakes, against protobuf's parser alone.

The peer is what any reader has to do: ``google.protobuf.text_format.Parse`` into the same message.
"""

from __future__ import annotations

from collections.abc import Iterator

from ascendlab.aipp_config import _protobuf, read_aipp_config
from ascendlab.aipp_params import CSC_PRESETS
from benchmarks.measure import Case

PARSER = "protobuf's text_format.Parse"


def _text(blocks: int) -> str:
    """Write a file as people have it: YUV420SP, crop, matrix, normalisation, comments."""
    elements = CSC_PRESETS["yuv_to_rgb_jpeg"][0].flatten().tolist()
    lines = [
        "    aipp_mode : static             # fixed when the model is converted",
        "    input_format : YUV420SP_U8",
        "    src_image_size_w : 256\n    src_image_size_h : 256\n    crop : true",
        "    load_start_pos_w : 16\n    load_start_pos_h : 16\n    crop_size_w : 224\n    crop_size_h : 224",
        "    csc_switch : true\n    rbuv_swap_switch : false",
        *(f"    matrix_r{i // 3}c{i % 3} : {value}" for i, value in enumerate(elements)),
        *(f"    input_bias_{i} : {value}" for i, value in enumerate((0, 128, 128))),
        *(f"    min_chn_{i} : {value}" for i, value in enumerate((123.675, 116.28, 103.53))),
        *(f"    var_reci_chn_{i} : {value}" for i, value in enumerate((0.0171248, 0.017507, 0.0174292))),
    ]
    body = "\n".join(lines)
    return "".join(f"aipp_op {{\n    related_input_rank : {rank}\n{body}\n}}\n" for rank in range(blocks))


def _case(name: str, text: str) -> Case:
    new_message, text_format = _protobuf()

    def ours() -> int:
        return len(read_aipp_config(text).check())

    def plain() -> object:
        return text_format.Parse(text, new_message())

    def check() -> None:
        config, message = read_aipp_config(text), text_format.Parse(text, new_message())
        assert config.check() == []
        assert len(config.aipp_op) == len(message.aipp_op)
        for own, theirs in zip(config.aipp_op, message.aipp_op, strict=True):
            assert len(own.values) == len(theirs.ListFields())
            assert own.min_chn_0 == theirs.min_chn_0

    return Case(name, ours, check, {PARSER: plain}, limits={PARSER: 5.0})


def cases(small: bool = False) -> Iterator[Case]:
    """Yield one file of one block, a minimal one, and (unless `small`) one of sixty blocks."""
    yield _case("read and check a file of 30 fields", _text(1))
    yield _case("read and check a file of 2 fields", "aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    if not small:
        yield _case("read and check 60 blocks of 30 fields", _text(60))
