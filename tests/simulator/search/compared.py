# SPDX-License-Identifier: BSD-3-Clause
"""The search and its slow twin on the same trace: what each decided, and when jobs started."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator import simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.measures import PLANNED_MEASURES, planned_measure
from swftools.simulator.workload import Workload
from swftools.utility.functions import UtilityFunctions
from tests.naive.search import Decision, decide_by, row_of
from tests.naive.search_objectives import Measure, Objective, Term, lost_utility
from tests.naive.simulator import Job, simulate_naively
from tests.simulator.twin import naive_jobs, naive_starts_of, observer_of, workload_of

WITH_THRESHOLD = ("T_w", "maxE")
NAMES = ("T_w", "maxW", "avgW", "avgX", "maxE")
MODELS = ("lexical", "tradeoff-a", "tradeoff-b", "tradeoff-c")


@st.composite
def objectives(draw: st.DrawFn, models: Sequence[str] = MODELS, names: Sequence[str] = NAMES) -> Objective:
    """Draw an objective: 1 to 4 measures one before the other, or two alike; thresholds dynamic or of a few seconds."""
    model = draw(st.sampled_from(models))
    count = draw(st.integers(1, min(4, len(names)))) if model == "lexical" else 2
    chosen = draw(st.lists(st.sampled_from(names), min_size=count, max_size=count, unique=True))
    thresholds = st.none() | st.integers(0, 12).map(float)
    terms = [Term(name, draw(thresholds) if name in WITH_THRESHOLD else None) for name in chosen]
    return Objective(model, tuple(terms), draw(st.booleans()))


powers = st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])


@st.composite
def _jobs(draw: st.DrawFn, processors: int) -> dict[str, Any]:
    """Draw a job whose run time is under, at or over its request, or 0."""
    request = draw(st.none() | powers)
    run = powers if request is None else powers | st.integers(0, int(request)).map(float)
    return {
        "submit_time": float(draw(st.integers(0, 8))),
        "run_time": draw(run),
        "requested_time": request,
        "allocated_processors": draw(st.integers(1, processors)),
    }


@st.composite
def crowds(
    draw: st.DrawFn, *, least_jobs: int = 0, max_jobs: int = 7, processors: int = 4, kinds: int | None = None
) -> Trace:
    """Draw jobs that find the machine taken for some seconds, and so wait together; of so many kinds at most.

    Requests are powers of two, less than 1 s too, or 0. So all measures, slowdowns among them, are floats without
    rounding, and orders that cost alike are equal however their costs are summed.
    """
    taken = draw(st.integers(0, processors))
    blocks = [
        {"submit_time": 0.0, "run_time": run, "requested_time": run, "allocated_processors": width}
        for run, width in ((8.0, processors - taken), (draw(powers), taken))
        if width > 0
    ]
    one = _jobs(processors)
    if kinds is not None:
        one = st.sampled_from([draw(one) for _ in range(kinds)])
    jobs = [*blocks, *(draw(one) for _ in range(draw(st.integers(least_jobs, max_jobs))))]
    users = [draw(st.none() | st.integers(1, 3)) for _ in jobs]
    names = ("submit_time", "run_time", "requested_time", "allocated_processors")
    return Trace.from_columns(
        machine_processors=processors,
        job_number=list(range(1, len(jobs) + 1)),
        user_id=users,
        **{name: [job[name] for job in jobs] for name in names},
    )


@st.composite
def with_utility(draw: st.DrawFn, traces: st.SearchStrategy[Trace]) -> Trace:
    """Draw a trace some of whose jobs have utility functions; their slopes are floats without rounding."""
    trace = draw(traces)
    functions = [
        draw(st.none() | st.lists(st.tuples(powers.filter(bool), st.integers(0, 4)), min_size=1, max_size=3))
        for _ in range(len(trace))
    ]
    return trace.with_jobs(trace.jobs.assign(utility=utility_column([_falling(steps) for steps in functions])))


def _falling(steps: list[tuple[float, int]] | None) -> list[tuple[float, float]]:
    """Return the points of a function that falls by so much in so many seconds, again and again."""
    if steps is None:
        return []
    points = [(0.0, float(sum(fall for _, fall in steps) + 1))]
    for seconds, fall in steps:
        points.append((points[-1][0] + seconds, points[-1][1] - fall))
    return points


def utility_column(functions: list[list[tuple[float, float]]]) -> pd.Series[Any]:
    """Return the column of utility functions, given by their points; without points one is missing."""
    array = pa.chunked_array([UtilityFunctions.from_points(functions).to_arrow()])
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


@contextmanager
def registered(measures: Mapping[str, tuple[Callable[..., float], Mapping[str, Any]]]) -> Iterator[None]:
    """Register measures of one's own, by name a function and how it is registered, for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for part in ("known", "_sources"):
            patch.setattr(PLANNED_MEASURES, part, dict(getattr(PLANNED_MEASURES, part)))
        for name, (function, facts) in measures.items():
            planned_measure(name, **facts)(function)
        yield


