# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor hears of a PBS, whatever qstat does to its JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.service.sensors.followed import LONG, LOOKS, FollowedJobs
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.pbs import PbsSensor, PbsSettings
from pipelines.service.sensors.pbs_jobs import sightings_of, time_of, width_of
from pipelines.service.sensors.pbs_json import read_jobs
from pipelines.service.sensors.sensor import Machine, QueueLimits, SensorError
from pipelines.service.sensors.task_lists import tasks_in
from swftools.live import JobEvent
from tests.pipelines.service.sensors import fake_pbs
from tests.pipelines.service.sensors.commands import script

BEGIN = 1_700_000_000
PROGRAM = (
    f'import os, sys; sys.argv[0] = os.environ["PROGRAM"]; exec(open("{fake_pbs.__file__}").read(), '
    '{"__name__": "__main__"})'
)
"""The fake, under the name by which it was called."""

FAULTS = (
    *("keys twice", "control", "numbers", "not a number", "no marks", "marks", "escapes", "text in front", "repeats"),
    *("drops", "first only"),
)


class Pbs:
    """A PBS: who waits and runs, who is over, and its faults."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}
        self.history: dict[str, dict[str, Any]] | None = {}
        self.faults: dict[str, str] = {}
        self.more: dict[str, str] = {}
        self.asked: list[str] = []

    def __call__(self, command: tuple[str, ...]) -> str:
        """Run a command."""
        self.asked.append(" ".join(command))
        status, told, wrong = fake_pbs.answer(self.told, command[0], list(command[1:]))
        if status not in (0, 153):
            raise SensorError(f"{command[0]} ended with {status}: {wrong}")
        return told

    @property
    def told(self) -> dict[str, Any]:
        """What its commands read."""
        return {"jobs": self.jobs, "history": self.history, "faults": self.faults, **self.more}

    def sensor(self, before: list[JobEvent] | None = None) -> PbsSensor:
        """Return a sensor that asks it, whose patience never ends."""
        return PbsSensor(self, before or (), patience=Patience(lambda: 0.0, lambda: 0.0))

    def poll(self, sensor: PbsSensor, now: float) -> list[tuple[str, float, str]]:
        """Return kind, time since the beginning, and job of what is heard."""
        heard = sensor.poll(BEGIN + now)
        return [(each.kind, each.time - BEGIN, each.job.partition("@")[0]) for each in heard]


@pytest.fixture
def pbs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pbs]:
    """A PBS without jobs, whose commands run in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield Pbs()
    monkeypatch.undo()
    time.tzset()


def waits(at: int = 0, **more: Any) -> dict[str, Any]:
    """Return the attributes of a job that waits since a moment."""
    told = {"Job_Owner": "ann@login", "job_state": "Q", "queue": "batch", "ctime": BEGIN + at, "mtime": BEGIN + at}
    asked = {"ncpus": 8, "nodect": 2, "select": "2:ncpus=4", "walltime": "04:00:00"}
    return {**told, "qtime": BEGIN + at, "Resource_List": asked, "etime": BEGIN + at, **more}


def runs(at: int, start: int, **more: Any) -> dict[str, Any]:
    """Return those of a job that runs."""
    return waits(at, job_state="R", stime=BEGIN + start, **more)


def over(at: int, start: int | None, end: int, status: int = 0) -> dict[str, Any]:
    """Return those of a job of the history."""
    more = {} if start is None else {"stime": BEGIN + start, "Exit_status": status}
    return waits(at, job_state="F", mtime=BEGIN + end + 3, history_timestamp=BEGIN + end, **more)


def test_a_job_that_waits_runs_and_ends(pbs: Pbs) -> None:
    """With its width, limit, user and queue; times are right whatever the zone; nothing is told twice."""
    sensor = pbs.sensor()
    pbs.jobs = {"7.pbs": waits()}
    (submitted,) = sensor.poll(BEGIN + 10.0)
    groups = {"queue": "batch", "user": "ann"}
    assert submitted == JobEvent("submitted", BEGIN, f"7.pbs@{BEGIN}", "", 8, 14_400.0, groups)
    assert pbs.poll(sensor, 20.0) == []
    pbs.jobs = {"7.pbs": runs(0, 25)}
    assert pbs.poll(sensor, 30.0) == [("started", 25, "7.pbs")]
    pbs.jobs["7.pbs"]["job_state"] = "E"
    assert pbs.poll(sensor, 35.0) == []
    assert pbs.asked == ["qstat -t -f -F json"] * 4
    pbs.jobs, pbs.history = {}, {"7.pbs": over(0, 25, 36)}
    assert sensor.poll(BEGIN + 40.0) == [JobEvent("ended", BEGIN + 36.0, f"7.pbs@{BEGIN}", outcome="completed")]
    assert pbs.asked[4:] == ["qstat -t -f -F json", "qstat -x -t -f -F json 7.pbs"]
    assert pbs.poll(sensor, 50.0) == []
    assert sensor._submitted == {}  # memory is of jobs that are there


