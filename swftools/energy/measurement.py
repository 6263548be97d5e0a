# SPDX-License-Identifier: BSD-3-Clause
"""Measures of a schedule's energy: joules, energy-delay product, power over time, cost and carbon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.energy.node_power import NodePower
from swftools.energy.power import EnergyParameters, RunPower, chosen_parameters, find_off, power_of_runs, steps_of
from swftools.energy.rates import PER, Rates
from swftools.errors import ParameterError
from swftools.simulator.measures_table import Measures
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.schedule import Schedule

FloatArray = npt.NDArray[np.float64]

_KWH = PER["kWh"]


class _Over(NamedTuple):
    """Step functions over a window: when each value holds, for how long, and the powers (W)."""

    begin: float
    end: float
    times: FloatArray
    durations: FloatArray
    power: FloatArray
    of_jobs: FloatArray
    saved: FloatArray | None


def measure_energy(
    schedule: Schedule,
    parameters: EnergyParameters | None = None,
    *,
    powers: Mapping[str, NodePower] | None = None,
    price: Rates | None = None,
    intensity: Rates | None = None,
    origin: datetime | str | None = None,
    label: str | None = None,
    **changes: Any,
) -> Measures:
    """Measure the energy of a schedule.

    Parameters
    ----------
    schedule : Schedule
        As simulated.
    parameters : EnergyParameters, optional
        Defaults if not given.
    powers : mapping of str to NodePower, optional
        Of a schedule on a machine of nodes: the power of nodes by the name of their kind. What a kind does not say, the
        parameters do.
    price : Rates, optional
        Price of a kWh over time, from ``read_rates``. Adds cost and price.
    intensity : Rates, optional
        Carbon of a kWh over time, g of CO2 equivalents. Adds carbon and carbon_intensity.
    origin : datetime or str, optional
        Moment of second 0 of the schedule, with a zone or offset (``"2022-01-01T00:00Z"``). By default that of its jobs
        (``submit_timestamp``, which cleaned logs with a UnixStartTime have). Use it to move an old log to a year with
        known prices.
    label : str, optional
        Text of the column policy; by default the policy's name.
    **changes
        Single parameters by name: ``busy_power=200, idle_power=80``.

    Returns
    -------
    Measures
        Rows of the same form as those of ``measure``: policy, classed_by, job_class, measure, statistic, parameter
        (missing), jobs, value, unit. P is the power of the machine (``power_over_time``) over the window.

        ================ ============= ======== ================================================================
        measure          statistic     unit     what
        ================ ============= ======== ================================================================
        energy           total         J        integral of P over time
        energy           of_jobs       J        the part of processors that ran a job
        energy           saved_off     J        what nodes take less as they are off (``off_after``)
        energy_delay     by_makespan   J s      energy, total, times the length of the window
        energy_delay     by_turnaround J s      sum over jobs of the energy of their runs times their turnaround
        power            time_mean     W        energy, total, over the length of the window
        power            max           W        the largest
        power            p50 ...       W        the least that is not exceeded for so many percent of the time
        assumed_power    count         jobs     jobs whose power is that of busy processors, since the log has none
        switched_on      count         nodes    how often a node comes on again (``off_after``)
        off_nodes        time_mean     nodes    nodes that are off (``off_after``)
        cost             total         currency integral of P times the price
        price            by_energy     cur./kWh cost over energy: what was paid on average
        price            time_mean     cur./kWh mean over the window: what an even power would have paid
        carbon           total         gCO2     integral of P times the intensity
        carbon_intensity by_energy     gCO2/kWh carbon over energy
        carbon_intensity time_mean     gCO2/kWh mean over the window
        ================ ============= ======== ================================================================

        Values are missing if no time passes; energy_delay by_turnaround covers all jobs, whatever the window.

    Raises
    ------
    ParameterError
        A parameter is outside its domain, jobs have no power, ``powers`` are of a kind that there is not, a series does
        not cover the schedule, an intensity is negative, or the moment of second 0 is unknown.

    Notes
    -----
    With ``off_after`` the schedule stays as it is: a node boots so early that it is on when its next run starts, and is
    not switched off if there is no time for that. So this is what a site saves that knows the next start so long
    before. One that does not makes jobs wait for the boot, which changes the schedule; that is not simulated.

    The energy-delay product is that of Gonzalez and Horowitz 1996, with the makespan as the delay. Compare the energy
    of schedules over the same window: a policy that ends earlier idles less, and what else would have run then is
    unknown.

    References
    ----------
    Gonzalez and Horowitz 1996, "Energy dissipation in general purpose microprocessors".
    """
    chosen = chosen_parameters(parameters, changes)
    power = power_of_runs(schedule, chosen, powers)
    over = _over(schedule, power, chosen)
    rows = [*_of_power(schedule, power, over, chosen.percentiles)]
    if chosen.off_after is not None:
        rows += _of_off(schedule, chosen, over)
    for name, rates in (("cost", price), ("carbon", intensity)):
        if rates is not None:
            rows += _of_rates(name, rates, over, _origin(schedule, origin))
    return _table(rows, schedule, label)


def _over(schedule: Schedule, power: RunPower, parameters: EnergyParameters) -> _Over:
    """Return the step functions of power over the window."""
    jobs = schedule.jobs
    steps = steps_of(schedule, power, parameters)
    times = column_of(steps, "time")
    if parameters.window is not None:
        begin, end = map(float, parameters.window)
    elif len(jobs):
        begin, end = float(column_of(jobs, "submit_time").min()), float(column_of(jobs, "end_time").max())
    else:
        begin = end = 0.0
    alone = power.idle_of_machine + power.always_on  # before the first event
    edges = np.clip(np.concatenate(([begin], times, [end])), begin, end)
    values = np.concatenate(([alone], column_of(steps, "power")))
    of_jobs = np.concatenate(([0.0], column_of(steps, "job_power")))
    durations = np.diff(edges)
    held = durations > 0
    saved = None
    if "saved_power" in steps:
        saved = np.concatenate(([0.0], column_of(steps, "saved_power")))[held]
    return _Over(begin, end, edges[:-1][held], durations[held], values[held], of_jobs[held], saved)


def _of_power(
    schedule: Schedule, power: RunPower, over: _Over, percentiles: Sequence[float]
) -> Iterator[tuple[str, str, str, float]]:
    """Yield measure, statistic, unit and value of energy and power."""
    length = over.end - over.begin
    total = float((over.power * over.durations).sum()) if length > 0 else np.nan
    yield "energy", "total", "J", total
    yield "energy", "of_jobs", "J", float((over.of_jobs * over.durations).sum()) if length > 0 else np.nan
    if over.saved is not None:
        yield "energy", "saved_off", "J", float((over.saved * over.durations).sum()) if length > 0 else np.nan
    yield "energy_delay", "by_makespan", "J s", total * length
    yield "energy_delay", "by_turnaround", "J s", _by_turnaround(schedule, power)
    yield "power", "time_mean", "W", total / length if length > 0 else np.nan
    order = np.argsort(over.power, kind="stable")
    share = np.cumsum(over.durations[order])
    for point in percentiles:
        value = np.nan
        if length > 0:
            place = int(np.searchsorted(share, point / 100.0 * share[-1] * (1 - 1e-12), "left"))
            value = float(over.power[order][place])
        yield "power", f"p{point:.15g}", "W", value
    yield "power", "max", "W", float(over.power.max()) if length > 0 else np.nan
    yield "assumed_power", "count", "jobs", float(power.is_assumed.sum())


def _of_off(schedule: Schedule, parameters: EnergyParameters, over: _Over) -> Iterator[tuple[str, str, str, float]]:
    """Yield how often nodes are switched on again, and how many are off on average; those that boot are not."""
    found, length = find_off(schedule, parameters), over.end - over.begin
    is_there = (found.on > over.begin) & (found.on <= over.end)
    spent = np.clip(found.boot, over.begin, over.end) - np.clip(found.off, over.begin, over.end)
    yield "switched_on", "count", "nodes", float(is_there.sum())
    yield "off_nodes", "time_mean", "nodes", float(spent.sum()) / length if length > 0 else np.nan


def _by_turnaround(schedule: Schedule, power: RunPower) -> float:
    """Return the sum over jobs of the energy of their runs times their turnaround, J s."""
    jobs, runs = schedule.jobs, schedule.segments
    if not len(jobs):
        return np.nan
    row = rows_of(runs, jobs)
    time = column_of(runs, "end_time") - column_of(runs, "start_time")
    energy = power.watts * time
    turnaround = column_of(jobs, "end_time") - column_of(jobs, "submit_time")
    return float((energy * turnaround[row]).sum())


def _of_rates(name: str, rates: Rates, over: _Over, origin: float) -> Iterator[tuple[str, str, str, float]]:
    """Yield measure, statistic, unit and value of what the energy costs, or of its carbon."""
    rate, unit, per = (
        ("price", "currency", "currency/kWh") if name == "cost" else ("carbon_intensity", "gCO2", "gCO2/kWh")
    )
    if not over.end > over.begin:
        yield from ((name, "total", unit, np.nan), (rate, "by_energy", per, np.nan), (rate, "time_mean", per, np.nan))
        return
    times, values = rates.over(over.begin + origin, over.end + origin)
    if name == "carbon" and (values < 0).any():
        raise ParameterError(f"{rates.name}: an intensity of {values.min():g} gCO2/kWh is negative")
    times = times - origin
    times[0] = over.begin
    # On the instants of both; each value holds from its instant to the next one's.
    every = np.unique(np.concatenate((over.times, times)))
    durations = np.diff(np.append(every, over.end))
    power = over.power[np.searchsorted(over.times, every, "right") - 1]
    value = values[np.searchsorted(times, every, "right") - 1]
    total = float((power * value * durations).sum() / _KWH)
    energy = float((power * durations).sum() / _KWH)
    yield name, "total", unit, total
    yield rate, "by_energy", per, total / energy if energy > 0 else np.nan
    yield rate, "time_mean", per, float((value * durations).sum() / (over.end - over.begin))


def _origin(schedule: Schedule, origin: datetime | str | None) -> float:
    """Return when second 0 is, s since 1970."""
    if origin is not None:
        try:
            stamp = pd.Timestamp(origin)
        except (ValueError, TypeError) as error:
            raise ParameterError(f"origin={origin!r} is not a time such as '2022-01-01T00:00Z'") from error
        if pd.isna(stamp) or stamp.tzinfo is None:
            raise ParameterError(f"origin={origin!r} has no zone; write it as '2022-01-01T00:00Z' or with an offset")
        return float(stamp.timestamp())
    jobs = schedule.jobs
    known = jobs["submit_timestamp"].notna() if "submit_timestamp" in jobs else pd.Series(dtype="bool")
    if not known.any() and schedule.origin is not None:
        return schedule.origin.timestamp()
    if not known.any():
        raise ParameterError("the moment of second 0 of the schedule is unknown; give it by origin='2022-01-01T00:00Z'")
    first = int(np.argmax(known.to_numpy()))
    return float(jobs["submit_timestamp"].iloc[first].timestamp()) - float(jobs["submit_time"].iloc[first])


def _table(rows: list[tuple[str, str, str, float]], schedule: Schedule, label: str | None) -> Measures:
    """Return rows as ``measure`` does."""
    measures, statistics, units, values = zip(*rows, strict=True)
    return Measures(
        {
            "policy": pd.array([schedule.policy if label is None else label] * len(rows), dtype="str"),
            "classed_by": pd.array(["all"] * len(rows), dtype="str"),
            "job_class": pd.array(["all"] * len(rows), dtype="str"),
            "measure": pd.array(measures, dtype="str"),
            "statistic": pd.array(statistics, dtype="str"),
            "parameter": np.full(len(rows), np.nan),
            "jobs": pd.array([len(schedule.jobs)] * len(rows), dtype="Int64"),
            "value": np.array(values, np.float64),
            "unit": pd.array(units, dtype="str"),
        }
    )
