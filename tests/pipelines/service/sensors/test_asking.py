# SPDX-License-Identifier: BSD-3-Clause
"""How a batch system is asked: found by name, with patience, counted, never twice at once, ended with the service."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from contextvars import copy_context
from itertools import pairwise
from pathlib import Path

import pytest

from pipelines.service.sensors import KINDS, make_sensor
from pipelines.service.sensors.commands import calls_end_here, counted, run_command
from pipelines.service.sensors.patient import FIRST, LONGEST, Patience, PatientSensor
from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine, SensorError
from swftools.errors import ParameterError
from swftools.live import JobEvent
from tests.pipelines.service.sensors.commands import script


class Asked:
    """A sensor that answers or fails as it is told."""

    def __init__(self) -> None:
        self.polls, self.machines = 0, 0
        self.is_away = self.has_no_machine = False
        self.notice: str | None = None
        self.costs: dict[str, Cost] = {}
        self.heard: list[JobEvent] = [JobEvent("submitted", 1.0, "7")]

    def poll(self, now: float) -> list[JobEvent]:
        """Return what is heard."""
        self.polls += 1
        if self.is_away:
            raise SensorError(f"it is away at {now:g}")
        return self.heard

    def machine(self) -> Machine:
        """Return a machine of so many processors as were asked for."""
        self.machines += 1
        if self.has_no_machine:
            raise SensorError("nobody says")
        return Machine(self.machines)


def patient(draw: float = 0.0) -> tuple[Asked, PatientSensor, list[float]]:
    """Return a sensor, one that asks it with patience, and the time of that."""
    sensor, now = Asked(), [0.0]
    return sensor, PatientSensor(sensor, Patience(lambda: now[0], lambda: draw)), now


def test_who_does_not_answer_is_asked_less_often() -> None:
    """At once after one failure; then after a minute, which doubles up to 15 minutes; after an answer anew."""
    sensor, asking, now = patient()
    sensor.is_away = True
    asked = []
    while now[0] < 2 * 3600.0:
        before = sensor.polls
        with pytest.raises(SensorError):
            asking.poll(now[0])
        if sensor.polls > before:
            asked.append(now[0])
        now[0] += 10.0
    waits = [later - earlier for earlier, later in pairwise(asked)]
    assert waits[:6] == [10.0, FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST, LONGEST]
    assert set(waits[6:]) == {LONGEST}
    with pytest.raises(SensorError, match=r"it is away at \d+; it is asked again in \d"):
        asking.poll(now[0])
    sensor.is_away = False
    now[0] += LONGEST
    assert asking.poll(now[0]) == sensor.heard
    sensor.is_away = True
    for _ in range(2):
        with pytest.raises(SensorError, match=r"away at \d+$"):
            asking.poll(now[0])


def test_many_who_wait_do_not_ask_together() -> None:
    """A random part of up to a half is taken off."""
    sensor, asking, now = patient(draw=1.0)
    sensor.is_away = True
    for _ in range(2):
        with pytest.raises(SensorError):
            asking.poll(0.0)
    for moment, polls in ((FIRST / 2 - 0.1, 2), (FIRST / 2, 3)):
        now[0] = moment
        with pytest.raises(SensorError):
            asking.poll(0.0)
        assert sensor.polls == polls


def test_jobs_are_heard_of_although_nobody_says_what_the_machine_is(caplog: pytest.LogCaptureFixture) -> None:
    """What was said last stands; it is said once."""
    sensor, asking, _ = patient()
    sensor.has_no_machine = True
    assert asking.machine() == NOT_SAID
    assert asking.machine() == NOT_SAID
    assert len(caplog.records) == 1
    sensor.has_no_machine = False
    assert asking.machine() == Machine(3)
    sensor.has_no_machine = True
    assert asking.machine() == Machine(3)
    assert asking.poll(0.0) == sensor.heard
    sensor.notice, sensor.costs = "so it is", {"squeue": Cost(1)}
    assert (asking.notice, asking.costs) == ("so it is", sensor.costs)


def test_no_two_calls_at_once() -> None:
    """The second is refused, and the first one is not disturbed."""
    sensor, asking, _ = patient()
    begun, goes_on, told = threading.Event(), threading.Event(), []

    def slow(_: float) -> list[JobEvent]:
        begun.set()
        goes_on.wait(30)
        return sensor.heard

    sensor.poll = slow  # type: ignore[method-assign]
    thread = threading.Thread(target=lambda: told.append(asking.poll(0.0)))
    thread.start()
    begun.wait(30)
    for call in (lambda: asking.poll(1.0), asking.machine):
        with pytest.raises(SensorError, match="the last call still runs"):
            call()
    goes_on.set()
    thread.join()
    assert told == [sensor.heard]
    assert asking.poll(2.0) == sensor.heard


def test_what_calls_cost() -> None:
    """Calls, seconds and failures, by command."""
    ticks = iter([0.0, 2.0, 5.0, 6.0, 10.0, 10.5])
    costs: dict[str, Cost] = {}

    def run(command: tuple[str, ...]) -> str:
        if command[-1] == "fails":
            raise SensorError("no")
        return "told"

    counting = counted(run, costs, lambda: next(ticks))
    assert counting(("squeue", "-h")) == "told"
    with pytest.raises(SensorError):
        counting(("squeue", "fails"))
    counting(("sacct",))
    assert costs == {"squeue": Cost(2, 3.0, 1), "sacct": Cost(1, 0.5, 0)}


@pytest.mark.parametrize("is_ended", [True, False])
def test_a_command_that_hangs_is_ended(is_ended: bool, tmp_path: Path) -> None:
    """With all that it started: by the end of the service, or because it takes too long."""
    script(tmp_path / "squeue", f"trap '' INT TERM; sleep 60 & echo $! > {tmp_path}/child; wait")
    told: list[str] = []

    def ask() -> None:
        try:
            run_command(("squeue",), folder=str(tmp_path), seconds=50.0 if is_ended else 0.5)
        except SensorError as error:
            told.append(str(error))

    child = tmp_path / "child"
    with calls_end_here() if is_ended else nullcontext():
        thread = threading.Thread(target=copy_context().run, args=(ask,))
        thread.start()
        while not (child.exists() and child.read_text().strip()):
            time.sleep(0.01)
    thread.join(20)
    assert told == ["squeue ended with -9: " if is_ended else "squeue did not answer within 0 s"]
    assert _is_gone(int(child.read_text()))


def test_what_a_script_left_behind_is_ended(tmp_path: Path) -> None:
    """It is over itself, and what it started keeps its pipe open, or has let go of it."""
    script(tmp_path / "squeue", f"sleep 60 & echo $! > {tmp_path}/child; echo told")
    with pytest.raises(SensorError, match="squeue did not answer within 0 s"):
        run_command(("squeue",), folder=str(tmp_path), seconds=0.4)
    assert _is_gone(int((tmp_path / "child").read_text()))
    script(tmp_path / "squeue", f"sleep 60 > /dev/null 2>&1 & echo $! > {tmp_path}/child; echo told")
    assert run_command(("squeue",), folder=str(tmp_path)) == "told\n"
    assert _is_gone(int((tmp_path / "child").read_text()))


def test_nothing_begins_when_the_service_ends(tmp_path: Path) -> None:
    """A thread that is about to ask asks no more; others do."""
    script(tmp_path / "squeue", "echo told")
    with calls_end_here():
        inside = copy_context()
        assert inside.run(run_command, ("squeue",), folder=str(tmp_path)) == "told\n"
    with pytest.raises(SensorError, match="the service ends"):
        inside.run(run_command, ("squeue",), folder=str(tmp_path))
    assert run_command(("squeue",), folder=str(tmp_path)) == "told\n"


def _is_gone(process: int) -> bool:
    """Whether a process ends soon."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


