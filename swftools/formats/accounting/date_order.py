# SPDX-License-Identifier: BSD-3-Clause
"""Whether 10/03/2024 is in March or in October: which of day and month comes first in the dates of a log.

A day above 12 settles it for the whole log, wherever it stands in its files. A log is read by the order that its
beginning shows (else by that of the United States) until a date shows another; then it is read once more. Where no
date shows it, and nobody says it, the log is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swftools.errors import DateOrderError
from swftools.formats.accounting.dates import DAY_FIRST, EITHER, MONTH_FIRST, SHORT_YEAR
from swftools.formats.accounting.spans import texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from swftools.formats.accounting.times import Moments
    from swftools.kernel import IntArray

USUAL = "mdy"
"""The order by which a log is read until a date shows another."""

_NUMBERS = re.compile(r"(\d+)[/-](\d+)[/-](\d+)")
_SHOWN_BY = {"dmy": DAY_FIRST, "mdy": MONTH_FIRST}
_IN_WORDS = {"dmy": "the day first", "mdy": "the month first", "ymd": "the year first"}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class Dated(NamedTuple):
    """A date of a log: the line of its record, and its text."""

    line: int
    text: str


DatesOfOrder = dict[int, Dated]
"""The first date that tells each thing of the order: ``DAY_FIRST`` and so on."""


class OtherOrder(Exception):  # noqa: N818 (no error: the log is read again)
    """A log shows another order than the one by which it is read."""

    def __init__(self, order: str) -> None:
        super().__init__(order)
        self.order = order


def told_by(moments: Moments, line: IntArray) -> DatesOfOrder:
    """Return what times tell of the order of day and month; ``line`` is that of each."""
    if moments.written is None:
        return {}
    found: DatesOfOrder = {}
    spans, told = moments.written
    for what in (DAY_FIRST, MONTH_FIRST, EITHER, SHORT_YEAR):
        rows = np.flatnonzero(told == what)
        if len(rows):
            row = rows[np.argmin(line[rows])]
            found[what] = Dated(int(line[row]), texts(spans.rows(np.array([row]))).to_pylist()[0].strip()[:40])
    return found


def first_of(*told: DatesOfOrder) -> DatesOfOrder:
    """Return of each thing that dates tell the first one."""
    found: DatesOfOrder = {}
    for each in told:
        for what, date in each.items():
            if what not in found or date.line < found[what].line:
                found[what] = date
    return found


def order_shown(told: DatesOfOrder) -> str | None:
    """Return which order dates show; None if none, or several."""
    shown = [order for order, what in _SHOWN_BY.items() if what in told]
    return shown[0] if len(shown) == 1 else None


def readings(text: str) -> str:
    """Return both meanings of a date that may have the day or the month first.

    Examples
    --------
    >>> readings("10/03/2024 23:55:00")
    '10/03/2024 is 10 March 2024 or 3 October 2024'
    """
    found = _NUMBERS.search(text)
    if found is None:
        return repr(text)
    first, second, year = map(int, found.groups())
    return f"{found[0]} is {first} {_MONTHS[second - 1]} {year} or {second} {_MONTHS[first - 1]} {year}"


class DateOrder:
    """The order of day and month in one reading of a log: by which one it is read, and what its dates have told.

    Parameters
    ----------
    given : str, optional
        What the user says: dmy, mdy or ymd. Then dates are not asked.
    known : str, optional
        What other files of the same source have shown.
    assumed : str, optional
        What the beginning of the log shows.
    """

    def __init__(self, given: str | None, known: str | None = None, assumed: str | None = None) -> None:
        self.used = given or known or assumed or USUAL
        self._is_given, self._known = given is not None, known
        self._told: DatesOfOrder = {}

    @property
    def shown(self) -> str | None:
        """The order that the dates of the log have shown; None if none did."""
        return order_shown(self._told)

    @property
    def is_open(self) -> bool:
        """Whether there are dates of which nothing has told yet what they mean."""
        return EITHER in self._told and not (self._is_given or self._known or self.shown)

    def take(self, told: DatesOfOrder, place: Callable[[int], str], *, may_quote: bool) -> None:
        """Take what the dates of some records tell.

        Parameters
        ----------
        told : dict
            As ``told_by`` returns it.
        place : callable
            Says where a line stands.
        may_quote : bool
            Whether dates may be shown.

        Raises
        ------
        OtherOrder
            They show another order than the one used.
        DateOrderError
            They contradict each other, or what is known.
        """
        if self._is_given or not told:
            return
        self._told = first_of(self._told, told)

        def quoted(what: int) -> str:
            date = self._told[what]
            return f"{place(date.line)}{f' has {date.text!r}' if may_quote else ''}"

        if DAY_FIRST in self._told and MONTH_FIRST in self._told:
            raise DateOrderError(
                f"its dates are in two orders: {quoted(DAY_FIRST)}, where the day comes first, and "
                f"{quoted(MONTH_FIRST)}, where the month does; part the log, or say {_remedy(('dmy', 'mdy'))}: then "
                "the others go to the quarantine"
            )
        if SHORT_YEAR in self._told:
            raise DateOrderError(
                f"{quoted(SHORT_YEAR)}, a date whose year has two digits, so that nothing shows which number it is; "
                f"say {_remedy(('dmy', 'mdy', 'ymd'))}"
            )
        shown = self.shown
        if shown is None or shown == self.used:
            return
        if self._known:
            raise DateOrderError(
                f"{quoted(_SHOWN_BY[shown])}, where {_IN_WORDS[shown].replace(' first', ' comes first')}, and other "
                f"files of the same source have {_IN_WORDS[self._known]}; give it in the same order, or say "
                f"{_remedy((shown,))} for a log of its own"
            )
        raise OtherOrder(shown)

    def require(self, place: Callable[[int], str], *, may_quote: bool) -> None:
        """Raise DateOrderError if there are dates of which nothing has told what they mean; at the end of a log."""
        if not self.is_open:
            return
        date = self._told[EITHER]
        meant = f" ({readings(date.text)})" if may_quote else ""
        raise DateOrderError(
            f"{place(date.line)}: does the day or the month come first in its dates{meant}? No date of the log has a "
            f"day above 12, which would tell; say {_remedy(('dmy', 'mdy'))}"
        )


def _remedy(orders: tuple[str, ...]) -> str:
    """Return how the order is said."""
    return f"{' or '.join(f'dates={order}' for order in orders)} (--format NAME:dates={orders[0]})"
