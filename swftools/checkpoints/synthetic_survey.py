# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic checkpoint surveys: made-up answers to the survey of Lee 2009, for the jobs of any trace.

The real survey is not public. A synthetic one has its totals: responses by choice, shares of processor hours,
checkpoint intervals. It says nothing about the users of the trace that it is made for, and carries a mark that says so.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", sections 6.4 and 6.5, Tables 6.1 and 6.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.checkpoints.exchanges import FAR_OFF, LEAST_GAIN, exchange
from swftools.checkpoints.survey import DECLINED, YES, CheckpointSurvey
from swftools.keyed_random import count_occurrences
from swftools.parameters import LARGEST_SEED, Parameters, number, whole
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

RESPONSES = (219, 540, 426, 29, 94, 1, 56)
"""Responses by choice, 0 to 6 (Table 6.1)."""

NODE_HOURS = (37397.65, 2173.71, 18668.29, 2086.38, 255.9, 35.89, 5335.9)
"""Node-hours of the jobs surveyed, by choice (Table 6.2)."""

SHARES = np.array(NODE_HOURS) / sum(NODE_HOURS)
"""Shares of the node-hours, by choice."""

ANSWERED_JOBS, SUBMITTED_JOBS = 1010, 4203
"""Jobs with an answer other than declined, of those submitted in the three weeks (section 6.5.3)."""

INTERVALS = {1: 15, 2: 14, 3: 5, 5: 36, 10: 38, 15: 21, 20: 12, 30: 34, 60: 25, 120: 12, 240: 7}
"""Checkpoint intervals in minutes, and how many of 219 users gave each. Those of 5, 10 and 30 minutes and the median of
15 are published (section 6.5.2); the others are made up."""

FINE_RATIO, FINE_SHARE = 50, 67 / 120
COARSE_RATIO, COARSE_SHARE = 4, 115 / 120
"""Of the intervals, 67 of 120 are at most 1/50 of the run time, 115 of 120 are less than 1/4 of it (section 6.5.2)."""

NOISE = 0.25
"""Standard deviation of the noise with which the habits of users are ranked, in natural logarithms."""

HEAVY, LIGHT = (2, 3, 5), (1, 4)
"""Choices other than yes and declined, by the work of their jobs."""


