# SPDX-License-Identifier: BSD-3-Clause
"""The report on a schedule: its usual measures, the machine and its queue over time, and how long jobs waited."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.reports.report import NumberCell, ReportPicture, ReportTable, Section, Version, reports_on, sentence
from pipelines.store.schedules import schedule_of
from swftools.output.amounts import duration
from swftools.simulator.metrics.measures import measure
from swftools.simulator.schedule import Schedule

NODES = "Its nodes over time"

PICTURES = {
    "The machine over time": (("utilization", {"bins": 2000}), ("queue", {"bins": 2000}), ("gantt", {})),
    NODES: (("resources", {"bins": 2000}), ("fragmentation", {"bins": 2000})),
    "How long jobs waited": (("waits", {}), ("slowdowns", {}), ("wait-by-size", {}), ("backfilled", {})),
}
"""Headings, and the pictures below each; fine steps of time, since a reader may look closer. What is below ``NODES`` is
of schedules on nodes only."""


@reports_on("schedule", "The schedule of a workload trace under a policy, by simulation")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on a schedule."""
    schedules = {
        f"{each.manifest['run']['policy']}, {each.version[:8]}": schedule_of(each.root, each.manifest)
        for each in (version, other)
        if each
    }
    return [Section("What was assumed", _assumptions(version)), _figures(schedules), *_pictures(schedules)]


def _assumptions(version: Version) -> list[str]:
    """Return what the run assumes."""
    return [sentence(text) for text in version.manifest["run"]["assumptions"]]


def _figures(schedules: dict[str, Schedule]) -> Section:
    """Return the dozen numbers that people look at first, a column a schedule."""
    summaries = [measure(schedule).summary() for schedule in schedules.values()]
    longest = max(summaries, key=len)  # a pool has no figures of nodes
    units, columns = longest["unit"], [each.iloc[:, -1].reindex(longest.index).to_dict() for each in summaries]
    rows = [
        [
            name if unit in ("1", "s", name.split()[-1]) else f"{name}, {unit}",
            *(_figure(float(values[name]), unit) for values in columns),
        ]
        for name, unit in zip(map(str, units.index), units, strict=True)
    ]
    return Section("In figures", tables=[ReportTable(["", *schedules], rows)])


def _figure(value: float, unit: str) -> float | NumberCell:
    """Return a number of a summary; a time in a unit that people use."""
    return NumberCell(value, duration(value)) if unit == "s" and value == value else value  # noqa: PLR0124 (NaN)


def _pictures(schedules: dict[str, Schedule]) -> Iterator[Section]:
    """Yield the pictures of the first schedule, of each beside those of the other."""
    for heading, names in PICTURES.items():
        drawn = [each for each in schedules.values() if heading != NODES or each.machine is not None]
        if drawn:
            pictures = [ReportPicture(each, name, chosen) for name, chosen in names for each in drawn]
            yield Section(heading, pictures=pictures)
