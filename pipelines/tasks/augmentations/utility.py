# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions as an augmentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pipelines.tasks.augmentations.registry import Augmentation
from swftools.errors import ParameterError
from swftools.trace import Trace
from swftools.utility.model import UtilityParameters, generate_utility


class AddUtility(Augmentation):
    """Generate a utility function for every job (Lee 2009, section 2.6)."""

    name = "utility"
    code_version = 1
    stable_under_growth = True
    parameters_class = UtilityParameters

    @property
    def chosen(self) -> UtilityParameters:
        """The parameters: those given, the seed, and the card's queue ranks or those of a named alternative."""
        given = self.given
        ranks = given.get("queue_ranks")
        if ranks is None or isinstance(ranks, str):
            card = self.found.card
            if card is None and ranks is not None:
                raise ParameterError(
                    f"utility: queue_ranks={ranks!r}, but log {self.found.name} has no card to look it up"
                )
            given["queue_ranks"] = card.ranks(ranks) if card else {}
        return UtilityParameters.from_mapping(given)

    @classmethod
    def check(cls, parameters: Mapping[str, Any]) -> None:
        """Raise ParameterError if a parameter is unknown or outside its domain.

        ``queue_ranks`` may also be the name of an alternative ranking on the log's card.
        """
        named = isinstance(parameters.get("queue_ranks"), str)
        UtilityParameters.from_mapping({n: v for n, v in parameters.items() if not (named and n == "queue_ranks")})

    def compute(self, trace: Trace) -> pd.DataFrame:
        """Return priority_rank, utility_decay, utility and logged_utility."""
        return generate_utility(trace, self.chosen)
