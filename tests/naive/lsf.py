# SPDX-License-Identifier: BSD-3-Clause
"""LSF's lsb.acct read slowly: a list of words for each line, by one regular expression."""

from __future__ import annotations

import re
from typing import Any

from tests.naive.accounting_log import NaiveRecord, NaiveTrace, decode, number, settle

WORD = re.compile(rb'[ \t]*(?:"((?:[^"]|"")*)"(?!")|([^" \t][^ \t]*)|("[^\n]*))')
REASONS = {
    1: "PREEMPT",
    2: "WINDOW",
    3: "LOAD",
    4: "OTHER",
    5: "RUNLIMIT",
    6: "DEADLINE",
    7: "PROCESSLIMIT",
    8: "FORCE_OWNER",
    9: "FORCE_ADMIN",
    10: "REQUEUE_OWNER",
    11: "REQUEUE_ADMIN",
    12: "CPULIMIT",
    13: "CHKPNT",
    14: "OWNER",
    15: "ADMIN",
    16: "MEMLIMIT",
    17: "EXTERNAL_SIGNAL",
    18: "RMS",
    19: "ZOMBIE",
    20: "SWAP",
    21: "THREADLIMIT",
    22: "SLURM",
    23: "BUCKET_KILL",
    24: "CTRL_PID",
    25: "CWD_NOTEXIST",
    26: "REMOVE_HUNG_JOB",
    27: "ORPHAN_SYSTEM",
    28: "PRE_EXEC_FAIL",
    29: "DATA",
    30: "MC_RECALL",
}
BY_SOMEBODY = (8, 9, 10, 11, 14, 15)
FOLLOWED = (1, 10, 11, 13, 30)


class BrokenError(Exception):
    """A record that is not as its numbers say."""


def words_of(line: bytes) -> tuple[list[tuple[bytes, bool]], bool]:
    """Return the words of a line, each with whether quotation marks are around it, and whether the last one ends."""
    found: list[tuple[bytes, bool]] = []
    at = 0
    line = line.rstrip(b" \t\r")
    while at < len(line):
        match = WORD.match(line, at)
        if not match:
            break
        if match[3] is not None:
            return found, False
        found.append((match[1], True) if match[1] is not None else (match[2], False))
        at = match.end()
    return found, True


def read(text: bytes, options: dict[str, str] | None = None) -> NaiveTrace:
    """Read a whole file."""
    options = {"group": "project", "executable": "command"} | (options or {})
    records: list[NaiveRecord] = []
    rejected: list[int] = []
    waiting: list[tuple[int, tuple[float, float]]] = []
    earlier: dict[Any, tuple[float | None, int]] = {}
    lines = text.split(b"\n")
    forms: set[tuple[int, bool]] = set()
    for place, raw in enumerate(lines, start=1):
        if not raw.strip(b" \t\r"):
            continue
        words, is_whole = words_of(raw)
        kind = words[0][0] if words else b""
        if kind == b"JOB_RESIZE":
            ids = [word for word, _ in words[3:5]]
            if len(ids) < 2:
                records.append(NaiveRecord(place, {}, "too short"))
            elif all(re.fullmatch(rb"[0-9]{1,10}", each) for each in ids):
                waiting.append((place, key_of(*map(float, ids))))
            else:
                rejected.append(place)
            continue
        if kind != b"JOB_FINISH":
            rejected.append(place)
            continue
        try:
            fields = fields_of(words, is_whole)
            record = record_of(place, fields, options)
        except BrokenError as error:
            records.append(NaiveRecord(place, {}, str(error)))
            continue
        key = key_of(record.values.pop("job"), record.values.pop("index"))
        record.parts = [line for line, of in waiting if of == key]
        waiting = [part for part in waiting if part[1] != key]
        form = record.values.pop("form")
        if (place == len(lines) and forms and form not in forms) or b"\0" in raw:
            record.fault = "cut off, or with a byte of zero"
        forms.add(form)
        records.append(record)
        submit, reason = record.values["submit"], record.values.pop("reason")
        at, before = earlier.get(key, (None, 0))
        before = before if at == submit else 0
        record.values["restarts"] = before or None
        started = record.values["start"] is not None
        if started and reason in FOLLOWED and record.values.pop("exited") and not record.fault:
            earlier[key] = (submit, before + 1)
        record.values.pop("exited", None)
    return settle(records, rejected + [line for line, _ in waiting])


