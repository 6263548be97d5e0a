# SPDX-License-Identifier: BSD-3-Clause
"""Golden output: a digest of what each stage makes of known logs, beside the version that the stage declares.

A content key holds the declared ``code_version`` of a stage, not its code. So when a stage makes something else of
the same input, its version must be raised, or stale outputs would pass for new ones. ``python -m tests.golden``
writes ``reference/golden.json`` anew after that; it refuses where a digest moved and no version did.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pipelines.history import months, reevaluation_run
from pipelines.tasks.augmentations.registry import AUGMENTATIONS
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.parse import GenerateTrace, ParseLog
from pipelines.tasks.price import PriceJobs, PriceSchedule
from pipelines.tasks.replay_predictor import ReplayPredictor
from pipelines.tasks.reproduce_paper import ReproducePaper
from pipelines.tasks.reserve import PublishReservations, SimulateReservations
from pipelines.tasks.run_experiment import RunExperiment
from pipelines.tasks.simulate import SimulatePolicy
from swftools.fields.dictionary import TABLES, table_version
from tests.folders import REFERENCES
from tests.golden_histories import history_output, months_of_history, rest_of_history
from tests.golden_outputs import (
    LOGS,
    MECHANISMS,
    PAPERS,
    POLICIES,
    augmentation_output,
    build_output,
    clean_output,
    compare_output,
    evaluate_output,
    experiment_output,
    few_runs_output,
    generate_output,
    measure_output,
    mechanism_output,
    paper_output,
    parse_output,
    policy_output,
    price_output,
    publish_reservations_output,
    replay_output,
    reproduce_output,
    reserve_output,
    rows_of,
    simulate_output,
    table_output,
)

GOLDEN = REFERENCES / "golden.json"
VERSIONS = {
    **{f"table {name}": (f"version of {name} in swftools/fields/tables.csv", table_version(name)) for name in TABLES},
    "parse": ("code_version of ParseLog in pipelines/tasks/parse.py", ParseLog.code_version),
    "clean": ("code_version of CleanTrace in pipelines/tasks/clean.py", CleanTrace.code_version),
    **{
        name: (f"code_version of {task.__name__} in pipelines/tasks/augmentations/{name}.py", task.code_version)
        for name, task in AUGMENTATIONS.items()
    },
    "generate": ("code_version of GenerateTrace in pipelines/tasks/parse.py", GenerateTrace.code_version),
    "simulate": ("code_version of SimulatePolicy in pipelines/tasks/simulate.py", SimulatePolicy.code_version),
    **{
        stage: (f"version of {policy.name} in {policy.decide.__module__.replace('.', '/')}.py", policy.version)
        for stage, policy in POLICIES.items()
    },
    "measure": ("code_version of MeasureSchedule in pipelines/tasks/measure.py", MeasureSchedule.code_version),
    "compare": ("code_version of ComparePolicies in pipelines/tasks/compare.py", ComparePolicies.code_version),
    **{
        stage: (f"version of {own.name} in {own.set_prices.__module__.replace('.', '/')}.py", own.version)
        for stage, own in MECHANISMS.items()
    },
    "price jobs": ("code_version of PriceJobs in pipelines/tasks/price.py", PriceJobs.code_version),
    "price": ("code_version of PriceSchedule in pipelines/tasks/price.py", PriceSchedule.code_version),
    "reserve": (
        "code_version of SimulateReservations in pipelines/tasks/reserve.py",
        SimulateReservations.code_version,
    ),
    "publish reservations": (
        "code_version of PublishReservations in pipelines/tasks/reserve.py",
        PublishReservations.code_version,
    ),
    "replay": ("code_version of ReplayPredictor in pipelines/tasks/replay_predictor.py", ReplayPredictor.code_version),
    "evaluate": (
        "code_version of EvaluateWaitPredictions in pipelines/tasks/evaluate_waits.py",
        EvaluateWaitPredictions.code_version,
    ),
    **{
        stage: (f"version of {paper.name} in pipelines/papers/{paper.name.partition('-')[0]}", paper.version)
        for paper_stage, paper in PAPERS.items()
        for stage in (paper_stage, f"few runs of {paper_stage}")
    },
    "experiment": ("code_version of RunExperiment in pipelines/tasks/run_experiment.py", RunExperiment.code_version),
    **dict.fromkeys(
        ("reproduce", "few tables of reproduce"),
        ("code_version of ReproducePaper in pipelines/tasks/reproduce_paper.py", ReproducePaper.code_version),
    ),
    "build": ("code_version of BuildAugmentedTrace in pipelines/tasks/build.py", BuildAugmentedTrace.code_version),
    "history": ("CODE_VERSION in pipelines/history/months.py", months.CODE_VERSION),
    "reevaluate": ("CODE_VERSION in pipelines/history/reevaluation_run.py", reevaluation_run.CODE_VERSION),
}
"""Where each stage declares its version, and the version, in the order of the data's way."""

FEW_TABLES = ("3.2", "coverage", "figure-5.2", "6.2")
"""Tables of Nurmi 2009: of each kind of experiment, one that takes few runs."""

SLOW = {
    *PAPERS,
    *("reproduce", "few tables of reproduce", "few runs of paper nurmi2009"),
    *("build", "compare", "price jobs", "price", "publish reservations", "history", "reevaluate"),
}
"""Stages that take long. By day a few runs of papers are looked at, each of which is a stage here of its own, and of
what is published its parts: augmentations, schedules, measures, mechanisms, reservations, predictions.
"""

