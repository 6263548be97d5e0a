# SPDX-License-Identifier: BSD-3-Clause
"""Each model of arrivals has the days, gaps and hours that it should have."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from swftools import SwfHeader, Trace
from swftools.errors import ParameterError
from swftools.models import arrivals
from swftools.models.arrivals import start_of_day
from swftools.models.daily_cycle import DAY, fitted_weights, points_at
from swftools.offered_work import offered_load
from tests.models.arrival_samples import jobs_at, named, times_of

# The block bootstrap


def days_of(times: npt.NDArray[np.float64], start: float) -> dict[int, tuple[float, ...]]:
    """Return the times of the day of each day's arrivals, in order."""
    days: dict[int, list[float]] = {}
    for time in np.sort(times + start):
        days.setdefault(int(time // DAY), []).append(float(time % DAY))
    return {day: tuple(found) for day, found in days.items()}


@pytest.mark.parametrize("seed", [0, 1])
def test_days_of_the_bootstrap_are_days_of_the_log(cleaned: Trace, seed: int) -> None:
    """Each day but the last is a whole day of the log, second by second; some are drawn twice and some not at all."""
    start = start_of_day(cleaned.header)
    logged = days_of(cleaned.arrays.submit_time, start)
    whole = list(logged.values())[1:-1]
    days = list(days_of(times_of(cleaned, named("bootstrap", seed=seed)), start).values())
    assert set(days[:-1]) <= set(whole)
    assert any(days[-1] == day[: len(days[-1])] for day in whole)
    drawn = Counter(days[:-1])
    assert max(drawn.values()) > 1
    assert len(drawn) < len(whole)


def test_blocks_of_a_week_are_weeks_of_the_log(workload: Trace) -> None:
    """Days of a block follow each other as they did."""
    weeks = []
    for times in (workload.arrays.submit_time, times_of(workload, named("bootstrap", block_days=7))):
        days = days_of(times, 0.0)
        weeks.append([tuple(days.get(first + i, ()) for i in range(7)) for first in range(1, max(days) - 6, 7)])
    logged, drawn = weeks
    assert len(drawn) > 5
    assert set(drawn) <= set(logged)


def test_days_without_jobs_are_days_too() -> None:
    """An empty day of the log may be drawn: then no job comes that day."""
    trace = jobs_at(*(DAY * day + second for day in range(0, 40, 2) for second in (0, 1, 2)), 45 * DAY)
    times = times_of(trace, named("bootstrap", seed=2))
    assert {0, 1, 2} == set((times % DAY).tolist())
    steps = np.diff(np.unique(times // DAY))
    assert steps.min() == 1
    assert steps.max() > 2


def test_whole_blocks_without_a_job() -> None:
    """Where the whole blocks hold no job there is nothing to draw: the log keeps its times."""
    assert [1, 2, 3 * DAY + 5] == times_of(jobs_at(1, 2, 3 * DAY + 5), named("bootstrap", block_days=2)).tolist()


def test_too_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nearly all jobs are outside the whole blocks, more would be needed than a log can have: none is drawn."""
    monkeypatch.setattr(arrivals, "generator", lambda *_: pytest.fail("drawn"))
    sparse = jobs_at(1, DAY + 5, *np.linspace(9000 * DAY, 9000 * DAY + 5, 1000))
    with pytest.raises(ParameterError, match=r"the last job would come at .* but a log ends at"):
        times_of(sparse, named("bootstrap"))


# Poisson and Lublin-Feitelson


def test_gaps_of_poisson_are_exponential_in_points(workload: Trace) -> None:
    """Measured in points of the log's own daily cycle, times between arrivals are exponential."""
    for model, is_poisson in (("poisson", True), ("lublin-feitelson", False)):
        times = np.sort(times_of(workload, named(model, seed=3)))
        points = np.diff(points_at(times, fitted_weights(workload.arrays.submit_time)))
        distance = stats.kstest(points / points.mean(), "expon").statistic
        assert is_poisson == (distance < 2.3 / math.sqrt(len(points)))


def test_poisson_has_the_logs_daily_cycle(cleaned: Trace) -> None:
    """The shares of the hours of the day are the log's, within chance; the log's own are far from even."""
    start = start_of_day(cleaned.header)
    hours = [
        np.bincount(((times + start) % DAY // 3600).astype(int), minlength=24) / len(times)
        for times in (cleaned.arrays.submit_time, times_of(cleaned, named("poisson")))
    ]
    assert abs(hours[0] - 1 / 24).sum() / 2 > 0.15
    assert abs(hours[0] - hours[1]).sum() / 2 < 0.05


@pytest.mark.parametrize("types", ["all", "batch", "interactive", "mix"])
@pytest.mark.parametrize("hour", [0, 8, 17])
def test_lublin_feitelson_comes_by_day(types: str, hour: int) -> None:
    """Its daily cycle stands where the header says that second 0 is, also where the log's own jobs come at night."""
    header = SwfHeader.from_lines([f"; UnixStartTime: {86_400 * 10_000 + 3600 * hour}", "; TimeZone: 0"])
    night = np.sort((np.arange(6000) % 60 + (2 - hour) % 24) * 86_400.0 + 3.0 * np.arange(6000) % 3600)
    times = times_of(jobs_at(*night, header=header), named("lublin-feitelson", types=types))
    counts = np.bincount(((times + 3600 * hour) % DAY // 3600).astype(int), minlength=24) * 24 / len(times)
    assert counts[[4, 5]].mean() < 0.6
    assert counts[[12, 13]].mean() > 1.2


def test_seeds_draw_apart(workload: Trace) -> None:
    """Equal seeds give equal times; other seeds and models others."""
    for model in ("lublin-feitelson", "poisson", "bootstrap"):
        first, again, other = (times_of(workload, named(model, seed=seed)) for seed in (5, 5, 6))
        assert first.tolist() == again.tolist()
        assert (first != other).mean() > 0.9


def test_a_rate_without_an_alpha_is_met_by_stretching() -> None:
    """Jobs a second apart for an hour, or a year apart, keep their span; a load beyond the alphas is refused."""
    for step in (1.0, 0.01, 30e6):
        trace = jobs_at(*(step * np.arange(100)))
        times = times_of(trace, named("lublin-feitelson"))
        assert (0, np.rint(99 * step)) == (times.min(), times.max())
        assert len(np.unique(times)) > 1
    trace = jobs_at(*(1000.0 * np.arange(100)))
    with pytest.raises(
        ParameterError, match=r"no alpha gives load=1e-05; .* \S+ to \S+; model=scaled reaches any"
    ) as caught:
        times_of(trace, named("lublin-feitelson", load=1e-5))
    least, greatest = map(float, str(caught.value).rpartition(" be ")[2].split(";")[0].split(" to "))
    for load in (1.1 * least, 0.9 * greatest):
        assert load == pytest.approx(
            offered_load(trace, times_of(trace, named("lublin-feitelson", load=load))), rel=0.01
        )
    assert 1e-5 == pytest.approx(offered_load(trace, times_of(trace, named("scaled", load=1e-5))), rel=1e-6)


# The time of the day


@pytest.mark.parametrize(
    ("lines", "hours"),
    [
        ([], 0),
        (["; TimeZoneString: US/Pacific"], 0),
        (["; UnixStartTime: 956700003"], 22 + 3 / 3600),
        (["; UnixStartTime: 956700003", "; TimeZoneString: US/Pacific"], 15 + 3 / 3600),  # summer
        (["; UnixStartTime: 948924003", "; TimeZoneString: US/Pacific"], 14 + 3 / 3600),  # winter
        (["; UnixStartTime: 956700003", "; TimeZone: -28800"], 14 + 3 / 3600),
        (["; UnixStartTime: 956700003", "; TimeZone: -28800", "; TimeZoneString: US/Pacific"], 15 + 3 / 3600),
        (["; UnixStartTime: 956700003", "; TimeZone: 7200", "; TimeZoneString: Middle/Earth"], 3 / 3600),
        (["; UnixStartTime: 956700003", "; TimeZone: 7200", "; TimeZoneString: ../etc"], 3 / 3600),
        (["; UnixStartTime: 956700003", "; TimeZone: 0", "; TimeZoneString: "], 22 + 3 / 3600),
        (["; UnixStartTime: 956700003", "; TimeZoneString: Asia/Kolkata"], 3.5 + 3 / 3600),
        (["; UnixStartTime: 0", "; TimeZone: 3600"], 0),
    ],
)
def test_time_of_the_day_at_the_start(lines: list[str], hours: float) -> None:
    """The zone's name comes before its offset, with its summer time at the start; without a start it is midnight."""
    assert hours * 3600 == pytest.approx(start_of_day(SwfHeader.from_lines(lines)))


@pytest.mark.parametrize("seconds", [1, 951_000_000, 253_402_300_799])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "A" * 300, "a\x00b", "/etc/passwd", "."])
def test_any_header_has_a_start_of_the_day(seconds: int, zone: str) -> None:
    """The ends of the calendar, and names that are none, give a time of the day."""
    header = SwfHeader().with_entry("UnixStartTime", str(seconds)).with_entry("TimeZoneString", zone)
    assert 0 <= start_of_day(header) < DAY
