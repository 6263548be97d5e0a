# SPDX-License-Identifier: BSD-3-Clause
"""Read the long listings of IBM LoadLeveler into a trace: each step is a job.

Values are found by their labels, never by where they stand, since which labels there are differs between commands
and versions. What the states mean and how they map to SWF follows IBM's "Using and Administering" manuals and the
practice of the Parallel Workloads Archive for the logs of SDSC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import LogFormatError
from swftools.formats.accounting.columns import Columns, first_known
from swftools.formats.accounting.kernel import label_table
from swftools.formats.accounting.last_record import CUT_OFF, is_unfinished
from swftools.formats.accounting.lines import rejects_of
from swftools.formats.accounting.records import Records, Stretch
from swftools.formats.accounting.spans import Spans, sizes, texts
from swftools.formats.accounting.times import in_order, read_times
from swftools.formats.accounting.written_dates import WrittenDates
from swftools.formats.loadleveler import kernel
from swftools.formats.loadleveler.states import COMPLETED, NOT_RUN, OPEN, REJECTED, UNKNOWN, kinds_of, swf_status
from swftools.formats.loadleveler.words import counted_tasks, memory_of_resources, preceding_steps
from swftools.formats.registry import Fit, register_format
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.parameters import choice, is_whole

LABELS = (
    *("Allocated Host", "Job Step Id", "Step Name", "Owner", "Unix Group", "Account", "Class", "Status"),
    *("Queue Date", "Eligibility Time", "Dispatch Time", "Start Time", "Completion Date", "Completion Code"),
    *("Start Count", "Dependency", "Step Type", "Node Usage", "Alloc. Host Count", "Min Processors", "Max Processors"),
    *("Wall Clk Hard Limit", "Wall Clk Soft Limit", "Step User Time", "Step System Time", "Step Total Time"),
    *("Step maxrss", "Step Real Memory", "Resources", "Requirements", "Task_geometry", "Cmd", "Job Name"),
)
"""What is read of a step; the scanner lists hosts behind the first."""

_INHERITED = ("Owner", "Unix Group", "Job Name")
_NEEDED = ("Queue Date", "Status", "Class")
_ALWAYS = (
    *("Queue Date", "Status", "Dispatch Time", "Completion Date", "Completion Code", "Step Type", "Node Usage"),
    *("Class", "Wall Clk Hard Limit", "Wall Clk Soft Limit"),
)
"""Labels that stand in every step, if in any, with or without a value."""

_TABLE = label_table([label.encode() for label in LABELS])
_NODE_TABLE = label_table(list(kernel.NODE_LABELS))
_IS_IN_EVERY_STEP = np.array([label in _ALWAYS for label in LABELS])
_IS_INHERITED = np.array([label in _INHERITED for label in LABELS])
_NO_LIMIT = ("undefined", "unlimited")
_SOME_SECONDS = 10.0
_HEADER = re.compile(rb"^[=-]{3,} (?:Job Step|Step|Job) \S+ [=-]{3,}", re.MULTILINE)
_SHORT_LLQ = re.compile(rb"^Id +Owner +Submitted +ST +PRI +Class", re.MULTILINE)
_SUMMARY = re.compile(rb"^ *\S+ +Jobs +Steps +Job Cpu +Starter Cpu +Leverage", re.MULTILINE)


@register_format
@dataclass(frozen=True)
class LoadLeveler(WrittenDates):
    """The long listings of LoadLeveler: ``llsummary -l`` of finished jobs, ``llq -l`` of those in the queue.

    Parameters
    ----------
    processors_per_node : int, or mapping of str to int, optional
        Processors of a node, or of each kind of node, by the beginning of its hosts' names (``{"p655": 8, "p690":
        32}``). Required where steps have nodes for themselves and the listing does not count their tasks.
    requested_time : {"soft", "hard"}
        Which wall-clock limit is the user's estimate. Sites set the hard one some seconds above the soft one.
    submit : {"queue", "eligible"}
        What counts as submission: the Queue Date, or the Eligibility Time where it is printed, which is later for
        steps that were held or depend on others.
    group : {"unix-group", "account"}
        What the group is.
    executable : {"command", "job-name"}
        What the executable is.
    completion_code : {"wait", "plain"}
        Whether the Completion Code is as wait(2) returns it (exit status 1 is 256), or the exit status itself.
    """

    NAME = "loadleveler"
    READER_VERSION = 3
    """3: of several jobs that one waited for none was told."""
    TITLE = "IBM LoadLeveler, long listings"
    COMMAND = "LC_ALL=C TZ=UTC llsummary -l HISTORY_FILE > history.txt"
    NOTES = (
        "Each step is a job.",
        "Used memory is the largest resident set of one process of the job, in KB.",
    )

    processors_per_node: Any = None
    requested_time: str = choice("soft", "hard")
    submit: str = choice("queue", "eligible")
    group: str = choice("unix-group", "account")
    executable: str = choice("command", "job-name")
    completion_code: str = choice("wait", "plain")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.processors_per_node
        kinds = given if isinstance(given, Mapping) else {"": 1 if given is None else given}
        sound = all(isinstance(name, str) and is_whole(count, 1, 2**31 - 1) for name, count in kinds.items())
        words = "a number of processors from 1 on, or one for each beginning of a host's name"
        self._require("processors_per_node", sound and bool(kinds), words)

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether a text is a listing of LoadLeveler's, be it one that cannot be read."""
        if _HEADER.search(head):
            return Fit(True, "a header of a job or step between signs")
        if _SHORT_LLQ.search(head):
            return Fit(True, "the heading of llq")
        if _SUMMARY.search(head):
            return Fit(True, "the heading of llsummary")
        return Fit(False, "no header such as '===== Job Step ID =====' or '----- Step ID -----'")

    def cut(self, text: bytes) -> int:
        """Return where the last job of a text begins, or the last step where jobs have no headers."""
        return int(kernel.last_header(text))

    def records(self, stretches: Iterable[Stretch]) -> Iterator[Records]:
        """Say what stands in a listing."""
        usual: BoolArray | None = None
        for stretch in stretches:
            self._refuse_short(stretch.text[: 1 << 16])
            listing = _Listing(self, stretch, usual)
            yield listing.records()
            usual = listing.labels_until(listing.rows)

    def _refuse_short(self, head: bytes) -> None:
        """Raise if a text is a short report, of which no jobs can be made."""
        if _HEADER.search(head):
            return
        for heading, what, command in (
            (_SHORT_LLQ, "the short report of llq, without years, ids cut off", "llq -l"),
            (_SUMMARY, "the standard report of llsummary, sums without jobs", "llsummary -l"),
        ):
            if heading.search(head):
                raise LogFormatError(f"this is {what}; run {command} and read what that prints")


