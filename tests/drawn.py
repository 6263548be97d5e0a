"""Traces drawn by hand: a small table of text in, a small table of text out.

A table has a line of headings (any of ``HEADINGS``) and a line a job; ``.`` is a missing value. ``flags`` shows
the flags that a job has, without ``is_`` and joined by commas, ``-`` for none.
"""

from __future__ import annotations

import io

import pandas as pd

from swftools import Trace, read_swf
from swftools.fields.jobs import SWF_NAMES

HEADINGS = {
    "job": "job_number",
    "submit": "submit_time",
    "wait": "wait_time",
    "run": "run_time",
    "given": "allocated_processors",
    "cpu": "average_cpu_time",
    "asked": "requested_processors",
    "request": "requested_time",
    "status": "status",
    "user": "user_id",
    "group": "group_id",
    "queue": "queue_id",
    "occurrence": "job_occurrence",
    "line": "line_number",
    "extra": "extra_fields",
    "width": "width",
}


def draw(table: str, *, header: str = "") -> Trace:
    """Read a table of jobs as the log that it would be; its first line stands behind those of the header."""
    headings, *rows = [line.split() for line in table.strip().splitlines()]
    lines = [f"; {line}" for line in header.splitlines()]
    for row in rows:
        cells = dict(zip(headings, row, strict=True))
        extra = cells.pop("extra", ".")
        values = {HEADINGS[heading]: "-1" if cell == "." else cell for heading, cell in cells.items()}
        lines.append(" ".join([*(values.get(name, "-1") for name in SWF_NAMES), *([] if extra == "." else [extra])]))
    return read_swf(io.BytesIO("\n".join(lines).encode()))


def drawn(trace: Trace, table: str) -> list[list[str]]:
    """Return the jobs of a trace as the rows of a table with the headings of another."""
    headings = table.strip().splitlines()[0].split()
    return [headings, *([_cell(job, heading) for heading in headings] for _, job in trace.jobs.iterrows())]


def rows_of(table: str) -> list[list[str]]:
    """Return the rows of a table."""
    return [line.split() for line in table.strip().splitlines()]


def _cell(job: pd.Series, heading: str) -> str:
    if heading == "flags":
        names = [name.removeprefix("is_") for name, value in job.items() if str(name).startswith("is_") and value]
        return ",".join(names) or "-"
    value = job[HEADINGS[heading]]
    return "." if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)