class Told(NamedTuple):
    """What the twin did: starts of jobs in the order of the trace, decisions, and the number of a job by identity."""

    starts: list[float]
    decisions: list[Decision]
    numbers: dict[int, int]


def slow(
    trace: Trace,
    objective: Objective,
    *,
    predictor: str = "request",
    overrun: str = "extend",
    measures: dict[str, Measure] | None = None,
    **parameters: Any,
) -> Told:
    """Return what the twin does with a trace."""
    assert trace.processors is not None
    work = workload_of(trace, predictor=predictor, overrun=overrun)
    jobs = naive_jobs(work)
    points = points_of(trace, work, jobs)
    policy, decisions = decide_by(
        objective, measures={"lost-utility": lost_utility(points), **(measures or {})}, **parameters
    )
    simulate_naively(jobs, trace.processors, policy, observe=observer_of(predictor))
    numbers = trace.jobs["job_number"].iloc[work.coming.row].tolist()
    known = {id(job): number for job, number in zip(jobs, numbers, strict=True)}
    return Told(naive_starts_of(work, jobs), decisions, known)


def points_of(trace: Trace, work: Workload, jobs: list[Job]) -> dict[int, list[tuple[float, float]]]:
    """Return the points of utility functions by the identity of the job."""
    if "utility" not in trace.jobs:
        return {}
    functions = [
        [] if function is None else [(point["time"], point["value"]) for point in function]
        for function in trace.jobs["utility"].array.__arrow_array__().to_pylist()
    ]
    return {id(job): functions[row] for job, row in zip(jobs, work.coming.row.tolist(), strict=True)}


def fast(
    trace: Trace, objective: Objective, *, predictor: str = "request", overrun: str = "extend", **parameters: Any
) -> Schedule:
    """Return the schedule of the policy, with its notes."""
    return simulate(
        trace,
        "search",
        predictor=predictor,
        overrun=overrun,
        seed=3,
        objective=objective.to_text(),
        explain=True,
        **parameters,
    )


def decisions_of(told: Told) -> pd.DataFrame:
    """Return decisions of the twin as the policy's notes tell them."""
    return pd.DataFrame([{"decision": number, **row_of(each)} for number, each in enumerate(told.decisions)])


def improvements_of(told: Told) -> pd.DataFrame:
    """Return the improvements of the twin as the policy's notes tell them."""
    rows = [
        {
            "decision": number,
            "nodes": improvement.nodes,
            "iteration": improvement.iteration,
            **{f"value_{place}": float(value) for place, value in enumerate(improvement.values, 1)},
        }
        for number, decision in enumerate(told.decisions)
        for improvement in decision.found.improvements
    ]
    return pd.DataFrame(rows)


def orders_of(told: Told) -> pd.DataFrame:
    """Return the orders that the twin chose as the policy's notes tell them; jobs by number alone."""
    rows = [
        {
            "decision": number,
            "job_number": told.numbers[id(decision.question.jobs[i])],
            "chosen_place": place,
            "heuristic_place": i,
            "planned_start": start,
            "heuristic_planned_start": decision.found.first_starts[i],
        }
        for number, decision in enumerate(told.decisions)
        for place, (i, start) in enumerate(zip(decision.found.order, decision.found.starts, strict=True))
    ]
    return pd.DataFrame(rows)


def assert_rows_equal(told: pd.DataFrame, expected: pd.DataFrame, *, exact: bool = True) -> None:
    """Hold rows of notes against those of the twin, which lacks columns of what is missing in all rows.

    Not ``exact``: but for the rounding of sums.
    """
    if expected.empty:
        assert told.empty
        return
    shown = told[list(expected.columns)].reset_index(drop=True)
    pd.testing.assert_frame_equal(shown, expected, check_exact=exact, check_dtype=False, rtol=1e-12, atol=1e-9)


def assert_notes_equal(notes: Mapping[str, pd.DataFrame], told: Told, *, exact: bool = True) -> None:
    """Hold the notes of the policy against the twin's."""
    assert_rows_equal(notes["decisions"], decisions_of(told), exact=exact)
    assert_rows_equal(notes["improvements"], improvements_of(told), exact=exact)
    assert_rows_equal(notes["orders"], orders_of(told), exact=exact)
