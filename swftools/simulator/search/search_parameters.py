# SPDX-License-Identifier: BSD-3-Clause
"""What there is to say of a policy that searches, whichever way it does: what it wants, and how it went about it."""

from __future__ import annotations

from typing import ClassVar

from swftools.simulator.search.measures import PlannedMeasure, find_measure
from swftools.simulator.search.objectives import Objective

AGGREGATE_UTILITY = "aggregate-utility"
"""What the planned jobs are worth, in all: the objective that is to be large."""


class Searching:
    """Of the parameters of a policy that searches: a class to be mixed in."""

    objective: str
    seconds: float
    limited_by: ClassVar[str]
    """The parameter that says how far a search goes where the clock does not."""

    @property
    def aim(self) -> Objective | None:
        """The objective, taken apart; None: aggregate utility."""
        raise NotImplementedError

    @property
    def effort(self) -> float:
        """About how many places a decision finds for a job, for saying how long all takes."""
        raise NotImplementedError

    @property
    def baseline(self) -> str:
        """The order that a search begins with, and that the chosen one is compared with: ``order of ...``."""
        raise NotImplementedError

    @property
    def visited(self) -> str:
        """What a search counts that it tried, in the plural."""
        raise NotImplementedError

    def manner(self, visits: str, orders: str, rest: str) -> str:
        """Return a sentence about a search: what it tried, how many orders it compared, what was left."""
        raise NotImplementedError

    @property
    def measures(self) -> tuple[PlannedMeasure, ...]:
        """The measures that are compared; none of aggregate utility."""
        return tuple(find_measure(term.measure) for term in self.aim.terms) if self.aim else ()

    @property
    def means(self) -> list[bool]:
        """Of each value that is noted, whether it is a mean of what is noted as a sum."""
        return [measure.fold == "mean" for measure in self.measures] or [False]

    @property
    def value_names(self) -> list[str]:
        """What the values that are noted are called."""
        return [term.to_text() for term in self.aim.terms] if self.aim else [AGGREGATE_UTILITY.replace("-", " ")]

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that the objective needs."""
        columns = [column for measure in self.measures for column in measure.needs] if self.aim else ["utility"]
        return tuple(dict.fromkeys(columns))
