"""Exercises on BilinearInterpolation.

>>> import numpy as np
>>> offsets_of.check(lambda blocks: blocks * 16)
Wrong: Those are elements. src0Offset counts bytes, and a DataBlock has 32.
  Seen on 8 DataBlocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.exercises._base import Case, Exercise, Misconception
from ascendlab.resize import linear_taps
from ascendlab.vector import bilinear_interpolation

__all__ = ["accumulate", "offsets_of", "taps"]

Array = NDArray[Any]

# --- offsets ---


def _offset_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for iterations in (1, 3, 5):
        blocks = rng.integers(1, 40, 8 * iterations)
        cases.append(Case({"blocks": blocks}, words=f"{blocks.size} DataBlocks"))
    return cases


offsets_of = Exercise(
    name="offsets_of",
    parameters="blocks",
    task="`blocks` numbers the DataBlocks of `src0` (half) that an instruction is to read. Return `src0_offset`.",
    spec="src0_offset.shape == blocks.shape\n(src0_offset % 32 == 0).all()",
    cases=_offset_cases,
    library=lambda blocks: blocks * 32,
    misconceptions=[
        Misconception(
            "Those are elements. src0Offset counts bytes, and a DataBlock has 32.", lambda blocks: blocks * 16
        ),
        Misconception("Those are DataBlocks. src0Offset counts bytes, and a DataBlock has 32.", lambda blocks: blocks),
        Misconception(
            "Those are the offsets between one block and the next. Each offset counts from the start of src0.",
            lambda blocks: np.diff(blocks * 32, prepend=0),
        ),
        Misconception(
            "Those are the ends of the blocks. An offset names where the block starts.", lambda blocks: blocks * 32 + 32
        ),
        Misconception(
            "Those are bytes of float elements. src0 is half: a DataBlock has 16 elements and 32 bytes.",
            lambda blocks: blocks * 64,
        ),
    ],
)

# --- accumulation ---


def _sum_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for count in (3, 5, 7):
        # Large and small terms in turn: the order of rounding shows in the result.
        samples = (rng.uniform(1, 2, (count, 4)) * np.where(np.arange(count) % 2, 0.37, 903)[:, None]).astype(
            np.float16
        )
        weights = rng.uniform(0.3, 1.7, count).astype(np.float16)
        cases.append(Case({"samples": samples, "weights": weights}, words=f"{count} iterations of 4 lanes"))
    return cases


def _accumulated(samples: Array, weights: Array) -> Array:
    count = len(weights)
    blocks = np.zeros((count, 16), np.float16)
    blocks[:, : samples.shape[1]] = samples
    offsets = np.repeat(np.arange(count) * 32, 8).astype(np.uint32)
    return bilinear_interpolation(blocks.ravel(), offsets, weights, 128, count, False, 1, 128, 1)[: samples.shape[1]]


def _rounded_sum(samples: Array, weights: Array, order: slice) -> Array:
    total = np.zeros(samples.shape[1], np.float16)
    for sample, weight in zip(samples[order], weights[order], strict=True):
        total = total + sample * weight
    return total


accumulate = Exercise(
    name="accumulate",
    parameters="samples, weights",
    task="Add up `weights[h] * samples[h]` over the iterations h as the instruction does, bit for bit: each product "
    "and each sum rounds to half. `samples` is (h, lanes) of half, `weights` (h,) of half.",
    spec="out.dtype == np.float16 and out.shape == samples.shape[1:]",
    cases=_sum_cases,
    library=_accumulated,
    dtype=np.float16,
    misconceptions=[
        Misconception(
            "Rounded once at the end. The instruction rounds every product and every sum to half.",
            lambda samples, weights: (weights.astype(np.float32) @ samples.astype(np.float32)).astype(np.float16),
        ),
        Misconception(
            "The products are exact here, only the sums round. The instruction rounds each product to half first.",
            lambda samples, weights: _fused(samples, weights),
        ),
        Misconception(
            "The products round to half, the sum only once at the end. The instruction rounds after every addition.",
            lambda samples, weights: (samples * weights[:, None]).astype(np.float32).sum(axis=0).astype(np.float16),
        ),
        Misconception(
            "Added up from the last iteration to the first. In half the order matters: h = 0 comes first.",
            lambda samples, weights: _rounded_sum(samples, weights, slice(None, None, -1)),
        ),
        Misconception(
            "The weights are missing.", lambda samples, weights: _rounded_sum(samples, weights * 0 + 1, slice(None))
        ),
    ],
)


def _fused(samples: Array, weights: Array) -> Array:
    total = np.zeros(samples.shape[1], np.float16)
    for sample, weight in zip(samples, weights, strict=True):
        exact = sample.astype(np.float64) * np.float64(weight)
        total = (total + exact).astype(np.float16)
    return total


# --- taps ---


def _tap_cases(rng: np.random.Generator) -> list[Case]:
    return [
        Case({"size": size, "out_size": out_size}, words=f"{size} samples to {out_size}")
        for size, out_size in ((7, 11), (9, 23), (13, 5), (3, int(rng.integers(17, 30))))
    ]


def _positions(size: int, out_size: int, place: Any) -> Array:
    """Lower sample and weight of the upper one, for source positions ``place(x)``."""
    position = np.clip(place(np.arange(out_size)), 0, size - 1)
    lower = np.minimum(position.astype(np.int64), size - 2)
    return np.stack([lower, np.round((position - lower) * 256)], axis=1)


def _library_taps(size: int, out_size: int) -> Array:
    index, weight = linear_taps(size, out_size)
    # A position is what both taps make together, whatever the form in which they come.
    position = (index * weight.astype(np.float64)).sum(axis=0)
    lower = np.minimum(position.astype(np.int64), size - 2)
    return np.stack([lower, np.round((position - lower) * 256)], axis=1)


def _near(found: Array, right: Array) -> NDArray[np.bool_]:
    """Compare positions, to 1/128 of a sample: half weights are no more exact than that."""
    gap = np.abs((found[:, 0] + found[:, 1] / 256) - (right[:, 0] + right[:, 1] / 256)) <= 2 / 256
    return np.stack([gap, gap], axis=1)


taps = Exercise(
    name="taps",
    parameters="size, out_size",
    task="A row of `size` samples becomes `out_size` samples, pixel centres at half integers. Return for each output "
    "sample a pair: the number of the lower of its two source samples (at most size - 2), and the weight of the upper "
    "one in 1/256, rounded. Positions outside the row are clamped to it.",
    spec="out.shape == (out_size, 2)\nposition == out[:, 0] + out[:, 1] / 256",
    cases=_tap_cases,
    library=_library_taps,
    agrees=_near,
    misconceptions=[
        Misconception(
            "Pixels are taken as points at whole numbers. A pixel's centre lies at x + 0.5, in both pictures.",
            lambda size, out_size: _positions(size, out_size, lambda x: x * size / out_size),
        ),
        Misconception(
            "The corners are aligned: first to first and last to last. Here the outer edges are: centres move in.",
            lambda size, out_size: _positions(size, out_size, lambda x: x * (size - 1) / (out_size - 1)),
        ),
        Misconception(
            "The factor is upside down: an output step of 1 is size / out_size source samples.",
            lambda size, out_size: _positions(size, out_size, lambda x: (x + 0.5) * out_size / size - 0.5),
        ),
        Misconception(
            "The centre of the source pixel is forgotten: after scaling, 0.5 must be taken off again.",
            lambda size, out_size: _positions(size, out_size, lambda x: (x + 0.5) * size / out_size),
        ),
        Misconception(
            "The weights belong to the other sample: the nearer a sample is, the more it counts.",
            lambda size, out_size: (
                _positions(size, out_size, lambda x: (x + 0.5) * size / out_size - 0.5) * [1, -1] + [0, 256]
            ),
        ),
        Misconception(
            "That is the nearest sample, without interpolation.",
            lambda size, out_size: _positions(
                size, out_size, lambda x: np.floor(np.clip((x + 0.5) * size / out_size - 0.5, 0, None) + 0.5)
            ),
        ),
    ],
)
