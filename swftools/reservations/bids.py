# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are held back for a reservation, and the latest submission of each that meets its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.qbets.predictor import EXPLANATORY
from swftools.reservations.live_waits import LiveWaits

PROCESSORS, WORK = (EXPLANATORY.index(name) for name in ("requested_processors", "requested_work"))


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
    found = np.full(len(bids.job), np.nan)
    ends = waits.ends
    bounds = np.array([waits.seconds(percent, place) for place in range(len(ends))])
    kind = EXPLANATORY.index(explanatory)
    _latest(bids.asked, bids.start, bids.request, bids.processors, ends, bounds, (float(now), float(step)), kind, found)
    return found


@kernel(allocates=False)
def _latest(
    asked: FloatArray,
    starts: FloatArray,
    request: FloatArray,
    processors: FloatArray,
    ends: FloatArray,
    bounds: FloatArray,
    now_and_step: tuple[float, float],
    kind: int,
    found: FloatArray,
) -> None:
    """Fill in the least lead of each job that is no less than the bound of its cluster; what has none stays.

    The grid: lead = whole - step * k for k = 0, 1, ...; of each cluster the largest k whose lead is within all limits.
    """
    now, step = now_and_step
    for i in range(len(found)):
        whole, left = starts[i] - asked[i], starts[i] - now
        for place in range(len(ends)):
            bound = bounds[place]
            if bound == np.inf:
                continue
            above = ends[place - 1] if place else -np.inf
            if kind == PROCESSORS:
                if not above < processors[i] <= ends[place]:
                    continue
                low, high = -np.inf, np.inf
            else:  # leads that make requests of the cluster: more than low, up to high
                by = processors[i] if kind == WORK else 1.0
                low, high = above / by - request[i], ends[place] / by - request[i]
            k = np.floor((whole - max(bound, 0.0)) / step)
            if whole - step * k < bound:
                k -= 1.0
            if whole - step * k <= 0.0:  # a submission at the start is none
                k -= 1.0
            if whole - step * k <= low:  # belongs to the cluster before
                k = np.ceil((whole - low) / step) - 1.0
            lead = whole - step * k
            fits = k >= 0.0 and low < lead <= high and lead <= left and lead >= bound and lead > 0.0
            if fits and not found[i] <= lead:
                found[i] = lead


def columns_of(bids: Bids) -> tuple[Any, ...]:
    """Return the columns of jobs that are held back."""
    return bids.job, bids.group, bids.asked, bids.start, bids.request, bids.processors
