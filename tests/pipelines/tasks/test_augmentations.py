# SPDX-License-Identifier: BSD-3-Clause
"""Augmentations as options of BuildAugmentedTrace: any combination, parameters, what they publish beside jobs."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import luigi
import pandas as pd
import pytest

from pipelines.tasks.augmentations.registry import AUGMENTATIONS, Augmentation
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.parameters import find_augmentation
from swftools.checkpoints.inference import read_checkpoints
from swftools.checkpoints.survey import read_checkpoint_survey
from swftools.errors import ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.models.speedup import run_time
from swftools.parameters import Parameters
from tests.pipelines.luigi_runs import SWFTOOLS, run

DEFAULT = ("utility", "checkpoints", "arrivals", "speedup")

LOG = """\
; Version: 2.2
; MaxProcs: 64
; UnixStartTime: 956700003
1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1
2 10 -1 -1 -1 -1 -1 8 90 -1 5 7 -1 -1 3 -1 -1 -1
3 20 5 7200 16 -1 -1 16 9000 -1 1 8 -1 -1 1 -1 -1 -1
4 9000 5 3600 16 -1 -1 16 9000 -1 1 8 -1 -1 1 -1 -1 -1
5 90000 5 30 16 -1 -1 16 9000 -1 0 8 -1 -1 1 -1 -1 -1
"""

SURVEY = """\
user_id,processors,job_number,choice,interval_minutes
8,16,3,0,15
7,4,1,1,
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of five jobs of two users."""
    path = tmp_path / "five.swf"
    path.write_text(LOG)
    return path


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A survey of two answers."""
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    return path


