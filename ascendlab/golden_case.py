"""A case: one call with its operands and its golden result, as files that an operator sample's tools understand.

::

    folder/
        case.json                 what the call is, and what lies in the files
        input/src.bin             the operands, one file each
        output/golden.bin         the result; of a kernel golden_NAME.bin for each array, if there are several
        scripts/gen_data.py       makes the files anew
        scripts/verify_result.py  compares a device's output.bin with golden.bin
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ascendlab.dtypes import DataType
from ascendlab.errors import FileProblemError, ParameterError
from ascendlab.files import below
from ascendlab.golden_bin import read_bin, stored_bytes
from ascendlab.products import Product
from ascendlab.provenance import Call

__all__ = ["KERNEL", "KERNEL_NAME", "LONGEST_WORD", "SCHEMA", "GoldenCase", "GoldenFile", "check_layout", "read_file"]

SCHEMA = "ascendlab-golden-1"
"""What a description begins with: the form that this version writes and reads."""

KERNEL = "kernel"
KERNEL_NAME = re.compile(rf"{KERNEL}( [\w.<>]{{1,200}})?")
LONGEST_WORD = 32


@dataclass(frozen=True)
class GoldenFile:
    """One ``.bin`` file of a case.

    Parameters
    ----------
    file : str
        Its name below the case's folder.
    dtype : DataType
        Element type.
    shape : tuple of int
        Shape of the array.
    layout : str
        The order of its elements: ND, HWC, NC1HWC0, ZZ, NZ, ZN ...
    bytes : int
        Its size.
    sha256 : str
        Its checksum.
    drawn : bool
        Whether `ascendlab.golden.random_array` gives it for the case's seed and the operand's name.
    """

    file: str
    dtype: DataType
    shape: tuple[int, ...]
    layout: str
    bytes: int
    sha256: str
    drawn: bool = False

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


@dataclass(frozen=True, eq=False)
class GoldenCase:
    """A case on disk; made by `write_golden` and `read_golden`.

    Parameters
    ----------
    folder : pathlib.Path
        Where it is.
    name : str
        Its name, and that of its description.
    function : str
        The emulated function, or ``"kernel MODULE.NAME"``.
    call : Call or None
        The call, with its operands; None for a kernel, which no file can hold.
    product : Product or None
        Where the call would run.
    profile : str or None
        Whose arithmetic, for AIPP.
    seed : int or None
        The seed that was given.
    version : str
        The version of ascendlab that made the golden result.
    inputs, outputs : mapping of str to GoldenFile
        The files by the names of the arrays.
    """

    folder: Path
    name: str
    function: str
    call: Call | None
    product: Product | None
    profile: str | None
    seed: int | None
    version: str
    inputs: Mapping[str, GoldenFile]
    outputs: Mapping[str, GoldenFile]

    @property
    def sidecar(self) -> Path:
        """The description, ``NAME.json``."""
        return self.folder / f"{self.name}.json"

    @property
    def golden(self) -> NDArray[Any]:
        """The golden result, read from its file; of a case with several: see `read`."""
        return self.read(self.only_output())

    def only_output(self) -> str:
        """Return the name of the golden array, if there is one only."""
        if len(self.outputs) != 1:
            raise ParameterError("output", "", "one of " + ", ".join(self.outputs))
        return next(iter(self.outputs))

    def read(self, name: str) -> NDArray[Any]:
        """Return an array of the case, by its name, from its file.

        Raises
        ------
        ParameterError
            For another name.
        FileProblemError
            If the file is not the one that was written.
        """
        return read_file(self.folder, self.file(name))

    def file(self, name: str) -> GoldenFile:
        """Return what is known of an array's file, by the array's name."""
        files = {**self.inputs, **self.outputs}
        if not isinstance(name, str) or name not in files:
            raise ParameterError("name", name, "one of " + ", ".join(files))
        return files[name]

    def __str__(self) -> str:
        where = "" if self.product is None else f" on {self.product}"
        profile = "" if self.profile in (None, "documented") else f", profile {self.profile}"
        seed = "" if self.seed is None else f", seed {self.seed}"
        names = [", ".join(f"{name} {file}" for name, file in files.items()) for files in (self.inputs, self.outputs)]
        return f"{self.name}: {self.function}{where}{profile}{seed}, {names[0]} -> {names[1]}"


def read_file(folder: Path, file: GoldenFile) -> NDArray[Any]:
    """Return the array in a case's file, which must be the one that was written."""
    path = below(folder, file.file)
    array = read_bin(path, file.dtype, file.shape)
    if hashlib.sha256(stored_bytes(array)).hexdigest() != file.sha256:
        fix = "Write the case anew, or give the file that was written"
        raise FileProblemError(path, "is not the file that was written: its checksum is another one", fix)
    return array


def check_layout(order: object) -> str:
    """Return the name of an order of elements, which may be any short word."""
    if (
        isinstance(order, str)
        and 0 < len(order) <= LONGEST_WORD
        and order.isascii()
        and order.replace("_", "").isalnum()
    ):
        return order
    raise ParameterError("layout", order, f"a name of at most {LONGEST_WORD} letters and digits, such as NC1HWC0")