@dataclass(frozen=True)
class CheckpointSurveyParameters(Parameters):
    """Parameters of a synthetic survey.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Logs share the draws of a seed (docs/concepts.md, Seeds): give each its own.
    answers : int
        Number of answers, including declined ones; the published survey has 1,365.
    response_share : float
        At most this share of the jobs gets an answer other than declined (published: 1,010 of 4,203 jobs), so that
        a short trace gets a smaller survey; 1 means as many answers as ``answers`` says.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "checkpoint survey"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    answers: int = whole(sum(RESPONSES), least=0, most=2**63 - 1)
    response_share: float = number(ANSWERED_JOBS / SUBMITTED_JOBS, least=0, most=1)


class _Jobs(NamedTuple):
    """Jobs in canonical order: row in the trace, user, width, processor hours, run time (0: unknown)."""

    row: IntArray
    user: IntArray
    width: IntArray
    work: FloatArray
    run: FloatArray

    def take(self, places: npt.NDArray[np.int64]) -> _Jobs:
        """Return some of the jobs."""
        return _Jobs(self.row[places], self.user[places], self.width[places], self.work[places], self.run[places])


def generate_checkpoint_survey(trace: Trace, parameters: CheckpointSurveyParameters | None = None) -> CheckpointSurvey:
    """Make up a checkpoint survey for a trace that follows the totals of the published one.

    Parameters
    ----------
    trace : Trace
        Jobs with a known user, a known width and a job_number of their own can be asked about; the others, and so
        a trace without users, get no answers. A missing run time counts 0 processor hours.
    parameters : CheckpointSurveyParameters, optional
        Defaults if not given.

    Returns
    -------
    CheckpointSurvey
        Marked as synthetic, in the order of submission. The same for any order of the jobs.

    Raises
    ------
    ParameterError
        A parameter is outside its domain.

    Notes
    -----
    1. *Which jobs.* Jobs are drawn at random, each job alike. The numbers of the choices are those of Table 6.1,
       by largest remainder where the total is another. A user declines once at most, and has no answers after that.
       So there are no more declined answers than users, and the others are as many more.
    2. *Who declines.* The last answer of some users, drawn at random, then exchanged as in step 4. If the hours of
       these answers are still off, as where nearly all of few users decline, some users decline at another of their
       jobs behind the answer before that.
    3. *Habits.* Answers of one user and width are alike. These habits are ranked, with noise, by mean run time: the
       longest get choice 0. The others are ranked by mean work: the heavier get 2, 3 and 5, the lighter 1 and 4.
       Where a number is reached within a habit, the later answers are the next choice.
    4. *Work.* Then pairs of answers are exchanged between the choice that has most too many processor hours and that
       which lacks most, as long as it brings the shares nearer those of Table 6.2; two pairs by way of a third choice
       where one pair does not, and a share is off by more than half a point.
    5. *Intervals.* Their numbers are those of ``INTERVALS``, by largest remainder; they are given out so that the
       ratios to the run times come as near the published ones as the run times allow.

    Differs from the paper: answers are spread over the whole trace, where the share of answered jobs declined in the
    course of three weeks; every answer has a job, where 1,010 of 1,309 had. The text counts 1,356 responses, Table
    6.1, which is followed, 1,365.

    References
    ----------
    Lee 2009, sections 6.4 and 6.5, Tables 6.1 and 6.2.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=range(100), submit_time=range(100), user_id=[5] * 100,
    ...                            requested_processors=[8] * 100, run_time=[600] * 100)
    >>> survey = generate_checkpoint_survey(trace)
    >>> len(survey), survey.is_synthetic
    (25, True)
    """
    chosen = parameters or CheckpointSurveyParameters()
    jobs = _askable(trace)
    rng = np.random.default_rng(chosen.seed)
    share = chosen.response_share * sum(RESPONSES) / (sum(RESPONSES) - RESPONSES[DECLINED])
    number = min(chosen.answers, round(share * len(jobs.row)), len(jobs.row))
    counts = _counts(number, len(np.unique(jobs.user)))
    places = _asked(jobs.user, number, counts[DECLINED], rng)
    places, declines = _declining(jobs, places, counts[DECLINED], rng)
    asked = jobs.take(places)
    choice = _choices(asked, declines, counts, rng)
    interval = np.full(number, np.nan)
    interval[choice == YES] = 60.0 * _intervals(asked.run[choice == YES], rng)
    job = trace.jobs.iloc[asked.row]
    answers = pd.DataFrame(
        {
            "answer_number": pd.array(np.arange(1, number + 1), dtype="Int64"),
            "user_id": job["user_id"].array,
            "processors": pd.array(asked.width, dtype="Int64"),
            "job_number": job["job_number"].array,
            "submit_time": job["submit_time"].to_numpy(),
            "choice": pd.array(choice, dtype="Int64"),
            "interval": interval,
        }
    )
    return synthetic_survey(answers, chosen)


def synthetic_survey(answers: pd.DataFrame, parameters: CheckpointSurveyParameters) -> CheckpointSurvey:
    """Return answers that were made up as a survey that says so.

    Parameters
    ----------
    answers : pandas.DataFrame
        As ``CheckpointSurvey`` has them.
    parameters : CheckpointSurveyParameters
        By which they were made up.
    """
    note = (
        f"synthetic: made up by swftools (seed {parameters.seed}) after the totals of Lee 2009, Tables 6.1 and 6.2; "
        "no user was asked, and it says nothing about the users of this log"
    )
    return CheckpointSurvey(answers, (note,), "synthetic checkpoint survey")


def largest_remainder(total: int, weights: Sequence[float]) -> IntArray:
    """Share out a total by weights in whole numbers; of equal remainders the first gets more.

    Examples
    --------
    >>> largest_remainder(10, (2, 1, 1)).tolist()
    [5, 3, 2]
    """
    exact = total * np.asarray(weights, float) / sum(weights)
    shares = np.floor(exact).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: total - shares.sum()]] += 1
    return shares


def _askable(trace: Trace) -> _Jobs:
    """Return the jobs that can be asked about, by submission, job number and occurrence."""
    arrays = trace.views
    order = np.lexsort((count_occurrences(trace.jobs), arrays.job_number, arrays.submit_time))
    _, code, repeats = np.unique(arrays.job_number, return_inverse=True, return_counts=True)
    known = (arrays.user_id >= 0) & (arrays.width > 0) & (arrays.job_number >= 0) & (repeats[code] == 1)
    rows = order[known[order]]
    run = np.nan_to_num(arrays.run_time[rows])
    return _Jobs(rows, arrays.user_id[rows], arrays.width[rows], arrays.width[rows] * run / 3600.0, run)


def _counts(number: int, users: int) -> IntArray:
    """Return the number of answers by choice: Table 6.1, but no more declined than users."""
    counts = largest_remainder(number, RESPONSES)
    if counts[DECLINED] > users:
        counts = np.append(largest_remainder(number - users, RESPONSES[:DECLINED]), users)
    return counts


def _asked(user: IntArray, number: int, declined: int, rng: np.random.Generator) -> IntArray:
    """Return the places of jobs drawn at random, in order, of at least as many users as decline."""
    order = np.argsort(rng.random(len(user)), kind="stable")
    _, first = np.unique(user[order], return_index=True)
    is_asked = np.zeros(len(user), bool)
    is_asked[order[np.sort(first)[:declined]]] = True
    is_asked[order[~is_asked[order]][: number - declined]] = True
    return np.flatnonzero(is_asked)


def _declining(jobs: _Jobs, places: IntArray, count: int, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
    """Return the places of the jobs asked about, of which some may now be others, and which answers decline.

    The last answers of some users decline. Where these have too many or too few processor hours, since there are few
    users to choose from, a user declines at another job: one behind the user's answer before that.
    """
    _, from_end = np.unique(jobs.user[places][::-1], return_index=True)
    last = places[np.sort(len(places) - 1 - from_end)]
    declines = np.zeros(len(last), np.int64)
    declines[rng.permutation(len(last))[:count]] = 1
    work, total, wanted = jobs.work[last], jobs.work[places].sum(), SHARES[DECLINED] * jobs.work[places].sum()
    exchange(work, declines, np.array([work.sum() - wanted, wanted]))
    is_asked, is_last = np.zeros(len(jobs.user), bool), np.zeros(len(jobs.user), bool)
    is_asked[places], is_last[last[declines == 1]] = True, True
    candidates, present = _later_jobs(jobs.user, is_asked, is_last)
    moved = jobs.work[candidates] - jobs.work[present]
    miss = jobs.work[is_last].sum() - SHARES[DECLINED] * total
    while len(moved) and abs(miss) > FAR_OFF * total:
        misses = miss + (1 - SHARES[DECLINED]) * moved
        best = np.argmin(abs(misses))
        if abs(miss) - abs(misses[best]) <= LEAST_GAIN * total:
            break
        miss, total, old, new = misses[best], total + moved[best], present[best], candidates[best]
        is_asked[[old, new]] = is_last[[old, new]] = [False, True]
        theirs = present == old
        present[theirs] = new
        moved[theirs] = jobs.work[candidates[theirs]] - jobs.work[new]
    places = np.flatnonzero(is_asked)
    return places, is_last[places]


def _later_jobs(user: IntArray, is_asked: BoolArray, is_last: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the jobs behind each declining user's answer before the last, and beside each of them the last."""
    by_user = np.argsort(user, kind="stable")
    sorted_users = user[by_user]
    candidates, present = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for last in np.flatnonzero(is_last):
        begin, end = np.searchsorted(sorted_users, [user[last], user[last] + 1])
        mine = by_user[begin:end]
        before = mine[is_asked[mine] & (mine < last)]
        behind = mine[~is_asked[mine] & (mine > before.max(initial=-1))]
        candidates.append(behind)
        present.append(np.full(len(behind), last))
    return np.concatenate(candidates), np.concatenate(present)


