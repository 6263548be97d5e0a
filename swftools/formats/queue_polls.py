# SPDX-License-Identifier: BSD-3-Clause
"""Polls of a queue: who waited at a moment, the state of queue and machine, and the wait that was still ahead.

Such tables come with studies of predicted waits (Mila's of the clusters Cedar and Graham of Compute Canada). They are
no logs of jobs: a row is a job that waited at a poll, so jobs that started at once are not there, and who waits for a
week stands there seven times.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import LogFormatError, UnreadableLogError
from swftools.parameters.small_files import require_small

_TIMES = {"poll_time": "poll_time", "submit_time": "submit_time", "start_time": "start_time"}
_NUMBERS = {
    "poll_wait_sec": "wait_ahead",
    "time_limit_sec": "requested_time",
    "req_cpus": "processors",
    "run_time_sec": "run_time",
}
_NAMES = {"job_unique_id": "log_id", "partition_id_x": "partition", "account_id": "group", "state": "logged_state"}
_STATES = ("q_", "r_")

_WHOSE = ("", "p_", "a_", "p_a_")
_COUNTED = ("jobs", "cores", "mem", "core_hours", "gpus", "gpu_hours")
_AT_POLL = tuple(f"{where}{whose}{what}_above" for where in _STATES for what in _COUNTED for whose in _WHOSE)
"""What a poll counts: jobs ahead in the queue and running ones, of all, of the partition, of the account, of both.

