# SPDX-License-Identifier: BSD-3-Clause
"""The logs that episodes are parts of: made ready once, drawn by weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.learning.episode_log import EpisodeLog
from swftools.models import lublin_feitelson
from swftools.models.requested_times import generate_requested_times
from swftools.parameters import is_whole
from swftools.trace import Trace


class Logs:
    """Some logs, one of which each episode is a part of.

    Parameters
    ----------
    logs : Trace, EpisodeLog, or sequence of them; None
        None: 5,000 jobs of Lublin and Feitelson's model on 128 processors.
    weights : sequence of float, optional
        How often each is drawn; by default all alike.
    **options
        Options of ``EpisodeLog``, for those that are traces.
    """

    def __init__(
        self,
        logs: Trace | EpisodeLog | Sequence[Trace | EpisodeLog] | None,
        weights: Sequence[float] | None = None,
        **options: Any,
    ) -> None:
        given = [default_log()] if logs is None else [logs] if isinstance(logs, Trace | EpisodeLog) else list(logs)
        if not given or not all(isinstance(each, Trace | EpisodeLog) for each in given):
            raise ParameterError(f"log={logs!r:.60}: give a Trace, an EpisodeLog, or a list of them")
        self._logs = [each if isinstance(each, EpisodeLog) else EpisodeLog(each, **options) for each in given]
        self.form = self._logs[0].form
        """In what form their machines are seen."""
        if any((log.form, log.kind.name) != (self.form, self._logs[0].kind.name) for log in self._logs):
            raise ParameterError(
                "the machines of the logs are seen in different forms; give logs of pools alone, or of machines of "
                "nodes with as many kinds of nodes and partitions, and one placement, all of them with outages, or none"
            )
        self.weights: npt.NDArray[np.float64] = np.full(len(given), 1.0 / len(given))
        if weights is not None:
            self.weigh(weights)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._logs)

    def __getitem__(self, number: int) -> EpisodeLog:
        """Return one by number."""
        return self._logs[number]

    def weigh(self, weights: Sequence[float]) -> None:
        """Say how often each is drawn.

        Raises
        ------
        ParameterError
            There is not one for each log; one is negative or no number, or all are 0.
        """
        given = np.asarray(weights, np.float64)
        if given.shape != (len(self),) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
            raise ParameterError(f"weights={weights!r:.60}: give a number of 0 or more for each of {len(self)} logs")
        self.weights = given / given.sum()

    def check_length(self, jobs: int) -> None:
        """Refuse episodes of more jobs than one of them has."""
        for log in self._logs:
            log.check_length(jobs)

    def draw(self, random: np.random.Generator, jobs: int, options: Mapping[str, Any]) -> tuple[int, int]:
        """Return a log and the first of so many jobs of it; either may be given.

        Raises
        ------
        ParameterError
            An option is unknown, or what it gives is not there.
        """
        if unknown := set(options) - {"log", "first"}:
            raise ParameterError(f"options {sorted(unknown)} are unknown; there are: log, first")
        number = options.get("log")
        if number is None:
            number = int(random.choice(len(self), p=self.weights)) if len(self) > 1 else 0
        elif not is_whole(number, 0, len(self) - 1):
            raise ParameterError(f"options: log={number!r} is not an integer from 0 to {len(self) - 1}")
        last, first = len(self._logs[number]) - jobs, options.get("first")
        if first is None:
            first = int(random.integers(last + 1))
        elif not is_whole(first, 0, last):
            raise ParameterError(f"options: first={first!r} is not an integer from 0 to {last}")
        return int(number), int(first)


@cache
def default_log(seed: int = 1) -> Trace:
    """Return 5,000 jobs of a model on 128 processors, with requested times, to try things on; each seed gives others.

    References
    ----------
    Lublin and Feitelson 2003, for jobs; Tsafrir et al. 2005, for requested times.
    """
    trace = lublin_feitelson.generate(5000, processors=128, load=0.8, seed=seed)
    requested = generate_requested_times(trace)["model_requested_time"]
    return trace.with_jobs(trace.jobs.assign(requested_time=requested))