def test_what_is_told_late(pbs: Pbs) -> None:
    """Holds, changes, another queue, a job that is deleted in the queue, one that failed, one that was moved away."""
    sensor = pbs.sensor()
    held = waits(job_state="H")
    del held["etime"]
    pbs.jobs = {"1.pbs": held, "2.pbs": waits(), "3.pbs": runs(0, 1), "4.pbs": waits(job_state="W"), "5.pbs": waits()}
    assert [kind for kind, _, _ in pbs.poll(sensor, 10.0)] == ["submitted"] * 3 + ["started"] + ["submitted"] * 2
    pbs.jobs = {"1.pbs": {**held, "job_state": "Q", "etime": BEGIN + 15}, "4.pbs": waits(job_state="W", queue="long")}
    moved = waits(job_state="M", stime=BEGIN + 3)
    pbs.history = {"2.pbs": over(0, None, 12), "3.pbs": over(0, 1, 13, status=271), "5.pbs": moved}
    heard = sensor.poll(BEGIN + 20.0)
    assert {(each.kind, each.time - BEGIN, each.job.split(".")[0], each.outcome) for each in heard} == {
        ("eligible", 15, "1", None),
        ("changed", 20, "4", None),
        ("cancelled", 12, "2", None),
        ("ended", 13, "3", "cancelled"),
        ("cancelled", 0, "5", None),
    }
    assert next(each for each in heard if each.kind == "changed").groups["queue"] == "long"


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_nothing_is_lost_or_told_twice_whatever_qstat_prints(fault: str, pbs: Pbs) -> None:
    """Each job is submitted, starts and ends once at its time: also those that qstat leaves out of its list."""
    pbs.faults = {"qstat": fault}
    sensor = pbs.sensor()
    names = [f"{job}.pbs" for job in range(10, 16)]
    heard = pbs.poll(sensor, 0.0)
    pbs.jobs = {name: waits(place + 1) for place, name in enumerate(names)}
    for now in (10.0, 20.0, 320.0):
        heard += pbs.poll(sensor, now)
    pbs.jobs = {name: runs(place + 1, 330 + place) for place, name in enumerate(names)}
    for now in (340.0, 350.0, 680.0):
        heard += pbs.poll(sensor, now)
    pbs.jobs, pbs.history = {}, {name: over(place + 1, 330 + place, 690 + place) for place, name in enumerate(names)}
    for now in (700.0, 710.0, 1050.0):
        heard += pbs.poll(sensor, now)
    assert sorted(heard) == sorted(
        [("submitted", place + 1, name) for place, name in enumerate(names)]
        + [("started", 330 + place, name) for place, name in enumerate(names)]
        + [("ended", 690 + place, name) for place, name in enumerate(names)]
    )


@pytest.mark.parametrize("share", [0.0, 0.2, 0.45, 0.5, 0.7, 0.9, 0.99])
def test_what_is_cut_off(share: float, pbs: Pbs) -> None:
    """Jobs that are not whole are asked for again; for a while nothing ends by it."""
    names = [f"{job}.pbs" for job in range(10, 16)]
    pbs.jobs = {name: waits(1) for name in names}
    sensor = pbs.sensor()
    assert len(pbs.poll(sensor, 10.0)) == 6
    pbs.faults = {"qstat": f"cut at {share}"}
    pbs.jobs |= {name: runs(1, 15) for name in names}
    heard = pbs.poll(sensor, 20.0) + pbs.poll(sensor, 30.0)
    pbs.faults = {}
    heard += pbs.poll(sensor, 40.0)
    assert sorted(heard) == [("started", 15, name) for name in names]


