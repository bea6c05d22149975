"""Exercises on the C API's convolution: right answers pass, plausible wrong ones are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ascendlab import exercises

CONV2D = exercises.conv2d
ALL = {name: getattr(CONV2D, name) for name in CONV2D.__all__}
NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "03_conv2d_c_api.ipynb"
SEEDS = (0, 7, 2024)
NAMED = [(name, m) for name, exercise in ALL.items() for m in exercise.misconceptions]


# --- two right answers for each exercise, written without the library ---


def _config_by_bytes(value, dtype):
    if dtype == "int4":
        return int(f"{value % 16:x}" * 4, 16)
    data = np.array(value).astype(dtype).tobytes()
    return int.from_bytes(data * 2 if dtype == "int8" else data, "little")


def _config_by_factors(value, dtype):
    bits = int(dtype.removeprefix("int"))
    return value % 2**bits * {4: 0x1111, 8: 0x101}.get(bits, 1)


def _pad_by_views(calls, dtype):
    register = np.zeros(8, np.uint8)
    for _, value in calls:
        register[:] = 0
        if value is not None:
            data = np.frombuffer(value.tobytes() * (2 if value.nbytes == 1 else 1), np.uint8)
            register[: data.size] = data
    return register.view(np.float16)[0] if dtype == "half" else register.view(np.int8)[0]


def _pad_by_fields(calls, dtype):
    value = calls[-1][1]
    if value is None:
        return 0
    word = int.from_bytes(value.tobytes(), "little") * (0x101 if value.nbytes == 1 else 1)
    if dtype == "int8":
        return (word % 256 + 128) % 256 - 128
    sign, exponent, fraction = word >> 15 & 1, word >> 10 & 31, word & 1023
    return (-1) ** sign * (2.0 ** (exponent - 15) * (1 + fraction / 1024) if exponent else 2.0**-24 * fraction)


def _flags_by_hazards(steps):
    out, seen = [], {}
    for i, (_, tpipe, reads, writes) in enumerate(steps):
        for pipe in dict.fromkeys(p for p in steps[:i, 1] if p != tpipe):
            for j in range(i - 1, seen.get((pipe, tpipe), -1), -1):
                other = steps[j]
                if other[1] == pipe and (other[3] in reads.split() or writes in other[2].split()):
                    out.append((i, str(pipe), str(tpipe)))
                    seen[pipe, tpipe] = i - 1
                    break
    return out


def _flags_by_state(steps):
    """Keep who touched each array last, and what each pipe has seen of every other."""
    writer, reader, seen, out = {}, {}, {}, []
    for i, (_, pipe, reads, writes) in enumerate(steps):
        wanted = [writer[name] for name in reads.split() if name in writer]
        wanted += [reader[writes]] if writes in reader else []
        for other, number in sorted(wanted, reverse=True):
            if other != pipe and seen.get((other, pipe), -1) < number:
                out.append([i, other, pipe])
                seen[other, pipe] = i
        writer[writes] = (pipe, i)
        reader.update(dict.fromkeys(reads.split(), (pipe, i)))
    return out


def _address_by_divmod(row, column, m_extension, k_extension, itemsize):
    (high, low), (across, inside) = np.divmod(row, 16), np.divmod(column * itemsize, 32)
    return 512 * (across * -(-m_extension // 16) + high) + 32 * low + inside


def _address_by_building(row, column, m_extension, k_extension, itemsize):
    c0 = 32 // itemsize
    high, wide = -(-m_extension // 16) * 16, -(-k_extension // c0) * c0
    places = np.zeros((high, wide), int)
    places[:] = np.arange(high * wide).reshape(wide // c0, high, c0).transpose(1, 0, 2).reshape(high, wide)
    return [int(places[r, c]) * itemsize for r, c in zip(row, column, strict=True)]


def _strides_by_search(picture, m_extension):
    return int(np.flatnonzero(picture == 1)[0]), -(-m_extension // 16)


def _strides_by_counting(picture, m_extension):
    picture = picture.tolist()
    return [picture.index(1) - picture.index(0), picture.count(0)]


def _rows_by_loop(block, ho, h, kh, stride_h, dilation_h, pad_top):
    out = []
    for point in range(kh):
        row = ho * stride_h + point * dilation_h - pad_top
        if 0 <= row < h:
            out.append(block * h + row)
    return out


def _rows_by_padding(block, ho, h, kh, stride_h, dilation_h, pad_top):
    padded = np.pad(np.arange(h) + block * h, (pad_top, pad_top), constant_values=-1)
    rows = padded[ho * stride_h :][: (kh - 1) * dilation_h + 1 : dilation_h]
    return rows[rows != -1]


RIGHT = {
    "dst_strides": (_strides_by_search, _strides_by_counting),
    "flags": (_flags_by_hazards, _flags_by_state),
    "l0a_address": (_address_by_divmod, _address_by_building),
    "map_rows": (_rows_by_loop, _rows_by_padding),
    "pad_after": (_pad_by_views, _pad_by_fields),
    "pad_config": (_config_by_bytes, _config_by_factors),
}


def test_an_unknown_mistake_shows_the_element() -> None:
    """A wrong answer that nobody foresaw gets its first wrong element, and which element of the matrix it is."""

    def nearly(row, column, m_extension, k_extension, itemsize):
        return _address_by_divmod(row, column, m_extension, k_extension, itemsize) + np.array([0, 0, 2, 0, 0])

    result = CONV2D.l0a_address.check(nearly)
    assert not result
    assert not result.misconception
    assert "element [2]" in str(result)
    assert "comes from A[" in str(result)


def test_flags_that_the_core_refuses_or_does_not_need_are_told() -> None:
    """A flag too many, a pipe that waits for itself, a pipe that there is not, no such call: each a word."""
    flags = CONV2D.flags
    more = flags.check(lambda steps: [(1, "PIPE_M", "PIPE_MTE1"), *_flags_by_hazards(steps)])
    assert "counting the flags that are needed" in str(more)
    for flag, words in (
        ((1, "PIPE_M", "PIPE_M"), "PIPE_M"), ((1, "PIPE_X", "PIPE_M"), "PIPE_X"), ((99, "PIPE_M", "PIPE_FIX"), "99"),
        ((3, "PIPE_MTE2", "PIPE_M"), "share a memory"), ((1, "PIPE_M"), "triples"),
        (("1", "PIPE_M", "PIPE_FIX"), "number of a call"),
    ):  # fmt: skip
        result = flags.check(lambda steps, flag=flag: [flag])
        assert not result
        assert "the library refuses this" in str(result)
        assert words in str(result)


@pytest.mark.parametrize("seed", SEEDS)
def test_flags_may_stand_anywhere_between_writing_and_reading(seed: int) -> None:
    """Not only the latest place is right: a flag may be waited for as soon as what it is for has been issued."""

    def early(steps):
        # In the document's kernel all loads of a pipe are issued in a row.
        return [(max(j for j in range(i) if steps[j, 1] == pipe) + 1, pipe, tpipe)
                for i, pipe, tpipe in _flags_by_hazards(steps)]  # fmt: skip

    assert CONV2D.flags.check(early, seed=seed)
