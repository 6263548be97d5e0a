# SPDX-License-Identifier: BSD-3-Clause
"""The report on an evaluation of waits: how often bounds were right, and how tight they were."""

from __future__ import annotations

import pandas as pd

from pipelines.reports.report import NumberCell, ReportPicture, ReportTable, Section, Version, reports_on
from swftools.output.amounts import counted, percent
from swftools.qbets.evaluation import named_evaluation

COLUMNS = {
    "group": "queue",
    "method": "method",
    "predicted": "jobs that were told",
    "correctness": "share right",
    "standard_error": "standard error",
    "median_tightness": "bound / wait, median",
    "p90_tightness": "bound / wait, .9 quantile",
}
"""What is shown of an evaluation, and its heading."""


@reports_on("wait_evaluation", "Bounds of waits in queues, and how often they were right")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on an evaluation of waits."""
    sections = evaluation_parts(_evaluation(version))
    if other:
        tables = [_by_queue(_evaluation(other))]
        sections.append(Section(f"By queue, {other.data_set} {other.version[:8]}", tables=tables))
    return sections


def _evaluation(version: Version) -> pd.DataFrame:
    """Return the evaluation of a version, with groups by the names that the log has."""
    by = str(version.manifest["parameters"]["by"])
    return named_evaluation(version.read("wait_evaluation"), by.split(","), version.known_names)


def evaluation_parts(evaluation: pd.DataFrame) -> list[Section]:
    """Return the parts that tell of an evaluation: all jobs, by queue, and over the months."""
    everything = evaluation[evaluation["grouped_by"] == "all"]
    told = [
        f"{row['method']}: of {counted(row['predicted'], 'job')} that were told a bound, "
        f"{percent(row['correctness'], digits=1)} "
        f"waited no longer{'' if row['is_correct'] else ', which is less than was meant'}."
        for row in everything.dropna(subset=["correctness"]).to_dict("records")
    ]
    return [
        Section("All jobs", told),
        Section(
            "By queue",
            tables=[_by_queue(evaluation)],
            pictures=[ReportPicture(evaluation, name) for name in ("reliability", "tightness")],
        ),
        Section("By month", pictures=[ReportPicture(evaluation, "coverage")]),
    ]


def _by_queue(evaluation: pd.DataFrame) -> ReportTable:
    """Return the evaluation by queue as a table."""
    rows = evaluation.loc[evaluation["grouped_by"] == "queue", list(COLUMNS)]
    cells = rows.astype(object).where(rows.notna(), None)
    for name in ("correctness", "standard_error"):
        told = [None if each is None else NumberCell(each, percent(each, digits=1)) for each in cells[name]]
        cells[name] = pd.Series(told, cells.index, dtype=object)
    return ReportTable(list(COLUMNS.values()), cells.to_numpy().tolist())
