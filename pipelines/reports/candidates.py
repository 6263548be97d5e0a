# SPDX-License-Identifier: BSD-3-Clause
"""The report on candidates: what each brings, by how much that is more than noise, who loses, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

import pandas as pd

from pipelines.experiments.candidates import AS_IT_IS, ASSUMPTIONS, SHOWN, of_all_jobs
from pipelines.reports.report import NumberCell, ReportTable, Section, Version, reports_on, sentence
from swftools.output.amounts import amount, difference, duration
from swftools.simulator.logged import LOGGED
from swftools.waits.study import ALL

MOST = 20
"""Groups of a table: those whose waits differ most."""

WORDS = {
    AS_IT_IS: "the machine, the policy and the options without any change, simulated",
    LOGGED: "what the log itself tells of the same jobs: real waits, under rules that a simulation may not know",
    "mean wait": "the sum of all waits, each from submission to the first start / the number of jobs",
    "median wait": "half of the jobs wait no longer",
    "90 % wait at most": "nine tenths of the jobs wait no longer",
    "bounded slowdown": "(wait + run time) / run time, with short run times taken as 10 s, at least 1",
    "waited in all": "waits x nodes; a job on a part of a node counts as its share of the cores; on a pool waits x "
    "processors",
    "utilization": "processor time that was used / that of all processors, from the first submission to the last end",
    "size": "nodes of the machine; of a pool its processors",
    "its time": "nodes, or processors, x the time from the first submission to the last end of all schedules",
    "energy": "over the same time, by the powers that the machine tells",
    "left out": "jobs that cannot run on the machine, or have no run time",
    "with it": "simulated with the candidate, over jobs that can run in both",
    "difference": "with it less as it is: below 0 is shorter, or less",
    "95 % interval": "where the difference is with 95 % certainty, by blocks of weeks; see what the statistics take "
    "for granted",
    "more than noise": "adjusted p of at most 0.05; see what the statistics take for granted",
}
"""What the words of the report mean."""


@reports_on("candidates", "What changes would bring, by simulation")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on candidates."""
    sections = parts_of_candidates(version.read("candidates"), version.read("candidate_advice"))
    told = version.manifest.get("assumptions", ())
    sections.append(Section("What the simulations assume", list(map(sentence, told))))
    if other:
        table = of_candidates(other.read("candidates"))
        sections.append(Section(f"The candidates, {other.data_set} {other.version[:8]}", tables=[table]))
    return sections


def parts_of_candidates(table: pd.DataFrame, advice: pd.DataFrame) -> list[Section]:
    """Return the parts of a report on candidates, also of one on a centre.

    Parameters
    ----------
    table, advice : pandas.DataFrame
        The tables candidates and candidate_advice.
    """
    advice = advice.fillna("")
    table = table.assign(candidate=table["candidate"].astype(str), classed_by=table["classed_by"].astype(str))
    whole = advice[advice["candidate"] == ""]["sentence"].tolist()
    sections = [Section("What would help", whole, [of_candidates(table)])]
    for name, rows in table.groupby("candidate", sort=False):
        if name in (AS_IT_IS, LOGGED):
            continue
        own = advice[advice["candidate"] == name]["sentence"].tolist()
        of_all = rows[rows["classed_by"] == ALL]
        tables = [_differences(of_all), *_groups(rows[rows["classed_by"] != ALL])]
        sections.append(Section(f"Candidate: {name}", own, tables))
    words = ReportTable(["word", "meaning"], [[*row] for row in WORDS.items()], explains=True)
    return [*sections, Section("What the statistics of candidates take for granted", [ASSUMPTIONS], [words])]


def of_candidates(table: pd.DataFrame) -> ReportTable:
    """Return a row for each candidate with what is measured of all jobs."""
    found = of_all_jobs(table)
    units = [str(unit) for unit in found.pop("unit")]
    names = [SHOWN[str(key)] for key in found.index]
    heads = [name if unit in ("1", "s") else f"{name}, {unit}" for name, unit in zip(names, units, strict=True)]
    rows = [
        [str(name), *(_cell(float(value), unit) for value, unit in zip(values, units, strict=True))]
        for name, values in found.items()
    ]
    return ReportTable(["candidate", *heads], rows)


def _cell(value: float, unit: str) -> object:
    """Return a value in words; nothing where it is not known."""
    return "" if isnan(value) else NumberCell(value, amount(value, "s" if unit == "s" else "1"))


def _differences(rows: pd.DataFrame) -> ReportTable:
    """Return how what is measured of all jobs and of the machine differs."""
    key = rows["measure"].astype(str) + "_" + rows["statistic"].astype(str)
    told = rows.assign(key=key).dropna(subset=["value"]).set_index("key")
    shown = told.loc[[each for each in SHOWN if each in told.index]]
    cells = [
        [SHOWN[str(name)], *_compared(row)] for name, row in zip(shown.index, shown.to_dict("records"), strict=True)
    ]
    return ReportTable(["measure", *_HEADS], cells)


_HEADS = ("with it", "as it is", "difference", "95 % interval", "more than noise")


def _compared(row: dict[Any, Any]) -> list[object]:
    """Return the cells of a difference."""
    unit = str(row["unit"])
    values = [NumberCell(row[name], amount(row[name], unit)) for name in ("value", "baseline_value")]
    return [
        *values,
        NumberCell(row["difference"], difference(row["difference"], unit)),
        _interval(row, unit),
        _judged(row),
    ]


def _interval(row: dict[Any, Any], unit: str) -> object:
    if pd.isna(row["low"]):
        return ""
    longest = max(abs(row["low"]), abs(row["high"]))
    return NumberCell(row["low"], " to ".join(difference(row[end], unit, longest) for end in ("low", "high")))


def _judged(row: dict[Any, Any]) -> str:
    if pd.isna(row["adjusted_p_value"]):
        return ""
    return f"{'yes' if row['is_told_apart'] else 'no'}, p {row['adjusted_p_value']:.2g}"


def _groups(rows: pd.DataFrame) -> Iterator[ReportTable]:
    """Yield a table of mean waits for each grouping."""
    for name, groups in rows.groupby("classed_by", sort=False):
        chosen = groups.loc[groups["difference"].abs().nlargest(MOST).index].sort_index()
        cells = [
            [
                str(row["job_class"]),
                int(row["jobs"]),
                *(NumberCell(row[each], duration(row[each])) for each in ("value", "baseline_value")),
                NumberCell(row["difference"], difference(row["difference"], "s")),
                _interval(row, "s"),
                _judged(row),
            ]
            for row in chosen.to_dict("records")
        ]
        left = len(groups) - len(chosen)
        caption = f"Mean wait by {str(name).replace('-', ' ')}" + (f"; {left:,} more that differ less" if left else "")
        yield ReportTable([str(name).replace("-", " "), "jobs", *_HEADS], cells, caption)
