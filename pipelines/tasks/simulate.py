# SPDX-License-Identifier: BSD-3-Clause
"""SimulatePolicy: the schedule of a trace under a policy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import luigi
import pandas as pd

from pipelines.keys import canonical_json, content_key
from pipelines.logs.machine import STRETCHED, ChosenMachine, chosen_machine
from pipelines.store.schedules import run_of
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.augmented import augmentations_of, augmented, hand_on, taken_on
from pipelines.tasks.clean import CleanTrace, RulesTask
from pipelines.tasks.notes import read_notes, write_notes
from pipelines.tasks.one_look import asked_once, once_a_look
from pipelines.tasks.own_code import own_measures, source_hash, version_of_predictor
from pipelines.tasks.parameters import AugmentParameter, ChangesParameter, MachineParameter, ParametersParameter
from pipelines.tasks.simulation_parameters import (
    PoliciesParameter,
    WindowParameter,
    takes_run_options,
)
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.kernel.memory import give_back_memory
from swftools.models.shaking import shake_submissions
from swftools.parameters.run_option_table import ON_NODES, RUN_OPTIONS, RunOptions
from swftools.selection import scale_to_load, select_jobs, stretch_of
from swftools.simulator.entry_points import simulate
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.setup import check_semantics_on_nodes, kind_for, nodes_of
from swftools.simulator.registry import find_policy
from swftools.simulator.run_options import check_options, restated
from swftools.simulator.schedule import Schedule
from swftools.simulator.search.search_parameters import Searching
from swftools.tables import LONG, QUICK_OPTIONS, read_frame, write_frame
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription
    from swftools.machines.people import People

SETTINGS = {name: option for name, option in RUN_OPTIONS.items() if not option.is_repetition}
"""The options of ``simulate`` that tasks have under the same names, beside the machine and what makes repetitions."""

REPETITIONS = tuple(name for name in RUN_OPTIONS if name not in SETTINGS)


def label_of(entry: Mapping[str, Any]) -> str:
    """Return what a policy is called in tables: its name, and the parameters that were given."""
    words = [f"{name}={value}" for name, value in sorted(entry.items()) if name != "policy"]
    return f"{entry['policy']}({', '.join(words)})" if words else str(entry["policy"])


def settings_of(nodes: ChosenMachine) -> dict[str, str]:
    """Return what tables of experiments call a machine, and what is changed of it."""
    described = nodes.description
    return {"machine": (described.name or "nodes") if described else "", "changes": "; ".join(nodes.changes)}


@takes_run_options(repetitions=False)
class SimulationTask(RulesTask):
    """What simulations have in common: the trace as it is simulated, and the options of ``simulate``."""

    augment = AugmentParameter(default="utility", description="augmentations that the simulated jobs carry")
    parameters = ParametersParameter(default="{}", description="parameters by augmentation: JSON, or a file's path")
    load = luigi.FloatParameter(default=0.0, description="offered load, by scaling arrivals; 0: the log's own")
    window = WindowParameter(default="", description="jobs to simulate: month=2000-07,warm_up=604800; default: all")
    machine = MachineParameter(
        default="", description="nodes: the file that describes them, or card: the log's; default: a pool of processors"
    )
    changes = ChangesParameter(default="[]", description="changes of it, such as nodes.gpu.count+=8, or a JSON list")
    shake = luigi.IntParameter(default=0, description="seed by which submissions are shaken; 0: they are not")
    shake_seconds = luigi.IntParameter(default=300, description="longest time by which shaking moves a job")

    @property
    def chosen_jobs(self) -> dict[str, Any]:
        """Which jobs are simulated, and how they are shaken; empty where neither is asked for."""
        return {
            **({"window": json.loads(self.window)} if self.window else {}),
            **({"shake": self.shake, "shake_seconds": self.shake_seconds} if self.shake else {}),
        }

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``simulate``."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def nodes(self) -> ChosenMachine:
        """The machine of nodes, if there is one, and what is changed."""
        if not self.machine and self.changes == "[]":
            return ChosenMachine()
        return chosen_machine(self.found, self.machine, self.changes, self.processors)

    @property
    def told_nodes(self) -> ChosenMachine:
        """The same with users and accounts as the log calls them: what is simulated, kept and published of it."""
        return self.nodes.told_as(self.people)

    @property
    def people(self) -> People | None:
        """What users and accounts of the machine are called, by the trace; None if it names nobody."""
        if not self.nodes.in_key:
            return None
        known = self.clone(CleanTrace).load_names(["user"]).get("user", {})
        return self.nodes.people(self.found.how.privacy, known.values())

    @property
    def in_settings(self) -> dict[str, str]:
        """What tables of experiments call the machine, and what is changed of it; both empty for a pool as it is."""
        return settings_of(self.nodes)

    @property
    def counted_options(self) -> dict[str, Any]:
        """Those of them that content keys and published facts have: all but what came later, where it says nothing."""
        return {name: value for name, value in self.options.items() if SETTINGS[name].enters_key(value, self.found)}

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, of the augmentations too."""
        super().check_values()
        augmentations_of(self, self.augment)
        _ = self.nodes
        asked_once(_check_options, *self.options.items())
        if not 0 <= self.load < 1e9:
            raise ParameterError(f"load={self.load} is not a number of 0 or more")
        for name in ("shake", "shake_seconds"):
            if getattr(self, name) < 0:
                raise ParameterError(f"{name}={getattr(self, name)} is not a whole number >= 0")


