# SPDX-License-Identifier: BSD-3-Clause
"""Files ``.machines``, as logs of JSSPP and the simulator Alea have them: clusters, a line each."""

from __future__ import annotations

import re

from swftools.errors import LogFormatError, ParameterError
from swftools.formats.registry import Fit
from swftools.formats.swf.machines import machines_of
from swftools.machines.formats.registry import Found, machine_format

_LINE = re.compile(r"[0-9]+\s+\S+\s+[0-9]+\s+[0-9]+\s+[0-9.eE+]+\s+[0-9.eE+]+")


def _recognise(text: str) -> Fit:
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and line[0] not in "#;"), "")
    is_there = _LINE.fullmatch(first) is not None
    return Fit(is_there, "a line is number, name, nodes, ..." if is_there else "no line of six fields")


@machine_format("machines", "a file .machines beside logs of JSSPP", _recognise)
def read_alea_machines(text: str, name: str) -> Found:
    """Return the machine of which the clusters are kinds of nodes.

    Raises
    ------
    ParameterError
        A line is not number, name, nodes, processors of each, speed and KB.
    """
    try:
        clusters = machines_of(text, name)
    except LogFormatError as error:
        raise ParameterError(str(error)) from error
    kinds = [
        {
            "kind": cluster["name"],
            "count": int(cluster["nodes"]),
            "cores": int(cluster["processors_per_node"]),
            "memory": int(cluster["memory_kb"]) // 1024 or None,
            "speed": float(cluster["speed"]),
        }
        for cluster in clusters.to_dict("records")
    ]
    if len({kind["kind"] for kind in kinds}) < len(kinds):
        raise ParameterError(f"{name}: two clusters have one name; rename one")
    return Found({"nodes": kinds})
