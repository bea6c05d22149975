"""Guesses at a wrong arithmetic: another rounding, wrapping instead of saturating, the other bias.

The golden data hold results that are rounded already, so these guesses compute anew, from the call's operands.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab import aipp, vector
from ascendlab.aipp_convert import convert_values
from ascendlab.capi.conv2d_example import Conv2dShape, conv2d_forward_capi
from ascendlab.capi.cube import multiply
from ascendlab.capi.launch import Launch
from ascendlab.compare_calls import run_apart
from ascendlab.compare_cases import Case, Guess, made_of
from ascendlab.conv import conv2d
from ascendlab.errors import AscendlabError
from ascendlab.products import Product
from ascendlab.provenance import Call

__all__ = ["Arithmetic", "arithmetic_guesses", "picture_arithmetic", "round_to"]

_ROUNDINGS = {
    "cut": "cut off towards zero",
    "down": "rounded down",
    "away": "rounded to nearest, halves away from zero",
    "up": "rounded to nearest, halves up",
}
_DEEPEST = 2048


def round_to(values: NDArray[np.float64], dtype: np.dtype[Any], rounding: str) -> NDArray[Any]:
    """Round float64 to half or float32.

    Parameters
    ----------
    values : ndarray of float64
        What to round.
    dtype : numpy.dtype
        float16 or float32.
    rounding : {"even", "cut", "down", "away", "up"}
        To the nearest, halves to even; towards zero; down; to the nearest with halves away from zero, or up.

    Examples
    --------
    >>> exact = np.array([2049.0, 2051.0, -2049.0])
    >>> [round_to(exact, np.dtype(np.float16), how).tolist() for how in ("even", "cut", "down", "away", "up")]
    [[2048.0, 2052.0, -2048.0], [2048.0, 2050.0, -2048.0], [2048.0, 2050.0, -2050.0], [2050.0, 2052.0, -2050.0],
     [2050.0, 2052.0, -2048.0]]
    """
    with np.errstate(all="ignore"):
        nearest: NDArray[Any] = values.astype(dtype)
        wide = nearest.astype(np.float64)
        zero, low, high = (dtype.type(x) for x in (0, -np.inf, np.inf))
        if rounding == "cut":
            return np.where(np.abs(wide) > np.abs(values), np.nextafter(nearest, zero), nearest)
        if rounding == "down":
            return np.where(wide > values, np.nextafter(nearest, low), nearest)
        if rounding in ("away", "up"):
            target = np.where(values < 0, low, high) if rounding == "away" else np.full(values.shape, high)
            other = np.nextafter(nearest, target.astype(dtype))
            tie = (np.abs(values - wide) == np.abs(other.astype(np.float64) - values)) & (wide != values)
            return np.where(tie, other, nearest)
        return nearest


def arithmetic_guesses(case: Case) -> Iterator[Guess]:
    """Compute the result of a call anew, with one rule of its arithmetic changed."""
    call = case.call
    if isinstance(call, Launch):
        yield from _launch_guesses(case, call)
    elif isinstance(call, Call):
        table: dict[Any, Callable[[Case, Call], Iterator[Guess]]] = {
            aipp.load_image_to_local: _picture_guesses,
            vector.bilinear_interpolation: _bilinear_guesses,
            conv2d: _conv2d_guesses,
        }
        guesses = table.get(call.function)
        if guesses is not None:
            yield from guesses(case, call)


def _made(case: Case, cause: str, words: str, make: Callable[[], NDArray[Any]]) -> Guess:
    def run() -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = make()
            except AscendlabError:
                return np.empty(0, case.golden.dtype)
        return made if made.dtype == case.golden.dtype else np.empty(0, case.golden.dtype)

    return Guess(cause, words, made_of(run))


# Pictures


@dataclass(frozen=True)
class Arithmetic:
    """The rules that AIPP's arithmetic follows.

    Parameters
    ----------
    matrix : tuple of int
        The colour matrix in 1/256, row by row.
    bias : tuple of int
        Taken off YUV, or added to it.
    quotient : {"floor", "nearest", "toward zero", "nearest, toward zero"}
        How a sum is divided by 256; the last one adds 128 and cuts, as C's division does.
    pixel, result : {"saturate", "wrap"}
        What becomes of a colour outside [0, 255], and of an int8 outside [-128, 127].
    rounding : {"each", "even", "away", "cut", "down", "up"}
        Half: after every operation to nearest even, or once at the end.
    by_source : bool
        Whether mean, min and var go with the source's channels, before swaps.
    """

    matrix: tuple[int, ...]
    bias: tuple[int, int, int]
    quotient: str = "floor"
    pixel: str = "saturate"
    result: str = "saturate"
    rounding: str = "each"
    by_source: bool = False

    @classmethod
    def of(cls, setup: aipp.AippSetup) -> Arithmetic:
        """Return the rules of a setup's profile and product."""
        csc, kernel = setup.config.csc_params, setup.profile != "documented"
        away = {0: "away", 1: "even"}[setup.config.dtc_params.dtc_round_mode]
        return cls(
            matrix=tuple(int(x) for x in csc.csc_matrix.reshape(-1)),
            bias=setup.csc_bias,
            quotient="nearest, toward zero" if kernel else "floor",
            pixel="wrap" if kernel else "saturate",
            result="wrap" if kernel else "saturate",
            rounding=away if setup.product is Product.ATLAS_200I_500_A2 else "each",
            by_source=kernel and not csc.is_enable_csc,
        )


