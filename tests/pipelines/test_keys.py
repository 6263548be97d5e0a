# SPDX-License-Identifier: BSD-3-Clause
"""Content keys and the schema: a key has the versions of the tables that its task reads or writes, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from pipelines.history import months, reevaluation_run
from pipelines.history.waits import waits_key
from pipelines.keys import canonical_json, schema_of
from pipelines.tasks.augmentations.checkpoints import AddCheckpoints
from pipelines.tasks.augmentations.registry import AUGMENTATIONS
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.price import PriceSchedule
from pipelines.tasks.publish_experiment import PublishExperiment
from pipelines.tasks.publish_schedule import PublishSchedule
from pipelines.tasks.publishing import PublishingTask
from pipelines.tasks.replay_predictor import ReplayPredictor
from pipelines.tasks.reproduce_paper import ReproducePaper
from pipelines.tasks.reserve import PublishReservations, SimulateReservations
from pipelines.tasks.run_experiment import RunExperiment
from pipelines.tasks.simulate import SimulatePolicy
from swftools.fields import dictionary
from swftools.header import SwfHeader
from swftools.tables import empty_frame
from tests.pipelines.small_logs import small_log

PUBLISHING = (
    *(BuildAugmentedTrace, ComparePolicies, EvaluateWaitPredictions, PriceSchedule, PublishExperiment),
    *(PublishSchedule, PublishReservations, ReproducePaper),
)
BEFORE = (*(CleanTrace, MeasureSchedule, ReplayPredictor, RunExperiment, SimulatePolicy, SimulateReservations),)
MONTHS = {"jobs", "quarantine", "merged", "repairs", "cleaning_report"}
HISTORY = {
    *("records", "provisional", "ingested", "waiting", "rejected", "names", "wait_predictions", "wait_coverage"),
    *("workload_drift", "policy_watch"),
}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A log of three jobs; keys of it depend on nothing that changes with the code, but how they are made."""
    path = tmp_path / "small.swf"
    path.write_text(small_log())
    for task in BEFORE:
        monkeypatch.setattr(task, "key", f"key of {task.__name__}")
        monkeypatch.setattr(task, "code_version", 1)
    for task in PUBLISHING:
        monkeypatch.setattr(task, "code_version", 1)
    monkeypatch.setattr(months, "CODE_VERSION", 1)
    monkeypatch.setattr(reevaluation_run, "CODE_VERSION", 1)
    for module in (
        "build",
        "compare",
        "evaluate_waits",
        "price",
        "publish_experiment",
        "publish_schedule",
        "reserve",
        "reproduce_paper",
    ):
        monkeypatch.setattr(f"pipelines.tasks.{module}.card_of", lambda _: {"licence": "none"})
    monkeypatch.setattr(PriceSchedule, "priced_by", lambda _: {"mechanism": "fixed"})
    monkeypatch.setattr(AddCheckpoints, "key", "key of AddCheckpoints")
    monkeypatch.setattr(ReproducePaper, "tables", [])
    monkeypatch.setattr(ReproducePaper, "check_values", lambda _: None)
    monkeypatch.setattr(reevaluation_run, "to_arrow", lambda *_: pa.table({"file": ["a.swf"]}))
    return str(path)


def key_of_months(_: str) -> str:
    """Return the key of the months of a history."""
    return months.Making(SwfHeader.from_lines(["; MaxProcs: 8"]), 8, [{"rule": "duplicates"}], []).key


def key_of_night(_: str) -> str:
    """Return the version of a history."""
    waits, policies = SimpleNamespace(methods=[]), SimpleNamespace(names=[])
    settings = SimpleNamespace(plan={}, waits=waits, policies=policies, history="site")
    came = SimpleNamespace(
        ingested=empty_frame("ingested"),
        waiting_table=empty_frame("waiting"),
        provisional=SimpleNamespace(rows=[1]),
        book=SimpleNamespace(names=[1]),
        state=SimpleNamespace(records_version=1, manifest={}),
    )
    run = reevaluation_run.ReevaluationRun(settings, came, Path(), print)  # type: ignore[arg-type]
    vars(run).update(making=SimpleNamespace(key="key of months"), terms={"licence": "none"}, privacy={})
    return run.version


def version_by(task: type[PublishingTask], **parameters: Any) -> Callable[[str], str]:
    """Return what gives the version that a task publishes of a log."""
    return lambda log: str(task(log=log, data_root=f"{log}.data", **parameters).version)


