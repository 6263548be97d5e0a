# SPDX-License-Identifier: BSD-3-Clause
"""RunExperiment: what an experiment of a paper measures on a log."""

from __future__ import annotations

from typing import Any

import luigi
import pandas as pd

from pipelines.keys import content_key
from pipelines.papers import Paper, find_paper
from pipelines.papers.paper import Run
from pipelines.tasks.clean import CleanTrace, RulesTask
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.read_tables import ReadTables
from pipelines.tasks.targets import DirectoryTarget
from swftools.parameters.as_text import read_entry
from swftools.parameters.spelling import require_known
from swftools.tables import read_table, to_arrow, to_pandas, write_table


class PaperParameter(luigi.Parameter):
    """Short name of a paper, such as nurmi2009, or ``module:name`` of one's own."""

    def normalize(self, value: Any) -> str:
        """Return the name as given.

        Raises
        ------
        ParameterError
            There is no such paper.
        """
        find_paper(str(value))
        return str(value)


READERS: dict[str, type[CleanTrace | ReadTables]] = {"logs": CleanTrace, "tables": ReadTables}
"""What makes that of which the experiments of a paper take what they measure, by ``Paper.reads``."""


class RunExperiment(RulesTask):
    """Run an experiment of a paper on a log.

    Reads the cleaned trace, or the tables that the paper is about; writes ``<work root>/experiments/<key>/`` with the
    table measurements; complete when that exists.
    """

    code_version = 1
    """Of the table; each paper has a version of its own beside it."""
    paper = PaperParameter(description="short name of a paper, such as nurmi2009")
    experiment = luigi.Parameter(description="an experiment of it: NAME:KEY=VALUE,KEY=VALUE")
    seed = luigi.IntParameter(default=0, description="seed of every random draw")

    def effort(self) -> float:
        """Return that of several simulations or replays, which most experiments are."""
        return 2.0

    def check_values(self) -> None:
        """Raise ParameterError if there is no such experiment, or a parameter is outside its domain."""
        super().check_values()
        _ = self.planned

    @property
    def about(self) -> Paper:
        """The paper."""
        return find_paper(self.paper)

    @property
    def planned(self) -> Run:
        """The experiment with its parameters."""
        known = self.about.experiments
        name, given = read_entry(self.experiment, known)
        name = require_known(f"paper {self.paper} has no experiment {name!r}", name, known)
        return Run(name, known[name].parameters.from_mapping(given), self.seed)

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"{self.paper} {self.planned.short_text} on {self.log}"

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        inputs = {
            "trace": self.source.key,
            "paper": self.paper,
            "paper_version": self.about.version,
            "experiment": self.planned.text,
            "seed": self.seed,
        }
        return content_key("experiment", self.code_version, inputs)

    @property
    def source(self) -> CleanTrace | ReadTables:
        """The task whose output it takes."""
        made: CleanTrace | ReadTables = self.clone(READERS[self.about.reads])
        return made

    def requires(self) -> CleanTrace | ReadTables:
        """Require the cleaned trace, or the tables."""
        return self.source

    def output(self) -> DirectoryTarget:
        """Return the directory of the table."""
        return self.directory("experiments", self.key)

    def run(self) -> None:
        """Run the experiment."""
        source, planned = self.source.load(), self.planned
        found = self.about.experiments[planned.experiment].function(source, planned.parameters, self.seed)
        with self.output().fill() as directory:
            table = to_arrow(self._named(found), "measurements")
            write_table(table, directory / "measurements.parquet", "measurements")

    def load_measurements(self) -> pd.DataFrame:
        """Return the table of the finished task, under the name that the log has now."""
        path = self.output().path / "measurements.parquet"
        return self._named(to_pandas(read_table(path, "measurements"), "measurements"))

    def _named(self, found: pd.DataFrame) -> pd.DataFrame:
        """Return what was measured with paper, log, experiment and seed."""
        planned, units = self.planned, self.about.experiments[self.planned.experiment].units
        unit = found["measure"].map(lambda measure: units.get(measure, "1"))
        return found.assign(
            paper=self.about.name, log=self.found.name, experiment=planned.text, seed=self.seed, unit=unit
        )
