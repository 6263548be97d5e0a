# SPDX-License-Identifier: BSD-3-Clause
"""The report on a reproduction: each table of the paper, what it prints and what came out here."""

from __future__ import annotations

import pandas as pd

from pipelines.reports.report import ReportTable, Section, Version, reports_on

COLUMNS = {
    "row": "row",
    "column": "column",
    "reading": "reading",
    "printed": "printed",
    "ours": "ours",
    "unit": "unit",
    "is_reproduced": "reproduced",
    "note": "note",
}
"""What is shown of a reproduction, and its heading."""


@reports_on("reproduction", "Tables of a paper, made anew")
def parts(version: Version, other: Version | None) -> list[Section]:  # noqa: ARG001 (a paper stands beside itself)
    """Return the parts of a report on a reproduction."""
    cells = version.read("reproduction")
    nothing = [] if len(cells) else ["It prints no value of these logs."]
    return [
        Section("The paper", [version.manifest["parameters"]["citation"], *nothing]),
        *(Section(str(place), tables=[_table(rows)]) for place, rows in cells.groupby("place", sort=False)),
    ]


def _table(cells: pd.DataFrame) -> ReportTable:
    """Return the cells of a table of the paper, a line each."""
    shown = cells[[name for name in COLUMNS if name in cells and cells[name].notna().any()]]
    shown = shown.assign(unit=shown["unit"].replace("1", ""))
    rows = shown.astype(object).where(shown.notna(), None).to_numpy().tolist()
    return ReportTable([COLUMNS[name] for name in shown.columns], rows)
