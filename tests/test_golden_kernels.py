"""Golden data of kernels: what of a launch is an input, what an output, and what was there before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from golden_cases import bits, launched

import ascendlab as al
from ascendlab.capi.memory import gm_buffer
from ascendlab.capi.steps import Undo
from ascendlab.golden import read_golden, write_golden


def accumulate(core: Any, data: Any, total: Any) -> None:
    """Write a part of an array."""
    core.asc_init()
    core.poke(total, np.array([5, 6], np.float16))


def test_a_kernel_s_arrays(tmp_path: Path) -> None:
    """A launch is written as what it was given and what it made, and its description names the kernel."""
    run = launched()
    case = write_golden(tmp_path, run)
    assert case.function == "kernel ascendlab.capi.conv2d_example.conv2d_forward_capi"
    assert (set(case.inputs), set(case.outputs)) == ({"fmap", "weight"}, {"golden"})
    assert bits(case.golden) == bits(run.gm["output"].array)
    again = read_golden(tmp_path)
    assert again.call is None
    assert bits(again.read("fmap")) == bits(run.gm["fmap"].array)
    assert again.product is al.Product.ATLAS_350


def test_what_a_kernel_overwrites_in_part_is_an_input(tmp_path: Path) -> None:
    """Elements that the kernel leaves alone belong to the result, so what was there before is written, too."""
    total = np.arange(4, dtype=np.float16)
    run = al.launch(accumulate, 1, np.zeros(4, np.float16), total)
    assert total.tolist() == [5, 6, 2, 3]
    case = write_golden(tmp_path / "a", run)
    assert case.read("total").tolist() == [0, 1, 2, 3]
    assert case.golden.tolist() == [5, 6, 2, 3]
    with pytest.raises(al.ParameterError, match="record=True"):
        write_golden(tmp_path / "b", al.launch(accumulate, 1, np.zeros(4, np.float16), total, record=False))


def test_what_a_kernel_reads_and_overwrites_is_an_input(tmp_path: Path) -> None:
    """An array that is read before all of it is overwritten is input and output, each as it was at its time."""

    def update(core: Any, total: Any) -> None:
        core.asc_init()
        core.asc_set_gm2l1_nz_para(1, 1, 16, 0)
        core.asc_copy_gm2l1_nd2nz(core.cbuf("half", 256, name="copy"), total, 32, 0, 16, 16, 0, False)
        core.poke(total, np.full(256, 7, np.float16))

    case = write_golden(tmp_path, al.launch(update, 1, np.arange(256, dtype=np.float16).reshape(16, 16)))
    assert (list(case.inputs), list(case.outputs)) == (["total"], ["golden"])
    assert case.read("total").reshape(-1).tolist() == list(range(256))
    assert (case.golden == 7).all()


def test_blocks_are_taken_back_from_the_last_on() -> None:
    """What was there before a launch is found again where blocks have written between each other's elements."""
    array = np.array([10, 20, 30, 40], np.uint8)
    buffer = gm_buffer(array, "array")
    cores = []
    for block in (0, 1):  # each writes every second byte; what it overwrote is kept from its first to its last byte
        undo = Undo(buffer, block, block + 3, array[block : block + 3].copy(), None)
        array[block::2] += 1
        cores.append(SimpleNamespace(steps=[SimpleNamespace(writes=())], undone=[undo]))
    run: Any = al.capi.Launch(tuple(cores), {"array": buffer}, ())  # type: ignore[arg-type]
    assert array.tolist() == [11, 21, 31, 41]
    assert run.before("array").tolist() == [10, 20, 30, 40]
    with pytest.raises(al.ParameterError, match="allowed: one of array"):
        run.before("other")


def test_several_outputs_of_a_kernel(tmp_path: Path) -> None:
    """Each array that a kernel writes has a golden file of its own name."""

    def kernel(core: Any, low: Any, high: Any) -> None:
        core.asc_init()
        core.poke(low, np.array([1, 2], np.float16))
        core.poke(high, np.array([3, 4], np.float16))

    case = write_golden(tmp_path, al.launch(kernel, 1, np.zeros(2, np.float16), np.zeros(2, np.float16)))
    assert {name: case.read(name).tolist() for name in case.outputs} == {"golden_low": [1, 2], "golden_high": [3, 4]}
    assert (tmp_path / "output/golden_high.bin").stat().st_size == 4
    with pytest.raises(al.ParameterError, match="golden_low, golden_high"):
        _ = case.golden
    with pytest.raises(al.ParameterError, match="kernel"):
        write_golden(tmp_path / "b", al.launch(kernel, 1, np.zeros(2, np.float16), np.zeros(2, np.float16)),
                     scripts=True)  # fmt: skip