def test_arrays(pbs: Pbs) -> None:
    """An array is no job: its tasks are, which keep its submission, also those that it only counts."""
    sensor = pbs.sensor()
    whole = waits(0, job_state="B", array=True, array_indices_remaining="1-3")  # what is said of a task itself counts
    pbs.jobs = {"9[1].pbs": runs(30, 31, etime=BEGIN), "9[].pbs": whole}
    assert pbs.poll(sensor, 40.0) == [
        ("submitted", 0, "9[1].pbs"),
        ("started", 31, "9[1].pbs"),
        ("submitted", 0, "9[2].pbs"),
        ("submitted", 0, "9[3].pbs"),
    ]
    whole["array_indices_remaining"] = "3"
    expired = waits(50, job_state="X", stime=BEGIN + 31, mtime=BEGIN + 45, Exit_status=1)
    pbs.jobs = {"9[].pbs": whole, "9[1].pbs": expired, "9[2].pbs": runs(50, 51, etime=BEGIN), "9[3].pbs": waits()}
    assert sorted(pbs.poll(sensor, 60.0)) == [("ended", 45, "9[1].pbs"), ("started", 51, "9[2].pbs")]
    assert pbs.poll(sensor, 400.0) == []
    assert not any("-x" in words for words in pbs.asked)  # nobody is missing
    pbs.jobs, pbs.history = {}, {"9[2].pbs": over(50, 51, 70), "9[3].pbs": over(61, None, 71)}
    assert sorted(pbs.poll(sensor, 80.0)) == [("cancelled", 71, "9[3].pbs"), ("ended", 70, "9[2].pbs")]


def test_who_came_and_went_between_two_polls(pbs: Pbs) -> None:
    """By qselect after five minutes; once, and not who ended before."""
    sensor = pbs.sensor()
    assert pbs.poll(sensor, 0.0) == []
    pbs.history = {"5.pbs": over(-90, -80, -70), "6.pbs": over(1, 2, 3), "8.pbs": over(4, None, 5)}
    assert pbs.poll(sensor, 299.0) == []
    assert pbs.poll(sensor, 300.0) == [
        ("submitted", 1, "6.pbs"),
        ("started", 2, "6.pbs"),
        ("ended", 3, "6.pbs"),
        ("submitted", 4, "8.pbs"),
        ("cancelled", 5, "8.pbs"),
    ]
    assert pbs.asked[-3:-1] == ["qselect -T", "qselect -H -T -tm.ge.202311142213.20"]
    assert [each for now in range(310, 2500, 290) for each in pbs.poll(sensor, float(now))] == []


def test_a_restart(pbs: Pbs) -> None:
    """Who is over meanwhile is asked for, who is there is not told again."""
    first = pbs.sensor()
    pbs.jobs = {"1.pbs": waits(), "2.pbs": waits(), "3[4].pbs": runs(2, 3)}
    before = first.poll(BEGIN + 10.0)
    pbs.jobs, pbs.history = {"2.pbs": waits()}, {"1.pbs": over(0, 20, 30), "3[4].pbs": over(15, 16, 40)}
    assert sorted(pbs.poll(pbs.sensor(before), 50.0)) == [
        ("ended", 30, "1.pbs"),
        ("ended", 40, "3[4].pbs"),
        ("started", 20, "1.pbs"),
    ]


def test_a_server_without_a_history(pbs: Pbs) -> None:
    """Who is gone has left after a while, when it was missed; who ran has ended."""
    sensor = pbs.sensor()
    pbs.jobs, pbs.history = {"1.pbs": waits(), "2.pbs": runs(0, 1)}, None
    assert len(pbs.poll(sensor, 10.0)) == 3
    pbs.jobs = {}
    for look in range(LOOKS - 1):
        assert pbs.poll(sensor, 20.0 + look) == []
    assert sorted(pbs.poll(sensor, 20.0 + LONG)) == [("cancelled", 20, "1.pbs"), ("ended", 20, "2.pbs")]
    assert pbs.poll(sensor, 30.0 + LONG) == []


def test_an_array_that_has_not_begun(pbs: Pbs) -> None:
    """Its tasks wait, also where only the array is listed; one that is over has none."""
    pbs.jobs = {
        "8[].pbs": waits(0, job_state="F", array_indices_remaining="1"),
        "9[].pbs": waits(0, array_indices_remaining="0-4:2"),
    }
    heard = pbs.poll(pbs.sensor(), 10.0)
    assert heard == [("submitted", 0, "9[0].pbs"), ("submitted", 0, "9[2].pbs"), ("submitted", 0, "9[4].pbs")]


