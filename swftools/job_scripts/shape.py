# SPDX-License-Identifier: BSD-3-Clause
"""What options of ``sbatch`` add up to: nodes, tasks, processors, GPUs and memory of a component.

Slurm does this in two places: ``sbatch`` counts tasks and nodes, ``slurmctld`` weighs GPUs against both. The steps are
those that a real one was seen to take (``tests/job_scripts`` has what it made of 110 scripts).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from swftools.job_scripts import values
from swftools.job_scripts.given import Given, Options
from swftools.job_scripts.request import Component

MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
"""Options that say how much memory; a job may have one of them."""

SOCKETS = ("sockets-per-node", "cores-per-socket", "threads-per-core")
"""What ``--extra-node-info=2:4:1`` says too."""


class Size(NamedTuple):
    """Nodes and tasks, while they are counted.

    Parameters
    ----------
    nodes : int
        At least so many.
    most : int or None
        At most so many.
    tasks : int
        As many as there are, or one on each node.
    are_said : bool
        Whether the tasks are those of an option, or only follow from the nodes.
    is_range : bool
        Whether the number of nodes is open: then one task is counted where none are said.
    listed : int
        Nodes that are named.
    """

    nodes: int
    most: int | None
    tasks: int
    are_said: bool
    is_range: bool
    listed: int


def component_of(options: Options) -> Component:
    """Return the component that options describe.

    Raises
    ------
    JobScriptError
        A value is none, or options contradict one another: as ``sbatch`` or ``slurmctld`` would refuse them.
    """
    cpus_per_task = _count(options, "cpus-per-task") or 1
    without_gpus = _size(options)
    size, gpus = _with_gpus(options, without_gpus)
    processors = _processors(options, without_gpus, cpus_per_task)
    counts_tasks_of_gpus = size.tasks != without_gpus.tasks and "overcommit" not in options
    if counts_tasks_of_gpus and processors < size.tasks:
        processors = size.tasks * cpus_per_task
    limit, partition = options.get("time"), options.get("partition")
    return Component(
        nodes=size.nodes,
        most_nodes=size.most,
        tasks=max(size.tasks, 1),
        cpus_per_task=cpus_per_task,
        processors=processors,
        memory_mb=_memory(options, size.nodes, processors, gpus),
        gpus=gpus,
        time_limit=None if limit is None else values.time_limit("time", limit),
        partition=None if partition is None else partition.value,
        is_exclusive=_is_exclusive(options),
    )


def _processors(options: Options, size: Size, cpus_per_task: int) -> int:
    """Return the processors that are counted before anybody looks at GPUs."""
    if "overcommit" in options:
        return size.nodes
    tasks = size.tasks if size.are_said or not size.is_range else 1
    return max(tasks * cpus_per_task, size.listed)


def _count(options: Options, name: str) -> int | None:
    return values.count(name, options[name]) if name in options else None


def _size(options: Options) -> Size:
    """Return nodes and tasks before anybody looks at GPUs."""
    nodes = values.node_count(options["nodes"]) if "nodes" in options else None
    listed = max([values.hosts(name, options[name]) for name in ("nodelist", "nodefile") if name in options], default=0)
    least, most = (1, None) if nodes is None else nodes
    if most is not None and most < listed:
        raise options["nodes"].refused(
            f"--nodes={options['nodes'].value} is less than the {listed} nodes that are listed", "leave it out"
        )
    least = max(least, listed)
    is_range = nodes is not None and nodes.least < nodes.most
    tasks, per_node = _count(options, "ntasks"), _count(options, "ntasks-per-node")
    if tasks is None and per_node is not None:
        tasks = least * per_node
    if tasks is None and (nodes or listed or "extra-node-info" in options) and not is_range:
        tasks = _on_sockets(options, least)
    if tasks is None:
        return Size(least, most, least, False, is_range, listed)
    if tasks < least:  # sbatch warns, and takes fewer nodes
        least, most, listed = tasks, tasks, min(listed, tasks)
    return Size(least, most, tasks, True, is_range, listed)


def _on_sockets(options: Options, nodes: int) -> int | None:
    """Return a task for each socket, core and thread of the nodes that are described; None if none is."""
    said = [found for name in SOCKETS if (found := _least(options, name)) is not None]
    return nodes * math.prod(said) if said else None


def _least(options: Options, name: str) -> int | None:
    """Return the least number of a range; None where any will do."""
    given = options.get(name)
    if given is None or given.value in ("", "*"):
        return None
    return values.count(name, Given(given.value.partition("-")[0], given.where))


def _with_gpus(options: Options, size: Size) -> tuple[Size, int]:
    """Return nodes and tasks as GPUs ask for them, and the GPUs of all nodes."""
    in_all, per_task = (
        values.gpus(name, options[name]) if name in options else 0 for name in ("gpus", "gpus-per-task")
    )
    per_node = values.gres_gpus(options["gres"]) if "gres" in options else 0
    per_node = values.gpus("gpus-per-node", options["gpus-per-node"]) if "gpus-per-node" in options else per_node
    shared = _count(options, "ntasks-per-gpu")
    _refuse_pairs(options)
    if in_all and per_node:
        size = _nodes_for(options, size, in_all, per_node)
    if in_all and per_task:
        size = _tasks_for(options, size, in_all, per_task)
    is_open = "ntasks" not in options if size.is_range else not size.are_said and "nodes" not in options
    if per_task and not in_all and is_open:
        raise options["gpus-per-task"].refused("--gpus-per-task alone says no number of GPUs", "add --ntasks or --gpus")
    if per_task and per_node:
        _refuse_tasks_of_nodes(options, per_node, per_task)
    of_sockets = _of_sockets(options, per_node) * size.nodes
    gpus = in_all or max(per_node * size.nodes, per_task * size.tasks, of_sockets)
    if shared is not None:
        return _sharing(options, size, gpus, shared)
    return size, gpus


def _of_sockets(options: Options, per_node: int) -> int:
    """Return the GPUs that each node has by its sockets; refuse others than it has by another option."""
    if "gpus-per-socket" not in options:
        return 0
    given, sockets = options["gpus-per-socket"], _least(options, "sockets-per-node")
    if sockets is None:
        raise given.refused("--gpus-per-socket says no number of GPUs", "add --sockets-per-node")
    each = values.gpus("gpus-per-socket", given)
    if per_node and each and per_node // each != sockets:
        raise given.refused(
            f"--gpus-per-socket={each} is for {each * sockets} GPUs of a node, not {per_node}", "mend one of them"
        )
    return each * sockets


def _refuse_tasks_of_nodes(options: Options, per_node: int, per_task: int) -> None:
    """Refuse GPUs of a node that are too few for a task, or for other tasks than each node has."""
    given, tasks = options["gpus-per-task"], per_node // per_task
    if not tasks:
        raise given.refused(f"--gpus-per-task={per_task} is more than the {per_node} of a node", "mend one of them")
    if _count(options, "ntasks-per-node") not in (None, tasks):
        raise given.refused(f"--gpus-per-task={per_task} leaves room for {tasks} tasks of a node", "mend one of them")


def _refuse_pairs(options: Options) -> None:
    """Refuse options that contradict one another."""
    pairs = (
        ("ntasks-per-gpu", "gpus-per-task"),
        ("ntasks-per-gpu", "ntasks-per-node"),
        ("cpus-per-gpu", "cpus-per-task"),
    )
    for one, other in pairs:
        if one in options and other in options:
            raise options[one].refused(f"--{one} does not go with --{other}", "leave out one of them")


def _nodes_for(options: Options, size: Size, in_all: int, per_node: int) -> Size:
    """Return as many nodes as have so many GPUs."""
    nodes, rest = divmod(in_all, per_node)
    if rest:
        raise options["gpus"].refused(f"--gpus={in_all} is no multiple of the {per_node} of a node", "mend one of them")
    if nodes < size.nodes or (size.most is not None and nodes > size.most):
        raise options["gpus"].refused(f"--gpus={in_all} needs {nodes} nodes", f"ask for --nodes={nodes}")
    return size._replace(nodes=nodes, most=nodes)


def _tasks_for(options: Options, size: Size, in_all: int, per_task: int) -> Size:
    """Return as many tasks as have so many GPUs."""
    tasks, rest = divmod(in_all, per_task)
    if rest:
        raise options["gpus"].refused(
            f"--gpus={in_all} is no multiple of the {per_task} of a task", "mend --gpus or --gpus-per-task"
        )
    is_fixed = size.are_said or ("nodes" in options and not size.is_range)
    if is_fixed and tasks != size.tasks:
        raise options["gpus"].refused(f"--gpus={in_all} is for {tasks} tasks", f"ask for --ntasks={tasks}")
    return size._replace(tasks=tasks, are_said=True)


def _sharing(options: Options, size: Size, gpus: int, tasks_per_gpu: int) -> tuple[Size, int]:
    """Return nodes and tasks where tasks share GPUs."""
    if gpus:
        tasks = gpus * tasks_per_gpu
        return size._replace(tasks=max(tasks, size.tasks) if size.are_said else tasks, are_said=True), gpus
    given = options["ntasks-per-gpu"]
    if not size.are_said and ("nodes" not in options or size.is_range):
        raise given.refused("--ntasks-per-gpu alone says no number of GPUs", "add --gpus, --ntasks or --nodes")
    if not size.are_said:
        return size._replace(tasks=size.nodes * tasks_per_gpu, are_said=True), size.nodes
    gpus, rest = divmod(size.tasks, tasks_per_gpu)
    if rest or gpus < size.nodes:
        raise given.refused(
            f"--ntasks-per-gpu={tasks_per_gpu} does not go with {size.tasks} tasks on {size.nodes} nodes",
            "ask for a multiple of it, and a GPU on each node",
        )
    return size, gpus


def _memory(options: Options, nodes: int, processors: int, gpus: int) -> int | None:
    """Return the memory of all nodes, MiB; None where it is the centre's or all that nodes have."""
    said = [name for name in MEMORY if name in options]
    if len(said) > 1:
        raise options[said[-1]].refused(f"--{said[0]} does not go with --{said[1]}", "leave out one of them")
    if not said:
        return None
    (name,) = said
    each = values.memory(name, options[name])
    if name == "mem-per-gpu" and not gpus:
        raise options[name].refused("--mem-per-gpu is there, and no GPU", "add --gpus")
    return each * {"mem": nodes, "mem-per-cpu": processors, "mem-per-gpu": gpus}[name] or None


def _is_exclusive(options: Options) -> bool:
    """Whether no other job may run on its nodes; those of the same user may with ``--exclusive=user``."""
    given = options.get("exclusive")
    if given is not None and given.value not in ("", "user", "mcs"):
        raise given.refused(f"--exclusive={given.value} is nothing that there is", "write --exclusive")
    return given is not None and not given.value
