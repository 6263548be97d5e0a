# SPDX-License-Identifier: BSD-3-Clause
"""Papers whose tables are made anew, beside the published values: a folder each, registered by being imported here."""

from pipelines.papers import barsanti2006, chiang2008, lee2009, nurmi2009, popa2023, weng2023, yuan2010
from pipelines.papers.cited import find_cited
from pipelines.papers.paper import (
    Cell,
    Experiment,
    Paper,
    PaperTable,
    Run,
    Within,
    find_paper,
    list_papers,
    measured,
    register_paper,
)

__all__ = [
    "Cell",
    "Experiment",
    "Paper",
    "PaperTable",
    "Run",
    "Within",
    "barsanti2006",
    "chiang2008",
    "find_cited",
    "find_paper",
    "lee2009",
    "list_papers",
    "measured",
    "nurmi2009",
    "popa2023",
    "register_paper",
    "weng2023",
    "yuan2010",
]
