# SPDX-License-Identifier: BSD-3-Clause
"""Other arrivals for the jobs of a trace: what each model keeps, and what it makes anew."""

from __future__ import annotations

import io
import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import SwfHeader, Trace, read_swf, write_swf
from swftools.errors import ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS, SWF_NAMES
from swftools.models.arrivals import MODELS, ArrivalParameters, apply_arrivals, generate_arrivals
from swftools.models.daily_cycle import DAY
from swftools.offered_work import offered_load
from tests.examples import examples
from tests.models.arrival_samples import EACH, KEEPING, NAME, each_model, jobs_at, named, times_of
from tests.strategies import traces

# By hand


def test_scaled_by_hand() -> None:
    """Every time between arrivals is multiplied; the first stays; equal times stay equal."""
    trace = jobs_at(10, 10, 30, 100)
    assert [10, 10, 20, 55] == times_of(trace, named("scaled", factor=0.5)).tolist()
    assert [10, 10, 70, 280] == times_of(trace, named("scaled", factor=3)).tolist()
    # 4 x 100 s x 2 of 8 processors are 100 s of the machine
    assert [10, 10, 32, 110] == pytest.approx(times_of(trace, named("scaled", load=1)).tolist(), abs=0.5)


def test_bootstrap_of_one_day_by_hand() -> None:
    """A log of one whole day, between two parts of days, has that day again and again."""
    trace = jobs_at(80_000, DAY + 100, DAY + 500, 2 * DAY, 2 * DAY + 7)
    expected = [DAY + 100, DAY + 500, 2 * DAY + 100, 2 * DAY + 500, 3 * DAY + 100]
    assert expected == times_of(trace, named("bootstrap")).tolist()


def test_bootstrap_without_a_whole_block_by_hand() -> None:
    """A log too short for a block is one block: its own times."""
    trace = jobs_at(100, 200, 500)
    assert [100, 200, 500] == times_of(trace, named("bootstrap")).tolist()
    assert [100, 200, 500 + DAY] == times_of(jobs_at(100, 200, 500 + DAY), named("bootstrap", block_days=7)).tolist()


def test_order_of_one_second_by_hand() -> None:
    """Jobs of one second come in the order of their numbers, then of their lines, wherever they stand."""
    trace = Trace.from_columns(job_number=[3, 1, 2, 2, 9], submit_time=[5, 5, 5, 5, 50])
    jobs = trace.jobs.assign(line_number=pd.array([1, 2, 4, 3, 5], dtype="Int64"))
    times = times_of(trace.with_jobs(jobs), named("poisson", seed=3))
    assert [1, 3, 2, 0, 4] == np.argsort(times, kind="stable").tolist()


# What is kept


@each_model
def test_jobs_keep_their_order(cleaned: Trace, parameters: ArrivalParameters) -> None:
    """New times ascend in the order of the logged submissions."""
    times = generate_arrivals(cleaned, parameters)[NAME]
    keys = cleaned.jobs.assign(new=times).sort_values(["submit_time", "job_number"], kind="stable")
    assert keys["new"].is_monotonic_increasing
    assert (times % 1 == 0).all()
    assert times.notna().all()


@each_model
@examples(0.25)
@given(trace=traces(utility=False), seed=st.sampled_from([0, 1, 2**64 - 1]))
def test_any_order_of_rows(parameters: ArrivalParameters, trace: Trace, seed: int) -> None:
    """Backwards, every job gets the time that it gets forwards; the columns fit the column dictionary."""
    lines = pd.array(np.arange(1, len(trace) + 1), dtype="Int64")
    trace = trace.with_jobs(trace.jobs.assign(line_number=lines))
    chosen = ArrivalParameters(**{**parameters.to_mapping(), "seed": seed})
    try:
        forwards = generate_arrivals(trace, chosen)
    except ParameterError:
        # Only where a day is drawn again beyond the last time, or time is doubled.
        assert chosen.model in {"bootstrap", "scaled"}
        assert np.nanmax(trace.arrays.submit_time) > 1e9
        return
    backwards = generate_arrivals(trace.with_jobs(trace.jobs[::-1]), chosen)
    pd.testing.assert_frame_equal(forwards, backwards.sort_index())
    assert [field.name for field in AUGMENTATION_COLUMNS["arrivals"]] == list(forwards)
    times, logged = forwards[NAME].to_numpy(), trace.arrays.submit_time
    assert np.isnan(logged).tolist() == np.isnan(times).tolist()
    known = times[~np.isnan(times)]
    assert (known >= 0).all()
    assert not np.signbit(known).any()
    assert (known == np.rint(known)).all()
    for one, other in pairwise(np.argsort(logged, kind="stable")[: len(known)]):
        assert times[one] <= times[other] or logged[one] == logged[other]
    if len(known) and chosen.model != "bootstrap":
        assert np.rint(np.nanmin(logged)) == known.min()
    if chosen in KEEPING and len(known):
        assert np.rint(np.nanmax(logged)) == known.max()


