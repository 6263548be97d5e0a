# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a simulation's options, and which jobs it leaves out: said once, for simulations and for their checks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.machines.asked import Asked
from swftools.trace import JobArrays


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ParameterError unless an option has one of the values that it may have."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name}={value!r} is not one of {', '.join(choices)}")


def reasons_to_exclude(
    arrays: JobArrays,
    processors: int,
    run_time: npt.NDArray[np.float64],
    cancelled: str = "",
    *,
    idle: str = "",
    asked: Asked | None = None,
) -> tuple[npt.NDArray[np.int16], list[str]]:
    """Return why each job cannot be simulated, as a number, and the numbers in words; 0 is no reason.

    Parameters
    ----------
    arrays : JobArrays
        Of the trace.
    processors : int
        Size of the machine.
    run_time : numpy.ndarray
        As it is simulated, s; NaN where there is none.
    cancelled : str
        The option to which it is owed that a job without a run time is left out; empty if to none.
    idle : str
        The option to which it is owed that a job of no run time is left out; empty if it is not.
    asked : Asked, optional
        What the jobs ask of a machine of nodes, which says why one cannot run there.
    """
    too_wide = {
        "no processors, neither allocated nor requested": arrays.width < 1,
        f"wider than the machine of {processors} processors": arrays.width > processors,
    }
    if asked is not None:
        too_wide = {words: asked.code == code for code, words in enumerate(asked.reasons) if code}
    reasons = {
        "no submit_time": np.isnan(arrays.submit_time),
        **too_wide,
        "no run_time" + (f" (cancelled={cancelled})" if cancelled else ""): np.isnan(run_time),
    }
    if idle:
        reasons[f"run_time 0 ({idle})"] = run_time == 0
    code = np.zeros(len(run_time), np.int16)  # each name of a partition may be a reason
    for number, wrong in reversed(list(enumerate(reasons.values(), 1))):
        code[wrong] = number  # of several reasons the first
    return code, ["", *reasons]