def picture_arithmetic(call: Call, rules: Arithmetic | None = None) -> NDArray[Any]:
    """Compute the result of `load_image_to_local` by these rules (those of its setup if None), without tables.

    Examples
    --------
    >>> from ascendlab.aipp import AippDataTypeConvParams, AippInputFormat, AippParams, LoadImageToLocalParams
    >>> config = AippParams(dtc_params=AippDataTypeConvParams(dtc_mean_ch0=200))
    >>> setup = aipp.set_aipp_functions(np.full((2, 2), 5, np.uint8), input_format=AippInputFormat.YUV400_U8,
    ...                                 config=config, dtype="int8")
    >>> params = LoadImageToLocalParams(horiz_size=2, vert_size=2, src_horiz_size=2)
    >>> call = Call(aipp.load_image_to_local, {"setup": setup, "params": params})
    >>> rules = Arithmetic.of(setup)
    >>> wrapping = dataclasses.replace(rules, result="wrap")
    >>> [int(picture_arithmetic(call, rule)[0, 0, 0]) for rule in (rules, wrapping)]
    [-128, 61]
    """
    bound = call.bound()
    setup, params = bound["setup"], bound["params"]
    rules = Arithmetic.of(setup) if rules is None else rules
    config, conversion, kind = setup.config, setup.conversion, setup.dtype
    plain = aipp.AippParams(
        padding_params=dataclasses.replace(config.padding_params, **{f"padding_value_ch{i}": 0 for i in range(4)}),
        swap_params=config.swap_params,
        single_line_params=config.single_line_params,
        c_padding_params=aipp.AippChannelPaddingParams(c_padding_mode=1),
    )
    raw_setup = aipp.set_aipp_functions(
        setup.src0, setup.src1, input_format=setup.input_format, config=plain, dtype="uint8"
    )
    constant = config.padding_params.padding_mode == 0
    if constant:
        params = dataclasses.replace(params, top_pad_size=0, bot_pad_size=0)
    result = run_apart(call)
    samples = len(conversion.samples)
    raw = aipp.load_image_to_local(raw_setup, params)[:, :, :samples].astype(np.int64)
    inside = slice(params.left_pad_size, params.left_pad_size + params.horiz_size) if constant else slice(None)
    raw = raw[:, inside]
    to_rgb = setup.input_format in (aipp.AippInputFormat.YUV420SP_U8, aipp.AippInputFormat.YUV400_U8)
    pixels = _colours(raw, rules, to_rgb=to_rgb) if config.csc_params.is_enable_csc else raw
    count = pixels.shape[2]
    parameters = [min(conversion.samples[i].parameter, 2) if rules.by_source else i for i in range(count)]
    if rules.rounding in ("each", "even", "away"):
        half_away = {"each": None, "even": False, "away": True}[rules.rounding]
        table = convert_values(config.dtc_params, parameters, kind, half_away=half_away, wraps=rules.result == "wrap")
    else:
        mean, low, factor = (
            np.array([[getattr(config.dtc_params, f"dtc_{name}_ch{i}")] for i in parameters], np.float64)
            for name in ("mean", "min", "var")
        )
        table = round_to((np.arange(256) - mean - low) * factor, kind.numpy, rules.rounding)
    result[:, inside, :count] = table[np.arange(count), pixels]
    return result


