# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms by name: the decorator that registers one with all its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.market.sale import Sale
from swftools.parameters import Parameters
from swftools.parameters.registry import Registry

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


MECHANISMS: Registry[Mechanism] = Registry("price mechanism")


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

    def make(set_prices: Pricing) -> Mechanism:
        kind = Parameters if parameters is None else parameters.named(name)
        return Mechanism(name, set_prices, kind, needs, version)

    return MECHANISMS.decorator(name, make, version=version)


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
    found, given = MECHANISMS.read(text, parameters)
    if found.parameters is Parameters and given:
        raise ParameterError(f"{found.name}: it takes no parameters; leave {', '.join(given)} out")
    return found, found.parameters.from_mapping(given)


def list_mechanisms() -> dict[str, Mechanism]:
    """Return the mechanisms by name."""
    return MECHANISMS.list()
