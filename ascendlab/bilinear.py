"""BilinearInterpolation: weighted sums of DataBlocks that lie anywhere in the source.

One iteration reads eight offsets, multiplies the eight DataBlocks of `src0` they name by one weight (or by one weight
each) from `src1`, and adds the products to the eight DataBlocks of a destination; ``hRepeat`` iterations make one
vertical repeat, ``vRepeat`` of which make the call.  Nothing in it knows of pictures: what the offsets and weights
mean is up to the caller (see `ascendlab.resize`).

>>> src0, src1 = np.arange(1, 513, dtype=np.float16), np.arange(2, 18, dtype=np.float16)
>>> offsets = np.arange(0, 1024, 32, dtype=np.uint32)
>>> bilinear_interpolation(src0, offsets, src1, 128, 2, False, 1, 128, 2)[[0, 1, 2, 3, -1]].tolist()
[389.0, 394.0, 399.0, 404.0, 4096.0]
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from ascendlab.arrays import check_out
from ascendlab.bilinear_plan import (
    API,
    BILINEAR_INTERPOLATION_PRODUCTS,
    HALF,
    TABLE,
    BilinearInterpolationPlan,
    bilinear_interpolation_plan,
)
from ascendlab.errors import BufferOverflowError, KernelLimitWarning
from ascendlab.fields import check_bool, check_int
from ascendlab.products import Product, require_product
from ascendlab.vector_blocks import check_ub
from ascendlab.vector_mask import LaneMask

__all__ = ["bilinear_interpolation", "kernel_tmp_buffer_bytes", "shared_tmp_buffer_bytes"]


def shared_tmp_buffer_bytes(product: Product, src0_size: int, src1_size: int, src0_offset_size: int) -> int:
    """Return the least size of ``sharedTmpBuffer`` that the document names.

    Parameters
    ----------
    product : Product
        One that has the instruction.
    src0_size, src1_size, src0_offset_size : int
        Elements of the three sources.

    Examples
    --------
    >>> [shared_tmp_buffer_bytes(p, 512, 16, 32) for p in BILINEAR_INTERPOLATION_PRODUCTS]
    [0, 16896, 16896, 128]
    """
    require_product(API, product, BILINEAR_INTERPOLATION_PRODUCTS)
    sizes = {"src0_size": src0_size, "src1_size": src1_size, "src0_offset_size": src0_offset_size}
    for name, size in sizes.items():
        check_int(name, size, 0, 2**32 - 1)
    if product is Product.ATLAS_350:
        return 0
    if product is Product.ATLAS_INFERENCE_AI_CORE:
        return 4 * src0_offset_size
    return 32 * (src0_size + src1_size)


def kernel_tmp_buffer_bytes(h_repeat: int, v_repeat: int, src1_size: int) -> int:
    """Return how many bytes of ``sharedTmpBuffer`` the public implementation for Atlas A2 and A3 uses.

    It keeps all gathered blocks there, and a DataBlock for each weight, whatever the document's formula says.

    >>> kernel_tmp_buffer_bytes(2, 2, 16)
    1536
    """
    return 256 * h_repeat * v_repeat + 32 * src1_size


def bilinear_interpolation(
    src0: NDArray[np.float16],
    src0_offset: NDArray[np.uint32],
    src1: NDArray[np.float16],
    mask: LaneMask,
    h_repeat: int,
    repeat_mode: bool,
    dst_blk_stride: int,
    v_roffset: int,
    v_repeat: int,
    *,
    shared_tmp_buffer_size: int | None = None,
    out: NDArray[np.float16] | None = None,
    product: Product = Product.ATLAS_350,
    check_capacity: bool = False,
) -> NDArray[np.float16]:
    """Add up weighted DataBlocks of the source (BilinearInterpolation).

    For each vertical repeat v, block b and lane, in half, rounding after every operation::

        total = 0
        for h in range(h_repeat):
            i = v * h_repeat + h
            block = src0[src0_offset[8 * i + b] // 2 :][:16]
            total = total + block[lane] * src1[8 * i + b if repeat_mode else i]
        dst[v * v_roffset + b * 16 * dst_blk_stride + lane] = total

    Lanes that the mask leaves out, and elements between the blocks, keep what `out` held.

    Parameters
    ----------
    src0 : ndarray of float16, shape (n,)
        The samples, contiguous.
    src0_offset : ndarray of uint32, at least 8 * h_repeat * v_repeat elements
        ``src0Offset``: byte offsets into `src0`, multiples of 32, each naming a whole DataBlock inside it.
    src1 : ndarray of float16, at least h_repeat * v_repeat elements, 8 times as many with `repeat_mode`
        The weights.
    mask : int or sequence of int
        Lanes to write in each vertical repeat: the first n, [1, 128], or two 64-bit words, not both 0.
    h_repeat : int
        ``hRepeat``: iterations added up, [1, 255].
    repeat_mode : bool
        ``repeatMode``: one weight for the eight blocks of an iteration (False), or one for each (True).
    dst_blk_stride : int
        ``dstBlkStride``: from block to block in dst, in DataBlocks, [1, 65535].
    v_roffset : int
        ``vROffset``: from vertical repeat to vertical repeat in dst, in elements, a multiple of 16 in [128, 65534].
    v_repeat : int
        ``vRepeat``: vertical repeats, [1, 255].
    shared_tmp_buffer_size : int, optional
        Bytes of ``sharedTmpBuffer``; None leaves it unchecked.
    out : ndarray of float16, optional
        Where the result goes: exactly as long as the result, contiguous, apart from the sources.
    product : Product
        Where the call would run.
    check_capacity : bool
        Refuse operands that do not fit into the Unified Buffer together, the temporary buffer included.

    Returns
    -------
    ndarray of float16, shape (m,)
        As long as to the end of the last DataBlock addressed; 0 where nothing is written.

    Raises
    ------
    ParameterError
        A value outside the document's range, an offset that names no DataBlock of `src0`, too few offsets or weights,
        sources that overlap, two writes to one DataBlock of dst (judged on the blocks addressed, whatever the mask
        is; vertical repeats may interleave), a wrong `out`.
    UnsupportedProductError
        On Atlas 200I/500 A2, Atlas inference Vector Core and Atlas training.
    BufferOverflowError
        If ``sharedTmpBuffer`` is smaller than the document asks for; with `check_capacity`, if the Unified Buffer is.

    Warns
    -----
    KernelLimitWarning
        On Atlas A2 and A3, where the public implementation goes wrong silently: numbers too large for its 8-bit
        fields, weights it does not read, a temporary buffer that meets the document and not the implementation.

    Notes
    -----
    Which NaN a NaN result is (sign and payload) is left to the machine, as with NumPy's own half arithmetic.

    Examples
    --------
    Half-way between DataBlocks 0 and 1, 1 and 2, and so on:

    >>> src0 = np.repeat(np.float16([0, 10, 20, 30, 40, 50, 60, 70, 80]), 16)
    >>> offsets = np.array([range(0, 256, 32), range(32, 288, 32)], np.uint32).ravel()
    >>> weights = np.full(2, 0.5, np.float16)
    >>> bilinear_interpolation(src0, offsets, weights, 128, 2, False, 1, 128, 1)[::16]
    array([ 5., 15., 25., 35., 45., 55., 65., 75.], dtype=float16)
    """
    plan = bilinear_interpolation_plan(
        src0, src0_offset, src1, mask, h_repeat, repeat_mode, dst_blk_stride, v_roffset, v_repeat, product=product
    )
    tmp = _check_tmp_buffer(shared_tmp_buffer_size, product, src0.size, src1.size, src0_offset.size)
    if check_bool("check_capacity", check_capacity):
        check_ub(product, plan.operand_bytes(src0, src0_offset, src1, tmp))
    if out is None:
        result = np.zeros(plan.size, np.float16)
    else:
        result = check_out(out, HALF.numpy, (plan.size,), src0, src0_offset, src1)
    if product in (Product.ATLAS_A2, Product.ATLAS_A3):
        for limit in _kernel_limits(plan, v_roffset, src1.size, shared_tmp_buffer_size):
            warnings.warn(f"the public implementation for {product} {limit}", KernelLimitWarning, stacklevel=2)
    plan.run(src0, src1, result)
    return result


def _check_tmp_buffer(given: object, product: Product, *sizes: int) -> int:
    """Return the bytes of the temporary buffer: those given, which must suffice, or the least there may be."""
    needed = shared_tmp_buffer_bytes(product, *sizes)
    if given is None:
        return needed
    size = check_int("sharedTmpBuffer", given, 0, 2**32 - 1, table=TABLE)
    if size < needed:
        raise BufferOverflowError("sharedTmpBuffer", needed, size, hint=f"That is the document's rule for {product}")
    return size


def _kernel_limits(plan: BilinearInterpolationPlan, v_roffset: int, src1_size: int, tmp_size: int | None) -> list[str]:
    """Return in words what the public implementation for A2 and A3 does not do of this call.

    It gathers all blocks, spreads the weights, multiplies, adds and copies, and keeps the repeat counts and strides
    of these five steps in uint8.
    """
    v_repeat, h_repeat, _ = plan.source_blocks.shape
    iterations, used = v_repeat * h_repeat, plan.weights
    limits = []
    if v_repeat >= 2 and h_repeat >= 32:
        limits.append(
            f"keeps the stride hRepeat * 8 = {8 * h_repeat} in uint8: with vRepeat >= 2 hRepeat is at most 31"
        )
    if v_repeat >= 2 and v_roffset >= 4096:
        limits.append(f"keeps the stride vROffset / 16 = {v_roffset // 16} in uint8: with vRepeat >= 2 vROffset is at "
                      "most 4080")  # fmt: skip
    if iterations > 255:
        limits.append(f"keeps hRepeat * vRepeat = {iterations} in uint8: it is at most 255")
    if src1_size >= 2048:
        limits.append(f"keeps src1.GetSize() / 8 = {src1_size // 8} in uint8: src1 has at most 2047 elements")
    if used > src1_size // 8 * 8:
        limits.append(f"reads src1 in eights: of its {src1_size} elements it reads {src1_size // 8 * 8}, and this call "
                      f"needs {used}")  # fmt: skip
    needed = kernel_tmp_buffer_bytes(h_repeat, v_repeat, src1_size)
    if tmp_size is not None and tmp_size < needed:
        limits.append(f"needs 256 * hRepeat * vRepeat + 32 * src1.GetSize() = {needed:,} bytes of sharedTmpBuffer, not "
                      f"the {tmp_size:,} given")  # fmt: skip
    return limits
