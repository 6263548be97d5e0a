# SPDX-License-Identifier: BSD-3-Clause
"""Records: what a reader of accounting logs says of a stretch of text, before it is known what becomes of each.

Times are seconds since 1970 here, counts float64, missing is NaN, names are text. ``ledger.py`` makes jobs of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.formats.accounting.date_order import DatesOfOrder, first_of, told_by
from swftools.formats.accounting.spans import Spans, texts
from swftools.formats.accounting.times import Moments
from swftools.kernel import BoolArray, FloatArray, IntArray

TIMES = ("submit", "eligible", "start", "end", "left")
"""Times of a record, in seconds since 1970."""

SECONDS = ("run_time", "cpu_time", "requested_time")
"""Durations, s. The run time is only given where it is not end - start; the CPU time is that of all processors."""

COUNTS = (
    *("allocated_processors", "requested_processors", "fewest_processors", "allocated_nodes", "requested_nodes"),
    *("allocated_gpus", "requested_gpus", "restarts", "exit_code", "exit_signal", "array_number", "array_index"),
    "status",
)
"""Whole numbers."""

SHARES = ("exact_processors", "exact_gpus")
"""Counts as they are told, where they need not be whole."""

SIZES = ("used_memory", "requested_memory")
"""Memory, KB per processor."""

ENERGIES = ("energy", "mean_power", "max_power")
"""Energy (J) and power (W) of a job over all its nodes; the mean power is energy over run time if not given."""

ESTIMATES = ("estimated_wait_time", "priority")
"""What the batch system itself made of the job: the wait that it foretold at the submission (s), its priority."""

OF_NODES = ("requested_cores_per_node", "most_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node")
"""What a job asked for of each of its nodes; memory in MB, of GPUs and processors shares too."""

MARKS = ("is_exclusive",)
"""What holds of a job: 1; what else is there says no more than what is missing."""

BEGIN = "begin"
"""The earliest start that was asked for, in seconds since 1970."""

NAMES = ("user", "group", "executable", "queue", "partition")
"""Names that become numbers, by first appearance."""

PRIVATE = ("wait_reason", "host_list", "submit_line")
"""Texts that may hold paths, names and secrets: they are not in published data unless that is asked for."""

TEXTS = (
    *("log_id", "logged_state", "dependency", "preceding", "scheduler_flags", "constraints", "gpu_types"),
    *("account", "qos", *PRIVATE),
)
"""Texts; ``preceding`` has the ids of the jobs that must end before this one starts, as ``waits.py`` says. Where these
may be ids of arrays, or namesakes, the words ``array`` and ``namesake`` beside these tell them of each record.
``account`` is there where the group is another."""


class Stretch(NamedTuple):
    """Whole lines of a log.

    Parameters
    ----------
    text : bytes
        The lines.
    first_line : int
        Number of the first.
    is_last : bool
        Whether the log ends here.
    """

    text: bytes
    first_line: int
    is_last: bool


class Reject(NamedTuple):
    """A line that belongs to no record: its number, where it stands in the stretch, and why it is none.

    One of an earlier stretch has ``begin == end``, and its text is not told.
    """

    line: int
    begin: int
    end: int
    reason: str


class Loose(NamedTuple):
    """Lines that are part of a record which stands somewhere in the log, before or behind them.

    Parameters
    ----------
    line, begin, end : ndarray of int64
        As in ``Records``.
    log_id, scope : pyarrow.LargeStringArray
        Of the record.
    time : ndarray of float64
        When what they tell of was, in seconds since 1970.
    used_memory : ndarray of float64
        KB per processor; the largest counts.
    cpu_time : ndarray of float64
        s; the sum counts where the record has none itself.
    """

    line: IntArray
    begin: IntArray
    end: IntArray
    log_id: pa.LargeStringArray
    scope: pa.LargeStringArray | None
    time: FloatArray
    used_memory: FloatArray
    cpu_time: FloatArray


@dataclass
class Records:
    """The records of a stretch, in order.

    Parameters
    ----------
    line : ndarray of int64, shape (records,)
        The line of the log at which each begins.
    begin, end : ndarray of int64
        Where its text stands in the stretch.
    numbers : dict of str to ndarray of float64
        By the names above (``TIMES``, ``SECONDS``, ``COUNTS``, ``SHARES``, ``SIZES``, ``ENERGIES``, ``ESTIMATES``,
        ``OF_NODES``, ``MARKS``, ``BEGIN``); absent columns are missing.
    words : dict of str to pyarrow.LargeStringArray
        By ``NAMES`` and ``TEXTS``; names and states may be a pyarrow.DictionaryArray of such.
    is_ambiguous : ndarray of bool, optional
        True where a time lies in an hour that the zone repeats.
    merged_line, merged_into : ndarray of int64
        More lines that became part of a record, and the row of that record.
    late_line, late_into : ndarray of int64
        More lines that became part of a record of an earlier stretch, and the line of that record.
    text : bytes, optional
        What ``begin`` and ``end`` are places in, where it is not the stretch alone: a reader may put before it the text
        of records that began earlier. Those of ``rejects`` are places in it too.
    loose : Loose, optional
        Lines that are part of a record elsewhere.
    scope : pyarrow.LargeStringArray, optional
        Within what ids are those of one job alone: the cluster, where a log has several.
    has_loose : bool
        Whether the format knows loose lines, some of which may be of records that are not jobs.
    is_cut : ndarray of bool, optional
        Records of a part of a run that went on, which are no jobs but tell when these began.
    is_private : bool
        Whether the text of records holds what ``PRIVATE`` columns do.
    may_publish : bool
        Whether it was asked that these be in published data.
    rejects : list of Reject
        Lines that belong to no record.
    anomalies : Counter
        Values that are odd but accepted, in words, and how often.
    wait_holds_restarts : bool
        Whether the wait of a job that was started again holds its earlier runs; else these are records of their own.
    show : callable, optional
        Returns the text of a record by its row, where the log has no text, such as a row of a Parquet file.
    zero : str
        What second 0 is: the year 1970, or the beginning of the log where its times have no date.
    dates : dict
        What dates with slashes tell of the order of day and month; ``note_dates`` fills it in.
    """

    line: IntArray
    begin: IntArray
    end: IntArray
    numbers: dict[str, FloatArray] = field(default_factory=dict)
    words: dict[str, pa.LargeStringArray] = field(default_factory=dict)
    is_ambiguous: BoolArray | None = None
    merged_line: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    merged_into: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    late_line: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    late_into: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    text: bytes | None = None
    loose: Loose | None = None
    scope: pa.LargeStringArray | None = None
    has_loose: bool = False
    is_cut: BoolArray | None = None
    is_private: bool = False
    may_publish: bool = False
    rejects: list[Reject] = field(default_factory=list)
    anomalies: Counter[str] = field(default_factory=Counter)
    wait_holds_restarts: bool = True
    show: Callable[[int], str] | None = None
    zero: str = "1970"
    dates: DatesOfOrder = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._fault = np.full(len(self.line), -1, np.int32)
        self._reasons: list[str] = []
        self._shown: dict[int, str] = {}
        self._doubts: list[tuple[BoolArray, str]] = []

    def __len__(self) -> int:
        return len(self.line)

    def number(self, name: str) -> FloatArray:
        """Return a column of numbers, NaN everywhere if it was not given."""
        if name not in (*TIMES, *SECONDS, *COUNTS, *SHARES, *SIZES, *ENERGIES, *ESTIMATES, *OF_NODES, *MARKS, BEGIN):
            raise ParameterError(f"no column {name!r} of records")
        return self.numbers.get(name, np.full(len(self), np.nan))

    def fault(self, mask: npt.NDArray[Any], reason: str, shown: Spans | pa.LargeStringArray | None = None) -> None:
        """Say that records cannot be jobs, and why; if there are several reasons, the first one counts.

        Parameters
        ----------
        mask : ndarray of bool, shape (records,)
            Which.
        reason : str
            Why, in words that quote nothing of the log: they are shown even if names are withheld.
        shown : Spans or pyarrow.LargeStringArray, optional
            Text of the log to show after the reason, a value for each record.
        """
        if not mask.any():  # nearly always
            return
        rows = np.flatnonzero(mask & (self._fault < 0))
        if not len(rows):
            return
        self._fault[rows] = len(self._reasons)
        self._reasons.append(reason)
        if shown is not None:
            values = (texts(shown.rows(rows)) if isinstance(shown, Spans) else shown.take(pa.array(rows))).to_pylist()
            self._shown.update({int(row): value[:80] for row, value in zip(rows, values, strict=True) if value})

    def note_dates(self, *moments: Moments) -> None:
        """Keep what times tell of the order of day and month."""
        self.dates = first_of(self.dates, *(told_by(each, self.line) for each in moments))

    def take_faults(self, other: Records, first: int) -> None:
        """Say of these records what is said of others, the first of which is the record ``first`` here."""
        for row in np.flatnonzero(other.is_faulty).tolist():
            mask = np.zeros(len(self), bool)
            mask[first + row] = True
            self.fault(mask, other.reason_of(row))
            if row in other._shown:
                self._shown[first + row] = other._shown[row]

    def reason_of(self, row: int) -> str:
        """Return why a record cannot be a job, without any word of the log."""
        return self._reasons[self._fault[row]]

    def doubt(self, mask: npt.NDArray[Any], told: str) -> None:
        """Say that optional values cannot be read: they become missing, and are counted."""
        if mask.any():
            self._doubts.append((mask, told))

    def note(self, told: str, odd: npt.NDArray[Any]) -> None:
        """Count what is odd among the anomalies: by a mask, or by how often it is in each record."""
        if count := int(odd.sum()):
            self.anomalies[told] += count

    def count_doubts(self) -> None:
        """Count among the anomalies what ``doubt`` was told, of records that can be jobs."""
        for mask, told in self._doubts:
            self.note(f"{told}: taken for missing", mask & ~self.is_faulty)
        self._doubts.clear()

    @property
    def is_faulty(self) -> BoolArray:
        """Which records cannot be jobs."""
        return self._fault >= 0

    def reasons(self, *, with_values: bool) -> list[str]:
        """Return why each faulty record cannot be a job, in order."""
        told = []
        for row in np.flatnonzero(self.is_faulty).tolist():
            shown = self._shown.get(row) if with_values else None
            told.append(self._reasons[self._fault[row]] + (f": {shown!r}" if shown is not None else ""))
        return told


def plain_words(words: pa.LargeStringArray | pa.DictionaryArray) -> pa.LargeStringArray:
    """Return words as they are, those of a dictionary too."""
    return words.cast(pa.large_string()) if pa.types.is_dictionary(words.type) else words
