# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of a machine of nodes, as arrays: what the simulator and its checks take."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.kernel import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Place:
    """Where a job may run: on nodes of one of some sets, the first in which it fits.

    Parameters
    ----------
    nodes : tuple of numpy.ndarray of int64
        Of each set the numbers of its nodes, rising: those of a partition that have what the job asks for by name.
    partitions : tuple of int
        The partition of each set, as a place in ``NodeTable.partitions``.
    """

    nodes: tuple[IntArray, ...]
    partitions: tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """What each job of a trace asks of a machine, a row a job of the trace, in its order.

    Parameters
    ----------
    nodes : numpy.ndarray of int64, shape (rows,)
        How many nodes; 0 where the job cannot run.
    cores, memory, gpus : numpy.ndarray of int64, shape (rows,)
        Of each of these nodes: cores, MB, and thousandths of a GPU.
    is_exclusive : numpy.ndarray of bool, shape (rows,)
        Whether the job has its nodes alone. It then gets the whole of each, and these must have what it asks for.
    place : numpy.ndarray of int64, shape (rows,)
        Where it may run, as a place in ``places``; -1 where the job cannot run.
    places : tuple of Place
        What the jobs ask for, each once.
    code : numpy.ndarray of int16, shape (rows,)
        Why the job cannot run on this machine, as a place in ``reasons``; 0 where it can.
    reasons : tuple of str
        In words; the first is empty.
    ready_time : numpy.ndarray of float64, shape (rows,), or of no rows
        The time from which the job may start, where it asked for one, s as submissions are counted; NaN elsewhere.
    assumed : tuple of str
        What was taken for what the log does not say, in words, with how many jobs it concerns.
    """

    nodes: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_exclusive: BoolArray
    place: IntArray
    places: tuple[Place, ...]
    code: IntArray
    reasons: tuple[str, ...]
    ready_time: FloatArray
    assumed: tuple[str, ...] = ()
