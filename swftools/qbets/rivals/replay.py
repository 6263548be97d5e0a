# SPDX-License-Identifier: BSD-3-Clause
"""The replay of a log by a rival: when it is fitted, to which waits, and what each job is told.

All groups are one machine here. Of a log its jobs are kept, and what was predicted of them: what a job of a later
log is told follows from these, since the same jobs make the same model again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.qbets.queue_state import TOO_FEW, TRAINING, Answers, no_answers
from swftools.qbets.rivals.at_submission import Submitted, describe
from swftools.qbets.rivals.registry import Course, Rival

CATEGORIES = 254
"""Groups that models tell apart, the first that were met: scikit-learn's trees take so many and what is missing."""


class KnownJobs(NamedTuple):
    """The jobs submitted so far, what the models in force predicted of them (s), and their groups, as text of JSON."""

    jobs: Submitted
    predicted: FloatArray
    text: npt.NDArray[np.uint8]

    @property
    def names(self) -> list[str]:
        """The names of groups by number."""
        names: list[str] = json.loads(self.text.tobytes())
        return names

    @property
    def last(self) -> float:
        """The last submission, s."""
        return float(self.jobs.submit.max(initial=-np.inf))


def nothing_submitted() -> KnownJobs:
    """Return what is known before any job is submitted."""
    columns = [np.zeros(0, np.int64 if name == "group" else np.float64) for name in Submitted._fields]
    return KnownJobs(Submitted._make(columns), np.zeros(0), _as_text([]))


def check_submitted(known: KnownJobs) -> None:
    """Refuse jobs of a saved file that cannot have been submitted so, by ValueError."""
    jobs, names = known.jobs, known.names
    if len({len(column) for column in (*jobs, known.predicted)}) > 1:
        raise ValueError("columns of several lengths")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("groups without names")
    if (jobs.group < 0).any() or (jobs.group >= len(names)).any():
        raise ValueError("a group that there is not")
    if not np.isfinite(jobs.submit).all() or (jobs.submit[1:] < jobs.submit[:-1]).any():
        raise ValueError("jobs that did not come one after the other")
    if (jobs.wait < 0).any() or (jobs.leave < jobs.submit).any() or (jobs.end < jobs.leave).any():
        raise ValueError("a job that left before it came")
    if any(np.isinf(column).any() for column in (*jobs, known.predicted)):
        raise ValueError("a number that is not finite")


def _as_text(names: list[str]) -> npt.NDArray[np.uint8]:
    """Return names as KnownJobs has them."""
    return np.frombuffer(json.dumps(names).encode(), np.uint8)


def replay_rival(
    rival: Rival,
    training: int,
    before: KnownJobs,
    jobs: Submitted,
    names: list[str],
    tell: Callable[[int], None],
) -> tuple[KnownJobs, Answers]:
    """Submit jobs behind those that were before; return what is known then, and what they are told.

    Parameters
    ----------
    rival : Rival
        What is fitted.
    training : int
        Jobs of a group that start before any of it is told anything.
    before : KnownJobs
        What was submitted before.
    jobs : Submitted
        In order; groups are numbered by ``names``.
    tell : callable
        Takes how many of these are done.
    """
    every = Submitted(*(np.concatenate(pair) for pair in zip(before.jobs, jobs, strict=True)))
    first, count = len(before.predicted), len(every.submit)
    course = course_of(every)
    rows = describe(every)
    rows[every.group >= CATEGORIES, -1] = np.nan
    predicted = np.concatenate([before.predicted, np.full(count - first, np.nan)])
    answers = no_answers(count)
    for begin in fits_of(rival, course.known):
        behind = min(begin + rival.refit_every, count)
        if behind > first:
            known = int(course.known[begin])
            chosen = course.learnt[max(0, known - rival.window) : known]
            new = slice(max(begin, first), behind)
            predicted[new] = rival.fit(rows[chosen], every.wait[chosen]).predict(rows[new])
            answers.kept[new], answers.known[new] = len(chosen), known
            tell(behind - first)
    answers.bound[:] = rival.bounds(predicted, course)
    answers.reason[np.isnan(answers.bound)] = TOO_FEW
    answers.reason[is_training(course, training)] = TRAINING
    return KnownJobs(every, predicted, _as_text(names)), Answers._make(column[first:] for column in answers)


def course_of(jobs: Submitted) -> Course:
    """Return when waits become known: at the first later submission that is not before the start of the job."""
    started = np.flatnonzero(~np.isnan(jobs.wait))
    learnt = started[np.lexsort((started, jobs.leave[started]))]
    asked = np.maximum(np.searchsorted(jobs.submit, jobs.leave[learnt], side="left"), learnt + 1)
    known = np.searchsorted(asked, np.arange(len(jobs.submit)), side="right")
    return Course(jobs.wait, jobs.group, learnt, known)


def fits_of(rival: Rival, known: IntArray) -> range:
    """Return the jobs before which the rival is fitted, given how many waits each knows of."""
    first = int(np.searchsorted(known, rival.first_fit, side="left"))
    return range(first, len(known), rival.refit_every)


def is_training(course: Course, training: int) -> BoolArray:
    """Return whether fewer jobs of its own group had started than are for training, of each job."""
    found = np.zeros(len(course.group), dtype=np.bool_)
    for group in range(int(course.group.max(initial=-1)) + 1):
        members = np.flatnonzero(course.group == group)
        learnt = np.flatnonzero(course.group[course.learnt] == group)
        found[members] = np.searchsorted(learnt, course.known[members], side="left") < training
    return found
