# SPDX-License-Identifier: BSD-3-Clause
"""Open a log's bytes, plain or compressed, recognised by their first bytes.

The name may only contradict: a file named as compressed whose content is not is damaged or misnamed, and no log.
Checksums are verified, and where a file carries none, the stream says so. A decompressed text may not exceed a limit,
so that a small file cannot fill the memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from swftools.errors import ParameterError, StorageError, SwfToolsError, UnreadableLogError
from swftools.formats.compressed_members import Members, Reader
from swftools.formats.place import split_member
from swftools.output.whole_files import LONGEST_NAME_SHOWN, create_file, unwritable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT_LIMIT = 2 << 30
"""Most bytes that a compressed log may decompress to, unless the caller says otherwise."""

DENSEST = 200
"""Most bytes of text that a byte of a compressed log stands for, beyond ``NEVER_DENSE``: logs have 5 to 50."""

NEVER_DENSE = 1 << 26
"""Bytes of text up to which that is not looked at."""

LogSource = str | os.PathLike[str] | BinaryIO

Progress = Callable[[int, int | None], None]
"""Is told, again and again, how many bytes of a file have been read and how many there are (None: not known)."""

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
# Parallel compressors begin with a frame for themselves, which decompressors skip.
_MAGIC |= {bytes([first]) + b"\x2a\x4d\x18": "zstd" for first in range(0x50, 0x60)}
_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_FOREIGN = {
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"\x1f\x9d": "compressed by compress (.Z); uncompress it first",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8 first",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8 first",
    _PARQUET: "a Parquet file, which is no text; swftools.read_log reads tables of jobs in it",
}
_TWICE = {magic: f"itself {kind}; decompress it once" for magic, kind in _MAGIC.items()}
_TAR, _TAR_AT = b"ustar", 257
_TAR_TOLD = "a tar archive; unpack it (tar -xf) and give the files in it, or their folder"
_HEAD = _TAR_AT + len(_TAR)
_MOST_NAMED = 5
"""Files of an archive that a message names."""
_SHOWN = 6
"""Bytes of a beginning that a message shows."""
_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".z": "compress"}
_PIECE = 1 << 24  # bytes of text asked for at once


class _Writer(Protocol):
    """What a log is written to."""

    def write(self, data: bytes, /) -> object:
        """Take all of the bytes."""


def source_name(source: LogSource) -> str:
    """Return the name by which messages speak of a source: its path, or its ``name``, or ``<stream>``."""
    if isinstance(source, str | os.PathLike):
        return os.fsdecode(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


class LogStream:
    """A binary stream over the decompressed text of a log, with damage and excess turned into one error."""

    def __init__(
        self,
        stream: Reader,
        name: str,
        compression: str | None,
        max_bytes: int | None,
        report: Callable[[], None] | None = None,
        stored: Callable[[], int] | None = None,
    ) -> None:
        self._stored = stored  # tells the bytes of the file that have been read
        self._stream, self._name, self._compression, self._max_bytes = stream, name, compression, max_bytes
        self._head = b""
        self._report = report  # called after each piece
        self._count = 0

    @property
    def unverified(self) -> str | None:
        """Why damage to the bytes read so far would not have shown; None where it would, and for plain text."""
        if isinstance(self._stream, Members) and not self._stream.is_verified:
            return f"{self._compression} data without checksum: damage would not show"
        return None

    def read(self, size: int = -1) -> bytes:
        """Read ``size`` bytes of text, fewer only at its end; all of it by default; ``b""`` at the end.

        Raises
        ------
        UnreadableLogError
            The file is truncated or corrupt, or its text is longer than the limit.
        """
        parts: list[bytes] = []
        missing = size
        while missing and (part := self._take(missing)):
            parts.append(part)
            missing -= len(part) if size > 0 else 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _take(self, size: int) -> bytes:
        """Read up to ``size`` bytes, or any number for -1; limited text never further than a byte beyond it."""
        if self._max_bytes is not None or self._report:
            room = _PIECE if self._max_bytes is None else min(_PIECE, self._max_bytes + 1 - self._count)
            size = room if size < 0 else min(size, room)
        part = _read(self._stream, size, self._name, self._compression)
        if self._compression and self._count < _HEAD:
            self._head += part[: _HEAD - self._count]
            _refuse(self._head, f"{self._name}: the text in the {self._compression} file is", _TWICE)
        self._count += len(part)
        if self._max_bytes is not None and self._count > self._max_bytes:
            raise UnreadableLogError(
                f"{self._name}: more than {self._max_bytes:,} bytes{' once decompressed' * bool(self._compression)}; "
                "pass a larger max_bytes if you trust the source"
            )
        if self._stored and self._count > max(NEVER_DENSE, DENSEST * self._stored()):
            raise UnreadableLogError(
                f"{self._name}: {self._stored():,} bytes become more than {self._count:,} once decompressed, as no log "
                "does: it was made to fill a memory, or is damaged; decompress it by hand, or pass max_bytes, if you "
                "trust the source"
            )
        if self._report:
            self._report()
        return part


@contextmanager
def open_log(
    source: LogSource, *, max_bytes: int = TEXT_LIMIT, progress: Progress | None = None, is_text: bool = True
) -> Iterator[LogStream]:
    """Open a log for reading its decompressed bytes.

    Parameters
    ----------
    source : path or binary file object
        Plain, gzip, bzip2, xz or Zstandard; or a zip archive of one file. Of an archive of several
        ``archive.zip#name`` is one. A file object is read from its present position and stays open; it may be
        a pipe, such as ``sys.stdin.buffer``.
    max_bytes : int
        Largest size of the text once decompressed; a plain file may be larger. By default a text is refused too that
        is more than ``DENSEST`` times as large as the file.
    progress : callable, optional
        Called during reading with the bytes of the file read so far (as stored, that is, compressed) and the size of
        the file (None for a pipe). An exception from it stops the reading.
    is_text : bool
        Whether text is expected: Parquet is refused then.

    Raises
    ------
    UnreadableLogError
        There is no such file, it is a directory, it may not be read, or it is of a kind that is not a log. Or a file is
        named as compressed (.gz, .bz2, .xz, .zst, .Z) and its content is not.
    ParameterError
        The source is neither a path nor a binary file object, or ``max_bytes`` is negative.

    Examples
    --------
    >>> import gzip, io
    >>> with open_log(io.BytesIO(gzip.compress(b"; Version: 2.2"))) as stream:
    ...     stream.read()
    b'; Version: 2.2'
    """
    if max_bytes < 0:
        raise ParameterError(f"max_bytes={max_bytes}: at least 0")
    name, member = source_name(source), None
    with ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            path, member = split_member(source)
            try:
                raw = cast(BinaryIO, stack.enter_context(Path(path).open("rb", buffering=0)))
            except (OSError, ValueError) as error:
                remedy = "standard input is sys.stdin.buffer" if name == "-" else "check the path"
                raise UnreadableLogError(f"{name[:LONGEST_NAME_SHOWN]}: {_reason(error)}; {remedy}") from error
        else:
            raw = source
        if not hasattr(raw, "read"):
            raise ParameterError(f"a log is a path or a binary file object, not {type(source).__name__}")
        yield _decompressed(raw, name, max_bytes, progress, is_text=is_text, member=member)


def _decompressed(
    raw: BinaryIO, name: str, max_bytes: int, progress: Progress | None, *, is_text: bool, member: str | None
) -> LogStream:
    """Return the stream that decompresses ``raw`` according to its first bytes."""
    is_file = _is_regular_file(raw)
    size = os.fstat(raw.fileno()).st_size - raw.tell() if is_file else None
    counted = _Counted(raw)
    head = b""
    while len(head) < _HEAD and (part := _read(counted, _HEAD - len(head), name, None)):
        head += part
    if head.startswith(_ZIP):
        archive = raw if is_file else _kept(_Rejoined(head, counted), name, max_bytes)
        return _unzipped(archive, name, max_bytes, progress, member)
    if member is not None:
        raise UnreadableLogError(f"{name}: is no zip archive, so it has no {member!r}; give the path without it")
    if is_text or not head.startswith(_PARQUET):
        _refuse(head, f"{name}:", _FOREIGN)
    compression = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if is_file and compression is None:
        _check_suffix(name, head)
    report = None if progress is None else lambda: progress(counted.count, size)
    if compression:
        stored = (lambda: counted.count) if max_bytes == TEXT_LIMIT else None
        text = Members(_Rejoined(head, counted), compression)
        return LogStream(text, name, compression, max_bytes, report, stored)
    if is_file and isinstance(raw, io.FileIO) and not report:
        raw.seek(-len(head), io.SEEK_CUR)  # which spares a copy of the text
        return LogStream(raw, name, None, None)
    return LogStream(_Rejoined(head, counted), name, None, None if is_file else max_bytes, report)


def _kept(stream: Reader, name: str, max_bytes: int) -> BinaryIO:
    """Return what a stream gives as something that can go back, as the end of an archive tells what is in it."""
    kept = io.BytesIO()
    while piece := _read(stream, _PIECE, name, "zip"):
        if kept.tell() + len(piece) > max_bytes:
            raise UnreadableLogError(
                f"{name}: a zip archive of more than {max_bytes:,} bytes; pass a larger max_bytes if you trust it"
            )
        kept.write(piece)
    kept.seek(0)
    return kept


def _unzipped(raw: BinaryIO, name: str, max_bytes: int, progress: Progress | None, wanted: str | None) -> LogStream:
    """Return the stream of a file in a zip archive: the one wanted, or the only one.

    Hidden files, and those that macOS adds, do not count.
    """
    try:
        archive = zipfile.ZipFile(raw)
        inside = [
            each
            for each in archive.infolist()
            if not each.is_dir() and not any(part.startswith((".", "__MACOSX")) for part in each.filename.split("/"))
        ]
        named = ", ".join(each.filename[:LONGEST_NAME_SHOWN] for each in inside[:_MOST_NAMED])
        named += ", ..." if len(inside) > _MOST_NAMED else ""
        if wanted is not None:
            exact = [each for each in inside if each.filename == wanted]
            inside = exact or [each for each in inside if each.filename.rpartition("/")[2] == wanted]
            if len(inside) != 1:
                how_many = "several files of that name" if inside else "no such file"
                raise UnreadableLogError(f"{name}: {how_many} in the archive; it has {named or 'none'}")
        if len(inside) != 1:
            if not inside:
                raise UnreadableLogError(f"{name}: a zip archive without files; give one with a log")
            archive_name = "FILE.zip" if name.startswith("<") else name
            raise UnreadableLogError(
                f"{name}: a zip archive of {len(inside):,} files ({named}); choose one, as "
                f"{f'{archive_name}#{inside[0].filename}'[:LONGEST_NAME_SHOWN]!r}; or, if they are parts of one log, "
                "unpack it and give the folder"
            )
        (member,) = inside
        stream = cast(Reader, archive.open(member))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:  # damaged, strange, encrypted
        raise UnreadableLogError(f"{name}: a zip archive that cannot be read ({error}); unpack it first") from error
    size = member.compress_size
    report = None if progress is None else lambda: progress(min(raw.tell(), size), size)
    stored = (lambda: size) if max_bytes == TEXT_LIMIT else None
    return LogStream(stream, name, "zip", max_bytes, report, stored)


def _compression_named(path: str | os.PathLike[str]) -> str | None:
    """Return the compression that a file's suffix says, None for none."""
    return _SUFFIXES.get(Path(os.fsdecode(path)).suffix.lower())


