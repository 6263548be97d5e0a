# SPDX-License-Identifier: BSD-3-Clause
"""Several things in one picture: the schedules of several policies, and the log beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swftools.errors import ParameterError
from swftools.parameters.as_text import write_entry
from swftools.simulator.metrics.measures import measure
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

OF = "of"
"""The column of a table that says whose rows are: of the log, or of a policy."""

LOGGED = "logged"
"""What is called by that, beside the names of policies, what the log says itself."""


def labelled(subject: object) -> dict[str, Any] | None:
    """Return several things by what each is called; None if it is one thing, and no list, tuple or mapping of such.

    A trace is called "logged", a schedule by its policy, with the options in which it differs from others of that
    policy.

    Raises
    ------
    ParameterError
        There is none, one is neither a trace nor a schedule, or two are equal in all that names them.
    """
    if not isinstance(subject, (list, tuple, Mapping)):
        return None
    things = list(subject.values() if isinstance(subject, Mapping) else subject)
    if not things or not all(isinstance(each, (Trace, Schedule)) for each in things):
        wrong = next((type(each).__name__ for each in things if not isinstance(each, (Trace, Schedule))), "nothing")
        raise ParameterError(f"several things in one picture are traces and schedules; there is {wrong} among them")
    if isinstance(subject, Mapping):
        return {str(name): each for name, each in subject.items()}
    names = [_name_of(each, things) for each in things]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two are called {twice!r}; give a mapping of names: {{'first': ..., 'second': ...}}")
    return dict(zip(names, things, strict=True))


def measures_of(things: Mapping[str, Any]) -> pd.DataFrame:
    """Return the measures of the schedules among several things, below each other."""
    found = [measure(each, label=name) for name, each in things.items() if isinstance(each, Schedule)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def tables_of(things: Mapping[str, tuple[Any, Any]], chosen: Any) -> pd.DataFrame:
    """Return the tables of pictures of several things below each other, with the column ``of``.

    Parameters
    ----------
    things : mapping of str to (Picture, object)
        By what it is called: its picture and the thing.
    chosen : Parameters
        Of the pictures.
    """
    tables = []
    for name, (picture, thing) in things.items():
        found = picture.table(thing, chosen)
        tables.append(found.assign(**{OF: name}))
    filled = [each for each in tables if len(each)] or tables[:1]
    return pd.concat(filled, ignore_index=True)


def _name_of(thing: Any, among: list[Any]) -> str:
    """Return what a thing is called among others."""
    if isinstance(thing, Trace):
        return LOGGED
    same = [each for each in among if isinstance(each, Schedule) and each.policy == thing.policy]
    differ = {
        key: value for key, value in thing.options.items() if any(each.options.get(key) != value for each in same)
    }
    return write_entry(thing.policy, differ)
