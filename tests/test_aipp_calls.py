"""How the AIPP calls behave as Python functions: `out`, references, types, memory, sizes."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import FrozenInstanceError, replace

import aipp_cases
import ml_dtypes
import numpy as np
import pytest
from aipp_cases import make_config, random_picture, window_of

import ascendlab as al
from ascendlab.aipp import aipp_plan, output_types
from ascendlab.arrays import LARGEST_RESULT, check_size
from ascendlab.dtypes import TYPES
from ascendlab.fields import fields_of

F = al.AippInputFormat


def example(dtype="half", **window):
    """Make a small call with a border, whose result has the shape (5, 9, C)."""
    y, uv = random_picture(6, 8), random_picture(3, 8, seed=1)
    setup = al.set_aipp_functions(
        y, uv, input_format=F.YUV420SP_U8, config=make_config(padding_mode=3, c_padding_value=2), dtype=dtype
    )
    size = {"horiz_size": 7, "vert_size": 4, "left_pad_size": 2, "top_pad_size": 1, **window}
    return setup, window_of(y, **size)


# ---- out


def test_out_is_filled_and_returned():
    """`out` itself comes back, every element of it written."""
    setup, window = example()
    expected = al.load_image_to_local(setup, window)
    out = np.full(expected.shape, np.nan, np.float16)
    assert al.load_image_to_local(setup, window, out=out) is out
    assert np.array_equal(out, expected)


def test_out_may_be_part_of_a_larger_array():
    """A contiguous slice of a batch is a fine `out`; its neighbours stay as they are."""
    setup, window = example("int8")
    batch = np.full((3, 5, 9, 32), 99, np.int8)
    al.load_image_to_local(setup, window, out=batch[1])
    assert np.array_equal(batch[1], al.load_image_to_local(setup, window))
    assert (batch[[0, 2]] == 99).all()


def read_only(array):
    """Return the array, locked."""
    array.setflags(write=False)
    return array


WRONG_OUTS = {
    "dtype": lambda: np.zeros((5, 9, 16), np.float32),
    "bfloat16": lambda: np.zeros((5, 9, 16), ml_dtypes.bfloat16),
    "byte order": lambda: np.zeros((5, 9, 16), ">f2"),
    "uint16": lambda: np.zeros((5, 9, 16), np.uint16),
    "object": lambda: np.zeros((5, 9, 16), object),
    "shape": lambda: np.zeros((5, 8, 16), np.float16),
    "transposed": lambda: np.zeros((9, 5, 16), np.float16),
    "4-D": lambda: np.zeros((1, 5, 9, 16), np.float16),
    "0-d": lambda: np.zeros((), np.float16),
    "larger": lambda: np.zeros((5, 9, 32), np.float16),
    "Fortran order": lambda: np.zeros((5, 9, 16), np.float16, order="F"),
    "strided": lambda: np.zeros((5, 9, 32), np.float16)[:, :, ::2],
    "reversed": lambda: np.zeros((5, 9, 16), np.float16)[::-1],
    "broadcast": lambda: np.broadcast_to(np.float16(0), (5, 9, 16)),
    "read-only": lambda: read_only(np.zeros((5, 9, 16), np.float16)),
    "list": lambda: [[0.0]],
    "memoryview": lambda: memoryview(np.zeros((5, 9, 16), np.int16)),
}


@pytest.mark.parametrize("wrong", WRONG_OUTS)
def test_a_wrong_out_is_refused_untouched(wrong):
    """Type, shape, order and permission of `out` must be exact; the error says what it is, and nothing is written."""
    setup, window = example()
    out = WRONG_OUTS[wrong]()
    before = np.array(out).tobytes()
    with pytest.raises(al.ParameterError, match=r"^out = "):
        al.load_image_to_local(setup, window, out=out)
    assert np.array(out).tobytes() == before


def test_out_must_not_overlap_a_source():
    """An `out` in the memory of src0 or src1 is refused, and the picture keeps its pixels."""
    for where in (0, 1):
        memory = np.arange(16 * 16 * 32, dtype=np.uint8) % 251
        image = memory[: 16 * 16].reshape(16, 16)
        other = random_picture(16, 16)
        y, uv = (image, other[:8]) if where == 0 else (other, image[:8])
        setup = al.set_aipp_functions(y, uv, input_format=F.YUV420SP_U8, config=al.AippParams(), dtype="uint8")
        before = memory.copy()
        with pytest.raises(al.ParameterError, match="shares no memory with a source"):
            al.load_image_to_local(setup, window_of(y), out=memory.reshape(16, 16, 32))
        assert np.array_equal(memory, before)


@pytest.mark.parametrize(
    ("window", "more"),
    [
        ({"horiz_start_pos": 4}, {}),
        ({"top_pad_size": 30}, {}),
        ({"vert_start_pos": 1}, {}),
        ({}, {"check_capacity": 1}),
        ({}, {"check_capacity": None}),
    ],
)
def test_no_error_leaves_a_half_written_out(window, more):
    """Whatever is wrong with a call, `out` is as it was."""
    setup, right = example()
    out = np.full((5, 9, 16), 7, np.float16)
    with pytest.raises(al.AscendlabError):
        al.load_image_to_local(setup, replace(right, **window), out=out, **more)
    assert (out == 7).all()


def test_a_warning_turned_into_an_error_comes_before_the_first_write():
    """Who makes warnings errors finds `out` untouched as well."""
    picture = random_picture(2, 6)
    setup = al.set_aipp_functions(
        picture, input_format=F.YUV400_U8, config=make_config(c_padding_mode=1), dtype="uint8",
        product=al.Product.ATLAS_350, profile="dav_3510",
    )  # fmt: skip
    out = np.full((2, 6, 4), 7, np.uint8)
    with pytest.raises(al.KernelLimitWarning):
        al.load_image_to_local(setup, window_of(picture), out=out)
    assert (out == 7).all()


# ---- sources and setups


def test_sources_are_referenced_not_copied():
    """A picture changed after SetAippFunctions is loaded as it is then, as on the device; loading leaves it alone."""
    y, uv = random_picture(4, 4), random_picture(2, 4, seed=1)
    setup = al.set_aipp_functions(y, uv, input_format=F.YUV420SP_U8, config=al.AippParams(), dtype="uint8")
    assert setup.src0 is y
    assert setup.src1 is uv
    y[1, 2], uv[0, 3] = 200, 201
    result = al.load_image_to_local(setup, window_of(y))
    assert result[1, 2, 0] == 200
    assert result[1, 3, 2] == 201
    for array in (y, uv):
        array.setflags(write=False)
    before = y.copy(), uv.copy()
    al.load_image_to_local(setup, window_of(y))
    assert np.array_equal(before[0], y)
    assert np.array_equal(before[1], uv)


@pytest.mark.parametrize("input_format", [F.XRGB8888_U8, F.RGB888_U8, F.YUV400_U8], ids=lambda f: f.name)
def test_src1_is_not_looked_at_by_other_formats(input_format):
    """The document calls src1 void unless the format is YUV420SP: anything may stand there."""
    src0, _ = aipp_cases.make_sources(np.random.default_rng(0), input_format, 2, 4)
    for src1 in (None, "anything", np.zeros((9, 9), np.float32)):
        setup = al.set_aipp_functions(src0, src1, input_format=input_format, config=al.AippParams(), dtype="int8")
        assert setup.src1 is None


@pytest.mark.parametrize(
    ("input_format", "src0", "src1", "message"),
    [
        (F.YUV420SP_U8, (4, 4), None, r"^src1 = None .*\(2, 4\), U and V interleaved"),
        (F.YUV420SP_U8, (4, 4), (4, 4), r"^src1 = .*\(2, 4\)"),
        (F.YUV420SP_U8, (4, 4), (2, 2, 2), r"^src1 = .*\(2, 4\)"),
        (F.YUV420SP_U8, (4, 4, 1), (2, 4), r"^src0 = .*\(H, W\), the Y plane"),
        (F.XRGB8888_U8, (4, 4, 3), None, r"^src0 = .*\(H, W, 4\)"),
        (F.RGB888_U8, (4, 4, 4), None, r"^src0 = .*\(H, W, 3\)"),
        (F.RGB888_U8, (3, 4, 4), None, r"^src0 = .*\(H, W, 3\)"),
        (F.YUV400_U8, (4, 4, 1), None, r"^src0 = .*\(H, W\)"),
        (F.YUV400_U8, (16,), None, r"^src0 = .*\(H, W\)"),
    ],
)
def test_a_picture_of_the_wrong_shape(input_format, src0, src1, message):
    """The error names the argument, its shape and the shape that the format has."""
    arrays = [None if shape is None else np.zeros(shape, np.uint8) for shape in (src0, src1)]
    with pytest.raises(al.ParameterError, match=message):
        al.set_aipp_functions(*arrays, input_format=input_format, config=al.AippParams(), dtype="int8")


@pytest.mark.parametrize(
    ("input_format", "height", "width"),
    [
        *((f, *size) for f in F for size in ((4, 4096), (4, 5000), (0, 4), (4, 0), (0, 0))),
        *((f, 4, 1) for f in F if f is not F.YUV420SP_U8),
    ],
    ids=str,
)
def test_a_picture_that_no_window_fits(input_format, height, width):
    """What no window could read is refused at once, with srcHorizSize's own range, and src0 before its src1."""
    src0, src1 = aipp_cases.make_sources(np.random.default_rng(0), input_format, height, width)
    allowed = "allowed: a picture of at least one row, its width (srcHorizSize) in [2, 4095] (LoadImageToLocal)"
    for given in (src1, None):
        with pytest.raises(al.ParameterError) as caught:
            al.set_aipp_functions(src0, given, input_format=input_format, config=al.AippParams(), dtype="int8")
        assert str(caught.value) == f"src0 = a uint8 array of shape {src0.shape} is not allowed; {allowed}"