def _check_suffix(name: str, head: bytes) -> None:
    """Raise if a file is named as compressed; that it is not, is known."""
    if not (expected := _compression_named(name)):
        return
    suffix = Path(name).suffix
    head = head[:_SHOWN]
    is_text = all(byte in b"\t\r\n" or 32 <= byte < 127 for byte in head)
    found = f"begins like plain text ({head!r})" if is_text else f"begins with {head!r}"
    raise UnreadableLogError(
        f"{name}: named {suffix}, but not {expected} data: it {found if head else 'is empty'}; "
        f"fetch the file again, or rename it without {suffix} if it was never compressed"
    )


def _read(stream: Reader, size: int, name: str, compression: str | None) -> bytes:
    """Read from a stream; whatever it raises, and whatever it returns but bytes, is a log that cannot be read."""
    try:
        data: object = stream.read(size)
    except SwfToolsError:
        raise
    except MemoryError as error:
        raise UnreadableLogError(f"{name}: does not fit into memory; read it in chunks with iter_swf") from error
    except Exception as error:
        # A file object is foreign code, and each decompressor has errors of its own.
        what = f"{compression} data truncated or corrupt" if compression else "cannot be read"
        remedy = "fetch the file again" if compression else "check the file"
        raise UnreadableLogError(f"{name}: {what} ({error}); {remedy}") from error
    if isinstance(data, bytes):
        return data
    kind = "a text stream" if isinstance(data, str) else f"a stream that returns {type(data).__name__}, not bytes"
    raise UnreadableLogError(f"{name}: {kind}; open the file in binary mode ('rb'), or pass its .buffer")


