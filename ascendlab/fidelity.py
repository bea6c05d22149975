"""The fidelity ledger: every rule of the emulations, and how sure one can be of it.

>>> print(rule("aipp-block-padding").rule)
Padding mode 2 repeats the adjacent block as it lies: neither mirrored nor wrapped around.
>>> sorted({r.source for r in rules("aipp")})
['document', 'inferred', 'open-source kernel', 'public reference']
"""

from __future__ import annotations

from dataclasses import dataclass

from ascendlab.errors import ParameterError

__all__ = ["RULES", "SOURCES", "Rule", "as_markdown", "rule", "rules"]

SOURCES = ("document", "public reference", "open-source kernel", "inferred")
"""Where a rule can come from, surest first."""


@dataclass(frozen=True)
class Rule:
    """One rule of an emulation.

    Parameters
    ----------
    id : str
        Starts with the API: ``aipp-``, ``load3d-``, ``capi-``, ``vector-padding-``, ``bilinear-``.
    rule : str
        What the emulation does, in a sentence.
    source : str
        One of `SOURCES`.
    where : str
        The document and its table, or the file, that says so.
    alternatives : str
        What it would be if this were wrong; what else the sources say.
    """

    id: str
    rule: str
    source: str
    where: str
    alternatives: str = ""


_AIPP = "SetAippFunctions"
_KERNEL = "asc-devkit, AIPP software kernel for arch 3510"

