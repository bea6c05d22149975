"""The machine under the C API: buffers, registers, pipes, and one way to carry a call out.

Every call goes through the same stations: arguments, addresses, who wrote what is read, whether that is finished,
whether what is overwritten is still needed.  All of it comes before the first byte changes, so that a refused call
leaves the machine as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.memory import Buffer, Pointer, gm_buffer
from ascendlab.capi.moves import Cover, Move
from ascendlab.capi.operations import MoveOperation, Operation, PokeOperation
from ascendlab.capi.registers import Register
from ascendlab.capi.snapshots import Snapshot
from ascendlab.capi.steps import Access, MemoryMap, Step, Timeline, Undo, memory_map, timeline
from ascendlab.capi.sync import Ordering, Pipe
from ascendlab.dtypes import DataType, as_dtype
from ascendlab.errors import (
    BufferOverflowError,
    MisalignedAddressError,
    ParameterError,
    SynchronizationError,
    UninitialisedReadError,
)
from ascendlab.fields import check_bool, check_int
from ascendlab.products import Product, as_product, require_product

__all__ = ["HISTORY_BYTES", "Machine", "c_api", "same_type"]

F = TypeVar("F", bound=Callable[..., Any])

HISTORY_BYTES = 256 * 1024**2
"""How much overwritten memory the log of a core keeps; the oldest steps are forgotten first."""

BUFFERS = ("L1", "L0A", "L0B", "L0C")


class Machine:
    """Memories, registers, pipes and log of one core, and the stations that every call passes.

    Parameters
    ----------
    product : Product
        Sets the sizes of the buffers.
    core_type : {"AIC", "AIV"}
        Matrix core or vector core.
    block : int
        Number of the block that runs here.
    record : bool
        Keep what steps overwrite, so that earlier states can be shown.
    """

    register_types: Mapping[str, type[Register]] = {}

    def __init__(self, product: object, core_type: object = "AIC", *, block: object = 0, record: object = True) -> None:
        self.product: Product = as_product(product)
        if core_type not in ("AIC", "AIV"):
            raise ParameterError("core_type", core_type, "'AIC' or 'AIV'")
        if "L1" not in self.product.buffers:
            raise ParameterError("product", self.product, "a product with a matrix unit: it has no L1, L0A, L0B, L0C")
        self.core_type = str(core_type)
        self.block = check_int("block", block, 0, 65533)
        self.record = check_bool("record", record)
        self.buffers = {name: Buffer.on_chip(name, self.product.buffers[name]) for name in BUFFERS}
        self.ordering = Ordering()
        self.steps: list[Step] = []
        self._gm: dict[int, Buffer] = {}
        self._words: dict[str, int] = {}
        # The last step of each pipe that moved or computed something.
        self._last_steps = [0] * len(Pipe)
        # Steps that read a buffer, and what, as far as the writing pipe cannot rely on their being finished.
        self.reading: dict[Buffer, list[tuple[int, Access]]] = {}
        # What each step overwrote; None for steps that have been forgotten.
        self.undone: list[Undo | None] = []
        self._kept = 0
        self._forgotten = 0

    # What the user looks at

    @property
    def registers(self) -> dict[str, Register]:
        """Copies of the registers that have been set, by name."""
        return self.decode_registers(self._words)

    def decode_registers(self, words: Mapping[str, int]) -> dict[str, Register]:
        """Return raw words as registers with named fields."""
        return {name: self.register_types[name](word) for name, word in words.items()}

    def buffer(self, name: object) -> Buffer:
        """Return an on-chip buffer by its name."""
        if isinstance(name, str) and name in self.buffers:
            return self.buffers[name]
        raise ParameterError("buffer", name, "one of " + ", ".join(self.buffers))

    def memory_map(self, buffer: str) -> MemoryMap:
        """Return what lies where in an on-chip buffer, who wrote it, and how full it is."""
        return memory_map(self.buffer(buffer))

    def at(self, step: object) -> Snapshot:
        """Return the state after a step; 0 is the beginning.

        Raises
        ------
        ParameterError
            For a step that there is not, or that the log has forgotten (`HISTORY_BYTES`).
        """
        number = check_int("step", step, 0, len(self.steps))
        if not self.record and number < len(self.steps):
            raise ParameterError("step", number, f"{len(self.steps)}: the core was made with record=False")
        if number < self._forgotten:
            raise ParameterError("step", number, f"at least {self._forgotten}: older states have been forgotten")
        return Snapshot(self, number)

    def timeline(self, duration: Callable[[Step], float] | None = None) -> Timeline:
        """Return when each step could run (see `ascendlab.capi.steps.timeline`)."""
        return timeline(self.steps, duration)

    # Memory

    def gm(self, array: object, name: str = "") -> Pointer:
        """Return a pointer to an array of the host, which is the kernel's global memory (``__gm__``)."""
        buffer = self._gm.get(id(array))
        if buffer is None:
            buffer = gm_buffer(array, name)
            for other in self._gm.values():
                if np.may_share_memory(other.data, buffer.data):
                    raise ParameterError(
                        name or "array", array, f"memory of its own: it overlaps {other.allocations[0].name}"
                    )
            self._gm[id(array)] = buffer
        home = buffer.allocations[0]
        return Pointer(buffer, home.dtype, 0, home)

    def share(self, buffers: Mapping[int, Buffer]) -> None:
        """Use global memories that other cores of the same launch use too."""
        self._gm.update(buffers)

    def poke(self, pointer: object, values: object) -> None:
        """Write into a memory from outside, for experiments; everything before is taken as finished.

        Parameters
        ----------
        pointer : Pointer
            Where to.
        values : array_like
            Converted to the pointer's type.
        """
        target = self.check_pointer("poke", "pointer", pointer, (*self.buffers, "GM"))
        array = _as_elements(values, target.dtype)
        data = array.reshape(-1).view(np.uint8)
        access = Access(target, Cover(1, 0, data.size))
        self.check_inside("poke", "pointer", access)
        self._check_writeable("poke", target)
        step = len(self.steps) + 1
        self.ordering.barrier(step, Pipe.ALL)
        undo = self._remember(access)
        access.put(target.buffer.data, data)
        access.sign(step)
        self.log("poke", Pipe.S, {"pointer": target}, writes=(access,), operation=PokeOperation(), undo=undo)

    # The stations of a call

    def log(
        self,
        call: str,
        pipe: Pipe,
        arguments: Mapping[str, Any],
        undo: Undo | None = None,
        reads: tuple[Access, ...] = (),
        writes: tuple[Access, ...] = (),
        **more: Any,
    ) -> Step:
        """Append a step to the log."""
        step = Step(len(self.steps) + 1, pipe, call, arguments, reads, writes, self._words, **more)
        self.steps.append(step)
        self.undone.append(undo)
        return step

    def set_register(self, call: str, name: str, register: Register, arguments: Mapping[str, Any]) -> None:
        """Write a register and log the call."""
        # A new dictionary each time: logged steps keep the one that they saw.
        self._words = {**self._words, name: register.config}
        self.log(call, Pipe.S, arguments)

    def set_fields(
        self, call: str, name: str, kind: type[Register], values: tuple[object, ...], config: object = None
    ) -> None:
        """Write a register from its fields in order, or from a raw word, and log the call."""
        layout = kind.layout()
        if config is not None:
            register = kind(config)
            register.check(call)
        elif len(values) != len(layout):
            raise ParameterError(f"arguments of {call}", len(values), ", ".join(bits.name for bits in layout))
        else:
            word = 0
            for bits, value in zip(layout, values, strict=True):
                word |= check_int(bits.name, value, bits.minimum, bits.maximum, table=call) << bits.low
            register = kind(word)
        self.set_register(call, name, register, register.values())

    def owns(self, buffer: Buffer) -> bool:
        """Whether a memory is one that this core works on, and not another core's."""
        known = self._gm.get(id(buffer.array)) if buffer.is_gm else self.buffers.get(buffer.name)
        return known is buffer

    def check_pointer(self, call: str, name: str, value: object, buffers: tuple[str, ...]) -> Pointer:
        """Return `value` if it is a pointer into one of `buffers` of this core."""
        if not isinstance(value, Pointer) or value.buffer.name not in buffers:
            raise ParameterError(name, value, f"a pointer into {' or '.join(buffers)}", table=call)
        if not self.owns(value.buffer):
            allowed = f"a pointer into {value.buffer.name} of this core, not of another one"
            raise ParameterError(name, value, allowed, table=call)
        return value

    def check_aligned(self, call: str, name: str, pointer: Pointer, alignment: int) -> None:
        """Raise `MisalignedAddressError` unless the address is a multiple of `alignment`."""
        if pointer.offset % alignment:
            down = pointer.offset // alignment * alignment
            raise MisalignedAddressError(
                call,
                f"{name} = {pointer!r} is not a multiple of {alignment} bytes, as addresses in "
                f"{pointer.buffer.name} must be here",
                f"The nearest such addresses are {down:#x} or {down + alignment:#x}",
            )

    def check_inside(self, call: str, name: str, access: Access) -> None:
        """Raise `BufferOverflowError` if a call would touch bytes outside of the pointer's array."""
        home = access.pointer.home
        if (access.start >= home.start and access.stop <= home.stop) or not access.cover.count:
            return
        start, stop = access.start - home.start, access.stop - home.start
        raise BufferOverflowError(
            f"{call}: {name} in {home.name} ({access.buffer})",
            stop if start >= 0 else home.size - start,
            home.size,
            hint=f"It would touch bytes [{start:,}, {stop:,}) of {home.name}, from {access.pointer!r} on; declare a "
            "larger array, or move less",
        )

    def check_readable(self, call: str, pipe: Pipe, access: Access, *, strict: bool = True) -> NDArray[np.int32]:
        """Check that what a call reads is written and finished; return who wrote it."""
        buffer = access.pointer.buffer
        if buffer.sharing is not None:
            # First of all: marks that other blocks have left would be taken for steps of this one.
            buffer.sharing.check(call, access, self.block, writing=False)
        marks: NDArray[np.int32] = access.of(buffer.writer)
        if strict and not (buffer.is_gm or access.is_whole) and marks.size and marks.min() <= 0:
            raise self._unwritten(call, access)
        if self.ordering.finished(pipe, buffer.written_by) < self._last_steps[buffer.written_by.number]:
            self._check_writers(call, pipe, access, marks, "reads")
        return marks

    def check_overwritable(self, call: str, pipe: Pipe, access: Access) -> None:
        """Check that what a call overwrites has been read, and is not being written."""
        buffer = access.pointer.buffer
        if buffer.is_gm:
            self._check_writeable(call, access.pointer)
        if buffer.sharing is not None:
            buffer.sharing.check(call, access, self.block, writing=True)
        if buffer.written_by is Pipe.MTE2 and self.ordering.finished(pipe, Pipe.MTE2) < self._last_steps[pipe.number]:
            # Copies from GM may overtake each other; the other pipes write in order.
            self._check_writers(call, pipe, access, access.of(buffer.writer), "overwrites")
        reading = self.reading.get(buffer)
        if reading:
            finished = self.ordering.finished(pipe, buffer.read_by)
            # Nobody but this pipe writes here, so what is finished for it is finished for good.
            self.reading[buffer] = reading = [entry for entry in reading if entry[0] > finished]
            for number, reader in reversed(reading):
                if access.meets(reader):
                    self._raise_unfinished(call, pipe, access, number, buffer.read_by, "overwrites", "read")

    def _check_writers(self, call: str, pipe: Pipe, access: Access, marks: NDArray[np.int32], verb: str) -> None:
        """Check that `pipe` may rely on the steps that have left these marks."""
        other = access.pointer.buffer.written_by
        latest = int(np.abs(marks).max(initial=0))
        if latest > self.ordering.finished(pipe, other):
            self._raise_unfinished(call, pipe, access, latest, other, verb, "written")

    def commit(
        self,
        call: str,
        pipe: Pipe,
        arguments: Mapping[str, Any],
        reads: tuple[Access, ...],
        write: Access,
        operation: Operation,
        carry_out: Callable[[int], None],
    ) -> None:
        """Carry a checked call out: remember, change, mark, log.

        Parameters
        ----------
        call, pipe, arguments, reads, write, operation
            For the log.
        carry_out : callable
            Changes data and writers of the destination; gets the step's number.
        """
        number = len(self.steps) + 1
        undo = self._remember(write)
        carry_out(number)
        for access in reads:
            buffer = access.pointer.buffer
            if pipe is buffer.read_by:
                self.reading.setdefault(buffer, []).append((number, access))
            if buffer.sharing is not None:
                buffer.sharing.mark(access, self.block, writing=False)
        if write.pointer.buffer.sharing is not None:
            write.pointer.buffer.sharing.mark(write, self.block, writing=True)
        self._last_steps[pipe.number] = number
        self.log(call, pipe, arguments, undo, reads, (write,), operation=operation)

    def move(
        self,
        call: str,
        pipe: Pipe,
        arguments: Mapping[str, Any],
        dst: Pointer,
        src: Pointer,
        plan: Move,
        *,
        fill: Any = None,
        strict: bool,
        convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    ) -> None:
        """Carry out a planned movement.

        Parameters
        ----------
        fill : numpy scalar
            What the plan's ``fill`` gets.
        strict : bool
            Whether bytes that nobody wrote are refused, or carried on as such.
        convert : callable, optional
            Maps the moved units, as rows of bytes, to the destination's.
        """
        read, write = Access(src, plan.reads), Access(dst, plan.writes)
        self.check_inside(call, "dst", write)
        self.check_inside(call, "src", read)
        if plan.overlaps:
            raise self.overlap(call, dst)
        marks = self.check_readable(call, pipe, read, strict=strict)
        self.check_overwritable(call, pipe, write)

        def carry_out(number: int) -> None:
            source, target = src.buffer, dst.buffer
            plan.run(source.data[read.start : read.stop], target.data[write.start : write.stop], fill, convert)
            complete = strict or source.is_gm or read.is_whole or bool(marks.min() > 0)
            write.sign(number, complete=complete)
            if not complete:
                written = plan.gather(source.writer[read.start : read.stop]) > 0
                carried = np.where(written, number, -number).astype(np.int32)
                plan.scatter(target.writer[write.start : write.stop], carried)

        self.commit(call, pipe, arguments, (read,), write, MoveOperation(plan, dst, src, fill), carry_out)

    def _remember(self, access: Access) -> Undo | None:
        """Keep what an access will overwrite; forget the oldest if there is too much."""
        if not self.record:
            return None
        undo = Undo.of(access)
        self._kept += undo.nbytes
        while self._kept > HISTORY_BYTES and self._forgotten < len(self.steps):
            forgotten = self.undone[self._forgotten]
            self._kept -= 0 if forgotten is None else forgotten.nbytes
            self.undone[self._forgotten] = None
            self._forgotten += 1
        return undo

    def _check_writeable(self, call: str, pointer: Pointer) -> None:
        if not pointer.buffer.data.flags.writeable:
            raise ParameterError("dst", pointer, "a writeable array", table=call)

    def _unwritten(self, call: str, access: Access) -> UninitialisedReadError:
        buffer, cover, pointer = access.pointer.buffer, access.cover, access.pointer
        marks = access.of(buffer.writer).reshape(-1)
        wrong = np.flatnonzero(marks <= 0)
        first = int(wrong[0])
        unit = cover.low + first // cover.unit if cover.units is None else int(cover.units[first // cover.unit])
        address = pointer.offset + unit * cover.unit + first % cover.unit
        return UninitialisedReadError(
            call,
            f"{wrong.size:,} of the {marks.size:,} bytes that it reads from {pointer.name} ({buffer.name}) have never "
            f"been written; the first is {self._place(pointer, address)}" + self.origin_of(int(marks[first])),
            f"Fill {pointer.name} before: {self._filler(buffer.name)}",
        )

    @staticmethod
    def overlap(call: str, dst: Pointer) -> ParameterError:
        """Return the error for strides that put two things in one place."""
        return ParameterError(
            "dst", dst, "strides with which no byte of the destination is written twice", table=call,
            hint="The order of such writes is not defined",
        )  # fmt: skip

    def origin_of(self, mark: int) -> str:
        """Say in words which step left a mark on unwritten data."""
        return f", where step {-mark} ({self.steps[-mark - 1].call}) moved unwritten bytes" if mark < 0 else ""

    @staticmethod
    def _filler(buffer: str) -> str:
        fillers = {
            "L1": "asc_copy_gm2l1_nd2nz, load_image_to_local",
            "L0A": "asc_copy_l12l0a, load_data",
            "L0B": "asc_copy_l12l0b_transpose, load_data",
            "L0C": "asc_mmad with c_matrix_init_val = True",
        }
        return fillers.get(buffer, "the host")

    @staticmethod
    def _place(pointer: Pointer, address: int) -> str:
        inside = address - pointer.home.start
        return f"byte {inside:,} of {pointer.name}, {pointer.buffer.name} {address:#07x}"

    def _raise_unfinished(
        self, call: str, pipe: Pipe, access: Access, latest: int, other: Pipe, verb: str, done: str
    ) -> None:
        step = self.steps[latest - 1]
        if other is pipe:
            fix = f"Call asc_sync_pipe({pipe}) between the two"
        else:
            fix = (
                f"Call asc_sync_notify({other}, {pipe}, EVENT_ID0) after step {latest} and "
                f"asc_sync_wait({other}, {pipe}, EVENT_ID0) before {call}"
            )
        ranges = access.ranges()
        raise SynchronizationError(
            call,
            f"step {len(self.steps) + 1} on {pipe} {verb} {access.name} ({access.buffer} bytes "
            f"[{int(ranges[0, 0]):#x}, {int(ranges[-1, 1]):#x})), which is being {done} by step {latest} "
            f"({step.call}) on {other}, and nothing makes {pipe} wait for it",
            fix,
        )


