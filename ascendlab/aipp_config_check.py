"""What real AIPP config files get wrong: each mistake with the lines, the reason and the fix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ascendlab.aipp_config_fields import CONFIG_FIELDS
from ascendlab.aipp_config_op import DEFAULT_MATRICES, MATRIX_FIELDS, AippOp, presets_of
from ascendlab.aipp_params import CSC_PRESETS
from ascendlab.errors import ConfigProblem, ParameterError

__all__ = ["AnnotatedLine", "Finding", "annotate", "check_config", "without_equivalent"]


@dataclass(frozen=True)
class Finding:
    """One thing that looks wrong.

    Parameters
    ----------
    code : str
        Its kind, for instance ``var-looks-like-std``.
    lines : tuple of int
        The lines that it is about, counted from 1.
    why : str
        What these lines do, and why that is hardly meant.
    fix : str
        What to write instead.
    """

    code: str
    lines: tuple[int, ...]
    why: str
    fix: str

    def __str__(self) -> str:
        where = ", ".join(map(str, self.lines))
        return f"line{'s' if len(self.lines) > 1 else ''} {where}: [{self.code}] {self.why}. {self.fix}"


class AnnotatedLine(NamedTuple):
    """One line of a file with what is said about it.

    Parameters
    ----------
    number : int
        From 1.
    text : str
        The line.
    marked : bool
        Whether something is said about it.
    notes : tuple of str
        What is said here: about this line first of all, perhaps about later ones, too.
    """

    number: int
    text: str
    marked: bool
    notes: tuple[str, ...]


def annotate(text: str, remarks: Sequence[Finding | ConfigProblem]) -> list[AnnotatedLine]:
    r"""Put findings, or the problems of an `AippConfigError`, beside the lines that they are about.

    >>> lines = annotate("a\nb\nc", [Finding("code", (2, 3), "why", "Fix")])
    >>> [(line.number, line.marked, line.notes) for line in lines][1:]
    [(2, True, ('lines 2, 3: [code] why. Fix',)), (3, True, ())]
    """
    if not isinstance(text, str):
        raise ParameterError("text", text, "the text of a config file")
    known = isinstance(remarks, (list, tuple)) and all(isinstance(r, (Finding, ConfigProblem)) for r in remarks)
    if not known:
        raise ParameterError("remarks", remarks, "a list of Finding or ConfigProblem")
    notes: dict[int, list[str]] = {}
    marked: set[int] = set()
    for remark in remarks:
        lines = remark.lines if isinstance(remark, Finding) else (remark.line,)
        marked.update(lines)
        notes.setdefault(lines[0], []).append(str(remark))
    return [
        AnnotatedLine(number, line.rstrip("\r"), number in marked, tuple(notes.get(number, ())))
        for number, line in enumerate(text.split("\n"), 1)
    ]


# Mean and std of the training sets that people normalise by, R, G, B, on the scale of 0 to 1.
_KNOWN = {
    "ImageNet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "CLIP": ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
    "CIFAR-10": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
    "CIFAR-10 (over all pixels)": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "VGG (Caffe)": ((123.68 / 255, 116.779 / 255, 103.939 / 255), ()),
}
_MEANS = [
    (name, order, tuple(255 * value for value in mean[::step]))
    for name, (mean, _) in _KNOWN.items()
    for order, step in (("RGB", 1), ("BGR", -1))
]
_STDS = [
    (name, order, std[::step]) for name, (_, std) in _KNOWN.items() for order, step in (("RGB", 1), ("BGR", -1)) if std
]


def check_config(blocks: Sequence[AippOp]) -> list[Finding]:
    """Return what looks wrong in the blocks of a file, by line (see `AippConfig.check`)."""
    found = list(_check_ranks(blocks))
    for op in blocks:
        checks = _STATIC if op.aipp_mode == "static" else _ANY
        found += [finding for check in checks for finding in check(op)]
    return sorted(found, key=lambda finding: finding.lines)


def without_equivalent(op: AippOp) -> Iterator[Finding]:
    """Yield what a block asks for and Ascend C's parameters cannot say."""
    _, _, top, bottom = op.padding_sizes
    if top or bottom:
        yield _finding(
            op, "no-ascend-c-equivalent", ("top_padding_size", "bottom_padding_size"),
            f"Border rows ({top} at the top, {bottom} at the bottom) have no equivalent in Ascend C, whose constant "
            "padding (paddingMode 0) has left and right only",
            "A kernel fills these rows itself; the converter's AIPP does it",
        )  # fmt: skip
    if op.resize:
        yield _finding(
            op, "no-ascend-c-equivalent", ("resize", "resize_output_w", "resize_output_h"),
            "resize is reserved: AIPP does not resize, nor does Ascend C",
            "Resize before (DVPP, or on the host), and take the switch out",
        )  # fmt: skip


