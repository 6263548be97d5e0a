# SPDX-License-Identifier: BSD-3-Clause
"""PV-EASY by hand, beside what its authors say in sections 3.2 and 4.1 to 4.3 and in figure 1.

In a picture a run that was stopped is in small letters. ``predicted`` is what the policy is told; the request where it
is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest

from swftools.simulator import list_policies, simulate
from tests.drawn import draw_trace, names_of, picture_columns, rows_of
from tests.naive.pv_easy import Job, simulate_pv_easy


class Drawing(NamedTuple):
    """Jobs, their schedule, who of them was ever the blocked head, and whose last run was backfilled."""

    jobs: str
    picture: str
    blocked: str
    backfilled: str
    parameters: dict[str, Any] = {}  # noqa: RUF012 (read only)


EASY = {"slp": False, "venture": False}

FIGURE_1B = """
    job submit width run request predicted
    A   0      1     2   2       1
    B   0      4     2   2       2
    C   0      1     2   2       2
"""
FIGURE_1C = """
    job submit width run request predicted
    A   0      2     5   5       5
    B   0      4     1   1       1
    E   0      1     6   8       4
"""
TWO_IN_THE_SHADOW = """
    job submit width run request
    X   0      2     3   3
    A   1      3     2   2
    B   1      1     9   9
    C   1      1     9   9
"""
SHORTEST_FIRST = """
    job submit width run request
    X   0      3     6   6
    A   1      4     1   1
    B   2      1     4   4
    C   2      1     2   2
"""
NEEDLESS = """
    job submit width run request
    X   0      2     3   3
    A   1      4     1   1
    D   1      2     6   6
    E   1      1     5   5
