# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are taken out of a simulation: the others go on as if they vanished at that instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import Policy, Simulation, list_policies, simulate, validate
from swftools.simulator.machine.verbs import hold, start, wake_at
from swftools.simulator.machine.views import first_waiting, fits, next_waiting, now
from swftools.simulator.machine.waiting_queue import NOBODY
from tests.drawn import draw_trace
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day, examples
from tests.naive.simulator import TWINS, State
from tests.simulator.restless import RESTLESS
from tests.simulator.test_work_twin import PROCESSORS, with_work
from tests.simulator.twin import naive_runs, naive_starts_of
from tests.strategies import crowded_trace, workloads


def starts_of(simulation: Simulation) -> dict[int, float]:
    """Return the starts of the jobs that ended, by number."""
    jobs = simulation.schedule().jobs
    return dict(zip(jobs["job_number"].tolist(), jobs["start_time"].tolist(), strict=True))


def only(trace: Trace, *numbers: int) -> pd.DataFrame:
    """Return the keys of some jobs."""
    return pd.DataFrame({"job_number": list(numbers)})


# ---------------------------------------------------------------- by hand; a machine of four processors

QUEUE = draw_trace(
    """
    job submit run width request
    A   0      9   3     9
    B   1      5   4     5
    C   2      9   1     9
    D   6      2   2     2
    """,
    processors=4,
)
"""Under EASY C, which would delay B, waits; all after A."""


def test_who_waits_leaves_the_queue(compiled: bool) -> None:
    """Without B nothing keeps C, which starts at that instant."""
    simulation = Simulation(QUEUE, "easy", compiled=compiled).run(until=3)
    assert simulation.now == 2.0
    simulation.without(only(QUEUE, 2))
    assert simulation.now == 2.0
    assert simulation.running["job_number"].tolist() == [1, 3]
    assert len(simulation.waiting) == 0
    assert starts_of(simulation.run()) == {1: 0.0, 3: 2.0, 4: 9.0}
    schedule = simulation.schedule()
    assert schedule.excluded.values.tolist() == [[2, 0, "taken out at 2 s"]]
    assert schedule.is_partial
    assert simulation.is_over


def test_who_runs_frees_its_processors(compiled: bool) -> None:
    """Without A B starts at 2; A's run is not in the schedule."""
    simulation = Simulation(QUEUE, "easy", compiled=compiled).run(until=3).without(only(QUEUE, 1))
    assert simulation.running["job_number"].tolist() == [2]
    assert starts_of(simulation.run()) == {2: 2.0, 3: 7.0, 4: 7.0}
    schedule = simulation.schedule()
    assert schedule.segments["job_number"].tolist() == [2, 3, 4]
    assert schedule.excluded["reason"].tolist() == ["taken out at 2 s"]
    assert validate(schedule).ok


def test_who_is_to_come_never_does(compiled: bool) -> None:
    """D does not come; nothing is decided, for nothing changed, and the schedule is whole."""
    simulation = Simulation(QUEUE, "easy", compiled=compiled).run(until=3).without(only(QUEUE, 4)).run()
    assert starts_of(simulation) == {1: 0.0, 2: 9.0, 3: 14.0}
    assert simulation.schedule().excluded["reason"].tolist() == ["taken out at 2 s"]
    assert not simulation.schedule().is_partial
    before = Simulation(QUEUE, "easy", compiled=compiled).without(only(QUEUE, 1, 4)).run()
    assert starts_of(before) == {2: 1.0, 3: 6.0}
    assert before.schedule().excluded["reason"].tolist() == ["taken out before the first event"] * 2


def test_who_has_ended_stays(compiled: bool) -> None:
    """A ended at 9; to take it out is to take nobody out, also again."""
    simulation = Simulation(QUEUE, "easy", compiled=compiled).run(until=10).without(only(QUEUE, 1))
    assert starts_of(simulation.without(only(QUEUE, 1)).run()) == starts_of(Simulation(QUEUE, "easy").run())
    assert not simulation.schedule().is_partial
    assert len(simulation.schedule().excluded) == 0


def test_who_is_held_back_does_not_return() -> None:
    """B is held until 5, and taken out at 2; A, held until 4, starts then."""

    def holding(machine: Any) -> None:
        if now(machine) == 0.0:
            job = first_waiting(machine)
            hold(machine, job, 4.0)
            hold(machine, first_waiting(machine), 5.0)
            wake_at(machine, 2.0)
        job = first_waiting(machine)
        while job != NOBODY and fits(machine, job):
            start(machine, job)
            job = next_waiting(machine, job)

    trace = draw_trace("job submit run width request / A 0 2 2 2 / B 0 2 2 2 / C 1 1 1 1", processors=4)
    simulation = Simulation(trace, Policy("holding", holding), compiled=False).run(until=2)
    simulation.without(only(trace, 2)).run(until=5)
    assert simulation.now == 4.0
    assert simulation.running["job_number"].tolist() == [1]
    assert starts_of(simulation.run()) == {1: 4.0, 3: 1.0}


