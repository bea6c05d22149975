"""What AIPP makes of the values: type conversion and colour conversion."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippParams,
    AippSetup,
    csc_preset,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.errors import DocumentationConflictWarning, ParameterError
from ascendlab.exercises._base import Case, Exercise, Misconception, odd_shapes, require_answer
from ascendlab.exercises.aipp_moves import grey, origin, whole
from ascendlab.products import Product

__all__ = ["bias_field", "normalisation", "to_half"]

Array = NDArray[Any]

# --- uint8 to half ---


def _half_setup(values: Array, mean: int, minimum: float, var: float) -> AippSetup:
    dtc = AippDataTypeConvParams(dtc_mean_ch0=mean, dtc_min_ch0=minimum, dtc_var_ch0=var)
    return grey(values, "half", dtc_params=dtc)


def _to_half(values: Array, mean: int, minimum: float, var: float) -> Array:
    return load_image_to_local(_half_setup(values, mean, minimum, var), whole(*values.shape))[:, :, 0]


def _half_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for sign, (height, width) in zip((-1, -1, 1, -1), odd_shapes(rng, 4, low=5), strict=True):
        values = rng.choice(256, (height, width), replace=False).astype(np.uint8)
        mean = int(rng.integers(100, 128))
        # Odd sixteenths, so that large differences (and, where the sign is positive, mean + minimum) get rounded.
        minimum = sign * (mean - 6 + (2 * int(rng.integers(40)) + 1) / 16)
        var = float(np.float16(1 / rng.uniform(200, 255)))
        here = origin(_half_setup(values, mean, minimum, var), whole(height, width), "values")
        cases.append(
            Case(
                {"values": values, "mean": mean, "minimum": minimum, "var": var},
                words=f"values of shape {values.shape}, mean {mean}, minimum {minimum}, var {var:.6f}",
                where=lambda y, x, here=here: here(y, x, 0),
            )
        )
    return cases


def _halves(
    formula: Callable[[Array, Any, Any, Any], Array], kind: type[np.floating[Any]] = np.float16
) -> Callable[[Array, int, float, float], Array]:
    """Make the function that evaluates `formula` in `kind`, each operation rounding to it."""

    def answer(values: Array, mean: int, minimum: float, var: float) -> Array:
        with np.errstate(all="ignore"):
            return formula(values.astype(kind), kind(mean), kind(minimum), kind(var)).astype(np.float16)

    return answer


to_half = Exercise(
    name="to_half",
    parameters="values, mean, minimum, var",
    task="Convert uint8 values to half as AIPP does on most products: `(v - mean - minimum) * var`, bit for bit. "
    "`v - mean` is exact; every operation after it rounds to half.",
    spec="out.dtype == np.float16 and out.shape == values.shape",
    cases=_half_cases,
    library=_to_half,
    dtype=np.float16,
    misconceptions=[
        Misconception(
            "You rounded once, at the end. The hardware rounds to half after the subtraction of minimum as well, and "
            "the last bit differs.",
            _halves(lambda v, mean, low, var: (v - mean - low) * var, np.float64),
        ),
        Misconception(
            "You never rounded to half: the values are those of a wider type.",
            lambda values, mean, minimum, var: (values.astype(np.float64) - mean - minimum) * var,
        ),
        Misconception(
            "uint8 arithmetic wrapped: v - mean below zero became a number near 255. Widen the values first.",
            lambda values, mean, minimum, var: (
                ((values - np.uint8(mean)).astype(np.float16) - np.float16(minimum)) * np.float16(var)
            ),
        ),
        Misconception(
            "You added mean and minimum up first. That sum is rounded too, in another place than the hardware's.",
            _halves(lambda v, mean, low, var: (v - (mean + low)) * var),
        ),
        Misconception(
            "You subtracted minimum before mean: the rounding falls on another difference.",
            _halves(lambda v, mean, low, var: (v - low - mean) * var),
        ),
        Misconception(
            "You scaled before subtracting: var multiplies what is left after mean and minimum are taken off.",
            _halves(lambda v, mean, low, var: v * var - mean - low),
        ),
        Misconception(
            "You multiplied out the parentheses: three products round where the hardware rounds one.",
            _halves(lambda v, mean, low, var: v * var - mean * var - low * var),
        ),
        Misconception(
            "You added minimum: it is subtracted.", _halves(lambda v, mean, low, var: (v - mean + low) * var)
        ),
        Misconception("You left minimum out.", _halves(lambda v, mean, low, var: (v - mean) * var)),
        Misconception("You left mean out.", _halves(lambda v, mean, low, var: (v - low) * var)),
        Misconception(
            "You divided by var: despite its name it is already the reciprocal of the range.",
            _halves(lambda v, mean, low, var: (v - mean - low) / var),
        ),
    ],
)

# --- choosing mean, min and var ---


def _normalised(answer: Any, low: int, high: int) -> Array:
    """Run the learner's three numbers through AIPP on values from `low` to `high`."""
    words = "three numbers: (dtcMean, dtcMin, dtcVar)"
    mean, minimum, var = require_answer(answer, 3, words)
    rng = np.random.default_rng(256 * low + high)
    values = rng.integers(low, high + 1, (5, 9)).astype(np.uint8)
    values[0, :2] = low, high
    dtc = AippDataTypeConvParams(dtc_mean_ch0=mean, dtc_min_ch0=minimum, dtc_var_ch0=var)
    return load_image_to_local(grey(values, "half", dtc_params=dtc), whole(5, 9))[:, :, 0].astype(np.float64)


