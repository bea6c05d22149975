"""The C API around asc_set_l12l0a_3d_padding on an emulated core: GM -> L1 -> L0 -> matrix unit -> GM.

A kernel is a Python function that reads like its C++ original; `launch` runs it.  The core behind it keeps every
byte's history, so that it can refuse what real hardware would punish (reading what nobody wrote, what is not
finished, what lies outside) and show what happened: registers, memory maps, a step log, where each result came from.
"""

from __future__ import annotations

import ml_dtypes as _ml
import numpy as _np

from ascendlab.capi.arguments import QuantMode_t
from ascendlab.capi.core import AICore
from ascendlab.capi.launch import Launch, launch
from ascendlab.capi.memory import sizeof
from ascendlab.capi.registers import asc_l13d_fmatrix_config, asc_load3d_v2_config
from ascendlab.capi.sync import (
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
    PIPE_ALL,
    PIPE_FIX,
    PIPE_M,
    PIPE_MTE1,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_S,
    PIPE_V,
    Pipe,
)

half, bfloat16_t, int8_t, uint8_t = _np.float16, _ml.bfloat16, _np.int8, _np.uint8
int16_t, uint16_t, int32_t, uint32_t = _np.int16, _np.uint16, _np.int32, _np.uint32
float32_t = _np.float32

__all__ = [
    "EVENT_ID0",
    "EVENT_ID1",
    "EVENT_ID2",
    "EVENT_ID3",
    "EVENT_ID4",
    "EVENT_ID5",
    "EVENT_ID6",
    "EVENT_ID7",
    "PIPE_ALL",
    "PIPE_FIX",
    "PIPE_M",
    "PIPE_MTE1",
    "PIPE_MTE2",
    "PIPE_MTE3",
    "PIPE_S",
    "PIPE_V",
    "AICore",
    "Launch",
    "Pipe",
    "QuantMode_t",
    "asc_l13d_fmatrix_config",
    "asc_load3d_v2_config",
    "bfloat16_t",
    "float32_t",
    "half",
    "int8_t",
    "int16_t",
    "int32_t",
    "launch",
    "sizeof",
    "uint8_t",
    "uint16_t",
    "uint32_t",
]
