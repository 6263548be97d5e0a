# SPDX-License-Identifier: BSD-3-Clause
"""Lublin-Feitelson workloads: parameters of one's own, what is refused, and the trace that is made."""

from __future__ import annotations

import io
import json
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, read_swf, write_swf
from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.fields.dictionary import SWF_NAMES
from swftools.models.lublin_feitelson import LublinFeitelsonParameters, generate
from swftools.models.lublin_feitelson_types import BATCH, INTERACTIVE, MODES
from swftools.tables import to_arrow

GIVEN = ["job_number", "submit_time", "run_time", "allocated_processors", "requested_processors"]
"""Columns that a model of all jobs fills."""


# Overrides


def test_overrides() -> None:
    """Other values for some parameters of some types; sizes so given are not moved to the machine."""
    parameters = LublinFeitelsonParameters(
        processors=1024, types="mix", overrides={"batch": {"u_med": 4.0, "serial_probability": 0.1}}
    )
    types = parameters.job_types
    assert ["interactive", "batch"] == list(types)
    assert INTERACTIVE.on_machine(1024) == types["interactive"]
    assert replace(BATCH, u_med=4.0, u_hi=10.0, serial_probability=0.1) == types["batch"]


def test_serial_jobs_alone() -> None:
    """Overrides do what they say."""
    only_serial = {"all": {"serial_probability": 1.0, "power_of_two_probability": 0.0}}
    assert {1} == set(generate(300, overrides=only_serial).arrays.width.tolist())
    one_size = {"all": {"serial_probability": 0, "u_low": 5, "u_med": 5, "u_hi": 5}}
    assert {32} == set(generate(300, overrides=one_size).arrays.width.tolist())
    no_end = {"all": {"pa": -1, "pb": 1.9}}
    run_times = generate(2000, overrides=no_end).arrays
    assert (run_times.run_time[run_times.width > 1] > 1000).all()  # the second gamma alone


# The trace


@pytest.mark.parametrize("types", MODES)
@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_columns(types: str, count: int) -> None:
    """What the model knows is never missing, all else always is; the columns fit the column dictionary."""
    trace = generate(count, types=types)
    queue = [] if types == "all" else ["queue_id"]
    assert count == len(trace)
    for name in SWF_NAMES:
        assert trace.jobs[name].isna().eq(name not in GIVEN + queue).all(), name
    assert list(range(1, count + 1)) == trace.jobs["job_number"].tolist()
    assert trace.jobs["submit_time"].is_monotonic_increasing
    for name in ("submit_time", "run_time"):
        assert (trace.jobs[name] % 1 == 0).all()
    assert (trace.jobs["run_time"] >= 1).all()
    assert {"mix": {0, 1}, "batch": {1}, "interactive": {0}}.get(types, set()) >= set(trace.jobs["queue_id"].dropna())
    to_arrow(trace.jobs, "jobs")


def test_a_workload_survives_swf() -> None:
    """Written and read back it is the same, with a header that says what it is."""
    trace = generate(200, types="mix", processors=64, start_hour=8)
    file = io.BytesIO()
    write_swf(trace, file)
    file.seek(0)
    read = read_swf(file)
    assert trace.jobs.drop(columns="line_number").equals(
        read.jobs[list(trace.jobs.columns)].drop(columns="line_number")
    )
    assert trace.header == read.header
    assert 64 == read.processors
    assert 200 == read.header.max_jobs
    assert ("0 interactive", "1 batch") == read.header.texts("Queue")
    assert "second 0 is 08:00" in (read.header.text("Note") or "")