_PRICED = ("parse", "clean", "policy easy", "simulate", "price mechanism fixed")
UPSTREAM = {
    **{f"table {name}": (f"table {name}",) for name in TABLES},
    "parse": ("parse",),
    "clean": ("parse", "clean"),
    **{name: ("parse", "clean", name) for name in AUGMENTATIONS},
    "generate": ("generate",),
    "simulate": ("parse", "clean", "policy easy", "simulate"),
    **{stage: ("parse", "clean", "simulate", stage) for stage in POLICIES},
    "measure": ("parse", "clean", "policy easy", "simulate", "measure"),
    "compare": ("parse", "clean", "utility", "simulate", "policy easy", "policy fcfs", "measure", "compare"),
    **{stage: ("parse", "clean", "policy easy", "simulate", stage) for stage in MECHANISMS},
    "price jobs": (*_PRICED, "price jobs"),
    "price": (*_PRICED, "price jobs", "price"),
    "reserve": ("parse", "clean", "policy easy", "simulate", "reserve"),
    "publish reservations": (*("parse", "clean", "policy easy", "simulate", "reserve", "publish reservations"),),
    "replay": ("parse", "clean", "replay"),
    "evaluate": ("parse", "clean", "replay", "evaluate"),
    **{stage: ("parse", "clean", stage) for stage in PAPERS},
    **{few: ("parse", "clean", few) for few in (f"few runs of {stage}" for stage in PAPERS)},
    "experiment": ("parse", "clean", "paper nurmi2009", "experiment"),
    "reproduce": ("parse", "clean", "paper nurmi2009", "experiment", "reproduce"),
    "few tables of reproduce": ("parse", "clean", "paper nurmi2009", "experiment", "few tables of reproduce"),
    "build": ("parse", "clean", *AUGMENTATIONS, "build"),
    "history": ("parse", "clean", "speedup", "history"),
    "reevaluate": (
        *("parse", "clean", "speedup", "simulate", "policy easy", "policy fcfs", "measure", "replay"),
        *("history", "reevaluate"),
    ),
}
"""The stages, itself included, that a stage's output follows from."""


def versions_of(stage: str) -> dict[str, int]:
    """Return the declared versions that a stage's output follows from."""
    return {name: VERSIONS[name][1] for name in UPSTREAM[stage]}


OUTPUTS: dict[str, Callable[[], Iterator[Any]]] = {
    **{f"table {name}": partial(table_output, name) for name in TABLES},
    "parse": parse_output,
    "clean": clean_output,
    **{name: partial(augmentation_output, name) for name in AUGMENTATIONS},
    "generate": generate_output,
    "build": build_output,
    "simulate": simulate_output,
    **{stage: partial(policy_output, stage) for stage in POLICIES},
    "measure": measure_output,
    "compare": compare_output,
    **{stage: partial(mechanism_output, stage) for stage in MECHANISMS},
    "price jobs": price_output,
    "price": price_output,
    "reserve": reserve_output,
    "publish reservations": publish_reservations_output,
    "replay": replay_output,
    "evaluate": evaluate_output,
    **{stage: partial(paper_output, stage) for stage in PAPERS},
    "experiment": experiment_output,
    **{f"few runs of {stage}": partial(few_runs_output, stage) for stage in PAPERS},
    "reproduce": reproduce_output,
    "few tables of reproduce": partial(reproduce_output, FEW_TABLES),
    "history": partial(history_output, LOGS["shipped"], rows_of, months_of_history),
    "reevaluate": partial(history_output, LOGS["shipped"], rows_of, rest_of_history),
}


def digest_of(stage: str) -> str:
    """Return the digest of a stage's output."""
    digest = hashlib.sha256()
    for part in OUTPUTS[stage]():
        digest.update(json.dumps(part, allow_nan=False, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()[:32]


def entry_of(stage: str) -> dict[str, Any]:
    """Return what golden.json holds of a stage."""
    return {"versions": versions_of(stage), "digest": digest_of(stage)}


def complaint(stage: str, recorded: dict[str, Any], present: dict[str, Any]) -> str | None:
    """Return what is wrong with a stage's output, and what to do; None if nothing is."""
    if recorded == present:
        return None
    if recorded.get("versions") != present["versions"]:
        return f"{GOLDEN.name} is of other versions than the code's; run python -m tests.golden"
    where = VERSIONS[stage][0]
    return (
        f"the output of stage {stage!r} is no longer what it was, though its version is. If that is meant, raise the "
        f"{where}, then run python -m tests.golden; if not, the stage, or one before it, was changed by mistake"
    )


def main(arguments: list[str] | None = None) -> int:
    """Write golden.json; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--force", action="store_true", help="also where no version was raised (nothing published yet)")
    options = parser.parse_args(arguments)
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    present = {stage: entry_of(stage) for stage in OUTPUTS}
    refused = False
    for stage, entry in present.items():
        problem = complaint(stage, recorded[stage], entry) if stage in recorded else None
        if problem and recorded[stage]["versions"] == entry["versions"] and not options.force:
            sys.stderr.write(f"{problem}\n")
            refused = True
    if not refused:
        GOLDEN.write_text(json.dumps(present, indent=2) + "\n", encoding="utf-8")
    return int(refused)


if __name__ == "__main__":
    sys.exit(main())