@pytest.mark.parametrize("input_format", F, ids=lambda f: f.name)
@pytest.mark.parametrize("width", [2, 4094, 4095])
def test_the_narrowest_and_the_widest_picture(input_format, width):
    """Every picture that can be configured can be read in its whole width."""
    if input_format is F.YUV420SP_U8:
        width -= width % 2
    src0, src1 = aipp_cases.make_sources(np.random.default_rng(1), input_format, 2, width)
    setup = al.set_aipp_functions(src0, src1, input_format=input_format, config=al.AippParams(), dtype="uint8")
    result = al.load_image_to_local(setup, window_of(src0))
    assert result.shape == (2, width, 32)
    assert np.array_equal(result[:, :, 0], src0.reshape(2, width, -1)[:, :, 0])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "bool", "object", "S1"])
def test_a_picture_of_the_wrong_type(dtype):
    """Samples are uint8 and nothing else."""
    with pytest.raises(al.ParameterError, match=r"^src0 = an? .* array .*uint8"):
        al.set_aipp_functions(np.zeros((4, 4), dtype), input_format=F.YUV400_U8, config=al.AippParams(), dtype="int8")


def test_setups_plans_and_parameters_cannot_be_changed():
    """What was checked stays as it was checked."""
    setup, window = example()
    plan = aipp_plan(setup, window)
    for thing, name in ((setup, "profile"), (window, "horiz_size"), (setup.config, "swap_params"), (plan, "top")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)
    with pytest.raises(ValueError, match="read-only"):
        al.csc_preset("yuv_to_rgb_jpeg").csc_matrix[0, 0] = 1


