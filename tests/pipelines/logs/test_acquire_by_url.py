# SPDX-License-Identifier: BSD-3-Clause
"""A log that a card's url names, fetched by its task: offline, from a full disk, twice at once."""

from __future__ import annotations

import errno
import gzip
import hashlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pipelines.logs.find import find_log
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.build import BuildAugmentedTrace
from swftools.errors import AcquireError, ParameterError, StorageError
from swftools.formats import download as module
from tests.pipelines.catalog.cards import with_line
from tests.pipelines.logs.scripted_server import HALF, LOG, SUM, TEXT, Answer, Server, wait_until
from tests.pipelines.luigi_runs import SWFTOOLS, run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a server that answers every request with the log; nobody waits between attempts."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(module, "BACKOFF", 0)
    running = Server()
    yield running
    running.close()


def catalogue(directory: Path, url: str, length: int = len(TEXT)) -> Path:
    """Write a catalogue with one card, whose log is at the address."""
    text = with_line(f"bytes: {length}", "bytes: 1000").replace("a" * 64, SUM)
    path = directory / "catalog.yaml"
    path.write_text(f"{text}    url: {url}\n", encoding="utf-8")
    return path


@pytest.fixture
def acquire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a task that acquires the log at an address."""

    def task(url: str, length: int = len(TEXT)) -> AcquireLog:
        monkeypatch.setenv("SWFTOOLS_CATALOG", str(catalogue(tmp_path, url, length)))
        return AcquireLog(log="SITE-1", data_root=str(tmp_path / "data"))

    return task


def test_by_a_card(server: Server, acquire: Any, tmp_path: Path) -> None:
    """The log is fetched once, also when the stage's output was removed to free space."""
    task = acquire(server.url)
    task.run()
    assert task.complete()
    assert task.path.read_bytes() == LOG
    task.path.unlink()
    task.path.parent.rmdir()
    task.run()
    assert task.path.read_bytes() == LOG
    assert len(server.requests) == 1


def test_bomb(server: Server, acquire: Any) -> None:
    """The length on the card is the limit."""
    server.answers = [Answer(body=gzip.compress(TEXT + b"\n"))]
    task = acquire(server.url)
    with pytest.raises(AcquireError, match=f"more than {len(TEXT):,} bytes once decompressed"):
        task.run()
    assert not task.complete()


def test_two_at_once(server: Server, acquire: Any) -> None:
    """Two runs that need one log both get it, by one download."""
    released = threading.Event()
    server.answers = [Answer(cut=HALF, hold=released)]
    task = acquire(server.url)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(task.run) for _ in range(2)]
        wait_until(lambda: len(server.requests) == 1)
        time.sleep(0.1)
        released.set()
        for one in runs:
            one.result(30)
    assert task.path.read_bytes() == LOG
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
            "name cannot be resolved: there is no network",
        ),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "the server refuses the connection"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), r"no connection \(.*Network is unreachable"),
        (TimeoutError("timed out"), "does not answer in time"),
    ],
    ids=["name", "refused", "unreachable", "silent"],
)
def test_offline(server: Server, acquire: Any, monkeypatch: pytest.MonkeyPatch, error: OSError, told: str) -> None:
    """Without a network the error names cause, address and remedy, and says nothing of disks."""

    def fail(*arguments: object, **options: object) -> None:
        raise error

    if isinstance(error, socket.gaierror):
        monkeypatch.setattr(socket, "getaddrinfo", fail)
    else:
        monkeypatch.setattr(socket.socket, "connect", fail)
    url = "https://192.0.2.1/SITE-1.swf.gz"
    with pytest.raises(AcquireError, match=told) as caught:
        acquire(url).run()
    message = str(caught.value)
    assert message.startswith(f"{url}: ")
    assert "put it as SITE-1.swf.gz into a directory of SWFTOOLS_LOG_PATH, or pass its path (--log PATH)" in message
    assert "space" not in message
    assert "0x" not in message  # no insides of objects


