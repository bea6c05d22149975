"""The seven product families of the documents: their names, and the sizes of their on-chip buffers.

>>> Product.ATLAS_A2.buffers["L1"]
524288
>>> Product.ASCEND_950 is Product.ATLAS_350
True
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from ascendlab.errors import ParameterError, UnsupportedProductError

__all__ = ["Product", "as_product", "require_product"]

KIB = 1024


class Product(Enum):
    """A product family, as the documents' support tables list them.

    ====================================  ==================================  =====  ======  ======  =====  =====
    member                                document                            L1     L0A     L0B     L0C    UB
    ====================================  ==================================  =====  ======  ======  =====  =====
    ``ATLAS_350`` (``ASCEND_950``)        Atlas 350                           512    64      64      256    248
    ``ATLAS_A3``                          Atlas A3 training / inference       512    64      64      128    192
    ``ATLAS_A2``                          Atlas A2 training / inference       512    64      64      128    192
    ``ATLAS_200I_500_A2``                 Atlas 200I/500 A2 inference         1024   64      64      128    256
    ``ATLAS_INFERENCE_AI_CORE``           Atlas inference, AI Core            1024   64      64      256    256
    ``ATLAS_INFERENCE_VECTOR_CORE``       Atlas inference, Vector Core        --     --      --      --     256
    ``ATLAS_TRAINING``                    Atlas training                      1024   64      64      256    256
    ====================================  ==================================  =====  ======  ======  =====  =====

    Sizes are KiB per core.
    """

    ATLAS_350 = "Atlas 350"
    ATLAS_A3 = "Atlas A3"
    ATLAS_A2 = "Atlas A2"
    ATLAS_200I_500_A2 = "Atlas 200I/500 A2"
    ATLAS_INFERENCE_AI_CORE = "Atlas inference AI Core"
    ATLAS_INFERENCE_VECTOR_CORE = "Atlas inference Vector Core"
    ATLAS_TRAINING = "Atlas training"
    ASCEND_950 = ATLAS_350

    def __str__(self) -> str:
        return self.value

    @property
    def buffers(self) -> Mapping[str, int]:
        """Bytes of each on-chip buffer (``"L1"``, ``"L0A"``, ``"L0B"``, ``"L0C"``, ``"UB"``) that this product has."""
        return _BUFFERS[self]


def _sizes(l1: int, l0c: int, ub: int) -> Mapping[str, int]:
    kib = {"L1": l1, "L0A": 64, "L0B": 64, "L0C": l0c, "UB": ub}
    return MappingProxyType({name: size * KIB for name, size in kib.items()})


_BUFFERS: Mapping[Product, Mapping[str, int]] = {
    Product.ATLAS_350: _sizes(512, 256, 248),
    Product.ATLAS_A3: _sizes(512, 128, 192),
    Product.ATLAS_A2: _sizes(512, 128, 192),
    Product.ATLAS_200I_500_A2: _sizes(1024, 128, 256),
    Product.ATLAS_INFERENCE_AI_CORE: _sizes(1024, 256, 256),
    Product.ATLAS_INFERENCE_VECTOR_CORE: MappingProxyType({"UB": 256 * KIB}),
    Product.ATLAS_TRAINING: _sizes(1024, 256, 256),
}


def as_product(value: object) -> Product:
    """Return `value` if it is a `Product`; explain what a product is if it is not."""
    if isinstance(value, Product):
        return value
    raise ParameterError("product", value, "one of " + ", ".join(f"Product.{p.name}" for p in Product))


def require_product(api: str, product: object, supported: tuple[Product, ...]) -> Product:
    """Return `product` if `api` exists there, else raise `UnsupportedProductError`."""
    checked = as_product(product)
    if checked not in supported:
        raise UnsupportedProductError(api, checked, supported)
    return checked
