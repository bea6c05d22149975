"""Where AIPP's pixels go: border, swaps, window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.aipp import (
    AippChannelPaddingParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSetup,
    AippSingleLineParams,
    AippSwapParams,
    LoadImageToLocalParams,
    load_image_to_local,
    set_aipp_functions,
)
from ascendlab.exercises._base import Case, Exercise, Misconception, odd_shapes
from ascendlab.provenance import Call, trace

__all__ = ["block_padding", "grey", "origin", "swap_and_pad", "whole", "xrgb_pixels"]

Array = NDArray[Any]


def whole(height: int, width: int, **border: int) -> LoadImageToLocalParams:
    """Return the window that is the whole picture."""
    return LoadImageToLocalParams(horiz_size=width, vert_size=height, src_horiz_size=width, **border)


def origin(setup: AippSetup, params: LoadImageToLocalParams, name: str) -> Callable[..., str]:
    """Say where output elements come from, `src0` being called as the learner knows it."""
    traced = trace(Call(load_image_to_local, {"setup": setup, "params": params}))
    return lambda *index: str(traced.origin(*index)).replace("src0", name)


def grey(picture: Array, dtype: str, **config: Any) -> AippSetup:
    """Set AIPP up for one channel of values."""
    return set_aipp_functions(picture, input_format=AippInputFormat.YUV400_U8, dtype=dtype, config=AippParams(**config))


# --- block padding ---


def _padded_row(row: Array, left: int, right: int) -> tuple[AippSetup, LoadImageToLocalParams]:
    setup = grey(
        row[None],
        "uint8",
        padding_params=AippPaddingParams(padding_mode=2),
        single_line_params=AippSingleLineParams(is_single_line_copy=True),
    )
    return setup, whole(1, len(row), left_pad_size=left, right_pad_size=right)


def _block_padding(row: Array, left: int, right: int) -> Array:
    return load_image_to_local(*_padded_row(row, left, right))[0, :, 0]


def _row_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for width, left, right in ((7, 2, 3), (11, 5, 0), (5, 4, 1), (9, 3, 7)):
        row = rng.choice(256, width, replace=False).astype(np.uint8)
        here = origin(*_padded_row(row, left, right), "row")
        cases.append(
            Case(
                {"row": row, "left": left, "right": right},
                words=f"a row of {width} pixels, left {left}, right {right}",
                where=lambda x, here=here: here(0, x, 0).replace("[0, ", "["),
            )
        )
    return cases


def _blocks(row: Array, left: Any, right: Any) -> Array:
    return np.concatenate([row[left], row, row[right]])


def _np_pad(mode: str) -> Callable[[Array, int, int], Array]:
    return lambda row, left, right: np.pad(row, (left, right), mode=mode)  # type: ignore[call-overload]


block_padding = Exercise(
    name="block_padding",
    parameters="row, left, right",
    task="Pad a row of pixels with `paddingMode` 2 (block copy): `left` pixels before it and `right` pixels after it.",
    spec="out.shape == (left + len(row) + right,)\n(out[left:left + len(row)] == row).all()",
    cases=_row_cases,
    library=_block_padding,
    misconceptions=[
        Misconception(
            "row[-right:] with right = 0 is the whole row, not an empty one.",
            lambda row, left, right: _blocks(row, slice(left), slice(-right, None)),
        ),
        Misconception(
            'That is wrap-around (np.pad\'s "wrap"): each border shows the far side of the row. Mode 2 copies the '
            "block that lies next to the border.",
            _np_pad("wrap"),
        ),
        Misconception(
            "The blocks are mirrored, edge pixel included: that is mode 3. Mode 2 copies the block as it lies.",
            _np_pad("symmetric"),
        ),
        Misconception(
            "The blocks are mirrored without the edge pixel: no mode of the hardware does that, and mode 2 does not "
            "mirror at all.",
            _np_pad("reflect"),
        ),
        Misconception("The edge pixel is repeated: that is mode 1. Mode 2 copies a whole block.", _np_pad("edge")),
        Misconception("The border is constant: that is mode 0. Mode 2 copies pixels.", _np_pad("constant")),
        Misconception(
            "left and right are exchanged: the border before the row has left pixels.",
            lambda row, left, right: _blocks(row, slice(right), slice(len(row) - left, None)),
        ),
        Misconception(
            "The right border is wrong: you took its block from the start of the row, which is not next to it.",
            lambda row, left, right: _blocks(row, slice(left), slice(right)),
        ),
        Misconception(
            "The left border is wrong: you took its block from the end of the row, which is not next to it.",
            lambda row, left, right: _blocks(row, slice(len(row) - left, None), slice(len(row) - right, None)),
        ),
    ],
)

# --- XRGB8888 ---


def _xrgb_setup(picture: Array, is_swap_ax: bool, is_swap_rb: bool) -> AippSetup:
    swap = AippSwapParams(is_swap_ax=is_swap_ax, is_swap_rb=is_swap_rb)
    config = AippParams(swap_params=swap, c_padding_params=AippChannelPaddingParams(c_padding_mode=1))
    return set_aipp_functions(picture, input_format=AippInputFormat.XRGB8888_U8, dtype="uint8", config=config)


def _xrgb_pixels(picture: Array, is_swap_ax: bool, is_swap_rb: bool) -> Array:
    setup = _xrgb_setup(picture, is_swap_ax, is_swap_rb)
    return load_image_to_local(setup, whole(*picture.shape[:2]))[:, :, :3]


def _xrgb_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    switches = ((True, False), (False, False), (True, True), (False, True))
    for (height, width), (ax, rb) in zip([(2, 3), *odd_shapes(rng, high=7)], switches, strict=True):
        picture = rng.permutation(256)[: height * width * 4].reshape(height, width, 4).astype(np.uint8)
        cases.append(
            Case(
                {"picture": picture, "is_swap_ax": ax, "is_swap_rb": rb},
                words=f"a {height} x {width} picture, is_swap_ax={ax}, is_swap_rb={rb}",
                where=origin(_xrgb_setup(picture, ax, rb), whole(height, width), "picture"),
            )
        )
    return cases


def _take(plain: list[int], ax: list[int], rb: list[int], both: list[int]) -> Callable[[Array, bool, bool], Array]:
    """Make the function that keeps these memory channels for neither switch, AX alone, RB alone, both."""
    table = {(False, False): plain, (True, False): ax, (False, True): rb, (True, True): both}
    return lambda picture, is_swap_ax, is_swap_rb: picture[..., table[is_swap_ax, is_swap_rb]]


xrgb_pixels = Exercise(
    name="xrgb_pixels",
    parameters="picture, is_swap_ax, is_swap_rb",
    task="An XRGB8888 picture of shape (H, W, 4) passes AIPP with these two switches. Return the three channels that "
    "come out, in their order.",
    spec="out.shape == (*picture.shape[:2], 3)\nset(out[y, x]) <= set(picture[y, x])",
    cases=_xrgb_cases,
    library=_xrgb_pixels,
    misconceptions=[
        Misconception(
            "You kept four channels: AIPP always drops the fourth one of XRGB8888.",
            _take([0, 1, 2, 3], [1, 2, 3, 0], [2, 1, 0, 3], [3, 2, 1, 0]),
        ),
        Misconception(
            "You always dropped channel 0. The hardware does not know where X is: it drops the *fourth* channel, "
            "whatever is there.",
            _take([1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]),
        ),
        Misconception("is_swap_ax has no effect in your answer.", _take([0, 1, 2], [0, 1, 2], [2, 1, 0], [2, 1, 0])),
        Misconception("is_swap_rb has no effect in your answer.", _take([0, 1, 2], [1, 2, 3], [0, 1, 2], [1, 2, 3])),
        Misconception(
            "is_swap_ax does not exchange the first and the last channel: X moves to the back and the others close up.",
            _take([0, 1, 2], [3, 1, 2], [2, 1, 0], [2, 1, 3]),
        ),
        Misconception(
            "You swapped R and B before moving X; the hardware moves X first.",
            _take([0, 1, 2], [1, 2, 3], [2, 1, 0], [1, 0, 3]),
        ),
        Misconception(
            "You moved the channels the wrong way round: is_swap_ax takes the first one to the back.",
            _take([0, 1, 2], [3, 0, 1], [2, 1, 0], [1, 0, 3]),
        ),
        Misconception(
            "You swapped the channels that hold R and B. The hardware does not know them: it swaps the first and the "
            "third channel that it has at that moment.",
            _take([0, 1, 2], [1, 2, 3], [0, 3, 2], [3, 2, 1]),
        ),
    ],
)

# --- crop, swap, constant border ---


def _swap_setup(picture: Array, constants: tuple[int, ...], filler: int) -> AippSetup:
    border = {f"padding_value_ch{i}": value for i, value in enumerate(constants)}
    config = AippParams(
        padding_params=AippPaddingParams(padding_mode=0, **border),
        swap_params=AippSwapParams(is_swap_rb=True),
        c_padding_params=AippChannelPaddingParams(c_padding_mode=1, c_padding_value=filler),
    )
    return set_aipp_functions(picture, input_format=AippInputFormat.RGB888_U8, dtype="uint8", config=config)


def _swap_and_pad(picture: Array, window: LoadImageToLocalParams, constants: tuple[int, ...], filler: int) -> Array:
    return load_image_to_local(_swap_setup(picture, constants, filler), window)


def _window_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    sizes = ((2, 3, 0, 1, 1, 2), (5, 3, 2, 1, 3, 0), (3, 7, 4, 3, 2, 5), (7, 5, 2, 0, 0, 4))
    for height, width, x, y, left, right in sizes:
        room = max(x, y) + max(height, width)
        tall, wide = room, room + 1 | 1
        picture = rng.integers(0, 256, (tall, wide, 3)).astype(np.uint8)
        *constants, filler = (int(n) for n in rng.choice(256, 5, replace=False))
        window = LoadImageToLocalParams(
            horiz_size=width, vert_size=height, src_horiz_size=wide, horiz_start_pos=x, vert_start_pos=y,
            left_pad_size=left, right_pad_size=right,
        )  # fmt: skip
        setup = _swap_setup(picture, tuple(constants), filler)
        cases.append(
            Case(
                {"picture": picture, "window": window, "constants": tuple(constants), "filler": filler},
                words=f"a {height} x {width} window at ({y}, {x}) of {tall} x {wide}, left {left}, right {right}",
                where=origin(setup, window, "picture"),
            )
        )
    return cases


def _variant(
    *,
    order: tuple[int, int, int] = (2, 1, 0),
    constant_order: tuple[int, int, int, int] = (0, 1, 2, 3),
    border_fourth: int | None = None,
    swap_starts: bool = False,
    swap_sizes: bool = False,
    swap_sides: bool = False,
    use_starts: bool = True,
    constant_in_window: bool = False,
) -> Callable[[Array, LoadImageToLocalParams, tuple[int, ...], int], Array]:
    """Make a window-and-border function that errs in one point."""

    def answer(picture: Array, window: LoadImageToLocalParams, constants: tuple[int, ...], filler: int) -> Array:
        y, x = (window.vert_start_pos, window.horiz_start_pos) if use_starts else (0, 0)
        y, x = (x, y) if swap_starts else (y, x)
        height, width = window.vert_size, window.horiz_size
        height, width = (width, height) if swap_sizes else (height, width)
        left, right = window.left_pad_size, window.right_pad_size
        left, right = (right, left) if swap_sides else (left, right)
        border = [constants[i] for i in constant_order]
        if border_fourth is not None:
            border[3] = filler
        out = np.empty((height, left + width + right, 4), np.uint8)
        out[:] = border
        out[:, left : left + width, :3] = picture[y : y + height, x : x + width, list(order)]
        out[:, left : left + width, 3] = constants[3] if constant_in_window else filler
        return out

    return answer


swap_and_pad = Exercise(
    name="swap_and_pad",
    parameters="picture, window, constants, filler",
    task="An RGB888 picture goes through AIPP with `is_swap_rb`, `padding_mode=0` and `c_padding_mode=1`. `window` is "
    "the `LoadImageToLocalParams`, `constants` are `padding_value_ch0` to `ch3`, `filler` is `c_padding_value`. "
    "Return what arrives in L1.",
    spec="out.shape == (window.vert_size, window.left_pad_size + window.horiz_size + window.right_pad_size, 4)",
    cases=_window_cases,
    library=_swap_and_pad,
    misconceptions=[
        Misconception("Your pixels are in R, G, B order: is_swap_rb exchanges R and B.", _variant(order=(0, 1, 2))),
        Misconception(
            "You swapped the constants as well. The border is made after the swap: paddingValueCh0 belongs to output "
            "channel 0.",
            _variant(constant_order=(2, 1, 0, 3)),
        ),
        Misconception(
            "The fourth channel of the border is paddingValueCh3, not the channel padding value.",
            _variant(border_fourth=1),
        ),
        Misconception(
            "The fourth channel inside the window is channel padding: paddingValueCh3 is for the border only.",
            _variant(constant_in_window=True),
        ),
        Misconception(
            "You exchanged the two starts: horiz_start_pos is a column, vert_start_pos is a row.",
            _variant(swap_starts=True),
        ),
        Misconception(
            "You exchanged the two sizes: horiz_size is the width, vert_size the height.", _variant(swap_sizes=True)
        ),
        Misconception("left_pad_size and right_pad_size are exchanged.", _variant(swap_sides=True)),
        Misconception(
            "Your window starts at the picture's first pixel: horiz_start_pos and vert_start_pos have no effect.",
            _variant(use_starts=False),
        ),
    ],
)
