# SPDX-License-Identifier: BSD-3-Clause
"""What a log says of what its jobs asked for, row by row, whatever machine they are put on.

Columns of the dictionary come first, then the texts of dialects, then what jobs were given. What is taken for what a
log does not say is told in words, with the jobs that it concerns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.request_words import Request, read_request
from swftools.trace import Trace

OF_SLURM = re.compile(r"from Slurm, sacct \(slurm\b")
"""What stands in the header of a log that was read as Slurm's, whatever file it is kept in now."""
OF_PBS = re.compile(r"\(pbs\b")
NODES_GIVEN = "the nodes that jobs were given count, as what they asked for is not told"
GPUS_GIVEN = "the GPUs that jobs were given count, as what they asked for is not told"
NODES_ARE_WIDTH = "the width counts nodes, which jobs have whole, as the log tells no cores"
ALL_WHOLE = "whole nodes, however many cores are told, as all jobs of the log have their nodes alone"
NODES_ONLY = "whole nodes, as only nodes are told"
MIXED = "requests for nodes of several kinds: the largest amount of each kind counts for all of them"
NOT_READ = "requests in words that cannot be read: the other columns count"
IN_BYTES = "memory of field 10 is that of a node in bytes, as CERIT-SC tells it"
NO_CORES = "one core, or one of each node, as only GPUs are told"

_KB = 1024.0
_UNKNOWN = -1


@dataclass
class Told:
    """What a log says of each job, a row a job of the trace; NaN where it does not say it.

    Parameters
    ----------
    nodes : numpy.ndarray of float64
        How many; at least so many where ``cores`` is not told.
    cores, memory, gpus : numpy.ndarray of float64
        Of each node; memory in MB, GPUs may be shares of one.
    most_cores : numpy.ndarray of float64
        Of a node at most, where ``cores`` is not told.
    all_cores, all_gpus : numpy.ndarray of float64
        Of all nodes together.
    memory_per_core : numpy.ndarray of float64
        MB.
    is_exclusive : numpy.ndarray of bool
        Whether the job asked for its nodes alone.
    requested_time : numpy.ndarray of float64
        s.
    ready_time : numpy.ndarray of float64, shape (rows,), or of no rows
        From when the job may start, s.
    words, features, gpu_types : tuple of numpy.ndarray of int64, and list of str
        The place in the list of what each row asks for by name; -1 for nothing. A text of ``words`` is of
        ``resource_request``.
    asked : list of Request or None
        What each text of ``words`` asks for.
    given_cores : numpy.ndarray of float64
        Of all nodes together: what the job was given.
    counts_threads : bool
        Whether cores are such as the log counts: threads, of which a core of the machine may have several.
    assumed : list of (str, numpy.ndarray of bool)
        What was taken for what is not told, and of which rows.
    """

    nodes: FloatArray
    cores: FloatArray
    memory: FloatArray
    gpus: FloatArray
    most_cores: FloatArray
    all_cores: FloatArray
    all_gpus: FloatArray
    memory_per_core: FloatArray
    is_exclusive: BoolArray
    requested_time: FloatArray
    ready_time: FloatArray
    words: tuple[IntArray, list[str]]
    features: tuple[IntArray, list[str]]
    gpu_types: tuple[IntArray, list[str]]
    asked: list[Request | None]
    given_cores: FloatArray
    counts_threads: bool = False
    assumed: list[tuple[str, BoolArray]] = field(default_factory=list)

    def assume(self, words: str, rows: npt.NDArray[np.bool_]) -> None:
        """Say what was taken for what is not told, and of which rows."""
        if rows.any():
            self.assumed.append((words, rows))


def told_of(trace: Trace, table: NodeTable) -> Told:
    """Return what a log says of what its jobs asked for.

    Parameters
    ----------
    trace : Trace
        The log.
    table : NodeTable
        The machine; it decides what the widths of a log can be that has as many nodes as processors.
    """
    columns = _Columns(trace.jobs)
    words = columns.texts("resource_request")
    told = Told(
        nodes=columns.numbers("requested_nodes", least=0.0),
        cores=columns.numbers("requested_cores_per_node"),
        memory=columns.numbers("requested_memory_per_node", least=0.0),
        gpus=columns.numbers("requested_gpus_per_node", least=0.0),
        most_cores=columns.numbers("most_cores_per_node"),
        all_cores=columns.numbers("requested_processors"),
        all_gpus=columns.numbers("requested_gpus", least=0.0),
        memory_per_core=columns.numbers("requested_memory") / _KB,
        is_exclusive=columns.truths("is_exclusive"),
        requested_time=columns.numbers("requested_time", least=0.0),
        ready_time=columns.numbers("begin_time", least=-np.inf) if "begin_time" in trace.jobs else np.empty(0),
        words=words,
        features=columns.texts("constraints"),
        gpu_types=columns.texts("gpu_types"),
        asked=[read_request(text) for text in words[1]],
        given_cores=columns.numbers("allocated_processors"),
    )
    told.all_gpus = _or_else(columns.numbers("exact_gpus", least=0.0), told.all_gpus)
    _take_words(told)
    _take_given(told, columns, trace)
    _judge_width(told, trace, table)
    told.counts_threads = _counts_threads(told, trace, table)
    _fill_up(told)
    return told