def _as_elements(values: object, kind: DataType) -> NDArray[Any]:
    """Return anything that makes an array of numbers in a given type; packed bytes for 4-bit types."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufV" and array.dtype.names is None:
            with np.errstate(all="ignore"):
                return np.ascontiguousarray(array.astype(kind.numpy if kind.bits >= 8 else np.uint8))
    except Exception:  # NumPy raises many kinds here; all mean "these are no such values"
        pass
    raise ParameterError("values", values, f"numbers that make a {kind} array")


def c_api(method: F) -> F:
    """Make a call of the C API's matrix side: Atlas 350 only, and on a vector core it returns at once."""

    @functools.wraps(method)
    def call(self: Machine, *arguments: Any, **named: Any) -> None:
        if self.product is not Product.ATLAS_350:
            require_product(method.__name__, self.product, (Product.ATLAS_350,))
        if self.core_type == "AIV":
            self.log(method.__name__, Pipe.S, {}, outcome="returned at once")
            return
        method(self, *arguments, **named)

    return cast(F, call)


def same_type(call: str, dst: Pointer, src: Pointer, allowed: tuple[str, ...]) -> DataType:
    """Return the common type of two pointers, which the call must know."""
    kind = src.dtype
    if kind.name not in allowed:
        as_dtype(kind, allowed, parameter=f"type of src of {call}")
    if dst.dtype is not kind:
        raise ParameterError(f"type of dst of {call}", dst.dtype.name, f"{kind}, the type of src")
    return kind
