# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the report "our centre": load and waits by month, what was waited for, by whom, requests, shares."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from pipelines.reports.report import NumberCell, ReportTable
from swftools.output.amounts import duration
from swftools.simulator.metrics.wait_reasons import REASONS, reason_in_words
from swftools.simulator.schedule import Schedule
from swftools.waits import WaitStudy

MOST = 20
"""Groups of a table; those that waited most."""

_MONTHS = 36


def months_table(schedule: Schedule, study: WaitStudy, processors: float) -> ReportTable:
    """Return load, utilization and waits by month; of a log that does not say when it begins, of all of it.

    Parameters
    ----------
    schedule : Schedule
        Its jobs are those that count.
    study : WaitStudy
        Of them.
    processors : float
        Those of which load and utilization are shares.
    """
    months = _amounts_by_month(schedule, processors)
    waits = study.groups[study.groups["grouped_by"].isin(["month"])].set_index("group")
    if not len(waits):
        waits = study.groups.iloc[:1].set_index("group")
    rows = []
    for month, row in waits.tail(_MONTHS).iterrows():
        load, use = months.get(str(month), (np.nan, np.nan))
        rows.append([str(month), int(row["jobs"]), 100 * load, 100 * use, *_waits(row)])
    return ReportTable(["month", "jobs", "load, %", "utilization, %", *_heads(study)], rows)


def _amounts_by_month(schedule: Schedule, processors: float) -> dict[str, tuple[float, float]]:
    """Return of each month the processor time submitted and used, over that of so many processors."""
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
            capacity = processors * (high - low)
            asked = work[(submit >= low) & (submit < high)].sum()  # who comes at the last instant has no work
            used = (
                runs["allocated_processors"] * np.maximum(np.minimum(end, high) - np.maximum(start, low), 0.0)
            ).sum()
            found[f"{month:%Y-%m}"] = float(asked / capacity), float(used / capacity)
    return found


def _heads(study: WaitStudy) -> list[str]:
    return ["waited, %", "median wait", "90 % wait", "mean wait", f"{study.unit} waited", "share, %"]


def _waits(row: pd.Series) -> list[object]:
    """Return the cells of how a group waited."""
    return [
        100 * float(row["waited"]),
        *(_time(float(row[name])) for name in ("median", "p90", "mean")),
        float(row["amount"]),
        100 * float(row["share"]),
    ]


def _time(seconds: float) -> object:
    return NumberCell(seconds, duration(seconds), "s") if np.isfinite(seconds) else None


def reasons_table(study: WaitStudy) -> ReportTable | None:
    """Return what jobs waited for; None if nobody waited."""
    rows = [
        [
            reason_in_words(each["reason"]),
            int(each["jobs"]),
            *(each[name] for name in ("hours", "amount")),
            100 * each["share"],
            each["meaning"],
        ]
        for each in study.reasons[study.reasons["amount"] > 0].to_dict("records")
    ]
    heads = ["waited for", "jobs", "job-hours waited", f"{study.unit} waited", "share, %", "that is, at that moment"]
    return ReportTable(heads, rows, "Waited for") if rows else None


def groups_tables(study: WaitStudy, names: Iterable[str], most: int = MOST) -> list[ReportTable]:
    """Return a table for each grouping of which the log tells more than one group."""
    shown = [reason for reason in REASONS if study.groups[reason].any()]
    tables = []
    for name in names:
        groups = study.groups[study.groups["grouped_by"] == name]
        if len(groups) < 2:
            continue
        chosen = groups.nlargest(most, "amount").index
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


def requests_table(study: WaitStudy) -> ReportTable | None:
    """Return what was asked for beside what was used; None where the log does not tell it."""
    rows = [
        [
            each["resource"],
            int(each["jobs"]),
            *(100 * each[name] for name in ("used", "median", "half_unused", "used_all")),
        ]
        for each in study.requests.to_dict("records")
    ]
    heads = ["asked for", "jobs", "used in all, %", "median job, %", "less than half used, % of jobs"]
    return ReportTable([*heads, "all used, % of jobs"], rows) if rows else None


def shares_table(study: WaitStudy) -> ReportTable | None:
    """Return what accounts got beside the shares that were set; None where none were."""
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
    heads = ["account", "share set, %", "served, %", "ratio", "median wait", "90 % wait"]
    return ReportTable(heads, rows) if rows else None
