# SPDX-License-Identifier: BSD-3-Clause
"""All tables of Yuan et al. 2010: of the shipped log, and of the paper's logs what the documentation has."""

from __future__ import annotations

from pathlib import Path

import luigi
import pandas as pd
import pytest

from pipelines.logs.find import SHIPPED_LOG
from pipelines.papers import find_paper
from pipelines.papers.yuan2010.populations import LOGS, OTHER_LOGS
from pipelines.tasks.reproduce_paper import ReproducePaper
from swftools.errors import ParameterError
from tests.paper_pages import paper_page
from tests.remembered import remember

PAPER = find_paper("yuan2010")


def publish(data_root: Path, **parameters: object) -> Path:
    """Build in this process and return the version."""
    task = ReproducePaper(paper="yuan2010", data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return Path(task.output().path)


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table that is not of the paper's logs alone has rows, and nearly all of their values are known."""
    remember(PAPER, monkeypatch)
    table = pd.read_parquet(publish(tmp_path, quick=True) / "reproduction")
    assert set(table["place"]) == {each.place for each in PAPER.tables} - {"ours alone: other-program"}
    assert table["printed"][table["row"] != "statement"].isna().all()
    known = table.groupby("place")["ours"].agg(lambda ours: ours.notna().mean())
    assert known.min() > 0.6, known
    rows = table[table["is_chosen"]].set_index(["place", "row", "column"])["ours"]
    heads = rows["ours alone: fairness"].unstack()["late heads"]
    assert heads[f"{SHIPPED_LOG} PV-EASY"] == 0
    assert heads[f"{SHIPPED_LOG} EASY"] > 20
    assert rows["Table 3", SHIPPED_LOG, "jobs"] == 4400


def test_runs_are_planned_once_for_all_tables() -> None:
    """Tables share their schedules; Figure 4 has 93 runs a log, and each of its points ten draws, or three."""
    tables = {table.number: table for table in PAPER.tables}
    runs = PAPER.runs(PAPER.tables, LOGS["CTC"], quick=False)
    assert len(runs) == len({run.text for run in runs})
    errors = [run for run in runs if run.experiment == "error"]
    assert len(errors) == 3 * (11 + 10)
    assert sum(run.parameters.to_mapping()["repetitions"] for run in errors) == 3 * (1 + 10 * 10 + 10 * 3)
    few = PAPER.runs([tables["1"], tables["4"], tables["5"], tables["6"]], LOGS["CTC"], quick=False)
    assert len(few) == 4


def test_gradient_boosting_is_not_asked_of_the_longest_logs() -> None:
    """It takes minutes a run."""
    asked = {
        log: any("gradient-boosting" in run.text for run in PAPER.runs(PAPER.tables, log, quick=False))
        for log in PAPER.logs
    }
    assert list(asked.values()) == [True, False, False, True, True]
    assert not any("gradient-boosting" in run.text for run in PAPER.runs(PAPER.tables, SHIPPED_LOG, quick=True))


def test_a_table_that_there_is_not(tmp_path: Path) -> None:
    """Is refused with those that there are."""
    with pytest.raises(ParameterError, match=r"no table '7' here; there are: 1, 2, 3, .*figure-4, .*predictors"):
        ReproducePaper(paper="yuan2010", table="7", data_root=str(tmp_path))


@pytest.mark.parametrize(
    ("given", "log"),
    [
        ({"table": "1", "logs": OTHER_LOGS["KTH-SP2"]}, OTHER_LOGS["KTH-SP2"]),
        ({"table": "other-program", "quick": True}, SHIPPED_LOG),
    ],
)
def test_a_table_that_is_not_of_a_log(tmp_path: Path, given: dict[str, str | bool], log: str) -> None:
    """Nothing is run in vain, and nothing breaks at the end."""
    with pytest.raises(ParameterError, match=f"table '{given['table']}' of paper yuan2010 is not of {log}: name other"):
        ReproducePaper(paper="yuan2010", data_root=str(tmp_path), **given)


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1", "2", "3", "4", "5", "6", "other-program"])
def test_the_page_of_the_documentation_is_what_comes_out(
    number: str, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The paper's tables, on the whole logs."""
    logs = ",".join(str(shared / "traces" / f"{log}.swf.gz") for log in LOGS.values())
    root = tmp_path_factory.getbasetemp() / "yuan2010"
    made = publish(root, logs=logs, table=number).joinpath("reproduction.md").read_text(encoding="utf-8")
    page = paper_page("yuan2010")
    assert f"\n{made[made.index('## ') :].strip()}\n" in page
