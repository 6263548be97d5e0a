# SPDX-License-Identifier: BSD-3-Clause
"""What is told of a job at its submission: what the column dictionary says to be known then, and nothing else."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.fields.definition import BOOL, FLOAT64, INT64, INTEGERS, STRING, TIMESTAMP, UTILITY, Field
from swftools.fields.dictionary import JOBS, KNOWN_OF_JOBS, TABLES, known_at_submission
from swftools.models.moldability import generate_speedup
from swftools.qbets import features_at_submission, replay
from swftools.simulator import Simulation, simulate
from swftools.simulator.machine.state import Requests
from tests.simulator.predictors.test_in_python import Listening
from tests.strategies import crowded_trace

COUNT = 60
AS_SIMULATED = ["submit_time", "width", "requested_time"]
"""What a predictor is told as the simulation has it, whatever the trace says."""


def values(field: Field, seed: int) -> Any:
    """Return a value a job for a column; other seeds give others."""
    rng = np.random.default_rng([seed, len(field.name)])
    numbers = rng.integers(1, 1000, COUNT)
    if field.type == INT64:
        return pd.array(numbers, dtype="Int64")
    if field.type == FLOAT64:
        return numbers + 0.5
    if field.type == STRING:
        return pd.array([f"word {number}" for number in numbers], dtype="str")
    if field.type == BOOL:
        return pd.array(numbers % 2 == 0, dtype="boolean")
    if field.type == TIMESTAMP:
        return pd.to_datetime(numbers, unit="s", utc=True).as_unit("ms")
    points = {UTILITY: [{"time": 0.0, "value": 5.0}, {"time": 9.0 + seed, "value": 0.0}], INTEGERS: [1, 2 + seed]}
    return pd.array([points[field.type]] * COUNT, dtype=pd.ArrowDtype(field.type))


def whole_trace(seed: int = 0) -> Trace:
    """Return jobs that have every column of the dictionary, and one that it does not have."""
    trace = crowded_trace(COUNT)
    more = {field.name: values(field, seed) for field in JOBS if is_empty(trace, field.name)}
    more |= {"speedup_curve": "simple", "mine": np.arange(COUNT) + 0.25, "is_never_started": False}
    requested = trace.jobs["requested_time"].fillna(100.0)
    return trace.with_jobs(trace.jobs.assign(**more, requested_time=requested))


def is_empty(trace: Trace, name: str) -> bool:
    """Whether a trace has no such column, or one that says nothing."""
    return name not in trace.jobs or bool(trace.jobs[name].isna().all())


def changed(trace: Trace, names: list[str], seed: int = 7) -> Trace:
    """Return a trace with other values in some columns."""
    fields = {field.name: field for field in JOBS}
    return trace.with_jobs(trace.jobs.assign(**{name: values(fields[name], seed) for name in names}))


def asked(trace: Trace, **options: Any) -> list[dict[str, Any]]:
    """Return what a predictor in Python is told of each job."""
    simulation = Simulation(trace, "easy", predictor=Listening(), overrun="run-on", **options).run()
    assert isinstance(simulation.predictor, Listening)
    return [job for _, job, _ in simulation.predictor.asked]


def test_every_column_says_when_it_is_known() -> None:
    """One of four words; what a run, or the log's end, tells is not of the submission."""
    assert {field.known for fields in TABLES.values() for field in fields} == {"submission", "start", "end", "never"}
    fates = "run_time status used_memory average_cpu_time exit_code exit_signal restarts logged_state is_cancelled"
    assert {KNOWN_OF_JOBS[name] for name in fates.split()} == {"end"}
    drawn_from_run_times = ["sequential_run_time", "logged_utility", "utility"]
    assert {KNOWN_OF_JOBS[name] for name in drawn_from_run_times} == {"end"}
    at_start = ["wait_time", "allocated_processors", "allocated_nodes", "allocated_gpus", "eligible_time", "width"]
    assert {KNOWN_OF_JOBS[name] for name in at_start} == {"start"}
    assert {KNOWN_OF_JOBS[name] for name in ("is_repaired", "is_measured")} == {"never"}
    simulated = {field.name: field.known for field in (*TABLES["segments"], *TABLES["schedule"])}
    assert "submission" != simulated["start_time"] != simulated["end_time"] == "end"


def test_a_column_must_say_it() -> None:
    """Nobody adds a column and forgets: there is no default."""
    with pytest.raises(TypeError, match="known"):
        Field("colour", STRING, "1", "Colour of the job.")  # type: ignore[call-arg]


def test_a_predictor_is_told_the_whitelist(compiled: bool) -> None:
    """Of a trace with every column: those known at submission that are no lists, and what is as simulated."""
    trace = whole_trace()
    assert {field.name for field in JOBS} <= set(trace.jobs)
    lists = {field.name for field in JOBS if field.type in (UTILITY, INTEGERS)}
    expected = ({field.name for field in JOBS if field.known == "submission"} - lists) | set(AS_SIMULATED)
    for job in asked(trace, compiled=compiled):
        assert set(job) == expected


@cache
def told_as_it_is() -> tuple[list[dict[str, Any]], Any, pd.DataFrame]:
    """Return what is told of each job of the trace as it is, what it asks for, and what is known at its submission."""
    trace = whole_trace()
    requests = Simulation(trace, "easy", overrun="run-on").run()._replay.requests
    return asked(trace), requests, features_at_submission(trace)


