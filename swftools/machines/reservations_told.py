# SPDX-License-Identifier: BSD-3-Clause
"""Reservations of nodes as Slurm's commands print them: ``scontrol show reservation``, ``sacctmgr list reservation``.

What the words mean follows scontrol(1) and sacctmgr(1). Times are local to where the command ran.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from swftools.errors import ParameterError
from swftools.machines.events.times import read_stretches
from swftools.machines.formats.recognise import text_of
from swftools.machines.formats.scontrol import records
from swftools.machines.formats.slurm_words import value_of
from swftools.machines.hostlist import expand_hosts
from swftools.machines.parts import Outage
from swftools.parameters.spelling import did_you_mean

SIMULATED = {"MAINT", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "PART_NODES", "OVERLAP", "STATIC", "STATIC_ALLOC", ""}
"""Flags that change nothing of what is simulated: nodes, times, and who may use them."""

REMEDY = "sacctmgr -P list reservation format=name,nodenames,start,end,flags"
_CALLED = {"timestart": "start", "timeend": "end", "nodes": "nodenames"}
_NEEDED = ("name", "nodenames", "start", "end")
_NEVER = ("unknown", "")


class ToldReservations(NamedTuple):
    """Reservations as a description has them, and sentences on what is left out or not simulated."""

    outages: tuple[Outage, ...]
    notes: tuple[str, ...]


class _Told(NamedTuple):
    """A reservation as it is written, and the line where it stands."""

    line: int
    name: str
    nodes: str
    begin: str
    end: str
    flags: str
    users: str
    accounts: str
    groups: str


def read_reservations(
    path: str | os.PathLike[str], nodes: Collection[str], *, time_zone: str | None = None
) -> ToldReservations:
    """Return the reservations that a file tells.

    Parameters
    ----------
    path : path
        What ``scontrol show reservation`` printed, in either form; or ``sacctmgr -P list reservation`` with the columns
        Name, NodeNames, Start and End, which does not say who may use them: then nobody may. It may be compressed.
    nodes : collection of str
        Names of the nodes of the machine.
    time_zone : str, optional
        The zone of the times, such as Europe/Berlin.

    Returns
    -------
    ToldReservations
        They are known from the first. Flags, groups and lists of those who may not use one that are not simulated are
        named in the notes.

    Raises
    ------
    ParameterError
        The file cannot be read, has reservations in neither form, a line is not as it should be, or a node is unknown.
    """
    name = os.fsdecode(path)
    text = text_of(name, "a file that tells reservations")
    if "ReservationName=" in text:
        told = [*_of_scontrol(text)]
    elif "No reservations in the system" in text:
        told = []
    else:
        told = [*_of_sacctmgr(text, name)]
    notes = [f"left out: reservation {each.name}, which has no nodes of its own" for each in told if not each.nodes]
    told = [each for each in told if each.nodes]
    begins, ends = read_stretches(
        [each.begin for each in told],
        [None if each.end.lower() in _NEVER else each.end for each in told],
        [each.line for each in told],
        name,
        time_zone,
        "reservations",
    )
    found = []
    for each, begin, end in zip(told, begins, ends, strict=True):
        _check_nodes(each, nodes, f"{name}, line {each.line}")
        lacking = [flag for flag in each.flags.upper().split(",") if flag.strip() not in SIMULATED]
        lacking += [f"groups {each.groups}"] if each.groups else []
        users, accounts = ([*filter(None, words.split(","))] for words in (each.users, each.accounts))
        lacking += [f"{who} who may not use it" for who in (*users, *accounts) if who.startswith("-")]
        if lacking:
            notes.append(f"not simulated of reservation {each.name}: {', '.join(lacking)}")
        found.append(
            Outage(
                nodes=(each.nodes,),
                kind="reservation",
                begin=_date(begin),
                end=None if end is None else _date(end),
                name=each.name,
                users=tuple(who for who in users if not who.startswith("-")),
                accounts=tuple(who for who in accounts if not who.startswith("-")),
            )
        )
    return ToldReservations(tuple(found), tuple(notes))


def _date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")


def _of_scontrol(text: str) -> Iterator[_Told]:
    """Yield the reservations of what scontrol printed."""
    for line, kind, called, words in records(text):
        if kind == "Reservation":
            keys = ("nodes", "starttime", "endtime", "flags", "users", "accounts", "groups")
            yield _Told(line, called, *(value_of(words, key) for key in keys))


def _of_sacctmgr(text: str, name: str) -> Iterator[_Told]:
    """Yield the reservations of what sacctmgr printed."""
    columns: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if columns is None:
            columns = [_CALLED.get(cell.lower(), cell.lower()) for cell in cells]
            for need in _NEEDED:
                if need not in columns:
                    raise ParameterError(
                        f"{name}, line {number}: has no column {need} of reservations; print it by {REMEDY}"
                    )
            continue
        if len(cells) != len(columns):
            raise ParameterError(
                f"{name}, line {number}: {line[:60]!r} has not the {len(columns)} columns of a reservation; print it "
                f"by {REMEDY}"
            )
        row: Mapping[str, str] = dict(zip(columns, cells, strict=True))
        flags = row.get("flags", "")
        yield _Told(number, row["name"], row["nodenames"], row["start"], row["end"], flags, "", "", "")


def _check_nodes(told: _Told, nodes: Collection[str], where: str) -> None:
    """Raise ParameterError where a reservation has nodes that the machine has not."""
    try:
        names = expand_hosts(told.nodes)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from error
    known = {*nodes}
    for each in names:
        if each not in known:
            near = did_you_mean([each], nodes)
            raise ParameterError(
                f"{where}: the machine has no node {each!r}{near}; describe it, or take the reservation out"
            )
