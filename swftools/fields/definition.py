# SPDX-License-Identifier: BSD-3-Clause
"""What a column is: name, type, unit, meaning, missing-value rule, SWF position, bounds, and when it is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

INT64 = pa.int64()
FLOAT64 = pa.float64()
STRING = pa.string()
BOOL = pa.bool_()
TIMESTAMP = pa.timestamp("ms", tz="UTC")
_POINT = pa.struct([pa.field("time", FLOAT64, nullable=False), pa.field("value", FLOAT64, nullable=False)])
UTILITY = pa.list_(pa.field("element", _POINT, nullable=False))
INTEGERS = pa.list_(pa.field("element", INT64, nullable=False))
RANGES = pa.list_(pa.field("element", pa.int32(), nullable=False))
"""Ranges of numbers: the first and the last of each, one range behind the other; small, since there is one a run."""

MAX_TIME = 1e10
"""Times beyond this many seconds (317 years) are taken for damage, not data."""

NEVER = "never"
"""The missing-value rule of columns without nulls."""

GENERATED = "generated, not logged"
"""What is said of columns that are generated, wherever columns are described."""

Known = Literal["submission", "start", "end", "never"]
"""When what a column says of a job is known where the job runs: ``never`` is what is ours, or made of the whole log."""


@dataclass(frozen=True)
class Field:
    """One column: name, type, unit, meaning, missing-value rule, SWF position, stage, bounds, and when it is known.

    ``stable_under_growth`` is False where further jobs of a trace give old jobs other values, because the column is
    fitted to the whole trace. ``known`` is when the machine knows it of a job, or could: nobody is told it before. What
    a model drew from a run time, or a wait, is known when these are. ``optional`` columns are in a file only where its
    log tells them: files without them are what they were before there were such columns, so no version is raised.
    ``is_generated`` columns say nothing that was logged: a model, or a survey, made their values.
    """

    name: str
    type: pa.DataType
    unit: str
    meaning: str
    missing: str = "null"
    swf_position: int | None = None
    stage: str = "read"
    maximum: float | None = None
    minimum: float | None = None
    stable_under_growth: bool = True
    optional: bool = False
    is_generated: bool = False
    known: Known = field(kw_only=True)

    @property
    def arrow(self) -> pa.Field:
        """The pyarrow field, with unit, meaning, missing-value rule and what is special as metadata."""
        metadata = {"unit": self.unit, "meaning": self.meaning, "missing": self.missing, "known": self.known}
        if self.swf_position is not None:
            metadata["swf_position"] = str(self.swf_position)
        if not self.stable_under_growth:
            metadata["stable_under_growth"] = "false"
        if self.is_generated:
            metadata["origin"] = GENERATED
        return pa.field(self.name, self.type, nullable=self.missing != NEVER, metadata=metadata)
