# SPDX-License-Identifier: BSD-3-Clause
"""No augmentation, by an empty word or by ``none``, wherever augmentations are asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.simulate import SimulatePolicy
from swftools.errors import ParameterError
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run

LOG = "lublin-feitelson:jobs=20"
TASK = [*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", LOG]


@pytest.mark.parametrize(
    "command",
    [
        [*TASK, "--augment", ""],
        [*SWFTOOLS, "augment", "--log", LOG, "--augment", ""],
        pytest.param([*TASK, "--augment="], marks=pytest.mark.slow),
        pytest.param([*TASK, "--augment", "none"], marks=pytest.mark.slow),
        pytest.param([*TASK, "--BuildAugmentedTrace-augment", ""], marks=pytest.mark.slow),
        pytest.param([*SWFTOOLS, "augment", "--log", LOG, "--augment", "none"], marks=pytest.mark.slow),
    ],
    ids=lambda command: " ".join(command[3:]),
)
def test_none_is_none(tmp_path: Path, command: list[str]) -> None:
    """The jobs have no column of an augmentation."""
    result = run(command, tmp_path)
    assert 0 == result.returncode, result.stderr
    root = DataRoot.open(tmp_path / "data")
    (data_set,) = root.data_sets()
    columns = pd.read_parquet(f"{root.path(data_set)}/jobs").columns
    assert not {"utility", "model_submit_time", "speedup_curve", "performs_checkpointing"} & set(columns)


def test_none_given_is_the_default() -> None:
    """Without the flag the default holds."""
    assert "utility,checkpoints,arrivals,speedup" == BuildAugmentedTrace(log=LOG, data_root="data").augment


@pytest.mark.parametrize("word", ["", " ", "none", " none ", "none,"])
def test_words_for_none(word: str) -> None:
    """Also in Python, and for simulations."""
    for task in (BuildAugmentedTrace, SimulatePolicy):
        assert "" == task(log=LOG, data_root="data", augment=word).augment


def test_none_and_something_is_a_mistake() -> None:
    """Nobody can mean both."""
    with pytest.raises(ParameterError, match="no augmentation 'none'"):
        BuildAugmentedTrace(log=LOG, data_root="data", augment="none,utility")
