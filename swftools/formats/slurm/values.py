# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm says in words of its own: TRES, ids of arrays, exit codes, lists of hosts, odd numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.meanings import said_by_word
from swftools.kernel import FloatArray

MEGABYTE = 1024.0**2
PER_CPU = 2.0**31
"""Megabytes that, added to a size, mean that it is one of each CPU: the high bit of 32, or of 64, left set."""

SEVERAL_ELEMENTS = "elements of arrays that had not started, of which a line stands for several"
"""The name of an anomaly."""

TYPED_GPUS = "gres/gpu:"
"""What stands before the type of GPUs in a list of resources."""

_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]*)?)([KMGTP]?)", re.IGNORECASE)
_ELEMENTS = re.compile(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+))?)?")
_MARKED = re.compile(r"([0-9]{19,20})M?[cn]?")
_HEX = re.compile(r"0x[0-9A-Fa-f]+")
_EXIT = re.compile(r"([0-9]+):([0-9]+)")


class Tres(NamedTuple):
    """Trackable resources: counts, memory in bytes, energy in J; NaN where they are not named."""

    cpus: float = np.nan
    nodes: float = np.nan
    gpus: float = np.nan
    memory: float = np.nan
    energy: float = np.nan


def is_no_number(values: FloatArray) -> FloatArray:
    """Return numbers with NaN for those that Slurm has for none and for infinite: the two largest of 32 and 64 bits."""
    is_none = ((values >= 4294967294.0) & (values <= 4294967295.0)) | (values >= 2.0**64 - 4096.0)
    return np.where(is_none, np.nan, values)


def read_tres(text: str) -> Tres:
    """Return what a list such as ``billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=400G,node=1`` says.

    GPUs are those of ``gres/gpu``, or else the sum over their types. An amount without a unit is of megabytes where it
    is one of memory.
    """
    amounts: dict[str, float] = {}
    for item in text.split(","):
        name, _, amount = item.partition("=")
        found = _AMOUNT.fullmatch(amount.strip())
        if found:
            unit = 1024.0 ** _POWERS.get(found[2].upper(), 0)
            if name.strip() == "mem" and not found[2]:
                unit = MEGABYTE
            amounts.setdefault(name.strip().lower(), float(found[1]) * unit)
    typed = [amount for name, amount in amounts.items() if name.startswith("gres/gpu:")]
    gpus = amounts.get("gres/gpu", sum(typed) if typed else np.nan)
    cpus, nodes, memory, energy = (amounts.get(name, np.nan) for name in ("cpu", "node", "mem", "energy"))
    return Tres(cpus, nodes, gpus, memory, energy)


def gpu_type_of(text: str) -> str | None:
    """Return the type of the GPUs in a list of resources; None where it tells none, or several, as all are needed then.

    Examples
    --------
    >>> gpu_type_of("cpu=4,gres/gpu:a100=2,gres/gpu=2")
    'a100'
    """
    found = [item.removeprefix(TYPED_GPUS).partition("=")[0] for item in text.split(",") if item.startswith(TYPED_GPUS)]
    return found[0] if len(found) == 1 and found[0] else None


def gpu_types_of(lists: pa.DictionaryArray) -> pa.LargeStringArray:
    """Return the type of the GPUs in each list of resources."""
    if not pc.any(pc.match_substring(lists.dictionary, TYPED_GPUS)).as_py():
        return pa.nulls(len(lists), pa.large_string())
    return said_by_word(lists, gpu_type_of)


def memory_per_cpu(megabytes: FloatArray) -> FloatArray:
    """Return the megabytes that the high bit of 32 marks as those of each CPU; NaN where there is no such bit."""
    return np.where(megabytes >= PER_CPU, megabytes - PER_CPU, np.nan)


def unmarked(megabytes: int) -> float:
    """Return the megabytes of each CPU of a whole number that a high bit marks; NaN where none does."""
    return next((float(megabytes - bit) for bit in (1 << 63, 1 << 31) if megabytes >= bit), np.nan)


def read_energy(text: str) -> tuple[float]:
    """Return the joules of an amount such as ``1.25M``, by powers of 1000 as sacct has them; NaN if it is none.

    Examples
    --------
    >>> read_energy("1.25M"), read_energy("80"), read_energy("5 kWh")
    ((1250000.0,), (80.0,), (nan,))
    """
    found = _AMOUNT.fullmatch(text.strip())
    return (float(found[1]) * 1000.0 ** _POWERS.get(found[2].upper(), 0) if found else np.nan,)


def read_marked(text: str) -> tuple[float]:
    """Return the megabytes of each CPU of a size such as ``9223372036854778808M``; NaN if it is none."""
    found = _MARKED.fullmatch(text)
    return (unmarked(int(found[1])) if found and int(found[1]) >= 1 << 63 else np.nan,)


def count_elements(job_id: str) -> int:
    """Return how many elements of an array an id such as ``7_[1-3,9-15:2%4]`` or ``7_[0x1F8]`` stands for."""
    inside = job_id.partition("[")[2].partition("]")[0].partition("%")[0]
    if inside.startswith("0x"):  # a bit for each element
        return max(int(inside, 16).bit_count() if _HEX.fullmatch(inside) else 1, 1)
    count = 0
    for part in inside.split(","):
        if found := _ELEMENTS.fullmatch(part.strip()):
            first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
            count += len(range(first, last + 1, max(step, 1))) if last - first < 1 << 32 else 0
    return max(count, 1)


def read_exit(text: str) -> tuple[float, float]:
    """Return exit status and signal of ``1:0``; NaN where it is none."""
    found = _EXIT.fullmatch(text.strip())
    return (float(found[1]), float(found[2])) if found else (np.nan, np.nan)


def count_hosts(text: str) -> tuple[float]:
    """Return how many hosts a list such as ``n[001-004,9],login1`` names; NaN without the library, or if it is none."""
    try:
        import hostlist  # noqa: PLC0415 (it need not be there)
    except ImportError:
        return (np.nan,)
    try:
        return (float(len(hostlist.expand_hostlist(text))),)
    except hostlist.BadHostlist:
        return (np.nan,)
