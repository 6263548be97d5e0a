# SPDX-License-Identifier: BSD-3-Clause
"""Measures of schedules: one table for every policy, from waits to utilization.

``metrics_of_jobs`` says what each job got and ``metrics_over_time`` what machine and queue held; here both become
statistics, over all jobs or by class.

References
----------
Lee 2009, sections 1.4 and 2.2.3 and Table 4.1. Yuan et al. 2010, section 5.1.2 and Tables 4 to 6. Chiang and
Vasupongayya 2008, section 4 and Figure 12. Barsanti and Sodan 2006, section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.kernel.memory import give_back_memory
from swftools.simulator.logged import LOGGED
from swftools.simulator.measure_definitions import EXCESS, MACHINE, MEASURES, NODES, SPREAD, TRUTH
from swftools.simulator.measures_table import SYNTHETIC, USUAL, Measures, summarize, usual_by_seed
from swftools.simulator.metrics.beside_log import UNTOLD, beside_log
from swftools.simulator.metrics.columns import FloatArray, IntArray, column_of, rows_of
from swftools.simulator.metrics.gpu_packing import figures_of_packing
from swftools.simulator.metrics.job_classes import By, ClassedValues, Classes, classify
from swftools.simulator.metrics.of_jobs import Where, choose_jobs, measures_of_jobs, start_delay
from swftools.simulator.metrics.over_time import durations_of, max_of_steps, mean_of_steps
from swftools.simulator.metrics.over_time_on_nodes import figures_of_nodes
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.metrics.step_functions import MachineOverTime
from swftools.simulator.metrics.switches import figures_of_switches
from swftools.simulator.schedule import Schedule
from swftools.tables import LONG
from swftools.trace import Trace

__all__ = ["SYNTHETIC", "USUAL", "Measures", "measure", "summarize", "usual_by_seed"]

_OF_NODES = (figures_of_nodes, figures_of_packing, figures_of_switches)

Chosen = IntArray | slice
"""Rows of jobs, or all of them."""


class _Row(NamedTuple):
    """One statistic of one measure, for every class."""

    measure: str
    statistic: str
    parameter: float
    unit: str
    jobs: IntArray
    value: FloatArray


def measure(
    schedule: Schedule,
    parameters: MetricParameters | None = None,
    *,
    by: By = None,
    where: Where = None,
    reference: Schedule | None = None,
    label: str | None = None,
    log: Trace | None = None,
    **changes: Any,
) -> Measures:
    """Measure a schedule; for the dozen most important numbers, call ``measure(schedule).summary()``.

    Parameters
    ----------
    schedule : Schedule
        As simulated.
    parameters : MetricParameters, optional
        Defaults if not given.
    by : str, sequence of str, or mapping, optional
        Make a class of jobs for each value of a column (or each pair of values of two columns, and so on). A mapping
        gives the upper ends of ranges instead: ``{"allocated_processors": [8, 32], "run_time": None}``. Every job is in
        one class; jobs without a value have a class of their own. ``queue``, ``user``, ``group``, ``partition`` and
        ``executable`` are classes by the names that the log has, by numbers where it has none; ``queue_id`` and the
        like are by numbers.
    where : array of bool, str or callable, optional
        Which jobs count: a mask (a Series by its index, an array or list in the order of the jobs), the name of a
        boolean column (is_measured), or a function from ``schedule.jobs`` to a mask. Measures of the machine always
        cover all simulated jobs.
    reference : Schedule, optional
        A schedule of the same jobs under another policy. Adds the measures start_delay, excessive_wait_over_max and
        excessive_wait_over_p98: how long a job waited beyond the longest wait, or the 98th percentile of waits, of the
        chosen jobs there.
    label : str, optional
        What the column policy says; the policy's name by default.
    log : Trace, optional
        The log that was simulated, at its own times: behind the rows of the schedule stand those of policy ``logged``,
        of the same jobs, where the log tells when they started; without what it does not tell (wasted_load,
        preemptions).
    **changes
        Single parameters by name: ``bound=60``.

    Returns
    -------
    Measures
        A pandas.DataFrame with a method ``summary``. One row for each class, measure and statistic, the same rows for
        every schedule measured in one way: table ``metrics`` of the column dictionary. Columns:

        * policy, classed_by, job_class: str; the last two are "all" without classes.
        * measure, statistic: str, from the lists below.
        * parameter: float, s; the bound or the threshold, if there is one.
        * jobs: Int64; number of jobs behind the value.
        * value: float; missing if no job has the measure, or it has no meaning (see below).
        * unit: str.

        **Of jobs** (by class), in the groups of ``swftools.simulator.measure_definitions``, which says what each is.
        Those of which means are taken (SPREAD) have mean, mean_by_processors, mean_by_work, max and percentiles (p25
        ...), utility also total (the aggregate utility), start_value_earned also mean_by_start_value (aggregate utility
        over that of immediate completion). Those that are 0 for most jobs (EXCESS) have total, mean, count (of jobs
        above 0), mean_above_0 (missing without such a job) and max; those of stopped jobs are 0 if none was stopped.
        Those that are 0 or 1 (TRUTH) have count and mean. For a partial schedule, the measures of blocked heads are
        missing.

        mean_by_processors is sum(x * processors) / sum(processors); for the bounded slowdown it is the MWBS of Yuan et
        al. 2010. mean_by_work weights by useful work (processors * run time for a job that ran once), and is missing if
        there is none.

        **Of the machine** (MACHINE; only without ``by``): utilization, queue_length and queued_work have time_mean and
        max, excluded_jobs has count, the others value. With a window, offered_load is the work of the jobs submitted in
        it / its capacity. All but excluded_jobs are missing for an empty schedule, and means over time are missing if
        no time passes.

        **Of the nodes** (NODES; also only without ``by``), where the machine has nodes: utilization of nodes, memory
        and GPUs has time_mean and max, fragmentation and packing of GPUs have time_mean, switches spanned have mean;
        those by kind and by partition have a row for each, whose statistic is its name. What the machine, kind or
        partition has none of has no row.

    Raises
    ------
    ParameterError
        A parameter is outside its domain, ``where`` or ``by`` does not fit the jobs, or the reference has other jobs.

    Notes
    -----
    The table is long, not wide, because you can ask for any percentiles and classes. So all policies and parameters
    share one schema, and tables can be put one below the other. ``summarize`` makes a wide table.

    Differs from the papers: Lee 2009 counts percentiles of the start value earned from the best job down: 25 and 98 %
    there are p75 and p2 here.

    Examples
    --------
    >>> jobs = pd.DataFrame({"job_number": [1, 2], "job_occurrence": [0, 0], "submit_time": [0.0, 2.0],
    ...     "start_time": [0.0, 10.0], "end_time": [10.0, 15.0], "wait_time": [0.0, 8.0], "run_time": [10.0, 5.0],
    ...     "requested_time": [10.0, 6.0], "allocated_processors": [3, 4], "preemptions": 0, "is_backfilled": False})
    >>> runs = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]]
    >>> runs = runs.assign(work=jobs["run_time"], lost_work=0.0, overhead=0.0, ended_by="completed")
    >>> schedule = Schedule(jobs, runs, jobs[:0], 4, "easy")
    >>> measured = measure(schedule, percentiles=(50,))
    >>> measured[measured["measure"] == "queue_length"][["statistic", "jobs", "value", "unit"]].values.tolist()
    [['time_mean', 2, 0.5333333333333333, 'jobs'], ['max', 2, 1.0, 'jobs']]
    """
    chosen_parameters = parameters or MetricParameters()
    if changes:
        chosen_parameters = MetricParameters.from_mapping({**_fields(chosen_parameters), **changes})
    chosen: Chosen = slice(None) if where is None else choose_jobs(schedule.jobs, where)
    classes = classify(schedule.jobs if where is None else schedule.jobs.iloc[chosen], by, schedule.known_names)
    measures = measures_of_jobs(schedule, chosen_parameters)
    rows = _job_rows(schedule, measures, chosen, classes, chosen_parameters, reference)
    if by is None:
        load = _offered_load(schedule, measures["useful_work"](), chosen_parameters.window)
        del measures  # and what it holds
        if len(schedule) > LONG:
            give_back_memory()
        rows += _machine_rows(schedule, load, chosen_parameters)
        if schedule.machine is not None:
            rows += _node_rows(schedule, chosen_parameters)
    table = _table(rows, classes, schedule.policy if label is None else label)
    if log is None:
        return table
    logged = measure_logged(schedule, log, chosen_parameters, by=by, where=where)
    return Measures(pd.concat([table, logged], ignore_index=True) if len(logged) else table)


def measure_logged(
    schedule: Schedule, trace: Trace, parameters: MetricParameters, *, by: By = None, where: Where = None
) -> Measures:
    """Return what ``measure`` says of the log itself, over the same jobs; no rows where the log does not tell it.

    Parameters
    ----------
    schedule : Schedule
        Simulated; ``where`` chooses among its jobs.
    trace : Trace
        The log.
    parameters, by, where
        Of ``measure``.

    Returns
    -------
    Measures
        Of policy ``logged``, without ``UNTOLD``. As there, measures of the machine cover all jobs: here those of the
        log.
    """
    chosen = (
        schedule if where is None else replace(schedule, jobs=schedule.jobs.iloc[choose_jobs(schedule.jobs, where)])
    )
    beside = beside_log(chosen, trace)
    if beside is None:
        return measure(schedule, parameters, by=by, label=LOGGED)[:0]
    measured = measure(beside.logged, parameters, by=by, where=beside.is_shared)
    return Measures(measured[~measured["measure"].isin(UNTOLD)])


def _fields(parameters: MetricParameters) -> dict[str, Any]:
    """Return the parameters as they are."""
    return {name: getattr(parameters, name) for name in parameters.names()}


def _job_rows(
    schedule: Schedule,
    measures: dict[str, Callable[[], FloatArray]],
    chosen: Chosen,
    classes: Classes,
    parameters: MetricParameters,
    reference: Schedule | None,
) -> list[_Row]:
    """Return the statistics of the chosen jobs."""
    jobs, made = schedule.jobs, dict[str, Callable[[], FloatArray]]()
    for name, make in measures.items():
        made[name] = partial(_chosen_of, make, chosen)
    if parameters.trimmed:
        left_out = _trimmed(column_of(jobs, "submit_time")[chosen])
        made["bounded_slowdown"] = partial(_without, made["bounded_slowdown"], left_out)
    thresholds = {"bounded_slowdown": float(parameters.bound)}
    if parameters.threshold is not None:
        thresholds["excessive_wait"] = float(parameters.threshold)
    if reference is not None:
        delay = start_delay(schedule, reference).to_numpy()[chosen]
        made["start_delay"] = lambda: delay
        there = rows_of(jobs.iloc[chosen], reference.jobs)
        waits = column_of(reference.jobs, "wait_time")[there]
        for name, point in (("excessive_wait_over_max", 100), ("excessive_wait_over_p98", 98)):
            thresholds[name] = float(np.percentile(waits, point)) if len(waits) else np.nan
    for name, threshold in thresholds.items():
        if name in EXCESS:
            made[name] = partial(_beyond, made["wait"], threshold)
    weights = {
        "processors": column_of(jobs, "allocated_processors")[chosen],
        "work": made["useful_work"](),
        "start_value": made["start_value"](),
    }
    rows = []
    for name in [*SPREAD, *TRUTH, *(name for name in EXCESS if name in made)]:
        sample = ClassedValues(made[name](), classes.of_job, len(classes.labels))
        for statistic, unit, over, value in _statistics(name, sample, weights, parameters.percentiles):
            rows.append(_Row(name, statistic, thresholds.get(name, np.nan), unit, over, value))
    return rows


def _chosen_of(make: Callable[[], FloatArray], chosen: Chosen) -> FloatArray:
    """Return a measure of the chosen jobs."""
    return make()[chosen]


def _without(make: Callable[[], FloatArray], left_out: IntArray) -> FloatArray:
    """Return a measure that some jobs lack."""
    values = make().copy()
    values[left_out] = np.nan
    return values


def _beyond(make: Callable[[], FloatArray], threshold: float) -> FloatArray:
    """Return how far a measure is above a threshold."""
    return np.maximum(make() - threshold, 0.0)


def _statistics(
    name: str, sample: ClassedValues, weights: dict[str, FloatArray], percentiles: Sequence[float]
) -> Iterator[tuple[str, str, IntArray, FloatArray]]:
    """Yield the statistics of a measure of jobs: name, unit, over how many jobs, values by class."""
    unit = MEASURES[name].unit
    if name in EXCESS or name == "utility":
        yield "total", unit, sample.jobs, sample.total()
    yield "mean", unit, sample.jobs, sample.mean()
    if name not in SPREAD:
        above = sample.above_zero()
        yield "count", "jobs", sample.jobs, np.where(sample.jobs > 0, above.jobs, np.nan)
    if name in EXCESS:
        yield "mean_above_0", unit, above.jobs, above.mean()
    if name in SPREAD:
        yield "mean_by_processors", unit, sample.jobs, sample.mean(weights["processors"])
        yield "mean_by_work", unit, sample.jobs, sample.mean(weights["work"])
        if name == "start_value_earned":
            yield "mean_by_start_value", unit, sample.jobs, sample.mean(weights["start_value"])
        for point, value in zip(percentiles, sample.percentiles(percentiles), strict=True):
            yield f"p{point:.15g}", unit, sample.jobs, value
    if name not in TRUTH:
        yield "max", unit, sample.jobs, sample.largest()


def _trimmed(submit_time: FloatArray) -> IntArray:
    """Return the first N // 101 and the last N mod 100 of N jobs, by submission."""
    count = len(submit_time)
    order = np.argsort(submit_time, kind="stable")
    return np.concatenate((order[: count // 101], order[count - count % 100 :]))


def _machine_rows(schedule: Schedule, load: float | None, parameters: MetricParameters) -> list[_Row]:
    """Return the measures of the machine, over all jobs that were simulated."""
    jobs, window = schedule.jobs, parameters.window
    submit, end = column_of(jobs, "submit_time"), column_of(jobs, "end_time")
    steps = MachineOverTime(jobs, schedule.segments, schedule.processors, "requested_time")
    durations = durations_of(steps.times, window)
    values: list[tuple[str, str, float | None]] = [
        ("makespan", "value", float(end.max() - submit.min()) if len(jobs) else None),
        ("offered_load", "value", load),
    ]
    for name in ("utilization", "queue_length", "queued_work"):
        mean, most = _mean_and_max(steps, name, durations) if len(jobs) else (None, None)
        values += [(name, "time_mean", mean), (name, "max", most)]
        if name == "utilization":
            steps.forget_ends()
    loads: dict[str, float | None] = dict.fromkeys(("useful", "wasted", "overhead"))
    _, _, whole = values[2]
    if whole is not None:
        for name, column in (("wasted", "lost_processors"), ("overhead", "overhead_processors")):
            mean, _ = _mean_and_max(steps, column, durations)
            loads[name] = part = (mean or 0.0) / schedule.processors
            whole -= part
        loads["useful"] = whole
    values += [(f"{name}_load", "value", share) for name, share in loads.items()]
    values.append(("excluded_jobs", "count", float(len(schedule.excluded))))
    count = np.array([len(jobs)])
    return [
        _Row(name, statistic, np.nan, MACHINE[name].unit, count, np.array([np.nan if value is None else value]))
        for name, statistic, value in values
    ]


def _node_rows(schedule: Schedule, parameters: MetricParameters) -> list[_Row]:
    """Return the measures of the nodes of the machine."""
    count = np.array([len(schedule.jobs)])
    return [
        _Row(name, statistic, np.nan, NODES[name].unit, count, np.array([np.nan if value is None else value]))
        for figures in _OF_NODES
        for name, statistic, value in figures(schedule, parameters.window)
    ]


def _mean_and_max(steps: MachineOverTime, name: str, durations: FloatArray) -> tuple[float | None, float | None]:
    """Return the mean and the largest value of a step function."""
    values = steps.values(name)
    most = max_of_steps(values, durations)
    return mean_of_steps(values, durations, spends=True), most


def _offered_load(schedule: Schedule, work: FloatArray, window: tuple[float, float] | None) -> float | None:
    """Return the work submitted over capacity; None where no time passes."""
    submit = column_of(schedule.jobs, "submit_time")
    if not len(submit):
        return None
    begin, end = window or (submit.min(), submit.max())
    if window is not None:
        work = work[(submit >= begin) & (submit < end)]
    return float(work.sum() / (schedule.processors * (end - begin))) if end > begin else None


def _table(rows: list[_Row], classes: Classes, policy: str) -> Measures:
    """Return the rows of every class, one class below the other."""
    count = len(classes.labels)

    def each(values: list[Any]) -> npt.NDArray[Any]:
        return np.stack([np.broadcast_to(value, count) for value in values]).T.ravel()

    columns = {
        "policy": np.full(count * len(rows), policy, dtype=object),
        "classed_by": np.full(count * len(rows), classes.by, dtype=object),
        "job_class": np.repeat(np.array(classes.labels, dtype=object), len(rows)),
        "measure": np.array([row.measure for row in rows] * count, dtype=object),
        "statistic": np.array([row.statistic for row in rows] * count, dtype=object),
        "parameter": np.array([row.parameter for row in rows] * count, dtype=np.float64),
        "jobs": pd.array(each([row.jobs for row in rows]), dtype="Int64"),
        "value": each([row.value for row in rows]),
        "unit": np.array([row.unit for row in rows] * count, dtype=object),
    }
    text = dict.fromkeys(("policy", "classed_by", "job_class", "measure", "statistic", "unit"), "str")
    return Measures(pd.DataFrame(columns).astype(text))
