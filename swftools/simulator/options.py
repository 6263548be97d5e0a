"""Checks of a simulation's options, and which jobs it leaves out: said once, for simulations and for their checks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.trace import JobArrays


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ParameterError unless an option has one of the values that it may have."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name}={value!r} is not one of {', '.join(choices)}")


def reasons_to_exclude(
    arrays: JobArrays, processors: int, run_time: npt.NDArray[np.float64], cancelled: str = ""
) -> npt.NDArray[np.str_]:
    """Return why each job cannot be simulated; empty where it can.

    Parameters
    ----------
    arrays : JobArrays
        Of the trace.
    processors : int
        Of the machine.
    run_time : numpy.ndarray
        As it is simulated, s; NaN where there is none.
    cancelled : str
        The option to which it is owed that a job without a run time is left out; empty if to none.
    """
    reasons = {
        "no submit_time": np.isnan(arrays.submit_time),
        "no processors, neither allocated nor requested": arrays.width < 1,
        f"wider than the machine of {processors} processors": arrays.width > processors,
        "no run_time" + (f" (cancelled={cancelled})" if cancelled else ""): np.isnan(run_time),
    }
    return np.select(list(reasons.values()), list(reasons), default="")
