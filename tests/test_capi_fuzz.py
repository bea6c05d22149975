"""Random kernels: whatever they call, the machine explains or obeys, and never touches what is not its business."""

from __future__ import annotations

from collections import Counter
from typing import Any

import capi_cases
import ml_dtypes
import numpy as np
import pytest
from junk import MAKERS

import ascendlab as al
from ascendlab import capi
from ascendlab.load3d import IsResetLoad3dConfig, LoadData3DParamsV2, LoadDataRepeatParam

KERNELS, CALLS_PER_KERNEL = 25, 60
KINDS = ("half", "half", "half", "int8", "float", "bfloat16", "int16", "uint8")
PIPES = (capi.PIPE_MTE2, capi.PIPE_MTE1, capi.PIPE_M, capi.PIPE_FIX)


class Fuzzer:
    """Makes up calls, most of them nearly right, and checks the machine after each."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.core = capi.AICore(al.Product.ATLAS_350)
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.kind = str(self.rng.choice(KINDS))
        numpy = capi_cases.TYPES[self.kind]
        self.arrays = [capi_cases.numbers(self.rng, 3000, numpy) for _ in range(2)]
        self.results = [np.zeros(2000, dtype) for dtype in (np.float32, np.float16, ml_dtypes.bfloat16, np.int32)]
        self.sources = [self.core.gm(a, f"gm{i}") for i, a in enumerate(self.arrays)]
        self.out = [self.core.gm(a, f"out{i}") for i, a in enumerate(self.results)]
        self.l1 = [self.core.cbuf(self.kind, n, name=f"l1_{n}") for n in (2048, 512, 700)]
        self.l0a = [self.core.ca(self.kind, n, name=f"l0a_{n}") for n in (2048, 512)]
        self.l0b = [self.core.cb(self.kind, n, name=f"l0b_{n}") for n in (2048, 512)]
        accumulator = "int32" if self.kind == "int8" else "float"
        self.l0c = [self.core.cc(accumulator, n, name=f"l0c_{n}") for n in (2048, 256)]
        # Most of it is filled, so that most calls find what they read.
        for pointer in (*self.l1, *self.l0a, *self.l0b, self.l0c[0]):
            if self.rng.random() < 0.75:
                self.core.poke(pointer, capi_cases.numbers(self.rng, pointer.size, pointer.dtype.numpy))
        self.core.asc_init()

    def pick(self, pointers: list[Any]) -> Any:
        """Choose a pointer, mostly at an aligned place of its array."""
        pointer = pointers[int(self.rng.integers(len(pointers)))]
        roll = self.rng.random()
        if roll < 0.7:
            return pointer
        if roll < 0.9:
            return pointer + 512 * int(self.rng.integers(-1, 4))
        return pointer + int(self.rng.integers(-40, 3000))

    def small(self, high: int = 5) -> int:
        """Draw a small number, now and then a strange one."""
        if self.rng.random() < 0.97:
            return int(self.rng.integers(1, high))
        return int(self.rng.choice([0, -1, 255, 256, 4095, 4096, 65535, 65536, 2**40]))

    def flag(self) -> bool:
        """Draw a rarely set flag."""
        return bool(self.rng.random() < 0.06)

    def call(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        """Make up a call."""
        name = str(self.rng.choice([
            "asc_init", "asc_set_l12l0a_3d_padding", "asc_set_gm2l1_padding", "set_load_data_padding_value",
            "asc_set_gm2l1_nz_para", "asc_copy_gm2l1_nd2nz", "asc_copy_gm2l1_nd2nz", "asc_sync_notify", "asc_sync_wait",
            "asc_sync_pipe", "asc_sync_pipe", "asc_sync_pipe", "asc_set_l13d_fmatrix", "set_fmatrix",
            "asc_set_l13d_rpt",
            "asc_copy_l12l0a", "asc_copy_l12l0a", "asc_copy_l12l0a_3d", "asc_copy_l12l0b_3d", "asc_copy_l12l0b",
            "asc_copy_l12l0b_transpose", "asc_copy_l12l0a_transpose", "load_data", "asc_mmad", "asc_mmad",
            "asc_set_l0c_copy_nz_para", "asc_copy_l0c2gm", "asc_copy_l0c2gm", "poke", "load_image_to_local",
        ]))  # fmt: skip
        arguments = getattr(self, name.replace("asc_", "").replace("_3d_padding", "_padding"), None)
        made = arguments() if arguments is not None else ()
        name = {"asc_copy_l12l0a_3d": "asc_copy_l12l0a", "asc_copy_l12l0b_3d": "asc_copy_l12l0b"}.get(name, name)
        args, more = made if isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], dict) else (made, {})
        if args and self.rng.random() < 0.1:
            args = list(args)
            args[int(self.rng.integers(len(args)))] = list(MAKERS.values())[int(self.rng.integers(len(MAKERS)))]()
        return name, tuple(args), more

    def set_l12l0a_padding(self) -> Any:
        """Set the padding, typed or raw."""
        if self.rng.random() < 0.3:
            return (), {"config": int(self.rng.integers(0, 1 << 33))}
        return (capi_cases.TYPES[self.kind](3),)

    set_gm2l1_padding = set_l12l0a_padding

    def set_load_data_padding_value(self) -> Any:
        """Set the padding once more."""
        return (capi_cases.TYPES[self.kind](2),)

    def set_gm2l1_nz_para(self) -> Any:
        """Set ND2NZ's strides."""
        return (self.small(3), self.small(2), self.small(40), self.small(80))

    def copy_gm2l1_nd2nz(self) -> Any:
        """Copy from GM."""
        size = self.sources[0].dtype.bits // 8
        rows, columns = self.small(24), self.small(40)
        return (self.pick(self.l1), self.pick(self.sources), columns * size + self.small(3) - 1, 0, rows, columns,
                self.small(200), self.flag())  # fmt: skip

    def flags(self) -> Any:
        """Notify or wait."""
        pair = self.rng.choice(len(PIPES), 2, replace=bool(self.rng.random() < 0.05))
        return (PIPES[pair[0]], PIPES[pair[1]], int(self.rng.integers(0, 2)))

    sync_notify = flags

    def sync_wait(self) -> Any:
        """Wait, mostly for a flag that is set."""
        there = list(self.core.ordering.flags)
        return there[0] if there and self.rng.random() < 0.7 else self.flags()

    def sync_pipe(self) -> Any:
        """Put up a barrier."""
        return (capi.PIPE_ALL if self.rng.random() < 0.7 else PIPES[int(self.rng.integers(4))],)

    def set_l13d_fmatrix(self) -> Any:
        """Describe a small map."""
        low = [int(self.rng.integers(0, 3)) for _ in range(4)]
        names = ("padding_left_size", "padding_right_size", "padding_top_size", "padding_bottom_size")
        sizes = {"l1_height": int(self.rng.integers(0, 6)), "l1_width": int(self.rng.integers(1, 6))}
        return (capi.asc_l13d_fmatrix_config(**sizes, **dict(zip(names, low, strict=True))),)

    def set_fmatrix(self) -> Any:
        """Describe a small map, the C++ way."""
        return (self.small(6), self.small(6), tuple(int(self.rng.integers(0, 3)) for _ in range(4)))

    def set_l13d_rpt(self) -> Any:
        """Set the repeats."""
        return (capi.asc_load3d_v2_config(
            dst_stride=int(self.rng.integers(0, 5)), rpt_time=int(self.rng.integers(0, 3)),
            rpt_stride=int(self.rng.integers(0, 2)), rpt_mode=int(self.rng.integers(0, 2)),
            dst_start_pos_m=int(self.rng.integers(0, 2))),)  # fmt: skip

    def two_d(self, to: list[Any]) -> Any:
        """Load fractals."""
        steps = (self.small(3), self.small(3))
        return (self.pick(to), self.pick(self.l1), self.small(3) - 1, self.small(3) - 1, *steps,
                int(self.rng.choice([-1, 1])) * self.small(4), self.small(6))  # fmt: skip

    def copy_l12l0a(self) -> Any:
        """Load fractals into L0A."""
        return self.two_d(self.l0a)

    def copy_l12l0b(self) -> Any:
        """Load fractals into L0B."""
        return self.two_d(self.l0b)

    def copy_l12l0b_transpose(self) -> Any:
        """Load fractals into L0B, transposed."""
        return self.two_d(self.l0b)

    def copy_l12l0a_transpose(self) -> Any:
        """Load fractals into L0A, transposed."""
        return self.two_d(self.l0a)

    def three_d(self, to: list[Any]) -> Any:
        """Load a part of the im2col matrix."""
        c0 = self.l1[0].dtype.c0
        channels = c0 * self.small(3)
        rows = 16 * self.small(3) if self.flag() else self.small(40)
        window = [self.small(3) for _ in range(4)]
        return (self.pick(to), self.pick(self.l1), channels * self.small(2), rows, 0, 0, *window, 1, 1, False, False,
                self.flag(), False, channels)  # fmt: skip

    def copy_l12l0a_3d(self) -> Any:
        """Load im2col into L0A."""
        return self.three_d(self.l0a)

    def copy_l12l0b_3d(self) -> Any:
        """Load im2col into L0B."""
        return self.three_d(self.l0b)

    def load_data(self) -> Any:
        """Load im2col with its own structure."""
        c0 = self.l1[0].dtype.c0
        fields = {"l1_h": int(self.rng.integers(1, 6)), "l1_w": int(self.rng.integers(1, 6)), "channel_size": c0,
                  "k_extension": c0, "m_extension": int(self.rng.integers(1, 36)), "pad_list": (0, 1, 1, 0),
                  "pad_value": int(self.rng.integers(0, 3))}  # fmt: skip
        config = IsResetLoad3dConfig(
            is_set_f_matrix=bool(self.rng.integers(0, 2)), is_set_padding=bool(self.rng.integers(0, 2))
        )
        to = self.pick(self.l0a if self.rng.random() < 0.5 else self.l0b)
        return (to, self.pick(self.l1), LoadData3DParamsV2(**fields)), {
            "config": config, "repeat": LoadDataRepeatParam(repeat_time=int(self.rng.integers(0, 3)))}  # fmt: skip

    def mmad(self) -> Any:
        """Multiply."""
        c0 = self.l1[0].dtype.c0
        k = c0 * self.small(3) if self.rng.random() < 0.8 else self.small(50)
        return (self.pick(self.l0c), self.pick(self.l0a), self.pick(self.l0b), self.small(20), k, self.small(20), 0,
                bool(self.rng.integers(0, 2)), False, bool(self.rng.random() < 0.8))  # fmt: skip

    def set_l0c_copy_nz_para(self) -> Any:
        """Set NZ2ND's walk."""
        return (self.small(2), self.small(20), self.small(300))

    def copy_l0c2gm(self) -> Any:
        """Copy a result out."""
        n = 16 if self.rng.random() < 0.5 else self.small(20)
        number = int(self.rng.integers(len(self.out)))
        more = {"quant_pre_mode": (0, 1, 16, 0)[number], "enable_nz2nd": not self.flag()}
        stride = n + self.small(3) - 1
        return (self.pick([self.out[number]]), self.pick(self.l0c), n, self.small(20), stride, 16 * self.small(3)), more

    def poke(self) -> Any:
        """Fill something from outside."""
        count = int(self.rng.integers(1, 2200))
        return (self.pick([*self.l1, *self.l0a, *self.l0b, *self.l0c]), np.ones(count))

    def load_image_to_local(self) -> Any:
        """Load a picture."""
        setup = al.set_aipp_functions(
            np.arange(48, dtype=np.uint8).reshape(6, 8),
            input_format=al.AippInputFormat.YUV400_U8,
            config=al.AippParams(),
            dtype=str(self.rng.choice(["half", "int8", "uint8"])),
            product=al.Product.ATLAS_350,
        )
        rows = int(self.rng.integers(2, 5))
        return (self.pick(self.l1), setup, al.LoadImageToLocalParams(horiz_size=4, vert_size=rows, src_horiz_size=8))

    def memories(self) -> dict[int, Any]:
        """Return all memories by identity."""
        found = {id(b): b for b in self.core.buffers.values()}
        return found | {id(p.buffer): p.buffer for p in (*self.sources, *self.out)}

    def state(self) -> dict[int, tuple[Any, ...]]:
        """Copy the declared part of every memory; what lies behind is looked at once, at the end."""
        found = {}
        for key, buffer in self.memories().items():
            used = slice(0, buffer.used)
            found[key] = (
                buffer.data[used].copy(),
                buffer.writer[used].copy(),
                tuple(n for n, _ in self.core.reading.get(buffer, ())),
            )
        return found

    def step(self) -> None:
        """Make one call, and check what it did."""
        name, args, more = self.call()
        before = self.state()
        words, steps, flags = self.core._words, len(self.core.steps), dict(self.core.ordering.flags)
        try:
            getattr(self.core, name)(*args, **more)
        except al.AscendlabError as error:
            text = str(error)
            assert 20 < len(text) < 2000, (name, text)
            self.outcomes[name, type(error).__name__] += 1
            assert (self.core._words, len(self.core.steps), self.core.ordering.flags) == (words, steps, flags), (
                name,
                text,
            )
            allowed: dict[int, np.ndarray] = {}
        else:
            assert len(self.core.steps) == steps + 1
            step = self.core.steps[-1]
            self.outcomes[name, step.outcome] += 1
            allowed = {}
            for access in step.writes:
                mask = np.zeros(access.pointer.buffer.used, bool)
                for start, stop in access.ranges():
                    assert access.pointer.home.start <= start < stop <= access.pointer.home.stop
                    mask[start:stop] = True
                allowed[id(access.pointer.buffer)] = mask
        for key, buffer in self.memories().items():
            data, writer, reading = before[key]
            same = ~allowed.get(key, np.zeros(buffer.used, bool))
            assert np.array_equal(buffer.data[: buffer.used][same], data[same]), name
            assert np.array_equal(buffer.writer[: buffer.used][same], writer[same]), name
            if not buffer.is_gm:
                assert (buffer.writer[slice(*buffer.whole)] > 0).all(), name
                assert not buffer.writer[buffer.blank :].any(), name
            if steps == len(self.core.steps):
                # What is finished may have been dropped, nothing added.
                assert {n for n, _ in self.core.reading.get(buffer, ())} <= set(reading), name
        if name != "asc_copy_l0c2gm":
            assert all(np.array_equal(p.buffer.data, before[id(p.buffer)][0]) for p in self.out)


