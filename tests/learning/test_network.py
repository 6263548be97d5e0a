# SPDX-License-Identifier: BSD-3-Clause
"""The network: by hand, compiled as in numpy, the same whatever the order of rows; its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.learning import Network, agent_policy, network_policy
from swftools.simulator import simulate, validate
from tests.learning.logs import crowded


def of_each(network: Network, **parts: Any) -> Network:
    """Return a network with other weights in part."""
    return network._replace(**parts)


def test_scores_by_hand() -> None:
    """One unit that looks at the width of the row and at what is free; in the row that waits the row is no job."""
    hidden = np.zeros((11, 1))
    hidden[0, 0], hidden[6, 0] = 2.0, -1.0
    network = Network(hidden, np.array([0.5]), np.array([3.0]))
    seen = np.zeros((3, 6), np.float32)
    seen[0] = 0.25, 0.5, 0, 1, 1, 1
    seen[1] = 0.75, 0.5, 0, 0, 0, 1
    seen[2, 0] = 0.5  # half of the machine is free
    expected = [3 * np.tanh(0.5 + 2 * width - 0.5) for width in (0.25, 0.75, 0.0)]
    np.testing.assert_allclose(network.scores(seen), expected, rtol=1e-6)
    assert network(seen, np.array([1, 1, 1])) == 1
    assert network(seen, np.array([1, 0, 1])) == 0
    assert network(seen, np.array([0, 0, 1])) == 2
    np.testing.assert_allclose(network.scores(np.stack([seen, seen[[1, 0, 2]]]))[1], np.array(expected)[[1, 0, 2]])


def test_of_equal_scores_the_first() -> None:
    """Also where a sum differs in its last bits."""
    network = Network(np.zeros((11, 2)), np.zeros(2), np.zeros(2))
    seen = np.zeros((4, 6), np.float32)
    assert network(seen, np.array([0, 1, 1, 1])) == 1
    network = Network.random(16, seed=3)
    seen[:3] = 0.3, 0.2, 0.1, 1, 1, 1
    assert network(seen, np.array([1, 1, 1, 0])) == 0


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_compiled_as_in_numpy(seed: int, compiled: bool) -> None:
    """Decision by decision: the same starts, with a window that is smaller than the queue."""
    network, trace = Network.random(8, seed), crowded(seed)
    network = of_each(network, out=3 * network.out)
    network_policy("compiled", network, k=4)
    agent_policy("in-numpy", network, k=4)
    ours = simulate(trace, "compiled", compiled=compiled)
    assert ours.jobs["start_time"].tolist() == simulate(trace, "in-numpy").jobs["start_time"].tolist()
    assert ours.jobs["start_time"].tolist() != simulate(trace, "fcfs").jobs["start_time"].tolist()
    assert validate(ours, trace=trace).ok


def test_jobs_that_look_alike() -> None:
    """Many of one kind at one time go in the order of the queue, in both forms."""
    trace = Trace.from_columns(
        machine_processors=8,
        job_number=np.arange(1, 41),
        submit_time=np.repeat([0, 50, 60, 61], 10),
        run_time=np.tile([30, 10], 20),
        requested_time=np.full(40, 40),
        requested_processors=np.full(40, 3),
    )
    network_policy("compiled", Network.random(16, 1), k=32)
    agent_policy("in-numpy", Network.random(16, 1), k=32)
    starts = [simulate(trace, name).jobs["start_time"].tolist() for name in ("compiled", "in-numpy")]
    assert starts[0] == starts[1]


def test_a_file_of_weights(tmp_path: Path) -> None:
    """What is written is read, to the last bit."""
    network = Network.random(5, seed=9)
    network.save(tmp_path / "weights.npz")
    read = Network.load(tmp_path / "weights.npz")
    for ours, theirs in zip(read, network, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(Network.random(5, seed=8).hidden, network.hidden)


def test_files_that_are_none(tmp_path: Path) -> None:
    """One clear error each, with the file's name."""
    path, network = tmp_path / "weights.npz", Network.random(3)
    with pytest.raises(ParameterError, match=r"weights\.npz: cannot be read as weights: .*No such file"):
        Network.load(path)
    for text in (b"", b"PK\x03\x04 no more", b"weights"):
        path.write_bytes(text)
        with pytest.raises(ParameterError, match=r"weights\.npz: cannot be read as weights"):
            Network.load(path)
    np.savez(path, hidden=network.hidden)
    with pytest.raises(ParameterError, match="has the arrays"):
        Network.load(path)
    of_each(network, hidden=network.hidden[:-1]).save(path)
    with pytest.raises(ParameterError, match=r"weights of shapes \(10, 3\)"):
        Network.load(path)
    of_each(network, bias=np.array([0.0, np.nan, 0.0])).save(path)
    with pytest.raises(ParameterError, match=r"weights\.npz: weights are not all finite"):
        Network.load(path)


@pytest.mark.parametrize(
    ("network", "options", "words"),
    [
        (Network.random(3), {"k": 0}, "k=0 is not"),
        (Network.random(3), {"k": 2**31}, "k=2147483648 is not"),
        (Network.random(3), {"version": 1.5}, "version=1.5 is not"),
        (Network.random(3)._replace(out=np.zeros(4)), {}, "policy 'of-the-test': weights of shapes"),
        (Network.random(3)._replace(out=np.full(3, np.inf)), {}, "not all finite"),
    ],
)
def test_what_is_refused(network: Network, options: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        network_policy("of-the-test", network, **options)
