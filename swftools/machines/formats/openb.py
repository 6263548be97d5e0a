# SPDX-License-Identifier: BSD-3-Clause
"""The list of nodes of Alibaba's openb, a cluster of 2023 that shares GPUs (Weng et al. 2023)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.kinds import Node, kinds_of
from swftools.machines.parts import UNTYPED

_COLUMNS = ["sn", "cpu_milli", "memory_mib", "gpu", "model"]


def _recognise(text: str) -> Fit:
    first = text.partition("\n")[0].strip().split(",")
    is_there = first == _COLUMNS
    return Fit(is_there, f"the first line is {','.join(_COLUMNS)}" if is_there else f"no line {','.join(_COLUMNS)}")


@machine_format("openb", "the list of nodes of Alibaba's openb (CSV)", _recognise)
def read_openb_nodes(text: str, name: str) -> Found:
    """Return the machine of a list of nodes.

    Raises
    ------
    ParameterError
        A line is not name, thousandths of a CPU, MiB, GPUs and their model.
    """
    nodes: dict[str, Node] = {}
    reader = csv.reader(io.StringIO(text))
    next(reader)
    for row in _rows(reader, name):
        if not row:
            continue
        try:
            node, milli, memory, gpus, model = (each.strip() for each in row)
            cores, rest = divmod(int(milli), 1000)
            found = Node(cores, int(memory), gpus=((model or UNTYPED, int(gpus)),) if int(gpus) else ())
        except ValueError:
            rest, found = 1, None
        if rest or found is None or not node or found.cores < 1 or int(memory) < 0 or int(gpus) < 0:
            raise ParameterError(
                f"{name}, line {reader.line_num}: {','.join(row)[:80]!r} is not a node's name, thousandths of whole "
                "CPUs, MiB, GPUs and their model"
            )
        if node in nodes:
            raise ParameterError(f"{name}, line {reader.line_num}: node {node!r} is there twice; give each once")
        nodes[node] = found
    if not nodes:
        raise ParameterError(f"{name}: lists no node")
    return Found({"name": "openb", "order": "names", "nodes": kinds_of(nodes.items())})


def _rows(reader: Any, name: str) -> Iterator[list[str]]:
    """Yield the rows of a table."""
    try:
        yield from reader
    except csv.Error as error:
        raise ParameterError(f"{name}, line {reader.line_num + 1}: is no CSV: {error}") from error
