# SPDX-License-Identifier: BSD-3-Clause
"""summary.md: the page of a version that a person reads in the morning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from pipelines.history.findings import Finding
from pipelines.history.reevaluation_run import ReevaluationRun, last_days
from pipelines.history.waits import options_of
from pipelines.store.readme import account_lines
from swftools.output.amounts import percent
from swftools.output.shown_text import shown_in_markdown

NEWEST = 10
"""Files that are listed."""

GROUPS = 20
"""Queues, or other groups, whose coverage is listed, beside all together: those of most jobs."""


def summary_text(run: ReevaluationRun, facts: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    """Write the page, in Markdown; equal versions have equal pages."""
    files = run.night.ingested
    waiting = run.night.waiting_table
    sections = [
        f"# {run.settings.history}",
        f"Version `{run.version}`: {facts['account']['jobs_kept']:,} jobs of {_counted(len(files), 'file')}, in "
        f"{_counted(len(run.labels), 'month')}, until {_moment(run)}.",
        "## Findings",
        _bullets(finding.message for finding in findings) if findings else "None.",
    ]
    if len(waiting):
        sections += [
            "## Left in the inbox",
            _bullets(f"{row['file']}: {row['outcome']}: {row['reason']}" for row in waiting.to_dict("records")),
        ]
    sections += ["## Waits: how often bounds were right", _coverage(run)]
    if len(run.watched[0]):
        watch = run.watched[0]
        sections += [f"## Policies on the last {run.settings.policies.days:g} days", _policies(watch)]
        sections += [f"What is assumed:\n\n{_bullets(watch.attrs['assumptions'])}"]
    sections += ["## The workload of the last days, and of the time before", _drift(run.drift)]
    sections += ["## What became of the records", _bullets(account_lines(facts["account"], facts["assumptions"]))]
    sections += [f"## The last {min(NEWEST, len(files))} of {_counted(len(files), 'file')}", _files(files.tail(NEWEST))]
    return "\n\n".join(sections) + "\n"


def shown_text(run: ReevaluationRun) -> str:
    """Return what the README.md of a history shows: how often bounds were right."""
    return _coverage(run)


def _counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def _moment(run: ReevaluationRun) -> str:
    """Return the end of the history in words."""
    if run.night.book.says_when:
        return datetime.fromtimestamp(run.until + run.making.begins, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"second {run.until:,.0f} of the log"


def _coverage(run: ReevaluationRun) -> str:
    """Return coverage and tightness by method and queue, in the periods before the end and in all."""
    table = run.coverage
    if table.empty or not table["known"].sum():
        return "Nothing to compare: no job that was told a bound has a known wait."
    periods = [*(last_days(days) for days in run.settings.waits.days), "all"]
    heads = [part for period in periods for part in (f"waits, {period}", "covered", "tightness")]
    lines = [["method", "queue", *heads]]
    keys = table[table["period"] == "all"]
    shown = keys.groupby("queue")["jobs"].max().nlargest(GROUPS + 1).index
    rows = {(row["period"], row["method"], row["queue"]): row for row in table.to_dict("records")}
    for method, queue in zip(keys["method"], keys["queue"], strict=True):
        if queue not in shown:
            continue
        cells = [shown_in_markdown(method), shown_in_markdown(run.name_of_group(queue))]
        for period in periods:
            cells += _cells(rows.get((period, method, queue)))
        lines.append(cells)
    left = keys["queue"].nunique() - len(shown)
    told = f"\n\nAnd {left:,} groups of fewer jobs: in the table wait_coverage." if left else ""
    held = _bullets(_in_words(row, options_of(run.settings)["quantile"]) for row in _of_all(table))
    return "\n\n".join(filter(None, (held, _meaning(run), f"{_markdown(lines)}{told}")))


def _of_all(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of all queues and all times, one a method."""
    return table[(table["period"] == "all") & (table["queue"] == "all") & (table["known"] > 0)].to_dict("records")


