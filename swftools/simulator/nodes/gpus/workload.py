# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of nodes whose GPUs are told apart, and which of it is typical."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.nodes.gpus.state import (
    ANY_MODEL,
    DRAWN,
    EXACT,
    LACKING,
    LENGTH,
    MOST_CPU,
    MOST_GPU,
    TIES,
    WIDTH,
    GpuNodes,
)
from swftools.trace import Trace

TYPICAL = 0.95
"""Which share of all jobs the classes of a typical workload are, at least."""

_MOST_MODELS = 62
_MOST_WIDTH = 62


class Asks(NamedTuple):
    """What jobs ask for: thousandths of CPU, MB, GPUs, thousandths of each, and in bits which models.

    By class of equal requests; ``which`` has the class of each job.
    """

    cpu: IntArray
    memory: IntArray
    number: IntArray
    milli: IntArray
    models: IntArray
    which: IntArray


@dataclass(frozen=True)
class Typical:
    """A typical workload: classes of jobs, by which fragments are told.

    Parameters
    ----------
    share : numpy.ndarray of float64, shape (classes,)
        Of all jobs of these classes; they add up to 1.
    cpu, number, milli, models : numpy.ndarray of int64, shape (classes,)
        Thousandths of CPU, GPUs, thousandths of each, and in bits which models.
    """

    share: FloatArray
    cpu: IntArray
    number: IntArray
    milli: IntArray
    models: IntArray


def models_of(table: NodeTable) -> list[str]:
    """Return the models of GPUs of a machine.

    Raises
    ------
    ParameterError
        There are more than can be told apart.
    """
    found = sorted(set().union(*table.gpu_types)) if table.gpu_types else []
    if len(found) > _MOST_MODELS:
        raise ParameterError(f"the machine has {len(found)} models of GPUs; at most {_MOST_MODELS} are told apart")
    return found


def asks_of(trace: Trace, models: list[str]) -> tuple[Asks, list[str]]:
    """Return what the jobs of a trace ask for, each of one node, and the text of models of each class.

    Parameters
    ----------
    trace : Trace
        With ``requested_cores_per_node``, ``requested_memory_per_node`` (MB) and ``requested_gpus_per_node``, all of
        which count as 0 where they are missing; ``gpu_types`` as names behind numbers, where it is there.
    models : list of str
        Of the machine; a job that asks for others only fits nowhere.

    Raises
    ------
    ParameterError
        A job asks for several GPUs and a part of one.
    """
    amounts = [
        _thousandths(trace, "requested_cores_per_node"),
        _thousandths(trace, "requested_memory_per_node") // 1000,
        _thousandths(trace, "requested_gpus_per_node"),
    ]
    words = _words(trace)
    odd = (amounts[2] > GPU) & (amounts[2] % GPU != 0)
    if odd.any():
        job = trace.jobs["job_number"].iloc[int(np.argmax(odd))]
        raise ParameterError(
            f"job {job} asks for {amounts[2][np.argmax(odd)] / GPU:g} GPUs of a node: a job has a part of one GPU, "
            "or whole ones"
        )
    texts, word = np.unique(words, return_inverse=True)
    rows, which = np.unique(np.stack([*amounts, word.ravel()], axis=1), axis=0, return_inverse=True)
    cpu, memory, gpus, text = (np.ascontiguousarray(column, np.int64) for column in rows.T)
    spelled = [str(texts[each]) if amount else "" for each, amount in zip(text, gpus, strict=True)]
    asked = Asks(
        cpu,
        memory,
        -(-gpus // GPU),
        np.minimum(gpus, GPU),
        np.array([_bits(each, models) for each in spelled], np.int64),
        which.ravel().astype(np.int64),
    )
    return asked, spelled


def typical_of(asks: Asks, texts: list[str], share: float = TYPICAL) -> Typical:
    """Return the most frequent classes of jobs, as many as are a share of all together.

    Memory does not count. Of classes with as many jobs the larger comes first: by CPU, share of a GPU, number of GPUs,
    text of models (Weng et al. 2023, as their program has it).

    Parameters
    ----------
    asks, texts
        As ``asks_of`` returns them.
    share : float
        Of all jobs, those without GPUs among them.
    """
    counts: dict[tuple[int, int, int, str], int] = {}
    bits: dict[str, int] = {}
    for each, count in enumerate(np.bincount(asks.which, minlength=len(asks.cpu)).tolist()):
        key = int(asks.cpu[each]), int(asks.milli[each]), int(asks.number[each]), texts[each]
        counts[key] = counts.get(key, 0) + count
        bits[texts[each]] = int(asks.models[each])
    chosen, so_far, total = [], 0, len(asks.which)
    for key, count in sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True):
        chosen.append((count, key))
        so_far += count
        if so_far >= share * total:
            break
    part = so_far / total if total else 1.0
    keys = [key for _, key in chosen]
    return Typical(
        np.array([count / total / part for count, _ in chosen], float),
        np.array([key[0] for key in keys], np.int64),
        np.array([key[2] for key in keys], np.int64),
        np.array([key[1] for key in keys], np.int64),
        np.array([bits[key[3]] for key in keys], np.int64),
    )


