# SPDX-License-Identifier: BSD-3-Clause
"""Read accounting files of Grid Engine into a trace: each line is a job, but for those of its tasks on other hosts.

What the fields are follows accounting(5) of Sun Grid Engine 5.3 to 6.2, Son of Grid Engine 8.1, Univa Grid Engine 8,
whose times are in milliseconds, and Open Cluster Scheduler 9, which counts microseconds and writes JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.columns import Columns, elements
from swftools.formats.accounting.format import AccountingFormat
from swftools.formats.accounting.last_record import CUT_OFF, Endings
from swftools.formats.accounting.parts_of_jobs import KeyArray, PartsOfJobs, job_key
from swftools.formats.accounting.records import Records, Reject, Stretch
from swftools.formats.accounting.spans import line_ends, numbers, texts
from swftools.formats.registry import Fit, register_format
from swftools.formats.sge import attempts, kernel
from swftools.formats.sge.attempts import Followed, Reruns, follow_attempts, no_attempts
from swftools.formats.sge.category import wishes
from swftools.formats.sge.json_lines import read_json
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.parameters import choice

_RECORD = re.compile(
    rb"^[^:#\n][^:\n]*(?::[^:\n]*){4,16}:[0-9]+:[^:\n]*:-?[0-9]+(?::[0-9]+){5}(?::[0-9.eE+-]+){18}:", re.MULTILINE
)
_JSON = re.compile(rb'^\{(?=[^\n]*"job_number" *:)(?=[^\n]*"submission_time" *:)(?=[^\n]*"qname" *:)', re.MULTILINE)
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14
"""A time from here on is in milliseconds: in seconds it would be in the year 5138, and those of 1973 are below."""

_DIED, _ENFORCED, _RESCHEDULE = 100, 37, 99
"""``failed`` of a job that a signal ended, or the master over a limit; the exit status by which a job asks to be
started again."""

_NEEDED = ("job_number", "task_number", "submission_time", "start_time", "end_time", "slots", "failed")
"""Numbers without which a line is not a job."""

_KILL, _TERM = 128 + 9, 128 + 15


@register_format
@dataclass(frozen=True)
class Sge(AccountingFormat):
    """Accounting files of Grid Engine (``$SGE_ROOT/$SGE_CELL/common/accounting``).

    Parameters
    ----------
    group : {"project", "group", "department"}
        What the group is: the project, the Unix group or the department.
    requested_time : {"hard", "soft"}
        Which limit of the run time is the user's estimate where a job has both: h_rt or s_rt.
    run_time : {"elapsed", "wallclock"}
        From start to end, or ru_wallclock, which in some versions leaves suspensions out.
    killed : {"cancelled", "failed"}
        What a job is that KILL or TERM ended below its limits. Versions without ``qdel_info`` do not tell by whom:
        mostly qdel, else somebody else's signal or a limit of memory.
    """

    NAME = "sge"
    TITLE = "Grid Engine accounting files"
    COMMAND = 'cp "$SGE_ROOT/$SGE_CELL/common/accounting" accounting.txt'
    NOTES = (
        "Each line is a run of a job; a job that was rescheduled has several.",
        "Used memory is the largest virtual memory of the job, divided by its slots, in KB.",
    )

    group: str = choice("project", "group", "department")
    requested_time: str = choice("hard", "soft")
    run_time: str = choice("elapsed", "wallclock")
    killed: str = choice("cancelled", "failed")

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text has a line with the fields of accounting(5)."""
        if _RECORD.search(head):
            return Fit(True, "a line of 43 fields and more between colons, with numbers where Grid Engine has them")
        if _JSON.search(head):
            return Fit(True, "a line in JSON with the fields of accounting(5)")
        return Fit(False, "no line of 43 fields and more between colons, such as 'all.q:node1:...'")

    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in a file."""
        parts, reruns, endings = PartsOfJobs(2), Reruns(), Endings()
        held = _Held(b"", np.empty(0, np.int64))
        for stretch in stretches:
            lines = _Lines(self, stretch, held, endings)
            yield lines.records(parts, reruns)
            held = lines.held


class _Held(NamedTuple):
    """Lines of starts that failed, of which it is not known yet whether the job is started again."""

    text: bytes
    line: IntArray


class _Lines(Columns):
    """The lines of a stretch and those held back before it, column by column; ``held`` is what is held back now."""

    NAMES, NEEDED = kernel.COLUMNS, _NEEDED

    def __init__(self, options: Sge, stretch: Stretch, before: _Held, endings: Endings) -> None:
        self.options, self.stretch = options, stretch
        self.source = before.text + stretch.text if before.text else stretch.text
        many = len(before.line)
        lines, rows, self.others = kernel.find_lines(self.source, stretch.first_line - many)
        found = rows
        text, self.lines, rows = read_json(self.source, lines, rows)
        self.others += found - rows
        self.lines.line[:many] = before.line
        kind = self.lines.kind[:rows]
        self.is_cut = endings.is_cut_off(
            stretch, self.lines.end[many:rows] - len(before.text), self.lines.behind[many:rows]
        )
        self.last = rows - 1
        self.parts = np.flatnonzero(kind == kernel.PART)
        every = np.flatnonzero(kind != kernel.PART)
        super().__init__(text, self.lines.value_begin, self.lines.value_end, every)
        self.keys, self.every = self._keys(every), every
        self.followed = self._follow(every)
        self.jobs = self._chosen = every[self.followed.order]
        stays = every[self.followed.waits]
        self.held = _Held(
            b"".join(self.source[b:e] + b"\n" for b, e in zip(lines.begin[stays], lines.end[stays], strict=True)),
            self.lines.line[stays],
        )

    def _follow(self, rows: npt.NDArray[np.intp]) -> Followed:
        """Return which lines are starts that failed, and what became of them."""
        failed, start = (numbers(self.spans(name, rows)).value for name in ("failed", "start_time"))
        is_attempt = (self.lines.kind[rows] == kernel.JOB) & (failed > 0) & (start == 0)
        stretch = self.stretch
        if not is_attempt.any():
            return no_attempts(len(rows))
        return follow_attempts(
            self.keys,
            texts(self.spans("owner", rows)),
            self.lines.line[rows],
            is_attempt,
            stretch.first_line + line_ends(stretch.text) - stretch.text.endswith(b"\n"),
            is_last=stretch.is_last,
            window=attempts.WINDOW,
        )

    def records(self, parts: PartsOfJobs, reruns: Reruns) -> Records:
        """Return the lines of jobs as records, with what the lines of their tasks add to them."""
        jobs, lines = self.jobs, self.lines
        records = Records(lines.line[jobs], lines.begin[jobs], lines.end[jobs], text=self.source)
        self._judge_shape(records)
        key = self.keys[self.followed.order]
        of_parts = np.stack([numbers(self.spans(name, self.parts)).value for name in ("cpu", "maxvmem")])
        sound = np.flatnonzero(lines.kind[jobs] == kernel.JOB)
        joined = parts.join(key[sound], records.line[sound], self._keys(self.parts), lines.line[self.parts], of_parts)
        row_of = np.full(len(self.every), -1, np.int64)
        row_of[self.followed.order] = np.arange(len(jobs))
        into = row_of[self.followed.into]
        is_merged = (into >= 0) & (row_of < 0)
        records.merged_line = np.append(joined.line, lines.line[self.every[is_merged]])
        records.merged_into = np.append(sound[joined.into], into[is_merged])
        added = np.zeros((2, len(jobs)))
        added[:, sound] = joined.sums
        if self.stretch.is_last:
            why = "of a task of a parallel job, without a line of the job behind it"
            records.rejects = [Reject(line, 0, 0, why) for line in parts.lines_left()]
        if self.others:
            records.anomalies["lines of the file reporting that tell of no job's end: not read"] += self.others
        self._read_times(records)
        self._read_usage(records, *added)
        self._read_status(records, key, reruns)
        self._read_words(records)
        return records

    def _keys(self, rows: npt.NDArray[np.intp]) -> KeyArray:
        """Return which job each line is of."""
        return job_key(*(numbers(self.spans(name, rows)).value for name in ("job_number", "task_number")))

    def _judge_shape(self, records: Records) -> None:
        """Say which lines are cut off, or have not the fields of a job."""
        kind = self.lines.kind[self.jobs]
        if self.is_cut:
            records.fault(self.jobs == self.last, CUT_OFF)
        records.fault(kind == kernel.SHORT, f"fewer fields than {kernel.FEWEST_FIELDS}")
        records.fault(kind == kernel.ASTRAY, "no numbers where a line of accounting has them")

    def _read_times(self, records: Records) -> None:
        """Read when a job was submitted, started and ended, and for how long it ran."""
        self.failed, self.exit_status = self.number(records, "failed"), self.number(records, "exit_status")
        times = []
        for column in ("submission_time", "start_time", "end_time"):
            seconds = self.number(records, column)
            scale = np.where(np.abs(seconds) >= _MICROSECONDS, 1e6, 1000.0)
            seconds = np.where(np.abs(seconds) >= _MILLISECONDS, seconds / scale, seconds)
            times.append(np.where(seconds == 0, np.nan, seconds))
        submit, start, end = times
        is_line = self.lines.kind[self.jobs] == kernel.JOB
        records.fault(is_line & np.isnan(submit), "no submission_time")
        records.fault(is_line & np.isfinite(start) & np.isnan(end), "no end_time of a job that started")
        never = is_line & np.isnan(start) & (self.failed == 0)
        records.fault(never, "no start_time, and yet it did not fail")
        records.numbers |= {"submit": submit, "start": start, "end": end}
        self.submit, self.has_run = submit, np.isfinite(start)
        self.elapsed = end - start
        wallclock = self.number(records, "ru_wallclock")
        wallclock[~self.has_run | (wallclock == 0)] = np.nan
        with np.errstate(invalid="ignore"):
            differs = (np.abs(wallclock - self.elapsed) > 2.0) & ~records.is_faulty
        records.note("ru_wallclock is not end_time - start_time", differs)
        if self.options.run_time == "wallclock":
            records.numbers["run_time"] = wallclock
            self.elapsed = np.where(np.isfinite(wallclock), wallclock, self.elapsed)

    def _read_usage(self, records: Records, more_cpu: FloatArray, more_memory: FloatArray) -> None:
        """Read slots, what was asked for, CPU time and memory."""
        slots = self.number(records, "slots")
        slots[slots == 0] = np.nan
        cpu, memory = self.number(records, "cpu") + more_cpu, self.number(records, "maxvmem") + more_memory
        memory[memory == 0] = np.nan
        cpu[~self.has_run], memory[~self.has_run] = np.nan, np.nan
        wish = wishes(texts(self.spans("category")))
        records.note("a limit or a number of slots in the category that cannot be read", wish["unreadable"])
        hard, soft = wish["hard_limit"], wish["soft_limit"]
        first, second = (hard, soft) if self.options.requested_time == "hard" else (soft, hard)
        self.limit = np.fmin(hard, soft)
        records.fault(self.has_run & np.isnan(slots), "no slots of a job that ran")
        asked = np.where(np.isfinite(wish["most"]), wish["most"], np.fmax(slots, wish["fewest"]))
        records.numbers |= {
            "allocated_processors": np.where(self.has_run, slots, np.nan),
            "requested_processors": np.where(np.isfinite(asked), asked, 1.0),
            "fewest_processors": wish["fewest"],
            "requested_time": np.where(np.isfinite(first), first, second),
            "requested_memory": wish["memory"],
            "requested_gpus": wish["gpus"],
            "cpu_time": cpu,
            "used_memory": memory / 1024.0 / slots,
        }

    def _read_status(self, records: Records, key: KeyArray, reruns: Reruns) -> None:
        """Read how each job ended, and how often it had been started before."""
        failed, code = self.failed, self.exit_status
        by_signal = ((failed == _DIED) | (failed == _ENFORCED)) & (code > 128)
        deleted = ~self.spans("qdel_info").is_absent
        records.numbers |= {
            "status": swf_status(failed, code, self.elapsed, self.limit, deleted, self.options.killed == "cancelled"),
            "exit_code": code,
            "exit_signal": np.where(np.isnan(code), np.nan, np.where(by_signal, code - 128, 0.0)),
        }
        was_stopped = (failed == 0) | (failed == _DIED) | (failed == _ENFORCED)
        again = self.has_run & (~was_stopped | (code == _RESCHEDULE)) & ~records.is_faulty
        restarts, holds_runs = reruns.count(key, self.submit, records.number("end"), again)
        records.numbers["restarts"] = restarts
        records.wait_holds_restarts = False  # each run is a record; most have a submission of their own
        records.note("started more than once: the wait holds earlier runs", holds_runs & ~records.is_faulty)

    def _read_words(self, records: Records) -> None:
        """Read names and ids."""
        job, task = texts(self.spans("job_number")), texts(self.spans("task_number"))
        number, index = self.number(records, "job_number"), self.number(records, "task_number")
        records.numbers |= elements(number, index)
        element = pc.binary_join_element_wise(job, task, pa.scalar(".", pa.large_string()))
        group = texts(self.spans(self.options.group))
        records.words = {
            "log_id": pc.if_else(pa.array(index > 0), element, job),
            "user": texts(self.spans("owner")),
            "group": pc.if_else(pc.equal(pc.utf8_upper(group), "NONE"), pa.scalar(None, pa.large_string()), group),
            "executable": texts(self.spans("job_name")),
            "queue": texts(self.spans("qname")),
        }


def swf_status(
    failed: FloatArray,
    exit_status: FloatArray,
    run_time: FloatArray,
    limit: FloatArray,
    deleted: BoolArray,
    killed_is_cancelled: bool,
) -> FloatArray:
    """Return the status in SWF: 1 completed, 0 failed, 5 cancelled.

    Parameters
    ----------
    failed, exit_status : ndarray of float64
        As logged.
    run_time, limit : ndarray of float64
        Seconds; NaN where there is none. Who runs up to a limit is killed by it, and failed.
    deleted : ndarray of bool
        Whether the log says that somebody deleted the job.
    killed_is_cancelled : bool
        Whether one that KILL or TERM ended below its limits is taken for deleted.
    """
    with np.errstate(invalid="ignore"):
        outlived = run_time >= limit
    by_hand = (failed == _DIED) & ((exit_status == _KILL) | (exit_status == _TERM)) & killed_is_cancelled & ~outlived
    ended_well = (failed == 0) & (exit_status == 0)
    status: FloatArray = np.where(ended_well, 1.0, np.where(deleted | by_hand, 5.0, 0.0))
    return np.where(np.isnan(failed), np.nan, status)