def test_parameters_compare_hash_and_pickle():
    """Parameter objects are values: equal fields are equal objects, and they survive a process boundary."""
    for make in (lambda: make_config(padding_mode=2, dtc_min_ch0=0.1), lambda: window_of(np.zeros((4, 4)))):
        assert make() == make()
        assert hash(make()) == hash(make())
        assert pickle.loads(pickle.dumps(make())) == make()
    assert make_config(padding_mode=2) != make_config(padding_mode=1)


def test_half_fields_are_stored_as_half():
    """What a half field shows is what the arithmetic uses."""
    params = al.AippDataTypeConvParams(dtc_min_ch0=0.1, dtc_var_ch2=1 / 3)
    assert params.dtc_min_ch0 == float(np.float16(0.1))
    assert params.dtc_var_ch2 == float(np.float16(1 / 3))


def test_csc_matrix_goes_in_and_out():
    """from_matrix and csc_matrix are inverse; bad matrices and biases are named."""
    matrix = np.array([[1, -2, 3], [-32768, 32767, 0], [7, 8, 9]])
    csc = al.AippColorSpaceConvParams.from_matrix(matrix, bias_in=(1, 2, 3), bias_out=(4, 5, 255))
    assert csc.csc_matrix.dtype == np.int16
    assert np.array_equal(csc.csc_matrix, matrix)
    assert csc.csc_matrix_r1c0 == -32768
    assert (csc.bias_in, csc.bias_out, csc.is_enable_csc) == ((1, 2, 3), (4, 5, 255), True)
    with pytest.raises(al.ParameterError, match=r"^cscMatrixR1C1 = 32768 .*table 8"):
        al.AippColorSpaceConvParams.from_matrix(matrix + np.diag([0, 1, 0]))
    with pytest.raises(al.ParameterError, match=r"^cscBiasOut2 = 256 "):
        al.AippColorSpaceConvParams.from_matrix(matrix, bias_out=(0, 0, 256))
    for wrong in (matrix[:2], matrix.ravel(), 3, None, "abc", [[1, 2, 3], [1, 2], [1, 2, 3]], np.float64(3)):
        with pytest.raises(al.ParameterError):
            al.AippColorSpaceConvParams.from_matrix(wrong)
    with pytest.raises(al.ParameterError, match=r"^name = 'nope' .*yuv_to_rgb_jpeg"):
        al.csc_preset("nope")
    with pytest.raises(al.ParameterError, match=r"^profile = 'nope' .*'documented' or 'dav_3510'"):
        al.csc_preset("rgb_to_yuv_jpeg", "nope")


