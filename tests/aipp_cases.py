"""Random AIPP calls, small and awkward: odd windows, H != W, borders, strided sources, extreme constants."""

from __future__ import annotations

import itertools
import json
import pathlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import aipp_oracle
import numpy as np

import ascendlab as al

GOLDEN = pathlib.Path(__file__).parent / "data" / "aipp_dav_3510.npz"
FORMATS = tuple(al.AippInputFormat)
TYPES = ("uint8", "int8", "half")
WITH_UINT8 = (al.Product.ATLAS_350, al.Product.ATLAS_200I_500_A2, al.Product.ATLAS_INFERENCE_AI_CORE)
WITHOUT_UINT8 = (al.Product.ATLAS_A2, al.Product.ATLAS_A3)
STRUCTURES = {
    "padding_params": al.AippPaddingParams,
    "swap_params": al.AippSwapParams,
    "single_line_params": al.AippSingleLineParams,
    "dtc_params": al.AippDataTypeConvParams,
    "c_padding_params": al.AippChannelPaddingParams,
    "csc_params": al.AippColorSpaceConvParams,
}


def make_config(**values: Any) -> al.AippParams:
    """Build the configuration from one flat set of fields, all of which must find their structure."""
    parts = {}
    for name, cls in STRUCTURES.items():
        own = {f.name for f in fields(cls)}
        parts[name] = cls(**{key: values.pop(key) for key in list(values) if key in own})
    assert not values, f"no structure has {sorted(values)}"
    return al.AippParams(**parts)


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that one SetAippFunctions + LoadImageToLocal needs."""

    src0: np.ndarray
    src1: np.ndarray | None
    input_format: al.AippInputFormat
    config: al.AippParams
    dtype: str
    product: al.Product
    profile: str
    params: al.LoadImageToLocalParams

    def setup(self) -> al.AippSetup:
        """Configure the library."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", al.AscendlabWarning)
            return al.set_aipp_functions(
                self.src0,
                self.src1,
                input_format=self.input_format,
                config=self.config,
                dtype=self.dtype,
                product=self.product,
                profile=self.profile,
            )

    def run(self, **more: Any) -> np.ndarray:
        """Let the library compute it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", al.AscendlabWarning)
            return al.load_image_to_local(self.setup(), self.params, **more)

    def expect(self) -> np.ndarray:
        """Let the oracle compute it."""
        return aipp_oracle.load_image(
            self.src0,
            self.src1,
            int(self.input_format),
            self.config,
            self.dtype,
            self.product.name,
            self.profile,
            self.params,
        )


def window_of(picture, **more):
    """Make the window that is the whole picture."""
    height, width = picture.shape[:2]
    return al.LoadImageToLocalParams(**{"horiz_size": width, "vert_size": height, "src_horiz_size": width, **more})


def load(
    src0,
    src1=None,
    *,
    input_format,
    dtype="uint8",
    product=al.Product.ATLAS_INFERENCE_AI_CORE,
    profile="documented",
    window=None,
    **config,
):
    """Configure and load in one go; the window is the whole picture unless it is given (or its fields are)."""
    setup = al.set_aipp_functions(
        src0,
        src1,
        input_format=input_format,
        config=make_config(**config),
        dtype=dtype,
        product=product,
        profile=profile,
    )
    return al.load_image_to_local(setup, window or window_of(src0))


def grey(picture, window=None, **config):
    """Load a one-channel picture and return that channel."""
    return load(picture, input_format=al.AippInputFormat.YUV400_U8, window=window, **config)[:, :, 0]


def random_picture(*shape, seed=0):
    """Make a picture without any regularity."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def make_sources(
    rng: np.random.Generator, input_format: al.AippInputFormat, height: int, width: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Make a random picture of even size; now and then a view that does not lie contiguously."""

    def picture(*shape: int) -> np.ndarray:
        kind = rng.integers(4)
        if kind == 0:
            return rng.integers(0, 256, (shape[0], 2 * shape[1], *shape[2:]), np.uint8)[:, ::2]
        if kind == 1:
            return rng.integers(0, 256, shape, np.uint8)[::-1]
        if kind == 2:
            return np.asfortranarray(rng.integers(0, 256, shape, np.uint8))
        return rng.integers(0, 256, shape, np.uint8)

    if input_format is al.AippInputFormat.YUV420SP_U8:
        return picture(height, width), picture(height // 2, width)
    if input_format is al.AippInputFormat.YUV400_U8:
        return picture(height, width), None
    return picture(height, width, 4 if input_format is al.AippInputFormat.XRGB8888_U8 else 3), None


def _half(rng: np.random.Generator, *extremes: float) -> float:
    if rng.integers(3) == 0:
        return float(rng.choice(extremes))
    return float(np.float16(rng.normal() * 10.0 ** rng.integers(-4, 3)))


def _constant(rng: np.random.Generator, dtype: str) -> float:
    if dtype == "half":
        return _half(rng, 0.0, -0.0, 65504.0, 6e-8, 0.1)
    info = np.iinfo(dtype)
    return int(rng.integers(info.min, info.max + 1))


def random_case(
    rng: np.random.Generator,
    *,
    input_format: al.AippInputFormat,
    dtype: str,
    padding_mode: int,
    csc: bool,
    c_padding_mode: int,
    single_line: bool,
    profile: str,
    product: al.Product,
) -> Case:
    """Make a random call with these choices fixed."""
    yuv420 = input_format is al.AippInputFormat.YUV420SP_U8
    rgb = input_format in (al.AippInputFormat.RGB888_U8, al.AippInputFormat.XRGB8888_U8)
    flip = lambda: bool(rng.integers(2))  # noqa: E731
    swap_ax = input_format is al.AippInputFormat.XRGB8888_U8 and flip()
    if profile == "dav_3510" and dtype != "uint8" and not csc:
        swap_ax = False  # refused there
    values: dict[str, Any] = {
        "padding_mode": padding_mode,
        "c_padding_mode": c_padding_mode,
        "c_padding_value": _constant(rng, dtype),
        "is_swap_rb": rgb and flip(),
        "is_swap_uv": yuv420 and flip(),
        "is_swap_ax": swap_ax,
        "is_single_line_copy": single_line,
        "is_enable_csc": csc,
    }
    on_200i = product is al.Product.ATLAS_200I_500_A2
    if on_200i:
        values["dtc_round_mode"] = int(rng.integers(2))
    for channel in range(4):
        values[f"padding_value_ch{channel}"] = _constant(rng, dtype)
    for channel in range(3):
        values[f"dtc_mean_ch{channel}"] = int(rng.integers(256))
        values[f"dtc_min_ch{channel}"] = 0.0 if on_200i else _half(rng, 0.0, -0.0, 65504.0, -65504.0, 6e-8)
        values[f"dtc_var_ch{channel}"] = _half(rng, 0.0, -1.0, 65504.0, 6e-8, 1 / 255, 258.0)
        for side in ("in", "out"):
            values[f"csc_bias_{side}{channel}"] = int(rng.integers(256))
        for column in range(3):
            limit = 32768 if rng.integers(8) == 0 else 500
            values[f"csc_matrix_r{channel}c{column}"] = int(rng.integers(-limit, limit))
    height, width = 2 * int(rng.integers(1, 5)), 2 * int(rng.integers(1, 6))
    src0, src1 = make_sources(rng, input_format, height, width)
    horiz_start = 2 * int(rng.integers(0, width // 2))
    horiz_size = int(rng.integers(2, width - horiz_start + 1))
    # A single line may be the last one; else two rows at least must be left.
    vert_start = int(rng.integers(0, height if single_line else height - 1))
    if yuv420:
        vert_start -= vert_start % 2
    vert_size = int(rng.integers(0, 65536)) if single_line else int(rng.integers(2, height - vert_start + 1))
    limits = {"left": 4, "right": 4, "top": 3, "bot": 3}
    if padding_mode == 0 and profile == "documented":
        limits["top"] = limits["bot"] = 0
    if padding_mode in (2, 3):
        rows = 1 if single_line else vert_size
        limits = {side: min(n, horiz_size if side in ("left", "right") else rows) for side, n in limits.items()}
    return Case(
        src0,
        src1,
        input_format,
        make_config(**values),
        dtype,
        product,
        profile,
        al.LoadImageToLocalParams(
            horiz_size=horiz_size,
            vert_size=vert_size,
            horiz_start_pos=horiz_start,
            vert_start_pos=vert_start,
            src_horiz_size=width,
            **{f"{side}_pad_size": int(rng.integers(0, n + 1)) for side, n in limits.items()},
        ),
    )


def random_cases(profile: str, seed: int, input_format: al.AippInputFormat, dtype: str) -> Iterator[Case]:
    """Make one case for every combination of padding mode, CSC, channel padding mode and single line."""
    rng = np.random.default_rng([seed, int(input_format), TYPES.index(dtype)])
    for mode, csc, c_mode, single in itertools.product(range(4), (False, True), (0, 1), (False, True)):
        products = WITH_UINT8 if dtype == "uint8" else WITH_UINT8 + WITHOUT_UINT8
        yield random_case(
            rng,
            input_format=input_format,
            dtype=dtype,
            padding_mode=mode,
            csc=csc,
            c_padding_mode=c_mode,
            single_line=single,
            profile=profile,
            product=al.Product.ATLAS_350 if profile == "dav_3510" else products[rng.integers(len(products))],
        )


def golden_cases() -> list[tuple[Case, np.ndarray]]:
    """Read the stored cases and what the open kernel computed for them."""
    with np.load(GOLDEN) as stored:
        arrays = {name: stored[name] for name in stored.files}
    cases = []
    for i, meta in enumerate(json.loads(str(arrays["meta"]))):
        case = Case(
            src0=arrays[f"{i}_src0"],
            src1=arrays.get(f"{i}_src1"),
            input_format=al.AippInputFormat(meta["input_format"]),
            config=make_config(**meta["config"]),
            dtype={"float16": "half"}.get(meta["dtype"], meta["dtype"]),
            product=al.Product.ATLAS_350,
            profile="dav_3510",
            params=al.LoadImageToLocalParams(**meta["load"]),
        )
        cases.append((case, arrays[f"{i}_out"]))
    return cases
