# SPDX-License-Identifier: BSD-3-Clause
"""What a run takes for what its log does not say, and what its policy is told: counted once, said alike everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Assumed(NamedTuple):
    """Of how many of the simulated jobs something is assumed.

    ``without_request`` are those whose request the log does not tell, ``run_time_as_request`` those of them for which
    the run time was taken; ``longer_than_requested`` ran longer than their request, before the overrun rule;
    ``dependent`` wait for another job, by the log: so states of 1.0.0 say it, of which no job ever waits.
    """

    jobs: int
    without_request: int
    run_time_as_request: int
    without_run_time: int
    longer_than_requested: int
    dependent: int = 0


_OVERRUN = {
    "extend": "their requests are raised to their run times (overrun=extend)",
    "kill": "their runs are cut there (overrun=kill)",
    "run-on": "both stay as they are (overrun=run-on)",
}
_CANCELLED = {"end-at-once": "they run 1 s", "full-request": "they run as long as they requested"}


def sentences_of(
    assumed: Assumed, excluded: Mapping[str, int], options: Mapping[str, Any], dependencies: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return in words what a run assumes.

    Parameters
    ----------
    assumed : Assumed
        Counts of jobs.
    excluded : mapping of str to int
        How many jobs were left out for which reason.
    options : mapping
        Of the run, as ``Schedule.options`` has them.
    dependencies : sequence of str
        What is said of jobs that wait for others.

    Examples
    --------
    >>> counts = Assumed(10, 4, 4, 0, 0)
    >>> for line in sentences_of(counts, {}, {"requests": "logged", "predictor": "request"}):
    ...     print(line)
    policies plan with the run times that users requested
    4 of 10 jobs have no requested time: their actual run time is used, as if requests were perfect
    """
    return tuple(_sentences(assumed, excluded, options, dependencies))


def _planned_with(predictor: str, requests: str) -> str:
    """Return in a sentence which run times policies plan with."""
    asked = "" if requests == "logged" else f"requested times by requests={requests}"
    if predictor == "request":
        return f"policies plan with {asked or 'the run times that users requested'}"
    known = "the actual run times" if predictor == "exact" else f"run times by predictor={predictor}"
    return f"policies plan with {known}{asked and f', beside {asked}'}"


def _sentences(
    assumed: Assumed, excluded: Mapping[str, int], options: Mapping[str, Any], dependencies: Sequence[str]
) -> Iterator[str]:
    """Yield what a run assumes, what policies are told first."""
    yield _planned_with(str(options["predictor"]), str(options["requests"]))
    jobs, modelled = assumed.jobs, assumed.without_request - assumed.run_time_as_request
    if assumed.run_time_as_request:
        few = f"{assumed.run_time_as_request:,} of {jobs:,} jobs have no requested time"
        yield f"{few}: their actual run time is used, as if requests were perfect"
    if modelled:
        few = f"{modelled:,} of {jobs:,} jobs have no requested time"
        yield f"{few}: one is drawn from a model (requests={options['requests']})"
    if jobs and assumed.run_time_as_request == jobs:
        yield "no job has a requested time: a comparison of predictors says nothing here"
    if assumed.longer_than_requested:
        few = f"{assumed.longer_than_requested:,} of {jobs:,} jobs ran longer than requested"
        yield f"{few}: {_OVERRUN[options['overrun']]}"
    if assumed.without_run_time:
        few = f"{assumed.without_run_time:,} of {jobs:,} jobs have no run time"
        yield f"{few}: {_CANCELLED[options['cancelled']]} (cancelled={options['cancelled']})"
    if assumed.dependent:
        few = f"{assumed.dependent:,} of {jobs:,} jobs depend on another"
        yield f"{few}: dependencies (preceding_job_number, think_time) are ignored"
    yield from dependencies
    for reason, count in excluded.items():
        yield f"left out: {count:,} job{'s' * (count != 1)}, {reason}"