def test_provenance_makes_the_workload_again() -> None:
    """What is recorded survives JSON, and generates the same jobs."""
    trace = generate(100, types="mix", seed=2**64 - 1, load=0.5, overrides={"batch": {"u_med": 4.5}})
    recorded = json.loads(json.dumps(trace.provenance))
    assert "lublin-feitelson" == recorded["name"]
    parameters = LublinFeitelsonParameters.from_mapping(recorded["parameters"])
    assert parameters.to_mapping() == recorded["parameters"]
    again = generate(**recorded["parameters"])
    assert trace.equals(again)
    assert list(trace.provenance["parameters"]) == [field.name for field in fields(LublinFeitelsonParameters)]


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jobs": -1}, "jobs=-1 is not an integer from 0 to 1,000,000,000"),
        ({"jobs": 1.5}, "jobs=1.5 is not an integer"),
        ({"jobs": True}, "jobs=True is not an integer"),
        ({"jobs": 10**9 + 1}, "jobs=1000000001 is not an integer"),
        ({"processors": 0}, "processors=0 is not an integer from 1 to 2**31 - 1"),
        ({"processors": 2**31}, "processors=2147483648 is not an integer"),
        ({"processors": "128"}, "processors='128' is not an integer"),
        ({"seed": -1}, "seed=-1 is not an integer from 0 to 2**64 - 1"),
        ({"seed": 2**64}, "seed=18446744073709551616 is not an integer"),
        ({"types": "typed"}, "types='typed' is not one of all, batch, interactive, mix"),
        ({"types": ["all"]}, "types=['all'] is not one of"),
        ({"types": None}, "types=None is not one of"),
        ({"load": 0}, "load=0 is not a number from 1e-9 to 1e9, or none"),
        ({"load": -0.5}, "load=-0.5 is not a number from 1e-9 to 1e9, or none"),
        ({"load": math.nan}, "load=nan is not a number from 1e-9 to 1e9, or none"),
        ({"load": math.inf}, "load=inf is not a number from 1e-9 to 1e9, or none"),
        ({"load": "0.8"}, "load='0.8' is not a number from 1e-9 to 1e9, or none"),
        ({"load": 0.8, "jobs": 1}, "load=0.8 is not for fewer than two jobs"),
        ({"load": 0.8, "jobs": 0}, "load=0.8 is not for fewer than two jobs"),
        ({"alpha": 9.0, "load": 0.8}, "alpha=9.0 is not for types=mix, nor beside load"),
        ({"alpha": 9.0, "types": "mix"}, "alpha=9.0 is not for types=mix, nor beside load; give overrides"),
        ({"alpha": 0}, "alpha=0 is not a number from 1e-6 to 1e6"),
        ({"alpha": math.nan}, "alpha=nan is not a number from 1e-6 to 1e6"),
        ({"alpha": 1e5}, "aarr=100000.0 is not such that with arar=1.0225, barr=0.4871 at least 1 % of the times"),
        ({"start_hour": 24}, "start_hour=24 is not an integer from 0 to 23"),
        ({"start_hour": -1}, "start_hour=-1 is not an integer from 0 to 23"),
        ({"start_hour": 8.0}, "start_hour=8.0 is not an integer"),
        ({"overrides": None}, "overrides=None is not a mapping of all to parameters"),
        ({"overrides": {"batch": {}}}, "overrides={'batch': {}} is not a mapping of all to parameters"),
        (
            {"overrides": {"all": {}}, "types": "mix"},
            "overrides={'all': {}} is not a mapping of interactive or batch to parameters",
        ),
        ({"overrides": {"all": 3}}, "overrides={'all': 3} is not a mapping"),
        ({"overrides": {"all": {"ARAR": 1}}}, "unknown parameters ['ARAR']; there are: serial_probability"),
        ({"overrides": {"all": {"arar": 0}}}, "arar=0 is not a number from 1e-6 to 1e6"),
        ({"overrides": {"all": {"arar": 50}}}, "aarr=10.2303 is not such that with arar=50, barr=0.4871 at least 1 %"),
        ({"overrides": {"all": {"aarr": -1}}}, "aarr=-1 is not a number from 1e-6 to 1e6"),
        ({"overrides": {"all": {"barr": math.inf}}}, "barr=inf is not a number"),
        ({"overrides": {"all": {"anum": 0}}}, "anum=0 is not a number"),
        ({"overrides": {"all": {"bnum": "x"}}}, "bnum='x' is not a number"),
        ({"overrides": {"all": {"a1": 0}}}, "a1=0 is not a number from 1e-6 to 1e6"),
        (
            {"overrides": {"all": {"a1": 40}}},
            "a1=40 is not such that with b1=0.94 at least 1 % of run times stay below",
        ),
        ({"overrides": {"all": {"b1": 90}}}, "a1=4.2 is not such that with b1=90 at least 1 %"),
        ({"overrides": {"all": {"a2": 500}}}, "a2=500 is not such that with b2=0.03 at least 1 %"),
        ({"overrides": {"all": {"b2": None}}}, "b2=None is not a number"),
        ({"overrides": {"all": {"pa": math.nan}}}, "pa=nan is not a number from -1e6 to 1e6"),
        ({"overrides": {"all": {"pb": 2}}}, "pb=2 is not such that pa + pb, with pa=-0.0054, is from 0 to 1"),
        ({"overrides": {"all": {"pa": -1}}}, "pb=0.78 is not such that pa + pb, with pa=-1, is from 0 to 1"),
        ({"overrides": {"all": {"serial_probability": 1.1}}}, "serial_probability=1.1 is not a number from 0 to 1"),
        ({"overrides": {"all": {"serial_probability": 0.5}}}, "power_of_two_probability=0.576 is not at most 1 - 0.5"),
        (
            {"overrides": {"all": {"power_of_two_probability": -0.1}}},
            "power_of_two_probability=-0.1 is not a number from",
        ),
        ({"overrides": {"all": {"u_prob": 2}}}, "u_prob=2 is not a number from 0 to 1"),
        ({"overrides": {"all": {"u_low": -1}}}, "u_low=-1 is not a number from 0 to 31 (log2 of a size)"),
        ({"overrides": {"all": {"u_low": 5}}}, "u_med=4.5 is not at least u_low=5"),
        ({"overrides": {"all": {"u_med": 8}}}, "u_hi=7.0 is not at least u_med=8"),
        ({"overrides": {"all": {"u_hi": 32}}}, "u_hi=32 is not a number from 0 to 31 (log2 of a size)"),
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and its domain, however the parameters are given."""
    for make in (
        lambda: LublinFeitelsonParameters(**parameters),
        lambda: LublinFeitelsonParameters.from_mapping(parameters),
        lambda: generate(**{"jobs": 10, **parameters}),
    ):
        with pytest.raises(ParameterError) as caught:
            make()
        assert f"lublin-feitelson: {message}" in str(caught.value)


def test_unknown_parameters_are_refused() -> None:
    """A misspelt parameter is told, with those that there are."""
    with pytest.raises(ParameterError, match=r"unknown parameters \['Load'\]; there are: jobs, processors, seed"):
        LublinFeitelsonParameters.from_mapping({"Load": 1})


def test_jobs_beyond_the_last_time() -> None:
    """Jobs that would come later than a log can say are refused, with what to change."""
    with pytest.raises(
        ParameterError, match=r"the last of jobs=400000 would come at \S+ s, but a log ends at 1e\+10 s"
    ):
        generate(400_000, types="batch", alpha=16.0)
    assert generate(1000, types="batch", alpha=16.0).arrays.submit_time.max() < MAX_TIME


@given(
    st.integers(0, 30),
    st.sampled_from([1, 2, 3, 7, 64, 430]),
    st.integers(0, 2**64 - 1),
    st.sampled_from(sorted(MODES)),
    st.integers(0, 23),
)
def test_any_workload_is_whole(jobs: int, processors: int, seed: int, types: str, start_hour: int) -> None:
    """Whatever is asked for, jobs are in order, fit the machine, and run at least a second."""
    trace: Trace = generate(jobs, processors=processors, seed=seed, types=types, start_hour=start_hour)
    arrays = trace.arrays
    assert jobs == len(trace)
    assert ((arrays.width >= 1) & (arrays.width <= processors)).all()
    assert ((arrays.run_time >= 1) & (arrays.run_time <= math.exp(12))).all()
    assert (np.diff(arrays.submit_time, prepend=0.0) >= 0).all()
