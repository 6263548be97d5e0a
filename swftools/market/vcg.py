# SPDX-License-Identifier: BSD-3-Clause
"""vcg: each user pays what the job cost the others, found by a simulation that goes on without it.

For job i, once the whole schedule is known:

1. The others are the jobs that were there when it was submitted, and those that came until its *horizon*.
2. and 3. What these are worth at the turnarounds that they got: AU_true.
4. and 5. What they are worth if the schedule's own policy, with its options and seed, goes on without job i from the
   state just before its submission: AU_alt.
6. The price is AU_alt - AU_true, what the others lost by job i; at least ``floor``.

The price is exact if the policy finds the best schedule both with and without the job. Otherwise another order, or
other random draws, may help or harm the others, and move the price either way; see ``docs/market.md``.

Cost of a price
---------------
A copy of the simulation, and its decisions until all of the others have ended or are worth nothing any more. In
addition each process passes through the log once.

References
----------
Lee 2009, section 3.4.3, "GA as an Approximate VCG Auction".

Differs from the paper
----------------------
Step 6 is printed as AU_true - AU_alt, which is below 0 where a job did harm; a floor of 0 makes sense with the other
sign only. Step 1 names those that waited at the submission and those that came while the job *ran*; here also those
that came while it waited, since the text then speaks of all up to the last that came, and of jobs that it could have an
impact on. Jobs that ran are among the others: most policies cannot do them any harm, and those that stop jobs can.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import count_occurrences
from swftools.market.registry import mechanism
from swftools.market.sale import Sale
from swftools.parameters import Parameters, choice, number, text
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.questions.ended_jobs import ends_so_far
from swftools.simulator.registry import find_policy, list_policies
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Simulation
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions

BoolArray = npt.NDArray[np.bool_]

RUN = "run"
"""The horizon of the paper."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|min|h|d)")
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}


def is_horizon(written: str) -> bool:
    """Whether a text is a horizon."""
    return written == RUN or _DURATION.fullmatch(written) is not None


