# SPDX-License-Identifier: BSD-3-Clause
"""User estimates of a trace that grows: what was fitted once, and each job's draw from it.

``generate_requested_times`` hands out a given number of estimates to all jobs of a trace, so that each further job
changes those of the others. Here the jobs of a beginning of the trace are what the model is fitted to; from that a job
draws by its own key and run time alone, and so has the same estimate whatever jobs come, and in any order.

References
----------
Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime estimates", JSSPP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import kernel
from swftools.keyed_random import STATE_LENGTH, count_occurrences, next_uniform, start_stream, step_key
from swftools.models.requested_times import COLUMN, RequestedTimeParameters, handed_out, run_times_of
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FixedRequestedTimes:
    """Fitted estimates of the jobs of a trace, from which each further job draws.

    Parameters
    ----------
    times : array of float, shape (estimates,)
        Distinct requested times, s, ascending.
    chances : array of float, shape (estimates,)
        Chance that a job has this estimate, given that it has none of the shorter ones; the last is 1.

    Raises
    ------
    ParameterError
        The arrays break these rules.
    """

    times: FloatArray
    chances: FloatArray

    def __post_init__(self) -> None:
        times, chances = np.asarray(self.times, np.float64), np.asarray(self.chances, np.float64)
        is_sound = times.ndim == 1 and len(times) > 0 and times.shape == chances.shape
        is_sound = is_sound and bool((np.diff(times) > 0).all() and (chances > 0).all() and (chances <= 1).all())
        if not is_sound or chances[-1] != 1:
            raise ParameterError(
                "estimates: what was fitted is damaged: times must rise, chances be up to 1; fit it again"
            )

    @classmethod
    def from_mapping(cls, fitted: Mapping[str, Any]) -> Self:
        """Return what ``to_mapping`` returned.

        Raises
        ------
        ParameterError
            It is damaged.
        """
        try:
            return cls(*(np.array(fitted[name], dtype=np.float64) for name in ("times", "chances")))
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(f"estimates: what was fitted is damaged ({error}); fit it again") from error

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON holds it, to the last bit."""
        return {"times": self.times.tolist(), "chances": self.chances.tolist()}


def fit_requested_times(trace: Trace, parameters: RequestedTimeParameters | None = None) -> FixedRequestedTimes:
    """Fit the model of user estimates to the jobs of a trace.

    Parameters
    ----------
    trace : Trace
        As for ``generate_requested_times``, with one job at least.
    parameters : RequestedTimeParameters, optional
        Defaults if not given.

    Raises
    ------
    ParameterError
        There is no job, or for the reasons of ``generate_requested_times``.

    Notes
    -----
    The model gives n estimates to n jobs, in order of descending run time: each job draws one of the remaining
    estimates that are long enough, all with equal chance. When the jobs longer than a time t have theirs, the number of
    remaining estimates above t is fixed, whichever were drawn. So a job as long as t gets t with the chance

        estimates of t / (estimates of t or more - jobs longer than t),

    and otherwise a longer one. Shorter jobs thin out the longer estimates evenly, so the chances hold for them too.
    They are exactly the chances that the model gives to each job of the trace.

    Differs from the model: the number of jobs with each estimate is met on average, not to the job.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], run_time=[100, 100, 5000])
    >>> fit_requested_times(trace, RequestedTimeParameters(bins={600: 1}, maximum=7200)).to_mapping()
    {'times': [600.0, 7200.0], 'chances': [0.5, 1.0]}
    """
    if not len(trace):
        raise ParameterError("estimates: there is no job to be fitted to")
    run_time, estimates, _ = handed_out(trace, parameters or RequestedTimeParameters())
    times, counts = np.unique(estimates, return_counts=True)
    or_more = len(estimates) - np.searchsorted(np.sort(estimates), times)
    longer = len(run_time) - np.searchsorted(np.sort(run_time), times, side="right")
    return FixedRequestedTimes(times, counts / (or_more - longer))


def draw_requested_times(trace: Trace, fitted: FixedRequestedTimes, *, seed: int = 0) -> pd.DataFrame:
    """Draw a requested time for every job of a trace from what was fitted before.

    Parameters
    ----------
    trace : Trace
        Its run times and the key of jobs (job_number, job_occurrence) are used. A missing run time counts as 0.
    fitted : FixedRequestedTimes
        Fitted to another trace, or to a beginning of this one.
    seed : int
        From 0 to 2**64 - 1.

    Returns
    -------
    pandas.DataFrame
        One row for each job, in the order and with the index of ``trace.jobs``: model_requested_time (s), never
        missing, and never less than the run time, but for jobs longer than the longest time that was fitted, which have
        that.

    Examples
    --------
    >>> fitted = FixedRequestedTimes(np.array([600.0, 7200.0]), np.array([0.5, 1.0]))
    >>> trace = Trace.from_columns(job_number=[1, 2, 3, 4], run_time=[100, 100, 5000, 9000])
    >>> draw_requested_times(trace, fitted, seed=2)["model_requested_time"].tolist()
    [7200.0, 600.0, 7200.0, 7200.0]
    """
    first = np.searchsorted(fitted.times, np.minimum(run_times_of(trace), fitted.times[-1]))
    place = np.empty(len(trace), np.int64)
    step = np.uint64(step_key("estimates/fixed"))
    keys = trace.views.job_number, count_occurrences(trace.jobs)
    _draw(np.uint64(seed), step, *keys, first.astype(np.int64), fitted.chances, place)
    return pd.DataFrame({COLUMN: fitted.times[place]}, index=trace.jobs.index)


@kernel
def _draw(
    seed: np.uint64,
    step: np.uint64,
    job_number: IntArray,
    occurrence: IntArray,
    first: IntArray,
    chances: FloatArray,
    out: IntArray,
) -> None:
    """Fill in the place of the time of every job, which is ``first`` or behind it; the last chance is 1."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    for i in range(len(out)):
        start_stream(state, seed, step, job_number[i], occurrence[i])
        draw = next_uniform(state)
        k = first[i]
        while draw >= chances[k] and k + 1 < len(chances):  # a draw may be rounded up to 1
            draw = (draw - chances[k]) / (1.0 - chances[k])
            k += 1
        out[i] = k
