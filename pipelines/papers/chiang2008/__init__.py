# SPDX-License-Identifier: BSD-3-Clause
"""Chiang and Vasupongayya 2008: goal-oriented search beside backfilling. Table 3, Figures 2 to 12, what the text says.

The paper's own log is not public; see ``months``. What takes searches of more than 4,000 nodes is a paper by itself
here, ``chiang2008-large``, so that all the rest can be asked for without it.
"""

from functools import partial

from pipelines.papers.chiang2008 import beyond, classes, curves, decisions, figures, months, schedules, statements
from pipelines.papers.paper import Cells, Experiment, Paper, Plan, read_tables, register_paper

CITATION = (
    "S.-H. Chiang, S. Vasupongayya: Design and potential performance of goal-oriented job scheduling policies for "
    "parallel computer workloads. IEEE Transactions on Parallel and Distributed Systems 19, 2008. Its own log, of the "
    "IA-64 cluster at NCSA, is not public: what is shown here is of two other logs, which it simulated too and says to "
    "give qualitatively the same results"
)

EXPERIMENTS = {
    "population": Experiment(months.measure_population, months.PopulationOfPaper, months.UNITS),
    "policy": Experiment(schedules.measure_policy, schedules.PolicyOfPaper, schedules.UNITS),
    "curve": Experiment(curves.measure_curve, curves.CurveOfPaper, schedules.UNITS),
    "decisions": Experiment(decisions.measure_decisions, decisions.DecisionsOfPaper, decisions.UNITS),
}


def _of_months(number: str) -> tuple[Plan, Cells]:
    """Return how the table of a figure by months is made."""
    runs = figures.FIGURES[number].runs
    return figures.planned(runs), figures.cells_of(runs)


def _of_nodes(number: str, *, large: bool) -> tuple[Plan, Cells]:
    """Return how the table of a figure by nodes visited is made."""
    return partial(curves.runs_of_curves, number, large), partial(curves.cells_of_curves, number)


def _of_text(*, large: bool) -> tuple[Plan, Cells]:
    """Return how the table of statements is made."""
    return partial(statements.runs_of_statements, large), partial(statements.cells_of_statements, large)


MADE: dict[str, tuple[Plan, Cells]] = {
    "3": (months.runs_of_months, months.cells_of_months),
    **{f"figure-{number}": _of_months(number) for number in figures.FIGURES if number != "9-large"},
    **{f"figure-{number}": _of_nodes(number, large=False) for number in curves.FIGURES},
    "figure-12": (figures.planned(figures.BEST), classes.cells_of_classes),
    "statements": _of_text(large=False),
    **beyond.MADE,
}
"""How each table is made."""

MADE_LARGE: dict[str, tuple[Plan, Cells]] = {
    **{f"figure-{number}": _of_nodes(number, large=True) for number in curves.FIGURES},
    "figure-9-large": _of_months("9-large"),
    "statements": _of_text(large=True),
}
"""The same of ``chiang2008-large``."""

PAPER = register_paper(
    Paper(
        name="chiang2008",
        citation=CITATION,
        version=1,
        logs=[*months.LOGS.values()],
        experiments=EXPERIMENTS,
        tables=read_tables(__name__, "chiang2008", MADE),
        pictures={
            **{
                f"figure_{number}": partial(figures.draw if number in figures.FIGURES else curves.draw, number)
                for number in ("2a", "2b", "3", "4", "5", "6", "7", "8", "8d", "9", "10", "11")
            },
            "figure_12": classes.draw,
        },
    )
)

LARGE = register_paper(
    Paper(
        name="chiang2008-large",
        citation=CITATION,
        version=1,
        logs=[*months.LOGS.values()],
        experiments={name: EXPERIMENTS[name] for name in ("policy", "curve")},
        tables=read_tables(__name__, "chiang2008-large", MADE_LARGE),
        pictures={
            **{f"figure_{number}": partial(curves.draw, number) for number in ("3", "4", "5", "7", "8d")},
            "figure_9": partial(figures.draw, "9-large"),
        },
    )
)
