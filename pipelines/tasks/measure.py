# SPDX-License-Identifier: BSD-3-Clause
"""MeasureSchedule: the metrics of a schedule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import luigi
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from pipelines.keys import canonical_json, content_key
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.simulate import ScheduleTask, SimulatePolicy, SimulationTask, check_queues, label_of
from pipelines.tasks.simulation_parameters import MetricsParameter
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.named import NUMBERED
from swftools.parameters.spelling import did_you_mean
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.metrics.wait_reasons import REASONS, wait_reasons
from swftools.simulator.schedule import Schedule
from swftools.tables import read_table, to_arrow, to_pandas, write_table
from swftools.waits.groups import GROUPINGS, groups_of

UNMEASURED = (
    *("average_cpu_time", "used_memory", "requested_processors", "requested_memory", "status", "user_id", "group_id"),
    *("executable_id", "partition_id", "preceding_job_number", "preceding_job_numbers", "think_time", "line_number"),
    "submit_timestamp",
)
"""Columns that no measure looks at, unless it is asked to: of a long log, 100 bytes a job."""


OF_GROUPS = ("wait", "turnaround", "bounded_slowdown")
"""What is measured of groups of jobs."""

WAITED_FOR = "waited_for"
"""The measure of what jobs on nodes waited for; its statistic is the reason."""


class MeasuringTask(SimulationTask):
    """What measurements have in common beside the simulation: which metrics, and of which jobs."""

    metrics = MetricsParameter(default="", description="parameters of the metrics: bound=60,... or JSON")
    unmeasured_queues = luigi.Parameter(default="", description="queues simulated but left out of metrics: 0,5")
    by = luigi.Parameter(default="", description="groups whose waits are measured too: partition,account,processors")

    @property
    def queues_left_out(self) -> list[int]:
        """The queues that are not measured."""
        try:
            return sorted({int(word) for word in self.unmeasured_queues.split(",") if word.strip()})
        except ValueError as error:
            raise ParameterError(f"unmeasured_queues={self.unmeasured_queues!r}: give numbers, such as 0,5") from error

    @property
    def groupings(self) -> list[str]:
        """The groupings of jobs whose waits are measured, too."""
        names = [word.strip() for word in self.by.split(",") if word.strip()]
        for name in names:
            if name not in GROUPINGS:
                near = did_you_mean([name], GROUPINGS) or f"; there are: {', '.join(GROUPINGS)}"
                raise ParameterError(f"by={name!r} is no grouping of jobs{near}")
        return names

    def counts(self, jobs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Return which jobs are measured."""
        left_out = jobs["queue_id"].isin(self.queues_left_out).to_numpy(dtype=bool, na_value=False)
        if self.window:
            left_out |= ~jobs["is_measured"].to_numpy(dtype=bool, na_value=False)
        return np.asarray(~left_out)

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain."""
        super().check_values()
        _ = self.queues_left_out, self.groupings


class MeasureSchedule(MeasuringTask, ScheduleTask):
    """Measure the schedule of a trace under a policy.

    Reads the schedule; writes ``<work root>/measured/<key>/`` with the table metrics; and what the run assumed beside
    it; complete when that exists.
    """

    code_version = 4
    reasons = luigi.BoolParameter(default=False, description="also sum up what jobs on nodes waited for")

    @property
    @once_a_look
    def simulation(self) -> SimulatePolicy:
        """The task whose schedule is measured."""
        task: SimulatePolicy = self.clone(SimulatePolicy, queues_there=canonical_json(self.queues_left_out))
        return task

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        inputs = {
            "schedule": self.simulation.key,
            "metrics": self.metrics,
            "queues_left_out": self.queues_left_out,
            **({"reasons": 2} if self._sums_reasons else {}),
            **({"by": self.groupings} if self.by else {}),
        }
        return content_key("measure", self.code_version, inputs)

    @property
    def _sums_reasons(self) -> bool:
        """Whether the table has what jobs waited for, which a pool does not know."""
        return bool(self.reasons) and self.nodes.description is not None

    def requires(self) -> SimulatePolicy:
        """Require the schedule."""
        return self.simulation

    def output(self) -> DirectoryTarget:
        """Return the directory of the table."""
        return self.directory("measured", self.key)

    def run(self) -> None:
        """Measure."""
        parameters = MetricParameters.from_mapping(json.loads(self.metrics))
        schedule, label = self.load_measured(), label_of(self.simulation.entry)
        check_queues(schedule.jobs, self.queues_left_out, self.log)
        counts = self.counts(schedule.jobs)
        measured: pd.DataFrame = measure(schedule, parameters, where=counts, label=label)
        if self._sums_reasons:
            measured = pd.concat([measured, _reasons_of(schedule, counts, measured)], ignore_index=True)
        if self.by:
            of_groups = by_groups(schedule, self.groupings, parameters, counts, label)
            measured = pd.concat([measured, *of_groups], ignore_index=True)
        with self.output().fill() as directory:
            write_table(to_arrow(measured, "metrics"), directory / "metrics.parquet", "metrics")
            (directory / "assumptions.json").write_text(canonical_json(schedule.assumptions), encoding="utf-8")

    def load_measured(self) -> Schedule:
        """Return the schedule of the finished simulation, with what its measurement looks at."""
        looked_at = {json.loads(self.metrics).get("nominal")}
        if not self.by:
            return self.simulation.load_schedule(without={*UNMEASURED} - looked_at)
        schedule = self.simulation.load_schedule(without={*UNMEASURED} - looked_at - {*NUMBERED.values()})
        return replace(schedule, known_names=self.clone(CleanTrace).load_names(NUMBERED))

    def load_assumptions(self) -> list[str]:
        """Return what the run of the finished task assumed, in words."""
        told: list[str] = json.loads((self.output().path / "assumptions.json").read_text(encoding="utf-8"))
        return told

    def load_table(self) -> pa.Table:
        """Return the table of the finished task."""
        return read_table(self.output().path / "metrics.parquet", "metrics")

    def load_metrics(self) -> pd.DataFrame:
        """Return the same as a DataFrame."""
        return to_pandas(self.load_table(), "metrics")


def by_groups(
    schedule: Schedule,
    groupings: Sequence[str],
    parameters: MetricParameters,
    counts: npt.NDArray[np.bool_],
    label: str,
) -> list[pd.DataFrame]:
    """Return waits and slowdowns of some jobs by groups, a table of metrics for each grouping.

    Raises
    ------
    ParameterError
        The log tells of no job its group.
    """
    found = []
    for name in groupings:
        groups = groups_of(schedule, name)
        if groups is None:
            raise ParameterError(f"by={name}: the log tells it of no job; leave it out")
        words = np.array([*groups.words, ""], object)[groups.of_job]
        grouped = replace(schedule, jobs=schedule.jobs.assign(**{name: pd.array(words, dtype="str")}))
        rows = pd.DataFrame(measure(grouped, parameters, by=name, where=counts, label=label))
        rows = rows[rows["measure"].isin(OF_GROUPS)]
        order = pd.Index(groups.words).get_indexer(pd.Index(rows["job_class"]))
        found.append(rows.iloc[np.argsort(order, kind="stable")])
    return found


def _reasons_of(schedule: Schedule, is_measured: npt.NDArray[np.bool_], like: pd.DataFrame) -> pd.DataFrame:
    """Return how many job-hours some jobs waited for what, as rows of metrics of the same policy."""
    found = wait_reasons(schedule)[is_measured]
    hours = {reason: float(found[reason].sum()) / 3600.0 for reason in REASONS}
    row = {name: like[name].iloc[0] for name in ("policy", "classed_by", "job_class")}
    return pd.DataFrame(
        {**row, "measure": WAITED_FOR, "statistic": reason, "jobs": len(found), "value": value, "unit": "job-hours"}
        for reason, value in hours.items()
    )
