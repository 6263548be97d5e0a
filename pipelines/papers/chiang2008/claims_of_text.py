# SPDX-License-Identifier: BSD-3-Clause
"""Every statement of sections 5 and 6 that compares policies month by month or by their means, in words of our own.

What compares search algorithms by the nodes that they visit is in ``efficiency``, what is said of classes of jobs in
``classes``, and the rest in ``statements``.
"""

from __future__ import annotations

from pipelines.papers.chiang2008.claims import (
    IN_EACH,
    IN_MOST,
    IN_NEARLY_ALL,
    IN_SEVERAL,
    Claim,
    larger,
    much_smaller,
    not_larger,
    similar,
    smaller,
)
from pipelines.papers.chiang2008.figures import large
from pipelines.papers.chiang2008.months import HIGH_LOAD
from pipelines.papers.chiang2008.policies import (
    FCFS,
    LEXICAL,
    LXF,
    STARVING,
    STRICT,
    TABLE_6,
    TRADEOFF,
    VERSIONS,
    with_threshold,
)
from pipelines.papers.paper import Run

WAIT, MEAN_WAIT, SLOWDOWN, WORST = "max wait", "mean wait", "mean bounded slowdown", "max bounded slowdown"
EXCESS, BEYOND = "excess over 98 %", "jobs beyond 98 %"
EVERY = (WAIT, MEAN_WAIT, SLOWDOWN, WORST, EXCESS)

STARVED, THOUSAND = 400.0, 1000.0
"""Waits that the text calls starvation, h."""


def _fixed(hours: int, load: float | None) -> Run:
    """Return a run of Figure 2."""
    return with_threshold(f"{hours} h", load)


THRESHOLD_CLAIMS = (
    Claim(
        "Figure 2a: at the original load a threshold of 50 h keeps waits to 50 h",
        "all but one month",
        (WAIT,),
        _fixed(50, None),
        50.0,
        not_larger,
        IN_NEARLY_ALL,
    ),
    Claim(
        "Figure 2a: at the original load the longest wait is roughly 100 h by a threshold of 100 h",
        "all months",
        (WAIT,),
        _fixed(100, None),
        100.0,
        similar,
        IN_EACH,
    ),
    Claim(
        "Figure 2b: at load 0.9 a threshold of 50 h does not keep waits to 50 h",
        "most months",
        (WAIT,),
        _fixed(50, HIGH_LOAD),
        50.0,
        larger,
        IN_MOST,
    ),
    Claim(
        "Figure 2b: at load 0.9 a threshold of 100 h keeps waits to roughly 100 h",
        "each month",
        (WAIT,),
        _fixed(100, HIGH_LOAD),
        100.0,
        not_larger,
        IN_EACH,
    ),
    Claim(
        "Figure 2b: at load 0.9 the longest wait is 300 h by a threshold of 300 h",
        "all but two months",
        (WAIT,),
        _fixed(300, HIGH_LOAD),
        300.0,
        similar,
        IN_NEARLY_ALL,
    ),
    Claim(
        "Figure 2b: at load 0.9 a threshold of 50 h gives no shorter longest wait than one of 100 h",
        "most months",
        (WAIT,),
        _fixed(100, HIGH_LOAD),
        _fixed(50, HIGH_LOAD),
        not_larger,
        IN_MOST,
    ),
    Claim(
        "Figure 2c: the mean bounded slowdown is smaller with a threshold of 300 h than with one of 50 h",
        "when the longest wait is longer",
        (SLOWDOWN,),
        _fixed(300, HIGH_LOAD),
        _fixed(50, HIGH_LOAD),
        smaller,
        IN_MOST,
    ),
    Claim(
        "Figure 2c: that gain is small",
        "typically",
        (SLOWDOWN,),
        _fixed(300, HIGH_LOAD),
        _fixed(50, HIGH_LOAD),
        similar,
        IN_MOST,
    ),
    Claim(
        "Section 5.1: at load 0.9 a threshold of 0 makes single jobs wait for more than 1,000 h",
        "several months",
        (WAIT,),
        _fixed(0, HIGH_LOAD),
        THOUSAND,
        larger,
        IN_SEVERAL,
    ),
)

