# SPDX-License-Identifier: BSD-3-Clause
"""Rivals of QBETS in the pipeline: named, refused, keyed, and published beside bounds."""

from __future__ import annotations

import gzip
import linecache
from itertools import islice
from pathlib import Path

import luigi
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.waits import evaluate as evaluate_command
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.replay_predictor import ReplayPredictor
from swftools.errors import ParameterError
from swftools.qbets import list_rivals
from swftools.qbets.rivals import registry as registry_of_rivals
from tests.qbets.rivals.logs import SMALL

OWN = '''
from dataclasses import dataclass
from swftools.qbets.rivals import Rival, register_rival

@register_rival
@dataclass(frozen=True)
class Nothing(Rival):
    """It knows nothing."""

    NAME = "nothing"
'''


def test_the_help_names_them(tmp_path: Path) -> None:
    """Every rival; and the bounds are what is evaluated where nothing is said."""
    said = CliRunner().invoke(evaluate_command, ["--help"], terminal_width=200).output
    assert all(name in said for name in list_rivals())
    assert "gradient" not in EvaluateWaitPredictions(data_root=str(tmp_path)).methods


def test_its_key_is_that_of_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rival of one's own is another when its module is."""
    module = tmp_path / "keyed_rivals.py"
    module.write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry_of_rivals.RIVALS, "known", list_rivals())
    method, root = "keyed_rivals:nothing", str(tmp_path)
    before = ReplayPredictor(method=method, data_root=root).key
    assert ReplayPredictor(method="gradient-boosting", data_root=root).key != before
    module.write_text(module.read_text() + "\n# changed\n")
    linecache.clearcache()
    assert ReplayPredictor(method=method, data_root=root).key != before


def test_published_beside_bounds(tmp_path: Path, shipped_log: Path) -> None:
    """One table of both, whose rows are those of the functions."""
    methods = f"trailing,gradient-boosting:{SMALL}"
    log, options = tmp_path / "begun.swf", "training=200,availability=false"
    with gzip.open(shipped_log) as lines:
        log.write_bytes(b"".join(islice(lines, 1200)))
    task = EvaluateWaitPredictions(log=str(log), data_root=str(tmp_path), methods=methods, options=options)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    found = pd.read_parquet(Path(task.output().path) / "wait_evaluation")
    assert found["method"].unique().tolist() == ["trailing", f"gradient-boosting:{SMALL}"]
    jobs = found[found["grouped_by"] == "all"]["jobs"]
    assert jobs.nunique() == 1
    predictions = pd.read_parquet(Path(task.output().path) / "wait_predictions")
    assert predictions["wait_bound"].notna().sum() > 800
    assert np.isfinite(predictions["wait_bound"].dropna()).all()


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ("gradient-bosting", "did you mean gradient-boosting"),
        ("binomial,gradient-boosting:window=0", "window=0 is not an integer of 1 or more"),
        ("gradient-boosting,gradient-boosting", "each once"),
    ],
)
def test_what_is_refused(tmp_path: Path, methods: str, says: str) -> None:
    """Before anything is done."""
    with pytest.raises(ParameterError, match=says):
        EvaluateWaitPredictions(data_root=str(tmp_path), methods=methods)
