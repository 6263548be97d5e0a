# SPDX-License-Identifier: BSD-3-Clause
"""How people spell names: case does not matter, ``_`` and ``-`` are one; what was meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from swftools.errors import ParameterError


def folded(name: str) -> str:
    """Return a name without what does not matter in it.

    Examples
    --------
    >>> folded("Conservative_Fixed")
    'conservative-fixed'
    """
    return name.casefold().replace("_", "-")


def as_known(name: str, known: Iterable[str]) -> str:
    """Return the known name that is meant, as it is registered; the name as it is where none is, or several are.

    A name that is known exactly is itself. ``name`` is without ``module:``.

    Examples
    --------
    >>> as_known("EASY_in_time", ["easy", "easy-in-time"]), as_known("avgw", ["avgW", "AVGW"])
    ('easy-in-time', 'avgw')
    """
    known = list(known)
    if name in known:
        return name
    alike = [each for each in known if folded(each) == folded(name)]
    return alike[0] if len(alike) == 1 else name


def require_known(told: str, name: str, known: Collection[str]) -> str:
    """Return the known name that is meant, as ``as_known``; if none is, refuse it by a message that begins as told.

    Raises
    ------
    ParameterError
        There is none of that name; the message lists those that there are.

    Examples
    --------
    >>> require_known("no colour 'Red'", "Red", ["red"])
    'red'
    >>> require_known("no colour 'rad'", "rad", ["red", "blue"])
    Traceback (most recent call last):
        ...
    swftools.errors.ParameterError: no colour 'rad'; there are: red, blue; did you mean red?
    """
    found = as_known(name, known)
    if found not in known:
        raise ParameterError(f"{told}; there are: {', '.join(known)}{did_you_mean([name], known)}")
    return found


def respelled(text: str, known: Iterable[str]) -> str:
    """Return ``module:name`` or ``name`` with the name as it is known; the module stays as it is.

    Examples
    --------
    >>> respelled("my_policies:Patient", ["patient"])
    'my_policies:patient'
    """
    module, colon, name = text.rpartition(":")
    return f"{module}{colon}{as_known(name, known)}"


def with_known_name(text: str, known: Iterable[str]) -> str:
    """Return ``NAME:KEY=VALUE`` with the name as it is known, and everything behind it as it is.

    Examples
    --------
    >>> with_known_name("Slurm:time_zone=Europe/Berlin", ["slurm"])
    'slurm:time_zone=Europe/Berlin'
    """
    name, colon, rest = text.partition(":")
    return f"{as_known(name.strip(), known)}{colon}{rest}" if not colon or "=" in rest else text


def did_you_mean(names: Iterable[object], known: Iterable[object]) -> str:
    """Return the end of a message about unknown names: known names that are similar, if any.

    A part of a long name is similar to it as well, if there are at most two such names.

    Examples
    --------
    >>> did_you_mean(["eazy"], ["easy", "fcfs"]), did_you_mean(["KTH"], ["KTH-SP2-1996-2.1-cln"])
    ('; did you mean easy?', '; did you mean KTH-SP2-1996-2.1-cln?')
    """
    import difflib  # noqa: PLC0415 (takes a while, and names are seldom misspelled)

    spelled: dict[str, list[str]] = {}
    for each in known:
        spelled.setdefault(folded(str(each)), []).append(str(each))
    near: list[str] = []
    for name in map(folded, map(str, names)):
        alike = difflib.get_close_matches(name, spelled, 1)
        longer = [fold for fold in spelled if len(name) >= 3 and name in fold]
        near += [match for fold in alike or (longer if len(longer) <= 2 else []) for match in spelled[fold]]
    return f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
