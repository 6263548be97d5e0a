# SPDX-License-Identifier: BSD-3-Clause
"""The columns of reservations by predicted waits in a simulation."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field

_STAGE = "reserve"
_DENIED = "null: it was denied"


def _seconds(name: str, meaning: str, missing: str = NEVER) -> Field:
    """Return a time of a job."""
    return Field(name, FLOAT64, "s", meaning, missing, stage=_STAGE, minimum=0, known="never")


def _share(name: str, meaning: str, missing: str = NEVER) -> Field:
    """Return a probability."""
    return Field(name, FLOAT64, "1", meaning, missing, stage=_STAGE, minimum=0, maximum=1, known="never")


RESERVATIONS = (
    Field("group", STRING, "1", "Whose waits its plan was made of: queue, or all.", NEVER, stage=_STAGE, known="never"),
    _seconds("ask_time", "When the job asked: its submission in the log, in seconds from the start of the log."),
    _seconds("start_by", "When the job was to run at the latest, in seconds from the start of the log."),
    _share("target", "The probability that was asked for."),
    Field("is_accepted", BOOL, "1", "Some submission met the target.", NEVER, stage=_STAGE, known="never"),
    Field("why_denied", STRING, "1", "Why none did.", "null: one did", stage=_STAGE, known="never"),
    _share("probability", "That the job would run in time, as it was told when it asked.", _DENIED),
    _seconds("planned_submit_time", "The submission that was planned then.", _DENIED),
    _share("probability_at_submission", "The same probability when the job was submitted.", _DENIED),
    _seconds("submit_time", "When the job was submitted, in seconds from the start of the log."),
    _seconds("requested_time", "What it requested then, the time until its start among it.", "null: it requests none"),
    Field("processors", INT64, "processors", "That it ran on.", NEVER, stage=_STAGE, minimum=0, known="never"),
    _seconds("start_time", "When it started, in seconds from the start of the log.", "null: it never did"),
    Field(
        "is_met",
        BOOL,
        "1",
        "It had started when it was to run.",
        f"{_DENIED}, or never started",
        stage=_STAGE,
        known="never",
    ),
    _seconds("run_time", "What the job needs by itself."),
    _seconds("surplus_time", "How long it waited on its processors, which is paid; 0 where it was denied."),
)
