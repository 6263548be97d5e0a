# SPDX-License-Identifier: BSD-3-Clause
"""Philly: jobs that train neural networks on GPUs of Microsoft, 2017, a list of JSON (Jeon et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swftools.formats.accounting.records import Records
from swftools.formats.registry import register_format
from swftools.formats.tables.columns import TEXT, column
from swftools.formats.tables.json_rows import Row, column_of
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.table_format import TableFormat

_OTHER_WIDTH = "attempts of other widths than the last one, which counts"


@register_format
@dataclass(frozen=True)
class Philly(TableFormat):
    """Jobs of Microsoft's Philly, each with its attempts to run."""

    NAME = "philly"
    TITLE = "Philly, GPU clusters of Microsoft"
    COMMAND = "cluster_job_log, from msr-fiddle/philly-traces"
    NOTES = ("Processors are GPUs. The run time is that of all attempts, without what lies between them.",)
    KEYS = ("status", "vc", "jobid", "attempts", "submitted_time", "user")
    COLUMNS = {
        "log_id": column("jobid"),
        "submit": column("submitted_time", needed=True),
        "state": column("status", needed=True),
        "user": column("user"),
        "partition": column("vc"),
    }
    STATES = {"PASS": 1, "KILLED": 5, "FAILED": 0, "RUNNING": None}
    ZONE = "America/Los_Angeles"
    JOB = "An object of the list. Its attempts are one job: the wait is that of the first, the run time the sum, `restarts` the rest."
    WIDTH = "The GPUs of the last attempt; other widths of attempts before are counted."
    MACHINE = "A virtual cluster (`vc`) is the partition."
    TRIED = "The one job that the data set's page shows."
    TRAPS = (
        'Missing values are "None" or null. A job whose last attempt has no end was running: quarantined.',
        "An attempt before the last without a start or an end is an error of the log, and its job is quarantined.",
        "Times are wall clocks in Pacific Time.",
        "Jobs are told by their number in the list, not by lines.",
    )
    LICENCE = "The first job of the example, of its GPUs two: Microsoft, philly-traces, CC BY 4.0; cite Jeon et al. 2019. The second is made up."
    EXAMPLE = """\
[{"status": "Pass", "vc": "ee9e8c", "jobid": "application_1506638472019_14199", "attempts": [
{"start_time": "2017-10-07 01:12:09", "end_time": "2017-10-07 01:13:23", "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}]},
{"start_time": "2017-10-07 01:13:30", "end_time": "2017-10-09 06:53:12", "detail": [{"ip": "m412", "gpus": ["gpu0", "gpu1"]}]}],
"submitted_time": "2017-10-07 01:11:39", "user": "ce2f4c"},
{"status": "Killed", "vc": "ee9e8c", "jobid": "application_2", "attempts": [], "submitted_time": "2017-10-07 01:12:00", "user": "a"}]
"""

    def adapt(self, sheet: Sheet, records: Records, rows: Sequence[Row]) -> None:  # noqa: ARG002 (as the base has it)
        """Make of the attempts of each job its start, its end, its run time and its width."""
        attempts = [_attempts(row) for row in rows]
        owner = np.array([job for job, tries in enumerate(attempts) for _ in tries], np.int64)
        last = np.array([number == len(tries) - 1 for tries in attempts for number in range(len(tries))], bool)
        start, end = (
            column_of([each.get(name) for tries in attempts for each in tries]).moments(TEXT, 1.0, self.zone, ())
            for name in ("start_time", "end_time")
        )
        is_bad = start.is_bad | end.is_bad
        lacks = ~np.isfinite(start.early) | (~np.isfinite(end.late) & ~last)
        run = np.where(end.early < start.early, end.late, end.early) - start.early
        width = np.array([_gpus(each) for tries in attempts for each in tries], np.float64)
        nodes = np.array([_hosts(each) for tries in attempts for each in tries], np.float64)
        count = len(records)
        tries_of = np.bincount(owner, minlength=count)
        records.fault(_any(owner, is_bad, count), "an attempt with a start or an end that is no time")
        records.fault(_any(owner, run < 0, count), "an attempt that ends before its start")
        records.fault(
            _any(owner, last & ~np.isfinite(end.late) & np.isfinite(start.early), count),
            "not ended: its last attempt has no end",
        )
        records.fault(_any(owner, lacks, count), "an attempt without a start or an end")
        records.fault((tries_of == 0) & (records.number("status") == 1), "completed without an attempt")
        first = np.searchsorted(owner, np.arange(count))
        final = np.searchsorted(owner, np.arange(count), "right") - 1
        is_run = tries_of > 0
        nothing = np.full(count, np.nan)
        told: dict[str, Any] = {
            "start": start.early[first[is_run]],
            "end": end.late[final[is_run]],
            "run_time": np.bincount(owner, np.nan_to_num(run), minlength=count)[is_run],
            "restarts": (tries_of - 1.0)[is_run],
        }
        told |= {"allocated_processors": width[final[is_run]], "allocated_nodes": nodes[final[is_run]]}
        told["allocated_gpus"] = told["allocated_processors"]
        for name, values in told.items():
            records.numbers[name] = nothing.copy()
            records.numbers[name][is_run] = values
        records.numbers["allocated_processors"][records.numbers["allocated_processors"] == 0] = np.nan
        others = _any(owner, width != width[final[owner]] if len(owner) else is_bad, count) & ~records.is_faulty
        if others.any():
            records.anomalies[_OTHER_WIDTH] += int(others.sum())
        records.wait_holds_restarts = False


def _attempts(row: Row) -> list[Row]:
    """Return the attempts of a job."""
    found = row.get("attempts")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _details(attempt: Row) -> list[Row]:
    found = attempt.get("detail")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _gpus(attempt: Row) -> int:
    """Return how many GPUs an attempt had."""
    return sum(len(each["gpus"]) for each in _details(attempt) if isinstance(each.get("gpus"), list))


def _hosts(attempt: Row) -> int:
    """Return how many nodes an attempt had."""
    return len({str(each.get("ip")) for each in _details(attempt)})


def _any(owner: Any, mask: Any, count: int) -> Any:
    """Return which jobs have an attempt of which something holds."""
    return np.bincount(owner, mask, minlength=count) > 0
