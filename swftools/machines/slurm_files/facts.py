# SPDX-License-Identifier: BSD-3-Clause
"""What files say of Slurm's accounts, QOS, usage and switches, and how a description gets it."""

from __future__ import annotations

import math
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.formats.slurm_settings import SWITCHES_LACK
from swftools.machines.left_out import named
from swftools.parameters.strict_yaml import KeyPath

ACCOUNTS, QOS, USAGE, SWITCHES = "accounts", "QOS", "usage", "switches"
"""What a file may tell."""

User = tuple[str, str, str]
"""Account, user, and partition where the user is one of that only; an account itself has an empty user."""


class SlurmFacts:
    """What a file, or several, say."""

    def __init__(self) -> None:
        self.accounts: dict[str, dict[str, Any]] = {}
        self.users: dict[User, dict[str, Any]] = {}
        self.qos: dict[str, dict[str, Any]] = {}
        self.switches: dict[str, dict[str, Any]] = {}
        self.usage: dict[User, float] = {}
        self.defaults: dict[str, str] = {}
        """The account of the jobs of a user that name none."""
        self.by_shares: SlurmFacts | None = None
        """Accounts as they are printed with usage: they count if nothing else tells them."""
        self.notes: list[str] = []
        self._places: dict[tuple[str, Any], str] = {}
        self._not_simulated: dict[str, list[str]] = {}

    @property
    def told(self) -> set[str]:
        """What of all that there may be is told."""
        told = (
            (ACCOUNTS, self.accounts or self.users),
            (QOS, self.qos),
            (USAGE, self.usage),
            (SWITCHES, self.switches),
        )
        return {name for name, entries in told if entries}

    def add_account(self, name: str, entry: dict[str, Any], where: str) -> None:
        """Take an account.

        Raises
        ------
        ParameterError
            It is there already.
        """
        self._once("account", name, name in self.accounts, where)
        self.accounts[name] = {"name": name, **entry}
        self._places["account", name] = where

    def add_user(self, user: User, entry: dict[str, Any], where: str) -> None:
        """Take a user of an account.

        Raises
        ------
        ParameterError
            The user is there already.
        """
        account, name, partition = user
        self._once("user", f"{name} of {account}", user in self.users, where)
        self.users[user] = {"name": name, **({"partition": partition} if partition else {}), **entry}
        self._places["user", user] = where

    def add_qos(self, name: str, entry: dict[str, Any], where: str) -> None:
        """Take a QOS.

        Raises
        ------
        ParameterError
            It is there already.
        """
        self._once("QOS", name, name in self.qos, where)
        self.qos[name] = {"name": name, **entry}
        self._places["qos", name] = where

    def add_switch(self, name: str, entry: dict[str, Any], where: str) -> None:
        """Take a switch.

        Raises
        ------
        ParameterError
            It is there already.
        """
        self._once("switch", name, name in self.switches, where)
        self.switches[name] = {"name": name, **entry}
        self._places["switch", name] = where

    def tell(self, what: str, of: str) -> None:
        """Say what is not simulated, and of whom it is told; of several it is said once."""
        names = self._not_simulated.setdefault(what, [])
        if of not in names:
            names.append(of)

    def _once(self, what: str, name: str, is_there: bool, where: str) -> None:
        if is_there:
            raise ParameterError(f"{where}: {what} {name!r} is there twice; give each once")

    def add(self, other: SlurmFacts, name: str) -> None:
        """Take what another file says besides, whose name is given.

        Raises
        ------
        ParameterError
            Both say the same.
        """
        for what in sorted(self.told & other.told):
            raise ParameterError(f"{name}: {what} are told by another file too; give one of both")
        for mine, others in zip(self._entries(), other._entries(), strict=True):
            mine.update(others)
        self.by_shares = self.by_shares or other.by_shares
        self.notes += other.notes
        for what, names in other._not_simulated.items():
            for each in names:
                self.tell(what, each)

    def _entries(self) -> tuple[dict[Any, Any], ...]:
        return self.accounts, self.users, self.qos, self.switches, self.usage, self.defaults, self._places

    def into(self, slurm: dict[str, Any], threads: int) -> dict[KeyPath, str]:
        """Put all of it into what a description has under ``slurm``, and return where each part was read.

        Parameters
        ----------
        slurm : dict
            Is changed: accounts, QOS and switches take the place of those that it has.
        threads : int
            Threads of a core, which Slurm's CPUs are.
        """
        places: dict[KeyPath, str] = {}
        if self.accounts or self.users:
            slurm["accounts"] = self._accounts(places, threads)
        elif self.by_shares is not None and not slurm.get("accounts"):
            slurm["accounts"] = self.by_shares._accounts(places, threads)
        for key, kind, entries in (("qos", "qos", self.qos), ("switches", "switch", self.switches)):
            if entries:
                slurm[key] = [_in_cores(entry, threads) for entry in entries.values()]
                places |= {("slurm", key, at): self._places[kind, name] for at, name in enumerate(entries)}
        if self.usage:
            self._put_usage(slurm)
        told = [f"{what}: not simulated ({named(names)})" for what, names in self._not_simulated.items()]
        before = [each for each in slurm.get("not_simulated", []) if each != SWITCHES_LACK or not self.switches]
        slurm["not_simulated"] = [*dict.fromkeys([*before, *told])]
        return places

    def _accounts(self, places: dict[KeyPath, str], threads: int) -> list[dict[str, Any]]:
        """Return accounts with their users."""
        users: dict[str, list[User]] = {name: [] for name in self.accounts}
        for key in self.users:
            if key[0] not in users:
                told = f"user {key[1]!r} is of account {key[0]!r}, which is not there; add it"
                raise ParameterError(f"{self._places['user', key]}: {told}")
            users[key[0]].append(key)
        several: dict[str, set[str]] = {}
        for account, user, _ in self.users:
            several.setdefault(user, set()).add(account)
        defaults = {key for key in self.users if len(several[key[1]]) > 1 and self.defaults.get(key[1]) == key[0]}
        found = []
        for at, (name, entry) in enumerate(self.accounts.items()):
            places["slurm", "accounts", at] = self._places["account", name]
            found.append(_in_cores(entry, threads))
            if users[name]:
                found[-1]["users"] = [
                    _in_cores(self.users[key], threads) | ({"default": True} if key in defaults else {})
                    for key in users[name]
                ]
            for place, key in enumerate(users[name]):
                places["slurm", "accounts", at, "users", place] = self._places["user", key]
        return found

    def _put_usage(self, slurm: dict[str, Any]) -> None:
        """Put usage to the accounts and users that have it; of others it is told that there is some."""
        left = dict(self.usage)
        for account in slurm.get("accounts", []):
            for user, partition, entry in (
                ("", "", account),
                *((each["name"], each.get("partition", ""), each) for each in account.get("users", [])),
            ):
                key = (account["name"], user, partition)
                if key in left:
                    entry["usage"] = left.pop(key)
        if left:
            names = named([" of ".join(filter(None, key[1::-1])) for key in left])
            self.notes.append(f"left out: usage of who is in no account of these: {names}")


def _in_cores(entry: dict[str, Any], threads: int) -> dict[str, Any]:
    """Return limits of CPUs, which are threads, as limits of cores."""
    if threads == 1:
        return dict(entry)
    return {
        key: value | {"cpu": float(math.ceil(value["cpu"] / threads))}
        if isinstance(value, dict) and "cpu" in value
        else value
        for key, value in entry.items()
    }
