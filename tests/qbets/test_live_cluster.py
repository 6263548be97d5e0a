# SPDX-License-Identifier: BSD-3-Clause
"""The cluster that is asked about learns as the replay does, wait by wait."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.qbets.bounds import BinomialBound
from swftools.qbets.change_points import rare_events
from swftools.qbets.history import History, empty_history, learn, newest_needed, trimming_by
from swftools.qbets.known_queue import KnownHistory
from swftools.qbets.live_methods import LiveCluster, kept_waits
from swftools.qbets.replay_checkpoint import _known_history
from tests.examples import examples

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

BOUND = BinomialBound(0.5)
FACTS = BOUND.facts(2_000)[0]


def trial(seed: int, jobs: int, runs: int) -> list[tuple[float, float, float]]:
    """Return waits, what was told of them, and the explanatory variable: runs in which nearly all are beyond, or none.

    Waits are like their neighbours in some runs, and not in others, so that more misses or fewer tell a change.
    """
    rng = np.random.default_rng(seed)
    misses = np.repeat(rng.choice([0.0, 0.5, 1.0], jobs // runs + 1, p=[0.6, 0.1, 0.3]), runs)[:jobs]
    waits = np.where(rng.random(jobs) < 0.5, rng.exponential(100.0, jobs), np.exp(np.cumsum(rng.normal(0, 0.3, jobs))))
    told = np.where(rng.random(jobs) < misses, waits - 1.0, waits)
    told[rng.random(jobs) < 0.02] = np.nan
    return list(zip(waits.tolist(), told.tolist(), rng.choice([1.0, 9.0], jobs).tolist(), strict=True))


def known_of(history: History, *, is_whole: bool) -> KnownHistory:
    """Return a history as it is saved."""
    return _known_history(history, BOUND, is_whole=is_whole)


@pytest.mark.parametrize("is_whole", [True, False], ids=["all values", "the newest"])
@examples(0.15)
@given(
    seed=st.integers(0, 10**6),
    least=st.sampled_from([0, 3, 20, 59]),
    runs=st.sampled_from([4, 30, 70]),
    first=st.integers(0, 300),
)
def test_as_the_kernel_learns(is_whole: bool, seed: int, least: int, runs: int, first: int) -> None:
    """How many it keeps, which, since when: the same behind each wait."""
    jobs, table = trial(seed, first + 250, runs), rare_events("reference")
    clusters = 2 if is_whole else 1
    history = empty_history(len(jobs) if is_whole else newest_needed(least), clusters, BOUND.places(len(jobs)))
    history.counts[1] = clusters
    history.end[0] = 5.0 if is_whole else np.inf
    trimming = trimming_by(least, table)
    for time, (wait, told, x) in enumerate(jobs[:first]):
        learn(history, trimming, FACTS, BinomialBound.compiled_add(), wait, told, x, float(time))
    known = known_of(history, is_whole=is_whole)
    cluster = LiveCluster(known, 9.0, least, table)
    begin = int(known.places[: cluster.place].sum())
    state = known.states[begin + 2 : begin + int(known.places[cluster.place])]
    for time, (wait, told, x) in enumerate(jobs[first:], first):
        learn(history, trimming, FACTS, BinomialBound.compiled_add(), wait, told, x, float(time))
        if cluster.cluster_of(x) == cluster.place:
            cluster.learn(wait, told, float(time))
        now = known_of(history, is_whole=is_whole)
        assert (cluster.kept, cluster.known) == (now.kept[cluster.place], now.known[cluster.place])
        assert cluster.first_time == now.first_time[cluster.place] or cluster.kept == 0
    begin = int(now.places[: cluster.place].sum())
    kept = np.sort(now.states[begin + 2 : begin + int(now.places[cluster.place])]).tolist()
    assert kept_waits(cluster, state) == kept
    if cluster.is_renewed:
        assert sorted(cluster.newest()) == kept


@pytest.mark.parametrize("least", [59, 150])
def test_the_first_wait_tells_a_change(least: int) -> None:
    """As many of the newest values are at hand as are looked at, before any is learnt."""
    table = rare_events("reference")
    waits = np.random.default_rng(5).exponential(100.0, 303)
    jobs = [(wait, wait if row < 300 else 0.0) for row, wait in enumerate(waits.tolist())]
    history, trimming = empty_history(newest_needed(least), 1, BOUND.places(303)), trimming_by(least, table)
    for time, (wait, told) in enumerate(jobs[:302]):
        learn(history, trimming, FACTS, BinomialBound.compiled_add(), wait, told, 9.0, float(time))
    cluster = LiveCluster(known_of(history, is_whole=False), 9.0, least, table)
    assert cluster.kept == 302
    learn(history, trimming, FACTS, BinomialBound.compiled_add(), *jobs[302], 9.0, 302.0)
    cluster.learn(*jobs[302], 302.0)
    assert (cluster.kept, cluster.first_time) == (least + 1, 302.0 - least) == (history.kept[0], history.first_time[0])
    assert cluster.newest() == waits[-least - 1 :].tolist()