def _choices(jobs: _Jobs, declines: BoolArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the choice of every job asked about."""
    choice = np.full(len(jobs.user), DECLINED)
    rest = np.flatnonzero(~declines)
    answered = _habits(jobs.take(rest), counts, rng)
    exchange(jobs.work[rest], answered, SHARES[:DECLINED] * jobs.work.sum())
    choice[rest] = answered
    return choice


def _habits(jobs: _Jobs, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Return choices other than declined, alike for one user and width as far as the numbers allow."""
    _, habit = np.unique(np.stack([jobs.user, jobs.width]), axis=1, return_inverse=True)
    habit = habit.reshape(-1)
    size = np.maximum(np.bincount(habit), 1)
    choice = np.full(len(habit), YES)

    def ranked(places: IntArray, values: FloatArray) -> IntArray:
        means = np.log1p(np.bincount(habit, values, len(size)) / size)
        scores = means + NOISE * rng.standard_normal(len(size))
        return places[np.argsort(-scores[habit[places]], kind="stable")]

    places = ranked(np.arange(len(habit)), jobs.run)[counts[YES] :]
    places = ranked(np.sort(places), jobs.work)
    heavy = counts[list(HEAVY)].sum()
    for part, choices in ((places[:heavy], HEAVY), (places[heavy:], LIGHT)):
        mixed = part[np.argsort(rng.random(len(size))[habit[part]], kind="stable")]
        choice[mixed] = np.repeat(choices, counts[list(choices)])
    return choice


def _intervals(run: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the minutes between checkpoints of jobs with these run times (0: unknown)."""
    numbers = largest_remainder(len(run), tuple(INTERVALS.values()))
    minutes = rng.permutation(np.repeat(np.array(tuple(INTERVALS), float), numbers))
    known = np.flatnonzero(run > 0)
    result = minutes.copy()
    own = np.sort(minutes[known])
    by_run = known[np.argsort(run[known], kind="stable")]
    seconds = run[by_run]
    fine, coarse = round(FINE_SHARE * len(known)), round(COARSE_SHARE * len(known))
    least = np.inf
    for step, too_long in itertools.product(range(21), (0, len(known) - coarse)):
        kept = len(known) - too_long  # the longest intervals to the shortest run times, the others as is best
        others = _given_out(own[:kept], seconds[too_long:], min(fine * step // 20, kept))
        given = np.concatenate([own[kept:], others])
        ratio = 60.0 * given / seconds
        miss = abs((ratio <= 1 / FINE_RATIO).sum() - fine) + abs((ratio < 1 / COARSE_RATIO).sum() - coarse)
        if miss < least:
            least = miss
            result[by_run] = given
    return result


def _given_out(minutes: FloatArray, seconds: FloatArray, fine: int) -> FloatArray:
    """Give sorted intervals to sorted run times: as many as can be within a bound of their own.

    The ``fine`` shortest intervals need 50 times their length, the others more than 4 times. Each run time, from the
    shortest, takes the least need that it meets; run times that meet none get the largest needs.
    """
    needs = 60.0 * minutes * np.where(np.arange(len(minutes)) < fine, FINE_RATIO, np.nextafter(COARSE_RATIO, 5))
    by_need = np.argsort(needs, kind="stable")
    given, short, met = np.empty(len(minutes)), [], 0
    for place, run in enumerate(seconds):
        if run >= needs[by_need[met]]:
            given[place] = minutes[by_need[met]]
            met += 1
        else:
            short.append(place)
    given[short] = minutes[by_need[met:]]
    return given
