# SPDX-License-Identifier: BSD-3-Clause
"""Times at which nodes went away and came back, as they are written: in seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from swftools.errors import ParameterError
from swftools.formats.accounting.spans import Spans
from swftools.formats.accounting.times import Moments, in_order, read_times
from swftools.kernel import FloatArray

_SECONDS = re.compile(r"[0-9]{9,11}(?:\.[0-9]{1,9})?", re.ASCII)


def read_stretches(
    begins: Sequence[str], ends: Sequence[str | None], lines: Sequence[int], name: str, zone: str | None, form: str
) -> tuple[list[float], list[float | None]]:
    """Return the begins and the ends of stretches of time, in seconds since 1970.

    Where the clock is put back an hour, a time has two meanings. The first is taken, for an end only if it is not
    before the begin.

    Parameters
    ----------
    begins : sequence of str
        Dates, or seconds since 1970.
    ends : sequence of str or None
        The same; None where there is none.
    lines : sequence of int
        Where each stands.
    name : str
        Of the file, for messages.
    zone : str, optional
        The zone of times that are written without one.
    form : str
        The name of the format, for messages.

    Raises
    ------
    ParameterError
        One is no time, or needs a zone; or an end is before its begin.
    """
    begin, end = (_moments(texts, lines, name, zone, form) for texts in (begins, ends))
    (first, last), _ = in_order(begin, end)
    for place in np.flatnonzero(last < first)[:1].tolist():
        raise ParameterError(
            f"{name}, line {lines[place]}: ends at {ends[place]}, before it begins at {begins[place]}; correct the line"
        )
    return first.tolist(), [None if text is None else each for text, each in zip(ends, last.tolist(), strict=True)]


def _moments(texts: Sequence[str | None], lines: Sequence[int], name: str, zone: str | None, form: str) -> Moments:
    """Return times as they are read; None is no time."""
    words = ["" if text is None else text.strip() for text in texts]
    encoded = [word.encode() for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    starts = ends - np.array([len(word) for word in encoded], dtype=np.int64)
    is_seconds = np.array([_SECONDS.fullmatch(word) is not None for word in words], dtype=bool)
    absent = np.array([not word for word in words], dtype=bool) | is_seconds
    found = read_times(Spans(b"".join(encoded), np.where(absent, -1, starts), np.where(absent, -1, ends)), zone)
    told = np.array([float(word) if each else np.nan for word, each in zip(words, is_seconds, strict=True)])
    early: FloatArray = np.where(is_seconds, told, found.early)
    late: FloatArray = np.where(is_seconds, told, found.late)
    is_told = np.array([text is not None for text in texts], dtype=bool)
    needs_zone = np.flatnonzero(found.needs_zone & ~is_seconds)
    if len(needs_zone):
        place = int(needs_zone[0])
        raise ParameterError(
            f"{name}, line {lines[place]}: {words[place]!r} does not say in which zone it is; give the zone of the "
            f"batch system, as in {form}:time_zone=Europe/Berlin (--outages-format)"
        )
    wrong = np.flatnonzero(is_told & (found.is_bad | found.is_skipped | ~np.isfinite(early)))
    if len(wrong):
        place = int(wrong[0])
        why = f"is no time of {zone}, which skips that hour" if found.is_skipped[place] else "is no date and time"
        raise ParameterError(
            f"{name}, line {lines[place]}: {words[place][:40]!r} {why}, such as 2026-01-31T08:00:00; correct the line"
        )
    return found._replace(early=early, late=late)
