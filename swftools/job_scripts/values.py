# SPDX-License-Identifier: BSD-3-Clause
"""Values of the options of ``sbatch``: counts, times, amounts of memory, arrays, GPUs, lists of hosts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from swftools.job_scripts.given import Given

UNLIMITED = ("unlimited", "infinite", "-1")
LARGEST_INDEX = 4_000_000
"""Of an array: Slurm takes no ``MaxArraySize`` beyond."""

MOST_HOSTS = 100_000
"""That a list may name: Slurm has fewer."""

_COUNT = re.compile(r"\s*\+?([0-9]{1,9})")
_NODES = re.compile(r"\s*([0-9]{1,7})([km]?)(?:-([0-9]{1,7})([km]?))?", re.IGNORECASE)
_THOUSANDS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_DAYS = re.compile(r"([0-9]{1,6})-([0-9]{0,6})(?::([0-9]{1,6}))?(?::([0-9]{1,6}))?")
_CLOCK = re.compile(r"([0-9]{1,9})(?::([0-9]{1,6}))?(?::([0-9]{1,6}))?")
_MEMORY = re.compile(r"([0-9]{1,12})(?:([kmgt])b?)?", re.IGNORECASE)
_KIB = {"k": 1, "m": 1024, "": 1024, "g": 1024**2, "t": 1024**3}
_INDICES = re.compile(r"([0-9]{1,8})(?:-([0-9]{1,8})(?::([0-9]{1,8}))?)?")
_NUMBER = re.compile(r"([0-9]{1,6})([kmg]?)", re.IGNORECASE)
_HOSTS = re.compile(r"((?:[^\[\],\s]|\[[^\]]*\])+)")
_BRACKET = re.compile(r"\[([^\]]*)\]")


class Nodes(NamedTuple):
    """A number of nodes."""

    least: int
    most: int


def count(option: str, given: Given) -> int:
    """Return a whole number from 1 on."""
    found = _COUNT.fullmatch(given.value)
    if found is None or int(found[1]) < 1:
        raise given.refused(f"--{option}={given.value} is no whole number from 1 on", f"write such as --{option}=4")
    return int(found[1])


def node_count(given: Given) -> Nodes:
    """Return how many nodes are wanted: ``4``, ``2-4``, ``1k``."""
    found = _NODES.fullmatch(given.value)
    if found is None:
        raise given.refused(f"--nodes={given.value} is no number of nodes", "write such as --nodes=4 or --nodes=2-4")
    least = int(found[1]) * _THOUSANDS[found[2].lower()]
    most = int(found[3]) * _THOUSANDS[found[4].lower()] if found[3] else least
    if not 1 <= least <= most:
        raise given.refused(f"--nodes={given.value} is no range from 1 on", "write the least number first, as in 2-4")
    return Nodes(least, most)


def time_limit(option: str, given: Given) -> float:
    """Return a time in whole minutes, s: ``30`` (minutes), ``5:30``, ``1:30:00``, ``1-12``, ``1-12:30:00``."""
    text = given.value
    if text.lower() in UNLIMITED:
        return math.inf
    if found := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    elif found := _CLOCK.fullmatch(text):
        parts = [int(part) for part in found.groups() if part is not None]
        days, seconds = 0, parts[-1] if len(parts) > 1 else 0
        hours = parts[0] if len(parts) > 2 else 0
        minutes = parts[1] if len(parts) > 2 else parts[0]
    else:
        raise given.refused(
            f"--{option}={text} is no time",
            "write minutes, minutes:seconds, hours:minutes:seconds or days-hours:minutes:seconds",
        )
    whole = days * 86_400 + hours * 3600 + minutes * 60 + seconds
    return math.ceil(whole / 60) * 60.0 if whole else math.inf


def memory(option: str, given: Given) -> int:
    """Return an amount of memory, MiB, rounded up: ``4000`` (MiB), ``4G``, ``1500K``; 0 is all that a node has."""
    found = _MEMORY.fullmatch(given.value)
    if found is None:
        raise given.refused(f"--{option}={given.value} is no memory", f"write such as --{option}=4G, without a point")
    return math.ceil(int(found[1]) * _KIB[(found[2] or "").lower()] / 1024)


def array_size(given: Given) -> int:
    """Return how many indices an array has: ``0-9``, ``1,3,5-7``, ``0-10:3``, ``0-9%2``."""
    indices: set[int] = set()
    text, _, at_once = given.value.partition("%")
    is_right = not at_once or at_once.isdecimal()
    for part in text.split(","):
        found = _INDICES.fullmatch(part)
        first, last, step = (int(each) if each else None for each in found.groups()) if found else (None, None, None)
        last, step = first if last is None else last, 1 if step is None else step
        if first is None or last is None or not first <= last <= LARGEST_INDEX or step < 1 or not is_right:
            raise given.refused(
                f"--array={given.value} is no list of indices", "write such as --array=0-9, 1,3,5 or 0-9%2"
            )
        named = range(first, last + 1, step)
        if len(indices) + len(named) > LARGEST_INDEX + 1:
            raise given.refused(f"--array={given.value} has more indices than Slurm takes", "name each once")
        indices.update(named)
    return len(indices)


def gpus(option: str, given: Given) -> int:
    """Return a number of GPUs, of all types together: ``4``, ``a100``, ``a100:2,v100:1``."""
    found: dict[str, int] = {}
    for part in given.value.split(","):
        _add_gpus(found, option, part, given)
    return sum(found.values())


def gres_gpus(given: Given) -> int:
    """Return the GPUs of a list of generic resources: ``gpu``, ``gpu:2``, ``gpu:a100:2,tmp:3``; others are no GPUs."""
    found: dict[str, int] = {}
    for part in given.value.split(","):
        name, colon, rest = part.removeprefix("gres:").partition(":")
        if not name or "=" in part or "/" in name:
            raise given.refused(f"--gres={given.value} is no list of resources", "write such as --gres=gpu:2")
        if name.lower() == "gpu":
            _add_gpus(found, "gres", rest if colon else "1", given)
    return sum(found.values())


def _add_gpus(found: dict[str, int], option: str, part: str, given: Given) -> None:
    """Add a type with its number, or 1; of the same one that comes again the larger number counts."""
    pieces = part.split(":")
    if "" in pieces or "=" in part:
        raise given.refused(
            f"--{option}={given.value} is no number of GPUs", f"write such as --{option}={'gpu:' * (option == 'gres')}2"
        )
    said = _NUMBER.fullmatch(pieces[-1])
    kind = ":".join(pieces[:-1] if said else pieces)
    found[kind] = max(found.get(kind, 0), int(said[1]) * _THOUSANDS[said[2].lower()] if said else 1)


def hosts(option: str, given: Given) -> int:
    """Return how many hosts a list has: ``n1,n[3-5,7]``; or the file that is named, if there is a slash in it."""
    text = given.value
    if option == "nodefile" or "/" in text:
        try:
            text = Path(text).read_text(encoding="utf-8", errors="surrogateescape")
        except (OSError, ValueError) as error:
            raise given.refused(
                f"--{option}={given.value} cannot be read", "name a file with names of nodes"
            ) from error
    names: set[str] = set()
    for name in _HOSTS.findall(text):
        names.update(_expanded(name, option, given))
        if len(names) > MOST_HOSTS:
            break
    if not 1 <= len(names) <= MOST_HOSTS or text.count("[") != text.count("]"):
        raise given.refused(f"--{option}={given.value} is no list of nodes", f"write such as --{option}=n[1-4,7]")
    return len(names)


def _expanded(name: str, option: str, given: Given) -> Iterator[str]:
    """Yield the hosts of a name with brackets."""
    parts = _BRACKET.split(name)
    numbers = [list(_numbers(part, option, given)) for part in parts[1::2]]
    if math.prod(map(len, numbers)) > MOST_HOSTS:
        raise given.refused(f"--{option}={given.value} has more nodes than Slurm", "list fewer")
    for chosen in itertools.product(*numbers):
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(parts[::2], chosen, fillvalue="")))


def _numbers(text: str, option: str, given: Given) -> Iterator[str]:
    """Yield the numbers in a bracket, with as many digits as the first of a range."""
    for part in text.split(","):
        first, hyphen, last = part.partition("-")
        last = last if hyphen else first
        if not (first.isdecimal() and last.isdecimal()) or not int(first) <= int(last) < int(first) + MOST_HOSTS:
            raise given.refused(f"--{option}={given.value} is no list of nodes", f"write such as --{option}=n[1-4,7]")
        yield from (f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1))
