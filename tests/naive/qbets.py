# SPDX-License-Identifier: BSD-3-Clause
"""QBETS as one would write it down: lists, sorting and loops, and no other code of the package."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from statistics import NormalDist

from scipy.stats import binom


def rank_of_bound(n: int, quantile: float, confidence: float) -> int | None:
    """Return the smallest k for which the k-th smallest of n values is an upper bound; None if there is none."""
    k = 1 if n < 100 else int(n * quantile) - 10  # below that it is no bound with any confidence worth the name
    while k <= n and binom.cdf(k - 1, n, quantile) < confidence:
        k += 1
    return k if k <= n else None


def binomial_bound(waits: list[float], quantile: float, confidence: float) -> float | None:
    """Return the bound."""
    k = _rank(len(waits), quantile, confidence)
    return sorted(waits)[k - 1] if k else None


_RANKS: dict[tuple[int, float, float], int | None] = {}


def _rank(n: int, quantile: float, confidence: float) -> int | None:
    if (n, quantile, confidence) not in _RANKS:
        _RANKS[n, quantile, confidence] = rank_of_bound(n, quantile, confidence)
    return _RANKS[n, quantile, confidence]


def autocorrelation(values: list[float]) -> float:
    """Return the correlation of neighbours' normal scores."""
    n = len(values)
    scores = []
    for value in values:
        smaller, equal = sum(v < value for v in values), sum(v == value for v in values)
        scores.append(NormalDist().inv_cdf((smaller + (equal + 1) / 2) / (n + 1)))
    mean = sum(scores) / n
    variance = sum((score - mean) ** 2 for score in scores)
    if variance < 1e-12:
        return 0.0
    return sum((a - mean) * (b - mean) for a, b in itertools.pairwise(scores)) / variance


def clusters(values: list[float], waits: list[float], most: int, least: int) -> list[float]:
    """Return the largest value of each cluster; infinity for the last."""
    groups = []
    for value in sorted(set(values)):
        members = [max(wait, 1.0) for x, wait in zip(values, waits, strict=True) if x == value]
        groups.append([value, len(members), sum(members)])

    def fit(jobs: float, total: float) -> float:
        return jobs * math.log(jobs / total)

    def cost(i: int) -> float:
        one, other = groups[i], groups[i + 1]
        return fit(*one[1:]) + fit(*other[1:]) - fit(one[1] + other[1], one[2] + other[2])

    def merge(i: int) -> None:
        groups[i : i + 2] = [
            [groups[i + 1][0], *(a + b for a, b in zip(groups[i][1:], groups[i + 1][1:], strict=True))]
        ]

    best, chosen = -math.inf, list(groups)
    while True:
        k = len(groups)
        score = sum(fit(*group[1:]) for group in groups) - (2 * k - 1) / 2 * math.log(len(values))
        if k <= most and score >= best - 1e-9 * abs(best if best > -math.inf else 0.0):
            best, chosen = score, [list(group) for group in groups]
        if k == 1:
            break
        merge(min(range(k - 1), key=cost))
    groups[:] = chosen
    while len(groups) > 1 and min(group[1] for group in groups) < least:
        small = min(range(len(groups)), key=lambda i: groups[i][1])
        sides = [i for i in (small - 1, small) if 0 <= i < len(groups) - 1]
        merge(min(sides, key=cost))
    return [group[0] for group in groups[:-1]] + [math.inf]


REFERENCE = tuple(zip([i / 10 for i in range(10)], [3, 3, 4, 4, 5, 6, 8, 10, 14, 28], strict=True))


@dataclass
class Rules:
    """The options of a replay."""

    quantile: float = 0.95
    confidence: float = 0.95
    trimming: bool = True
    clustering: bool = True
    every: int = 1000
    most: int = 5
    availability: str = "either"
    training: int = 1000
    table: tuple[tuple[float, int], ...] = REFERENCE
    series_quantile: float = 0.95

    @property
    def least(self) -> int:
        """The fewest values that are bounded."""
        return fewest(self.quantile, self.confidence)


def fewest(quantile: float, confidence: float) -> int:
    """Return the fewest values that are bounded."""
    n = 1
    while 1 - quantile**n < confidence:
        n += 1
    return n


@dataclass
class Cluster:
    """Rows of the history that belong together; those from ``since`` on are kept."""

    rows: list[int] = field(default_factory=list)
    since: int = 0
    calm: int = 0
    draining: int = 0

    def kept(self) -> list[int]:
        """Return the rows that are kept."""
        return [row for row in self.rows if row >= self.since]


