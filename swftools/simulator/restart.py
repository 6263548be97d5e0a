# SPDX-License-Identifier: BSD-3-Clause
"""What it takes to go on with work that was done before: the overhead of restarts and resizes.

A run that goes on with work that was kept, after a checkpoint, a suspension or a change of width, begins with an
overhead in which nothing is done; a run that begins the job, or begins it anew, has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.parameters import Parameters, did_you_mean, is_number, number
from swftools.parameters.as_text import read_entry, read_scalar
from swftools.parameters.spelling import require_known
from swftools.trace import Trace


class Restart(NamedTuple):
    """What it takes to go on with work that was done: seconds and seconds for each processor, and seconds of each job.

    Of each job only where it is a column's: else it has no rows.
    """

    seconds: npt.NDArray[np.float64]
    of_job: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Uniform(Parameters):
    """The same for all jobs.

    Parameters
    ----------
    seconds : float
        Of each such run, s.
    per_processor : float
        More for each processor that the run has, s.
    """

    NAME: ClassVar[str] = "uniform"
    seconds: float = number(0.0, least=0, unit="s")
    per_processor: float = number(0.0, least=0, unit="s")

    def of(self, trace: Trace, row: npt.NDArray[np.int32]) -> Restart:  # noqa: ARG002 (a column's asks it)
        """Return the overhead of jobs."""
        return Restart(np.array([self.seconds, self.per_processor], np.float64), np.zeros(0))


@dataclass(frozen=True)
class Column(Parameters):
    """A column of the trace's jobs.

    Parameters
    ----------
    name : str
        Of a column of seconds.
    """

    NAME: ClassVar[str] = "column"
    name: str = ""

    def of(self, trace: Trace, row: npt.NDArray[np.int32]) -> Restart:
        """Return the overhead of jobs; the machine learns that of each at its submission.

        Raises
        ------
        ParameterError
            The trace has no such column, or a simulated job has no finite number of 0 or more in it.
        """
        if self.name not in trace.jobs:
            alike = did_you_mean([self.name], map(str, trace.jobs))
            raise ParameterError(f"restart_overhead: the jobs have no column {self.name!r}{alike}")
        try:
            seconds = trace.jobs[self.name].iloc[row].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"restart_overhead: column {self.name!r} is not of numbers: {error}") from error
        wrong = np.flatnonzero(~((seconds >= 0) & (seconds < np.inf)))
        if len(wrong):
            job = trace.jobs["job_number"].iloc[row[wrong[0]]]
            raise ParameterError(
                f"restart_overhead: column {self.name!r} is {seconds[wrong[0]]:g} for job {job} "
                f"(and {len(wrong) - 1} others); give seconds of 0 or more"
            )
        return Restart(np.zeros(2), np.array(seconds))


OVERHEADS: dict[str, type[Uniform] | type[Column]] = {kind.NAME: kind for kind in (Uniform, Column)}
"""What the overhead may depend on, by name."""


def find_restart_overhead(overhead: float | str | Uniform | Column) -> Uniform | Column:
    """Return an overhead: of so many seconds, or by name, such as ``uniform:per_processor=2`` or ``column:name=mine``.

    Raises
    ------
    ParameterError
        It is negative, or there is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_restart_overhead(60), find_restart_overhead("60")
    (Uniform(seconds=60.0, per_processor=0.0), Uniform(seconds=60.0, per_processor=0.0))
    """
    if isinstance(overhead, Uniform | Column):
        return overhead
    seconds = read_scalar(overhead.strip()) if isinstance(overhead, str) else overhead
    if is_number(seconds):
        return Uniform.from_mapping({"seconds": float(seconds)})
    if not isinstance(overhead, str):
        raise ParameterError(f"restart_overhead={overhead!r} is neither seconds nor one of {', '.join(OVERHEADS)}")
    name, given = read_entry(overhead, OVERHEADS)
    return OVERHEADS[require_known(f"no restart_overhead {name!r}", name, OVERHEADS)].from_mapping(given)
