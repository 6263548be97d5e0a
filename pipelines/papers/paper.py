# SPDX-License-Identifier: BSD-3-Clause
"""What a paper is: experiments on logs, tables that are made of what they measure, and the values that it prints.

A paper is a folder of this one: its experiments, each a function of a trace, parameters and a seed; its tables, each of
which says which experiments it needs and makes cells of what they measured; and its published values, as files of its
own under ``published``, one a table.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from pipelines.logs.find import SHIPPED_LOG
from swftools.errors import ParameterError
from swftools.parameters import Parameters, did_you_mean
from swftools.parameters.as_text import write_entry
from swftools.parameters.registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AS_WRITTEN = "as written"
"""The reading of what can be read in one way only."""

OURS = "ours alone"
"""The place of a table that the paper has not; behind a colon something of its own where there are several."""

UNEXPLAINED = "unexplained"
"""Why a value is not reproduced where nobody knows why."""

MEASURED = ("subject", "x", "measure", "value")
"""Columns of what an experiment returns: what was measured, where (empty unless it is a curve), which measure."""


@dataclass(frozen=True)
class Experiment:
    """A piece of work on one log.

    Parameters
    ----------
    function : callable
        Takes a trace (of a paper that is about tables: ``pipelines.logs.tables.Tables``), the parameters and a seed;
        returns a frame with the columns ``MEASURED``, whose row order is kept.
    parameters : type
        Class of its parameters, each with a default; its ``NAME`` is the experiment's name.
    units : mapping of str to str
        Units of its measures; 1 by default.
    """

    function: Callable[[Any, Any, int], pd.DataFrame]
    parameters: type[Parameters]
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """An experiment to be run: its name, its parameters, and a seed."""

    experiment: str
    parameters: Parameters
    seed: int = 0

    @property
    def text(self) -> str:
        """The experiment and all its parameters, by which its measurements are found."""
        return self.parameters.to_text()

    @property
    def short_text(self) -> str:
        """The experiment and those of its parameters that differ from their defaults."""
        usual = type(self.parameters)().to_mapping()
        chosen = {name: value for name, value in self.parameters.to_mapping().items() if value != usual[name]}
        return write_entry(self.experiment, chosen)


@dataclass(frozen=True)
class Within:
    """When a value counts as reproduced: within an absolute or a relative distance of the published one."""

    absolute: float = 0.0
    relative: float = 0.0

    @property
    def text(self) -> str:
        """The rule in words."""
        limits = {f"{self.absolute:g}": self.absolute, f"{100 * self.relative:g} % of it": self.relative}
        parts = [words for words, limit in limits.items() if limit > 0]
        return "within " + " or ".join(parts)

    def holds(self, ours: float, published: float) -> bool:
        """Whether a value is near enough; a value on the limit is."""
        distance = abs(ours - published)
        return bool(distance <= self.absolute + 1e-9 or distance <= self.relative * abs(published) + 1e-9)


@dataclass(frozen=True)
class Cell:
    """A cell of a table, by one reading.

    Parameters
    ----------
    row, column : str
        As printed; the column may be a statement in our own words.
    ours : float
        Our value; NaN if it could not be measured.
    definition : str
        What is measured.
    unit, reading, is_chosen, spread, note
        As the table ``reproduction`` has them.
    printed : str, optional
        The published value as it stands in the paper.
    rule : Within, optional
        When the value counts as reproduced; None if it cannot be compared.
    reproduces : bool, optional
        The verdict on a statement, for which there is no rule.
    why : str
        Note on why a value is not reproduced.
    """

    row: str
    column: str
    ours: float
    definition: str
    unit: str = "1"
    reading: str = AS_WRITTEN
    is_chosen: bool = True
    printed: str | None = None
    rule: Within | None = None
    reproduces: bool | None = None
    spread: float = float("nan")
    note: str | None = None
    why: str = UNEXPLAINED


class Measurements:
    """What experiments measured, by log, experiment, subject, measure and place of a curve."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.logs: list[str] = list(dict.fromkeys(table["log"]))
        keys = table[["log", "experiment", "subject", "measure", "x"]].itertuples(index=False, name=None)
        self._values: dict[tuple[str, ...], list[float]] = {}
        for key, value in zip(keys, table["value"].to_numpy(dtype=float, na_value=float("nan")), strict=True):
            self._values.setdefault(key, []).append(float(value))

    def values(self, log: str, run: Run, subject: str, measure: str, x: str = "") -> list[float]:
        """Return the values, one a seed; none if it was not measured."""
        return self._values.get((log, run.text, subject, measure, x), [])

    def value(self, log: str, run: Run, subject: str, measure: str, x: str = "") -> float:
        """Return the mean over seeds; NaN if it was not measured."""
        values = self.values(log, run, subject, measure, x)
        return sum(values) / len(values) if values else float("nan")

    def subjects(self, log: str, run: Run) -> list[str]:
        """Return the subjects of an experiment, in its order."""
        rows = self.table[(self.table["log"] == log) & (self.table["experiment"] == run.text)]
        return list(dict.fromkeys(rows["subject"]))


Printed = Mapping[str, Mapping[str, str]]
"""A published table: by row and column, what is printed."""

Plan = Callable[[str, bool], Iterable[Run]]
"""Takes a log's name and whether to be quick; returns the runs that a table needs on the log."""

