# SPDX-License-Identifier: BSD-3-Clause
"""The engine: what policies may not do, preemption and waking, odd jobs, and how policies are found."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from swftools import Trace
from swftools.errors import ParameterError, PolicyError, PolicyWarning
from swftools.parameters import Parameters, number
from swftools.simulator.engine import loop
from swftools.simulator.entry_points import simulate
from swftools.simulator.machine.state import FREE, KILL, RUNNING
from swftools.simulator.machine.verbs import preempt, start, wake_at
from swftools.simulator.machine.views import first_waiting, next_waiting, now, waiting_jobs, waiting_that_fit
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from swftools.simulator.registry import Policy, find_policy, list_policies, policy
from swftools.simulator.simulation import Simulation
from tests.drawn import draw_trace
from tests.every_policy import OURS, with_all_columns
from tests.examples import pairs
from tests.strategies import crowded_trace

# What a policy may not do


def starts_too_much(machine):  # type: ignore[no-untyped-def]
    """Start whoever waits."""
    for job in waiting_jobs(machine):
        start(machine, job)


def starts_twice(machine):  # type: ignore[no-untyped-def]
    """Start a job and start it again."""
    start(machine, 0)
    start(machine, 0)


def starts_before_submission(machine):  # type: ignore[no-untyped-def]
    """Start a job that comes later."""
    start(machine, 1)


def starts_nobody(machine):  # type: ignore[no-untyped-def]
    """Start the answer "nobody"."""
    start(machine, NOBODY)


def starts_a_stranger(machine):  # type: ignore[no-untyped-def]
    """Start a job beyond the last."""
    start(machine, 2)


def preempts_who_waits(machine):  # type: ignore[no-untyped-def]
    """Stop a job that does not run."""
    preempt(machine, 0, KILL)


def preempts_a_stranger(machine):  # type: ignore[no-untyped-def]
    """Stop a job beyond the last."""
    preempt(machine, 7, KILL)


def wakes_in_the_past(machine):  # type: ignore[no-untyped-def]
    """Ask to be woken now."""
    wake_at(machine, now(machine))


def wakes_at_no_time(machine):  # type: ignore[no-untyped-def]
    """Ask to be woken at NaN."""
    wake_at(machine, np.nan)


def never_starts(machine):  # type: ignore[no-untyped-def]
    """Do nothing."""


def wakes_for_ever(machine):  # type: ignore[no-untyped-def]
    """Only wait for better times."""
    wake_at(machine, now(machine) + 1.0)


def starts_and_stops(machine):  # type: ignore[no-untyped-def]
    """Never finish a decision."""
    while True:
        start(machine, 0)
        preempt(machine, 0, KILL)


def raises(machine):  # type: ignore[no-untyped-def]
    """Make a mistake of its own."""
    raise KeyError("a mistake of its own")


def turns_for_ever(machine):  # type: ignore[no-untyped-def]
    """Give every job a second, of which none ends in one."""
    if machine.counts[RUNNING] > 0:
        preempt(machine, machine.running[0], KILL)
    start(machine, 0)
    wake_at(machine, now(machine) + 1.0)


TWO_JOBS = "submit run width / 0 5 1 / 3 5 2"
FAULTS = [
    (starts_too_much, "at 3 s: started job 1 of the queue (submitted at 3 s), which needs 2 processors, with 1 free"),
    (starts_twice, "at 0 s: started job 0 of the queue (submitted at 0 s), which is not waiting"),
    (starts_before_submission, "started job 1 of the queue (submitted at 3 s), which is not waiting"),
    (starts_nobody, "named a job -1 that there is not"),
    (starts_a_stranger, "named a job 2 that there is not"),
    (preempts_who_waits, "preempted or resized job 0 of the queue (submitted at 0 s), which is not running"),
    (preempts_a_stranger, "named a job 7 that there is not"),
    (wakes_in_the_past, "asked to be woken at a time that is not to come"),
    (wakes_at_no_time, "asked to be woken at a time that is not to come"),
    (never_starts, "at 3 s: leaves 2 jobs waiting on an idle machine, job 0 of the queue (submitted at 0 s) first"),
    (wakes_for_ever, "leaves 2 jobs waiting on an idle machine"),
    (turns_for_ever, "decides on and on while no job comes or ends; 1 job waited, job 1 of the queue"),
    (starts_and_stops, "acted more often in one decision than there are processors"),
    (raises, "at 0 s: raised KeyError: 'a mistake of its own'"),
]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("decide", "message"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_faults(monkeypatch: pytest.MonkeyPatch, decide: Any, message: str, compiled: bool) -> None:
    """Each ends the simulation with words that name the policy, the time, the job and what is wrong."""
    monkeypatch.setattr(loop, "PATIENCE", 50)  # the compiled engine keeps the number that it was compiled with
    with pytest.raises(PolicyError, match=re.escape(message)) as told:
        simulate(draw_trace(TWO_JOBS), Policy("faulty", decide), 2, compiled=compiled)
    assert str(told.value).startswith("policy 'faulty', at ")


def divides_by_the_wait(machine):  # type: ignore[no-untyped-def]
    """Forget that a job that comes has not waited."""
    job = first_waiting(machine)
    while job != NOBODY:
        if 1 // int(now(machine) - machine.requests.submit_time[job]) >= 0:
            start(machine, job)
        job = next_waiting(machine, job)


@pytest.mark.parametrize(
    ("compiled", "amid"),
    [
        (False, r"; it was in line \d+ of test_loop.py, with job 1 \(submitted at 0 s\)$"),
        (True, r"; 2 jobs waited, first job 1 \(submitted at 0 s\)$"),
    ],
)
def test_a_mistake_names_time_and_job(compiled: bool, amid: str) -> None:
    """That of the line, and of compiled code the first of those that waited."""
    trace = draw_trace("submit run width / 0 5 1 / 0 5 2")
    with pytest.raises(PolicyError, match=r"^policy 'hasty', at 0 s: raised ZeroDivisionError: .*" + amid):
        simulate(trace, Policy("hasty", divides_by_the_wait), 2, compiled=compiled)


def returns_garbage(machine):  # type: ignore[no-untyped-def]
    """Answer where an action is wanted."""
    return "job 1"


def not_compilable(machine):  # type: ignore[no-untyped-def]
    """First come first served, in a Python that numba does not know."""
    for job in sorted(waiting_jobs(machine).tolist(), key=lambda job: (str(type(job)), job)):
        if machine.requests.processors[job] > machine.counts[FREE]:
            return
        start(machine, job)


def test_a_policy_that_answers() -> None:
    """A policy acts; what it returns would be lost."""
    with pytest.raises(PolicyError, match="returned 'job 1'; a policy acts by start"):
        simulate(draw_trace("submit run width / 0 5 1"), Policy("talker", returns_garbage), 2, compiled=False)


def test_a_policy_that_cannot_be_compiled() -> None:
    """It is interpreted, with a warning, to the same schedule."""
    trace = crowded_trace(60)
    with pytest.warns(PolicyWarning, match="'by-hand' is interpreted, not compiled"):
        schedule = simulate(trace, Policy("by-hand", not_compilable))
    assert simulate(trace, "fcfs").jobs["start_time"].tolist() == schedule.jobs["start_time"].tolist()


# Preemption, waking, memory, draws


def takes_turns(machine, parameters, memory):  # type: ignore[no-untyped-def]
    """Stop each job once after a while if another waits; the ones not stopped yet go first."""
    stopped = memory.stopped
    while machine.counts[RUNNING] > 0 and first_waiting(machine) != NOBODY:
        oldest = NOBODY
        for i in range(machine.counts[RUNNING]):
            job = machine.running[i]
            if not stopped[job] and machine.start_time[job] + parameters.quantum <= now(machine):
                oldest = job
        if oldest == NOBODY:
            break
        preempt(machine, oldest, KILL)
        stopped[oldest] = True
    for turn in range(2):
        job = first_waiting(machine)
        while job != NOBODY:
            if stopped[job] == turn and machine.requests.processors[job] <= machine.counts[FREE]:
                start(machine, job)
            job = next_waiting(machine, job)
    if machine.counts[RUNNING] > 0:
        wake_at(machine, now(machine) + parameters.quantum)


@dataclass(frozen=True)
class TurnsParameters(Parameters):
    """Parameters of ``takes_turns``."""

    quantum: float = number(2.0, above=0, unit="s")


class Stopped(NamedTuple):
    """Whether each job was stopped."""

    stopped: npt.NDArray[np.bool_]


def nobody_stopped(jobs: int, processors: int) -> Stopped:
    """Return the memory at the beginning."""
    return Stopped(np.zeros(jobs, np.bool_))


TURNS = Policy("turns", takes_turns, TurnsParameters, nobody_stopped)


@pytest.mark.parametrize("compiled", [True, False])
def test_preemption(compiled: bool) -> None:
    """Two jobs take turns on one processor; the work of a run that was stopped is lost."""
    schedule = simulate(draw_trace("submit run width / 0 5 1 / 1 3 1", processors=1), TURNS, compiled=compiled)
    segments = schedule.segments[["job_number", "start_time", "end_time", "ended_by"]].to_numpy().tolist()
    assert [[1, 0, 2, "killed"], [2, 2, 4, "killed"], [1, 4, 9, "completed"], [2, 9, 12, "completed"]] == segments
    assert [4.0, 9.0] == schedule.jobs["start_time"].tolist()
    assert [9.0, 12.0] == schedule.jobs["end_time"].tolist()
    assert [1, 1] == schedule.jobs["preemptions"].tolist()
    assert [5.0, 3.0] == schedule.jobs["run_time"].tolist()


def test_preemption_on_a_busy_machine() -> None:
    """Compiled as interpreted; runs never overlap beyond the machine, and the last run of each job is whole."""
    trace = crowded_trace(150)
    schedule = simulate(trace, TURNS, quantum=30)
    interpreted = simulate(trace, TURNS, quantum=30, compiled=False)
    assert schedule.segments.equals(interpreted.segments)
    segments, jobs = schedule.segments, schedule.jobs
    assert (
        int(jobs["preemptions"].sum())
        == len(segments) - len(jobs)
        == int((segments["ended_by"] == "killed").sum())
        > 20
    )
    last = segments[segments["ended_by"] == "completed"].sort_values("job_number", kind="stable")
    assert (last["end_time"] - last["start_time"]).tolist() == jobs["run_time"].tolist()
    for moment in segments["start_time"]:
        at_work = (segments["start_time"] <= moment) & (moment < segments["end_time"])
        assert segments.loc[at_work, "allocated_processors"].sum() <= 16


def changes_its_mind(machine, memory):  # type: ignore[no-untyped-def]
    """Start, stop and start a job in one decision; at the second decision stop it and start it anew."""
    job = first_waiting(machine)
    if job != NOBODY:
        start(machine, job)
        preempt(machine, job, KILL)
        start(machine, job)
        wake_at(machine, now(machine) + 2.0)
    elif machine.counts[RUNNING] > 0 and memory[0][0] == 0.0:
        memory[0][0] = 1.0
        preempt(machine, 0, KILL)
        start(machine, 0)


@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_undone_at_once_leaves_no_trace(compiled: bool) -> None:
    """A start that is taken back in the same decision is no run; a run that is stopped and begun anew is two."""
    made = Policy("fickle", changes_its_mind, memory=lambda jobs, processors: (np.zeros(1),))
    segments = simulate(draw_trace("submit run width / 1 5 1", processors=2), made, compiled=compiled).segments
    expected = [[1.0, 3.0, "killed"], [3.0, 8.0, "completed"]]
    assert expected == segments[["start_time", "end_time", "ended_by"]].to_numpy().tolist()


def draws_lots(machine, rng):  # type: ignore[no-untyped-def]
    """Start a waiting job by lot, while it fits."""
    jobs = waiting_that_fit(machine, NOBODY, ANY, ANY)
    while len(jobs) > 0:
        start(machine, jobs[int(rng.random() * len(jobs))])
        jobs = waiting_that_fit(machine, NOBODY, ANY, ANY)


def test_draws_of_policies() -> None:
    """The same draws compiled or not, others with another seed."""
    trace, made = crowded_trace(100), Policy("lots", draws_lots)
    schedules = [
        simulate(trace, made, seed=seed, compiled=compiled) for seed, compiled in ((1, True), (1, False), (2, True))
    ]
    first, again, other = (schedule.jobs["start_time"].tolist() for schedule in schedules)
    assert first == again
    assert first != other


# Odd jobs


@pytest.mark.parametrize(("name", "jobs"), pairs(OURS, [[], ["4 3 1"], ["4 0 2"], ["0 0 2", "0 0 2", "0 0 1"]], each=1))
def test_few_jobs(name: str, jobs: list[str]) -> None:
    """No job, one, and jobs of no time: each starts when it is submitted."""
    table = " / ".join(["submit run width rank", *(f"{job} 0" for job in jobs)])
    schedule = simulate(with_all_columns(draw_trace(table, processors=2)), name)
    expected = [float(job.split()[0]) for job in jobs]
    if name == "conservative-fixed" and len(jobs) == 3:
        expected[1:] = [1, 2]  # each holds its processors 1 s in the plan, and what is planned does not move
    assert expected == schedule.jobs["start_time"].tolist()
    assert len(schedule.segments) == len(jobs)


@pytest.mark.parametrize("processors", [0, -1, 2.5, True, "many", 2**31])
def test_machines_that_there_are_not(processors: Any) -> None:
    """The size is a positive whole number."""
    with pytest.raises(ParameterError, match="processors="):
        simulate(draw_trace("submit run width / 0 1 1"), "fcfs", processors)


def test_equal_submissions_are_taken_by_number() -> None:
    """And jobs of the same number as often as it occurred, whatever the order of the rows."""
    trace = draw_trace("job submit run width / 7 5 1 1 / 3 5 1 1 / 7 5 1 1 / 9 0 6 1", processors=1)
    jobs = simulate(trace, "fcfs").jobs
    assert [7, 3, 7, 9] == jobs["job_number"].tolist()
    assert [7.0, 6.0, 8.0, 0.0] == jobs["start_time"].tolist()


def test_jobs_that_cannot_be_simulated() -> None:
    """They are told apart from the schedule, with the reason, and nothing is lost."""
    trace = draw_trace(
        """
        job submit run width
        1   0      3   1
        2   .      3   1
        3   0      .   1
        4   0      3   .
        5   0      3   3
        6   1      1   2
        """,
        processors=2,
    )
    schedule = simulate(trace, "easy")
    assert [1, 6] == schedule.jobs["job_number"].tolist()
    assert [0.0, 3.0] == schedule.jobs["start_time"].tolist()
    expected = {
        2: "no submit_time",
        3: "no run_time (cancelled=drop)",
        4: "no processors, neither allocated nor requested",
        5: "wider than the machine of 2 processors",
    }
    assert expected == dict(zip(schedule.excluded["job_number"], schedule.excluded["reason"], strict=True))


@pytest.mark.parametrize(("cancelled", "ends"), [("end-at-once", 1.0), ("full-request", 7.0)])
def test_cancelled_jobs(cancelled: str, ends: float) -> None:
    """A job without run time runs a second, or as long as it asked for; if it asked for nothing it is left out."""
    trace = draw_trace("submit run width request / 0 . 2 7 / 0 3 2 3 / 0 . 2 .", processors=2)
    schedule = simulate(trace, "fcfs", cancelled=cancelled)
    assert [0.0, ends] == schedule.jobs["start_time"].tolist()[:2]
    assert (["no run_time"] if cancelled == "full-request" else []) == schedule.excluded["reason"].tolist()


# How policies are found


def test_unknown_names() -> None:
    """What there is is listed."""
    with pytest.raises(ParameterError, match=r"no policy 'esay'; there are: .*conservative.*, easy, "):
        simulate(draw_trace("submit", processors=2), "esay")
    with pytest.raises(ParameterError, match=r"easy: unknown parameters \['slack'\]; there are: backfill_"):
        simulate(draw_trace("submit", processors=2), "easy", slack=3)
    with pytest.raises(ParameterError, match=r"fcfs: unknown parameters \['slack'\]; there are none"):
        simulate(draw_trace("submit", processors=2), "fcfs", slack=3)
    with pytest.raises(ParameterError, match=r"'no\.such\.module:easy': module 'no\.such\.module' cannot"):
        find_policy("no.such.module:easy")


def test_a_name_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second policy of the name is refused; the same one, its module loaded again, is not."""
    with pytest.raises(ParameterError, match=r"policy 'easy' is registered already, by swftools\.simulator\."):
        policy("easy")(never_starts)
    before = list_policies()["fcfs"]
    monkeypatch.setitem(list_policies(), "fcfs", before)  # which is taken back after what follows
    assert before.decide == policy("fcfs")(before.decide)


