# SPDX-License-Identifier: BSD-3-Clause
"""The files of a log: one, or several that follow each other, read as one text.

Batch systems begin a new accounting file every day. A folder of them, a pattern or a list is one log: the texts one
behind the other, in the order of their first records. A line is then a line of that text, and ``LogFiles.place`` says
which file it is in.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from swftools.errors import LogFormatError, ParameterError, UnreadableLogError
from swftools.formats.compression import TEXT_LIMIT, LogSource, LogStream, Progress, open_log, source_name
from swftools.formats.parquet_head import parquet_head
from swftools.formats.place import file_of, split_member

HEAD = 1 << 16
"""Bytes from which a format is recognised."""

_PATTERN = re.compile(r"[*?\[]")


@dataclass
class LogFiles:
    """A log's files in order.

    Parameters
    ----------
    sources : list of path or binary file object
        Each plain or compressed; more than one must be paths.
    name : str
        What messages call the log.
    """

    sources: list[LogSource]
    name: str
    begins: list[int] = field(default_factory=list)
    """The first line of each file, as far as they have been read."""
    unit: str = "line"
    """What is counted: lines, or rows of files that have none."""
    dates: str | None = None
    """Whether the day or the month comes first in dates, as far as the beginnings of the files show it: dmy or mdy."""
    _places: dict[int, int] = field(default_factory=dict)
    """Where each stream stood at first."""
    _beginnings: dict[int, bytes] = field(default_factory=dict)
    """The beginning of each stream, once it was looked at."""

    @property
    def are_several(self) -> bool:
        """Whether there is more than one file."""
        return len(self.sources) > 1

    def place(self, line: int) -> str:
        """Return where a line stands: its number, of several files also which, and its number there."""
        if not self.are_several:
            return f"{self.unit} {line}"
        which = max((number for number, first in enumerate(self.begins) if first <= line), default=0)
        return f"{Path(source_name(self.sources[which])).name}, {self.unit} {line - self.begins[which] + 1}"

    def heads(self) -> list[bytes]:
        """Return the beginning of each file's text; a stream can still be read from there.

        Of Parquet it is what ``parquet_head`` says.
        """
        return [self.head(number) for number in range(len(self.sources))]

    def head(self, number: int) -> bytes:
        """Return the beginning of one file's text, as ``heads`` does."""
        source = self.sources[number]
        if isinstance(source, str | os.PathLike):
            return _head_of_file(source)
        if id(source) in self._beginnings:
            return self._beginnings[id(source)]
        is_kept = isinstance(cast(object, source), Peeked) or _seekable(source)
        peeked = source if is_kept else Peeked(source)
        self.sources[number] = cast(BinaryIO, peeked)
        self._places[id(peeked)] = peeked.tell()
        head = self._beginnings[id(peeked)] = _head_of_stream(cast(BinaryIO, peeked))
        return head

    def again(self) -> None:
        """Put streams back to where they were, to be read a second time.

        Raises
        ------
        LogFormatError
            One cannot go back.
        """
        for source in self.sources:
            if not isinstance(source, str | os.PathLike):
                if not _seekable(source):
                    raise LogFormatError(
                        f"{self.name}: it must be read twice, but this stream can be read only once; save it as a file"
                    )
                source.seek(self._places.get(id(source), 0))

    def sort_by(self, key: Callable[[int], Any]) -> None:
        """Put the files into the order of a key, which is given their numbers."""
        self.sources = [self.sources[number] for number in sorted(range(len(self.sources)), key=key)]


def log_files(source: LogSource | Sequence[str | os.PathLike[str]]) -> LogFiles:
    """Return the files that a source means.

    Parameters
    ----------
    source : path, binary file object, or sequence of paths
        A path may be that of a folder, whose files are meant (not those that begin with a dot, nor folders within), or
        a pattern with ``*``, ``?`` or ``[...]``, unless there is a file of that very name.

    Raises
    ------
    UnreadableLogError
        A folder is empty, or no file is like the pattern.
    """
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        if not source:
            raise ParameterError("no files: give a path, or several")
        others = f" and {len(source) - 1} more" if len(source) > 1 else ""
        return LogFiles(list(source), source_name(source[0]) + others)
    if not isinstance(source, str | os.PathLike):
        return LogFiles([source], source_name(source))
    name = os.fsdecode(source)
    path = Path(name)
    if path.is_dir():
        inside = [each for each in path.iterdir() if each.is_file() and not each.name.startswith(".")]
        if not inside:
            raise UnreadableLogError(f"{name}: a folder without files; give a file, or a folder of accounting files")
        return LogFiles(_in_natural_order(inside), name)
    if _PATTERN.search(name) and not path.exists() and split_member(name)[1] is None:
        found = [Path(each) for each in glob.glob(name) if Path(each).is_file()]  # noqa: PTH207 (of any path)
        if not found:
            raise UnreadableLogError(f"{name}: no file has such a name; check the pattern")
        return LogFiles(_in_natural_order(found), name)
    return LogFiles([source], name)


