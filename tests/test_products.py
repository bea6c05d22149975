"""The product families and their buffers."""

from __future__ import annotations

import pickle

import pytest

import ascendlab as al
from ascendlab.products import as_product, require_product

Product = al.Product
KIB = 1024
SIZES = {
    Product.ATLAS_350: (512, 64, 64, 256, 248),
    Product.ATLAS_A3: (512, 64, 64, 128, 192),
    Product.ATLAS_A2: (512, 64, 64, 128, 192),
    Product.ATLAS_200I_500_A2: (1024, 64, 64, 128, 256),
    Product.ATLAS_INFERENCE_AI_CORE: (1024, 64, 64, 256, 256),
    Product.ATLAS_TRAINING: (1024, 64, 64, 256, 256),
}


def test_the_seven_families():
    """Seven members with the documents' names; ASCEND_950 is another name for Atlas 350."""
    assert {p.name: str(p) for p in Product} == {
        "ATLAS_350": "Atlas 350",
        "ATLAS_A3": "Atlas A3",
        "ATLAS_A2": "Atlas A2",
        "ATLAS_200I_500_A2": "Atlas 200I/500 A2",
        "ATLAS_INFERENCE_AI_CORE": "Atlas inference AI Core",
        "ATLAS_INFERENCE_VECTOR_CORE": "Atlas inference Vector Core",
        "ATLAS_TRAINING": "Atlas training",
    }
    assert Product.ASCEND_950 is Product.ATLAS_350
    assert pickle.loads(pickle.dumps(Product.ASCEND_950)) is Product.ATLAS_350


@pytest.mark.parametrize("product", SIZES, ids=lambda p: p.name)
def test_buffer_sizes(product):
    """Bytes of each on-chip buffer, and the same numbers in the docstring's table."""
    expected = dict(zip(("L1", "L0A", "L0B", "L0C", "UB"), SIZES[product], strict=True))
    assert {name: size // KIB for name, size in product.buffers.items()} == expected
    assert all(size % KIB == 0 for size in product.buffers.values())
    [row] = [line.split() for line in Product.__doc__.splitlines() if f"``{product.name}``" in line]
    assert tuple(map(int, row[-5:])) == SIZES[product]


def test_vector_core_has_only_a_unified_buffer():
    """Vector Core has no L1 and no L0; asking for one is a KeyError, not a zero."""
    assert dict(Product.ATLAS_INFERENCE_VECTOR_CORE.buffers) == {"UB": 256 * KIB}


def test_buffer_tables_cannot_be_changed():
    """The sizes are read-only."""
    with pytest.raises(TypeError):
        Product.ATLAS_A2.buffers["L1"] = 1


@pytest.mark.parametrize("wrong", [None, "ATLAS_A2", "Atlas A2", 0, Product, ["ATLAS_A2"]])
def test_a_product_is_a_member(wrong):
    """Names and numbers are no products; the message lists the members."""
    with pytest.raises(al.ParameterError, match=r"^product = .*Product\.ATLAS_350.*Product\.ATLAS_TRAINING"):
        as_product(wrong)


def test_require_product():
    """A supported product passes; another is an error that lists the supported ones."""
    assert require_product("F", Product.ATLAS_A2, (Product.ATLAS_A2,)) is Product.ATLAS_A2
    with pytest.raises(al.UnsupportedProductError, match="F is not supported on Atlas A3; supported on: Atlas A2"):
        require_product("F", Product.ATLAS_A3, (Product.ATLAS_A2,))
