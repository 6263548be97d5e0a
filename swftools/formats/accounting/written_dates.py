# SPDX-License-Identifier: BSD-3-Clause
"""Formats whose dates are as a site, a locale or a person writes them: 10/03/2024 is of March, or of October."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from swftools.errors import LogFormatError
from swftools.formats.accounting.date_order import USUAL, DatesOfOrder, first_of, order_shown
from swftools.formats.accounting.format import AccountingFormat
from swftools.formats.accounting.times import ORDERS
from swftools.formats.multi_file import LogFiles
from swftools.parameters import text

_SLASHED = re.compile(rb"\d[/-]\d{1,2}[/-]\d{4}")


@dataclass(frozen=True)
class WrittenDates(AccountingFormat):
    """Base of formats whose logs may have dates with slashes (or dashes, and the year behind).

    Parameters
    ----------
    dates : str, optional
        The order of such dates: dmy, mdy or ymd (years of two digits too). By default a day above 12 anywhere in the
        log settles it.
    """

    dates: str | None = text(None, words=f"one of {', '.join(ORDERS)}", admits=ORDERS.__contains__)

    @property
    def date_order(self) -> str | None:
        """Which of day and month comes first in dates with slashes; None where the log has to show it."""
        return self.dates

    def assuming(self, order: str) -> Self:
        """Return this, to read dates with slashes by an order."""
        return self if self.date_order else replace(self, dates=order)

    def put_in_order(self, files: LogFiles, heads: Sequence[bytes]) -> None:
        """Put the files of a log into the order of their first records, as the dates in their beginnings have it."""
        if files.dates is None and self.date_order is None:
            files.dates = order_shown(first_of(*map(self._told, heads)))
        AccountingFormat.put_in_order(self.assuming(files.dates or USUAL), files, heads)

    def _told(self, head: bytes) -> DatesOfOrder:
        """Return what the beginning of a file tells of the order of day and month."""
        if not _SLASHED.search(head):
            return {}
        try:
            return first_of(*(each.dates for each in self.assuming(USUAL).head_records(head)))
        except LogFormatError:  # which the reading has words for
            return {}
