# SPDX-License-Identifier: BSD-3-Clause
"""States as bytes: what goes on from them, here and in another process; bytes that are none."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import StateError
from swftools.simulator import CHECKPOINT, KILL, SUSPEND, Simulation, Stepper, simulate
from swftools.simulator.machine.state import STOPPED
from swftools.simulator.stepping import packed_arrays, serialize
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day
from tests.forked import NUMBA
from tests.simulator.stepping.test_forged import state_of
from tests.simulator.test_stop_and_go import MeanOfUser
from tests.strategies import crowded_trace

REFERENCE = Path(__file__).parents[2] / "reference"

POLICIES = [*map(light, OURS), "genetic:generations=1,individuals=6,warm_start=true", "easy:reservations=2"]


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with whatever any policy needs."""
    return with_all_columns(crowded_trace(25, seed=5))


@pytest.mark.parametrize("policy", by_day(POLICIES, 6))
def test_it_goes_on_from_bytes(trace: Trace, policy: str) -> None:
    """Saved and loaded again at every ninth decision it is the simulation that it was, to the last column."""
    stepper, decisions = Stepper(trace, policy, seed=3), 0
    more = stepper.advance()
    while more:
        if decisions % 9 == 0:
            stepper = Stepper.from_bytes(stepper.to_bytes())
        more, decisions = stepper.skip(), decisions + 1
    ours, plain = stepper.schedule(), simulate(trace, policy, seed=3)
    pd.testing.assert_frame_equal(ours.jobs, plain.jobs, check_exact=True)
    pd.testing.assert_frame_equal(ours.segments, plain.segments, check_exact=True)
    pd.testing.assert_frame_equal(ours.excluded, plain.excluded)
    assert (ours.policy, ours.options, ours.assumptions) == (plain.policy, plain.options, plain.assumptions)


@pytest.mark.parametrize("how", [KILL, CHECKPOINT, SUSPEND])
@pytest.mark.parametrize("again", [False, True], ids=["stopped", "started again"])
def test_in_the_midst_of_a_decision_that_stops_runs(trace: Trace, how: int, again: bool) -> None:
    """What it did so far is in the bytes: the runs that it stopped are over when it is made."""
    stepper = Stepper(trace, "easy")
    stepper.advance()
    while len(stepper.running) < 3:
        stepper.skip()
    for job in stepper.running.tolist()[:2]:
        stepper.preempt(job, how)
        if again:
            stepper.start(job)
    other = Stepper.from_bytes(stepper.to_bytes())
    assert other._simulation._driver.machine.counts[STOPPED] == 2
    ours, expected = (each.decide().finish().segments for each in (other, stepper))
    pd.testing.assert_frame_equal(ours, expected, check_exact=True)
    assert ours["ended_by"].ne("completed").sum() == 2


def test_a_simulation_without_jobs() -> None:
    """The only one has no width: none is simulated, and none comes from the bytes."""
    trace = Trace.from_columns(machine_processors=4, job_number=[1], submit_time=[0], run_time=[1], requested_time=[1])
    again = Stepper.from_bytes(Stepper(trace, "easy").to_bytes())
    assert again.is_over
    assert len(again.schedule()) == 0


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
def test_it_goes_on_in_tenths_of_a_second(policy: str) -> None:
    """A plan that is kept is found to be that of the jobs also where times are no whole seconds."""
    whole = crowded_trace(60, seed=9)
    times = ["submit_time", "run_time", "requested_time"]
    trace = whole.with_jobs(whole.jobs.assign(**{name: whole.jobs[name].astype("Float64") / 10 for name in times}))
    stepper, decisions = Stepper(trace, policy), 0
    more = stepper.advance()
    while more:
        if decisions % 10 == 0:
            stepper = Stepper.from_bytes(stepper.to_bytes())
        more, decisions = stepper.skip(), decisions + 1
    assert stepper.schedule().jobs.equals(simulate(trace, policy).jobs)


@pytest.mark.parametrize("options", [{"predictor": "last-model"}, {"overrun": "kill"}, {"restart_overhead": 5.0}])
def test_options_are_in_it(trace: Trace, options: dict[str, Any]) -> None:
    """What predictors learnt, and which runs are cut."""
    stepper = Stepper(trace, "pv-easy", **options)
    stepper.run(until=400.0)
    assert Stepper.from_bytes(stepper.to_bytes()).finish().jobs.equals(simulate(trace, "pv-easy", **options).jobs)


def test_a_queue_that_is_followed_and_its_forks(trace: Trace) -> None:
    """Submissions, processors that are away and the present are in it, and it can be gone on with in the same ways."""
    stepper = Stepper.from_queue(
        pd.DataFrame({"processors": [3], "requested_time": [600.0], "elapsed": [60.0]}),
        pd.DataFrame({"processors": [4], "requested_time": [100.0], "waited": [20.0]}),
        6,
        "conservative",
    )
    stepper.submit(2, 50.0, user=7)
    stepper.run(until=100.0).take_away(1, until=500.0)
    stepper.advance()
    loaded, fork = Stepper.from_bytes(stepper.to_bytes()), stepper.fork()
    light = Stepper.from_bytes(fork.to_bytes())
    for other in (stepper, loaded, fork, light):
        assert other.run(until=150.0).present == Stepper.from_bytes(other.to_bytes()).present == 150.0
        other.submit(1, 30.0, user=8)
        other.run(until=200.0)
        with pytest.raises(Exception, match="which there are"):
            other.take_away(6)
    assert light.origin.tolist() == fork.origin.tolist()  # type: ignore[union-attr]
    made = [other.finish() for other in (stepper, loaded, fork, light)]
    pd.testing.assert_frame_equal(made[0].jobs, made[1].jobs)
    pd.testing.assert_frame_equal(made[2].jobs, made[3].jobs)
    pd.testing.assert_frame_equal(made[0].excluded, made[1].excluded)


