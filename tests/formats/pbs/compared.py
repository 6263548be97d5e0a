# SPDX-License-Identifier: BSD-3-Clause
"""Traces of PBS logs beside what the naive reader says, and as one whatever the pieces they were read in."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from swftools import Trace
from swftools.formats.read_log import iter_log, read_log
from tests.naive import pbs as slow

_NAMED = {"user": "user_id", "group": "group_id", "executable": "executable_id", "queue": "queue_id"}


def read(text: bytes, **options: Any) -> Trace:
    """Read a text as a log of PBS, of a server in Greenwich unless it is said otherwise."""
    return read_log(io.BytesIO(text), "pbs", **({"time_zone": "UTC"} | options))


def accounts(trace: Trace) -> tuple[set[int], dict[int, int], set[int]]:
    """Return the lines of jobs, the lines merged into others, and the lines of the quarantine."""
    merged = trace.merged
    assert merged is not None
    into = dict(zip(merged["line_number"].tolist(), merged["into_line_number"].tolist(), strict=True))
    jobs, refused = trace.jobs["line_number"].tolist(), trace.quarantine["line_number"].tolist()
    assert len(jobs) + len(merged) + len(refused) == len({*jobs, *into, *refused})  # no line twice
    return set(jobs), into, set(refused)


def agree(trace: Trace, text: bytes) -> None:
    """Check that a trace says what the naive reader says."""
    log = slow.read(text)
    lines, merged, refused = accounts(trace)
    assert lines == set(log.jobs)
    assert merged == log.merged
    assert refused == log.quarantined
    assert trace.names is not None
    names = {(kind, number): name for kind, number, name in trace.names.itertuples(index=False)}
    origin = math.floor(min((job["submit"] for job in log.jobs.values()), default=0))
    for job in trace.jobs.to_dict("records"):
        wanted = dict(log.jobs[job["line_number"]])
        assert job["submit_time"] == wanted.pop("submit") - origin
        for name, value in wanted.items():
            told = job.get(_NAMED.get(name, name))
            if name in _NAMED and not pd.isna(told):
                told = names[name, told]
            if value in (None, ""):
                assert pd.isna(told), (job["line_number"], name, told)
            elif isinstance(value, str):
                assert _utf8(str(told)) == _utf8(value), (job["line_number"], name)
            else:
                assert told is not None, (job["line_number"], name)
                assert np.isclose(told, value, rtol=1e-14), (job["line_number"], name, told, value)


def _utf8(text: str) -> str:
    """Return what was read as Latin-1 as the UTF-8 that it may be."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def in_pieces(path: Path, chunk_bytes: int, **options: Any) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return jobs, merged lines and quarantine of a log that is read in pieces, in the order of ``read_log``."""
    parts = list(iter_log(path, "pbs", chunk_bytes=chunk_bytes, **({"time_zone": "UTC"} | options)))
    jobs = pd.concat([part.jobs for part in parts if len(part)] or [parts[0].jobs], ignore_index=True)
    merged = pd.concat([part.merged for part in parts if part.merged is not None], ignore_index=True)
    quarantine = pd.concat([part.quarantine for part in parts], ignore_index=True)
    return (
        jobs.sort_values("job_number", ignore_index=True),
        merged.sort_values("line_number", ignore_index=True),
        quarantine.sort_values("line_number", ignore_index=True),
    )


def same_in_pieces(path: Path, whole: Trace, chunk_bytes: int, **options: Any) -> None:
    """Check that a log read in pieces is the same log."""
    jobs, merged, quarantine = in_pieces(path, chunk_bytes, **options)
    columns = [name for name in whole.jobs if name in jobs]
    assert all(jobs[name].isna().all() for name in jobs if name not in columns)
    assert all(whole.jobs[name].isna().all() for name in whole.jobs if name not in columns) or not len(jobs)
    pd.testing.assert_frame_equal(jobs[columns], whole.jobs[columns], check_dtype=False)
    pd.testing.assert_frame_equal(merged, whole.merged, check_dtype=False)
    pd.testing.assert_frame_equal(quarantine, whole.quarantine, check_dtype=False)