def gpu_nodes(table: NodeTable, typical: Typical, *, exact: bool, ties: int, seed: int) -> GpuNodes:
    """Return the GPUs of an idle machine, in the order of its nodes.

    Raises
    ------
    ParameterError
        A node has a part of a GPU, or more GPUs than are told apart.
    """
    models = models_of(table)
    has = table.gpus // GPU
    if (table.gpus % GPU).any() or has.max(initial=0) > _MOST_WIDTH:
        raise ParameterError(f"a node has a part of a GPU, or more than {_MOST_WIDTH}: these are not told apart")
    width = max(int(has.max(initial=0)), 1)
    counts = np.zeros(LENGTH, np.int64)
    counts[WIDTH], counts[EXACT], counts[TIES] = width, exact, ties
    counts[MOST_CPU], counts[MOST_GPU] = 1000 * int(table.cores.max(initial=1)), max(int(table.gpus.max(initial=0)), 1)
    counts[DRAWN] = 1 + int(np.random.SeedSequence(seed).generate_state(1)[0]) % ((1 << 31) - 2)  # far from each other
    of_kind = [sum(1 << models.index(name) for name in names) for names in table.gpu_types] or [0] * len(table.kinds)
    return GpuNodes(
        np.where(np.arange(width) < has[:, None], GPU, LACKING).astype(np.int64).ravel(),
        np.zeros(len(table) * (width + 1), np.int64),
        counts,
        np.array(of_kind, np.int64)[table.kind] | 1 << _MOST_MODELS,
        *(typical.share, typical.cpu, typical.number, typical.milli, typical.models),
    )


def _thousandths(trace: Trace, name: str) -> IntArray:
    """Return thousandths of what stands in a column; 0 where it is missing."""
    if name not in trace.jobs:
        return np.zeros(len(trace), np.int64)
    values = trace.jobs[name].to_numpy(dtype=np.float64, na_value=np.nan)
    return np.rint(1000 * np.nan_to_num(values)).astype(np.int64)


def _words(trace: Trace) -> npt.NDArray[Any]:
    """Return the models that jobs ask for, as text; empty where they ask for none."""
    if "gpu_types" not in trace.jobs:
        return np.full(len(trace), "", object)
    return trace.jobs["gpu_types"].astype("object").where(trace.jobs["gpu_types"].notna(), "").to_numpy()


def _bits(text: str, models: list[str]) -> int:
    """Return in bits which models a text allows; it names them with bars or commas between."""
    if not text:
        return ANY_MODEL
    return sum({1 << models.index(name) for name in text.replace(",", "|").split("|") if name in models})
