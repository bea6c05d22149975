"""The conv2d forward kernel of asc_set_l12l0a_3d_padding's document, line by line.

`conv2d_forward_capi` reads like its C++ original; `Conv2dShape` holds the original's constants, so that the same
kernel runs with other sizes.

>>> for line in main():
...     print(line)
Example 1: max diff=0, mismatches=0/1600
[Success] conv2d_forward C API passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascendlab.capi.arguments import QuantMode_t
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch, launch
from ascendlab.capi.memory import Pointer, sizeof
from ascendlab.capi.registers import asc_l13d_fmatrix_config, asc_load3d_v2_config
from ascendlab.capi.sync import EVENT_ID0, PIPE_ALL, PIPE_FIX, PIPE_M, PIPE_MTE1, PIPE_MTE2
from ascendlab.conv import conv2d
from ascendlab.errors import BufferOverflowError, ParameterError
from ascendlab.fields import HALF_MAX, Field, argument
from ascendlab.products import Product

half = np.float16

__all__ = [
    "C0", "CONV2D_CONSTANTS", "EXAMPLE", "Conv2dShape", "compare", "conv2d_forward_capi", "main", "make_inputs", "run",
]  # fmt: skip

CUBE_BLOCK = 16
C0 = 16
FRACTAL_ELEMENTS = 512 // sizeof(half)


def _constant(name: str, meaning: str, low: int, high: int, default: int) -> tuple[str, Field]:
    return name, argument(name, "uint32_t", meaning, low=low, high=high, default=default)


CONV2D_CONSTANTS: Mapping[str, Field] = MappingProxyType(
    dict(
        [
            _constant("BATCH", "Feature maps; each is a block's.", 1, 65535, 4),
            _constant("C1", "Groups of 16 channels.", 1, 4095, 2),
            _constant("H", "Height of a feature map.", 1, 32767, 9),
            _constant("W", "Width of a feature map.", 1, 32767, 9),
            _constant("KH", "Height of the filter.", 1, 255, 3),
            _constant("KW", "Width of the filter.", 1, 255, 3),
            _constant("STRIDE_H", "Rows from window to window.", 1, 63, 2),
            _constant("STRIDE_W", "Columns from window to window.", 1, 63, 2),
            _constant("DILATION_H", "Rows from one point of the filter to the next.", 1, 255, 2),
            _constant("DILATION_W", "Columns from one point of the filter to the next.", 1, 255, 2),
            _constant("PAD_LEFT", "Columns added at the left.", 0, 255, 2),
            _constant("PAD_RIGHT", "Columns added at the right.", 0, 255, 2),
            _constant("PAD_TOP", "Rows added at the top.", 0, 255, 2),
            _constant("PAD_BOTTOM", "Rows added at the bottom.", 0, 255, 2),
            ("PAD_VALUE", argument("PAD_VALUE", "half", "What the border holds.",
                                   low=-HALF_MAX, high=HALF_MAX, default=0.0)),
        ]
    )
)  # fmt: skip
"""The original's constants: range, default and meaning of each."""


