# SPDX-License-Identifier: BSD-3-Clause
"""The dozen numbers of ``measure(...).summary()``, and a table that stays one through pandas."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from swftools import Schedule, Trace, measure, simulate
from swftools.errors import ParameterError
from swftools.simulator.measures_table import SUMMARY, Measures

TRACE = Trace.from_columns(
    machine_processors=4,
    job_number=[1, 2, 3, 4],
    submit_time=[0, 1, 2, 3],
    run_time=[10, 10, 5, -1],
    requested_time=[10, 10, 5, 5],
    requested_processors=[3, 4, 1, 1],
    queue_id=[1, 1, 2, 2],
)


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    """Jobs that wait 0, 9 and 0 s; one is backfilled, one excluded."""
    return simulate(TRACE, "easy", compiled=False)


def test_the_dozen(schedule: Schedule) -> None:
    """As one works them out on paper: 20 s of 4 processors for 75 processor-seconds of work."""
    summary = measure(schedule).summary()
    assert summary.columns.tolist() == ["unit", "easy"]
    expected = {
        "mean wait": ("s", 3.0),
        "median wait": ("s", 0.0),
        "longest wait": ("s", 9.0),
        "mean turnaround": ("s", 11.33),
        "mean bounded slowdown": ("1", 1.3),
        "backfilled jobs": ("%", 33.33),
        "utilization": ("%", 93.75),
        "offered load": ("%", 937.5),
        "makespan": ("s", 20.0),
        "mean queue length": ("jobs", 0.45),
        "longest queue": ("jobs", 1.0),
        "excluded jobs": ("jobs", 1.0),
    }
    assert dict(zip(summary.index, summary.itertuples(index=False, name=None), strict=True)) == expected
    assert len(SUMMARY) == 12


def test_several_policies_and_classes(schedule: Schedule) -> None:
    """A column each; classes have no figures of the machine."""
    both = pd.concat([measure(schedule), measure(schedule, label="again")], ignore_index=True)
    assert both.summary().loc["mean wait", ["easy", "again"]].tolist() == [3.0, 3.0]
    by_queue = measure(schedule, by="queue_id").summary()
    assert by_queue.loc["mean wait", ["easy, 1", "easy, 2"]].tolist() == [4.5, 0.0]
    assert by_queue.loc["utilization"].isna().sum() == 2


def test_what_has_no_value(schedule: Schedule) -> None:
    """No median among the percentiles, no jobs: missing, and the dozen rows are there."""
    assert measure(schedule, percentiles=(98,)).summary()["easy"].isna().tolist().count(True) == 1
    empty = Schedule(schedule.jobs[:0], schedule.segments[:0], schedule.excluded, 4, "easy")
    assert measure(empty).summary()["easy"].dropna().to_dict() == {"excluded jobs": 1.0}


def test_it_stays_a_table(schedule: Schedule) -> None:
    """Rows, copies and pickles keep the summary; what loses the columns is a plain frame; values are as before."""
    table = measure(schedule)
    rows = table[table["measure"].isin(["wait", "makespan"])]
    for kept in (
        rows,
        table.copy(),
        table.reset_index(drop=True),
        table.sort_values("value"),
        table.dropna(subset=["value"]),
    ):
        assert type(kept) is Measures
        assert kept.summary().loc["makespan", "easy"] == 20.0
    assert type(pickle.loads(pickle.dumps(table))) is Measures
    assert type(table[["measure", "value"]]) is pd.DataFrame
    assert type(table["value"]) is pd.Series
    pd.testing.assert_frame_equal(pd.DataFrame(table), table, check_frame_type=False)
    assert table.equals(pd.DataFrame(table))
    assert pd.DataFrame(table).equals(table)


def test_it_is_read_back_from_parquet(schedule: Schedule, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing of the class is in the file, and a frame that was read becomes one by its name."""
    table = measure(schedule)
    path = tmp_path_factory.mktemp("table") / "metrics.parquet"
    table.to_parquet(path)
    read = pd.read_parquet(path)
    assert type(read) is pd.DataFrame
    pd.testing.assert_frame_equal(Measures(read).summary(), table.summary())


def test_what_is_refused(schedule: Schedule) -> None:
    """One label for two runs, a policy called as a column, columns that were taken away."""
    table = measure(schedule)
    with pytest.raises(ParameterError, match="occurs twice for 'easy'"):
        pd.concat([table, table]).summary()
    with pytest.raises(ParameterError, match="a policy called 'unit' has the name of the column"):
        measure(schedule, label="unit").summary()
    with pytest.raises(ParameterError, match="needs the columns of measure; value lack"):
        Measures(pd.DataFrame(table).drop(columns="value")).summary()
