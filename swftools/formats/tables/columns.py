# SPDX-License-Identifier: BSD-3-Clause
"""The words in which a format of tables is declared: which column is which of ours, in what unit, how missing is told.

The same words stand in a user's own mapping (``mapping.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.accounting.records import (
    BEGIN,
    COUNTS,
    ENERGIES,
    ESTIMATES,
    MARKS,
    NAMES,
    OF_NODES,
    SECONDS,
    SHARES,
    SIZES,
    TEXTS,
    TIMES,
)
from swftools.parameters import did_you_mean

WAIT, EXPECTED = "wait_time", "estimated_start"
NUMBERS_TOLD = (*SECONDS, *COUNTS, *SHARES, *SIZES, *ENERGIES, *ESTIMATES, *OF_NODES, *MARKS)
TARGETS = (*TIMES, WAIT, EXPECTED, BEGIN, *NUMBERS_TOLD, *NAMES, *TEXTS, "state")
"""What a column may be mapped to; ``state`` becomes the status by a table of states, and is kept as ``logged_state``.
Of a ``wait_time`` and a submission follows the start, of an ``estimated_start`` the ``estimated_wait_time``."""

TEXT = "text"
"""The unit of times that are printed as dates, and of durations as hours and minutes."""

_TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE_UNITS = {"B": 2.0**-10, "KB": 1.0, "MB": 2.0**10, "GB": 2.0**20, "TB": 2.0**30}
_SIZE_UNITS |= {"KiB": 1.0, "MiB": 2.0**10, "GiB": 2.0**20, "TiB": 2.0**30}
_ENERGY_UNITS = {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6}
_POWER_UNITS = {"W": 1.0, "mW": 1e-3, "kW": 1e3}
_COUNT_UNITS = {"": 1.0, "percent": 1e-2, "milli": 1e-3}
UNITS: dict[str, dict[str, float]] = {
    **{name: {TEXT: 1.0, **_TIME_UNITS} for name in (*TIMES, WAIT, EXPECTED, BEGIN, *SECONDS, *ESTIMATES)},
    **dict.fromkeys(SIZES, _SIZE_UNITS),
    **{name: _ENERGY_UNITS if name == "energy" else _POWER_UNITS for name in ENERGIES},
    **dict.fromkeys((*COUNTS, *SHARES, *OF_NODES), _COUNT_UNITS),
    "requested_memory_per_node": {unit: size / 2.0**10 for unit, size in _SIZE_UNITS.items()},
}
"""The units that a column of ours may be told in, and what one is in ours (s, KB, MB of a node, J, W, 1)."""

_DEFAULT_UNITS = {
    **dict.fromkeys((*TIMES, EXPECTED, BEGIN), TEXT),
    **dict.fromkeys((WAIT, *SECONDS, *ESTIMATES), "s"),
    **dict.fromkeys(SIZES, "KB"),
    "requested_memory_per_node": "MB",
}

NONE = frozenset(
    ["", "nan", "NaN", "NAN", "None", "none", "null", "NULL", "Null", "NA", "N/A", "n/a", "NaT", "<NA>", "\\N", "-"]
)
"""Words that say, in any table, that there is no value."""

OF = ("processor", "node", "job")


@dataclass(frozen=True)
class Column:
    """Where a value of ours stands in a table.

    Parameters
    ----------
    names : tuple of str
        What the column is called; of several the first that is there.
    unit : str
        What it is told in: for times ``text`` (dates), or since 1970 in s, ms, us, ns; for durations s, ms, min, h, d
        or ``text``; for memory B, KB, MB, GB; for energy J, kJ, MJ, Wh, kWh; for power W, mW, kW; for counts percent or
        milli. By default as ours: dates, s, KB, J, W, 1.
    times : tuple of str
        Further columns by which it is multiplied, such as nodes by cores of each.
    over : tuple of str
        Further columns by which it is divided, such as cores by nodes; by 0 there is no value.
    of : {"processor", "node", "job"}
        What memory, energy, power or a count is told of; ours is of a processor (memory) or of the job (all others).
    missing : tuple of str
        Values that say that there is none, besides empty ones, nan, None, null, NA.
    is_rounded_up : bool
        Whether a fraction is told, such as a share of a GPU: ours is rounded up, and the exact value kept beside it.
    is_needed : bool
        Whether a table without it cannot be read.
    every : float
        Of energy and powers: that the column has lists of powers (W), one each so many seconds. Then the energy is
        their sum times that, the mean and the highest power those of the list. 0 for a column of numbers.
    """

    names: tuple[str, ...]
    unit: str = ""
    times: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    of: str = ""
    missing: tuple[str, ...] = ()
    is_rounded_up: bool = False
    is_needed: bool = False
    every: float = 0.0

    @property
    def in_words(self) -> str:
        """What it is, for a page of documentation."""
        told = " or ".join(f"`{name}`" for name in self.names)
        told += "".join(f" times `{name}`" for name in self.times)
        told += "".join(f" over `{name}`" for name in self.over)
        notes = [self.unit] if self.unit and self.unit != TEXT else []
        notes += [f"of each {self.of}"] if self.of in ("node", "processor") else []
        notes += ["rounded up"] if self.is_rounded_up else []
        notes += [f"lists of powers, one each {self.every:g} s"] if self.every else []
        notes += [f"missing: {', '.join(self.missing)}"] if self.missing else []
        return told + (f" ({'; '.join(notes)})" if notes else "")


def column(*names: str, **facts: Any) -> Column:
    """Return a column by its names; ``facts`` as ``Column`` takes them, ``needed`` for short."""
    if "needed" in facts:
        facts["is_needed"] = facts.pop("needed")
    if "round_up" in facts:
        facts["is_rounded_up"] = facts.pop("round_up")
    for name in ("times", "over", "missing"):
        if isinstance(facts.get(name), str):
            facts[name] = (facts[name],)
    return Column(names, **facts)


@dataclass(frozen=True)
class Declaration:
    """What is declared of a table.

    Parameters
    ----------
    columns : dict of str to Column
        By names of ours, those of ``TARGETS``.
    states : dict of str to int or None
        The status of SWF that a state means, in capitals; None for one of jobs that have not ended.
    missing : tuple of str
        Values that say in every column that there is none.
    zone : str, optional
        The zone of dates that are printed without one, where the format has one zone.
    has_dates : bool
        Whether times count from 1970; else from the beginning of the log.
    date_order : str, optional
        Which of day and month comes first in dates with slashes: dmy, mdy or ymd.
    separator : str, optional
        What stands between values, where a header does not tell.
    headless : tuple of str
        The names of the columns, where the table has no line with them.
    is_part : bool
        Whether its rows are parts of jobs, which another table has, and need no time of submission.
    further : tuple of str
        Columns that are asked for and are none of ours as they are.
    keeps_running : bool
        Whether what started and has no end is a job; else it is quarantined.

    Raises
    ------
    ParameterError
        A word is not one of these.
    """

    columns: dict[str, Column]
    states: dict[str, int | None] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    zone: str | None = None
    has_dates: bool = True
    separator: str | None = None
    headless: tuple[str, ...] = ()
    is_part: bool = False
    date_order: str | None = None
    further: tuple[str, ...] = ()
    keeps_running: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.columns) - set(TARGETS))
        if unknown:
            raise ParameterError(
                f"no {unknown[0]!r} in jobs; there are {', '.join(TARGETS)}{did_you_mean(unknown, TARGETS)}"
            )
        for name, each in self.columns.items():
            units = UNITS.get(name, {"": 1.0})
            if each.unit and each.unit not in units:
                raise ParameterError(f"{name}: unit={each.unit!r} is not one of {', '.join(filter(None, units))}")
            if each.of and each.of not in OF:
                raise ParameterError(f"{name}: of={each.of!r} is not one of {', '.join(OF)}")
            if each.every and (name not in ENERGIES or each.unit or each.times):
                raise ParameterError(f"{name}: every= is for lists of powers (W), from which energy and powers follow")
        if "submit" not in self.columns and not self.is_part:
            raise ParameterError("nothing is mapped to submit, the time of submission, which every job has")

    def unit_of(self, name: str) -> str:
        """Return what a column of ours is told in."""
        return self.columns[name].unit or _DEFAULT_UNITS.get(name, "")

    def factor_of(self, name: str) -> float:
        """Return what one of that unit is in ours."""
        return UNITS.get(name, {}).get(self.unit_of(name), 1.0)

    @property
    def has_lists(self) -> bool:
        """Whether rows are long, since a column has lists."""
        return any(each.every for each in self.columns.values())

    def wanted(self) -> list[str]:
        """Return the names of all columns of the table that are asked for."""
        names = [name for each in self.columns.values() for name in (*each.names, *each.times, *each.over)]
        names += self.further
        return list(dict.fromkeys(names))
