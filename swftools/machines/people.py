# SPDX-License-Identifier: BSD-3-Clause
"""Users and accounts that a description of a machine names, by the names under which they may be told.

Who publishes what was simulated on a machine publishes the machine, too. A file of Slurm's accounts names all users of
a site, also those who are in no log. So they are called as the log calls them, and where it does not name them, by a
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from swftools.formats.privacy import Privacy
from swftools.machines.slurm_parts import ROOT

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription


class People:
    """What users and accounts of a machine are called where they are told.

    With ``anonymise="no"`` a user keeps a name that the log has, or that is a number; accounts keep theirs. With
    ``"hash"`` users and accounts have the hashes that the log has for users and groups, so jobs are still theirs. With
    ``"numbers"`` nothing says which number of the log is whose, so no job is of anybody on the machine. All others are
    called ``user-1``, ``account-1`` and so on, also accounts of a withheld user's name. ``root`` keeps its name, but
    where it is a user with a hash.

    Parameters
    ----------
    description : MachineDescription
        The machine.
    privacy : Privacy
        What may be told of the log's names.
    known : iterable of str
        The names of users that the log tells.
    called : mapping, optional
        What each ``user`` and each ``group`` is called, in the place of all that: as ``withhold_log`` calls them.
    """

    def __init__(
        self,
        description: MachineDescription,
        privacy: Privacy,
        known: Iterable[str] = (),
        called: Mapping[str, dict[str, str]] | None = None,
    ) -> None:
        self._given, self._privacy, self._known = description, privacy, frozenset(known)
        self._called = called

    @cached_property
    def users(self) -> dict[str, str]:
        """What each user is called."""
        if self._called is not None:
            return self._called["user"]
        names, privacy = users_of(self._given), self._privacy
        if privacy.anonymise == "hash":
            return {name: privacy.name("user", name) for name in names}
        if privacy.anonymise == "numbers":
            return _numbered(names, "user", {ROOT})
        return _numbered(names, "user", {ROOT, *self._known, *(name for name in names if name.isdecimal())})

    @cached_property
    def accounts(self) -> dict[str, str]:
        """What each account, and each group, is called."""
        if self._called is not None:
            return self._called["group"]
        names, privacy = accounts_of(self._given), self._privacy
        if privacy.anonymise == "hash":
            return {name: name if name == ROOT else privacy.name("group", name) for name in names}
        if privacy.anonymise == "numbers":
            return _numbered(names, "account", {ROOT})
        withheld = {name for name, told in self.users.items() if name != told}  # who may have an account of that name
        return _numbered(names, "account", names.keys() - withheld)

    def text(self, text: str) -> str:
        """Return a sentence, or a change of the machine, with these names in it."""
        renamed = {old: new for old, new in (self.accounts | self.users).items() if old != new}
        if not renamed:
            return text
        longest_first = "|".join(re.escape(name) for name in sorted(renamed, key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{longest_first})(?!\w)", lambda found: renamed[found[0]], text)

    def machine(self) -> MachineDescription:
        """Return the machine with these names.

        Names and reasons of outages, and notes of whoever read it, are left out: people write users into them.
        """
        given = self._given
        slurm = given.slurm
        if slurm is not None:
            accounts = tuple(
                replace(
                    each,
                    name=self.accounts[each.name],
                    parent=self.accounts[each.parent],
                    users=tuple(replace(user, name=self.users[user.name]) for user in each.users),
                )
                for each in slurm.accounts
            )
            slurm = replace(slurm, accounts=accounts, not_simulated=tuple(map(self.text, slurm.not_simulated)))
        partitions = tuple(
            replace(each, allow=self._allowed(each.allow), deny=self._allowed(each.deny)) for each in given.partitions
        )
        outages = tuple(replace(self._allowed(each), name=None, reason=None) for each in given.outages)
        return replace(given, slurm=slurm, partitions=partitions, outages=outages, notes=())

    def _allowed(self, entry: Any) -> Any:
        """Return what names users, accounts or groups, with these names."""
        called = {"users": self.users, "accounts": self.accounts, "groups": self.accounts}
        given = {key: getattr(entry, key) for key in called if getattr(entry, key, ())}
        if not given:
            return entry
        return replace(entry, **{key: tuple(called[key][name] for name in names) for key, names in given.items()})


def names_people(description: MachineDescription) -> bool:
    """Return whether a machine names users or accounts, or has texts that may."""
    if any(each.name or each.reason for each in description.outages):
        return True
    return bool(users_of(description) or accounts_of(description).keys() - {ROOT})


def users_of(description: MachineDescription) -> dict[str, None]:
    """Return the users that a machine names, each once."""
    accounts = description.slurm.accounts if description.slurm else ()
    found = [user.name for account in accounts for user in account.users]
    return dict.fromkeys([*found, *_in_lists(description, "users")])


def accounts_of(description: MachineDescription) -> dict[str, None]:
    """Return the accounts and groups that a machine names, each once."""
    accounts = description.slurm.accounts if description.slurm else ()
    found = [name for account in accounts for name in (account.name, account.parent)]
    return dict.fromkeys([*found, *_in_lists(description, "accounts"), *_in_lists(description, "groups")])


def _in_lists(description: MachineDescription, key: str) -> list[str]:
    """Return whom partitions allow and deny, and for whom nodes are reserved."""
    entries = [entry for part in description.partitions for entry in (part.allow, part.deny)]
    return [name for entry in (*entries, *description.outages) for name in getattr(entry, key, ())]


def _numbered(names: Iterable[str], word: str, kept: Iterable[str]) -> dict[str, str]:
    """Return names of which some stay, and the others become the word with a number behind it."""
    kept, found, number = {*kept}, {}, 0
    for name in names:
        if name in kept:
            found[name] = name
            continue
        number += 1
        while f"{word}-{number}" in kept:
            number += 1
        found[name] = f"{word}-{number}"
    return found
