# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's rules begin with: what is given of a site, its nodes and its jobs, and an idle machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.given import given_of
from swftools.simulator.slurm.idle import idle_state
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.state import UNKNOWN, SlurmMemory


def slurm_memory(setting: Setting | None, parameters: Mapping[str, Any], jobs: int) -> SlurmMemory:
    """Return what Slurm's rules begin with; of no setting, for an example, of next to nothing."""
    if setting is None:
        setting = _example(jobs)
    site = setting.table.slurm or SlurmSite()
    given = given_of(setting, site, parameters)
    return SlurmMemory(given, idle_state(given, setting, site))


def _example(jobs: int) -> Setting:
    """Return a setting of one node and jobs of one CPU: of the kinds of arrays that every setting has."""
    from swftools.machines.node_table import PartitionNodes  # noqa: PLC0415

    one = np.ones(1, np.int64)
    table = NodeTable(
        ("n1",), 0 * one, ("n",), one, one, 0 * one, one, (PartitionNodes("p", 0 * one),), slurm=SlurmSite()
    )
    jobs = max(jobs, 1)
    ones, zeros, none = np.ones(jobs, np.int64), np.zeros(jobs, np.int64), np.full(jobs, UNKNOWN, np.int64)
    asked = SlurmJobs(
        *(ones, ones, ones, zeros, ones, zeros, zeros, zeros, zeros, zeros, zeros.astype(np.bool_)),
        *(np.arange(jobs + 1), zeros, none, np.zeros((0, 1), np.bool_), zeros, none, none, zeros.astype(float)),
        *(none, zeros, zeros.astype(np.int16), ("",), np.zeros(0)),
    )
    return Setting(table, asked, np.arange(jobs), np.zeros(jobs), np.ones(jobs))
