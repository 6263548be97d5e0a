# SPDX-License-Identifier: BSD-3-Clause
"""The report on reservations: what was promised, met and paid, what it did to the others, and who was denied."""

from __future__ import annotations

import pandas as pd

from pipelines.reports.report import NumberCell, ReportPicture, ReportTable, Section, Version, reports_on
from swftools.named import named_groups
from swftools.output.amounts import duration
from swftools.reservations.simulated import MEASURES, calibration_of


@reports_on("reservations", "Reservations by predicted waits, in a simulated schedule")
def parts(version: Version, other: Version | None) -> list[Section]:
    """Return the parts of a report on reservations."""
    versions = {f"{each.data_set} {each.version[:8]}": each for each in (version, other) if each}
    measured = [each.manifest["measures"] for each in versions.values()]
    rows = [
        [words.removesuffix(", s"), *(_figure(measures.get(name), words) for measures in measured)]
        for name, words in MEASURES.items()
    ]
    tables = [each.read("reservations") for each in versions.values()]
    return [
        Section("In figures", tables=[ReportTable(["", *versions], rows)]),
        Section(
            "Whether promises were kept",
            ["A share below the line is less than was promised, of those so promised at their submission."],
            pictures=[ReportPicture(calibration_of(table), "promises") for table in tables],
        ),
        Section(
            "By group",
            tables=[
                ReportTable(
                    ["group", "asked", "accepted", "met", "denied, by reason"], _groups(table, _names(each, table))
                )
                for each, table in zip(versions.values(), tables, strict=True)
            ],
        ),
    ]


def _figure(value: float | None, words: str) -> float | NumberCell | None:
    """Return a measure that is called so; a time in a unit that people use."""
    return NumberCell(value, duration(value)) if value is not None and words.endswith(", s") else value


def _names(version: Version, table: pd.DataFrame) -> dict[str, str]:
    """Return what groups are called in the log."""
    by = version.manifest["parameters"]["reservations"]["by"] or ()
    return named_groups(table["group"].unique(), by, version.known_names)


def _groups(table: pd.DataFrame, names: dict[str, str]) -> list[list[object]]:
    """Return a row a group: how many asked and were accepted, the share met, and why others were denied."""
    rows: list[list[object]] = []
    for group, asked in sorted(table.groupby("group"), key=lambda each: _numbers_first(str(each[0]))):
        taken = asked[asked["is_accepted"]]
        met = taken["is_met"].dropna().astype("float64")
        denied = asked["why_denied"].dropna().value_counts().sort_index()
        why = ", ".join(f"{reason} {count:,}" for reason, count in denied.items())
        rows.append([names[str(group)], len(asked), len(taken), float(met.mean()) if len(met) else None, why])
    return rows


def _numbers_first(group: str) -> tuple[bool, int, str]:
    """Return what groups are sorted by: numbers by their size, then names."""
    return (False, int(group), "") if group.lstrip("-").isdecimal() else (True, 0, group)
