# SPDX-License-Identifier: BSD-3-Clause
"""CO-VARQ: several reservations that must all be met, each asked for at as many sites as that takes.

Where all of COUNT reservations shall be met with P_all, and their sites wait independently, each must be met with
P_indep = P_all^(1/COUNT). A reservation that is asked for at several sites is met where one of these meets it:
1 - prod(1 - p).

References
----------
Nurmi 2009, section 6.2.1 and Figure 6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.parameters import is_number

_ROUNDING = 1e-12


@dataclass(frozen=True)
class CoAllocation:
    """Which reservation is asked for where.

    Parameters
    ----------
    sites : tuple of tuple of int
        For each reservation its sites, in the order in which they were taken.
    probabilities : tuple of float
        Of each reservation, that one of its sites meets it.
    needed : float
        What each had to reach, P_indep.
    """

    sites: tuple[tuple[int, ...], ...]
    probabilities: tuple[float, ...]
    needed: float

    @property
    def is_accepted(self) -> bool:
        """Whether each reservation reaches what it has to."""
        return all(each >= self.needed - _ROUNDING for each in self.probabilities)

    @property
    def probability(self) -> float:
        """That all are met."""
        return prod(self.probabilities)


def independent_probability(probability: float, count: int) -> float:
    """Return with which probability each of so many reservations must be met, so that all are.

    Examples
    --------
    >>> round(independent_probability(0.95, 2), 3), round(independent_probability(0.95, 3), 3)
    (0.975, 0.983)
    """
    if not is_number(probability) or not 0.0 < probability < 1.0:
        raise ParameterError(f"probability={probability!r} is not a number between 0 and 1, both excluded")
    return float(probability ** (1.0 / count))


def any_of(probabilities: Sequence[float]) -> float:
    """Return that one of several independent attempts succeeds.

    Examples
    --------
    >>> round(any_of([0.9, 0.9]), 4), any_of([])
    (0.99, 0.0)
    """
    return 1.0 - prod(1.0 - each for each in probabilities)


def co_allocate(table: npt.ArrayLike, probability: float, *, shared: bool = False) -> CoAllocation:
    """Return at which sites to ask for each of several reservations.

    For one reservation after the other the best remaining site is taken, the first of equal ones, until that is enough
    or there is none.

    Parameters
    ----------
    table : array_like of float, shape (reservations, sites)
        With which probability a site meets a reservation, 0 to 1; 0 where it cannot, as of one that does not fit.
    probability : float
        That all shall be met with.
    shared : bool
        Whether a site may be taken for several reservations; else each is taken once.

    Raises
    ------
    ParameterError
        The table is none of probabilities, or the probability is not between 0 and 1.

    Notes
    -----
    The text draws each request "from the resource pool", so a site that is taken is gone, though two requests at one
    site would count as independent too: ``shared=True`` lets that be.

    Examples
    --------
    Two reservations, five sites, .90: each has to reach .949.

    >>> found = co_allocate([[0.80, 0.76, 0.10, 0.10, 0.10], [0.60, 0.50, 0.66, 0.65, 0.605]], 0.90)
    >>> found.sites, [round(each, 3) for each in found.probabilities], round(found.probability, 2)
    (((0, 1), (2, 3, 4)), [0.952, 0.953], 0.91)
    """
    chances = np.asarray(table, np.float64)
    if chances.ndim != 2 or not len(chances) or not ((chances >= 0.0) & (chances <= 1.0)).all():
        raise ParameterError(
            "table: give probabilities from 0 to 1, a row for each reservation, a column for each site"
        )
    needed = independent_probability(probability, len(chances))
    is_left = np.ones(chances.shape[1], np.bool_)
    sites, reached = [], []
    for row in chances:
        mine: list[int] = []
        for site in np.argsort(-row, kind="stable").tolist():
            if any_of(row[mine].tolist()) >= needed - _ROUNDING or row[site] <= 0.0:
                break
            if is_left[site]:
                mine.append(site)
        if not shared:
            is_left[mine] = False
        sites.append(tuple(mine))
        reached.append(any_of(row[mine].tolist()))
    return CoAllocation(tuple(sites), tuple(reached), needed)
