# SPDX-License-Identifier: BSD-3-Clause
"""Chiang and Vasupongayya 2008: goal-oriented search beside backfilling. Table 3, Figures 2 to 12, what the text says.

The paper's own log is not public; see ``months``. What takes searches of more than 4,000 nodes is a paper by itself
here, ``chiang2008-large``, so that all the rest can be asked for without it.
"""

from functools import partial

from pipelines.papers.chiang2008 import beyond, classes, curves, decisions, figures, months, schedules, statements
from pipelines.papers.paper import Experiment, Paper, PaperTable, register_paper

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


def _of_months(number: str, place: str) -> PaperTable:
    """Return the table of a figure by months."""
    shown = figures.FIGURES[number]
    return PaperTable(f"figure-{number}", place, shown.title, figures.planned(shown.runs), figures.cells_of(shown.runs))


def _of_nodes(number: str, *, large: bool) -> PaperTable:
    """Return the table of a figure by nodes visited."""
    return PaperTable(
        f"figure-{number}",
        f"Figure {number}",
        curves.FIGURES[number].title,
        partial(curves.plan, number, large),
        partial(curves.cells, number),
    )


PAPER = register_paper(
    Paper(
        name="chiang2008",
        citation=CITATION,
        version=1,
        logs=[*months.LOGS.values()],
        experiments=EXPERIMENTS,
        tables=(
            PaperTable("3", "Table 3", "The months simulated here", months.plan, months.cells),
            _of_months("2a", "Figure 2a"),
            _of_months("2b", "Figures 2b and 2c"),
            *(_of_nodes(number, large=False) for number in ("3", "4", "5")),
            _of_months("6", "Figure 6"),
            _of_nodes("7", large=False),
            _of_months("8", "Figure 8"),
            _of_nodes("8d", large=False),
            *(_of_months(number, f"Figure {number}") for number in ("9", "10", "11")),
            PaperTable(
                "figure-12",
                "Figure 12",
                "Mean waits by processors (N) and run time (T), load 0.9, L = 4,000",
                figures.planned(figures.BEST),
                classes.cells,
            ),
            PaperTable(
                "statements",
                "Sections 5 and 6",
                "What the text says",
                partial(statements.runs_of_statements, False),
                partial(statements.cells_of_statements, False),
                is_list=True,
            ),
            *beyond.TABLES,
        ),
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
        tables=(
            *(_of_nodes(number, large=True) for number in ("3", "4", "5", "7", "8d")),
            _of_months("9-large", "Figure 9"),
            PaperTable(
                "statements",
                "Sections 5 and 6",
                "What the text says of searches of many nodes",
                partial(statements.runs_of_statements, True),
                partial(statements.cells_of_statements, True),
                is_list=True,
            ),
        ),
        pictures={
            **{f"figure_{number}": partial(curves.draw, number) for number in ("3", "4", "5", "7", "8d")},
            "figure_9": partial(figures.draw, "9-large"),
        },
    )
)
