"""BuildAugmentedTrace: publish the cleaned, augmented trace of a log as a version of a data set."""

from __future__ import annotations

import logging
import platform
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import luigi
import pyarrow as pa

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.keys import MISSING_INPUT, content_key
from pipelines.logs.find import Log
from pipelines.names import check_name
from pipelines.store.data_root import DataRoot
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.parameters import AUGMENTATIONS, AugmentParameter, ParametersParameter
from pipelines.tasks.targets import VersionTarget
from pipelines.tasks.traces import CleanTrace, RulesTask
from swftools._version import __version__
from swftools.errors import SchemaError
from swftools.fields.dictionary import SCHEMA_VERSION, arrow_schema
from swftools.formats.swf.writer import write_swf
from swftools.tables import read_table, to_pandas
from swftools.trace import Trace

progress = logging.getLogger("pipelines")

_SOFTWARE = ("numba", "numpy", "pandas", "pyarrow")


class BuildAugmentedTrace(RulesTask):
    """Publish a log as a cleaned, augmented, versioned data set.

    Reads the cleaned trace and the columns of each augmentation; writes
    ``<data root>/<data set>/<version>/`` with the tables jobs, quarantine, merged, repairs, cleaning_report and
    those of the augmentations, an extended SWF file and a manifest, and moves ``latest``; complete when that
    version is published.
    """

    code_version = 1
    augment = AugmentParameter(
        default="utility,checkpoints,arrivals,speedup",
        description=f"augmentations, separated by commas: {', '.join(AUGMENTATIONS)}",
    )
    seed = luigi.IntParameter(default=0, description="seed of every random draw")
    parameters = ParametersParameter(default="{}", description="parameters by augmentation: JSON, or a file's path")
    data_set = luigi.Parameter(default="", description="name to publish under; default: the log's name")

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain, of the augmentations too."""
        super().check_values()
        _ = self.augmentations

    @property
    def data_set_name(self) -> str:
        """Name of the data set."""
        return check_name(self.data_set or self.found.name, "data set")

    @property
    def augmentations(self) -> list[Augmentation]:
        """The tasks of the augmentations asked for."""
        return augmentations_of(self, self.augment)

    @property
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            "trace": self.clone(CleanTrace).key,
            "augmentations": {task.name: task.key for task in self.augmentations},
            "schema_version": SCHEMA_VERSION,
            "card": card_of(self.found),
        }
        return content_key("build", self.code_version, inputs)

    def requires(self) -> list[luigi.Task]:
        """Require the cleaned trace and every augmentation."""
        return [self.clone(CleanTrace), *self.augmentations]

    def output(self) -> VersionTarget:
        """Return the version to be published."""
        return VersionTarget(DataRoot.open(self.data_root), self.data_set_name, self.version)

    def complete(self) -> bool:
        """Whether the version is published; a log that is not there has none."""
        return self.version != MISSING_INPUT and bool(self.output().exists())

    def run(self) -> None:
        """Assemble the tables and publish them."""
        cleaned = self.clone(CleanTrace)
        directory = cleaned.output().path
        tables = {
            name: read_table(directory / f"{name}.parquet", name)
            for name in ("jobs", "quarantine", "cleaning_report", "repairs", "merged")
        }
        for task in self.augmentations:
            columns = read_table(task.table_path(task.name), task.name)
            tables["jobs"] = _with_columns(tables["jobs"], columns, task.name)
            tables |= {name: read_table(task.table_path(name), name) for name in task.other_tables}
        trace = cleaned.load().with_jobs(to_pandas(tables["jobs"], "jobs"))
        target = self.output()
        with tempfile.TemporaryDirectory() as folder:
            files: dict[str, Callable[[Path], None]] = {f"{self.data_set_name}.swf.gz": partial(write_swf, trace)}
            for task in self.augmentations:
                files |= dict(task.files(trace, self.data_set_name))
            paths = {name: Path(folder) / name for name in files}
            for name, write in files.items():
                write(paths[name])
            target.root.publish(target.data_set, target.version, tables, manifest=self._manifest(trace), files=paths)

    def _manifest(self, trace: Trace) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        cleaned = self.clone(CleanTrace)
        stages = [cleaned.requires(), cleaned, *self.augmentations, self]
        return {
            **card_of(self.found),
            "log": {"key": self.log_key, **trace.provenance},
            "header": trace.header.to_lines(),
            "machine_processors": trace.processors,
            "parameters": {
                "rules": cleaned.plan,
                "own_rules": cleaned.own_rules,
                **{task.name: task.own_parameters for task in self.augmentations},
            },
            "seed": self.seed,
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "software": software(),
        }


def augmentations_of(task: RulesTask, names: str) -> list[Augmentation]:
    """Return the tasks of augmentations, with the parameters of another task."""
    return [task.clone(AUGMENTATIONS[name]) for name in names.split(",") if name]


def augmented(cleaned: CleanTrace, augmentations: Iterable[Augmentation]) -> Trace:
    """Return a cleaned trace with the columns of augmentations."""
    trace = cleaned.load()
    jobs = read_table(cleaned.output().path / "jobs.parquet", "jobs")
    for task in augmentations:
        jobs = _with_columns(jobs, read_table(task.table_path(task.name), task.name), task.name)
    return trace.with_jobs(to_pandas(jobs, "jobs"))


def card_of(log: Log) -> dict[str, Any]:
    """Return what a log's card says to every user of the data."""
    if log.card is None:
        return {"licence": "none needed: generated" if log.model else "none stated: the log has no card"}
    return {
        "title": log.card.title,
        "licence": log.card.licence,
        "acknowledgement": log.card.acknowledgement,
        "citation": log.card.citation,
        "source_url": log.card.url,
        "anomalies": list(log.card.anomalies),
    }


def software() -> dict[str, str]:
    """Return the versions of what made the data."""
    ours = {"swftools": __version__, "python": platform.python_version()}
    return {**ours, **{name: installed_version(name) for name in _SOFTWARE}}


def _with_columns(jobs: pa.Table, columns: pa.Table, name: str) -> pa.Table:
    """Return the jobs with the columns of an augmentation, which must be of the very same jobs."""
    keys = ["job_number", "job_occurrence"]
    if not jobs.select(keys).equals(columns.select(keys)):
        raise SchemaError(f"augmentation {name!r} is not of these jobs; remove its directory and run again")
    joined = {column: jobs[column] for column in jobs.column_names} | {
        column: columns[column] for column in columns.column_names if column not in keys
    }
    schema = arrow_schema("jobs", joined)
    return pa.Table.from_arrays([joined[field.name] for field in schema], schema=schema)


@BuildAugmentedTrace.event_handler(luigi.Event.SUCCESS)
def _say_published(task: BuildAugmentedTrace) -> None:
    _say(task, "published")


@BuildAugmentedTrace.event_handler(luigi.Event.DEPENDENCY_PRESENT)
def _say_complete(task: BuildAugmentedTrace) -> None:
    _say(task, "already complete")


def _say(task: BuildAugmentedTrace, what: str) -> None:
    """Print where the data is and how to read it."""
    path = task.output().path
    print(  # noqa: T201 (this is the task's answer to its user)
        f"{what}: data set {task.data_set_name}, version {task.version}\n"
        f"  {path}\n"
        "read it with\n"
        "  import pandas as pd\n"
        f'  jobs = pd.read_parquet("{path}/jobs")'
    )
