# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of policies drawn by hand: jobs as a table, the schedule as a picture (``tests/drawn.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Drawing(NamedTuple):
    """Jobs, the schedules of policies, each under one or more names, and options of the simulation.

    A name may be followed by parameters: ``easy reservations=2``.
    """

    jobs: str
    schedules: dict[str, str]
    options: Mapping[str, str] = MappingProxyType({})


DRAWINGS = {
    "C is done in time, D would delay B": Drawing(
        """
        job submit width run request
        A   0      3     4   4
        B   1      4     2   2
        C   2      1     2   2
        D   2      1     3   3
        """,
        {
            "fcfs": """
                AAAABBCC.
                AAAABBDDD
                AAAABB...
                ....BB...
            """,
            "easy, sjf-backfill, conservative, conservative-fixed, conservative-replanned": """
                AAAABBDDD
                AAAABB...
                AAAABB...
                ..CCBB...
            """,
        },
    ),
    "D fits beside B, but delays C": Drawing(
        """
        job submit width run request
        A   0      2     4   4
        B   1      3     3   3
        C   1      4     2   2
        D   2      1     8   8
        """,
        {
            "easy, sjf-backfill": """
                AAAABBB...CC
                AAAABBB...CC
                ....BBB...CC
                ..DDDDDDDDCC
            """,
            "easy reservations=2, easy reservations=9, conservative, conservative-fixed, conservative-replanned": """
                AAAABBBCCDDDDDDDD
                AAAABBBCC........
                ....BBBCC........
                .......CC........
            """,
        },
    ),
    "C and D fit beside B, but not both": Drawing(
        """
        job submit width run request
        A   0      2     4   4
        B   1      3     2   2
        C   2      1     5   5
        D   2      1     5   5
        """,
        {
            "easy, sjf-backfill, lxf-backfill, prio-fifo, weighted-priority, easy reservations=2, conservative": """
                AAAABBDDDDD
                AAAABB.....
                ....BB.....
                ..CCCCC....
            """
        },
    ),
    "A ends early, C comes later": Drawing(
        """
        job submit width run request
        A   0      4     2   6
        B   0      2     3   3
        C   3      2     2   2
        """,
        {
            "easy, conservative, conservative-replanned": """
                AABBB
                AABBB
                AA.CC
                AA.CC
            """,
            "conservative-fixed": """
                AA.CC.BBB
                AA.CC.BBB
                AA.......
                AA.......
            """,
        },
    ),
    "A ends early: B may not take what C was promised, unless all is planned anew": Drawing(
        """
        job submit width run request
        E   0      2     10  10
        A   0      2     4   6
        G   1      4     2   2
        B   1      2     5   5
        C   1      2     3   3
        """,
        {
            "conservative": """
                EEEEEEEEEEGGBBBBB
                EEEEEEEEEEGGBBBBB
                AAAACCC...GG.....
                AAAACCC...GG.....
            """,
            "conservative-fixed": """
                EEEEEEEEEEGGBBBBB
                EEEEEEEEEEGGBBBBB
                AAAA..CCC.GG.....
                AAAA..CCC.GG.....
            """,
            "conservative-replanned": """
                EEEEEEEEEEGGCCC
                EEEEEEEEEEGGCCC
                AAAABBBBB.GG...
                AAAABBBBB.GG...
            """,
        },
    ),
    "Who is first": Drawing(
        """
        job submit width run request
        A   0      4     2   2
        B   1      1     4   4
        C   1      3     2   2
        D   1      2     3   3
        """,
        {
            "fcfs, easy": """
                AABBBB.
                AACCDDD
                AACCDDD
                AACC...
            """,
            "sjf, widest, lxf": """
                AACCDDD.
                AACCDDD.
                AACCBBBB
                AA......
            """,
            "ljf, narrowest": """
                AABBBB.
                AADDDCC
                AADDDCC
                AA...CC
            """,
        },
    ),
    "Who goes ahead": Drawing(
        """
        job submit width run request
        A   0      3     6   6
        B   1      4     1   1
        C   2      1     4   4
        D   2      1     2   2
        E   2      1     3   3
        """,
        {
            "easy, easy backfill_order=lxf, easy backfill_order=ljf, easy backfill_order=sjf reservations=2": """
                AAAAAABDD.
                AAAAAABEEE
                AAAAAAB...
                ..CCCCB...
            """,
            "sjf-backfill, easy backfill_order=sjf": """
                AAAAAABCCCC
                AAAAAABEEE.
                AAAAAAB....
                ..DD..B....
            """,
        },
    ),
    "Ranks, D has none": Drawing(
        """
        job submit width run request rank
        A   0      2     3   3       0
        B   1      2     2   2       2
        C   1      1     2   2       1
        D   2      1     5   5       .
        E   2      1     1   1       0
        """,
        {
            "prio-fifo": """
                AAACCBBDDDDD
                AAAE.BB.....
            """,
            "easy": """
                AAABBCCE..
                AAABBDDDDD
            """,
            "lxf-backfill": """
                AAABBCC....
                AAABBEDDDDD
            """,
        },
    ),
    "A runs longer than it asked for": Drawing(
        """
        job submit width run request
        A   0      2     5   3
        B   1      2     1   1
        C   4      1     2   2
        """,
        {
            "fcfs, easy, sjf-backfill, lxf-backfill, conservative, conservative-fixed, conservative-replanned": """
                AAAAABCC
                AAAAAB..
            """
        },
        {"overrun": "run-on"},
    ),
    "A is cut at what it asked for": Drawing(
        """
        job submit width run request
        A   0      2     5   3
        B   1      2     1   1
        C   4      1     2   2
        """,
        {
            "fcfs, easy, sjf-backfill, lxf-backfill, conservative, conservative-fixed, conservative-replanned": """
                AAABCC
                AAAB..
            """
        },
        {"overrun": "kill"},
    ),
}
