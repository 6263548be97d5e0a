# SPDX-License-Identifier: BSD-3-Clause
"""What users ask for: the requested times of a simulation, as logged, or of a model.

References
----------
Mu'alem and Feitelson 2001 for multiplied requests; Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime
estimates".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.models.requested_times import RequestedTimeParameters, generate_requested_times
from swftools.parameters import Parameters, number
from swftools.parameters.as_text import read_entry
from swftools.parameters.spelling import require_known
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Logged(Parameters):
    """The requested times of the log."""

    NAME: ClassVar[str] = "logged"

    def request(self, trace: Trace, seed: int) -> FloatArray:  # noqa: ARG002 (for those that draw)
        """Return the requested time of every job of a trace, s; NaN or 0 where it is not known."""
        return trace.views.requested_time


@dataclass(frozen=True)
class Factor(Logged):
    """The requested times of the log, multiplied by a factor.

    Parameters
    ----------
    factor : float
        Positive.
    """

    NAME: ClassVar[str] = "factor"
    factor: float = number(2.0, least=1e-6, most=1e6)

    def request(self, trace: Trace, seed: int) -> FloatArray:  # noqa: ARG002
        """Return the request times the factor."""
        requested: FloatArray = self.factor * trace.views.requested_time
        return requested


@dataclass(frozen=True)
class Tsafrir(Logged):
    """The request where the log has one, else one of the model of Tsafrir, Etsion and Feitelson (2005)."""

    NAME: ClassVar[str] = "tsafrir"

    def request(self, trace: Trace, seed: int) -> FloatArray:
        """Return the logged or the modelled request."""
        modelled = generate_requested_times(trace, RequestedTimeParameters(seed=seed))[
            "model_requested_time"
        ].to_numpy()
        logged = trace.views.requested_time
        return np.where(logged > 0, logged, modelled)


REQUESTS: dict[str, type[Logged]] = {kind.NAME: kind for kind in (Logged, Factor, Tsafrir)}
"""Where requested times may come from, by name."""


def find_requests(requests: str | Logged) -> Logged:
    """Return where requested times come from by name, with its parameters behind it, such as ``factor:factor=2``.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_requests("factor:factor=3")
    Factor(factor=3)
    """
    if isinstance(requests, Logged):
        return requests
    if not isinstance(requests, str):
        raise ParameterError(f"requests={requests!r} is neither a name nor one of {', '.join(REQUESTS)}")
    name, given = read_entry(requests, REQUESTS)
    return REQUESTS[require_known(f"no requests {name!r}", name, REQUESTS)].from_mapping(given)
