# SPDX-License-Identifier: BSD-3-Clause
"""Words of a command line, told apart as ``getopt_long`` of the C library does."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from swftools.job_scripts.given import Given, refused
from swftools.parameters import did_you_mean

NONE, NEEDED, OPTIONAL = 0, 1, 2
"""What an option takes: nothing, a value, or a value that is joined to it."""


class Grammar(NamedTuple):
    """The options of a program.

    Parameters
    ----------
    program : str
        What messages call it.
    takes : mapping of str to int
        What each option takes, by its name: a letter, or several for a long one.
    long_of : mapping of str to str
        The name that a letter, or another spelling, stands for.
    """

    program: str
    takes: Mapping[str, int]
    long_of: Mapping[str, str]


def words_of_shell(prefix: str, text: str, where: str, *, has_comments: bool = False) -> list[str]:
    """Return the words of what stands behind a prefix, told apart as a shell does; what follows ``#`` may be a comment.

    Raises
    ------
    JobScriptError
        A quote is not closed, or a backslash ends the line.
    """
    try:
        return shlex.split(text, comments=has_comments)
    except ValueError as error:
        raise refused(where, f"{prefix} cannot be read ({error})", "close the quote") from error


def options_of(words: Sequence[str], grammar: Grammar, where: str) -> Iterator[tuple[str, Given]]:
    """Yield options with their values, in order; an option without a value has an empty one.

    Raises
    ------
    JobScriptError
        An option is not known, is cut short so that it may be several, lacks its value or has one too many; or a word
        is no option.
    """
    rest = deque(words)
    while rest:
        word = rest.popleft()
        if word == "--" and not rest:
            return
        if not word.startswith("-") or word in ("-", "--"):
            raise refused(where, f"{word!r} is no option of {grammar.program}", "quote values that have spaces")
        if word.startswith("--"):
            yield _long(word, rest, grammar, where)
        else:
            yield from _short(word, rest, grammar, where)


def _long(word: str, rest: deque[str], grammar: Grammar, where: str) -> tuple[str, Given]:
    said, joined, value = word[2:].partition("=")
    name = _whole_name(said, grammar, where)
    takes = grammar.takes[name]
    if takes == NONE and joined:
        raise refused(where, f"--{name} takes no value", f"write --{name}")
    if takes == NEEDED and not joined:
        value = _next(f"--{name}", rest, where)
    return grammar.long_of.get(name, name), Given(value, where)


def _whole_name(said: str, grammar: Grammar, where: str) -> str:
    """Return the long name that is meant: itself, or the only one that begins so."""
    names = [name for name in grammar.takes if len(name) > 1]
    if said in names:
        return said
    found = [name for name in names if said and name.startswith(said)]
    if len({grammar.long_of.get(name, name) for name in found}) == 1:
        return found[0]
    if found:
        meant = ", ".join(f"--{name}" for name in found)
        raise refused(where, f"--{said} may be several options", f"write one of {meant}")
    raise refused(
        where,
        f"{grammar.program} has no option --{said}",
        f"leave it out, or mend its name{did_you_mean([said], names)}",
    )


def _short(word: str, rest: deque[str], grammar: Grammar, where: str) -> Iterator[tuple[str, Given]]:
    for at, letter in enumerate(word[1:], 1):
        if letter not in grammar.takes:
            raise refused(where, f"{grammar.program} has no option -{letter}", "leave it out, or mend its name")
        takes = grammar.takes[letter]
        value = "" if takes == NONE else word[at + 1 :]
        if takes == NEEDED and not value:
            value = _next(f"-{letter}", rest, where)
        yield grammar.long_of.get(letter, letter), Given(value, where)
        if takes != NONE:
            return


def _next(option: str, rest: deque[str], where: str) -> str:
    """Take the value of an option, which is the next word."""
    if not rest:
        raise refused(where, f"{option} lacks its value", f"write it behind {option}")
    return rest.popleft()
