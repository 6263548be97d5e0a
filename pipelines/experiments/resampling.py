# SPDX-License-Identifier: BSD-3-Clause
"""Intervals and p-values of paired differences by resampling, of all settings of an experiment at a time.

Those with as many pairs are resampled together: scipy then draws once for all of them, and each gets what it would get
alone.

References
----------
Fisher 1935, "The Design of Experiments", section 21 (the test by signs turned round); Efron 1987, "Better bootstrap
confidence intervals", JASA 82 (BCa).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

ALPHA = 0.05
"""The share of repetitions of an experiment in which equal policies may be told apart."""

RESAMPLES = 9_999
"""Of the bootstrap, and of the test where there are more ways to turn signs round."""

_AT_ONCE = 1 << 23
"""Numbers that are drawn at a time: 64 MiB of them."""

FloatArray = npt.NDArray[np.float64]


def p_values(differences: Sequence[FloatArray], done: Callable[[int], object] = int) -> FloatArray:
    """Return the two-sided p-value of each group of paired differences, by turning their signs round.

    Parameters
    ----------
    differences : sequence of ndarray
        The differences of the pairs of each group, in no unit that matters.
    done : callable
        Told of how many groups more are ready.

    Returns
    -------
    ndarray of float64, shape (groups,)
        NaN of a group without a pair.

    Examples
    --------
    >>> p_values([np.array([1.0, 2.0, 3.0]), np.array([0.5])]).tolist()
    [0.25, 1.0]
    """
    from scipy import stats  # noqa: PLC0415 (it takes time to import)

    found = np.array([np.nan if not len(each) else 1.0 for each in differences])
    undecided = [place for place, each in enumerate(differences) if len(each) > 1 and each.any()]
    done(len(differences) - len(undecided))
    for places, rows in _together(differences, undecided):
        # Scaled, lest what is equal but for rounding be taken for different; the same draws each time.
        tested = stats.permutation_test(
            (rows / np.abs(rows).max(axis=1, keepdims=True),),
            _mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
            axis=1,
        )
        found[places] = tested.pvalue
        done(len(places))
    return found


def intervals(differences: Sequence[FloatArray], done: Callable[[int], object] = int) -> FloatArray:
    """Return the ends of the 95 % interval of the mean of each group of differences, by bootstrap (BCa).

    Parameters
    ----------
    differences, done
        As for ``p_values``.

    Returns
    -------
    ndarray of float64, shape (groups, 2)
        NaN of fewer than two pairs, and where the acceleration is not defined.
    """
    from scipy import stats  # noqa: PLC0415 (it takes time to import)

    found = np.full((len(differences), 2), np.nan)
    several = [place for place, each in enumerate(differences) if len(each) > 1]
    undecided = [place for place in several if np.ptp(differences[place]) > 0]
    for place in set(several) - set(undecided):
        found[place] = differences[place][0]
    done(len(differences) - len(undecided))
    for places, rows in _together(differences, undecided):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of samples whose acceleration is not defined: the answer is NaN
            drawn = stats.bootstrap(
                (rows,),
                _mean,
                n_resamples=RESAMPLES,
                rng=np.random.default_rng(0),
                confidence_level=1 - ALPHA,
                axis=1,
            ).confidence_interval
        found[places] = np.column_stack([drawn.low, drawn.high])
        done(len(places))
    return found


def _mean(values: FloatArray, axis: int) -> FloatArray:
    """Return means, each added up in the order that it would be alone, so that the last digit is the same."""
    means: FloatArray = np.mean(np.ascontiguousarray(values), axis=axis)
    return means


def _together(differences: Sequence[FloatArray], chosen: list[int]) -> Iterator[tuple[list[int], FloatArray]]:
    """Yield some groups with as many differences each, as rows, and their places; as many as fit in memory."""
    of_length: dict[int, list[int]] = {}
    for place in chosen:
        of_length.setdefault(len(differences[place]), []).append(place)
    for length, places in of_length.items():
        most = max(1, _AT_ONCE // (RESAMPLES * length))
        for begin in range(0, len(places), most):
            block = places[begin : begin + most]
            yield block, np.stack([differences[place] for place in block])
