# SPDX-License-Identifier: BSD-3-Clause
"""What a method tells of the waits that a cluster keeps: bounds of several quantiles, and a share within a deadline.

The binomial bound is read off the sorted waits, which takes no time. For the others their own code is loaded.
Loading numba takes longer than all that ``swftools predict`` does. So the few jobs that had not started when a state
was saved are learnt here (``LiveCluster``), one by one; ``tests/qbets/test_predict_wait.py`` compares with the replay,
job by job.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from bisect import bisect_right, insort
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.parameters import is_number
from swftools.qbets.change_points import (
    RECENT,
    RareEvents,
    correlation_of_neighbours,
    misses_in_a_row,
    normal_scores,
)
from swftools.qbets.known_queue import KnownHistory
from swftools.qbets.order_statistics import largest_quantile, needed_waits, upper_rank

QUANTILES = (0.5, 0.75, 0.9, 0.95)
"""What is told where nobody says what; that of the predictor besides."""

FIRST_WAIT = 2
"""Where the waits begin in a state of the binomial bound, or of an object of somebody's own; all behind are waits."""

FITTED_STEPS = 20
"""Halvings that find a quantile of a fitted distribution: to a millionth. Each takes some thousandths of a second."""


@dataclass(frozen=True)
class ToldBound:
    """A bound of a quantile of waits.

    Parameters
    ----------
    quantile : float
        The share of jobs that wait no longer.
    confidence : float or None
        Of the bound; None of methods that have none.
    seconds : float or None
        The bound, s; None where too few waits are known.
    needs : int or None
        Waits that it needs at least; None where that is not known.
    """

    quantile: float
    confidence: float | None
    seconds: float | None
    needs: int | None


@dataclass(frozen=True)
class ToldDeadline:
    """Which share of jobs starts within a time.

    Parameters
    ----------
    seconds : float
        The time, from submission on, s.
    share : float
        The largest quantile whose bound is within it: at least so large a share of jobs waits no longer, with the
        confidence; 0.0 where no share can be told.
    confidence : float or None
        None of methods that have none.
    within : int or None
        Of the waits that it is made of, how many were no longer; None where the state does not list them.
    """

    seconds: float
    share: float
    confidence: float | None
    within: int | None


class LiveCluster:
    """A cluster of a history, with what it keeps.

    Parameters
    ----------
    history : KnownHistory
        Of the queue.
    x : float
        The explanatory variable of the job that is asked about.
    least : int
        Values that are kept where it is trimmed; 0: it never is.
    table : RareEvents
        How many misses in a row tell a change.

    Attributes
    ----------
    place : int
        Its number.
    kept, known : int
        How many values it keeps, and how many it ever had.
    was_kept : int
        How many it kept when the state was saved.
    first_time : float
        When the first value that it keeps became known, s; NaN before any.
    new : list of float
        The values learnt here that it keeps, s, in order.
    is_renewed : bool
        Whether it was trimmed here: then it keeps ``newest()`` and no other.
    """

    def __init__(self, history: KnownHistory, x: float, least: int, table: RareEvents) -> None:
        self.ends = history.end
        self.place = self.cluster_of(x)
        self.least, self.table = least, table
        self.kept, self.known = int(history.kept[self.place]), int(history.known[self.place])
        self.was_kept = self.kept
        self.first_time = float(history.first_time[self.place])
        self.new: list[float] = []
        self.is_renewed = False
        self._is_trimmed = bool(history.since[self.place] > 0)
        self._misses, self._calm = int(history.misses[self.place]), int(history.calm[self.place])
        self._draining = int(history.draining[self.place])
        rows = slice(None) if not len(history.x) else np.searchsorted(self.ends[:-1], history.x) == self.place
        newest = max(least, RECENT)
        self._values: list[float] = history.value[rows][-newest:].tolist()
        self._times: list[float] = history.time[rows][-newest:].tolist()

    @property
    def is_trimmed(self) -> bool:
        """Whether it has forgotten values."""
        return self.kept < self.known

    def cluster_of(self, x: float) -> int:
        """Return the cluster that a value of the explanatory variable belongs to."""
        return int(np.searchsorted(self.ends[:-1], x))

    def newest(self) -> list[float]:
        """Return the values that it keeps, if it was trimmed here, in order."""
        return self._values[-self.kept :]

    def learn(self, wait: float, told: float, time: float) -> None:
        """Learn the wait of a job of this cluster, which was told a bound (NaN: none), at a time; all in s."""
        is_missed = wait > told
        self._misses = self._misses + 1 if is_missed else 0
        if 0 < self.least <= self.kept:
            trims = self._draining > 0
            self._draining -= trims
            if is_missed and self._is_change():
                trims = True
                self._calm, self._draining = 0, self.least
            if trims and self.kept > self.least:
                self.kept, self.first_time = self.least, self._times[-self.least]
                self.is_renewed = self._is_trimmed = True
        if self.kept == 0:
            self.first_time = time
        self._values.append(wait)
        self._times.append(time)
        self.new.append(wait)
        self.kept += 1
        self.known += 1
        self._calm += 1

    def _is_change(self) -> bool:
        """Whether the misses tell a change, and it has not been trimmed just before."""
        if self._misses < self.table.misses[0]:
            return False
        count = min(self.kept, RECENT)
        newest, room = np.array(self._values[-count:]), np.zeros(RECENT)
        # They call no other kernel, so that they run as they are written.
        correlation = correlation_of_neighbours.py_func(newest, count, normal_scores(), room)
        enough = misses_in_a_row.py_func(correlation, self.table)
        return self._misses >= enough and (not self._is_trimmed or self._calm > self.least - enough)


