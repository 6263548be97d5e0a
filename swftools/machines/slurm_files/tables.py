# SPDX-License-Identifier: BSD-3-Clause
"""What ``sacctmgr -P list assoc``, ``sacctmgr -P list qos`` and ``sshare -a -l -P`` print: one table, or some of them.

Columns are found by their names, so that a site may print others (``format=``). The order of accounts is a tree where
names are indented (``tree``, and always in sshare), or where there is a column of their parents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.slurm_settings import number_of
from swftools.machines.slurm_files.facts import SlurmFacts
from swftools.machines.slurm_files.limits import association_of, qos_of, shares_of
from swftools.machines.slurm_files.registry import slurm_file
from swftools.machines.slurm_parts import ROOT

_ALIGNED = re.compile(r"^ *(?:Cluster +Account|Name +Priority|Account +User) ", re.MULTILINE)
_PARENTS_LACK = (
    "accounts are taken for those right below root, as their order is not told: sacctmgr -P list assoc tree tells it"
)

Row = tuple[int, dict[str, str]]


def _recognise(text: str) -> Fit:
    if any(_kind(_columns(line)) for line in text.splitlines()):
        return Fit(fits=True, why="a line names the columns of accounts, QOS or usage")
    if _ALIGNED.search(text):
        return Fit(fits=False, why="it is printed in columns that cut words off; print it with -P")
    return Fit(fits=False, why="no line has names such as Account|User|Share, Name|Priority or RawShares|RawUsage")


@slurm_file("tables", "what sacctmgr -P list assoc or qos, or sshare -a -l -P prints", _recognise)
def read_tables(text: str, name: str) -> SlurmFacts:
    """Return what tables of accounts, QOS and usage say.

    Raises
    ------
    ParameterError
        A row has not the columns of its table, a value is not as Slurm has it, or something is there twice.
    """
    facts = SlurmFacts()
    for kind, rows in _tables(text, name):
        _READERS[kind](rows, name, facts)
    return facts


def _columns(line: str) -> list[str]:
    """Return names of columns, in small letters and without blanks."""
    return ["".join(each.lower().split()) for each in line.split("|")]


def _kind(columns: list[str]) -> str:
    """Return which table has these columns; nothing if none."""
    names = {*columns}
    if {"account", "rawusage"} <= names:
        return "usage"
    if {"account", "user"} <= names and names & {"share", "shares", "fairshare", "qos", "defqos", "maxjobs", "grptres"}:
        return "accounts"
    return "qos" if "name" in names and names & {"usagefactor", "preempt", "gracetime", "maxtrespu"} else ""


def _tables(text: str, name: str) -> Iterator[tuple[str, list[Row]]]:
    """Yield each table: what it is of, and its rows by column, with their lines."""
    kind, columns = "", [""]
    rows: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if found := _kind(named := _columns(line)):
            if rows:
                yield kind, rows
            kind, columns, rows = found, named, []
            continue
        where = f"{name}, line {number}"
        if not kind:
            raise ParameterError(f"{where}: {line[:40]!r} stands before any names of columns; print them (without -n)")
        cells = line.split("|")
        if len(cells) != len(columns):
            raise ParameterError(f"{where}: has {len(cells)} columns, not {len(columns)} as the names above it")
        rows.append((number, dict(zip(columns, cells, strict=True))))
    if rows:
        yield kind, rows


def _of_one_cluster(rows: list[Row], name: str) -> None:
    """Raise ParameterError if rows are of several clusters."""
    clusters = dict.fromkeys(cluster for _, row in rows if (cluster := row.get("cluster", "").strip()))
    if len(clusters) > 1:
        told = ", ".join(clusters)[:200]
        raise ParameterError(f"{name}: has accounts of clusters {told}; print those of one, by cluster=NAME")


def _parent(row: dict[str, str], above: list[str]) -> str:
    """Return the account above that of a row, and keep the accounts above what comes; nothing if it is not told."""
    text = row["account"]
    depth = len(text) - len(text.lstrip())
    del above[depth:]
    indented = above[-1] if above and depth else ""
    above.append(text.strip())
    return row.get("parname", row.get("parentname", "")).strip() or indented


def _read_accounts(rows: list[Row], name: str, facts: SlurmFacts) -> None:
    _of_one_cluster(rows, name)
    above: list[str] = []
    is_told = False
    for number, row in rows:
        where = f"{name}, line {number}"
        account, user = row["account"].strip(), row["user"].strip()
        words = {key: value.strip() for key, value in row.items()}
        if not account:
            raise ParameterError(f"{where}: has no account; is the line whole?")
        if user:
            entry = association_of(words, where, facts, f"{user} of {account}")
            facts.add_user((account, user, words.get("partition", "")), entry, where)
            continue
        parent = _parent(row, above)
        is_told |= bool(parent) and account != ROOT
        entry = association_of(words, where, facts, account)
        facts.add_account(account, entry | ({"parent": parent} if parent else {}), where)
    if not is_told and len(facts.accounts) > 2:
        facts.notes.append(_PARENTS_LACK)


def _read_qos(rows: list[Row], name: str, facts: SlurmFacts) -> None:
    for number, row in rows:
        where = f"{name}, line {number}"
        words = {key: value.strip() for key, value in row.items()}
        if not words["name"]:
            raise ParameterError(f"{where}: has no name; is the line whole?")
        facts.add_qos(words["name"], qos_of(words, where, facts), where)


def _read_usage(rows: list[Row], name: str, facts: SlurmFacts) -> None:
    """Take usage, and accounts as they are printed with it, which count where nothing else tells them."""
    _of_one_cluster(rows, name)
    shown = facts.by_shares = SlurmFacts()
    above: list[str] = []
    for number, row in rows:
        where = f"{name}, line {number}"
        account, user = row["account"].strip(), row.get("user", "").strip()
        partition = row.get("partition", "").strip()
        if not account:
            raise ParameterError(f"{where}: has no account; is the line whole?")
        shares = row.get("rawshares", "").strip()
        entry = {"shares": shares_of(shares, where)} if shares else {}
        if user:
            shown.add_user((account, user, partition), entry, where)
        else:
            parent = _parent(row, above)
            shown.add_account(account, entry | ({"parent": parent} if parent else {}), where)
        if text := row["rawusage"].strip():
            facts.usage[account, user, partition] = max(number_of(text, where, "RawUsage"), 0.0)
    if not any(user for _, user, _ in facts.usage):
        facts.notes.append("usage of users is not told: sshare -a -l -P tells it")


_READERS: dict[str, Callable[[list[Row], str, SlurmFacts], None]] = {
    "accounts": _read_accounts,
    "qos": _read_qos,
    "usage": _read_usage,
}
