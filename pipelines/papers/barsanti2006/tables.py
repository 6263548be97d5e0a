# SPDX-License-Identifier: BSD-3-Clause
"""Figures 5 to 14, as tables: the paper draws them and prints no numbers of them but those in its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pipelines.papers.barsanti2006.comparison import (
    CIRNE_BERMAN,
    EDGES,
    FIXED,
    JOBS,
    NOT_PREDICTIVE,
    OPTIMUM,
    OTHER_RESPONSE,
    RAN,
    RESPONSE,
    SCOJO,
    SHRUNK,
    SLOWDOWN,
    TOLERANT,
    UNITS,
    UTILIZATION,
    WAIT,
    WIDENED,
    WIDTH,
    WORKLOAD,
)
from pipelines.papers.barsanti2006.values import LOG, Estimate, Given, mean_of, ratio_of, runs_of
from pipelines.papers.barsanti2006.workloads import ALL, CLASSES
from pipelines.papers.paper import AS_WRITTEN, Cell, Cells, Measurements, Plan, Printed, Run, Within

SHOWN = (FIXED, SCOJO, NOT_PREDICTIVE, CIRNE_BERMAN)

MEANINGS = {
    RESPONSE: "mean time from submission to end",
    WAIT: "mean time from submission to start",
    RAN: "mean time from start to end",
    SLOWDOWN: "mean of response / run time on the optimal width, with a bound of 30 s",
    WIDTH: "mean processors",
    SHRUNK: "jobs that ran on fewer processors than are best for them",
    WIDENED: "jobs that ran on more processors than are best for them",
    UTILIZATION: "share of processors in use while the jobs that are kept were submitted",
    OPTIMUM: "mean width with the least run time / efficiency",
    OTHER_RESPONSE: "mean time from submission to end, with 10 % cut at each end",
    JOBS: "jobs",
}

PAIRED = "mean over workloads of the ratio on the same workload"

RATIO = Within(absolute=0.1)
"""A printed ratio is read from text that says "approximately": a tenth is near enough."""


def runs_of_comparisons(log: str, quick: bool, *comparisons: Given) -> list[Run]:
    """Return the runs of comparisons; none on other logs."""
    return [run for given in comparisons for run in runs_of(quick, **given)] if log == LOG else []


def cells_of_means(
    given: Given, measures: Sequence[str], found: Measurements, printed: Printed, quick: bool
) -> Iterator[Cell]:
    """Yield means of measures by class of jobs, a column an approach."""
    runs = runs_of(quick, **given)
    for kind in (*CLASSES, ALL):
        for measure in measures:
            row = kind if len(measures) == 1 else f"{kind}: {measure}"
            for name in SHOWN:
                told = mean_of(found, runs, name, measure, kind)
                yield _cell(row, name, told, MEANINGS[measure], UNITS.get(measure, "1"), printed)


def cells_of_histogram(given: Given, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield how many jobs have response times up to each edge."""
    runs = runs_of(quick, **given)
    for kind in CLASSES:
        for edge in (*EDGES[kind], float("inf")):
            row = f"{kind}, up to {edge:g} h" if edge < float("inf") else f"{kind}, longer"
            for name in SHOWN:
                told = mean_of(found, runs, name, JOBS, f"{kind} {edge:g}")
                definition = "jobs whose response time is up to this and above the edge before"
                yield _cell(row, name, told, definition, "jobs", printed)


