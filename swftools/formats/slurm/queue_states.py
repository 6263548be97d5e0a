# SPDX-License-Identifier: BSD-3-Clause
"""What the states and the reasons of jobs in a queue say: who holds processors, who waits, and who waits for a person.

References
----------
squeue(1), "Job state codes"; Slurm's page "Job Reason Codes" of versions 20 to 25.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

RUNNING = frozenset(
    {
        *("RUNNING", "R", "COMPLETING", "CG", "CONFIGURING", "CF", "STOPPED", "ST", "RESIZING", "RS"),
        *("SIGNALING", "SI"),
    }
)
"""States of jobs that hold processors. A stopped job keeps them, a suspended one does not."""

ENDING = frozenset({"COMPLETING", "CG"})
"""States of jobs that hold processors, and are about to give them back."""

SUSPENDED = frozenset({"SUSPENDED", "S"})
"""States of jobs that began, and whose processors are free for others until they go on."""

WAITING = frozenset({"PENDING", "PD"})
"""States of jobs that wait to be started. REQUEUED is no such: in ``sacct`` it is an earlier life of a job."""

HELD = frozenset({"REQUEUE_HOLD", "RH", "SPECIAL_EXIT", "SE", "RESV_DEL_HOLD", "RD"})
"""States of jobs that wait, and that only a person lets go on."""

_IN_LISTS = ("COMPLETING", *sorted(HELD), "STOPPED", "SUSPENDED")
"""Of the words of a state that say several things at once, those that decide; else the first does."""

_FOR_A_PERSON = frozenset(
    {
        *("jobheldadmin", "jobhelduser", "jobholdmaxrequeue", "dependencyneversatisfied", "badconstraints"),
        *("partitiondown", "partitioninactive", "partitionconfig", "partitionnodelimit", "partitiontimelimit"),
        *("accountnotallowed", "qosnotallowed", "invalidaccount", "invalidqos", "maxmemperlimit", "deadline"),
        *("reservationdeleted",),
    }
)
"""Reasons that go away only if a person changes the job, its account or its partition."""

_LIMITS_OF_ONE_JOB = re.compile(r"(assoc|qos)max\w*per(job|node)(limit)?|qosmin\w*|.*\bheld\b.*")
"""The job is larger, or smaller, than a job may be; or it is held after it failed (``launch failed requeued held``)."""

_FOR_PROCESSORS = frozenset({"", "none", "null", "priority", "resources", "nodes required for job are down"})
"""Reasons of jobs that start as soon as it is their turn and there are processors (on nodes that they may use)."""


def word_of(state: object) -> str:
    """Return the one word that decides of a state, which is a word or a list of words; ``CANCELLED by 7`` is one."""
    words = [str(word).upper() for word in state] if isinstance(state, Iterable) and not isinstance(state, str) else []
    for word in _IN_LISTS:
        if word in words:
            return word
    return words[0] if words else str(state or "").upper().partition(" ")[0]


def bare(reason: str) -> str:
    """Return a reason without brackets and details: ``(ReqNodeNotAvail, UnavailableNodes:n1)`` is ReqNodeNotAvail."""
    return re.split(r"[,(]", reason.strip().removeprefix("("), maxsplit=1)[0].rstrip(") ")


def waits_for_a_person(reason: str, priority: float) -> bool:
    """Whether a job that waits cannot start until somebody does something: its priority is 0, or its reason says so."""
    word = bare(reason).lower()
    return priority == 0 or word in _FOR_A_PERSON or _LIMITS_OF_ONE_JOB.fullmatch(word) is not None


def waits_for_processors(reason: str) -> bool:
    """Whether a job that waits needs nothing else: no other job, no time, no licence, no limit to be free."""
    return bare(reason).lower() in _FOR_PROCESSORS