def kept_waits(cluster: LiveCluster, state: FloatArray) -> list[float]:
    """Return the waits that a cluster keeps, s, in rising order, given those that it kept when it was saved."""
    if cluster.is_renewed:
        return sorted(cluster.newest())
    waits: list[float] = np.sort(state).tolist()
    for wait in cluster.new:
        insort(waits, wait)
    return waits


class LiveMethod(ABC):
    """A method with the waits that a cluster keeps.

    Attributes
    ----------
    quantile : float
        That the predictor told.
    """

    quantile: float
    tells_any: bool
    """Whether it tells other quantiles too."""

    @abstractmethod
    def told(self, quantile: float) -> ToldBound:
        """Return the bound of a quantile."""

    @abstractmethod
    def deadline(self, seconds: float) -> ToldDeadline:
        """Return which share starts within a time, s."""

    def bounds(self, quantiles: Collection[float] | None) -> tuple[ToldBound, ...]:
        """Return the bounds of quantiles, or of the usual ones.

        Raises
        ------
        ParameterError
            One is not told.
        """
        usual = {*QUANTILES, self.quantile} if self.tells_any else {self.quantile}
        if quantiles and not self.tells_any and set(quantiles) != usual:
            raise ParameterError(f"quantile: the saved state has bounds of the {self.quantile!r} quantile only")
        return tuple(self.told(quantile) for quantile in sorted(set(quantiles or usual)))

    def percentiles(self) -> FloatArray:
        """Return the bounds of the 1, 2, ... 99 percent quantiles, s; NaN where none is told.

        Of a method that tells one quantile its bound is that of all smaller ones too.
        """
        return np.array([self._percentile(percent) for percent in range(1, 100)])

    def _percentile(self, percent: int) -> float:
        """Return the bound of a percentile, s; NaN where none is told."""
        quantile = percent / 100.0
        if not self.tells_any:
            if quantile > self.quantile:
                return math.nan
            quantile = self.quantile
        try:
            seconds = self.told(quantile).seconds
        except ParameterError:  # too close to 0 or 1 to be computed
            return math.nan
        return math.nan if seconds is None else seconds


