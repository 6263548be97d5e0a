# SPDX-License-Identifier: BSD-3-Clause
"""A first mapping of a table that no format knows, from the names of its columns and the values of its first rows.

What is proposed is read by ``--format table:mapping=FILE`` as it is; what it is unsure of stands behind it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from swftools.errors import LogFormatError
from swftools.formats.accounting.date_order import USUAL, order_shown, readings, told_by
from swftools.formats.accounting.dates import DAY_FIRST, EITHER, MONTH_FIRST, SHORT_YEAR
from swftools.formats.accounting.records import NAMES as NAMES_TOLD
from swftools.formats.compression import LogSource, source_name
from swftools.formats.multi_file import HEAD, log_files
from swftools.formats.parquet_head import MAGIC
from swftools.formats.registry import list_formats
from swftools.formats.tables.columns import NONE, NUMBERS_TOLD, TEXT
from swftools.formats.tables.heads import Head, head_of
from swftools.formats.tables.mapping import NOT_ENDED
from swftools.formats.tables.states import NAMES as STATES_OF_SLURM
from swftools.formats.tables.values import ArrowValues

_ROWS = 200
_MOST_TOLD = 100
"""Names of columns that are told at most."""
_SPELLINGS = """
submit: submit submitted submission queued created creation arrival enqueued qtime adt ts_submit
eligible: eligible
estimated_start: estimated_start expected_start est_start start_estimate predicted_start
start: start started begin begun scheduled sdt
end: end ended finish finished completion stop stopped deletion deleted edt
run_time: run_time runtime duration elapsed elapsedraw run
wait_time: wait_time wait waited waiting_time waittime queue_time queue_wait queue_seconds queued_seconds
estimated_wait_time: estimated_wait_time estimated_wait expected_wait est_wait predicted_wait
requested_time: time_limit timelimit walltime wallclock_req requested_time reqtime limit elpl
allocated_processors: ncpus alloc_cpus alloccpus cores_used num_cores_alloc nproc nprocs cores_alloc
requested_processors: req_cpus reqcpus processors_req cores_requested num_cores_req cpu_num cpus cores cpu_count \
 processors reqnprocs num_cpus cpu_request n_cores num_cores core_count cpu_cores n_procs procs n_tasks ntasks
