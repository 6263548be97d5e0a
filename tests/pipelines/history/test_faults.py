# SPDX-License-Identifier: BSD-3-Clause
"""Nights that are disturbed: nothing is lost, nothing counted twice, and the next night mends it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from botocore.exceptions import EndpointConnectionError
from pyarrow import fs

from pipelines.history.ingest import UNFINISHED
from pipelines.history.lock import one_at_a_time
from pipelines.store.s3 import S3Storage
from swftools.errors import StorageError
from swftools.formats.compression import LogStream
from tests.pipelines.conftest import BUCKET
from tests.pipelines.history.nights import Site, copy_of, days
from tests.pipelines.killed import PROCESSES, Full, dying_at, watched

KILLS = int(os.environ.get("SWFTOOLS_KILLS", "1"))
DAYS = 34
"""Days of the history that is disturbed: the last of them are of a second month."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return a history, and an inbox with one more day."""
    site = Site(tmp_path_factory.mktemp("before"))
    first, *rest = days(29), *days(DAYS - 29, first=29)
    for number, text in enumerate(["".join(first), *rest]):
        site.put(f"day-{number:02d}.swf", text)
    site.night()
    site.put("late.swf", days(1, first=DAYS)[0])
    return site


@pytest.fixture(scope="module")
def whole_night(before: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], int]:
    """Return what the files of the next version are, and how many changes to the file system its night is."""
    site, seen = copy_of(before, tmp_path_factory.mktemp("undisturbed")), [0]
    with watched(seen.append):
        site.night()
    return site.hashes(), seen[-1]


@pytest.fixture(scope="module")
def undisturbed(whole_night: tuple[dict[str, str], int]) -> dict[str, str]:
    """Return what the files of the next version are."""
    return whole_night[0]


def night_until(step: int, folder: Path) -> None:
    """Run a night that kills its process just before its step-th change to the file system."""
    site = Site(folder)
    with watched(dying_at(step)):
        site.night()


def killed_night(step: int, folder: Path) -> int | None:
    """Return how a process ended whose night was killed at a step."""
    process = PROCESSES.Process(target=night_until, args=(step, folder))
    process.start()
    process.join()
    return process.exitcode


@pytest.mark.parametrize("kills", [KILLS, pytest.param(8, marks=pytest.mark.slow)])
def test_killed_at_any_moment(
    kills: int, before: Site, whole_night: tuple[dict[str, str], int], tmp_path: Path
) -> None:
    """SIGKILL at random moments of a night: the next one comes to the same bytes."""
    undisturbed, most = whole_night
    moments = random.Random(11).sample(range(1, most), kills)
    for step in sorted(moments):
        site = copy_of(before, tmp_path / str(step))
        assert killed_night(step, site.folder) == -signal.SIGKILL
        outcome = site.night()
        assert site.hashes() == undisturbed, step
        assert site.store.is_published(site.name, str(outcome.version))
        assert site.store.verify(site.name) == []
        assert [path for path in Path(site.root).rglob(".staging/*") if path.is_dir()] == []
        assert site.night().is_new is False
        shutil.rmtree(site.folder)


