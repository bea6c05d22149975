"""Random calls against the pixel-by-pixel oracle, and ways of saying the same thing that must agree."""

from __future__ import annotations

import itertools
from dataclasses import replace

import aipp_cases
import aipp_oracle
import numpy as np
import pytest

import ascendlab as al


@pytest.mark.parametrize("dtype", aipp_cases.TYPES)
@pytest.mark.parametrize("input_format", aipp_cases.FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
@pytest.mark.rule("aipp-order")
def test_random_calls_agree_with_the_oracle(profile, input_format, dtype):
    """Any combination of window, border, swaps, colours and types gives what the rules say, pixel by pixel."""
    cases = itertools.chain.from_iterable(
        aipp_cases.random_cases(profile, seed, input_format, dtype) for seed in range(2)
    )
    for case in cases:
        got, expected = case.run(), case.expect()
        assert aipp_oracle.same_bits(got, expected), case


def big_case(input_format, dtype="half", *, csc=True, height=262, width=422):
    """Make a picture whose window does not fit into one tile."""
    rng = np.random.default_rng(5)
    src0, src1 = aipp_cases.make_sources(rng, input_format, height, width)
    rgb = input_format in (al.AippInputFormat.RGB888_U8, al.AippInputFormat.XRGB8888_U8)
    config = replace(
        aipp_cases.make_config(padding_mode=3, dtc_mean_ch0=3, dtc_var_ch1=0.3, dtc_min_ch2=7.5, c_padding_value=9),
        csc_params=al.csc_preset("rgb_to_yuv_jpeg" if rgb else "yuv_to_rgb_bt601_narrow")
        if csc
        else al.AippColorSpaceConvParams(),
    )
    params = al.LoadImageToLocalParams(
        horiz_size=width - 5, vert_size=height - 3, horiz_start_pos=4, vert_start_pos=2, src_horiz_size=width
    )
    return aipp_cases.Case(
        src0, src1, input_format, config, dtype, al.Product.ATLAS_INFERENCE_AI_CORE, "documented", params
    )


@pytest.mark.parametrize("csc", [False, True])
@pytest.mark.parametrize("input_format", aipp_cases.FORMATS, ids=lambda f: f.name)
def test_a_large_window_is_its_small_windows_side_by_side(input_format, csc):
    """Cutting a window into pieces and joining the results changes nothing, wherever the cuts are."""
    case = big_case(input_format, csc=csc)
    whole = case.run()
    p = case.params
    rows = []
    for top in range(0, p.vert_size, 64):
        pieces = []
        for left in range(0, p.horiz_size, 130):
            part = replace(
                p,
                horiz_start_pos=p.horiz_start_pos + left,
                vert_start_pos=p.vert_start_pos + top,
                horiz_size=min(130, p.horiz_size - left),
                vert_size=min(64, p.vert_size - top),
            )
            pieces.append(replace(case, params=part).run())
        rows.append(np.concatenate(pieces, axis=1))
    assert aipp_oracle.same_bits(whole, np.concatenate(rows))


@pytest.mark.parametrize("input_format", aipp_cases.FORMATS, ids=lambda f: f.name)
def test_the_corners_of_a_large_window_agree_with_the_oracle(input_format):
    """The last rows and columns of a picture of many tiles are as right as the first."""
    case = big_case(input_format)
    whole = case.run()
    p = case.params
    for top in (0, p.vert_size // 2 & ~1, (p.vert_size - 4) & ~1):
        for left in (0, (p.horiz_size - 6) & ~1):
            width, height = min(6, p.horiz_size - left), min(4, p.vert_size - top)
            part = replace(
                p,
                horiz_start_pos=p.horiz_start_pos + left,
                vert_start_pos=p.vert_start_pos + top,
                horiz_size=width,
                vert_size=height,
            )
            expected = replace(case, params=part).expect()
            assert aipp_oracle.same_bits(whole[top : top + height, left : left + width], expected)
