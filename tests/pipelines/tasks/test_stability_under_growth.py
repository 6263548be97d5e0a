# SPDX-License-Identifier: BSD-3-Clause
"""What is said of columns under growth is so: measured on a trace that grew."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.load import load_log
from pipelines.tasks.parameters import AUGMENTATIONS
from swftools.fields.dictionary import AUGMENTATION_COLUMNS, JOBS, arrow_schema
from swftools.fields.generate import data_dictionary, json_schema
from swftools.trace import Trace


@pytest.fixture(scope="module")
def parts() -> tuple[Trace, list[Trace]]:
    """Return a trace, and its two halves by time."""
    trace = load_log(SHIPPED_LOG).trace
    is_first = trace.jobs["submit_time"] < trace.jobs["submit_time"].median()
    return trace, [trace.with_jobs(trace.jobs[half].reset_index(drop=True)) for half in (is_first, ~is_first)]


def added(name: str, trace: Trace) -> pd.DataFrame:
    """Return the columns that an augmentation adds, by default."""
    computed = AUGMENTATIONS[name](log=SHIPPED_LOG, data_root="data").compute(trace)
    columns: pd.DataFrame = computed[0] if isinstance(computed, tuple) else computed
    return columns


@pytest.mark.parametrize("name", AUGMENTATION_COLUMNS)
def test_columns_under_growth(name: str, parts: tuple[Trace, list[Trace]]) -> None:
    """Those that claim to be stable are in each half what they are in the whole; of the others one is not."""
    whole, halves = parts
    expected = added(name, whole)
    found = pd.concat([added(name, half) for half in halves], ignore_index=True)
    first = len(halves[0])
    same = [column for column in expected if expected[column].equals(found[column])]
    same_at_first = [column for column in expected if expected[column][:first].equals(found[column][:first])]
    if AUGMENTATIONS[name].stable_under_growth:
        assert same == list(expected)
    else:
        assert len(same_at_first) < len(list(expected))


@pytest.mark.parametrize("name", AUGMENTATION_COLUMNS)
def test_dictionary_and_augmentation_agree(name: str) -> None:
    """The flag of the columns is that of what makes them."""
    flags = {column.stable_under_growth for column in AUGMENTATION_COLUMNS[name]}
    assert flags == {AUGMENTATIONS[name].stable_under_growth}


def test_other_columns_of_jobs_are_stable() -> None:
    """Only augmentations look at a whole trace."""
    unstable = {column.name for column in JOBS if not column.stable_under_growth}
    kinds = [name for name, kind in AUGMENTATIONS.items() if not kind.stable_under_growth]
    assert unstable == {column.name for name in kinds for column in AUGMENTATION_COLUMNS[name]}
    assert len(unstable) == 7


def test_where_it_is_said() -> None:
    """In the metadata of Parquet fields, schemas and the page, of these columns and of no others."""
    schema = arrow_schema("jobs")
    told = {field.name: field.metadata.get(b"stable_under_growth") for field in schema}
    assert told["model_requested_time"] == b"false"
    assert {told["run_time"], told["downey_a"]} == {None}
    properties = json_schema("jobs")["properties"]
    assert {name for name, column in properties.items() if column.get("x-stable-under-growth") is False} == {
        name for name, value in told.items() if value == b"false"
    }
    assert "x-stable-under-growth" not in json.dumps(json_schema("utility"))
    rows = [line for line in data_dictionary().splitlines() if line.startswith("| `model_submit_time`")]
    assert rows
    assert all(line.endswith("| arrivals, whole trace; generated, not logged | never |") for line in rows)
