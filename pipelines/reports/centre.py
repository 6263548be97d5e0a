# SPDX-License-Identifier: BSD-3-Clause
"""The report "our centre": of a log on its machine, how busy it is, who waits, when, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipelines.reports.centre_tables import (
    groups_tables,
    months_table,
    reasons_table,
    requests_table,
    shares_table,
)
from pipelines.reports.centre_words import words_table
from pipelines.reports.report import ReportPicture, Section, begun, sentence
from pipelines.reports.schedule import machines_of, use_over_time
from swftools.output.amounts import counted, duration, percent
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.wait_reasons import reason_in_words
from swftools.simulator.schedule import Schedule
from swftools.waits import Part, WaitStudy, study_parts

WHAT = "Our centre: how busy it is, who waits, and for what, as the log has it"

PEOPLE = ("account", "qos", "user", "processors", "gpus", "time-limit")
"""By what it is told who waits, beside partitions and queues."""

PARTS, FEW = 8, 8
"""Partitions that are shown by themselves, those that waited most; and groups of a table there."""

STEPS = 400
"""Steps of time in the picture of a partition; it has only one, since drawing takes most of the time and the bytes."""


def parts_of_centre(schedule: Schedule) -> list[Section]:
    """Return the parts of the report on a schedule, mostly the one that the log itself tells."""
    study, by, parts = _studies(schedule)
    return [
        _in_short(schedule, study),
        Section("By month", tables=[months_table(schedule, study, schedule.processors)], pictures=_over_time(schedule)),
        _why(schedule, study),
        *_who(study),
        Section(
            "When", tables=groups_tables(study, ("hour", "weekday")), pictures=[ReportPicture(schedule, "wait-by-hour")]
        ),
        *machines_of(schedule),
        *use_over_time(schedule),
        *_requests(study),
        *_shares(study),
        *(_of_part(schedule, by, name, part) for name, part in parts.items()),
        Section("What the words mean", tables=[words_table(study)]),
    ]


def _studies(schedule: Schedule) -> tuple[WaitStudy, str, dict[str, Part]]:
    """Return what is known of all jobs, and of those of each partition, or queue where the log tells no partitions.

    The partitions are those that waited most.
    """
    by, parts = "partition", dict[str, Part]()
    study, parts = study_parts(schedule, by)
    if not parts:
        queues = study.groups[study.groups["grouped_by"] == "queue"]
        by = "queue"
        parts = study_parts(schedule, by)[1] if len(queues) > 1 else {}
    by_amount = sorted(parts, key=lambda name: -float(parts[name].study.groups["amount"].iloc[0]))
    return study, by, {name: parts[name] for name in parts if name in by_amount[:PARTS]}


def _in_short(schedule: Schedule, study: WaitStudy) -> Section:
    """Return the report in sentences."""
    if not len(study.groups):
        return Section("In short", ["No job of the log ran."])
    whole = study.groups.iloc[0]
    use = float(measure(schedule).set_index(["measure", "statistic"])["value"]["utilization", "time_mean"])
    jobs = counted(int(whole["jobs"]), "job")
    told = f"{jobs} ran; {percent(use, digits=1)} of the processor time of the machine was used."
    most = _most(study, ("partition", "account", "processors"))
    return Section("In short", [told, *_usual(study), *most, *map(sentence, study.told)])


def _usual(study: WaitStudy) -> Iterator[str]:
    """Yield how long jobs waited, and for what."""
    whole = study.groups.iloc[0]
    yield (
        f"{percent(whole['waited'])} of the jobs waited: "
        f"half of all no longer than {duration(whole['median'])}, nine tenths no longer than {duration(whole['p90'])}. "
        f"On average it was {duration(whole['mean'])}."
    )
    reasons = study.reasons[study.reasons["share"] >= 0.05].sort_values("share", ascending=False, kind="stable")
    if len(reasons):
        of = [f"{reason_in_words(each['reason'])} {percent(each['share'])}" for each in reasons.to_dict("records")]
        yield f"Of {whole['amount']:,.0f} {study.unit} that were waited: {', '.join(of)}."


def _most(study: WaitStudy, names: tuple[str, ...]) -> Iterator[str]:
    """Yield who waited most."""
    for name in names:
        groups = study.groups[study.groups["grouped_by"] == name]
        if len(groups) > 1 and groups["amount"].sum() > 0:
            most = groups.iloc[int(groups["amount"].argmax())]
            share, median = percent(most["share"]), duration(most["median"])
            yield f"By {name}, {most['group']} waited most: {share}, median {median}."


def _over_time(schedule: Schedule) -> list[ReportPicture]:
    names = ("utilization", "queue")
    return [ReportPicture(schedule, name, {"bins": 2000}) for name in names]


def _why(schedule: Schedule, study: WaitStudy) -> Section:
    """Return what jobs waited for."""
    table = reasons_table(study)
    pictures = [ReportPicture(schedule, "wait-reasons", {"bins": 2000})] if schedule.machine is not None else []
    return Section("Why users wait", [] if table else ["Nobody waited."], [table] if table else [], pictures)


def _who(study: WaitStudy) -> Iterator[Section]:
    tables = groups_tables(study, ("partition", "queue", *PEOPLE))
    if tables:
        yield Section("Who waits", ["The last columns say for what, as parts of a group's own waiting."], tables)


def _requests(study: WaitStudy) -> Iterator[Section]:
    if table := requests_table(study):
        yield Section("Requests against use", tables=[table])


def _shares(study: WaitStudy) -> Iterator[Section]:
    if table := shares_table(study):
        yield Section("Who is served", tables=[table])


def _of_part(schedule: Schedule, by: str, name: str, part: Part) -> Section:
    """Return what is known of the jobs of one partition, or queue; load and utilization are of its own processors."""
    own, study = part
    processors, machine = schedule.processors, schedule.machine
    nodes = next((each.nodes for each in machine.partitions if each.name == name), None) if machine else None
    if by == "partition" and machine is not None and nodes is not None:
        processors = int(machine.cores[nodes].sum())
    reasons = reasons_table(study)
    tables = [replace(months_table(own, study, processors), caption="By month"), *([reasons] if reasons else [])]
    tables += groups_tables(study, (*PEOPLE, "hour", "weekday"), FEW)
    if (requests := requests_table(study)) is not None:
        tables.append(replace(requests, caption="Requests against use"))
    told = [f"{counted(int(study.groups['jobs'].iloc[0]), 'job')} ran.", *_usual(study), *_most(study, ("account",))]
    pictures = [ReportPicture(own, "queue", {"bins": STEPS})]
    return Section(begun(f"{by} {name}"), told, tables, pictures, only=f"{by} {name}")
