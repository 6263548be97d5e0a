# SPDX-License-Identifier: BSD-3-Clause
"""PAI: jobs of a GPU cluster of Alibaba, July and August 2020, a join of tables without headers (Weng et al. 2022)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swftools.errors import LogFormatError
from swftools.formats.accounting.format import Tally
from swftools.formats.accounting.parts_of_jobs import first_places
from swftools.formats.accounting.records import Records, Reject, Stretch
from swftools.formats.compression import source_name
from swftools.formats.multi_file import LogFiles
from swftools.formats.registry import Fit, Reading, register_format
from swftools.formats.tables.column_reader import Filler
from swftools.formats.tables.columns import Column, Declaration, column
from swftools.formats.tables.files import pass_over
from swftools.formats.tables.heads import Head, head_of
from swftools.formats.tables.table_format import TableFormat
from swftools.formats.tables.text_rows import TextReader
from swftools.kernel import FloatArray, IntArray

_TABLES: dict[str, tuple[str, ...]] = {
    "job": ("job_name", "inst_id", "user", "status", "start_time", "end_time"),
    "task": (
        *("job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu"),
        "gpu_type",
    ),
    "group_tag": ("inst_id", "user", "gpu_type_spec", "group", "workload"),
    "instance": (
        *(
            "job_name",
            "task_name",
            "inst_name",
            "worker_name",
            "inst_id",
            "status",
            "start_time",
            "end_time",
            "machine",
        ),
    ),
}
_STATUS = {"job": 3, "task": 3, "instance": 5}
_WORDS = {"Running", "Terminated", "Failed", "Waiting", "Interrupted"}
_WHY = "rows as those of pai_job_table, pai_task_table, pai_group_tag_table"
_ORPHAN = "a task of no job in the job table"


@register_format
@dataclass(frozen=True)
class Pai(TableFormat):
    """Jobs of Alibaba's PAI, 2020: the job table joined with the tasks of each job."""

    NAME = "pai"
    TITLE = "PAI, a GPU cluster of Alibaba (2020)"
    COMMAND = "pai_job_table.csv, pai_task_table.csv and, if you like, pai_group_tag_table.csv, in one folder"
    NOTES = (
        "Processors are GPUs, shares of one rounded up, unless width=cpus was said; jobs without GPUs have no width then.",
    )
    COLUMNS = {
        "log_id": column("job_name"),
        "submit": column("start_time", unit="s", needed=True),
        "end": column("end_time", unit="s", needed=True),
        "state": column("status", needed=True),
        "user": column("user"),
    }
    WIDTHS: ClassVar[dict[str, dict[str, Column]]] = {"gpus": {}, "cpus": {}}
    STATES = {"TERMINATED": 1, "FAILED": 0, "RUNNING": None, "WAITING": None}
    HAS_DATES = False
    JOB = (
        "A row of `pai_job_table`. The rows of `pai_task_table` with its name are part of it: the first that starts tells its "
        "start. Of `pai_group_tag_table` come group and workload (the executable)."
    )
    WIDTH = (
        "GPUs: `plan_gpu` per cent times `inst_num`, summed over tasks and rounded up; `exact_processors` has the sum, `exact_gpus` "
        "and `requested_gpus` tell GPUs whatever the width. `width=cpus`: CPUs, likewise."
    )
    MACHINE = "One cluster. The type of GPU of the task with most of them is the partition."
    TRIED = "Rows made from its description: never tried on the real thing."
    TRAPS = (
        "The files have no header lines; they are told apart by what stands in them. Leave `.header` files aside.",
        "`pai_instance_table` is passed over: tasks tell when jobs started. Sensors and machines are no tables of jobs.",
        "Times are seconds from a date that is withheld.",
        "What jobs ask for together may be more than the machine has: give `processors=` to be told.",
    )

    @classmethod
    def recognise(cls, head: bytes) -> Fit:
        """Say whether the rows are like those of one of the tables."""
        kind = _kind(head_of(head))
        return Fit(kind is not None, f"rows as those of pai_{kind}_table" if kind else f"no {_WHY}")

    def first_time(self, head: bytes) -> float | None:  # noqa: ARG002 (as the base has it)
        """Tables of one join have no order."""
        return None

    def preface(self, head: bytes) -> bytes | None:  # noqa: ARG002 (as the base has it)
        """Return that a join is read whole."""
        return None

    def pieces(self, files: LogFiles, how: Reading, tally: Tally) -> Iterator[tuple[Stretch, Records]]:
        """Read all tables, and yield the jobs with what their tasks say."""
        files.begins = []
        first = 1
        read: dict[str, _Table] = {}
        passed: Counter[str] = Counter()
        for number, source in enumerate(files.sources):
            files.begins.append(first)
            head = files.head(number)
            if not head.strip():
                continue
            kind = _kind(head_of(head))
            if kind is None:
                raise LogFormatError(
                    f"{source_name(source)} is none of PAI's tables of jobs, tasks and groups; leave it aside"
                )
            if kind == "instance":
                passed["a table of instances, which tasks tell enough of: passed over"] += 1
                pass_over(source, how, tally, is_last_file=number == len(files.sources) - 1)
                continue
            table = read.setdefault(kind, _Table(self._declared(kind), self.NAME))
            is_last = number == len(files.sources) - 1
            first = table.read(self, LogFiles([source], files.name), how, tally, first, is_last=is_last)
        if not read and not passed:  # nothing but empty files
            nothing = np.empty(0, np.int64)
            yield Stretch(b"", 1, is_last=True), Records(nothing, nothing, nothing)
            return
        for kind in ("job", "task"):
            if kind not in read:
                raise LogFormatError(f"there is no pai_{kind}_table.csv; give the folder that has it too")
        jobs, tasks = read["job"].records, read["task"].records
        whole = _concatenated(jobs)
        whole.anomalies.update(passed)
        self._join_tasks(whole, _concatenated(tasks))
        ids = whole.words.pop("dependency")
        whole.words.pop("preceding", None)
        if "group_tag" in read:
            _join_groups(whole, ids, _concatenated(read["group_tag"].records))
        yield Stretch(b"", 1, is_last=True), whole

    def _declared(self, kind: str) -> Declaration:
        """Return the declaration of one of the tables; what is no column of ours goes by a name that is free."""
        if kind == "job":
            columns = {**self.COLUMNS, "dependency": column("inst_id")}
            return Declaration(columns, self.STATES, (), None, False, ",", _TABLES[kind])
        if kind == "task":
            columns = {
                "log_id": column("job_name"),
                "start": column("start_time", unit="s"),
                "cpu_time": column("plan_cpu", times="inst_num"),
                "run_time": column("plan_gpu", times="inst_num"),
                "used_memory": column("plan_mem", unit="GB", times="inst_num"),
                "partition": column("gpu_type"),
            }
            return Declaration(columns, {}, (), None, False, ",", _TABLES[kind], is_part=True)
        columns = {"log_id": column("inst_id"), "group": column("group"), "executable": column("workload")}
        return Declaration(columns, {}, (), None, False, ",", _TABLES[kind], is_part=True)

    def _join_tasks(self, jobs: Records, tasks: Records) -> None:
        """Sum over the tasks of each job, and take their first start."""
        owner = first_places(jobs.words["log_id"], tasks.words["log_id"])
        owned = _owned(jobs, tasks, owner, _ORPHAN)
        count = len(jobs)
        owner = owner[owned]
        jobs.merged_line, jobs.merged_into = tasks.line[owned], owner
        has_task = np.bincount(owner, minlength=count) > 0
        cpus, gpus, memory = (
            np.bincount(owner, np.nan_to_num(tasks.number(name)[owned]), minlength=count).astype(np.float64)
            for name in ("cpu_time", "run_time", "used_memory")
        )
        cpus, gpus = (np.where(has_task, values / 100.0, np.nan) for values in (cpus, gpus))
        start = np.full(count, np.inf)
        np.fmin.at(start, owner, tasks.number("start")[owned])
        jobs.numbers["start"] = np.where(np.isfinite(start), start, np.nan)
        jobs.fault(has_task & ~np.isfinite(start) & (jobs.number("status") == 1), "completed without a start")
        jobs.fault(~has_task & (jobs.number("status") == 1), "completed without a task")
        exact = gpus if self.width != "cpus" else cpus
        exact = np.where(exact > 0, exact, np.nan)
        jobs.numbers |= {
            "exact_processors": exact,
            "requested_processors": np.ceil(np.round(exact, 9)),
            "exact_gpus": gpus,
            "requested_gpus": np.ceil(np.round(gpus, 9)),
            "requested_memory": memory / np.ceil(np.round(exact, 9)),
        }
        if without := int((has_task & ~np.isfinite(exact) & ~jobs.is_faulty).sum()):
            jobs.anomalies["asks for none of what the width counts: a job without a width"] += without
        jobs.words["partition"] = _of_most(
            tasks.words["partition"], owned, owner, np.nan_to_num(tasks.number("run_time")), count
        )


