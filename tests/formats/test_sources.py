# SPDX-License-Identifier: BSD-3-Clause
"""What a log is read from: paths, pipes, streams that give little at a time, and what is refused."""

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from swftools import read_swf
from swftools.errors import ParameterError, UnreadableLogError
from swftools.formats.compression import source_name
from tests.formats.compressed import COMPRESS, SMALL, text_of


class Dribble(io.RawIOBase):
    """A stream that cannot seek and gives a byte at a time."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Give one byte."""
        part = self._data[self._at : self._at + 1]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


@pytest.mark.parametrize("kind", [*COMPRESS, "plain"])
def test_streams_that_give_little_at_a_time(kind: str) -> None:
    """The compression is recognised though the first read gives one byte; the stream stays open."""
    stream = Dribble(COMPRESS[kind](SMALL) if kind in COMPRESS else SMALL)
    trace = read_swf(stream)  # type: ignore[arg-type]
    assert (1, "2.2") == (len(trace), trace.header.version)
    assert not stream.closed


def test_a_stream_is_read_from_where_it_stands() -> None:
    """What was read before is not looked at."""
    stream = io.BytesIO(b"preamble" + gzip.compress(SMALL))
    stream.read(8)
    assert 1 == len(read_swf(stream))


def test_an_unbuffered_file_is_read_from_where_it_stands(tmp_path: Path) -> None:
    """Also where no copy of the text is made."""
    (tmp_path / "log").write_bytes(b"preamble" + SMALL)
    with (tmp_path / "log").open("rb", buffering=0) as file:
        file.read(8)
        trace = read_swf(file)  # type: ignore[arg-type]
    assert (1, 0) == (len(trace), len(trace.quarantine))


def test_a_pipe(tmp_path: Path) -> None:
    """A named pipe is read like a file, compressed or not."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for data in (SMALL, gzip.compress(SMALL)):
        writer = threading.Thread(target=pipe.write_bytes, args=(data,))
        writer.start()
        trace = read_swf(pipe)
        writer.join()
        assert 1 == len(trace)


class Broken:
    """A file object that fails after some bytes, in a way of its own."""

    name = "over the net"

    def __init__(self, error: BaseException, data: bytes = b"") -> None:
        self._error, self._data = error, data

    def read(self, size: int = -1) -> bytes:
        """Give the data, then fail."""
        data, self._data = self._data, b""
        if not data:
            raise self._error
        return data


@pytest.mark.parametrize("error", [OSError("reset by peer"), RuntimeError("odd"), ValueError("closed"), EOFError()])
@pytest.mark.parametrize("data", [b"", SMALL, gzip.compress(SMALL, mtime=0)[:20]], ids=["empty", "plain", "gzip"])
def test_a_file_object_that_fails_is_an_unreadable_log(error: Exception, data: bytes) -> None:
    """Whatever it raises, and whenever."""
    with pytest.raises(UnreadableLogError, match=f"^over the net: .*{error}"):
        read_swf(Broken(error, data))  # type: ignore[arg-type]


def test_what_is_no_fault_of_the_file_is_raised_as_it_is() -> None:
    """Errors of our own, and the user's interrupt."""
    for error in (ParameterError("ours"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            read_swf(Broken(error))  # type: ignore[arg-type]
    with pytest.raises(UnreadableLogError, match="does not fit into memory; read it in chunks with iter_swf"):
        read_swf(Broken(MemoryError()))  # type: ignore[arg-type]


class Texts:
    """A file object that returns something else than bytes."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def read(self, size: int = -1) -> Any:
        """Return the data."""
        return self._data


def test_text_streams_are_refused(tmp_path: Path) -> None:
    """A file opened in text mode, and a file object that returns what it likes."""
    (tmp_path / "log").write_bytes(b"; \xff\n" * 10_000)
    with (
        (tmp_path / "log").open(encoding="ascii") as file,
        pytest.raises(UnreadableLogError, match="log: cannot be read"),
    ):
        read_swf(file)  # type: ignore[arg-type]
    for text in ("", "; x"):
        with pytest.raises(UnreadableLogError, match="a text stream; open the file in binary mode"):
            read_swf(io.StringIO(text))  # type: ignore[arg-type]
    with pytest.raises(UnreadableLogError, match="a stream that returns NoneType, not bytes"):
        read_swf(Texts(None))  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [None, 3, SMALL, [SMALL]])
def test_sources_that_are_neither_path_nor_stream(source: Any) -> None:
    """A log's bytes are no log; wrapped in io.BytesIO they are."""
    with pytest.raises(ParameterError, match="a log is a path or a binary file object, not"):
        read_swf(source)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing.swf", "No such file or directory"),
        (".", "[Ii]s a directory"),
        ("nul\0", "null byte"),
        ("x" * 5000, "too long"),
    ],
)
def test_paths_that_cannot_be_opened(path: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error that names the path, or its beginning, and the reason."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableLogError, match=f"{path[:300]}: .*{reason}; check the path") as caught:
        read_swf(path)
    assert len(str(caught.value)) < 400


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    """No permission is one clear error."""
    (tmp_path / "log").touch(mode=0o000)
    with pytest.raises(UnreadableLogError, match="Permission denied"):
        read_swf(tmp_path / "log")


def test_a_negative_limit_is_refused() -> None:
    """``max_bytes`` is at least 0."""
    with pytest.raises(ParameterError, match="max_bytes=-1: at least 0"):
        text_of(SMALL, max_bytes=-1)


def test_names_of_sources(tmp_path: Path) -> None:
    """The path, or the name of a stream where it is one."""
    with (tmp_path / "log").open("wb") as file:
        assert [str(tmp_path / "log"), str(tmp_path / "log"), "a"] == [
            source_name(source) for source in (file, tmp_path / "log", "a")
        ]
        with os.fdopen(os.dup(file.fileno()), "wb") as nameless:
            assert "<stream>" == source_name(nameless)
    assert "<stream>" == source_name(io.BytesIO())
