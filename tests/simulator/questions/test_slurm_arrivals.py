# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that come again: which, and when; and what rows ask that are taken and put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.simulator.questions.slurm_arrivals import MOST, Arrivals, arrivals_of, joined, rows_of
from swftools.simulator.slurm.asked import SlurmJobs
from tests.simulator.slurm.site import asked, row_of, table_of

DAY = 86_400.0


def came(*come: float, span: float, limit: float = 10.0) -> Arrivals:
    """Return jobs that came so long ago."""
    many = len(come)
    jobs = asked(*[{"partition": "batch", "requested_processors": 1}] * many)
    return Arrivals(jobs, ["u1"], np.array(come), np.full(many, 5.0), np.full(many, limit), span)


def test_a_short_past_is_a_circle() -> None:
    """Distances stay as they were, again and again; where it begins is drawn."""
    of_draw = [came(-90.0, -80.0, -30.0, span=100.0).drawn(0, draw) for draw in range(50)]
    for rows, times in of_draw:
        assert (np.diff(times) >= 0).all()
        assert ((times >= 0) & (times < 100.0)).all()  # as long as the past is
        assert sorted(rows.tolist()) == [0, 1, 2]
        gap = np.mod(times[rows.tolist().index(1)] - times[rows.tolist().index(0)], 100.0)
        assert np.isclose(gap, 10.0)
    firsts = np.array([times[0] for _, times in of_draw])
    assert len(np.unique(firsts)) > 40
    assert {int(rows[0]) for rows, _ in of_draw} == {0, 1, 2}


def test_it_lasts_as_long_as_limits_do() -> None:
    """Twice the longest limit is three times as long as the past."""
    found = came(-90.0, -40.0, span=100.0, limit=150.0)
    assert found.horizon == 300.0
    rows, times = found.drawn(0, 3)
    assert (len(rows), np.bincount(rows).tolist()) == (6, [3, 3])
    assert np.isclose(times[2:] - times[:-2], 100.0).all()


def test_of_a_long_past_days_are_drawn() -> None:
    """What came at one o'clock comes at one o'clock: a day later, or two, or three; nothing beyond a day."""
    come = np.array([-70.0, -47.0, -46.0, -23.0]) * 3600.0
    found = came(*come, span=3.0 * DAY)
    assert found.horizon == DAY
    seen = set()
    for draw in range(60):
        rows, times = found.drawn(0, draw)
        assert (times < DAY).all()
        assert set(np.round(times / 3600.0)) <= {1.0, 2.0}
        seen.add(tuple(rows.tolist()))
    assert seen == {(0,), (1, 2), (3,)}


def test_of_a_past_that_is_no_whole_number_of_days_no_part_is_at_another_hour() -> None:
    """Three days and a half: what came before the drawn day does not come behind it."""
    come = -np.arange(1.0, 84.0) * 3600.0 - 0.0
    found = came(*come, span=3.5 * DAY)
    for draw in range(20):
        rows, times = found.drawn(0, draw)
        assert len(rows) == 24 or draw
        hours = np.mod(come[rows] / 3600.0, 24.0)
        assert np.isclose(np.mod(times / 3600.0, 24.0), hours).all()
        assert (np.diff(come[rows]) > 0).all()


def test_no_more_than_so_many() -> None:
    """The first count."""
    rows, times = came(-1.0, span=1.0, limit=DAY).drawn(0, 0)
    assert len(rows) == MOST
    assert times[-1] < MOST


def test_nobody_came() -> None:
    """Then nobody comes."""
    for found in (came(span=0.0), came(-1.0, span=0.0)):
        rows, times = found.drawn(0, 0)
        assert (len(rows), len(times)) == (0, 0)


def all_of(jobs: SlurmJobs, row: int) -> dict[str, Any]:
    """Return all that a row asks, sets of nodes as they are."""
    return row_of(jobs, row)


def test_rows_taken_and_put_together() -> None:
    """Partitions in their order, sets of nodes, arrays and users stay what they are."""
    some = asked(
        {"line": "sbatch -p batch,short -n 2 -C cpu"},
        {"line": "sbatch -p gpu -n 3 --gres=gpu:1 --nodelist=gpu1"},
        {"line": "sbatch -p big -N 8 -n 16 --array=1-3%2", "array_number": 7},
    )
    others = asked({"line": "sbatch -p short -n 5 --exclude=cpu0"}, {"line": "sbatch -n 1", "array_number": 7})
    taken = rows_of(some, np.array([2, 0, 2]))
    assert [all_of(taken, row) for row in range(3)] == [all_of(some, row) for row in (2, 0, 2)]
    both = joined(taken, others)
    assert [all_of(both, row) for row in range(3)] == [all_of(some, row) for row in (2, 0, 2)]
    for row in (0, 1):
        own, other = all_of(both, row + 3), all_of(others, row)
        assert {name: own[name] for name in own if name not in ("array", "nodes_allowed")} == {
            name: other[name] for name in other if name not in ("array", "nodes_allowed")
        }
    assert both.array.tolist() == [*taken.array.tolist(), -1, taken.array.max() + 1]
    allowed = both.nodes_allowed[3]
    assert (both.sets[allowed] == others.sets[others.nodes_allowed[0]]).all()


def test_a_past_and_a_queue() -> None:
    """Users are places in one list; who came before the past began does not come again; who never could does not."""
    from tests.machines.tables import log_of  # noqa: PLC0415 (beside what uses it)

    table = table_of()
    rows = [
        {"submit_time": time, "wait_time": 0, "run_time": 10, "requested_time": 60, "requested_processors": cpus}
        for time, cpus in ((0, 1), (50, 2), (80, 10_000), (90, 3))
    ]
    past = log_of([{**row, "partition": "batch", "user_id": 1} for row in rows])
    queue = came(-500.0, -20.0, 5.0, span=0.0)._replace(users=["u9"], run_time=np.full(3, np.nan))
    found = arrivals_of(past, table, queue)
    assert found.span == 100.0
    assert found.come.tolist() == [-20.0, -100.0, -50.0, -10.0]
    assert found.jobs.cpus.tolist() == [1, 1, 2, 3]
    assert found.users[0] == "u9"
    assert len(set(found.jobs.user[1:].tolist()) - {0}) == 1
    assert np.isnan(found.run_time[0])
    assert found.run_time[1:].tolist() == [10.0] * 3
    assert arrivals_of(None, table, queue).span == 0.0
