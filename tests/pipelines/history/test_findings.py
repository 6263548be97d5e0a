# SPDX-License-Identifier: BSD-3-Clause
"""What is told to a person, and what is not."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pipelines.history.findings import of_cleaning, of_coverage, of_drift, of_policies
from pipelines.history.settings import Settings, read_settings

SETTINGS = read_settings(None, {"inbox": "x"})


def coverage(**told: Any) -> pd.DataFrame:
    """Return a row of coverage."""
    row = {"period": "last 30 days", "method": "m", "queue": "3", "known": 500, "coverage": 0.9, "least_coverage": 0.92}
    return pd.DataFrame([{**row, "is_below": True, "tightness": 3.0, **told}])


def settings(**waits: Any) -> Settings:
    """Return settings of waits."""
    return read_settings(None, {"inbox": "x", "waits": waits})


def test_coverage_below_its_tolerance() -> None:
    """In the period that is watched, with enough waits; of all queues and of one."""
    (found,) = of_coverage(coverage(), "last 30 days", SETTINGS)
    assert found.kind == "coverage"
    assert found.message == ("m, queue 3, last 30 days: 0.9000 of 500 waits were within their bounds, less than 0.9200")
    assert (found.value, found.limit) == (0.9, 0.92)
    (found,) = of_coverage(coverage(queue="all"), "last 30 days", SETTINGS)
    assert found.subject == "m, all queues"
    for other in (coverage(period="all"), coverage(is_below=False), coverage(known=99), coverage(is_below=None)):
        assert list(of_coverage(other, "last 30 days", SETTINGS)) == []
    assert len(list(of_coverage(coverage(known=99), "last 30 days", settings(least_jobs=99)))) == 1


def test_bounds_that_are_too_wide() -> None:
    """Where a limit is given."""
    row = coverage(is_below=False, tightness=51.0)
    assert list(of_coverage(row, "last 30 days", SETTINGS)) == []
    (found,) = of_coverage(row, "last 30 days", settings(widest=50))
    assert (found.kind, found.value, found.limit) == ("tightness", 51.0, 50.0)
    assert list(of_coverage(row, "last 30 days", settings(widest=51))) == []


def account(**quarantined: int) -> dict[str, Any]:
    """Return what became of a hundred records."""
    return {"job_lines_read": 100, "jobs_kept": 100, "quarantined": quarantined}


def files(**told: Any) -> pd.DataFrame:
    """Return a row of files."""
    return pd.DataFrame([{"file": "a.swf", "records": 100, "quarantined": 0, "ends": 50.0, **told}])


def test_cleaning() -> None:
    """A month of which more than a share is removed, and a file of which more are no records, if it is of late."""
    assert list(of_cleaning({"2001-03": account(duplicates=5)}, files(quarantined=5), 0.0, SETTINGS)) == []
    (found,) = of_cleaning({"2001-03": account(duplicates=4, cancelled=2)}, files(), 0.0, SETTINGS)
    assert found.message == ("2001-03: cleaning removed 6.0 % of 100 jobs, more than 5.0 %: duplicates 4, cancelled 2")
    (found,) = of_cleaning({}, files(quarantined=6), 0.0, SETTINGS)
    assert (found.kind, found.subject) == ("file", "a.swf")
    assert list(of_cleaning({}, files(quarantined=6), 50.0, SETTINGS)) == []
    assert list(of_cleaning({"x": account() | {"job_lines_read": 0}}, files(records=0), 0.0, SETTINGS)) == []


def test_drift_and_policies() -> None:
    """What is beyond its threshold; what ``find_worse`` found, in its words."""
    row = {"aspect": "run_time", "statistic": "ratio_of_means", "recent": 20.0, "reference": 10.0, "unit": "s"}
    beyond = pd.DataFrame([{**row, "drift": 2.0, "threshold": 1.5, "is_beyond": True}])
    (found,) = of_drift(beyond)
    assert found.message == "run_time: 20 s lately, 10 s in the time before; ratio of means 2, above 1.5"
    (found,) = of_drift(beyond.assign(drift=0.3426, threshold=2.0))
    assert found.message.endswith("ratio of means 0.3426, below 1/2")
    (found,) = of_drift(beyond.assign(statistic="difference_of_means", drift=-0.4, threshold=0.25))
    assert found.message.endswith("difference of means -0.4, below -0.25")
    assert list(of_drift(beyond.assign(is_beyond=False))) == []
    worse = {
        "policy": "easy",
        "measure": "wait",
        "statistic": "mean",
        "now": 2.0,
        "before": 1.0,
        "finding": "easy: ...",
    }
    (found,) = of_policies(pd.DataFrame([worse]))
    assert (found.subject, found.message, found.value, found.limit) == ("easy wait mean", "easy: ...", 2.0, 1.0)
    assert list(of_policies(pd.DataFrame())) == []
