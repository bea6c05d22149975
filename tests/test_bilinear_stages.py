"""The intermediate values of BilinearInterpolation, against a naive account of the sum."""

from __future__ import annotations

import numpy as np
import pytest
from vector_oracle import bilinear, half_plus, half_times, same_numbers

from ascendlab import ParameterError
from ascendlab.bilinear_stages import bilinear_stages, element_at, place_of
from ascendlab.vector import BilinearInterpolationPlan, bilinear_interpolation, bilinear_interpolation_plan


def make_call(
    seed: int, *, h_repeat: int = 5, v_repeat: int = 3, repeat_mode: bool = False
) -> tuple[BilinearInterpolationPlan, dict[str, object], np.ndarray, np.ndarray]:
    """Return a call with values that round at every step, infinities, NaN and both zeros among them."""
    rng = np.random.default_rng(seed)
    src0 = rng.normal(0, 300, 16 * 23).astype(np.float16)
    src0[rng.integers(0, src0.size, 30)] = rng.choice([0.0, -0.0, np.inf, 6e-8, 65504.0, np.nan], 30)
    src1 = rng.normal(0, 2, h_repeat * v_repeat * (8 if repeat_mode else 1)).astype(np.float16)
    offsets = (32 * rng.integers(0, 23, 8 * h_repeat * v_repeat)).astype(np.uint32)
    arguments = {
        "src0_offset": offsets, "src1": src1, "mask": 77, "h_repeat": h_repeat, "repeat_mode": repeat_mode,
        "dst_blk_stride": 3, "v_roffset": 16 * 25, "v_repeat": v_repeat,
    }  # fmt: skip
    return bilinear_interpolation_plan(src0, **arguments), arguments, src0, src1


@pytest.mark.parametrize("repeat_mode", [False, True])
def test_products_and_sums_round_as_the_instruction_does(repeat_mode: bool) -> None:
    """Each product and each running sum is the one that exact arithmetic and one rounding to half give."""
    plan, arguments, src0, src1 = make_call(3, repeat_mode=repeat_mode)
    offsets = np.asarray(arguments["src0_offset"])
    for v in range(3):
        stages = bilinear_stages(plan, src0, src1, repeat=v)
        for b in range(8):
            for lane in range(0, 16, 3):
                total = 0.0
                for h in range(5):
                    i = v * 5 + h
                    sample = float(src0[offsets[8 * i + b] // 2 + lane])
                    weight = float(src1[8 * i + b if repeat_mode else i])
                    product = half_times(sample, weight)
                    total = half_plus(total, product)
                    got = [float(part[h, b, lane]) for part in (stages.samples, stages.products, stages.sums)]
                    expected = [sample, product, total]
                    assert same_numbers(np.float16(got), np.float16(expected)), (v, b, lane, h)
                    assert stages.weights[h, b] == weight


@pytest.mark.parametrize("seed", range(4))
def test_the_last_sums_are_the_result(seed: int) -> None:
    """Where the mask lets lanes be written, the instruction's result is the last running sum, the oracle's too."""
    plan, arguments, src0, src1 = make_call(seed, repeat_mode=bool(seed % 2))
    out = bilinear_interpolation(src0, **arguments)
    assert same_numbers(out, bilinear(src0, **arguments))
    for v in range(3):
        last = bilinear_stages(plan, src0, src1, repeat=v).sums[-1]
        assert same_numbers(plan.dst.view(out)[v][plan.lanes], last[plan.lanes])


def test_the_sum_starts_from_zero() -> None:
    """A single product of minus zero gives plus zero, as adding it to 0 does."""
    src0, src1 = np.full(16, -0.0, np.float16), np.ones(1, np.float16)
    plan = bilinear_interpolation_plan(src0, np.zeros(8, np.uint32), src1, 128, 1, False, 1, 128, 1)
    stages = bilinear_stages(plan, src0, src1, repeat=0)
    assert np.signbit(stages.products).all()
    assert not np.signbit(stages.sums).any()


def test_places_and_elements_are_each_others_inverse() -> None:
    """Every addressed element has one place, and the place leads back; the gaps have none."""
    plan, *_ = make_call(1)
    found = {}
    for element in range(plan.size):
        place = place_of(plan, element)
        if place is not None:
            assert place.written == (16 * place.block + place.lane < 77)
            assert element_at(plan, place.repeat, place.block, near=element) == element
            found[place.repeat, place.block, place.lane] = element
    assert len(found) == 3 * 8 * 16
    assert all(e == v * 400 + 48 * b + lane for (v, b, lane), e in found.items())


def test_what_is_not_there_is_refused() -> None:
    """A vertical repeat, a block or an element that the call does not have is an error by name."""
    plan, _, src0, src1 = make_call(1)
    with pytest.raises(ParameterError, match="repeat = 3"):
        bilinear_stages(plan, src0, src1, repeat=3)
    with pytest.raises(ParameterError, match="element"):
        place_of(plan, plan.size)
    with pytest.raises(ParameterError, match="block = 8"):
        element_at(plan, 0, 8, near=0)
    with pytest.raises(ParameterError, match="repeat = 3"):
        element_at(plan, 3, 0, near=0)