def key_of(job: float | None, index: float | None) -> tuple[float, float]:
    """Return which job a record is of; numbers beyond what LSF has count as none."""
    return (
        job if job is not None and 0 <= job < 2**34 else 0.0,
        index if index is not None and 0 <= index < 2**30 else 0.0,
    )


def _length(word: bytes) -> int:
    if not re.fullmatch(rb"[0-9]{1,10}", word):
        raise BrokenError("no number of hosts")
    return int(word)


STRINGS = {0, 1, *range(11, 22), 26, 27, 47, 48, 51, 52, 56, 57, 58, 59, 61, 63, *range(65, 69), 70, 71, 73, 75, 76}
READ = (2, 3, 6, 7, 8, 10, 24, 28, 29, 49, 50, 53, 54, 62)


def _is_as_known(field: int, word: tuple[bytes, bool]) -> bool:
    """Whether a field is a string, or a number, as it should; of those that are not read only how it looks is told."""
    text, is_quoted = word
    if is_quoted or field in STRINGS:
        return is_quoted and field in STRINGS
    return field in READ or bool(re.fullmatch(rb"[-+.0-9eE]+", text))


def fields_of(words: list[tuple[bytes, bool]], is_whole: bool) -> dict[str, Any]:
    """Return what is read of a JOB_FINISH, by name."""
    if len(words) < 23 or (len(words) == 23 and not is_whole):
        raise BrokenError("too short")
    asked = _length(words[22][0])
    if len(words) <= 23 + asked:
        raise BrokenError("too short")
    count = _length(words[23 + asked][0])
    hosts = [word for word, _ in words[24 + asked : 24 + asked + count]]
    rest = words[24 + asked + count :]
    if len(hosts) < count or len(rest) < 31:
        raise BrokenError("too short")
    numbered = [*enumerate(words[:22]), *enumerate(rest[:53], start=24)]
    wrong = [field for field, word in numbered if not _is_as_known(field, word)]
    if wrong and wrong[0] <= 54:
        raise BrokenError("astray")
    if len(rest) < 53 and not is_whole and not wrong:
        raise BrokenError("a string that does not end")
    if wrong:
        rest = rest[: wrong[0] - 24]
    form = (len(rest[:53]), bool(limit_of(rest[53:])))
    names = {"end": 2, "job": 3, "least": 6, "submit": 7, "begin": 8, "start": 10, "user": 11, "queue": 12}
    found: dict[str, Any] = {name: words[place][0] for name, place in names.items()}
    found["condition"] = words[14][0]
    behind = {"status": 24, "job-name": 26, "command": 27, "utime": 28, "stime": 29, "project": 48, "code": 49}
    behind |= {"most": 50, "index": 53, "memory": 54, "reason": 62, "charged-account": 65, "app": 67}
    found |= {name: rest[place - 24][0] if place - 24 < len(rest) else b"" for name, place in behind.items()}
    slots, machines = 0, []
    for host in hosts:
        match = re.fullmatch(rb"([0-9]+)\*(.*)", host, re.DOTALL)
        if match and len(match[1]) > 10:
            raise BrokenError("slots")
        slots += int(match[1]) if match else 1
        name = match[2] if match else host
        if not machines or machines[-1] != name:
            machines.append(name)
    return found | {"form": form, "slots": slots, "hosts": len(machines), "limit": limit_of(rest[53:])}


