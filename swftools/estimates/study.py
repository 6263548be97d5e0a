# SPDX-License-Identifier: BSD-3-Clause
"""study_estimates: how good the estimates of users are, overall and group by group.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import in_order_of
from swftools.cleaning.rules import CANCELLED, FAILED
from swftools.errors import ParameterError
from swftools.estimates.groups import GROUPINGS, groups_of
from swftools.estimates.measures import decreases, inaccuracy, is_studied, reasons, used_shares
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_html import ShowsItself, chief_columns
from swftools.parameters import is_whole
from swftools.trace import FloatArray, Trace

PERCENTILES = (10, 25, 50, 75, 90)

REQUESTED, ESTIMATED = "requested", "estimated"
"""Of what the inaccuracy is: equation 5.1 and 5.2."""

COLUMNS = ("of", "grouped_by", "group", "jobs", "mean", *(f"p{each}" for each in PERCENTILES), "mean_used", "used_all")

ALL = "all"


@dataclass(frozen=True, eq=False, repr=False)
class EstimateStudy(ShowsItself):
    """How good estimates are; prints as three lines, and in a notebook with its first groups.

    Parameters
    ----------
    jobs : int
        Of the trace.
    left_out : mapping of str to int
        How many jobs are not studied, by reason.
    inaccuracy : pandas.DataFrame
        A row for each group: ``of`` (requested; estimated, where estimates were given), ``grouped_by`` (all, user,
        queue, size, requested-time), ``group``, ``jobs``, ``mean`` inaccuracy and its percentiles, ``mean_used`` (run
        time over what was said) and ``used_all`` (jobs that ran as long as was said, or longer).
    used : pandas.DataFrame
        The distribution of run time / requested time: ``used_from``, ``used_to``, ``jobs``, ``share``.
    requests : pandas.DataFrame
        The requested times that most jobs have: ``requested_time`` (s), ``jobs``, ``share``, ``cumulative_share``.
    longer : int
        Jobs that ran longer than requested.
    used_all_unfinished : int
        Of those that used all of their request or more, how many failed or were cancelled (status 0 and 5).
    answers : pandas.DataFrame
        Where estimates were given, a row each of those that are the ``same`` as the request, ``less``, ``more``, and
        ``all``: ``jobs``, ``mean_decrease`` (a share of the request), inaccuracy as ``requested`` and
        ``estimated``, and ``outlived`` (jobs that ran longer than estimated). Else empty.
    decreases : pandas.DataFrame
        The distribution of the decrease of those that are less. Else empty.
    """

    jobs: int
    left_out: Mapping[str, int]
    inaccuracy: pd.DataFrame
    used: pd.DataFrame
    requests: pd.DataFrame
    longer: int
    used_all_unfinished: int
    answers: pd.DataFrame
    decreases: pd.DataFrame

    @property
    def studied(self) -> int:
        """Jobs whose request and run time are known."""
        return self.jobs - sum(self.left_out.values())

    @property
    def used_all(self) -> int:
        """Jobs that ran as long as requested or longer: killed there, or exact; the log does not say which."""
        return int(self.used["jobs"].iloc[-2:].sum())

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it in types that JSON holds."""
        tables = ("inaccuracy", "used", "requests", "answers", "decreases")
        return {
            "jobs": self.jobs,
            "studied": self.studied,
            "left_out": dict(self.left_out),
            "used_all": self.used_all,
            "longer": self.longer,
            "used_all_unfinished": self.used_all_unfinished,
            **{name: getattr(self, name).to_dict("records") for name in tables},
        }

    def _lines(self) -> list[str]:
        first = f"EstimateStudy: {counted(self.studied, 'job')} studied of {self.jobs:,}"
        if not self.studied:
            return [first]
        whole = self.inaccuracy.iloc[0]
        most = self.requests.iloc[0]
        said = [
            f"inaccuracy of requests {percent(whole['mean'], digits=1)} in the mean, "
            f"{percent(whole['p50'], digits=1)} in the median"
        ]
        every = self.answers.set_index("answer").reindex([ALL]).iloc[0]
        if every["jobs"] > 0:
            said.append(f"of estimates {percent(every[ESTIMATED], digits=1)} in the mean")
        used = f"{percent(self.used_all, self.studied)} used all of their request or more"
        return [
            first,
            ", ".join(said),
            f"{used}, most ask for {duration(most['requested_time'])} ({percent(most['share'], digits=1)})",
        ]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        names = ("of", "grouped_by", "group", "jobs", "mean", "p50", "used_all")
        return chief_columns(self.inaccuracy.round(4), names), len(self.inaccuracy)


