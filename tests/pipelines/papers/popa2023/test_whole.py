# SPDX-License-Identifier: BSD-3-Clause
"""All tables from the excerpt; and Graham and Cedar as they are, at night."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from pipelines.catalog.reader import read_catalog
from pipelines.logs.tables import Tables, read_tables
from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements, Paper
from pipelines.papers.popa2023.checks import ChecksOfRows, measure_checks
from pipelines.papers.popa2023.fits import FitOfPaper, measure_fit
from pipelines.papers.popa2023.models import CONSTANT, LINEAR
from tests.pipelines.papers.popa2023.polls import excerpt
from tests.pipelines.papers.popa2023.test_fits import value


def measured(paper: Paper, polls: Tables, numbers: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return what the experiments of some tables measure, quickly."""
    tables = [table for table in paper.tables if not numbers or table.number in numbers]
    runs = paper.runs(tables, polls.name, quick=True)
    frames = [
        paper.experiments[run.experiment]
        .function(polls, run.parameters, run.seed)
        .assign(log=polls.name, experiment=run.text, seed=run.seed)
        for run in runs
    ]
    return pd.concat(frames, ignore_index=True)


@pytest.mark.parametrize(("name", "numbers"), [("popa2023", ("rows", "graham")), ("popa2023-beyond", ("checks",))])
def test_some_tables_of_the_excerpt(name: str, numbers: tuple[str, ...]) -> None:
    """Nothing is compared with what is printed of the whole."""
    paper = find_paper(name)
    tables = [table for table in paper.tables if table.number in numbers]
    cells = compare(paper, tables, Measurements(measured(paper, excerpt(), numbers)), quick=True)
    assert set(cells["place"]) == {table.place for table in tables}
    assert cells["is_reproduced"].isna().all()
    own = cells[~cells["row"].str.startswith("network")]
    assert own["ours"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["popa2023", "popa2023-beyond"])
def test_all_tables_of_the_excerpt(name: str) -> None:
    """Each has values; pictures are drawn of what was measured, and of nothing."""
    paper = find_paper(name)
    found = measured(paper, excerpt())
    cells = compare(paper, paper.tables, Measurements(found), quick=True)
    assert set(cells["place"]) == {table.place for table in paper.tables} - {"Comparison with SLURM estimates"}
    assert cells[~cells["row"].str.contains("network|statement")]["ours"].notna().mean() > 0.95
    for draw in paper.pictures.values():
        for each in (found, found.iloc[:0]):
            assert isinstance(draw(each), Figure)


def whole(shared: Path, monkeypatch: pytest.MonkeyPatch, cluster: str) -> Tables:
    """Return the polls of a cluster from the shared folder."""
    monkeypatch.setenv("SWFTOOLS_LOG_PATH", str(shared / "samples" / "mila"))
    card = read_catalog().tables[f"mila-{cluster}-2021"]
    monkeypatch.setattr("pipelines.logs.tables.fetch_log", None)  # nothing is to be fetched
    return read_tables(card)


@pytest.mark.slow
def test_graham(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """61 days: the rows of each part, of which ten times the test rows are printed; a constant beats the network."""
    polls = whole(shared, monkeypatch, "graham")
    checks = measure_checks(polls, ChecksOfRows(), 0)
    assert value(checks, "all", "rows") == value(checks, "all", "elapsed_time is the run time") == 133_025
    assert value(checks, "all", "eligible after the poll") == 5_697
    assert value(checks, "all", "level_fs is another") == 0
    assert value(checks, "all", "level_fs is Fair Tree's") == 133_025 - 36
    constant = measure_fit(polls, FitOfPaper(CONSTANT), 0)
    rows = [value(constant, part, "rows") for part in ("train", "valid", "test")]
    assert rows == [96_829, 7_619, 15_042]
    linear = measure_fit(polls, FitOfPaper(LINEAR), 0)
    assert (value(constant, "test", "mse"), value(linear, "test", "mse")) == pytest.approx((0.4695, 0.4920), abs=0.0005)


@pytest.mark.slow
def test_cedar(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """37 days of 68: which are missing of which part; what is there gives these errors."""
    polls = whole(shared, monkeypatch, "cedar")
    assert (len(polls.found), len(polls.files), len(polls.table)) == (37, 68, 115_043)
    found = measure_fit(polls, FitOfPaper(CONSTANT), 0)
    assert [value(found, part, "days found") for part in ("train", "valid", "test")] == [29, 5, 3]
    assert [value(found, part, "rows") for part in ("train", "valid", "test")] == [86_035, 12_068, 9_159]
    linear = measure_fit(polls, FitOfPaper(LINEAR), 0)
    assert [value(each, "test", "mse") for each in (found, linear)] == pytest.approx([0.4603, 0.4054], abs=0.0005)
