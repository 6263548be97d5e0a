# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of PBS, as ``qsub`` of OpenPBS and Torque reads them: ``select=2:ncpus=8``, ``nodes=2:ppn=8``.

Directives end at the first command. The command line goes before the script, each resource by itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from swftools.job_scripts import values
from swftools.job_scripts.getopt import options_of, words_of_shell
from swftools.job_scripts.given import COMMAND_LINE, Given
from swftools.job_scripts.pbs_options import QSUB
from swftools.job_scripts.request import Component, JobRequest
from swftools.job_scripts.source import Source

_MEMORY = re.compile(r"([0-9]{1,15})(?:([kmgtp])?([bw]))?", re.IGNORECASE)
_BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
_WORD = 8
"""Bytes."""
_CLOCK = re.compile(r"(?:(?:([0-9]{1,6}):)?([0-9]{1,6}):)?([0-9]{1,9})(?:\.[0-9]*)?")

COUNTED = {"ncpus": "processors", "mpiprocs": "tasks", "ngpus": "gpus", "mem": "memory"}
"""Resources of a chunk that are counted."""

LEAST = {"ncpus": 1, "ppn": 1}
"""Of these there is one at least, wherever some are asked for."""

PASSED_OVER = {
    *("ompthreads", "arch", "host", "vnode", "vmem", "pvmem", "pcput", "cput", "file", "nice", "software", "nodect"),
    *("walltime", "place", "select", "nodes", "ncpus", "mem", "pmem", "ngpus", "gpus", "procs", "mpiprocs"),
    *("min_walltime", "max_walltime", "cpuset_create_flags"),
}
"""Resources that are counted elsewhere, or that do not matter for the request."""


def read_pbs(source: Source, arguments: Sequence[str]) -> JobRequest:
    """Return what a script requests of PBS.

    Parameters
    ----------
    source : Source
        The script.
    arguments : sequence of str
        Options of the command line of ``qsub``.

    Raises
    ------
    JobScriptError
        An option is not known, or a value is none.
    """
    found: list[tuple[str, Given]] = []
    for line in source.directives("#PBS"):
        found += options_of(words_of_shell("#PBS", line.text, line.where), QSUB, line.where)
    found += options_of(arguments, QSUB, COMMAND_LINE)
    resources: dict[str, Given] = {}
    others: dict[str, Given] = {}
    for name, given in found:
        if name == "l":
            resources |= _resources(given)
        else:
            others[name] = given
    chunks = resources.get("select", resources.get("nodes"))
    component, notes = _component(resources, chunks)
    if "queue" in others:
        component = replace(component, partition=others["queue"].value.partition("@")[0] or None)
    if "L" in others:
        notes.append(str(others["L"].refused("-L is not read", "write -l nodes= and -l walltime=")))
    array = others.get("array")
    return JobRequest((component,), 1 if array is None else values.array_size(_without_limit(array)), tuple(notes))


def _without_limit(array: Given) -> Given:
    """Return the indices of an array, without how many may run at once."""
    return Given(array.value.partition("%")[0], array.where)


def _resources(given: Given) -> Iterator[tuple[str, Given]]:
    """Yield the resources of a list; the processors of ``nodes=2:ppn=8`` belong to the nodes."""
    for part in given.value.split(","):
        name, equals, value = part.partition("=")
        if not name or not equals:
            raise given.refused(f"-l {part} is no resource", "write such as -l walltime=1:00:00")
        yield name.strip(), Given(value.strip(), given.where)


