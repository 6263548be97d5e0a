# SPDX-License-Identifier: BSD-3-Clause
"""How the jobs of a schedule are grouped: by whom they are, what they ask for, and when they came.

A grouping is a line of ``GROUPINGS``: a function from a schedule to the number of each job's group, -1 where it is not
known, and the words of all groups, in the order in which they are listed. It returns None where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray, IntArray
from swftools.named import NUMBERED, with_number
from swftools.simulator.metrics.columns import rows_of
from swftools.simulator.schedule import Schedule

UNKNOWN = "unknown"
"""What jobs are called of which a log does not tell the group."""

HOUR = 3600.0
DAY = 24 * HOUR

_TIMES = {
    "up to 10 min": 600.0,
    "10 min to 1 h": HOUR,
    "1 h to 4 h": 4 * HOUR,
    "4 h to 12 h": 12 * HOUR,
    "12 h to 24 h": DAY,
    "1 to 3 days": 3 * DAY,
    "more than 3 days": np.inf,
}
_AMOUNTS = {"1": 1.0, "2 to 4": 4.0, "5 to 16": 16.0, "17 to 64": 64.0, "65 to 512": 512.0, "more than 512": np.inf}
_GPUS = {"none": 0.0, "up to 1": 1.0, "2 to 4": 4.0, "5 to 16": 16.0, "more than 16": np.inf}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Groups(NamedTuple):
    """The groups in words, as they are listed, and of each job the place of its group there."""

    words: list[str]
    of_job: IntArray


Found = tuple[IntArray, Sequence[str]]


def _numbered(kind: str) -> Callable[[Schedule], Found | None]:
    """Return what groups by a number of the log with a name: user, group, queue or partition."""

    def find(schedule: Schedule) -> Found | None:
        column = NUMBERED[kind]
        if column not in schedule.jobs or not schedule.jobs[column].notna().any():
            return None
        numbers = schedule.jobs[column].to_numpy(dtype=np.int64, na_value=-1)
        values, place = np.unique(numbers, return_inverse=True)
        known = schedule.known_names.get(kind, {})
        words = [known.get(int(value), with_number(int(value), {})) for value in values]
        return _without_unknown(place, words, values >= 0)

    return find


def _without_unknown(place: IntArray, words: Sequence[str], is_known: np.ndarray) -> Found:
    """Return places among words that are known, -1 for others."""
    new = np.where(is_known, np.cumsum(is_known) - 1, -1)
    return new[place], [word for word, known in zip(words, is_known, strict=True) if known]


def _text(column: str, otherwise: str = "") -> Callable[[Schedule], Found | None]:
    """Return what groups by a column of texts; where it is absent, by a number of another kind."""

    def find(schedule: Schedule) -> Found | None:
        if column not in schedule.jobs or not schedule.jobs[column].notna().any():
            return _numbered(otherwise)(schedule) if otherwise else None
        place, texts = pd.factorize(schedule.jobs[column], sort=True)
        return place.astype(np.int64), [str(text) for text in texts]

    return find


def _partition(schedule: Schedule) -> Found | None:
    """Return the partition in which each job ran first: that of the machine, else of the log."""
    if schedule.machine is None or "partition" not in schedule.segments:
        return _numbered("partition")(schedule)
    row = rows_of(schedule.segments, schedule.jobs)
    first = np.zeros(len(schedule.jobs), np.int64)
    first[row[::-1]] = np.arange(len(row))[::-1]
    names = [each.name for each in schedule.machine.partitions]
    return pd.Index(names).get_indexer(pd.Index(schedule.segments["partition"].iloc[first])).astype(np.int64), names


def _in_classes(values: FloatArray, classes: dict[str, float]) -> Found:
    """Return the class of each value, which goes up to its end and has it; of NaN none."""
    place = np.searchsorted(np.array(list(classes.values())), values, side="left")
    return np.where(np.isnan(values), -1, place).astype(np.int64), list(classes)


def _column(schedule: Schedule, name: str) -> FloatArray:
    """Return a column as numbers, NaN where it is absent or missing."""
    if name not in schedule.jobs:
        return np.full(len(schedule.jobs), np.nan)
    return schedule.jobs[name].to_numpy(dtype=np.float64, na_value=np.nan)


def _size(schedule: Schedule) -> Found:
    """Return the class of each job's processors."""
    return _in_classes(_column(schedule, "allocated_processors"), _AMOUNTS)


