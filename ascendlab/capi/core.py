"""The document's calls, under their own names, on an emulated core.

>>> import numpy as np
>>> from ascendlab.products import Product
>>> core = AICore(Product.ATLAS_350)
>>> core.asc_init()
>>> core.asc_set_l12l0a_3d_padding(np.float16(1))
>>> core.padding
PADDING 0x0000_0000_0000_3C00: b32=15360, b16=15360, b8=0, b8_copy=60, b4=0
>>> print(core.steps[-1])
  2 PIPE_S    asc_set_l12l0a_3d_padding
"""

from __future__ import annotations

import numpy as np

from ascendlab.capi.arguments import CopyGm2l1Nd2nzParams, known_cache_policy
from ascendlab.capi.compute import Compute
from ascendlab.capi.machine import c_api, same_type
from ascendlab.capi.memory import Pointer
from ascendlab.capi.moves import Cover, cached, nd2nz
from ascendlab.capi.registers import Gm2l1NzPara, PaddingRegister
from ascendlab.capi.steps import Access
from ascendlab.capi.sync import Pipe, check_event, check_pipe
from ascendlab.dtypes import DATA_BLOCK_BYTES
from ascendlab.errors import ParameterError, SynchronizationError

__all__ = ["AICore"]

_ND2NZ_TYPES = (
    "int8", "uint8", "fp8_e5m2", "fp8_e4m3fn", "int16", "uint16", "half", "bfloat16", "int32", "uint32", "float",
)  # fmt: skip


