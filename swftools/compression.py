"""Open a log's bytes, plain or compressed, recognised by their first bytes and never by their name.

gzip, bzip2 and xz come from the standard library, Zstandard from pyarrow. A decompressed text may not
exceed a limit, so that a small file cannot fill the memory.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO, cast

import pyarrow as pa

from swftools.errors import UnreadableLogError

TEXT_LIMIT = 2 << 30
"""Most bytes that a compressed log may decompress to, unless the caller says otherwise."""

LogSource = str | os.PathLike[str] | BinaryIO

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, pa.ArrowException)
_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}


def source_name(source: LogSource) -> str:
    """Return the name by which messages speak of a source: its path, or its ``name``, or ``<stream>``."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


class LogStream:
    """A binary stream over the decompressed text of a log, with damage and excess turned into one error."""

    def __init__(self, stream: BinaryIO | pa.CompressedInputStream, name: str, compression: str | None, max_bytes: int) -> None:
        self._stream, self._name, self._compression, self._max_bytes = stream, name, compression, max_bytes
        self._count = 0

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes of text; all of it by default; ``b""`` at the end.

        Raises
        ------
        UnreadableLogError
            The file is truncated or corrupt, or its text is longer than the limit.
        """
        try:
            data = self._read(size)
        except _DAMAGE as error:
            kind = f"{self._compression} data truncated or corrupt" if self._compression else "cannot be read"
            raise UnreadableLogError(f"{self._name}: {kind} ({error}); fetch the file again") from error
        if not isinstance(data, bytes):
            raise UnreadableLogError(f"{self._name}: a text stream; open the file in binary mode ('rb')")
        self._count += len(data)
        if self._compression and self._count > self._max_bytes:
            raise UnreadableLogError(
                f"{self._name}: more than {self._max_bytes:,} bytes once decompressed; "
                "pass a larger max_bytes if you trust the file, or decompress it first"
            )
        return data

    def _read(self, size: int) -> bytes:
        """Read without regard to damage; compressed text never further than one byte beyond the limit."""
        if not self._compression:
            return self._stream.read(size)
        room = self._max_bytes + 1 - self._count
        if size >= 0:
            return self._stream.read(min(size, room))
        parts = []
        while room and (part := self._stream.read(min(room, 1 << 24))):
            parts.append(part)
            room -= len(part)
        return b"".join(parts)


@contextmanager
def open_log(source: LogSource, *, max_bytes: int = TEXT_LIMIT) -> Iterator[LogStream]:
    """Open a log for reading its decompressed bytes.

    Parameters
    ----------
    source : path or binary file object
        Plain, gzip, bzip2, xz or Zstandard. A file object is read from where it stands and stays open.
    max_bytes : int
        Most bytes that compressed text may have; plain text has no limit.

    Raises
    ------
    UnreadableLogError
        There is no such file, it is a directory, or it may not be read.

    Examples
    --------
    >>> import gzip, io
    >>> with open_log(io.BytesIO(gzip.compress(b"; Version: 2.2"))) as stream:
    ...     stream.read()
    b'; Version: 2.2'
    """
    name = source_name(source)
    if isinstance(source, str | os.PathLike):
        try:
            raw: BinaryIO = Path(source).open("rb")
        except OSError as error:
            raise UnreadableLogError(f"{name}: {error.strerror or error}; check the path") from error
        with raw:
            yield _decompressed(raw, name, max_bytes)
    else:
        yield _decompressed(source, name, max_bytes)


def _decompressed(raw: BinaryIO, name: str, max_bytes: int) -> LogStream:
    """Return the stream that decompresses ``raw`` according to its first bytes."""
    try:
        head = raw.read(6)
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise UnreadableLogError(f"{name}: cannot be read ({error})") from error
    if not isinstance(head, bytes):
        raise UnreadableLogError(f"{name}: a text stream; open the file in binary mode ('rb')")
    whole = cast(BinaryIO, _Rejoined(head, raw))
    compression = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    stream: BinaryIO | pa.CompressedInputStream = whole
    if compression == "gzip":
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=whole, mode="rb"))
    elif compression == "bz2":
        stream = cast(BinaryIO, bz2.BZ2File(whole))
    elif compression == "xz":
        stream = cast(BinaryIO, lzma.LZMAFile(whole))
    elif compression == "zstd":
        stream = pa.CompressedInputStream(pa.PythonFile(whole, mode="r"), "zstd")
    return LogStream(stream, name, compression, max_bytes)


class _Rejoined:
    """The bytes already taken for recognition, followed by the rest; works for streams that cannot seek."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest
        self.closed = False

    def read(self, size: int | None = -1) -> bytes:
        if not self._head:
            return self._rest.read(-1 if size is None else size)
        if size is None or size < 0:
            data, self._head = self._head + self._rest.read(), b""
            return data
        data, self._head = self._head[:size], self._head[size:]
        return data if data or not size else self._rest.read(size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        # The owner of the raw stream closes it.
        self.closed = True


@contextmanager
def create_log(target: LogSource) -> Iterator[IO[bytes]]:
    """Open a log for writing; the suffix of a path (.gz, .bz2, .xz, .zst) chooses the compression.

    Equal text gives equal bytes: gzip headers carry neither name nor time. A path appears only when all is
    written. A file object receives plain text and stays open.
    """
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as raw:
            with _compressor(raw, _SUFFIXES.get(path.suffix)) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _compressor(raw: BinaryIO, compression: str | None) -> Iterator[IO[bytes]]:
    """Return a stream that compresses into ``raw``; plain for no compression."""
    if compression == "gzip":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6) as zipped:
            yield cast(IO[bytes], zipped)
    elif compression == "bz2":
        with bz2.BZ2File(raw, "wb") as zipped2:
            yield cast(IO[bytes], zipped2)
    elif compression == "xz":
        with lzma.LZMAFile(raw, "wb") as zipped3:
            yield cast(IO[bytes], zipped3)
    elif compression == "zstd":
        buffer = BytesIO()
        yield buffer
        raw.write(pa.compress(buffer.getvalue(), "zstd", asbytes=True))
    else:
        yield raw
