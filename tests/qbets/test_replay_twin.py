# SPDX-License-Identifier: BSD-3-Clause
"""The replay equals, row for row, one that is written down with lists and sorting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swftools import Trace, read_swf
from swftools.qbets import replay
from tests.examples import examples
from tests.naive import qbets as naive

FAMILIES = ("alike", "changing", "correlated", "constant", "mostly-zero")


def drawn_log(family: str, jobs: int, seed: int) -> Trace:
    """Return a log whose waits are of one kind."""
    rng = np.random.default_rng(seed)
    requested = rng.choice([60, 120, 300, 600, 3600, 7200, 36000], jobs)
    waits = {
        "alike": rng.exponential(100.0, jobs),
        "changing": rng.exponential(100.0, jobs) * np.repeat(rng.choice([1, 30], jobs), 40)[:jobs],
        "correlated": np.exp(np.cumsum(rng.normal(0.0, 0.4, jobs))),
        "constant": np.full(jobs, 7.0),
        "mostly-zero": np.where(rng.random(jobs) < 0.8, 0.0, rng.exponential(50.0, jobs)),
    }[family]
    waits = np.floor(waits * np.where(requested > 1000, 5, 1))
    submit = np.cumsum(rng.choice([0, 5, 50, 500], jobs))
    waits[rng.random(jobs) < 0.03] = -1
    return Trace.from_columns(
        job_number=np.arange(jobs),
        submit_time=submit,
        wait_time=[None if wait < 0 else wait for wait in waits],
        run_time=np.full(jobs, 10),
        requested_time=requested,
    )


def compare(log: Trace, rules: naive.Rules, **options: Any) -> None:
    """Compare both replays of a log that is one queue."""
    ours = replay(
        log,
        by=None,
        quantile=rules.quantile,
        confidence=rules.confidence,
        trimming=rules.trimming,
        clustering=rules.clustering,
        cluster_every=rules.every,
        most_clusters=rules.most,
        availability=bool(rules.availability),
        unavailable_if=rules.availability or "either",
        availability_quantile=rules.series_quantile,
        training=rules.training,
        **options,
    )
    jobs = log.jobs
    wait = [
        None if missing else float(wait)
        for wait, missing in zip(jobs["wait_time"], jobs["wait_time"].isna(), strict=True)
    ]
    listed = list(zip(jobs["submit_time"].astype(float), wait, jobs["requested_time"].astype(float), strict=True))
    bound = ours["wait_bound"].fillna(ours["withheld_bound"])
    found = [
        (None if np.isnan(one) else one, None if reason == "" else reason, place, kept)
        for one, reason, place, kept in zip(
            bound, ours["no_prediction"].fillna(""), ours["cluster"], ours["history_length"], strict=True
        )
    ]
    assert found == naive.replay(listed, rules)


@pytest.mark.parametrize("family", FAMILIES)
@examples(0.1)
@given(data=st.data())
def test_drawn_logs(family: str, data: st.DataObject) -> None:
    """Of low quantiles, so that few jobs are trimmed, clustered and suspected often."""
    rules = naive.Rules(
        quantile=data.draw(st.sampled_from([0.5, 0.75, 0.9])),
        confidence=data.draw(st.sampled_from([0.8, 0.95])),
        trimming=data.draw(st.booleans()),
        clustering=data.draw(st.booleans()),
        every=data.draw(st.sampled_from([7, 50])),
        most=data.draw(st.integers(1, 4)),
        availability=data.draw(st.sampled_from(["", "either", "both"])),
        training=data.draw(st.sampled_from([0, 20])),
        series_quantile=data.draw(st.sampled_from([0.5, 0.8])),
    )
    log = drawn_log(family, data.draw(st.integers(1, 250)), data.draw(st.integers(0, 10**6)))
    assume((log.jobs["wait_time"].notna() & log.jobs["run_time"].notna()).any())  # else it is refused
    compare(log, rules)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_as_published(family: str) -> None:
    """With the options of the paper, on logs long enough to be clustered three times."""
    compare(drawn_log(family, 3_500, 3), naive.Rules())


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("queue", [1, 2, 3, 4])
def test_real_jobs(queue: int, shared: Path) -> None:
    """Of each queue of SDSC-BLUE 5,000 jobs."""
    log = read_swf(next((shared / "traces").glob("SDSC-BLUE*")))
    ran = (log.jobs["run_time"] > 0) & (log.jobs["queue_id"] == queue)
    compare(log.with_jobs(log.jobs[ran.fillna(False)].head(5_000).reset_index(drop=True)), naive.Rules())
