# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic utility functions: equal to a slow twin, and independent of the order of jobs."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, UtilityParameters, clean, generate_utility, read_swf
from swftools.errors import ParameterError
from swftools.tables import to_arrow, write_table
from swftools.utility import model as utility
from tests.examples import examples
from tests.folders import ROOT
from tests.naive.utility import naive_generated
from tests.strategies import traces
from tests.utility.samples import RANKS, functions_of, many_jobs, only

CARDS = ROOT / "data_catalog.yaml"


def points_of(generated: pd.DataFrame) -> list[list[tuple[float, float]]]:
    """Return the points of every function."""
    return [
        [(point["time"], point["value"]) for point in row]
        for row in generated["utility"].array.__arrow_array__().to_pylist()
    ]


def naive_rows(trace: Trace, parameters: UtilityParameters) -> list[dict[str, Any]]:
    """Return the jobs of a trace as the slow twin takes them."""
    jobs = trace.jobs.astype(object).where(trace.jobs.notna(), None)
    rows: list[dict[str, Any]] = jobs.to_dict("records")
    seen: dict[Any, int] = {}
    for row in rows:
        row.setdefault("job_occurrence", seen.get(row["job_number"], 0))
        seen[row["job_number"]] = seen.get(row["job_number"], 0) + 1
    return rows


def whole_number_logs(jobs: int) -> st.SearchStrategy[Trace]:
    """Draw traces of jobs as logs have them, many values missing or zero, numbers repeated."""

    def column(*values: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.sampled_from([-1, 0, 0, *values]), min_size=jobs, max_size=jobs)

    times, counts = column(1, 7, 3600, 10**6), column(1, 16, 1024)
    parts = {
        "job_number": column(1, 2, 9_000_000_000),
        "queue_id": column(1, 2, 3, 9),
        "run_time": times,
        "wait_time": times,
    }
    parts |= {"requested_time": times, "requested_processors": counts, "allocated_processors": counts}
    return st.fixed_dictionaries(parts).map(lambda columns: Trace.from_columns(**columns))


PARAMETERS = [
    UtilityParameters(),
    UtilityParameters(seed=2**64 - 1, globmax=1e6, queue_ranks=RANKS, default_rank=1, start_value_sd=3),
    UtilityParameters(seed=5, queue_ranks=RANKS, deadline_basis="wait", utility_clock="wait", intermediate_points=0),
    UtilityParameters(decay_shares={"linear": 2, "step": 0.5}, intermediate_points=1, start_value_sd=0),
    UtilityParameters(decay_shares={"exponential": 1}, intermediate_points=100, minimum_deadline=3, deadline_factor=7),
    UtilityParameters(decay_shares={"step": 1}, jump=2, minimum_deadline=9),
]  # fmt: skip


# The slow twin