"""

DRAWINGS = {
    "figure 1a: by requests job 3 is backfilled, and four squares are wasted before job 2": Drawing(
        FIGURE_1B.replace("2       1", "2       2"),
        """
        AABB
        CCBB
        ..BB
        ..BB
        """,
        "B",
        "C",
        EASY,
    ),
    "figure 1b: job 1 is underestimated, and six squares are wasted before job 2 starts at T=2": Drawing(
        FIGURE_1B,
        """
        AABBCC
        ..BB..
        ..BB..
        ..BB..
        """,
        "BC",
        "",
        EASY,
    ),
    "figure 1b, section 4.3: job 3 is ventured": Drawing(
        FIGURE_1B,
        """
        AABB
        CCBB
        ..BB
        ..BB
        """,
        "B",
        "C",
    ),
    "figure 1c: job 5 is underestimated, and violates the reservation of job 2 at T=5": Drawing(
        FIGURE_1C,
        """
        AAAAA.B
        AAAAA.B
        EEEEEEB
        ......B
        """,
        "B",
        "E",
        EASY,
    ),
    "figure 1c, section 4.2: job 5 is stopped, and job 2 starts at its reservation": Drawing(
        FIGURE_1C,
        """
        AAAAABEEEEEE
        AAAAAB......
        eeeeeB......
        .....B......
        """,
        "BE",
        "",
        {"venture": False},
    ),
    "section 4.1: job 2 (B) is sunny from the start of job 1 (A) on, and C cannot stop it": Drawing(
        """
        job submit width run request
        X   0      3     3   3
        A   1      3     2   2
        B   2      1     8   8
        C   2      4     1   1
        """,
        """
        XXXAA.....C
        XXXAA.....C
        XXXAA.....C
        ..BBBBBBBBC
        """,
        "AC",
        "B",
    ),
    "section 4.2: from low priority to high, no more than it takes; B turns sunny": Drawing(
        TWO_IN_THE_SHADOW,
        """
        XXXAACCCCCCCCC
        XXXAA.........
        .BBBBBBBBB....
        .ccAA.........
        """,
        "AC",
        "B",
    ),
    "section 4.2: nobody is stopped unless that lets the head start right away": Drawing(
        """
        job submit width run request
        X   0      3     6   6
        A   1      4     1   1
        B   1      1     3   9
        """,
        """
        XXXXXXA
        XXXXXXA
        XXXXXXA
        .BBB..A
        """,
        "A",
        "B",
    ),
    "section 4.2: who is stopped returns to the queue at its place, ahead of E, which was submitted later": Drawing(
        """
        job submit width run request
        X   0      2     3   3
        A   1      3     2   2
        D   1      2     5   5
        E   2      1     1   1
        """,
        """
        XXXAADDDDD
        XXXAADDDDD
        .ddAA.....
        .ddE......
        """,
        "AD",
        "E",
    ),
    "section 4: A is started regularly, and then B in the place of C and D, in one decision": Drawing(
        """
        job submit width run request
        X   0      5     3   3
        A   1      4     2   2
        B   1      4     1   1
        C   1      2     9   9
        D   1      1     9   9
        """,
        """
        XXXAA........
        XXXAA........
        XXXAA........
        XXXAA........
        XXXBCCCCCCCCC
        .ccBCCCCCCCCC
        .ccBDDDDDDDDD
        .ddB.........
        """,
        "AC",
        "",
    ),
    "section 4.3, step 3: of those that end by the reservation C first, the nearest to be over": Drawing(
        SHORTEST_FIRST,
        """
        XXXXXXABBBB
        XXXXXXA....
        XXXXXXA....
        ..CCbbA....
        """,
        "AB",
        "C",
    ),
    "section 4.3, step 1: S, which is shadow, does not count for the reservation; 4 is too early for C": Drawing(
        """
        job submit width run request
        X   0      2     4   4
        A   1      4     1   1
        S   1      1     9   9
        D   2      1     1   8
        C   2      1     1   3
        """,
        """
        XXXXASSSSSSSSS
        XXXXA.........
        .sssA.........
        ..DCA.........
        """,
        "AS",
        "DC",
    ),
    "EASY takes the first of them": Drawing(
        SHORTEST_FIRST,
        """
        XXXXXXACC
        XXXXXXA..
        XXXXXXA..
        ..BBBBA..
        """,
        "AC",
        "B",
        EASY,
    ),
    "section 4.3, step 4: neither should be over by the reservation; B is of higher priority, and both are": Drawing(
        """
        job submit width run request
        X   0      3     6   6
        A   1      4     1   1
        B   2      1     1   9
        C   2      1     2   8
        """,
        """
        XXXXXXA
        XXXXXXA
        XXXXXXA
        ..BCC.A
        """,
        "A",
        "BC",
    ),
    "section 4.3, step 1: shadow D counts as free, so A is to start when Y ends, and F is behind E": Drawing(
        """
        job submit width run request
        X   0      1     10  10
        Y   0      1     4   4
        A   1      3     2   2
        D   1      1     9   9
        E   2      1     5   5
        F   2      1     4   4
        """,
        """
        XXXXXXXXXX.....
        YYYYAAFFFF.....
        .dddAADDDDDDDDD
        ..eeAAEEEEE....
        """,
        "AD",
        "",
    ),
    "E is stopped needlessly, and begins anew at once": Drawing(
        NEEDLESS,
        """
        XXXA......
        XXXA......
        .ddADDDDDD
        .ddADDDDDD
        .eeEEEEE..
        """,
        "AD",
        "E",
    ),
    "E is spared": Drawing(
        NEEDLESS,
        """
        XXXA......
        XXXA......
        .ddADDDDDD
        .ddADDDDDD
        .EEEEE....
        """,
        "AD",
        "E",
        {"victims": "spare-needless"},
    ),
    "C is suspended: two of its nine seconds are done, and going on takes one": Drawing(
        TWO_IN_THE_SHADOW,
        """
        XXXAACCCCCCCC
        XXXAA........
        .BBBBBBBBB...
        .ccAA........
        """,
        "AC",
        "B",
        {"preemption": "suspend", "restart": (0.5, 0.5)},
    ),
    "C goes on from its checkpoint: three seconds are done, and two are kept": Drawing(
        """
        job submit width run request interval
        X   0      2     4   4       .
        A   1      3     2   2       .
        B   1      1     9   9       2
        C   1      1     9   9       2
        """,
        """
        XXXXAACCCCCCCC
        XXXXAA........
        .BBBBBBBBB....
        .cccAA........
        """,
        "AC",
        "B",
        {"preemption": "checkpoint", "restart": (1.0, 0.0)},
    ),
}

TITLES = sorted(DRAWINGS)


def cells_of(table: str) -> list[dict[str, float]]:
    """Return the numbers of each job by heading; NaN where one is missing."""
    headings, *rows = rows_of(table)
    return [
        {heading: np.nan if cell == "." else float(cell) for heading, cell in zip(headings[1:], row[1:], strict=True)}
        for row in rows
    ]


def columns_of(runs: Iterable[tuple[str, float, float]], widths: dict[str, int]) -> list[str]:
    """Return the jobs of each second, one letter for each processor."""
    seconds: dict[int, list[str]] = {}
    for name, start, end in runs:
        assert start == int(start)
        assert end == int(end)
        for second in range(int(start), int(end)):
            seconds.setdefault(second, []).extend(name * widths[name.upper()])
    return ["".join(sorted(seconds.get(second, []))) for second in range(max(seconds) + 1)]


@pytest.mark.parametrize("title", TITLES)
def test_the_twin(title: str) -> None:
    """Schedule, blocked heads and backfilled jobs are those drawn."""
    drawing = DRAWINGS[title]
    names, cells = names_of(drawing.jobs), cells_of(drawing.jobs)
    jobs = [
        Job(
            number=number,
            submit=job["submit"],
            run=job["run"],
            width=int(job["width"]),
            requested=job["request"],
            predicted=job.get("predicted", job["request"]),
            interval=job.get("interval", np.nan),
        )
        for number, job in enumerate(cells, 1)
    ]
    seconds, per_processor = drawing.parameters.get("restart", (0.0, 0.0))
    parameters = {name: value for name, value in drawing.parameters.items() if name != "restart"}
    processors = len(rows_of(drawing.picture))
    outcomes, runs = simulate_pv_easy(
        jobs, processors, restart_seconds=seconds, restart_per_processor=per_processor, **parameters
    )
    shown = [
        (
            names[run.number - 1].upper() if run.end == outcomes[run.number].end else names[run.number - 1].lower(),
            *run[1:],
        )
        for run in runs
    ]
    widths = {name: job.width for name, job in zip(names, jobs, strict=True)}
    assert picture_columns(drawing.picture) == columns_of(shown, widths)
    told = dict(zip(names, outcomes.values(), strict=True))
    assert drawing.blocked == "".join(name for name in names if told[name].was_blocked)
    assert drawing.backfilled == "".join(name for name in names if told[name].was_backfilled)
    for name in names:
        assert told[name].kills == sum(run[0] == name.lower() for run in shown)


class Told:
    """Predicts what stands in a table."""

    name = "told"

    def __init__(self, predicted: dict[int, float]) -> None:
        self.predicted = predicted

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Learn nothing."""

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return what the table says."""
        return self.predicted[job["job_number"]]


@pytest.mark.skipif("pv-easy" not in list_policies(), reason="the policy is not there yet")
@pytest.mark.parametrize("title", TITLES)
def test_the_policy(title: str) -> None:
    """The schedule is the one drawn."""
    drawing = DRAWINGS[title]
    names, cells = names_of(drawing.jobs), cells_of(drawing.jobs)
    headings, *rows = rows_of(drawing.jobs)
    known = [place for place, heading in enumerate(headings) if heading not in ("predicted", "interval")]
    table = "\n".join(" ".join(row[place] for place in known) for row in (headings, *rows))
    trace = draw_trace(table, processors=len(rows_of(drawing.picture)))
    trace = trace.with_jobs(trace.jobs.assign(checkpoint_interval=[job.get("interval", np.nan) for job in cells]))
    seconds, per_processor = drawing.parameters.get("restart", (0.0, 0.0))
    schedule = simulate(
        trace,
        "pv-easy",
        predictor=Told({number: job.get("predicted", job["request"]) for number, job in enumerate(cells, 1)}),
        restart_overhead=f"uniform:seconds={seconds},per_processor={per_processor}",
        **{name: value for name, value in drawing.parameters.items() if name != "restart"},
    )
    shown = [
        (
            names[run.job_number - 1].upper() if run.ended_by == "completed" else names[run.job_number - 1].lower(),
            run.start_time,
            run.end_time,
        )
        for run in schedule.segments.itertuples()
    ]
    widths = {name: int(job["width"]) for name, job in zip(names, cells, strict=True)}
    assert picture_columns(drawing.picture) == columns_of(shown, widths)