SIMULATED = ["run_time", "allocated_processors", "width", "wait_time", "is_never_started"]
LATER = [field.name for field in JOBS if field.known != "submission" and field.name not in SIMULATED]


@pytest.mark.parametrize(
    "names",
    [LATER, *([name] for name in SIMULATED), *(pytest.param([name], marks=pytest.mark.slow) for name in LATER)],
    ids=lambda names: names[0] if len(names) == 1 else "all",
)
def test_what_is_known_later_may_be_anything(names: list[str]) -> None:
    """Of each column: other values in it change nothing that is told of a job, compiled or not, or that is foreseen.

    But the columns that are simulated: of these the last job's alone are changed, of which nothing is known by then.
    The others are changed all together by day, and one by one at night.
    """
    trace, name = whole_trace(), names[0]
    other = changed(trace, names)
    assert not any(other.jobs[each].equals(trace.jobs[each]) for each in names if each not in SIMULATED)
    if name in SIMULATED:
        last = np.arange(COUNT) == COUNT - 1
        other = trace.with_jobs(trace.jobs.assign(**{name: other.jobs[name].where(last, trace.jobs[name])}))
    told, requests, features = told_as_it_is()
    if name != "allocated_processors":  # a job's width is a request, where the log has nothing else
        assert told == asked(other)
        for one, two in zip(requests, Simulation(other, "easy", overrun="run-on").run()._replay.requests, strict=True):
            np.testing.assert_array_equal(one, two)
    pd.testing.assert_frame_equal(features, features_at_submission(other), check_exact=True)


def test_machines_show_what_is_known_at_submission() -> None:
    """What policies and compiled predictors find in ``requests`` comes from columns of the whitelist."""
    shown = set(Requests._fields) - {"processors", "limit", "speedup", "restart_overhead", "utility"}
    assert set(known_at_submission(shown)) == shown
    curve = ["speedup_curve", "downey_a", "downey_sigma", "minimum_processors", "maximum_processors"]
    assert known_at_submission(curve) == curve
    machine = Simulation(whole_trace(), "easy").run()._machine
    assert len(machine.requests.utility) == 0  # a policy is told them that needs them by name


def test_four_lines_do_not_make_exact_of_a_speedup() -> None:
    """The sequential run time of the speedup augmentation, divided by the speedup, was the run time."""

    class Cheat(Listening):
        name = "cheat"

        def predict(self, job: dict[str, Any], now: float) -> float:
            """Return the sequential run time, where it is told."""
            self.asked.append((now, job, 0))
            return float(job.get("sequential_run_time") or job["requested_time"])

    trace = crowded_trace(100)
    trace = trace.with_jobs(trace.jobs.join(generate_speedup(trace)))
    assert trace.jobs["sequential_run_time"].notna().any()
    found, honest = (simulate(trace, "easy", predictor=told).jobs["start_time"] for told in (Cheat(), "request"))
    assert found.equals(honest)


class Wants(Listening):
    """Predicts what a column says."""

    name = "wants"

    def __init__(self, *needs: str) -> None:
        super().__init__()
        self.needs = needs

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return the value of the first column that it needs."""
        super().predict(job, now)
        return float(job[self.needs[0]])


def test_a_column_of_ones_own_is_told_by_name() -> None:
    """And no other; it is told at the end as well."""
    trace = whole_trace()
    trace = trace.with_jobs(trace.jobs.assign(yours=3.0))
    simulation = Simulation(trace, "easy", predictor=Wants("mine"), overrun="run-on").run()
    assert isinstance(simulation.predictor, Wants)
    assert [job["mine"] for _, job, _ in simulation.predictor.asked] == trace.jobs["mine"].tolist()
    assert not any("yours" in job for _, job, _ in simulation.predictor.asked)
    assert all("mine" in job for job in simulation.predictor.ended)


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        (("run_time",), r"predictor 'wants' needs run_time, which is known at a job's end only; .*@foretold"),
        (("mine", "wait_time"), r"needs wait_time, which is known at a job's start only"),
        (("is_repaired",), r"needs is_repaired, which is known to no one at the machine"),
        (("mien",), r"predictor 'wants' needs mien, which the trace lacks; did you mean mine\?"),
    ],
)
def test_what_cannot_be_told_is_refused(needs: tuple[str, ...], message: str) -> None:
    """A column that the dictionary knows to be of later, or that there is not: before the run."""
    with pytest.raises(ParameterError, match=message):
        Simulation(whole_trace(), "easy", predictor=Wants(*needs))


def test_needs_are_a_tuple_of_names() -> None:
    """A text would be taken for its letters."""
    predictor = Wants()
    predictor.needs = "mine"  # type: ignore[assignment]
    with pytest.raises(ParameterError, match=r"needs='mine' is not a tuple of names of columns"):
        Simulation(whole_trace(), "easy", predictor=predictor)


@pytest.mark.parametrize("name", ["status", "run_time", "width", "is_repaired"])
def test_bounds_are_not_told_by_what_comes_later(name: str) -> None:
    """Jobs are grouped by what is known at the submission, at which they are told; own columns by name."""
    trace = whole_trace()
    for ask in (replay, features_at_submission):
        with pytest.raises(
            ParameterError, match=rf"by='{name}': column '{name}' is not known at the submission of a job"
        ):
            ask(trace, by=name)  # type: ignore[operator]
    assert features_at_submission(trace, by="mine")["group"].nunique() == COUNT
