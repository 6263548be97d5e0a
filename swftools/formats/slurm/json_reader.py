# SPDX-License-Identifier: BSD-3-Clause
"""Read what ``sacct --json`` prints, of Slurm 21.08 and later, whose shapes differ from version to version."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from swftools.errors import LogFormatError
from swftools.formats.accounting.records import Records, Reject, Stretch
from swftools.formats.accounting.spans import decode
from swftools.formats.slurm import documents
from swftools.formats.slurm.columns import NONE
from swftools.formats.slurm.lives import Lives
from swftools.formats.slurm.other_json import what_job
from swftools.formats.slurm.states import STATES, kind_of
from swftools.formats.slurm.values import SEVERAL_ELEMENTS, count_elements, count_hosts, unmarked
from swftools.kernel import FloatArray

_TIMES = {"submit": "submission", "eligible": "eligible", "start": "start", "end": "end"}
_NEEDED = ("submission", "start", "end")
_TOLD = (*_NEEDED, "eligible", "elapsed", "limit")
_SECONDS = ("elapsed", "suspended", "limit", "cpu", "steps_cpu")
_COUNTS = (
    *("allocated_processors", "requested_processors", "allocated_nodes", "requested_nodes", "allocated_gpus"),
    *("priority", "requested_gpus", "restarts", "exit_code", "exit_signal", "array_number", "array_index"),
)
_WORDS = (
    *("id", "state", "user", "account", "group", "partition", "qos", "cluster", "name", "dependency", "submit_line"),
    *("flags", "reason", "constraints", "nodes", "gpu_types"),
)

Row = dict[str, Any]


class JsonReader:
    """Reads pieces of documents one after another; a job may begin in one piece and end in the next.

    Parameters
    ----------
    first_line : int
        Number of the line at which the first piece begins.
    """

    def __init__(self, first_line: int) -> None:
        self._state = documents.new_state()
        self._carried = b""
        self._line = first_line

    def read(self, stretch: Stretch, start: int = 0) -> tuple[Records, Lives]:
        """Return the records of a stretch from a byte on, and what sacct says of them."""
        text = self._carried + stretch.text[start:]
        before = len(self._carried) - start
        first_line = self._line
        found = documents.find_jobs(text, self._state)
        rows: list[Row] = []
        spans: list[tuple[int, int, int]] = []
        rejects: list[Reject] = []
        at = 0
        for begin, end in zip(found.begin.tolist(), found.end.tolist(), strict=True):
            self._line += text.count(b"\n", at, begin)
            at = begin
            place = (self._line, max(begin - before, 0), max(end - before, 0))
            try:
                job = json.loads(decode(text[begin:end]))
            except (ValueError, RecursionError):
                job = None
            if not isinstance(job, dict):
                rejects.append(Reject(*place, "a job that is no sound JSON"))
                continue
            rows.append(_row(job, self._line))
            spans.append(place)
        rejects += _strays(text, found, first_line, before)
        rest = len(text) if found.open_at < 0 else found.open_at
        self._line += text.count(b"\n", at, rest)
        self._carried = text[rest:]
        anomalies: Counter[str] = Counter()
        if several := sum(row["elements"] for row in rows):
            anomalies[SEVERAL_ELEMENTS] += several
        if stretch.is_last:
            if self._carried:
                place = (self._line, max(rest - before, 0), len(stretch.text))
                rejects.append(Reject(*place, "the document ends within this job"))
            if self._state[documents.DEPTH]:
                anomalies["a document that does not end: it may be cut off"] += 1
            if not self._state[documents.LISTS]:
                raise LogFormatError('no list "jobs" in this JSON; give what sacct --json prints')
        line, starts, ends = np.array(spans, np.int64).reshape(-1, 3).T.copy()
        records = Records(line, starts, ends, rejects=rejects, anomalies=anomalies, wait_holds_restarts=False)
        for name in _TOLD:
            is_odd = np.array([name in row["odd"] for row in rows], bool)
            if name in _NEEDED:
                records.fault(is_odd, f"time.{name} is no number")
            else:
                records.doubt(is_odd, f"time.{name} is no number")
        return records, _lives(rows)


def _strays(text: bytes, found: documents.DocumentPlaces, line: int, before: int) -> list[Reject]:
    """Return the lines outside of all documents."""
    strays = []
    at = 0
    for begin, end in zip(found.stray_begin.tolist(), found.stray_end.tolist(), strict=True):
        line += text.count(b"\n", at, begin)
        at = begin
        strays.append(Reject(line, max(begin - before, 0), max(end - before, 0), "no part of a document"))
    return strays


def cut_documents(text: bytes, state: npt.NDArray[np.int64]) -> int:
    """Return where a text may be parted: at a job that is open at its end, else at its end.

    ``state`` becomes what is known there.
    """
    found = documents.find_jobs(text, state)
    return len(text) if found.open_at < 0 else found.open_at


def _lives(rows: list[Row]) -> Lives:
    """Return what is said of the jobs, as columns."""

    def column(name: str) -> FloatArray:
        return np.array([row.get(name, np.nan) for row in rows], np.float64)

    return Lives(
        {name: column(name) for name in _TIMES},
        {name: column(name) for name in _SECONDS},
        {name: column(name) for name in _COUNTS},
        column("used_memory"),
        column("requested_memory"),
        np.array([row["had_no_nodes"] for row in rows], bool),
        column("energy"),
        {name: pa.array([row.get(name) for row in rows], pa.large_string()) for name in _WORDS},
    )


def _row(job: Mapping[str, Any], line: int) -> Row:
    """Return what one job says, by the names of ``Lives``.

    Raises
    ------
    LogFormatError
        It is what another program prints of a job.
    """
    foreign = what_job(frozenset(job))
    if foreign is not None:
        raise LogFormatError(f"line {line}: this is not what sacct --json prints, but {foreign.what}; {foreign.remedy}")
    time = _mapping(job.get("time"))
    row: Row = {name: _time(time.get(key)) for name, key in _TIMES.items()}
    row |= {name: _seconds(time.get(name)) for name in ("elapsed", "suspended")}
    row["odd"] = [name for name in _TOLD if not _may_be_number(time.get(name))]
    row["limit"] = 60.0 * _number(time.get("limit"))
    row["cpu"] = _seconds(time.get("total"))
    row["state"] = _state(job)
    row |= _words(job)
    row |= _id(job)
    row |= _exit(job.get("exit_code"))
    is_told = not isinstance(ended := job.get("exit_code"), Mapping) or "signal" in ended
    if not is_told and row.get("exit_code") == 0 and _is_without_code(row["state"]):
        row["exit_code"] = row["exit_signal"] = np.nan
    row["restarts"] = _number(job.get("restart_cnt"))
    row["priority"] = _number(job.get("priority"))
    given, wanted = (_tres(_mapping(job.get("tres")).get(key)) for key in ("allocated", "requested"))
    required = _mapping(job.get("required"))
    row["allocated_processors"] = given.get("cpu", np.nan)
    row["requested_processors"] = _first(wanted.get("cpu", np.nan), _number(required.get("CPUs")))
    hosts = str(job.get("nodes") or "None assigned")
    is_on_none = hosts == "None assigned"
    row["allocated_nodes"] = _first(_number(job.get("allocation_nodes")), given.get("node", np.nan))
    if not row["allocated_nodes"] > 0 and not is_on_none:
        row["allocated_nodes"] = count_hosts(hosts)[0]
    row["requested_nodes"] = wanted.get("node", np.nan)
    row["gpu_types"] = _gpu_type(_mapping(job.get("tres")).get("requested"))
    row["allocated_gpus"], row["requested_gpus"] = given.get("gpu", np.nan), wanted.get("gpu", np.nan)
    row["requested_memory"] = _requested_memory(row, required, wanted.get("mem", np.nan))
    row["had_no_nodes"] = not given and is_on_none
    listed = job.get("steps")
    steps = [_mapping(step) for step in listed] if isinstance(listed, list) else []
    known = [seconds for seconds in map(_step_seconds, steps) if np.isfinite(seconds)]
    row["steps_cpu"] = sum(known) if known else np.nan
    of_steps = [_step_energy(step) for step in steps]
    row["energy"] = _first(given.get("energy", np.nan), sum(of_steps) if any(of_steps) else np.nan)
    row["used_memory"] = max((_used_memory(step) for step in steps), default=np.nan)
    return row


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float:
    """Return a number, be it bare or ``{"set": true, "infinite": false, "number": 5}``; NaN where there is none."""
    if isinstance(value, Mapping):
        if not value.get("set", True) or value.get("infinite", False):
            return np.nan
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**64 - 4096:
        return np.nan
    return np.nan if value in (4294967294, 4294967295) else float(value)


def _may_be_number(value: object) -> bool:
    """Whether a value is a number, or says that there is none."""
    if isinstance(value, Mapping):
        value = value.get("number", value.get("seconds"))
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _time(value: object) -> float:
    """Return a time; 0 says that it never came."""
    return _number(value) or np.nan


def _seconds(value: object) -> float:
    """Return seconds, be they bare or beside microseconds."""
    if isinstance(value, Mapping) and "seconds" in value:
        return _number(value["seconds"]) + 1e-6 * (_number(value.get("microseconds")) or 0.0)
    return _number(value)


def _first(*values: float) -> float:
    """Return the first value above 0, else the first."""
    return next((value for value in values if value > 0), values[0])


def _text(*values: object) -> str | None:
    """Return the first text that is not empty; what is no character in it as an escape."""
    found = next((value for value in values if isinstance(value, str) and value), None)
    return None if found is None else found.encode("utf-8", "backslashreplace").decode()


def _state(job: Mapping[str, Any]) -> str | None:
    """Return the state: of several words the first that is a state, not a mark such as COMPLETING beside it."""
    state = job.get("state")
    current = _mapping(state).get("current") if isinstance(state, Mapping) else state
    words = [word for word in (current if isinstance(current, list) else [current]) if isinstance(word, str)]
    states = [word for word in words if kind_of(word) != kind_of("COMPLETING")] if len(words) > 1 else words
    return next((word for word in states if word in STATES), _text(*words))


def _words(job: Mapping[str, Any]) -> Row:
    """Return the names in a job."""
    association = _mapping(job.get("association"))
    flags = job.get("flags")
    return {
        "user": _text(association.get("user"), job.get("user")),
        "account": _text(association.get("account"), job.get("account")),
        "group": _text(job.get("group")),
        "partition": _text(job.get("partition"), association.get("partition")),
        "qos": _text(job.get("qos")),
        "cluster": _text(job.get("cluster"), association.get("cluster")),
        "name": _text(job.get("name")),
        "dependency": _text(job.get("dependency")),
        "submit_line": _text(job.get("submit_line")),
        "flags": _text(",".join(word for word in flags if isinstance(word, str)) if isinstance(flags, list) else flags),
        "reason": _unless_none(_mapping(job.get("state")).get("reason")),
        "constraints": _text(job.get("constraints")),
        "nodes": _unless_none(job.get("nodes")),
    }


def _unless_none(value: object) -> str | None:
    """Return a text, but for the words by which Slurm says that there is none."""
    return None if value in NONE else _text(value)


def _id(job: Mapping[str, Any]) -> Row:
    """Return the id as sacct -P prints it, and array and index."""
    array, het = _mapping(job.get("array")), _mapping(job.get("het"))
    number = _number(job.get("job_id"))
    row: Row = {"id": f"{number:.0f}" if np.isfinite(number) else None, "elements": 0}
    of_array, of_het = _number(array.get("job_id")), _number(het.get("job_id"))
    index = _first_known(_number(array.get("task_id")), _number(array.get("task")))
    offset = _first_known(_number(het.get("job_offset")), _number(het.get("offset")))
    if of_array > 0 and np.isfinite(index):
        component = f"+{offset:.0f}" if of_het > 0 and np.isfinite(offset) else ""
        job_id = f"{of_array:.0f}_{index:.0f}{component}"
        return row | {"id": job_id, "array_number": of_array, "array_index": index}
    if of_array > 0 and (waiting := _text(array.get("task"))):
        job_id = f"{of_array:.0f}_[{waiting.strip('[]')}]"
        return row | {"id": job_id, "array_number": of_array, "elements": count_elements(job_id)}
    if of_het > 0 and np.isfinite(offset):
        row["id"] = f"{of_het:.0f}+{offset:.0f}"
    return row


def _first_known(*values: float) -> float:
    return next((value for value in values if np.isfinite(value)), np.nan)


def _exit(value: object) -> Row:
    """Return exit status and signal: of a mapping, or of a number as wait(2) returns it."""
    if isinstance(value, Mapping) and "number" not in value:
        signal = _mapping(value.get("signal"))
        of_signal = _first_known(*(_number(signal.get(key)) for key in ("id", "signal_id")))
        code = _number(value.get("return_code"))
        known = np.isfinite(code) or np.isfinite(of_signal)
        return {"exit_code": code, "exit_signal": np.nan if not known else np.nan_to_num(of_signal)}
    code = _number(value)
    if not code >= 0 or code != int(code):
        return {}
    return {"exit_code": float(int(code) >> 8), "exit_signal": float(int(code) & 127)}


def _is_without_code(state: str | None) -> bool:
    """Whether a program of this state ended with more than 0: Slurm 21.08 and 22.05 say 0 of each."""
    return state is not None and state.split(" ")[0] in ("FAILED", "OUT_OF_MEMORY")


def _tres(value: object) -> dict[str, float]:
    """Return the counts of a list of trackable resources, GPUs as ``gpu``: all, or else the sum over their types."""
    counts: dict[str, float] = {}
    typed = 0.0
    for each in value if isinstance(value, list) else []:
        item = _mapping(each)
        kind, name, count = item.get("type"), item.get("name") or "", _number(item.get("count"))
        if kind == "gres":
            if str(name) == "gpu":
                counts["gpu"] = count
            elif str(name).startswith("gpu:") and count > 0:
                typed += count
        elif isinstance(kind, str) and np.isfinite(count):
            counts.setdefault(kind, count)
    return {"gpu": typed, **counts} if typed else counts


def _gpu_type(value: object) -> str | None:
    """Return the type of the GPUs in a list of trackable resources; None where it tells none, or several."""
    items = [_mapping(each) for each in value] if isinstance(value, list) else []
    names = [str(item.get("name")) for item in items if item.get("type") == "gres"]
    found = [name.removeprefix("gpu:") for name in names if name.startswith("gpu:")]
    return _text(found[0]) if len(found) == 1 else None


def _requested_memory(row: Row, required: Mapping[str, Any], of_tres: float) -> float:
    """Return the memory asked for in KB per processor; Slurm counts megabytes.

    Slurm 22.05 has one number, ``memory``, of each CPU or each node without a mark that says which; what the job
    asked for in all is plain in its TRES.
    """
    processors = _first(row["requested_processors"], row["allocated_processors"])
    nodes = _first(row["requested_nodes"], row["allocated_nodes"])
    each_cpu, each_node = (_number(required.get(f"memory_per_{what}")) for what in ("cpu", "node"))
    old = _number(required.get("memory"))
    told = required.get("memory")
    marked = unmarked(told) if isinstance(told, int) and told < 1 << 64 else np.nan
    if each_cpu > 0 or marked > 0:
        return 1024.0 * _first(each_cpu, marked)
    if not processors > 0:
        return np.nan
    if each_node > 0:
        return 1024.0 * each_node * nodes / processors
    return 1024.0 * of_tres / processors if of_tres > 0 else 1024.0 * old * nodes / processors


def _step_seconds(step: Mapping[str, Any]) -> float:
    return _seconds(_mapping(step.get("time")).get("total"))


def _step_energy(step: Mapping[str, Any]) -> float:
    """Return the energy of a step, J; 0 where it says none."""
    consumed = _number(_mapping(_mapping(step.get("statistics")).get("energy")).get("consumed"))
    return consumed if consumed > 0 else 0.0


def _used_memory(step: Mapping[str, Any]) -> float:
    """Return the largest memory of a task of a step in KB: what it "requested" at most, as sacct has it, in bytes."""
    usage = _mapping(_mapping(step.get("tres")).get("requested")).get("max")
    found = [
        _number(item.get("count"))
        for item in map(_mapping, usage if isinstance(usage, list) else [])
        if item.get("type") == "mem"
    ]
    return max((each / 1024.0 for each in found if each > 0), default=0.0)
