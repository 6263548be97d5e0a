# SPDX-License-Identifier: BSD-3-Clause
"""The referee on a run of five jobs: as the rules make it, and with a start that is moved, or nodes that are others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmPartition, SlurmPriority, SlurmSite
from swftools.referee import Report, referee
from swftools.referee.followed import NOT_TOLD, followed_run, with_all_ends
from swftools.referee.forced import ForcedRun
from swftools.referee.unseen import phase_of, with_starters
from swftools.simulator.slurm.state import BACKFILL, MAIN, MECHANISMS
from swftools.trace import Trace
from tests.drawn import rows_of
from tests.machines.tables import machine

RUN = """
job submit start run limit cpus nodes by
a   0      0     20  20    4    0     SchedMain
b   0      0     30  30    4    1     SchedMain
c   1      30    20  20    8    0,1   SchedBackfill
d   2      20    9   9     2    0     SchedBackfill
e   3      50    60  60    2    0     SchedBackfill
"""
"""c waits for both nodes; d ends before c is planned to start, so it goes ahead; e would not."""


def table() -> NodeTable:
    """Return two nodes of four cores, and a Slurm that looks for backfill each 5 s, in order of submission."""
    found = machine("cpu 2 4 1000 0", "batch cpu default")
    site = SlurmSite(
        partitions=(SlurmPartition("batch"),),
        priority=SlurmPriority(is_multifactor=False),
        scheduler={"bf_interval": 5, "bf_resolution": 1},
    )
    return replace(found, slurm=site)


def log_of(text: str = RUN, **columns: Any) -> Trace:
    """Return a drawn run as a log; columns replace its own, None takes one out."""
    headings, *rows = rows_of(text)
    drawn = {name: [row[place] for row in rows] for place, name in enumerate(headings)}
    submit, start = (np.array(drawn[name], float) for name in ("submit", "start"))
    trace = Trace.from_columns(
        job_number=np.arange(1, len(rows) + 1),
        submit_time=submit,
        wait_time=start - submit,
        run_time=np.array(drawn["run"], float),
        requested_time=np.array(drawn["limit"], float),
        requested_processors=np.array(drawn["cpus"], int),
    )
    names = table().names
    nodes = [",".join(names[int(node)] for node in word.split(",")) for word in drawn["nodes"]]
    more = {"log_id": drawn["job"], "host_list": nodes, "scheduler_flags": drawn["by"], **columns}
    texts = {name: pd.array(value, "str") for name, value in more.items() if value is not None}
    return trace.with_jobs(trace.jobs.assign(**texts))


def held_against(text: str = RUN, **options: Any) -> Report:
    """Return what the referee finds of a drawn run."""
    return referee(log_of(text), table(), compiled=False, **options)


def test_a_run_as_the_rules_make_it() -> None:
    """All five starts are right, on their nodes, by their schedulers."""
    report = held_against()
    shares = ("right", "waited_right", "on_nodes", "waited_on_nodes", "by_scheduler")
    assert [report.figures[name] for name in shares] == [1.0] * 5
    assert [report.figures[name] for name in ("starts", "waited", "early", "late")] == [5, 3, 0, 0]
    assert np.isnan(report.figures["priorities"])
    assert report.differences.empty
    assert report.schedulers.to_numpy().tolist() == [["main", 2, 1.0, 1.0], ["backfill", 3, 1.0, 1.0]]


def test_a_start_that_came_later_than_the_rule_would_make_it() -> None:
    """It is early by the rule, and told with the state before it."""
    report = held_against(RUN.replace("e   3      50", "e   3      60"))
    assert (report.figures["early"], report.figures["late"], report.figures["right"]) == (1, 0, 0.8)
    (row,) = report.differences.to_dict("records")
    assert (row["job"], row["what"], row["start"]) == ("e", "early", 60.0)
    assert 50.0 < row["rule"] <= 53.0  # in second 50, in which c ends, it is not sure
    assert (row["free_nodes"], row["free_cores"], row["before"]) == (2, 8, "")


def test_a_start_within_the_tolerance_is_right() -> None:
    """A start may come a little later than the rule would make it."""
    moved = RUN.replace("e   3      50", "e   3      55")
    assert held_against(moved).figures["right"] == 1.0
    assert held_against(moved, tolerance=1.0).figures["early"] == 1


def test_a_start_that_the_rule_would_not_make() -> None:
    """E takes what c waits for, against the rule."""
    report = held_against(RUN.replace("e   3      50    60", "e   3      21    8 "))
    assert (report.figures["early"], report.figures["late"]) == (0, 1)
    (row,) = report.differences.to_dict("records")
    assert (row["job"], row["what"], row["rule_nodes"], row["before"]) == ("e", "late", "", "c")
    assert np.isnan(row["rule"])
    assert (row["free_nodes"], row["free_cores"], row["asks"]) == (0, 2, "2 CPUs on 1+ nodes")


def test_what_counts_as_waited() -> None:
    """Only what waited longer than the tolerance: d waited 18 s, c 29, e 47; nodes of these are counted apart."""
    swapped = RUN.replace("4    0     Sch", "4    9     Sch").replace("4    1     Sch", "4    0     Sch")
    swapped = swapped.replace("4    9     Sch", "4    1     Sch").replace("9     2    0", "9     2    1")
    figures = held_against(swapped).figures
    assert (figures["waited"], figures["waited_on_nodes"]) == (3, 1.0)
    assert figures["on_nodes"] < 1.0
    assert [held_against(tolerance=each).figures["waited"] for each in (17.0, 18.0, 28.0, 29.0)] == [3, 2, 2, 1]


def test_other_nodes() -> None:
    """The first two jobs are on each other's nodes; where the first has its own the rule puts the second there, too."""
    swapped = RUN.replace("4    0     Sch", "4    9     Sch").replace("4    1     Sch", "4    0     Sch")
    swapped = swapped.replace("4    9     Sch", "4    1     Sch").replace("9     2    0", "9     2    1")
    report = held_against(swapped)
    assert (report.figures["right"], report.figures["on_nodes"]) == (1.0, 0.8)
    assert report.differences[["job", "what"]].to_numpy().tolist() == [["a", "nodes"]]
    names = table().names
    assert report.differences["nodes"].tolist() == [names[1]]
    assert report.differences["rule_nodes"].tolist() == [names[0]]