Cells = Callable[[Measurements, Printed, bool], Iterable[Cell]]
"""Takes the measurements, the published table, and whether to be quick; yields cells in order."""


@dataclass(frozen=True)
class PaperTable:
    """A table, figure or list of statements.

    Parameters
    ----------
    number : str
        Its number, by which it is asked for, such as 4.1.
    place : str
        Its name in the paper; ``OURS`` if the paper has none.
    title : str
        What it shows, in our own words.
    plan : Plan
        What it needs.
    cells : Cells
        What it shows.
    printed : mapping of str to mapping
        The published values, as ``read_printed`` returns them; empty if the paper prints none.
    is_list : bool
        Show one cell on each line, not a grid.
    """

    number: str
    place: str
    title: str
    plan: Plan
    cells: Cells
    printed: Printed = field(default_factory=dict)
    is_list: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper.

    Parameters
    ----------
    name : str
        Author and year.
    citation : str
        In full.
    version : int
        Raised whenever an experiment measures something else for equal inputs.
    logs : sequence of str
        Names of the cards of its logs.
    experiments : mapping of str to Experiment
        By name.
    tables : sequence of PaperTable
        In order.
    pictures : mapping of str to callable
        By name, functions that draw it from the table ``measurements``.
    drawn_on : str
        The one of ``logs`` for experiments that draw their own jobs; it need not be cited for the paper.
    reads : {"logs", "tables"}
        What ``logs`` names: cards of logs, or of tables that are no logs of jobs.
    excerpt : str
        What stands in the place of ``logs`` where it is to be quick.
    tells_errors : bool
        Show standard errors beside values where tables are shown; the table ``reproduction`` always has them.
    """

    name: str
    citation: str
    version: int
    logs: Sequence[str]
    experiments: Mapping[str, Experiment]
    tables: Sequence[PaperTable]
    pictures: Mapping[str, Callable[[pd.DataFrame], Figure]] = field(default_factory=dict)
    drawn_on: str = ""
    reads: Literal["logs", "tables"] = "logs"
    excerpt: str = SHIPPED_LOG
    tells_errors: bool = False

    @property
    def own_logs(self) -> list[str]:
        """The logs that it is about."""
        return [log for log in self.logs if log != self.drawn_on]

    def chosen_tables(self, number: str) -> list[PaperTable]:
        """Return the table of a number; all for an empty one.

        Raises
        ------
        ParameterError
            There is none.
        """
        found = [table for table in self.tables if number in ("", table.number)]
        if not found:
            known = [table.number for table in self.tables]
            raise ParameterError(
                f"paper {self.name} has no table {number!r} here; there are: {', '.join(known)}"
                f"{did_you_mean([number], known)}"
            )
        return found

    def runs(self, tables: Iterable[PaperTable], log: str, quick: bool) -> list[Run]:
        """Return the runs that tables need on a log, each once."""
        every = [run for table in tables for run in table.plan(log, quick)]
        return list({(run.text, run.seed): run for run in every}.values())


def read_printed(package: str, name: str) -> Printed:
    """Return a published table from a CSV file of a package, whose first column is ``row``; each value as printed."""
    text = files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")
    return {row.pop("row"): row for row in csv.DictReader(text.splitlines())}


def read_tables(package: str, paper: str, made: Mapping[str, tuple[Plan, Cells]]) -> list[PaperTable]:
    """Return the tables of a paper, as its package lists them in ``published/tables.csv``.

    Parameters
    ----------
    package : str
        Its folder may have several papers; each row of the list names its paper, then number, place and title, the file
        of its published values if there are any, and whether it is shown as a grid or a list.
    paper : str
        Whose tables are wanted.
    made : mapping of str to tuple
        By number, how a table is made.

    Raises
    ------
    ParameterError
        A table is listed and not made, or the other way round.
    """
    text = files(package).joinpath("published", "tables.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["paper"] == paper]
    if different := sorted({row["number"] for row in rows} ^ set(made)):
        raise ParameterError(f"{package}/published/tables.csv: {paper} lists other tables than are made: {different}")
    return [
        PaperTable(
            row["number"],
            row["place"],
            row["title"],
            *made[row["number"]],
            read_printed(package, f"published/{row['values']}") if row["values"] else {},
            is_list=row["form"] == "list",
        )
        for row in rows
    ]


def measured(rows: Iterable[tuple[str, str, str, float | None]]) -> pd.DataFrame:
    """Return the measurements of an experiment as a frame, from tuples of ``MEASURED``."""
    table = pd.DataFrame(list(rows), columns=list(MEASURED))
    return table.astype({"subject": "str", "x": "str", "measure": "str", "value": "float64"})


PAPERS: Registry[Paper] = Registry("paper")


def register_paper(paper: Paper) -> Paper:
    """Register a paper by its name."""
    PAPERS.add(paper.name, paper, paper.tables[0].plan)
    return paper


def find_paper(name: str) -> Paper:
    """Return a paper by name; ``module:name`` imports the module that registers it first.

    Raises
    ------
    ParameterError
        There is none of that name.
    """
    return PAPERS.find(name)


def list_papers() -> dict[str, Paper]:
    """Return the registered papers by name."""
    return PAPERS.list()