class _Listing(Columns):
    """The steps of a stretch, column by column; ``usual`` are the labels of every step before them."""

    NAMES, NO_LIMIT = LABELS, _NO_LIMIT

    def __init__(self, options: LoadLeveler, stretch: Stretch, usual: BoolArray | None) -> None:
        self.options, self.stretch, self.usual = options, stretch, usual
        text = stretch.text
        steps, strays, self.rows, found_strays = kernel.find_steps(
            text, stretch.first_line, _TABLE, _IS_INHERITED, _NODE_TABLE, LABELS.index("Cmd")
        )
        super().__init__(text, steps.value_begin, steps.value_end, slice(self.rows))
        self.steps = steps
        self.strays = rejects_of(strays, found_strays, kernel.REASONS)

    def labels_until(self, row: int) -> BoolArray | None:
        """Return which labels every step before a row has, and which have a value in every one.

        Steps of earlier stretches count too; None if there is no such step.
        """
        if row == 0:
            return self.usual
        begin, end = self.steps.value_begin[:, :row], self.steps.value_end[:, :row]
        has: BoolArray = np.stack([(begin >= 0).all(axis=1), (begin >= 0).all(axis=1) & (begin < end).all(axis=1)])
        return has if self.usual is None else has & self.usual

    def count(self, which: int) -> FloatArray:
        """Return a count that the scanner made, NaN where nothing says it."""
        values = self.steps.counts[which, : self.rows].astype(np.float64)
        values[values < 0] = np.nan
        return values

    def records(self) -> Records:
        """Return the steps as records."""
        steps, rows = self.steps, self.rows
        records = Records(steps.line[:rows], steps.begin[:rows], steps.end[:rows], rejects=self.strays)
        header_id = Spans(self.stretch.text, steps.id_begin[:rows], steps.id_end[:rows])
        states = texts(self.spans("Status"))
        ids = texts(self.spans("Job Step Id").or_else(header_id))
        kinds = kinds_of(states)
        self._judge_shape(records, kinds)
        self._read_times(records, kinds)
        self._read_processors(records)
        self._read_usage(records)
        self._read_status(records, kinds)
        executable = self.spans("Cmd") if self.options.executable == "command" else self.spans("Job Name")
        records.words = {
            "log_id": ids,
            "logged_state": states,
            "user": texts(self.spans("Owner")),
            "group": texts(self.spans("Unix Group" if self.options.group == "unix-group" else "Account")),
            "executable": texts(executable),
            "queue": texts(self.spans("Class")),
            "dependency": texts(self.spans("Dependency")),
            "preceding": preceding_steps(ids, texts(self.spans("Step Name")), texts(self.spans("Dependency"))),
            **({} if self.partitions is None else {"partition": self.partitions}),
        }
        return records

    def _judge_shape(self, records: Records, kinds: IntArray) -> None:
        """Say which steps are cut off, lack what a job needs, or have not ended."""
        steps, rows = self.steps, self.rows
        if rows and self.stretch.is_last and steps.end[rows - 1] == len(self.stretch.text):
            records.fault(np.arange(rows) == rows - 1 if self._is_cut_off() else np.zeros(rows, bool), CUT_OFF)
        for label in _NEEDED:
            records.fault(self.spans(label).start < 0, f"no {label}")
        records.fault(self.steps.repeated[:rows] > 0, "a label stands twice, with two values")
        records.fault(kinds == OPEN, "not ended", self.spans("Status"))
        records.fault(kinds == UNKNOWN, "a state that LoadLeveler does not have", self.spans("Status"))
        records.note("blocks of use by machine and event (-x) not read", steps.details[:rows])

    def _is_cut_off(self) -> bool:
        """Return whether the last step is cut off: it lacks labels that every step before it has.

        So it may be within a line: then these are all labels, with values; else those that stand in every step.
        """
        steps, last = self.steps, self.rows - 1
        text = self.stretch.text
        unfinished = is_unfinished(self.stretch, len(text))
        if unfinished and self.strays and self.strays[-1].end == len(text):
            self.strays.pop()  # it ends within a label
            return True
        before = self.labels_until(last)
        if before is None:
            return False
        lacks = steps.value_begin[:, last] < 0
        is_empty = lacks | (steps.value_begin[:, last] == steps.value_end[:, last])
        always, filled = before
        cut = always & _IS_IN_EVERY_STEP & lacks
        if unfinished:
            cut |= (always & lacks) | (filled & is_empty & ~lacks)
        return bool(cut.any())

    def _read_times(self, records: Records, kinds: IntArray) -> None:
        """Read when each step was submitted, could start, started and ended."""
        zone = self.options.time_zone
        labels = ("Queue Date", "Eligibility Time", "Dispatch Time", "Start Time", "Completion Date")
        moments = {label: read_times(self.spans(label), zone, dates=self.options.dates) for label in labels}
        self.judge_times(records, moments, "" if self.options.submit == "eligible" else "Eligibility Time")
        for label, each in moments.items():
            records.note(f"{label} printed with another zone than time_zone says", each.is_contradicted)
        (submit, eligible, dispatch, start, end), ambiguous = in_order(*moments.values())
        # Where a listing has starts, a step without one did not start, though it was dispatched.
        start = np.where(self.spans("Start Time").start >= 0, start, dispatch)
        start[(kinds == REJECTED) | (kinds == NOT_RUN)] = np.nan
        if self.options.submit == "eligible":
            submit = np.where(np.isfinite(eligible), eligible, submit)
        self.start, self.end, self.dispatch = start, end, dispatch
        records.fault(np.isfinite(start) & ~np.isfinite(end), "no Completion Date")
        records.fault((kinds == COMPLETED) & ~np.isfinite(start), "completed, and yet it did not start")
        records.numbers |= {"submit": submit, "eligible": eligible, "start": start, "end": end}
        records.is_ambiguous = ambiguous

    def _read_processors(self, records: Records) -> None:
        """Read nodes, tasks and processors."""
        counted = np.maximum(self.steps.host_lines[: self.rows].astype(np.float64), 0.0)
        counted[counted == 0] = np.nan
        by_nodes = self.count(kernel.HOSTS)
        told = self.number(records, "Alloc. Host Count")
        hosts = first_known(by_nodes, told, counted, self.count(kernel.NODE_ACTUAL))
        hosts[hosts == 0] = np.nan
        differs = np.isfinite(counted) & np.isfinite(told) & (counted != told)
        records.note("the hosts that are listed are not as many as Alloc. Host Count says", differs)
        serial = _equal(texts(self.spans("Step Type")), "Serial")
        dedicated = _equal(texts(self.spans("Node Usage")), "not_shared")
        geometry = counted_tasks(texts(self.spans("Task_geometry")))
        total = self.count(kernel.TOTAL_TASKS)
        started_tasks = self.count(kernel.TASKS)
        started_tasks[started_tasks == 0] = np.nan
        tasks = first_known(started_tasks, geometry, total)
        ran = np.isfinite(self.start)
        per_node, self.partitions = self._per_node(records)
        whole_nodes = hosts * per_node
        lacking = ran & ~serial & np.isfinite(hosts) & ~np.isfinite(whole_nodes) & ~records.is_faulty
        lacking &= ~np.isfinite(tasks)
        if lacking.any():
            line = int(records.line[np.flatnonzero(lacking)[0]])
            raise LogFormatError(
                f"line {line}: a step has nodes, and it is unknown how many processors these have; give "
                "processors_per_node=8 (--format loadleveler:processors_per_node=8), or processors_per_node.p655=8,"
                "processors_per_node.p690=32 where hosts whose names begin so differ; 1 schedules whole nodes"
            )
        processors = np.where(dedicated, first_known(whole_nodes, tasks), first_known(tasks, whole_nodes))
        processors = np.where(serial & ~np.isfinite(tasks), 1.0, processors)
        records.fault(ran & ~np.isfinite(processors), "no hosts and no tasks of a step that ran")
        self.processors = np.where(ran, processors, np.nan)
        with np.errstate(invalid="ignore"):
            crowded = ran & (tasks > whole_nodes)
        records.note("more tasks than processors of its nodes", crowded)
        least, most = self.number(records, "Min Processors"), self.number(records, "Max Processors")
        of_nodes = self.count(kernel.NODE_MAXIMUM) * per_node
        fewest = self.count(kernel.NODE_MINIMUM) * per_node
        wants_nodes = np.where(dedicated, of_nodes, np.nan)
        records.numbers |= {
            "allocated_processors": self.processors,
            "requested_processors": first_known(total, geometry, most, wants_nodes, np.where(serial, 1.0, np.nan)),
            "fewest_processors": first_known(least, np.where(dedicated, fewest, np.nan)),
            "allocated_nodes": np.where(ran, hosts, np.nan),
            "requested_nodes": self.count(kernel.NODE_MAXIMUM),
        }

    def _per_node(self, records: Records) -> tuple[FloatArray, pa.LargeStringArray | None]:
        """Return the processors of each step's nodes, and which kind they are, where kinds are told apart."""
        given = self.options.processors_per_node
        if not isinstance(given, Mapping):
            return np.full(self.rows, np.nan if given is None else float(given)), None
        steps = self.steps
        hosts = texts(Spans(self.stretch.text, steps.hosts_begin[: self.rows], steps.hosts_end[: self.rows]))
        wishes = texts(self.spans("Requirements"))
        per_node = np.full(self.rows, np.nan)
        kinds: list[str | None] = [None] * self.rows
        mixed = 0
        for row, (names, wish) in enumerate(zip(hosts.to_pylist(), wishes.to_pylist(), strict=True)):
            words = (names or "").replace("+", " ").split()
            found = {kind for word in words for kind in given if word.startswith(kind)}
            found = found or {kind for kind in given if wish and kind in wish}
            if found:
                kinds[row] = max(found)
                counts = [given[kind] for word in words for kind in given if word.startswith(kind)]
                per_node[row] = sum(counts) / len(counts) if counts else given[kinds[row]]
                mixed += len(found) > 1
        if mixed:
            records.anomalies["nodes of several kinds in one job"] += mixed
        return per_node, pa.array(kinds, pa.large_string())

    def _read_usage(self, records: Records) -> None:
        """Read limits, CPU time and memory."""
        soft, hard = (self.duration(records, f"Wall Clk {each} Limit") for each in ("Soft", "Hard"))
        self.hard = hard
        wanted = (soft, hard) if self.options.requested_time == "soft" else (hard, soft)
        user, system = self.duration(records, "Step User Time"), self.duration(records, "Step System Time")
        cpu = first_known(user + system, self.duration(records, "Step Total Time"), user)
        run = self.end - self.start
        idle = (cpu == 0) & (run > _SOME_SECONDS)
        records.note("no CPU time in a run of more than 10 s: taken for not recorded", idle)
        cpu[idle | ~np.isfinite(self.start)] = np.nan
        memory = self.number(records, "Step maxrss")
        memory[(memory == 0) | ~np.isfinite(self.start)] = np.nan
        real, _ = sizes(self.spans("Step Real Memory"))
        records.doubt(real.is_bad, "Step Real Memory is no size")
        wished = np.where(real.value > 0, real.value / 1024.0, np.nan) / np.fmax(self.processors, 1.0)
        consumable = memory_of_resources(texts(self.spans("Resources")))
        records.numbers |= {
            "cpu_time": cpu,
            "used_memory": memory,
            "requested_time": first_known(*wanted),
            "requested_memory": first_known(consumable, wished),
        }

    def _read_status(self, records: Records, kinds: IntArray) -> None:
        """Read how each step ended."""
        code = self.number(records, "Completion Code")
        starts = self.number(records, "Start Count")
        plain = self.options.completion_code == "plain"
        whole = np.where(np.isfinite(code), code, 0.0).astype(np.int64)
        known = np.isfinite(code)
        records.numbers |= {
            "status": swf_status(kinds, code, self.end - self.start, self.hard),
            "exit_code": np.where(known, whole if plain else whole >> 8, np.nan),
            "exit_signal": np.where(known, 0 if plain else whole & 127, np.nan),
            "restarts": np.where(starts >= 1, starts - 1, np.nan),
        }


def _equal(words: pa.LargeStringArray, word: str) -> BoolArray:
    """Return whether each text is a word."""
    return np.asarray(pc.equal(words, word).fill_null(False).to_numpy(zero_copy_only=False), bool)
