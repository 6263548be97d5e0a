# SPDX-License-Identifier: BSD-3-Clause
"""CleanTrace: apply named cleaning rules to a trace."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import luigi
import pandas as pd

from pipelines.keys import content_key
from pipelines.logs.load import rules_of, say_merged
from pipelines.tasks.acquire import text_tasks
from pipelines.tasks.log_task import LogTask
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.parameters import RulesParameter
from pipelines.tasks.parse import GenerateTrace, ParseLog
from pipelines.tasks.targets import DirectoryTarget
from swftools.cleaning import Rule, clean, resolve_rules
from swftools.errors import ParameterError
from swftools.formats.trace_directory import load_trace, load_without_jobs, save_trace
from swftools.named import Known, names_by_kind
from swftools.tables import read_frame, read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace


class RulesTask(LogTask):
    """What the stages from cleaning on have in common: the rules, and the machine of which the cleaned trace tells."""

    rules = RulesParameter(
        default="",
        description="cleaning rules: default,cancelled:action=quarantine,... or a JSON list; default: the card's",
    )
    processors = luigi.IntParameter(default=0, description="processors of the machine; 0: the log's own")

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain."""
        super().check_values()
        if self.processors < 0:
            raise ParameterError(f"processors={self.processors}: a machine has at least 1; 0 is the log's own")


class CleanTrace(RulesTask):
    """Clean a trace by named rules.

    Reads the parsed or generated trace, and a log's text for the lines that it quarantines; writes
    ``<work root>/cleaned/<key>/`` with the trace and the tables cleaning_report and repairs; complete
    when that exists.
    """

    code_version = 3

    @property
    def _resolved(self) -> list[tuple[str, Rule, dict[str, Any]]]:
        """The rules to apply: those given, else the card's, else the default ones."""
        return resolve_rules(rules_of(self.found, json.loads(self.rules) if self.rules else None))

    @property
    def plan(self) -> list[dict[str, Any]]:
        """The rules to apply, as name and parameters."""
        return [{"rule": name, **parameters} for name, _, parameters in self._resolved]

    @property
    def told(self) -> dict[str, Any]:
        """What of its parameters a published version tells."""
        given = {"processors": self.processors} if self.processors else {}
        return {"rules": self.plan, "own_rules": self.own_rules, **given}

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        inputs: dict[str, Any] = {"trace": self.source.key, "rules": self.plan, "own_rules": self.own_rules}
        if self.processors:
            inputs["processors"] = self.processors
        return content_key("clean", self.code_version, inputs)

    @property
    def own_rules(self) -> dict[str, str]:
        """Hash of the source file of each rule that is the user's own, for which no ``code_version`` of ours speaks."""
        own = {name: rule.__module__ for name, rule, _ in self._resolved if not rule.__module__.startswith("swftools.")}
        sources = {name: inspect.getsource(importlib.import_module(module)) for name, module in own.items()}
        return {name: hashlib.sha256(source.encode()).hexdigest() for name, source in sources.items()}

    @property
    def source(self) -> ParseLog | GenerateTrace:
        """The task that makes the trace to be cleaned."""
        task: ParseLog | GenerateTrace = self.clone(GenerateTrace if self.found.model else ParseLog)
        return task

    def requires(self) -> list[luigi.Task]:
        """Require the trace, and of a log its text, whose lines are quoted."""
        return [self.source] if self.found.model else [self.source, *text_tasks(self)]

    def output(self) -> DirectoryTarget:
        """Return the directory of the trace."""
        return self.directory("cleaned", self.key)

    def run(self) -> None:
        """Clean the trace."""
        trace, report = clean(self.source.load(), self.plan)
        say_merged(report.steps, self.found)
        if self.processors:  # rules judge by the machine of the log
            trace = replace(trace, machine_processors=self.processors)
        tables = {"cleaning_report": report.steps, "repairs": report.repairs}
        with self.output().fill() as directory:
            save_trace(trace, directory)
            for table, frame in tables.items():
                write_table(to_arrow(frame, table), directory / f"{table}.parquet", table)

    def load(self) -> Trace:
        """Return the cleaned trace."""
        return load_trace(self.output().path)

    def load_names(self, kinds: Iterable[str]) -> Known:
        """Return the names behind numbers of some kinds (queue, user), as ``Trace.known_names`` has them."""
        directory = self.output().path
        header = load_without_jobs(directory).header
        known = names_by_kind(read_frame(directory / "names.parquet", "names"), header)
        return {kind: known[kind] for kind in kinds if kind in known}

    def load_report(self) -> pd.DataFrame:
        """Return the account of cleaning."""
        table = "cleaning_report"
        return to_pandas(read_table(self.output().path / f"{table}.parquet", table), table)
