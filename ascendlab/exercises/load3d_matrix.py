"""The im2col matrix: how many windows there are, what a row of it holds, what a column means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.dtypes import as_dtype
from ascendlab.exercises._base import Case, Exercise, Misconception
from ascendlab.load3d import Geometry, LoadData3DParamsV2, im2col
from ascendlab.provenance import Call, trace

__all__ = ["column_table", "im2col_row", "output_size"]

Array = NDArray[Any]
Pair = tuple[int, int]
Sides = tuple[int, int, int, int]

# --- how many windows ---

# Filter, stride, dilation, padding, and a size that leaves some pixels over in one axis at least.
_WINDOWS: tuple[tuple[Pair, Pair, Pair, Sides, Pair], ...] = (
    ((3, 2), (2, 1), (1, 1), (1, 0, 2, 1), (7, 9)),
    ((2, 3), (1, 2), (3, 2), (0, 2, 1, 0), (6, 10)),
    ((3, 3), (2, 3), (2, 1), (2, 2, 1, 0), (9, 13)),
    ((5, 1), (3, 2), (1, 4), (0, 1, 2, 2), (13, 8)),
)


def _size_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for window, stride, dilation, pads, size in _WINDOWS:
        # Whole strides more keep what is left over, on which rounding shows.
        height, width = (int(n + s * rng.integers(0, 5)) for n, s in zip(size, stride, strict=True))
        cases.append(
            Case(
                {"size": (height, width), "window": window, "stride": stride, "dilation": dilation, "pad_list": pads},
                words=f"a feature map of {height} x {width}, a filter of {window[0]} x {window[1]}, stride {stride}, "
                f"dilation {dilation}, padList {pads}",
            )
        )
    return cases


def _geometry(size: Pair, window: Pair, stride: Pair, dilation: Pair, pad_list: Sides) -> Geometry:
    return Geometry(
        height=size[0],
        width=size[1],
        channels=16,
        c0=16,
        window_h=window[0],
        window_w=window[1],
        stride_h=stride[0],
        stride_w=stride[1],
        dilation_h=dilation[0],
        dilation_w=dilation[1],
        pads=pad_list,
    )


def _library_size(size: Pair, window: Pair, stride: Pair, dilation: Pair, pad_list: Sides) -> Pair:
    geometry = _geometry(size, window, stride, dilation, pad_list)
    return geometry.ho, geometry.wo


def _there(size: Pair, pad_list: Sides) -> Array:
    left, right, top, bottom = pad_list
    return np.add(size, (top + bottom, left + right))


def _covered(window: Pair, dilation: Pair) -> Array:
    return (np.array(window) - 1) * dilation + 1


def _steps(there: Array, covered: Array, stride: Pair) -> Array:
    return (there - covered) // stride + 1


output_size = Exercise(
    name="output_size",
    parameters="size, window, stride, dilation, pad_list",
    task="Return `(Ho, Wo)`: how many positions the filter has on the padded feature map. `size`, `window`, `stride` "
    "and `dilation` are pairs (along H, along W); `pad_list` is the document's `padList`: left, right, top, bottom.",
    spec="(Ho - 1) * stride[0] + covered_h <= size[0] + top + bottom   # the last position fits\n"
    "Ho * stride[0] + covered_h > size[0] + top + bottom          # and no other one does; Wo alike",
    cases=_size_cases,
    library=_library_size,
    misconceptions=[
        Misconception(
            "The two numbers are exchanged: H comes first.",
            lambda size, window, stride, dilation, pad_list: _library_size(size, window, stride, dilation, pad_list)[
                ::-1
            ],
        ),
        Misconception(
            "padList is taken for top, bottom, left, right. Its order is left, right, top, bottom.",
            lambda size, window, stride, dilation, pad_list: _steps(
                _there(size, (*pad_list[2:], *pad_list[:2])), _covered(window, dilation), stride
            ),
        ),
        Misconception(
            "The dilation is missing: filter points that are dilation pixels apart cover more than the filter's size.",
            lambda size, window, stride, dilation, pad_list: _steps(_there(size, pad_list), np.array(window), stride),
        ),
        Misconception(
            "A dilated filter does not cover filter * dilation pixels: behind the last point there is no gap.",
            lambda size, window, stride, dilation, pad_list: _steps(
                _there(size, pad_list), np.multiply(window, dilation), stride
            ),
        ),
        Misconception(
            "Rounded up: a position at which the filter would stick out of the padded feature map does not count.",
            lambda size, window, stride, dilation, pad_list: (
                1 - (_covered(window, dilation) - _there(size, pad_list)) // stride
            ),
        ),
        Misconception(
            "One position is missing: the first one costs no step.",
            lambda size, window, stride, dilation, pad_list: (
                _steps(_there(size, pad_list), _covered(window, dilation), stride) - 1
            ),
        ),
        Misconception(
            "Only one side's padding is counted, left or top. Both sides make room for windows.",
            lambda size, window, stride, dilation, pad_list: _steps(
                _there(size, (pad_list[0], 0, pad_list[2], 0)), _covered(window, dilation), stride
            ),
        ),
        Misconception(
            "The padding is missing: the filter also stands on it.",
            lambda size, window, stride, dilation, pad_list: _steps(np.array(size), _covered(window, dilation), stride),
        ),
    ],
)

# --- one row ---

# Size, filter, stride, dilation, padding, channels, window: each window stands half in the padding.
_ROWS: tuple[tuple[Pair, Pair, Pair, Pair, Sides, int, Pair], ...] = (
    ((3, 5), (2, 2), (1, 1), (1, 1), (1, 0, 0, 1), 4, (1, 0)),
    ((5, 7), (3, 2), (2, 1), (1, 2), (2, 0, 1, 1), 8, (2, 1)),
    ((7, 5), (2, 3), (1, 2), (3, 1), (1, 2, 2, 0), 4, (1, 2)),
    ((6, 9), (3, 3), (2, 3), (2, 2), (0, 3, 2, 1), 16, (0, 2)),
)


def _row_params(
    feature_map: Array, window: Pair, stride: Pair, dilation: Pair, pad_list: Sides, pad_value: int
) -> LoadData3DParamsV2:
    height, width, channels = feature_map.shape
    return LoadData3DParamsV2(
        l1_h=height,
        l1_w=width,
        channel_size=channels,
        filter_h=window[0],
        filter_w=window[1],
        stride_h=stride[0],
        stride_w=stride[1],
        dilation_filter_h=dilation[0],
        dilation_filter_w=dilation[1],
        pad_list=pad_list,
        pad_value=pad_value,
    )


def _row_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for size, window, stride, dilation, pads, channels, (down, across) in _ROWS:
        feature_map = rng.integers(-99, 100, (*size, channels)).astype(np.int8)
        pad_value = int(rng.integers(100, 128))
        params = _row_params(feature_map, window, stride, dilation, pads, pad_value)
        traced = trace(Call(im2col, {"src": feature_map, "params": params}))
        m = down * _library_size(size, window, stride, dilation, pads)[1] + across
        arguments = {"feature_map": feature_map, "m": m, "window": window, "stride": stride, "dilation": dilation,
                     "pad_list": pads, "pad_value": pad_value}  # fmt: skip
        cases.append(
            Case(
                arguments,
                words=f"row {m} for a feature map of {size[0]} x {size[1]} x {channels}, a filter of {window[0]} x "
                f"{window[1]}, stride {stride}, dilation {dilation}, padList {pads}",
                where=lambda k, m=m, traced=traced: str(traced.origin(m, k)).replace("src", "feature_map"),
            )
        )
    return cases


def _library_row(
    feature_map: Array, m: int, window: Pair, stride: Pair, dilation: Pair, pad_list: Sides, pad_value: int
) -> Array:
    params = _row_params(feature_map, window, stride, dilation, pad_list, pad_value)
    row: Array = im2col(feature_map, params)[m]
    return row


def _row(
    feature_map: Array, m: int, window: Pair, stride: Pair, dilation: Pair, pad_list: Sides, pad_value: int,
    *, position: Pair | None = None, outside: str = "constant", order: tuple[int, int, int] = (0, 1, 2),
) -> Array:  # fmt: skip
    """Make a row with one thing wrong: the window's position, what stands outside, or the order of the columns."""
    height, width, _ = feature_map.shape
    _, wo = _library_size((height, width), window, stride, dilation, pad_list)
    down, across = divmod(m, wo) if position is None else position
    rows = down * stride[0] - pad_list[2] + np.arange(window[0]) * dilation[0]
    columns = across * stride[1] - pad_list[0] + np.arange(window[1]) * dilation[1]
    limits = np.array([height, width])[:, None]
    if outside == "wrap":
        rows, columns = rows % height, columns % width
    elif outside == "edge":
        rows, columns = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
    inside = np.logical_and.outer((rows >= 0) & (rows < limits[0]), (columns >= 0) & (columns < limits[1]))
    found = feature_map[np.ix_(rows % height, columns % width)]
    row: Array = np.where(inside[:, :, None], found, pad_value).astype(np.int8).transpose(order).reshape(-1)
    return row