def test_what_a_rule_explains() -> None:
    """Starts are missed if a rule is left out."""
    report = held_against(without=["backfill", "plans"])
    rows = {row["mechanism"]: (row["right"], row["early"], row["late"]) for row in report.without.to_dict("records")}
    assert rows["backfill"] == (0.6, 0, 2)  # d would have to wait; and c, for the pass 3 s after that at 29 s
    assert rows["plans"] == (0.8, 1, 0)  # e would go ahead of c


def test_each_rule() -> None:
    """Each mechanism is left out in turn."""
    assert held_against(without=["each"], first=0).without["mechanism"].tolist() == list(MECHANISMS[1:])


def test_other_runs_of_the_same_jobs() -> None:
    """A repeated run has the distance of its one other wait."""
    other = log_of(RUN.replace("e   3      50", "e   3      53"))
    report = referee(log_of(), table(), compiled=False, also=[other])
    found = report.repeats.set_index("measure")
    assert found.loc["distance", ["real", "least", "most"]].tolist() == [0.0, 3.0, 3.0]
    assert found.loc["mean", ["real", "median"]].tolist() == [pytest.approx(94 / 5), pytest.approx(97 / 5)]


def test_seconds_leave_open_what_came_first() -> None:
    """A ends, and f starts, in second 20: either order is possible, so f may be on either node."""
    text = """
    job submit start run limit cpus nodes by
    a   0      0     20  20    4    0     SchedMain
    f   20     20    20  20    4    {}    SchedBackfill
    """
    for node in (0, 1):
        assert referee(log_of(text.format(node)), table(), compiled=False).figures["on_nodes"] == 1.0


