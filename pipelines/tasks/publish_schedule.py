# SPDX-License-Identifier: BSD-3-Clause
"""PublishSchedule: publish the schedule of a trace under a policy, so that nobody need simulate it again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import luigi

from pipelines.keys import content_key, schema_of
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of, facts_of, names_table, software
from pipelines.tasks.own_code import own_measures, source_hash, version_of_predictor
from pipelines.tasks.publishing import Contents, LogPublishingTask
from pipelines.tasks.simulate import ScheduleTask, SimulatePolicy, label_of
from pipelines.tasks.stage_task import StageTask
from swftools.fields.dictionary import TABLES
from swftools.formats.trace_directory import load_without_jobs
from swftools.named import NUMBERED
from swftools.simulator.registry import find_policy
from swftools.tables import read_table


class PublishSchedule(ScheduleTask, LogPublishingTask):
    """Publish the schedule of a trace under a policy.

    Reads the schedule that SimulatePolicy made; writes ``<data root>/<log>-schedules/<version>/`` with the tables
    schedule, segments and excluded, names (of queues, users and others, where the log has them), what the policy noted,
    a README.md, a datapackage.json and a manifest; complete when that version is published.
    """

    code_version = 2
    what = "The schedule of a workload trace under a policy, by simulation"
    main_table = "schedule"

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return f"{self.found.name}-schedules"

    @property
    def tables_used(self) -> tuple[str, ...]:
        """The tables of a schedule, and those in which its policy notes something."""
        notes = (table for table in TABLES if table.startswith(f"{self.simulation.entry['policy']}_"))
        return ("schedule", "segments", "excluded", "names", *notes)

    @property
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            "schedule": self.simulation.key,
            "schema_version": schema_of(self.tables_used),
            "log": self.found.name,
            "card": card_of(self.found),
        }
        return content_key("publish-schedule", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return the simulation, and the trace, of which the manifest tells."""
        return [self.simulation, self.clone(CleanTrace)]

    def contents(self) -> Contents:
        """Return the tables of the schedule, and the notes of its policy."""
        folder = self.simulation.output().path
        tables = {name: read_table(folder / f"{name}.parquet", name) for name in ("schedule", "segments", "excluded")}
        tables |= names_table(self.clone(CleanTrace).load_names(NUMBERED))
        rest = json.loads((folder / "schedule.json").read_text(encoding="utf-8"))
        notes = sorted(folder.glob(f"{rest['policy']}_*.parquet"))
        files: dict[str, Callable[[Path], None]] = {path.name: partial(_copy, path) for path in notes}
        facts = simulation_facts(self.simulation, [self], [self.simulation.entry])
        told = {
            **facts,
            "title": f"{label_of(self.simulation.entry)}, seed {self.seed}: {facts.get('title') or self.found.name}",
            "assumptions": [*facts["assumptions"], *rest["assumptions"]],
            "seed": self.seed,
            "run": rest,
        }
        return Contents(tables, told, files)


def simulation_facts(
    simulation: SimulatePolicy, stages: Iterable[StageTask], entries: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what determines the schedules of a log under some policies, and what a user of them must know.

    Parameters
    ----------
    simulation : SimulatePolicy
        One of them.
    stages : iterable of StageTask
        What reads the schedule, up to the task that publishes.
    entries : iterable of mapping
        The policies with their parameters.
    """
    cleaned = simulation.clone(CleanTrace)
    trace = load_without_jobs(cleaned.output().path)
    augmentations = simulation.augmentations
    augmented_by = {task.name: task.own_parameters for task in augmentations}
    chosen = list(entries)
    names = [entry["policy"] for entry in chosen]
    measures = {name: own for entry in chosen for name, own in own_measures(dict(entry)).items()}
    every: list[Any] = [cleaned.source, cleaned, *augmentations, simulation, *stages]
    return {
        **facts_of(
            simulation.found,
            trace,
            cleaned.load_report(),
            augmented_by,
            is_simulated=True,
        ),
        "parameters": {
            "rules": cleaned.plan,
            "own_rules": cleaned.own_rules,
            **augmented_by,
            "policies": chosen,
            "own_policies": {name: source_hash(name) for name in names},
            **({"own_measures": measures} if measures else {}),
            "predictor": version_of_predictor(simulation.options["predictor"]),
            "options": {
                **simulation.counted_options,
                "load": simulation.load,
                "processors": simulation.processors,
                **simulation.chosen_jobs,
            },
            **simulation.told_nodes.told,
        },
        "code_versions": {stage.get_task_family(): stage.code_version for stage in every},
        "policy_versions": {name: find_policy(name).version for name in names},
        "software": software(),
    }


def _copy(source: Path, target: Path) -> None:
    """Copy a file to where it is published from."""
    shutil.copyfile(source, target)
