# SPDX-License-Identifier: BSD-3-Clause
"""Write the table of docs/market.md that says how near ``vcg`` comes to exact prices: ``python docs/make_prices.py``.

Crowds of jobs that are all there at once, with exact requests; the exact prices are those of ``tests/naive/market.py``,
by brute force. Equal library versions give equal numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import swftools
from tests.market.crowds import PROCESSORS, crowd, trace_of
from tests.naive.market import exact, worth

PAGE = Path(__file__).parent / "market.md"
CROWDS = 30
POLICIES = {
    "genetic": "genetic:plan_clock=requested",
    "genetic, plans by waits": "genetic",
    "easy": "easy",
}
HEAD = (
    "| policy | jobs | best schedule | exact prices | off by | sum / exact sum | below 0 |\n"
    "|---|---:|---:|---:|---:|---:|---:|\n"
)


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    for label, policy in POLICIES.items():
        for size in (3, 4, 5):
            yield row(label, policy, size)


def row(label: str, policy: str, size: int) -> str:
    """Return a line of the table."""
    best, found, theirs = [], [], []
    for seed in range(CROWDS):
        jobs = crowd(seed, size)
        ends, prices = exact(jobs, PROCESSORS)
        total = sum(worth(job.points, ends[place]) for place, job in enumerate(jobs))
        trace = trace_of(jobs)
        priced = swftools.price(swftools.simulate(trace, policy), "vcg:floor=null", trace=trace).jobs
        best.append(priced["utility_got"].sum() >= total - 1e-6)
        found += priced["price"].tolist()
        theirs += prices
    ours, right = np.array(found), np.array(theirs)
    is_exact = np.abs(np.maximum(ours, 0) - np.maximum(right, 0)) < 1e-6
    off = np.abs(np.maximum(ours, 0) - np.maximum(right, 0)).sum() / right.sum()
    cells = [f"{np.mean(best):.0%}", f"{is_exact.mean():.0%}", f"{off:.0%}"]
    cells += [f"{np.maximum(ours, 0).sum() / right.sum():.2f}", f"{(ours < -1e-6).mean():.0%}"]
    return f"| {label} | {size} | {' | '.join(cells)} |\n".replace("%", " %")


def table() -> str:
    """Return the table."""
    return HEAD + "".join(rows())


def main() -> None:
    """Put the table in its place on the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"\| policy \| jobs \|.*?\n(?=\n)", lambda _: table(), text, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