class _Table:
    """The rows of one of the tables."""

    def __init__(self, declaration: Declaration, name: str) -> None:
        self.declaration = declaration
        self.filler = Filler(declaration, name, None)
        self.records: list[Records] = []

    def read(self, form: Pai, one: LogFiles, how: Reading, tally: Tally, first: int, *, is_last: bool) -> int:
        """Read a file of it; return the number of the line behind."""

        def reader(beginning: bytes, line: int) -> TextReader:
            return TextReader(beginning, line, self.declaration, self.filler)

        last = first
        for stretch, records, behind in form.text_pieces(one, how, tally, first, reader, is_last_file=is_last):
            records.show = _shower(stretch.text, records)
            self.records.append(records)
            last = behind
        return last


def _shower(text: bytes, records: Records) -> Any:
    """Return what tells the text of a row; only those of faulty rows are kept."""
    rows = np.flatnonzero(records.is_faulty).tolist()
    kept = {
        row: text[records.begin[row] : records.end[row]].rstrip().decode("utf-8", "backslashreplace") for row in rows
    }
    return lambda row: kept.get(row, "")


def _kind(head: Head | None) -> str | None:
    """Return which of the tables a file is; None for none of them."""
    if head is None or head.kind != "csv" or head.separator != ",":
        return None
    rows = [head.columns, *head.rows]
    for kind, names in _TABLES.items():
        like = [row for row in rows if len(row) == len(names)]
        if kind in _STATUS:
            like = [row for row in like if row[_STATUS[kind]] in _WORDS]
        else:  # inst_id and user are hexadecimal
            like = [row for row in like if len(row[0]) > 30 and _is_hex(row[0]) and _is_hex(row[1])]
        if 2 * len(like) > len(rows):
            return kind
    return None