def test_a_wake_up_is_not_forgotten() -> None:
    """The policy asked at 0 to be woken at 7, and starts everybody then; to decide at 1 once more changes nothing."""

    def sleeping(machine: Any) -> None:
        if now(machine) == 0.0:
            wake_at(machine, 7.0)
        job = first_waiting(machine)
        while now(machine) >= 7.0 and fits(machine, job):
            start(machine, job)
            job = next_waiting(machine, job)

    trace = draw_trace("job submit run width request / A 0 2 2 2 / B 1 2 2 2 / C 1 1 1 1", processors=4)
    simulation = Simulation(trace, Policy("sleeping", sleeping), compiled=False).run(until=1)
    assert starts_of(simulation.without(only(trace, 2)).run()) == {1: 7.0, 3: 7.0}


def test_nothing_happens_where_a_run_would_have_ended() -> None:
    """A, which would end at 9, is taken out at 1, at which is decided once more; then nothing happens until 21."""
    instants = []

    def watching(machine: Any) -> None:
        instants.append(now(machine))
        job = first_waiting(machine)
        while fits(machine, job):
            start(machine, job)
            job = next_waiting(machine, job)

    trace = draw_trace("job submit run width request / A 0 9 2 9 / B 1 20 2 20", processors=4)
    Simulation(trace, Policy("watching", watching), compiled=False).run(until=5).without(only(trace, 1)).run()
    assert instants == [0.0, 1.0, 1.0, 21.0]


def test_the_last_jobs_may_go() -> None:
    """Then it is over; the schedule has whoever ended."""
    simulation = Simulation(QUEUE, "easy").run(until=10)
    simulation.without(np.array([True, True, True, True]))
    assert simulation.is_over
    assert starts_of(simulation.run()) == {1: 0.0}
    everybody = Simulation(QUEUE, "easy").without([True] * 4)
    assert len(everybody.run().schedule()) == 0


def test_a_later_job_overtook_nobody_that_was_gone() -> None:
    """C overtakes B while it waits; D, which starts when B is gone, does not."""
    trace = draw_trace("job submit run width request / A 0 9 3 9 / B 1 5 4 5 / C 2 2 1 2 / D 5 2 1 2", processors=4)
    simulation = Simulation(trace, "easy").run(until=4).without(only(trace, 2)).run()
    assert simulation.schedule().jobs["is_backfilled"].tolist() == [False, True, False]
    assert validate(simulation.schedule()).ok


def test_twice_and_after_later_jobs_were_sent_away() -> None:
    """Each call takes out what is there then."""
    simulation = Simulation(QUEUE, "easy").without(only(QUEUE, 4)).run(until=3).without(only(QUEUE, 2)).run()
    assert starts_of(simulation) == {1: 0.0, 3: 2.0}
    assert simulation.schedule().excluded["reason"].tolist() == ["taken out at 2 s", "taken out before the first event"]
    fewer = Simulation(QUEUE, "easy").run(until=1).without_later_jobs().without(only(QUEUE, 1, 3)).run()
    assert starts_of(fewer) == {2: 1.0}
    assert fewer.schedule().excluded["reason"].tolist() == ["taken out at 1 s", *["not ended by 6 s"] * 2]


# ---------------------------------------------------------------- every policy


@pytest.mark.parametrize("name", by_day([*OURS, "restless"], 8))
@examples(0.1)
@given(trace=workloads(), data=st.data(), predictor=st.sampled_from(["request", "exact", "last-model"]))
def test_before_the_first_event_it_is_another_trace(
    name: str, trace: Trace, data: st.DataObject, predictor: str
) -> None:
    """Whoever is to come and does not might as well not be in the trace; virtual would draw otherwise for that one."""
    policy, trace = RESTLESS if name == "restless" else light(name), with_all_columns(trace)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(trace), max_size=len(trace)))
    fewer = Simulation(trace, policy, predictor=predictor).without(chosen).run().schedule()
    kept = trace.with_jobs(trace.jobs[~np.array(chosen, np.bool_)].reset_index(drop=True))
    expected = simulate(kept, policy, predictor=predictor)
    columns = ["job_number", "start_time", "end_time", "is_backfilled", "estimated_time"]
    assert fewer.jobs[columns].values.tolist() == expected.jobs[columns].values.tolist()


