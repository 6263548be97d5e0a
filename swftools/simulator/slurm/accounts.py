# SPDX-License-Identifier: BSD-3-Clause
"""For whom jobs run: their users, accounts and QOS in a trace, as places in a ``SlurmSite``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import IntArray
from swftools.machines.slurm_site import SlurmSite
from swftools.machines.told import Told
from swftools.simulator.slurm.submit_lines import Lines
from swftools.trace import Trace

NO_ACCOUNT = "the default account of the user at the site, as the log names none"
NO_ASSOCIATION = "no account, as the site has none of that name for that user"
UNKNOWN_QOS = "no QOS, as the site has none of the name that the log tells"

Texts = tuple[IntArray, list[str]]
"""The place of each row's text in a list, -1 for none, and that list."""


class Accounts(NamedTuple):
    """For whom each job runs: user as a number from 0 on, places in the site, -1 for none; and names of accounts."""

    user: IntArray
    association: IntArray
    qos: IntArray
    account: Texts


def accounts_of(trace: Trace, site: SlurmSite, told: Told, lines: Lines, partition: Texts) -> Accounts:
    """Return for whom the jobs of a trace run.

    Parameters
    ----------
    trace : Trace
        Users and groups by number, with their names; ``account`` counts before the group, ``qos`` before the line.
    site : SlurmSite
        Without associations no job has one.
    told : Told
        Takes what is assumed.
    lines : Lines
        The lines that submitted the jobs.
    partition : tuple
        The name of the first partition of each job.
    """
    user, account = _names(trace, "user"), _accounts(trace, lines)
    numbers = np.unique(trace.views.user_id, return_inverse=True)[1].astype(np.int64)
    association, account = _associations(site, told, user, account, partition)
    qos = _qos(trace, site, told, lines, association)
    return Accounts(numbers, association, qos, account)


def first_of(one: Texts, other: Texts) -> Texts:
    """Return texts, and others where these are missing."""
    (places, texts), (others, more) = one, other
    return np.where(places >= 0, places, np.where(others >= 0, others + len(texts), -1)), [*texts, *more]


def texts_of(jobs: pd.DataFrame, name: str) -> Texts:
    """Return a column of texts, which may be absent."""
    if name not in jobs or not len(jobs):
        return np.full(len(jobs), -1, np.int64), []
    places, texts = pd.factorize(jobs[name])
    return places.astype(np.int64), [str(text) for text in texts]


def _names(trace: Trace, kind: str) -> Texts:
    """Return the names of users or groups; a number without a name is its own."""
    numbers, places = np.unique(getattr(trace.views, f"{kind}_id"), return_inverse=True)
    known = trace.known_names.get(kind, {})
    texts = [known.get(number, str(number)) for number in numbers.tolist()]
    return np.where(numbers[places] >= 0, places, -1), texts


def _accounts(trace: Trace, lines: Lines) -> Texts:
    """Return the accounts: of their column, else of the line, else the groups."""
    return first_of(first_of(texts_of(trace.jobs, "account"), lines.texts("account")), _names(trace, "group"))


def _associations(site: SlurmSite, told: Told, user: Texts, account: Texts, partition: Texts) -> tuple[IntArray, Texts]:
    """Return the association of each job, -1 for none, and the accounts with those that are assumed."""
    if not any(each.user for each in site.associations):
        return np.full(len(user[0]), -1, np.int64), account
    accounts_of_user: dict[str, str] = {}
    place: dict[tuple[str, str, str], int] = {}
    for number, each in enumerate(site.associations):
        if each.user:
            if each.is_default or each.user not in accounts_of_user:  # the first, where none is the default
                accounts_of_user[each.user] = each.account
            place[each.user, each.account, each.partition] = number
    names = [*account[1], *sorted(set(accounts_of_user.values()))]
    assumed = {name: len(account[1]) + number for number, name in enumerate(names[len(account[1]) :])}
    keys, of_row = np.unique(np.stack([user[0], account[0], partition[0]]), axis=1, return_inverse=True)
    found, account_of = [], []
    for its_user, its_account, its_partition in keys.T.tolist():
        name = user[1][its_user] if its_user >= 0 else ""
        chosen = its_account if its_account >= 0 else assumed.get(accounts_of_user.get(name, ""), -1)
        of = names[chosen] if chosen >= 0 else ""
        where = partition[1][its_partition] if its_partition >= 0 else ""
        found.append(place.get((name, of, where), place.get((name, of, ""), -1)))
        account_of.append(chosen)
    association, chosen_of = np.array(found, np.int64)[of_row], np.array(account_of, np.int64)[of_row]
    told.assume(NO_ACCOUNT, (account[0] < 0) & (chosen_of >= 0))
    told.assume(NO_ASSOCIATION, association < 0)
    return association, (chosen_of, names)


def _qos(trace: Trace, site: SlurmSite, told: Told, lines: Lines, association: IntArray) -> IntArray:
    """Return the QOS of each job: the one that is told, else that of its association, else ``normal``."""
    numbers = {each.name: number for number, each in enumerate(site.qos)}
    places, texts = first_of(texts_of(trace.jobs, "qos"), lines.texts("qos"))
    named = np.array([*(numbers.get(text, -1) for text in texts), -1], np.int64)[places]
    told.assume(UNKNOWN_QOS, (places >= 0) & (named < 0) & bool(numbers))
    normal = numbers.get("normal", -1)
    default = np.array([*(_default_qos(site, place, numbers) for place in range(len(site.associations))), -1], np.int64)
    default = np.where(default < 0, normal, default)
    return np.where(places >= 0, named, default[association])


def _default_qos(site: SlurmSite, place: int, numbers: dict[str, int]) -> int:
    """Return the QOS of jobs that name none, of an association or the nearest above it that says it; -1 for none."""
    while place >= 0:
        each = site.associations[place]
        if each.default_qos:
            return numbers.get(each.default_qos, -1)
        place = each.parent
    return -1
