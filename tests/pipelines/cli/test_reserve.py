# SPDX-License-Identifier: BSD-3-Clause
"""The command reserve: what it prints, moments of its options, its statuses, and that it answers at once."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.cli.moments import at_command, moment_of, zone_of
from swftools import Trace
from swftools.errors import ParameterError
from swftools.header import SwfHeader
from tests.pipelines.luigi_runs import environment
from tests.reservations.states import log_of_waits, save_state

NOW = "2026-11-25T12:00:00Z"
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state of waits that are mostly below 40 min."""
    waits = np.random.default_rng(0).uniform(0, 2400, 400).round()
    return save_state(tmp_path_factory.mktemp("reserve"), log_of_waits(waits), trimming=False)


def asked(state: Path, *arguments: str) -> Result:
    """Return what the command says of an hour on 64 processors, in lines that fit."""
    job = ["--state", str(state), "--processors", "64", "--requested-time", "1h", "--now", NOW, "--zone", "UTC"]
    result = CliRunner().invoke(main, ["reserve", *job, *arguments])
    lines = [line for line in result.stdout.splitlines() if "| at -t" not in line]
    assert all(len(line) <= 80 for line in lines), result.stdout
    return result


def test_accepted(state: Path) -> None:
    """What to submit when; the line for ``at`` says the same; so does JSON."""
    told = json.loads(asked(state, "--start", "tomorrow 09:00", "--probability", ".75", "--json").stdout)
    assert told["is_accepted"]
    lead = told["requested_time"] - 3600
    assert 1800 < lead < 2100
    submit = datetime(2026, 11, 26, 9, tzinfo=UTC).timestamp() - lead
    assert datetime.fromisoformat(told["submit_utc"]).timestamp() == submit
    assert (told["now_utc"], told["start_utc"], told["most_surplus"]) == (NOW, "2026-11-26T09:00:00Z", 64 * lead)
    result = asked(state, "--start", "2026-11-26 09:00", "--probability", ".75")
    assert result.exit_code == 0
    clock = f"01:{int(lead // 60):02}:{int(lead % 60):02}"
    seconds = int(submit % 60)
    sleep = f"sleep {seconds}; " if seconds else ""
    when = datetime.fromtimestamp(submit).strftime("%Y%m%d%H%M")
    assert f"echo '{sleep}sbatch --ntasks=64 --time={clock} job.sh' | at -t {when}" in result.stdout.splitlines()
    assert f"submit         {datetime.fromtimestamp(submit, UTC):%a %Y-%m-%d %H:%M:%S} +0000, in " in result.stdout
    assert f"up to {64 * lead / 3600:,.1f} beyond" in result.stdout
    assert "-lt 1795683600 ]" in result.stdout


def test_denied(state: Path, tmp_path: Path) -> None:
    """Status 1, with the best that can be had."""
    result = asked(state, "--start", "+20m", "--probability", ".9")
    assert result.exit_code == 1
    assert "Denied: no submission meets it. The best that can be had is 0.4" in result.stdout
    assert "Wed 2026-11-25 12:" in result.stdout
    young = save_state(tmp_path, log_of_waits([5.0] * 9), training=10)
    assert "9 waits of group all are known, and 10 are needed" in " ".join(
        asked(young, "--start", "+1h").stdout.split()
    )


def test_what_was_understood(state: Path, tmp_path: Path) -> None:
    """It is said first; a queue is called what the log calls it. JSON has the number."""
    assert asked(state, "--start", "+6h").stdout.splitlines()[0] == "understood: 64 processors, requested 1 h"
    log = log_of_waits([5.0] * 90, queue_id=[3] * 45 + [4] * 45)
    header = SwfHeader.from_lines(["; Queue: 3 batch", "; Queue: 4 night\x1b[2J"])
    named = save_state(tmp_path, Trace(header, log.jobs), by="queue")
    half = ["--start", "+6h", "--probability", ".5"]
    by_name = asked(named, *half, "--queue", "batch")
    assert (0, True) == (by_name.exit_code, ", of 45 waits of group batch" in by_name.stdout), by_name.output
    assert by_name.stdout == asked(named, *half, "--queue", "3").stdout
    assert json.loads(asked(named, *half, "--group", "batch", "--json").stdout)["group"] == "3"
    assert "of group night\\x1b[2J" in asked(named, *half, "--queue", "4").stdout


