# SPDX-License-Identifier: BSD-3-Clause
"""Nurmi 2009: waits predicted by QBETS, and what is made of them: reservations by VARQ and CO-VARQ.

What goes beyond it, on five logs, is a paper by itself here, ``nurmi2009-beyond``.
"""

from pipelines.papers.nurmi2009 import (
    beyond,
    co_allocation,
    coverage,
    populations,
    predictions,
    reservations,
    statements,
    trajectories,
)
from pipelines.papers.paper import Cells, Experiment, Paper, Plan, read_tables, register_paper
from pipelines.papers.yuan2010.populations import LOGS, OTHER_LOGS

CITATION = (
    "D. C. Nurmi: Statistical methods for mitigating resource provisioning dynamism in large-scale "
    "batch-scheduled systems. Dissertation, University of California, Santa Barbara, 2009"
)

MADE: dict[str, tuple[Plan, Cells]] = {
    "3.2": populations.MADE,
    "4.1": (predictions.plan_without, predictions.cells_without),
    "4.2": (predictions.plan_with, predictions.cells_with),
    "statements": (statements.runs_of_statements, statements.cells_of_statements),
    "figure-5.2": (trajectories.runs_of_trajectories, trajectories.cells_of_stability),
    "figure-5.4": (trajectories.runs_of_trajectories, trajectories.cells_of_choice),
    "5.2": (reservations.plan_probes, reservations.cells_probes),
    "5.6": (reservations.plan_shares, reservations.cells_shares),
    "6.1": (co_allocation.plan_co_allocation, co_allocation.cells_co_allocation),
    "6.2": (co_allocation.plan_trials, co_allocation.cells_trials),
    "coverage": (coverage.runs_of_coverage, coverage.cells_of_coverage),
}
"""How each table is made."""

PAPER = register_paper(
    Paper(
        name="nurmi2009",
        citation=CITATION,
        version=2,
        logs=[population.log for population in populations.POPULATIONS.values()],
        experiments={
            "population": Experiment(
                populations.measure_population, populations.PopulationParameters, populations.COLUMNS
            ),
            "replay": Experiment(predictions.measure_replay, predictions.ReplayOfPaper, predictions.UNITS),
            "varq": Experiment(reservations.measure_varq, reservations.VarqOfPaper, reservations.UNITS),
            "trajectory": Experiment(
                trajectories.measure_trajectory, trajectories.TrajectoryOfPaper, trajectories.UNITS
            ),
            "co-varq": Experiment(co_allocation.measure_co_varq, co_allocation.CoVarqOfPaper, co_allocation.UNITS),
        },
        tables=read_tables(__name__, "nurmi2009", MADE),
        pictures={
            "coverage": coverage.draw,
            "figure_5_2": trajectories.draw_stability,
            "figure_5_4": trajectories.draw_choice,
        },
    )
)

BEYOND = register_paper(
    Paper(
        name="nurmi2009-beyond",
        citation=CITATION,
        version=1,
        logs=[*LOGS.values(), *OTHER_LOGS.values()],
        experiments={"reserved": Experiment(beyond.measure_reserved, beyond.ReservedOfLog, beyond.EXPERIMENT_UNITS)},
        tables=read_tables(__name__, "nurmi2009-beyond", beyond.MADE),
        pictures={"reserved": beyond.draw_reserved, "promises": beyond.draw_promises},
    )
)
