# SPDX-License-Identifier: BSD-3-Clause
"""A history that an earlier package damaged is told and mended; versions are in order whatever their times."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipelines.history.damage import damage_of
from pipelines.history.repair import mend
from pipelines.store.prune import plan_prune
from swftools.history import provisional
from swftools.history.book import HistoryBook
from tests.pipelines.history.nights import Site

HEAD = "JobID|User|Partition|State|Submit|Start|End|NCPUS\n"
SETTINGS = "log: {format: 'slurm:time_zone=UTC', processors: 8}\n"


def line(number: int, hour: int) -> str:
    """Return a job."""
    times = "|".join(f"2024-05-01T{hour + more:02d}:00:00" for more in range(3))
    return f"{number}|ann|batch|COMPLETED|{times}|4\n"


def test_two_jobs_of_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong is told; the mended version has a key for each job, and the next night finds nothing new."""
    site = Site(tmp_path, SETTINGS)
    site.put("a", HEAD + line(1, 1) + line(2, 2), header="")
    site.night()
    assert damage_of(site.store, site.name, site.version().name) == []
    assert mend(site.store, site.name) is None
    with monkeypatch.context() as patch:
        patch.setattr(HistoryBook, "last_number", property(lambda _: 1))
        patch.setattr(HistoryBook, "next_occurrences", lambda _, numbers: np.zeros(len(numbers), np.int64))
        site.put("b", HEAD + line(3, 3), header="")
        site.night()
    damaged = site.version().name
    (told,) = damage_of(site.store, site.name, damaged)
    assert (
        told
        == "2 jobs share a key (job_number, job_occurrence) with another; the first is (2, 0), submitted in 2024-05"
    )
    mended = mend(site.store, site.name)
    assert mended == site.version().name != damaged
    assert damage_of(site.store, site.name, mended) == []
    jobs = pd.read_parquet(site.version() / "jobs")
    assert jobs[["log_id", "job_number"]].to_numpy().tolist() == [["1", 1], ["2", 2], ["3", 3]]
    assert site.night().is_new is False
    assert damage_of(site.store, site.name, damaged) == [told], "it stays as it is"


def test_counts_that_are_not_of_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that was counted as known counts as new."""
    site = Site(tmp_path, SETTINGS)
    site.put("a", HEAD + line(1, 1) + line(2, 2), header="")
    with monkeypatch.context() as patch:
        take = provisional.Provisional.take

        def wrong(self: provisional.Provisional, book: HistoryBook, file: provisional.FilePart) -> object:
            taken = take(self, book, file)
            return provisional.replace(taken, new=taken.new - 1, merged=taken.merged + 1)

        patch.setattr(provisional.Provisional, "take", wrong)
        site.night()
    damaged = site.version().name
    assert damage_of(site.store, site.name, damaged) == [
        "the files count 1 new jobs (new - withdrawn), and there are 2"
    ]
    assert mend(site.store, site.name) is not None
    assert pd.read_parquet(site.version() / "ingested")[["new", "merged"]].to_numpy().tolist() == [[2, 0]]


def test_order_of_versions_is_that_of_their_files(tmp_path: Path) -> None:
    """A restore, or a clock that is set back, turns nothing round; what a rollback left behind is the oldest."""
    site = Site(tmp_path, SETTINGS)
    made = []
    for number in (1, 2):
        site.put(str(number), HEAD + line(number, number), header="")
        made.append(str(site.night().version))
    for age, version in enumerate(made):
        path = Path(site.store.path(site.name, version), "manifest.json")
        os.utime(path, (1_600_000_000 - 100_000 * age,) * 2)
    listed = [each.version for each in site.store.versions(site.name)]
    assert listed == made[::-1]
    assert [removal.path.rpartition("/")[2] for removal in plan_prune(site.store, site.name, keep=1)] == [made[0]]
    assert site.store.rollback(site.name) == made[0]
    assert [each.version for each in site.store.versions(site.name)] == listed
    (site.inbox / "2").unlink()
    site.put("4", HEAD + line(4, 4), header="")
    other = str(site.night().version)
    assert [each.version for each in site.store.versions(site.name)] == [other, made[0], made[1]]
