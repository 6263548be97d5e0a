# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Yuan et al. 2010, by hand and against their parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import swftools
from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.papers import find_paper
from pipelines.papers.yuan2010.easy_at_events import POLICIES, named
from pipelines.papers.yuan2010.errors import ANY_MOMENT, ErrorOfPaper, measure_error
from pipelines.papers.yuan2010.fairness import FairnessOfPaper, fairness_run, measure_fairness
from pipelines.papers.yuan2010.populations import (
    LOGS,
    OTHER_LOGS,
    PopulationOfPaper,
    is_other,
    kept_jobs,
    measure_population,
    short_name,
)
from pipelines.papers.yuan2010.schedules import CHECKPOINT_INTERVAL, ScheduleOfPaper, measure_schedule, prepared
from swftools.simulator import Schedule, find_policy, list_policies, measure, measure_jobs, simulate
from swftools.simulator.metrics.heads import find_heads
from swftools.simulator.questions.fairness import delays_from_submission
from swftools.trace import Trace
from tests.drawn import draw_trace

JOBS = """
job submit run width asked request user
  1    100  60         2         2     100    1
  2    110   0         1         4     100    1
  3    120   .         4         4     100    2
  4    130  20         .         4     100    2
  5    200  40         4         4      10    2
"""


def test_jobs_that_are_kept() -> None:
    """Those with a run time, also of 0 s, and allocated processors, on which they run."""
    kept = kept_jobs(draw_trace(JOBS, processors=4))
    assert kept.jobs["job_number"].tolist() == [1, 2, 5]
    assert kept.arrays.width.tolist() == [2, 1, 4]


def found(frame: pd.DataFrame, subject: str = "jobs", x: str = "") -> dict[str, float]:
    """Return the measures of a subject."""
    rows = frame[(frame["subject"] == subject) & (frame["x"] == x)]
    return dict(zip(rows["measure"], rows["value"], strict=True))


def test_table_3_by_hand() -> None:
    """Work of 120 + 0 + 160 on 4 processors, from second 0 or from second 100 to second 200."""
    told = found(measure_population(draw_trace(JOBS, processors=4), PopulationOfPaper(), 0))
    assert told == pytest.approx(
        {
            "jobs": 3,
            "mean parallelism": 7 / 3,
            "mean run time": 100 / 3,
            "load": 35.0,
            "load between submissions": 70.0,
        }
    )


def test_jobs_that_come_at_once() -> None:
    """Between submissions at one instant there is no time, so there is no load; nor of a machine of unknown size."""
    trace = draw_trace("job submit run width / 1 0 10 4 / 2 0 10 4", processors=4)
    assert not {"load", "load between submissions"} & found(measure_population(trace, PopulationOfPaper(), 0)).keys()


def test_a_log_of_which_nothing_is_kept() -> None:
    """No jobs, and nothing else."""
    trace = draw_trace("job submit run width / 1 0 . 4", processors=4)
    assert found(measure_population(trace, PopulationOfPaper(), 0)) == {"jobs": 0}
    assert found(measure_schedule(trace, ScheduleOfPaper(load=0.9), 0)) == {"jobs": 0}
    assert measure_error(trace, ErrorOfPaper(), 0).empty


def test_which_log_is_which() -> None:
    """By the names of their cards; the excerpt is none of these."""
    assert [short_name(log) for log in find_paper("yuan2010").logs] == [*LOGS, *OTHER_LOGS]
    assert [is_other(log) for log in find_paper("yuan2010").logs] == [False] * 3 + [True] * 2
    assert short_name(SHIPPED_LOG) == SHIPPED_LOG
    assert not is_other(SHIPPED_LOG)


WAITING = """
job submit run width request
  1      0  60         3     100
  2     10  30         4      30
  3     20  80         1      90
"""


