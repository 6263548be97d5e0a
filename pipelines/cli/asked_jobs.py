# SPDX-License-Identifier: BSD-3-Clause
"""A job that a command is asked about, in one word: processors=64,time=4h, or nodes=2,cores=16,memory=64G,time=4h."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from swftools.errors import ParameterError
from swftools.machines.amounts import megabytes_of
from swftools.parameters.durations import seconds_of

_HOW = "write a job as processors=64,time=4h, or with priority=7000"
_ON_NODES = "of nodes also as nodes=2,cores=16,memory=64G,gpus=1,partition=gpu,time=4h"


def _whole(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ValueError("is not a whole number from 1 on")
    return int(text)


def _priority(text: str) -> float:
    if not text.isdecimal() or not int(text):
        raise ValueError("is none: give a whole priority above 0, as squeue --format=%Q prints it")
    return float(text)


def _seconds(text: str) -> float:
    found = seconds_of(text)
    if not found:
        raise ValueError("is not a time such as 4h, 30m or 04:00:00")
    return found


def _amount(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0.0 < found < 1e9:
        raise ValueError("is not a number above 0")
    return found


def _truth(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError("is neither yes nor no")
    return text == "yes"


_WORDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "processors": ("processors", _whole),
    "time": ("requested_time", _seconds),
    "priority": ("priority", _priority),
    "nodes": ("requested_nodes", _whole),
    "cores": ("requested_cores_per_node", _whole),
    "memory": ("requested_memory_per_node", megabytes_of),
    "gpus": ("requested_gpus_per_node", _amount),
    "partition": ("partition", str),
    "features": ("constraints", str),
    "exclusive": ("is_exclusive", _truth),
    "user": ("user", str),
    "account": ("account", str),
    "qos": ("qos", str),
}
"""What each word of a job is in ``what_if``, and what reads it; those behind ``priority`` are of a machine of nodes."""

OF_A_POOL = ("processors", "time", "priority")
OF_SLURM = ("user", "account", "qos")


class AskedJob(click.ParamType):  # type: ignore[type-arg]  # as of which version it takes any
    """A job, as processors=64,time=4h or nodes=2,cores=16,time=4h,priority=7000."""

    name = "job"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any] | Any:
        """Return what it asks for, as ``what_if`` takes it; fail if it is none."""
        if isinstance(value, dict):
            return value
        asked: dict[str, Any] = {}
        for part in str(value).replace(" ", "").split(","):
            word, equals, text = part.partition("=")
            if word not in _WORDS or not equals:
                self.fail(f"{value!r}: {_HOW}; {_ON_NODES}", param, ctx)
            name, read = _WORDS[word]
            if name in asked:
                self.fail(f"{value!r}: {word} is given twice", param, ctx)
            try:
                asked[name] = read(text)
            except (ValueError, ParameterError) as error:
                self.fail(f"{value!r}: {word} {error}", param, ctx)
        width = {"processors", "requested_nodes", "requested_gpus_per_node"} & set(asked)
        if "requested_time" not in asked or not width:
            self.fail(f"{value!r}: {_HOW}; {_ON_NODES}", param, ctx)
        if "requested_gpus_per_node" in asked and "requested_nodes" not in asked:
            asked["requested_gpus"] = asked.pop("requested_gpus_per_node")
        return asked


def check_of_a_pool(jobs: tuple[dict[str, Any], ...]) -> None:
    """Raise click.UsageError where a job asks for nodes, or what they have, and the machine is a pool."""
    known = {_WORDS[word][0] for word in OF_A_POOL}
    for job in jobs:
        asked = {"requested_gpus_per_node" if name == "requested_gpus" else name for name in job}
        if unknown := [word for word, (name, _) in _WORDS.items() if name in asked - known]:
            raise click.UsageError(f"--job {unknown[0]}=: a pool of processors has none; give --machine in place of it")
        if "processors" not in job:
            raise click.UsageError(f"--job: {_HOW}; or give --machine, and nodes=")


def check_of_no_slurm(jobs: tuple[dict[str, Any], ...]) -> None:
    """Raise click.UsageError where a job names for whom it runs, and the policy does not ask."""
    for job in jobs:
        if unknown := [word for word in OF_SLURM if word in job]:
            raise click.UsageError(f"--job {unknown[0]}=: of these policies only slurm looks at it; --policies slurm")