Their hours are by time limits. The tables have hours by run times as well (``q_core_run_hours`` and seven others):
those of jobs that had not begun at the poll, so nobody knew them.
"""

_SHARES = ("raw_share_poll", "norm_share_poll", "raw_use_poll", "effect_use_poll", "level_fs_poll", "norm_use_poll")


@dataclass(frozen=True, eq=False)
class QueuePolls:
    """Polls of a queue.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row for each job that waited at a poll: log_id, poll_time and submit_time (s since 1970 by the clock of the
        file), waited and wait_ahead (s, before and after the poll), requested_time and run_time (s), processors,
        partition, group, logged_state; and, under their own names, the state of the queue ahead of the job
        (``q_...``), of the machine (``r_...``) and the shares of its account. Not all of them were known at the poll:
        see ``features``.
    quarantine : pandas.DataFrame
        Impossible rows: line_number, reason; of several files also file.
    """

    rows: pd.DataFrame
    quarantine: pd.DataFrame

    @property
    def features(self) -> list[str]:
        """The columns that were known at a poll: what was asked for, and the state of queue, machine and shares.

        They are listed by name: a column that is not among them may be of the future, as run times of jobs ahead are.
        """
        known = {"requested_time", "processors", "waited", *_AT_POLL, *_SHARES}
        first = ["requested_time", "processors", "waited"]
        return first + [name for name in map(str, self.rows) if name in known and name not in first]


def read_queue_polls(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, all_columns: bool = False
) -> QueuePolls:
    """Read polls of a queue as Mila's study of Cedar and Graham publishes them: CSV, also compressed.

    Parameters
    ----------
    path : path or sequence of paths
        Of several files the rows stand one behind the other. Columns are found by their names: job_unique_id,
        poll_time, submit_time, start_time, poll_wait_sec, time_limit_sec, req_cpus, run_time_sec, account_id,
        partition_id_x, state; q_*, r_* and shares where they are.
    all_columns : bool
        ``rows`` has every other column of the files, too, as it stands there and under its own name. Many of them are
        of the future: ``features`` stays what it is.

    Returns
    -------
    QueuePolls
        Rows = kept + quarantined. A row is quarantined if its time or wait cannot be read, its poll is before the
        submission, its start is before the poll, or poll_wait_sec is not the time from poll to start.

    Raises
    ------
    UnreadableLogError
        A file cannot be read, or no file is given.
    LogFormatError
        A column is missing: names it.

    Notes
    -----
    The times there have no zone. Only differences are used, which are right unless the clock was changed in between.
    """
    if isinstance(path, str | os.PathLike):
        return _read(path, all_columns)
    each = [_read(one, all_columns) for one in path]
    if not each:
        raise UnreadableLogError("no file of polls is given; name at least one")
    told = [one.quarantine.assign(file=os.fsdecode(name)) for one, name in zip(each, path, strict=True)]
    rows = pd.concat([one.rows for one in each], ignore_index=True)
    return QueuePolls(rows, pd.concat(told, ignore_index=True))


def _read(path: str | os.PathLike[str], all_columns: bool) -> QueuePolls:
    """Read one file."""
    name = os.fsdecode(path)
    try:
        require_small(path, 1 << 34)
        frame = pd.read_csv(path, dtype=dict.fromkeys((*_TIMES, *_NAMES), "str"), low_memory=False)
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise UnreadableLogError(f"{name}: cannot be read as a table of polls ({error})") from error
    needed = [*_TIMES, *_NUMBERS, *_NAMES]
    if lacking := [column for column in needed if column not in frame]:
        raise LogFormatError(f"{name}: no column {', '.join(lacking)}; a table of polls has {', '.join(needed)}")
    columns: dict[str, Any] = {new: frame[old] for old, new in _NAMES.items()}
    columns |= {new: _seconds(frame[old]) for old, new in _TIMES.items()}
    columns |= {new: pd.to_numeric(frame[old], errors="coerce").to_numpy(np.float64) for old, new in _NUMBERS.items()}
    columns["waited"] = columns["poll_time"] - columns["submit_time"]
    why = _faults(columns)
    is_sound = np.array([each is None for each in why], bool)
    for column in frame:
        if str(column).startswith(_STATES) or column in _SHARES:
            values = pd.to_numeric(frame[column], errors="coerce")
            if values.notna().any():
                columns[str(column)] = values
    del columns["start_time"]
    if all_columns:
        own = {*columns, *_TIMES, *_NUMBERS, *_NAMES}
        columns |= {
            column: frame[column] for column in map(str, frame) if column not in own and "Unnamed" not in column
        }
    first = ["log_id", "poll_time", "submit_time", "waited", "wait_ahead", "requested_time", "run_time", "processors"]
    rows = pd.DataFrame(columns)[is_sound].reset_index(drop=True)
    rows = rows[[*first, *(column for column in rows if column not in first)]]
    lines = np.flatnonzero(~is_sound)
    quarantine = pd.DataFrame({"line_number": lines + 2, "reason": [why[line] for line in lines]})
    return QueuePolls(rows, quarantine)


def _seconds(texts: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Return times such as 2021-05-03 12:00:00 in seconds since 1970; NaN where they are none."""
    stamps = pd.to_datetime(texts, format="%Y-%m-%d %H:%M:%S", errors="coerce")
    seconds = stamps.to_numpy("datetime64[s]").astype(np.int64).astype(np.float64)
    return np.where(stamps.isna(), np.nan, seconds)


def _faults(columns: Mapping[str, npt.NDArray[np.float64]]) -> list[str | None]:
    """Return why each row cannot be; None where it can."""
    poll, start = columns["poll_time"], columns["start_time"]
    found: list[str | None] = [None] * len(poll)
    checks = (
        (np.isnan(poll), "poll_time is no time"),
        (np.isnan(columns["submit_time"]), "submit_time is no time"),
        (np.isnan(start), "start_time is no time"),
        (np.isnan(columns["wait_ahead"]), "poll_wait_sec is no number"),
        (columns["waited"] < 0, "the poll is before the submission"),
        (start < poll, "the start is before the poll"),
        (np.abs(start - poll - columns["wait_ahead"]) > 1.0, "poll_wait_sec is not the time from poll to start"),
    )
    for mask, told in checks:
        for row in np.flatnonzero(mask).tolist():
            found[row] = found[row] or told
    return found
