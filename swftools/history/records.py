"""From the jobs of one file to rows of a history: times since 1970, and what tells a job from all others.

A job is known by its submission and, of accounting logs, its id, else its number. Where a file has several of these
(a number given twice at one time), they count through, so that none is lost; a partial execution (status 2, 3 or 4) is
known by when it ran besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.fields.dictionary import table_fields
from swftools.tables import empty_frame
from swftools.trace import Trace

NUMBERED = {
    "user": "user_id",
    "group": "group_id",
    "executable": "executable_id",
    "queue": "queue_id",
    "partition": "partition_id",
}
"""The column of the numbers of each kind of names."""

LATEST = 1e10
"""The last time that a history takes, s since 1970: in the year 2286, where the columns of times end."""

_TOO_LATE = "submitted after the year 2286, which no history holds; check the date, or UnixStartTime"
_PARTIAL = (2, 3, 4)
_CONTENT = (
    *("wait_time", "run_time", "allocated_processors", "requested_processors", "requested_time", "status", "user_id"),
    *("group_id", "queue_id", "array_index"),
)
"""What tells jobs of one submission time apart where ids are withheld."""


@dataclass(frozen=True)
class FileRecords:
    """The records of one file.

    Parameters
    ----------
    records : pandas.DataFrame
        A row a job, in the order of lines, with the columns of the table ``records`` but for file_number, and for
        job_occurrence, which is given when they are put into a history.
    rejected : pandas.DataFrame
        Lines that are no jobs, as a quarantine.
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


def file_records(trace: Trace, lines_before: int = 0) -> FileRecords:
    """Return the records of a file, from the trace as it was read; ``lines_before`` were not read again."""
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
    is_open = (
        quarantine["reason"].str.contains(r"^(?:[^:]*: )?not ended", regex=True).fillna(False).to_numpy(dtype=bool)
    )
    rejected = [quarantine[~is_open]]
    if nowhere.any():
        lines = jobs.loc[nowhere, "line_number"]
        why = np.where(beyond[nowhere], _TOO_LATE, "no submission time, so that it has no place in a history")
        told = {"line_number": lines, "rule": "read", "reason": why, "text": trace.line_texts(lines)}
        rejected.append(pd.DataFrame(told))
        jobs = jobs[~nowhere].reset_index(drop=True)
    form = empty_frame("quarantine")
    parts = [part.reindex(columns=form.columns).astype(form.dtypes.to_dict()) for part in rejected if len(part)]
    jobs["record_key"] = pd.array(_keys(jobs, is_numbered=is_numbered), dtype="Int64")
    rejects = pd.concat(parts, ignore_index=True) if parts else form
    for frame in (jobs, rejects):
        frame["line_number"] += lines_before
    return FileRecords(
        jobs,
        rejects,
        trace.names,
        int(is_open.sum()),
        len(trace.merged),
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


def _keys(jobs: pd.DataFrame, *, is_numbered: bool) -> npt.NDArray[np.int64]:
    """Return what tells each job from the others of its submission time, as a number."""
    if is_numbered:
        key = _hashed(jobs["job_number"])
        partial = jobs["status"].isin(_PARTIAL).to_numpy(dtype=bool)
        runs = _mixed(_hashed(jobs["wait_time"]), _hashed(jobs["run_time"]))
        key = np.where(partial, _mixed(key, runs), key)
    else:
        key = np.zeros(len(jobs), np.uint64)
        for name in _CONTENT:
            key = _mixed(key, _hashed(jobs[name]))
        told = jobs["log_id"].notna().to_numpy()
        key = np.where(told, _hashed(jobs["log_id"].fillna("")), key)
    same = pd.DataFrame({"submit": jobs["submit_time"].to_numpy(), "key": key})
    again = same.groupby(["submit", "key"], sort=False).cumcount().to_numpy()
    key = np.where(again > 0, _mixed(key, again.astype(np.uint64)), key)
    return key.view(np.int64)


def _hashed(values: pd.Series[Any]) -> npt.NDArray[np.uint64]:
    """Return a hash of each value; missing ones are alike."""
    if str(values.dtype) in ("str", "string", "object"):
        plain = values.fillna("").to_numpy(dtype=object)
    else:
        plain = values.to_numpy(dtype=np.float64, na_value=-1.0)
        plain = np.where(np.isnan(plain), -1.0, plain)
    hashed: npt.NDArray[np.uint64] = pd.util.hash_array(plain, categorize=False)
    return hashed


def _mixed(one: npt.NDArray[np.uint64], other: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return a hash of two."""
    mixed: npt.NDArray[np.uint64] = pd.util.hash_array(one * np.uint64(0x9E3779B97F4A7C15) + other)
    return mixed
