# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, ready to be asked for all months of a log or all points of a curve at once."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, nan

from pipelines.papers.chiang2008.policies import made_quick
from pipelines.papers.chiang2008.schedules import CLASS, MONTH
from pipelines.papers.paper import Measurements, Run


class Values:
    """What was measured, by log, run, subject and measure; each a curve over months, or over nodes visited.

    Parameters
    ----------
    found : Measurements
        What all experiments measured.
    """

    def __init__(self, found: Measurements) -> None:
        self.logs = found.logs
        self._curves: dict[tuple[str, str, str, str], dict[str, float]] = {}
        self._subjects: dict[tuple[str, str], list[str]] = {}
        columns = found.table[["log", "experiment", "subject", "measure", "x", "value"]]
        for log, run, subject, measure, x, value in columns.itertuples(index=False, name=None):
            curve = self._curves.setdefault((log, run, subject, measure), {})
            curve[x] = float(value) if value is not None else nan
            subjects = self._subjects.setdefault((log, run), [])
            if subject not in subjects:
                subjects.append(subject)

    def months(self, log: str, run: Run, measure: str) -> dict[str, float]:
        """Return the values of a measure by month, or those of the quick run; none of what was not measured."""
        for each in (run, made_quick(run)):
            if found := self._curves.get((log, each.text, MONTH, measure)):
                return found
        return {}

    def first(self, log: str, runs: Iterable[Run], subject: str, measure: str) -> float:
        """Return a single value of the first of some runs that has it; NaN if it was not measured."""
        found = (self._curves.get((log, run.text, subject, measure)) for run in runs)
        return next((values[""] for values in found if values), nan)

    def curve(self, log: str, run: Run, prefix: str, measure: str) -> dict[str, float]:
        """Return the values of a measure by place, of the subject that begins so; none of what was not measured."""
        return self._curves.get((log, run.text, self.curve_subject(log, run, prefix), measure), {})

    def curve_subject(self, log: str, run: Run, prefix: str) -> str:
        """Return the first subject of a run that begins so, or nothing."""
        return next((name for name in self._subjects.get((log, run.text), []) if name.startswith(prefix)), "")

    def classes(self, log: str, run: Run) -> dict[str, dict[str, float]]:
        """Return what was measured of each class of jobs that has any, in order: measures and values."""
        for each in (run, made_quick(run)):
            names = [name for name in self._subjects.get((log, each.text), []) if name.startswith(CLASS)]
            if names:
                return {
                    name.removeprefix(CLASS): {
                        measure: self._curves[log, each.text, name, measure][""] for measure in ("jobs", "mean wait")
                    }
                    for name in names
                }
        return {}

    def mean(self, log: str, run: Run, measure: str) -> float:
        """Return the mean over a log's months; NaN if it was not measured."""
        return _mean(self.months(log, run, measure).values())

    def greatest(self, log: str, run: Run, measure: str) -> float:
        """Return the greatest value of a log's months; NaN if it was not measured."""
        return max(_known(self.months(log, run, measure).values()), default=nan)

    def pairs(self, one: Run, other: Run, measure: str) -> list[tuple[float, float]]:
        """Return the values of two runs in each month of any log of which both are known."""
        found = []
        for log in self.logs:
            ours, theirs = self.months(log, one, measure), self.months(log, other, measure)
            found += [(ours[month], theirs[month]) for month in ours if month in theirs]
        return [pair for pair in found if not any(map(isnan, pair))]

    def means(self, run: Run, measure: str) -> dict[str, float]:
        """Return the mean over months for each log that has it."""
        every = {log: self.mean(log, run, measure) for log in self.logs}
        return {log: value for log, value in every.items() if not isnan(value)}


def _known(values: Iterable[float]) -> list[float]:
    """Return the values that are known."""
    return [value for value in values if not isnan(value)]


def _mean(values: Iterable[float]) -> float:
    """Return the mean of those that are known; NaN of none."""
    known = _known(values)
    return sum(known) / len(known) if known else nan