def cells_of_optima(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the mean optimal widths that the text prints."""
    printed = {} if quick else printed  # small workloads are not those of the paper
    for column, given in {"simple": {}, "Cirne-Berman-Downey": {"curves": "cirne-berman"}}.items():
        runs = runs_of(quick, approaches="paper", **given)
        for kind in (ALL, *CLASSES):
            told = mean_of(found, runs, WORKLOAD, OPTIMUM, kind)
            near = Within(relative=0.1)
            yield _cell(kind, column, told, MEANINGS[OPTIMUM], "processors", printed, near)


def cells_of_utilization(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the utilizations, of which the text prints two."""
    printed = {} if quick else printed  # small workloads are not those of the paper
    for workload in ("W1", "W2"):
        runs = runs_of(quick, workload=workload, approaches="paper")
        for name in SHOWN:
            told = mean_of(found, runs, name, UTILIZATION)
            yield _cell(workload, name, told, MEANINGS[UTILIZATION], "%", printed, Within(absolute=2.0))


def cells_of_ratios(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the ratios of mean response times, by both readings of Cirne and Berman's scheduler."""
    printed = {} if quick else printed  # small workloads are not those of the paper
    readings = {AS_WRITTEN: "paper", "a smaller width where the job ends up to 5 % later": "tolerance"}
    for workload in ("W1", "W2"):
        for reading, approaches in readings.items():
            runs, is_chosen = runs_of(quick, workload=workload, approaches=approaches), approaches == "paper"
            theirs = CIRNE_BERMAN if is_chosen else TOLERANT
            for column, (over, under) in RATIOS.items():
                pair = [theirs if name == CIRNE_BERMAN else name for name in (over, under)]
                if is_chosen or CIRNE_BERMAN in (over, under):
                    told = ratio_of(found, runs, pair[0], pair[1], RESPONSE, ALL)
                    yield _cell(workload, column, told, PAIRED, "1", printed, RATIO, reading, is_chosen)


RATIOS = {
    f"{SCOJO} / {FIXED}": (SCOJO, FIXED),
    f"{SCOJO} / {CIRNE_BERMAN}": (SCOJO, CIRNE_BERMAN),
    f"{CIRNE_BERMAN} / {FIXED}": (CIRNE_BERMAN, FIXED),
}
"""The ratios that the text prints, each of one approach over another."""


def _cell(
    row: str,
    column: str,
    told: Estimate,
    definition: str,
    unit: str,
    printed: Printed,
    rule: Within | None = None,
    reading: str = AS_WRITTEN,
    is_chosen: bool = True,
) -> Cell:
    """Return a cell with the value that is printed at its place, if any is."""
    return Cell(
        row=row,
        column=column,
        ours=told.mean,
        spread=told.error,
        definition=definition,
        unit=unit,
        printed=printed.get(row, {}).get(column) or None,
        rule=rule,
        reading=reading,
        is_chosen=is_chosen,
        why=WHY.get((row, column), "unexplained"),
    )


WHY = {
    (
        "W1",
        f"{CIRNE_BERMAN} / {FIXED}",
    ): "the width that is best for each job wastes what others wait for; with a tolerance "
    "the ratio is as printed, but then that of SCOJO-P to it is not",
    ("W1", f"{SCOJO} / {FIXED}"): "the paper also says that the improvement is about 50 %; without its classes "
    "of priority the fixed sizes come nearer to 70 %: see the rules one by one in barsanti2006-beyond",
    ("W1", SCOJO): "the paper does not say over what time it is taken",
    ("W1", CIRNE_BERMAN): "the paper does not say over what time it is taken",
}
"""Why a value is not reproduced, by its place, as far as is known."""


W1, W2 = ({"workload": workload, "approaches": "paper"} for workload in ("W1", "W2"))
DOWNEY = {**W1, "curves": "cirne-berman"}

OF_TEXT = [{**given, "approaches": approaches} for given in (W1, W2) for approaches in ("paper", "tolerance")]


def _planned(*comparisons: Given) -> Plan:
    """Return the plan of a table of these comparisons."""
    return lambda log, quick: runs_of_comparisons(log, quick, *comparisons)


def _figure(given: Given, *measures: str) -> tuple[Plan, Cells]:
    """Return how a figure is made that shows means by class."""
    return _planned(given), partial(cells_of_means, given, measures)


MADE: dict[str, tuple[Plan, Cells]] = {
    "ratios": (_planned(*OF_TEXT), cells_of_ratios),
    "figure-5": _figure(W1, RESPONSE),
    "figure-6": _figure(W1, WAIT),
    "figure-7": _figure(W1, SLOWDOWN),
    "figure-8": _figure(W1, SHRUNK, WIDENED),
    "figure-9": (_planned(W1), partial(cells_of_histogram, W1)),
    "figure-10": _figure(W2, RESPONSE),
    "figure-11": _figure(W2, WAIT),
    "figure-12": _figure(W2, SLOWDOWN),
    "figure-13": _figure(W2, SHRUNK, WIDENED),
    "figure-14": _figure(DOWNEY, RESPONSE, SLOWDOWN),
    "utilization": (_planned(W1, W2), cells_of_utilization),
    "optimal-widths": (_planned(W1, DOWNEY), cells_of_optima),
}
"""How each table is made."""
