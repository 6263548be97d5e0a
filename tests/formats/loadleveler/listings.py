# SPDX-License-Identifier: BSD-3-Clause
"""Listings of LoadLeveler, written from what Hypothesis draws, in each of the shapes that there are."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

ZONE = "America/Los_Angeles"
SHAPES = ("llsummary", "llq-3", "llq-5")

steps = st.fixed_dictionaries(
    {
        "host": st.sampled_from(["s1", "s1.site.example", "sched-2.example.org"]),
        "submit": st.integers(1_070_000_000, 1_080_000_000),
        "wait": st.integers(0, 100_000),
        "run": st.integers(0, 200_000),
        "nodes": st.integers(1, 5),
        "tasks": st.integers(1, 3),
        "state": st.sampled_from(["Completed", "Removed", "Terminated", "Vacated", "Not Run", "Rejected", "Idle"]),
        "code": st.sampled_from([0, 256, 9, 15, 35584]),
        "soft": st.none() | st.integers(1, 300_000),
        "kind": st.sampled_from(["nodes", "tasks", "serial"]),
        "cpu": st.integers(0, 10**6),
        "user": st.sampled_from(["anna", "bo", "ümit", "c_3"]),
        "queue": st.sampled_from(["normal", "interactive", "high"]),
        "starts": st.integers(1, 3),
    }
)
"""What a step is; times of winter, so that no hour is repeated."""


def date(seconds: int, shape: str) -> str:
    """Return a time as the commands print it."""
    moment = datetime.fromtimestamp(seconds, ZoneInfo(ZONE))
    return moment.strftime("%a %b %e %H:%M:%S %Z %Y" if shape == "llsummary" else "%a %b %e %H:%M:%S %Y")


def duration(seconds: float) -> str:
    """Return a CPU time as the commands print it."""
    days, rest = divmod(int(seconds), 86400)
    return f"{f'{days}+' if days else ''}{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}.000000"


def limit(seconds: int | None) -> str:
    """Return a limit as the commands print it."""
    return "undefined" if seconds is None else f"{duration(seconds)[:-7]} ({seconds} seconds)"


def listing(drawn: list[dict[str, Any]], shape: str) -> bytes:
    """Return the listing of steps; those of one job are together if their hosts follow each other."""
    lines: list[str] = []
    for number, step in enumerate(drawn):
        name = f"{step['host']}.{100 + number // 2}.{number % 2}"
        if shape == "llsummary":
            if number % 2 == 0 or step["host"] != drawn[number - 1]["host"]:
                job = name.rpartition(".")[0]
                lines += [
                    f"{'=' * 18} Job {job} {'=' * 18}",
                    f"{'Job Id':>19}: {job}",
                    f"{'Owner':>19}: {step['user']}",
                ]
            lines.append(f"{'-' * 18} Step {name} {'-' * 18}")
        else:
            signs = "=" * (15 if shape == "llq-3" else 5)
            lines.append(f"{signs} Job Step {name} {signs}")
        lines += [f"{label:>19}: {value}".rstrip() for label, value in labels(name, step, shape).items()]
        if step["kind"] == "tasks":
            lines += node_part(step)
        elif shape == "llsummary":
            hosts = [f"n{node:03}" for node in range(step["nodes"])]
            lines.append(f"{'Allocated Host':>19}: {hosts[0]}")
            lines += [f"{'':>21}{host}" for host in hosts[1:]]
    lines.append(f"{len(drawn)} job step(s) in query, 0 waiting")
    return ("\n".join(lines) + "\n").encode()


def labels(name: str, step: dict[str, Any], shape: str) -> dict[str, str]:
    """Return the labels of a step, in order."""
    start = step["submit"] + step["wait"]
    ran = step["state"] not in ("Not Run", "Rejected", "Idle")
    found = {
        "Job Step Id": name,
        "Owner": step["user"],
        "Queue Date": date(step["submit"], shape),
        "Status": step["state"],
        "Dispatch Time": date(start, shape) if ran else "",
        "Completion Date": date(start + step["run"], shape) if step["state"] != "Idle" else "",
        "Completion Code": str(step["code"]),
        "Start Count": str(step["starts"]),
        "Step Type": "Serial" if step["kind"] == "serial" else "General Parallel",
        "Node Usage": "shared" if step["kind"] == "tasks" else "not_shared",
        "Class": step["queue"],
        "Wall Clk Hard Limit": limit(None if step["soft"] is None else step["soft"] + 10),
        "Wall Clk Soft Limit": limit(step["soft"]),
        "Step User Time": duration(step["cpu"]),
        "Step System Time": duration(0),
    }
    if shape == "llsummary":
        found["Start Time"] = date(start, shape) if ran else ""
        found["Alloc. Host Count"] = str(step["nodes"])
    elif step["kind"] == "nodes":
        found["Alloc. Host Count"] = str(step["nodes"])
    return found


def node_part(step: dict[str, Any]) -> list[str]:
    """Return the part about nodes."""
    hosts = [f"a{node}" for node in range(step["nodes"])]
    count = step["nodes"] * step["tasks"]
    lines = ["-" * 80, "Node", "----", ""]
    lines += [f"   {'Node maximum':<16}: {step['nodes']}", f"   {'Allocated Hosts':<16}: {hosts[0]}::"]
    lines += [f"{'+ ':>21}{host}::" for host in hosts[1:]]
    lines += ["", "   Master Task", "   -----------", "", "      Executable   : /u/x/run", "      Num Task Inst: 1"]
    lines += [f"      Task Instance: {hosts[0]}:-1:,", "", "   Task", "   ----", "", f"      Num Task Inst: {count}"]
    return [*lines, *(f"      Task Instance: {hosts[task % len(hosts)]}:{task}:," for task in range(count)), "-" * 80]