def _colours(raw: NDArray[np.int64], rules: Arithmetic, *, to_rgb: bool) -> NDArray[np.int64]:
    """Convert colours: a sum in 1/256, divided, limited."""
    matrix, bias = np.array(rules.matrix, np.int64).reshape(3, 3), np.array(rules.bias, np.int64)
    full = np.zeros((*raw.shape[:2], 3), np.int64)
    full[:, :, : raw.shape[2]] = raw
    total = (full - bias if to_rgb else full) @ matrix.T
    if "nearest" in rules.quotient:
        total = total + 128
    quotient = total >> 8 if "toward zero" not in rules.quotient else np.sign(total) * (np.abs(total) >> 8)
    pixel: NDArray[np.int64] = quotient if to_rgb else quotient + bias
    return pixel & 255 if rules.pixel == "wrap" else pixel.clip(0, 255)


def _picture_guesses(case: Case, call: Call) -> Iterator[Guess]:
    setup = call.bound()["setup"]
    rules, csc = Arithmetic.of(setup), setup.config.csc_params

    def guess(cause: str, words: str, **new: Any) -> Guess:
        return _made(case, cause, words, lambda: picture_arithmetic(call, dataclasses.replace(rules, **new)))

    both = {"saturate": "wrap", "wrap": "saturate"}
    cause = {"saturate": "wrap instead of saturate", "wrap": "saturate instead of wrap"}
    if csc.is_enable_csc:
        other = csc.bias_in if setup.csc_bias == csc.bias_out else csc.bias_out
        for bias, words in (
            (other, f"the bias is {other}, the other direction's, instead of {rules.bias}"),
            ((0, 0, 0), f"no bias instead of {rules.bias}"),
            (tuple(-b for b in rules.bias), f"the bias {rules.bias} counts with the other sign"),
        ):
            yield guess("bias convention", words, bias=bias)
        yield guess(cause[rules.pixel], f"colours outside [0, 255] {both[rules.pixel]}", pixel=both[rules.pixel])
        for quotient in ("floor", "nearest", "toward zero", "nearest, toward zero"):
            yield guess("wrong rounding", f"colours are divided by 256 with {quotient}, not {rules.quotient}",
                        quotient=quotient)  # fmt: skip
        rows = [rules.matrix[i : i + 3] for i in (0, 3, 6)]
        yield guess("colour matrix", "the matrix is transposed", matrix=tuple(int(x) for x in np.transpose(rows).flat))
        yield guess("colour matrix", "the rows of the matrix are in reverse", matrix=(*rows[2], *rows[1], *rows[0]))
    if setup.dtype.name == "int8":
        words = f"results outside [-128, 127] {both[rules.result]}"
        yield guess(cause[rules.result], words, result=both[rules.result])
        if csc.is_enable_csc:
            words = f"colours and results outside of their ranges {both[rules.result]}"
            yield guess(cause[rules.result], words, result=both[rules.result], pixel=both[rules.pixel])
    if setup.dtype.name == "half":
        for rounding in ("each", "even", "away", "cut", "down", "up"):
            if rounding != rules.rounding:
                how = {"each": "rounded after every operation", "even": "rounded once, halves to even"}
                words = how.get(rounding) or f"{_ROUNDINGS[rounding]}, once"
                yield guess("wrong rounding", f"(v - mean - min) * var is {words}", rounding=rounding)
    if not csc.is_enable_csc:
        words = "mean, min and var go with the channels " + ("after" if rules.by_source else "before") + " the swap"
        yield guess("channel order", words, by_source=not rules.by_source)


# Sums