def test_policies_of_a_module_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``module:name`` imports the module first."""
    source = """
from swftools.simulator import NOBODY, first_waiting, free, next_waiting, start, width
from dataclasses import dataclass
from swftools.parameters import Parameters, number
from swftools.simulator.registry import policy

@dataclass(frozen=True)
class WhoeverFits(Parameters):
    least: float = number(1.0, least=0)

@policy("whoever-fits", parameters=WhoeverFits)
def whoever_fits(machine, parameters):
    job = first_waiting(machine)
    while job != NOBODY:
        if parameters.least <= width(machine, job) <= free(machine):
            start(machine, job)
        job = next_waiting(machine, job)
"""
    (tmp_path / "policy_of_ones_own.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        trace = draw_trace("submit run width / 0 9 1 / 1 2 2 / 1 2 1", processors=2)
        schedule = simulate(trace, "policy_of_ones_own:whoever-fits")
        assert [0.0, 9.0, 1.0] == schedule.jobs["start_time"].tolist()
        assert {"least": 1.0} == {name: schedule.options[name] for name in ("least",)}
    finally:
        list_policies().pop("whoever-fits", None)
        sys.modules.pop("policy_of_ones_own", None)


@pytest.mark.parametrize("compiled", [True, False])
def test_more_jobs_wait_than_there_are_places_at_first(compiled: bool) -> None:
    """The queue grows twice, and knows who fits: each second job goes ahead of all that are wider."""
    jobs = 600
    trace = Trace.from_columns(
        machine_processors=3,
        job_number=range(1, jobs + 1),
        submit_time=np.zeros(jobs),
        run_time=np.full(jobs, 10.0),
        requested_processors=np.where(np.arange(jobs) % 2, 1, 2),
    )
    found = simulate(trace, "easy", compiled=compiled).jobs["start_time"].to_numpy()
    assert found.tolist() == np.repeat(10.0 * np.arange(jobs // 2), 2).tolist()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_copy_in_used_memory_draws_alike(compiled: bool) -> None:
    """What a policy draws goes on in each copy, also where the memory was another copy's before."""
    trace = crowded_trace(60, 8, seed=5)
    whole = simulate(trace, "test-draws", seed=3, compiled=compiled).jobs["start_time"].tolist()
    simulation = Simulation(trace, "test-draws", seed=3, compiled=compiled)
    for time in (50.0, 100.0, 200.0):
        simulation.run(until=time)
        copies = [simulation.copy() for _ in range(2)]
        for copy in copies:
            copy.run()
        assert [copy.schedule().jobs["start_time"].tolist() for copy in copies] == [whole, whole]
        del copy, copies
    assert len(set(whole)) > 20


@policy("test-draws", version=1)
def draws(machine, rng):  # type: ignore[no-untyped-def]
    """Start jobs in order while they fit, and stop now and then."""
    job = first_waiting(machine)
    while job != NOBODY and machine.requests.processors[job] <= machine.counts[FREE]:
        if rng.random() < 0.3:
            wake_at(machine, now(machine) + 5.0)
            return
        start(machine, job)
        job = first_waiting(machine)
