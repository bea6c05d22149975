"""Load3D: LoadData with LoadData3DParamsV1 and LoadData3DParamsV2, im2col on the way from L1 to L0A or L0B.

A convolution is a matrix product once every window of the feature map has become a row of a matrix.  The
instruction makes that matrix on the fly, block by block, in the layout that the cube unit reads.

>>> import numpy as np
>>> from ascendlab.layouts import to_nc1hwc0
>>> feature_map = to_nc1hwc0(np.arange(3 * 4 * 16, dtype=np.float16).reshape(3, 4, 16))
>>> params = LoadData3DParamsV2(l1_h=3, l1_w=4, channel_size=16, filter_h=2, filter_w=2, k_extension=64, m_extension=6)
>>> matrix = im2col(feature_map, params)
>>> matrix.shape, [int(x) for x in matrix[0, ::16]]
((6, 64), [0, 16, 64, 80])
>>> fractals = load_data_3d_v2(feature_map, params)
>>> fractals.shape, np.array_equal(fractals[0, 1, :6], matrix[:, 16:32])
((1, 4, 16, 16), True)
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ascendlab.load3d_calls import ONCE, Load, plan_im2col, plan_load_data_3d_v1, plan_load_data_3d_v2
from ascendlab.load3d_geometry import Geometry
from ascendlab.load3d_params import (
    IsResetLoad3dConfig,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadDataRepeatParam,
)
from ascendlab.load3d_plan import Load3dPlan
from ascendlab.products import Product

__all__ = [
    "Geometry",
    "IsResetLoad3dConfig",
    "Load",
    "Load3dPlan",
    "LoadData3DParamsV1",
    "LoadData3DParamsV2",
    "LoadDataRepeatParam",
    "im2col",
    "load_data_3d_v1",
    "load_data_3d_v2",
    "plan_im2col",
    "plan_load_data_3d_v1",
    "plan_load_data_3d_v2",
]

_NOT_EMULATED = {
    "LoadData3DParamsV2Pro": "a packed form of LoadData3DParamsV2; use that",
    "SetLoadDataBoundary": "the document does not describe what a boundary does to Load3D",
    "TensorTrait": "a compile-time description of a tensor, which NumPy arrays carry themselves",
}


def __getattr__(name: str) -> Any:
    if name in _NOT_EMULATED:
        raise AttributeError(f"{name} is not emulated: {_NOT_EMULATED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def im2col(
    src: NDArray[Any], params: LoadData3DParamsV2, *, out: NDArray[Any] | None = None, allow_large: bool = False
) -> NDArray[Any]:
    """Make the whole im2col matrix, row-major, as a convolution's left operand.

    Parameters
    ----------
    src : ndarray
        Feature map as L1 holds it: (C1, H, W, C0), or flat (see `ascendlab.layouts.to_nc1hwc0`); (H, W, C) if
        there is one group of channels only.
    params : LoadData3DParamsV2
        Geometry and pad value; starts, extensions and ``en_transpose`` play no part.
    out : ndarray, optional
        Where the result goes: exact dtype and shape, C-contiguous, apart from `src`.
    allow_large : bool
        Allow results over 4 GiB.

    Returns
    -------
    ndarray of src's dtype, shape (M, K)
        M = Ho * Wo windows, row by row; K = C1 * Hk * Wk * C0 in this order.

    Raises
    ------
    ParameterError
        A wrong array, a channel size that the type does not have, a window that does not fit.
    BufferOverflowError
        For a result over 4 GiB.

    Examples
    --------
    >>> import numpy as np
    >>> src = np.arange(2 * 2 * 4, dtype=np.float16)
    >>> params = LoadData3DParamsV2(l1_h=2, l1_w=2, channel_size=4, filter_w=2, pad_list=(0, 1, 0, 0), pad_value=-1)
    >>> im2col(src, params)
    array([[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.],
           [ 4.,  5.,  6.,  7., -1., -1., -1., -1.],
           [ 8.,  9., 10., 11., 12., 13., 14., 15.],
           [12., 13., 14., 15., -1., -1., -1., -1.]], dtype=float16)
    """
    return plan_im2col(src, params, allow_large=allow_large).run(src, out)


def load_data_3d_v2(
    src: NDArray[Any],
    params: LoadData3DParamsV2,
    *,
    dst: str = "A2",
    repeat: LoadDataRepeatParam = ONCE,
    product: Product = Product.ATLAS_A2,
    out: NDArray[Any] | None = None,
    strict: bool = True,
    check_capacity: bool = False,
    allow_large: bool = False,
) -> NDArray[Any]:
    """Load a block of the im2col matrix into L0A or L0B (LoadData with LoadData3DParamsV2).

    ====== =============================== ======== ================================================
    dst    product                         layout   shape of the result
    ====== =============================== ======== ================================================
    A2     all but Atlas 350               ZZ       (m1, k1, 16, C0)
    A2     Atlas 350                       NZ       (k1, m1, 16, C0)
    A2     all but Atlas 350, transposed   ZZ       (K/16, M/C0, 16, C0)
    A2     Atlas 350, transposed           NZ       (M/C0, K/16, 16, C0)
    B2     all                             ZN       (M/C0, K/16, 16, C0)
    ====== =============================== ======== ================================================

    m1 = ceil(m_extension / 16) and k1 = ceil(k_extension / C0).  In the transposed forms M and K are filled up to
    multiples of 16 and of C0.  What no matrix element reaches is not written.

    Parameters
    ----------
    src : ndarray
        Feature map as L1 holds it: (C1, H, W, C0), or flat (see `ascendlab.layouts.to_nc1hwc0`); (H, W, C) if
        there is one group of channels only.  int4 has one element a byte.
    params : LoadData3DParamsV2
        Geometry and block (table 4).
    dst : {"A2", "B2"}
        L0A, or L0B, which gets every fractal transposed and ignores ``en_transpose``.
    repeat : LoadDataRepeatParam
        Several blocks in one call; they lead the result as an axis, or are one matrix with ``en_transpose``.
    product : Product
        Where the call would run.
    out : ndarray, optional
        Where the result goes: exact dtype and shape, C-contiguous, apart from `src`; keeps what is not written.
    strict : bool
        False: a zero that makes the instruction do nothing does nothing here, instead of being an error.
    check_capacity : bool
        Refuse a result that does not fit into the product's L0A or L0B.
    allow_large : bool
        Allow results over 4 GiB.

    Returns
    -------
    ndarray of src's dtype
        The fractals; zero where nothing is written and there is no `out`.

    Raises
    ------
    ParameterError
        A wrong array; a type, channel size or feature that the product does not have; a block that is empty,
        misaligned or past the last fractal; a window that does not fit; a pad value outside the type.
    UnsupportedProductError
        On Atlas inference Vector Core and Atlas training.
    BufferOverflowError
        For a result over 4 GiB, and with `check_capacity`.

    Examples
    --------
    The document's example: 4 channels and a 3x3 filter make rows of 36 numbers.

    >>> import numpy as np
    >>> src = np.arange(4 * 4 * 4, dtype=np.float16)
    >>> params = LoadData3DParamsV2(
    ...     l1_h=4, l1_w=4, channel_size=4, filter_h=3, filter_w=3, m_extension=4, k_extension=36)
    >>> fractals = load_data_3d_v2(src, params)
    >>> fractals.shape
    (1, 3, 16, 16)
    >>> fractals[0, 0, 0].astype(int)
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 16, 17, 18, 19])
    >>> load_data_3d_v2(src, params, dst="B2")[0, 0, :, 0].astype(int)
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 16, 17, 18, 19])
    """
    load = plan_load_data_3d_v2(
        src,
        params,
        dst=dst,
        repeat=repeat,
        product=product,
        strict=strict,
        check_capacity=check_capacity,
        allow_large=allow_large,
    )
    return load.run(src, out)


def load_data_3d_v1(
    src: NDArray[Any],
    params: LoadData3DParamsV1,
    *,
    dst: str = "A2",
    product: Product = Product.ATLAS_INFERENCE_AI_CORE,
    out: NDArray[Any] | None = None,
    strict: bool = True,
    check_capacity: bool = False,
    allow_large: bool = False,
) -> NDArray[Any]:
    """Load fractals of the im2col matrix one by one (LoadData with LoadData3DParamsV1).

    A repeat loads 16 consecutive windows (they continue in the next row of windows) at one filter point of one
    channel group.  With ``c_size=1`` a pixel has only 4 (16-bit types) or 8 channels, and a row of the fractal holds
    as many consecutive filter points as fit.

    Parameters
    ----------
    src : ndarray of int8, uint8 or half
        Feature map as L1 holds it: (C1, H, W, C0), (H, W, C0) or flat; with ``c_size=1`` (H, W, 4 or 8) or flat.
    params : LoadData3DParamsV1
        Geometry, first window and filter point, repeats (table 3).
    dst : {"A2", "B2"}
        L0A, or L0B, which gets every fractal transposed.
    product : Product
        Where the call would run.
    out : ndarray, optional
        Where the result goes: exact dtype and shape, C-contiguous, apart from `src`; keeps what is not written.
    strict, allow_large : bool
        As for `load_data_3d_v2`; no documented value of these parameters makes a difference.
    check_capacity : bool
        Refuse a result that does not fit into the product's L0A or L0B.

    Returns
    -------
    ndarray of src's dtype, shape ((repeat_time - 1) * jump_stride + 1, 16, C0)
        The fractals, (C0, 16) each for B2.  Windows past the last one follow the same arithmetic: samples where
        they lie in the picture, the pad value where not.

    Raises
    ------
    ParameterError
        A wrong array, a first window or filter point that there is not, more repeats than filter points, a window
        that does not fit, a pad value outside the type.
    UnsupportedProductError
        Everywhere but on Atlas inference AI Core and Atlas training.
    BufferOverflowError
        With `check_capacity`.

    Examples
    --------
    >>> import numpy as np
    >>> src = np.arange(2 * 3 * 16, dtype=np.float16).reshape(1, 2, 3, 16)
    >>> params = LoadData3DParamsV1(
    ...     l1_h=2, l1_w=3, pad_list=(1, 0, 0, 0), left_top_w=-1, pad_value=-1, filter_w=2, repeat_time=2)
    >>> load_data_3d_v1(src, params)[:, :7, 0].astype(int)
    array([[-1,  0, 16, -1, 48, 64, -1],
           [ 0, 16, 32, 48, 64, 80, -1]])
    """
    load = plan_load_data_3d_v1(
        src,
        params,
        dst=dst,
        product=product,
        strict=strict,
        check_capacity=check_capacity,
        allow_large=allow_large,
    )
    return load.run(src, out)
