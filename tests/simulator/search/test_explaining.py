# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of decisions, on notes drawn by hand: what is told, what is drawn, what is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from swftools.errors import MissingLibraryError, ParameterError
from swftools.simulator.placement import on_processors
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.decision import explain_decision
from swftools.simulator.simulation import Simulation
from tests.drawn import draw_schedule, draw_trace, rows_of
from tests.examples import examples

SCHEDULE = """
job submit width request start run
  1      0     1     200     0 190
  2     10     4      50   190  50
  3     20     1      20    20  20
  4     30     2      40   100  40
  5     35     1      30   100  90
  6     40     2      60   140  60
"""

DECISIONS = """
decision time waiting nodes paths improvements is_exhausted started first_1 first_2 first_3 best_1 best_2 best_3
       0   20       1     1     1            0            1       1       0       1       .      0      1      .
       1  100       4    11     4            2            0       2    2300       6       .   2000   6.25      .
"""

ORDERS = """
decision job_number chosen_place heuristic_place planned_start heuristic_planned_start
       0          3     0               0            20                      20
       1          4     0               1           100                     250
       1          6     1               3           200                     260
       1          5     2               2           100                     250
       1          2     3               0           200                     200
"""

IMPROVEMENTS = """
decision nodes iteration value_1 value_2 value_3
       0     1         0       0       1       .
       1     4         0    2300       6       .
       1     6         1    2100     6.1       .
       1    10         2    2000    6.25       .
"""

OPTIONS = {"objective": "tradeoff-a(T_w(50h):avgX)", "branching": "lxf", "traversal": "dds", "nodes": 4000}


def draw_notes(table: str) -> pd.DataFrame:
    """Read a table of notes."""
    headings, *rows = rows_of(table)
    columns: dict[str, Any] = {
        heading: [np.nan if row[i] == "." else float(row[i]) for row in rows] for i, heading in enumerate(headings)
    }
    frame = pd.DataFrame(columns)
    whole = ["decision", "waiting", "nodes", "paths", "improvements", "started", "iteration", "job_number"]
    frame = frame.astype({name: "int64" for name in [*whole, "chosen_place", "heuristic_place"] if name in frame})
    if "is_exhausted" in frame:
        frame["is_exhausted"] = frame["is_exhausted"] == 1
    return frame.assign(job_occurrence=0) if "job_number" in frame else frame


@pytest.fixture
def schedule() -> Schedule:
    """Two decisions on four processors: one that had no choice, and one between four jobs."""
    notes = {
        name: draw_notes(table)
        for name, table in (("decisions", DECISIONS), ("orders", ORDERS), ("improvements", IMPROVEMENTS))
    }
    drawn = draw_schedule(SCHEDULE, policy="search")
    return replace(drawn, notes=notes, options={**drawn.options, **OPTIONS})


def test_what_is_told(schedule: Schedule) -> None:
    """The measures under both orders, what was searched, who went ahead of whom, and when each is to start."""
    assert str(explain_decision(schedule)) == (
        """\
Decision 1 of the search, at 100 s: 4 jobs waited, 2 of them started.
Wanted: the best by tradeoff-a(T_w(50h):avgX).

            order of lxf  chosen order             change
  T_w(50h)       2,300.0       2,000.0  300 less (13.0 %)
  avgX                 6          6.25  0.25 more (4.2 %)

Search (dds from the order of lxf) made 11 placements and compared 4 whole
orders; there are more.
A better one was found 2 times, at last after 10 placements, in iteration 2.
Job 4 went ahead of 2, and started; else it would in 2.5 min.
Job 5 went ahead of 2, and started; else it would in 2.5 min.
Job 6 went ahead of 5 and 2, and is to start in 100 s, instead of in 2.67 min.

  place  lxf  job  width  waited  estimate    starts       by lxf
      1    2    4      2    70 s      40 s   started   in 2.5 min
      2    4    6      2    60 s      60 s  in 100 s  in 2.67 min
      3    3    5      1    65 s      30 s   started   in 2.5 min
      4    1    2      4    90 s      50 s  in 100 s     in 100 s"""
    )