def _finding(op: AippOp, code: str, names: Iterable[str], why: str, fix: str) -> Finding:
    """Make a finding about the named fields, or about the block where the file gives none of them."""
    lines = sorted({op.lines[name] for name in names if name in op.lines})
    return Finding(code, tuple(lines) or (op.line,), why, fix)


def _names(prefix: str, count: int = 3) -> tuple[str, ...]:
    return tuple(f"{prefix}_{i}" for i in range(count))


def _show(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)


def _check_ranks(blocks: Sequence[AippOp]) -> Iterator[Finding]:
    seen: dict[object, AippOp] = {}
    for op in blocks:
        key = op.related_input_name or op.related_input_rank
        if key in seen:
            first = seen[key]
            lines = first.lines.get("related_input_rank", first.line), op.lines.get("related_input_rank", op.line)
            why = f"Two blocks are for the same input of the model, {key}"
            yield Finding("same-input-twice", lines, why, "Give each block a related_input_rank of its own, from 0")
        seen.setdefault(key, op)


def _check_mode(op: AippOp) -> Iterator[Finding]:
    if op.aipp_mode == "undefined":
        why = "aipp_mode is required, and the block has none"
        yield _finding(op, "mode-missing", ("aipp_mode",), why, "Write aipp_mode: static (or dynamic)")
    if op.aipp_mode == "dynamic" and not op.max_src_image_size:
        why = "A dynamic block has to say how large a picture can become, in bytes"
        yield _finding(
            op, "max-size-missing", ("max_src_image_size",), why, "Write max_src_image_size: n*w*h*3 for RGB888"
        )
    if op.aipp_mode == "static" and op.format is None:
        why = "A static block has to say how the picture lies in memory"
        yield _finding(op, "format-missing", ("input_format",), why, "Write input_format: RGB888_U8 or another one")


def _check_ranges(op: AippOp) -> Iterator[Finding]:
    for name, value in op.values.items():
        field = CONFIG_FIELDS[name]
        if field.low is None or field.high is None:
            continue
        lowest = {"src_image_size_w": 2, "src_image_size_h": 1}.get(name, field.low)
        if not (lowest <= value <= field.high) and not (value == 0 and name.startswith("src_image_size")):
            allowed = f"[{lowest:g}, {field.high:g}]" + (" or 0" if name.startswith("src_image_size") else "")
            why = f"{name} = {value:g} lies outside {allowed}"
            yield _finding(op, "out-of-range", (name,), why, "Write a value in that range")


