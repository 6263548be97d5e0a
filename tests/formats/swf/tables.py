# SPDX-License-Identifier: BSD-3-Clause
"""Logs as text, and what was read of them as small tables: line number and columns of each job, ``-`` for missing."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from swftools import read_swf
from swftools.fields.dictionary import SWF_NAMES
from swftools.trace import Trace

REST = "4 -1 -1 4 90 -1 1 7 3 2 1 1 -1 -1"  # fields 5 to 18
JOB = f"1 0 5 60 {REST}"


def read(text: str | bytes, **options: Any) -> Trace:
    """Read a log's text."""
    return read_swf(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def table(frame: pd.DataFrame, *columns: str) -> str:
    """Return a table as text: a line a row, ``-`` for missing."""
    rows = zip(*(frame[column].tolist() for column in columns), strict=True)
    return "\n".join(" ".join("-" if pd.isna(value) else f"{value:g}" for value in row) for row in rows)


def jobs(trace: Trace, *columns: str) -> str:
    """Return line number, and the first four fields or the columns asked for, of each job."""
    return table(trace.jobs, "line_number", *(columns or SWF_NAMES[:4]))


def rejected(trace: Trace) -> list[tuple[int, str]]:
    """Return line number and reason of each rejected line."""
    return list(zip(trace.quarantine["line_number"].tolist(), trace.quarantine["reason"].tolist(), strict=True))


def drawn(text: str) -> str:
    """Return lines drawn in a test without their indentation."""
    return "\n".join(line.strip() for line in text.strip().splitlines())
