# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic answers of users who are asked again how long their jobs will run, without being killed for it.

That survey is not public. Its printed results: of 107 answers 56 were the request itself, and 51 were less, by 35 % of
the request in the mean. Inaccuracy (``swftools.estimates``) fell from 68 % to 60 % among those 51, and from
61 % to 57 % over all; it was 55 % among the 56. Jobs very rarely ran longer than the answer. The distribution here is
ours, chosen to agree with all of this. No user of the trace was asked.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", section 5.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.keyed_random import count_occurrences, uniforms
from swftools.parameters import LARGEST_SEED, Parameters, is_whole, number
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]

COLUMN = "tightened_time"

STEP = "tightened-requests"
"""What the draws are for."""

DRAWS = 3
"""Numbers that are drawn for each job."""

ANSWERS, TIGHTENED = 107, 51
"""Answers to the survey, and how many of them were less than the request."""

SURVEYED_INACCURACY = 0.61
"""Mean inaccuracy of the requests of all who answered."""

LARGEST_GUESS = 0.9
"""By how much those tighten at most who do not know what their job takes."""


@dataclass(frozen=True)
class TighteningParameters(Parameters):
    """Which requests are tightened, and by how much.

    Parameters
    ----------
    share : float
        Probability that a request is tightened if it is as inaccurate as the survey's mean (61 %).
    lean : float
        How much this probability grows from an exact request to a completely inaccurate one; 0: not at all.
    unaware : float
        Share of tightened requests whose users do not know how long the job takes; the job may outlive the answer.
    shortest : float
        Shorter requests (s) are not changed: the survey left out requests of less than 20 minutes.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "tightened"

    share: float = number(TIGHTENED / ANSWERS, least=0, most=1)
    lean: float = number(0.27, least=0, most=1)
    unaware: float = number(0.15, least=0, most=1)
    shortest: float = number(1200.0, least=0, most=1e10, unit="s")


def tighten_requests(trace: Trace, seed: int = 0, **parameters: Any) -> pd.DataFrame:
    """Make up what users would answer if asked again for run times, without being killed for it. Synthetic.

    Parameters
    ----------
    trace : Trace
        Its requested times, run times and the key of jobs (job_number, job_occurrence) are used.
    seed : int
        From 0 to 2**64 - 1. Draws are keyed by (seed, step "tightened-requests", job number, occurrence): a job gets
        the same in any order of jobs, and in every part of a log. Logs share the draws of a seed (docs/concepts.md,
        Seeds).
    **parameters
        Parameters of ``TighteningParameters``.

    Returns
    -------
    pandas.DataFrame
        One row for each job, with the index of ``trace.jobs``: tightened_time (s), never more than the request, in
        whole seconds where it is less. Missing where the request is missing or 0.

    Raises
    ------
    ParameterError
        The seed or a parameter is outside its domain.

    Notes
    -----
    A request is tightened with probability share + lean x (inaccuracy - .61), cut to 0 and 1. It is then reduced by the
    share U(0, 1) x inaccuracy, as by a user who knows roughly how long the job takes and gives up part of the margin.
    In a share ``unaware`` of cases it is reduced by U(0, .9), however long the job takes. Inaccuracy is 1 - run time /
    request, from 0 to 1. If the run time is not known, the probability is ``share``, and the user counts as unaware.

    The printed facts do not determine this distribution: only one bar of the histogram (Figure 5.3) is known, and a
    probability that grows with the inaccuracy is one way to get 68 % and 55 %. If the decrease did not depend on the
    run time, a fifth of the answers would be less than the run time. Logs whose requests are more or less accurate than
    those of the survey give other shares and decreases; the parameters stay the same.

    References
    ----------
    Lee 2009, section 5.3.1.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], requested_time=[7200] * 3, run_time=[50, 600, 7200])
    >>> tighten_requests(trace, seed=2, lean=0, share=1, unaware=0)["tightened_time"].tolist()
    [1265.0, 4354.0, 7200.0]
    """
    if not is_whole(seed, 0, LARGEST_SEED):
        raise ParameterError(f"tighten_requests: seed={seed!r} is not an integer from 0 to 2**64 - 1")
    chosen = TighteningParameters.from_mapping(parameters)
    arrays = trace.views
    drawn = uniforms(seed, STEP, arrays.job_number, count_occurrences(trace.jobs), DRAWS)
    tightened = tightened_times(arrays.requested_time, arrays.run_time, drawn, chosen)
    return pd.DataFrame({COLUMN: tightened}, index=trace.jobs.index)


def tightened_times(
    requested: FloatArray, run_time: FloatArray, drawn: FloatArray, chosen: TighteningParameters
) -> FloatArray:
    """Return what users say instead of their requests.

    Parameters
    ----------
    requested, run_time : array of float, shape (jobs,)
        In s; NaN, or a request of 0, where not known.
    drawn : array of float, shape (jobs, 3)
        From 0 to 1: whether a job's request is tightened, whether its user is unaware, and how much.
    chosen : TighteningParameters
        Which requests are tightened, and by how much.

    Returns
    -------
    array of float, shape (jobs,)
        In s; NaN where the request is not known.
    """
    asked = np.where(requested > 0, requested, np.nan)
    unused = np.clip(1.0 - run_time / asked, 0.0, 1.0)
    chance = chosen.share + chosen.lean * np.where(np.isnan(unused), 0.0, unused - SURVEYED_INACCURACY)
    is_tightened = (drawn[:, 0] < chance) & (asked >= chosen.shortest)
    is_unaware = np.isnan(unused) | (drawn[:, 1] < chosen.unaware)
    decrease = drawn[:, 2] * np.where(is_unaware, LARGEST_GUESS, unused)
    return np.where(is_tightened, np.minimum(np.ceil(asked * (1.0 - decrease)), asked), asked)