@pytest.mark.parametrize("parameters", PARAMETERS)
@examples(0.4)
@given(trace=whole_number_logs(7))
def test_generated_functions_are_the_slow_twins(parameters: UtilityParameters, trace: Trace) -> None:
    """Rank, kind and points of each job are those of a plain Python version with numpy's own Philox."""
    generated = generate_utility(trace, parameters)
    values = dataclasses.asdict(parameters) | {"decay_shares": parameters.to_mapping()["decay_shares"]}
    for row, rank, kind, points in zip(
        naive_rows(trace, parameters),
        generated["priority_rank"],
        generated["utility_decay"],
        points_of(generated),
        strict=True,
    ):
        naive_rank, naive_kind, naive_points = naive_generated(row, values)
        assert (naive_rank, naive_kind) == (rank, kind)
        np.testing.assert_allclose(np.array(points), np.array(naive_points), rtol=1e-9)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_interpreted_kernel_is_the_compiled_one(parameters: UtilityParameters, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels, interpreted, give the same functions."""
    trace = many_jobs(queue_id=np.arange(60) % 5, run_time=np.arange(60) ** 3, job_number=np.arange(60) // 2)
    compiled = generate_utility(trace, parameters)
    for name in ("_generate", "_draw_step", "_draw_decline"):
        monkeypatch.setattr(utility, name, getattr(utility, name).py_func)
    interpreted = generate_utility(trace, parameters)
    pd.testing.assert_frame_equal(compiled, interpreted, check_exact=False, rtol=1e-12)
    theirs = [np.array(points) for points in points_of(interpreted)]
    for ours, other in zip(points_of(compiled), theirs, strict=True):
        np.testing.assert_allclose(np.array(ours), other, rtol=1e-12)


def test_equal_times_become_one_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal times the first is kept, and none at the submission or the deadline, so that times increase."""
    draws = iter([0.5, 0.0, 0.5, 1.0, 0.6, 0.9, 0.8, 0.7])
    monkeypatch.setattr(utility, "next_uniform", lambda state: next(draws))
    times, values = np.zeros(6), np.full(6, 10.0)
    count = utility._draw_decline.py_func(None, 100.0, 4, utility.LINEAR, times, values)
    assert [(0.0, 10.0), (50.0, 8.0), (100.0, 0.0)] == list(zip(times[:count], values[:count], strict=True))


@examples(0.4)
@given(traces(utility=False))
def test_any_trace_gets_well_formed_functions(trace: Trace) -> None:
    """Whatever a log says, each job gets a valid function, and the columns fit the column dictionary."""
    keys = trace.jobs[["job_number"]].assign(job_occurrence=0)
    for parameters in (
        None,
        only("step", deadline_factor=1e6),
        only("linear", globmax=1e-100, minimum_deadline=1e-90, jump=1e-91),
    ):
        generated = generate_utility(trace, parameters)
        assert len(trace) == len(functions_of(generated))
        to_arrow(pd.concat([keys, generated], axis=1), "utility")


# What a draw depends on


def as_bytes(trace: Trace, generated: pd.DataFrame) -> bytes:
    """Return the Parquet file of the generated columns."""
    buffer = io.BytesIO()
    write_table(
        to_arrow(pd.concat([trace.jobs[["job_number", "job_occurrence"]], generated], axis=1), "utility"),
        buffer,
        "utility",
    )
    return buffer.getvalue()


@pytest.fixture(scope="module")
def cleaned(shipped_log: Path) -> Trace:
    """The shipped log, cleaned, with some numbers given to several jobs."""
    trace = read_swf(shipped_log)
    numbers = trace.jobs["job_number"].mask(trace.jobs["job_number"] % 7 == 0, 77)
    return clean(trace.with_jobs(trace.jobs.assign(job_number=numbers)))[0]


@pytest.fixture(scope="module")
def parameters() -> UtilityParameters:
    """Parameters as lee2009 has them, on the card's ranks of the shipped log."""
    queues = yaml.safe_load(CARDS.read_text(encoding="utf-8"))["logs"]["SDSC-BLUE-2000-4.2-cln"]["queues"]
    return UtilityParameters(queue_ranks={number: queue["priority_rank"] for number, queue in queues.items()})


def test_same_seed_same_bytes(cleaned: Trace, parameters: UtilityParameters) -> None:
    """Twice the same input and seed gives the same Parquet file; another seed another."""
    first, second = (as_bytes(cleaned, generate_utility(cleaned, parameters)) for _ in range(2))
    assert first == second
    other = dataclasses.replace(parameters, seed=1)
    assert first != as_bytes(cleaned, generate_utility(cleaned, other))


def test_order_does_not_matter(cleaned: Trace, parameters: UtilityParameters) -> None:
    """Shuffled jobs get the functions they had; put back in order, the file has the same bytes."""
    order = np.random.default_rng(3).permutation(len(cleaned))
    shuffled = generate_utility(cleaned.with_jobs(cleaned.jobs.iloc[order]), parameters)
    assert order.tolist() == shuffled.index.tolist()
    whole = generate_utility(cleaned, parameters)
    assert as_bytes(cleaned, whole) == as_bytes(cleaned, shuffled.sort_index())


@pytest.mark.parametrize("size", [1, 7, 1000, 4999])
def test_chunks_do_not_matter(cleaned: Trace, parameters: UtilityParameters, size: int) -> None:
    """Jobs done in chunks get the functions they get together: the file has the same bytes."""
    jobs = cleaned.jobs.head(100 * size)
    parts = [cleaned.with_jobs(jobs.iloc[start : start + size]) for start in range(0, len(jobs), size)]
    whole = generate_utility(cleaned.with_jobs(jobs), parameters)
    joined = pd.concat([generate_utility(part, parameters) for part in parts])
    trace = cleaned.with_jobs(jobs)
    assert as_bytes(trace, whole) == as_bytes(trace, joined)


def test_other_jobs_do_not_matter(cleaned: Trace, parameters: UtilityParameters) -> None:
    """A job's function is the same when others are left out."""
    some = cleaned.jobs.iloc[::3]
    alone = generate_utility(cleaned.with_jobs(some), parameters)
    together = generate_utility(cleaned, parameters).iloc[::3]
    pd.testing.assert_frame_equal(together, alone)


def test_order_of_an_uncleaned_log_does_not_matter(shipped_log: Path) -> None:
    """Without job_occurrence, repeated numbers are told apart by line, in any order of the jobs."""
    trace = read_swf(shipped_log)
    trace = trace.with_jobs(trace.jobs.assign(job_number=trace.jobs["job_number"] % 50))
    backwards = generate_utility(trace.with_jobs(trace.jobs[::-1]))
    pd.testing.assert_frame_equal(generate_utility(trace), backwards.sort_index())


def test_jobs_of_one_number_draw_apart() -> None:
    """Alike jobs of one number get functions of their own."""
    generated = generate_utility(many_jobs(job_number=np.full(50, 3)))
    assert 50 == len(set(functions_of(generated).start_values))


def test_seeds_draw_apart() -> None:
    """Neighbouring seeds and jobs have nothing in common."""
    trace = many_jobs(job_number=np.arange(1000))
    starts = [
        functions_of(generate_utility(trace, UtilityParameters(seed=seed))).start_values for seed in (0, 1, 2**63)
    ]
    assert 3000 == len(set(np.concatenate(starts).tolist()))
    assert (abs(np.corrcoef(starts)[np.triu_indices(3, 1)]) < 5 / math.sqrt(1000)).all()
    assert abs(np.corrcoef(starts[0][:-1], starts[0][1:])[0, 1]) < 5 / math.sqrt(1000)


# Columns


def test_columns_are_those_of_the_dictionary() -> None:
    """One row a job, on the index of the jobs: rank, kind, function, logged utility."""
    trace = many_jobs(job_number=[5, 6, 7])
    trace = trace.with_jobs(trace.jobs.set_index(pd.Index([30, 10, 20])))
    generated = generate_utility(trace)
    assert ["priority_rank", "utility_decay", "utility", "logged_utility"] == list(generated)
    assert [30, 10, 20] == generated.index.tolist()
    assert ["Int64", "str", "float64"] == [
        str(generated[name].dtype) for name in ("priority_rank", "utility_decay", "logged_utility")
    ]


def test_no_jobs() -> None:
    """No jobs get no functions, in the same dtypes."""
    none, some = generate_utility(Trace.from_columns()), generate_utility(many_jobs(job_number=[1]))
    assert 0 == len(none)
    assert some.dtypes.to_dict() == none.dtypes.to_dict()


def test_the_trace_is_not_changed() -> None:
    """Generation leaves jobs and arrays as they are."""
    trace = many_jobs(job_number=[1, 1, 2], run_time=[-1, 5, 6])
    jobs, arrays = trace.jobs.copy(deep=True), [array.copy() for array in trace.arrays]
    generate_utility(trace)
    pd.testing.assert_frame_equal(jobs, trace.jobs)
    for before, after in zip(arrays, trace.arrays, strict=True):
        np.testing.assert_array_equal(before, after)


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": 2**64}, "seed=18446744073709551616 is not"),
        ({"seed": 1.0}, "seed=1.0 is not"),
        ({"seed": True}, "seed=True is not"),
        ({"globmax": 0}, "globmax=0 is not a number from 1e-100 to 1e100"),
        ({"globmax": -1}, "globmax=-1 is not a number from 1e-100 to 1e100"),
        ({"globmax": math.nan}, "globmax=nan is not a number from 1e-100 to 1e100"),
        ({"globmax": math.inf}, "globmax=inf is not a number from 1e-100 to 1e100"),
        ({"globmax": "2"}, "globmax='2' is not a number from 1e-100 to 1e100"),
        ({"globmax": True}, "globmax=True is not a number from 1e-100 to 1e100"),
        ({"deadline_factor": 0}, "deadline_factor=0 is not a number from 1e-100 to 1e100"),
        ({"minimum_deadline": -10}, "minimum_deadline=-10 is not a number from 1e-100 to 1e100"),
        ({"jump": 0}, "jump=0 is not a number from 1e-100 to 1e100"),
        ({"jump": 2.5}, "jump=2.5 is not less than a quarter of minimum_deadline"),
        ({"start_value_sd": -0.1}, "start_value_sd=-0.1 is not a number from 0 to 100"),
        ({"start_value_sd": 101}, "start_value_sd=101 is not a number from 0 to 100"),
        ({"intermediate_points": 101}, "intermediate_points=101 is not an integer from 0 to 100"),
        ({"intermediate_points": 2.5}, "intermediate_points=2.5 is not an integer"),
        ({"deadline_basis": "run"}, "deadline_basis='run' is not one of turnaround, wait"),
        ({"utility_clock": None}, "utility_clock=None is not one of turnaround, wait"),
        ({"decay_shares": {}}, "decay_shares={} is not shares of linear, exponential, step"),
        ({"decay_shares": {"step": 0}}, "decay_shares={'step': 0} is not shares"),
        ({"decay_shares": {"step": -1, "linear": 2}}, "decay_shares={'step': -1, 'linear': 2} is not shares"),
        ({"decay_shares": {"hyperbolic": 1}}, "decay_shares={'hyperbolic': 1} is not shares"),
        ({"decay_shares": [1, 1, 1]}, "decay_shares=[1, 1, 1] is not shares"),
        ({"queue_ranks": {1: 0, 2: 2}}, "queue_ranks={1: 0, 2: 2} is not queues with ranks 0 to N - 1, no gap"),
        ({"queue_ranks": {1: 1}}, "queue_ranks={1: 1} is not"),
        ({"queue_ranks": {1: 0.0}}, "queue_ranks={1: 0.0} is not"),
        ({"queue_ranks": {"high": 0}}, "queue_ranks={'high': 0} is not"),
        ({"queue_ranks": [0, 1]}, "queue_ranks=[0, 1] is not"),
        ({"queue_ranks": None}, "queue_ranks=None is not"),
        ({"default_rank": 1}, "default_rank=1 is not one of the ranks"),
        ({"default_rank": -1, "queue_ranks": RANKS}, "default_rank=-1 is not one of the ranks"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain, however the parameters are given."""
    for make in (lambda: UtilityParameters(**parameters), lambda: UtilityParameters.from_mapping(parameters)):
        with pytest.raises(ParameterError) as caught:
            make()
        assert f"utility: {message}" in str(caught.value)


def test_unknown_parameters_are_refused() -> None:
    """A misspelt parameter is told, with those that there are."""
    with pytest.raises(ParameterError, match=r"unknown parameters \['Globmax'\]; there are: seed, globmax"):
        UtilityParameters.from_mapping({"Globmax": 1})


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_parameters_survive_json(parameters: UtilityParameters) -> None:
    """What the manifest records makes the same parameters again."""
    again = UtilityParameters.from_mapping(json.loads(json.dumps(parameters.to_mapping())))
    trace = many_jobs(queue_id=np.arange(30) % 5)
    pd.testing.assert_frame_equal(generate_utility(trace, parameters), generate_utility(trace, again))
    assert parameters.to_mapping() == again.to_mapping()
    assert {field.name for field in dataclasses.fields(UtilityParameters)} == set(parameters.to_mapping())


# On a real log


def test_share_of_start_value_earned_in_the_shipped_window(cleaned: Trace, parameters: UtilityParameters) -> None:
    """In lee2009's window, at the logged turnaround, half the deadline, the shares earned are those of the model.

    A step has not dropped yet in half the cases; a linear decay has about half its value left, an exponential one
    much less. The paper's 90.4/40.8/.06 % are of a simulated schedule, in which some jobs are far earlier or later.
    """
    generated = generate_utility(cleaned, parameters)
    started = generated["logged_utility"].notna()
    shares = (generated["logged_utility"] / functions_of(generated).start_values)[started]
    assert shares.between(0, 1).all()
    percentiles = shares.quantile([0.02, 0.25, 0.5, 0.75]).to_list()
    assert percentiles == sorted(percentiles)
    assert 0 < percentiles[1] < 0.3 < percentiles[2] < 0.7 < percentiles[3] <= 1
    by_kind = shares.groupby(generated["utility_decay"][started])
    # A turnaround shorter than half the minimum deadline is earlier than that.
    assert 0.45 < (by_kind.get_group("step") == 1).mean() < 0.6
    assert 0.45 < by_kind.get_group("linear").median() < 0.6
    assert by_kind.get_group("exponential").median() < 0.25


def test_ranks_of_the_shipped_window(cleaned: Trace, parameters: UtilityParameters) -> None:
    """High, express, normal, low, interactive (no standby) have the ranks of the card, and worth in that order."""
    generated = generate_utility(cleaned, parameters)
    by_queue = generated["priority_rank"].groupby(cleaned.jobs["queue_id"]).agg(["min", "max"])
    assert {2: 0, 1: 1, 3: 2, 4: 3, 0: 5} == {q: r for q, r in by_queue["min"].items() if q < 6}
    assert (by_queue["min"] == by_queue["max"]).all()
    arrays = cleaned.arrays
    size = np.maximum(arrays.width, 1) * arrays.requested_time / 60
    unit_values = pd.Series(functions_of(generated).start_values / size).groupby(generated["priority_rank"]).mean()
    assert unit_values.is_monotonic_decreasing
