"""What an AIPP config file does to a picture, one pixel at a time, from its own formula.

It reads `name: value` pairs with a regular expression and knows nothing of Ascend C: no code, no parameter object and
no table of the library is used.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

YUV_TO_BGR = [[298, 516, 0], [298, -100, -208], [298, 0, 409]]
RGB_TO_YUV = [[66, 129, 25], [-38, -74, 112], [112, -94, -18]]


def fields(text: str) -> dict[str, Any]:
    """Read one block that is written plainly: decimal numbers, no strings."""
    plain = re.sub("#.*", "", text)
    values: dict[str, Any] = {}
    for name, value in re.findall(r"(\w+)\s*:\s*([-\w.]+)", plain):
        values[name] = {"true": True, "false": False}.get(value, value)
        if re.fullmatch(r"-?\d+", value):
            values[name] = int(value)
        elif re.fullmatch(r"-?\d*\.\d+(e-?\d+)?", value):
            values[name] = float(np.float32(value))  # the message keeps single precision
    return values


def pixel(config: dict[str, Any], src0: Any, src1: Any, y: int, x: int) -> list[int]:
    """Fetch one pixel of the source and swap its channels."""
    kind = config["input_format"]
    if kind == "YUV400_U8":
        return [int(src0[y, x])]
    if kind == "YUV420SP_U8":
        u, v = int(src1[y // 2, x - x % 2]), int(src1[y // 2, x - x % 2 + 1])
        return [int(src0[y, x]), v, u] if config.get("rbuv_swap_switch") else [int(src0[y, x]), u, v]
    values = [int(value) for value in src0[y, x]]
    if config.get("ax_swap_switch"):
        values = [values[1], values[2], values[3], values[0]]
    if config.get("rbuv_swap_switch"):
        values[0], values[2] = values[2], values[0]
    return values[:3]


def convert(config: dict[str, Any], values: list[int]) -> list[int]:
    """Convert the colours of one pixel: fixed point, arithmetic shift, clipped."""
    to_rgb = config["input_format"].startswith("YUV")
    default = YUV_TO_BGR if to_rgb else RGB_TO_YUV
    side = "input_bias" if to_rgb else "output_bias"
    bias = [config.get(f"{side}_{i}", (16, 128, 128)[i]) for i in range(3)]
    if len(values) == 1:
        values = [values[0], 0, 0]
    result = []
    for r in range(3):
        total = 0
        for c in range(3):
            element = config.get(f"matrix_r{r}c{c}", default[r][c])
            total += element * (values[c] - bias[c] if to_rgb else values[c])
        total = (total >> 8) + (0 if to_rgb else bias[r])
        result.append(max(0, min(255, total)))
    return result


def run(text: str, src0: Any, src1: Any = None) -> np.ndarray:
    """Compute what the model gets."""
    config = fields(text)
    height, width = src0.shape[:2]
    left = top = 0
    if config.get("crop"):
        left, top = config.get("load_start_pos_w", 0), config.get("load_start_pos_h", 0)
        width = config.get("crop_size_w", 0) or width - left
        height = config.get("crop_size_h", 0) or height - top
    if config.get("single_line_mode"):
        height = 1
    border = dict.fromkeys(("left", "right", "top", "bottom"), 0)
    if config.get("padding"):
        border = {side: config.get(f"{side}_padding_size", 0) for side in border}
    rows = []
    for y in range(-border["top"], height + border["bottom"]):
        row = []
        for x in range(-border["left"], width + border["right"]):
            inside = 0 <= y < height and 0 <= x < width
            here = (top + y, left + x) if inside else (top, left)
            values = pixel(config, src0, src1, *here)
            if config.get("csc_switch"):
                values = convert(config, values)
            out = []
            for i, value in enumerate(values):
                centred = np.float16(value - config.get(f"mean_chn_{i}", 0))
                reduced = np.float16(centred - np.float16(config.get(f"min_chn_{i}", 0)))
                scaled = np.float16(reduced * np.float16(config.get(f"var_reci_chn_{i}", 1.0)))
                out.append(scaled if inside else np.float16(config.get("padding_value", 0.0)))
            row.append(out)
        rows.append(row)
    return np.array(rows, np.float16)
