# SPDX-License-Identifier: BSD-3-Clause
"""Accounting files of Grid Engine read slowly: one line after the other, by ``split``."""

from __future__ import annotations

import re
from typing import Any

from tests.naive.accounting_log import NaiveRecord, NaiveTrace, decode, number, settle

UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
UNITS |= {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


def read(text: bytes, options: dict[str, str] | None = None) -> NaiveTrace:
    """Read a whole file."""
    options = {"group": "project", "requested_time": "hard", "run_time": "elapsed", "killed": "cancelled"} | (
        options or {}
    )
    records: list[NaiveRecord] = []
    attempts: list[tuple[NaiveRecord, Any]] = []
    waiting: list[tuple[int, tuple[bytes, bytes], float, float]] = []
    earlier: dict[tuple[int, int], tuple[float, float, int]] = {}
    lines = text.split(b"\n")
    forms: set[int] = set()
    for place, raw in enumerate(lines, start=1):
        line = raw.rstrip(b"\r")
        if len(line) <= 1 or line.startswith(b"#") or first_field(line.split(b":")) is None:
            continue
        fields = fields_of(line)
        if fields is None:
            records.append(NaiveRecord(place, {}, "no line of accounting"))
            continue
        key = (int(fields["job_number"]), int(fields["task_number"]))
        behind = int(fields["behind"])
        is_cut = place == len(lines) and bool(forms) and behind not in forms
        forms.add(behind)
        if fields["pe_taskid"].lower() != b"none":
            waiting.append((place, key, _or_zero(fields["cpu"]), _or_zero(fields["maxvmem"])))
            continue
        is_attempt = (
            _or_zero(fields["failed"]) > 0 and _or_zero(fields["start_time"]) == 0 and _is_float(fields["start_time"])
        )
        mine = [] if is_attempt else [part for part in waiting if part[1] == key]
        waiting = [part for part in waiting if part not in mine]
        record = record_of(place, fields, [part[2:] for part in mine], options)
        record.parts = [part[0] for part in mine]
        if is_cut or b"\0" in line:
            record.fault = "cut off, or with a byte of zero"
        who = (key, fields["owner"])
        for other, of_whom in list(attempts):
            if of_whom == who:
                record.parts += [*other.parts, other.line]
                attempts.remove((other, of_whom))
                records.remove(other)
        records.append(record)
        if is_attempt:
            attempts.append((record, who))
        _count_runs(record, key, earlier)
    return settle(records, [part[0] for part in waiting])


def _count_runs(record: NaiveRecord, key: tuple[int, int], earlier: dict[Any, tuple[float, float, int]]) -> None:
    values = record.values
    failed, submit = values.pop("failed"), values["submit"]
    rescheduled = values["start"] is not None and (failed not in (0, 37, 100) or values["exit_code"] == 99)
    rescheduled = rescheduled and not record.fault
    values["restarts"] = None
    at, last, before = earlier.pop(key, (None, None, 0))
    if at is not None and submit is not None and at <= submit and (at == submit or submit - last <= 7 * 86400):
        values["restarts"] = before
    else:
        before = 0
    if rescheduled:
        earlier[key] = (submit, max(submit, values["end"]), before + 1)


def _is_float(field: bytes) -> bool:
    try:
        return number(field) is not None
    except ValueError:
        return False


def _or_zero(value: bytes) -> float:
    try:
        return number(value) or 0.0
    except ValueError:
        return 0.0


def _is_number(field: bytes) -> bool:
    return bool(re.fullmatch(rb"[-+.]*[0-9][-+.0-9eE]*", field))


def _is_count(field: bytes, most: int) -> bool:
    return 1 <= len(field) <= most and field.isdigit()


def fields_of(line: bytes) -> dict[str, bytes] | None:
    """Return the fields by name; None if they are not where a line of accounting has them.

    Names move all fields behind them to the right, as far as colons stand in them: the first place counts at which
    the numbers are numbers.
    """
    fields = line.split(b":")
    first = first_field(fields) or 0
    return _fields_from(fields, first) or (_fields_from(fields, 0) if first else None)


def first_field(fields: list[bytes]) -> int | None:
    """Return which field is the queue, None if the line is one of reporting about something else."""
    for place in range(min(3, len(fields) - 1)):
        if _is_count(fields[place], 17) and len(fields[place]) >= 9:
            if fields[place + 1] == b"acct":
                return place + 2
            if fields[place + 1].decode("latin-1") in _OTHERS:
                return None
    if len(fields) < 3:
        return 0
    grep = re.match(rb"accounting|reporting", fields[0]) or re.fullmatch(rb".+\.q", fields[1], re.DOTALL)
    grep = bool(grep and not re.fullmatch(rb".+\.q", fields[0], re.DOTALL))
    if grep or b"/" in fields[0] or _is_count(fields[0], 17):
        return 1 + _is_count(fields[1], 9)
    return 0


_OTHERS = {
    *("new_job", "job_log", "queue", "queue_consumable", "host", "host_consumable", "sharelog"),
    *("new_ar", "ar_attribute", "ar_log", "ar_acct"),
}


def _address(fields: list[bytes]) -> int:
    """Return how many fields from here on may be those of an IPv6 address, beyond the first."""
    groups = []
    for field in fields[:8]:
        group = re.fullmatch(rb"\[?([0-9a-fA-F]{0,4}|[0-9a-fA-F]*(\.[0-9a-fA-F]*){3})(\]?)", field)
        if not group:
            break
        groups.append(group[1])
        if group[3]:
            break
    return len(groups) - 1 if len(groups) == 8 or (len(groups) > 1 and b"" in groups) else 0


def _fields_from(fields: list[bytes], first: int) -> dict[str, bytes] | None:
    most = _address(fields[first + 1 :])
    for right in range(first, len(fields) - 42):
        rest = fields[right:]
        counts = _is_count(rest[11], 6) and _is_count(rest[12], 6) and all(_is_count(f, 9) for f in rest[34:36])
        numbers = all(map(_is_number, rest[7:31])) and all(map(_is_number, rest[36:39])) and not _is_number(rest[33])
        job: list[int] = []
        for host in range(min(most, right - first), -1, -1):
            job = job or [place for place in range(first + host + 5, 6 + right) if _is_count(fields[place], 10)]
            if job:
                break
        if counts and numbers and job:
            break
    else:
        return None
    for more in range(len(rest) - 42):
        tail = rest[40 + more :]
        counts = all(_is_count(field, 18) for field in tail[3:5])
        task = re.fullmatch(rb"[^= ]+", tail[1])
        if _is_number(tail[0]) and task and _is_number(tail[2]) and counts:
            break
    else:
        return None
    best = job[-1]
    for place in reversed(job):
        if int(fields[place]) > int(fields[best]) and len(fields[place]) <= 7:
            best = place
    names = {"submission_time": 8, "start_time": 9, "end_time": 10, "failed": 11, "exit_status": 12}
    names |= {"ru_wallclock": 13, "project": 31, "department": 32, "slots": 34, "task_number": 35, "cpu": 36}
    found = {name: rest[place] for name, place in names.items()}
    behind = first + host
    found |= {"qname": fields[first], "group": fields[behind + 2], "owner": fields[behind + 3]}
    found |= {
        "job_number": fields[best],
        "job_name": b":".join(fields[behind + 4 : best]),
        "category": b":".join(rest[39 : 40 + more]),
    }
    found |= {
        "behind": b"%d" % (len(tail) - 3),
        "pe_taskid": tail[1],
        "maxvmem": tail[2],
        "qdel_info": tail[6] if len(tail) > 6 else b"",
    }
    return found


def record_of(  # noqa: PLR0912 (a twin is one long function)
    line: int, fields: dict[str, bytes], parts: list[tuple[float, float]], options: dict[str, str]
) -> NaiveRecord:
    """Return the record of a job's line."""
    read: dict[str, Any] = {}
    fault = None
    for name in ("submission_time", "start_time", "end_time", "failed", "slots"):
        try:
            read[name] = number(fields[name])
        except ValueError:
            read[name], fault = None, f"{name} is no number"
    for name in ("exit_status", "ru_wallclock", "cpu", "maxvmem"):
        try:
            read[name] = number(fields[name])
        except ValueError:
            read[name] = None
    times = []
    for name in ("submission_time", "start_time", "end_time"):
        seconds = read[name]
        if seconds is not None and abs(seconds) >= 1e11:
            seconds /= 1000
        times.append(seconds or None)
    submit, start, end = times
    if submit is None:
        fault = "no submission_time"
    if start is not None and end is None:
        fault = "no end_time"
    if start is None and read["failed"] == 0:
        fault = "did not start, did not fail"
    run = end - start if start is not None and end is not None else None
    wallclock = (read["ru_wallclock"] or None) if start is not None else None
    if options["run_time"] == "wallclock" and wallclock is not None:
        run = wallclock
    wish = asked_for(decode(fields["category"]) or "")
    slots = read["slots"] or None
    if start is not None and slots is None:
        fault = "no slots"
    cpu = memory = None
    if start is not None and slots and fault is None:
        if read["cpu"] is not None:
            cpu = read["cpu"] + sum(part[0] for part in parts)
        if read["maxvmem"] is not None:
            memory = (read["maxvmem"] + sum(part[1] for part in parts)) / 1024 / slots or None
    limits = [wish["h_rt"], wish["s_rt"]]
    code, failed = read["exit_status"], read["failed"]
    known = [limit for limit in limits if limit is not None]
    outlived = run is not None and bool(known) and run >= min(known)
    by_hand = failed == 100 and code in (137, 143) and options["killed"] == "cancelled" and not outlived
    status = 0.0
    if failed == 0 and code == 0:
        status = 1.0
    elif b"@" in fields["qdel_info"] or by_hand:
        status = 5.0
    if options["requested_time"] == "soft":
        limits.reverse()
    least, most = wish["slots"]
    both = [each for each in (slots, least) if each is not None]
    group = decode(fields[options["group"]])
    task = int(fields["task_number"])
    values = {
        "submit": submit,
        "start": start,
        "end": end,
        "run_time": wallclock if options["run_time"] == "wallclock" else None,
        "allocated_processors": slots if start is not None else None,
        "requested_processors": most if most is not None else max(both, default=1.0),
        "fewest_processors": least,
        "requested_time": limits[0] if limits[0] is not None else limits[1],
        "requested_memory": wish["memory"],
        "requested_gpus": wish["gpus"],
        "cpu_time": cpu,
        "used_memory": memory,
        "status": status,
        "exit_code": code,
        "exit_signal": None if code is None else code - 128 if failed in (37, 100) and code > 128 else 0,
        "array_number": int(fields["job_number"]) if task else None,
        "array_index": task or None,
        "log_id": decode(fields["job_number"] + (b"." + fields["task_number"] if task else b"")),
        "user": decode(fields["owner"]),
        "group": None if group is not None and group.upper() == "NONE" else group,
        "executable": decode(fields["job_name"]),
        "queue": decode(fields["qname"]),
        "failed": failed,
    }
    return NaiveRecord(line, values, fault)


def asked_for(category: str) -> dict[str, Any]:
    """Return limits, memory, GPUs and slots that a category asks for."""
    asked: dict[str, str] = {}
    for words in re.findall(r"(?:^|(?<=\s))-l +(\S+)", category):
        for word in words.split(","):
            name, _, value = word.partition("=")
            asked.setdefault(name, value)
    wish: dict[str, Any] = {"memory": None, "gpus": None, "slots": (None, None)}
    for name in ("h_rt", "s_rt"):
        parts = asked.get(name, "INFINITY").split(":")
        wish[name] = None
        if len(parts) <= 3 and any(parts) and all(part == "" or re.fullmatch("[0-9]+", part) for part in parts):
            wish[name] = float(sum(int(part or 0) * 60**power for power, part in enumerate(reversed(parts))))
    if match := re.fullmatch(r"([0-9]*\.?[0-9]+)([kKmMgGtT]?)", asked.get("h_vmem", "")):
        wish["memory"] = float(match[1]) * UNITS[match[2]] / 1024
    for name in ("ngpus", "gpus", "gpu"):
        if name in asked:
            amount = asked[name]
            wish["gpus"] = 1.0 if amount.upper() in ("", "TRUE") else None
            if re.fullmatch("[0-9]+", amount):
                wish["gpus"] = float(amount)
    if slots := re.search(r"(?:^|(?<=\s))-pe +\S+ +(\S+)", category):
        ranges = [re.fullmatch(r"([0-9]*)(-?)([0-9]*)", word) for word in slots[1].split(",")]
        if all(each and (each[1] or each[3]) for each in ranges):
            low = min(float(each[1] or 1) for each in ranges if each)
            tops = [each[3] or (None if each[2] else each[1]) for each in ranges if each]
            wish["slots"] = (low, None if None in tops else max(float(top) for top in tops))  # type: ignore[arg-type]
    return wish