def test_jobs_that_gave_up_are_not_started() -> None:
    """A job without a start is no start to judge, and nobody waits for it."""
    trace = log_of()
    waits = trace.jobs["wait_time"].where(trace.jobs["log_id"] != "e")
    runs = trace.jobs["run_time"].where(trace.jobs["log_id"] != "e")
    report = referee(trace.with_jobs(trace.jobs.assign(wait_time=waits, run_time=runs)), table(), compiled=False)
    assert (report.figures["starts"], report.figures["right"]) == (4, 1.0)


def test_who_waits_and_runs_at_the_end_holds_its_place() -> None:
    """X runs on at the log's end, so w has to wait; h asks for both nodes till it gives up, so e may not go before."""
    text = """
    job submit start run limit cpus nodes by
    x   0      0     90  90    4    0     SchedMain
    y   0      0     30  30    4    1     SchedMain
    h   1      99    9   60    8    0     SchedBackfill
    e   2      40    9   90    2    1     SchedBackfill
    """
    trace = log_of(text)
    jobs = trace.jobs.assign(left_time=[np.nan, np.nan, 39.0, np.nan])
    given_up = jobs["log_id"] == "h"
    jobs["wait_time"], jobs["run_time"] = jobs["wait_time"].mask(given_up), jobs["run_time"].mask(given_up)
    jobs["run_time"] = jobs["run_time"].mask(jobs["log_id"] == "x")
    read = trace.with_jobs(jobs)
    found = referee(read, table(), compiled=False)
    assert (found.figures["starts"], found.figures["right"], found.told) == (3, 1.0, ())
    plain = referee(trace.with_jobs(jobs.drop(columns="left_time")), table(), compiled=False)
    assert (plain.figures["early"], len(plain.told)) == (1, 1)  # without h e would start when y ends


def test_tasks_that_wait_for_others_of_their_array_are_as_old_as_these() -> None:
    """Their own time is when the last of those made room; with another reason it counts."""
    trace = log_of()
    for reason, expected in [("JobArrayTaskLimit", [0, 0, 0, 2, 3]), ("Resources", [0, 0, 25, 2, 3])]:
        jobs = trace.jobs.assign(
            submit_time=[0, 0, 0, 2, 3],
            wait_time=[0, 0, 30, 18, 47],
            eligible_time=[0.0, 0.0, 25.0, 2.0, 3.0],
            log_id=pd.array(["7_1", "8", "7_2", "9", "10"], "str"),
            wait_reason=pd.array([None, None, reason, None, None], "str"),
        )
        assert followed_run(trace.with_jobs(jobs), table()).eligible_time.tolist() == expected


def test_a_job_of_the_same_second_may_have_come_behind_a_pass() -> None:
    """N goes before f, as it is larger. In the second in which it comes f starts on the node that n would have."""
    text = """
    job submit start run limit cpus nodes by
    f   0      5     20  20    3    0     SchedBackfill
    n   5      10    20  20    4    1     SchedBackfill
    """
    site = table().slurm
    assert site is not None
    larger_first = replace(site, priority=SlurmPriority(job_size=1000.0))
    figures = referee(log_of(text), replace(table(), slurm=larger_first), compiled=False).figures
    assert (figures["right"], figures["on_nodes"]) == (1.0, 1.0)


CYCLES = """
job submit start run limit cpus nodes by
a   0      0     60  60    4    0     SchedMain
b   0      0     {}  60    4    1     SchedMain
c   1      60    20  20    8    0,1   SchedBackfill
d   2      {}    9   9     2    1     SchedBackfill
"""
"""c lets nobody behind it start by the main scheduler."""


