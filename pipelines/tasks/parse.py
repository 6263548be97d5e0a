"""ParseLog and GenerateTrace: from a log's text, or from a model, to a trace."""

from __future__ import annotations

from dataclasses import replace

from pipelines.keys import content_key
from pipelines.logs.generated import MODELS, generate_log
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.log_task import LogTask
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError, SwfFormatError
from swftools.formats.swf.reader import read_swf
from swftools.formats.trace_directory import load_trace, save_trace
from swftools.trace import Trace


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
        found = self.found
        trace = read_swf(self.requires().path)
        if not len(trace):
            raise SwfFormatError(f"{found.path or found.name}: {_no_jobs(trace)}; is this a log in SWF?")
        provenance = {**trace.provenance, "name": found.name}
        machine = found.card.machine.processors if found.card else None
        with self.output().fill() as directory:
            save_trace(replace(trace, machine_processors=machine, provenance=provenance), directory)

    def load(self) -> Trace:
        """Return the trace, with the lines it was read from."""
        return load_trace(self.output().path, self.requires().path)


def _no_jobs(trace: Trace) -> str:
    """Say of a trace without jobs what it was read from."""
    if not len(trace.quarantine):
        return "there are only comments in it" if trace.header.entries else "there is nothing in it"
    first = trace.quarantine.iloc[0]
    return (
        f"not one of {len(trace.quarantine)} lines is a job; line {first['line_number']}: {first['reason']}: "
        f"{first['text'][:80]!r}"
    )


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
