# SPDX-License-Identifier: BSD-3-Clause
"""ReproducePaper: publish the tables of a paper, the values that it prints beside ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.keys import content_key, schema_of
from pipelines.logs.find import find_log
from pipelines.logs.names import shortened
from pipelines.papers import Paper, find_paper
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements, PaperTable
from pipelines.papers.report import as_markdown, summary_lines
from pipelines.tasks.cells import CellsTask
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of, facts_of, software
from pipelines.tasks.log_task import LogParameter
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.publishing import Contents, writer_of
from pipelines.tasks.read_tables import ReadTables
from pipelines.tasks.run_experiment import READERS, PaperParameter, RunExperiment
from swftools.errors import ParameterError, UnreadableLogError
from swftools.tables import to_arrow, to_pandas


class ReproducePaper(CellsTask):
    """Reproduce the tables of a paper, and publish the printed values beside ours.

    Reads what each experiment measured on each log; these are tasks of their own: what is finished is not computed
    again, and ``--workers N`` runs N at a time. Writes ``<data root>/<paper>-reproduction/<version>/`` with the tables
    reproduction and measurements, the former as CSV and as Markdown, a README.md, a datapackage.json and a manifest;
    complete when that version is published.
    """

    code_version = 3
    what = "The tables of a paper made anew, beside the values that it prints"
    main_table = "reproduction"
    tables_used = ("measurements", "reproduction")
    paper = PaperParameter(description="short name of a paper, such as nurmi2009")
    table = luigi.Parameter(default="", description="one table of it, such as 4.1; default: all")
    logs = luigi.Parameter(default="", description="names of cards or paths, separated by commas; default: the paper's")
    quick = luigi.BoolParameter(default=False, description="the shipped excerpt in place of the paper's logs: seconds")

    def check_values(self) -> None:
        """Raise ParameterError if no such table is made of these logs, or one of them cannot be taken.

        That is one that is given twice, or beside ``quick``, or that is a log where the paper is about tables.
        """
        super().check_values()
        _ = self.tables
        if self.quick and self.logs:
            raise ParameterError("quick takes the shipped excerpt: give logs or quick, not both")
        names = [find_log(log).name for log in self.log_list]
        if len(set(names)) < len(names):
            raise ParameterError(f"logs={self.logs!r}: a log is named twice")
        if self.about.reads == "tables":
            _ = [self._read(log) for log in self.log_list]
        if not any(self.about.runs(self.tables, name, self.quick) for name in names):
            raise ParameterError(
                f"table {self.table!r} of paper {self.paper} is not of {', '.join(names)}: name other logs"
            )

    @property
    def about(self) -> Paper:
        """The paper."""
        return find_paper(self.paper)

    @property
    def tables(self) -> list[PaperTable]:
        """The tables that are made."""
        return self.about.chosen_tables(self.table)

    @property
    def log_list(self) -> list[str]:
        """The logs, as they were given."""
        if self.quick:
            return [self.about.excerpt]
        given = [LogParameter().normalize(word.strip()) for word in self.logs.split(",") if word.strip()]
        return given or list(self.about.logs)

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return self.paper

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given; of other logs or one table another."""
        words = [self.about.name, "reproduction"]
        words += ["quick"] if self.quick else []
        words += [find_log(log).name for log in self.log_list] if self.logs else []
        words += [self.table] if self.table else []
        name = "-".join(words)
        return shortened(name, name)

    @property
    def cells(self) -> list[RunExperiment]:
        """The experiments, by log."""
        return [
            self.clone(RunExperiment, experiment=run.text, seed=run.seed, log=log)
            for log in self.log_list
            for run in self.about.runs(self.tables, find_log(log).name, self.quick)
        ]

    @property
    @once_a_look
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            **{f"cell {number}": cell.key for number, cell in enumerate(self.cells)},
            "schema_version": schema_of(self.tables_used),
            "paper": self.about.name,
            "tables": [table.number for table in self.tables],
            "printed": [table.printed for table in self.tables],
            "cards": {find_log(log).name: card_of(find_log(log)) for log in self.log_list},
        }
        return content_key("reproduce", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return every experiment, and what they read, of which the manifest tells."""
        return [*self.cell_stages, *(self._read(log) for log in self.log_list)]

    def contents(self) -> Contents:
        """Return measurements and cells, and two files of the latter.

        Raises
        ------
        UnreadableLogError
            A log is not what it was when the experiments were run.
        """
        if not all(cell.is_done() for cell in self.cells):
            raise UnreadableLogError("a log was changed since this run began; nothing was published. Run again")
        measurements = pd.concat([cell.load_measurements() for cell in self.cells], ignore_index=True)
        found = compare(self.about, self.tables, Measurements(measurements), quick=self.quick)
        tables = {
            "reproduction": to_arrow(found, "reproduction"),
            "measurements": to_arrow(measurements, "measurements"),
        }
        files: dict[str, Callable[[Path], None]] = {
            "reproduction.csv": writer_of(found.to_csv(index=False, lineterminator="\n")),
            "reproduction.md": writer_of(as_markdown(self.about, self.tables, found)),
        }
        return Contents(tables, self._facts(), files)

    def shown(self, contents: Contents) -> str:
        """Return how much of each table is reproduced."""
        lines = summary_lines(self.tables, to_pandas(contents.tables["reproduction"], "reproduction"))
        return "".join(f"* {line}\n" for line in lines)

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return how much of each table is reproduced, and where all of it stands."""
        lines = summary_lines(self.tables, to_pandas(read(), "reproduction"))
        return "".join(f"{line}\n" for line in [*lines, f"all values: {self.output().path}/reproduction.md"])

    def _read(self, log: str) -> CleanTrace | ReadTables:
        """Return the task of a log's cleaned trace, or of tables."""
        made: CleanTrace | ReadTables = self.clone(READERS[self.about.reads], log=log)
        return made

    def _facts(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        sources = [self._source(log) for log in self.log_list]
        read, first = self._read(self.log_list[0]), self.cells[0]
        stages = [*([read.source] if isinstance(read, CleanTrace) else []), read, first, self]
        told = {
            name: "\n".join(f"{source['log']['name']}: {source[name]}" for source in sources if source.get(name))
            for name in ("licence", "acknowledgement")
        }
        return {
            "title": f"Tables of {self.about.name} made anew, beside the published values",
            **told,
            "sources": sources,
            "parameters": {"paper": self.about.name, "citation": self.about.citation, "quick": self.quick},
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "paper_version": self.about.version,
            "software": software(),
        }

    def _source(self, log: str) -> dict[str, Any]:
        """Return what a user must know of a log."""
        read = self._read(log)
        if isinstance(read, ReadTables):
            return read.facts()
        return {**facts_of(find_log(log), read.load(), read.load_report(), {}), "rules": read.plan}