allocated_nodes: alloc_nodes nodes_used num_nodes_alloc nnuma
requested_nodes: req_nodes nodes_req nodes_requested num_nodes_req nnodes nodes num_nodes node_num
allocated_gpus: alloc_gpus num_gpus_alloc
requested_gpus: gpus_req req_gpus gpu_num num_gpus_req num_gpus ngpus gpus gpu_request
exit_code: exit_code exit_status exitcode exitstatus ec
state: state status job_state exit_state
log_id: job_id jobid id jid id_job jobnumber job_number job
user: user user_id userid username id_user usr owner
group: account group project group_id organization acct
executable: name job_name jobname executable app application jnam
queue: partition queue queue_name class
partition: cluster qos vc site machine system
"""
_WORDS: dict[str, tuple[str, ...]] = {
    line.partition(":")[0]: tuple(line.partition(":")[2].split())
    for line in _SPELLINGS.replace("\\\n", "").strip().splitlines()
}
"""How columns are called, by what they mean; the more usual name first."""
_TIMES = ("submit", "eligible", "start", "end", "estimated_start")
_DURATIONS = ("run_time", "wait_time", "estimated_wait_time", "requested_time")
_BEHIND = ("time", "timestamp", "date", "at", "ts", "seconds", "secs", "sec", "s", "ms", "minutes", "min", "hours", "h")
"""What may stand behind the name of a time or a duration."""
_NEED_VALUES = (*_TIMES, *_DURATIONS, *NUMBERS_TOLD, *NAMES_TOLD)
_STATES = {**STATES_OF_SLURM, "SUCCEEDED": 1, "SUCCESS": 1, "PASS": 1, "DONE": 1, "FINISHED": 1, "TERMINATED": 1}
_STATES |= {"OK": 1, "COMPLETE": 1, "SUCCESSFUL": 1, "ENDED": 1, "EXIT": 0, "CANCEL": 5, "ABORT": 0, "OOM": 0}
_STATES |= {"KILLED": 5, "CANCELED": 5, "ERROR": 0, "FAIL": 0, "ABORTED": 0, "WAITING": None, "QUEUED": None}
_USUAL = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "RUNNING")
_NO_VALUE = ("-1", "Unknown", "unknown", "UNKNOWN", "UNLIMITED", "Partition_Limit", "INFINITE")
"""What columns of times and numbers often have for missing values, besides what says so in any table."""
_NONE_YET = {*NONE, *_NO_VALUE}
_STEP = re.compile(r"\d+(?:_\d+|\+\d+)*\.(?:batch|extern|interactive|\d+(?:\+\d+)?)")
"""The id of a step of Slurm."""
_EPOCHS = (("s", 1e8, 1e10), ("ms", 1e11, 1e13), ("us", 1e14, 1e16), ("ns", 1e17, 1e19))


@dataclass
class Proposal:
    """A mapping, as YAML, and what it is unsure of.

    Parameters
    ----------
    text : str
        The mapping; what it is unsure of stands in it as notes.
    unsure : list of str
        The same, a sentence each.
    """

    text: str
    unsure: list[str] = field(default_factory=list)


def propose_mapping(source: LogSource) -> Proposal:
    """Propose a mapping for a table of jobs.

    Parameters
    ----------
    source : path or binary file object
        CSV, JSON or Parquet; of a folder the first file.

    Raises
    ------
    UnreadableLogError
        It cannot be read.
    LogFormatError
        It is no table, or no column of it can be a time of submission.
    """
    files = log_files(source)
    name = source_name(files.sources[0])
    beginning = files.head(0)
    head = head_of(beginning)
    if len(beginning) >= HEAD and b"\n" not in beginning and not beginning.startswith(MAGIC):
        raise LogFormatError(
            f"{name}: its first line has more than {HEAD:,} bytes, so that not all columns are seen; keep those that "
            "tell of jobs (cut -d, -f1-20), or write the mapping by hand"
        )
    if head is None or len(head.columns) < 2:
        raise LogFormatError(f"{name}: no table of columns: neither CSV with a header, nor JSON, nor Parquet")
    if head.kind == "json":
        head, values = _of_json(beginning)
    else:
        values = _values(head, files.sources[0])
    twice = [column for column in head.columns if head.columns.count(column) > 1]
    if twice:
        raise LogFormatError(f"{name}: its header has the column {twice[0]!r} twice; which one counts? Rename one")
    unsure: list[str] = []
    chosen = _chosen(head.columns, values, unsure)
    if "submit" not in chosen:
        raise LogFormatError(
            f"{name}: no column can be a time of submission, which every job has; the columns are "
            f"{_some(head.columns)}. If one is, write a mapping that says which, as in 'submit: NAME'"
            f"{_of_sacct(head.columns)}"
        )
    _without_start(chosen, unsure)
    _with_steps(chosen, values, unsure)
    readers = [kind for kind, form in list_formats().items() if form.recognise(beginning).fits]
    if readers:
        unsure.insert(0, f"{readers[0]} reads this file as it is, by --format {readers[0]}; no mapping is needed")
    return Proposal(_yaml(head, values, chosen, unsure), unsure)


def _of_sacct(columns: Sequence[str]) -> str:
    """Return what to do about a table that sacct printed without what is needed; nothing of other tables."""
    if not {"jobid", "state"} <= {name.strip().casefold() for name in columns}:
        return ""
    return ". If sacct printed it, ask for Submit, Start and End too, as swftools formats slurm shows"


def _without_start(chosen: dict[str, str], unsure: list[str]) -> None:
    """Leave out ends that no start stands before: jobs with these would go to the quarantine."""
    if "start" in chosen or "wait_time" in chosen:
        return
    if "end" in chosen:
        unsure.append(f"end: {chosen.pop('end')!r} was left out, since no column tells when jobs started")
    if "run_time" not in chosen:
        unsure.append("run_time: no column tells when jobs started, nor how long they ran: demand without run times")


def _with_steps(chosen: dict[str, str], values: dict[str, list[str]], unsure: list[str]) -> None:
    """Say that rows are steps of jobs, where ids are those of Slurm's steps: a mapping has no place for these."""
    ids = _told(values[chosen["log_id"]]) if "log_id" in chosen else []
    steps = [each for each in ids if _STEP.fullmatch(each.strip())]
    if steps:
        unsure.insert(
            0,
            f"log_id: {len(steps)} of the first {len(ids)} rows are steps of Slurm's jobs, such as {steps[0]!r}; this "
            "mapping makes a job of each. Ask sacct for State, Submit, Start, End and NCPUS under their own names and "
            "read it by --format slurm, which puts steps into their jobs; or leave their rows out (sacct -X)",
        )


