# SPDX-License-Identifier: BSD-3-Clause
"""price(): the prices of a finished schedule, and what each user owes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from swftools.by_job import in_order_of
from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import generator
from swftools.market.in_parts import Progress, Work
from swftools.market.registry import Mechanism, find_mechanism
from swftools.market.sale import Sale
from swftools.output.amounts import counted, percent
from swftools.output.shown_html import ShowsItself, shortened
from swftools.parameters import is_whole
from swftools.simulator.metrics.columns import rows_of
from swftools.simulator.metrics.of_jobs import measures_of_jobs
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

HOUR = 3600.0
NO_FUNCTION, NONE_SET = "no utility function", "the mechanism sets none"
"""Why a job has no price."""

SUMMED = ("price", "utility_got", "processor_hours")
"""What a bill sums up."""

CHIEF = ("job_number", "user_id", "processor_hours", "utility_got", "price")


@dataclass(frozen=True, eq=False, repr=False)
class Prices(ShowsItself):
    """Prices of the jobs of a schedule; prints as three lines.

    Parameters
    ----------
    jobs : pandas.DataFrame
        One row for each job that was priced, in the order of the schedule: table ``prices`` of the column dictionary.
    mechanism : str
        The mechanism with all its parameters.
    policy : str
        Policy of the schedule.
    """

    jobs: pd.DataFrame
    mechanism: str
    policy: str

    def __len__(self) -> int:
        return len(self.jobs)

    def bill(self) -> pd.DataFrame:
        """Return what each user owes.

        Returns
        -------
        pandas.DataFrame
            One row for each user, the largest bill first: user_id (missing for jobs without a user), jobs (with a
            price), price, utility_got (jobs without a function count 0), processor_hours. The last three are sums over
            all jobs that were to be priced, also those without a price.
        """
        jobs = self.jobs.assign(jobs=self.jobs["price"].notna().astype("int64"))
        summed = jobs.groupby("user_id", dropna=False, sort=True)[["jobs", *SUMMED]].sum()
        return summed.sort_values("price", ascending=False, kind="stable").reset_index()

    def _lines(self) -> list[str]:
        price, utility = self.jobs["price"], float(self.jobs["utility_got"].sum())
        known = price.dropna()
        lines = [
            f"Prices: {shortened(self.mechanism)}, {counted(len(self), 'job')} under "
            f"{shortened(self.policy) or 'another simulator'}, {counted(self.jobs['user_id'].nunique(), 'user')}"
        ]
        total = f"sum {known.sum():.6g}"
        if utility > 0:
            total += f", {percent(float(known.sum()), utility)} of the utility"
        if len(known):
            nothing = percent(int((known == 0).sum()), len(known))
            total += f"; median {known.median():.6g}, largest {known.max():.6g}, {nothing} are 0"
        why = [f"{reason} {count:,}" for reason, count in self.jobs["no_price"].value_counts().items()]
        return [*lines, total, f"without a price: {', '.join(why) or 'no jobs'}"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return self.jobs.loc[:, list(CHIEF)].iloc[:5], len(self)


def price(
    schedule: Schedule,
    mechanism: str,
    *,
    trace: Trace | None = None,
    jobs: pd.DataFrame | None = None,
    sample: int | None = None,
    seed: int = 0,
    processes: int = 1,
    kept: str | Path | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Prices:
    """Return the prices of the jobs of a finished schedule.

    Parameters
    ----------
    schedule : Schedule
        A complete schedule of any policy.
    mechanism : str
        Name of a mechanism, also with parameters as in ``vcg:horizon=24h``; ``module:name`` of one of yours.
    trace : Trace, optional
        The trace that was simulated; ``vcg`` simulates it again, and ``queue`` looks up names in it.
    jobs : pandas.DataFrame, optional
        Keys of the jobs to price: job_number, and job_occurrence where numbers repeat; by default all of the schedule.
    sample : int, optional
        Draw this many of these jobs; by default, or if there are fewer, all of them.
    seed : int
        Seed of that draw.
    processes : int
        Processes to use for a mechanism that takes long; prices do not depend on it.
    kept : str or path, optional
        Folder in which a mechanism that takes long stores finished parts; the same call continues from there.
    progress : callable, optional
        Called with the jobs done, all jobs, and the submission of the last one (s), if it takes long.
    **parameters
        Parameters of the mechanism.

    Returns
    -------
    Prices
        The prices, with a reason for each job without one.

    Raises
    ------
    ParameterError
        A mechanism, parameter or job is unknown; the schedule is partial, or lacks a column that the mechanism needs;
        or the mechanism returned something else than a number, or NaN, for each job.
    UtilityError
        A utility function breaks the form.

    Examples
    --------
    >>> from swftools import simulate
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 1], run_time=[3600, 7200],
    ...     requested_time=[3600, 7200], requested_processors=[3, 4], user_id=[7, 8])
    >>> prices = price(simulate(trace, "easy"), "fixed")
    >>> prices.bill()[["user_id", "price"]].values.tolist()
    [[8, 8.0], [7, 3.0]]
    """
    chosen, given = find_mechanism(mechanism, parameters)
    _check(schedule, chosen)
    rows = _rows(schedule, jobs, sample, seed)
    measures = measures_of_jobs(schedule, MetricParameters())
    utility = np.array(measures["utility"]()[rows])
    hours = np.array(measures["useful_work"]()[rows]) / HOUR
    sale = Sale(schedule, trace, rows, utility, hours, Work(processes, kept, progress))
    found = _checked(chosen.name, chosen.set_prices(sale, given), schedule.jobs.index[rows])
    reason = NO_FUNCTION if "utility" in chosen.needs else NONE_SET
    why = np.where(np.isnan(utility), reason, NONE_SET)
    table = schedule.jobs[["job_number", "job_occurrence"]].iloc[rows].reset_index(drop=True)
    users = schedule.jobs.reindex(columns=["user_id"])["user_id"].iloc[rows].astype("Int64")
    table = table.assign(
        mechanism=pd.Series(given.to_text() if given.names() else chosen.name, table.index, dtype="str"),
        user_id=users.array,
        processor_hours=hours,
        utility_got=utility,
        price=found,
        no_price=pd.Series(why, dtype="str").where(np.isnan(found)),
    )
    return Prices(table, given.to_text() if given.names() else chosen.name, schedule.policy)


def _check(schedule: Schedule, chosen: Mechanism) -> None:
    """Raise ParameterError where a schedule cannot be priced."""
    if schedule.is_partial:
        raise ParameterError("the schedule is partial: jobs have not ended, or were taken out; run it to the end first")
    if lacking := [name for name in chosen.needs if name not in schedule.jobs]:
        made = "; the augmentation utility makes it (swftools.generate_utility)" if "utility" in lacking else ""
        raise ParameterError(
            f"price mechanism {chosen.name!r} needs {', '.join(lacking)}, which the schedule's jobs lack{made}"
        )


def _rows(schedule: Schedule, jobs: pd.DataFrame | None, sample: int | None, seed: int) -> IntArray:
    """Return the rows of the jobs that are to be priced."""
    known = schedule.jobs[["job_number", "job_occurrence"]]
    rows = np.arange(len(known))
    if jobs is not None:
        if not isinstance(jobs, pd.DataFrame) or "job_number" not in jobs:
            raise ParameterError("jobs is not a frame with a column job_number; give the keys of the jobs to price")
        if "job_occurrence" not in jobs:
            repeated = known["job_number"][known["job_occurrence"] > 0]
            if (unclear := jobs["job_number"].isin(repeated)).any():
                number = jobs["job_number"][unclear].iloc[0]
                raise ParameterError(f"job {number} is there more than once; give job_occurrence too")
            jobs = jobs.assign(job_occurrence=0)
        rows = np.unique(rows_of(jobs, known))
    if sample is not None and not is_whole(sample, 1):
        raise ParameterError(f"sample={sample!r} is neither an integer of 1 or more nor None, which is all")
    if sample is not None and sample < len(rows):
        rows = np.sort(generator(seed, "price").choice(rows, sample, replace=False))
    return rows


def _checked(name: str, found: Any, index: pd.Index[Any]) -> FloatArray:
    """Return prices as numbers, those of a Series by the jobs; raise ParameterError where they are something else."""
    count = len(index)
    if not (isinstance(found, pd.Series) and found.index.equals(pd.RangeIndex(count))):
        found = in_order_of(index, found, f"price mechanism {name!r}: what it returned")
    try:
        prices = np.array(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"price mechanism {name!r} returned values that are not numbers: {error}") from error
    if prices.shape != (count,):
        raise ParameterError(
            f"price mechanism {name!r} returned shape {prices.shape}; give one for each of {count} jobs"
        )
    if np.isinf(prices).any():
        raise ParameterError(f"price mechanism {name!r} returned an infinite price; give NaN to a job that has none")
    return prices
