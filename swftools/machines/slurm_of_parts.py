# SPDX-License-Identifier: BSD-3-Clause
"""``SlurmSite`` from what a description says, and what is wrong between the parts of it.

How limits and QOS pass from accounts to those below follows slurm.conf(5) and sacctmgr(1): limits that begin with Max,
the QOS that may be used and the default one are those of the account above where nothing is said; Grp limits are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from swftools.machines.parts import Partition
from swftools.machines.slurm_parts import ROOT, Account, Association, Limits, Qos, Slurm, User
from swftools.machines.slurm_site import (
    DECIDE_NOTHING,
    DEFAULTS,
    OF_LONG_CYCLES,
    PRIORITY_FLAGS,
    QOS_FLAGS,
    SELECT,
    SlurmAssociation,
    SlurmLimits,
    SlurmPartition,
    SlurmPriority,
    SlurmQos,
    SlurmSite,
)
from swftools.machines.slurm_switches import switch_problems, switches_of
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import KeyPath

Problem = tuple[KeyPath, str]

_FAIR_TREE_SINCE = (19, 5)
_INHERITED = ("max_jobs", "max_wall", "max_tres", "max_tres_per_node", "max_tres_mins")
_IMPLIED = {
    "all": ("associations", "limits", "qos", "safe"),
    "limits": ("associations",),
    "qos": ("associations",),
    "safe": ("associations", "limits"),
    "1": ("associations",),
}
"""What a word of AccountingStorageEnforce says too."""


def slurm_problems(slurm: Slurm, partitions: Sequence[Partition], nodes: Mapping[str, Iterable[int]]) -> list[Problem]:
    """Return what is wrong between the parts of how Slurm is configured: of each its place, and what.

    Parameters
    ----------
    slurm : Slurm
        As the description says it.
    partitions : sequence of Partition
        Of the machine.
    nodes : mapping of str to iterable of int
        Numbers of the nodes by name of a node or of a kind.
    """
    found = [*_of_qos(slurm, partitions), *_of_accounts(slurm, {part.name for part in partitions})]
    found += switch_problems(slurm.switches, nodes)
    return [(where if where[0] == "partitions" else ("slurm", *where), what) for where, what in found]


def _of_qos(slurm: Slurm, partitions: Sequence[Partition]) -> Iterator[Problem]:
    """Yield QOS of one name, and those that are named and are not there."""
    known: list[str] = []
    for place, qos in enumerate(slurm.qos):
        if qos.name in known:
            yield ("qos", place, "name"), f"QOS {qos.name!r} is there twice; give each once"
        known.append(qos.name)
    if not known:  # then none is described, and what they are called is all that is known
        return

    def lost(names: Iterable[str | None], where: KeyPath) -> Iterator[Problem]:
        for name in names:
            if name and name not in known:
                near = did_you_mean([name], known) or f"; there are: {', '.join(known)[:200]}"
                yield where, f"no QOS is called {name!r}{near}"

    for place, qos in enumerate(slurm.qos):
        yield from lost(qos.preempt, ("qos", place, "preempt"))
    for place, account in enumerate(slurm.accounts):
        for where, each in (
            (("accounts", place), account),
            *((("accounts", place, "users", at), user) for at, user in enumerate(account.users)),
        ):
            yield from lost(each.qos or (), (*where, "qos"))
            yield from lost([each.default_qos], (*where, "default_qos"))
    for place, part in enumerate(partitions):
        yield from lost([part.qos], ("partitions", place, "qos"))
        for key in ("allow", "deny"):
            entry = getattr(part, key)
            yield from lost(entry.qos if entry else (), ("partitions", place, key))


def _of_accounts(slurm: Slurm, partitions: set[str]) -> Iterator[Problem]:
    """Yield accounts and users that are there twice, parents that are not there, and accounts that go in a circle."""
    parents: dict[str, str] = {}
    for place, account in enumerate(slurm.accounts):
        if account.name in parents:
            yield ("accounts", place, "name"), f"account {account.name!r} is there twice; give each once"
            continue
        parents[account.name] = "" if account.name == ROOT else account.parent
        seen: set[tuple[str, str | None]] = set()
        for at, user in enumerate(account.users):
            where = ("accounts", place, "users", at)
            if (user.name, user.partition) in seen:
                of = f" in partition {user.partition}" if user.partition else ""
                yield (*where, "name"), f"user {user.name!r} is there twice in {account.name}{of}; give each once"
            seen.add((user.name, user.partition))
            if user.partition and partitions and user.partition not in partitions:
                near = did_you_mean([user.partition], [*partitions])
                yield (*where, "partition"), f"no partition is called {user.partition!r}{near}"
    known = {ROOT, *parents}
    for place, account in enumerate(slurm.accounts):
        if account.name != ROOT and account.parent not in known:
            near = did_you_mean([account.parent], known)
            yield ("accounts", place, "parent"), f"no account is called {account.parent!r}{near or '; add it'}"
    for place, account in enumerate(slurm.accounts):
        if circle := _circle(account.name, parents):
            told = " > ".join([*circle, circle[0]])
            yield ("accounts", place, "parent"), f"accounts go in a circle: {told}; say which of them is below {ROOT}"
            return


def _circle(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return the accounts above one, itself first, until one is there twice; none if they end at the root."""
    way: list[str] = []
    while name and name not in way:
        way.append(name)
        name = parents.get(name, "")
    return way[way.index(name) :] if name else []