def test_a_schedule_by_hand() -> None:
    """Job 3 goes ahead of job 2 at its own risk: it is killed after 40 s, and begins again when job 2 has ended."""
    told = measure_schedule(draw_trace(WAITING, processors=4), ScheduleOfPaper(), 0)
    jobs = found(told)
    assert {name: jobs[name] for name in ("jobs", "excluded jobs", "blocked jobs", "backfilled jobs")} == {
        "jobs": 3,
        "excluded jobs": 0,
        "blocked jobs": 2,
        "backfilled jobs": 0,
    }
    # Waits of 0, 50 and 70 s.
    assert jobs["MBS"] == pytest.approx((1 + 80 / 30 + 150 / 80) / 3)
    assert jobs["MWBS"] == pytest.approx((3 + 4 * 80 / 30 + 150 / 80) / 8)
    assert (jobs["preempted jobs"], jobs["mean kills"], jobs["late heads"]) == (1, 1, 0)
    assert jobs["rate"] == pytest.approx(100 / 3)
    assert jobs["mean run time waste"] == jobs["waste of all work"] == 50.0
    useful = 60 * 3 + 30 * 4 + 80
    assert jobs["total load"] == pytest.approx(100 * (useful + 40) / (4 * 170))
    assert jobs["wasted load"] == pytest.approx(100 * 40 / (4 * 170))
    assert jobs["makespan"] == pytest.approx(170 / 3600)
    big, small = found(told, "big blocked jobs"), found(told, "small blocked jobs")
    assert big == pytest.approx({"jobs": 1, "MBS": 80 / 30, "MWBS": 80 / 30})
    assert small == pytest.approx({"jobs": 1, "MBS": 150 / 80, "MWBS": 150 / 80})
    assert found(told, "blocked jobs", "8") == big
    assert found(told, "blocked jobs", "2") == small
    assert found(told, "blocked jobs", "3") == {"jobs": 0}


def test_loads_from_the_first_submission() -> None:
    """An hour later the machine has done nothing for an hour; of that only loads from second 0 tell."""
    table = draw_trace(WAITING, processors=4)
    later = table.with_jobs(table.jobs.assign(submit_time=table.jobs["submit_time"] + 3600))
    first, other = (found(measure_schedule(trace, ScheduleOfPaper(), 0)) for trace in (table, later))
    for name in ("total load", "wasted load"):
        assert other[f"{name} from the first submission"] == pytest.approx(first[name])
        assert other[name] == pytest.approx(first[name] * 170 / 3770)


LATE = """
job submit run width request user
  1      0  10         4     100    1
  2     20  90         3     100    1
  3     25  10         4     100    2
  4     40  90         1     100    1
"""


def test_delays_by_hand() -> None:
    """Of job 4 EASY expects 10 s, as of job 1: job 3 waits for it from 110 on, to 130."""
    told = measure_schedule(draw_trace(LATE, processors=4), ScheduleOfPaper("easy"), 0)
    jobs = found(told)
    assert (jobs["blocked jobs"], jobs["late heads"], jobs["late heads by later starts"]) == (1, 1, 1)
    assert jobs["mean delay"] == pytest.approx(20 / 60)
    assert jobs["longest delay by later starts"] == pytest.approx(20 / 3600)
    # At 25 s job 2 is expected to end at 30 s, which is the reservation of job 3; it ends at 110 s.
    wanted = {"jobs": 1, "mean parallelism": 4, "mean delay": 20 / 60, "mean slowdown increment": 2.0}
    assert found(told, "violated").items() >= wanted.items()
    assert found(told, "by later starts") == found(told, "violated")
    assert found(told, "clear of benign") == {"jobs": 0}
    assert found(told, "benign too")["longest delay"] == pytest.approx(100 / 3600)
    assert found(measure_schedule(draw_trace(LATE, processors=4), ScheduleOfPaper(), 0))["late heads"] == 0


@pytest.fixture(scope="module")
def shipped() -> Trace:
    """The shipped log, cleaned."""
    path = find_log(SHIPPED_LOG).path
    assert path
    trace, _ = swftools.clean(swftools.read_swf(path))
    return trace


@pytest.fixture(scope="module")
def beginning(shipped: Trace) -> Trace:
    """The first jobs of it."""
    return shipped.with_jobs(shipped.jobs.head(1200))


