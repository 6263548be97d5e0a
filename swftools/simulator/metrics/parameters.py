# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of the measures of schedules.

References
----------
Lee 2009, section 1.4. Yuan et al. 2010, section 5.1.2. Chiang and Vasupongayya 2008, section 4. Barsanti and Sodan
2006, section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from swftools.parameters import Parameters, choice, is_number, number, truth

SLOWDOWNS = ("turnaround", "stretched")
CLOCKS = ("turnaround", "wait")

OPTIMAL_RUN_TIME = "optimal_run_time"
"""The nominal time of moldable jobs that is not a column but made of their curves."""


@dataclass(frozen=True)
class MetricParameters(Parameters):
    """Parameters of the measures.

    Parameters
    ----------
    bound : float
        Shorter run times count as this in the bounded slowdown, s; 10 in Lee 2009 and Yuan et al. 2010, 30 in Barsanti
        and Sodan 2006, 60 in Chiang and Vasupongayya 2008. With 0 it is the plain slowdown.
    slowdown : {"turnaround", "stretched"}
        How a job shorter than the bound counts: as turnaround / bound, but at least 1 (Lee 2009, Barsanti and Sodan
        2006), or as (wait + bound) / bound, as if it had run that long (Yuan et al. 2010, Chiang and Vasupongayya
        2008).
    nominal : str
        Column of times, s, by which expansion factor and bounded slowdown divide; by default the actual run time. If a
        policy chooses the widths of jobs, the run time depends on the policy; ``optimal_run_time`` does not: it is the
        run time on the optimal width by the job's speedup curve (Barsanti and Sodan 2006, section 5.1), and needs no
        column of that name.
    utility_clock : {"turnaround", "wait"}
        Time at which a job's utility is taken (Lee 2009).
    percentiles : sequence of float
        From 0 to 100, counted upwards from the least value, and linear between two jobs, as ``numpy.percentile`` does.
    trimmed : bool
        Leave the first N // 101 and the last N mod 100 of the N chosen jobs, by submission, out of bounded_slowdown, as
        in Lee 2009, section 1.4. With fewer than 100 jobs none is left, and the measure is missing.
    threshold : float, optional
        Adds the measure excessive_wait: how long a job waited beyond this many seconds (Chiang and Vasupongayya 2008).
    window : (float, float), optional
        Begin and end of the time, s, for utilization, loads and queue; by default first submission and last end.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "metrics"

    bound: float = number(10.0, least=0, unit="s")
    slowdown: str = choice(*SLOWDOWNS)
    nominal: str = "run_time"
    utility_clock: str = choice(*CLOCKS)
    percentiles: Sequence[float] = (25, 50, 75, 98)
    trimmed: bool = truth(False)
    threshold: float | None = number(None, least=0, unit="s", optional=True)
    window: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("nominal", isinstance(self.nominal, str), "the name of a column")
        points = self.percentiles
        sound = isinstance(points, Sequence) and all(is_number(point, 0, 100) for point in points)
        self._require("percentiles", sound and len(set(points)) == len(points), "different numbers from 0 to 100")
        window = self.window
        sound = window is None or (
            isinstance(window, Sequence) and len(window) == 2 and all(map(is_number, window)) and window[0] < window[1]
        )
        self._require("window", sound, "(begin, end) in seconds, the end behind the beginning")

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name, in types that JSON holds; ``from_mapping`` takes it back."""
        window = None if self.window is None else list(self.window)
        return {**super().to_mapping(), "percentiles": list(self.percentiles), "window": window}