def test_another_process_goes_on(trace: Trace, tmp_path: Path) -> None:
    """It loads the bytes of this one, and makes the rest of the schedule."""
    stepper = Stepper(trace, "conservative")
    stepper.run(until=300.0)
    (tmp_path / "state").write_bytes(stepper.to_bytes())
    script = tmp_path / "on.py"
    script.write_text(
        "from pathlib import Path\n"
        "from swftools.simulator import Stepper\n"
        f"stepper = Stepper.from_bytes(Path({str(tmp_path / 'state')!r}).read_bytes())\n"
        "print(stepper.finish().jobs['start_time'].tolist())\n",
        encoding="utf-8",
    )
    done = NUMBA.run([sys.executable, str(script)], tmp_path, dict(os.environ))
    assert done.stdout.strip() == str(simulate(trace, "conservative").jobs["start_time"].tolist()), done.stderr


def test_bytes_that_are_none(trace: Trace) -> None:
    """Whatever was changed, cut off or never one is told by one error, and no pickle is opened."""
    state = Stepper(trace.with_jobs(trace.jobs.iloc[:5]), "easy").to_bytes()
    for wrong in (b"", b"nothing", b"PK\x03\x04", state[1:]):
        with pytest.raises(StateError, match="these bytes are not the state of a simulation"):
            Stepper.from_bytes(wrong)
    for i in (len(packed_arrays.WORD), len(packed_arrays.WORD) + 40, len(state) // 2, len(state) - 1):
        with pytest.raises(StateError, match="damaged, or was cut off"):
            Stepper.from_bytes(state[:i] + bytes([state[i] ^ 1]) + state[i + 1 :])
    with pytest.raises(StateError, match="damaged, or was cut off"):
        Stepper.from_bytes(state[:-1])
    with pytest.raises(StateError, match="a state is bytes, as to_bytes returns them, not str"):
        Stepper.from_bytes("state")  # type: ignore[arg-type]
    assert b"pickle" not in state


def test_states_of_other_versions(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the form, of the policy, or with arrays that this engine does not have."""
    stepper = Stepper(trace.with_jobs(trace.jobs.iloc[:5]), "easy")
    state = stepper.to_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(serialize, "VERSION", 3)
        with pytest.raises(StateError, match="has the form of version 2, and this is 3: save it anew"):
            Stepper.from_bytes(state)
    for before, after, message in (
        (b'"easy", 2', b'"easy", 9', "version 9 of its policy, and this is 2"),
        (b'"easy", 2', b'"eazy", 2', "cannot be continued here.*eazy"),
        (b'"request", 1', b'"request", 7', "version 7 of its predictor"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(serialize.json, "dumps", changed(before, after))
            other = stepper.to_bytes()
        with pytest.raises(StateError, match=message):
            Stepper.from_bytes(other)
    with monkeypatch.context() as patched:
        patched.setattr(serialize, "_leaves", lambda part, leaves=serialize._leaves: list(leaves(part))[:-1])
        other = stepper.to_bytes()
    with pytest.raises(StateError, match="has another number of arrays than here"):
        Stepper.from_bytes(other)


@pytest.mark.parametrize("kind", range(4))
def test_states_of_version_1(kind: int) -> None:
    """A state that 1.0.0 saved goes on as one of today does: plain, with a predictor, led from outside, a fork."""
    state = (REFERENCE / "states_of_1_0" / f"easy_{kind}.bin").read_bytes()
    old, new = Stepper.from_bytes(state), Stepper.from_bytes(state_of("easy", kind))
    assert old.now == new.now
    pd.testing.assert_frame_equal(old.finish().jobs, new.finish().jobs, check_exact=True)
    arrays = {**packed_arrays.unpack(state), "machine.99": packed_arrays.unpack(state)["machine.1"]}
    with pytest.raises(StateError, match="machine has another number of arrays than here"):
        Stepper.from_bytes(packed_arrays.pack(arrays))


def changed(before: bytes, after: bytes) -> Any:
    """Return a writer of JSON that writes something else."""
    dumps = serialize.json.dumps

    def write(what: Any) -> str:
        text = dumps(what)
        assert before.decode() in text or not isinstance(what, dict) or "policy" not in what
        return text.replace(before.decode(), after.decode())

    return write


def test_what_cannot_be_saved(trace: Trace) -> None:
    """A predictor in Python may know anything."""
    stepper = Stepper(trace, "easy", predictor=MeanOfUser())
    with pytest.raises(StateError, match="a predictor in Python cannot be saved"):
        stepper.to_bytes()


def test_equal_states_are_equal_bytes(trace: Trace) -> None:
    """So that they can be told apart by a hash."""
    hashes = {hashlib.sha256(Stepper(trace, "easy").run(until=100.0).to_bytes()).hexdigest() for _ in range(2)}
    assert len(hashes) == 1
    assert isinstance(Stepper.from_bytes(Stepper(trace, "easy").to_bytes())._simulation, Simulation)
