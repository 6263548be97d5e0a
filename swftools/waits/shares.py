# SPDX-License-Identifier: BSD-3-Clause
"""What accounts got of a machine beside the shares that were set for them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.machines.slurm_site import SlurmAssociation
from swftools.simulator.schedule import Schedule
from swftools.waits.groups import groups_of

COLUMNS = ("account", "share", "served", "ratio", "median", "p90")


def shares_served(schedule: Schedule) -> pd.DataFrame:
    """Return what each account got beside its share.

    Parameters
    ----------
    schedule : Schedule
        On a machine whose ``slurm`` has accounts with shares.

    Returns
    -------
    pandas.DataFrame
        A row for each account without accounts below it, in the order of the site: ``account``, ``share`` of the
        machine that its shares and those above it give it, ``served`` (its share of all processor time), ``ratio``
        (served / share), ``median`` and ``p90`` of its waits, s (missing where it ran nothing). No rows where the
        machine has no accounts, or the log does not tell any.
    """
    site = schedule.machine.slurm if schedule.machine is not None else None
    groups = groups_of(schedule, "account")
    if site is None or groups is None or not any(not each.user for each in site.associations):
        return pd.DataFrame(columns=list(COLUMNS))
    share = _set_shares(site.associations)
    width = schedule.jobs["allocated_processors"].to_numpy(np.float64, na_value=0.0)
    time = width * schedule.jobs["run_time"].to_numpy(np.float64, na_value=0.0)
    of_group = np.bincount(groups.of_job, time, len(groups.words))
    wait = schedule.jobs["wait_time"].to_numpy(np.float64, na_value=np.nan)
    rows = []
    for account, part in share.items():
        place = groups.words.index(account) if account in groups.words else -1
        own = wait[groups.of_job == place]
        served = float(of_group[place] / time.sum()) if place >= 0 and time.sum() > 0 else 0.0
        median, p90 = np.percentile(own, [50, 90]) if len(own) else (np.nan, np.nan)
        rows.append((account, part, served, served / part if part > 0 else np.nan, float(median), float(p90)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _set_shares(associations: tuple[SlurmAssociation, ...]) -> dict[str, float]:
    """Return the share of the whole of each account that has none below it; one that shares as its parent has that."""
    accounts = [place for place, each in enumerate(associations) if not each.user]
    below = {place: [other for other in accounts if associations[other].parent == place] for place in accounts}
    share: dict[int, float] = {}
    for place in accounts:
        above = associations[place].parent
        if above < 0:
            share[place] = 1.0
            continue
        level = [associations[other].shares or 0.0 for other in below[above]]
        own = associations[place].shares
        share[place] = share[above] * (own / sum(level) if own is not None and sum(level) > 0 else 1.0)
    return {associations[place].account: share[place] for place in accounts if not below[place]}
