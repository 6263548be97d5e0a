"""The inbox of a history: a folder, or a prefix on S3, whose files are known by their text alone.

A file is read once through. On the way its text is compared with the beginnings of all that is known: what the history
has of it already is not kept. A file that changes while it is read, or whose last line has no end yet, is left, or that
line is, for the next run.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.logs.file_cache import GRAIN_NS
from pipelines.store.locations import open_storage
from swftools.errors import SwfToolsError, UnknownLogError
from swftools.formats.compression import open_log
from swftools.formats.several import HEAD, natural

_PIECE = 1 << 22
NOTHING = hashlib.sha256().hexdigest()
"""Of the text that every file begins with: none."""


@dataclass(frozen=True)
class Beginning:
    """A text that is known.

    Parameters
    ----------
    file_number : int
        Of the file that it was first met in; 0 for no text.
    sha256 : str
        Of it.
    length : int
        Its length, in bytes.
    lines : int
        Its lines.
    is_whole : bool
        Whether it is all that was taken of the file; else it is where reading resumes if the file grows.
    """

    file_number: int
    sha256: str
    length: int
    lines: int
    is_whole: bool


@dataclass(frozen=True)
class Arrival:
    """A file of the inbox.

    Parameters
    ----------
    name : str
        In the inbox.
    sha256 : str
        Of its whole text, decompressed.
    length : int
        Of that, in bytes.
    head : bytes
        The first 64 KiB.
    resumes : Beginning
        The longest text that is known and it begins with, from the end of which on it is read.
    known : Beginning or None
        The longest that was wholly taken.
    text : bytes
        What stands behind ``resumes``; the last line may have no end.
    digest : hash object
        Of what stands before.
    """

    name: str
    sha256: str
    length: int
    head: bytes
    resumes: Beginning
    known: Beginning | None
    text: bytes
    digest: Any

    def hash_to(self, end: int) -> str:
        """Return the hash of the text from its beginning to an end that is not before ``resumes``."""
        digest = self.digest.copy()
        digest.update(memoryview(self.text)[: end - self.resumes.length])
        return str(digest.hexdigest())

    @property
    def ended(self) -> int:
        """Bytes to the end of the last line that has one."""
        line = self.text.rfind(b"\n") + 1
        return self.resumes.length + line if line else self.resumes.length

    @property
    def is_new(self) -> bool:
        """Whether a line is behind what was taken."""
        return self.ended > (self.known.length if self.known else 0)


@dataclass(frozen=True)
class Unreadable:
    """A file of the inbox that could not be read, and why."""

    name: str
    reason: str
    sha256: str | None = None
    outcome: str = "unreadable"


class Inbox:
    """Where files arrive.

    Parameters
    ----------
    location : str
        A folder, or ``s3://bucket/prefix``. Its files are meant: not those that begin with a dot, nor folders.

    Raises
    ------
    UnknownLogError
        There is no such folder.
    """

    def __init__(self, location: str) -> None:
        self._is_local = "://" not in location
        if self._is_local and not Path(location).expanduser().is_dir():
            raise UnknownLogError(f"inbox {location!r} is no folder; make it, or give another by --inbox")
        self._storage = open_storage(location)

    def stamps(self) -> dict[str, tuple[str, int]]:
        """Return of each file, in natural order, what changes when it does, and when that was, in nanoseconds."""
        found = self._storage.stamps("")
        names = sorted((name for name in found if not name.startswith(".")), key=lambda name: natural(Path(name)))
        return {name: found[name] for name in names}

    def read(self, name: str, beginnings: Iterable[Beginning]) -> Arrival | Unreadable:
        """Read a file, and compare its text with the beginnings of those that are known."""
        try:
            before = self._stamp(name)
            arrival = self._read(name, beginnings)
            after = self._stamp(name)
        except (SwfToolsError, OSError) as error:
            return Unreadable(name, str(error).replace(f"{self._storage.address(name)}: ", ""))
        if before != after:
            return Unreadable(name, "it was changed while it was read", outcome="unfinished")
        if not arrival.length:
            return Unreadable(name, "it is empty", arrival.sha256, "empty")
        return arrival

    def _stamp(self, name: str) -> tuple[str, int] | None:
        return self._storage.stamps("").get(name) if not self._is_local else _stamp_of(self._path(name))

    def _path(self, name: str) -> Path:
        return Path(self._storage.address(name))

    def _read(self, name: str, beginnings: Iterable[Beginning]) -> Arrival:
        if self._is_local:
            with open_log(self._path(name)) as stream:
                return _scan(name, stream, beginnings)
        with self._storage.open(name) as raw, open_log(raw) as stream:
            return _scan(name, stream, beginnings)


def _stamp_of(path: Path) -> tuple[str, int] | None:
    """Return what changes when a file does."""
    try:
        told = path.stat()
    except FileNotFoundError:
        return None
    return f"{told.st_dev}-{told.st_ino}-{told.st_size}-{told.st_mtime_ns}-{told.st_ctime_ns}", told.st_ctime_ns


def _scan(name: str, stream: Any, beginnings: Iterable[Beginning]) -> Arrival:
    """Read a text through, and keep of it what is behind the longest beginning that is known."""
    by_length: dict[int, dict[str, list[Beginning]]] = {}
    for each in beginnings:
        by_length.setdefault(each.length, {}).setdefault(each.sha256, []).append(each)
    lengths = sorted(by_length)
    digest, head, kept = hashlib.sha256(), b"", []
    resumes, known = Beginning(0, NOTHING, 0, 0, is_whole=False), None
    done, before = 0, digest.copy()
    while piece := stream.read(_PIECE):
        if len(head) < HEAD:
            head += piece[: HEAD - len(head)]
        at = 0
        for length in lengths[bisect_right(lengths, done) :]:
            if length > done + len(piece):
                break
            digest.update(piece[at : length - done])
            kept.append(piece[at : length - done])
            at = length - done
            for match in by_length[length].get(digest.copy().hexdigest(), ()):
                if match.is_whole:
                    known = match
                else:
                    resumes, before = match, digest.copy()
                    kept.clear()
        digest.update(piece[at:])
        kept.append(piece[at:])
        done += len(piece)
    return Arrival(name, digest.hexdigest(), done, head, resumes, known, b"".join(kept), before)


class Seen:
    """What is remembered of files by their stamps, so that those that did not change are not read again.

    It is a cache: without it all files are read. A file that changed a moment before it was read is not remembered,
    since a second change could leave the same times.

    Parameters
    ----------
    kept : mapping of str to str
        The hash of a file's text by its stamp: what ``to_mapping`` returned.
    """

    def __init__(self, kept: Mapping[str, Any]) -> None:
        self._kept: dict[str, Any] = dict(kept)
        self._now: dict[str, Any] = {}

    def sha256(self, stamp: str) -> str | None:
        """Return the hash of the text of a file that did not change."""
        found = self._kept.get(stamp)
        if found is not None:
            self._now[stamp] = found
        return found if isinstance(found, str) else None

    def remember(self, stamp: tuple[str, int], sha256: str, begun: int) -> None:
        """Remember the hash of a file that was read, which began at a time in nanoseconds."""
        if stamp[1] < begun - GRAIN_NS:
            self._now[stamp[0]] = sha256

    def to_mapping(self) -> dict[str, Any]:
        """Return what is to be kept: of files that are there."""
        return dict(self._now)
