"""A picture through AIPP, Load3D and the matrix unit; and kernels that forget a call."""

from __future__ import annotations

import numpy as np
import pytest

from ascendlab import BufferOverflowError, ParameterError, Product, launch, trace
from ascendlab.capi.conv2d_example import EXAMPLE, Conv2dShape, conv2d_forward_capi, make_inputs
from ascendlab.capi.left_out import without
from ascendlab.capi.picture_filter import FILTERS, filter_picture, strips_of
from ascendlab.errors import AscendlabError, KernelError, SynchronizationError, UninitialisedReadError
from ascendlab.pictures import photograph


def filtered_by_hand(picture: np.ndarray, taps: np.ndarray, pad: float) -> np.ndarray:
    """Filter number by number; exact for small whole numbers."""
    height, width, colours = picture.shape
    result = np.zeros(picture.shape, np.float64)
    for y in range(height):
        for x in range(width):
            for c in range(colours):
                for i in range(taps.shape[0]):
                    for j in range(taps.shape[1]):
                        row, column = y + i - taps.shape[0] // 2, x + j - taps.shape[1] // 2
                        inside = 0 <= row < height and 0 <= column < width
                        result[y, x, c] += float(taps[i, j]) * (float(picture[row, column, c]) if inside else pad)
    return result.astype(np.float16)