def test_no_cycle_is_tried_shortly_before_one_that_the_log_shows() -> None:
    """Cycles are at least 5 s apart, and the log shows one at 13 s: so there was none at 10, after b's end."""
    assert referee(log_of(CYCLES.format(9, 13)), table(), compiled=False, tolerance=2.0).figures["early"] == 0


def test_a_start_is_early_only_if_it_is_so_in_each_order() -> None:
    """The cycle at 10 s may have been before b ended in that second; but at 9 s b had ended for sure."""
    for end, early in [(10, 0), (9, 1)]:
        report = referee(log_of(CYCLES.format(end, 15)), table(), compiled=False, tolerance=4.0)
        assert report.figures["early"] == early


def test_jobs_that_run_at_the_end_do_so_until_then() -> None:
    """Their runs end behind all that the log tells."""
    trace = log_of()
    jobs = trace.jobs.assign(run_time=trace.jobs["run_time"].mask(trace.jobs["log_id"] == "a"))
    assert with_all_ends(trace.with_jobs(jobs)).jobs["run_time"].tolist() == [111.0, 30.0, 20.0, 9.0, 60.0]
    assert with_all_ends(trace) is trace


def test_jobs_that_start_together_are_put_where_each_fits() -> None:
    """P asks for four CPUs on one or two nodes and q for three of node 0: p has one there, whoever comes first."""
    text = """
    job submit start run limit cpus nodes by
    p   0      0     20  20    5    0,1   SchedMain
    q   0      0     20  20    3    0     SchedMain
    r   1      3     10  10    1    1     SchedBackfill
    """
    run = ForcedRun(log_of(text), table(), followed_run(log_of(text), table()), compiled=False).run(until=0.0)
    given, state = run.memory
    held = [
        dict(zip(state.held_node[first:behind].tolist(), state.held_cores[first:behind].tolist(), strict=True))
        for first, behind in [(given.first_held[job], given.first_held[job] + state.held_count[job]) for job in (0, 1)]
    ]
    assert held == [{0: 1, 1: 4}, {0: 3}]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"host_list": None}, "the log does not say on which nodes jobs ran"),
        ({"host_list": ["x1"] * 5}, "the log names nodes that the machine has not: x1"),
    ],
)
def test_logs_without_nodes(columns: dict[str, Any], said: str) -> None:
    """Nodes must be told, and be those of the machine."""
    with pytest.raises(ParameterError, match=said):
        referee(log_of(**columns), table(), compiled=False)


def test_a_log_without_starts() -> None:
    """A log of submissions is no real run."""
    trace = log_of()
    with pytest.raises(ParameterError, match="says of no job when it started"):
        referee(trace.with_jobs(trace.jobs.assign(wait_time=np.nan)), table(), compiled=False)


def test_a_machine_without_slurm() -> None:
    """The machine must say how Slurm is configured."""
    with pytest.raises(ParameterError, match=r"from slurm\.conf"):
        referee(log_of(), replace(table(), slurm=None), compiled=False)


def test_a_rule_that_there_is_not() -> None:
    """The names of mechanisms are told."""
    with pytest.raises(ParameterError, match="no mechanism 'luck'; those that can be left out: multifactor"):
        held_against(without=["luck"])


OVER = """
job submit start run limit cpus nodes by
a   0      0     60  20    4    0     SchedMain
b   1      60    20  20    8    0,1   SchedMain
c   30     80    15  15    2    1     SchedMain
"""
"""a is 40 s beyond its limit: each second it is thought to end in the next one, with b to start then, so c waits."""


@pytest.mark.usefixtures("interpreted_by_day")
def test_a_job_beyond_its_limit() -> None:
    """Its limit is what it was, however long it ran."""
    assert referee(log_of(OVER), table(), first=0, compiled=False).figures["right"] == 1.0