@pytest.mark.parametrize("name", by_day(["restless", *OURS[::-1]], 8))
def test_of_half_of_those_to_come_it_is_another_trace(name: str) -> None:
    """The same with more jobs, their overheads, checkpoints and curves."""
    policy = RESTLESS if name == "restless" else light(name)
    trace = with_all_columns(with_work(crowded_trace(60, PROCESSORS, seed=7), np.random.default_rng(8)))
    options: dict[str, Any] = {"overrun": "run-on", "predictor": "last-model"}
    options |= {"restart_overhead": "column:name=going_on", **({"acts": 400} if name == "restless" else {})}
    chosen = np.random.default_rng(9).random(60) < 0.5
    fewer = Simulation(trace, policy, **options).without(chosen).run().schedule()
    expected = simulate(trace.with_jobs(trace.jobs[~chosen].reset_index(drop=True)), policy, **options)
    assert (
        name != "restless"
        or expected.segments["overhead"].gt(0).groupby(expected.segments["job_number"]).any().sum() > 3
    )
    assert fewer.segments.equals(expected.segments)
    assert fewer.jobs.drop(columns="line_number").equals(expected.jobs.drop(columns="line_number"))
    assert not fewer.is_partial


@pytest.mark.parametrize("seeds", [[0], pytest.param([1], marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "parameters", "twin"), by_day(TWINS, 12))
def test_in_the_midst_it_is_the_twin(name: str, parameters: dict[str, Any], twin: Any, seeds: list[int]) -> None:
    """A slow simulator out of which jobs are taken that wait and run, and whose policy decides once more then."""
    for seed in seeds:
        trace = crowded_trace(40, 16, seed=seed)
        # Of at least 1 s, so that there is one decision at each instant.
        trace = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["run_time"].clip(lower=1.0)))
        chosen = np.random.default_rng(seed).random(40) < 0.4
        found = []
        for compiled in (True, False):
            simulation = Simulation(trace, name, predictor="last-model", compiled=compiled, **parameters)
            simulation.run(until=float(trace.jobs["submit_time"].iloc[25]))
            then = simulation.now
            there = pd.concat([simulation.waiting, simulation.running])["job_number"]
            chosen &= trace.jobs["job_number"].isin(there).to_numpy()
            assert 0 < chosen.sum() < len(there)
            found.append(starts_of(simulation.without(chosen).run()))

        def decide(state: State, then: float = then, chosen: Any = chosen, order: list[Any] = []) -> None:  # noqa: B006
            order.extend(job for job in state.submitted if job not in order)
            twin(state)
            if state.now != then:
                return
            for number, job in enumerate(order):
                if chosen[number] and job in state.waiting:
                    state.waiting.remove(job)
                elif chosen[number] and job in state.running:
                    state.running.remove(job)
                    state.started = [other for other in state.started if other is not job]
                    job.present = None
            state.disturbed = True
            twin(state)

        work, jobs, _ = naive_runs(trace, decide, predictor="last-model")
        for number in np.flatnonzero(chosen):
            assert not jobs[number].runs or jobs[number].runs[-1].end > then
            jobs[number].runs = jobs[number].runs or [Gone()]
        expected = dict(zip(trace.jobs["job_number"], naive_starts_of(work, jobs), strict=True))
        assert found == [{job: expected[job] for job in trace.jobs["job_number"][~chosen]}] * 2


class Gone:
    """Stands for a run where there is none."""

    start, before = np.nan, 0.0


@pytest.mark.parametrize(
    ("name", "semantics"),
    by_day(
        [
            *((name, "instant") for name in [*OURS, "restless"]),
            *((name, other) for name in OURS for other in list_policies()[name].restates),
        ],
        12,
    ),
)
def test_the_others_go_on(name: str, semantics: str) -> None:
    """At any time, under every policy: the others end, nothing is overloaded, the original goes on as it was."""
    policy = RESTLESS if name == "restless" else light(name)
    rng = np.random.default_rng(3)
    trace = with_all_columns(crowded_trace(60, 16, seed=11))
    predictor = {"instant": "last-model", "raps": "request"}.get(semantics, "exact")
    options = {"predictor": predictor, "semantics": semantics}
    whole = simulate(trace, policy, **options)
    simulation = Simulation(trace, policy, **options)
    for until in np.quantile(whole.jobs["start_time"], [0.3, 0.7]):
        simulation.run(until=until)
        chosen = rng.random(60) < 0.5
        other = simulation.copy().without(chosen)
        ended = set(simulation.schedule().jobs["job_number"])
        schedule = other.run().schedule()
        out = set(trace.jobs["job_number"][chosen]) - ended
        there = set(whole.jobs["job_number"])
        assert set(schedule.jobs["job_number"]) == there - out
        assert set(schedule.segments["job_number"]) == there - out
        assert set(schedule.excluded["job_number"]) == set(trace.jobs["job_number"]) - (there - out)
        assert other._machine.counts[:2].tolist() == [16, 16]  # all processors are free again
    assert simulation.run().schedule().segments.equals(whole.segments)


