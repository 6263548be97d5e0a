# SPDX-License-Identifier: BSD-3-Clause
"""Dates as batch systems print them, and the zones they are in."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import LogFormatError, ParameterError
from swftools.formats.accounting.dates import MONTH_TABLE, _wall_clock, plain_date
from swftools.formats.accounting.kernel import PLAIN
from swftools.formats.accounting.times import Moments, in_order, read_times, require_zones, zone_named
from tests.formats.accounting.test_values import spans_of


def read(text: str | bytes, zone: str | None = "UTC") -> Moments:
    """Read one date."""
    return read_times(spans_of([text.encode() if isinstance(text, str) else text]), zone)


def seconds(text: str) -> float:
    """Return an ISO time as seconds since 1970."""
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Tue Jul 24 10:19:37 CDT 2007", "2007-07-24T10:19:37-05:00"),
        ("Wed Sep  7 08:46:01 2016", "2016-09-07T08:46:01+00:00"),
        ("Thu 04 Dec 2008 10:27:23 AM EST", "2008-12-04T10:27:23-05:00"),
        ("Thu 04 Dec 2008 12:05:23 AM EST", "2008-12-04T00:05:23-05:00"),
        ("Thu 04 Dec 2008 12:05:23 PM EST", "2008-12-04T12:05:23-05:00"),
        ("Thu 04 Dec 2008 12:00:00 PM EST", "2008-12-04T12:00:00-05:00"),
        ("Thu 04 Dec 2008 12:00:00 AM EST", "2008-12-04T00:00:00-05:00"),
        ("Do 04 Dez 2008 00:05:23 CET", "2008-12-04T00:05:23+01:00"),
        ("jeu. 04 déc. 2008 00:05:23 CET", "2008-12-04T00:05:23+01:00"),
        ("mar. 01 juil. 2008 00:05:23 CEST", "2008-07-01T00:05:23+02:00"),
        ("mar. 03 juin 2008 00:05:23 CEST", "2008-06-03T00:05:23+02:00"),
        ("Mo 03 Mär 2008 00:05:23 MEZ", "2008-03-03T00:05:23+01:00"),
        ("ven. 01 févr. 2008 00:05:23 CET", "2008-02-01T00:05:23+01:00"),
        ("ven. 01 août 2008 00:05:23 CEST", "2008-08-01T00:05:23+02:00"),
        ("03/25/2014 13:47", "2014-03-25T13:47:00+00:00"),
        ("25.03.2014 13:47:01", "2014-03-25T13:47:01+00:00"),
        ("2014-03-25 13:47:01.250", "2014-03-25T13:47:01.250+00:00"),
        ("2014-03-25T13:47:01Z", "2014-03-25T13:47:01+00:00"),
        ("2014-03-25T13:47:01+0530", "2014-03-25T13:47:01+05:30"),
        ("2014-03-25T13:47:01-08:00", "2014-03-25T13:47:01-08:00"),
        ("Sat, 29 Feb 2020 23:59:59 GMT", "2020-02-29T23:59:59+00:00"),
        ("2014/03/25 24:00:00", "2014-03-26T00:00:00+00:00"),
    ],
)
def test_forms(text: str, wanted: str) -> None:
    """Each form that is known, and some that are like them; the zone that is printed counts where none is given."""
    has_zone = any(word in text for word in ("CDT", "EST", "CE", "MEZ", "GMT", "Z", "+05", "-08"))
    moment = read(text, None if has_zone else "UTC")
    assert moment.early[0] == moment.late[0] == seconds(wanted)


letters = st.text(st.sampled_from("0123456789-: .TZ+t"), min_size=1, max_size=2)
shapes = st.builds(
    lambda day, mark, clock, part, zone: f"{day}{mark}{clock}{part}{zone}",
    st.sampled_from(["2021-03-31", "2020-02-29", "2021-02-29", "2021-04-31", "0999-01-01", "9999-12-31", "2021-00-10"]),
    st.sampled_from([" ", "T", "t", "  "]),
    st.sampled_from(["23:59:59", "24:00:00", "00:00:60", "07:5:09", "12:61:00", "00:00"]),
    st.sampled_from(["", ".", ".5", ".123456", ".000000000000000000001", ",5"]),
    st.sampled_from(["", "Z", "z", " Z", "+0900", "-05:00", "+09", "+9:00", "-0530 ", "+05300", " CET"]),
)


@given(shape=shapes, at=st.integers(0, 40), word=letters, is_changed=st.booleans())
def test_plain_dates_are_read_as_all_others(shape: str, at: int, word: str, is_changed: bool) -> None:
    """The short way reads only what the long one reads, and the same."""
    text = (shape[:at] + word + shape[at + len(word) :] if is_changed else shape).encode()
    seconds, offset = plain_date.py_func(text, 0, len(text))
    if not np.isnan(seconds):
        long = _wall_clock.py_func(text, 0, len(text), MONTH_TABLE, 0)
        np.testing.assert_array_equal(long, (seconds, offset, -1, -1, PLAIN, 0))


@pytest.mark.parametrize("zone", ["", "Z", "+0900", "-05:30"])
@pytest.mark.parametrize("part", ["", ".250"])
@pytest.mark.parametrize("mark", [" ", "T"])
def test_the_short_way_is_taken(mark: str, part: str, zone: str) -> None:
    """For dates as nearly all tables have them; compiled as interpreted."""
    text = f"2021-12-31{mark}23:59:58{part}{zone}"
    found = plain_date.py_func(text.encode(), 0, len(text))
    assert found[0] == seconds(f"2021-12-31T23:59:58{part or '.0'}+00:00")
    np.testing.assert_array_equal(found, plain_date(text.encode(), 0, len(text)))


def test_latin_1() -> None:
    """Months with accents, as older systems write them."""
    assert read("04 déc. 2008 00:05:23".encode("latin-1")).early[0] == seconds("2008-12-04T00:05:23+00:00")


@pytest.mark.parametrize(
    "text",
    [
        *("7/24 10:19", "Wed Sep 31 08:46:01 2016", "Feb 29 00:00:00 2019", "25:00:00 1 Jan 2010", "12:61 1 Jan 2010"),
        *("0:30:00 AM 1 Jan 2010", "13:30:00 PM 1 Jan 2010", "1 Jan 2010", "10:00:00", "no date", "1/2/3/4 10:00"),
        *("2014-03 10:00", "1 Jan 2010 10:00:00 CET of old", "1 Jan 2010 10:00:00 3", "10:00:00x 1 Jan 2010 2011"),
        *("Foo 24 10:19:37 2007", "13/45/2007 10:00:00", "Jan 0 10:00:00 2007", "\x00", ":", "-"),
    ],
)
def test_what_is_no_date(text: str) -> None:
    """It is bad, not missing, and needs no zone."""
    moment = read(text, None)
    assert moment.is_bad[0]
    assert np.isnan(moment.early[0])
    assert not moment.needs_zone[0]


def test_never() -> None:
    """The first day of 1970, in whatever zone, and no text at all."""
    for text in ("Wed Dec 31 16:00:00 PST 1969", "Thu Jan  1 01:00:00 1970", ""):
        moment = read(text, "America/Los_Angeles")
        assert np.isnan(moment.early[0])
        assert not moment.is_bad[0]
    assert read("Sat Jan  3 01:00:00 1970").early[0] > 0, "later it is a time"
    assert read("Sat Jan  3 01:00:00 1903").early[0] < 0, "and earlier too, which the ledger refuses"


def test_zones() -> None:
    """The zone given counts over an abbreviation, not over an offset; what contradicts it is told."""
    summer = "Tue Jul  6 09:00:00 {} 2004"
    here = seconds("2004-07-06T09:00:00-07:00")
    for word, contradicts in (("PDT", False), ("", False), ("CET", True), ("CST", False), ("XYZ", False)):
        moment = read(summer.format(word), "America/Los_Angeles")
        assert (moment.early[0], bool(moment.is_contradicted[0])) == (here, contradicts)
    offset = read("2004-07-06T09:00:00+02:00", "America/Los_Angeles")
    assert offset.early[0] == seconds("2004-07-06T09:00:00+02:00")
    for word in ("CST", "IST", "XYZ", ""):
        moment = read(summer.format(word), None)
        assert moment.needs_zone[0]
        with pytest.raises(LogFormatError, match="time_zone=America/Chicago"):
            require_zones(moment)
    with pytest.raises(ParameterError, match="not a zone of the tz database"):
        zone_named("Mars/Olympus")


def test_the_hour_that_is_repeated() -> None:
    """Both meanings are kept, unless a word tells them apart."""
    both = read("Sun Oct 31 01:30:00 2004", "America/Los_Angeles")
    first, second = seconds("2004-10-31T01:30:00-07:00"), seconds("2004-10-31T01:30:00-08:00")
    assert (both.early[0], both.late[0]) == (first, second)
    for word, time in (("PDT", first), ("PST", second)):
        told = read(f"Sun Oct 31 01:30:00 {word} 2004", "America/Los_Angeles")
        assert told.early[0] == told.late[0] == time
    (start, end), is_ambiguous = in_order(
        read("Sun Oct 31 01:40:00 2004", "America/Los_Angeles"), read("Sun Oct 31 01:10:00 2004", "America/Los_Angeles")
    )
    assert end[0] - start[0] == 1800
    assert is_ambiguous.tolist() == [True]


def test_the_hour_that_is_skipped() -> None:
    """There is no such time; it is moved on, and told of."""
    moment = read("Sun Apr  4 02:30:00 2004", "America/Los_Angeles")
    assert moment.is_skipped[0]
    assert moment.early[0] == moment.late[0] == seconds("2004-04-04T10:00:00+00:00")
    assert not read("Sun Apr  4 03:30:00 2004", "America/Los_Angeles").is_skipped[0]


@given(
    st.integers(10**8, 4 * 10**9), st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]),
    st.sampled_from(["%a %b %e %H:%M:%S %Y", "%a %d %b %Y %I:%M:%S %p", "%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %H:%M:%S"]),
)  # fmt: skip
def test_times_come_back(time: int, zone: str, form: str) -> None:
    """What Python prints of a time is read as that time, or in a repeated hour as one of two."""
    text = datetime.fromtimestamp(time, ZoneInfo(zone)).strftime(form)
    moment = read(text, zone)
    assert time in (moment.early[0], moment.late[0])
    assert moment.late[0] - moment.early[0] in (0, 3600)


def test_all_days_of_centuries() -> None:
    """The calendar is Python's."""
    days = range(-(719162 - 365_300), 90_000, 37)
    dates = [datetime.fromtimestamp(0, UTC).fromordinal(719163 + day) for day in days]
    read_ = read_times(spans_of([date.strftime("%Y-%m-%d 12:00:00").rjust(19, "0").encode() for date in dates]), "UTC")
    wanted = np.array([day * 86400.0 + 43200.0 for day in days])
    known = np.abs(wanted) > 86400
    np.testing.assert_array_equal(read_.early[known], wanted[known])
