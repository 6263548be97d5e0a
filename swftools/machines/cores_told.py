# SPDX-License-Identifier: BSD-3-Clause
"""How many CPUs jobs had of each of their nodes, which ``sacct`` does not tell: as ``scontrol show job -d`` printed it.

What was printed several times may stand in one file. A table ``job|nodes|cores`` is read as well.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict

import pandas as pd

from swftools.errors import ParameterError
from swftools.formats.compression import open_log
from swftools.machines.hostlist import expand_hosts, fold_hosts
from swftools.machines.logged_hosts import HOSTS
from swftools.trace import Trace

_WORD = re.compile(r"(\w+)=(\S*)")
_RECORD = re.compile(r"^JobId=", re.MULTILINE)
_PART = re.compile(r"^\s+Nodes=(\S+) CPU_IDs=([0-9,-]+)", re.MULTILINE)
_TABLE = {"job", "nodes", "cores"}

Told = dict[tuple[str, str], list[str]]
"""By job and nodes: what it had of each, as ``exec_host`` says it, once for each time it ran there."""


def with_cores(trace: Trace, path: str | os.PathLike[str]) -> Trace:
    """Return a log whose jobs say how many CPUs they had of each node, where a file tells it.

    Parameters
    ----------
    trace : Trace
        Its jobs have their ids (``log_id``) and nodes.
    path : str or path
        What ``scontrol show job -d`` printed, once or several times; or a table with columns job, nodes and cores, by
        ``|``, such as ``17|n[1-2]|4,2``.

    Returns
    -------
    Trace
        The same log. A job is found by its id and its nodes; one that ran several times on the same nodes by the order
        of its starts.

    Raises
    ------
    ParameterError
        The file is neither, or tells of no job of the log; or the log has no ids, or no nodes.
    """
    column = next((each for each in HOSTS if each in trace.jobs and trace.jobs[each].notna().any()), None)
    if column is None or "log_id" not in trace.jobs:
        raise ParameterError("the log does not say which job ran on which nodes; export it with JobID and NodeList")
    with open_log(path) as stream:
        text = stream.read().decode("utf-8", "replace")
    told = _of_table(text, path) if set(text.partition("\n")[0].strip().split("|")) >= _TABLE else _of_scontrol(text)
    hosts, found = [text if isinstance(text, str) else None for text in trace.jobs[column]], 0
    start = trace.views.submit_time + trace.views.wait_time
    for row in pd.Series(start).sort_values(kind="stable").index:
        job, nodes = trace.jobs["log_id"].iloc[row], hosts[row]
        if nodes is None or pd.isna(job):
            continue
        if runs := told.get((str(job), _key(nodes))):
            hosts[row], found = runs.pop(0), found + 1
    if not found:
        raise ParameterError(
            f"{path} tells of no job of the log how many CPUs it had of its nodes; give what scontrol show job -d "
            "printed while they ran"
        )
    return trace.with_jobs(trace.jobs.assign(**{column: pd.array(hosts, "str")}))


def _key(nodes: str) -> str:
    try:
        return fold_hosts(sorted(expand_hosts(nodes)))
    except ParameterError:
        return nodes


def _told(nodes: list[str], cores: list[int]) -> str:
    return "+".join(f"{node}/0*{number}" for node, number in zip(nodes, cores, strict=True))


def _of_table(text: str, path: str | os.PathLike[str]) -> Told:
    lines = text.splitlines()
    names, found = lines[0].strip().split("|"), defaultdict(list)
    for number, line in enumerate(lines[1:], 2):
        cells = dict(zip(names, line.split("|"), strict=False))
        try:
            nodes, cores = expand_hosts(cells["nodes"]), [int(each) for each in cells["cores"].split(",")]
            found[cells["job"], _key(cells["nodes"])].append(_told(nodes, cores))
        except (KeyError, ValueError, ParameterError):
            raise ParameterError(
                f"{path}, line {number}: is no job, nodes and CPUs of each; write such as 17|n[1-2]|4,2"
            ) from None
    return found


def _of_scontrol(text: str) -> Told:
    found: Told = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for record in _RECORD.split(text)[1:]:
        words = dict(_WORD.findall("JobId=" + record.replace("\n", " ")))
        job, start = words["JobId"], words.get("StartTime", "")
        if words.get("ArrayTaskId", "").isdecimal():
            job = f"{words.get('ArrayJobId', job)}_{words['ArrayTaskId']}"
        parts = [(node, _count(ids)) for nodes, ids in _PART.findall(record) for node in expand_hosts(nodes)]
        if parts and (job, start) not in seen:
            seen.add((job, start))
            nodes = [node for node, _ in parts]
            found[job, fold_hosts(sorted(nodes))].append(_told(nodes, [cores for _, cores in parts]))
    return found


def _count(ids: str) -> int:
    """Return how many ids a text such as ``0-3,8`` has."""
    ends = [each.partition("-") for each in ids.split(",")]
    return sum(int(last or first) - int(first) + 1 for first, _, last in ends)