@pytest.fixture(scope="module")
def fuzzed() -> Counter[tuple[str, str]]:
    """Run the random kernels once; return how often each call ended how."""
    total: Counter[tuple[str, str]] = Counter()
    for seed in range(KERNELS):
        fuzzer = Fuzzer(seed)
        for _ in range(CALLS_PER_KERNEL):
            fuzzer.step()
        total += fuzzer.outcomes
        # Any state of the past can be shown, and the last one is the present.
        core = fuzzer.core
        for buffer in core.buffers.values():
            assert not buffer.data[buffer.used :].any()
            assert not buffer.writer[buffer.used :].any()
        for number in (0, len(core.steps) // 2, len(core.steps)):
            snapshot = core.at(number)
            for buffer in core.buffers.values():
                assert snapshot.memory_map(buffer.name).size == buffer.size
                assert np.abs(snapshot.writer(buffer)).max() <= number
                if number == len(core.steps):
                    assert np.array_equal(snapshot.data(buffer), buffer.data)
                if number == 0:
                    assert not snapshot.data(buffer).any()
        core.timeline()
    return total


@pytest.mark.rule("capi-overrun")
def test_random_kernels_do_no_harm(fuzzed):
    """Over a thousand random calls: each one is carried out within its own array, or refused without a trace."""
    assert sum(fuzzed.values()) == KERNELS * CALLS_PER_KERNEL


@pytest.mark.parametrize("name", [
    "asc_copy_gm2l1_nd2nz", "asc_copy_l12l0a", "asc_copy_l12l0b", "asc_copy_l12l0a_transpose",
    "asc_copy_l12l0b_transpose",
    "load_data", "asc_mmad", "asc_copy_l0c2gm", "load_image_to_local", "asc_sync_wait", "asc_sync_notify", "poke",
])  # fmt: skip
def test_the_random_kernels_reach_every_call(fuzzed, name):
    """Each call was carried out several times, and refused several times: the test above is not empty."""
    done = sum(
        count for (call, outcome), count in fuzzed.items() if call == name and outcome in ("done", "no operation")
    )
    refused = sum(count for (call, outcome), count in fuzzed.items() if call == name and outcome.endswith("Error"))
    assert done >= 3, fuzzed
    assert refused >= 3, fuzzed


def test_the_random_kernels_meet_every_kind_of_error(fuzzed):
    """Unwritten, unordered, misaligned, outside and wrong: every kind of refusal occurred."""
    kinds = {outcome for _, outcome in fuzzed if outcome.endswith("Error")}
    assert {"UninitialisedReadError", "SynchronizationError", "MisalignedAddressError", "BufferOverflowError",
            "ParameterError", "KernelError"} <= kinds  # fmt: skip


def refusal(call: Any) -> str:
    """Make a call; return what it was refused with, by the library or, if their number is wrong, by Python."""
    try:
        call()
    except al.AscendlabError as error:
        return str(error)
    except TypeError as error:
        if "positional argument" not in str(error):
            raise
    return ""


@pytest.mark.parametrize("call", [
    "asc_set_l12l0a_3d_padding", "asc_set_gm2l1_padding", "asc_set_l13d_fmatrix", "asc_set_l13d_rpt",
    "asc_set_gm2l1_nz_para", "asc_set_l0c_copy_nz_para", "asc_copy_gm2l1_nd2nz", "asc_copy_l12l0a", "asc_copy_l12l0b",
    "asc_copy_l12l0b_transpose",
    "asc_mmad", "asc_copy_l0c2gm", "asc_sync_notify", "asc_sync_wait", "asc_sync_pipe", "set_fmatrix", "load_data",
    "set_load_data_padding_value", "load_image_to_local", "poke", "gm", "cbuf", "ca", "cb", "cc", "at", "memory_map",
])  # fmt: skip
def test_odd_values_in_every_call(call):
    """Any odd value in any place of any call is accepted or refused with one of the library's errors."""
    fuzzer = Fuzzer(1)
    maker = getattr(fuzzer, call.replace("asc_", "").replace("_3d_padding", "_padding"), None)
    made = maker() if maker is not None else (1, 1)
    good = list(made[0] if len(made) == 2 and isinstance(made[1], dict) else made)
    for position in range(len(good) + 1):
        for label, make in MAKERS.items():
            args = list(good)
            args[position : position + 1] = [make()]
            message = refusal(lambda args=args: getattr(fuzzer.core, call)(*args))
            assert len(message) < 2000, (call, label, message)
