# SPDX-License-Identifier: BSD-3-Clause
"""The experiment of Weng et al. (2023) by its words: pods come one after the other, what does not fit is dropped.

A node is a tuple of free thousandths of CPU, free MiB, free thousandths of each GPU, and the model of its GPUs. Scores
are functions of nodes and pods; of nodes with the highest score the first is taken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

MOST_CPU, MOST_GPU = 128_000, 8_000


class Pod(NamedTuple):
    """What a pod asks for: thousandths of CPU, MiB, GPUs, thousandths of each, and models, all where there are none."""

    cpu: int
    memory: int
    gpus: int
    milli: int
    models: str = ""

    @property
    def asked(self) -> int:
        """Thousandths of GPUs in all."""
        return self.gpus * self.milli

    @property
    def is_sharing(self) -> bool:
        """Whether it asks for a part of one GPU."""
        return self.gpus == 1 and self.milli < 1000

    @property
    def kind(self) -> int:
        """What GPU clustering keeps together: 0 for sharing pods, else how many GPUs."""
        return 0 if self.is_sharing else self.gpus


class Node(NamedTuple):
    """What is free of a node, and how many pods of each kind with GPUs run there."""

    cpu: int
    memory: int
    gpus: tuple[int, ...]
    model: str
    kinds: tuple[int, ...] = ()


Typical = tuple[tuple[float, int, int, int, str], ...]
"""Shares of pods, and the CPU, thousandths of a GPU, GPUs and models that they ask for."""


def typical_of(pods: Sequence[Pod]) -> Typical:
    """Return the most frequent classes, which together are 95 % of all pods."""
    counts = Counter((pod.cpu, pod.milli if pod.gpus else 0, pod.gpus, pod.models if pod.gpus else "") for pod in pods)
    chosen, so_far = [], 0
    for key, count in sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True):
        chosen.append((count, key))
        so_far += count
        if so_far >= 0.95 * len(pods):
            break
    share = so_far / len(pods)
    return tuple((count / len(pods) / share, *key) for count, key in chosen)


def allows(models: str, model: str) -> bool:
    """Whether a pod that asks for models may have GPUs of one."""
    return not models or model in models.split("|")


def has_gpus(gpus: Sequence[int], number: int, milli: int) -> bool:
    """Whether so many GPUs have so much free."""
    return sum(free >= milli for free in gpus) >= number


@cache
def fragmentation(cpu: int, gpus: tuple[int, ...], model: str, typical: Typical) -> float:
    """Return how much of what is free of a node's GPUs the typical pods are expected not to be able to use.

    By seven kinds, added up in the order of the original, where the last digit decides.
    """
    left = sum(gpus)
    lacks_both = lacks_gpu = lacks_cpu = no_gpu_fits = no_gpu_lacks = no_access = 0.0
    for share, its_cpu, milli, number, models in typical:
        enough_cpu, enough_gpu = cpu >= its_cpu, has_gpus(gpus, number, milli)
        if number == 0 and enough_cpu:
            no_gpu_fits += share * left
        elif number == 0:
            no_gpu_lacks += share * left
        elif not allows(models, model):
            no_access += share * left
        elif enough_gpu and enough_cpu:
            lacks_gpu += share * sum(free for free in gpus if free < milli)
        elif enough_gpu:
            lacks_cpu += share * left
        elif enough_cpu:
            lacks_gpu += share * left
        else:
            lacks_both += share * left
    return lacks_both + lacks_gpu + lacks_cpu + no_gpu_fits + no_gpu_lacks + no_access


def fits(node: Node, pod: Pod) -> bool:
    """Whether a pod fits a node."""
    if node.cpu < pod.cpu or node.memory < pod.memory:
        return False
    return pod.gpus == 0 or (allows(pod.models, node.model) and has_gpus(node.gpus, pod.gpus, pod.milli))


def choices(node: Node, pod: Pod) -> list[list[int]]:
    """Return the GPUs that a pod may get: each that fits a sharing one; else the first that are free."""
    fitting = [gpu for gpu, free in enumerate(node.gpus) if free >= pod.milli]
    return [[gpu] for gpu in fitting] if pod.is_sharing else [fitting[: pod.gpus]]


def on(node: Node, pod: Pod, chosen: Sequence[int]) -> Node:
    """Return a node on which a pod has begun, on some GPUs."""
    gpus = tuple(free - pod.milli * (gpu in chosen) for gpu, free in enumerate(node.gpus))
    kinds = tuple(sorted({*node.kinds, pod.kind})) if pod.gpus else node.kinds
    return Node(node.cpu - pod.cpu, node.memory - pod.memory, gpus, node.model, kinds)


def fullest(node: Node, pod: Pod, typical: Typical) -> list[int]:
    """Return the GPU with the least free, the first of equal ones; whole GPUs: the first."""
    return min(choices(node, pod), key=lambda chosen: sum(node.gpus[gpu] for gpu in chosen))


def exact_fgd(node: Node, pod: Pod, chosen: Sequence[int], typical: Typical) -> float:
    """Return by how much the fragmentation of a node falls, as a number between 0 and 100; 50 if it stays."""
    then = on(node, pod, chosen)
    before = fragmentation(node.cpu, node.gpus, node.model, typical)
    after = fragmentation(then.cpu, then.gpus, node.model, typical)
    return 100 * (1 / (1 + math.exp(-(before - after) / 1000)))


def best_for_fragments(node: Node, pod: Pod, typical: Typical) -> list[int]:
    """Return the GPUs by which the fragmentation falls most, in whole numbers; the first of equal ones."""
    return max(choices(node, pod), key=lambda chosen: math.floor(exact_fgd(node, pod, chosen, typical)))


def fgd(node: Node, pod: Pod, typical: Typical) -> int:
    """Return the score of fragmentation gradient descent."""
    return math.floor(exact_fgd(node, pod, best_for_fragments(node, pod, typical), typical))


def best_fit(node: Node, pod: Pod, typical: Typical) -> int:
    """Return the higher the less is left; the original stretches it to 0..100, which keeps the order."""
    cpu, gpu = (node.cpu - pod.cpu) / MOST_CPU * 0.5, (sum(node.gpus) - pod.asked) / MOST_GPU * 0.5
    return math.floor(100 * (1 - (cpu + gpu)))


def dot_product(node: Node, pod: Pod, typical: Typical) -> int:
    """Return the higher the smaller the product of what is free and what is asked for is."""
    product = node.cpu / MOST_CPU * (pod.cpu / MOST_CPU) + sum(node.gpus) / MOST_GPU * (pod.asked / MOST_GPU)
    return math.floor(100 * (1 - product / 2))


def clustering(node: Node, pod: Pod, typical: Typical) -> int:
    """Return the highest where only pods of the same kind run; more for fuller nodes."""
    if pod.gpus == 0:
        return 0
    if node.kinds == (pod.kind,):
        base = 75
    elif pod.kind in node.kinds:
        base = 50
    else:
        base = 0 if node.kinds else 25
    return base + math.floor(25 * (MOST_GPU - sum(node.gpus)) / MOST_GPU)


def packing(node: Node, pod: Pod, typical: Typical) -> int:
    """Return the highest where begun GPUs suffice, then where begun nodes do."""
    if pod.gpus == 0:
        return 0
    if all(free == 1000 for free in node.gpus):
        return max(33 - len(node.gpus), len(node.gpus))
    taken = sorted(free for free in node.gpus if free >= pod.milli)[: pod.gpus]
    whole = sum(free == 1000 for free in taken)
    if whole:
        return max(50 - whole, 33)
    return max(100 - sum(free * 100 // 1000 for free in taken) // 10, 50)


RULES: dict[str, tuple[Callable[..., int], Callable[..., list[int]]]] = {
    "fgd": (fgd, best_for_fragments),
    "weng-best-fit": (best_fit, fullest),
    "weng-dot-product": (dot_product, fullest),
    "gpu-clustering": (clustering, fullest),
    "weng-gpu-packing": (packing, fullest),
}
"""By name: the score of a node, and the GPUs there."""


def inflate(
    nodes: Sequence[Node], pods: Sequence[Pod], typical: Typical, rule: str
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the node of each pod, -1 where it is dropped, and its GPUs."""
    score, choose = (cache(each) for each in RULES[rule])
    now, where = list(nodes), []
    for pod in pods:
        fitting = [place for place, node in enumerate(now) if fits(node, pod)]
        if not fitting:
            where.append((-1, ()))
            continue
        # Sorting keeps the order of nodes of equal scores; which pods of a kind are how many does not matter.
        place = max(fitting, key=lambda place: score(now[place], pod, typical))
        chosen = choose(now[place], pod, typical) if pod.gpus else []
        where.append((place, tuple(chosen)))
        now[place] = on(now[place], pod, chosen)
    return where


def curves(
    nodes: Sequence[Node], pods: Sequence[Pod], where: Sequence[tuple[int, tuple[int, ...]]], typical: Typical
) -> dict[int, tuple[float, float]]:
    """Return, by percent asked for, percent of the GPUs allocated, and of the free ones that are a fragment."""
    capacity, now = sum(sum(node.gpus) for node in nodes), list(nodes)
    frags = [fragmentation(node.cpu, node.gpus, node.model, typical) for node in now]
    asked = held = 0
    rows: dict[int, list[tuple[float, float]]] = {}
    for pod, (place, chosen) in zip(pods, where, strict=True):
        asked += pod.asked
        if place >= 0:
            held += pod.asked
            now[place] = on(now[place], pod, chosen)
            frags[place] = fragmentation(now[place].cpu, now[place].gpus, now[place].model, typical)
        free = capacity - held
        ratio = 100 * math.fsum(frags) / free if free else 0.0
        rows.setdefault(round(100 * asked / capacity), []).append((round(100 * held / capacity, 2), ratio))
    return {
        percent: (sum(each[0] for each in found) / len(found), sum(each[1] for each in found) / len(found))
        for percent, found in rows.items()
    }
