# SPDX-License-Identifier: BSD-3-Clause
r"""What jobs of a queue ask of nodes, and on which they run, in columns of the table ``jobs``.

    squeue --array --format="%i|%T|%C|%l|%M|%V|%S|%Q|%r|%P|%D|%N|%m|%b|%f|%h"

Behind the columns that every queue needs are partition, number of nodes, their names, memory, generic resources of a
node, features, and whether nodes are shared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from swftools.formats.slurm.values import gpu_type_of, read_tres

COLUMNS = (
    *("partition", "nodes", "node_cores", "requested_nodes", "requested_memory", "requested_memory_per_node"),
    *("requested_gpus", "requested_gpus_per_node", "gpu_types", "constraints", "is_exclusive"),
)
"""Of frames of running and waiting jobs, where a queue tells any of them."""

CELLS = frozenset(
    {
        "PARTITION",
        "NODES",
        "NODELIST",
        "MIN_MEMORY",
        "TRES_PER_NODE",
        "FEATURES",
        "OVER_SUBSCRIBE",
        "TRES",
        "NODE_CORES",
    }
)
"""Cells of ``squeue`` that tell it."""

_NOTHING = frozenset({"", "N/A", "(NULL)", "NONE", "NULL"})
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)([cn]?)")
_POWERS = {"K": -1, "": 0, "M": 0, "G": 1, "T": 2}
_GPU = re.compile(r"(?:gres[:/])?gpu(?::([A-Za-z][^:=,()]*))?(?:[:=]([0-9]+))?")
_KB = 1024.0


class QueueRequest(NamedTuple):
    """What a job asks of nodes; NaN and empty texts where the queue does not tell it.

    Parameters
    ----------
    partition, nodes : str
        Its partition, or several, and the list of the nodes on which it runs.
    node_cores : tuple of float
        How many cores it has of each of these, where that is told.
    requested_nodes : float
        How many.
    requested_memory, requested_memory_per_node : float
        KB of each processor; MB of each node.
    requested_gpus, requested_gpus_per_node : float
        Of all nodes, or of each.
    gpu_types, constraints : str
        The type of its GPUs, and features.
    is_exclusive : bool
        Whether it has its nodes alone.
    """

    partition: str = ""
    nodes: str = ""
    node_cores: tuple[float, ...] | None = None
    requested_nodes: float = math.nan
    requested_memory: float = math.nan
    requested_memory_per_node: float = math.nan
    requested_gpus: float = math.nan
    requested_gpus_per_node: float = math.nan
    gpu_types: str = ""
    constraints: str = ""
    is_exclusive: bool = False


def request_of(cells: Mapping[str, str]) -> QueueRequest:
    """Return what a job asks of nodes.

    Parameters
    ----------
    cells : mapping
        By the names of ``squeue``; ``TRES`` is what a document tells in all, such as ``cpu=64,mem=125G,node=16``.

    Examples
    --------
    >>> cells = {"PARTITION": "gpu", "NODES": "2", "MIN_MEMORY": "4G", "TRES_PER_NODE": "gres/gpu:a100:2"}
    >>> request_of({**cells, "OVER_SUBSCRIBE": "NO"})[2:]
    (None, 2.0, nan, 4096.0, nan, 2.0, 'a100', '', True)
    """
    told = {name: "" if cells.get(name, "").upper() in _NOTHING else cells[name] for name in CELLS}
    per_core, per_node = _memory(told["MIN_MEMORY"])
    gpus, kind = _gpus(told["TRES_PER_NODE"])
    tres = read_tres(told["TRES"])
    nodes = told["NODES"].partition("-")[0]  # of a job that asks for a range of them
    return QueueRequest(
        told["PARTITION"],
        told["NODELIST"],
        tuple(map(float, told["NODE_CORES"].split(","))) if told["NODE_CORES"] else None,
        float(nodes) if nodes.isdecimal() and int(nodes) else tres.nodes,
        per_core,
        per_node,
        tres.gpus if math.isnan(gpus) else math.nan,
        gpus,
        kind or gpu_type_of(told["TRES"]) or "",
        told["FEATURES"],
        told["OVER_SUBSCRIBE"].upper() in {"NO", "EXCLUSIVE"},
    )


def cells_of_document(job: Mapping[str, Any], number: Any) -> dict[str, str]:
    """Return cells of a job of ``squeue --json``; ``number`` reads a number in whichever shape, None if there is none.

    Its ``shared`` is a word, or a list of words; that nodes are not shared is ``none``.
    """
    per_node, per_core = (number(job.get(name)) for name in ("memory_per_node", "memory_per_cpu"))
    shared = job.get("shared")
    words = shared if isinstance(shared, list) else [shared]
    memory = f"{per_core:.0f}Mc" if per_core else f"{per_node:.0f}M" if per_node else ""
    return {
        "PARTITION": _text(job.get("partition")),
        "NODES": f"{number(job.get('node_count')) or 0.0:.0f}",
        "NODELIST": _text(job.get("nodes")),
        "MIN_MEMORY": memory,
        "TRES_PER_NODE": _text(job.get("tres_per_node")),
        "FEATURES": _text(job.get("features")),
        "OVER_SUBSCRIBE": "NO" if "none" in words else "",
        "TRES": _text(job.get("tres_req_str")),
        "NODE_CORES": ",".join(map(str, _cores_by_node(job.get("job_resources"), number))),
    }


def _cores_by_node(resources: Any, number: Any) -> list[int]:
    """Return the cores that a job has of each of its nodes, in their order; none where that is not told.

    Slurm before 23.11 tells of each core of each socket whether it is allocated, later ones count.
    """
    if not isinstance(resources, Mapping):
        return []
    nodes = resources.get("nodes")
    found = nodes.get("allocation") if isinstance(nodes, Mapping) else resources.get("allocated_nodes")
    counts = []
    for node in found if isinstance(found, list) else []:
        cpus = node.get("cpus") if isinstance(node, Mapping) else None
        count = number(cpus.get("count")) if isinstance(cpus, Mapping) else None
        sockets = node.get("sockets") if isinstance(node, Mapping) else None
        if count is None and isinstance(sockets, Mapping):
            words = [word for each in sockets.values() for word in each.get("cores", {}).values()]
            count = float(words.count("allocated"))
        if not count:
            return []
        counts.append(int(count))
    return counts


def _text(value: Any) -> str:
    """Return a text; nothing where there is none."""
    return value if isinstance(value, str) else ""


def _memory(text: str) -> tuple[float, float]:
    """Return KB of each processor, and MB of each node, of which one is told at most; 0 of a node is all of it."""
    found = _MEMORY.fullmatch(text)
    amount = float(found[1]) * 1024.0 ** _POWERS[found[2]] if found else 0.0
    if not found or not amount:
        return math.nan, math.nan
    return (amount * _KB, math.nan) if found[3] == "c" else (math.nan, amount)


def _gpus(text: str) -> tuple[float, str]:
    """Return the GPUs of each node, and their type; NaN where none are told."""
    count, kind = math.nan, ""
    for item in text.split(","):
        if found := _GPU.fullmatch(item.strip()):
            count, kind = (0.0 if math.isnan(count) else count) + float(found[2] or 1), found[1] or kind
    return count, kind