@pytest.mark.parametrize(
    "parameters",
    [
        ScheduleOfPaper(),
        ScheduleOfPaper("easy", "request"),
        ScheduleOfPaper("easy-at-events"),
        ScheduleOfPaper(slp=False, victims="spare-needless"),
        ScheduleOfPaper(venture=False),
        ScheduleOfPaper(preemption="suspend", restart_overhead=60.0, load=0.9),
    ],
    ids=lambda parameters: parameters.to_text(),
)
def test_a_schedule_is_what_its_parts_give(shipped: Trace, beginning: Trace, parameters: ScheduleOfPaper) -> None:
    """Each option reaches the simulator, and measures are those of the package."""
    trace = shipped if parameters.load else beginning  # the longer, the better loads are met
    jobs = kept_jobs(trace)
    if parameters.load:
        jobs = swftools.selection.scale_to_load(jobs, parameters.load)
        assert swftools.offered_load(jobs) == pytest.approx(0.9)
    schedule = simulate(
        jobs,
        named(parameters.policy),
        predictor=parameters.predictor,
        restart_overhead=parameters.restart_overhead,
        **parameters.of_policy(),
    )
    frame = measure_schedule(trace, parameters, 0)
    told = found(frame)
    table = measure(schedule, slowdown="stretched").set_index(["measure", "statistic"])["value"]
    assert told["MBS"] == table["bounded_slowdown", "mean"]
    assert told["MWBS"] == table["bounded_slowdown", "mean_by_processors"]
    assert told["preempted jobs"] == table["preemptions", "count"]
    assert told["blocked jobs"] == len(find_heads(schedule))
    heads = schedule.jobs.merge(find_heads(schedule)[["job_number", "job_occurrence"]])
    counts = [found(frame, "blocked jobs", str(part))["jobs"] for part in range(1, 9)]
    assert counts == np.histogram(heads["allocated_processors"], np.arange(9) * 144 + 0.5)[0].tolist()
    window = (0.0, float(schedule.jobs["end_time"].max()))
    whole = measure(schedule, window=window).set_index(["measure", "statistic"])["value"]
    assert told["total load"] == pytest.approx(100 * whole["utilization", "time_mean"])
    assert told["wasted load"] == pytest.approx(100 * whole["wasted_load", "value"])
    assert told["overhead load"] == pytest.approx(100 * whole["overhead_load", "value"])
    assert told["wasted load from the first submission"] == pytest.approx(100 * table["wasted_load", "value"])


def test_checkpoints_are_hourly() -> None:
    """The logs do not say; only where jobs are checkpointed at all."""
    trace = draw_trace(WAITING, processors=4)
    made = prepared(trace, ScheduleOfPaper(preemption="checkpoint"))
    assert made.jobs["checkpoint_interval"].tolist() == [CHECKPOINT_INTERVAL] * 3
    assert "checkpoint_interval" not in prepared(trace, ScheduleOfPaper(preemption="suspend")).jobs


OUTLIVED = """
job submit run width request user
  1      0  10         4     100    1
  2     20  90         3     100    1
  3     30  20         4     100    2
  4     31  50         1      50    3
"""


def starts(schedule: Schedule) -> list[float]:
    """Return when each job starts."""
    return schedule.jobs["start_time"].tolist()


def test_easy_at_events() -> None:
    """Job 2 is to end at 30 s, so job 4 waits; that it does not is seen at the next end, or at once by ``easy``."""
    trace = draw_trace(OUTLIVED, processors=4)
    often = simulate(trace, "easy", predictor="last-model")
    rarely = simulate(trace, POLICIES["easy-at-events"], predictor="last-model")
    assert (starts(often)[3], starts(rarely)[3]) == (31.0, 31.0)
    earlier = trace.with_jobs(trace.jobs.assign(submit_time=[0, 20, 25, 26]))
    often = simulate(earlier, "easy", predictor="last-model")
    rarely = simulate(earlier, POLICIES["easy-at-events"], predictor="last-model")
    assert (starts(often)[3], starts(rarely)[3]) == (30.0, 130.0)