def slurm_site(slurm: Slurm, partitions: Sequence[Partition], nodes: Mapping[str, Iterable[int]]) -> SlurmSite:
    """Return how Slurm is configured, as a policy takes it.

    Parameters
    ----------
    slurm : Slurm
        As the description says it, which has no problems.
    partitions : sequence of Partition
        Of the machine; none: the one that has all nodes.
    nodes : mapping of str to iterable of int
        Numbers of the nodes by name of a node or of a kind.
    """
    associations = _associations(slurm)
    return SlurmSite(
        version=_version(slurm),
        has_backfill=slurm.scheduler_type == "backfill",
        scheduler={name: float(each) for name, each in slurm.scheduler.items() if name in DEFAULTS},
        select=frozenset(slurm.select),
        preempt_type=slurm.preempt_type,
        preempt_mode=slurm.preempt_mode,
        enforce=frozenset(word for each in slurm.enforce for word in (each, *_IMPLIED.get(each, ()))),
        priority=_priority(slurm),
        qos=tuple(_qos(each, slurm.preempt_exempt_time) for each in slurm.qos),
        associations=associations,
        partitions=tuple(map(_partition, partitions)) or (SlurmPartition("all"),),
        switches=switches_of(slurm.switches, nodes),
        default_memory_per_cpu=slurm.default_memory_per_cpu,
        default_memory_per_node=slurm.default_memory_per_node,
        requeue_delay=slurm.requeue_delay,
        kill_wait=slurm.kill_wait,
        over_time_limit=slurm.over_time_limit,
        has_usage=has_usage(slurm),
        not_simulated=not_simulated_of(slurm),
        preempt_exempt_time=slurm.preempt_exempt_time,
    )


def has_usage(slurm: Slurm) -> bool:
    """Return whether it is told what was used before the log begins."""
    return any(each.usage is not None for account in slurm.accounts for each in (account, *account.users))


def not_simulated_of(slurm: Slurm) -> tuple[str, ...]:
    """Return what of the configuration is not simulated, or lacks, a sentence each."""
    found = [*slurm.not_simulated, *_lacking(slurm)]
    parameters = [name if each in (1.0, "") else f"{name}={each}" for name, each in _unknown(slurm.scheduler)]
    for what, names in (
        ("SchedulerParameters", parameters),
        ("SelectTypeParameters", [each for each in slurm.select if each not in SELECT]),
        ("PriorityFlags", [each for each in slurm.priority.flags if each not in PRIORITY_FLAGS]),
        ("flags of QOS", dict.fromkeys(flag for qos in slurm.qos for flag in qos.flags if flag not in QOS_FLAGS)),
    ):
        if names:
            found.append(f"{what}: not simulated ({', '.join(names)})")
    yields = [f"{name}={slurm.scheduler[name]:.0f}" for name in OF_LONG_CYCLES[1:] if name in slurm.scheduler]
    if yields:
        found.append(f"SchedulerParameters: of no effect without test_time of policy slurm ({', '.join(yields)})")
    if slurm.preempt_type == "qos" and "suspend" in (slurm.preempt_mode, *(qos.preempt_mode for qos in slurm.qos)):
        found.append("PreemptMode suspend: jobs of one partition take no turns, the preempted one stands (gang)")
    return tuple(found)


def _lacking(slurm: Slurm) -> Iterator[str]:
    """Yield what has weight and is not told, so that it is alike for all jobs."""
    if slurm.priority.type != "multifactor":
        return
    if slurm.priority.fair_share and not slurm.accounts:
        yield "fair share is alike for all, as no accounts are told: sacctmgr dump tells them (--accounts)"
    elif slurm.priority.fair_share and not has_usage(slurm):
        yield "fair share begins as if nobody had run anything, as no usage is told: sshare -a -l -P tells it (--usage)"
    if slurm.priority.qos and not slurm.qos:
        yield "QOS are alike for all, as none are told: sacctmgr -P list qos tells them (--qos)"


def _unknown(parameters: Mapping[str, float | str]) -> list[tuple[str, str | float]]:
    return [
        (name, f"{each:g}" if isinstance(each, float) and each != 1 else each)
        for name, each in parameters.items()
        if name not in DEFAULTS and name not in DECIDE_NOTHING
    ]


