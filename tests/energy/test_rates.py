# SPDX-License-Identifier: BSD-3-Clause
"""Series of prices and intensities: read from files and tables, aligned by zone, and never filled in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools.energy import read_rates
from swftools.errors import ParameterError, UnreadableLogError

HOUR = 3600.0
JANUARY = pd.Timestamp("2022-01-01", tz="UTC").timestamp()


def _hours(first: str, count: int, zone: str | None = "UTC") -> pd.DatetimeIndex:
    return pd.date_range(first, periods=count, freq="h", tz=zone)


def test_a_value_holds_to_the_next_time() -> None:
    """And the last one for a usual step; what is asked for begins where it is asked for."""
    rates = read_rates(pd.Series([1.0, 2.0, 3.0], _hours("2022-01-01", 3)))
    assert JANUARY + 3 * HOUR == rates.end
    times, values = rates.over(JANUARY + 1800, JANUARY + 2 * HOUR)
    assert ([JANUARY + 1800, JANUARY + HOUR], [1.0, 2.0]) == (times.tolist(), values.tolist())
    times, values = rates.over(JANUARY + HOUR, JANUARY + 2 * HOUR + 1)
    assert ([JANUARY + HOUR, JANUARY + 2 * HOUR], [2.0, 3.0]) == (times.tolist(), values.tolist())
    assert [3.0] == rates.over(rates.end - 1, rates.end)[1].tolist()


@pytest.mark.parametrize(("begin", "end"), [(-1.0, 5.0), (0.0, 3 * HOUR + 1)])
def test_beyond_the_series_nothing_is_known(begin: float, end: float) -> None:
    """Both ends, to the second; the message says from when to when."""
    rates = read_rates(pd.Series([1.0, 2.0, 3.0], _hours("2022-01-01", 3)))
    with pytest.raises(ParameterError, match="from 2022-01-01 00:00 UTC to 2022-01-01 03:00 UTC, and the schedule"):
        rates.over(JANUARY + begin, JANUARY + end)


def test_a_time_without_a_zone_is_refused() -> None:
    """And with one it is read in it: midnight in Paris is 23:00 UTC the day before."""
    series = pd.Series([1.0, 2.0], _hours("2022-01-01", 2, None))
    with pytest.raises(ParameterError, match="its times have no zone; say which by time_zone='UTC'"):
        read_rates(series)
    assert JANUARY - HOUR == read_rates(series, time_zone="Europe/Paris").times[0]
    assert JANUARY == read_rates(series, time_zone="UTC").times[0]
    with pytest.raises(ParameterError, match="its times do not exist in Europe/Pariss"):
        read_rates(series, time_zone="Europe/Pariss")


def test_hours_that_a_zone_repeats_or_skips() -> None:
    """In local time the hour after the change of the clock appears twice, in order; one that never was is an error."""
    autumn = ["2022-10-30 01:00", "2022-10-30 02:00", "2022-10-30 02:00", "2022-10-30 03:00"]
    rates = read_rates(pd.Series([1.0, 2, 3, 4], pd.to_datetime(autumn)), time_zone="Europe/Paris")
    assert [HOUR] * 3 == np.diff(rates.times).tolist()
    spring = ["2022-03-27 01:00", "2022-03-27 02:00"]
    with pytest.raises(ParameterError, match="is it the right zone"):
        read_rates(pd.Series([1.0, 2], pd.to_datetime(spring)), time_zone="Europe/Paris")


def test_offsets_in_a_file_count(tmp_path: Path) -> None:
    """CSV with offsets needs no zone, and a zone that is told does not move it; rows may stand in any order."""
    path = tmp_path / "p.csv"
    path.write_text("when,eur\n2022-01-01T02:00+01:00,30\n2022-01-01T01:00+01:00,-20\n")
    for zone in (None, "Asia/Tokyo"):
        rates = read_rates(path, per="MWh", time_zone=zone)
        assert ([JANUARY, JANUARY + HOUR], [-0.02, 0.03]) == (rates.times.tolist(), rates.values.tolist())


def test_gaps() -> None:
    """A missing value and a missing hour: refused where the schedule touches them, or held."""
    index = _hours("2022-01-01", 6).delete(3)
    series = pd.Series([1.0, np.nan, 3.0, 5.0, 6.0], index)
    rates = read_rates(series)
    assert [5.0, 6.0] == rates.over(JANUARY + 4 * HOUR, rates.end)[1].tolist()
    assert [3.0] == rates.over(JANUARY + 2 * HOUR, JANUARY + 3 * HOUR)[1].tolist()
    for begin in (1, 3):
        with pytest.raises(ParameterError, match=f"has no value from 2022-01-01 0{begin}:00 UTC on; mend the series"):
            rates.over(JANUARY + begin * HOUR, JANUARY + (begin + 1) * HOUR)
    held = read_rates(series, gaps="hold")
    assert [1.0, 1.0, 3.0, 5.0, 6.0] == held.over(JANUARY, held.end)[1].tolist()


@pytest.mark.parametrize(
    ("table", "options", "told"),
    [
        ({"t": ["2022-01-01T00Z", "2022-01-01T00Z"], "v": [1, 2]}, {}, "2022-01-01 00:00 UTC appears twice"),
        ({"t": ["2022-01-01T00Z"], "v": [1]}, {}, "a series needs two values or more, and it has 1"),
        ({"t": ["2022-01-01T00Z", "2022-01-01T01Z"], "v": [1, np.inf]}, {}, "the rate of 2022-01-01 01:00 UTC is inf"),
        ({"t": ["2022-01-01T00Z", "x"], "v": [1, 2]}, {}, "0 columns are of times; name one by time= of t, v"),
        ({"t": ["2022-01-01T00Z", "x"], "v": [1, 2]}, {"time": "t"}, "column 't' is not of times as 2022-01-31"),
        ({"t": ["2022-01-01T00Z", "2022-01-02T00Z"], "v": [1, 2], "w": 1}, {}, "2 columns are of numbers; name one by"),
        ({"t": ["2022-01-01T00Z", "2022-01-02T00Z"], "v": [1, 2]}, {"column": "w"}, "no column 'w'; there are t, v"),
        ({"t": ["2022-01-01T00Z", "2022-01-02T00Z"], "v": ["a", "b"]}, {"column": "v"}, "'v' is not of numbers"),
        ({"t": ["2022-01-01T00Z", "2022-01-02T00Z"], "v": [1, 2]}, {"per": "J"}, "per='J' is not one of kWh, MWh"),
        ({"t": ["2022-01-01T00Z", "2022-01-02T00Z"], "v": [1, 2]}, {"gaps": "x"}, "gaps='x' is not one of refuse"),
    ],
)
def test_bad_series(table: dict[str, object], options: dict[str, str], told: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=told):
        read_rates(pd.DataFrame(table), **options)  # type: ignore[arg-type]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """No file, and one that is no table."""
    (tmp_path / "a.parquet").write_text("x")
    for name in ("none.csv", "a.parquet"):
        with pytest.raises(UnreadableLogError, match=f"{name}: cannot be read as a series"):
            read_rates(tmp_path / name)
    with pytest.raises(ParameterError, match="a path, a DataFrame or a Series, not list"):
        read_rates([1, 2])  # type: ignore[arg-type]


def test_a_real_year(shared: Path) -> None:
    """The intensities of French power in 2022: times without a zone, and one hour that is not there."""
    path = shared / "samples" / "modern" / "carbon_2022_FR.parquet"
    rates = read_rates(path, time_zone="UTC")
    assert (8736, 1) == (len(rates.times), int(np.isnan(rates.values).sum()))
    april = pd.Timestamp("2022-04-16 12:00", tz="UTC").timestamp()
    with pytest.raises(ParameterError, match="no value from 2022-04-16 13:00 UTC on"):
        rates.over(april, april + 2 * HOUR)