class History:
    """Values that became known, in clusters."""

    def __init__(self, least: int, trims: bool, table: tuple[tuple[float, int], ...]) -> None:
        self.least, self.trims, self.table = least, trims, table
        self.values: list[tuple[float, float | None, float]] = []
        self.ends, self.clusters = [math.inf], [Cluster()]

    def place(self, x: float) -> int:
        """Return the cluster of an explanatory value."""
        return next(i for i, end in enumerate(self.ends) if x <= end)

    def learn(self, value: float, told: float | None, x: float) -> None:
        """Add a value."""
        one = self.clusters[self.place(x)]
        kept = one.kept()
        row = len(self.values)
        self.values.append((value, told, x))
        if self.trims and len(kept) >= self.least:
            trims = one.draining > 0
            one.draining = max(one.draining - 1, 0)
            misses = 0
            for r in [row, *reversed(one.rows)]:
                v, t, _ = self.values[r]
                if t is None or v <= t:
                    break
                misses += 1
            if misses >= self.table[0][1]:
                rho = autocorrelation([self.values[r][0] for r in kept[-101:]])
                enough = [
                    number for least_rho, number in self.table if least_rho <= rho or least_rho == self.table[0][0]
                ][-1]
                if misses >= enough and (one.since == 0 or one.calm > self.least - enough):
                    trims, one.calm, one.draining = True, 0, self.least
            if trims and len(kept) > self.least:
                one.since = kept[-self.least]
        one.rows.append(row)
        one.calm += 1

    def regroup(self, ends: list[float]) -> None:
        """Let clusters end elsewhere."""
        old = self.clusters
        belonged = {row: i for i, one in enumerate(old) for row in one.rows}
        self.ends, self.clusters = ends, [Cluster() for _ in ends]
        for row, (_, _, x) in enumerate(self.values):
            self.clusters[self.place(x)].rows.append(row)
        for one in self.clusters:
            shares = [sum(belonged[row] == i for row in one.rows) for i in range(len(old))]
            origin = old[max(range(len(old)), key=lambda i: (shares[i], -i))]
            one.since, one.calm, one.draining = origin.since, origin.calm, origin.draining
            if len(one.kept()) < min(self.least, len(one.rows)):
                one.since = one.rows[-min(self.least, len(one.rows))]


def replay(
    jobs: list[tuple[float, float | None, float]], rules: Rules
) -> list[tuple[float | None, str | None, int, int]]:
    """Return bound, reason, cluster and number of kept waits of jobs (submit, wait, x), by submission."""
    history = History(rules.least, rules.trimming, rules.table)
    least = fewest(rules.series_quantile, 0.95)
    arrivals, gaps = (History(least, True, rules.table) for _ in range(2))
    waiting: list[tuple[float, int]] = []
    told: list[float | None] = []
    answers = []
    came, since, is_down = 0, None, False

    def bound_of(series: History) -> float | None:
        values = [series.values[row][0] for row in series.clusters[0].kept()]
        return binomial_bound(values, rules.series_quantile, 0.95)

    for number, (now, wait, x) in enumerate(jobs):
        for start, job in sorted(one for one in waiting if one[0] <= now):
            if since is not None and start > since:
                arrivals.learn(came, bound_of(arrivals), 0.0)
                gaps.learn(start - since, bound_of(gaps), 0.0)
            if since is None or start > since:
                came = 0
            since, is_down = start, False
            history.learn(jobs[job][1], told[job], jobs[job][2])
        waiting = [one for one in waiting if one[0] > now]
        place = history.place(x)
        kept = history.clusters[place].kept()
        bound = binomial_bound([history.values[row][0] for row in kept], rules.quantile, rules.confidence)
        told.append(bound)
        if len(history.values) < rules.training:
            reason = "training"
        elif bound is None:
            reason = "too-few-waits"
        else:
            reason = "unavailable" if is_down and rules.availability else None
        answers.append((bound, reason, place, len(kept)))
        came += 1
        many, long_ago = bound_of(arrivals), bound_of(gaps)
        exceeded = [many is not None and came > many, long_ago is not None and now - since > long_ago]
        if all(exceeded) if rules.availability == "both" else any(exceeded):
            is_down = True
        if wait is not None:
            waiting.append((now + wait, number))
        if rules.clustering and (number + 1) % rules.every == 0 and history.values:
            values, waits = [v[2] for v in history.values], [v[0] for v in history.values]
            history.regroup(clusters(values, waits, rules.most, rules.least))
    return answers