@takes_run_options(repetitions=True)
class SimulatePolicy(SimulationTask):
    """Simulate a trace under a policy.

    Reads the cleaned trace and the columns of its augmentations; writes ``<work root>/simulated/<key>/`` with the
    tables schedule, segments and excluded, and what the policy noted; complete when that exists.
    """

    code_version = 4
    """Of engine and tables; each policy has a version of its own beside it."""
    is_of_one_cell = True
    policy = PoliciesParameter(default="easy", description="a policy, such as easy or easy:reservations=2")
    seed: int  # an option of the run
    queues_there = luigi.Parameter(
        default="[]", significant=False, description="queues that jobs must be of, lest it be found after the work"
    )

    def effort(self) -> float:
        """Return it by the policy."""
        return asked_once(_effort_of, self.policy)

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or the policy cannot have what it needs."""
        super().check_values()
        asked_once(_check_policy, self.policy, self.augment)
        if self.nodes.of_policy:
            find_policy(self.entry["policy"]).chosen(self._chosen)
        if self.machine:
            asked_once(_check_on_nodes, self.policy, self.options["placement"], self.options["semantics"])
        else:
            asked_once(_check_on_pool, *(self.options[name] for name in ON_NODES))

    @property
    def entry(self) -> dict[str, Any]:
        """The policy with its parameters."""
        return asked_once(_entry_of, self.policy)

    @property
    def repetition(self) -> dict[str, Any]:
        """The options of ``simulate`` that make repetitions."""
        return {name: getattr(self, name) for name in REPETITIONS}

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"{self.log} {label_of(self.entry)} seed {self.seed}"

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        inputs: dict[str, Any] = {
            **asked_once(_key_of_policy, self.policy, self.options["semantics"]),
            "trace": self.clone(CleanTrace).key,
            "augmentations": {task.name: task.key for task in self.augmentations},
            "predictor_version": asked_once(version_of_predictor, self.options["predictor"]),
            **self.repetition,
            "processors": self.processors,
            "load": self.load,
            **self.counted_options,
            **self.chosen_jobs,
            **self.nodes.told,
            **self.nodes.in_key,
            **({"outages": STRETCHED} if self.load and self.nodes.has_outages else {}),
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
        """Simulate."""
        trace, described = self._simulated()
        # Neither changes nor a name are told: what is stored is found again by the machine that it is.
        schedule = simulate(
            trace,
            self.entry["policy"],
            progress=lambda done, jobs, _: self.tell(done, jobs),
            **self.repetition,
            **self.options,
            **self._chosen,
            machine=described,
        )
        if "ready_time" in schedule.jobs and not self.found.has_dependencies:
            raise ParameterError(
                f"{self.log}: jobs of it wait for others, and its card does not say so; write `dependencies: true` in "
                "the card, or give --dependencies ignore"
            )
        frames = {"schedule": schedule.jobs, "segments": schedule.segments, "excluded": schedule.excluded}
        names = ("processors", "policy", "options", "holds", "is_partial", "assumptions")
        rest = {name: getattr(schedule, name) for name in names}
        uncounted = self.options.keys() - self.counted_options.keys() - {*ON_NODES}  # a run on a pool has none of these
        rest["options"] = {name: value for name, value in rest["options"].items() if name not in uncounted}
        if described is not None:
            rest["machine"] = described.to_mapping()
        with self.output().fill() as directory:
            for table, frame in frames.items():
                write_frame(frame, directory / f"{table}.parquet", table, QUICK_OPTIONS)
            write_notes(schedule, directory, QUICK_OPTIONS)
            (directory / "schedule.json").write_text(canonical_json(rest), encoding="utf-8")
        hand_on(schedule, self.output().path)

    def simulated_trace(self) -> Trace:
        """Return the trace as it is simulated: its window, load and shaking.

        Raises
        ------
        ParameterError
            No job is of a queue that is asked for, or a column that the policy needs tells it nothing.
        """
        return self._simulated()[0]

    def _simulated(self) -> tuple[Trace, MachineDescription | None]:
        """Return the trace likewise, and the machine, if it is one of nodes: its outages are stretched as the load."""
        trace = augmented(self.clone(CleanTrace), self.augmentations)
        if len(trace) > LONG:
            give_back_memory()
        check_queues(trace.jobs, json.loads(self.queues_there), self.log)
        self._check_tells(trace)
        if self.window:
            trace = select_jobs(trace, **json.loads(self.window))
        described, stretch = self.told_nodes.simulated, None
        if self.load:
            logged, size = trace, described.table().processors if described else None
            trace = scale_to_load(logged, self.load, size)
            stretch = stretch_of(logged, trace)
        if described is not None:
            described = described.in_log_time(trace.header, stretch)
        if self.shake:
            trace = shake_submissions(trace, self.shake, self.shake_seconds)
        return trace, described

    def load_schedule(self, without: Collection[str] = ()) -> Schedule:
        """Return the schedule of the finished task, without some columns of its jobs where they are not needed."""
        directory = self.output().path
        if (schedule := taken_on(directory)) is not None:
            return schedule
        jobs, segments, excluded = (
            read_frame(directory / f"{table}.parquet", table, left_out)
            for table, left_out in {"schedule": without, "segments": (), "excluded": ()}.items()
        )
        rest = json.loads((directory / "schedule.json").read_text(encoding="utf-8"))
        return Schedule(jobs, segments, excluded, **run_of(rest), notes=read_notes(rest["policy"], directory))

    @property
    def _chosen(self) -> dict[str, Any]:
        """The parameters of the policy."""
        return _parameters_in(self.entry) | self.nodes.of_policy

    def _check_tells(self, trace: Trace) -> None:
        """Raise ParameterError if a column that the policy needs is the same for all jobs, and so tells it nothing."""
        for column in find_policy(self.entry["policy"]).needed(self._chosen):
            if column not in trace.jobs or isinstance(trace.jobs[column].dtype, pd.ArrowDtype):
                continue  # functions of utility differ where jobs do
            if column in {each.name for each in AUGMENTATION_COLUMNS["speedup"]}:
                continue  # all curves of one kind is as it should be, and of rigid jobs a schedule is defined
            if len(trace) > 1 and trace.jobs[column].nunique(dropna=False) == 1:
                raise ParameterError(
                    f"policy {self.entry['policy']!r} needs {column}, which is the same for all jobs of {self.log}: "
                    "its schedule would be that of another policy. Give the ranks of queues by --parameters "
                    '\'{"utility": {"queue_ranks": {"1": 0, "2": 1}}}\', or leave the policy out'
                )


@takes_run_options(repetitions=True)
class ScheduleTask(SimulationTask):
    """What tasks have in common that read the schedule of one policy."""

    policy = PoliciesParameter(default="easy", description="a policy, such as easy or easy:reservations=2")
    seed: int  # an option of the run

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, also one of the simulation."""
        super().check_values()
        _ = self.simulation

    @property
    def simulation(self) -> SimulatePolicy:
        """The task whose schedule is read."""
        task: SimulatePolicy = self.clone(SimulatePolicy)
        return task

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return self.simulation.subject


