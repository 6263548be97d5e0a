# SPDX-License-Identifier: BSD-3-Clause
"""From the jobs of one file to rows of a history: times since 1970, and what tells a job from all others.

A job is known by its submission and, of accounting logs, its id, else its number. One that was queued again has
several runs, and each that ended is known by its start besides; a partial execution (status 2, 3 or 4) by its run time
too. Where neither id nor number is told a job is known by all that is logged of it, and equal ones of a file count
through: of equal rows a history has as many as the file that has most of them, so that files may overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.fields.dictionary import table_fields
from swftools.named import NUMBERED
from swftools.tables import empty_frame
from swftools.trace import Trace

LATEST = 1e10
"""The last time that a history takes, s since 1970: in the year 2286, where the columns of times end."""

_TOO_LATE = "submitted after the year 2286, which no history holds; check the date, or UnixStartTime"
_ENDED = (0, 1, 5)
_PARTIAL = (2, 3, 4)
_CONTENT = (
    *("wait_time", "run_time", "allocated_processors", "requested_processors", "requested_time", "status", "user_id"),
    *("group_id", "queue_id", "array_index"),
)
"""What tells jobs of one submission time apart in a log in SWF that gives them no number."""

_ROW = (
    *("wait_time", "run_time", "allocated_processors", "average_cpu_time", "used_memory", "requested_processors"),
    *("requested_time", "requested_memory", "status", "eligible_time", "allocated_nodes", "requested_nodes"),
    *("fewest_processors", "allocated_gpus", "requested_gpus", "exact_processors", "exact_gpus", "exit_code"),
    *("exit_signal", "logged_state", "array_number", "array_index", "soft_requested_time", "estimated_wait_time"),
    *("energy", "mean_power", "max_power"),
)
"""What tells rows apart that have no id, beside their names: all that logs say of a job. These columns stay, whatever
others come: identities are written into histories."""

_OPEN = r"^(?:[^:]*: )?not ended"
_PART = r"^(?:[^:]*: )?belongs to the record of line (\d+), which is no job$"
_ELSEWHERE = r"^(?:[^:]*: )?deleted or aborted, and no Q record"


@dataclass(frozen=True)
class FileRecords:
    """The records of one file.

    Parameters
    ----------
    records : pandas.DataFrame
        A row for each job, in the order of lines, with the columns of the table ``records`` but for file_number, and
        for job_occurrence, which is given when they are put into a history.
    rejected : pandas.DataFrame
        Lines that are not jobs, as a quarantine.
    names : pandas.DataFrame
        The names behind the numbers, those of this file.
    not_ended, joined : int
        Records of jobs that had not ended, and lines that became part of another.
    is_numbered : bool
        Whether job numbers are those of the log; an accounting log's are counted by its reader.
    begins_in : int or None
        Second 0 of the file, in seconds since 1970; None if it does not say.
    """

    records: pd.DataFrame
    rejected: pd.DataFrame
    names: pd.DataFrame
    not_ended: int
    joined: int
    is_numbered: bool
    begins_in: int | None

    @property
    def count(self) -> int:
        """All records and lines that were read."""
        return len(self.records) + len(self.rejected) + self.not_ended + self.joined


def file_records(trace: Trace, lines_before: int = 0, behind: int = 0) -> FileRecords:
    """Return the records of a file.

    Parameters
    ----------
    trace : Trace
        As it was read.
    lines_before : int
        Lines of the file that were not read again.
    behind : int
        Lines that were, for what they say of later ones alone: nothing of them is returned.
    """
    start = trace.header.unix_start_time
    jobs = trace.jobs.reset_index(drop=True)
    is_numbered = "format" not in trace.provenance
    jobs["submit_time"] = jobs["submit_time"] + float(start or 0)
    if "eligible_time" in jobs:
        jobs["eligible_time"] = jobs["eligible_time"] + float(start or 0)
    empty = empty_frame("records")
    jobs = _in_form(jobs, empty).sort_values("line_number", kind="stable", ignore_index=True)
    beyond = ((jobs["submit_time"] > LATEST) | (jobs["eligible_time"] > LATEST)).fillna(False).astype(bool)
    nowhere = jobs["submit_time"].isna() | beyond
    quarantine = trace.quarantine
    is_open = quarantine["reason"].str.contains(_OPEN, regex=True).fillna(False).to_numpy(dtype=bool)
    # Steps of a job that goes on, or a Q record of one that ends on another day, are left to the end of it too.
    into = quarantine["reason"].str.extract(_PART)[0]
    is_part = into.isin(quarantine.loc[is_open, "line_number"].astype(str)).to_numpy(dtype=bool)
    # A job that was deleted while it waited: its Q record counts so too, in the file of the day that it was queued.
    is_elsewhere = quarantine["reason"].str.contains(_ELSEWHERE, regex=True).fillna(False).to_numpy(dtype=bool)
    is_part = is_part | is_elsewhere
    is_new = (quarantine["line_number"] > behind).to_numpy(dtype=bool)
    rejected = [quarantine[is_new & ~is_open & ~is_part]]
    if nowhere.any():
        lines = jobs.loc[nowhere, "line_number"]
        why = np.where(beyond[nowhere], _TOO_LATE, "no submission time, so that it has no place in a history")
        told = {"line_number": lines, "rule": "read", "reason": why, "text": trace.line_texts(lines)}
        rejected.append(pd.DataFrame(told))
        jobs = jobs[~nowhere].reset_index(drop=True)
    form = empty_frame("quarantine")
    parts = [part.reindex(columns=form.columns).astype(form.dtypes.to_dict()) for part in rejected if len(part)]
    jobs["record_key"] = pd.array(record_keys(jobs, is_numbered, trace.names), dtype="Int64")
    rejects = pd.concat(parts, ignore_index=True) if parts else form
    jobs, rejects = (
        each[each["line_number"] > behind].reset_index(drop=True) if behind else each for each in (jobs, rejects)
    )
    for frame in (jobs, rejects):
        frame["line_number"] += lines_before
    return FileRecords(
        jobs,
        rejects,
        trace.names,
        int((is_open & is_new).sum()),
        int((trace.merged["line_number"] > behind).sum()) + int((is_part & is_new).sum()),
        is_numbered,
        start,
    )


def _in_form(jobs: pd.DataFrame, empty: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs with the columns of records, those that the file does not have being missing."""
    columns: dict[str, Any] = {}
    for name, field in table_fields("records").items():
        if name in jobs:
            columns[name] = jobs[name].astype(empty[name].dtype)
        elif name == "is_time_ambiguous":
            columns[name] = np.zeros(len(jobs), np.bool_)
        elif name not in ("record_key", "file_number", "job_occurrence"):
            kind = empty[name].dtype
            columns[name] = pd.Series([None] * len(jobs), dtype=kind if str(field.type) != "double" else "float64")
    return pd.DataFrame(columns)