# ---- types and sizes


@pytest.mark.parametrize(
    ("spellings", "numpy_type"),
    [
        (["half", "float16", np.float16, np.dtype("<f2"), "e", TYPES["half"]], np.float16),
        (["int8", np.int8, np.dtype("i1"), "b", TYPES["int8"]], np.int8),
        (["uint8", np.uint8, np.dtype("u1"), "B", TYPES["uint8"]], np.uint8),
    ],
)
def test_spellings_of_the_output_type(spellings, numpy_type):
    """The document's name, NumPy's name, NumPy's type and the library's own type mean the same."""
    for spelling in spellings:
        setup, window = example(spelling)
        result = al.load_image_to_local(setup, window)
        assert result.dtype == numpy_type
        assert setup.dtype is TYPES[{"float16": "half"}.get(result.dtype.name, result.dtype.name)]


def test_results_are_new_contiguous_arrays():
    """Two calls share nothing, and the result is an ordinary array."""
    setup, window = example()
    first, second = al.load_image_to_local(setup, window), al.load_image_to_local(setup, window)
    assert not np.shares_memory(first, second)
    assert first.flags.c_contiguous
    assert first.flags.writeable
    assert type(first) is np.ndarray


def test_the_plan_says_the_shape_without_moving_anything():
    """Shape and channels are known from the plan alone."""
    setup, window = example()
    plan = aipp_plan(setup, window)
    assert plan.shape == al.load_image_to_local(setup, window).shape == (5, 9, 16)
    assert (plan.top, plan.left, plan.height, plan.width, plan.channels) == (1, 2, 4, 7, 3)
    assert plan.rows.tolist() == [0, 0, 1, 2, 3]
    assert plan.columns.tolist() == [1, 0, 0, 1, 2, 3, 4, 5, 6]


