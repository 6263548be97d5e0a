# SPDX-License-Identifier: BSD-3-Clause
"""What jobs of Grid Engine asked for: the text that accounting files call category, as in ``-l h_rt=3600 -pe mpi 16``.

References
----------
sge_types(5) and complex(5) of Grid Engine (times, memory, ranges), submit(1) (-l, -pe).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.meanings import by_word
from swftools.kernel import FloatArray

_LIST = re.compile(r"(?<!\S)-l +(\S+)")
_SLOTS = re.compile(r"(?<!\S)-pe +\S+ +(\S+)")
_RANGE = re.compile(r"([0-9]*)(-?)([0-9]*)")
_MEMORY = re.compile(r"([0-9]*\.?[0-9]+)([kKmMgGtT]?)")
_KB = {"": 1 / 1024, "k": 1000 / 1024, "m": 1000**2 / 1024, "g": 1000**3 / 1024, "t": 1000**4 / 1024}
_KB |= {"K": 1.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3}
_REMEMBERED = 1 << 16
"""Categories that are remembered: the pieces of a log have the same ones."""

_GPUS = ("gpu", "gpus", "ngpus")


class Wish(NamedTuple):
    """What a job asked for, NaN for what it did not.

    Parameters
    ----------
    hard_limit, soft_limit : float
        h_rt and s_rt, s.
    memory : float
        h_vmem, KB of a slot.
    gpus : float
        As it is written.
    fewest, most : float
        Slots of the parallel environment.
    unreadable : float
        How many of these are written in a way that is not read.
    """

    hard_limit: float = np.nan
    soft_limit: float = np.nan
    memory: float = np.nan
    gpus: float = np.nan
    fewest: float = np.nan
    most: float = np.nan
    unreadable: float = 0.0


def wishes(categories: pa.LargeStringArray) -> dict[str, FloatArray]:
    """Return what each category asks for, by the names of ``Wish``."""
    return dict(zip(Wish._fields, by_word(categories, read_category, Wish()), strict=True))


@lru_cache(_REMEMBERED)
def read_category(category: str) -> Wish:
    """Return what a category asks for.

    Examples
    --------
    >>> read_category("-u ann -l h_rt=1:30:00,gpu=2,h_vmem=2G -pe mpi 4-16")[:6]
    (5400.0, nan, 2097152.0, 2.0, 4.0, 16.0)
    """
    asked: dict[str, str] = {}
    for words in _LIST.findall(category):
        for word in words.split(","):
            name, _, value = word.partition("=")
            asked.setdefault(name, value)
    gpus = next((asked[name] for name in _GPUS if name in asked), None)
    slots = _SLOTS.search(category)
    read = [_seconds(asked.get("h_rt")), _seconds(asked.get("s_rt")), _kilobytes(asked.get("h_vmem")), _count(gpus)]
    fewest, most = _slots(slots[1] if slots else None)
    read += [fewest, most]
    unreadable = float(sum(value is None for value in read))
    return Wish._make([*(np.nan if value is None else value for value in read), unreadable])


def _seconds(text: str | None) -> float | None:
    """Return a time, ``[[HH:]MM:]SS`` with parts left empty for 0; NaN for none, None if it is unreadable."""
    if text is None or text.upper() == "INFINITY":
        return np.nan
    parts = text.split(":")
    if len(parts) > 3 or not any(parts) or not all(part.isascii() and (part.isdigit() or not part) for part in parts):
        return None
    total = 0.0
    for part in parts:
        total = total * 60.0 + float(part or 0)
    return total


def _kilobytes(text: str | None) -> float | None:
    """Return a memory in KB: small letters are powers of 1000, large ones of 1024."""
    if text is None or text.upper() == "INFINITY":
        return np.nan
    found = _MEMORY.fullmatch(text)
    if not found:
        return None
    unit = found[2]
    return float(found[1]) * _KB[unit]


def _count(text: str | None) -> float | None:
    """Return a number of things; a resource that is only wished for is one."""
    if text is None:
        return np.nan
    if text.upper() in ("", "TRUE"):
        return 1.0
    return float(text) if text.isascii() and text.isdigit() else None


def _slots(text: str | None) -> tuple[float | None, float | None]:
    """Return the fewest and the most slots of a range: ``8``, ``4-16``, ``-16``, ``4-``; of several all together."""
    if text is None:
        return np.nan, np.nan
    fewest: list[float] = []
    most: list[float] = []
    for word in text.split(","):
        found = _RANGE.fullmatch(word)
        if not found or not (found[1] or found[3]):
            return None, None
        low = float(found[1]) if found[1] else 1.0
        fewest.append(low)
        most.append(float(found[3]) if found[3] else np.inf if found[2] else low)
    return min(fewest), max(most) if np.isfinite(max(most)) else np.nan