def test_two_at_once(before: Site, undisturbed: dict[str, str], tmp_path: Path) -> None:
    """Two runs that begin together publish the night once, and neither fails."""
    site = copy_of(before, tmp_path)
    runs = [PROCESSES.Process(target=night_until, args=(0, site.folder)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    assert site.hashes() == undisturbed
    assert len(site.store.versions(site.name)) == 2


def test_one_waits_for_the_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who comes second says so, and begins when the first is done."""
    caplog.set_level("INFO", "pipelines")
    done: list[str] = []

    def second() -> None:
        with one_at_a_time(tmp_path, "site"):
            done.append("second")

    thread = threading.Thread(target=second)
    with one_at_a_time(tmp_path, "site"):
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        done.append("first")
    thread.join()
    assert done == ["first", "second"]
    assert "another run is at work on site; this one waits for it" in caplog.text


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("rename", 1),
        ("fsync", 9),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [("mkdir", 3), ("open", 3), ("link", 3)]),
    ],
)
def test_full_disk(
    name: str, step: int, before: Site, undisturbed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No space in the middle of a night: one clear error, nothing half-visible, and the next night is whole."""
    site = copy_of(before, tmp_path)
    old = site.hashes()
    full = Full(name, step)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, full)
        with pytest.raises(StorageError, match=r"No space left|space"):
            site.night()
    assert full.calls >= step
    assert site.hashes() == old
    site.night()
    assert site.hashes() == undisturbed


def test_state_of_a_predictor_is_truncated(
    before: Site, undisturbed: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told, and predictions begin from an earlier state: the same bytes come of it."""
    site = copy_of(before, tmp_path)
    state = next(site.version().glob("wait-state.binomial.2000-01"))
    state.write_bytes(state.read_bytes()[:-100])
    site.night()
    assert site.hashes() == undisturbed
    assert any("truncated or damaged" in record.message for record in caplog.records)


def test_file_is_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left for the next night, which takes it; the others are taken."""
    site = Site(tmp_path)
    site.put("a.swf", days(1)[0])
    site.put("b.swf", days(1, first=1)[0])
    read = LogStream.read

    def replacing(self: LogStream, size: int = -1) -> bytes:
        text = read(self, size)
        if b"; MaxProcs" in text and str(self._name).endswith("b.swf"):
            site.put("b.swf", days(1, first=1)[0] + days(1, first=2)[0])
        return text

    with monkeypatch.context() as patch:
        patch.setattr(LogStream, "read", replacing)
        outcome = site.night()
    assert [row["file"] for row in outcome.taken] == ["a.swf"]
    assert [(row["file"], row["outcome"]) for row in outcome.waiting] == [("b.swf", UNFINISHED)]
    outcome = site.night()
    assert [(row["file"], row["new"]) for row in outcome.taken] == [("b.swf", 24)]
    assert outcome.waiting == []


def test_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times of files and of the machine decide nothing: what is new is found by its text."""
    site = Site(tmp_path)
    path = site.put("a.swf", days(1)[0])
    os.utime(path, (0, 0))
    site.night()
    monkeypatch.setattr("time.time_ns", lambda: 10**9)
    changed = days(1)[0].replace(" 600 ", " 601 ")
    path = site.put("a.swf", days(1, first=1)[0])
    os.utime(path, (0, 0))
    assert [row["new"] for row in site.night().taken] == [12]
    assert changed == days(1)[0]
    assert len(pd.read_parquet(site.version() / "jobs")) == 24


def test_inbox_that_is_not_there(tmp_path: Path) -> None:
    """It is an input that is missing."""
    site = Site(tmp_path)
    site.inbox.rmdir()
    with pytest.raises(KeyError, match="is not a folder; make it, or give another by --inbox"):
        site.night()


class Lost:
    """A service that goes away at one of its calls."""

    def __init__(self, original: Callable[..., Any], step: int) -> None:
        self.original, self.step, self.calls = original, step, 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Answer, until it is time to be away."""
        self.calls += 1
        if self.calls == self.step:
            raise EndpointConnectionError(endpoint_url="http://away")
        return self.original(*args, **options)


@pytest.fixture
def remote(bucket: fs.S3FileSystem, tmp_path: Path) -> Site:
    """Return a site whose history is on S3."""
    return Site(tmp_path, root=f"s3://{BUCKET}/data")


@pytest.mark.slow
def test_two_nights_on_s3(remote: Site, before: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nights, the second broken off by a service that goes away, at each kind of call in turn: all comes right."""
    for path in sorted(before.inbox.glob("day-*.swf")):
        shutil.copy(path, remote.inbox)
    first = remote.night()
    shutil.copy(before.inbox / "late.swf", remote.inbox)
    for name, step in (("_copy", 2), ("modified", 9), ("exchange", 1), ("replace", 1)):
        lost = Lost(getattr(S3Storage, name), step)
        with monkeypatch.context() as patch:
            patch.setattr(S3Storage, name, lambda self, *args, lost=lost, **options: lost(self, *args, **options))
            with pytest.raises((StorageError, EndpointConnectionError)):
                remote.night()
        assert lost.calls >= step
        # What is written last, the catalogue, comes when `latest` has moved.
        assert (remote.store.latest(remote.name) == first.version) == (name != "replace")
    outcome = remote.night()
    assert outcome.version == copy_version(before)
    assert remote.store.is_published(remote.name, str(outcome.version))
    jobs = remote.store.read_table(remote.name, "jobs")
    assert jobs.num_rows == (DAYS + 1) * 12
    assert remote.store.verify(remote.name) == []
    assert remote.night().is_new is False


def copy_version(before: Site) -> str:
    """Return the version that a night makes of a site."""
    site = copy_of(before, before.folder.parent / "for-its-version")
    return str(site.night().version)


def test_inbox_on_s3(bucket: fs.S3FileSystem, tmp_path: Path) -> None:
    """Files of a prefix are taken, by what they hold."""
    site = Site(tmp_path)
    for number, text in enumerate(days(2)):
        path = site.put(f"{number}.swf", text)
        with bucket.open_output_stream(f"{BUCKET}/inbox/{number}.swf") as stream:
            stream.write(path.read_bytes())
    site.inbox = f"s3://{BUCKET}/inbox"  # type: ignore[assignment]
    outcome = site.night()
    assert [(row["file"], row["new"]) for row in outcome.taken] == [("0.swf", 12), ("1.swf", 12)]
    assert site.night().is_new is False


@pytest.mark.slow
def test_inbox_and_history_on_s3(
    bucket: fs.S3FileSystem, remote: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a prefix are taken; a service that goes away loses nothing; the version is the one made here."""
    here = Site(tmp_path / "here")
    for number, text in enumerate(days(2)):
        path = here.put(f"{number}.swf", text)
        with bucket.open_output_stream(f"{BUCKET}/inbox/{number}.swf") as stream:
            stream.write(path.read_bytes())
    remote.inbox = f"s3://{BUCKET}/inbox"  # type: ignore[assignment]
    lost = Lost(S3Storage.exchange, 1)
    with monkeypatch.context() as patch:
        patch.setattr(S3Storage, "exchange", lambda self, *args, lost=lost, **options: lost(self, *args, **options))
        with pytest.raises((StorageError, EndpointConnectionError)):
            remote.night()
    assert lost.calls
    assert remote.store.latest(remote.name) is None
    outcome = remote.night()
    assert [(row["file"], row["new"]) for row in outcome.taken] == [("0.swf", 12), ("1.swf", 12)]
    assert outcome.version == here.night().version
    assert remote.store.is_published(remote.name, str(outcome.version))
    assert remote.store.read_table(remote.name, "jobs").num_rows == 2 * 12
    assert remote.store.verify(remote.name) == []
    assert remote.night().is_new is False
