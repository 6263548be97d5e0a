# SPDX-License-Identifier: BSD-3-Clause
"""Yuan et al. 2010: PV-EASY beside EASY. Tables 1 to 6, Figures 2 to 6, what the text says, and further runs."""

from pipelines.papers.paper import Cells, Experiment, Paper, Plan, read_tables, register_paper
from pipelines.papers.yuan2010 import beyond, errors, fairness, figures, populations, schedules, statements, tables

MADE: dict[str, tuple[Plan, Cells]] = {
    **tables.MADE,
    **figures.MADE,
    "figure-4": (errors.runs_of_errors, errors.cells_of_errors),
    "statements": (statements.runs_of_statements, statements.cells_of_statements),
    **beyond.MADE,
}
"""How each table is made."""

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
        tables=read_tables(__name__, "yuan2010", MADE),
        pictures={"blocked": figures.draw_blocked, "errors": errors.draw, "slowdowns": figures.draw_all},
    )
)