def _check_switches(op: AippOp) -> Iterator[Finding]:
    source = {"w": op.src_image_size_w, "h": op.src_image_size_h}
    if not op.crop:
        starts = [f"load_start_pos_{axis}" for axis in "wh" if op.values.get(f"load_start_pos_{axis}")]
        sizes = [f"crop_size_{axis}" for axis in "wh" if op.values.get(f"crop_size_{axis}", 0) not in (0, source[axis])]
        if starts or sizes:
            yield _finding(
                op, "crop-switched-off", (*starts, *sizes, "crop"),
                f"{' and '.join(starts + sizes)} have no effect: crop is false, so the whole picture is taken",
                "Write crop: true, or take them out",
            )  # fmt: skip
    sides = [name for name in op.values if name.endswith("_padding_size") and op.values[name]]
    if sides and not op.padding:
        yield _finding(
            op, "padding-switched-off", (*sides, "padding"),
            f"{' and '.join(sides)} have no effect: padding is false", "Write padding: true, or take them out",
        )  # fmt: skip
    rgb = op.input_format in ("RGB888_U8", "XRGB8888_U8")
    if op.format is not None:
        for name, fits, only in (
            ("rbuv_swap_switch", rgb or op.input_format == "YUV420SP_U8", "the formats with colours"),
            ("ax_swap_switch", op.input_format == "XRGB8888_U8", "XRGB8888_U8"),
        ):
            if getattr(op, name) and not fits:
                why = f"{op.input_format} has nothing for {name} to swap: it is for {only}"
                yield _finding(op, "swap-without-channels", (name, "input_format"), why, f"Write {name}: false")


def _check_window(op: AippOp) -> Iterator[Finding]:
    for axis, side in (("w", "wide"), ("h", "high")):
        start, size, source = (f"{name}_{axis}" for name in ("load_start_pos", "crop_size", "src_image_size"))
        begin, length, whole = (getattr(op, name) for name in (start, size, source))
        if op.crop and whole and (begin + length > whole or begin >= whole):
            yield _finding(
                op, "window-outside", (start, size, source),
                f"The window from {begin} to {begin + length} ({start}, {size}) leaves the source, {whole} {side}",
                f"Write {size}: {max(whole - begin, 0)} at most" if begin < whole else f"Write {start}: a smaller one",
            )  # fmt: skip
        if op.input_format == "YUV420SP_U8":
            odd = [name for name in (source, start) if getattr(op, name) % 2 and (name != start or op.crop)]
            for name in odd:
                why = f"{name} = {getattr(op, name)} is odd: in YUV420SP two rows and two columns share one U, V pair"
                yield _finding(op, "odd-for-yuv420sp", (name,), why, "Write an even number")
    missing = [name for name in ("crop_size_w", "crop_size_h") if op.crop and not getattr(op, name)]
    if missing:
        yield _finding(
            op, "crop-without-size", ("crop",),
            f"crop is on without {' and '.join(missing)}: the converter then takes the size of the model's input"
            + (", which it refuses together with padding" if op.padding else ", which the file does not show"),
            f"Write {' and '.join(missing)}",
        )  # fmt: skip


def _check_colours(op: AippOp) -> Iterator[Finding]:
    if not op.csc_switch:
        return
    if op.input_format == "YUV400_U8":
        why = "YUV400 has no colours to convert: U and V would be taken for 0"
        yield _finding(op, "yuv400-csc", ("csc_switch", "input_format"), why, "Write csc_switch: false")
        return
    default = DEFAULT_MATRICES[op.from_yuv]
    missing = [name for name in MATRIX_FIELDS if name not in op.values]
    if len(missing) == 9:
        yield _finding(
            op, "csc-default-matrix", ("csc_switch",),
            f"csc_switch is on without a matrix: {_words(default)} is in force, output in the order {_order(default)}",
            "Write the matrix out, so that everyone sees which standard and order the model was trained for",
        )  # fmt: skip
    elif missing:
        taken = ", ".join(f"{name} = {op.matrix.flat[MATRIX_FIELDS.index(name)]}" for name in missing)
        given = [name for name in MATRIX_FIELDS if name in op.values]
        yield _finding(
            op, "csc-partial-matrix", ("csc_switch", *given),
            f"The matrix lacks {len(missing)} of 9 elements, which come from another one, {_words(default)} in the "
            f"order {_order(default)}: {taken}",
            "Write all nine, zeros too",
        )  # fmt: skip
    yield from _check_standard(op, complete=not missing)