@pytest.mark.parametrize("parameters", KEEPING, ids=lambda chosen: f"{chosen.model}-{chosen.types}")
def test_rate_of_the_log_is_kept(cleaned: Trace, workload: Trace, parameters: ArrivalParameters) -> None:
    """The first and the last job come when they came in the log, whatever the seed."""
    for trace in (cleaned, workload):
        logged = trace.arrays.submit_time
        for seed in (0, 1):
            times = times_of(trace, named(parameters.model, types=parameters.types, seed=seed))
            assert (logged.min(), logged.max()) == (times.min(), times.max())
            assert 0.99 < len(np.unique(times)) / len(times) or parameters.types != "all"


@pytest.mark.parametrize("model", ["lublin-feitelson", "poisson", "scaled"])
@pytest.mark.parametrize("load", [0.3, 0.9])
def test_load_is_met(cleaned: Trace, workload: Trace, model: str, load: float) -> None:
    """The offered load of the new times is the one asked for; the first job comes when it came."""
    for trace in (cleaned, workload):
        times = times_of(trace, named(model, load=load))
        assert load == pytest.approx(offered_load(trace, times), rel=2e-6)
        assert trace.arrays.submit_time.min() == times.min()


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=20), st.floats(1e-3, 1e3))
def test_scaled_is_linear(times: list[int], factor: float) -> None:
    """Every time since the first is the logged one times the factor, rounded."""
    scaled = times_of(jobs_at(*times), named("scaled", factor=factor))
    assert np.rint(min(times) + factor * (np.array(times) - min(times))).tolist() == pytest.approx(scaled, abs=1)
    if times != sorted(times) or factor == 1:
        assert times == times_of(jobs_at(*times), named("scaled", factor=1)).tolist()


# Traces of few jobs, and of none


@each_model
def test_no_jobs(parameters: ArrivalParameters) -> None:
    """No jobs have no times."""
    none = generate_arrivals(Trace.from_columns(), parameters)
    assert (0, [NAME]) == (len(none), list(none))
    assert "float64" == str(none[NAME].dtype)


@each_model
@pytest.mark.parametrize("times", [[7], [7, 7, 7], [-1, 7], [-1], [-1, -1]])
def test_jobs_without_time_between(parameters: ArrivalParameters, times: list[float]) -> None:
    """A single submission, or all at once, or none known: the times stay, missing ones missing."""
    expected = [math.nan if time < 0 else time for time in times]
    np.testing.assert_array_equal(expected, times_of(jobs_at(*times), parameters))


@each_model
def test_two_jobs(parameters: ArrivalParameters) -> None:
    """The first stays, and the second stays too where the rate of the log is kept."""
    factor = 2 if parameters.model == "scaled" else 1
    assert [5, 5 + factor * 300] == times_of(jobs_at(5, 305), parameters).tolist()


def test_missing_submissions_stay_missing() -> None:
    """A job without a submission gets none, and takes no part."""
    whole, gappy = jobs_at(0, 50, 900, 4000), jobs_at(0, -1, 50, 900, -1, 4000)
    for parameters in EACH:
        times = times_of(gappy, parameters)
        assert [1, 4] == np.flatnonzero(np.isnan(times)).tolist()
        assert times_of(whole, parameters).tolist() == times[[0, 2, 3, 5]].tolist()