DESIGN_CLAIMS = (
    Claim(
        "Figure 6: strict and relaxed Lexical(T_w -> avgX) are similar",
        "but for one month",
        (WAIT, SLOWDOWN),
        LEXICAL,
        STRICT["Strict Lexical(T_w -> avgX)"],
        similar,
    ),
    Claim(
        "Section 5.3: relaxed differences improve trade-offs more often than they degrade them",
        "more improvement",
        (WAIT, MEAN_WAIT, SLOWDOWN, WORST),
        TRADEOFF,
        STRICT["Strict Tradeoff(T_w:avgX)"],
        smaller,
        IN_MOST,
    ),
    *(
        claim
        for version in ("B", "C")
        for claim in (
            Claim(
                f"Figure 8a: version {version} has the longest waits of version A",
                "each month",
                (WAIT,),
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                TRADEOFF,
                similar,
                IN_EACH,
            ),
            Claim(
                f"Section 5.4: version {version} has the mean waits and total excessive waits of version A",
                "similar",
                (MEAN_WAIT, EXCESS),
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                TRADEOFF,
                similar,
            ),
            Claim(
                f"Figure 8b: version {version} has the mean bounded slowdown of version A",
                "all but one month",
                (SLOWDOWN,),
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                TRADEOFF,
                similar,
                IN_NEARLY_ALL,
            ),
            Claim(
                f"Figure 8c: version A has a smaller largest bounded slowdown than version {version}",
                "three months of ten",
                (WORST,),
                TRADEOFF,
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                much_smaller,
                IN_SEVERAL,
            ),
        )
    ),
)


def lexical_claims(max_wait: Run, mean_wait: Run, lexical: Run) -> tuple[Claim, ...]:
    """Return what section 6.1 says of Lexical(maxW -> avgX), Lexical(T_w -> avgW) and Lexical(T_w -> avgX)."""
    return (
        Claim(
            "Figure 9a: Lexical(maxW -> avgX) has a considerably shorter longest wait than Lexical(T_w -> avgX)",
            "several months",
            (WAIT,),
            max_wait,
            lexical,
            much_smaller,
            IN_SEVERAL,
        ),
        Claim(
            "Figure 9b: Lexical(maxW -> avgX) has a larger mean bounded slowdown than Lexical(T_w -> avgX)",
            "many months",
            (SLOWDOWN,),
            max_wait,
            lexical,
            larger,
            IN_MOST,
        ),
        Claim(
            "Figure 9c: more jobs wait long under Lexical(maxW -> avgX) than under Lexical(T_w -> avgX)",
            "most months",
            (BEYOND,),
            max_wait,
            lexical,
            larger,
            IN_MOST,
        ),
        Claim(
            "Figure 9d: Lexical(maxW -> avgX) has the total excessive wait of Lexical(T_w -> avgX)",
            "most months",
            (EXCESS,),
            max_wait,
            lexical,
            similar,
            IN_MOST,
        ),
        Claim(
            "Figure 9: whether avgX or avgW comes second makes a minimal difference",
            "minimal",
            (WAIT, SLOWDOWN, BEYOND, EXCESS),
            mean_wait,
            lexical,
            similar,
        ),
    )


OF_FIGURE_9 = (TABLE_6["Lexical(maxW -> avgX)"], TABLE_6["Lexical(T_w -> avgW)"], LEXICAL)

LEXICAL_CLAIMS = lexical_claims(*OF_FIGURE_9)
LEXICAL_CLAIMS_LARGE = lexical_claims(*map(large, OF_FIGURE_9))

