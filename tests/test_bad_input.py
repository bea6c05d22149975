"""No bad value at any public name gives anything but the library's own errors, and none of them half a result.

Functions and parameter classes are collected from the packages, so that a new one is covered when it appears:
parameter classes field by field, functions at least with bad values everywhere.  A function that stands in
`EXAMPLES` with a good call is also tried with one bad argument at a time.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from junk import MAKERS

import ascendlab as al
from ascendlab.fields import Parameters, fields_of

MODULES = (
    "aipp", "aipp_registers", "aipp_config", "load3d", "layouts", "vector", "capi", "provenance", "cpp", "golden",
    "fidelity", "products", "dtypes",
)  # fmt: skip
# Plumbing that stands in a module's __all__ for other modules; its callers have checked everything.
INTERNAL = {
    "aipp_sources", "bilinear_interpolation_sources", "check_constant", "registered", "require_product",
    "vector_padding_sources",
}  # fmt: skip
# Arguments that only the library's own code passes.
INTERNAL_ARGUMENTS = {"as_dtype": {"allowed", "parameter"}}


def picture_setup() -> al.AippSetup:
    """Configure a small picture."""
    return al.set_aipp_functions(
        np.arange(32, dtype=np.uint8).reshape(4, 8),
        np.arange(16, dtype=np.uint8).reshape(2, 8),
        input_format=al.AippInputFormat.YUV420SP_U8,
        config=al.AippParams(padding_params=al.AippPaddingParams(padding_mode=1)),
        dtype="half",
    )


def window() -> al.LoadImageToLocalParams:
    """Make a window for that picture."""
    return al.LoadImageToLocalParams(horiz_size=4, vert_size=2, src_horiz_size=8, left_pad_size=1, top_pad_size=1)


def feature_map() -> np.ndarray:
    """Make a small feature map in L1's order."""
    return np.ones((1, 3, 4, 16), np.float16)


def block() -> al.LoadData3DParamsV2:
    """Make a block of that map's matrix."""
    return al.LoadData3DParamsV2(l1_h=3, l1_w=4, channel_size=16, filter_w=2, m_extension=9, k_extension=32)


def load_3d_v2() -> dict[str, Any]:
    """Make the arguments that load that block."""
    return {
        "src": feature_map(),
        "params": block(),
        "dst": "A2",
        "repeat": al.LoadDataRepeatParam(),
        "product": al.Product.ATLAS_A2,
        "out": np.full((1, 2, 16, 16), 7, np.float16),
        "strict": True,
        "check_capacity": True,
        "allow_large": False,
    }


def load_3d_v1() -> dict[str, Any]:
    """Make the arguments that load two fractals."""
    v1 = {"params": al.LoadData3DParamsV1(l1_h=3, l1_w=4, filter_w=2, repeat_time=2)}
    arguments = {**load_3d_v2(), **v1, "product": al.Product.ATLAS_TRAINING, "out": np.full((2, 16, 16), 7, np.float16)}
    return {name: value for name, value in arguments.items() if name != "repeat"}


EXAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "im2col": lambda: {
        "src": feature_map(),
        "params": block(),
        "out": np.full((9, 32), 7, np.float16),
        "allow_large": False,
    },
    "load_data_3d_v2": load_3d_v2,
    "load_data_3d_v1": load_3d_v1,
    "plan_im2col": lambda: {"src": feature_map(), "params": block(), "allow_large": False},
    "plan_load_data_3d_v2": lambda: {name: value for name, value in load_3d_v2().items() if name != "out"},
    "plan_load_data_3d_v1": lambda: {name: value for name, value in load_3d_v1().items() if name != "out"},
    "to_nc1hwc0": lambda: {"hwc": np.ones((3, 4, 20), np.float16)},
    "from_nc1hwc0": lambda: {"x": feature_map(), "h": 3, "w": 4, "c": 16},
    **{name: lambda: {"nd": np.ones((5, 20), np.int8)} for name in ("nd_to_nz", "nd_to_zz", "nd_to_zn")},
    **{
        name: lambda: {"x": np.ones((1, 1, 16, 16), np.float16), "rows": 5, "columns": 16}
        for name in ("nz_to_nd", "zz_to_nd", "zn_to_nd")
    },
    "fractal_index": lambda: {"layout": "NZ", "row": 3, "column": 4, "c0": 16},
    "matrix_index": lambda: {"layout": "NZ", "index": (0, 0, 1, 2), "c0": 16},
    "pack_int4": lambda: {"values": al.unpack_int4(np.ones(3, np.uint8), 6)},
    "unpack_int4": lambda: {"packed": np.ones(3, np.uint8), "shape": (2, 3)},
    "read_aipp_config": lambda: {"source": "aipp_op { aipp_mode: static }"},
    "annotate": lambda: {"text": "aipp_op {}", "remarks": al.read_aipp_config("aipp_op {}").check()},
    "set_aipp_functions": lambda: {
        "src0": np.zeros((4, 8), np.uint8),
        "src1": np.zeros((2, 8), np.uint8),
        "input_format": al.AippInputFormat.YUV420SP_U8,
        "config": al.AippParams(),
        "dtype": "int8",
        "product": al.Product.ATLAS_350,
        "profile": "documented",
    },
    "load_image_to_local": lambda: {
        "setup": picture_setup(),
        "params": window(),
        "out": np.full((3, 5, 16), 7, np.float16),
        "check_capacity": False,
    },
    "aipp_plan": lambda: {"setup": picture_setup(), "params": window()},
    "csc_preset": lambda: {"name": "yuv_to_rgb_jpeg", "profile": "documented"},
    "output_types": lambda: {"product": al.Product.ATLAS_350},
    "aipp_registers": lambda: {"setup": picture_setup(), "src0_address": 4, "src1_address": 8},
    "AippColorSpaceConvParams.from_matrix": lambda: {
        "matrix": [[1, 2, 3]] * 3,
        "bias_in": (1, 2, 3),
        "bias_out": [1, 2, 3],
    },
    "to_cpp": lambda: {"what": block(), "dtype": "half", "block": 0},
    "from_cpp": lambda: {"text": "AippSwapParams s; AippSwapParams t;", "name": "t"},
    "read_cpp": lambda: {"text": "AippSwapParams s{true};"},
    "Call": lambda: {"function": al.load_image_to_local, "arguments": {"setup": picture_setup(), "params": window()}},
    "trace": lambda: {
        "call": al.Call(al.load_image_to_local, {"setup": picture_setup(), "params": window()}),
    },
    "vector_padding": lambda: {
        "src": np.arange(256, dtype=np.float16),
        "pad_mode": 1,
        "pad_side": False,
        "count": None,
        "mask": 100,
        "repeat_time": 2,
        "repeat_params": al.UnaryRepeatParams(),
        "vector_mask": None,
        "out": np.full(256, 7, np.float16),
        "product": al.Product.ATLAS_INFERENCE_AI_CORE,
        "check_capacity": True,
        "allow_large": False,
    },
    "bilinear_interpolation": lambda: {
        "src0": np.arange(512, dtype=np.float16),
        "src0_offset": np.arange(0, 1024, 32, dtype=np.uint32),
        "src1": np.ones(32, np.float16),
        "mask": [2**64 - 1, 7],
        "h_repeat": 2,
        "repeat_mode": True,
        "dst_blk_stride": 1,
        "v_roffset": 128,
        "v_repeat": 2,
        "shared_tmp_buffer_size": 10**5,
        "out": np.full(256, 7, np.float16),
        "product": al.Product.ATLAS_A2,
        "check_capacity": True,
    },
    "mask_lanes": lambda: {"mask": [3, 0], "dtype": "half"},
    "mask_to_bitwise": lambda: {"mask": 3, "dtype": "float"},
    "mask_to_continuous": lambda: {"mask": 3, "dtype": "float"},
    "mask_from_lanes": lambda: {"lanes": np.arange(64) == 5},
    "rule": lambda: {"rule_id": "aipp-order"},
    "rules": lambda: {"api": "aipp"},
    "as_markdown": lambda: {"api": "aipp"},
    "as_dtype": lambda: {"value": "half"},
    "as_product": lambda: {"value": al.Product.ATLAS_350},
}


def public_names() -> dict[str, Any]:
    """Collect public functions and parameter classes, and the constructors that stand beside `__init__`."""
    found: dict[str, Any] = {name: getattr(al, name) for name in al.__all__}
    for module in MODULES:
        if importlib.util.find_spec(f"ascendlab.{module}"):
            loaded = importlib.import_module(f"ascendlab.{module}")
            found |= {name: getattr(loaded, name) for name in loaded.__all__}
    chosen = {}
    for name, thing in found.items():
        if inspect.isclass(thing) and issubclass(thing, Parameters):
            chosen[name] = thing
            for method, value in vars(thing).items():
                if isinstance(value, classmethod) and not method.startswith("_"):
                    chosen[f"{name}.{method}"] = getattr(thing, method)
        elif inspect.isfunction(thing) and name not in INTERNAL:
            chosen[name] = thing
    chosen["Call"] = al.Call
    return chosen


NAMES = public_names()
CLASSES = {name: thing for name, thing in NAMES.items() if inspect.isclass(thing) and issubclass(thing, Parameters)}
FUNCTIONS = {name: thing for name, thing in NAMES.items() if name not in CLASSES}


