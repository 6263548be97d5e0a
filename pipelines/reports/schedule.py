# SPDX-License-Identifier: BSD-3-Clause
"""The report on a schedule: its usual measures, the machine and its queue over time, and how long jobs waited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from pipelines.logs.machine import CHANGED
from pipelines.reports.report import (
    NumberCell,
    ReportPicture,
    ReportTable,
    Section,
    Version,
    reports_on,
    sentence,
)
from pipelines.store.schedules import schedule_of
from swftools.machines.node_table import NodeTable
from swftools.output.amounts import counted, duration
from swftools.simulator.measures_table import Measures
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.wait_reasons import REASONS, reason_in_words, sum_wait_reasons, wait_reasons
from swftools.simulator.schedule import Schedule

NODES, MACHINE, REASONS_OF_WAITS = "Its nodes over time", "The machine", "What jobs waited for"

_RESOURCES = {
    "utilization": "cores in use, %",
    "memory_utilization": "memory in use, %",
    "gpu_utilization": "GPUs in use, %",
}
_HEADS = {"partition": "that of each partition", "machine": "that of the machine"}

PICTURES = {
    "The machine over time": (("utilization", {"bins": 2000}), ("queue", {"bins": 2000}), ("gantt", {})),
    NODES: (("resources", {"bins": 2000}), ("fragmentation", {"bins": 2000}), ("wait-reasons", {"bins": 2000})),
    "How long jobs waited": (("waits", {}), ("slowdowns", {}), ("wait-by-size", {}), ("backfilled", {})),
}
"""Headings, and the pictures below each; fine steps of time, since a reader may look closer. What is below ``NODES`` is
of schedules on nodes only."""


WHAT = "The schedule of a workload trace under a policy, by simulation"


@reports_on("schedule", WHAT)
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on a schedule."""
    schedules = {
        f"{each.manifest['run']['policy']}, {each.version[:8]}": schedule_of(each.root, each.manifest)
        for each in (version, other)
        if each
    }
    return parts_of_schedules(schedules, version.manifest["run"]["assumptions"])


def parts_of_schedules(schedules: dict[str, Schedule], assumptions: Iterable[str]) -> list[Section]:
    """Return the same parts for schedules by what they are called; the assumptions are those of the first."""
    measured = {name: measure(schedule) for name, schedule in schedules.items()}
    return [
        Section("What was assumed", [sentence(text) for text in assumptions]),
        *_machines(schedules, measured),
        _figures(measured),
        *_waits_on_nodes(schedules),
        *_pictures(schedules),
    ]


def _machines(schedules: dict[str, Schedule], measured: dict[str, Measures]) -> Iterator[Section]:
    """Yield what the machines are, and how much of each kind and partition is in use; nothing of pools alone."""
    if all(each.machine is None for each in schedules.values()):
        return
    told = [_machine(schedule) for schedule in schedules.values()]
    rows = [
        [name, *(each.get(name, "-") for each in told)]
        for name in dict.fromkeys(name for each in told for name in each)
    ]
    tables = [ReportTable(["", *schedules], rows)]
    tables += [
        _use_of_nodes(schedule.machine, measured[name], name)
        for name, schedule in schedules.items()
        if schedule.machine is not None
    ]
    yield Section(MACHINE, tables=tables)


def _machine(schedule: Schedule) -> dict[str, str]:
    """Return what a schedule ran on, and how jobs were put there."""
    machine = schedule.machine
    if machine is None:
        return {"machine": counted(schedule.processors, "processor")}
    count = np.bincount(machine.kind, minlength=len(machine.kinds)).tolist()
    return {
        "machine": f"{counted(len(machine), 'node')} ({counted(schedule.processors, 'core')})",
        "kinds of nodes": ", ".join(f"{kind} {nodes:,}" for kind, nodes in zip(machine.kinds, count, strict=True)),
        "partitions": ", ".join(f"{part.name} {len(part.nodes):,}" for part in machine.partitions),
        "placement": str(schedule.options.get("placement", "-")),
        "first waiting jobs that are protected": _HEADS.get(schedule.options.get("heads", ""), "-"),
        "changes": "; ".join(text.removeprefix(CHANGED) for text in schedule.assumptions if text.startswith(CHANGED))
        or "none",
    }