RULES: tuple[Rule, ...] = (
    Rule("aipp-order", "Order: crop, swap, colour conversion, type conversion, border, channel padding.",
         "open-source kernel", _KERNEL, "The document lists the steps without an order."),
    Rule("aipp-output-types", "A2 and A3 convert to int8 and half; the other products also keep uint8.",
         "public reference", "LoadImageToLocal"),
    Rule("aipp-products", "Vector Core and Atlas training have no AIPP.", "document", f"{_AIPP}, support table"),
    Rule("aipp-formats", "Four formats; XRGB8888 always loses its fourth channel.", "document", f"{_AIPP}, table 2 and constraints"),
    Rule("aipp-chroma", "Chroma is repeated: pixel (y, x) takes UV row y // 2, pair x // 2.", "open-source kernel", _KERNEL,
         "Interpolated chroma would differ at colour edges."),
    Rule("aipp-yuv400-csc", "YUV400 has one channel, and three with colour conversion on, U and V being 0.",
         "open-source kernel", _KERNEL),
    Rule("aipp-swap-formats", "RB swaps RGB888 and XRGB8888, UV swaps YUV420SP, AX shifts XRGB8888; elsewhere an error.",
         "document", f"{_AIPP}, table 4"),
    Rule("aipp-swap-order", "AX comes before RB.", "open-source kernel", _KERNEL),
    Rule("aipp-xrgb-trap", "XRGB8888 without AX keeps channels 0 to 2 as they lie: X, R, G where X comes first.",
         "document", f"{_AIPP}, constraints"),
    Rule("aipp-single-line", "A single line reads one row and does not look at vertSize.", "document", f"{_AIPP}, table 5"),
    Rule("aipp-window", "The window lies inside the picture; starts are even where the format needs it.",
         "public reference", "LoadImageToLocal"),
    Rule("aipp-csc-documented", "RGB -> YUV: saturate(((M @ rgb) >> 8) + cscBiasIn); YUV -> RGB: saturate((M @ (yuv - cscBiasOut)) >> 8).",
         "document", f"{_AIPP}, table 8; shift and saturation: aclmdlSetAIPPCscParams",
         "The ACL reference, ATC config files and the open kernel exchange the two biases."),
    Rule("aipp-csc-dav-3510", "RGB -> YUV: uint8((M @ rgb + 128) / 256 + cscBiasOut); YUV -> RGB: uint8((M @ (yuv - cscBiasIn) + 128) / 256); "
         "division towards zero, overflow wraps.", "open-source kernel", _KERNEL),
    Rule("aipp-csc-conflict", "A config whose only non-zero bias is the ignored one gets DocumentationConflictWarning.",
         "inferred", "the two rules above"),
    Rule("aipp-presets", "Four standards, in both channel orders, and two conversions to grey: 18 matrices as the guide lists them, and BGR -> YUV.", "public reference", "ATC guide, CSC configuration"),
    Rule("aipp-dtc-uint8", "To uint8: no conversion; mean, min and var are not looked at.", "document", f"{_AIPP}, data type conversion"),
    Rule("aipp-dtc-int8", "To int8: v - mean, saturated to [-128, 127].", "document", f"{_AIPP}, data type conversion",
         "The open kernel wraps."),
    Rule("aipp-dtc-int8-dav-3510", "To int8 in profile dav_3510: v - mean, wrapping.", "open-source kernel", _KERNEL),
    Rule("aipp-dtc-half", "To half: (v - mean - min) * var; v - mean is exact, then each operation rounds to half.",
         "open-source kernel", _KERNEL, "One rounding at the end differs in the last bit."),
    Rule("aipp-dtc-200i", "Atlas 200I/500 A2 has no min and rounds (v - mean) * var once from float32, ties by dtcRoundMode.",
         "inferred", f"{_AIPP}, table 6; that product loads float32 mean and var in the open kernel"),
    Rule("aipp-dtc-round-mode", "dtcRoundMode other than 0 is an error except on Atlas 200I/500 A2.", "document", f"{_AIPP}, table 6"),
    Rule("aipp-dtc-channel", "Mean, min and var belong to the output channel.", "public reference", "ATC guide: applied after swap and CSC"),
    Rule("aipp-dtc-channel-dav-3510", "Without colour conversion, dav_3510 takes them by source channel; AX then reads past the array: refused.",
         "open-source kernel", _KERNEL),
    Rule("aipp-constant-padding", "Mode 0 pads left and right; channels 0 to 3 take paddingValueCh0 to 3, others the channel padding value.",
         "document", f"{_AIPP}, table 3; one-channel pictures: open kernel"),
    Rule("aipp-constant-no-rows", "Mode 0 with top or bottom padding is an error; dav_3510 clears both and warns.",
         "document", f"{_AIPP}, table 3; clearing: open kernel"),
    Rule("aipp-edge-padding", "Padding mode 1 repeats the nearest edge pixel.", "document", f"{_AIPP}, figure 2"),
    Rule("aipp-block-padding", "Padding mode 2 repeats the adjacent block as it lies: neither mirrored nor wrapped around.",
         "open-source kernel", f"{_KERNEL}; {_AIPP}, figure 3 is a picture",
         "Wrap-around (np.pad mode 'wrap') would bring the opposite side of the window."),
    Rule("aipp-mirror-padding", "Padding mode 3 mirrors the adjacent block, edge pixel included.", "open-source kernel",
         f"{_KERNEL}; {_AIPP}, figure 4 is a picture", "np.pad mode 'reflect' would leave the edge pixel out."),
    Rule("aipp-block-limit", "In modes 2 and 3 a border is no larger than the window that is read (one row with single line).",
         "public reference", "LoadImageToLocal"),
    Rule("aipp-channel-padding", "An output pixel has 32 bytes, or 4 channels; added channels hold cPaddingValue, in the border too.",
         "document", f"{_AIPP}, table 7; border: open kernel"),
    Rule("aipp-constants", "Padding values are of the output type and stand there as they are: no conversion touches them.",
         "document", f"{_AIPP}, tables 3 and 7", "Constants could pass through mean, min and var as samples do."),
    Rule("aipp-capacity", "A result larger than L1 is computed all the same, unless check_capacity asks for a refusal.",
         "inferred", "a kernel moves such a window in tiles; photographs and golden arrays do not fit"),
    Rule("aipp-registers", "SetAippFunctions packs its parameters into the special registers 0 to 9; Atlas 350 keeps the same words in variables.",
         "open-source kernel", "asc-devkit, impl/basic_api/kernel_reg.h"),
    Rule("aipp-registers-200i", "Atlas 200I/500 A2 writes mean and var as floats into registers 18 to 21, no min, and dtcRoundMode into 9.",
         "open-source kernel", "asc-devkit, impl/basic_api/kernel_reg.h, NPU arch 3002"),
    Rule("aipp-kernel-limits", "The open kernel copies whole 32-byte blocks from 256 KiB of scratch memory; the result here is the one before "
         "that copy.", "open-source kernel", _KERNEL),
)  # fmt: skip

_BY_ID = {r.id: r for r in RULES}


def rule(rule_id: str) -> Rule:
    """Return the rule with this id."""
    if not isinstance(rule_id, str) or rule_id not in _BY_ID:
        raise ParameterError("rule_id", rule_id, "an id of the ledger, see ascendlab.fidelity.RULES")
    return _BY_ID[rule_id]


def rules(api: str = "") -> tuple[Rule, ...]:
    """Return the rules of one API (``"aipp"``, ``"load3d"`` ...), or all."""
    if not isinstance(api, str):
        raise ParameterError("api", api, "a string that rule ids start with")
    return tuple(r for r in RULES if not api or r.id.startswith(f"{api}-"))


def as_markdown(api: str = "") -> str:
    """Return the ledger as a Markdown table.

    Parameters
    ----------
    api : str, optional
        Only this API's rules.
    """
    lines = ["| id | rule | source | where | alternatives |", "|---|---|---|---|---|"]
    lines += [f"| {r.id} | {r.rule} | {r.source} | {r.where} | {r.alternatives} |" for r in rules(api)]
    return "\n".join(lines)