def _values(head: Head, source: LogSource) -> dict[str, list[str]]:
    """Return the first values of each column as words."""
    if head.kind == "csv":
        return {name: [row[place] for row in head.rows if place < len(row)] for place, name in enumerate(head.columns)}
    try:
        file = pq.ParquetFile(source if isinstance(source, str) else io.BytesIO(_whole(source)))
        part = next(file.iter_batches(batch_size=_ROWS), None)
    except (pa.ArrowException, OSError) as error:
        raise LogFormatError(f"{source_name(source)}: cannot be read ({error})") from error
    rows = part.to_pylist() if part is not None else []
    return {name: ["" if row[name] is None else str(row[name]) for row in rows] for name in head.columns}


def _whole(source: Any) -> bytes:
    if hasattr(source, "read"):
        place = source.tell()
        data: bytes = source.read()
        source.seek(place)
        return data
    with open(source, "rb") as file:  # noqa: PTH123 (whatever names a path)
        return file.read()


def _of_json(beginning: bytes) -> tuple[Head, dict[str, list[str]]]:
    """Return the names of the values of objects, deeper ones as ``a.b``, and the first values of each."""
    decoder = json.JSONDecoder()
    told = beginning.decode("utf-8", "replace").lstrip("\ufeff \n[")
    rows: list[dict[str, Any]] = []
    while told.startswith("{") and len(rows) < _ROWS:
        try:
            row, end = decoder.raw_decode(told)
        except ValueError:
            break
        rows.append(dict(_flat(row)))
        told = told[end:].lstrip(", \r\n\t")
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    values = {name: ["" if row.get(name) is None else str(row.get(name)) for row in rows] for name in columns}
    return Head("json", columns), values


