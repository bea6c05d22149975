"""What the open software kernel for Atlas 350 computed, and the colour matrices that the public guide lists."""

from __future__ import annotations

import json
import pathlib

import aipp_cases
import aipp_oracle
import numpy as np
import pytest

import ascendlab as al
from ascendlab.aipp_params import CSC_PRESETS

GOLDEN = aipp_cases.golden_cases()
MATRICES = json.loads((pathlib.Path(__file__).parent / "data" / "csc_matrices.json").read_text())["matrices"]


@pytest.mark.parametrize("number", range(len(GOLDEN)))
@pytest.mark.rule("aipp-order")
@pytest.mark.rule("aipp-csc-dav-3510")
def test_dav_3510_is_bit_for_bit_the_open_kernel(number):
    """Profile dav_3510 gives what that kernel gave, in every bit of every element."""
    case, expected = GOLDEN[number]
    got = case.run()
    assert got.dtype == expected.dtype
    assert got.tobytes() == expected.tobytes()


def test_the_oracle_is_the_open_kernel_too():
    """The oracle that the other tests trust reproduces the stored results on its own."""
    for case, expected in GOLDEN:
        assert aipp_oracle.same_bits(case.expect(), expected)


def test_the_stored_cases_cover_the_parameters():
    """The stored cases are no easy choice: every format, type, mode and switch occurs, also switched on."""
    assert len(GOLDEN) == 62
    cases = [case for case, _ in GOLDEN]
    assert {c.input_format for c in cases} == set(al.AippInputFormat)
    assert {c.dtype for c in cases} == {"uint8", "int8", "half"}
    assert {c.config.padding_params.padding_mode for c in cases} == {0, 1, 2, 3}
    assert {c.config.c_padding_params.c_padding_mode for c in cases} == {0, 1}
    for switch in ("is_swap_rb", "is_swap_uv", "is_swap_ax"):
        assert {getattr(c.config.swap_params, switch) for c in cases} == {False, True}
    assert {c.config.csc_params.is_enable_csc for c in cases} == {False, True}
    assert {c.config.single_line_params.is_single_line_copy for c in cases} == {False, True}


def preset_of(entry):
    """Name the preset for a matrix of the guide."""
    if entry["standard"] is None:
        return entry["direction"]
    standard = {"JPEG": "jpeg", "BT-601WIDE": "jpeg"}.get(entry["standard"])
    standard = standard or entry["standard"].lower().replace("bt-601", "bt601_").replace("bt-709", "bt709_")
    return f"{entry['direction']}_{standard}"


@pytest.mark.parametrize("entry", MATRICES, ids=lambda e: f"{e['standard']}-{e['direction']}")
@pytest.mark.rule("aipp-presets")
def test_presets_are_the_public_guides_matrices(entry):
    """Each matrix and bias that the guide lists for a conversion is a preset, digit for digit."""
    matrix, bias = CSC_PRESETS[preset_of(entry)]
    assert matrix.tolist() == entry["matrix"]
    assert list(bias) == entry["bias"]


@pytest.mark.rule("aipp-presets")
def test_every_preset_comes_from_the_guide():
    """There is no preset that the guide does not list, other than for B, G, R input (the columns of R, G, B)."""
    listed = {preset_of(entry) for entry in MATRICES}
    others = set(CSC_PRESETS) - listed
    assert all(name.startswith("bgr_to_yuv_") for name in others)
    for name in others:
        matrix, bias = CSC_PRESETS[name]
        straight, straight_bias = CSC_PRESETS[name.replace("bgr", "rgb")]
        assert np.array_equal(matrix, straight[:, ::-1])
        assert bias == straight_bias


@pytest.mark.parametrize("name", CSC_PRESETS)
@pytest.mark.parametrize("profile", ["documented", "dav_3510"])
def test_a_preset_puts_the_bias_where_the_profile_reads_it(name, profile, recwarn):
    """A preset converts, in its profile, without the warning about an ignored bias."""
    csc = al.csc_preset(name, profile)
    to_rgb = name.startswith("yuv")
    picture = np.zeros((2, 2), np.uint8) if to_rgb else np.zeros((2, 2, 3), np.uint8)
    setup = al.set_aipp_functions(
        picture,
        np.zeros((1, 2), np.uint8) if to_rgb else None,
        input_format=al.AippInputFormat.YUV420SP_U8 if to_rgb else al.AippInputFormat.RGB888_U8,
        config=al.AippParams(csc_params=csc),
        dtype="uint8",
        product=al.Product.ATLAS_350,
        profile=profile,
    )
    assert setup.csc_bias == CSC_PRESETS[name][1]
    assert csc.is_enable_csc
    assert csc.bias_in == (0, 0, 0) or csc.bias_out == (0, 0, 0)
    assert not recwarn.list