class AICore(Compute):
    """A core with its buffers, registers, pipes and log.

    Parameters
    ----------
    product : Product
        Sets the buffers' sizes; the ``asc_`` calls exist on Atlas 350 only.
    core_type : {"AIC", "AIV"}
        On a vector core the calls of the matrix unit return at once.
    block : int
        What `asc_get_block_idx` returns.
    record : bool
        Keep what steps overwrite, so that `at` can show earlier states.

    Examples
    --------
    >>> from ascendlab.products import Product
    >>> core = AICore(Product.ATLAS_350)
    >>> fmap = core.gm(np.arange(12, dtype=np.float16).reshape(3, 4), "fmap")
    >>> fmap_l1 = core.cbuf("half", 48, name="fmap_l1")
    >>> core.asc_set_gm2l1_nz_para(1, 1, 3, 0)
    >>> core.asc_copy_gm2l1_nd2nz(fmap_l1, fmap, 8, 0, 3, 4, 0, False)
    >>> fmap_l1.array.reshape(3, 16)[:, :6]
    array([[ 0.,  1.,  2.,  3.,  0.,  0.],
           [ 4.,  5.,  6.,  7.,  0.,  0.],
           [ 8.,  9., 10., 11.,  0.,  0.]], dtype=float16)
    """

    # Declarations

    def cbuf(self, dtype: object, count: object, *, name: str = "") -> Pointer:
        """Declare an array in L1 (``__cbuf__``)."""
        return self.buffers["L1"].declare(dtype, count, name)

    def ca(self, dtype: object, count: object, *, name: str = "") -> Pointer:
        """Declare an array in L0A (``__ca__``)."""
        return self.buffers["L0A"].declare(dtype, count, name)

    def cb(self, dtype: object, count: object, *, name: str = "") -> Pointer:
        """Declare an array in L0B (``__cb__``)."""
        return self.buffers["L0B"].declare(dtype, count, name)

    def cc(self, dtype: object, count: object, *, name: str = "") -> Pointer:
        """Declare an array in L0C (``__cc__``)."""
        return self.buffers["L0C"].declare(dtype, count, name)

    # Control

    def asc_init(self) -> None:
        """Reset the core's control state: on a matrix core of Atlas 350 the padding value becomes 0."""
        if self.core_type == "AIC":
            self.set_register("asc_init", "PADDING", PaddingRegister(), {})
        else:
            self.log("asc_init", Pipe.S, {})

    def asc_get_block_idx(self) -> int:
        """Return the number of the block that runs on this core."""
        return self.block

    def asc_sync_notify(self, pipe: object, tpipe: object, id: object) -> None:  # noqa: A002 (the document's name)
        """Set a flag for `tpipe` as soon as what `pipe` has been given so far is finished.

        Raises
        ------
        ParameterError
            For `PIPE_ALL`, or a pipe that would wait for itself.
        SynchronizationError
            If the flag is still set.
        """
        source, target, event = self._flag("asc_sync_notify", pipe, tpipe, id)
        self.ordering.notify(len(self.steps) + 1, source, target, event)
        self.log("asc_sync_notify", Pipe.S, {"pipe": source, "tpipe": target, "id": event})

    def asc_sync_wait(self, pipe: object, tpipe: object, id: object) -> None:  # noqa: A002 (the document's name)
        """Let `tpipe` wait for the flag that `pipe` sets.

        Raises
        ------
        SynchronizationError
            If no notify has set the flag: the pipe would hang.
        """
        source, target, event = self._flag("asc_sync_wait", pipe, tpipe, id)
        origin = self.ordering.wait(len(self.steps) + 1, source, target, event)
        self.log("asc_sync_wait", Pipe.S, {"pipe": source, "tpipe": target, "id": event}, waited_for=origin)

    def asc_sync_pipe(self, pipe: object) -> None:
        """Let a pipe finish everything before it goes on; `PIPE_ALL`: all pipes."""
        checked = check_pipe("pipe", pipe, allow_all=True)
        if checked is Pipe.S:
            raise ParameterError("pipe", checked, "any pipe but PIPE_S, which the hardware keeps in order itself")
        self.ordering.barrier(len(self.steps) + 1, checked)
        self.log("asc_sync_pipe", Pipe.S, {"pipe": checked})

    def finish(self) -> None:
        """Check the end of a kernel: a flag that nobody has waited for would confuse the next one.

        Raises
        ------
        SynchronizationError
            If a flag is still set.
        """
        for (pipe, tpipe, event), step in self.ordering.flags.items():
            raise SynchronizationError(
                "the kernel's end",
                f"the flag ({pipe}, {tpipe}, EVENT_ID{event}) that step {step} has set is still there",
                f"Call asc_sync_wait({pipe}, {tpipe}, EVENT_ID{event}), or leave the notify out",
            )

    @staticmethod
    def _flag(call: str, pipe: object, tpipe: object, event: object) -> tuple[Pipe, Pipe, int]:
        source = check_pipe("pipe", pipe, allow_all=False)
        target = check_pipe("tpipe", tpipe, allow_all=False)
        if source is target:
            raise ParameterError(
                "tpipe", target, f"another pipe than {source}", table=call, hint=f"Use asc_sync_pipe({source})"
            )
        return source, target, check_event(event)

    # GM -> L1

    @c_api
    def asc_set_gm2l1_nz_para(self, *strides: object, config: object = None) -> None:
        """Say where the next ND2NZ copies put rows, blocks of columns and matrices.

        Parameters
        ----------
        *strides : int
            ``matrix_num, dst_nz_n_stride, dst_nz_c0_stride, dst_nz_matrix_stride``, the strides in 32 bytes.
        config : int, optional
            The raw word instead.
        """
        self.set_fields("asc_set_gm2l1_nz_para", "MTE2_NZ_PARA", Gm2l1NzPara, strides, config)

    @c_api
    def asc_copy_gm2l1_nd2nz(self, dst: object, src: object, *arguments: object, **named: object) -> None:
        """Copy row-major matrices from GM to L1 as NZ: columns of 32-byte blocks, the last one filled with zeros.

        Parameters
        ----------
        dst, src : Pointer
            L1 (32-byte aligned) and GM.
        *arguments, **named
            See `CopyGm2l1Nd2nzParams`.

        Raises
        ------
        ParameterError, KernelError, BufferOverflowError
            Before anything is written.
        """
        call = "asc_copy_gm2l1_nd2nz"
        args = CopyGm2l1Nd2nzParams.bind(call, arguments, named)
        to, source = self.check_pointer(call, "dst", dst, ("L1",)), self.check_pointer(call, "src", src, ("GM",))
        kind = same_type(call, to, source, _ND2NZ_TYPES)
        known_cache_policy("l2_cache_ctl", args.l2_cache_ctl)
        if args.smallc0_en:
            raise ParameterError("smallc0_en", True, "False: blocks of four elements are not emulated", table=call)
        para = self._needed("MTE2_NZ_PARA", call, "asc_set_gm2l1_nz_para")
        assert isinstance(para, Gm2l1NzPara)
        logged = {"dst": to, "src": source, **vars(args)}
        if para.matrix_num == 0:
            self.log(call, Pipe.MTE2, logged, outcome="no operation")
            return
        self.check_aligned(call, "dst", to, 32)
        size = kind.bits // 8
        self._check_extent(call, to, source, args, para, size)
        plan = cached(
            nd2nz,
            itemsize=size,
            matrices=para.matrix_num,
            n_stride=para.dst_nz_n_stride,
            c0_stride=para.dst_nz_c0_stride,
            matrix_stride=para.dst_nz_matrix_stride,
            row_bytes=args.loop1_src_stride,
            rows=args.n_value,
            columns=args.d_value,
            matrix_bytes=args.loop4_src_stride,
            offset=source.offset % DATA_BLOCK_BYTES,
        )
        self.move(call, Pipe.MTE2, logged, to, source, plan, fill=np.uint8(0), strict=True)

    def _check_extent(
        self, call: str, to: Pointer, source: Pointer, args: CopyGm2l1Nd2nzParams, para: Gm2l1NzPara, size: int
    ) -> None:
        """Check first and last byte of an ND2NZ copy, before a plan is made of all that lies between."""
        width = args.d_value * size
        columns = -(-width // DATA_BLOCK_BYTES)
        last = (
            (para.matrix_num - 1) * para.dst_nz_matrix_stride
            + (columns - 1) * para.dst_nz_c0_stride
            + (args.n_value - 1) * para.dst_nz_n_stride
        )
        self.check_inside(call, "dst", Access(to, Cover(DATA_BLOCK_BYTES, 0, last + 1)))
        read = (para.matrix_num - 1) * args.loop4_src_stride + (args.n_value - 1) * args.loop1_src_stride + width
        self.check_inside(call, "src", Access(source, Cover(1, 0, read)))
        if para.matrix_num * args.n_value * columns > last + 1:
            raise self.overlap(call, to)

    # L1 -> L0, 2D

    @c_api
    def asc_copy_l12l0b_transpose(self, dst: object, src: object, *arguments: object, **named: object) -> None:
        """Copy fractals from L1 to L0B and transpose them: rows of L1 run along K, as `asc_mmad` wants them.

        Parameters
        ----------
        dst, src : Pointer
            L0B (512-byte aligned) and L1 (32-byte aligned).
        *arguments, **named
            See `CopyL12L02dParams`.
        """
        self.copy_2d("asc_copy_l12l0b_transpose", "L0B", dst, src, arguments, named, transpose=True)

    @c_api
    def asc_copy_l12l0a_transpose(self, dst: object, src: object, *arguments: object, **named: object) -> None:
        """Copy fractals from L1 to L0A and transpose them."""
        self.copy_2d("asc_copy_l12l0a_transpose", "L0A", dst, src, arguments, named, transpose=True)