def _in_words(row: Mapping[Any, Any], quantile: float) -> str:
    """Return in a sentence how often the bounds of a method were right, and how near they were."""
    covered = f"{percent(row['coverage'], digits=1)} of {row['known']:,} jobs"
    return (
        f"{row['method']}: {covered} waited no longer than they would have been told ({percent(quantile)} are meant); "
        f"the bound was typically {row['tightness']:,.1f} times the wait."
    )


def _meaning(run: ReevaluationRun) -> str:
    """Return what the columns of the table of coverage are, and what they are to be compared with."""
    quantile = options_of(run.settings)["quantile"]
    return (
        f"By queue: a job was covered if it waited no longer than the bound that it would have been told. A bound that "
        f"is right covers {quantile:g} of the waits; what is less than that by more than chance is **bold**. Tightness "
        "is how many times the wait the bounds were (geometric mean): the nearer to 1, the more they tell."
    )


def _cells(row: Mapping[Any, Any] | None) -> list[str]:
    """Return number of waits, coverage and tightness; what is below its tolerance is bold."""
    if row is None or not row["known"]:
        return ["0", "", ""]
    covered = f"{row['coverage']:.4f}"
    return [
        f"{row['known']:,}",
        f"**{covered}**" if row["is_below"] else covered,
        f"{row['tightness']:,.1f}",
    ]


def _policies(watch: pd.DataFrame) -> str:
    """Return measures of policies with their noise as a Markdown table."""
    lines = [["policy", "measure", "statistic", "value", "noise", "unit"]]
    for row in watch.to_dict("records"):
        value, noise = (_number(row[name]) for name in ("value", "spread"))
        lines.append([shown_in_markdown(row["policy"]), row["measure"], row["statistic"], value, noise, row["unit"]])
    return _markdown(lines)


def _drift(drift: pd.DataFrame) -> str:
    """Return the drift as a Markdown table; what is beyond its threshold is bold."""
    lines = [["aspect", "lately", "before", "unit", "statistic", "drift", "threshold"]]
    for row in drift.to_dict("records"):
        value = f"**{_number(row['drift'])}**" if row["is_beyond"] else _number(row["drift"])
        figures = (_number(row[name]) for name in ("recent", "reference"))
        words = row["statistic"].replace("_", " ")
        lines.append([shown_in_markdown(row["aspect"]), *figures, row["unit"], words, value, _number(row["threshold"])])
    return f"{_changed(drift)}\n\n{_markdown(lines)}"


def _changed(drift: pd.DataFrame) -> str:
    """Return in a sentence what has changed."""
    beyond = [
        f"{shown_in_markdown(row['aspect'])} ({_number(row['recent'])} after {_number(row['reference'])} {row['unit']})"
        for row in drift.to_dict("records")
        if row["is_beyond"]
    ]
    told = ", ".join(dict.fromkeys(beyond))
    return (
        f"{f'These have changed: {told}.' if told else 'Nothing has changed beyond its threshold.'} Each aspect of the "
        "jobs of the last days is held against the time before. Drift is how far the two lie apart, by the statistic "
        "that is named; beyond its threshold it is **bold**."
    )


def _number(value: float) -> str:
    """Return a number in words; nothing for none."""
    return "" if pd.isna(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _files(files: pd.DataFrame) -> str:
    """Return files and what came of them as a Markdown table."""
    names = ["file_number", "file", "format", "records", "new", "merged", "quarantined", "not_ended"]
    rows = [[shown_in_markdown(value) for value in row] for row in files[names].itertuples(index=False)]
    return _markdown([["number", *names[1:]], *rows])


def _markdown(lines: list[list[str]]) -> str:
    """Return lines of cells as a Markdown table."""
    heading, *rows = lines
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heading, ["---"] * len(heading), *rows))


def _bullets(lines: Iterable[str]) -> str:
    """Return a Markdown list of lines that may be from outside."""
    return "\n".join("* " + shown_in_markdown(" ".join(line.split())) for line in lines)
