# SPDX-License-Identifier: BSD-3-Clause
"""Dates of outages as seconds of a log, and simulations that take them so."""

from __future__ import annotations

from dataclasses import replace

import pytest

import swftools
from swftools.header import SwfHeader
from swftools.machines.description import MachineDescription
from swftools.machines.outage_dates import in_log_time
from swftools.machines.parts import Outage

START = 1_772_359_200
"""2026-03-01 10:00 UTC."""


def header(*lines: str) -> SwfHeader:
    """Return the header of a log that began then."""
    return SwfHeader.from_lines([f"; UnixStartTime: {START}", *lines])


@pytest.mark.parametrize(
    ("date", "lines", "expected"),
    [
        ("2026-03-01T10:00:00Z", (), 0.0),
        ("2026-03-01T12:00:00.5+01:00", (), 3600.5),
        ("2026-03-01T09:00:00Z", (), -3600.0),
        ("2026-03-01T11:00:00", (), 3600.0),  # UTC where the log does not say
        ("2026-03-01T11:00:00", ("; TimeZoneString: Europe/Berlin",), 0.0),
        ("2026-03-01T11:00:00Z", ("; TimeZoneString: Europe/Berlin",), 3600.0),
    ],
)
def test_dates(date: str, lines: tuple[str, ...], expected: float) -> None:
    """By their own zone, or the log's."""
    (found,) = in_log_time([Outage(nodes=("n1",), begin=date)], header(*lines))
    assert (found.begin, found.end) == (expected, None)
    (found,) = in_log_time([Outage(nodes=("n1",), end=date, reason="fan")], header(*lines))
    assert (found.begin, found.end, found.reason) == (None, expected, "fan")


def test_what_stays() -> None:
    """Seconds, and all of a log that does not say when it began."""
    timed, dated = Outage(nodes=("n1",), begin=5.0), Outage(nodes=("n1",), begin="2026-03-01T10:00:00Z")
    assert in_log_time([timed], header()) == (timed,)
    assert in_log_time([dated], SwfHeader.from_lines([])) == (dated,)


@pytest.fixture
def machine() -> MachineDescription:
    """Two nodes of one core."""
    return MachineDescription.from_mapping({"nodes": [{"kind": "n", "count": 2, "cores": 1}]})


@pytest.fixture
def log() -> swftools.Trace:
    """Two jobs, of which each could have a node at once."""
    trace = swftools.Trace.from_columns(
        submit_time=[0, 1], run_time=[10, 10], requested_time=[10, 10], requested_processors=[1, 1]
    )
    return replace(trace, header=header())


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_simulation(machine: MachineDescription, log: swftools.Trace) -> None:
    """A drained node is seen when it begins: the second job waits for the other node, by date as by second."""
    outage = {"nodes": "n2", "kind": "drain", "known": False}
    dated = replace(machine, outages=(Outage(**outage, begin="2026-03-01T10:00:01Z", end="2026-03-01T10:01:00Z"),))
    timed = replace(machine, outages=(Outage(**outage, begin=1.0, end=60.0),))
    for given in (dated, timed, dated.simulated(log.header)):
        assert swftools.simulate(log, "fcfs", machine=given).jobs["start_time"].tolist() == [0, 10]
    told = swftools.simulate(replace(log, header=SwfHeader.from_lines([])), "fcfs", machine=dated)
    assert told.jobs["start_time"].tolist() == [0, 1]
    assert any("1 outage at dates" in sentence for sentence in told.assumptions)
    assert not any("outage" in text for text in swftools.simulate(log, "fcfs", machine=dated).assumptions)