def _exchanged(feature_map: Array, m: int, *more: Any) -> Array:
    window, stride, dilation, pad_list, _ = more
    ho, _ = _library_size(feature_map.shape[:2], window, stride, dilation, pad_list)
    return _row(feature_map, m, *more, position=(m % ho, m // ho))


def _sides_exchanged(feature_map: Array, m: int, *more: Any) -> Array:
    window, stride, dilation, (left, right, top, bottom), pad_value = more
    return _row(feature_map, m, window, stride, dilation, (top, bottom, left, right), pad_value)


def _without(feature_map: Array, m: int, *more: Any, missing: str) -> Array:
    """Take the right window, but forget its stride, its dilation or the padding when looking for its pixels."""
    window, stride, dilation, pad_list, pad_value = more
    _, wo = _library_size(feature_map.shape[:2], window, stride, dilation, pad_list)
    position = divmod(m, wo)
    none: Sides = (0, 0, 0, 0)
    stride = (1, 1) if missing == "stride" else stride
    dilation = (1, 1) if missing == "dilation" else dilation
    pad_list = none if missing == "padding" else pad_list
    return _row(feature_map, m, window, stride, dilation, pad_list, pad_value, position=position)


im2col_row = Exercise(
    name="im2col_row",
    parameters="feature_map, m, window, stride, dilation, pad_list, pad_value",
    task="Return row `m` of the im2col matrix: what window m sees of `feature_map` (H, W, C), filter point after "
    "filter point, all C channels of each. `window`, `stride` and `dilation` are pairs (along H, along W); outside the "
    "feature map stands `pad_value`.",
    spec="out.shape == (window[0] * window[1] * C,)\n"
    "out.reshape(*window, C)[i, j] == padded[down * stride[0] + i * dilation[0], across * stride[1] + j * dilation[1]]",
    cases=_row_cases,
    library=_library_row,
    misconceptions=[
        Misconception(
            "Where the window leaves the feature map, NumPy's negative index took pixels of the far side.",
            lambda *arguments: _row(*arguments, outside="wrap"),
        ),
        Misconception(
            "The edge pixel is repeated outside. Load3D knows only a constant there: pad_value.",
            lambda *arguments: _row(*arguments, outside="edge"),
        ),
        Misconception(
            "Outside stands 0. It is pad_value that stands there.",
            lambda feature_map, m, window, stride, dilation, pad_list, pad_value: _row(
                feature_map, m, window, stride, dilation, pad_list, 0
            ),
        ),
        Misconception(
            "Windows are counted down the columns. They are counted row by row: m // Wo and m % Wo.", _exchanged
        ),
        Misconception(
            "The channel is the slowest: all filter points of channel 0 first. In a row it is the fastest.",
            lambda *arguments: _row(*arguments, order=(2, 0, 1)),
        ),
        Misconception(
            "The filter's points follow each other column by column. Along the filter's row comes first.",
            lambda *arguments: _row(*arguments, order=(1, 0, 2)),
        ),
        Misconception(
            "The dilation is missing: the window's points are neighbours here.",
            lambda *arguments: _without(*arguments, missing="dilation"),
        ),
        Misconception(
            "The stride is missing: windows move by stride pixels.",
            lambda *arguments: _without(*arguments, missing="stride"),
        ),
        Misconception(
            "The padding is missing: window 0 begins at row -top and column -left.",
            lambda *arguments: _without(*arguments, missing="padding"),
        ),
        Misconception(
            "padList is taken for top, bottom, left, right. Its order is left, right, top, bottom.", _sides_exchanged
        ),
    ],
)

# --- what a column means ---

# Channels, filter, type: two with a tail after full groups, one without, one of a tail alone.
_TABLES: tuple[tuple[int, Pair, str], ...] = (
    (12, (2, 3), "float"),
    (20, (3, 2), "half"),
    (64, (1, 3), "int8"),
    (8, (3, 3), "half"),
)


def _table_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for channels, (high, wide), name in _TABLES:
        window, c0 = (high, int(wide + rng.integers(0, 3))), as_dtype(name).c0

        def where(c: int, kh: int, kw: int, channels: int = channels, c0: int = c0) -> str:
            depth = min(c0, channels - c // c0 * c0)
            return f"channel {c % c0} of group {c // c0}, which has {depth} channels, at filter point ({kh}, {kw})"

        cases.append(
            Case(
                {"channels": channels, "window": window, "c0": c0},
                words=f"{channels} channels of {name}, a filter of {window[0]} x {window[1]}",
                where=where,
            )
        )
    return cases


def _library_table(channels: int, window: Pair, c0: int) -> Array:
    geometry = Geometry(
        height=window[0], width=window[1], channels=channels, c0=c0, window_h=window[0], window_w=window[1]
    )
    group, high, wide, channel = geometry.column(np.arange(geometry.k))
    table = np.empty((channels, *window), np.int64)
    table[group * c0 + channel, high, wide] = np.arange(geometry.k)
    return table


def _columns(channels: int, window: Pair, c0: int, *, turned: bool = False, deep: bool = False) -> Array:
    """Return the columns by formula, with the filter's axes exchanged or with full groups only."""
    channel, high, wide = np.indices((channels, *window))
    group, within = np.divmod(channel, c0)
    depth = c0 if deep else np.minimum(c0, channels - group * c0)
    point = wide * window[0] + high if turned else high * window[1] + wide
    return np.asarray(group * (window[0] * window[1] * c0) + point * depth + within)


column_table = Exercise(
    name="column_table",
    parameters="channels, window, c0",
    task="Number the columns of the im2col matrix: `out[c, kh, kw]` is the column that holds channel c at filter point "
    "(kh, kw). `c0` channels make a group; a last group of fewer channels holds only those.",
    spec="out.shape == (channels, *window)\nsorted(out.ravel()) == list(range(channels * window[0] * window[1]))",
    cases=_table_cases,
    library=_library_table,
    misconceptions=[
        Misconception(
            "That is the order (kh, kw, c): all channels of a filter point together. Only the c0 channels of one "
            "group are together; the groups are the slowest.",
            lambda channels, window, c0: (
                np.arange(channels)[:, None, None] + np.arange(np.prod(window)).reshape(window) * channels
            ),
        ),
        Misconception(
            "That is the order (c, kh, kw), in which weights usually come. Here c0 channels of a filter point lie "
            "together.",
            lambda channels, window, c0: np.arange(channels * np.prod(window)).reshape(channels, *window),
        ),
        Misconception(
            "kh and kw are exchanged: along the filter's row comes first.",
            lambda channels, window, c0: _columns(channels, window, c0, turned=True),
        ),
        Misconception(
            "The last group is counted as a full one. It is packed: its filter points are as far apart as it has "
            "channels.",
            lambda channels, window, c0: _columns(channels, window, c0, deep=True),
        ),
        Misconception(
            "Columns are counted from 0.", lambda channels, window, c0: _library_table(channels, window, c0) + 1
        ),
    ],
)
