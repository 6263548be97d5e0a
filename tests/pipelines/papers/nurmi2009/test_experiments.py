# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Nurmi 2009, by hand and against their parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import swftools
from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.papers import find_paper
from pipelines.papers.nurmi2009.populations import PopulationParameters, measure_population, population_of, select
from pipelines.papers.nurmi2009.predictions import ReplayOfPaper, _clusters_of, measure_replay
from swftools.qbets import evaluate, replay
from swftools.trace import Trace
from tests.drawn import draw_trace

JOBS = """
job submit wait run request queue
  1      0   10  60     100     1
  2      5   20  60       .     2
  3      6   30   .     100     3
  4      7   40   0     100     1
  5      8   50  60     100    12
  6      9   60  60       0     4
  7      9    .  60     100     1
"""


def numbers(parts: dict[str, Trace]) -> dict[str, list[int]]:
    """Return the numbers of the jobs by row."""
    return {row: part.jobs["job_number"].tolist() for row, part in parts.items()}


def test_populations() -> None:
    """Of CTC what has a requested time; of the others what ran, of the queues that count; of any log by queue."""
    trace = draw_trace(JOBS)
    assert numbers(select(trace, "ctc")) == {"ctc/ALL": [1, 3, 4, 5, 7]}
    blue = {"sdscblue/high": [2], "sdscblue/low": [6], "sdscblue/express": [1, 7]}
    assert numbers(select(trace, "sdscblue")) == blue
    assert numbers(select(trace, "datastar")) == {
        "datastar/TGnormal": [5],
        "datastar/express": [1, 7],
        "datastar/high": [2],
    }
    assert numbers(select(trace, "any")) == {"any/1": [1, 7], "any/2": [2], "any/4": [6], "any/12": [5]}
    nameless = draw_trace("job submit wait run / 1 0 10 60 / 2 0 10 60")
    assert numbers(select(nameless, "any")) == {"any/unknown": [1, 2]}
    assert numbers(select(nameless, "sdscblue")) == {}


def test_which_log_is_which() -> None:
    """By the name of its card; the excerpt is none of the paper's."""
    assert [population_of(log) for log in find_paper("nurmi2009").logs] == ["ctc", "sdscblue", "datastar"]
    assert population_of(SHIPPED_LOG) == population_of("mine") == "any"


def test_table_3_2_by_hand() -> None:
    """Waits of 20, 60, 10 and one that is missing; the deviation is that of a population."""
    found = measure_population(draw_trace(JOBS), PopulationParameters("sdscblue"), 0).set_index("measure")
    assert found["subject"].unique() == ["sdscblue"]
    assert found["value"].to_dict() == pytest.approx(
        {"jobs": 3, "mean": 30, "median": 20, "standard deviation": np.sqrt((100 + 900 + 400) / 3)}
    )


def test_a_log_of_which_nothing_counts() -> None:
    """Zero jobs, and no mean."""
    trace = draw_trace("job submit wait run / 1 0 5 .")
    found = measure_population(trace, PopulationParameters("any"), 0)
    assert found[["measure", "value"]].to_numpy().tolist() == [["jobs", 0.0]]
    assert measure_replay(trace, ReplayOfPaper("any"), 0).empty


@pytest.fixture(scope="module")
def shipped() -> Trace:
    """The shipped log."""
    path = find_log(SHIPPED_LOG).path
    assert path
    return swftools.read_swf(path)


@pytest.mark.parametrize("qbets", [True, False])
@pytest.mark.parametrize("availability", [True, False])
def test_a_replay_is_what_its_parts_give(shipped: Trace, qbets: bool, availability: bool) -> None:
    """Queue by queue, with all parts or none; by month as curves."""
    parameters = ReplayOfPaper("sdscblue", "loguniform", qbets, availability, 200)
    found = measure_replay(shipped, parameters, 0).set_index(["subject", "x", "measure"])["value"]
    jobs = shipped.jobs
    normal = shipped.with_jobs(jobs[(jobs["queue_id"] == 3) & (jobs["run_time"] > 0)].reset_index(drop=True))
    told = replay(
        normal,
        "loguniform",
        None,
        training=200,
        trimming=qbets,
        clustering=qbets,
        availability=qbets and availability,
    )
    table = evaluate(told)
    for grouping, groups in (("all", {"all": ""}), ("month", None)):
        for row in table[table["grouped_by"] == grouping].to_dict("records"):
            x = groups[row["group"]] if groups else row["group"]
            for measure in ("correctness", "rms_over", "share_not_predicted", "jobs"):
                assert found["sdscblue/normal", x, measure] == pytest.approx(row[measure])


def test_clusters_that_are_in_use() -> None:
    """Of each whole thousand of submissions behind the first: none before there were any, nor of the last few."""
    cluster = [4] * 1000 + [0] * 400 + [2] * 600 + [1] * 999 + [0] + [5] * 999
    assert _clusters_of(pd.DataFrame({"cluster": cluster})) == {"fewest_clusters": 2.0, "most_clusters": 3.0}
    assert _clusters_of(pd.DataFrame({"cluster": cluster[:1999]})) == {}


def test_measured_values_are_numbers(shipped: Trace) -> None:
    """None is missing."""
    found = measure_replay(shipped, ReplayOfPaper("any", training=200), 0)
    assert found["value"].notna().all()
    assert not found.duplicated(["subject", "x", "measure"]).any()
    assert isinstance(found, pd.DataFrame)