@pytest.mark.parametrize(
    ("kind", "url", "name"),
    [
        ("openb", "https://192.0.2.1/a/PODS.csv", "SITE-1.csv"),
        ("openb", "https://192.0.2.1/a/PODS.csv.gz", "SITE-1.csv.gz"),
        ("slurm", "https://192.0.2.1/a/dump.txt?raw=1", "SITE-1"),
        ("swf", "https://192.0.2.1/a/dump.txt", "SITE-1.swf.gz"),
    ],
)
def test_offline_with_another_format(
    acquire: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, url: str, name: str
) -> None:
    """The file is to be put under a name by which it is found there."""
    monkeypatch.setattr(module, "BACKOFF", 0)
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    task = acquire(url)
    path = tmp_path / "catalog.yaml"
    path.write_text(path.read_text().replace("format: swf", f"format: {kind}"))
    with pytest.raises(AcquireError, match=re.escape(f"put it as {name} into a directory of SWFTOOLS_LOG_PATH, or")):
        task.run()
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / name).write_bytes(TEXT)
    monkeypatch.setenv("SWFTOOLS_LOG_PATH", str(folder))
    assert find_log("SITE-1").path == folder / name


def _refuse(*arguments: object, **options: object) -> None:
    raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


def test_behind_a_proxy(server: Server, acquire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that is not there is told apart from the server."""
    monkeypatch.setenv("NO_PROXY", "")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(AcquireError, match=r"no way through the proxy .*refused"):
            acquire("https://archive.example.org/SITE-1.swf.gz").run()


def test_the_disk_is_still_told(server: Server, acquire: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the disk says is an error of storage, during the download and after it."""

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    task = acquire(server.url)
    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", full)
        with pytest.raises(StorageError, match="No space left on device"):
            task.run()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfile", full)
        with pytest.raises(StorageError, match=r"No space left on device.*free space"):
            task.run()
    assert not (tmp_path / "data/.work/logs").exists()
    task.run()
    assert task.complete()


@pytest.mark.slow
def test_offline_at_the_console(tmp_path: Path) -> None:
    """At the console it is one line, without a traceback, and the status of a failed task."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/SITE-1.swf.gz"
        settings = {"SWFTOOLS_CATALOG": str(catalogue(tmp_path, url)), "NO_PROXY": "*"}
        done = run([*SWFTOOLS, "run", "AcquireLog", "--log", "SITE-1"], tmp_path, **settings)
    assert done.returncode == 30
    assert f"{url}: the server refuses the connection" in done.stderr
    assert "Traceback" not in done.stderr
    assert "ree space" not in done.stderr


def test_put_into_a_directory_of_logs(tmp_path: Path) -> None:
    """The remedy works: a log put by hand into a directory of SWFTOOLS_LOG_PATH is found there."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "SITE-1.swf.gz").write_bytes(LOG)
    url = "https://archive.example.invalid/SITE-1.swf.gz"
    settings = {"SWFTOOLS_CATALOG": str(catalogue(tmp_path, url)), "SWFTOOLS_LOG_PATH": str(tmp_path / "logs")}
    done = run([*SWFTOOLS, "run", "AcquireLog", "--log", "SITE-1"], tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    (copy,) = (tmp_path / "data/.work/logs").iterdir()
    assert hashlib.sha256((copy / "log").read_bytes()).digest() == hashlib.sha256(LOG).digest()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("utility: {globmax: 2}\nutility: {}\n", 'line 2: .*found duplicate key "utility"'),
        ("utility:\n  globmax: &a 2\n", "line 2: .*anchor or alias 'a'"),
        ("utility: [\n", "line 2: not readable as YAML"),
    ],
)
def test_parameters_in_a_file(tmp_path: Path, text: str, told: str) -> None:
    """Parameters of augmentations are read as strictly as the catalogue; an error names file and line."""
    path = tmp_path / "parameters.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=f"parameters.yaml, {told}"):
        BuildAugmentedTrace(data_root=str(tmp_path), parameters=str(path))
    path.write_text("utility: {globmax: 2}\n", encoding="utf-8")
    assert BuildAugmentedTrace(data_root=str(tmp_path), parameters=str(path)).parameters == '{"utility":{"globmax":2}}'
