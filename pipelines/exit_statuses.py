# SPDX-License-Identifier: BSD-3-Clause
"""Exit statuses of the console and of luigi's command: one number for each kind of end, listed in docs/console.md."""

from __future__ import annotations

from swftools.errors import (
    JobScriptError,
    JobScriptNotFoundError,
    ParameterError,
    RefusedQuestionError,
    StateNotFoundError,
    SwfToolsError,
    UnknownLogError,
    UnknownRuleError,
    UnsafeNameError,
    VersionNotFoundError,
)

FOUND_FAULTS = 1
"""What was to be checked has faults: ``validate``, ``check-schedule``, ``verify``."""

CANNOT_SAY = 1
"""Looked, and there is no answer: ``predict`` of a job that would be told nothing."""

NOT_FINISHED = 1
"""``status``: cells are left, or nothing is published yet."""

WRONG_COMMAND = 2
"""The command line, or a parameter's value, is wrong."""

LEFT_TOLERANCE = 3
"""``reevaluate`` published, and found what a person should look at."""

UNREAD_INPUT = 4
"""``reevaluate`` published, and could not read all that arrived."""

MISSING_INPUT = 20
"""A log, a schedule, a data set or a version is not there."""

FAILED = 30
"""A task or a command failed."""

INTERRUPTED = 130
"""Ended by Ctrl-C, as shells count it."""

WRONG_VALUES = (ParameterError, UnknownRuleError, UnsafeNameError, JobScriptError, RefusedQuestionError)
"""Errors that mean a wrong value."""

MISSING = (JobScriptNotFoundError, StateNotFoundError, UnknownLogError, VersionNotFoundError)
"""Errors that mean that an input is not there."""


def status_of(error: SwfToolsError) -> int:
    """Return the exit status that an error ends a command with."""
    if isinstance(error, MISSING):
        return MISSING_INPUT
    if isinstance(error, RefusedQuestionError) and error.status >= 500:  # the service knows nothing now
        return FAILED
    return WRONG_COMMAND if isinstance(error, WRONG_VALUES) else FAILED
