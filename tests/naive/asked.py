# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of a machine of nodes, the slow obvious way: each job by itself, all numbers of nodes in turn.

For logs that tell nodes, cores, memory and GPUs by columns. What is found out over a whole log, such as widths that
count nodes, is not here, but whether it counts threads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swftools.machines.node_table import GPU, NodeTable, PartitionNodes

Row = dict[str, Any]


@dataclass(frozen=True)
class Ask:
    """What a job asks for; or, with 0 nodes, nothing: it cannot run."""

    nodes: int = 0
    cores: int = 0
    memory: int = 0
    gpus: int = 0
    is_exclusive: bool = False
    sets: tuple[tuple[int, tuple[int, ...]], ...] = ()


def counts_threads(rows: Sequence[Row], table: NodeTable) -> bool:
    """Return whether a log that is not Slurm's counts threads: some job on one node has more than any has cores."""
    cores = [int(each) for each in table.cores]
    most = max(count * threads for count, threads in zip(cores, _threads(table), strict=True))
    large = False
    for job in rows:
        told = job.get("requested_cores_per_node")
        if told is None and job.get("requested_nodes") == 1:
            told = job.get("requested_processors", job.get("allocated_processors"))
        if told is not None and told > max(cores):
            if told > most:
                return False
            large = True
    return large


def ask(job: Row, table: NodeTable, *, is_in_threads: bool = False) -> Ask:
    """Return what a job asks for.

    Parameters
    ----------
    job : dict
        Columns of the dictionary that the log tells of the job, no others; ``names`` are those of its partitions, None
        where it names none.
    table : NodeTable
        The machine.
    is_in_threads : bool
        Whether the log counts threads.
    """
    if job.get("requested_nodes") == 0 or not (_has_cores(job) or _has_gpus(job) or "requested_nodes" in job):
        return Ask()
    places = _places(job, table)
    for at, (number, nodes) in enumerate(places):
        partition = table.partitions[number]
        counts = {_threads(table)[node] for node in nodes} if is_in_threads else {1}
        tries = [_least(_in_cores(job, threads), table, partition, nodes) for threads in sorted(counts)]
        found = next((each for each in tries if each is not None), None)
        if found is None:
            continue
        count, cores, memory, gpus = found
        held = [
            (other, those)
            for other, those in places[at + 1 :]
            if _fits(job, table, table.partitions[other], those, *found)
        ]
        alone = job.get("is_exclusive", False) or _only_nodes(job) or partition.is_exclusive
        return Ask(count, cores, memory, gpus, alone, ((number, nodes), *held))
    return Ask()


def _threads(table: NodeTable) -> list[int]:
    return table.threads.tolist() or [1] * len(table)


def _in_cores(job: Row, threads: int) -> Row:
    """Return a job whose cores are threads as one of cores; its memory in all stays what it is."""
    if threads == 1 or not _has_cores(job):
        return job
    found = dict(job)
    each, every = job.get("requested_cores_per_node"), job.get("requested_processors")
    if each is not None:
        least = 1 if every is None else math.ceil(every / math.ceil(each))
        told = math.ceil(each)
        cores = found["requested_cores_per_node"] = math.ceil(told / threads)
    else:
        most = found.pop("most_cores_per_node", None)
        least = 1 if most is None else math.ceil(every / most)
        told, given = every, job.get("allocated_processors", 0)
        if every < given <= threads * every and not job.get("is_exclusive"):
            cores = math.ceil(given / threads)
        else:
            cores = math.ceil(told / threads)
        found["requested_processors"] = cores
        least = max(least, job.get("requested_nodes", 1))
    found["requested_nodes"] = least if each is None else job.get("requested_nodes", least)
    if "requested_memory" in job:
        found["requested_memory"] = job["requested_memory"] * told / cores
    return found


def _names_none(job: Row, table: NodeTable) -> bool:
    """Whether neither the job nor the machine says in which partition it runs."""
    has_default = any(part.is_default for part in table.partitions)
    return job.get("names") is None and not has_default and len(table.partitions) > 1


def _has_cores(job: Row) -> bool:
    return "requested_processors" in job or "requested_cores_per_node" in job


def _has_gpus(job: Row) -> bool:
    return max(job.get(name, 0) for name in ("requested_gpus_per_node", "requested_gpus", "exact_gpus")) > 0


def _only_nodes(job: Row) -> bool:
    return not _has_cores(job) and not _has_gpus(job)


