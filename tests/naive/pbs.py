# SPDX-License-Identifier: BSD-3-Clause
"""A reader of PBS's accounting logs in plain Python, by one loop over the lines.

Written from what the format is, not from that reader. It knows the default options, and takes logs in which ids come
again at any distance as long as nothing depends on a job being forgotten.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

_LINE = re.compile(
    r"(?:.*[:\0 \t])?(?P<date>\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);(?P<kind>[A-Za-z]);(?P<id>[^;]*);(?P<message>.*)",
    re.DOTALL,
)
_KEYS = {
    *("user", "group", "account", "project", "jobname", "queue", "ctime", "qtime", "etime", "start", "end", "owner"),
    *("session", "requestor", "exec_host", "exec_vnode", "exec_gpus", "Exit_status", "run_count", "depend"),
    *("total_execution_slots", "unique_node_count", "eligible_time", "accounting_id", "alt_id", "resvID", "resvname"),
    *("resvjobID", "array_indices", "login_node", "pcap_node", "Variable_List", "Submit_arguments"),
}
_FREE = {"account", "project", "jobname", "Variable_List", "Submit_arguments"}
_QUOTED = re.compile(r"""=(["'])(.*?)\1(?=[ \t,]|$)""")
_UNITS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


@dataclass
class Job:
    """What is known of a job while its records are read."""

    first: int
    kinds: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    queued: tuple[str, str] | None = None
    runs: bool = False
    left: tuple[int, str] | None = None
    was_deleted: bool = False
    restarts: int = 0
    has_starts: bool = False
    rerun: str | None = None
    place: int = 0


@dataclass
class Log:
    """What a log says: jobs by the line that decides, lines that are merged into it, and all others."""

    jobs: dict[int, dict[str, Any]] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    quarantined: set[int] = field(default_factory=set)


def values_of(message: str) -> dict[str, str]:
    """Return the values by their keys; a key that stands twice has its first."""
    masked = _QUOTED.sub(lambda found: found[0].replace(" ", "\1"), message)
    values: dict[str, str] = {}
    key = ""
    goes_on = False
    for word in masked.split():
        name, equals, value = word.partition("=")
        known = name in _KEYS or name.startswith(("Resource_List.", "resources_used."))
        if equals and name and (known or key not in _FREE):
            key = name
            quoted = _QUOTED.match("=" + value)
            goes_on = quoted is None and key not in values
            values.setdefault(key, quoted[2] if quoted else value)
        elif key and goes_on:
            values[key] = f"{values[key]} {word}".strip()
    return {key: value.replace("\1", " ") for key, value in values.items()}


def seconds_of(text: str | None) -> float | None:
    """Return a duration: ``DD:HH:MM:SS`` and shorter, or seconds."""
    if not text or text in ("unlimited", "UNLIMITED", "infinite"):
        return None
    parts = [float(part) for part in text.split(":")]
    total = 0.0
    for part, scale in zip(reversed(parts), (1, 60, 3600, 86400), strict=False):
        total += part * scale
    return total


def kilobytes_of(text: str | None) -> float | None:
    """Return a size in KB."""
    if not text:
        return None
    found = re.fullmatch(r"([0-9.]+)([kmgtp]?)(b|w)?", text.lower())
    assert found, text
    return float(found[1]) * 1024 ** _UNITS[found[2]] * (8 if found[3] == "w" else 1) / 1024


def slots_of(hosts: str | None) -> tuple[int | None, int | None]:
    """Return slots and different hosts of an exec_host."""
    if not hosts:
        return None, None
    total = 0
    names: dict[str, int] = {}
    for part in re.findall(r"(?:\[[^]]*\]|/[^+]*?(?=,[^0-9]|\+|$)|[^+,[/])+", hosts):
        name, _, places = part.partition("/")
        name, _, words = re.sub(r":(?=[0-9])", "\1", name).partition(":")
        names[name] = _many(name)
        own = re.search(r"(?:ppn|ncpus)=([0-9]+)", words)
        total += names[name] * (int(own[1]) if own else _places(places))
    return total, sum(names.values())


def _many(name: str) -> int:
    """Return how many hosts a name with ranges stands for."""
    ranges = [name] if re.fullmatch(r"[0-9]+-[0-9]+", name) else re.findall(r"\[([^]]*)\]", name)
    many = 1
    for each in ranges:
        inside = 0
        for word in each.split(","):
            first, _, last = word.partition("-")
            inside += int(last or first) - int(first) + 1
        many *= inside
    return many


def _places(places: str) -> int:
    total = 0
    for place in places.split(",") if places else ["0"]:
        if "*" in place:
            total += int(place.split("*")[1])
        elif "-" in place:
            first, last = place.split("-")
            total += int(last) - int(first) + 1
        else:
            total += 1
    return total


def chunks_of(text: str | None, *, counted: bool) -> tuple[int, int, int | None] | None:
    """Return chunks, processors and GPUs of a selection."""
    if not text:
        return None
    chunks, processors, gpus = 0, 0, None
    for chunk in text.replace("(", "").replace(")", "").split("+"):
        parts = chunk.split(":")
        many = int(parts[0].split("#")[0]) if counted and re.fullmatch(r"\d+(#.*)?", parts[0]) else 1
        own = 1 if counted else 0
        for part in parts:
            name, _, value = part.partition("=")
            if name in ("ncpus", "ppn"):
                own = int(value.split("#")[0])
            if name in ("ngpus", "gpus"):
                gpus = (gpus or 0) + many * int(value.split("#")[0])
        chunks += many
        processors += many * own
    return chunks, processors, gpus


def read(text: bytes, time_zone: str = "UTC") -> Log:  # noqa: PLR0912 (a twin is one long function)
    """Read a whole log."""
    log = Log()
    going: dict[str, Job] = {}
    ended: dict[str, int] = {}
    lost: set[int] = set()  # records of jobs that ran and have no start
    zone = ZoneInfo(time_zone)

    def moment(date: str) -> float:
        return datetime.strptime(date, "%m/%d/%Y %H:%M:%S").replace(tzinfo=zone).timestamp()

    def settle(job: Job, line: int, values: dict[str, Any]) -> None:
        log.jobs[line] = values
        for other in job.lines:
            if other != line:
                log.merged[other] = line

    def give_up(job: Job) -> None:
        log.quarantined.update(job.lines)

    def leave(job_id: str) -> None:
        """Say what became of a job without an E record."""
        job = going.pop(job_id)
        if job.left and job.queued and not job.runs:
            values = values_of(job.queued[1])
            submit = next((float(values[key]) for key in ("ctime", "qtime", "etime") if values.get(key)), None)
            settle(
                job,
                job.left[0],
                {
                    "log_id": job_id,
                    "submit": moment(job.queued[0]) if submit is None else submit,
                    "status": 5 if job.was_deleted else 0,
                    "queue": values.get("queue"),
                    "restarts": job.restarts,
                },
            )
        else:
            give_up(job)

    for number, raw in enumerate(text.decode("latin-1").split("\n"), start=1):
        line = raw.strip("\r \t\0")
        if not line:
            continue
        found = _LINE.fullmatch(line)
        if not found:
            log.quarantined.add(number)
            continue
        kind, job_id, message = found["kind"], found["id"].strip(), found["message"]
        bracket = re.search(r"\[(.*)", job_id.partition(".")[0])
        if kind in "LUYBFKk" or not job_id[:1].isdigit() or (bracket and not re.match(r"\d+\]", bracket[1])):
            log.quarantined.add(number)
            continue
        job = going.get(job_id)
        if job and kind == "Q" and (job.runs or job.left):
            leave(job_id)
            job = None
        if job is None and kind not in "QSE" and job_id in ended:
            log.merged[number] = ended[job_id]
            continue
        if job is None:
            job = going[job_id] = Job(number)
            ended.pop(job_id, None)
        job.lines.append(number)
        if kind == "Q":
            job.queued = job.queued or (found["date"], message)
        elif kind in "ST":
            job.runs, job.left, job.has_starts = True, None, True
        elif kind == "R":
            job.restarts += job.runs or job.rerun is None or not (job.has_starts or job.rerun == message)
            job.runs, job.left, job.was_deleted, job.rerun = False, None, False, message
        elif kind in "DA":
            job.was_deleted |= kind == "D"
            if not job.runs and not job.left:
                job.left = (number, found["date"])
        elif kind == "E":
            del going[job_id]
            ended[job_id] = number
            if has_lost_its_start(values := values_of(message)):
                lost.add(number)
            settle(job, number, ended_job(job_id, job, values))
    for job_id in list(going):
        leave(job_id)
    for number in lost:
        del log.jobs[number]
    log.quarantined |= lost | {line for line, into in log.merged.items() if into in lost}
    log.merged = {line: into for line, into in log.merged.items() if into not in lost}
    return log


def has_lost_its_start(values: dict[str, str]) -> bool:
    """Return whether a job has no start and yet completed, or used anything."""
    if float(values.get("start") or 0):
        return False
    used = [seconds_of(values.get("resources_used.cput")), kilobytes_of(values.get("resources_used.mem"))]
    return any(used) or float(values.get("Exit_status") or 1) == 0


def ended_job(job_id: str, job: Job, values: dict[str, str]) -> dict[str, Any]:
    """Return what an E record says."""

    def number(key: str) -> float | None:
        return float(values[key]) if values.get(key) else None

    def first(*given: float | None) -> float | None:
        return next((each for each in given if each is not None), None)

    submit = first(number("ctime"), number("qtime"), number("etime"))
    start, end = number("start") or None, number("end")
    slots, nodes = slots_of(values.get("exec_host"))
    vnodes = chunks_of(values.get("exec_vnode"), counted=False)
    select = chunks_of(values.get("Resource_List.select"), counted=True)
    wanted = chunks_of(values.get("Resource_List.nodes"), counted=True)
    ncpus, used_ncpus = number("Resource_List.ncpus"), number("resources_used.ncpus")
    if slots:
        processors: float | None = max(slots, vnodes[1] if vnodes else 0, used_ncpus or 0, ncpus or 0)
    else:
        processors = first(vnodes[1] if vnodes else None, used_ncpus, ncpus if slots == 0 else None)
    if start is None:
        processors = nodes = None
    asked = first(ncpus, select[1]) if select else max(wanted[1] if wanted else 0, ncpus or 0) or None
    limit, status = seconds_of(values.get("Resource_List.walltime")), number("Exit_status")
    result = None if status is None else 1 if status == 0 else 0
    if job.was_deleted and status != 0:
        over = None not in (limit, start, end) and end - start >= limit  # type: ignore[operator]
        result = 0 if over else 5
    signal = None if status is None else 0.0
    if status is not None and status >= 256:
        signal, code = status - 256, 0.0
    else:
        code = status  # type: ignore[assignment]
        if status is not None and 128 < status <= 192:
            signal = status - 128
    used, memory = kilobytes_of(values.get("resources_used.mem")), kilobytes_of(values.get("Resource_List.mem"))
    array = re.match(r"(\d+)\[(\d+)\]", job_id)
    cput = seconds_of(values.get("resources_used.cput"))
    return {
        "log_id": job_id,
        "submit": submit,
        "wait_time": None if start is None else start - submit,  # type: ignore[operator]
        "run_time": None if start is None else end - start,  # type: ignore[operator]
        "allocated_processors": processors,
        "allocated_nodes": nodes,
        "average_cpu_time": cput / processors if processors and cput is not None else None,
        "used_memory": used / processors if used and processors else None,
        "requested_processors": asked,
        "requested_memory": memory / asked if memory is not None and asked else None,
        "requested_time": limit,
        "status": result,
        "exit_code": code,
        "exit_signal": signal,
        "restarts": max(job.restarts, (number("run_count") or 1) - 1),
        "user": values.get("user"),
        "group": values.get("group"),
        "executable": values.get("jobname"),
        "queue": values.get("queue"),
        "array_number": float(array[1]) if array else None,
        "array_index": float(array[2]) if array else None,
    }