def _component(resources: dict[str, Given], chunks: Given | None) -> tuple[Component, list[str]]:
    """Return what resources add up to, and what of them is not known."""
    notes = [
        str(given.refused(f"resource {name} is not known here, and not counted", "see whether it matters"))
        for name, given in resources.items()
        if name not in PASSED_OVER
    ]
    sums = {"nodes": 0, "processors": 0, "tasks": 0, "gpus": 0, "memory": 0}
    if chunks is not None and chunks is resources.get("select"):
        for chunk in chunks.value.split("+"):
            notes += _add_chunk(sums, chunk, chunks)
    elif chunks is not None:
        for part in chunks.value.split("+"):
            _add_nodes(sums, part, chunks)
    else:
        each = {name: values.count(name, resources[name]) for name in ("ncpus", "procs") if name in resources}
        sums |= {"nodes": 1, "processors": max(each.values(), default=1), "tasks": each.get("procs", 1)}
        sums["gpus"] = _number("ngpus", resources["ngpus"]) if "ngpus" in resources else 0
    memory = _memory_of(resources, sums)
    tasks = max(sums["tasks"], 1)
    return (
        Component(
            nodes=sums["nodes"],
            most_nodes=sums["nodes"],
            tasks=tasks,
            cpus_per_task=max(sums["processors"] // tasks, 1),
            processors=sums["processors"],
            memory_mb=math.ceil(memory / 1024**2) or None,
            gpus=sums["gpus"],
            time_limit=_walltime(resources["walltime"]) if "walltime" in resources else None,
            is_exclusive="excl" in resources["place"].value if "place" in resources else False,
        ),
        notes,
    )


def _memory_of(resources: dict[str, Given], sums: dict[str, int]) -> int:
    """Return the memory of all nodes, in bytes: of all chunks, or of the job, or of each process."""
    if sums["memory"]:
        return sums["memory"]
    if "mem" in resources:
        return _bytes("mem", resources["mem"])
    return _bytes("pmem", resources["pmem"]) * sums["processors"] if "pmem" in resources else 0


def _add_chunk(sums: dict[str, int], chunk: str, given: Given) -> Iterator[str]:
    """Add ``2:ncpus=8:mpiprocs=8:ngpus=1``; a chunk has a processor, and a task, unless it says otherwise."""
    first, *others = chunk.split(":")
    if "=" in first:
        first, others = "1", [first, *others]
    number = values.count("select", Given(first, given.where))
    each = {"processors": 1, "tasks": 1, "gpus": 0, "memory": 0}
    for other in others:
        name, equals, value = other.partition("=")
        if not equals:
            raise given.refused(f"{other!r} in select={given.value} is no resource", "write such as ncpus=8")
        if name not in COUNTED:
            if name not in PASSED_OVER:
                yield str(
                    given.refused(f"resource {name} is not known here, and not counted", "see whether it matters")
                )
            continue
        here = Given(value, given.where)
        each[COUNTED[name]] = _bytes(name, here) if name == "mem" else _number(name, here, LEAST.get(name, 0))
    sums["nodes"] += number
    for name, amount in each.items():
        sums[name] += number * amount


def _add_nodes(sums: dict[str, int], part: str, given: Given) -> None:
    """Add ``2:ppn=8:gpus=1``, or a node by its name; words without a value are properties."""
    first, *others = part.split(":")
    number = values.count("nodes", Given(first, given.where)) if first.isdecimal() else 1
    if not first:
        raise given.refused(f"nodes={given.value} says no number of nodes", "write such as nodes=2:ppn=8")
    each = {"ppn": 1, "gpus": 0}
    for other in others:
        name, equals, value = other.partition("=")
        if equals and name in each:
            each[name] = _number(name, Given(value, given.where), LEAST.get(name, 0))
    sums["nodes"] += number
    sums["processors"] += number * each["ppn"]
    sums["tasks"] += number * each["ppn"]
    sums["gpus"] += number * each["gpus"]


def _number(name: str, given: Given, least: int = 0) -> int:
    if not given.value.isdecimal() or len(given.value) > 9 or int(given.value) < least:
        raise given.refused(f"{name}={given.value} is no whole number from {least} on", f"write such as {name}=4")
    return int(given.value)


def _bytes(name: str, given: Given) -> int:
    found = _MEMORY.fullmatch(given.value)
    if found is None:
        raise given.refused(f"{name}={given.value} is no memory", f"write such as {name}=4gb")
    words = _WORD if (found[3] or "").lower() == "w" else 1
    return int(found[1]) * _BYTES[(found[2] or "").lower()] * words


def _walltime(given: Given) -> float:
    """Return a time, s: ``90`` (seconds), ``5:30``, ``1:30:00``."""
    found = _CLOCK.fullmatch(given.value)
    if found is None:
        raise given.refused(f"walltime={given.value} is no time", "write seconds, or hours:minutes:seconds")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)
