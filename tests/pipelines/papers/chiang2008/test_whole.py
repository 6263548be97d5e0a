# SPDX-License-Identifier: BSD-3-Clause
"""All tables of Chiang and Vasupongayya 2008: of the shipped log, and of the full logs what the documentation has."""

from __future__ import annotations

from pathlib import Path

import luigi
import pandas as pd
import pytest

from pipelines.papers import find_paper
from pipelines.papers.chiang2008.months import LOGS
from pipelines.tasks.reproduce_paper import ReproducePaper
from tests.paper_pages import paper_page
from tests.remembered import remember

PAPERS = {name: find_paper(name) for name in ("chiang2008", "chiang2008-large")}


def publish(paper: str, data_root: Path, **parameters: object) -> Path:
    """Build in this process and return the version."""
    task = ReproducePaper(paper=paper, data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return Path(task.output().path)


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_a_quick_run(paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table that is not of the two logs alone has rows, and all values of it are known."""
    remember(PAPERS[paper], monkeypatch)
    path = publish(paper, tmp_path, quick=True)
    table = pd.read_parquet(path / "reproduction")
    of_any = {each.place for each in PAPERS[paper].tables} - {"ours alone: other-program"}
    assert set(table["place"]) == of_any
    assert table["printed"][table["row"] != "statement"].isna().all()
    known = table.groupby("place")["ours"].agg(lambda ours: ours.notna().mean())
    assert known.drop("Sections 5 and 6").eq(1).all(), known
    assert known["Sections 5 and 6"] > 0.9
    for picture in PAPERS[paper].pictures.values():
        figure = picture(pd.read_parquet(path / "measurements"))
        assert any(axes.lines or axes.images for axes in figure.axes)


def test_a_quick_run_says_what_is_measured(tmp_path: Path) -> None:
    """The week between the first and the last of the excerpt; backfilling as it is at load 0.9."""
    path = publish("chiang2008", tmp_path, quick=True, table="figure-11")
    cells = pd.read_parquet(path / "reproduction").set_index(["row", "column"])["ours"].unstack(0)
    cells.columns = [name.split(" ", 1)[1] for name in cells.columns]
    assert cells.loc["excess over the max", "FCFS-backfill"] == 0
    assert cells.loc["mean bounded slowdown", "LXF-backfill"] < cells.loc["mean bounded slowdown", "FCFS-backfill"]
    assert (cells.loc["max wait"] == cells.loc["greatest max wait"]).all()
    assert pd.read_parquet(path / "measurements")["x"].isin(["between", ""]).all()


@pytest.mark.slow
@pytest.mark.parametrize("number", ["3", "figure-11", "other-program"])
def test_the_page_of_the_documentation_is_what_comes_out(
    number: str, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On the whole logs."""
    logs = ",".join(str(shared / "traces" / f"{log}.swf.gz") for log in LOGS.values())
    root = tmp_path_factory.getbasetemp() / "chiang2008"
    made = publish("chiang2008", root, logs=logs, table=number).joinpath("reproduction.md").read_text(encoding="utf-8")
    page = paper_page("chiang2008")
    assert f"\n{made[made.index('## ') :].strip()}\n" in page
