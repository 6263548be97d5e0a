# SPDX-License-Identifier: BSD-3-Clause
"""What predicts waits, by name: a bound, a rival of bounds, or an object of somebody's own."""

from __future__ import annotations

from typing import Any

from swftools.errors import ParameterError
from swftools.parameters.as_text import read_entry
from swftools.parameters.registry import Registry
from swftools.parameters.spelling import require_known
from swftools.qbets.bounds import Bound, find_bound, list_bounds
from swftools.qbets.rivals import Rival, find_rival, list_rivals

_METHODS: Registry[Any] = Registry("method")
"""In whose words methods are refused; each is registered as a bound or as a rival."""


def list_methods() -> dict[str, type[Bound] | type[Rival]]:
    """Return the registered classes of bounds and rivals by name."""
    return {**list_bounds(), **list_rivals()}


def find_method(method: Any, **parameters: Any) -> Any:
    """Return a bound or rival by name, with parameters after it; an object is returned as it is.

    Parameters
    ----------
    method : str, Bound, Rival or object
        ``module:name`` imports the module that registers it first. Objects have ``fit``, ``update`` and ``predict``.
    **parameters
        Parameters such as quantile: those that the method has are set, unless the text gives them.

    Raises
    ------
    ParameterError
        There is none of that name, it takes no such parameter, or the object lacks a method.

    Examples
    --------
    >>> find_method("binomial:confidence=0.99", quantile=0.9).short_text()
    'binomial:confidence=0.99,quantile=0.9'
    >>> find_method("gradient-boosting").quantile
    0.95
    """
    if not isinstance(method, str):
        is_ours = isinstance(method, Bound | Rival)
        if not is_ours and not all(callable(getattr(method, name, None)) for name in ("fit", "update", "predict")):
            raise ParameterError(f"method={method!r} is neither a bound nor an object with fit, update and predict")
        return method
    name, _ = read_entry(method, list_methods())
    _, inner = _METHODS.module_of(name)
    inner = require_known(f"no method {inner!r}", inner, list_methods())
    return (find_rival if inner in list_rivals() else find_bound)(method, **parameters)


def registered_method(text: str) -> Any:
    """Return a bound or rival that is registered already, as a saved state names it; nothing is imported.

    Raises
    ------
    ParameterError
        None is registered under that name, or it takes no such parameter.
    """
    name, _ = read_entry(text, list_methods())
    if name not in list_methods():
        raise _METHODS.not_registered(name)
    return find_method(text)


def check_given(name: str, saved: str | None, method: Any) -> None:
    """Refuse a method that is given for a state, unless it is the one that it was saved with; one may be needed.

    Raises
    ------
    ParameterError
        It was saved with an object and none is given, or with another method.
    """
    if saved is None and method is None:
        raise ParameterError(f"{name} was saved with an object, which is not in the file: pass method=")
    if saved is not None and method is not None:
        given = find_method(method) if isinstance(method, str) else method
        if not isinstance(given, Bound | Rival) or given.to_text().split(":")[0] != saved.split(":")[0]:
            raise ParameterError(f"{name} was saved with {saved}: leave method= out, or pass that one")
