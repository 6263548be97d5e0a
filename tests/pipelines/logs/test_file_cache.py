# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a file's hash and of the catalogue, in a process that lives long."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pipelines.logs import file_cache
from pipelines.logs.file_cache import FileCache
from pipelines.logs.find import catalog_in_use, find_log
from tests.pipelines.cli.test_reading_logs import LOG, catalog


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a cache has read, in order; files count as old at once."""
    monkeypatch.setattr(file_cache, "GRAIN_NS", -(10**12))
    return []


def cache_of(reads: list[str]) -> FileCache[str]:
    """Return a cache that notes what it reads."""

    def read(path: Path) -> str:
        reads.append(path.read_text())
        return reads[-1]

    return FileCache(read)


def test_a_file_is_read_once_while_it_is_the_same(tmp_path: Path, reads: list[str]) -> None:
    """And again when its length, its place or its time is another."""
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("one")
    cache = cache_of(reads)
    assert ["one", "one"] == [cache(path), cache(path)]
    assert ["one"] == reads
    path.write_text("three")
    assert "three" == cache(path)
    stamp = path.stat()
    other.write_text("other")
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.replace(path)
    assert ("other", "other") == (cache(path), cache(path))
    assert ["one", "three", "other"] == reads


def test_a_folder_is_the_same_while_each_of_its_files_is(tmp_path: Path, reads: list[str]) -> None:
    """Also one that is not its first, a new one, and one less."""

    def read(folder: Path) -> str:
        reads.append(" ".join(path.read_text() for path in sorted(folder.iterdir())))
        return reads[-1]

    cache = FileCache(read)
    for name, text in (("a", "1"), ("b", "2")):
        (tmp_path / name).write_text(text)
    assert ("1 2", "1 2") == (cache(tmp_path), cache(tmp_path))
    (tmp_path / "b").write_text("22")
    assert "1 22" == cache(tmp_path)
    (tmp_path / "c").write_text("3")
    assert "1 22 3" == cache(tmp_path)
    (tmp_path / "a").unlink()
    assert "22 3" == cache(tmp_path)
    assert 4 == len(reads)


def test_a_file_that_keeps_length_and_time_of_modification_is_seen_to_change(tmp_path: Path, reads: list[str]) -> None:
    """The time of change cannot be set back."""
    path = tmp_path / "a"
    path.write_text("one")
    cache = cache_of(reads)
    cache(path)
    stamp = path.stat()
    while path.stat().st_ctime_ns == stamp.st_ctime_ns:
        path.write_text("two")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert "two" == cache(path)


def test_nothing_is_kept_of_a_file_that_has_just_changed(tmp_path: Path) -> None:
    """A second change within the grain of the clock would not be seen."""
    path = tmp_path / "a"
    path.write_text("one")
    reads: list[str] = []
    cache = cache_of(reads)
    cache(path)
    cache(path)
    assert ["one", "one"] == reads


def test_a_file_becomes_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the grain it is kept."""
    path = tmp_path / "a"
    path.write_text("one")
    later = time.time_ns() + 3 * 10**9
    monkeypatch.setattr(file_cache.time, "time_ns", lambda: later)
    reads: list[str] = []
    cache = cache_of(reads)
    cache(path)
    cache(path)
    assert ["one"] == reads


def test_what_is_not_there_is_asked_for_each_time(tmp_path: Path, reads: list[str]) -> None:
    """The function says what is wrong with it."""
    cache = cache_of(reads)
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            cache(tmp_path / "a")


def test_a_catalogue_and_a_log_that_change_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within one process, at once."""
    cards, log = tmp_path / "cards.yaml", tmp_path / "log.swf"
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(cards))
    log.write_text(LOG)
    cards.write_text(catalog(LOG))
    assert ("MINE", 4) == (find_log(str(log)).name, catalog_in_use().log("MINE").machine.processors)
    cards.write_text(catalog(LOG, processors=6))
    assert 6 == catalog_in_use().log("MINE").machine.processors
    log.write_text(LOG.replace("1 0 5", "1 1 5"))
    assert "log" == find_log(str(log)).name