def study_estimates(trace: Trace, estimated: npt.ArrayLike | None = None, *, most_used: int = 20) -> EstimateStudy:
    """Study how good requested times are, and other estimates too.

    Parameters
    ----------
    trace : Trace
        Its requested times, run times, widths, users, queues and statuses are used. Left out are jobs whose request is
        missing or 0, those without a run time, and those that were cancelled before they ran (status 5, run time
        0). Jobs that were cancelled while they ran are in, and so are those that failed at once.
    estimated : array of float, shape (jobs,), optional
        Estimates that users gave for the same jobs without being killed for it, s, in the order of ``trace.jobs``:
        answers to a survey, or those of ``swftools.models.tighten_requests``. NaN means no answer.
    most_used : int
        How many of the most frequent requested times to list.

    Returns
    -------
    EstimateStudy
        With its tables.

    Raises
    ------
    ParameterError
        There is not one estimate a job, one is not above 0, or ``most_used`` is not a number from 1 on.

    References
    ----------
    Lee 2009, section 5.3.1.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], requested_time=[3600, 3600, 600], run_time=[360, 3600, -1])
    >>> study_estimates(trace)
    EstimateStudy: 2 jobs studied of 3
    inaccuracy of requests 45.0 % in the mean, 45.0 % in the median
    50 % used all of their request or more, most ask for 60 min (100 %)
    """
    if not is_whole(most_used, 1):
        raise ParameterError(f"study_estimates: most_used={most_used!r} is not an integer of 1 or more")
    given = _checked(estimated, trace.jobs.index)
    known, arrays = is_studied(trace), trace.views
    requested, run_time, status = arrays.requested_time[known], arrays.run_time[known], arrays.status[known]
    groups = [(ALL, [ALL], np.zeros(len(requested), np.int64))]
    some = trace.with_jobs(trace.jobs[known])
    groups += [(name, *groups_of(some, name)) for name in GROUPINGS]
    rows = list(_rows(REQUESTED, requested, run_time, groups))
    answers, lessened = _no_answers()
    if given is not None:
        said = given[known]
        rows += _rows(ESTIMATED, said, run_time, groups)
        answers, lessened = _answers(requested, run_time, said)
    used = run_time / requested
    unfinished = (status == FAILED) | (status == CANCELLED)
    return EstimateStudy(
        jobs=len(trace),
        left_out={reason: int(which.sum()) for reason, which in reasons(trace).items()},
        inaccuracy=pd.DataFrame(rows, columns=list(COLUMNS)),
        used=used_shares(used),
        requests=_most_used(requested, most_used),
        longer=int((used > 1).sum()),
        used_all_unfinished=int(((used >= 1) & unfinished).sum()),
        answers=answers,
        decreases=lessened,
    )


def _checked(estimated: npt.ArrayLike | None, index: pd.Index[Any]) -> FloatArray | None:
    """Return estimates as an array; refuse those that are none."""
    if estimated is None:
        return None
    try:
        values = np.asarray(in_order_of(index, estimated, "study_estimates: estimated"))
        given = pd.Series(values).to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"study_estimates: estimated are not seconds: {error}") from error
    if len(given) != len(index):
        raise ParameterError(
            f"study_estimates: {len(given):,} estimates for {len(index):,} jobs; give each one, or NaN"
        )
    if (wrong := np.flatnonzero(~np.isnan(given) & ~((given > 0) & (given < np.inf)))).size:
        raise ParameterError(
            f"study_estimates: the estimate of row {wrong[0]} is {given[wrong[0]]:g} s; give a time above 0, or NaN"
        )
    return given


def _rows(
    of: str, said: FloatArray, run_time: FloatArray, groups: list[tuple[str, list[str], Any]]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each group that has jobs of which something is said."""
    is_said = ~np.isnan(said)
    off, used = inaccuracy(said, run_time), run_time / said
    for grouped_by, words, place in groups:
        order = np.argsort(place[is_said], kind="stable")
        rows = np.flatnonzero(is_said)[order]
        ends = np.cumsum(np.bincount(place[is_said], minlength=len(words)))
        for group, members in zip(words, np.split(rows, ends)[:-1], strict=True):
            if not members.size:
                continue
            percentiles = np.percentile(off[members], PERCENTILES)
            yield {
                "of": of,
                "grouped_by": grouped_by,
                "group": group,
                "jobs": len(members),
                "mean": float(off[members].mean()),
                **{f"p{each}": float(value) for each, value in zip(PERCENTILES, percentiles, strict=True)},
                "mean_used": float(used[members].mean()),
                "used_all": int((used[members] >= 1).sum()),
            }


def _most_used(requested: FloatArray, most: int) -> pd.DataFrame:
    """Return the requested times of most jobs, of equally many the shorter first."""
    times, jobs = np.unique(requested, return_counts=True)
    order = np.lexsort((times, -jobs))[:most]
    share = jobs[order] / max(len(requested), 1)
    return pd.DataFrame(
        {"requested_time": times[order], "jobs": jobs[order], "share": share, "cumulative_share": np.cumsum(share)}
    )


_ANSWERS = ("answer", "jobs", "mean_decrease", REQUESTED, ESTIMATED, "outlived")


def _no_answers() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables where no estimates were given."""
    return pd.DataFrame(columns=list(_ANSWERS)), decreases(np.zeros(0)).iloc[:0]


def _answers(requested: FloatArray, run_time: FloatArray, said: FloatArray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what became of requests when users were asked again, and by how much they cut."""
    decrease = (requested - said) / requested
    kinds = {"same": said == requested, "less": said < requested, "more": said > requested, ALL: ~np.isnan(said)}
    measured = {"mean_decrease": decrease, REQUESTED: inaccuracy(requested, run_time)}
    measured |= {ESTIMATED: inaccuracy(said, run_time)}
    rows = [
        {
            "answer": kind,
            "jobs": int(which.sum()),
            **{name: float(each[which].mean()) if which.any() else np.nan for name, each in measured.items()},
            "outlived": int((run_time > said)[which].sum()),
        }
        for kind, which in kinds.items()
    ]
    return pd.DataFrame(rows, columns=list(_ANSWERS)), decreases(decrease[kinds["less"]])
