# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of real searches: they agree with the schedule, wherever the simulation is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.simulator.entry_points import simulate
from swftools.simulator.placement import on_processors
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.decision import KEYS, explain_decision
from swftools.simulator.simulation import Simulation
from swftools.trace import Trace

PROCESSORS = 16

SEARCH = {"nodes": 60, "explain": True}


def busy_trace(jobs: int = 40, seed: int = 0) -> Trace:
    """Return a trace under high load; every job number stands twice, and estimates are too high or too low."""
    draws = np.random.default_rng(seed)
    run_time = draws.integers(1, 400, jobs) * (draws.random(jobs) > 0.15)  # some end as they start
    return Trace.from_columns(
        machine_processors=PROCESSORS,
        job_number=np.arange(jobs) // 2 + 1,
        submit_time=np.sort(draws.integers(0, 25 * jobs, jobs)),
        run_time=run_time,
        requested_time=run_time + draws.integers(0, 300, jobs),
        requested_processors=np.where(draws.random(jobs) < 0.2, PROCESSORS, draws.integers(1, 8, jobs)),
    )


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    """A trace under search, with predictions that are outlived."""
    return simulate(busy_trace(), "search", predictor="virtual:error=0.5", seed=3, **SEARCH)


def test_notes_have_the_keys_of_jobs(schedule: Schedule) -> None:
    """Jobs of equal number are told apart, in notes as in the schedule."""
    orders = schedule.notes["orders"]
    last = orders.drop_duplicates(KEYS, keep="last")[KEYS]
    assert sorted(map(tuple, last.to_numpy())) == sorted(map(tuple, schedule.jobs[KEYS].to_numpy()))


def test_an_explanation_agrees_with_the_schedule(schedule: Schedule) -> None:
    """Of each decision: who started did so then, as planned; who waited waits on; who ran has room beside them."""
    decisions = schedule.notes["decisions"]
    starts = schedule.jobs.set_index(KEYS)["start_time"]
    last = schedule.notes["orders"].groupby(KEYS)["decision"].max()
    assert (decisions["time"].diff() == 0).sum() > 2
    moved = 0
    for decision in decisions.itertuples():
        found = explain_decision(schedule, decision=decision.decision)
        assert (found.decision, found.time) == (decision.decision, decision.time)
        jobs, running = found.jobs, found.running
        begun = starts.reindex(pd.MultiIndex.from_frame(jobs[KEYS])).to_numpy()
        is_last = last[pd.MultiIndex.from_frame(jobs[KEYS])].to_numpy() == decision.decision
        assert jobs["is_started"].tolist() == is_last.tolist()
        assert (begun[is_last] == decision.time).all()
        assert (begun >= decision.time).all()
        assert jobs["is_started"].sum() == decision.started
        assert (jobs["planned_start"][jobs["is_started"]] == decision.time).all()
        assert sorted(jobs["heuristic_place"]) == jobs["chosen_place"].tolist() == list(range(decision.waiting))
        assert (jobs["waited"] == decision.time - jobs["submit_time"]).all()
        assert running["processors"].sum() + jobs["processors"][jobs["is_started"]].sum() <= PROCESSORS
        assert found.improvements.iloc[0].tolist()[2:] == pytest.approx(found.measures["heuristic"].tolist())
        assert found.improvements.iloc[-1].tolist()[2:] == pytest.approx(found.measures["chosen"].tolist())
        assert len(found.improvements) == decision.improvements + 1
        assert max(map(len, str(found).splitlines())) <= 80
        moved += (np.diff(jobs["heuristic_place"]) < 0).any()
    assert moved > 10


def test_plans_are_as_drawn(schedule: Schedule) -> None:
    """With ends from estimates neither plan ever has more processors than there are, and none begins early."""
    for time in schedule.notes["decisions"]["time"].iloc[::2]:
        found = explain_decision(schedule, time)
        held = found.running[found.running["expected_end"] > time]
        for name in ("planned_start", "heuristic_planned_start"):
            starts = np.concatenate([np.full(len(held), time), found.jobs[name].to_numpy(dtype=float)])
            times = found.jobs["estimated_time"].replace(0.0, 1.0).to_numpy(dtype=float)
            ends = np.concatenate([held["expected_end"].to_numpy(dtype=float), starts[len(held) :] + times])
            widths = np.concatenate([held["processors"], found.jobs["processors"]]).astype(np.int64)
            pieces = [piece for _, job in on_processors(starts, ends, widths, PROCESSORS) for piece in job]
            assert max(high for _, high in pieces) <= PROCESSORS
            assert (starts >= time).all()