def build(data_root: Path, **parameters: object) -> Path:
    """Build in this process; return the version's directory."""
    task = BuildAugmentedTrace(data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return Path(task.output().path)


def jobs_of(version: Path) -> pd.DataFrame:
    """Read the jobs of a version."""
    return pd.read_parquet(version / "jobs")


def test_the_options_are_those_of_the_dictionary() -> None:
    """Every augmentation has columns, and every set of columns an augmentation, in the same order."""
    assert list(AUGMENTATION_COLUMNS) == list(AUGMENTATIONS)


def test_the_default_has_four(log: Path, tmp_path: Path) -> None:
    """Utility, checkpoints, arrivals and speedup; estimates on demand. On its own width each job takes its own time."""
    jobs = jobs_of(build(tmp_path / "data", log=str(log)))
    for name, columns in AUGMENTATION_COLUMNS.items():
        assert {name in DEFAULT} == {column.name in jobs for column in columns}
    widths = jobs["width"].to_numpy(dtype=float)
    assert jobs["run_time"].dropna().tolist() == pytest.approx(run_time(widths, jobs)[jobs["run_time"].notna()])


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The jobs of that log with all augmentations."""
    folder = tmp_path_factory.mktemp("everything")
    (folder / "five.swf").write_text(LOG)
    return jobs_of(build(folder / "data", log=str(folder / "five.swf"), augment=",".join(AUGMENTATIONS)))


@pytest.mark.parametrize("size", [0, 1, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 3, 4)), 5])
def test_any_combination(log: Path, everything: pd.DataFrame, tmp_path: Path, size: int) -> None:
    """A version has the columns of the augmentations asked for, and they do not depend on which others are there."""
    for names in combinations(AUGMENTATIONS, size):
        jobs = jobs_of(build(tmp_path / "data", log=str(log), augment=",".join(reversed(names))))
        added = [column.name for name in names for column in AUGMENTATION_COLUMNS[name]]
        assert added == [name for name in jobs if name not in everything.columns[:29]]
        pd.testing.assert_frame_equal(everything[list(jobs)], jobs)


def test_the_order_of_lines_does_not_count(log: Path, tmp_path: Path) -> None:
    """A log with its lines in any order gives every job the same columns."""
    header, lines = LOG.splitlines()[:3], LOG.splitlines()[3:]
    other = tmp_path / "other.swf"
    other.write_text("\n".join([*header, *lines[::-1]]) + "\n")
    names = ",".join(AUGMENTATIONS)
    one, two = (jobs_of(build(tmp_path / "data", log=str(path), augment=names)) for path in (log, other))
    kept = [name for name in one if name not in ("line_number", "is_out_of_order")]
    pd.testing.assert_frame_equal(one[kept], two[kept])


def test_each_takes_its_parameters(log: Path, tmp_path: Path) -> None:
    """The manifest has every parameter with its value; another value is another version."""
    given = {
        "checkpoints": {"workload": "answers", "response_share": 1.0},
        "arrivals": {"model": "scaled", "factor": 2},
        "speedup": {"model": "simple", "moldable_share": 0.5},
        "estimates": {"maximum": 72000},
    }
    version = build(tmp_path / "data", log=str(log), augment=",".join(AUGMENTATIONS), parameters=given, seed=5)
    manifest = json.loads((version / "manifest.json").read_text(encoding="utf-8"))
    for name, parameters in given.items():
        assert {**parameters, "seed": 5}.items() <= manifest["parameters"][name].items()
    jobs = jobs_of(version)
    assert [0, 20, 40, 18000, 180000] == jobs["model_submit_time"].tolist()
    assert {"simple", None} >= set(jobs["speedup_curve"].replace({float("nan"): None}))
    assert jobs["model_requested_time"].max() <= 72000


def test_a_survey_is_carried_to_the_jobs(log: Path, survey: Path, tmp_path: Path) -> None:
    """Answers, what was inferred from them, and the side file; nothing is called synthetic."""
    version = build(tmp_path / "data", log=str(log), parameters={"checkpoints": {"survey": str(survey)}})
    jobs = jobs_of(version)
    expected = ["survey", "assumed-none", "survey", "inferred", "inferred"]
    assert expected == jobs["checkpoint_source"].tolist()
    assert [False, False, True, True, True] == jobs["performs_checkpointing"].tolist()
    assert [900.0] * 3 == jobs["checkpoint_interval"].dropna().tolist()
    assert not jobs["is_checkpoint_survey_synthetic"].any()
    assert ["five.checkpoints.csv"] == [path.name for path in version.glob("*.csv")]
    pd.testing.assert_series_equal(
        jobs["checkpoint_interval"], read_checkpoints(version / "five.checkpoints.csv")["checkpoint_interval"]
    )
    assert ["matched", "matched"] == pd.read_parquet(version / "checkpoint_survey")["outcome"].tolist()
    assert [1, 1, 0, 0, 0, 0, 0] == pd.read_parquet(version / "checkpoint_summary")["responses"].tolist()
    manifest = json.loads((version / "manifest.json").read_text(encoding="utf-8"))
    assert "survey.csv" == manifest["parameters"]["checkpoints"]["survey"]["name"]
    assert str(tmp_path) not in json.dumps(manifest)


def test_the_version_is_that_of_the_surveys_content(log: Path, survey: Path, tmp_path: Path) -> None:
    """Another answer is another version; another directory is not."""

    def version(path: Path) -> str:
        parameters = {"checkpoints": {"survey": str(path)}}
        return BuildAugmentedTrace(log=str(log), data_root=str(tmp_path), parameters=parameters).version

    copy = tmp_path / "elsewhere" / "survey.csv"
    copy.parent.mkdir()
    copy.write_text(SURVEY)
    assert version(survey) == version(copy)
    before = version(copy)
    copy.write_text(SURVEY.replace("15", "30"))
    assert before != version(copy)


def test_what_is_synthetic_says_so(log: Path, tmp_path: Path) -> None:
    """In the column, in the manifest, in the names of the files and in their text; and it can be used as a survey."""
    parameters: dict[str, dict[str, object]] = {"checkpoints": {"response_share": 1}}
    version = build(tmp_path / "data", log=str(log), parameters=parameters)
    jobs = jobs_of(version)
    assert jobs["is_checkpoint_survey_synthetic"].all()
    manifest = json.loads((version / "manifest.json").read_text(encoding="utf-8"))
    assert "synthetic" == manifest["parameters"]["checkpoints"]["survey"]
    files = sorted(version.glob("*.csv"))
    assert ["five.synthetic-checkpoint-survey.csv", "five.synthetic-checkpoints.csv"] == [path.name for path in files]
    assert ["# synthetic"] * 2 == [
        next(line[:11] for line in path.read_text().splitlines() if "synthetic" in line) for path in files
    ]
    assert read_checkpoint_survey(files[0]).is_synthetic
    again = build(tmp_path / "data", log=str(log), parameters={"checkpoints": {"survey": str(files[0])}})
    pd.testing.assert_frame_equal(jobs, jobs_of(again))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"checkpoints": {"survey": "none.csv"}}, "survey='none.csv' is not the path of a survey"),
        ({"checkpoints": {"survey": 5}}, "survey=5 is not the path of a survey"),
        ({"checkpoints": {"workload": "A"}}, "workload='A' is not one of answers, pooled"),
        ({"checkpoints": {"answers": -1}}, "answers=-1 is not"),
        ({"arrivals": {"model": "weibull"}}, "model='weibull' is not one of lublin-feitelson, poisson"),
        ({"arrivals": {"model": "scaled"}}, "takes either load or factor"),
        ({"speedup": {"moldable_share": 2}}, "moldable_share=2 is not"),
        ({"estimates": {"maximum": 0}}, "maximum=0 is not"),
        ({"estimate": {}}, "no augmentation 'estimate'; there are: utility, checkpoints, arrivals, speedup, estimates"),
    ],
)
def test_mistakes_show_before_anything_runs(parameters: dict[str, object], complaint: str, tmp_path: Path) -> None:
    """A wrong parameter is an error when the task is made."""
    with pytest.raises(ParameterError, match=complaint):
        BuildAugmentedTrace(data_root=str(tmp_path), parameters=parameters)


def test_a_survey_with_faults_is_one_clear_error(log: Path, survey: Path, tmp_path: Path) -> None:
    """File, line, value and remedy on standard error, no traceback, and the status of a failed task."""
    survey.write_text(SURVEY.replace(",1,\n", ",9,\n"))
    done = run([*SWFTOOLS, "augment", "--log", str(log), "--set", f"checkpoints.survey={survey}"], tmp_path)
    assert 30 == done.returncode
    assert "survey.csv" in done.stderr
    assert "line 3" in done.stderr
    assert "choice" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_is_given_once() -> None:
    """A second augmentation of a name, from elsewhere, is refused; an unknown one is listed with those that are."""
    with pytest.raises(
        ParameterError, match=r"'utility' of elsewhere is one of pipelines\.tasks\.augmentations\.utility already"
    ):
        type("Other", (Augmentation,), {"name": "utility", "__module__": "elsewhere"})
    with pytest.raises(ParameterError, match="no augmentation 'power'; there are: utility"):
        find_augmentation("power")


def test_parameters_are_those_of_a_class() -> None:
    """Each augmentation names the class that checks its parameters."""
    assert all(issubclass(task.parameters_class, Parameters) for task in AUGMENTATIONS.values())


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("KTH-SP2-1996-2.1-cln", marks=pytest.mark.slow),
        pytest.param("SDSC-BLUE-2000-4.2-cln", marks=pytest.mark.slow),
        pytest.param("CTC-SP2-1996-3.1-cln", marks=pytest.mark.slow),
        pytest.param("SDSC-DS-2004-2.1-cln", marks=pytest.mark.slow),
        pytest.param("SDSC-SP2-1998-4.2-cln", marks=pytest.mark.slow),
    ],
)
def test_the_five_logs(shared: Path, tmp_path: Path, name: str) -> None:
    """Each gets every column; schemas and bounds are checked on writing, the lengths of the lists here."""
    assert_every_column(shared / "traces" / f"{name}.swf.gz", tmp_path)


def test_the_shipped_log(shipped_log: Path, tmp_path: Path) -> None:
    """Likewise, of an excerpt."""
    assert_every_column(shipped_log, tmp_path)


def assert_every_column(log: Path, folder: Path) -> None:
    """Assert that a log gets every column, and that they fit each other."""
    version = build(folder / "data", log=str(log), augment=",".join(AUGMENTATIONS))
    jobs = jobs_of(version)
    assert {column.name for columns in AUGMENTATION_COLUMNS.values() for column in columns} <= set(jobs)
    times = jobs["model_submit_time"].dropna().to_numpy()
    assert (times == sorted(times)).all()
    widths = jobs["width"].to_numpy(dtype=float)
    known = jobs["run_time"].notna().to_numpy() & jobs["width"].notna().to_numpy()
    assert jobs["run_time"].to_numpy()[known] == pytest.approx(run_time(widths, jobs)[known])
    between = jobs["width"].between(jobs["minimum_processors"], jobs["maximum_processors"])
    assert (between | jobs["width"].isna()).all()
    assert (jobs["performs_checkpointing"] == jobs["checkpoint_interval"].notna()).all()