class LiveBinomial(LiveMethod):
    """The binomial bound.

    Parameters
    ----------
    waits : list of float
        Those that are kept, s, rising.
    given : dict
        Its parameters.
    """

    tells_any = True

    def __init__(self, waits: list[float], given: dict[str, Any]) -> None:
        if set(given) != {"quantile", "confidence", "side", "approximation"} or not all(
            is_number(given[name]) and 0.0 < given[name] < 1.0 for name in ("quantile", "confidence")
        ):
            raise ParameterError(f"binomial takes no {given!r:.80}")
        if given["side"] != "upper" or given["approximation"] not in ("exact", "large-sample"):
            raise ParameterError(f"binomial takes no {given!r:.80}")
        self.waits = waits
        self.quantile: float = given["quantile"]
        self.confidence: float = given["confidence"]
        self._is_large = given["approximation"] == "large-sample"

    def told(self, quantile: float) -> ToldBound:
        """Return the bound of a quantile."""
        rank = self._rank(quantile)
        seconds = self.waits[rank - 1] if rank else None
        return ToldBound(quantile, self.confidence, seconds, needed_waits(quantile, self.confidence))

    def deadline(self, seconds: float) -> ToldDeadline:
        """Return the largest quantile whose bound is among the waits that were no longer."""
        within = bisect_right(self.waits, seconds)
        share = largest_quantile(lambda quantile: 0 < self._rank(quantile) <= within)
        return ToldDeadline(seconds, share, self.confidence, within)

    def _percentile(self, percent: int) -> float:
        rank = self._rank(percent / 100.0)
        return self.waits[rank - 1] if rank else math.nan

    def _rank(self, quantile: float) -> int:
        return upper_rank(len(self.waits), quantile, self.confidence, is_large=self._is_large)


class LiveBound(LiveMethod):
    """Any other bound, by its own code.

    Parameters
    ----------
    text : str
        Name and parameters.
    state : ndarray of float
        Of the cluster, as it was saved.
    cluster : LiveCluster
        What became known since.
    quantile : float
        Of the predictor, for bounds that have none of their own.
    """

    def __init__(self, text: str, state: FloatArray, cluster: LiveCluster, quantile: float) -> None:
        from swftools.qbets.methods import registered_method  # noqa: PLC0415 (takes a second)

        self._bound = registered_method(text)
        self._bound.check_state(state, cluster.was_kept)
        self.quantile = getattr(self._bound, "quantile", quantile)
        self.confidence = getattr(self._bound, "confidence", None)
        self.tells_any = self._bound.reads_any_quantile
        self._waits = cluster.kept
        places = self._bound.places(self._waits)
        self._state = np.zeros(places) if cluster.is_renewed else self._bound.resized(state, places)
        facts = self._bound.facts(self._waits)[0]
        for wait in cluster.newest() if cluster.is_renewed else cluster.new:
            type(self._bound).add(self._state, facts, wait)

    def told(self, quantile: float) -> ToldBound:
        """Return the bound of a quantile."""
        bound = copy.copy(self._bound)
        if quantile != self.quantile:
            bound.quantile = quantile
        seconds = float(type(bound).bound(self._state.copy(), bound.facts(self._waits)[0]))
        return ToldBound(quantile, self.confidence, None if math.isnan(seconds) else seconds, None)

    def deadline(self, seconds: float) -> ToldDeadline:
        """Return the largest quantile whose bound is within a time, by the method's own formula."""
        if self.tells_any:
            share = largest_quantile(lambda quantile: self._is_within(quantile, seconds), FITTED_STEPS)
        else:
            share = self.quantile if self._is_within(self.quantile, seconds) else 0.0
        return ToldDeadline(seconds, share, self.confidence, None)

    def _is_within(self, quantile: float, seconds: float) -> bool:
        try:
            bound = self.told(quantile).seconds
        except ParameterError:  # too close to 0 or 1 to be computed
            return False
        return bound is not None and bound <= seconds


class LiveObject(LiveMethod):
    """An object of somebody's own, which is shown all waits that are kept, in order.

    Parameters
    ----------
    method : object
        Has ``fit`` and ``predict``.
    waits : list of float
        In the order in which they became known, s.
    quantile : float
        Of the predictor.
    """

    tells_any = False

    def __init__(self, method: Any, waits: list[float], quantile: float) -> None:
        self.quantile = quantile
        self._seconds: float | None = None
        if waits:
            shown = copy.deepcopy(method)
            shown.fit(np.array(waits))
            told = shown.predict()
            self._seconds = None if told is None or math.isnan(told) else float(told)

    def told(self, quantile: float) -> ToldBound:
        """Return what it predicts."""
        return ToldBound(quantile, None, self._seconds, None)

    def deadline(self, seconds: float) -> ToldDeadline:
        """Return its quantile, if what it predicts is within the time."""
        is_within = self._seconds is not None and self._seconds <= seconds
        return ToldDeadline(seconds, self.quantile if is_within else 0.0, None, None)
