# SPDX-License-Identifier: BSD-3-Clause
"""The report on a comparison: each policy's usual measures, and how the policies differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from pipelines.reports.report import NumberCell, ReportPicture, ReportTable, Section, Version, reports_on, sentence
from swftools.output.amounts import amount
from swftools.plots.over_seeds import interval, rows_of_metric, words_of
from swftools.simulator.logged import LOGGED
from swftools.simulator.measures_table import waits_of_groups
from swftools.simulator.metrics.measures import usual_by_seed

PICTURED = ("wait_mean", "bounded_slowdown_mean", "utilization_time_mean")
"""Measures that are drawn by policy."""


@reports_on("comparison", "A comparison of scheduling policies by simulation")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on a comparison."""
    comparison = version.read("comparison")
    is_whole = comparison["classed_by"].astype(str) == "all"
    of_groups, comparison = comparison[~is_whole], comparison[is_whole]
    pictures = [_drawn(comparison, each) for each in PICTURED if _differs(comparison, each)]
    sections = [
        Section("What was compared", _assumptions(version)),
        *_schedules(version),
        Section("By policy", _of_logged(version), tables=[usual(comparison, _logged(version))], pictures=pictures),
    ]
    sections += _of_groups(of_groups)
    if other:
        tables = [usual(other.read("comparison"), _logged(other))]
        sections.append(Section(f"By policy, {other.data_set} {other.version[:8]}", tables=tables))
    return sections


def _of_groups(rows: pd.DataFrame) -> list[Section]:
    """Return the mean waits of groups of jobs, a table for each grouping; nothing where there are none."""
    tables = []
    for grouping, own in rows.groupby("classed_by", sort=False, observed=True):
        means, jobs = waits_of_groups(own)
        longest = float(np.nanmax(means.to_numpy()))
        counts = [NumberCell(float(number), f"{number:,}") for number in jobs]
        waits = [[_cell([value], "s", longest) for value in row] for row in means.to_numpy()]
        cells = [[str(group), *row] for group, *row in zip(means.index, counts, strict=True)]
        rows_of_table = [[*cell, *row] for cell, row in zip(cells, waits, strict=True)]
        tables.append(ReportTable([str(grouping), "jobs", *map(str, means.columns)], rows_of_table))
    return [Section("Mean waits by group", tables=tables)] if tables else []


def _logged(version: Version) -> Mapping[str, float]:
    """Return the measures of the log itself, where it has waits."""
    found: Mapping[str, float] = version.manifest.get("logged") or {}
    return found


def _of_logged(version: Version) -> list[str]:
    """Return what the row of the log is of."""
    logged = _logged(version)
    words = "The first row is what the log has of {jobs:,} jobs: the machine and its rules were others."
    return [words.format(**logged)] if logged else []


def _differs(comparison: pd.DataFrame, metric: str) -> bool:
    """Whether policies differ by a metric; a picture of equal dots says nothing."""
    if metric not in usual_by_seed(comparison)[1]:
        return False  # nothing of it was measured
    return bool(rows_of_metric(comparison, metric).groupby("policy")["value"].mean().round(9).nunique() > 1)


def _assumptions(version: Version) -> list[str]:
    """Return what the runs assume."""
    seeds = version.manifest.get("seeds", ())
    told = [f"{len(seeds)} seeds: {', '.join(map(str, seeds))}."] if len(seeds) > 1 else []
    return [*told, *map(sentence, version.manifest.get("assumptions", ()))]


def _schedules(version: Version) -> list[Section]:
    """Return which versions the schedules are, where they were published as well."""
    rows = [
        [each["policy"], each["seed"], f"{each['data_set']}/{each['version']}"]
        for each in version.manifest.get("schedules", ())
    ]
    told = ["Each is a data set, and has a report of its own: swftools report DATA_SET VERSION."]
    return [Section("The schedules", told, [ReportTable(["policy", "seed", "version"], rows)])] if rows else []


def _drawn(comparison: pd.DataFrame, measure: str) -> ReportPicture:
    """Return a measure by policy as a picture."""
    return ReportPicture(comparison, "policies", {"metric": measure})


def usual(comparison: pd.DataFrame, logged: Mapping[str, float]) -> ReportTable:
    """Return the usual measures as a table: a row for each policy, means over seeds where there are several."""
    by_seed, units = usual_by_seed(comparison)
    by_seed = by_seed[by_seed["job_class"].astype(str) == "all"]
    longest = {name: float(by_seed.groupby("policy", sort=False)[name].mean().abs().max()) for name in units}
    rows: list[list[object]] = []
    if logged and LOGGED not in set(comparison["policy"]):
        known = ([logged[name]] if name in logged else [] for name in units)
        rows.append(["as logged", *map(_cell, known, units.values(), longest.values())])
    for policy, found in by_seed.groupby("policy", sort=False):
        rows.append([str(policy), *(_cell(found[name], unit, longest[name]) for name, unit in units.items())])
    seeds = by_seed["seed"].nunique()
    caption = (
        f"Means over {seeds} seeds, with their 95 % intervals (Student's t) where seeds differ" if seeds > 1 else ""
    )
    return ReportTable(["policy", *(words_of(name, "") for name in units)], rows, caption)


def _cell(values: Sequence[float] | pd.Series, unit: str, longest: float) -> object:
    """Return the mean of values, with its interval where they differ; nothing where none is known.

    A time is in the unit of the longest of its column.
    """
    known = np.array([value for value in values if value == value], dtype=np.float64)  # noqa: PLR0124 (NaN)
    if not len(known):
        return ""
    mean, low, high = interval(known)
    told, begin, end = (amount(each, unit, longest) for each in (mean, low, high))
    return NumberCell(mean, f"{told} ({begin} to {end})" if high - low > 1e-9 * abs(mean) else told)
