"""Open a log's bytes, plain or compressed, recognised by their first bytes and never by their name.

gzip, bzip2 and xz come from the standard library, Zstandard from pyarrow. A decompressed text may not exceed a
limit, so that a small file cannot fill the memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import pyarrow as pa

from swftools.errors import ParameterError, StorageError, SwfToolsError, UnreadableLogError
from swftools.formats.members import Members, Reader

TEXT_LIMIT = 2 << 30
"""Most bytes that a compressed log may decompress to, unless the caller says otherwise."""

LogSource = str | os.PathLike[str] | BinaryIO

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"\x1f\x9d": "compressed by compress (.Z); uncompress it first",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8 first",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8 first",
    b"PAR1": "a Parquet file; pandas.read_parquet reads it",
}
_TWICE = {magic: f"itself {kind}; decompress it once" for magic, kind in _MAGIC.items()}
_HEAD = max(len(magic) for magic in (*_MAGIC, *_FOREIGN))
_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}
_SHOWN = 300  # characters of a name in a message: a log's text may be passed for its path
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

    def __init__(self, stream: Reader, name: str, compression: str | None, max_bytes: int | None) -> None:
        self._stream, self._name, self._compression, self._max_bytes = stream, name, compression, max_bytes
        self._count = 0

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
        if self._max_bytes is not None:
            room = min(_PIECE, self._max_bytes + 1 - self._count)
            size = room if size < 0 else min(size, room)
        part = _read(self._stream, size, self._name, self._compression)
        if self._compression and not self._count:
            _refuse(part, f"{self._name}: the text in the {self._compression} file is", _TWICE)
        self._count += len(part)
        if self._max_bytes is not None and self._count > self._max_bytes:
            raise UnreadableLogError(
                f"{self._name}: more than {self._max_bytes:,} bytes{' once decompressed' * bool(self._compression)}; "
                "pass a larger max_bytes if you trust the source"
            )
        return part


@contextmanager
def open_log(source: LogSource, *, max_bytes: int = TEXT_LIMIT) -> Iterator[LogStream]:
    """Open a log for reading its decompressed bytes.

    Parameters
    ----------
    source : path or binary file object
        Plain, gzip, bzip2, xz or Zstandard. A file object is read from where it stands and stays open.
    max_bytes : int
        Most bytes of text to be had from anything but a plain file, which has a size of its own.

    Raises
    ------
    UnreadableLogError
        There is no such file, it is a directory, it may not be read, or it is of a kind that is no log.
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
    name = source_name(source)
    with ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            try:
                raw = cast(BinaryIO, stack.enter_context(Path(name).open("rb", buffering=0)))
            except (OSError, ValueError) as error:
                raise UnreadableLogError(f"{name[:_SHOWN]}: {_reason(error)}; check the path") from error
        else:
            raw = source
        if not hasattr(raw, "read"):
            raise ParameterError(f"a log is a path or a binary file object, not {type(source).__name__}")
        yield _decompressed(raw, name, max_bytes)


def _decompressed(raw: BinaryIO, name: str, max_bytes: int) -> LogStream:
    """Return the stream that decompresses ``raw`` according to its first bytes."""
    head = b""
    while len(head) < _HEAD and (part := _read(raw, _HEAD - len(head), name, None)):
        head += part
    _refuse(head, f"{name}:", _FOREIGN)
    compression = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    is_file = compression is None and _is_regular_file(raw)
    whole = _Rejoined(head, raw)
    if is_file and isinstance(raw, io.FileIO):
        raw.seek(-len(head), io.SEEK_CUR)  # which spares a copy of the text
        return LogStream(raw, name, None, None)
    if compression is None:
        return LogStream(whole, name, None, None if is_file else max_bytes)
    if compression == "zstd":
        return LogStream(pa.CompressedInputStream(pa.PythonFile(whole, mode="r"), "zstd"), name, "zstd", max_bytes)
    return LogStream(Members(whole, compression), name, compression, max_bytes)


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
    raise UnreadableLogError(f"{name}: {kind}; open the file in binary mode ('rb')")


def _refuse(head: bytes, subject: str, kinds: dict[bytes, str]) -> None:
    """Raise if a text begins like something that is not a log."""
    for magic, kind in kinds.items():
        if head.startswith(magic):
            raise UnreadableLogError(f"{subject} {kind}")