@dataclass(frozen=True)
class VcgParameters(Parameters):
    """Parameters of ``vcg``.

    Parameters
    ----------
    horizon : str
        Other jobs count if they arrive before this: ``run``, the end of the job; or a time after it: 600s, 90min, 24h,
        14d.
    later : {"absent", "present", "nowhere"}
        Whether jobs that arrive after the horizon, which do not count, take part in the simulation without the job.
        absent, as in the paper: they do not, so the others have more room than in the schedule, and prices are higher.
        present: they are in both, which takes longest. nowhere: they are in neither; the comparison is then with a
        second simulation, with the job and without them, not with what happened.
    floor : float, optional
        The lowest price; none: prices as computed, also below 0.
    """

    horizon: str = text(RUN, words=f"{RUN}, or a duration such as 600s, 90min, 24h or 14d", admits=is_horizon)
    later: str = choice("absent", "present", "nowhere")
    floor: float | None = number(0.0, optional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("horizon", self.horizon is not None, self.domains()["horizon"].words)

    @property
    def after_end(self) -> float:
        """Seconds from the end of a job to its horizon."""
        found = _DURATION.fullmatch(self.horizon)
        return float(found[1]) * _UNITS[found[2]] if found else 0.0


@mechanism("vcg", parameters=VcgParameters, needs=("utility",))
def vcg(sale: Sale, parameters: VcgParameters) -> FloatArray:
    """Return what each job cost the others."""
    if sale.trace is None:
        raise ParameterError("price mechanism 'vcg' simulates again: give the trace of the schedule (trace=)")
    trace, schedule = sale.trace, sale.schedule
    check_known(schedule)
    submitted = column_of(schedule.jobs, "submit_time")[sale.rows]
    order = np.argsort(submitted, kind="stable")

    def make() -> Callable[[int, int], FloatArray]:
        without = Without(schedule, trace, parameters)
        rows = without.rows[sale.rows[order]]
        return lambda first, end: without.losses(rows[first:end])

    losses = np.empty(len(sale))
    losses[order] = sale.work.carry_out(make, submitted[order], f"{parameters.to_text()} {sale.digest()}")
    return losses if parameters.floor is None else np.maximum(losses, parameters.floor)


def check_known(schedule: Schedule) -> None:
    """Raise ParameterError where nobody knows how a schedule was made."""
    if schedule.policy not in list_policies() or "seed" not in schedule.options:
        raise ParameterError(
            f"price mechanism 'vcg' goes on by the schedule's own policy, and that of this one is not known "
            f"(policy={schedule.policy!r}); give a schedule of simulate(), or take first-price"
        )


class Without:
    """Goes through a schedule's simulation, and on from each job's submission without that job.

    Parameters
    ----------
    schedule : Schedule
        What happened.
    trace : Trace
        Of which it was made.
    parameters : VcgParameters
        Horizon, and whether later jobs come.
    """

    def __init__(self, schedule: Schedule, trace: Trace, parameters: VcgParameters) -> None:
        self._parameters = parameters
        fixed = find_policy(schedule.policy).fixed
        options = {name: value for name, value in schedule.options.items() if name not in fixed}
        size = schedule.processors if schedule.machine is None else None
        self._simulation = Simulation(trace, schedule.policy, size, machine=schedule.machine, **options)
        keys = pd.DataFrame({"job_number": trace.jobs["job_number"], "job_occurrence": count_occurrences(trace.jobs)})
        self.rows = rows_of(schedule.jobs, keys)
        """Row in the trace of each job of the schedule."""
        self._submit = np.array(trace.views.submit_time, dtype=np.float64)
        self._end = np.full(len(trace), np.nan)
        self._end[self.rows] = column_of(schedule.jobs, "end_time")
        self._functions = UtilityFunctions.from_arrow(trace.jobs["utility"])
        self._worth_until = self._submit + self._functions.deadlines
        self._true = self._functions.evaluate(self._end - self._submit)

    def losses(self, rows: IntArray) -> FloatArray:
        """Return what each of some jobs, in order of submission, cost the others."""
        found = np.array([self._loss(row) for row in rows.tolist()])
        self._check()
        return found

    def _loss(self, row: int) -> float:
        """Return what the others would have been worth without a job, less what they are worth."""
        submitted = self._submit[row]
        # To just before the instant, at which others may be submitted too.
        self._simulation.run(until=np.nextafter(submitted, -np.inf))
        is_later = ~(self._submit <= self._end[row] + self._parameters.after_end)
        is_other = ~(is_later | (self._end < submitted) | np.isnan(self._true))
        is_other[row] = False
        if not is_other.any():
            return 0.0
        is_out = np.zeros(len(is_later), np.bool_) if self._parameters.later == "present" else is_later.copy()
        true = self._true
        if self._parameters.later == "nowhere":
            true = self._worth_after(is_out, is_other)
        is_out[row] = True
        # Job by job, so that who is not concerned leaves no rounding error in the sum.
        return float((self._worth_after(is_out, is_other) - true)[is_other].sum())

    def _worth_after(self, is_out: BoolArray, is_other: BoolArray) -> FloatArray:
        """Return what each of the others is worth if the simulation goes on without some jobs."""
        simulation = self._simulation.copy().without(is_out)
        # Whoever has not ended by then is worth nothing, whenever that will be.
        simulation.run(until=self._worth_until[is_other].max())
        ends = np.where(is_other, ends_so_far(simulation), np.nan)
        return np.nan_to_num(self._functions.evaluate(ends - self._submit))

    def _check(self) -> None:
        """Raise ParameterError where the simulation does not make the schedule."""
        ends = ends_so_far(self._simulation)
        if (wrong := np.flatnonzero(~np.isnan(ends) & (ends != self._end))).size:
            row = int(wrong[0])
            number = self._simulation.trace.jobs["job_number"].iloc[row]
            raise ParameterError(
                f"job {number} ended at {self._end[row]:.10g} s, but at {ends[row]:.10g} s if its policy runs again: "
                "the schedule is of another trace, or its policy gives another one each time; simulate it again"
            )
