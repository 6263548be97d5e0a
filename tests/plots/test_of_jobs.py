# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the jobs of a schedule: waits, slowdowns, their sizes, and one schedule against another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import simulate
from swftools.plots import caption, compare_jobs, data, plot
from swftools.plots.of_schedules import sizes_of
from swftools.plots.survival import MOST, survival, value_at
from tests.drawn import draw_schedule, draw_trace
from tests.examples import pairs
from tests.strategies import crowded_trace

FIVE = """
    job submit width request start run  backfilled
    A   0      1     100     0     50   0
    B   0      2     100     0     100  1
    C   0      4     4000    100   900  0
    D   0      1     9       100   5    1
    E   0      1     60      300   60   1
"""


def test_waits_by_hand() -> None:
    """0 and 0 s, 100 twice and 300: three wait longer than 0 s, one longer than 100 s."""
    schedule = replace(draw_schedule(FIVE), policy="easy")
    table = data(schedule, "waits")
    old = table[["wait", "share"]]  # as they were called in 1.0: of those that wait at least so long
    assert old.to_numpy().tolist() == [[0, 1.0], [100, 0.6], [300, 0.2]]
    rows = table.drop(columns=old.columns).to_numpy().tolist()
    assert rows == [["easy", 0, 2, 0.6], ["easy", 100, 2, 0.2], ["easy", 300, 1, 0.0]]
    assert caption(schedule, "waits") == (
        "Waits: easy: half of 5 jobs waited 100 s or less, 90 % 5 min or less, the longest 5 min; 40.0 % did not wait"
    )


def test_slowdowns_by_hand() -> None:
    """A and B 1; C 1000 / 900; D 105 s over the bound of 10; E 360 / 60."""
    schedule = draw_schedule(FIVE)
    assert data(schedule, "slowdowns").drop(columns="of").to_numpy().tolist() == [
        *([1.0, 5, 1.0], [10 / 9, 3, 0.6], [6.0, 2, 0.4], [10.5, 1, 0.2])
    ]
    assert data(schedule, "slowdowns", bound=0)["bounded_slowdown"].max() == 21.0
    assert caption(schedule, "slowdowns") == (
        "Bounded slowdowns: of 5 jobs the median is 1.11, 90 % have no more than 10.5, the largest is 10.5 "
        "(run times count as 10 s at least)"
    )


@given(st.lists(st.integers(0, 30), min_size=1, max_size=3 * MOST))
def test_survival_by_counting(values: list[int]) -> None:
    """Each row counts those that have at least its value; median and 90 % are there however many values there are."""
    known = np.array(values) * 1.5
    table = survival(np.append(known, np.nan), "x")
    assert table["jobs"].tolist() == [int((known >= value).sum()) for value in table["x"]]
    assert (table["share"] == table["jobs"] / len(known)).all()
    assert table["x"].is_monotonic_increasing
    assert table["x"].iloc[[0, -1]].tolist() == [known.min(), known.max()]
    for share in (0.5, 0.1):
        assert value_at(table, share) == max(v for v in known if (known >= v).mean() >= share - 1e-12)


def test_survival_of_many_is_short() -> None:
    """Of a hundred thousand values stay some hundred, the chief ones as they were."""
    values = np.random.default_rng(1).permutation(100_000).astype(float)
    table = survival(values, "x")
    assert len(table) <= 2 * MOST + 2
    assert [value_at(table, share) for share in (0.5, 0.1)] == [50_000, 90_000]


def test_sizes_by_hand() -> None:
    """Classes end at powers of 2, run times at their upper ends."""
    sizes = sizes_of(pd.DataFrame({"allocated_processors": [1, 2, 3, 4, 5], "run_time": [0, 60, 61, 43_200, 43_201]}))
    assert sizes.widths == ["1", "2", "3-4", "5-8"]
    assert sizes.of_width.tolist() == [0, 1, 2, 2, 3]
    assert sizes.of_run_time.tolist() == [0, 0, 1, 4, 5]
    wide = sizes_of(pd.DataFrame({"allocated_processors": [129, 10_000], "run_time": [1, 1]}))
    assert wide.widths == ["1", "2-4", "5-16", "17-64", "65-256", "257-1,024", "1,025-4,096", "4,097-16,384"]


def test_wait_by_size_by_hand() -> None:
    """On one processor to 1 min: A 0, D 100, E 300 s; others alone; the rest has no jobs."""
    schedule = draw_schedule(FIVE)
    table = data(schedule, "wait-by-size")
    assert len(table) == 18
    known = table.dropna().set_index(["width", "run_time"])
    assert known["wait"].round(3).to_dict() == {
        ("1", "to 1 min"): 133.333,
        ("2", "to 10 min"): 0.0,
        ("3-4", "to 1 h"): 100.0,
    }
    assert known["jobs"].tolist() == [3, 1, 1]
    assert table.loc[table["wait"].isna(), "jobs"].eq(0).all()
    assert data(schedule, "wait-by-size", statistic="median")["wait"].iloc[0] == 100.0
    assert caption(schedule, "wait-by-size") == (
        "Waits by size: mean waits of 5 jobs; the longest, 2.22 min, is that of 3 jobs on 1 processor that run to "
        "1 min; the shortest, 0 s, is that of 1 job on 2 processors that run to 10 min"
    )
    mesh = plot(schedule, "wait-by-size").collections[0]
    cells = np.ma.asarray(mesh.get_array()).reshape(6, 3)
    assert cells.mask.sum() == 15
    assert not cells.mask[0, 0] and not cells.mask[1, 1] and not cells.mask[2, 2]  # noqa: PT018


