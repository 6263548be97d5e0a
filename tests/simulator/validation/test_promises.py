# SPDX-License-Identifier: BSD-3-Clause
"""Each promise of a policy is broken on purpose, and what cannot be checked is said."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator.validation.report import validate
from swftools.simulator.validation.reservations import PlanningManner, Starts, promised_starts
from tests.drawn import draw_schedule
from tests.simulator.validation.faults import (
    CHANGES,
    broken,
    sound,
)

HEADINGS = "submit width run request start"

# ---------------------------------------------------------------- promises


def test_fcfs_starts_in_order() -> None:
    """A job that starts before one submitted earlier breaks the order; equal submissions go by job number."""
    assert {} == broken(draw_schedule(f"{HEADINGS} / 0 4 9 9 0 / 0 4 9 9 9 / 0 1 1 1 18", policy="fcfs"))
    assert {"order": [3]} == broken(
        draw_schedule(f"{HEADINGS} / 0 4 9 9 0 / 0 4 9 9 10 / 0 4 1 1 9", policy="fcfs", processors=4)
    )


def test_first_waiting_job_does_not_idle() -> None:
    """The first waiting job waits for processors only, under policies that promise so."""
    table = f"{HEADINGS} / 0 3 10 10 0 / 0 2 5 5 11"
    assert {"no-idle-head": [2]} == broken(draw_schedule(table, policy="fcfs"))
    row = validate(draw_schedule(table, policy="fcfs")).violations.iloc[0]
    assert 10.0 == row["time"]
    assert {} == broken(draw_schedule(f"{HEADINGS} / 0 3 10 10 0 / 0 2 5 5 10", policy="fcfs"))
    assert {} == broken(draw_schedule(f"{HEADINGS} / 0 3 10 10 0 / 0 2 5 5 11", policy=""))


DELAYED = """
submit width run request start
0      3     10  10      0
1      4     5   5       12
2      1     10  10      2
"""


@pytest.mark.parametrize("policy", ["easy", "sjf-backfill"])
def test_head_is_not_delayed(policy: str) -> None:
    """A job that goes ahead and outlasts the head's reservation breaks it; one that is done by then does not."""
    assert {"head-reservation": [2], "backfilling": [2]} == broken(draw_schedule(DELAYED, policy=policy))
    assert 10.0 == validate(draw_schedule(DELAYED, policy=policy)).violations["time"].iloc[0]
    assert {} == broken(draw_schedule(f"{HEADINGS} / 0 3 10 10 0 / 1 4 5 5 10 / 2 1 8 8 2", policy=policy))
    assert {} == broken(draw_schedule(f"{HEADINGS} / 0 3 10 10 0 / 1 3 5 5 10 / 2 1 10 10 2", policy=policy))


def test_overtaking_at_the_very_instant_is_seen() -> None:
    """A job that starts at the instant at which the head is blocked may not delay it, if it is known to be later.

    Two jobs are submitted at 1 s: with one decision an instant the third goes ahead wrongly; if it is decided after
    each event, the schedule does not say what ran before.
    """
    table = f"{HEADINGS} / 0 3 10 10 0 / 1 4 5 5 11 / 1 1 10 10 1"
    assert {"head-reservation": [2]} == broken(draw_schedule(table, policy="easy"))
    assert {} == broken(draw_schedule(table, policy="easy", semantics="pyss"))
    assert {} == broken(draw_schedule(table, policy="easy", semantics=None))


def test_an_early_end_brings_the_reservation_forward() -> None:
    """Later overtaking is held against the reservation of that moment: the first promise is kept, the second is not."""
    table = f"{HEADINGS} / 0 2 10 10 0 / 0 2 4 20 0 / 1 4 5 5 16 / 6 2 10 10 6"
    assert {"backfilling": [3]} == broken(draw_schedule(table, policy="easy"))


def test_the_request_is_what_is_promised_by() -> None:
    """The reservation counts on requests, not on run times."""
    assert {} == broken(draw_schedule(f"{HEADINGS} / 0 3 10 20 0 / 1 4 5 5 14 / 2 1 12 12 2", policy="easy"))


def test_a_job_that_outlives_its_estimate_excuses() -> None:
    """What a job that runs longer than estimated delays is no broken promise."""
    report = validate(draw_schedule(f"{HEADINGS} / 0 3 15 10 0 / 1 4 5 5 15 / 2 1 5 5 2", policy="easy"))
    assert report.ok
    assert "head-reservation: 1 promises, 1 excused: a job outlived its estimate" in report.notes
    report = validate(draw_schedule(f"{HEADINGS} / 0 3 15 10 0 / 1 4 5 5 15 / 2 1 5 5 20", policy="conservative"))
    assert report.ok
    assert "reservation: 3 promises, 2 excused: a job outlived its estimate" in report.notes