class _Columns:
    """Columns of a jobs table, each of which may be absent."""

    def __init__(self, jobs: pd.DataFrame) -> None:
        self._jobs = jobs

    def numbers(self, name: str, least: float = np.nextafter(0.0, 1.0)) -> FloatArray:
        """Return a column of numbers, NaN for what is missing, infinite, or below what it can be."""
        if name not in self._jobs:
            return np.broadcast_to(np.float64(np.nan), len(self._jobs))  # one number, however many rows
        values = self._jobs[name].to_numpy(np.float64, na_value=np.nan)
        return np.where(np.isfinite(values) & (values >= least), values, np.nan)

    def truths(self, name: str) -> BoolArray:
        """Return a column of truths; what is missing is false."""
        if name not in self._jobs:
            return np.zeros(len(self._jobs), bool)
        return np.array(self._jobs[name].to_numpy(bool, na_value=False))

    def texts(self, name: str) -> tuple[IntArray, list[str]]:
        """Return the places of a column's texts in a list of them, -1 for none, and that list."""
        if name not in self._jobs or not len(self._jobs):
            return np.broadcast_to(np.int64(_UNKNOWN), len(self._jobs)), []
        places, texts = pd.factorize(self._jobs[name])
        return places.astype(np.int64), [str(text) for text in texts]


def _or_else(values: FloatArray, other: FloatArray) -> FloatArray:
    """Return values, and others where these are missing."""
    is_known = np.isfinite(values)
    return np.where(is_known, values, other) if is_known.any() else other


def _take_words(told: Told) -> None:
    """Take what the texts of dialects say."""
    places, texts = told.words
    if not texts:
        return
    nothing = Request(np.nan, np.nan, np.nan, is_exclusive=False)
    asked = [each or nothing for each in [*told.asked, None]]
    nodes, cores, gpus = (np.array([each[at] for each in asked], np.float64)[places] for at in range(3))
    is_exclusive, is_mixed, of_node = (
        np.array([getattr(each, name) for each in asked], bool)[places]
        for name in ("is_exclusive", "is_mixed", "counts_memory_of_node")
    )
    is_read = np.isfinite(nodes)
    told.nodes = np.where(is_read & np.isnan(told.nodes), nodes, told.nodes)
    told.cores = np.where(is_read & np.isnan(told.cores), cores, told.cores)
    told.gpus = np.where(is_read & (gpus > 0) & np.isnan(told.gpus), gpus, told.gpus)
    told.is_exclusive |= is_exclusive
    told.assume(NOT_READ, (places >= 0) & ~is_read)
    told.assume(MIXED, is_mixed)
    memory = np.where(of_node, told.memory_per_core, np.nan)
    is_taken = np.isfinite(memory) & np.isnan(told.memory)
    told.assume(IN_BYTES, is_taken)
    told.memory = np.where(is_taken, memory / _KB, told.memory)
    told.memory_per_core = np.where(of_node, np.nan, told.memory_per_core)


def _take_given(told: Told, columns: _Columns, trace: Trace) -> None:
    """Take what jobs were given where the log does not say what they asked for."""
    given, is_asked = told.given_cores, np.isfinite(told.all_cores)
    # A log that says nothing of nodes is one of widths: what was given is what a pool of processors takes.
    of_width = np.isnan(told.nodes) & np.isnan(told.cores) & ~(told.all_gpus > 0) & ~(told.gpus > 0)
    all_cores = np.where(of_width & np.isfinite(given), given, told.all_cores)
    told.all_cores = np.where(np.isnan(all_cores) & np.isnan(told.cores), given, all_cores)
    nodes = columns.numbers("allocated_nodes")
    lacks = np.isnan(told.nodes) & np.isfinite(nodes) & np.isnan(told.cores)
    if is_from(trace, "pbs", OF_PBS):  # who asks there for nodes tells how many; the others get as few as hold them
        lacks &= ~is_asked
    told.nodes = np.where(lacks, nodes, told.nodes)
    told.assume(NODES_GIVEN, lacks)
    gpus = columns.numbers("allocated_gpus")
    # Where the log says of any job what GPUs it asked for, the others asked for none: whole nodes come with theirs.
    says_none = bool(np.isfinite(told.all_gpus).any() or np.isfinite(told.gpus).any())
    lacks = np.isfinite(gpus) & ~told.is_exclusive & (not says_none)
    told.all_gpus = np.where(lacks, gpus, told.all_gpus)
    told.assume(GPUS_GIVEN, lacks & (gpus > 0))