def has_ended(records: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether each record is of a job, or a run of one, that had ended."""
    known: npt.NDArray[np.bool_] = records["run_time"].notna().to_numpy(dtype=bool)
    return known | records["status"].isin(_ENDED).to_numpy(dtype=bool)


def record_keys(
    records: pd.DataFrame, is_numbered: bool | npt.NDArray[np.bool_], names: pd.DataFrame
) -> npt.NDArray[np.int64]:
    """Return what tells each record of a file from the others of its submission time.

    It is the key of the job and a mark of its run, added, so that one follows from the other (``job_keys``).

    Parameters
    ----------
    records : pandas.DataFrame
        In the order of lines.
    is_numbered : bool or ndarray of bool
        Whether job numbers are those of the log, and no reader's.
    names : pandas.DataFrame
        The table ``names``: what the numbers of names in the records stand for.
    """
    of_log = np.broadcast_to(is_numbered, len(records))
    told = records["log_id"].notna().to_numpy()
    has_number = of_log & records["job_number"].notna().to_numpy()
    key = np.where(told, _hashed(records["log_id"].fillna("")), _hashed(records["job_number"]))
    for rows, parts in ((of_log, _swf_parts), (~of_log, _row_parts)):
        if (rows := rows & ~told & ~has_number).any():
            key[rows] = _counted_through(records[rows], parts(records[rows], names))
    return (key + _marks(records)).view(np.int64)


def _swf_parts(records: pd.DataFrame, _: pd.DataFrame) -> list[npt.NDArray[np.uint64]]:
    """Return hashes of what a line of a log in SWF says."""
    return [_hashed(records[name]) for name in _CONTENT]


def _row_parts(records: pd.DataFrame, names: pd.DataFrame) -> list[npt.NDArray[np.uint64]]:
    """Return hashes of what a row of another log says; of names as they are, since each file numbers them anew."""
    named = [_hashed(names_of(records[column], names, kind)) for kind, column in NUMBERED.items()]
    return [*(_hashed(records[name]) for name in _ROW), *named]


def _counted_through(records: pd.DataFrame, parts: list[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
    """Return a hash of all parts; that of a record that is equal to earlier ones has their number in it."""
    key = np.zeros(len(records), np.uint64)
    for part in parts:
        key = _mixed(key, part)
    same = pd.DataFrame({"submit": records["submit_time"].to_numpy(), "key": key})
    again = same.groupby(["submit", "key"], sort=False).cumcount().to_numpy()
    return np.where(again > 0, _mixed(key, again.astype(np.uint64)), key)


def names_of(numbers: pd.Series[Any], names: pd.DataFrame, kind: str) -> pd.Series[Any]:
    """Return the names that numbers of a kind stand for, by the table ``names``; "" where there is none."""
    here = names[names["kind"] == kind]
    book = dict(zip(here["number"].astype(int), here["name"], strict=True))
    return pd.Series([book.get(number, "") for number in numbers.fillna(-1).astype(int)], numbers.index, dtype=object)


def job_keys(records: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return what tells the job of each record from other jobs of its submission time: the same for all its runs."""
    keys = records["record_key"].to_numpy(np.int64).view(np.uint64)
    return (keys - _marks(records)).view(np.int64)


def _marks(records: pd.DataFrame) -> npt.NDArray[np.uint64]:
    """Return a mark of the run that each record is of; 0 where it is of the job as a whole, or of one that goes on."""
    wait = _mixed(_hashed(records["wait_time"]), np.uint64(1))  # the hash of 0 is 0
    is_run = records["wait_time"].notna().to_numpy(dtype=bool) & has_ended(records)
    is_part = records["status"].isin(_PARTIAL).to_numpy(dtype=bool)
    return np.where(is_part, _mixed(wait, _hashed(records["run_time"])), np.where(is_run, wait, np.uint64(0)))


def _hashed(values: pd.Series[Any]) -> npt.NDArray[np.uint64]:
    """Return a hash of each value; missing ones are alike."""
    if str(values.dtype) in ("str", "string", "object"):
        plain = values.fillna("").to_numpy(dtype=object)
    else:
        plain = values.to_numpy(dtype=np.float64, na_value=-1.0)
        plain = np.where(np.isnan(plain), -1.0, plain)
    hashed: npt.NDArray[np.uint64] = pd.util.hash_array(plain, categorize=False)
    return hashed


def _mixed(one: npt.NDArray[np.uint64], other: npt.NDArray[np.uint64] | np.uint64) -> npt.NDArray[np.uint64]:
    """Return a hash of two."""
    mixed: npt.NDArray[np.uint64] = pd.util.hash_array(one * np.uint64(0x9E3779B97F4A7C15) + other)
    return mixed
