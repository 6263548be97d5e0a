# SPDX-License-Identifier: BSD-3-Clause
"""Generated moldability: equal to a slow twin, within its bounds, and distributed as published."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, clean, read_swf
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.header import SwfHeader
from swftools.models import moldability
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.models.speedup import run_time
from swftools.tables import to_arrow, write_table
from tests.examples import examples
from tests.naive.speedup import is_allowed, naive_moldability
from tests.strategies import traces

NAMES = [field.name for field in AUGMENTATION_COLUMNS["speedup"]]

PARAMETERS = [
    SpeedupParameters(),
    SpeedupParameters(seed=2**64 - 1, moldable_share=0.5, constraint="survey", sigma_factor=0.5),
    SpeedupParameters(seed=3, constraint="any", choices=100, sigma_factor=2),
    SpeedupParameters(seed=4, constraint="power-of-two", choices=1),
    SpeedupParameters(model="simple"),
    SpeedupParameters(model="simple", seed=9, constraint="survey", choices=5),
    SpeedupParameters(model="downey", constraint="survey"),
    SpeedupParameters(model="downey", seed=5, constraint="any", max_parallelism=40, moldable_share=0.9),
]  # fmt: skip


def jobs_of(widths: list[int] | np.ndarray[Any, Any], machine: int | None = 128, **columns: Any) -> Trace:
    """Make jobs of these widths that ran 1000 s, on a machine."""
    columns = {"job_number": np.arange(1, len(widths) + 1), "run_time": np.full(len(widths), 1000.0), **columns}
    return Trace.from_columns(machine_processors=machine, requested_processors=widths, **columns)


def lists_of(generated: pd.DataFrame) -> list[list[int] | None]:
    """Return the choices of every job."""
    lists: list[list[int] | None] = generated["processor_choices"].array.__arrow_array__().to_pylist()
    return lists


def as_bytes(trace: Trace, generated: pd.DataFrame) -> bytes:
    """Return the Parquet file of the generated columns."""
    keys = trace.jobs[["job_number"]].assign(job_occurrence=trace.jobs.get("job_occurrence", 0))
    buffer = io.BytesIO()
    write_table(to_arrow(keys.join(generated), "speedup"), buffer, "speedup")
    return buffer.getvalue()


# The slow twin


def whole_number_logs(jobs: int) -> st.SearchStrategy[Trace]:
    """Draw traces of jobs as logs have them, values missing, numbers repeated, widths beyond the machine."""

    def column(*values: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.sampled_from([-1, 0, *values]), min_size=jobs, max_size=jobs)

    parts = {"job_number": column(1, 2, 9_000_000_000), "run_time": column(1, 7, 3600, 10**6)}
    parts["allocated_processors"] = st.lists(
        st.integers(-1, 150) | st.sampled_from([1, 4, 16, 36, 64, 100, 256]), min_size=jobs, max_size=jobs
    )
    machine = st.sampled_from([1, 2, 100, 128, 300])
    return st.builds(
        lambda columns, size: Trace.from_columns(machine_processors=size, **columns),
        st.fixed_dictionaries(parts),
        machine,
    )


@pytest.mark.parametrize("parameters", PARAMETERS)
@examples(0.4)
@given(trace=whole_number_logs(6))
def test_generated_columns_are_the_slow_twins(parameters: SpeedupParameters, trace: Trace) -> None:
    """Every column of every job is that of a plain Python version, with numpy's own Philox and published constants."""
    generated = generate_speedup(trace, parameters).astype(object)
    generated["processor_choices"] = pd.Series(lists_of(generate_speedup(trace, parameters)), dtype=object)
    seen: dict[int, int] = {}
    for i, row in enumerate(generated.where(generated.notna(), None).to_dict("records")):
        number, width, time = trace.arrays.job_number[i], int(trace.arrays.width[i]), trace.arrays.run_time[i]
        job = {"job_number": int(number), "job_occurrence": seen.get(number, 0)}
        seen[number] = seen.get(number, 0) + 1
        job |= {"width": width if width > 0 else None, "run_time": None if np.isnan(time) else time}
        expected = naive_moldability(job, parameters.to_mapping(), trace.processors or 0)
        assert NAMES == list(row)
        for name in NAMES:
            if expected[name] is None or not isinstance(expected[name], float):
                assert expected[name] == row[name], name
            else:
                assert expected[name] == pytest.approx(row[name], rel=1e-9), name


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_interpreted_kernels_are_the_compiled_ones(
    parameters: SpeedupParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernels, interpreted, give the same columns."""
    trace = jobs_of(np.arange(150) % 70, machine=100, job_number=np.arange(150) // 2)
    compiled = generate_speedup(trace, parameters)
    kernels = "_generate _draw_kind _draw_job _draw_downey _uniform_log _best_width _draw_choices _insert _index _width"
    for name in kernels.split():
        monkeypatch.setattr(moldability, name, getattr(moldability, name).py_func)
    interpreted = generate_speedup(trace, parameters)
    assert lists_of(compiled) == lists_of(interpreted)
    compared = NAMES[:-1]
    pd.testing.assert_frame_equal(compiled[compared], interpreted[compared], check_exact=False, rtol=1e-12)


# Invariants


@examples(0.5)
@given(traces(utility=False), st.sampled_from(PARAMETERS))
def test_any_trace_gets_columns_of_the_dictionary(trace: Trace, parameters: SpeedupParameters) -> None:
    """Whatever a log says, the columns fit the column dictionary, and missing widths give nulls."""
    generated = generate_speedup(trace, parameters)
    to_arrow(trace.jobs[["job_number"]].assign(job_occurrence=0).join(generated), "speedup")
    unknown = trace.arrays.width < 1
    assert generated.loc[unknown, NAMES[1:]].isna().all(axis=None)
    assert not generated.loc[unknown, "is_moldable"].any()
    assert generated.loc[~unknown, NAMES[5:]].notna().all(axis=None)


@given(whole_number_logs(6), st.sampled_from(PARAMETERS))
def test_bounds_and_choices(trace: Trace, parameters: SpeedupParameters) -> None:
    """Minimum <= width, optimum <= maximum <= machine or width; choices distinct, allowed, the width among them."""
    generated = generate_speedup(trace, parameters)
    machine = trace.processors or 0
    for row, width, choices in zip(generated.itertuples(), trace.arrays.width, lists_of(generated), strict=True):
        if choices is None:
            continue
        least, best, most, kind = row[6], row[7], row[8], row[9]
        assert 1 <= least <= min(width, best)
        assert max(width, best) <= most <= max(machine, width)
        assert choices == sorted(set(choices))
        assert width in choices
        assert least <= choices[0] <= choices[-1] <= most
        assert row.is_moldable == (kind != "rigid") == (row.speedup_curve == row.speedup_curve)
        others = {best, *choices} - {width}
        assert all(is_allowed(kind, n) for n in others) if row.is_moldable else not others
        assert len(choices) <= (parameters.choices or 19)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_run_time_on_the_own_width_is_the_logged_one(parameters: SpeedupParameters) -> None:
    """The curves go through what the log says; more processors, up to the maximum, are never slower."""
    trace = jobs_of(1 + np.arange(900) % 150)
    table = generate_speedup(trace, parameters).assign(width=trace.arrays.width, run_time=trace.jobs["run_time"])
    np.testing.assert_allclose(run_time(table["width"], table), table["run_time"], rtol=1e-13)
    times = [run_time(table[name], table) for name in ("minimum_processors", "maximum_processors")]
    assert (times[0] >= 1000 - 1e-9).all()
    assert (times[1] <= 1000 + 1e-9).all()


def test_hand_made_jobs_of_the_simple_model() -> None:
    """Odd, single, machine-wide and wider jobs, without any draws but those of choices."""
    trace = jobs_of([1, 7, 100, 128, 200, 0], run_time=[10, 10, 10, -1, 10, 10])
    generated = generate_speedup(trace, SpeedupParameters(model="simple", constraint="any", choices=3))
    assert [1, 4, 50, 64, 100, None] == generated["minimum_processors"].astype(object).where(pd.notna, None).tolist()
    assert [1, 7, 100, 128, 200] == generated["optimal_processors"][:5].tolist()
    assert [2, 14, 128, 128, 200] == generated["maximum_processors"][:5].tolist()
    np.testing.assert_allclose(generated["sequential_run_time"], [6.5, 45.5, 650, np.nan, 1300, np.nan])
    assert [2, 3, 3, 3, 3] == [len(choices or []) for choices in lists_of(generated)[:5]]
    assert generated[["downey_a", "downey_sigma"]].isna().all(axis=None)


def test_machine_of_unknown_size() -> None:
    """The largest width stands for the machine; MaxProcs of a header, where there is one."""
    by_width = generate_speedup(jobs_of([3, 40, 5], machine=None), SpeedupParameters(model="simple"))
    assert [6, 40, 10] == by_width["maximum_processors"].tolist()
    header = SwfHeader.from_lines(["; MaxProcs: 8"])
    by_header = generate_speedup(
        Trace.from_columns(header, job_number=[1, 2], requested_processors=[3, 5]), SpeedupParameters(model="simple")
    )
    assert [6, 8] == by_header["maximum_processors"].tolist()
    unknown = generate_speedup(jobs_of([-1, 0], machine=None))
    assert [False, False] == unknown["is_moldable"].tolist()


@pytest.mark.parametrize("model", moldability.MODELS)
@pytest.mark.parametrize("machine", [1, 2, 2**62])
def test_least_and_largest_machines(model: Any, machine: int) -> None:
    """On 1 processor a job has one width; widths of 62 bits do not overflow."""
    generated = generate_speedup(jobs_of([1, machine], machine), SpeedupParameters(model=model, constraint="any"))
    assert (generated["maximum_processors"] <= machine).all()
    assert [machine] == [choices[-1] for choices in lists_of(generated)[1:] if choices]
    if machine == 1:
        assert [[1], [1]] == lists_of(generated)
        assert [True, True] == generated["is_moldable"].tolist()


def test_no_jobs() -> None:
    """No jobs get no curves, in the same dtypes."""
    none, some = generate_speedup(Trace.from_columns()), generate_speedup(jobs_of([1]))
    assert 0 == len(none)
    assert NAMES == list(none)
    assert some.dtypes.to_dict() == none.dtypes.to_dict()


# What a draw depends on


@pytest.fixture(scope="module")
def cleaned(shipped_log: Path) -> Trace:
    """The shipped log, cleaned, with some numbers given to several jobs."""
    trace = read_swf(shipped_log)
    numbers = trace.jobs["job_number"].mask(trace.jobs["job_number"] % 7 == 0, 77)
    return clean(trace.with_jobs(trace.jobs.assign(job_number=numbers)))[0]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_order_and_chunks_do_not_matter(cleaned: Trace, parameters: SpeedupParameters) -> None:
    """Jobs shuffled, in chunks or left out get the columns they had; the file has the same bytes."""
    cleaned = cleaned.with_jobs(cleaned.jobs.head(1500))
    whole = generate_speedup(cleaned, parameters)
    order = np.random.default_rng(3).permutation(len(cleaned))
    shuffled = generate_speedup(cleaned.with_jobs(cleaned.jobs.iloc[order]), parameters)
    assert order.tolist() == shuffled.index.tolist()
    parts = [cleaned.with_jobs(cleaned.jobs.iloc[start : start + 700]) for start in range(0, len(cleaned), 700)]
    joined = pd.concat([generate_speedup(part, parameters) for part in parts])
    expected = as_bytes(cleaned, whole)
    assert expected == as_bytes(cleaned, shuffled.sort_index())
    assert expected == as_bytes(cleaned, joined)
    assert expected != as_bytes(cleaned, generate_speedup(cleaned, dataclasses.replace(parameters, seed=77)))


def test_shares_and_constraints_leave_curves_alone(cleaned: Trace) -> None:
    """A job that is moldable under two settings has the same A and sigma in both."""
    all_jobs = generate_speedup(cleaned)
    some = generate_speedup(cleaned, SpeedupParameters(moldable_share=0.5, constraint="survey"))
    moldable = some["is_moldable"]
    assert 0.45 < moldable.mean() < 0.53
    pd.testing.assert_frame_equal(all_jobs.loc[moldable, NAMES[1:5]], some.loc[moldable, NAMES[1:5]])


def test_the_trace_is_not_changed() -> None:
    """Generation leaves jobs and arrays as they are."""
    trace = jobs_of([1, 5, -1])
    jobs, arrays = trace.jobs.copy(deep=True), [array.copy() for array in trace.arrays]
    generate_speedup(trace)
    pd.testing.assert_frame_equal(jobs, trace.jobs)
    for before, after in zip(arrays, trace.arrays, strict=True):
        np.testing.assert_array_equal(before, after)
