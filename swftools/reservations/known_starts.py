# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state of a wait predictor knows of starts by a time: the bounds of a group, cluster by cluster."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.qbets.change_points import rare_events
from swftools.qbets.known_queue import KnownQueue
from swftools.qbets.live_methods import LiveCluster
from swftools.qbets.live_state import (
    check_state,
    date_of,
    explanatory_of,
    known_of,
    label_of,
    method_of,
    start_until,
    starts_of,
)
from swftools.qbets.order_statistics import needed_waits
from swftools.qbets.saved_state import SavedState, read_state
from swftools.reservations.start_table import MOST, StartTable, rising

TRAINING, TOO_FEW, UNAVAILABLE = "training", "too-few-waits", "unavailable"
"""Why nothing can be told, as in tables of predictions."""


class KnownStarts:
    """A group of jobs of a saved state, as far as is known at a moment.

    Parameters
    ----------
    state : str, path or SavedState
        What ``WaitPredictor.save`` wrote, or ``read_state`` read.
    group : str or mapping, optional
        As ``predict_wait`` takes it.
    now : float, optional
        Moment until which starts are known, s; else behind all that the state knows.
    method : object, optional
        The bound, where it is an object of your own.

    Attributes
    ----------
    table : StartTable
        The bounds.
    no_prediction : str or None
        Why the group is told nothing.
    until : float
        When the last job of the group came or started that is known, s; -inf before any.
    """

    def __init__(
        self,
        state: str | os.PathLike[str] | SavedState,
        group: str | Mapping[str, object] | None = None,
        now: float | None = None,
        method: Any = None,
    ) -> None:
        saved = state if isinstance(state, SavedState) else read_state(state)
        check_state(saved, method)
        self.saved, self.label = saved, label_of(saved, group)
        self.chosen: Mapping[str, Any] = saved.about["parameters"]
        known = known_of(saved, self.label)
        time = math.inf if now is None else now
        starts = starts_of(known)
        self.until = max(known.last, float(starts.max(initial=-math.inf, where=starts <= time)))
        self.group_waits = int(known.history.size[0]) + int((starts <= time).sum())
        is_down = bool(known.is_down[0]) and not (starts <= time).any()
        ends = np.append(known.history.end[:-1], np.inf)
        self.kept: list[int] = []
        rows = [rising(self._percentiles(known, end, time, method)) for end in ends]
        self.table = StartTable(ends, np.array(rows).reshape(len(ends), MOST))
        self.no_prediction = None
        if self.group_waits < self.training:
            self.no_prediction = TRAINING
        elif not np.isfinite(self.table.seconds).any():
            self.no_prediction = TOO_FEW
        elif is_down:
            self.no_prediction = UNAVAILABLE

    @property
    def training(self) -> int:
        """Waits of the group that must be known before anyone is told anything."""
        return int(self.chosen["training"])

    def date(self, seconds: float) -> str | None:
        """Return a moment in words, if the log said when it began."""
        return date_of(self.saved, seconds)

    def explain(self, processors: int | None, requested_time: FloatArray) -> FloatArray:
        """Return the explanatory variable of a job for several requested times, s.

        Raises
        ------
        ParameterError
            Jobs are told apart by processors, and nobody says how many.
        """
        name, is_needed = self.chosen["explanatory"], len(self.table.ends) > 1
        one = explanatory_of(self.saved, name, processors, 1.0, is_needed=is_needed)
        if one is None or name == "requested_processors":
            return np.full(len(requested_time), -1.0 if one is None else one)
        return one * requested_time

    def _percentiles(self, known: KnownQueue, x: float, time: float, method: Any) -> FloatArray:
        """Return the bounds of the cluster that a value belongs to."""
        chosen = self.chosen
        least = needed_waits(chosen["quantile"], chosen["confidence"]) if chosen["trimming"] else 0
        cluster = LiveCluster(known.history, x, least, rare_events(chosen["rare_events"]))
        start_until(known, cluster, time)
        self.kept.append(cluster.kept)
        return method_of(self.saved, known, cluster, method).percentiles()


def moment(value: object, what: str) -> float:
    """Return a moment, s.

    Raises
    ------
    ParameterError
        It is no finite number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise ParameterError(f"{what}={value!r} is not a moment: seconds as the log counts them")
    return float(value)
