"""The matrix unit and the way out: asc_mmad and asc_copy_l0c2gm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi import cube
from ascendlab.capi.arguments import CopyL0c2gmParams, MmadParams, QuantMode_t, known_cache_policy
from ascendlab.capi.load import Loads
from ascendlab.capi.machine import c_api
from ascendlab.capi.memory import Pointer
from ascendlab.capi.moves import Cover, Move, cached, nz_matrix
from ascendlab.capi.operations import MmadOperation
from ascendlab.capi.registers import L0cCopyNzPara
from ascendlab.capi.steps import Access
from ascendlab.capi.sync import Pipe
from ascendlab.dtypes import DATA_BLOCK_BYTES
from ascendlab.errors import ParameterError, SynchronizationError, UninitialisedReadError

__all__ = ["Compute"]

_QUANT = {
    ("float", "half"): QuantMode_t.F322F16,
    ("float", "bfloat16"): QuantMode_t.F322BF16,
    ("float", "float"): QuantMode_t.NoQuant,
    ("int32", "int32"): QuantMode_t.NoQuant,
}
# Fewer fractals of C than this are still in the unit's pipeline when the next multiplication starts.
_PIPELINED_FRACTALS = 10


class Compute(Loads):
    """The calls that compute, and those that bring the result home."""

    # L0A, L0B -> L0C

    @c_api
    def asc_mmad(
        self, c_matrix: object, a_matrix: object, b_matrix: object, *arguments: object, **named: object
    ) -> None:
        """Multiply: C = A @ B, or C += A @ B.

        Parameters
        ----------
        c_matrix, a_matrix, b_matrix : Pointer
            L0C (1024-byte aligned), L0A and L0B (512-byte aligned).
        *arguments, **named
            ``m, k, n, unit_flag, disable_gemv, c_matrix_source, c_matrix_init_val``, see `MmadParams`.

        Raises
        ------
        UninitialisedReadError
            If a byte of a real row of A or column of B, up to the end of the last block of K, was never written.
        """
        call = "asc_mmad"
        args = MmadParams.bind(call, arguments, named)
        c = self.check_pointer(call, "c_matrix", c_matrix, ("L0C",))
        a = self.check_pointer(call, "a_matrix", a_matrix, ("L0A",))
        b = self.check_pointer(call, "b_matrix", b_matrix, ("L0B",))
        result = cube.MMAD_TYPES.get((a.dtype.name, b.dtype.name))
        if result is None or c.dtype.name != result:
            allowed = ", ".join(f"{x} x {y} -> {z}" for (x, y), z in cube.MMAD_TYPES.items())
            raise ParameterError("types of asc_mmad", f"{a.dtype} x {b.dtype} -> {c.dtype}", allowed)
        if args.unit_flag:
            raise ParameterError("unit_flag", args.unit_flag, "0: the overlap with the copy out is not emulated")
        if args.c_matrix_source and not args.c_matrix_init_val:
            raise ParameterError("c_matrix_source", True, "False: the bias table is not emulated", table=call)
        logged = {"c_matrix": c, "a_matrix": a, "b_matrix": b, **vars(args)}
        m, k, n = args.m, args.k, args.n
        if not m * k * n:
            self.log(call, Pipe.M, logged, outcome="no operation")
            return
        self.check_aligned(call, "c_matrix", c, 1024)
        size = a.dtype.bits // 8
        plain = m == 1 and not args.disable_gemv
        reads = []
        for name, pointer, rows, as_row in (("a_matrix", a, m, plain), ("b_matrix", b, n, False)):
            self.check_aligned(call, name, pointer, 512)
            whole = Cover(DATA_BLOCK_BYTES, 0, cube.operand_bytes(rows, k, size, as_row) // DATA_BLOCK_BYTES)
            self.check_inside(call, name, Access(pointer, whole))
            reads.append(self._check_operand(Access(pointer, cube.operand_cover(rows, k, size, as_row)), args, as_row))
        shape = cube.c_shape(m, n)
        target = Access(c, Cover(4, 0, shape[0] * shape[1] * shape[2]))
        self.check_inside(call, "c_matrix", target)
        accumulates = not args.c_matrix_init_val
        if accumulates:
            reads.append(self._check_accumulator(c, m, n, shape))
        self.check_overwritable(call, Pipe.M, target)

        def carry_out(number: int) -> None:
            left, right = (
                cube.operand(
                    p.buffer.data[p.offset : p.offset + cube.operand_bytes(rows, k, size, as_row)],
                    p.dtype.numpy, rows, k, as_row,
                )
                for p, rows, as_row in ((a, m, plain), (b, n, False))
            )  # fmt: skip
            held = target.of(c.buffer.data).view(c.dtype.numpy).reshape(shape)
            marks = target.of(c.buffer.writer).reshape(*shape, 4)
            # C as a matrix whose rows are padded; a view, so that writing to it writes to L0C.
            before = held[:, :m].transpose(1, 0, 2).reshape(m, -1)[:, :n] if accumulates else None
            total = cube.multiply(left, right, before)
            target.sign(number, complete=False)
            marks[...] = -number
            for column in range(shape[0]):
                width = min(16, n - column * 16)
                held[column, :m, :width] = total[:, column * 16 : column * 16 + width]
                marks[column, :m, :width] = number

        operation = MmadOperation(c, a, b, m, k, n, plain, accumulates)
        self.commit(call, Pipe.M, logged, tuple(reads), target, operation, carry_out)

    def _check_operand(self, access: Access, args: MmadParams, plain: bool) -> Access:
        """Check an operand of a multiplication; say which results an unwritten byte would reach."""
        marks = self.check_readable("asc_mmad", Pipe.M, access, strict=False).reshape(-1, DATA_BLOCK_BYTES)
        if access.is_whole or marks.min() > 0:
            return access
        pointer, cover = access.pointer, access.cover
        size = pointer.dtype.bits // 8
        wrong = np.flatnonzero((marks <= 0).any(axis=1))
        units = wrong + cover.low if cover.units is None else cover.units[wrong]
        is_a = pointer.buffer.name == "L0A"
        rows = args.m if is_a else args.n
        first = int(units[0])
        block, row = (first, 0) if plain else divmod(first, -(-rows // 16) * 16)
        byte = int(np.flatnonzero(marks[wrong[0]] <= 0)[0])
        column = block * (DATA_BLOCK_BYTES // size) + byte // size
        element = f"A[m={row}, k={column}]" if is_a else f"B[k={column}, n={row}]"
        reach = f"every column of row {row}" if is_a else f"every row of column {row}"
        address = pointer.offset + first * DATA_BLOCK_BYTES + byte
        problem = (
            f"{element} ({self._place(pointer, address)}) has never been written"
            f"{self.origin_of(int(marks[wrong[0], byte]))}; it reaches {reach} of the result; "
            f"{int((marks <= 0).sum()) // size:,} such elements in all"
        )
        if column >= args.k:
            fix = (
                f"It lies behind k = {args.k}, but whole blocks of {DATA_BLOCK_BYTES // size} elements are consumed: "
                "fill L1 with zeros up to there"
            )
        elif plain:
            fix = (
                "With m = 1 and disable_gemv = False, A is read as one plain row: set disable_gemv to True for fractals"
            )
        else:
            fix = f"Load it before: {self._filler(pointer.buffer.name)}"
        raise UninitialisedReadError("asc_mmad", problem, fix)

    def _check_accumulator(self, c: Pointer, m: int, n: int, shape: tuple[int, int, int]) -> Access:
        """Check what a multiplication adds to."""
        plan = cached(
            nz_matrix, matrices=1, rows=m, columns=n, src_stride=shape[1], src_matrix=0, dst=(0, n, 16), itemsize=4
        )
        access = Access(c, plan.reads)
        marks = access.of(c.buffer.writer)
        if marks.min() <= 0:
            self._raise_unwritten_c("asc_mmad", access, plan, n)
        finished = self.ordering.finished(Pipe.M, Pipe.M)
        fractals_of_c = shape[0] * (shape[1] // 16)
        if int(marks.max()) > finished and fractals_of_c < _PIPELINED_FRACTALS:
            step = int(marks.max())
            raise SynchronizationError(
                "asc_mmad",
                f"step {len(self.steps) + 1} adds to {c.name}, which step {step} ({self.steps[step - 1].call}) may "
                f"still be writing: C has {fractals_of_c} fractals, and fewer than {_PIPELINED_FRACTALS} are not "
                "finished when the next multiplication starts",
                "Call asc_sync_pipe(PIPE_M) between the two",
            )
        return access

    # L0C -> GM

    @c_api
    def asc_set_l0c_copy_nz_para(self, *arguments: object) -> None:
        """Say how many matrices the next NZ2ND copies move, and how far apart they are.

        Parameters
        ----------
        *arguments : int
            ``matrix_num, src_nz_matrix_stride, dst_matrix_stride``.
        """
        self.set_fields("asc_set_l0c_copy_nz_para", "LOOP3_PARA", L0cCopyNzPara, arguments)

    @c_api
    def asc_copy_l0c2gm(self, dst: object, src: object, *arguments: object, **named: object) -> None:
        """Copy the result from L0C to GM, convert it, and undo its layout.

        Parameters
        ----------
        dst, src : Pointer
            GM and L0C (64-byte aligned).
        *arguments, **named
            See `CopyL0c2gmParams`.

        Raises
        ------
        UninitialisedReadError
            If no multiplication has written what is copied: rows and columns beyond its m and n count as unwritten.
        """
        call = "asc_copy_l0c2gm"
        args = CopyL0c2gmParams.bind(call, arguments, named)
        to, source = self.check_pointer(call, "dst", dst, ("GM",)), self.check_pointer(call, "src", src, ("L0C",))
        self._check_conversion(args, to, source)
        para = L0cCopyNzPara(matrix_num=1)
        if args.enable_nz2nd:
            register = self._needed("LOOP3_PARA", call, "asc_set_l0c_copy_nz_para")
            assert isinstance(register, L0cCopyNzPara)
            para = register
        elif args.n_size % 16:
            raise ParameterError("n_size", args.n_size, "a multiple of 16 when fractals are copied", table=call)
        self.check_aligned(call, "src", source, 64)
        self.check_aligned(call, "dst", to, to.dtype.bits // 8)
        stride = args.dst_stride
        # The last element first: no plan is made of what cannot fit.
        row, (column, rest), matrix = args.m_size - 1, divmod(args.n_size - 1, 16), para.matrix_num - 1
        last = (matrix * para.src_nz_matrix_stride + column * args.src_stride + row) * 16 + rest
        self.check_inside(call, "src", Access(source, Cover(4, last, last + 1)))
        across = column * 16 if args.enable_nz2nd else column * stride
        last = matrix * para.dst_matrix_stride + row * (stride if args.enable_nz2nd else 16) + across + rest
        self.check_inside(call, "dst", Access(to, Cover(to.dtype.bits // 8, last, last + 1)))
        plan = cached(
            nz_matrix,
            matrices=para.matrix_num,
            rows=args.m_size,
            columns=args.n_size,
            src_stride=args.src_stride,
            src_matrix=para.src_nz_matrix_stride,
            dst=(para.dst_matrix_stride, stride, 16) if args.enable_nz2nd else (0, 16, stride),
            itemsize=to.dtype.bits // 8,
        )
        read = Access(source, plan.reads)
        self.check_inside(call, "src", read)
        if not read.is_whole and read.of(source.buffer.writer).min() <= 0:
            self._raise_unwritten_c(call, read, plan, args.n_size)

        def convert(units: NDArray[Any]) -> NDArray[Any]:
            values = units.view(source.dtype.numpy)
            if args.relu_pre_mode:
                values = np.maximum(values, 0)
            with np.errstate(all="ignore"):
                return np.ascontiguousarray(values.astype(to.dtype.numpy)).view(np.uint8)

        self.move(
            call, Pipe.FIX, {"dst": to, "src": source, **vars(args)}, to, source, plan, strict=True, convert=convert
        )

    @staticmethod
    def _check_conversion(args: CopyL0c2gmParams, to: Pointer, source: Pointer) -> None:
        """Refuse what the way out of L0C could do and the machine does not."""
        call = "asc_copy_l0c2gm"
        known_cache_policy("l2_cache_mode", args.l2_cache_mode)
        wanted = _QUANT.get((source.dtype.name, to.dtype.name))
        if wanted is None or args.quant_pre_mode != wanted:
            modes = ", ".join(f"{x} -> {y} with {mode.name} ({int(mode)})" for (x, y), mode in _QUANT.items())
            given = f"{args.quant_pre_mode} for {source.dtype} -> {to.dtype}"
            raise ParameterError("quant_pre_mode", given, modes, table=call)
        for name in ("enable_clip_relu_pre", "unit_flag_mode", "enable_channel_split", "enable_nz2dn"):
            if getattr(args, name):
                raise ParameterError(name, getattr(args, name), "0 or False: it is not emulated", table=call)
        for name in ("clip_relu_post", "eltwise_antq_en", "c0_pad_en", "broadcast_en"):
            if getattr(args, name):
                raise ParameterError(name, True, "False: it is reserved", table=call)
        if args.relu_pre_mode > 1:
            raise ParameterError("relu_pre_mode", args.relu_pre_mode, "0 or 1: the others are not emulated", table=call)

    def _raise_unwritten_c(self, call: str, access: Access, plan: Move, columns: int) -> None:
        c = access.pointer
        marks = plan.gather(c.buffer.writer[access.start : access.stop]).min(axis=1)
        wrong = np.flatnonzero(marks <= 0)
        first = int(wrong[0])
        address = c.offset + int(plan.src[first]) * 4
        mark = int(marks[first])
        why = (
            f"lies beyond m and n of step {-mark} (asc_mmad), which leaves nothing defined there"
            if mark < 0
            else "has never been written"
        )
        raise UninitialisedReadError(
            call,
            f"C[{first // columns}, {first % columns}] ({self._place(c, address)}) {why}; {wrong.size:,} such elements",
            "Copy or add no more rows and columns than asc_mmad has computed, with the src_stride of its rounded m",
        )
