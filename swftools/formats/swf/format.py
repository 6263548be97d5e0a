"""The Standard Workload Format as one of the formats of logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from swftools.errors import LogFormatError
from swftools.formats.compression import LogSource
from swftools.formats.registry import Fit, LogFormat, Reading, register_format
from swftools.formats.several import LogFiles
from swftools.formats.swf.reader import iter_swf, read_swf
from swftools.trace import Trace

_JOB = re.compile(rb"^[ \t]*(?:[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?[ \t]+){17}[-+]?[0-9.]+", re.MULTILINE)
_LABEL = re.compile(rb"^;[ \t]*(?:Version|Computer|UnixStartTime|MaxJobs|MaxProcs|MaxNodes|Note)[ \t]*:", re.MULTILINE)


@register_format
@dataclass(frozen=True)
class Swf(LogFormat):
    """The Standard Workload Format, versions 1 and 2, and its extension by utility functions; see ``read_swf``."""

    NAME = "swf"
    TITLE = "Standard Workload Format"
    COMMAND = "curl -O an archive's LOG.swf.gz"
    JOINS = False

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

    def read(self, files: LogFiles, how: Reading) -> Trace:
        """Read a log; ids are numbers already, and line texts hold no names."""
        return read_swf(self._source(files), strict=how.strict, max_bytes=how.max_bytes, progress=how.progress)

    def iterate(self, files: LogFiles, how: Reading) -> Iterator[Trace]:
        """Read a log in chunks."""
        yield from iter_swf(
            self._source(files), strict=how.strict, max_bytes=how.max_bytes, chunk_bytes=how.chunk_bytes
        )

    def _source(self, files: LogFiles) -> LogSource:
        if files.are_several:
            raise LogFormatError(
                f"{files.name}: {len(files.sources)} files in SWF are as many logs, each with its own second 0; read "
                "them one by one"
            )
        return files.sources[0]
