# SPDX-License-Identifier: BSD-3-Clause
"""Predictors in Python that are registered by name: in the keys of outputs, and on the console."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines import SimulatePolicy
from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG
from pipelines.tasks.own_code import version_of_predictor
from swftools.simulator.predictors.registry import PREDICTORS
from tests.pipelines.small_logs import small_log

OF_ONES_OWN = """
from swftools.simulator import python_predictor


@python_predictor("own-{module}", version=7)
class Own:
    def learn(self, ended):
        pass

    def predict(self, job, now):
        return job["requested_time"] / 2
"""


def key_of(folder: Path, predictor: str) -> str:
    """Return the key of a simulation's output."""
    return SimulatePolicy(log=SHIPPED_LOG, data_root=str(folder), augment="", predictor=predictor).key


def test_version_and_parameters_are_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another of either is another output; blanks and order are not."""
    before = key_of(tmp_path, "gradient-boosting:every=500,trees=10")
    assert before == key_of(tmp_path, " gradient-boosting: trees = 10, every = 500")
    assert before != key_of(tmp_path, "gradient-boosting:every=500")
    found = PREDICTORS.known["gradient-boosting"]
    assert {"version": found.version, "own": None} == version_of_predictor("gradient-boosting:every=500")
    monkeypatch.setitem(PREDICTORS.known, "gradient-boosting", replace(found, version=found.version + 1))
    assert before != key_of(tmp_path, "gradient-boosting:every=500,trees=10")


def test_one_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that it declares, and its source."""
    monkeypatch.setattr(PREDICTORS, "known", dict(PREDICTORS.known))
    monkeypatch.syspath_prepend(tmp_path)
    name = "own_predictor_by_name"
    (tmp_path / f"{name}.py").write_text(OF_ONES_OWN.replace("{module}", name))
    found = version_of_predictor(f"{name}:own-{name}")
    assert 7 == found["version"]
    assert 64 == len(found["own"])


def test_on_the_console(tmp_path: Path) -> None:
    """The schedule is that of a simulation, and how long it took is told."""
    predictor = "gradient-boosting:every=100,trees=5"
    log, output = tmp_path / "small.swf", tmp_path / "schedule.csv"
    log.write_text(small_log(300))
    arguments = ["simulate", str(log), "--predictor", predictor, "--output", str(output)]
    result = CliRunner().invoke(main, arguments)
    assert 0 == result.exit_code, result.output
    assert "the predictor in Python took" in result.output
    wrong = CliRunner().invoke(main, ["simulate", str(log), "--predictor", "gradient-boosting:every=x"])
    assert 2 == wrong.exit_code
    assert "every='x' is not an integer" in wrong.output