def is_fair_tree(slurm: Slurm) -> bool:
    """Return whether fair share is that of Fair Tree, which is usual since 19.05; else the classic formula counts."""
    flags = slurm.priority.flags
    return "no_fair_tree" not in flags if _version(slurm) >= _FAIR_TREE_SINCE else "fair_tree" in flags


def _version(slurm: Slurm) -> tuple[int, int]:
    first, _, second = slurm.version.partition(".")
    return int(first), int(second)


def _priority(slurm: Slurm) -> SlurmPriority:
    given = slurm.priority
    flags = frozenset(given.flags)
    kept = {each.name: getattr(given, each.name) for each in fields(SlurmPriority) if hasattr(given, each.name)}
    return SlurmPriority(
        **(kept | {"flags": flags}), is_multifactor=given.type == "multifactor", is_fair_tree=is_fair_tree(slurm)
    )


def _limits(given: Limits) -> SlurmLimits:
    return SlurmLimits(
        **{each.name: getattr(given, each.name) for each in fields(SlurmLimits) if hasattr(given, each.name)}
    )


def _qos(given: Qos, exempt: float) -> SlurmQos:
    return SlurmQos(
        name=given.name,
        priority=given.priority,
        usage_factor=given.usage_factor,
        preempt=given.preempt,
        preempt_mode=given.preempt_mode,
        grace_time=given.grace_time,
        preempt_exempt_time=exempt if given.preempt_exempt_time is None else given.preempt_exempt_time,
        flags=frozenset(given.flags),
        limits=_limits(given),
    )


def _partition(part: Partition) -> SlurmPartition:
    named: dict[str, Any] = {
        f"{verb}_{key}": getattr(entry, key)
        for verb, entry in (("allow", part.allow), ("deny", part.deny))
        for key in ("accounts", "qos")
        if entry is not None
    }
    return SlurmPartition(
        name=part.name,
        job_factor=part.job_factor,
        qos=part.qos or "",
        preempt_mode=part.preempt_mode,
        billing_weights=part.billing_weights,
        grace_time=part.grace_time,
        default_time=part.default_time,
        default_memory_per_node=float(part.default_memory_per_node),
        max_memory_per_node=float(part.max_memory_per_node),
        **named,
    )


def _associations(slurm: Slurm) -> tuple[SlurmAssociation, ...]:
    """Return accounts and users, parents first; each account's users stand before the accounts below it."""
    if not slurm.accounts:
        return ()
    by_name = {account.name: account for account in slurm.accounts}
    below: dict[str, list[Account]] = {}
    for account in slurm.accounts:
        if account.name != ROOT:
            below.setdefault(account.parent, []).append(account)
    accounts_of: dict[str, set[str]] = {}
    for account in slurm.accounts:
        for user in account.users:
            accounts_of.setdefault(user.name, set()).add(account.name)
    found: list[SlurmAssociation] = []
    waiting = [(by_name.get(ROOT, Account(name=ROOT)), -1)]
    while waiting:
        account, parent = waiting.pop()
        here = len(found)
        above = found[parent] if parent >= 0 else None
        found.append(_association(account, account.name, above, parent))
        for user in account.users:
            each = _association(user, account.name, found[here], here)
            found.append(replace(each, is_default=user.default or len(accounts_of[user.name]) == 1))
        waiting += [(each, here) for each in reversed(below.get(account.name, []))]
    return _with_sums(found, by_name) if has_usage(slurm) else tuple(found)


def _association(given: Association, account: str, above: SlurmAssociation | None, parent: int) -> SlurmAssociation:
    """Return an account or a user, with what it has from above."""
    limits = _limits(given)
    if above is not None:
        upper = above.limits
        limits = replace(limits, **{name: _else(getattr(limits, name), getattr(upper, name)) for name in _INHERITED})
    user = given if isinstance(given, User) else None
    return SlurmAssociation(
        account=account,
        user=user.name if user else "",
        partition=(user.partition or "") if user else "",
        parent=parent,
        shares=None if isinstance(given.shares, str) else given.shares,
        qos=given.qos if given.qos is not None else above.qos if above else (),
        default_qos=given.default_qos or (above.default_qos if above else ""),
        priority=given.priority,
        usage=given.usage or 0.0,
        limits=limits,
    )


def _else(own: Any, other: Any) -> Any:
    """Return a limit, or that of the account above; of amounts by resource each by itself."""
    return {**other, **own} if isinstance(own, dict) else other if own is None else own


def _with_sums(found: Sequence[SlurmAssociation], accounts: Mapping[str, Account]) -> tuple[SlurmAssociation, ...]:
    """Return associations in which accounts whose usage is not told have the sum of what is below them."""
    usage = [each.usage for each in found]
    for place in range(len(found) - 1, 0, -1):  # who is below stands behind
        above = found[found[place].parent]
        account = accounts.get(above.account)
        if account is None or account.usage is None:
            usage[found[place].parent] += usage[place]
    return tuple(replace(each, usage=amount) for each, amount in zip(found, usage, strict=True))
