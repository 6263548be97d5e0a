# SPDX-License-Identifier: BSD-3-Clause
"""Augmentations of the whole trace in a history: fitted once, and then each job's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.logs.load import load_log
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.parameters import AUGMENTATIONS
from swftools.checkpoints.inference import infer_checkpoints
from swftools.checkpoints.survey import read_checkpoint_survey
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.errors import HistoryError, ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.models.requested_times import RequestedTimeParameters
from tests.pipelines.history.nights import SETTINGS, Site, copy_of, days

AUGMENT = "augment: {checkpoints: {}, arrivals: {model: scaled, factor: 0.5}, estimates: {}}\n"
COLUMNS = [column.name for name in ("checkpoints", "arrivals", "estimates") for column in AUGMENTATION_COLUMNS[name]]


def jobs_of(site: Site) -> pd.DataFrame:
    """Return the jobs of the latest version by their key."""
    return pd.read_parquet(site.version() / "jobs").set_index(["job_number", "job_occurrence"]).sort_index()


def manifest_of(site: Site) -> dict[str, Any]:
    """Return the manifest of the latest version."""
    found: dict[str, Any] = json.loads((site.version() / "manifest.json").read_text())
    return found


DAYS = days(40)


def begun(folder: Path, settings: str, count: int = 20) -> Site:
    """Return a history of some days that came in its first night, without the fourth."""
    site = Site(folder, settings)
    put_days(site, 0, 3)
    put_days(site, 4, count)
    site.night()
    return site


def put_days(site: Site, first: int, end: int) -> None:
    """Put a file of some days into the inbox."""
    site.put(f"days-{first:02d}-{end:02d}.swf", "".join(DAYS[first:end]))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return a history that was begun with all three augmentations."""
    return begun(tmp_path_factory.mktemp("fitted"), SETTINGS + AUGMENT)


@pytest.mark.parametrize(
    "nights",
    [
        ((20, 34), (3, 4)),
        pytest.param(((20, 29), (29, 40), (3, 4)), marks=pytest.mark.slow),
        pytest.param(((20, 22), (22, 28), (28, 34), (34, 40), (3, 4)), marks=pytest.mark.slow),
    ],
    ids=["two", "three", "five"],
)
def test_nights_are_as_all_at_once(nights: tuple[tuple[int, int], ...], fitted: Site, tmp_path: Path) -> None:
    """From one beginning on: a month that grows, a new one, and a late day of the first; the same bytes."""
    by_night, at_once = (copy_of(fitted, tmp_path / name) for name in ("by-night", "at-once"))
    first = jobs_of(by_night)
    for some in nights:
        for site in (at_once, by_night):
            put_days(site, *some)
        by_night.night()
        pd.testing.assert_frame_equal(jobs_of(by_night).loc[first.index, COLUMNS], first[COLUMNS])
    at_once.night()
    assert not by_night.night().is_new
    assert len(jobs_of(by_night)) == 12 * nights[-2][1]
    one, other = by_night.hashes(), at_once.hashes()
    same = [name for name in one if name.startswith(("jobs/", "wait_predictions/", "fitted."))]
    assert len(same) == 2 + 2 + 3
    assert [name for name in same if one[name] != other[name]] == []
    assert manifest_of(by_night)["jobs_key"] == manifest_of(at_once)["jobs_key"]


@pytest.mark.slow
def test_date_makes_the_parameters_those_of_the_files(tmp_path: Path) -> None:
    """Fitted to jobs before a date: a beginning by half a year's files and one by the first weeks' are the same."""
    settings = SETTINGS + AUGMENT + "refit: 2000-01-15\n"
    few, many = Site(tmp_path / "few", settings), Site(tmp_path / "many", settings)
    for site in (few, many):
        put_days(site, 0, 3)
        put_days(site, 4, 20)
    few.night()
    for site in (few, many):
        put_days(site, 20, 40)
        site.night()
    assert few.hashes() == many.hashes()
    facts = manifest_of(many)["fitted"]["estimates"]
    assert facts["jobs"] == 13 * 12
    assert pd.Timestamp(facts["until"], unit="s") < pd.Timestamp("2000-01-15")


def test_what_is_published_of_it(fitted: Site, tmp_path: Path) -> None:
    """A file with the parameters, the same in each version; words on the page; what the manifest says."""
    site = copy_of(fitted, tmp_path)
    before = site.version()
    put_days(site, 25, 26)
    site.night()
    for name in ("checkpoints", "arrivals", "estimates"):
        assert (before / f"fitted.{name}.json").samefile(site.version() / f"fitted.{name}.json")
    assert json.loads((before / "fitted.arrivals.json").read_text()) == {"factor": 0.5}
    assert "The values of estimates follow from what was fitted to the 228 jobs until 2000-01-20." in (
        site.version() / "README.md"
    ).read_text().replace("\n", " ")
    assert site.store.verify("site") == []
    jobs = jobs_of(site)
    assert jobs["is_checkpoint_survey_synthetic"].all()
    assert set(jobs["checkpoint_source"]) == {"survey", "inferred"}
    assert jobs["model_submit_time"].equals((jobs["submit_time"] * 0.5).round())
    assert (jobs["model_requested_time"] >= jobs["run_time"]).all()


def test_first_version_has_the_survey_of_its_trace(fitted: Site) -> None:
    """Those who answered, and what was drawn for others, are as of the same trace by itself."""
    trace = load_log(str(fitted.version())).trace
    expected = infer_checkpoints(trace, generate_checkpoint_survey(trace)).columns
    pd.testing.assert_frame_equal(trace.jobs[list(expected)], expected)


