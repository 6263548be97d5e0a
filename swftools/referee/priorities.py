# SPDX-License-Identifier: BSD-3-Clause
"""Priorities that a centre kept of its waiting jobs: what ``sprio`` or ``squeue`` printed, again and again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.formats.compression import open_log
from swftools.machines.node_table import NodeTable
from swftools.simulator.slurm.setting import SampledPriorities
from swftools.simulator.slurm.state import UNKNOWN
from swftools.trace import Trace

JOB, PARTITION, PRIORITY = "JOBID", "PARTITION", "PRIORITY"
_TIME = re.compile(r"#\s*(\d{9,}(?:\.\d+)?)\s*$")
_TASKS = re.compile(r"_\[.*$|_\*$")
REMEDY = 'write it by: date "+# %s"; sprio -o "%i|%r|%Y"'


def read_priorities(path: str | os.PathLike[str], trace: Trace, table: NodeTable) -> SampledPriorities:
    """Return the priorities of a log's jobs that a file tells.

    Parameters
    ----------
    path : str or path
        For each time a line ``# seconds since 1970``, headings, and a row for each job and partition, in columns by
        ``|``: what ``sprio -o "%i|%r|%Y"`` prints, or ``squeue -t PD -o "%i|%P|%Q"``, one below the other. There may be
        other columns, in any order; headings need not be said again. Tasks of an array may be told by its number.
    trace : Trace
        Its jobs have their ids (``log_id``), and its header says when it begins.
    table : NodeTable
        The machine, whose partitions are named.

    Raises
    ------
    ParameterError
        The file has no times or no headings, or a priority that is no number; it tells of no job of the log; or the log
        has no ids, or does not say when it begins.
    """
    if "log_id" not in trace.jobs or trace.header.unix_start_time is None:
        raise ParameterError("the log does not say which jobs these are, and when; export it with JobID and Submit")
    with open_log(path) as stream:
        lines = stream.read().decode("utf-8", "replace").splitlines()
    told = pd.DataFrame(_rows(lines, path), columns=["time", "job", "partition", "priority"])
    names = {each.name: place for place, each in enumerate(table.partitions)}
    told["partition"] = told["partition"].map(lambda name: names.get(name, UNKNOWN))
    ids = pd.DataFrame({"row": np.arange(len(trace)), "job": trace.jobs["log_id"].astype("str")})
    ids["array"] = ids["job"].str.replace(r"_.*$", "", regex=True)
    is_task = ids["job"] != ids["array"]
    found = pd.concat([told.merge(ids, on="job"), told.merge(ids[is_task], left_on="job", right_on="array")])
    if not len(found):
        raise ParameterError(f"{path} tells of no job of the log which priority it had; {REMEDY}")
    found = found.sort_values(["row", "time"], kind="stable")
    counts = np.bincount(found["row"], minlength=len(trace))
    return SampledPriorities(
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        found["time"].to_numpy(np.float64) - float(trace.header.unix_start_time),
        found["partition"].to_numpy(np.int64),
        found["priority"].to_numpy(np.float64),
    )


def _rows(lines: list[str], path: str | os.PathLike[str]) -> Iterator[tuple[float, str, str, float]]:
    """Yield time, job, partition and priority."""
    time, place = np.nan, dict[str, int]()
    for number, line in enumerate(lines, 1):
        if match := _TIME.match(line):
            time = float(match[1])
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if JOB in cells and PRIORITY in cells:
            place = {name: at for at, name in enumerate(cells)}
            continue
        if not line.strip():
            continue
        if not place or np.isnan(time):
            lacks = "headings with JOBID and PRIORITY" if not place else "a line '# seconds since 1970'"
            raise ParameterError(f"line {number} of {path} comes before {lacks}; {REMEDY}")
        try:
            row = cells[place[JOB]], float(cells[place[PRIORITY]])
        except (ValueError, IndexError):
            raise ParameterError(f"line {number} of {path} has no priority of a job: {line!r}; {REMEDY}") from None
        yield time, _TASKS.sub("", row[0]), cells[place[PARTITION]] if PARTITION in place else "", row[1]