@pytest.mark.parametrize("name", by_day(["restless", *OURS], 12))
def test_nobody_is_taken_out_of_nobody(name: str) -> None:
    """To take out nobody is to do nothing, not even to decide."""
    policy = RESTLESS if name == "restless" else light(name)
    trace = with_all_columns(crowded_trace(60, 16, seed=12))
    simulation = Simulation(trace, policy)
    for until in (100.0, 500.0, 2000.0):
        simulation.run(until=until).without(np.zeros(60, np.bool_))
    assert simulation.run().schedule().segments.equals(simulate(trace, policy).segments)


@pytest.mark.parametrize("name", by_day(OURS, 7))
def test_compiled_as_interpreted(name: str) -> None:
    """The same jobs vanish, and the same follows."""
    trace = with_all_columns(crowded_trace(30, 16, seed=13))
    one, other = (Simulation(trace, light(name), predictor="last-model", compiled=way) for way in (True, False))
    for simulation in (one, other):
        for until in (200.0, 700.0, 1100.0):
            simulation.run(until=until)
            simulation.without(simulation.running.iloc[::2]).without(simulation.waiting.iloc[1::3])
        simulation.run()
    assert one.schedule().segments.equals(other.schedule().segments)
    assert one.schedule().excluded.equals(other.schedule().excluded)


def test_a_predictor_in_python_does_not_learn_of_them() -> None:
    """It is asked about those who come, and told of those who end."""

    class Listening:
        name = "listening"

        def __init__(self) -> None:
            self.asked: list[int] = []
            self.ended: list[int] = []

        def learn(self, ended: list[dict[str, Any]]) -> None:
            self.ended += [job["job_number"] for job in ended]

        def predict(self, job: dict[str, Any], now: float) -> float:
            self.asked.append(job["job_number"])
            return float(job["requested_time"])

    trace = crowded_trace(60, 16, seed=14)
    simulation = Simulation(trace, "easy", predictor=Listening()).run(until=700.0)
    there = simulation.running["job_number"].tolist()
    coming = trace.jobs["job_number"][trace.jobs["submit_time"] > 700.0].tolist()[::2]
    out = [*there[::2], *coming]
    simulation.without(pd.DataFrame({"job_number": out})).run()
    predictor: Any = simulation.predictor
    assert len(there) > 1
    assert set(predictor.asked) == set(range(1, 61)) - set(coming)
    assert not set(predictor.ended) & set(out)
    assert len(predictor.ended) > 20


# ---------------------------------------------------------------- whom


def test_keys_and_masks() -> None:
    """Frames, masks of any kind, and repeated numbers."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[5, 5, 7],
        submit_time=[0, 0, 0],
        run_time=[1, 2, 3],
        requested_processors=[1] * 3,
    )

    def left(jobs: Any) -> list[float]:
        return simulate_without(trace, jobs)

    assert left(pd.DataFrame({"job_number": [5], "job_occurrence": [1]})) == [1.0, 3.0]
    assert left(pd.DataFrame({"job_number": [7]})) == [1.0, 2.0]
    assert left(pd.DataFrame({"job_number": []})) == [1.0, 2.0, 3.0]
    assert left([False, True, True]) == [1.0]
    assert left(trace.jobs["job_number"] == 5) == [3.0]
    with pytest.raises(ParameterError, match="job 5 is there more than once; give job_occurrence too"):
        left(pd.DataFrame({"job_number": [5]}))
    with pytest.raises(ParameterError, match="job 9, occurrence 0, is not among the jobs"):
        left(pd.DataFrame({"job_number": [9]}))
    with pytest.raises(ParameterError, match="jobs without a column job_number"):
        left(pd.DataFrame({"number": [9]}))
    with pytest.raises(ParameterError, match="the mask gives 2 values of bool; give a truth value for each of 3 jobs"):
        left([True, False])
    with pytest.raises(ParameterError, match="the mask gives 3 values of int64"):
        left([5, 5, 7])


def simulate_without(trace: Trace, jobs: Any) -> list[float]:
    """Return the ends of those that are left."""
    return sorted(Simulation(trace, "fcfs").without(jobs).run().schedule().jobs["end_time"].tolist())
