# SPDX-License-Identifier: BSD-3-Clause
"""What each published table means, by hand: values of the rows on its page, column by column."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, read_log
from tests.formats.tables.made import OPTIONS, example

GIB = 2**20
EXPECTED: dict[str, dict[str, list[Any]]] = {
    "nrel": {
        "log_id": ["532209", "532213"],
        "submit_time": [0, 2662],
        "wait_time": [1, 0],
        "run_time": [99_825, 6],
        "requested_time": [172_800, 259_200],
        "requested_processors": [10, 1],
        "allocated_processors": [None, None],
        "requested_nodes": [10, 1],
        "requested_gpus": [0, 0],
        "status": [1, 1],
        "user": ["user0014", "user0014"],
        "group": ["account0003", "account0003"],
        "executable": ["name00005115", "name00000001"],
        "queue": ["partition001", "partition009"],
        "partition": ["normal", "normal"],
    },
    "fdata": {
        "log_id": ["j1", "j2"],
        "submit_time": [0, 10],
        "eligible_time": [1, 11],
        "wait_time": [50, 100],
        "run_time": [3600, 30],
        "requested_time": [7200, 600],
        "allocated_processors": [2, 1],
        "requested_processors": [2, 1],
        "allocated_nodes": [2, 1],
        "requested_nodes": [2, 1],
        "mean_power": [181.0, 60.0],
        "max_power": [240.0, None],
        "exit_code": [0, 1],
        "status": [1, 0],
        "user": ["u1", "u2"],
        "executable": ["n1", "n2"],
    },
    "pm100": {
        "submit_time": [0, 60],
        "eligible_time": [0, 60],
        "wait_time": [300, 240],
        "run_time": [3600, 60],
        "requested_time": [7200, None],
        "allocated_processors": [2, 1],
        "requested_processors": [2, 1],
        "allocated_gpus": [8, 4],
        "requested_gpus": [8, 4],
        "energy": [None, 33_800],
        "mean_power": [None, 33_800 / 60],
        "max_power": [None, 610],
        "status": [1, 0],
        "user": ["7", "8"],
        "group": ["3", "3"],
        "queue": ["1", "1"],
        "partition": ["0", "0"],
    },
    "alcf": {
        "log_id": ["500001.theta", "500002.theta"],
        "submit_time": [0, 600],
        "wait_time": [3600, 3000],
        "run_time": [3600, 30],
        "requested_time": [7200, 3600],
        "allocated_processors": [128, 8],
        "requested_processors": [128, 8],
        "exit_code": [0, -1],
        "status": [1, 0],
        "user": ["11", "12"],
        "group": ["22", "22"],
        "executable": ["a", "b"],
        "queue": ["default", "debug"],
        "partition": ["theta", "theta"],
    },
    "supercloud": {
        "submit_time": [0, 100],
        "wait_time": [60, None],
        "run_time": [3600, None],
        "requested_time": [7200, None],
        "allocated_processors": [40, None],
        "requested_processors": [40, 4],
        "requested_memory": [8000 * 1024 / 40, 8000 * 1024 / 4],
        "allocated_gpus": [2, None],
        "requested_gpus": [2, 0],
        "requested_nodes": [1, 1],
        "status": [1, 5],
        "user": ["501", "502"],
        "queue": ["normal", "normal"],
    },
    "helios": {
        "log_id": ["1425511", "1425512", "1425513"],
        "submit_time": [0, 26, 27],
        "wait_time": [0, 0, 0],
        "run_time": [36_848, 249, 675_233],
        "requested_processors": [1, 4, 1],
        "requested_nodes": [1, 1, 1],
        "requested_gpus": [1, 4, 1],
        "status": [1, 0, 5],
        "user": ["uXBbc", "uVMrF", "uzqls"],
        "partition": ["vcJkd", "vchbv", "vcpDC"],
    },
    "acme": {
        "submit_time": [0, 1664],
        "wait_time": [10, 12],
        "run_time": [8, 70],
        "requested_processors": [64, 64],
        "requested_nodes": [8, 8],
        "requested_gpus": [64, 64],
        "status": [0, 5],
        "user": ["uf794", "uf794"],
        "executable": ["Other", "Other"],
    },
    "philly": {
        "submit_time": [0, 21],
        "wait_time": [30, None],
        "run_time": [74 + 193_182, None],
        "allocated_processors": [2, None],
        "allocated_gpus": [2, None],
        "allocated_nodes": [1, None],
        "restarts": [1, None],
        "status": [1, 5],
        "user": ["ce2f4c", "a"],
        "partition": ["ee9e8c", "ee9e8c"],
    },
    "openb": {
        "submit_time": [0, 2_332_613, 9_010_436, 9_574_217],
        "wait_time": [0, 2, 0, None],
        "run_time": [12_475_899, 10_143_284, 1_332_357, None],
        "requested_processors": [1, None, 8, 1],
        "exact_processors": [0.46, 0, 8, 1],
        "requested_gpus": [1, 0, 8, 1],
        "exact_gpus": [0.46, 0, 8, 1],
        "requested_memory": [12 * GIB, None, 40 * GIB, 46 * GIB],
        "status": [5, 5, 1, 5],
        "queue": ["LS", "LS", "Burstable", "BE"],
    },
    "spot-gpu": {
        "submit_time": [0, 9_589_663, 9_589_663],
        "wait_time": [None] * 3,
        "run_time": [2_764_799, 41_060, 71_718],
        "requested_processors": [1, 16, 94],
        "group": ["13", "57", "57"],
        "queue": ["HP", "Spot", "Spot"],
        "partition": ["A10", "A100-SXM4-80GB", "A100-SXM4-80GB"],
    },
    "azure-vm": {
        "submit_time": [0, 0, 2_188_800],
        "wait_time": [0, 0, 0],
        "run_time": [2_591_700, 1_539_300, 402_900],
        "requested_processors": [1, 1, None],
        "requested_memory": [1.75 * GIB, 0.75 * GIB, None],
        "queue": ["Delay-insensitive", "Interactive", "Unknown"],
        "user": ["VDU4C8cqdr", "BSXOcywx8p", "VDU4C8cqdr"],
    },
    "wta": {
        "submit_time": [0, 0, 6],
        "wait_time": [None, None, 0.1],
        "run_time": [7.184, 9.171, 5.24],
        "requested_processors": [1, 1, 1],
        "exact_processors": [1, 0.5, 1],
        "dependency": [None, "0", "0 1"],
        "preceding_job_number": [None, 1, None],
        "preceding_job_numbers": [None, None, [1, 2]],
        "array_number": [0, 0, 0],
        "user": [None, None, "4"],
    },
    "gwf": {
        "submit_time": [0, 7],
        "wait_time": [10, None],
        "run_time": [3600, None],
        "allocated_processors": [4, None],
        "requested_processors": [4, 2],
        "average_cpu_time": [3500, None],
        "requested_time": [7200, 7200],
        "status": [1, 5],
        "user": ["user1", "user2"],
        "group": ["group1", "group1"],
        "executable": ["app1", "app1"],
        "queue": ["queue1", "queue1"],
        "partition": ["site1", None],
    },
    "gwf-workflows": {
        "submit_time": [0, 24, 71],
        "run_time": [11, 11, 11],
        "allocated_processors": [1, 1, 1],
        "dependency": [None, "1", "1 2"],
        "preceding_job_number": [None, 1, None],
        "preceding_job_numbers": [None, None, [1, 2]],
        "think_time": [None, None, None],
    },
    "opendc": {
        "submit_time": [0, 60],
        "run_time": [27_930, 27_930],
        "requested_processors": [16, 16],
        "requested_memory": [100_000 * 1024 / 16] * 2,
        "log_id": ["2133099", "2133101"],
    },
}
OTHER_WIDTHS = {
    ("nrel", "nodes"): [10, 1],
    ("fdata", "cores"): [96, 48],
    ("pm100", "cores"): [256, 128],
    ("alcf", "cores"): [8192, 512],
    ("supercloud", "gpus"): [2, None],
    ("supercloud", "nodes"): [1, 1],
    ("helios", "cpus"): [1, 16, 1],
    ("helios", "nodes"): [1, 1, 1],
    ("acme", "cpus"): [960, 960],
    ("acme", "nodes"): [8, 8],
    ("openb", "cpus"): [6, 20, 88, 12],
    ("spot-gpu", "cpus"): [20, 240, 1410],
}
NAMED = ("user", "group", "executable", "queue", "partition")


def told(trace: Trace, column: str) -> list[Any]:
    """Return a column, None for missing, names for their numbers."""
    if column in NAMED:
        names = trace.names[trace.names["kind"] == column].set_index("number")["name"].to_dict()
        return [None if pd.isna(value) else names[value] for value in trace.jobs[f"{column}_id"].tolist()]
    if column not in trace.jobs:
        return [None] * len(trace)
    values = trace.jobs[column].tolist()
    return [[*value] if np.ndim(value) else None if pd.isna(value) else value for value in values]


def read(name: str, **options: Any) -> Trace:
    """Read the rows of a page."""
    return read_log(io.BytesIO(example(name)), name, **OPTIONS.get(name, {}), **options)


@pytest.mark.parametrize("name", EXPECTED)
def test_values(name: str) -> None:
    """Each column is what it should be."""
    trace = read(name)
    for column, values in EXPECTED[name].items():
        assert told(trace, column) == [pytest.approx(each) if isinstance(each, float) else each for each in values], (
            column
        )


@pytest.mark.parametrize(("name", "width"), OTHER_WIDTHS)
def test_other_widths(name: str, width: str) -> None:
    """The width counts what was asked for."""
    assert told(read(name, width=width), "requested_processors") == OTHER_WIDTHS[name, width]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("nrel", "2019-01-01T08:55:55-07:00"),
        ("fdata", "2021-04-01T00:00:10+09:00"),
        ("pm100", "2020-05-10T10:00:00+00:00"),
        ("alcf", "2022-01-01T00:00:00-06:00"),
        ("supercloud", "2021-01-07T06:13:20+00:00"),
        ("helios", "2020-06-09T18:41:01+08:00"),
        ("acme", "2023-05-17T11:00:58+00:00"),
        ("philly", "2017-10-07T01:11:39-07:00"),
        ("opendc", "2022-10-06T22:00:00+00:00"),
        ("gwf", "2005-02-23T21:11:23+00:00"),
    ],
)
def test_when_it_begins(name: str, begins: str) -> None:
    """Zones and units of times are right; traces without dates have none."""
    assert read(name).header.unix_start_time == pd.Timestamp(begins).timestamp()


@pytest.mark.parametrize("name", ["wta", "openb", "spot-gpu", "azure-vm", "gwf-workflows"])
def test_traces_without_dates(name: str) -> None:
    """The header has no time, and says so."""
    header = read(name).header
    assert header.unix_start_time is None
    assert any("Times have no date: second 0 is second" in line for line in header.to_lines())


def philly(*attempts: tuple[Any, Any, int], status: str = "Pass") -> Trace:
    """Read a job with attempts: start, end, GPUs."""
    tries = [
        {"start_time": start, "end_time": end, "detail": [{"ip": f"m{gpu}", "gpus": ["g"]} for gpu in range(gpus)]}
        for start, end, gpus in attempts
    ]
    job = {"status": status, "vc": "v", "jobid": "j", "attempts": tries, "submitted_time": "2017-10-07 01:00:00"}
    return read_log(io.BytesIO(json.dumps([{**job, "user": "u"}]).encode()), "philly")


@pytest.mark.parametrize(
    ("attempts", "told"),
    [
        ([("2017-10-07 01:00:10", "None", 1)], "not ended: its last attempt has no end"),
        ([("None", "2017-10-07 02:00:10", 1)], "an attempt without a start or an end"),
        (
            [("2017-10-07 01:00:10", None, 1), ("2017-10-07 01:00:10", "2017-10-07 01:00:20", 1)],
            "an attempt without a start or an end",
        ),
        ([("2017-10-07 01:00:10", "2017-10-07 01:00:05", 1)], "an attempt that ends before its start"),
        ([("yesterday", "2017-10-07 01:00:05", 1)], "an attempt with a start or an end that is no time"),
        ([("2017-10-07 00:00:10", "2017-10-07 01:00:05", 1)], "start before submit"),
        ([], "completed without an attempt"),
    ],
)
def test_attempts_that_cannot_be(attempts: list[tuple[Any, Any, int]], told: str) -> None:
    """Each has its reason."""
    assert philly(*attempts).quarantine["reason"].tolist() == [told]


def test_attempts_of_other_widths() -> None:
    """The last one counts; that others were is counted."""
    trace = philly(
        ("2017-10-07 01:00:10", "2017-10-07 01:00:20", 1),
        ("2017-10-07 01:01:00", "2017-10-07 01:01:30", 3),
        status="Killed",
    )
    job = trace.jobs.iloc[0]
    assert (job["run_time"], job["wait_time"], job["allocated_processors"], job["restarts"]) == (40, 10, 3, 1)
    assert trace.provenance["anomalies"] == {"attempts of other widths than the last one, which counts": 1}


def test_an_attempt_across_the_hour_that_a_zone_repeats() -> None:
    """It ends in the later meaning of its end, and ran for twenty minutes."""
    job = philly(("2017-11-05 01:50:00", "2017-11-05 01:10:00", 1), status="Killed").jobs.iloc[0]
    assert job["run_time"] == 20 * 60


def test_numbers_of_gpus_of_which_one_is_a_part() -> None:
    """Of both numbers of a list of resources the larger counts."""
    text = example("supercloud").decode().replace("1002=2", "1001=4,1002=2").replace("1=4,2=8000", "1=4,1002=3")
    trace = read_log(io.BytesIO(text.encode()), "supercloud:width=gpus")
    assert trace.jobs["allocated_gpus"].tolist()[0] == 4
    assert trace.jobs["requested_processors"].tolist() == [4, 3]


def test_resources_that_cannot_be_read() -> None:
    """They are missing, and counted."""
    text = example("supercloud").decode().replace('"1=40,2=8000,4=1,1002=2"', '"1=many"', 1)
    trace = read_log(io.BytesIO(text.encode()), "supercloud")
    assert told(trace, "requested_processors") == [None, 4]
    assert trace.provenance["anomalies"] == {"a tres_req that cannot be read: taken for missing": 1}
