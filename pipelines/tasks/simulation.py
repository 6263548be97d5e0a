"""SimulatePolicy and ComparePolicies: schedules of a trace under policies, and one table of their metrics."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import luigi
import pandas as pd

from pipelines.keys import MISSING_INPUT, canonical_json, content_key
from pipelines.names import check_name
from pipelines.store.data_root import DataRoot
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.build import augmentations_of, augmented, card_of, software
from pipelines.tasks.parameters import AugmentParameter, MetricsParameter, ParametersParameter, PoliciesParameter
from pipelines.tasks.targets import DirectoryTarget, VersionTarget
from pipelines.tasks.traces import CleanTrace, RulesTask
from swftools.errors import ParameterError
from swftools.fields.dictionary import SCHEMA_VERSION
from swftools.selection import scale_to_load
from swftools.simulator.metrics.measures import measure, summarize
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.registry import find_policy
from swftools.simulator.simulation import check_options, simulate
from swftools.tables import read_table, to_arrow, to_pandas, write_table

TABLES = ("schedule", "segments", "excluded", "metrics")


def label_of(entry: Mapping[str, Any]) -> str:
    """Return what a policy is called in tables: its name, and the parameters that were given."""
    words = [f"{name}={value}" for name, value in sorted(entry.items()) if name != "policy"]
    return f"{entry['policy']}({', '.join(words)})" if words else str(entry["policy"])


class SimulationTask(RulesTask):
    """What simulations have in common: the trace as it is simulated, and the options of ``simulate``."""

    augment = AugmentParameter(default="utility", description="augmentations that the simulated jobs carry")
    parameters = ParametersParameter(default="{}", description="parameters by augmentation: JSON, or a file's path")
    processors = luigi.IntParameter(default=0, description="processors of the machine; 0: the log's own")
    load = luigi.FloatParameter(default=0.0, description="offered load, by scaling arrivals; 0: the log's own")
    overrun = luigi.Parameter(default="extend", description="extend, kill or run-on: jobs longer than requested")
    cancelled = luigi.Parameter(default="drop", description="drop, end-at-once or full-request: jobs without run time")
    predictor = luigi.Parameter(default="request", description="what policies are told: exact, factor:factor=2, ...")
    semantics = luigi.Parameter(default="instant", description="instant, pyss or cqsim")
    metrics = MetricsParameter(default="", description="parameters of the metrics: bound=60,... or JSON")
    unmeasured_queues = luigi.Parameter(default="", description="queues simulated but left out of metrics: 0,5")

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``simulate``."""
        return {name: getattr(self, name) for name in ("overrun", "cancelled", "predictor", "semantics")}

    @property
    def queues_left_out(self) -> list[int]:
        """The queues that are not measured."""
        try:
            return [int(word) for word in self.unmeasured_queues.split(",") if word.strip()]
        except ValueError as error:
            raise ParameterError(f"unmeasured_queues={self.unmeasured_queues!r}: give numbers, such as 0,5") from error

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, of the augmentations too."""
        super().check_values()
        augmentations_of(self, self.augment)
        check_options(**self.options)
        _ = self.queues_left_out
        if self.processors < 0 or not 0 <= self.load < 1e9:
            raise ParameterError(f"processors={self.processors}, load={self.load}: neither may be negative")


class SimulatePolicy(SimulationTask):
    """Simulate a trace under a policy, and measure the schedule.

    Reads the cleaned trace and the columns of its augmentations; writes ``<work root>/simulated/<key>/`` with the
    tables schedule, segments, excluded and metrics; complete when that exists.
    """

    code_version = 1
    policy = PoliciesParameter(default="easy", description="a policy, such as easy or easy:reservations=2")
    seed = luigi.IntParameter(default=0, description="seed of every random draw")

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or there are several policies."""
        super().check_values()
        _ = self.entry

    @property
    def entry(self) -> dict[str, Any]:
        """The policy with its parameters."""
        entries: list[dict[str, Any]] = json.loads(self.policy)
        if len(entries) > 1:
            raise ParameterError(f"policy: {len(entries)} policies; ComparePolicies takes several")
        return entries[0]

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"{self.log} {label_of(self.entry)} seed {self.seed}"

    @property
    def key(self) -> str:
        """Content key of the output."""
        inputs = {
            "trace": self.clone(CleanTrace).key,
            "augmentations": {task.name: task.key for task in self.augmentations},
            "policy": self.entry,
            "own_policy": _source_hash(self.entry["policy"]),
            "seed": self.seed,
            "processors": self.processors,
            "load": self.load,
            "metrics": self.metrics,
            "queues_left_out": self.queues_left_out,
            **self.options,
        }
        return content_key("simulate", self.code_version, inputs)

    @property
    def augmentations(self) -> list[Augmentation]:
        """The tasks of the augmentations that the jobs carry."""
        return augmentations_of(self, self.augment)

    def requires(self) -> list[luigi.Task]:
        """Require the cleaned trace and its augmentations."""
        return [self.clone(CleanTrace), *self.augmentations]

    def output(self) -> DirectoryTarget:
        """Return the directory of the tables."""
        return self.directory("simulated", self.key)

    def run(self) -> None:
        """Simulate and measure."""
        trace = augmented(self.clone(CleanTrace), self.augmentations)
        if self.load:
            trace = scale_to_load(trace, self.load, self.processors or None)
        chosen = {name: value for name, value in self.entry.items() if name != "policy"}
        schedule = simulate(
            trace, self.entry["policy"], self.processors or None, seed=self.seed, **self.options, **chosen
        )
        left_out = schedule.jobs["queue_id"].isin(self.queues_left_out).to_numpy(dtype=bool, na_value=False)
        measured = measure(
            schedule,
            MetricParameters.from_mapping(json.loads(self.metrics)),
            where=~left_out,
            label=label_of(self.entry),
        )
        frames = {
            "schedule": schedule.jobs,
            "segments": schedule.segments,
            "excluded": schedule.excluded,
            "metrics": measured,
        }
        with self.output().fill() as directory:
            for table, frame in frames.items():
                write_table(to_arrow(frame, table), directory / f"{table}.parquet", table)

    def load_table(self, table: str) -> pd.DataFrame:
        """Return one of the tables of the finished task."""
        return to_pandas(read_table(self.output().path / f"{table}.parquet", table), table)


