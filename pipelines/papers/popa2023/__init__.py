# SPDX-License-Identifier: BSD-3-Clause
"""Popa and Alain 2023: the rest of a wait predicted from polls of a queue at noon, on Cedar and Graham.

What goes beyond it is a paper by itself here, ``popa2023-beyond``.
"""

from pipelines.papers.paper import Cells, Experiment, Paper, Plan, read_tables, register_paper
from pipelines.papers.popa2023 import beyond, bounds, checks, fits, statements, tables

CITATION = (
    "B. Popa, G. Alain: SLURM queue time prediction using neural networks. Version 1.0.0, Mila, 2023 "
    "(https://github.com/mila-iqia/slurm-queue-time-pred)"
)

EXCERPT = "mila-excerpt"

EXPERIMENTS = {
    "fit": Experiment(fits.measure_fit, fits.FitOfPaper, fits.UNITS),
    "folds": Experiment(fits.measure_folds, fits.FoldsOfDays, fits.UNITS),
    "past": Experiment(fits.measure_past, fits.PastDays, fits.UNITS),
    "bounds": Experiment(bounds.measure_bounds, bounds.BoundsOfWaits, bounds.UNITS),
    "checks": Experiment(checks.measure_checks, checks.ChecksOfRows, checks.UNITS),
    "estimates": Experiment(checks.measure_estimates, checks.EstimatesOfSlurm, checks.UNITS),
}

MADE: dict[str, tuple[Plan, Cells]] = {
    **tables.MADE,
    "statements": (statements.plan_statements, statements.cells_statements),
}
"""How each table is made."""

PAPER = register_paper(
    Paper(
        name="popa2023",
        citation=CITATION,
        version=2,
        logs=[tables.GRAHAM, tables.CEDAR, tables.SLURM],
        experiments=EXPERIMENTS,
        tables=read_tables(__name__, "popa2023", MADE),
        tells_errors=True,
        reads="tables",
        excerpt=EXCERPT,
    )
)

BEYOND = register_paper(
    Paper(
        name="popa2023-beyond",
        citation=CITATION,
        version=2,
        logs=[tables.GRAHAM, tables.CEDAR],
        experiments=EXPERIMENTS,
        tables=read_tables(__name__, "popa2023-beyond", beyond.MADE),
        tells_errors=True,
        pictures={"bounds": beyond.draw_bounds},
        reads="tables",
        excerpt=EXCERPT,
    )
)