def _is_hex(word: str) -> bool:
    return bool(word) and all(letter in "0123456789abcdef" for letter in word)


def _concatenated(parts: Sequence[Records]) -> Records:
    """Return the records of several stretches as one."""
    line, begin, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("line", "begin", "end"))
    whole = Records(line, begin, end)
    whole.zero = parts[0].zero
    offsets = np.cumsum([0, *(len(part) for part in parts)])
    names = {name: None for part in parts for name in part.numbers}
    whole.numbers = {name: np.concatenate([part.number(name) for part in parts]) for name in names}
    kinds = {name: None for part in parts for name in part.words}
    whole.words = {
        name: pa.concat_arrays([part.words.get(name, pa.nulls(len(part), pa.large_string())) for part in parts])
        for name in kinds
    }
    showers = [part.show for part in parts]

    def show(row: int) -> str:
        part = int(np.searchsorted(offsets, row, "right")) - 1
        shower = showers[part]
        return shower(row - int(offsets[part])) if shower else ""

    whole.show = show
    for part, begin in zip(parts, offsets, strict=False):
        whole.take_faults(part, int(begin))
        whole.rejects += part.rejects
        whole.anomalies.update(part.anomalies)
    return whole


def _owned(jobs: Records, parts: Records, owner: IntArray, told: str) -> IntArray:
    """Return which rows are parts of jobs; the others are told of."""
    damaged = np.flatnonzero(parts.is_faulty)
    jobs.rejects += [Reject(int(parts.line[row]), 0, 0, parts.reason_of(row)) for row in damaged.tolist()]
    orphans = np.flatnonzero(~parts.is_faulty & (owner < 0))
    jobs.rejects += [Reject(line, 0, 0, told) for line in parts.line[orphans].tolist()]
    parts.count_doubts()
    jobs.anomalies.update(parts.anomalies)
    return np.flatnonzero(~parts.is_faulty & (owner >= 0))


def _join_groups(jobs: Records, ids: pa.LargeStringArray, groups: Records) -> None:
    """Give each job the group and the workload of its tag."""
    found = first_places(groups.words["log_id"], ids)
    place = pa.array(np.where(found < 0, 0, found), mask=found < 0)
    for name in ("group", "executable"):
        jobs.words[name] = groups.words[name].take(place)
    owner = first_places(ids, groups.words["log_id"])
    owned = _owned(jobs, groups, owner, "a tag of no job in the job table")
    jobs.merged_line = np.append(jobs.merged_line, groups.line[owned])
    jobs.merged_into = np.append(jobs.merged_into, owner[owned])


def _of_most(
    words: pa.LargeStringArray, owned: IntArray, owner: IntArray, amount: FloatArray, count: int
) -> pa.LargeStringArray:
    """Return for each job the word of the task that asks for most."""
    order = np.lexsort((-owned, amount[owned]))
    best = np.full(count, -1, np.int64)
    best[owner[order]] = owned[order]
    return words.take(pa.array(np.where(best < 0, 0, best), mask=best < 0))
