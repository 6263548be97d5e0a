# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a machine as a document of plain words and numbers, and back: for states that are saved.

Whoever made a document is not trusted: all of it is looked at before any of it is a size or a place.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from swftools.errors import ParameterError
from swftools.machines.hostlist import MOST_HOSTS
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.machines.slurm_site import SlurmSite
from swftools.parameters import is_whole

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MOST = 2**53

_AMOUNTS = ("cores", "memory", "gpus", "weight")
"""Whole numbers, one a node."""


_FIELDS = tuple(each.name for each in fields(NodeTable) if each.name != "outages")


def document_of(table: NodeTable) -> dict[str, Any]:
    """Return the nodes of a machine, which are always there, in words and numbers."""
    found = {name: _plain(getattr(table, name)) for name in _FIELDS if name != "slurm"}
    return found | {"slurm": None if table.slurm is None else _site().dump_python(table.slurm, mode="json")}


def table_of_document(document: Any) -> NodeTable:
    """Return the nodes that a document describes.

    Raises
    ------
    ParameterError
        It describes none; says what of it is wrong.
    """
    if not isinstance(document, dict) or {*document, "slurm"} != {*_FIELDS}:  # states of old have no slurm
        raise ParameterError("the machine is not described by what machines of nodes have")
    many = len(document["names"])
    kinds, switches = (_texts(document, name) for name in ("kinds", "switches"))
    if not 1 <= many <= MOST_HOSTS or len(set(_texts(document, "names"))) != many:
        raise ParameterError(f"the machine has {many:,} nodes, or nodes of one name")
    whole = {name: _numbers(document, name, many, 0, _MOST) for name in _AMOUNTS}
    rare = {
        "threads": _numbers(document, "threads", many, 1, 1024, may_lack=True),
        "switch": _numbers(document, "switch", many, -1, len(switches) - 1, may_lack=True),
    }
    speed = document["speed"]
    if not isinstance(speed, list) or len(speed) not in (0, many) or not all(_is_amount(each) for each in speed):
        raise ParameterError("the machine's speed is none")
    partitions = document["partitions"]
    if not isinstance(partitions, list) or not partitions:
        raise ParameterError("the machine has no partitions")
    return NodeTable(
        names=_texts(document, "names"),
        kind=_numbers(document, "kind", many, 0, len(kinds) - 1),
        kinds=kinds,
        **whole,
        partitions=tuple(_partition(each, many) for each in partitions),
        gpu_types=_sets(document, "gpu_types", len(kinds)),
        features=_sets(document, "features", len(kinds)),
        speed=np.array(speed, np.float64),
        **rare,
        switches=switches,
        slurm=_slurm(document.get("slurm"), len(partitions), many),
        told=_texts(document, "told"),
    )


def _site() -> TypeAdapter[SlurmSite]:
    from pydantic import TypeAdapter  # noqa: PLC0415 (who has a pool, or no Slurm, does without)

    return TypeAdapter(SlurmSite)


def _slurm(document: Any, partitions: int, nodes: int) -> SlurmSite | None:
    """Return how Slurm is configured by a document; None where it is not told."""
    if document is None:
        return None
    try:
        found = _site().validate_python(document)
    except ValueError as error:  # of pydantic
        raise ParameterError("how Slurm is configured is not described as it should be") from error
    places = [-1 <= each.parent < here for here, each in enumerate(found.associations)]
    places += [-1 <= each.parent < len(found.switches) for each in found.switches]
    places += [0 <= node < nodes for each in found.switches for node in each.nodes]
    if not all(places) or len(found.partitions) != partitions:
        raise ParameterError("how Slurm is configured names what is not there")
    return found


def _partition(document: Any, nodes: int) -> PartitionNodes:
    """Return the partition of a document."""
    if not isinstance(document, dict) or set(document) != {each.name for each in fields(PartitionNodes)}:
        raise ParameterError("a partition is not described by what partitions have")
    found = dict(document)
    numbers = _numbers(document, "nodes", None, 0, nodes - 1)
    if not len(numbers) or (np.diff(numbers) <= 0).any():
        raise ParameterError("the nodes of a partition do not rise")
    if found["max_time"] is None:
        found["max_time"] = np.inf
    for name, value in found.items():
        if name == "name":
            fine = isinstance(value, str)
        elif name in ("is_exclusive", "is_default"):
            fine = isinstance(value, bool)
        elif name == "max_time":
            fine = isinstance(value, int | float) and value >= 0
        else:
            fine = name == "nodes" or is_whole(value, -_MOST if name == "tier" else 0, _MOST)
        if not fine:
            raise ParameterError(f"{name} of a partition is none")
    return PartitionNodes(**{**found, "nodes": numbers})


def _plain(value: Any) -> Any:
    """Return a part of a table in words and numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, PartitionNodes):
        found = {each.name: _plain(getattr(value, each.name)) for each in fields(PartitionNodes)}
        return {name: None if part == np.inf else part for name, part in found.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return sorted(value) if isinstance(value, frozenset) else value


def _texts(document: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return texts."""
    texts = document[name]
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise ParameterError(f"the machine's {name} are no texts")
    return tuple(texts)


def _sets(document: dict[str, Any], name: str, kinds: int) -> tuple[frozenset[str], ...]:
    """Return sets of texts, one a kind, or none."""
    sets = document[name]
    if not isinstance(sets, list) or len(sets) not in (0, kinds):
        raise ParameterError(f"the machine's {name} are not of its kinds")
    return tuple(frozenset(_texts({name: each}, name)) for each in sets)


def _numbers(
    document: dict[str, Any], name: str, many: int | None, least: int, most: int, *, may_lack: bool = False
) -> Any:
    """Return whole numbers, so many, or perhaps none."""
    numbers = document[name]
    lengths = {many, 0} if may_lack else {many}
    if not isinstance(numbers, list) or (many is not None and len(numbers) not in lengths):
        raise ParameterError(f"the machine's {name} are not as many as it has nodes")
    if not all(is_whole(each, least, most) for each in numbers):
        raise ParameterError(f"the machine's {name} are not whole numbers from {least} to {most}")
    return np.array(numbers, np.int64)


def _is_amount(value: Any) -> bool:
    """Whether a value is a number from 0 on."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < np.inf
