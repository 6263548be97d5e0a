# SPDX-License-Identifier: BSD-3-Clause
"""The inbox of a history: a folder, or a prefix on S3, whose files are known by their text alone.

A file is read once through. On the way its text is compared with the beginnings of all that is known: what the history
has of it already is skipped. Then what is new is read, one file at a time, so that the memory holds one text. A
file that changes while it is read, or whose last line has no end yet, is left, or that line is, for the next run.
"""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipelines.history.endings import is_closed
from pipelines.logs.file_cache import GRAIN_NS
from pipelines.store.locations import open_storage
from swftools.errors import SwfToolsError, UnknownLogError, UnreadableLogError
from swftools.formats.compression import open_log
from swftools.formats.multi_file import HEAD, natural
from swftools.formats.parquet_head import MAGIC, parquet_head

_PIECE = 1 << 22
_ANY = 1 << 62
_LIKE = 1 << 12
NOTHING = hashlib.sha256().hexdigest()
"""Of the text that every file begins with: none."""

CONTEXT = 1 << 26
"""Bytes before the new part of a text that are read again with it, for what they say of a job that ends behind them."""

CHANGED = "it was changed while it was read"


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
        In the inbox, as it is shown.
    path : str
        In the inbox, as it is found.
    sha256 : str
        Of its whole text, decompressed.
    length : int
        Of that, in bytes.
    ended : int
        Bytes to the end of the last line that has one; not before ``resumes``. Of JSON that is whole, all.
    head : bytes
        The first 64 KiB; of Parquet what ``parquet_head`` says.
    resumes : Beginning
        The longest text that is known and it begins with, from the end of which on it is read.
    known : Beginning or None
        The longest that was wholly taken.
    is_whole : bool
        Whether its end says that it is: Parquet with its footer, and JSON of which all brackets are closed.
    """

    name: str
    path: str
    sha256: str
    length: int
    ended: int
    head: bytes
    resumes: Beginning
    known: Beginning | None
    is_whole: bool = False

    @property
    def is_new(self) -> bool:
        """Whether a line is behind what was taken."""
        return self.ended > (self.known.length if self.known else 0)


@dataclass(frozen=True)
class NewPart:
    """What is new of a file.

    Parameters
    ----------
    text : bytes
        What stands behind the text that is known; the last line may have no end.
    context : bytes
        Whole lines that stand before it, some or all of them.
    starts : int
        Bytes of the file before ``text``.
    digest : hash object
        Of these.
    """

    text: bytes
    context: bytes
    starts: int
    digest: Any

    def hash_to(self, end: int) -> str:
        """Return the hash of the file's text from its beginning to an end within the new part."""
        digest = self.digest.copy()
        digest.update(memoryview(self.text)[: end - self.starts])
        return str(digest.hexdigest())


@dataclass(frozen=True)
class Unreadable:
    """A file of the inbox that could not be read, and why."""

    name: str
    reason: str
    sha256: str | None = None
    outcome: str = "unreadable"


def shown(name: str) -> str:
    """Return the name of a file as it can be stored and printed: what is no UTF-8, or not printable, is escaped."""
    plain = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in plain)


