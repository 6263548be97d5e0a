# SPDX-License-Identifier: BSD-3-Clause
"""Energy of schedules: drawn by hand, beside a twin that goes second by second, and laws that hold of any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import simulate
from swftools.energy import EnergyParameters, measure_energy, power_over_time, read_rates
from swftools.errors import ParameterError
from swftools.header import SwfHeader
from swftools.simulator import measure
from swftools.simulator.measures_table import summarize
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_schedule, draw_trace
from tests.examples import examples
from tests.naive.energy import measures, power_each_second

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

# Four processors. Job 3 is stopped at 5 and begins anew at 15.
DRAWN = draw_schedule(
    """
    job submit width runs       request
    1   0      3     0-10       10
    2   2      4     10-15      6
    3   3      1     3-5,15-20  8
    """
)
WATTS = {1: 100.0, 2: 50.0, 3: 10.0}
RATES = read_rates(pd.Series([1.0, 4.0], pd.to_datetime(["2022-01-01T00:00:00Z", "2022-01-01T00:00:12Z"])))


def _with_power(schedule: Schedule, watts: dict[int, float]) -> Schedule:
    jobs = schedule.jobs
    each = np.array([watts[number] for number in jobs["job_number"]])
    jobs = jobs.assign(mean_power=each * jobs["allocated_processors"].to_numpy(np.float64))
    return Schedule(jobs, schedule.segments, schedule.excluded, schedule.processors, "drawn")


def _found(schedule: Schedule, **options: object) -> dict[tuple[str, str], float]:
    table = measure_energy(schedule, **options)  # type: ignore[arg-type]
    return dict(zip(zip(table["measure"], table["statistic"], strict=True), table["value"], strict=True))


def test_drawn_by_hand() -> None:
    """P is 300 W to 3 s, 310 to 5, 300 to 10, 200 to 15, 10 to 20; idle 1 W a processor, 2 W always."""
    schedule = _with_power(DRAWN, WATTS)
    steps = power_over_time(schedule, idle_power=1, static_power=2)
    assert [0, 2, 3, 5, 10, 15, 20] == steps["time"].tolist()
    assert [300, 300, 310, 300, 200, 10, 0] == steps["job_power"].tolist()
    assert [1, 1, 0, 1, 0, 3, 4] == steps["idle_power"].tolist()
    assert [303, 303, 312, 303, 202, 15, 6] == steps["power"].tolist()
    found = _found(schedule, percentiles=(0, 25, 50, 75, 90, 100))
    assert 3000 + 1000 + 70 == found["energy", "total"] == found["energy", "of_jobs"]
    assert 4070 * 20 == found["energy_delay", "by_makespan"]
    assert 3000 * 10 + 1000 * 13 + 70 * 17 == found["energy_delay", "by_turnaround"]
    assert (203.5, 310) == (found["power", "time_mean"], found["power", "max"])
    assert [10, 10, 200, 300, 300, 310] == [found["power", f"p{point}"] for point in (0, 25, 50, 75, 90, 100)]
    assert 0 == found["assumed_power", "count"]


def test_cost_and_carbon_by_hand() -> None:
    """A rate of 1 to 12 s, of 4 from then on: 3420 J at 1 and 650 J at 4; two seconds earlier 3020 and 1050."""
    schedule = _with_power(DRAWN, WATTS)
    options = {"price": RATES, "intensity": RATES, "origin": "2022-01-01T00:00Z"}
    found = _found(schedule, **options)
    assert pytest.approx((3420 + 4 * 650) / 3.6e6, rel=1e-12) == found["cost", "total"] == found["carbon", "total"]
    assert pytest.approx((3420 + 4 * 650) / 4070, rel=1e-12) == found["price", "by_energy"]
    assert pytest.approx((12 + 4 * 8) / 20, rel=1e-12) == found["price", "time_mean"]
    assert found["carbon_intensity", "by_energy"] == found["price", "by_energy"]
    later = _found(schedule, **{**options, "origin": "2022-01-01T01:00:02+01:00"})
    assert pytest.approx((3020 + 4 * 1050) / 3.6e6, rel=1e-12) == later["cost", "total"]


def test_a_window() -> None:
    """Nothing else counts, and before the first event the machine idles."""
    found = _found(_with_power(DRAWN, WATTS), window=(-10.0, 4.0), idle_power=1, static_power=2)
    assert 10 * 6 + 3 * 303 + 312 == found["energy", "total"]
    assert 3 * 300 + 310 == found["energy", "of_jobs"]
    assert 14 * found["energy", "total"] == found["energy_delay", "by_makespan"]


def test_power_that_is_not_logged() -> None:
    """It is assumed, counted, and asked for; ``logged=False`` assumes it of all."""
    schedule = _with_power(DRAWN, WATTS | {2: np.nan})
    with pytest.raises(
        ParameterError, match="1 of 3 jobs have no mean_power in the log; give the power of a busy processor"
    ):
        measure_energy(schedule)
    found = _found(schedule, busy_power=50)
    assert (4070, 1) == (found["energy", "total"], found["assumed_power", "count"])
    found = _found(schedule, busy_power=2, logged=False)
    assert (2 * (30 + 20 + 7), 3) == (found["energy", "total"], found["assumed_power", "count"])


def test_power_on_another_width() -> None:
    """Mean power over the width that was logged, times the processors that the run has."""
    schedule = _with_power(DRAWN, WATTS)
    doubled = schedule.jobs.assign(width=2 * schedule.jobs["allocated_processors"])
    found = _found(Schedule(doubled, schedule.segments, schedule.excluded, 4, "drawn"))
    assert 4070 / 2 == found["energy", "total"]


def test_rows_stand_below_those_of_measure() -> None:
    """The same columns and types, and summarize takes both."""
    schedule = _with_power(DRAWN, WATTS)
    energy, rest = measure_energy(schedule, label="a"), measure(schedule, label="a")
    assert dict(energy.dtypes) == dict(rest.dtypes)
    wide = summarize(pd.concat([rest, energy]), [("wait", "mean"), ("energy", "total")])
    assert 4070 == wide["energy_total"].item()


def test_no_jobs() -> None:
    """Values are missing, and nothing fails."""
    schedule = _with_power(DRAWN, WATTS)
    empty = Schedule(schedule.jobs[:0], schedule.segments[:0], schedule.excluded, 4, "drawn")
    found = _found(empty, busy_power=1, price=RATES, origin="2022-01-01T00:00Z")
    assert all(np.isnan(value) for (name, _), value in found.items() if name != "assumed_power")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"origin": "2022-01-01"}, "origin='2022-01-01' has no zone"),
        ({"origin": "soon"}, "origin='soon' is not a time"),
        ({}, "the moment of second 0 of the schedule is unknown"),
        ({"origin": "2021-12-31T23:59:59Z"}, "give a longer series"),
        ({"origin": "2022-01-01T00:00Z", "idle_power": -1}, "energy: idle_power=-1 is not"),
        ({"origin": "2022-01-01T00:00Z", "percentiles": (101,)}, "energy: percentiles="),
        ({"origin": "2022-01-01T00:00Z", "window": (5, 5)}, "energy: window="),
    ],
)
def test_bad_input(options: dict[str, object], told: str) -> None:
    """Each names what is wrong, and the remedy."""
    with pytest.raises(ParameterError, match=told):
        measure_energy(_with_power(DRAWN, WATTS), price=RATES, **options)  # type: ignore[arg-type]


def test_a_negative_intensity_is_refused_and_a_negative_price_is_not() -> None:
    """Prices below 0 occur; less than no carbon does not."""
    rates = read_rates(pd.Series([-1.0, -1.0], pd.date_range("2022-01-01", periods=2, freq="h", tz="UTC")))
    schedule = _with_power(DRAWN, WATTS)
    assert _found(schedule, price=rates, origin="2022-01-01T00:00Z")["price", "by_energy"] == pytest.approx(-1.0)
    with pytest.raises(ParameterError, match="an intensity of -1 gCO2/kWh is negative"):
        measure_energy(schedule, intensity=rates, origin="2022-01-01T00:00Z")


def test_the_log_says_when_second_0_is() -> None:
    """By submit_timestamp, of the first job that has one."""
    stamps = pd.to_datetime(["NaT", "2022-01-01T00:00:02Z", "2022-01-01T00:00:03Z"], utc=True)
    schedule = _with_power(DRAWN, WATTS)
    dated = Schedule(schedule.jobs.assign(submit_timestamp=stamps), schedule.segments, schedule.excluded, 4, "drawn")
    assert _found(dated, price=RATES) == pytest.approx(_found(schedule, price=RATES, origin="2022-01-01T00:00Z"))


def test_so_does_the_header_of_a_log_that_was_not_cleaned() -> None:
    """Its UnixStartTime; whose schedule has none says what is missing."""
    trace = draw_trace("submit run width / 0 5 2 / 1 6 4", processors=4)
    dated = replace(trace, header=SwfHeader.from_lines(["; UnixStartTime: 1640995200"]))
    expected = _found(simulate(trace, "fcfs"), price=RATES, origin="2022-01-01T00:00Z", busy_power=100)
    assert _found(simulate(dated, "fcfs"), price=RATES, busy_power=100) == expected
    with pytest.raises(ParameterError, match="the moment of second 0"):
        _found(simulate(trace, "fcfs"), price=RATES, busy_power=100)


JOBS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 4), st.integers(1, 20), st.integers(0, 5)), min_size=1, max_size=12
)


@examples(0.5)
@given(JOBS, st.integers(0, 3), st.integers(0, 3), st.lists(st.integers(-3, 9), min_size=30, max_size=30))
def test_second_by_second(jobs: list[tuple[int, ...]], idle: int, static: int, rates: list[int]) -> None:
    """Every measure equals that of a twin that adds up seconds."""
    lines = [f"{submit} {run} {width} {run}" for submit, width, run, _ in jobs]
    trace = draw_trace("submit run width request\n" + "\n".join(lines), processors=4)
    watts = {number: float(each[3]) for number, each in enumerate(jobs, 1)}
    schedule = simulate(trace, "easy", compiled=False)
    begin, end = int(schedule.jobs["submit_time"].min()), int(schedule.jobs["end_time"].max())
    times = pd.date_range("2022-01-01", periods=30, freq="10s", tz="UTC")
    each_second = [float(rates[second // 10]) for second in range(begin, end)]
    expected = measures(power_each_second(schedule, watts, idle, static, begin, end), each_second, (0, 10, 50, 95, 100))
    found = _found(
        _with_power(schedule, watts),
        price=read_rates(pd.Series([float(rate) for rate in rates], times)),
        origin="2022-01-01T00:00Z",
        parameters=EnergyParameters(idle_power=idle, static_power=static, percentiles=(0, 10, 50, 95, 100)),
    )
    assert expected == pytest.approx({key: found[key] for key in expected}, rel=1e-9, abs=1e-12, nan_ok=True)
