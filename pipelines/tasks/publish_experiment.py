# SPDX-License-Identifier: BSD-3-Clause
"""PublishExperiment: one table of all cells that the file of an experiment names, and which differences are noise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import luigi
import numpy as np
import pandas as pd
import pyarrow as pa

from pipelines.experiments.axes import OF_MACHINES, OPTIONS, REPETITIONS, SETTING, with_options
from pipelines.experiments.differences import (
    ASSUMPTIONS,
    compare_with_baseline,
    least_pairs,
    rank_policies,
    sentences,
)
from pipelines.experiments.file import Experiment, read_experiment
from pipelines.experiments.means import each_setting, usual_values
from pipelines.keys import canonical_json, content_key, schema_of
from pipelines.logs.find import find_log
from pipelines.logs.machine import POOL
from pipelines.store.data_root import DataRoot
from pipelines.tasks.cells import CellsTask
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import as_markdown
from pipelines.tasks.facts import card_of, facts_of, software
from pipelines.tasks.log_task import LogParameter
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.one_look import once_a_look, one_look
from pipelines.tasks.publishing import Contents, writer_of
from pipelines.tasks.simulate import label_of, settings_of
from pipelines.tasks.simulation_parameters import PoliciesParameter
from swftools.errors import OtherSourceError, ParameterError, UnreadableLogError
from swftools.fields.dictionary import TABLES
from swftools.parameters.run_option_table import ON_NODES, RUN_OPTIONS
from swftools.simulator.measure_definitions import HIGHER, LOWER, MEASURES
from swftools.simulator.measures_table import USUAL
from swftools.simulator.registry import find_policy
from swftools.tables import to_arrow, to_pandas

if TYPE_CHECKING:
    from swftools.machines.people import People

_NUMBERS = {"shake", "shake_seconds", "processors", *(e.name for e in RUN_OPTIONS.values() if e.type is not str)}
"""Parameters of tasks that are no texts."""

MOST_SETTINGS = 6
"""With more settings than these the means are not printed: they stand in experiment.md."""


class ExperimentParameter(luigi.Parameter):
    """An experiment: path of a YAML file; or what it holds as JSON, or as a mapping."""

    def normalize(self, value: Any) -> str:
        """Return what the file holds now, as JSON: so a file that is edited later does not change a run.

        Raises
        ------
        ParameterError
            The file is not there, or not as it must be.
        """
        return read_experiment(value).text


class PublishExperiment(CellsTask):
    """Simulate all cells of an experiment's file, and publish one table of their metrics.

    Reads the metrics of each cell; they are tasks of their own, the same as of ComparePolicies: what is finished is not
    computed again. ``--processes N`` runs N at a time, ``--cluster`` as many as the cluster has workers. Writes ``<data
    root>/<name>/<version>/`` with the tables experiment, experiment_differences and experiment_ranks, the first two as
    CSV, a page in Markdown, a README.md, a datapackage.json and a manifest; complete when that version is published.
    """

    code_version = 4
    what = "An experiment with scheduling policies by simulation"
    main_table = "experiment_differences"
    tables_used = ("metrics", "experiment", "experiment_differences", "experiment_ranks")
    experiment = ExperimentParameter(description="path of a YAML file that names logs, policies and options")
    only = luigi.Parameter(default="", description="a subset that the file names; default: all cells")
    processes = luigi.IntParameter(
        default=1,
        significant=False,
        description="cells at a time, in processes that stay; 0: each cell is a task that luigi starts",
    )

    def check_values(self) -> None:
        """Raise ParameterError if a cell cannot be, or two cells are the same."""
        super().check_values()
        with one_look():
            self._check_cells()

    def _check_cells(self) -> None:
        """Raise ParameterError if a cell cannot be, or two cells are the same."""
        for log in self.planned.axes["logs"]:
            LogParameter().normalize(log)
        self._check_pools()
        keys = [cell.task_id for cell in self.cells]
        if len(set(keys)) < len(keys):
            raise ParameterError(
                f"experiment {self.planned.name}: a policy or option stands there twice, written in two ways"
            )
        machines = {(cell.in_settings["machine"], cell.machine) for cell in self.cells if cell.machine}
        if shared := [name for name, count in Counter(name for name, _ in machines).items() if count > 1]:
            raise ParameterError(
                f"experiment {self.planned.name}: two machines are called {shared[0]!r}; give each a name of its "
                "own in its description"
            )
        logs = self.planned.axes["logs"]
        names = [find_log(log).name for log in logs]
        if len(set(names)) < len(names):
            raise ParameterError(f"experiment {self.planned.name}: two logs have one name: {', '.join(names)}")

    @cached_property
    def planned(self) -> Experiment:
        """The experiment."""
        return read_experiment(self.experiment)

    @property
    def repetitions(self) -> tuple[int, int]:
        """How many repetitions a setting has, and how many it takes at least to tell a policy from the baseline.

        The latter is 0 where there is one policy.
        """
        given = [cell.param_kwargs for cell in self.cells]
        told = [tuple(cell[name] for name in cell if name not in REPETITIONS) for cell in given]
        settings = {tuple(cell[name] for name in cell if name not in (*REPETITIONS, "policy")) for cell in given}
        comparisons = len({*told}) - len(settings)
        return max(Counter(told).values()), least_pairs(comparisons) if comparisons else 0

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"experiment {self.planned.name}"

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given; of a subset another."""
        return f"{self.planned.name}-{self.only}" if self.only else self.planned.name

    @property
    def cells(self) -> list[MeasureSchedule]:
        """The measurements, in the order of the axes."""
        if self._cells is None:
            planned = self.planned
            shared = {name: _as_text(name, value) for name, value in planned.common.items()}
            self._cells = [
                self.clone(MeasureSchedule, **shared, **{name: _as_text(name, value) for name, value in cell.items()})
                for cell in planned.cells(self.only)
            ]
        return self._cells

    _cells: list[MeasureSchedule] | None = None

    @property
    def baseline(self) -> str:
        """The label of the policy that others are compared with."""
        planned = self.planned
        chosen = planned.baseline if planned.baseline is not None else planned.axes["policies"][0]
        entry = json.loads(PoliciesParameter().normalize(_as_text("policy", chosen)))[0]
        return label_of(entry)

    @property
    def log_list(self) -> list[str]:
        """The logs of the cells, as they were given."""
        return list(dict.fromkeys(cell.log for cell in self.cells))

    @property
    @once_a_look
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            **{f"cell {number}": cell.key for number, cell in enumerate(self.cells)},
            "schema_version": schema_of(self.tables_used),
            "baseline": self.baseline,
            "cards": {find_log(log).name: card_of(find_log(log)) for log in self.log_list},
            **self._told_of_machines(),
        }
        return content_key("publish-experiment", self.code_version, inputs)

    def _check_pools(self) -> None:
        """Raise ParameterError if a pool of processors is to have what only machines of nodes have."""
        forms = dict(MeasureSchedule.get_params())  # a default may be written in several ways
        for cell in self.planned.cells(self.only):
            for name in ON_NODES if cell.get("machine", POOL) == POOL else ():
                axis, usual = RUN_OPTIONS[name].axis, RUN_OPTIONS[name].usual
                value = cell.get(name, usual)
                if forms[name].normalize(value) != forms[name].normalize(usual):
                    raise ParameterError(
                        f"experiment {self.planned.name}: a pool of processors has no {axis} {value!r}; give machines, "
                        f"or write under exclude: {{machines: pool, {axis}: [{value}]}}"
                    )

    def _told_of_machines(self) -> dict[str, list[dict[str, str]]]:
        """Return what the table calls machines and changes, which no cell's key has; nothing of pools as they are."""
        told = [cell.in_settings for cell in self.cells]
        return {"machines": told} if any(any(each.values()) for each in told) else {}

    def requires(self) -> list[luigi.Task]:
        """Require the stages.

        Raises
        ------
        OtherSourceError
            The data set of that name is not an experiment.
        """
        root, name = DataRoot.open(self.data_root), self.data_set_name
        made_by = root.manifest(name)["made_by"] if root.is_settled(name) else self.get_task_family()
        if made_by != self.get_task_family():
            raise OtherSourceError(
                f"data set {name!r} was made by {made_by}, and is no experiment; give the experiment another name"
            )
        return super().requires()

    def stages(self) -> list[luigi.Task]:
        """Return what the cells are made of, the traces among it; or the cells, where luigi runs them."""
        return self.cell_stages

    def contents(self) -> Contents:
        """Return the metrics of all cells one below the other, what they tell, and files of the same.

        Raises
        ------
        UnreadableLogError
            A log is not what it was when the cells were run.
        """
        with one_look():
            if not all(cell.is_done() for cell in self.cells):
                raise UnreadableLogError("a log was changed since this run began; nothing was published. Run again")
            metrics = _metrics_of(self.cells)
        usual = usual_values(metrics)
        differences = compare_with_baseline(usual, SETTING, self.baseline, self._tell)
        frames = {
            "experiment": metrics[[field.name for field in TABLES["experiment"]]],
            "experiment_differences": differences,
            "experiment_ranks": rank_policies(usual, SETTING, _worse()),
        }
        said = {name for cell in self.cells for name in cell.counted_options}
        said |= {name for cell in self.cells for name, value in cell.in_settings.items() if value}
        unsaid = [name for name in (*OF_MACHINES, *self.cells[0].options) if name not in said]
        tables = {name: to_arrow(frame.drop(columns=unsaid), name) for name, frame in frames.items()}
        csv = {
            f"{name}.csv": writer_of(to_pandas(table, name).to_csv(index=False, lineterminator="\n"))
            for name, table in tables.items()
        }
        files: dict[str, Callable[[Path], None]] = {**csv, "experiment.md": writer_of(_page(frames))}
        return Contents(tables, self._facts(), files)

    def _tell(self, done: int, total: int) -> None:
        """Say how far the statistics are."""
        self.tell(done, total, f"{done:,} of {total:,} intervals and p-values")

    def shown(self, contents: Contents) -> str:
        """Return the means where they are few, and which differences are more than noise."""
        told = _told(_read(contents.tables["experiment_differences"], "experiment_differences"))
        means = _means(_read(contents.tables["experiment"], "experiment"), MOST_SETTINGS)
        lines = "".join(f"* {line}\n" for line in [*told, f"What this takes for granted: {ASSUMPTIONS}"])
        return f"{means}{lines}"

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return the means where they are few, which differences are more than noise, and where all of it stands."""
        target = self._made or self.output()
        metrics = target.root.read_table(target.data_set, "experiment", target.version)
        means = _means(_read(metrics, "experiment"), MOST_SETTINGS, is_printed=True)
        told = _told(_read(read(), "experiment_differences"))
        return means + "".join(f"{line}\n" for line in [*told, f"all values: {target.path}/experiment.md"])

    def _cleaned(self, log: str) -> CleanTrace:
        """Return the task of a log's cleaned trace."""
        cleaned: CleanTrace = next(cell for cell in self.cells if cell.log == log).clone(CleanTrace)
        return cleaned

    def _facts(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        sources = [self._source(log) for log in self.log_list]
        first = self.cells[0]
        cleaned = self._cleaned(self.log_list[0])
        stages: list[Any] = [cleaned.source, cleaned, *first.simulation.augmentations, first.simulation, first, self]
        names = sorted({cell.simulation.entry["policy"] for cell in self.cells})
        told = {
            name: "\n".join(f"{source['log']['name']}: {source[name]}" for source in sources if source.get(name))
            for name in ("licence", "acknowledgement")
        }
        return {
            "title": f"Experiment {self.planned.name}: {len(self.cells)} simulations",
            **told,
            "sources": sources,
            "parameters": {"experiment": self._told_file(), "only": self.only, "statistics": ASSUMPTIONS},
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "policy_versions": {name: find_policy(name).version for name in names},
            "software": software(),
        }

    def _told_file(self) -> Any:
        """Return what the file of the experiment says, without names of users and accounts that no log tells."""
        each = {(cell.log, cell.machine, cell.changes): cell for cell in self.cells if cell.nodes.in_key}
        people = [people for cell in each.values() if (people := cell.people) is not None]
        return _with_names(json.loads(self.experiment), people)

    def _source(self, log: str) -> dict[str, Any]:
        """Return what a user must know of a log."""
        found, cleaned = find_log(log), self._cleaned(log)
        facts = facts_of(found, cleaned.load(), cleaned.load_report(), {}, is_simulated=True)
        runs = dict.fromkeys(line for cell in self.cells if cell.log == log for line in cell.load_assumptions())
        return {**facts, "assumptions": [*facts["assumptions"], *runs], "rules": cleaned.plan}


def _with_names(told: Any, people: Sequence[People], *, is_of_machine: bool = False) -> Any:
    """Return what a file says, with other names of users and accounts in its machines and changes."""
    if isinstance(told, dict):
        names = ("machines", "changes")
        return {key: _with_names(e, people, is_of_machine=is_of_machine or key in names) for key, e in told.items()}
    if isinstance(told, list):
        return [_with_names(each, people, is_of_machine=is_of_machine) for each in told]
    if isinstance(told, str) and is_of_machine:
        for each in people:
            told = each.text(told)
    return told


def _read(table: pa.Table, name: str) -> pd.DataFrame:
    """Return a table of an experiment with all options."""
    return with_options(to_pandas(table, name))


def _as_text(name: str, value: Any) -> Any:
    """Return a value of a file as the parameter of a task takes it."""
    if name == "policy":
        return value if isinstance(value, str) else canonical_json([value])
    if name == "load":
        return float(value)
    if isinstance(value, dict | list):
        return ",".join(map(str, value)) if name in ("unmeasured_queues", "augment") else canonical_json(value)
    return value if name in _NUMBERS else str(value)


def _metrics_of(cells: list[MeasureSchedule]) -> pd.DataFrame:
    """Return the metrics of finished cells, one below the other, with what tells each from others."""
    tables = [cell.load_table() for cell in cells]
    names = (*OPTIONS, *REPETITIONS)
    told = pd.DataFrame([(cell.found.name, *_told_of(cell, names)) for cell in cells])
    settings = told.set_axis(["log", *names], axis=1).loc[np.repeat(told.index, list(map(len, tables)))]
    metrics = to_pandas(pa.concat_tables(tables), "metrics")
    return pd.concat([metrics, settings.reset_index(drop=True)], axis=1)


def _told_of(cell: MeasureSchedule, names: Sequence[str]) -> list[Any]:
    """Return what tables have of a cell: its parameters, and of its machine the name."""
    named = settings_of(cell.told_nodes)
    return [named[name] if name in named else getattr(cell, name) for name in names]


def _worse() -> dict[str, int]:
    """Return which way each usual measure gets worse, by the name of its column, where one way is."""
    signs = {HIGHER: 1, LOWER: -1}
    return {
        measure if statistic == "value" else f"{measure}_{statistic}": signs[MEASURES[measure].worse]
        for measure, statistic in USUAL
        if measure in MEASURES and MEASURES[measure].worse in signs
    }


def _told(differences: pd.DataFrame) -> list[str]:
    """Return which differences are more than noise; measures of which the same is to be said share a line."""
    named: dict[str, list[str]] = {}
    for line in sentences(differences, SETTING):
        measure, _, words = line.partition(": ")
        named.setdefault(words, []).append(measure)
    return [f"{', '.join(measures)}: {words}" for words, measures in named.items()]


def _means(metrics: pd.DataFrame, most: int | None = None, *, is_printed: bool = False) -> str:
    """Return the mean of each measure and policy as Markdown, a table a setting; nothing of more settings than most."""
    settings = list(each_setting(metrics))
    if most is not None and len(settings) > most:
        return ""
    return "".join(f"{setting}:\n\n{as_markdown(rows, is_printed=is_printed)}\n" for setting, rows in settings)


def _page(frames: dict[str, pd.DataFrame]) -> str:
    """Return what the experiment tells as a page: means, sentences, differences, ranks, assumptions."""
    differences, ranks = frames["experiment_differences"], frames["experiment_ranks"]
    parts = ["# Means, and standard deviations over repetitions", "", _means(frames["experiment"])]
    parts += ["# Which differences are more than noise", *(f"* {line}" for line in _told(differences)), ""]
    for title, frame in (("Differences from the baseline", differences), ("Ranks over logs", ranks)):
        # An option that is the same for all says nothing here.
        kept = [name for name in frame if name not in OPTIONS or frame[name].nunique(dropna=False) > 1]
        parts += [f"# {title}", "", *_table(frame[kept]), ""]
    return "\n".join([*parts, "# What the statistics take for granted", "", ASSUMPTIONS, ""])


def _table(frame: pd.DataFrame) -> list[str]:
    """Return the lines of a Markdown table."""
    rows = [[_word(value) for value in row] for row in frame.to_numpy(object)]
    return [f"| {' | '.join(cells)} |" for cells in ([*map(str, frame)], ["---"] * frame.shape[1], *rows)]


def _word(value: Any) -> str:
    """Return a value as it stands in a table."""
    if pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
