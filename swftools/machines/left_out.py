# SPDX-License-Identifier: BSD-3-Clause
"""What a description has that simulations do not look at, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from swftools.machines.numbering import kind_name
from swftools.machines.outages import is_timed
from swftools.machines.parts import NodeKind, Outage, Partition
from swftools.output.amounts import counted

_MOST_NAMED = 5


def not_simulated(
    kinds: Sequence[NodeKind],
    partitions: Sequence[Partition],
    outages: Sequence[Outage],
    licences: Mapping[str, int],
    burst_buffers: Sequence[str],
    *,
    is_slurm: bool = False,
    has_qos: bool = True,
) -> tuple[str, ...]:
    """Return a sentence for each thing that is told, and not simulated.

    ``is_slurm``: policy ``slurm`` can be run; ``has_qos``: the QOS are told that partitions may name.
    """
    of_partitions = _of_partitions(partitions, is_slurm=is_slurm, has_qos=has_qos)
    return (*_of_nodes(kinds), *of_partitions, *_of_machine(outages, licences, burst_buffers))


def _of_nodes(kinds: Sequence[NodeKind]) -> Iterator[str]:
    threads = [kind_name(kind) for kind in kinds if kind.threads_per_core > 1]
    if threads:
        yield f"threads: those that a log counts become cores ({named(threads)})"
    mixed = [kind_name(kind) for kind in kinds if len(kind.gpus) > 1]
    if mixed:
        yield f"GPUs of several types on a node are counted together ({named(mixed)})"
    untold = [kind_name(kind) for kind in kinds if kind.memory is None]
    if untold:
        yield f"memory is not known, and never lacks ({named(untold)})"
    for what, names in (
        ("speed", [kind_name(kind) for kind in kinds if kind.speed != 1]),
        ("power", [kind_name(kind) for kind in kinds if kind.power]),
    ):
        if names:
            yield f"{what}: told, not simulated ({named(names)})"


def _of_partitions(partitions: Sequence[Partition], *, is_slurm: bool, has_qos: bool) -> Iterator[str]:
    allowed = [part.name for part in partitions if part.allow or part.deny]
    if is_slurm:
        by_slurm = [
            part.name for part in partitions if part.deny or (part.allow and (part.allow.accounts or part.allow.qos))
        ]
        if by_slurm:
            yield f"which accounts and QOS may use a partition: by policy slurm only ({named(by_slurm)})"
        allowed = [part.name for part in partitions if part.allow and (part.allow.groups or part.allow.users)]
    if allowed:
        who = "which groups and users" if is_slurm else "who"
        yield f"{who} may use a partition: told, not simulated ({named(allowed)})"
    times = [part.name for part in partitions if part.default_time is not None]
    if times:
        yield f"times of jobs that request none: told, not simulated ({named(times)})"
    for what, memory in (
        (
            "memory of a node for jobs that ask for none",
            [part.name for part in partitions if part.default_memory_per_node],
        ),
        (
            "the most memory that a job may ask for of a node",
            [part.name for part in partitions if part.max_memory_per_node],
        ),
    ):
        if memory:
            told = "by policy slurm only" if is_slurm else "told, not simulated"
            yield f"{what}: {told} ({named(memory)})"
    named_qos = {part.qos: None for part in partitions if part.qos}
    if named_qos and not has_qos:
        yield (
            f"limits of the QOS of partitions do not count, as no QOS is told ({named(named_qos)}): sacctmgr -P list "
            "qos tells them (--qos)"
        )


def _of_machine(outages: Sequence[Outage], licences: Mapping[str, int], burst_buffers: Sequence[str]) -> Iterator[str]:
    dated = sum(isinstance(outage.begin, str) or isinstance(outage.end, str) for outage in outages)
    if dated:
        yield f"{counted(dated, 'outage')} at dates: simulated for a log that says when it began (UnixStartTime)"
    others = sum(not is_timed(outage) for outage in outages) - dated
    if others:
        yield f"{counted(others, 'outage')} of the moment: kept, not simulated"
    if licences:
        yield f"licences: not modelled ({named(f'{name} {count:,}' for name, count in licences.items())})"
    if burst_buffers:
        yield f"burst buffers: not modelled ({named(burst_buffers)})"


def named(names: Iterable[str]) -> str:
    """Return some names, and how many more there are."""
    names = [*names]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
