# SPDX-License-Identifier: BSD-3-Clause
"""Experiments of Lee 2009, on jobs drawn by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pipelines.logs.find import catalog_in_use
from pipelines.papers.lee2009.checkpoint_aware import AWARE, STOPS, CheckpointOfPaper, measure_checkpoints
from pipelines.papers.lee2009.drawn import (
    AVERAGE,
    ONE,
    DecayOfPaper,
    PseudoDelayOfPaper,
    measure_decay,
    measure_pseudo_delay,
)
from pipelines.papers.lee2009.hours import BUSY, COMING, HoursOfPaper, measure_hours
from pipelines.papers.lee2009.schedules import (
    PolicyOfPaper,
    average_bounded_slowdown,
    measure_policy,
    policy_run,
    rows_of_schedule,
    valued,
)
from pipelines.papers.lee2009.survey import SurveyOfPaper, measure_survey
from pipelines.papers.lee2009.windows import (
    BLUE,
    BY_PRICE,
    DATASTAR,
    FITTED,
    JOBS,
    OF_DATASTAR,
    RANKS,
    REVERSED,
    SURVEYED_JOBS,
    SURVEYED_LOAD,
    at_survey_load,
    closer,
    is_of_checkpoints,
    is_of_utility,
    ranks_of,
    short_name,
    surveyed,
    window,
    with_utility,
)
from pipelines.papers.paper import measured
from swftools.offered_work import span_of, work_of
from swftools.simulator import simulate
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions
from tests.drawn import draw_trace

WAITING = """
job submit run width request queue
  1      0 100     4     200     3
  2      0  50     4     100     3
  3     10  10     4      10     0
"""


def found(table: pd.DataFrame, subject: str = "jobs") -> dict[tuple[str, str], float]:
    """Return values by measure and place of one subject."""
    rows = table[table["subject"] == subject]
    return dict(zip(zip(rows["measure"], rows["x"], strict=True), rows["value"], strict=True))


def worth_ten(trace: Trace) -> Trace:
    """Return jobs that are worth 10 at first, and nothing from 200 s on."""
    functions = UtilityFunctions.from_points([[(0.0, 10.0), (200.0, 0.0)]] * len(trace))
    column = pd.arrays.ArrowExtensionArray(functions.to_arrow())
    return trace.with_jobs(trace.jobs.assign(utility=column))


def many(count: int, **columns: object) -> Trace:
    """Return a trace of so many jobs, a minute apart."""
    given = {"run_time": [60] * count, "requested_time": [60] * count, "requested_processors": [1] * count}
    return Trace.from_columns(
        machine_processors=8, job_number=range(count), submit_time=np.arange(count) * 60, **{**given, **columns}
    )


def test_measures_of_a_schedule() -> None:
    """Jobs run one behind the other; the interactive one earns, and is left out of percentiles."""
    schedule = simulate(worth_ten(draw_trace(WAITING, processors=4)), "fcfs")
    values = found(measured(rows_of_schedule(schedule)))
    assert values["jobs", ""] == 3
    assert [values["wait", str(mark)] for mark in (25, 50, 75, 98, 100)] == [25, 50, 75, 98, 100]
    assert values["expansion factor", "50"] == 1.5
    assert values["expansion factor", "100"] == 2
    assert [values["start value earned", str(mark)] for mark in (25, 50, 100)] == [43.75, 37.5, 25]
    assert values["aggregate utility", ""] == pytest.approx(5 + 2.5 + 2.5)
    at_start = found(measured(rows_of_schedule(schedule, "wait")))
    assert at_start["aggregate utility", ""] == pytest.approx(10 + 5 + 3)
    assert at_start["start value earned", "25"] == 87.5


def test_nothing_but_interactive_jobs() -> None:
    """Are shown rather than nobody."""
    trace = worth_ten(draw_trace("job submit run width request queue / 1 0 10 1 20 0", processors=4))
    assert found(measured(rows_of_schedule(simulate(trace, "fcfs"))))["wait", "100"] == 0


def test_average_bounded_slowdown() -> None:
    """Of 203 jobs the first two and the last three do not count; short jobs count as 10 s."""
    wait, run = np.zeros(203), np.full(203, 5.0)
    wait[[0, 1, 200, 202]] = 1e9
    assert average_bounded_slowdown(wait, run) == 1
    wait[2] = 198 * 10.0
    assert average_bounded_slowdown(wait, run) == pytest.approx(2)


def test_windows() -> None:
    """5,000 lines from index 5,000, or all that there is; of the survey's the last ones, in nodes."""
    long = many(JOBS + 5_010)
    assert window(long).jobs["job_number"].iloc[[0, -1]].tolist() == [5_000, 9_999]
    assert len(window(many(JOBS))) == JOBS
    few = surveyed(many(3, requested_processors=[1, 9, 8 * 261]))
    assert few.arrays.width.tolist() == [1, 2]
    assert len(surveyed(long)) == SURVEYED_JOBS
    assert surveyed(long).jobs["job_number"].iloc[-1] == JOBS + 5_009
    assert SURVEYED_LOAD == 0.78
    close = at_survey_load(surveyed(long))
    assert work_of(close) / (260 * span_of(close.arrays.submit_time)) == pytest.approx(SURVEYED_LOAD, rel=1e-3)