def _source_hash(name: str) -> str | None:
    """Return the hash of the source of a policy of the user's own, for which no ``code_version`` of ours speaks."""
    module = find_policy(name).decide.__module__
    if module.startswith("swftools."):
        return None
    return hashlib.sha256(inspect.getsource(importlib.import_module(module)).encode()).hexdigest()


class ComparePolicies(SimulationTask):
    """Simulate a trace under several policies and seeds, and publish one table of their metrics.

    Reads the metrics of each simulation, which are tasks of their own: what is finished is not computed again, and
    ``--workers N`` runs N at a time. Writes ``<data root>/<log>-policies/<version>/`` with the table comparison, the
    same as CSV, a wide table as Markdown, and a manifest; complete when that version is published.
    """

    code_version = 1
    policies = PoliciesParameter(
        default="fcfs,easy,conservative", description="policies: fcfs,easy:reservations=2,... or a JSON list"
    )
    seeds = luigi.Parameter(default="0", description="seeds, separated by commas")
    data_set = luigi.Parameter(default="", description="name to publish under; default: the log's, with -policies")

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or a seed."""
        super().check_values()
        _ = self.cells

    @property
    def data_set_name(self) -> str:
        """Name of the data set."""
        return check_name(self.data_set or f"{self.found.name}-policies", "data set")

    @property
    def seed_list(self) -> list[int]:
        """The seeds, each once."""
        try:
            return sorted({int(word) for word in self.seeds.split(",")})
        except ValueError as error:
            raise ParameterError(f"seeds={self.seeds!r}: give numbers separated by commas") from error

    @property
    def cells(self) -> list[SimulatePolicy]:
        """The simulations."""
        return [
            self.clone(SimulatePolicy, policy=canonical_json([entry]), seed=seed)
            for entry in json.loads(self.policies)
            for seed in self.seed_list
        ]

    @property
    def version(self) -> str:
        """Content key of the version."""
        inputs = {f"cell {number}": cell.key for number, cell in enumerate(self.cells)}
        return content_key("compare", self.code_version, {**inputs, "schema_version": SCHEMA_VERSION})

    def requires(self) -> list[SimulatePolicy]:
        """Require every simulation."""
        return self.cells

    def output(self) -> VersionTarget:
        """Return the version to be published."""
        return VersionTarget(DataRoot.open(self.data_root), self.data_set_name, self.version)

    def complete(self) -> bool:
        """Whether the version is published; a log that is not there has none."""
        return self.version != MISSING_INPUT and bool(self.output().exists())

    def run(self) -> None:
        """Put the metrics one below the other and publish them."""
        frames = [cell.load_table("metrics").assign(seed=cell.seed) for cell in self.cells]
        comparison = pd.concat(frames, ignore_index=True)
        table = to_arrow(comparison, "comparison")
        target = self.output()
        with tempfile.TemporaryDirectory() as folder:
            files = {name: Path(folder) / name for name in ("comparison.csv", "comparison.md")}
            to_pandas(table, "comparison").to_csv(files["comparison.csv"], index=False, lineterminator="\n")
            files["comparison.md"].write_bytes(as_markdown(comparison).encode())
            target.root.publish(
                target.data_set, target.version, {"comparison": table}, manifest=self._manifest(), files=files
            )

    def _manifest(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        first = self.cells[0]
        cleaned = self.clone(CleanTrace)
        trace = cleaned.load()
        stages = [cleaned.requires(), cleaned, *first.augmentations, first, self]
        return {
            **card_of(self.found),
            "log": {"key": self.log_key, **trace.provenance},
            "machine_processors": self.processors or trace.processors,
            "parameters": {
                "rules": cleaned.plan,
                "own_rules": cleaned.own_rules,
                **{task.name: task.own_parameters for task in first.augmentations},
                "policies": json.loads(self.policies),
                "own_policies": {cell.entry["policy"]: _source_hash(cell.entry["policy"]) for cell in self.cells},
                "options": {**self.options, "load": self.load, "processors": self.processors},
                "metrics": json.loads(self.metrics),
                "queues_left_out": self.queues_left_out,
            },
            "seeds": self.seed_list,
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "software": software(),
        }


def as_markdown(comparison: pd.DataFrame) -> str:
    """Return the usual measures of a comparison as a Markdown table: a row a policy, the mean over seeds.

    With several seeds the standard deviation over them stands behind each mean that it is not zero for.
    """
    by_seed = [summarize(rows).assign(seed=seed) for seed, rows in comparison.groupby("seed", sort=True)]
    wide = pd.concat(by_seed, ignore_index=True)
    columns = [str(name) for name in wide if name not in ("policy", "classed_by", "job_class", "seed")]
    lines: list[list[str]] = [["policy", *columns], ["---", *("---:" for _ in columns)]]
    for policy, rows in wide.groupby("policy", sort=False):
        lines.append([str(policy), *(_cell(rows[name]) for name in columns)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(values: pd.Series[Any]) -> str:
    """Return a mean over seeds in words, with its standard deviation if there is one."""
    known = values.dropna()
    if known.empty:
        return ""
    spread = f" ± {known.std():.2g}" if len(known) > 1 and known.std() > 0 else ""
    mean = known.mean()
    return (f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.4g}") + spread


@ComparePolicies.event_handler(luigi.Event.SUCCESS)
def _say_published(task: ComparePolicies) -> None:
    _say(task, "published")


@ComparePolicies.event_handler(luigi.Event.DEPENDENCY_PRESENT)
def _say_complete(task: ComparePolicies) -> None:
    _say(task, "already complete")


def _say(task: ComparePolicies, what: str) -> None:
    """Print the table, where the data is and how to read it."""
    path = task.output().path
    table = task.output().root.read_table(task.data_set_name, "comparison", task.version)
    print(  # noqa: T201 (this is the task's answer to its user)
        f"{as_markdown(to_pandas(table, 'comparison'))}\n"
        f"{what}: data set {task.data_set_name}, version {task.version}\n"
        f"  {path}\n"
        "read it with\n"
        "  import pandas as pd\n"
        f'  comparison = pd.read_parquet("{path}/comparison")'
    )
