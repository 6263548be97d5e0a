# SPDX-License-Identifier: BSD-3-Clause
"""One rule for equal times: a time that rounding alone keeps from a whole microsecond is that microsecond.

Times are float64 seconds. In whole seconds sums and differences are exact. In fractions they are not: .1 + .2 is not
.3, so whether two jobs end together, or one ends by the time that another begins, would depend on the way by which each
time was reached. So whoever adds a duration to a time writes ``instant(time + duration)``, and whoever asks how long
there is until a time writes ``time_until(now, then)``. Then two sums that are equal in decimal digits, down to the
microsecond, are equal.

Where times need more digits (seconds since 1970 leave six behind the point; quotients and predictions have no end of
them) sums stay as they are, and a job that is expected to end by a time may end later by rounding.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel

LATEST = 2.0**53
"""Times up to here are told apart to the second, s; beyond it a float64 does not hold every whole number."""

TICKS = 1e6
"""Ticks of a second."""

ROUNDING = 2.0**-50
"""What sums of a few times are off at most by rounding, as a share of the largest."""


@kernel(allocates=False)
def instant(time: float) -> float:
    """Return a time that was added up as it would be without rounding, where that is a whole microsecond."""
    if time == np.floor(time):  # a whole second, or infinity
        return time
    nearest = np.rint(time * TICKS) / TICKS
    return nearest if abs(nearest - time) <= ROUNDING * abs(time) else time


@kernel(allocates=False)
def time_since(then: float, now: float) -> float:
    """Return how long ago a time was, as it would be without rounding where that is a whole microsecond."""
    time = now - then
    if time == np.floor(time):
        return time
    nearest = np.rint(time * TICKS) / TICKS
    return nearest if abs(nearest - time) <= ROUNDING * now else time


@kernel(allocates=False)
def ratio(time: float, other: float) -> float:
    """Return a time over another one, which is not 0; equal ratios of whole microseconds are equal.

    In floats .1 / .3 is not .2 / .6; of whole numbers equal quotients are equal, because each is rounded once.
    """
    if time == np.floor(time) and other == np.floor(other):
        return time / other
    ticks, others = np.rint(time * TICKS), np.rint(other * TICKS)
    if abs(ticks - time * TICKS) <= ROUNDING * ticks and abs(others - other * TICKS) <= ROUNDING * others:
        return ticks / others
    return time / other


@kernel(allocates=False)
def whole_times(time: float, interval: float) -> float:
    """Return how many whole intervals a time has; one that only rounding cuts short counts."""
    number = time / interval
    nearest = np.rint(number)
    return nearest if abs(nearest - number) <= ROUNDING * number else np.floor(number)


@kernel(allocates=False)
def time_until(now: float, then: float) -> float:
    """Return how long a job may take that begins now and is to end by then; not too short by rounding."""
    return (then - now) + ROUNDING * then
