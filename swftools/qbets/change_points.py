# SPDX-License-Identifier: BSD-3-Clause
"""Change points: when waits change for good, the history before is forgotten.

Of waits that are independent and alike, three in a row above their .95 quantile are rare: once in 8,000. So many misses
in a row are taken for a change, and only the newest waits are kept, as many as a bound needs. Waits that are correlated
miss together more often, and more misses are asked of them.

References
----------
Nurmi 2009, section 4.2.2; the first table is that of the authors' public code (schmib_q), the second was computed for
this package: the numbers k of values in a row, of a Gaussian autoregression of first order, that are all above the .95
quantile with a probability of .05^3 at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, kernel
from swftools.parameters import did_you_mean

RECENT = 101
"""Values, at most, of which the autocorrelation is taken."""


class RareEvents(NamedTuple):
    """How many misses in a row are rare: ``misses`` holds from its ``autocorrelation`` to the next one."""

    autocorrelation: FloatArray
    misses: IntArray


_RARE_EVENTS: dict[str, RareEvents] = {}


def rare_events(name: str) -> RareEvents:
    """Return a table by its name.

    Raises
    ------
    ParameterError
        There is none of that name.

    Examples
    --------
    >>> misses_in_a_row(0.55, rare_events("reference")), misses_in_a_row(-0.2, rare_events("computed"))
    (6, 3)
    """
    if not isinstance(name, str) or name not in _RARE_EVENTS:
        raise ParameterError(
            f"no table of rare events {name!r}; there are: {', '.join(_RARE_EVENTS)}"
            f"{did_you_mean([str(name)], _RARE_EVENTS)}; register_rare_events adds one of yours"
        )
    return _RARE_EVENTS[name]


def register_rare_events(name: str, autocorrelation: npt.ArrayLike, misses: npt.ArrayLike) -> RareEvents:
    """Register a table of your own: how many misses in a row are rare, by autocorrelation.

    Parameters
    ----------
    name : str
        The name to use in a replay. An earlier table of that name is replaced, unless it is one of the package.
    autocorrelation : array_like of float, shape (n,)
        Rising; below the first value, the first row holds.
    misses : array_like of int, shape (n,)
        1 or more each.

    Raises
    ------
    ParameterError
        It has another form, or the name of a table of the package.
    """
    places, counts = np.array(autocorrelation, np.float64), np.array(misses, np.int64)
    if places.ndim != 1 or places.shape != counts.shape or not len(places):
        raise ParameterError(f"rare events {name!r}: give as many numbers of misses as autocorrelations, one at least")
    if not (np.diff(places) > 0).all() or (counts < 1).any():
        raise ParameterError(f"rare events {name!r}: autocorrelations must rise, and numbers of misses be 1 or more")
    if name in ("reference", "computed") and name in _RARE_EVENTS:
        raise ParameterError(f"rare events {name!r} is a table of the package: choose another name")
    _RARE_EVENTS[name] = RareEvents(places, counts)
    return _RARE_EVENTS[name]


register_rare_events("reference", np.arange(10) / 10.0, [3, 3, 4, 4, 5, 6, 8, 10, 14, 28])
register_rare_events(
    "computed", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], [3, 4, 4, 5, 5, 6, 7, 9, 12, 23, 42]
)


@kernel(allocates=False)
def misses_in_a_row(autocorrelation: float, table: RareEvents) -> int:
    """Return how many misses in a row tell a change; below the first autocorrelation of the table, as at it."""
    place = 0
    while place + 1 < len(table.misses) and table.autocorrelation[place + 1] <= autocorrelation:
        place += 1
    return table.misses[place]


def normal_scores(most: int = RECENT) -> FloatArray:
    """Return the normal quantile of r / (n + 1) at [n, 2 r], for n values up to ``most`` and ranks r in halves."""
    from scipy.special import ndtri  # noqa: PLC0415 (takes a third of a second)

    ranks = np.arange(2 * most + 1) / 2.0
    shares = ranks / (np.arange(most + 1)[:, None] + 1.0)
    return np.asarray(ndtri(np.clip(shares, 0.0, 1.0)), dtype=np.float64)


def autocorrelation(values: npt.ArrayLike) -> float:
    """Return the correlation of normal scores between each value and the one before it.

    Parameters
    ----------
    values : array_like of float
        In order of time; only the last ``RECENT`` count.

    Returns
    -------
    float
        The covariance of neighbours over the variance, of the normal quantiles of rank / (n + 1), where equal values
        share the mean of their ranks; 0.0 for fewer than two values, or equal ones.

    Examples
    --------
    >>> round(autocorrelation([1, 2, 3, 4, 5, 6, 7, 8]), 3), autocorrelation([5, 5, 5])
    (0.576, 0.0)
    """
    column = np.asarray(values, dtype=np.float64)[-RECENT:]
    return float(correlation_of_neighbours(column.copy(), len(column), normal_scores(), np.empty(RECENT)))


@kernel(allocates=False)
def correlation_of_neighbours(values: FloatArray, count: int, scores: FloatArray, room: FloatArray) -> float:
    """Return the autocorrelation of the first ``count`` values, at most ``RECENT``; ``room`` is written over."""
    if count < 2:
        return 0.0
    mean = 0.0
    for i in range(count):
        twice = 1  # the rank, in halves: twice the number of smaller ones, and one for itself and each that is equal
        for k in range(count):
            twice += 2 if values[k] < values[i] else int(values[k] == values[i])
        room[i] = scores[count, twice]
        mean += room[i] / count
    variance = together = 0.0
    for i in range(count):
        variance += (room[i] - mean) ** 2
        if i > 0:
            together += (room[i] - mean) * (room[i - 1] - mean)
    return together / variance if variance > 1e-12 else 0.0
