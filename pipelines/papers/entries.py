# SPDX-License-Identifier: BSD-3-Clause
"""Tables whose every cell is one measure of one run: they are planned and shown by one list of entries."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from pipelines.papers.paper import AS_WRITTEN, UNEXPLAINED, Cell, Cells, Measurements, Plan, Printed, Run, Within


@dataclass(frozen=True)
class Entry:
    """A cell of a table, and where its value is found among the measurements of a log.

    Parameters
    ----------
    row, column, definition, unit, reading, is_chosen, rule, note, why
        As those of ``Cell``.
    run, measure, subject, x
        Where the value is found, as ``Measurements.value`` takes them.
    """

    row: str
    column: str
    run: Run
    measure: str
    definition: str
    unit: str = "1"
    subject: str = "jobs"
    x: str = ""
    reading: str = AS_WRITTEN
    is_chosen: bool = True
    rule: Within | None = None
    note: str | None = None
    why: str = UNEXPLAINED

    def cell(self, found: Measurements, log: str, printed: Printed) -> Cell:
        """Return the cell, with what is printed at its place, if anything is."""
        return Cell(
            self.row,
            self.column,
            found.value(log, self.run, self.subject, self.measure, self.x),
            self.definition,
            unit=self.unit,
            reading=self.reading,
            is_chosen=self.is_chosen,
            printed=printed.get(self.row, {}).get(self.column) or None,
            rule=self.rule,
            note=self.note,
            why=self.why,
        )


Entries = Callable[[str, bool], Iterable[Entry]]
"""Takes a log's name and whether to be quick; yields the entries of the log, none where it does not belong there."""


def made_of(entries: Entries, runs: Sequence[Run] = ()) -> tuple[Plan, Cells]:
    """Return the plan and the cells of a table.

    Parameters
    ----------
    entries : callable
        What it shows of each log.
    runs : sequence of Run
        What is planned of a log that belongs to it, where tables share runs; those of its entries by default.
    """

    def plan(log: str, quick: bool) -> list[Run]:
        own = [entry.run for entry in entries(log, quick)]
        return [*runs] if own and runs else own

    def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
        for log in found.logs:
            yield from (entry.cell(found, log, printed) for entry in entries(log, quick))

    return plan, cells


def read_columns(package: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Return what the columns of tables are, from the file ``published/columns.csv`` of a package.

    By number of the table and name of the column: unit and definition. Each row of the file is a column, and names its
    table first.
    """
    text = files(package).joinpath("published", "columns.csv").read_text(encoding="utf-8")
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["table"], {})[row["column"]] = row["unit"], row["definition"]
    return found
