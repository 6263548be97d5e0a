# SPDX-License-Identifier: BSD-3-Clause
"""What a job depended on, from the command that submitted it: the column SubmitLine, of Slurm 21.08 and later.

sacct prints the arguments with blanks between them and no quotation marks, so options are read up to the script or to
the command of ``--wrap``, which may hold options of other commands.
"""

from __future__ import annotations

import re

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


def dependency_of(line: str) -> str | None:
    """Return what ``--dependency`` or ``-d`` says in a command; None where it says nothing.

    Examples
    --------
    >>> dependency_of("sbatch -p batch --dependency=afterok:17 run.sh -d 3")
    'afterok:17'
    >>> dependency_of("sbatch --wrap sbatch -d afterok:17 next.sh")
    """
    words = line.split()[1:]
    found = None
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if not word.startswith("-") or word.startswith("--wrap"):
            break
        option = _OPTION.match(word)
        value = word[option.end() :].lstrip("=") if option else ""
        if _needs_value(word):
            value = value or (words[place] if place < len(words) else "")
            place += 1
        if option and _DEPENDENCY.fullmatch(value.strip("'\"")):
            found = value.strip("'\"")
    return found


def _needs_value(word: str) -> bool:
    """Whether the value of an option is the next word."""
    if word.startswith("--"):
        return "=" not in word and word[2:] not in _TAKES_NONE
    return len(word) == 2 and word[1] in _TAKES_VALUE
