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
from pipelines.papers.paper import Cells, Experiment, Paper, Plan, read_printed, read_tables, register_paper
from pipelines.papers.yuan2010.populations import LOGS, OTHER_LOGS

CITATION = (
    "C. B. Lee: On the user-scheduler relationship in high-performance computing. Dissertation, "
    "University of California, San Diego, 2009"
)

BOTH = (read_printed(__name__, "published/table_4_1.csv"), read_printed(__name__, "published/table_4_2.csv"))
"""Tables 4.1 and 4.2, as they are printed."""

MADE: dict[str, tuple[Plan, Cells]] = {
    "figure-1.2": (partial(drawn.runs_of_drawn, drawn.PSEUDO_DELAY), drawn.cells_of_pseudo_delay),
    "figure-2.11": (partial(drawn.runs_of_drawn, drawn.DECAY), drawn.cells_of_decay),
    **tables.MADE,
    **figures.MADE,
    **survey.MADE,
    "figure-4.2": hours.MADE,
    "figure-4.5": (accuracy.runs_of_accuracy, partial(accuracy.cells_of_accuracy, schedules.UTILITY, BOTH)),
    "figure-4.6": (accuracy.runs_of_accuracy, partial(accuracy.cells_of_accuracy, schedules.SLOWDOWN, BOTH)),
    "figure-6.6": (checkpoint_aware.runs_of_checkpoints, checkpoint_aware.cells_of_checkpoints),
    "statements": (statements.runs_of_statements, statements.cells_of_statements),
    "generations": (beyond.runs_of_generations, beyond.cells_of_generations),
}
"""How each table is made."""

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
        tables=read_tables(__name__, "lee2009", MADE),
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
        tables=read_tables(
            __name__,
            "lee2009-beyond",
            {
                "elsewhere": (elsewhere.runs_of_elsewhere, elsewhere.cells_of_elsewhere),
                "exaggeration": (exaggeration.runs_of_exaggeration, exaggeration.cells_of_exaggeration),
            },
        ),
    )
)