def test_a_picture(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written, also where the reservation is denied."""
    monkeypatch.chdir(tmp_path)
    asked(state, "--start", "+20m", "--probability", ".9", "--picture", "trajectory.svg")
    assert Path("trajectory.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--start", "2026-11-25 11:59"], "is in the past; now is Wed 2026-11-25 12:00:00"),
        (["--start", "someday"], "'someday' is not a time such as tomorrow 09:00"),
        (["--start", "2026-02-30 10:00"], "is not a time such as"),
        (["--start", "tomorrow 25:00"], "is not a time such as"),
        (["--start", "+6h", "--probability", "1"], "probability=1.0 is not a number between 0 and 1"),
        (["--start", "+6h", "--probability", "0"], "probability=0.0 is not a number between 0 and 1"),
        (["--start", "+6h", "--longest", "30m"], "longer than the queue takes"),
        (["--start", "+6h", "--zone", "Mars/Olympus"], "zone 'Mars/Olympus' is not known"),
        (["--start", "2027-03-28 02:30", "--zone", "Europe/Berlin"], "clocks do not show 02:30"),
        (["--start", "+6h", "--probability", ".5", "--command", "run {nodes}"], "it may have {time} and {processors}"),
        (["--start", "+6h", "--probability", ".5", "--command", "run 'it'"], "goes between single quotes"),
        (["--start", "+6h", "--history", "site"], "give --state or --history, not both"),
    ],
)
def test_what_is_refused(state: Path, arguments: list[str], words: str) -> None:
    """One clear error each, status 2."""
    result = asked(state, *arguments)
    assert result.exit_code == 2
    said = " ".join((result.stderr + result.stdout + str(result.exception or "")).split())
    assert words in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today 13:00", "2026-11-25T12:00"),
        ("12:59", "2026-11-26T11:59"),
        ("13:00", "2026-11-26T12:00"),
        ("13:01", "2026-11-25T12:01"),
        ("wednesday 09:00", "2026-12-02T08:00"),
        ("Thursday 9:05:30", "2026-11-26T08:05:30"),
        ("2026-11-26T09:00+05:00", "2026-11-26T04:00"),
        ("2026-11-26 09:00z", "2026-11-26T09:00"),
        ("+1-12", "2026-11-27T00:00"),
        ("2027-03-28 03:30", "2027-03-28T01:30"),
        ("2026-10-25T02:30+0100", "2026-10-25T01:30"),
    ],
)
def test_moments(text: str, expected: str) -> None:
    """Days, weekdays to come, the next time of a clock, offsets; of a zone with daylight saving."""
    now = datetime(2026, 11, 25, 12, tzinfo=UTC)
    assert moment_of(text, now, BERLIN) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_clocks_that_show_a_time_never_or_twice() -> None:
    """Both readings are told, with their offsets."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(ParameterError, match=r"when daylight saving begins there; say 03:30, or give the offset: "):
        moment_of("2026-03-29 02:30", now, BERLIN)
    with pytest.raises(ParameterError, match=r"2026-10-25T02:30\+0200 or 2026-10-25T02:30\+0100"):
        moment_of("2026-10-25 02:30", now, BERLIN)
    assert zone_of(None) is None


def test_the_line_for_at_where_a_clock_shows_a_time_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given by UTC there."""
    import time  # noqa: PLC0415 (of this test alone)

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        summer = at_command(datetime(2026, 7, 1, 7, 0, 5, tzinfo=UTC), "run")
        twice = at_command(datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "run")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert summer == "echo 'sleep 5; run' | at -t 202607010900"
    assert twice == "echo 'run' | TZ=UTC0 at -t 202610250130"


def test_little_is_loaded(state: Path) -> None:
    """Neither numba nor pandas nor scipy: an answer takes a moment."""
    code = (
        "import sys\nfrom pipelines.cli.main import main\n"
        f"try: main(['reserve', '--state', {str(state)!r}, '--requested-time', '1h', '--start', '+6h'])\n"
        "except SystemExit as end: print(end.code)\n"
        "print([name for name in ('numba', 'pandas', 'scipy', 'luigi') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert ended.stdout.splitlines()[-2:] == ["0", "[]"]