def _is_regular_file(raw: BinaryIO) -> bool:
    """Whether a stream reads a file of the disk as it stands: no pipe, no device, no decompression."""
    inner: object = raw.raw if isinstance(raw, io.BufferedReader) else raw
    return isinstance(inner, io.FileIO) and stat.S_ISREG(os.fstat(inner.fileno()).st_mode)


class _Rejoined:
    """The bytes already taken for recognition, followed by the rest; works for streams that cannot seek."""

    def __init__(self, head: bytes, rest: Reader) -> None:
        self._head, self._rest = head, rest
        self.closed = False

    def read(self, size: int = -1, /) -> bytes:
        if not self._head:
            return self._rest.read(size)
        taken = len(self._head) if size < 0 else size
        data, self._head = self._head[:taken], self._head[taken:]
        return data + self._rest.read() if size < 0 else data

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        # The owner of the raw stream closes it.
        self.closed = True


@contextmanager
def create_log(target: LogSource) -> Iterator[_Writer]:
    """Open a log for writing; the suffix of a path (.gz, .bz2, .xz, .zst) chooses the compression.

    Equal text gives equal bytes: gzip headers carry neither name nor time. A path appears only when all is
    written; what stood there before stays until then. A file object receives plain text and stays open.

    Raises
    ------
    StorageError
        The target cannot be written: no such directory, no permission, disk full.
    ParameterError
        The target is neither a path nor a binary file object.
    """
    name = source_name(target)[:_SHOWN]
    if not isinstance(target, str | os.PathLike):
        if isinstance(cast(object, target), io.TextIOBase) or not hasattr(target, "write"):
            raise ParameterError(f"{name}: open it in binary mode ('wb'), or give a path")
        yield _Whole(target, name)
        return
    try:
        with _create_file(Path(os.fsdecode(target))) as stream:
            yield stream
    except SwfToolsError:
        raise
    except OSError as error:
        raise StorageError(f"{name}: cannot be written ({_reason(error)})") from error


@contextmanager
def _create_file(path: Path) -> Iterator[_Writer]:
    """Open a path for writing: a file by way of a temporary one beside it, a pipe or device directly."""
    compression = _SUFFIXES.get(path.suffix.lower())
    try:
        path = Path(os.path.realpath(path))
    except ValueError as error:
        raise OSError(str(error)) from error
    if path.exists() and not path.is_file():
        with path.open("wb") as raw, _compressor(raw, compression) as stream:
            yield stream
        return
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as raw:
            with _compressor(raw, compression) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _reason(error: OSError | ValueError) -> str:
    """Return what an error says, without its number and file name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class _Whole:
    """A file object that takes all of the bytes, as raw streams do not, and that its compressor leaves open."""

    def __init__(self, target: BinaryIO, name: str) -> None:
        self._target, self._name = target, name
        self._is_raw = isinstance(cast(object, target), io.RawIOBase)
        self.closed = False

    def write(self, data: bytes, /) -> int:
        rest = data
        while rest:
            try:
                taken = self._target.write(rest)
            except Exception as error:
                # A file object is foreign code.
                raise StorageError(f"{self._name}: cannot be written ({error})") from error
            if not self._is_raw:
                break
            if not taken:
                raise StorageError(f"{self._name}: cannot be written (it takes no more bytes)")
            rest = rest[taken:]
        return len(data)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        self._target.flush()

    def close(self) -> None:
        # The owner of the target closes it.
        self.closed = True


@contextmanager
def _compressor(raw: BinaryIO, compression: str | None) -> Iterator[_Writer]:
    """Return a stream that compresses into ``raw``; plain for no compression."""
    if compression == "gzip":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6) as zipped:
            yield cast(_Writer, zipped)
    elif compression == "bz2":
        with bz2.BZ2File(raw, "wb") as zipped2:
            yield cast(_Writer, zipped2)
    elif compression == "xz":
        with lzma.LZMAFile(raw, "wb") as zipped3:
            yield cast(_Writer, zipped3)
    elif compression == "zstd":
        with pa.CompressedOutputStream(pa.PythonFile(_Whole(raw, raw.name), mode="w"), "zstd") as zipped4:
            yield zipped4
    else:
        yield raw
