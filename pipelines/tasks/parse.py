# SPDX-License-Identifier: BSD-3-Clause
"""ParseLog and GenerateTrace: from a log's text, or from a model, to a trace."""

from __future__ import annotations

import logging
from dataclasses import replace

import luigi

from pipelines.keys import content_key
from pipelines.logs.generated import MODELS, generate_log
from pipelines.logs.how_read import recognised_version
from pipelines.logs.load import as_its_log, say_format
from pipelines.logs.published import read_version
from pipelines.tasks.acquire import AcquireLog, open_text, text_tasks
from pipelines.tasks.log_task import LogTask
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.formats.source_lines import SourceLines
from swftools.formats.swf.block import BYTE_ORDER_MARK
from swftools.formats.trace_directory import load_trace, save_trace
from swftools.trace import Trace

progress = logging.getLogger("pipelines")


class ParseLog(LogTask):
    """Read a log's text into a trace, and quarantine the lines that are not jobs.

    Reads the acquired log, or, where names are withheld, the log where it is; writes
    ``<work root>/parsed/<key>/``; complete when that exists.
    """

    code_version = 4

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        card = self.found.card
        machine = card.machine.processors if card else None
        inputs = {"log": self.log_key, "machine_processors": machine, **self.found.how.key, **self._reader}
        return content_key("parse", self.code_version, inputs)

    @property
    def _reader(self) -> dict[str, int]:
        """What the key says of the reader of a log that is recognised from its text."""
        found = self.found
        return {} if found.how.format or found.version or found.path is None else recognised_version(found.path)

    def requires(self) -> AcquireLog | list[luigi.Task]:
        """Require the log's text."""
        return text_tasks(self) if self.withholds else self.clone(AcquireLog)

    def output(self) -> DirectoryTarget:
        """Return the directory of the trace."""
        return self.directory("parsed", self.key)

    def run(self) -> None:
        """Read the log."""
        found = self.found
        with open_text(self) as path:
            if found.version:
                trace = read_version(path)
            else:
                called = str(found.path or found.name)
                trace = found.how.read(str(path), progress=self._tell_bytes, called=called, for_publication=True)
        say_format(trace, found)
        trace = as_its_log(trace, found)
        # How a log is compressed does not count in what is made of it.
        provenance = dict(trace.provenance)
        if note := provenance.pop("unverified", None):
            progress.warning("%s: %s", self.found.path, note)
            trace = replace(trace, provenance=provenance)
        with self.output().fill() as directory:
            save_trace(trace, directory)

    def _tell_bytes(self, done: int, size: int | None) -> None:
        """Say how much of the log has been read."""
        if size:
            self.tell(min(done, size), size)

    def load(self) -> Trace:
        """Return the trace, with the lines it was read from, unless words are withheld or it was a table."""
        trace = load_trace(self.output().path)
        if self.anonymise != "no" or self.found.version or trace.provenance.get("withholds_text"):
            return trace
        path = self.clone(AcquireLog).path
        mark = b"" if "format" in trace.provenance else BYTE_ORDER_MARK
        return replace(trace, source=SourceLines(self.found.how.files(path), mark=mark))


class GenerateTrace(LogTask):
    """Generate the trace of a log that is a model.

    Reads nothing; writes ``<work root>/generated/<key>/``; complete when that exists.
    """

    code_version = 2

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
            raise ParameterError(f"log {self.log!r} is not a model; the models are: {', '.join(MODELS)}")
        with self.output().fill() as directory:
            save_trace(generate_log(model), directory)

    def load(self) -> Trace:
        """Return the trace."""
        return load_trace(self.output().path)
