# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are held back for a reservation, and the latest submission of each that meets its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.reservations.live_waits import LiveWaits


@dataclass(frozen=True)
class Bids:
    """Jobs that are held back, an element each: when each is to run, its own request, and what its plan is made of.

    ``job`` is its number in the simulation, ``group`` that of its waits; ``asked``, ``start``, ``request`` in s.
    """

    job: IntArray
    group: IntArray
    asked: FloatArray
    start: FloatArray
    request: FloatArray
    processors: FloatArray


def no_bids() -> Bids:
    """Return none."""
    whole, number = np.zeros(0, np.int64), np.zeros(0)
    return Bids(whole, whole, number, number, number, number)


def latest_submissions(bids: Bids, waits: LiveWaits, now: float, percent: int, step: float, explanatory: str) -> Any:
    """Return the lead of the latest submission from now on that meets a percentage, of jobs of one group; NaN: none.

    It is what a walk back over the trajectory finds: leads are start - asked less multiples of the step, above 0, and
    not more than what is left. In each cluster of requests a lead must be no less than the bound of the percentile
    there; so the least that is, and on the grid, is the latest submission in that cluster.

    Parameters
    ----------
    bids : Bids
        The jobs.
    waits : LiveWaits
        Of their group.
    now : float
        The earliest submission, s.
    percent : int
        1 to 99.
    step : float
        Seconds between two submissions.
    explanatory : str
        What jobs are clustered by.
    """
    whole, left = bids.start - bids.asked, bids.start - now
    found = np.full(len(bids.job), np.nan)
    ends = waits.ends
    for place in range(len(ends)):
        bound = waits.seconds(percent, place)
        if bound == np.inf:
            continue
        above = ends[place - 1] if place else -np.inf
        low, high = _leads_of_cluster(bids, explanatory, above, float(ends[place]))
        # Grid: lead = whole - step * k for k = 0, 1, ...; the largest k whose lead is within all limits.
        k = np.floor((whole - np.maximum(bound, 0.0)) / step)
        lead = whole - step * k
        k = np.where(lead < bound, k - 1, k)
        k = np.where(whole - step * k <= 0.0, k - 1, k)  # a submission at the start is none
        lead = whole - step * k
        k = np.where(lead <= low, np.ceil((whole - low) / step) - 1, k)  # more than low belongs to this cluster
        lead = whole - step * k
        fits = (k >= 0) & (lead > low) & (lead <= high) & (lead <= left) & (lead >= bound) & (lead > 0.0)
        better = fits & ~(found <= lead)
        found[better] = lead[better]
    return found


def _leads_of_cluster(bids: Bids, explanatory: str, above: float, end: float) -> tuple[FloatArray, FloatArray]:
    """Return which leads make requests of a cluster: more than the first, up to the second."""
    if explanatory == "requested_processors":
        within = (bids.processors > above) & (bids.processors <= end)
        return np.where(within, -np.inf, np.inf), np.where(within, np.inf, -np.inf)
    by = bids.processors if explanatory == "requested_work" else np.ones(len(bids.job))
    return above / by - bids.request, end / by - bids.request


def columns_of(bids: Bids) -> tuple[Any, ...]:
    """Return the columns of jobs that are held back."""
    return bids.job, bids.group, bids.asked, bids.start, bids.request, bids.processors