def test_no_legal_result_comes_near_4_gib():
    """The documented ranges bound a result to about half a GiB, so the refusal of 4 GiB never gets in the way."""
    high = {name: spec.high for name, spec in fields_of(al.LoadImageToLocalParams).items()}
    rows = 4095 + high["top_pad_size"] + high["bot_pad_size"]  # vertSize: the call's own check
    columns = high["horiz_size"] + high["left_pad_size"] + high["right_pad_size"]
    largest = int(rows * columns) * 32
    assert largest == 4159 * 4159 * 32 < LARGEST_RESULT // 7
    check_size("the result", largest)
    with pytest.raises(al.BufferOverflowError, match=r"4,294,967,297 bytes needed.*over 4 GiB are refused"):
        check_size("the result", LARGEST_RESULT + 1)
    check_size("the result", LARGEST_RESULT + 1, allow_large=True)


@pytest.mark.parametrize("dtype", ["half", "int8"])
@pytest.mark.parametrize("csc", [False, True])
def test_memory_beyond_the_result_is_bounded(dtype, csc):
    """A 1080p NV12 picture costs its result and less than 8 MiB besides."""
    y, uv = random_picture(1080, 1920), random_picture(540, 1920, seed=1)
    config = replace(
        make_config(padding_mode=3, dtc_mean_ch0=3, dtc_var_ch1=0.5),
        csc_params=al.csc_preset("yuv_to_rgb_bt601_narrow") if csc else al.AippColorSpaceConvParams(),
    )
    tracemalloc.start()
    try:
        setup = al.set_aipp_functions(y, uv, input_format=F.YUV420SP_U8, config=config, dtype=dtype)
        result = al.load_image_to_local(setup, window_of(y, left_pad_size=8, top_pad_size=8))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak >= result.nbytes  # the tracer sees NumPy's memory
    assert peak - result.nbytes < 8 * 2**20


@pytest.mark.rule("aipp-output-types")
def test_output_types_is_the_table():
    """The table of output types can be asked for."""
    assert output_types(al.Product.ATLAS_A2) == output_types(al.Product.ATLAS_A3) == ("int8", "half")
    for product in aipp_cases.WITH_UINT8:
        assert output_types(product) == ("uint8", "int8", "half")
    with pytest.raises(al.UnsupportedProductError):
        output_types(al.Product.ATLAS_TRAINING)


def test_masked_arrays_are_refused():
    """A mask would be ignored without a word, in a source as in a destination."""
    picture = np.arange(30, dtype=np.uint8).reshape(5, 6)
    arguments = {"input_format": al.AippInputFormat.YUV400_U8, "config": al.AippParams(), "dtype": "uint8"}
    with pytest.raises(al.ParameterError, match=r"^src0 = a masked uint8 array"):
        al.set_aipp_functions(np.ma.masked_equal(picture, 7), **arguments)
    setup = al.set_aipp_functions(picture, **arguments)
    params = al.LoadImageToLocalParams(horiz_size=6, vert_size=5, src_horiz_size=6)
    with pytest.raises(al.ParameterError, match=r"^out = a masked uint8 array"):
        al.load_image_to_local(setup, params, out=np.ma.zeros((5, 6, 32), np.uint8))
    with pytest.raises(al.ParameterError, match=r"^src = a masked"):
        al.vector_padding(np.ma.zeros(128, np.float16), 0, False, count=128)
