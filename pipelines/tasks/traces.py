"""ParseLog, GenerateTrace and CleanTrace: from a log's text, or from a model, to a cleaned trace."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import logging
from dataclasses import replace
from typing import Any

from pipelines.keys import content_key
from pipelines.logs.generated import MODELS, generate_log
from pipelines.logs.load import as_its_log, rules_of
from pipelines.tasks.acquire import AcquireLog, LogTask
from pipelines.tasks.parameters import RulesParameter
from pipelines.tasks.targets import DirectoryTarget
from swftools.cleaning import Rule, clean, resolve_rules
from swftools.errors import ParameterError
from swftools.formats.swf.reader import read_swf
from swftools.formats.trace_directory import load_trace, save_trace
from swftools.tables import to_arrow, write_table
from swftools.trace import Trace

progress = logging.getLogger("pipelines")


class ParseLog(LogTask):
    """Read a log's text into a trace, and put aside the lines that are not jobs.

    Reads the acquired log; writes ``<work root>/parsed/<key>/``; complete when that exists.
    """

    code_version = 1

    @property
    def key(self) -> str:
        """Content key of the output."""
        card = self.found.card
        machine = card.machine.processors if card else None
        return content_key("parse", self.code_version, {"log": self.log_key, "machine_processors": machine})

    def requires(self) -> AcquireLog:
        """Require the log's text."""
        task: AcquireLog = self.clone(AcquireLog)
        return task

    def output(self) -> DirectoryTarget:
        """Return the directory of the trace."""
        return self.directory("parsed", self.key)

    def run(self) -> None:
        """Read the log."""
        trace = as_its_log(read_swf(self.requires().path), self.found)
        # How a log is compressed does not count in what is made of it.
        provenance = dict(trace.provenance)
        if note := provenance.pop("unverified", None):
            progress.warning("%s: %s", self.found.path, note)
            trace = replace(trace, provenance=provenance)
        with self.output().fill() as directory:
            save_trace(trace, directory)

    def load(self) -> Trace:
        """Return the trace, with the lines it was read from."""
        return load_trace(self.output().path, self.requires().path)


class GenerateTrace(LogTask):
    """Generate the trace of a log that is a model.

    Reads nothing; writes ``<work root>/generated/<key>/``; complete when that exists.
    """

    code_version = 1

    @property
    def key(self) -> str:
        """Content key of the output."""
        return content_key("generate", self.code_version, {"log": self.log_key})

    def output(self) -> DirectoryTarget:
        """Return the directory of the trace."""
        return self.directory("generated", self.key)

    def run(self) -> None:
        """Generate the trace."""
        model = self.found.model
        if model is None:
            raise ParameterError(f"log {self.log!r} is none that is generated; there are: {', '.join(MODELS)}")
        with self.output().fill() as directory:
            save_trace(generate_log(model), directory)

    def load(self) -> Trace:
        """Return the trace."""
        return load_trace(self.output().path)


class RulesTask(LogTask):
    """What the stages from cleaning on have in common: the rules."""

    rules = RulesParameter(
        default="",
        description="cleaning rules: default,cancelled:action=quarantine,... or a JSON list; default: the card's",
    )


class CleanTrace(RulesTask):
    """Clean a trace by named rules.

    Reads the parsed or generated trace, and a log's text for the lines that it quarantines; writes
    ``<work root>/cleaned/<key>/`` with the trace and the tables cleaning_report, repairs and merged; complete
    when that exists.
    """

    code_version = 1

    @property
    def _resolved(self) -> list[tuple[str, Rule, dict[str, Any]]]:
        """The rules to apply: those given, else the card's, else the default ones."""
        return resolve_rules(rules_of(self.found, json.loads(self.rules) if self.rules else None))

    @property
    def plan(self) -> list[dict[str, Any]]:
        """The rules to apply, as name and parameters."""
        return [{"rule": name, **parameters} for name, _, parameters in self._resolved]

    @property
    def key(self) -> str:
        """Content key of the output."""
        inputs = {"trace": self.requires().key, "rules": self.plan, "own_rules": self.own_rules}
        return content_key("clean", self.code_version, inputs)

    @property
    def own_rules(self) -> dict[str, str]:
        """Hash of the source file of each rule that is the user's own, for which no ``code_version`` of ours speaks."""
        own = {name: rule.__module__ for name, rule, _ in self._resolved if not rule.__module__.startswith("swftools.")}
        sources = {name: inspect.getsource(importlib.import_module(module)) for name, module in own.items()}
        return {name: hashlib.sha256(source.encode()).hexdigest() for name, source in sources.items()}

    def requires(self) -> ParseLog | GenerateTrace:
        """Require the trace."""
        task: ParseLog | GenerateTrace = self.clone(GenerateTrace if self.found.model else ParseLog)
        return task

    def output(self) -> DirectoryTarget:
        """Return the directory of the trace."""
        return self.directory("cleaned", self.key)

    def run(self) -> None:
        """Clean the trace."""
        trace, report = clean(self.requires().load(), self.plan)
        tables = {"cleaning_report": report.steps, "repairs": report.repairs, "merged": report.merged}
        with self.output().fill() as directory:
            save_trace(trace, directory)
            for table, frame in tables.items():
                write_table(to_arrow(frame, table), directory / f"{table}.parquet", table)

    def load(self) -> Trace:
        """Return the cleaned trace."""
        return load_trace(self.output().path)
