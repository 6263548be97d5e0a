"""Papers whose tables are made anew, beside the published values: a folder each, registered by being imported here."""

from pipelines.papers import chiang2008, lee2009, nurmi2009, yuan2010
from pipelines.papers.paper import Paper, find_paper, list_papers

__all__ = ["Paper", "chiang2008", "find_paper", "lee2009", "list_papers", "nurmi2009", "yuan2010"]
