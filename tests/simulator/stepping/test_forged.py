# SPDX-License-Identifier: BSD-3-Clause
"""States of simulations that somebody forged: each is refused by one error, or goes on to a sound end."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import PolicyError, StateError
from swftools.simulator import CHECKPOINT, Stepper
from swftools.simulator.engine.replay import DECIDING, IN_VAIN, STALE
from swftools.simulator.machine.state import CAPACITY, RUNNING, STOPPED, SUBMITTED
from swftools.simulator.policies.class_line import SEEN, empty_line, restore_line
from swftools.simulator.policies.scojo_p import ScojoParameters, restore_scojo, scojo_memory
from swftools.simulator.stepping import packed_arrays
from swftools.simulator.stepping.state_checks import check_parts, check_users
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day
from tests.forged import changed_array, changed_bytes, changed_words, tried
from tests.strategies import crowded_trace

POLICIES = [*map(light, OURS), "genetic:generations=1,individuals=6,warm_start=true,explain=true"]

FEW = ["easy", "conservative"]
"""By day: one whose memory lasts for a decision, one that keeps a plan."""


@cache
def state_of(policy: str, kind: int) -> bytes:
    """Return the state of a simulation under way: plain, with a predictor that learns, led from outside, a fork."""
    trace = with_all_columns(crowded_trace(30, seed=5))
    options: dict[str, Any] = {"predictor": "user-average"} if kind == 1 else {}
    stepper = Stepper(trace, policy, seed=3, **options)
    stepper.advance()
    for _ in range(8):
        stepper.skip()
    if kind == 2:
        stepper.submit(1, 30.0, user=8)
        stepper.decide()
        stepper.take_away(1, until=stepper.present + 500.0, how=CHECKPOINT)
    if kind == 3:
        with suppress(PolicyError):  # what remembers more cannot
            stepper = stepper.fork(3)
    return stepper.to_bytes()


def forged(policy: str, draw: random.Random) -> bytes:
    """Return such a state, changed in one place or a few."""
    return forged_of(state_of(policy, draw.randrange(4)), draw)


def forged_of(state: bytes, draw: random.Random) -> bytes:
    """Return a state, changed in one place or a few."""
    arrays = packed_arrays.unpack(state)
    way = draw.randrange(10)
    if way == 0:
        return packed_arrays.WORD + _hashed(changed_bytes(state[len(packed_arrays.WORD) + 32 :], draw))
    if way == 1:
        raw = io.BytesIO()
        np.savez(raw, allow_pickle=False, **arrays)  # type: ignore[arg-type]
        content = changed_bytes(raw.getvalue(), draw)
        size = draw.choice((len(content), len(content), 2**20, 2**62))
        squeezed = packed_arrays.pa.Codec("zstd").compress(content, asbytes=True)
        return packed_arrays.WORD + _hashed(size.to_bytes(8, "little") + squeezed)
    if way == 2:
        head = changed_words(json.loads(arrays["head"].tobytes()), draw)
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    elif way == 3:
        name = draw.choice(["head", "trace", "trace"])
        arrays[name] = np.frombuffer(changed_bytes(arrays[name].tobytes(), draw), np.uint8)
    else:
        name = draw.choice([each for each in arrays if each not in ("head", "trace")])
        arrays[name] = changed_array(arrays[name], draw)
        if way == 9:
            arrays.pop(draw.choice(list(arrays)))
    return packed_arrays.pack(arrays)


def _hashed(rest: bytes) -> bytes:
    return packed_arrays.hashlib.sha256(rest).digest() + rest


def use(state: bytes) -> None:
    """Go on from a state, which may be refused at once and never later."""
    try:
        stepper = Stepper.from_bytes(state)
    except StateError:
        return
    assert 0 <= stepper.free <= stepper.processors
    Stepper.from_bytes(stepper.to_bytes())
    fork = None
    with suppress(PolicyError):  # a decision that was acted on, or a memory that no fork has
        fork = stepper.fork()
    if fork:
        fork.finish()
    schedule = stepper.finish()
    assert stepper.is_over
    assert (schedule.segments["end_time"] >= schedule.segments["start_time"]).all()


@pytest.mark.parametrize("policy", FEW)
def test_a_forged_state(policy: str) -> None:
    """It is a StateError, or as good as any other."""
    assert tried(range(6), lambda draw: forged(policy, draw), use) == []


def _beyond(machine: Any, replay: Any) -> dict[str, tuple[Any, str]]:
    """Return machines with one number that is one too large or too small, and what is said of it."""
    submitted, runs = int(machine.counts[SUBMITTED]), int(replay.log.size[0])
    one_stopped, queue = machine.counts.copy(), machine.queue
    one_stopped[STOPPED] = 1

    def first(column: Any, value: int) -> Any:
        return np.array([value, *column[1:]], column.dtype)

    stops = machine.stops
    return {
        "submitted": (machine._replace(running=first(machine.running, submitted)), "a job is not from 0"),
        "below": (machine._replace(running=first(machine.running, -1)), "a job is not from 0"),
        "runs": (
            machine._replace(counts=one_stopped, stops=stops._replace(run=first(stops.run, runs))),
            "a run that was stopped is not from 0",
        ),
        "lengths": (machine._replace(stops=stops._replace(how=np.append(stops.how, stops.how[:1]))), "a column of"),
        "queue": (
            machine._replace(queue=queue._replace(used=np.array([queue.used[0], queue.used[0] + 1]))),
            "where nobody waits before is not from 0",
        ),
    }


@pytest.mark.parametrize("what", ["submitted", "below", "runs", "lengths", "queue"])
def test_one_beyond(what: str) -> None:
    """Each bound is that of the array in which the number is a place."""
    driver = Stepper.from_bytes(state_of("easy", 0))._simulation._driver
    parts = driver.coming, driver.machine, driver.replay, driver.jobs, driver.options
    check_parts(*parts)
    assert driver.machine.counts[RUNNING] > 0
    machine, said = _beyond(driver.machine, driver.replay)[what]
    with pytest.raises(StateError, match=said):
        check_parts(driver.coming, machine, *parts[2:])


def test_one_beyond_in_what_stands_beside() -> None:
    """Times for all jobs but one, and draws beyond the end of what was drawn."""
    arrays = packed_arrays.unpack(state_of("easy", 0))
    head = json.loads(arrays["head"].tobytes())
    with pytest.raises(StateError, match="fewer than there are jobs"):
        Stepper.from_bytes(packed_arrays.pack({**arrays, "taken_out.0": np.zeros(head["jobs"] - 1)}))
    head["draws"][0]["buffer_pos"] = 5
    with pytest.raises(StateError, match="buffer_pos is not from 0 to 4"):
        Stepper.from_bytes(packed_arrays.pack({**arrays, "head": np.frombuffer(json.dumps(head).encode(), np.uint8)}))


LAST_START = 134.0
"""When the last run of that state began, s."""


def stopping() -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a state within a decision that has stopped two runs."""
    stepper = Stepper.from_bytes(state_of("easy", 0))
    for job in stepper.running.tolist()[:2]:
        stepper.preempt(job, CHECKPOINT)
    return packed_arrays.unpack(stepper.to_bytes())


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("machine.clock", lambda clock: [np.inf, clock[1]], "jobs came before the first instant"),
        ("machine.clock", lambda clock: [LAST_START - 1.0, clock[1]], "a run starts later than it is now"),
        ("machine.counts", lambda counts: [*counts[:STOPPED], 1, *counts[STOPPED + 1 :]], "other runs were stopped"),
        ("machine.counts", lambda counts: [*counts[:STOPPED], 3, *counts[STOPPED + 1 :]], "other runs were stopped"),
        ("machine.stops.run", lambda run: [run[1], run[0], *run[2:]], "a run that was stopped is another job's"),
        ("replay.counts", lambda counts: [*counts[:STALE], 2, *counts[STALE + 1 :]], "ends of runs that were stopped"),
        ("replay.counts", lambda counts: [*counts[:DECIDING], 0, *counts[DECIDING + 1 :]], "other runs were stopped"),
        ("replay.counts", lambda counts: [*counts[:IN_VAIN], 2**20, *counts[IN_VAIN + 1 :]], "decisions in vain"),
    ],
)
def test_what_contradicts_the_runs_so_far(name: str, change: Callable[[Any], list[Any]], said: str) -> None:
    """A time before them, and stops that were not made, are another job's, or are over."""
    arrays = stopping()
    Stepper.from_bytes(packed_arrays.pack(arrays)).decide().finish()
    array = arrays[f"state.{name}"]
    forged = {**arrays, f"state.{name}": np.array(change(array.tolist()), array.dtype)}
    with pytest.raises(StateError, match=said):
        Stepper.from_bytes(packed_arrays.pack(forged))


