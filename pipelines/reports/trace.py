# SPDX-License-Identifier: BSD-3-Clause
"""The report on a trace: what became of its lines, who submitted what and when, and how long they waited."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pipelines.reports.report import NumberCell, ReportPicture, ReportTable, Section, Version, reports_on
from swftools.cleaning import CleaningReport
from swftools.description import describe
from swftools.fields.definition import GENERATED
from swftools.fields.dictionary import SWF_NAMES, generated_columns
from swftools.header import SwfHeader
from swftools.output.amounts import counted, duration, percent
from swftools.tables import empty_frame
from swftools.trace import Trace

FIGURES = {
    "jobs": "jobs",
    "processors": "processors of the machine",
    "start": "first second of the log",
    "days": "days from the first to the last submission",
    "users": "users",
    "offered_load": "offered load",
    "mean_width": "processors of a job, mean",
    "median_run_time": "run time, median",
    "median_requested_time": "requested time, median",
    "median_wait_time": "wait as logged, median",
    "median_interarrival_time": "time between submissions, median",
    "cancelled": "jobs that were cancelled",
    "over_request": "jobs that ran longer than requested",
}
"""What ``describe`` tells, in the words of a report."""


WHAT = "A workload trace of a parallel machine"


@reports_on("jobs", WHAT)
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on a trace."""
    return [_balance(version), _figures(version, other), *_pictures(trace_of(version))]


def parts_of_log(trace: Trace, report: CleaningReport | None) -> list[Section]:
    """Return the same parts for a log that is not published."""
    told = [
        f"{len(trace):,} jobs; {len(trace.quarantine):,} lines are quarantined, {len(trace.merged):,} became part of "
        "another job."
    ]
    pictures = [ReportPicture(report, "balance")] if report is not None else []
    sections = [
        Section("What became of the lines", told, pictures=pictures),
        _in_figures([trace], ["", "value"], generated_columns(trace.jobs)),
    ]
    return [*sections, *_pictures(trace)]


def trace_of(version: Version) -> Trace:
    """Return the jobs of a version as a trace, with the columns that SWF has."""
    names = {"names": version.read("names")} if version.has("names") else {}
    return Trace(
        SwfHeader.from_lines(version.manifest.get("header", ())),
        version.read("jobs", [*SWF_NAMES, "line_number"]),
        machine_processors=version.manifest.get("machine_processors"),
        provenance={"name": version.data_set},
        **names,
    )


def _balance(version: Version) -> Section:
    """Return what became of the lines of the log."""
    account = version.manifest.get("account") or {}
    told = []
    if account:
        counts = [sum(account.get(name, {}).values()) for name in ("quarantined", "merged")]
        told.append(
            f"{account['job_lines_read']:,} job lines were read: {counted(account['jobs_kept'], 'job', '0')} were "
            "kept, "
            f"{counts[0]:,} were quarantined, and "
            f"{counted(counts[1], 'line', '0')} became part of another job. Nothing else was lost."
        )
    if flagged := account.get("flagged"):
        marked = (f"{counted(count, 'job')} by rule {name}" for name, count in flagged.items())
        told.append(f"Marked: {', '.join(marked)}.")
    pictures = []
    if "cleaning_report" in version.manifest["tables"]:
        report = CleaningReport(version.read("cleaning_report"), empty_frame("repairs"), empty_frame("merged"))
        pictures.append(ReportPicture(report, "balance"))
    return Section("What became of the lines", told, pictures=pictures)


def _figures(version: Version, other: Version | None) -> Section:
    """Return figures of the trace, maybe beside those of another, and what each column lacks."""
    heads = ["", *(f"{each.data_set} {each.version[:8]}" if other else "value" for each in (version, other) if each)]
    # The columns of augmentations are not read for figures; their names stand in the manifest.
    generated = generated_columns(version.manifest["tables"]["jobs"]["columns"])
    return _in_figures([trace_of(each) for each in (version, other) if each], heads, generated)


def _in_figures(traces: list[Trace], heads: list[str], generated: list[str]) -> Section:
    """Return figures of traces beside one another, what each column of the first lacks, and which are generated."""
    found = [describe(trace) for trace in traces]
    rows = [[words, *(_value(name, told[name]) for told in found)] for name, words in FIGURES.items()]
    jobs = max(found[0]["jobs"], 1)
    missing = [
        [name, count, percent(count, jobs, digits=1)]
        for name, count in found[0]["missing_values"].items()
        if 0 < count < jobs
    ]
    without = [name for name, count in found[0]["missing_values"].items() if count == found[0]["jobs"]]
    told = [f"No job has: {', '.join(without)}."] if without and found[0]["jobs"] else []
    if generated:
        told.append(f"{GENERATED.capitalize()}: {', '.join(generated)}.")
    tables = [ReportTable(heads, rows)]
    if missing:
        tables.append(ReportTable(["column", "jobs without it", "share"], missing, "What some jobs lack"))
    return Section("In figures", told, tables)


def _value(name: str, value: object) -> object:
    """Return a figure as it is shown: the date as people write it, a time in a unit that they use."""
    if name.startswith("median_") and isinstance(value, float):
        return NumberCell(value, duration(value))
    return f"{datetime.fromisoformat(str(value)):%Y-%m-%d %H:%M:%S %Z}" if name == "start" and value else value


def _pictures(trace: Trace) -> Iterator[Section]:
    """Yield the pictures of a trace."""
    groups = {
        "When jobs come": (("arrivals", {}), ("arrivals", {"by": "weekday"}), ("load", {})),
        "What they ask for": (("sizes", {}), ("estimates", {})),
        "Whose they are": (("users", {}), ("queues", {})),
        "How long they waited": (("waits", {}),),
    }
    for heading, pictures in groups.items():
        yield Section(heading, pictures=[ReportPicture(trace, name, chosen) for name, chosen in pictures])
