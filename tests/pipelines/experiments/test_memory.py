# SPDX-License-Identifier: BSD-3-Clause
"""How much memory a worker needs, and how many workers fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.experiments import memory
from pipelines.experiments.memory import LIBRARIES, OF_A_JOB, OF_UTILITY, LogSize, free_memory, plan_of
from pipelines.logs.find import find_log

JOB = "1 0 -1 60 4 -1 -1 4 900 -1 1 7 3 -1 0 -1 -1 -1\n"


def test_the_largest_log_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker keeps one log at a time; jobs with utility functions take more."""
    monkeypatch.setattr(memory, "free_memory", lambda: 10**10)
    logs = [LogSize("a", 10**6, False, True), LogSize("b", 1_100_000, True, False)]
    plan = plan_of(logs)
    assert plan.log.name == "a"
    assert plan.a_worker == LIBRARIES + 10**6 * (OF_A_JOB + OF_UTILITY)
    assert plan.fit == int(0.9 * 10**10 / plan.a_worker)
    assert plan_of(logs[1:]).a_worker == LIBRARIES + 1_100_000 * OF_A_JOB


@pytest.mark.parametrize(
    ("free", "workers", "warning"),
    [
        (10**9, 2, None),
        (600_000_000, 2, "take --workers 1"),
        (300_000_000, 1, "not one worker"),
        (None, 2, "cannot be"),
    ],
)
def test_it_warns_where_workers_do_not_fit(
    free: int | None, workers: int, warning: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says how many do."""
    monkeypatch.setattr(memory, "free_memory", lambda: free)
    told = plan_of([LogSize("a", 1000, True, False)]).told(workers)
    assert "0.3 GB a worker, for 1,000 jobs of a, estimated from its size" in told[0]
    assert len(told) == (1 if warning is None else 2)
    assert warning is None or warning in told[1]


def test_what_is_free_is_the_least_limit(tmp_path: Path) -> None:
    """Of the machine, and of a container or batch job."""
    meminfo, group, none = tmp_path / "meminfo", tmp_path / "memory.max", tmp_path / "no"
    meminfo.write_text("MemTotal:  2000 kB\nMemAvailable:  1000 kB\n")
    group.write_text("500000\n")
    assert free_memory(meminfo, [none]) == 1_024_000
    assert free_memory(meminfo, [none, group]) == 500_000
    group.write_text("max\n")
    assert free_memory(meminfo, [group]) == 1_024_000


def test_how_many_jobs_a_log_has(tmp_path: Path) -> None:
    """As it says itself, else estimated by the lines that it begins with."""
    assert LogSize.of(find_log("lublin-feitelson:jobs=700"), "utility")[1:] == (700, False, True)
    path = tmp_path / "log.swf"
    path.write_text(JOB * 5000)
    assert LogSize.of(find_log(str(path)), "")[1:] == (5000, True, False)
    path.write_text("; MaxJobs: 123\n; MaxRecords: 124\n" + JOB)
    assert LogSize.of(find_log(str(path)), "checkpoints")[1:] == (124, False, False)