def test_backfilled_by_hand() -> None:
    """D and E of the three small ones, and B."""
    schedule = draw_schedule(FIVE)
    table = data(schedule, "backfilled")
    known = table[table["jobs"] > 0]
    assert known[["jobs", "chosen"]].to_numpy().tolist() == [[3, 2], [1, 1], [1, 0]]
    assert known["share"].tolist() == [2 / 3, 1.0, 0.0]
    assert table.loc[table["jobs"] == 0, "share"].isna().all()
    assert caption(schedule, "backfilled") == (
        "Who is backfilled: 60.0 % of 5 jobs are backfilled; most of those on 2 processors that run to 10 min (100 % "
        "of 1), least of those on 3-4 that run to 1 h (0 % of 1)"
    )


def test_preempted_by_hand() -> None:
    """One of two was stopped, and that twice; where nobody knows who was backfilled, the picture says so."""
    schedule = draw_schedule("job submit width request runs\n A 0 2 9 0-3,5-6,8-15\n B 0 2 9 0-3")
    assert data(schedule, "backfilled", what="preempted").query("jobs > 0")[["jobs", "chosen"]].to_numpy().tolist() == [
        [2, 1]
    ]
    assert caption(schedule, "backfilled") == "Who is backfilled: no job that ran and of which this is known"


HERE = "job submit width request start run\n 1 0 1 9 0 9\n 2 0 1 9 20 9\n 3 0 1 9 700 9\n 4 0 1 9 5 9"
THERE = "job submit width request start run\n 1 0 1 9 0 9\n 2 0 1 9 90 9\n 3 0 1 9 30 9\n 5 0 1 9 5 9"


def test_against_by_hand() -> None:
    """Of the three jobs in both, one waits shorter, one longer, one as long."""
    one, other = draw_schedule(HERE, policy="$x^2$"), draw_schedule(THERE, policy="<b>\u202e")
    both = compare_jobs(one, other)
    assert both[["job_number", "wait", "other_wait"]].to_numpy().tolist() == [[1, 0, 0], [2, 20, 90], [3, 700, 30]]
    assert caption(both, "against") == (
        r"Waits, job by job: of 3 jobs 33.3 % wait shorter under $x^2$ than under <b>\u202e, 33.3 % longer, and 33.3 % "
        "equally long"
    )
    table = data(both, "against")
    assert table[["jobs", "shorter", "longer"]].to_numpy().tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    assert table["wait_from"].round(2).tolist() == [0.0, 17.78, 562.34]
    assert table["other_to"].round(2).tolist() == [1.0, 100.0, 31.62]
    edge = pd.DataFrame({"job_number": [1, 2, 3], "wait": [1.0, 10.0, 1000.0], "other_wait": [0.5, 100.0, 1000.0]})
    assert data(edge, "against")[["wait_from", "other_from"]].to_numpy().tolist() == [[1, 0], [10, 100], [1000, 1000]]
    swapped = data(compare_jobs(other, one), "against")
    assert swapped["shorter"].sum() == table["longer"].sum() == 1


def test_against_of_real_schedules() -> None:
    """Cells hold their jobs: counted one by one."""
    trace = crowded_trace()
    both = compare_jobs(simulate(trace, "easy"), simulate(trace, "fcfs"))
    table = data(both, "against")
    assert table["jobs"].sum() == len(trace)
    assert table["shorter"].sum() == (both["wait"] < both["other_wait"]).sum()
    for cell in table.itertuples():
        inside = both["wait"].between(cell.wait_from, cell.wait_to, inclusive="left")
        inside &= both["other_wait"].between(cell.other_from, cell.other_to, inclusive="left")
        assert inside.sum() == cell.jobs
    lone = both.drop(columns=["policy", "other_policy"]).assign(other_wait=np.nan)
    assert caption(lone, "against") == "Waits, job by job: no job whose wait is known in both"


@pytest.mark.parametrize(
    ("name", "size"),
    pairs(
        ["waits", "slowdowns", "wait-by-size", "backfilled", "gantt", "queue", "utilization"], ["screen", "column"], 1
    ),
)
def test_drawn_at_both_sizes(name: str, size: str) -> None:
    """No label is a power of ten."""
    schedule = simulate(crowded_trace(), "easy")
    axes = plot(schedule, name, size=size)
    assert axes.figure is not None
    axes.figure.canvas.draw()
    labels = [each.get_text() for axis in (axes.xaxis, axes.yaxis) for each in axis.get_ticklabels(which="both")]
    assert any(labels)
    assert not any("^" in label or "$" in label or "e+" in label for label in labels)


@pytest.mark.parametrize("size", ["screen", "column"])
def test_against_at_both_sizes(size: str) -> None:
    """Of two policies, of a single job, and of none."""
    trace = draw_trace("submit run given asked request\n 0 10 1 1 10", processors=2)
    one = simulate(trace, "easy")
    for both in (compare_jobs(one, one), compare_jobs(one, replace(one, jobs=one.jobs[:0]))):
        axes = plot(both, "against", size=size)
        assert axes.figure is not None
        axes.figure.canvas.draw()


def test_nobody_waits() -> None:
    """The picture says so, since nothing can be drawn on a logarithmic axis."""
    schedule = draw_schedule("job submit width request start run\n A 3 1 9 3 9")
    assert plot(schedule, "waits").texts[0].get_text() == "no job waited longer than 1 s"
    assert "100 % did not wait" in caption(schedule, "waits")
