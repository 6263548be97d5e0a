# SPDX-License-Identifier: BSD-3-Clause
"""What the command that submitted a job says: the column SubmitLine, of Slurm 21.08 and later.

sacct prints the arguments with blanks between them and no quotation marks, so options are read up to the script or to
the command of ``--wrap``, which may hold options of other commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPTION = re.compile(r"--dependency(?:=|\Z)|-d")
_DEPENDENCY = re.compile(r"(?:after\w*|singleton|expand)(?:[:+,?]\S*)?")
_TAKES_VALUE = frozenset("aAbBcCdDeFGiJLMmNnopqrStTwx")
"""Letters of options that take a value."""

_FLAGS = """
contiguous exclusive get-user-env help hold ignore-pbs immediate kill-on-invalid-dep-flag label multi-prog no-kill
no-requeue no-shell nice overcommit oversubscribe overlap parsable propagate pty quiet reboot requeue share spread-job
test-only unbuffered usage use-min-nodes verbose version wait
"""
_TAKES_NONE = frozenset(_FLAGS.split())
"""Long options behind which no value stands, or only behind an equality sign."""

ASKS = r"--exclusive|--begin|--ntasks-per-node|[^!-~]-b"
"""What a command has in it of which ``asks_of`` may say something; blanks are among what is not from ! to ~."""

DEPENDS = r"--dependency|[^!-~]-d"
"""What a command has in it of which ``dependency_of`` may say something; the search is much faster than reading it."""

_COUNT = re.compile(r"[0-9]{1,9}")


class Asks(NamedTuple):
    """What a command asks for of nodes.

    Parameters
    ----------
    is_exclusive : float
        1 where it asks for nodes alone, else 0.
    has_begin : float
        1 where it says when the job may begin, else 0.
    most_cores : float
        Processors of a node at most: tasks a node, times processors of a task; NaN where it does not say it.
    """

    is_exclusive: float = 0.0
    has_begin: float = 0.0
    most_cores: float = float("nan")


def dependency_of(line: str) -> str | None:
    """Return what ``--dependency`` or ``-d`` says in a command; None where it says nothing.

    Examples
    --------
    >>> dependency_of("sbatch -p batch --dependency=afterok:17 run.sh -d 3")
    'afterok:17'
    >>> dependency_of("sbatch --wrap sbatch -d afterok:17 next.sh")
    """
    found = None
    for word, following in _options(line):
        option = _OPTION.match(word)
        value = word[option.end() :].lstrip("=") if option else ""
        value = value or following
        if option and _DEPENDENCY.fullmatch(value.strip("'\"")):
            found = value.strip("'\"")
    return found


def asks_of(line: str) -> Asks:
    """Return what a command asks for of nodes; ``--exclusive=user`` shares them.

    Examples
    --------
    >>> asks_of("sbatch -b 18:00 --exclusive -n 8 --ntasks-per-node=4 -c2 run.sh")
    Asks(is_exclusive=1.0, has_begin=1.0, most_cores=8.0)
    """
    is_exclusive = has_begin = 0.0
    tasks, cores = "", "1"
    for word, following in _options(line):
        name, _, value = word.partition("=")
        value = value or following
        if name == "--exclusive":
            is_exclusive = float(not value)
        elif name == "--begin" or word.startswith("-b"):
            has_begin = 1.0
        elif name == "--ntasks-per-node":
            tasks = value
        elif name == "--cpus-per-task":
            cores = value
        elif word.startswith("-c"):
            cores = word[2:].lstrip("=") or following
    is_told = _COUNT.fullmatch(tasks) and _COUNT.fullmatch(cores)
    most = float(tasks) * float(cores) if is_told else float("nan")
    return Asks(is_exclusive, has_begin, most if most > 0 else float("nan"))


def _options(line: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a command, each with the next word where that is its value, else with nothing."""
    words = line.split()[1:]
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if ends_options(word):
            return
        following = ""
        if needs_value(word):
            following = words[place] if place < len(words) else ""
            place += 1
        yield word, following


def ends_options(word: str) -> bool:
    """Whether a word of a command is none of its options, and those behind it are none either."""
    return not word.startswith("-") or word.startswith("--wrap")


def needs_value(word: str) -> bool:
    """Whether the value of an option is the next word."""
    if word.startswith("--"):
        return "=" not in word and word[2:] not in _TAKES_NONE
    return len(word) == 2 and word[1] in _TAKES_VALUE
