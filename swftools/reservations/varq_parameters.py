# SPDX-License-Identifier: BSD-3-Clause
"""Who asks for reservations in a simulation, and what of it can be refused before anything is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from swftools.errors import ParameterError
from swftools.parameters import Parameters, choice, number
from swftools.simulator.registry import Policy


@dataclass(frozen=True)
class VarqParameters(Parameters):
    """Who asks for reservations, and of what kind.

    Parameters
    ----------
    share : float
        Of the jobs, drawn by their keys: those of a smaller share are among those of a larger one.
    probability : float
        That is asked for, up to .99.
    every : float
        Seconds between the times at which jobs are to run: each takes the next one behind its submission in the log.
    ahead : float
        0, or seconds from a job's submission in the log until it is to run, instead of ``every``.
    step : float
        Seconds between two times of submission that are looked at.
    replans : {"changes", "never"}
        Whether the plan of a job that is held back is made anew when something happens and more is known of waits than
        before.
    adapt : float
        At a reservation that is missed the percentile that its group asks for rises by ``adapt * probability``, at one
        that is met it falls by ``adapt * (1 - probability)``, so that as many are met as are asked for, as far as 1 to
        99 percent can bring that about; 0: it stays that of the target.
    """

    NAME: ClassVar[str] = "varq"
    share: float = number(0.1, least=0, most=1)
    probability: float = number(0.95, above=0, most=0.99)
    every: float = number(21_600.0, above=0, unit="s")
    ahead: float = number(0.0, least=0, unit="s")
    step: float = number(30.0, above=0, unit="s")
    replans: str = choice("changes", "never")
    adapt: float = number(0.0, least=0, most=1)


def check_told(predictor: Any) -> None:
    """Raise ParameterError if policies are to be told something else than requests."""
    if predictor != "request":
        raise ParameterError(
            f"predictor={predictor!r}: a reservation's request has the time until its start in it, of which no "
            "predictor of run times knows; leave predictor= out"
        )


def check_widths(policy: Policy, chosen: Mapping[str, Any] | Parameters) -> None:
    """Raise ParameterError if a policy makes jobs wider or narrower."""
    if "speedup_curve" in policy.needed(chosen):
        raise ParameterError(f"policy {policy.name!r} makes jobs wider and narrower; take one that does not")
