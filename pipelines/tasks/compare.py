# SPDX-License-Identifier: BSD-3-Clause
"""ComparePolicies: publish one table of the metrics of several policies and seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import luigi
import numpy as np
import pandas as pd
import pyarrow as pa

from pipelines.experiments.axes import cells_of
from pipelines.keys import canonical_json, content_key, schema_of
from pipelines.logs.machine import STRETCHED
from pipelines.tasks.cells import CellsTask, seeds_of
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of
from pipelines.tasks.measure import WAITED_FOR, MeasureSchedule, MeasuringTask, by_groups
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.publish_schedule import PublishSchedule, simulation_facts
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from pipelines.tasks.simulate import label_of
from pipelines.tasks.simulation_parameters import PoliciesParameter
from swftools.errors import ParameterError
from swftools.output.amounts import counted, duration, number
from swftools.output.shown_text import WIDTH
from swftools.simulator.measures_table import waits_of_groups
from swftools.simulator.metrics.beside_log import UNTOLD, BesideLog, beside_log
from swftools.simulator.metrics.measures import SYNTHETIC, measure, usual_by_seed
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.metrics.wait_reasons import reason_in_words
from swftools.tables import to_arrow, to_pandas
from swftools.waits.groups import groups_of

MOST_GROUPS = 12
"""Groups of a grouping that are printed, those of the most jobs; files have all."""

LONGEST = 36
"""Characters of a policy's label that stand above its column; a longer one stands below the table."""