def test_survey_of_users(tmp_path: Path) -> None:
    """Answers go to the jobs that there are; a new survey is asked for anew."""
    path = tmp_path / "survey.csv"
    path.write_text("user_id,processors,job_number,choice,interval_minutes\n1,4,1,0,15\n2,4,400,1,\n")
    site = begun(tmp_path / "site", f"augment: {{checkpoints: {{survey: {path}}}}}\n")
    put_days(site, 3, 4)
    put_days(site, 20, 40)
    site.night()
    jobs = jobs_of(site).droplevel("job_occurrence")
    assert jobs.loc[1, "checkpoint_source"] == "survey"
    assert jobs.loc[400, "user_id"] != 2  # the answer contradicts the job, which came later
    assert jobs.loc[jobs["user_id"] == 1, "checkpoint_source"].value_counts().to_dict() == {"inferred": 95, "survey": 1}
    assert (jobs.loc[jobs["user_id"] == 2, "checkpoint_choice"] == 1).all()
    assert not jobs["is_checkpoint_survey_synthetic"].any()
    path.write_text("user_id,processors,job_number,choice,interval_minutes\n0,4,400,0,30\n")
    site.night()
    jobs = jobs_of(site).droplevel("job_occurrence")
    assert jobs.loc[400, ["checkpoint_source", "checkpoint_interval"]].tolist() == ["survey", 1800.0]
    assert read_checkpoint_survey(path).answers["job_number"].tolist() == [400]


def test_refit(fitted: Site, tmp_path: Path) -> None:
    """Other rules of cleaning, or a further augmentation, leave what was fitted; a date fits anew."""
    site = copy_of(fitted, tmp_path)
    first, before = manifest_of(site)["fitted"], jobs_of(site)
    put_days(site, 3, 4)
    put_days(site, 20, 40)
    site.settings.write_text(
        SETTINGS + AUGMENT.replace("}}", "}, speedup: {}}") + "cleaning: {rules: [submission-order]}\n"
    )
    site.night()
    assert manifest_of(site)["fitted"] == first
    now = jobs_of(site)
    assert "downey_a" in now
    pd.testing.assert_frame_equal(now.loc[before.index, COLUMNS], before[COLUMNS])
    site.settings.write_text(site.settings.read_text() + "refit: 2000-02-05\n")
    assert site.night().is_new
    fitted = manifest_of(site)["fitted"]
    assert {name: facts["jobs"] for name, facts in fitted.items()} == dict.fromkeys(fitted, 35 * 12)
    assert not jobs_of(site)["model_requested_time"].equals(now["model_requested_time"])
    assert not site.night().is_new


def test_load_that_is_met_by_the_first_jobs(tmp_path: Path) -> None:
    """The factor of that load is kept."""
    site = begun(tmp_path, "augment: {arrivals: {model: scaled, load: 0.9}}\n")
    factor = json.loads((site.version() / "fitted.arrivals.json").read_text())["factor"]
    trace = load_log(str(site.version())).trace
    span = trace.jobs["submit_time"].max() - trace.jobs["submit_time"].min()
    work = (trace.jobs["width"] * trace.jobs["run_time"]).sum()
    assert np.isclose(work / 64 / (span * factor), 0.9)
    put_days(site, 25, 26)
    site.night()
    jobs = jobs_of(site)
    assert jobs["model_submit_time"].equals((jobs["submit_time"] * factor).round())


@pytest.mark.parametrize("model", ["lublin-feitelson", "poisson", "bootstrap"])
def test_arrivals_of_one_process_are_refused(tmp_path: Path, model: str) -> None:
    """With the reason, and the way to have them, which works."""
    with pytest.raises(ParameterError, match=rf"augment.arrivals: model {model} gives .* model=scaled .* --augment"):
        begun(tmp_path, f"augment: {{arrivals: {{model: {model}}}}}\n")


@pytest.mark.parametrize("wanted", ["arrivals: {}", "estimates: {maximum: 1}", "speedup: {nonsense: 1}"])
def test_status_of_what_cannot_be_had(tmp_path: Path, wanted: str) -> None:
    """The settings are wrong (2), before anything is read."""
    site = Site(tmp_path, f"augment: {{{wanted}}}\n")
    options = ["--settings", str(site.settings), "--inbox", str(site.inbox), "--data-root", site.root]
    told = CliRunner().invoke(main, ["reevaluate", *options])
    assert told.exit_code == 2
    assert wanted.partition(":")[0] in told.output


def test_augmentation_of_ones_own_is_refused(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Unless it says that it is stable, or has a form that is fixed."""
    request.addfinalizer(lambda: AUGMENTATIONS.pop("own"))

    class AddOwn(Augmentation):
        """One that says nothing."""

        name = "own"
        code_version = 1
        parameters_class = RequestedTimeParameters

    with pytest.raises(ParameterError, match=r"augment\.own: it is fitted to all jobs of a log"):
        begun(tmp_path, "augment: {own: {}}\n")


def test_no_job_to_be_fitted_to(tmp_path: Path) -> None:
    """A date before all jobs is told."""
    with pytest.raises(HistoryError, match="no job that was submitted before refit: 1999-01-01"):
        begun(tmp_path, AUGMENT + "refit: 1999-01-01\n")


def test_damaged_parameters(fitted: Site, tmp_path: Path) -> None:
    """They are not fitted to other jobs in silence; the remedy that the error names works."""
    site = copy_of(fitted, tmp_path)
    path = site.version() / "fitted.arrivals.json"
    path.unlink()
    put_days(site, 25, 26)
    for content in (None, b"{}", b'{"factor":0.75}'):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(HistoryError, match=r"fitted\.arrivals\.json.*refit: in the settings"):
            site.night()
    site.settings.write_text(site.settings.read_text() + "refit: 2000-03-01\n")
    assert site.night().is_new
    assert site.store.verify("site") == []