def _gpus(schedule: Schedule) -> Found | None:
    """Return the class of each job's GPUs: of what it had on nodes, else of what the log tells."""
    if schedule.machine is not None and "gpus_per_node" in schedule.segments:
        from swftools.simulator.allocations import runs_on_nodes  # noqa: PLC0415 (where there are nodes only)

        runs, row = runs_on_nodes(schedule), rows_of(schedule.segments, schedule.jobs)
        nodes = np.add.reduceat(runs.last - runs.first + 1.0, runs.begins[:-1]) if len(runs.first) else np.zeros(0)
        found = np.zeros(len(schedule.jobs))
        found[row] = nodes * schedule.segments["gpus_per_node"].to_numpy(np.float64, na_value=0.0)
    else:
        found = np.fmax(_column(schedule, "requested_gpus"), _column(schedule, "allocated_gpus"))
    return _in_classes(found, _GPUS) if np.nansum(found) > 0 else None


def _time_limit(schedule: Schedule) -> Found | None:
    """Return the class of each requested time; None if no job has one."""
    limit = _column(schedule, "requested_time")
    return _in_classes(np.where(limit > 0, limit, np.nan), _TIMES) if (limit > 0).any() else None


def _clock(schedule: Schedule) -> pd.Series | None:
    """Return when jobs were submitted, by the clock of the log's own zone, whatever the season."""
    if schedule.origin is None:
        return None
    submit = _column(schedule, "submit_time")
    origin = pd.Timestamp(schedule.origin)
    moments = origin.tz_convert("UTC") if origin.tzinfo is not None else origin
    found = pd.Series(moments + pd.to_timedelta(pd.Series(submit), unit="s"))
    return found.dt.tz_convert(origin.tzinfo) if origin.tzinfo is not None else found


def _by_clock(of: Callable[[pd.Series], pd.Series], words: Sequence[str]) -> Callable[[Schedule], Found | None]:
    """Return what groups by a number of the clock, from 0 on."""

    def find(schedule: Schedule) -> Found | None:
        clock = _clock(schedule)
        if clock is None or not len(clock):
            return None
        return of(clock).fillna(-1).to_numpy(dtype=np.int64), words

    return find


def _month(schedule: Schedule) -> Found | None:
    """Return the month in which each job was submitted."""
    clock = _clock(schedule)
    if clock is None or not len(clock):
        return None
    place, months = pd.factorize(clock.dt.strftime("%Y-%m"), sort=True)
    return place.astype(np.int64), [str(month) for month in months]


GROUPINGS: dict[str, Callable[[Schedule], Found | None]] = {
    "partition": _partition,
    "queue": _numbered("queue"),
    "account": _text("account", "group"),
    "qos": _text("qos"),
    "user": _numbered("user"),
    "processors": _size,
    "gpus": _gpus,
    "time-limit": _time_limit,
    "hour": _by_clock(lambda clock: clock.dt.hour, [f"{hour:02}:00" for hour in range(24)]),
    "weekday": _by_clock(lambda clock: clock.dt.day_of_week, _WEEKDAYS),
    "month": _month,
}
"""The groupings, by name. Hours, weekdays and months are of the submission, by the clock of the log's own zone."""

BY_AREA = ("account", "user")
"""Groupings whose groups are listed by how much they waited; those of others have an order of their own."""


def groups_of(schedule: Schedule, name: str) -> Groups | None:
    """Return the groups of a grouping, those that have no job left out; None where the log tells none."""
    found = GROUPINGS[name](schedule)
    if found is None:
        return None
    place, words = found
    all_words = [*words, UNKNOWN]
    there, of_job = np.unique(np.where(place < 0, len(words), place), return_inverse=True)
    return Groups([all_words[each] for each in there], of_job.astype(np.int64))