def _use_of_nodes(machine: NodeTable, measures: Measures, name: str) -> ReportTable:
    """Return how much is in use of each kind of nodes and each partition, over the time of the schedule."""
    value = measures.set_index(["measure", "statistic"])["value"]
    sizes = [
        np.bincount(machine.kind, minlength=len(machine.kinds)).tolist(),
        [len(each.nodes) for each in machine.partitions],
    ]
    names = [machine.kinds, [each.name for each in machine.partitions]]
    rows = [
        [f"{group} {each}", nodes, *(100 * float(value.get((f"{group}_{of}", each), np.nan)) for of in _RESOURCES)]
        for group, of_group, counts in zip(("kind", "partition"), names, sizes, strict=True)
        for each, nodes in zip(of_group, counts, strict=True)
    ]
    return ReportTable(["", "nodes", *_RESOURCES.values()], rows, caption=f"Use of nodes: {name}")


def _waits_on_nodes(schedules: dict[str, Schedule]) -> Iterator[Section]:
    """Yield what jobs waited for, and how long by partition; nothing of pools alone."""
    tables, known = [], set[str]()
    for name, schedule in schedules.items():
        if schedule.machine is not None:
            sums = sum_wait_reasons(schedule)
            shown = [reason for reason in REASONS if sums[reason].any()]
            known.update(shown)
            rows = [
                [of if by == "all" else f"{by} {of}", jobs, *amounts]
                for by, of, jobs, *amounts in sums[["by", "name", "jobs", "waited", *shown]].itertuples(index=False)
                if jobs
            ]
            tables += [
                ReportTable(
                    ["", "jobs", "job-hours waited", *map(reason_in_words, shown)],
                    rows,
                    caption=f"Job-hours waited, by what jobs waited for: {name}",
                ),
                _by_partition(schedule, name),
            ]
    if tables:
        words = [f"{reason_in_words(each)}: {meaning}" for each, meaning in REASONS.items() if each in known]
        yield Section(REASONS_OF_WAITS, [sentence(each) for each in words], tables)


def _by_partition(schedule: Schedule, name: str) -> ReportTable:
    """Return how long jobs waited by the partition in which they ran, in the order of the machine."""
    column = "partition_of_machine"
    jobs = schedule.jobs.assign(**{column: wait_reasons(schedule)["partition"].array})
    found = measure(replace(schedule, jobs=jobs), by=column).set_index(["job_class", "measure", "statistic"])
    rows = []
    for each in schedule.machine.partitions if schedule.machine else ():
        if (each.name, "wait", "mean") in found.index:
            value = found.loc[each.name]["value"]
            waits = [_figure(float(value["wait", statistic]), "s") for statistic in ("mean", "p50", "p98")]
            jobs_of = int(found["jobs"][each.name, "wait", "mean"])
            rows.append([each.name, jobs_of, *waits, float(value["bounded_slowdown", "mean"])])
    heading = ["partition", "jobs", "mean wait", "median wait", "98 % wait no longer", "mean bounded slowdown"]
    return ReportTable(heading, rows, caption=f"Waits by partition: {name}")


def _figures(measured: dict[str, Measures]) -> Section:
    """Return the dozen numbers that people look at first, a column a schedule."""
    summaries = [each.summary() for each in measured.values()]
    longest = max(summaries, key=len)  # a pool has no figures of nodes
    units, columns = longest["unit"], [each.iloc[:, -1].reindex(longest.index).to_dict() for each in summaries]
    rows = [
        [
            name if unit in ("1", "s", name.split()[-1]) else f"{name}, {unit}",
            *(_figure(float(values[name]), unit) for values in columns),
        ]
        for name, unit in zip(map(str, units.index), units, strict=True)
    ]
    return Section("In figures", tables=[ReportTable(["", *measured], rows)])


def _figure(value: float, unit: str) -> float | NumberCell:
    """Return a number of a summary; a time in a unit that people use."""
    return NumberCell(value, duration(value)) if unit == "s" and value == value else value  # noqa: PLR0124 (NaN)


def machines_of(schedule: Schedule) -> Iterator[Section]:
    """Yield what the machine of a schedule is, and how much of each kind and partition is in use; nothing of a pool."""
    yield from _machines({schedule.policy: schedule}, {schedule.policy: measure(schedule)})


def use_over_time(schedule: Schedule) -> Iterator[Section]:
    """Yield how nodes are used over time; nothing of a pool."""
    if schedule.machine is not None:
        chosen = [(name, options) for name, options in PICTURES[NODES] if name != "wait-reasons"]
        yield Section(NODES, pictures=[ReportPicture(schedule, name, options) for name, options in chosen])


def _pictures(schedules: dict[str, Schedule]) -> Iterator[Section]:
    """Yield the pictures of the first schedule, of each beside those of the other."""
    for heading, names in PICTURES.items():
        drawn = [each for each in schedules.values() if heading != NODES or each.machine is not None]
        if drawn:
            pictures = [ReportPicture(each, name, chosen) for name, chosen in names for each in drawn]
            yield Section(heading, pictures=pictures)
