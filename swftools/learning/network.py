# SPDX-License-Identifier: BSD-3-Clause
"""A small network that scores each action by its row, in numpy to learn and compiled to decide."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile
from zlib import error

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, kernel
from swftools.keyed_random import generator
from swftools.learning.observation import FEATURES, IS_JOB, ObservedJobs, empty_seen, observe
from swftools.parameters import is_whole
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import can_start_any, free
from swftools.simulator.registry import POLICIES, Policy

INPUTS = FEATURES + FEATURES - 1
"""Numbers that a score is made of: those of the row, and those of the machine."""


EQUAL = 1e-9
"""Scores that differ by no more are equal: libraries sum in another order, which changes the last bits."""


_WRONG = (OSError, ValueError, TypeError, LookupError, EOFError, BadZipFile, RuntimeError, MemoryError, error)
"""What goes wrong in reading a file that is none of numpy's, or says that it is larger than it is."""


class Network(NamedTuple):
    """Scores of actions: one hidden layer with the same weights for each row, so the order of rows does not matter.

    ``hidden`` has shape (11, units): six numbers of the row, five of the machine. On a machine of nodes, where a row
    has n numbers, it has shape (2 n - 1, units); rows of kinds of nodes and of partitions are not looked at. As an
    agent it takes observation and mask, and returns the allowed action with the highest score.
    """

    hidden: FloatArray
    bias: FloatArray
    out: FloatArray

    @classmethod
    def random(cls, units: int = 16, seed: int = 0, columns: int = FEATURES) -> Network:
        """Return one that knows nothing, for rows of so many columns."""
        random, inputs = generator(seed, "learning/network"), 2 * columns - 1
        scale = 1.0 / np.sqrt(inputs)
        return cls(random.normal(0.0, scale, (inputs, units)), np.zeros(units), random.normal(0.0, 0.1, units))

    def inputs(self, observation: npt.NDArray[np.float32]) -> FloatArray:
        """Return what is scored, shape (..., k + 1, 11): each row, followed by the machine.

        Raises
        ------
        ParameterError
            The rows have not as many columns as the network was made for.
        """
        seen = np.asarray(observation, np.float64)
        others = seen.shape[-1] - 1
        if seen.shape[-1] + others != len(self.hidden):
            raise ParameterError(
                f"the network is made for rows of {(len(self.hidden) + 1) // 2} columns, and {seen.shape[-1]} are "
                "seen: train one on such a machine"
            )
        machine = seen[..., -1:, :others]
        rows = seen.copy()
        rows[..., -1, :] = 0.0  # the row that waits: it is no job
        return np.concatenate([rows, np.broadcast_to(machine, (*rows.shape[:-1], others))], axis=-1)

    def scores(self, observation: npt.NDArray[np.float32]) -> FloatArray:
        """Return the score of each action, shape (..., k + 1), of rows up to that of the machine."""
        return np.asarray(np.tanh(self.inputs(observation) @ self.hidden + self.bias) @ self.out)

    def __call__(self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> int:
        """Return the allowed action of the highest score; of equal ones, which rounding may tell apart, the first."""
        scores = np.where(mask, self.scores(observation[: len(mask)]), -np.inf)
        return int((scores >= scores.max() - EQUAL).argmax())

    @property
    def stamp(self) -> str:
        """A hash of the weights."""
        return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in self)).hexdigest()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the weights, as numpy's ``.npz``."""
        np.savez(path, **self._asdict())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Network:
        """Read weights that ``save`` wrote.

        Raises
        ------
        ParameterError
            There is no such file, it is damaged, or has other arrays.
        """
        try:
            with Path(path).open("rb") as file:
                arrays = dict(np.load(file, allow_pickle=False))
        except _WRONG as wrong:
            raise ParameterError(f"{path}: cannot be read as weights: {wrong}") from wrong
        if set(arrays) != set(cls._fields):
            raise ParameterError(f"{path}: has the arrays {sorted(arrays)}, not {sorted(cls._fields)}")
        read = cls(**{name: np.array(arrays[name], np.float64) for name in cls._fields})
        read.check(f"{path}: ")
        return read

    def check(self, where: str = "") -> None:
        """Raise ParameterError where weights have other shapes, or are no finite numbers."""
        units = self.out.size
        inputs = len(self.hidden)
        if (
            inputs < INPUTS
            or inputs % 2 == 0
            or self.hidden.shape != (inputs, units)
            or self.bias.shape != (units,)
            or self.out.shape != (units,)
        ):
            shapes = ", ".join(str(part.shape) for part in self)
            raise ParameterError(f"{where}weights of shapes {shapes}, not ({INPUTS}, units), (units,), (units,)")
        if not all(np.isfinite(part).all() for part in self):
            raise ParameterError(f"{where}weights are not all finite numbers")


