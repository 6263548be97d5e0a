# SPDX-License-Identifier: BSD-3-Clause
"""The report "our centre": of a log on its machine, how busy it is, who waits, when, and for what."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from pipelines.reports.report import NumberCell, ReportPicture, ReportTable, Section, sentence
from pipelines.reports.schedule import machines_of, use_over_time
from swftools.output.amounts import counted, duration, percent
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.wait_reasons import REASONS, reason_in_words
from swftools.simulator.schedule import Schedule
from swftools.waits import WaitStudy, study_waits

WHAT = "Our centre: how busy it is, who waits, and for what, as the log has it"

WORDS = {
    "wait": "from submission to the first start; median: half of the jobs wait no longer; 90 %: nine tenths do",
    "waited": "the share of jobs that waited at all",
    "node-hours waited": "waits x nodes; a job on a part of a node counts as its share of the cores",
    "processor-hours waited": "waits x processors",
    "load": "the processor time of the jobs that were submitted in a month / that of all processors in it",
    "utilization": "the processor time of the jobs that ran in a month / that of all processors in it",
    "used": "of what all jobs asked for, weighed by processors, memory by run time too: what they used",
    "share set": "what the shares of an account, and of those above it, give it of the machine",
    "served": "its share of all processor time of the log; ratio: served / share set",
}
"""What the words of the report mean."""

MOST = 20
"""Groups of a table; those that waited most."""

_MONTHS = 36


def parts_of_centre(schedule: Schedule) -> list[Section]:
    """Return the parts of the report on a schedule, mostly the one that the log itself tells."""
    study = study_waits(schedule)
    return [
        _in_short(schedule, study),
        Section("By month", tables=[_months(schedule, study)], pictures=_over_time(schedule)),
        _why(schedule, study),
        *_who(study),
        Section(
            "When", tables=_groups_of(study, ("hour", "weekday")), pictures=[ReportPicture(schedule, "wait-by-hour")]
        ),
        *machines_of(schedule),
        *use_over_time(schedule),
        *_requests(study),
        *_shares(study),
        Section("What the words mean", tables=[_words(study)]),
    ]


def _in_short(schedule: Schedule, study: WaitStudy) -> Section:
    """Return the report in sentences."""
    if not len(study.groups):
        return Section("In short", ["No job of the log ran."])
    whole = study.groups.iloc[0]
    use = float(measure(schedule).set_index(["measure", "statistic"])["value"]["utilization", "time_mean"])
    told = [
        f"{counted(int(whole['jobs']), 'job')} ran; {percent(use, digits=1)} of the processor time of the machine was "
        "used.",
        f"{percent(whole['waited'])} of the jobs waited: "
        f"half of all no longer than {duration(whole['median'])}, nine tenths no longer than {duration(whole['p90'])}. "
        f"On average it was {duration(whole['mean'])}.",
    ]
    reasons = study.reasons[study.reasons["share"] >= 0.05].sort_values("share", ascending=False, kind="stable")
    if len(reasons):
        of = [f"{reason_in_words(each['reason'])} {percent(each['share'])}" for each in reasons.to_dict("records")]
        told.append(f"Of {whole['amount']:,.0f} {study.unit} that were waited: {', '.join(of)}.")
    for name in ("partition", "account", "processors"):
        groups = study.groups[study.groups["grouped_by"] == name]
        if len(groups) > 1 and groups["amount"].sum() > 0:
            most = groups.iloc[int(groups["amount"].argmax())]
            told.append(
                f"By {name}, {most['group']} waited most: {percent(most['share'])}, median {duration(most['median'])}."
            )
    return Section("In short", [*told, *map(sentence, study.told)])


def _months(schedule: Schedule, study: WaitStudy) -> ReportTable:
    """Return load, utilization and waits by month; of a log that does not say when it begins, of all of it."""
    months = _amounts_by_month(schedule)
    waits = study.groups[study.groups["grouped_by"].isin(["month"])].set_index("group")
    if not len(waits):
        waits = study.groups.iloc[:1].set_index("group")
    rows = []
    for month, row in waits.tail(_MONTHS).iterrows():
        load, use = months.get(str(month), (np.nan, np.nan))
        rows.append([str(month), int(row["jobs"]), 100 * load, 100 * use, *_waits(row)])
    return ReportTable(["month", "jobs", "load, %", "utilization, %", *_heads(study)], rows)


def _amounts_by_month(schedule: Schedule) -> dict[str, tuple[float, float]]:
    """Return of each month the processor time submitted and used, over that of all processors."""
    if schedule.origin is None or not len(schedule.jobs):
        return {}
    origin = pd.Timestamp(schedule.origin)
    jobs, runs = schedule.jobs, schedule.segments
    submit, start, end = (
        frame[name].to_numpy(np.float64)
        for frame, name in ((jobs, "submit_time"), (runs, "start_time"), (runs, "end_time"))
    )
    first, last = submit.min(), max(end.max(), submit.max())
    begin = (origin.tz_convert("UTC") + pd.Timedelta(first, "s")).tz_convert(origin.tzinfo)
    months = pd.date_range(begin.normalize().replace(day=1), periods=3 + int((last - first) // 2419200), freq="MS")
    edges = np.clip((months - origin).total_seconds().to_numpy(), first, last)
    width = jobs["allocated_processors"].to_numpy(np.float64)
    work = width * jobs["run_time"].to_numpy(np.float64)
    found = {}
    for month, low, high in zip(months, edges[:-1], edges[1:], strict=False):
        if low < high:
            capacity = schedule.processors * (high - low)
            asked = work[(submit >= low) & (submit < high)].sum()  # who comes at the last instant has no work
            used = (
                runs["allocated_processors"] * np.maximum(np.minimum(end, high) - np.maximum(start, low), 0.0)
            ).sum()
            found[f"{month:%Y-%m}"] = float(asked / capacity), float(used / capacity)
    return found


def _heads(study: WaitStudy) -> list[str]:
    return ["waited, %", "median wait", "90 %", "mean", f"{study.unit} waited", "share, %"]


def _waits(row: pd.Series) -> list[object]:
    """Return the cells of how a group waited."""
    return [
        100 * float(row["waited"]),
        *(_time(float(row[name])) for name in ("median", "p90", "mean")),
        float(row["amount"]),
        100 * float(row["share"]),
    ]


def _time(seconds: float) -> object:
    return NumberCell(seconds, duration(seconds)) if np.isfinite(seconds) else None


def _over_time(schedule: Schedule) -> list[ReportPicture]:
    names = ("utilization", "queue")
    return [ReportPicture(schedule, name, {"bins": 2000}) for name in names]


def _why(schedule: Schedule, study: WaitStudy) -> Section:
    """Return what jobs waited for."""
    rows = [
        [
            reason_in_words(each["reason"]),
            int(each["jobs"]),
            each["hours"],
            each["amount"],
            100 * each["share"],
            each["meaning"],
        ]
        for each in study.reasons[study.reasons["amount"] > 0].to_dict("records")
    ]
    heads = ["waited for", "jobs", "job-hours", study.unit, "share, %", "that is, at that moment"]
    pictures = [ReportPicture(schedule, "wait-reasons", {"bins": 2000})] if schedule.machine is not None else []
    told = [] if rows else ["Nobody waited."]
    return Section("Why users wait", told, [ReportTable(heads, rows)] if rows else [], pictures)


def _groups_of(study: WaitStudy, names: tuple[str, ...]) -> list[ReportTable]:
    """Return a table for each grouping of which the log tells more than one group."""
    shown = [reason for reason in REASONS if study.groups[reason].any()]
    tables = []
    for name in names:
        groups = study.groups[study.groups["grouped_by"] == name]
        if len(groups) < 2:
            continue
        chosen = groups.nlargest(MOST, "amount").index
        rows = [
            [str(row["group"]), int(row["jobs"]), *_waits(row), *(_part(row, reason) for reason in shown)]
            for _, row in groups[groups.index.isin(chosen)].iterrows()
        ]
        left = len(groups) - len(chosen)
        caption = f"By {name.replace('-', ' ')}" + (f"; {left:,} more that waited less" if left else "")
        heads = [name.replace("-", " "), "jobs", *_heads(study), *(f"{reason_in_words(each)}, %" for each in shown)]
        tables.append(ReportTable(heads, rows, caption))
    return tables


def _part(row: pd.Series, reason: str) -> float | None:
    return 100 * float(row[reason] / row["amount"]) if row["amount"] > 0 else None


def _who(study: WaitStudy) -> Iterator[Section]:
    tables = _groups_of(study, ("partition", "queue", "account", "qos", "user", "processors", "gpus", "time-limit"))
    if tables:
        yield Section("Who waits", ["The last columns say for what, as parts of a group's own waiting."], tables)


def _requests(study: WaitStudy) -> Iterator[Section]:
    """Yield what was asked for beside what was used."""
    rows = [
        [
            each["resource"],
            int(each["jobs"]),
            *(100 * each[name] for name in ("used", "median", "half_unused", "used_all")),
        ]
        for each in study.requests.to_dict("records")
    ]
    heads = [
        "asked for",
        "jobs",
        "used in all, %",
        "median job, %",
        "less than half used, % of jobs",
        "all used, % of jobs",
    ]
    if rows:
        yield Section("Requests against use", tables=[ReportTable(heads, rows)])


def _shares(study: WaitStudy) -> Iterator[Section]:
    """Yield what accounts got beside the shares that were set."""
    rows = [
        [
            each["account"],
            100 * each["share"],
            100 * each["served"],
            each["ratio"],
            _time(each["median"]),
            _time(each["p90"]),
        ]
        for each in study.shares.to_dict("records")
    ]
    heads = ["account", "share set, %", "served, %", "ratio", "median wait", "90 %"]
    if rows:
        yield Section("Who is served", tables=[ReportTable(heads, rows)])


def _words(study: WaitStudy) -> ReportTable:
    """Return what the words of the report mean, and the reasons for which jobs wait."""
    other = {"node-hours": "processor-hours waited", "processor-hours": "node-hours waited"}[study.unit]
    rows = [[word, meaning] for word, meaning in WORDS.items() if word != other]
    rows += [[reason_in_words(reason), meaning] for reason, meaning in REASONS.items()]
    return ReportTable(["word", "meaning"], rows)