@pytest.mark.parametrize(("ours", "policy"), [("easy-at-events", "easy"), ("sjf-at-events", "sjf-backfill")])
@pytest.mark.parametrize("predictor", ["request", "exact", "last-model"])
def test_easy_at_events_is_easy_where_nothing_is_outlived(
    shipped: Trace, ours: str, policy: str, predictor: str
) -> None:
    """Compiled, and interpreted of some jobs; otherwise it is another schedule."""
    jobs = kept_jobs(shipped)
    made, easy = (simulate(jobs, each, predictor=predictor) for each in (named(ours), find_policy(policy)))
    assert made.jobs.equals(easy.jobs) == (predictor != "last-model")
    few = jobs.with_jobs(jobs.jobs.head(300))
    compiled, interpreted = (simulate(few, named(ours), predictor=predictor, compiled=each) for each in (True, False))
    assert compiled.jobs.equals(interpreted.jobs)


def test_policies_of_the_paper_are_nobody_elses() -> None:
    """They are not among those that are registered."""
    assert not set(POLICIES) & set(list_policies())
    assert named("pv-easy") == "pv-easy"


def test_fairness_from_submission(shipped: Trace) -> None:
    """Of some jobs that waited: how many later ones delayed, and by how much; others they brought forward."""
    told = found(measure_fairness(shipped, FairnessOfPaper("easy", "request", 40), 5))
    drawn = delays_from_submission(kept_jobs(shipped), "easy", sample=40, seed=5, predictor="request")["delay"]
    assert (drawn == 0).any()
    assert told == pytest.approx(
        {
            "jobs": 40,
            "delayed from submission": 100 * (drawn > 0).mean(),
            "mean delay from submission": drawn[drawn > 0].mean() / 60,
        }
    )
    assert measure_fairness(shipped.with_jobs(shipped.jobs.head(0)), FairnessOfPaper(), 0).empty
    alone = draw_trace("job submit run width / 1 0 60 4", processors=4)
    assert found(measure_fairness(alone, FairnessOfPaper(), 0)) == {"jobs": 0}
    runs = [fairness_run("easy", "request", quick) for quick in (True, False)]
    assert [run.parameters.to_mapping()["sample"] for run in runs] == [50, 1000]


def test_errors_are_those_of_the_predictor(shipped: Trace) -> None:
    """A row a repetition and metric, each drawn by a seed of its own."""
    told = measure_error(shipped, ErrorOfPaper("pv-easy", 0.4, 2), 3)
    assert told["x"].tolist() == ["0", "0", "1", "1"]
    jobs = kept_jobs(shipped)
    for repetition, seed in enumerate((6, 7)):
        schedule = simulate(jobs, "pv-easy", predictor="virtual:error=0.4", seed=seed)
        slowdown = measure_jobs(schedule, slowdown="stretched")["bounded_slowdown"]
        width = schedule.jobs["allocated_processors"].astype(float)
        wanted = {"MBS": slowdown.mean(), "MWBS": np.average(slowdown, weights=width)}
        assert found(told, "predicted", str(repetition)) == pytest.approx(wanted)


def test_who_may_end_at_any_moment(shipped: Trace) -> None:
    """The same predictions, after which a job is expected to end at once: EASY hardly fills behind it."""
    usual, other = (
        found(measure_error(shipped, ErrorOfPaper("easy-at-events", 0.9, 1, outlived), 0), "predicted", "0")
        for outlived in ("request", ANY_MOMENT)
    )
    assert other["MWBS"] > usual["MWBS"]
    exact = [
        found(measure_error(shipped, ErrorOfPaper("pv-easy", 0.0, 1, outlived), 0), "predicted", "0")
        for outlived in ("request", ANY_MOMENT)
    ]
    assert exact[0] == pytest.approx(exact[1])
    # Behind job 2 and before job 3 is room for the last one, unless job 2 may end at any moment.
    last = "\n  4    100   1         1       1    3\n"
    trace = draw_trace(OUTLIVED.rsplit("\n", 2)[0] + last, processors=4)
    one, two = (
        measure_error(trace, ErrorOfPaper("easy-at-events", 0.5, 20, outlived), 0)
        for outlived in ("request", ANY_MOMENT)
    )
    waits = (1 + 1 + 5 + (30 + 10) / 10) / 4
    # Of twenty predictions of job 2 one is that it ends while job 4 would run, and eight that it ends before.
    assert [frame.loc[frame["measure"] == "MBS", "value"].eq(waits).sum() for frame in (one, two)] == [1, 9]