class ComparePolicies(CellsTask, MeasuringTask, LogPublishingTask):
    """Simulate a trace under several policies and seeds, and publish one table of their metrics.

    Reads the metrics of each simulation; both are tasks of their own: what is finished is not computed again, and
    ``--workers N`` runs N at a time. Writes ``<data root>/<log>-policies/<version>/`` with the table comparison, the
    same as CSV, a wide table as Markdown, a README.md, a datapackage.json and a manifest; complete when that version is
    published. With ``schedules`` each schedule is published as well, and the manifest names its version.
    """

    code_version = 6
    main_table = "comparison"
    tables_used = ("metrics", "comparison")
    what = "A comparison of scheduling policies by simulation"
    policies = PoliciesParameter(
        default="fcfs,easy,conservative", description="policies: fcfs,easy:reservations=2,... or a JSON list"
    )
    seeds = luigi.Parameter(default="0", description="seeds, separated by commas")
    schedules = luigi.BoolParameter(default=False, description="also publish the schedules, and name their versions")
    synthetic = luigi.BoolParameter(default=False, description="also show measures of made-up utility functions")

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or a seed."""
        super().check_values()
        _ = self.cells

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return f"{self.found.name}-policies"

    @property
    def seed_list(self) -> list[int]:
        """The seeds, each once."""
        return seeds_of(self.seeds)

    @property
    def cells(self) -> list[MeasureSchedule]:
        """The measurements."""
        return [
            self.clone(MeasureSchedule, policy=canonical_json([cell["policy"]]), seed=cell["seed"], reasons=True)
            for cell in cells_of({"policies": json.loads(self.policies), "seeds": self.seed_list})
        ]

    @property
    @once_a_look
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            **{f"cell {place}": cell.key for place, cell in enumerate(self.cells)},
            "schema_version": schema_of(self.tables_used),
            "log": self.found.name,
            "card": card_of(self.found),
            **({"synthetic": True} if self.synthetic else {}),
            **({"schedules": [task.data_set_name for task in self.published_schedules]} if self.schedules else {}),
        }
        return content_key("compare", self.code_version, inputs)

    @property
    def published_schedules(self) -> list[PublishSchedule]:
        """The schedules of the cells as versions of their own, if they are wanted."""
        name = f"{self.data_set}-schedules" if self.data_set else ""
        return [
            self.clone(PublishSchedule, policy=cell.policy, seed=cell.seed, data_set=name, report=False)
            for cell in self.cells * self.schedules
        ]

    def stages(self) -> list[luigi.Task]:
        """Return every measurement and schedule, and the trace, of which the manifest tells."""
        return [*self.cell_stages, *self.published_schedules, self.clone(CleanTrace)]

    def contents(self) -> Contents:
        """Return the metrics one below the other, and two files of the same."""
        frames = [cell.load_metrics().assign(seed=cell.seed) for cell in self.cells]
        logged, self._differs = self._beside_log()
        comparison = pd.concat([*logged, *frames], ignore_index=True)
        table = to_arrow(comparison, "comparison")
        files = {
            "comparison.csv": writer_of(to_pandas(table, "comparison").to_csv(index=False, lineterminator="\n")),
            "comparison.md": writer_of(as_markdown(comparison, synthetic=self.synthetic)),
        }
        return Contents({"comparison": table}, self._facts(), files)

    _differs: Sequence[str] = ()

    def _beside_log(self) -> tuple[list[pd.DataFrame], list[str]]:
        """Return the metrics of what the log itself tells of the same jobs, and how far policies are from that.

        Nothing where it tells no starts, or another workload was simulated.
        """
        if self.load or self.shake:
            return [], []
        parameters = MetricParameters.from_mapping(json.loads(self.metrics))
        first = self.cells[0]
        trace = first.simulation.simulated_trace()
        rows: list[pd.DataFrame] = []
        told = []
        for cell in self.cells:
            if cell.seed != first.seed:
                continue
            beside = beside_log(cell.load_measured(), trace)
            if beside is not None and not rows:
                rows = [each.assign(seed=first.seed) for each in _measured(beside, cell, parameters)]
            if beside is not None and beside.sentence:
                told.append(f"beside the log, {label_of(cell.simulation.entry)}: {beside.sentence}")
        return rows, told

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return the wide table, with times in units that people use; above it the machine, if it is one of nodes."""
        table = self.nodes.description.table() if self.nodes.description else None
        on = f"on {counted(len(table), 'node')} ({counted(table.processors, 'core')})\n\n" if table else ""
        return f"{on}{as_markdown(to_pandas(read(), 'comparison'), synthetic=self.synthetic, is_printed=True)}\n"

    def shown(self, contents: Contents) -> str:
        """Return the wide table."""
        return as_markdown(to_pandas(contents.tables["comparison"], "comparison"), synthetic=self.synthetic)

    @property
    def _assumptions(self) -> list[str]:
        """What the runs assume, and what policies are told."""
        scaled = [f"submissions are scaled to an offered load of {self.load:g}"] if self.load else []
        if self.load and self.nodes.has_outages:
            scaled.append(STRETCHED)
        return [*self.cells[0].load_assumptions(), *scaled, *self._differs]

    def _facts(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        first = self.cells[0]
        facts = simulation_facts(first.simulation, [first, self], json.loads(self.policies))
        measured = {"metrics": json.loads(self.metrics), "queues_left_out": self.queues_left_out}
        schedules = [
            {
                "policy": label_of(task.simulation.entry),
                "seed": task.seed,
                "data_set": task.data_set_name,
                "version": task.version,
            }
            for task in self.published_schedules
        ]
        return {
            **facts,
            "assumptions": [*facts["assumptions"], *self._assumptions],
            "parameters": {**facts["parameters"], **measured},
            "seeds": self.seed_list,
            **({"schedules": schedules} if schedules else {}),
            **({"logged": logged} if (logged := self._logged()) else {}),
        }

    def _logged(self) -> dict[str, float]:
        """Return waits as the log has them, s; nothing where it has none, or another workload was simulated."""
        if self.load:
            return {}
        jobs = self.clone(CleanTrace).load().jobs
        waits = jobs["wait_time"].dropna().to_numpy(dtype="float64")
        if not len(waits):
            return {}
        told = {"wait_mean": waits.mean(), "wait_p98": np.percentile(waits, 98), "wait_max": waits.max()}
        return {"jobs": len(waits), **{name: round(float(value), 6) for name, value in told.items()}}


def _measured(beside: BesideLog, cell: MeasureSchedule, parameters: MetricParameters) -> list[pd.DataFrame]:
    """Return the metrics of what a log tells, of the jobs that a cell measures, and those of groups."""
    logged, counts = beside.logged, beside.is_shared & cell.counts(beside.logged.jobs)
    try:
        measured: pd.DataFrame = measure(logged, parameters, where=counts)
    except ParameterError:  # they are measured by a column that only simulated jobs have
        return []
    told = [name for name in cell.groupings if groups_of(logged, name) is not None]
    return [
        measured[~measured["measure"].isin(UNTOLD)],
        *by_groups(logged, told, parameters, counts, logged.policy),
    ]


def as_markdown(comparison: pd.DataFrame, *, synthetic: bool = False, is_printed: bool = False) -> str:
    """Return the usual measures of a comparison in Markdown: a row for each measure, a column for each policy.

    Columns that do not fit ``WIDTH`` go into further tables. With several seeds a value is the mean over them, and
    their standard deviation stands behind it unless it is zero. Utility, whose functions are made up, is there if it is
    asked for, and its name says so. Files have seconds; what is printed, times in units that people use.
    """
    groups = comparison[comparison["classed_by"] != "all"]
    comparison = comparison[comparison["classed_by"] == "all"]
    wide, units = usual_by_seed(comparison, synthetic=synthetic)
    titles = {name: f"synthetic {name}" if name.startswith(SYNTHETIC) else name for name in units}
    said = {name: unit if is_printed and unit == "s" else "1" for name, unit in units.items()}
    heads = [titles[name] if unit in ("1", said[name]) else f"{titles[name]} ({unit})" for name, unit in units.items()]
    policies = {str(policy): rows for policy, rows in wide.groupby("policy", sort=False)}
    reasons = _reasons(comparison)
    longest = {name: wide.groupby("policy", sort=False)[name].mean().abs().max() for name in units}
    columns, waits, legend = [], [], []
    for place, (policy, rows) in enumerate(policies.items(), 1):
        is_long = len(policy) > LONGEST
        title = f"policy {place}" if is_long else policy
        legend += [f"{title}: `{policy}`\n"] * is_long
        columns.append([title, *(_cell(rows[name], said[name], longest[name]) for name in units)])
        if policy in reasons:  # of a log it is not told
            waits.append([title, *map(number, reasons[policy])])
    tables = [*tables_in_width(["measure", *heads], columns)]
    if len(reasons):
        tables += tables_in_width(["job-hours waited", *map(reason_in_words, reasons.index)], waits)
    for grouping in groups["classed_by"].drop_duplicates():
        own = groups[groups["classed_by"] == grouping]
        tables += tables_in_width(
            *_by_group(str(grouping), own, [column[0] for column in columns], [*policies], is_printed)
        )
    return "\n".join([*tables, *legend])


def _by_group(
    grouping: str, rows: pd.DataFrame, titles: list[str], policies: list[str], is_printed: bool
) -> tuple[list[str], list[list[str]]]:
    """Return the mean waits of groups, a row each: the first column, and one for each policy behind that of jobs."""
    found, jobs = waits_of_groups(rows)
    if is_printed and len(jobs) > MOST_GROUPS:
        found = found[jobs.rank(method="first", ascending=False) <= MOST_GROUPS]
    columns = [["jobs", *(f"{jobs[each]:,}" for each in found.index)]]
    for title, policy in zip(titles, policies, strict=True):
        values = found[policy] if policy in found else pd.Series(np.nan, found.index)
        columns.append([title, *(_cell(pd.Series([each]), "s" if is_printed else "1", each) for each in values)])
    what = grouping if len(found) == len(jobs) else f"{grouping}, {len(found)} of {len(jobs)}"
    return [f"wait_mean by {what}" if is_printed else f"wait_mean (s) by {what}", *map(str, found.index)], columns


def _reasons(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return how many job-hours were waited for what, a row a reason that any job had, a column a policy.

    The mean over the seeds; no rows of pools.
    """
    rows = comparison[comparison["measure"] == WAITED_FOR]
    found = rows.pivot_table("value", "statistic", "policy", aggfunc="mean", sort=False)
    return found[(found > 0).any(axis=1)]


def tables_in_width(first: list[str], columns: list[list[str]]) -> Iterator[str]:
    """Yield tables that each begin with the first column and are no wider than ``WIDTH``."""
    room = WIDTH - _width(first) - 1
    block: list[list[str]] = []
    for column in columns:
        if block and sum(map(_width, [*block, column])) > room:
            yield _aligned(first, block)
            block = []
        block.append(column)
    yield _aligned(first, block)


def _width(column: list[str]) -> int:
    """Return how many characters of a line a column takes."""
    return max(map(len, column)) + len("| ") + len(" ")


def _aligned(first: list[str], block: list[list[str]]) -> str:
    """Return columns as a Markdown table whose cells stand below each other."""
    widths = [max(map(len, column)) for column in (first, *block)]
    heading, *rows = zip(first, *block, strict=True)
    rule = ("-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:]))
    lines = [
        [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]
        for cells in (heading, rule, *rows)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(values: pd.Series[Any], unit: str, longest: float) -> str:
    """Return a mean over seeds in words, with its standard deviation if there is one.

    A time has its unit behind it, the one of the longest beside it; a unit of 1 is not said.
    """
    known = values.dropna()
    if known.empty:
        return ""
    has_spread, mean = len(known) > 1 and known.std() > 0, known.mean()
    if unit == "s":
        return duration(mean, longest) + (f" ± {duration(known.std())}" if has_spread else "")
    spread = f" ± {known.std():.2g}" if has_spread else ""
    return (f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.4g}") + spread
