# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements of the text, which stand in ``published/statements.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.popa2023.by_days import by_day, error_of, weighted
from pipelines.papers.popa2023.checks import ESTIMATES
from pipelines.papers.popa2023.fits import fit_run, past_run
from pipelines.papers.popa2023.models import BOOSTING, CONSTANT, LINEAR
from pipelines.papers.popa2023.polls import THEIRS
from pipelines.papers.popa2023.tables import SLURM
from pipelines.papers.statements import Outcome, read_statements

FEW_DAYS = 3
"""In each half of the days, at least."""


def plan_statements(log: str, quick: bool) -> list[Run]:
    """Return the runs that decide."""
    if log == SLURM:
        return [ESTIMATES]
    return [*(fit_run(model) for model in (CONSTANT, LINEAR, BOOSTING)), past_run(quick, BOOSTING, THEIRS)]


def cells_statements(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements."""
    yield from (each.cell(MEASURED[each.by](found, quick, **each.given)) for each in STATEMENTS)


def closer_than_slurm(found: Measurements, quick: bool) -> Outcome:  # noqa: ARG001 (as it is)
    """Return 10 to the mean of log10 of seconds that Slurm's estimates are off: seconds, and no factor of a wait."""
    mean = found.value(SLURM, ESTIMATES, "cedar", "mean of log10 s")
    return Outcome(10.0**mean, {"is_a_factor": False})


def no_gain_by_days(found: Measurements, quick: bool, log: str) -> Outcome:
    """Return by how much the error of the later half of the days asked is above that of the earlier half.

    Fewer than three days a half tell nothing: their spread is not known.
    """
    run = past_run(quick, BOOSTING, THEIRS)
    values, rows = (np.array(list(by_day(found, log, run, name).values())) for name in ("mse", "rows"))
    half = len(values) // 2
    if half < FEW_DAYS:
        return Outcome(nan, {"apart": nan})
    early, late = weighted(values[:half], rows[:half]), weighted(values[half:], rows[half:])
    error = float(np.hypot(early[1], late[1]))
    return Outcome(late[0] - early[0], {"apart": 2.0 * error}, spread=error)


def network_beside(found: Measurements, quick: bool, log: str, model: str, printed_error: str) -> Outcome:  # noqa: ARG001
    """Return the test error of a model, beside what is printed of the network; the text says nothing of it."""
    error = found.value(log, fit_run(model), "test", "mse")
    which = "worse" if error < float(printed_error) else "better"
    spread = error_of(found, log, fit_run(model), "mse", "test")
    return Outcome(error, {"said": None, "which": which}, spread=spread)


MEASURED = {function.__name__: function for function in (closer_than_slurm, no_gain_by_days, network_beside)}
"""By name, as entries of the file name them."""

STATEMENTS = read_statements(__package__, MEASURED.values())