def test_what_is_known(schedule: Schedule) -> None:
    """The jobs that waited, in the chosen order, and those that ran; times in seconds, places from 0."""
    found = explain_decision(schedule, time=100)
    assert (found.decision, found.time, found.nodes, found.paths, found.is_exhausted) == (1, 100.0, 11, 4, False)
    assert (found.parameters.baseline, found.parameters.traversal, found.processors) == ("order of lxf", "dds", 4)
    assert found.parameters.objective == OPTIONS["objective"]
    columns = {
        "job_number": [4, 6, 5, 2],
        "job_occurrence": [0, 0, 0, 0],
        "submit_time": [30, 40, 35, 10],
        "waited": [70, 60, 65, 90],
        "processors": [2, 2, 1, 4],
        "estimated_time": [40, 60, 30, 50],
        "heuristic_place": [1, 3, 2, 0],
        "chosen_place": [0, 1, 2, 3],
        "heuristic_planned_start": [250, 260, 250, 200],
        "planned_start": [100, 200, 100, 200],
        "is_started": [True, False, True, False],
    }
    assert found.jobs.to_dict("list") == columns
    assert found.jobs.columns.tolist() == list(columns)
    assert found.running.to_dict("list") == {
        "job_number": [1],
        "job_occurrence": [0],
        "start_time": [0.0],
        "expected_end": [200.0],
        "processors": [1],
    }
    assert found.measures.to_numpy().tolist() == [["T_w(50h)", 2300.0, 2000.0], ["avgX", 6.0, 6.25]]
    assert found.improvements.to_dict("list") == {
        "nodes": [4, 6, 10],
        "iteration": [0, 1, 2],
        "T_w(50h)": [2300.0, 2100.0, 2000.0],
        "avgX": [6.0, 6.1, 6.25],
    }


@pytest.mark.parametrize(("time", "decision"), [(20, 0), (99.5, 0), (100, 1), (1e9, 1), (None, 1), (np.float64(20), 0)])
def test_the_decision_at_a_time(schedule: Schedule, time: float | None, decision: int) -> None:
    """The one at that instant, or the last one before it; without a time the last of all."""
    assert explain_decision(schedule, time).decision == decision


def test_a_decision_without_a_choice(schedule: Schedule) -> None:
    """Where the heuristic's order is kept it says so, and that nothing changes."""
    told = str(explain_decision(schedule, 20)).splitlines()
    assert told[0] == "Decision 0 of the search, at 20 s: 1 job waited, 1 of them started."
    assert told[4:6] == [
        "  T_w(50h)             0             0    none",
        "  avgX                 1             1    none",
    ]
    assert told[7:9] == [
        "Search (dds from the order of lxf) made 1 placement and compared 1 whole order;",
        "nothing was left to search.",
    ]
    assert told[9] == "None of them is better by the objective than the order of lxf, which is kept."
    assert told[-1] == "      1    1    3      1     0 s      20 s  started     now"


def test_a_start_that_would_be_either_way(schedule: Schedule) -> None:
    """A job that went ahead and gained nothing by it is told of as such."""
    notes = dict(schedule.notes)
    notes["orders"] = notes["orders"].assign(
        heuristic_planned_start=[20.0, 100.0, 200.0, 250.0, 200.0],
    )
    told = str(explain_decision(replace(schedule, notes=notes)))
    assert "Job 4 went ahead of 2, and started, as it would either way.\n" in told
    assert "Job 6 went ahead of 5 and 2, and is to start in 100 s either way.\n" in told


def test_a_start_for_which_there_is_no_room(schedule: Schedule) -> None:
    """A job that is planned on the processors of one that should have ended has not started."""
    runs = schedule.segments[schedule.segments["job_number"] != 5]
    found = explain_decision(replace(schedule, segments=runs))
    assert found.jobs["is_started"].tolist() == [True, False, False, False]
    assert "Job 5 went ahead of 2, and is to start as soon as there is room.\n" in str(found)


