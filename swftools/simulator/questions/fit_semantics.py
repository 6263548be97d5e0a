# SPDX-License-Identifier: BSD-3-Clause
"""Which policy, and whose semantics, make a schedule from elsewhere: each is tried, and its starts are compared."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.parameters.choices import SEMANTICS
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.registry import list_policies, read_policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Simulation
from swftools.simulator.validation.foreign_schedules import read_schedule, schedule_from_table
from swftools.trace import Trace

COLUMNS = {
    "policy": "str",
    "semantics": "str",
    "jobs": "int64",
    "same": "int64",
    "share": "float64",
    "at_once": "float64",
    "mean_difference": "float64",
    "first_job": "Int64",
    "first_start": "float64",
    "first_start_here": "float64",
}


def fit_semantics(
    schedule: Schedule | pd.DataFrame | str | Path,
    trace: Trace,
    processors: int | None = None,
    *,
    policies: Iterable[str] | None = None,
    overrun: str = "extend",
    requests: str = "logged",
    tolerance: float = 1e-6,
) -> pd.DataFrame:
    """Try policies under each simulator's semantics, and say how many starts of a schedule each gets right.

    Parameters
    ----------
    schedule : Schedule, pandas.DataFrame, str or Path
        A schedule of any simulator; or a table of starts or its file, as for ``validate``.
    trace : Trace
        The trace that was simulated.
    processors : int, optional
        Size of the machine; by default the schedule's, with a table the trace's.
    policies : iterable of str, optional
        As for ``simulate``; by default all that reproduce another simulator.
    overrun : {"extend", "kill", "run-on"}
        What was done with jobs that ran longer than requested.
    requests : str
        What jobs asked for, as for ``simulate``.
    tolerance : float
        Equal starts may differ by this, s.

    Returns
    -------
    pandas.DataFrame
        One row for each policy and semantics, the best first; of equal ones the simpler first.

        * policy, semantics: str.
        * jobs: number of jobs that both have; same: how many of them start at the same time; share: same / jobs.
        * at_once: share of these jobs that start at their submission in the schedule. This is what somebody gets right
          who says of every job that it starts at once: a policy that gets no more right does not fit.
        * mean_difference: mean absolute difference of starts, s.
        * first_job: the number of the first job, by its start there, that starts at another time; first_start and
          first_start_here: its two starts, s. Missing if all are the same.

    Raises
    ------
    ParameterError
        As ``simulate`` and ``schedule_from_table`` raise it, or the schedule has no job.
    UnreadableLogError
        The file cannot be read.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3, 4], submit_time=[0, 0, 1, 2],
    ...     run_time=[10, 10, 10, 2], requested_time=[10, 12, 10, 2], requested_processors=[2, 2, 4, 2])
    >>> table = pd.DataFrame({"job_number": [1, 2, 3, 4], "start_time": [0, 0, 12, 10]})
    >>> fit_semantics(table, trace, policies=["easy"])[["semantics", "same"]].values.tolist()[:2]
    [['pyss', 4], ['cqsim', 4]]
    """
    if isinstance(schedule, Schedule):
        theirs = schedule
    else:
        table = schedule if isinstance(schedule, pd.DataFrame) else read_schedule(schedule)
        theirs = schedule_from_table(table, trace, processors, overrun=overrun, requests=requests)
    if theirs.machine is not None:
        raise ParameterError("the schedule is one on nodes, of which other simulators' rules are not known yet")
    if not len(theirs):
        raise ParameterError("the schedule has no job: nothing can be compared")
    size = theirs.processors if processors is None else processors
    chosen = [name for name, each in list_policies().items() if each.restates] if policies is None else list(policies)
    rows: list[dict[str, Any]] = []
    for name in chosen:
        policy, _ = read_policy(name)
        for semantics in SEMANTICS:
            if semantics != "instant" and semantics not in policy.restates:
                continue
            predictor = "exact" if semantics == "cqsim" else "request"
            try:
                told: dict[str, Any] = {"overrun": overrun, "requests": requests, "predictor": predictor}
                simulation = Simulation(trace, name, size, semantics=semantics, **told)
            except ParameterError:
                if semantics == "instant":
                    raise
                continue  # it is not known how that simulator does it with these options
            ours = simulation.run().schedule()
            rows.append({"policy": name, "semantics": semantics} | _compared(theirs, ours, tolerance))
    found = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    return found.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _compared(theirs: Schedule, ours: Schedule, tolerance: float) -> dict[str, Any]:
    """Return how alike the starts of two schedules are."""
    key = ["job_number", "job_occurrence"]
    both = theirs.jobs[[*key, "start_time", "submit_time"]].merge(
        ours.jobs[[*key, "start_time"]], on=key, suffixes=("", "_here")
    )
    there, here = column_of(both, "start_time"), column_of(both, "start_time_here")
    difference = np.abs(there - here)
    other = np.flatnonzero(~(difference <= tolerance))
    first = other[np.argsort(there[other], kind="stable")[:1]]
    found: dict[str, Any] = {
        "jobs": len(both),
        "same": len(both) - len(other),
        "share": 1.0 - len(other) / len(both) if len(both) else np.nan,
        "at_once": float((np.abs(there - column_of(both, "submit_time")) <= tolerance).mean()) if len(both) else np.nan,
        "mean_difference": float(difference.mean()) if len(both) else np.nan,
        "first_job": None,
        "first_start": np.nan,
        "first_start_here": np.nan,
    }
    if len(first):
        row = int(first[0])
        number = both["job_number"].iloc[row]
        found |= {"first_job": number, "first_start": there[row], "first_start_here": here[row]}
    return found
