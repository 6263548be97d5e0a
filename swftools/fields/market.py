# SPDX-License-Identifier: BSD-3-Clause
"""The columns of prices of finished schedules."""

from __future__ import annotations

from swftools.fields.definition import FLOAT64, NEVER, STRING, Field
from swftools.fields.jobs import JOBS

_STAGE = "price"

PRICES = (
    Field("mechanism", STRING, "1", "Price mechanism, with its parameters.", NEVER, stage=_STAGE, known="never"),
    next(field for field in JOBS if field.name == "user_id"),
    Field(
        "processor_hours",
        FLOAT64,
        "processor hours",
        "What the job used, of all its work that counts.",
        NEVER,
        stage=_STAGE,
        minimum=0,
        known="never",
    ),
    Field(
        "utility_got",
        FLOAT64,
        "value",
        "What the job was worth to its user at the turnaround that it got.",
        "null: it has no utility function",
        stage=_STAGE,
        minimum=0,
        known="never",
    ),
    Field(
        "price",
        FLOAT64,
        "value",
        "What its user owes for the job.",
        "null: it has no price, and no_price says why",
        stage=_STAGE,
        known="never",
    ),
    Field("no_price", STRING, "1", "Why the job has no price.", "null: it has one", stage=_STAGE, known="never"),
)
