# SPDX-License-Identifier: BSD-3-Clause
"""What people type first in Python: tables of a trace and a schedule, a path for a trace, several policies at once."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import swftools
from swftools.cleaning import clean
from swftools.errors import ParameterError
from swftools.simulator.measures_table import Summary

LINES = "; MaxProcs: 4\n" + "".join(
    f"{job} {submit} -1 {run} {width} -1 -1 {width} {run} -1 1 1 1 -1 1 -1 -1 -1\n"
    for job, submit, run, width in ((1, 0, 10, 3), (2, 1, 10, 4), (3, 2, 5, 1))
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log of three jobs, of which EASY backfills the last."""
    path = tmp_path / "three.swf"
    path.write_text(LINES)
    return path


def test_a_trace_passes_usual_names_on_to_its_jobs(log: Path, tmp_path: Path) -> None:
    """The names of tables are those of its jobs; it is no table else; what is written to a copy is not written here."""
    trace = swftools.read_log(log)
    assert list(trace.columns) == list(trace.jobs.columns)
    assert (trace["run_time"].tolist(), len(trace.head(2)), len(trace[trace["run_time"] > 5])) == ([10, 10, 5], 2, 2)
    table = trace.to_pandas()
    table.loc[0, "run_time"] = 99.0
    assert trace["run_time"].tolist() == [10, 10, 5]
    assert trace.to_csv().splitlines()[0].startswith("job_number,submit_time")
    trace.to_csv(tmp_path / "jobs.csv")
    assert pd.read_csv(tmp_path / "jobs.csv")["run_time"].tolist() == [10, 10, 5]
    trace.to_parquet(tmp_path / "jobs.parquet")
    assert pd.read_parquet(tmp_path / "jobs.parquet")["run_time"].tolist() == [10, 10, 5]
    with pytest.raises(TypeError, match="not iterable"):
        list(trace)
    with pytest.raises(AttributeError):
        trace.groupby  # noqa: B018


def test_a_schedule_measures_itself(log: Path) -> None:
    """Its metrics are those of ``measure``, with the same options, and its tables are those of its jobs."""
    schedule = swftools.simulate(log, "easy")
    pd.testing.assert_frame_equal(schedule.measure(bound=60), swftools.measure(schedule, bound=60))
    assert schedule.to_pandas()["start_time"].tolist() == schedule["start_time"].tolist() == [0, 10, 2]
    assert schedule.to_csv().startswith("job_number,")


def test_a_plot_without_a_name(log: Path) -> None:
    """The overview of a log and of a schedule, the balance of a cleaning, and the same on given axes."""
    trace = swftools.read_log(log)
    for subject, name in (
        *((trace, "overview"), (swftools.simulate(log, "easy"), "overview")),
        (clean(trace)[1], "balance"),
    ):
        axes = Figure().add_subplot()
        assert subject.plot(ax=axes) is axes
        titles = {each.get_title(loc="left") for each in axes.figure.axes}
        assert titles == {each.get_title(loc="left") for each in subject.plot(name).figure.axes}


@pytest.mark.parametrize("as_what", [str, Path])
def test_a_path_is_a_trace(log: Path, as_what: type) -> None:
    """A log by its path gives the schedule of the trace that is in it."""
    expected = swftools.simulate(swftools.read_log(log), "easy").jobs
    pd.testing.assert_frame_equal(swftools.simulate(as_what(log), "easy").jobs, expected)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nope.swf", "no such file; give the path or https address of a log"),
        (pd.DataFrame({"run_time": [1]}), "trace is a DataFrame: give a Trace.*makes one of a table"),
        (3, "trace is a int: give a Trace, as swftools.read_log returns it"),
    ],
)
def test_what_is_no_trace_is_told_in_words(given: object, told: str) -> None:
    """It says what was given, and what to give."""
    for call in (swftools.simulate, swftools.compare):
        with pytest.raises(ParameterError, match=told):
            call(given, "easy" if call is swftools.simulate else ["easy"])  # type: ignore[operator]


def test_compare_puts_policies_side_by_side(log: Path) -> None:
    """A column for each policy as it was given, of the numbers of each alone; options are those of all."""
    compared = swftools.compare(log, ["fcfs", "easy:reservations=2"], processors=5)
    alone = [swftools.simulate(log, policy, 5).measure() for policy in ("fcfs", "easy:reservations=2")]
    assert compared["value"].tolist() == pytest.approx(
        [value for table in alone for value in table["value"]], nan_ok=True
    )
    assert list(compared.summary()) == ["unit", "fcfs", "easy:reservations=2"]
    assert "easy" in swftools.list_policies()
    for wrong in ([], ["easy", "easy"], "easy"):
        with pytest.raises(ParameterError, match=re.escape("policies=")):
            swftools.compare(log, wrong)


def test_a_summary_prints_three_digits_and_holds_all() -> None:
    """A whole number above a hundred, three digits below; missing stays missing; HTML alike."""
    summary = Summary({"easy": [104743.4, 29.187, 0.5, 0.0, float("nan"), -1234.5]})
    assert summary.to_numpy()[1, 0] == 29.187
    assert repr(summary).split()[1:] == ["0", "104,743", "1", "29.2", "2", "0.5", "3", "0", "4", "NaN", "5", "-1,234"]
    assert "<td>104,743</td>" in str(summary._repr_html_())


def test_a_summary_prints_times_as_people_tell_them() -> None:
    """In the unit of the longest of the row; missing stays missing, other rows and what it holds stay."""
    summary = Summary({"unit": ["s", "jobs", "s"], "a": [5126.0, 104743.0, np.nan], "b": [46224.0, 3.0, 90.0]})
    for told in (summary, summary.tail(3)):
        rows = [line.split()[1:] for line in repr(told).splitlines()[1:]]
        assert rows == [["h", "1.42", "12.8"], ["jobs", "104,743", "3"], ["s", "NaN", "90"]]
        assert "<td>12.8</td>" in str(told._repr_html_())
    whole = Summary({"unit": ["s", "s"], "a": pd.array([7200, None], dtype="Int64"), "b": [90.0, np.nan], "c": [1, 0]})
    rows = [line.split()[1:] for line in repr(whole).splitlines()[1:]]
    assert rows == [["h", "2", "0.025", "0.000278"], ["s", "<NA>", "NaN", "0"]], "every number of a row is in its unit"
    assert summary["b"].tolist() == [46224.0, 3.0, 90.0]
    assert summary["unit"].tolist() == ["s", "jobs", "s"]


@pytest.mark.parametrize("package", ["swftools", "swftools.models", "pipelines"])
def test_a_name_that_is_not_there_is_told_as_python_does(package: str) -> None:
    """The words of Python, with name and module, from which it proposes a name like it."""
    module = __import__(package, fromlist=["nope"])
    with pytest.raises(AttributeError, match=re.escape(f"module '{package}' has no attribute 'nope'")) as caught:
        module.nope  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("nope", module)