def _check_standard(op: AippOp, *, complete: bool) -> Iterator[Finding]:
    """Compare matrix and bias with the standards."""
    flat = tuple(op.matrix.flatten().tolist())
    biases = _names(op.bias_name)
    if op.standard:
        bias = CSC_PRESETS[op.standard][1]
        if any(bias) and op.bias != bias:
            missing = [name for name in biases if name not in op.values]
            note = f" ({', '.join(missing)} not given, so the default)" if missing else ""
            yield _finding(
                op, "bias-of-another-standard", biases if len(missing) < 3 else MATRIX_FIELDS,
                f"The matrix is {_words(op.standard)}, which goes with {op.bias_name} {_show(bias)}; in force is "
                f"{_show(op.bias)}{note}: dark and bright come out wrong",
                f"Write {op.bias_name}_0 to _2: {_show(bias)}",
            )  # fmt: skip
        return
    backwards = next((n for n, elements in presets_of(not op.from_yuv).items() if elements == flat), "")
    if backwards and not backwards.endswith("gray"):
        direction = "YUV to RGB" if op.from_yuv else "RGB to YUV"
        yield _finding(
            op, "matrix-of-other-direction", MATRIX_FIELDS,
            f"The matrix is {_words(backwards)}, but {op.input_format} is converted from {direction}",
            "Take a matrix for this direction, or switch CSC off",
        )  # fmt: skip
    elif complete:
        for name, elements in presets_of(op.from_yuv).items():
            off = [i for i in range(9) if elements[i] != flat[i]]
            if len(off) == 1 and not name.endswith("gray"):
                field, right = MATRIX_FIELDS[off[0]], elements[off[0]]
                yield _finding(
                    op, "matrix-one-element-off", (field,),
                    f"The matrix would be {_words(name)} but for {field}, which is {flat[off[0]]} instead of {right}",
                    f"Write {field}: {right}",
                )  # fmt: skip
                return


def _words(preset: str) -> str:
    """Name a preset as people do."""
    words = preset.replace("_to_", " -> ", 1).replace("_", " ", 1)
    start, arrow, rest = words.partition(" -> ")
    end, _, standard = rest.partition(" ")
    standard = standard.replace("_", " ").replace("bt", "BT.").replace("jpeg", "JPEG (BT.601 wide)")
    return f"{start.upper()}{arrow}{end.upper()} {standard}".rstrip()


def _order(preset: str) -> str:
    return ", ".join(preset.split("_")[2].upper())


def _same(values: Sequence[float], known: Sequence[float], tolerance: float) -> bool:
    return len(values) == len(known) and all(abs(a - b) <= tolerance for a, b in zip(values, known, strict=True))


def _mean_set(values: Sequence[float]) -> tuple[str, str]:
    """Recognise a mean triple on the scale of 255: the set's name, and the order."""
    if len(values) == 3 and values[0] != values[2]:  # who has the same on both sides has no order
        for name, order, triple in _MEANS:
            if _same(values, triple, 1.0):
                return name, order
    return "", ""


def _std_set(stds: Sequence[float]) -> tuple[str, str]:
    """Recognise a std triple on the scale of 1: the set's name, and the order."""
    if len(stds) == 3 and stds[0] != stds[2]:
        for name, order, triple in _STDS:
            if all(abs(own / known - 1) <= 0.004 for own, known in zip(stds, triple, strict=True)):
                return name, order
    return "", ""