@pytest.mark.parametrize("model", ["lublin-feitelson", "poisson", "scaled"])
def test_a_load_that_cannot_be_told(model: str) -> None:
    """Without times, work or a machine there is no load, and the message says which of them lacks."""
    chosen = named(model, load=0.5)
    for trace in (jobs_at(), jobs_at(7), jobs_at(7, 7)):
        with pytest.raises(ParameterError, match=r"load=0.5 needs two jobs submitted at different times"):
            generate_arrivals(trace, chosen)
    idle = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 9])
    with pytest.raises(ParameterError, match=r"load=0.5 needs jobs with width and run time; this trace has none"):
        generate_arrivals(idle, chosen)
    unknown = Trace.from_columns(job_number=[1, 2], submit_time=[0, 9], run_time=[5, 5], requested_processors=[1, 1])
    with pytest.raises(ParameterError, match=r"load=0.5 needs the machine's number of processors"):
        generate_arrivals(unknown, chosen)


def test_times_beyond_the_last() -> None:
    """Jobs that would come later than a log can say are refused."""
    with pytest.raises(ParameterError, match=r"the last job would come at 2e\+10 s"):
        times_of(jobs_at(0, 2e9), named("scaled", factor=10))


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": 0.5}, "seed=0.5 is not an integer"),
        ({"model": "weibull"}, "model='weibull' is not one of lublin-feitelson, poisson, bootstrap, scaled"),
        ({"model": None}, "model=None is not one of"),
        ({"load": 0}, "load=0 is not a number from 1e-9 to 1e9, or none"),
        ({"load": math.nan}, "load=nan is not a number from 1e-9 to 1e9, or none"),
        ({"load": True}, "load=True is not a number from 1e-9 to 1e9, or none"),
        ({"load": 0.5, "model": "bootstrap"}, "load=0.5 is not for model bootstrap, which keeps the log's own"),
        ({"factor": 2.0}, "factor=2.0 is not for another model than scaled"),
        ({"factor": -2.0, "model": "scaled"}, "factor=-2.0 is not a number from 1e-9 to 1e9, or none"),
        ({"model": "scaled"}, "load=None is not given alone: model=scaled takes either load or factor"),
        ({"model": "scaled", "load": 1.0, "factor": 1.0}, "load=1.0 is not given alone"),
        ({"types": "typed"}, "types='typed' is not one of all, batch, interactive, mix"),
        ({"types": ["all"]}, "types=['all'] is not one of"),
        ({"block_days": 0}, "block_days=0 is not an integer from 1 to 10,000"),
        ({"block_days": 1.5}, "block_days=1.5 is not an integer"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain, however the parameters are given."""
    for make in (lambda: ArrivalParameters(**parameters), lambda: ArrivalParameters.from_mapping(parameters)):
        with pytest.raises(ParameterError) as caught:
            make()
        assert f"arrivals: {message}" in str(caught.value)


@each_model
def test_parameters_survive_json(parameters: ArrivalParameters) -> None:
    """What the manifest records makes the same parameters again."""
    assert parameters == ArrivalParameters.from_mapping(json.loads(json.dumps(parameters.to_mapping())))
    assert parameters.model in MODELS


# Applied


@each_model
def test_applied_to_the_shipped_log(cleaned: Trace, parameters: ArrivalParameters) -> None:
    """The jobs come in order at their new times, with absolute times of their own, and otherwise as they were."""
    joined = cleaned.with_jobs(cleaned.jobs.join(generate_arrivals(cleaned, parameters)))
    applied = apply_arrivals(joined)
    jobs = applied.jobs
    assert jobs["submit_time"].is_monotonic_increasing
    assert jobs["submit_time"].tolist() == jobs[NAME].tolist()
    assert list(range(len(jobs))) == jobs.index.tolist()
    for name in ("wait_time", "think_time", "preceding_job_number"):
        assert jobs[name].isna().all()
        assert cleaned.jobs[name].dtype == jobs[name].dtype
    start = pd.Timestamp(cleaned.header.unix_start_time or 0, unit="s", tz="UTC")
    if "submit_timestamp" in jobs:
        assert (jobs["submit_timestamp"] == start + pd.to_timedelta(jobs["submit_time"], unit="s")).all()
    before = joined.jobs.sort_values([NAME, "line_number"], kind="stable")
    after = jobs.sort_values([NAME, "line_number"], kind="stable")
    same = ["job_number", "run_time", "allocated_processors", "requested_time", "user_id", "line_number"]
    pd.testing.assert_frame_equal(before[same].reset_index(drop=True), after[same].reset_index(drop=True))
    assert offered_load(applied) == pytest.approx(offered_load(cleaned, joined.jobs[NAME].to_numpy()), rel=1e-9)
    assert joined.jobs["submit_time"].tolist() == cleaned.jobs["submit_time"].tolist()  # which is not changed


def test_what_only_the_logged_submission_gave_a_meaning_is_gone() -> None:
    """Wait, think time and the job before are missing; all else is as it was, and the trace given is not changed."""
    columns = {name: [2, 1] for name in SWF_NAMES}
    trace = Trace.from_columns(**columns)
    before = trace.with_jobs(trace.jobs.assign(**{NAME: [50.0, 30.0]}))
    applied = apply_arrivals(before).jobs
    gone = ["wait_time", "think_time", "preceding_job_number"]
    assert applied[gone].isna().all().all()
    assert [30, 50] == applied["submit_time"].tolist()
    assert all([1, 2] == applied[name].tolist() for name in SWF_NAMES if name not in [*gone, "submit_time"])
    assert trace.jobs.dtypes.to_dict() == applied[list(trace.jobs)].dtypes.to_dict()
    assert all([2, 1] == before.jobs[name].tolist() for name in SWF_NAMES)
    kept = apply_arrivals(before, keeps_dependencies=True).jobs
    assert all([1, 2] == kept[name].tolist() for name in SWF_NAMES if name not in ("wait_time", "submit_time"))


def test_applied_and_written(cleaned: Trace) -> None:
    """The trace with its new submissions survives SWF."""
    joined = cleaned.with_jobs(cleaned.jobs.join(generate_arrivals(cleaned, named("poisson"))))
    applied, file = apply_arrivals(joined), io.BytesIO()
    write_swf(applied, file)
    file.seek(0)
    read = read_swf(file)
    assert applied.jobs["submit_time"].tolist() == read.jobs["submit_time"].tolist()
    assert read.jobs["wait_time"].isna().all()


@pytest.mark.parametrize("lines", [[], ["; UnixStartTime: 1000"]])
def test_absolute_times_are_made_anew(lines: list[str]) -> None:
    """A column submit_timestamp follows the new submissions; missing without a start, or a submission."""
    trace = jobs_at(0, -1, 60, header=SwfHeader.from_lines(lines))
    stamps = pd.Series(pd.to_datetime([0, 0, 0], unit="ms", utc=True).as_unit("ms"))
    jobs = trace.jobs.assign(submit_timestamp=stamps, **{NAME: [40.0, math.nan, 20.0]})
    applied = apply_arrivals(trace.with_jobs(jobs)).jobs
    assert [3, 1, 2] == applied["job_number"].tolist()
    expected = [1020_000, 1040_000, None] if lines else [None] * 3
    found = [None if stamp is pd.NaT else stamp.timestamp() * 1000 for stamp in applied["submit_timestamp"]]
    assert expected == found


def test_nothing_to_apply() -> None:
    """Without the column there is one clear error."""
    with pytest.raises(ParameterError, match=f"no column {NAME}; join what generate_arrivals returns"):
        apply_arrivals(jobs_at(1, 2))


@examples(0.5)
@given(traces(utility=False))
def test_any_trace_can_be_applied(trace: Trace) -> None:
    """Jobs without a new submission come last; none is lost."""
    times = generate_arrivals(trace, named("scaled", factor=0.5))
    applied = apply_arrivals(trace.with_jobs(trace.jobs.join(times))).jobs
    assert len(trace) == len(applied)
    assert applied["submit_time"].is_monotonic_increasing or applied["submit_time"].isna().any()
    assert applied["submit_time"].dropna().is_monotonic_increasing


def test_an_asked_begin_moves_with_the_submission() -> None:
    """A job may start as long behind its submission as before; one that did not ask still did not."""
    trace = jobs_at(10, 50, 90)
    jobs = trace.jobs.assign(begin_time=[np.nan, 60.0, 90.0], model_submit_time=[40.0, 30.0, 180.0])
    applied = apply_arrivals(trace.with_jobs(jobs)).jobs.set_index("submit_time")["begin_time"]
    assert applied.loc[[30.0, 180.0]].tolist() == [40.0, 180.0]
    assert np.isnan(applied.loc[40.0])