def _flat(row: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of an object, those of objects in it by both names."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _chosen(columns: Sequence[str], values: dict[str, list[str]], unsure: list[str]) -> dict[str, str]:
    """Return which column is which: by whole names first, then by words in them."""
    plain = {name: re.sub(r"[^a-z0-9]+", "_", name.strip().casefold()).strip("_") for name in columns}
    inner = {name: word for name, word in plain.items() if "." in name}
    for name, whole in inner.items():  # what stands deeper goes by its last word too, if no other column does
        last = re.sub(r"[^a-z0-9]+", "_", name.rpartition(".")[2].casefold()).strip("_")
        plain[name] = last if last not in plain.values() and last != "id" else whole
    chosen: dict[str, str] = {}
    for target, words in _WORDS.items():
        stamps = {f"{word}_{behind}" for word in words if target in (*_TIMES, *_DURATIONS) for behind in _BEHIND}
        stamps |= {f"{before}_{word}" for word in words for before in ("time", "ts")} if target in _TIMES else set()
        spellings = {word.replace("_", "") for word in (*words, *stamps)}  # ExpectedStart as expected_start
        alike = [name for name in columns if plain[name].replace("_", "") in spellings]
        free = [name for name in alike if name not in chosen.values() and _can_be(target, values[name])]
        if not free:
            unsure += [
                f"{target}: {name!r} was left out, since its values, such as {_told(values[name])[0]!r}, are none"
                for name in alike
                if name not in chosen.values() and _told(values[name])
            ]
            continue
        order = [word.replace("_", "") for word in words]
        places = {name: order.index(word) if (word := plain[name].replace("_", "")) in order else -1 for name in free}
        ranked = sorted(free, key=lambda name: places[name])
        chosen[target] = ranked[0]
        if len(ranked) > 1:
            others = ", ".join(ranked[1:])
            unsure.append(f"{target}: {ranked[0]!r} was taken; it may be {others} instead")
    return chosen


def _can_be(target: str, values: Sequence[str]) -> bool:
    """Whether values can be what a column of ours needs."""
    told = _told(values)
    if not told or target not in (*_TIMES, *_DURATIONS, *NUMBERS_TOLD):
        return True
    if target not in (*_TIMES, *_DURATIONS):
        return all(map(_is_number, told))
    if target in _TIMES:
        return all(_is_number(value) or re.search(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}", value) for value in told)
    return all(_is_number(value) or re.fullmatch(r"[\d:.+-]+", value) for value in told)


def _is_number(value: str) -> bool:
    return re.fullmatch(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", value.strip()) is not None


def _yaml(head: Head, values: dict[str, list[str]], chosen: dict[str, str], unsure: list[str]) -> str:
    """Return the mapping."""
    lines = ["# A mapping of a table of jobs, for --format table:mapping=THIS_FILE.", "title: my table", "columns:"]
    times = {target: _time_unit(head, name, _told(values[name])) for target, name in chosen.items() if target in _TIMES}
    for target, name in chosen.items():
        facts = {}
        if target in _TIMES and times[target].unit:
            facts["unit"] = times[target].unit
        elif target in _DURATIONS:
            facts["unit"] = _duration_unit(target, name, values, times, unsure)
        absent = [word for word in _NO_VALUE if word in values[name]] if target in _NEED_VALUES else []
        if absent:
            facts["missing"] = f"[{', '.join(map(_quoted, absent))}]"
        inner = "".join(f", {key}: {value}" for key, value in facts.items())
        lines.append(f"  {target}: {{column: {_quoted(name)}{inner}}}")
    lines += _width(chosen, unsure)
    lines += _states(chosen, values, unsure)
    if any(each.needs_zone for each in times.values()):
        unsure.append("time_zone: dates have no zone; UTC was put there, which is right only if the clock showed UTC")
        lines.append("time_zone: UTC")
    if not all(each.is_dated for each in times.values()):
        unsure.append("dates: times are small numbers, so they were taken to count from the beginning of the log")
        lines.append("dates: false")
    elif order := _date_order([value for target in times for value in _told(values[chosen[target]])], unsure):
        lines.append(f"dates: {order}")
    if head.kind == "csv":
        lines.append(f"separator: {_quoted(head.separator)}")
    left = [name for name in head.columns if name not in chosen.values()]
    if left:
        lines.append(f"# Columns that are not read: {_some(list(map(_quoted, left)))}")
    if unsure:
        lines += ["", *(f"# UNSURE {' '.join(each.split())}" for each in unsure)]
    return "\n".join(lines) + "\n"


def _date_order(dates: list[str], unsure: list[str]) -> str | None:
    """Return the order of day and month that dates with slashes show; None if they show none."""
    moments = ArrowValues(pa.array(dates, pa.string()), "times").moments(TEXT, 1.0, "UTC", (), USUAL)
    told = told_by(moments, np.arange(len(dates)))
    if SHORT_YEAR in told:
        unsure.append(f"dates: {told[SHORT_YEAR].text!r} has a year of two digits; say dates: dmy, mdy or ymd")
    elif DAY_FIRST in told and MONTH_FIRST in told:
        unsure.append(
            f"dates: {told[DAY_FIRST].text!r} has the day first, and {told[MONTH_FIRST].text!r} the month; say dates: "
            "dmy or dates: mdy, and rows of the other order go to the quarantine"
        )
    elif EITHER in told and order_shown(told) is None:
        unsure.append(
            f"dates: {readings(told[EITHER].text)}, and the first rows do not show which: say dates: dmy or dates: "
            "mdy; else a day above 12 in a later row tells, and a table without one is refused"
        )
    return order_shown(told)


def _told(values: Sequence[str]) -> list[str]:
    """Return the values that are there."""
    return [value for value in values if value not in _NONE_YET]


def _duration_unit(
    target: str, name: str, values: dict[str, list[str]], times: dict[str, _TimeUnit], unsure: list[str]
) -> str:
    """Return the unit of a duration: as the name says, or the unit of the submission."""
    if any(":" in value for value in _told(values[name])):
        return "text"
    units = {"min": "min", "minutes": "min", "h": "h", "hours": "h", "ms": "ms", "s": "s", "sec": "s", "secs": "s"}
    units["seconds"] = "s"
    last = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().strip("_ ()"))[-1]
    if last in units:
        return units[last]
    unit = times["submit"].unit or "s"
    unsure.append(f"{target}: {name!r} was taken to be in {unit}; it may be in s, ms, min or h")
    return unit


def _width(chosen: dict[str, str], unsure: list[str]) -> list[str]:
    """Return what the width is taken from, where no column counts processors."""
    if "requested_processors" in chosen or "allocated_processors" in chosen:
        return []
    wide = chosen.get("allocated_nodes") or chosen.get("requested_nodes") or chosen.get("requested_gpus")
    if wide is None:
        unsure.append("requested_processors: no column tells the width of a job, so no job has one")
        return []
    unsure.append(f"requested_processors: no column counts processors; {wide!r} was taken for the width")
    return [f"  requested_processors: {{column: {_quoted(wide)}}}"]


class _TimeUnit(NamedTuple):
    """The unit of times, empty for dates; whether they need a zone; whether they have dates."""

    unit: str
    needs_zone: bool
    is_dated: bool


def _time_unit(head: Head, name: str, told: Sequence[str]) -> _TimeUnit:
    """Return what times are told in."""
    if head.schema is not None:
        kind = head.schema.field(head.columns.index(name)).type
        if pa.types.is_timestamp(kind):
            return _TimeUnit("", kind.tz is None, is_dated=True)
    numbers = [float(value) for value in told if _is_number(value)]
    if not told or len(numbers) < len(told):
        zoned = all(re.search(r"(Z|[+-]\d{2}:?\d{2})$", value.strip()) for value in told)
        return _TimeUnit("", not zoned, is_dated=True)
    middle = sorted(numbers)[len(numbers) // 2]
    for unit, least, most in _EPOCHS:
        if least <= middle < most:
            return _TimeUnit(unit, needs_zone=False, is_dated=True)
    return _TimeUnit("s", needs_zone=False, is_dated=False)


def _states(chosen: dict[str, str], values: dict[str, list[str]], unsure: list[str]) -> list[str]:
    """Return what the states that were seen mean."""
    if "state" not in chosen:
        return []
    seen = sorted(set(_told(values[chosen["state"]])))
    words = [word for word in seen if word.upper().split(" ")[0] in _STATES]
    strange = [word for word in seen if word not in words]
    usual = [word for word in _USUAL if word not in map(str.upper, words)]
    known = dict.fromkeys([*words, *usual])
    lines = ["states:"]
    for word in known:
        status = _STATES[word.upper().split(" ")[0]]
        lines.append(f"  {_quoted(word)}: {NOT_ENDED if status is None else status}")
    for word in strange[:20]:
        lines.append(f"  {_quoted(word)}: 0")
        unsure.append(f"states: {word!r} was taken for failed (0); 1 is completed, 5 cancelled")
    unsure.append("states: only those of the first rows were seen; a row with another one goes to the quarantine")
    return lines


def _some(columns: Sequence[str]) -> str:
    """Return names of columns, of many the first ones."""
    rest = len(columns) - _MOST_TOLD
    return ", ".join(columns[:_MOST_TOLD]) + (f" and {rest:,} more" if rest > 0 else "")


def _quoted(word: str) -> str:
    """Return a word as YAML has it."""
    return json.dumps(word, ensure_ascii=False)
