"""What policies are told about run times: the request, the truth, or something between.

An object of a class here says two things of each job: what its user requests, and what the policy is told when the job
is submitted, which is never more than the request. A job that outlives what the policy was told is from then on
expected to run to its request.

References
----------
Tsafrir, Etsion and Feitelson 2007, "Backfilling using system-generated predictions rather than user runtime estimates";
Yuan et al. 2010 for Last Model and "virtual" estimates; Mu'alem and Feitelson 2001 for multiplied requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.keyed_random import generator
from swftools.models.requested_times import RequestedTimeParameters, generate_requested_times
from swftools.parameters import is_number
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimates:
    """The user's own request: the base of the others, and itself the estimates "requested"."""

    name: ClassVar[str] = "requested"
    learns: ClassVar[bool] = False
    """Whether the engine scales the request by the accuracy of the user's last finished job."""

    def request(self, trace: Trace, seed: int) -> FloatArray:  # noqa: ARG002 (for those that draw)
        """Return the requested time of every job of a trace, s; NaN or 0 where it is not known."""
        return trace.arrays.requested_time

    def predict(self, run_time: FloatArray, requested_time: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002
        """Return what the policy is told, s, of each simulated job, in order of submission."""
        return requested_time


@dataclass(frozen=True)
class Requested(Estimates):
    """The user's own request."""


@dataclass(frozen=True)
class Exact(Estimates):
    """The run time itself."""

    name: ClassVar[str] = "exact"

    def predict(self, run_time: FloatArray, requested_time: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the run time."""
        return run_time


@dataclass(frozen=True)
class LastModel(Estimates):
    """The request x run time / request of the user's last finished job (Yuan et al. 2010); without one, the request."""

    name: ClassVar[str] = "last-model"
    learns: ClassVar[bool] = True


@dataclass(frozen=True)
class Virtual(Estimates):
    """The run time times 1 + U(-error, error) (Yuan et al. 2010, "virtual" predictions).

    Parameters
    ----------
    error : float
        From 0 to 1.
    """

    name: ClassVar[str] = "virtual"
    error: float = 0.5

    def __post_init__(self) -> None:
        if not is_number(self.error, 0, 1):
            raise ParameterError(f"estimates: error={self.error!r} is not a number from 0 to 1")

    def predict(self, run_time: FloatArray, requested_time: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the run time with a random relative error."""
        rng = generator(seed, "simulate/virtual")
        predicted: FloatArray = run_time * (1 + rng.uniform(-self.error, self.error, len(run_time)))
        return predicted


@dataclass(frozen=True)
class Factor(Estimates):
    """The request multiplied by a factor: what the user asks for, not only what the policy is told.

    Parameters
    ----------
    factor : float
        Positive.
    """

    name: ClassVar[str] = "factor"
    factor: float = 2.0

    def __post_init__(self) -> None:
        if not is_number(self.factor, 1e-6, 1e6):
            raise ParameterError(f"estimates: factor={self.factor!r} is not a positive number")

    def request(self, trace: Trace, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the request times the factor."""
        requested: FloatArray = self.factor * trace.arrays.requested_time
        return requested


@dataclass(frozen=True)
class Tsafrir(Estimates):
    """The request where the log has one, else one of the model of Tsafrir, Etsion and Feitelson (2005)."""

    name: ClassVar[str] = "tsafrir"

    def request(self, trace: Trace, seed: int) -> FloatArray:
        """Return the logged or the modelled request."""
        modelled = generate_requested_times(trace, RequestedTimeParameters(seed=seed))[
            "model_requested_time"
        ].to_numpy()
        logged = trace.arrays.requested_time
        return np.where(logged > 0, logged, modelled)


ESTIMATES: dict[str, type[Estimates]] = {
    kind.name: kind for kind in (Requested, Exact, LastModel, Virtual, Factor, Tsafrir)
}
"""The estimates by name."""


def find_estimates(estimates: str | Estimates) -> Estimates:
    """Return estimates by name, with their defaults, or ``name:value`` such as ``virtual:0.3`` or ``factor:2``.

    Raises
    ------
    ParameterError
        There are none of that name, or they take no such value.

    Examples
    --------
    >>> find_estimates("factor:3")
    Factor(factor=3.0)
    """
    if isinstance(estimates, Estimates):
        return estimates
    name, colon, value = str(estimates).partition(":")
    if name not in ESTIMATES:
        raise ParameterError(f"no estimates {name!r}; there are: {', '.join(ESTIMATES)}")
    kind = ESTIMATES[name]
    if not colon:
        return kind()
    try:
        return kind(float(value))  # type: ignore[call-arg]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"estimates {estimates!r}: give NAME or, of virtual and factor, NAME:NUMBER") from error