def test_what_is_missing() -> None:
    """Columns of jobs that wait for others, of which there are all or none; and rows, where there is room for more."""
    trace = crowded_trace(8, seed=1)
    waits = trace.with_jobs(trace.jobs.assign(preceding_job_number=trace.jobs["job_number"].shift(1)))
    arrays = packed_arrays.unpack(Stepper(waits, "easy").to_bytes())
    del arrays["state.replay.dependents.ready"]
    with pytest.raises(StateError, match="some of what is told of jobs that wait is missing"):
        Stepper.from_bytes(packed_arrays.pack(arrays))
    arrays = packed_arrays.unpack(state_of("easy", 2))
    head = json.loads(arrays["head"].tobytes())
    arrays["head"] = np.frombuffer(json.dumps(head | {"has_rows": False}).encode(), np.uint8)
    with pytest.raises(StateError, match="room for jobs of which it tells no rows"):
        Stepper.from_bytes(packed_arrays.pack(arrays))


def test_another_predictor_among_the_options() -> None:
    """It is named twice: as what learns, and as an option of the run."""
    arrays = packed_arrays.unpack(state_of("easy", 1))
    head = json.loads(arrays["head"].tobytes())
    assert head["predictor"][0] == head["options"]["predictor"] != "last-model"
    head["options"]["predictor"] = "last-model"
    with pytest.raises(StateError, match="other parameters than its simulation"):
        Stepper.from_bytes(packed_arrays.pack({**arrays, "head": np.frombuffer(json.dumps(head).encode(), np.uint8)}))


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("days", 0.0, "learned from in no time"), ("curves", 1 << 31, "curves of more jobs than were learned from")],
)
def test_arrivals_that_nobody_can_expect(column: str, value: float, said: str) -> None:
    """Jobs that came in no time, and more than came."""
    driver = Stepper.from_bytes(state_of("scojo-p", 0))._simulation._driver
    memory: Any = driver.decider.memory
    new = scojo_memory(30, driver.machine.counts[CAPACITY], ScojoParameters())
    restore_scojo(memory, new, driver.machine)
    getattr(memory.arrivals, column)[0] = value
    with pytest.raises(ValueError, match=said):
        restore_scojo(memory, new, driver.machine)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_many_forged_states(policy: str) -> None:
    """In a process of its own, so that one that ends is seen."""
    many = f"from tests.simulator.stepping.test_forged import *; main({policy!r}, 0, 400)"
    done = subprocess.run([sys.executable, "-c", many], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr[-2000:]


def main(policy: str, first: int, last: int) -> None:
    """Try seeds, and print what went wrong."""
    for line in tried(range(first, last), lambda draw: forged(policy, draw), use):
        sys.stdout.write(f"{line}\n")


def test_no_module_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Because a state names it: neither for a policy nor for a predictor; whoever gives it may."""
    (tmp_path / "evilmod.py").write_text(
        "from pathlib import Path\nfrom swftools.simulator import policy, python_policy\n"
        "Path('ran').touch()\n"
        "@python_policy('f')\ndef f(stepper):\n    pass\n"
    )
    monkeypatch.chdir(tmp_path)
    trace = Trace.from_columns(
        machine_processors=4, job_number=[7], submit_time=[0], run_time=[10], requested_processors=[1]
    )
    arrays = packed_arrays.unpack(Stepper(trace, "easy").to_bytes())
    for before, after in ((b'["easy", ', b'["evilmod:f", '), (b'["request", ', b'["evilmod:f", ')):
        content = arrays["head"].tobytes()
        assert before in content
        changed = np.frombuffer(content.replace(before, after), np.uint8)
        with pytest.raises(StateError, match="'evilmod:f' is registered here, and nothing is imported because a file"):
            Stepper.from_bytes(packed_arrays.pack({**arrays, "head": changed}))
    assert not (tmp_path / "ran").exists()
    assert "evilmod" not in sys.modules


def test_a_short_job_never_ages() -> None:
    """One that does would be of a class below all others, and stand in no order."""
    state = Stepper.from_bytes(state_of("fixed", 0))
    machine, old = state._simulation._driver.machine, empty_line(30, state.processors)
    submitted = int(machine.counts[SUBMITTED])
    for column in (old.least, old.most, old.optimum):
        column[:] = 1
    old.counts[SEEN] = submitted
    old.ages[:] = np.inf
    restore_line(old, empty_line(30, state.processors), machine)
    old.ages[submitted - 1] = 5.0
    with pytest.raises(ValueError, match="a short job that ages"):
        restore_line(old, empty_line(30, state.processors), machine)


@pytest.mark.parametrize("policy", by_day(POLICIES[::-1], 8))
def test_a_fork_is_saved_and_goes_on_alike(policy: str) -> None:
    """It has fewer jobs than the simulation that it is of, and its state is taken for sound."""
    stepper = Stepper(with_all_columns(crowded_trace(60, seed=5)), policy, seed=3)
    stepper.advance()
    for _ in range(20):
        stepper.skip()
    try:
        fork = stepper.fork()
    except PolicyError:
        pytest.skip("its memory is in no fork")
    again = Stepper.from_bytes(fork.to_bytes())
    assert again.finish().jobs["start_time"].tolist() == fork.finish().jobs["start_time"].tolist()


@pytest.mark.parametrize(("user", "is_fine"), [(-1, True), (2, True), (3, False), (4, False)])
def test_users_of_whom_there_is_room(user: int, is_fine: bool) -> None:
    """A predictor with room for three remembers those from 0 to 2, and nobody's jobs."""
    coming: Any = SimpleNamespace(user_id=np.array([0, user]), row=np.array([0, 1]))
    with nullcontext() if is_fine else pytest.raises(StateError, match="a user"):
        check_users(coming, (np.zeros(3), np.zeros(3)), 2)
