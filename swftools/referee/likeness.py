# SPDX-License-Identifier: BSD-3-Clause
"""How far a simulation is like a real run, in two figures: the order of starts, and the mean wait."""

from __future__ import annotations

from math import ceil

import numpy as np

from swftools.kernel import FloatArray
from swftools.output.amounts import counted, duration, percent

SMALL = 1.0
"""s; beside a shorter mean wait no share means anything."""


def likeness(waits: FloatArray, real: FloatArray, eligible: FloatArray) -> dict[str, float]:
    """Return how far simulated waits are like the real ones.

    Parameters
    ----------
    waits : numpy.ndarray of float64, shape (simulations, jobs)
        Of each simulation, s from when a job could start; NaN of jobs that it does not have.
    real : numpy.ndarray of float64, shape (jobs,)
        Of the real run, the same; NaN of jobs that did not start.
    eligible : numpy.ndarray of float64, shape (jobs,)
        When each could start, s.

    Returns
    -------
    dict of str to float
        ``pairs`` of jobs of which the second could start by when the first did in the real run; ``order``, the share of
        them that the simulation starts in the same order (equal starts count half; NaN without pairs); ``mean_wait``
        and ``real_mean_wait``, s, of the jobs of both. Of several simulations the medians.

    Examples
    --------
    Three jobs could start at 0, and did at 0, 5 and 9; the simulation has the last two the other way round.

    >>> found = likeness(np.array([[0.0, 8.0, 4.0]]), np.array([0.0, 5.0, 9.0]), np.zeros(3))
    >>> found["pairs"], round(found["order"], 3), found["mean_wait"]
    (3.0, 0.667, 4.0)
    """
    found = [_of_one(each, real, eligible) for each in waits]
    return {name: float(np.median([each[name] for each in found])) for name in found[0]}


def _of_one(waits: FloatArray, real: FloatArray, eligible: FloatArray) -> dict[str, float]:
    """Return the figures of one simulation."""
    both = np.isfinite(waits) & np.isfinite(real)
    own, other, came = waits[both], real[both], eligible[both]
    row = np.argsort(came + other, kind="stable")
    start, simulated, came = (came + other)[row], (came + own)[row], came[row]
    from_when = np.searchsorted(start, came, side="left")  # who starts once this one could too ...
    until = np.searchsorted(start, start, side="left")  # ... and before it does
    pairs, alike = 0, 0.0
    for job, (first, last) in enumerate(zip(from_when.tolist(), until.tolist(), strict=True)):
        earlier = simulated[first:last]
        pairs += len(earlier)
        alike += np.count_nonzero(earlier < simulated[job]) + 0.5 * np.count_nonzero(earlier == simulated[job])
    return {
        "pairs": float(pairs),
        "order": alike / pairs if pairs else np.nan,
        "mean_wait": float(own.mean()) if len(own) else np.nan,
        "real_mean_wait": float(other.mean()) if len(other) else np.nan,
    }


def likeness_in_words(found: dict[str, float]) -> str:
    """Return the sentence that an analyst reads first.

    Examples
    --------
    >>> likeness_in_words({"pairs": 9.0, "order": 0.82, "mean_wait": 104.0, "real_mean_wait": 100.0})
    'the simulation reproduces 82 % of the order of starts and the mean wait within 4 %'
    """
    own, other = found["mean_wait"], found["real_mean_wait"]
    if not np.isfinite(other):
        return "the simulation has no job that started in the real run"
    if other >= SMALL:
        apart = max(ceil(round(100.0 * abs(own / other - 1.0), 6)), 1)
        waits = f"the mean wait within {apart:,} %"
    else:
        waits = f"has a mean wait of {duration(own)}, as hardly anybody waited ({duration(other)})"
    if not found["pairs"]:
        alone = "no two jobs could have started in another order"
        return f"the simulation reproduces {waits}; {alone}" if other >= SMALL else f"the simulation {waits}; {alone}"
    return f"the simulation reproduces {percent(found['order'])} of the order of starts and {waits}"


def likeness_defined(found: dict[str, float]) -> str:
    """Return what the figures of the sentence are; nothing where there are none."""
    if not np.isfinite(found["real_mean_wait"]):
        return ""
    return (
        f"order of starts: of {counted(int(found['pairs']), 'pair')} of jobs, of which both could start when the first "
        f"did, those that the simulation starts in the same order; mean wait: {duration(found['mean_wait'])}, in the "
        f"real run {duration(found['real_mean_wait'])}, from when jobs could start"
    )
