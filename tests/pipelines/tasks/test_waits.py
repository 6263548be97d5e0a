# SPDX-License-Identifier: BSD-3-Clause
"""ReplayPredictor and EvaluateWaitPredictions, and their command: what is published, kept, and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pytest

import swftools
from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.replay_predictor import ReplayPredictor
from swftools.errors import ParameterError
from swftools.qbets import evaluate, replay
from tests.pipelines.luigi_runs import SWFTOOLS, run


def publish(data_root: Path, **parameters: Any) -> EvaluateWaitPredictions:
    """Build in this process and return the finished task."""
    task = EvaluateWaitPredictions(data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.complete()
    return task


def test_the_command(tmp_path: Path) -> None:
    """On the shipped log: a table, and how to read it; a second run finds it complete and prints the same."""
    command = [*SWFTOOLS, "evaluate", "--methods", "binomial,lognormal-plain"]
    first = run(command, tmp_path)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0].split() == ["told", "correct", "RMS", "ratio", "bound", "/", "wait"]
    assert [line.split()[0] for line in lines[1:7]] == ["queue", "binomial", "lognormal-plain"] * 2
    names: dict[str, Any] = {}
    exec("\n".join(line.strip() for line in lines[-2:]), names)
    assert set(names["wait_evaluation"]["method"]) == {"binomial", "lognormal-plain"}
    second = run(command, tmp_path)
    assert (second.returncode, second.stdout.count("already complete")) == (0, 1)
    assert second.stdout.splitlines()[:6] == lines[:6]


def test_the_tables_are_what_the_functions_return(tmp_path: Path) -> None:
    """The same predictions and evaluation."""
    task = publish(tmp_path, methods="binomial", options="quantile=0.9,training=200", by="queue")
    cleaned, _ = swftools.clean(swftools.read_swf(find_log(SHIPPED_LOG).path))
    expected = replay(cleaned, "binomial", quantile=0.9, training=200)
    path = Path(task.output().path)
    published = pd.read_parquet(path / "wait_predictions")
    assert published["wait_bound"].tolist() == pytest.approx(expected["wait_bound"].tolist(), nan_ok=True)
    assert published["no_prediction"].isna().tolist() == expected["no_prediction"].isna().tolist()
    found, wanted = pd.read_parquet(path / "wait_evaluation"), evaluate(expected, quantile=0.9)
    assert found["group"].tolist() == wanted["group"].tolist()
    for name in ("correctness", "rms_over", "rms_ratio", "share_not_predicted"):
        assert found[name].tolist() == pytest.approx(wanted[name].tolist(), nan_ok=True)
    assert len(pd.read_csv(path / "evaluation.csv")) == len(wanted)


def test_what_is_finished_is_not_computed_again(tmp_path: Path) -> None:
    """A further method adds one replay; other options are others."""
    publish(tmp_path, methods="binomial")
    replayed = tmp_path / ".work" / "replayed"
    before = {path.name: path.stat().st_mtime_ns for path in replayed.glob("[!.]*")}
    publish(tmp_path, methods="binomial,weibull")
    after = {path.name: path.stat().st_mtime_ns for path in replayed.glob("[!.]*")}
    assert before.items() <= after.items()
    assert (len(before), len(after)) == (1, 2)
    keys = {
        ReplayPredictor(data_root=str(tmp_path), **given).key
        for given in (
            *({}, {"options": "quantile=0.9"}, {"by": "all"}),
            *({"method": "lognormal"}, {"method": "binomial:confidence=0.9"}, {"rules": "duplicates"}),
        )
    }
    assert len(keys) == 6
    usual, said = (ReplayPredictor(data_root=str(tmp_path), options=text) for text in ("", "quantile=0.95"))
    assert usual.key == said.key


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"methods": "binomal"}, "did you mean binomial"),
        ({"methods": "binomial,binomial"}, "each once"),
        ({"by": "colour"}, "'colour' is not a group of jobs; there are: all, queue"),
        ({"by": "run_time"}, "'run_time' is not a group of jobs; .* that is known at submission"),
        ({"by": "all,queue"}, "'all' is not a group"),
        ({"options": "quantil=0.9"}, "quantil"),
        ({"options": "quantile=1.9"}, "quantile=1.9 is not a number between 0 and 1"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: dict[str, str], says: str) -> None:
    """Before anything is done."""
    with pytest.raises(ParameterError, match=says):
        EvaluateWaitPredictions(data_root=str(tmp_path), **options)


def test_one_method_a_replay(tmp_path: Path) -> None:
    """Several are for the evaluation."""
    with pytest.raises(ParameterError, match="2 methods; EvaluateWaitPredictions takes several"):
        ReplayPredictor(data_root=str(tmp_path), method="binomial,weibull")