def limit_of(words: list[tuple[bytes, bool]]) -> bytes:
    """Return the run limit behind the lists at the end of a record, if all that is around it is as it should be."""

    def is_length(place: int) -> bool:
        return place < len(words) and bool(re.fullmatch(rb"[0-9]{1,10}", words[place][0]))

    if not is_length(0):
        return b""
    hosts_at = 1 + 2 * int(words[0][0])
    if not is_length(hosts_at):
        return b""
    for has_pairs in (True, False):
        at = hosts_at + 1
        for _ in range(int(words[hosts_at][0])):
            at += 5
            if has_pairs:
                if not is_length(at):
                    at = len(words)
                    break
                at += 1 + 2 * int(words[at][0])
            if at >= len(words):
                break
        tail = words[at : at + 4]
        numbers = all(re.fullmatch(rb"-?[0-9]+", word) and not is_quoted for word, is_quoted in tail[:3])
        if len(tail) == 4 and numbers and tail[3][1]:
            return tail[0][0]
    return b""


def record_of(line: int, fields: dict[str, Any], options: dict[str, str]) -> NaiveRecord:
    """Return the record of a JOB_FINISH."""
    fault = None
    read: dict[str, Any] = {}
    needed = ("end", "job", "submit", "start", "status", "index")
    for name in (*needed, "least", "begin", "utime", "stime", "code", "most", "memory", "reason", "limit"):
        try:
            read[name] = number(fields[name])
        except ValueError:
            read[name] = None
            fault = f"{name} is no number" if name in needed else fault
    if not (read["submit"] or 0) > 0 or not (read["end"] or 0) > 0:
        fault = "no time"
    start = read["start"] or None
    least, most = read["least"] or None, read["most"] or None
    asked = max((each for each in (least, most) if each is not None), default=None)
    bits = int(read["status"]) if read["status"] is not None and abs(read["status"]) < 2**31 else 0
    done, exited = bool(bits & 64), bool(bits & 32)
    if read["job"] is None or read["job"] < 0 or read["job"] % 1:
        fault = "no job number"
    if not done and not exited:
        fault = "not ended"
    if done and start is None:
        fault = "done without a start"
    slots = None
    if start is not None:
        slots = fields["slots"] or asked
        if slots is None:
            fault = "no slots"
    reason = read["reason"]
    cancelled = reason in BY_SOMEBODY or (start is None and reason in (None, 0, 27))
    code = read["code"] if read["code"] is not None and 0 <= read["code"] <= 65535 else None
    cpu = None
    if start is not None and None not in (read["utime"], read["stime"]) and -1 not in (read["utime"], read["stime"]):
        cpu = read["utime"] + read["stime"]
    memory = None
    if start is not None and slots and read["memory"] is not None and not -1 <= read["memory"] <= 0:
        memory = read["memory"] / slots
    words = {name: decode(fields[name].replace(b'""', b'"')) for name in ("user", "queue", "condition")}
    told = REASONS.get(int(reason)) if reason is not None and abs(reason) < 99 else None
    begin = read["begin"] or None
    index, job = read["index"], read["job"]
    element = fields["job"] + b"[" + fields["index"] + b"]"
    values = {
        "form": fields["form"],
        "job": job,
        "index": index,
        "reason": reason,
        "exited": exited,
        "submit": read["submit"],
        "start": start,
        "end": read["end"],
        "eligible": max(begin, read["submit"] or begin) if begin is not None else None,
        "allocated_processors": slots,
        "allocated_nodes": fields["hosts"] or None if start is not None else None,
        "requested_processors": asked,
        "fewest_processors": least,
        "requested_time": read["limit"] if read["limit"] not in (0, -1) else None,
        "cpu_time": cpu,
        "used_memory": memory,
        "status": 1 if done else 5 if cancelled else 0,
        "exit_code": None if code is None else int(code) >> 8,
        "exit_signal": None if code is None else int(code) & 127,
        "array_number": job if index is not None and index > 0 else None,
        "array_index": index if index is not None and index > 0 else None,
        "user": words["user"],
        "queue": words["queue"],
        "group": decode(fields[options["group"]].replace(b'""', b'"')),
        "executable": decode(fields[options["executable"]].replace(b'""', b'"')),
        "dependency": words["condition"],
        "log_id": decode(element if index is not None and index > 0 else fields["job"]),
        "logged_state": "DONE" if done else "EXIT" + (f" TERM_{told}" if told else ""),
    }
    return NaiveRecord(line, values, fault)
