# SPDX-License-Identifier: BSD-3-Clause
"""Weng et al. 2023: fragmentation gradient descent, on Alibaba's openb.

What goes beyond it is a paper by itself here, ``weng2023-beyond``.
"""

from pipelines.papers.paper import Cells, Experiment, Paper, Plan, read_tables, register_paper
from pipelines.papers.weng2023 import inflations, pictures, queues, statements, tables, ties
from pipelines.papers.weng2023.workloads import LOGS

CITATION = (
    "Q. Weng, L. Yang, Y. Yu, W. Wang, X. Tang, G. Yang, L. Zhang: Beware of fragmentation: scheduling GPU-sharing "
    "workloads with fragmentation gradient descent. USENIX ATC 2023"
)

INFLATION = Experiment(inflations.measure_inflation, inflations.InflationOfPaper, inflations.UNITS)

MADE: dict[str, tuple[Plan, Cells]] = {
    **tables.MADE,
    "statements": (tables.plan_six, statements.cells_of_statements),
}
"""How each table is made."""

PAPER = register_paper(
    Paper(
        name="weng2023",
        citation=CITATION,
        version=2,
        logs=LOGS,
        experiments={"inflation": INFLATION},
        tables=read_tables(__name__, "weng2023", MADE),
        tells_errors=True,
        pictures={"demand": pictures.draw_demand},
    )
)

BEYOND = register_paper(
    Paper(
        name="weng2023-beyond",
        citation=CITATION,
        version=2,
        logs=LOGS,
        experiments={
            "inflation": INFLATION,
            "queue": Experiment(queues.measure_queue, queues.QueueOfGpus, queues.QUEUE_UNITS),
        },
        tables=read_tables(__name__, "weng2023-beyond", ties.MADE | queues.MADE),
        tells_errors=True,
        pictures={"lead": pictures.draw_lead},
    )
)
