# SPDX-License-Identifier: BSD-3-Clause
"""Where jobs may run under Slurm: in which partitions, on which nodes of them; and who cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, IntArray
from swftools.machines.fitting import FITS
from swftools.machines.hostlist import expand_hosts
from swftools.machines.node_table import NodeTable
from swftools.machines.requests import distinct
from swftools.machines.slurm_site import SlurmSite
from swftools.machines.told import Told
from swftools.machines.where_to_run import NO_FEATURE, NO_GPU_TYPE, Spots, partition_names
from swftools.simulator.slurm.accounts import Accounts, Texts, first_of
from swftools.simulator.slurm.amounts import Amounts
from swftools.simulator.slurm.fits import REASONS, Room, Sizes
from swftools.simulator.slurm.partition_limits import TOO_MUCH_MEMORY, has_too_much_memory
from swftools.simulator.slurm.submit_lines import Lines
from swftools.trace import Trace

NO_ACCOUNT_ALLOWED = "has an account that may not use its partition"
NO_QOS_ALLOWED = "has a QOS that may not be used in its partition"
NOT_LISTED = "lists of nodes (--nodelist) that are fewer than the job needs, or not of the machine, are not followed"

_MOST_CODES = 120


class Where(NamedTuple):
    """Where jobs may run.

    Parameters
    ----------
    row, partition : numpy.ndarray of int64, shape (entries,)
        A job and a partition that it asks for, in the order of jobs, and of a job as it names them.
    nodes_allowed : numpy.ndarray of int64, shape (rows,)
        As ``SlurmJobs`` has it.
    sets : numpy.ndarray of bool, shape (sets, nodes)
        Sets of nodes.
    reason : numpy.ndarray of int64, shape (rows,)
        Why a job has no entry, as a place in ``reasons``; 0 where it has.
    reasons : list of str
        In words.
    first : numpy.ndarray of int64, shape (rows,)
        The first partition of each job, -1 for none.
    """

    row: IntArray
    partition: IntArray
    nodes_allowed: IntArray
    sets: npt.NDArray[np.bool_]
    reason: IntArray
    reasons: list[str]
    first: IntArray


def spots_of(trace: Trace, table: NodeTable, told: Told, lines: Lines) -> Spots:
    """Return what finds where jobs may run, by names of submit lines too.

    sacct tells the partition in which a job ran. So the list of ``--partition`` counts, if a name in it is known.
    """
    told.features = first_of(told.features, lines.texts("constraint"))
    told.gpu_types = first_of(told.gpu_types, lines.texts("gpu_type"))
    places, texts = lines.texts("partition")
    known = {each.name for each in table.partitions}
    is_known = np.array([*(bool(known.intersection(text.split(","))) for text in texts), False], bool)
    if not is_known.any():
        return Spots(trace, table, told)
    before = len(told.assumed)
    named = first_of((np.where(is_known[places], places, -1), texts), partition_names(trace, table, told))
    told.assumed[before:] = [(words, rows & ~is_known[places]) for words, rows in told.assumed[before:]]
    return Spots(trace, table, told, named)


def where_of(spots: Spots, names: list[IntArray], table: NodeTable, told: Told, lines: Lines, asked: Amounts) -> Where:
    """Return where jobs may run, by the names that they give: of partition, words, features, types of GPUs."""
    listed = lines.texts("nodelist"), lines.texts("exclude")
    keys = [*names, listed[0][0], listed[1][0], np.where(listed[0][0] >= 0, asked.min_nodes, 0)]
    first, of_row = distinct(keys)
    of_nodes = {name: number for number, name in enumerate(table.names)}
    sets: dict[bytes, int] = {}
    masks: list[BoolArray] = []
    reasons: dict[str, int] = {"": 0}
    found: list[list[int]] = []
    allowed, reason, is_odd = [], [], []
    for row in first.tolist():
        partition, *others = (int(column[row]) for column in keys)
        has_features, mask = spots.mask_of((others[0], others[1], others[2]))
        wanted, odd = _listed(listed, others[3:], of_nodes)
        mask = mask & wanted
        is_odd.append(odd)
        parts = spots.partitions_of(partition)
        can = [] if isinstance(parts, str) else [number for number, part in parts if mask[part.nodes].any()]
        why = ""
        if isinstance(parts, str):
            why = parts
        elif not can:
            why = NO_GPU_TYPE if any(has_features[part.nodes].any() for _, part in parts) else NO_FEATURE
        reason.append(reasons.setdefault(_short(why, reasons), len(reasons)))
        found.append(can)
        if mask.all() or not can:
            allowed.append(-1)
            continue
        allowed.append(sets.setdefault(mask.tobytes(), len(sets)))
        if len(sets) > len(masks):
            masks.append(mask)
    told.assume(NOT_LISTED, np.array(is_odd, bool)[of_row])
    lengths = np.array([len(each) for each in found], np.int64)
    begins = np.cumsum(lengths) - lengths
    flat = np.array([number for each in found for number in each], np.int64)
    entries = lengths[of_row]
    row = np.repeat(np.arange(len(of_row)), entries)
    at = np.arange(len(row)) - np.repeat(np.cumsum(entries) - entries, entries)
    return Where(
        row,
        flat[begins[of_row][row] + at],
        np.array(allowed, np.int64)[of_row],
        np.array(masks, bool).reshape(len(masks), len(table)),
        np.array(reason, np.int64)[of_row],
        list(reasons),
        np.array([each[0] if each else -1 for each in found], np.int64)[of_row],
    )


def _short(reason: str, known: dict[str, int]) -> str:
    """Return a reason; what would be one too many is told without its names."""
    return reason if reason in known or len(known) < _MOST_CODES else reason.partition(":")[0]


def _listed(listed: tuple[Texts, Texts], places: list[int], numbers: dict[str, int]) -> tuple[BoolArray, bool]:
    """Return the nodes that a job's lists leave, and whether the nodes that it wants are not followed.

    Slurm gives a job all nodes of ``--nodelist``, and others if these do not suffice, which is not followed.
    """
    wanted, excluded, needed = places
    mask = np.ones(len(numbers), bool)
    if excluded >= 0:
        mask[[numbers[name] for name in _hosts(listed[1][1][excluded]) if name in numbers]] = False
    if wanted < 0:
        return mask, False
    names = _hosts(listed[0][1][wanted])
    if len(names) < needed or not all(name in numbers for name in names) or not names:
        return mask, True
    inside = np.zeros(len(numbers), bool)
    inside[[numbers[name] for name in names]] = True
    return mask & inside, False


def _hosts(text: str) -> list[str]:
    """Return the names in a list of nodes; none if it is no such list."""
    try:
        return list(dict.fromkeys(expand_hosts(text)))
    except ParameterError:
        return []


def judged(
    where: Where, sizes: Sizes, table: NodeTable, site: SlurmSite, accounts: Accounts, refused: dict[str, BoolArray]
) -> tuple[BoolArray, npt.NDArray[np.int16], tuple[str, ...]]:
    """Return which entries can ever run, and of each job why none of its own can: a code, and what each means.

    Parameters
    ----------
    where : Where
        The entries.
    sizes : Sizes
        How much jobs ask for.
    table, site : NodeTable, SlurmSite
        The machine.
    accounts : Accounts
        For whom jobs run.
    refused : dict of str to numpy.ndarray of bool
        Reasons that need no look at nodes, and of which jobs.
    """
    codes = {"": 0}
    why = np.zeros(len(where.row), np.int64)
    for room, entries in _rooms(where, table):
        found = room.judge(sizes.take(where.row[entries]))
        for reason in sorted({*found.tolist()} - {FITS}):
            why[entries[found == reason]] = codes.setdefault(REASONS[reason], len(codes))
    above = has_too_much_memory(sizes.memory_per_node, where.row, where.partition, site, table)
    for words, is_barred in (*_not_allowed(where, table, site, accounts), (TOO_MUCH_MEMORY, above)):
        if is_barred.any():
            why[(why == 0) & is_barred] = codes.setdefault(words, len(codes))
    code = np.array([codes.setdefault(words, len(codes)) for words in where.reasons], np.int64)[where.reason]
    is_first = np.ones(len(where.row), bool)
    is_first[1:] = where.row[1:] != where.row[:-1]
    code[where.row[is_first]] = why[is_first]
    code[where.row[why == 0]] = 0
    for words, rows in refused.items():
        if rows.any():
            code[rows] = codes.setdefault(words, len(codes))
    return (why == 0) & (code[where.row] == 0), code.astype(np.int16), tuple(codes)


def on_nodes_with_memory(where: Where, memory: IntArray, table: NodeTable) -> Where:
    """Return where jobs may run: only on nodes that have as much memory at all as a job asks of each, MB, by row."""
    lacks = memory > table.memory.min()
    if not lacks.any():
        return where
    first, group = distinct([where.nodes_allowed[lacks], memory[lacks]])
    row = np.flatnonzero(lacks)[first]
    before, sets = where.nodes_allowed[row], table.memory >= memory[row, None]
    sets[before >= 0] &= where.sets[before[before >= 0]]
    allowed = where.nodes_allowed.copy()
    allowed[lacks] = len(where.sets) + group
    return where._replace(nodes_allowed=allowed, sets=np.concatenate([where.sets, sets]))


def _rooms(where: Where, table: NodeTable) -> Iterator[tuple[Room, IntArray]]:
    """Yield the nodes of a partition on which some jobs may run, and the entries of these jobs."""
    if not len(where.row):
        return
    allowed = where.nodes_allowed[where.row]
    first, group = distinct([where.partition, allowed])
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(first) + 1))
    for number, entry in enumerate(first.tolist()):
        part = table.partitions[where.partition[entry]]
        nodes = part.nodes if allowed[entry] < 0 else part.nodes[where.sets[allowed[entry]][part.nodes]]
        yield Room(table, nodes, part), order[bounds[number] : bounds[number + 1]]


def _not_allowed(
    where: Where, table: NodeTable, site: SlurmSite, accounts: Accounts
) -> Iterator[tuple[str, BoolArray]]:
    """Yield reasons, and which entries are of accounts or QOS that may not use their partition."""
    places = {part.name: number for number, part in enumerate(table.partitions)}
    qos = (accounts.qos, [each.name for each in site.qos])
    for part in site.partitions:
        inside = where.partition == places.get(part.name, -1)
        for words, (of_job, names), allowed, denied in (
            (NO_ACCOUNT_ALLOWED, accounts.account, part.allow_accounts, part.deny_accounts),
            (NO_QOS_ALLOWED, qos, part.allow_qos, part.deny_qos),
        ):
            if allowed or denied:
                may = np.array([*(not allowed or name in allowed for name in names), True], bool)
                may[:-1] &= np.array([name not in denied for name in names], bool)
                yield words, inside & ~may[of_job[where.row]]
