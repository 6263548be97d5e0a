# SPDX-License-Identifier: BSD-3-Clause
"""Schedules drawn by hand whose measures are worked out on paper, and how to look them up in a table."""

from __future__ import annotations

import pandas as pd

from tests.drawn import draw_schedule

# Four processors. Job 3 begins at once, is stopped at 5 and begins anew at 15; job 4 runs no time at all.
#
#   job  wait  turnaround  slowdown  of at least 10 s  as if it had run 10 s  work
#     1     0          10       1                 1                      1      30
#     2     8          13     2.6               1.3                    1.8      20
#     3    12          17     3.4               1.7                    2.2       5
#     4    11          11       -               1.1                    2.1       0
DRAWN = """
job submit width runs       request queue backfilled
1   0      3     0-10       10      1     0
2   2      4     10-15      6       2     0
3   3      1     3-5,15-20  8       1     1
4   4      2     15-15      0       .     0
"""
EMPTY = draw_schedule(DRAWN.split("1   0", maxsplit=1)[0])

REFERENCE_RUN = """
job submit width runs   request backfilled
4   4      2     14-14  0       0
3   3      1     12-17  8       0
2   2      4     3-8    6       0
1   0      3     5-15   10      0
"""
# Waits 10, 9, 1, 5: the longest is 10, and at 98 %, .94 of the way from 9 to 10, stands 9.94.


def value_of(metrics: pd.DataFrame, name: str, statistic: str, job_class: str = "all") -> tuple[int, float]:
    """Return over how many jobs a statistic was taken, and its value."""
    of_measure = (metrics["measure"] == name) & (metrics["statistic"] == statistic)
    (row,) = metrics[of_measure & (metrics["job_class"] == job_class)].to_dict("records")
    return int(row["jobs"]), float(row["value"])
