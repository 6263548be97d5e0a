"""Predictors: what policies are told about run times, the request, the truth, or something between.

A predictor says two things of each job: what its user requests, and what the policy is told when the job is submitted,
which is never more than the request. A job that outlives what the policy was told is from then on expected to run to
its request.

References
----------
Tsafrir, Etsion and Feitelson 2007, "Backfilling using system-generated predictions rather than user runtime estimates";
Yuan et al. 2010 for Last Model and "virtual" predictions; Mu'alem and Feitelson 2001 for multiplied requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.keyed_random import generator
from swftools.models.requested_times import RequestedTimeParameters, generate_requested_times
from swftools.parameter_text import read_entry
from swftools.parameters import Parameters, did_you_mean, number
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictor(Parameters):
    """Base of predictors: tells policies the user's own request."""

    learns: ClassVar[bool] = False
    """Whether the engine scales the request by the accuracy of the user's last finished job."""

    def request(self, trace: Trace, seed: int) -> FloatArray:  # noqa: ARG002 (for those that draw)
        """Return the requested time of every job of a trace, s; NaN or 0 where it is not known."""
        return trace.arrays.requested_time

    def predict(self, run_time: FloatArray, requested_time: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002
        """Return what the policy is told, s, of each simulated job, in order of submission."""
        return requested_time


@dataclass(frozen=True)
class Request(Predictor):
    """The user's own request."""

    NAME: ClassVar[str] = "request"


@dataclass(frozen=True)
class Exact(Predictor):
    """The run time itself."""

    NAME: ClassVar[str] = "exact"

    def predict(self, run_time: FloatArray, requested_time: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the run time."""
        return run_time


@dataclass(frozen=True)
class LastModel(Predictor):
    """The request x run time / request of the user's last finished job (Yuan et al. 2010); without one, the request."""

    NAME: ClassVar[str] = "last-model"
    learns: ClassVar[bool] = True


@dataclass(frozen=True)
class Virtual(Predictor):
    """The run time times 1 + U(-error, error) (Yuan et al. 2010, "virtual" predictions).

    Parameters
    ----------
    error : float
        From 0 to 1.
    """

    NAME: ClassVar[str] = "virtual"
    error: float = number(0.5, least=0, most=1)

    def predict(self, run_time: FloatArray, requested_time: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the run time with a random relative error."""
        rng = generator(seed, "simulate/virtual")
        predicted: FloatArray = run_time * (1 + rng.uniform(-self.error, self.error, len(run_time)))
        return predicted


@dataclass(frozen=True)
class Factor(Predictor):
    """The request multiplied by a factor: what the user asks for, not only what the policy is told.

    Parameters
    ----------
    factor : float
        Positive.
    """

    NAME: ClassVar[str] = "factor"
    factor: float = number(2.0, least=1e-6, most=1e6)

    def request(self, trace: Trace, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the request times the factor."""
        requested: FloatArray = self.factor * trace.arrays.requested_time
        return requested


@dataclass(frozen=True)
class Tsafrir(Predictor):
    """The request where the log has one, else one of the model of Tsafrir, Etsion and Feitelson (2005)."""

    NAME: ClassVar[str] = "tsafrir"

    def request(self, trace: Trace, seed: int) -> FloatArray:
        """Return the logged or the modelled request."""
        modelled = generate_requested_times(trace, RequestedTimeParameters(seed=seed))[
            "model_requested_time"
        ].to_numpy()
        logged = trace.arrays.requested_time
        return np.where(logged > 0, logged, modelled)


PREDICTORS: dict[str, type[Predictor]] = {
    kind.NAME: kind for kind in (Request, Exact, LastModel, Virtual, Factor, Tsafrir)
}
"""The predictors by name."""


def find_predictor(predictor: str | Predictor) -> Predictor:
    """Return a predictor by name, with its parameters behind it, such as ``virtual:error=0.3`` or ``factor:factor=2``.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_predictor("factor:factor=3")
    Factor(factor=3)
    """
    if isinstance(predictor, Predictor):
        return predictor
    if not isinstance(predictor, str):
        raise ParameterError(f"predictor={predictor!r} is neither a name nor a Predictor")
    name, given = read_entry(predictor, PREDICTORS)
    if name not in PREDICTORS:
        known = ", ".join(PREDICTORS)
        raise ParameterError(f"no predictor {name!r}; there are: {known}{did_you_mean([name], PREDICTORS)}")
    return PREDICTORS[name].from_mapping(given)
