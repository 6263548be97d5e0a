# SPDX-License-Identifier: BSD-3-Clause
"""Which job waits for which, and when each is eligible, by plain loops over jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from swftools.trace import Trace


@dataclass(eq=False)
class Node:
    """A job of a trace, the jobs that it names, and those of them that it waits for."""

    row: int
    number: int
    occurrence: int
    submit: float
    logged_end: float
    think: float
    names: list[int]
    listed: list[int]
    waits_for: list[Node] = field(default_factory=list)

    def leads_to(self, other: Node) -> bool:
        """Whether it waits for another, or for one that does, and so on."""
        seen: list[Node] = []
        ahead = list(self.waits_for)
        while ahead:
            node = ahead.pop()
            if node is other:
                return True
            if node not in seen:
                seen.append(node)
                ahead += node.waits_for
        return False


def read_nodes(trace: Trace) -> tuple[list[Node], dict[str, int]]:
    """Return the jobs of a trace, and how many names mean nothing, by the last word of why."""
    nodes: list[Node] = []
    for row, job in enumerate(_rows(trace)):
        names = [] if job["preceding_job_number"] is None else [job["preceding_job_number"]]
        listed = list(dict.fromkeys(job.get("preceding_job_numbers") or []))
        names += [name for name in listed if name not in names]
        occurrence = sum(node.number == job["job_number"] for node in nodes)
        end = math.nan
        if None not in (job["wait_time"], job["run_time"]):
            end = job["submit_time"] + job["wait_time"] + job["run_time"]
        think = job["think_time"] or 0.0
        nodes.append(Node(row, job["job_number"], occurrence, job["submit_time"], end, think, names, listed))
    lost = {"itself": 0, "there": 0, "later": 0, "circle": 0}
    one = {tuple(node.names) for node in nodes}
    if len(nodes) > 1 and len(one) == 1 and len(next(iter(one))) == 1:
        return nodes, lost
    for node in nodes:
        for name in node.names:
            alike = [other for other in nodes if other.number == name]
            earlier = [other for other in alike if other.submit <= node.submit]
            if name == node.number:
                lost["itself"] += 1
            elif not alike:
                lost["there"] += 1
            elif not earlier and name in node.listed:
                node.waits_for.append(min(alike, key=lambda other: (other.submit, other.row)))
            elif not earlier:
                lost["later"] += 1
            else:
                node.waits_for.append(max(earlier, key=lambda other: (other.submit, other.row)))
    circles = [(node, other) for node in nodes for other in node.waits_for if other.leads_to(node)]
    for node, other in circles:
        node.waits_for.remove(other)
    lost["circle"] = len(circles)
    return nodes, lost


def eligible(node: Node, ends: dict[int, float]) -> float:
    """Return when a job is eligible, by ends by row; other jobs ended as they are logged, or at once."""
    ready = node.submit
    for other in node.waits_for:
        end = ends.get(other.row, other.logged_end)
        if not math.isnan(end):
            ready = max(ready, end + node.think)
    return ready


def _rows(trace: Trace) -> list[dict[str, Any]]:
    """Return the jobs of a trace as mappings in which None is missing."""
    names = ["job_number", "submit_time", "wait_time", "run_time", "preceding_job_number", "think_time"]
    names += [name for name in ["preceding_job_numbers"] if name in trace.jobs]
    rows: list[dict[str, Any]] = trace.jobs[names].to_dict("records")
    return [{name: value if _is_there(value) else None for name, value in row.items()} for row in rows]


def _is_there(value: Any) -> bool:
    """Whether it is neither NaN, NA nor None."""
    return isinstance(value, list) or not pd.isna(value)
