"""Controls for a vector instruction's mask: both forms, typed or lane by lane, always in step with each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascendlab.errors import AscendlabError
from ascendlab.explorers._controls import Control, number
from ascendlab.fields import check_bool
from ascendlab.samples import numbers_from
from ascendlab.vector import mask_lanes, mask_to_bitwise
from ascendlab.vector_mask import mask_to_text, mask_with_lane, mask_within

__all__ = ["follow_mask", "mask_controls", "mask_words"]


def _check_words(value: Any) -> str:
    numbers_from(value, "mask_words")
    return str(value)


def mask_controls() -> list[Control]:
    """Return the controls: the first n lanes, the words of the bits, and one lane to look at and switch."""
    return [
        number("mask", 1, 128, 128, "Continuous form: the first n lanes are written.", slider=(1, 128)),
        Control("mask_words", "text", mask_to_text(128, "half"),
                "Bitwise form: 64-bit words, lane 0 is bit 0.",
                check=_check_words),
        number("lane", 0, 127, 0, "A lane of the repeat, to be switched below.", slider=(0, 127)),
        Control("lane_written", "flag", True, "Whether the mask lets this lane be written.",
                check=lambda value: check_bool("lane_written", value)),
    ]  # fmt: skip


def mask_words(state: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the bitwise form that stands in the text field."""
    return tuple(numbers_from(state["mask_words"], "mask_words"))


def follow_mask(changes: Mapping[str, Any], state: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """Keep both forms and the lane's switch in step after a change.

    A text that is no mask changes nothing else: the call will say what is wrong with it.
    """
    more: dict[str, Any] = {}
    try:
        if "mask_words" in changes:
            words = mask_words(state)
        elif "mask" in changes or "dtype" in changes:
            words = mask_to_bitwise(mask_within(state["mask"], dtype), dtype)
        elif "lane_written" in changes:
            words = mask_with_lane(mask_words(state), dtype, state["lane"], written=state["lane_written"])
        else:
            words = mask_words(state)
        lanes = mask_lanes(words, dtype).ravel()
        more["mask_words"] = mask_to_text(words, dtype)
        more["lane_written"] = bool(lanes[min(state["lane"], lanes.size - 1)])
        count = int(lanes.sum())
        if lanes[:count].all():
            more["mask"] = count
    except AscendlabError:
        return {}
    return more
