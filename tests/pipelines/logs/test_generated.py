# SPDX-License-Identifier: BSD-3-Clause
"""Logs that are models: how they are named, and that every stage takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.logs.find import find_log
from pipelines.logs.generated import find_model, generate_log
from swftools.errors import ParameterError
from swftools.formats.parquet import read_parquet
from swftools.models import cirne_berman
from swftools.models.lublin_feitelson import LublinFeitelsonParameters, generate
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run

LOG = "lublin-feitelson:jobs=300,processors=64,load=0.8,seed=3"


def test_a_name_alone_is_the_model_with_its_defaults() -> None:
    """Without parameters all are the model's own."""
    found = find_model("lublin-feitelson")
    assert found is not None
    assert LublinFeitelsonParameters() == found


def test_parameters_are_read_as_yaml_has_them() -> None:
    """Numbers, words, and a dot for a parameter of one type; blanks do not count."""
    found = find_model("lublin-feitelson: jobs=5 , types=mix, load=1e0, batch.u_med=4, batch.u_hi=6.5")
    assert found is not None
    overrides = {"batch": {"u_med": 4, "u_hi": 6.5}}
    assert LublinFeitelsonParameters(jobs=5, types="mix", load=1.0, overrides=overrides) == found


@pytest.mark.parametrize("log", ["my.swf", "lublin", "lublin-feitelson.swf", "", ":", "x:jobs=5"])
def test_other_names_are_no_models(log: str) -> None:
    """Paths and cards are left alone."""
    assert find_model(log) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("jobs", "'jobs' is not KEY=VALUE"),
        ("jobs=", "'jobs=' is not KEY=VALUE"),
        ("=5", "'=5' is not KEY=VALUE"),
        ("jobs=5,,seed=1", "'' is not KEY=VALUE"),
        ("jobs=5,jobs=6", "jobs is given twice"),
        ("batch.=5", "'batch.=5' is not KEY=VALUE"),
        ("jobs=[", "is not KEY=VALUE"),
        ("job=5", r"unknown parameters \['job'\]; there are: jobs, processors"),
        ("jobs=-1", "jobs=-1 is not an integer from 0"),
        ("jobs=many", "jobs='many' is not an integer"),
        ("nodes.u_med=1", r"unknown parameters \['nodes'\]"),
        ("all.u=1", r"unknown parameters \['u'\]"),
    ],
)
def test_mistakes_are_named(text: str, complaint: str) -> None:
    """The message holds the word that is wrong and what would be right."""
    with pytest.raises(ParameterError, match=complaint):
        find_model(f"lublin-feitelson:{text}")


def test_the_key_is_that_of_the_parameters() -> None:
    """The same workload written otherwise has the same key, another one another."""
    assert find_log(LOG).sha256 == find_log("lublin-feitelson:seed=3,load=0.8,jobs=300,processors=64").sha256
    assert find_log(LOG).sha256 != find_log(LOG.replace("seed=3", "seed=4")).sha256


def test_it_is_published_like_any_log(tmp_path: Path) -> None:
    """Every augmentation takes it; the manifest tells how to make it again; a second run has nothing to do."""
    everything = "utility,checkpoints,arrivals,speedup,estimates"
    command = [*SWFTOOLS, "augment", "--log", LOG, "--augment", everything]
    done = run(command, tmp_path)
    assert 0 == done.returncode, done.stderr
    version = next(path for path in (tmp_path / "data").glob("lublin-feitelson*/*") if (path / "jobs").is_dir())
    jobs = pd.read_parquet(version / "jobs")
    expected = generate(300, processors=64, load=0.8, seed=3)
    assert expected.jobs["run_time"].tolist() == jobs["run_time"].tolist()
    manifest = json.loads((version / "manifest.json").read_text(encoding="utf-8"))
    assert expected.provenance["parameters"] == manifest["log"]["parameters"]
    assert expected.provenance["alpha"] == manifest["log"]["alpha"]
    assert (64, "none needed: generated") == (manifest["machine_processors"], manifest["licence"])
    assert "GenerateTrace" in manifest["code_versions"]
    again = run(command, tmp_path)
    assert 0 == again.returncode
    assert "already complete" in again.stdout


def test_wrong_parameters_end_luigi_with_2(tmp_path: Path) -> None:
    """One line, and the status of a wrong command line."""
    done = run([*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", "lublin-feitelson:load=-1"], tmp_path)
    assert 2 == done.returncode
    assert ["load=-1 is not a number from 1e-9 to 1e9, or none"] == [
        line.split("lublin-feitelson: ")[1] for line in done.stderr.splitlines()
    ]


def test_there_is_nothing_to_acquire(tmp_path: Path) -> None:
    """The task that fetches a log's text, and the one that generates a trace, say so when asked for the other."""
    done = run([*SWFTOOLS, "run", "AcquireLog", "--log", LOG], tmp_path)
    assert (30, True) == (done.returncode, "is generated: it has no text to acquire" in done.stderr)
    done = run([*SWFTOOLS, "run", "GenerateTrace"], tmp_path)
    assert (30, True) == (done.returncode, "is not a model; the models are: lublin-feitelson" in done.stderr)


def test_the_other_model() -> None:
    """Each model is generated by its own function."""
    made = generate_log(find_model("cirne-berman:jobs=50,site=kth,processors=100"))
    assert cirne_berman.generate(50, site="kth", processors=100).equals(made)


def test_commands_for_logs_take_it(tmp_path: Path) -> None:
    """It is described, validated and converted as a file is."""
    output = tmp_path / "model.parquet"
    for command in (["describe", LOG], ["validate", LOG], ["convert", LOG, str(output), "--raw"]):
        assert 0 == CliRunner().invoke(main, command).exit_code
    assert read_parquet(output).equals(generate(300, processors=64, load=0.8, seed=3))
