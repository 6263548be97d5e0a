# SPDX-License-Identifier: BSD-3-Clause
"""Read LSF's lsb.acct into a trace: each JOB_FINISH is a job.

What the fields are follows lsb.acct(5) of versions 5.1 to 10.1, where those behind the memory differ in number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.columns import Columns, elements
from swftools.formats.accounting.format import AccountingFormat
from swftools.formats.accounting.last_record import CUT_OFF, UNKNOWN, Endings
from swftools.formats.accounting.lines import Strays, rejects_of
from swftools.formats.accounting.meanings import said_by_word
from swftools.formats.accounting.parts_of_jobs import EarlierRuns, KeyArray, PartsOfJobs, job_key
from swftools.formats.accounting.records import Records, Reject, Stretch
from swftools.formats.accounting.spans import numbers, texts
from swftools.formats.lsf import kernel
from swftools.formats.lsf.states import FOLLOWED, status_bits, swf_status, words_of_states
from swftools.formats.registry import Fit, register_format
from swftools.kernel import IntArray
from swftools.parameters import choice

_RECORD = re.compile(
    rb'^[ \t]*"(?:JOB_FINISH|JOB_RESIZE|EVENT_ADRSV_FINISH)"[ \t]+"[0-9][0-9.]*"[ \t]+[0-9]', re.MULTILINE
)
_DEPENDENCY = re.compile(r"\s*\(*\s*(?:(done|ended|exit)\s*\(\s*)?([0-9]+(?:\[[0-9]+\])?)(?:\[\*\])?(?:\s*\))*\s*")
_GROUPS = {"project": "projectName", "charged-account": "chargedSAAP"}
_NEEDED = ("jobId", "idx", "submitTime", "startTime", "event time", "jStatus")
"""Numbers without which a record is not a job."""
_NO_JOB = {kernel.RESERVATION: "an advance reservation, not a job", kernel.OTHER: "no JOB_FINISH"}
_EXECUTABLES = {"command": "command", "app": "app", "job-name": "jobName"}


@register_format
@dataclass(frozen=True)
class Lsf(AccountingFormat):
    """The accounting file of LSF (``lsb.acct``, and ``lsb.acct.1`` and so on).

    Parameters
    ----------
    group : {"project", "charged-account"}
        What the group is: the project (bsub -P), or the account of fair sharing that was charged, a path of groups.
    executable : {"command", "app", "job-name"}
        What the executable is: the command line, the application profile (bsub -app) or the job's name (bsub -J).
    """

    NAME = "lsf"
    READER_VERSION = 3
    """3: of several jobs that one waited for none was told."""
    TITLE = "IBM Spectrum LSF, lsb.acct"
    COMMAND = "cat $LSB_SHAREDIR/CLUSTER/logdir/lsb.acct* > lsb.acct.txt"
    NOTES = (
        "Processors are job slots, those at the end of a job that was resized.",
        "Used memory is the largest resident memory of all processes of the job, divided by its slots, in KB.",
    )

    group: str = choice("project", "charged-account")
    executable: str = choice("command", "app", "job-name")

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text has a record of lsb.acct."""
        if _RECORD.search(head):
            return Fit(True, "a record that begins as those of lsb.acct do")
        return Fit(False, 'no record such as \'"JOB_FINISH" "10.1" 1527327585\'')

    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in a file."""
        resizes, earlier, endings = PartsOfJobs(), EarlierRuns(), Endings()
        for stretch in stretches:
            yield _Lines(self, stretch).records(resizes, earlier, endings)


class _Lines(Columns):
    """The lines of a stretch, column by column."""

    NAMES, NEEDED = kernel.COLUMNS, _NEEDED

    def __init__(self, options: Lsf, stretch: Stretch) -> None:
        self.options, self.stretch = options, stretch
        self.lines, self.rows = kernel.find_lines(stretch.text, stretch.first_line)
        kind = self.lines.kind[: self.rows]
        self.is_job = np.isin(kind, (kernel.FINISH, kernel.SHORT, kernel.UNENDED, kernel.LISTS, kernel.ASTRAY))
        self.jobs, self.resizes = np.flatnonzero(self.is_job), np.flatnonzero(kind == kernel.RESIZE)
        super().__init__(stretch.text, self.lines.value_begin, self.lines.value_end, self.jobs)

    def words(self, column: str) -> pa.LargeStringArray:
        """Return the strings of a column, each quotation mark in them once."""
        return pc.replace_substring(texts(self.spans(column)), '""', '"')

    def records(self, resizes: PartsOfJobs, earlier: EarlierRuns, endings: Endings) -> Records:
        """Return the jobs as records, and what became of other lines."""
        jobs, lines = self.jobs, self.lines
        records = Records(lines.line[jobs], lines.begin[jobs], lines.end[jobs])
        self._judge_shape(records, endings)
        key = self._keys(jobs)
        sound = np.flatnonzero(lines.kind[jobs] == kernel.FINISH)
        nothing = np.empty((0, len(self.resizes)))
        joined = resizes.join(
            key[sound], records.line[sound], self._keys(self.resizes), lines.line[self.resizes], nothing
        )
        records.merged_line, records.merged_into = joined.line, sound[joined.into]
        if resized := len(np.unique(joined.into)):
            records.anomalies["resized while it ran: processors are those at its end"] += resized
        self._reject(records, resizes)
        self._read_times(records)
        self._read_processors(records)
        self._read_usage(records)
        self._read_words(records)
        self._read_status(records, key, earlier)
        return records

    def _keys(self, rows: IntArray) -> KeyArray:
        """Return which job each line is of."""
        return job_key(*(numbers(self.spans(name, rows)).value for name in ("jobId", "idx")))

    def _judge_shape(self, records: Records, endings: Endings) -> None:
        """Say which records are cut off, or have not the fields of a job."""
        kind = self.lines.kind[self.jobs]
        # A change of hosts has another form than jobs, and what is read of it stands before its end.
        form = np.where(kind == kernel.FINISH, self.lines.reach[self.jobs], UNKNOWN)
        if endings.is_cut_off(self.stretch, self.lines.end[self.jobs], form):
            records.fault(self.jobs == self.rows - 1, CUT_OFF)
        records.fault(kind == kernel.UNENDED, "a string that does not end")
        records.fault(kind == kernel.LISTS, "a list of hosts that is not as long as it says")
        records.fault(kind == kernel.ASTRAY, "strings and numbers do not stand where a JOB_FINISH has them")
        unread = self.lines.unread[self.jobs]
        records.note("fields behind the memory are not those that are known: not read", unread)
        records.fault(kind == kernel.SHORT, "fewer fields than a JOB_FINISH has")

    def _reject(self, records: Records, resizes: PartsOfJobs) -> None:
        """Say which lines are not jobs."""
        lines = self.lines
        rows = np.flatnonzero(~self.is_job & (lines.kind[: self.rows] != kernel.RESIZE))
        strays = Strays(lines.line[rows], lines.begin[rows], lines.end[rows], lines.kind[rows])
        records.rejects = rejects_of(strays, len(rows), _NO_JOB)
        if self.stretch.is_last:
            why = "JOB_RESIZE of a job that does not finish behind it"
            records.rejects += [Reject(line, 0, 0, why) for line in resizes.lines_left()]

    def _read_times(self, records: Records) -> None:
        """Read when a job was submitted, could begin, started and ended."""
        names = ("submitTime", "beginTime", "startTime", "event time")
        submit, begin, start, end = (self.number(records, name) for name in names)
        is_record = self.lines.kind[self.jobs] == kernel.FINISH
        records.fault(is_record & ~(submit > 0), "no submitTime")
        records.fault(is_record & ~(end > 0), "no event time")
        start[start == 0] = np.nan
        begin[begin == 0] = np.nan
        self.start, self.submit = start, submit
        records.numbers |= {"submit": submit, "start": start, "end": end}
        records.numbers["eligible"] = np.where(np.isfinite(begin), np.fmax(begin, submit), np.nan)

    def _read_processors(self, records: Records) -> None:
        """Read the slots of a job, and how many it asked for."""
        listed = self.lines.slots[self.jobs].astype(np.float64)
        hosts = self.lines.hosts[self.jobs].astype(np.float64)
        least, most = self.number(records, "numProcessors"), self.number(records, "maxNumProcessors")
        least[least == 0], most[most == 0] = np.nan, np.nan
        asked = np.fmax(least, most)
        ran = np.isfinite(self.start)
        unlisted = ran & (listed == 0) & ~records.is_faulty
        records.note("no hosts of a job that ran: the slots that it asked for are taken", unlisted)
        records.fault(ran & (listed == 0) & np.isnan(asked), "no hosts and no slots of a job that ran")
        records.numbers |= {
            "allocated_processors": np.where(ran, np.where(listed > 0, listed, asked), np.nan),
            "allocated_nodes": np.where(ran & (hosts > 0), hosts, np.nan),
            "requested_processors": asked,
            "fewest_processors": least,
        }

    def _read_usage(self, records: Records) -> None:
        """Read the run limit, CPU time and memory, where -1 says that they are not known."""
        user, system, memory, limit = (
            self.number(records, name) for name in ("ru_utime", "ru_stime", "maxRMem", "runLimit")
        )
        ran = np.isfinite(self.start)
        memory[(memory <= 0) & (memory >= -1) | ~ran] = np.nan
        user[(user == -1) | ~ran], system[(system == -1) | ~ran] = np.nan, np.nan
        limit[(limit == -1) | (limit == 0)] = np.nan
        records.numbers |= {
            "requested_time": limit,
            "cpu_time": user + system,
            "used_memory": memory / records.numbers["allocated_processors"],
        }

    def _read_status(self, records: Records, key: KeyArray, earlier: EarlierRuns) -> None:
        """Read how each job ended, and how often it had been started before."""
        status, code, reason = (self.number(records, name) for name in ("jStatus", "exitStatus", "exitInfo"))
        done, exited = status_bits(status)
        is_record = self.lines.kind[self.jobs] == kernel.FINISH
        records.fault(is_record & (done + exited == 0), "not ended: jStatus", self.spans("jStatus"))
        records.fault((done > 0) & np.isnan(self.start), "done, and yet it did not start")
        waited = (code >= 0) & (code <= 0xFFFF)
        whole = np.where(waited, code, 0.0).astype(np.int64)
        records.numbers |= {
            "status": np.where(done + exited > 0, swf_status(status, reason, self.start), np.nan),
            "exit_code": np.where(waited, whole >> 8, np.nan),
            "exit_signal": np.where(waited, whole & 127, np.nan),
        }
        again = (exited > 0) & np.isfinite(self.start) & np.isin(reason, FOLLOWED) & ~records.is_faulty
        records.numbers["restarts"] = earlier.count(key, self.submit, again)
        records.words["logged_state"] = words_of_states(status, reason)

    def _read_words(self, records: Records) -> None:
        """Read names, ids and what jobs waited for."""
        number, index = self.number(records, "jobId"), self.number(records, "idx")
        records.fault(~(number >= 0) | (number != np.trunc(number)), "jobId is no job number", self.spans("jobId"))
        records.numbers |= elements(number, index)
        is_element = index > 0
        job, element = texts(self.spans("jobId")), texts(self.spans("idx"))
        nothing = pa.scalar("", pa.large_string())
        bracketed = pc.binary_join_element_wise(
            job, pa.scalar("[", pa.large_string()), element, pa.scalar("]", pa.large_string()), nothing
        )
        waits_for = self.words("dependCond")
        records.words = {
            "log_id": pc.if_else(pa.array(is_element), bracketed, job),
            "user": self.words("userName"),
            "group": self.words(_GROUPS[self.options.group]),
            "executable": self.words(_EXECUTABLES[self.options.executable]),
            "queue": self.words("queue"),
            "dependency": waits_for,
            "preceding": preceding_jobs(waits_for),
        }
        if is_element.any():
            records.words["array"] = pc.if_else(pa.array(is_element), job, None)


def preceding_jobs(conditions: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the ids of the jobs that each condition waits for the end of: null where these are none.

    One of several that are parted by ``||`` is enough: each has the mark of that. What waits for a start, or for a job
    by its name, is not followed; nor is a condition that mixes ``&&`` and ``||``.

    Examples
    --------
    >>> preceding_jobs(pa.array(["ended(4[2])", "17", "done(1) && exit(2)", "done(1)||exit(2)"])).to_pylist()
    ['4[2]', '17', '1 2', '|=1 |!2']
    >>> preceding_jobs(pa.array(['done("a")', "started(1)", "done(1) || started(2)"])).to_pylist()
    [None, None, None]
    """
    return said_by_word(conditions, _preceding_of)


def _preceding_of(condition: str) -> str | None:
    """Return the ids of the jobs that a condition waits for the end of."""
    one_is_enough = "||" in condition
    matches = [_DEPENDENCY.fullmatch(term) for term in re.split(r"&&|\|\|", condition)]
    if one_is_enough and ("&&" in condition or None in matches):
        return None
    marks = {"done": "|=", "exit": "|!"} if one_is_enough else {}
    otherwise = "|" if one_is_enough else ""
    return " ".join(marks.get(found[1], otherwise) + found[2] for found in matches if found) or None