def test_who_outlived_an_estimate(schedule: Schedule) -> None:
    """Whoever runs longer than was estimated is expected to run to its limit."""
    jobs = schedule.jobs.assign(estimated_time=schedule.jobs["estimated_time"].where(schedule.jobs.index > 0, 60.0))
    assert explain_decision(replace(schedule, jobs=jobs)).running["expected_end"].tolist() == [200.0]
    assert explain_decision(replace(schedule, jobs=jobs), 20).running["expected_end"].tolist() == [60.0]


def test_a_partial_schedule(schedule: Schedule) -> None:
    """Of jobs that had not ended it is not known what they ask for; the rest is told."""
    ended = schedule.jobs["end_time"] <= 150
    runs = schedule.segments["end_time"] <= 150
    part = replace(schedule, jobs=schedule.jobs[ended], segments=schedule.segments[runs], is_partial=True)
    found = explain_decision(part)
    assert found.jobs["is_started"].tolist() == [True, False, False, False]
    assert found.jobs["processors"].isna().tolist() == [False, True, True, True]
    assert "      2    4    6      ?       ?         ?  in 100 s" in str(found)
    assert found.running.empty
    found.draw()


def test_one_of_two_jobs_of_a_number(schedule: Schedule) -> None:
    """A number that an earlier job of the log has too is told with which one it is."""
    notes = {**schedule.notes, "orders": schedule.notes["orders"].copy()}
    notes["orders"].loc[1, ["job_number", "job_occurrence"]] = [3, 1]
    jobs, runs = schedule.jobs.copy(), schedule.segments.copy()
    for frame in (jobs, runs):
        frame.loc[frame["job_number"] == 4, ["job_number", "job_occurrence"]] = [3, 1]
    found = explain_decision(replace(schedule, notes=notes, jobs=jobs, segments=runs))
    assert found.jobs["processors"].tolist() == [2, 2, 1, 4]
    assert "Job 3#2 went ahead of 2, and started; else it would in 2.5 min.\n" in str(found)


def many(jobs: int, started: int, big: int = 0) -> Schedule:
    """Return a schedule of one decision that reversed the heuristic's order; the last of the chosen order started."""
    numbers = np.arange(jobs) + 1 + big
    order = pd.DataFrame(
        {
            "decision": 0,
            "job_number": numbers,
            "job_occurrence": 0,
            "chosen_place": np.arange(jobs),
            "heuristic_place": np.arange(jobs)[::-1],
            "planned_start": 1000.0 + np.maximum(np.arange(jobs)[::-1] - started + 1, 0) * 86_400.0,
            "heuristic_planned_start": 1000.0 + np.arange(jobs) * 86_400.0,
        }
    )
    rows = "".join(
        f"{number} {i} {1 + i} 86400 {order['planned_start'][i]} 86400\n" for i, number in enumerate(numbers)
    )
    drawn = draw_schedule(f"job submit width request start run\n{rows}", 128, policy="search")
    decisions = draw_notes(DECISIONS).iloc[[1]].assign(decision=0, time=1000.0, waiting=jobs)
    improvements = draw_notes(IMPROVEMENTS).iloc[:0]
    notes = {"decisions": decisions, "orders": order, "improvements": improvements}
    return replace(drawn, notes=notes, options={**drawn.options, **OPTIONS, "branching": "narrowest"})


def test_of_many_jobs_the_first_are_shown() -> None:
    """Those that started are shown wherever they stand, of the others the first; the rest are counted."""
    lines = str(explain_decision(many(50, started=3))).splitlines()
    rows = [line.split() for line in lines if line.endswith((" d", " now", " h")) and not line.startswith("Job")]
    assert [int(row[0]) for row in rows] == [*range(1, 18), 48, 49, 50]
    assert [row[-6] == "started" or "started" in row for row in rows] == [False] * 17 + [True] * 3
    assert lines[-1] == "  and 30 more jobs"
    assert "Job 48 went ahead of 49 and 50, and started; else it would in 47 d." in lines
    assert "Job 50 started; else it would in 49 d." in lines
    assert "Job 1 went ahead of 2, 3, 4 and 46 more, and would have started, but is to start" in lines
    assert "Job 2 went ahead of 3, 4, 5 and 45 more, and is to start in 46 d, instead of in" in lines
    assert "And 42 more jobs went ahead of others." in lines