class Inbox:
    """Where files arrive.

    Parameters
    ----------
    location : str
        A folder, or ``s3://bucket/prefix``. Its files are meant: not those that begin with a dot, nor folders.
    most_bytes : int
        Most bytes of new text of one file.

    Raises
    ------
    UnknownLogError
        There is no such folder.
    """

    def __init__(self, location: str, most_bytes: int = _ANY) -> None:
        self._is_local = "://" not in location
        if self._is_local and not Path(location).expanduser().is_dir():
            raise UnknownLogError(f"inbox {location!r} is not a folder; make it, or give another by --inbox")
        self._storage = open_storage(location)
        self._most_bytes = most_bytes
        self._begin: dict[str, bytes] = {}

    def stamps(self) -> dict[str, tuple[str, int]]:
        """Return of each file, in natural order, what changes when it does, and when that was, in nanoseconds."""
        found = self._storage.stamps("")
        names = sorted((name for name in found if not name.startswith(".")), key=lambda name: natural(Path(name)))
        return {name: found[name] for name in names}

    def read(self, name: str, beginnings: Iterable[Beginning]) -> Arrival | Unreadable:
        """Read a file through, and compare its text with the beginnings of those that are known.

        Whatever is wrong with it is the file's own fault: others are read.
        """
        try:
            before = self._stamp(name)
            with self._open(name) as stream:
                arrival = _scan(name, stream, beginnings, self._most_bytes)
            if arrival.known is None or arrival.known.length < arrival.length:
                arrival = self._with_end(arrival)
            after = self._stamp(name)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (a fence: no file keeps the others out)
            return Unreadable(shown(name), self.reason(name, error))
        if before != after:
            return Unreadable(arrival.name, CHANGED, outcome="unfinished")
        if not arrival.length:
            return Unreadable(arrival.name, "it is empty", arrival.sha256, "empty")
        return arrival

    def _with_end(self, arrival: Arrival) -> Arrival:
        """Return a file with what its end says of whether it is whole: of JSON and Parquet, which need no last line."""
        if arrival.head.startswith(MAGIC):
            with self._open(arrival.path) as stream:
                whole = io.BytesIO(stream.read())
            try:
                head = parquet_head(whole, arrival.name)
            except UnreadableLogError:
                return arrival
            return replace(arrival, head=head or arrival.head, ended=arrival.length, is_whole=True)
        if arrival.head.lstrip()[:1] not in (b"{", b"["):
            return arrival
        with self._open(arrival.path) as stream:
            return replace(arrival, ended=arrival.length, is_whole=True) if is_closed(stream) else arrival

    def new_part(self, arrival: Arrival, context: int) -> NewPart | None:
        """Read what is new of a file, and some bytes before it; None where the file is another one by now."""
        starts, digest, whole = arrival.resumes.length, hashlib.sha256(), hashlib.sha256()
        kept, before, done = [], b"", 0
        with self._open(arrival.path) as stream:
            while piece := stream.read(_PIECE):
                whole.update(piece)
                old = piece[: max(starts - done, 0)]
                digest.update(old)
                before = (before + old)[-context:] if context and old else before
                kept.append(piece[len(old) :])
                done += len(piece)
                if done > arrival.length:
                    return None
        if whole.hexdigest() != arrival.sha256:
            return None
        if len(before) < starts:  # the first of these lines may have been cut
            before = before[before.find(b"\n") + 1 :]
        return NewPart(b"".join(kept), before, starts, digest)

    def has_longer(self, arrival: Arrival) -> bool:
        """Whether another file of the inbox begins with the text of a file, and goes on."""
        for name in self.stamps():
            if name == arrival.path:
                continue
            try:
                if self._begins(name).startswith(arrival.head[:_LIKE]) and self._goes_on(name, arrival):
                    return True
            except (SwfToolsError, OSError):
                continue
        return False

    def _begins(self, name: str) -> bytes:
        """Return the first bytes of a file's text."""
        if name not in self._begin:
            with self._open(name) as stream:
                self._begin[name] = stream.read(_LIKE)
        return self._begin[name]

    def _goes_on(self, name: str, arrival: Arrival) -> bool:
        """Whether a file begins with the text of another, and has more."""
        digest, missing = hashlib.sha256(), arrival.length
        with self._open(name) as stream:
            while missing and (piece := stream.read(min(missing, _PIECE))):
                digest.update(piece)
                missing -= len(piece)
            return digest.hexdigest() == arrival.sha256 and bool(stream.read(1))

    def reason(self, name: str, error: BaseException) -> str:
        """Return in words why a file could not be taken, without its name."""
        told = str(error) if isinstance(error, SwfToolsError | OSError | UnicodeError) else ""
        address = self._storage.address(name)
        for called in (address, name):
            told = told.replace(f"{called}: ", "")
        if told:
            return shown(" ".join(told.split()))
        what = f"{type(error).__name__}: {shown(' '.join(str(error).split()))}"
        return f"{what} (at reading it); look at the file, and report it if it is sound"

    def _stamp(self, name: str) -> tuple[str, int] | None:
        return self._storage.stamps("").get(name) if not self._is_local else _stamp_of(self._path(name))

    def _path(self, name: str) -> Path:
        return Path(self._storage.address(name))

    @contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        if self._is_local:
            with open_log(self._path(name), max_bytes=_ANY, is_text=False) as stream:
                yield stream
            return
        with self._storage.open(name) as raw, open_log(raw, max_bytes=_ANY, is_text=False) as stream:
            yield stream


def _stamp_of(path: Path) -> tuple[str, int] | None:
    """Return what changes when a file does."""
    try:
        told = path.stat()
    except FileNotFoundError:
        return None
    return f"{told.st_dev}-{told.st_ino}-{told.st_size}-{told.st_mtime_ns}-{told.st_ctime_ns}", told.st_ctime_ns


def _scan(name: str, stream: Any, beginnings: Iterable[Beginning], most_bytes: int) -> Arrival:
    """Read a text through, and find the longest beginning of it that is known."""
    by_length: dict[int, dict[str, list[Beginning]]] = {}
    for each in beginnings:
        by_length.setdefault(each.length, {}).setdefault(each.sha256, []).append(each)
    lengths = sorted(by_length)
    digest, head = hashlib.sha256(), b""
    resumes, known = Beginning(0, NOTHING, 0, 0, is_whole=False), None
    done, ended, last = 0, 0, b"\n"
    while piece := stream.read(_PIECE):
        if len(head) < HEAD:
            head += piece[: HEAD - len(head)]
        at = 0
        for length in lengths[bisect_right(lengths, done) :]:
            if length > done + len(piece):
                break
            digest.update(piece[at : length - done])
            at = length - done
            is_line_end = (piece[at - 1 : at] or last) == b"\n"
            for match in by_length[length].get(digest.copy().hexdigest(), ()):
                if match.is_whole:
                    known = match
                elif is_line_end:  # else it is within a line, where what was read before resumed
                    resumes = match
        digest.update(piece[at:])
        if line := piece.rfind(b"\n") + 1:
            ended = done + line
        done, last = done + len(piece), piece[-1:]
        if done - resumes.length > most_bytes and (not lengths or done > lengths[-1]):
            raise UnreadableLogError(
                f"more than {most_bytes:,} bytes of new text; if it is sound, allow more by log: most_bytes: in the "
                "settings"
            )
    return Arrival(shown(name), name, digest.hexdigest(), done, max(ended, resumes.length), head, resumes, known)


class FileStamps:
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
