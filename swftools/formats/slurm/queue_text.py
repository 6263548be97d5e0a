# SPDX-License-Identifier: BSD-3-Clause
r"""What runs and waits at a moment, as ``squeue --format`` and ``sacct --parsable2`` print it: cells between bars.

A job array that waits may stand in one line, ``7_[0-8:2,11%3]`` for six tasks of which three may run at a time;
``sacct --json`` of Slurm 22.05 writes the tasks as the bits of a number, ``0x1F8``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from swftools.errors import UnreadableLogError
from swftools.output.shown_text import shown

REMEDY = 'make it by squeue --array --format="%i|%T|%C|%l|%M|%V|%S|%Q|%r"'

MOST_TASKS = 4_000_001
"""Tasks that a job array may have in Slurm."""

_NEEDED = ("JOBID", "STATE", "CPUS", "TIME_LIMIT")
_ALSO_CALLED = {
    "ST": "STATE",
    "TIMELIMIT": "TIME_LIMIT",
    "NUM_CPUS": "CPUS",
    "ELAPSED": "TIME",
    "SUBMIT": "SUBMIT_TIME",
    "START": "START_TIME",
    "NODELIST(REASON)": "REASON",
    "ALLOCCPUS": "CPUS",
    "NCPUS": "CPUS",
    "REQCPUS": "MIN_CPUS",
}
_TASKS = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")


def rows_of_text(text: str, path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the jobs of a text, each with its place and its cells by name.

    Raises
    ------
    UnreadableLogError
        A column is missing, or a line has other numbers of cells than the first.
    """
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line.strip())
    given = [cell.strip().upper() for cell in lines[first].split("|")]
    names = [_ALSO_CALLED.get(name, name) for name in given]
    if "CPUS" not in names:
        names = ["CPUS" if name == "MIN_CPUS" else name for name in names]
    if missing := [name for name in _NEEDED if name not in names]:
        raise UnreadableLogError(f"{path}, line {first + 1}: no column {', '.join(missing)}; {REMEDY}")
    priorities = [place for place, name in enumerate(names) if name == "PRIORITY"]
    for number, line in enumerate(lines[first + 1 :], start=first + 2):
        if not line.strip():
            continue
        # Names that users give may have a | of their own, where they stand last.
        cells = [cell.strip() for cell in line.split("|", len(names) - 1 if names[-1] == "NAME" else -1)]
        if [cell.upper() for cell in cells] == given:
            continue  # the names again, where outputs were put together
        if len(cells) != len(names):
            raise UnreadableLogError(
                f"{path}, line {number}: {len(cells)} values for {len(names)} columns: {shown(line)}; {REMEDY}"
            )
        job = dict(zip(names, cells, strict=True))
        if len(priorities) > 1:  # %p and %Q have one name; %p is below 1
            job["PRIORITY"] = max((cells[place] for place in priorities), key=_number)
        if job["CPUS"] in {"", "0"}:  # sacct: who waits holds none yet
            job["CPUS"] = job.get("MIN_CPUS", job["CPUS"])
        yield f"{path}, line {number}", job


def names_of(job: str, place: str) -> list[str]:
    """Return the jobs that an id stands for: one, or each of the tasks that wait, ``7_3`` and ``7_5`` of ``7_[3,5]``.

    Raises
    ------
    UnreadableLogError
        It does not say which tasks.
    """
    array, bracket, tasks = job.partition("_[")
    if not bracket:
        return [job]
    listed = tasks.rstrip("]").partition("%")[0]
    if re.fullmatch(r"0x[0-9a-fA-F]+", listed):
        bits = bin(int(listed, 16))[:1:-1]
        return [f"{array}_{task}" for task, bit in enumerate(bits) if bit == "1"]
    found: list[str] = []
    for part in listed.split(","):
        match = _TASKS.fullmatch(part.strip())
        if not match:
            raise UnreadableLogError(
                f"{place}: {shown(job)} does not say for which jobs it stands; ask for each by squeue --array"
            )
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        chosen = range(first, last + 1, max(step, 1))
        if len(found) + len(chosen) > MOST_TASKS:
            raise UnreadableLogError(f"{place}: {shown(job)} stands for more tasks than a job array can have")
        found += [f"{array}_{task}" for task in chosen]
    return found


def _number(text: str) -> float:
    """Return a number; -1 where there is none."""
    try:
        return float(text)
    except ValueError:
        return -1.0
