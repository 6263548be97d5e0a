# SPDX-License-Identifier: BSD-3-Clause
"""Policies that were trained, and policies in Python, are published like others; their versions depend on weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.tasks.own_code import source_hash
from swftools.errors import ParameterError
from swftools.learning import Network, agent_policy, network_policy
from tests.learning.agents import by_hash, policies_of_a_test
from tests.pipelines.cli.test_reading_logs import LOG
from tests.pipelines.luigi_runs import SWFTOOLS, run

MODULE = """
from pathlib import Path
from swftools.learning import Network, agent_policy, network_policy
from swftools.simulator import python_policy

here = Path(__file__).parent
network_policy("trained", Network.load(here / "weights.npz"), k=16)

@python_policy("heads")
def heads(stepper):
    while len(stepper.waiting) and stepper.width[stepper.waiting[0]] <= stepper.free:
        stepper.start(stepper.waiting[0])
"""


def test_at_the_console(tmp_path: Path) -> None:
    """Compared by ``module:name``; other weights are another version."""
    (tmp_path / "own_agents.py").write_text(MODULE)
    (tmp_path / "log.swf").write_text(LOG)
    versions = []
    for seed in (1, 2):
        Network.random(4, seed).save(tmp_path / "weights.npz")
        command = [*SWFTOOLS, "compare", "--log", "log.swf", "--policies", "own_agents:trained,own_agents:heads,fcfs"]
        done = run(command, tmp_path, PYTHONPATH=str(tmp_path))
        assert 0 == done.returncode, done.stderr
        versions.append(done.stdout.split("version ")[1].split()[0])
    assert versions[0] != versions[1]


@pytest.fixture
def _own() -> Iterator[None]:
    with policies_of_a_test():
        yield


@pytest.mark.usefixtures("_own")
def test_what_a_version_depends_on(tmp_path: Path) -> None:
    """On the module that registers it, and on the weights, of a network or in a file."""
    hashes = []
    for seed in (1, 2):
        network_policy("trained", Network.random(4, seed))
        hashes.append(source_hash("trained"))
        agent_policy("trained-too", Network.random(4, seed))
        hashes.append(source_hash("trained-too"))
    assert hashes[0] == hashes[1] != hashes[2] == hashes[3]
    agent_policy("by-hash", by_hash)
    plain = source_hash("by-hash")
    with_weights = []
    for text in ("a", "b"):
        (tmp_path / "weights.zip").write_text(text)
        agent_policy("by-hash", by_hash, weights=tmp_path / "weights.zip")
        with_weights.append(source_hash("by-hash"))
    assert len({plain, *with_weights, hashes[0], None}) == 5
    with pytest.raises(ParameterError, match=r"weights='.*none\.zip': cannot be read: No such file"):
        agent_policy("by-hash", by_hash, weights=tmp_path / "none.zip")
