"""A kernel that forgets one of its calls: what the machine then says is the best explanation of the call.

>>> from ascendlab.capi import launch
>>> from ascendlab.capi.conv2d_example import conv2d_forward_capi, make_inputs
>>> fmap, weight, output = make_inputs()
>>> forgetful = without(conv2d_forward_capi, "asc_set_l13d_fmatrix")
>>> launch(forgetful, 4, fmap, weight, output)
Traceback (most recent call last):
    ...
ascendlab.errors.UninitialisedReadError: asc_copy_l12l0a: it reads the register FMATRIX, which nobody has set. \
Call asc_set_l13d_fmatrix before
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ascendlab.capi.core import AICore
from ascendlab.errors import ParameterError
from ascendlab.fields import check_int

__all__ = ["without"]


class _Forgetful:
    """Stands for a core, and lets one call, or all of a name, go by."""

    def __init__(self, core: AICore, call: str, number: int | None) -> None:
        self._core, self._call, self._number = core, call, number
        self._seen = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._core, name)
        return self._maybe(found) if name == self._call else found

    def _maybe(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            number, self._seen = self._seen, self._seen + 1
            if self._number in (None, number):
                return None
            return method(*arguments, **named)

        return call


def without(kernel: Callable[..., Any], call: str, *, number: int | None = None) -> Callable[..., Any]:
    """Return a kernel that leaves a call out.

    Parameters
    ----------
    kernel : callable
        Its first parameter is the core.
    call : str
        The call's name, for instance ``"asc_sync_wait"``.
    number : int, optional
        Which one of that name, from 0; all of them by default.

    Raises
    ------
    ParameterError
        For a name that is no call of the C API.
    """
    if not callable(kernel):
        raise ParameterError("kernel", kernel, "a function whose first parameter is the core")
    if not isinstance(call, str) or not call.startswith("asc_") or not hasattr(AICore, call):
        raise ParameterError("call", call, "a call of the C API, such as asc_sync_wait")
    which = None if number is None else check_int("number", number, 0, 2**31)

    @functools.wraps(kernel)
    def forgetful(core: AICore, *arguments: Any, **named: Any) -> Any:
        return kernel(_Forgetful(core, call, which), *arguments, **named)

    return forgetful
