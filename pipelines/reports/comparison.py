# SPDX-License-Identifier: BSD-3-Clause
"""The report on a comparison: each policy's usual measures, and how the policies differ."""

from __future__ import annotations

import pandas as pd

from pipelines.reports.report import Rows, Section, Shown, Version, reports_on
from swftools.plots.over_seeds import words_of
from swftools.simulator.metrics.measures import usual_by_seed

PICTURED = ("wait_mean", "bounded_slowdown_mean", "utilization_time_mean")
"""Measures that are drawn by policy."""


@reports_on("comparison", "A comparison of scheduling policies by simulation")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on a comparison."""
    comparison = version.read("comparison")
    sections = [
        Section("What was compared", _assumptions(version)),
        *_schedules(version),
        Section("By policy", tables=[usual(comparison)], pictures=[_drawn(comparison, each) for each in PICTURED]),
    ]
    if other:
        tables = [usual(other.read("comparison"))]
        sections.append(Section(f"By policy, {other.data_set} {other.version[:8]}", tables=tables))
    return sections


def _assumptions(version: Version) -> list[str]:
    """Return what the runs assume."""
    seeds = version.manifest.get("seeds", ())
    told = [f"{len(seeds)} seeds: {', '.join(map(str, seeds))}."] if len(seeds) > 1 else []
    return [*told, *(f"{text[0].upper()}{text[1:]}." for text in version.manifest.get("assumptions", ()))]


def _schedules(version: Version) -> list[Section]:
    """Return which versions the schedules are, where they were published as well."""
    rows = [
        [each["policy"], each["seed"], f"{each['data_set']}/{each['version']}"]
        for each in version.manifest.get("schedules", ())
    ]
    told = ["Each is a data set, and has a report of its own: swftools report DATA_SET VERSION."]
    return [Section("The schedules", told, [Rows(["policy", "seed", "version"], rows)])] if rows else []


def _drawn(comparison: pd.DataFrame, measure: str) -> Shown:
    """Return a measure by policy as a picture."""
    return Shown(comparison, "policies", {"metric": measure})


def usual(comparison: pd.DataFrame) -> Rows:
    """Return the usual measures as a table: a row for each policy, the mean over seeds."""
    by_seed, units = usual_by_seed(comparison)
    wide = by_seed.groupby("policy", sort=False)[list(units)].mean()
    heads = [words_of(name, unit) for name, unit in units.items()]
    rows = [[str(policy), *row] for policy, row in zip(wide.index, wide.to_numpy().tolist(), strict=True)]
    return Rows(["policy", *heads], rows, "Means over seeds")
