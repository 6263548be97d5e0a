# SPDX-License-Identifier: BSD-3-Clause
"""What jobs of PBS asked of each node: ``2:ncpus=4:mem=8gb:ngpus=1`` (select), ``2:ppn=4:gpus=1:fast`` (nodes)."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.meanings import by_word, said_by_word
from swftools.kernel import BoolArray, FloatArray

MIXED = "asks for nodes of several kinds: the largest amount of each kind stands for all of them"
"""The name of an anomaly."""

_COUNT = re.compile(r"[0-9]{1,9}")
_SIZE = re.compile(r"([0-9]{1,15})([kmgtp]?)([bw]?)", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_MEGABYTE = 1024.0**2
_CORES, _GPUS = ("ncpus", "ppn"), ("ngpus", "gpus")
_NODES, _TYPES = ("host", "vnode", "feature"), ("gpu_type", "gputype", "gpu_model")
_MODES = frozenset(
    ["shared", "exclusive", "exclusive_thread", "exclusive_process", "prohibited", "default", "reseterr"]
)
"""Words of Torque that say how GPUs are used: no features."""
_ALONE = re.compile(r"(?:^|:)excl(?:host)?(?:$|:)")
_SCATTERED = re.compile(r"(?:^|:)v?scatter(?:$|:)")
_PACKED = re.compile(r"(?:^|:)pack(?:$|:)")
_SINGLE = ("singlejob", "singletask")
"""What Torque's Moab and Maui call a job that has its nodes alone."""


class Chunk(NamedTuple):
    """What is asked for in a part between plus signs: how many nodes, and of each; memory is NaN if not told, MB."""

    nodes: float
    cores: float
    memory: float
    gpus: float
    features: tuple[str, ...]
    gpu_types: tuple[str, ...]


class Chunks(NamedTuple):
    """What jobs asked of each node, the most of any, and of all nodes; NaN where nothing says it, memory in MB."""

    cores: FloatArray
    memory: FloatArray
    gpus: FloatArray
    all_cores: FloatArray
    all_memory: FloatArray
    nodes: FloatArray
    is_mixed: BoolArray
    features: pa.LargeStringArray
    gpu_types: pa.LargeStringArray


def read_chunks(requests: pa.LargeStringArray | pa.DictionaryArray) -> Chunks:
    """Return what requests for nodes ask of each; a dictionary of texts is looked at once.

    Examples
    --------
    >>> found = read_chunks(pa.array(["2:ppn=4:fast+1:ppn=8:fast", "3:ncpus=2:mem=1gb"], pa.large_string()))
    >>> found.cores.tolist(), found.all_cores.tolist(), found.memory.tolist(), found.features.to_pylist()
    ([8.0, 2.0], [16.0, 6.0], [nan, 1024.0], ['fast', None])
    """
    absent = (*[np.nan] * 6, 0.0)
    cores, memory, gpus, all_cores, all_memory, nodes, is_mixed = by_word(requests, _numbers, absent)
    features, gpu_types = (
        said_by_word(requests, said)
        for said in (
            lambda text: _words([each.features for each in _chunks(text)], "&"),
            lambda text: _words([each.gpu_types for each in _chunks(text)], "|"),
        )
    )
    return Chunks(cores, memory, gpus, all_cores, all_memory, nodes, is_mixed == 1, features, gpu_types)


def is_alone(place: pa.LargeStringArray, access: pa.LargeStringArray) -> FloatArray:
    """Return which jobs have their nodes alone: 1 by ``place=scatter:excl`` or ``naccesspolicy=singlejob``, else 0."""
    by_place = by_word(place, lambda text: float(_ALONE.search(text) is not None), 0.0)
    return np.maximum(by_place, by_word(access, lambda text: float(text.lower() in _SINGLE), 0.0))


def arrangements(place: pa.LargeStringArray) -> tuple[BoolArray, BoolArray]:
    """Return of which jobs each chunk is on a node of its own (scatter, vscatter), and of which all are on one (pack).

    Of the others, as without a place, PBS puts several chunks on a node where there is room.
    """
    scattered, packed = (
        by_word(place, lambda text: _SCATTERED.search(text) is not None, False),
        by_word(place, lambda text: _PACKED.search(text) is not None, False),
    )
    return scattered, packed


def _chunks(text: str) -> list[Chunk]:
    """Return the parts of a request; none where one cannot be read."""
    found = [_chunk(part) for part in text.split("+")]
    return [each for each in found if each is not None] if None not in found else []


def _chunk(text: str) -> Chunk | None:
    """Return what a part asks for."""
    if not text.strip():
        return None
    head, *rest = (word.strip() for word in text.split("#", maxsplit=1)[0].split(":"))
    nodes, features, gpu_types = 1.0, [], []
    amounts = {"cores": 1.0, "gpus": 0.0, "memory": np.nan}
    if _COUNT.fullmatch(head):
        nodes = float(head)
    else:
        rest = [head, *rest]
    for word in rest:
        key, is_pair, value = word.partition("=")
        if key in _CORES or key in _GPUS:
            if not _COUNT.fullmatch(value):
                return None
            amounts["cores" if key in _CORES else "gpus"] = float(value)
        elif key == "mem":
            amounts["memory"] = _megabytes(value)
        elif is_pair:
            features += [value] if key in _NODES else []
            gpu_types += [value] if key in _TYPES else []
        elif word and word not in _MODES:
            features.append(word)
    return Chunk(nodes, amounts["cores"], amounts["memory"], amounts["gpus"], tuple(features), tuple(gpu_types))


def _numbers(text: str) -> tuple[float, ...]:
    """Return cores, memory and GPUs of each node; cores, memory and nodes in all; and whether nodes differ."""
    chunks = _chunks(text)
    if not chunks:
        return (*[np.nan] * 6, 0.0)
    memory = [each.nodes * each.memory for each in chunks if not np.isnan(each.memory)]
    return (
        max(each.cores for each in chunks),
        float(np.fmax.reduce([each.memory for each in chunks])),
        max(each.gpus for each in chunks),
        sum(each.nodes * each.cores for each in chunks),
        sum(memory) if memory else np.nan,
        sum(each.nodes for each in chunks),
        float(len({str(each[1:]) for each in chunks}) > 1),
    )


def _words(names: list[tuple[str, ...]], sign: str) -> str | None:
    """Return the names that every node of a request must have; none where nodes are to have different ones."""
    words = names[0] if len(set(names)) == 1 else ()
    return sign.join(dict.fromkeys(words)) or None


def _megabytes(text: str) -> float:
    """Return the MB of a size such as ``8gb``; a plain number is of bytes, a word (w) of eight."""
    found = _SIZE.fullmatch(text)
    if found is None:
        return np.nan
    return float(found[1]) * 1024.0 ** _POWERS[found[2].lower()] * (8.0 if found[3].lower() == "w" else 1.0) / _MEGABYTE
