"""Jobs shorter than the least plan of conservative backfilling end early, however exact their estimates are."""

from __future__ import annotations

from swftools.simulator.simulation import simulate
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace


def test_replanned_reservations_of_jobs_without_run_time_are_not_held_against_it() -> None:
    """Ten jobs of no time move those behind them forward; what job 21 was promised depends on when that happens."""
    short = ["0 0 1"] * 10
    table = " / ".join(["submit run width", *short, "0 2 5", *["0 0 1"] * 6, *["0 1 1"] * 3, "1 0 2"])
    trace = draw_trace(table, processors=7)
    schedule = simulate(trace, "conservative-replanned", predictor="exact")
    assert [1.0, 2.0] == schedule.jobs["start_time"].tolist()[-2:]
    report = validate(schedule, trace=trace)
    assert report.ok, str(report)
    note = "promises not checked: conservative-replanned keeps reservations only with exact estimates of at least 1 s"
    assert note in report.notes


def test_replanned_reservations_of_longer_jobs_are_checked() -> None:
    """Where all jobs run for a second or more, nothing is left out."""
    trace = draw_trace("submit run width / 0 1 3 / 0 1 3", processors=4)
    report = validate(simulate(trace, "conservative-replanned", predictor="exact"), trace=trace)
    assert report.ok
    assert "reservation" in report.checked
