# SPDX-License-Identifier: BSD-3-Clause
"""What predicts waits, by name: a bound, a rival of bounds, or an object of somebody's own."""

from __future__ import annotations

from typing import Any

from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.as_text import read_entry
from swftools.parameters.names import Names
from swftools.qbets.bounds import Bound, find_bound, list_bounds
from swftools.qbets.rivals import Rival, find_rival, list_rivals


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
    names: Names[Any] = Names("method")
    name, _ = read_entry(method, list_methods())
    _, inner = names.module_of(name)
    if inner not in list_methods():
        there_are = ", ".join(list_methods())
        raise ParameterError(f"no method {inner!r}; there are: {there_are}{did_you_mean([inner], list_methods())}")
    return (find_rival if inner in list_rivals() else find_bound)(method, **parameters)
