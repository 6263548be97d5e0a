# SPDX-License-Identifier: BSD-3-Clause
"""What the columns are; level_fs beside Fair Tree of policy slurm; and Slurm's estimates to the printed digits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pytest

from pipelines.catalog.reader import read_catalog
from pipelines.logs.tables import Tables, read_tables
from pipelines.papers.popa2023.checks import (
    ChecksOfRows,
    EstimatesOfSlurm,
    fair_tree_levels,
    measure_checks,
    measure_estimates,
)
from swftools.kernel import FloatArray
from swftools.simulator.slurm.fair_share import find_levels
from swftools.simulator.slurm.state import BILLING, RESOURCES, UNKNOWN, Dynamic, Given
from tests.interpreted import all_interpreted
from tests.pipelines.papers.popa2023.polls import DAY, excerpt, polls_of
from tests.pipelines.papers.popa2023.test_fits import value


def empty(kind: Any) -> dict[str, Any]:
    """Return arrays without elements, by field."""
    types = get_type_hints(kind)
    return {name: np.zeros(0, np.int64 if "int64" in str(types[name]) else np.float64) for name in kind._fields}


def levels_of_policy(share: FloatArray, used: FloatArray) -> FloatArray:
    """Return the level values that the kernel of policy slurm gives to accounts below the root."""
    count = len(share) + 1
    above = np.zeros(count, np.int64)
    above[0] = UNKNOWN
    usage = np.zeros((count, RESOURCES))
    usage[:, BILLING] = [1.0, *used]
    none, ones = np.zeros(count, np.int64), np.ones(count, np.int64)
    own = {"above": above, "sharing": none, "is_user": none, "has_shares": ones, "share": np.array([1.0, *share])}
    state = Dynamic(**empty(Dynamic) | {"used": usage.ravel(), "level": np.zeros(count)})
    with all_interpreted():
        find_levels(Given(**empty(Given) | own), state)
    return state.level[1:]


def test_levels_are_those_of_fair_tree() -> None:
    """Of all rows of the excerpt, and of accounts without share or usage: to the bit."""
    columns = [excerpt().table[name].to_numpy(float) for name in ("norm_share_poll", "effect_use_poll")]
    share, used = (
        np.concatenate([column, odd]) for column, odd in zip(columns, ([0.0, 0.5, 0.0], [0.0, 0.0, 0.25]), strict=True)
    )
    ours = fair_tree_levels(share, used)
    np.testing.assert_array_equal(ours, levels_of_policy(share, used))
    assert ours[-3:].tolist() == [0.0, np.inf, 0.0]


def test_checks() -> None:
    """Counts by hand, of a level that is another, one that is missing, and run times that are not in elapsed_time."""
    polls = polls_of([[10.0, 1.5 * DAY, DAY], [40.0, 40.0]], missing=[])
    table = polls.table.astype({"elapsed_time": "float64", "level_fs_poll": "float64"})
    table.loc[0, "elapsed_time"] += 1
    table.loc[1, "level_fs_poll"] *= 1.001
    table.loc[2, ["norm_share_poll", "effect_use_poll", "level_fs_poll"]] = [0.0, 0.0, np.nan]
    table.loc[4, ["effect_use_poll", "level_fs_poll"]] = [0.0, np.inf]
    table.loc[3, "eligible_time"] = "2021-05-02 12:00:01"
    table.loc[4, "eligible_time"] = "2021-05-02 12:00:00"  # at the poll, and so not after it
    found = measure_checks(replace(polls, table=table, found=polls.found[:1]), ChecksOfRows(), 0)
    assert {name: value(found, "all", name) for name in dict.fromkeys(found["measure"])} == {
        "files": 2,
        "files found": 1,
        "rows": 5,
        "complete rows": 3,
        "elapsed_time is the run time": 4,
        "eligible after the poll": 1,
        "shortest wait": 10,
        "median wait": 40,
        "columns of the future": 6,
        "level_fs is Fair Tree's": 3,
        "level_fs is missing, share and usage 0": 1,
        "level_fs is another": 1,
        "not yet known": pytest.approx(1 / 3),
    }


def test_the_excerpt_leaks() -> None:
    """As the whole does."""
    found = measure_checks(excerpt(), ChecksOfRows(), 0)
    assert value(found, "all", "elapsed_time is the run time") == value(found, "all", "rows") == 480
    assert value(found, "all", "level_fs is Fair Tree's") == 480


def test_estimates_of_slurm() -> None:
    """The printed 3.2032 and 2.4870 are means of log10 of seconds between start and estimate, not of squares."""
    found = measure_estimates(read_tables(read_catalog().tables["slurm-estimates"]), EstimatesOfSlurm(), 0)
    for cluster, jobs, printed in (("cedar", 53, 3.2032), ("narval", 58, 2.4870)):
        assert value(found, cluster, "estimates") == jobs
        assert value(found, cluster, "mean of log10 s") == pytest.approx(printed, abs=0.00005)
        assert value(found, cluster, "mean of squared log10 s") > 2.0 * printed


def test_estimates_by_hand() -> None:
    """10 s too early and 1,000 s too late: by how much, whatever the sign."""
    times = {"true_start_time": ["2022-12-01 00:00:10", "2022-12-01 00:00:00"]}
    table = pd.DataFrame(
        times | {"estimate_start_time": ["2022-12-01 00:00:00", "2022-12-01 00:16:40"], "file": "a_b.csv"}
    )
    found = measure_estimates(Tables("x", ["a_b.csv"], ["a_b.csv"], table), EstimatesOfSlurm(), 0)
    assert dict(zip(found["measure"], found["value"], strict=True)) == {
        "estimates": 2,
        "mean of log10 s": 2,
        "mean of squared log10 s": 5,
        "median apart": 505,
        "started later": 0.5,
    }
    assert set(found["subject"]) == {"a"}
