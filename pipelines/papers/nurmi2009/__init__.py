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
from pipelines.papers.paper import OURS, Experiment, Paper, PaperTable, read_printed, register_paper
from pipelines.papers.yuan2010.populations import LOGS, OTHER_LOGS

CITATION = (
    "D. C. Nurmi: Statistical methods for mitigating resource provisioning dynamism in large-scale "
    "batch-scheduled systems. Dissertation, University of California, Santa Barbara, 2009"
)

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
        tables=(
            PaperTable(
                "3.2",
                "Table 3.2",
                "How long jobs waited",
                populations.plan,
                populations.cells,
                read_printed(__name__, "published/table_3.2.csv"),
            ),
            PaperTable(
                "4.1",
                "Table 4.1",
                "Correctness and tightness of four methods without QBETS",
                predictions.plan_without,
                predictions.cells_without,
                read_printed(__name__, "published/table_4.1.csv"),
            ),
            PaperTable(
                "4.2",
                "Table 4.2",
                "Correctness and tightness of four methods with QBETS",
                predictions.plan_with,
                predictions.cells_with,
                read_printed(__name__, "published/table_4.2.csv"),
            ),
            PaperTable(
                "statements",
                "Chapter 4",
                "What the text says",
                statements.runs_of_statements,
                statements.cells_of_statements,
                is_list=True,
            ),
            PaperTable(
                "figure-5.2",
                "Figure 5.2",
                "Waits of a month, and the bounds that jobs were told",
                trajectories.plan,
                trajectories.cells_of_stability,
            ),
            PaperTable(
                "figure-5.4",
                "Figure 5.4",
                "When to submit a job of an hour that is to run in 12 hours",
                trajectories.plan,
                trajectories.cells_of_choice,
            ),
            PaperTable(
                "5.2",
                "Tables 5.2 to 5.5",
                "Reservations by VARQ, one at a time: promised, met, charged",
                reservations.plan_probes,
                reservations.cells_probes,
                read_printed(__name__, "published/table_5.2.csv"),
            ),
            PaperTable(
                "5.6",
                "Table 5.6",
                "Reservations by VARQ of a share of the jobs: promised and met",
                reservations.plan_shares,
                reservations.cells_shares,
                read_printed(__name__, "published/table_5.6.csv"),
            ),
            PaperTable(
                "6.1",
                "Figure 6.1",
                "Two reservations that must both be met",
                co_allocation.plan_co_allocation,
                co_allocation.cells_co_allocation,
            ),
            PaperTable(
                "6.2",
                "Table 6.2",
                "Two reservations that must both be met, by CO-VARQ: promised and met",
                co_allocation.plan_trials,
                co_allocation.cells_trials,
                read_printed(__name__, "published/table_6.2.csv"),
            ),
            PaperTable("coverage", OURS, "Correctness by month", coverage.plan, coverage.cells),
        ),
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
        experiments={
            "reserved": Experiment(beyond.measure_reserved, beyond.ReservedOfLog, beyond.EXPERIMENT_UNITS),
        },
        tables=beyond.TABLES,
        pictures={"reserved": beyond.draw_reserved, "promises": beyond.draw_promises},
    )
)