TRADEOFF_CLAIMS = (
    Claim(
        "Figure 10c: Tradeoff(T_w:avgX) has a much smaller mean bounded slowdown than Tradeoff(T_w:avgW)",
        "a few months",
        (SLOWDOWN,),
        TRADEOFF,
        TABLE_6["Tradeoff(T_w:avgW)"],
        much_smaller,
        IN_SEVERAL,
    ),
    Claim(
        "Figure 10d: Tradeoff(T_w:avgX) has a smaller largest bounded slowdown than Tradeoff(T_w:avgW)",
        "most months",
        (WORST,),
        TRADEOFF,
        TABLE_6["Tradeoff(T_w:avgW)"],
        smaller,
        IN_MOST,
    ),
    Claim(
        "Figures 10a and 10b: otherwise the two are similar",
        "fairly similar",
        (WAIT, MEAN_WAIT),
        TRADEOFF,
        TABLE_6["Tradeoff(T_w:avgW)"],
        similar,
    ),
    *(
        Claim(
            f"{place}: under {name} jobs starve, waiting for more than 400 h",
            "several months",
            (WAIT,),
            STARVING[name],
            STARVED,
            larger,
            IN_SEVERAL,
        )
        for place, name in (
            ("Figure 10a", "Tradeoff(maxW:avgX)"),
            ("Section 6.2", "Tradeoff(maxW:avgW)"),
            ("Section 6.2", "Tradeoff(maxE:avgX)"),
        )
    ),
)

BACKFILL_CLAIMS = (
    Claim(
        "Figures 11a and 11b: FCFS-backfill has the shorter longest wait and less excessive wait than LXF-backfill",
        "large difference",
        (WAIT, EXCESS),
        FCFS,
        LXF,
        smaller,
        IN_MOST,
    ),
    Claim(
        "Figures 11c and 11d: LXF-backfill has smaller slowdowns and mean waits than FCFS-backfill",
        "large difference",
        (MEAN_WAIT, SLOWDOWN, WORST),
        LXF,
        FCFS,
        smaller,
        IN_MOST,
    ),
    *(
        Claim(
            f"Figure 11: Tradeoff(T_w:avgX) outperforms {name} for all measures",
            "all measures",
            EVERY,
            TRADEOFF,
            run,
            smaller,
        )
        for name, run in (("FCFS-backfill", FCFS), ("LXF-backfill", LXF))
    ),
    Claim(
        "Figure 11: Lexical(T_w -> avgX) is similar to Tradeoff(T_w:avgX) but for the largest slowdown",
        "fairly similar",
        (WAIT, MEAN_WAIT, SLOWDOWN),
        LEXICAL,
        TRADEOFF,
        similar,
    ),
    Claim(
        "Figure 11d: Lexical(T_w -> avgX) has a larger largest bounded slowdown than Tradeoff(T_w:avgX)",
        "much worse",
        (WORST,),
        LEXICAL,
        TRADEOFF,
        larger,
        IN_MOST,
    ),
    Claim(
        "Figure 11d: Lexical(T_w -> avgX) has a smaller largest bounded slowdown than FCFS-backfill",
        "most months",
        (WORST,),
        LEXICAL,
        FCFS,
        smaller,
        IN_MOST,
    ),
    *(
        Claim(
            f"Section 6.3: {name} has mean waits and slowdowns as low as LXF-backfill",
            "as good",
            (MEAN_WAIT, SLOWDOWN),
            run,
            LXF,
            not_larger,
            IN_MOST,
        )
        for name, run in (("Lexical(T_w -> avgX)", LEXICAL), ("Tradeoff(T_w:avgX)", TRADEOFF))
    ),
    *(
        Claim(
            f"Section 6.3: {name} has a longest wait as short as that of FCFS-backfill",
            "most months",
            (WAIT,),
            run,
            FCFS,
            not_larger,
            IN_MOST,
        )
        for name, run in (("Lexical(T_w -> avgX)", LEXICAL), ("Tradeoff(T_w:avgX)", TRADEOFF))
    ),
)

CLAIMS = (*THRESHOLD_CLAIMS, *DESIGN_CLAIMS, *LEXICAL_CLAIMS, *TRADEOFF_CLAIMS, *BACKFILL_CLAIMS)
"""All of policies whose searches visit no more than 4,000 nodes."""