def test_closer_together() -> None:
    """Times between submissions are divided; what jobs are worth stays as it is."""
    assert closer(many(4), 2.0).arrays.submit_time.tolist() == [0, 30, 60, 90]
    slow, fast = (valued(many(4), PolicyOfPaper(load=load, ranks="alike"), 1).jobs for load in (1.0, 2.0))
    assert slow["utility"].equals(fast["utility"])
    assert not slow["submit_time"].equals(fast["submit_time"])


def test_ranks_are_those_of_the_catalogue() -> None:
    """Of each queue that has a card."""
    cards = catalog_in_use().logs
    known = {
        FITTED: cards["SDSC-BLUE-2000-4.2-cln"].ranks("over-fitted"),
        BY_PRICE: cards["SDSC-BLUE-2000-4.2-cln"].ranks(),
        OF_DATASTAR: cards[DATASTAR].ranks(),
    }
    for name, ranks in known.items():
        own, others = RANKS[name]
        assert {queue: own.get(queue, others) for queue in ranks} == ranks
    assert [ranks_of(log) for log in (BLUE, DATASTAR, "mine")] == [FITTED, OF_DATASTAR, "alike"]


def test_equation_2_2_as_printed() -> None:
    """Turns round what jobs are worth, and leaves them their ranks."""
    jobs = many(600, queue_id=[2, 5] * 300)
    fitted, turned = (with_utility(jobs, ranks, 0).jobs for ranks in (FITTED, REVERSED))
    assert fitted["priority_rank"].tolist() == turned["priority_rank"].tolist() == [0, 5] * 300

    def mean_start(frame: pd.DataFrame) -> float:
        start = UtilityFunctions.from_arrow(frame["utility"]).start_values
        return float(start[::2].mean() / start[1::2].mean())

    assert mean_start(fitted) > 5
    assert mean_start(turned) == pytest.approx(1 / mean_start(fitted), rel=0.3)


def test_which_log_is_of_which_chapter() -> None:
    """A user's own log is of both; the paper's are of one, but to be quick."""
    assert [is_of_utility(log) for log in (BLUE, DATASTAR, "mine")] == [True, False, True]
    assert [is_of_checkpoints(log, False) for log in (BLUE, DATASTAR, "mine")] == [False, True, True]
    assert is_of_checkpoints(BLUE, True)
    assert [short_name(log) for log in (BLUE, DATASTAR, "mine")] == ["SDSC-BLUE", "SDSC-DS", "mine"]


def test_a_policy() -> None:
    """Each draw is another; a trial changes what is bred, not what jobs are worth."""
    trace = draw_trace(WAITING, processors=4)
    one, other = (measure_policy(trace, policy_run("easy").parameters, seed) for seed in (0, 1))
    assert found(one)["wait", "100"] == found(other)["wait", "100"] == 100
    assert found(one)["aggregate utility", ""] != found(other)["aggregate utility", ""]
    assert policy_run("easy", generations=5) == policy_run("easy")
    assert "generations=5" in policy_run("genetic", generations=5).text
    assert PolicyOfPaper("genetic", generations=5).of_policy() == {"generations": 5, "plan_clock": "wait"}


