# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of drift by name: the decorator that registers one with all its facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swftools.drift.sample import Sample
from swftools.errors import ParameterError
from swftools.parameters.registry import Registry

NUMBERS, CATEGORIES = "numbers", "categories"
"""What a statistic compares: samples of numbers, or of things that have no order, such as users."""

DISTANCE, RATIO, DIFFERENCE = "distance", "ratio", "difference"
"""What its values are: 0 for equal samples and larger the farther they are apart; quotients; differences of shares."""

_IS_FAR: dict[str, Callable[[float, float], bool]] = {
    DISTANCE: lambda drift, threshold: drift > threshold,
    RATIO: lambda drift, threshold: drift > threshold or drift * threshold < 1,
    DIFFERENCE: lambda drift, threshold: abs(drift) > threshold,
}

_LEAST_THRESHOLD = {DISTANCE: 0.0, RATIO: 1.0, DIFFERENCE: 0.0}


@dataclass(frozen=True)
class DriftStatistic:
    """A statistic of the distance between two samples.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for.
    compare : callable
        Takes the recent sample and the reference; returns the drift, without unit. NaN where it has no meaning.
    figure : callable
        Takes one sample; returns the number by which people picture it, in the sample's own unit.
    of : {"numbers", "categories"}
        What it compares.
    form : {"distance", "ratio", "difference"}
        What the drift is, and so when it is beyond a threshold: above it; above it or below 1 / it; above it in
        absolute value.
    """

    name: str
    compare: Callable[[Sample, Sample], float]
    figure: Callable[[Sample], float]
    of: str
    form: str

    @property
    def least_threshold(self) -> float:
        """The threshold that equal samples just do not pass."""
        return _LEAST_THRESHOLD[self.form]

    def is_beyond(self, drift: float, threshold: float) -> bool:
        """Whether a drift is farther than a threshold; a missing one (NaN) never is."""
        return _IS_FAR[self.form](drift, threshold)


STATISTICS: Registry[DriftStatistic] = Registry("statistic of drift")


def drift_statistic(
    name: str, *, figure: Callable[[Sample], float], of: str = NUMBERS, form: str = DISTANCE
) -> Callable[[Callable[[Sample, Sample], float]], Callable[[Sample, Sample], float]]:
    """Register a statistic of drift under a name, with its facts; see ``DriftStatistic``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; ``of`` or ``form`` is none of the words.
    """
    if of not in (NUMBERS, CATEGORIES):
        raise ParameterError(f"statistic of drift {name!r}: of={of!r} is not one of {NUMBERS}, {CATEGORIES}")
    if form not in _IS_FAR:
        raise ParameterError(f"statistic of drift {name!r}: form={form!r} is not one of {', '.join(_IS_FAR)}")
    return STATISTICS.decorator(name, lambda compare: DriftStatistic(name, compare, figure, of, form))


find_drift_statistic = STATISTICS.find


def list_drift_statistics() -> dict[str, DriftStatistic]:
    """Return the statistics of drift by name."""
    return STATISTICS.list()
