# SPDX-License-Identifier: BSD-3-Clause
"""Ticks of an axis of dates: at round times of a zone, at equal distances, as many as have room.

Imported when the first such axis is drawn, because it needs matplotlib.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from matplotlib import dates

_made: Any = dates  # which has no types


class RoomyDates(_made.AutoDateLocator):  # type: ignore[misc]
    """Ticks of which some are left out where their labels would touch.

    Parameters
    ----------
    zone : datetime.tzinfo
        By whose clock times are round.
    text : float
        Size of the labels, points.
    """

    def __init__(self, zone: tzinfo, text: float) -> None:
        super().__init__(tz=zone, minticks=3, maxticks=8)
        self._apart = 4.5 * text  # which a label such as "25 Apr" takes, with room beside it

    def __call__(self) -> Any:
        """Return the ticks: every second or third where there are too many, the roundest of them."""
        ticks = super().__call__()
        axes = self.axis.axes
        most = max(2, int(axes.bbox.width * 72.0 / axes.figure.dpi / self._apart))
        if self._freq == _made.DAILY:  # by days of the month the last of one stands near to the first of the next
            return self._days(most)
        step = -(-len(ticks) // most)
        return max((ticks[first::step] for first in range(step)), key=self._round) if step > 1 else ticks

    def _days(self, most: int) -> Any:
        """Return midnights: of all days, of every second or fourth, or of Mondays."""
        begin, end = self.viewlim_to_dt()
        days = range(begin.toordinal(), end.toordinal() + 1)
        apart = next((each for each in (1, 2, 4, 7, 14, 21, 28) if len(days) <= each * min(most, 8)), 56)
        chosen = [datetime.fromordinal(day).replace(tzinfo=self.tz) for day in days if day % apart == 1 % apart]
        return _made.date2num([each for each in chosen if begin <= each <= end])

    def _round(self, ticks: Any) -> int:
        """Return how round dates are: the more parts of them begin, the rounder."""
        times = _made.num2date(ticks, tz=self.tz)
        return sum((each.month == 1) + (each.day == 1) + (each.hour == 0) + (each.minute == 0) for each in times)


def label_dates(axes: Any, zone: tzinfo, text: float) -> None:
    """Label the x axis by dates of a zone; what all share, such as the year of days, stands in the corner."""
    locator = RoomyDates(zone, text)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        _made.ConciseDateFormatter(
            locator,
            tz=zone,
            formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"],
            zero_formats=["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"],
            offset_formats=["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d"],
        )
    )