@pytest.mark.parametrize(
    ("shape", "taps", "pad"),
    [
        ((5, 7), (3, 3), 0), ((2, 3), (3, 3), 5), ((33, 9), (3, 3), -2), ((70, 11), (5, 3), 1), ((9, 30), (1, 5), 7),
        ((33, 4), (1, 1), 0), ((12, 13), (7, 7), 3),
    ],
)  # fmt: skip
def test_the_chain_filters_as_one_does_by_hand(shape, taps, pad):
    """Whatever the sizes, every number of every colour is the sum over its neighbours, with padding around."""
    rng = np.random.default_rng(sum(shape))
    picture = rng.integers(0, 64, (*shape, 3), np.uint8)
    weights = rng.integers(-3, 4, taps)
    filtered = filter_picture(picture, weights, pad_value=pad)
    np.testing.assert_array_equal(filtered.values, filtered_by_hand(picture, weights, pad))
    assert len(filtered.launched.cores) == len(filtered.strips) == -(-shape[0] // 32)


def test_a_photograph_is_blurred_and_sharpened():
    """A blur takes differences between the photograph's neighbours away, a sharpening adds some; 1 changes nothing."""
    rgb = photograph(96, 82)
    rough = {name: np.abs(np.diff(filter_picture(rgb, taps).picture[4:-4, 4:-4].astype(int), axis=1)).mean()
             for name, taps in FILTERS.items()}  # fmt: skip
    plain = np.abs(np.diff(rgb[4:-4, 4:-4].astype(int), axis=1)).mean()
    assert rough["blur"] < 0.9 * plain < plain < rough["sharpen"]
    same = filter_picture(rgb, np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(same.picture, rgb)


def test_values_are_rounded_and_cut_for_the_eye():
    """A picture has bytes: what is below 0 or above 255 is cut, halves go to the even number."""
    rgb = np.full((2, 3, 3), 51, np.uint8)
    assert (filter_picture(rgb, np.array([[-1]])).picture == 0).all()
    assert (filter_picture(rgb, np.array([[9]])).picture == 255).all()
    assert (filter_picture(rgb, np.array([[0.5]])).picture == 26).all()


def test_an_output_is_traced_back_to_the_photograph():
    """The log leads through four memories and three instructions back to the pixels and the taps."""
    rng = np.random.default_rng(3)
    rgb = rng.integers(0, 50, (34, 6, 3), np.uint8)
    taps = rng.integers(1, 5, (3, 3))
    filtered = filter_picture(rgb, taps, pad_value=2)
    assert len(filtered.strips) == 2
    traced = trace(filtered.launched)
    for y, x, c in ((17, 3, 1), (16, 5, 2), (0, 0, 0), (33, 5, 2)):
        origin = traced.origin(y, x, c)
        pixels = {term.index for term in origin.terms if term.operand == "src0" and term.factor_index[1] == c
                  and term.factor_index[0] % 16 == c}  # fmt: skip
        near = {(i, j, c) for i in range(max(0, y - 1), min(34, y + 2)) for j in range(max(0, x - 1), min(6, x + 2))}
        assert pixels == near


def test_all_pipes_take_part():
    """The log of a block names every call of the chain, on the pipe where it runs."""
    filtered = filter_picture(photograph(20, 16), FILTERS["edges"])
    (core,) = filtered.launched.cores
    pipes = {step.call: step.pipe.name for step in core.steps if step.writes}
    assert pipes == {
        "load_image_to_local": "MTE2", "asc_copy_gm2l1_nd2nz": "MTE2", "asc_copy_l12l0b_transpose": "MTE1",
        "asc_copy_l12l0a": "MTE1", "asc_mmad": "M", "asc_copy_l0c2gm": "FIX",
    }  # fmt: skip
    image = core.memory_map("L1").allocations[0]
    assert (image.name, image.size) == ("image_l1", 20 * 16 * 32)


def test_strips_cover_the_picture_once():
    """Strips follow each other, load their neighbours, and together with the weights fit into L1."""
    for height, width, taps in ((240, 206, (3, 3)), (7, 4095, (3, 3)), (2, 2, (7, 7)), (65, 500, (5, 5))):
        strips = strips_of(height, width, taps)
        assert [s.first for s in strips] == np.cumsum([0, *(s.rows for s in strips)])[:-1].tolist()
        assert sum(s.rows for s in strips) == height
        for s in strips:
            loaded = s.window.vert_size * width * 32 + 16 * taps[0] * taps[1] * 32
            assert loaded <= Product.ATLAS_350.buffers["L1"]
            assert s.window.vert_size + s.pad_top + s.pad_bottom == s.rows + taps[0] - 1
    with pytest.raises(BufferOverflowError, match="L1"):
        strips_of(7, 4095, (5, 5))


@pytest.mark.parametrize(
    ("picture", "taps", "more", "name"),
    [
        (np.zeros((4, 4)), FILTERS["blur"], {}, "picture"),
        (np.zeros((4, 4), np.uint8), FILTERS["blur"], {}, "picture"),
        (np.zeros((1, 4, 3), np.uint8), FILTERS["blur"], {}, "picture"),
        (None, FILTERS["blur"], {}, "picture"),
        (np.zeros((4, 4, 3), np.uint8), np.ones((2, 3)), {}, "taps"),
        (np.zeros((4, 4, 3), np.uint8), np.ones((9, 3)), {}, "taps"),
        (np.zeros((4, 4, 3), np.uint8), np.full((3, 3), np.nan), {}, "taps"),
        (np.zeros((4, 4, 3), np.uint8), np.full((3, 3), 1e9), {}, "taps"),
        (np.zeros((4, 4, 3), np.uint8), [[1]], {}, "taps"),
        (np.zeros((4, 4, 3), np.uint8), FILTERS["blur"], {"pad_value": 1e6}, "pad_value"),
        (np.zeros((4, 4, 3), np.uint8), FILTERS["blur"], {"pad_value": None}, "pad_value"),
        (np.zeros((4, 4, 3), np.uint8), FILTERS["blur"], {"record": 1}, "record"),
    ],
)
def test_what_is_no_picture_or_filter_is_refused(picture, taps, more, name):
    """Everything that cannot be filtered is said so by name."""
    with pytest.raises(ParameterError, match=name):
        filter_picture(picture, taps, **more)


FORGOTTEN = {
    ("asc_set_gm2l1_nz_para", 0): (UninitialisedReadError, "MTE2_NZ_PARA"),
    ("asc_copy_gm2l1_nd2nz", 0): (UninitialisedReadError, "fmap_l1"),
    ("asc_sync_notify", 0): (SynchronizationError, "would hang"),
    ("asc_sync_wait", 0): (SynchronizationError, "step 3"),
    ("asc_sync_wait", 1): (SynchronizationError, "asc_mmad"),
    ("asc_sync_wait", 2): (SynchronizationError, "asc_copy_l0c2gm"),
    ("asc_set_l13d_fmatrix", None): (UninitialisedReadError, "FMATRIX"),
    ("asc_set_l13d_rpt", None): (KernelError, r"bits \[47:32\]"),
    ("asc_copy_l12l0a", None): (UninitialisedReadError, "A\\[m=0, k=0\\]"),
    ("asc_copy_l12l0b_transpose", 17): (UninitialisedReadError, "B\\[k=272, n=0\\]"),
    ("asc_mmad", None): (UninitialisedReadError, "never been written"),
    ("asc_set_l0c_copy_nz_para", None): (UninitialisedReadError, "LOOP3_PARA"),
}


@pytest.mark.parametrize(("call", "number"), FORGOTTEN)
def test_a_forgotten_call_is_found_out(call, number):
    """Without a call the kernel stops at the one that needs it, with the core as it was then."""
    kind, words = FORGOTTEN[call, number]
    fmap, weight, output = make_inputs()
    with pytest.raises(kind, match=words) as caught:
        launch(without(conv2d_forward_capi, call, number=number), EXAMPLE.BATCH, fmap, weight, output, EXAMPLE)
    calls = [step.call for step in caught.value.core.steps]
    whole = [step.call for step in launch(conv2d_forward_capi, 4, fmap, weight, np.zeros_like(output)).cores[0].steps]
    places = [i for i, name in enumerate(whole) if name == call]
    gone = places if number is None else [places[number]]
    assert calls == [name for i, name in enumerate(whole) if i not in gone][: len(calls)]
    assert len(calls) < len(whole) - len(gone)
    assert not output.any()


def test_some_forgotten_calls_are_found_by_the_result_only():
    """Without its padding value the kernel runs, with the 0 that asc_init has left: the golden data differ."""
    s = Conv2dShape(PAD_VALUE=1)
    fmap, weight, output = make_inputs(s)
    launch(without(conv2d_forward_capi, "asc_set_l12l0a_3d_padding"), s.BATCH, fmap, weight, output, s)
    zero = Conv2dShape()
    np.testing.assert_array_equal(output, zero.golden(fmap, weight))
    assert (output != s.golden(fmap, weight)).any()


def test_nothing_else_changes():
    """A call that the kernel does not make is left out in vain, and the kernel keeps its name and parameters."""
    fmap, weight, output = make_inputs()
    kernel = without(conv2d_forward_capi, "asc_sync_wait", number=9)
    launched = launch(kernel, EXAMPLE.BATCH, fmap, weight, output, EXAMPLE)
    assert len(launched.cores[0].steps) == 37
    assert list(launched.gm) == ["fmap", "weight", "output"]
    np.testing.assert_array_equal(output, EXAMPLE.golden(fmap, weight))


@pytest.mark.parametrize(("call", "more"), [("asc_nothing", {}), (None, {}), ("at", {}), ("asc_mmad", {"number": -1}),
                                            ("asc_mmad", {"number": True}), ("asc_mmad", {"number": "1"})])  # fmt: skip
def test_what_cannot_be_left_out(call, more):
    """Only calls of the C API can be left out."""
    with pytest.raises(AscendlabError, match=r"call|number"):
        without(conv2d_forward_capi, call, **more)
    with pytest.raises(ParameterError, match="kernel"):
        without(3, "asc_mmad")
    assert callable(without(conv2d_forward_capi, "asc_mmad", number=2**31))
    with pytest.raises(ParameterError, match="number = 2147483649"):
        without(conv2d_forward_capi, "asc_mmad", number=2**31 + 1)