def is_from(trace: Trace, reader: str, header: re.Pattern[str]) -> bool:
    """Return whether a log was read by a reader, or once was, as its header says."""
    is_read = str(trace.provenance.get("format", "")).partition(":")[0] == reader
    return is_read or header.search(trace.header.conversion or "") is not None


def _judge_width(told: Told, trace: Trace, table: NodeTable) -> None:
    """Find out whether widths count GPUs or nodes, which they do in logs that tell no cores."""
    known = np.isfinite(told.all_cores) & (told.all_gpus > 0)
    is_gpus = known.any() and bool((np.ceil(told.all_gpus[known]) == told.all_cores[known]).all())
    if is_gpus:  # then they say nothing of how many nodes of so many cores hold the job
        told.all_cores = np.where(np.isfinite(told.cores), np.nan, told.all_cores)
    known = np.isfinite(told.all_cores) & np.isfinite(told.nodes) & np.isnan(told.cores)
    has_cores = bool((table.cores > 1).any())
    is_nodes = bool((known & (told.nodes > 1)).any()) and bool((told.nodes[known] == told.all_cores[known]).all())
    most = trace.header.max_nodes or 0
    if not is_nodes and not known.any() and most > 1 and trace.header.max_procs == most:
        is_nodes = most <= len(table)
    if is_nodes and has_cores and not is_gpus:
        rows = np.isfinite(told.all_cores) & np.isnan(told.cores)
        told.nodes = np.where(rows & np.isnan(told.nodes), told.all_cores, told.nodes)
        told.all_cores = np.where(rows, np.nan, told.all_cores)
        told.cores = np.where(rows, 1.0, told.cores)
        told.is_exclusive |= rows
        # Memory of a processor is that of a node, too.
        told.memory = np.where(rows & np.isnan(told.memory), told.memory_per_core, told.memory)
        told.assume(NODES_ARE_WIDTH, rows)


def _counts_threads(told: Told, trace: Trace, table: NodeTable) -> bool:
    """Find out whether the log counts threads where nodes of the machine have several a core.

    Slurm does. Of other logs only those do for sure that have jobs on one node with more than any has cores, and no
    such job with more than any has threads.
    """
    threads = table.threads_by_node
    if not (threads > 1).any():
        return False
    if is_from(trace, "slurm", OF_SLURM):
        return True
    of_node = np.where(np.isfinite(told.cores), told.cores, np.where(told.nodes == 1, told.all_cores, np.nan))
    above = of_node[of_node > table.cores.max()]
    return len(above) > 0 and bool((above <= (table.cores * threads).max()).all())


def _fill_up(told: Told) -> None:
    """Take whole nodes where only nodes are told, or all jobs have theirs alone; one core where only GPUs are told."""
    whole = np.isfinite(told.nodes) & (told.nodes > 0) & bool(told.is_exclusive.all())
    of_each = np.where(np.isfinite(told.cores), told.cores, told.all_cores / np.maximum(told.nodes, 1.0))
    of_cores = whole & np.isnan(told.memory) & np.isfinite(told.memory_per_core) & (of_each > 0)
    told.memory = np.where(of_cores, told.memory_per_core * of_each, told.memory)
    told.assume(ALL_WHOLE, whole & (of_each > 1))
    told.cores = np.where(whole, 1.0, told.cores)
    told.all_cores = np.where(whole, np.nan, told.all_cores)
    lacks = np.isnan(told.all_cores) & np.isnan(told.cores)
    only_nodes = lacks & np.isfinite(told.nodes)
    told.cores = np.where(only_nodes, 1.0, told.cores)
    has_gpus = (told.gpus > 0) | (told.all_gpus > 0)
    told.is_exclusive |= only_nodes & ~has_gpus
    told.assume(NODES_ONLY, only_nodes & told.is_exclusive & (told.nodes > 0))
    told.all_cores = np.where(lacks & ~only_nodes & has_gpus, 1.0, told.all_cores)
    told.assume(NO_CORES, lacks & has_gpus & ~told.is_exclusive)
