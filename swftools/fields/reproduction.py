# SPDX-License-Identifier: BSD-3-Clause
"""The columns of papers' values beside ours, and of what experiments measured."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field

_STAGE = "reproduce"


def _word(name: str, meaning: str, missing: str = NEVER) -> Field:
    """Return a column of words."""
    return Field(name, STRING, "1", meaning, missing, stage=_STAGE, known="never")


def _value(name: str, meaning: str, missing: str, unit: str = "column unit") -> Field:
    """Return a column of values."""
    return Field(name, FLOAT64, unit, meaning, missing, stage=_STAGE, known="never")


REPRODUCTION = (
    _word("paper", "Short name of the paper, such as nurmi2009."),
    _word("place", "Where the paper prints it: Table 4.1, Section 4.3.3, ...; or ours alone."),
    _word("row", "Row of the table, as printed: a log and a queue, a policy, ..."),
    _word("column", "Column of the table, as printed; or a statement of the paper in words of our own."),
    _word("unit", "Of the values."),
    _word("reading", "How we read the paper where it can be read in several ways."),
    Field(
        "is_chosen", BOOL, "1", "The reading that we chose; others stand beside it.", NEVER, stage=_STAGE, known="never"
    ),
    _word("printed", "The value as the paper prints it.", "null: it prints none"),
    _value("published", "The same as a number.", "null: it prints none, or no number"),
    _value("ours", "What we measured.", "null: it could not be measured"),
    _value("spread", "Standard error of ours, or its standard deviation over seeds.", "null: not known"),
    _value("difference", "ours - published.", "null: one of them is missing"),
    _value("ratio", "ours / published.", "null: one of them is missing, or published is 0", "1"),
    _word("rule", "When the value counts as reproduced.", "null: it cannot be compared"),
    Field(
        "is_reproduced",
        BOOL,
        "1",
        "Ours is as the rule demands.",
        "null: it cannot be compared",
        stage=_STAGE,
        known="never",
    ),
    _word("definition", "What is measured."),
    _word("note", "Why ours is another, as far as we know; or why it cannot be compared.", "null: nothing to say"),
)

MEASUREMENTS = (
    _word("paper", "Short name of the paper whose experiment it is."),
    _word("log", "Name of the log."),
    _word("experiment", "The experiment with its parameters, as NAME:KEY=VALUE."),
    Field("seed", INT64, "1", "Seed of its random draws.", NEVER, stage=_STAGE, minimum=0, known="never"),
    _word("subject", "What was measured: a queue, a policy, ..."),
    _word("x", "Where a measure is a curve: at which month, error, load, ...; else empty."),
    _word("measure", "Name of the measure."),
    _value("value", "The value.", "null: there is none"),
    _word("unit", "Unit of the value."),
)