CONSERVATIVE = """
submit width run request start
0      3     10  10      0
1      4     5   5       10
2      2     5   5       15
3      1     {}   {}       {}
"""


@pytest.mark.parametrize(
    ("policy", "promise"),
    [
        ("conservative", "reservation"),
        ("conservative-fixed", "fixed-reservation"),
        ("conservative-replanned", "exact-reservation"),
    ],
)
def test_no_reservation_is_broken(policy: str, promise: str) -> None:
    """A job starts no later than promised at its submission, under all semantics."""
    for semantics in ("instant", "pyss", None):
        keeps = draw_schedule(CONSERVATIVE.format(7, 7, 3), policy=policy, semantics=semantics)
        assert {} == broken(keeps)
        late = draw_schedule(CONSERVATIVE.format(7, 7, 20), policy=policy, semantics=semantics)
        assert {promise: [4]} == broken(late)
        assert 3.0 == validate(late).violations["time"].iloc[0]
        behind = draw_schedule(CONSERVATIVE.format(8, 8, 15), policy=policy, semantics=semantics)
        assert {} == broken(behind)


def test_an_early_end_frees_reservations() -> None:
    """With compression a later job is promised what an early end left over; without, it is not."""
    table = HEADINGS + " / 0 4 5 10 0 / 1 3 5 5 5 / 6 2 5 5 {}"
    assert {} == broken(draw_schedule(table.format(10), policy="conservative"))
    assert {"reservation": [3]} == broken(draw_schedule(table.format(12), policy="conservative"))
    late = draw_schedule(f"{HEADINGS} / 0 4 5 10 0 / 1 3 5 5 10 / 6 2 9 9 15", policy="conservative-fixed")
    assert {} == broken(late)


def test_what_cannot_be_checked_is_said() -> None:
    """A report says why promises were not checked."""
    table = f"{HEADINGS} / 0 3 5 10 0 / 1 4 5 5 10"
    for policy, note in {
        "": "promises not checked: the policy is not known",
        "mine": "promises not checked: none is known of policy 'mine'",
        "conservative": "promises not checked: those of conservative depend on the semantics; pass semantics=",
        "conservative-replanned": "promises not checked: conservative-replanned keeps reservations only with exact "
        "estimates above 0 s",
    }.items():
        report = validate(draw_schedule(table, policy=policy, semantics=None))
        assert report.ok
        assert note in report.notes
    assert "promises not checked: the rules above are broken" in validate(CHANGES["longer"][0](sound())).notes


def promises_of(table: str, **manner: bool) -> list[float]:
    """Return the start that each job of a table is promised on four processors."""
    rows = np.array([line.split() for line in table.strip().splitlines()], dtype=np.float64)
    submit, start, run, width, request = np.ascontiguousarray(rows.T)
    turn = np.argsort(np.argsort(start, kind="stable"))
    starts = Starts(submit, start, start + run, width.astype(np.int64), request, turn)
    return promised_starts(starts, PlanningManner(4, submissions_first=False, **manner)).tolist()


EMPTY_JOB = """
    0   0  10 2 10
    0   0  3  1 3
    1   10 5  4 5
    2   2  0  1 4
    2   3  6  2 6
    2   15 3  1 3
    2.5 9  1  2 1
"""
"""Submission, start, run time, width and request of jobs; the fourth is over as it starts."""


def test_who_forgets_plans_those_who_wait_from_nothing() -> None:
    """Once the empty job has gone the fifth fits from 3 s to 9 s; left where it is the sixth would be in its way.

    So the last one is promised what the fifth leaves over, and not the place of the sixth.
    """
    assert promises_of(EMPTY_JOB, compresses=True, forgets=True) == [0, 0, 10, 2, 15, 3, 9]
    assert promises_of(EMPTY_JOB, compresses=True) == [0, 0, 10, 2, 15, 3, 3]


def test_who_does_not_forget_keeps_its_plans_behind_an_empty_job() -> None:
    """Two jobs wait for the whole machine; an empty one between them ends, and the second is promised the end."""
    waiting = "0 0 10 3 10 \n 1 10 5 4 5 \n 2 2 0 1 4 \n 3 15 5 4 5"
    assert promises_of(waiting, compresses=False) == [0, 10, 2, 15]
    assert promises_of(waiting, compresses=True) == [0, 10, 2, 15]


def test_nothing_is_forgotten_where_no_job_ends() -> None:
    """The plan of the first that waits stands when the second comes."""
    assert promises_of("0 0 10 3 10 \n 1 10 5 4 5 \n 3 15 5 4 5", compresses=True, forgets=True) == [0, 10, 15]
