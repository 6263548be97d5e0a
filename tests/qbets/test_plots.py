"""Pictures: what is drawn, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from swftools.errors import MissingLibraryError, ParameterError
from swftools.qbets import evaluate, replay
from swftools.qbets.plots import plot_coverage, plot_tightness, plot_waits
from tests.qbets.test_replay_twin import drawn_log


@pytest.fixture(scope="module")
def predictions() -> pd.DataFrame:
    """Of two queues, by two methods."""
    log = drawn_log("changing", 3_000, 5)
    log = log.with_jobs(log.jobs.assign(queue_id=pd.array(np.arange(3000) % 2, dtype="Int64")))
    return pd.concat([replay(log, method, training=100) for method in ("binomial", "loguniform")], ignore_index=True)


def words_of(axes: object) -> list[str]:
    """Return what the legend says."""
    return [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[attr-defined]


def test_waits(predictions: pd.DataFrame, tmp_path: Path) -> None:
    """Every job of the queue is there once, and its bound if it was told one."""
    one = predictions[predictions["method"] == "binomial"]
    axes = plot_waits(one, "1")
    inside, beyond, bounds = (len(line.get_xdata()) for line in axes.get_lines())
    jobs = one[one["queue"] == "1"]
    assert inside + beyond == len(jobs)
    assert beyond == (jobs["wait_time"] > jobs["wait_bound"]).sum() > 0
    assert bounds == jobs["wait_bound"].notna().sum()
    assert words_of(axes) == ["wait", "wait beyond the bound", "bound"]
    axes.figure.savefig(tmp_path / "waits.png")
    assert (tmp_path / "waits.png").stat().st_size > 10_000


def test_coverage(predictions: pd.DataFrame) -> None:
    """A line a method, and the one that is meant."""
    found = evaluate(predictions, grouped_by=["month"])
    axes = plot_coverage(found, quantile=0.9)
    assert sorted(words_of(axes)) == ["binomial", "loguniform", "meant: 0.9"]
    drawn = axes.containers[0][0].get_ydata()
    assert list(drawn) == found[found["method"] == "binomial"]["correctness"].dropna().tolist()


def test_tightness(predictions: pd.DataFrame) -> None:
    """A mark a method and queue, hollow where the method is not correct."""
    found = evaluate(predictions, grouped_by=["queue"])
    found["is_correct"] = found["method"] == "binomial"
    axes = plot_tightness(found)
    assert words_of(axes) == ["binomial", "loguniform"]
    hollow = [line.get_markerfacecolor() == "none" for line in axes.get_lines() if len(line.get_xdata())]
    assert hollow == [False, True]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1"]


def test_axes_of_ones_own(predictions: pd.DataFrame) -> None:
    """What is given is drawn on."""
    axes = Figure().subplots()
    assert plot_coverage(evaluate(predictions), axes) is axes


def test_what_is_refused(predictions: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues that there are not, several methods at once, evaluations without the rows, and no matplotlib."""
    with pytest.raises(ParameterError, match="no job is of queue '9'; there are: 0, 1"):
        plot_waits(predictions, "9")
    with pytest.raises(ParameterError, match="several methods: binomial, loguniform; draw one"):
        plot_waits(predictions, "1")
    with pytest.raises(ParameterError, match="no rows by month"):
        plot_coverage(evaluate(predictions, grouped_by=["all"]))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match="pip install"):
        plot_tightness(evaluate(predictions))


def test_coverage_has_an_interval_of_95_percent() -> None:
    """As wide as 0.975 of the normal distribution says, to both sides of each share."""
    rows = {"grouped_by": "month", "group": ["2000-01", "2000-02"], "method": "m"}
    found = pd.DataFrame({**rows, "correctness": [0.9, 0.8], "standard_error": [0.01, 0.02]})
    bars = plot_coverage(found).containers[0][2][0]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.allclose(ends, [[0.9 - 0.0196, 0.9 + 0.0196], [0.8 - 0.0392, 0.8 + 0.0392]], atol=1e-12)
