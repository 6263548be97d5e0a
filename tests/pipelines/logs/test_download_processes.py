# SPDX-License-Identifier: BSD-3-Clause
"""Downloading side by side, after a kill and in sight; the checksum of a log's text."""

from __future__ import annotations

import bz2
import errno
import fcntl
import gzip
import io
import lzma
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from swftools.errors import AcquireError, StorageError, UnreadableLogError
from swftools.formats.download import download
from swftools.formats.text_hash import text_sha256
from tests.pipelines.logs.scripted_server import HALF, LOG, SUM, TEXT, Answer, Server, names, wait_until


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a server that answers every request with the log."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()


def test_two_at_once(server: Server, tmp_path: Path) -> None:
    """Of two downloads of one log at the same time the second waits, and fetches nothing."""
    released = threading.Event()
    server.answers = [Answer(cut=HALF, hold=released)]
    destination = tmp_path / "KTH.swf.gz"
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(download, server.url, destination, sha256=SUM) for _ in range(2)]
        wait_until(lambda: len(server.requests) == 1)
        time.sleep(0.05)
        released.set()
        for run in runs:
            run.result(30)
    assert len(server.requests) == 1
    assert names(tmp_path) == ["KTH.swf.gz"]


def test_second_takes_over(server: Server, tmp_path: Path) -> None:
    """When the first of two downloads fails, the one that waited goes on with what came."""
    released = threading.Event()
    server.answers = [Answer(cut=HALF, hold=released), Answer()]
    destination = tmp_path / "KTH.swf.gz"
    with ThreadPoolExecutor(2) as pool:
        options = {"sha256": SUM, "retries": 0}
        first = pool.submit(download, server.url, destination, timeout=0.15, **options)
        wait_until(lambda: len(server.requests) == 1)
        second = pool.submit(download, server.url, destination, **options)
        with pytest.raises(AcquireError):
            first.result(30)
        second.result(30)
        released.set()
    assert HALF // 2 < int(server.requests[1]["range"].strip("bytes=-")) <= HALF
    assert destination.read_bytes() == LOG


def test_second_after_a_bad_one(server: Server, tmp_path: Path) -> None:
    """When what the first of two downloads got is put aside as bad, the one that waited begins a file of its own."""
    released = threading.Event()
    wrong = b"; wrong\n" * 1000
    server.answers = [Answer(body=wrong, cut=10, hold=released), Answer()]
    destination = tmp_path / "KTH.swf.gz"
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(download, server.url, destination, sha256=SUM) for _ in range(2)]
        wait_until(lambda: len(server.requests) == 1)
        time.sleep(0.05)
        released.set()
        errors = [run.exception(30) for run in runs]
    assert sorted(type(error).__name__ for error in errors) == ["AcquireError", "NoneType"]
    assert destination.read_bytes() == LOG
    assert (tmp_path / "KTH.swf.gz.bad").read_bytes() == wrong
    assert names(tmp_path) == ["KTH.swf.gz", "KTH.swf.gz.bad"]


def test_resumed_after_a_kill(server: Server, tmp_path: Path) -> None:
    """A killed process leaves its part to the next one, which needs no clearing up."""
    released = threading.Event()
    server.answers = [Answer(cut=HALF, hold=released), Answer()]
    destination = tmp_path / "KTH.swf.gz"
    part = tmp_path / "KTH.swf.gz.part"
    child = multiprocessing.get_context("spawn").Process(
        target=download, args=(server.url, destination), kwargs={"sha256": SUM}
    )
    child.start()
    # The last blocks may still be in the dead process's buffer; what is on disk is what counts.
    wait_until(lambda: not child.is_alive() or (part.exists() and part.stat().st_size > 0))
    assert child.is_alive()
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    released.set()
    there = part.stat().st_size
    download(server.url, destination, sha256=SUM)
    assert destination.read_bytes() == LOG
    assert server.requests[1]["range"] == f"bytes={there}-"
    assert names(tmp_path) == ["KTH.swf.gz"]


def test_no_locks(server: Server, tmp_path: Path, monkeypatch: Any) -> None:
    """On a file system without locks downloads work, and the second still waits for the first."""

    def unsupported(file: object, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    destination = tmp_path / "KTH.swf.gz"
    released = threading.Event()
    server.answers = [Answer(cut=HALF, hold=released)]
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(download, server.url, destination, sha256=SUM) for _ in range(2)]
        wait_until(lambda: len(server.requests) == 1)
        time.sleep(0.05)
        released.set()
        for run in runs:
            run.result(30)
    assert len(server.requests) == 1
    assert destination.read_bytes() == LOG


@pytest.mark.parametrize(
    "compress",
    [bytes, gzip.compress, bz2.compress, lzma.compress, lambda text: pa.compress(text, "zstd", asbytes=True)],
    ids=["plain", "gzip", "bz2", "xz", "zstd"],
)
def test_checksum_is_of_the_text(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """The checksum of a log does not depend on its compression, nor on its name."""
    path = tmp_path / "log"
    path.write_bytes(compress(TEXT))
    assert text_sha256(path) == SUM
    assert text_sha256(io.BytesIO(compress(TEXT))) == SUM


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bz2", "xz"])
def test_checksum_of_a_damaged_log(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """A truncated log has no checksum."""
    path = tmp_path / "log"
    path.write_bytes(compress(TEXT)[:HALF])
    with pytest.raises(UnreadableLogError):
        text_sha256(path)


def test_checksum_within_a_limit(tmp_path: Path) -> None:
    """A compressed log that grows beyond the limit is refused; a plain one has no limit."""
    path = tmp_path / "log"
    path.write_bytes(LOG)
    with pytest.raises(UnreadableLogError, match="more than"):
        text_sha256(path, max_bytes=len(TEXT) - 1)
    assert text_sha256(path, max_bytes=len(TEXT)) == SUM
    path.write_bytes(TEXT)
    assert text_sha256(path, max_bytes=10) == SUM


def test_storage_errors(server: Server, tmp_path: Path) -> None:
    """A place that cannot be written is told apart from a failing network, and names the file."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match=r"KTH\.swf\.gz: cannot be written"):
        download(server.url, tmp_path / "file" / "KTH.swf.gz", sha256=SUM)


class Terminal(io.StringIO):
    """A terminal whose screen can be read."""

    def isatty(self) -> bool:
        """Say that this is a terminal."""
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_progress(server: Server, tmp_path: Path, monkeypatch: Any, caplog: Any, terminal: bool) -> None:
    """A bar is shown on a terminal, and log lines say what is fetched and how long it is."""
    shown = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    with caplog.at_level("INFO", logger="swftools.formats.download"):
        download(server.url, tmp_path / "x", sha256=SUM)
    assert ("B/s" in shown.getvalue()) is terminal
    assert f"{server.url}: {len(LOG):,} bytes" in caplog.text
