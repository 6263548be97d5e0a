# SPDX-License-Identifier: BSD-3-Clause
"""Barsanti and Sodan 2006: SCOJO-P beside Cirne and Berman's scheduler. Figures 5 to 14, the text, and further runs."""

from pipelines.papers.barsanti2006 import beyond, comparison, figures, statements, tables
from pipelines.papers.barsanti2006.values import LOG
from pipelines.papers.paper import Experiment, Paper, read_tables, register_paper

CITATION = (
    "L. Barsanti, A. C. Sodan: Adaptive job scheduling via predictive job resource allocation. 12th Workshop on Job "
    "Scheduling Strategies for Parallel Processing (JSSPP), 2006"
)

EXPERIMENTS = {
    "comparison": Experiment(comparison.measure_comparison, comparison.ComparisonOfPaper, comparison.UNITS),
    "log": Experiment(comparison.measure_log, comparison.LogOfPaper, comparison.UNITS),
}

PAPER = register_paper(
    Paper(
        name="barsanti2006",
        citation=CITATION,
        version=1,
        logs=[LOG],
        experiments=EXPERIMENTS,
        drawn_on=LOG,
        tables=read_tables(
            __name__,
            "barsanti2006",
            {**tables.MADE, "statements": (statements.runs_of_statements, statements.cells_of_statements)},
        ),
        pictures={
            "means": figures.draw_means,
            "adaptations": figures.draw_adaptations,
            "histograms": figures.draw_histograms,
            "other_curves": figures.draw_other_curves,
        },
    )
)

BEYOND = register_paper(
    Paper(
        name="barsanti2006-beyond",
        citation=f"What is not in: {CITATION}",
        version=2,
        logs=beyond.ALL_LOGS,
        experiments=EXPERIMENTS,
        drawn_on=LOG,
        tables=read_tables(__name__, "barsanti2006-beyond", beyond.MADE),
    )
)
