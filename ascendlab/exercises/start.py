"""Exercises on DataBlocks, fractals and buffers, for the first notebook.

>>> tensor_bytes.check(lambda height, width, bits: height * width * 3 * bits // 8)
Wrong: Those are the three channels alone. Each pixel fills a whole DataBlock.
  Seen on 13 x 29 pixels of int8, 8 bits.
"""

from __future__ import annotations

import numpy as np

from ascendlab.aipp import AippInputFormat, AippParams, LoadImageToLocalParams, aipp_plan, set_aipp_functions
from ascendlab.dtypes import DATA_BLOCK_BYTES, as_dtype
from ascendlab.exercises._base import Case, Exercise, Misconception, odd_shapes
from ascendlab.layouts import FRACTAL_ROWS, nd_to_nz
from ascendlab.products import Product

__all__ = ["fewest_tiles", "fractal_count", "tensor_bytes"]

_BITS = {"int8": 8, "half": 16}

# --- a picture as a tensor ---


def _tensor_cases(rng: np.random.Generator) -> list[Case]:
    kinds = ("int8", "half", "half", "int8")
    return [
        Case(
            {"height": h, "width": w, "bits": _BITS[kind]},
            words=f"{h} x {w} pixels of {kind}, {_BITS[kind]} bits",
        )
        for (h, w), kind in zip(odd_shapes(rng, 4, 5, 41), kinds, strict=True)
    ]


def _tensor_bytes(height: int, width: int, bits: int) -> int:
    kind = {8: "int8", 16: "half"}[bits]
    picture = np.zeros((height, width, 3), np.uint8)
    setup = set_aipp_functions(picture, input_format=AippInputFormat.RGB888_U8, config=AippParams(), dtype=kind)
    window = LoadImageToLocalParams(horiz_size=width, vert_size=height, src_horiz_size=width)
    return int(np.prod(aipp_plan(setup, window).shape)) * setup.dtype.numpy.itemsize


tensor_bytes = Exercise(
    name="tensor_bytes",
    parameters="height, width, bits",
    task="How many bytes does a picture of `height` x `width` RGB pixels take in L1, as elements of `bits` bits?",
    spec="isinstance(answer, int)\nanswer % (height * width) == 0",
    cases=_tensor_cases,
    library=_tensor_bytes,
    misconceptions=[
        Misconception(
            "Those are the three channels alone. Each pixel fills a whole DataBlock.",
            lambda height, width, bits: height * width * 3 * bits // 8,
        ),
        Misconception(
            "Those are the bytes in global memory, of 8 bits and three channels each.",
            lambda height, width, bits: height * width * 3,
        ),
        Misconception(
            "The number of channels is not fixed at 16: a DataBlock is 32 bytes, whatever the type.",
            lambda height, width, bits: height * width * 16 * bits // 8,
        ),
        Misconception(
            "The number of channels is not fixed at 32: a DataBlock is 32 bytes, whatever the type.",
            lambda height, width, bits: height * width * 32 * bits // 8,
        ),
        Misconception(
            "That is a whole fractal for each pixel. A pixel fills one DataBlock.",
            lambda height, width, bits: height * width * 512,
        ),
        Misconception("Those are elements, not bytes.", lambda height, width, bits: height * width * 256 // bits),
    ],
)

# --- a matrix in fractals ---


def _fractal_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for bits, name in ((16, "half"), (8, "int8"), (32, "float"), (16, "half")):
        # Neither axis a multiple of its side of the fractal, or rounding down would not show.
        c0 = 256 // bits
        m = int(rng.integers(1, 6)) * FRACTAL_ROWS + int(rng.integers(1, 9))
        k = int(rng.integers(2, 7)) * c0 + int(rng.integers(1, c0 // 2 + 1))
        cases.append(Case({"m": m, "k": k, "bits": bits}, words=f"a matrix of {m} x {k} {name}, {bits} bits"))
    return cases


def _fractals(m: int, k: int, bits: int) -> int:
    kind = as_dtype({8: "int8", 16: "half", 32: "float"}[bits])
    return int(np.prod(nd_to_nz(np.zeros((m, k), kind.numpy)).shape[:2]))


fractal_count = Exercise(
    name="fractal_count",
    parameters="m, k, bits",
    task="Into how many fractals is a matrix of `m` x `k` elements of `bits` bits cut?",
    spec="answer * 512 >= m * k * bits // 8\nfractal_count(16, 256 // bits, bits) == 1",
    cases=_fractal_cases,
    library=_fractals,
    misconceptions=[
        Misconception(
            "What does not fill a fractal needs one all the same: round up, along both axes.",
            lambda m, k, bits: (m // 16) * (k * bits // 256),
        ),
        Misconception(
            "Those are the bytes, cut into pieces of 512. A fractal is filled up along each axis on its own.",
            lambda m, k, bits: -(-m * k * bits // (8 * 512)),
        ),
        Misconception(
            "A fractal is 16 rows high, but its width depends on the type: one DataBlock, C0 elements.",
            lambda m, k, bits: -(-m // 16) * -(-k // 16),
        ),
        Misconception(
            "The sides are exchanged: 16 rows, and C0 elements in each.",
            lambda m, k, bits: -(-k // 16) * -(-m // (256 // bits)),
        ),
        Misconception(
            "Those are DataBlocks: 16 of them make a fractal.",
            lambda m, k, bits: -(-m // 16) * 16 * -(-k // (256 // bits)),
        ),
    ],
)

# --- a picture that does not fit ---


def _tile_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for product, short in (
        (Product.ATLAS_A2, 1),
        (Product.ATLAS_INFERENCE_AI_CORE, 0),
        (Product.ATLAS_A2, 0),
        (Product.ATLAS_200I_500_A2, 2),
    ):
        buffer = product.buffers["L1"]
        # Rows so long that most of another one would still fit, and so many tiles that what stays empty adds up to one.
        rows = buffer // DATA_BLOCK_BYTES // 4000 + int(rng.integers(1, 3))
        width = int(buffer // DATA_BLOCK_BYTES / (rows + 0.9))
        height = rows * int(rng.integers(rows + 3, rows + 6)) - short
        words = f"{height} x {width} pixels, a buffer of {buffer:,} bytes"
        cases.append(Case({"height": height, "width": width, "buffer": buffer}, words=words))
    return cases


def _fewest_tiles(height: int, width: int, buffer: int) -> int:
    return -(-height // (buffer // (width * DATA_BLOCK_BYTES)))


fewest_tiles = Exercise(
    name="fewest_tiles",
    parameters="height, width, buffer",
    task="Into how many tiles of whole rows must a picture of `height` x `width` pixels be cut at least, so that each "
    "fits into a `buffer` of so many bytes? Each pixel fills one DataBlock.",
    spec="rows * width * 32 <= buffer\nanswer * rows >= height",
    cases=_tile_cases,
    library=_fewest_tiles,
    misconceptions=[
        Misconception(
            "Those are the bytes of the picture over those of the buffer. A tile has whole rows, and a part of the "
            "buffer stays empty.",
            lambda height, width, buffer: -(-height * width * 32 // buffer),
        ),
        Misconception(
            "Those are the rows of one tile, not the number of tiles.",
            lambda height, width, buffer: buffer // (width * 32),
        ),
        Misconception(
            "The last tile may be full, too: what divides evenly needs no tile more.",
            lambda height, width, buffer: height // (buffer // (width * 32)) + 1,
        ),
        Misconception(
            "A pixel fills a DataBlock, 32 bytes, not one byte for each of its three channels.",
            lambda height, width, buffer: -(-height // (buffer // (width * 3))),
        ),
    ],
)
