# SPDX-License-Identifier: BSD-3-Clause
"""Yuan et al. 2010: PV-EASY beside EASY. Tables 1 to 6, Figures 2 to 6, what the text says, and further runs."""

from functools import partial

from pipelines.papers.paper import Experiment, Paper, PaperTable, read_printed, register_paper
from pipelines.papers.yuan2010 import beyond, errors, fairness, figures, populations, schedules, statements, tables

PAPER = register_paper(
    Paper(
        name="yuan2010",
        citation="Y. Yuan, G. Yang, Y. Wu, W. Zheng: PV-EASY: a strict fairness guaranteed and prediction enabled "
        "scheduler in parallel job scheduling. 19th ACM International Symposium on High Performance Distributed "
        "Computing (HPDC), 2010",
        version=2,
        logs=[*populations.LOGS.values(), *populations.OTHER_LOGS.values()],
        experiments={
            "population": Experiment(populations.measure_population, populations.PopulationOfPaper, populations.UNITS),
            "schedule": Experiment(schedules.measure_schedule, schedules.ScheduleOfPaper, schedules.UNITS),
            "error": Experiment(errors.measure_error, errors.ErrorOfPaper),
            "fairness": Experiment(fairness.measure_fairness, fairness.FairnessOfPaper, fairness.UNITS),
        },
        tables=(
            PaperTable(
                "1",
                "Table 1",
                "Start time delay of blocked jobs in EASY",
                tables.plan_delays,
                tables.cells_of_delays,
                read_printed(__name__, "published/table_1.csv"),
            ),
            PaperTable(
                "2",
                "Table 2",
                "Reservations that EASY violates with the Last Model",
                tables.plan_violations,
                tables.cells_of_violations,
                read_printed(__name__, "published/table_2.csv"),
            ),
            PaperTable(
                "3",
                "Table 3",
                "The logs",
                populations.plan,
                populations.cells,
                read_printed(__name__, "published/table_3.csv"),
            ),
            PaperTable(
                "4",
                "Table 4",
                "Backfilled and blocked jobs in PV-EASY and EASY",
                tables.plan_delays,
                tables.cells_of_counts,
                read_printed(__name__, "published/table_4.csv"),
            ),
            PaperTable(
                "5",
                "Table 5",
                "Load of PV-EASY",
                tables.plan_costs,
                tables.cells_of_loads,
                read_printed(__name__, "published/table_5.csv"),
            ),
            PaperTable(
                "6",
                "Table 6",
                "Preempted jobs in PV-EASY",
                tables.plan_costs,
                tables.cells_of_kills,
                read_printed(__name__, "published/table_6.csv"),
            ),
            PaperTable(
                "figure-2",
                "Figure 2",
                "Mean bounded slowdown of blocked jobs by processors",
                tables.plan_delays,
                partial(figures.cells_of_blocked, "MBS"),
            ),
            PaperTable(
                "figure-3",
                "Figure 3",
                "Mean weighted bounded slowdown of blocked jobs by processors",
                tables.plan_delays,
                partial(figures.cells_of_blocked, "MWBS"),
            ),
            PaperTable("figure-4", "Figure 4", "Slowdowns by the error of predictions", errors.plan, errors.cells),
            PaperTable(
                "figure-5",
                "Figure 5",
                "Mean bounded slowdown of PV-EASY, EASY and EASY-Last",
                tables.plan_delays,
                partial(figures.cells_of_all, "MBS"),
            ),
            PaperTable(
                "figure-6",
                "Figure 6",
                "Mean weighted bounded slowdown of PV-EASY, EASY and EASY-Last",
                tables.plan_delays,
                partial(figures.cells_of_all, "MWBS"),
            ),
            PaperTable(
                "statements",
                "Sections 1 to 7",
                "What the text says",
                statements.runs_of_statements,
                statements.cells_of_statements,
                is_list=True,
            ),
            *beyond.TABLES,
        ),
        pictures={
            "blocked": figures.draw_blocked,
            "errors": errors.draw,
            "slowdowns": figures.draw_all,
        },
    )
)
