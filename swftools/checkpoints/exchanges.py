# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of answers between the choices of a survey, until each choice has its share of the processor hours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MOST_EXCHANGES = 200
NEAR_ENOUGH, LEAST_GAIN = 0.001, 0.0001
"""Exchanges end when shares of processor hours, all choices together, are off by so much or come no nearer."""

FAR_OFF = 0.005
"""Half a point of the processor hours: what a share is off by before more is changed than single pairs of answers."""


def exchange(work: FloatArray, choice: IntArray, target: FloatArray) -> None:
    """Exchange the choices of pairs of answers, in place, each time of the pair that brings work nearest the target.

    Where no pair does and a choice is still far off, two pairs are exchanged: by way of a third choice.
    """
    order = np.argsort(work, kind="stable")
    ranked, given = work[order], choice[order]
    for _ in range(MOST_EXCHANGES):
        excess = np.bincount(given, ranked, len(target)) - target
        if abs(excess).sum() <= NEAR_ENOUGH * ranked.sum():
            break
        pairs = [(a, b) for a in range(len(target)) for b in range(len(target)) if excess[a] > 0 > excess[b]]
        best = [_pair(ranked, given, pair, excess) for pair in pairs]
        gain, *pair = max(best, default=(0.0, -1, -1))
        if gain > LEAST_GAIN * ranked.sum():
            given[pair] = given[pair[::-1]]
        elif abs(excess).max() <= FAR_OFF * ranked.sum() or not _exchange_by_third(ranked, given, pairs, excess):
            break
    choice[order] = given


def _exchange_by_third(
    work: FloatArray, choice: IntArray, pairs: Sequence[tuple[int, int]], excess: FloatArray
) -> bool:
    """Exchange an answer of a choice over its target with one of a third, and one of that with one of a choice under.

    Returns False, and changes nothing, where that brings the work no nearer.
    """
    least = LEAST_GAIN * work.sum()
    best: tuple[float, list[int], list[int]] = (least, [], [])
    for over, under in pairs:
        for third in sorted(set(range(len(excess))) - {over, under}):
            passing = excess.copy()
            passing[third] = -min(excess[over], -excess[under])  # as if the third lacked what is to be passed on
            _, *first = _pair(work, choice, (over, third), passing)
            if first[0] < 0:
                continue
            changed = choice.copy()
            changed[first] = choice[first[::-1]]
            moved = work[first[0]] - work[first[1]]
            left = excess.copy()
            left[over], left[third] = excess[over] - moved, excess[third] + moved
            gained, *second = _pair(work, changed, (third, under), left)
            gain = float(abs(excess).sum() - abs(left).sum()) + gained
            if gain > best[0]:
                best = (gain, first, second)
    _, first, second = best
    for pair in (first, second):
        choice[pair] = choice[pair[::-1]]
    return bool(first)


def _pair(work: FloatArray, choice: IntArray, pair: tuple[int, int], excess: FloatArray) -> tuple[float, int, int]:
    """Return what the best exchange of two choices, one over and one under its target, gains; and its answers.

    Answers are sorted by work.
    """
    over, under = pair
    ours, theirs = np.flatnonzero(choice == over), np.flatnonzero(choice == under)
    if not len(ours) or not len(theirs):
        return 0.0, -1, -1
    wanted = min(excess[over], -excess[under])
    near = np.searchsorted(work[theirs], work[ours] - wanted)
    near = np.stack([np.maximum(near - 1, 0), np.minimum(near, len(theirs) - 1)])
    moved = work[ours] - work[theirs[near]]
    left = abs(excess[over] - moved) + abs(excess[under] + moved)
    side, best = np.unravel_index(np.argmin(left), left.shape)
    gain = float(excess[over] - excess[under] - left[side, best])
    return gain, int(ours[best]), int(theirs[near[side, best]])