def _refuse(head: bytes, subject: str, kinds: dict[bytes, str]) -> None:
    """Raise if a text begins like something that is not a log."""
    for magic, kind in kinds.items():
        if head.startswith(magic):
            raise UnreadableLogError(f"{subject} {kind}")
    if head[_TAR_AT:_HEAD] == _TAR:
        raise UnreadableLogError(f"{subject} {_TAR_TOLD}")


def _is_regular_file(raw: BinaryIO) -> bool:
    """Whether a stream reads a file of the disk as it stands: no pipe, no device, no decompression."""
    inner: object = raw.raw if isinstance(raw, io.BufferedReader) else raw
    return isinstance(inner, io.FileIO) and stat.S_ISREG(os.fstat(inner.fileno()).st_mode)


def _reason(error: OSError | ValueError) -> str:
    """Return what an error says, without its number and file name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class _Counted:
    """A stream that counts the bytes it gives."""

    def __init__(self, stream: Reader) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self.count += len(data) if isinstance(data, bytes) else 0
        return data


class _Rejoined:
    """The bytes already taken for recognition, followed by the rest; works for streams that cannot seek."""

    def __init__(self, head: bytes, rest: Reader) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int = -1, /) -> bytes:
        if not self._head:
            return self._rest.read(size)
        taken = len(self._head) if size < 0 else size
        data, self._head = self._head[:taken], self._head[taken:]
        return data + self._rest.read() if size < 0 else data


@contextmanager
def create_log(target: LogSource, *, gzip_level: int = 6) -> Iterator[_Writer]:
    """Open a log for writing; the suffix of a path (.gz, .bz2, .xz, .zst) chooses the compression.

    Equal text gives equal bytes: gzip headers have neither name nor time. Every compressed file has a checksum. A
    path appears only when all is written; an old file stays until then. A file object receives plain text and stays
    open.

    Parameters
    ----------
    target : path or binary file object
        Where the text goes.
    gzip_level : int
        From 1 (fast) to 9 (small); for .gz only.

    Raises
    ------
    StorageError
        The target cannot be written: no such folder, no permission, disk full.
    ParameterError
        The target is neither a path nor a binary file object, or its suffix is .Z, which can only be read.
    """
    if not isinstance(target, str | os.PathLike):
        name = source_name(target)[:LONGEST_NAME_SHOWN]
        if isinstance(cast(object, target), io.TextIOBase) or not hasattr(target, "write"):
            raise ParameterError(f"{name}: open it in binary mode ('wb'), or give a path")
        yield _Whole(target, name)
        return
    compression = _compression_named(target)
    if compression == "compress":
        raise ParameterError(f"{source_name(target)[:LONGEST_NAME_SHOWN]}: no {compression} (.Z); use .gz, .xz or .zst")
    with create_file(target) as raw, _compressor(raw, compression, gzip_level) as stream:
        yield stream


class _Whole:
    """A file object that takes all of the bytes, as raw streams do not."""

    def __init__(self, target: BinaryIO, name: str) -> None:
        self._target, self._name = target, name
        self._is_raw = isinstance(cast(object, target), io.RawIOBase)

    def write(self, data: bytes, /) -> int:
        rest = data
        while rest:
            try:
                taken = self._target.write(rest)
            except OSError as error:
                raise StorageError(unwritable(self._name, error)) from error
            except Exception as error:
                # A file object is foreign code.
                raise StorageError(f"{self._name}: cannot be written ({error}); check the file object") from error
            if not self._is_raw:
                break
            if not taken:
                raise StorageError(f"{self._name}: cannot be written (it takes no more bytes); try again")
            rest = rest[taken:]
        return len(data)


def _compressor(raw: BinaryIO, compression: str | None, gzip_level: int) -> AbstractContextManager[_Writer]:
    """Return a stream that compresses into ``raw``; plain for no compression."""
    if compression == "gzip":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=gzip_level)
    if compression == "bz2":
        return bz2.BZ2File(raw, "wb")
    if compression == "xz":
        return lzma.LZMAFile(raw, "wb")
    if compression == "zstd":
        options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
        return zstd.ZstdFile(raw, "wb", options=options)
    return nullcontext(raw)
