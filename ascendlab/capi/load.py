"""What fills L1, L0A and L0B by way of the feature map's registers: pictures, im2col, fractals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ascendlab import aipp
from ascendlab.aipp import AippSetup, LoadImageToLocalParams
from ascendlab.capi.arguments import CopyL12L02dParams, CopyL12L03dParams
from ascendlab.capi.machine import Machine, c_api, same_type
from ascendlab.capi.memory import Pointer
from ascendlab.capi.moves import FRACTAL_BYTES, Cover, Move, cached, fractals, fractals_transposed, is_cached
from ascendlab.capi.operations import AippOperation
from ascendlab.capi.registers import (
    Gm2l1NzPara,
    L0cCopyNzPara,
    L13dFmatrixConfig,
    Load3dV2Config,
    PaddingRegister,
    Register,
    format_word,
)
from ascendlab.capi.steps import Access
from ascendlab.capi.sync import Pipe
from ascendlab.dtypes import DataType
from ascendlab.errors import KernelError, ParameterError, UninitialisedReadError
from ascendlab.fields import fields_of
from ascendlab.load3d import plan_load_data_3d_v2
from ascendlab.load3d_params import IsResetLoad3dConfig, LoadData3DParamsV2, LoadDataRepeatParam
from ascendlab.load3d_rules import check_pad_value, pad_element
from ascendlab.products import Product

__all__ = ["Loads"]

_TYPES_2D = (
    "int4", "int8", "uint8", "fp8_e5m2", "fp8_e4m3fn", "int16", "uint16", "half", "bfloat16", "int32", "uint32",
    "float",
)  # fmt: skip
_TYPES_3D = _TYPES_2D[1:]


class Loads(Machine):
    """The calls that load matrices, and the registers that they read."""

    register_types: Mapping[str, type[Register]] = {
        "PADDING": PaddingRegister,
        "FMATRIX": L13dFmatrixConfig,
        "L3D_RPT": Load3dV2Config,
        "MTE2_NZ_PARA": Gm2l1NzPara,
        "LOOP3_PARA": L0cCopyNzPara,
    }

    # Registers

    @property
    def padding(self) -> PaddingRegister:
        """The padding register, as it is now."""
        return PaddingRegister(self._words.get("PADDING", PaddingRegister.default))

    @property
    def fmatrix(self) -> L13dFmatrixConfig:
        """The feature map's register, as it is now."""
        return L13dFmatrixConfig(self._words.get("FMATRIX", L13dFmatrixConfig.default))

    @property
    def rpt(self) -> Load3dV2Config:
        """The repeats' register, as it is now."""
        return Load3dV2Config(self._words.get("L3D_RPT", Load3dV2Config.default))

    @c_api
    def asc_set_l12l0a_3d_padding(self, padding_value: object = None, *, config: object = None) -> None:
        """Set the padding value of `asc_copy_l12l0a`'s 3D form (and of copies from GM to L1: it is one register).

        Parameters
        ----------
        padding_value : numpy scalar
            Its type decides which bits are set; a bare Python number has none and is refused.
        config : int
            The raw 64-bit word instead.  Bits [63:32] must be 0; whether the copies of an 8-bit or 4-bit value
            agree is checked by the copy that uses them.
        """
        self._set_padding("asc_set_l12l0a_3d_padding", padding_value, config)

    @c_api
    def asc_set_gm2l1_padding(self, padding_value: object = None, *, config: object = None) -> None:
        """Set the padding value of copies from GM to L1 (and of `asc_copy_l12l0a`'s 3D form: it is one register)."""
        self._set_padding("asc_set_gm2l1_padding", padding_value, config)

    def set_load_data_padding_value(self, pad_value: object) -> None:
        """Set the padding value of `load_data` (SetLoadDataPaddingValue): the same register again."""
        self._set_padding("set_load_data_padding_value", pad_value, None)

    def _set_padding(self, call: str, value: object, config: object) -> None:
        if config is None:
            register = PaddingRegister.of(value)
        elif value is not None:
            raise ParameterError("padding_value", value, "nothing beside config", table=call)
        else:
            register = PaddingRegister(config)
            if register.config >> 32:
                raise ParameterError("config", hex(register.config), "a word whose bits [63:32] are 0", table=call)
        self.set_register(call, "PADDING", register, {"padding_value": value, "config": register.config})

    @c_api
    def asc_set_l13d_fmatrix(self, config: object) -> None:
        """Describe the feature map that `asc_copy_l12l0a`'s 3D form reads.

        Parameters
        ----------
        config : asc_l13d_fmatrix_config
            Size and border; a raw word comes as ``asc_l13d_fmatrix_config(word)``.
        """
        call = "asc_set_l13d_fmatrix"
        register = _instance("config", config, L13dFmatrixConfig)
        register.check(call)
        self.set_register(call, "FMATRIX", register, register.values())

    def set_fmatrix(self, l1_h: object, l1_w: object, pad_list: object = (0, 0, 0, 0)) -> None:
        """Describe the feature map that `load_data` reads (SetFmatrix).

        Parameters
        ----------
        l1_h, l1_w : int
            Height and width.
        pad_list : sequence of four ints
            Left, right, top, bottom.
        """
        if not isinstance(pad_list, (list, tuple)) or len(pad_list) != 4:
            raise ParameterError("padList", pad_list, "four numbers: left, right, top, bottom")
        names = ("padding_left_size", "padding_right_size", "padding_top_size", "padding_bottom_size")
        register = L13dFmatrixConfig(l1_height=l1_h, l1_width=l1_w, **dict(zip(names, pad_list, strict=True)))
        register.check("SetFmatrix")
        self.set_register("set_fmatrix", "FMATRIX", register, register.values())

    @c_api
    def asc_set_l13d_rpt(self, config: object) -> None:
        """Set repeats and destination stride of `asc_copy_l12l0a`'s 3D form.

        Parameters
        ----------
        config : asc_load3d_v2_config
            Its ``dst_stride``, bits [47:32], must be set: 0 is not defined.
        """
        register = _instance("config", config, Load3dV2Config)
        logged = register.values()
        self.set_register("asc_set_l13d_rpt", "L3D_RPT", register, logged)

    def _needed(self, name: str, call: str, setter: str) -> Register:
        """Return a register that a call reads; it must have been set."""
        if name not in self._words:
            raise UninitialisedReadError(
                call, f"it reads the register {name}, which nobody has set", f"Call {setter} before"
            )
        return self.register_types[name](self._words[name])

    # L1 -> L0A, L0B

    @c_api
    def asc_copy_l12l0a(self, dst: object, src: object, *arguments: object, **named: object) -> None:
        """Copy from L1 to L0A: fractals as they are (2D), or a part of the im2col matrix (3D).

        Parameters
        ----------
        dst, src : Pointer
            L0A (512-byte aligned) and L1 (32-byte aligned).
        *arguments, **named
            Six for the 2D form, see `CopyL12L02dParams`; fifteen for the 3D form, see `CopyL12L03dParams`.

        Raises
        ------
        ParameterError, KernelError, BufferOverflowError
            Before anything is written.
        """
        self._copy("asc_copy_l12l0a", "L0A", dst, src, arguments, named)

    @c_api
    def asc_copy_l12l0b(self, dst: object, src: object, *arguments: object, **named: object) -> None:
        """Copy from L1 to L0B: fractals as they are (2D), or a part of the im2col matrix, transposed (3D)."""
        self._copy("asc_copy_l12l0b", "L0B", dst, src, arguments, named)

    def _copy(
        self, call: str, to: str, dst: object, src: object, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> None:
        three = len(arguments) + len(named) > len(CopyL12L02dParams.__dataclass_fields__)
        (self.copy_3d if three else self.copy_2d)(call, to, dst, src, arguments, named)

    def copy_2d(
        self,
        call: str,
        to: str,
        dst: object,
        src: object,
        arguments: tuple[Any, ...],
        named: Mapping[str, Any],
        *,
        transpose: bool = False,
    ) -> None:
        """Carry out the 2D forms: whole fractals, unwritten bytes included."""
        target, source = self.check_pointer(call, "dst", dst, (to,)), self.check_pointer(call, "src", src, ("L1",))
        kind = same_type(call, target, source, _TYPES_3D if transpose else _TYPES_2D)
        args = CopyL12L02dParams.bind(call, arguments, named)
        logged = {"dst": target, "src": source, **vars(args)}
        if not args.m_step * args.k_step:
            self.log(call, Pipe.MTE1, logged, outcome="no operation")
            return
        self.check_aligned(call, "dst", target, 512)
        self.check_aligned(call, "src", source, 32)
        build, itemsize = (fractals_transposed, kind.bits // 8) if transpose else (fractals, 0)
        plan = is_cached(build, itemsize, *vars(args).values())
        if plan is None:
            self._check_2d(call, target, source, args, kind, transpose)
            plan = cached(build, itemsize=itemsize, **vars(args))
        self.move(call, Pipe.MTE1, logged, target, source, plan, strict=False)

    def _check_2d(
        self, call: str, target: Pointer, source: Pointer, args: CopyL12L02dParams, kind: DataType, transpose: bool
    ) -> None:
        """Check a 2D load's numbers, and its first and last fractal, before a plan is made of all of them."""
        if transpose:
            for name, bits, factor in (("m_step", 8, 2), ("k_step", 32, 2)):
                if kind.bits == bits and getattr(args, name) % factor:
                    allowed = f"a multiple of {factor}: two fractals of {kind} data make the square that is transposed"
                    raise ParameterError(name, getattr(args, name), allowed, table=call)
        across = (args.k_step - 1) * args.src_stride
        first = args.k_start_position * abs(args.src_stride) + args.m_start_position
        reached = Cover(FRACTAL_BYTES, first + min(across, 0), first + max(across, 0) + args.m_step)
        self.check_inside(call, "src", Access(source, reached))
        # A transposing copy makes columns of what were rows, so that k_step becomes the height of a column.
        columns, height = args.k_step, args.m_step
        if transpose:
            columns, height = args.m_step * 16 // kind.c0, args.k_step * kind.c0 // 16
        last = (columns - 1) * args.dst_stride + height
        self.check_inside(call, "dst", Access(target, Cover(FRACTAL_BYTES, 0, last)))
        if columns * height > last:
            raise self.overlap(call, target)

    def copy_3d(
        self, call: str, to: str, dst: object, src: object, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> None:
        """Carry out the 3D forms: a part of the im2col matrix of the feature map that the registers describe."""
        args = CopyL12L03dParams.bind(call, arguments, named)
        target, source = self.check_pointer(call, "dst", dst, (to,)), self.check_pointer(call, "src", src, ("L1",))
        kind = same_type(call, target, source, _TYPES_3D)
        if args.f_matrix_ctrl:
            raise ParameterError(
                "f_matrix_ctrl", True, "False: the registers of the B side are not emulated", table=call,
                hint="The document of LoadData allows only false",
            )  # fmt: skip
        logged = {"dst": target, "src": source, **vars(args)}
        rpt = self.rpt
        no_filter = any(
            not size and not more
            for size, more in ((args.filter_w, args.filter_size_w), (args.filter_h, args.filter_size_h))
        )
        if not args.k_extension * args.m_extension * args.channel_size * rpt.rpt_time or no_filter:
            self.log(call, Pipe.MTE1, logged, outcome="no operation")
            return
        fmatrix = self._needed("FMATRIX", call, "asc_set_l13d_fmatrix")
        assert isinstance(fmatrix, L13dFmatrixConfig)
        if not rpt.dst_stride:
            rows = -(-args.m_extension // 16)
            raise KernelError(
                call,
                f"the destination's stride, bits [47:32] of the repeat register {format_word(rpt.config)}, is 0: "
                "what the hardware does then is not defined",
                f"Set it with asc_set_l13d_rpt before: {rows} fractals for m_extension = {args.m_extension}",
            )
        plan = cached(
            _plan_asc_3d, args=args, fmatrix=fmatrix.config, rpt=rpt.config, to=to, kind=kind, product=self.product
        )
        start = rpt.dst_start_pos_m * (FRACTAL_BYTES * 8 // kind.bits)
        self._load(call, logged, target + start if start else target, source, plan, kind)

    def load_data(
        self,
        dst: object,
        src: object,
        params: object,
        *,
        config: object = None,
        repeat: object = None,
    ) -> None:
        """Load a part of the im2col matrix from L1 (LoadData with LoadData3DParamsV2).

        Parameters
        ----------
        dst, src : Pointer
            L0A or L0B, and L1.
        params : LoadData3DParamsV2
            Geometry and block.
        config : IsResetLoad3dConfig, optional
            Which registers the call sets itself; what it does not set is taken from `set_fmatrix` and
            `set_load_data_padding_value`, and its own l1H, l1W, padList or padValue are ignored.
        repeat : LoadDataRepeatParam, optional
            Repeats.

        Raises
        ------
        ParameterError, KernelError, BufferOverflowError
            Before anything is written, registers included.
        """
        call = "load_data"
        checked = _instance("params", params, LoadData3DParamsV2)
        reset = IsResetLoad3dConfig() if config is None else _instance("config", config, IsResetLoad3dConfig)
        repeats = LoadDataRepeatParam() if repeat is None else _instance("repeat", repeat, LoadDataRepeatParam)
        target = self.check_pointer(call, "dst", dst, ("L0A", "L0B"))
        source = self.check_pointer(call, "src", src, ("L1",))
        if target.dtype != source.dtype:
            raise ParameterError("type of dst of load_data", target.dtype.name, f"{source.dtype}, the type of src")
        words = dict(self._words)
        if reset.is_set_f_matrix:
            names = ("padding_left_size", "padding_right_size", "padding_top_size", "padding_bottom_size")
            pads = dict(zip(names, checked.pad_list, strict=True))
            words["FMATRIX"] = L13dFmatrixConfig(l1_height=checked.l1_h, l1_width=checked.l1_w, **pads).config
        else:
            fmatrix = self._needed("FMATRIX", call, "set_fmatrix")
            assert isinstance(fmatrix, L13dFmatrixConfig)
            checked = replace(checked, l1_h=fmatrix.l1_height, l1_w=fmatrix.l1_width, pad_list=_pads(fmatrix))
        if reset.is_set_padding:
            check_pad_value(checked.pad_value, source.dtype, "Load3D, table 4")
            pad = pad_element(checked.pad_value, source.dtype)
            words["PADDING"] = PaddingRegister.of_bits(pad, source.dtype).config
        plan = cached(
            _plan_3d, params=replace(checked, pad_value=0), repeat=repeats, side=_SIDES[target.buffer.name],
            kind=source.dtype, product=self.product,
        )  # fmt: skip
        logged = {"dst": target, "src": source, "params": checked, "config": reset, "repeat": repeats}
        self._load(call, logged, target, source, plan, source.dtype, words)

    def _load(
        self,
        call: str,
        logged: Mapping[str, Any],
        target: Pointer,
        source: Pointer,
        plan: Move,
        kind: DataType,
        words: dict[str, int] | None = None,
    ) -> None:
        """Check the addresses, take the padding from its register, and move."""
        self.check_aligned(call, "dst", target, 512)
        self.check_aligned(call, "src", source, 32)
        known = self._words if words is None else words
        fill = None
        if plan.fill.size:
            if "PADDING" not in known:
                raise UninitialisedReadError(
                    call, "it reads the register PADDING, which still holds what an earlier kernel left there",
                    "Call asc_init, asc_set_l12l0a_3d_padding or set_load_data_padding_value before",
                )  # fmt: skip
            value = PaddingRegister(known["PADDING"]).value(kind)
            fill = value if kind.bits >= 8 else np.uint8(known["PADDING"] & 0xFF)
        before, self._words = self._words, dict(known)
        try:
            self.move(call, Pipe.MTE1, logged, target, source, plan, fill=fill, strict=True)
        except Exception:
            self._words = before
            raise

    # Pictures

    def load_image_to_local(self, dst: object, setup: object, params: object) -> None:
        """Bring a picture into L1 (LoadImageToLocal): a pixel of 32 bytes is NC1HWC0 with C1 = 1.

        Parameters
        ----------
        dst : Pointer
            L1, 32-byte aligned, of the setup's output type.
        setup : AippSetup
            From `ascendlab.set_aipp_functions`, for this core's product.
        params : LoadImageToLocalParams
            The window and its border.
        """
        call = "load_image_to_local"
        target = self.check_pointer(call, "dst", dst, ("L1",))
        configured = _instance("setup", setup, AippSetup)
        window = _instance("params", params, LoadImageToLocalParams)
        if configured.product is not self.product:
            raise ParameterError("setup", f"one for {configured.product}", f"one for {self.product}, as this core is")
        if target.dtype != configured.dtype:
            raise ParameterError("type of dst", target.dtype.name, f"{configured.dtype}, the setup's output type")
        self.check_aligned(call, "dst", target, 32)
        plan = aipp.aipp_plan(configured, window)
        size = plan.shape[0] * plan.shape[1] * plan.shape[2] * target.dtype.bits // 8
        write = Access(target, Cover(1, 0, size))
        self.check_inside(call, "dst", write)
        self.check_overwritable(call, Pipe.MTE2, write)
        result = aipp.load_image_to_local(configured, window)

        def carry_out(number: int) -> None:
            write.put(target.buffer.data, result.reshape(-1).view(np.uint8))
            write.sign(number)

        logged = {"dst": target, "setup": configured, "params": window}
        self.commit(call, Pipe.MTE2, logged, (), write, AippOperation(target, configured, plan), carry_out)


I = TypeVar("I")  # noqa: E741
_SIDES = {"L0A": "A2", "L0B": "B2"}
_COMMON = tuple(name for name in fields_of(CopyL12L03dParams) if name in fields_of(LoadData3DParamsV2))
# What LoadData's structure calls a parameter, and what the C API calls it.
_C_NAMES = {spec.document_name: name for name, spec in fields_of(LoadData3DParamsV2).items()} | {
    "enTranspose": "transpose", "l1H": "l1_height", "l1W": "l1_width", "dstStride": "dst_stride",
}  # fmt: skip


def _instance(name: str, value: object, kind: type[I]) -> I:
    if isinstance(value, kind):
        return value
    raise ParameterError(name, value, f"an instance of {kind.__name__}")


def _pads(fmatrix: L13dFmatrixConfig) -> tuple[int, int, int, int]:
    return (
        fmatrix.padding_left_size, fmatrix.padding_right_size, fmatrix.padding_top_size, fmatrix.padding_bottom_size
    )  # fmt: skip


def _plan_asc_3d(args: CopyL12L03dParams, fmatrix: int, rpt: int, to: str, kind: DataType, product: Product) -> Move:
    """Plan a 3D load of the C API from its arguments and its registers' words."""
    feature_map, repeats = L13dFmatrixConfig(fmatrix), Load3dV2Config(rpt)
    try:
        params = LoadData3DParamsV2(
            pad_list=_pads(feature_map),
            l1_h=feature_map.l1_height,
            l1_w=feature_map.l1_width,
            en_transpose=args.transpose and to == "L0A",
            **{name: getattr(args, name) for name in _COMMON},
        )
        repeat = LoadDataRepeatParam(
            repeat_stride=repeats.rpt_stride,
            repeat_time=repeats.rpt_time,
            repeat_mode=repeats.rpt_mode,
            dst_stride=repeats.dst_stride,
        )
        return _plan_3d(params, repeat, _SIDES[to], kind, product)
    except ParameterError as error:
        # LoadData's structure and the C API spell the same parameters differently.
        name = _C_NAMES.get(error.parameter, error.parameter)
        raise ParameterError(name, error.value, error.allowed, table=error.table, hint=error.hint) from None


def _plan_3d(
    params: LoadData3DParamsV2, repeat: LoadDataRepeatParam, side: str, kind: DataType, product: Product
) -> Move:
    """Turn Load3D's plan into a movement between L1 and L0."""
    # The plan looks at the source's type and size only; integers of 16 bits move as half does.
    numpy = np.dtype(np.float16) if kind.name in ("int16", "uint16") else kind.numpy
    size = params.l1_h * params.l1_w * params.channel_size
    source = np.broadcast_to(np.zeros((), numpy), (size,))
    load = plan_load_data_3d_v2(source, params, dst=side, repeat=repeat, product=product, check_capacity=True)
    assert load.plan is not None
    plan = load.plan
    # A transposed result scatters the elements of a unit.
    unit = plan.unit if plan.axes[-1].stride == 1 else 1
    if unit * kind.bits % 8:
        raise ParameterError(
            "type of src", kind.name, "a type of whole bytes: half a byte cannot be moved", table="L0B"
        )
    flat = np.arange(0, plan.size, unit, dtype=np.intp)
    found = plan.locate(flat)[0]
    place, origin = flat // unit, found // unit
    return Move.ordered(origin[found >= 0], place[found >= 0], place[found == -1], unit * kind.bits // 8)
