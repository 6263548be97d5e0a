# SPDX-License-Identifier: BSD-3-Clause
"""Values of the options of ``sbatch``: counts, times, amounts of memory, arrays, GPUs, lists of hosts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from swftools.errors import JobScriptError
from swftools.job_scripts.given import Given
from swftools.job_scripts.source import LARGEST

UNLIMITED = ("unlimited", "infinite", "-1")
LARGEST_INDEX = 4_000_000
"""Of an array: Slurm takes no ``MaxArraySize`` beyond."""

MOST_HOSTS = 100_000
"""That a list may name, each as often as it is there: Slurm has fewer."""

LONGEST_NAME, MOST_BRACKETS = 255, 8
"""Characters of a host's name outside of brackets, and brackets in it."""

_COUNT = re.compile(r"\s*\+?([0-9]{1,9})")
_NODES = re.compile(r"\s*([0-9]{1,7})([km]?)(?:-([0-9]{1,7})([km]?))?", re.IGNORECASE)
_THOUSANDS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_DAYS = re.compile(r"([0-9]{1,6})-([0-9]{0,6})(?::([0-9]{1,6}))?(?::([0-9]{1,6}))?")
_CLOCK = re.compile(r"([0-9]{1,9})(?::([0-9]{1,6}))?(?::([0-9]{1,6}))?")
_MEMORY = re.compile(r"([0-9]{1,12})(?:([kmgt])b?)?", re.IGNORECASE)
_KIB = {"k": 1, "m": 1024, "": 1024, "g": 1024**2, "t": 1024**3}
_INDICES = re.compile(r"([0-9]{1,8})(?:-([0-9]{1,8})(?::([0-9]{1,8}))?)?")
_NUMBER = re.compile(r"([0-9]+)([kmg]?)", re.IGNORECASE)
_HOSTS = re.compile(r"(?:[^\[\],\s]|\[[^\[\]]*\])+")
_BRACKET = re.compile(r"\[([^\]]*)\]")
_DIGITS = 9
"""Of a number, at most."""


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


def short_number(option: str, given: Given) -> int:
    """Return a number of digits alone, which are not more than any machine needs."""
    if not given.value.isdecimal() or len(given.value) > _DIGITS:
        raise given.refused(f"{option}={given.value:.40} is no number up to {10**_DIGITS - 1:,}", "mend the number")
    return int(given.value)


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
    named = bytearray(LARGEST_INDEX + 1)
    total = 0
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
        more = len(range(first, last + 1, step))
        total += more
        if total > LARGEST_INDEX + 1:
            raise given.refused(f"--array={given.value} has more indices than Slurm takes", "name each once")
        named[first : last + 1 : step] = b"\1" * more
    return named.count(1)


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
    said = _NUMBER.fullmatch(pieces[-1])
    if "" in pieces or "=" in part or (said and len(said[1]) > _DIGITS):
        raise given.refused(
            f"--{option}={given.value} is no number of GPUs", f"write such as --{option}={'gpu:' * (option == 'gres')}2"
        )
    kind = ":".join(pieces[:-1] if said else pieces)
    found[kind] = max(found.get(kind, 0), int(said[1]) * _THOUSANDS[said[2].lower()] if said else 1)


def hosts(option: str, given: Given) -> int:
    """Return how many hosts a list has: ``n1,n[3-5,7]``; or the file that is named, if there is a slash in it."""
    is_file = option == "nodefile" or "/" in given.value
    text = _text_of(option, given) if is_file else given.value
    names: set[str] = set()
    room = MOST_HOSTS
    for found in _HOSTS.finditer(text):
        parts = _BRACKET.split(found[0])
        ranges = [_ranges(part, option, given) for part in parts[1::2]]
        room -= _size(parts, ranges, option, given)
        if room < 0:
            raise given.refused(f"--{option}={given.value:.200} has more nodes than Slurm", "list fewer")
        names.update(_expanded(parts, ranges))
    if not names or not {"[", "]"}.isdisjoint(_HOSTS.sub("", text)):
        raise _no_list(option, given)
    return len(names)


def _no_list(option: str, given: Given) -> JobScriptError:
    return given.refused(f"--{option}={given.value:.200} is no list of nodes", f"write such as --{option}=n[1-4,7]")


def _text_of(option: str, given: Given) -> str:
    """Return what a file has; devices and pipes are none, since they may never end."""
    problem, remedy = f"--{option}={given.value} cannot be read", "name a file with names of nodes"
    path = Path(given.value)
    if not path.is_file():
        raise given.refused(problem, remedy)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise given.refused(problem, remedy) from error
    if len(data) > LARGEST:
        raise given.refused(f"--{option}={given.value} is larger than 4 MiB", remedy)
    return data.decode("utf-8", "surrogateescape")


def _size(parts: Sequence[str], ranges: Sequence[Sequence[tuple[range, int]]], option: str, given: Given) -> int:
    """Return how many hosts a name with brackets has, or more than there may be, before any is made."""
    if sum(map(len, parts[::2])) > LONGEST_NAME or len(ranges) > MOST_BRACKETS:
        raise _no_list(option, given)
    return math.prod(sum(len(numbers) for numbers, _ in bracket) for bracket in ranges)


def _expanded(parts: Sequence[str], ranges: Sequence[Sequence[tuple[range, int]]]) -> Iterator[str]:
    """Yield the hosts of a name with brackets."""
    numbers = [[f"{number:0{width}}" for each, width in bracket for number in each] for bracket in ranges]
    for chosen in itertools.product(*numbers):
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(parts[::2], chosen, fillvalue="")))


def _ranges(text: str, option: str, given: Given) -> list[tuple[range, int]]:
    """Return the numbers in a bracket, each range with as many digits as its first number has."""
    found = []
    for part in text.split(","):
        first, hyphen, last = part.partition("-")
        last = last if hyphen else first
        are_numbers = all(each.isdecimal() and len(each) <= _DIGITS for each in (first, last))
        if not are_numbers or int(first) > int(last):
            raise _no_list(option, given)
        found.append((range(int(first), int(last) + 1), len(first)))
    return found