def test_only_who_was_asked_for_has_left(pbs: Pbs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of jobs that qstat leaves out of its answers some are asked for at a poll: those that were asked for least."""
    monkeypatch.setattr("pipelines.service.sensors.pbs.ALONE", 1)
    sensor = pbs.sensor()
    pbs.jobs, pbs.history = {f"{job}.pbs": waits() for job in (1, 2, 3)}, None
    assert len(pbs.poll(sensor, 10.0)) == 3
    pbs.jobs = {}
    heard = [pbs.poll(sensor, 20.0 + look * LONG) for look in range(3 * LOOKS)]
    assert heard[: 3 * LOOKS - 3] == [[]] * (3 * LOOKS - 3)
    assert sorted(heard[-3:]) == [[("cancelled", 20, f"{job}.pbs")] for job in (1, 2, 3)]


def test_a_server_that_is_away(pbs: Pbs, caplog: pytest.LogCaptureFixture) -> None:
    """An error says so, and nothing is lost; where only qselect fails, what qstat tells is told."""
    sensor = pbs.sensor()
    pbs.jobs = {"1.pbs": waits()}
    pbs.poll(sensor, 0.0)
    pbs.faults = {"qstat": "away"}
    with pytest.raises(SensorError, match=r"qstat ended with 162: qstat: cannot connect to server pbs"):
        pbs.poll(sensor, 10.0)
    pbs.faults, pbs.jobs = {"qselect": "away"}, {"1.pbs": runs(0, 5), "2.pbs": waits(9)}
    assert pbs.poll(sensor, 400.0) == [("started", 5, "1.pbs"), ("submitted", 9, "2.pbs")]
    assert sensor.notice == "PBS does not answer what became of jobs: ends are told later"
    assert len(caplog.records) == 1
    pbs.faults, pbs.jobs, pbs.history = {}, {"1.pbs": runs(0, 5)}, {"2.pbs": over(9, 10, 20)}
    assert pbs.poll(sensor, 410.0) == [("started", 10, "2.pbs"), ("ended", 20, "2.pbs")]
    assert sensor.notice is None
    assert {name: (cost.calls, cost.failures) for name, cost in sensor.costs.items()} == {
        "qstat": (5, 1),
        "qselect": (3, 1),
    }


def test_its_commands_as_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in UTC, whatever the zone of this machine; a job that is not known is no error."""
    monkeypatch.setenv("TZ", "America/New_York")
    script(tmp_path / "qstat", f'export PROGRAM="$0"; exec "{sys.executable}" -S -E -c \'{PROGRAM}\' "$@"')
    pbs = Pbs()
    pbs.jobs = {"7.pbs": waits()}
    (tmp_path / "pbs.json").write_text(json.dumps(pbs.told))
    sensor = PbsSensor(before=[JobEvent("submitted", 5.0, "6.pbs@5")], settings=PbsSettings(folder=str(tmp_path)))
    assert [(each.time, each.job) for each in sensor.poll(100.0)] == [(BEGIN, f"7.pbs@{BEGIN}")]
    assert (sensor.costs["qstat"].calls, sensor.costs["qstat"].failures, sensor.notice) == (2, 0, None)


def test_what_is_no_answer(tmp_path: Path) -> None:
    """A usage, say, of another program of that name."""
    script(tmp_path / "qstat", "echo usage: qstat -j")
    with pytest.raises(SensorError, match="qstat prints what is not understood: usage: qstat -j"):
        PbsSensor(settings=PbsSettings(folder=str(tmp_path))).poll(0.0)


def test_what_the_machine_is(pbs: Pbs) -> None:
    """Processors of all nodes; queues with their limits, of those that take jobs; the default queue."""
    node = '{"state": "free", "resources_available": {"ncpus": %s, "mem": 1gb}}'
    pbs.more = {
        "nodes": '{"nodes": {"n1": '
        + (node % 64).replace("1gb", '"1gb"')
        + ', "n2": {"resources_available": {"ncpus": "32"}}}}',
        "queues": '{"Queue": {"batch": {"enabled": "True", "max_queued": "[a]", "max_queued": "[b]", "resources_max": '
        '{"walltime": "24:00:00"}, "resources_default": {"walltime": "01:00:00"}}, "old": {"enabled": "False"}}}',
        "server": '{"Server": {"pbs": {"default_queue": "batch", "query_other_jobs": "True"}}}',
    }
    sensor = pbs.sensor()
    assert sensor.machine() == Machine(96, {"batch": QueueLimits(True, 86_400.0, 3600.0)})
    pbs.more = dict.fromkeys(pbs.more, "nonsense")
    assert sensor.machine() == Machine()


@pytest.mark.parametrize(
    ("told", "user", "is_restricted"),
    [
        ('"query_other_jobs": "False"', "ann", True),
        ('"query_other_jobs": "False", "managers": "bob@*", "operators": "joan@*"', "ann", True),
        ('"query_other_jobs": "False", "managers": "bob@*,ann@login"', "ann", False),
        ('"query_other_jobs": "False", "operators": "ann@*"', "ann", False),
        ('"query_other_jobs": "False"', "root", False),
        ('"query_other_jobs": "True"', "ann", False),
        ('"default_queue": "batch"', "ann", False),
    ],
)
def test_whose_jobs_are_seen(
    told: str,
    user: str,
    is_restricted: bool,
    pbs: Pbs,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where the server shows nobody the jobs of others, only its managers and operators; it is said once in the log."""
    monkeypatch.setattr("getpass.getuser", lambda: user)
    pbs.more = {"nodes": "{}", "queues": "{}", "server": f'{{"Server": {{"pbs": {{{told}}}}}}}'}
    sensor = pbs.sensor()
    for _ in range(2):
        sensor.machine()
        pbs.poll(sensor, 10.0)
        assert (sensor.notice is not None) == is_restricted
    assert len(caplog.records) == is_restricted


def test_widths() -> None:
    """Of chunks, where the total is not said."""
    assert width_of({"select": "1:ncpus=2+3"}) == 5
    assert width_of({"select": 4}) == 4
    assert width_of({"nodect": "3"}) == 3
    assert width_of({"ncpus": 0, "select": "2:mem=1gb"}) == 2
    assert width_of({"ncpus": True}) is None


def test_times() -> None:
    """As ctime writes them, or as numbers; nothing else."""
    assert time_of("Thu Jan  1 00:01:40 1970") == 100.0
    assert time_of("Tue Feb 29 23:59:60 2000") == time_of("Tue Feb 29 23:59:59 2000") == 951_868_799.0
    assert (time_of(5), time_of("5"), time_of("0")) == (5.0, 5.0, None)
    assert [time_of(each) for each in ("Mon Feb 30 00:00:00 2000", "Mon Mai  1 00:00:00 2000", "", None, True, 0)] == [
        None
    ] * 6


@pytest.mark.parametrize("fault", ["", *FAULTS[:9]])
def test_all_jobs_of_an_answer_are_found(fault: str) -> None:
    """With the attributes that are needed, whatever is wrong with it."""
    jobs = {"7.pbs": waits(), "8[].pbs": waits(array_indices_remaining="1-3"), "9.pbs": over(0, 1, 2, status=1)}
    found = read_jobs(fake_pbs.printed(jobs, fault))
    needed = ("job_state", "Job_Owner", "queue", "array_indices_remaining", "Exit_status", "history_timestamp")
    for name, job in jobs.items():
        mine = found[name]
        assert {each: str(mine[each]) for each in needed if each in mine} == {
            each: str(job[each]) for each in needed if each in job
        }
        assert {each: str(value) for each, value in mine["Resource_List"].items()} == {
            each: str(value) for each, value in job["Resource_List"].items()
        }
        assert time_of(mine.get("stime")) is not None or "stime" not in job


def test_a_job_that_is_cut_off_is_none() -> None:
    """Wherever that is: what comes behind may be its start."""
    text = fake_pbs.printed({"7.pbs": waits(), "9.pbs": over(0, 1, 2)}, "")
    begin = text.index('"9.pbs"')
    for end in range(begin, len(text) - 20):
        assert set(read_jobs(text[:end])) <= ({"7.pbs", "9.pbs"} if text[:end].count("}") > 4 else {"7.pbs"})
    assert set(read_jobs(text[: text.index('"stime"')])) == {"7.pbs"}


def test_a_user_cannot_make_up_a_job() -> None:
    """An environment in which lines look like attributes: the first ones count."""
    fault = fake_pbs.printed({"7.pbs": {**waits(), "Job_Owner": "ann@x"}}, "marks")
    forged = fault.replace('"PBS_O_HOME":"/home"', '"A":"\n"job_state":"F"\n"ctime":"Thu Jan  1 00:01:40 1970"\n"')
    with_job = read_jobs(forged)["7.pbs"]
    assert (with_job["job_state"], with_job["Job_Owner"]) == ("Q", "ann@x")
    assert with_job["ctime"] != "Thu Jan  1 00:01:40 1970"
    assert os.environ.get("PBS_DEFAULT") is None


FORGED = '"job_state":"F","Job_Owner":"eve@x","ctime":"Thu Jan  1 00:01:40 1970","stime":"Thu Jan  1 00:01:41 1970"'
WHOLE = f'{{{FORGED},"Resource_List":{{"ncpus":"1"}},"Variable_List":{{"B":"1'
"""A job that a user makes up: what follows of his own job ends it."""


def variable_of(text: str, job: str) -> str:
    """Return what qstat prints of two jobs, of which one has a variable; quotation marks are not escaped."""
    jobs = {"7.pbs": waits(), "8.pbs": waits(5, Job_Owner="bob@x")}
    parts = fake_pbs.printed(jobs, "").split('"PBS_O_HOME":"/home"')
    place = list(jobs).index(job)
    parts[place] += f'"A":"{text}"'
    return '"PBS_O_HOME":"/home"'.join(parts).replace(
        '"A":"' + text + '""PBS_O_HOME"', '"A":"' + text + '","PBS_O_HOME"'
    )


@pytest.mark.parametrize("sick", ["", "() { $(a "])
@pytest.mark.parametrize("between", ["", "\n"])
@pytest.mark.parametrize("eve", ["7.pbs", "8.pbs"])
def test_a_user_cannot_make_up_what_another_job_is(eve: str, between: str, sick: str) -> None:
    """Whether all of it is JSON or not: such a job is as if it were not there, and then asked for by its id."""
    other = "8.pbs" if eve == "7.pbs" else "7.pbs"
    end = f'{sick}"{between}}}{between}}},{between}"{other}":'
    found = read_jobs(variable_of(end + WHOLE.replace(",", f",{between}"), eve))
    assert other not in found
    assert found[eve]["job_state"] == "Q"
    own = read_jobs(variable_of(f'{sick}"{between}}},{between}{FORGED},{between}"C":{{"B":"1', eve))
    assert {name: (job["job_state"], job["Job_Owner"][:3]) for name, job in own.items()} == {
        "7.pbs": ("Q", "ann"),
        "8.pbs": ("Q", "bob"),
    }


@pytest.mark.parametrize("name", ["Job_Owner", "ctime", "job_state"])
def test_a_job_that_is_there_twice(name: str) -> None:
    """As the same one it is one, of which what is said first counts; as two that differ in one thing it is none."""
    one = {"Job_Owner": "ann@x", "ctime": 5, "job_state": "Q", "Resource_List": {"ncpus": 1}}
    same = {**one, "stime": 7, "queue": "batch", "Resource_List": {"ncpus": 2, "walltime": "01:00:00"}}
    text = '{"Jobs": {"7.pbs": %s, "7.pbs": %s, "7.pbs": %s}}'
    joined = {**same, "Resource_List": {"ncpus": 1, "walltime": "01:00:00"}}
    assert read_jobs(text % tuple(map(json.dumps, (one, same, one)))) == {"7.pbs": joined}
    for other in ({**same, name: "8"}, {key: value for key, value in same.items() if key != name}):
        assert read_jobs(text % tuple(map(json.dumps, (one, other, one)))) == {}


def test_only_what_was_asked_for_is_told(pbs: Pbs) -> None:
    """An answer to an id has that job, and its array, whatever else it seems to have."""
    pbs.jobs = {"7.pbs": waits(), "9.pbs": waits(5)}
    more: dict[str, Any] = {}

    def run(words: tuple[str, ...]) -> str:
        """Print more where ids are asked for."""
        if "-x" not in words:
            return pbs(words)
        there = {name: job for name, job in {**pbs.jobs, **(pbs.history or {})}.items() if name in words}
        return fake_pbs.printed({**there, **more}, "")

    sensor = PbsSensor(run, patience=Patience(lambda: 0.0, lambda: 0.0))
    assert len(sensor.poll(BEGIN + 10.0)) == 2
    del pbs.jobs["7.pbs"]
    pbs.history, more = {"7.pbs": over(0, 11, 12)}, {"9.pbs": runs(5, 6), "10.pbs": runs(5, 6)}
    assert pbs.poll(sensor, 20.0) == [("started", 11, "7.pbs"), ("ended", 12, "7.pbs")]
    pbs.history, more = {"8[2].pbs": {**over(30, 31, 32), "etime": BEGIN}}, {"8[].pbs": waits(25, job_state="F")}
    assert pbs.poll(sensor, 320.0) == [
        ("submitted", 25, "8[2].pbs"),
        ("started", 31, "8[2].pbs"),
        ("ended", 32, "8[2].pbs"),
    ]


def test_a_list_of_tasks_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part with which there were too many is left out."""
    monkeypatch.setattr("pipelines.service.sensors.task_lists.MOST_TASKS", 5)
    assert tasks_in("1-3,4-6,7-8,9") == [1, 2, 3, 7, 8]


def test_a_user_cannot_hide_all_jobs() -> None:
    """By another list of jobs."""
    text = '"}}, "job_state": "Q"}, "ctime": 5, "Jobs": {"job_state": "F", "ctime": 6, "9.pbs": {"A": {"B": "1'
    assert {"7.pbs", "8.pbs"} <= set(read_jobs(variable_of(text, "8.pbs")))


def test_who_is_made_up_is_asked_for(pbs: Pbs) -> None:
    """Only what was asked for counts in an answer to ids: the job that waits goes on waiting, and starts."""
    pbs.jobs = {"7.pbs": waits(), "8.pbs": waits(5, Job_Owner="bob@x")}
    variable = ""

    def run(words: tuple[str, ...]) -> str:
        """Print the variable of the first job."""
        printed = pbs(words)
        return printed.replace('"PBS_O_HOME":"/home"', f'"A":"{variable}"', 1) if '"7.pbs"' in printed else printed

    sensor = PbsSensor(run, patience=Patience(lambda: 0.0, lambda: 0.0))
    assert len(sensor.poll(BEGIN + 10.0)) == 2
    variable = f'"}}}}, "8.pbs": {WHOLE}'
    assert pbs.poll(sensor, 20.0) == []
    pbs.jobs["8.pbs"] = runs(5, 25, Job_Owner="bob@x")
    assert pbs.poll(sensor, 30.0) == [("started", 25, "8.pbs")]
    assert "qstat -x -t -f -F json 8.pbs" in pbs.asked
    del pbs.jobs["7.pbs"]
    pbs.history = {"7.pbs": over(0, 31, 32)}
    assert pbs.poll(sensor, 40.0) == [("started", 31, "7.pbs"), ("ended", 32, "7.pbs")]


@pytest.mark.parametrize(
    "told",
    [
        {"Exit_status": "--1"},
        {"Exit_status": "9" * 5000},
        {"array_indices_remaining": "0-99999999999,0-4999999999"},
        {"Resource_List": {"select": "99999999999999999:ncpus=4", "walltime": "9" * 5000}},
        {"Resource_List": {"ncpus": "9" * 5000, "walltime": "999999999999:00:00"}},
        {"Resource_List": {"ncpus": 1 << 54, "walltime": 10**400}},
        {"stime": "9" * 5000, "etime": 10**400},
        {"Job_Owner": "a" * 5000, "queue": "q" * 5000},
    ],
)
def test_no_attribute_stops_a_cluster(told: dict[str, Any]) -> None:
    """What is no value is not said; the job is heard of."""
    jobs = {"7.pbs": waits(**told), "8[].pbs": waits(**told), "9" * 5000 + ".pbs": waits(), "--help": waits()}
    seen = [each for each in sightings_of(jobs, {}) if each.number == "7.pbs"]
    assert len(seen) == 1
    assert (seen[0].outcome, seen[0].start) == (None, None)
    assert [each.job for each in FollowedJobs().look(seen, 1.0)] == [f"7.pbs@{BEGIN}"]
    assert {each.number for each in sightings_of(jobs, {})} == {"7.pbs"}