def _in_natural_order(paths: list[Path]) -> list[LogSource]:
    return [*sorted(paths, key=natural)]


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return what paths are sorted by so that file 9 comes before file 10."""
    words = re.split(r"([0-9]+)", path.name)
    return [(1, int(word), "") if word.isdecimal() else (0, 0, word) for word in words]


class JoinedFiles:
    """The text of several files as one stream; a file that does not end with a newline is given one."""

    def __init__(self, files: LogFiles, max_bytes: int, progress: Progress | None, *, is_text: bool = True) -> None:
        self._is_text = is_text
        self._files, self._max_bytes, self._progress = files, max_bytes, progress
        self._waiting = list(files.sources)
        self._stream: LogStream | None = None
        self._opened: AbstractContextManager[LogStream] | None = None
        self._ends_line = True
        self._read_before, self._total = 0, _total_size(files)
        self.count = 0
        self.joints: list[int] = []
        """The byte at which each file begins."""
        self.unverified: str | None = None

    def read(self, size: int) -> bytes:
        """Return so many bytes of text, fewer at the end of a file, none at the end of the last."""
        while True:
            stream = self._stream
            if stream is None:
                if not self._waiting:
                    return b""
                if not self._ends_line:
                    self._ends_line = True
                    self.count += 1
                    return b"\n"
                stream = self._open(self._waiting.pop(0))
            data = stream.read(size)
            if data:
                self._ends_line = data.endswith(b"\n")
                self.count += len(data)
                return data
            self.unverified = self.unverified or stream.unverified
            self.close()

    def _open(self, source: LogSource) -> LogStream:
        self.joints.append(self.count)
        before = self._read_before

        def told(done: int, size: int | None) -> None:
            self._read_before = before + done
            if self._progress:
                self._progress(before + done, self._total if self._files.are_several else size)

        self._opened = open_log(
            source, max_bytes=self._max_bytes, progress=told if self._progress else None, is_text=self._is_text
        )
        self._stream = self._opened.__enter__()
        return self._stream

    def close(self) -> None:
        """Close the file that is being read."""
        if self._opened is not None:
            self._opened.__exit__(None, None, None)
            self._stream, self._opened = None, None


@contextmanager
def open_joined(
    files: LogFiles, *, max_bytes: int = TEXT_LIMIT, progress: Progress | None = None, is_text: bool = True
) -> Iterator[JoinedFiles]:
    """Open the files of a log as one stream; parameters as those of ``open_log``.

    Raises
    ------
    UnreadableLogError, ParameterError
        As ``open_log``, when the file is reached.
    """
    stream = JoinedFiles(files, max_bytes, progress, is_text=is_text)
    try:
        yield stream
    finally:
        stream.close()


def _total_size(files: LogFiles) -> int | None:
    try:
        return sum(file_of(source_name(source)).stat().st_size for source in files.sources)
    except OSError:
        return None


def _seekable(source: BinaryIO) -> bool:
    is_seekable = getattr(source, "seekable", None)
    return bool(is_seekable and is_seekable())


class Peeked:
    """A stream that cannot go back, of which the beginning is kept."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.name = stream, source_name(stream)
        self._kept, self._at, self._keeps = b"", 0, True

    def seekable(self) -> bool:
        """Return that it cannot go back but to its beginning."""
        return False

    def tell(self) -> int:
        """Return where it stands."""
        return self._at

    def seek(self, place: int) -> None:
        """Go back to the beginning, once; what is read from there on is not kept."""
        self._at, self._keeps = place, False

    def read(self, size: int = -1, /) -> bytes:
        """Return so many bytes, what was kept of them first."""
        data = self._kept[self._at : None if size < 0 else self._at + size]
        if size < 0 or not data:
            more = self._stream.read(size)
            self._kept += more if self._keeps else b""
            data += more
        self._at += len(data)
        if not self._keeps and self._at >= len(self._kept):
            self._kept, self._at = b"", 0
        return data


def _head_of_file(path: str | os.PathLike[str]) -> bytes:
    """Return the beginning of a file's text."""
    try:
        with Path(os.fsdecode(path)).open("rb") as raw:
            if raw.seekable() and (head := parquet_head(raw, source_name(path))):
                return head
    except UnreadableLogError:
        raise
    except (OSError, ValueError):  # which open_log has words for
        pass
    with open_log(path) as stream:
        return stream.read(HEAD)


def _head_of_stream(source: BinaryIO) -> bytes:
    """Return the beginning of a stream's text, and put the stream back to where it was."""
    place = source.tell()
    if _seekable(source) and (head := parquet_head(source, source_name(source))):
        return head
    with open_log(source) as stream:
        head = stream.read(HEAD)
    source.seek(place)
    return head
