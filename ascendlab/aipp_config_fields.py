"""The fields of an AIPP config file: one table for the parser, the checks and the messages.

>>> CONFIG_FIELDS["mean_chn_0"].kind, CONFIG_FIELDS["mean_chn_0"].range_text
('int32', '[0, 255]')
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ascendlab.fields import HALF_MAX

__all__ = ["CONFIG_FIELDS", "ENUMS", "ConfigField"]


class ConfigField(NamedTuple):
    """One field of ``aipp_op``.

    Parameters
    ----------
    name : str
        As it stands in the file.
    kind : str
        Its type in protobuf: bool, int32, uint32, float, string, or the enum's own name.
    number : int
        Its number in the message; text does not show it.
    default : object
        What holds where the file does not say.  Matrix and bias have other defaults once colours are converted.
    low, high : number or None
        Documented range, ends included.
    """

    name: str
    kind: str
    number: int
    default: Any
    low: float | None = None
    high: float | None = None

    @property
    def range_text(self) -> str:
        """The documented range, or an empty text."""
        return "" if self.low is None else f"[{self.low:g}, {self.high:g}]"


ENUMS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "AippMode": {"undefined": 0, "static": 1, "dynamic": 2},
        # The numbers are protobuf's, not those of Ascend C.
        "InputFormat": {"UNDEFINED": 0, "YUV420SP_U8": 1, "XRGB8888_U8": 2, "RGB888_U8": 3, "YUV400_U8": 4},
    }
)


def _table() -> Mapping[str, ConfigField]:
    size, uint32 = ("uint32", 0, 0, 4096), 2**32 - 1
    half = ("float", 0.0, -HALF_MAX, HALF_MAX)
    rows: list[tuple[Any, ...]] = [
        ("aipp_mode", "AippMode", "undefined"),
        ("related_input_rank", "uint32", 0, 0, uint32),
        ("related_input_name", "string", ""),
        ("max_src_image_size", "uint32", 0, 0, uint32),
        ("support_rotation", "bool", False),
        ("input_format", "InputFormat", "UNDEFINED"),
        ("csc_switch", "bool", False),
        ("cpadding_value", *half),
        ("rbuv_swap_switch", "bool", False),
        ("ax_swap_switch", "bool", False),
        ("single_line_mode", "bool", False),
        ("src_image_size_w", *size),
        ("src_image_size_h", *size),
        ("crop", "bool", False),
        ("load_start_pos_w", "uint32", 0, 0, 4095),
        ("load_start_pos_h", "uint32", 0, 0, 4095),
        ("crop_size_w", *size),
        ("crop_size_h", *size),
        ("resize", "bool", False),
        ("resize_output_w", "uint32", 0, 0, uint32),
        ("resize_output_h", "uint32", 0, 0, uint32),
        ("padding", "bool", False),
        *((f"{side}_padding_size", "uint32", 0, 0, 32) for side in ("left", "right", "top", "bottom")),
        ("padding_value", *half),
        *((f"mean_chn_{i}", "int32", 0, 0, 255) for i in range(4)),
        *((f"min_chn_{i}", *half) for i in range(4)),
        *((f"var_reci_chn_{i}", "float", 1.0, -HALF_MAX, HALF_MAX) for i in range(4)),
        *((f"matrix_r{r}c{c}", "int32", 0, -32768, 32767) for r in range(3) for c in range(3)),
        *((f"output_bias_{i}", "int32", 0, 0, 255) for i in range(3)),
        *((f"input_bias_{i}", "int32", 0, 0, 255) for i in range(3)),
        ("raw_rgbir_to_f16_n", "uint32", 0, 0, uint32),
        ("input_edge_idx", "uint32", 0, 0, uint32),
    ]
    return MappingProxyType({row[0]: ConfigField(row[0], row[1], i, *row[2:]) for i, row in enumerate(rows, 1)})


CONFIG_FIELDS = _table()
"""Each field of ``aipp_op`` by name, in the order of the guide's template."""