def _least(
    job: Row, table: NodeTable, partition: PartitionNodes, nodes: tuple[int, ...]
) -> tuple[int, int, int, int] | None:
    """Return the fewest nodes on which a job fits, and what it takes of each."""
    told = job.get("requested_nodes")
    if "requested_cores_per_node" in job:
        most = told or max(
            1, math.ceil(job.get("requested_processors", 0) / max(1, math.ceil(job["requested_cores_per_node"])))
        )
        tries = [most]
    elif told and not _has_cores(job):
        tries = [told]
    else:
        least = max(told or 1, partition.min_nodes)
        if "most_cores_per_node" in job:
            least = max(least, math.ceil(job.get("requested_processors", 1) / job["most_cores_per_node"]))
        tries = list(range(least, len(nodes) + 1))
    for count in tries:
        share = _share(job, partition, count)
        if _fits(job, table, partition, nodes, count, *share):
            return count, *share
        if partition.max_nodes and count > partition.max_nodes:
            break
    return None


def _share(job: Row, partition: PartitionNodes, count: int) -> tuple[int, int, int]:
    """Return cores, MB and thousandths of GPUs of each of so many nodes."""
    if "requested_cores_per_node" in job:
        cores = math.ceil(job["requested_cores_per_node"])
    else:
        cores = math.ceil(job["requested_processors"] / count) if _has_cores(job) else 1
    if "requested_memory_per_node" in job:
        memory = math.ceil(job["requested_memory_per_node"])
    else:
        of_core = job["requested_memory"] / 1024 if "requested_memory" in job else partition.default_memory_per_core
        memory = math.ceil(round(of_core * cores, 6))
    if "requested_gpus_per_node" in job:
        gpus = math.ceil(round(job["requested_gpus_per_node"] * GPU, 6))
    else:
        wanted = job.get("exact_gpus", job.get("requested_gpus", 0))
        is_whole = wanted == int(wanted)
        gpus = math.ceil(wanted / count) * GPU if is_whole else math.ceil(round(wanted * GPU, 6) / count)
    return cores, memory, gpus


def _fits(
    job: Row,
    table: NodeTable,
    partition: PartitionNodes,
    nodes: tuple[int, ...],
    count: int,
    cores: int,
    memory: int,
    gpus: int,
) -> bool:
    """Whether so many nodes are large enough, and the partition allows it."""
    sizes = {node: (table.cores[node], table.memory[node], table.gpus[node]) for node in nodes}
    large = [node for node, (its, has, also) in sizes.items() if its >= cores and has >= memory and also >= gpus]
    return (
        len(large) >= count
        and not job.get("requested_time", 0) > partition.max_time
        and not (partition.max_nodes and count > partition.max_nodes)
        and count >= partition.min_nodes
        and not (partition.max_cores and cores > partition.max_cores)
        and not (partition.max_memory_per_core and memory > partition.max_memory_per_core * cores)
    )


def _places(job: Row, table: NodeTable) -> list[tuple[int, tuple[int, ...]]]:
    """Return the nodes by partition that have what the job asks for by name."""
    names = job.get("names")
    parts = table.partitions
    called = [part.name for part in parts]
    numbers = [called.index(name) for name in names or () if name in called]
    if names is None:
        numbers = [number for number, part in enumerate(parts) if part.is_default]
        if len(parts) == 1:
            numbers = [0]
        if _names_none(job, table):
            whole = [number for number, part in enumerate(parts) if len(part.nodes) == len(table)]
            numbers = whole[:1] or list(range(len(parts)))
    found = [(number, _named(job, table, parts[number].nodes.tolist())) for number in dict.fromkeys(numbers)]
    return [(number, nodes) for number, nodes in found if nodes]


def _named(job: Row, table: NodeTable, nodes: Any) -> tuple[int, ...]:
    """Return which nodes have the features and the type of GPU."""
    return tuple(node for node in nodes if _has_features(job, table, node) and _has_type(job, table, node))


def _has_features(job: Row, table: NodeTable, node: int) -> bool:
    """Whether a node has features: the text becomes one of Python, in which each name is true or false."""
    text = job.get("constraints")
    if text is None:
        return True
    has = table.features[table.kind[node]]
    words = re.sub(r"\w+", lambda found: str(found[0] in has), text)
    return bool(eval(words.replace("&", " and ").replace("|", " or ")))


def _has_type(job: Row, table: NodeTable, node: int) -> bool:
    wanted = job.get("gpu_types")
    return wanted is None or any(each in table.gpu_types[table.kind[node]] for each in wanted.split("|"))
