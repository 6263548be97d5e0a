# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms by name: the decorator that registers one with all its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.market.sale import Sale
from swftools.parameters import Parameters, is_whole
from swftools.parameters.names import Names

Pricing = Callable[[Sale, Any], npt.ArrayLike]


@dataclass(frozen=True)
class Mechanism:
    """A way to set prices.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for.
    set_prices : callable
        Takes a ``Sale`` and the parameters; returns a number for each job of the sale, in units of the system's choice.
        NaN: the job has no price. Below 0: its user is paid.
    parameters : type
        Class of its parameters.
    needs : tuple of str
        Columns of jobs without which it has no meaning, such as ``("utility",)``.
    version : int
        Raised when its prices change, so that nobody takes old ones for new.
    """

    name: str
    set_prices: Pricing
    parameters: type[Parameters] = Parameters
    needs: tuple[str, ...] = ()
    version: int = 1


_MECHANISMS: Names[Mechanism] = Names("price mechanism")


def mechanism(
    name: str, *, parameters: type[Parameters] | None = None, needs: tuple[str, ...] = (), version: int = 1
) -> Callable[[Pricing], Pricing]:
    """Register a mechanism under a name; see ``Mechanism``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; the class of parameters is another's; the version is not a whole number
        from 1 on.

    Examples
    --------
    >>> @mechanism("example-flat")
    ... def flat(sale, parameters):
    ...     return [5.0] * len(sale)
    >>> find_mechanism("example-flat")[0].needs
    ()
    """
    if not is_whole(version, 1):
        raise ParameterError(f"price mechanism {name!r}: version={version!r} is not an integer of 1 or more")

    def register(set_prices: Pricing) -> Pricing:
        kind = Parameters if parameters is None else parameters.named(name)
        _MECHANISMS.add(name, Mechanism(name, set_prices, kind, needs, version), set_prices)
        return set_prices

    return register


def find_mechanism(text: str, parameters: Mapping[str, Any] | None = None) -> tuple[Mechanism, Parameters]:
    """Return a price mechanism and its parameters.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME:KEY=VALUE,KEY=VALUE``, either behind ``module:``, which is imported first.
    parameters : mapping, optional
        More of its parameters.

    Raises
    ------
    ParameterError
        There is none of that name, it takes no such parameter, or one is given twice.

    Examples
    --------
    >>> find_mechanism("fixed:rate=2")[1].to_text()
    'fixed:rate=2'
    """
    found, given = _MECHANISMS.read(text)
    more = dict(parameters or {})
    if twice := sorted(set(given) & set(more)):
        raise ParameterError(f"{found.name}: {', '.join(twice)} is given twice, in {text!r} and beside it")
    if found.parameters is Parameters and given | more:
        raise ParameterError(f"{found.name}: it takes no parameters; leave {', '.join(given | more)} out")
    return found, found.parameters.from_mapping(given | more)


def list_mechanisms() -> dict[str, Mechanism]:
    """Return the mechanisms by name."""
    return dict(_MECHANISMS.known)
