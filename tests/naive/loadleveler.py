# SPDX-License-Identifier: BSD-3-Clause
"""LoadLeveler's long listings, read the slow way: line by line, into a dictionary of labels for each step.

Written from the description of the listings, not from the reader that is tested by it. It knows the dates that the
samples have, and one option: how many processors a node has.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

HOURS = {"UTC": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4, "CET": 1, "CEST": 2}
MONTHS = {"dez": "dec", "déc": "dec", "mär": "mar", "mai": "may", "okt": "oct"}
WAITING = re.compile(r"idle|running|hold|preempt|pending|starting|deferred|not ?queued|checkpointing", re.IGNORECASE)


def read_listing(text: bytes, *, zone: str, per_node: int) -> tuple[list[dict[str, Any]], int]:
    """Return the steps that can be jobs, in the order of the listing, and how many cannot."""
    jobs, rejected = [], 0
    for step in _steps(text):
        job = _job(step, zone, per_node)
        if job is None:
            rejected += 1
        else:
            jobs.append(job)
    return jobs, rejected


def _decode(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _steps(text: bytes) -> list[dict[str, Any]]:
    """Return the labels of each step, the labels of its job below its own."""
    steps: list[dict[str, Any]] = []
    job: dict[str, str] = {}
    step: dict[str, Any] | None = None
    where = ""  # "" in the step itself; detail, node, master or task within its parts
    last = ""
    for raw in text.split(b"\n"):
        line = _decode(raw.rstrip(b"\r"))
        header = re.fullmatch(r"\s*([=-]{3,}) (Job Step|Step|Job|Detail)\b(.*?)\s*[=-]{3,}\s*", line)
        if header and header[2] == "Job":
            job, step, where = {}, None, ""
        elif header and header[2] == "Detail":
            where = "detail"
        elif header:
            step = {"": header[3].strip(), "hosts": 0, "tasks": 0, "node max": 0, "total": 0}
            steps.append(step)
            step["job"] = job
            where, last = "", ""
        elif where == "detail" or not line.strip() or set(line.strip()) <= {"-"}:
            continue
        elif line.strip() in ("Node", "Master Task", "Task"):
            where = line.strip()
        elif line.strip().startswith("+") and step is not None and last == "Allocated Hosts":
            step["hosts"] += 1
        elif ":" in line:
            label, _, value = (part.strip() for part in line.partition(":"))
            last = label
            if step is None:
                job[label] = value
            elif where and label == "Allocated Hosts":
                step["hosts"] += bool(value)
            elif where == "Task" and label == "Num Task Inst":
                step["tasks"] += int(value)
            elif where and label in ("Node maximum", "Total Tasks"):
                step["node max" if label == "Node maximum" else "total"] += int(value)
            elif not where:
                step.setdefault(label, value)
                if label == "Allocated Host":
                    step["hosts"] += bool(value)
        elif step is not None and last == "Allocated Host" and line.startswith(" "):
            step["hosts"] += 1
    return steps


def _time(text: str | None, zone: str) -> float | None:
    """Return a date in seconds since 1970; none where there is none, or one of the first days of 1970."""
    if not text:
        return None
    words = [MONTHS.get(word.rstrip(".").lower(), word.rstrip(".")) for word in text.replace(",", " ").split()]
    clock = next(word for word in words if ":" in word)
    year = next(word for word in words if re.fullmatch(r"\d{4}", word))
    day = next(word for word in words if re.fullmatch(r"\d{1,2}", word))
    months = [
        word[:3].lower() for word in words if word[:3].lower() in "jan feb mar apr may jun jul aug sep oct nov dec"
    ]
    half = next((word for word in words if word in ("AM", "PM")), "")
    form = "%d %b %Y %I:%M:%S %p" if half else "%d %b %Y %H:%M:%S"
    moment = datetime.strptime(f"{day} {months[-1]} {year} {clock} {half}".strip(), form)
    printed = next((word for word in words if word in HOURS), None)
    if printed:
        seconds = moment.replace(tzinfo=timezone(timedelta(hours=HOURS[printed]))).timestamp()
    else:
        seconds = moment.replace(tzinfo=ZoneInfo(zone)).timestamp()
    return None if abs(seconds) <= 86400 else seconds


def _seconds(text: str | None) -> float | None:
    """Return a duration in seconds."""
    if not text or text in ("undefined", "unlimited"):
        return None
    if bracket := re.search(r"\((\d+) seconds\)", text):
        return float(bracket[1])
    days, plus, clock = text.rpartition("+")
    hours, minutes, seconds = (float(part) for part in clock.split(":"))
    return (float(days) * 86400 if plus else 0) + hours * 3600 + minutes * 60 + seconds


def _job(step: dict[str, Any], zone: str, per_node: int) -> dict[str, Any] | None:
    """Return a step as a job; None where it cannot be one."""
    state = step.get("Status", "")
    if not state or WAITING.search(state) or "Class" not in step:
        return None
    submit, dispatch, start, end = (
        _time(step.get(label), zone) for label in ("Queue Date", "Dispatch Time", "Start Time", "Completion Date")
    )
    if "Start Time" not in step:
        start = dispatch
    if state in ("Rejected", "Not Run"):
        start = None
    known = [time for time in (submit, start, end) if time is not None]
    if submit is None or known != sorted(known):
        return None
    hard, soft = _seconds(step.get("Wall Clk Hard Limit")), _seconds(step.get("Wall Clk Soft Limit"))
    if state == "Completed" and start is None:
        return None
    run = None if start is None or end is None else end - start
    geometry = len(re.findall(r"\d+", step.get("Task_geometry", ""))) or None
    tasks = step["tasks"] or geometry or step["total"] or None
    hosts = step["hosts"] or int(step.get("Alloc. Host Count") or 0) or None
    whole_nodes = hosts * per_node if hosts else None
    if start is None:
        processors = None
    elif step.get("Step Type") == "Serial":
        processors = tasks or whole_nodes or 1
        processors = 1 if not tasks else processors
    elif step.get("Node Usage") == "not_shared":
        processors = whole_nodes or tasks
    else:
        processors = tasks or whole_nodes
    cpu = None
    if step.get("Step User Time") and start is not None:
        cpu = (_seconds(step["Step User Time"]) or 0) + (_seconds(step.get("Step System Time")) or 0)
        if cpu == 0 and run is not None and run > 10:
            cpu = None
    code = int(step.get("Completion Code") or 0)
    if state == "Completed":
        status = 1 if code == 0 else 0
    elif state in ("Terminated", "Rejected"):
        status = 0
    elif state in ("Removed", "Canceled"):
        status = 0 if hard is not None and run is not None and run > hard else 5
    else:
        status = 5
    return {
        "log_id": step.get("Job Step Id") or step[""],
        "submit": submit,
        "wait": None if start is None else start - submit,
        "run": run,
        "processors": processors,
        "cpu": None if cpu is None or processors is None else cpu / processors,
        "requested_time": soft if soft is not None else hard,
        "status": status,
        "user": step.get("Owner") or step["job"].get("Owner"),
        "queue": step["Class"],
        "restarts": int(step["Start Count"]) - 1 if int(step.get("Start Count") or 0) else None,
    }