def _check_scale(op: AippOp) -> Iterator[Finding]:
    less, factors = op.subtracted, op.factors
    if not all(map(math.isfinite, (*less, *factors))):
        return
    count = op.real_channels
    names = _names("mean_chn", count) + _names("min_chn", count), _names("var_reci_chn", count)
    unit_min = 0.05 <= max(less) < 1 and min(less) >= 0
    looks_std = all(0.05 < factor < 0.6 for factor in factors)
    stds = [1 / factor if factor else 0.0 for factor in factors]
    if (looks_std and unit_min) or _std_set(factors)[0]:
        code, stds = "var-looks-like-std", list(factors)
        why = f"var_reci {_show(factors)} looks like a standard deviation on the scale of 0 to 1, not its reciprocal"
    elif _std_set([factor / 255 for factor in factors])[0] or all(20 <= factor <= 128 for factor in factors):
        code, stds = "var-looks-like-std", [factor / 255 for factor in factors]
        why = f"var_reci {_show(factors)} looks like a standard deviation, not its reciprocal"
    elif unit_min or _std_set(stds)[0]:
        code = "unit-scale"
        what = f"min {_show(less)}" if unit_min else f"var_reci {_show(factors)}"
        why = f"{what} is meant for pixels of 0 to 1, but AIPP's pixels are 0 to 255"
        if max(stds) > 2:  # 1 / std of pixels of 0 to 255, so that only min is on the other scale
            stds = [std / 255 for std in stds]
    else:
        return
    means = [255 * value for value in less] if unit_min else list(less)
    meant = [1 / (255 * std) if std else 1.0 for std in stds]
    low, high = op.output_range
    used = names[0] + names[1] if unit_min else names[1]
    yield _finding(
        op, code, used, f"{why}: the output runs from {low:.4g} to {high:.4g}",
        f"Write min_chn: {_show(means)} and var_reci_chn: {_show(meant)}",
    )  # fmt: skip


def _check_order(op: AippOp) -> Iterator[Finding]:
    if op.real_channels != 3:
        return
    less = [255 * value for value in op.subtracted] if max(op.subtracted) < 1 else op.subtracted
    mean_set, mean_order = _mean_set(less)
    var_set, var_order = _std_set(op.factors)  # a std where its reciprocal belongs is in some order, too
    for scale in (1, 255):
        if not var_set and all(op.factors):
            var_set, var_order = _std_set([1 / (factor * scale) for factor in op.factors])
    if not (mean_order or var_order):
        return
    matrix = op.standard if op.csc_switch and op.from_yuv else ""
    matrix_order = {"yuv_to_rgb": "RGB", "yuv_to_bgr": "BGR"}.get(matrix[:10], "")
    means, factors = _names("mean_chn") + _names("min_chn"), _names("var_reci_chn")
    mean_words = f"the mean ({_show(op.subtracted)}) is {mean_set}'s in the order {', '.join(mean_order)}"
    var_words = f"var_reci ({_show(op.factors)}) is {var_set}'s in the order {', '.join(var_order)}"
    if mean_order and var_order and mean_order != var_order:
        wrong = "min" if matrix_order != mean_order else "var_reci"
        turn = "Turn one of the two around" if not matrix_order else f"Turn {wrong} around: the matrix gives that order"
        yield _finding(op, "channel-order", means + factors, _capital(f"{mean_words}, but {var_words}"), turn)
        return
    for order, words, names in ((mean_order, mean_words, means), (var_order, var_words, factors)):
        if order and matrix_order and order != matrix_order:
            default = "" if MATRIX_FIELDS[0] in op.values else " (the default)"
            yield _finding(
                op, "channel-order", names,
                _capital(f"{words}, but the matrix{default} puts out {', '.join(matrix_order)}"),
                f"Turn the three values around, or take the matrix for {order}",
            )  # fmt: skip
            return


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _check_padding_value(op: AippOp) -> Iterator[Finding]:
    if not any(op.padding_sizes):
        return
    low, high = op.output_range
    value = op.padding_value
    if value and not low - 1e-3 <= value <= high + 1e-3:
        pairs = zip(op.subtracted, op.factors, strict=True)
        meant = [(value - less) * by for less, by in pairs]
        yield _finding(
            op, "padding-not-normalised", ("padding_value",),
            f"padding_value {value:g} is an output value, and the picture's run from {low:.4g} to {high:.4g}: the "
            "border is filled after normalisation",
            f"Write the normalised value; that pixel becomes {_show(meant)}",
        )  # fmt: skip


_ANY: tuple[Callable[[AippOp], Iterator[Finding]], ...] = (_check_mode, _check_ranges)
_STATIC = (
    *_ANY, _check_switches, _check_window, _check_colours, _check_scale, _check_order, _check_padding_value,
    without_equivalent,
)  # fmt: skip
