# SPDX-License-Identifier: BSD-3-Clause
"""The search run in several ways: compiled or not, again, in two parts, against the clock; its schedules are valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import Simulation, simulate
from swftools.simulator.search.notes import recorded_search
from swftools.simulator.validation.report import validate
from tests.examples import examples
from tests.simulator.search.compared import crowds, objectives
from tests.strategies import crowded_trace, workloads

RUNS: dict[str, dict[str, Any]] = {
    "default": {"nodes": 200},
    "lds": {"nodes": 200, "traversal": "lds", "branching": "fcfs", "objective": "strict-lexical(maxW -> avgX)"},
    "version c": {"nodes": 60, "objective": "tradeoff-c(T_w:avgX)", "distinct": True},
    "four measures": {"nodes": 60, "branching": "sjf", "objective": "lexical(T_w(60s) -> maxE -> maxW -> avgW)"},
}
"""Parameters of a few runs."""


def assert_same_notes(notes: Mapping[str, pd.DataFrame], others: Mapping[str, pd.DataFrame]) -> None:
    """Hold tables against others, bit for bit."""
    assert sorted(notes) == sorted(others)
    for name, table in notes.items():
        pd.testing.assert_frame_equal(table, others[name], check_exact=True)


@pytest.mark.parametrize("compiled", [False, pytest.param("checked", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", RUNS)
def test_compiled_equals_interpreted(name: str, compiled: bool | str) -> None:
    """Starts and notes, bit for bit; and no index is outside its array."""
    trace = crowded_trace(50, seed=2)
    usual = simulate(trace, "search", explain=True, **RUNS[name])
    other = simulate(trace, "search", explain=True, compiled=compiled, **RUNS[name])
    pd.testing.assert_frame_equal(other.jobs, usual.jobs, check_exact=True)
    assert usual.notes["decisions"]["waiting"].max() >= 5
    assert usual.notes["decisions"]["improvements"].max() > 0
    assert_same_notes(other.notes, usual.notes)


@pytest.mark.parametrize("name", RUNS)
def test_notes_change_no_start(name: str) -> None:
    """A schedule is the same whether it is explained or not."""
    trace = crowded_trace(50, seed=2)
    silent = simulate(trace, "search", **RUNS[name])
    assert dict(silent.notes) == {}
    told = simulate(trace, "search", explain=True, **RUNS[name])
    pd.testing.assert_frame_equal(silent.jobs, told.jobs, check_exact=True)


@pytest.mark.parametrize("name", RUNS)
def test_it_goes_on_where_it_stopped(name: str) -> None:
    """In parts, and as a copy, it decides as at once."""
    trace = crowded_trace(40, seed=2)
    whole = simulate(trace, "search", explain=True, **RUNS[name])
    simulation = Simulation(trace, "search", explain=True, **RUNS[name])
    for moment in whole.notes["decisions"]["time"].unique()[::5]:
        simulation.run(until=moment)
    other = simulation.copy().run().schedule()
    pd.testing.assert_frame_equal(other.jobs, whole.jobs, check_exact=True)
    assert_same_notes(other.notes, whole.notes)
    assert_same_notes(simulation.run().notes, whole.notes)


@examples(0.4)
@given(
    trace=workloads(),
    objective=objectives(),
    traversal=st.sampled_from(["dds", "lds"]),
    nodes=st.sampled_from([0, 20]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
    distinct=st.booleans(),
)
def test_schedules_are_valid(
    trace: Trace, objective: Any, traversal: str, nodes: int, overrun: str, distinct: bool
) -> None:
    """Every job runs once, as long as it does, not before it is submitted, and never on more than the machine has."""
    schedule = simulate(
        trace,
        "search",
        objective=objective.to_text(),
        traversal=traversal,
        nodes=nodes,
        overrun=overrun,
        distinct=distinct,
    )
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
    assert len(schedule) == len(trace)


# As many visits as before


@examples(0.25)
@given(trace=crowds(max_jobs=8), objective=objectives(), nodes=st.sampled_from([0, 7, 30]))
def test_a_recorded_search_does_the_same_again(trace: Trace, objective: Any, nodes: int) -> None:
    """What it visited decides, not the limit that it had."""
    first = simulate(trace, "search", objective=objective.to_text(), nodes=nodes, explain=True)
    again = simulate(trace, recorded_search(first))
    pd.testing.assert_frame_equal(again.jobs, first.jobs, check_exact=True)
    same = [name for name in first.notes["decisions"] if name != "is_exhausted"]
    assert again.notes["decisions"][same].equals(first.notes["decisions"][same])


@pytest.mark.parametrize("compiled", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("traversal", ["dds", "lds"])
def test_a_search_against_the_clock_can_be_had_again(traversal: str, compiled: bool) -> None:
    """However many nodes the time was enough for, which is for more than the heuristic's order at least once."""
    trace = crowded_trace(40, seed=2)
    timed = simulate(trace, "search", traversal=traversal, seconds=0.003, nodes=0)
    decisions = timed.notes["decisions"]
    assert (decisions["nodes"] >= decisions["waiting"]).all()
    assert (decisions["nodes"] > decisions["waiting"]).any()
    again = simulate(trace, recorded_search(timed), compiled=compiled)
    pd.testing.assert_frame_equal(again.jobs, timed.jobs, check_exact=True)
    assert again.notes["decisions"]["nodes"].tolist() == decisions["nodes"].tolist()


def test_what_was_not_recorded_cannot_be_had_again() -> None:
    """The message says how to record it."""
    with pytest.raises(ParameterError, match="explain=True"):
        recorded_search(simulate(crowded_trace(5), "search"))
    with pytest.raises(ParameterError, match="'easy'"):
        recorded_search(simulate(crowded_trace(5), "easy"))
