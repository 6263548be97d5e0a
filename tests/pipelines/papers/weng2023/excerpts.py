# SPDX-License-Identifier: BSD-3-Clause
"""Some pods and nodes of openb, kept beside with their licence."""

from __future__ import annotations

from functools import cache

from swftools import Trace, read_log
from swftools.machines.description import read_machine
from swftools.machines.node_table import NodeTable
from tests.folders import ROOT

FOLDER = ROOT / "tests" / "pipelines" / "papers" / "weng2023" / "excerpt"


@cache
def pods() -> Trace:
    """Return the pods."""
    return read_log(FOLDER / "openb_pods.csv")


@cache
def nodes() -> NodeTable:
    """Return the nodes."""
    return read_machine(FOLDER / "openb_nodes.csv").table()