@examples(0.25)
@given(st.integers(1, 60), st.integers(0, 5), st.sampled_from([0, 10**6, 2**62]))
def test_lines_are_short(jobs: int, started: int, big: int) -> None:
    """No line is longer than 80 columns, also of jobs with great numbers."""
    told = str(explain_decision(many(jobs, min(started, jobs), big)))
    assert max(map(len, told.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in told.splitlines())


def test_no_notes(schedule: Schedule) -> None:
    """A schedule or simulation of a policy that keeps none names it, and how there will be some."""
    words = "there are no notes of decisions of policy 'easy': simulate search or genetic, with explain=True"
    with pytest.raises(ParameterError) as caught:
        explain_decision(replace(schedule, policy="easy", notes={}))
    assert str(caught.value) == words
    simulation = Simulation(draw_trace("job submit run width request\n1 0 5 2 5", processors=4), "easy")
    with pytest.raises(ParameterError) as caught:
        explain_decision(simulation)
    assert str(caught.value) == words


@pytest.mark.parametrize("time", [np.nan, np.inf, True, "100"])
def test_no_time(schedule: Schedule, time: Any) -> None:
    """What is no time is named."""
    with pytest.raises(
        ParameterError, match=r"^time=.* is neither a number \(s\) nor None, which is the last decision$"
    ):
        explain_decision(schedule, time)


def test_nothing_decided_by_then(schedule: Schedule) -> None:
    """Before the first decision the error says when that was; without any, that there was none."""
    with pytest.raises(ParameterError) as caught:
        explain_decision(schedule, 19.5)
    assert str(caught.value) == "the search decided nothing by 19.5 s; its first decision is at 20 s"
    empty = {name: frame.iloc[:0] for name, frame in schedule.notes.items()}
    for time, words in ((19.5, "the search decided nothing by 19.5 s"), (None, "the search decided nothing")):
        with pytest.raises(ParameterError) as caught:
            explain_decision(replace(schedule, notes=empty), time)
        assert str(caught.value) == words


def test_a_decision_by_number(schedule: Schedule) -> None:
    """As by its time; a number that there is not, or a time beside it, is named."""
    assert str(explain_decision(schedule, decision=0)) == str(explain_decision(schedule, 20))
    for number in (2, -1, 0.5, True):
        with pytest.raises(ParameterError) as caught:
            explain_decision(schedule, decision=number)  # type: ignore[arg-type]
        assert str(caught.value) == f"there is no decision {number!r}: the search made 2, the first is 0"
    with pytest.raises(ParameterError, match=r"^give the time of a decision or its number, not both$"):
        explain_decision(schedule, 20, decision=0)


def test_orders_that_are_not_kept(schedule: Schedule) -> None:
    """Of a decision whose rows are gone, wholly or in part, the error says which are kept and how to have it."""
    words = (
        "the orders of decision {}, are no longer kept, only {}: the newest are. Explain a Simulation that has come "
    )
    orders = schedule.notes["orders"]
    for first, number, at, kept in (
        (1, 0, 20, "from decision 1, at 100 s, on"),
        (2, 1, 100, "for none"),
        (5, 0, 20, "for none"),
    ):
        notes = {**schedule.notes, "orders": orders.iloc[first:]}
        with pytest.raises(ParameterError) as caught:
            explain_decision(replace(schedule, notes=notes), at)
        about = f"{number}, at {at} s"
        assert str(caught.value) == words.format(about, kept) + f"as far: Simulation(...).run(until={at})"


@pytest.mark.parametrize("kept", [slice(0, 1), slice(2, None)], ids=["none", "the last"])
def test_improvements_that_are_not_kept(schedule: Schedule, kept: slice) -> None:
    """Without all the explanation does not say when the best was found, and the picture has the heuristic's alone."""
    notes = {**schedule.notes, "improvements": schedule.notes["improvements"].iloc[kept]}
    found = explain_decision(replace(schedule, notes=notes))
    assert found.improvements.columns.tolist() == ["nodes", "iteration", "T_w(50h)", "avgX"]
    assert found.improvements.empty
    assert "better one was found" not in str(found)
    assert [len(axes.lines) for axes in found.draw().axes[:2]] == [1, 1]


def test_what_is_drawn(schedule: Schedule) -> None:
    """A panel a measure with steps to the end of the search, and two plans with every job where it is planned."""
    figure = explain_decision(schedule).draw()
    first, second, chosen, other = figure.axes
    assert (first.get_ylabel(), second.get_ylabel()) == ("T_w(50h)", "avgX")
    assert first.lines[0].get_ydata()[0] == 2300
    assert list(first.lines[1].get_xdata()) == [4, 6, 10, 11]
    assert list(first.lines[1].get_ydata()) == [2300, 2100, 2000, 2000]
    assert list(second.lines[1].get_ydata()) == [6, 6.1, 6.25, 6.25]
    assert (chosen.get_title(), other.get_title()) == ("chosen order", "order of lxf")
    assert chosen.get_xlabel() == "s from now"
    assert {text.get_text() for text in chosen.texts} == {"2", "4", "5", "6"}
    for axes, plan in ((chosen, {4: 0, 6: 100, 5: 0, 2: 100}), (other, {4: 150, 6: 160, 5: 150, 2: 100})):
        times = {4: 40, 6: 60, 5: 30, 2: 50}
        widths = {4: 2, 6: 2, 5: 1, 2: 4}
        ours = [(0, 100, 1), *((start, start + times[job], widths[job]) for job, start in plan.items())]
        assert areas_of(axes) == pytest.approx(sum((end - start) * width for start, end, width in ours))
        drawn = {(round(low), round(high)) for low, high in spans_of(axes)}
        assert drawn == {(start, end) for start, end, _ in ours}


def boxes_of(axes: Any) -> list[Any]:
    """Return the box about every piece of a plan."""
    return [path.get_extents() for drawn in axes.collections for path in drawn.get_paths()]


def areas_of(axes: Any) -> float:
    """Return the processor-seconds that a plan shows."""
    return float(sum(box.width * box.height for box in boxes_of(axes)))


def spans_of(axes: Any) -> list[tuple[float, float]]:
    """Return from when to when each piece of a plan is."""
    return [(box.x0, box.x1) for box in boxes_of(axes)]


def test_long_plans_are_in_hours(schedule: Schedule) -> None:
    """A plan of more than two hours has its axis in hours; whoever should have ended is not in it."""
    figure = explain_decision(many(10, started=2)).draw()
    assert figure.axes[-1].get_xlabel() == "hours from now"
    assert figure.axes[-1].get_xlim() == (0, 240)


def test_without_matplotlib(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match="pip install matplotlib"):
        explain_decision(schedule).draw()


@given(st.data(), st.integers(1, 12), st.integers(1, 30))
def test_processors_are_nobody_elses(data: st.DataObject, processors: int, jobs: int) -> None:
    """Each job has as many processors as it is wide, and none that another has at the time."""
    starts = data.draw(hnp.arrays(np.float64, jobs, elements=st.integers(0, 20)))
    times = data.draw(hnp.arrays(np.float64, jobs, elements=st.integers(1, 9)))
    widths = data.draw(hnp.arrays(np.int64, jobs, elements=st.integers(1, processors)))
    ends = starts + times
    given_ = dict(on_processors(starts, ends, widths, processors))
    assert sorted(given_) == list(range(jobs))
    mine = {job: {p for low, high in pieces for p in range(low, high)} for job, pieces in given_.items()}
    assert [len(mine[job]) for job in range(jobs)] == widths.tolist()
    for one in range(jobs):
        for other in range(one):
            if starts[one] < ends[other] and starts[other] < ends[one]:
                assert not mine[one] & mine[other]
    busy = max(int(widths[(starts <= t) & (ends > t)].sum()) for t in starts)
    if busy <= processors:
        assert max(map(max, mine.values())) < processors