SERVED = """
import asyncio, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where tests run in the background
from pipelines.service.listening import listen
from pipelines.service.sensors import make_sensor

class Heard:
    name, tick = "blue", 0.01
    sensor = make_sensor("slurm", {"folder": sys.argv[1]}, [])
    def hear(self):
        return 0.0, self.sensor.poll(0.0)
    def learn(self, now, heard):
        pass

async def main():
    await listen([Heard()])
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("ended")
"""


def test_ctrl_c_does_not_wait_for_a_command(tmp_path: Path) -> None:
    """Whatever the command does about signals; it may take 30 s otherwise."""
    script(tmp_path / "squeue", f"trap '' INT TERM; touch {tmp_path}/asked; sleep 25")
    with subprocess.Popen([sys.executable, "-c", SERVED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "asked").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        try:
            printed, _ = process.communicate(timeout=15)
        finally:
            process.kill()
    assert (printed, process.returncode) == ("ended\n", 0)


@pytest.mark.parametrize(
    ("kind", "settings", "told"),
    [
        ("slrum", {}, "no sensor 'slrum'; there are: slurm, pbs, slurmrestd, folder; did you mean slurm"),
        ("slurm", {"foldr": 1}, "sensor slurm: no setting 'foldr'; there are: folder, .*; did you mean folder"),
        ("slurm", {"timeout": -1}, "sensor slurm: timeout=-1: Input should be greater than 0"),
        ("pbs", {"timeout": "soon"}, "sensor pbs: timeout='soon': Input should be a valid number"),
        ("slurmrestd", {}, "sensor slurmrestd: url is missing; add it"),
        ("slurmrestd", {"url": "slurm:6820"}, "sensor slurmrestd: url: 'slurm:6820' is none of http://"),
        ("slurmrestd", {"url": "unix:"}, "is none of http://"),
        ("slurmrestd", {"url": "http://ann:secret@h"}, "url: it names a user: put that into user and token_file$"),
        ("slurmrestd", {"url": "http://h:x"}, "is none of http://"),
        ("folder", {"path": "x", "quiet": 1}, "sensor folder: quiet=1: "),
    ],
)
def test_settings_that_are_wrong(kind: str, settings: dict[str, object], told: str) -> None:
    """Say what is known, and what was meant."""
    with pytest.raises(ParameterError, match=told):
        make_sensor(kind, settings, [])


def test_every_kind_can_be_made(tmp_path: Path) -> None:
    """Of its name; those by commands without settings. What was heard before is read once."""
    needed = {"slurmrestd": {"url": "unix:///run/slurmrestd.socket"}, "folder": {"path": str(tmp_path)}}

    def before() -> Iterator[JobEvent]:
        yield JobEvent("submitted", 1.0, "7@1")

    for kind in KINDS:
        sensor = make_sensor(kind, needed.get(kind, {}), before())
        assert isinstance(sensor, PatientSensor)
        assert type(sensor.sensor).__module__.endswith(f"sensors.{kind}")
        assert (sensor.notice, dict(sensor.costs)) == (None, {})
