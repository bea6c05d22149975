"""Follow result elements of a kernel back, step by step, to the arrays that the host gave it.

The log knows for every byte which step wrote it, and every step knows where it took that byte from; so the way back
needs no data, except for the factors' values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab import aipp
from ascendlab.capi import cube
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch
from ascendlab.capi.memory import Buffer
from ascendlab.capi.operations import AippOperation, MmadOperation, MoveOperation
from ascendlab.capi.steps import Step
from ascendlab.errors import ParameterError
from ascendlab.sources import Sources

__all__ = ["LaunchTracer", "Tracer"]

Index = NDArray[np.intp]
_ARRAYS = ("operand", "index", "weight", "factor", "factor_index")


@dataclass(frozen=True, eq=False)
class _Found:
    """What n values were made of: terms ``weight * operand[index] * factor[factor_index]``, and a constant.

    Arrays of shape (n, terms); operand -1 where a value has fewer terms, factor -1 for terms of one array only.
    """

    operand: NDArray[np.int8]
    index: NDArray[np.int64]
    weight: NDArray[np.float64]
    factor: NDArray[np.int8]
    factor_index: NDArray[np.int64]
    constant: NDArray[np.float64]

    @classmethod
    def empty(cls, count: int, terms: int) -> _Found:
        shape = (count, terms)
        return cls(
            np.full(shape, -1, np.int8), np.zeros(shape, np.int64), np.zeros(shape), np.full(shape, -1, np.int8),
            np.zeros(shape, np.int64), np.zeros(count),
        )  # fmt: skip

    @property
    def terms(self) -> int:
        return int(self.operand.shape[1])

    @classmethod
    def joined(cls, count: int, parts: Sequence[tuple[NDArray[np.bool_], _Found]]) -> _Found:
        """Return the answers for all of `count` values from those for some of them each."""
        if len(parts) == 1 and parts[0][0].all():
            return parts[0][1]
        whole = cls.empty(count, max((part.terms for _, part in parts), default=0))
        for where, part in parts:
            for name in _ARRAYS:
                getattr(whole, name)[where, : part.terms] = getattr(part, name)
            whole.constant[where] = part.constant
        return whole


class Tracer:
    """Answers where values came from, for one core.

    Parameters
    ----------
    core : AICore
        After its kernel.
    leaves : sequence of ndarray
        The host's arrays, which end the way back; the position is the operand's number.
    """

    def __init__(self, core: AICore, leaves: Sequence[NDArray[Any]]) -> None:
        self.core = core
        self._leaves = {id(array): number for number, array in enumerate(leaves)}

    def writers(self, buffer: Buffer, addresses: Index) -> NDArray[np.int64]:
        """Return for each byte the last step that wrote it; 0 for none."""
        return self._writers(buffer, addresses, len(self.core.steps))

    def values(self, buffer: Buffer, addresses: Index) -> _Found:
        """Return what the elements at these byte addresses of a global memory were made of."""
        assert buffer.array is not None
        return self._values(buffer, addresses, buffer.array.itemsize, len(self.core.steps))

    def _writers(self, buffer: Buffer, addresses: Index, last: int) -> NDArray[np.int64]:
        """Return for each byte the last step, up to `last`, that wrote it; 0 for none."""
        found = np.zeros(len(addresses), np.int64)
        for step in reversed(self.core.steps[:last]):
            for access in step.writes:
                if access.pointer.buffer is buffer:
                    open_ = found == 0
                    found[open_ & access.contains(addresses)] = step.number
            if found.all():
                break
        return found

    def _values(self, buffer: Buffer, addresses: Index, size: int, last: int) -> _Found:
        """Return what elements of `size` bytes at these addresses were made of, as of step `last`."""
        unique, inverse = np.unique(addresses, return_inverse=True)
        writers = self._writers(buffer, unique, last)
        parts = []
        for number in np.unique(writers):
            where = writers == number
            if number:
                part = self._through(self.core.steps[number - 1], unique[where], size)
            elif buffer.array is not None:
                part = self._leaf(buffer.array, unique[where] // size)
            else:
                part = _Found.empty(int(where.sum()), 0)
            parts.append((where, part))
        result = _Found.joined(len(unique), parts)
        return _Found(**{name: getattr(result, name)[inverse] for name in (*_ARRAYS, "constant")})

    def _leaf(self, array: NDArray[Any], flat: Index) -> _Found:
        number = self._leaves.get(id(array))
        if number is None:
            raise ParameterError("leaves", array, "all arrays that the kernel reads")
        found = _Found.empty(len(flat), 1)
        found.operand[:, 0], found.index[:, 0], found.weight[:, 0] = number, flat, 1
        return found

    def _through(self, step: Step, addresses: Index, size: int) -> _Found:
        """Return what a step made of its sources."""
        operation = step.operation
        if isinstance(operation, MoveOperation):
            return self._through_move(operation, step, addresses)
        if isinstance(operation, MmadOperation):
            return self._through_mmad(operation, step, addresses)
        if isinstance(operation, AippOperation):
            return self._through_aipp(operation, addresses, size)
        values = _Found.empty(len(addresses), 0)
        data = self.core.at(step.number).data(step.writes[0].pointer.buffer)
        kind = step.writes[0].pointer.dtype.numpy
        values.constant[:] = data[addresses[:, None] + np.arange(size)].reshape(-1).view(kind).astype(np.float64)
        return values

    def _through_move(self, operation: MoveOperation, step: Step, addresses: Index) -> _Found:
        plan, source = operation.plan, operation.src
        unit, rest = np.divmod(addresses - operation.dst.offset, plan.unit)
        origin = plan.source_of(unit)
        filled = origin == np.iinfo(np.intp).min
        parts = []
        moved = source.offset + origin[~filled] * plan.src_unit + (rest[~filled] if plan.unit == plan.src_unit else 0)
        if len(moved):
            parts.append((~filled, self._values(source.buffer, moved, source.dtype.bits // 8, step.number - 1)))
        if len(moved) < len(addresses):
            constant = _Found.empty(len(addresses) - len(moved), 0)
            if operation.fill is not None:
                constant.constant[:] = float(operation.fill)
            parts.append((filled, constant))
        return _Found.joined(len(addresses), parts)

    def _through_aipp(self, operation: AippOperation, addresses: Index, size: int) -> _Found:
        setup = operation.setup
        got = aipp.aipp_sources(operation.plan, setup, (addresses - operation.dst.offset) // size)
        pictures = [setup.src0] if setup.src1 is None else [setup.src0, setup.src1]
        numbers = np.array([self._leaves.get(id(picture), -1) for picture in pictures] + [-1], np.int8)
        if (numbers[:-1] < 0).any():
            raise ParameterError("leaves", setup.src0, "all arrays that the kernel reads, pictures included")
        found = _Found.empty(len(addresses), got.operand.shape[1])
        found.operand[:] = numbers[got.operand]
        found.index[:], found.weight[:] = got.index, got.weight
        found.constant[:] = np.nan_to_num(got.constant)
        return found

    def _through_mmad(self, operation: MmadOperation, step: Step, addresses: Index) -> _Found:
        m, k, n = operation.m, operation.k, operation.n
        element = (addresses - operation.c.offset) // 4
        rows = cube.c_shape(m, n)[1]
        column, rest = np.divmod(element, rows * 16)
        row, column = rest // 16, column * 16 + rest % 16
        before = step.number - 1
        size = operation.a.dtype.bits // 8
        parts: list[_Found] = []
        for pointer, count, which, plain in (
            (operation.a, m, row, operation.plain), (operation.b, n, column, False),
        ):  # fmt: skip
            places = cube.operand_places(count, k, size, plain)[which, :k] + pointer.offset
            parts.append(self._values(pointer.buffer, places.reshape(-1), size, before))
        found = _product(parts[0], parts[1], len(addresses), k)
        if operation.accumulates:
            held = self._values(operation.c.buffer, addresses, 4, before)
            joined = {n: np.concatenate([getattr(held, n), getattr(found, n)], axis=1) for n in _ARRAYS}
            found = _Found(**joined, constant=held.constant + found.constant)
        return found


def _product(left: _Found, right: _Found, count: int, k: int) -> _Found:
    """Multiply values pair by pair and add up k of them: terms for each pair of terms, and for term times constant."""
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in _ARRAYS}
    nothing = np.full(len(left.constant), -1, np.int8)
    none = np.zeros(len(left.constant), np.int64)
    for i in range(left.terms):
        for j in range(right.terms):
            both = (left.operand[:, i] >= 0) & (right.operand[:, j] >= 0)
            found["operand"].append(np.where(both, left.operand[:, i], nothing))
            found["index"].append(left.index[:, i])
            found["weight"].append(left.weight[:, i] * right.weight[:, j])
            found["factor"].append(np.where(both, right.operand[:, j], nothing))
            found["factor_index"].append(right.index[:, j])
    for one, other in ((left, right), (right, left)):
        for i in range(one.terms):
            # A constant on the other side: padding, or what filled up a block.
            alone = (one.operand[:, i] >= 0) & ~(other.operand >= 0).any(axis=1) & (other.constant != 0)
            if alone.any():
                found["operand"].append(np.where(alone, one.operand[:, i], nothing))
                found["index"].append(one.index[:, i])
                found["weight"].append(one.weight[:, i] * other.constant)
                found["factor"].append(nothing)
                found["factor_index"].append(none)
    kinds = dict(zip(_ARRAYS, (np.int8, np.int64, np.float64, np.int8, np.int64), strict=True))
    stacked = {
        name: (np.stack(parts, axis=-1) if parts else np.zeros((count * k, 0))).astype(kinds[name]).reshape(count, -1)
        for name, parts in found.items()
    }
    constant = (left.constant * right.constant).reshape(count, k).sum(axis=1)
    return _Found(**stacked, constant=constant)


class LaunchTracer:
    """Answers where the elements of a launch's global memories came from.

    Parameters
    ----------
    launched : Launch
        With recorded cores.

    Attributes
    ----------
    leaves : dict of str to ndarray
        The arrays that end the way back: the kernel's global memories, and the pictures that it loaded.
    """

    def __init__(self, launched: Launch) -> None:
        self._launched = launched
        self.leaves = {name: buffer.array for name, buffer in launched.gm.items() if buffer.array is not None}
        known = {id(array) for array in self.leaves.values()}
        for core in launched.cores:
            for step in core.steps:
                if isinstance(step.operation, AippOperation):
                    setup = step.operation.setup
                    for name, picture in (("src0", setup.src0), ("src1", setup.src1)):
                        if picture is not None and id(picture) not in known:
                            known.add(id(picture))
                            self.leaves[name if name not in self.leaves else f"{name}_{len(known)}"] = picture
        self._tracers = [Tracer(core, list(self.leaves.values())) for core in launched.cores]

    @property
    def terms(self) -> int:
        """About how many terms an element has."""
        sums = [s.operation.k for c in self._launched.cores for s in c.steps if isinstance(s.operation, MmadOperation)]
        return max(sums, default=1)

    def sources(self, output: str, flat: Index) -> Sources:
        """Return what elements of the array behind a kernel's parameter were made of.

        Parameters
        ----------
        output : str
            The parameter's name.
        flat : ndarray of intp
            Flat indices into the array.
        """
        buffer = self._launched.gm[output]
        assert buffer.array is not None
        addresses = np.asarray(flat, np.intp) * buffer.array.itemsize
        untouched = np.ones(len(flat), bool)
        parts = []
        for tracer in self._tracers:
            written = tracer.writers(buffer, addresses) > 0
            if written.any():
                parts.append((written, tracer.values(buffer, addresses[written])))
                untouched &= ~written
        result = _Found.joined(len(flat), parts)
        none = (result.operand < 0).all(axis=1)
        return Sources(
            operand=result.operand,
            index=result.index,
            weight=result.weight,
            constant=np.where(~untouched & (none | (result.constant != 0)), result.constant, np.nan),
            untouched=untouched,
            factor_operand=result.factor,
            factor_index=result.factor_index,
        )