def _entry_of(policy: str) -> dict[str, Any]:
    """Return the one policy that a text names, with its parameters."""
    entries: list[dict[str, Any]] = json.loads(policy)
    if len(entries) > 1:
        raise ParameterError(f"policy: {len(entries)} policies; ComparePolicies takes several")
    return entries[0]


def _parameters_in(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a policy."""
    return {name: value for name, value in entry.items() if name != "policy"}


def _key_of_policy(policy: str, semantics: str) -> dict[str, Any]:
    """Return what a key says of the policy by which a schedule is simulated."""
    entry = _entry_of(policy)
    rule, _ = restated(semantics, find_policy(entry["policy"]), {})  # by which it is simulated
    measures = own_measures(entry)
    return {
        "policy": entry,
        "policy_version": rule.version,
        "own_policy": source_hash(entry["policy"]),
        **({"own_measures": measures} if measures else {}),
    }


def _effort_of(policy: str) -> float:
    """Return the seconds of 100,000 jobs, about; a search tries so much in each of two decisions a job."""
    entry = _entry_of(policy)
    parameters = find_policy(entry["policy"]).chosen(_parameters_in(entry))
    if isinstance(parameters, Searching):
        return 0.5 + 0.007 * parameters.effort
    return 1.2 if entry["policy"].startswith("conservative") else 0.5


def _check_policy(policy: str, augment: str) -> None:
    """Raise ParameterError if a policy can never give its schedule again, or cannot have the columns that it needs."""
    entry = _entry_of(policy)
    name, found = entry["policy"], find_policy(entry["policy"])
    parameters = found.chosen(_parameters_in(entry))
    if isinstance(parameters, Searching) and parameters.seconds > 0:
        raise ParameterError(
            f"{name}: seconds={parameters.seconds:g} gives another schedule each time, but it must be possible to make "
            f"a version again; give {parameters.limited_by}, or use seconds with swftools simulate"
        )
    makers = {column.name: maker for maker, columns in AUGMENTATION_COLUMNS.items() for column in columns}
    for column in found.needed(_parameters_in(entry)):
        if column in makers and makers[column] not in augment.split(","):
            raise ParameterError(
                f"policy {name!r} needs {column}, which the augmentation {makers[column]!r} makes; "
                "add it to --augment, or choose another policy"
            )


def _check_on_nodes(policy: str, placement: str, semantics: str) -> None:
    """Raise ParameterError if a policy, or another simulator's order of events, is known for pools only."""
    entry = _entry_of(policy)
    found = find_policy(entry["policy"])
    check_semantics_on_nodes(semantics)
    if not found.has_setting:  # one with a setting of its own, as slurm, needs a machine of nodes
        kind_for(found, found.chosen(_parameters_in(entry)), find_placement(placement))


def _check_on_pool(*options: str) -> None:
    """Raise ParameterError if an option of nodes is given without any."""
    given: dict[str, Any] = dict(zip(ON_NODES, options, strict=True))
    nodes_of(None, None, RunOptions(**given))


def _check_options(*options: tuple[str, Any]) -> None:
    """Raise ParameterError unless the options of a simulation are what they may be."""
    check_options(**dict(options))


def check_queues(jobs: pd.DataFrame, queues: Sequence[int], log: str) -> None:
    """Raise ParameterError if a queue is to be left out of metrics that no job is of: it would be a slip of the pen."""
    there = sorted({int(queue) for queue in jobs["queue_id"].dropna()})
    if unknown := sorted(set(queues) - set(there)):
        known = ", ".join(map(str, there)) or "none"
        raise ParameterError(f"unmeasured_queues: no job is of queue {unknown[0]}; the queues of {log} are {known}")
