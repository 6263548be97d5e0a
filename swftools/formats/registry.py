# SPDX-License-Identifier: BSD-3-Clause
"""What a format of logs is, and the formats by name.

A format is a class: how it is recognised, its options, and how it is read into a Trace. One of accounting logs is a
subclass of ``accounting.format.AccountingFormat``, which leaves no more to be written than what stands in a record.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from swftools.formats.compression import TEXT_LIMIT, Progress
from swftools.formats.multi_file import LogFiles
from swftools.formats.privacy import Privacy
from swftools.parameters import Parameters, refuse_unknown
from swftools.parameters.registry import Registry
from swftools.trace import Trace

F = TypeVar("F", bound="type[LogFormat]")


class Fit(NamedTuple):
    """Whether a text looks like a format, and why, or what is missing."""

    fits: bool
    why: str


@dataclass(frozen=True)
class Reading:
    """How a log is read, whatever its format.

    Parameters
    ----------
    strict : bool
        Raise at the first line that is not a job.
    privacy : Privacy
        What may be told of its words.
    max_bytes : int
        Most bytes of text to be had from anything but a plain file.
    progress : callable, optional
        As in ``open_log``.
    chunk_bytes : int
        About how much text is read at once, where a log is read in pieces.
    dates : str, optional
        The order of day and month that other files of the same source have shown: dmy or mdy.
    """

    strict: bool = False
    privacy: Privacy = field(default_factory=Privacy)
    max_bytes: int = TEXT_LIMIT
    progress: Progress | None = None
    chunk_bytes: int = 1 << 22
    dates: str | None = None


@dataclass(frozen=True)
class LogFormat(Parameters):
    """A format of logs, with its options as fields.

    ``NAME`` is what it is called, ``TITLE`` what it is in a few words, and ``COMMAND`` how a site gets such a file.
    ``JOINS`` says whether several files may be parts of one log.
    """

    NAME: ClassVar[str] = "format"
    TITLE: ClassVar[str]
    COMMAND: ClassVar[str]
    JOINS: ClassVar[bool] = True
    READER_VERSION: ClassVar[int] = 1
    """Raised when logs of the format are read as something else: then what was published of them is made anew."""

    @classmethod
    @abstractmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text looks like this format.

        Parameters
        ----------
        head : bytes
            The beginning of the text: at most 64 KiB, not empty.
        """

    @abstractmethod
    def read(self, files: LogFiles, how: Reading) -> Trace:
        """Read a whole log."""

    @abstractmethod
    def iterate(self, files: LogFiles, how: Reading) -> Iterator[Trace]:
        """Read a log in chunks."""

    @property
    def files_beside(self) -> tuple[Path, ...]:
        """Files besides the log that its jobs depend on, which options name."""
        return ()

    def preface(self, head: bytes) -> bytes | None:  # noqa: ARG002 (for formats that have one)
        """Return what a later part of a text needs before it to be read, such as the line with the names of columns.

        Parameters
        ----------
        head : bytes
            The beginning of the text, as for ``recognise``.

        Returns
        -------
        bytes or None
            Whole lines; None if a text can only be read from its beginning.
        """
        return b""

    def cut(self, text: bytes) -> int:
        """Return where a text of whole lines may be cut: before a record that may go on in the next piece.

        By default this is the end of the text: each line is a record.
        """
        return len(text)

    def parting(self) -> Callable[[bytes], int]:
        """Return the function that says where texts may be cut, for one reading of a log from its beginning.

        By default this is ``cut``. Override it if the answer depends on earlier text, such as a header far above.
        """
        return self.cut

    def put_in_order(self, files: LogFiles, heads: Sequence[bytes]) -> None:
        """Put the files of a log into the order of their first records, where they may be parts of one log.

        ``heads`` are the beginnings of their texts.
        """
        if files.are_several and self.JOINS:
            times = [self.first_time(head) for head in heads]
            files.sort_by(lambda number: (times[number] is None, times[number] or 0.0, number))

    def first_time(self, head: bytes) -> float | None:  # noqa: ARG002 (for formats that can tell)
        """Return the time of the first records of a file; the files of a log are sorted by it."""
        return None


FORMATS: Registry[type[LogFormat]] = Registry("log format")


def register_format(kind: F) -> F:
    """Register a format by its ``NAME``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one.
    """
    FORMATS.add(kind.NAME, kind, kind)
    return kind


def list_formats() -> dict[str, type[LogFormat]]:
    """Return the registered formats by name."""
    return FORMATS.list()


def find_format(name: str) -> tuple[type[LogFormat], dict[str, Any]]:
    """Return a format by name, with options after it, as in ``slurm:time_zone=Europe/Berlin``.

    Parameters
    ----------
    name : str
        ``module:name`` imports the module that registers it first.

    Raises
    ------
    ParameterError
        There is none of that name, or it has no such option.
    """
    kind, given = FORMATS.read(name)
    refuse_unknown(kind.NAME, given, kind.names())
    return kind, given
