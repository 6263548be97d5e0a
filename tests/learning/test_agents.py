# SPDX-License-Identifier: BSD-3-Clause
"""Agents as policies: they decide in the simulator what they decide in the environment, whatever form they have."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swftools.errors import ParameterError, PolicyError
from swftools.learning import EpisodeLog, Network, SchedulingEnv, agent_policy, network_policy, what_it_saw
from swftools.simulator import Simulation, simulate, validate
from tests.drawn import draw_trace
from tests.learning.agents import Unmasked, Widest, by_hash
from tests.learning.logs import crowded, part_of

pytestmark = pytest.mark.usefixtures("interpreted_by_day")


def starts(schedule: Any) -> list[tuple[int, float]]:
    """Return job numbers and starts."""
    return list(schedule.jobs[["job_number", "start_time"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("choice", ["fits", "reserve"])
def test_the_head_alone_is_first_come_first_served_or_easy(choice: str, compiled: bool) -> None:
    """An agent that takes the first row, and waits where it must."""
    agent_policy("of-the-test", Unmasked(), k=5, choice=choice)
    ours = simulate(crowded(1), "of-the-test", compiled=compiled)
    assert starts(ours) == starts(simulate(crowded(1), "fcfs" if choice == "fits" else "easy"))
    assert validate(ours, trace=crowded(1)).ok


@pytest.mark.parametrize("choice", ["fits", "reserve"])
@pytest.mark.parametrize("agent", [by_hash, Widest()], ids=["function", "model"])
def test_as_in_the_environment(agent: Any, choice: str) -> None:
    """The schedule of an episode is that of the policy on its jobs."""
    log = EpisodeLog(crowded(2))
    agent_policy("of-the-test", agent, k=4, choice=choice)
    choose = agent if callable(agent) else lambda seen, mask: int(agent.predict(seen, mask.astype(bool), True)[0])
    env = SchedulingEnv(log, k=4, jobs=40, warm_up=0, choice=choice)
    for first in (0, 9):
        seen, info = env.reset(options={"first": first})
        over = False
        while not over:
            seen, _, over, _, info = env.step(choose(seen, info["action_mask"]))
        ours = simulate(part_of(log, first, 40), "of-the-test", overrun="run-on")
        assert starts(ours) == starts(env.episode_schedule())
        assert ours.policy == "of-the-test"
        assert validate(ours, trace=part_of(log, first, 40)).ok


def test_it_is_a_policy_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``module:name``; a simulation of it can be stopped, looked at, copied, and taken jobs from."""
    module = tmp_path / "agents_of_ones_own.py"
    module.write_text(
        "from swftools.learning import agent_policy\n"
        "agent_policy('widest-of-ones-own', lambda seen, mask: int((seen[:-1, 0] * mask[:-1]).argmax()), k=6)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    name, trace = "agents_of_ones_own:widest-of-ones-own", crowded(3)
    whole = starts(simulate(trace, name))
    sys.modules.pop("agents_of_ones_own")
    halfway = Simulation(trace, name).run(until=9000.0)
    assert len(halfway.waiting) > 1
    assert starts(halfway.copy().run().schedule()) == starts(halfway.run().schedule()) == whole
    again = Simulation(trace, name).run(until=9000.0)
    less = again.without(again.waiting.iloc[:2]).run().schedule()
    assert len(less.jobs) == len(whole) - 2
    assert validate(less).ok


def test_actions_that_are_none() -> None:
    """Out of range is an error that says which; one that is not allowed waits; one that is no number is told."""
    for agent, words in (
        (lambda *_: 99, "the agent chose 99, which is not from 0 to 3"),
        (lambda *_: -1, "the agent chose -1"),
        (lambda *_: "start", "ValueError"),
        (lambda *_: 1 / 0, "ZeroDivisionError"),
    ):
        agent_policy("of-the-test", agent, k=3)
        with pytest.raises(PolicyError, match=words) as raised:
            simulate(crowded(4), "of-the-test")
        assert str(raised.value).startswith("policy 'of-the-test', at ")
    agent_policy("of-the-test", lambda *_: 3, k=3)  # always waits: jobs start one by one, on an idle machine at the end
    assert len(simulate(crowded(4, jobs=9), "of-the-test").jobs) == 9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "easy"}, "registered already, by swftools"),
        ({"name": "of the test"}, "a name is of letters"),
        ({"agent": 3}, "agent 3 is neither a function"),
        ({"k": 0}, "k=0 is not"),
        ({"choice": "any"}, "choice='any' is not one of"),
        ({"version": 0}, "version=0 is not"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        agent_policy(**{"name": "of-the-test", "agent": by_hash} | options)


TRACE = "submit run width / 0 10 3 / 1 20 1 / 2 5 4 / 2 7 1 / 30 1 1"


def test_what_it_saw() -> None:
    """By hand: at 2 s job 1 runs on 3 of 4 processors until 10 s, job 2 on the last one until 21 s."""
    trace = draw_trace(TRACE, processors=4)
    numbers = trace.jobs["job_number"].tolist()
    saw = what_it_saw(trace, "easy", numbers[3], k=3)  # job 4 starts at 10 s, ahead of job 3, which needs all
    assert saw["job_number"].tolist()[:2] == numbers[2:4]
    assert saw["processors"].tolist()[:2] == [4, 1]
    assert saw["estimated_time"].tolist()[:2] == [5.0, 7.0]
    assert saw["waited"].tolist()[:2] == [8.0, 8.0]
    assert saw["fits"].tolist()[:2] == saw["goes_ahead"].tolist()[:2] == [False, True]
    assert saw[["free", "time_to_head", "spare", "waiting"]].to_numpy().tolist() == [[3, 11.0, 0, 2]] * 3
    assert saw["allowed"].tolist() == [False, True, True]
    assert saw["chosen"].tolist() == [False, True, False]
    assert saw["job_number"].isna().tolist() == [False, False, True]


def test_what_a_network_saw() -> None:
    """Of each choice that a policy of its own made, the chosen row has the highest score of those allowed."""
    network = Network.random(4, seed=5)
    network_policy("of-the-test", network, k=5)
    trace = crowded(5, jobs=30)
    for number in range(1, 31, 4):
        saw = what_it_saw(trace, "of-the-test", number, network, k=5)
        allowed = saw[saw["allowed"]]
        assert allowed["score"].idxmax() == saw.index[saw["chosen"]][0]


def test_what_nobody_saw() -> None:
    """A job that is not there, one behind the window, and jobs that are stopped."""
    trace = draw_trace(TRACE, processors=4)
    with pytest.raises(ParameterError, match="job 99 is not started by policy 'easy'"):
        what_it_saw(trace, "easy", 99)
    with pytest.raises(ParameterError, match="was not among the first 1 of the queue"):
        what_it_saw(trace, "easy", int(trace.jobs["job_number"].iloc[3]), k=1)


def test_a_look_is_no_more_than_the_environment_shows() -> None:
    """An agent is shown copies: what it writes to them changes nothing."""

    def scribble(seen: Any, mask: Any) -> int:
        allowed = int(mask.argmax())
        seen[:], mask[:] = np.nan, 1
        return allowed

    agent_policy("of-the-test", lambda _, mask: int(mask.argmax()), k=5)
    expected = starts(simulate(crowded(6), "of-the-test"))
    agent_policy("of-the-test", scribble, k=5)
    assert starts(simulate(crowded(6), "of-the-test")) == expected
