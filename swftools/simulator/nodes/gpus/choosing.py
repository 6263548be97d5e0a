# SPDX-License-Identifier: BSD-3-Clause
"""How a job's node and GPUs are chosen where GPUs are told apart: the highest score, ties as they are to be broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from swftools.errors import ParameterError
from swftools.kernel import IntArray, Kernel, kernel
from swftools.kernel.twins import Twins
from swftools.parameters import Parameters, choice, refuse_unknown, truth, whole
from swftools.parameters.registry import Registry
from swftools.simulator.nodes.gpus.fragments import fragment_with
from swftools.simulator.nodes.gpus.state import FIRST, FRAGMENTS, RANDOM, WIDTH, GpuNodes, is_sharing

TIES = {"first": FIRST, "random": RANDOM, "fragments": FRAGMENTS}
"""What becomes of ties, by name."""


@kernel(allocates=False)
def score_node(
    gpus: GpuNodes,  # noqa: ARG001 (rules need them, which have a kernel in this one's place)
    free: IntArray,  # noqa: ARG001
    node: int,  # noqa: ARG001
    cpu: int,  # noqa: ARG001
    asked_cpu: int,  # noqa: ARG001
    number: int,  # noqa: ARG001
    milli: int,  # noqa: ARG001
) -> float:
    """Return the score of a node that fits a job: the highest is taken. Here all are equal."""
    return 0.0


@kernel(allocates=False)
def choose_gpu(
    gpus: GpuNodes,
    free: IntArray,
    node: int,
    cpu: int,  # noqa: ARG001 (rules need them, which have a kernel in this one's place)
    asked_cpu: int,  # noqa: ARG001
    number: int,  # noqa: ARG001
    milli: int,
) -> int:
    """Return which GPU of a node a job shares that fits there: that with the least free, of equal ones the first."""
    width, best, least = gpus.counts[WIDTH], 0, 1 << 40
    for gpu in range(width):
        left = free[node * width + gpu]
        if milli <= left < least:
            best, least = gpu, left
    return best


@kernel(allocates=False)
def gpu_for(gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int) -> int:
    """Return the GPU that a job shares; -1 of a job that shares none."""
    return choose_gpu(gpus, free, node, cpu, asked_cpu, number, milli) if is_sharing(number, milli) else -1


@kernel(allocates=False)
def fragment_then(
    gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int
) -> float:
    """Return the fragment that a node would have with a job: by it ties may be broken."""
    chosen = gpu_for(gpus, free, node, cpu, asked_cpu, number, milli)
    return fragment_with(gpus, free, node, cpu, asked_cpu, number, milli, chosen)


@dataclass(frozen=True)
class GpuRule:
    """A rule by which nodes and GPUs are taken.

    Parameters
    ----------
    name : str
        Its name.
    score : Kernel
        As ``score_node``: higher is better. It need not look at whether the job fits.
    choose : Kernel
        As ``choose_gpu``.
    ties : str
        What becomes of ties, unless something else is said: a name in ``TIES``.
    when : str
        When to use it, as a sentence.
    """

    name: str
    score: Kernel[..., float]
    choose: Kernel[..., int]
    ties: str = "first"
    when: str = ""

    def made(self, source: Kernel[..., Any]) -> Kernel[..., Any]:
        """Return a kernel in which nodes are scored, and GPUs chosen, by this rule."""
        twins = Twins(f"gpus_{self.name.replace('-', '_')}", {score_node: self.score, choose_gpu: self.choose})
        made: Kernel[..., Any] = twins.standing_for(source)
        return made


@dataclass(frozen=True)
class GpuPlacement(Parameters):
    """A rule and its parameters.

    Parameters
    ----------
    ties : str
        Which of the nodes with the highest score is taken: the first, any (``random``), or that with the smallest
        fragment then (``fragments``), of equal ones the first; empty: as the rule has it.
    exact : bool
        Whether scores are compared as they are; else cut to whole numbers, as in the authors' program.
    seed : int
        Of random numbers.
    """

    NAME = "fgd"
    ties: str = choice("", *TIES)
    exact: bool = truth(False)
    seed: int = whole(0, least=0)

    @property
    def rule(self) -> GpuRule:
        """The rule."""
        return GPU_RULES.find(self.NAME)


GPU_RULES: Registry[GpuRule] = Registry("placement", ("gpu_rule",))


def gpu_rule(
    name: str, *, choose: Kernel[..., int] = choose_gpu, **facts: str
) -> Callable[[Kernel[..., float]], Kernel[..., float]]:
    """Register what scores nodes, a kernel, under a name; see ``GpuRule``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one.
    """

    def register(score: Kernel[..., float]) -> Kernel[..., float]:
        GPU_RULES.add(name, GpuRule(name, score, choose, **facts), score)
        return score

    return register


def find_gpu_placement(text: str | GpuPlacement) -> GpuPlacement:
    """Return a placement by name, as in ``fgd`` or ``fgd:ties=random``.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.
    """
    if isinstance(text, GpuPlacement):
        return text
    if not isinstance(text, str):
        raise ParameterError(f"placement={text!r} is neither a text, such as 'fgd', nor a GpuPlacement")
    rule, given = GPU_RULES.read(text)
    refuse_unknown(rule.name, given, GpuPlacement.names())
    kind: type[GpuPlacement] = type("GpuPlacement", (GpuPlacement,), {"NAME": rule.name})
    return kind.from_mapping(given)
