# SPDX-License-Identifier: BSD-3-Clause
"""Workloads by the Lublin-Feitelson model: equal to a slow twin, and what each parameter may and may not change."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.models import lublin_feitelson, lublin_feitelson_arrivals
from swftools.models.daily_cycle import DAY
from swftools.models.lublin_feitelson import LublinFeitelsonParameters, generate
from swftools.models.lublin_feitelson_arrivals import UnreachableError, arrival_times, types_meeting
from swftools.models.lublin_feitelson_types import ALL, BATCH, INTERACTIVE, JOB_TYPES, MODES, JobType
from swftools.offered_work import offered_load
from tests.naive.lublin_feitelson import naive_generate, naive_merged

MACHINES = [1, 2, 3, 100, 430, 2**31 - 1]
SIZE_AND_RUN_TIME = ["run_time", "allocated_processors", "requested_processors"]


def are_powers_of_two(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which sizes are powers of two."""
    powers: npt.NDArray[np.bool_] = sizes & (sizes - 1) == 0
    return powers


# The slow twin

CUT = {"a1": 14.0, "aarr": 15.0, "arar": 1.0}
"""Run times and gaps of which about half are drawn again."""


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"types": "mix"},
        {"types": "mix", "processors": 430, "start_hour": 23, "seed": 2**64 - 1},
        {"types": "batch", "processors": 100, "overrides": {"batch": CUT}},
        {"types": "mix", "load": 1.3, "start_hour": 8},
        {"types": "interactive", "processors": 3, "start_hour": 1},
        {"processors": 1, "alpha": 7.0},
        {"overrides": {"all": {"a1": 0.5, "b1": 2.0, "aarr": 0.7, "barr": 1.5, "pa": -1.0, "pb": 1.5}}},
    ],
)
def test_workloads_are_those_of_the_slow_twin(parameters: dict[str, Any]) -> None:
    """Sizes, run times, queues and arrivals are those of a plain Python program that walks through the half hours."""
    trace = generate(700, **parameters)
    chosen = LublinFeitelsonParameters(700, **{key: parameters[key] for key in parameters if key != "load"})
    types = {name: {**asdict(each), "aarr": trace.provenance["alpha"][name]} for name, each in chosen.job_types.items()}
    rows = naive_generate(700, types, chosen.processors, seed=chosen.seed, start_hour=chosen.start_hour)
    jobs = trace.arrays
    assert [size for _, _, size, _ in rows] == jobs.width.tolist()
    assert [run_time for _, _, _, run_time in rows] == jobs.run_time.tolist()
    assert abs(np.array([time for _, time, _, _ in rows]) - jobs.submit_time).max() < 0.5 + 1e-6
    queues = {"interactive": 0, "batch": 1, "all": -1}
    assert [queues[name] for name, *_ in rows] == jobs.queue_id.tolist()


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # numpy's word on a product modulo 2**64
@pytest.mark.parametrize("parameters", [{}, {"types": "mix", "processors": 430}, {"overrides": {"all": CUT}}])
def test_interpreted_kernels_are_the_compiled_ones(parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels, interpreted, give the same workload."""
    compiled = generate(150, seed=3, **parameters)
    for module, name in ((lublin_feitelson, "_draw_jobs"), (lublin_feitelson_arrivals, "_draw_gaps")):
        monkeypatch.setattr(module, name, getattr(module, name).py_func)
    assert compiled.equals(generate(150, seed=3, **parameters))


# Arrivals


def test_ties_go_to_the_interactive_job() -> None:
    """Of two types that arrive at the same instants the one named first comes first, as in the slow twin."""
    same = replace(ALL, aarr=1e-6)  # a second apart, always
    times, kinds = arrival_times(7, {"interactive": same, "batch": same}, seed=1)
    assert [1, 1, 2, 2, 3, 3, 4] == pytest.approx((times * ALL_AT_MIDNIGHT).tolist(), rel=1e-3)
    assert [0, 1, 0, 1, 0, 1, 0] == kinds.tolist()
    streams = {"interactive": [1.0, 2.0, 3.0, 4.0], "batch": [1.0, 2.0, 3.0, 4.0]}
    assert [list(streams)[kind] for kind in kinds] == [name for _, name in naive_merged(streams, 7)]


ALL_AT_MIDNIGHT = 0.5078207247208001
"""Weight of the first half hour of the type all."""


def test_streams_are_independent() -> None:
    """The arrivals of batch jobs are the same alone and in the mix."""
    alone, _ = arrival_times(1000, {"batch": BATCH}, seed=4)
    times, kinds = arrival_times(3000, {"interactive": INTERACTIVE, "batch": BATCH}, seed=4)
    batch = times[kinds == 1]
    assert 0 < len(batch) < 1000
    assert alone[: len(batch)].tolist() == batch.tolist()


@pytest.mark.parametrize("types", MODES)
@pytest.mark.parametrize("start_hour", [0, 8, 23])
def test_start_hour_moves_the_daily_cycle(types: str, start_hour: int) -> None:
    """Second 0 is the start hour: few jobs come around five in the morning, most around one."""
    trace = generate(20_000, types=types, start_hour=start_hour, seed=9)
    hours = (trace.arrays.submit_time + 3600 * start_hour) % DAY // 3600
    counts = np.bincount(hours.astype(int), minlength=24)
    assert counts[[4, 5]].sum() < 0.45 * counts.sum() / 12
    assert counts[[12, 13]].sum() > 1.4 * counts.sum() / 12
    assert 0 <= trace.arrays.submit_time[0] < 5 * DAY


@given(st.sampled_from(sorted(MODES)), st.integers(0, 60), st.floats(0, DAY), st.integers(0, 2**64 - 1))
def test_arrivals_ascend(types: str, count: int, start: float, seed: int) -> None:
    """There are as many arrivals as asked for, none before the start, none before the one above."""
    chosen = {name: JOB_TYPES[name] for name in MODES[types]}
    times, kinds = arrival_times(count, chosen, seed=seed, start=start)
    assert (count, count) == (len(times), len(kinds))
    assert (np.diff(times, prepend=0.0) >= 0).all()
    assert set(kinds.tolist()) <= set(range(len(chosen)))


def test_alphas_for_a_time() -> None:
    """The factor on alpha is found that makes the arrivals take a given time; both alphas have the same factor."""
    types = {"interactive": INTERACTIVE, "batch": BATCH}
    for target in (1e5, 1e6, 1e7):
        solved = types_meeting(target, lambda times, _: times[-1] - times[0], 2000, types, seed=1, start=3600.0)
        times, _ = arrival_times(2000, solved, seed=1, start=3600.0)
        assert target == pytest.approx(times[-1] - times[0], rel=1e-5)
        factors = {name: solved[name].aarr / types[name].aarr for name in types}
        assert factors["batch"] == pytest.approx(factors["interactive"])


@pytest.mark.parametrize("target", [1.0, 1e13])
def test_times_out_of_reach(target: float) -> None:
    """No alpha makes a thousand arrivals take a second, or a million years; what can be reached is told."""
    with pytest.raises(UnreachableError) as caught:
        types_meeting(target, lambda times, _: times[-1] - times[0], 1000, {"all": ALL}, seed=1)
    assert 1 < caught.value.least < 1e5
    assert 1e8 < caught.value.greatest < 1e13


# What a draw depends on


@pytest.mark.parametrize("types", MODES)
def test_fewer_jobs_are_the_first_of_more(types: str) -> None:
    """The first hundred of a thousand jobs are a hundred jobs."""
    few, many = generate(100, types=types, seed=2), generate(1000, types=types, seed=2)
    assert few.jobs.equals(many.jobs.head(100))


@pytest.mark.parametrize("types", MODES)
def test_load_leaves_sizes_and_run_times(types: str) -> None:
    """Another load has the same n-th job of each type, at another time."""
    traces = [generate(400, types=types, seed=2, load=load).jobs for load in (None, 0.3, 0.9)]
    for queue in traces[0]["queue_id"].unique():
        of_type = [jobs[jobs["queue_id"].eq(queue).fillna(value=queue is not None)] for jobs in traces]
        least = min(map(len, of_type))
        first, *others = (jobs[SIZE_AND_RUN_TIME].head(least).reset_index(drop=True) for jobs in of_type)
        assert least > 0
        assert all(first.equals(other) for other in others)
    assert not traces[1]["submit_time"].equals(traces[2]["submit_time"])


def test_alpha_and_start_hour_leave_sizes_and_run_times() -> None:
    """So do alpha and the start hour."""
    plain = generate(300, seed=2).jobs
    for parameters in ({"alpha": 8.0}, {"start_hour": 9}):
        other = generate(300, seed=2, **parameters).jobs
        assert plain[SIZE_AND_RUN_TIME].equals(other[SIZE_AND_RUN_TIME])
        assert not plain["submit_time"].equals(other["submit_time"])


def test_seeds_draw_apart() -> None:
    """Equal seeds give equal workloads; neighbouring seeds, types and jobs have nothing in common."""
    assert generate(1000, seed=7).equals(generate(1000, seed=7))
    run_times = [np.log(generate(1000, seed=seed).arrays.run_time) for seed in (0, 1, 2**64 - 1)]
    assert (abs(np.corrcoef(run_times)[np.triu_indices(3, 1)]) < 5 / math.sqrt(1000)).all()
    assert abs(np.corrcoef(run_times[0][:-1], run_times[0][1:])[0, 1]) < 5 / math.sqrt(1000)
    gaps = [np.log(np.diff(generate(1000, types=types).arrays.submit_time) + 1) for types in ("batch", "interactive")]
    assert abs(np.corrcoef(gaps)[0, 1]) < 5 / math.sqrt(1000)


# The load


@pytest.mark.parametrize("types", MODES)
@pytest.mark.parametrize("load", [0.02, 0.5, 1.2])
def test_load_is_met(types: str, load: float) -> None:
    """The offered load is the one asked for, up to the rounding of times and the jumps of a mix."""
    trace = generate(5000, types=types, seed=11, load=load)
    assert load == pytest.approx(offered_load(trace), rel=1e-3 if types == "mix" else 2e-5)


def test_alpha_is_recorded() -> None:
    """The provenance has the alpha that met the load; given as alpha it makes the same jobs."""
    trace = generate(2000, seed=1, load=0.5)
    again = generate(2000, seed=1, alpha=trace.provenance["alpha"]["all"])
    assert trace.jobs.equals(again.jobs)
    assert {"all": ALL.aarr} == generate(10).provenance["alpha"]
    assert {"interactive": INTERACTIVE.aarr, "batch": BATCH.aarr} == generate(10, types="mix").provenance["alpha"]


def test_lower_alpha_is_heavier() -> None:
    """The authors' own knob: the load falls as alpha grows."""
    loads = [offered_load(generate(3000, seed=1, alpha=alpha)) or 0 for alpha in (8, 9, 10, 11, 12)]
    assert loads == sorted(loads, reverse=True)
    assert loads[0] > 5 * loads[-1]


@pytest.mark.parametrize("types", MODES)
@pytest.mark.parametrize("load", [1e-9, 1e9])
def test_a_load_out_of_reach_names_the_range(types: str, load: float) -> None:
    """The message says which loads there are, and those are met."""
    with pytest.raises(
        ParameterError, match=r"lublin-feitelson: no alpha gives load=.* it can be \S+ to \S+$"
    ) as caught:
        generate(500, types=types, load=load)
    least, greatest = map(float, str(caught.value).rpartition(" be ")[2].split(" to "))
    assert 1e-9 < least < greatest < 1e9
    for reachable in (1.1 * least, 0.9 * greatest):
        assert reachable == pytest.approx(offered_load(generate(500, types=types, load=reachable)), rel=0.05)


@pytest.mark.parametrize("aarr", [1e-6, 0.01, 1.0, 50.0, 1e6])
@pytest.mark.parametrize("barr", [1e-6, 0.1, 0.999999, 1.0, 1.5, 50.0, 1e6])
def test_any_arrivals_give_a_load_or_an_error(aarr: float, barr: float) -> None:
    """Whatever times between arrivals are asked for, the load is met, or refused."""
    overrides = {"all": {"aarr": aarr, "barr": barr}}
    try:
        trace = generate(100, load=0.5, overrides=overrides)
    except ParameterError:
        return
    assert 0.5 == pytest.approx(offered_load(trace), rel=0.01)


# Machines


@pytest.mark.parametrize("types", MODES)
@pytest.mark.parametrize("processors", MACHINES)
def test_sizes_fit_any_machine(types: str, processors: int) -> None:
    """No job is wider than the machine, and a size rounded to a power of two is one."""
    everything = {name: {"serial_probability": 0.0, "power_of_two_probability": 1.0} for name in MODES[types]}
    for overrides in ({}, everything):
        trace = generate(3000, types=types, processors=processors, overrides=overrides)
        sizes = trace.arrays.width
        assert processors == trace.processors
        assert sizes.min() >= 1
        assert sizes.max() <= processors
    assert are_powers_of_two(sizes).all()


def test_a_machine_of_one_processor_has_serial_jobs() -> None:
    """There is no other size."""
    assert {1} == set(generate(500, processors=1).arrays.width.tolist())


@pytest.mark.parametrize(
    ("processors", "expected"),
    [
        (128, (0.8, 4.5, 7)),
        (256, (0.8, 5.5, 8)),
        (32, (0.8, 2.5, 5)),
        (4, (0.8, 0.8, 2)),
        (1, (0, 0, 0)),
        (100, (0.8, math.log2(100) - 2.5, math.log2(100))),
    ],
)
def test_sizes_move_with_the_machine(processors: int, expected: tuple[float, float, float]) -> None:
    """u_hi is log2 of the machine and u_med 2.5 below, for the type of all jobs, down to u_low; all else stays."""
    moved = ALL.on_machine(processors)
    assert expected == pytest.approx((moved.u_low, moved.u_med, moved.u_hi))
    assert replace(ALL, u_low=moved.u_low, u_med=moved.u_med, u_hi=moved.u_hi) == moved


@given(st.sampled_from([ALL, BATCH, INTERACTIVE]), st.integers(1, 2**31 - 1))
def test_sizes_keep_their_order_on_any_machine(job_type: JobType, processors: int) -> None:
    """The three logarithms stay in order and above 0, or the parameters would be refused."""
    moved = job_type.on_machine(processors)
    assert 0 <= moved.u_low <= moved.u_med <= moved.u_hi <= max(job_type.u_hi, job_type.u_hi - 7 + 31)


def test_wide_jobs_run_longer() -> None:
    """On average: the second gamma, of long jobs, has more of them."""
    jobs = generate(20_000).arrays
    medians = [np.median(jobs.run_time[(jobs.width >= low) & (jobs.width <= 2 * low)]) for low in (1, 8, 64)]
    assert medians == sorted(medians)
