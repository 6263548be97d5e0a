# SPDX-License-Identifier: BSD-3-Clause
"""A site with Slurm, made of a generated machine: accounts with shares, and users who submit its jobs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from swftools import Trace
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmAssociation, SlurmPartition, SlurmPriority, SlurmQos, SlurmSite

ACCOUNTS, USERS_OF_EACH = 30, 10

SCHEDULER = {"bf_interval": 30.0, "bf_max_job_test": 500.0, "bf_window": 1440.0, "bf_resolution": 60.0}


def site_on(table: NodeTable) -> NodeTable:
    """Return a machine with a site: fair shares, ages and sizes count, and each account has other shares."""
    associations = [SlurmAssociation("root")]
    for account in range(ACCOUNTS):
        parent, name = len(associations), f"a{account}"
        associations.append(SlurmAssociation(name, parent=0, shares=1.0 + account % 7))
        associations += [SlurmAssociation(name, user, parent=parent) for user in _users(account)]
    site = SlurmSite(
        scheduler=SCHEDULER,
        priority=SlurmPriority(age=1_000.0, fair_share=10_000.0, job_size=1_000.0, partition=1_000.0, qos=1_000.0),
        qos=(SlurmQos("normal"), SlurmQos("high", priority=100.0)),
        associations=tuple(associations),
        partitions=tuple(SlurmPartition(part.name, job_factor=1.0 + n % 3) for n, part in enumerate(table.partitions)),
    )
    return replace(table, slurm=site)


def with_users(trace: Trace, seed: int = 1) -> Trace:
    """Return the jobs of a trace with users, some of whom submit many times as many as others; a tenth is urgent."""
    draws, users = np.random.default_rng(seed), ACCOUNTS * USERS_OF_EACH
    weights = 1.0 / np.arange(1, users + 1)
    user = draws.permutation(users)[draws.choice(users, len(trace), p=weights / weights.sum())]
    urgent = draws.random(len(trace)) < 0.1
    qos = pd.array(np.where(urgent, "high", "normal"), "str")
    return trace.with_jobs(trace.jobs.assign(user_id=pd.array(user + 1, "Int64"), qos=qos))


def _users(account: int) -> list[str]:
    """Return the users of an account, by the numbers that they have in traces."""
    return [str(account * USERS_OF_EACH + user + 1) for user in range(USERS_OF_EACH)]