def _range_cases(rng: np.random.Generator) -> list[Case]:
    low, high = int(rng.integers(20, 60)), int(rng.integers(150, 220))
    pairs = ((0, 255), (16, 235), (low, high), (low + 1, high + 30))
    return [Case({"low": a, "high": b}, words=f"values from {a} to {b}") for a, b in pairs]


def _close(found: Array, right: Array) -> NDArray[np.bool_]:
    # The spec lets the learner's ends lie 2**-9 off -1 and 1. The library's own lie 2**-11 off at most, and the values
    # between the ends are rounded as well: over all ranges that are drawn, answers which keep the spec come up to
    # 12 * 2**-12 away from the library's, and a middle that is off by a half at least 18.
    return np.asarray(np.abs(found - right) <= 14 * 2**-12)


normalisation = Exercise(
    name="normalisation",
    parameters="low, high",
    task="Choose `(dtc_mean, dtc_min, dtc_var)` so that AIPP's half output maps the values `low` to `high` onto "
    "-1 to 1. `dtc_mean` is an integer in [0, 255]. There is more than one right choice; the check runs yours through "
    "the library.",
    spec="half = np.float16  # AIPP rounds your numbers and each step to half\n"
    "abs((half(low - dtc_mean) - half(dtc_min)) * half(dtc_var) + 1) <= 2**-9\n"
    "abs((half(high - dtc_mean) - half(dtc_min)) * half(dtc_var) - 1) <= 2**-9",
    cases=_range_cases,
    library=lambda low, high: (0, (low + high) / 2, 2 / (high - low)),
    observe=_normalised,
    agrees=_close,
    misconceptions=[
        Misconception(
            "That maps onto 0 to 1, which is the document's own example. Here low must become -1.",
            lambda low, high: (low, 0, 1 / (high - low)),
        ),
        Misconception(
            "That maps onto -0.5 to 0.5: the range of the result is 2 wide.",
            lambda low, high: (0, (low + high) / 2, 1 / (high - low)),
        ),
        Misconception(
            "That maps onto 0 to 2: the factor is right, the offset is not.",
            lambda low, high: (low, 0, 2 / (high - low)),
        ),
        Misconception(
            "That is upside down: low becomes 1 and high becomes -1.",
            lambda low, high: (0, (low + high) / 2, -2 / (high - low)),
        ),
        Misconception(
            "dtc_var is a factor: you gave the range itself, so the result grows instead of shrinking.",
            lambda low, high: (0, (low + high) / 2, (high - low) / 2),
        ),
        Misconception(
            "dtc_min is subtracted, not added: its sign is wrong.",
            lambda low, high: (0, -(low + high) / 2, 2 / (high - low)),
        ),
        Misconception(
            "You took the middle off twice: dtc_mean and dtc_min are both subtracted.",
            lambda low, high: ((low + high) // 2, (low + high) / 2, 2 / (high - low)),
        ),
        Misconception(
            "Those numbers suit 0 to 255 whatever low and high are.", lambda low, high: (0, 127.5, 1 / 127.5)
        ),
        Misconception(
            "The middle is off by a half: dtc_mean is an integer, but dtc_min can carry the rest.",
            lambda low, high: ((low + high) // 2, 0, 2 / (high - low)),
        ),
    ],
)

# --- which bias ---

_FIELDS = ("cscBiasIn", "cscBiasOut")


def _standard(direction: str, profile: str) -> AippColorSpaceConvParams:
    return csc_preset(f"{'yuv_to_rgb' if direction == 'YUV -> RGB' else 'rgb_to_yuv'}_bt601_narrow", profile)


def _converted(answer: Any, direction: str, profile: str) -> Array:
    """Convert a picture with the standard's bias in the field that the learner names."""
    if not isinstance(answer, str) or answer not in _FIELDS:
        raise ParameterError("the answer", answer, " or ".join(map(repr, _FIELDS)))
    right = _standard(direction, profile)
    bias = right.bias_in if any(right.bias_in) else right.bias_out
    bias_in, bias_out = (bias if answer == name else (0, 0, 0) for name in _FIELDS)
    csc = AippColorSpaceConvParams.from_matrix(right.csc_matrix, bias_in=bias_in, bias_out=bias_out)
    rng = np.random.default_rng(len(direction + profile))
    sources = [rng.integers(16, 236, (6, 10)).astype(np.uint8), rng.integers(16, 240, (3, 10)).astype(np.uint8)]
    if direction == "RGB -> YUV":
        sources = [rng.integers(0, 256, (5, 9, 3)).astype(np.uint8)]
    height, width = sources[0].shape[:2]
    with warnings.catch_warnings():
        # The check itself says what the warning would.
        warnings.simplefilter("ignore", DocumentationConflictWarning)
        setup = set_aipp_functions(
            *sources,
            input_format=AippInputFormat.YUV420SP_U8 if len(sources) == 2 else AippInputFormat.RGB888_U8,
            config=AippParams(csc_params=csc, c_padding_params=AippChannelPaddingParams(c_padding_mode=0)),
            dtype="uint8",
            product=Product.ATLAS_350,
            profile=profile,
        )
    return load_image_to_local(setup, whole(height, width))[:, :, :3]


def _bias_cases(_: np.random.Generator) -> list[Case]:
    return [
        Case({"direction": direction, "profile": profile}, words=f"{direction} in profile '{profile}'")
        for direction in ("YUV -> RGB", "RGB -> YUV")
        for profile in ("documented", "dav_3510")
    ]


def _always(name: str) -> Callable[[str, str], str]:
    return lambda direction, profile: name


def _by_direction(to_rgb: str, to_yuv: str) -> Callable[[str, str], str]:
    return lambda direction, profile: to_rgb if direction == "YUV -> RGB" else to_yuv


def _field_used(direction: str, profile: str) -> str:
    return _FIELDS[any(_standard(direction, profile).bias_out)]


bias_field = Exercise(
    name="bias_field",
    parameters="direction, profile",
    task='`direction` is `"YUV -> RGB"` or `"RGB -> YUV"`, `profile` is `"documented"` or `"dav_3510"`. Name the '
    'field that must hold the bias (16, 128, 128): `"cscBiasIn"` or `"cscBiasOut"`.',
    spec='out in ("cscBiasIn", "cscBiasOut")',
    cases=_bias_cases,
    library=_field_used,
    observe=_converted,
    misconceptions=[
        Misconception("You always name cscBiasIn; each direction has its own field.", _always("cscBiasIn")),
        Misconception("You always name cscBiasOut; each direction has its own field.", _always("cscBiasOut")),
        Misconception(
            "You follow the document in both profiles. The open kernel has the two biases the other way round.",
            _by_direction("cscBiasOut", "cscBiasIn"),
        ),
        Misconception(
            "You follow the ACL reference and the open kernel in both profiles. The document's table 8 has the two "
            "biases the other way round.",
            _by_direction("cscBiasIn", "cscBiasOut"),
        ),
        Misconception(
            "In each profile you name one field for both directions; a direction never reads the other one's field.",
            lambda direction, profile: _field_used("YUV -> RGB", profile),
        ),
        Misconception(
            "Every answer is the wrong one of the two: you exchanged the profiles.",
            lambda direction, profile: _FIELDS[_field_used(direction, profile) == "cscBiasIn"],
        ),
    ],
)
