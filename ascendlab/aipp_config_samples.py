"""Config files to begin with: right ones, and ones with a mistake that real files have.

>>> list(CONFIG_SAMPLES)[0]
'classifier, YUV'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ascendlab.aipp_params import CSC_PRESETS

__all__ = ["CONFIG_SAMPLES"]

_IMAGENET = ("123.675", "116.28", "103.53"), ("0.0171248", "0.017507", "0.0174292")


def _fields(prefix: str, values: Sequence[object]) -> list[str]:
    return [f"{prefix}_{i} : {value}" for i, value in enumerate(values)]


def _csc(preset: str) -> list[str]:
    matrix, bias = CSC_PRESETS[preset]
    elements = [f"matrix_r{i // 3}c{i % 3} : {value}" for i, value in enumerate(matrix.flatten().tolist())]
    side = "input_bias" if preset.startswith("yuv") else "output_bias"
    return ["csc_switch : true", *elements, *_fields(side, bias)]


def _file(input_format: str, *lines: str) -> str:
    inner = ["aipp_mode : static", f"input_format : {input_format}", *lines]
    return "aipp_op {\n" + "".join(f"    {line}\n" for line in inner) + "}\n"


_NORMALISED = (*_fields("min_chn", _IMAGENET[0]), *_fields("var_reci_chn", _IMAGENET[1]))
_CROP = ("src_image_size_w : 256", "src_image_size_h : 256", "crop : true", "load_start_pos_w : 16",
         "load_start_pos_h : 16", "crop_size_w : 224", "crop_size_h : 224")  # fmt: skip
_UNIT = (*_fields("min_chn", ("0.485", "0.456", "0.406")), *_fields("var_reci_chn", ("0.229", "0.224", "0.225")))
_BGR = (*_fields("min_chn", _IMAGENET[0][::-1]), *_fields("var_reci_chn", _IMAGENET[1]))

CONFIG_SAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "classifier, YUV": _file("YUV420SP_U8", *_CROP, *_csc("yuv_to_rgb_jpeg"), *_NORMALISED),
        "classifier, RGB": _file("RGB888_U8", *_CROP, *_NORMALISED),
        "border, BGR": _file(
            "RGB888_U8", "rbuv_swap_switch : true", *_fields("mean_chn", (104, 117, 123)), "padding : true",
            "left_padding_size : 16", "right_padding_size : 16", "top_padding_size : 8", "bottom_padding_size : 8",
        ),
        "mistake: std for its reciprocal": _file("RGB888_U8", *_CROP, *_UNIT),
        "mistake: BGR mean, RGB factors": _file("RGB888_U8", *_CROP, *_BGR),
        "mistake: no matrix": _file("YUV420SP_U8", *_CROP, "csc_switch : true", *_NORMALISED),
        "mistake: a zero left out": _file(
            "YUV420SP_U8", *(line for line in _csc("yuv_to_rgb_bt601_narrow") if "r0c1" not in line)
        ),
        "mistake: float mean": _file("RGB888_U8", *_fields("mean_chn", _IMAGENET[0])),
    }
)  # fmt: skip
"""Texts by what they are."""