def test_lives_of_a_job() -> None:
    """A job that was requeued is there twice, by one id; jobs without one are themselves."""
    trace = log_of()
    trace = trace.with_jobs(trace.jobs.assign(log_id=pd.array(["7", None, "8", "7", None], "str")))
    assert followed_run(trace, table()).logged.first_life.tolist() == [0, 1, 2, 0, 4]
    assert followed_run(log_of(), table()).logged.first_life.tolist() == [0, 1, 2, 3, 4]


def test_who_started_a_job_is_seen_where_the_log_does_not_tell() -> None:
    """As the rules would: c by the pass when b ends, e by nobody, as they would not let it."""
    untold = log_of(RUN.replace("e   3      50    60", "e   3      21    8 "), scheduler_flags=None)
    run = followed_run(untold, table())
    seen = with_starters(untold, table(), run, 5.0, {"compiled": False})
    assert run.logged.by.tolist() == [NOT_TOLD] * 5
    assert seen.logged.by.tolist() == [MAIN, MAIN, MAIN, BACKFILL, NOT_TOLD]


def test_who_is_told_stays_so() -> None:
    """What the log tells is kept, also where the rules would have it otherwise."""
    told = log_of(RUN.replace("0     SchedMain", "0     -").replace("SchedBackfill", "SchedMain"))
    seen = with_starters(told, table(), followed_run(told, table()), 5.0, {"compiled": False})
    assert seen.logged.by.tolist() == [MAIN] * 5  # the rules have d by backfill


def test_cycles_are_known_by_who_started_jobs() -> None:
    """C could start from 46 s on, and does with the cycle at 75 s: so there was none at 60 s, 60 being twice 30."""
    text = """
    job submit start run limit cpus nodes by
    a   0      0     46  60    4    0     SchedMain
    b   0      0     200 200   4    1     SchedMain
    h   1      200   20  20    8    0,1   SchedMain
    c   2      75    20  20    4    0     SchedBackfill
    """
    slow = table()
    assert slow.slurm is not None
    slow = replace(slow, slurm=replace(slow.slurm, scheduler={"bf_interval": 30, "bf_resolution": 1}))
    untold = log_of(text, scheduler_flags=None)
    alone = ForcedRun(untold, slow, followed_run(untold, slow), compiled=False).run().decisions()
    assert alone.time[3] <= 61.0
    report = referee(untold, slow, compiled=False)
    assert report.figures["right"] == 1.0
    assert np.isnan(report.figures["by_scheduler"])
    assert report.schedulers["scheduler"].tolist() == ["not told"]


def test_when_priorities_are_computed_is_seen_by_the_starts() -> None:
    """Without priorities in the log: x is before y, which has 30 more, if ages are computed between 19 and 40 s."""
    text = """
    job submit start run limit cpus nodes by
    a   0      0     40  40    8    0,1   SchedMain
    x   1      40    40  40    8    0,1   SchedMain
    y   21     80    9   9     8    0,1   SchedMain
    """
    aged = table()
    assert aged.slurm is not None
    priority = SlurmPriority(age=1000, max_age=600.0, calc_period=60.0)
    aged = replace(aged, slurm=replace(aged.slurm, priority=priority))
    lines = [f"sbatch -n 8 --nice={nice} job.sh" for nice in (0, 0, -30)]
    log = log_of(text, submit_line=lines)
    report = referee(log, aged, compiled=False)
    assert report.figures["right"] == 1.0
    assert 19 < round(report.phase * 13 % 1 * 60) <= 40
    first = ForcedRun(log, aged, followed_run(log, aged), compiled=False).run().decisions()
    assert not first.last[1] >= 40.0  # phase 0 has it behind y
    told = log_of(text, submit_line=lines)
    told = told.with_jobs(told.jobs.assign(priority=[1.0, 1.0, 31.0]))  # as of second 0 and no later
    at = phase_of(told, aged, followed_run(told, aged), 5.0, False, lambda *_: None)
    assert at == 0.0
