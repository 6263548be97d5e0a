# SPDX-License-Identifier: BSD-3-Clause
"""Lee 2009: utility functions, genetic scheduling, checkpoints. Chapters 4 and 6, and Figures 1.2 and 2.11.

What goes beyond it, on five logs, is a paper by itself here, ``lee2009-beyond``.
"""

from functools import partial

from pipelines.papers.lee2009 import (
    accuracy,
    beyond,
    checkpoint_aware,
    drawn,
    elsewhere,
    exaggeration,
    figures,
    hours,
    schedules,
    statements,
    survey,
    tables,
    windows,
)
from pipelines.papers.paper import Experiment, Paper, PaperTable, read_printed, register_paper
from pipelines.papers.yuan2010.populations import LOGS, OTHER_LOGS

CITATION = (
    "C. B. Lee: On the user-scheduler relationship in high-performance computing. Dissertation, "
    "University of California, San Diego, 2009"
)

TABLE_4_1 = read_printed(__name__, "published/table_4_1.csv")
TABLE_4_2 = read_printed(__name__, "published/table_4_2.csv")
BOTH = (TABLE_4_1, TABLE_4_2)

PAPER = register_paper(
    Paper(
        name="lee2009",
        citation=CITATION,
        version=1,
        logs=[windows.BLUE, windows.DATASTAR],
        experiments={
            "policy": Experiment(schedules.measure_policy, schedules.PolicyOfPaper, schedules.UNITS),
            "hours": Experiment(hours.measure_hours, hours.HoursOfPaper, hours.UNITS),
            "pseudo-delay": Experiment(drawn.measure_pseudo_delay, drawn.PseudoDelayOfPaper, drawn.UNITS),
            "decay": Experiment(drawn.measure_decay, drawn.DecayOfPaper),
            "survey": Experiment(survey.measure_survey, survey.SurveyOfPaper, survey.UNITS),
            "checkpoints": Experiment(
                checkpoint_aware.measure_checkpoints,
                checkpoint_aware.CheckpointOfPaper,
                schedules.UNITS | checkpoint_aware.UNITS,
            ),
        },
        tables=(
            PaperTable(
                "figure-1.2",
                "Figure 1.2",
                "Pseudo-delay in conservative backfilling: when three jobs start",
                partial(drawn.plan, drawn.PSEUDO_DELAY),
                drawn.cells_of_pseudo_delay,
            ),
            PaperTable(
                "figure-2.11",
                "Figure 2.11",
                "Three models of how utility falls",
                partial(drawn.plan, drawn.DECAY),
                drawn.cells_of_decay,
            ),
            *(
                PaperTable(
                    number,
                    f"Table {number}",
                    f"Four policies by various measures, {told}",
                    partial(tables.plan, number),
                    partial(tables.cells, number),
                    printed,
                )
                for number, told, printed in (
                    ("4.1", "told what users request; of log version 4.2-cln", TABLE_4_1),
                    ("4.2", "told run times; of log version 4.2-cln", TABLE_4_2),
                )
            ),
            figures.figure_table("4.1"),
            PaperTable("figure-4.2", "Figure 4.2", "Load by time of day", hours.plan, hours.cells),
            figures.figure_table("4.3"),
            figures.figure_table("4.4"),
            PaperTable(
                "figure-4.5",
                "Figure 4.5",
                "What run times do for aggregate utility",
                accuracy.plan,
                partial(accuracy.cells, schedules.UTILITY, BOTH),
            ),
            PaperTable(
                "figure-4.6",
                "Figure 4.6",
                "What run times do for average bounded slowdown",
                accuracy.plan,
                partial(accuracy.cells, schedules.SLOWDOWN, BOTH),
            ),
            *(
                PaperTable(
                    number,
                    f"Table {number}",
                    title,
                    survey.plan,
                    survey.cells_of_choices,
                    read_printed(__name__, f"published/table_{number.replace('.', '_')}.csv"),
                )
                for number, title in (
                    ("6.1", "Answers to a survey of checkpoints: a synthetic one"),
                    ("6.2", "Work of the jobs with an answer: of a synthetic survey"),
                )
            ),
            *(
                PaperTable(
                    f"figure-{number}",
                    f"Figure {number}",
                    f"Distribution of a synthetic survey: {axis}",
                    survey.plan,
                    partial(survey.cells_of_curves, number),
                )
                for number, (axis, _) in survey.CURVES.items()
            ),
            PaperTable(
                "figure-6.6",
                "Figure 6.6",
                "Genetic scheduling that may stop jobs which write checkpoints",
                checkpoint_aware.plan,
                checkpoint_aware.cells,
            ),
            PaperTable(
                "statements",
                "Chapters 3, 4 and 6",
                "What the text says",
                statements.runs_of_statements,
                statements.cells_of_statements,
                is_list=True,
            ),
            PaperTable(
                "readings",
                "ours alone: readings",
                "What else the paper may mean",
                tables.plan_readings,
                tables.cells_of_readings,
                TABLE_4_1,
            ),
            *beyond.TABLES,
        ),
        pictures={
            "figure_1_2": drawn.draw_pseudo_delay,
            "figure_2_11": drawn.draw_decay,
            **{f"figure_{number.replace('.', '_')}": partial(figures.draw, number) for number in figures.FIGURES},
            "figure_4_2": hours.draw,
            "figure_4_5": accuracy.draw,
            "figure_4_6": accuracy.draw_slowdowns,
            "figure_6_2_to_6_5": survey.draw,
            "figure_6_6": checkpoint_aware.draw,
        },
    )
)

BEYOND = register_paper(
    Paper(
        name="lee2009-beyond",
        citation=CITATION,
        version=1,
        logs=[*LOGS.values(), *OTHER_LOGS.values()],
        experiments={
            "elsewhere": Experiment(elsewhere.measure_elsewhere, elsewhere.ElsewhereParameters),
            "exaggeration": Experiment(exaggeration.measure_exaggeration, exaggeration.ExaggerationParameters),
        },
        tables=(elsewhere.TABLE, exaggeration.TABLE),
    )
)
