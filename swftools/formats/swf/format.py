# SPDX-License-Identifier: BSD-3-Clause
"""The Standard Workload Format as one of the formats of logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from swftools.errors import LogFormatError
from swftools.formats.compression import LogSource
from swftools.formats.multi_file import LogFiles
from swftools.formats.registry import Fit, LogFormat, Reading, register_format
from swftools.formats.swf.dialects import WIDTHS
from swftools.formats.swf.machines import processors_of, read_machines
from swftools.formats.swf.reader import iter_swf, read_swf
from swftools.parameters import choice, text, truth
from swftools.tables import empty_frame
from swftools.trace import Trace

_JOB = re.compile(rb"^[ \t]*(?:[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?[ \t]+){17}[-+]?[0-9.]+", re.MULTILINE)
_LABEL = re.compile(rb"^;[ \t]*(?:Version|Computer|UnixStartTime|MaxJobs|MaxProcs|MaxNodes|Note)[ \t]*:", re.MULTILINE)


@register_format
@dataclass(frozen=True)
class Swf(LogFormat):
    """The Standard Workload Format, versions 1 and 2, its dialects, and its extension by utility functions.

    Parameters
    ----------
    epoch : bool
        Take submit times for seconds since 1970 where no UnixStartTime is told and they look so; see ``read_swf``.
    width : {"cores", "nodes", "fields"}
        How wide jobs of Frontier's dialect are; see ``read_swf``.
    machines : str, optional
        Path of the log's file ``.machines``, whose processors are the machine's.
    """

    NAME = "swf"
    TITLE = "Standard Workload Format"
    COMMAND = "curl -O an archive's LOG.swf.gz"
    JOINS = False

    epoch: bool = truth(True)
    width: str = choice(*WIDTHS)
    machines: str | None = text(None, words="the path of a file of machines")

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text has a job line of SWF, or a comment that one of its headers begins with."""
        if _JOB.search(head):
            return Fit(True, "a line of 18 numbers")
        if _LABEL.search(head):
            return Fit(True, "a header comment, as ; Version: 2.2")
        return Fit(False, "no line of 18 numbers")

    def preface(self, head: bytes) -> bytes:
        """Return the comments before the first job."""
        lines = head.splitlines(keepends=True)
        first = next((place for place, line in enumerate(lines) if line.strip() and not line.startswith(b";")), None)
        return b"".join(line for line in lines[:first] if line.endswith(b"\n"))

    @property
    def files_beside(self) -> tuple[Path, ...]:
        """The file of machines, if there is one."""
        return () if self.machines is None else (Path(self.machines).expanduser(),)

    def read(self, files: LogFiles, how: Reading) -> Trace:
        """Read a log; ids are numbers already, and only the lines of a dialect hold names."""
        trace = read_swf(
            self._source(files),
            strict=how.strict,
            epoch=self.epoch,
            width=self.width,  # type: ignore[arg-type] # one of WIDTHS
            max_bytes=how.max_bytes,
            progress=how.progress,
        )
        return self._told(trace, how)

    def iterate(self, files: LogFiles, how: Reading) -> Iterator[Trace]:
        """Read a log in chunks."""
        for trace in iter_swf(
            self._source(files),
            strict=how.strict,
            epoch=self.epoch,
            width=self.width,  # type: ignore[arg-type] # one of WIDTHS
            max_bytes=how.max_bytes,
            chunk_bytes=how.chunk_bytes,
        ):
            yield self._told(trace, how)

    def _told(self, trace: Trace, how: Reading) -> Trace:
        """Return a trace with its machines, and without names where they are withheld."""
        for path in self.files_beside:
            machines = read_machines(path)
            said = ", ".join(f"{row.name} {row.nodes} x {row.processors_per_node}" for row in machines.itertuples())
            provenance = {**trace.provenance, "machines": said}
            trace = replace(trace, machine_processors=processors_of(machines), provenance=provenance)
        if how.privacy.anonymise == "no" or "resource_request" not in trace.jobs:
            return trace
        named = [name for name in ("node_list", "queue_name", "resource_request") if name in trace.jobs]
        quarantine = trace.quarantine.assign(text=pd.Series([None] * len(trace.quarantine), dtype="str"))
        jobs = trace.jobs.drop(columns=named)
        return replace(trace, jobs=jobs, quarantine=quarantine, source=None, names=empty_frame("names"))

    def _source(self, files: LogFiles) -> LogSource:
        if files.are_several:
            raise LogFormatError(
                f"{files.name}: {len(files.sources)} files in SWF are as many logs, each with its own second 0; read "
                "them one by one"
            )
        return files.sources[0]