@contextlib.contextmanager
def only_our_errors(what: str) -> Iterator[None]:
    """Let the library's errors pass; anything else is a failure that says what was called."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except al.AscendlabError as error:
            text = str(error)
            assert text
            assert len(text) < 2000, f"{what}: the message has {len(text)} characters"
        except Exception as error:
            raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error


def snapshot(arguments: dict[str, Any]) -> bytes | None:
    """Return the bytes of `out`, if there is one that a call could write."""
    out = arguments.get("out")
    return out.tobytes() if type(out) is np.ndarray and out.dtype != object and out.size < 10**6 else None


def attempt(name: str, function: Callable[..., Any], arguments: dict[str, Any], what: str) -> None:
    """Make a call; if it raises one of the library's errors, `out` must be as it was."""
    before = snapshot(arguments)
    failed = True
    with only_our_errors(f"{name} with {what}"):
        function(**arguments)
        failed = False
    if failed and before is not None:
        assert snapshot(arguments) == before, f"{name} with {what} wrote into out before it raised"


def some_legal_fields(cls: type[Parameters]) -> dict[str, Any]:
    """Give each required field of a class its lowest legal value."""
    legal = {}
    for name, spec in fields_of(cls).items():
        if spec.required:
            lowest = spec.low if spec.low is not None else 0
            value: Any = int(lowest) if float(lowest).is_integer() else lowest
            legal[name] = (value,) * spec.length if getattr(spec, "length", 0) else value
    return legal


def test_the_names_are_collected():
    """The collection sees the known names, and every example belongs to one of them."""
    assert {"AippParams", "LoadImageToLocalParams", "AippColorSpaceConvParams"} <= set(CLASSES)
    assert set(EXAMPLES) <= set(FUNCTIONS)
    assert len(MAKERS) > 100


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_good_calls(name):
    """What is varied is a call that works, with an `out` that it fills."""
    arguments = EXAMPLES[name]()
    before = snapshot(arguments)
    FUNCTIONS[name](**arguments)
    assert before is None or snapshot(arguments) != before


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_bad_argument(name):
    """A good call with any one argument replaced by any odd value works, or fails with one of our errors."""
    for parameter in EXAMPLES[name]():
        for label, make in MAKERS.items():
            attempt(name, FUNCTIONS[name], {**EXAMPLES[name](), parameter: make()}, f"{parameter} = {label}")


@pytest.mark.parametrize("name", CLASSES)
def test_one_bad_field(name):
    """A parameter object with one odd field is refused with one of our errors, or made; then it holds plain values.

    Whatever was given, fields hold Python's own bool, int, float, tuples of them, or a structure.
    """
    cls = CLASSES[name]
    legal = some_legal_fields(cls)
    for field in fields_of(cls):
        for label, make in MAKERS.items():
            with only_our_errors(f"{name} with {field} = {label}"):
                stored = getattr(cls(**{**legal, field: make()}), field)
                for value in stored if type(stored) is tuple else (stored,):
                    assert type(value) in (bool, int, float) or isinstance(value, Parameters)


def parameters_of(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function that can be given by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    internal = INTERNAL_ARGUMENTS.get(name, set())
    found = inspect.signature(FUNCTIONS[name]).parameters
    return {key: p for key, p in found.items() if p.kind in kinds and key not in internal}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_values_everywhere(name):
    """Every argument the same odd value: an error of ours at the latest when the first one is looked at."""
    for label, make in MAKERS.items():
        attempt(name, FUNCTIONS[name], {p: make() for p in parameters_of(name)}, label)
        required = [p for p, v in parameters_of(name).items() if v.default is inspect.Parameter.empty]
        attempt(name, FUNCTIONS[name], {p: make() for p in required}, f"{label}, required arguments only")


odd_values = st.one_of(
    st.sampled_from(list(MAKERS.values())).map(lambda make: make()),
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.fractions(),
    st.decimals(),
    st.recursive(st.none() | st.integers() | st.floats(), lambda inner: st.lists(inner, max_size=4), max_leaves=8),
    npst.arrays(
        st.one_of(npst.scalar_dtypes(), npst.boolean_dtypes()),
        npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
    ),
)


@pytest.mark.parametrize("name", EXAMPLES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_some_arbitrary_arguments(name, data):
    """Any number of arguments replaced by arbitrary values: our errors or a result, never a half-written one."""
    arguments = EXAMPLES[name]()
    replaced = data.draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, unique=True))
    arguments |= {parameter: data.draw(odd_values, label=parameter) for parameter in replaced}
    attempt(name, FUNCTIONS[name], arguments, str(replaced))


@pytest.mark.parametrize("name", CLASSES)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_some_arbitrary_fields(name, data):
    """Any number of fields with arbitrary values: our errors or an object."""
    fields = data.draw(st.lists(st.sampled_from(sorted(fields_of(CLASSES[name]))), min_size=1, unique=True))
    values = {field: data.draw(odd_values, label=field) for field in fields}
    attempt(name, CLASSES[name], {**some_legal_fields(CLASSES[name]), **values}, str(fields))