def calling_module() -> str:
    """Return the name of the module that called the function that asks, as that of a policy's own source."""
    frame = inspect.currentframe()
    caller = frame and frame.f_back and frame.f_back.f_back
    return str(caller.f_globals.get("__name__", "")) if caller else ""


class NetworkMemory(NamedTuple):
    """What the compiled policy has of its own: what it sees, the weights, row by row, what the machine adds, scores."""

    seen: ObservedJobs
    hidden: FloatArray
    bias: FloatArray
    out: FloatArray
    machine: FloatArray
    scores: FloatArray


def network_policy(name: str, network: Network, *, k: int = 128, version: int = 1) -> None:
    """Register a network as a compiled policy, which decides in microseconds.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for; in a module of your own ``module:name``.
    network : Network
        Trained by ``train``, with ``choice="fits"``.
    k : int
        How many waiting jobs it sees: the number that it was trained with.
    version : int
        Version of its schedules: raise it when the weights change.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; weights have other shapes, or are not numbers.
    """
    made = policy_of(name, network, k=k, version=version)
    POLICIES.add(name, replace(made, made_in=calling_module(), stamp=network.stamp), network_policy)


def policy_of(name: str, network: Network, *, k: int = 128, version: int = 1) -> Policy:
    """Return the same, which nothing finds by its name."""
    if not is_whole(k, 1, 2**31 - 1):
        raise ParameterError(f"k={k!r} is not an integer of 1 or more")
    if not is_whole(version, 1):
        raise ParameterError(f"policy {name!r}: version={version!r} is not an integer of 1 or more")
    network.check(f"policy {name!r}: ")
    if len(network.hidden) != INPUTS:
        raise ParameterError(
            f"policy {name!r}: the network is made for a machine of nodes; register it by agent_policy"
        )

    def memory(jobs: int, processors: int) -> NetworkMemory:  # noqa: ARG001 (as every policy's)
        weights = network.hidden.ravel(), network.bias, network.out
        return NetworkMemory(empty_seen(k), *weights, np.zeros(len(network.bias)), np.zeros(k + 1))

    return Policy(name, decide_by_network, memory=memory, rests=True, allocates=False, version=version)


def decide_by_network(machine: Machine, memory: NetworkMemory) -> None:
    """Start the allowed job of the highest score until waiting has a higher one."""
    while free(machine) > 0 and can_start_any(machine) and observe(machine, memory.seen):
        best = best_action(memory)
        if best == len(memory.seen.job):
            return
        start(machine, memory.seen.job[best])


@kernel(allocates=False)
def best_action(memory: NetworkMemory) -> int:
    """Return the allowed action of the highest score; of equal ones the first."""
    seen, rows, highest = memory.seen, len(memory.seen.job), -np.inf
    weigh(memory.machine, memory.bias, seen.observation, rows * FEATURES, memory.hidden, FEATURES, FEATURES - 1)
    for row in range(rows + 1):
        if seen.mask[row] > 0:
            score = 0.0
            for unit in range(len(memory.out)):
                total = memory.machine[unit]
                if row < rows:
                    for i in range(IS_JOB + 1):
                        total += seen.observation[row * FEATURES + i] * memory.hidden[i * len(memory.out) + unit]
                score += np.tanh(total) * memory.out[unit]
            memory.scores[row] = score
            highest = max(highest, score)
    best = 0
    while seen.mask[best] == 0 or memory.scores[best] < highest - EQUAL:
        best += 1
    return best


@kernel(allocates=False)
def weigh(
    total: FloatArray, bias: FloatArray, seen: Any, begin: int, weights: FloatArray, first: int, count: int
) -> None:
    """Write bias and weighted inputs of each unit: ``count`` numbers of what is seen, by the weights from ``first``."""
    units = len(total)
    for unit in range(units):
        total[unit] = bias[unit]
        for i in range(count):
            total[unit] += seen[begin + i] * weights[(first + i) * units + unit]