def test_cancelled_jobs() -> None:
    """End at once, or run for all that they requested."""
    trace = draw_trace("job submit run width request queue / 1 0 . 4 200 3 / 2 0 50 4 100 3", processors=4)
    waits = [
        found(measure_policy(trace, PolicyOfPaper("easy", cancelled=how), 0))["wait", "100"]
        for how in ("end-at-once", "full-request", "drop")
    ]
    assert waits == [1, 200, 0]


def test_nothing_to_simulate() -> None:
    """No jobs, and nothing else."""
    trace = draw_trace("job submit run width request queue / 1 0 . 4 100 3", processors=4)
    assert found(measure_policy(trace, PolicyOfPaper("easy", cancelled="drop"), 0)) == {("jobs", ""): 0}
    empty = trace.with_jobs(trace.jobs.iloc[:0])
    assert measure_hours(empty, HoursOfPaper(), 0).empty


def test_hours() -> None:
    """A job runs through the first hour and half of the second on 2 of 4 processors, one on all at the end of it."""
    trace = draw_trace("job submit wait run width / 1 0 0 5400 2 / 2 5400 0 1800 4 / 3 7199 0 1 4", processors=4)
    values = found(measure_hours(trace, HoursOfPaper(), 0), "logged")
    assert values[BUSY, "0"] == 50
    assert values[BUSY, "1"] == pytest.approx(25 + 50 + 100 / 3600)
    assert values[COMING, "1"] == pytest.approx(200 / 3)


def test_pseudo_delay() -> None:
    """Job 2 keeps job 1 from the time that job 0 leaves early, not from its reservation."""
    table = measure_pseudo_delay(many(1), PseudoDelayOfPaper(), 0)
    starts = {scene: found(table, scene)["start", "J1"] for scene in ("as planned", "J0 ends early", "without J2")}
    assert starts == {"as planned": 10, "J0 ends early": 10, "without J2": 4}
    assert found(table, "J0 ends early")["end", "J0"] == 4


def test_decay() -> None:
    """All begin at the start value and none rises; a linear one loses half by half of its time."""
    table = measure_decay(many(1), DecayOfPaper(500), 0)
    for kind in ("linear", "exponential", "step"):
        values = found(table, kind)
        for which in (ONE, AVERAGE):
            curve = [value for (measure, _), value in values.items() if measure == which]
            assert curve[0] == 1
            assert np.diff(curve).max() <= 1e-12
    assert found(table, "linear")[AVERAGE, "0.5"] == pytest.approx(0.5, abs=0.05)
    assert found(table, "exponential")[AVERAGE, "0.5"] < 0.25
    assert len({round(value, 9) for (measure, _), value in found(table, "step").items() if measure == ONE}) == 2


def users(count: int) -> Trace:
    """Return jobs of four users that crowd a machine of 260 nodes."""
    rng = np.random.default_rng(7)
    run = rng.integers(600, 40_000, count)
    return many(
        count,
        user_id=rng.integers(0, 4, count),
        wait_time=rng.integers(0, 20_000, count),
        run_time=run,
        requested_time=2 * run,
        requested_processors=8 * rng.choice([2, 40, 90], count),
        queue_id=rng.integers(1, 4, count),
    )


@pytest.mark.parametrize("workload", ["answers", "pooled"])
def test_a_survey(workload: str) -> None:
    """Counts every answer once; what is inferred writes checkpoints too."""
    table = measure_survey(users(300), SurveyOfPaper(workload), 0)
    assert sum(found(table, str(choice))["share of responses", ""] for choice in range(7)) == pytest.approx(100)
    every, intervals = found(table, "all jobs"), found(table, "intervals")
    assert every["jobs", ""] == 300
    assert every["figure 6.5", "128"] > every["figure 6.5", "1"]
    assert intervals["figure 6.2", "240"] == 100
    answers = found(measure_survey(users(300), SurveyOfPaper("answers"), 0), "all jobs")
    writes = "share that writes checkpoints", ""
    assert every[writes] > answers[writes] if workload == "pooled" else every[writes] == answers[writes]


def test_checkpoint_aware() -> None:
    """It alone stops jobs, on a machine of nodes."""
    trace = users(200)
    stops = {
        policy: found(measure_checkpoints(trace, CheckpointOfPaper(policy=policy, generations=1), 0))[STOPS, ""]
        for policy in ("easy", "genetic", AWARE)
    }
    assert stops["easy"] == stops["genetic"] == 0
    assert stops[AWARE] > 0
