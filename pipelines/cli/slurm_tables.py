# SPDX-License-Identifier: BSD-3-Clause
"""How Slurm is configured on a machine, in tables for people: scheduler, priorities, partitions, QOS, accounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.text_tables import INDENT, text_table
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    from swftools.machines.parts import Partition
    from swftools.machines.slurm_parts import Account, Slurm

_MOST_ACCOUNTS = 40
"""That are shown; of more it is told how many they are."""

_WEIGHTS = ("age", "association", "fair_share", "job_size", "partition", "qos")


def slurm_lines(slurm: Slurm, partitions: Sequence[Partition]) -> list[str]:
    """Return what is printed of how Slurm is configured."""
    tables = (
        text_table(_priorities(slurm), "<><"),
        text_table(_partitions(partitions), "<><<<"),
        text_table(_qos(slurm), "<><<"),
        text_table([*_accounts(slurm)], "<>>>><"),
    )
    lines = ["", *_wrapped(_scheduler(slurm))]
    for table in tables:
        lines += ["", *table] if len(table) > 1 else []
    return lines


def _wrapped(text: str) -> list[str]:
    return click.wrap_text(shown(text), WIDTH, "", INDENT).split("\n")


def _scheduler(slurm: Slurm) -> str:
    """Return in a sentence which Slurm it is, and how it schedules."""
    from swftools.machines.slurm_site import DEFAULTS

    # Those that are not simulated are told by their names below.
    given = [f"{name}={each:g}" for name, each in slurm.scheduler.items() if name in DEFAULTS]
    preempts = f", preemption by {slurm.preempt_type} ({slurm.preempt_mode})" if slurm.preempt_type != "none" else ""
    enforced = f", enforced: {', '.join(slurm.enforce)}" if slurm.enforce else ""
    told = f"; {len(slurm.switches):,} switches" if slurm.switches else ""
    return f"Slurm {slurm.version}, {slurm.scheduler_type}{preempts}{enforced}{told}. {', '.join(given)}"


def _priorities(slurm: Slurm) -> list[tuple[str, ...]]:
    from swftools.machines.slurm_of_parts import is_fair_tree
    from swftools.parameters.durations import in_words

    priority = slurm.priority
    if priority.type == "basic":
        return [("priority", "", ""), ("basic", "", "in order of submission")]
    formula = "Fair Tree" if is_fair_tree(slurm) else "classic"
    decay = f"usage halves in {in_words(priority.half_life)}" if priority.half_life else "usage does not decay"
    told = {
        "age": f"is 1 after {in_words(priority.max_age)}",
        "fair_share": f"{formula}, {decay}",
        "job_size": "small jobs first" if priority.favors_small else "",
    }
    weights = [(name, getattr(priority, name)) for name in _WEIGHTS] + [*priority.tres.items()]
    return [
        ("priority", "weight", f"every {in_words(priority.calc_period)}"),
        *((name, _number(each), told.get(name, "")) for name, each in weights if each),
    ]


def _partitions(partitions: Sequence[Partition]) -> list[tuple[str, ...]]:
    rows = [
        (
            part.name,
            _number(part.job_factor),
            part.qos or "-",
            part.preempt_mode if part.preempt_mode != "cluster" else "-",
            _amounts(part.billing_weights),
        )
        for part in partitions
    ]
    is_plain = all(row[1:] == ("1", "-", "-", "") for row in rows)
    return [("partition", "factor", "QOS", "preempted", "billing"), *([] if is_plain else rows)]


def _qos(slurm: Slurm) -> list[tuple[str, ...]]:
    rows = [(each.name, _number(each.priority), ",".join(each.preempt) or "-", _limits(each)) for each in slurm.qos]
    return [("QOS", "priority", "preempts", "limits"), *rows]


def _accounts(slurm: Slurm) -> Iterator[tuple[str, ...]]:
    """Yield accounts as a tree: shares, and which part of all these are."""
    from swftools.machines.slurm_parts import ROOT, Account

    yield ("account", "shares", "of all", "users", "usage", "limits")
    if not slurm.accounts:
        return
    by_name = {ROOT: Account(name=ROOT)} | {account.name: account for account in slurm.accounts}
    below: dict[str, list[Account]] = {}
    for account in slurm.accounts:
        if account.name != ROOT:
            below.setdefault(account.parent, []).append(account)
    waiting: list[tuple[Account, int, float | None]] = [(by_name[ROOT], 0, 1.0)]
    done = 0
    while waiting and done < _MOST_ACCOUNTS:
        account, depth, part = waiting.pop()
        done += 1
        yield (
            f"{INDENT * depth}{account.name}",
            _number(account.shares),
            "-" if part is None else f"{100 * part:.1f} %",
            f"{len(account.users):,}" if account.users else "-",
            "-" if account.usage is None else _number(account.usage),
            _limits(account),
        )
        inner = below.get(account.name, [])
        whole = sum(each.shares for each in (*inner, *account.users) if not isinstance(each.shares, str))
        for each in reversed(inner):
            is_told = part is not None and not isinstance(each.shares, str) and whole > 0
            waiting.append(
                (each, depth + 1, part * float(each.shares) / whole if is_told and part is not None else None)
            )
    if left := len(by_name) - done:
        yield (f"and {left:,} more", "", "", "", "", "")


def _limits(part: Any) -> str:
    """Return the limits of an account or a QOS in words."""
    from swftools.machines.slurm_parts import Limits, Qos

    of_qos = ("max_jobs_pu", "max_jobs_pa", "max_tres_pu", "max_tres_pa", "min_tres")
    names = [*(each.name for each in fields(Limits)), *(of_qos if isinstance(part, Qos) else ())]
    told = [(name, getattr(part, name)) for name in names]
    return "; ".join(
        f"{name} {_amounts(each) if isinstance(each, dict) else _number(each)}"
        for name, each in told
        if each is not None and each != {}
    )


def _amounts(values: dict[str, float]) -> str:
    return ",".join(f"{name}={_number(each)}" for name, each in values.items())


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