def _bilinear_guesses(case: Case, call: Call) -> Iterator[Guess]:
    bound = call.bound()
    names = set(inspect.signature(vector.bilinear_interpolation_plan).parameters)

    def summed(rounding: str, *, once: bool) -> NDArray[Any]:
        plan = vector.bilinear_interpolation_plan(**{name: bound[name] for name in names})
        blocks = bound["src0"][: bound["src0"].size // 16 * 16].reshape(-1, 16).astype(np.float64)
        weights = bound["src1"][: plan.weights].astype(np.float64)[plan.weight_index]
        half = np.dtype(np.float16)
        total = np.zeros((plan.source_blocks.shape[0], 8, 16))
        with np.errstate(all="ignore"):
            for h in range(plan.source_blocks.shape[1]):  # the order of the additions
                product = blocks[plan.source_blocks[:, h]] * weights[:, h, :, None]
                if not once:
                    product = round_to(product, half, rounding).astype(np.float64)
                total = total + product
                if not once:
                    total = round_to(total, half, rounding).astype(np.float64)
            made = round_to(total, half, rounding)
        result = run_apart(call)
        np.copyto(plan.dst.view(result), made, where=plan.lanes)
        return result

    words = "products and sums are kept in float and rounded once, at the end"
    yield _made(case, "wrong rounding", words, lambda: summed("even", once=True))
    for rounding, how in _ROUNDINGS.items():
        yield _made(case, "wrong rounding", f"every product and sum is {how}",
                    partial(summed, rounding, once=False))  # fmt: skip
        yield _made(case, "wrong rounding", f"the sum is {how}, once",
                    partial(summed, rounding, once=True))  # fmt: skip


def _conv2d_guesses(case: Case, call: Call) -> Iterator[Guess]:
    bound = call.bound()
    fmap, weight = bound["fmap"], bound["weight"]
    if fmap.dtype not in (np.float16, np.float32) or len(weight) > _DEEPEST:
        return
    yield from _sum_guesses(case, lambda: _im2col(bound), weight, "float64")


def _im2col(bound: dict[str, Any]) -> NDArray[Any]:
    """Return the matrix of windows: a convolution with filters that pick one element each."""
    weight = bound["weight"]
    windows = conv2d(**{**bound, "weight": np.eye(len(weight), dtype=weight.dtype)})
    return windows.reshape(-1, len(weight))


def _sum_guesses(
    case: Case, windows: Callable[[], NDArray[Any]], weight: NDArray[Any], golden_order: str
) -> Iterator[Guess]:
    kept: dict[str, NDArray[Any]] = {}

    def total(order: str) -> NDArray[np.float64]:
        if order not in kept:
            left = windows()
            with np.errstate(all="ignore"):
                if order == "float":
                    kept[order] = multiply(np.ascontiguousarray(left.T), weight, None).astype(np.float64)
                else:
                    kept[order] = left.astype(np.float64) @ weight.astype(np.float64)
        return kept[order]

    def rounded(order: str, rounding: str) -> NDArray[Any]:
        return round_to(total(order), case.golden.dtype, rounding)

    other = "float" if golden_order == "float64" else "float64"
    precise = {"float": "float, in the order of K", "float64": "float64"}
    words = f"the sums are made in {precise[other]}, not in {precise[golden_order]}"
    yield _made(case, "order of the sums", words, lambda: rounded(other, "even"))
    for order in (golden_order, other):
        for rounding, how in _ROUNDINGS.items():
            text = f"the sums are {how}" + ("" if order == golden_order else f", and made in {precise[order]}")
            yield _made(case, "wrong rounding", text,
                        partial(rounded, order, rounding))  # fmt: skip


def _launch_guesses(case: Case, launched: Launch) -> Iterator[Guess]:
    """Compute the result of the document's kernel anew, from the arrays that it was given."""
    arguments = getattr(launched, "arguments", {})
    if getattr(launched, "kernel", None) is not conv2d_forward_capi:
        return
    shape = next((value for value in arguments.values() if isinstance(value, Conv2dShape)), Conv2dShape())
    fmap, weight = arguments["fmap"], arguments["weight"]
    if not (isinstance(fmap, np.ndarray) and isinstance(weight, np.ndarray)) or math.prod(case.shape) != (
        shape.BATCH * shape.OUTPUT_BATCH_SIZE
    ):
        return
    identity = np.eye(shape.K, dtype=weight.dtype)

    def windows() -> NDArray[Any]:
        chosen = [_filters(shape, fmap, identity[:, first : first + 16]) for first in range(0, shape.K, 16)]
        return np.concatenate(chosen, axis=-1).reshape(-1, shape.K)

    yield from _sum_guesses(case, windows, weight.reshape(shape.K, shape.COUT), "float")


def _filters(shape: Conv2dShape, fmap: NDArray[Any], filters: NDArray[Any]) -> NDArray[Any]:
    return shape.golden(fmap, np.ascontiguousarray(filters))