def version_of_experiment(log: str) -> str:
    """Return the version of an experiment."""
    planned = canonical_json({"name": "small", "logs": [log], "policies": ["easy", "fcfs"], "seeds": [0, 1]})
    return PublishExperiment(experiment=planned, data_root=f"{log}.data").version


def version_of_paper(log: str) -> str:
    """Return the version of the tables of a paper."""
    return ReproducePaper(paper="yuan2010", logs=log, data_root=f"{log}.data").version


SCHEDULE = {"schedule", "segments", "excluded", "names"}

KEYS: dict[str, tuple[Callable[[str], str], str, set[str]]] = {
    "months": (key_of_months, "d3f3f6a2d3b67419", MONTHS | {"records"}),
    "night": (key_of_night, "d77409b56a5413f2", MONTHS | HISTORY),
    "build": (version_by(BuildAugmentedTrace, augment=""), "0d06ed66183308c9", MONTHS | {"names"}),
    "augmented": (
        version_by(BuildAugmentedTrace, augment="checkpoints"),
        "e2f5bf4c040aeb9b",
        MONTHS | {"names", "checkpoints", "checkpoint_survey", "checkpoint_summary"},
    ),
    "compare": (version_by(ComparePolicies, policies="fcfs,easy"), "536c8ee9836ac957", {"metrics", "comparison"}),
    "evaluate": (
        version_by(EvaluateWaitPredictions, methods="binomial"),
        "77a3b870cf0f7734",
        {"wait_predictions", "wait_evaluation", "names"},
    ),
    "schedule": (version_by(PublishSchedule, policy="easy"), "ed2222819f415dc1", SCHEDULE),
    "searched": (
        version_by(PublishSchedule, policy="search"),
        "ed2222819f415dc1",
        SCHEDULE | {"search_decisions", "search_improvements", "search_orders"},
    ),
    "prices": (version_by(PriceSchedule, policy="easy", mechanism="fixed"), "8aadd05bef79684c", {"prices", "names"}),
    "reservations": (
        version_by(PublishReservations, policy="easy"),
        "08cfd0997e177d36",
        {"reservations", "schedule", "names"},
    ),
    "experiment": (
        version_of_experiment,
        "360caf4a11846629",
        {"metrics", "experiment", "experiment_differences", "experiment_ranks"},
    ),
    "paper": (version_of_paper, "06fc7fabb8a498a6", {"measurements", "reproduction"}),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_moves_only_with_the_tables_of_its_task(name: str, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While no table is raised it is what it was when all had one version, so that what was published stays valid."""
    make, before, tables = KEYS[name]
    monkeypatch.setattr(dictionary, "RAISED_VERSIONS", {})
    assert before == make(log)
    moving = set()
    for table in dictionary.TABLES:
        monkeypatch.setattr(dictionary, "RAISED_VERSIONS", {table: dictionary.COMMON_VERSION + 1})
        if make(log) != before:
            moving.add(table)
    assert tables == moving


def test_a_table_raised_twice_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which table is raised counts, and how far."""
    keys = []
    for raised in ({}, {"jobs": 14}, {"jobs": 15}, {"names": 14}, {"jobs": 14, "names": 14}):
        monkeypatch.setattr(dictionary, "RAISED_VERSIONS", raised)
        keys.append(canonical_json(schema_of(["names", "jobs"])))
    assert keys[0] == str(dictionary.COMMON_VERSION)
    assert len(set(keys)) == len(keys)


def test_predictions_of_a_history_are_made_anew_when_their_table_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else months that did not change would be shared, without the new column."""
    settings = SimpleNamespace(waits=SimpleNamespace(by="queue", options={}))
    making = SimpleNamespace(key="key of months")
    monkeypatch.setattr("pipelines.history.waits.content_key", lambda *inputs: inputs[2].get("schema_version"))
    told = []
    for raised in ({}, {"policy_watch": 14}, {"wait_predictions": 14}):
        monkeypatch.setattr(dictionary, "RAISED_VERSIONS", raised)
        told.append(waits_key(settings, making, "binomial"))  # type: ignore[arg-type]
    assert told == [None, None, {"wait_predictions": 14}]


def test_an_augmentation_is_made_anew_when_its_table_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is not, its key says nothing of it, and is what it was."""
    told = []
    for raised in ({}, {"jobs": 14}, {"utility": 14}):
        monkeypatch.setattr(dictionary, "RAISED_VERSIONS", raised)
        told.append(AUGMENTATIONS["utility"].raised())
    assert told == [{}, {}, {"schema_version": {"utility": 14}}]
