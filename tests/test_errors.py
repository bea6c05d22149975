"""The error family: one root, messages that say parameter, value and what is allowed."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import junk
import numpy as np
import pytest

import ascendlab as al
from ascendlab import errors

FAMILY = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, errors.AscendlabError)]


def test_every_error_is_a_value_error():
    """Who catches ValueError catches them all; who catches AscendlabError catches nothing else."""
    assert issubclass(errors.AscendlabError, ValueError)
    assert {al.ParameterError, al.UnsupportedProductError, al.BufferOverflowError} <= set(FAMILY)
    assert {c.__name__ for c in FAMILY} <= set(errors.__all__)


def test_warnings_have_one_root():
    """One filter silences, or raises, all warnings of the library."""
    for warning in (al.DocumentationConflictWarning, al.KernelLimitWarning):
        assert issubclass(warning, al.AscendlabWarning)
    assert issubclass(al.AscendlabWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error", al.AscendlabWarning)
        with pytest.raises(al.KernelLimitWarning):
            warnings.warn("x", al.KernelLimitWarning, stacklevel=1)


def test_parameter_error_says_everything():
    """Parameter as the document spells it, the value, the range, the table, a hint; and the parts as attributes."""
    error = al.ParameterError("padMode", 7, "an integer in [0, 3]", table="table 3", hint="Why not")
    assert str(error) == "padMode = 7 is not allowed; allowed: an integer in [0, 3] (table 3). Why not"
    assert (error.parameter, error.value, error.allowed, error.table, error.hint) == (
        "padMode", 7, "an integer in [0, 3]", "table 3", "Why not",
    )  # fmt: skip
    assert str(al.ParameterError("a", None, "b")) == "a = None is not allowed; allowed: b"


def test_unsupported_product_error_lists_the_products():
    """The message names the API, the product and where the API exists."""
    error = al.UnsupportedProductError("F", al.Product.ATLAS_A2, [al.Product.ATLAS_350, al.Product.ATLAS_A3])
    assert str(error) == "F is not supported on Atlas A2; supported on: Atlas 350, Atlas A3"
    assert error.supported == (al.Product.ATLAS_350, al.Product.ATLAS_A3)


def test_buffer_overflow_error_says_the_bytes():
    """The message has both byte counts, readable."""
    error = al.BufferOverflowError("L1", 1048577, 1048576, hint="Tile it")
    assert str(error) == "L1: 1,048,577 bytes needed, 1,048,576 bytes there. Tile it"
    assert (error.needed, error.available) == (1048577, 1048576)


@pytest.mark.parametrize(
    "error",
    [
        al.ParameterError("a", 3, "b", table="t", hint="h"),
        al.ParameterError("a", np.arange(3), "b"),
        al.UnsupportedProductError("F", al.Product.ATLAS_A2, (al.Product.ATLAS_350,)),
        al.BufferOverflowError("L1", 2, 1, hint="h"),
        al.FileProblemError("x.bin", "is no file", "Give a file"),
        al.AscendlabError("plain"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_errors_survive_pickling(error):
    """An error from a worker process arrives whole."""
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert set(vars(twin)) == set(vars(error))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (-(2**256), "an integer of 257 bits"),
        (10**5000, "an integer of 16610 bits"),
        (2**256 - 1, "1157920892373"),
        (True, "True"),
        (float("nan"), "nan"),
        (np.int8(-3), "-3"),
        (np.float16(0.5), "0.5"),
        (np.str_("a"), "'a'"),
        ("a\n b", "'a\\n b'"),
        (np.zeros((2, 3), np.int8), "an int8 array of shape (2, 3)"),
        (np.zeros((4, 4), np.uint8), "a uint8 array of shape (4, 4)"),
        (np.zeros(1, np.uint32), "a uint32 array of shape (1,)"),
        (np.zeros(1, np.int64), "an int64 array of shape (1,)"),
        (np.ma.zeros(3, np.uint8), "a masked uint8 array of shape (3,)"),
        (np.zeros((), np.float16), "a float16 array of shape ()"),
        (np.zeros(2, object), "an object array of shape (2,)"),
        (al.Product.ATLAS_A2, "<Product.ATLAS_A2: 'Atlas A2'>"),
        (junk.BrokenRepr(), "BrokenRepr"),
        ([10**5000], "list"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_values_are_described_in_one_short_line(value, text):
    """Arrays by type and shape, huge integers by their bits, everything else short and on one line."""
    described = errors.describe_value(value)
    assert "\n" not in described
    assert len(described) < 120
    assert text in described


@pytest.mark.parametrize("label", junk.MAKERS)
def test_any_value_can_be_described(label):
    """No value, however broken, keeps the message from being written."""
    described = errors.describe_value(junk.MAKERS[label]())
    assert described
    assert "\n" not in described
    assert len(described) < 400