def test_who_runs_is_expected_to_end_as_the_simulation_says(schedule: Schedule) -> None:
    """Also of those that outlived what was predicted, of which there are some."""
    simulation = Simulation(busy_trace(), "search", predictor="virtual:error=0.5", seed=3, **SEARCH)
    outlived = 0
    for time in schedule.notes["decisions"]["time"].iloc[::4]:
        now = simulation.run(until=time).running
        by = ["start_time", "job_number", "expected_end"]
        now = now[now["start_time"] < time].sort_values(by)
        ours = explain_decision(schedule, time).running.sort_values(by)
        ours = ours[ours["start_time"] < time]  # of several decisions at this instant the last one is told of
        assert ours["job_number"].tolist() == now["job_number"].tolist()
        assert ours["expected_end"].tolist() == now["expected_end"].tolist()
        told = ours.merge(schedule.jobs, on=KEYS)
        outlived += (told["expected_end"] > told["start_time_x"] + told["estimated_time"]).sum()
    assert outlived > 0


@pytest.mark.parametrize("until", [300.0, 800.0, 1e9])
def test_a_simulation_explains_as_its_schedule_does(schedule: Schedule, until: float) -> None:
    """Stopped anywhere, a simulation tells of the decisions so far what the whole schedule does."""
    simulation = Simulation(busy_trace(), "search", predictor="virtual:error=0.5", seed=3, **SEARCH).run(until)
    decisions = schedule.notes["decisions"]
    times = decisions["time"][decisions["time"] <= until]
    last = times.max()
    for time in (last, times.iloc[len(times) // 2], None):
        ours, theirs = explain_decision(simulation, time), explain_decision(schedule, last if time is None else time)
        assert str(ours) == str(theirs)
        pd.testing.assert_frame_equal(ours.jobs, theirs.jobs, check_dtype=False)
        by = [*KEYS, "start_time"]
        pd.testing.assert_frame_equal(
            ours.running.sort_values(by, ignore_index=True),
            theirs.running.sort_values(by, ignore_index=True),
            check_dtype=False,
        )


def test_a_partial_schedule_of_a_search() -> None:
    """The schedule of a simulation that goes on knows less than the simulation, and says so."""
    simulation = Simulation(busy_trace(), "search", **SEARCH).run(until=800)
    whole, part = explain_decision(simulation), explain_decision(simulation.schedule())
    assert whole.jobs["processors"].notna().all()
    assert part.jobs["processors"].isna().any()
    assert part.jobs[["chosen_place", "planned_start"]].equals(whole.jobs[["chosen_place", "planned_start"]])
    assert len(part.running) < len(whole.running)
    assert " ? " in str(part)


def test_decisions_alone_are_not_enough() -> None:
    """A search against the clock notes its decisions; why a job went first needs the orders too."""
    by_clock = simulate(busy_trace(8), "search", seconds=1e-4)
    assert list(by_clock.notes) == ["decisions"]
    with pytest.raises(ParameterError, match=r"no notes of decisions of policy 'search': .* explain=True$"):
        explain_decision(by_clock)


def test_four_measures() -> None:
    """Each measure has a line, a column and a panel, under its own name."""
    objective = "lexical(T_w(90s) -> maxW -> avgW -> avgX)"
    found = explain_decision(simulate(busy_trace(), "search", objective=objective, **SEARCH), 700)
    names = ["T_w(90s)", "maxW", "avgW", "avgX"]
    assert found.measures["measure"].tolist() == names
    assert found.improvements.columns.tolist() == ["nodes", "iteration", *names]
    assert [axes.get_ylabel() for axes in found.draw().axes[:4]] == names


def test_a_schedule_whose_measure_is_not_known(schedule: Schedule) -> None:
    """A measure of one's own must be registered where the schedule is explained."""
    options = {**schedule.options, "objective": "lexical(not-there)"}
    with pytest.raises(ParameterError, match="there is no measure 'not-there'"):
        explain_decision(replace(schedule, options=options))
