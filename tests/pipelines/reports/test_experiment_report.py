# SPDX-License-Identifier: BSD-3-Clause
"""The report on an experiment, of tables made by hand; and that whatever publishes has a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

import pipelines
from pipelines.experiments.axes import OPTIONS, SETTING
from pipelines.experiments.differences import compare_with_baseline
from pipelines.experiments.means import means_of, settings_in_words, usual_values
from pipelines.reports import check_kind
from pipelines.reports.experiment import _short, parts
from pipelines.reports.report import NumberCell, Section
from pipelines.tasks.publishing import PublishingTask
from swftools.errors import ParameterError
from swftools.parameters.run_option_table import RUN_OPTIONS

PUBLISHING = [name for name in dir(pipelines) if issubclass(getattr(pipelines, name), PublishingTask)]


@pytest.mark.parametrize("name", PUBLISHING)
def test_whatever_publishes_has_a_report(name: str) -> None:
    """Of each task with a flag --report there is one; it would be refused before the work, not after it."""
    check_kind(getattr(pipelines, name).main_table, name)


def test_the_tasks_are_those_with_a_flag() -> None:
    """Experiments among them; and a kind without a report is refused by name."""
    assert {"BuildAugmentedTrace", "ComparePolicies", "PublishExperiment", "PriceSchedule"} <= set(PUBLISHING)
    with pytest.raises(ParameterError, match="Mine --report: there is no report on versions whose main table is mine"):
        check_kind("mine", "Mine --report")


DIFFERENCES = "experiment_differences"


def metrics(waits: dict[str, list[float]], makespan: float = 7200.0) -> pd.DataFrame:
    """Return the table experiment of one log, with a mean wait for each policy and shake."""
    same: dict[str, Any] = (
        dict.fromkeys(OPTIONS, "")
        | {name: each.usual for name, each in RUN_OPTIONS.items()}
        | {"load": 0.0, "processors": 0, "log": "mine", "seed": 0}
    )
    rows = [
        {**same, "policy": policy, "shake": shake, "measure": measure, "statistic": statistic, "value": value}
        for policy, values in waits.items()
        for shake, wait in enumerate(values)
        for measure, statistic, value in (("wait", "mean", wait), ("makespan", "value", makespan))
    ]
    return pd.DataFrame(rows).assign(classed_by="all", job_class="all", unit="s")


class Version:
    """Stands for a published version."""

    data_set, version = "mine", "0123456789"

    def __init__(self, table: pd.DataFrame, lacks: Sequence[str] = ()) -> None:
        self.table, self.lacks = table, list(lacks)
        described = {name: {"columns": dict.fromkeys({*table} - {*lacks})} for name in ("experiment", DIFFERENCES)}
        self.manifest: dict[str, Any] = {"parameters": {"statistics": "Pairs."}, "sources": [], "tables": described}

    def read(self, name: str, columns: Any = None) -> pd.DataFrame:
        """Return a table."""
        if name == "experiment":
            return self.table.drop(columns=self.lacks)[list(columns)]
        return compare_with_baseline(usual_values(self.table), SETTING, "fcfs").drop(columns=self.lacks)


def report(waits: dict[str, list[float]], lacks: Sequence[str] = ()) -> dict[str, Section]:
    """Return the parts of a report by their headings."""
    return {part.heading: part for part in parts(Version(metrics(waits), lacks), None)}  # type: ignore[arg-type]


def test_means_differences_and_pictures() -> None:
    """Eight pairs that all differ by an hour and more are more than noise; what is the same has no picture."""
    fcfs = [7200.0 + 10 * each for each in range(8)]
    found = report({"fcfs": fcfs, "easy": [each - 3600 - each % 7 for each in fcfs]})
    assert list(found["What was run"].sentences) == [
        "16 simulations: 2 policies on 1 setting (logs and options), 8 repetitions each (seeds and shakes)."
    ]
    assert found["Which differences are more than noise"].sentences[0] == (
        "Mean wait: 1 of 1 differences from fcfs are more than noise."
    )
    (table,) = found["Mean wait"].tables
    assert table.columns == [
        *("policy", "mean", "95 % interval", "repetitions", "less that of fcfs", "its 95 % interval"),
        "more than noise",
    ]
    first, second = table.rows
    assert first[:2] == ("fcfs", NumberCell(7235.0, "2.01 h"))
    assert first[3:] == (8, "", "", "")
    assert str(second[4].words) == "-1 h"  # type: ignore[attr-defined]
    assert str(second[6]).startswith("yes, p 0.0078")
    assert [picture.name for picture in found["Mean wait"].pictures] == ["policies"]
    assert found["Makespan"].sentences == ["2 h under every policy, in every setting."]
    assert not found["Makespan"].pictures


def test_of_files_without_an_option() -> None:
    """One that came after they were written: it had its default in all of them, and the report is the same."""
    waits = {"fcfs": [7200.0, 3600.0], "easy": [3600.0, 60.0]}
    whole, less = report(waits), report(waits, ["semantics", "overrun"])
    assert whole.keys() == less.keys()
    assert [part.sentences for part in whole.values()] == [part.sentences for part in less.values()]
    assert [part.tables for part in whole.values()] == [part.tables for part in less.values()]


def test_of_one_repetition() -> None:
    """No interval and no judgement; the means and their differences stand."""
    found = report({"fcfs": [7200.0], "easy": [3600.0]})
    (table,) = found["Mean wait"].tables
    assert table.columns[:2] == ["policy", "mean"]
    assert "95 % interval" not in table.columns
    assert "too few different repetitions" in found["Which differences are more than noise"].sentences[0]


def test_copies_count_once() -> None:
    """Seeds that draw nothing run the same again: three copies and another run are two repetitions."""
    means = means_of(usual_values(metrics({"fcfs": [1.0, 1.0, 1.0, 3.0]})))
    row = means[means["measure"] == "wait_mean"].iloc[0]
    assert (row["repetitions"], row["mean"]) == (2, 2.0)
    assert row["high"] == pytest.approx(2 + 12.706)


def test_logs_are_told_apart_in_pictures() -> None:
    """Names that begin alike for longer than there is room keep their ends."""
    names = [f"lublin-feitelson-jobs300-processors64-seed{seed}" for seed in (1, 2)]
    assert list(_short(names).values()) == ["..seed1", "..seed2"]
    loads = [f"lublin-feitelson-jobs300, load {load}" for load in (0.7, 0.75)]
    assert list(_short(loads).values()) == ["..load 0.7", "..load 0.75"]
    assert list(_short(["a" * 30 + "b", "a" * 30 + "c"]).values()) == ["..b", "..c"]
    assert list(_short(["kth", "sdsc"]).values()) == ["kth", "sdsc"]


def test_options_in_words() -> None:
    """An option that some rows have is named; where it is not given it is that of the log, however that is written."""
    rows = metrics({"easy": [60.0, 61.0, 62.0, 63.0]})
    rows = rows[rows["measure"] == "wait"].assign(processors=[0, 64.0, None, float("nan")])
    told = settings_in_words(rows).tolist()
    assert told == ["mine, processors of the log", "mine, processors 64", *["mine, processors of the log"] * 2]
    assert (
        settings_in_words(rows.assign(processors=pd.Series([None, "a"] * 2, rows.index, dtype=object))).tolist()
        == [
            "mine, processors of the log",
            "mine, processors a",
        ]
        * 2
    )
