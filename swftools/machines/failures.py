# SPDX-License-Identifier: BSD-3-Clause
"""Failures of nodes by a model: when each node goes down, and when it is repaired.

References
----------
B. Schroeder, G. A. Gibson, "A large-scale study of failures in high-performance computing systems", DSN 2006: times
between failures of a node follow a Weibull distribution with a shape of 0.7 to 0.8, repairs a lognormal one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.keyed_random import uniforms
from swftools.machines.node_table import NodeTable
from swftools.machines.outages import DOWN, NodeOutages
from swftools.parameters import LARGEST_SEED, Parameters, number, whole
from swftools.parameters.as_text import read_entry
from swftools.parameters.durations import seconds_of

MOST_FAILURES = 1_000_000
"""So many failures are drawn at most."""

_AT_ONCE = 16
"""Numbers of a node that are drawn at once at first."""


@dataclass(frozen=True)
class NodeFailures(Parameters):
    """Failures that are by node independent of all others, and repairs.

    Parameters
    ----------
    mtbf : float
        Mean time from a repair of a node to its next failure, s.
    repair : float
        Mean time of a repair, s.
    shape : float
        Of the Weibull distribution; below 1 a node that was just repaired fails sooner than one that has run for long.
    spread : float
        Standard deviation of the logarithm of repair times; 0: all take as long. The default is our choice.
    seed : int
        Of the draws. Those of a node are its name's: they stay when others come.
    """

    NAME: ClassVar[str] = "weibull"
    mtbf: float = number(above=0, unit="s")
    repair: float = number(above=0, unit="s")
    shape: float = number(0.75, above=0.05, most=20)
    spread: float = number(1.0, least=0, most=5)
    seed: int = whole(0, least=0, most=LARGEST_SEED)


def draw_failures(table: NodeTable, model: NodeFailures, until: float, begin: float = 0.0) -> NodeTable:
    """Return a machine whose nodes fail, beside the outages that it has.

    Parameters
    ----------
    table : NodeTable
        The machine.
    model : NodeFailures
        How often, and for how long.
    until, begin : float
        From when to when failures begin, s as submissions are counted. At first all nodes are up, and have been for a
        while of which nobody knows how long: the first failure comes after the rest of a time between two.

    Returns
    -------
    NodeTable
        With an outage for each failure, ``down`` and not known before, in whole seconds.

    Raises
    ------
    ParameterError
        There would be more than ``MOST_FAILURES``.

    Examples
    --------
    >>> from swftools import MachineDescription
    >>> table = MachineDescription.from_mapping({"nodes": [{"kind": "n", "count": 100, "cores": 8}]}).table()
    >>> found = draw_failures(table, NodeFailures(mtbf=86_400.0 * 30, repair=3600.0), until=86_400.0 * 30)
    >>> 60 < len(found.outages) < 140
    True
    """
    rows = [
        (node, down, back)
        for node, times in enumerate(failures_of(table.names, model, begin, until))
        for down, back in times
    ]
    count = len(rows)
    node, down, back = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    drawn = NodeOutages(
        node.astype(np.int64),
        down.astype(np.float64),
        back.astype(np.float64),
        np.full(count, DOWN, np.int64),
        np.full(count, np.inf),
        np.full(count, -1, np.int64),
    )
    return replace(table, outages=table.outages.beside(drawn))


def outages_by_text(text: str, names: Sequence[str]) -> list[dict[str, object]]:
    """Return failures as a description has outages, by a text such as ``mtbf=90d,repair=6h,for=30d``.

    Raises
    ------
    ParameterError
        It is not readable, lacks a time, or there would be too many.
    """
    _, given = read_entry(f"{NodeFailures.NAME}:{text}", (NodeFailures.NAME,))
    if lacking := [key for key in ("mtbf", "repair", "for") if key not in given]:
        raise ParameterError(f"lacks {', '.join(lacking)}; write it as failures: mtbf=90d,repair=6h,for=30d")
    for key in ("mtbf", "repair", "for"):
        seconds = seconds_of(str(given[key]))
        if not seconds:
            raise ParameterError(f"{key}={given[key]} is no time above 0 such as 90 (seconds), 30m, 6h, 90d")
        given[key] = seconds
    until = given.pop("for")
    drawn = failures_of(names, NodeFailures.from_mapping(given), 0.0, until)
    return [
        {"nodes": [name], "begin": down, "end": back, "reason": "drawn"}
        for name, times in zip(names, drawn, strict=True)
        for down, back in times
    ]


def failures_of(
    names: Sequence[str], model: NodeFailures, begin: float, until: float
) -> Iterator[list[tuple[float, float]]]:
    """Yield for each node, by name, when it goes down and when it is back, s.

    Raises
    ------
    ParameterError
        There would be more than ``MOST_FAILURES``.
    """
    expected = len(names) * max(until - begin, 0.0) / (model.mtbf + model.repair)
    if not expected <= MOST_FAILURES:
        raise ParameterError(
            f"mtbf={model.mtbf:g} would be {expected:,.0f} failures of {len(names):,} nodes; at most "
            f"{MOST_FAILURES:,} are drawn: give a longer mtbf, or a shorter time"
        )
    for name in names:
        found: list[tuple[float, float]] = []
        count = _AT_ONCE
        while not found or found[-1][0] < until:  # the same numbers, and more, until they suffice
            found = _times(_numbers(name, model.seed, count), model, begin)
            count *= 2
        yield [(down, back) for down, back in found if down < until]


def _numbers(name: str, seed: int, count: int) -> FloatArray:
    """Return uniform numbers of a node."""
    key = np.array([int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") >> 1], np.int64)
    return uniforms(seed, "failures", key, np.zeros(1, np.int64), count)[0]


def _times(numbers: FloatArray, model: NodeFailures, begin: float) -> list[tuple[float, float]]:
    """Return when a node goes down and is back, one failure for two numbers; both in whole seconds."""
    from scipy.special import gammaincinv, ndtri  # noqa: PLC0415 (takes a tenth of a second)

    of_time, of_repair = numbers[0::2], numbers[1::2]
    scale = model.mtbf / math.gamma(1.0 + 1.0 / model.shape)
    up = scale * (-np.log1p(-of_time)) ** (1.0 / model.shape)
    # The rest of a time between failures: its distribution function is the integral of the survivor's over the mean.
    up[0] = scale * gammaincinv(1.0 / model.shape, of_time[0]) ** (1.0 / model.shape)
    z = ndtri(np.clip(of_repair, 2.0**-54, 1.0 - 2.0**-54))
    repair = model.repair * np.exp(model.spread * z - model.spread**2 / 2.0)
    up, repair = np.rint(np.maximum(up, 1.0)), np.rint(np.maximum(repair, 1.0))
    back = begin + np.cumsum(up + repair)
    return list(zip((back - repair).tolist(), back.tolist(), strict=True))