@dataclass(frozen=True, kw_only=True)
class Conv2dShape:
    """The original's constants, under their own names; the defaults are the original's values.

    Parameters
    ----------
    BATCH, C1, H, W, KH, KW : int
        Feature maps, groups of 16 channels, their size, and the filter's.
    STRIDE_H, STRIDE_W, DILATION_H, DILATION_W : int
        How the filter moves and how far its points are apart.
    PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM : int
        Border.
    PAD_VALUE : float
        What the border holds, rounded to half.

    Examples
    --------
    >>> shape = Conv2dShape(H=7, W=12, PAD_VALUE=2)
    >>> shape.HOUT, shape.WOUT, shape.M, shape.K, shape.M_ALIGN
    (4, 6, 24, 288, 32)
    """

    BATCH: int = 4
    C1: int = 2
    H: int = 9
    W: int = 9
    KH: int = 3
    KW: int = 3
    STRIDE_H: int = 2
    STRIDE_W: int = 2
    DILATION_H: int = 2
    DILATION_W: int = 2
    PAD_LEFT: int = 2
    PAD_RIGHT: int = 2
    PAD_TOP: int = 2
    PAD_BOTTOM: int = 2
    PAD_VALUE: float = 0

    def __post_init__(self) -> None:
        for name, spec in CONV2D_CONSTANTS.items():
            spec.check(getattr(self, name))
        for axis, size in (("H", self.HOUT), ("W", self.WOUT)):
            if size < 1:
                raise ParameterError(f"K{axis}", getattr(self, f"K{axis}"), "a filter that fits into the padded map")

    def check_buffers(self, product: Product = Product.ATLAS_350) -> None:
        """Raise `BufferOverflowError` if the kernel's arrays do not fit, before any data are made."""
        size = sizeof(half)
        for buffer, used in (
            ("L1", (self.FMAP_BATCH_SIZE + self.K_ALIGN * self.N_ALIGN) * size),
            ("L0A", self.M_ALIGN * self.K_ALIGN * size),
            ("L0B", self.K_ALIGN * self.N_ALIGN * size),
            ("L0C", self.M_ALIGN * self.N_ALIGN * sizeof("float")),
        ):
            if used > product.buffers[buffer]:
                hint = "The document's kernel does not cut its data into parts"
                raise BufferOverflowError(buffer, used, product.buffers[buffer], hint=hint)

    @property
    def CIN(self) -> int:  # noqa: N802 (the original's names)
        """Channels of a feature map."""
        return self.C1 * C0

    @property
    def COUT(self) -> int:  # noqa: N802
        """Filters: one fractal column, as in the original."""
        return 16

    @property
    def HOUT(self) -> int:  # noqa: N802
        """Height of the result."""
        covered = (self.KH - 1) * self.DILATION_H + 1
        return (self.H + self.PAD_TOP + self.PAD_BOTTOM - covered) // self.STRIDE_H + 1

    @property
    def WOUT(self) -> int:  # noqa: N802
        """Width of the result."""
        covered = (self.KW - 1) * self.DILATION_W + 1
        return (self.W + self.PAD_LEFT + self.PAD_RIGHT - covered) // self.STRIDE_W + 1

    @property
    def M(self) -> int:  # noqa: N802
        """Rows of the im2col matrix."""
        return self.HOUT * self.WOUT

    @property
    def K(self) -> int:  # noqa: N802
        """Columns of the im2col matrix."""
        return self.CIN * self.KH * self.KW

    @property
    def N(self) -> int:  # noqa: N802
        """Columns of the result."""
        return self.COUT

    @property
    def M_ALIGN(self) -> int:  # noqa: N802
        """Rows in whole fractals."""
        return -(-self.M // CUBE_BLOCK) * CUBE_BLOCK

    @property
    def K_ALIGN(self) -> int:  # noqa: N802
        """Columns in whole fractals."""
        return -(-self.K // CUBE_BLOCK) * CUBE_BLOCK

    @property
    def N_ALIGN(self) -> int:  # noqa: N802
        """Columns of the result in whole fractals."""
        return CUBE_BLOCK

    @property
    def FMAP_BATCH_SIZE(self) -> int:  # noqa: N802
        """Elements of one feature map."""
        return self.H * self.W * self.CIN

    @property
    def WEIGHT_SIZE(self) -> int:  # noqa: N802
        """Elements of the weights."""
        return self.K * self.COUT

    @property
    def OUTPUT_BATCH_SIZE(self) -> int:  # noqa: N802
        """Elements of one result."""
        return self.HOUT * self.WOUT * self.COUT

    def golden(self, fmap: NDArray[Any], weight: NDArray[Any]) -> NDArray[np.float16]:
        """Return what the kernel should compute, from the library's fast convolution (see `ascendlab.conv`)."""
        return conv2d(
            fmap.reshape(self.BATCH, self.H, self.W, self.CIN), weight.reshape(self.K, self.COUT),
            kernel=(self.KH, self.KW), strides=(self.STRIDE_H, self.STRIDE_W),
            dilations=(self.DILATION_H, self.DILATION_W),
            pads=(self.PAD_LEFT, self.PAD_RIGHT, self.PAD_TOP, self.PAD_BOTTOM), pad_value=self.PAD_VALUE,
        )  # fmt: skip


EXAMPLE = Conv2dShape()
"""The document's sizes."""


# fmt: off
def conv2d_forward_capi(
    core: AICore, fmap: Pointer, weight: Pointer, output: Pointer, s: Conv2dShape = EXAMPLE
) -> None:
    """Convolve one feature map per block: the document's kernel.

    Parameters
    ----------
    core : AICore
        The core it runs on.
    fmap, weight, output : Pointer
        GM: (BATCH, H, W, CIN), (K, COUT) and (BATCH, HOUT, WOUT, COUT) of half.
    s : Conv2dShape
        The constants.
    """
    core.asc_init()
    batch_idx = core.asc_get_block_idx()
    if batch_idx >= s.BATCH:
        return

    fmap_l1 = core.cbuf(half, s.FMAP_BATCH_SIZE, name="fmap_l1")
    weight_l1 = core.cbuf(half, s.K_ALIGN * s.N_ALIGN, name="weight_l1")
    fmap_l0 = core.ca(half, s.M_ALIGN * s.K_ALIGN, name="fmap_l0")
    weight_l0 = core.cb(half, s.K_ALIGN * s.N_ALIGN, name="weight_l0")
    output_l0 = core.cc("float", s.M_ALIGN * s.N_ALIGN, name="output_l0")

    core.asc_set_gm2l1_nz_para(1, 1, s.H * s.W, 0)
    core.asc_copy_gm2l1_nd2nz(
        fmap_l1, fmap + batch_idx * s.FMAP_BATCH_SIZE, s.CIN * sizeof(half), 0, s.H * s.W, s.CIN, 0, False)

    core.asc_set_gm2l1_nz_para(1, 1, s.K_ALIGN, 0)
    core.asc_copy_gm2l1_nd2nz(weight_l1, weight, s.COUT * sizeof(half), 0, s.K, s.COUT, 0, False)
    core.asc_sync_notify(PIPE_MTE2, PIPE_MTE1, EVENT_ID0)
    core.asc_sync_wait(PIPE_MTE2, PIPE_MTE1, EVENT_ID0)

    fmatrix_config = asc_l13d_fmatrix_config()
    fmatrix_config.l1_width = s.W
    fmatrix_config.l1_height = s.H
    fmatrix_config.padding_left_size = s.PAD_LEFT
    fmatrix_config.padding_right_size = s.PAD_RIGHT
    fmatrix_config.padding_top_size = s.PAD_TOP
    fmatrix_config.padding_bottom_size = s.PAD_BOTTOM
    core.asc_set_l13d_fmatrix(fmatrix_config)
    core.asc_set_l12l0a_3d_padding(half(s.PAD_VALUE))
    repeat_stride = 0
    repeat_time = 1
    repeat_mode = 0
    dst_stride = s.M_ALIGN // CUBE_BLOCK
    repeat_config = asc_load3d_v2_config()
    # The union has no name for bits [47:32], the destination's stride.
    repeat_config.config = repeat_stride | (repeat_time << 16) | (repeat_mode << 24) | (dst_stride << 32)
    core.asc_set_l13d_rpt(repeat_config)
    core.asc_copy_l12l0a(
        fmap_l0, fmap_l1, s.K_ALIGN, s.M, 0, 0, s.STRIDE_W, s.STRIDE_H, s.KW, s.KH, s.DILATION_W, s.DILATION_H,
        False, False, False, False, s.CIN)

    for i in range(s.K_ALIGN // CUBE_BLOCK):
        core.asc_copy_l12l0b_transpose(weight_l0 + i * FRACTAL_ELEMENTS, weight_l1, 0, i, 1, 1, 1, 1)
    core.asc_sync_notify(PIPE_MTE1, PIPE_M, EVENT_ID0)
    core.asc_sync_wait(PIPE_MTE1, PIPE_M, EVENT_ID0)

    core.asc_mmad(output_l0, fmap_l0, weight_l0, s.M, s.K_ALIGN, s.N, 0, False, False, True)
    core.asc_sync_notify(PIPE_M, PIPE_FIX, EVENT_ID0)
    core.asc_sync_wait(PIPE_M, PIPE_FIX, EVENT_ID0)

    core.asc_set_l0c_copy_nz_para(1, 0, 0)
    core.asc_copy_l0c2gm(
        output + batch_idx * s.OUTPUT_BATCH_SIZE, output_l0, s.N, s.M, s.N, s.M_ALIGN, 0, 0, 0,
        int(QuantMode_t.F322F16), 0, False, True, 0, 0, False, 0, False, False, False, False)
    core.asc_sync_pipe(PIPE_ALL)
# fmt: on


def make_inputs(s: Conv2dShape = EXAMPLE) -> tuple[NDArray[np.float16], NDArray[np.float16], NDArray[np.float16]]:
    """Return the document's feature maps and weights, and an empty output.

    Returns
    -------
    fmap : ndarray of float16, shape (BATCH, H, W, CIN)
        -2 to 2, counting on.
    weight : ndarray of float16, shape (K, COUT)
        -1 to 1, by channel, filter point and filter; K runs over (c1, kh, kw, c0).
    output : ndarray of float16, shape (BATCH, HOUT, WOUT, COUT)
        Zeros.
    """
    count = np.arange(s.BATCH * s.FMAP_BATCH_SIZE)
    fmap = (count % 5 - 2).astype(half).reshape(s.BATCH, s.H, s.W, s.CIN)
    c1, kh, kw, c0, co = np.ogrid[: s.C1, : s.KH, : s.KW, :C0, : s.COUT]
    weight = ((c1 + kh + 2 * kw + c0 + co) % 3 - 1).astype(half).reshape(s.K, s.COUT)
    return fmap, weight, np.zeros((s.BATCH, s.HOUT, s.WOUT, s.COUT), half)


def run(
    s: Conv2dShape = EXAMPLE, *, kernel: Callable[..., Any] = conv2d_forward_capi, record: bool = True
) -> tuple[Launch, NDArray[np.float16]]:
    """Launch the kernel on the document's data; return the launch and the output.

    Raises
    ------
    BufferOverflowError
        If its arrays do not fit into the buffers.
    """
    s.check_buffers()
    fmap, weight, output = make_inputs(s)
    return launch(kernel, s.BATCH, fmap, weight, output, s, product=Product.ATLAS_350, record=record), output


def compare(output: NDArray[np.float16], golden: NDArray[np.float16]) -> tuple[float, int]:
    """Return the largest difference, and how many elements differ by more than the original allows.

    >>> compare(np.array([1, 2], half), np.array([1, 2.5], half))
    (0.5, 1)
    """
    with np.errstate(invalid="ignore"):
        diff = np.abs(output.astype(np.float32) - golden.astype(np.float32))
        # Infinities of one sign have no difference, and two results that are no numbers are the same result.
        diff[(output == golden) | (np.isnan(output) & np.isnan(golden))] = 0
    return float(diff.max()), int((~(diff <= 1e-3)).sum())


def main(s: Conv2dShape = EXAMPLE) -> tuple[str, str]:
    """Run the kernel, compare with the golden data, and return the two lines that the original prints."""
    fmap, weight, _ = make_inputs(s)
    golden = s.golden(fmap, weight)
    _, output = run(s)
    max_diff, mismatch_count = compare(output, golden)
    return (
        f"Example 1: max diff={max_diff:g}, mismatches={mismatch_count}/{output.size}",
        "[Success] conv2d_forward C API passed." if mismatch_count == 0 else "[Failed] conv2d_forward C API mismatch.",
    )
